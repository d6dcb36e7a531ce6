#include "contact/world/newton_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/linear.h"
#include "contact/local/local_active_internal.h"
#include "contact/world/locked_joints_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/six_internal.h"
#include "contact/world/sweeps_internal.h"

#define VELOCITY_STEP_OF_FINITE_DIFFERENCES                                                        \
    1e-7 /* step of numerical derivatives of a contact's impulse by its b, relative to the         \
          * velocity                                                                               \
          */
#define NORMAL_FORCE_STEP_OF_FINITE_DIFFERENCES                                                    \
    1e-6 /* step of the derivative of a contact's impulse by the normal force on which its torsion \
            arm depends, relative to it */
#define MAX_DIFFERENTIATED_SEARCH_PASSES                                                           \
    12 /* most passes of the local search whose results are used for numerical derivatives         \
        */
/* Compliance of the rows of a contact in a step, relative to S: the residual, between these bounds.
 * It makes the step one of the proximal point method (Rockafellar 1976), so that of the impulses by
 * which redundant contacts can bear a load the nearest are found; as the residual decreases the
 * step becomes Newton's. Three points of a box that is pushed take 20 sweeps without it, 8 with it;
 * with an upper bound of 1e-2, walls of boxes are not solved. The lower bound makes rigid rows
 * eliminable. Where contacts are anchored near their loads, the start is near as well, and a larger
 * compliance, this share of the residual, only damps the step: with it, steps of 100 balls that
 * roll into a heap are undone in 1 of 100 ticks, without it in 24. */
#define MAX_NEWTON_STEP_COMPLIANCE 1e-3
#define DAMPED_COMPLIANCE_PER_RESIDUAL 0.3
#define MIN_NEWTON_STEP_COMPLIANCE 1e-9
/* Upper bound in an island with hands where all contacts stuck in the sweep: a step then solves the
 * island but for what the compliance takes. Three fingertips that carry a mug at a residual of 1e-4
 * take one step with it, two with 1e-5 and with the bound above; with 0 the rounding of the
 * elimination grows. Of free bodies an aligned stack of ten would creep by 1e-13 m in 5 s with it,
 * by 3e-16 without. */
#define MAX_LINEAR_STEP_COMPLIANCE 1e-6
int tact_newton_create(struct newton *newton, int blocks)
{
    size_t n = 6 * (size_t)blocks;
    newton->numbers = calloc(14 * n + 1, sizeof *newton->numbers);
    if (!newton->numbers) {
        return -ENOMEM;
    }
    newton->impulse_derivative_by_free_velocity = newton->numbers;
    newton->impulse_derivative_by_normal_force =
        newton->impulse_derivative_by_free_velocity + 6 * n;
    newton->impulse_derivative_by_velocity = newton->impulse_derivative_by_normal_force + n;
    newton->impulse_offset = newton->impulse_derivative_by_velocity + 6 * n;
    return 0;
}

void tact_newton_destroy(struct newton *newton)
{
    free(newton->numbers);
    newton->numbers = NULL;
}

/* 1 where a contact sticks and so cancels every change of its velocity. One without friction never
 * does. */
static int did_contact_stick_in_sweep(const struct tact_world *world, const struct block *block)
{
    return world->contacts[block->contact].limits == 0 && block->local.mu > 0.0;
}

/* 1 where a contact that bears its load without motion is often at a limit to rounding, as the
 * edges and corners of patches with gaps are. Whether it slips or sticks is then without meaning,
 * and slip is assumed: with the state of the sweep, three heaps of 20 boxes by features are not
 * solved in 28 % of their ticks instead of 16 %. Of other contacts the state is that of the sweep:
 * Newton's method takes 10 % fewer steps for a heap of 100 balls. */
static int is_slip_assumed_at_limits(const struct tact_world *world, const struct block *block)
{
    return world->contacts[block->contact].patch.law == TACT_LAW_GAPS;
}

/* Derivative of a block's impulse by its b; by finite differences where it is not available
 * otherwise. limits: as in tact_local_impulse_derivative(). */
static void differentiate_contact_impulse(const struct block *block, int limits, const double *r,
                                          const double *scale, double *slope)
{
    struct tact_local_problem local = block->local;
    double size = 0.0, base[6];
    if (tact_local_impulse_derivative(&local, limits, r, slope)) {
        return;
    }
    local.passes = MAX_DIFFERENTIATED_SEARCH_PASSES;
    const int rows = tact_local_impulse_row_count(&local);
    for (int k = 0; k < rows; k++) {
        size = scale[k] > 0.0 ? tact_max(size, fabs(local.b[k]) / scale[k]) : size;
    }
    memcpy(base, r, sizeof base);
    tact_local_cone(&local, base);
    memset(slope, 0, 36 * sizeof *slope);
    for (int k = 0; k < rows; k++) {
        double step = VELOCITY_STEP_OF_FINITE_DIFFERENCES * size * scale[k], b = local.b[k],
               moved[6];
        memcpy(moved, base, sizeof moved);
        local.b[k] = b + step;
        tact_local_cone(&local, moved);
        for (int i = 0; i < 6 && step > 0.0; i++) {
            slope[6 * i + k] = (moved[i] - base[i]) / step;
        }
        local.b[k] = b;
    }
}

/* Derivative of a block's impulse by the normal force before the sweep, x, on which the spin arm of
 * a soft patch depends. */
static void differentiate_impulse_by_normal_force(const struct tact_world *world,
                                                  const struct block *block, double x,
                                                  const double *r, double *impulse_per_normal_force)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    struct tact_local_problem local = block->local;
    double base[6], moved[6];
    memset(impulse_per_normal_force, 0, 6 * sizeof *impulse_per_normal_force);
    if (c->patch.kind != TACT_PATCH_ELASTIC || !(x > 0.0)) {
        return;
    }
    local.passes = MAX_DIFFERENTIATED_SEARCH_PASSES;
    memcpy(base, r, sizeof base);
    tact_local_cone(&local, base);
    memcpy(moved, base, sizeof moved);
    double force = (1.0 + NORMAL_FORCE_STEP_OF_FINITE_DIFFERENCES) * x / world->options.period;
    local.spin_arm = tact_patch_spin_arm(&c->patch, force);
    tact_patch_rolling_arms(&c->patch, force, local.rolling_arm);
    tact_local_cone(&local, moved);
    for (int i = 0; i < 6; i++) {
        impulse_per_normal_force[i] =
            (moved[i] - base[i]) / (NORMAL_FORCE_STEP_OF_FINITE_DIFFERENCES * x);
    }
}

/* Compliance of a row of a contact in the step, in the units of S. */
static double newton_row_compliance(const struct tact_world *world, const struct block *block,
                                    int row)
{
    double own = block->row_cfm[row] + (row ? 0.0 : block->normal_cfm);
    return tact_max(own, world->newton.compliance * block->local.s[7 * row]);
}

/* Solves left x = right for the response: the six columns of C, and a as the seventh. Returns 0
 * where there is none. */
static int solve_contact_response_system(double *contact_response_matrix, double *right_side,
                                         double *c, double *a)
{
    if (!tact_6x6_solve_in_place(contact_response_matrix, right_side, 7)) {
        return 0;
    }
    for (int k = 0; k < 6; k++) {
        memcpy(c + 6 * k, right_side + 7 * k, 6 * sizeof *c);
        a[k] = right_side[7 * k + 6];
    }
    return 1;
}

/* Response of a contact that sticks: S d + e + J dv = 0, where the rigid part of S is in J dv. */
static int sticking_contact_response(const struct block *block, const double *compliance,
                                     const double *e, double *c, double *a)
{
    int rows = tact_local_impulse_row_count(&block->local);
    for (int k = 0; k < rows && !block->has_cross_compliance; k++) {
        if (compliance[k] > 0.0) {
            c[7 * k] = -1.0 / compliance[k];
            a[k] = -e[k] / compliance[k];
        }
    }
    if (!block->has_cross_compliance) {
        return 1;
    }
    double contact_response_matrix[36], right_side[42] = {0.0};
    for (int k = 0; k < 36; k++) {
        int are_rows_transmitted = k / 6 < rows && k % 6 < rows;
        contact_response_matrix[k] = are_rows_transmitted ? block->cross_compliance[k] : 0.0;
    }
    for (int k = 0; k < 6; k++) {
        contact_response_matrix[7 * k] += k < rows && compliance[k] > 0.0 ? compliance[k] : 1.0;
        right_side[8 * k] = k < rows ? -1.0 : 0.0;
        right_side[7 * k + 6] = k < rows ? -e[k] : 0.0;
    }
    return solve_contact_response_system(contact_response_matrix, right_side, c, a);
}

/* Change of a contact's b, its velocity without its own impulse, since the sweep that gave r, and
 * with the changes of the rates of locked joints. */
static void free_velocity_change_since_sweep(const struct block *block, const double *r, double *e)
{
    double u[6] = {0.0};
    tact_impact_subtract_all_targets(block, u);
    tact_block_add_velocity(block, u);
    tact_block_add_compliance(block, r, u);
    tact_block_subtract_rest_velocity(block, u);
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        if (node->rows) {
            tact_rows_add_velocity(u, node->rows->j, node->rows->rate_changes_of_locked_coordinates,
                                   node->dof);
        }
    }
    tact_rows_subtract_impulse_velocity(e, u, block->local.s, r);
    for (int i = 0; i < 6; i++) {
        e[i] -= block->local.b[i];
    }
}

/* Response of a contact to velocities: d = a + C J dv. was: change of its normal force in the
 * sweep, by which its spin arm lags. Returns 0 where it has none. */
static int find_contact_response(const struct tact_world *world, const struct block *block, int i,
                                 const double *r, double was, double *c, double *a)
{
    const struct tact_local_problem *local = &block->local;
    int limits = world->contacts[block->contact].limits;
    const double *slope =
        world->newton.impulse_derivative_by_free_velocity + (size_t)36 * (size_t)i;
    const double *impulse_per_normal_force =
        world->newton.impulse_derivative_by_normal_force + (size_t)6 * (size_t)i;
    double e[6], contact_response_matrix[36], right_side[42], soft[6];
    memset(c, 0, 36 * sizeof *c);
    memset(a, 0, 6 * sizeof *a);
    if (limits & TACT_LIMIT_OPEN) {
        return 1;
    }
    free_velocity_change_since_sweep(block, r, e);
    for (int k = 0; k < 6; k++) {
        soft[k] = newton_row_compliance(world, block, k);
    }
    if (did_contact_stick_in_sweep(world, block)) {
        return sticking_contact_response(block, soft, e, c, a);
    }
    memset(contact_response_matrix, 0, sizeof contact_response_matrix);
    tact_6x6_add_product(contact_response_matrix, 1.0, slope, local->s);
    for (int k = 0; k < 6;
         k++) { /* contact_response_matrix: 1 + G (S - E) - p; right_side: G, and G e + p was */
        const double *row = slope + 6 * k;
        contact_response_matrix[7 * k] += 1.0;
        for (int j = 0; j < 6; j++) {
            contact_response_matrix[6 * k + j] -= row[j] * soft[j];
            contact_response_matrix[6 * k + j] -=
                block->has_cross_compliance ? tact_dot(row, block->cross_compliance + 6 * j, 6)
                                            : 0.0;
        }
        contact_response_matrix[6 * k] -= impulse_per_normal_force[k];
        memcpy(right_side + 7 * k, row, 6 * sizeof *right_side);
        right_side[7 * k + 6] = tact_dot(row, e, 6) + impulse_per_normal_force[k] * was;
    }
    return solve_contact_response_system(contact_response_matrix, right_side, c, a);
}

/* Change of a contact's impulse in Newton's step: impulse_offset + impulse_derivative_by_velocity *
 * u, where u is the change of the contact's velocity due to the changes v of all velocities. */
static void compute_contact_impulse_step(const struct tact_world *world, const struct block *block,
                                         int i, const double *v, double *step)
{
    const struct newton *newton = &world->newton;
    double u[6] = {0.0};
    tact_sparse_contact_velocity(&world->direct, block, v, u);
    memcpy(step, newton->impulse_offset + (size_t)6 * (size_t)i, 6 * sizeof *step);
    tact_6x6_add_matrix_vector(step, 1.0,
                               newton->impulse_derivative_by_velocity + (size_t)36 * (size_t)i, u);
}

/* 1 where no contact of an island with hands slipped or was at its edge in the sweep, so that the
 * impulses are linear in the velocities until one is. */
static int are_all_contacts_sticking_or_open(const struct tact_world *world,
                                             const struct island *island)
{
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        if (!did_contact_stick_in_sweep(world, block) &&
            !(world->contacts[block->contact].limits & TACT_LIMIT_OPEN)) {
            return 0;
        }
    }
    return tact_island_has_hands(world, island);
}

static int find_newton_step_of_island(struct tact_world *world, const struct island *island,
                                      const double *x, const double *g, double *next)
{
    struct direct *d = &world->direct;
    struct newton *newton = &world->newton;
    int n = island->blocks.count;
    const double most =
        island->search.are_island_newton_steps_damped
            ? DAMPED_COMPLIANCE_PER_RESIDUAL * island->residual
            : tact_min(island->residual, are_all_contacts_sticking_or_open(world, island)
                                             ? MAX_LINEAR_STEP_COMPLIANCE
                                             : MAX_NEWTON_STEP_COMPLIANCE);
    newton->compliance = tact_max(MIN_NEWTON_STEP_COMPLIANCE, most);
    if (!tact_locked_joints_set_unknowns(world, island) ||
        !tact_sparse_order_nodes(world, island)) {
        return 0;
    }
    tact_sparse_set_mass_matrices(d);
    memset(d->rhs, 0, 6 * (size_t)d->rows * sizeof *d->rhs);
    tact_locked_joints_add_to_step_rhs(world, island);
    for (int i = 0; i < n; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        double *c = newton->impulse_derivative_by_velocity + (size_t)36 * (size_t)i,
               *a = newton->impulse_offset + 6 * i;
        if (!find_contact_response(world, block, i, g + 6 * i, g[6 * i] - x[6 * i], c, a)) {
            return 0;
        }
        if (world->contacts[block->contact].limits & TACT_LIMIT_OPEN) {
            continue;
        }
        tact_sparse_add_contact(
            d, block, c, did_contact_stick_in_sweep(world, block) && !block->has_cross_compliance);
        tact_sparse_add_contact_impulse(d, block, a);
    }
    if (!tact_sparse_factor(d)) {
        return 0;
    }
    tact_sparse_back_substitute(d);
    for (int i = 0; i < n; i++) {
        double *r = next + 6 * i;
        compute_contact_impulse_step(world, &world->blocks[island->blocks.at[i]], i, d->rhs, r);
        tact_axpy(r, 1.0, g + 6 * i, 6);
    }
    tact_locked_joints_step_impulses(world, island, g, next);
    return 1;
}

/* Computes the coupling of two contacts, the velocity of one by the impulse of the other: W = J_a
 * M^-1 J_b^T. */
static void compute_contact_coupling(const struct block *a, const struct block *b, double *w)
{
    memset(w, 0, 36 * sizeof *w);
    for (int k = 0; k < a->node_count; k++) {
        for (int i = 0; i < b->node_count; i++) {
            if (a->nodes[k].node == b->nodes[i].node) {
                double transposed_contact_jacobian[36];
                tact_6x6_transpose(transposed_contact_jacobian, a->nodes[k].j);
                tact_6x6_add_product(w, 1.0, transposed_contact_jacobian, b->nodes[i].y);
            }
        }
    }
}

/* Equation of a contact that sticks, S d + e + W d_other = 0: left d = right (d_other, 1). */
static void set_pair_stick_equations(const struct tact_local_problem *local, const double *e,
                                     const double *w, double *contact_response_matrix,
                                     double *right_side)
{
    const int rows = tact_local_impulse_row_count(local);
    for (int i = 0; i < rows; i++) {
        memcpy(contact_response_matrix + 6 * i, local->s + 6 * i,
               (size_t)rows * sizeof *contact_response_matrix);
        right_side[7 * i + 6] = -e[i];
        for (int k = 0; k < 6; k++) {
            right_side[7 * i + k] = -w[6 * i + k];
        }
    }
}

/* Equation of the impulse change d of a contact at a limit: (1 - p) d = G (e + W d_other) + p was.
 */
static void set_pair_limit_equations(const double *slope, const double *impulse_per_normal_force,
                                     double was, const double *e, const double *w,
                                     double *contact_response_matrix, double *right_side)
{
    double product[36] = {0.0};
    tact_6x6_add_product(product, 1.0, slope, w);
    for (int i = 0; i < 6; i++) {
        contact_response_matrix[6 * i] -= impulse_per_normal_force[i];
        right_side[7 * i + 6] = tact_dot(slope + 6 * i, e, 6) + impulse_per_normal_force[i] * was;
        memcpy(right_side + 7 * i, product + 6 * i, 6 * sizeof *right_side);
    }
}

/* Change of a contact's impulse by that of the other contact of its island: d = a + C d_other. w:
 * its velocity by the other's impulse; was: as for find_contact_response(). Returns 0 where it has
 * none. */
static int find_response_in_contact_pair(const struct tact_world *world, const struct block *block,
                                         int i, const double *r, double was, const double *w,
                                         double *c, double *a)
{
    double e[6], contact_response_matrix[36] = {0.0}, right_side[42] = {0.0};
    memset(c, 0, 36 * sizeof *c);
    memset(a, 0, 6 * sizeof *a);
    if (world->contacts[block->contact].limits & TACT_LIMIT_OPEN) {
        return 1;
    }
    free_velocity_change_since_sweep(block, r, e);
    for (int k = 0; k < 6; k++) {
        contact_response_matrix[7 * k] = 1.0;
    }
    if (did_contact_stick_in_sweep(world, block)) {
        set_pair_stick_equations(&block->local, e, w, contact_response_matrix, right_side);
    } else {
        set_pair_limit_equations(world->newton.impulse_derivative_by_free_velocity + 36 * i,
                                 world->newton.impulse_derivative_by_normal_force + 6 * i, was, e,
                                 w, contact_response_matrix, right_side);
    }
    return solve_contact_response_system(contact_response_matrix, right_side, c, a);
}

/* Newton's step of an island of two contacts, with their impulses as the unknowns. It has no
 * compliance but that of the springs, so that one step is enough where both contacts stick. */
static int find_newton_step_of_contact_pair(struct tact_world *world, const struct island *island,
                                            const double *x, const double *g, double *next)
{
    double w[36], c[2][36], a[2][6], contact_response_matrix[36] = {0.0};
    for (int i = 0; i < 2; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]],
                           *other = &world->blocks[island->blocks.at[!i]];
        compute_contact_coupling(block, other, w);
        if (!find_response_in_contact_pair(world, block, i, g + 6 * i, g[6 * i] - x[6 * i], w, c[i],
                                           a[i])) {
            return 0;
        }
        contact_response_matrix[7 * i] = contact_response_matrix[7 * (2 + i)] =
            contact_response_matrix[7 * (4 + i)] = 1.0;
    }
    tact_6x6_add_product(contact_response_matrix, -1.0, c[0], c[1]);
    tact_6x6_add_matrix_vector(a[0], 1.0, c[0], a[1]);
    if (!tact_6x6_solve_in_place(contact_response_matrix, a[0], 1)) {
        return 0;
    }
    tact_6x6_add_matrix_vector(a[1], 1.0, c[1], a[0]);
    for (int k = 0; k < 12; k++) {
        next[k] = g[k] + a[k / 6][k % 6];
    }
    return 1;
}

int tact_newton_step(struct tact_world *world, const struct island *island, const double *x,
                     const double *g, const double *scale, double *next)
{
    struct newton *newton = &world->newton;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        int limits = world->contacts[block->contact].limits;
        if (!did_contact_stick_in_sweep(world, block) && !(limits & TACT_LIMIT_OPEN) &&
            !block->is_only_contact_of_bodies) {
            differentiate_contact_impulse(
                block, is_slip_assumed_at_limits(world, block) ? -1 : limits, g + 6 * i,
                scale + 6 * i, newton->impulse_derivative_by_free_velocity + 36 * i);
            differentiate_impulse_by_normal_force(world, block, x[6 * i], g + 6 * i,
                                                  newton->impulse_derivative_by_normal_force +
                                                      6 * i);
        }
    }
    return island->blocks.count == 2 && !island->bounds.count
               ? find_newton_step_of_contact_pair(world, island, x, g, next)
               : find_newton_step_of_island(world, island, x, g, next);
}
