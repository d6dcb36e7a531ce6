/*
 * The limit surface of a pressure given by its parts. Friction z = (f_1, f_2, tau_d / k) / mu in
 * [N s], at its limit where the surface's gauge is the normal force; slip s = (v_1, v_2, k w) at
 * the centre of pressure [m/s], of any length.
 */
#ifndef TACT_CONTACT_LOCAL_POINTS_INTERNAL_H
#define TACT_CONTACT_LOCAL_POINTS_INTERNAL_H

#include "contact/local/local.h"

/* 1 where the limit surface of the problem is that of a pressure given by points. */
static inline int tact_has_friction_points(const struct tact_local_problem *problem)
{
    return problem->surface == TACT_SURFACE_POINTS && problem->spin_arm > 0.0;
}

/* Limit surface at a slip that is not 0: power over mu f_n, friction over mu f_n, the ellipsoid
 * that contains the surface and is tangent to it there, and the Hessian of half the square of the
 * power. */
struct limit_surface_at_slip {
    double power, force[3], metric[9], hessian[9];
};

void tact_friction_points_at_slip(const struct tact_local_problem *problem, const double slip[3],
                                  struct limit_surface_at_slip *out);

/* Returns the square of the gauge of the limit surface at z, and sets slip to half of the gradient
 * of that square: a slip to which z is opposite at its limit; on input a slip near it, or 0. at:
 * output, the surface at that slip; all 0 for z = 0. */
double tact_friction_points_squared_gauge(const struct tact_local_problem *problem,
                                          const double z[3], double slip[3],
                                          struct limit_surface_at_slip *at);

/* 1 where the surface's gauge at z is at most a limit; takes less work than the gauge where z is
 * far from the limit. */
int tact_friction_points_surface_contains(const struct tact_local_problem *problem,
                                          const double z[3], double limit);

/* Square of the gauge, half of its gradient, and half of the Hessian of the square. normal: on
 * input one near it, or 0. */
double tact_friction_points_gauge_hessian(const struct tact_local_problem *problem,
                                          const double z[3], double normal[3],
                                          double limit_surface_hessian[9]);

/* Lower triangular L such that z = L y, |y| <= 1, is the ellipsoid that contains the surface and is
 * tangent to it at a slip; 0 0 0 counts as one along t1. */
void tact_friction_points_tangent_ellipsoid(const struct tact_local_problem *problem,
                                            const double slip[3], double lower[9]);

/* Solves z = L y. */
void tact_friction_points_map_to_unit_ball(const double lower[9], const double z[3], double y[3]);

#endif
