/*
 * The search for a solution on a limit surface of points, where Newton's method on the active
 * limits fails from the initial impulse: the surface is replaced by the ellipsoid that contains it
 * and is tangent to it at a slip, and the slip of the solution on that is the next. At a given
 * normal force each such step reduces the convex function of which the slip of the solution is the
 * minimum, as the ellipsoid bounds the power from above. From these impulses Newton's method is
 * tried again.
 */
#include <math.h>
#include <string.h>
#include "contact/limits.h"
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/local/local_scaled_internal.h"
#include "contact/vec.h"

#define CONVERGED_FRICTION_STATE_CHANGE                                                            \
    1e-13 /* change of the centre of pressure over the patch, and of the slip over its length,     \
             that counts as none */

enum {
    MAX_FRICTION_SEARCH_STEPS = 32,
    FULL_STEPS = 6
}; /* number of steps in which the centre of pressure moves to that of the impulse; in later ones it
      moves half the way */

/* Initial slip: the velocity at the centre of pressure without friction. */
static void estimate_initial_slip(const struct tact_local_problem *problem,
                                  struct friction_state *at)
{
    const double *b = problem->b, *d = at->d;
    if (!(tact_v3_dot(at->slip, at->slip) > 0.0)) {
        tact_v3_set(at->slip, d[1] * b[3] - b[1], -d[0] * b[3] - b[2], -problem->spin_arm * b[3]);
    }
}

/* Slip to which the friction of an impulse r, on the ellipsoid of a friction state, is opposite. */
static void find_slip_opposed_by_friction(const struct tact_local_problem *problem,
                                          const struct friction_state *at, const double *r,
                                          double *slip)
{
    double z[3], y[3], l[9];
    tact_local_scaled_friction(problem, r, at->d, z);
    tact_friction_points_tangent_ellipsoid(problem, at->slip, l);
    tact_friction_points_map_to_unit_ball(l, z, y);
    slip[2] = y[2] / l[8];
    slip[1] = (y[1] - l[7] * slip[2]) / l[4];
    slip[0] = (y[0] - l[3] * slip[1] - l[6] * slip[2]) / l[0];
}

/* Moves a friction state to the next; step_fraction: part of the way to the impulse's centre of
 * pressure. Returns the change. */
static double advance_friction_state(const struct tact_local_problem *problem,
                                     struct friction_state *at, const double *d, const double *slip,
                                     double step_fraction)
{
    double slip_direction_before[3], slip_direction_after[3], change = 0.0;
    for (int i = 0; i < 2 && tact_local_transmits_rolling_torque(problem); i++) {
        double step = step_fraction * (d[i] - at->d[i]);
        at->d[i] += step;
        change = tact_max(change, fabs(step) / problem->semi[i]);
    }
    if (tact_v3_normalize(slip_direction_before, at->slip) > 0.0 &&
        tact_v3_normalize(slip_direction_after, slip) > 0.0) {
        tact_v3_sub(slip_direction_before, slip_direction_after, slip_direction_before);
        change = tact_max(change, tact_v3_norm(slip_direction_before));
        tact_v3_copy(at->slip, slip);
    }
    return change;
}

int tact_local_search_on_points_surface(const struct tact_local_problem *problem, double r[6])
{
    struct friction_state at, own;
    double slip[3], multiplier = 0.0, change = INFINITY;
    int limits = 0;
    tact_local_friction_state(problem, r, &at);
    estimate_initial_slip(problem, &at);
    for (int i = 0; i < MAX_FRICTION_SEARCH_STEPS && change > CONVERGED_FRICTION_STATE_CHANGE;
         i++) {
        limits = tact_local_solve_friction_state(problem, &at, r, &multiplier);
        if (!(r[0] > 0.0)) {
            return limits;
        }
        double impulse_by_active_set[6];
        memcpy(impulse_by_active_set, r, sizeof impulse_by_active_set);
        int limits_by_active_set =
            i % 2 ? tact_local_solve_by_active_set(problem, impulse_by_active_set) : -1;
        if (limits_by_active_set >= 0) {
            memcpy(r, impulse_by_active_set, sizeof impulse_by_active_set);
            return limits_by_active_set;
        }
        tact_local_friction_state(problem, r, &own);
        if (limits & TACT_LIMIT_CONE) {
            find_slip_opposed_by_friction(problem, &at, r, slip);
        } else { /* the contact sticks: friction is within the surface, unless that is narrower than
                    the ellipsoid */
            int is_impulse_within_limit_surface =
                tact_local_is_within_friction_limit(problem, r, own.d);
            tact_v3_copy(slip, is_impulse_within_limit_surface ? at.slip : own.slip);
        }
        change = advance_friction_state(problem, &at, own.d, slip, i < FULL_STEPS ? 1.0 : 0.5);
    }
    return limits;
}
