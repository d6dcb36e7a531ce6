#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/local/local_internal.h"
#include "contact/local/local_points_internal.h"

void tact_local_margins(const struct tact_local_problem *problem, const double r[6],
                        struct tact_margins *out)
{
    double x[6], d[2];
    if (tact_local_resists_rolling(problem)) {
        tact_local_rolling_resistance_margins(problem, r, out);
        return;
    }
    int is_sticking_impulse_compressive = tact_local_solve_sticking_impulse(problem, x, d);
    double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    *out = (struct tact_margins){1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    out->normal = size > 0.0 ? x[0] / size : 1.0;
    if (!is_sticking_impulse_compressive) {
        if (!(r[0] > 0.0)) {
            return;
        }
        memcpy(x, r, sizeof x);
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
    }
    double limit = problem->mu * x[0], spin = fabs(x[3] - (d[0] * x[2] - d[1] * x[1]));
    out->slip = tact_margin(tact_local_friction_limit_ratio(problem, x, d), 1.0);
    out->friction = tact_margin(tact_hypot(x[1], x[2]), limit);
    out->spin = tact_margin(spin, limit * problem->spin_arm);
    if (tact_has_friction_points(problem) && problem->points->tilted) {
        x[3] = d[0] * x[2] - d[1] * x[1];
        out->friction = tact_margin(tact_local_friction_limit_ratio(problem, x, d), 1.0);
    }
    out->edge = tact_local_transmits_rolling_torque(problem)
                    ? tact_margin(tact_local_edge_distance_ratio(problem, d), 1.0)
                    : 1.0;
}
