/*
 * The iteration between the sweeps of an island: Newton's method where it makes progress, an
 * interior-point method where Newton's method fails at the limits, Anderson acceleration where
 * neither applies, and the best iterate where none converges.
 */
#include <math.h>
#include <string.h>
#include "contact/world/sweeps_internal.h"

#define MAX_PROGRESS_RESIDUAL_RATIO                                                                \
    0.9 /* ratio of successive residuals up to which a step counts as progress */
/* Residual or change with which the first sweep may be the last, relative to the tolerance; and in
 * an island with damped steps, where the rounding of positions alone leaves more in every tick.
 * With it 30 balls at rest take one sweep in place of two and an elimination, and creep by 3e-15 m
 * in 20 s. */
#define MAX_RESIDUAL_RATIO_AFTER_FIRST_SWEEP 1e-3
#define MAX_DAMPED_RESIDUAL_RATIO_AFTER_FIRST_SWEEP 0.1
/* Number of Newton's steps without progress after which they are undone: in an island with damped
 * steps, and in others. */
#define MAX_NEWTON_STEPS_WITHOUT_PROGRESS_DAMPED 11
#define MAX_NEWTON_STEPS_WITHOUT_PROGRESS 5
/* Number of contacts from which the springs of an island are anchored from the start: an island of
 * free bodies, and one with hands. With 10 for the latter, 81 ticks of a hand with a rigid skin
 * that closes on a ball are not solved; with 6 all are. */
#define MIN_CONTACTS_OF_ANCHORED_BODY_ISLAND 13
#define MIN_CONTACTS_OF_ANCHORED_HAND_ISLAND 6
/* The same of hands where all contacts are elastic wrenches. With 6 a hand of five fingertips by
 * pressure fields leaves 270 of 14,000 ticks unsolved, with 5 none. */
#define MIN_CONTACTS_OF_ANCHORED_ELASTIC_HAND_ISLAND 5
#define FIRST_NEWTON_PAUSE_SWEEPS                                                                  \
    4 /* sweeps without Newton's method after its first failure; doubled at each further failure   \
       */
#define MAX_NEWTON_PAUSE_DOUBLINGS                                                                 \
    4 /* largest number of failures of Newton's method that still double its pause */
#define SWEEPS_AFTER_INTERIOR_POINT                                                                \
    4 /* number of sweeps reserved for those after the interior-point method                       \
       */
#define RESTING_SPEED_FREE_FALL_TICKS                                                              \
    2.0 /* ticks of free fall whose speed bounds that of contacts at rest                          \
         */
#define ANDERSON_RESTART_RESIDUAL_GROWTH                                                           \
    10.0 /* factor of growth of the residual that restarts Anderson acceleration */

/* Reads the unknowns of the sweeps: six for each contact, then the free row of each joint of a
 * mechanism, then the bound of each joint of a hand. Impulses of constrained rows follow from them.
 */
static void pack_island_impulses(struct tact_world *world, const struct island *island, double *out)
{
    for (int i = 0; i < island->blocks.count; i++) {
        int contact = world->blocks[island->blocks.at[i]].contact;
        memcpy(out + 6 * i, world->contacts[contact].impulse, 6 * sizeof *out);
    }
    out += 6 * island->blocks.count;
    tact_constraints_copy_impulses(world, island, out, 0);
    tact_joint_bounds_copy_impulses(world, island, out + island->constraints.count, 0);
}

static void unpack_island_impulses(struct tact_world *world, const struct island *island,
                                   double *next)
{
    double *start_of_free_row_impulses = next + 6 * island->blocks.count;
    tact_constraints_copy_impulses(world, island, start_of_free_row_impulses, 1);
    tact_joint_bounds_copy_impulses(world, island,
                                    start_of_free_row_impulses + island->constraints.count, 1);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        double *r = world->contacts[block->contact].impulse, delta[6];
        for (int k = 0; k < 6; k++) {
            delta[k] = next[6 * i + k] - r[k];
            r[k] = next[6 * i + k];
        }
        tact_constraints_apply_response_to_contact(world, block, delta);
    }
    tact_velocities_recompute(world, island);
}

void tact_sweeps_scale_impulses(struct tact_world *world, struct island *island, double share)
{
    double *next = island->search.next;
    pack_island_impulses(world, island, next);
    for (int i = 0; i < island->blocks.count * 6; i++) {
        next[i] *= share;
    }
    double *joint_bound_impulses = next + island->search.n - island->bounds.count;
    for (int i = 0; i < island->bounds.count; i++) {
        joint_bound_impulses[i] *= share;
    }
    unpack_island_impulses(world, island, next);
}

/* Resets the residuals and steps of a search, which belong to another problem. */
static void reset_search_residuals(struct island_search *s)
{
    s->smallest_search_residual = s->smallest_residual_since_restart = s->least_absolute_residual =
        INFINITY;
    s->newton_steps_without_progress = s->sweeps_until_next_newton_step = 0;
    tact_anderson_restart(&s->anderson);
}

/* Number of contacts of an island whose patch has a normal law. */
static int count_patches_of_law(const struct tact_world *world, const struct island *island,
                                enum tact_normal_law law)
{
    int count = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        int contact = world->blocks[island->blocks.at[i]].contact;
        count += world->contacts[contact].patch.law == law;
    }
    return count;
}

/* 1 where a contact patch of an island has gaps. */
static int does_island_have_gap_patches(const struct tact_world *world, const struct island *island)
{
    return count_patches_of_law(world, island, TACT_LAW_GAPS) > 0;
}

/* Number of contacts from which the springs of an island are anchored from the start. */
static int min_anchored_contacts(const struct tact_world *world, const struct island *island)
{
    if (!tact_island_has_hands(world, island)) {
        return MIN_CONTACTS_OF_ANCHORED_BODY_ISLAND;
    }
    return count_patches_of_law(world, island, TACT_LAW_WRENCH) == island->blocks.count
               ? MIN_CONTACTS_OF_ANCHORED_ELASTIC_HAND_ISLAND
               : MIN_CONTACTS_OF_ANCHORED_HAND_ISLAND;
}

/* 1 where an island has so many contacts that its springs are to be anchored at the start of its
 * search, and where it may have Newton's steps: not by Bouchard's law or contact points. */
static int has_island_enough_contacts_to_anchor(const struct tact_world *world,
                                                const struct island *island)
{
    return island->blocks.count >= min_anchored_contacts(world, island) &&
           tact_island_can_accelerate(world, island);
}

/* 1 where the bodies of an island hardly move where they touch, and a contact rests at a gap of 0.
 */
static int does_island_rest_on_gaps(const struct tact_world *world, const struct island *island)
{
    double limit = RESTING_SPEED_FREE_FALL_TICKS * world->options.period *
                   tact_v3_norm(world->options.gravity);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        const struct tact_patch *patch = &world->contacts[block->contact].patch;
        const double *u = block->contact_velocity_before_forces;
        double reach = tact_max(patch->semi[0], patch->semi[1]);
        if (fabs(u[0]) + reach * (fabs(u[1]) + fabs(u[2])) > limit) {
            return 0;
        }
    }
    return does_island_have_gap_patches(world, island);
}

/* Anchors the springs of an island for all of its search. Newton's steps are damped where most
 * contacts are anchored near their loads. Heaps of 20 boxes by features are solved better without:
 * 16 % of their ticks are not solved, in place of 30 %. */
static void anchor_island_springs(struct tact_world *world, struct island *island)
{
    int anchored_contact_count = tact_springs_anchor_at_impulses(world, island);
    island->search.are_island_newton_steps_damped =
        2 * anchored_contact_count > island->blocks.count &&
        !does_island_have_gap_patches(world, island);
    island->search.spring_anchor_state = -1;
}

/* Begins the search of an island. The contacts of a heap can bear its load in many ways, which
 * differ by impulses that balance each other. With the compliance of rigid contacts, the one that
 * solves a tick depends on the last digits of the velocities: it changes from tick to tick, and
 * Newton's method does not find it. The springs of islands with many contacts are
 * therefore anchored at the impulses of the last tick.
 *
 * Anchored springs and the correction of depth together are a spring and an integrator without a
 * damper: motion slower than about 1 / sqrt(h tau), tau the relaxation time, grows. What rests on
 * gaps of 0 would shake: an arch of 15 stones, 2 % thicker than the least thickness, fell. There
 * the springs are anchored only after Newton's method has failed. */
static void begin_island_search(struct tact_world *world, struct island *island)
{
    struct island_search *s = &island->search;
    reset_search_residuals(s);
    s->undone_newton_series_count = s->interior_point_step_count =
        s->are_island_newton_steps_damped = 0;
    s->is_newton_allowed_in_search = island->has_coupled_contacts && island->constraints.count == 0;
    if (s->is_newton_allowed_in_search && s->spring_anchor_state == 0 &&
        has_island_enough_contacts_to_anchor(world, island) &&
        !does_island_rest_on_gaps(world, island)) {
        anchor_island_springs(world, island);
    }
}

/* Anchors the springs of an island that rests on gaps, and begins again from the impulses of the
 * last tick. Returns 1 where it does. */
static int restart_with_anchored_springs(struct tact_world *world, struct island *island)
{
    struct island_search *s = &island->search;
    if (!s->is_newton_allowed_in_search || s->spring_anchor_state != 0 ||
        !has_island_enough_contacts_to_anchor(world, island) ||
        !does_island_rest_on_gaps(world, island)) {
        return 0;
    }
    pack_island_impulses(world, island, s->next);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        memcpy(s->next + 6 * i, block->impulse_at_spring_rest, 6 * sizeof *s->next);
    }
    unpack_island_impulses(world, island, s->next);
    anchor_island_springs(world, island);
    reset_search_residuals(s);
    return 1;
}

static void restart_search_anderson(struct island_search *s)
{
    tact_anderson_restart(&s->anderson);
    s->smallest_residual_since_restart = INFINITY;
}

/* Runs the interior-point method, once, after Newton's steps failed. Returns 1 where it produced
 * impulses to sweep from. */
static int try_interior_point(struct tact_world *world, struct island *island,
                              struct tact_solve_stats *stats)
{
    struct island_search *s = &island->search;
    int sweeps_left_for_interior_point =
        world->options.iterations - stats->iterations - SWEEPS_AFTER_INTERIOR_POINT;
    if (s->interior_point_step_count || sweeps_left_for_interior_point <= 0) {
        return 0;
    }
    s->interior_point_step_count =
        tact_barrier_solve_island(world, island, sweeps_left_for_interior_point);
    tact_velocities_recompute(world, island);
    stats->eliminations += s->interior_point_step_count;
    world->counts[TACT_COUNT_INTERIOR] += s->interior_point_step_count;
    return s->interior_point_step_count > 0;
}

/* Allows a few Newton's steps to raise the residual; if it does not fall again, restores the
 * impulses before them and pauses Newton's method for some sweeps. Returns 1 where impulses were
 * restored or replaced. */
static int restore_best_impulses(struct tact_world *world, struct island *island,
                                 struct tact_solve_stats *stats)
{
    struct island_search *s = &island->search;
    if (!s->newton_steps_without_progress) {
        return 0;
    }
    if (island->residual <= MAX_PROGRESS_RESIDUAL_RATIO * s->residual_before_newton_steps) {
        s->newton_steps_without_progress = 0;
        return 0;
    }
    if (s->newton_steps_without_progress++ < (s->are_island_newton_steps_damped
                                                  ? MAX_NEWTON_STEPS_WITHOUT_PROGRESS_DAMPED
                                                  : MAX_NEWTON_STEPS_WITHOUT_PROGRESS)) {
        return 0;
    }
    world->counts[TACT_COUNT_TAKEN_BACK]++;
    if (restart_with_anchored_springs(world, island)) {
        return 1;
    }
    unpack_island_impulses(world, island, s->impulses_of_least_relative_residual);
    restart_search_anderson(s);
    s->newton_steps_without_progress = 0;
    if (s->spring_anchor_state == 0 &&
        (s->interior_point_step_count > 0 || s->undone_newton_series_count > 0)) {
        /* Impulses that balance each other are bounded, as the anchored springs lead to a solution
         * near them. */
        tact_island_bound_impulses(world, island);
        tact_springs_anchor_at_impulses(world, island);
        world->counts[TACT_COUNT_PROXIMAL]++;
        s->spring_anchor_state = 1;
    }
    if (try_interior_point(world, island, stats)) {
        s->sweeps_until_next_newton_step = 1;
        return 1;
    }
    s->sweeps_until_next_newton_step = FIRST_NEWTON_PAUSE_SWEEPS << s->undone_newton_series_count;
    s->undone_newton_series_count += s->undone_newton_series_count < MAX_NEWTON_PAUSE_DOUBLINGS;
    return 1;
}

/* Sets the scale that makes forces and torques of all unknowns comparable. */
static void compute_scales_of_impulse_unknowns(const struct tact_world *world,
                                               const struct island *island, double *scale)
{
    for (int i = 0; i < island->blocks.count; i++) {
        for (int k = 0; k < 6; k++) {
            scale[6 * i + k] =
                k < 3 ? 1.0 : world->blocks[island->blocks.at[i]].joint_torque_to_force_scale;
        }
    }
    scale += 6 * island->blocks.count;
    tact_constraints_set_unknown_scales(world, island, scale);
    tact_joint_bounds_set_unknown_scales(world, island, scale + island->constraints.count);
}

/* Extrapolates from the result of the sweep to the expected solution; the next sweep brings it back
 * inside the limits. */
static void accelerate_island_by_anderson(struct tact_world *world, struct island *island,
                                          struct tact_solve_stats *stats)
{
    struct island_search *s = &island->search;
    double residual = island->residual;
    int is_newton_step_due =
        s->is_newton_allowed_in_search &&
        (s->newton_steps_without_progress || s->sweeps_until_next_newton_step-- <= 0);
    pack_island_impulses(world, island, s->after);
    compute_scales_of_impulse_unknowns(world, island, s->scale);
    if (is_newton_step_due &&
        tact_newton_step(world, island, s->before, s->after, s->scale, s->next)) {
        if (!s->newton_steps_without_progress) {
            s->newton_steps_without_progress = 1;
            s->residual_before_newton_steps = s->smallest_search_residual;
        }
        stats->eliminations++;
        world->counts[TACT_COUNT_NEWTON]++;
        restart_search_anderson(s);
    } else {
        if (residual > ANDERSON_RESTART_RESIDUAL_GROWTH * s->smallest_residual_since_restart) {
            restart_search_anderson(s);
        }
        s->smallest_residual_since_restart = tact_min(s->smallest_residual_since_restart, residual);
        world->counts[TACT_COUNT_ANDERSON]++;
        tact_anderson_step(&s->anderson, s->before, s->after, s->scale, s->next);
        is_newton_step_due = 0;
    }
    unpack_island_impulses(world, island, s->next);
    if (is_newton_step_due) { /* a step of Newton's method leaves an error in the joint bounds, from
                                 which the contacts would get one */
        (void)tact_joint_bounds_solve_in_sweep(world, island);
    }
}

static double relative_impulse_change_of_island(const struct island *island)
{
    return island->size > 0.0 ? sqrt(island->change / island->size) : 0.0;
}

int tact_island_is_solved(const struct tact_world *world, const struct island *island)
{
    return island->residual <= world->options.tolerance ||
           (world->options.local == TACT_LOCAL_BOUCHARD && !island->points &&
            relative_impulse_change_of_island(island) <= world->options.tolerance);
}

int tact_world_notify_observer(const struct tact_world *world, enum tact_solve_phase phase,
                               const struct tact_solve_stats *stats)
{
    return world->observer ? world->observer(world->solve_observer_context, phase, stats) : 0;
}

/* Records the impulses with the smallest relative and with the smallest absolute residual. */
static void record_best_impulses(struct tact_world *world, struct island *island,
                                 double absolute_island_residual)
{
    struct island_search *s = &island->search;
    if (island->residual < s->smallest_search_residual) {
        s->smallest_search_residual = island->residual;
        pack_island_impulses(world, island, s->impulses_of_least_relative_residual);
    }
    if (absolute_island_residual < s->least_absolute_residual) {
        s->least_absolute_residual = absolute_island_residual;
        s->relative_residual_at_least_absolute = island->residual;
        pack_island_impulses(world, island, s->impulses_of_least_absolute_residual);
    }
}

/* Ends an island without convergence: restores the impulses with the smallest absolute residual and
 * enforces their limits. A residual that is not a number is not smaller. */
static void restore_and_bound_unsolved_island(struct tact_world *world, struct island *island,
                                              double absolute_island_residual)
{
    struct island_search *s = &island->search;
    if (s->least_absolute_residual < INFINITY &&
        !(absolute_island_residual <= s->least_absolute_residual)) {
        unpack_island_impulses(world, island, s->impulses_of_least_absolute_residual);
        world->counts[TACT_COUNT_RESTORED]++;
        island->residual = s->relative_residual_at_least_absolute;
    }
    tact_sweeps_enforce_limits(world, island);
}

/* 1 where the island has converged. A single sweep leaves an error that contacts pass on to others
 * of the same body. If it were accepted, a resting pile would move by this error in the tick and
 * back in the next two, and would never come to rest, as its warm starts stay equally wrong. One
 * solution to rounding precision brings it to rest. The residual of a contact that hardly bears
 * load is dominated by rounding of others: there the change is compared. */
static int has_island_converged(const struct tact_world *world, const struct island *island,
                                int iterations)
{
    int may_use_newton_in_island =
        island->search.is_newton_allowed_in_search && tact_island_can_accelerate(world, island);
    double first = island->search.are_island_newton_steps_damped
                       ? MAX_DAMPED_RESIDUAL_RATIO_AFTER_FIRST_SWEEP
                       : MAX_RESIDUAL_RATIO_AFTER_FIRST_SWEEP;
    return tact_island_is_solved(world, island) &&
           (iterations > 1 || !may_use_newton_in_island ||
            tact_min(island->residual, relative_impulse_change_of_island(island)) <=
                first * world->options.tolerance);
}

/* Checks a solution with anchored springs. Where their deflection is too large, anchors them again
 * at the present impulses or, after the last sweep, reports the deflection as the residual. Returns
 * 1 where the island is to be swept again. */
static int reanchor_deflected_springs(struct tact_world *world, struct island *island, int last)
{
    double anchored_spring_deflection = island->search.spring_anchor_state > 0
                                            ? tact_springs_anchored_deflection(world, island)
                                            : 0.0;
    if (anchored_spring_deflection == 0.0) {
        return 0;
    }
    if (last) {
        island->residual = tact_max(island->residual, anchored_spring_deflection);
        return 0;
    }
    tact_springs_anchor_at_impulses(world, island);
    world->counts[TACT_COUNT_PROXIMAL]++;
    reset_search_residuals(&island->search);
    return 1;
}

/* Ends an island's search after a sweep, or computes the impulses for the next sweep. last: no more
 * sweeps are allowed. */
static void advance_island_search(struct tact_world *world, struct island *island, int last,
                                  struct tact_solve_stats *stats)
{
    int is_island_solved = has_island_converged(world, island, stats->iterations);
    double absolute_impulse_residual = sqrt(island->size) * island->residual;
    if (is_island_solved && reanchor_deflected_springs(world, island, last)) {
        return;
    }
    island->is_island_unsolved = !is_island_solved && !last;
    if (is_island_solved && stats->iterations > 1) { /* velocities are recomputed, which removes the
                                              rounding errors of larger impulses */
        tact_velocities_recompute(world, island);
    }
    if (is_island_solved || !tact_island_can_accelerate(world, island)) {
        return;
    }
    if (last) {
        restore_and_bound_unsolved_island(world, island, absolute_impulse_residual);
        return;
    }
    record_best_impulses(world, island, absolute_impulse_residual);
    if (!restore_best_impulses(world, island, stats)) {
        accelerate_island_by_anderson(world, island, stats);
    }
}

/* Computes the statistics of the world from those of its islands. */
static void sum_island_statistics(const struct tact_world *world, struct tact_solve_stats *stats)
{
    double size = 0.0, change = 0.0;
    stats->residual = 0.0;
    for (int i = 0; i < world->islands.count; i++) {
        const struct island *island = &world->islands.list[i];
        size += island->size;
        change += island->change;
        stats->residual = tact_max(stats->residual, island->residual);
    }
    stats->update = size > 0.0 ? sqrt(change / size) : 0.0;
}

/* Makes one sweep over each island that is not solved yet. Returns 1 where there was one. */
static int sweep_unsolved_islands(struct tact_world *world, int first)
{
    int any = 0;
    for (int i = 0; i < world->islands.count; i++) {
        struct island *island = &world->islands.list[i];
        if (island->is_island_unsolved) {
            pack_island_impulses(world, island, island->search.before);
            island->search.are_joint_bounds_left_to_newton =
                first && island->search.is_newton_allowed_in_search && island->blocks.count > 0 &&
                tact_island_can_accelerate(world, island);
            tact_sweep_island(world, island);
            island->search.are_joint_bounds_left_to_newton = 0;
            any = 1;
        } else {
            island->change = 0.0;
        }
    }
    return any;
}

void tact_islands_solve_by_sweeps(struct tact_world *world, struct tact_solve_stats *stats)
{
    for (int i = 0; i < world->islands.count; i++) {
        begin_island_search(world, &world->islands.list[i]);
    }
    while (sweep_unsolved_islands(world, stats->iterations == 0)) {
        sum_island_statistics(world, stats);
        stats->iterations++;
        int last = tact_world_notify_observer(world, TACT_SOLVE_SWEPT, stats) ||
                   stats->iterations >= world->options.iterations;
        for (int i = 0; i < world->islands.count; i++) {
            if (world->islands.list[i].is_island_unsolved) {
                advance_island_search(world, &world->islands.list[i], last, stats);
            }
        }
    }
    sum_island_statistics(world, stats);
}

void tact_islands_solve_again_by_sweeps(struct tact_world *world, struct tact_solve_stats *stats)
{
    int sweeps_of_earlier_solve = stats->iterations;
    stats->iterations = 0;
    tact_islands_solve_by_sweeps(world, stats);
    stats->iterations += sweeps_of_earlier_solve;
}
