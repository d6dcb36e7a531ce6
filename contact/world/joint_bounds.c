#include "contact/world/joint_bounds_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/world_internal.h"

#define MAX_HINGE_RETURN_RATE                                                                      \
    5.0 /* largest speed at which a hinge returns from beyond a stop [rad/s]; for a slide it is    \
           push_limit */

#define JOINT_VALUE_ROUNDING_RATIO                                                                 \
    1e-15 /* rounding error of a joint value, relative to its size                                 \
           */

/* Sum of squares of the changes of a hand's impulses, over that of the impulses, up to which the
 * first sweep solves them: a grip comes to rest. */
#define MAX_SOLVED_BOUND_ERROR 1e-12

static int has_stops_or_friction(const struct tact_link_def *def)
{
    return def->lower < def->upper || def->friction > 0.0;
}

static void add_joint_bounds_of_hand(struct tact_world *world, int hand)
{
    struct joint_bounds *bounds = &world->bounds;
    const struct world_hand *of = &world->hands[hand];
    for (int i = 0; i < of->hand->count; i++) {
        if (has_stops_or_friction(&of->hand->links[i].def)) {
            bounds->list[bounds->count++] = (struct joint_bound){.hand = hand, .joint = i};
        }
    }
}

static int count_joint_bounds(const struct tact_hand *hand)
{
    int count = 0;
    for (int i = 0; i < hand->count; i++) {
        count += has_stops_or_friction(&hand->links[i].def);
    }
    return count;
}

/* Partitions the storage into the matrix of each hand's joint bounds and the work arrays of their
 * solution. */
static void assign_joint_bound_arrays(struct tact_world *world, size_t most)
{
    struct joint_bounds *bounds = &world->bounds;
    double *next = bounds->numbers;
    for (int i = 0; i < world->hand_count; i++) {
        bounds->hands[i].joint_bound_mobility_matrix = next;
        next += (size_t)bounds->hands[i].count * (size_t)bounds->hands[i].count;
    }
    bounds->factor = next;
    bounds->rate = bounds->factor + most * most;
    bounds->step = bounds->rate + most;
    bounds->last_impulse = bounds->step + most;
    bounds->sum = bounds->last_impulse + most;
    bounds->four_interleaved_joint_vectors = bounds->sum + most;
}

int tact_joint_bounds_create(struct tact_world *world)
{
    struct joint_bounds *bounds = &world->bounds;
    size_t count = 0, mobility_entry_count = 0, most = 0, most_joints = 0;
    bounds->hands = calloc((size_t)world->hand_count + 1, sizeof *bounds->hands);
    for (int i = 0; bounds->hands && i < world->hand_count; i++) {
        size_t own = (size_t)count_joint_bounds(world->hands[i].hand);
        bounds->hands[i] = (struct hand_joint_bounds){.first = (int)count, .count = (int)own};
        count += own;
        mobility_entry_count += own * own;
        most = own > most ? own : most;
        const size_t joints = (size_t)world->hands[i].hand->count;
        most_joints = joints > most_joints ? joints : most_joints;
    }
    bounds->list = calloc(count + 1, sizeof *bounds->list);
    bounds->numbers = calloc(mobility_entry_count + most * (most + 4) + 4 * most_joints + 1,
                             sizeof *bounds->numbers);
    bounds->free = calloc(most + 1, sizeof *bounds->free);
    bounds->factored_free_bounds = calloc(most + 1, sizeof *bounds->factored_free_bounds);
    if (!bounds->hands || !bounds->list || !bounds->numbers || !bounds->free ||
        !bounds->factored_free_bounds) {
        return -ENOMEM;
    }
    assign_joint_bound_arrays(world, most);
    for (int i = 0; i < world->hand_count; i++) {
        add_joint_bounds_of_hand(world, i);
    }
    return 0;
}

void tact_joint_bounds_destroy(struct joint_bounds *bounds)
{
    free(bounds->list);
    free(bounds->hands);
    free(bounds->numbers);
    free(bounds->free);
    free(bounds->factored_free_bounds);
}

static struct tact_hand *hand_of_joint_bound(const struct tact_world *world,
                                             const struct joint_bound *b)
{
    return world->hands[b->hand].hand;
}

void tact_joint_bounds_warm_start(struct tact_world *world)
{
    for (int i = 0; i < world->bounds.count; i++) {
        struct joint_bound *b = &world->bounds.list[i];
        b->impulse =
            world->options.period * hand_of_joint_bound(world, b)->state.reaction[b->joint];
        world->hands[b->hand].impulse[b->joint] += b->impulse;
    }
}

/* Computes for up to four joint bounds of a hand, from the first on, their rows of A: together, as
 * each walks the whole tree of the hand's coordinates. */
static void assemble_mobility_of_four_bounds(struct tact_world *world,
                                             const struct hand_joint_bounds *of, int first)
{
    const struct joint_bound *list = world->bounds.list + of->first;
    const struct tact_hand *hand = hand_of_joint_bound(world, list);
    double *x = world->bounds.four_interleaved_joint_vectors, *unit = hand->scratch;
    const int count = of->count - first < 4 ? of->count - first : 4;
    memset(x, 0, 4 * (size_t)hand->count * sizeof *x);
    for (int k = 0; k < count; k++) {
        const int joint = list[first + k].joint;
        tact_hand_inverse_transpose_column(hand, joint, unit);
        for (int i = joint; i >= 0; i = hand->up[i]) {
            x[4 * i + k] = unit[i];
        }
    }
    tact_hand_apply_inverse_factor_to_four(hand, x);
    for (int k = 0; k < count; k++) {
        double *row = of->joint_bound_mobility_matrix + (first + k) * of->count;
        for (int i = 0; i < of->count; i++) {
            row[i] = x[4 * list[i].joint + k];
        }
    }
}

/* Computes the matrix A of a hand's bounds, unless it is that of this tick. Most ticks of a grip
 * do without, as steps of Newton's method find the impulses of its bounds. */
static void assemble_mobility_matrix(struct tact_world *world, struct hand_joint_bounds *of)
{
    for (int k = 0; k < of->count && !of->is_mobility_of_this_tick; k += 4) {
        assemble_mobility_of_four_bounds(world, of, k);
    }
    of->is_mobility_of_this_tick = 1;
}

/* Sets the rates that a joint's stops allow and the impulses of its law's kinks. */
static void set_joint_bound_law(const struct tact_world *world, struct joint_bound *b)
{
    const struct tact_hand *hand = hand_of_joint_bound(world, b);
    const struct tact_link_def *def = &hand->links[b->joint].def;
    double q = hand->state.q[b->joint], h = world->options.period;
    double return_speed_limit_of_stop =
        hand->links[b->joint].is_rotational ? MAX_HINGE_RETURN_RATE : world->options.push_limit;
    int has_joint_stops = def->lower < def->upper;
    b->lowest_rate_within_stops =
        has_joint_stops ? tact_min((def->lower - q) / h, return_speed_limit_of_stop) : -INFINITY;
    b->highest_rate_within_stops =
        has_joint_stops ? tact_max((def->upper - q) / h, -return_speed_limit_of_stop) : INFINITY;
    b->joint_error_rounding_rate =
        JOINT_VALUE_ROUNDING_RATIO * (fabs(q) + fabs(def->lower) + fabs(def->upper)) / h;
    b->impulses_at_law_kinks[0] =
        b->highest_rate_within_stops < 0.0 ? h * def->friction : -h * def->friction;
    b->impulses_at_law_kinks[1] =
        b->lowest_rate_within_stops > 0.0 ? -h * def->friction : h * def->friction;
    b->inertia = hand->matrix[b->joint * (hand->count + 1)];
    const struct link *link = &hand->links[b->joint];
    const double mass = hand->coordinate_mass_matrix[b->joint * (hand->count + 1)];
    b->joint_torque_to_force_scale =
        link->is_rotational ? sqrt(link->subtree_inertia.moment[TACT_INDEX_OF_SPATIAL_MASS] / mass)
                            : 1.0;
    tact_joint_bound_find_law_piece(b);
}

void tact_joint_bounds_assemble(struct tact_world *world)
{
    world->bounds.hand_of_factored_bounds = NULL;
    for (int i = 0; i < world->hand_count; i++) {
        world->bounds.hands[i].is_mobility_of_this_tick = 0;
    }
    for (int i = 0; i < world->bounds.count; i++) {
        set_joint_bound_law(world, &world->bounds.list[i]);
    }
}

/* Applies to a hand's velocities the changes of the impulses of its bounds from `last`, or from 0
 * where it is NULL. */
static void apply_joint_bound_impulse_changes(struct tact_world *world,
                                              const struct hand_joint_bounds *of,
                                              const double *last)
{
    const struct joint_bound *list = world->bounds.list + of->first;
    struct tact_hand *hand = hand_of_joint_bound(world, list);
    memset(hand->scratch, 0, (size_t)hand->count * sizeof *hand->scratch);
    for (int k = 0; k < of->count; k++) {
        hand->scratch[list[k].joint] = list[k].impulse - (last ? last[k] : 0.0);
    }
    tact_hand_apply_inverse_transpose(hand, hand->scratch);
    for (int i = 0; i < hand->count; i++) {
        if (tact_hand_is_independent_joint(hand, i)) {
            hand->w[hand->links[i].slot] += hand->scratch[i];
        }
    }
}

void tact_joint_bounds_compute_rates(struct tact_world *world, const struct hand_joint_bounds *of)
{
    struct joint_bound *list = world->bounds.list + of->first;
    struct tact_hand *hand = hand_of_joint_bound(world, list);
    for (int i = 0; i < hand->count; i++) {
        hand->scratch[i] =
            tact_hand_is_independent_joint(hand, i) ? hand->w[hand->links[i].slot] : 0.0;
    }
    tact_hand_apply_inverse_factor(hand, hand->scratch);
    for (int k = 0; k < of->count; k++) {
        list[k].rate = hand->scratch[list[k].joint];
    }
}

/* The bounds of the hand that the k-th of an island's bounds belongs to: the island's list has
 * those of one hand in succession. */
static struct hand_joint_bounds *joint_bounds_of_next_hand(const struct tact_world *world,
                                                           const struct island *island, int k)
{
    return &world->bounds.hands[world->bounds.list[island->bounds.at[k]].hand];
}

void tact_joint_bounds_apply_impulses(struct tact_world *world, const struct island *island)
{
    for (int k = 0; k < island->bounds.count;) {
        const struct hand_joint_bounds *of = joint_bounds_of_next_hand(world, island, k);
        apply_joint_bound_impulse_changes(world, of, NULL);
        k += of->count;
    }
}

/* Finds the pieces of the laws that the impulses of a hand's bounds are on, and the rates. Adds the
 * squares of the impulses, and of what their joints alone would change them by, to size and error.
 * Returns 1 where a rate is off what the law allows by more than rounding. */
static int evaluate_joint_bounds_of_hand(struct tact_world *world,
                                         const struct hand_joint_bounds *of, double *size,
                                         double *error)
{
    struct joint_bounds *bounds = &world->bounds;
    struct joint_bound *list = bounds->list + of->first;
    int has_bound_impulse_changed = 0, exceeds_rounding = 0;
    for (int k = 0; k < of->count; k++) {
        bounds->last_impulse[k] = list[k].impulse;
        tact_joint_bound_find_law_piece(&list[k]);
        has_bound_impulse_changed |= list[k].impulse != bounds->last_impulse[k];
    }
    if (has_bound_impulse_changed) {
        apply_joint_bound_impulse_changes(world, of, bounds->last_impulse);
    }
    tact_joint_bounds_compute_rates(world, of);
    for (int k = 0; k < of->count; k++) {
        const struct joint_bound *b = &list[k];
        const double off = tact_joint_bound_rate_error(b),
                     change = b->joint_torque_to_force_scale * b->inertia * off,
                     scaled = b->joint_torque_to_force_scale * b->impulse;
        exceeds_rounding |= fabs(off) > b->joint_error_rounding_rate;
        *error += change * change;
        *size += scaled * scaled;
    }
    return exceeds_rounding;
}

/* Solves the joint bounds of one hand; returns the residual. */
static double solve_joint_bounds_of_hand(struct tact_world *world, struct hand_joint_bounds *of,
                                         struct island *island)
{
    struct joint_bounds *bounds = &world->bounds;
    double *last = bounds->last_impulse, change = 0.0, before = 0.0, after = 0.0, error = 0.0;
    /* with contacts, a step of Newton's method found the impulses; without, they are exact */
    if (!evaluate_joint_bounds_of_hand(world, of, &before, &error) && island->blocks.count > 0) {
        island->size += before;
        return 0.0;
    }
    if (island->search.are_joint_bounds_left_to_newton && error > MAX_SOLVED_BOUND_ERROR * before) {
        island->size += before;
        island->change += error;
        return sqrt(error / tact_max(error, before));
    }
    assemble_mobility_matrix(world, of);
    for (int k = 0; k < of->count; k++) {
        last[k] = bounds->list[of->first + k].impulse;
    }
    int was_hand_bounds_solution_found = tact_joint_bounds_solve_hand(bounds, of),
        does_change_exceed_rounding = 0;
    for (int k = 0; k < of->count; k++) {
        const struct joint_bound *b = &bounds->list[of->first + k];
        double unit = b->joint_torque_to_force_scale * b->joint_torque_to_force_scale,
               delta = b->impulse - last[k];
        double rate = delta * of->joint_bound_mobility_matrix[(of->count + 1) * k];
        does_change_exceed_rounding |= fabs(rate) > b->joint_error_rounding_rate;
        change += unit * delta * delta;
        after += unit * b->impulse * b->impulse;
    }
    apply_joint_bound_impulse_changes(world, of, last);
    island->change += change;
    island->size += after;
    double most = tact_max(before, after);
    return !was_hand_bounds_solution_found ? 1.0
           : does_change_exceed_rounding   ? sqrt(change / most)
                                           : 0.0;
}

double tact_joint_bounds_solve_in_sweep(struct tact_world *world, struct island *island)
{
    double worst = 0.0;
    for (int k = 0; k < island->bounds.count;) {
        struct hand_joint_bounds *of = joint_bounds_of_next_hand(world, island, k);
        worst = tact_max(worst, solve_joint_bounds_of_hand(world, of, island));
        k += of->count;
    }
    return worst;
}

void tact_joint_bounds_solve_after_contacts(struct tact_world *world, struct island *island)
{
    for (int k = 0; k < island->bounds.count && island->blocks.count > 0;) {
        struct hand_joint_bounds *of = joint_bounds_of_next_hand(world, island, k);
        double size = 0.0, error = 0.0;
        (void)evaluate_joint_bounds_of_hand(world, of, &size, &error);
        if (error > world->options.tolerance * world->options.tolerance * tact_max(error, size)) {
            (void)solve_joint_bounds_of_hand(world, of, island);
        }
        k += of->count;
    }
}

void tact_joint_bounds_copy_impulses(struct tact_world *world, const struct island *island,
                                     double *impulses, int back)
{
    for (int i = 0; i < island->bounds.count; i++) {
        double *impulse = &world->bounds.list[island->bounds.at[i]].impulse;
        *(back ? impulse : &impulses[i]) = back ? impulses[i] : *impulse;
    }
}

void tact_joint_bounds_set_unknown_scales(const struct tact_world *world,
                                          const struct island *island, double *scale)
{
    for (int i = 0; i < island->bounds.count; i++) {
        scale[i] = world->bounds.list[island->bounds.at[i]].joint_torque_to_force_scale;
    }
}

double tact_joint_bounds_impulse_work(struct tact_world *world, const struct island *island)
{
    double work = 0.0;
    for (int k = 0; k < island->bounds.count;) {
        const struct hand_joint_bounds *of = joint_bounds_of_next_hand(world, island, k);
        tact_joint_bounds_compute_rates(world, of);
        for (int i = of->first; i < of->first + of->count; i++) {
            work += world->bounds.list[i].impulse * world->bounds.list[i].rate;
        }
        k += of->count;
    }
    return work;
}

void tact_joint_bounds_store_torques(struct tact_world *world)
{
    for (int i = 0; i < world->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[i];
        struct tact_hand_state *state = &hand_of_joint_bound(world, b)->state;
        state->reaction[b->joint] = b->impulse / world->options.period;
        state->stop[b->joint] = b->impulse < b->impulses_at_law_kinks[0]   ? 1.0
                                : b->impulse > b->impulses_at_law_kinks[1] ? -1.0
                                                                           : 0.0;
    }
}

void tact_joint_bounds_zero_impulses(struct tact_world *world)
{
    for (int i = 0; i < world->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[i];
        struct tact_hand_state *state = &hand_of_joint_bound(world, b)->state;
        state->reaction[b->joint] = state->stop[b->joint] = 0.0;
    }
}
