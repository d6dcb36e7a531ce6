#include "contact/world/hand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "contact/limits.h"
#include "contact/world/body.h"
#include "contact/linear.h"
#include "contact/world/hand_internal.h"

#define MAX_PASSES_TO_FIND_LIMITED_DRIVES                                                          \
    3 /* most passes of a tick that search for drives at their torque limits */
#define MAX_PREDICTED_ENERGY_RATIO                                                                 \
    4.0 /* largest kinetic energy at predicted rates, relative to that at the known rates */

/* Checks that the links of a moving base are links 0 to 5, in this order. */
static int check_base_links(const struct tact_link_def *links, int count)
{
    int has_moving_base = count > 0 && links[0].joint == TACT_JOINT_BASE;
    for (int i = 0; i < count; i++) {
        int is_base_coordinate = has_moving_base && i < TACT_HAND_BASE;
        if ((links[i].joint == TACT_JOINT_BASE) != is_base_coordinate ||
            (is_base_coordinate && (links[i].parent != i - 1 || links[i].start != 0.0 ||
                                    links[i].lower < links[i].upper || links[i].friction > 0.0))) {
            return -EINVAL;
        }
    }
    return has_moving_base && count < TACT_HAND_BASE ? -EINVAL : 0;
}

/* 1 for the first five of the six links of a moving base, which have no mass: the sixth has it. */
static int is_massless_base_link(const struct tact_link_def *def, int index)
{
    return def->joint == TACT_JOINT_BASE && index < TACT_HAND_BASE - 1;
}

static int check_link_definition(const struct tact_link_def *def, int index)
{
    struct tact_body body;
    double numbers = def->stiffness + def->damping + def->limit + def->start + def->lower +
                     def->upper + def->armature + def->viscous + def->friction;
    for (int i = 0; i < 3; i++) {
        numbers += def->axis[i] + def->origin.position[i] + def->center[i];
    }
    if (def->parent >= index || def->parent < -1 || !isfinite(numbers) || def->stiffness < 0.0 ||
        def->damping < 0.0 || def->limit < 0.0 || def->armature < 0.0 || def->viscous < 0.0 ||
        def->friction < 0.0 || !(tact_v3_norm(def->axis) > 0.0)) {
        return -EINVAL;
    }
    if (def->lower < def->upper && (def->start < def->lower || def->start > def->upper)) {
        return -EINVAL;
    }
    return is_massless_base_link(def, index) ? 0
                                             : tact_body_set_mass(&body, def->mass, def->inertia);
}

static void init_link_from_definition(struct link *link, const struct tact_link_def *def, int index)
{
    struct tact_body body;
    link->def = *def;
    if (is_massless_base_link(def, index)) {
        link->def.mass = 0.0;
    } else {
        tact_body_set_mass(&body, def->mass, def->inertia);
        memcpy(link->inertia, body.inertia, sizeof link->inertia);
    }
    link->is_rotational =
        def->joint == TACT_JOINT_HINGE || (def->joint == TACT_JOINT_BASE && index >= 3);
    tact_v3_normalize(link->def.axis, def->axis);
    tact_quat_normalize(link->def.origin.quat_wxyz);
}

/* Allocates the arrays of a hand; tact_hand_destroy() frees them, also after a failure. */
static int allocate_hand_arrays(struct tact_hand *hand, const struct tact_link_def *links,
                                int count)
{
    const size_t n = (size_t)(count > 0 ? count : 1);
    const int has_mimics_or_tendons = tact_hand_has_mimics_or_tendons(links, count);
    hand->links = calloc(n, sizeof *hand->links);
    hand->velocities = calloc(2 * n, sizeof *hand->velocities);
    hand->numbers =
        calloc(n * n * (size_t)(4 + has_mimics_or_tendons) + n * (18 + 2 * TACT_UNKNOWNS_PER_NODE),
               sizeof *hand->numbers);
    hand->rows = calloc(n, sizeof *hand->rows);
    hand->storage_of_integer_arrays =
        calloc(n * (7 + TACT_UNKNOWNS_PER_NODE), sizeof *hand->storage_of_integer_arrays);
    if (!hand->links || !hand->velocities || !hand->numbers || !hand->rows ||
        !hand->storage_of_integer_arrays) {
        return -ENOMEM;
    }
    hand->link_velocities_at_other_rates = hand->velocities + n;
    hand->count = count;
    hand->has_mimics_or_tendons = has_mimics_or_tendons;
    double *next = hand->numbers,
           **matrices[5] = {&hand->mass, &hand->matrix, &hand->full_matrix_factor.entry,
                            &hand->unlocked_matrix_factor.entry, &hand->coordinate_mass_matrix};
    for (int i = 0; i < 4 + has_mimics_or_tendons; i++) {
        *matrices[i] = next;
        next += n * n;
    }
    hand->coordinate_mass_matrix =
        has_mimics_or_tendons ? hand->coordinate_mass_matrix : hand->mass;
    double **pointers_to_joint_vectors_of_hand[20] = {&hand->state.q,
                                                      &hand->state.v,
                                                      &hand->state.target,
                                                      &hand->state.target_rate,
                                                      &hand->state.torque,
                                                      &hand->state.saturated,
                                                      &hand->state.reaction,
                                                      &hand->state.stop,
                                                      &hand->bias_torques,
                                                      &hand->velocity,
                                                      &hand->rhs,
                                                      &hand->scratch,
                                                      &hand->full_matrix_factor.inverse,
                                                      &hand->unlocked_matrix_factor.inverse,
                                                      &hand->implicit_drive_gains,
                                                      &hand->drive_impulses,
                                                      &hand->momentum,
                                                      &hand->momentum_before_tick,
                                                      &hand->w,
                                                      &hand->rate_changes_of_locked_coordinates};
    for (int i = 0; i < 20; i++) {
        *pointers_to_joint_vectors_of_hand[i] = next;
        next += i < 18 ? n : TACT_UNKNOWNS_PER_NODE * n;
    }
    int **pointers_to_integer_arrays_of_hand[8] = {&hand->parent,
                                                   &hand->up,
                                                   &hand->full_matrix_factor.list,
                                                   &hand->unlocked_matrix_factor.list,
                                                   &hand->unlocked_matrix_factor.up,
                                                   &hand->is_coordinate_locked,
                                                   &hand->slot_among_unlocked_coordinates,
                                                   &hand->coordinate_of_slot};
    for (size_t i = 0; i < 8; i++) {
        *pointers_to_integer_arrays_of_hand[i] = hand->storage_of_integer_arrays + i * n;
    }
    hand->full_matrix_factor.up = hand->up;
    hand->full_matrix_factor.count = count;
    for (int i = 0; i < count; i++) {
        hand->full_matrix_factor.list[i] = i;
    }
    return 0;
}

int tact_hand_create(const struct tact_link_def *links, int count, const struct tact_pose *base,
                     struct tact_hand **out)
{
    int rc = check_base_links(links, count);
    *out = NULL;
    for (int i = 0; !rc && i < count; i++) {
        rc = check_link_definition(&links[i], i);
    }
    rc = rc ? rc : tact_hand_check_mimics_and_tendons(links, count);
    if (rc) {
        return rc;
    }
    struct tact_hand *hand = calloc(1, sizeof *hand);
    if (!hand) {
        return -ENOMEM;
    }
    rc = allocate_hand_arrays(hand, links, count);
    if (!rc) {
        hand->base = *base;
        tact_quat_normalize(hand->base.quat_wxyz);
        hand->has_moving_base = count > 0 && links[0].joint == TACT_JOINT_BASE;
        for (int i = 0; i < count; i++) {
            init_link_from_definition(&hand->links[i], &links[i], i);
        }
        rc = tact_hand_set_up_coordinates(hand);
    }
    if (rc) {
        tact_hand_destroy(hand);
        return rc;
    }
    for (int i = 0; i < count; i++) {
        hand->state.q[i] = hand->links[i].def.start;
    }
    for (int i = 0; i < count; i++) {
        hand->state.target[i] = tact_hand_drive_value_or_rate(hand, i, hand->state.q);
    }
    tact_hand_divide_into_chains(hand);
    tact_hand_refresh(hand);
    *out = hand;
    return 0;
}

void tact_hand_destroy(struct tact_hand *hand)
{
    if (hand) {
        free(hand->links);
        free(hand->velocities);
        free(hand->tendon_terms);
        free(hand->numbers);
        free(hand->storage_of_integer_arrays);
        free(hand->rows);
        free(hand);
    }
}

TACT_IN_TICK_RECORD_SECTION int tact_hand_count(const struct tact_hand *hand)
{
    return hand->count;
}

int tact_hand_base_count(const struct tact_hand *hand)
{
    return hand->has_moving_base ? TACT_HAND_BASE : 0;
}

int tact_hand_parent(const struct tact_hand *hand, int link)
{
    return hand->links[link].def.parent;
}

TACT_IN_TICK_RECORD_SECTION struct tact_hand_state tact_hand_state(struct tact_hand *hand)
{
    return hand->state;
}

double *tact_hand_velocity(struct tact_hand *hand)
{
    return hand->velocity;
}

TACT_IN_TICK_RECORD_SECTION const struct tact_pose *
tact_hand_link_pose(const struct tact_hand *hand, int link)
{
    return &hand->links[link].pose;
}

int tact_hand_joints_of_drive(const struct tact_hand *hand, int i, int *count)
{
    int is_base_coordinate = hand->has_moving_base && i < TACT_HAND_BASE;
    *count = is_base_coordinate ? 3 : 1;
    return is_base_coordinate ? i / 3 * 3 : i;
}

/* Torque of a joint's drive at joint rate 0, not limited. */
static double unlimited_drive_torque_at_zero_rate(const struct tact_hand *hand, int i)
{
    const struct tact_link_def *def = &hand->links[i].def;
    if (tact_hand_matrices_of_coordinate(hand, i)) {
        return tact_hand_base_matrix_torque_at_zero_rate(hand, i);
    }
    if (tact_hand_axes_of_coordinate(hand, i)) {
        return tact_hand_base_torque_at_zero_rate(hand, i);
    }
    if (hand->has_moving_base && i < TACT_HAND_BASE) {
        return def->stiffness * hand->base_target_error[i] +
               def->damping * hand->base_target_twist[i];
    }
    return def->stiffness *
               (hand->state.target[i] - tact_hand_drive_value_or_rate(hand, i, hand->state.q)) +
           def->damping * hand->state.target_rate[i];
}

/* 1 where the drive of joint i is at its limit. Of a base with equal axes, an axis along which the
 * limited force has no component is not. */
static int is_drive_at_its_limit(const struct tact_hand *hand, int i)
{
    return tact_hand_axes_of_coordinate(hand, i) || tact_hand_matrices_of_coordinate(hand, i)
               ? tact_hand_is_base_drive_limited(hand, i)
               : hand->state.saturated[i] != 0.0;
}

/* Constant part of a drive's torque: that at joint rate 0, or the torque limit where the drive is
 * at it. */
static double limited_drive_torque_at_zero_rate(const struct tact_hand *hand, int i)
{
    const double sign_of_drive_saturation = hand->state.saturated[i];
    return is_drive_at_its_limit(hand, i) ? sign_of_drive_saturation * hand->links[i].def.limit
                                          : unlimited_drive_torque_at_zero_rate(hand, i);
}

/* What the joint rates of the tick take from the torque of a drive at rate 0. */
static double drive_torque_decrease_by_rates(const struct tact_hand *hand, int i, double h)
{
    const struct tact_link_def *def = &hand->links[i].def;
    if (tact_hand_matrices_of_coordinate(hand, i)) {
        return tact_hand_base_matrix_torque_of_rates(hand, i);
    }
    return tact_hand_axes_of_coordinate(hand, i)
               ? tact_hand_base_torque_of_rates(hand, i, h)
               : (h * def->stiffness + def->damping) *
                     tact_hand_drive_value_or_rate(hand, i, hand->velocity);
}

/* Torque of a drive at the joint rates of the tick, limited only where the drive is marked as at
 * its limit. */
static double drive_torque_at_tick_rates(const struct tact_hand *hand, int i, double h)
{
    double limited_torque_at_zero_rate = limited_drive_torque_at_zero_rate(hand, i);
    const int is_drive_saturated = is_drive_at_its_limit(hand, i);
    return is_drive_saturated
               ? limited_torque_at_zero_rate
               : limited_torque_at_zero_rate - drive_torque_decrease_by_rates(hand, i, h);
}

/* Factors the mass matrix with the implicit gains of the drives, and sets drive_impulses. */
static int factor_mass_with_drive_gains(struct tact_hand *hand, double h)
{
    double *diagonal = hand->scratch;
    const size_t size = (size_t)hand->count * sizeof *diagonal;
    memset(diagonal, 0, size);
    memset(hand->implicit_drive_gains, 0, size);
    tact_hand_base_set_gains(hand, h);
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        const struct tact_link_def *def = &link->def;
        const struct base_axis_drives *axes = tact_hand_axes_of_coordinate(hand, i);
        const struct base_matrix_drive *matrices = tact_hand_matrices_of_coordinate(hand, i);
        const double square = link->ratio * link->ratio;
        const double all = matrices ? matrices->impulse_gain[7 * i]
                           : axes   ? axes->gain[4 * (i % 3)]
                           : hand->state.saturated[i] == 0.0
                               ? h * def->damping + h * h * def->stiffness
                               : 0.0;
        const double own = def->tendon_count ? 0.0 : all;
        link->tendon_drive_gain = def->tendon_count ? all : 0.0;
        diagonal[link->coordinate] += square * (h * def->viscous + own);
        hand->implicit_drive_gains[link->coordinate] += square * own;
        hand->drive_impulses[i] = h * limited_drive_torque_at_zero_rate(hand, i);
    }
    return tact_hand_factor_mass_matrix(hand, diagonal);
}

/* Solves for the joint rates, (M + h D + h^2 K)^-1 (rhs + h drives + extra), and for the factored
 * rates w. */
static void solve_joint_rates(struct tact_hand *hand, const double *external_joint_impulse)
{
    for (int i = 0; i < hand->count; i++) {
        const int does_drive_act_on_tendon = hand->links[i].def.tendon_count > 0;
        hand->velocity[i] = hand->rhs[i] +
                            (does_drive_act_on_tendon ? 0.0 : hand->drive_impulses[i]) +
                            (external_joint_impulse ? external_joint_impulse[i] : 0.0);
    }
    for (int i = 0; i < hand->count && hand->has_mimics_or_tendons; i++) {
        const struct tact_link_def *def = &hand->links[i].def;
        for (int k = 0; k < def->tendon_count; k++) {
            hand->velocity[def->tendon[k].joint] +=
                def->tendon[k].coefficient * hand->drive_impulses[i];
        }
    }
    tact_hand_project_to_coordinates(hand, hand->velocity);
    tact_hand_apply_inverse_transpose(hand, hand->velocity);
    for (int i = 0; i < hand->count; i++) {
        if (tact_hand_is_independent_joint(hand, i)) {
            hand->w[hand->links[i].slot] = hand->velocity[i];
        }
    }
    tact_hand_apply_inverse_factor(hand, hand->velocity);
    tact_hand_expand_to_joints(hand, hand->velocity);
}

/* Length of the torque that the drive of joint i demands at these joint rates, not limited, from
 * drive_torque_at_tick_rates() of its joints. */
static double demanded_torque_magnitude(const double *torque, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += torque[i] * torque[i];
    }
    return count > 1 ? sqrt(sum) : fabs(*torque);
}

/* Marks the drives whose torque would exceed its limit; returns how many were not marked before.
 * The torque of a base with matrices depends on whether its force is at the limit, and is marked by
 * a later pass. */
static int mark_drives_at_torque_limit(struct tact_hand *hand, double h)
{
    int found = 0, count;
    for (int i = 0; i < hand->count; i += count) {
        double limit = hand->links[i].def.limit, torque[3];
        tact_hand_joints_of_drive(hand, i, &count);
        if (i == 3 && found && tact_hand_matrices_of_coordinate(hand, i)) {
            continue;
        }
        int is_drive_saturated = 0;
        for (int k = 0; k < count; k++) {
            torque[k] = drive_torque_at_tick_rates(hand, i + k, h);
            is_drive_saturated |= hand->state.saturated[i + k] != 0.0;
        }
        const double length = demanded_torque_magnitude(torque, count);
        for (int k = 0; k < count && limit > 0.0 && !is_drive_saturated && length > limit; k++) {
            hand->state.saturated[i + k] =
                count > 1 ? torque[k] / length : copysign(1.0, torque[k]);
            found += !k;
        }
    }
    return found;
}

/* out = M x for joint rates x: a joint is coupled to those above it in the tree of links. */
static void multiply_by_hand_mass_matrix(const struct tact_hand *hand, const double *x, double *out)
{
    for (int i = 0; i < hand->count; i++) {
        const double *row = hand->mass + i * hand->count;
        double sum = row[i] * x[i];
        for (int j = hand->parent[i]; j >= 0; j = hand->parent[j]) {
            sum += row[j] * x[j];
            out[j] += row[j] * x[i];
        }
        out[i] = sum;
    }
}

/* Sets rhs to the momentum M v of the rates before the tick less h times the bias torque. */
static void set_momentum_after_bias(struct tact_hand *hand, double h)
{
    for (int i = 0; i < hand->count; i++) {
        hand->rhs[i] = hand->momentum_before_tick[i] - h * hand->bias_torques[i];
    }
}

/* Twice the kinetic energy at joint rates. */
static double twice_kinetic_energy(struct tact_hand *hand, const double *rates)
{
    multiply_by_hand_mass_matrix(hand, rates, hand->momentum);
    return tact_dot(rates, hand->momentum, hand->count);
}

/* Joint rates belong to the middle of a tick, and Coriolis and centrifugal torques to the time
 * between two ticks: the torques are evaluated at the mean of the rates before the tick and those
 * that are predicted after it, hand->velocity. The impulse of an impact does not act again in the
 * next tick: predicted with it, the rates of a body that bounced have nine times its energy, and
 * torques that grow with their square could make motion diverge. Rates of over four times the
 * energy before the tick and without the impulse are not used. */
static void recompute_bias_at_mean_rates(struct tact_hand *hand, double h, const double gravity[3],
                                         const double *impulse)
{
    memcpy(hand->scratch, hand->velocity, (size_t)hand->count * sizeof *hand->scratch);
    hand->has_bias_at_last_rates = 0;
    if (impulse) {
        solve_joint_rates(hand, NULL);
        const double predicted_kinetic_energy = twice_kinetic_energy(hand, hand->scratch),
                     energy_known_before_tick =
                         tact_dot(hand->state.v, hand->momentum_before_tick, hand->count) +
                         twice_kinetic_energy(hand, hand->velocity);
        if (!(predicted_kinetic_energy <= MAX_PREDICTED_ENERGY_RATIO * energy_known_before_tick)) {
            hand->has_bias_at_last_rates = 1;
            return;
        }
    }
    for (int i = 0; i < hand->count; i++) {
        hand->scratch[i] = 0.5 * (hand->state.v[i] + hand->scratch[i]);
    }
    tact_hand_compute_bias_torques_at_rates(hand, hand->scratch, gravity, hand->bias_torques);
    set_momentum_after_bias(hand, h);
}

/* Predicts the joint rates with the impulse expected from contacts, and the drives at their limits
 * at these rates. */
static int predict_joint_rates(struct tact_hand *hand, double h, const double *impulse)
{
    int has_drive_torque_limits = 0, rc = factor_mass_with_drive_gains(hand, h);
    for (int i = 0; i < hand->count; i++) {
        has_drive_torque_limits |= hand->links[i].def.limit > 0.0;
    }
    for (int pass = 0; !rc && pass < MAX_PASSES_TO_FIND_LIMITED_DRIVES; pass++) {
        solve_joint_rates(hand, impulse);
        if (!has_drive_torque_limits || !mark_drives_at_torque_limit(hand, h)) {
            break;
        }
        rc = factor_mass_with_drive_gains(hand, h);
    }
    return rc;
}

int tact_hand_free_velocity(struct tact_hand *hand, double h, const double gravity[3],
                            const double *impulse)
{
    tact_hand_mass_matrix(hand, hand->mass);
    tact_hand_compute_coordinate_mass(hand);
    tact_hand_compute_bias_torques(hand, gravity, hand->bias_torques);
    multiply_by_hand_mass_matrix(hand, hand->state.v, hand->momentum_before_tick);
    set_momentum_after_bias(hand, h);
    memset(hand->state.saturated, 0, (size_t)hand->count * sizeof *hand->state.saturated);
    if (hand->has_moving_base) {
        tact_hand_base_update_target_error(hand);
        tact_hand_base_update_axis_springs(hand);
    }
    if (hand->base_matrix_drive.is_base_drive_set) {
        tact_hand_base_update_matrices(hand, h);
    }
    int rc = predict_joint_rates(hand, h, impulse);
    if (!rc) {
        recompute_bias_at_mean_rates(hand, h, gravity, impulse);
        solve_joint_rates(hand, NULL);
    }
    return rc;
}

/* Margin to the torque limit of the drive of a joint, or of the group of coordinates of a base that
 * it is in. */
static double drive_torque_margin(const struct tact_hand *hand, int joint, double h, int *saturated)
{
    int count, first = tact_hand_joints_of_drive(hand, joint, &count);
    const double limit = hand->links[first].def.limit;
    double torque[3];
    if (!(limit > 0.0)) {
        return 1.0;
    }
    for (int k = 0; k < count; k++) {
        torque[k] = unlimited_drive_torque_at_zero_rate(hand, first + k) -
                    drive_torque_decrease_by_rates(hand, first + k, h);
        *saturated |= hand->state.saturated[first + k] != 0.0;
    }
    return tact_margin(demanded_torque_magnitude(torque, count), limit);
}

/* 1 where a drive moves a joint: it is the joint's own, that of a joint tied to it by a mimic law,
 * or one on a tendon of either. */
static int does_drive_act_on_joint(const struct tact_hand *hand, int drive, int joint)
{
    const struct tact_link_def *def = &hand->links[drive].def;
    const int coordinate = hand->links[joint].coordinate;
    int does_drive_reach_coordinate =
        !def->tendon_count && hand->links[drive].coordinate == coordinate;
    for (int k = 0; k < def->tendon_count; k++) {
        does_drive_reach_coordinate |= hand->links[def->tendon[k].joint].coordinate == coordinate;
    }
    return does_drive_reach_coordinate;
}

double tact_hand_drive_margin(const struct tact_hand *hand, int link, double h, int *saturated)
{
    double least = 1.0;
    *saturated = 0;
    for (int i = link; i >= 0; i = hand->links[i].def.parent) {
        const int first = hand->has_mimics_or_tendons ? 0 : i,
                  end = hand->has_mimics_or_tendons ? hand->count : i + 1;
        for (int k = first; k < end; k++) {
            if (!hand->has_mimics_or_tendons || does_drive_act_on_joint(hand, k, i)) {
                least = fmin(least, drive_torque_margin(hand, k, h, saturated));
            }
        }
    }
    return least;
}

/* Stores the drive torques at the joint rates of the tick, within their limits. */
static void store_drive_torques(struct tact_hand *hand, double h)
{
    int count;
    for (int i = 0; i < hand->count; i += count) {
        double limit = hand->links[i].def.limit, *torque = hand->state.torque + i;
        tact_hand_joints_of_drive(hand, i, &count);
        for (int k = 0; k < count; k++) {
            torque[k] = drive_torque_at_tick_rates(hand, i + k, h);
        }
        const double length = demanded_torque_magnitude(torque, count);
        for (int k = 0; k < count && limit > 0.0 && length > limit; k++) {
            torque[k] = count > 1 ? torque[k] * limit / length : copysign(limit, torque[k]);
        }
    }
}

void tact_hand_integrate(struct tact_hand *hand, double h)
{
    store_drive_torques(hand, h);
    for (int i = 0; i < hand->count; i++) {
        hand->state.v[i] = hand->velocity[i];
    }
    for (int i = hand->has_moving_base ? TACT_HAND_BASE : 0; i < hand->count; i++) {
        hand->state.q[i] += h * hand->velocity[i];
    }
    tact_hand_apply_mimic_laws(hand);
    if (hand->has_moving_base) {
        tact_hand_base_advance_coordinates(hand, h);
        tact_hand_base_store_axes_moment(hand, h);
    }
    tact_hand_refresh(hand);
}
