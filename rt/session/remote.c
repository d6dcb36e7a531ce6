/*
 * Joints that are tied to the joint of another site, by waves (remote_wave.c), position and force.
 * With `model` the robot sends the wall that it meets in place of its position and force
 * (rt/wall_internal.h), and the person's joint meets that wall here.
 * Real-time safe but for tact_session_connect_remotes().
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "rt/session/remote_internal.h"

/* values of the device channel `held`, which states to the other site if this one is engaged */
#define HELD_VALUE_WITH_DEADMAN 1.0
#define HELD_VALUE_WITHOUT_DEADMAN 2.0    /* `held` of a site that has no deadman */
#define HELD_VALUE_OTHER_SITE_LOST (-1.0) /* `held` of a site that lost contact with this one */

static struct tact_wave_tie wave_tie_of_scene_remote(const struct tact_scene_remote *def,
                                                     double period)
{
    return (struct tact_wave_tie){def->impedance, def->stiffness, def->damping, period, def->tank};
}

/* Stiffness and damping that a tie adds to the drive of its joint. */
static void compute_tie_drive(const struct tact_scene_remote *def, double period, double *stiffness,
                              double *damping)
{
    const int is_wave_tie = !strcmp(def->mode, "waves");
    const struct tact_wave_tie wave_tie = wave_tie_of_scene_remote(def, period);
    const double drive_gain_fraction = is_wave_tie ? tact_wave_drive_gain_fraction(&wave_tie) : 1.0;
    *stiffness = drive_gain_fraction * def->stiffness;
    *damping =
        is_wave_tie && def->stiffness == 0.0 ? def->impedance : drive_gain_fraction * def->damping;
}

void tact_session_add_remote_drive(const struct tact_scene *scene, const char *joint,
                                   struct tact_link_def *link)
{
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        double stiffness, damping;
        if (!strcmp(scene->remotes[i].joint, joint)) {
            compute_tie_drive(&scene->remotes[i], scene->period, &stiffness, &damping);
            link->stiffness += stiffness;
            link->damping += damping;
        }
    }
}

/* Finds channel `name` of the device, with "_<axis>" appended if axis is not negative. */
static int find_remote_channel(struct tact_session *s, struct session_remote *r, const char *name,
                               int axis, int output, int *channel, struct tact_error *err)
{
    char path[2 * TACT_DEVICE_NAME], key[48];
    snprintf(path, sizeof path, axis < 0 ? "%.47s.%s" : "%.47s.%s_%d", r->def->device, name, axis);
    snprintf(key, sizeof key, "remotes[%d].%s", (int)(r - s->remotes),
             axis < 0 ? "device" : "axis");
    return tact_session_find_channel(s, path, output, key, &r->device, channel, err);
}

static int find_remote_channels(struct tact_session *s, struct session_remote *r,
                                struct tact_error *err)
{
    const int axis = (int)r->def->axis;
    int rc = find_remote_channel(s, r, "held", -1, 0, &r->in.held, err);
    rc = rc ? rc : find_remote_channel(s, r, "round_trip", -1, 0, &r->in.round_trip, err);
    rc = rc ? rc : find_remote_channel(s, r, "wave", axis, 0, &r->in.wave, err);
    rc = rc ? rc : find_remote_channel(s, r, "position", axis, 0, &r->in.position, err);
    rc = rc ? rc : find_remote_channel(s, r, "force", axis, 0, &r->in.force, err);
    rc = rc ? rc : find_remote_channel(s, r, "held", -1, 1, &r->out.held, err);
    rc = rc ? rc : find_remote_channel(s, r, "wave", axis, 1, &r->out.wave, err);
    rc = rc ? rc : find_remote_channel(s, r, "position", axis, 1, &r->out.position, err);
    return rc ? rc : find_remote_channel(s, r, "force", axis, 1, &r->out.force, err);
}

/* Index of a channel that devices to another site may lack, or -1. */
static int find_optional_remote_channel(const struct tact_session *s,
                                        const struct session_remote *r, const char *name,
                                        int output)
{
    const struct tact_device_info *info = &s->devices[r->device].device.info;
    const struct tact_device_channel *channel = output ? info->output : info->input;
    const int count = output ? info->output_count : info->input_count;
    int found = -1;
    for (int i = 0; i < count; i++) {
        found = strcmp(channel[i].name, name) ? found : i;
    }
    return found;
}

static void find_optional_remote_channels(struct tact_session *s, struct session_remote *r)
{
    r->in.other_site_clutch = find_optional_remote_channel(s, r, "other_clutched", 0);
    r->in.other_fault = find_optional_remote_channel(s, r, "other_fault", 0);
    r->out.terms = find_optional_remote_channel(s, r, "terms", 1);
    r->out.clutched = find_optional_remote_channel(s, r, "clutched", 1);
    r->out.fault = find_optional_remote_channel(s, r, "fault", 1);
    r->is_first_tie_of_device = 1;
    for (const struct session_remote *earlier_session_remote = s->remotes;
         earlier_session_remote < r; earlier_session_remote++) {
        r->is_first_tie_of_device &= earlier_session_remote->device != r->device;
    }
}

static int connect_remote_joint(struct tact_session *s, uint32_t index, struct tact_error *err)
{
    struct session_remote *r = &s->remotes[index];
    const struct tact_scene_remote *def = &s->scene->remotes[index];
    r->def = def;
    r->wave_tie = wave_tie_of_scene_remote(def, s->period);
    r->mode = !strcmp(def->mode, "waves")            ? REMOTE_WAVES
              : !strcmp(def->mode, "position_force") ? REMOTE_POSITION_FORCE
              : !strcmp(def->mode, "model")          ? REMOTE_MODEL
                                                     : REMOTE_POSITION_POSITION;
    r->hand = r->link = -1;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        for (uint32_t k = 0; k < s->scene->hands[i].links_count; k++) {
            if (!strcmp(s->hands[i].joint_names[k], def->joint)) {
                r->hand = (int)i;
                r->link = (int)k;
            }
        }
    }
    compute_tie_drive(def, s->period, &r->stiffness, &r->damping);
    if (r->mode == REMOTE_MODEL && r->stiffness > 0.0) {
        r->jacobian = calloc(6 * (size_t)s->scene->hands[r->hand].links_count, sizeof(double));
        if (!r->jacobian) {
            return tact_error_set(err, -ENOMEM, "out of memory");
        }
    }
    r->coupling = tact_session_find_coupling(s, r->hand, r->link);
    r->state.target = s->scene->hands[r->hand].links[r->link].joint.start;
    r->state.remaining_tank_energy = def->tank;
    r->terms = tact_session_remote_terms(s->scene, def->device);
    const int rc = find_remote_channels(s, r, err);
    if (!rc) {
        find_optional_remote_channels(s, r);
    }
    return rc;
}

static int is_network_device(const struct tact_session *s, int device)
{
    int found = !strcmp(s->devices[device].device.info.type, "network");
    for (int i = 0; i < s->remote_count; i++) {
        found |= s->remotes[i].device == device;
    }
    return found;
}

/* Checks that only ties write to the channels of another site, and that no other site is the
 * deadman. */
static int check_remote_devices(struct tact_session *s, struct tact_error *err)
{
    const struct tact_scene *scene = s->scene;
    char key[48];
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        for (uint32_t k = 0; k < scene->outputs_count; k++) {
            const size_t length = strlen(scene->remotes[i].device);
            if (!strncmp(scene->outputs[k].to, scene->remotes[i].device, length) &&
                scene->outputs[k].to[length] == '.') {
                snprintf(key, sizeof key, "outputs[%u].to", k);
                tact_scene_where(scene, key, err);
                return tact_error_set(
                    err, -EINVAL,
                    "the output channels of this network device are set by remotes[%u] alone", i);
            }
        }
    }
    if (s->deadman_device >= 0 && is_network_device(s, s->deadman_device)) {
        tact_scene_where(scene, "deadman", err);
        return tact_error_set(err, -EINVAL,
                              "is a channel of the other site, which can stop this one but not arm "
                              "it; expected a device of this site, or none");
    }
    return 0;
}

int tact_session_connect_remotes(struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    s->remotes = calloc(s->scene->remotes_count + 1, sizeof *s->remotes);
    if (!s->remotes) {
        return -ENOMEM;
    }
    if (s->scene->remotes_count && s->options.control) {
        tact_scene_where(s->scene, "remotes", err);
        return tact_error_set(err, -EINVAL,
                              "the program's controller cannot set targets while \"remotes\" ties "
                              "joints to another site");
    }
    s->remote_count = (int)s->scene->remotes_count;
    for (uint32_t i = 0; !rc && i < s->scene->remotes_count; i++) {
        rc = connect_remote_joint(s, i, err);
    }
    if (!rc) {
        tact_session_group_vector_ties(s);
    }
    return rc ? rc : check_remote_devices(s, err);
}

void tact_session_free_remotes(struct tact_session *s)
{
    for (int i = 0; s->remotes && i < s->remote_count; i++) {
        free(s->remotes[i].jacobian);
    }
    free(s->remotes);
}

static const struct tact_device_input *device_input_of_tie(const struct tact_session *s,
                                                           const struct session_remote *r)
{
    return &s->devices[r->device].input;
}

/* 1 where this site allows the tie: its own deadman is held, nothing is at fault, and the deadman
 * was released since a fault was cleared or the other site was lost. */
static int is_tie_allowed_at_this_site(const struct tact_session *s, const struct session_remote *r)
{
    return s->is_deadman_held && s->safety.state != TACT_SAFETY_FAULT && !s->safety.await_release &&
           r->state.must_release_deadman_to_reengage == 0.0;
}

/* A tie whose other site was connected and is lost engages again only after a deadman was released:
 * that of this site or, where it has none, that of the other, if there is one. */
static void update_must_release_deadman(const struct tact_session *s, struct session_remote *r)
{
    const struct tact_device_input *in = device_input_of_tie(s, r);
    const double other_site_held_channel_value = in->channel[r->in.held];
    const int is_engaging_deadman_held =
        s->deadman_device >= 0 ? s->is_deadman_held
                               : other_site_held_channel_value > 0.5 &&
                                     other_site_held_channel_value < HELD_VALUE_WITHOUT_DEADMAN;
    if (in->state == TACT_DEVICE_LOST) {
        r->state.must_release_deadman_to_reengage = r->state.has_other_site_been_connected;
    } else if (in->state == TACT_DEVICE_OK) {
        r->state.has_other_site_been_connected = 1.0;
        r->state.must_release_deadman_to_reengage =
            is_engaging_deadman_held ? r->state.must_release_deadman_to_reengage : 0.0;
    }
}

static int has_tie_finite_inputs(const struct session_remote *r, const struct tact_device_input *in)
{
    int are_remote_inputs_finite = isfinite(in->channel[r->in.round_trip]);
    for (int k = 0; k < r->vector_tie_count; k++) {
        const struct session_remote *part = r->ties_of_vector[k];
        are_remote_inputs_finite =
            are_remote_inputs_finite && isfinite(in->channel[part->in.wave]) &&
            isfinite(in->channel[part->in.position]) && isfinite(in->channel[part->in.force]);
    }
    return are_remote_inputs_finite;
}

/* Value of state.ticks while not engaged. -1 after silence of a line of waves, whose ends the
 * position correction brings together again; 0 otherwise: on engagement the offset between the
 * positions of the two sites is then set anew. */
static double tie_state_ticks_while_disengaged(const struct session_remote *r,
                                               const struct tact_device_input *in)
{
    const int has_site_gone_silent =
        (in->state != TACT_DEVICE_OK || in->channel[r->in.held] < 0.0) && r->mode == REMOTE_WAVES;
    return r->state.ticks > 0.0 ? (has_site_gone_silent ? -1.0 : 0.0) : r->state.ticks;
}

/* Engages a tie without a jump: once the force of the last engagement has faded, and with the end
 * of the line where it is. */
static void update_tie_engagement(struct tact_session *s, struct session_remote *r, double now)
{
    struct session_remote_state *state = &r->state;
    const struct tact_device_input *in = device_input_of_tie(s, r);
    update_must_release_deadman(s, r);
    tact_session_set_arrived_wave_kind(s, r);
    if (in->state != TACT_DEVICE_OK || in->channel[r->in.held] <= 0.5 ||
        !is_tie_allowed_at_this_site(s, r) || !has_tie_finite_inputs(r, in) ||
        (state->ticks <= 0.0 && state->force_fraction > 0.0)) {
        state->ticks = tie_state_ticks_while_disengaged(r, in);
        state->force_fraction = tact_session_faded_force_fraction(s, r);
        return;
    }
    if (state->ticks == 0.0) {
        tact_session_zero_position_offset(s, r);
        state->must_zero_position_offset = r->mode == REMOTE_WAVES;
    }
    if (state->ticks <= 0.0) {
        state->remaining_tank_energy = r->def->tank;
    }
    if (r->mode == REMOTE_WAVES) {
        tact_session_update_force_fraction(s, r);
    } else {
        state->force_fraction =
            fmin(1.0, state->force_fraction + s->period / TACT_SESSION_FORCE_RAMP_TIME);
    }
    state->ticks = now;
}

static void update_target_from_position(const struct tact_session *s, struct session_remote *r,
                                        double tied_joint_rate)
{
    struct session_remote_state *state = &r->state;
    const struct tact_device_input *in = device_input_of_tie(s, r);
    state->line_end_correction_rate = state->used_wave = 0.0;
    /* mode position_force at the person's site: the damper renders the force of the other site */
    if (r->def->stiffness == 0.0) {
        state->rate = state->ticks > 0.0
                          ? -state->force_fraction * in->channel[r->in.force] / r->damping +
                                (1.0 - state->force_fraction) * tied_joint_rate
                          : tact_session_rate_to_fade_force(s, r, tied_joint_rate);
        return;
    }
    if (state->ticks <= 0.0) {
        state->rate = 0.0;
        return;
    }
    if (r->is_attitude_tie) {
        if (r->tie_index_in_vector == 0) { /* sets all three components */
            tact_session_track_remote_attitude(s, r);
        }
        return;
    }
    const double received_position = in->channel[r->in.position];
    state->rate += TIE_RATE_FILTER_WEIGHT *
                   ((received_position - state->other_site_position) / s->period - state->rate);
    state->other_site_position = received_position;
    state->target = received_position - state->offset;
}

/* The joint's drive is that of the tie and of a coupling together. */
static void set_tied_joint_target(const struct tact_session *s, struct session_remote *r)
{
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    const struct tact_scene_coupling *joint_coupling =
        s->scene->hands[r->hand].links[r->link].joint.coupling;
    const double stiffness = joint_coupling ? joint_coupling->stiffness : 0.0;
    double *target = &hand.target[r->link];
    r->tick_target_of_tie = r->stiffness > 0.0 ? r->state.target : hand.q[r->link];
    if (r->axes) { /* the targets of a vector are set once all three components have a
                      tick_target_of_tie */
        return;
    }
    *target = r->coupling ? (stiffness * *target + r->stiffness * r->tick_target_of_tie) /
                                (stiffness + r->stiffness)
                          : r->tick_target_of_tie;
}

static void set_tied_joint_rate(const struct tact_session *s, struct session_remote *r)
{
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    const struct tact_scene_coupling *joint_coupling =
        s->scene->hands[r->hand].links[r->link].joint.coupling;
    const double damping = joint_coupling ? joint_coupling->damping : 0.0,
                 tie_rate = tact_session_tie_target_rate(s, r);
    double *rate = &hand.target_rate[r->link];
    if (r->axes) {
        if (r->tie_index_in_vector == 0) {
            tact_session_add_tie_to_unequal_rates(s, r);
        }
        return;
    }
    *rate =
        r->coupling ? (damping * *rate + r->damping * tie_rate) / (damping + r->damping) : tie_rate;
}

static void update_tie_target(struct tact_session *s, struct session_remote *r)
{
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    const double tied_joint_rate = hand.v[r->link];
    if (r->mode == REMOTE_WAVES) {
        tact_session_update_target_from_wave(s, r, tied_joint_rate);
    } else if (r->mode == REMOTE_MODEL && r->stiffness == 0.0) {
        if (r->state.ticks > 0.0) {
            tact_session_render_remote_wall(s, r, hand.q[r->link], tied_joint_rate);
        } else {
            r->model.wall_rendered_at_person =
                (struct tact_wall_rendering){.delayed_wall_force = 0.0};
            r->state.rate = tact_session_rate_to_fade_force(s, r, tied_joint_rate);
        }
    } else {
        update_target_from_position(s, r, tied_joint_rate);
    }
}

/* One step after another for all ties, as those of a vector use each other's states. */
void tact_session_set_tie_targets(struct tact_session *s, uint64_t tick)
{
    for (int i = 0; i < s->remote_count; i++) {
        update_tie_engagement(s, &s->remotes[i], (double)tick + 1.0);
    }
    for (int i = 0; i < s->remote_count; i++) {
        update_tie_target(s, &s->remotes[i]);
    }
    for (int i = 0; i < s->remote_count; i++) {
        set_tied_joint_target(s, &s->remotes[i]);
    }
    for (int i = 0; i < s->remote_count; i++) {
        if (s->remotes[i].axes && s->remotes[i].tie_index_in_vector == 0) {
            tact_session_add_tie_to_unequal_targets(s, &s->remotes[i]);
        }
    }
    for (int i = 0; i < s->remote_count; i++) {
        set_tied_joint_rate(s, &s->remotes[i]);
    }
}

/* Sends the state of this site (held, clutch, fault) to the other site. */
static void send_tie_and_site_state(const struct tact_session *s, const struct session_remote *r,
                                    double *out)
{
    out[r->out.held] = r->state.must_release_deadman_to_reengage > 0.0 ? HELD_VALUE_OTHER_SITE_LOST
                       : !is_tie_allowed_at_this_site(s, r)            ? 0.0
                       : s->deadman_device >= 0                        ? HELD_VALUE_WITH_DEADMAN
                                                                       : HELD_VALUE_WITHOUT_DEADMAN;
    if (r->out.terms >= 0) {
        out[r->out.terms] = r->terms;
    }
    if (r->out.clutched >= 0) {
        out[r->out.clutched] = tact_session_is_tool_clutch_pressed(s);
    }
    if (r->out.fault >= 0) {
        out[r->out.fault] = s->safety.state == TACT_SAFETY_FAULT;
    }
}

void tact_session_send_to_other_sites(struct tact_session *s)
{
    for (int i = 0; i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
        const double q = hand.q[r->link], v = hand.v[r->link];
        double *out = s->devices[r->device].output;
        /* A joint without a coupling has the tie as its only drive, whose torque may be at a force
         * limit. */
        r->state.force = r->coupling ? r->stiffness * (r->tick_target_of_tie - q) +
                                           r->damping * (r->state.rate - v)
                                     : hand.torque[r->link];
        if (r->coupling) {
            r->coupling->torque_from_other_site = r->state.force;
        }
        r->state.work += r->state.force * v * s->period;
        if (r->mode == REMOTE_WAVES) {
            tact_session_compute_outgoing_wave(r, q, v);
        } else if (r->stiffness == 0.0) {
            r->state.target = q;
        }
        out[r->out.wave] = r->state.sent_wave;
        out[r->out.position] = q;
        out[r->out.force] = r->state.force;
        if (r->mode == REMOTE_MODEL && r->stiffness > 0.0) {
            tact_session_send_found_wall(s, r, out);
        }
        send_tie_and_site_state(s, r, out);
    }
    tact_session_rotate_line_ends(s);
}

void tact_session_log_other_sites(struct tact_session *s, uint64_t tick, int64_t now)
{
    static const char *const texts[2][2] = {
        {"its clutch was released", "its clutch is pressed"},
        {"its fault was cleared", "is at fault: nothing engages until that is cleared there"}};
    for (int i = 0; i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        const struct tact_device_input *in = device_input_of_tie(s, r);
        const int channels[2] = {r->in.other_site_clutch, r->in.other_fault};
        int clutch_and_fault_bits = 0;
        for (int k = 0; k < 2; k++) {
            clutch_and_fault_bits |= (channels[k] >= 0 && in->channel[channels[k]] > 0.5) << k;
        }
        if (!r->is_first_tie_of_device || in->state != TACT_DEVICE_OK ||
            clutch_and_fault_bits == r->clutch_and_fault_bits ||
            tick < r->site_condition_log_tick) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            if ((clutch_and_fault_bits ^ r->clutch_and_fault_bits) >> k & 1) {
                tact_recorder_event_rt(s->recorder, tick, now, "other site",
                                       texts[k][clutch_and_fault_bits >> k & 1]);
            }
        }
        r->clutch_and_fault_bits = clutch_and_fault_bits;
        r->site_condition_log_tick = tick + (uint64_t)(1.0 / s->period);
    }
}
