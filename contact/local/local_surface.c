/*
 * The limit surface of a disc: G = (f + m) (1 + c (1 - c) p(c)), c = f / (f + m), where p is a
 * quadratic fitted to the curve that quadrature of Coulomb friction gives. It is convex in both
 * cases: the angle of the normal decreases monotonically with c (tested). That of points is in
 * local_points.c.
 */
#include "contact/local/local_internal.h"

/* The smallest f + m whose inverse is a number with room to spare; below it the surface is taken
 * for the ellipsoid. */
#define MIN_INVERTIBLE_FRICTION_SUM 1e-300

static const double fit[3][3] = {
    {0.0, 0.0, 0.0}, {0.5004, 0.0169, 0.2663}, {0.4458, -0.0049, 0.2988}};

double tact_local_limit_surface_curvature(const struct tact_local_problem *problem, double f,
                                          double m, double w[2], double *limit_surface_curvature)
{
    enum tact_surface surface = problem->surface;
    double sum = f + m;
    if (!(sum > MIN_INVERTIBLE_FRICTION_SUM) || surface == TACT_SURFACE_ELLIPSOID ||
        surface == TACT_SURFACE_POINTS) {
        w[0] = w[1] = 1.0;
        *limit_surface_curvature = 0.0;
        return sum;
    }
    const double *p = surface == TACT_SURFACE_FITTED ? problem->fit : fit[surface];
    double inverse = 1.0 / sum, c = f * inverse, e = m * inverse;
    double at = p[0] + c * (p[1] + c * p[2]), slope = p[1] + 2.0 * c * p[2];
    double g = 1.0 + c * e * at, dg = (e - c) * at + c * e * slope;
    w[0] = g + e * dg;
    w[1] = g - c * dg;
    *limit_surface_curvature =
        4.0 * ((e - c) * slope - at + c * e * p[2]) * (inverse * inverse * inverse);
    return sum * g;
}

double tact_local_limit_surface(const struct tact_local_problem *problem, double f, double m,
                                double w[2])
{
    double limit_surface_curvature;
    return tact_local_limit_surface_curvature(problem, f, m, w, &limit_surface_curvature);
}
