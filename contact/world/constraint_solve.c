/*
 * Joints in the sweeps: the constraint at the end of the tick, and friction, damping and stops of
 * the free direction.
 *
 * Let w be the error at the end of the tick at the present velocities, divided by the period. The
 * impulses of the constrained rows of a mechanism change by -A^-1 w: Newton's step for the
 * constraints at the final poses.
 */
#include <string.h>
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

#define MIN_ROTATION_FOR_FIRST_ORDER_JOINTS                                                        \
    0.3 /* rotation of a body in a tick above which its joints are satisfied to first order only   \
         * [rad]                                                                                   \
         */

static void apply_constraint_impulse(struct tact_world *world, const struct world_constraint *w,
                                     const double *impulse)
{
    for (int k = 0; k < 2; k++) {
        struct tact_body *body = tact_constraint_body_on_side(world, w, k);
        if (body) {
            tact_rows_apply_impulse(body->twist, w->y[k], impulse, 6);
        }
    }
}

void tact_constraints_apply_impulses(struct tact_world *world, const struct island *island)
{
    for (int i = 0; i < island->constraints.count; i++) {
        const struct world_constraint *w = &world->constraints[island->constraints.at[i]];
        apply_constraint_impulse(world, w, w->constraint.impulse);
    }
}

/* Joint error at the end of the tick to first order in the velocities, for rotations so fast that
 * Newton's step would not converge. */
static void linearised_joint_error_rates(const struct tact_world *world,
                                         const struct world_constraint *w, double e[6])
{
    double h = world->options.period;
    tact_constraint_joint_error(&w->constraint,
                                tact_constraint_pose_of_owner(world, w->constraint.a),
                                tact_constraint_pose_of_owner(world, w->constraint.b), e);
    for (int i = 0; i < 6; i++) {
        e[i] = (e[i] - w->uncorrected_joint_error[i]) / h;
    }
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
        if (body) {
            tact_rows_add_velocity(e, w->j[k], body->twist, 6);
        }
    }
}

/* Joint error at the end of the tick at the present velocities, without uncorrected_joint_error,
 * over the period.
 */
static void joint_error_rates(const struct tact_world *world, const struct world_constraint *w,
                              double e[6])
{
    struct tact_body body_after_drift;
    struct tact_pose pose[2];
    double h = world->options.period;
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = k ? w->constraint.b : w->constraint.a;
        const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
        pose[k] = *tact_constraint_pose_of_owner(world, owner);
        if (body && tact_v3_norm(body->twist + 3) * h > MIN_ROTATION_FOR_FIRST_ORDER_JOINTS) {
            linearised_joint_error_rates(world, w, e);
            return;
        }
        if (body) {
            body_after_drift = *body;
            tact_body_drift(&body_after_drift, h);
            pose[k] = body_after_drift.pose;
        }
    }
    tact_constraint_joint_error(&w->constraint, &pose[0], &pose[1], e);
    for (int i = 0; i < 6; i++) {
        e[i] = (e[i] - w->uncorrected_joint_error[i]) / h;
    }
}

/* Impulse of a joint's free row whose rate without it would be u: of dry friction and damping,
 * implicit, and of a stop for the rate that remains. */
static double free_row_impulse(const struct tact_world *world, struct world_constraint *w, double u)
{
    const struct tact_constraint *constraint = &w->constraint;
    double h = world->options.period, s = w->free_row_mobility,
           stick = s * constraint->friction * h;
    double rate =
        fabs(u) > stick ? (u - copysign(stick, u)) / (1.0 + s * constraint->damping * h) : 0.0;
    w->constraint.stop =
        rate < w->lowest_rate_within_stops ? -1 : rate > w->highest_rate_within_stops;
    if (w->constraint.stop) {
        rate = w->constraint.stop < 0 ? w->lowest_rate_within_stops : w->highest_rate_within_stops;
    }
    return s > 0.0 && rate != u ? (rate - u) / s : 0.0;
}

/* Adds factor * x to the impulses of the constrained rows of a mechanism. */
static void add_to_constrained_impulses(struct tact_world *world, int mechanism, const double *x,
                                        double factor)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->list[mechanism];
    for (int i = p->constraint; i < p->constraint_end; i++) {
        struct world_constraint *w = &world->constraints[m->order[i]];
        double impulse_change[6] = {0.0};
        for (int k = 0; k < w->count; k++) {
            impulse_change[w->constrained_row_indices[k]] = factor * x[w->row + k - p->row];
            w->constraint.impulse[w->constrained_row_indices[k]] +=
                impulse_change[w->constrained_row_indices[k]];
        }
        apply_constraint_impulse(world, w, impulse_change);
    }
}

void tact_constraints_correct_contact_velocity(const struct tact_world *world,
                                               const struct block *block, const double *r,
                                               double u[6])
{
    const struct mechanisms *m = &world->mechanisms;
    for (int side = 0; side < 2 && m->count && !block->has_body_free_of_joints; side++) {
        const struct mechanism_response *response = &block->response[side];
        if (response->mechanism < 0) {
            continue;
        }
        const struct mechanism *p = &m->list[response->mechanism];
        for (int row = p->row; row < p->row_end; row++) {
            const double *x = response->impulse + 6 * (row - p->row);
            const double *c = response->coupling + 6 * (row - p->row);
            double sum_of_constrained_impulses = 0.0;
            for (int k = 0; k < 6; k++) {
                sum_of_constrained_impulses += x[k] * r[k];
            }
            for (int k = 0; k < 6; k++) {
                u[k] += TACT_JOINT_COMPLIANCE_TO_MOBILITY * c[k] * sum_of_constrained_impulses -
                        x[k] * m->constrained_row_velocities[row];
            }
        }
    }
}

void tact_constraints_apply_response_to_contact(struct tact_world *world, const struct block *block,
                                                const double *impulse_change)
{
    struct mechanisms *m = &world->mechanisms;
    for (int side = 0; side < 2 && m->count; side++) {
        const struct mechanism_response *response = &block->response[side];
        if (response->mechanism < 0) {
            continue;
        }
        int rows = m->list[response->mechanism].row_end - m->list[response->mechanism].row;
        for (int i = 0; i < rows; i++) {
            m->work[i] = 0.0;
            for (int k = 0; k < 6; k++) {
                m->work[i] -= response->impulse[6 * i + k] * impulse_change[k];
            }
        }
        add_to_constrained_impulses(world, response->mechanism, m->work, 1.0);
    }
}

/* Square of a joint's impulse, with torques scaled to forces. */
static double squared_joint_impulse(const struct world_constraint *w, const double *r)
{
    double unit = w->joint_torque_to_force_scale * w->joint_torque_to_force_scale;
    return tact_v3_dot(r, r) + unit * tact_v3_dot(r + 3, r + 3);
}

/* Computes the velocities of a mechanism's constrained rows. */
static void compute_constrained_row_velocities(struct tact_world *world, int mechanism)
{
    struct mechanisms *m = &world->mechanisms;
    for (int i = m->list[mechanism].constraint; i < m->list[mechanism].constraint_end; i++) {
        const struct world_constraint *w = &world->constraints[m->order[i]];
        double u[6] = {0.0};
        for (int k = 0; k < 2; k++) {
            const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
            if (body) {
                tact_rows_add_velocity(u, w->j[k], body->twist, 6);
            }
        }
        for (int k = 0; k < w->count; k++) {
            m->constrained_row_velocities[w->row + k] = u[w->constrained_row_indices[k]];
        }
    }
}

/* One Newton step for the impulses of a mechanism's constrained rows; returns the residual. */
static double solve_mechanism_constraints(struct tact_world *world, int mechanism, double *change)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->list[mechanism];
    double *x = m->work, worst = 0.0;
    int does_error_exceed_rounding = 0;
    for (int i = p->constraint; i < p->constraint_end; i++) {
        const struct world_constraint *w = &world->constraints[m->order[i]];
        double e[6];
        joint_error_rates(world, w, e);
        for (int k = 0; k < w->count; k++) {
            x[w->row - p->row + k] = -e[w->constrained_row_indices[k]];
            does_error_exceed_rounding |=
                fabs(e[w->constrained_row_indices[k]]) >
                w->joint_error_rounding_rate[w->constrained_row_indices[k] / 3];
        }
    }
    tact_mechanism_solve(m, mechanism, x, 1);
    for (int i = p->constraint; i < p->constraint_end; i++) {
        const struct world_constraint *w = &world->constraints[m->order[i]];
        double impulse_change[6] = {0.0}, after[6];
        memcpy(after, w->constraint.impulse, sizeof after);
        for (int k = 0; k < w->count; k++) {
            impulse_change[w->constrained_row_indices[k]] = x[w->row - p->row + k];
            after[w->constrained_row_indices[k]] += impulse_change[w->constrained_row_indices[k]];
        }
        double squared_joint_impulse_change = squared_joint_impulse(w, impulse_change),
               most = tact_max(squared_joint_impulse(w, w->constraint.impulse),
                               squared_joint_impulse(w, after));
        *change += squared_joint_impulse_change;
        worst = does_error_exceed_rounding && most > 0.0
                    ? tact_max(worst, sqrt(squared_joint_impulse_change / most))
                    : worst;
    }
    add_to_constrained_impulses(world, mechanism, x, 1.0);
    compute_constrained_row_velocities(world, mechanism);
    return worst;
}

/* Solves the free row of a joint once; returns the residual. */
static double solve_free_row_of_joint(struct tact_world *world, struct world_constraint *w,
                                      double *change)
{
    double u[6] = {0.0}, old = w->constraint.impulse[w->free_direction_row_of_joint];
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
        if (body) {
            tact_rows_add_velocity(u, w->j[k], body->twist, 6);
        }
    }
    double impulse_change =
        free_row_impulse(world, w, u[w->free_direction_row_of_joint] - w->free_row_mobility * old) -
        old;
    if (impulse_change == 0.0) {
        return 0.0;
    }
    double all[6] = {0.0}, most = squared_joint_impulse(w, w->constraint.impulse);
    int does_error_exceed_rounding =
        fabs(impulse_change) * w->free_row_mobility >
        w->joint_error_rounding_rate[w->free_direction_row_of_joint / 3];
    all[w->free_direction_row_of_joint] = impulse_change;
    w->constraint.impulse[w->free_direction_row_of_joint] += impulse_change;
    apply_constraint_impulse(world, w, all);
    add_to_constrained_impulses(world, w->mechanism, w->joint_impulses_per_free_row_impulse,
                                -impulse_change);
    double moved = squared_joint_impulse(w, all);
    *change += moved;
    most = tact_max(most, squared_joint_impulse(w, w->constraint.impulse));
    return does_error_exceed_rounding && most > 0.0 ? sqrt(moved / most) : 0.0;
}

double tact_constraints_solve_in_sweep(struct tact_world *world, struct island *island)
{
    double worst = 0.0;
    for (int i = 0; i < island->mechanisms.count; i++) {
        worst = tact_max(
            worst, solve_mechanism_constraints(world, island->mechanisms.at[i], &island->change));
    }
    for (int i = 0; i < island->constraints.count; i++) {
        struct world_constraint *w = &world->constraints[island->constraints.at[i]];
        if (w->free_direction_row_of_joint >= 0) {
            worst = tact_max(worst, solve_free_row_of_joint(world, w, &island->change));
        }
        island->size += squared_joint_impulse(w, w->constraint.impulse);
    }
    return worst;
}

void tact_constraints_copy_impulses(struct tact_world *world, const struct island *island,
                                    double *impulses, int back)
{
    for (int i = 0; i < island->constraints.count; i++) {
        struct world_constraint *w = &world->constraints[island->constraints.at[i]];
        if (w->free_direction_row_of_joint < 0) {
            impulses[i] = 0.0;
        } else if (!back) {
            impulses[i] = w->constraint.impulse[w->free_direction_row_of_joint];
        } else {
            double impulse_change =
                impulses[i] - w->constraint.impulse[w->free_direction_row_of_joint];
            w->constraint.impulse[w->free_direction_row_of_joint] = impulses[i];
            add_to_constrained_impulses(world, w->mechanism, w->joint_impulses_per_free_row_impulse,
                                        -impulse_change);
        }
    }
}

void tact_constraints_set_unknown_scales(const struct tact_world *world,
                                         const struct island *island, double *scale)
{
    for (int i = 0; i < island->constraints.count; i++) {
        const struct world_constraint *w = &world->constraints[island->constraints.at[i]];
        scale[i] = w->free_direction_row_of_joint < 3 ? 1.0 : w->joint_torque_to_force_scale;
    }
}

double tact_constraints_impulse_work(const struct tact_world *world, const struct island *island)
{
    double work = 0.0;
    for (int i = 0; i < island->constraints.count; i++) {
        const struct world_constraint *w = &world->constraints[island->constraints.at[i]];
        double u[6] = {0.0};
        for (int k = 0; k < 2; k++) {
            const struct tact_body *body = tact_constraint_body_on_side(world, w, k);
            if (body) {
                tact_rows_add_velocity(u, w->j[k], body->twist, 6);
            }
        }
        for (int k = 0; k < 6; k++) {
            work += u[k] * w->constraint.impulse[k];
        }
    }
    return work;
}

void tact_constraints_store_wrenches(struct tact_world *world)
{
    double ticks_per_second = 1.0 / world->options.period;
    for (int i = 0; i < world->constraint_count; i++) {
        struct world_constraint *w = &world->constraints[i];
        tact_m3_tmul_v3(w->constraint.wrench, w->rows, w->constraint.impulse);
        tact_m3_tmul_v3(w->constraint.wrench + 3, w->rows, w->constraint.impulse + 3);
        for (int k = 0; k < 6; k++) {
            w->constraint.wrench[k] *= ticks_per_second;
        }
    }
}

void tact_constraints_zero_impulses(struct tact_world *world)
{
    for (int i = 0; i < world->constraint_count; i++) {
        memset(world->constraints[i].constraint.impulse, 0,
               sizeof world->constraints[i].constraint.impulse);
        memset(world->constraints[i].constraint.wrench, 0,
               sizeof world->constraints[i].constraint.wrench);
    }
}
