/*
 * Motion on parametric surfaces: a ball in a bowl, the bowl turned and its profile reversed,
 * crossed cylinders that rock, a ball on the end of a turning cylinder, and replays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/models_internal.h"
#include "contact/shape/charts.h"
#include "support/bowl_profile.h"
#include "support/random.h"
#include "support/replays.h"
#include "support/smooth_known.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

#define BALL_RADIUS 0.02 /* [m] */

/* A ball in the bowl, at rest at an angle; the bowl is turned about its axis by azimuth. */
static void open_ball_in_bowl_scene(struct world_scene *s, const struct tact_charts *charts,
                                    double azimuth, double angle, double friction, double period)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(friction);
    const struct tact_shape bowl_shape = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts};
    const struct tact_shape ball = make_sphere(BALL_RADIUS);
    struct tact_pose at = tact_pose_identity();
    const double place[3] = {(BOWL_RADIUS - BALL_RADIUS) * sin(angle), 0.0,
                             -(BOWL_RADIUS - BALL_RADIUS) * cos(angle)};
    o.period = period;
    law.model = &tact_model_smooth;
    at.quat_wxyz[0] = cos(0.5 * azimuth);
    at.quat_wxyz[3] = sin(0.5 * azimuth);
    open_empty_scene(s, &o);
    add_scene_shape(s, -1, &bowl_shape, &at, 0);
    add_scene_solid(s, &ball, 0.1, place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

/* Mean period of a coordinate of body 0 over some swings, from its sign changes. */
static double ball_swing_period(struct world_scene *s, int axis, int swing_count)
{
    double last = tact_world_body(s->world, 0)->pose.position[axis], first = 0.0, now = 0.0;
    for (int k = 1, crossings = 0; crossings <= 2 * swing_count && k < 100000; k++) {
        step_scene(s);
        double x = tact_world_body(s->world, 0)->pose.position[axis];
        if ((x < 0.0) != (last < 0.0)) {
            now = (k - x / (x - last)) * s->options.period;
            first = crossings++ ? first : now;
        }
        last = x;
    }
    return (now - first) / swing_count;
}

static struct tact_charts *make_bowl_charts(void)
{
    double profile[TACT_PROFILE_POINTS][2];
    struct tact_charts *charts;
    const int count = make_bowl_profile(profile);
    assert_int_equal(tact_charts_revolution((const double(*)[2])profile, count, &charts, NULL), 0);
    return charts;
}

/* 2/pi times the complete elliptic integral K(sin^2 of half an angle), by the arithmetic-geometric
 * mean. */
static double pendulum_period_ratio(double angle)
{
    double a = 1.0, g = cos(0.5 * angle);
    for (int i = 0; i < 6; i++) {
        double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    return 1.0 / a;
}

/* Periods 2 pi sqrt(l/g), l = R - r, or 7/5 of it where the ball rolls; at 30 degrees times (2/pi)
 * K(sin^2 15 degrees). Without friction the ball keeps its spin. */
static void ball_swings_in_a_bowl_with_the_exact_period(void **state)
{
    (void)state;
    /* of an amplitude of 0.01 rad, and of 30 degrees; without friction, and rolling [s] */
    static const double known[2][2] = {{0.567401, 0.671358}, {0.577279, 0.683046}};
    const double spin[3] = {3.0, -2.0, 5.0};
    struct tact_charts *charts = make_bowl_charts();
    for (int i = 0; i < 8; i++) {
        const int rolls = i % 2, large = i / 2 % 2;
        const double h = i < 4 ? 1e-3 : 4e-3, angle = large ? PI / 6.0 : 0.01;
        const double exact = 2.0 * PI *
                             sqrt((BOWL_RADIUS - BALL_RADIUS) * (rolls ? 1.4 : 1.0) / G) *
                             pendulum_period_ratio(angle);
        struct world_scene s;
        open_ball_in_bowl_scene(&s, charts, 0.0, angle, rolls ? 0.4 : 0.0, h);
        struct tact_body *ball = tact_world_body(s.world, 0);
        if (!rolls) {
            tact_v3_copy(ball->twist + 3, spin);
        }
        double measured = ball_swing_period(&s, 0, 8);
        printf("%s at %.4f rad, h %g ms: %.6f s, exact %.6f: %.4f %%\n", rolls ? "rolls" : "slides",
               angle, 1e3 * h, measured, exact, 100.0 * (measured / exact - 1.0));
        assert_true(fabs(exact / known[large][rolls] - 1.0) < 1e-5);
        assert_true(fabs(measured / exact - 1.0) < (i < 4 ? 1e-4 : 1e-3));
        assert_true(i >= 4 || fabs(measured / known[large][rolls] - 1.0) < 1e-3);
        assert_true(s.unsolved_ticks == 0);
        for (int k = 0; k < 3 && !rolls; k++) {
            assert_true(fabs(ball->twist[3 + k] - spin[k]) < 1e-12);
        }
        close_scene(&s);
    }
    tact_charts_free(charts);
}

/* Released at rest at an angle A the ball rolls where the coefficient of friction is at least (2/7)
 * tan A, which it needs there: below, the force of friction falls and the normal one rises. With
 * 0.1 % less it slips at once, at g (sin A - (7/2) mu cos A). */
static void ball_in_a_bowl_rolls_from_the_exact_friction_on(void **state)
{
    (void)state;
    struct tact_charts *charts = make_bowl_charts();
    for (int i = 0; i < 6; i++) {
        const double angle = PI / 18.0 * (1 + i / 2);
        const double limit = 2.0 / 7.0 * tan(angle), friction = limit * (i % 2 ? 1.001 : 0.999);
        double most = 0.0, first = 0.0;
        struct world_scene s;
        open_ball_in_bowl_scene(&s, charts, 0.0, angle, friction, 1e-3);
        const struct tact_body *ball = tact_world_body(s.world, 0);
        for (int k = 0; k < 300; k++) {
            double n[3], slip[3];
            tact_v3_scale(n, ball->pose.position, BALL_RADIUS / tact_v3_norm(ball->pose.position));
            step_scene(&s);
            tact_v3_cross(slip, ball->twist + 3, n); /* before the step, where it was solved */
            tact_v3_add(slip, slip, ball->twist);
            tact_v3_axpy(slip, -tact_v3_dot(slip, n) / (BALL_RADIUS * BALL_RADIUS), n);
            most = fmax(most, tact_v3_norm(slip));
            first = k ? first : tact_v3_norm(slip);
        }
        const double exact = 1e-3 * G * (sin(angle) - 3.5 * friction * cos(angle));
        printf("%.0f degrees, friction %.5f, limit %.5f: slips at up to %.1e m/s, after a tick at "
               "%.2e (%.2e)\n",
               180.0 / PI * angle, friction, limit, most, first, fmax(exact, 0.0));
        assert_true(i % 2 ? first < 1e-9 && most < 1e-5 : fabs(first / exact - 1.0) < 0.01);
        close_scene(&s);
    }
    tact_charts_free(charts);
}

/* A vertical tube of radius TUBE_RADIUS inside, with round rims. */
#define TUBE_RADIUS 0.1
#define TUBE_WALL_THICKNESS 0.02
#define TUBE_HALF_LENGTH 0.25 /* half length of the straight part of the tube [m] */

static int make_tube_profile(double (*out)[2])
{
    enum { LINE = 50, RIM = 12 };
    int count = 0;
    for (int side = 0; side < 2; side++) {
        const double up = side ? -1.0 : 1.0;
        for (int i = 0; i < LINE; i++, count++) {
            out[count][0] = TUBE_RADIUS + side * TUBE_WALL_THICKNESS;
            out[count][1] = up * TUBE_HALF_LENGTH * (2.0 * i / LINE - 1.0);
        }
        for (int i = 0; i < RIM; i++, count++) {
            const double a = PI * i / RIM;
            out[count][0] = TUBE_RADIUS + 0.5 * TUBE_WALL_THICKNESS * (1.0 - up * cos(a));
            out[count][1] = up * (TUBE_HALF_LENGTH + 0.5 * TUBE_WALL_THICKNESS * sin(a));
        }
    }
    out[count][0] = out[0][0];
    out[count][1] = out[0][1];
    return count + 1;
}

/* A ball that rolls around in a vertical tube does not fall out: without torsion it goes up and
 * down at sqrt(2/7) of its azimuthal rate W (Neimark and Fufaev), z = -(5 g / 2 W^2) (1 - cos). */
static void ball_in_a_tube_rolls_up_and_down_at_the_exact_period(void **state)
{
    (void)state;
    const double rate = 20.0, slow = sqrt(2.0 / 7.0) * rate, most = 2.5 * G / (rate * rate);
    double profile[TACT_PROFILE_POINTS][2], last = 0.0;
    struct tact_charts *charts;
    int count = make_tube_profile(profile);
    assert_int_equal(tact_charts_revolution((const double(*)[2])profile, count, &charts, NULL), 0);
    for (int i = 0; i < 3; i++) {
        const double h = ldexp(2e-3, -i);
        struct world_scene s;
        /* the ball starts beside the middle of the tube, at z = 0 */
        open_ball_in_bowl_scene(&s, charts, 0.0, PI / 2.0, 0.8, h);
        struct tact_body *ball = tact_world_body(s.world, 0);
        tact_v3_set(ball->twist, 0.0, rate * (TUBE_RADIUS - BALL_RADIUS), 0.0);
        tact_v3_set(ball->twist + 3, 0.0, 0.0, -rate * (TUBE_RADIUS - BALL_RADIUS) / BALL_RADIUS);
        tact_body_refresh(ball);
        double worst = 0.0;
        for (int k = 1; k <= lround(1.2 / h); k++) {
            step_scene(&s);
            /* a tick's velocity is that of its middle, the first one's of its end */
            const double z = -most * (1.0 - cos(slow * h * (k + 0.5)));
            worst = fmax(worst, fabs(ball->pose.position[2] - z));
        }
        printf("tube, h %g ms: within %.2e m of %g m in two periods\n", 1e3 * h, worst, 2.0 * most);
        assert_true(worst < 1e-3 * 2.0 * most && s.unsolved_ticks == 0);

        assert_true(i == 0 || worst < 0.3 * last); /* the error is of second order in the period */
        last = worst;
        close_scene(&s);
    }
    tact_charts_free(charts);
}

/* Where the charts have their cells, and in which direction the profile runs, does not matter. */
static void chart_division_of_a_profile_changes_no_motion(void **state)
{
    (void)state;
    double profile[TACT_PROFILE_POINTS][2], back[TACT_PROFILE_POINTS][2], at[4][3], worst = 0.0;
    int count = make_bowl_profile(profile);
    for (int i = 0; i < count; i++) {
        memcpy(back[i], profile[count - 1 - i], sizeof back[i]);
    }
    for (int i = 0; i < 4; i++) {
        struct tact_charts *charts;
        struct world_scene s;
        const double(*p)[2] = (const double(*)[2])(i == 3 ? back : profile);
        assert_int_equal(tact_charts_revolution(p, count, &charts, NULL), 0);
        open_ball_in_bowl_scene(&s, charts, 0.1 * i, 0.5, 0.4, 1e-3);
        struct tact_body *body = tact_world_body(s.world, 0);
        tact_v3_set(body->twist, 0.0, 0.2, 0.0);
        tact_v3_set(body->twist + 3, 3.0, 4.0, 20.0);
        run_scene_for_seconds(&s, 2.0);
        tact_v3_copy(at[i], body->pose.position);
        close_scene(&s);
        tact_charts_free(charts);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(at[i][k] - at[0][k]));
        }
    }
    printf("after 2 s within %.1e m however the profile is divided\n", worst);
    assert_true(worst < 1e-14);
}

/* A cylinder across another one, fixed: the upper one rocks along its own axis. Its centre is r
 * above the contact, and the lower one's radius is R: omega^2 = g (R - r) / (k^2 + r^2). */
static void crossed_cylinders_rock_at_the_exact_frequency(void **state)
{
    (void)state;
    const double r = 0.01, low = 0.03, half = 0.06, tilt = 2e-3;
    for (int i = 0; i < 2; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(0.5);
        const struct tact_shape lower = {.kind = TACT_SHAPE_CYLINDER, .size = {low, 0.1}},
                                upper = {.kind = TACT_SHAPE_CYLINDER, .size = {r, half}};
        struct tact_pose at = {{0.0, 0.0, 0.0}, {sqrt(0.5), sqrt(0.5), 0.0, 0.0}};
        const double turn[3] = {0.0, 0.5 * PI + tilt, 0.0};
        const double place[3] = {low * sin(tilt) + r * sin(tilt) - low * tilt * cos(tilt), 0.0,
                                 (low + r) * cos(tilt) + low * tilt * sin(tilt)};
        double k2 = 0.25 * r * r + half * half / 3.0;
        double exact = 2.0 * PI / sqrt(G * (low - r) / (k2 + r * r));
        struct world_scene s;
        o.period = 1e-3 * (1 << i);
        law.model = &tact_model_smooth;
        open_empty_scene(&s, &o);
        add_scene_shape(&s, -1, &lower, &at, 0);
        add_scene_solid(&s, &upper, 0.2, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        tact_quat_from_rotvec(tact_world_body(s.world, 0)->pose.quat_wxyz, turn);
        finish_scene_building(&s);
        double measured = ball_swing_period(&s, 0, 5);
        printf("rocks, h %g ms: %.6f s, exact %.6f\n", 1e3 * o.period, measured, exact);
        assert_true(fabs(measured / exact - 1.0) < 5e-4 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* Cups, cans and cones: contacts of charts, of edges and of lines in one island. */
static const char table[] =
    "name: table\nduration: 0.6\ncontact: {model: smooth}\n"
    "materials: [{name: clay}]\n"
    "pairs: [{materials: [clay, clay], friction: 0.4}]\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{type: halfspace, material: clay}]}\n"
    "  - name: dish\n    fixed: true\n    position: [0, 0, 0.012]\n    shapes:\n"
    "      - type: revolution\n        material: clay\n"
    "        profile: [[0, 0], [0.02, 0.002], [0.04, 0.01], [0.06, 0.026], [0.066, 0.03],\n"
    "          [0.069, 0.026], [0.06, 0.014], [0.04, 0], [0.02, -0.008], [0, -0.01]]\n"
    "  - name: ball\n    mass: 0.05\n    position: [0.03, 0, 0.028]\n    velocity: [0, 0.2, 0]\n"
    "    shapes: [{type: sphere, radius: 0.01, material: clay}]\n"
    "  - name: egg\n    mass: 0.05\n    position: [-0.02, 0.01, 0.033]\n"
    "    shapes: [{type: ellipsoid, size: [0.03, 0.02, 0.024], material: clay}]\n"
    "  - name: can\n    mass: 0.1\n    position: [0.15, 0, 0.0211]\n"
    "    quat_wxyz: [0.7071067811865476, 0.7071067811865476, 0, 0]\n    velocity: [0.1, 0, 0]\n"
    "    shapes: [{type: cylinder, radius: 0.02, length: 0.06, material: clay}]\n"
    "  - name: hat\n    mass: 0.1\n    position: [0.25, 0, 0.021]\n"
    "    quat_wxyz: [0.995, 0.1, 0, 0]\n"
    "    shapes: [{type: cone, radius: 0.03, length: 0.04, material: clay}]\n"
    "  - name: plate\n    mass: 0.1\n    position: [0.15, 0.1, 0.0051]\n"
    "    shapes: [{type: cylinder, radius: 0.04, length: 0.01, material: clay}]\n"
    "  - name: marble\n    mass: 0.02\n    position: [0.155, 0.1, 0.0161]\n"
    "    velocity: [0.05, 0, 0]\n"
    "    shapes: [{type: sphere, radius: 0.006, material: clay}]\n"
    "  - name: stick\n    mass: 0.02\n    position: [0.14, 0, 0.0462]\n"
    "    quat_wxyz: [0.7071067811865476, 0, 0.7071067811865476, 0]\n"
    "    shapes: [{type: cylinder, radius: 0.005, length: 0.1, material: clay}]\n";

static void revolution_surface_session_replays_from_any_tick(void **state)
{
    (void)state;
    struct tact_session_report report = check_replays_from_any_tick(table);
    printf("%llu patches by features or volume\n",
           (unsigned long long)report.counts[TACT_COUNT_EDGES]);
    assert_true(report.counts[TACT_COUNT_EDGES] > 100);
}

/* A body with rings about it lies on a plane, or on another: at each crest it has the same normal
 * and the same curvature, which a search from one of the contacts must not take for that one. */
static void smooth_contact_is_found_at_every_wave_crest(void **state)
{
    (void)state;
    enum { POINTS = 81 };
    double profile[POINTS][2];
    int found_contact_count = 0, missed_contact_count = 0;
    for (int i = 0; i < POINTS; i++) { /* profile: an ellipse with waves */
        const double s = PI * i / (POINTS - 1), z = -0.03 * cos(s);
        const double surface_wave_height = 1e-3 * cos(2.0 * PI * z / 0.016) * sin(s);
        profile[i][0] =
            i == 0 || i == POINTS - 1 ? 0.0 : 0.008 * sqrt(sin(s)) + surface_wave_height;
        profile[i][1] = z;
    }
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    if (tact_charts_revolution((const double(*)[2])profile, POINTS, &charts, &err)) {
        fail_msg("%s", err.text);
    }
    const struct tact_shape body = {.kind = TACT_SHAPE_REVOLUTION, .charts = charts},
                            plane = {.kind = TACT_SHAPE_HALFSPACE};
    const int trial_count = campaign_trial_count(100, 3000);
    for (int i = 0; i < trial_count; i++) {
        const double turn[3] = {0.5 * PI + uniform(-0.02, 0.02), 0.0, 0.0};
        struct tact_pose pose[2] = {tact_pose_identity(), tact_pose_identity()};
        struct smooth_pair pair;
        struct smooth_contact c[TACT_PIECES];
        int lost;
        tact_quat_from_rotvec(pose[0].quat_wxyz, turn);
        pose[1].position[2] = i % 2 ? 0.0 : -0.0185 + uniform(0.0, 1e-3);
        pose[1].position[0] = uniform(-1e-3, 1e-3);
        if (i % 2) {
            pose[0].position[2] = 0.0091;
        } else {
            memcpy(pose[1].quat_wxyz, pose[0].quat_wxyz, sizeof pose[1].quat_wxyz);
        }
        tact_smooth_set_pair(&body, &pose[0], i % 2 ? &plane : &body, &pose[1], &pair);
        const int found = tact_smooth_search_contacts(&pair, 3e-3, 0, c, &lost);
        found_contact_count += found;
        missed_contact_count += count_contacts_missed_by_warm_search(&pair, 3e-3, c, found, 1e-6);
    }
    printf("%d contacts, %d missed by searches that begin with another\n", found_contact_count,
           missed_contact_count);
    assert_true(2 * found_contact_count > 3 * trial_count && missed_contact_count == 0);
    tact_charts_free(charts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_swings_in_a_bowl_with_the_exact_period),
        cmocka_unit_test(ball_in_a_bowl_rolls_from_the_exact_friction_on),
        cmocka_unit_test(ball_in_a_tube_rolls_up_and_down_at_the_exact_period),
        cmocka_unit_test(chart_division_of_a_profile_changes_no_motion),
        cmocka_unit_test(crossed_cylinders_rock_at_the_exact_frequency),
        cmocka_unit_test(smooth_contact_is_found_at_every_wave_crest),
        cmocka_unit_test(revolution_surface_session_replays_from_any_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
