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

#define JOINT_VALUE_ROUNDING 1e-15 /* rounding error of a joint value, relative to its size */

static int has_stops_or_friction(const struct tact_link_def *def)
{
    return def->lower < def->upper || def->friction > 0.0;
}

/* Lists the chains that contain a coordinate and the coordinates above it in the tree; returns
 * their number. */
static int list_chains_to_base(const struct world_hand *hand, int joint, struct bound_chain *nodes)
{
    int count = 0;
    for (int i = joint; i >= 0; i = hand->hand->up[i]) {
        int slot = hand->hand->links[i].slot, node = hand->node + slot / TACT_UNKNOWNS_PER_NODE;
        if (count == 0 || nodes[count - 1].node != node) {
            nodes[count++] = (struct bound_chain){
                .node = node,
                .dof = slot % TACT_UNKNOWNS_PER_NODE + 1,
                .w = hand->hand->w + slot / TACT_UNKNOWNS_PER_NODE * TACT_UNKNOWNS_PER_NODE};
        }
    }
    return count;
}

static void add_hand_bounds(struct tact_world *world, int hand, struct bound_chain **next)
{
    struct joint_bounds *bounds = &world->bounds;
    const struct world_hand *of = &world->hands[hand];
    for (int i = 0; i < of->hand->count; i++) {
        if (has_stops_or_friction(&of->hand->links[i].def)) {
            struct joint_bound *b = &bounds->list[bounds->count++];
            *b = (struct joint_bound){.hand = hand, .joint = i, .nodes = *next};
            b->node_count = list_chains_to_base(of, i, *next);
            *next += b->node_count;
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
        bounds->hands[i].mobility_matrix = next;
        next += (size_t)bounds->hands[i].count * (size_t)bounds->hands[i].count;
    }
    bounds->factor = next;
    bounds->rate = bounds->factor + most * most;
    bounds->step = bounds->rate + most;
    bounds->last_impulse = bounds->step + most;
    bounds->sum = bounds->last_impulse + most;
    bounds->four = bounds->sum + most;
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
    bounds->nodes = calloc(count * (size_t)world->max_nodes + 1, sizeof *bounds->nodes);
    bounds->numbers = calloc(mobility_entry_count + most * (most + 4) + 4 * most_joints + 1,
                             sizeof *bounds->numbers);
    bounds->free = calloc(most + 1, sizeof *bounds->free);
    bounds->factored_free_bounds = calloc(most + 1, sizeof *bounds->factored_free_bounds);
    if (!bounds->hands || !bounds->list || !bounds->nodes || !bounds->numbers || !bounds->free ||
        !bounds->factored_free_bounds) {
        return -ENOMEM;
    }
    assign_joint_bound_arrays(world, most);
    struct bound_chain *next = bounds->nodes;
    for (int i = 0; i < world->hand_count; i++) {
        add_hand_bounds(world, i, &next);
    }
    return 0;
}

void tact_joint_bounds_destroy(struct joint_bounds *bounds)
{
    free(bounds->list);
    free(bounds->nodes);
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

/* Computes for a joint bound its vector y, and writes it to one of four columns side by side. */
static void assemble_joint_bound_chains(struct tact_world *world, struct joint_bound *b,
                                        double *column)
{
    struct tact_hand *hand = hand_of_joint_bound(world, b);
    const struct link *link = &hand->links[b->joint];
    double *x = hand->scratch;
    tact_hand_inverse_transpose_of_unit(hand, b->joint, x);
    int k = 0;
    for (int i = b->joint; i >= 0; i = hand->up[i]) {
        int slot = hand->links[i].slot;
        k += world->hands[b->hand].node + slot / TACT_UNKNOWNS_PER_NODE != b->nodes[k].node;
        b->nodes[k].y[slot % TACT_UNKNOWNS_PER_NODE] = x[i];
        column[4 * i] = x[i];
    }
    double mass = hand->coordinate_mass[b->joint * hand->count + b->joint];
    b->torque_scale = link->is_rotational ? sqrt(link->subtree_inertia[0] / mass) : 1.0;
}

/* Computes for up to four joint bounds of a hand, from the first on, their vectors y and rows of A:
 * together, as each walks the whole tree of the hand's coordinates. */
static void assemble_four_joint_bounds(struct tact_world *world, const struct hand_joint_bounds *of,
                                       int first)
{
    struct joint_bound *list = world->bounds.list + of->first;
    const struct tact_hand *hand = hand_of_joint_bound(world, list);
    double *x = world->bounds.four;
    const int count = of->count - first < 4 ? of->count - first : 4;
    memset(x, 0, 4 * (size_t)hand->count * sizeof *x);
    for (int k = 0; k < count; k++) {
        assemble_joint_bound_chains(world, &list[first + k], x + k);
    }
    tact_hand_apply_inverse_factor_to_four(hand, x);
    for (int k = 0; k < count; k++) {
        double *row = of->mobility_matrix + (first + k) * of->count;
        for (int i = 0; i < of->count; i++) {
            row[i] = x[4 * list[i].joint + k];
        }
    }
}

/* Sets the rates that a joint's stops allow and the impulses of its law's kinks. */
static void set_joint_bound_law(const struct tact_world *world, struct joint_bound *b)
{
    const struct tact_hand *hand = hand_of_joint_bound(world, b);
    const struct tact_link_def *def = &hand->links[b->joint].def;
    double q = hand->state.q[b->joint], h = world->options.period;
    double max_return_speed =
        hand->links[b->joint].is_rotational ? MAX_HINGE_RETURN_RATE : world->options.push_limit;
    int has_stops = def->lower < def->upper;
    b->lowest_rate_at_stops =
        has_stops ? tact_min((def->lower - q) / h, max_return_speed) : -INFINITY;
    b->highest_rate_at_stops =
        has_stops ? tact_max((def->upper - q) / h, -max_return_speed) : INFINITY;
    b->joint_error_rounding_rate =
        JOINT_VALUE_ROUNDING * (fabs(q) + fabs(def->lower) + fabs(def->upper)) / h;
    b->law_kink_impulse[0] =
        b->highest_rate_at_stops < 0.0 ? h * def->friction : -h * def->friction;
    b->law_kink_impulse[1] = b->lowest_rate_at_stops > 0.0 ? -h * def->friction : h * def->friction;
}

void tact_joint_bounds_assemble(struct tact_world *world)
{
    world->bounds.factored_hand = NULL;
    for (int i = 0; i < world->hand_count; i++) {
        const struct hand_joint_bounds *of = &world->bounds.hands[i];
        for (int k = 0; k < of->count; k++) {
            set_joint_bound_law(world, &world->bounds.list[of->first + k]);
        }
        for (int k = 0; k < of->count; k += 4) {
            assemble_four_joint_bounds(world, of, k);
        }
    }
}

static void apply_bound_impulse(const struct joint_bound *b, double impulse)
{
    for (int k = 0; k < b->node_count; k++) {
        tact_axpy(b->nodes[k].w, impulse, b->nodes[k].y, b->nodes[k].dof);
    }
}

/* Rate of the joint of a bound at the present velocities. */
static double rate_of_joint_bound(const struct joint_bound *b)
{
    double sum = 0.0;
    for (int k = 0; k < b->node_count; k++) {
        sum += tact_dot(b->nodes[k].y, b->nodes[k].w, b->nodes[k].dof);
    }
    return sum;
}

void tact_joint_bounds_apply_impulses(struct tact_world *world, const struct island *island)
{
    for (int i = 0; i < island->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[island->bounds.at[i]];
        apply_bound_impulse(b, b->impulse);
    }
}

/* Solves the joint bounds of one hand; returns the residual. */
static double solve_hand_bounds(struct tact_world *world, const struct hand_joint_bounds *of,
                                struct island *island)
{
    struct joint_bounds *bounds = &world->bounds;
    double *last = bounds->last_impulse, change = 0.0, before = 0.0, after = 0.0;
    for (int k = 0; k < of->count; k++) {
        bounds->rate[k] = rate_of_joint_bound(&bounds->list[of->first + k]);
        last[k] = bounds->list[of->first + k].impulse;
    }
    int has_solution = tact_joint_bounds_solve_hand(bounds, of), does_change_exceed_rounding = 0;
    for (int k = 0; k < of->count; k++) {
        const struct joint_bound *b = &bounds->list[of->first + k];
        double unit = b->torque_scale * b->torque_scale, delta = b->impulse - last[k];
        double rate = delta * of->mobility_matrix[(of->count + 1) * k];
        does_change_exceed_rounding |= fabs(rate) > b->joint_error_rounding_rate;
        apply_bound_impulse(b, delta);
        change += unit * delta * delta;
        before += unit * last[k] * last[k];
        after += unit * b->impulse * b->impulse;
    }
    island->change += change;
    island->size += after;
    double most = tact_max(before, after);
    return !has_solution ? 1.0 : does_change_exceed_rounding ? sqrt(change / most) : 0.0;
}

double tact_joint_bounds_solve_once(struct tact_world *world, struct island *island)
{
    double worst = 0.0;
    for (int i = 0; i < island->bounds.count;) {
        const struct joint_bound *b = &world->bounds.list[island->bounds.at[i]];
        const struct hand_joint_bounds *of = &world->bounds.hands[b->hand];
        worst = tact_max(worst, solve_hand_bounds(world, of, island));
        i += of->count; /* the island's list has the bounds of one hand in succession */
    }
    return worst;
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
        scale[i] = world->bounds.list[island->bounds.at[i]].torque_scale;
    }
}

double tact_joint_bounds_impulse_work(const struct tact_world *world, const struct island *island)
{
    double work = 0.0;
    for (int i = 0; i < island->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[island->bounds.at[i]];
        work += b->impulse * rate_of_joint_bound(b);
    }
    return work;
}

static double mobility_of_joint_bound(const struct tact_world *world, int bound)
{
    const struct hand_joint_bounds *of = &world->bounds.hands[world->bounds.list[bound].hand];
    return of->mobility_matrix[(of->count + 1) * (bound - of->first)];
}

void tact_joint_bounds_add_newton_response(const struct tact_world *world,
                                           const struct island *island, double compliance,
                                           struct direct *direct)
{
    for (int i = 0; i < island->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[island->bounds.at[i]];
        if (b->free) {
            double stiffness =
                1.0 / (compliance * mobility_of_joint_bound(world, island->bounds.at[i]));
            tact_direct_add_joint_bound_stiffness(direct, b, stiffness,
                                                  stiffness * (b->target - rate_of_joint_bound(b)));
        }
    }
}

void tact_joint_bounds_newton_step(const struct tact_world *world, const struct island *island,
                                   double compliance, const struct direct *direct, double *next)
{
    for (int i = 0; i < island->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[island->bounds.at[i]];
        next[i] = b->impulse;
        if (b->free) {
            double error = rate_of_joint_bound(b) - b->target + tact_direct_bound_rate(direct, b);
            next[i] -= error / (compliance * mobility_of_joint_bound(world, island->bounds.at[i]));
        }
    }
}

void tact_joint_bounds_store_torques(struct tact_world *world)
{
    for (int i = 0; i < world->bounds.count; i++) {
        const struct joint_bound *b = &world->bounds.list[i];
        struct tact_hand_state *state = &hand_of_joint_bound(world, b)->state;
        state->reaction[b->joint] = b->impulse / world->options.period;
        state->stop[b->joint] = b->impulse < b->law_kink_impulse[0]   ? 1.0
                                : b->impulse > b->law_kink_impulse[1] ? -1.0
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
