/*
 * Springs of a patch whose law is an elastic wrench W with a stiffness K, for its six rows. After
 * a tick of h, r = h (W - h' K u), with h' = h plus the relaxation time of a damper in parallel,
 * so that u + C r = C h W with C = (h h' K)^-1 on the rows that have a stiffness. As a part of S
 * it is implicit, and the law of the contact limits what is transmitted.
 */
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
    for (int k = 0; k < count; k++) {
        int i = row[k];
        block->row_cfm[i] =
            scale * inverse[7 * i] + MIN_ELASTIC_ROW_COMPLIANCE_TO_MOBILITY * block->local.s[7 * i];
        block->impulse_at_spring_rest[i] = h * c->patch.wrench[i];
        block->bits_of_elastic_wrench_rows |= 1 << i;
        for (int j = 0; j < 6; j++) {
            block->cross_compliance[6 * i + j] = i == j ? 0.0 : scale * inverse[6 * i + j];
        }
    }
    block->has_cross_compliance = count > 0;
    for (int i = 0; i < 36; i++) {
        block->local.s[i] += block->cross_compliance[i];
    }
}
