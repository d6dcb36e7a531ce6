/* A tool that a device of the test leads, at a wall: what the device reads is set before each tick.
 * Include after cmocka.h. */
#ifndef TACT_TESTS_LED_TOOL_H
#define TACT_TESTS_LED_TOOL_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "contact/number.h"
#include "rt/session/session_internal.h"
#include "run_scene.h"

enum { X, Y, Z, W, I, J, K, RX, RY, RZ, CLUTCH, FINE, INPUTS, OUTPUTS = 6 };

/* The device of the tests: what it reads, which a test sets before each tick, and what was written.
 */
static struct probe {
    int state;
    int raw; /* 1: the device reports that its position is not calibrated */
    double in[INPUTS], out[OUTPUTS];
    double deadman; /* state of the deadman, a device of its own */
} probe;

static inline void read_test_probe_device(void *self, uint64_t tick, double t, int64_t now,
                                          struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = probe.state;
    in->stamp_ns = now;
    memcpy(in->channel, probe.in, sizeof probe.in);
}

static inline void read_test_pedal_device(void *self, uint64_t tick, double t, int64_t now,
                                          struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = probe.deadman;
}

static inline void write_test_probe_device(void *self, const double *out, int64_t now)
{
    (void)self, (void)now;
    memcpy(probe.out, out, sizeof probe.out);
}

static inline void close_test_probe_device(void *self)
{
    (void)self;
}

static inline int open_test_probe_device(const struct tact_device_config *config,
                                         struct tact_device *out, struct tact_error *err)
{
    static const char *const in[INPUTS] = {"x", "y",  "z",  "w",  "i",      "j",
                                           "k", "rx", "ry", "rz", "clutch", "fine"};
    static const char *const to[OUTPUTS] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_test_probe_device, write_test_probe_device,
                                               close_test_probe_device};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = INPUTS;
    out->info.output_count = OUTPUTS;
    for (int i = 0; i < INPUTS; i++) {
        snprintf(out->info.input[i].name, sizeof out->info.input[i].name, "%s", in[i]);
        out->info.input[i].raw = probe.raw;
    }
    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(out->info.output[i].name, sizeof out->info.output[i].name, "%s", to[i]);
    }
    return 0;
}

static inline int open_test_pedal_device(const struct tact_device_config *config,
                                         struct tact_device *out, struct tact_error *err)
{
    static const struct tact_device_ops ops = {
        TACT_ABI(struct tact_device_ops), read_test_pedal_device, NULL, close_test_probe_device};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = 1;
    strcpy(out->info.input[0].name, "deadman");
    return 0;
}

static const struct tact_device_type test_pedal_device_type = {
    TACT_ABI(struct tact_device_type), "pedal", "of a test", open_test_pedal_device, NULL};
static const struct tact_device_type test_probe_device_type = {
    TACT_ABI(struct tact_device_type), "probe", "of a test", open_test_probe_device, NULL};

static const double stiffness = 1000.0, damping = 5.0; /* [N/m], [N s/m] */

/* A tip of 20 mm that touches a wall in +x: place of the tip on the tool, stiffness, damping, keys
 * of the tool. */
static const char device_led_tool_scene_format[] =
    "name: lead\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 1, 1], position: [0.06, 0, 0], material: skin}]\n"
    "hands:\n"
    "  - name: tip\n"
    "    weightless: true\n"
    "    quat_wxyz: [0.8, 0, 0, 0.6]\n"
    "    base:\n"
    "      mass: 0.05\n"
    "      inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
    "      shapes: [{type: sphere, radius: 0.01, position: [%s], material: skin}]\n"
    "      coupling: {stiffness: %g, damping: %g}\n"
    "      turn_coupling: {stiffness: 1, damping: 0.01}\n"
    "      limit: 20\n"
    "devices: [{name: probe, type: probe}, {name: pedal, type: pedal}]\n"
    "tools:\n"
    "  - {hand: tip, device: probe, %s}\n"
    "deadman: pedal.deadman\n";

/* Writes the scene of a tool whose tip is at `tip` in the tool's axes [m], with further keys of the
 * tool. */
static inline void format_led_tool_scene(char out[4096], const char *tip, const char *keys)
{
    tact_number_print(out, 4096, device_led_tool_scene_format, tip, stiffness, damping, keys);
}

static inline struct tact_session *begin_led_tool_session_with_tip(const char *tip,
                                                                   const char *keys,
                                                                   const char *record,
                                                                   struct tact_scene **scene)
{
    static const struct tact_device_type *const types[] = {&test_probe_device_type,
                                                           &test_pedal_device_type};
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    char out[4096];
    format_led_tool_scene(out, tip, keys);
    options.types = types;
    options.type_count = 2;
    options.clock = TACT_LOOP_FREE;
    options.record = record;
    options.replace = 1;
    probe = (struct probe){.state = TACT_DEVICE_OK, .in = {[W] = 1.0}, .deadman = 1.0};
    open_session_of_scene_text(out, &options, scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    return session;
}

static inline struct tact_session *begin_led_tool_session(const char *keys, const char *record,
                                                          struct tact_scene **scene)
{
    return begin_led_tool_session_with_tip("0, 0, 0", keys, record, scene);
}

static inline void end_led_tool_session(struct tact_session *session, struct tact_scene *scene)
{
    struct tact_session_report report;
    assert_int_equal(tact_session_end(session, &report), 0);
    assert_int_equal(report.faults, 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

static inline void step_led_tool_session(struct tact_session *session, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        assert_true(tact_session_step(session, 0, NULL) >= 0);
    }
}

#endif
