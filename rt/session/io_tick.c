/*
 * Inputs of the devices to targets and states of joints; outputs of joints to the devices.
 * Real-time safe.
 */
#include <math.h>
#include "rt/session/admittance_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/position_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

static int is_device_lost_or_stale(const struct tact_device_input *in)
{
    return in->state == TACT_DEVICE_LOST || in->state == TACT_DEVICE_STALE;
}

/* 1 where the deadman is pressed or none is required; 0 if its device is lost or its values are
 * old. */
static int is_deadman_held_now(const struct tact_session *s)
{
    if (s->deadman_device < 0) {
        return 1;
    }
    const struct tact_device_input *in = &s->devices[s->deadman_device].input;
    return !is_device_lost_or_stale(in) && in->channel[s->deadman_channel] > 0.5;
}

double tact_session_input_value(const struct tact_session *s, const struct session_input *in)
{
    double x = in->offset + in->scale * s->devices[in->device].input.channel[in->channel];
    if (in->lower < in->upper) {
        x = x < in->lower ? in->lower : (x > in->upper ? in->upper : x);
    }
    return x;
}

static int is_target_input(const struct session_input *in)
{
    return !in->sets_measured_joint_state && !in->admittance;
}

/* Joint targets from the devices. They are unchanged while the deadman is released, or a device
 * returns numbers that are not finite; returns 1 where they are set. */
static int map_inputs_to_targets(struct tact_session *s)
{
    if (!s->is_deadman_held) {
        return 0;
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (!isfinite(s->devices[in->device].input.channel[in->channel])) {
            return 0;
        }
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (is_target_input(in)) {
            tact_hand_state(tact_world_hand(s->world, in->hand)).target[in->link] = 0.0;
        }
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (is_target_input(in)) {
            struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, in->hand));
            hand.target[in->link] += tact_session_input_value(s, in);
        }
    }
    return 1;
}

void tact_session_clamp_targets(struct tact_session *s)
{
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &s->scene->hands[i];
        double *target = tact_hand_state(tact_world_hand(s->world, (int)i)).target;
        for (uint32_t k = 0; s->hands[i].clamped_target_tick_counts && k < hand->links_count; k++) {
            const struct tact_scene_joint *joint = &hand->links[k].joint;
            if (joint->target_lower < joint->target_upper) {
                const double unclamped_joint_target = target[k];
                target[k] =
                    fmin(fmax(unclamped_joint_target, joint->target_lower), joint->target_upper);
                s->hands[i].clamped_target_tick_counts[k] += target[k] != unclamped_joint_target;
            }
        }
    }
}

/* Stores a measured value, and the rate from the one before. A lost sensor leaves the joint at rest
 * at its last position. */
static void store_measured_joint(const struct tact_session *s, struct session_input *in,
                                 uint64_t tick)
{
    double x = tact_session_input_value(s, in), now = (double)tick + 1.0;
    if (is_device_lost_or_stale(&s->devices[in->device].input) || !isfinite(x)) {
        in->state.ticks = 0.0;
        in->state.rate = 0.0;
        return;
    }
    if (in->state.ticks > 0.0 && now > in->state.ticks) {
        double rate = (x - in->state.q) / ((now - in->state.ticks) * s->period);
        in->state.rate += in->alpha * (rate - in->state.rate);
    } else {
        in->state.rate = 0.0;
    }
    in->state.q = x;
    in->state.ticks = now;
}

/* Sets measured joints to their measured state at the start of the tick. The resulting torque, with
 * the drive implicit, is the one that is sent. */
static void set_measured_joint_states(struct tact_session *s, uint64_t tick)
{
    int measured = 0;
    for (int i = 0; i < s->input_count; i++) {
        struct session_input *in = &s->inputs[i];
        if (in->sets_measured_joint_state) {
            struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, in->hand));
            store_measured_joint(s, in, tick);
            hand.q[in->link] = in->state.q;
            hand.v[in->link] = in->state.rate;
            measured = 1;
        }
    }
    if (measured) {
        tact_world_refresh(s->world);
        tact_world_begin(s->world);
    }
}

void tact_session_read_inputs(struct tact_session *s, uint64_t tick)
{
    s->is_deadman_held = is_deadman_held_now(s);
    set_measured_joint_states(s, tick);
    tact_session_remove_grip_force(s);
    const int are_inputs_valid = map_inputs_to_targets(s);
    tact_session_apply_force_inputs(s, tick, are_inputs_valid);
    tact_session_set_tool_targets(s, tick, are_inputs_valid);
    tact_session_set_coupled_targets(s, tick, are_inputs_valid);
    tact_session_add_drive_port_work(s, tick);
}

static int is_output_device_lost(const struct tact_session *s, const struct session_output *out)
{
    return s->devices[out->device].input.state == TACT_DEVICE_LOST ||
           (out->sensor >= 0 && s->inputs[out->sensor].state.ticks == 0.0);
}

/* Gain of an output: the force of a coupling whose device is silent fades out, and returns by the
 * same ramp. */
static double update_output_gain(const struct tact_session *s, const struct session_output *out)
{
    const double step = s->safety.ramp_step;
    if (is_output_device_lost(s, out)) {
        return 0.0;
    }
    return out->port && out->port->is_device_silent ? fmax(0.0, out->gate - step)
                                                    : fmin(1.0, out->gate + step);
}

/* Sum of the force and moment of all contacts on a link or body, world axes, about `point`. */
static void sum_contact_wrenches(const struct tact_session *s, struct tact_owner owner,
                                 const double point[3], double wrench[6])
{
    for (int i = 0; i < 6; i++) {
        wrench[i] = 0.0;
    }
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const int shapes[2] = {c->a, c->b};
        for (int k = 0; c->touching && k < 2; k++) {
            struct tact_owner owner_of_other_shape = tact_world_owner(s->world, shapes[k]);
            double arm[3], moment[3];
            if (owner_of_other_shape.kind != owner.kind ||
                owner_of_other_shape.index != owner.index ||
                (owner.kind == TACT_OWNER_HAND && owner_of_other_shape.link != owner.link)) {
                continue;
            }
            double sign = k ? -1.0 : 1.0;
            tact_v3_sub(arm, c->patch.center, point);
            tact_v3_cross(moment, arm, c->wrench);
            for (int j = 0; j < 3; j++) {
                wrench[j] += sign * c->wrench[j];
                wrench[3 + j] += sign * (c->wrench[3 + j] + moment[j]);
            }
        }
    }
}

/* Value of an output, in N m or N, of a rate in rad/s or m/s. */
static double compute_output_value(struct tact_session *s, const struct session_output *out)
{
    double wrench[6];
    struct tact_pose frame;
    if (out->kind == OUTPUT_TORQUE) {
        struct tact_hand *hand = tact_world_hand(s->world, out->owner.index);
        return tact_hand_state(hand).torque[out->owner.link];
    }
    if (out->kind == OUTPUT_RATE) {
        return tact_hand_state(tact_world_hand(s->world, out->owner.index)).v[out->owner.link];
    }
    if (out->owner.kind == TACT_OWNER_HAND) {
        frame = *tact_hand_link_pose(tact_world_hand(s->world, out->owner.index), out->owner.link);
    } else if (out->owner.kind == TACT_OWNER_FIXED) {
        tact_v3_copy(frame.position, s->scene->bodies[out->owner.index - 1].position);
    } else {
        tact_session_body_pose(s, out->owner.index, &frame);
    }
    sum_contact_wrenches(s, out->owner, frame.position, wrench);
    const double *part = wrench + (out->kind == OUTPUT_MOMENT ? 3 : 0);
    return out->along ? tact_v3_dot(part, out->along) : tact_v3_norm(part);
}

/* The safety chain arms only while no device is lost. A device lost later only loses its own
 * outputs. */
static int may_arm_outputs(const struct tact_session *s)
{
    int lost = 0;
    for (int i = 0; i < s->device_count; i++) {
        lost += s->devices[i].input.state == TACT_DEVICE_LOST;
    }
    return s->is_deadman_held && (lost == 0 || s->safety.state == TACT_SAFETY_ARMED);
}

/* Resets the outputs of a lost device, so that they begin at 0 when it returns, at any rate limit.
 */
static void reset_outputs_of_lost_devices(struct tact_session *s)
{
    for (int i = 0; i < s->output_count; i++) {
        if (is_output_device_lost(s, &s->outputs[i])) {
            tact_safety_release(&s->safety, i);
            s->sent_outputs[i] = 0.0;
        }
    }
}

void tact_session_send_outputs(struct tact_session *s, uint64_t tick, int64_t now)
{
    tact_session_send_to_other_sites(s);
    tact_session_compute_person_forces(s);
    for (int i = 0; i < s->output_count; i++) {
        struct session_output *out = &s->outputs[i];
        out->gate = update_output_gain(s, out);
        if (out->kind == OUTPUT_POSITION) {
            continue;
        }
        const double force = out->tool   ? -tact_session_tool_force(out)
                             : out->port ? -out->port->requested_force_on_person
                                         : compute_output_value(s, out);
        s->requested_outputs[i] = out->gate > 0.0 ? out->gate * out->gain * force : 0.0;
    }
    tact_session_request_position_displacements(s, tick);
    if (!s->precedes_results_37) { /* the loss of a device is no trip of the rate limit */
        reset_outputs_of_lost_devices(s);
    }
    tact_safety_step(&s->safety, s->requested_outputs, may_arm_outputs(s), tick, s->sent_outputs);
    if (s->precedes_results_37 && !s->precedes_results_36) {
        reset_outputs_of_lost_devices(s);
    }
    tact_session_send_limited_positions(s);
    for (int i = 0; i < s->coupling_count; i++) {
        s->couplings[i].state.force = 0.0;
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        s->drive_ports[i].state.force = 0.0;
    }
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        if (out->kind == OUTPUT_POSITION) {
            continue;
        }
        const int lost = is_output_device_lost(s, out);
        const double sent = lost ? 0.0 : s->sent_outputs[i];
        s->devices[out->device].output[out->channel] = sent;
        if (out->tool) {
            tact_session_store_sent_tool_force(out, sent);
        } else if (out->port) {
            out->port->state.force -= sent / out->gain;
        } else if (out->drive_port) {
            out->drive_port->state.force -= sent / out->gain;
        } else if (out->admittance) {
            out->admittance->state.rate = sent / out->gain;
        }
    }
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        if (!s->replayed_input_record && d->device.ops->write) {
            d->device.ops->write(d->device.self, d->output, now);
        }
    }
}
