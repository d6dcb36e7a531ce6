/*
 * The ports of drives: devices whose positions set the target of a joint with a drive and that
 * receive its reaction. Their energy against that of what was sent and read, out of the log; which
 * reactions have none; and logs of earlier versions, which have no fields for it.
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
#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"
#include "rt/session/scene_log.h"
#include "support/coupled_press.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/rewrite.h"

static void write_file(const char *name, const char *content, char path[64])
{
    snprintf(path, 64, "%s/%s", press_folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

/* Energy that the device of a press has absorbed: minus the integral of force times speed, of a
 * force that is constant from `delay` ticks after it was sent until the next one acts, and of even
 * motion within a tick. */
static double energy_absorbed_by_drive_port(const struct press_log *t, double delay, double *least)
{
    double energy = 0.0;
    *least = 0.0;
    for (uint64_t k = 1; k < t->ticks; k++) {
        const double moved = value_in_press_log(t, k, X) - value_in_press_log(t, k - 1, X);
        const double first = floor((double)k - 1.0 - delay), /* acts at the start of the tick */
            until = first + 1.0 + delay - ((double)k - 1.0);
        const double older_delayed_device_force =
            first < 0.0 ? 0.0 : value_in_press_log(t, (uint64_t)first, FORCE);
        const double newer_delayed_device_force =
            first < -1.0 ? 0.0 : value_in_press_log(t, (uint64_t)(first + 1.0), FORCE);
        energy -= moved *
                  (until * older_delayed_device_force + (1.0 - until) * newer_delayed_device_force);
        *least = fmin(*least, energy);
    }
    return energy;
}

/* At a wall, a drive of 2000 N/m and 20 N s/m whose damper acts against the base: with each delay
 * of the device's calibration the motion has the same bits, and only the energy differs. The
 * calibration states ten times the damping of the twin, which renders this drive at each delay. */
static void port_energy_is_that_of_the_acting_force(void **state)
{
    (void)state;
    static const double force_delays_ticks[] = {0.0, 0.5, 1.0, 2.3};
    double final_positions[4];
    for (int i = 0; i < 4; i++) {
        char calibration[128], device[128], path[64];
        double least;
        tact_number_print(calibration, sizeof calibration, "haptic:\n  x: [0.1, 10, %g, 0, 0, 0]\n",
                          1e-3 * force_delays_ticks[i]);
        write_file("x.yaml", calibration, path);
        snprintf(device, sizeof device, "    calibration: %s\n", path);
        const struct hand_press_scenario p = {pressing_hands[0], "%s",       2000, 20, device, 1.5,
                                              PRESS_TOOL_MASS,   "press.csv"};
        struct press_log t = simulate_coupled_press(&p);
        assert_int_equal(remove(path), 0);
        const double energy = energy_absorbed_by_drive_port(&t, force_delays_ticks[i], &least);
        final_positions[i] = value_in_press_log(&t, t.ticks - 1, X);
        print_message("%g ticks: absorbed %.6f mJ, at its least %.6f; in the log off by %.1e, "
                      "%.1e J\n",
                      force_delays_ticks[i], 1e3 * energy, 1e3 * least,
                      value_in_press_log(&t, t.ticks - 1, ENERGY) - energy,
                      value_in_press_log(&t, t.ticks - 1, LEAST) - least);
        assert_true(fabs(energy) > 1e-3 && least < -1e-3);
        assert_true(fabs(value_in_press_log(&t, t.ticks - 1, ENERGY) - energy) < 1e-14);
        assert_true(fabs(value_in_press_log(&t, t.ticks - 1, LEAST) - least) < 1e-14);
        assert_true(final_positions[i] == final_positions[0]);
        free(t.values);
        snprintf(path, sizeof path, "%s/press.mcap", press_folder);
        check_replays_of_log(path, 1500, 333, 1);
    }
}

enum { WALKER_TICKS = 600, DEVICES = 2 };

struct random_walk_device {
    int is_second_random_walk_device;
    double x;
};

/* A device that is moved at random, late or lost for some ticks, or returns no number. */
static void read_random_walk_device(void *self, uint64_t tick, double t, int64_t now,
                                    struct tact_device_input *in)
{
    struct random_walk_device *w = self;
    const double event = uniform(0.0, 1.0);
    (void)tick, (void)t;
    in->stamp_ns = now;
    in->state = event < 0.03 ? TACT_DEVICE_LOST : event < 0.15 ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
    in->channel[3] = !w->is_second_random_walk_device || uniform(0.0, 1.0) < 0.95;
    if (in->state != TACT_DEVICE_STALE) {
        w->x += uniform(-2e-3, 2e-3);
        in->channel[0] = event > 0.99 ? NAN : w->x;
    }
    in->channel[1] = in->channel[2] = 1e-3 * w->x;
}

static void write_random_walk_device(void *self, const double *out, int64_t now)
{
    (void)self, (void)out, (void)now;
}

static int open_random_walk_device(const struct tact_device_config *config, struct tact_device *out,
                                   struct tact_error *err)
{
    static const struct tact_device_ops ops = {
        TACT_ABI(struct tact_device_ops), read_random_walk_device, write_random_walk_device, free};
    static const char *const names[] = {"x", "v", "f", "deadman"}, *const units[] = {"m", "m/s",
                                                                                     "N", "1"};
    struct random_walk_device *w = calloc(1, sizeof *w);
    (void)err;
    assert_non_null(w);
    w->is_second_random_walk_device = config->name[0] == 'b';
    out->self = w;
    out->ops = &ops;
    out->info.input_count = 4;
    out->info.output_count = 2;
    for (int i = 0; i < 4; i++) {
        snprintf(out->info.input[i].name, sizeof out->info.input[i].name, "%s", names[i]);
        snprintf(out->info.input[i].unit, sizeof out->info.input[i].unit, "%s", units[i]);
    }
    snprintf(out->info.output[0].name, sizeof out->info.output[0].name, "f");
    snprintf(out->info.output[1].name, sizeof out->info.output[1].name, "rate");
    snprintf(out->info.output[1].unit, sizeof out->info.output[1].unit, "m/s");
    return 0;
}

static struct tact_session_options session_options_with_random_walk_devices(void)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "walker",
                                                 "of a test", open_random_walk_device, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = WALKER_TICKS;
    return options;
}

/* A joint in free space, and its two devices. */
static const char joint_with_random_walk_devices_yaml[] =
    "name: walkers\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 0.05\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], stiffness: 500, damping: 2}\n"
    "devices:\n"
    "  - {name: a, type: walker%s}\n"
    "  - {name: b, type: walker}\n";

/* Two devices in two hands, one of which moves the joint the other way and twice as far, beyond
 * its clamp, and is sent half of the force, limited, which acts 2.3 ticks late. */
static const char two_hands_yaml[] =
    "inputs:\n"
    "  - {from: a.x, to: hand.tip, scale: -2, lower: -0.01, upper: 0.01}\n"
    "  - {from: b.x, to: hand.tip, offset: 0.01}\n"
    "outputs:\n"
    "  - {from: hand.tip, to: a.f, scale: 0.5, limit: 2, rate: 1e4}\n"
    "  - {from: hand.tip, to: b.f, limit: 100, rate: 1e9}\n"
    "deadman: b.deadman\n";

static const double input_scale[DEVICES] = {-2.0, 1.0}, output_scale[DEVICES] = {0.5, 1.0};

/* Records a session of two hands; path: of its log. */
static void record_two_hands(char path[64])
{
    char scene[4096], calibration[64], key[128];
    struct tact_session_options options = session_options_with_random_walk_devices();
    struct tact_session_report report;
    write_file("x.yaml", "haptic:\n  x: [0.1, 10, 0.0023, 0, 0, 0]\n", calibration);
    snprintf(key, sizeof key, ", calibration: %s", calibration);
    snprintf(scene, sizeof scene, joint_with_random_walk_devices_yaml, key);
    strcat(scene, two_hands_yaml);
    snprintf(path, 64, "%s/press.mcap", press_folder);
    options.record = path;
    options.replace = 1;
    run_session_of_scene_text(scene, &options, &report);
    assert_int_equal(report.faults, 0);
    assert_int_equal(remove(calibration), 0);
}

/* Energy of each device of two hands out of the log's readings and outputs: the force that acts
 * when the device is read, times the joint's motion by it; none where it is lost or no number.
 * most: the largest magnitude of each. ports: energy and its least in the last record. */
static void compute_port_energies(struct tact_log *log, double energy[DEVICES],
                                  double least[DEVICES], double most[DEVICES],
                                  double ports[DEVICES][2])
{
    static double force[WALKER_TICKS][DEVICES];
    static const char *const inputs[] = {"a_input", "b_input"}, *const fields[] = {
                                                                    "hand_tip_a_drive_port",
                                                                    "hand_tip_b_drive_port"};
    const long sent = tact_log_field(log, "outputs_sent", NULL);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    double last[DEVICES] = {NAN, NAN};
    for (int i = 0; i < DEVICES; i++) {
        energy[i] = least[i] = most[i] = 0.0;
    }
    for (int k = 0; tact_log_next(log, record) > 0; k++) {
        for (int i = 0; i < DEVICES; i++) {
            const double *in = record->values + tact_log_field(log, inputs[i], NULL);
            const double x = in[0] == TACT_DEVICE_LOST ? NAN : in[2];
            const double force_on_device = i == 0 ? 0.7 * (k >= 3 ? force[k - 3][i] : 0.0) +
                                                        0.3 * (k >= 4 ? force[k - 4][i] : 0.0)
                                                  : (k >= 1 ? force[k - 1][i] : 0.0);
            const double moved = input_scale[i] * (x - last[i]);
            energy[i] -= isnan(moved) ? 0.0 : force_on_device * moved;
            least[i] = fmin(least[i], energy[i]);
            most[i] = fmax(most[i], fabs(energy[i]));
            last[i] = x;
            force[k][i] = record->values[sent + i] / output_scale[i];
            memcpy(ports[i], record->values + tact_log_field(log, fields[i], NULL) + 3,
                   sizeof ports[i]);
        }
    }
    free(record);
}

static void each_of_two_hands_has_the_energy_of_its_ports(void **state)
{
    (void)state;
    char path[64];
    double energy[DEVICES], least[DEVICES], most[DEVICES], ports[DEVICES][2];
    struct tact_log *log;
    struct tact_scene_log view;
    record_two_hands(path);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    compute_port_energies(log, energy, least, most, ports);
    const struct tact_messages no_messages = {NULL, NULL};
    assert_int_equal(tact_scene_log_open(log, no_messages, &view, NULL), 0);
    assert_int_equal(view.port_count, 2);
    assert_string_equal(view.ports[0].name, "hand.tip a");
    assert_string_equal(view.ports[1].name, "hand.tip b");
    for (int i = 0; i < DEVICES; i++) {
        print_message("%s: %.6f mJ, at its least %.6f, off by %.1e, %.1e J\n", view.ports[i].name,
                      energy[i] * 1e3, least[i] * 1e3, ports[i][0] - energy[i],
                      ports[i][1] - least[i]);
        assert_true(most[i] > 1e-5);
        assert_true(fabs(ports[i][0] - energy[i]) < 1e-14);
        assert_true(fabs(ports[i][1] - least[i]) < 1e-14);
    }
    tact_scene_log_close(&view);
    tact_log_close(log);
    check_replays_of_log(path, WALKER_TICKS, 83, 1);
}

/* A rate and a force are no positions; nor has a device a port that moves another joint, or none,
 * or is sent another joint's reaction, or none. */
static void reactions_without_a_position_have_no_port(void **state)
{
    (void)state;
    static const struct {
        const char *input, *output;
        int ports;
    } cases[] = {{"{from: a.x, to: hand.tip}", "to: a.f", 1},
                 {"{from: a.x, to: hand.tip}, {from: a.v, to: hand.tip}", "to: a.f", 1},
                 {"{from: a.v, to: hand.tip}", "to: a.f", 0},
                 {"{from: a.f, to: hand.tip}", "to: a.f", 0},
                 {"{from: b.x, to: hand.tip}", "to: a.f", 0},
                 {"{from: a.x, to: hand.tip, scale: 0}", "to: a.f", 0},
                 {"{from: a.x, to: hand.tip}", "to: a.f, scale: 0", 0},
                 {"{from: a.x, to: hand.tip}", "to: a.rate", 0},
                 {"{from: a.x, to: hand.tip}", "to: a.f, what: drive", 0},
                 {"", "to: a.f", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        const struct tact_session_options options = session_options_with_random_walk_devices();
        struct tact_scene *scene;
        struct tact_session *session;
        const int length = snprintf(text, sizeof text, joint_with_random_walk_devices_yaml, "");
        snprintf(text + length, sizeof text - (size_t)length,
                 "inputs: [%s]\noutputs: [{from: hand.tip, %s, limit: 1, rate: 1}]\n",
                 cases[i].input, cases[i].output);
        open_session_of_scene_text(text, &options, &scene, &session);
        print_message("%s, %s: %d ports\n", cases[i].input, cases[i].output,
                      tact_session_port_count(session));
        assert_int_equal(tact_session_port_count(session), cases[i].ports);
        if (cases[i].ports) {
            assert_string_equal(tact_session_port(session, 0).name, "hand.tip");
        }
        tact_session_destroy(session);
        tact_scene_free(scene);
    }
}

static int is_drive_port_field(const struct tact_field *field)
{
    return strstr(field->name, "_drive_port") != NULL;
}

/* Layout of a log of results version 61: without the fields of the ports of drives. */
static void make_layout_before_drive_ports(const struct tact_layout *from, struct tact_layout *to)
{
    *to = (struct tact_layout){.size = 0};
    for (uint32_t i = 0; i < from->field_count; i++) {
        const struct tact_field *f = &from->fields[i];
        assert_true(is_drive_port_field(f) ||
                    tact_layout_add(to, f->kind, f->name, f->unit, f->count) >= 0);
    }
    assert_int_equal(tact_layout_add_list(to, 1), 0);
    assert_int_equal(tact_layout_add_fields(to->element, from->element), 0);
}

/* Copies a log without contacts as one of results version 61. */
static void copy_as_log_of_version_61(const char *path, const char *copied_log_path)
{
    static const struct tact_log_fact version = {"results_version", "61"};
    const struct tact_messages no_messages = {NULL, NULL};
    const struct tact_recorder_options options = tact_recorder_options_default();
    struct tact_log *log;
    struct log_rewrite rewrite;
    struct tact_layout layout;
    struct tact_recorder *out;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_int_equal(open_recorder_of_log_copy(&rewrite, log), 0);
    make_layout_before_drive_ports(&rewrite.layout, &layout);
    struct tact_recorder_content content = recorder_content_of_log_copy(&rewrite);
    content.layout = &layout;
    content.facts = &version;
    content.fact_count = 1;
    content.attachment_count = tact_log_attachment_count(log);
    content.attachments = tact_log_attachment_at(log, 0);
    assert_int_equal(
        tact_recorder_open(copied_log_path, &options, &content, no_messages, &out, NULL), 0);
    while (tact_log_next(log, record) > 0) {
        tact_recorder_wait_room(out);
        struct tact_record *slot = tact_recorder_begin(out);
        assert_non_null(slot);
        memcpy(slot, record, sizeof *slot);
        for (uint32_t i = 0, at = 0; i < rewrite.layout.field_count; i++) {
            const struct tact_field *f = &rewrite.layout.fields[i];
            if (!is_drive_port_field(f)) {
                memcpy(slot->values + at, record->values + f->offset, f->count * sizeof(double));
                at += f->count;
            }
        }
        slot->values[layout.size] = 0.0; /* contacts */
        tact_recorder_commit(out);
    }
    assert_int_equal(tact_recorder_close(out, NULL), 0);
    free_log_copy_buffers(&rewrite);
    tact_layout_free(&layout);
    tact_log_close(log);
    free(record);
}

/* They have no ports, and the same motion and outputs bit for bit. */
static void logs_before_drive_ports_replay(void **state)
{
    (void)state;
    char path[64], copied_log_path[64];
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_log *log;
    struct tact_scene_log view;
    record_two_hands(path);
    snprintf(copied_log_path, sizeof copied_log_path, "%s/before.mcap", press_folder);
    copy_as_log_of_version_61(path, copied_log_path);
    assert_int_equal(tact_log_open(copied_log_path, &log, NULL), 0);
    assert_int_equal(tact_scene_log_open(log, no_messages, &view, NULL), 0);
    assert_int_equal(view.port_count, 0);
    tact_scene_log_close(&view);
    tact_log_close(log);
    check_replays_of_log(copied_log_path, WALKER_TICKS, 83, 1);
    assert_int_equal(remove(copied_log_path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_energy_is_that_of_the_acting_force),
        cmocka_unit_test(each_of_two_hands_has_the_energy_of_its_ports),
        cmocka_unit_test(reactions_without_a_position_have_no_port),
        cmocka_unit_test(logs_before_drive_ports_replay),
    };
    return cmocka_run_group_tests(tests, make_press_folder, remove_press_folder);
}
