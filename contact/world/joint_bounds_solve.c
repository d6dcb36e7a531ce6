/*
 * The bounds of one hand: find impulses p with rates r + A (p - p0) that their laws allow. They
 * minimise a convex function, quadratic but for kinks at the impulses of the laws. It is found by
 * an active-set method (Nocedal and Wright 2006, section 16.5, for kinks in place of limits): the
 * impulses that are not at a kink are changed so that their rates are the targets of their pieces,
 * as far as the first kink that one of them reaches, where it stays; once all of them have their
 * targets, the impulse at a kink whose rate is most beyond what its law allows is released.
 */
#include <math.h>
#include <string.h>
#include "contact/world/joint_bounds_internal.h"
#include "contact/world/rows_internal.h"

#define JOINT_RATE_ROUNDING_RATIO                                                                  \
    1e-13 /* error of a joint rate that counts as rounding, over the rates that the impulses cause \
             in it */
#define AT_KINK_TOLERANCE                                                                          \
    1e-12 /* distance of an impulse from a kink of its law, over the kink's size, below which it   \
             is at the kink */

void tact_joint_bound_find_law_piece(struct joint_bound *b)
{
    double near = AT_KINK_TOLERANCE * fabs(b->impulses_at_law_kinks[0]);
    if (fabs(b->impulse - b->impulses_at_law_kinks[0]) <= near ||
        fabs(b->impulse - b->impulses_at_law_kinks[1]) <= near) {
        b->impulse = fabs(b->impulse - b->impulses_at_law_kinks[0]) <= near
                         ? b->impulses_at_law_kinks[0]
                         : b->impulses_at_law_kinks[1];
        b->free = 0;
        return;
    }
    b->free = 1;
    b->target = b->impulse < b->impulses_at_law_kinks[0]   ? b->highest_rate_within_stops
                : b->impulse > b->impulses_at_law_kinks[1] ? b->lowest_rate_within_stops
                                                           : 0.0;
    if (!isfinite(b->target)) {
        b->impulse = b->impulses_at_law_kinks[b->impulse > b->impulses_at_law_kinks[1]];
        b->free = 0;
    }
}

/* Lowest and highest rate that a bound's law allows while its impulse is at a kink. */
static void find_allowed_rates_at_kink(const struct joint_bound *b, double *lowest_allowed_rate,
                                       double *highest_allowed_rate)
{
    int one = b->impulses_at_law_kinks[0] == b->impulses_at_law_kinks[1];
    *lowest_allowed_rate =
        one || b->impulse == b->impulses_at_law_kinks[1] ? b->lowest_rate_within_stops : 0.0;
    *highest_allowed_rate =
        one || b->impulse == b->impulses_at_law_kinks[0] ? b->highest_rate_within_stops : 0.0;
}

double tact_joint_bound_rate_error(const struct joint_bound *b)
{
    double lowest = b->target, highest = b->target;
    if (!b->free) {
        find_allowed_rates_at_kink(b, &lowest, &highest);
    }
    return b->rate < lowest ? lowest - b->rate : b->rate > highest ? highest - b->rate : 0.0;
}

/* y += s x, of n numbers, two at a time. */
static void add_scaled_vector(double *y, double s, const double *x, int n)
{
    int i = 0;
    for (; i + 1 < n; i += 2) {
        *(tact_row2 *)(y + i) += s * *(const tact_row2 *)(x + i);
    }
    if (i < n) {
        y[i] += s * x[i];
    }
}

/* Finds column j of L from the sums of the products of the columns before it, which are in its
 * place, and adds its own to those of the columns after it: each sum is in the order of the
 * columns, and none waits for another. Returns 0 where A is not positive definite. */
static int factor_free_bound_column(struct joint_bounds *bounds, const struct hand_joint_bounds *of,
                                    int j, int n)
{
    double *column = bounds->factor + j * n;
    const double *from = of->joint_bound_mobility_matrix + bounds->free[j];
    const double diagonal_entry_after_elimination = from[bounds->free[j] * of->count] - column[j];
    if (!(diagonal_entry_after_elimination > 0.0)) {
        return 0;
    }
    column[j] = sqrt(diagonal_entry_after_elimination);
    for (int i = j + 1; i < n; i++) {
        column[i] = (from[bounds->free[i] * of->count] - column[i]) / column[j];
        bounds->factor[i * n + j] = column[i];
    }
    for (int m = j + 1; m < n; m++) {
        add_scaled_vector(bounds->factor + m * (n + 1), column[m], column + m, n - m);
    }
    return 1;
}

/* Factors A of the free bounds as L L^T, unless they are those that were factored last in this
 * tick. Returns 0 where A is not positive definite. */
static int factor_free_bounds(struct joint_bounds *bounds, const struct hand_joint_bounds *of,
                              int n)
{
    const size_t size = (size_t)n * sizeof *bounds->free;
    if (bounds->hand_of_factored_bounds == of && bounds->factored_bound_count == n &&
        !memcmp(bounds->factored_free_bounds, bounds->free, size)) {
        return 1;
    }
    bounds->hand_of_factored_bounds = NULL;
    memset(bounds->factor, 0, (size_t)n * (size_t)n * sizeof *bounds->factor);
    for (int j = 0; j < n; j++) {
        if (!factor_free_bound_column(bounds, of, j, n)) {
            return 0;
        }
    }
    bounds->hand_of_factored_bounds = of;
    bounds->factored_bound_count = n;
    memcpy(bounds->factored_free_bounds, bounds->free, size);
    return 1;
}

/* Replaces the right side in `step` by the solution with the factored matrix, (L L^T)^-1 step. */
static void solve_free_impulse_step(const struct joint_bounds *bounds, int n)
{
    double *x = bounds->step, *sum = bounds->sum;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int i = 0; i < n; i++) {
        const double *column = bounds->factor + i * n;
        const int next = (i + 1) & ~1; /* pairs of numbers begin at even indices in each pass, so
                                          that they are reloaded as they were stored */
        x[i] = (x[i] - sum[i]) / column[i];
        add_scaled_vector(sum + next, x[i], column + next, n - next);
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= bounds->factor[i * (n + 1)];
        add_scaled_vector(x, -x[i], bounds->factor + i * n, i);
    }
}

/* Change of an impulse up to the kink that ends its piece of the law in the direction of `step`. */
static double find_impulse_change_to_kink(const struct joint_bound *b, double step)
{
    for (int i = 0; i < 2; i++) {
        double impulses_at_law_kinks = b->impulses_at_law_kinks[step < 0.0 ? 1 - i : i];
        if (step < 0.0 ? b->impulse > impulses_at_law_kinks : b->impulse < impulses_at_law_kinks) {
            return impulses_at_law_kinks - b->impulse;
        }
    }
    return step; /* nothing ends it */
}

/* Moves the free impulses until their rates are the targets, or as far as the first kink. Returns 1
 * where all rates are, 0 where an impulse is at a kink now, -1 where there is no step. */
static int move_free_bound_impulses(struct joint_bounds *bounds, const struct hand_joint_bounds *of)
{
    struct joint_bound *list = bounds->list + of->first;
    int n = 0, reached = -1;
    for (int i = 0; i < of->count; i++) {
        if (list[i].free) {
            bounds->step[n] = list[i].target - bounds->rate[i];
            bounds->free[n++] = i;
        }
    }
    if (!factor_free_bounds(bounds, of, n)) {
        return -1;
    }
    solve_free_impulse_step(bounds, n);
    double share = 1.0;
    for (int k = 0; k < n; k++) {
        double step = bounds->step[k],
               to_kink = find_impulse_change_to_kink(&list[bounds->free[k]], step);
        if (fabs(to_kink) < fabs(step) * share) {
            share = to_kink / step;
            reached = k;
        }
    }
    for (int k = 0; k < n; k++) {
        struct joint_bound *b = &list[bounds->free[k]];
        double step = k == reached ? find_impulse_change_to_kink(b, bounds->step[k])
                                   : share * bounds->step[k];
        b->impulse += step;
        add_scaled_vector(bounds->rate, step,
                          of->joint_bound_mobility_matrix + bounds->free[k] * of->count, of->count);
    }
    if (reached >= 0) {
        tact_joint_bound_find_law_piece(&list[bounds->free[reached]]);
    }
    return reached < 0;
}

/* Scale of rounding of a joint's rate: sum of the sizes of the rates that the impulses cause in it,
 * and of the present rate. */
static double joint_rate_rounding_scale(const struct joint_bounds *bounds,
                                        const struct hand_joint_bounds *of, int i)
{
    double sum = fabs(bounds->rate[i]);
    for (int k = 0; k < of->count; k++) {
        sum += fabs(of->joint_bound_mobility_matrix[i * of->count + k] *
                    bounds->list[of->first + k].impulse);
    }
    return sum;
}

/* Releases the impulse at a kink whose rate is most beyond what its law allows. Returns 0 where
 * there is none. */
static int release_most_violated_bound(struct joint_bounds *bounds,
                                       const struct hand_joint_bounds *of)
{
    struct joint_bound *list = bounds->list + of->first;
    double most = 0.0, target = 0.0;
    int worst = -1;
    for (int i = 0; i < of->count; i++) {
        double lowest_allowed_rate, highest_allowed_rate, rate = bounds->rate[i];
        find_allowed_rates_at_kink(&list[i], &lowest_allowed_rate, &highest_allowed_rate);
        if (list[i].free || (rate >= lowest_allowed_rate && rate <= highest_allowed_rate)) {
            continue;
        }
        double nearest_allowed_rate =
                   rate < lowest_allowed_rate ? lowest_allowed_rate : highest_allowed_rate,
               beyond = fabs(rate - nearest_allowed_rate);
        double size = beyond / sqrt(of->joint_bound_mobility_matrix[i * (of->count + 1)]);
        if (size > most &&
            beyond > JOINT_RATE_ROUNDING_RATIO * joint_rate_rounding_scale(bounds, of, i)) {
            most = size;
            worst = i;
            target = nearest_allowed_rate;
        }
    }
    if (worst >= 0) {
        list[worst].free = 1;
        list[worst].target = target;
    }
    return worst >= 0;
}

int tact_joint_bounds_solve_hand(struct joint_bounds *bounds, const struct hand_joint_bounds *of)
{
    for (int i = 0; i < of->count; i++) {
        bounds->rate[i] = bounds->list[of->first + i].rate;
    }
    for (int step = 0, most = 10 + 10 * of->count; step < most; step++) {
        int moved = move_free_bound_impulses(bounds, of);
        if (moved < 0 || (moved && !release_most_violated_bound(bounds, of))) {
            return moved > 0;
        }
    }
    return 0;
}
