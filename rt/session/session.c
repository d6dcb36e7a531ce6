#include "rt/session/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "contact/world/carry_internal.h"
#include "rt/clock.h"
#include "rt/session/facts.h"
#include "rt/session/field_source_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

#define MAX_TRIANGLE_PAIRS 262144 /* maximum number of triangle pairs of two meshes */

struct tact_session_options tact_session_options_default(void)
{
    struct tact_session_options o = {.clock = TACT_LOOP_REAL};
    return o;
}

static int make_session_buffers(struct tact_session *s)
{
    s->unrecorded_replay_record = calloc(1, tact_layout_bytes(&s->layout));
    return s->unrecorded_replay_record
               ? tact_triple_create(&s->status, sizeof(struct tact_session_status), 0)
               : -ENOMEM;
}

int tact_session_check_stop_during_creation(const struct tact_session *s, struct tact_error *err)
{
    return tact_stop_requested(s->options.stop)
               ? tact_error_set(err, -EINTR, "the session was stopped before its first tick")
               : 0;
}

/* 1 where overlaps at the start were accepted: earlier versions pushed them open, and have no field
 * for the preload. */
static int did_log_accept_start_overlaps(const struct tact_log *log)
{
    const struct tact_layout *layout = tact_log_layout(log);
    int has_contact_list_or_preload_field = tact_log_element(log) != NULL;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        has_contact_list_or_preload_field |=
            !strcmp(layout->fields[i].unit, SESSION_PRELOAD_UNIT_TEXT);
    }
    return has_contact_list_or_preload_field;
}

static int64_t logged_wall_clock_anchor(const struct tact_log *log)
{
    const char *wall_clock_anchor_text_in_log = log ? tact_log_fact(log, "wall_anchor_ns") : NULL;
    const struct tact_clock_anchor now = tact_clock_anchor_now();
    return wall_clock_anchor_text_in_log ? strtoll(wall_clock_anchor_text_in_log, NULL, 10)
                                         : now.wall_ns - now.monotonic_ns;
}

int tact_session_create_unstarted(const struct tact_scene *scene,
                                  const struct tact_session_options *options,
                                  const struct tact_device_info *logged_devices,
                                  int replayed_device_count, const struct tact_log *log,
                                  struct tact_session **out, struct tact_error *err)
{
    struct tact_session *s = calloc(1, sizeof *s);
    *out = s;
    if (!s) {
        return -ENOMEM;
    }
    s->unmeasured_pair = -1;
    s->scene = scene;
    s->options = *options;
    s->period = scene->period;
    s->period_ns = llround(scene->period * 1e9);
    s->wall_anchor_ns = logged_wall_clock_anchor(log);
    tact_histogram_reset(&s->report.moments);
    s->ticks = options->ticks ? options->ticks : (uint64_t)llround(scene->duration / scene->period);
    s->moments_scratch = tact_moments_scratch_create(MAX_TRIANGLE_PAIRS);
    s->precedes_results_35 = log && tact_log_results_version(log) < 35;
    s->precedes_results_36 = log && tact_log_results_version(log) < 36;
    s->precedes_results_37 = log && tact_log_results_version(log) < 37;
    s->precedes_results_38 = log && tact_log_results_version(log) < 38;
    s->precedes_results_39 = log && tact_log_results_version(log) < 39;
    s->precedes_results_45 = log && tact_log_results_version(log) < 45;
    s->precedes_results_62 = log && tact_log_results_version(log) < 62;
    s->precedes_results_64 = log && tact_log_results_version(log) < 64;
    int rc = s->moments_scratch ? tact_session_build_world(s, err) : -ENOMEM;
    rc = rc ? rc : tact_session_check_stop_during_creation(s, err);
    if (!rc && (!log || did_log_accept_start_overlaps(log))) {
        tact_session_accept_start_overlaps(s);
    }
    rc = rc ? rc : tact_session_open_devices(s, logged_devices, replayed_device_count, err);
    rc = rc ? rc : tact_session_connect_channels(s, log != NULL, err);
    rc = rc ? rc : tact_session_allocate_joint_values(s);
    rc = rc ? rc : tact_session_layout_record_fields(s, log, err);
    rc = rc || !log ? rc : tact_session_open_field_source(s, 1);
    return rc ? rc : make_session_buffers(s);
}

int tact_session_create(const struct tact_scene *scene, const struct tact_session_options *options,
                        struct tact_session **out, struct tact_error *err)
{
    *out = NULL;
    int rc = tact_session_check_log_path(scene, options, err);
    rc = rc ? rc : tact_session_create_unstarted(scene, options, NULL, 0, NULL, out, err);
    if (!rc) {
        tact_scene_doubt(scene, options->messages);
    }
    rc = rc ? rc : tact_session_check_devices_calibrated(*out, err);
    rc = rc ? rc : tact_session_check_stop_during_creation(*out, err);
    rc = rc ? rc : tact_session_open_source(*out, err);
    rc = rc ? rc : tact_session_open_field_source(*out, 0);
    if (!rc && tact_world_has_fields((*out)->world)) {
        tact_world_set_measurement_clock((*out)->world, tact_clock_now);
    }
    /* a session that never ran writes no log */
    rc = rc ? rc : tact_session_check_stop_during_creation(*out, err);
    rc = rc ? rc : tact_session_open_log(*out, err);
    if (rc) {
        if (err && !err->text[0]) {
            tact_error_set(err, rc, "the session cannot be created: %s", strerror(-rc));
        }
        tact_session_destroy(*out);
        *out = NULL;
        return rc;
    }
    tact_session_report_start_overlaps(*out);
    return 0;
}

const char *tact_session_log_path(const struct tact_session *s)
{
    return s->log_path;
}

void tact_session_destroy(struct tact_session *s)
{
    if (!s) {
        return;
    }
    tact_session_end_abandoned_run(s);
    for (int i = 0; i < s->device_count; i++) {
        if (s->devices[i].open) {
            s->devices[i].device.ops->close(s->devices[i].device.self);
        }
    }
    if (s->is_moment_source_open) {
        s->source.ops->close(s->source.self);
    }
    tact_session_close_field_source(s);
    tact_recorder_close(s->recorder, NULL);
    for (uint32_t i = 0; s->hands && i < s->scene->hands_count; i++) {
        free(s->hands[i].joint_names);
        free(s->hands[i].clamped_target_tick_counts);
    }
    tact_moments_scratch_destroy(s->moments_scratch);
    tact_triple_free(s->status);
    tact_layout_free(&s->layout);
    tact_layout_free(&s->contact_element_layout);
    tact_session_free_pairs(s);
    tact_world_destroy(s->world);
    free(s->markers);
    free(s->pressure);
    free(s->log_path);
    void *blocks[] = {s->bodies,
                      s->hands,
                      s->devices,
                      s->inputs,
                      s->outputs,
                      s->source_shapes,
                      s->source_pairs,
                      s->source_pair_normals,
                      s->unrecorded_replay_record,
                      s->is_source_pair_due,
                      s->pose_history,
                      s->pose_history_frame,
                      s->constraints,
                      s->absent_contact_values,
                      s->unrecorded_contact_values,
                      s->recorded_pairs,
                      s->record_copies.copy,
                      s->controller_joint_values,
                      s->admittances,
                      s->positions,
                      s->couplings,
                      s->self_overlaps,
                      s->tools,
                      s->holds};
    tact_session_free_port_delays(s);
    tact_session_free_drive_ports(s);
    tact_session_free_grips(s);
    tact_session_free_remotes(s);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    free(s);
}

struct tact_world *tact_session_world(struct tact_session *session)
{
    return session->world;
}

const struct tact_layout *tact_session_layout(const struct tact_session *session)
{
    return &session->layout;
}

TACT_IN_TICK_RECORD_SECTION void tact_session_body_pose(struct tact_session *session, int body,
                                                        struct tact_pose *out)
{
    tact_pose_mul(out, &tact_world_body(session->world, body)->pose, &session->bodies[body].frame);
}
