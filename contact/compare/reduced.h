/**
 * One smooth body in contact with a fixed one by reduced coordinates, as Kry and Pai (2003)
 * simulate it: two parameters of each surface and an angle, so that the bodies always touch, with
 * equations of motion that Runge and Kutta's method of the fourth order integrates.
 *
 * It shares closest points with contact/pair/smooth, but neither contacts, friction nor time steps
 * with the solver of contact/world, to which it is compared. Friction has three coefficients:
 * static, dynamic, and a static one of spin. Numbers in parentheses are equations of the paper.
 * Deviations from it: signs, and the change from slip to rolling keeps the momentum about the
 * contact instead of (u', v', psi').
 *
 * Surfaces are half-spaces, spheres, ellipsoids, tori, and solids of revolution, patches and
 * subdivision surfaces without edges. Not real-time safe.
 */
#ifndef TACT_CONTACT_REDUCED_H
#define TACT_CONTACT_REDUCED_H

#include "../api.h"
#include "../error.h"
#include "../shape/shape.h"

TACT_BEGIN_DECLS

/** How the moving body touches the fixed one. */
enum tact_reduced_mode {
    TACT_REDUCED_FLIGHT,  /**< not */
    TACT_REDUCED_SLIDING, /**< sliding with dynamic friction (28), or without friction */
    TACT_REDUCED_ROLLING, /**< without slip (34) */
    TACT_REDUCED_NO_SPIN, /**< rolling without slip and without spin about the normal (39) */
};

/** Names of the contact modes: "flight", "sliding", "rolling", "without spin". */
TACT_API const char *tact_reduced_mode_name(enum tact_reduced_mode mode);

/** Law by which an impact changes the velocities. */
enum tact_reduced_impact_law {
    TACT_REDUCED_NEWTON,           /**< Newton's restitution with Coulomb's friction */
    TACT_REDUCED_CHATTERJEE_RUINA, /**< the impact law of Chatterjee and Ruina (1998), J. Appl.
                                      Mech. 65 */
};

/** Options of a simulation in reduced coordinates; defaults by tact_reduced_options_default(). */
struct tact_reduced_options {
    double gravity[3];       /**< [m/s^2], world */
    double friction_static;  /**< static friction coefficient: limit of |f_t| / |f_n| without slip
                                (35), at least friction_dynamic [1] */
    double friction_dynamic; /**< |f_t| / |f_n| in slip (21) [1] */
    double spin_static; /**< limit of the torque about the normal over |f_n| without spin (40); 0:
                           the contact transmits no torque [m] */
    double slip_speed;  /**< slip speed below which sliding becomes rolling where (35) allows it
                           [m/s] */
    double spin_rate;   /**< spin rate below which rolling becomes rolling without spin where (40)
                           allows it [rad/s] */
    double min_step;    /**< shortest time step, with which the edge of a chart is reached [s] */
    double max_step;    /**< largest step [s] */
    double restitution; /**< coefficient of restitution along the normal, 0 to 1 [1] */
    /** tangential restitution of Chatterjee and Ruina, -1 to 1 [1] */
    double tangential_restitution;
    double settle_speed; /**< rebound speed below which an impact becomes a lasting contact [m/s] */
    enum tact_reduced_impact_law impact; /**< law of impacts */
};

/** Default options: gravity along -z, friction of 0.5 and no spin, slip of 2.5 mm/s and spin of 0.1
 * rad/s, steps of 1 us to 1 ms, no restitution, Chatterjee and Ruina's law. */
TACT_API struct tact_reduced_options tact_reduced_options_default(void);

/** Counts and the last contact of a simulation since its start. */
struct tact_reduced_report {
    double time;                 /**< [s] */
    enum tact_reduced_mode mode; /**< present contact mode */
    double force[6]; /**< contact torque and force on the body at the last step, about the contact,
                        world axes [N m, N] */
    double contact[3];   /**< position of the contact [m], world */
    double slip;         /**< speed of slip [m/s] */
    double mode_time[4]; /**< time spent in each contact mode [s] */
    long steps;          /**< accepted steps */
    long rejected;       /**< number of steps that were repeated with half their length */
    long crossings;      /**< number of changes of chart (41 to 43) */
    long slides;         /**< changes to sliding */
    long rolls;          /**< number of changes from sliding to rolling */
    long separations;    /**< contacts that ended */
    long impacts;        /**< impacts */
    long contacts;       /**< contacts that began */
    long others; /**< number of steps in which the surfaces also overlap at a second place, which
                    this method does not model */
};

/** A moving body in contact with a fixed one. */
struct tact_reduced;

/**
 * Creates a simulation, in flight with pose and twist 0 until tact_reduced_start().
 * @param shape    of the body; its mesh and charts must outlive it
 * @param local    its pose in the body's frame, which is at the centre of mass
 * @param mass     [kg]
 * @param inertia  xx yy zz xy xz yz about the centre of mass, body axes [kg m^2]
 * @param fixed    shape of the fixed body, the same
 * @param place    its pose, world
 * @param options  copied
 * @param out      the pair, NULL on failure
 * @param err      may be NULL; what was expected
 * @retval 0        *out is to be freed by tact_reduced_destroy()
 * @retval -ENOTSUP a surface that is not smooth everywhere, or two half-spaces
 * @retval -EINVAL  mass, inertia or an option is out of range, or friction_static is below
 *                  friction_dynamic; *err (may be NULL) says which
 * @retval -ENOMEM
 */
TACT_API int tact_reduced_create(const struct tact_shape *shape, const struct tact_pose *local,
                                 double mass, const double inertia[6],
                                 const struct tact_shape *fixed, const struct tact_pose *place,
                                 const struct tact_reduced_options *options,
                                 struct tact_reduced **out, struct tact_error *err);

/** Frees the simulation; NULL is allowed. */
TACT_API void tact_reduced_destroy(struct tact_reduced *reduced);

/**
 * Sets the pose of the body and its twist at the centre of mass (velocity, angular velocity; world
 * axes). It is in contact where the gap is at most `gap` [m] and the surfaces neither separate nor
 * approach faster than settle_speed; it is then moved along the normal until they touch.
 * @retval 0
 * @retval -EINVAL  a number is not finite, or `gap` is below 0
 * @retval -EDOM    the surfaces conform, overlap by more than `gap`, or their charts are singular
 *                  there: tact_reduced_failure() says which
 */
TACT_API int tact_reduced_start(struct tact_reduced *reduced, const struct tact_pose *pose,
                                const double twist[6], double gap);

/**
 * Advances the simulation to a time [s] since the start.
 * @retval 0
 * @retval -EDOM  it cannot continue, as tact_reduced_failure() says: the charts are singular at the
 *                contact, the surfaces conform or do not part on all sides of the contact, the
 * energy rises, the motion is not finite, too many edges of charts are crossed at once, or steps do
 * not advance the time; the report and the state are those of the last step before
 */
TACT_API int tact_reduced_advance(struct tact_reduced *reduced, double time);

/** Why the last tact_reduced_start() or tact_reduced_advance() failed, as a clause without full
 * stop: "the motion is not finite"; "" where it did not fail. The text is static. */
TACT_API const char *tact_reduced_failure(const struct tact_reduced *reduced);

/** Pose of the body and its twist at the centre of mass, as for tact_reduced_start(). */
TACT_API void tact_reduced_get(const struct tact_reduced *reduced, struct tact_pose *pose,
                               double twist[6]);

/** Kinetic plus gravitational potential energy of the body [J]. */
TACT_API double tact_reduced_energy(const struct tact_reduced *reduced);

/** Counts of steps, impacts and contacts since the start, and the last contact; the reason of a
 * failure is that of tact_reduced_failure(). Valid until the next call. */
TACT_API const struct tact_reduced_report *tact_reduced_report(const struct tact_reduced *reduced);

TACT_END_DECLS

#endif
