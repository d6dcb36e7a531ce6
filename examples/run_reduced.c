/* tact sim --reduced: a scene of one smooth pair by the reduced coordinates of Kry and Pai (2003).
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/compare/reduced.h"
#include "run.h"
#include "text.h"

#define MAX_CONTACT_GAP_AT_START                                                                   \
    1e-6 /* largest gap or overlap at the start that counts as contact [m] */
#define MAX_SLIP_SPEED_BEFORE_ROLLING                                                              \
    1e-4 /* slip speed below which the contact may change to rolling [m/s] */

static int report_why_not_reducible(const struct run *run, const char *why)
{
    return command_print_usage_error(run->name,
                                     "--reduced: %s; expected: one body of one smooth shape on a "
                                     "fixed smooth shape, model smooth, both rigid",
                                     why);
}

static int has_supported_body(const struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        if (!scene->bodies[i].fixed && scene->bodies[i].support_until > 0.0) {
            return 1;
        }
    }
    return 0;
}

const char *find_part_beyond_comparison(const struct tact_scene *scene)
{
    const char *const none = NULL;
    return scene->hands_count     ? "the scene has a hand"
           : scene->joints_count  ? "the scene has joints"
           : scene->devices_count ? "the scene has devices"
           : scene->tools_count   ? "the scene has a tool"
           : has_supported_body(scene)
               ? "a body has the key support_until, which this method does not support"
               : none;
}

/* Index of the only pair of a world, or -1 with a reason. */
static int find_only_pair_of_world(const struct tact_world *world, const char **why)
{
    const int pair = tact_world_next_pair(world, -1);
    *why = tact_world_body_count(world) != 1
               ? "reduced coordinates need exactly one moving body in the scene"
           : pair < 0                               ? "nothing can touch"
           : tact_world_next_pair(world, pair) >= 0 ? "the scene has more than one pair of shapes"
                                                    : NULL;
    if (*why) {
        return -1;
    }
    const struct tact_contact_law *law = tact_world_law(world, pair);
    const struct tact_contact_model *model = tact_world_model(world, pair);
    *why = strcmp(model->name, "smooth") != 0 ? "the contact model of the pair is not smooth"
           : law->modulus > 0.0 || law->tip_radius > 0.0 || law->compliance > 0.0 ||
                   law->tangential_compliance > 0.0
               ? "the contact is compliant, and this method needs a rigid contact point"
               : NULL;
    return *why ? -1 : pair;
}

/* The pose of shape `at` in the frame `in`. */
static struct tact_pose get_relative_pose(const struct tact_pose *in, const struct tact_pose *at)
{
    struct tact_pose inverse = {
        .quat_wxyz = {in->quat_wxyz[0], -in->quat_wxyz[1], -in->quat_wxyz[2], -in->quat_wxyz[3]}};
    struct tact_pose out;
    tact_quat_rotate(inverse.position, inverse.quat_wxyz, in->position);
    tact_v3_scale(inverse.position, inverse.position, -1.0);
    tact_pose_mul(&out, &inverse, at);
    return out;
}

/* Value of an option of the command, or the default where the option was not given. */
static double get_option_or_default(double option, double other)
{
    return isnan(option) ? other : option;
}

static struct tact_reduced_options get_reduced_options_of_scene(const struct run *run,
                                                                const struct tact_scene *scene,
                                                                const struct tact_contact_law *law)
{
    struct tact_reduced_options o = tact_reduced_options_default();
    memcpy(o.gravity, scene->gravity, sizeof o.gravity);
    o.friction_static = get_option_or_default(run->static_friction_coefficient, law->friction);
    o.friction_dynamic = get_option_or_default(run->dynamic_friction_coefficient, law->friction);
    o.spin_static = get_option_or_default(run->spin_limit, o.spin_static);
    o.restitution = law->restitution;
    o.tangential_restitution =
        get_option_or_default(run->tangential_restitution, o.tangential_restitution);
    o.max_step = scene->period;
    o.min_step = fmin(o.min_step, 1e-3 * scene->period);
    o.slip_speed = MAX_SLIP_SPEED_BEFORE_ROLLING;
    o.impact = run->is_newton_impact_law_used ? TACT_REDUCED_NEWTON : TACT_REDUCED_CHATTERJEE_RUINA;
    return o;
}

/* Makes the reduced pair of a world, at its start. 0, or an exit code after a message. */
static int make_reduced_pair_at_start(const struct run *run, const struct tact_scene *scene,
                                      struct tact_world *world, struct tact_reduced **out)
{
    const char *why;
    const int pair = find_only_pair_of_world(world, &why);
    struct tact_error err = {.line = 0};
    int a, b;
    if (pair < 0) {
        return report_why_not_reducible(run, why);
    }
    tact_world_pair_shapes(world, pair, &a, &b);
    const int moving_shape_index = tact_world_owner(world, a).kind == TACT_OWNER_BODY ? a : b;
    const int fixed = a + b - moving_shape_index;
    const struct tact_pose *poses = tact_world_shape_poses(world);
    const struct tact_body *body = tact_world_body(world, 0);
    const struct tact_pose local = get_relative_pose(&body->pose, &poses[moving_shape_index]);
    const double *m = body->inertia, inertia[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
    const struct tact_reduced_options o =
        get_reduced_options_of_scene(run, scene, tact_world_law(world, pair));
    const int rc =
        tact_reduced_create(tact_world_shape(world, moving_shape_index), &local, body->mass,
                            inertia, tact_world_shape(world, fixed), &poses[fixed], &o, out, &err);
    if (rc) {
        return rc == -ENOTSUP ? report_why_not_reducible(run, err.text)
                              : command_print_usage_error(run->name, "--reduced: %s", err.text);
    }
    if (tact_reduced_start(*out, &body->pose, body->twist, MAX_CONTACT_GAP_AT_START)) {
        char reason[160];
        snprintf(reason, sizeof reason,
                 "the motion cannot start: %s (an overlap of up to %g um is allowed)",
                 tact_reduced_failure(*out), 1e6 * MAX_CONTACT_GAP_AT_START);
        return report_why_not_reducible(run, reason);
    }
    return 0;
}

static void print_reduced_table(const struct tact_reduced *r, double energy)
{
    const struct tact_reduced_report *is = tact_reduced_report(r);
    struct tact_pose pose;
    double twist[6];
    tact_reduced_get(r, &pose, twist);
    printf("reduced coordinates (Kry and Pai 2003): %.6g s in %ld steps; %ld steps were repeated "
           "with half their length\n\n",
           is->time, is->steps, is->rejected);
    for (int m = 0; m <= TACT_REDUCED_NO_SPIN; m++) {
        printf("  %-13s %10.6f s%s\n", tact_reduced_mode_name((enum tact_reduced_mode)m),
               is->mode_time[m], (int)is->mode == m ? "  at the end" : "");
    }
    printf("  %ld contacts, %ld separations, %ld impacts, %ld changes to sliding, %ld from sliding "
           "to rolling, %ld changes of chart\n",
           is->contacts, is->separations, is->impacts, is->slides, is->rolls, is->crossings);
    if (is->others) {
        printf("  in %ld steps the surfaces overlap at a second place, which reduced coordinates "
               "neglect\n",
               is->others);
    }
    printf("\n  centre     %.9f %.9f %.9f m\n  quat_wxyz  %.9f %.9f %.9f %.9f\n"
           "  velocity   %.9f %.9f %.9f m/s\n  rotation   %.9f %.9f %.9f rad/s\n"
           "  energy     %.9g J, changed by %.3g J\n",
           pose.position[0], pose.position[1], pose.position[2], pose.quat_wxyz[0],
           pose.quat_wxyz[1], pose.quat_wxyz[2], pose.quat_wxyz[3], twist[0], twist[1], twist[2],
           twist[3], twist[4], twist[5], tact_reduced_energy(r), tact_reduced_energy(r) - energy);
}

static int print_reduced_json(const struct tact_reduced *r, double energy)
{
    const struct tact_reduced_report *is = tact_reduced_report(r);
    struct tact_pose pose;
    double twist[6];
    tact_reduced_get(r, &pose, twist);
    json_t *times = json_object();
    for (int m = 0; m <= TACT_REDUCED_NO_SPIN; m++) {
        json_object_set_new(times, tact_reduced_mode_name((enum tact_reduced_mode)m),
                            json_real(is->mode_time[m]));
    }
    json_t *all = json_pack(
        "{s:f, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
        "s:o, s:f, s:f, s:s}",
        "time", is->time, "mode", tact_reduced_mode_name(is->mode), "mode_time", times, "steps",
        (json_int_t)is->steps, "shortened", (json_int_t)is->rejected, "crossings",
        (json_int_t)is->crossings, "contacts", (json_int_t)is->contacts, "separations",
        (json_int_t)is->separations, "impacts", (json_int_t)is->impacts, "slides",
        (json_int_t)is->slides, "rolls", (json_int_t)is->rolls, "second_place",
        (json_int_t)is->others, "position", text_json_numbers(pose.position, 3), "quat_wxyz",
        text_json_numbers(pose.quat_wxyz, 4), "velocity", text_json_numbers(twist, 3),
        "angular_velocity", text_json_numbers(twist + 3, 3), "energy", tact_reduced_energy(r),
        "energy_change", tact_reduced_energy(r) - energy, "failure", tact_reduced_failure(r));
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    if (!text) {
        return EXIT_BAD;
    }
    puts(text);
    free(text);
    return EXIT_GOOD;
}

/* Runs the simulation to its end, or until a signal, tick by tick, so that the steps do not depend
 * on the duration. */
static int step_reduced_simulation(const struct run *run, const struct tact_scene *scene,
                                   struct tact_reduced *r)
{
    const double start = tact_reduced_energy(r);
    int rc = 0;
    for (uint64_t tick = 1;
         tick <= run->options.ticks && !rc && !tact_stop_requested(run->options.stop); tick++) {
        rc = tact_reduced_advance(r, scene->period * (double)tick);
    }
    if (rc) {
        fprintf(stderr, "%s: the motion by reduced coordinates ends after %.6f s: %s\n", run->name,
                tact_reduced_report(r)->time, tact_reduced_failure(r));
    }
    if (!run->json) {
        print_reduced_table(r, start);
    }
    const int exit_code = run->json ? print_reduced_json(r, start) : EXIT_GOOD;
    return rc ? EXIT_BAD : exit_code;
}

int open_reduced_scene(const struct run *run, const struct tact_scene *scene,
                       struct tact_session **session, struct tact_reduced **out)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_error err = {.line = 0};
    const char *why = find_part_beyond_comparison(scene);
    *out = NULL;
    *session = NULL;
    if (why) {
        return report_why_not_reducible(run, why);
    }
    options.clock = run->options.clock;
    options.ticks = run->options.ticks;
    if (tact_session_create(scene, &options, session, &err)) {
        return command_print_error(&err);
    }
    tact_world_begin(tact_session_world(*session));
    return make_reduced_pair_at_start(run, scene, tact_session_world(*session), out);
}

int run_reduced(const struct run *run, const struct tact_scene *scene)
{
    struct tact_session *session;
    struct tact_reduced *r;
    if (run->options.record || run->options.record_devices || run->view || run->moments ||
        run->options.require_realtime) {
        return command_print_usage_error(run->name,
                                         "--reduced: it cannot be combined with --record, "
                                         "--record-devices, --view, --moments or --require-rt");
    }
    int code = open_reduced_scene(run, scene, &session, &r);
    code = code ? code : step_reduced_simulation(run, scene, r);
    tact_reduced_destroy(r);
    tact_session_destroy(session);
    return code;
}
