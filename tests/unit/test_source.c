/* The exchange between the loop and the OpenCL worker: with a simulated computation (all of whose
 * threads a thread sanitizer observes), then with the device at 1 kHz, with faults. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "contact/shape/shape.h"
#include "kernels/source.h"
#include "kernels/worker_internal.h"
#include "rt/clock.h"

#define MS 1000000LL
#define TICK_PERIOD_NS (1 * MS)

/* ---- with a fake computation ---- */

enum { FAKE_SHAPES = 3, FAKE_PAIRS = 5 };
static const struct tact_source_scene fake_source_scene = {NULL, FAKE_SHAPES, NULL, FAKE_PAIRS};

/* Simulated computation: each result contains the poses that it was computed from. */
static int compute_fake_moments(void *user, const struct tact_pose *poses, const uint8_t *active,
                                const double *directions, struct tact_source_moments *out)
{
    (void)user;
    for (int i = 0; i < FAKE_PAIRS; i++) {
        out[i].status = active[i];
        out[i].moments.volume = poses[i % FAKE_SHAPES].position[0];
        tact_v3_copy(out[i].moments.centroid, directions + 3 * i);
    }
    return 0;
}

static void submit_to_fake_worker(struct tact_moments_worker *worker, uint64_t tick)
{
    struct tact_pose poses[FAKE_SHAPES];
    uint8_t active[FAKE_PAIRS];
    double directions[3 * FAKE_PAIRS];
    memset(poses, 0, sizeof poses);
    for (int i = 0; i < FAKE_SHAPES; i++) {
        poses[i].position[0] = (double)tick;
    }
    for (int i = 0; i < FAKE_PAIRS; i++) {
        active[i] = (uint8_t)(tick + (uint64_t)i) & 1;
        tact_v3_set(directions + 3 * i, (double)tick, 1.0, (double)i);
    }
    tact_worker_submit(worker, tick, poses, active, directions);
}

static void check_fake_source_result(const struct tact_source_result *r)
{
    for (int i = 0; i < FAKE_PAIRS; i++) {
        assert_int_equal(r->pairs[i].status, (r->tick + (uint64_t)i) & 1);
        assert_true(r->pairs[i].moments.volume == (double)r->tick);
        assert_true(r->pairs[i].moments.centroid[0] == (double)r->tick);
        assert_true(r->pairs[i].moments.centroid[2] == (double)i);
    }
}

static struct tact_moments_worker *create_fake_worker(const struct tact_opencl_options *options)
{
    struct tact_moments_worker *worker = NULL;
    assert_int_equal(
        tact_worker_create(&fake_source_scene, options, compute_fake_moments, NULL, &worker, NULL),
        0);
    return worker;
}

static void worker_frames_arrive_whole_and_in_order(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_source_result result = {0};
    uint64_t newest_result_tick = 0, different = 0;
    options.period_ns = 10000;
    options.poll_ns = 1000;
    struct tact_moments_worker *worker = create_fake_worker(&options);
    assert_int_equal(tact_worker_latest(worker, &result), -EAGAIN);
    for (uint64_t tick = 1; tick <= 50000; tick++) {
        submit_to_fake_worker(worker, tick);
        if (tick % 1000 == 0) {
            assert_int_equal(tact_worker_wait(worker, tick, 5000 * MS), 0);
        }
        if (tact_worker_latest(worker, &result) == 0) {
            assert_true(result.tick >= newest_result_tick && result.tick <= tick);
            assert_true(tick % 1000 != 0 || result.tick == tick);
            different += result.tick != newest_result_tick;
            newest_result_tick = result.tick;
            check_fake_source_result(&result);
        }
    }
    print_message("50000 frames handed over, %lu results seen\n", (unsigned long)different);
    assert_int_equal(tact_worker_destroy(worker), 0);
}

static void waiting_for_a_worker_result_ends_at_its_timeout(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_opencl_statistics worker_statistics;
    options.fault.exit_after = 3;
    struct tact_moments_worker *worker = create_fake_worker(&options);
    for (uint64_t tick = 0; tick < 3; tick++) {
        submit_to_fake_worker(worker, tick);
        assert_int_equal(tact_worker_wait(worker, tick, 5000 * MS), 0);
    }
    assert_int_equal(tact_worker_wait(worker, 3, 5 * MS), -ETIMEDOUT); /* never submitted */
    submit_to_fake_worker(worker, 3);
    int64_t start = tact_clock_now();
    /* waiting times out, as the worker has ended */
    assert_int_equal(tact_worker_wait(worker, 3, 20000 * MS), -ETIMEDOUT);
    assert_true(tact_clock_now() - start < 10000 * MS);
    tact_worker_statistics(worker, &worker_statistics);
    assert_int_equal(worker_statistics.running, 0);
    assert_int_equal(worker_statistics.frames, 3);
    assert_int_equal(tact_worker_destroy(worker), 0);
}

static void free_wheeling_worker_does_not_wait_for_ticks(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_moments_worker *worker = create_fake_worker(&options);
    int64_t start = tact_clock_now();
    for (uint64_t tick = 0; tick < 2000; tick++) {
        submit_to_fake_worker(worker, tick);
        assert_int_equal(tact_worker_wait(worker, tick, 5000 * MS), 0);
    }
    double us = 1e-3 * (double)(tact_clock_now() - start) / 2000.0;
    print_message("submit and wait: %.1f us a frame\n", us);
    assert_true(us < 500.0);
    assert_int_equal(tact_worker_destroy(worker), 0);
}

static void hung_worker_does_not_block_close(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    options.fault.hang_after = 1;
    options.close_ns = 50 * MS;
    struct tact_moments_worker *worker = create_fake_worker(&options);
    submit_to_fake_worker(worker, 1);
    assert_int_equal(tact_worker_wait(worker, 1, 5000 * MS), 0);
    submit_to_fake_worker(worker, 2);
    assert_int_equal(tact_worker_wait(worker, 2, 20 * MS), -ETIMEDOUT);
    int64_t start = tact_clock_now();
    assert_int_equal(tact_worker_destroy(worker), -ETIMEDOUT);
    assert_true(tact_clock_now() - start < 2000 * MS);
}

static int compute_fake_moments_slowly(void *user, const struct tact_pose *poses,
                                       const uint8_t *active, const double *directions,
                                       struct tact_source_moments *out)
{
    int64_t end = tact_clock_now() + 5 * MS;
    while (tact_clock_now() < end) {
    }
    return compute_fake_moments(user, poses, active, directions, out);
}

/* Each frame takes five periods: the worker must still sleep at times, or the fuse ends this
 * test. */
static void overloaded_worker_with_priority_still_sleeps(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_opencl_statistics s;
    struct tact_moments_worker *worker = NULL;
    const struct rlimit cpu_time_limit = {400000, RLIM_INFINITY};
    options.fifo_priority = 1;
    setrlimit(RLIMIT_RTTIME, &cpu_time_limit);
    assert_int_equal(tact_worker_create(&fake_source_scene, &options, compute_fake_moments_slowly,
                                        NULL, &worker, NULL),
                     0);
    int64_t next_tick_start_ns = tact_clock_now();
    for (uint64_t tick = 1; tick <= 1500; tick++) {
        next_tick_start_ns += TICK_PERIOD_NS;
        tact_clock_sleep_until(next_tick_start_ns);
        submit_to_fake_worker(worker, tick);
    }
    tact_worker_statistics(worker, &s);
    print_message("overloaded: %lu frames, %lu replaced, %.0f %% of a CPU\n",
                  (unsigned long)s.frames, (unsigned long)s.replaced,
                  1e-7 * (double)s.cpu_ns / 1.5);
    assert_true(s.frames > 20 && s.replaced > 500);
    assert_int_equal(tact_worker_destroy(worker), 0);
}

static void idle_worker_uses_no_processor_time(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_opencl_statistics before, after;
    struct tact_moments_worker *worker = create_fake_worker(&options);
    submit_to_fake_worker(worker, 1);
    assert_int_equal(tact_worker_wait(worker, 1, 5000 * MS), 0);
    tact_worker_statistics(worker, &before);
    tact_clock_sleep_until(tact_clock_now() + 1000 * MS);
    submit_to_fake_worker(worker, 2);
    assert_int_equal(tact_worker_wait(worker, 2, 5000 * MS), 0);
    tact_worker_statistics(worker, &after);
    double share = 1e-9 * (double)(after.cpu_ns - before.cpu_ns);
    print_message("idle: %.2f %% of a CPU\n", 100.0 * share);
    assert_true(share < 0.1);
    assert_int_equal(tact_worker_destroy(worker), 0);
}

/* ---- with the device ---- */

enum { BALL_A, BALL_B, PLATE, TIP, BUST, SHAPES };
static struct tact_shape shapes[SHAPES];
static const struct tact_source_pair pairs[] = {{BALL_A, PLATE}, {BALL_B, PLATE}, {TIP, BUST}};
static struct tact_mesh *capsule_mesh;

static void make_shapes(void)
{
    shapes[BALL_A] = (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {0.008}};
    shapes[BALL_B] = shapes[BALL_A];
    shapes[PLATE] = (struct tact_shape){.kind = TACT_SHAPE_BOX, .size = {0.15, 0.001, 0.015}};
    shapes[TIP] = (struct tact_shape){.kind = TACT_SHAPE_CAPSULE, .size = {0.008, 0.01}};
    assert_int_equal(tact_mesh_capsule(0.05, 0.02, 5000, &capsule_mesh), 0);
    shapes[BUST] = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = capsule_mesh};
    assert_int_equal(tact_shape_tessellate(&shapes[PLATE]), 0);
    assert_int_equal(tact_shape_tessellate(&shapes[TIP]), 0);
}

static void release_opencl_source_shapes(void)
{
    for (int i = 0; i < SHAPES; i++) {
        tact_shape_release(&shapes[i]);
    }
    tact_mesh_free(capsule_mesh);
}

static void set_oscillating_poses(struct tact_pose *poses, uint64_t tick)
{
    double displacement = 0.0001 * sin(0.01 * (double)tick);
    for (int i = 0; i < SHAPES; i++) {
        poses[i] = tact_pose_identity();
    }
    tact_v3_set(poses[BALL_A].position, 0.05, 0.0087 + displacement, 0.001);
    tact_v3_set(poses[BALL_B].position, 0.05, -0.0087 + displacement, 0.001);
    tact_v3_set(poses[TIP].position, 0.0575 + displacement, 0.5, 0.003);
    tact_v3_set(poses[BUST].position, 0.0, 0.5, 0.0);
}

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct worker_timing_outcome {
    uint64_t ticks, age_one, late, older_result_count, longest;
    double median_frame_duration_us, p99_frame_duration_us, result_found_p50_us, cpu_share,
        submit_p99_us;
};

/* continues over all loops, as a moment source requires ascending ticks */
static uint64_t last_submitted_tick;

/* A loop at 1 kHz like the session's: reads the results of the last tick's poses, and submits
 * poses at the end of each tick. */
static void run_loop_with_moment_source(struct tact_source *source, uint64_t ticks, uint32_t first,
                                        uint32_t count, struct worker_timing_outcome *o)
{
    double *frame = calloc(ticks, sizeof *frame), *found = calloc(ticks, sizeof *found);
    double *submit_durations = calloc(ticks, sizeof *submit_durations);
    struct tact_opencl_statistics before, s;
    const double directions[3 * 3] = {0, 1, 0, 0, -1, 0, 1, 0, 0};
    uint8_t active[3] = {0};
    struct tact_source_result result;
    memset(o, 0, sizeof *o);
    memset(active + first, 1, count);
    tact_opencl_statistics(source, &before);
    int64_t next_tick_start_ns = tact_clock_now();
    for (uint64_t i = 0; i < ticks; i++) {
        const uint64_t k = ++last_submitted_tick;
        struct tact_pose poses[SHAPES];
        next_tick_start_ns += TICK_PERIOD_NS;
        tact_clock_sleep_until(next_tick_start_ns);
        if (tact_clock_now() - next_tick_start_ns > TICK_PERIOD_NS / 2) {
            o->late++; /* the machine delayed the loop itself */
        }
        uint64_t age = source->ops->latest(source->self, &result) == 0 ? k - result.tick : i;
        o->age_one += age == 1;
        o->longest = age > o->longest ? age : o->longest;
        tact_opencl_statistics(source, &s);
        frame[i] = 1e-3 * (double)s.frame_ns;
        found[i] = 1e-3 * (double)s.found_ns;
        set_oscillating_poses(poses, k);
        int64_t start = tact_clock_now();
        source->ops->submit(source->self, k, poses, active, directions);
        submit_durations[i] = 1e-3 * (double)(tact_clock_now() - start);
    }
    qsort(frame, ticks, sizeof *frame, compare_values);
    qsort(found, ticks, sizeof *found, compare_values);
    qsort(submit_durations, ticks, sizeof *submit_durations, compare_values);
    o->ticks = ticks;
    o->median_frame_duration_us = frame[ticks / 2];
    o->p99_frame_duration_us = frame[ticks * 99 / 100];
    o->result_found_p50_us = found[ticks / 2];
    o->submit_p99_us = submit_durations[ticks * 99 / 100];
    o->cpu_share = (double)(s.cpu_ns - before.cpu_ns) / (double)((int64_t)ticks * TICK_PERIOD_NS);
    free(frame);
    free(found);
    free(submit_durations);
}

static void print_timing_outcome(const char *what, const struct worker_timing_outcome *o)
{
    print_message("%s: frame p50 %.1f p99 %.1f us, found after %.1f us (p50), submit p99 %.1f us, "
                  "age 1 in %.2f %% of %lu ticks (oldest %lu, loop late %lu), worker %.1f %% CPU\n",
                  what, o->median_frame_duration_us, o->p99_frame_duration_us,
                  o->result_found_p50_us, o->submit_p99_us,
                  100.0 * (double)o->age_one / (double)o->ticks, (unsigned long)o->ticks,
                  (unsigned long)o->longest, (unsigned long)o->late, 100.0 * o->cpu_share);
}

static int create_opencl_source(const struct tact_opencl_options *options,
                                struct tact_source *source)
{
    static const struct tact_source_scene scene = {shapes, SHAPES, pairs, 3};
    struct tact_error err = {0};
    int r = tact_opencl_source_create(&scene, options, source, &err);
    if (r < 0) {
        print_message("%s\n", err.text);
    }
    return r;
}

static void worker_results_are_one_tick_old(void **unused)
{
    (void)unused;
    struct tact_source source;
    struct tact_source_result result;
    struct worker_timing_outcome o;
    assert_int_equal(create_opencl_source(NULL, &source), 0);
    run_loop_with_moment_source(&source, 200, 0, 3, &o); /* warm-up */
    run_loop_with_moment_source(&source, 1000, 0, 2, &o);
    print_timing_outcome("two balls on a plate", &o);
    /* on an idle machine nearly all results are one tick old */
    assert_true(o.age_one >= (o.ticks - o.late) / 2);
    run_loop_with_moment_source(&source, 1000, 2, 1, &o);
    print_timing_outcome("capsule on a mesh of 5000 triangles", &o);
    /* on an idle machine nearly all results are one tick old */
    assert_true(o.age_one >= (o.ticks - o.late) / 2);
    assert_int_equal(source.ops->wait(source.self, last_submitted_tick, 1000 * MS), 0);
    assert_int_equal(source.ops->latest(source.self, &result), 0);
    assert_int_equal(result.pairs[2].status, 1);
    assert_int_equal(result.pairs[0].status, 0);
    source.ops->close(source.self);
}

static void slow_worker_frame_only_raises_the_result_age(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_source source;
    struct worker_timing_outcome o;
    options.fault.delay_every = 50;
    options.fault.delay_ns = 5 * MS;
    assert_int_equal(create_opencl_source(&options, &source), 0);
    run_loop_with_moment_source(&source, 1000, 0, 2, &o);
    print_timing_outcome("every 50th frame 5 ms late", &o);
    assert_true(o.longest >= 5);
    assert_true(o.age_one >= (o.ticks - o.late) / 2);
    source.ops->close(source.self);
}

static void killed_worker_leaves_its_last_frame(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_opencl_statistics worker_statistics;
    struct tact_source_result result;
    struct tact_source source;
    struct worker_timing_outcome o;
    options.fault.exit_after = 300;
    assert_int_equal(create_opencl_source(&options, &source), 0);
    run_loop_with_moment_source(&source, 1000, 0, 3, &o);
    print_timing_outcome("worker killed after 300 frames", &o);
    tact_opencl_statistics(&source, &worker_statistics);
    assert_int_equal(worker_statistics.frames, 300);
    assert_int_equal(worker_statistics.running, 0);
    assert_int_equal(source.ops->latest(source.self, &result), 0);
    assert_true(last_submitted_tick - result.tick > 100 &&
                last_submitted_tick - result.tick <= 700);
    assert_int_equal(result.pairs[0].status, 1);
    assert_true(o.submit_p99_us < 500.0);
    source.ops->close(source.self);
}

static _Atomic int is_load_stopped;

static void *occupy_processor(void *argument)
{
    volatile double *x = argument;
    while (!is_load_stopped) {
        for (int i = 0; i < 1000; i++) {
            *x = *x * 0.999 + 1.0;
        }
    }
    return NULL;
}

static void worker_with_priority_keeps_up_on_a_busy_machine(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    const struct sched_param loop = {.sched_priority = 20}, normal = {.sched_priority = 0};
    /* limit of real-time processor time, which ends a runaway thread */
    const struct rlimit cpu_time_limit = {1000000, RLIM_INFINITY};
    struct tact_source source;
    struct worker_timing_outcome o;
    pthread_t threads[4];
    double work[4] = {0};
    options.fifo_priority = 1;
    setrlimit(RLIMIT_RTTIME, &cpu_time_limit);
    if (sched_setscheduler(0, SCHED_FIFO, &loop) != 0) {
        print_message("skipped: no right to SCHED_FIFO\n");
        skip();
    }
    sched_setscheduler(0, SCHED_OTHER, &normal);
    assert_int_equal(create_opencl_source(&options, &source), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, occupy_processor, &work[i]), 0);
    }
    sched_setscheduler(0, SCHED_FIFO, &loop);
    run_loop_with_moment_source(&source, 200, 0, 2, &o);
    run_loop_with_moment_source(&source, 1000, 0, 2, &o);
    sched_setscheduler(0, SCHED_OTHER, &normal);
    is_load_stopped = 1;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    print_timing_outcome("FIFO loop and worker, four hogs", &o);
    assert_true(o.age_one >= (o.ticks - o.late) * 9 / 10);
    source.ops->close(source.self);
}

static int error_message_count;

static void count_error_messages(void *user, enum tact_message_level level, const char *text)
{
    (void)user;
    (void)text;
    error_message_count += level == TACT_MESSAGE_ERROR;
}

static void hung_opencl_driver_does_not_hang_close(void **unused)
{
    (void)unused;
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_source source;
    struct worker_timing_outcome o;
    options.fault.hang_after = 50;
    options.close_ns = 100 * MS;
    options.messages.fn = count_error_messages;
    assert_int_equal(create_opencl_source(&options, &source), 0);
    run_loop_with_moment_source(&source, 200, 0, 3, &o);
    int64_t start = tact_clock_now();
    source.ops->close(source.self);
    assert_true(tact_clock_now() - start < 2000 * MS);
    assert_int_equal(error_message_count, 1);
}

int main(void)
{
    const struct CMUnitTest worker_handover_tests[] = {
        cmocka_unit_test(worker_frames_arrive_whole_and_in_order),
        cmocka_unit_test(waiting_for_a_worker_result_ends_at_its_timeout),
        cmocka_unit_test(free_wheeling_worker_does_not_wait_for_ticks),
        cmocka_unit_test(hung_worker_does_not_block_close),
        cmocka_unit_test(idle_worker_uses_no_processor_time),
        cmocka_unit_test(overloaded_worker_with_priority_still_sleeps),
    };
    const struct CMUnitTest device[] = {
        cmocka_unit_test(worker_results_are_one_tick_old),
        cmocka_unit_test(slow_worker_frame_only_raises_the_result_age),
        cmocka_unit_test(worker_with_priority_keeps_up_on_a_busy_machine),
        cmocka_unit_test(killed_worker_leaves_its_last_frame),
        cmocka_unit_test(hung_opencl_driver_does_not_hang_close),
    };
    struct tact_error err = {0};
    size_t count = 0;
    int failed = cmocka_run_group_tests(worker_handover_tests, NULL, NULL);
#if defined(__SANITIZE_THREAD__)
    print_message("the device itself is not run under a thread sanitizer\n");
    return failed;
#endif
    if (tact_opencl_list(NULL, 0, &count, 0, &err) < 0) {
        print_message("skipped the device: %s\n", err.text);
        return failed ? failed : 77;
    }
    make_shapes();
    failed += cmocka_run_group_tests(device, NULL, NULL);
    release_opencl_source_shapes();
    return failed;
}
