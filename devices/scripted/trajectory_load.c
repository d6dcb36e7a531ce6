#include "devices/scripted/trajectory_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/settings.h"

/* Finds the column that a word of the setting `key` names. */
static int find_csv_column_of_name(struct tact_trajectory_file_reader *r, const char *key,
                                   const char *word)
{
    int index = tact_csv_find_column(&r->csv, word);
    if (index == -EEXIST) {
        return tact_settings_fault(r->config, tact_settings_find(r->config, key), r->err,
                                   "%s has two columns named '%s'", r->csv.path, word);
    }
    if (index < 0) {
        return tact_settings_fault(r->config, tact_settings_find(r->config, key), r->err,
                                   "%s has no column '%s' (its %d columns: %s%s%s ...)",
                                   r->csv.path, word, r->csv.columns, r->csv.column_names[0],
                                   r->csv.columns > 1 ? ", " : "",
                                   r->csv.columns > 1 ? r->csv.column_names[1] : "");
    }
    return index;
}

/* Adds a column to be played. */
static int add_trajectory_column(struct tact_trajectory_file_reader *r, int index)
{
    int n = r->self->columns;
    const struct tact_device_setting *setting = tact_settings_find(r->config, "columns");
    for (int i = 0; i < n; i++) {
        if (r->csv_column_of_channel[i] == index) {
            return tact_settings_fault(r->config, setting, r->err, "column '%s' given twice",
                                       r->csv.column_names[index]);
        }
    }
    if (n == TACT_DEVICE_CHANNELS) {
        return tact_settings_fault(
            r->config, setting, r->err,
            "the CSV file has more than %d columns: choose some with the key columns",
            TACT_DEVICE_CHANNELS);
    }
    r->csv_column_of_channel[n] = index;
    r->self->columns = n + 1;
    return 0;
}

static int choose_trajectory_columns(struct tact_trajectory_file_reader *r)
{
    const char *text = NULL;
    const char *time = NULL;
    char word[256];
    int rc = tact_settings_text(r->config, "columns", &text, r->err);
    rc = rc ? rc : tact_settings_text(r->config, "time", &time, r->err);
    if (rc) {
        return rc;
    }
    int csv_time_column = time ? find_csv_column_of_name(r, "time", time) : -1;
    if (time && csv_time_column < 0) {
        return csv_time_column;
    }
    r->has_time_column = time != NULL;
    for (int i = 0; !text && i < r->csv.columns && rc == 0; i++) {
        rc = i == csv_time_column ? 0 : add_trajectory_column(r, i);
    }
    while (text && rc == 0 && tact_settings_word(&text, word, sizeof word)) {
        int index = find_csv_column_of_name(r, "columns", word);
        rc = index < 0 ? index : add_trajectory_column(r, index);
    }
    if (rc == 0 && r->self->columns == 0) {
        rc = tact_settings_fault(r->config, NULL, r->err, "%s has no column besides the time",
                                 r->csv.path);
    }
    r->csv_column_of_channel[r->self->columns] = csv_time_column;
    return rc;
}

static int grow_row_capacity(struct tact_trajectory_file_reader *r)
{
    struct tact_trajectory *self = r->self;
    if (self->rows < r->capacity) {
        return 0;
    }
    int capacity = r->capacity ? 2 * r->capacity : 1024;
    size_t n = (size_t)capacity * sizeof(double);
    double *values = capacity > (1 << 29) ? NULL : realloc(self->values, n * (size_t)self->columns);
    self->values = values ? values : self->values;
    double *time = values && r->has_time_column ? realloc(self->time, n) : NULL;
    self->time = time ? time : self->time;
    if (!values || (r->has_time_column && !time)) {
        return tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    r->capacity = capacity;
    return 0;
}

/* Adds a row: its columns, then its time. */
static int add_trajectory_row(struct tact_trajectory_file_reader *r, const double *row)
{
    struct tact_trajectory *self = r->self;
    size_t columns = (size_t)self->columns;
    int rc = grow_row_capacity(r);
    if (rc) {
        return rc;
    }
    if (r->has_time_column && self->rows == 0) {
        r->origin = row[columns];
    }
    double time = r->has_time_column ? row[columns] - r->origin : 0.0;
    if (r->has_time_column && self->rows > 0) {
        double before = self->time[self->rows - 1];
        if (time < before) {
            tact_error_at(r->err, r->csv.path, r->csv.line, 0,
                          r->csv.column_names[r->csv_column_of_channel[columns]]);
            return tact_error_set(
                r->err, -EINVAL,
                "the time %.9g s of this row is earlier than the %.9g s of the row before",
                row[columns], before + r->origin);
        }
        if (time == before) {
            r->dropped_row_count++;
            return 0;
        }
    }
    double *to = self->values + (size_t)self->rows * columns;
    memcpy(to, row, columns * sizeof *to);
    r->repeated_row_count += self->rows > 0 && memcmp(to, to - columns, columns * sizeof *to) == 0;
    if (r->has_time_column) {
        self->time[self->rows] = time;
    }
    self->rows++;
    return 0;
}

static int read_trajectory_rows(struct tact_trajectory_file_reader *r)
{
    double row[TACT_DEVICE_CHANNELS + 1];
    int fields = r->self->columns + (r->has_time_column ? 1 : 0);
    int rc;
    while ((rc = tact_csv_read_row(&r->csv, r->csv_column_of_channel, fields, row, r->err)) > 0) {
        rc = add_trajectory_row(r, row);
        if (rc) {
            return rc;
        }
    }
    if (rc == 0 && r->self->rows == 0) {
        tact_error_at(r->err, r->csv.path, r->csv.line, 0, NULL);
        rc = tact_error_set(r->err, -EINVAL, "the CSV file has no rows after its header");
    }
    return rc;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static int count_time_gaps(struct tact_trajectory_file_reader *r)
{
    const double *time = r->self->time;
    int steps = r->self->rows - 1;
    if (!r->has_time_column || steps < 1) {
        return 0;
    }
    double *step = malloc((size_t)steps * sizeof *step);
    if (!step) {
        return tact_error_set(r->err, -ENOMEM, "out of memory");
    }
    for (int i = 0; i < steps; i++) {
        step[i] = time[i + 1] - time[i];
    }
    qsort(step, (size_t)steps, sizeof *step, compare_doubles);
    double median_row_time_step = step[steps / 2];
    for (int i = steps; i > 0 && step[i - 1] > 1.5 * median_row_time_step; i--) {
        r->time_gap_count++;
    }
    free(step);
    return 0;
}

static int apply_column_scale(struct tact_trajectory_file_reader *r)
{
    struct tact_trajectory *self = r->self;
    double one = 1.0;
    const double *scale = &one;
    int count = 1;
    bool center = false;
    double first[TACT_DEVICE_CHANNELS] = {0};
    int rc = tact_settings_list(r->config, "scale", &one, &scale, &count, r->err);
    rc = rc ? rc : tact_settings_flag(r->config, "center", &center, r->err);
    if (rc) {
        return rc;
    }
    if (count != 1 && count != self->columns) {
        return tact_settings_fault(r->config, tact_settings_find(r->config, "scale"), r->err,
                                   "%d numbers for %d columns", count, self->columns);
    }
    if (center) {
        memcpy(first, self->values, (size_t)self->columns * sizeof *first);
    }
    for (int i = 0; i < self->columns; i++) {
        double factor = scale[count == 1 ? 0 : i];
        double *value = self->values + i;
        for (int row = 0; row < self->rows; row++, value += self->columns) {
            *value = factor * (*value - first[i]);
            if (!(fabs(*value) < 1e150)) {
                return tact_settings_fault(r->config, tact_settings_find(r->config, "scale"),
                                           r->err, "interpolated values overflow");
            }
        }
    }
    return 0;
}

static int open_trajectory_file(struct tact_trajectory_file_reader *r)
{
    char path[sizeof r->csv.path] = "";
    int rc = tact_settings_path(r->config, "file", path, sizeof path, r->err);
    if (rc) {
        return rc;
    }
    if (!path[0]) {
        return tact_settings_fault(r->config, NULL, r->err, "missing key \"file\": a CSV file");
    }
    return tact_csv_open(&r->csv, path, r->err);
}

static int read_settings(struct tact_trajectory_file_reader *r)
{
    static const char *const keys[] = {"file",   "rate",  "time",  "columns", "scale",
                                       "center", "start", "speed", "ramp",    "interpolation"};
    static const char *const kinds[] = {"linear", "cubic"};
    struct tact_trajectory *self = r->self;
    const struct tact_device_config *config = r->config;
    int kind = 1;
    self->speed = 1.0;
    int rc = tact_settings_check(config, keys, sizeof keys / sizeof *keys, r->err);
    rc = rc ? rc : tact_settings_positive(config, "rate", &self->rate, r->err);
    rc = rc ? rc : tact_settings_positive(config, "speed", &self->speed, r->err);
    rc = rc ? rc : tact_settings_number(config, "start", &self->start, r->err);
    rc = rc ? rc : tact_settings_number(config, "ramp", &self->start_ramp_duration, r->err);
    rc = rc ? rc : tact_settings_choice(config, "interpolation", kinds, 2, &kind, r->err);
    if (rc) {
        return rc;
    }
    self->is_cubic_interpolation = kind == 1;
    if (self->rate > 1e9 || (tact_settings_find(config, "rate") && self->rate < 1e-6)) {
        return tact_settings_fault(config, tact_settings_find(config, "rate"), r->err,
                                   "expected 1e-6 .. 1e9 Hz, not %g", self->rate);
    }
    if (self->start_ramp_duration < 0.0) {
        return tact_settings_fault(config, tact_settings_find(config, "ramp"), r->err,
                                   "expected a time >= 0, not %g s", self->start_ramp_duration);
    }
    const struct tact_device_setting *time = tact_settings_find(config, "time");
    if (!time == !tact_settings_find(config, "rate")) {
        return tact_settings_fault(
            config, time, r->err,
            "expected either the key rate [Hz] or the key time, the name of a column");
    }
    return 0;
}

int tact_trajectory_load(struct tact_trajectory_file_reader *r)
{
    int rc = read_settings(r);
    rc = rc ? rc : open_trajectory_file(r);
    rc = rc ? rc : choose_trajectory_columns(r);
    rc = rc ? rc : read_trajectory_rows(r);
    rc = rc ? rc : count_time_gaps(r);
    return rc ? rc : apply_column_scale(r);
}
