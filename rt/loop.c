#include "rt/loop.h"

#include <errno.h>
#include <string.h>

#include "rt/clock.h"
#include "rt/loop_internal.h"

/* sleep after a long backlog [ns]: short, but long enough to block and so reset the fuse */
#define MIN_SLEEP_AFTER_BACKLOG_NS 50000

struct loop {
    const struct tact_loop_options *options;
    struct tact_loop_stats *stats;
    int64_t max_lateness_before_skip_ns;
    int result;
};

/* C++ includes struct tact_stop too and has no _Atomic: hence the compiler's builtins. */
void tact_stop_request(struct tact_stop *stop)
{
    __atomic_store_n(&stop->requested, 1, __ATOMIC_RELEASE);
}

int tact_stop_requested(const struct tact_stop *stop)
{
    return stop && __atomic_load_n(&stop->requested, __ATOMIC_ACQUIRE);
}

struct tact_loop_options tact_loop_default(void)
{
    return (struct tact_loop_options){
        .period_ns = 1000000,
        .clock = TACT_LOOP_REAL,
        .max_backlog_ns = 100000000,
        .realtime = tact_realtime_default(),
    };
}

static int64_t planned_tick_time(const struct loop *l, uint64_t k)
{
    return l->stats->start_ns + (int64_t)k * l->options->period_ns;
}

/* Whether the loop ends before tick k. */
static int must_loop_end_before_tick(struct loop *l, uint64_t k)
{
    if (l->options->ticks && k >= l->options->ticks) {
        return 1;
    }
    if (tact_stop_requested(l->options->stop)) {
        l->stats->stopped = 1;
        return 1;
    }
    return l->result != 0;
}

/* Skips the ticks from k on that are due at `now`; returns the first that is not. */
static uint64_t skip_overdue_ticks(struct loop *l, uint64_t k, int64_t now)
{
    const int64_t period = l->options->period_ns;
    uint64_t next = (uint64_t)((now - l->stats->start_ns + period - 1) / period);
    if (l->options->ticks && next > l->options->ticks) {
        next = l->options->ticks;
    }
    l->stats->skipped += next - k;
    l->stats->missed += next - k;
    l->stats->ticks += next - k;
    return next;
}

void tact_loop_add_tick_statistics(struct tact_loop_stats *s, int64_t period, int64_t t_k,
                                   int64_t woke_ns, int64_t end)
{
    s->ticks++;
    s->executed++;
    s->late += woke_ns - t_k > period / 10;
    s->missed += end - t_k > period;
    tact_histogram_add(&s->wake_latency, woke_ns - t_k);
    tact_histogram_add(&s->compute, end - woke_ns);
}

/* Sleeps until the tick is due. If its time has passed, does not sleep, unless a long backlog would
 * reach the CPU-time fuse: only a sleep resets it. */
static int sleep_until_tick_is_due(const struct loop *l, int64_t t_k, int64_t now,
                                   int64_t *last_sleep_end_ns)
{
    const int64_t time_limit_without_sleep_ns = l->options->realtime.fuse_us * 1000 / 4;
    int64_t until = t_k;
    if (now >= t_k) {
        if (time_limit_without_sleep_ns == 0 ||
            now - *last_sleep_end_ns < time_limit_without_sleep_ns) {
            return 0;
        }
        until = now + MIN_SLEEP_AFTER_BACKLOG_NS;
    }
    *last_sleep_end_ns = until;
    return tact_clock_sleep_until(until);
}

static void run_real_time_loop(struct loop *l)
{
    int64_t now = tact_clock_now();
    int64_t last_sleep_end_ns = now;
    l->stats->start_ns = l->options->start_ns ? l->options->start_ns : now + l->options->period_ns;
    for (uint64_t k = 0; !must_loop_end_before_tick(l, k);) {
        const int64_t t_k = planned_tick_time(l, k);
        l->result = sleep_until_tick_is_due(l, t_k, now, &last_sleep_end_ns);
        const int64_t woke_ns = tact_clock_now();
        now = woke_ns;
        if (l->result) {
            return;
        }
        if (woke_ns - t_k > l->max_lateness_before_skip_ns) {
            k = skip_overdue_ticks(l, k, woke_ns);
            continue;
        }
        l->options->tick(l->options->user, k, t_k, woke_ns);
        now = tact_clock_now();
        tact_loop_add_tick_statistics(l->stats, l->options->period_ns, t_k, woke_ns, now);
        if (tact_realtime_fuse_blown()) {
            l->stats->fuse_blown = 1;
            l->result = -ETIME;
        }
        k++;
    }
}

static void *run_real_time_loop_thread(void *arg)
{
    struct loop *l = arg;
    l->result = tact_realtime_enter(&l->options->realtime, &l->stats->realtime);
    if (!l->result) {
        run_real_time_loop(l);
        tact_realtime_leave();
    }
    return NULL;
}

static void *run_free_wheeling_loop_thread(void *arg)
{
    struct loop *l = arg;
    const struct tact_loop_options *o = l->options;
    l->stats->start_ns = o->start_ns ? o->start_ns : tact_clock_now();
    for (uint64_t k = 0; !must_loop_end_before_tick(l, k); k++) {
        const int between_ticks_callback_result = o->between ? o->between(o->user, k) : 0;
        if (between_ticks_callback_result) {
            l->result = between_ticks_callback_result < 0 ? between_ticks_callback_result : 0;
            break;
        }
        const int64_t t_k = planned_tick_time(l, k);
        const int64_t tick_callback_start_ns = tact_clock_now();
        o->tick(o->user, k, t_k, t_k);
        tact_histogram_add(&l->stats->compute, tact_clock_now() - tick_callback_start_ns);
        l->stats->ticks++;
        l->stats->executed++;
    }
    return NULL;
}

int tact_loop_run(const struct tact_loop_options *options, struct tact_loop_stats *stats)
{
    struct loop l = {.options = options, .stats = stats};
    pthread_t thread;
    memset(stats, 0, sizeof *stats);
    tact_histogram_reset(&stats->wake_latency);
    tact_histogram_reset(&stats->compute);
    if (!options->tick || options->period_ns <= 0 ||
        (options->clock != TACT_LOOP_REAL && options->clock != TACT_LOOP_FREE)) {
        return -EINVAL;
    }
    l.max_lateness_before_skip_ns =
        options->max_backlog_ns > options->period_ns ? options->max_backlog_ns : options->period_ns;
    const int rc =
        tact_realtime_thread(&thread, &options->realtime,
                             options->clock == TACT_LOOP_REAL ? run_real_time_loop_thread
                                                              : run_free_wheeling_loop_thread,
                             &l);
    if (rc) {
        return rc;
    }
    pthread_join(thread, NULL);
    return l.result;
}
