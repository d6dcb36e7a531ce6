#include "devices/scripted/operator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/scripted/jerk_internal.h"
#include "devices/common/settings.h"

enum { GRIP, TURN, LIFT, DEADMAN, INPUTS };
enum { ROW = 4 }; /* number of values in a row of the script: time, grip, turn, lift */

struct scripted_operator {
    double deadman_hold_start; /* [s] */
    double deadman_hold_end;   /* [s] */
    double felt_force_channels[TACT_OPERATOR_FELT];
    int rows;
    double script_rows[]; /* rows x ROW */
};

static void interpolate_operator_script(const struct scripted_operator *self, double t,
                                        double *channel)
{
    const double *script_rows = self->script_rows;
    int low = 0;
    int high = self->rows - 1;
    if (t <= script_rows[0]) {
        memcpy(channel, script_rows + 1, 3 * sizeof *channel);
        return;
    }
    if (t >= script_rows[high * ROW]) {
        memcpy(channel, script_rows + high * ROW + 1, 3 * sizeof *channel);
        return;
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (script_rows[middle * ROW] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double *from = script_rows + low * ROW;
    const double *to = script_rows + high * ROW;
    double s = tact_minimum_jerk((t - from[0]) / (to[0] - from[0]));
    for (int i = 0; i < 3; i++) {
        channel[i] = from[1 + i] + s * (to[1 + i] - from[1 + i]);
    }
}

static void operator_read(void *data, uint64_t tick, double t, int64_t now_ns,
                          struct tact_device_input *in)
{
    const struct scripted_operator *self = data;
    (void)tick;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now_ns;
    interpolate_operator_script(self, t, in->channel);
    in->channel[DEADMAN] = t >= self->deadman_hold_start && t < self->deadman_hold_end ? 1.0 : 0.0;
}

static void operator_write(void *data, const double *out, int64_t now_ns)
{
    struct scripted_operator *self = data;
    (void)now_ns;
    memcpy(self->felt_force_channels, out, sizeof self->felt_force_channels);
}

static void operator_close(void *data)
{
    free(data);
}

static const struct tact_device_ops operator_ops = {TACT_ABI(struct tact_device_ops), operator_read,
                                                    operator_write, operator_close};

static int check_operator_script(const struct tact_device_config *config,
                                 const struct tact_device_setting *script_setting,
                                 struct tact_error *err)
{
    if (!script_setting) {
        return tact_settings_fault(config, NULL, err,
                                   "missing key \"script\": rows of [time, grip, turn, lift]");
    }
    if (!script_setting->numbers || script_setting->rows < 1 || script_setting->columns != ROW) {
        return tact_settings_fault(config, script_setting, err,
                                   "expected rows of 4 numbers: time, grip, turn, lift");
    }
    for (int i = 0; i < script_setting->rows; i++) {
        const double *row = script_setting->numbers + (ptrdiff_t)i * ROW;
        for (int k = 0; k < ROW; k++) {
            if (!isfinite(row[k])) {
                return tact_settings_fault(config, script_setting, err,
                                           "row %d: number %d is not finite", i + 1, k + 1);
            }
        }
        if (i > 0 && !(row[0] > row[-ROW])) {
            return tact_settings_fault(config, script_setting, err,
                                       "row %d: time %g s is not after the %g s of the row before",
                                       i + 1, row[0], row[-ROW]);
        }
        if (row[1 + GRIP] < 0.0 || row[1 + GRIP] > 1.0) {
            return tact_settings_fault(config, script_setting, err,
                                       "row %d: grip %g is outside 0 (open) .. 1 (closed)", i + 1,
                                       row[1 + GRIP]);
        }
    }
    return 0;
}

static void describe_operator(const struct scripted_operator *self,
                              const struct tact_device_config *config,
                              struct tact_device_info *info)
{
    tact_settings_info(config, tact_operator_type.name, info);
    info->input_count = INPUTS;
    tact_settings_channel(&info->input[GRIP], "grip", "1", self->script_rows[1 + GRIP]);
    tact_settings_channel(&info->input[TURN], "turn", "rad", self->script_rows[1 + TURN]);
    tact_settings_channel(&info->input[LIFT], "lift", "m", self->script_rows[1 + LIFT]);
    tact_settings_channel(&info->input[DEADMAN], "deadman", "1", 0.0);
    info->output_count = TACT_OPERATOR_FELT;
    for (int i = 0; i < TACT_OPERATOR_FELT; i++) {
        char name[16];
        snprintf(name, sizeof name, "felt_%d", i);
        tact_settings_channel(&info->output[i], name, "N m", 0.0);
    }
}

static int operator_open(const struct tact_device_config *config, struct tact_device *out,
                         struct tact_error *err)
{
    static const char *const keys[] = {"script", "deadman_from", "deadman_until"};
    const struct tact_device_setting *script_rows = tact_settings_find(config, "script");
    double from = -INFINITY;
    double deadman_release_time = INFINITY;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : check_operator_script(config, script_rows, err);
    rc = rc ? rc : tact_settings_number(config, "deadman_from", &from, err);
    rc = rc ? rc : tact_settings_number(config, "deadman_until", &deadman_release_time, err);
    if (rc) {
        return rc;
    }
    if (!(deadman_release_time > from)) {
        return tact_settings_fault(config, tact_settings_find(config, "deadman_until"), err,
                                   "deadman_until, %g s, must be later than deadman_from",
                                   deadman_release_time);
    }
    size_t size = (size_t)script_rows->rows * ROW * sizeof(double);
    struct scripted_operator *self = calloc(1, sizeof *self + size);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    self->deadman_hold_start = from;
    self->deadman_hold_end = deadman_release_time;
    self->rows = script_rows->rows;
    memcpy(self->script_rows, script_rows->numbers, size);
    describe_operator(self, config, &out->info);
    out->ops = &operator_ops;
    out->self = self;
    return 0;
}

const struct tact_device_type tact_operator_type = {
    TACT_ABI(struct tact_device_type), "operator", "simulated operator: a scripted pair of fingers",
    operator_open, NULL};

const double *tact_operator_felt(const struct tact_device *device)
{
    if (device->ops != &operator_ops) {
        return NULL;
    }
    return ((const struct scripted_operator *)device->self)->felt_force_channels;
}
