/*
 * Outputs that are positions. Zero is a place like any other, so that a device is sent where it was
 * sent last while outputs are not armed and after the last tick, and where it is measured to be at
 * the start and after it was lost. From there it follows the motion of the joint: nothing jumps at
 * arming, at a loss or on return. The safety chain limits how far the device is from that place, of
 * which zero is safe. Real-time safe but for tact_session_connect_position_outputs().
 */
#include "rt/session/position_internal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "rt/safety_internal.h"
#include "rt/session/admittance_internal.h"

static void connect_position_output(const struct tact_session *s, struct session_position_output *p)
{
    const struct tact_device_info *info = &s->devices[p->device].device.info;
    p->position_measuring_channel = info->output[p->channel].raw - 1;
    p->output = -1;
    p->limit = DBL_MAX;
    p->state.last_sent_device_position = p->state.anchor =
        info->input[p->position_measuring_channel].rest;
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        if (out->kind == OUTPUT_POSITION && out->device == p->device &&
            out->channel == p->channel) {
            p->output = i;
            p->limit = s->scene->outputs[i].limit;
            p->is_admittance_joint =
                out->gain != 0.0 &&
                tact_session_find_admittance(s, out->owner.index, out->owner.link) != NULL;
        }
    }
}

int tact_session_connect_position_outputs(struct tact_session *s)
{
    int count = 0;
    for (int i = 0; i < s->device_count; i++) {
        const struct tact_device_info *info = &s->devices[i].device.info;
        for (int k = 0; k < info->output_count; k++) {
            count += info->output[k].raw > 0;
        }
    }
    s->positions = calloc(1, sizeof *s->positions + (size_t)count * sizeof *s->positions->position);
    if (!s->positions) {
        return -ENOMEM;
    }
    for (int i = 0; i < s->device_count; i++) {
        const struct tact_device_info *info = &s->devices[i].device.info;
        for (int k = 0; k < info->output_count; k++) {
            if (info->output[k].raw > 0) {
                struct session_position_output *p = &s->positions->position[s->positions->count++];
                p->device = i;
                p->channel = k;
                connect_position_output(s, p);
            }
        }
    }
    tact_session_send_last_positions(s);
    return 0;
}

static double get_joint_position(const struct tact_session *s,
                                 const struct session_position_output *p)
{
    if (p->output < 0) {
        return 0.0;
    }
    const struct tact_owner *owner = &s->outputs[p->output].owner;
    return tact_hand_state(tact_world_hand(s->world, owner->index)).q[owner->link];
}

/* Sets the anchor: further motion of the joint is added to the position that was sent last. */
static void anchor_device_to_joint_position(struct session_position_output *p, double joint)
{
    p->state.anchor = p->state.last_sent_device_position;
    p->state.joint_position_at_anchor = joint;
}

/* Sets the anchor to the measured position once the device is present; until then, and while it is
 * lost, to the position that was sent last. */
static void update_known_device_position(const struct tact_session *s,
                                         struct session_position_output *p, double joint)
{
    const struct tact_device_input *in = &s->devices[p->device].input;
    const double measured = in->channel[p->position_measuring_channel];
    if (in->state == TACT_DEVICE_LOST) {
        p->state.is_device_position_known = 0.0;
    } else if (p->state.is_device_position_known == 0.0 && in->state != TACT_DEVICE_STALE &&
               isfinite(measured)) {
        p->state.is_device_position_known = 1.0;
        p->state.last_sent_device_position = measured;
        anchor_device_to_joint_position(p, joint);
    }
    if (p->state.is_device_position_known == 0.0) {
        anchor_device_to_joint_position(p, joint);
    }
}

/* Clamps a position to the range of the output; one that began outside may come back from there. */
static double clamp_device_position(const struct session_position_output *p, double x)
{
    const double low = fmin(-p->limit, p->state.anchor), high = fmax(p->limit, p->state.anchor);
    return x < low ? low : x > high ? high : x;
}

/* Displacement from the anchor that an output requests. Where a person pushes a joint beyond the
 * limit of the device, that part of the motion is not counted, so that the device moves back as
 * soon as the joint does. */
static double compute_position_displacement(struct tact_session *s,
                                            struct session_position_output *p, double joint,
                                            uint64_t tick)
{
    const struct session_output *out = &s->outputs[p->output];
    const double unclamped_device_position =
        p->state.anchor + out->gain * (joint - p->state.joint_position_at_anchor);
    const double clamped_device_position = clamp_device_position(p, unclamped_device_position);
    const int is_device_position_clamped = s->safety.state == TACT_SAFETY_ARMED &&
                                           clamped_device_position != unclamped_device_position &&
                                           isfinite(unclamped_device_position);
    int32_t was_device_position_clamped = p->state.clamped != 0.0;
    tact_safety_count_clamp(&s->safety, p->output, unclamped_device_position, tick,
                            is_device_position_clamped, &was_device_position_clamped);
    p->state.clamped = was_device_position_clamped;
    if (is_device_position_clamped && p->is_admittance_joint) {
        p->state.joint_position_at_anchor =
            joint - (clamped_device_position - p->state.anchor) / out->gain;
    }
    return clamped_device_position - p->state.anchor;
}

void tact_session_request_position_displacements(struct tact_session *s, uint64_t tick)
{
    for (int i = 0; i < s->positions->count; i++) {
        struct session_position_output *p = &s->positions->position[i];
        const double joint = get_joint_position(s, p);
        update_known_device_position(s, p, joint);
        if (p->output >= 0) {
            const double gate = s->outputs[p->output].gate;
            const double displacement = compute_position_displacement(s, p, joint, tick);
            s->requested_outputs[p->output] = gate > 0.0 ? gate * displacement : 0.0;
        }
    }
}

/* Moves a device by the displacement that the armed safety chain allows. Where a person pushes a
 * joint faster than the rate limit, the rest of the motion is not counted, so that the device stops
 * when the joint does. */
static void advance_sent_device_position(struct tact_session *s, struct session_position_output *p,
                                         double joint)
{
    const struct session_output *out = &s->outputs[p->output];
    const double displacement = s->sent_outputs[p->output];
    p->state.last_sent_device_position = clamp_device_position(p, p->state.anchor + displacement);
    if (p->is_admittance_joint && s->safety.channel[p->output].slowed) {
        p->state.joint_position_at_anchor =
            joint - displacement / (out->gain * s->safety.ramp * out->gate);
    }
}

void tact_session_send_limited_positions(struct tact_session *s)
{
    const int are_session_outputs_armed = s->safety.state == TACT_SAFETY_ARMED;
    for (int i = 0; i < s->positions->count; i++) {
        struct session_position_output *p = &s->positions->position[i];
        const double joint = get_joint_position(s, p), before = p->state.last_sent_device_position;
        if (p->output < 0) {
            continue;
        }
        const struct session_output *out = &s->outputs[p->output];
        s->requested_outputs[p->output] += p->state.anchor;
        if (are_session_outputs_armed && p->state.is_device_position_known != 0.0) {
            advance_sent_device_position(s, p, joint);
        } else {
            anchor_device_to_joint_position(p, joint);
        }
        s->sent_outputs[p->output] = p->state.last_sent_device_position;
        if (out->admittance) {
            out->admittance->state.rate =
                (p->state.last_sent_device_position - before) / (s->period * out->gain);
        }
    }
    tact_session_send_last_positions(s);
}

void tact_session_send_last_positions(struct tact_session *s)
{
    for (int i = 0; s->positions && i < s->positions->count; i++) {
        const struct session_position_output *p = &s->positions->position[i];
        s->devices[p->device].output[p->channel] = p->state.last_sent_device_position;
    }
}
