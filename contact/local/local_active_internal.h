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
#include "contact/simd_internal.h"

/* Functions of sources that are compiled twice, which only these call. */
#define tact_active_set_compute_velocities TACT_CPU_VARIANT(tact_active_set_compute_velocities)
#define tact_active_set_set_pressure_centre TACT_CPU_VARIANT(tact_active_set_set_pressure_centre)
#define tact_active_set_update_limit_surface TACT_CPU_VARIANT(tact_active_set_update_limit_surface)
#define tact_active_set_compute_slip TACT_CPU_VARIANT(tact_active_set_compute_slip)
#define tact_active_set_limit_surface_normal TACT_CPU_VARIANT(tact_active_set_limit_surface_normal)
#define tact_active_set_residual TACT_CPU_VARIANT(tact_active_set_residual)
#define tact_active_set_solve_newton_step TACT_CPU_VARIANT(tact_active_set_solve_newton_step)
#define tact_active_set_response_of_unknowns TACT_CPU_VARIANT(tact_active_set_response_of_unknowns)
#define tact_active_set_responses_to_rows TACT_CPU_VARIANT(tact_active_set_responses_to_rows)
#define tact_active_set_choose_face TACT_CPU_VARIANT(tact_active_set_choose_face)
#define tact_active_set_project_to_face TACT_CPU_VARIANT(tact_active_set_project_to_face)
#define tact_active_set_compute_face_basis TACT_CPU_VARIANT(tact_active_set_compute_face_basis)
#define tact_active_set_update_face TACT_CPU_VARIANT(tact_active_set_update_face)

enum tact_active_set_face { FACE_INSIDE, FACE_EDGE, FACE_CORNER, FACE_RIM, FACE_POINT };

/* The scaled local problem of the active-set method, and its present iterate. */
struct tact_active_set {
    /* blocks of the scaled S, of which a row or column has three numbers and a 0: columns of normal
     * by normal; rows and columns of normal by friction and of friction by friction */
    double columns_of_normal_mobility_block[3][4], nt[3][4], nt_columns[3][4], tt[3][4],
        tt_columns[3][4];
    double bn[4], bt[4];
    double impulse_unit[6]; /* impulse per scaled unknown, those of n before those of t */
    double semi_axis_1_over_spin_arm,
        semi_axis_2_over_spin_arm; /* semi-axes of the patch over the spin arm */
    double largest_free_velocity;  /* largest entry of b */
    double max_scaled_mobility;    /* largest diagonal entry of the scaled S */
    double corner[TACT_PATCH_CORNERS][2];
    int corners;
    /* the unscaled problem, which defines the limit surface */
    const struct tact_local_problem *law;
    enum tact_active_set_face face;
    int first; /* for FACE_EDGE and FACE_CORNER, the index of the face's (first) corner */
    int is_contact_slipping; /* 1: slip, 0: stick */
    double n[3], t[3];
    double un[4], ut[4];               /* velocities; the fourth numbers have no meaning */
    double slip_multiplier;            /* multiplier of slip */
    double reciprocal_of_normal_force; /* 1 / f_n */
    double y[2];                       /* centre of pressure */
    double m, f; /* torsion about the centre of pressure; square of the friction force */
    double g;    /* square of the normal force for which friction and torsion are at the limit */
    /* derivatives of the limit surface at the present friction, and its curvature */
    double w[2], limit_surface_curvature;
    double normal[3], limit_surface_hessian[9]; /* limit surface of POINTS: half the gradient of g,
                                             and the derivative of that */
    double active_face_basis[3][3]; /* basis of the directions of n within the active face; unused
                                ones are
                                0 */
    double normal_impulse_response[3][4]; /* rows of minus the derivative of the normal part n by
                                     normal velocities, at constant friction; the fourth numbers
                                     have no meaning */
};

/* Changes of the unknowns of the active-set method: normal part, friction, multiplier. */
struct tact_active_set_changes {
    double n[3], t[3], slip_multiplier;
};

/* Updates what follows from the unknowns n and t: the velocities; the centre of pressure, torsion
 * and limit surface. */
void tact_active_set_compute_velocities(struct tact_active_set *a);
void tact_active_set_set_pressure_centre(struct tact_active_set *a);
void tact_active_set_update_limit_surface(struct tact_active_set *a);

/* Slip velocity at the centre of pressure; and the slip direction that belongs to friction at the
 * limit surface. */
void tact_active_set_compute_slip(const struct tact_active_set *a, double *v);
void tact_active_set_limit_surface_normal(const struct tact_active_set *a, double *out);

/* Largest residual of the equations of the active face and of friction, as a velocity. */
double tact_active_set_residual(const struct tact_active_set *a);

/* Computes Newton's step. */
void tact_active_set_solve_newton_step(const struct tact_active_set *a,
                                       struct tact_active_set_changes *out);

/* Response of the unknowns to additional velocities (un, ut) and residuals
 * `slip_equation_residuals` of the equations of friction and its limit. */
void tact_active_set_response_of_unknowns(const struct tact_active_set *a, const double *un,
                                          const double *ut, const double *slip_equation_residuals,
                                          struct tact_active_set_changes *out);

/* Responses of the unknowns to an additional velocity of each row in turn, of n, then of t, that is
 * 1 in the scaled problem. */
void tact_active_set_responses_to_rows(const struct tact_active_set *a,
                                       struct tact_active_set_changes out[6]);

/* Magnitude of the velocities in the local problem, which is the scale of their rounding. */
static inline double tact_active_set_velocity_scale(const struct tact_active_set *a)
{
    double velocity_scale_of_normal_force = a->max_scaled_mobility * a->n[0];
    return velocity_scale_of_normal_force > a->largest_free_velocity
               ? velocity_scale_of_normal_force
               : a->largest_free_velocity;
}

/* Chooses the face of the patch that contains the centre of pressure. */
void tact_active_set_choose_face(struct tact_active_set *a);

/* Projects the normal part of the impulse onto the active face. */
void tact_active_set_project_to_face(struct tact_active_set *a);

/* Computes the directions of the normal part within the active face, and its response along them.
 */
void tact_active_set_compute_face_basis(struct tact_active_set *a);

/* 1 where the active face is consistent with the solution; otherwise switches to another face. */
int tact_active_set_update_face(struct tact_active_set *a);

/* Finds the solution from r, a solution of a similar problem; r: output. Returns the active limits,
 * or -1, with r unchanged, where the method does not converge. */
int tact_local_solve_by_active_set(const struct tact_local_problem *problem, double r[6]);

/* Derivative of the solution r by b, 6 x 6 row-major. limits: those of r, by which it slips or
 * sticks; -1: it slips where its friction is at the limit. Returns 1, or 0 where it is not
 * available.
 */
int tact_local_impulse_derivative(const struct tact_local_problem *problem, int limits,
                                  const double r[6], double *slope);

#endif
