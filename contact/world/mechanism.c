/*
 * The joints' own matrix, A = J M^-1 J^T of all held rows: which mechanisms there are, and their
 * factors. Bonds of one mechanism stand together; a row's entries begin at the first bond that
 * shares a body with its own, so that a chain costs what a band does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world_internal.h"

#define ANSWER_BYTES ((size_t)64 << 20) /* most memory for the contacts' answers */
#define REDUNDANT 1e-10 /* share of a row's own mobility below which it adds nothing */

static int body_of(const struct tact_bond *bond, int side)
{
    const struct tact_owner *owner = side ? &bond->b : &bond->a;
    return owner->kind == TACT_OWNER_BODY ? owner->index : -1;
}

static int held_rows(enum tact_bond_kind kind)
{
    return kind == TACT_BOND_BALL ? 3 : kind == TACT_BOND_FIXED ? 6 : 5;
}

/* Labels each body with the least body that joints connect it to; -1 without joints. */
static void label_bodies(const struct tact_world *world, int *label)
{
    for (int i = 0; i < world->body_count; i++) {
        label[i] = -1;
    }
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < world->bond_count; i++) {
            int a = body_of(&world->bonds[i].bond, 0), b = body_of(&world->bonds[i].bond, 1);
            int la = a < 0 ? -1 : label[a], lb = b < 0 ? -1 : label[b];
            int least = a < 0 ? b : b < 0 || a < b ? a : b;
            least = la >= 0 && la < least ? la : least;
            least = lb >= 0 && lb < least ? lb : least;
            again |= (a >= 0 && la != least) || (b >= 0 && lb != least);
            if (a >= 0) {
                label[a] = least;
            }
            if (b >= 0) {
                label[b] = least;
            }
        }
    }
}

/* Lists the bonds by mechanism, in the order of the mechanisms' least bodies. */
static void list_parts(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    int listed = 0;
    for (int body = 0; body < world->body_count; body++) {
        if (m->of_body[body] != body) {
            continue;
        }
        struct mechanism *part = &m->parts[m->count];
        part->bond = listed;
        part->row = m->rows;
        for (int i = 0; i < world->bond_count; i++) {
            struct world_bond *w = &world->bonds[i];
            int a = body_of(&w->bond, 0), b = body_of(&w->bond, 1);
            if (m->of_body[a >= 0 ? a : b] == body) {
                m->order[listed++] = i;
                w->part = m->count;
                w->row = m->rows;
                m->rows += held_rows(w->bond.kind);
            }
        }
        part->bond_end = listed;
        part->row_end = m->rows;
        m->count++;
    }
    for (int i = 0; i < world->bond_count; i++) {
        for (int k = 0; k < 2; k++) {
            int body = body_of(&world->bonds[i].bond, k);
            if (body >= 0) {
                m->of_body[body] = world->bonds[i].part; /* from the label to the number */
            }
        }
    }
}

static int share_body(const struct world_bond *p, const struct world_bond *q)
{
    for (int k = 0; k < 4; k++) {
        int body = body_of(&p->bond, k / 2);
        if (body >= 0 && body == body_of(&q->bond, k % 2)) {
            return 1;
        }
    }
    return 0;
}

/* Where each row begins; returns the number of entries. */
static size_t shape_rows(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    size_t entries = 0;
    for (int i = 0; i < world->bond_count; i++) {
        const struct world_bond *w = &world->bonds[m->order[i]];
        int from = w->row;
        for (int k = m->parts[w->part].bond; k < i && from == w->row; k++) {
            const struct world_bond *other = &world->bonds[m->order[k]];
            from = share_body(w, other) ? other->row : from;
        }
        for (int row = w->row; row < w->row + held_rows(w->bond.kind); row++) {
            m->first[row] = from;
            m->start[row] = entries;
            entries += (size_t)(row - from + 1);
        }
    }
    return entries;
}

int tact_mechanisms_create(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    size_t bonds = (size_t)world->bond_count, most = 0, longest = 0;
    if (!bonds) {
        return 0;
    }
    m->parts = calloc(bonds, sizeof *m->parts);
    m->order = calloc(bonds, sizeof *m->order);
    m->of_body = calloc((size_t)world->body_count, sizeof *m->of_body);
    m->first = calloc(bonds * 6, sizeof *m->first);
    m->start = calloc(bonds * 6, sizeof *m->start);
    m->changes = calloc(bonds * 6, sizeof *m->changes);
    m->slips = calloc(bonds * 6, sizeof *m->slips);
    if (!m->slips || !m->parts || !m->order || !m->of_body || !m->first || !m->start ||
        !m->changes) {
        return -ENOMEM;
    }
    label_bodies(world, m->of_body);
    list_parts(world);
    for (int i = 0; i < m->count; i++) {
        size_t rows = (size_t)(m->parts[i].row_end - m->parts[i].row);
        longest = rows > longest ? rows : longest;
        most += rows * (size_t)(m->parts[i].bond_end - m->parts[i].bond);
    }
    m->answer_room = ANSWER_BYTES / sizeof *m->answers;
    if (m->answer_room > (size_t)world->room * 12 * longest) {
        m->answer_room = (size_t)world->room * 12 * longest;
    }
    m->factors = calloc(shape_rows(world) + 1, sizeof *m->factors);
    m->levers = calloc(most + 1, sizeof *m->levers);
    m->answers = calloc(m->answer_room + 1, sizeof *m->answers);
    return m->factors && m->levers && m->answers ? 0 : -ENOMEM;
}

void tact_mechanisms_destroy(struct mechanisms *m)
{
    free(m->parts);
    free(m->order);
    free(m->of_body);
    free(m->first);
    free(m->start);
    free(m->changes);
    free(m->slips);
    free(m->factors);
    free(m->levers);
    free(m->answers);
}

/* Adds J_p Y_q of a body that both move to the matrix; q stands no later than p. */
static void add_shared(struct mechanisms *m, const struct world_bond *p, int side,
                       const struct world_bond *q, int other)
{
    const double *j = p->j[side], *y = q->y[other];
    for (int i = 0; i < p->count; i++) {
        int row = p->row + i;
        double *to = m->factors + m->start[row] + (q->row - m->first[row]);
        for (int k = 0; k < q->count && q->row + k <= row; k++) {
            double sum = 0.0;
            for (int d = 0; d < 6; d++) {
                sum += j[d * 6 + p->held[i]] * y[d * 6 + q->held[k]];
            }
            to[k] += sum;
        }
    }
}

static void fill(struct tact_world *world, const struct mechanism *part)
{
    struct mechanisms *m = &world->mechanisms;
    for (int row = part->row; row < part->row_end; row++) {
        memset(m->factors + m->start[row], 0,
               (size_t)(row - m->first[row] + 1) * sizeof *m->factors);
    }
    for (int i = part->bond; i < part->bond_end; i++) {
        const struct world_bond *p = &world->bonds[m->order[i]];
        for (int k = part->bond; k <= i; k++) {
            const struct world_bond *q = &world->bonds[m->order[k]];
            for (int pair = 0; pair < 4; pair++) {
                int body = body_of(&p->bond, pair / 2);
                if (body >= 0 && body == body_of(&q->bond, pair % 2)) {
                    add_shared(m, p, pair / 2, q, pair % 2);
                }
            }
        }
    }
}

/* A row that follows from those before it, as a closed chain has them, gets 1/D = 0: it bears
 * nothing. */
static void factor_row(struct mechanisms *m, int i)
{
    double *row = m->factors + m->start[i];
    int from = m->first[i];
    double d = row[i - from], own = d;
    for (int j = from; j < i; j++) {
        const double *other = m->factors + m->start[j];
        int other_from = m->first[j], k = from > other_from ? from : other_from;
        double sum = row[j - from];
        for (; k < j; k++) {
            sum -= row[k - from] * other[k - other_from];
        }
        row[j - from] = sum;
    }
    for (int j = from; j < i; j++) {
        const double *other = m->factors + m->start[j];
        double times_d = row[j - from], l = times_d * other[j - m->first[j]];
        row[j - from] = l;
        d -= l * times_d;
    }
    row[i - from] = d > REDUNDANT * own ? 1.0 / d : 0.0;
}

void tact_mechanisms_factor(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    for (int i = 0; i < m->count; i++) {
        fill(world, &m->parts[i]);
        for (int row = m->parts[i].row; row < m->parts[i].row_end; row++) {
            factor_row(m, row);
        }
    }
}

void tact_mechanism_solve(const struct mechanisms *m, int part, double *x, int stride)
{
    const struct mechanism *p = &m->parts[part];
    for (int i = p->row; i < p->row_end; i++) {
        const double *row = m->factors + m->start[i];
        double sum = x[(i - p->row) * stride];
        for (int k = m->first[i]; k < i; k++) {
            sum -= row[k - m->first[i]] * x[(k - p->row) * stride];
        }
        x[(i - p->row) * stride] = sum;
    }
    for (int i = p->row; i < p->row_end; i++) {
        x[(i - p->row) * stride] *= m->factors[m->start[i] + (size_t)(i - m->first[i])];
    }
    for (int i = p->row_end - 1; i >= p->row; i--) {
        const double *row = m->factors + m->start[i];
        double known = x[(i - p->row) * stride];
        for (int k = m->first[i]; k < i; k++) {
            x[(k - p->row) * stride] -= row[k - m->first[i]] * known;
        }
    }
}
