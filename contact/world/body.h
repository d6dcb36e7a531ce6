/**
 * A free rigid body: impulses change its momentum, and drift moves it with constant momentum.
 *
 * State: pose of the centre of mass with the body's axes, and twist at the centre of mass in world
 * axes. All functions are real-time safe.
 */
#ifndef TACT_CONTACT_BODY_H
#define TACT_CONTACT_BODY_H

#include "../api.h"
#include "../vec.h"

TACT_BEGIN_DECLS

/** A free rigid body. */
struct tact_body {
    double mass; /**< [kg] */
    /** inertia matrix about the centre of mass, body axes [kg m^2], symmetric */
    double inertia[9];
    double inverse_inertia[9]; /**< inverse of inertia [1/(kg m^2)], row-major */
    struct tact_pose pose;     /**< position of the centre of mass [m], body axes to world */
    double twist[6];           /**< velocity of the centre of mass [m/s], angular velocity [rad/s],
                                    world */
    double inverse_world[9];   /**< inverse inertia in world axes, R I^-1 R^T, at the present pose;
                                  see tact_body_refresh() [1/(kg m^2)] */
};

/** Sets mass and inertia. inertia: xx yy zz xy xz yz [kg m^2], about the centre of mass, body axes.
 * -EINVAL unless mass > 0 and the inertia is positive definite and satisfies the triangle
 * inequality, as that of every real body does. */
TACT_API int tact_body_set_mass(struct tact_body *body, double mass, const double inertia[6]);

/** Recomputes inverse_world, the inverse inertia in world axes, from the body's pose. */
TACT_API void tact_body_refresh(struct tact_body *body);

/**
 * Moves the body for h [s] with no force acting. The centre of mass moves along a straight
 * line. The body turns with constant angular momentum L = I w: dq/dt = w q / 2 with w = I(q)^-1 L
 * is integrated by Runge-Kutta 4 in steps of at most 0.02 rad, and w is then recomputed from L.
 * Gyroscopic effects are therefore included without a force term.
 */
TACT_API void tact_body_drift(struct tact_body *body, double h);

/** Kinetic energy [J]. */
TACT_API double tact_body_energy(const struct tact_body *body);

/** Angular momentum of a body about its centre of mass [kg m^2/s], world axes. */
TACT_API void tact_body_momentum(const struct tact_body *body, double l[3]);

TACT_END_DECLS

#endif
