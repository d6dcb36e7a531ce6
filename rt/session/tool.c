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
    char where[64];
    button->device = -1;
    snprintf(where, sizeof where, "tools[%u].%s", tool, key);
    return path ? tact_session_find_channel(s, path, 0, where, &button->device, &button->channel,
                                            err)
                : 0;
}

/* Finds the couplings of a base that a tool moves: the position's and the attitude's, or NULL. */
static void attach_couplings_of_tool(struct tact_session *s, struct session_tool *tool)
{
    const struct tact_scene_tool *def = tool->def;
    for (int part = 0; part < 2; part++) {
        const uint32_t count = part ? def->attitude_count : def->position_count;
        tool->port[part] = count ? tact_session_find_coupling(s, tool->hand, 3 * part) : NULL;
        for (int i = 0; tool->port[part] && i < 3; i++) {
            tool->port[part][i].tool = tool;
            tool->port[part][i].felt = def->force_scale;
        }
    }
}

static int map_tool_channels(struct tact_session *s, uint32_t index, struct tact_error *err)
{
    const struct tact_scene_tool *def = &s->scene->tools[index];
    struct session_tool *tool = &s->tools[index];
    *tool = (struct session_tool){.def = def,
                                  .rates = !strcmp(def->mode, "rate"),
                                  .longest_gap = fmax(1.0, MAX_INPUT_GAP / s->period),
                                  .state = {.quat_wxyz = {1.0}, .away = 1.0}};
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
    int pressed = 0;
    for (int i = 0; i < s->tool_count; i++) {
        pressed |= is_button_pressed(s, &s->tools[i].clutch);
    }
    return pressed;
}

/* Reads displacement [m] and attitude of the device, world axes, or of mode rate two vectors of
 * channels; returns 0 where they are not usable. */
static int read_device_pose(const struct tact_session *s, const struct session_tool *tool,
                            double position[3], double attitude[4])
{
    const double *channel = s->devices[tool->device].input.channel;
    double v[3] = {0.0}, turn[4] = {0.0};
    for (uint32_t i = 0; i < tool->def->position_count; i++) {
        v[i] = channel[tool->position[i]];
    }
    for (uint32_t i = 0; i < tool->def->attitude_count; i++) {
        turn[i] = channel[tool->attitude[i]];
    }
    for (int i = 0; i < 3; i++) {
        if (!isfinite(v[i]) || !isfinite(turn[i])) {
            return 0;
        }
    }
    tact_m3_mul_v3(position, tool->axes, v);
    if (tool->rates) {
        tact_m3_mul_v3(attitude, tool->axes, turn);
        return 1;
    }
    if (tool->def->attitude_count < 4) {
        double rotation_vector[3] = {turn[0], turn[1], turn[2]};
        tact_quat_from_rotvec(turn, rotation_vector);
    }
    const double square = turn[0] * turn[0] + tact_v3_dot(turn + 1, turn + 1);
    if (!(square > MIN_QUATERNION_LENGTH * MIN_QUATERNION_LENGTH && isfinite(square))) {
        return 0;
    }
    tact_quat_normalize(turn);
    attitude[0] = turn[0];
    tact_m3_mul_v3(attitude + 1, tool->axes, turn + 1);
    return 1;
}

/* Rotation vector of the rotation from one attitude to another. */
static void compute_rotation_between(double out[3], const double from[4], const double to[4])
{
    const double back[4] = {from[0], -from[1], -from[2], -from[3]};
    double turn[4];
    tact_quat_mul(turn, to, back);
    tact_quat_to_rotvec(out, turn);
}

/* Returns 1 if the tool's device engages in this tick, and updates the fraction of its force. */
static int engage_tool(const struct tact_session *s, struct session_tool *tool, double now,
                       int usable)
{
    struct session_tool_state *state = &tool->state;
    const int device = s->devices[tool->device].input.state;
    const double gap = now - state->ticks, step = s->safety.ramp_step;
    const int is_input_recent = state->ticks > 0.0 && gap <= tool->longest_gap;
    if (!usable || device == TACT_DEVICE_LOST ||
        (device != TACT_DEVICE_STALE && !is_input_recent)) {
        state->away = 1.0;
        state->share = 0.0;
    }
    const int is_engagement_blocked = !usable || device == TACT_DEVICE_LOST ||
                                      is_button_pressed(s, &tool->clutch) ||
                                      (device == TACT_DEVICE_STALE && gap > tool->longest_gap);
    if (is_engagement_blocked) {
        state->away = 1.0;
    }
    const double before = state->share;
    state->share = state->away > 0.0 ? fmax(0.0, before - step) : fmin(1.0, before + step);
    if (!is_engagement_blocked && state->away > 0.0 && state->share == 0.0) {
        state->away = 0.0;
        return 1;
    }
    return 0;
}

/* Applies a dead zone to a vector of channels: its length becomes 0 to 1. */
static void apply_dead_zone(double v[3], double dead_zone)
{
    const double length = tact_v3_norm(v);
    const double wanted = fmin(1.0, fmax(0.0, (length - dead_zone) / (1.0 - dead_zone)));
    tact_v3_scale(v, v, length > 0.0 ? wanted / length : 0.0);
}

/* Computes the motion of a rate-controlled target within the tick, as displacement and rotation
 * vector, world axes, from rates along the axes of the tool. */
static void integrate_channel_rates(const struct tact_session *s, const struct session_tool *tool,
                                    const double target[6], double moved[3], double turned[3])
{
    const struct tact_scene_tool *def = tool->def;
    const struct tact_scene_hand *hand = &s->scene->hands[tool->hand];
    double turn[4], attitude[4], axes[9];
    tact_quat_from_rotvec(turn, target + 3);
    tact_quat_mul(attitude, turn, hand->quat_wxyz);
    tact_quat_to_m3(axes, attitude);
    apply_dead_zone(moved, def->dead_zone);
    apply_dead_zone(turned, def->dead_zone);
    tact_m3_mul_v3(moved, axes, (const double[3]){moved[0], moved[1], moved[2]});
    tact_m3_mul_v3(turned, axes, (const double[3]){turned[0], turned[1], turned[2]});
    tact_v3_scale(moved, moved, def->speed * s->period);
    tact_v3_scale(turned, turned, def->turn_speed * s->period);
}

/* Length of the force or torque of a coupling of the tool's base, of its position or attitude
 * (part 1), by that of the error, world axes, against which it acts. */
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

/* Keeps a rate-controlled target within the distance that saturates the coupling: it does not run
 * away from a blocked tool. */
static void limit_target_to_reach(const struct tact_session *s, const struct session_tool *tool,
                                  const double q[6], double target[6])
{
    const struct tact_scene_base *base = s->scene->hands[tool->hand].base;
    double now[4], wanted[4], error[3], turn[4];
    if (tool->port[0] && base->limit > 0.0) {
        tact_v3_sub(error, target, q);
        const double reach = base->limit / coupling_stiffness_along(s, tool, 0, error),
                     length = tact_v3_norm(error);
        if (length > reach) {
            tact_v3_copy(target, q);
            tact_v3_axpy(target, reach / length, error);
        }
    }
    if (tool->port[1] && base->turn_limit > 0.0) {
        tact_quat_from_rotvec(now, q + 3);
        tact_quat_from_rotvec(wanted, target + 3);
        compute_rotation_between(error, now, wanted);
        const double reach = base->turn_limit / coupling_stiffness_along(s, tool, 1, error);
        const double length = tact_v3_norm(error);
        if (length > reach) {
            tact_v3_scale(error, error, reach / length);
            tact_quat_from_rotvec(turn, error);
            tact_quat_mul(wanted, turn, now);
            tact_quat_to_rotvec(target + 3, wanted);
        }
    }
}

static double tool_motion_scale(const struct tact_session *s, const struct session_tool *tool)
{
    return tool->rates                         ? 1.0
           : is_button_pressed(s, &tool->fine) ? tool->def->fine_scale
                                               : tool->def->scale;
}

/* Beyond the edge of the device's workspace the target moves on too, away from its middle. It does
 * not where the coupling is at its limit: from a tool that is blocked it does not run away. */
static void add_rate_beyond_edge(const struct tact_session *s, const struct session_tool *tool,
                                 const double position[3], const double q[6],
                                 const double target[6], double moved[3])
{
    const struct tact_scene_tool *def = tool->def;
    const struct tact_scene_base *base = s->scene->hands[tool->hand].base;
    double out[3], away[3];
    if (!(def->edge > 0.0)) {
        return;
    }
    tact_m3_mul_v3(away, tool->axes, def->center);
    tact_v3_sub(away, position, away);
    tact_v3_sub(out, target, q);
    const double distance = tact_v3_norm(away);
    const int is_reach_blocked =
        base->limit > 0.0 && tact_v3_dot(out, away) > 0.0 &&
        tact_v3_norm(out) * coupling_stiffness_along(s, tool, 0, out) >= base->limit;
    if (distance > def->edge && !is_reach_blocked) {
        const double speed = def->edge_speed * fmin(1.0, distance / def->edge - 1.0);
        tact_v3_axpy(moved, speed * s->period / (tool_motion_scale(s, tool) * distance), away);
    }
}

/* Moves the target of the base by a displacement and a rotation vector. */
static void move_tool_base_target(const struct tact_session *s, const struct session_tool *tool,
                                  const double moved[3], const double turned[3], double target[6])
{
    const struct tact_scene_tool *def = tool->def;
    double turn[4], now[4], next[4];
    tact_v3_axpy(target, tool_motion_scale(s, tool), moved);
    for (int i = 0; i < 3; i++) {
        target[i] = def->lower ? fmax(target[i], def->lower[i]) : target[i];
        target[i] = def->upper ? fmin(target[i], def->upper[i]) : target[i];
    }
    /* without a rotation the attitude keeps its bits */
    if (tool->port[1] && tact_v3_norm(turned) > 0.0) {
        tact_quat_from_rotvec(turn, turned);
        tact_quat_from_rotvec(now, target + 3);
        tact_quat_mul(next, turn, now);
        tact_quat_to_rotvec(target + 3, next);
    }
}

/* Stores targets and their rates in the couplings of a part. engaged: they start at the base. */
static void set_coupling_targets(const struct tact_session *s, struct session_tool *tool, int part,
                                 const double *target, const double *moved, double ticks,
                                 int engaged)
{
    struct session_coupling *c = tool->port[part];
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    double change[3], last[3];
    if (!c) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        last[i] = c[i].state.target;
    }
    tact_v3_sub(change, target, last);
    const int is_rotation_vector_sign_flip =
        part && tact_v3_norm(change) > ROTATION_VECTOR_FLIP_ANGLE;
    for (int i = 0; i < 3; i++) {
        struct session_coupling_state *state = &c[i].state;
        const int is_device_leading = tool->state.away == 0.0 && ticks > 0.0;
        const double rate = is_device_leading && !engaged && !is_rotation_vector_sign_flip
                                ? change[i] / (ticks * s->period)
                                : 0.0;
        state->rate =
            is_device_leading && !engaged ? state->rate + c[i].alpha * (rate - state->rate) : 0.0;
        state->target = state->raw = target[i];
        state->ticks = is_device_leading ? tool->state.ticks : 0.0;
        c[i].moved = moved[i];
        hand.target[c[i].link] = target[i];
        hand.target_rate[c[i].link] = is_rotation_vector_sign_flip ? 0.0 : state->rate;
    }
}

/* Where the tool continues from: where the base is as it engages, else what its device led to so
 * far, which a tie to another site may have joined with a target of its own in the hand. */
static void find_previous_target(const struct tact_session *s, const struct session_tool *tool,
                                 int engaged, double target[6])
{
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    memcpy(target, engaged ? hand.q : hand.target, 6 * sizeof *target);
    for (int i = 0; i < 6 && !engaged; i++) {
        const struct session_coupling *c = tool->port[i / 3];
        target[i] = c ? c[i % 3].state.target : target[i];
    }
}

static void follow_tool_device(struct tact_session *s, struct session_tool *tool, double now,
                               int mapped)
{
    struct session_tool_state *state = &tool->state;
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, tool->hand));
    double position[3] = {0.0}, attitude[4] = {0.0}, target[6], moved[3] = {0.0}, turned[3] = {0.0};
    const int is_pose_readable = read_device_pose(s, tool, position, attitude);
    const int held = s->devices[tool->device].input.state == TACT_DEVICE_STALE;
    const int engaged = engage_tool(s, tool, now, mapped && is_pose_readable);
    const int fresh =
        is_pose_readable && !held && s->devices[tool->device].input.state != TACT_DEVICE_LOST;
    const double ticks = now - state->ticks;
    find_previous_target(s, tool, engaged, target);
    if (tool->rates) {
        tact_v3_copy(moved, position);
        tact_v3_copy(turned, attitude);
        integrate_channel_rates(s, tool, target, moved, turned);
    } else if (fresh && state->ticks > 0.0) {
        tact_v3_sub(moved, position, state->position);
        compute_rotation_between(turned, state->quat_wxyz, attitude);
    }
    if (state->away == 0.0 && fresh && !engaged) {
        double led[3] = {moved[0], moved[1], moved[2]};
        add_rate_beyond_edge(s, tool, position, hand.q, target, led);
        move_tool_base_target(s, tool, led, turned, target);
        if (tool->rates) {
            limit_target_to_reach(s, tool, hand.q, target);
        }
    }
    if (fresh) {
        tact_v3_copy(state->position, position);
        memcpy(state->quat_wxyz, tool->rates ? identity_quaternion : attitude,
               sizeof state->quat_wxyz);
        state->ticks = now;
    }
    const double none[3] = {0.0};
    set_coupling_targets(s, tool, 0, target, tool->rates ? none : moved, fresh ? ticks : 0.0,
                         engaged);
    set_coupling_targets(s, tool, 1, target + 3, tool->rates ? none : turned, fresh ? ticks : 0.0,
                         engaged);
}

void tact_session_follow_tools(struct tact_session *s, uint64_t tick, int mapped)
{
    for (int i = 0; i < s->tool_count; i++) {
        follow_tool_device(s, &s->tools[i], (double)tick + 1.0, mapped);
    }
}

/* Component of an output along its axis of the device, in N or N m of the base: its part's wanted
 * forces, faded. */
double tact_session_tool_force(const struct session_output *out)
{
    const struct session_tool *tool = out->tool;
    double force = 0.0;
    for (int i = 0; i < 3; i++) {
        force += tool->axes[3 * i + out->axis] * tool->port[out->part][i].wanted;
    }
    return tool->state.share * force;
}

void tact_session_note_sent_tool_force(const struct session_output *out, double sent)
{
    const struct session_tool *tool = out->tool;
    for (int i = 0; i < 3; i++) {
        tool->port[out->part][i].state.force += tool->axes[3 * i + out->axis] * sent;
    }
}
