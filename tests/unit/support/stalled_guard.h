/* A controller that a guard serves, in a time of its own: it presses and releases, and calls and
 * sleeps of the guard take long at times, while the controller runs on or is stopped too. The
 * program is linked with clock_gettime and clock_nanosleep wrapped. Include after cmocka.h. */
#ifndef TACT_TESTS_STALLED_GUARD_H
#define TACT_TESTS_STALLED_GUARD_H

#include <math.h>
#include <stdbool.h>
#include <time.h>
#include "devices/guard/process_internal.h"
#include "random.h"

enum {
    CONTROLLER_PERIOD_NS = 1000000,
    GUARD_TIMEOUT_NS = 4000000,
    ZERO_TICKS_TO_ARM =
        50, /* number of ticks with zero force after which the guard is armed again */
    FORCE_RAMP_TICKS = 200, /* number of ticks of the force's ramp */
    TICKS_PER_PRESS =
        1000, /* number of ticks after which the force falls to 0 and its ramp begins again */
    SECONDS = 60
};

static int64_t now_ns,
    stopped_until_ns; /* present time; time before which the controller is stopped */

/* The simulated controller; the test sets its guard, the function that sends a force to it, and the
 * full force. */
static struct {
    struct tact_guard *guard;
    void (*send)(double force);
    double full;
    int64_t next_tick_due_ns;                 /* time at which the controller's next tick is due */
    int64_t sent_ns;                          /* time at which the controller sent its last force */
    uint32_t guard_trip_count_at_last_arming; /* number of guard trips when the controller last
                                                 armed the guard */
    int zero_force_tick_count, pressed_ticks;
} loop;

/* The forces that reached the simulated device. */
static struct {
    double force, step; /* last force, and largest rise from one force to the next */
    int sent, falls,
        full; /* number of forces, of falls to 0, and of forces equal to the full force */
    int old;  /* number of forces that the controller had sent a guard timeout or more before */
    int stall_count;
} device;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){now_ns / 1000000000, now_ns % 1000000000};
    return 0;
}

/* Runs a tick of the controller: the force follows its ramp, and after a guard trip begins again
 * from 0, as arming_internal.h describes. */
static void run_controller_tick(void)
{
    struct tact_guard_page_header *head = loop.guard->head;
    double force = 0.0;
    const uint32_t trip_count = atomic_load(&head->trip_count);
    if (!atomic_load(&head->is_guard_ready)) {
        return;
    }
    if (loop.guard_trip_count_at_last_arming == 0) {
        loop.guard_trip_count_at_last_arming = trip_count;
        tact_guard_arm(loop.guard);
    } else if (atomic_load(&head->state) == TACT_GUARD_INHIBITED &&
               trip_count != loop.guard_trip_count_at_last_arming) {
        loop.pressed_ticks = 0;
        if (loop.zero_force_tick_count >= ZERO_TICKS_TO_ARM) {
            loop.guard_trip_count_at_last_arming = trip_count;
            tact_guard_arm(loop.guard);
        }
    } else {
        loop.pressed_ticks = (loop.pressed_ticks + 1) % TICKS_PER_PRESS;
        force = loop.full * fmin(1.0, (double)loop.pressed_ticks / FORCE_RAMP_TICKS);
    }
    loop.zero_force_tick_count = force == 0.0 ? loop.zero_force_tick_count + 1 : 0;
    loop.sent_ns = now_ns;
    loop.send(force);
}

/* Time of the controller's next tick [ns]. */
static int64_t next_tick_time_ns(void)
{
    return loop.next_tick_due_ns > stopped_until_ns ? loop.next_tick_due_ns : stopped_until_ns;
}

/* Advances the simulated time. Ticks that are due while the controller is stopped run in a burst
 * afterwards. */
static void advance_simulated_time(int64_t ns)
{
    const int64_t until = now_ns + ns;
    for (int64_t next = next_tick_time_ns(); next <= until; next = next_tick_time_ns()) {
        now_ns = next > now_ns ? next : now_ns;
        run_controller_tick();
        loop.next_tick_due_ns += CONTROLLER_PERIOD_NS;
    }
    now_ns = until;
}

/* Advances the time by a call or sleep, of which one in 100 takes up to 80 ms longer; in every
 * third of these the controller is stopped, too. */
static void advance_simulated_time_with_stall(int64_t ns)
{
    int64_t more = 0;
    if (atomic_load(&loop.guard->head->is_guard_ready) && uniform(0.0, 1.0) < 0.01) {
        more = (int64_t)uniform(0.0, 80e6);
        device.stall_count++;
        if (device.stall_count % 3 == 0) {
            stopped_until_ns = now_ns + (int64_t)(uniform(0.0, 1.0) * (double)more);
        }
    }
    advance_simulated_time(ns + more);
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
    (void)clock;
    (void)flags;
    (void)left;
    const int64_t sleep_end_ns = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
    advance_simulated_time_with_stall(sleep_end_ns > now_ns ? sleep_end_ns - now_ns : 0);
    return 0;
}

/* Simulates a library call or write of call_duration_ns, at the end of which the device has the
 * force. */
static void deliver_force_to_simulated_device(double force, int64_t call_duration_ns)
{
    device.old += force != 0.0 && now_ns - loop.sent_ns >= GUARD_TIMEOUT_NS;
    advance_simulated_time_with_stall(call_duration_ns);
    const double force_change_at_device = force - device.force;
    device.step = fmax(device.step, force_change_at_device);
    device.falls += force == 0.0 && force_change_at_device < 0.0;
    device.full += force == loop.full;
    device.force = force;
    device.sent++;
    if (now_ns > SECONDS * (int64_t)1000000000) {
        atomic_store(&loop.guard->head->must_guard_end, 1);
    }
}

/* Checks that in 60 s there were gaps and full forces, and that no force rose by a twelfth of the
 * full force or more; without the guard's limit some rise by 0.4 of it. */
static void check_force_steps_of_simulated_device(void)
{
    const struct tact_guard_page_header *head = loop.guard->head;
    print_message("%d forces, %d stalls, %d falls to 0, %d of the full force %.1f; rises by %.3f "
                  "at most, %d gaps of %.1f ms at most\n",
                  device.sent, device.stall_count, device.falls, device.full, loop.full,
                  device.step, (int)atomic_load(&head->gaps),
                  (double)atomic_load(&head->longest_heartbeat_gap_ns) * 1e-6);
    assert_true(device.stall_count > 200 && device.falls > 2);
    assert_true(device.full > device.sent / 5);
    assert_true(device.step < loop.full / 12.0);
    assert_int_equal(device.old, 0);
    assert_true(atomic_load(&head->gaps) > 10);
    assert_true(atomic_load(&head->longest_heartbeat_gap_ns) > 2 * GUARD_TIMEOUT_NS);
    assert_true(atomic_load(&head->longest_heartbeat_gap_ns) < 500000000);
}

#endif
