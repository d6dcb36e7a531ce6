/*
 * The matrix of the joints, A = J M^-1 J^T of all constrained rows: which mechanisms there are,
 * and its factors. Constraints of one mechanism are contiguous. A row starts at the first
 * constraint that shares a body with its own, so that a chain has a band matrix.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/world_internal.h"

#define MAX_MECHANISM_RESPONSE_BYTES                                                               \
    ((size_t)64 << 20) /* most memory for the responses of mechanisms to contacts, in bytes */
#define REDUNDANT_PIVOT_RATIO                                                                      \
    1e-10 /* ratio of a pivot to the mobility of its row below which the joint row may be          \
             redundant */
#define PIVOT_ROUNDING_RATIO                                                                       \
    1e-14 /* ratio of a pivot to the mobility of its row below which the pivot is rounding */

static int body_of_constraint_side(const struct tact_constraint *constraint, int side)
{
    const struct tact_owner *owner = side ? &constraint->b : &constraint->a;
    return owner->kind == TACT_OWNER_BODY ? owner->index : -1;
}

static int count_constrained_rows(enum tact_constraint_kind kind)
{
    return kind == TACT_CONSTRAINT_BALL ? 3 : kind == TACT_CONSTRAINT_FIXED ? 6 : 5;
}

/* Labels each body with the smallest index of the bodies that joints connect it to; -1 without
 * joints. */
static void label_bodies_by_mechanism(const struct tact_world *world, int *mechanism_label_of_body)
{
    for (int i = 0; i < world->body_count; i++) {
        mechanism_label_of_body[i] = -1;
    }
    for (int has_mechanism_label_changed = 1; has_mechanism_label_changed;) {
        has_mechanism_label_changed = 0;
        for (int i = 0; i < world->constraint_count; i++) {
            int a = body_of_constraint_side(&world->constraints[i].constraint, 0),
                b = body_of_constraint_side(&world->constraints[i].constraint, 1);
            int la = a < 0 ? -1 : mechanism_label_of_body[a],
                lb = b < 0 ? -1 : mechanism_label_of_body[b];
            int least = a < 0 ? b : b < 0 || a < b ? a : b;
            least = la >= 0 && la < least ? la : least;
            least = lb >= 0 && lb < least ? lb : least;
            has_mechanism_label_changed |= (a >= 0 && la != least) || (b >= 0 && lb != least);
            if (a >= 0) {
                mechanism_label_of_body[a] = least;
            }
            if (b >= 0) {
                mechanism_label_of_body[b] = least;
            }
        }
    }
}

/* Sorts the constraints by mechanism, in the order of the mechanisms' smallest body indices. */
static void sort_constraints_by_mechanism(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    int ordered_joint_count = 0;
    for (int body = 0; body < world->body_count; body++) {
        if (m->mechanism_of_body[body] != body) {
            continue;
        }
        struct mechanism *part = &m->list[m->count];
        part->constraint = ordered_joint_count;
        part->row = m->rows;
        for (int i = 0; i < world->constraint_count; i++) {
            struct world_constraint *w = &world->constraints[i];
            int a = body_of_constraint_side(&w->constraint, 0),
                b = body_of_constraint_side(&w->constraint, 1);
            if (m->mechanism_of_body[a >= 0 ? a : b] == body) {
                m->order[ordered_joint_count++] = i;
                w->mechanism = m->count;
                w->row = m->rows;
                m->rows += count_constrained_rows(w->constraint.kind);
            }
        }
        part->constraint_end = ordered_joint_count;
        part->row_end = m->rows;
        m->count++;
    }
    for (int i = 0; i < world->constraint_count; i++) {
        for (int k = 0; k < 2; k++) {
            int body = body_of_constraint_side(&world->constraints[i].constraint, k);
            if (body >= 0) {
                /* replaces each body's label by the index of its mechanism */
                m->mechanism_of_body[body] = world->constraints[i].mechanism;
            }
        }
    }
}

static int do_constraints_share_body(const struct world_constraint *p,
                                     const struct world_constraint *q)
{
    for (int k = 0; k < 4; k++) {
        int body = body_of_constraint_side(&p->constraint, k / 2);
        if (body >= 0 && body == body_of_constraint_side(&q->constraint, k % 2)) {
            return 1;
        }
    }
    return 0;
}

/* Sets the first stored column of each row of the joints' matrix; returns the number of entries. */
static size_t assign_mechanism_matrix_rows(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    size_t mechanism_matrix_entry_count = 0;
    for (int i = 0; i < world->constraint_count; i++) {
        const struct world_constraint *w = &world->constraints[m->order[i]];
        int from = w->row;
        for (int k = m->list[w->mechanism].constraint; k < i && from == w->row; k++) {
            const struct world_constraint *earlier_mechanism_constraint =
                &world->constraints[m->order[k]];
            from = do_constraints_share_body(w, earlier_mechanism_constraint)
                       ? earlier_mechanism_constraint->row
                       : from;
        }
        for (int row = w->row; row < w->row + count_constrained_rows(w->constraint.kind); row++) {
            m->first[row] = from;
            m->start[row] = mechanism_matrix_entry_count;
            mechanism_matrix_entry_count += (size_t)(row - from + 1);
        }
    }
    return mechanism_matrix_entry_count;
}

int tact_mechanisms_create(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    size_t constraints = (size_t)world->constraint_count, most = 0, longest = 0;
    if (!constraints) {
        return 0;
    }
    m->list = calloc(constraints, sizeof *m->list);
    m->order = calloc(constraints, sizeof *m->order);
    m->mechanism_of_body = calloc((size_t)world->body_count, sizeof *m->mechanism_of_body);
    m->first = calloc(constraints * 6, sizeof *m->first);
    m->start = calloc(constraints * 6, sizeof *m->start);
    m->work = calloc(constraints * 6, sizeof *m->work);
    m->constrained_row_velocities = calloc(constraints * 6, sizeof *m->constrained_row_velocities);
    if (!m->constrained_row_velocities || !m->list || !m->order || !m->mechanism_of_body ||
        !m->first || !m->start || !m->work) {
        return -ENOMEM;
    }
    label_bodies_by_mechanism(world, m->mechanism_of_body);
    sort_constraints_by_mechanism(world);
    for (int i = 0; i < m->count; i++) {
        size_t rows = (size_t)(m->list[i].row_end - m->list[i].row);
        longest = rows > longest ? rows : longest;
        most += rows * (size_t)(m->list[i].constraint_end - m->list[i].constraint);
    }
    m->mechanism_response_capacity =
        MAX_MECHANISM_RESPONSE_BYTES / sizeof *m->mechanism_response_storage;
    if (m->mechanism_response_capacity > (size_t)world->contact_capacity * 12 * longest) {
        m->mechanism_response_capacity = (size_t)world->contact_capacity * 12 * longest;
    }
    size_t ldl_entry_count = assign_mechanism_matrix_rows(world) + 1;
    m->ldl_factors = calloc(ldl_entry_count, sizeof *m->ldl_factors);
    m->factors_with_equal_bodies = calloc(ldl_entry_count, sizeof *m->factors_with_equal_bodies);
    m->free_response_storage_of_joints =
        calloc(most + 1, sizeof *m->free_response_storage_of_joints);
    m->mechanism_response_storage =
        calloc(m->mechanism_response_capacity + 1, sizeof *m->mechanism_response_storage);
    return m->ldl_factors && m->factors_with_equal_bodies && m->free_response_storage_of_joints &&
                   m->mechanism_response_storage
               ? 0
               : -ENOMEM;
}

void tact_mechanisms_destroy(struct mechanisms *m)
{
    free(m->list);
    free(m->order);
    free(m->mechanism_of_body);
    free(m->first);
    free(m->start);
    free(m->work);
    free(m->constrained_row_velocities);
    free(m->ldl_factors);
    free(m->factors_with_equal_bodies);
    free(m->free_response_storage_of_joints);
    free(m->mechanism_response_storage);
}

/* Adds to the matrix J M^-1 J^T of a mechanism the entries J_p Y_q, Y = M^-1 J^T, of a body that
 * the joints p and q share; q is not after p. */
static void add_shared_body_entries(struct mechanisms *m, const struct world_constraint *p,
                                    int side, const struct world_constraint *q,
                                    int side_of_constraint_q)
{
    const double *j = p->j[side], *y = q->y[side_of_constraint_q];
    for (int i = 0; i < p->count; i++) {
        int row = p->row + i;
        double *to = m->ldl_factors + m->start[row] + (q->row - m->first[row]);
        for (int k = 0; k < q->count && q->row + k <= row; k++) {
            double sum = 0.0;
            for (int d = 0; d < 6; d++) {
                sum += j[d * 6 + p->constrained_row_indices[i]] *
                       y[d * 6 + q->constrained_row_indices[k]];
            }
            to[k] += sum;
        }
    }
}

static void fill_mechanism_matrix(struct tact_world *world, const struct mechanism *part)
{
    struct mechanisms *m = &world->mechanisms;
    for (int row = part->row; row < part->row_end; row++) {
        memset(m->ldl_factors + m->start[row], 0,
               (size_t)(row - m->first[row] + 1) * sizeof *m->ldl_factors);
    }
    for (int i = part->constraint; i < part->constraint_end; i++) {
        const struct world_constraint *p = &world->constraints[m->order[i]];
        for (int k = part->constraint; k <= i; k++) {
            const struct world_constraint *q = &world->constraints[m->order[k]];
            for (int pair = 0; pair < 4; pair++) {
                int body = body_of_constraint_side(&p->constraint, pair / 2);
                if (body >= 0 && body == body_of_constraint_side(&q->constraint, pair % 2)) {
                    add_shared_body_entries(m, p, pair / 2, q, pair % 2);
                }
            }
        }
    }
}

double tact_mechanism_eliminate_row(const struct mechanisms *m, double *matrix_row_factors, int i)
{
    double *row = matrix_row_factors + m->start[i];
    int from = m->first[i];
    double d = row[i - from];
    for (int j = from; j < i; j++) {
        const double *other = matrix_row_factors + m->start[j];
        int first_column_of_row_j = m->first[j],
            k = from > first_column_of_row_j ? from : first_column_of_row_j;
        double sum = row[j - from];
        for (; k < j; k++) {
            sum -= row[k - from] * other[k - first_column_of_row_j];
        }
        row[j - from] = sum;
    }
    for (int j = from; j < i; j++) {
        const double *other = matrix_row_factors + m->start[j];
        double factor_entry_times_pivot = row[j - from],
               l = factor_entry_times_pivot * other[j - m->first[j]];
        row[j - from] = l;
        d -= l * factor_entry_times_pivot;
    }
    return d;
}

/* Factors a row of the joints' matrix. A redundant row, as in a closed chain, gets 1/D = 0 and
 * bears no load. A small pivot may also be that of a heavy body beside a light one. */
static void factor_mechanism_row(struct tact_world *world, int mechanism, int i)
{
    struct mechanisms *m = &world->mechanisms;
    double *diagonal = m->ldl_factors + m->start[i] + (size_t)(i - m->first[i]), own = *diagonal;
    double d = tact_mechanism_eliminate_row(m, m->ldl_factors, i);
    int is_joint_row_independent = d > REDUNDANT_PIVOT_RATIO * own;
    if (!is_joint_row_independent && tact_mechanism_is_row_independent(world, mechanism, i)) {
        is_joint_row_independent = d > PIVOT_ROUNDING_RATIO * own;
        world->counts[TACT_COUNT_JOINTS_LOST] += !is_joint_row_independent;
    }
    *diagonal = is_joint_row_independent ? 1.0 / d : 0.0;
}

void tact_mechanisms_factor(struct tact_world *world)
{
    struct mechanisms *m = &world->mechanisms;
    for (int i = 0; i < m->count; i++) {
        m->list[i].inverse_inertia = 0.0;
        fill_mechanism_matrix(world, &m->list[i]);
        for (int row = m->list[i].row; row < m->list[i].row_end; row++) {
            factor_mechanism_row(world, i, row);
        }
    }
}

void tact_mechanism_solve(const struct mechanisms *m, int part, double *x, int stride)
{
    const struct mechanism *p = &m->list[part];
    for (int i = p->row; i < p->row_end; i++) {
        const double *row = m->ldl_factors + m->start[i];
        double sum = x[(i - p->row) * stride];
        for (int k = m->first[i]; k < i; k++) {
            sum -= row[k - m->first[i]] * x[(k - p->row) * stride];
        }
        x[(i - p->row) * stride] = sum;
    }
    for (int i = p->row; i < p->row_end; i++) {
        x[(i - p->row) * stride] *= m->ldl_factors[m->start[i] + (size_t)(i - m->first[i])];
    }
    for (int i = p->row_end - 1; i >= p->row; i--) {
        const double *row = m->ldl_factors + m->start[i];
        double solved_impulse_of_row = x[(i - p->row) * stride];
        for (int k = m->first[i]; k < i; k++) {
            x[(k - p->row) * stride] -= row[k - m->first[i]] * solved_impulse_of_row;
        }
    }
}
