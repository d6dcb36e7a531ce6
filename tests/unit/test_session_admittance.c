/*
 * A joint that the force of a person moves, and a device that takes its speed: no rattle at a rigid
 * wall with three hands, the least mass by the exact limit of the sampled loop, the energy of the
 * port, standstill while the device is lost, its force over gaps in its values, and the twin of
 * such a device against the exact motion of its servo.
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
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "support/device_config.h"
#include "support/folder.h"
#include "support/replays.h"
#include "support/run_scene.h"
#include "support/wall_scene.h"

static const double period = 1e-3, joint_damping = 2.0; /* [s], [N s/m] */

/* A press against the wall: properties of joint and hand, and settings of the simulated device. */
struct admittance_press {
    /* mass of the joint [kg]; stiffness [N/m] and damping [N s/m] of the hand */
    double mass, stiffness, damping;
    double wall, step;  /* position of the wall, and distance that the hand moves [m] */
    const char *device; /* further settings of the simulated device (twin) */
    double seconds;
};

enum { X, FORCE, JOINT, SENT, ENERGY, LEAST, COLUMNS };

static char folder[] = "/tmp/tact_admittance_XXXXXX";

static const char text[] =
    "name: press\n" WALL_AND_LINK_TEXT
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

static void write_admittance_scene(const struct admittance_press *p, const char *joint,
                                   const char *input, char out[4096])
{
    tact_number_print(out, 4096, text, p->wall, p->mass, joint_damping, joint, folder, p->step,
                      p->stiffness, p->damping, p->device, input);
}

/* Runs a press; values: COLUMNS a tick, freed by the caller. Returns the number of ticks. */
static uint64_t simulate_admittance_press(const struct admittance_press *p, double **values)
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
    write_admittance_scene(p, "", "", scene);
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const long input = tact_log_field(log, "arm_input", NULL);
    const long port = tact_log_field(log, "hand_tip_admittance", NULL);
    const long of[COLUMNS] = {input + 2,
                              input + 3,
                              tact_log_field(log, "hand_position", NULL),
                              tact_log_field(log, "outputs_sent", NULL),
                              port + 4,
                              port + 5};
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
static double rms_speed_of_sent_positions(const double *values, uint64_t from, uint64_t until)
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
static void every_simulated_hand_rests_at_a_wall(void **state)
{
    (void)state;
    static const double hands[3][2] = {{100.0, 2.0}, {300.0, 10.0}, {1000.0, 40.0}};
    static const char *const devices[] = {"control: rate", "control: position",
                                          "control: rate, lag: 0.001, sensed_step: 0.001"};
    for (int i = 0; i < 9; i++) {
        const struct admittance_press p = {
            0.1, hands[i / 3][0], hands[i / 3][1], 0.01, 0.03, devices[i % 3], 3.0};
        double *values, most = 0.0;
        const uint64_t ticks = simulate_admittance_press(&p, &values);
        const double *last = values + (ticks - 1) * COLUMNS;
        for (uint64_t k = 0; k < ticks; k++) {
            most = fmax(most, values[k * COLUMNS + X]);
        }
        const double pressed = 0.02 * p.stiffness;
        print_message("%g N/m, %s: %.1e m/s left, %.4f N of %.4f, %.1e m in the wall, joint and "
                      "device %.1e m apart\n",
                      p.stiffness, p.device,
                      rms_speed_of_sent_positions(values, ticks - 500, ticks), last[FORCE], pressed,
                      most - 0.01, last[X] - last[JOINT]);
        assert_true(rms_speed_of_sent_positions(values, ticks - 500, ticks) < 1e-6);
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

/* Work of the hand on the device up to a tick: it is a spring and damper, whose force changes
 * evenly within a tick, from the log of the motion and the motion of its end (press.csv). */
static double work_of_hand_on_simulated_device(const struct admittance_press *p,
                                               const double *values, uint64_t ticks)
{
    double work = 0.0, before = 0.0;
    for (uint64_t k = 1; k < ticks; k++) {
        const double *v = values + k * COLUMNS;
        const double moved = v[X] - v[X - COLUMNS];
        const double end = p->step * fmin(1.0, fmax(0.0, ((double)k * period - 0.3) / 0.3));
        const double force_of_hand_damper_on_device = p->damping * (end - before - moved) / period;
        const double first =
            p->stiffness * (before - v[X - COLUMNS]) + force_of_hand_damper_on_device;
        work +=
            0.5 * (first + p->stiffness * (end - v[X]) + force_of_hand_damper_on_device) * moved;
        before = end;
    }
    return work;
}

/* The port absorbs what the hand gives, and gives none back; a joint that is too light for the hand
 * generates energy, in a rattle whose speed reverses in every tick. The port has it by the force at
 * the end of each tick: exact for the damper of the hand; its spring changes by little within one.
 */
static void admittance_port_absorbs_the_work_of_the_hand(void **state)
{
    (void)state;
    static const struct admittance_press press_cases[] = {
        {0.1, 100.0, 2.0, 0.01, 0.03, "control: rate", 2.0},
        {0.1, 1000.0, 40.0, 0.01, 0.03, "control: rate", 2.0},
        {0.018, 1000.0, 40.0, 1.0, 1e-3, "control: rate", 0.7}};
    for (int i = 0; i < 3; i++) {
        const struct admittance_press *p = &press_cases[i];
        double *values, outside = 0.0;
        const uint64_t ticks = simulate_admittance_press(p, &values);
        const double *last = values + (ticks - 1) * COLUMNS;
        for (const double *v = values + COLUMNS; v <= last; v += COLUMNS) {
            const double commanded_velocity = v[SENT - COLUMNS];
            outside += v[FORCE] * period * commanded_velocity;
        }
        const double work = work_of_hand_on_simulated_device(p, values, ticks);
        print_message("%g kg, %g N/m: %.4f mJ absorbed, the hand gave %.4f, least %.2e mJ\n",
                      p->mass, p->stiffness, 1e3 * last[ENERGY], 1e3 * work, 1e3 * last[LEAST]);
        assert_true(fabs(last[ENERGY] - outside) < 1e-12 * fmax(1.0, fabs(outside)));
        assert_true(fabs(last[ENERGY] / work - 1.0) < (i < 2 ? 2e-3 : 0.02));
        assert_true(i < 2 ? work > 2e-3 && last[LEAST] == 0.0 : work < -1.0);
        free(values);
    }
}

/* Growth of the sampled loop over 2500 ticks: the device moves at the speed v[k -
 * delay] within tick k, and the force of the next one is -K x - B v. */
static double growth_per_tick_of_sampled_loop(double mass, double stiffness, double damping,
                                              int delay)
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
static void least_admittance_mass_is_that_of_the_sampled_loop(void **state)
{
    (void)state;
    for (int delay = 0; delay <= 2; delay++) {
        double low = 1e-3, high = 10.0;
        char device[64];
        while (high / low > 1.0005) {
            const double middle = sqrt(low * high);
            *(growth_per_tick_of_sampled_loop(middle, 1000.0, 40.0, delay) > 1.0 ? &low : &high) =
                middle;
        }
        if (delay == 0) {
            const double exact = period * (40.0 - joint_damping) / 2.0 + 250e-6;
            assert_true(fabs(high / exact - 1.0) < 2e-3);
        }
        tact_number_print(device, sizeof device, "control: rate, force_delay: %g", delay * period);
        for (int is_mass_above_least_stable_mass = 0; is_mass_above_least_stable_mass < 2;
             is_mass_above_least_stable_mass++) {
            const struct admittance_press p = {
                (is_mass_above_least_stable_mass ? 1.05 : 0.95) * high,
                1000.0,
                40.0,
                1.0,
                1e-3,
                device,
                2.0};
            double *values;
            const uint64_t ticks = simulate_admittance_press(&p, &values);
            const double left = rms_speed_of_sent_positions(values, ticks - 500, ticks);
            print_message("%d ticks late, %.4f kg of %.4f: %.1e m/s left\n", delay, p.mass, high,
                          left);
            assert_true(is_mass_above_least_stable_mass ? left < 1e-6 : left > 0.01);
            free(values);
        }
    }
}

/* A device that is lost stands still, in that tick, and so does the joint's device on return, from
 * where the force of the person moves it again. */
static void lost_admittance_device_stands_still(void **state)
{
    (void)state;
    const struct admittance_press p = {
        0.5, 300.0, 10.0, 1.0, 0.03, "control: rate, lost: [[0.45, 0.8]]", 2.0};
    double *values, jump = 0.0, moved = 0.0;
    const uint64_t ticks = simulate_admittance_press(&p, &values);
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
static void servo_twin_moves_exactly(void **state)
{
    (void)state;
    static const double stop_positions[] = {-0.1, 0.05};
    const struct tact_device_setting settings[] = {
        SETTING("axes", "x"),          SETTING("forces", "v"),
        SETTING("control", "rate"),    SETTING("lag", "0.02"),
        SETTING("speed_limit", "1"),   NUMBERS("stops", 1, 2, stop_positions),
        SETTING("sensed", "f"),        SETTING("push", "1.26"),
        SETTING("sensed_step", "0.5"), SETTING("force_delay", "0"),
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
static void servo_that_takes_positions_stands_still_at_zero(void **state)
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

/* A device that measures 0.4 N, whose values are old for 3 ms, and for 100 ms. */
static struct stale_device {
    int has_stale_intervals;
    uint64_t tick;
    double sent[1000];
} stale_device;

static void read_stale_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    struct stale_device *device = self;
    const int is_value_stale = (tick >= 500 && tick < 503) || (tick >= 700 && tick < 800);
    (void)t;
    device->tick = tick;
    in->state = device->has_stale_intervals && is_value_stale ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
    in->stamp_ns = now;
    /* a stale value, which must not be used */
    in->channel[0] = in->state == TACT_DEVICE_STALE ? 1e9 : 0.4;
}

static void write_stale_device(void *self, const double *out, int64_t now)
{
    struct stale_device *device = self;
    (void)now;
    device->sent[device->tick] = out[0];
}

static void close_stale_device(void *self)
{
    (void)self;
}

static int open_stale_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_stale_device,
                                               write_stale_device, close_stale_device};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->self = &stale_device;
    out->info.input_count = out->info.output_count = 1;
    strcpy(out->info.input[0].name, "f");
    strcpy(out->info.output[0].name, "v");
    return 0;
}

static void store_last_message(void *user, enum tact_message_level level, const char *message)
{
    (void)level;
    snprintf(user, 256, "%s", message);
}

/* Runs 1 s of a joint of 0.1 kg in the hand of that device; returns the report as JSON. */
static char *run_joint_with_stale_device(int has_stale_intervals, const char *path,
                                         char message[256])
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "stale",
                                                 "values that are old at times", open_stale_device,
                                                 NULL};
    static const struct tact_device_type *const types[] = {&type};
    const struct admittance_press p = {0.1, 1.0, 1.0, 1.0, 1.0, "control: rate", 1.0};
    char scene[4096], changed_scene[5000];
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *loaded;
    struct tact_session *session;
    write_admittance_scene(&p, "", "", scene);
    const char *devices = strstr(scene, "devices:");
    snprintf(changed_scene, sizeof changed_scene, "%.*sdevices: [{name: arm, type: stale}]\n%s",
             (int)(devices - scene), scene, strstr(scene, "inputs:"));
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = 1000;
    options.record = path;
    options.replace = 1;
    options.messages = (struct tact_messages){store_last_message, message};
    memset(&stale_device, 0, sizeof stale_device);
    stale_device.has_stale_intervals = has_stale_intervals;
    open_session_of_scene_text(changed_scene, &options, &loaded, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    assert_int_equal(tact_session_port_count(session), 1);
    const struct tact_session_port port = tact_session_port(session, 0);
    assert_true(port.is_admittance && port.engaged && port.force[0] == -0.4);
    assert_true(port.rate > 0.98 * 0.4 / joint_damping && port.rate <= 0.4 / joint_damping);
    assert_true(port.held == (has_stale_intervals ? 8 : 0) &&
                port.missing == (has_stale_intervals ? 95 : 0));
    report.recorder.event_overruns = 7;
    char *json = tact_session_report_json(session, &report);
    assert_non_null(strstr(json, "\"event_overruns\": 7"));
    tact_session_destroy(session);
    tact_scene_free(loaded);
    return json;
}

/* In a gap of 3 ms without values the last force is used, and the motion is that without the gap;
 * in one of 100 ms it is used for 5 ms, then there is none, and the joint's own damping ends the
 * motion. Both are reported, and replays go through them from any tick. */
static void measured_force_is_held_over_short_gaps(void **state)
{
    (void)state;
    static double sent_positions_without_gap[1000];
    char path[64], message[256] = "";
    snprintf(path, sizeof path, "%s/press.mcap", folder);
    free(run_joint_with_stale_device(0, path, message));
    assert_null(strstr(message, "stale"));
    memcpy(sent_positions_without_gap, stale_device.sent, sizeof sent_positions_without_gap);
    char *json = run_joint_with_stale_device(1, path, message);
    const double *sent = stale_device.sent;
    assert_memory_equal(sent, sent_positions_without_gap, 705 * sizeof *sent);
    for (int k = 705; k < 800; k++) {
        const double exact = sent[k - 1] * 0.1 / (0.1 + period * joint_damping);
        assert_true(fabs(sent[k] - exact) < 1e-15);
    }
    assert_true(sent[799] < 0.2 * sent[700] && sent[998] > 0.9 * sent_positions_without_gap[998]);
    assert_string_equal(message, "the force sensor that moves joint hand.tip had no new values: "
                                 "its last force was used in 8 ticks, and zero force in 95 ticks");
    assert_non_null(strstr(json, "\"held_ticks\": 8"));
    assert_non_null(strstr(json, "\"missing_ticks\": 95"));
    free(json);
    check_replays_of_log(path, 1000, 501, 1);
    check_replays_of_log(path, 1000, 703, 1);
}

/* A constant push does the work F (x - x_0), which the port has to rounding, over a loss too. */
static void port_energy_of_a_constant_push_is_exact(void **state)
{
    (void)state;
    const struct admittance_press p = {0.5, 0.0, 0.0, 1.0, 0.0, "control: rate, push: 0.7", 1.0};
    double *values;
    const uint64_t ticks = simulate_admittance_press(&p, &values);
    const double *last = values + (ticks - 1) * COLUMNS;
    print_message("%.6f mJ absorbed, %.6f m by 0.7 N\n", 1e3 * last[ENERGY], last[X]);
    assert_true(last[X] > 0.1 && fabs(last[ENERGY] - 0.7 * last[X]) < 1e-12);
    assert_true(last[LEAST] == 0.0);
    free(values);
}

static void bad_admittance_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *input, *expected;
    } bad[] = {
        {", stiffness: 1", "", "without a drive stiffness"},
        {", limit: 1", "", "without a force limit"},
        {", damping: 2", "", "twice"},
        {", coupling: {stiffness: 1, damping: 1}", "", "coupling"},
        {"", ", {from: arm.x, to: hand.tip}", "already sets the target of the joint hand.tip"},
        {"", ", {from: arm.x, to: hand.tip, what: state}",
         "already sets the state of the joint hand.tip"},
        {"", ", {from: arm.f, to: hand.none, what: force}", "none"},
        {"", ", {from: arm.f, to: hand.tip, what: pull}", "target, state, force"},
    };
    const struct admittance_press p = {1.0, 1.0, 1.0, 1.0, 1.0, "control: rate", 1.0};
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const int is_case_without_damping = i == sizeof bad / sizeof *bad;
        char scene[4096];
        struct tact_error err = {0};
        struct tact_scene *out = NULL;
        write_admittance_scene(&p, is_case_without_damping ? "" : bad[i].joint,
                               is_case_without_damping ? "" : bad[i].input, scene);
        if (is_case_without_damping) {
            memcpy(strstr(scene, "damping: 2"), "damping: 0", 10);
        }
        assert_int_equal(tact_scene_parse(scene, strlen(scene), "bad.yaml", NULL, &out, &err), -22);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_non_null(strstr(err.text, is_case_without_damping ? "over 0" : bad[i].expected));
    }
}

/* A twin with a force sensor but no servo, or with a servo's time constant but no servo, is
 * refused. */
static void twin_without_a_servo_measures_no_force(void **state)
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

static int make_test_folder(void **state)
{
    (void)state;
    return make_folder_with_file(folder, "press.csv", "time,x\n0,0\n0.3,0\n0.6,1\n10,1\n");
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"press.csv", "press.mcap"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_simulated_hand_rests_at_a_wall),
        cmocka_unit_test(admittance_port_absorbs_the_work_of_the_hand),
        cmocka_unit_test(port_energy_of_a_constant_push_is_exact),
        cmocka_unit_test(measured_force_is_held_over_short_gaps),
        cmocka_unit_test(least_admittance_mass_is_that_of_the_sampled_loop),
        cmocka_unit_test(lost_admittance_device_stands_still),
        cmocka_unit_test(servo_twin_moves_exactly),
        cmocka_unit_test(servo_that_takes_positions_stands_still_at_zero),
        cmocka_unit_test(bad_admittance_settings_are_refused),
        cmocka_unit_test(twin_without_a_servo_measures_no_force),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
