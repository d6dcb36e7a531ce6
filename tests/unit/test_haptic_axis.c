/* Identification of a haptic axis, which is driven to measure its parameters: reversed signs,
 * pauses of the loop that trip the guard, signals, and virtual walls without a stability limit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>
#include "examples/calibrate_haptic.h"
#include "examples/command.h"
#include "rt/clock.h"

enum { GUARD_NS = 20000000, GUARD_ZEROS = 50 };

/* A simulated device with a guard: a damped mass whose force or reading may have the wrong sign. */
struct simulated_device_with_guard {
    double sign, period, x, v, force;
    /* farthest position at which a force other than 0 was written */
    double farthest_position_with_force;
    int64_t last_write_ns;
    int zero_force_count, trips, is_tripped;
};

static const double mass = 0.1, damping = 1.0, travel = 0.03, limit = 8.0;

/* Simulated clock: the time that was slept, without sleeping, and in one test plus the processor
 * time that a fit takes. */
static int64_t simulated_sleep_ns;
static int clock_includes_processor_time;

int64_t __wrap_tact_clock_now(void);
void __wrap_tact_clock_sleep_until(int64_t time_ns);

int64_t __wrap_tact_clock_now(void)
{
    struct timespec t = {.tv_sec = 0};
    if (clock_includes_processor_time) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    }
    return simulated_sleep_ns + (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void __wrap_tact_clock_sleep_until(int64_t time_ns)
{
    const int64_t now = tact_clock_now();
    simulated_sleep_ns += time_ns > now ? time_ns - now : 0;
}

static void read_simulated_device_with_guard(void *self, uint64_t tick, double t, int64_t now_ns,
                                             struct tact_device_input *in)
{
    struct simulated_device_with_guard *m = self;
    (void)tick;
    (void)t;
    const int does_guard_trip = !m->is_tripped && now_ns - m->last_write_ns > GUARD_NS;
    m->trips += does_guard_trip;
    m->zero_force_count = does_guard_trip ? 0 : m->zero_force_count;
    m->is_tripped = (m->is_tripped || does_guard_trip) && m->zero_force_count < GUARD_ZEROS;
    const double force = m->is_tripped ? 0.0 : m->sign * m->force;
    const double velocity_decay_factor = exp(-damping * m->period / mass),
                 final_speed = force / damping;
    m->x += final_speed * m->period +
            (m->v - final_speed) * (1.0 - velocity_decay_factor) * mass / damping;
    m->v = final_speed + (m->v - final_speed) * velocity_decay_factor;
    in->state = m->is_tripped ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
    in->channel[0] = m->x;
}

static void write_simulated_device_with_guard(void *self, const double *out, int64_t now_ns)
{
    struct simulated_device_with_guard *m = self;
    m->force = out[0];
    m->last_write_ns = now_ns;
    m->zero_force_count = out[0] == 0.0 ? m->zero_force_count + 1 : 0;
    if (out[0] != 0.0) {
        m->farthest_position_with_force = fmax(m->farthest_position_with_force, fabs(m->x));
    }
}

static const struct tact_device_ops ops = {.read = read_simulated_device_with_guard,
                                           .write = write_simulated_device_with_guard};
static struct simulated_device_with_guard m;
static const struct tact_device device = {.ops = &ops, .self = &m};

static struct haptic_axis open_haptic_axis(double sign, double x)
{
    m = (struct simulated_device_with_guard){.sign = sign, .period = 1e-3, .x = x};
    m.last_write_ns = tact_clock_now();
    return (struct haptic_axis){.device = &device,
                                .limit = limit,
                                .allowed_axis_travel = travel,
                                .period = 1e-3,
                                .is_axis_paced_by_clock = 1,
                                .start_ns = tact_clock_now()};
}

static void settling_stops_an_axis_that_its_force_drives_away(void **state)
{
    (void)state;
    for (int is_start_beyond_travel = 0; is_start_beyond_travel < 2; is_start_beyond_travel++) {
        const double first = is_start_beyond_travel ? 2.0 * travel : 0.5 * travel;
        const double bound = 1.2 * fmax(first, travel);
        for (int sign = -1; sign <= 1; sign += 2) {
            struct haptic_axis axis = open_haptic_axis(sign, first);
            const int code = return_haptic_axis_to_start(&axis, 2.0 * limit / travel, 0.0);
            assert_int_equal(code, sign > 0 ? EXIT_GOOD : EXIT_BAD);
            assert_true(m.farthest_position_with_force <= bound);
            assert_true(m.force == 0.0);
        }
    }
}

static void axis_with_reversed_force_is_not_identified(void **state)
{
    (void)state;
    struct identified_haptic_axis found;
    struct haptic_axis axis = open_haptic_axis(-1.0, 0.0);
    assert_int_equal(identify_haptic_axis(&axis, &found), EXIT_BAD);
    assert_true(m.farthest_position_with_force <= 1.2 * travel);
    assert_true(m.force == 0.0);
}

/* Before this test the loop waits for a person, and after it the fit takes longer than the guard's
 * timeout: both trip the guard. */
static void identification_rearms_guard_after_pause(void **state)
{
    (void)state;
    struct identified_haptic_axis found;
    double position;
    clock_includes_processor_time = 1;
    struct haptic_axis axis = open_haptic_axis(1.0, 0.0);
    simulated_sleep_ns += 1000000000;
    assert_int_equal(identify_haptic_axis(&axis, &found), EXIT_GOOD);
    assert_int_equal(m.trips, 2);
    assert_int_equal(step_haptic_axis(&axis, &position), EXIT_GOOD);
    assert_true(axis.late_tick_count < 3);
    clock_includes_processor_time = 0;
    assert_true(fabs(found.mass - mass) < 1e-3 * mass);
    assert_true(fabs(found.damping - damping) < 1e-2 * damping);
}

static void wall_tests_without_a_stability_limit_are_marked(void **state)
{
    (void)state;
    struct identified_haptic_axis found = {.mass = mass};
    struct stable_wall_stiffness width;
    struct haptic_axis axis = open_haptic_axis(1.0, 0.0);
    assert_int_equal(measure_stable_wall_stiffness(&axis, &found, &width), EXIT_GOOD);
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        assert_true(isnan(width.stiffness[i]) && isnan(width.unstable_stiffness[i]));
    }
    assert_int_equal(axis.tick, 0);
    /* the first virtual wall is 25 times as stiff as the stability limit */
    found.damping = 100.0 * damping;
    assert_int_equal(measure_stable_wall_stiffness(&axis, &found, &width), EXIT_GOOD);
    assert_true(isnan(width.stiffness[0]));
    assert_true(fabs(width.unstable_stiffness[0] - 0.25 * width.analytic_stiffness_limit[0]) <
                1e-9 * width.analytic_stiffness_limit[0]);
    /* the last virtual wall has a fifth of the stiffness at the stability limit */
    found.damping = 0.01 * damping;
    assert_int_equal(measure_stable_wall_stiffness(&axis, &found, &width), EXIT_GOOD);
    assert_true(isnan(width.unstable_stiffness[0]) &&
                width.stiffness[0] > 19.0 * width.analytic_stiffness_limit[0]);
}

static void signal_ends_the_force_on_a_haptic_axis(
    void **state) /* the last test, as a requested stop cannot be revoked */
{
    (void)state;
    double position;
    struct haptic_axis axis = open_haptic_axis(1.0, 0.0);
    assert_int_equal(step_haptic_axis(&axis, &position), EXIT_GOOD);
    set_haptic_force(&axis, 1.0);
    assert_true(m.force == 1.0);
    tact_stop_request(command_stop_flag());
    assert_int_equal(step_haptic_axis(&axis, &position), EXIT_BAD);
    assert_true(m.force == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settling_stops_an_axis_that_its_force_drives_away),
        cmocka_unit_test(axis_with_reversed_force_is_not_identified),
        cmocka_unit_test(identification_rearms_guard_after_pause),
        cmocka_unit_test(wall_tests_without_a_stability_limit_are_marked),
        cmocka_unit_test(signal_ends_the_force_on_a_haptic_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
