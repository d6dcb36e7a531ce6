/* The loop: the grid of tick times, late ticks, the fuse against a runaway thread, and
 * free-wheeling. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "rt/clock.h"
#include "rt/loop.h"
#include "support/campaign.h"

enum { MOST = 20000 };

/* What the tick callback is to do (stall, busy-wait, stop), and what it has recorded. */
static struct loop_test_callback_data {
    uint64_t count;
    uint64_t tick[MOST];
    int64_t planned[MOST];
    int64_t wake_times_ns[MOST];
    pthread_t thread;
    int scheduling_policy;
    uint64_t tick_of_stall_or_busy_wait;
    int64_t stall_duration_ns; /* time that the callback sleeps at tick tick_of_stall_or_busy_wait
                                  [ns] */
    int64_t busy_wait_ns; /* time that the callback busy-waits at tick tick_of_stall_or_busy_wait,
                             or at every tick where busy_waits_every_tick [ns] */
    int busy_waits_every_tick;
    struct tact_stop stop;
    uint64_t tick_of_stop_request;
    uint64_t count_of_calls_between_ticks;
    /* page faults of the loop's thread up to the first and up to the last tick */
    long page_faults_at_first_tick, page_faults_at_last_tick;
} loop_test_callback_data;

static void busy_wait(int64_t ns)
{
    const int64_t end = tact_clock_now() + ns;
    while (tact_clock_now() < end) {
    }
}

static void stall_or_stop_and_record_loop_tick(void *user, uint64_t tick, int64_t planned_ns,
                                               int64_t woke_ns)
{
    struct loop_test_callback_data *s = user;
    if (s->count < MOST) {
        s->tick[s->count] = tick;
        s->planned[s->count] = planned_ns;
        s->wake_times_ns[s->count] = woke_ns;
    }
    s->count++;
    if (s->count == 1) {
        s->thread = pthread_self();
        s->scheduling_policy = sched_getscheduler(0);
    }
    struct rusage thread_usage;
    getrusage(RUSAGE_THREAD, &thread_usage);
    s->page_faults_at_last_tick = thread_usage.ru_minflt + thread_usage.ru_majflt;
    s->page_faults_at_first_tick =
        s->count == 1 ? s->page_faults_at_last_tick : s->page_faults_at_first_tick;
    if (s->stall_duration_ns && tick == s->tick_of_stall_or_busy_wait) {
        tact_clock_sleep_until(tact_clock_now() + s->stall_duration_ns);
    }
    if (s->busy_wait_ns && (s->busy_waits_every_tick || tick == s->tick_of_stall_or_busy_wait)) {
        busy_wait(s->busy_wait_ns);
    }
    if (s->tick_of_stop_request && tick == s->tick_of_stop_request) {
        tact_stop_request(&s->stop);
    }
}

static struct tact_loop_options make_loop_options(uint64_t ticks)
{
    struct tact_loop_options o = tact_loop_default();
    loop_test_callback_data = (struct loop_test_callback_data){0};
    o.ticks = ticks;
    o.tick = stall_or_stop_and_record_loop_tick;
    o.user = &loop_test_callback_data;
    o.stop = &loop_test_callback_data.stop;
    return o;
}

static int was_setting_granted(const struct tact_loop_stats *stats, const char *name)
{
    for (int i = 0; i < stats->realtime.count; i++) {
        if (strcmp(stats->realtime.item[i].name, name) == 0) {
            return stats->realtime.item[i].granted;
        }
    }
    return 0;
}

static int was_fifo_granted(const struct tact_loop_stats *stats)
{
    return was_setting_granted(stats, "scheduler");
}

static void assert_ticks_on_period_grid(const struct tact_loop_options *o,
                                        const struct tact_loop_stats *stats)
{
    assert_int_equal(stats->ticks, stats->executed + stats->skipped);
    assert_int_equal(stats->executed, loop_test_callback_data.count);
    assert_int_equal(stats->compute.count, stats->executed);
    assert_true(stats->missed >= stats->skipped);
    for (uint64_t i = 0; i < loop_test_callback_data.count; i++) {
        const int64_t t = stats->start_ns + (int64_t)loop_test_callback_data.tick[i] * o->period_ns;
        assert_int_equal(loop_test_callback_data.planned[i], t);
        assert_true(loop_test_callback_data.wake_times_ns[i] >= t);
        assert_true(i == 0 ||
                    loop_test_callback_data.tick[i] > loop_test_callback_data.tick[i - 1]);
    }
}

static struct tact_loop_stats stats;

static void bad_loop_options_are_refused(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(1);
    o.tick = NULL;
    assert_int_equal(tact_loop_run(&o, &stats), -EINVAL);
    o = make_loop_options(1);
    o.period_ns = 0;
    assert_int_equal(tact_loop_run(&o, &stats), -EINVAL);
    o = make_loop_options(1);
    o.clock = 7;
    assert_int_equal(tact_loop_run(&o, &stats), -EINVAL);
    o = make_loop_options(1);
    o.realtime.priority = 100;
    assert_int_equal(tact_loop_run(&o, &stats), -EINVAL);
    o = make_loop_options(1);
    o.realtime.stack_size = 16;
    assert_int_equal(tact_loop_run(&o, &stats), -EINVAL);
    assert_int_equal(loop_test_callback_data.count, 0);
}

static void every_tick_of_the_loop_is_accounted_for(void **state)
{
    (void)state;
    const struct tact_loop_options o = make_loop_options(3000);
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.ticks, 3000);
    assert_ticks_on_period_grid(&o, &stats);
    assert_int_equal(stats.wake_latency.count, stats.executed);
    assert_false(pthread_equal(loop_test_callback_data.thread, pthread_self()));
    assert_int_equal(loop_test_callback_data.scheduling_policy,
                     was_fifo_granted(&stats) ? SCHED_FIFO : SCHED_OTHER);
    uint64_t late = 0;
    for (uint64_t i = 0; i < loop_test_callback_data.count; i++) {
        late +=
            loop_test_callback_data.wake_times_ns[i] - loop_test_callback_data.planned[i] > 100000;
    }
    assert_int_equal(stats.late, late);
    const struct tact_histogram_summary s = tact_histogram_summarise(&stats.wake_latency);
    print_message("wake latency, %s: p50 %.1f p99 %.1f p99.9 %.1f max %.1f us; late %d missed %d\n",
                  was_fifo_granted(&stats) ? "FIFO" : "normal", (double)s.p50 / 1e3,
                  (double)s.p99 / 1e3, (double)s.p999 / 1e3, (double)s.max / 1e3, (int)stats.late,
                  (int)stats.missed);
    if (was_fifo_granted(&stats)) {
        assert_true(s.p50 < 500000);
    }
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
    /* A sanitizer's runtime replaces mlockall() by nothing. */
    if (!IS_SANITIZER_BUILD && was_setting_granted(&stats, "memory")) {
        assert_int_equal(loop_test_callback_data.page_faults_at_last_tick,
                         loop_test_callback_data.page_faults_at_first_tick);
    }
}

/* The loop falls 20 ms behind: no tick is lost, and each late tick states its lateness against its
 * own planned time. */
static void short_stall_of_the_loop_is_caught_up(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(300);
    o.max_backlog_ns = 1000000000; /* holds however busy the machine is */
    loop_test_callback_data.tick_of_stall_or_busy_wait = 100;
    loop_test_callback_data.stall_duration_ns = 20000000;
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.ticks, 300);
    assert_int_equal(stats.executed, 300);
    assert_int_equal(stats.skipped, 0);
    assert_ticks_on_period_grid(&o, &stats);
    assert_true(stats.missed >= 19);
    assert_true(stats.late >= 19);
    assert_true(stats.wake_latency.max >= 18000000);
    assert_true(stats.compute.max >= 20000000);
}

static void long_stall_of_the_loop_skips_ticks_on_the_grid(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(600);
    loop_test_callback_data.tick_of_stall_or_busy_wait = 100;
    loop_test_callback_data.stall_duration_ns = 250000000;
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.ticks, 600);
    assert_true(stats.skipped >= 249);
    assert_true(stats.missed >= stats.skipped + 1);
    assert_ticks_on_period_grid(&o, &stats);
    uint64_t gap = 0;
    for (uint64_t i = 1; i < loop_test_callback_data.count; i++) {
        gap += loop_test_callback_data.tick[i] - loop_test_callback_data.tick[i - 1] - 1;
    }
    assert_int_equal(gap, stats.skipped);
    assert_int_equal(loop_test_callback_data.tick[loop_test_callback_data.count - 1], 599);
}

static void stall_past_the_end_skips_the_remaining_ticks(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(200);
    loop_test_callback_data.tick_of_stall_or_busy_wait = 100;
    loop_test_callback_data.stall_duration_ns = 400000000;
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.ticks, 200);
    assert_int_equal(stats.executed + stats.skipped, 200);
    assert_true(stats.skipped >= 99);
}

/* Every tick overruns its period but returns: ticks are skipped and counted, and the fuse does not
 * trip. */
static void overload_does_not_blow_the_cpu_time_fuse(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(700);
    loop_test_callback_data.busy_wait_ns = 1300000;
    loop_test_callback_data.busy_waits_every_tick = 1;
    o.realtime.fuse_us = 100000;
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.fuse_blown, 0);
    assert_int_equal(stats.ticks, 700);
    assert_int_equal(stats.missed, 700);
    assert_true(stats.skipped >= 50);
    assert_ticks_on_period_grid(&o, &stats);
}

static volatile sig_atomic_t xcpu_seen;

static void on_xcpu_signal(int number)
{
    (void)number;
    xcpu_seen = 1;
}

static void runaway_tick_blows_the_cpu_time_fuse(void **state)
{
    (void)state;
    struct sigaction caller_signal_action = {.sa_handler = on_xcpu_signal}, now;
    struct rlimit before, after;
    sigaction(SIGXCPU, &caller_signal_action, NULL);
    getrlimit(RLIMIT_RTTIME, &before);
    struct tact_loop_options o = make_loop_options(1000);
    o.realtime.fuse_us = 100000;
    loop_test_callback_data.tick_of_stall_or_busy_wait = 20;
    loop_test_callback_data.busy_wait_ns = 600000000;
    const int rc = tact_loop_run(&o, &stats);
    if (!was_fifo_granted(&stats)) {
        print_message("SCHED_FIFO refused: the fuse is not tested\n");
        skip();
    }
    assert_int_equal(rc, -ETIME);
    assert_int_equal(stats.fuse_blown, 1);
    assert_int_equal(stats.ticks, 21);
    assert_int_equal(loop_test_callback_data.count, 21);
    assert_int_equal(xcpu_seen, 0);
    /* After the run, signal handler and CPU time limit are the caller's again. */
    sigaction(SIGXCPU, NULL, &now);
    assert_ptr_equal(now.sa_handler, on_xcpu_signal);
    getrlimit(RLIMIT_RTTIME, &after);
    assert_int_equal(after.rlim_cur, before.rlim_cur);
    signal(SIGXCPU, SIG_DFL);
    /* The next run of the loop has a new fuse. */
    o = make_loop_options(20);
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.fuse_blown, 0);
}

static void on_alarm_signal(int number)
{
    (void)number;
    /* NOLINTNEXTLINE(bugprone-signal-handler): is async-signal-safe */
    tact_stop_request(&loop_test_callback_data.stop);
}

static void signal_handler_stops_the_loop(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(0);
    signal(SIGALRM, on_alarm_signal);
    const struct itimerspec in = {.it_value = {.tv_nsec = 200000000}};
    timer_t timer;
    assert_int_equal(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &in, NULL), 0);
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    timer_delete(timer);
    signal(SIGALRM, SIG_DFL);
    assert_int_equal(stats.stopped, 1);
    assert_true(stats.ticks >= 10);
    assert_ticks_on_period_grid(&o, &stats);
}

static int check_call_count_and_cancel_at_tick(void *user, uint64_t tick)
{
    struct loop_test_callback_data *s = user;
    assert_int_equal(s->count, tick);
    assert_int_equal(s->count_of_calls_between_ticks, tick);
    s->count_of_calls_between_ticks++;
    return s->tick_of_stop_request && tick == s->tick_of_stop_request ? -ECANCELED : 0;
}

static void free_wheeling_loop_runs_without_waiting(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(10000);
    o.clock = TACT_LOOP_FREE;
    o.start_ns = 5000000000;
    o.between = check_call_count_and_cancel_at_tick;
    const int64_t t0 = tact_clock_now();
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_true(tact_clock_now() - t0 < 5000000000);
    assert_int_equal(stats.ticks, 10000);
    assert_int_equal(stats.executed, 10000);
    assert_int_equal(stats.late + stats.missed + stats.skipped, 0);
    assert_int_equal(stats.wake_latency.count, 0);
    assert_int_equal(stats.realtime.count, 0);
    assert_int_equal(loop_test_callback_data.count_of_calls_between_ticks, 10000);
    assert_int_equal(loop_test_callback_data.scheduling_policy, SCHED_OTHER);
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(loop_test_callback_data.tick[i], i);
        assert_int_equal(loop_test_callback_data.planned[i], 5000000000 + (int64_t)i * 1000000);
        assert_int_equal(loop_test_callback_data.wake_times_ns[i],
                         loop_test_callback_data.planned[i]);
    }
}

static void free_wheeling_loop_ends_early_on_request(void **state)
{
    (void)state;
    struct tact_loop_options o = make_loop_options(1000);
    o.clock = TACT_LOOP_FREE;
    o.between = check_call_count_and_cancel_at_tick;
    o.stop = NULL;
    loop_test_callback_data.tick_of_stop_request = 17;
    assert_int_equal(tact_loop_run(&o, &stats), -ECANCELED);
    assert_int_equal(stats.ticks, 17);
    o = make_loop_options(1000);
    o.clock = TACT_LOOP_FREE;
    loop_test_callback_data.tick_of_stop_request = 17;
    assert_int_equal(tact_loop_run(&o, &stats), 0);
    assert_int_equal(stats.stopped, 1);
    assert_int_equal(stats.ticks, 18);
}

static void sleep_until_a_past_time_returns_at_once(void **state)
{
    (void)state;
    const int64_t t0 = tact_clock_now();
    assert_int_equal(tact_clock_sleep_until(t0 - 1000), 0);
    assert_int_equal(tact_clock_sleep_until(-5), -EINVAL);
    assert_int_equal(tact_clock_sleep_until(t0 + 3000000), 0);
    assert_true(tact_clock_now() >= t0 + 3000000);
    const struct tact_clock_anchor a = tact_clock_anchor_now();
    const struct tact_clock_anchor b = tact_clock_anchor_now();
    assert_true(a.error_ns >= 0);
    assert_true(llabs(tact_clock_wall(&a, b.monotonic_ns) - b.wall_ns) < 10000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_loop_options_are_refused),
        cmocka_unit_test(every_tick_of_the_loop_is_accounted_for),
        cmocka_unit_test(short_stall_of_the_loop_is_caught_up),
        cmocka_unit_test(long_stall_of_the_loop_skips_ticks_on_the_grid),
        cmocka_unit_test(stall_past_the_end_skips_the_remaining_ticks),
        cmocka_unit_test(overload_does_not_blow_the_cpu_time_fuse),
        cmocka_unit_test(runaway_tick_blows_the_cpu_time_fuse),
        cmocka_unit_test(signal_handler_stops_the_loop),
        cmocka_unit_test(free_wheeling_loop_runs_without_waiting),
        cmocka_unit_test(free_wheeling_loop_ends_early_on_request),
        cmocka_unit_test(sleep_until_a_past_time_returns_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
