/*
 * Tools: bases of hands that devices lead. The target of a base moves as its device does, from
 * where the base is when it engages: at the start, and after the clutch was held, the deadman was
 * released, or the device was lost or not heard. Force and torque go out in the device's axes, and
 * fade out and in where the device does not lead. Real-time safe but for
 * tact_session_connect_tools().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/session_internal.h"

/* length below which a quaternion from four channels is no attitude */
#define MIN_QUATERNION_LENGTH 0.5
/* change of a rotation vector in a tick above which the vector has flipped [rad] */
#define ROTATION_VECTOR_FLIP_ANGLE 3.0

static const double identity_quaternion[4] = {1.0, 0.0, 0.0, 0.0};

static int find_tool_channels(struct tact_session *s, uint32_t tool, const char *key,
                              char *const *names, uint32_t count, int *channels,
                              struct tact_error *err)
{
    int rc = 0, device;
    for (uint32_t i = 0; !rc && i < count; i++) {
        char path[64], channel[4 * TACT_DEVICE_NAME];
        snprintf(path, sizeof path, "tools[%u].%s[%u]", tool, key, i);
        snprintf(channel, sizeof channel, "%s.%s", s->scene->tools[tool].device, names[i]);
        rc = tact_session_find_channel(s, channel, 0, path, &device, &channels[i], err);
    }
    return rc;
}

static int find_tool_button(struct tact_session *s, uint32_t tool, const char *key,
                            const char *path, struct session_tool_button *button,
                            struct tact_error *err)
{
    char key_path[64];
    button->device = -1;
    snprintf(key_path, sizeof key_path, "tools[%u].%s", tool, key);
    return path ? tact_session_find_channel(s, path, 0, key_path, &button->device, &button->channel,
                                            err)
                : 0;
}

/* Finds the couplings of a base that a tool moves: the position's and the attitude's, or NULL. */
static void attach_couplings_of_tool(struct tact_session *s, struct session_tool *tool)
{
    const struct tact_scene_tool *def = tool->def;
    for (int part = 0; part < 2; part++) {
        const uint32_t count = part ? def->attitude_count : def->position_count;
        tool->first_coupling[part] =
            count ? tact_session_find_coupling(s, tool->hand, 3 * part) : NULL;
        for (int i = 0; tool->first_coupling[part] && i < 3; i++) {
            tool->first_coupling[part][i].tool = tool;
            tool->first_coupling[part][i].device_force_ratio = def->force_scale;
        }
    }
}

static int map_tool_channels(struct tact_session *s, uint32_t index, struct tact_error *err)
{
    const struct tact_scene_tool *def = &s->scene->tools[index];
    struct session_tool *tool = &s->tools[index];
    *tool = (struct session_tool){.def = def,
                                  .is_rate_controlled = !strcmp(def->mode, "rate"),
                                  .longest_input_gap_ticks =
                                      fmax(1.0, MAX_DEVICE_INPUT_GAP / s->period),
                                  .state = {.quat_wxyz = {1.0}, .is_tool_disengaged = 1.0}};
    while (strcmp(s->scene->devices[tool->device].name, def->device)) {
        tool->device++;
    }
    while (strcmp(s->scene->hands[tool->hand].name, def->hand)) {
        tool->hand++;
    }
    tact_quat_to_m3(tool->axes, def->quat_wxyz);
    attach_couplings_of_tool(s, tool);
    int rc = find_tool_channels(s, index, "position", def->position, def->position_count,
                                tool->position, err);
    rc = rc ? rc
            : find_tool_channels(s, index, "attitude", def->attitude, def->attitude_count,
                                 tool->attitude, err);
    rc = rc ? rc : find_tool_button(s, index, "clutch", def->clutch, &tool->clutch, err);
    return rc ? rc : find_tool_button(s, index, "fine", def->fine, &tool->fine, err);
}

int tact_session_connect_tools(struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    s->tools = calloc(s->scene->tools_count + 1, sizeof *s->tools);
    if (!s->tools) {
        return -ENOMEM;
    }
    s->tool_count = (int)s->scene->tools_count;
    for (uint32_t i = 0; !rc && i < s->scene->tools_count; i++) {
        rc = map_tool_channels(s, i, err);
    }
    return rc;
}

static int is_button_pressed(const struct tact_session *s, const struct session_tool_button *button)
{
    return button->device >= 0 && s->devices[button->device].input.state != TACT_DEVICE_LOST &&
           s->devices[button->device].input.channel[button->channel] > 0.5;
}

int tact_session_is_tool_clutch_pressed(const struct tact_session *s)
{
    int is_any_clutch_pressed = 0;
    for (int i = 0; i < s->tool_count; i++) {
        is_any_clutch_pressed |= is_button_pressed(s, &s->tools[i].clutch);
    }
    return is_any_clutch_pressed;
}

/* Reads displacement [m] and attitude of the device, world axes, or of mode rate two vectors of
 * channels; returns 0 where they are not usable. */
static int read_device_pose(const struct tact_session *s, const struct session_tool *tool,
                            double position[3], double attitude[4])
{
    const double *channel = s->devices[tool->device].input.channel;
    double position_channel_values[3] = {0.0}, attitude_channels[4] = {0.0};
    for (uint32_t i = 0; i < tool->def->position_count; i++) {
        position_channel_values[i] = channel[tool->position[i]];
    }
    for (uint32_t i = 0; i < tool->def->attitude_count; i++) {
        attitude_channels[i] = channel[tool->attitude[i]];
    }
    for (int i = 0; i < 3; i++) {
        if (!isfinite(position_channel_values[i]) || !isfinite(attitude_channels[i])) {
            return 0;
        }
    }
    tact_m3_mul_v3(position, tool->axes, position_channel_values);
    if (tool->is_rate_controlled) {
        tact_m3_mul_v3(attitude, tool->axes, attitude_channels);
        return 1;
    }
    if (tool->def->attitude_count < 4) {
        double rotation_vector[3] = {attitude_channels[0], attitude_channels[1],
                                     attitude_channels[2]};
        tact_quat_from_rotvec(attitude_channels, rotation_vector);
    }
    const double squared_quaternion_length =
        attitude_channels[0] * attitude_channels[0] +
        tact_v3_dot(attitude_channels + 1, attitude_channels + 1);
    if (!(squared_quaternion_length > MIN_QUATERNION_LENGTH * MIN_QUATERNION_LENGTH &&
          isfinite(squared_quaternion_length))) {
        return 0;
    }
    tact_quat_normalize(attitude_channels);
    attitude[0] = attitude_channels[0];
    tact_m3_mul_v3(attitude + 1, tool->axes, attitude_channels + 1);
    return 1;
}

/* Rotation vector of the rotation from one attitude to another. */
static void compute_rotation_between(double out[3], const double from[4], const double to[4])
{
    const double inverse_of_first_rotation[4] = {from[0], -from[1], -from[2], -from[3]};
    double rotation[4];
    tact_quat_mul(rotation, to, inverse_of_first_rotation);
    tact_quat_to_rotvec(out, rotation);
}

/* Returns 1 if the tool's device engages in this tick, and updates the fraction of its force. */
static int update_tool_engagement(const struct tact_session *s, struct session_tool *tool,
                                  double now, int is_device_pose_usable)
{
    struct session_tool_state *state = &tool->state;
    const int device = s->devices[tool->device].input.state;
    const double ticks_since_device_input = now - state->ticks, fraction_step = s->safety.ramp_step;
    const int is_device_input_recent =
        state->ticks > 0.0 && ticks_since_device_input <= tool->longest_input_gap_ticks;
    if (!is_device_pose_usable || device == TACT_DEVICE_LOST ||
        (device != TACT_DEVICE_STALE && !is_device_input_recent)) {
        state->is_tool_disengaged = 1.0;
        state->force_fraction = 0.0;
    }
    const int is_tool_engagement_prevented =
        !is_device_pose_usable || device == TACT_DEVICE_LOST ||
        is_button_pressed(s, &tool->clutch) ||
        (device == TACT_DEVICE_STALE && ticks_since_device_input > tool->longest_input_gap_ticks);
    if (is_tool_engagement_prevented) {
        state->is_tool_disengaged = 1.0;
    }
    const double previous_force_fraction = state->force_fraction;
    state->force_fraction = state->is_tool_disengaged > 0.0
                                ? fmax(0.0, previous_force_fraction - fraction_step)
                                : fmin(1.0, previous_force_fraction + fraction_step);
    if (!is_tool_engagement_prevented && state->is_tool_disengaged > 0.0 &&
        state->force_fraction == 0.0) {
        state->is_tool_disengaged = 0.0;
        return 1;
    }
    return 0;
}

/* Applies a dead zone to a vector of channels: its length becomes 0 to 1. */
static void apply_dead_zone(double v[3], double dead_zone)
{
    const double length = tact_v3_norm(v);
    const double length_beyond_dead_zone =
        fmin(1.0, fmax(0.0, (length - dead_zone) / (1.0 - dead_zone)));
    tact_v3_scale(v, v, length > 0.0 ? length_beyond_dead_zone / length : 0.0);
}

/* Computes the motion of a rate-controlled target within the tick, as displacement and rotation
 * vector, world axes, from rates along the axes of the tool. */
static void add_displacement_of_rate_channels(const struct tact_session *s,
                                              const struct session_tool *tool,
                                              const double target[6], double displacement[3],
                                              double rotation_vector[3])
{
    const struct tact_scene_tool *def = tool->def;
    const struct tact_scene_hand *hand = &s->scene->hands[tool->hand];
    double turn[4], attitude[4], axes[9];
    tact_quat_from_rotvec(turn, target + 3);
    tact_quat_mul(attitude, turn, hand->quat_wxyz);
    tact_quat_to_m3(axes, attitude);
    apply_dead_zone(displacement, def->dead_zone);
    apply_dead_zone(rotation_vector, def->dead_zone);
    tact_m3_mul_v3(displacement, axes,
                   (const double[3]){displacement[0], displacement[1], displacement[2]});
    tact_m3_mul_v3(rotation_vector, axes,
                   (const double[3]){rotation_vector[0], rotation_vector[1], rotation_vector[2]});
    tact_v3_scale(displacement, displacement, def->speed * s->period);
    tact_v3_scale(rotation_vector, rotation_vector, def->turn_speed * s->period);
}

/* Stiffness of the coupling of the tool's base along an error, of its position or attitude (part
 * 1), world axes: the length of force or torque over that of the error. */
static double coupling_stiffness_along(const struct tact_session *s,
                                       const struct session_tool *tool, int part,
                                       const double error[3])
{
    const struct tact_scene_hand *hand = &s->scene->hands[tool->hand];
    const double length = tact_v3_norm(error);
    double along[3];
    if (!tact_scene_has_unequal_axes(hand, part) || !(length > 0.0)) {
        return hand->links[3 * part].joint.coupling->stiffness;
    }
    tact_m3_tmul_v3(along, tool->axes, error);
    for (int i = 0; i < 3; i++) {
        along[i] *= hand->links[3 * part + i].joint.coupling->stiffness;
    }
    return tact_v3_norm(along) / length;
}

/* Limits a rate-controlled target to the distance at which the coupling reaches its force limit, so
 * that it does not run away from a blocked tool. */
static void limit_target_distance_from_base(const struct tact_session *s,
                                            const struct session_tool *tool, const double q[6],
                                            double target[6])
{
    const struct tact_scene_base *base = s->scene->hands[tool->hand].base;
    double tool_base_attitude[4], target_attitude[4], error[3], limited_rotation[4];
    if (tool->first_coupling[0] && base->limit > 0.0) {
        tact_v3_sub(error, target, q);
        const double max_distance = base->limit / coupling_stiffness_along(s, tool, 0, error),
                     length = tact_v3_norm(error);
        if (length > max_distance) {
            tact_v3_copy(target, q);
            tact_v3_axpy(target, max_distance / length, error);
        }
    }
    if (tool->first_coupling[1] && base->turn_limit > 0.0) {
        tact_quat_from_rotvec(tool_base_attitude, q + 3);
        tact_quat_from_rotvec(target_attitude, target + 3);
        compute_rotation_between(error, tool_base_attitude, target_attitude);
        const double max_distance = base->turn_limit / coupling_stiffness_along(s, tool, 1, error);
        const double length = tact_v3_norm(error);
        if (length > max_distance) {
            tact_v3_scale(error, error, max_distance / length);
            tact_quat_from_rotvec(limited_rotation, error);
            tact_quat_mul(target_attitude, limited_rotation, tool_base_attitude);
            tact_quat_to_rotvec(target + 3, target_attitude);
        }
    }
}

static double device_to_tool_motion_scale(const struct tact_session *s,
                                          const struct session_tool *tool)
{
    return tool->is_rate_controlled            ? 1.0
           : is_button_pressed(s, &tool->fine) ? tool->def->fine_scale
                                               : tool->def->scale;
}

/* Beyond the edge of the device's workspace the target also moves at a rate, away from the middle
 * of the workspace, unless the coupling is at its force limit: a target must not run away from a
 * blocked tool. */
static void add_rate_beyond_workspace_edge(const struct tact_session *s,
                                           const struct session_tool *tool,
                                           const double position[3], const double q[6],
                                           const double target[6], double displacement[3])
{
    const struct tact_scene_tool *def = tool->def;
    const struct tact_scene_base *base = s->scene->hands[tool->hand].base;
    double tool_base_to_target[3], from_workspace_center[3];
    if (!(def->edge > 0.0)) {
        return;
    }
    tact_m3_mul_v3(from_workspace_center, tool->axes, def->center);
    tact_v3_sub(from_workspace_center, position, from_workspace_center);
    tact_v3_sub(tool_base_to_target, target, q);
    const double distance = tact_v3_norm(from_workspace_center);
    const int is_force_limit_reached =
        base->limit > 0.0 && tact_v3_dot(tool_base_to_target, from_workspace_center) > 0.0 &&
        tact_v3_norm(tool_base_to_target) *
                coupling_stiffness_along(s, tool, 0, tool_base_to_target) >=
            base->limit;
    if (distance > def->edge && !is_force_limit_reached) {
        const double speed = def->edge_speed * fmin(1.0, distance / def->edge - 1.0);
        tact_v3_axpy(displacement,
                     speed * s->period / (device_to_tool_motion_scale(s, tool) * distance),
                     from_workspace_center);
    }
}

/* Moves the target of the base by a displacement and a rotation vector. */
static void move_tool_base_target(const struct tact_session *s, const struct session_tool *tool,
                                  const double displacement[3], const double rotation_vector[3],
                                  double target[6])
{
    const struct tact_scene_tool *def = tool->def;
    double rotation[4], target_attitude[4], rotated_attitude[4];
    tact_v3_axpy(target, device_to_tool_motion_scale(s, tool), displacement);
    for (int i = 0; i < 3; i++) {
        target[i] = def->lower ? fmax(target[i], def->lower[i]) : target[i];
        target[i] = def->upper ? fmin(target[i], def->upper[i]) : target[i];
    }
    /* without a rotation the attitude is not recomputed, so that its bits do not change */
    if (tool->first_coupling[1] && tact_v3_norm(rotation_vector) > 0.0) {
        tact_quat_from_rotvec(rotation, rotation_vector);
        tact_quat_from_rotvec(target_attitude, target + 3);
        tact_quat_mul(rotated_attitude, rotation, target_attitude);
        tact_quat_to_rotvec(target + 3, rotated_attitude);
    }
}

/* Stores targets and their rates in the couplings of a part. engaged: they start at the base. */
static void set_coupling_targets(const struct tact_session *s, struct session_tool *tool, int part,
                                 const double *target, const double *device_displacement_in_tick,
                                 double ticks, int engaged)
{
    struct session_coupling *c = tool->first_coupling[part];
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    double tool_target_change[3], last[3];
    if (!c) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        last[i] = c[i].state.target;
    }
    tact_v3_sub(tool_target_change, target, last);
    const int is_rotation_vector_sign_flip =
        part && tact_v3_norm(tool_target_change) > ROTATION_VECTOR_FLIP_ANGLE;
    for (int i = 0; i < 3; i++) {
        struct session_coupling_state *state = &c[i].state;
        const int is_device_moving_tool = tool->state.is_tool_disengaged == 0.0 && ticks > 0.0;
        const double rate = is_device_moving_tool && !engaged && !is_rotation_vector_sign_flip
                                ? tool_target_change[i] / (ticks * s->period)
                                : 0.0;
        state->rate = is_device_moving_tool && !engaged
                          ? state->rate + c[i].alpha * (rate - state->rate)
                          : 0.0;
        state->target = state->input_sum = target[i];
        state->ticks = is_device_moving_tool ? tool->state.ticks : 0.0;
        c[i].device_displacement = device_displacement_in_tick[i];
        hand.target[c[i].link] = target[i];
        hand.target_rate[c[i].link] = is_rotation_vector_sign_flip ? 0.0 : state->rate;
    }
}

/* Target of the base before this tick: the pose of the base on engagement, else the target of the
 * couplings so far. In the hand a tie to another site may have combined that with its own target.
 */
static void find_previous_target(const struct tact_session *s, const struct session_tool *tool,
                                 int engaged, double target[6])
{
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    memcpy(target, engaged ? hand.q : hand.target, 6 * sizeof *target);
    for (int i = 0; i < 6 && !engaged; i++) {
        const struct session_coupling *c = tool->first_coupling[i / 3];
        target[i] = c ? c[i % 3].state.target : target[i];
    }
}

static void set_tool_target_from_device(struct tact_session *s, struct session_tool *tool,
                                        double now, int are_inputs_valid)
{
    struct session_tool_state *state = &tool->state;
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    double position[3] = {0.0}, attitude[4] = {0.0}, target[6], displacement[3] = {0.0},
           rotation_vector[3] = {0.0};
    const int is_device_pose_valid = read_device_pose(s, tool, position, attitude);
    const int is_device_stale = s->devices[tool->device].input.state == TACT_DEVICE_STALE;
    const int engaged =
        update_tool_engagement(s, tool, now, are_inputs_valid && is_device_pose_valid);
    const int is_device_pose_new = is_device_pose_valid && !is_device_stale &&
                                   s->devices[tool->device].input.state != TACT_DEVICE_LOST;
    const double ticks = now - state->ticks;
    find_previous_target(s, tool, engaged, target);
    if (tool->is_rate_controlled) {
        tact_v3_copy(displacement, position);
        tact_v3_copy(rotation_vector, attitude);
        add_displacement_of_rate_channels(s, tool, target, displacement, rotation_vector);
    } else if (is_device_pose_new && state->ticks > 0.0) {
        tact_v3_sub(displacement, position, state->position);
        compute_rotation_between(rotation_vector, state->quat_wxyz, attitude);
    }
    if (state->is_tool_disengaged == 0.0 && is_device_pose_new && !engaged) {
        double displacement_led_by_device[3] = {displacement[0], displacement[1], displacement[2]};
        add_rate_beyond_workspace_edge(s, tool, position, hand.q, target,
                                       displacement_led_by_device);
        move_tool_base_target(s, tool, displacement_led_by_device, rotation_vector, target);
        if (tool->is_rate_controlled) {
            limit_target_distance_from_base(s, tool, hand.q, target);
        }
    }
    if (is_device_pose_new) {
        tact_v3_copy(state->position, position);
        memcpy(state->quat_wxyz, tool->is_rate_controlled ? identity_quaternion : attitude,
               sizeof state->quat_wxyz);
        state->ticks = now;
    }
    const double zero_device_motion[3] = {0.0};
    set_coupling_targets(s, tool, 0, target,
                         tool->is_rate_controlled ? zero_device_motion : displacement,
                         is_device_pose_new ? ticks : 0.0, engaged);
    set_coupling_targets(s, tool, 1, target + 3,
                         tool->is_rate_controlled ? zero_device_motion : rotation_vector,
                         is_device_pose_new ? ticks : 0.0, engaged);
}

void tact_session_set_tool_targets(struct tact_session *s, uint64_t tick, int are_inputs_valid)
{
    for (int i = 0; i < s->tool_count; i++) {
        set_tool_target_from_device(s, &s->tools[i], (double)tick + 1.0, are_inputs_valid);
    }
}

/* Force or torque on the person along the device axis of an output, in N or N m at the base: the
 * requested force of the couplings times the tool's force_fraction. */
double tact_session_tool_force(const struct session_output *out)
{
    const struct session_tool *tool = out->tool;
    double force = 0.0;
    for (int i = 0; i < 3; i++) {
        force += tool->axes[3 * i + out->axis] *
                 tool->first_coupling[out->part][i].requested_force_on_person;
    }
    return tool->state.force_fraction * force;
}

void tact_session_store_sent_tool_force(const struct session_output *out, double sent)
{
    const struct session_tool *tool = out->tool;
    for (int i = 0; i < 3; i++) {
        tool->first_coupling[out->part][i].state.force += tool->axes[3 * i + out->axis] * sent;
    }
}
