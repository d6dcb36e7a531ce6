/* Starts of motions in reduced coordinates: one smooth body on a fixed one. */
#ifndef TACT_TESTS_REDUCED_START_H
#define TACT_TESTS_REDUCED_START_H

#include "contact/compare/reduced.h"
#include "contact/vec.h"

/* Initial state of a body on a fixed one: its `pose` and `twist`. */
struct start {
    struct tact_shape shape, fixed;
    struct tact_pose local, place, pose;
    double mass, inertia[6], twist[6];
};

static inline struct tact_reduced *
create_and_start_reduced_motion(const struct start *s, const struct tact_reduced_options *o)
{
    struct tact_reduced *r;
    struct tact_error err = {.line = 0};
    if (tact_reduced_create(&s->shape, &s->local, s->mass, s->inertia, &s->fixed, &s->place, o, &r,
                            &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(tact_reduced_start(r, &s->pose, s->twist, 1e-6), 0);
    return r;
}

/* A uniform ball on the ground, its contact at the origin. */
static inline struct start ball_on_ground(double radius, double mass)
{
    const double i = 0.4 * mass * radius * radius;
    struct start s = {.shape = {.kind = TACT_SHAPE_SPHERE, .size = {radius}},
                      .fixed = {.kind = TACT_SHAPE_HALFSPACE},
                      .local = tact_pose_identity(),
                      .place = tact_pose_identity(),
                      .pose = tact_pose_identity(),
                      .mass = mass,
                      .inertia = {i, i, i}};
    s.pose.position[2] = radius;
    return s;
}

static inline struct tact_reduced_options options_with_friction(double coefficient)
{
    struct tact_reduced_options o = tact_reduced_options_default();
    o.friction_static = o.friction_dynamic = coefficient;
    o.slip_speed = 1e-6;
    return o;
}

#endif
