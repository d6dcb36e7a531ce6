/* A replay's outputs onto a real device. */
#include "rt/session/onto_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/clock.h"

/* What stands at the log's outputs must still be what the device has. */
static int check_channels(const struct tact_session *s, const struct session_onto *o,
                          struct tact_error *err)
{
    const struct tact_device_info *now = &o->device.info;
    const struct tact_device_info *then = &s->devices[o->index].device.info;
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        if (out->device == o->index &&
            (out->channel >= now->output_count ||
             strcmp(now->output[out->channel].name, then->output[out->channel].name))) {
            return tact_error_set(
                err, -EINVAL, "%s: channel %d was \"%s\" when this was recorded, and is not now",
                now->name, out->channel, then->output[out->channel].name);
        }
    }
    return 0;
}

/* A chain of its own, set up as the log's and disarmed: it ramps in wherever the replay begins. */
static int make_chain(const struct tact_session *s, struct session_onto *o)
{
    struct tact_safety_channel channels[TACT_SAFETY_CHANNELS];
    struct tact_safety_options options = tact_safety_default();
    options.period = s->period;
    for (int i = 0; i < s->output_count; i++) {
        const struct tact_scene_output *def = &s->scene->outputs[i];
        channels[i] = (struct tact_safety_channel){def->limit, def->rate, 0.0};
    }
    return tact_safety_init(&o->safety, channels, s->output_count, &options);
}

int tact_session_onto_open(struct tact_session *s, const char *name, struct session_onto *o,
                           struct tact_error *err)
{
    int outputs = 0;
    memset(o, 0, sizeof *o);
    o->index = -1;
    for (int i = 0; i < s->device_count; i++) {
        o->index = strcmp(s->scene->devices[i].name, name) ? o->index : i;
    }
    for (int i = 0; i < s->output_count; i++) {
        outputs += s->outputs[i].device == o->index;
    }
    if (o->index < 0 || !outputs) {
        return tact_error_set(err, -ENODEV,
                              o->index < 0 ? "the log's scene has no device \"%s\""
                                           : "nothing goes to the device \"%s\" in this session",
                              name);
    }
    int rc = make_chain(s, o);
    rc = rc ? rc : tact_session_open_device(s, (uint32_t)o->index, &o->device, err);
    o->open = !rc;
    rc = rc ? rc : check_channels(s, o, err);
    if (rc) {
        tact_session_onto_close(o);
    }
    return rc;
}

void tact_session_onto_write(struct tact_session *s, struct session_onto *o, uint64_t tick)
{
    int64_t now = tact_clock_now();
    o->device.ops->read(o->device.self, tick, (double)tick * s->period, now, &o->input);
    int lost = o->input.state == TACT_DEVICE_LOST;
    for (int i = 0; i < s->output_count; i++) {
        o->wanted[i] = s->outputs[i].device == o->index && !lost ? s->sent[i] : 0.0;
    }
    tact_safety_step(&o->safety, o->wanted, !lost, tick, o->sent);
    for (int i = 0; i < s->output_count; i++) {
        if (s->outputs[i].device == o->index) {
            o->output[s->outputs[i].channel] = lost ? 0.0 : o->sent[i];
        }
    }
    if (o->device.ops->write) {
        o->device.ops->write(o->device.self, o->output, now);
    }
}

void tact_session_onto_close(struct session_onto *o)
{
    if (!o->open) {
        return;
    }
    memset(o->output, 0, sizeof o->output);
    if (o->device.ops->write) {
        o->device.ops->write(o->device.self, o->output, tact_clock_now());
    }
    o->device.ops->close(o->device.self);
    o->open = 0;
}
