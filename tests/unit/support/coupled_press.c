#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "coupled_press.h"
#include "contact/number.h"
#include "devices/registry.h"
#include "folder.h"
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "run_scene.h"

const struct pressing_hand pressing_hands[3] = {
    {"weak", 0.1, 2.0, 100.0}, {"average", 0.3, 10.0, 300.0}, {"strong", 1.0, 40.0, 1000.0}};

char press_folder[32] = "/tmp/tact_press_XXXXXX";

static const char text[] =
    "name: press\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5, %s}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.1], position: [0.08, 0, 0], material: skin}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: %g\n"
    "        inertia: [1e-6, 1e-6, 1e-6, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [1, 0, 0], %s}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: skin}]\n"
    "devices:\n"
    "  - name: stick\n"
    "    type: twin\n"
    "    settings:\n"
    "      axes: x\n"
    "      forces: f\n"
    "      mass: %g\n"
    "      damping: 1\n"
    "      hand: trajectory\n"
    "      hand_file: %s/%s\n"
    "      hand_interpolation: linear\n"
    "      hand_time: time\n"
    "      hand_damping: %g\n"
    "      hand_stiffness: %g\n"
    "%s"
    "inputs: [{from: stick.x, to: hand.tip}]\n"
    "outputs: [{from: hand.tip, to: stick.f, limit: 1e3, rate: 1e9}]\n";

static void format_press_scene_with_contact(const struct hand_press_scenario *p,
                                            const char *contact, char out[4096])
{
    char coupling_gains_text[128], joint[192];
    tact_number_print(coupling_gains_text, sizeof coupling_gains_text, "stiffness: %g, damping: %g",
                      p->stiffness, p->damping);
    snprintf(joint, sizeof joint, p->drive, coupling_gains_text);
    tact_number_print(out, 4096, text, contact, p->tool_mass, joint, 0.1 + p->grip.mass,
                      press_folder, p->motion, p->grip.damping, p->grip.stiffness,
                      p->device ? p->device : "");
}

void format_press_scene(const struct hand_press_scenario *p, char out[4096])
{
    format_press_scene_with_contact(p, PRESS_CONTACT_BY_FEATURES, out);
}

double value_in_press_log(const struct press_log *t, uint64_t tick, int column)
{
    return t->values[tick * COLUMNS + (uint64_t)column];
}

struct press_log read_press_log(const char *path, int expects_coupling_field)
{
    struct tact_log *log;
    struct press_log out = {0};
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    const long coupling = tact_log_field(log, "hand_tip_coupling", NULL),
               drive = tact_log_field(log, "hand_tip_drive_port", NULL);
    assert_int_equal(coupling >= 0, expects_coupling_field);
    assert_int_equal(drive >= 0, !expects_coupling_field);
    const long of[COLUMNS] = {tact_log_field(log, "stick_input", NULL) + 2,
                              tact_log_field(log, "outputs_sent", NULL),
                              tact_log_field(log, "hand_position", NULL),
                              tact_log_field(log, "hand_target", NULL),
                              expects_coupling_field ? coupling + 6 : drive + 3,
                              expects_coupling_field ? coupling + 7 : drive + 4,
                              expects_coupling_field ? coupling + 4 : drive + 1};
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    out.values = calloc(tact_log_state(log)->ticks * COLUMNS, sizeof *out.values);
    for (; tact_log_next(log, record) > 0; out.ticks++) {
        for (int i = 0; i < COLUMNS; i++) {
            out.values[out.ticks * COLUMNS + (uint64_t)i] = record->values[of[i]];
        }
    }
    free(record);
    tact_log_close(log);
    return out;
}

struct press_log simulate_press_with_contact(const struct hand_press_scenario *p,
                                             const char *contact)
{
    char scene[4096], path[64];
    struct tact_session_report report;
    snprintf(path, sizeof path, "%s/press.mcap", press_folder);
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = (uint64_t)(p->seconds / PRESS_TICK_PERIOD + 0.5);
    format_press_scene_with_contact(p, contact, scene);
    run_session_of_scene_text(scene, &options, &report);
    return read_press_log(path, p->drive[0] == 'c');
}

struct press_log simulate_coupled_press(const struct hand_press_scenario *p)
{
    return simulate_press_with_contact(p, PRESS_CONTACT_BY_FEATURES);
}

double rms_tool_speed_of_last_500_ticks(const struct press_log *t)
{
    double sum = 0.0;
    for (uint64_t k = t->ticks - 500; k < t->ticks; k++) {
        sum +=
            pow((value_in_press_log(t, k, X) - value_in_press_log(t, k - 1, X)) / PRESS_TICK_PERIOD,
                2.0);
    }
    return sqrt(sum / 500.0);
}

int write_hand_motion(const char *name, const char *rows)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", press_folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(rows, file);
    return fclose(file);
}

int make_press_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(press_folder));
    return write_hand_motion("press.csv", "time,x\n0,0\n0.4,0.04\n10,0.04\n") ||
           write_hand_motion("lead.csv", "time,x\n0,0\n0.5,0.01\n1.5,0.01\n1.8,0.04\n10,0.04\n");
}

int remove_press_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"press.csv", "lead.csv", "phase.csv", "press.mcap"};
    return remove_folder_with_files(press_folder, files, sizeof files / sizeof *files);
}
