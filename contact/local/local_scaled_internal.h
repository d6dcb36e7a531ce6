/*
 * The law in scaled variables. x = (f_n, y1, y2, z1, z2, z3), with y the centre of pressure over
 * the semi-axes times f_n, z friction over mu and torsion over mu k, both at the centre of
 * pressure d:
 *     f_1 = mu z1, f_2 = mu z2, tau_d = mu k z3, tau_1 = a2 y2, tau_2 = -a1 y1.
 * Where the limit surface is not an ellipsoid, z is scaled further to the ellipsoid that is
 * tangent to it at the last solution; the solution is a fixed point of this. That of a surface of
 * points has any axes.
 * U = S x + b is power-conjugate to x. Conditions: x_N is in N = {y / f_n in the patch} and
 * complementary to U_N in N* = N; and either |z| <= f_n with U_z = 0 (stick) or |z| = f_n with U_z
 * = -g z, g > 0 (slip). For a given g friction is linear and is eliminated, which leaves a convex
 * program of three unknowns over N; |z| = f_n is then one equation for g.
 */
#ifndef TACT_CONTACT_LOCAL_SCALED_INTERNAL_H
#define TACT_CONTACT_LOCAL_SCALED_INTERNAL_H

#include "contact/local/local_internal.h"
#include "contact/local/normal_internal.h"

/* The scaled problem at a friction state. */
struct scaled_local_problem {
    double s[36]; /* order f_n, y1, y2, z1, z2, z3 */
    double b[6];
    double impulse_unit[6]; /* impulse per unit of each scaled unknown */
    double lower[9]; /* for a limit surface of points: lower triangle that maps z, in the unit ball,
                        to friction; see tact_friction_points_tangent_ellipsoid() */
    int has_points_limit_surface;             /* 1: the limit surface is that of pressure points */
    int has_rolling_torque_rows;              /* 1: y are unknowns, 0: y = 0 */
    struct admissible_pressure_centres patch; /* set that contains y / f_n */
    double x[6];                              /* solution at the last evaluated slip multiplier */
    double slip;                              /* its multiplier g */
    int rim; /* 1: the solution's centre of pressure is at the patch's edge */
};

/* Friction state: what friction depends on besides the normal force. */
struct friction_state {
    double d[2];                         /* centre of pressure, inside the patch [m] */
    double friction_to_torsion_fraction; /* fraction of friction in friction and torsion: f / (f +
                                 m), see tact_local_limit_surface() */
    double slip[3]; /* for a limit surface of POINTS, in place of the fraction: slip to which
                       friction is opposite, of any length; 0 0 0: unknown */
};

/* Index in the impulse r of each scaled unknown. */
extern const int tact_local_row_of_scaled_unknown[6];

/* Scaled friction of the impulse r at the centre of pressure d: (F_1, F_2, M) f_n (enum
 * tact_surface). */
void tact_local_scaled_friction(const struct tact_local_problem *problem, const double *r,
                                const double *d, double z[3]);

/* Squares of the scaled friction and torsion, F f_n and M f_n (enum tact_surface), of the impulse r
 * at the centre of pressure d. */
void tact_local_squared_friction_and_torsion(const struct tact_local_problem *problem,
                                             const double *r, const double *d, double *f,
                                             double *m);

/* Scales the local problem at a friction state. */
void tact_local_make_scaled_problem(const struct tact_local_problem *in,
                                    const struct friction_state *at,
                                    struct scaled_local_problem *out);

/* Moves a centre of pressure d towards the patch centre until it is in the patch. Returns the ratio
 * of its former distance to that of the edge. */
double tact_local_clamp_pressure_centre(const struct tact_local_problem *problem, double *d);

/* Centre of pressure of an impulse r, moved into the patch; returns the ratio of its former
 * distance to that of the edge. */
double tact_local_pressure_centre(const struct tact_local_problem *problem, const double *r,
                                  double *d);

/* Friction state of an impulse r: centre of pressure, and ratio of friction to torsion. */
void tact_local_friction_state(const struct tact_local_problem *problem, const double *r,
                               struct friction_state *at);

/* Solves the scaled law at a fixed friction state. slip: on input a value near its multiplier, or
 * 0; on output the multiplier. Returns the active limits. */
int tact_local_solve_friction_state(const struct tact_local_problem *problem,
                                    const struct friction_state *at, double *r, double *slip);

/* Searches for the solution on a surface of points, from r. Returns the active limits. */
int tact_local_search_on_points_surface(const struct tact_local_problem *problem, double r[6]);

#endif
