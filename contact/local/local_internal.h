/* Shared by the sources of the local law. */
#ifndef TACT_CONTACT_LOCAL_INTERNAL_H
#define TACT_CONTACT_LOCAL_INTERNAL_H

#include "contact/local/local.h"

/* 1 where the patch transmits rolling torque, so that its centre of pressure may move. */
static inline int tact_local_transmits_rolling_torque(const struct tact_local_problem *problem)
{
    return problem->semi[0] > 0.0 && problem->semi[1] > 0.0;
}

/* The impulse that stops all relative motion in the transmitted rows, and its centre of pressure d;
 * returns 1 where it pushes. */
int tact_local_solve_sticking_impulse(const struct tact_local_problem *problem, double x[6],
                                      double d[2]);

/* The limit surface, convex: G(f, m) <= 1 with f = F^2, m = M^2 and G homogeneous of degree 1. Its
 * normal at (F, M) is (F w[0], M w[1]), with w the derivatives of G by f and m, so that F^2 w[0] +
 * M^2 w[1] = G: the ellipsoid with these weights is tangent to the surface there. Returns G. Of a
 * surface of points, which depends on the directions too, this is the ellipsoid with the same arm:
 * an approximation (local_points_internal.h has the surface). */
double tact_local_limit_surface(const struct tact_local_problem *problem, double f, double m,
                                double w[2]);

/* The limit surface with its curvature: changes of w are dw[0] = m c and dw[1] = -f c with c =
 * curvature (m df - f dm) / 2. */
double tact_local_limit_surface_curvature(const struct tact_local_problem *problem, double f,
                                          double m, double w[2], double *limit_surface_curvature);

/* Ratio of the friction and torsion of an impulse r, at its centre of pressure d, to the limit
 * surface; 1: at the limit. */
double tact_local_friction_limit_ratio(const struct tact_local_problem *problem, const double *r,
                                       const double *d);

/* 1 where friction and torsion of r are within the limit surface; for a surface of points with less
 * work than tact_local_friction_limit_ratio(). */
int tact_local_is_within_friction_limit(const struct tact_local_problem *problem, const double *r,
                                        const double *d);

/* Scales friction and torsion of r, about its centre of pressure, down to the limit surface: it may
 * have been solved at another centre of pressure. A pulling impulse is set to zero. Returns CONE,
 * SPIN or both: each that contributes at least a hundredth of the power dissipated at the limit
 * surface. */
int tact_local_scale_to_limit_surface(const struct tact_local_problem *problem, double r[6]);

/* Distance of the centre of pressure d from the patch centre, over that of the patch's edge in its
 * direction; 1: at the edge. */
double tact_local_edge_distance_ratio(const struct tact_local_problem *problem, const double *d);

/* 1 where the patch is a point that resists rolling. Its impulse has torques about t1 and t2, which
 * are no part of the centre of pressure. */
static inline int tact_local_resists_rolling(const struct tact_local_problem *problem)
{
    return problem->rolling_arm[0] > 0.0 && problem->rolling_arm[1] > 0.0;
}

/* Number of rows of an impulse: those that the patch transmits, and those of rolling resistance. */
static inline int tact_local_impulse_row_count(const struct tact_local_problem *problem)
{
    return tact_local_resists_rolling(problem) ? 6 : problem->rows;
}

/* For a point that resists rolling: as tact_local_cone_by(), tact_local_residual(),
 * tact_local_scale_to_limit_surface() and tact_local_margins(). */
int tact_local_solve_with_rolling_resistance(const struct tact_local_problem *problem, double r[6],
                                             int *by);
double tact_local_rolling_resistance_residual(const struct tact_local_problem *problem,
                                              const double r[6]);
int tact_local_enforce_rolling_limits(const struct tact_local_problem *problem, double r[6]);
void tact_local_rolling_resistance_margins(const struct tact_local_problem *problem,
                                           const double r[6], struct tact_margins *out);

#endif
