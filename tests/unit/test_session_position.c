/*
 * Outputs that are positions: the motion of a joint added to where the device is, against the exact
 * recursion; no jump at arming, release, loss and return, and at the end; range and speed; three
 * hands at a rigid wall; and what is refused, as zero is no safe position.
 */
#include <errno.h>
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
#include "support/folder.h"
#include "support/replays.h"
#include "support/run_scene.h"
#include "support/wall_scene.h"

static const double period = 1e-3, mass = 0.5, damping = 2.0; /* [s], [kg], [N s/m] */

enum { RAMP_TICKS = 200, MOST = 4000 };

static char folder[] = "/tmp/tact_position_XXXXXX", log_path[64];

static const char text[] =
    "name: place\n" WALL_AND_LINK_TEXT
    "        joint: {type: slide, axis: [1, 0, 0], damping: %g}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: steel}]\n"
    "devices: [%s]\n"
    "inputs: [{from: arm.f, to: hand.tip, what: %s}]\n"
    "outputs: [{from: hand.tip, to: arm.p, %s}]\n"
    "%s";

/* A scene with a wall, its device, what the input is, its output, and further keys. */
struct scene_settings {
    double wall; /* [m] */
    const char *device, *input, *output, *more;
};

static void write_scene_text(const struct scene_settings *p, char out[4096])
{
    tact_number_print(out, 4096, text, p->wall, mass, damping, p->device, p->input, p->output,
                      p->more);
}

/* Values of a tick, read from the log. */
struct tick_values {
    double x, force, joint, velocity, sent, energy;
};

static int read_logged_tick_values(struct tick_values *values)
{
    struct tact_log *log;
    int ticks = 0;
    assert_int_equal(tact_log_open(log_path, &log, NULL), 0);
    const long input = tact_log_field(log, "arm_input", NULL),
               joint = tact_log_field(log, "hand_position", NULL),
               velocity = tact_log_field(log, "hand_velocity", NULL),
               sent = tact_log_field(log, "outputs_sent", NULL),
               place = tact_log_field(log, "arm_p_place", NULL),
               port = tact_log_field(log, "hand_tip_admittance", NULL);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_true(input >= 0 && joint >= 0 && velocity >= 0 && sent >= 0 && place >= 0 && port >= 0);
    for (; ticks < MOST && tact_log_next(log, record) > 0; ticks++) {
        const double *v = record->values;
        values[ticks] = (struct tick_values){v[input + 2], v[input + 3], v[joint],
                                             v[velocity],  v[sent],      v[port + 4]};
        assert_true(v[place] == v[sent]);
    }
    free(record);
    tact_log_close(log);
    return ticks;
}

/* Runs a scene with tact's devices, or with those given; returns the number of its ticks. */
static int simulate_scene(const struct scene_settings *p,
                          const struct tact_device_type *const *types, int ticks,
                          struct tick_values *values, struct tact_session_report *report)
{
    char scene[4096];
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    if (types) {
        options.types = types;
        options.type_count = 1;
    }
    options.clock = TACT_LOOP_FREE;
    options.record = log_path;
    options.replace = 1;
    options.ticks = (uint64_t)ticks;
    write_scene_text(p, scene);
    run_session_of_scene_text(scene, &options, report);
    return read_logged_tick_values(values);
}

/* A push moves the joint by m v' + b v = F, implicitly in each tick; the device, which begins 40 mm
 * from the joint, goes by what the joint has moved, in the ratio of the scale, while the outputs
 * ramp in by that share, and is there at the next tick. */
static void servo_follows_the_motion_of_the_joint_exactly(void **state)
{
    (void)state;
    static const double output_scales[] = {1.0, -0.5, 3.0};
    static struct tick_values values[MOST];
    for (int i = 0; i < 3; i++) {
        char output[128];
        struct tact_session_report report;
        const struct scene_settings p = {
            1.0,
            "{name: arm, type: twin, settings: {axes: x, forces: p, control: target, sensed: f, "
            "start: 0.04, push: 0.7}}",
            "force", output, ""};
        tact_number_print(output, sizeof output, "what: position, limit: 2, rate: 10, scale: %g",
                          output_scales[i]);
        const int ticks = simulate_scene(&p, NULL, 1000, values, &report);
        double q = 0.0, v = 0.0, worst = 0.0, work = 0.0;
        assert_int_equal(ticks, 1000);
        for (int k = 0; k < ticks; k++) {
            const double force = k > 0 ? 0.7 : 0.0;
            v = (mass * v + period * force) / (mass + period * damping);
            q += period * v;
            const double share = fmin(1.0, (k + 1.0) / RAMP_TICKS);
            worst = fmax(worst, fabs(values[k].sent - (0.04 + output_scales[i] * share * q)));
            worst = fmax(worst, k > 0 ? fabs(values[k].x - values[k - 1].sent) : 0.0);
            work +=
                k > 0 ? values[k].force * (values[k].x - values[k - 1].x) / output_scales[i] : 0.0;
        }
        print_message("scale %g: at %.6f m, off by %.1e m at most, %.6f mJ absorbed\n",
                      output_scales[i], values[ticks - 1].sent, worst, 1e3 * work);
        assert_true(values[0].sent == 0.04 && values[0].x == 0.04);
        assert_true(worst < 1e-15 * 200.0);
        assert_true(work > 0.0 && fabs(values[ticks - 1].energy - work) < 1e-12);
        check_replays_of_log(log_path, ticks, 499, 1);
    }
}

/* A push to the end of the range and back: the device stops exactly there, and returns in the tick
 * in which the joint turns round, however far the joint went on. A speed over its limit is not made
 * up for: the device stands still as soon as the joint does. */
static void range_and_speed_limits_of_a_servo_are_kept(void **state)
{
    (void)state;
    static struct tick_values values[MOST];
    struct tact_session_report report;
    const struct scene_settings p = {
        10.0,
        "{name: arm, type: twin, settings: {axes: x, forces: p, control: target, sensed: f, "
        "start: 0.01, push: [[0, 2], [2, -2], [2.3, 0]]}}",
        "force", "what: position, limit: 0.05, rate: 0.1", ""};
    const int ticks = simulate_scene(&p, NULL, 4000, values, &report);
    int turned = 0, back = 0;
    double largest_device_speed = 0.0, most = 0.0;
    for (int k = 1; k < ticks; k++) {
        const double moved = values[k].sent - values[k - 1].sent;
        largest_device_speed = fmax(largest_device_speed, fabs(moved) / period);
        most = fmax(most, fabs(values[k].sent));
        turned = !turned && k > 2000 && values[k].velocity < 0.0 ? k : turned;
        back = !back && k > 2000 && moved < 0.0 ? k : back;
    }
    print_message(
        "joint to %.3f m, device to %.17g m at %.17g m/s at most; joint turns in tick %d, "
        "device in %d; at the end %.1e m/s and %.1e\n",
        values[2000].joint, most, largest_device_speed, turned, back, values[ticks - 1].velocity,
        (values[ticks - 1].sent - values[ticks - 2].sent) / period);
    assert_true(values[2000].joint > 0.5 && most == 0.05 && values[2000].sent == 0.05);
    assert_true(turned > 2000 && back == turned);
    assert_true(largest_device_speed <= 0.1 * (1.0 + 1e-12) && largest_device_speed > 0.0999);
    assert_true(fabs(values[ticks - 1].velocity) < 2e-3);
    assert_true(fabs(values[ticks - 1].sent - values[ticks - 2].sent) <
                1.01 * period * fabs(values[ticks - 1].velocity) + 1e-15);
    assert_true(
        report.trips ==
        3); /* three trips: at the end of the range, and for the speed on the way there and back */
    check_replays_of_log(log_path, ticks, 1999, 1);
}

/* A device in the test: two axes that are where they were last sent, but for the ticks in which it
 * is lost and moved by hand; its second axis is of no output of the scene. */
static struct servo {
    double x[2], written[2][MOST];
    int state[MOST], deadman[MOST], ticks, writes, tick;
} servo;

static void read_servo(void *self, uint64_t tick, double t, int64_t now_ns,
                       struct tact_device_input *in)
{
    struct servo *s = self;
    (void)t;
    s->tick = (int)tick;
    in->state = s->state[tick];
    in->stamp_ns = now_ns;
    if (in->state == TACT_DEVICE_LOST) {
        s->x[0] += 1e-4;
        s->x[1] -= 1e-4;
        return;
    }
    in->channel[0] = s->x[0];
    in->channel[1] = 1.0;
    in->channel[2] = s->deadman[tick];
    in->channel[3] = s->x[1];
}

static void write_servo(void *self, const double *out, int64_t now_ns)
{
    struct servo *s = self;
    (void)now_ns;
    assert_true(s->writes < MOST);
    for (int i = 0; i < 2; i++) {
        s->written[i][s->writes] = out[i];
        s->x[i] = s->state[s->tick] == TACT_DEVICE_LOST ? s->x[i] : out[i];
    }
    s->writes++;
}

static void close_servo(void *self)
{
    (void)self;
}

static int open_servo(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_servo,
                                               write_servo, close_servo};
    static const char *const inputs[] = {"x", "f", "deadman", "y"};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->self = &servo;
    out->info.input_count = 4;
    out->info.output_count = 2;
    for (int i = 0; i < 4; i++) {
        strcpy(out->info.input[i].name, inputs[i]);
        strcpy(out->info.input[i].unit, i % 3 ? "1" : "m");
    }
    strcpy(out->info.output[0].name, "p");
    strcpy(out->info.output[1].name, "q");
    for (int i = 0; i < 2; i++) {
        strcpy(out->info.output[i].unit, "m");
        out->info.output[i].raw = i ? 4 : 1;
        out->info.input[i ? 3 : 0].rest = servo.x[i];
    }
    return 0;
}

static const struct tact_device_type servo_device_type = {
    TACT_ABI(struct tact_device_type), "servo", "goes to positions", open_servo, NULL};

static void set_value_in_ticks(int *values, int from, int until, int value)
{
    for (int k = from; k < until; k++) {
        values[k] = value;
    }
}

/* Arming, a released deadman, a loss in which the device is moved by 20 mm and more, stale values,
 * a device that is lost at the start: in every tick the device is sent where it is, to what it
 * moves in a tick; while it does not lead it is sent one place; and it ends where it is. */
static void sent_position_never_jumps_at_release_loss_or_return(void **state)
{
    (void)state;
    static const struct tact_device_type *const types[] = {&servo_device_type};
    static struct tick_values values[MOST];
    enum { TICKS = 3000 };
    struct tact_session_report report;
    const struct scene_settings p = {10.0, "{name: arm, type: servo}", "force",
                                     "what: position, limit: 0.4, rate: 0.4",
                                     "deadman: arm.deadman\n"};
    for (int late = 0; late < 2; late++) {
        servo = (struct servo){.x = {0.07, -0.03}};
        set_value_in_ticks(servo.deadman, 100, TICKS, 1);
        set_value_in_ticks(servo.deadman, 700, 900, 0);
        set_value_in_ticks(servo.state, late ? 0 : 1200, late ? 300 : 1450, TACT_DEVICE_LOST);
        set_value_in_ticks(servo.state, 1900, 2000, TACT_DEVICE_STALE);
        set_value_in_ticks(servo.state, 2300, 2301, TACT_DEVICE_LOST);
        const int ticks = simulate_scene(&p, types, TICKS, values, &report);
        double largest_output_jump[2] = {0.0}, moved = 0.0;
        assert_int_equal(ticks, TICKS);
        assert_int_equal(servo.writes, TICKS + 1);
        for (int k = 0; k < TICKS; k++) {
            const int is_lost = servo.state[k] == TACT_DEVICE_LOST;
            const int is_device_back = k == 0 || servo.state[k - 1] == TACT_DEVICE_LOST;
            for (int i = 0; i < 2; i++) {
                const double before =
                    is_device_back ? values[k].x : servo.written[0][k > 0 ? k - 1 : 0];
                largest_output_jump[i] =
                    is_lost || (i && is_device_back)
                        ? largest_output_jump[i]
                        : fmax(largest_output_jump[i],
                               fabs(servo.written[i][k] - (i ? servo.written[1][k - 1] : before)));
            }
            moved += k > 0 && !is_lost && !is_device_back
                         ? fabs(values[k].sent - values[k - 1].sent)
                         : 0;
            assert_true(!is_lost || k == 0 || servo.written[0][k] == servo.written[0][k - 1]);
            assert_true(servo.deadman[k] || is_device_back ||
                        servo.written[0][k] == servo.written[0][k - 1]);
            assert_true(servo.written[0][k] == values[k].sent);
        }
        print_message("%s: moves by %.3f m, a tick by %.3f mm of 0.4 at most, the unused axis by "
                      "%.1e; ends at %.6f m\n",
                      late ? "lost at the start" : "present at the start", moved,
                      1e3 * largest_output_jump[0], largest_output_jump[1], servo.x[0]);
        assert_true(moved > 0.1 && largest_output_jump[0] <= 0.4 * period * (1.0 + 1e-9) &&
                    largest_output_jump[1] == 0.0);
        assert_true(servo.written[0][TICKS] == servo.written[0][TICKS - 1] &&
                    servo.written[1][TICKS] == servo.written[1][TICKS - 1]);
        assert_true(fabs(servo.x[1] - (-0.03 - (late ? 301 : 251) * 1e-4)) < 1e-12);
        check_replays_of_log(log_path, TICKS, 1303, 1);
    }
}

/* Three hands go 20 mm past a rigid wall, by a servo that follows at once or late: they rest there
 * with the force of the hand, and the port absorbs the work of the person. */
static void every_hand_rests_at_a_wall(void **state)
{
    (void)state;
    static const double hands[3][2] = {{100.0, 2.0}, {300.0, 10.0}, {1000.0, 40.0}};
    static const char *const servos[] = {"lag: 0", "lag: 0.001", "force_delay: 0.001"};
    static struct tick_values values[MOST];
    for (int i = 0; i < 9; i++) {
        char device[512];
        struct tact_session_report report;
        const struct scene_settings p = {0.01, device, "force", "what: position, limit: 1, rate: 2",
                                         ""};
        tact_number_print(device, sizeof device,
                          "{name: arm, type: twin, settings: {axes: x, forces: p, sensed: f, "
                          "control: target, hand: trajectory, hand_file: %s/press.csv, "
                          "hand_time: time, hand_interpolation: linear, hand_stiffness: %g, "
                          "hand_damping: %g, %s}}",
                          folder, hands[i / 3][0], hands[i / 3][1], servos[i % 3]);
        const int ticks = simulate_scene(&p, NULL, 3000, values, &report);
        double squared_speed_sum_of_last_half_second = 0.0, most = 0.0;
        for (int k = 1; k < ticks; k++) {
            const double velocity = (values[k].x - values[k - 1].x) / period;
            squared_speed_sum_of_last_half_second += k >= ticks - 500 ? velocity * velocity : 0.0;
            most = fmax(most, values[k].x);
        }
        const double pressed = 0.02 * hands[i / 3][0], force = values[ticks - 1].force;
        print_message("%g N/m, %s: %.1e m/s left, %.4f N of %.4f, %.1e m in the wall, %.3f mJ\n",
                      hands[i / 3][0], servos[i % 3],
                      sqrt(squared_speed_sum_of_last_half_second / 500.0), force, pressed,
                      most - 0.01, 1e3 * values[ticks - 1].energy);
        assert_true(sqrt(squared_speed_sum_of_last_half_second / 500.0) < 1e-6 &&
                    fabs(force / pressed - 1.0) < 1e-3);
        assert_true(most < (i % 3 ? 0.0103 : 0.01001) && values[ticks - 1].energy > 0.0);
    }
}

static const char twin_with_target_control[] =
    "{name: arm, type: twin, settings: {axes: x, forces: p, control: target, sensed: f}}";

static void position_outputs_onto_unfit_devices_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct scene_settings parts;
        const char *key, *expected;
    } bad[] = {
        {{1.0, twin_with_target_control, "force", "what: rate, limit: 1, rate: 1", ""},
         "outputs[0].what",
         "0 is a place"},
        {{1.0, "{name: arm, type: twin, settings: {axes: x, forces: p, control: rate, sensed: f}}",
          "force", "what: position, limit: 1, rate: 1", ""},
         "outputs[0].what",
         "takes no position"},
        {{1.0, twin_with_target_control, "state", "what: position, limit: 1, rate: 1", ""},
         "outputs[0].what",
         "would follow itself"},
        {{1.0,
          "{name: arm, type: twin, settings: {axes: x, forces: p, control: target, sensed: f, "
          "strength: 2}}",
          "force", "what: position, limit: 1, rate: 1", ""},
         "strength",
         "not for \"control: target\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char scene[4096];
        struct tact_error err = {.line = 0};
        struct tact_scene *loaded = NULL;
        struct tact_session *session = NULL;
        struct tact_session_options options = tact_session_options_default();
        options.types = tact_devices_builtin(&options.type_count);
        write_scene_text(&bad[i].parts, scene);
        int rc = tact_scene_parse(scene, strlen(scene), "bad.yaml", NULL, &loaded, &err);
        rc = rc ? rc : tact_session_create(loaded, &options, &session, &err);
        print_message("%d: %s: %s\n", err.line, err.key, err.text);
        assert_int_equal(rc, -EINVAL);
        assert_non_null(strstr(err.text, bad[i].expected));
        assert_string_equal(err.key, bad[i].key);
        tact_scene_free(loaded);
    }
}

/* An output that no input measures, or in another unit, is an error of the device type. */
static void position_outputs_that_no_input_measures_fail(void **state)
{
    (void)state;
    static const int raw[] = {-1, 5, 2, 1, 4, 0};
    for (int i = 0; i < 6; i++) {
        struct tact_device device = {0};
        struct tact_error err = {.line = 0};
        assert_int_equal(open_servo(NULL, &device, &err), 0);
        device.info.output[0].raw = raw[i];
        assert_int_equal(tact_device_check(&device, &err), i < 3 ? -EINVAL : 0);
        print_message("%s\n", err.text);
    }
}

/* A log of positions is not played back on a device, which would go to where it was then. */
static void log_of_position_outputs_is_not_played_back(void **state)
{
    (void)state;
    static struct tick_values values[MOST];
    char scene[4096];
    struct tact_session_report report;
    struct tact_replay_report replay_report;
    struct tact_scene *local;
    struct tact_error err = {.line = 0};
    const struct scene_settings p = {1.0, twin_with_target_control, "force",
                                     "what: position, limit: 1, rate: 1", ""},
                                held = {1.0, twin_with_target_control, "force",
                                        "what: position, limit: 1, rate: 1", "deadman: arm.x\n"};
    simulate_scene(&p, NULL, 10, values, &report);
    write_scene_text(&held, scene);
    assert_int_equal(tact_scene_parse(scene, strlen(scene), "here.yaml", NULL, &local, &err), 0);
    struct tact_replay_options how = tact_replay_options_default();
    how.playback_device = "arm";
    how.scene = local;
    how.types = tact_devices_builtin(&how.type_count);
    assert_int_equal(tact_replay_run_with(log_path, &how, &replay_report, &err), -ENOTSUP);
    print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, "is a position"));
    tact_scene_free(local);
}

static int make_test_folder(void **state)
{
    (void)state;
    static const char content[] = "time,x\n0,0\n0.3,0\n0.6,0.03\n10,0.03\n";
    const int rc = make_folder_with_file(folder, "press.csv", content);
    snprintf(log_path, sizeof log_path, "%s/place.mcap", folder);
    return rc;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"press.csv", "place.mcap"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servo_follows_the_motion_of_the_joint_exactly),
        cmocka_unit_test(range_and_speed_limits_of_a_servo_are_kept),
        cmocka_unit_test(sent_position_never_jumps_at_release_loss_or_return),
        cmocka_unit_test(every_hand_rests_at_a_wall),
        cmocka_unit_test(position_outputs_onto_unfit_devices_are_refused),
        cmocka_unit_test(position_outputs_that_no_input_measures_fail),
        cmocka_unit_test(log_of_position_outputs_is_not_played_back),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
