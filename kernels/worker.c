#include "kernels/worker_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "rt/clock.h"
#include "rt/message.h"
#include "rt/thread_internal.h"
#include "rt/triple.h"

#define STACK_BYTES ((size_t)4 << 20) /* a driver may call its compiler */
#define SLOWEST_POLL_NS 1000000       /* between two looks while nothing comes */
#define LONGEST_FIFO_NS 50000000      /* of a frame; a quarter of the loop's fuse (realtime.h) */
#define LONGEST_PERIOD_NS 100000000   /* a longer gap between frames is a pause, no period */

/* What submit() copies: this, 3 doubles a pair, a pose a shape, a byte a pair. */
struct frame {
    uint64_t tick;
    int64_t submitted_ns;
};

/* What the worker publishes: this, then a result a pair. */
struct results {
    uint64_t tick;
    struct tact_source_moments pairs[];
};

/* When the worker expects the next frame. */
struct schedule {
    uint64_t tick;
    int64_t submitted_ns;
    int64_t period_ns;
    int64_t due_ns;
};

struct tact_worker {
    uint32_t shape_count, pair_count;
    struct tact_opencl_options options;
    tact_worker_compute compute;
    void *user;
    struct tact_triple *frames, *answers;
    pthread_t thread;
    _Atomic int stop, running;
    _Atomic uint64_t finished; /* tick of the last finished frame, plus 1 */
    _Atomic int waiters;
    _Atomic uint64_t frame_count, failed;
    _Atomic int64_t frame_ns, found_ns, cpu_ns;
    pthread_mutex_t mutex; /* of what follows; never taken by submit() or latest() */
    pthread_cond_t wake, done;
    int kick; /* look for a frame now */
};

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Where the parts of a frame begin [bytes]. */
static size_t directions_at(void)
{
    return sizeof(struct frame);
}

static size_t poses_at(const struct tact_worker *w)
{
    return directions_at() + 3 * (size_t)w->pair_count * sizeof(double);
}

static size_t active_at(const struct tact_worker *w)
{
    return poses_at(w) + w->shape_count * sizeof(struct tact_pose);
}

void tact_worker_submit(struct tact_worker *w, uint64_t tick, const struct tact_pose *poses,
                        const uint8_t *active, const double *directions)
{
    char *slot = tact_triple_write_begin(w->frames);
    struct frame *frame = (struct frame *)slot;
    frame->tick = tick;
    memcpy(slot + directions_at(), directions, 3 * (size_t)w->pair_count * sizeof *directions);
    memcpy(slot + poses_at(w), poses, w->shape_count * sizeof *poses);
    memcpy(slot + active_at(w), active, w->pair_count);
    frame->submitted_ns = tact_clock_now();
    tact_triple_publish(w->frames);
}

int tact_worker_latest(struct tact_worker *w, struct tact_source_result *out)
{
    const struct results *results = tact_triple_read(w->answers, NULL);
    if (!results) {
        return -EAGAIN;
    }
    out->tick = results->tick;
    out->pairs = results->pairs;
    return 0;
}

int tact_worker_wait(struct tact_worker *w, uint64_t tick, int64_t timeout_ns)
{
    struct timespec deadline = to_timespec(tact_clock_now() + timeout_ns);
    int r = 0;
    /* First the waiter shows itself, then it looks at what is finished; the worker does it the
     * other way round: one of them sees the other. */
    atomic_fetch_add(&w->waiters, 1);
    pthread_mutex_lock(&w->mutex);
    w->kick = 1;
    pthread_cond_signal(&w->wake);
    while (atomic_load(&w->finished) < tick + 1 && r == 0) {
        if (!atomic_load(&w->running) ||
            pthread_cond_timedwait(&w->done, &w->mutex, &deadline) == ETIMEDOUT) {
            r = -ETIMEDOUT;
        }
    }
    if (atomic_load(&w->finished) >= tick + 1) {
        r = 0;
    }
    pthread_mutex_unlock(&w->mutex);
    atomic_fetch_sub(&w->waiters, 1);
    return r;
}

static void wake_waiters(struct tact_worker *w)
{
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->done);
    pthread_mutex_unlock(&w->mutex);
}

/* Sleeps until it is worth looking for a frame, or wait() or destroy() asks for it. */
static void sleep_a_while(struct tact_worker *w, const struct schedule *s)
{
    const int64_t poll = w->options.poll_ns, now = tact_clock_now();
    int64_t until = s->due_ns - 2 * poll;
    if (until <= now) {
        int64_t late = now - s->due_ns, step = poll;
        if (late > s->period_ns) {
            step = late / 8 > poll ? late / 8 : poll;
        }
        until = now + (step < SLOWEST_POLL_NS ? step : SLOWEST_POLL_NS);
    }
    struct timespec t = to_timespec(until);
    pthread_mutex_lock(&w->mutex);
    while (!w->kick && pthread_cond_timedwait(&w->wake, &w->mutex, &t) != ETIMEDOUT) {
    }
    w->kick = 0;
    pthread_mutex_unlock(&w->mutex);
}

static void expect_next(struct schedule *s, const struct frame *frame)
{
    if (s->submitted_ns && frame->tick > s->tick) {
        int64_t gap = (frame->submitted_ns - s->submitted_ns) / (int64_t)(frame->tick - s->tick);
        if (gap > 0 && gap < LONGEST_PERIOD_NS) {
            s->period_ns += (gap - s->period_ns) / 8;
        }
    }
    s->tick = frame->tick;
    s->submitted_ns = frame->submitted_ns;
    s->due_ns = frame->submitted_ns + s->period_ns;
}

/* Returns 0 where a fault on purpose ends the worker. */
static int apply_faults(const struct tact_worker *w)
{
    const struct tact_opencl_fault *fault = &w->options.fault;
    const uint64_t done = atomic_load_explicit(&w->frame_count, memory_order_relaxed);
    if (fault->exit_after && done >= fault->exit_after) {
        return 0;
    }
    while (fault->hang_after && done >= fault->hang_after) {
        tact_clock_sleep_until(tact_clock_now() + 10000000);
    }
    if (fault->delay_every && (done + 1) % fault->delay_every == 0) {
        tact_clock_sleep_until(tact_clock_now() + fault->delay_ns);
    }
    return 1;
}

static void handle(struct tact_worker *w, const struct frame *frame, int64_t found_ns)
{
    struct results *results = tact_triple_write_begin(w->answers);
    struct timespec cpu;
    const char *slot = (const char *)frame;
    results->tick = frame->tick;
    if (w->compute(w->user, (const struct tact_pose *)(slot + poses_at(w)),
                   (const uint8_t *)(slot + active_at(w)), (const double *)(slot + directions_at()),
                   results->pairs) < 0) {
        atomic_fetch_add_explicit(&w->failed, 1, memory_order_relaxed);
    }
    tact_triple_publish(w->answers);
    atomic_store_explicit(&w->found_ns, found_ns - frame->submitted_ns, memory_order_relaxed);
    atomic_store_explicit(&w->frame_ns, tact_clock_now() - found_ns, memory_order_relaxed);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    atomic_store_explicit(&w->cpu_ns, (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&w->frame_count, 1, memory_order_relaxed);
    atomic_store(&w->finished, frame->tick + 1);
    if (atomic_load(&w->waiters)) {
        wake_waiters(w);
    }
}

/* A worker that never sleeps because each frame takes longer than the loop's period would, as
 * SCHED_FIFO, keep a CPU to itself and blow the fuse; where one frame comes near the fuse it gives
 * its priority up. */
static void rest(struct tact_worker *w)
{
    const int64_t took = atomic_load_explicit(&w->frame_ns, memory_order_relaxed);
    const struct sched_param normal = {.sched_priority = 0};
    if (took > LONGEST_FIFO_NS) {
        pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
        w->options.fifo_priority = 0;
        tact_message(w->options.messages, TACT_MESSAGE_WARNING,
                     "a frame of moments took %.0f ms: the OpenCL worker gives up its priority",
                     1e-6 * (double)took);
    }
    const int64_t pause = took / 8 > w->options.poll_ns ? took / 8 : w->options.poll_ns;
    tact_clock_sleep_until(tact_clock_now() + pause);
}

static void *run(void *argument)
{
    struct tact_worker *w = argument;
    struct schedule schedule = {.period_ns = w->options.period_ns};
    int rested = 1;
    /* by default the kernel may end a sleep 50 us late, to save power */
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    while (!atomic_load(&w->stop)) {
        int fresh = 0;
        const struct frame *frame = tact_triple_read(w->frames, &fresh);
        if (!fresh) {
            sleep_a_while(w, &schedule);
            rested = 1;
            continue;
        }
        if (!rested && w->options.fifo_priority) {
            rest(w);
        }
        rested = 0;
        int64_t found_ns = tact_clock_now();
        expect_next(&schedule, frame);
        if (!apply_faults(w)) {
            break;
        }
        handle(w, frame, found_ns);
    }
    atomic_store(&w->running, 0);
    wake_waiters(w);
    return NULL;
}

/* A SCHED_FIFO thread that never sleeps would take the machine with it. */
static void set_fuse(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTTIME, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
        limit.rlim_cur = 1000000;
        setrlimit(RLIMIT_RTTIME, &limit);
    }
}

static int create_thread(struct tact_worker *w, int priority)
{
    const struct tact_thread_options options = {.stack_size = STACK_BYTES,
                                                .priority = priority,
                                                .cpu_pinned = w->options.cpu >= 0,
                                                .cpu = w->options.cpu};
    return tact_thread_start(&w->thread, &options, run, w);
}

static int start_thread(struct tact_worker *w, struct tact_error *err)
{
    const struct tact_opencl_options *o = &w->options;
    if (o->fifo_priority) {
        set_fuse();
    }
    int r = create_thread(w, o->fifo_priority);
    if (r == -EPERM && o->fifo_priority) {
        tact_message(o->messages, TACT_MESSAGE_WARNING,
                     "the OpenCL worker runs without priority (SCHED_FIFO %d refused): on a busy "
                     "machine its results come late",
                     o->fifo_priority);
        r = create_thread(w, 0);
    }
    return r == 0 ? 0
                  : tact_error_set(err, r,
                                   "the OpenCL worker does not start (priority %d, cpu %d): %s",
                                   o->fifo_priority, o->cpu, strerror(-r));
}

static void free_worker(struct tact_worker *w)
{
    tact_triple_free(w->frames);
    tact_triple_free(w->answers);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

static void init_waiting(struct tact_worker *w)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attr);
    pthread_cond_init(&w->done, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&w->mutex, NULL);
}

int tact_worker_create(const struct tact_source_scene *scene,
                       const struct tact_opencl_options *options, tact_worker_compute compute,
                       void *user, struct tact_worker **out, struct tact_error *err)
{
    struct tact_worker *w = calloc(1, sizeof *w);
    if (!w) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    w->shape_count = scene->shape_count;
    w->pair_count = scene->pair_count;
    w->options = *options;
    w->compute = compute;
    w->user = user;
    atomic_init(&w->running, 1);
    init_waiting(w);
    const size_t pairs = scene->pair_count;
    int r = tact_triple_create(&w->frames, active_at(w) + pairs, 0);
    if (r == 0) {
        r = tact_triple_create(
            &w->answers, sizeof(struct results) + pairs * sizeof(struct tact_source_moments), 0);
    }
    r = r < 0 ? tact_error_set(err, r, "no memory") : start_thread(w, err);
    if (r < 0) {
        free_worker(w);
        return r;
    }
    *out = w;
    return 0;
}

int tact_worker_destroy(struct tact_worker *w)
{
    const struct timespec deadline = to_timespec(tact_clock_now() + w->options.close_ns);
    int r = 0;
    atomic_store(&w->stop, 1);
    pthread_mutex_lock(&w->mutex);
    w->kick = 1;
    pthread_cond_signal(&w->wake);
    while (atomic_load(&w->running) && r == 0) {
        r = pthread_cond_timedwait(&w->done, &w->mutex, &deadline);
    }
    pthread_mutex_unlock(&w->mutex);
    if (atomic_load(&w->running)) {
        pthread_detach(w->thread);
        return -ETIMEDOUT;
    }
    pthread_join(w->thread, NULL);
    free_worker(w);
    return 0;
}

void tact_worker_statistics(struct tact_worker *w, struct tact_opencl_statistics *out)
{
    out->frames = atomic_load_explicit(&w->frame_count, memory_order_relaxed);
    out->replaced = tact_triple_overwritten(w->frames);
    out->failed = atomic_load_explicit(&w->failed, memory_order_relaxed);
    out->frame_ns = atomic_load_explicit(&w->frame_ns, memory_order_relaxed);
    out->found_ns = atomic_load_explicit(&w->found_ns, memory_order_relaxed);
    out->cpu_ns = atomic_load_explicit(&w->cpu_ns, memory_order_relaxed);
    out->running = atomic_load(&w->running);
}
