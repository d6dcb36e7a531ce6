/* Sessions of many bodies: a thousand are set up within a second, a tick records only the pairs
 * that touch, and a replay is equal bit for bit from any record, after a gap, and with a contact
 * that is absent from the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"
#include "rt/session/replay.h"
#include "support/rewrite.h"
#include "support/run_scene.h"

#define TICKS 60

static const struct tact_messages no_messages = {NULL, NULL};

/* A scene of `count` cubes of 20 mm on a floor with gaps between them, or of balls that roll
 * against each other. */
static char *make_scene_of_many_bodies(int count, int are_bodies_balls)
{
    size_t room = 512 + 256 * (size_t)count;
    char *text = malloc(room);
    int wide = 1;
    while (wide * wide < count) {
        wide++;
    }
    int used =
        snprintf(text, room,
                 "name: many\nmaterials: [{name: m}]\n"
                 "pairs: [{materials: [m, m], friction: 0.5}]\nmoments: {source: host}\n"
                 "bodies:\n"
                 "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}\n");
    for (int i = 0; i < count; i++) {
        /* positions [0.1 mm] as integers: a locale may print a decimal comma */
        int y = 500 * (i / wide), x = 205 * (i % wide);
        used += snprintf(
            text + used, room - (size_t)used,
            "  - {name: b%d, mass: 0.1, position: [%d.%04d, %d.%04d, 0.00998],\n"
            "     velocity: [0.%d, 0, 0],\n     shapes: [{type: %s, material: m}]}\n",
            i, x / 10000, x % 10000, y / 10000, y % 10000, are_bodies_balls && i % wide % 2 == 0,
            are_bodies_balls ? "sphere, radius: 0.01" : "box, size: [0.02, 0.02, 0.02]");
    }
    return text;
}

/* Records the scene. Returns the size of the log [bytes]; *setup_seconds: time to create the
 * session [s]. */
static long record_scene_of_many_bodies(int count, int are_bodies_balls, const char *path,
                                        double *setup_seconds)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    struct stat status;
    char *text = make_scene_of_many_bodies(count, are_bodies_balls);
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    options.record = path;
    options.replace = 1;
    double session_start_cpu_seconds = cpu_seconds();
    open_session_of_scene_text(text, &options, &scene, &session);
    *setup_seconds = cpu_seconds() - session_start_cpu_seconds;
    assert_int_equal(tact_session_run(session, &report), 0);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
    assert_int_equal(stat(path, &status), 0);
    return (long)status.st_size;
}

static void expect_identical_replay(const char *path, double from, int each)
{
    struct tact_replay_options options = tact_replay_options_default();
    struct tact_replay_report report;
    struct tact_error err = {0};
    options.from = from;
    options.each = each;
    if (tact_replay_run_with(path, &options, &report, &err)) {
        fail_msg("%s", err.text);
    }
    if (report.differing) {
        fail_msg("tick %lu, %s[%u]: %.17g, replayed %.17g", (unsigned long)report.first_tick,
                 report.first_field, report.first_element, report.logged, report.replayed);
    }
    assert_int_equal(report.ticks, TICKS - (int)from);
}

static void a_thousand_cubes_are_recorded_and_replayed(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_many_XXXXXX";
    double setup_seconds[2];
    close(mkstemp(path));
    long few = record_scene_of_many_bodies(100, 0, path, &setup_seconds[0]);
    struct tact_log *log;
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_non_null(tact_log_pair(log, 99));
    assert_null(tact_log_pair(log, 100)); /* 5050 pairs might touch */
    assert_string_equal(tact_log_pair(log, 99)->name, "floor/b99");
    tact_log_close(log);
    long all = record_scene_of_many_bodies(1000, 0, path, &setup_seconds[1]);
    print_message("100 cubes: %.2f s of set-up, %ld bytes a tick; 1000: %.2f s, %ld bytes\n",
                  setup_seconds[0], few / TICKS, setup_seconds[1], all / TICKS);
    assert_true(setup_seconds[1] < 2.0); /* 0.2 s measured */
    assert_true(all < 25 * few);         /* the second log has 10 times as many contacts */
    expect_identical_replay(path, 0, 0);
    unlink(path);
}

static void contacts_of_changing_shape_pairs_replay(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_many_XXXXXX";
    struct tact_log *log;
    double setup_seconds;
    size_t pairs = 0;
    close(mkstemp(path));
    record_scene_of_many_bodies(150, 1, path, &setup_seconds);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    while (tact_log_pair(log, pairs)) {
        pairs++;
    }
    tact_log_close(log);
    print_message("%zu pairs of %d touched\n", pairs, 150 + 150 * 149 / 2);
    assert_true(pairs > 180 && pairs < 600);
    expect_identical_replay(path, 0, 0);
    expect_identical_replay(path, 23, 0);
    expect_identical_replay(path, 0, 1);
    unlink(path);
}

/* 80 balls at one position: 3160 overlaps, but a record has capacity for as many as 1 MiB has. */
static void contacts_beyond_the_record_capacity_are_a_fault(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_many_XXXXXX", text[16384];
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    int used = snprintf(text, sizeof text,
                        "name: crowd\nmaterials: [{name: m}]\ngravity: [0, 0, 0]\n"
                        "pairs: [{materials: [m, m], friction: 0.5, compliance: 1e-3}]\n"
                        "moments: {source: host}\ncontact: {iterations: 1}\nbodies:\n");
    for (int i = 0; i < 80; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {name: b%d, mass: 0.1, position: [0.000%02d, 0, 0],\n"
                         "     shapes: [{type: sphere, radius: 0.1, material: m}]}\n",
                         i, i);
    }
    close(mkstemp(path));
    options.clock = TACT_LOOP_FREE;
    options.ticks = 3;
    options.record = path;
    options.replace = 1;
    run_session_of_scene_text(text, &options, &report);
    print_message("%s\n", report.fault.text);
    assert_int_equal(report.safety, TACT_SAFETY_FAULT);
    assert_non_null(strstr(report.fault.text, "no room for another contact"));
    unlink(path);
}

/* 8000 shapes of 1000 bodies: eight contacts for each would be a record of 28 MB, longer than the
 * recorder's rings take. */
static void record_of_many_shapes_fits_into_the_rings(void **unused)
{
    (void)unused;
    enum { BODIES = 1000, SHAPES = 8, LINE = 512 };
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    struct tact_scene *scene;
    char *text = malloc(512 + LINE * BODIES);
    int used = sprintf(text, "name: shapes\nmaterials: [{name: m}]\nmoments: {source: host}\n"
                             "pairs: [{materials: [m, m], friction: 0.5}]\nbodies:\n");
    for (int i = 0; i < BODIES; i++) {
        used += sprintf(text + used, "  - {name: b%d, mass: 0.1, position: [%d, 0, 0], shapes: [",
                        i, 2 * i);
        for (int k = 0; k < SHAPES; k++) {
            used += sprintf(text + used, "{type: sphere, radius: 0.1, material: m}%s",
                            k + 1 < SHAPES ? ", " : "]}\n");
        }
    }
    options.clock = TACT_LOOP_FREE;
    options.ticks = 1;
    open_session_of_scene_text(text, &options, &scene, &session);
    const struct tact_layout *layout = tact_session_layout(session);
    print_message("%u contacts, %zu bytes\n", layout->most, tact_layout_bytes(layout));
    assert_true(tact_layout_bytes(layout) <= TACT_RECORD_BYTES_MAX);
    assert_true(layout->most > 20000);
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
}

/* Bundles of thin rods whose bounding spheres overlap, of a model with state: each near pair is in
 * the list of contacts. The run does not depend on whether it is recorded. */
static void near_pairs_of_a_model_with_state_are_recorded(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_many_XXXXXX", text[16384];
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_replay_report replay;
    struct tact_error err = {0};
    int used = snprintf(text, sizeof text,
                        "name: rods\nmaterials: [{name: m}]\ncontact: {model: features}\n"
                        "pairs: [{materials: [m, m], friction: 0.5}]\n"
                        "moments: {source: host}\nbodies:\n");
    for (int i = 0; i < 60; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - {name: b%d, mass: 0.01, position: [0.0%02d, 0, 0.0%02d],\n"
                         "     quat_wxyz: [1, 1, 0, 0],\n     shapes: [{type: capsule, radius: "
                         "0.004, length: 0.2, material: m}]}\n",
                         i, 9 * (i % 10), 9 * (i / 10));
    }
    close(mkstemp(path));
    options.clock = TACT_LOOP_FREE;
    options.ticks = 5;
    options.record = path;
    options.replace = 1;
    run_session_of_scene_text(text, &options, &report);
    assert_string_equal(report.fault.text, "");
    assert_int_equal(tact_replay_run(path, no_messages, &replay, &err), 0);
    print_message("rods: %lu ticks, %lu differing\n", (unsigned long)replay.ticks,
                  (unsigned long)replay.differing);
    assert_true(replay.ticks == 5 && replay.differing == 0);
    unlink(path);
}

/* All contacts of one pair are removed from the log: the replay finds a contact of a pair that is
 * absent from it. */
static void contact_absent_from_the_log_is_reported_in_a_replay(void **unused)
{
    (void)unused;
    char path[] = "/tmp/tact_many_XXXXXX", less[] = "/tmp/tact_many_XXXXXX";
    struct tact_recorder_options options = tact_recorder_options_default();
    struct tact_replay_report report;
    struct tact_recorder *out;
    struct log_rewrite log_rewrite;
    struct tact_error err = {0};
    struct tact_log *log;
    double setup_seconds;
    close(mkstemp(path));
    close(mkstemp(less));
    record_scene_of_many_bodies(3, 0, path, &setup_seconds);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    assert_int_equal(open_recorder_of_log_copy(&log_rewrite, log), 0);
    struct tact_recorder_content content = recorder_content_of_log_copy(&log_rewrite);
    content.attachments = tact_log_attachment_at(log, 0);
    content.attachment_count = tact_log_attachment_count(log);
    options.replace = 1;
    assert_int_equal(tact_recorder_open(less, &options, &content, no_messages, &out, &err), 0);
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    while (tact_log_next(log, r) > 0) {
        const struct tact_layout *element = tact_log_element(log);
        double *values = r->values + tact_log_pair(log, 1)->offset;
        for (uint32_t i = 0; i < element->field_count; i++) {
            values[element->fields[i].offset] = element->fields[i].absent;
            for (uint32_t k = 1; k < element->fields[i].count; k++) {
                values[element->fields[i].offset + k] = 0.0;
            }
        }
        assert_int_equal(append_record_to_log_copy(&log_rewrite, r, out), 0);
    }
    assert_int_equal(tact_recorder_close(out, NULL), 0);
    free_log_copy_buffers(&log_rewrite);
    tact_log_close(log);
    free(r);
    assert_int_equal(tact_replay_run(less, no_messages, &report, &err), 0);
    print_message("%lu differing, the first at tick %lu: %s\n", (unsigned long)report.differing,
                  (unsigned long)report.first_tick, report.first_field);
    assert_true(report.differing >= TICKS && report.first_tick == 0);
    assert_string_equal(report.first_field, "contact floor/b1");
    unlink(path);
    unlink(less);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_cubes_are_recorded_and_replayed),
        cmocka_unit_test(contacts_of_changing_shape_pairs_replay),
        cmocka_unit_test(record_of_many_shapes_fits_into_the_rings),
        cmocka_unit_test(contact_absent_from_the_log_is_reported_in_a_replay),
        cmocka_unit_test(contacts_beyond_the_record_capacity_are_a_fault),
        cmocka_unit_test(near_pairs_of_a_model_with_state_are_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
