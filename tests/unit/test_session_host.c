/* Sessions within a host program: two in real time at once, without taking the program's signals
 * or priorities, stopped during creation, and refused with a message where too large. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/run_scene.h"

#define TICKS 400

static const char ball[] =
    "name: host\n"
    "materials: [{name: m}]\n"
    "pairs: [{materials: [m, m], friction: 0.5}]\n"
    "moments: {source: host}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}\n"
    "  - {name: ball, mass: 0.1, position: [0, 0, 0.011],\n"
    "     shapes: [{type: sphere, radius: 0.01, material: m}]}\n";

struct run {
    struct tact_session_report report;
    int rc;
};

static void *run_session_in_thread(void *arg)
{
    struct run *run = arg;
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    options.ticks = TICKS;
    open_session_of_scene_text(ball, &options, &scene, &session);
    run->rc = tact_session_run(session, &run->report);
    tact_session_destroy(session);
    tact_scene_free(scene);
    return NULL;
}

static void two_sessions_in_real_time_do_not_disturb_each_other(void **state)
{
    (void)state;
    static struct run run[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, run_session_in_thread, &run[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(run[i].rc, 0);
        assert_int_equal(run[i].report.loop.ticks, TICKS);
        assert_int_equal(run[i].report.loop.realtime.count, 7);
    }
}

/* Settings of the thread that runs the status callback. */
struct status_callback_thread {
    pthread_t host;
    int status_callback_count, unblocked_signal_count, policy;
};

static void check_status_callback_thread(void *user, const struct tact_session_status *status)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPROF};
    struct status_callback_thread *w = user;
    sigset_t mask;
    (void)status;
    if (pthread_equal(pthread_self(), w->host)) {
        return; /* the last call */
    }
    w->status_callback_count++;
    w->policy = sched_getscheduler(0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        w->unblocked_signal_count += !sigismember(&mask, signals[i]);
    }
}

/* The host's thread has real-time priority, where that is permitted. */
static void *run_in_host_thread(void *arg)
{
    struct status_callback_thread *w = arg;
    const struct sched_param high = {.sched_priority = 10};
    const struct rlimit cpu_time_limit = {500000, RLIM_INFINITY};
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_session_report report;
    if (setrlimit(RLIMIT_RTTIME, &cpu_time_limit) || sched_setscheduler(0, SCHED_FIFO, &high)) {
        print_message("the host has no real-time priority itself: it may not\n");
    }
    w->host = pthread_self();
    w->policy = -1;
    options.ticks = TICKS;
    options.record = TACT_BINARY_DIR "/host.mcap";
    options.watch = check_status_callback_thread;
    options.watch_user = w;
    remove(options.record);
    open_session_of_scene_text(ball, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    assert_int_equal(report.recorder.records, TICKS);
    tact_session_destroy(session);
    tact_scene_free(scene);
    remove(options.record);
    return NULL;
}

static void the_status_thread_inherits_no_signals_or_priority(void **state)
{
    (void)state;
    pthread_t thread;
    struct status_callback_thread w = {.status_callback_count = 0};
    assert_int_equal(pthread_create(&thread, NULL, run_in_host_thread, &w), 0);
    pthread_join(thread, NULL);
    assert_true(w.status_callback_count > 0);
    assert_int_equal(w.unblocked_signal_count, 0);
    assert_int_equal(w.policy, SCHED_OTHER);
}

static struct tact_stop stop;
static int opened_device_count;

static void read_device_without_values(void *self, uint64_t tick, double t, int64_t now,
                                       struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t, (void)now;
    in->state = TACT_DEVICE_OK;
}

static void close_device_without_values(void *self)
{
    (void)self;
}

static int open_device_and_stop_session(const struct tact_device_config *config,
                                        struct tact_device *out, struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_device_without_values, NULL,
                                               close_device_without_values};
    (void)config;
    (void)err;
    opened_device_count++;
    tact_stop_request(&stop);
    out->ops = &ops;
    return 0;
}

/* SIGTERM comes while the first of two devices is opened: the second is not opened, and no log is
 * created. */
static void stop_request_ends_the_creation_of_a_session(void **state)
{
    (void)state;
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "slow", "stops",
                                                 open_device_and_stop_session, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_error err = {0};
    char text[2048];
    snprintf(text, sizeof text,
             "%sdevices:\n  - {name: a, type: slow}\n  - {name: b, type: slow}\n", ball);
    options.types = types;
    options.type_count = 1;
    options.stop = &stop;
    options.record = TACT_BINARY_DIR "/host_stopped.mcap";
    remove(options.record);
    assert_int_equal(tact_scene_parse(text, strlen(text), "host.yaml", NULL, &scene, &err), 0);
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -EINTR);
    assert_null(session);
    assert_int_equal(opened_device_count, 1);
    assert_string_equal(err.text, "the session was stopped before its first tick");
    assert_null(fopen(options.record, "r"));
    tact_scene_free(scene);
}

/* A scene of balls on a floor, each of `spheres_per_ball` spheres; freed by the caller. */
static char *ball_scene_text(int count, int spheres_per_ball)
{
    size_t room = 400 + (100 + 60 * (size_t)spheres_per_ball) * (size_t)count;
    char *text = malloc(room);
    int used =
        snprintf(text, room,
                 "name: many\nmaterials: [{name: m}]\n"
                 "pairs: [{materials: [m, m], friction: 0.5}]\nmoments: {source: host}\n"
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}\n");
    for (int i = 0; i < count; i++) {
        used += snprintf(text + used, room - (size_t)used,
                         "  - {name: b%d, mass: 0.1, position: [%d, 0, 1], shapes: [", i, i);
        for (int k = 0; k < spheres_per_ball; k++) {
            used += snprintf(text + used, room - (size_t)used,
                             "%s{type: sphere, radius: 0.01, material: m}", k ? ", " : "");
        }
        used += snprintf(text + used, room - (size_t)used, "]}\n");
    }
    return text;
}

/* 3,000 balls, 4.5 million pairs of which may touch: memory grows only with the near ones. */
static void session_memory_depends_on_near_pairs_only(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    char *text = ball_scene_text(1000, 3);
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct rusage before, after;
    double session_start_cpu_seconds = cpu_seconds();
    options.ticks = 3;
    options.clock = TACT_LOOP_FREE;
    getrusage(RUSAGE_SELF, &before);
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_world_extent(tact_session_world(session)).pairs,
                     3000 + (2999 * 3000 - 2 * 3000) / 2);
    assert_int_equal(tact_session_run(session, &report), 0);
    getrusage(RUSAGE_SELF, &after);
    double used = (double)(after.ru_maxrss - before.ru_maxrss) / 1024;
    print_message("%.2f s, %.0f MB more\n", cpu_seconds() - session_start_cpu_seconds, used);
    /* memory is not compared under a sanitizer, which keeps freed memory */
    assert_true(used < 200 || IS_SANITIZER_BUILD);
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
}

/* The names of all pairs that a record has room for differ. */
static void names_of_shape_pairs_are_unique(void **state)
{
    (void)state;
    char *text = ball_scene_text(60, 1);
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    options.ticks = 1;
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, &scene, &session);
    int count = tact_world_extent(tact_session_world(session)).pairs;
    assert_int_equal(count, 60 + 60 * 59 / 2);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(tact_session_pair_name(session, i),
                                    tact_session_pair_name(session, k));
        }
    }
    assert_string_equal(tact_session_pair_name(session, 0), "floor/b0");
    assert_string_equal(tact_session_pair_name(session, count - 1), "b58/b59");
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sessions_in_real_time_do_not_disturb_each_other),
        cmocka_unit_test(the_status_thread_inherits_no_signals_or_priority),
        cmocka_unit_test(stop_request_ends_the_creation_of_a_session),
        cmocka_unit_test(session_memory_depends_on_near_pairs_only),
        cmocka_unit_test(names_of_shape_pairs_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
