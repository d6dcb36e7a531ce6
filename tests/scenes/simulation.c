#include "simulation.h"

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
#include "devices/registry.h"
#include "rt/log/log_reader.h"
#include "rt/session/scene_log.h"

static void fail_test_unless_ok(int rc, const struct tact_error *err)
{
    char text[1024];
    if (rc) {
        tact_error_format(err, text, sizeof text);
        fail_msg("%s", text);
    }
}

static void run_simulation(const char *path, double seconds, const char *log,
                           const struct simulation_observer *observer, struct simulation *out)
{
    struct tact_error err = {0};
    struct tact_scene *scene;
    struct tact_session *session;
    struct tact_session_options options = tact_session_options_default();
    fail_test_unless_ok(tact_scene_load(path, &scene, &err), &err);
    free(scene->moments.source);
    scene->moments.source = strdup("host");
    out->period = scene->period;
    options.types = tact_devices_builtin(&options.type_count);
    options.clock = TACT_LOOP_FREE;
    options.ticks = (uint64_t)llround(seconds / scene->period);
    options.record = log;
    options.replace = 1;
    options.observe = observer ? observer->observe : NULL;
    options.observe_user = observer ? observer->user : NULL;
    fail_test_unless_ok(tact_session_create(scene, &options, &session, &err), &err);
    assert_int_equal(tact_session_run(session, &out->report), 0);
    assert_int_equal(out->report.recorder.overruns, 0);
    tact_session_destroy(session);
    tact_scene_free(scene);
}

/* Twist of the shape's owner at a point; 0 for fixed shapes. */
static void world_twist_of_shape_point(struct tact_world *world, const struct body_state *bodies,
                                       int shape, const double point[3], double twist[6])
{
    struct tact_owner owner = tact_world_owner(world, shape);
    double arm[3], turn[3];
    memset(twist, 0, 6 * sizeof *twist);
    if (owner.kind == TACT_OWNER_BODY) {
        const struct body_state *b = &bodies[owner.index];
        memcpy(twist, b->twist, sizeof b->twist);
        tact_v3_sub(arm, point, b->position);
        tact_v3_cross(turn, b->twist + 3, arm);
        tact_v3_add(twist, twist, turn);
    }
}

/* Adds the energy of the bodies, and the work of contacts at the velocities after the tick: an
 * upper bound of the gain of energy, as the mean velocity of the tick contains only half of the
 * change. */
static void add_energy_and_work(const struct tact_scene_log *view, const double *v,
                                struct simulation *out, int tick)
{
    struct tact_world *world = tact_session_world(view->session);
    const struct body_state *bodies = out->body + (size_t)tick * (size_t)out->bodies;
    const double *gravity = view->scene->gravity;
    for (int i = 0; i < out->bodies; i++) {
        struct tact_body body = *tact_world_body(world, i);
        tact_v3_copy(body.pose.position, bodies[i].position);
        memcpy(body.pose.quat_wxyz, bodies[i].quat_wxyz, sizeof body.pose.quat_wxyz);
        memcpy(body.twist, bodies[i].twist, sizeof body.twist);
        tact_body_refresh(&body);
        out->energy[tick] +=
            tact_body_energy(&body) - body.mass * tact_v3_dot(gravity, body.pose.position);
    }
    for (int i = 0; i < view->pair_count; i++) {
        const struct tact_contact *c = tact_world_contact(world, view->pairs[i].pair);
        const double *wrench = v + view->pairs[i].wrench, *patch = v + view->pairs[i].patch;
        double a[6], b[6], power = 0.0;
        world_twist_of_shape_point(world, bodies, c->a, patch, a);
        world_twist_of_shape_point(world, bodies, c->b, patch, b);
        for (int k = 0; k < 6; k++) {
            power += wrench[k] * (a[k] - b[k]);
        }
        out->work[tick] += fmax(0.0, power) * out->period;
        out->force[tick] += tact_v3_dot(wrench, patch + 3);
    }
}

static void read_all_log_records(const char *path, struct simulation *out)
{
    struct tact_error err = {0};
    struct tact_log *log;
    struct tact_scene_log view;
    fail_test_unless_ok(tact_log_open(path, &log, &err), &err);
    fail_test_unless_ok(tact_scene_log_open(log, (struct tact_messages){NULL, NULL}, &view, &err),
                        &err);
    struct tact_record *record = malloc(tact_layout_bytes(tact_log_layout(log)));
    size_t ticks = (size_t)tact_log_state(log)->ticks, bodies = (size_t)view.body_count;
    out->ticks = (int)ticks;
    out->bodies = view.body_count;
    out->body = calloc(ticks * bodies + 1, sizeof *out->body);
    out->body_name = calloc(bodies + 1, sizeof *out->body_name);
    out->energy = calloc(ticks, sizeof *out->energy);
    out->work = calloc(ticks, sizeof *out->work);
    out->force = calloc(ticks, sizeof *out->force);
    for (size_t i = 0; i < bodies; i++) {
        snprintf(out->body_name[i], sizeof *out->body_name, "%s", view.bodies[i].name);
        out->mass += tact_world_body(tact_session_world(view.session), (int)i)->mass;
    }
    for (size_t t = 0; t < ticks && tact_log_next(log, record) == 1; t++) {
        for (size_t i = 0; i < bodies; i++) {
            struct body_state *b = &out->body[t * bodies + i];
            memcpy(b->position, record->values + view.bodies[i].center, sizeof b->position);
            memcpy(b->quat_wxyz, record->values + view.bodies[i].center + 3, sizeof b->quat_wxyz);
            memcpy(b->twist, record->values + view.bodies[i].twist, sizeof b->twist);
        }
        add_energy_and_work(&view, record->values, out, (int)t);
    }
    free(record);
    tact_scene_log_close(&view);
    tact_log_close(log);
}

static void simulate_scene_file(const char *scene, const char *path, double seconds,
                                const struct simulation_observer *observer, struct simulation *out)
{
    char log[] = "/tmp/tact-scene-XXXXXX";
    int file = mkstemp(log);
    assert_true(file >= 0);
    close(file);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", scene);
    run_simulation(path, seconds, log, observer, out);
    read_all_log_records(log, out);
    unlink(log);
    const struct tact_session_report *r = &out->report;
    print_message("%s: %d ticks, %d contacts at most, %.1f sweeps in the mean, %d at most, worst "
                  "residual %.1e, %llu ticks unconverged\n",
                  scene, out->ticks, r->contacts_max, r->iterations_mean, r->iterations_max,
                  r->residual_max, (unsigned long long)r->unconverged);
}

static void path_of_example_scene(const char *scene, char path[1024])
{
    snprintf(path, 1024, "%s/examples/scenes/%s.yaml", TACT_SOURCE_DIR, scene);
}

void simulate_scene(const char *scene, double seconds, struct simulation *out)
{
    simulate_scene_observed(scene, seconds, NULL, out);
}

void simulate_scene_observed(const char *scene, double seconds,
                             const struct simulation_observer *observer, struct simulation *out)
{
    char path[1024];
    path_of_example_scene(scene, path);
    simulate_scene_file(scene, path, seconds, observer, out);
}

/* Makes the names of files in a scene's text, which are relative to its folder, absolute. */
static void make_file_names_absolute(char *text, size_t room)
{
    static const char key[] = "file: ", folder[] = TACT_SOURCE_DIR "/examples/scenes/";
    for (char *at = strstr(text, key); at; at = strstr(at, key)) {
        at += strlen(key);
        assert_true(strlen(text) + strlen(folder) < room);
        memmove(at + strlen(folder), at, strlen(at) + 1);
        memcpy(at, folder, strlen(folder));
    }
}

/* Runs a scene's text as `write` puts it into a file. */
static void simulate_changed_scene(const char *scene, double seconds, struct simulation *out,
                                   void (*write)(FILE *to, const char *text,
                                                 const char *const change[2]),
                                   const char *const change[2])
{
    char path[1024], copy[] = "/tmp/tact-scene-XXXXXX.yaml";
    static char text[1 << 20];
    path_of_example_scene(scene, path);
    FILE *from = fopen(path, "r");
    int file = mkstemps(copy, 5);
    assert_true(from && file >= 0);
    size_t size = fread(text, 1, sizeof text - 1, from);
    assert_true(feof(from) && fclose(from) == 0);
    text[size] = '\0';
    make_file_names_absolute(text, sizeof text);
    FILE *to = fdopen(file, "w");
    assert_non_null(to);
    write(to, text, change);
    assert_int_equal(fclose(to), 0);
    simulate_scene_file(scene, copy, seconds, NULL, out);
    unlink(copy);
}

static void write_text_with_addition(FILE *to, const char *text, const char *const change[2])
{
    assert_true(fprintf(to, "%s\n%s\n", text, change[0]) > 0);
}

static void write_text_with_replacement(FILE *to, const char *text, const char *const change[2])
{
    assert_non_null(strstr(text, change[0]));
    for (const char *next; (next = strstr(text, change[0])); text = next + strlen(change[0])) {
        assert_true(fwrite(text, 1, (size_t)(next - text), to) == (size_t)(next - text));
        assert_true(fputs(change[1], to) >= 0);
    }
    assert_true(fputs(text, to) >= 0);
}

void simulate_scene_with_yaml_appended(const char *scene, double seconds, const char *more,
                                       struct simulation *out)
{
    simulate_changed_scene(scene, seconds, out, write_text_with_addition,
                           (const char *const[2]){more, NULL});
}

void simulate_scene_with_yaml_replaced(const char *scene, double seconds, const char *from,
                                       const char *to, struct simulation *out)
{
    simulate_changed_scene(scene, seconds, out, write_text_with_replacement,
                           (const char *const[2]){from, to});
}

void simulation_free(struct simulation *simulation)
{
    free(simulation->body);
    free(simulation->body_name);
    free(simulation->energy);
    free(simulation->work);
    free(simulation->force);
    memset(simulation, 0, sizeof *simulation);
}

const struct body_state *simulation_body_at(const struct simulation *simulation, const char *body,
                                            double seconds)
{
    long tick = seconds < 0.0 ? simulation->ticks - 1 : lround(seconds / simulation->period);
    assert_true(tick < simulation->ticks);
    for (int i = 0; i < simulation->bodies; i++) {
        if (!strcmp(simulation->body_name[i], body)) {
            return &simulation->body[tick * simulation->bodies + i];
        }
    }
    fail_msg("no body %s", body);
    return NULL;
}

double body_tilt_deg(const struct body_state *body)
{
    double m[9];
    tact_quat_to_m3(m, body->quat_wxyz);
    return atan2(hypot(m[2], m[5]), m[8]) * 180.0 / M_PI;
}

double largest_horizontal_drift(const struct simulation *simulation, double from)
{
    size_t first = (size_t)lround(from / simulation->period), bodies = (size_t)simulation->bodies;
    double worst = 0.0;
    for (size_t t = first; t < (size_t)simulation->ticks; t++) {
        for (size_t i = 0; i < bodies; i++) {
            const double *a = simulation->body[first * bodies + i].position;
            const double *b = simulation->body[t * bodies + i].position;
            worst = fmax(worst, hypot(b[0] - a[0], b[1] - a[1]));
        }
    }
    return worst;
}

double largest_final_speed(const struct simulation *simulation)
{
    double worst = 0.0;
    for (int i = 0; i < simulation->bodies; i++) {
        const struct body_state *b =
            &simulation
                 ->body[(size_t)(simulation->ticks - 1) * (size_t)simulation->bodies + (size_t)i];
        worst = fmax(worst, fmax(tact_v3_norm(b->twist), tact_v3_norm(b->twist + 3)));
    }
    return worst;
}

double mean_oscillation_period(const struct simulation *simulation, const char *body, int axis)
{
    double last = simulation_body_at(simulation, body, 0.0)->position[axis], first = 0.0, end = 0.0;
    int crossings = 0;
    for (int i = 1; i < simulation->ticks; i++) {
        double x = simulation_body_at(simulation, body, i * simulation->period)->position[axis];
        if (x < 0.0 && last >= 0.0) {
            end = simulation->period * (i - x / (x - last));
            first = crossings++ ? first : end;
        }
        last = x;
    }
    assert_true(crossings > 2);
    return (end - first) / (crossings - 1);
}

void assert_simulated_energy_rises_by_work_only(const struct simulation *simulation)
{
    double scale = 0.0, work = 0.0, excess = -INFINITY, largest_energy_rise = 0.0;
    int at = 0;
    for (int t = 1; t < simulation->ticks; t++) {
        double energy_increase = simulation->energy[t] - simulation->energy[t - 1];
        scale = fmax(scale, fabs(simulation->energy[t]));
        work += simulation->work[t];
        largest_energy_rise = fmax(largest_energy_rise, energy_increase);
        if (energy_increase - simulation->work[t] > excess) {
            excess = energy_increase - simulation->work[t];
            at = t;
        }
    }
    print_message("    energy %.3e J to %.3e J; largest rise in a tick %.1e J, beyond the work of "
                  "pushing apart (%.1e J in all) %.1e J at tick %d\n",
                  simulation->energy[0], simulation->energy[simulation->ticks - 1],
                  largest_energy_rise, work, excess, at);
    assert_true(excess < 1e-9 * scale);
}
