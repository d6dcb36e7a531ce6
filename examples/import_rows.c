/* The rows of an import: read, counted, and resampled. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices/common/csv_internal.h"
#include "import.h"

#define MAX_IMPORTED_TICKS 1e9 /* ticks of 1 ms for eleven days */
#define GAP 1.5 /* factor of the median time between rows, above which an interval is a gap */

/* The file, the column of each channel, and its index among the columns that are read. */
struct csv_import_reading {
    struct recording_import *recording_import;
    struct tact_csv_file csv;
    int wanted[TACT_DEVICE_CHANNELS + 1]; /* the last one is the time, if that is read */
    int count;
    int has_time_column;
    double factor, origin; /* factor to seconds and origin of the time column */
    struct tact_error *err;
};

static int find_csv_column(struct csv_import_reading *r, const char *word, const char *key)
{
    int index = tact_csv_find_column(&r->csv, word);
    if (index < 0) {
        tact_error_at(r->err, r->recording_import->map_path, 0, 0, key);
        return tact_error_set(r->err, -EINVAL,
                              index == -EEXIST ? "%s has two columns \"%s\""
                                               : "%s has no column \"%s\"",
                              r->csv.path, word);
    }
    return index;
}

static int find_csv_columns(struct csv_import_reading *r)
{
    struct recording_import *i = r->recording_import;
    const char *time = get_import_time_unit(i, &r->factor);
    for (int k = 0; k < i->channel_count; k++) {
        if (i->channel[k].word) {
            int index = find_csv_column(r, i->channel[k].word, i->channel[k].key);
            if (index < 0) {
                return index;
            }
            i->channel[k].column = index;
            r->wanted[r->count++] = index;
        }
    }
    if (time) {
        int index = find_csv_column(r, time, "time");
        r->wanted[r->count] = index;
        r->has_time_column = 1;
        return index < 0 ? index : 0;
    }
    return 0;
}

static int reserve_import_row(struct recording_import *i)
{
    if (i->rows < i->room) {
        return 0;
    }
    size_t room = i->room ? 2 * i->room : 4096, row = (size_t)i->channel_count * sizeof(double);
    double *time = room > SIZE_MAX / row ? NULL : realloc(i->time, room * sizeof *time);
    i->time = time ? time : i->time;
    double *values = time ? realloc(i->values, room * row) : NULL;
    i->values = values ? values : i->values;
    i->room = values ? room : i->room;
    return values ? 0 : -ENOMEM;
}

/* A span of so many ticks is that of a wrong unit; more than 2^63 ticks could not be counted. */
static int check_imported_tick_count(struct csv_import_reading *r, double time)
{
    const double period = r->recording_import->period;
    if (time <= MAX_IMPORTED_TICKS * period) {
        return 0;
    }
    tact_error_at(r->err, r->csv.path, r->csv.line, 0, r->has_time_column ? "time" : "rate");
    if (!r->has_time_column) {
        return tact_error_set(r->err, -EINVAL,
                              "%g s since the first row: more than %g ticks of %g s", time,
                              MAX_IMPORTED_TICKS, period);
    }
    return tact_error_set(r->err, -EINVAL,
                          "%g s since the first row, with times in %s: more than %g ticks of %g s; "
                          "time_unit states another unit, and period longer ticks",
                          time, get_import_time_unit_name(r->recording_import), MAX_IMPORTED_TICKS,
                          period);
}

/* Adds a row of the file. A row with the time of the row before is omitted. */
static int add_imported_row(struct csv_import_reading *r, const double *row)
{
    struct recording_import *i = r->recording_import;
    int rc = reserve_import_row(i), next = 0;
    if (rc) {
        return tact_error_set(r->err, rc, "out of memory");
    }
    double time =
        r->has_time_column ? row[r->count] * r->factor : (double)i->rows / get_import_rate(i);
    r->origin = i->rows || !r->has_time_column ? r->origin : time;
    time -= r->origin;
    if (i->rows && time <= i->time[i->rows - 1]) {
        tact_error_at(r->err, r->csv.path, r->csv.line, 0, "time");
        i->dropped += time == i->time[i->rows - 1];
        return time == i->time[i->rows - 1] ? 0
                                            : tact_error_set(r->err, -EINVAL, "time runs backward");
    }
    rc = check_imported_tick_count(r, time);
    if (rc) {
        return rc;
    }
    double *to = i->values + i->rows * (size_t)i->channel_count;
    for (int k = 0; k < i->channel_count; k++) {
        const struct import_channel *c = &i->channel[k];
        to[k] = c->word ? c->factor * row[next++] : c->factor;
    }
    i->time[i->rows++] = time;
    return 0;
}

static int read_all_csv_rows(struct csv_import_reading *r)
{
    double row[TACT_DEVICE_CHANNELS + 1];
    int rc = tact_csv_open(&r->csv, r->recording_import->imported_csv_path, r->err);
    rc = rc ? rc : find_csv_columns(r);
    while (!rc && (rc = tact_csv_read_row(&r->csv, r->wanted, r->count + r->has_time_column, row,
                                          r->err)) > 0) {
        rc = add_imported_row(r, row);
    }
    if (!rc && r->recording_import->rows < 2) {
        tact_error_at(r->err, r->csv.path, 0, 0, NULL);
        rc = tact_error_set(r->err, -EINVAL, "the file has fewer than two rows of data");
    }
    return rc;
}

/* Unit quaternions with signs such that interpolation takes the shorter arc. */
static int check_unit_quaternions(struct recording_import *i, const struct import_channel_group *g,
                                  struct tact_error *err)
{
    for (size_t k = 0; k < i->rows; k++) {
        double *q = i->values + k * (size_t)i->channel_count + g->quaternion_channel;
        const double *before = q - i->channel_count;
        double quaternion_length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(quaternion_length > 0.5 && quaternion_length < 2.0)) {
            tact_error_at(err, i->imported_csv_path, 0, 0, g->name);
            return tact_error_set(
                err, -EINVAL,
                "row %zu: the quaternion has the length %g: expected one between 0.5 and 2", k + 1,
                quaternion_length);
        }
        double side = 1.0;
        if (k > 0) {
            side = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
        }
        for (int c = 0; c < 4; c++) {
            q[c] *= (side < 0.0 ? -1.0 : 1.0) / quaternion_length;
        }
    }
    return 0;
}

/* Rows from..to-1 repeat the values of row `from`; they become steps on the way to row `to`. */
static void interpolate_repeated_rows(struct recording_import *i,
                                      const struct import_channel_group *g, size_t from, size_t to)
{
    size_t width = (size_t)i->channel_count;
    for (size_t k = from + 1; k < to; k++) {
        double share = (i->time[k] - i->time[from]) / (i->time[to] - i->time[from]);
        for (int c = g->first; c < g->first + g->count; c++) {
            double a = i->values[from * width + (size_t)c], b = i->values[to * width + (size_t)c];
            i->values[k * width + (size_t)c] = a + share * (b - a);
        }
    }
}

static void count_repeated_rows(struct recording_import *i, struct import_channel_group *g)
{
    size_t width = (size_t)i->channel_count, start = 0;
    bool are_repeats_interpolated = import_must_interpolate_repeats(i);
    for (size_t k = 1; k < i->rows; k++) {
        const double *first = i->values + start * width + g->first;
        const double *now = i->values + k * width + g->first;
        if (!memcmp(first, now, (size_t)g->count * sizeof *now)) {
            g->repeated_row_count++;
            g->longest = k - start > g->longest ? k - start : g->longest;
        } else {
            if (are_repeats_interpolated) {
                interpolate_repeated_rows(i, g, start, k);
            }
            start = k;
        }
    }
}

static int compare_row_intervals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int find_time_gaps_of_imported_rows(struct recording_import *i)
{
    double *step = malloc(i->rows * sizeof *step);
    i->gap = calloc(i->rows, 1);
    if (!step || !i->gap) {
        free(step);
        return -ENOMEM;
    }
    for (size_t k = 0; k + 1 < i->rows; k++) {
        step[k] = i->time[k + 1] - i->time[k];
    }
    qsort(step, i->rows - 1, sizeof *step, compare_row_intervals);
    i->median_row_interval = step[(i->rows - 1) / 2];
    free(step);
    for (size_t k = 0; k + 1 < i->rows; k++) {
        double csv_row_interval = i->time[k + 1] - i->time[k];
        i->gap[k] = csv_row_interval > GAP * i->median_row_interval;
        i->gaps += i->gap[k];
        i->longest_time_gap =
            i->gap[k] ? fmax(i->longest_time_gap, csv_row_interval) : i->longest_time_gap;
    }
    return 0;
}

int import_read_rows(struct recording_import *i, struct tact_error *err)
{
    struct csv_import_reading *r = calloc(1, sizeof *r);
    if (!r) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    r->recording_import = i;
    r->err = err;
    int rc = read_all_csv_rows(r);
    tact_csv_close(&r->csv);
    free(r);
    if (!rc && find_time_gaps_of_imported_rows(i)) {
        rc = tact_error_set(err, -ENOMEM, "out of memory");
    }
    for (int k = 0; !rc && k < i->group_count; k++) {
        rc = i->group[k].quaternion_channel < 0 ? 0 : check_unit_quaternions(i, &i->group[k], err);
        count_repeated_rows(i, &i->group[k]);
    }
    i->ticks = rc ? 0 : (uint64_t)floor(i->time[i->rows - 1] / i->period + 1e-6) + 1;
    return rc;
}

int interpolate_imported_rows(const struct recording_import *i, double t, size_t *row, double *out)
{
    size_t width = (size_t)i->channel_count;
    /* Times are rounded: a row at this tick counts as reached. */
    while (*row + 2 < i->rows && i->time[*row + 1] <= t + 1e-6 * i->median_row_interval) {
        ++*row;
    }
    const double *a = i->values + *row * width, *b = a + width;
    double share = (t - i->time[*row]) / (i->time[*row + 1] - i->time[*row]);
    share = i->gap[*row] && share < 1.0 ? 0.0 : fmin(fmax(share, 0.0), 1.0);
    for (size_t c = 0; c < width; c++) {
        out[c] = share < 1.0 ? a[c] + share * (b[c] - a[c]) : b[c];
    }
    for (int k = 0; k < i->group_count; k++) {
        if (i->group[k].quaternion_channel >= 0) {
            double *q = out + i->group[k].quaternion_channel;
            double quaternion_length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            for (int c = 0; c < 4; c++) {
                q[c] /= quaternion_length;
            }
        }
    }
    return i->gap[*row] && share < 1.0;
}
