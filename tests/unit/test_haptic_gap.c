/*
 * In simulated time, a haptic device's guard that is not scheduled for a while, or whose library
 * call does not return: afterwards a rising force continues without a step, and a falling force
 * falls at once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "devices/guard/haptic_internal.h"
#include "devices/guard/serve_internal.h"
#include "support/stalled_guard.h"

enum { DEVICE_CALL_NS = 300000 };

static struct tact_guard_haptic_page page;
static struct tact_guard controller_guard = {.head = &page.head};

static void send_haptic_force(double force)
{
    const double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH] = {force};
    tact_guard_send_haptic_wrench(&controller_guard, wrench, now_ns);
}

static int open_simulated_haptic_device(struct tact_haptic_device *self,
                                        const struct tact_haptic_device_choice *chosen_device,
                                        char *why, size_t size)
{
    (void)self;
    (void)chosen_device;
    (void)why;
    (void)size;
    return 0;
}

static int read_simulated_haptic_device(struct tact_haptic_device *self)
{
    static bool is_device_open;
    (void)self;
    now_ns += is_device_open ? 0 : 2000000000; /* the first call that opens the device takes 2 s */
    is_device_open = true;
    advance_simulated_time_with_stall(DEVICE_CALL_NS);
    return 0;
}

/* Simulates the device's write: the device exerts the force once the call returns. */
static int write_simulated_haptic_device(struct tact_haptic_device *self,
                                         const double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH])
{
    (void)self;
    deliver_force_to_simulated_device(wrench[0], DEVICE_CALL_NS);
    return 0;
}

static void close_simulated_haptic_device(struct tact_haptic_device *self)
{
    (void)self;
}

static const struct tact_haptic_ops ops = {.open = open_simulated_haptic_device,
                                           .read = read_simulated_haptic_device,
                                           .write = write_simulated_haptic_device,
                                           .close = close_simulated_haptic_device};

int tact_haptic_load_library(struct tact_haptic_device *self, int maker, char *why, size_t size)
{
    (void)maker;
    (void)why;
    (void)size;
    self->ops = &ops;
    return 0;
}

static void guard_stalls_cause_no_force_step_on_a_haptic_device(void **state)
{
    const struct tact_guard_requests requests = {.end = NULL};
    (void)state;
    now_ns = 1000000000;
    loop.next_tick_due_ns = now_ns;
    loop.guard = &controller_guard;
    loop.send = send_haptic_force;
    /* [N] of a coupling of 400 N/m, 12 mm into a wall: a twelfth is that of 1 mm */
    loop.full = 4.8;
    page.head.timeout_ns = page.haptic_device_choice.timeout_ns = GUARD_TIMEOUT_NS;
    atomic_store(&page.head.period_ns, CONTROLLER_PERIOD_NS);
    tact_guard_serve_haptic(&page, &requests);
    check_force_steps_of_simulated_device();
    /* the guard survives a library call of 2 s */
    assert_true(page.pose_to_force_delay_at_opening_ns == 4 * DEVICE_CALL_NS);
}

/* Force after a gap of 20 ms: it approaches the requested force, at first as after the shortest
 * gap, then in proportion to time, and reaches it after as long as the gap. A smaller force or zero
 * is sent at once; a reversed force rises from 0. */
static void force_ramps_in_after_a_gap_in_the_guard(void **state)
{
    struct tact_guard_rise_limit gap = {.parts = 2};
    const double first[6] = {1.0, 0.0, 0.0, 0.0, 0.1, 0.0},
                 later[6] = {3.0, 0.0, 0.0, 0.0, 0.05, 0.0},
                 other[6] = {-2.0, 0.0, 0.0, 0.0, 0.3, 0.0}, none[6] = {0.0};
    (void)state;
    tact_guard_limit_rise_after_gap(&gap, first, 1000, GUARD_TIMEOUT_NS);
    assert_memory_equal(gap.sent, first, sizeof first);
    int64_t now = 1000 + 5 * GUARD_TIMEOUT_NS;
    tact_guard_limit_rise_after_gap(&gap, later, now, GUARD_TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] - 1.2) < 1e-8 && gap.sent[4] == 0.05);
    tact_guard_limit_rise_after_gap(&gap, later, now += GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] - 1.4) < 1e-8);
    const struct tact_guard_rise_limit half = gap;
    tact_guard_limit_rise_after_gap(&gap, none, now += GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
    assert_memory_equal(gap.sent, none, sizeof none);
    tact_guard_limit_rise_after_gap(&gap, later, now + GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
    assert_memory_equal(gap.sent, later, sizeof later);
    gap = half;
    tact_guard_limit_rise_after_gap(&gap, other, now, GUARD_TIMEOUT_NS);
    assert_true(fabs(gap.sent[0] + 0.2) < 1e-9 && gap.sent[4] == 0.3);
    gap = half;
    now = gap.last_value_time_ns;
    for (int i = 0; i < 8; i++) {
        tact_guard_limit_rise_after_gap(&gap, later, now += GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
    }
    assert_memory_equal(gap.sent, later, sizeof later);
    /* all cycles take long: the force lags, but follows the requested one */
    for (int i = 0; i < 200; i++) {
        tact_guard_limit_rise_after_gap(&gap, first, now += 5 * GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
        tact_guard_limit_rise_after_gap(&gap, later, now += 5 * GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
        tact_guard_limit_rise_after_gap(&gap, later, now += 5 * GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
    }
    assert_true(gap.sent[0] > 1.3 && gap.sent[0] < 3.0);
}

/* Late in the rise from 0 to 2 N along x after a gap of 20 cycles, a reversed force, or a smaller
 * one across, rises from 0 by no more in a step than the first rise did; so does a second
 * reversal. */
static void reversed_force_rises_from_zero_late_in_a_ramp(void **state)
{
    const double turned[][6] = {{-2.0}, {0.0, 1.5}, {0.0, 0.0, -1.9}}, pressed[6] = {2.0};
    const double most = 2.0 / 40 + 1e-6;
    (void)state;
    for (int k = 0; k < 3; k++) {
        struct tact_guard_rise_limit gap = {.parts = 2, .last_value_time_ns = 1000};
        int64_t now = 1000 + 20 * GUARD_TIMEOUT_NS;
        assert_true(tact_guard_limit_rise_after_gap(&gap, pressed, now, GUARD_TIMEOUT_NS));
        for (int i = 0; i < 37; i++) {
            assert_false(tact_guard_limit_rise_after_gap(&gap, pressed, now += GUARD_TIMEOUT_NS,
                                                         GUARD_TIMEOUT_NS));
        }
        assert_true(gap.sent[0] > 1.85 && gap.sent[0] < 2.0);
        for (int i = 1; i <= 3; i++) {
            tact_guard_limit_rise_after_gap(&gap, turned[k], now += GUARD_TIMEOUT_NS,
                                            GUARD_TIMEOUT_NS);
            const double length = sqrt(gap.sent[0] * gap.sent[0] + gap.sent[1] * gap.sent[1] +
                                       gap.sent[2] * gap.sent[2]);
            assert_true(length > 0.0 && length < i * most);
        }
        tact_guard_limit_rise_after_gap(&gap, pressed, now += GUARD_TIMEOUT_NS, GUARD_TIMEOUT_NS);
        assert_true(gap.sent[0] > 0.0 && gap.sent[0] < most);
        for (int i = 0; i < 40; i++) {
            tact_guard_limit_rise_after_gap(&gap, pressed, now += GUARD_TIMEOUT_NS,
                                            GUARD_TIMEOUT_NS);
        }
        assert_memory_equal(gap.sent, pressed, sizeof pressed);
    }
}

enum { GUARD_CYCLES_PER_TICK = 10, TICKS_OF_BURST = 50 };

/* Runs one cycle of the guard, in which it handles `more` further heartbeats. */
static void run_guard_cycle(struct tact_guard_rise_limit *gap, const double *force,
                            uint32_t *heartbeat_number, uint32_t more, int64_t *now)
{
    const int64_t tick_period_ns = GUARD_TIMEOUT_NS / 4;
    tact_guard_detect_heartbeat_burst(gap, *heartbeat_number += more, tick_period_ns,
                                      *now += tick_period_ns / GUARD_CYCLES_PER_TICK);
    tact_guard_limit_rise_after_gap(gap, force, *now, GUARD_TIMEOUT_NS);
}

/* Largest step of a force that rises by 2 N in a burst of 50 heartbeats, which the guard handles in
 * so many cycles, and arrives in the end [N]. Before it heartbeats are on time, and the force is 0,
 * or rises slowly and is sent as it is. */
static double largest_force_step_in_burst(int heartbeat_gap_cycles, int does_force_rise_before_gap)
{
    struct tact_guard_rise_limit gap = {.parts = 2};
    double force[6] = {does_force_rise_before_gap ? 0.2 : 0.0}, last, step = 0.0;
    uint32_t heartbeat_number = 0;
    int64_t now = 1000;
    for (int i = 0; i < 300; i++) {
        force[0] += does_force_rise_before_gap ? 1e-3 : 0.0;
        run_guard_cycle(&gap, force, &heartbeat_number, i % GUARD_CYCLES_PER_TICK == 0, &now);
        assert_true(gap.sent[0] == force[0]);
    }
    last = gap.sent[0];
    for (int i = 0; i < 1200; i++) {
        const int is_heartbeat_burst = i < heartbeat_gap_cycles;
        force[0] += is_heartbeat_burst ? 2.0 / heartbeat_gap_cycles : 0.0;
        run_guard_cycle(&gap, force, &heartbeat_number,
                        is_heartbeat_burst ? (uint32_t)(TICKS_OF_BURST / heartbeat_gap_cycles)
                                           : i % GUARD_CYCLES_PER_TICK == 0,
                        &now);
        step = fmax(step, gap.sent[0] - last);
        last = gap.sent[0];
    }
    assert_true(gap.sent[0] == force[0]);
    return step;
}

/* A controller that was stopped makes up for ticks in a burst, which arms the guard: the force has
 * risen already, and is limited as after a gap of these ticks. So it is where the guard handles the
 * burst in several cycles, and where no outputs were inhibited before it. */
static void burst_that_makes_up_for_ticks_ends_a_gap(void **state)
{
    (void)state;
    for (int heartbeat_gap_cycles = 1; heartbeat_gap_cycles <= 25; heartbeat_gap_cycles += 6) {
        for (int does_force_rise_before_gap = 0; does_force_rise_before_gap < 2;
             does_force_rise_before_gap++) {
            const double step =
                largest_force_step_in_burst(heartbeat_gap_cycles, does_force_rise_before_gap);
            print_message("burst in %d cycles: largest step %.4f N of 2 N\n", heartbeat_gap_cycles,
                          step);
            assert_true(step < 2.0 * 5.0 /
                                   TICKS_OF_BURST); /* the force that five ticks of the burst add */
        }
    }
}

/* A number of heartbeats that no loop can have sent, as in a damaged page, is a burst too. */
static void impossible_heartbeat_counts_act_as_bursts(void **state)
{
    struct tact_guard_rise_limit gap = {.parts = 2, .last_value_time_ns = 1000};
    const double pressed[6] = {2.0};
    (void)state;
    for (uint32_t i = 1; i <= 8; i++) {
        tact_guard_detect_heartbeat_burst(&gap, i * (UINT32_MAX - 1U), 1000000000, 1000 + i);
        assert_true(tact_guard_limit_rise_after_gap(&gap, pressed, 1000 + i, GUARD_TIMEOUT_NS));
        assert_true(gap.sent[0] >= 0.0 && gap.sent[0] < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guard_stalls_cause_no_force_step_on_a_haptic_device),
        cmocka_unit_test(force_ramps_in_after_a_gap_in_the_guard),
        cmocka_unit_test(reversed_force_rises_from_zero_late_in_a_ramp),
        cmocka_unit_test(burst_that_makes_up_for_ticks_ends_a_gap),
        cmocka_unit_test(impossible_heartbeat_counts_act_as_bursts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
