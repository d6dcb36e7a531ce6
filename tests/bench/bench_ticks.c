/*
 * Runs a scene several times, free-wheeling, and takes of each tick the least time that its thread
 * computed: the session is the same to the bit each time, and what else the machine does is left
 * out as far as it can be.
 *
 *     bench_ticks SCENE RUNS
 *
 * Prints one JSON object: "compute_us" {p50, p99, max} of these times, and "report", that of the
 * last run. Exits with 0, 2 on an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include "devices/registry.h"
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "timing.h"

/* Runs once. Returns the report, to be freed, or NULL with *err filled. */
static char *run_scene_once(const struct tact_scene *scene, long ticks, int is_first_run,
                            double *least, struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_status status;
    struct tact_session_report report;
    struct tact_session *session;
    options.clock = TACT_LOOP_FREE;
    options.types = tact_devices_builtin(&options.type_count);
    int rc = tact_session_create(scene, &options, &session, err);
    if (rc) {
        return NULL;
    }
    rc = tact_session_begin(session);
    for (long i = 0; i < ticks && !rc; i++) {
        double step_start = thread_cpu_time_seconds();
        rc = tact_session_step(session, 0, &status);
        double step_time_us = 1e6 * (thread_cpu_time_seconds() - step_start);
        least[i] = is_first_run || step_time_us < least[i] ? step_time_us : least[i];
    }
    rc = rc ? rc : tact_session_end(session, &report);
    char *json = rc ? NULL : tact_session_report_json(session, &report);
    if (!json) {
        tact_error_set(err, rc, "the session cannot be run");
    }
    tact_session_destroy(session);
    return json;
}

int main(int argc, char **argv)
{
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    char *report = NULL;
    long scene_run_count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (scene_run_count < 1) {
        fprintf(stderr, "usage: bench_ticks SCENE RUNS\n");
        return 2;
    }
    int rc = tact_scene_load(argv[1], &scene, &err);
    long ticks = rc ? 0 : (long)(scene->duration / scene->period + 0.5);
    double *least = calloc((size_t)ticks + 1, sizeof *least);
    for (long i = 0; i < scene_run_count && ticks > 0 && least; i++) {
        free(report);
        report = run_scene_once(scene, ticks, i == 0, least, &err);
        i = report ? i : scene_run_count;
    }
    if (report) {
        qsort(least, (size_t)ticks, sizeof *least, compare_durations_ascending);
        printf("{\"compute_us\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}, \"report\": %s}\n",
               least[ticks / 2], least[ticks * 99 / 100], least[ticks - 1], report);
    } else {
        fprintf(stderr, "bench_ticks: %s: %s\n", argv[1],
                err.text[0] ? err.text : "a duration is expected");
    }
    free(least);
    free(report);
    tact_scene_free(scene);
    return report ? 0 : 2;
}
