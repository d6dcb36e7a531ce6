/*
 * Outputs of a base that are components of one vector: scenes that are refused, and logs of such
 * scenes, which earlier versions recorded with limits on each component.
 */
#include <errno.h>
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
#include "rt/log/log_reader.h"
#include "rt/log/recorder.h"
#include "rt/session/facts.h"
#include "rt/session/replay.h"
#include "support/rewrite.h"
#include "support/run_scene.h"

enum { OUTPUTS = 4, TICKS = 300 };

static double reported_position; /* positions that the device reports as x and y [m] */

static void read_probe_device(void *self, uint64_t tick, double t, int64_t now,
                              struct tact_device_input *in)
{
    (void)self, (void)tick, (void)t;
    in->state = TACT_DEVICE_OK;
    in->stamp_ns = now;
    in->channel[0] = in->channel[1] = reported_position;
    in->channel[2] = 1.0;
}

static void write_probe_device(void *self, const double *out, int64_t now)
{
    (void)self, (void)out, (void)now;
}

static void close_probe_device(void *self)
{
    (void)self;
}

static int open_probe_device(const struct tact_device_config *config, struct tact_device *out,
                             struct tact_error *err)
{
    static const char *const in[] = {"x", "y", "deadman"}, *const to[] = {"fx", "fy", "fz", "tx"};
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops), read_probe_device,
                                               write_probe_device, close_probe_device};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = 3;
    out->info.output_count = OUTPUTS;
    for (int i = 0; i < 3; i++) {
        snprintf(out->info.input[i].name, sizeof out->info.input[i].name, "%s", in[i]);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        snprintf(out->info.output[i].name, sizeof out->info.output[i].name, "%s", to[i]);
    }
    return 0;
}

static struct tact_session_options session_options_with_probe_device(void)
{
    static const struct tact_device_type probe_type = {TACT_ABI(struct tact_device_type), "probe",
                                                       "of a test", open_probe_device, NULL};
    static const struct tact_device_type *const types[] = {&probe_type};
    struct tact_session_options options = tact_session_options_default();
    options.types = types;
    options.type_count = 1;
    options.clock = TACT_LOOP_FREE;
    return options;
}

/* A tip of 20 mm that touches a wall in +x. */
static const char text[] =
    "name: vector\n"
    "materials: [{name: skin}]\n"
    "pairs: [{materials: [skin, skin], friction: 0.5, model: features}]\n"
    "bodies:\n"
    "  - name: wall\n"
    "    fixed: true\n"
    "    shapes: [{type: box, size: [0.1, 1, 1], position: [0.06, 0, 0], material: skin}]\n"
    "hands:\n"
    "  - name: tip\n"
    "    weightless: true\n"
    "    base:\n"
    "      mass: 0.05\n"
    "      inertia: [1e-5, 1e-5, 1e-5, 0, 0, 0]\n"
    "      shapes: [{type: sphere, radius: 0.01, material: skin}]\n"
    "      coupling: {stiffness: 1000, damping: 5}\n"
    "      turn_coupling: {stiffness: 1, damping: 0.01}\n"
    "devices: [{name: probe, type: probe}, {name: other, type: probe}]\n"
    "inputs: [{from: probe.x, to: tip.base_x}, {from: probe.y, to: tip.base_y}]\n"
    "deadman: probe.deadman\n"
    "outputs:\n%s";

/* Components of one vector have the same settings, and are three at most. */
static void outputs_that_form_no_vector_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *outputs, *key, *message;
    } bad[] = {
        {"  - {from: tip.base_x, to: probe.fx, limit: 1, rate: 9}\n"
         "  - {from: tip.base_rx, to: probe.tx, limit: 2, rate: 8}\n"
         "  - {from: tip.base_y, to: probe.fy, limit: 1, rate: 8}\n",
         "outputs[2].rate", "differs from that of outputs[0]"},
        {"  - {from: tip.base_x, to: probe.fx, limit: 1, rate: 9}\n"
         "  - {from: tip.base_y, to: probe.fy, limit: 1, rate: 9}\n"
         "  - {from: tip.base_z, to: probe.fz, limit: 1, rate: 9}\n"
         "  - {from: tip.base_x, to: probe.tx, limit: 1, rate: 9}\n",
         "outputs[3].from", "a force or moment vector of a device can have 3 outputs at most"},
    };
    const struct tact_session_options options = session_options_with_probe_device();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tact_session *session;
        struct tact_scene *scene;
        struct tact_error err = {.line = 0};
        char out[4096];
        snprintf(out, sizeof out, text, bad[i].outputs);
        assert_int_equal(tact_scene_parse(out, strlen(out), "a.yaml", NULL, &scene, &err), 0);
        assert_int_equal(tact_session_create(scene, &options, &session, &err), -EINVAL);
        print_message("%s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
        assert_string_equal(err.key, bad[i].key);
        assert_true(err.line > 0 && strstr(err.text, bad[i].message));
        tact_scene_free(scene);
    }
}

/* A coupling sends its reaction once: not to two devices, nor to two channels of one; its energy
 * would be that of neither. Joints of their own may go to a device each, and a scale of 0, or the
 * torque of the coupling as that of a drive, is no reaction. */
static void reaction_of_a_coupling_is_sent_once(void **state)
{
    (void)state;
    static const struct {
        const char *output, *message; /* NULL: it is accepted */
    } cases[] = {
        {"from: tip.base_x, to: other.fx, limit: 1, rate: 9",
         "outputs[0] sends the reaction of tip.base_x already, to probe.fx"},
        {"from: tip.base_x, to: probe.fz, limit: 1, rate: 9",
         "outputs[0] sends the reaction of tip.base_x already, to probe.fx"},
        {"from: tip.base_y, to: other.fx, limit: 1, rate: 9", NULL},
        {"from: tip.base_x, to: other.fx, limit: 1, rate: 9, scale: 0", NULL},
        {"from: tip.base_x, to: other.fx, limit: 1, rate: 9, what: drive", NULL},
    };
    const struct tact_session_options options = session_options_with_probe_device();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tact_session *session;
        struct tact_scene *scene;
        struct tact_error err = {.line = 0};
        char outputs[256], out[4096];
        snprintf(outputs, sizeof outputs,
                 "  - {from: tip.base_x, to: probe.fx, limit: 1, rate: 9}\n  - {%s}\n",
                 cases[i].output);
        snprintf(out, sizeof out, text, outputs);
        assert_int_equal(tact_scene_parse(out, strlen(out), "a.yaml", NULL, &scene, &err), 0);
        const int rc = tact_session_create(scene, &options, &session, &err);
        assert_int_equal(rc, cases[i].message ? -EINVAL : 0);
        if (rc) {
            print_message("%s:%d: %s: %s\n", err.file, err.line, err.key, err.text);
            assert_string_equal(err.file, "a.yaml");
            assert_string_equal(err.key, "outputs[1].from");
            assert_int_equal(err.line, 22);
            assert_non_null(strstr(err.text, cases[i].message));
        } else {
            tact_session_destroy(session);
        }
        tact_scene_free(scene);
    }
}

/* Copies a log, in whose scene outputs of drives with a negative scale become what they are to a
 * person: reactions. */
static void copy_log_with_drives_as_reactions(const char *path, const char *copied_log_path)
{
    static const char from[] = "what: drive,    scale: -1", to[] = "what: reaction, scale: 1 ";
    const struct tact_messages no_messages = {NULL, NULL};
    struct tact_recorder_options options = tact_recorder_options_default();
    struct tact_recorder *out;
    struct tact_log *log;
    struct log_rewrite log_rewrite;
    struct tact_log_attachment files[8];
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_int_equal(open_recorder_of_log_copy(&log_rewrite, log), 0);
    struct tact_recorder_content content = recorder_content_of_log_copy(&log_rewrite);
    content.attachments = files;
    content.attachment_count = tact_log_attachment_count(log);
    assert_true(content.attachment_count <= sizeof files / sizeof files[0]);
    char *scene = NULL;
    for (size_t i = 0; i < content.attachment_count; i++) {
        files[i] = *tact_log_attachment_at(log, i);
        if (!strcmp(files[i].name, TACT_LOG_SCENE)) {
            scene = calloc(1, files[i].size + 1);
            assert_non_null(scene);
            memcpy(scene, files[i].data, files[i].size);
            files[i].data = scene;
            for (char *at = strstr(scene, from); at; at = strstr(at, from)) {
                memcpy(at, to, strlen(to));
            }
        }
    }
    assert_true(scene && strstr(scene, to));
    assert_int_equal(
        tact_recorder_open(copied_log_path, &options, &content, no_messages, &out, NULL), 0);
    while (tact_log_next(log, record) > 0) {
        assert_int_equal(append_record_to_log_copy(&log_rewrite, record, out), 0);
    }
    assert_int_equal(tact_recorder_close(out, NULL), 0);
    free_log_copy_buffers(&log_rewrite);
    tact_log_close(log);
    free(scene);
    free(record);
}

struct sent_outputs {
    double last[OUTPUTS]; /* of the log */
    int differing;        /* ticks */
};

static void compare_sent_outputs(void *user, const struct tact_layout *layout,
                                 const struct tact_record *logged_record,
                                 const struct tact_record *replayed)
{
    struct sent_outputs *sent = user;
    const struct tact_field *field = tact_layout_find(layout, "outputs_sent");
    const double *then = logged_record->values + field->offset,
                 *now = replayed->values + field->offset;
    sent->differing += memcmp(then, now, field->count * sizeof *then) != 0;
    memcpy(sent->last, then, field->count * sizeof *then);
}

/* Presses against the wall and along it, and records it in `path`. */
static void record_press_session(const char *outputs, const char *path)
{
    struct tact_session_options options = session_options_with_probe_device();
    struct tact_session_report report;
    struct tact_session *session;
    struct tact_scene *scene;
    char out[4096];
    options.record = path;
    snprintf(out, sizeof out, text, outputs);
    reported_position = 0.0;
    open_session_of_scene_text(out, &options, &scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    for (int k = 0; k < TICKS; k++) {
        reported_position = fmin(0.004, 2e-5 * k);
        assert_true(tact_session_step(session, 0, NULL) >= 0);
    }
    assert_int_equal(tact_session_end(session, &report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* A log of a scene that is refused now, as its outputs have different limits or are four, is
 * replayed with the limits that were on each of them. */
static void old_logs_of_outputs_that_form_no_vector_replay(void **state)
{
    (void)state;
    static const char *const outputs[] = {
        "  - {from: tip.base_x, to: probe.fx, limit: 1, rate: 1e4}\n"
        "  - {from: tip.base_y, to: probe.fy, what: drive,    scale: -1, limit: 0.5, rate: 1e4}\n",
        "  - {from: tip.base_x, to: probe.fx, limit: 1, rate: 1e4}\n"
        "  - {from: tip.base_y, to: probe.fy, what: drive,    scale: -1, limit: 1, rate: 1e4}\n"
        "  - {from: tip.base_z, to: probe.fz, what: drive,    scale: -1, limit: 1, rate: 1e4}\n"
        "  - {from: tip.base_x, to: probe.tx, what: drive,    scale: -1, limit: 1, rate: 1e4}\n",
    };
    char folder[] = "/tmp/tact_vector_XXXXXX", path[64], copied_log_path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/now.mcap", folder);
    snprintf(copied_log_path, sizeof copied_log_path, "%s/before.mcap", folder);
    for (int i = 0; i < 2; i++) {
        struct tact_replay_report replayed;
        struct tact_error err = {.line = 0};
        struct sent_outputs sent = {.differing = 0};
        record_press_session(outputs[i], path);
        copy_log_with_drives_as_reactions(path, copied_log_path);
        struct tact_replay_options how = tact_replay_options_default();
        how.compared = compare_sent_outputs;
        how.user = &sent;
        if (tact_replay_run_with(copied_log_path, &how, &replayed, &err)) {
            fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
        }
        print_message("sent %.3f and %.3f N, %d of %d ticks differ\n", sent.last[0], sent.last[1],
                      sent.differing, (int)replayed.ticks);
        assert_true(replayed.ticks == TICKS && sent.differing == 0);
        assert_true(fabs(sent.last[0]) == 1.0 && fabs(sent.last[1]) == (i ? 1.0 : 0.5));
        assert_true(remove(path) == 0 && remove(copied_log_path) == 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_that_form_no_vector_are_refused),
        cmocka_unit_test(reaction_of_a_coupling_is_sent_once),
        cmocka_unit_test(old_logs_of_outputs_that_form_no_vector_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
