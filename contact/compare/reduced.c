/* One smooth body on a fixed one by reduced coordinates: creation, start, and its state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/compare/reduced_internal.h"
#include "contact/pair/smooth/contacts_internal.h"

const char *tact_reduced_mode_name(enum tact_reduced_mode mode)
{
    static const char *const names[] = {"flight", "sliding", "rolling", "without spin"};
    return mode <= TACT_REDUCED_NO_SPIN ? names[mode] : "";
}

struct tact_reduced_options tact_reduced_options_default(void)
{
    return (struct tact_reduced_options){.gravity = {0.0, 0.0, -9.81},
                                         .friction_static = 0.5,
                                         .friction_dynamic = 0.5,
                                         .slip_speed = 2.5e-3,
                                         .spin_rate = 0.1,
                                         .min_step = 1e-6,
                                         .max_step = 1e-3,
                                         .settle_speed = 0.02,
                                         .impact = TACT_REDUCED_CHATTERJEE_RUINA};
}

/* 0 where all options of the reduced simulation are in range, else -EINVAL with a message. */
static int check_reduced_coordinate_options(const struct tact_reduced_options *o,
                                            struct tact_error *err)
{
    const struct {
        const char *name;
        double value, least, most;
    } range[] = {{"friction_static", o->friction_static, 0.0, 1e3},
                 {"friction_dynamic", o->friction_dynamic, 0.0, 1e3},
                 {"spin_static", o->spin_static, 0.0, 1e3},
                 {"slip_speed", o->slip_speed, 0.0, 1e3},
                 {"spin_rate", o->spin_rate, 0.0, 1e6},
                 {"min_step", o->min_step, 1e-12, o->max_step},
                 {"max_step", o->max_step, o->min_step, 1.0},
                 {"restitution", o->restitution, 0.0, 1.0},
                 {"tangential_restitution", o->tangential_restitution, -1.0, 1.0},
                 {"settle_speed", o->settle_speed, 0.0, 1e3},
                 {"gravity", tact_v3_norm(o->gravity), 0.0, 1e6}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        if (!(range[i].value >= range[i].least && range[i].value <= range[i].most)) {
            return tact_error_set(err, -EINVAL, "%s: %g is out of range: %g to %g expected",
                                  range[i].name, range[i].value, range[i].least, range[i].most);
        }
    }
    return o->friction_static < o->friction_dynamic
               ? tact_error_set(err, -EINVAL,
                                "friction_static: %g is below friction_dynamic, %g: "
                                "friction_static must not be the smaller of the two",
                                o->friction_static, o->friction_dynamic)
               : 0;
}

static int check_shapes_for_reduced_coordinates(const struct tact_shape *shape[2],
                                                struct tact_error *err)
{
    for (int b = 0; b < 2; b++) {
        if (!tact_reduced_surface_has_charts(shape[b])) {
            return tact_error_set(err, -ENOTSUP,
                                  "a surface that is smooth everywhere is expected, not a %s",
                                  tact_shape_type(shape[b]->kind)->name);
        }
    }
    return shape[0]->kind == TACT_SHAPE_HALFSPACE
               ? tact_error_set(err, -ENOTSUP,
                                "a moving body cannot have an infinite half-space as its shape")
               : 0;
}

int tact_reduced_create(const struct tact_shape *shape, const struct tact_pose *local, double mass,
                        const double inertia[6], const struct tact_shape *fixed,
                        const struct tact_pose *place, const struct tact_reduced_options *options,
                        struct tact_reduced **out, struct tact_error *err)
{
    const struct tact_shape *shapes[2] = {shape, fixed};
    *out = NULL;
    int rc = check_shapes_for_reduced_coordinates(shapes, err);
    rc = rc ? rc : check_reduced_coordinate_options(options, err);
    if (rc) {
        return rc;
    }
    struct tact_reduced *r = calloc(1, sizeof *r);
    if (!r) {
        return tact_error_set(err, -ENOMEM, "no memory");
    }
    r->options = *options;
    r->local = *local;
    r->fixed = *place;
    r->size = tact_min(tact_shape_radius(shape), tact_shape_radius(fixed));
    r->max_distance_from_centre_of_mass = tact_v3_norm(local->position) + tact_shape_radius(shape);
    for (int b = 0; b < 2; b++) {
        r->shape[b] = *shapes[b];
        tact_reduced_surface_set_pose(&r->surface[b], &r->shape[b], b ? place : local);
    }
    r->may_have_two_contacts = tact_smooth_max_contacts(shape, fixed) > 1;
    r->body.pose = tact_pose_identity();
    if (tact_body_set_mass(&r->body, mass, inertia)) {
        free(r);
        return tact_error_set(
            err, -EINVAL,
            "no body has this mass and inertia: the mass and the principal moments must be above "
            "0, and none of the moments larger than the sum of the other two");
    }
    tact_body_refresh(&r->body);
    *out = r;
    return 0;
}

void tact_reduced_destroy(struct tact_reduced *reduced)
{
    free(reduced);
}

int tact_reduced_start(struct tact_reduced *r, const struct tact_pose *pose, const double twist[6],
                       double gap)
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++) {
        sum += fabs(twist[i]) + (i < 3 ? fabs(pose->position[i]) : 0.0);
    }
    for (int i = 0; i < 4; i++) {
        sum += fabs(pose->quat_wxyz[i]);
    }
    if (!isfinite(sum + gap) || gap < 0.0) {
        r->failure = FAILURE_STATE_NOT_FINITE;
        return -EINVAL;
    }
    memset(&r->report, 0, sizeof r->report);
    r->body.pose = *pose;
    tact_quat_normalize(r->body.pose.quat_wxyz);
    memcpy(r->body.twist, twist, sizeof r->body.twist);
    tact_body_refresh(&r->body);
    r->step = r->options.max_step;
    r->chart_crossings_at_same_time = 0;
    r->failure = tact_reduced_begin_motion(r, gap);
    return r->failure ? -EDOM : 0;
}

int tact_reduced_advance(struct tact_reduced *r, double time)
{
    int steps_without_progress = 0;
    r->failure = NO_SIMULATION_FAILURE;
    while (time - r->report.time > 1e-12 * fabs(time)) {
        const double time_before_step = r->report.time;
        r->failure = r->report.mode == TACT_REDUCED_FLIGHT ? tact_reduced_step_flight(r, time)
                                                           : tact_reduced_step_contact(r, time);
        steps_without_progress = r->report.time > time_before_step ? 0 : steps_without_progress + 1;
        if (!r->failure && steps_without_progress > MAX_STEPS_WITHOUT_TIME) {
            r->failure = FAILURE_STEPS_WITHOUT_PROGRESS;
        }
        if (r->failure) {
            return -EDOM;
        }
    }
    return 0;
}

const char *tact_reduced_failure(const struct tact_reduced *r)
{
    static const char *const text[REDUCED_FAILURES] = {
        [NO_SIMULATION_FAILURE] = "",
        [FAILURE_SINGULAR_MATRIX] = "the equations of motion of the contact point are singular",
        [FAILURE_STATE_NOT_FINITE] = "the computed motion is not finite",
        [FAILURE_CONFORMING_SURFACES] = "the surfaces touch along a line or a face, not at a point",
        [FAILURE_OVERLAP_AT_START] = "the surfaces overlap",
        [FAILURE_OVERLAP_BESIDE_CONTACT] =
            "the surfaces no longer separate on all sides of the contact, so that they touch "
            "at more than one place",
        [FAILURE_TOTAL_ENERGY_RISES] =
            "the computed energy rises by more than a tenth of the kinetic "
            "energy, which no contact does",
        [FAILURE_TOO_MANY_CHART_CROSSINGS] =
            "the contact point crossed 64 edges of surface charts without an advance of time",
        [FAILURE_STEPS_WITHOUT_PROGRESS] =
            "10000 time steps in succession did not advance the time"};
    _Static_assert(MAX_CHART_CROSSINGS_WITHOUT_TIME == 64 && MAX_STEPS_WITHOUT_TIME == 10000,
                   "the error texts of tact_reduced_failure() state the limits of 64 chart edges "
                   "and 10000 steps");
    return text[r->failure];
}

void tact_reduced_get(const struct tact_reduced *r, struct tact_pose *pose, double twist[6])
{
    struct tact_reduced at = *r;
    if (r->report.mode != TACT_REDUCED_FLIGHT) {
        tact_reduced_end_contact(&at);
    }
    *pose = at.body.pose;
    memcpy(twist, at.body.twist, sizeof at.body.twist);
}

double tact_reduced_energy(const struct tact_reduced *r)
{
    struct tact_body body = r->body;
    tact_reduced_get(r, &body.pose, body.twist);
    return tact_body_energy(&body) -
           body.mass * tact_v3_dot(body.pose.position, r->options.gravity);
}

const struct tact_reduced_report *tact_reduced_report(const struct tact_reduced *r)
{
    return &r->report;
}
