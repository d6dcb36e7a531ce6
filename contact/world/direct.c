#include "contact/world/direct_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/rows_internal.h"
#include "contact/world/six_internal.h"
#include "contact/world/world_internal.h"

int tact_direct_create(struct tact_world *world)
{
    struct direct *d = &world->direct;
    size_t bodies = (size_t)world->body_count, words = (bodies + 63) / 64;
    d->room = bodies * (bodies < DIRECT_WIDTH ? bodies : DIRECT_WIDTH);
    d->neighbours = calloc(bodies * words + 1, sizeof *d->neighbours);
    d->degree = calloc(bodies + 1, sizeof *d->degree);
    d->place = calloc(bodies + 1, sizeof *d->place);
    d->row = calloc(bodies + 1, sizeof *d->row);
    d->order = calloc(bodies + 1, sizeof *d->order);
    d->start = calloc(bodies + 1, sizeof *d->start);
    d->column = calloc(d->room + 1, sizeof *d->column);
    d->entry = calloc(72 * d->room + 1, sizeof *d->entry);
    d->diagonal = calloc(36 * bodies + 1, sizeof *d->diagonal);
    d->mass = calloc(36 * bodies + 1, sizeof *d->mass);
    d->rhs = calloc(6 * bodies + 1, sizeof *d->rhs);
    return d->neighbours && d->degree && d->place && d->row && d->order && d->start && d->column &&
                   d->entry && d->diagonal && d->mass && d->rhs
               ? 0
               : -ENOMEM;
}

void tact_direct_destroy(struct direct *d)
{
    void *all[] = {d->neighbours, d->degree, d->place,    d->row,  d->order, d->start,
                   d->column,     d->entry,  d->diagonal, d->mass, d->rhs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

int tact_direct_body(const struct block *block, int side)
{
    const struct side *s = &block->side[side];
    return s->dof && s->owner.kind == TACT_OWNER_BODY ? s->owner.index : -1;
}

void tact_direct_mass(const struct tact_body *body, double *out)
{
    double r[9], ri[9], inertia[9];
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    tact_m3_mul(ri, r, body->inertia);
    tact_m3_mul_t(inertia, ri, r);
    memset(out, 0, 36 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        out[7 * i] = body->mass;
        memcpy(out + 6 * (3 + i) + 3, inertia + 3 * i, 3 * sizeof *out);
    }
}

void tact_direct_begin(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    size_t rows = (size_t)island->owners.count;
    memset(d->entry, 0, 72 * d->start[rows] * sizeof *d->entry);
    memcpy(d->diagonal, d->mass, 36 * rows * sizeof *d->diagonal);
}

/* The entry of rows i and j, U where i < j and else L; they must be neighbours. */
static double *find_entry(const struct direct *d, int i, int j)
{
    int row = i < j ? i : j, column = i < j ? j : i;
    size_t k = d->start[row];
    while (d->column[k] != column) {
        k++;
    }
    return d->entry + 72 * k + (i < j ? 0 : 36);
}

void tact_direct_add_rhs(struct direct *d, const struct block *block, const double *r)
{
    for (int k = 0; k < 2; k++) {
        int body = tact_direct_body(block, k);
        if (body >= 0) {
            tact_six_apply(d->rhs + 6 * d->row[body], 1.0, block->side[k].j, r);
        }
    }
}

void tact_direct_velocity(const struct direct *d, const struct block *block, const double *v,
                          double *u)
{
    for (int k = 0; k < 2; k++) {
        int body = tact_direct_body(block, k);
        if (body >= 0) {
            tact_rows_velocity(u, block->side[k].j, v + 6 * d->row[body], 6);
        }
    }
}

void tact_direct_add_block(struct direct *d, const struct block *block, const double *c)
{
    double transposed[2][36];
    int row[2];
    for (int k = 0; k < 2; k++) {
        int body = tact_direct_body(block, k);
        row[k] = body < 0 ? -1 : d->row[body];
        if (body >= 0) {
            tact_six_transpose(transposed[k], block->side[k].j);
        }
    }
    for (int k = 0; k < 2; k++) {
        double jc[36] = {0.0};
        if (row[k] < 0) {
            continue;
        }
        tact_six_multiply(jc, -1.0, block->side[k].j, c);
        tact_six_multiply(d->diagonal + 36 * (size_t)row[k], 1.0, jc, transposed[k]);
        if (row[!k] >= 0) {
            tact_six_multiply(find_entry(d, row[k], row[!k]), 1.0, jc, transposed[!k]);
        }
    }
}

/* Subtracts L_ik U_kj for all pairs of entries of row k. */
static void update_trailing(struct direct *d, int k)
{
    for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
        const double *lower = d->entry + 72 * e + 36;
        int i = d->column[e];
        for (size_t f = d->start[k]; f < d->start[k + 1]; f++) {
            int j = d->column[f];
            double *out = i == j ? d->diagonal + 36 * (size_t)i : find_entry(d, i, j);
            tact_six_multiply(out, -1.0, lower, d->entry + 72 * f);
        }
    }
}

int tact_direct_factor(struct direct *d, int rows)
{
    static const double one[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1};
    for (int k = 0; k < rows; k++) {
        double *diagonal = d->diagonal + 36 * (size_t)k, inverse[36];
        memcpy(inverse, one, sizeof inverse);
        if (!tact_six_solve(diagonal, inverse, 6)) {
            return 0;
        }
        memcpy(diagonal, inverse, sizeof inverse);
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            double *lower = d->entry + 72 * e + 36, scaled[36] = {0.0};
            tact_six_multiply(scaled, 1.0, lower, diagonal);
            memcpy(lower, scaled, sizeof scaled);
        }
        update_trailing(d, k);
    }
    return 1;
}

void tact_direct_substitute(struct direct *d, int rows)
{
    double *x = d->rhs;
    for (int k = 0; k < rows; k++) {
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            tact_six_apply(x + 6 * d->column[e], -1.0, d->entry + 72 * e + 36, x + 6 * k);
        }
    }
    for (int k = rows - 1; k >= 0; k--) {
        double y[6] = {0.0};
        for (size_t e = d->start[k]; e < d->start[k + 1]; e++) {
            tact_six_apply(x + 6 * k, -1.0, d->entry + 72 * e, x + 6 * d->column[e]);
        }
        tact_six_apply(y, 1.0, d->diagonal + 36 * (size_t)k, x + 6 * k);
        memcpy(x + 6 * k, y, sizeof y);
    }
}
