/* A state that is not finite or too fast is a fault: outputs are zero in the same tick, and a
 * message, an event and the report name the body or joint. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/log/log_reader.h"
#include "rt/session/report.h"
#include "support/run_scene.h"

#define TICKS 100
#define TICK_OF_SPOILED_WORLD 50
#define LOG TACT_BINARY_DIR "/fault.mcap"

/* A finger whose drive is always off its target, so that its output is not zero while armed. */
static const char text[] =
    "name: fault\n"
    "materials: [{name: m}]\n"
    "pairs: [{materials: [m, m], friction: 0.5}]\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: m}]}\n"
    "  - {name: ball, mass: 0.1, position: [0, 0, 0.00998],\n"
    "     shapes: [{type: sphere, radius: 0.01, material: m}]}\n"
    "  - {name: far, mass: 0.1, position: [1, 0, 5],\n"
    "     shapes: [{type: sphere, radius: 0.01, material: m}]}\n"
    "hands:\n"
    "  - name: h\n"
    "    links:\n"
    "      - {name: a, mass: 0.1, inertia: [1.0, 1.0, 1.0, 0, 0, 0],\n"
    "         joint: {type: hinge, axis: [0, 1, 0], position: [3, 0, 3], stiffness: 1, damping: "
    "1}}\n"
    "devices: [{name: glove, type: glove}]\n"
    "inputs: [{from: glove.angle, to: h.a}]\n"
    "outputs: [{from: h.a, to: glove.felt, limit: 10, rate: 1e5}]\n"
    "moments: {source: host}\n";

static struct tact_session *session_to_be_spoiled;
static void (*spoil_world_state)(struct tact_world *world);
static double sent[TICKS + 1];
static int device_write_count;
static char last_message[512];

static void read_observed_device(void *self, uint64_t tick, double t, int64_t now,
                                 struct tact_device_input *in)
{
    (void)self;
    (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = 1.0;
    if (tick == TICK_OF_SPOILED_WORLD) {
        spoil_world_state(tact_session_world(session_to_be_spoiled));
    }
}

static void write_observed_device(void *self, const double *out, int64_t now)
{
    (void)self;
    (void)now;
    sent[device_write_count++] = out[0];
}

static void close_observed_device(void *self)
{
    (void)self;
}

static int open_observed_device(const struct tact_device_config *config, struct tact_device *out,
                                struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_observed_device, write_observed_device,
                                               close_observed_device};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->info.input_count = out->info.output_count = 1;
    strcpy(out->info.input[0].name, "angle");
    strcpy(out->info.output[0].name, "felt");
    return 0;
}

static void store_last_message(void *user, enum tact_message_level level, const char *words)
{
    (void)user;
    if (level == TACT_MESSAGE_ERROR) {
        snprintf(last_message, sizeof last_message, "%s", words);
    }
}

static void make_far_body_pose_nan(struct tact_world *world)
{
    tact_world_body(world, 1)->twist[1] = NAN;
}

static void make_far_body_fast(struct tact_world *world)
{
    tact_world_body(world, 1)->twist[0] = 1001.0;
}

static void make_ball_velocity_nan(struct tact_world *world)
{
    tact_world_body(world, 0)->twist[4] = NAN;
}

static void make_joint_fast(struct tact_world *world)
{
    tact_hand_state(tact_world_hand(world, 0)).v[0] = 1e9;
}

static void leave_world_unchanged(struct tact_world *world)
{
    (void)world;
}

static void run_session_with_fault(void (*spoil_world)(struct tact_world *),
                                   struct tact_session_report *report, char **json)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "glove",
                                                 "a glove", open_observed_device, NULL};
    static const struct tact_device_type *const types[] = {&type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_scene *scene = NULL;
    spoil_world_state = spoil_world;
    device_write_count = 0;
    last_message[0] = '\0';
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    options.record = LOG;
    options.messages.fn = store_last_message;
    remove(LOG);
    open_session_of_scene_text(text, &options, &scene, &session_to_be_spoiled);
    assert_int_equal(tact_session_run(session_to_be_spoiled, report), 0);
    *json = tact_session_report_json(session_to_be_spoiled, report);
    tact_session_destroy(session_to_be_spoiled);
    tact_scene_free(scene);
    assert_int_equal(device_write_count, TICKS + 1);
}

static void session_fault_names_its_cause(void **state)
{
    (void)state;
    static const struct {
        void (*spoil_world)(struct tact_world *);
        const char *what;
    } cases[] = {{make_far_body_pose_nan, "body far: the body's pose is not finite"},
                 {make_far_body_fast, "body far: the speed exceeds max_speed"},
                 {make_ball_velocity_nan, "body ball: the body's velocity is not finite"},
                 {make_joint_fast, "joint h.a: the angular speed exceeds 1e5 rad/s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tact_session_report report;
        struct tact_error err = {0};
        struct tact_log *log;
        char *json, quoted[256];
        run_session_with_fault(cases[i].spoil_world, &report, &json);
        assert_string_equal(report.fault.text, cases[i].what);
        assert_int_equal(report.fault.tick, TICK_OF_SPOILED_WORLD);
        assert_int_equal(report.safety, TACT_SAFETY_FAULT);
        assert_true(fabs(sent[TICK_OF_SPOILED_WORLD - 1]) > 0.01);
        for (int k = TICK_OF_SPOILED_WORLD; k <= TICKS; k++) {
            assert_true(sent[k] == 0.0);
        }
        snprintf(quoted, sizeof quoted, "\"fault\": \"%s\"", cases[i].what);
        assert_non_null(strstr(json, quoted));
        assert_non_null(strstr(last_message, cases[i].what));
        assert_non_null(strstr(last_message, "t = 0.050 s"));
        free(json);
        assert_int_equal(tact_log_open(LOG, &log, &err), 0);
        int events = 0;
        for (size_t k = 0; k < tact_log_state(log)->events; k++) {
            const struct tact_log_event *e = tact_log_event(log, k);
            if (!strcmp(e->name, "fault")) {
                events++;
                assert_int_equal(e->tick, TICK_OF_SPOILED_WORLD);
                assert_string_equal(e->text, cases[i].what);
            }
        }
        assert_int_equal(events, 1);
        tact_log_close(log);
    }
}

static void session_without_a_cause_has_no_fault(void **state)
{
    (void)state;
    struct tact_session_report report;
    char *json;
    run_session_with_fault(leave_world_unchanged, &report, &json);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
    assert_string_equal(report.fault.text, "");
    assert_non_null(strstr(json, "\"fault\": null"));
    assert_string_equal(last_message, "");
    free(json);
    remove(LOG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_fault_names_its_cause),
        cmocka_unit_test(session_without_a_cause_has_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
