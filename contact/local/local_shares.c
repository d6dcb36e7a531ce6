/* The ratio of an impulse to its limits of friction, torsion and centre of pressure. */
#include <math.h>
#include "contact/local/local_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/local/local_scaled_internal.h"
#include "contact/vec.h"

double tact_local_friction_limit_ratio(const struct tact_local_problem *problem, const double *r,
                                       const double *d)
{
    double spin = fabs(r[3] - (d[0] * r[2] - d[1] * r[1]));
    double most = problem->mu * r[0], arm = problem->spin_arm;
    if (!(most > 0.0) || (!(arm > 0.0) && spin > 0.0)) {
        return fabs(r[1]) + fabs(r[2]) + spin > 0.0 ? INFINITY : 0.0;
    }
    double inverse = 1.0 / most, x = r[1] * inverse, y = r[2] * inverse, w[2];
    if (tact_has_friction_points(problem)) {
        struct limit_surface_at_slip at;
        double z[3], slip[3] = {0.0, 0.0, 0.0};
        tact_local_scaled_friction(problem, r, d, z);
        return sqrt(tact_friction_points_squared_gauge(problem, z, slip, &at)) / r[0];
    }
    double m = spin > 0.0 ? spin / arm * inverse : 0.0;
    return sqrt(tact_local_limit_surface(problem, x * x + y * y, m * m, w));
}

int tact_local_is_within_friction_limit(const struct tact_local_problem *problem, const double *r,
                                        const double *d)
{
    double z[3];
    if (!tact_has_friction_points(problem) || !(problem->mu * r[0] > 0.0)) {
        return tact_local_friction_limit_ratio(problem, r, d) <= 1.0;
    }
    tact_local_scaled_friction(problem, r, d, z);
    return tact_friction_points_surface_contains(problem, z, r[0]);
}

double tact_local_edge_distance_ratio(const struct tact_local_problem *problem, const double *d)
{
    if (!tact_local_transmits_rolling_torque(problem)) {
        return 0.0;
    }
    if (problem->corners) {
        return tact_polygon_edge_distance_ratio(problem->corner, problem->corners, d);
    }
    double x = d[0] / problem->semi[0], y = d[1] / problem->semi[1];
    return sqrt(x * x + y * y);
}
