#include "rt/session/replay.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/session/facts.h"
#include "rt/session/session_internal.h"

static int get_file(void *user, const char *name, const void **data, uint64_t *size)
{
    const struct tact_log_attachment *a = tact_log_attachment(user, name);
    if (!a) {
        return -ENOENT;
    }
    *data = a->data;
    *size = a->size;
    return 0;
}

static int read_channels(json_t *list, struct tact_device_channel *out)
{
    int count = (int)json_array_size(list);
    if (count > TACT_DEVICE_CHANNELS) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const char *name, *unit;
        if (json_unpack(json_array_get(list, (size_t)i), "{s:s, s:s, s:F}", "name", &name, "unit",
                        &unit, "rest", &out[i].rest)) {
            return -1;
        }
        snprintf(out[i].name, sizeof out[i].name, "%s", name);
        snprintf(out[i].unit, sizeof out[i].unit, "%s", unit);
    }
    return count;
}

static int read_device(json_t *item, struct tact_device_info *info)
{
    const char *name, *type;
    json_t *inputs, *outputs;
    if (json_unpack(item, "{s:s, s:s, s:o, s:o}", "name", &name, "type", &type, "inputs", &inputs,
                    "outputs", &outputs)) {
        return -EINVAL;
    }
    snprintf(info->name, sizeof info->name, "%s", name);
    snprintf(info->type, sizeof info->type, "%s", type);
    info->input_count = read_channels(inputs, info->input);
    info->output_count = read_channels(outputs, info->output);
    return info->input_count < 0 || info->output_count < 0 ? -EINVAL : 0;
}

/* The devices as the log describes them; *out is freed with free(). */
static int read_devices(struct tact_log *log, struct tact_device_info **out, int *count,
                        struct tact_error *err)
{
    const struct tact_log_attachment *a = tact_log_attachment(log, TACT_LOG_DEVICES);
    json_error_t why;
    json_t *list = a ? json_loadb(a->data, a->size, 0, &why) : NULL;
    *count = (int)json_array_size(list);
    *out = calloc((size_t)*count + 1, sizeof **out);
    int rc = !list ? -EINVAL : (!*out ? -ENOMEM : 0);
    for (int i = 0; !rc && i < *count; i++) {
        rc = read_device(json_array_get(list, (size_t)i), &(*out)[i]);
    }
    json_decref(list);
    return rc ? tact_error_set(err, rc, "the log's %s cannot be read", TACT_LOG_DEVICES) : 0;
}

static int same_layout(const struct tact_layout *a, const struct tact_layout *b)
{
    if (a->field_count != b->field_count || a->size != b->size) {
        return 0;
    }
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct tact_field *fa = &a->fields[i], *fb = &b->fields[i];
        if (strcmp(fa->name, fb->name) || fa->kind != fb->kind || fa->offset != fb->offset ||
            fa->count != fb->count) {
            return 0;
        }
    }
    return 1;
}

/* Facts that bits depend on, where the log was made on something else. */
static void compare_facts(struct tact_log *log, struct tact_messages messages,
                          struct tact_replay_report *report)
{
    struct tact_facts f;
    tact_facts_gather(&f);
    const struct tact_log_fact here[] = {{"cpu", f.cpu},
                                         {"libc", f.libc},
                                         {"libm", f.libm},
                                         {"lapack", f.lapack},
                                         {"build", f.build}};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
        const char *there = tact_log_fact(log, here[i].key);
        if (there && strcmp(there, here[i].value)) {
            size_t used = strlen(report->mismatch);
            snprintf(report->mismatch + used, sizeof report->mismatch - used, "%s%s",
                     used ? ", " : "", here[i].key);
            tact_message(messages, TACT_MESSAGE_WARNING,
                         "%s was \"%s\" when this was recorded and is \"%s\" now: bits may differ",
                         here[i].key, there, here[i].value);
        }
    }
}

static void compare(const struct tact_session *s, const struct tact_record *logged,
                    struct tact_replay_report *report)
{
    const struct tact_layout *layout = &s->layout;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->kind == TACT_FIELD_TIMING) {
            continue;
        }
        report->values += f->count;
        for (uint32_t k = f->offset; k < f->offset + f->count; k++) {
            if (!memcmp(&logged->values[k], &s->last->values[k], sizeof(double))) {
                continue;
            }
            if (!report->differing++) {
                report->first_tick = logged->tick;
                report->first_element = k - f->offset;
                report->logged = logged->values[k];
                report->replayed = s->last->values[k];
                snprintf(report->first_field, sizeof report->first_field, "%s", f->name);
            }
        }
    }
}

static int replay_ticks(struct tact_session *s, struct tact_log *log,
                        struct tact_replay_report *report)
{
    uint32_t bytes = tact_layout_bytes(&s->layout);
    struct tact_record *now = malloc(bytes), *before = malloc(bytes);
    uint64_t expected = 0;
    int rc = now && before ? 1 : -ENOMEM;
    while (rc > 0 && (rc = tact_log_next(log, now)) > 0) {
        int first = report->ticks == 0 && report->resyncs == 0;
        if (now->tick != expected && !first) {
            tact_session_restore(s, before);
            report->resyncs++;
        }
        if (now->tick != 0 && first) {
            tact_session_restore(s, now); /* nothing before it: it can only be started from */
            report->resyncs++;
        } else {
            s->fed = now;
            int64_t began = tact_clock_now();
            tact_session_tick(s, now->tick, now->stamp_ns, now->stamp_ns);
            tact_histogram_add(&report->compute, tact_clock_now() - began);
            compare(s, now, report);
            report->ticks++;
        }
        expected = now->tick + 1;
        memcpy(before, now, bytes);
    }
    free(now);
    free(before);
    return rc;
}

static int replay_scene(struct tact_log *log, const struct tact_scene *scene,
                        struct tact_messages messages, struct tact_replay_report *report,
                        struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_device_info *devices = NULL;
    struct tact_session *s = NULL;
    int count = 0;
    options.clock = TACT_LOOP_FREE;
    options.messages = messages;
    int rc = read_devices(log, &devices, &count, err);
    rc = rc ? rc : tact_session_prepare(scene, &options, devices, count, &s, err);
    if (!rc && !same_layout(&s->layout, tact_log_layout(log))) {
        rc = tact_error_set(err, -EINVAL,
                            "the log's records are not laid out as its scene's are "
                            "by this version of tact");
    }
    rc = rc ? rc : replay_ticks(s, log, report);
    tact_session_destroy(s);
    free(devices);
    return rc;
}

static int parse_scene(struct tact_log *log, struct tact_scene **scene, struct tact_error *err)
{
    const struct tact_log_attachment *text = tact_log_attachment(log, TACT_LOG_SCENE);
    struct tact_scene_files files = {get_file, log};
    const char *name = tact_log_fact(log, "scene");
    if (!text) {
        tact_error_set(err, -EINVAL, "the log holds no %s", TACT_LOG_SCENE);
        return -EINVAL;
    }
    return tact_scene_parse(text->data, text->size, name ? name : TACT_LOG_SCENE, &files, scene,
                            err);
}

int tact_replay_run(const char *path, struct tact_messages messages,
                    struct tact_replay_report *report, struct tact_error *err)
{
    struct tact_log *log;
    struct tact_scene *scene;
    memset(report, 0, sizeof *report);
    tact_histogram_reset(&report->compute);
    int rc = tact_log_open(path, &log, err);
    if (rc) {
        return rc;
    }
    const struct tact_log_state *state = tact_log_state(log);
    report->complete = state->complete;
    report->bytes_lost = state->bytes_lost;
    snprintf(report->damage, sizeof report->damage, "%s", state->why);
    compare_facts(log, messages, report);
    rc = parse_scene(log, &scene, err);
    if (!rc) {
        rc = replay_scene(log, scene, messages, report, err);
        tact_scene_free(scene);
    }
    tact_log_close(log);
    return rc;
}
