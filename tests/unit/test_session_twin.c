/* A simulated device (twin) in the loop: against a virtual wall stiffer than the device's
 * friction allows it oscillates, against a softer one it comes to rest (Colgate and Brown
 * 1994), at the exact limit of the sampled system with its delay; and the example scene with a
 * simulated wheel. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "devices/twin/twin.h"
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/device_config.h"
#include "support/run_scene.h"

static const double period = 1e-3, pi = 3.14159265358979323846;
/* mass [kg] and viscous friction [N s/m] of the device */
static double mass = 0.05, friction = 2.0;

/* The sampled device between its motor and its sensor, delay included: zero-order hold before
 * 1 / (m s^2 + b s). */
static double complex plant_frequency_response(double angle_per_tick, int delay)
{
    const double complex z = cexp(I * angle_per_tick);
    const double tau = mass / friction, decay = exp(-period / tau);
    return (period / (z - 1.0) - tau * (1.0 - decay) / (z - decay)) / friction *
           cexp(-I * angle_per_tick * delay);
}

/* The stiffness at the limit of stability: the loop's gain is 1 where its phase is -180 degrees. */
static double exact_stability_stiffness_limit(int delay)
{
    double low = 1e-4, high = 1.0;
    for (int i = 0; i < 200; i++) {
        double angle_per_tick = 0.5 * (low + high);
        double complex g = plant_frequency_response(angle_per_tick, delay);
        /* The phase decreases from -90 degrees at frequency 0 through -180, where its sine changes
         * sign. */
        *(cimag(g) < 0.0 ? &low : &high) = angle_per_tick;
    }
    return 1.0 / cabs(plant_frequency_response(low, delay));
}

static struct tact_device open_twin(const struct tact_device_setting *settings, int count)
{
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, count);
    if (tact_twin_type.open(&c.config, &device, &c.err)) {
        fail_msg("%s: %s", c.err.key, c.err.text);
    }
    return device;
}

/* Largest displacement of a twin in the last 200 of 20,000 ticks with a virtual spring and
 * damper. */
static double residual_twin_motion(const struct tact_device_setting *settings, int count,
                                   double stiffness, double damping)
{
    struct tact_device device = open_twin(settings, count);
    double before = 0.0, most = 0.0;
    for (uint64_t tick = 0; tick < 20000; tick++) {
        struct tact_device_input in = {.state = -1};
        device.ops->read(device.self, tick, (double)tick * period, 0, &in);
        const double x = in.channel[0];
        const double force = -stiffness * x - damping * (tick ? x - before : 0.0) / period;
        device.ops->write(device.self, &force, 0);
        most = tick >= 19800 ? fmax(most, fabs(x)) : 0.0;
        before = x;
    }
    device.ops->close(device.self);
    return most;
}

/* A virtual spring is stable where b > K T / 2, with or without a real spring on the device;
 * without one, up to the exact limit. */
static void virtual_spring_is_stable_up_to_colgate_and_browns_limit(void **state)
{
    (void)state;
    const char *const hands[] = {"0", "50", "2e3", "1e5", "4e5"};
    const double limit = 2.0 * friction / period;
    for (int i = 0; i < 5; i++) {
        const struct tact_device_setting s[] = {
            SETTING("axes", "x"),    SETTING("forces", "f"),   SETTING("mass", "0.05"),
            SETTING("damping", "2"), SETTING("start", "1e-3"), SETTING("stiffness", hands[i])};
        double rest = residual_twin_motion(s, 6, 0.98 * limit, 0.0);
        if (rest > 1e-4) {
            fail_msg("%s N/m of hand: %g m", hands[i], rest);
        }
    }
    for (int delay = 0; delay <= 3; delay++) {
        char late[16];
        tact_number_print(late, sizeof late, "%g", delay * period);
        const struct tact_device_setting s[] = {
            SETTING("axes", "x"),    SETTING("forces", "f"),   SETTING("mass", "0.05"),
            SETTING("damping", "2"), SETTING("start", "1e-3"), SETTING("force_delay", late)};
        const double exact = exact_stability_stiffness_limit(delay),
                     simple = friction / (period * (0.5 + delay));
        print_message("%d ticks late: %.1f N/m, b / (T/2 + delay) is %.1f\n", delay, exact, simple);
        assert_true(fabs(exact / simple - 1.0) < 0.03);
        assert_true(residual_twin_motion(s, 6, 0.99 * exact, 0.0) < 1e-4);
        assert_true(residual_twin_motion(s, 6, 1.01 * exact, 0.0) > 1e-2);
    }
}

/* A free device of 0.1 kg and 1 N s/m, 0 to 2 ticks late: exact limits of a virtual spring, and of
 * a damper without one by eigenvalues of the sampled system, in m / T; a soft spring shows the
 * motion.
 */
static void free_twin_device_has_its_exact_stability_limits(void **state)
{
    (void)state;
    static const double springs[] = {2003.0, 668.5, 401.7}, dampers[] = {201.0, 84.0, 54.0};
    const double before[] = {mass, friction};
    mass = 0.1;
    friction = 1.0;
    for (int delay = 0; delay <= 2; delay++) {
        char ticks[16];
        tact_number_print(ticks, sizeof ticks, "%g", delay * period);
        const struct tact_device_setting s[] = {
            SETTING("axes", "x"),    SETTING("forces", "f"),   SETTING("mass", "0.1"),
            SETTING("damping", "1"), SETTING("start", "1e-3"), SETTING("force_delay", ticks)};
        const double exact = exact_stability_stiffness_limit(delay);
        print_message("%d ticks late: %.1f N/m of %.1f\n", delay, exact, springs[delay]);
        assert_true(fabs(exact / springs[delay] - 1.0) < 1e-3);
        assert_true(residual_twin_motion(s, 6, 0.95 * exact, 0.0) < 1e-4);
        assert_true(residual_twin_motion(s, 6, 1.05 * exact, 0.0) > 1e-2);
        assert_true(residual_twin_motion(s, 6, 100.0, 0.98 * dampers[delay]) < 1e-4);
        assert_true(residual_twin_motion(s, 6, 100.0, 1.02 * dampers[delay]) > 1e-2);
    }
    mass = before[0];
    friction = before[1];
}

/* Range of a device's position in the last of 10 s, pushed by 1 N against a spring [m]. */
static double position_range_of_pressed_device(const struct tact_device_setting *settings,
                                               int count, double stiffness)
{
    struct tact_device device = open_twin(settings, count);
    double low = INFINITY, high = -INFINITY;
    for (uint64_t tick = 0; tick < 10000; tick++) {
        struct tact_device_input in = {.state = -1};
        struct tact_twin_state at;
        device.ops->read(device.self, tick, (double)tick * period, 0, &in);
        const double force = -stiffness * in.channel[0];
        device.ops->write(device.self, &force, 0);
        assert_int_equal(tact_twin_read_state(&device, 0, &at), 0);
        low = tick >= 9000 ? fmin(low, at.position) : low;
        high = tick >= 9000 ? fmax(high, at.position) : high;
    }
    device.ops->close(device.self);
    return high - low;
}

/* A sensor with steps q and dry friction f is silent where K < min(2 b / T, 2 f / q) (Abbott and
 * Okamura 2005); without friction the device buzzes by some steps. */
static void quantised_sensor_causes_no_motion_within_its_bound(void **state)
{
    (void)state;
    static const struct {
        const char *step, *friction;
        double stiffness;
        int does_pressed_device_come_to_rest;
    } cases[] = {{"30e-6", "0.005", 330.0, 1},
                 {"60e-6", "0.02", 660.0, 1},
                 {"10e-6", "0.02", 1950.0, 1},
                 {"30e-6", "0", 330.0, 0},
                 {"60e-6", "0", 660.0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tact_device_setting s[] = {SETTING("axes", "x"),
                                                SETTING("forces", "f"),
                                                SETTING("mass", "0.1"),
                                                SETTING("damping", "1"),
                                                SETTING("push", "1"),
                                                SETTING("step", cases[i].step),
                                                SETTING("friction", cases[i].friction)};
        const double range = position_range_of_pressed_device(s, 7, cases[i].stiffness);
        print_message("steps of %s m, %s N of friction, %g N/m: moves by %.2g um\n", cases[i].step,
                      cases[i].friction, cases[i].stiffness, range * 1e6);
        assert_true(cases[i].does_pressed_device_come_to_rest ? range < 1e-9 : range > 1e-6);
    }
}

/* A virtual damper is stable where b > B: a sampled damper adds energy at frequencies between a
 * quarter and a half of the sampling rate. With a spring in resonance at theta / T it is unstable
 * where b < B (-cos theta) (sin u / u)^2, u = theta / 2, by the response of the zero-order hold to
 * the difference of two samples. */
static void virtual_damper_is_stable_up_to_its_limit(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        const double angle_per_tick = (0.05 + 0.1 * i) * pi, u = 0.5 * angle_per_tick;
        const double share = -cos(angle_per_tick) * pow(sin(u) / u, 2.0);
        char stiffness_text[32];
        tact_number_print(stiffness_text, sizeof stiffness_text, "%.17g",
                          mass * pow(angle_per_tick / period, 2.0));
        const struct tact_device_setting s[] = {
            SETTING("axes", "x"),     SETTING("forces", "f"),
            SETTING("mass", "0.05"),  SETTING("damping", "2"),
            SETTING("start", "1e-3"), SETTING("stiffness", stiffness_text)};
        assert_true(residual_twin_motion(s, 6, 0.0, 0.98 * friction) < 1e-4);
        if (share > 0.3) {
            assert_true(residual_twin_motion(s, 6, 0.0, 0.95 * friction / share) < 1e-4);
            assert_true(residual_twin_motion(s, 6, 0.0, 1.05 * friction / share) > 1e-2);
        }
    }
}

/* A fingertip coupled to the twin and pressed against a wall with 1 N. */
static const char wall[] =
    "name: wall\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.06, 0, 0], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.02\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], stiffness: %.17g, damping: 1}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: skin}]\n"
    "devices:\n"
    "  - name: stick\n"
    "    type: twin\n"
    "    settings:\n"
    "      axes: x\n"
    "      forces: f\n"
    "      mass: 0.05\n"
    "      damping: 2\n"
    "      push: 1\n"
    "      delay: %g\n"
    "      force_delay: %g\n"
    "inputs: [{from: stick.x, to: hand.tip}]\n"
    "outputs: [{from: hand.tip, to: stick.f, limit: 1e3, rate: 1e9}]\n";

static void run_session(const char *text, const char *name, uint64_t ticks, const char *log,
                        struct tact_scene **scene, struct tact_session **session)
{
    struct tact_error err = {0};
    int rc = tact_scene_parse(text, strlen(text), name, NULL, scene, &err);
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = ticks;
    options.record = log;
    options.replace = 1;
    rc = rc ? rc : tact_session_create(*scene, &options, session, &err);
    if (rc) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
}

/* Range of the device's position in the last of eight seconds [m]. */
static double position_range_at_wall(double stiffness, int sensor_delay_ticks,
                                     int motor_delay_ticks)
{
    enum { TICKS = 8000 };
    char text[4096], log[] = "/tmp/tact_twin_XXXXXX";
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_session_report report;
    struct tact_log *read;
    double low = INFINITY, high = -INFINITY;
    close(mkstemp(log));
    tact_number_print(text, sizeof text, wall, stiffness, sensor_delay_ticks * period,
                      motor_delay_ticks * period);
    run_session(text, "wall.yaml", TICKS, log, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
    assert_int_equal(tact_log_open(log, &read, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(read)));
    const long x = tact_log_field(read, "stick_input", NULL) + 2;
    assert_int_equal(tact_log_seek(read, TICKS - 1000), 0);
    while (tact_log_next(read, record) > 0) {
        low = fmin(low, record->values[x]);
        high = fmax(high, record->values[x]);
    }
    free(record);
    tact_log_close(read);
    unlink(log);
    return high - low;
}

static void virtual_wall_is_stable_up_to_its_limit(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    static const int sensor_and_motor_delays[][2] = {{0, 0}, {1, 0}, {1, 1}};
    for (int i = 0; i < 3; i++) {
        const int *d = sensor_and_motor_delays[i];
        const double limit = exact_stability_stiffness_limit(d[0] + d[1]);
        const double position_range_below_limit = position_range_at_wall(0.9 * limit, d[0], d[1]);
        const double position_range_above_limit = position_range_at_wall(1.1 * limit, d[0], d[1]);
        print_message("%d + %d ticks late, limit %.0f N/m: %.1e m below it, %.1e m above\n", d[0],
                      d[1], limit, position_range_below_limit, position_range_above_limit);
        assert_true(position_range_below_limit < 1e-6);
        assert_true(position_range_above_limit > 1e-4);
    }
}

/* Reads columns of all records of a log; *rows: number of records. */
static double *read_log_columns(const char *path, const long *at, int columns, uint64_t *rows)
{
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    double *values = calloc(tact_log_state(log)->ticks * (uint64_t)columns, sizeof *values);
    for (*rows = 0; tact_log_next(log, record) > 0; ++*rows) {
        for (int i = 0; i < columns; i++) {
            values[*rows * (uint64_t)columns + (uint64_t)i] = record->values[at[i]];
        }
    }
    free(record);
    tact_log_close(log);
    return values;
}

static long find_log_field_offset(const char *path, const char *name)
{
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    long at = tact_log_field(log, name, NULL);
    tact_log_close(log);
    assert_true(at >= 0);
    return at;
}

/* wheel_twin.yaml: the hand turns the wheel, whose finger pushes a box, and feels the contact
 * force; the log replays bit for bit, and a second run makes the same log. */
static void twin_wheel_pushes_a_box_and_feels_it(void **state)
{
    (void)state;
    enum { X, SENT, BOX, FINGER, DRAG, WEIGHT, COLUMNS };
    char log_paths[2][32] = {"/tmp/tact_twin_XXXXXX", "/tmp/tact_twin_XXXXXX"};
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_replay_report report;
    struct run_result result;
    double *values[2];
    uint64_t rows = 0;
    for (int i = 0; i < 2; i++) {
        close(mkstemp(log_paths[i]));
        run_scene(&(struct run_options){.scene = "wheel_twin.yaml",
                                        .seconds = 5.0,
                                        .clock = TACT_LOOP_FREE,
                                        .source = "host",
                                        .record = log_paths[i]},
                  &result);
        const long at[COLUMNS] = {find_log_field_offset(log_paths[i], "wheel_input") + 2,
                                  find_log_field_offset(log_paths[i], "outputs_sent"),
                                  find_log_field_offset(log_paths[i], "box_twist"),
                                  find_log_field_offset(log_paths[i], "box_hand_finger_wrench"),
                                  find_log_field_offset(log_paths[i], "box_table_wrench"),
                                  find_log_field_offset(log_paths[i], "box_table_wrench") + 2};
        values[i] = read_log_columns(log_paths[i], at, COLUMNS, &rows);
        assert_int_equal(rows, 5000);
    }
    assert_memory_equal(values[0], values[1], rows * COLUMNS * sizeof(double));
    assert_int_equal(tact_replay_run(log_paths[0], no_messages, &report, NULL), 0);
    assert_int_equal(report.differing, 0);
    double furthest_wheel_position = 0.0;
    for (uint64_t tick = 0; tick < rows; tick++) {
        const double *row = values[0] + tick * COLUMNS;
        const double code = (row[X] + 1.0) * 0.5 * 65535.0;
        assert_true(fabs(code - nearbyint(code)) < 1e-6);
        furthest_wheel_position = fmax(furthest_wheel_position, row[X]);
        if (tick >= 1800 && tick < 2300) {
            /* while sliding, the wheel's force is a tenth of that on the box */
            assert_true(row[BOX] > 0.005);
            assert_true(fabs(row[SENT] + 0.1 * fabs(row[FINGER])) < 0.02);
            /* The finger cannot move vertically, so it may also press on the box from above. */
            const double mass_times_acceleration = 0.8 * (row[BOX] - row[BOX - COLUMNS]) / 1e-3;
            assert_true(row[WEIGHT] > 0.5 * 0.8 * 9.81);
            assert_true(fabs(row[DRAG] + 0.4 * row[WEIGHT]) < 1e-6 * row[WEIGHT]);
            assert_true(fabs(row[FINGER] + row[DRAG] - mass_times_acceleration) <
                        1e-6 * row[WEIGHT]);
        }
    }
    print_message("the box went %.1f mm, the wheel %.3f of its way of 0.96\n",
                  1e3 * (result.position[0] - 0.08), furthest_wheel_position);
    assert_true(result.position[0] > 0.095 && furthest_wheel_position > 0.85 &&
                furthest_wheel_position < 0.95);
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        unlink(log_paths[i]);
    }
}

/* A wrong setting of a twin is refused with its place in the scene. */
static void wrong_twin_settings_are_refused_with_their_place(void **state)
{
    (void)state;
    static const char text[] = "name: bad\n"
                               "devices:\n"
                               "  - name: stick\n"
                               "    type: twin\n"
                               "    settings:\n"
                               "      axes: x\n"
                               "      mass: 1\n"
                               "      delay: 0.0005\n";
    struct tact_error err = {0};
    struct tact_scene *scene;
    struct tact_session *session = NULL;
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    assert_int_equal(tact_scene_parse(text, strlen(text), "bad.yaml", NULL, &scene, &err), 0);
    assert_int_equal(tact_session_create(scene, &options, &session, &err), -22);
    assert_string_equal(err.file, "bad.yaml");
    assert_int_equal(err.line, 8);
    assert_string_equal(err.key, "delay");
    tact_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtual_spring_is_stable_up_to_colgate_and_browns_limit),
        cmocka_unit_test(free_twin_device_has_its_exact_stability_limits),
        cmocka_unit_test(quantised_sensor_causes_no_motion_within_its_bound),
        cmocka_unit_test(virtual_damper_is_stable_up_to_its_limit),
        cmocka_unit_test(virtual_wall_is_stable_up_to_its_limit),
        cmocka_unit_test(twin_wheel_pushes_a_box_and_feels_it),
        cmocka_unit_test(wrong_twin_settings_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
