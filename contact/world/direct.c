#include "contact/world/direct_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/world/rows_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

int tact_direct_create(struct tact_world *world)
{
    struct direct *d = &world->direct;
    size_t bodies = (size_t)world->body_count, contacts = (size_t)world->room;
    d->room = 2 * bodies * (bodies < DIRECT_WIDTH ? bodies : DIRECT_WIDTH);
    d->row = calloc(bodies + 1, sizeof *d->row);
    d->order = calloc(bodies + 1, sizeof *d->order);
    d->first = calloc(bodies + 1, sizeof *d->first);
    d->from = calloc(bodies + 1, sizeof *d->from);
    d->to = calloc(bodies + 1, sizeof *d->to);
    d->beside = calloc(2 * contacts + 1, sizeof *d->beside);
    d->start = calloc(bodies + 1, sizeof *d->start);
    d->band = calloc(36 * d->room + 1, sizeof *d->band);
    d->middle = calloc(36 * bodies + 1, sizeof *d->middle);
    d->right = calloc(6 * bodies + 1, sizeof *d->right);
    return d->row && d->order && d->first && d->from && d->to && d->beside && d->start && d->band &&
                   d->middle && d->right
               ? 0
               : -ENOMEM;
}

void tact_direct_destroy(struct direct *d)
{
    void *all[] = {d->row,    d->order, d->first, d->from,   d->to,
                   d->beside, d->start, d->band,  d->middle, d->right};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* The body that a side of a block moves, or -1. */
static int body_of(const struct block *block, int side)
{
    const struct side *s = &block->side[side];
    return s->dof && s->owner.kind == TACT_OWNER_BODY ? s->owner.index : -1;
}

/* Which bodies each body of the island touches, those of two contacts twice. */
static void find_neighbours(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    for (int i = 0; i < island->owners.count; i++) {
        d->to[island->owners.at[i]] = 0;
    }
    for (int pass = 0; pass < 2; pass++) { /* counts, lists */
        for (int i = 0; i < island->blocks.count; i++) {
            const struct block *block = &world->blocks[island->blocks.at[i]];
            int a = body_of(block, 0), b = body_of(block, 1);
            for (int k = 0; k < 2 && a >= 0 && b >= 0; k++) {
                int *end = &d->to[k ? b : a];
                if (pass) {
                    d->beside[*end] = k ? a : b;
                }
                (*end)++;
            }
        }
        int next = 0;
        for (int i = 0; i < island->owners.count && !pass; i++) {
            int body = island->owners.at[i], count = d->to[body];
            d->from[body] = d->to[body] = next;
            next += count;
        }
    }
}

/* Breadth first from a body. Returns the last that is met, which is far from it. */
static int spread(struct tact_world *world, const struct island *island, int from)
{
    struct direct *d = &world->direct;
    int count = 1;
    for (int i = 0; i < island->owners.count; i++) {
        d->row[island->owners.at[i]] = -1;
    }
    d->order[0] = from;
    d->row[from] = 0;
    for (int i = 0; i < count; i++) {
        for (int k = d->from[d->order[i]]; k < d->to[d->order[i]]; k++) {
            int other = d->beside[k];
            if (d->row[other] < 0) {
                d->row[other] = count;
                d->order[count++] = other;
            }
        }
        if (i + 1 == count &&
            count < island->owners.count) { /* held together by the ground alone */
            int k = 0;
            while (d->row[island->owners.at[k]] >= 0) {
                k++;
            }
            d->row[island->owners.at[k]] = count;
            d->order[count++] = island->owners.at[k];
        }
    }
    return d->order[count - 1];
}

int tact_direct_order(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    size_t used = 0;
    for (int i = 0; i < island->owners.count; i++) {
        if (island->owners.at[i] >= world->body_count) {
            return 0;
        }
    }
    find_neighbours(world, island);
    int end = spread(world, island, island->owners.at[0]);
    spread(world, island, spread(world, island, end));
    for (int i = 0; i < island->owners.count; i++) {
        int body = d->order[i];
        d->first[i] = i;
        for (int k = d->from[body]; k < d->to[body]; k++) {
            int other = d->row[d->beside[k]];
            d->first[i] = other < d->first[i] ? other : d->first[i];
        }
        d->start[i] = used;
        used += 2 * (size_t)(i - d->first[i]);
    }
    return used <= d->room;
}

/* Entries (i, j) and (j, i) of the band, j < i. */
static double *left_of(const struct direct *d, int i, int j)
{
    return d->band + 36 * (d->start[i] + (size_t)(j - d->first[i]));
}

static double *above(const struct direct *d, int j, int i)
{
    return left_of(d, i, j) + 36 * (size_t)(i - d->first[i]);
}

/* out += sign a b, 6 x 6. */
void tact_six_multiply(double *out, double sign, const double *a, const double *b)
{
    for (int i = 0; i < 6; i++) {
        tact_row2 *row = (tact_row2 *)(out + 6 * i);
        tact_row2 x = row[0], y = row[1], z = row[2];
        for (int k = 0; k < 6; k++) {
            double s = sign * a[6 * i + k];
            x += s * TACT_ROW(b + 6 * k)[0];
            y += s * TACT_ROW(b + 6 * k)[1];
            z += s * TACT_ROW(b + 6 * k)[2];
        }
        row[0] = x;
        row[1] = y;
        row[2] = z;
    }
}

/* y += sign a x. */
void tact_six_apply(double *y, double sign, const double *a, const double *x)
{
    for (int i = 0; i < 6; i++) {
        y[i] += sign * tact_dot(a + 6 * i, x, 6);
    }
}

/* Solves a x = b for `columns` of b, in place, by elimination with pivots. Returns 0 where there is
 * no solution. */
int tact_six_solve(double *a, double *b, int columns)
{
    for (int k = 0; k < 6; k++) {
        int best = k;
        for (int i = k + 1; i < 6; i++) {
            best = fabs(a[6 * i + k]) > fabs(a[6 * best + k]) ? i : best;
        }
        if (!(fabs(a[6 * best + k]) > 0.0)) {
            return 0;
        }
        for (int j = 0; j < 6 && best != k; j++) {
            double t = a[6 * k + j];
            a[6 * k + j] = a[6 * best + j];
            a[6 * best + j] = t;
        }
        for (int j = 0; j < columns && best != k; j++) {
            double t = b[columns * k + j];
            b[columns * k + j] = b[columns * best + j];
            b[columns * best + j] = t;
        }
        double inverse = 1.0 / a[7 * k];
        for (int j = 0; j < columns; j++) {
            b[columns * k + j] *= inverse;
        }
        for (int j = k; j < 6; j++) {
            a[6 * k + j] *= inverse;
        }
        for (int i = 0; i < 6; i++) {
            double s = a[6 * i + k];
            if (i != k && s != 0.0) {
                tact_axpy(a + 6 * i + k, -s, a + 6 * k + k, 6 - k);
                tact_axpy(b + columns * i, -s, b + columns * k, columns);
            }
        }
    }
    return 1;
}

/* Momentum per velocity of a body. */
static void put_mass(const struct tact_body *body, double *out)
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

void tact_direct_momentum(const struct tact_body *body, const double *v, double *out)
{
    double mass[36];
    put_mass(body, mass);
    tact_six_apply(out, 1.0, mass, v);
}

void tact_direct_begin(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    int last = island->owners.count - 1;
    size_t used = d->start[last] + 2 * (size_t)(last - d->first[last]);
    memset(d->band, 0, 36 * used * sizeof *d->band);
    for (int i = 0; i <= last; i++) {
        put_mass(&world->bodies[d->order[i]].body, d->middle + 36 * (size_t)i);
    }
}

void tact_direct_push(struct direct *d, const struct block *block, const double *r)
{
    for (int k = 0; k < 2; k++) {
        int body = body_of(block, k);
        if (body >= 0) {
            tact_six_apply(d->right + 6 * d->row[body], 1.0, block->side[k].j, r);
        }
    }
}

void tact_direct_velocity(const struct direct *d, const struct block *block, const double *v,
                          double *u)
{
    for (int k = 0; k < 2; k++) {
        int body = body_of(block, k);
        if (body >= 0) {
            tact_rows_velocity(u, block->side[k].j, v + 6 * d->row[body], 6);
        }
    }
}

void tact_direct_put(struct direct *d, const struct block *block, const double *c)
{
    for (int k = 0; k < 2; k++) {
        int body = body_of(block, k);
        if (body < 0) {
            continue;
        }
        double jc[36] = {0.0};
        int row = d->row[body];
        tact_six_multiply(jc, -1.0, block->side[k].j, c);
        for (int m = 0; m < 2; m++) {
            int other = body_of(block, m);
            if (other < 0) {
                continue;
            }
            int column = d->row[other];
            double *entry = column == row  ? d->middle + 36 * (size_t)row
                            : column < row ? left_of(d, row, column)
                                           : above(d, row, column);
            for (int i = 0; i < 36; i++) {
                entry[i] += tact_dot(jc + 6 * (i / 6), block->side[m].j + 6 * (i % 6), 6);
            }
        }
    }
}

/* Row by row: what is left of the diagonal becomes L, above it U, on it the inverse of U. Returns 0
 * where there is none. */
int tact_direct_factor(struct direct *d, int rows)
{
    static const double one[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1};
    for (int i = 0; i < rows; i++) {
        double *middle = d->middle + 36 * (size_t)i, inverse[36];
        for (int j = d->first[i]; j < i; j++) {
            double *l = left_of(d, i, j), *u = above(d, j, i), scaled[36] = {0.0};
            int from = d->first[j] > d->first[i] ? d->first[j] : d->first[i];
            for (int k = from; k < j; k++) {
                tact_six_multiply(l, -1.0, left_of(d, i, k), above(d, k, j));
                tact_six_multiply(u, -1.0, left_of(d, j, k), above(d, k, i));
            }
            tact_six_multiply(scaled, 1.0, l, d->middle + 36 * (size_t)j);
            memcpy(l, scaled, sizeof scaled);
            tact_six_multiply(middle, -1.0, l, u);
        }
        memcpy(inverse, one, sizeof inverse);
        if (!tact_six_solve(middle, inverse, 6)) {
            return 0;
        }
        memcpy(middle, inverse, sizeof inverse);
    }
    return 1;
}

void tact_direct_substitute(struct direct *d, int rows)
{
    double *x = d->right;
    for (int i = 0; i < rows; i++) {
        for (int j = d->first[i]; j < i; j++) {
            tact_six_apply(x + 6 * i, -1.0, left_of(d, i, j), x + 6 * j);
        }
    }
    for (int i = rows - 1; i >= 0; i--) {
        double y[6] = {0.0};
        tact_six_apply(y, 1.0, d->middle + 36 * (size_t)i, x + 6 * i);
        memcpy(x + 6 * i, y, sizeof y);
        for (int j = d->first[i]; j < i; j++) {
            tact_six_apply(x + 6 * j, -1.0, above(d, j, i), y);
        }
    }
}
