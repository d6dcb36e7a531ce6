#include "devices/recorded/recording.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/settings.h"
#include "rt/log/log_reader.h"
#include "rt/session/scene_log.h"

static const double slack = 1e-9; /* [s] tolerance of sums of times */

struct row {
    double time; /* time of the record [s] */
    int64_t age; /* age of the newest value in the record [ns] */
    int32_t state;
};

struct recording_device {
    double start; /* [s] */
    int channels;
    size_t rows;
    size_t at; /* current row */
    struct row *row;
    double *values; /* rows x channels */
};

static void recording_read(void *data, uint64_t tick, double t, int64_t now_ns,
                           struct tact_device_input *in)
{
    struct recording_device *self = data;
    const double time = t + self->start;
    (void)tick;
    while (self->at + 1 < self->rows && self->row[self->at + 1].time <= time + slack) {
        self->at++;
    }
    const struct row *row = &self->row[self->at];
    const size_t channels = (size_t)self->channels;
    /* a repeated row ages */
    const double time_since_recorded_row = time - row->time > slack ? time - row->time : 0.0;
    const bool has_recording_ended = self->at + 1 == self->rows && time_since_recorded_row > 0.0;
    in->state = has_recording_ended ? TACT_DEVICE_ENDED : row->state;
    in->stamp_ns = now_ns - row->age - (int64_t)(fmin(time_since_recorded_row, 4e9) * 1e9 + 0.5);
    memcpy(in->channel, self->values + self->at * channels, channels * sizeof *in->channel);
}

static void recording_close(void *data)
{
    struct recording_device *self = data;
    free(self->row);
    free(self->values);
    free(self);
}

static const struct tact_device_ops recording_ops = {TACT_ABI(struct tact_device_ops),
                                                     recording_read, NULL, recording_close};

static int report_recording_out_of_memory(struct tact_error *err)
{
    return tact_error_set(err, -ENOMEM, "out of memory");
}

/* Converts what a record has of the device's state and stamp, if they are in their ranges. */
static bool read_recorded_row(const struct tact_record *record, const double *v, double period,
                              struct row *row)
{
    const double limit = 9e18; /* [ns] largest accepted age, below the largest 64-bit integer */
    if (!(v[0] >= TACT_DEVICE_OK && v[0] <= TACT_DEVICE_ENDED) || !(fabs(v[1]) < limit)) {
        return false;
    }
    row->time = (double)record->tick * period;
    row->state = (int32_t)v[0];
    return !__builtin_sub_overflow(record->stamp_ns, (int64_t)v[1], &row->age) &&
           fabs((double)row->age) < limit / 2;
}

/* Reads the inputs of a device from all records of a log; offset: where they begin in a record. */
static int read_recorded_inputs(struct recording_device *self,
                                const struct tact_device_config *config, struct tact_log *log,
                                uint32_t offset, double period, struct tact_error *err)
{
    const struct tact_device_setting *file = tact_settings_find(config, "file");
    const size_t most = (size_t)tact_log_state(log)->ticks, channels = (size_t)self->channels;
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    self->row = calloc(most + 1, sizeof *self->row);
    self->values = calloc(most * channels + 1, sizeof *self->values);
    int rc = 0;
    if (!record || !self->row || !self->values) {
        free(record);
        return report_recording_out_of_memory(err);
    }
    while (self->rows < most && (rc = tact_log_next(log, record)) > 0) {
        const double *v = record->values + offset;
        if (!read_recorded_row(record, v, period, &self->row[self->rows])) {
            rc = tact_settings_fault(config, file, err,
                                     "tick %llu of the log: the device's state %g or its stamp "
                                     "%g ns is out of range",
                                     (unsigned long long)record->tick, v[0], v[1]);
            free(record);
            return rc;
        }
        memcpy(self->values + self->rows++ * channels, v + 2, channels * sizeof *v);
    }
    free(record);
    if (rc < 0) {
        return tact_error_set(err, rc,
                              "the log to play back cannot be read after its first %zu ticks: %s",
                              self->rows, strerror(-rc));
    }
    return self->rows ? 0
                      : tact_settings_fault(config, file, err, "the log to play back has no tick");
}

/* Finds the device in the log. */
static int find_device_in_log(struct recording_device *self,
                              const struct tact_device_config *config, struct tact_log *log,
                              const struct tact_scene_log *scene_log, struct tact_device_info *info,
                              struct tact_error *err)
{
    const char *name = config->name, *period = tact_log_fact(log, "period_s");
    char known[256] = "";
    double seconds = 0.0;
    int rc = tact_settings_text(config, "device", &name, err);
    if (rc) {
        return rc;
    }
    if (!period || tact_settings_parse(period, &seconds) || !(seconds > 0.0)) {
        return tact_settings_fault(config, tact_settings_find(config, "file"), err,
                                   "the log to play back does not state the period of its loop");
    }
    for (int i = 0; i < scene_log->device_count; i++) {
        if (!strcmp(scene_log->devices[i].name, name)) {
            *info = scene_log->devices[i];
            self->channels = info->input_count;
            return read_recorded_inputs(self, config, log, scene_log->device_inputs[i], seconds,
                                        err);
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                 scene_log->devices[i].name);
    }
    return tact_settings_fault(config, tact_settings_find(config, "device"), err,
                               "the log has no device \"%s\"; it has: %s", name,
                               known[0] ? known : "none");
}

static int load_recorded_log(struct recording_device *self, const struct tact_device_config *config,
                             const char *path, struct tact_device_info *info,
                             struct tact_error *err)
{
    struct tact_log *log = NULL;
    struct tact_scene_log scene_log = {0};
    struct tact_error why = {0};
    int rc = tact_log_open(path, &log, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "file"), err, "%s: %s", path,
                            why.text);
        return rc;
    }
    rc = tact_scene_log_open(log, config->messages, &scene_log, &why);
    if (rc) {
        tact_settings_fault(config, tact_settings_find(config, "file"), err, "%s: %s", path,
                            why.text);
    } else {
        rc = find_device_in_log(self, config, log, &scene_log, info, err);
    }
    if (!rc) {
        const struct tact_log_state *state = tact_log_state(log);
        tact_message(config->messages, state->complete ? TACT_MESSAGE_INFO : TACT_MESSAGE_WARNING,
                     "%s: %s: %zu records of %s (%s)%s%s", config->name, path, self->rows,
                     info->name, info->type, state->complete ? "" : "; damaged: ", state->why);
    }
    tact_scene_log_close(&scene_log);
    tact_log_close(log);
    return rc;
}

static int recording_open(const struct tact_device_config *config, struct tact_device *out,
                          struct tact_error *err)
{
    static const char *const keys[] = {"file", "device", "start"};
    double start = 0.0;
    char path[1024] = "";
    int rc = tact_settings_check(config, keys, 3, err);
    rc = rc ? rc : tact_settings_path(config, "file", path, sizeof path, err);
    rc = rc ? rc : tact_settings_number(config, "start", &start, err);
    if (rc) {
        return rc;
    }
    if (!path[0]) {
        return tact_settings_fault(config, NULL, err,
                                   "missing key \"file\": expected the path of a log of tact");
    }
    struct recording_device *self = calloc(1, sizeof *self);
    if (!self) {
        return report_recording_out_of_memory(err);
    }
    self->start = start;
    rc = load_recorded_log(self, config, path, &out->info, err);
    if (rc) {
        recording_close(self);
        return rc;
    }
    snprintf(out->info.name, sizeof out->info.name, "%s", config->name);
    snprintf(out->info.type, sizeof out->info.type, "%s", tact_recording_type.name);
    out->ops = &recording_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_recording_type = {
    TACT_ABI(struct tact_device_type), "recording",
    "plays back what another session's loop read from a device", recording_open, NULL};
