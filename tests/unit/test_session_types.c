/* The description that a program's device type returns is checked before a session uses it. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/session.h"

#define FIRST_UNDEFINED_STATE_TICK 5 /* tick from which the device returns an undefined state */

static const char text[] = "name: types\n"
                           "duration: 0.01\n"
                           "materials: [{name: m}]\n"
                           "pairs: [{materials: [m, m], friction: 0.5}]\n"
                           "hands:\n"
                           "  - name: h\n"
                           "    links:\n"
                           "      - name: a\n"
                           "        joint: {type: hinge, axis: [0, 1, 0], stiffness: 1, damping: "
                           "0.1}\n"
                           "        mass: 0.1\n"
                           "        shapes: [{type: sphere, radius: 0.01, material: m}]\n"
                           "devices: [{name: glove, type: odd}]\n"
                           "inputs: [{from: glove.angle, to: h.a}]\n"
                           "outputs: [{from: h.a, to: glove.felt, limit: 1, rate: 10}]\n";

/* function that makes the device's description invalid, or NULL */
static void (*spoil_device)(struct tact_device *device);
static int closed;

static void read_described_device(void *self, uint64_t tick, double t, int64_t now,
                                  struct tact_device_input *in)
{
    (void)self;
    (void)t;
    in->stamp_ns = now;
    in->state = tick < FIRST_UNDEFINED_STATE_TICK ? TACT_DEVICE_OK : 77;
}

static void write_described_device(void *self, const double *out, int64_t now)
{
    (void)self;
    (void)out;
    (void)now;
}

static void close_described_device(void *self)
{
    (void)self;
    closed++;
}

static struct tact_device_ops ops;

static int open_described_device(const struct tact_device_config *config, struct tact_device *out,
                                 struct tact_error *err)
{
    struct tact_device_info *info = &out->info;
    (void)config;
    (void)err;
    ops = (struct tact_device_ops){TACT_ABI(struct tact_device_ops), read_described_device,
                                   write_described_device, close_described_device};
    out->ops = &ops;
    info->input_count = 7;
    info->output_count = 2;
    for (int i = 0; i < 7; i++) {
        snprintf(info->input[i].name, sizeof info->input[i].name, i ? "n%d" : "angle", i);
    }
    strcpy(info->input[0].unit, "rad");
    strcpy(info->output[0].name, "felt");
    strcpy(info->output[1].name, "spare");
    info->wrench_count = 1;
    info->wrench[0] = (struct tact_device_wrench){"wrist", "tool", 1, 0};
    if (spoil_device) {
        spoil_device(out);
    }
    return 0;
}

/* Makes the session; where that fails *err is set. */
static struct tact_session *make_session_of_device_type(struct tact_scene **scene,
                                                        struct tact_error *err)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "odd",
                                                 "a program's own", open_described_device, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session = NULL;
    closed = 0;
    memset(err, 0, sizeof *err);
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    assert_int_equal(tact_scene_parse(text, strlen(text), "types.yaml", NULL, scene, err), 0);
    tact_session_create(*scene, &options, &session, err);
    return session;
}

#define DEFINE_DEVICE_WITH_BAD_DESCRIPTION(name, change)                                           \
    static void name(struct tact_device *d)                                                        \
    {                                                                                              \
        change;                                                                                    \
    }

DEFINE_DEVICE_WITH_BAD_DESCRIPTION(too_many_inputs, d->info.input_count = 4000)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(negative_inputs, d->info.input_count = -1)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(too_many_outputs, d->info.output_count = 65)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(too_many_wrenches, d->info.wrench_count = 5)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(endless_name,
                                   memset(d->info.input[1].name, 'x', sizeof d->info.input[1].name))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(empty_name, d->info.input[2].name[0] = 0)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(same_names, strcpy(d->info.input[3].name, "angle"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(same_outputs, strcpy(d->info.output[1].name, "felt"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(control_name, strcpy(d->info.output[1].name, "a\nb"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(c1_name, strcpy(d->info.output[1].name, "a\xc2\x9b"
                                                                           "2J"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(not_utf8, strcpy(d->info.input[1].name, "\xff\xfe"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(endless_unit, memset(d->info.output[0].unit, 'm',
                                                        sizeof d->info.output[0].unit))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(odd_rest, d->info.input[4].rest = NAN)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(endless_rest, d->info.output[1].rest = INFINITY)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(endless_model, memset(d->info.model, 'm', sizeof d->info.model))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(far_wrench, d->info.wrench[0].channel = 2)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(wrench_before, d->info.wrench[0].channel = -1)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(wrench_frame, strcpy(d->info.wrench[0].frame, "\x7f"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(wrench_word, strcpy(d->info.wrench[0].name, "1 wrist"))
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(no_functions, d->ops = NULL)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(no_read, ((struct tact_device_ops *)d->ops)->read = NULL)
DEFINE_DEVICE_WITH_BAD_DESCRIPTION(no_close, ((struct tact_device_ops *)d->ops)->close = NULL)

static void every_invalid_device_description_is_refused(void **state)
{
    (void)state;
    static const struct {
        void (*spoil_device)(struct tact_device *);
        const char *why;
        int expected_close_count;
    } faults[] = {{too_many_inputs, "4000 inputs", 1},
                  {negative_inputs, "-1 inputs", 1},
                  {too_many_outputs, "65 outputs", 1},
                  {too_many_wrenches, "5 force-torque sensors", 1},
                  {endless_name, "input 1 has no name", 1},
                  {empty_name, "input 2 has no name", 1},
                  {same_names, "\"angle\"", 1},
                  {same_outputs, "\"felt\"", 1},
                  {control_name, "output 1 has no name", 1},
                  {c1_name, "output 1 has no name", 1},
                  {not_utf8, "input 1 has no name", 1},
                  {endless_unit, "output 0 has a unit", 1},
                  {odd_rest, "input 4 has a rest value", 1},
                  {endless_rest, "output 1 has a rest value", 1},
                  {endless_model, "a model", 1},
                  {far_wrench, "inputs from 2 on, of 7", 1},
                  {wrench_before, "inputs from -1 on", 1},
                  {wrench_frame, "sensor 0 has a frame", 1},
                  {wrench_word, "sensor 0 has no valid name", 1},
                  {no_functions, "no functions", 0},
                  {no_read, "no read", 1},
                  {no_close, "no close", 0}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct tact_scene *scene = NULL;
        struct tact_error err;
        spoil_device = faults[i].spoil_device;
        struct tact_session *session = make_session_of_device_type(&scene, &err);
        if (session || !strstr(err.text, faults[i].why)) {
            fail_msg("\"%s\" was expected, not \"%s\"", faults[i].why, err.text);
        }
        assert_string_equal(err.key, "devices[0].type");
        assert_int_equal(err.line, 12);
        assert_int_equal(closed, faults[i].expected_close_count);
        tact_scene_free(scene);
    }
}

/* A valid type is accepted. It need not state its name, and an undefined state counts as a lost
 * device. */
static void valid_device_type_is_accepted(void **state)
{
    (void)state;
    struct tact_scene *scene = NULL;
    struct tact_error err;
    struct tact_session_report report;
    spoil_device = NULL;
    struct tact_session *session = make_session_of_device_type(&scene, &err);
    if (!session) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(tact_session_run(session, &report), 0);
    assert_int_equal(report.loop.ticks, 10);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
    tact_session_destroy(session);
    tact_scene_free(scene);
    assert_int_equal(closed, 1);
}

static int fail_to_open_device(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    (void)config;
    (void)out;
    (void)err;
    return -ENXIO;
}

/* A type that fails without a message, or that is invalid itself, is named in the error. */
static void failures_of_a_device_type_name_it(void **state)
{
    (void)state;
    static const struct tact_device_type device_type_that_fails_silently = {
        TACT_ABI(struct tact_device_type), "odd", "fails", fail_to_open_device, NULL};
    static const struct tact_device_type device_type_without_functions = {
        .abi = TACT_ABI(struct tact_device_type)};
    static const struct tact_device_type old = {
        {sizeof old, TACT_ABI_VERSION - 1}, "odd", "is old", fail_to_open_device, NULL};
    static const struct tact_device_type device_type_of_small_struct_size = {
        {sizeof old - 8, TACT_ABI_VERSION}, "odd", "is short", fail_to_open_device, NULL};
    const struct tact_device_type *const types[] = {&device_type_that_fails_silently,
                                                    &device_type_without_functions, &old,
                                                    &device_type_of_small_struct_size};
    static const char *const why[] = {"cannot be opened: No such device", "has no name",
                                      "compiled for another ABI version",
                                      "compiled for another ABI version"};
    for (int i = 0; i < 4; i++) {
        struct tact_session_options options = tact_session_options_default();
        struct tact_session *session = NULL;
        struct tact_scene *scene = NULL;
        struct tact_error err = {0};
        options.types = types + i;
        options.type_count = 1;
        assert_int_equal(tact_scene_parse(text, strlen(text), "types.yaml", NULL, &scene, &err), 0);
        assert_true(tact_session_create(scene, &options, &session, &err) < 0);
        assert_null(session);
        if (!strstr(err.text, why[i])) {
            fail_msg("\"%s\" was expected, not \"%s\"", why[i], err.text);
        }
        tact_scene_free(scene);
    }
}

static int
    is_recording_replacement_requested; /* whether the device is asked to replace its recording */

static int open_with_recording(const struct tact_device_config *config, struct tact_device *out,
                               struct tact_error *err)
{
    assert_non_null(config->record);
    is_recording_replacement_requested = config->replace;
    return open_described_device(config, out, err);
}

/* A device's recording may be replaced where the log may be, but not where the scene plays a file
 * of that folder. */
static void recording_that_is_played_is_not_replaced(void **state)
{
    (void)state;
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "odd", "keeps",
                                                 open_with_recording, NULL};
    static const struct tact_device_type *const types[] = {&type};
    static const struct {
        const char *setting, *folder;
        int replace, expected;
    } cases[] = {{"", "/tmp", 1, 1},
                 {"", "/tmp", 0, 0},
                 {", settings: {file: /tmp/a.evemu}", "/tmp", 1, 0},
                 {", settings: {file: a.evemu}", ".", 1, 0},
                 {", settings: {file: ../a.evemu}", ".", 1, 1},
                 {", settings: {file: /a.evemu}", "/", 1, 0}};
    const char *at = strstr(text, "}]\ninputs");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char edited_scene_text[1024];
        struct tact_session_options options = tact_session_options_default();
        struct tact_session *session = NULL;
        struct tact_scene *scene = NULL;
        struct tact_error err = {0};
        snprintf(edited_scene_text, sizeof edited_scene_text, "%.*s%s%s", (int)(at - text), text,
                 cases[i].setting, at);
        options.types = types;
        options.type_count = 1;
        options.clock = TACT_LOOP_FREE;
        options.replace = cases[i].replace;
        options.record_devices = cases[i].folder;
        spoil_device = NULL;
        assert_int_equal(tact_scene_parse(edited_scene_text, strlen(edited_scene_text),
                                          "types.yaml", NULL, &scene, &err),
                         0);
        if (tact_session_create(scene, &options, &session, &err)) {
            fail_msg("%s", err.text);
        }
        if (is_recording_replacement_requested != cases[i].expected) {
            fail_msg("case %zu: %d", i, is_recording_replacement_requested);
        }
        tact_session_destroy(session);
        tact_scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_invalid_device_description_is_refused),
        cmocka_unit_test(valid_device_type_is_accepted),
        cmocka_unit_test(failures_of_a_device_type_name_it),
        cmocka_unit_test(recording_that_is_played_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
