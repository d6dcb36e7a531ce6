/* Haptic devices through stand-ins of their makers' libraries, in the guard process: values,
 * forces, calls that block, and what is refused. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/device_config.h"
#include "unit/haptic/folder.h"

enum { TICK_PERIOD_NS = 1000000 };

static const struct tact_device_type *find_device_type(const char *name)
{
    size_t count;
    const struct tact_device_type *const *types = tact_devices_builtin(&count);
    return tact_device_type_find(types, count, name);
}

static void reset_simulated_haptic(void)
{
    memset(simulated_haptic, 0, sizeof *simulated_haptic);
    atomic_store(&simulated_haptic->present, 1);
}

static void open_simulated_haptic_device(const char *type, struct device_config *c,
                                         struct tact_device *device)
{
    device_config_init(c, NULL, 0);
    memset(device, 0, sizeof *device);
    if (find_device_type(type)->open(&c->config, device, &c->err)) {
        fail_msg("%s", c->err.text);
    }
    assert_int_equal(tact_device_check(device, &c->err), 0);
}

/* Runs ticks of 1 ms. Returns the longest duration of a read() and write() [ns]. */
static int64_t run_haptic_device_ticks(const struct tact_device *device, int ticks,
                                       const double *out, struct tact_device_input *in,
                                       int *stale_tick_count)
{
    int64_t next = tact_clock_now(), longest = 0;
    for (int i = 0; i < ticks; i++) {
        next += TICK_PERIOD_NS;
        tact_clock_sleep_until(next);
        const int64_t now = tact_clock_now();
        device->ops->read(device->self, (uint64_t)i, 1e-3 * i, now, in);
        device->ops->write(device->self, out, now);
        const int64_t tick_duration_ns = tact_clock_now() - now;
        longest = tick_duration_ns > longest ? tick_duration_ns : longest;
        *stale_tick_count += in->state == TACT_DEVICE_STALE;
    }
    return longest;
}

/* Runs ticks with the forces `out` until the device is in order after the last one. On a busy
 * machine the guard trips where a tick was late; zeros arm it again. */
static void run_haptic_device_until_ok(const struct tact_device *device, const double *out,
                                       struct tact_device_input *in)
{
    const double none[6] = {0.0};
    int stale_tick_count = 0;
    run_haptic_device_ticks(device, 100, out, in, &stale_tick_count);
    for (int attempts = 0; in->state == TACT_DEVICE_STALE && attempts < 20; attempts++) {
        run_haptic_device_ticks(device, 100, none, in, &stale_tick_count);
        run_haptic_device_ticks(device, 100, out, in, &stale_tick_count);
    }
    assert_int_equal(in->state, TACT_DEVICE_OK);
}

/* Position, attitude and buttons come in SI units, force and torque go out, of both libraries; and
 * nothing is left on when the device is closed. */
static void haptic_poses_are_read_and_forces_are_sent(void **state)
{
    static const char *const types[] = {"force_dimension", "openhaptics"};
    const double out[6] = {1.5, -2.0, 0.5, 0.01, 0.02, -0.03};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct device_config c;
        struct tact_device device;
        struct tact_device_input in = {.state = TACT_DEVICE_OK};
        unsigned int count;
        reset_simulated_haptic();
        atomic_store(&simulated_haptic->x, 0.03);
        atomic_store(&simulated_haptic->z, -0.02);
        atomic_store(&simulated_haptic->turn, 2.5);
        atomic_store(&simulated_haptic->buttons, 2U);
        open_simulated_haptic_device(types[k], &c, &device);
        assert_int_equal(device.info.input_count, 13);
        assert_int_equal(device.info.output_count, 6);
        assert_string_equal(device.info.input[3].name, "qw");
        run_haptic_device_until_ok(&device, out, &in);
        const double wanted[9] = {0.03, 0.0, -0.02, cos(1.25), 0.0, 0.0, sin(1.25), 0.0, 1.0};
        for (int i = 0; i < 9; i++) {
            assert_true(fabs(in.channel[i] - wanted[i]) < 1e-12);
        }
        last_sent_force_x(&count);
        for (int i = 0; i < 6; i++) {
            assert_true(
                fabs(atomic_load(&simulated_haptic->sent[(count - 1) % STAND_IN_SENT].wrench[i]) -
                     out[i]) < 1e-12);
        }
        print_message("%s: pose %.2f ms old, sensor to force %.2f ms\n", types[k],
                      in.channel[11] * 1e3, in.channel[12] * 1e3);
        assert_true(in.channel[11] >= 0.0 && in.channel[12] > 0.0);
        device.ops->close(device.self);
        assert_true(last_sent_force_x(&count) == 0.0);
        assert_int_equal(atomic_load(&simulated_haptic->enabled), 0);
        assert_int_equal(atomic_load(&simulated_haptic->open), 0);
        assert_non_null(strstr(c.messages, "from sensor to force"));
    }
}

enum { BLOCKING_TICKS = 700, MAX_SLOW_TICKS = BLOCKING_TICKS / 20 };
/* fraction of the force by which it falls from tick to tick: the guard sends a decrease at once,
 * and the value that is sent identifies the tick that computed it */
#define FORCE_DECREASE_PER_TICK 1e-4

/* What BLOCKING_TICKS ticks measured of a device whose library calls block. */
struct blocking_call_measurements {
    int64_t longest_tick_ns; /* [ns] */
    int slow_tick_count;     /* number of ticks that took 0.2 ms or more */
    int stale_tick_count;    /* number of ticks */
    double mean_reported_delay_ms,
        longest_reported_delay_ms; /* reported delay from sensor to force [ms] */
    int time_stamped_force_count; /* number of forces for which the stand-in has time stamps of pose
                                and sending */
    double mean_stamped_delay_ms, longest_stamped_delay_ms; /* [ms] */
};

/* Delays by the stand-in's own stamps, from asking for a pose to the end of the call that sent the
 * force of the tick which read it. pose: number of the pose that each tick read. */
static void measure_stamped_delays(const unsigned int *pose, struct blocking_call_measurements *b)
{
    const unsigned int count = atomic_load(&simulated_haptic->count);
    long last = -1;
    for (unsigned int i = 0; i < count; i++) {
        const double force = atomic_load(&simulated_haptic->sent[i].wrench[0]);
        const double step = (1.0 - force) / FORCE_DECREASE_PER_TICK;
        const long tick = lround(step);
        if (tick >= 0 && tick < BLOCKING_TICKS && tick != last &&
            fabs(step - (double)tick) < 1e-6 && pose[tick] > 0) {
            const double delay =
                1e-6 * (double)(atomic_load(&simulated_haptic->sent[i].ns) -
                                atomic_load(&simulated_haptic->pose_request_ns[pose[tick]]));
            b->mean_stamped_delay_ms += delay;
            b->longest_stamped_delay_ms = fmax(b->longest_stamped_delay_ms, delay);
            b->time_stamped_force_count++;
            last = tick;
        }
    }
    b->mean_stamped_delay_ms /= fmax(1.0, b->time_stamped_force_count);
}

static void parse_reported_delays(const char *messages, struct blocking_call_measurements *b)
{
    const char *text = strstr(messages, "from sensor to force ");
    assert_non_null(text);
    char *end;
    b->mean_reported_delay_ms = tact_number_read(text + strlen("from sensor to force "), &end);
    assert_memory_equal(end, " ms, ", strlen(" ms, "));
    b->longest_reported_delay_ms = tact_number_read(end + strlen(" ms, "), &end);
}

static struct blocking_call_measurements measure_device_with_blocking_calls(void)
{
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_OK};
    struct blocking_call_measurements b = {.stale_tick_count = 0};
    unsigned int pose[BLOCKING_TICKS];
    open_simulated_haptic_device("force_dimension", &c, &device);
    int64_t next = tact_clock_now();
    for (int i = 0; i < BLOCKING_TICKS; i++) {
        const double out[6] = {1.0 - FORCE_DECREASE_PER_TICK * i};
        next += TICK_PERIOD_NS;
        tact_clock_sleep_until(next);
        const int64_t now = tact_clock_now();
        device.ops->read(device.self, (uint64_t)i, 1e-3 * i, now, &in);
        device.ops->write(device.self, out, now);
        const int64_t tick_duration_ns = tact_clock_now() - now;
        pose[i] = (unsigned int)lround(in.channel[0] * 1e6);
        b.longest_tick_ns =
            tick_duration_ns > b.longest_tick_ns ? tick_duration_ns : b.longest_tick_ns;
        b.slow_tick_count += tick_duration_ns >= TICK_PERIOD_NS / 5;
        b.stale_tick_count += in.state == TACT_DEVICE_STALE;
    }
    device.ops->close(device.self);
    parse_reported_delays(c.messages, &b);
    measure_stamped_delays(pose, &b);
    print_message(
        "a tick took %.3f ms at most, %d over 0.2 ms; %d of %d ticks stale; sensor to "
        "force %.2f ms, %.2f ms at most; by the stand-in's stamps %.2f and %.2f ms, in %d "
        "forces\n",
        (double)b.longest_tick_ns * 1e-6, b.slow_tick_count, b.stale_tick_count, BLOCKING_TICKS,
        b.mean_reported_delay_ms, b.longest_reported_delay_ms, b.mean_stamped_delay_ms,
        b.longest_stamped_delay_ms, b.time_stamped_force_count);
    return b;
}

/* Library calls take 0.3 ms, each 100th takes 50 ms: no tick waits for a call; the pose is then
 * old, which the device's state reports, and the delay that is reported is that of the stand-in's
 * own stamps. */
static void blocking_library_calls_delay_no_tick(void **state)
{
    struct blocking_call_measurements b;
    (void)state;
    int attempts = 0, is_spoiled;
    do { /* repeats the run where the machine stopped a process, or a late tick tripped the guard
            for good */
        reset_simulated_haptic();
        atomic_store(&simulated_haptic->call_us, 300);
        atomic_store(&simulated_haptic->long_call_us, 50000);
        atomic_store(&simulated_haptic->call_every, 100);
        atomic_store(&simulated_haptic->numbers_poses, 1);
        b = measure_device_with_blocking_calls();
        is_spoiled = b.stale_tick_count > 600 || b.time_stamped_force_count < 150 ||
                     b.slow_tick_count > MAX_SLOW_TICKS || b.longest_tick_ns >= 40 * TICK_PERIOD_NS;
    } while (is_spoiled && ++attempts < 10);
    assert_true(!is_spoiled && b.stale_tick_count > 30);
    assert_true(b.mean_reported_delay_ms > 0.6 && b.longest_reported_delay_ms > 50.0);
    assert_true(fabs(b.mean_reported_delay_ms - b.mean_stamped_delay_ms) < 0.1);
    assert_true(fabs(b.longest_reported_delay_ms - b.longest_stamped_delay_ms) < 1.0);
}

/* While a library call takes 0.8 s the device is lost, which is reported. */
static void hanging_haptic_library_is_reported(void **state)
{
    struct device_config c;
    struct tact_device device;
    struct tact_device_input in = {.state = TACT_DEVICE_OK};
    const double out[6] = {1.0};
    int stale_tick_count = 0;
    (void)state;
    reset_simulated_haptic();
    open_simulated_haptic_device("force_dimension", &c, &device);
    run_haptic_device_until_ok(&device, out, &in);
    atomic_store(&simulated_haptic->call_us, 800000);
    run_haptic_device_ticks(&device, 700, out, &in, &stale_tick_count);
    assert_int_equal(in.state, TACT_DEVICE_LOST);
    atomic_store(&simulated_haptic->call_us, 0);
    run_haptic_device_ticks(&device, 300, out, &in, &stale_tick_count);
    device.ops->close(device.self);
    assert_non_null(strstr(c.messages, "no pose for 0.5 s"));
}

/* Library calls of 2 ms, two in each cycle: a coupling that states less delay than was measured is
 * limited to the stiffness that the device can render stably, or refused with the measured delay.
 */
static void slow_haptic_device_limits_the_coupling_stiffness(void **state)
{
    static const char scene[] =
        "name: slow\n"
        "materials: [{name: steel}]\n"
        "hands:\n"
        "  - name: hand\n"
        "    weightless: true\n"
        "    links:\n"
        "      - name: finger\n"
        "        joint: {type: slide, axis: [1, 0, 0], coupling: {stiffness: %d, damping: 1, "
        "device: {mass: 0.1, damping: 1}%s}}\n"
        "        mass: 0.05\n"
        "        inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
        "devices: [{name: device, type: force_dimension}]\n"
        "inputs: [{from: device.x, to: hand.finger}]\n"
        "outputs: [{from: hand.finger, to: device.fx, limit: 8, rate: 1e4}]\n";
    static const struct {
        int stiffness;
        const char *more;
        int rc;
    } cases[] = {{500, "", -EINVAL}, {20, "", 0}, {20, ", hard: true", -EINVAL}};
    (void)state;
    reset_simulated_haptic();
    atomic_store(&simulated_haptic->call_us, 2000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        struct tact_session_options options = tact_session_options_default();
        struct tact_scene *from = NULL;
        struct tact_session *session = NULL;
        struct tact_error err = {0};
        snprintf(text, sizeof text, scene, cases[i].stiffness, cases[i].more);
        options.types = tact_devices_builtin(&options.type_count);
        options.ticks = 1;
        assert_int_equal(tact_scene_parse(text, strlen(text), "slow.yaml", NULL, &from, &err), 0);
        const int rc = tact_session_create(from, &options, &session, &err);
        print_message("%s\n", err.text);
        assert_int_equal(rc, cases[i].rc);
        assert_true(rc == 0 || strstr(err.text, "from sensor to force"));
        tact_session_destroy(session);
        tact_scene_free(from);
    }
}

static void bad_haptic_devices_are_refused(void **state)
{
    static const struct {
        const char *type;
        struct tact_device_setting setting;
        int rc;
        const char *expected_message;
    } bad[] = {
        {"force_dimension", SETTING("serial", "2000"), -ENODEV, "no device found"},
        {"force_dimension", SETTING("serial", "-1"), -EINVAL, "whole number"},
        {"force_dimension", SETTING("serial", "1.5"), -EINVAL, "whole number"},
        {"force_dimension", SETTING("library", "/tmp/libdhd.so"), -EINVAL, "library"},
        {"openhaptics", SETTING("device", "Left"), -ENODEV, "no communication"},
        {"openhaptics", SETTING("serial", "1"), -EINVAL, "serial"},
        {"openhaptics", SETTING("guard_timeout", "0"), -EINVAL, "0"},
    };
    (void)state;
    reset_simulated_haptic();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct device_config c;
        struct tact_device device = {.ops = NULL};
        device_config_init(&c, &bad[i].setting, 1);
        const int rc = find_device_type(bad[i].type)->open(&c.config, &device, &c.err);
        print_message("%s\n", c.err.text);
        assert_int_equal(rc, bad[i].rc);
        assert_true(strstr(c.err.text, bad[i].expected_message) ||
                    strstr(c.err.key, bad[i].expected_message));
    }
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/nonexistent", 1), 0);
    struct device_config c;
    struct tact_device device = {.ops = NULL};
    device_config_init(&c, NULL, 0);
    assert_int_equal(find_device_type("openhaptics")->open(&c.config, &device, &c.err), -ENOENT);
    assert_non_null(strstr(c.err.text, "libHD.so"));
    assert_int_equal(setenv("LD_LIBRARY_PATH", haptic_folder, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(haptic_poses_are_read_and_forces_are_sent),
        cmocka_unit_test(blocking_library_calls_delay_no_tick),
        cmocka_unit_test(hanging_haptic_library_is_reported),
        cmocka_unit_test(slow_haptic_device_limits_the_coupling_stiffness),
        cmocka_unit_test(bad_haptic_devices_are_refused),
    };
    return cmocka_run_group_tests(tests, make_haptic_folder, remove_haptic_folder);
}
