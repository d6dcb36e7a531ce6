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

/* stack of the worker's thread, large as a driver may call its compiler in it */
#define WORKER_STACK_BYTES ((size_t)4 << 20)
#define POLL_INTERVAL_LIMIT_NS 1000000 /* longest polling interval, while no frame arrives */
/* longest duration of a frame after which the worker stays at SCHED_FIFO: a quarter of the CPU time
 * that the fuse of realtime.h allows the loop */
#define FIFO_FRAME_DURATION_LIMIT_NS 50000000
#define FRAME_PERIOD_LIMIT_NS 100000000 /* a longer gap between frames is a pause of the loop */

/* A submitted frame: this header, 3 doubles per pair, a pose per shape, a byte per pair. */
struct frame {
    uint64_t tick;
    int64_t frame_submission_time_ns;
};

/* Published results: this header, then one result per pair. */
struct published_results {
    uint64_t tick;
    struct tact_source_moments pairs[];
};

/* When the worker expects the next frame. */
struct frame_schedule {
    uint64_t tick;
    int64_t frame_submission_time_ns;
    int64_t period_ns;
    int64_t next_frame_due_ns;
};

struct tact_moments_worker {
    uint32_t shape_count, pair_count;
    struct tact_opencl_options options;
    tact_worker_compute compute_frame;
    void *user;
    struct tact_triple *frames, *results;
    pthread_t thread;
    _Atomic int stop, running;
    _Atomic uint64_t finished_tick_plus_1; /* tick of the last finished frame, plus 1 */
    _Atomic int waiting_thread_count;
    _Atomic uint64_t computed_frame_count, failed;
    _Atomic int64_t frame_ns, found_ns, cpu_ns;
    pthread_mutex_t mutex; /* protects the members below; never locked by submit() or latest() */
    pthread_cond_t wake, done;
    int is_worker_poll_requested; /* 1: poll at once */
};

static struct timespec timespec_of_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Offsets of the arrays of a frame [bytes]. */
static size_t get_offset_of_directions_in_frame(void)
{
    return sizeof(struct frame);
}

static size_t get_offset_of_poses_in_frame(const struct tact_moments_worker *w)
{
    return get_offset_of_directions_in_frame() + 3 * (size_t)w->pair_count * sizeof(double);
}

static size_t get_offset_of_active_pairs_in_frame(const struct tact_moments_worker *w)
{
    return get_offset_of_poses_in_frame(w) + w->shape_count * sizeof(struct tact_pose);
}

void tact_worker_submit(struct tact_moments_worker *w, uint64_t tick, const struct tact_pose *poses,
                        const uint8_t *active, const double *directions)
{
    char *frame_slot = tact_triple_write_begin(w->frames);
    struct frame *frame = (struct frame *)frame_slot;
    frame->tick = tick;
    memcpy(frame_slot + get_offset_of_directions_in_frame(), directions,
           3 * (size_t)w->pair_count * sizeof *directions);
    memcpy(frame_slot + get_offset_of_poses_in_frame(w), poses, w->shape_count * sizeof *poses);
    memcpy(frame_slot + get_offset_of_active_pairs_in_frame(w), active, w->pair_count);
    frame->frame_submission_time_ns = tact_clock_now();
    tact_triple_publish(w->frames);
}

int tact_worker_latest(struct tact_moments_worker *w, struct tact_source_result *out)
{
    const struct published_results *results = tact_triple_read(w->results, NULL);
    if (!results) {
        return -EAGAIN;
    }
    out->tick = results->tick;
    out->pairs = results->pairs;
    return 0;
}

int tact_worker_wait(struct tact_moments_worker *w, uint64_t tick, int64_t timeout_ns)
{
    struct timespec result_wait_deadline = timespec_of_ns(tact_clock_now() + timeout_ns);
    int rc = 0;
    /* The waiter increments `waiting_thread_count`, then reads `finished_tick_plus_1`; the worker
     * stores `finished_tick_plus_1`, then reads `waiting_thread_count`. Both are sequentially
     * consistent: no wake-up is lost. */
    atomic_fetch_add(&w->waiting_thread_count, 1);
    pthread_mutex_lock(&w->mutex);
    w->is_worker_poll_requested = 1;
    pthread_cond_signal(&w->wake);
    while (atomic_load(&w->finished_tick_plus_1) < tick + 1 && rc == 0) {
        if (!atomic_load(&w->running) ||
            pthread_cond_timedwait(&w->done, &w->mutex, &result_wait_deadline) == ETIMEDOUT) {
            rc = -ETIMEDOUT;
        }
    }
    if (atomic_load(&w->finished_tick_plus_1) >= tick + 1) {
        rc = 0;
    }
    pthread_mutex_unlock(&w->mutex);
    atomic_fetch_sub(&w->waiting_thread_count, 1);
    return rc;
}

static void wake_result_waiters(struct tact_moments_worker *w)
{
    pthread_mutex_lock(&w->mutex);
    pthread_cond_broadcast(&w->done);
    pthread_mutex_unlock(&w->mutex);
}

/* Sleeps until the next poll, or until wait() or tact_worker_destroy() wakes the worker. */
static void wait_for_submitted_frame(struct tact_moments_worker *w, const struct frame_schedule *s)
{
    const int64_t poll_interval_ns = w->options.poll_ns, now = tact_clock_now();
    int64_t poll_until_ns = s->next_frame_due_ns - 2 * poll_interval_ns;
    if (poll_until_ns <= now) {
        int64_t late = now - s->next_frame_due_ns, step = poll_interval_ns;
        if (late > s->period_ns) {
            step = late / 8 > poll_interval_ns ? late / 8 : poll_interval_ns;
        }
        poll_until_ns = now + (step < POLL_INTERVAL_LIMIT_NS ? step : POLL_INTERVAL_LIMIT_NS);
    }
    struct timespec t = timespec_of_ns(poll_until_ns);
    pthread_mutex_lock(&w->mutex);
    while (!w->is_worker_poll_requested &&
           pthread_cond_timedwait(&w->wake, &w->mutex, &t) != ETIMEDOUT) {
    }
    w->is_worker_poll_requested = 0;
    pthread_mutex_unlock(&w->mutex);
}

static void update_frame_schedule(struct frame_schedule *s, const struct frame *frame)
{
    if (s->frame_submission_time_ns && frame->tick > s->tick) {
        int64_t gap = (frame->frame_submission_time_ns - s->frame_submission_time_ns) /
                      (int64_t)(frame->tick - s->tick);
        if (gap > 0 && gap < FRAME_PERIOD_LIMIT_NS) {
            s->period_ns += (gap - s->period_ns) / 8;
        }
    }
    s->tick = frame->tick;
    s->frame_submission_time_ns = frame->frame_submission_time_ns;
    s->next_frame_due_ns = frame->frame_submission_time_ns + s->period_ns;
}

/* Returns 0 if an injected fault ends the worker. */
static int apply_injected_faults(const struct tact_moments_worker *w)
{
    const struct tact_opencl_fault *fault = &w->options.fault;
    const uint64_t computed_frames =
        atomic_load_explicit(&w->computed_frame_count, memory_order_relaxed);
    if (fault->exit_after && computed_frames >= fault->exit_after) {
        return 0;
    }
    while (fault->hang_after && computed_frames >= fault->hang_after) {
        tact_clock_sleep_until(tact_clock_now() + 10000000);
    }
    if (fault->delay_every && (computed_frames + 1) % fault->delay_every == 0) {
        tact_clock_sleep_until(tact_clock_now() + fault->delay_ns);
    }
    return 1;
}

static void compute_submitted_frame(struct tact_moments_worker *w, const struct frame *frame,
                                    int64_t found_ns)
{
    struct published_results *results = tact_triple_write_begin(w->results);
    struct timespec cpu;
    const char *frame_slot = (const char *)frame;
    results->tick = frame->tick;
    if (w->compute_frame(w->user,
                         (const struct tact_pose *)(frame_slot + get_offset_of_poses_in_frame(w)),
                         (const uint8_t *)(frame_slot + get_offset_of_active_pairs_in_frame(w)),
                         (const double *)(frame_slot + get_offset_of_directions_in_frame()),
                         results->pairs) < 0) {
        atomic_fetch_add_explicit(&w->failed, 1, memory_order_relaxed);
    }
    tact_triple_publish(w->results);
    atomic_store_explicit(&w->found_ns, found_ns - frame->frame_submission_time_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&w->frame_ns, tact_clock_now() - found_ns, memory_order_relaxed);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    atomic_store_explicit(&w->cpu_ns, (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&w->computed_frame_count, 1, memory_order_relaxed);
    atomic_store(&w->finished_tick_plus_1, frame->tick + 1);
    if (atomic_load(&w->waiting_thread_count)) {
        wake_result_waiters(w);
    }
}

/* If each frame takes longer than the loop's period, the worker never blocks; at SCHED_FIFO it
 * would occupy a CPU and reach RLIMIT_RTTIME. So it sleeps for 1/8 of the last frame's time, and
 * drops its priority after a frame longer than FIFO_FRAME_DURATION_LIMIT_NS. */
static void yield_cpu_for_other_threads(struct tact_moments_worker *w)
{
    const int64_t frame_duration_ns = atomic_load_explicit(&w->frame_ns, memory_order_relaxed);
    const struct sched_param normal = {.sched_priority = 0};
    if (frame_duration_ns > FIFO_FRAME_DURATION_LIMIT_NS) {
        pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
        w->options.fifo_priority = 0;
        tact_message(w->options.messages, TACT_MESSAGE_WARNING,
                     "the moments of one tick took %.0f ms on the OpenCL device: the worker thread "
                     "continues without real-time priority (SCHED_OTHER)",
                     1e-6 * (double)frame_duration_ns);
    }
    const int64_t yielded_time_ns =
        frame_duration_ns / 8 > w->options.poll_ns ? frame_duration_ns / 8 : w->options.poll_ns;
    tact_clock_sleep_until(tact_clock_now() + yielded_time_ns);
}

static void *run_worker_thread(void *worker_argument)
{
    struct tact_moments_worker *w = worker_argument;
    struct frame_schedule frame_schedule = {.period_ns = w->options.period_ns};
    int has_slept_since_frame = 1;
    /* the default timer slack of 50 us would delay each wake-up */
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
    while (!atomic_load(&w->stop)) {
        int is_new_frame_submitted = 0;
        const struct frame *frame = tact_triple_read(w->frames, &is_new_frame_submitted);
        if (!is_new_frame_submitted) {
            wait_for_submitted_frame(w, &frame_schedule);
            has_slept_since_frame = 1;
            continue;
        }
        if (!has_slept_since_frame && w->options.fifo_priority) {
            yield_cpu_for_other_threads(w);
        }
        has_slept_since_frame = 0;
        int64_t found_ns = tact_clock_now();
        update_frame_schedule(&frame_schedule, frame);
        if (!apply_injected_faults(w)) {
            break;
        }
        compute_submitted_frame(w, frame, found_ns);
    }
    atomic_store(&w->running, 0);
    wake_result_waiters(w);
    return NULL;
}

/* Bounds the CPU time of a SCHED_FIFO thread that never blocks: it would stop the machine. */
static void limit_realtime_cpu_time(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_RTTIME, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
        limit.rlim_cur = 1000000;
        setrlimit(RLIMIT_RTTIME, &limit);
    }
}

static int create_worker_thread(struct tact_moments_worker *w, int priority)
{
    const struct tact_thread_options options = {.stack_size = WORKER_STACK_BYTES,
                                                .priority = priority,
                                                .is_pinned_to_cpu = w->options.cpu >= 0,
                                                .cpu = w->options.cpu};
    return tact_thread_start(&w->thread, &options, run_worker_thread, w);
}

static int start_worker_thread(struct tact_moments_worker *w, struct tact_error *err)
{
    const struct tact_opencl_options *o = &w->options;
    if (o->fifo_priority) {
        limit_realtime_cpu_time();
    }
    int rc = create_worker_thread(w, o->fifo_priority);
    if (rc == -EPERM && o->fifo_priority) {
        tact_message(o->messages, TACT_MESSAGE_WARNING,
                     "the OpenCL worker runs without real-time priority (SCHED_FIFO %d refused): "
                     "on a busy machine its moments come late",
                     o->fifo_priority);
        rc = create_worker_thread(w, 0);
    }
    return rc == 0
               ? 0
               : tact_error_set(
                     err, rc,
                     "the thread of the OpenCL worker cannot be started (priority %d, cpu %d): %s",
                     o->fifo_priority, o->cpu, strerror(-rc));
}

static void free_moments_worker(struct tact_moments_worker *w)
{
    tact_triple_free(w->frames);
    tact_triple_free(w->results);
    pthread_cond_destroy(&w->wake);
    pthread_cond_destroy(&w->done);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

static void initialise_condition_variables(struct tact_moments_worker *w)
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
                       const struct tact_opencl_options *options, tact_worker_compute compute_frame,
                       void *user, struct tact_moments_worker **out, struct tact_error *err)
{
    struct tact_moments_worker *w = calloc(1, sizeof *w);
    if (!w) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    w->shape_count = scene->shape_count;
    w->pair_count = scene->pair_count;
    w->options = *options;
    w->compute_frame = compute_frame;
    w->user = user;
    atomic_init(&w->running, 1);
    initialise_condition_variables(w);
    const size_t pairs = scene->pair_count;
    int rc = tact_triple_create(&w->frames, get_offset_of_active_pairs_in_frame(w) + pairs, 0);
    if (rc == 0) {
        rc = tact_triple_create(
            &w->results,
            sizeof(struct published_results) + pairs * sizeof(struct tact_source_moments), 0);
    }
    rc = rc < 0 ? tact_error_set(err, rc, "no memory") : start_worker_thread(w, err);
    if (rc < 0) {
        free_moments_worker(w);
        return rc;
    }
    *out = w;
    return 0;
}

int tact_worker_destroy(struct tact_moments_worker *w)
{
    const struct timespec result_wait_deadline =
        timespec_of_ns(tact_clock_now() + w->options.close_ns);
    int rc = 0;
    atomic_store(&w->stop, 1);
    pthread_mutex_lock(&w->mutex);
    w->is_worker_poll_requested = 1;
    pthread_cond_signal(&w->wake);
    while (atomic_load(&w->running) && rc == 0) {
        rc = pthread_cond_timedwait(&w->done, &w->mutex, &result_wait_deadline);
    }
    pthread_mutex_unlock(&w->mutex);
    if (atomic_load(&w->running)) {
        pthread_detach(w->thread);
        return -ETIMEDOUT;
    }
    pthread_join(w->thread, NULL);
    free_moments_worker(w);
    return 0;
}

void tact_worker_statistics(struct tact_moments_worker *w, struct tact_opencl_statistics *out)
{
    out->frames = atomic_load_explicit(&w->computed_frame_count, memory_order_relaxed);
    out->replaced = tact_triple_overwritten(w->frames);
    out->failed = atomic_load_explicit(&w->failed, memory_order_relaxed);
    out->frame_ns = atomic_load_explicit(&w->frame_ns, memory_order_relaxed);
    out->found_ns = atomic_load_explicit(&w->found_ns, memory_order_relaxed);
    out->cpu_ns = atomic_load_explicit(&w->cpu_ns, memory_order_relaxed);
    out->running = atomic_load(&w->running);
}
