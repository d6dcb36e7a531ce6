/*
 * A joint that the force of a person moves, and a device that takes its speed: no rattle at a rigid
 * wall with three hands, the least mass by the exact limit of the sampled loop, standstill while
 * the device is lost, and the twin of such a device against the exact motion of its servo.
 */
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
#include "rt/session/session.h"
#include "support/device_config.h"
#include "support/replays.h"
#include "support/run_scene.h"

static const double period = 1e-3, joint_damping = 2.0; /* [s], [N s/m] */

/* A press: joint and hand, and what else the twin has. */
struct press {
    double mass, stiffness, damping; /* of the joint [kg]; of the hand [N/m], [N s/m] */
    double wall, step;               /* where the wall is, and how far the hand goes [m] */
    const char *device;              /* settings of the twin */
    double seconds;
};

enum { X, FORCE, JOINT, SENT, COLUMNS };

static char folder[] = "/tmp/tact_admittance_XXXXXX";

static const char text[] =
    "name: press\n"
    "materials: [{name: steel}]\n"
    "pairs: [{materials: [steel, steel], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    position: [%g, 0, 0]\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.06, 0, 0], material: steel}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: %g\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], damping: %g%s}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: steel}]\n"
    "devices:\n"
    "  - name: arm\n"
    "    type: twin\n"
    "    settings: {axes: x, forces: v, sensed: f, hand: trajectory, hand_interpolation: linear,\n"
    "      hand_time: time, hand_file: %s/press.csv, hand_reach: %g, hand_stiffness: %g,\n"
    "      hand_damping: %g, %s}\n"
    "inputs: [{from: arm.f, to: hand.tip, what: force}%s]\n"
    "outputs: [{from: hand.tip, to: arm.v, what: rate, limit: 1, rate: 1e4}]\n";

static void write_text(const struct press *p, const char *joint, const char *input, char out[4096])
{
    tact_number_print(out, 4096, text, p->wall, p->mass, joint_damping, joint, folder, p->step,
                      p->stiffness, p->damping, p->device, input);
}

/* Runs a press; values: COLUMNS a tick, freed by the caller. Returns the number of ticks. */
static uint64_t simulate_press(const struct press *p, double **values)
{
    char scene[4096], path[64];
    struct tact_session_report report;
    struct tact_log *log;
    uint64_t ticks = 0;
    snprintf(path, sizeof path, "%s/press.mcap", folder);
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = (uint64_t)(p->seconds / period + 0.5);
    write_text(p, "", "", scene);
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const long input = tact_log_field(log, "arm_input", NULL);
    const long of[COLUMNS] = {input + 2, input + 3, tact_log_field(log, "hand_position", NULL),
                              tact_log_field(log, "outputs_sent", NULL)};
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    *values = calloc(options.ticks * COLUMNS, sizeof **values);
    for (; tact_log_next(log, record) > 0; ticks++) {
        for (int i = 0; i < COLUMNS; i++) {
            (*values)[ticks * COLUMNS + (uint64_t)i] = record->values[of[i]];
        }
    }
    free(record);
    tact_log_close(log);
    return ticks;
}

/* Root mean square of the speed that is sent in the ticks [from, until) [m/s]. */
static double sent_rms(const double *values, uint64_t from, uint64_t until)
{
    double sum = 0.0;
    for (uint64_t k = from; k < until; k++) {
        sum += values[k * COLUMNS + SENT] * values[k * COLUMNS + SENT];
    }
    return sqrt(sum / (double)(until - from));
}

/* Three hands go 20 mm past a wall that is 10 mm away: the device stops there, and the force is
 * that of the hand. It is where the joint is but for what the device did while the outputs ramped
 * in, which is nothing, as the hand is at rest then. */
static void every_hand_rests_at_a_wall(void **state)
{
    (void)state;
    static const double hands[3][2] = {{100.0, 2.0}, {300.0, 10.0}, {1000.0, 40.0}};
    static const char *const devices[] = {"control: rate", "control: position",
                                          "control: rate, lag: 0.001, sensed_step: 0.001"};
    for (int i = 0; i < 9; i++) {
        const struct press p = {0.1, hands[i / 3][0], hands[i / 3][1], 0.01, 0.03, devices[i % 3],
                                3.0};
        double *values, most = 0.0;
        const uint64_t ticks = simulate_press(&p, &values);
        const double *last = values + (ticks - 1) * COLUMNS;
        for (uint64_t k = 0; k < ticks; k++) {
            most = fmax(most, values[k * COLUMNS + X]);
        }
        const double pressed = 0.02 * p.stiffness;
        print_message("%g N/m, %s: %.1e m/s left, %.4f N of %.4f, %.1e m in the wall, joint and "
                      "device %.1e m apart\n",
                      p.stiffness, p.device, sent_rms(values, ticks - 500, ticks), last[FORCE],
                      pressed, most - 0.01, last[X] - last[JOINT]);
        assert_true(sent_rms(values, ticks - 500, ticks) < 1e-6);
        assert_true(fabs(last[FORCE] / pressed - 1.0) < (i % 3 == 2 ? 0.02 : 1e-3));
        assert_true(most < (i % 3 == 2 ? 0.0103 : 0.01001));
        free(values);
        char path[64];
        snprintf(path, sizeof path, "%s/press.mcap", folder);
        if (i == 8) {
            check_replays_of_log(path, 3000, 1499, 1);
        }
    }
}

/* Growth of the sampled loop over 2500 ticks: the device moves at the speed v[k -
 * delay] within tick k, and the force of the next one is -K x - B v. */
static double loop_growth(double mass, double stiffness, double damping, int delay)
{
    double x = 1e-3, v = 0.0, queue[8] = {0.0}, force = 0.0, early = 0.0, late = 0.0;
    for (int k = 0; k < 4000; k++) {
        v = (mass * v + period * force) / (mass + period * joint_damping);
        queue[k % 8] = v;
        const double moved = queue[(k - delay + 8) % 8];
        x += period * moved;
        force = -stiffness * x - damping * moved;
        if (!(fabs(v) < 1e100)) {
            return INFINITY;
        }
        early = k >= 500 && k < 1000 ? fmax(early, fabs(v)) : early;
        late = k >= 3000 ? fmax(late, fabs(v)) : late;
    }
    return late / early;
}

/* A free device in the strong hand is stable from that mass on: T (B - b) / 2 + T^2 K / 4 without a
 * delay, by bisection of the loop above with one. */
static void the_least_mass_is_that_of_the_sampled_loop(void **state)
{
    (void)state;
    for (int delay = 0; delay <= 2; delay++) {
        double low = 1e-3, high = 10.0;
        char device[64];
        while (high / low > 1.0005) {
            const double middle = sqrt(low * high);
            *(loop_growth(middle, 1000.0, 40.0, delay) > 1.0 ? &low : &high) = middle;
        }
        if (delay == 0) {
            const double exact = period * (40.0 - joint_damping) / 2.0 + 250e-6;
            assert_true(fabs(high / exact - 1.0) < 2e-3);
        }
        tact_number_print(device, sizeof device, "control: rate, force_delay: %g", delay * period);
        for (int above = 0; above < 2; above++) {
            const struct press p = {
                (above ? 1.05 : 0.95) * high, 1000.0, 40.0, 1.0, 1e-3, device, 2.0};
            double *values;
            const uint64_t ticks = simulate_press(&p, &values);
            const double left = sent_rms(values, ticks - 500, ticks);
            print_message("%d ticks late, %.4f kg of %.4f: %.1e m/s left\n", delay, p.mass, high,
                          left);
            assert_true(above ? left < 1e-6 : left > 0.01);
            free(values);
        }
    }
}

/* A device that is lost stands still, in that tick, and so does the joint's device on return, from
 * where the force of the person moves it again. */
static void a_lost_device_stands_still(void **state)
{
    (void)state;
    const struct press p = {0.5, 300.0, 10.0, 1.0, 0.03, "control: rate, lost: [[0.45, 0.8]]", 2.0};
    double *values, jump = 0.0, moved = 0.0;
    const uint64_t ticks = simulate_press(&p, &values);
    assert_true(values[449 * COLUMNS + SENT] > 0.01);
    for (uint64_t k = 450; k < 800; k++) {
        assert_true(values[k * COLUMNS + SENT] == 0.0);
        moved = fmax(moved, fabs(values[k * COLUMNS + X] - values[450 * COLUMNS + X]));
    }
    for (uint64_t k = 800; k < ticks; k++) {
        jump = fmax(jump, fabs(values[k * COLUMNS + SENT] - values[(k - 1) * COLUMNS + SENT]));
    }
    print_message("lost while it moves by %.3f m/s: moves by %.1e m, steps of %.1e m/s on return, "
                  "%.4f m in the end\n",
                  values[449 * COLUMNS + SENT], moved, jump, values[(ticks - 1) * COLUMNS + X]);
    assert_true(moved == 0.0 && jump < 0.02);
    assert_true(fabs(values[(ticks - 1) * COLUMNS + X] - 0.03) < 1e-4);
    free(values);
}

/* The servo goes to a speed with its time constant, within its limit, and stops at its ends; its
 * sensor rounds the force of a push. Speeds that are not finite are 0. */
static void a_servo_moves_exactly(void **state)
{
    (void)state;
    static const double stops[] = {-0.1, 0.05};
    const struct tact_device_setting settings[] = {
        SETTING("axes", "x"),        SETTING("forces", "v"),      SETTING("control", "rate"),
        SETTING("lag", "0.02"),      SETTING("speed_limit", "1"), NUMBERS("stops", 1, 2, stops),
        SETTING("sensed", "f"),      SETTING("push", "1.26"),     SETTING("sensed_step", "0.5"),
        SETTING("force_delay", "0"),
    };
    for (int position = 0; position < 2; position++) {
        struct device_config c;
        struct tact_device device = {0};
        device_config_init(&c, settings, 10);
        c.settings[2].text = position ? "position" : "rate";
        c.settings[3].text = position ? "0" : "0.02";
        assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), 0);
        assert_int_equal(device.info.input_count, 2);
        struct tact_device_input in = {.state = -1};
        struct tact_twin_state at = {.position = 0.0};
        for (int k = 0; k <= 400; k++) {
            const double command = k < 100 ? 0.4 : k < 300 ? 40.0 : NAN, t = k * period;
            device.ops->read(device.self, (uint64_t)k, t, 0, &in);
            assert_int_equal(tact_twin_read_state(&device, 0, &at), 0);
            if (k == 100) {
                const double exact = position ? 0.4 * t : 0.4 * (t - 0.02 * (1.0 - exp(-t / 0.02)));
                assert_true(fabs(in.channel[0] - exact) < 1e-15);
                assert_true(in.channel[1] == 1.5);
            } else if (k == 104) { /* at most 1 m/s, at 0.04 m */
                assert_true(at.velocity <= 1.0 && (!position || fabs(at.velocity - 1.0) < 1e-12));
            }
            device.ops->write(device.self, &command, 0);
        }
        assert_true(in.channel[0] == 0.05 && at.velocity == 0.0);
        device.ops->close(device.self);
    }
}

/* A speed over the servo's limit is not made up for once it is 0: a servo of positions has then
 * moved at its limit for as long, and stands still, as one of speeds does. */
static void a_servo_of_positions_stands_still_at_zero(void **state)
{
    (void)state;
    const struct tact_device_setting settings[] = {
        SETTING("axes", "x"),
        SETTING("forces", "v"),
        SETTING("control", "position"),
        SETTING("speed_limit", "1"),
    };
    struct device_config c;
    struct tact_device device = {0};
    device_config_init(&c, settings, 4);
    assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), 0);
    struct tact_device_input in = {.state = -1};
    for (int k = 0; k <= 100; k++) {
        const double command = k < 20 ? 3.0 : k < 30 ? -40.0 : 0.0;
        device.ops->read(device.self, (uint64_t)k, k * period, 0, &in);
        if (k == 20 || k >= 30) {
            assert_true(fabs(in.channel[0] - (k == 20 ? 0.02 : 0.01)) < 1e-15);
        }
        device.ops->write(device.self, &command, 0);
    }
    device.ops->close(device.self);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *input, *expected;
    } bad[] = {
        {", stiffness: 1", "", "without a stiffness"},
        {", limit: 1", "", "without a limit"},
        {", damping: 2", "", "twice"},
        {", coupling: {stiffness: 1, damping: 1}", "", "coupling"},
        {"", ", {from: arm.x, to: hand.tip}", "is the target of hand.tip already"},
        {"", ", {from: arm.x, to: hand.tip, what: state}", "is the state of hand.tip already"},
        {"", ", {from: arm.f, to: hand.none, what: force}", "none"},
        {"", ", {from: arm.f, to: hand.tip, what: pull}", "target, state, force"},
    };
    const struct press p = {1.0, 1.0, 1.0, 1.0, 1.0, "control: rate", 1.0};
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const int undamped = i == sizeof bad / sizeof *bad;
        char scene[4096];
        struct tact_error err = {0};
        struct tact_scene *out = NULL;
        write_text(&p, undamped ? "" : bad[i].joint, undamped ? "" : bad[i].input, scene);
        if (undamped) {
            memcpy(strstr(scene, "damping: 2"), "damping: 0", 10);
        }
        assert_int_equal(tact_scene_parse(scene, strlen(scene), "bad.yaml", NULL, &out, &err), -22);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_non_null(strstr(err.text, undamped ? "over 0" : bad[i].expected));
    }
}

/* A force sensor without a servo, a servo's lag without one. */
static void a_twin_without_a_servo_measures_no_force(void **state)
{
    (void)state;
    static const char *const keys[] = {"sensed", "lag", "speed_limit", "sensed_step"};
    for (int i = 0; i < 4; i++) {
        const struct tact_device_setting settings[] = {SETTING("axes", "x"), SETTING("mass", "1"),
                                                       SETTING(keys[i], "1")};
        struct device_config c;
        struct tact_device device = {0};
        device_config_init(&c, settings, 3);
        assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), -22);
        assert_string_equal(c.err.key, keys[i]);
    }
}

static int make_folder(void **state)
{
    (void)state;
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/press.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("time,x\n0,0\n0.3,0\n0.6,1\n10,1\n", file);
    return fclose(file);
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"press.csv", "press.mcap"};
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_hand_rests_at_a_wall),
        cmocka_unit_test(the_least_mass_is_that_of_the_sampled_loop),
        cmocka_unit_test(a_lost_device_stands_still),
        cmocka_unit_test(a_servo_moves_exactly),
        cmocka_unit_test(a_servo_of_positions_stands_still_at_zero),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_twin_without_a_servo_measures_no_force),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
