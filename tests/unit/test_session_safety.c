/*
 * What a person's fingers feel when something goes wrong: a device that is lost and comes back,
 * values that are old or not finite, a released deadman, the end of the session.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "rt/session/report.h"
#include "rt/session/session.h"
#include "support/run_scene.h"
#include "support/script_device.h"

#define TICKS 2000
#define CLOSED 1000 /* the fingers press by then */
#define LIMIT 2.0   /* of every output in ruler.yaml [N m] */
#define STEP 0.5    /* its rate, a tick */

/* A haptic glove whose values a script sets at each tick, and that remembers what it was sent. */
static struct {
    void (*say)(uint64_t tick, struct tact_device_input *in);
    double sent[TICKS + 1][4];
    int64_t stamp[TICKS + 1];
    int writes;
    int closed;
} glove;

static const char *const inputs[] = {"grip", "turn", "lift", "deadman"};

static void glove_read(void *self, uint64_t tick, double t, int64_t now,
                       struct tact_device_input *in)
{
    (void)self;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = fmin(1.0, fmax(0.0, (t - 0.1) / 0.5));
    in->channel[1] = in->channel[2] = 0.0;
    in->channel[3] = 1.0;
    glove.say(tick, in);
}

static void glove_write(void *self, const double *out, int64_t now)
{
    (void)self;
    assert_true(glove.writes <= TICKS);
    memcpy(glove.sent[glove.writes], out, sizeof glove.sent[0]);
    glove.stamp[glove.writes++] = now;
}

static void glove_close(void *self)
{
    (void)self;
    glove.closed++;
}

static int glove_open(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), glove_read,
                                               glove_write, glove_close};
    (void)config;
    (void)err;
    out->ops = &ops;
    out->info.input_count = out->info.output_count = 4;
    for (int i = 0; i < 4; i++) {
        strcpy(out->info.input[i].name, inputs[i]);
        snprintf(out->info.output[i].name, sizeof out->info.output[i].name, "felt_%d", i);
    }
    return 0;
}

/* A device that gives nothing that the scene needs, and is lost for a while. */
static struct {
    uint64_t from, to;
} other_lost;

static void other_read(void *self, uint64_t tick, double t, int64_t now,
                       struct tact_device_input *in)
{
    (void)self;
    (void)t;
    in->state = tick >= other_lost.from && tick < other_lost.to ? TACT_DEVICE_LOST : TACT_DEVICE_OK;
    in->stamp_ns = now;
}

static int other_open(const struct tact_device_config *config, struct tact_device *out,
                      struct tact_error *err)
{
    (void)config;
    (void)err;
    return script_device(other_read, "nothing", out);
}

/* Runs the ruler with the glove; what must hold always, whatever the glove says. */
static void run(void (*say)(uint64_t, struct tact_device_input *),
                struct tact_session_report *report, char **json)
{
    static const struct tact_device_type type = {TACT_ABI(struct tact_device_type), "glove",
                                                 "a glove", glove_open, NULL};
    static const struct tact_device_type other = {TACT_ABI(struct tact_device_type), "other",
                                                  "another device", other_open, NULL};
    static const struct tact_device_type *const types[] = {&type, &other};
    const struct edit edits[] = {{"type: operator", "type: glove"},
                                 {"    settings:\n", "    settings: {}\n#"},
                                 {"        - [0.0, 0, 0, 0]\n", ""},
                                 {"        - [0.1, 0, 0, 0]\n", ""},
                                 {"        - [0.6, 1, 0, 0]\n", ""},
                                 {"      script:", "#"},
                                 {"devices:\n", "devices:\n  - {name: other, type: other}\n"},
                                 {NULL, NULL}};
    char *text = edited_scene("ruler.yaml", edits);
    struct tact_error err = {0};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    struct tact_session_options options = tact_session_options_default();
    memset(&glove, 0, sizeof glove);
    glove.say = say;
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    options.ticks = TICKS;
    int rc = tact_scene_parse(text, strlen(text), "glove.yaml", NULL, &scene, &err);
    rc = rc ? rc : tact_session_create(scene, &options, &session, &err);
    if (rc) {
        fail_msg("%d: %s: %s", err.line, err.key, err.text);
    }
    assert_int_equal(tact_session_run(session, report), 0);
    if (json) {
        *json = tact_session_report_json(session, report);
    }
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
    assert_int_equal(glove.closed, 1);
    assert_int_equal(glove.writes, TICKS + 1); /* one a tick, and the zeros at the end */
    for (int i = 0; i <= TICKS; i++) {
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(glove.sent[i][k]) <= LIMIT);
            assert_true(i < TICKS || glove.sent[i][k] == 0.0);
        }
    }
    assert_true(glove.stamp[TICKS] > 0);
}

static double felt(int tick)
{
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        most = fmax(most, fabs(glove.sent[tick][k]));
    }
    return most;
}

static void all_is_well(uint64_t tick, struct tact_device_input *in)
{
    (void)tick;
    (void)in;
}

static void force_is_felt_and_released(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(all_is_well, &report, NULL);
    assert_true(felt(CLOSED) > 0.05); /* 4 N at a lever of some 4 cm */
    assert_true(felt(TICKS - 1) > 0.05);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
}

static void lets_go(uint64_t tick, struct tact_device_input *in)
{
    in->channel[3] = tick < 1200 || tick >= 1500;
}

static void deadman_takes_the_force_at_once(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(lets_go, &report, NULL);
    assert_true(felt(1199) > 0.05);
    for (int i = 1200; i < 1500; i++) {
        assert_true(felt(i) == 0.0);
    }
    assert_true(felt(1500) < 0.02); /* it comes back along the ramp of 0.2 s */
    assert_true(felt(1800) > 0.05);
}

static void is_stale(uint64_t tick, struct tact_device_input *in)
{
    in->state = tick >= 1200 && tick < 1500 ? TACT_DEVICE_STALE : TACT_DEVICE_OK;
}

/* The switch of a device that says nothing new may have been released long ago. */
static void old_values_hold_no_deadman(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(is_stale, &report, NULL);
    assert_true(felt(1199) > 0.05);
    for (int i = 1200; i < 1500; i++) {
        assert_true(felt(i) == 0.0);
    }
    assert_true(felt(1800) > 0.05);
}

static void is_lost(uint64_t tick, struct tact_device_input *in)
{
    in->state = tick >= 1200 && tick < 1500 ? TACT_DEVICE_LOST : TACT_DEVICE_OK;
}

static void lost_device_gets_nothing(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(is_lost, &report, NULL);
    for (int i = 1200; i < 1500; i++) {
        assert_true(felt(i) == 0.0);
    }
    for (int i = 1500; i < TICKS; i++) {
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(glove.sent[i][k] - glove.sent[i - 1][k]) <= STEP + 1e-12);
        }
    }
    assert_true(felt(1500) < 0.02);
    assert_true(felt(1800) > 0.05);
}

/* Whatever is lost, nothing is armed meanwhile: a hand closes on what it does not know of. What is
 * lost once it is armed takes only its own outputs with it. */
static void nothing_is_armed_while_a_device_is_lost(void **state)
{
    (void)state;
    struct tact_session_report report;
    other_lost.from = 0;
    other_lost.to = 1200;
    run(all_is_well, &report, NULL);
    for (int i = 0; i < 1200; i++) {
        assert_true(felt(i) == 0.0);
    }
    assert_true(felt(1200) < 0.02); /* and then over the ramp of 0.2 s */
    assert_true(felt(1500) > 0.05);
    other_lost.from = 1200;
    other_lost.to = 1500;
    run(all_is_well, &report, NULL);
    for (int i = CLOSED; i < TICKS; i++) {
        assert_true(felt(i) > 0.05);
    }
    run(lets_go, &report, NULL); /* at 1200 to 1500 */
    assert_true(felt(1800) > 0.05);
    other_lost.to = 1700; /* released, it comes back only with the device */
    run(lets_go, &report, NULL);
    for (int i = 1200; i < 1700; i++) {
        assert_true(felt(i) == 0.0);
    }
    assert_true(felt(1950) > 0.05);
    other_lost.from = other_lost.to = 0;
}

static void is_not_a_number(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200 && tick < 1300) {
        in->channel[0] = NAN;
        in->channel[1] = INFINITY;
    }
}

/* The fingers stay where they are: the grip is not lost, nothing that is not finite gets in. */
static void odd_values_move_nothing(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(is_not_a_number, &report, NULL);
    assert_int_equal(report.safety, TACT_SAFETY_ARMED);
    for (int i = 1200; i < 1300; i++) {
        assert_true(fabs(felt(i) - felt(1199)) < 0.01);
    }
}

static void pulls_out_the_deadman(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200) {
        in->channel[3] = NAN;
    }
}

static void odd_deadman_is_released(void **state)
{
    (void)state;
    struct tact_session_report report;
    run(pulls_out_the_deadman, &report, NULL);
    assert_true(felt(1199) > 0.05);
    for (int i = 1200; i < TICKS; i++) {
        assert_true(felt(i) == 0.0);
    }
}

static void throws_the_hand_away(uint64_t tick, struct tact_device_input *in)
{
    if (tick >= 1200) {
        in->channel[0] = 1e308; /* finite, and overflows on its way through the drives */
    }
}

/* A simulation that blows up is a fault: zero from then on, and a report that says so. */
static void blown_up_simulation_is_a_fault(void **state)
{
    (void)state;
    struct tact_session_report report;
    char *json;
    run(throws_the_hand_away, &report, &json);
    assert_int_equal(report.safety, TACT_SAFETY_FAULT);
    assert_true(felt(1199) > 0.05);
    for (int i = 1210; i < TICKS; i++) {
        assert_true(felt(i) == 0.0);
    }
    assert_non_null(json);
    const char *const keys[] = {
        "\"solver\"", "\"ruler\"", "\"pinch.left_distal\"", "\"ruler/pinch.left_distal\"",
        "\"fault\"",  "null"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_non_null(strstr(json, keys[i]));
    }
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_is_felt_and_released),
        cmocka_unit_test(deadman_takes_the_force_at_once),
        cmocka_unit_test(old_values_hold_no_deadman),
        cmocka_unit_test(lost_device_gets_nothing),
        cmocka_unit_test(nothing_is_armed_while_a_device_is_lost),
        cmocka_unit_test(odd_values_move_nothing),
        cmocka_unit_test(odd_deadman_is_released),
        cmocka_unit_test(blown_up_simulation_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
