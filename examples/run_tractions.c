/* tact sim --tractions: a scene of free bodies with pressure fields by the tractions of Elandt
 * (2019), in explicit steps. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/compare/tractions.h"
#include "run.h"
#include "text.h"

#define MAX_STABLE_FRICTION_STEP 2.0 /* period times rate of friction of a stable step */

static int refuse_tractions_run(const struct run *run, const char *why)
{
    return command_print_usage_error(
        run->name, "--tractions: %s; expected: free bodies, all pairs by the model field", why);
}

/* Kinetic plus gravitational potential energy of all bodies [J]. */
static double compute_bodies_energy(struct tact_world *world, const double gravity[3])
{
    double sum = 0.0;
    for (int i = 0; i < tact_world_body_count(world); i++) {
        const struct tact_body *body = tact_world_body(world, i);
        sum += tact_body_energy(body) - body->mass * tact_v3_dot(gravity, body->pose.position);
    }
    return sum;
}

/* Name of the i-th body of the world, which has none for fixed ones. */
static const char *name_of_world_body(const struct tact_scene *scene, int index)
{
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        if (!scene->bodies[i].fixed && index-- == 0) {
            return scene->bodies[i].name;
        }
    }
    return "";
}

static void print_tractions_table(const struct tact_tractions *t, const struct tact_scene *scene,
                                  struct tact_session *session, double energy)
{
    const struct tact_tractions_report *report = tact_tractions_report(t);
    struct tact_world *world = tact_session_world(session);
    printf("tractions (Elandt 2019) in explicit steps: %.6g s in %ld steps; period times rate of "
           "friction at most %.3g\n",
           report->time, report->steps, report->stiffest);
    for (int i = 0; i < tact_world_body_count(world); i++) {
        const struct tact_body *body = tact_world_body(world, i);
        const double *x = body->pose.position, *q = body->pose.quat_wxyz, *v = body->twist;
        printf("\n  %s\n    centre     %.9f %.9f %.9f m\n    quat_wxyz  %.9f %.9f %.9f %.9f\n"
               "    velocity   %.9f %.9f %.9f m/s\n    rotation   %.9f %.9f %.9f rad/s\n",
               name_of_world_body(scene, i), x[0], x[1], x[2], q[0], q[1], q[2], q[3], v[0], v[1],
               v[2], v[3], v[4], v[5]);
    }
    for (int i = 0; i < report->contacts; i++) {
        const struct tact_traction_contact *c = tact_tractions_contact(t, i);
        printf("\n  %s\n    %zu polygons, pressure %.6g N, friction %.6g N, slips at %.3g m/s in "
               "the mean\n",
               tact_session_pair_name(session, c->pair), c->polygons, c->load, c->friction,
               c->slip);
    }
    printf("\n  energy     %.9g J, changed by %.3g J\n",
           compute_bodies_energy(world, scene->gravity),
           compute_bodies_energy(world, scene->gravity) - energy);
}

static int print_tractions_json(const struct run *run, const struct tact_tractions *t,
                                const struct tact_scene *scene, struct tact_session *session,
                                double energy)
{
    const struct tact_tractions_report *report = tact_tractions_report(t);
    struct tact_world *world = tact_session_world(session);
    json_t *bodies = json_object(), *contacts = json_object();
    for (int i = 0; i < tact_world_body_count(world); i++) {
        const struct tact_body *body = tact_world_body(world, i);
        json_object_set_new(bodies, name_of_world_body(scene, i),
                            json_pack("{s:o, s:o, s:o, s:o}", "position",
                                      text_json_numbers(body->pose.position, 3), "quat_wxyz",
                                      text_json_numbers(body->pose.quat_wxyz, 4), "velocity",
                                      text_json_numbers(body->twist, 3), "angular_velocity",
                                      text_json_numbers(body->twist + 3, 3)));
    }
    for (int i = 0; i < report->contacts; i++) {
        const struct tact_traction_contact *c = tact_tractions_contact(t, i);
        json_object_set_new(contacts, tact_session_pair_name(session, c->pair),
                            json_pack("{s:I, s:f, s:f, s:f, s:o}", "polygons",
                                      (json_int_t)c->polygons, "load", c->load, "friction",
                                      c->friction, "slip", c->slip, "wrench",
                                      text_json_numbers(c->wrench, 6)));
    }
    const double end = compute_bodies_energy(world, scene->gravity);
    json_t *all =
        json_pack("{s:f, s:I, s:f, s:o, s:o, s:f, s:f}", "time", report->time, "steps",
                  (json_int_t)report->steps, "stiffest", report->stiffest, "bodies", bodies,
                  "pairs", contacts, "energy", end, "energy_change", end - energy);
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text) {
        fprintf(stderr, "%s: no memory for the report\n", run->name);
        return EXIT_BAD;
    }
    puts(text);
    free(text);
    return EXIT_GOOD;
}

/* Message about a simulation that ended early, or whose step may be too long for its friction. */
static void print_tractions_messages(const struct run *run, const struct tact_scene *scene,
                                     const struct tact_tractions *t, int rc)
{
    const struct tact_tractions_report *report = tact_tractions_report(t);
    if (rc) {
        fprintf(stderr, "%s: the motion by tractions ends after %.6f s: %s\n", run->name,
                report->time,
                rc == -ENOSPC ? "a contact surface has too many polygons"
                              : "a pose or velocity is not finite: the explicit step is unstable");
    } else if (report->stiffest > MAX_STABLE_FRICTION_STEP) {
        const double ratio = report->stiffest / MAX_STABLE_FRICTION_STEP;
        fprintf(stderr,
                "%s: warning: the explicit step is too long for friction that sticks; expected: a "
                "period of at most %.3g s, or a slip speed of at least %.3g m/s\n",
                run->name, scene->period / ratio, run->slip_speed * ratio);
    }
}

/* Runs the simulation to its end, or until a signal. */
static int step_tractions_simulation(const struct run *run, const struct tact_scene *scene,
                                     struct tact_session *session, struct tact_tractions *t)
{
    const double start = compute_bodies_energy(tact_session_world(session), scene->gravity);
    int rc = 0;
    for (uint64_t tick = 0;
         tick < run->options.ticks && !rc && !tact_stop_requested(run->options.stop); tick++) {
        rc = tact_tractions_step(t);
    }
    print_tractions_messages(run, scene, t, rc);
    if (rc == -EDOM) { /* the state is of no use, and JSON has no numbers for it */
        return EXIT_BAD;
    }
    int code = EXIT_GOOD;
    if (run->json) {
        code = print_tractions_json(run, t, scene, session, start);
    } else {
        print_tractions_table(t, scene, session, start);
    }
    return rc ? EXIT_BAD : code;
}

int run_tractions(const struct run *run, const struct tact_scene *scene)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_tractions_options tractions = tact_tractions_options_default();
    struct tact_session *session = NULL;
    struct tact_tractions *t = NULL;
    struct tact_error err = {.line = 0};
    const char *why = find_part_beyond_comparison(scene);
    if (run->options.record || run->options.record_devices || run->view || run->moments ||
        run->options.require_realtime || run->reduced) {
        return command_print_usage_error(run->name,
                                         "--tractions: it cannot be combined with --reduced, "
                                         "--record, --record-devices, --view, --moments or "
                                         "--require-rt");
    }
    if (why) {
        return refuse_tractions_run(run, why);
    }
    options.clock = run->options.clock;
    options.ticks = run->options.ticks;
    if (tact_session_create(scene, &options, &session, &err)) {
        return command_print_error(&err);
    }
    tractions.slip_speed = run->slip_speed;
    const int rc = tact_tractions_create(tact_session_world(session), &tractions, &t, &err);
    int code = rc == -ENOMEM ? EXIT_BAD : EXIT_USAGE;
    if (!rc) {
        code = step_tractions_simulation(run, scene, session, t);
    } else if (rc == -ENOMEM) {
        fprintf(stderr, "%s: no memory for the simulation\n", run->name);
    } else if (rc == -EINVAL) {
        command_print_usage_error(run->name, "--tractions: %s", err.text);
    } else {
        refuse_tractions_run(run, err.text);
    }
    tact_tractions_destroy(t);
    tact_session_destroy(session);
    return code;
}
