/* Newton's step on the sweeps of an island of free bodies, by elimination. */
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/rows_internal.h"
#include "contact/world/six_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

#define RIGID_COMPLIANCE                                                                           \
    1e-9 /* of S: compliance of a rigid contact, with which its row can be eliminated */

/* Compliance of a row of a contact, in the units of S. */
static double row_compliance(const struct block *block, int row)
{
    double own = block->row_cfm[row] + (row ? 0.0 : block->normal_cfm);
    return tact_max(own, RIGID_COMPLIANCE * block->local.s[7 * row]);
}

/* Response of a contact that sticks: S d + e + J dv = 0, where the rigid part of S is in J dv. */
static int stick_response(const struct block *block, const double *soft, const double *e, double *c,
                          double *a)
{
    int rows = block->local.rows;
    for (int k = 0; k < rows && !block->cross_coupled; k++) {
        if (soft[k] > 0.0) {
            c[7 * k] = -1.0 / soft[k];
            a[k] = -e[k] / soft[k];
        }
    }
    if (!block->cross_coupled) {
        return 1;
    }
    double left[36], right[42] = {0.0};
    for (int k = 0; k < 36; k++) {
        int used = k / 6 < rows && k % 6 < rows;
        left[k] = used ? block->cross_cfm[k] : 0.0;
    }
    for (int k = 0; k < 6; k++) {
        left[7 * k] += k < rows && soft[k] > 0.0 ? soft[k] : 1.0;
        right[8 * k] = k < rows ? -1.0 : 0.0;
        right[7 * k + 6] = k < rows ? -e[k] : 0.0;
    }
    if (!tact_six_solve(left, right, 7)) {
        return 0;
    }
    for (int k = 0; k < 6; k++) {
        memcpy(c + 6 * k, right + 7 * k, 6 * sizeof *c);
        a[k] = right[7 * k + 6];
    }
    return 1;
}

/* Difference between b of a contact at the present velocities and in the sweep that gave r. */
static void find_b_change(const struct block *block, const double *r, double *e)
{
    double u[6] = {0.0};
    tact_impact_subtract_target(block, u);
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        tact_rows_velocity(u, side->j, side->v, side->dof);
    }
    tact_block_add_compliance(block, r, u);
    tact_block_subtract_rest(block, u);
    tact_rows_subtract_own(e, u, block->local.s, r);
    for (int i = 0; i < 6; i++) {
        e[i] -= block->local.b[i];
    }
}

/* Response of a contact to velocities: d = a + C J dv. was: change of its normal force in the
 * sweep, by which its spin arm lags. Returns 0 where it has none. */
static int find_response(const struct tact_world *world, const struct block *block, int i,
                         const double *r, double was, double *c, double *a)
{
    const struct tact_local_problem *local = &block->local;
    int limits = world->contacts[block->contact].limits;
    const double *slope = world->newton.impulse_by_b + (size_t)36 * (size_t)i;
    const double *press = world->newton.impulse_by_force + (size_t)6 * (size_t)i;
    double e[6], left[36], right[42], soft[6];
    memset(c, 0, 36 * sizeof *c);
    memset(a, 0, 6 * sizeof *a);
    if (limits & TACT_LIMIT_OPEN) {
        return 1;
    }
    find_b_change(block, r, e);
    for (int k = 0; k < 6; k++) {
        soft[k] = row_compliance(block, k);
    }
    if (tact_newton_sticks(world, block)) {
        return stick_response(block, soft, e, c, a);
    }
    for (int k = 0; k < 36; k++) { /* left: 1 + G (S - E) - p; right: G, and G e + p was */
        const double *row = slope + 6 * (k / 6), *column = local->s + 6 * (k % 6);
        left[k] = (k % 7 == 0) + tact_dot(row, column, 6) - row[k % 6] * soft[k % 6];
        left[k] -= block->cross_coupled ? tact_dot(row, block->cross_cfm + 6 * (k % 6), 6) : 0.0;
        left[k] -= k % 6 == 0 ? press[k / 6] : 0.0;
        right[7 * (k / 6) + k % 6] = row[k % 6];
    }
    for (int k = 0; k < 6; k++) {
        right[7 * k + 6] = tact_dot(slope + 6 * k, e, 6) + press[k] * was;
    }
    if (!tact_six_solve(left, right, 7)) {
        return 0;
    }
    for (int k = 0; k < 6; k++) {
        memcpy(c + 6 * k, right + 7 * k, 6 * sizeof *c);
        a[k] = right[7 * k + 6];
    }
    return 1;
}

/* Change of a contact's impulse for changes v of the velocities. */
static void find_step(const struct tact_world *world, const struct block *block, int i,
                      const double *v, double *step)
{
    const struct newton *newton = &world->newton;
    double u[6] = {0.0};
    tact_direct_velocity(&world->direct, block, v, u);
    memcpy(step, newton->impulse_offset + (size_t)6 * (size_t)i, 6 * sizeof *step);
    tact_six_apply(step, 1.0, newton->impulse_by_velocity + (size_t)36 * (size_t)i, u);
}

int tact_newton_eliminate(struct tact_world *world, const struct island *island, const double *x,
                          const double *g, double *next)
{
    struct direct *d = &world->direct;
    struct newton *newton = &world->newton;
    int rows = island->owners.count, n = island->blocks.count;
    if (!tact_direct_order(world, island)) {
        return 0;
    }
    tact_direct_begin(world, island);
    memset(d->rhs, 0, 6 * (size_t)rows * sizeof *d->rhs);
    for (int i = 0; i < n; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        double *c = newton->impulse_by_velocity + (size_t)36 * (size_t)i,
               *a = newton->impulse_offset + 6 * i;
        if (!find_response(world, block, i, g + 6 * i, g[6 * i] - x[6 * i], c, a)) {
            return 0;
        }
        tact_direct_add_block(d, block, c);
        tact_direct_add_rhs(d, block, a);
    }
    if (!tact_direct_factor(d, rows)) {
        return 0;
    }
    tact_direct_substitute(d, rows);
    for (int i = 0; i < n; i++) {
        double *r = next + 6 * i;
        find_step(world, &world->blocks[island->blocks.at[i]], i, d->rhs, r);
        tact_axpy(r, 1.0, g + 6 * i, 6);
    }
    return 1;
}
