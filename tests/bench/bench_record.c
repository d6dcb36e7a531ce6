/* The time that recording adds to a tick: p50 and p99 of filling a record of a given number of
 * doubles at 1 kHz, in the recorder and in ordinary memory, in alternating rounds. Prints one line
 * of JSON a size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rt/clock.h"
#include "rt/histogram.h"
#include "rt/log/recorder.h"

#define MEASUREMENT_ROUNDS 5
#define TICKS 1000
#define PERIOD_NS 1000000

static double value_of_benchmark_record(uint64_t tick, uint32_t i)
{
    return (double)(tick * 31 + i * 17) * 1e-3;
}

static void fill_record_with_numbers(struct tact_record *record, uint32_t size, uint64_t tick,
                                     int64_t stamp_ns)
{
    record->tick = tick;
    record->stamp_ns = stamp_ns;
    for (uint32_t i = 0; i < size; i++) {
        record->values[i] = value_of_benchmark_record(tick, i);
    }
}

/* Fills records for one second at 1 kHz; with recorder NULL, in `record_filled_without_recorder`.
 * Returns p50 and p99 of the filling [ns]. */
static void time_record_filling(struct tact_recorder *recorder,
                                struct tact_record *record_filled_without_recorder, uint32_t size,
                                double *p50, double *p99)
{
    static struct tact_histogram h;
    int64_t next = tact_clock_now();
    tact_histogram_reset(&h);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        next += PERIOD_NS;
        tact_clock_sleep_until(next);
        const int64_t record_start_ns = tact_clock_now();
        struct tact_record *slot = recorder ? tact_recorder_begin(recorder) : NULL;
        fill_record_with_numbers(slot ? slot : record_filled_without_recorder, size, tick, next);
        if (slot) {
            tact_recorder_commit(recorder);
        }
        tact_histogram_add(&h, tact_clock_now() - record_start_ns);
    }
    *p50 = (double)tact_histogram_quantile(&h, 0.5);
    *p99 = (double)tact_histogram_quantile(&h, 0.99);
}

static int compare_durations(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int time_records_of_size(uint32_t size, const char *path)
{
    struct tact_layout layout = {0};
    struct tact_recorder_options options = tact_recorder_options_default();
    options.replace = 1;
    struct tact_recorder_content content = {.layout = &layout};
    struct tact_recorder_report report = {0};
    struct tact_error err;
    double difference[MEASUREMENT_ROUNDS], with = 0.0, without = 0.0, with99 = 0.0, without99 = 0.0;
    struct tact_record *record_filled_without_recorder =
        malloc(sizeof *record_filled_without_recorder + size * sizeof(double));
    tact_layout_add(&layout, TACT_FIELD_OUTPUT, "values", "", size);
    for (int round = 0; record_filled_without_recorder && round < MEASUREMENT_ROUNDS; round++) {
        struct tact_recorder *recorder;
        double p50[2], p99[2];
        if (tact_recorder_open(path, &options, &content, (struct tact_messages){0}, &recorder,
                               &err)) {
            fprintf(stderr, "bench_record: %s\n", err.text);
            return 1;
        }
        time_record_filling(round % 2 ? recorder : NULL, record_filled_without_recorder, size,
                            &p50[round % 2], &p99[round % 2]);
        time_record_filling(round % 2 ? NULL : recorder, record_filled_without_recorder, size,
                            &p50[!(round % 2)], &p99[!(round % 2)]);
        tact_recorder_close(recorder, &report);
        difference[round] = p50[1] - p50[0];
        with += p50[1] / MEASUREMENT_ROUNDS;
        without += p50[0] / MEASUREMENT_ROUNDS;
        with99 += p99[1] / MEASUREMENT_ROUNDS;
        without99 += p99[0] / MEASUREMENT_ROUNDS;
    }
    qsort(difference, MEASUREMENT_ROUNDS, sizeof *difference, compare_durations);
    printf("{\"doubles\": %u, \"p50_ns\": {\"plain\": %.0f, \"recorded\": %.0f, "
           "\"median_difference\": %.0f}, \"p99_ns\": {\"plain\": %.0f, \"recorded\": %.0f}, "
           "\"bytes_per_tick\": %.0f, \"gb_per_hour\": %.2f, \"overruns\": %llu}\n",
           size, without, with, difference[MEASUREMENT_ROUNDS / 2], without99, with99,
           (double)report.bytes / TICKS, (double)report.bytes * 3600 / 1e9 * 1e3 / TICKS,
           (unsigned long long)report.overruns);
    free(record_filled_without_recorder);
    tact_layout_free(&layout);
    return 0;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/bench_record_XXXXXX";
    const uint32_t record_sizes_in_doubles[] = {100, 300, 1000, 3000};
    const size_t count = argc > 1 && !strcmp(argv[1], "--short")
                             ? 1
                             : sizeof record_sizes_in_doubles / sizeof *record_sizes_in_doubles;
    int rc = 0;
    close(mkstemp(path));
    for (size_t i = 0; i < count && !rc; i++) {
        rc = time_records_of_size(record_sizes_in_doubles[i], path);
    }
    unlink(path);
    return rc;
}
