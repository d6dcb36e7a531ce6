/*
 * How stiff a coupling may be, through whole sessions: a device of 0.1 kg and 1 N s/m that no hand
 * holds and 1 N pushes to a wall, and whose force is 0, 1 and 2 ticks late, comes to rest at 0.95
 * of the exact limit of the sampled system and rattles at 1.05 of it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/run_scene.h"

#define TICK_PERIOD 1e-3 /* [s] */
#define RMS_SPEED_FROM_WHICH_DEVICE_RATTLES                                                        \
    2e-3 /* rms speed over half a second from which on a device counts as rattling [m/s] */

static const char text[] =
    "name: limits\n"
    "materials: [{name: rigid}]\n"
    "pairs: [{materials: [rigid, rigid], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.06, 0, 0], material: rigid}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 1e-3\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], coupling: {stiffness: %.17g, damping: 0}}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: rigid}]\n"
    "devices:\n"
    "  - name: stick\n"
    "    type: twin\n"
    "    settings: {axes: x, forces: f, mass: 0.1, damping: 1, push: 1, force_delay: %g}\n"
    "inputs: [{from: stick.x, to: hand.tip}]\n"
    "outputs: [{from: hand.tip, to: stick.f, limit: 1e3, rate: 1e9}]\n";

/* Where the device goes in a second, and how fast. */
struct motion {
    double range; /* [m] */
    double speed; /* root mean square of the speed in the last half of the second [m/s] */
};

static struct motion read_motion_of_second(const char *path, uint64_t first)
{
    struct tact_log *log;
    struct motion out;
    double low = INFINITY, high = -INFINITY, last = 0.0, sum = 0.0;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long at = tact_log_field(log, "stick_input", NULL) + 2;
    assert_int_equal(tact_log_seek(log, first), 0);
    for (int k = 0; k < 1000; k++) {
        assert_true(tact_log_next(log, record) > 0);
        const double x = record->values[at];
        low = fmin(low, x);
        high = fmax(high, x);
        sum += k >= 500 ? (x - last) * (x - last) : 0.0;
        last = x;
    }
    free(record);
    tact_log_close(log);
    out.range = high - low;
    out.speed = sqrt(sum / 500.0) / TICK_PERIOD;
    return out;
}

/* Runs a session in which a device is pushed; reads its motion in the fifth second and in the last
 * one. */
static void run_pushed_device(double stiffness, int delay, uint64_t ticks,
                              struct motion *device_motion_in_fifth_second,
                              struct motion *device_motion_in_last_second)
{
    char scene[4096], path[] = "/tmp/tact_limits_XXXXXX";
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    close(mkstemp(path));
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = ticks;
    tact_number_print(scene, sizeof scene, text, stiffness, delay * TICK_PERIOD);
    run_session_of_scene_text(scene, &options, &report);
    *device_motion_in_fifth_second = read_motion_of_second(path, 4000);
    *device_motion_in_last_second = read_motion_of_second(path, ticks - 1000);
    unlink(path);
}

static void pushed_device_rests_below_its_limit_and_rattles_above(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    static const double limits[] = {2003.0, 668.5, 401.7}; /* by eigenvalues [N/m] */
    const int seconds = is_long_campaign() ? 60 : 30;
    for (int i = 0; i < 6; i += is_quick_sanitizer_run() ? 3 : 1) {
        const int delay = i / 2, is_above = i % 2;
        const double stiffness = (is_above ? 1.05 : 0.95) * limits[delay];
        struct motion device_motion_in_fifth_second, device_motion_in_last_second;
        run_pushed_device(stiffness, delay, (uint64_t)seconds * 1000,
                          &device_motion_in_fifth_second, &device_motion_in_last_second);
        print_message("%d ticks late, %.1f N/m of %.1f: moves by %.2e m in the fifth second, by "
                      "%.2e m and at %.2e mm/s in the last of %d\n",
                      delay, stiffness, limits[delay], device_motion_in_fifth_second.range,
                      device_motion_in_last_second.range, device_motion_in_last_second.speed * 1e3,
                      seconds);
        if (is_above) {
            assert_true(
                device_motion_in_last_second.speed > 10.0 * RMS_SPEED_FROM_WHICH_DEVICE_RATTLES &&
                device_motion_in_last_second.range > 0.9 * device_motion_in_fifth_second.range);
        } else {
            assert_true(device_motion_in_last_second.range <
                            0.01 * device_motion_in_fifth_second.range &&
                        device_motion_in_last_second.speed < RMS_SPEED_FROM_WHICH_DEVICE_RATTLES);
            assert_true(!is_long_campaign() || device_motion_in_last_second.range < 1e-7);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_device_rests_below_its_limit_and_rattles_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
