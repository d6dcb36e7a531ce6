/*
 * A base whose coupling has a stiffness and a damping along each axis of the device of its tool,
 * and which is tied to another site too: displacement by a force of the other site, balance of the
 * forces in steady motion, continuity to a coupling that is equal along all axes, and replays.
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
#include "contact/vec.h"
#include "support/led_tool.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/turn_energy.h"

enum { AXES = 6, TICKS = 5000, HELD = 0, ROUND_TRIP, WAVE, POSITION, FORCE };

static const double period = 1e-3; /* [s] */

/* Number of the channel of an axis, inputs and outputs alike. */
static int channel_of_axis(int kind, int axis)
{
    return 2 + 3 * axis + kind - WAVE;
}

/* What arrives from the other site: positions [m, rad] and forces [N, N m]. */
static double received_position[AXES], received_force[AXES];

static void read_simulated_site(void *self, uint64_t tick, double t, int64_t now,
                                struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[HELD] = 2.0;
    in->channel[ROUND_TRIP] = 0.0;
    for (int i = 0; i < AXES; i++) {
        in->channel[channel_of_axis(WAVE, i)] = 0.0;
        in->channel[channel_of_axis(POSITION, i)] = received_position[i];
        in->channel[channel_of_axis(FORCE, i)] = received_force[i];
    }
}

static void write_simulated_site(void *self, const double *out, int64_t now)
{
    (void)self, (void)out, (void)now;
}

static int open_simulated_site(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_simulated_site, write_simulated_site,
                                               close_test_probe_device};
    static const char *const names[] = {"wave", "position", "force"};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = out->info.output_count = 2 + 3 * AXES;
    for (int i = 0; i < out->info.input_count; i++) {
        struct tact_device_channel *in = &out->info.input[i];
        if (i < 2) {
            snprintf(in->name, sizeof in->name, "%s", i ? "round_trip" : "held");
        } else {
            snprintf(in->name, sizeof in->name, "%s_%d", names[(i - 2) % 3], (i - 2) / 3);
        }
        out->info.output[i] = *in;
    }
    return 0;
}

static const struct tact_device_type simulated_site_device_type = {
    TACT_ABI(struct tact_device_type), "site", "of a test", open_simulated_site, NULL};

static const char text[] =
    "name: ties\n"
    "hands:\n"
    "  - name: tip\n"
    "    weightless: true\n"
    "    base:\n"
    "      mass: 0.05\n"
    "      inertia: [1e-5, 2e-5, 3e-5, 0, 0, 0]\n"
    "      coupling: {axis_stiffness: [%.17g, %.17g, %.17g], axis_damping: [%.17g, %.17g, %.17g]}\n"
    "      turn_coupling: {axis_stiffness: [%.17g, %.17g, %.17g], "
    "axis_damping: [%.17g, %.17g, %.17g]}\n"
    "devices: [{name: probe, type: probe}, {name: site, type: site}]\n"
    "tools:\n"
    "  - {hand: tip, device: probe, position: [x, y, z], attitude: [rx, ry, rz],\n"
    "     force: [fx, fy, fz], torque: [tx, ty, tz], limit: 1e4, rate: 1e9, turn_limit: 10,\n"
    "     turn_rate: 1e6, quat_wxyz: [%.17g, %.17g, %.17g, %.17g]}\n"
    "remotes:\n"
    "  - {joint: tip.base_z, device: site, axis: 2, mode: %s, %s}\n" /* in any order */
    "  - {joint: tip.base_x, device: site, axis: 0, mode: %s, %s}\n"
    "  - {joint: tip.base_y, device: site, axis: 1, mode: %s, %s}\n"
    "  - {joint: tip.base_rx, device: site, axis: 3, mode: position_force, damping: 0.05}\n"
    "  - {joint: tip.base_ry, device: site, axis: 4, mode: position_force, damping: 0.05}\n"
    "  - {joint: tip.base_rz, device: site, axis: 5, mode: position_force, damping: 0.05}\n";

/* Stiffnesses k and dampings d of the base's couplings along the axes of the device, the columns of
 * a; mode and numbers of the position's tie. */
struct coupled_base {
    double k[AXES], d[AXES], quat[4], a[9];
    const char *mode, *numbers;
};

static void open_session_of_base(const struct coupled_base *b, const char *record,
                                 struct tact_scene **scene, struct tact_session **session)
{
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &simulated_site_device_type};
    struct tact_session_options options = tact_session_options_default();
    char out[4096];
    tact_number_print(out, sizeof out, text, b->k[0], b->k[1], b->k[2], b->d[0], b->d[1], b->d[2],
                      b->k[3], b->k[4], b->k[5], b->d[3], b->d[4], b->d[5], b->quat[0], b->quat[1],
                      b->quat[2], b->quat[3], b->mode, b->numbers, b->mode, b->numbers, b->mode,
                      b->numbers);
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    options.record = record;
    options.replace = 1;
    probe = (struct probe){.state = TACT_DEVICE_OK};
    memset(received_position, 0, sizeof received_position);
    memset(received_force, 0, sizeof received_force);
    open_session_of_scene_text(out, &options, scene, session);
    assert_int_equal(tact_session_begin(*session), 0);
}

static void make_random_base(struct coupled_base *b, const char *mode, const char *numbers)
{
    for (int i = 0; i < AXES; i++) {
        b->k[i] = pow(10.0, uniform(2.5, 3.5)) * (i < 3 ? 1.0 : 1e-3);
        b->d[i] = uniform(5.0, 20.0) * (i < 3 ? 1.0 : 1e-3);
        b->quat[i % 4] = uniform(-1.0, 1.0);
    }
    tact_quat_normalize(b->quat);
    tact_quat_to_m3(b->a, b->quat);
    b->mode = mode;
    b->numbers = numbers;
}

/* A diag(numbers) A^T x, or with `inverse` A diag(1 / numbers) A^T x. */
static void multiply_vector_along_base_axes(double out[3], const struct coupled_base *b,
                                            const double *numbers, const double x[3], int inverse)
{
    double along[3];
    tact_m3_tmul_v3(along, b->a, x);
    for (int i = 0; i < 3; i++) {
        along[i] = inverse ? along[i] / numbers[i] : along[i] * numbers[i];
    }
    tact_m3_mul_v3(out, b->a, along);
}

static struct tact_hand_state hand_state_of_base(struct tact_session *session)
{
    return tact_hand_state(tact_world_hand(tact_session_world(session), 0));
}

/* The device stands still, and the other site pushes and turns: the base is displaced by K^-1 F,
 * and turns so far that the gradient of its spring's energy is M; the person feels F, and the
 * gradient by the attitude of the device, along the axes of the device. */
static void force_of_the_other_site_displaces_along_all_axes(void **state)
{
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        struct coupled_base b;
        struct tact_scene *scene;
        struct tact_session *session;
        double way[3], felt_wrench[AXES], off = 0.0, off_felt = 0.0;
        make_random_base(&b, "position_force", "damping: 20");
        open_session_of_base(&b, NULL, &scene, &session);
        for (int i = 0; i < AXES; i++) {
            received_force[i] = uniform(-1.0, 1.0) * (i < 3 ? 5.0 : 0.2);
        }
        step_led_tool_session(session, TICKS);
        const double *q = hand_state_of_base(session).q, zero_attitude[3] = {0.0};
        double energy_gradient_by_base[3], energy_gradient_by_target[3];
        multiply_vector_along_base_axes(way, &b, b.k, received_force, 1);
        tact_m3_tmul_v3(felt_wrench, b.a, received_force);
        attitude_spring_gradients(energy_gradient_by_base, energy_gradient_by_target, b.k + 3, b.a,
                                  zero_attitude, q + 3);
        tact_m3_tmul_v3(felt_wrench + 3, b.a, energy_gradient_by_target);
        for (int i = 0; i < 3; i++) {
            off = fmax(off, fabs(q[i] + way[i]));
            off = fmax(off, fabs(energy_gradient_by_base[i] + received_force[3 + i]));
        }
        for (int i = 0; i < AXES; i++) {
            off_felt = fmax(off_felt, fabs(probe.out[i] + felt_wrench[i]));
        }
        print_message(
            "%.1f mm and %.3f rad away, off by %.1e m or N m; feels %.3f N, off by %.1e\n",
            1e3 * tact_v3_norm(q), tact_v3_norm(q + 3), off, tact_v3_norm(probe.out), off_felt);
        assert_true(off < 1e-8 && off_felt < 1e-6);
        end_led_tool_session(session, scene);
    }
}

/* Device and other site move at speeds of their own: in steady motion the force of the coupling, K
 * (x - q) + D (u - v), and that of the tie, k (y - q) + d (w - v), are in balance, and the person
 * feels the former. */
static void forces_of_both_sites_balance_in_steady_motion(void **state)
{
    (void)state;
    static const double tie_stiffness = 700.0, tie_damping = 15.0; /* [N/m], [N s/m] */
    for (int trial = 0; trial < 3; trial++) {
        struct coupled_base b;
        struct tact_scene *scene;
        struct tact_session *session;
        double u[3], w[3], along[3], spring[3], damper[3], error[3], rate[3], off = 0.0;
        make_random_base(&b, "position_position", "stiffness: 700, damping: 15");
        open_session_of_base(&b, NULL, &scene, &session);
        for (int i = 0; i < 3; i++) {
            u[i] = uniform(-0.05, 0.05);
            w[i] = uniform(-0.05, 0.05);
        }
        tact_m3_tmul_v3(along, b.a, u);
        for (int tick = 0; tick <= TICKS; tick++) {
            for (int i = 0; i < 3; i++) {
                probe.in[X + i] = along[i] * tick * period;
                received_position[i] = w[i] * tick * period;
            }
            step_led_tool_session(session, 1);
        }
        const struct tact_hand_state base = hand_state_of_base(session);
        for (int i = 0; i < 3; i++) {
            error[i] = u[i] * TICKS * period - base.q[i];
            rate[i] = u[i] - base.v[i];
        }
        multiply_vector_along_base_axes(spring, &b, b.k, error, 0);
        multiply_vector_along_base_axes(damper, &b, b.d, rate, 0);
        double felt_wrench[3];
        tact_m3_mul_v3(felt_wrench, b.a, probe.out);
        for (int i = 0; i < 3; i++) {
            const double tie = tie_stiffness * (w[i] * TICKS * period - base.q[i]) +
                               tie_damping * (w[i] - base.v[i]);
            off = fmax(off, fabs(spring[i] + damper[i] + tie));
            off = fmax(off, fabs(felt_wrench[i] + spring[i] + damper[i]));
        }
        print_message("%.2f N, dampers %.3f N: out of balance by %.1e N\n", tact_v3_norm(spring),
                      tact_v3_norm(damper), off);
        assert_true(tact_v3_norm(spring) > 1.0 && tact_v3_norm(damper) > 0.01 && off < 1e-8);
        end_led_tool_session(session, scene);
    }
}

/* Records the motion of a base, every tick, in a session in which its device and the other site
 * move and turn. */
static void record_tied_base_motion(const struct coupled_base *b, const char *record,
                                    double (*q)[AXES])
{
    struct tact_scene *scene;
    struct tact_session *session;
    open_session_of_base(b, record, &scene, &session);
    for (int tick = 0; tick < 1000; tick++) {
        const double t = tick * period;
        for (int i = 0; i < 3; i++) {
            probe.in[X + i] = 0.02 * sin((3.0 + i) * t);
            probe.in[RX + i] = 0.6 * sin((2.0 + i) * t);
            received_position[i] = 0.02 * sin((4.0 - i) * t);
            received_force[i] = 2.0 * sin((5.0 + i) * t);
            received_force[3 + i] = 0.05 * cos((7.0 - i) * t);
        }
        step_led_tool_session(session, 1);
        memcpy(q[tick], hand_state_of_base(session).q, sizeof *q);
    }
    end_led_tool_session(session, scene);
}

/* Stiffnesses and dampings that differ from each other by a relative 1e-10 move a base as equal
 * ones do, whose ties are computed axis by axis of the world: also while it turns. */
static void nearly_equal_stiffnesses_move_as_equal_ones(void **state)
{
    (void)state;
    static const char *const tie_settings[][2] = {
        {"position_position", "stiffness: 700, damping: 15"}, {"position_force", "damping: 15"}};
    static double equal_stiffness_motion[1000][AXES], nearly_equal_stiffness_motion[1000][AXES];
    for (int tie = 0; tie < 2; tie++) {
        struct coupled_base b;
        double off = 0.0, most = 0.0;
        make_random_base(&b, tie_settings[tie][0], tie_settings[tie][1]);
        for (int i = 0; i < AXES; i++) {
            b.k[i] = i < 3 ? 1000.0 : 1.0;
            b.d[i] = i < 3 ? 10.0 : 0.02;
        }
        record_tied_base_motion(&b, NULL, equal_stiffness_motion);
        for (int i = 0; i < AXES; i++) {
            b.k[i] *= 1.0 + 1e-10 * (i % 3);
            b.d[i] *= 1.0 - 1e-10 * (i % 3);
        }
        record_tied_base_motion(&b, NULL, nearly_equal_stiffness_motion);
        for (int k = 0; k < 1000; k++) {
            for (int i = 0; i < AXES; i++) {
                off = fmax(
                    off, fabs(nearly_equal_stiffness_motion[k][i] - equal_stiffness_motion[k][i]));
                most = fmax(most, fabs(equal_stiffness_motion[k][i]));
            }
        }
        print_message("%s: %.1e m or rad apart of %.2f\n", tie_settings[tie][0], off, most);
        assert_true(most > 0.3 && off < 1e-9);
    }
}

static void session_with_ties_of_unequal_axes_is_replayed(void **state)
{
    (void)state;
    static double q[1000][AXES];
    struct coupled_base b;
    char path[] = "/tmp/tact_axes_XXXXXX";
    close(mkstemp(path));
    make_random_base(&b, "position_position", "stiffness: 700, damping: 15");
    record_tied_base_motion(&b, path, q);
    check_replays_of_log(path, 1000, 499, 1);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_of_the_other_site_displaces_along_all_axes),
        cmocka_unit_test(forces_of_both_sites_balance_in_steady_motion),
        cmocka_unit_test(nearly_equal_stiffnesses_move_as_equal_ones),
        cmocka_unit_test(session_with_ties_of_unequal_axes_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
