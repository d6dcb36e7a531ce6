/*
 * Joints before the sweeps: their rows, their targets, and their effect on contacts. The mobility
 * of contacts and of free rows is that of bodies with all joints satisfied, S - C^T A^-1 C with C
 * = J M^-1 J_c^T, and the joints respond at once to each change of a contact impulse.
 */
#include <string.h>
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

#define MAX_MOBILITY_RATIO_OF_LOCKED_FREE_ROW                                                      \
    1e-5 /* ratio of a contact's mobility with the joints to that without them, below which they   \
          * leave no motion                                                                        \
          */
#define MOBILITY_ROUNDING_RATIO                                                                    \
    1e-13 /* ratio of a free row's mobility with the joints to that without them, below which it   \
             is rounding */
#define MAX_JOINT_ANGLE_CORRECTION_RATE                                                            \
    5.0 /* largest speed at which a joint's angular error is corrected [rad/s]; that of its        \
           position error is push_limit */
#define POSE_ROUNDING_ERROR 2e-15 /* rounding error of a pose, relative to its size */

static const int constrained_rows_of_ball_joint[] = {0, 1, 2},
                 constrained_rows_of_hinge_joint[] = {0, 1, 2, 3, 4},
                 constrained_rows_of_slider_joint[] = {0, 1, 3, 4, 5},
                 fixed_constrained_rows[] = {0, 1, 2, 3, 4, 5};

static const struct {
    const int *rows;
    int count, free_direction_row_of_joint;
} kinds[] = {
    [TACT_CONSTRAINT_BALL] = {constrained_rows_of_ball_joint, 3, -1},
    [TACT_CONSTRAINT_HINGE] = {constrained_rows_of_hinge_joint, 5, 5},
    [TACT_CONSTRAINT_SLIDER] = {constrained_rows_of_slider_joint, 5, 2},
    [TACT_CONSTRAINT_FIXED] = {fixed_constrained_rows, 6, -1},
};

/* Computes J and Y = M^-1 J of a body: wrench and twist of a unit impulse along each row of a
 * joint. */
static void assemble_jacobian_of_joint_on_body(const struct tact_body *body, const double *rows,
                                               const double *point, double sign, double *j,
                                               double *y)
{
    double arm[3], inverse_mass = 1.0 / body->mass;
    tact_v3_sub(arm, point, body->pose.position);
    for (int i = 0; i < 6; i++) {
        const double *axis = rows + 3 * (i % 3);
        double torque[3], w[3];
        if (i < 3) {
            tact_v3_cross(torque, arm, axis);
        } else {
            tact_v3_copy(torque, axis);
        }
        tact_v3_scale(torque, torque, sign);
        tact_m3_mul_v3(w, body->inverse_world, torque);
        for (int k = 0; k < 3; k++) {
            j[k * 6 + i] = i < 3 ? sign * axis[k] : 0.0;
            j[(3 + k) * 6 + i] = torque[k];
            y[k * 6 + i] = j[k * 6 + i] * inverse_mass;
            y[(3 + k) * 6 + i] = w[k];
        }
    }
}

/* Sets for a joint the part of its error that cannot be corrected in one tick without a jerk, the
 * rate of an error due to rounding, and the rates that its stops allow. */
static void set_constraint_error_targets(struct tact_world *world, struct world_constraint *w)
{
    const struct tact_constraint *constraint = &w->constraint;
    const struct tact_pose *a = tact_constraint_pose_of_owner(world, constraint->a),
                           *b = tact_constraint_pose_of_owner(world, constraint->b);
    double h = world->options.period, e[6],
           most[2] = {world->options.push_limit * h, MAX_JOINT_ANGLE_CORRECTION_RATE * h};
    double reach = tact_v3_norm(a->position) + tact_v3_norm(b->position) +
                   tact_v3_norm(constraint->in_a.position) +
                   tact_v3_norm(constraint->in_b.position);
    tact_constraint_joint_error(constraint, a, b, e);
    for (int i = 0; i < 6; i++) {
        double size = tact_v3_norm(e + (i < 3 ? 0 : 3)), share = most[i / 3];
        w->uncorrected_joint_error[i] = size > share ? e[i] * (1.0 - share / size) : 0.0;
    }
    w->joint_error_rounding_rate[0] = POSE_ROUNDING_ERROR * reach / h;
    w->joint_error_rounding_rate[1] = 2.0 * POSE_ROUNDING_ERROR / h;
    w->lowest_rate_within_stops = -INFINITY;
    w->highest_rate_within_stops = INFINITY;
    if (w->free_direction_row_of_joint >= 0 && constraint->lower < constraint->upper) {
        double return_speed_limit_of_joint_stop = w->free_direction_row_of_joint < 3
                                                      ? world->options.push_limit
                                                      : MAX_JOINT_ANGLE_CORRECTION_RATE;
        w->lowest_rate_within_stops =
            tact_min((constraint->lower - constraint->value) / h, return_speed_limit_of_joint_stop);
        w->highest_rate_within_stops = tact_max((constraint->upper - constraint->value) / h,
                                                -return_speed_limit_of_joint_stop);
    }
}

static void assemble_constraint(struct tact_world *world, struct world_constraint *w)
{
    struct tact_constraint *constraint = &w->constraint;
    const struct tact_pose *a = tact_constraint_pose_of_owner(world, constraint->a),
                           *b = tact_constraint_pose_of_owner(world, constraint->b);
    double s[36] = {0.0}, turn[9], axes[4];
    tact_pose_point(constraint->point, a, constraint->in_a.position);
    tact_quat_mul(axes, b->quat_wxyz, constraint->in_b.quat_wxyz);
    tact_quat_normalize(axes);
    tact_quat_to_m3(turn, axes);
    for (int i = 0; i < 9; i++) {
        w->rows[i] = turn[i % 3 * 3 + i / 3];
    }
    constraint->value = tact_constraint_joint_value(constraint, a, b);
    w->count = kinds[constraint->kind].count;
    int has_friction_or_stops = constraint->friction > 0.0 || constraint->damping > 0.0 ||
                                constraint->lower < constraint->upper;
    w->free_direction_row_of_joint =
        has_friction_or_stops ? kinds[constraint->kind].free_direction_row_of_joint : -1;
    memcpy(w->constrained_row_indices, kinds[constraint->kind].rows,
           (size_t)w->count * sizeof *w->constrained_row_indices);
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
        if (body) {
            assemble_jacobian_of_joint_on_body(body, w->rows, constraint->point, k ? -1.0 : 1.0,
                                               w->j[k], w->y[k]);
            tact_rows_add_to_schur_matrix(s, w->j[k], w->y[k], 6, 0);
        }
    }
    double trace_of_linear_mobility = s[0] + s[7] + s[14],
           trace_of_angular_mobility = s[21] + s[28] + s[35];
    w->joint_torque_to_force_scale = sqrt(trace_of_angular_mobility / trace_of_linear_mobility);
    set_constraint_error_targets(world, w);
}

/* Adds the coupling C = J_constraint Y of one joint with one side of a contact (six columns) or
 * with a free row (one). */
static void add_constraint_coupling(const struct world_constraint *w, int side, const double *y,
                                    int columns, int column, double *c)
{
    const double *j = w->j[side];
    for (int i = 0; i < w->count; i++) {
        for (int k = 0; k < columns; k++) {
            double sum = 0.0;
            for (int d = 0; d < 6; d++) {
                sum += j[d * 6 + w->constrained_row_indices[i]] * y[d * 6 + column + k];
            }
            c[i * columns + k] += sum;
        }
    }
}

/* Adds the coupling C of all joints of a mechanism with a contact or free row whose unit impulses
 * change the velocity of `body` by y. */
static void add_coupling_of_mechanism_joints(const struct tact_world *world, int mechanism,
                                             int body, const double *y, int columns, int column,
                                             double *c)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->list[mechanism];
    for (int i = p->constraint; i < p->constraint_end; i++) {
        const struct world_constraint *w = &world->constraints[m->order[i]];
        for (int k = 0; k < 2; k++) {
            const struct tact_owner owner = k ? w->constraint.b : w->constraint.a;
            if (owner.kind == TACT_OWNER_BODY && owner.index == body) {
                add_constraint_coupling(w, k, y, columns, column, c + (w->row - p->row) * columns);
            }
        }
    }
}

/* Computes the response of a mechanism to the free row of a joint, and the mobility of the row with
 * it. */
static void compute_free_row_response(struct tact_world *world, struct world_constraint *w,
                                      double *free_response_storage)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->list[w->mechanism];
    int rows = p->row_end - p->row;
    double *coupling = world->mechanisms.work;
    w->joint_impulses_per_free_row_impulse = free_response_storage;
    memset(coupling, 0, (size_t)rows * sizeof *coupling);
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = k ? w->constraint.b : w->constraint.a;
        if (owner.kind == TACT_OWNER_BODY) {
            add_coupling_of_mechanism_joints(world, w->mechanism, owner.index, w->y[k], 1,
                                             w->free_direction_row_of_joint, coupling);
        }
    }
    memcpy(w->joint_impulses_per_free_row_impulse, coupling, (size_t)rows * sizeof *coupling);
    tact_mechanism_solve(m, w->mechanism, w->joint_impulses_per_free_row_impulse, 1);
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < 6 && tact_constraint_body_on_side(world, w, k); d++) {
            w->free_row_mobility += w->j[k][d * 6 + w->free_direction_row_of_joint] *
                                    w->y[k][d * 6 + w->free_direction_row_of_joint];
        }
    }
    double own = w->free_row_mobility;
    for (int i = 0; i < rows; i++) {
        w->free_row_mobility -= coupling[i] * w->joint_impulses_per_free_row_impulse[i];
    }
    int is_free_row_movable = w->free_row_mobility > MAX_MOBILITY_RATIO_OF_LOCKED_FREE_ROW * own;
    if (!is_free_row_movable &&
        tact_mechanism_free_mobility_ratio(world, w) > MAX_MOBILITY_RATIO_OF_LOCKED_FREE_ROW) {
        /* the free row is not locked: one of its bodies is much lighter than those that move with
         * it */
        is_free_row_movable = w->free_row_mobility > MOBILITY_ROUNDING_RATIO * own;
        world->counts[TACT_COUNT_JOINTS_LOST] += !is_free_row_movable;
    }
    w->free_row_mobility = is_free_row_movable ? w->free_row_mobility : 0.0;
}

void tact_constraints_assemble(struct tact_world *world)
{
    double *free_response_storage = world->mechanisms.free_response_storage_of_joints;
    for (int i = 0; i < world->constraint_count; i++) {
        assemble_constraint(world, &world->constraints[i]);
    }
    tact_mechanisms_factor(world);
    world->mechanisms.mechanism_responses_used = 0;
    for (int i = 0; i < world->constraint_count; i++) {
        struct world_constraint *w = &world->constraints[i];
        w->free_row_mobility = 0.0;
        if (w->free_direction_row_of_joint >= 0) {
            const struct mechanism *p = &world->mechanisms.list[w->mechanism];
            compute_free_row_response(world, w, free_response_storage);
            free_response_storage += p->row_end - p->row;
        }
    }
}

/* Subtracts from the contact's S what the joints of one mechanism take of its mobility, C^T A^-1 C;
 * the response is -A^-1 C. */
static void eliminate_mechanism_from_contact(struct tact_world *world, struct block *block,
                                             struct mechanism_response *response)
{
    struct mechanisms *m = &world->mechanisms;
    int rows = m->list[response->mechanism].row_end - m->list[response->mechanism].row;
    size_t size = (size_t)rows * 6;
    if (m->mechanism_responses_used + 2 * size > m->mechanism_response_capacity) {
        response->mechanism = -1; /* no storage is left for the mechanism's response: the sweeps
                                     converge without it, more slowly */
        return;
    }
    double *c = m->mechanism_response_storage + m->mechanism_responses_used, *x = c + size,
           *s = block->local.s;
    double share = block->has_body_free_of_joints ? 1.0 : 1.0 - TACT_JOINT_COMPLIANCE_TO_MOBILITY;
    m->mechanism_responses_used += 2 * size;
    memset(c, 0, size * sizeof *c);
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        if (node->node < world->body_count &&
            m->mechanism_of_body[node->node] == response->mechanism) {
            add_coupling_of_mechanism_joints(world, response->mechanism, node->node, node->y, 6, 0,
                                             c);
        }
    }
    memcpy(x, c, size * sizeof *c);
    for (int k = 0; k < 6; k++) {
        tact_mechanism_solve(m, response->mechanism, x + k, 6);
    }
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++) {
                s[6 * i + k] -= share * c[6 * row + i] * x[6 * row + k];
            }
        }
    }
    response->impulse = x;
    response->coupling = c;
}

void tact_constraints_reduce_mobility(struct tact_world *world, struct block *block)
{
    const struct mechanisms *m = &world->mechanisms;
    double own = block->local.s[0];
    block->has_body_free_of_joints = 0;
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = block->owner[k];
        int mechanism =
            m->count && owner.kind == TACT_OWNER_BODY ? m->mechanism_of_body[owner.index] : -1;
        block->has_body_free_of_joints |= owner.kind == TACT_OWNER_BODY && mechanism < 0;
        block->response[k].mechanism =
            k && mechanism == block->response[0].mechanism ? -1 : mechanism;
    }
    for (int k = 0; k < 2; k++) {
        if (block->response[k].mechanism >= 0) {
            eliminate_mechanism_from_contact(world, block, &block->response[k]);
        }
    }
    block->is_normal_immobile = !(block->local.s[0] > MAX_MOBILITY_RATIO_OF_LOCKED_FREE_ROW * own);
}
