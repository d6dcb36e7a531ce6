/* The simulated device (twin) compared with exact solutions of its equation of motion, and its
 * limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>
#include "devices/twin/twin.h"
#include "support/device_config.h"

#define ELEMENT_COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const double period = 1e-3;

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

static struct tact_device_input read_twin_device_at_tick(struct tact_device *device, uint64_t tick)
{
    struct tact_device_input in = {.state = -1};
    device->ops->read(device->self, tick, (double)tick * period, 1000000 * (int64_t)tick, &in);
    return in;
}

static struct tact_twin_state simulated_axis_state(const struct tact_device *device, int axis)
{
    struct tact_twin_state state;
    assert_int_equal(tact_twin_read_state(device, axis, &state), 0);
    return state;
}

static void expect_close_value(double found, double wanted, double tolerance)
{
    if (!(fabs(found - wanted) <= tolerance)) {
        fail_msg("%.17g is not %.17g within %g", found, wanted, tolerance);
    }
}

/* A free mass moves by x = F t^2 / 2 m, for a force of the motor or of the script. */
static void free_twin_mass_accelerates_exactly(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {
        SETTING("axes", "x y"), SETTING("forces", "fx -"), SETTING("mass", "0.25"),
        SETTING("strength", "4"), NUMBERS("push", 1, 3, ((const double[]){0.0, 0.0, 2.0}))};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double half = 0.5;
    for (uint64_t tick = 0; tick <= 20000; tick++) {
        const double t = (double)tick * period, x = 0.5 * (2.0 / 0.25) * t * t;
        struct tact_device_input in = read_twin_device_at_tick(&device, tick);
        device.ops->write(device.self, &half, 0);
        expect_close_value(in.channel[0], x, 1e-12 * (1.0 + x));
        expect_close_value(in.channel[1], x, 1e-12 * (1.0 + x));
        expect_close_value(simulated_axis_state(&device, 0).velocity, 8.0 * t,
                           1e-12 * (1.0 + 8.0 * t));
    }
    assert_true(simulated_axis_state(&device, 0).force == 2.0);
    device.ops->close(device.self);
}

/* Step response of a mass on spring and damper, in closed form. */
static double exact_step_response(double m, double b, double k, double t)
{
    const double rate = b / (2.0 * m), w2 = k / m - rate * rate;
    if (w2 > 0.0) {
        const double w = sqrt(w2);
        return 1.0 - exp(-rate * t) * (cos(w * t) + rate / w * sin(w * t));
    }
    if (w2 == 0.0) {
        return 1.0 - exp(-rate * t) * (1.0 + rate * t);
    }
    const double w = sqrt(-w2), fast_pole = -rate - w, slow_pole = k / m / fast_pole;
    return 1.0 + (slow_pole * exp(fast_pole * t) - fast_pole * exp(slow_pole * t)) /
                     (fast_pole - slow_pole);
}

static void twin_step_response_is_exact(void **state)
{
    (void)state;
    const double m[] = {0.05, 0.05, 0.25, 1e-4}, b[] = {0.4, 30.0, 2.0, 1.0};
    const double k[] = {500.0, 500.0, 4.0, 0.5};
    const double push[] = {0.0, 500.0, 500.0, 4.0, 0.5}; /* 1 m for each */
    const struct tact_device_setting s[] = {
        SETTING("axes", "under over critical stiff"), NUMBERS("mass", 1, 4, m),
        NUMBERS("damping", 1, 4, b), NUMBERS("stiffness", 1, 4, k), NUMBERS("push", 1, 5, push)};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    double worst = 0.0;
    for (uint64_t tick = 0; tick <= 5000; tick++) {
        struct tact_device_input in = read_twin_device_at_tick(&device, tick);
        for (int i = 0; i < 4; i++) {
            double x = exact_step_response(m[i], b[i], k[i], (double)tick * period);
            worst = fmax(worst, fabs(in.channel[i] - x));
            expect_close_value(in.channel[i], x, 1e-12);
        }
    }
    print_message("step responses within %.1e\n", worst);
    device.ops->close(device.self);
}

/* Without damping the energy is constant over an hour of ticks. */
static void an_undamped_twin_keeps_its_energy(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "x"), SETTING("mass", "0.1"),
                                            SETTING("stiffness", "300"), SETTING("rest", "0.02"),
                                            SETTING("start", "0.05")};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double whole = 0.5 * 300.0 * 0.03 * 0.03;
    for (uint64_t tick = 0; tick <= 3600000; tick += 100) {
        read_twin_device_at_tick(&device, tick);
        struct tact_twin_state now = simulated_axis_state(&device, 0);
        double x = now.position - 0.02;
        double energy = 0.5 * 300.0 * x * x + 0.5 * 0.1 * now.velocity * now.velocity;
        expect_close_value(energy / whole, 1.0, 1e-9);
    }
    device.ops->close(device.self);
}

/* A hand that moves at V drives it: m x'' + b x' + c (x' - V) + k (x - V t) = 0 from rest. */
static void moving_hand_drives_the_twin_exactly(void **state)
{
    (void)state;
    char path[] = "/tmp/tact_twin_XXXXXX";
    const int file = mkstemp(path);
    assert_int_equal(write(file, "t,y\n0,0\n2,1\n", 12), 12);
    close(file);
    const double m = 0.1, b = 0.5, c = 3.0, k = 200.0, v = 0.5;
    const struct tact_device_setting s[] = {SETTING("axes", "x"),
                                            SETTING("mass", "0.1"),
                                            SETTING("damping", "0.5"),
                                            SETTING("hand", "trajectory"),
                                            SETTING("hand_file", path),
                                            SETTING("hand_time", "t"),
                                            SETTING("hand_interpolation", "linear"),
                                            SETTING("hand_stiffness", "200"),
                                            SETTING("hand_damping", "3")};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double rate = (b + c) / (2.0 * m), w = sqrt(k / m - rate * rate);
    /* x - V t + b V / k = e^(-rate t) (p cos wt + q sin wt), at rest at t = 0 */
    const double p = b * v / k, q = (rate * p - v) / w;
    for (uint64_t tick = 0; tick < 2000; tick++) {
        const double t = (double)tick * period;
        double x = v * t - b * v / k + exp(-rate * t) * (p * cos(w * t) + q * sin(w * t));
        expect_close_value(read_twin_device_at_tick(&device, tick).channel[0], x, 1e-12);
    }
    device.ops->close(device.self);
    unlink(path);
}

/* A reading is the nearest of 2^bits values, and saturates; or the nearest multiple of a given
 * step. */
static void twin_readings_are_quantised(void **state)
{
    (void)state;
    const double reading_range[] = {-1.0, 1.0};
    const struct tact_device_setting s[] = {SETTING("axes", "x"),
                                            SETTING("mass", "1"),
                                            SETTING("push", "1"),
                                            SETTING("scale", "2"),
                                            NUMBERS("range", 1, 2, reading_range),
                                            SETTING("bits", "8"),
                                            SETTING("start", "-0.7")};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double lsb = 2.0 / 255.0;
    int reading_change_count = 0, last = -1;
    for (uint64_t tick = 0; tick < 2000; tick++) {
        double y = read_twin_device_at_tick(&device, tick).channel[0],
               exact = 2.0 * simulated_axis_state(&device, 0).position;
        double code = (y + 1.0) / lsb;
        expect_close_value(code, nearbyint(code), 1e-9);
        expect_close_value(y, fmin(1.0, fmax(-1.0, exact)), 0.5 * lsb * (1.0 + 1e-12));
        reading_change_count += (int)nearbyint(code) != last;
        last = (int)nearbyint(code);
    }
    assert_int_equal(reading_change_count, 256);
    assert_true(read_twin_device_at_tick(&device, 2000).channel[0] == 1.0);
    device.ops->close(device.self);

    const struct tact_device_setting counts[] = {SETTING("axes", "x"), SETTING("mass", "1"),
                                                 SETTING("push", "-1"), SETTING("step", "0.125")};
    device = open_twin(counts, ELEMENT_COUNT(counts));
    for (uint64_t tick = 0; tick < 2000; tick++) {
        double y = read_twin_device_at_tick(&device, tick).channel[0],
               exact = simulated_axis_state(&device, 0).position;
        assert_true(y == 0.125 * nearbyint(exact / 0.125));
    }
    device.ops->close(device.self);
}

/* Readings with a delay are equal, bit for bit, to those of a twin without delay that many ticks
 * earlier. */
static void twin_readings_have_their_exact_delay(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "x"),       SETTING("mass", "0.3"),
                                            SETTING("stiffness", "20"), SETTING("start", "0.4"),
                                            SETTING("step", "1e-4"),    SETTING("delay", "0.007")};
    struct tact_device now = open_twin(s, 5), late = open_twin(s, 6);
    double reported[1000];
    for (uint64_t tick = 0; tick < 1000; tick++) {
        reported[tick] = read_twin_device_at_tick(&now, tick).channel[0];
        struct tact_device_input in = read_twin_device_at_tick(&late, tick);
        assert_true(in.channel[0] == reported[tick < 7 ? 0 : tick - 7]);
        assert_int_equal(in.stamp_ns, 1000000 * ((int64_t)tick - 7));
    }
    now.ops->close(now.self);
    late.ops->close(late.self);
}

/* A force written in one tick acts in exactly one tick, later by the delay. */
static void twin_forces_have_their_exact_delay(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "x"), SETTING("mass", "2"),
                                            SETTING("forces", "f"),
                                            SETTING("force_delay", "0.003")};
    const double on = 8.0, off = 0.0;
    for (int delay = 0; delay <= 3; delay += 3) {
        struct tact_device device = open_twin(s, delay ? 4 : 3);
        for (uint64_t tick = 0; tick < 100; tick++) {
            /* ticks since the push acted on the device */
            double ticks_since_push = (double)tick - 11.0 - delay;
            double x =
                ticks_since_push < 0.0 ? 0.0 : 4.0 * period * period * (0.5 + ticks_since_push);
            expect_close_value(read_twin_device_at_tick(&device, tick).channel[0], x, 1e-18);
            device.ops->write(device.self, tick == 10 ? &on : &off, 0);
        }
        device.ops->close(device.self);
    }
}

static void twin_motor_saturates(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "x"), SETTING("mass", "0.5"),
                                            SETTING("forces", "f"), SETTING("strength", "-3"),
                                            SETTING("force_limit", "1.5")};
    const double out[] = {0.1, -0.4, 0.6, -5.0, (double)INFINITY, (double)NAN};
    const double force[] = {-0.3, 1.2, -1.5, 1.5, 0.0, 0.0};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    read_twin_device_at_tick(&device, 0);
    for (int i = 0; i < ELEMENT_COUNT(out); i++) {
        double before = simulated_axis_state(&device, 0).velocity;
        device.ops->write(device.self, &out[i], 0);
        read_twin_device_at_tick(&device, (uint64_t)i + 1);
        expect_close_value(simulated_axis_state(&device, 0).force, force[i], 1e-15);
        expect_close_value(simulated_axis_state(&device, 0).velocity - before,
                           force[i] / 0.5 * period, 1e-17);
    }
    device.ops->close(device.self);
}

static void twin_stops_at_its_end_stops(void **state)
{
    (void)state;
    const double stop_positions[] = {-0.1, 0.2}, push[] = {0.0, 1.0, 1.0, -1.0};
    const struct tact_device_setting s[] = {SETTING("axes", "x"), SETTING("mass", "0.5"),
                                            NUMBERS("stops", 1, 2, stop_positions),
                                            NUMBERS("push", 2, 2, push)};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    for (uint64_t tick = 0; tick <= 3000; tick++) {
        double x = read_twin_device_at_tick(&device, tick).channel[0];
        assert_true(x >= -0.1 && x <= 0.2);
        if (tick == 1000) {
            assert_true(x == 0.2 && simulated_axis_state(&device, 0).velocity == 0.0);
        } else if (tick > 1000 && tick <= 1500) { /* the device leaves its stop without sticking */
            double t = (double)(tick - 1000) * period;
            expect_close_value(x, 0.2 - t * t, 1e-12);
        }
    }
    assert_true(simulated_axis_state(&device, 0).position == -0.1);
    device.ops->close(device.self);
}

/* While unplugged, the reported axis is constant, the button released and the force zero; the mass
 * continues to move. */
static void twin_is_unplugged_and_replugged(void **state)
{
    (void)state;
    const double script[] = {0.0, 0.0, 0.0, 0.0}, lost[] = {0.5, 0.6, 0.8, 0.9};
    const struct tact_device_setting s[] = {SETTING("axes", "x"),
                                            SETTING("mass", "1"),
                                            SETTING("forces", "f"),
                                            SETTING("buttons", "held=deadman other"),
                                            SETTING("hand", "operator"),
                                            SETTING("hand_channels", "-"),
                                            SETTING("hand_stiffness", "10"),
                                            SETTING("hand_deadman_from", "0.1"),
                                            NUMBERS("hand_script", 1, 4, script),
                                            NUMBERS("lost", 2, 2, lost)};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double one = 1.0;
    double held = 0.0, velocity = 0.0;
    for (uint64_t tick = 0; tick < 1000; tick++) {
        struct tact_device_input in = read_twin_device_at_tick(&device, tick);
        bool is_device_lost = (tick >= 500 && tick < 600) || (tick >= 800 && tick < 900);
        assert_int_equal(in.state, is_device_lost ? TACT_DEVICE_LOST : TACT_DEVICE_OK);
        assert_true(in.channel[1] == (tick >= 100 && !is_device_lost ? 1.0 : 0.0));
        assert_true(in.channel[2] == 0.0);
        device.ops->write(device.self, &one, 0);
        if (is_device_lost) {
            assert_true(in.channel[0] == held);
        } else {
            held = in.channel[0];
        }
        if (tick >= 501 && tick <= 600) {
            assert_true(simulated_axis_state(&device, 0).force == 0.0 &&
                        simulated_axis_state(&device, 0).velocity == velocity);
        }
        velocity = simulated_axis_state(&device, 0).velocity;
    }
    expect_close_value(velocity, 0.799, 1e-12);
    device.ops->close(device.self);
}

/* After skipped ticks the device is where it would be without the gap. */
static void twin_simulates_skipped_ticks(void **state)
{
    (void)state;
    const double push[] = {0.0, 1.0, 0.33, -2.0};
    const struct tact_device_setting s[] = {
        SETTING("axes", "x"),       SETTING("mass", "0.3"), SETTING("stiffness", "20"),
        SETTING("damping", "0.2"),  SETTING("forces", "f"), SETTING("force_delay", "0.004"),
        NUMBERS("push", 2, 2, push)};
    struct tact_device each = open_twin(s, ELEMENT_COUNT(s)), some = open_twin(s, ELEMENT_COUNT(s));
    for (uint64_t tick = 0; tick <= 2000; tick++) {
        double x = read_twin_device_at_tick(&each, tick).channel[0];
        /* a force that changes only at ticks that both loops have */
        const double out = (double)(tick / 50 % 7) - 3.0;
        each.ops->write(each.self, &out, 0);
        if (tick % 50 == 0) {
            assert_true(read_twin_device_at_tick(&some, tick).channel[0] == x);
            some.ops->write(some.self, &out, 0);
        }
    }
    read_twin_device_at_tick(&some, 1u << 30);
    assert_true(isfinite(simulated_axis_state(&some, 0).position));
    each.ops->close(each.self);
    some.ops->close(some.self);
}

/* Effects that the device renders itself are part of the exact solution, with the delay of
 * forces. */
static void rendered_spring_and_damper_are_exact(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "x"),
                                            SETTING("mass", "0.05"),
                                            SETTING("damping", "0.1"),
                                            SETTING("stiffness", "20"),
                                            SETTING("scale", "2"),
                                            SETTING("effects", "damper spring spring_center"),
                                            SETTING("effect_damper", "0.6"),
                                            SETTING("effect_spring", "480"),
                                            SETTING("force_delay", "0.01")};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double out[] = {0.5, 7.0, 0.5}; /* levels saturate at 1 */
    assert_string_equal(device.info.output[2].name, "spring_center");
    for (uint64_t tick = 0; tick <= 5000; tick++) {
        const double t = tick < 10 ? 0.0 : (double)(tick - 10) * period;
        const double x = 480.0 * 0.25 / 500.0 * exact_step_response(0.05, 0.4, 500.0, t);
        expect_close_value(read_twin_device_at_tick(&device, tick).channel[0], 2.0 * x, 1e-12);
        device.ops->write(device.self, out, 0);
    }
    device.ops->close(device.self);
}

/* Coulomb friction: the mass slides v^2 / 2 a, then sticks under a weaker force. */
static void rendered_friction_is_coulomb_friction(void **state)
{
    (void)state;
    const double push[] = {0.0, 4.0, 0.1, 1.4};
    const struct tact_device_setting s[] = {
        SETTING("axes", "x"), SETTING("mass", "0.2"), SETTING("effects", "friction"),
        SETTING("effect_friction", "3"), NUMBERS("push", 2, 2, push)};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double half = 0.5; /* 1.5 N */
    double last = 0.0;
    for (uint64_t tick = 0; tick <= 4000; tick++) {
        const double t = (double)tick * period, later = t - 0.1;
        const double x = read_twin_device_at_tick(&device, tick).channel[0];
        device.ops->write(device.self, &half, 0);
        if (tick <= 100) {
            expect_close_value(x, 0.5 * 12.5 * t * t, 1e-12);
        } else if (tick < 2600) {
            expect_close_value(x, 0.0625 + 1.25 * later - 0.25 * later * later, 1e-11);
        } else if (tick > 2601) {
            assert_true(x == last && simulated_axis_state(&device, 0).velocity == 0.0);
        }
        last = x;
    }
    expect_close_value(last, 0.0625 + 1.5625, 1e-6);
    device.ops->close(device.self);
}

/* A vibration acts on a free mass as the sum of forces constant over each tick; unplugged, the
 * mass continues at its velocity. */
static void rendered_vibration_is_exact(void **state)
{
    (void)state;
    const double lost[] = {1.0, 1.2};
    const struct tact_device_setting s[] = {
        SETTING("axes", "x"),        SETTING("mass", "0.1"),
        SETTING("effects", "weak"),  SETTING("effect_vibration", "2"),
        NUMBERS("lost", 1, 2, lost), NUMBERS("frequencies", 1, 3, ((double[]){60, 40, 90}))};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const double out = -0.5; /* 1 N */
    const double w = 2.0 * 3.14159265358979323846 * 90.0 * period;
    double last = 0.0;
    for (uint64_t tick = 0; tick < 1200; tick++) {
        read_twin_device_at_tick(&device, tick);
        device.ops->write(device.self, &out, 0);
        const double v = simulated_axis_state(&device, 0).velocity;
        if (tick <= 1000) {
            expect_close_value(v,
                               period / 0.1 * (cos(0.5 * w) - cos(((double)tick - 0.5) * w)) /
                                   (2.0 * sin(0.5 * w)),
                               1e-11);
        } else {
            assert_true(v == last);
        }
        last = v;
    }
    device.ops->close(device.self);
}

static void a_twin_describes_its_channels(void **state)
{
    (void)state;
    const struct tact_device_setting s[] = {SETTING("axes", "angle lift"),
                                            SETTING("units", "rad m"),
                                            SETTING("mass", "1"),
                                            SETTING("forces", "- motor"),
                                            SETTING("unfelt", "strong"),
                                            SETTING("buttons", "pedal"),
                                            NUMBERS("start", 1, 2, ((const double[]){0.25, -0.5}))};
    struct tact_device device = open_twin(s, ELEMENT_COUNT(s));
    const struct tact_device_info *info = &device.info;
    struct tact_twin_state none;
    assert_int_equal(info->input_count, 3);
    assert_int_equal(info->output_count, 2);
    assert_string_equal(info->input[0].name, "angle");
    assert_string_equal(info->input[0].unit, "rad");
    assert_string_equal(info->input[1].unit, "m");
    assert_string_equal(info->input[2].name, "pedal");
    assert_string_equal(info->output[0].name, "motor");
    assert_string_equal(info->output[1].name, "strong");
    assert_true(info->input[0].rest == 0.25 && info->input[1].rest == -0.5);
    assert_true(read_twin_device_at_tick(&device, 0).channel[1] == -0.5);
    assert_int_equal(tact_twin_read_state(&device, 2, &none), -22);
    device.ops->close(device.self);
}

/* Expects that a twin of one axis with these further settings cannot be opened. */
static void expect_twin_refused(const struct tact_device_setting *more, int count, const char *key,
                                const char *word)
{
    struct device_config c;
    struct tact_device device = {0};
    struct tact_device_setting s[8] = {SETTING("axes", "x"), SETTING("mass", "1")};
    for (int i = 0; i < count; i++) {
        s[2 + i] = more[i];
    }
    device_config_init(&c, s, 2 + count);
    assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), -22);
    assert_string_equal(c.err.key, key);
    assert_string_equal(c.err.file, "scene.yaml");
    if (!strstr(c.err.text, word)) {
        fail_msg("'%s' lacks '%s'", c.err.text, word);
    }
    assert_null(device.self);
}

static void bad_twin_settings_are_refused(void **state)
{
    (void)state;
    const double row_of_two_numbers[] = {1.0, 2.0}, descending_row[] = {1.0, -1.0},
                 four[] = {0.0, 1.0, 0.0, 2.0};
    const double push_row_not_finite[] = {(double)NAN, 1.0}, script[] = {0.0, 0.0, 0.0, 0.0};
    const struct {
        struct tact_device_setting s[3];
        int count;
        const char *key, *word;
    } bad[] = {
        {{SETTING("dampign", "1")}, 1, "dampign", "unknown key"},
        {{SETTING("damping", "-1")}, 1, "damping", "of 0 or more"},
        {{NUMBERS("damping", 1, 2, row_of_two_numbers)}, 1, "damping", "1 axes, not 2"},
        {{SETTING("stiffness", "soft")}, 1, "stiffness", "a number"},
        {{SETTING("stiffness", "1e13")}, 1, "mass", "too light"},
        {{SETTING("force_limit", "0")}, 1, "force_limit", "above 0"},
        {{SETTING("delay", "0.0015")}, 1, "delay", "a multiple of the period"},
        {{SETTING("delay", "-0.001")}, 1, "delay", "a multiple of the period"},
        {{SETTING("force_delay", "60")}, 1, "force_delay", "a multiple of the period"},
        {{SETTING("bits", "8")}, 1, "bits", "range"},
        {{SETTING("bits", "8.5"), NUMBERS("range", 1, 2, row_of_two_numbers)},
         2,
         "bits",
         "1 to 32"},
        {{SETTING("bits", "8"), NUMBERS("range", 1, 2, row_of_two_numbers), SETTING("step", "1")},
         3,
         "bits",
         "step"},
        {{NUMBERS("range", 1, 2, descending_row)}, 1, "range", "not below"},
        {{NUMBERS("stops", 2, 2, four)}, 1, "stops", "one row"},
        {{SETTING("stops", "1")}, 1, "stops", "rows of 2"},
        {{SETTING("forces", "a b")}, 1, "forces", "at most one name"},
        {{SETTING("forces", "f"), SETTING("unfelt", "f")}, 2, "unfelt", "twice"},
        {{SETTING("effects", "wobble")}, 1, "effects", "expected one of spring"},
        {{SETTING("effects", "damper"), SETTING("effect_friction", "1")},
         2,
         "effect_friction",
         "does not list"},
        {{SETTING("effects", "damper"), SETTING("effect_damper", "1e10")}, 2, "mass", "too light"},
        {{SETTING("effects", "weak"), SETTING("frequencies", "60")}, 2, "frequencies", "three"},
        {{SETTING("buttons", "x")}, 1, "buttons", "twice"},
        {{SETTING("buttons", "b=deadman")}, 1, "buttons", "no channel"},
        {{NUMBERS("push", 2, 2, four)}, 1, "push", "row 2: its time must be later"},
        {{NUMBERS("push", 1, 2, push_row_not_finite)}, 1, "push", "not finite"},
        {{SETTING("lost", "1")}, 1, "lost", "rows of 2"},
        {{SETTING("hand", "robot")}, 1, "hand", "one of none, trajectory, operator"},
        {{SETTING("hand_file", "a.csv")}, 1, "hand_file", "this key is of the person's hand"},
        {{SETTING("hand", "operator")}, 1, "hand", "hand_stiffness"},
        {{SETTING("hand", "operator"), SETTING("hand_stiffness", "1"), SETTING("hand_scirpt", "1")},
         3,
         "hand_scirpt",
         "unknown key"},
        {{NUMBERS("hand_script", 1, 4, script), SETTING("hand", "operator"),
          SETTING("hand_stiffness", "-1")},
         3,
         "hand_stiffness",
         "of 0 or more"},
    };
    for (int i = 0; i < ELEMENT_COUNT(bad); i++) {
        expect_twin_refused(bad[i].s, bad[i].count, bad[i].key, bad[i].word);
    }
    struct device_config c;
    struct tact_device device = {0};
    const struct tact_device_setting settings_without_mass[] = {SETTING("axes", "x")};
    const struct tact_device_setting none[] = {SETTING("mass", "1")};
    device_config_init(&c, settings_without_mass, 1);
    assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), -22);
    assert_non_null(strstr(c.err.text, "mass"));
    device_config_init(&c, none, 1);
    assert_int_equal(tact_twin_type.open(&c.config, &device, &c.err), -22);
    assert_non_null(strstr(c.err.text, "axes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_twin_mass_accelerates_exactly),
        cmocka_unit_test(twin_step_response_is_exact),
        cmocka_unit_test(an_undamped_twin_keeps_its_energy),
        cmocka_unit_test(moving_hand_drives_the_twin_exactly),
        cmocka_unit_test(twin_readings_are_quantised),
        cmocka_unit_test(twin_readings_have_their_exact_delay),
        cmocka_unit_test(twin_forces_have_their_exact_delay),
        cmocka_unit_test(twin_motor_saturates),
        cmocka_unit_test(twin_stops_at_its_end_stops),
        cmocka_unit_test(twin_is_unplugged_and_replugged),
        cmocka_unit_test(twin_simulates_skipped_ticks),
        cmocka_unit_test(rendered_spring_and_damper_are_exact),
        cmocka_unit_test(rendered_friction_is_coulomb_friction),
        cmocka_unit_test(rendered_vibration_is_exact),
        cmocka_unit_test(a_twin_describes_its_channels),
        cmocka_unit_test(bad_twin_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
