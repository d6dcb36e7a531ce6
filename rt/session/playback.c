/* Playback of a replay's outputs on a real device. */
#include "rt/session/playback_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/clock.h"

/* Index of a channel by its name, or -1. */
static int find_channel_index(const struct tact_device_channel *channels, int count,
                              const char *name)
{
    int at = -1;
    for (int i = 0; i < count; i++) {
        at = strcmp(channels[i].name, name) ? at : i;
    }
    return at;
}

static int find_scene_device_index(const struct tact_scene *scene, const char *name, size_t length)
{
    int at = -1;
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        const char *scene_device_name = scene->devices[i].name;
        at = strlen(scene_device_name) == length && !strncmp(scene_device_name, name, length)
                 ? (int)i
                 : at;
    }
    return at;
}

/* Opens the output device of playback as the given scene states. */
static int open_playback_device(const struct tact_session *s, const struct tact_replay_options *o,
                                int index, struct session_playback *playback,
                                struct tact_error *err)
{
    const struct tact_scene_device *def = &o->scene->devices[index];
    struct tact_session playback_session = {
        .scene = o->scene, .options = s->options, .period = s->period};
    playback_session.options.types = o->types;
    playback_session.options.type_count = o->type_count;
    playback_session.options.record_devices = NULL;
    if (def->calibration_required && !def->calibration) {
        char key[64];
        snprintf(key, sizeof key, "devices[%d].calibration_required", index);
        tact_scene_where(o->scene, key, err);
        return tact_error_set(err, -EINVAL,
                              "the log cannot be played back on the device %s, which requires a "
                              "calibration: run tact calibrate",
                              def->name);
    }
    int rc = tact_session_open_device(&playback_session, (uint32_t)index,
                                      &playback->opened_devices[playback->count].device, err);
    playback->count += !rc;
    return rc;
}

/* Opens the device of the deadman, which an operator here must hold: that of the log is in the
 * past. */
static int open_playback_deadman(const struct tact_session *s, const struct tact_replay_options *o,
                                 int written_device_index, struct session_playback *playback,
                                 struct tact_error *err)
{
    const char *path = o->scene->deadman;
    const char *dot = path ? strchr(path, '.') : NULL;
    int index = dot ? find_scene_device_index(o->scene, path, (size_t)(dot - path)) : -1;
    if (!path) {
        tact_error_at(err, o->scene->path, 0, 0, NULL);
        return tact_error_set(err, -EINVAL,
                              "this scene has no deadman: a log is played back on a device only "
                              "while a deadman is pressed");
    }
    tact_scene_where(o->scene, "deadman", err);
    if (index < 0) {
        return tact_error_set(err, -EINVAL, "expected device.channel, found \"%s\"", path);
    }
    int rc = index == written_device_index ? 0 : open_playback_device(s, o, index, playback, err);
    if (rc) {
        return rc;
    }
    playback->deadman_device = playback->count - 1;
    const struct tact_device_info *info =
        &playback->opened_devices[playback->deadman_device].device.info;
    playback->deadman_channel = find_channel_index(info->input, info->input_count, dot + 1);
    if (playback->deadman_channel < 0) {
        tact_scene_where(o->scene, "deadman", err);
        return tact_error_set(err, -EINVAL, "device \"%s\" has no input channel \"%s\"",
                              o->scene->devices[index].name, dot + 1);
    }
    return 0;
}

/* Limits that the given scene sets for a channel: the strictest of its outputs there. */
static int find_strictest_output_limits(const struct tact_scene *scene, const char *device,
                                        const char *channel, struct tact_safety_channel *limits)
{
    size_t length = strlen(device);
    int found = 0;
    *limits = (struct tact_safety_channel){INFINITY, INFINITY, 0.0, 0};
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        const struct tact_scene_output *def = &scene->outputs[i];
        if (strncmp(def->to, device, length) || def->to[length] != '.' ||
            strcmp(def->to + length + 1, channel)) {
            continue;
        }
        found = 1;
        limits->group = tact_scene_output_group(scene, i);
        limits->limit = fmin(limits->limit, def->limit);
        limits->rate = fmin(limits->rate, def->rate);
        limits->cutoff =
            def->filter > 0.0 && (limits->cutoff == 0.0 || def->filter < limits->cutoff)
                ? def->filter
                : limits->cutoff;
    }
    return found;
}

/* Makes the safety chain of playback with the given scene's limits, disarmed: it ramps up wherever
 * the replay begins. */
static int make_playback_safety_chain(const struct tact_session *s,
                                      const struct tact_replay_options *o,
                                      struct session_playback *playback, struct tact_error *err)
{
    const struct tact_device_info *logged_device =
        &s->devices[playback->logged_device_index].device.info;
    const struct tact_device_info *now = &playback->opened_devices[0].device.info;
    struct tact_safety_channel channels[TACT_SAFETY_CHANNELS];
    struct tact_safety_options options = tact_safety_default();
    options.period = s->period;
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        playback->channel[i] = -1;
        channels[i] = (struct tact_safety_channel){0.0, INFINITY, 0.0, 0};
        if (out->device != playback->logged_device_index) {
            continue;
        }
        const struct tact_device_channel *logged_output_channel =
            &logged_device->output[out->channel];
        if (logged_output_channel->raw > 0) {
            return tact_error_set(err, -ENOTSUP,
                                  "device %s: its output \"%s\" is a position: the device would go "
                                  "to where it was then; only forces and speeds are played back",
                                  o->playback_device, logged_output_channel->name);
        }
        int k = find_channel_index(now->output, now->output_count, logged_output_channel->name);
        if (k < 0 || strcmp(now->output[k].unit, logged_output_channel->unit)) {
            return tact_error_set(
                err, -EINVAL,
                "device %s: its output \"%s\" had the unit %s when the log was "
                "recorded, and now it %s%s",
                o->playback_device, logged_output_channel->name, logged_output_channel->unit,
                k < 0 ? "does not exist" : "has the unit ", k < 0 ? "" : now->output[k].unit);
        }
        if (!find_strictest_output_limits(o->scene, o->playback_device, logged_output_channel->name,
                                          &channels[i])) {
            tact_error_at(err, o->scene->path, 0, 0, NULL);
            return tact_error_set(err, -EINVAL,
                                  "the log has an output to %s.%s, for which this scene sets no "
                                  "limit: add that output to the scene",
                                  o->playback_device, logged_output_channel->name);
        }
        playback->channel[i] = k;
    }
    int rc = tact_session_check_output_vectors(o->scene, err);
    if (rc) {
        return rc;
    }
    rc = tact_safety_init(&playback->safety, channels, s->output_count, &options);
    return rc ? tact_error_set(err, rc, "%s: an output of the scene has an invalid limit or rate",
                               o->scene->path)
              : 0;
}

int tact_session_playback_open(struct tact_session *s, const struct tact_replay_options *o,
                               struct session_playback *playback, struct tact_error *err)
{
    int outputs = 0;
    memset(playback, 0, sizeof *playback);
    if (!o->scene) {
        return tact_error_set(
            err, -EINVAL,
            "playing back a log on a device needs a scene with a deadman and limits: --scene FILE");
    }
    playback->logged_device_index =
        find_scene_device_index(s->scene, o->playback_device, strlen(o->playback_device));
    for (int i = 0; i < s->output_count; i++) {
        outputs += s->outputs[i].device == playback->logged_device_index;
    }
    if (playback->logged_device_index < 0 || !outputs) {
        return tact_error_set(err, -ENODEV,
                              playback->logged_device_index < 0
                                  ? "the log's scene has no device \"%s\""
                                  : "the logged session has no output on the device \"%s\"",
                              o->playback_device);
    }
    int index = find_scene_device_index(o->scene, o->playback_device, strlen(o->playback_device));
    if (index < 0) {
        tact_error_at(err, o->scene->path, 0, 0, NULL);
        return tact_error_set(err, -ENODEV, "this scene has no device \"%s\"", o->playback_device);
    }
    int rc = open_playback_device(s, o, index, playback, err);
    rc = rc ? rc : open_playback_deadman(s, o, index, playback, err);
    rc = rc ? rc : make_playback_safety_chain(s, o, playback, err);
    if (rc) {
        tact_session_playback_close(playback);
    }
    return rc;
}

/* 1 while the deadman of playback is pressed, on a device that is present and has recent values. */
static int is_playback_deadman_held(const struct session_playback *playback)
{
    const struct tact_device_input *in = &playback->opened_devices[playback->deadman_device].input;
    return in->state != TACT_DEVICE_LOST && in->state != TACT_DEVICE_STALE &&
           in->channel[playback->deadman_channel] > 0.5;
}

void tact_session_playback_write(struct tact_session *s, struct session_playback *playback,
                                 uint64_t tick, struct tact_replay_report *report)
{
    int64_t now = tact_clock_now();
    for (int i = 0; i < playback->count; i++) {
        playback->opened_devices[i].device.ops->read(playback->opened_devices[i].device.self, tick,
                                                     (double)tick * s->period, now,
                                                     &playback->opened_devices[i].input);
    }
    int lost = playback->opened_devices[0].input.state == TACT_DEVICE_LOST;
    for (int i = 0; i < s->output_count; i++) {
        playback->requested_outputs[i] =
            playback->channel[i] >= 0 && !lost ? s->sent_outputs[i] : 0.0;
    }
    int state =
        tact_safety_step(&playback->safety, playback->requested_outputs,
                         is_playback_deadman_held(playback) && !lost, tick, playback->sent_outputs);
    for (int i = 0; i < s->output_count; i++) {
        if (playback->channel[i] >= 0) {
            playback->opened_devices[0].output[playback->channel[i]] = playback->sent_outputs[i];
        }
    }
    for (int i = 0; i < playback->count; i++) {
        if (playback->opened_devices[i].device.ops->write) {
            playback->opened_devices[i].device.ops->write(playback->opened_devices[i].device.self,
                                                          playback->opened_devices[i].output, now);
        }
    }
    report->playback_ticks++;
    report->playback_armed += state == TACT_SAFETY_ARMED;
    report->playback_limited =
        playback->safety.ticks[TACT_TRIP_CLAMP] + playback->safety.ticks[TACT_TRIP_RATE];
    report->playback_fault = state == TACT_SAFETY_FAULT;
}

void tact_session_playback_close(struct session_playback *playback)
{
    while (playback->count > 0) {
        struct tact_device *device = &playback->opened_devices[--playback->count].device;
        double *output = playback->opened_devices[playback->count].output;
        memset(output, 0, sizeof playback->opened_devices[0].output);
        if (device->ops->write) {
            device->ops->write(device->self, output, tact_clock_now());
        }
        device->ops->close(device->self);
    }
}
