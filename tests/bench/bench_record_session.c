/*
 * The effect of recording on the ticks of a session: two sessions of one scene, one with a log and
 * one without, run alternately in one loop.
 *
 *     bench_record_session SCENE LOG [--seconds 3] [--swap] [--null]
 *
 * The sessions compute the same bits: each tick of one is compared with the same tick of the other,
 * some 20 ms earlier or later. Medians of runs that follow each other differ by more than is looked
 * for, because whatever else uses a core, or the other half of it, comes and goes within seconds.
 * The first ticks of a turn find the other session's data in the caches and do not count, nor does
 * the first second.
 *
 * --swap: the session without a log begins. --null: neither has a log. Prints a line of JSON; exits
 * with 0, or with 2 on an error.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/session/session_internal.h"

#define TICKS_PER_SESSION_TURN 20 /* ticks */
/* ticks at the start of a turn that are left out of the statistics */
#define UNCOUNTED_TICKS_PER_SESSION_TURN 4
#define MAX_SESSION_DURATION_SECONDS 3600

enum { WITHOUT, WITH, SESSIONS };

struct bench {
    struct tact_session *session[SESSIONS];
    int64_t *compute[SESSIONS]; /* computing time of each tick [ns]; 0 where the tick was skipped */
    uint64_t ticks;             /* ticks of a session */
    uint64_t missed_tick_counts[SESSIONS];
    int index_of_first_stepped_session;
};

static void step_session_of_turn(void *user, uint64_t number, int64_t planned, int64_t woke_ns)
{
    struct bench *b = user;
    const uint64_t turn = number / TICKS_PER_SESSION_TURN;
    const int which =
        turn % 2 == 0 ? b->index_of_first_stepped_session : !b->index_of_first_stepped_session;
    const uint64_t own = turn / 2 * TICKS_PER_SESSION_TURN + number % TICKS_PER_SESSION_TURN;
    tact_session_tick(b->session[which], own, planned, woke_ns);
    const int64_t end = tact_clock_now();
    b->compute[which][own] = end - woke_ns;
    b->missed_tick_counts[which] += end - planned > b->session[which]->period_ns;
}

static int compare_tick_durations(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double duration_quantile_us(const int64_t *sorted_durations_ns, size_t count, double q)
{
    return count ? 1e-3 * (double)sorted_durations_ns[(size_t)(q * (double)(count - 1))] : 0.0;
}

/* Moves the ticks that count to the front, sorted, and writes the time that recording added to
 * each to `more`. Returns their number. */
static size_t collect_tick_time_differences(struct bench *b, int64_t *more)
{
    int64_t *tick_times_without_log = b->compute[WITHOUT], *with = b->compute[WITH];
    const uint64_t first = (uint64_t)(1.0 / b->session[WITHOUT]->period);
    size_t n = 0;
    for (uint64_t k = first; k < b->ticks; k++) {
        if (k % TICKS_PER_SESSION_TURN >= UNCOUNTED_TICKS_PER_SESSION_TURN &&
            tick_times_without_log[k] > 0 && with[k] > 0) {
            more[n] = with[k] - tick_times_without_log[k];
            tick_times_without_log[n] = tick_times_without_log[k];
            with[n++] = with[k];
        }
    }
    qsort(tick_times_without_log, n, sizeof *tick_times_without_log, compare_tick_durations);
    qsort(with, n, sizeof *with, compare_tick_durations);
    qsort(more, n, sizeof *more, compare_tick_durations);
    return n;
}

/* Whether the sessions differ, as where ticks were skipped: then they cannot be compared. */
static int do_session_states_differ(const struct bench *b)
{
    struct tact_world *one = b->session[WITHOUT]->world, *other = b->session[WITH]->world;
    int do_final_states_differ = 0;
    for (int i = 0; i < tact_world_body_count(one); i++) {
        do_final_states_differ |=
            memcmp(&tact_world_body(one, i)->pose, &tact_world_body(other, i)->pose,
                   sizeof(struct tact_pose));
    }
    return do_final_states_differ;
}

static void print_recording_cost(struct bench *b, const struct tact_loop_stats *stats,
                                 const struct tact_recorder_report *log, int64_t *more)
{
    const struct tact_session *s = b->session[WITHOUT];
    const int64_t *tick_times_without_log = b->compute[WITHOUT], *with = b->compute[WITH];
    const size_t n = collect_tick_time_differences(b, more);
    printf("{\"scene\": \"%s\", \"doubles\": %u, \"contacts\": %d, \"refused\": %d, "
           "\"ticks\": %zu, ",
           s->scene->name,
           s->layout.size + 1 + tact_layout_stride(&s->layout) * (uint32_t)s->solve_stats.contacts,
           s->solve_stats.contacts, stats->realtime.refused, n);
    printf("\"p50_us\": {\"without\": %.3f, \"with\": %.3f, \"more\": %.3f}, "
           "\"p99_us\": {\"without\": %.3f, \"with\": %.3f}, ",
           duration_quantile_us(tick_times_without_log, n, 0.5), duration_quantile_us(with, n, 0.5),
           duration_quantile_us(more, n, 0.5),
           duration_quantile_us(tick_times_without_log, n, 0.99),
           duration_quantile_us(with, n, 0.99));
    printf("\"missed\": {\"without\": %llu, \"with\": %llu}, \"records\": %llu, "
           "\"bytes\": %llu, \"lost\": %llu}\n",
           (unsigned long long)b->missed_tick_counts[WITHOUT],
           (unsigned long long)b->missed_tick_counts[WITH], (unsigned long long)log->records,
           (unsigned long long)log->bytes, (unsigned long long)log->overruns);
}

static int run_both_sessions(struct bench *b)
{
    struct tact_loop_options loop = tact_loop_default();
    struct tact_loop_stats stats;
    struct tact_recorder_report log = {0};
    const struct tact_session *s = b->session[WITHOUT];
    int64_t *more = calloc(b->ticks, sizeof *more);
    loop.period_ns = s->period_ns;
    loop.ticks = SESSIONS * b->ticks;
    loop.realtime.priority = s->scene->realtime.priority;
    loop.realtime.cpu = s->scene->realtime.cpu;
    loop.user = b;
    loop.tick = step_session_of_turn;
    int rc = more ? tact_loop_run(&loop, &stats) : -ENOMEM;
    const int recorder_close_status = tact_recorder_close(b->session[WITH]->recorder, &log);
    b->session[WITH]->recorder = NULL;
    rc = rc ? rc : recorder_close_status;
    if (rc) {
        fprintf(stderr, "bench_record_session: %s\n", strerror(-rc));
    } else if (do_session_states_differ(b)) {
        rc = -EBADE;
        fprintf(stderr, "bench_record_session: the sessions differ, %llu ticks were skipped\n",
                (unsigned long long)stats.skipped);
    } else {
        print_recording_cost(b, &stats, &log, more);
    }
    free(more);
    return rc;
}

/* The session that begins is created first, so that the log is the only difference. */
static int create_bench_session(struct bench *b, const struct tact_scene *scene, const char *log,
                                struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    int rc = 0;
    options.types = tact_devices_builtin(&options.type_count);
    options.ticks = b->ticks;
    for (int k = 0; !rc && k < SESSIONS; k++) {
        const int which =
            k == 0 ? b->index_of_first_stepped_session : !b->index_of_first_stepped_session;
        options.record = which == WITH ? log : NULL;
        options.replace = 1;
        b->compute[which] = calloc(b->ticks, sizeof *b->compute[which]);
        rc = b->compute[which] ? tact_session_create(scene, &options, &b->session[which], err)
                               : tact_error_set(err, -ENOMEM, "out of memory");
    }
    return rc;
}

static int measure_recording_cost_of_scene(const char *path, const char *log, double seconds,
                                           int index_of_first_stepped_session)
{
    struct bench b = {.index_of_first_stepped_session = index_of_first_stepped_session};
    struct tact_scene *scene = NULL;
    struct tact_error err = {.line = 0};
    int rc = tact_scene_load(path, &scene, &err);
    if (!rc) {
        b.ticks =
            (uint64_t)(seconds / scene->period) / TICKS_PER_SESSION_TURN * TICKS_PER_SESSION_TURN;
        rc = create_bench_session(&b, scene, log, &err);
    }
    if (rc) {
        fprintf(stderr, "bench_record_session: %s: %s\n", path, err.text);
    } else {
        rc = run_both_sessions(&b);
    }
    for (int which = 0; which < SESSIONS; which++) {
        tact_session_destroy(b.session[which]);
        free(b.compute[which]);
    }
    tact_scene_free(scene);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"seconds", required_argument, NULL, 's'},
                                          {"swap", no_argument, NULL, 'w'},
                                          {"null", no_argument, NULL, 'n'},
                                          {0}};
    double seconds = 3.0;
    int option, index_of_first_stepped_session = WITH, null = 0, has_bad_option = 0;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        seconds = option == 's' ? strtod(optarg, NULL) : seconds;
        index_of_first_stepped_session = option == 'w' ? WITHOUT : index_of_first_stepped_session;
        null = null || option == 'n';
        has_bad_option = has_bad_option || option == '?';
    }
    if (has_bad_option || argc - optind != 2 ||
        !(seconds >= 1.5 && seconds <= MAX_SESSION_DURATION_SECONDS)) {
        fprintf(stderr, "usage: bench_record_session SCENE LOG [--seconds 3] [--swap] [--null]\n");
        return 2;
    }
    return measure_recording_cost_of_scene(argv[optind], null ? NULL : argv[optind + 1], seconds,
                                           index_of_first_stepped_session)
               ? 2
               : 0;
}
