/*
 * The local law with a known set of active limits. It is smooth then: Newton's method converges in
 * a few steps from a near impulse, and the derivative of the solution by b is available.
 *
 * Unknowns and velocities are scaled as in local_scaled_internal.h, with friction and torsion
 * about c: the normal part n = (f_n, y1, y2), friction t = (f_1 / mu, f_2 / mu, tau_n / (mu k)).
 * The centre of pressure is on a face of the patch: its interior, an edge, a corner, or the rim of
 * an ellipse.
 */
#ifndef TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H
#define TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H

#include "contact/local/local_internal.h"

enum tact_active_face { FACE_INSIDE, FACE_EDGE, FACE_CORNER, FACE_RIM, FACE_POINT };

/* The scaled problem and the present iterate. */
struct tact_active {
    double nn[9], nt[9], tt[9]; /* S: normal by normal, normal by friction, friction by friction */
    double bn[3], bt[3];
    double unit[6];     /* impulse per unknown, n before t */
    double alpha, beta; /* semi-axes over the spin arm */
    double drive;       /* largest entry of b */
    double stiffness;   /* largest diagonal entry of S */
    double corner[TACT_PATCH_CORNERS][2];
    int corners;
    const struct tact_local_problem *law; /* defines the limit surface */
    enum tact_active_face face;
    int first; /* FACE_EDGE, FACE_CORNER: index of its (first) corner */
    int slips; /* 1: slip, 0: stick */
    double n[3], t[3];
    double un[3], ut[3];         /* velocities */
    double slip_multiplier;      /* multiplier of slip */
    double inverse_normal_force; /* 1 / f_n */
    double y[2];                 /* centre of pressure */
    double m, f;                 /* torsion about it; square of friction */
    double g; /* square of the normal force for which friction and torsion are at the limit */
    double w[2], curvature;    /* derivatives of the limit surface, and its curvature */
    double normal[3], bend[9]; /* POINTS: half the gradient of g, and its derivative */
    double basis[3][3];        /* directions of n within the face; the others are 0 */
    double normal_response[9]; /* minus the derivative of n by normal velocities at constant
                                  friction */
};

/* Changes of the unknowns. */
struct tact_active_change {
    double n[3], t[3], slip_multiplier;
};

/* Updates the velocities from n and t; and the centre of pressure, torsion and limit surface. */
void tact_active_compute_velocities(struct tact_active *a);
void tact_active_update_limits_state(struct tact_active *a);

/* Slip at the centre of pressure; and its direction where friction is at the limit surface. */
void tact_active_compute_slip(const struct tact_active *a, double *v);
void tact_active_limit_surface_normal(const struct tact_active *a, double *out);

/* Largest residual of the equations of the face and of friction, as a velocity. */
double tact_active_residual(const struct tact_active *a);

/* Computes Newton's step. */
void tact_active_solve_newton_step(const struct tact_active *a, struct tact_active_change *out);

/* Changes of the unknowns for additional velocities (un, ut) and residuals `more` of the equations
 * of friction and its limit. */
void tact_active_change_of_unknowns(const struct tact_active *a, const double *un, const double *ut,
                                    const double *more, struct tact_active_change *out);

/* Changes of the unknowns for an additional velocity of each row in turn, of n, then of t, by its
 * unit. */
void tact_active_row_responses(const struct tact_active *a, struct tact_active_change out[6]);

/* Magnitude of the velocities of the problem, the scale of their rounding. */
static inline double tact_active_velocity_scale(const struct tact_active *a)
{
    double elastic = a->stiffness * a->n[0];
    return elastic > a->drive ? elastic : a->drive;
}

/* Chooses the face that contains the centre of pressure. */
void tact_active_choose_face(struct tact_active *a);

/* Projects the normal part onto the face. */
void tact_active_project_to_face(struct tact_active *a);

/* Computes the directions within the face, and the response of the normal part along them. */
void tact_active_face_basis(struct tact_active *a);

/* 1 where the face is consistent with the solution; otherwise switches to another. */
int tact_active_update_face(struct tact_active *a);

/* Finds the solution from r, a solution of a similar problem; r: output. Returns the active limits,
 * or -1, with r unchanged, where the method does not converge. */
int tact_local_active_set(const struct tact_local_problem *problem, double r[6]);

/* Derivative of the solution r by b, 6 x 6 row-major. limits: those of r, by which it slips or
 * sticks; -1: it slips where its friction is at the limit. Returns 1, or 0 where it is not
 * available.
 */
int tact_local_impulse_derivative(const struct tact_local_problem *problem, int limits,
                                  const double r[6], double *slope);

#endif
