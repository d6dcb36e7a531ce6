/* Sessions in which a device computes polygons of pressure fields: no result changes by a bit, and
 * a device that is missing, wrong or failing costs nothing but its help. */
#include <errno.h>
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
#include "kernels/field_cutter.h"
#include "kernels/source.h"
#include "support/replays.h"

/* A soft box slides over a soft floor, a soft egg lies on it, and a rigid rod rolls into it. */
static const char soft_bodies_scene[] =
    "name: soft\nduration: %g\nmoments: {source: %s, host_time: 0, max_age: 1000}\n"
    "materials:\n"
    "  - {name: rubber, field: {modulus: 2e5, thickness: 0.01}}\n"
    "  - {name: steel}\n"
    "pairs:\n"
    "  - {materials: [rubber, rubber], friction: 0.6, model: field}\n"
    "  - {materials: [rubber, steel], friction: 0.6, model: field}\n"
    "  - {materials: [steel, steel], friction: 0.6}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: rubber}]}\n"
    "  - {name: box, mass: 0.1, position: [0.1, 0, 0.0095], velocity: [0.05, 0, 0],\n"
    "     shapes: [{type: box, size: [0.04, 0.03, 0.02], material: rubber}]}\n"
    "  - {name: egg, mass: 0.1, position: [0.1, 0, 0.0385], velocity: [0, 0.02, 0],\n"
    "     shapes: [{type: ellipsoid, size: [0.06, 0.05, 0.04], material: rubber}]}\n"
    "  - {name: rod, mass: 0.1, position: [0.05, 0, 0.0195], angular_velocity: [0, 2, 0],\n"
    "     shapes: [{type: cylinder, radius: 0.02, length: 0.04, material: steel}]}\n";

/* A session in a folder with its log. */
struct field_cutter_session_run {
    const char *source;
    int clock;
    double seconds;
    tact_field_cutter_factory factory;
    void *user;
    int status_of_adding_field_cutter; /* result of tact_session_add_field_cutter() */
    struct tact_session_polygons polygons;
    struct tact_session_report report;
    char warnings[2048];
};

static void append_warning(void *user, enum tact_message_level level, const char *text)
{
    struct field_cutter_session_run *run = user;
    const size_t used = strlen(run->warnings);
    if (level >= TACT_MESSAGE_WARNING && strstr(text, "polygons")) {
        snprintf(run->warnings + used, sizeof run->warnings - used, "%s\n", text);
    }
}

/* Runs a session and checks that its log replays bit for bit on the host. */
static void run_session_with_field_cutter(struct field_cutter_session_run *run)
{
    struct tact_replay_options how = tact_replay_options_default();
    struct tact_session_options options = {.clock = run->clock,
                                           .source = tact_opencl_source_factory,
                                           .messages = {append_warning, run}};
    struct tact_session *session;
    struct tact_scene *scene;
    struct tact_error err = {.line = 0};
    struct tact_replay_report replayed;
    char folder[] = "/tmp/tact-cutter-XXXXXX", path[64], text[4096];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.mcap", folder);
    options.record = path;
    run->warnings[0] = '\0';
    tact_number_print(text, sizeof text, soft_bodies_scene, run->seconds, run->source);
    open_session_of_scene_text(text, &options, &scene, &session);
    run->status_of_adding_field_cutter =
        tact_session_add_field_cutter(session, run->factory, run->user);
    assert_int_equal(tact_session_run(session, &run->report), 0);
    assert_int_equal(tact_session_add_field_cutter(session, run->factory, run->user), -EALREADY);
    tact_session_polygons(session, &run->polygons);
    tact_session_destroy(session);
    tact_scene_free(scene);
    print_message("%s: \"%s\" computed %llu polygons in %llu frames, the host %llu in %llu\n",
                  run->source, run->polygons.device,
                  (unsigned long long)run->polygons.device_polygons,
                  (unsigned long long)run->polygons.device_frames,
                  (unsigned long long)run->polygons.host_polygons,
                  (unsigned long long)run->polygons.host_frames);
    assert_int_equal(tact_replay_run_with(path, &how, &replayed, &err), 0);
    assert_true(replayed.differing == 0 && replayed.ticks > 0);
    assert_int_equal(run->report.faults, 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* On a busy machine the thread may not run in the short time of a session: then another is run. */
enum { MAX_RUNS = 10 };

/* A cutter with little room. */
static int make_field_cutter_with_little_room(void *user,
                                              const struct tact_field_cutter_scene *scene,
                                              const char *device, struct tact_messages messages,
                                              struct tact_field_cutter *out, struct tact_error *err)
{
    struct tact_field_cutter_scene small = *scene;
    small.pair_capacity = 2;
    small.candidate_capacity = 40;
    small.polygon_capacity = 5;
    return tact_opencl_field_cutter_factory(user, &small, device, messages, out, err);
}

static void sessions_with_a_field_cutter_have_host_bits(void **state)
{
    (void)state;
    skip_test_without_opencl();
    for (int has_field_cutter_little_room = 0; has_field_cutter_little_room < 2;
         has_field_cutter_little_room++) {
        struct field_cutter_session_run run = {.source = "opencl",
                                               .clock = TACT_LOOP_REAL,
                                               .seconds = 0.3,
                                               .factory = has_field_cutter_little_room
                                                              ? make_field_cutter_with_little_room
                                                              : tact_opencl_field_cutter_factory};
        for (int i = 0; i < MAX_RUNS && !run.polygons.device_polygons; i++) {
            run_session_with_field_cutter(&run);
            assert_int_equal(run.status_of_adding_field_cutter, 0);
            assert_non_null(strstr(run.polygons.device, "opencl: "));
            assert_string_equal(run.warnings, "");
        }
        assert_true(run.polygons.device_polygons > 0);
        assert_int_equal(run.polygons.host_frames, 0);
        assert_true(run.polygons.device_time > 0.0);
        assert_true(!has_field_cutter_little_room ||
                    run.polygons.device_polygons <= 5 * run.polygons.device_frames);
    }
}

/* With `auto` both ways are timed. */
static void field_cutter_and_host_are_timed_by_auto(void **state)
{
    struct field_cutter_session_run run = {.source = "auto",
                                           .clock = TACT_LOOP_REAL,
                                           .seconds = 0.3,
                                           .factory = tact_opencl_field_cutter_factory};
    (void)state;
    skip_test_without_opencl();
    for (int i = 0; i < MAX_RUNS && (!run.polygons.device_frames || !run.polygons.host_frames);
         i++) {
        run_session_with_field_cutter(&run);
    }
    assert_true(run.polygons.device_time > 0.0 && run.polygons.host_time > 0.0);
    assert_true(run.polygons.device_polygons > 0 && run.polygons.host_polygons > 0);
}

/* A device with wrong bits is refused once, by its name and with the reason. */
static void field_cutter_with_wrong_bits_is_not_used(void **state)
{
    struct tact_opencl_options options = tact_opencl_options_default();
    struct field_cutter_session_run run = {.source = "opencl",
                                           .clock = TACT_LOOP_REAL,
                                           .seconds = 0.1,
                                           .factory = tact_opencl_field_cutter_factory,
                                           .user = &options};
    (void)state;
    skip_test_without_opencl();
    options.fault.wrong_kernels = 1;
    run_session_with_field_cutter(&run);
    assert_int_equal(run.status_of_adding_field_cutter, -EDOM);
    assert_string_equal(run.polygons.device, "");
    static const char reason[] = "computes other bits than the host";
    const char *warning = strstr(run.warnings, reason);
    assert_non_null(warning);
    assert_null(strstr(warning + strlen(reason), "polygons of pressure fields cannot"));
}

/* A device whose driver fails in the run. */
static int fail_to_cut(void *self, struct tact_field_cuts *const *cuts, size_t count)
{
    (void)self;
    (void)cuts;
    (void)count;
    return -EIO;
}

static void close_failing_field_cutter(void *self)
{
    (void)self;
}

static const struct tact_field_cutter_ops failing_field_cutter_ops = {
    TACT_ABI(struct tact_field_cutter_ops), fail_to_cut, close_failing_field_cutter};

static int make_failing_field_cutter(void *user, const struct tact_field_cutter_scene *scene,
                                     const char *device, struct tact_messages messages,
                                     struct tact_field_cutter *out, struct tact_error *err)
{
    (void)user;
    (void)device;
    (void)messages;
    (void)err;
    assert_int_equal(scene->field_count, 4);
    *out = (struct tact_field_cutter){&failing_field_cutter_ops, NULL, "failing"};
    return 0;
}

static void failing_field_cutter_leaves_all_to_the_host(void **state)
{
    struct field_cutter_session_run run = {.source = "auto",
                                           .clock = TACT_LOOP_REAL,
                                           .seconds = 0.2,
                                           .factory = make_failing_field_cutter};
    (void)state;
    for (int i = 0; i < MAX_RUNS && !run.polygons.has_failed; i++) {
        run_session_with_field_cutter(&run);
    }
    assert_int_equal(run.polygons.has_failed, 1);
    assert_int_equal(run.polygons.device_polygons, 0);
    assert_non_null(strstr(run.warnings, "the driver of failing failed"));
}

/* No device is opened where a session measures in the tick, or with the thread alone. */
static void host_and_thread_sessions_open_no_field_cutter(void **state)
{
    static const struct {
        const char *source;
        int clock;
    } cases[] = {{"host", TACT_LOOP_REAL},
                 {"thread", TACT_LOOP_REAL},
                 {"auto", TACT_LOOP_FREE},
                 {"thread", TACT_LOOP_FREE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field_cutter_session_run run = {.source = cases[i].source,
                                               .clock = cases[i].clock,
                                               .seconds = 0.05,
                                               .factory = make_failing_field_cutter};
        run_session_with_field_cutter(&run);
        assert_int_equal(run.status_of_adding_field_cutter, 0);
        assert_string_equal(run.polygons.device, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_with_a_field_cutter_have_host_bits),
        cmocka_unit_test(field_cutter_and_host_are_timed_by_auto),
        cmocka_unit_test(field_cutter_with_wrong_bits_is_not_used),
        cmocka_unit_test(failing_field_cutter_leaves_all_to_the_host),
        cmocka_unit_test(host_and_thread_sessions_open_no_field_cutter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
