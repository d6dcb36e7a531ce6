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
    double last_written_felt_torques[TACT_OPERATOR_FELT];
    int rows;
    double operator_script_rows[]; /* rows x ROW */
};

static void interpolate_operator_script(const struct scripted_operator *self, double t,
                                        double *channel)
{
    const double *operator_script_rows = self->operator_script_rows;
    int low = 0;
    int high = self->rows - 1;
    if (t <= operator_script_rows[0]) {
        memcpy(channel, operator_script_rows + 1, 3 * sizeof *channel);
        return;
    }
    if (t >= operator_script_rows[high * ROW]) {
        memcpy(channel, operator_script_rows + high * ROW + 1, 3 * sizeof *channel);
        return;
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (operator_script_rows[middle * ROW] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double *from = operator_script_rows + low * ROW;
    const double *to = operator_script_rows + high * ROW;
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
    memcpy(self->last_written_felt_torques, out, sizeof self->last_written_felt_torques);
}

static void operator_close(void *data)
{
    free(data);
}

static const struct tact_device_ops operator_ops = {TACT_ABI(struct tact_device_ops), operator_read,
                                                    operator_write, operator_close};

static int check_operator_script(const struct tact_device_config *config,
                                 const struct tact_device_setting *operator_script_setting,
                                 struct tact_error *err)
{
    if (!operator_script_setting) {
        return tact_settings_fault(config, NULL, err,
                                   "missing key \"script\": rows of [time, grip, turn, lift]");
    }
    if (!operator_script_setting->numbers || operator_script_setting->rows < 1 ||
        operator_script_setting->columns != ROW) {
        return tact_settings_fault(config, operator_script_setting, err,
                                   "expected rows of 4 numbers: time, grip, turn, lift");
    }
    for (int i = 0; i < operator_script_setting->rows; i++) {
        const double *row = operator_script_setting->numbers + (ptrdiff_t)i * ROW;
        for (int k = 0; k < ROW; k++) {
            if (!isfinite(row[k])) {
                return tact_settings_fault(config, operator_script_setting, err,
                                           "row %d: number %d is not finite", i + 1, k + 1);
            }
        }
        if (i > 0 && !(row[0] > row[-ROW])) {
            return tact_settings_fault(config, operator_script_setting, err,
                                       "row %d: time %g s is not after the %g s of the row before",
                                       i + 1, row[0], row[-ROW]);
        }
        if (row[1 + GRIP] < 0.0 || row[1 + GRIP] > 1.0) {
            return tact_settings_fault(config, operator_script_setting, err,
                                       "row %d: grip %g is outside 0 (open) .. 1 (closed)", i + 1,
                                       row[1 + GRIP]);
        }
    }
    return 0;
}

static void describe_operator_channels(const struct scripted_operator *self,
                                       const struct tact_device_config *config,
                                       struct tact_device_info *info)
{
    tact_settings_info(config, tact_operator_type.name, info);
    info->input_count = INPUTS;
    tact_settings_channel(&info->input[GRIP], "grip", "1", self->operator_script_rows[1 + GRIP]);
    tact_settings_channel(&info->input[TURN], "turn", "rad", self->operator_script_rows[1 + TURN]);
    tact_settings_channel(&info->input[LIFT], "lift", "m", self->operator_script_rows[1 + LIFT]);
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
    const struct tact_device_setting *operator_script_rows = tact_settings_find(config, "script");
    double from = -INFINITY;
    double deadman_release_time = INFINITY;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, err);
    rc = rc ? rc : check_operator_script(config, operator_script_rows, err);
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
    size_t size = (size_t)operator_script_rows->rows * ROW * sizeof(double);
    struct scripted_operator *self = calloc(1, sizeof *self + size);
    if (!self) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    self->deadman_hold_start = from;
    self->deadman_hold_end = deadman_release_time;
    self->rows = operator_script_rows->rows;
    memcpy(self->operator_script_rows, operator_script_rows->numbers, size);
    describe_operator_channels(self, config, &out->info);
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
    return ((const struct scripted_operator *)device->self)->last_written_felt_torques;
}
