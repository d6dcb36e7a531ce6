/* tact calibrate: the measurements and the computed numbers. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate.h"
#include "command.h"
#include "contact/number.h"
#include "rt/clock.h"

enum { PERIOD_NS = 1000000, MOST_POINTS = 64, TERMS = 4 };

int ask_user_and_wait_for_enter(const struct calibrate_options *o, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (o->wait >= 0.0) {
        fprintf(stderr, "%s (in %g s)\n", text, o->wait);
        tact_clock_sleep_until(tact_clock_now() + (int64_t)(o->wait * 1e9));
        return EXIT_GOOD;
    }
    fprintf(stderr, "%s, then press Enter: ", text);
    int c = getchar();
    while (c != '\n' && c != EOF) {
        c = getchar();
    }
    if (c == EOF) {
        fprintf(stderr, "\ntact: the input ended; nothing is written\n");
        return EXIT_BAD;
    }
    return EXIT_GOOD;
}

int observe_channel_extremes(const struct tact_device *device, double seconds,
                             struct calibrate_channel_extremes *channel_extremes, int *faults)
{
    const int64_t start = tact_clock_now();
    const uint64_t ticks = (uint64_t)(seconds * 1e9 / PERIOD_NS) + 1;
    double first[TACT_DEVICE_CHANNELS] = {0.0};
    double sum[TACT_DEVICE_CHANNELS] = {0.0};
    double squared_deviation_sum[TACT_DEVICE_CHANNELS] = {0.0};
    *faults = 0;
    for (uint64_t tick = 0; tick <= ticks; tick++) {
        struct tact_device_input in = {.state = TACT_DEVICE_OK};
        tact_clock_sleep_until(start + (int64_t)tick * PERIOD_NS);
        device->ops->read(device->self, tick, (double)tick * 1e-9 * PERIOD_NS, tact_clock_now(),
                          &in);
        if (in.state == TACT_DEVICE_LOST) {
            fprintf(stderr, "tact: the device was disconnected: nothing is written\n");
            return EXIT_BAD;
        }
        *faults += in.state != TACT_DEVICE_OK;
        for (int i = 0; tick > 0 && i < device->info.input_count; i++) {
            double x = in.channel[i];
            if (tick == 1) {
                first[i] = x;
                channel_extremes[i] = (struct calibrate_channel_extremes){.low = x, .high = x};
            }
            channel_extremes[i].low = fmin(channel_extremes[i].low, x);
            channel_extremes[i].high = fmax(channel_extremes[i].high, x);
            sum[i] += x - first[i];
            squared_deviation_sum[i] += (x - first[i]) * (x - first[i]);
        }
    }
    for (int i = 0; i < device->info.input_count; i++) {
        double mean = sum[i] / (double)ticks;
        channel_extremes[i].mean = first[i] + mean;
        channel_extremes[i].deviation =
            sqrt(fmax(0.0, squared_deviation_sum[i] / (double)ticks - mean * mean));
    }
    return EXIT_GOOD;
}

/* Appends a value to the list of that key in the JSON report. */
static void append_calibration_result_json(const struct calibrate_options *o, const char *list,
                                           json_t *entry)
{
    if (!json_object_get(o->report, list)) {
        json_object_set_new(o->report, list, json_array());
    }
    json_array_append_new(json_object_get(o->report, list), entry);
}

static int is_axis_channel(const struct tact_device_channel *channel)
{
    return (!strncmp(channel->name, "abs_", 4) || !strncmp(channel->name, "rel_", 4)) &&
           strcmp(channel->unit, "count") != 0;
}

/* The rest position is where an axis was released, before and after it was moved; half its
 * width is half the range of these two, plus one count where they differ. */
static int measure_axis_range(const struct calibrate_options *o, const char *name,
                              const struct calibrate_channel_extremes *extremes_before_move,
                              const struct calibrate_channel_extremes *extremes_while_moved,
                              const struct calibrate_channel_extremes *extremes_after_move,
                              struct calibrate_file *file, int *count)
{
    const double low = fmin(extremes_before_move->low, extremes_after_move->low);
    const double high = fmax(extremes_before_move->high, extremes_after_move->high);
    const double span[4] = {fmin(low, extremes_while_moved->low), 0.5 * (low + high),
                            fmax(high, extremes_while_moved->high),
                            0.5 * (high - low) + (high > low ? 1.0 : 0.0)};
    char key[96];
    const int was_axis_moved = span[2] - span[0] >= 2.0 && span[2] - span[0] > 4.0 * span[3];
    if (o->report) {
        append_calibration_result_json(o, "axes",
                                       json_pack("{s:s, s:b, s:f, s:f, s:f, s:f}", "name", name,
                                                 "moved", was_axis_moved, "lowest", span[0], "rest",
                                                 span[1], "highest", span[2], "width", span[3]));
    } else if (was_axis_moved) {
        printf("  %-14s %8.6g .. %.6g, at rest %.6g +- %.6g\n", name, span[0], span[2], span[1],
               span[3]);
    } else {
        printf("  %-14s did not move: not calibrated\n", name);
    }
    if (!was_axis_moved) {
        return EXIT_GOOD;
    }
    snprintf(key, sizeof key, "axis.%s", name);
    ++*count;
    return calibrate_set_numbers(file, key, span, 4);
}

int calibrate_ranges_of_axes(const struct calibrate_options *o, const struct tact_device *device,
                             struct calibrate_file *file)
{
    static struct calibrate_channel_extremes channel_extremes[3][TACT_DEVICE_CHANNELS];
    const char *const steps[] = {"release every stick, lever and pedal",
                                 "now move every axis slowly to both of its ends, several times",
                                 "release everything again"};
    int count = 0;
    for (int i = 0; i < 3; i++) {
        int faults;
        if (ask_user_and_wait_for_enter(o, "%s", steps[i])) {
            return EXIT_BAD;
        }
        fprintf(stderr, "  %g s ...\n", i == 1 ? o->axis_sweep_duration : o->seconds);
        if (observe_channel_extremes(device, i == 1 ? o->axis_sweep_duration : o->seconds,
                                     channel_extremes[i], &faults)) {
            return EXIT_BAD;
        }
    }
    for (int i = 0; i < device->info.input_count; i++) {
        if (is_axis_channel(&device->info.input[i]) &&
            measure_axis_range(o, device->info.input[i].name, &channel_extremes[0][i],
                               &channel_extremes[1][i], &channel_extremes[2][i], file, &count)) {
            return EXIT_BAD;
        }
    }
    if (!count) {
        fprintf(stderr, "tact: no axis has moved; nothing is written\n");
    }
    return count ? EXIT_GOOD : EXIT_BAD;
}

static int find_input_channel(const struct tact_device *device, const char *name)
{
    for (int i = 0; i < device->info.input_count; i++) {
        if (!strcmp(device->info.input[i].name, name)) {
            return i;
        }
    }
    return -1;
}

/* Least squares for y = c0 + c1 x + ...; x is scaled to at most 1. Not 0 if x does not determine
 * the coefficients. */
static int fit_polynomial(const double *x, const double *y, int points, int terms, double *c)
{
    double a[TERMS][TERMS + 1] = {{0.0}};
    double scale = 0.0;
    for (int i = 0; i < points; i++) {
        scale = fmax(scale, fabs(x[i]));
    }
    for (int i = 0; i < points && scale > 0.0; i++) {
        double scaled_powers_of_input[TERMS] = {1.0};
        for (int k = 1; k < terms; k++) {
            scaled_powers_of_input[k] = scaled_powers_of_input[k - 1] * x[i] / scale;
        }
        for (int r = 0; r < terms; r++) {
            for (int k = 0; k < terms; k++) {
                a[r][k] += scaled_powers_of_input[r] * scaled_powers_of_input[k] / points;
            }
            a[r][terms] += scaled_powers_of_input[r] * y[i] / points;
        }
    }
    for (int r = 0; r < terms; r++) {
        if (!(a[r][r] > 1e-9)) { /* symmetric and positive: no pivots */
            return -1;
        }
        for (int i = 0; i < terms; i++) {
            double f = i == r ? 0.0 : a[i][r] / a[r][r];
            for (int k = r; k <= terms; k++) {
                a[i][k] -= f * a[r][k];
            }
        }
    }
    for (int r = 0; r < terms; r++) {
        c[r] = a[r][terms] / a[r][r] / pow(scale, r);
    }
    return 0;
}

/* Reports the error of the fitted map, and stores the map as an entry of the calibration file. */
static int report_and_store_calibration_map(const struct calibrate_options *o, const double *x,
                                            const double *y, int points, const double *c, int terms,
                                            struct calibrate_file *file)
{
    double largest_map_error = 0.0;
    char key[96];
    for (int i = 0; i < points; i++) {
        double value_by_fitted_map = 0.0;
        for (int k = terms - 1; k >= 0; k--) {
            value_by_fitted_map = value_by_fitted_map * x[i] + c[k];
        }
        if (o->report) {
            append_calibration_result_json(o, "points",
                                           json_pack("{s:f, s:f, s:f}", "volts", x[i], "value",
                                                     y[i], "map", value_by_fitted_map));
        } else {
            printf("  %10.6f V: %10.6g, the map says %10.6g\n", x[i], y[i], value_by_fitted_map);
        }
        largest_map_error = fmax(largest_map_error, fabs(value_by_fitted_map - y[i]));
    }
    for (int k = 0; o->report && k < terms; k++) {
        append_calibration_result_json(o, "coefficients", json_real(c[k]));
    }
    if (o->report) {
        json_object_set_new(o->report, "worst", json_real(largest_map_error));
    } else {
        printf("  largest difference of a point from the fit: %.3g\n", largest_map_error);
    }
    snprintf(key, sizeof key, "maps.%s", o->channel);
    return calibrate_set_numbers(file, key, c, terms);
}

int calibrate_map_of_channel(const struct calibrate_options *o, const struct tact_device *device,
                             struct calibrate_file *file)
{
    static struct calibrate_channel_extremes channel_extremes[TACT_DEVICE_CHANNELS];
    double x[MOST_POINTS];
    double y[MOST_POINTS];
    double c[TERMS] = {0.0};
    int points = 0;
    const int channel = find_input_channel(device, o->channel);
    const char *at = o->points;
    if (channel < 0) {
        fprintf(stderr, "tact: %s has no input %s\n", o->device, o->channel);
        return EXIT_USAGE;
    }
    while (*at) {
        char *end;
        y[points] = tact_number_read(at, &end);
        if (end == at || !isfinite(y[points]) || points == MOST_POINTS - 1) {
            fprintf(stderr, "tact: --points: expected up to %d numbers, not \"%s\"\n",
                    MOST_POINTS - 1, at);
            return EXIT_USAGE;
        }
        points++;
        at = end + strspn(end, " ,");
    }
    if (points <= o->degree) {
        fprintf(stderr,
                "tact: --points: expected at least %d numbers for a polynomial of degree %d\n",
                o->degree + 1, o->degree);
        return EXIT_USAGE;
    }
    for (int i = 0; i < points; i++) {
        int faults;
        if (ask_user_and_wait_for_enter(o, "bring %s to %g", o->channel, y[i]) ||
            observe_channel_extremes(device, o->seconds, channel_extremes, &faults)) {
            return EXIT_BAD;
        }
        if (faults) {
            fprintf(stderr, "tact: an input is saturated; nothing is written\n");
            return EXIT_BAD;
        }
        x[i] = channel_extremes[channel].mean;
        fprintf(o->report ? stderr : stdout, "  %s = %g: %.6f V, noise %.2g V\n", o->channel, y[i],
                x[i], channel_extremes[channel].deviation);
    }
    if (fit_polynomial(x, y, points, o->degree + 1, c)) {
        fprintf(stderr, "tact: the voltages are too much alike for degree %d; nothing is written\n",
                o->degree);
        return EXIT_BAD;
    }
    return report_and_store_calibration_map(o, x, y, points, c, o->degree + 1, file);
}

int calibrate_sensor_zero(const struct calibrate_options *o, const struct tact_device *device,
                          const char *gauges, struct calibrate_file *file)
{
    static struct calibrate_channel_extremes channel_extremes[TACT_DEVICE_CHANNELS];
    double bias[CALIBRATE_NUMBERS];
    char key[96];
    int faults;
    int count = 0;
    if (ask_user_and_wait_for_enter(o, "remove all load from the force-torque sensor %s",
                                    o->sensor_to_zero) ||
        observe_channel_extremes(device, o->seconds, channel_extremes, &faults)) {
        return EXIT_BAD;
    }
    if (faults) {
        fprintf(stderr, "tact: a gauge of %s is saturated; nothing is written\n",
                o->sensor_to_zero);
        return EXIT_BAD;
    }
    while (*gauges && count < CALIBRATE_NUMBERS) {
        char name[TACT_DEVICE_NAME];
        int length = (int)strcspn(gauges, " \t\n");
        snprintf(name, sizeof name, "%.*s", length, gauges);
        int i = find_input_channel(device, name);
        if (i < 0) {
            fprintf(stderr, "tact: %s has no input %s\n", o->device, name);
            return EXIT_USAGE;
        }
        bias[count++] = channel_extremes[i].mean;
        if (o->report) {
            append_calibration_result_json(o, "gauges",
                                           json_pack("{s:s, s:f, s:s, s:f}", "name", name, "bias",
                                                     channel_extremes[i].mean, "unit",
                                                     device->info.input[i].unit, "noise",
                                                     channel_extremes[i].deviation));
        } else {
            printf("  %-14s %.6f %s, noise %.2g\n", name, channel_extremes[i].mean,
                   device->info.input[i].unit, channel_extremes[i].deviation);
        }
        gauges += length + (int)strspn(gauges + length, " \t\n");
    }
    snprintf(key, sizeof key, "bias.%s", o->sensor_to_zero);
    return calibrate_set_numbers(file, key, bias, count);
}
