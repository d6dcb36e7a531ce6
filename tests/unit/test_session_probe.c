/*
 * Real hands at a virtual wall: three recorded people who probe a spring of 40 and of 85 N/m
 * through a haptic device (Farajian et al., eLife 2020) lead a twin into a rigid wall, a box or a
 * mesh, by couplings as stiff. The recorded command comes out of the twin, its energy is that of
 * force times motion, and replays are equal bit for bit.
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
#include "rt/log/log_reader.h"
#include "rt/session/session.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/folder.h"
#include "support/replays.h"
#include "support/run_scene.h"

enum { MOST = 4000, PEOPLE = 3, LEAD = 36, LEAST_ROWS = 60 };

/* A part of a recording: its rows by whole ticks, 13 to 23 ms from one to the next. */
struct part {
    int count;
    int tick[MOST];
    double position[MOST], command[MOST]; /* [m], [N] */
};

static char folder[] = "/tmp/tact_probe_XXXXXX";

static const char text[] =
    "name: probe\n"
    "materials: [{name: rigid}]\n"
    "pairs: [{materials: [rigid, rigid], friction: 0, model: %s, overlap: 1e-7, dissipation: 0}]\n"
    "bodies: [{name: wall, fixed: true, position: [0, -0.11, 0], shapes: [%s]}]\n"
    "hands:\n"
    "  - name: hand\n"
    "    weightless: true\n"
    "    links:\n"
    "      - name: tip\n"
    "        mass: 1e-7\n" /* a mass so small that nothing is felt in free air */
    "        inertia: [1e-9, 1e-9, 1e-9, 0, 0, 0]\n"
    "        joint: {type: slide, axis: [0, 1, 0], start: %g, coupling: {stiffness: %g, damping: "
    "1e-5}}\n"
    "        shapes: [{type: box, size: [0.02, 0.02, 0.02], material: rigid}]\n"
    "devices:\n"
    "  - name: probe\n"
    "    type: twin\n"
    "    settings:\n"
    "      axes: y\n"
    "      forces: f\n"
    "      mass: 0.1\n"
    "      start: %g\n"
    "      hand: trajectory\n"
    "      hand_file: %s/part.csv\n"
    "      hand_interpolation: linear\n"
    "      hand_time: t\n"
    "      hand_stiffness: 1e8\n" /* a hand so stiff that the device is where the person was,
                                     whatever the force */
    "      hand_damping: 6e3\n"
    "inputs: [{from: probe.y, to: hand.tip}]\n"
    "outputs: [{from: hand.tip, to: probe.f, limit: 100, rate: 1e9}]\n";

/* Reads a row of the recording; returns 0 at the end of the file. */
static int read_row_of_recorded_person(FILE *file, int *person_index, double row[3])
{
    char line[256];
    while (fgets(line, sizeof line, file)) {
        if (tact_number_scan(line, "S%d,%lf,%lf,%lf", person_index, &row[0], &row[1], &row[2]) ==
            4) {
            return 1;
        }
    }
    return 0;
}

/* Rows of a person from LEAD before the first that a spring of this stiffness has pushed back to
 * the last before another one does, at most `seconds`. */
static void read_recorded_press(FILE *file, int person_index, double stiffness, double seconds,
                                struct part *out)
{
    static double rows[MOST][3];
    int count = 0, first = -1, last = 0, of;
    rewind(file);
    while (count < MOST && read_row_of_recorded_person(file, &of, rows[count])) {
        count += of == person_index;
    }
    for (int i = 0; i < count; i++) {
        const double spring = rows[i][1] < -1e-3 ? -rows[i][2] / rows[i][1] : stiffness;
        if (rows[i][1] < -1e-3 && fabs(spring - stiffness) < 1.0 && first < 0) {
            first = i > LEAD ? i - LEAD : 0;
        }
        if (fabs(spring - stiffness) < 1.0 && first >= 0 && rows[i][0] < rows[first][0] + seconds) {
            last = i;
        } else if (first >= 0) {
            break;
        }
    }
    assert_true(first >= 0);
    out->count = last + 1 - first;
    for (int i = first; i <= last; i++) {
        out->tick[i - first] = (int)lrint((rows[i][0] - rows[first][0]) * 1e3);
        out->position[i - first] = rows[i][1];
        out->command[i - first] = rows[i][2];
    }
}

static void write_recorded_press(const struct part *part)
{
    char path[64], row[64];
    snprintf(path, sizeof path, "%s/part.csv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("t,y\n", file);
    for (int i = 0; i < part->count; i++) {
        tact_number_print(row, sizeof row, "%.6f,%.6f\n", part->tick[i] * 1e-3, part->position[i]);
        fputs(row, file);
    }
    assert_int_equal(fclose(file), 0);
}

/* A wall: a box, or the triangles of a mesh as a convex solid, both known before they are touched;
 * or those triangles by their overlap. */
static const struct wall {
    const char *name, *model, *shape;
    int is_contact_found_by_overlap;
} walls[] = {
    {"box", "features", "{type: box, size: [0.2, 0.2, 0.2], material: rigid}", 0},
    {"convex mesh", "features",
     "{type: convex, generate: {kind: bumpy_cube, edge: 0.2, bump: 0, count: 1, triangles: 1200}, "
     "material: rigid}",
     0},
    {"mesh", "volume",
     "{type: mesh, generate: {kind: bumpy_cube, edge: 0.2, bump: 0, count: 1, triangles: 1200}, "
     "material: rigid}",
     1}};
enum { WALLS = sizeof walls / sizeof *walls };

/* Largest differences of a recorded force command, and of the energy, from their exact values. */
struct difference {
    double command; /* largest difference of the recorded command and the force that was sent,
                       except in the rows of a touch of a wall that is found by its overlap [N] */
    double force_error_at_touch; /* largest such difference in the rows of a touch [N] */
    /* the same where what is missing, stiffness times the depth of the touch, is added [N] */
    double force_error_with_missing_force;
    int touches; /* number of rows of a touch */
    double
        energy; /* largest difference of the energy in the log and that of force times motion [J] */
    double depth; /* largest depth of a touch, over the motion in its tick */
};

/* A wall that is found by its overlap: in the tick in which it is touched the tool moves freely to
 * its depth, in the next one it is stopped there, and in the third it is out. In the first two the
 * force is less by K times that depth, which is less than K v T. */
static void compare_row_with_command(double off, double missing, int is_touch_tick,
                                     struct difference *out)
{
    if (is_touch_tick) {
        out->touches++;
        out->force_error_at_touch = fmax(out->force_error_at_touch, fabs(off));
        out->force_error_with_missing_force =
            fmax(out->force_error_with_missing_force, fabs(off + missing));
    } else {
        out->command = fmax(out->command, fabs(off));
    }
}

static void compare_press_with_recording(const char *path, const struct part *part,
                                         double stiffness, int is_contact_found_by_overlap,
                                         struct difference *out)
{
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    const long probe_position_offset_in_record = tact_log_field(log, "probe_input", NULL) + 2,
               sent = tact_log_field(log, "outputs_sent", NULL),
               port = tact_log_field(log, "hand_tip_coupling", NULL) + 6;
    double work = 0.0, last_y = 0.0, last_force = 0.0, depth = 0.0;
    int row = 0, touched = -2;
    *out = (struct difference){.command = 0.0};
    for (int k = 0; tact_log_next(log, record) > 0; k++) {
        const double y = record->values[probe_position_offset_in_record],
                     force = record->values[sent];
        work -= k ? last_force * (y - last_y) : 0.0;
        out->energy = fmax(out->energy, fabs(work - record->values[port]));
        if (is_contact_found_by_overlap && y < 0.0 && last_y >= 0.0) {
            touched = k;
            depth = -y;
            out->depth = fmax(out->depth, depth / (last_y - y));
        }
        while (row < part->count && part->tick[row] < k) {
            row++;
        }
        if (row < part->count && part->tick[row] == k) {
            compare_row_with_command(force - part->command[row], stiffness * depth,
                                     k <= touched + 1, out);
        }
        last_y = y;
        last_force = force;
    }
    free(record);
    tact_log_close(log);
}

static void replay_probe_recordings(FILE *file, int person_index, double stiffness,
                                    const struct wall *wall)
{
    static struct part part;
    char scene[4096], path[64];
    struct tact_session_report report;
    struct tact_session_options options = tact_session_options_default();
    struct difference off;
    read_recorded_press(file, person_index, stiffness, campaign_trial_count(2, 100), &part);
    assert_true(part.count > LEAST_ROWS);
    write_recorded_press(&part);
    const double start = part.position[0];
    tact_number_print(scene, sizeof scene, text, wall->model, wall->shape, start, stiffness, start,
                      folder);
    snprintf(path, sizeof path, "%s/probe.mcap", folder);
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.replace = 1;
    options.ticks = (uint64_t)part.tick[part.count - 1] + 1;
    run_session_of_scene_text(scene, &options, &report);
    compare_press_with_recording(path, &part, stiffness, wall->is_contact_found_by_overlap, &off);
    print_message("S%d, %g N/m, %s: command off by %.1e N at %d rows; at %d of a touch by %.1e N, "
                  "%.1e but for K d, touches up to %.2f v T deep; energy by %.1e J\n",
                  person_index, stiffness, wall->name, off.command, part.count - off.touches,
                  off.touches, off.force_error_at_touch, off.force_error_with_missing_force,
                  off.depth, off.energy);
    assert_true(off.command < 1e-4 && off.force_error_with_missing_force < 1e-4 &&
                off.touches <= 1);
    assert_true(off.depth < 1.0 && off.energy < 1e-14);
    check_replays_of_log(path, (int)options.ticks, (int)options.ticks / 2 + 1, 1);
}

static void recorded_probe_commands_are_reproduced(void **state)
{
    (void)state;
    char path[DATA_PATH];
    FILE *file = open_test_data_file("haptic_probe/probe.csv", path);
    if (!file) {
        skip();
    }
    for (int person_index = 1; person_index <= PEOPLE; person_index++) {
        for (int i = is_long_campaign() ? 0 : 2; i < 2 * WALLS; i++) { /* the box in .ci/long */
            replay_probe_recordings(file, person_index, i % 2 ? 85.0 : 40.0, &walls[i / 2]);
        }
    }
    fclose(file);
}

static int make_test_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_test_folder(void **state)
{
    (void)state;
    static const char *const files[] = {"probe.mcap", "part.csv"};
    return remove_folder_with_files(folder, files, sizeof files / sizeof *files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_probe_commands_are_reproduced)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
