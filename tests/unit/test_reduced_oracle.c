/*
 * The ordinary solver with `model: smooth` against reduced coordinates (Kry and Pai 2003), which
 * share the closest points with it but neither contacts, friction nor steps: a torus that hangs in
 * a torus, an ellipsoid on a torus and on a ball, rolling and without friction, a ball in a
 * bowl, a rattleback, and a tippe top that slips.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/reduced.h"
#include "contact/pair/models_internal.h"
#include "contact/shape/charts.h"
#include "support/bowl_profile.h"
#include "support/world_scene.h"

/* Error of the reference motion itself, relative, in steps over the knots of a profile, where third
 * derivatives jump. */
#define RELATIVE_ERROR_OF_REFERENCE_MOTION 1e-5

#define SQRT_ONE_HALF 0.70710678118654752440

struct motion {
    const char *name;
    struct tact_shape shape, fixed;
    /* poses: of the shape in the body, of the fixed body, and of the body */
    struct tact_pose local, place, pose;
    double mass, inertia[6], friction;
    double contact[3], w[3]; /* the body turns with w about this point: its contact, if it rolls */
    int slips;
    double seconds;
};

static void find_initial_twist(const struct motion *m, double twist[6])
{
    double arm[3];
    tact_v3_sub(arm, m->pose.position, m->contact);
    tact_v3_cross(twist, m->w, arm);
    tact_v3_copy(twist + 3, m->w);
}

static struct tact_reduced *create_reduced_motion(const struct motion *m)
{
    struct tact_reduced_options o = tact_reduced_options_default();
    struct tact_reduced *r;
    struct tact_error err = {.line = 0};
    double twist[6];
    o.friction_static = o.friction_dynamic = m->friction;
    o.max_step = 2.5e-4;
    o.slip_speed = 1e-6;
    if (tact_reduced_create(&m->shape, &m->local, m->mass, m->inertia, &m->fixed, &m->place, &o, &r,
                            &err)) {
        fail_msg("%s", err.text);
    }
    find_initial_twist(m, twist);
    assert_int_equal(tact_reduced_start(r, &m->pose, twist, 1e-9), 0);
    assert_int_equal(tact_reduced_report(r)->mode,
                     m->friction > 0.0 && !m->slips ? TACT_REDUCED_ROLLING : TACT_REDUCED_SLIDING);
    return r;
}

/* Takes a body back by the momentum of half a tick: in a world, momentum is that of half a tick
 * before the pose. */
static void set_momentum_half_a_tick_before(const struct motion *m, double h,
                                            struct tact_body *body)
{
    const double dt = 1e-6;
    struct tact_body reduced_motion_body = *body;
    struct tact_reduced *r = create_reduced_motion(m);
    double l[2][3];
    assert_int_equal(tact_reduced_advance(r, dt), 0);
    tact_reduced_get(r, &reduced_motion_body.pose, reduced_motion_body.twist);
    tact_reduced_destroy(r);
    tact_body_refresh(body);
    tact_body_momentum(body, l[0]);
    tact_body_momentum(&reduced_motion_body, l[1]);
    for (int i = 0; i < 3; i++) {
        body->twist[i] -= 0.5 * h * (reduced_motion_body.twist[i] - body->twist[i]) / dt;
        l[0][i] -= 0.5 * h * (l[1][i] - l[0][i]) / dt;
    }
    tact_m3_mul_v3(body->twist + 3, body->inverse_world, l[0]);
}

/* The body's pose after m->seconds in a world of period h. */
static struct tact_pose pose_after_world_steps(const struct motion *m, double h)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(m->friction);
    struct tact_body body = {.pose = m->pose};
    struct tact_pose pose;
    struct world_scene s;
    assert_int_equal(tact_body_set_mass(&body, m->mass, m->inertia), 0);
    find_initial_twist(m, body.twist);
    set_momentum_half_a_tick_before(m, h, &body);
    o.period = h;
    law.model = &tact_model_smooth;
    open_empty_scene(&s, &o);
    add_scene_shape(&s, -1, &m->fixed, &m->place, 0);
    assert_int_equal(tact_world_add_body(s.world, &body), 0);
    add_scene_shape(&s, 0, &m->shape, &m->local, 1);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    run_scene_for_seconds(&s, m->seconds);
    pose = tact_world_body(s.world, 0)->pose;
    assert_true(s.unsolved_ticks == 0);
    close_scene(&s);
    return pose;
}

/* Both agree to the second order of the tick: half of the period, a quarter of the difference. In
 * slip it is the first order, as the direction of friction is that of the tick's end: half of the
 * difference, and what the two periods extrapolate to agrees. */
static void compare_reduced_motion_with_world(const struct motion *m)
{
    struct tact_reduced *r = create_reduced_motion(m);
    struct tact_pose exact;
    double twist[6], off[2], d[2][3], moved[3];
    assert_int_equal(tact_reduced_advance(r, m->seconds), 0);
    assert_int_equal(tact_reduced_report(r)->separations, 0);
    tact_reduced_get(r, &exact, twist);
    tact_reduced_destroy(r);
    for (int i = 0; i < 2; i++) {
        const struct tact_pose is = pose_after_world_steps(m, 1e-3 / (1 << i));
        tact_v3_sub(d[i], is.position, exact.position);
        off[i] = tact_v3_norm(d[i]);
    }
    tact_v3_sub(moved, exact.position, m->pose.position);
    printf("%s: moves by %.1e m; the solver is off by %.1e m at 1 ms, %.1e m at 0.5 ms\n", m->name,
           tact_v3_norm(moved), off[0], off[1]);
    if (m->slips) {
        tact_v3_scale(d[1], d[1], 2.0);
        tact_v3_sub(d[1], d[1], d[0]);
        printf("extrapolated: off by %.1e m\n", tact_v3_norm(d[1]));
        assert_true(off[1] < 0.55 * off[0] && tact_v3_norm(d[1]) < 1e-2 * tact_v3_norm(moved));
        return;
    }
    assert_true(off[0] < 2e-3 * tact_v3_norm(moved));
    assert_true(off[1] < 0.3 * off[0] ||
                off[0] < RELATIVE_ERROR_OF_REFERENCE_MOTION * tact_v3_norm(moved));
}

/* One ring hangs in the other, like links of a chain. */
static void reduced_torus_in_a_torus_agrees_with_the_world(void **state)
{
    (void)state;
    const double ring = 0.03, tube = 0.008, reach = ring - tube;
    struct motion m = {.name = "torus in a torus",
                       .shape = {.kind = TACT_SHAPE_TORUS, .size = {ring, tube}},
                       .fixed = {.kind = TACT_SHAPE_TORUS, .size = {ring, tube}},
                       .local = tact_pose_identity(),
                       .place = {.quat_wxyz = {SQRT_ONE_HALF, SQRT_ONE_HALF, 0.0, 0.0}},
                       .pose = {{0.0, 0.0, -2.0 * reach}, {SQRT_ONE_HALF, 0.0, SQRT_ONE_HALF, 0.0}},
                       .mass = 0.05,
                       .inertia = {1.4e-5, 1.4e-5, 2.5e-5},
                       .contact = {0.0, 0.0, -reach},
                       .w = {2.0, 3.0, 0.5},
                       .seconds = 0.3};
    for (int i = 0; i < 2; i++) {
        m.friction = i ? 0.0 : 2.0;
        compare_reduced_motion_with_world(&m);
    }
}

static void reduced_ellipsoid_on_a_torus_agrees_with_the_world(void **state)
{
    (void)state;
    struct motion m = {.name = "ellipsoid on a torus",
                       .shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.015, 0.02, 0.008}},
                       .fixed = {.kind = TACT_SHAPE_TORUS, .size = {0.06, 0.02}},
                       .local = tact_pose_identity(),
                       .place = tact_pose_identity(),
                       .pose = {{0.06, 0.0, 0.028}, {1.0, 0.0, 0.0, 0.0}},
                       .mass = 0.05,
                       .inertia = {5e-6, 3e-6, 7e-6},
                       .friction = 5.0,
                       .contact = {0.06, 0.0, 0.02},
                       .w = {1.5, -1.0, 2.0},
                       .seconds = 0.1};
    compare_reduced_motion_with_world(&m);
}

static void reduced_ellipsoid_on_a_ball_agrees_with_the_world(void **state)
{
    (void)state;
    struct motion m = {.name = "ellipsoid on a ball",
                       .shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.03, 0.02, 0.006}},
                       .fixed = {.kind = TACT_SHAPE_SPHERE, .size = {0.05}},
                       .local = tact_pose_identity(),
                       .place = tact_pose_identity(),
                       .pose = {{0.0, 0.0, 0.056}, {1.0, 0.0, 0.0, 0.0}},
                       .mass = 0.05,
                       .inertia = {5e-6, 9e-6, 13e-6},
                       .friction = 5.0,
                       .contact = {0.0, 0.0, 0.05},
                       .w = {3.0, -2.0, 1.0},
                       .seconds = 0.3};
    compare_reduced_motion_with_world(&m);
}

/* A ball released at rest at 30 degrees in a bowl, through its axis. */
static void reduced_ball_in_a_bowl_agrees_with_the_world(void **state)
{
    (void)state;
    double profile[TACT_PROFILE_POINTS][2];
    struct tact_charts *charts;
    const int count = make_bowl_profile(profile);
    const double ball = 0.02, far = BOWL_RADIUS - ball, sine = 0.5, cosine = sqrt(0.75);
    const double i = 0.4 * 0.1 * ball * ball;
    assert_int_equal(tact_charts_revolution((const double(*)[2])profile, count, &charts, NULL), 0);
    struct motion m = {.name = "ball in a bowl",
                       .shape = {.kind = TACT_SHAPE_SPHERE, .size = {ball}},
                       .fixed = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts},
                       .local = tact_pose_identity(),
                       .place = tact_pose_identity(),
                       .pose = {{far * sine, 0.0, -far * cosine}, {1.0, 0.0, 0.0, 0.0}},
                       .mass = 0.1,
                       .inertia = {i, i, i},
                       .friction = 0.4,
                       .contact = {BOWL_RADIUS * sine, 0.0, -BOWL_RADIUS * cosine},
                       .seconds = 0.3};
    compare_reduced_motion_with_world(&m);
    tact_charts_free(charts);
}

/* The rattleback of 0.25 kg, level and turned out of its principal axes by 1 degree. */
static void reduced_rattleback_agrees_with_the_world(void **state)
{
    (void)state;
    const double turn[3] = {0.0, 0.0, 0.017453292519943295};
    struct motion m = {.name = "rattleback",
                       .shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.11, 0.022, 0.018}},
                       .fixed = {.kind = TACT_SHAPE_HALFSPACE},
                       .local = {.position = {0.0, 0.0, 0.004}},
                       .place = tact_pose_identity(),
                       .pose = {{0.0, 0.0, 0.014}, {1.0, 0.0, 0.0, 0.0}},
                       .mass = 0.25,
                       .inertia = {3e-5, 60e-5, 62e-5},
                       .friction = 1.0,
                       .w = {0.3, 0.1, 4.0},
                       .seconds = 0.3};
    tact_quat_from_rotvec(m.local.quat_wxyz, turn);
    compare_reduced_motion_with_world(&m);
}

/* The tippe top, its axis tilted by 0.5 rad, spun about the vertical, in slip. */
static void reduced_tippe_top_in_slip_agrees_with_the_world(void **state)
{
    (void)state;
    const double radius = 0.02, low = 0.006, i = 0.02 * radius * radius, tilt[3] = {0.0, 0.5, 0.0};
    struct motion m = {.name = "tippe top",
                       .shape = {.kind = TACT_SHAPE_SPHERE, .size = {radius}},
                       .fixed = {.kind = TACT_SHAPE_HALFSPACE},
                       .local = {{0.0, 0.0, low}, {1.0, 0.0, 0.0, 0.0}},
                       .place = tact_pose_identity(),
                       .mass = 0.02,
                       .inertia = {131.0 / 350.0 * i, 131.0 / 350.0 * i, 0.4 * i},
                       .friction = 0.3,
                       .w = {0.0, 0.0, 155.0},
                       .slips = 1,
                       .seconds = 0.1};
    tact_v3_set(m.pose.position, -low * sin(tilt[1]), 0.0, radius - low * cos(tilt[1]));
    tact_quat_from_rotvec(m.pose.quat_wxyz, tilt);
    /* the body turns about its centre of mass, which is at rest */
    tact_v3_copy(m.contact, m.pose.position);
    compare_reduced_motion_with_world(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reduced_torus_in_a_torus_agrees_with_the_world),
        cmocka_unit_test(reduced_ellipsoid_on_a_torus_agrees_with_the_world),
        cmocka_unit_test(reduced_ellipsoid_on_a_ball_agrees_with_the_world),
        cmocka_unit_test(reduced_ball_in_a_bowl_agrees_with_the_world),
        cmocka_unit_test(reduced_rattleback_agrees_with_the_world),
        cmocka_unit_test(reduced_tippe_top_in_slip_agrees_with_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
