/**
 * Free bodies whose pressure fields touch, simulated by tractions as Elandt, Drumwright, Sherman
 * and Ruina (2019) compute them: the pressure on the contact surface with its damping, and
 * regularised Coulomb friction by the slip velocity at points of quadrature, act as forces for a
 * time step.
 *
 * It shares the contact surface with contact/pair/field, but neither patches, friction nor time
 * steps with the solver of contact/world, to which it is compared. The step is explicit: tractions
 * at the poses and velocities of its start change the velocities, with which the bodies then move.
 * Numbers in parentheses are equations of the paper; sections are the paper's.
 *
 * Friction never sticks: a body on a slope creeps, and the step is stable only while it is shorter
 * than the regularised friction and the springs of the surface allow. Real-time safe, except where
 * a simulation is created or destroyed.
 */
#ifndef TACT_CONTACT_TRACTIONS_H
#define TACT_CONTACT_TRACTIONS_H

#include "../api.h"
#include "../error.h"
#include "../world/world.h"

TACT_BEGIN_DECLS

/** Options of a simulation by tractions; defaults by tact_tractions_options_default(). */
struct tact_tractions_options {
    /** speed s of the regularised friction mu p v / sqrt(v^2 + s^2) against a slip v [m/s] > 0 */
    double slip_speed;
    /** number of points of quadrature in each triangle of the surface: 1, its middle; or 3, by
     * which the elastic wrench of a pressure that is linear on the triangle is exact [1] */
    int points;
};

/** Default options: a slip speed of 1 mm/s, 3 points. Real-time safe. */
TACT_API struct tact_tractions_options tact_tractions_options_default(void);

/** Tractions on the contact surface of a pair of shapes, summed, in the last step. */
struct tact_traction_contact {
    int pair;         /**< pair of shapes, as of tact_world_next_pair() */
    size_t polygons;  /**< number of polygons of the contact surface */
    double load;      /**< integral of the damped pressure over the surface [N] */
    double slip;      /**< mean slip speed, weighted with that pressure [m/s] */
    double friction;  /**< magnitude of the sum of the friction tractions [N] */
    double wrench[6]; /**< force and torque on the first shape about its body's centre of mass, or
                         about the world's origin where it is fixed [N, N m], world axes */
};

/** State of a simulation by tractions since it was created. */
struct tact_tractions_report {
    double time;  /**< simulated time [s] */
    long steps;   /**< number of time steps */
    int contacts; /**< number of pairs of shapes that touched in the last step */
    /** over 2, the explicit step is unstable where friction sticks: largest period times rate at
     * which the friction of a body's contacts, at no slip, brakes it, over all steps [1] */
    double stiffest;
};

/** Free bodies that touch by tractions. */
struct tact_tractions;

/**
 * Creates a simulation of the bodies of a world, from their present poses and twists, with its
 * period, gravity, shapes and contact laws (friction, hunt_crossley, dissipation). The world must
 * be finished, must outlive the simulation, and must not be stepped otherwise meanwhile.
 * @param world    world of free bodies, without hands and joints; each pair by the model `field`
 * @param options  copied
 * @param out      the simulation, NULL on failure; to be freed by tact_tractions_destroy()
 * @param err      may be NULL; what was expected
 * @retval 0
 * @retval -ENOTSUP a hand, a joint, a body that is marked as fast, another contact model, or a
 *                  tangential compliance
 * @retval -EINVAL  an option is out of range
 * @retval -ENOMEM
 */
TACT_API int tact_tractions_create(struct tact_world *world,
                                   const struct tact_tractions_options *options,
                                   struct tact_tractions **out, struct tact_error *err);

/** Frees the simulation; NULL is allowed. */
TACT_API void tact_tractions_destroy(struct tact_tractions *tractions);

/**
 * Moves the world's bodies by one period: velocities by gravity and the tractions at the present
 * poses and velocities, then poses by the new velocities.
 * @retval 0
 * @retval -ENOSPC  a contact surface of more polygons than the model has room for; nothing moved
 * @retval -EDOM    a pose or velocity is not finite, as after an unstable step
 */
TACT_API int tact_tractions_step(struct tact_tractions *tractions);

/** State since the start. Valid until the simulation is destroyed. */
TACT_API const struct tact_tractions_report *
tact_tractions_report(const struct tact_tractions *tractions);

/** The k-th contact of the last step, by ascending pairs, 0 <= k < contacts of the report; NULL
 * for others. Valid until the next step. */
TACT_API const struct tact_traction_contact *
tact_tractions_contact(const struct tact_tractions *tractions, int k);

TACT_END_DECLS

#endif
