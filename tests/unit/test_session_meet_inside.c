/*
 * Two soft fingertips that overlap each other inside a thin body which both press on: an event by
 * name in log and report, and one message; by pressure fields or by volume; none where a
 * body is thick, the two tips are excluded, or they touch beside what they press on or in a slot of
 * it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"
#include "rt/session/report.h"
#include "support/run_scene.h"

/* A ruler between two tips on stiff slides, each 1.7 mm deep in its face where it is 2 mm thick. */
#define TIP(name, side)                                                                            \
    "  - name: " name "\n    position: [0, " side "0.0073, 0]\n    links:\n"                       \
    "      - {name: tip, mass: 0.02, shapes: [{type: sphere, radius: 0.008, material: rubber}],\n" \
    "         joint: {type: slide, axis: [0, 1, 0], stiffness: 2.0e4, damping: 20}}\n"
static const char pinch_scene_text[] =
    "name: thin\nduration: 0.1\ngravity: [0, 0, 0]\n"
    "materials: [{name: rubber, field: {modulus: 5.0e5, thickness: 0.008}}, {name: wood}]\n"
    "pairs:\n"
    "  - {materials: [rubber, wood], friction: 0.8, model: field, dissipation: 0.003}\n"
    "  - {materials: [rubber, rubber], friction: 0.8, model: field, dissipation: 0.003}\n"
    "bodies:\n"
    "  - {name: ruler, mass: 0.03, shapes: [{type: box, size: [0.3, 0.002, 0.03], material: "
    "wood}]}\n"
    "hands:\n" TIP("left", "-") TIP("right", "");

/* Two balls that touch each other, and a table or a third ball below both. */
static const char beside[] =
    "name: beside\nduration: 0.1\n"
    "materials: [{name: rubber, field: {modulus: 5.0e5, thickness: 0.008}}, {name: wood}]\n"
    "pairs:\n"
    "  - {materials: [rubber, wood], friction: 0.8, model: field, dissipation: 0.003}\n"
    "  - {materials: [rubber, rubber], friction: 0.8, model: field, dissipation: 0.003}\n"
    "bodies:\n"
    "  - {name: a, mass: 0.005, position: [-0.0075, 0, 0.0078],\n"
    "     shapes: [{type: sphere, radius: 0.008, material: rubber}]}\n"
    "  - {name: b, mass: 0.005, position: [0.0075, 0, 0.0078],\n"
    "     shapes: [{type: sphere, radius: 0.008, material: rubber}]}\n"
    "  - {name: base, fixed: true, shapes: [{type: halfspace, material: wood}]}\n";

/* The ruler of `pinch_scene_text` in two halves with a slot between them, in which the tips meet.
 */
#define WHOLE_RULER_YAML "{type: box, size: [0.3, 0.002, 0.03], material: wood}"
#define HALF_OF_RULER_YAML(middle)                                                                 \
    "{type: box, size: [0.15, 0.002, 0.03], position: [" middle ", 0, 0], material: wood}"

static char message_log[4096];

static void append_message(void *user, enum tact_message_level level, const char *text)
{
    size_t used = strlen(message_log);
    (void)user;
    (void)level;
    snprintf(message_log + used, sizeof message_log - used, "%s\n", text);
}

static int count_occurrences_of_text(const char *in, const char *text)
{
    int count = 0;
    for (const char *at = in; (at = strstr(at, text)); at += strlen(text)) {
        count++;
    }
    return count;
}

/* Number of events of that name in a log, which must all be before `end_tick`; `text` gets the text
 * of the last. */
static int count_events(const char *path, const char *name, uint64_t end_tick, char *text,
                        size_t size)
{
    const struct tact_log_event *event;
    struct tact_error err = {.line = 0};
    struct tact_log *log;
    int count = 0;
    assert_int_equal(tact_log_open(path, &log, &err), 0);
    for (size_t i = 0; (event = tact_log_event(log, i)); i++) {
        if (!strcmp(event->name, name)) {
            assert_true(event->tick < end_tick);
            snprintf(text, size, "%s", event->text);
            count++;
        }
    }
    tact_log_close(log);
    return count;
}

/* Runs the scene with `from` replaced by `to` and checks how many contacts it has, all in the
 * report, and how often a meeting is reported: in the messages, the log and the report. */
static void check_meeting_reports(const char *scene_text, const char *from, const char *to,
                                  int contacts, int expected)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_scene *scene;
    struct tact_session *session;
    char folder[] = "/tmp/tact-inside-XXXXXX", path[64], text[4096], event[512] = "";
    const char *at = strstr(scene_text, from);
    assert_non_null(at);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.mcap", folder);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - scene_text), scene_text, to,
             at + strlen(from));
    options.clock = TACT_LOOP_FREE;
    options.record = path;
    options.messages = (struct tact_messages){append_message, NULL};
    message_log[0] = '\0';
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, &report), 0);
    char *json = tact_session_report_json(session, &report);
    assert_non_null(json);
    print_message("%s: at most %d contacts\n%s", to, report.contacts_max, message_log);
    assert_int_equal(report.contacts_max, contacts);
    assert_true(count_occurrences_of_text(json, "\"model\"") >= contacts);
    assert_int_equal(count_occurrences_of_text(message_log, "overlap inside"), expected);
    assert_int_equal(count_occurrences_of_text(json, "\"meets_inside\""), expected);
    assert_int_equal(count_events(path, "meet_inside", (uint64_t)contacts, event, sizeof event),
                     expected);
    if (expected) {
        static const char expected_meeting_report[] =
            "left.tip and right.tip overlap inside ruler, which both press "
            "on: they press on each other there, and less on it";
        assert_non_null(strstr(message_log, expected_meeting_report));
        assert_string_equal(event, "left.tip/right.tip overlap inside ruler");
        assert_true(strstr(json, "\"body\": \"ruler\"") || strstr(json, "\"body\":\"ruler\""));
    }
    free(json);
    tact_session_destroy(session);
    tact_scene_free(scene);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void fingertips_meeting_in_a_thin_body_are_reported_once(void **state)
{
    (void)state;
    check_meeting_reports(pinch_scene_text, "name: thin", "name: thin", 3, 1);
}

static void contacts_outside_a_body_are_not_reported_as_meeting(void **state)
{
    (void)state;
    check_meeting_reports(pinch_scene_text, "name: thin",
                          "name: thin\nexclude: [{objects: [left.tip, right.tip]}]", 2, 0);
    check_meeting_reports(pinch_scene_text, "0.0073, 0]", "0.0093, 0]", 2, 0); /* apart */
    check_meeting_reports(beside, "name: beside", "name: beside", 3, 0);
    check_meeting_reports(
        beside, "{type: halfspace, material: wood}",
        "{type: sphere, radius: 0.008, position: [0, 0, -0.0049], material: wood}", 3, 0);
}

static void fingertips_that_meet_in_an_open_slot_are_not_reported(void **state)
{
    (void)state;
    check_meeting_reports(pinch_scene_text, WHOLE_RULER_YAML,
                          HALF_OF_RULER_YAML("-0.0755") ", " HALF_OF_RULER_YAML("0.0755"), 5,
                          0); /* 1 mm wide */
    check_meeting_reports(pinch_scene_text, WHOLE_RULER_YAML,
                          HALF_OF_RULER_YAML("-0.076") ", " HALF_OF_RULER_YAML("0.076"), 5,
                          0); /* 2 mm */
    check_meeting_reports(pinch_scene_text, WHOLE_RULER_YAML,
                          HALF_OF_RULER_YAML("-0.075") ", " HALF_OF_RULER_YAML("0.075"), 5,
                          1); /* closed */
}

static void meeting_is_reported_for_any_contact_model(void **state)
{
    (void)state;
    check_meeting_reports(pinch_scene_text,
                          "[rubber, wood], friction: 0.8, model: field, dissipation: 0.003",
                          "[rubber, wood], friction: 0.8, model: volume", 3, 1);
    check_meeting_reports(pinch_scene_text,
                          "[rubber, rubber], friction: 0.8, model: field, dissipation: 0.003",
                          "[rubber, rubber], friction: 0.8, model: volume", 3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fingertips_meeting_in_a_thin_body_are_reported_once),
        cmocka_unit_test(contacts_outside_a_body_are_not_reported_as_meeting),
        cmocka_unit_test(fingertips_that_meet_in_an_open_slot_are_not_reported),
        cmocka_unit_test(meeting_is_reported_for_any_contact_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
