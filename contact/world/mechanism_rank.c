/*
 * Which rows of the joints are independent of each other, whatever the masses of the bodies. The
 * mobility that the joints leave a row is small both where a closed chain makes the row redundant
 * and where a body is much lighter than others. The same matrix with equal bodies, J W J^T,
 * distinguishes the two: W has mass 1 and inertia L^2 for each body, L a length of the mechanism.
 */
#include "contact/world/world_internal.h"

#define REDUNDANT_PIVOT_RATIO                                                                      \
    1e-10 /* ratio of a pivot to the mobility of its row below which the row is redundant */

/* Square of the largest distance of a joint of a mechanism from the centre of mass of a body of
 * its, with the square of that body's radius of gyration [m^2]. */
static double find_squared_mechanism_length(const struct tact_world *world,
                                            const struct mechanism *part)
{
    double largest_squared_joint_distance = 0.0;
    for (int i = part->constraint; i < part->constraint_end; i++) {
        const struct world_constraint *w = &world->constraints[world->mechanisms.order[i]];
        for (int k = 0; k < 2; k++) {
            const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
            double arm[3];
            if (body) {
                const double *m = body->inertia;
                tact_v3_sub(arm, w->constraint.point, body->pose.position);
                largest_squared_joint_distance =
                    tact_max(largest_squared_joint_distance,
                             tact_v3_dot(arm, arm) + 0.5 * (m[0] + m[4] + m[8]) / body->mass);
            }
        }
    }
    return largest_squared_joint_distance;
}

/* Entry of J W J^T of a row of joint p and one of joint q, of the bodies that they share. */
static double matrix_entry_with_equal_bodies(const struct tact_world *world,
                                             const struct world_constraint *p, int row,
                                             const struct world_constraint *q, int column,
                                             double inverse_inertia)
{
    double sum = 0.0;
    for (int pair = 0; pair < 4; pair++) {
        const struct tact_body *body = tact_constraint_body_on_side(world, p, pair / 2);
        if (body && body == tact_constraint_body_on_side(world, q, pair % 2)) {
            const double *jp = p->j[pair / 2], *jq = q->j[pair % 2];
            for (int d = 0; d < 6; d++) {
                sum += (d < 3 ? 1.0 : inverse_inertia) * jp[d * 6 + row] * jq[d * 6 + column];
            }
        }
    }
    return sum;
}

static void fill_matrix_of_equal_bodies(struct tact_world *world, const struct mechanism *part)
{
    struct mechanisms *m = &world->mechanisms;
    for (int i = part->constraint; i < part->constraint_end; i++) {
        const struct world_constraint *p = &world->constraints[m->order[i]];
        for (int k = part->constraint; k <= i; k++) {
            const struct world_constraint *q = &world->constraints[m->order[k]];
            for (int entry = 0; entry < p->count * q->count; entry++) {
                int row = p->row + entry / q->count, column = q->row + entry % q->count;
                if (column >= m->first[row] && column <= row) {
                    m->factors_with_equal_bodies[m->start[row] + (size_t)(column - m->first[row])] =
                        matrix_entry_with_equal_bodies(
                            world, p, p->constrained_row_indices[entry / q->count], q,
                            q->constrained_row_indices[entry % q->count], part->inverse_inertia);
                }
            }
        }
    }
}

/* Factors the matrix of equal bodies, once a tick where it is asked for. */
static void factor_matrix_of_equal_bodies(struct tact_world *world, struct mechanism *part)
{
    struct mechanisms *m = &world->mechanisms;
    if (part->inverse_inertia > 0.0) {
        return;
    }
    part->inverse_inertia = 1.0 / find_squared_mechanism_length(world, part);
    fill_matrix_of_equal_bodies(world, part);
    for (int row = part->row; row < part->row_end; row++) {
        double *diagonal =
            m->factors_with_equal_bodies + m->start[row] + (size_t)(row - m->first[row]);
        double own = *diagonal,
               d = tact_mechanism_eliminate_row(m, m->factors_with_equal_bodies, row);
        *diagonal = d > REDUNDANT_PIVOT_RATIO * own ? 1.0 / d : 0.0;
    }
}

int tact_mechanism_is_row_independent(struct tact_world *world, int mechanism, int row)
{
    struct mechanisms *m = &world->mechanisms;
    factor_matrix_of_equal_bodies(world, &m->list[mechanism]);
    return m->factors_with_equal_bodies[m->start[row] + (size_t)(row - m->first[row])] > 0.0;
}

double tact_mechanism_free_mobility_ratio(struct tact_world *world,
                                          const struct world_constraint *w)
{
    struct mechanisms *m = &world->mechanisms;
    struct mechanism *part = &m->list[w->mechanism];
    factor_matrix_of_equal_bodies(world, part);
    double own =
        matrix_entry_with_equal_bodies(world, w, w->free_direction_row_of_joint, w,
                                       w->free_direction_row_of_joint, part->inverse_inertia);
    double free_row_mobility_after_elimination = own, *x = m->work;
    for (int i = part->constraint; i < part->constraint_end; i++) {
        const struct world_constraint *q = &world->constraints[m->order[i]];
        for (int k = 0; k < q->count; k++) {
            int row = q->row + k;
            const double *matrix_row_factors = m->factors_with_equal_bodies + m->start[row];
            double sum = matrix_entry_with_equal_bodies(world, q, q->constrained_row_indices[k], w,
                                                        w->free_direction_row_of_joint,
                                                        part->inverse_inertia);
            for (int column = m->first[row]; column < row; column++) {
                sum -= matrix_row_factors[column - m->first[row]] * x[column - part->row];
            }
            x[row - part->row] = sum;
            free_row_mobility_after_elimination -=
                sum * sum * matrix_row_factors[row - m->first[row]];
        }
    }
    return free_row_mobility_after_elimination / own;
}
