/*
 * Springs of a patch whose law is an elastic wrench W with a stiffness K, for its six rows. After
 * a tick of h, r = h (W - h' K u), with h' = h plus the relaxation time of a damper in parallel,
 * so that u + C r = C h W with C = (h h' K)^-1 on the rows that have a stiffness. As a part of S
 * it is implicit, and the law of the contact limits what is transmitted.
 */
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/sweeps_internal.h"

#define STIFFNESS_REGULARISATION                                                                   \
    1e-9 /* added to the unit diagonal of the scaled stiffness, so that it has an inverse where a  \
            direction is without stiffness */
#define MIN_ELASTIC_ROW_COMPLIANCE_TO_MOBILITY                                                     \
    1e-6 /* smallest compliance of a row with an elastic wrench, over its mobility, as of rigid    \
          * contacts (springs.c)                                                                   \
          */

/* Finds the transmitted rows that have a stiffness; returns their number. */
static int find_rows_with_stiffness(const struct block *block, const struct tact_patch *patch,
                                    int row[6])
{
    int count = 0, rolls = patch->kind == TACT_PATCH_ELLIPSE && patch->semi[0] > 0.0;
    for (int i = 0; i < (rolls ? 6 : 4); i++) {
        if (patch->stiffness[7 * i] > 0.0 && block->local.s[7 * i] > 0.0) {
            row[count++] = i;
        }
    }
    return count;
}

/* Inverts the stiffness matrix of the rows that have one, scaled to a unit diagonal. */
static void invert_stiffness_of_rows(const double *stiffness, const int *row, int count,
                                     double *inverse)
{
    double factor[36], scale[6];
    for (int i = 0; i < count; i++) {
        scale[i] = 1.0 / sqrt(stiffness[7 * row[i]]);
    }
    for (int i = 0; i < count * count; i++) {
        int p = i / count, q = i % count;
        double symmetrised_stiffness_entry =
            0.5 * (stiffness[6 * row[p] + row[q]] + stiffness[6 * row[q] + row[p]]);
        factor[i] = p == q ? 1.0 + STIFFNESS_REGULARISATION
                           : scale[p] * scale[q] * symmetrised_stiffness_entry;
    }
    tact_ldl_factor(factor, count);
    for (int k = 0; k < count; k++) {
        double column[6] = {0.0};
        column[k] = scale[k];
        tact_ldl_solve(factor, count, column);
        for (int i = 0; i < count; i++) {
            inverse[6 * row[i] + row[k]] = scale[i] * column[i];
        }
    }
}

void tact_elastic_set_contact_springs(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    double h = world->options.period, inverse[36] = {0.0};
    double time = h + block->law->dissipation, scale = 1.0 / (h * time);
    int row[6], count = find_rows_with_stiffness(block, &c->patch, row);
    invert_stiffness_of_rows(c->patch.stiffness, row, count, inverse);
    memset(block->cross_compliance, 0, sizeof block->cross_compliance);
    memset(block->elastic_impulse_of_last_tick, 0, sizeof block->elastic_impulse_of_last_tick);
    for (int k = 0; k < count; k++) {
        int i = row[k];
        block->row_cfm[i] =
            scale * inverse[7 * i] + MIN_ELASTIC_ROW_COMPLIANCE_TO_MOBILITY * block->local.s[7 * i];
        block->impulse_at_spring_rest[i] = h * c->patch.wrench[i];
        block->bits_of_elastic_wrench_rows |= 1 << i;
        block->elastic_impulse_of_last_tick[i] = c->impulse[i];
        for (int j = 0; j < 6; j++) {
            block->cross_compliance[6 * i + j] = i == j ? 0.0 : scale * inverse[6 * i + j];
        }
    }
    block->has_cross_compliance = count > 0;
    for (int i = 0; i < 36; i++) {
        block->local.s[i] += block->cross_compliance[i];
    }
}

/* Energy of the springs of a contact under the load with which the last tick ended [J]. */
static double energy_under_last_load(const struct tact_world *world, const struct block *block)
{
    const double *load = block->elastic_impulse_of_last_tick;
    double h = world->options.period, rest[6] = {0.0};
    tact_block_add_compliance(block, load, rest);
    return 0.5 * (h + block->law->dissipation) / h * tact_dot(load, rest, 6);
}

/* Contact velocity before gravity and drives of this tick, that of the last motion. */
static void compute_velocity_before_forces(const struct tact_world *world,
                                           const struct block *block, double u[6])
{
    memset(u, 0, 6 * sizeof *u);
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        const double *v = world->velocities_before_forces + TACT_UNKNOWNS_PER_NODE * node->node;
        tact_rows_add_velocity(u, node->j, v, node->dof);
    }
}

int tact_elastic_returns_too_much(const struct tact_world *world, const struct block *block)
{
    const double *r = world->contacts[block->contact].impulse;
    double speed = -block->contact_velocity_before_forces[0], u[6] = {0.0};
    int is_impact = speed > 2.0 * tact_max(block->added_closing_velocity, 0.0);
    if (!(block->bits_of_elastic_wrench_rows & 1) || !is_impact || !(r[0] > 0.0)) {
        return 0;
    }
    tact_block_add_velocity(block, u);
    double after = tact_dot(r, u, 6);
    if (!(after > 0.0)) {
        return 0;
    }
    compute_velocity_before_forces(world, block, u);
    double before = tact_dot(r, u, 6);
    double gain = 0.5 * (before + after) - energy_under_last_load(world, block);
    return gain > 1e-12 * (fabs(before) + after);
}

void tact_elastic_load_by_last_motion(const struct tact_world *world, struct block *block,
                                      double share)
{
    const double *stiffness = world->contacts[block->contact].patch.stiffness;
    double h = world->options.period, u[6];
    compute_velocity_before_forces(world, block, u);
    for (int i = 0; i < 6; i++) {
        if (block->bits_of_elastic_wrench_rows >> i & 1) {
            double load =
                block->elastic_impulse_of_last_tick[i] - h * h * tact_dot(stiffness + 6 * i, u, 6);
            block->impulse_at_spring_rest[i] = share * load;
        }
    }
}
