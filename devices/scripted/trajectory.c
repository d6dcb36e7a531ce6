#include "devices/scripted/trajectory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/scripted/jerk_internal.h"
#include "devices/common/settings.h"
#include "devices/scripted/trajectory_internal.h"

/* Finds the last row at or before time tau that is followed by another. tau lies within the motion.
 */
static int find_row_before_time(const struct tact_trajectory *self, double tau)
{
    int low = 0;
    int high = self->rows - 1;
    if (!self->time) {
        int row = (int)(tau * self->rate);
        return row > high - 1 ? high - 1 : row;
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (self->time[middle] <= tau) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Change of a column over `step` seconds at its slope at a row: that of the neighbouring rows,
 * one-sided at the ends. The quotient of the times is at most 1, so nothing overflows. */
static double column_slope_times_row_interval(const struct tact_trajectory *self, int row,
                                              int column, double step)
{
    int a = row > 0 ? row - 1 : row;
    int b = row < self->rows - 1 ? row + 1 : row;
    size_t columns = (size_t)self->columns;
    double column_difference_of_rows = self->values[(size_t)b * columns + (size_t)column] -
                                       self->values[(size_t)a * columns + (size_t)column];
    return column_difference_of_rows *
           (step / (tact_trajectory_row_time(self, b) - tact_trajectory_row_time(self, a)));
}

static void interpolate_trajectory_columns(const struct tact_trajectory *self, double tau,
                                           double *channel)
{
    int row = find_row_before_time(self, tau);
    const double *p = self->values + (size_t)row * (size_t)self->columns;
    const double *q = p + self->columns;
    double time_between_rows =
        tact_trajectory_row_time(self, row + 1) - tact_trajectory_row_time(self, row);
    double u = (tau - tact_trajectory_row_time(self, row)) / time_between_rows;
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    for (int i = 0; i < self->columns; i++) {
        double linearly_interpolated_value = p[i] + u * (q[i] - p[i]);
        if (self->is_cubic_interpolation) {
            /* cubic Hermite segment, computed as a straight line plus corrections for the slopes */
            double start_slope_minus_linear_slope =
                column_slope_times_row_interval(self, row, i, time_between_rows) - (q[i] - p[i]);
            double end_slope_minus_linear_slope =
                column_slope_times_row_interval(self, row + 1, i, time_between_rows) -
                (q[i] - p[i]);
            linearly_interpolated_value +=
                u * (1.0 - u) *
                ((1.0 - u) * start_slope_minus_linear_slope - u * end_slope_minus_linear_slope);
        }
        channel[i] = linearly_interpolated_value;
    }
}

static void trajectory_read(void *data, uint64_t tick, double t, int64_t now_ns,
                            struct tact_device_input *in)
{
    const struct tact_trajectory *self = data;
    const double *first = self->values;
    const double *last = first + (size_t)(self->rows - 1) * (size_t)self->columns;
    size_t size = (size_t)self->columns * sizeof(double);
    double time_since_trajectory_start = t - self->start;
    (void)tick;
    in->stamp_ns = now_ns;
    in->state = TACT_DEVICE_OK;
    if (time_since_trajectory_start * self->speed >=
        tact_trajectory_row_time(self, self->rows - 1)) {
        in->state = TACT_DEVICE_ENDED;
        memcpy(in->channel, last, size);
    } else if (time_since_trajectory_start <= 0.0) {
        memcpy(in->channel, first, size);
    } else {
        interpolate_trajectory_columns(self, time_since_trajectory_start * self->speed,
                                       in->channel);
    }
    if (time_since_trajectory_start < self->start_ramp_duration) {
        double share =
            time_since_trajectory_start > 0.0
                ? tact_minimum_jerk(time_since_trajectory_start / self->start_ramp_duration)
                : 0.0;
        for (int i = 0; i < self->columns; i++) {
            in->channel[i] = first[i] + share * (in->channel[i] - first[i]);
        }
    }
}

static void trajectory_close(void *data)
{
    struct tact_trajectory *self = data;
    free(self->time);
    free(self->values);
    free(self);
}

static const struct tact_device_ops trajectory_ops = {TACT_ABI(struct tact_device_ops),
                                                      trajectory_read, NULL, trajectory_close};

static void report_trajectory_file(const struct tact_trajectory_file_reader *r,
                                   const struct tact_device_info *info)
{
    const struct tact_trajectory *self = r->self;
    char differing_rows_note[160] = "";
    double length = tact_trajectory_row_time(self, self->rows - 1);
    double rate = self->time && length > 0.0 ? (self->rows - 1) / length : self->rate;
    if (r->dropped_row_count || r->repeated_row_count) {
        snprintf(differing_rows_note, sizeof differing_rows_note,
                 ", %d rows with the values of the row before, %d rows dropped, as their time is "
                 "that of the row before",
                 r->repeated_row_count, r->dropped_row_count);
    }
    tact_message(r->config->messages, TACT_MESSAGE_INFO,
                 "%s: %s: %d rows, %.6g Hz, %.2f s, %d gaps%s", info->name, r->csv.path, self->rows,
                 rate, length, r->time_gap_count, differing_rows_note);
}

static void describe_trajectory_channels(const struct tact_trajectory_file_reader *r,
                                         struct tact_device_info *info)
{
    tact_settings_info(r->config, tact_trajectory_type.name, info);
    info->input_count = r->self->columns;
    for (int i = 0; i < info->input_count; i++) {
        tact_settings_channel(&info->input[i], r->csv.column_names[r->csv_column_of_channel[i]], "",
                              r->self->values[i]);
    }
}

static int trajectory_open(const struct tact_device_config *config, struct tact_device *out,
                           struct tact_error *err)
{
    struct tact_trajectory_file_reader *r = calloc(1, sizeof *r);
    struct tact_trajectory *self = calloc(1, sizeof *self);
    if (!r || !self) {
        free(r);
        free(self);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    r->config = config;
    r->err = err;
    r->self = self;
    int rc = tact_trajectory_load(r);
    if (rc == 0) {
        describe_trajectory_channels(r, &out->info);
        report_trajectory_file(r, &out->info);
        out->ops = &trajectory_ops;
        out->self = self;
    } else {
        trajectory_close(self);
    }
    tact_csv_close(&r->csv);
    free(r);
    return rc;
}

const struct tact_device_type tact_trajectory_type = {
    TACT_ABI(struct tact_device_type), "trajectory", "plays a recorded motion from a CSV file",
    trajectory_open, NULL};
