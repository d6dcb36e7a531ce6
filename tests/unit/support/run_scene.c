#include "run_scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "devices/registry.h"
#include "kernels/opencl.h"
#include "kernels/source.h"
#include "rt/log/log_reader.h"

static char *read_scene_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fail_msg("cannot open %s", path);
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    return text;
}

static char *replace_in_scene_text(char *text, const struct edit *edit)
{
    char *at = strstr(text, edit->from);
    if (!at) {
        fail_msg("the scene has no \"%s\"", edit->from);
    }
    size_t head = (size_t)(at - text);
    char *out = malloc(strlen(text) + strlen(edit->to) + 1);
    memcpy(out, text, head);
    strcpy(out + head, edit->to);
    strcat(out, at + strlen(edit->from));
    free(text);
    return out;
}

char *load_scene_text_with_edits(const char *scene, const struct edit *edits)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/scenes/%s", TACT_SOURCE_DIR, scene);
    char *text = read_scene_file(path);
    for (; edits && edits->from; edits++) {
        text = replace_in_scene_text(text, edits);
    }
    return text;
}

void open_session_of_scene_text(const char *text, const struct tact_session_options *options,
                                struct tact_scene **scene, struct tact_session **session)
{
    struct tact_error err = {0};
    int rc = tact_scene_parse(text, strlen(text), "text.yaml", NULL, scene, &err);
    rc = rc ? rc : tact_session_create(*scene, options, session, &err);
    if (rc) {
        fail_msg("%s:%d: %s: %s", err.file, err.line, err.key, err.text);
    }
}

void run_session_of_scene_text(const char *text, const struct tact_session_options *options,
                               struct tact_session_report *report)
{
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    open_session_of_scene_text(text, options, &scene, &session);
    assert_int_equal(tact_session_run(session, report), 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

void run_scene_text_to_pose(const char *text, int body, struct tact_session_report *report,
                            struct tact_pose *pose)
{
    const struct tact_session_options options = {.clock = TACT_LOOP_FREE};
    struct tact_scene *scene = NULL;
    struct tact_session *session = NULL;
    open_session_of_scene_text(text, &options, &scene, &session);
    assert_int_equal(tact_session_run(session, report), 0);
    *pose = tact_world_body(tact_session_world(session), body)->pose;
    tact_session_destroy(session);
    tact_scene_free(scene);
}

void skip_test_without_opencl(void)
{
    struct tact_opencl_device device;
    struct tact_error err = {0};
    size_t count = 0;
    if (tact_opencl_list(&device, 1, &count, 0, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

static void append_warning_to_result(void *user, enum tact_message_level level, const char *text)
{
    struct run_result *result = user;
    size_t used = strlen(result->run_warning_text);
    if (level >= TACT_MESSAGE_WARNING) {
        snprintf(result->run_warning_text + used, sizeof result->run_warning_text - used, "%s\n",
                 text);
    }
}

static void store_first_body_state(struct tact_session *session, struct run_result *result)
{
    struct tact_world *world = tact_session_world(session);
    struct tact_pose pose;
    double r[9];
    if (tact_world_body_count(world)) {
        tact_session_body_pose(session, 0, &pose);
        tact_v3_copy(result->position, pose.position);
        memcpy(result->quat_wxyz, pose.quat_wxyz, sizeof pose.quat_wxyz);
        tact_quat_to_m3(r, pose.quat_wxyz);
        result->speed = tact_v3_norm(tact_world_body(world, 0)->twist);
        result->pitch_deg = atan2(-r[6], r[0]) * 180.0 / M_PI;
        result->tilt_deg = acos(fmin(1.0, r[8])) * 180.0 / M_PI;
    }
    for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
        const struct tact_contact *c = tact_world_contact(world, i);
        double n = c->impulse[0] * 1e3;
        if (c->touching && (n < result->normal_force || !(result->normal_force > 0.0))) {
            result->normal_force = n;
            result->spin_arm = tact_patch_spin_arm(&c->patch, n);
        }
    }
}

static void fail_unless_success(int rc, const struct tact_error *err)
{
    char text[1024];
    if (rc) {
        tact_error_format(err, text, sizeof text);
        fail_msg("%s", text);
    }
}

void run_scene(const struct run_options *o, struct run_result *result)
{
    struct tact_error err = {0};
    struct tact_scene *scene;
    struct tact_session *session;
    char name[1024];
    memset(result, 0, sizeof *result);
    char *text = load_scene_text_with_edits(o->scene, o->edits);
    snprintf(name, sizeof name, "%s/examples/scenes/%s", TACT_SOURCE_DIR, o->scene);
    fail_unless_success(tact_scene_parse(text, strlen(text), name, NULL, &scene, &err), &err);
    free(scene->moments.source);
    scene->moments.source = strdup(o->source);
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    options.source = o->factory ? o->factory : tact_opencl_source_factory;
    options.source_user = o->source_factory_user_data;
    options.clock = o->clock;
    options.ticks = (uint64_t)llround(o->seconds / scene->period);
    options.record = o->record;
    options.replace = 1;
    options.messages = (struct tact_messages){append_warning_to_result, result};
    fail_unless_success(tact_session_create(scene, &options, &session, &err), &err);
    assert_int_equal(tact_session_run(session, &result->report), 0);
    store_first_body_state(session, result);
    tact_session_destroy(session);
    tact_scene_free(scene);
    free(text);
}

struct tact_log *record_and_open_log(const char *scene, double seconds, const char *path,
                                     struct tact_record **record)
{
    struct run_result result;
    struct tact_log *log;
    run_scene(&(struct run_options){.scene = scene,
                                    .seconds = seconds,
                                    .clock = TACT_LOOP_FREE,
                                    .source = "host",
                                    .record = path},
              &result);
    assert_int_equal(tact_log_open(path, &log, NULL), 0);
    *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    assert_non_null(*record);
    return log;
}

const double *read_values_of_tick(struct tact_log *log, uint64_t tick, struct tact_record *record)
{
    assert_int_equal(tact_log_seek(log, tick), 0);
    assert_int_equal(tact_log_next(log, record), 1);
    return record->values;
}

/* Mean of two fingers' patch centres in the frame of the body whose pose is given. */
static void contact_point_of_fingers(const double *pose, const double *a, const double *b,
                                     double *out)
{
    double mean[3], r[9];
    for (int i = 0; i < 3; i++) {
        mean[i] = 0.5 * (a[i] + b[i]) - pose[i];
    }
    tact_quat_to_m3(r, pose + 3);
    tact_m3_tmul_v3(out, r, mean);
}

static long find_log_field(const struct tact_log *log, const char *name, const char *suffix)
{
    char field_name_with_suffix[160];
    snprintf(field_name_with_suffix, sizeof field_name_with_suffix, "%s_%s", name, suffix);
    long at = tact_log_field(log, field_name_with_suffix, NULL);
    assert_true(at >= 0);
    return at;
}

void read_worst_tilt_and_slip_of_log(const char *path, const char *body, const char *pair_body_a,
                                     const char *pair_body_b, double from, double to,
                                     double *tilt_deg, double *slip)
{
    struct tact_log *log;
    struct tact_error err = {0};
    fail_unless_success(tact_log_open(path, &log, &err), &err);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    long pose = find_log_field(log, body, "pose"), a = find_log_field(log, pair_body_a, "patch");
    long b = find_log_field(log, pair_body_b, "patch");
    double start[3], quat[4];
    int known = 0;
    *tilt_deg = *slip = 0.0;
    while (tact_log_next(log, record) > 0) {
        double t = (double)record->tick * 1e-3, here[3], dot = 0.0;
        const double *v = record->values;
        if (t < from || t >= to) {
            continue;
        }
        contact_point_of_fingers(v + pose, v + a, v + b, here);
        if (!known) {
            memcpy(start, here, sizeof start);
            memcpy(quat, v + pose + 3, sizeof quat);
            known = 1;
        }
        for (int i = 0; i < 4; i++) {
            dot += quat[i] * v[pose + 3 + i];
        }
        tact_v3_sub(here, here, start);
        *slip = fmax(*slip, tact_v3_norm(here));
        *tilt_deg = fmax(*tilt_deg, 2.0 * acos(fmin(1.0, fabs(dot))) * 180.0 / M_PI);
    }
    assert_true(known);
    free(record);
    tact_log_close(log);
}

double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
