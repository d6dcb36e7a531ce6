/* Contacts by features that move over curved surfaces: how they move, against differences of the
 * nearest points, and the energy of solids that rock and roll for a minute. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/features/surface_motion_internal.h"
#include "support/contact_model_scene.h"
#include "support/random.h"

#define G 9.81

enum { KINDS = 6 };
static const enum tact_shape_kind solid_kinds[KINDS] = {TACT_SHAPE_HALFSPACE, TACT_SHAPE_SPHERE,
                                                        TACT_SHAPE_CAPSULE,   TACT_SHAPE_CYLINDER,
                                                        TACT_SHAPE_ELLIPSOID, TACT_SHAPE_BOX};

/* A solid of about 1 m in motion. */
struct moving_solid {
    struct tact_shape shape;
    struct tact_convex_core *core;
    struct tact_pose pose;
    double twist[6];
};

static void make_moving_solid(enum tact_shape_kind kind, struct moving_solid *s)
{
    s->shape = (struct tact_shape){
        .kind = kind, .size = {uniform(0.3, 1.0), uniform(0.3, 1.0), uniform(0.3, 1.0)}};
    if (kind == TACT_SHAPE_BOX) {
        assert_int_equal(tact_shape_tessellate(&s->shape), 0);
    }
    assert_int_equal(tact_convex_core_create(&s->shape, &s->core), 0);
    s->pose = random_pose(kind == TACT_SHAPE_HALFSPACE ? 0.1 : 1.0);
    for (int i = 0; i < 6; i++) {
        s->twist[i] = uniform(-1.0, 1.0);
    }
}

static void destroy_moving_solid(struct moving_solid *s)
{
    tact_convex_core_free(s->core);
    tact_shape_release(&s->shape);
}

/* Nearest points [m] and normal of two solids after a time. */
static void nearest_points_at_time(const struct moving_solid *const solid[2], double time,
                                   double result[3][3], struct tact_separation *sep)
{
    struct tact_pose pose[2];
    double state[TACT_NEAREST_STATE] = {0.0};
    for (int k = 0; k < 2; k++) {
        double turn[3], quat[4];
        pose[k] = solid[k]->pose;
        tact_v3_axpy(pose[k].position, time, solid[k]->twist);
        tact_v3_scale(turn, solid[k]->twist + 3, time);
        tact_quat_from_rotvec(quat, turn);
        tact_quat_mul(pose[k].quat_wxyz, quat, solid[k]->pose.quat_wxyz);
    }
    assert_int_equal(
        tact_nearest_points(solid[0]->core, &pose[0], solid[1]->core, &pose[1], state, sep), 0);
    tact_v3_add(result[0], sep->origin, sep->point_a);
    tact_v3_add(result[1], sep->origin, sep->point_b);
    tact_v3_copy(result[2], sep->normal);
}

/* Largest difference between the computed rates of the two points and the normal and those by
 * differences over +-time; -1 where the features change in between. */
static double surface_motion_error(const struct moving_solid *const solid[2],
                                   const struct tact_surface_motion *motion, double time)
{
    const double *const computed[3] = {motion->point[0], motion->point[1], motion->normal};
    double before[3][3], now[3][3], after[3][3], worst = 0.0;
    struct tact_separation sep;
    nearest_points_at_time(solid, -time, before, &sep);
    nearest_points_at_time(solid, 0.0, now, &sep);
    nearest_points_at_time(solid, time, after, &sep);
    for (int i = 0; i < 9; i++) {
        double backward_difference_coordinate_rate =
            (now[i / 3][i % 3] - before[i / 3][i % 3]) / time;
        double forward_difference_coordinate_rate =
            (after[i / 3][i % 3] - now[i / 3][i % 3]) / time;
        if (fabs(forward_difference_coordinate_rate - backward_difference_coordinate_rate) >
            0.002) {
            return -1.0;
        }
        worst = fmax(worst, fabs(0.5 * (backward_difference_coordinate_rate +
                                        forward_difference_coordinate_rate) -
                                 computed[i / 3][i % 3]));
    }
    return worst;
}

static void contact_moves_over_both_surfaces_as_the_nearest_points_do(void **state)
{
    (void)state;
    int compared_pair_counts[KINDS][KINDS] = {{0}},
        trial_count = campaign_trial_count(20000, 200000), most = 0;
    double worst = 0.0;
    for (int i = 0; i < trial_count; i++) {
        int kind[2] = {i % KINDS, i / KINDS % KINDS};
        struct moving_solid a, b;
        const struct moving_solid *const solid[2] = {&a, &b};
        struct tact_surface_contact contact;
        struct tact_surface_motion motion;
        struct tact_separation sep;
        double points[3][3];
        if (kind[0] == 0 && kind[1] == 0) {
            continue;
        }
        make_moving_solid(solid_kinds[kind[0]], &a);
        make_moving_solid(solid_kinds[kind[1]], &b);
        nearest_points_at_time(solid, 0.0, points, &sep);
        if (sep.distance > 0.01) {
            contact = (struct tact_surface_contact){.core = {a.core, b.core},
                                                    .nearest_points_and_normal_of_cores = &sep,
                                                    .gap = sep.distance};
            for (int k = 0; k < 2; k++) {
                tact_v3_sub(contact.arm[k], points[k], solid[k]->pose.position);
            }
            const double twist[2][6] = {
                {a.twist[0], a.twist[1], a.twist[2], a.twist[3], a.twist[4], a.twist[5]},
                {b.twist[0], b.twist[1], b.twist[2], b.twist[3], b.twist[4], b.twist[5]}};
            int rc = tact_surface_motion_find(&contact, twist, 1e3, &motion);
            double error = rc ? -1.0 : surface_motion_error(solid, &motion, 2e-4);
            worst = fmax(worst, error);
            compared_pair_counts[kind[0]][kind[1]] += error >= 0.0;
        }
        destroy_moving_solid(&a);
        destroy_moving_solid(&b);
    }
    for (int i = 1; i < KINDS * KINDS; i++) {
        most += compared_pair_counts[i / KINDS][i % KINDS] > 0;
    }
    printf(
        "rates of points and normals differ by at most %.1e of 1 m and 1 m/s, %d pairs of kinds\n",
        worst, most);
    assert_true(worst < 2e-3 && most == KINDS * KINDS - 1);
}

/* A solid that rocks or rolls on a fixed one. */
struct rolling_case {
    const char *name;
    struct tact_shape ground, body;
    double ground_top_height; /* height of the top of the fixed solid [m] */
    double height, least;     /* height of the body's centre above that: at the start, and where its
                                 energy is 0 [m] */
    double turn[3], rate[3];  /* its rotation [rad] and angular velocity [rad/s] */
};

/* Energy of a solid of 0.2 kg after `time`, relative to that at the start [1]. */
static double relative_energy_after_rolling(const struct rolling_case *c, double period,
                                            double time)
{
    struct tact_world_options o = options_with_contact_model("features", period);
    const double place[3] = {0.0, 0.0, c->ground_top_height + c->height},
                 lie[3] = {0.0, M_PI_2, 0.0}, mass = 0.2;
    struct tact_pose ground_pose = tact_pose_identity();
    struct world_scene s;
    open_empty_scene(&s, &o);
    if (c->ground.kind == TACT_SHAPE_HALFSPACE) {
        add_scene_ground(&s);
    } else {
        tact_quat_from_rotvec(ground_pose.quat_wxyz, lie);
        add_scene_shape(&s, -1, &c->ground, &ground_pose, 0);
    }
    add_scene_solid(&s, &c->body, mass, place, 0.0);
    start_box_on_ground(&s, 1.0);
    struct tact_body *body = tact_world_body(s.world, 0);
    tact_quat_from_rotvec(body->pose.quat_wxyz, c->turn);
    tact_v3_copy(body->twist + 3, c->rate);
    tact_v3_cross(body->twist, c->rate, (double[3]){0.0, 0.0, c->height});
    tact_world_refresh(s.world);
    run_scene_for_seconds(&s, 0.05); /* the velocity at the start is no rolling */
    double start =
        compute_phase_corrected_energy(&s) - mass * G * (c->ground_top_height + c->least);
    run_scene_for_seconds(&s, time);
    double end = compute_phase_corrected_energy(&s) - mass * G * (c->ground_top_height + c->least);
    assert_true(s.unsolved_ticks == 0 && start > 0.0);
    close_scene(&s);
    return end / start;
}

/* Without the second-order term the egg gains 16 % in a minute at 1 ms. */
static void rolling_solids_keep_their_energy(void **state)
{
    (void)state;
    const double a = 0.05, b = 0.03, tilt = 0.3;
    const double up = hypot(a * sin(tilt), b * cos(tilt));
    const struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_shape box = box_of_sides(0.01, 4.0, 4.0), ball = make_sphere(0.2);
    const struct tact_shape egg = {.kind = TACT_SHAPE_ELLIPSOID, .size = {a, b, b}};
    const struct tact_shape lens_shape = {.kind = TACT_SHAPE_ELLIPSOID, .size = {a, a, 0.02}};
    const struct rolling_case rolling_cases[] = {
        {"egg", plane, egg, 0.0, up, b, {0.0, tilt, 0.0}, {0.0, 0.0, 0.0}},
        {"egg that turns", plane, egg, 0.0, up, b, {0.0, tilt, 0.0}, {0.0, 0.0, 3.0}},
        {"egg on a box", box, egg, 0.005, up, b, {0.0, tilt, 0.0}, {0.0, 0.0, 0.0}},
        {"lens on a ball", ball, lens_shape, 0.2, 0.02, 0.02, {0.0, 0.0, 0.0}, {3.0, 0.0, 2.0}},
    };
    const double time = campaign_trial_count(10, 60);
    for (size_t i = 0; i < sizeof rolling_cases / sizeof *rolling_cases; i++) {
        double change[3];
        for (int k = 0; k < 3; k++) {
            change[k] =
                relative_energy_after_rolling(&rolling_cases[i], 1e-3 / (1 << k), time) - 1.0;
        }
        printf("%s: energy changes by %.1e, %.1e, %.1e in %g s at 1, 0.5 and 0.25 ms\n",
               rolling_cases[i].name, change[0], change[1], change[2], time);
        assert_true(fabs(change[0]) < 3e-4 && fabs(change[1]) < 1e-4 && fabs(change[2]) < 3e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rolling_solids_keep_their_energy),
        cmocka_unit_test(contact_moves_over_both_surfaces_as_the_nearest_points_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
