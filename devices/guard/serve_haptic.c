/*
 * Runs a haptic device through its manufacturer's library, whose calls block: this process is the
 * device's own thread. The newest pose and the newest force are exchanged with the controller by
 * slots of a shared page; without a heartbeat the force is zero.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "devices/guard/serve_internal.h"
#include "devices/makers/maker_internal.h"

enum { CYCLE_NS = 250000 }; /* [ns] minimum duration of a cycle */
/* [ns] minimum sleep in a cycle, even if the library's calls return at once */
enum { MIN_PAUSE_NS = 20000 };
enum { RETRY_NS = 200000000 }; /* [ns] interval of attempts to open a device that is gone */
/* number of cycles in which the delay is measured when the device is opened */
enum { DELAY_TEST_CYCLES = 20 };

struct haptic_guard_server {
    struct tact_guard_haptic_page *page;
    struct tact_haptic_device device;
    struct tact_guard_heartbeat_state heartbeat;
    bool is_haptic_device_open;
    bool is_wrench_unsent; /* the wrench has not been sent yet */
    double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH];
    struct tact_guard_rise_limit rise_limit_after_gap;
    int64_t stamp_of_wrench_pose_ns; /* stamp of the pose for which the wrench was computed */
    int64_t
        last_cycle_duration_ns; /* duration of the last cycle, at most a quarter of the timeout */
    int64_t next_opening_retry_ns;
};

static void sleep_until_wake_time(int64_t wake_time_ns)
{
    const struct timespec next_wake_timespec = {wake_time_ns / 1000000000,
                                                wake_time_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next_wake_timespec, NULL);
}

static int open_guarded_haptic_device(struct haptic_guard_server *s, char *why, size_t size)
{
    const int rc = s->device.ops->open(&s->device, &s->page->haptic_device_choice, why, size);
    s->is_haptic_device_open = rc == 0;
    return rc;
}

static void close_guarded_haptic_device(struct haptic_guard_server *s, int64_t now)
{
    atomic_store_explicit(&s->page->is_device_connected, 0, memory_order_release);
    s->device.ops->close(&s->device);
    memset(s->rise_limit_after_gap.sent, 0, sizeof s->rise_limit_after_gap.sent);
    s->is_haptic_device_open = false;
    s->next_opening_retry_ns = now + RETRY_NS;
}

static void publish_device_pose(struct haptic_guard_server *s, int64_t stamp_ns)
{
    const uint32_t count =
        atomic_load_explicit(&s->page->published_pose_count, memory_order_relaxed) + 1;
    const uint32_t slot = count % TACT_GUARD_HEARTBEAT_SLOTS;
    for (int i = 0; i < TACT_HAPTIC_NUMBERS_PER_POSE; i++) {
        atomic_store_explicit(&s->page->pose[slot].value[i], s->device.pose.value[i],
                              memory_order_relaxed);
    }
    atomic_store_explicit(&s->page->pose[slot].buttons, s->device.pose.buttons,
                          memory_order_relaxed);
    atomic_store_explicit(&s->page->pose[slot].stamp_ns, stamp_ns, memory_order_relaxed);
    atomic_store_explicit(&s->page->published_pose_count, count, memory_order_release);
}

static void copy_newest_wrench(struct haptic_guard_server *s, int64_t now)
{
    const struct tact_guard_haptic_page *page = s->page;
    int64_t stamp_ns;
    uint32_t newer_heartbeat_count;
    do {
        const uint32_t slot = s->heartbeat.heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS;
        for (int i = 0; i < TACT_HAPTIC_NUMBERS_PER_WRENCH; i++) {
            s->wrench[i] = atomic_load_explicit(&page->wrench[slot][i], memory_order_acquire);
        }
        s->stamp_of_wrench_pose_ns =
            atomic_load_explicit(&page->stamp_of_wrench_pose[slot], memory_order_acquire);
        stamp_ns = atomic_load_explicit(&page->stamp[slot], memory_order_acquire);
        const uint32_t last_published_heartbeat_number =
            atomic_load_explicit(&page->head.heartbeat_number, memory_order_acquire);
        newer_heartbeat_count = last_published_heartbeat_number - s->heartbeat.heartbeat_number;
        s->heartbeat.heartbeat_number = newer_heartbeat_count < TACT_GUARD_HEARTBEAT_SLOTS - 1
                                            ? s->heartbeat.heartbeat_number
                                            : last_published_heartbeat_number;
    } while (newer_heartbeat_count >= TACT_GUARD_HEARTBEAT_SLOTS - 1); /* overwritten meanwhile */
    s->is_wrench_unsent = true;
    tact_guard_acknowledge_heartbeat(&s->heartbeat, stamp_ns, now);
}

/* Chooses the wrench to be sent now: zero if the next heartbeat could be later than the timeout,
 * and limited in its rise if the last wrench was sent long ago. */
static const double *choose_wrench_to_send(struct haptic_guard_server *s)
{
    static const double none[TACT_HAPTIC_NUMBERS_PER_WRENCH];
    const int64_t now = tact_guard_clock_ns();
    if (tact_guard_handle_new_heartbeat(&s->heartbeat)) {
        copy_newest_wrench(s, now);
    }
    /* the newest heartbeat may be old too, if this process was delayed */
    if (tact_guard_is_heartbeat_overdue(&s->heartbeat, now + s->last_cycle_duration_ns)) {
        tact_guard_trip(&s->heartbeat);
    }
    /* the duration of two usual cycles is no gap, else a device whose calls always take long would
     * lag */
    const int64_t heartbeat_timeout_ns = s->page->head.timeout_ns,
                  two_cycles_ns = s->page->pose_to_force_delay_at_opening_ns;
    tact_guard_limit_rise_and_count_gap(
        &s->rise_limit_after_gap, s->heartbeat.state == TACT_GUARD_PASSING ? s->wrench : none,
        s->heartbeat.heartbeat_number, now,
        heartbeat_timeout_ns > two_cycles_ns ? heartbeat_timeout_ns : two_cycles_ns,
        &s->page->head);
    return s->rise_limit_after_gap.sent;
}

/* Measures the delay from the time at which a pose was requested to that at which the force
 * computed for it was sent. */
static void measure_pose_to_force_delay(struct haptic_guard_server *s)
{
    struct tact_guard_haptic_page *page = s->page;
    const int64_t pose_to_force_delay_ns = tact_guard_clock_ns() - s->stamp_of_wrench_pose_ns;
    if (!s->is_wrench_unsent || s->stamp_of_wrench_pose_ns == 0 ||
        s->heartbeat.state != TACT_GUARD_PASSING) {
        return;
    }
    s->is_wrench_unsent = false;
    atomic_store_explicit(&page->newest_pose_to_force_delay_ns, pose_to_force_delay_ns,
                          memory_order_relaxed);
    if (pose_to_force_delay_ns >
        atomic_load_explicit(&page->longest_pose_to_force_delay_ns, memory_order_relaxed)) {
        atomic_store_explicit(&page->longest_pose_to_force_delay_ns, pose_to_force_delay_ns,
                              memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&page->pose_to_force_delay_sum_ns, (uint64_t)pose_to_force_delay_ns,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&page->pose_to_force_delay_count, 1, memory_order_relaxed);
}

/* One cycle: reads a pose and sends a wrench; closes a device that fails. */
static void run_haptic_cycle(struct haptic_guard_server *s)
{
    const int64_t start = tact_guard_clock_ns();
    int rc = s->device.ops->read(&s->device);
    if (!rc) {
        publish_device_pose(s, start);
        atomic_store_explicit(&s->page->is_device_connected, 1, memory_order_release);
        rc = s->device.ops->write(&s->device, choose_wrench_to_send(s));
    }
    if (rc) {
        close_guarded_haptic_device(s, start);
    } else {
        measure_pose_to_force_delay(s);
    }
}

static int compare_durations(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Estimate of the delay from sensor to force, from cycles without a force: the one in which the
 * pose is read, and the next, at whose end the force for it is sent. The median: a single call that
 * takes long at the opening is no property of the device. */
static int measure_pose_to_force_delay_at_opening(struct haptic_guard_server *s)
{
    static const double none[TACT_HAPTIC_NUMBERS_PER_WRENCH];
    int64_t haptic_cycle_durations[DELAY_TEST_CYCLES] = {0};
    int rc = 0;
    for (int i = 0; !rc && i < DELAY_TEST_CYCLES; i++) {
        const int64_t start = tact_guard_clock_ns();
        rc = s->device.ops->read(&s->device);
        rc = rc ? rc : s->device.ops->write(&s->device, none);
        haptic_cycle_durations[i] = tact_guard_clock_ns() - start;
    }
    qsort(haptic_cycle_durations, DELAY_TEST_CYCLES, sizeof *haptic_cycle_durations,
          compare_durations);
    s->page->pose_to_force_delay_at_opening_ns = haptic_cycle_durations[DELAY_TEST_CYCLES / 2 - 1] +
                                                 haptic_cycle_durations[DELAY_TEST_CYCLES / 2];
    if (rc) {
        snprintf(s->page->guard_failure_text, sizeof s->page->guard_failure_text,
                 "the manufacturer's library opened the device, but could not read its pose or set "
                 "its force");
        close_guarded_haptic_device(s, 0);
    }
    return rc;
}

void tact_guard_serve_haptic(struct tact_guard_haptic_page *page,
                             const struct tact_guard_requests *guard_requests)
{
    struct haptic_guard_server s = {.page = page, .rise_limit_after_gap = {.parts = 2}};
    char why[sizeof page->guard_failure_text];
    tact_guard_start_heartbeat(&s.heartbeat, &page->head);
    int rc = tact_haptic_load_library(&s.device, page->haptic_device_choice.maker,
                                      page->guard_failure_text, sizeof page->guard_failure_text);
    rc = rc ? rc
            : open_guarded_haptic_device(&s, page->guard_failure_text,
                                         sizeof page->guard_failure_text);
    rc = rc ? rc : measure_pose_to_force_delay_at_opening(&s);
    tact_guard_lock_memory(true); /* signals are blocked in the library's threads too */
    /* a library's call may take long at any time: a device that does not respond is detected by the
     * age of its poses */
    atomic_store_explicit(&page->head.is_in_driver_call, 1, memory_order_release);
    page->measures_attitude = s.device.measures_attitude;
    page->renders_torques = s.device.renders_torques;
    memcpy(page->model, s.device.model, sizeof page->model);
    s.rise_limit_after_gap.last_value_time_ns =
        tact_guard_clock_ns(); /* up to now the force on the device was 0 */
    atomic_store_explicit(&page->head.error, rc, memory_order_relaxed);
    atomic_store_explicit(&page->head.is_guard_ready, 1, memory_order_release);
    while (!rc && !tact_guard_must_guard_end(&page->head, guard_requests)) {
        const int64_t now = tact_guard_clock_ns();
        if (tact_guard_is_zeroing_requested(guard_requests) &&
            s.heartbeat.state == TACT_GUARD_PASSING) {
            tact_guard_trip(&s.heartbeat);
        }
        if (!s.is_haptic_device_open && now >= s.next_opening_retry_ns &&
            open_guarded_haptic_device(&s, why, sizeof why)) {
            s.next_opening_retry_ns = now + RETRY_NS;
        }
        if (s.is_haptic_device_open) {
            run_haptic_cycle(&s);
        } else {
            choose_wrench_to_send(&s); /* heartbeats are also handled while there is no device */
            memset(s.rise_limit_after_gap.sent, 0, sizeof s.rise_limit_after_gap.sent);
        }
        const int64_t haptic_cycle_end_ns = tact_guard_clock_ns();
        s.last_cycle_duration_ns = haptic_cycle_end_ns - now < page->head.timeout_ns / 4
                                       ? haptic_cycle_end_ns - now
                                       : page->head.timeout_ns / 4;
        sleep_until_wake_time(haptic_cycle_end_ns - now < CYCLE_NS - MIN_PAUSE_NS
                                  ? now + CYCLE_NS
                                  : haptic_cycle_end_ns + MIN_PAUSE_NS);
    }
    if (s.is_haptic_device_open) {
        close_guarded_haptic_device(&s, 0);
    }
}
