/*
 * In a program with a decimal comma: numbers are read and written with a point, every scene loads,
 * a session's log is the same to the last byte of its records, and other threads keep their locale.
 */
#include <glob.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/report.h"
#include "rt/session/session.h"

#define LOCALE_FOLDER TACT_BINARY_DIR "/locale"

/* Sets the locale de_DE.UTF-8: the system's, or one compiled here from its sources. */
static int set_comma_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        setenv("LOCPATH", LOCALE_FOLDER, 1);
        if (system("mkdir -p " LOCALE_FOLDER " && localedef -i de_DE -f UTF-8 " LOCALE_FOLDER
                   "/de_DE.UTF-8 2>&1") ||
            !setlocale(LC_ALL, "de_DE.UTF-8")) {
            return -1;
        }
    }
    setlocale(LC_MESSAGES, "C");
    return 0;
}

/* Whether printf() and strtod() use a decimal comma: otherwise this test would prove nothing. */
static int is_decimal_comma_active(void)
{
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    return !strcmp(text, "0,5") && strtod("0.5", NULL) == 0.0;
}

static void printed_numbers_have_a_decimal_point_in_any_locale(void **state)
{
    (void)state;
    char text[32], *end;
    double x[2];
    assert_true(is_decimal_comma_active());
    assert_true(tact_number_read("0.25 m", &end) == 0.25);
    assert_string_equal(end, " m");
    assert_int_equal(tact_number_scan("1.5,-2.5e-3", "%lf,%lf", &x[0], &x[1]), 2);
    assert_true(x[0] == 1.5 && x[1] == -2.5e-3);
    assert_int_equal(tact_number_print(text, sizeof text, "%.17g", 0.1), 19);
    assert_string_equal(text, "0.10000000000000001");
    void *outer_number_locale_switch = tact_number_begin(), *inner = tact_number_begin();
    assert_false(is_decimal_comma_active());
    tact_number_end(inner);
    assert_false(is_decimal_comma_active());
    tact_number_end(outer_number_locale_switch);
    assert_true(is_decimal_comma_active());
}

static void *store_whether_decimal_comma_is_active(void *arg)
{
    *(int *)arg = is_decimal_comma_active();
    return NULL;
}

static void number_printing_keeps_the_locale_of_other_threads(void **state)
{
    (void)state;
    pthread_t thread;
    int is_decimal_comma_active_in_thread = 0;
    void *before = tact_number_begin();
    assert_int_equal(pthread_create(&thread, NULL, store_whether_decimal_comma_is_active,
                                    &is_decimal_comma_active_in_thread),
                     0);
    pthread_join(thread, NULL);
    tact_number_end(before);
    assert_int_equal(is_decimal_comma_active_in_thread, 1);
}

static void every_scene_loads_with_a_decimal_comma_locale(void **state)
{
    (void)state;
    glob_t found;
    assert_true(is_decimal_comma_active());
    assert_int_equal(glob(TACT_SOURCE_DIR "/examples/scenes/*.yaml", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 10);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct tact_error err = {0};
        struct tact_scene *scene = NULL;
        if (tact_scene_load(found.gl_pathv[i], &scene, &err)) {
            fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
        }
        assert_true(scene->period == 1e-3 || scene->period < 0.05);
        tact_scene_free(scene);
    }
    globfree(&found);
}

static void numbers_in_messages_have_a_point(void **state)
{
    (void)state;
    const char *text = "name: x\nmaterials: [{name: m}]\n"
                       "pairs: [{materials: [m, m], friction: 0.5, restitution: 1.5}]\n";
    struct tact_error err = {0};
    struct tact_scene *scene = NULL;
    assert_int_equal(tact_scene_parse(text, strlen(text), "x.yaml", NULL, &scene, &err), -22);
    assert_non_null(strstr(err.text, "got 1.5"));
}

/* Runs the scene ruler.yaml; returns the values of all its log records, and the report as JSON. */
static double *run_ruler_session(const char *path, size_t *count, char **json)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session_report report;
    struct tact_session *session = NULL;
    struct tact_scene *scene;
    struct tact_error err = {0};
    struct tact_log *log;
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = 300;
    options.record = path;
    if (tact_scene_load(TACT_SOURCE_DIR "/examples/scenes/ruler.yaml", &scene, &err) ||
        tact_session_create(scene, &options, &session, &err)) {
        fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
    }
    assert_int_equal(tact_session_run(session, &report), 0);
    *json = tact_session_report_json(session, &report);
    tact_session_destroy(session);
    tact_scene_free(scene);
    assert_int_equal(tact_log_open(path, &log, &err), 0);
    const struct tact_layout *layout = tact_log_layout(log);
    struct tact_record *record = malloc(tact_layout_bytes(layout));
    double *values = calloc(300 * (size_t)layout->size, sizeof *values);
    long timing = tact_log_field(log, "timing", NULL);
    assert_true(timing >= 0);
    *count = 0;
    while (tact_log_next(log, record) > 0) {
        memset(record->values + timing, 0, 4 * sizeof *values);
        for (uint32_t i = 0; i < layout->field_count; i++) {
            if (layout->fields[i].kind == TACT_FIELD_INPUT) {
                continue; /* they contain stamps */
            }
            memcpy(values + *count, record->values + layout->fields[i].offset,
                   layout->fields[i].count * sizeof *values);
            *count += layout->fields[i].count;
        }
    }
    assert_string_equal(tact_log_fact(log, "period_s"), "0.001");
    free(record);
    tact_log_close(log);
    remove(path);
    return values;
}

static void log_has_the_same_bytes_in_a_decimal_comma_locale(void **state)
{
    (void)state;
    char *json[2];
    size_t count[2];
    double *is_decimal_comma_active_in_thread =
        run_ruler_session(TACT_BINARY_DIR "/locale_comma.mcap", &count[0], &json[0]);
    void *before = tact_number_begin();
    double *point = run_ruler_session(TACT_BINARY_DIR "/locale_point.mcap", &count[1], &json[1]);
    tact_number_end(before);
    assert_true(count[0] > 300 && count[0] == count[1]);
    assert_memory_equal(is_decimal_comma_active_in_thread, point,
                        count[0] * sizeof *is_decimal_comma_active_in_thread);
    const char *bodies[] = {strstr(json[0], "\"bodies\""), strstr(json[1], "\"bodies\"")};
    assert_true(bodies[0] && bodies[1]);
    assert_memory_equal(bodies[0], bodies[1], 200);
    for (int i = 0; i < 2; i++) {
        free(json[i]);
    }
    free(is_decimal_comma_active_in_thread);
    free(point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_numbers_have_a_decimal_point_in_any_locale),
        cmocka_unit_test(number_printing_keeps_the_locale_of_other_threads),
        cmocka_unit_test(every_scene_loads_with_a_decimal_comma_locale),
        cmocka_unit_test(numbers_in_messages_have_a_point),
        cmocka_unit_test(log_has_the_same_bytes_in_a_decimal_comma_locale),
    };
    if (set_comma_locale(NULL)) {
        puts("skipped: no locale de_DE.UTF-8, and localedef cannot make it (Debian: locales)");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
