/*
 * In simulated time, a haptic device's guard that is not scheduled for a while, or whose library
 * call does not return: afterwards a rising force continues without a step, and a falling force
 * falls at once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "devices/guard/haptic_internal.h"
#include "devices/guard/process_internal.h"
#include "devices/guard/serve_internal.h"
#include "support/random.h"

enum {
    CONTROLLER_PERIOD_NS = 1000000,
    DEVICE_CALL_NS = 300000,
    TIMEOUT_NS = 4000000,
    ZERO_TICKS_TO_ARM =
        50,           /* number of ticks with zero force after which the guard is armed again */
    RAMP_TICKS = 200, /* number of ticks in which the force rises to its full value */
    TICKS_PER_PRESS = 1000, /* number of ticks after which the force falls to 0 and rises again */
    SECONDS = 60
};

static const double full = 4.8;  /* full force: coupling of 400 N/m, 12 mm into a wall [N] */
static const double bound = 0.4; /* bound of a force step: that of 1 mm [N] */

static int64_t now_ns,
    stopped_until_ns; /* simulated time, and time until which the controller is stopped */
static struct tact_haptic_page page;
static struct tact_guard controller = {.head = &page.head};
static struct {
    int64_t due_ns; /* time of the controller's next tick */
    uint32_t armed; /* number of the last guard trip after which the controller armed the guard */
    int zeros, pressed;
} loop;
static struct {
    double force, step; /* force last sent to the device, and largest rise between two [N] */
    int sent, falls,
        full; /* counts of sent wrenches, of falls to 0, and of wrenches with the full force */
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
    double wrench[TACT_HAPTIC_WRENCH] = {0.0};
    const uint32_t trips = atomic_load(&page.head.trips);
    if (!atomic_load(&page.head.ready)) {
        return;
    }
    if (loop.armed == 0) {
        loop.armed = trips;
        tact_guard_arm(&controller);
    } else if (atomic_load(&page.head.state) == TACT_GUARD_INHIBITED && trips != loop.armed) {
        loop.pressed = 0;
        if (loop.zeros >= ZERO_TICKS_TO_ARM) {
            loop.armed = trips;
            tact_guard_arm(&controller);
        }
    } else {
        loop.pressed = (loop.pressed + 1) % TICKS_PER_PRESS;
        wrench[0] = full * fmin(1.0, (double)loop.pressed / RAMP_TICKS);
    }
    loop.zeros = wrench[0] == 0.0 ? loop.zeros + 1 : 0;
    tact_guard_send_haptic(&controller, wrench, now_ns);
}

/* Advances the simulated time. Ticks that are due while the controller is stopped run in a burst
 * afterwards. */
static void advance_time(int64_t ns)
{
    const int64_t until = now_ns + ns;
    for (;;) {
        const int64_t next = loop.due_ns > stopped_until_ns ? loop.due_ns : stopped_until_ns;
        if (next > until) {
            break;
        }
        now_ns = next > now_ns ? next : now_ns;
        run_controller_tick();
        loop.due_ns += CONTROLLER_PERIOD_NS;
    }
    now_ns = until;
}

/* Advances the time by a call or sleep, of which one in 100 takes up to 80 ms longer; in every
 * third of these the controller is stopped, too. */
static void advance_time_with_stall(int64_t ns)
{
    int64_t more = 0;
    if (atomic_load(&page.head.ready) && uniform(0.0, 1.0) < 0.01) {
        more = (int64_t)uniform(0.0, 80e6);
        device.stall_count++;
        if (device.stall_count % 3 == 0) {
            stopped_until_ns = now_ns + (int64_t)(uniform(0.0, 1.0) * (double)more);
        }
    }
    advance_time(ns + more);
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
    (void)clock;
    (void)flags;
    (void)left;
    const int64_t until_ns = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;
    advance_time_with_stall(until_ns > now_ns ? until_ns - now_ns : 0);
    return 0;
}

static int open_device(struct tact_haptic_device *self, const struct tact_haptic_choice *choice,
                       char *why, size_t size)
{
    (void)self;
    (void)choice;
    (void)why;
    (void)size;
    return 0;
}

static int read_device(struct tact_haptic_device *self)
{
    static bool is_opened;
    (void)self;
    now_ns += is_opened ? 0 : 2000000000; /* the very first call of the device */
    is_opened = true;
    advance_time_with_stall(DEVICE_CALL_NS);
    return 0;
}

/* Simulates the device's write: the device exerts the force once the call returns. */
static int write_device(struct tact_haptic_device *self, const double wrench[TACT_HAPTIC_WRENCH])
{
    (void)self;
    const double force = wrench[0];
    advance_time_with_stall(DEVICE_CALL_NS);
    const double rise = force - device.force;
    device.step = fmax(device.step, rise);
    device.falls += force == 0.0 && rise < 0.0;
    device.full += force == full;
    device.force = force;
    device.sent++;
    if (now_ns > SECONDS * (int64_t)1000000000) {
        atomic_store(&page.head.must_guard_quit, 1);
    }
    return 0;
}

static void close_device(struct tact_haptic_device *self)
{
    (void)self;
}

static const struct tact_haptic_ops ops = {
    .open = open_device, .read = read_device, .write = write_device, .close = close_device};

int tact_haptic_load(struct tact_haptic_device *self, int maker, char *why, size_t size)
{
    (void)maker;
    (void)why;
    (void)size;
    self->ops = &ops;
    return 0;
}

static void a_starved_guard_raises_no_force_at_once(void **state)
{
    const struct tact_guard_requests requests = {.end = NULL};
    (void)state;
    now_ns = 1000000000;
    loop.due_ns = now_ns;
    page.head.timeout_ns = page.choice.timeout_ns = TIMEOUT_NS;
    tact_guard_serve_haptic(&page, &requests);
    print_message("%d forces, %d stalls, %d falls to 0, %d forces of %.1f N; rises by %.3f N at "
                  "most\n",
                  device.sent, device.stall_count, device.falls, device.full, full, device.step);
    assert_true(device.stall_count > 200 && device.falls > 2);
    assert_true(device.full > device.sent / 5);
    assert_true(device.step < bound);
    assert_true(atomic_load(&page.gaps) > 10 && atomic_load(&page.longest_gap_ns) > 2 * TIMEOUT_NS);
    assert_true(atomic_load(&page.longest_gap_ns) < 500000000);
    assert_true(page.opening_delay_ns ==
                4 * DEVICE_CALL_NS); /* the guard survives a library call of 2 s */
}

/* Force after a gap of 20 ms: it approaches the requested force, at first as after the shortest
 * gap, then in proportion to time, and reaches it after as long as the gap. A smaller force or zero
 * is sent at once; a reversed force rises from 0. */
static void the_way_after_a_gap(void **state)
{
    struct tact_guard_gap gap = {.chosen_ns = 0};
    const double first[6] = {1.0, 0.0, 0.0, 0.0, 0.1, 0.0},
                 later[6] = {3.0, 0.0, 0.0, 0.0, 0.05, 0.0},
                 other[6] = {-2.0, 0.0, 0.0, 0.0, 0.3, 0.0}, none[6] = {0.0};
    (void)state;
    tact_guard_bridge_gap(&gap, first, 1000, TIMEOUT_NS);
    assert_memory_equal(gap.sent, first, sizeof first);
    int64_t now = 1000 + 5 * TIMEOUT_NS;
    tact_guard_bridge_gap(&gap, later, now, TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] - 1.4) < 1e-8 && gap.sent[4] == 0.05);
    tact_guard_bridge_gap(&gap, later, now += TIMEOUT_NS, TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] - 1.8) < 1e-8);
    const struct tact_guard_gap half = gap;
    tact_guard_bridge_gap(&gap, none, now += TIMEOUT_NS, TIMEOUT_NS);
    assert_memory_equal(gap.sent, none, sizeof none);
    tact_guard_bridge_gap(&gap, later, now + TIMEOUT_NS, TIMEOUT_NS);
    assert_memory_equal(gap.sent, later, sizeof later);
    gap = half;
    tact_guard_bridge_gap(&gap, other, now, TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] + 0.4) < 1e-9 && gap.sent[4] == 0.3);
    gap = half;
    now = gap.chosen_ns;
    for (int i = 0; i < 3; i++) {
        tact_guard_bridge_gap(&gap, later, now += TIMEOUT_NS, TIMEOUT_NS);
    }
    assert_memory_equal(gap.sent, later, sizeof later);
    for (int i = 0; i < 200;
         i++) { /* all cycles take long: the force lags, but reaches the requested value */
        tact_guard_bridge_gap(&gap, first, now += 5 * TIMEOUT_NS, TIMEOUT_NS);
        tact_guard_bridge_gap(&gap, later, now += 5 * TIMEOUT_NS, TIMEOUT_NS);
        tact_guard_bridge_gap(&gap, later, now += 5 * TIMEOUT_NS, TIMEOUT_NS);
    }
    assert_true(gap.sent[0] > 1.7 && gap.sent[0] < 3.0);
}

/* Late in the rise from 0 to 2 N along x after a gap of 20 cycles, a reversed force, or a smaller
 * one across, rises from 0 by no more in a cycle than the first rise did; so does a second
 * reversal. */
static void a_force_that_turns_late_on_the_way(void **state)
{
    const double turned[][6] = {{-2.0}, {0.0, 1.5}, {0.0, 0.0, -1.9}}, pressed[6] = {2.0};
    const double most = 2.0 / 20 + 1e-6;
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct tact_guard_gap gap = {.chosen_ns = 1000};
        int64_t now = 1000 + 20 * TIMEOUT_NS;
        assert_true(tact_guard_bridge_gap(&gap, pressed, now, TIMEOUT_NS));
        for (int i = 0; i < 18; i++) {
            assert_false(tact_guard_bridge_gap(&gap, pressed, now += TIMEOUT_NS, TIMEOUT_NS));
        }
        assert_true(gap.sent[0] > 1.85 && gap.sent[0] < 2.0);
        for (int i = 1; i <= 3; i++) {
            tact_guard_bridge_gap(&gap, turned[k], now += TIMEOUT_NS, TIMEOUT_NS);
            const double length = sqrt(gap.sent[0] * gap.sent[0] + gap.sent[1] * gap.sent[1] +
                                       gap.sent[2] * gap.sent[2]);
            assert_true(length > 0.0 && length < i * most);
        }
        tact_guard_bridge_gap(&gap, pressed, now += TIMEOUT_NS, TIMEOUT_NS);
        assert_true(gap.sent[0] > 0.0 && gap.sent[0] < most);
        for (int i = 0; i < 20; i++) {
            tact_guard_bridge_gap(&gap, pressed, now += TIMEOUT_NS, TIMEOUT_NS);
        }
        assert_memory_equal(gap.sent, pressed, sizeof pressed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_starved_guard_raises_no_force_at_once),
                                       cmocka_unit_test(the_way_after_a_gap),
                                       cmocka_unit_test(a_force_that_turns_late_on_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
