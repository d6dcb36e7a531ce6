/* Contact by features in motion: exact answers of rigid bodies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/contact_model_scene.h"
#include "support/world_scene.h"

#define G 9.81

/* Lets a block slide on the ground, or on a plate of 1 mm, at `v` in a direction. Checks each
 * position against the exact one of a start at `exact_start_speed`, until it has stopped; returns
 * how far it came. */
static double stopping_distance_of_block(double period, int is_body_on_thin_plate, double v,
                                         double exact_start_speed, double mu, double direction)
{
    struct tact_world_options o = options_with_contact_model("features", period);
    const struct tact_shape box = box_of_sides(0.1, 0.06, 0.04), plate = box_of_sides(2, 2, 1e-3);
    const double place[3] = {0.0, 0.0, 0.02}, along[2] = {cos(direction), sin(direction)};
    struct world_scene s;
    double off = 0.0;
    open_empty_scene(&s, &o);
    add_ground_or_plate(&s, is_body_on_thin_plate ? &plate : NULL);
    add_scene_solid(&s, &box, 0.3, place, 0.0);
    start_box_on_ground(&s, mu);
    const struct tact_body *body = tact_world_body(s.world, 0);
    tact_v3_set(tact_world_body(s.world, 0)->twist, v * along[0], v * along[1], 0.0);
    for (int k = 1; k * period < 0.5; k++) {
        step_scene(&s);
        double t = k * period, exact = exact_start_speed * t - 0.5 * mu * G * t * t;
        double x = exact * along[0] - body->pose.position[0];
        double y = exact * along[1] - body->pose.position[1];
        off = k * period < (v / (mu * G)) - period ? fmax(off, hypot(x, y)) : off;
    }
    double turned =
        hypot(hypot(body->pose.quat_wxyz[1], body->pose.quat_wxyz[2]), body->pose.quat_wxyz[3]);
    assert_true(off < 1e-14 && turned < 1e-13 && s.unsolved_ticks == 0);
    assert_true(fabs(body->pose.position[2] - 0.02) < 1e-12 && tact_v3_norm(body->twist) < 1e-12);
    double way = hypot(body->pose.position[0], body->pose.position[1]);
    close_scene(&s);
    return way;
}

/* A block slides v^2 / (2 mu g), whatever the direction, and does not turn. The velocity that a
 * world has at a time is that of half a tick before: one that is set at the start has been slowed
 * by mu g h / 2 by the time of the start. The block is, in every tick, where the exact one of that
 * start is, and stops v h / 2 short of v^2 / (2 mu g), 0.42 % here at 1 ms. Given the velocity of
 * half a tick before, it stops at v^2 / (2 mu g). The tick in which it stops leaves mu g h^2 / 8.
 */
static void sliding_block_stops_at_the_exact_distance(void **state)
{
    (void)state;
    const double mu = 0.3, v = 0.7, exact = v * v / (2.0 * mu * G);
    for (int i = 0; i < 12; i++) {
        const double h = 1e-3 / (1 << i % 3), slowed = 0.5 * mu * G * h;
        const double rest = mu * G * h * h / 8.0, direction = 0.5 * i;
        double stop_distance_of_slower_start =
            stopping_distance_of_block(h, i / 3 % 2, v, v - slowed, mu, direction);
        double way = stopping_distance_of_block(h, i / 3 % 2, v + slowed, v, mu, direction);
        double expected_stop_distance = (v - slowed) * (v - slowed) / (2.0 * mu * G);
        printf(
            "h %g ms: slides %.7f of v^2 / (2 mu g), %.9f of what the slower start does; of half "
            "a tick before %.7f\n",
            1e3 * h, stop_distance_of_slower_start / exact,
            stop_distance_of_slower_start / expected_stop_distance, way / exact);
        assert_true(stop_distance_of_slower_start - expected_stop_distance < 1e-12 &&
                    stop_distance_of_slower_start - expected_stop_distance > -rest - 1e-12);
        assert_true(way - exact < 1e-12 && way - exact > -rest - 1e-12 && rest < 1e-5 * exact);
    }
}

/* A tall box that rotates about an edge of its foot, without a slip. The foot creeps by h/2 times
 * the acceleration of its free motion in each tick unless the contact prescribes the opposite: with
 * that it moves by less than the square of h, without it by 4e-6 m at 1 ms. */
static void pivot_edge_of_a_tipping_box_stays_in_place(void **state)
{
    (void)state;
    double moved[3], low[3];
    for (int i = 0; i < 3; i++) {
        struct tact_world_options o = options_with_contact_model("features", 1e-3 / (1 << i));
        const struct tact_shape box = box_of_sides(0.01, 0.025, 0.05);
        const double place[3] = {0.0, 0.0, 0.025}, edge[3] = {0.005, 0.0, -0.025};
        struct world_scene s;
        open_empty_scene(&s, &o);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, 0.01, place, 0.0);
        start_box_on_ground(&s, 2.0);
        struct tact_body *body = tact_world_body(s.world, 0);
        tact_v3_set(body->twist, 0.15, 0.0, 0.03);
        tact_v3_set(body->twist + 3, 0.0, 6.0, 0.0);
        run_scene_for_seconds(&s, 0.1);
        double pivot_position[3];
        tact_pose_point(pivot_position, &body->pose, edge);
        moved[i] = fabs(pivot_position[0] - edge[0]);
        low[i] = pivot_position[2];
        printf("h %g ms: the foot moves by %.1e m, rises by %.1e m, at a tilt of %.2f\n",
               1e3 * o.period, moved[i], low[i], body_tilt_from_vertical(&s, 0));
        assert_true(body_tilt_from_vertical(&s, 0) > 0.4 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
    assert_true(moved[0] < 5e-7 && low[0] < 1e-6);
    for (int i = 0; i < 2; i++) {
        assert_true(moved[i + 1] < 0.3 * moved[i] && low[i + 1] < 0.3 * low[i]);
    }
}

/* A box, one that stands on an edge, and a capsule are pressed on a heavy turntable for one turn,
 * without gravity. In straight steps they would move outward by w^2 r h/2 a second, 6e-4 m in all.
 */
static void solids_keep_their_place_on_a_turntable(void **state)
{
    (void)state;
    const double w = 2.0, radius = 0.1, up[3] = {0.01, 0.01 * sqrt(2.0), 0.01};
    for (int i = 0; i < 3; i++) {
        struct tact_world_options o = options_with_contact_model("features", 1e-3);
        const struct tact_shape table = box_of_sides(0.5, 0.5, 0.1),
                                box = box_of_sides(0.08, 0.02, 0.02);
        const struct tact_shape capsule = {.kind = TACT_SHAPE_CAPSULE, .size = {0.01, 0.04}};
        const double low[3] = {0.0, 0.0, -0.05}, place[3] = {radius, 0.0, up[i]};
        const double turn[3] = {0.25 * M_PI, 0.0, 0.0}, lie[3] = {0.0, 0.5 * M_PI, 0.0};
        double most = 0.0;
        const double none[3] = {0.0, 0.0, 0.0}, press_velocity_change[3] = {0.0, 0.0, -9.81e-3};
        struct world_scene s;
        tact_v3_copy(o.gravity, none);
        open_empty_scene(&s, &o);
        add_scene_solid(&s, &table, 1e6, low, 0.0);
        add_scene_solid(&s, i == 2 ? &capsule : &box, 0.3, place, 0.0);
        start_box_on_ground(&s, 1.0);
        struct tact_body *base = tact_world_body(s.world, 0), *body = tact_world_body(s.world, 1);
        if (i) {
            tact_quat_from_rotvec(body->pose.quat_wxyz, i == 1 ? turn : lie);
            tact_world_refresh(s.world);
        }
        base->twist[5] = body->twist[5] = w;
        body->twist[1] = w * radius;
        for (int k = 0; k < 3142; k++) {
            tact_v3_add(body->twist, body->twist, press_velocity_change);
            step_scene(&s);
            double apart[3];
            tact_v3_sub(apart, body->pose.position, base->pose.position);
            double r = hypot(apart[0], apart[1]);
            most = fmax(most, fabs(r - radius));
        }
        printf("within a turn: moves outward by at most %.1e m\n", most);
        assert_true(most < 1e-6 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* A box of 0.3 kg at rest on the ground, by the model and with its own overlap where it has one. */
static struct tact_body *start_resting_box(struct world_scene *s, struct tact_world_options *o,
                                           const char *model, double overlap, const double side[3],
                                           double friction)
{
    struct tact_contact_law law = make_friction_law(friction);
    const struct tact_shape box = box_of_sides(side[0], side[1], side[2]);
    const int has_target_overlap = strcmp(model, "volume") == 0;
    const double place[3] = {0.0, 0.0, 0.5 * side[2] - (has_target_overlap ? overlap : 0.0)};
    o->model = tact_contact_model_find(model);
    law.overlap = overlap;
    open_empty_scene(s, o);
    add_scene_ground(s);
    add_scene_solid(s, &box, 0.3, place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    return tact_world_body(s->world, 0);
}

/* A block that slides has the same pose in every tick by features as by moments, whatever their
 * target overlap. */
static void block_slides_equally_by_features_and_by_moments(void **state)
{
    (void)state;
    static const double side[3] = {0.1, 0.06, 0.04}, start_overlaps[2] = {2e-5, 1e-9};
    for (int i = 0; i < 4; i++) {
        struct tact_world_options o = options_with_contact_model("features", 1e-3 / (1 << i % 2));
        const double overlap = start_overlaps[i / 2];
        struct world_scene s, other;
        double off = 0.0, turned = 0.0;
        struct tact_body *b = start_resting_box(&s, &o, "features", overlap, side, 0.3);
        struct tact_body *c = start_resting_box(&other, &o, "volume", overlap, side, 0.3);
        tact_v3_set(b->twist, 0.7 * cos(0.5), 0.7 * sin(0.5), 0.0);
        tact_v3_copy(c->twist, b->twist);
        for (int k = 0; k * o.period < 0.5; k++) {
            double apart[3];
            step_scene(&s);
            step_scene(&other);
            tact_v3_sub(apart, b->pose.position, c->pose.position);
            apart[2] -= overlap;
            off = fmax(off, tact_v3_norm(apart));
            for (int j = 0; j < 4; j++) {
                turned = fmax(turned, fabs(b->pose.quat_wxyz[j] - c->pose.quat_wxyz[j]));
            }
        }
        printf("slides %.6f m, as by moments within %.1e m, turned within %.1e\n",
               tact_v3_norm(b->pose.position), off, turned);
        assert_true(b->pose.position[0] > 0.07 && off < 1e-15 && turned < 1e-15);
        close_scene(&s);
        close_scene(&other);
    }
}

/* On a slope of base / height less 1e-9 of it a block stays, with as much more it tips: so by
 * features and by moments, whose overlap moves the edge unless it is small. */
static void block_tips_equally_by_features_and_by_moments(void **state)
{
    (void)state;
    static const double side[3] = {0.05, 0.06, 0.1};
    for (int i = 0; i < 4; i++) {
        struct tact_world_options o =
            options_with_tilted_gravity(atan(0.5 * (i & 1 ? 1.0 + 1e-9 : 1.0 - 1e-9)));
        struct world_scene s;
        start_resting_box(&s, &o, i & 2 ? "volume" : "features", 1e-12, side, 2.0);
        run_scene_for_seconds(&s, 2.5);
        const double tilt = body_tilt_from_vertical(&s, 0);
        printf("%s, slope of %s base / height: tilt %.1e\n", i & 2 ? "volume" : "features",
               i & 1 ? "over" : "under", tilt);
        assert_true(i & 1 ? tilt > 0.1 : tilt < 1e-12);
        close_scene(&s);
    }
}

/* Angular frequency [rad/s] about y of the body that starts turned by `turn`, from three of its
 * periods, which are over within so many ticks. */
static double measure_rocking_frequency(struct world_scene *s, const double *turn, double period,
                                        int ticks)
{
    struct tact_body *body = tact_world_body(s->world, 0);
    tact_quat_from_rotvec(body->pose.quat_wxyz, turn);
    tact_world_refresh(s->world);
    double before = body->pose.quat_wxyz[2], first = 0.0, last = 0.0;
    int crossings = 0;
    for (int i = 0; i < ticks && crossings < 7; i++) {
        step_scene(s);
        double now = body->pose.quat_wxyz[2];
        if ((now < 0.0) != (before < 0.0)) {
            last = (i + before / (before - now)) * period;
            first = crossings++ ? first : last;
        }
        before = now;
    }
    assert_int_equal(crossings, 7);
    return 4.0 * atan(1.0) * (crossings - 1) / (last - first);
}

/* A box that rocks on a layer of stiffness k per area: its frequency is sqrt(k (4/3) a^3 b / I).
 * Springs at its corners, as the appendix of the paper has them, would be sqrt(3) times as quick.
 * On a hard layer at 0.01 ms, on one of 5 Hz at 1 ms; where gravity is a
 * thousandth, since the weight on the deep layer would lower it. It starts with a tenth of the tilt
 * at which an edge would lift.
 */
static void box_rocks_on_an_elastic_layer_at_the_exact_frequency(void **state)
{
    (void)state;
    static const double tick_periods[2] = {1e-5, 1e-3}, stiffnesses[2] = {1e8, 1e5};
    static const double load_accelerations[2] = {G, 1e-3 * G};
    const double a = 0.05, b = 0.03, c = 0.02, mass = 0.3, area = 4.0 * a * b;
    const double inertia = mass * ((2.0 * a * 2.0 * a + 2.0 * c * 2.0 * c) / 12.0 + c * c);
    const struct tact_shape box = box_of_sides(2.0 * a, 2.0 * b, 2.0 * c);
    for (int i = 0; i < 2; i++) {
        const double k = stiffnesses[i], depth = mass * load_accelerations[i] / (k * area);
        const double exact = sqrt(k * 4.0 / 3.0 * a * a * a * b / inertia);
        struct tact_world_options o = options_with_contact_model("features", tick_periods[i]);
        /* with friction of 5 the box turns about the axis of its base */
        struct tact_contact_law law = make_friction_law(5.0);
        const double place[3] = {0.0, 0.0, c - depth}, turn[3] = {0.0, 0.1 * depth / a, 0.0};
        struct world_scene s;
        o.gravity[2] = -load_accelerations[i];
        law.compliance = 1.0 / (k * area);
        law.dissipation = 0.0;
        open_empty_scene(&s, &o);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, mass, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        double rocking_frequency_hz = measure_rocking_frequency(&s, turn, o.period, 3000);
        printf("h %g ms: rocks at %.5f of %.3f Hz\n", 1e3 * o.period, rocking_frequency_hz / exact,
               exact / (2.0 * M_PI));
        assert_true(fabs(rocking_frequency_hz / exact - 1.0) < 1e-3 && s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* Tilt [rad] at which a box of half sides a, b rests whose centre of mass is off its middle by
 * `off`, on a layer by which its whole base is m g c deep; over the exact tilt. */
static double tilt_on_elastic_layer_over_exact(double off, double compliance)
{
    const double a = 0.05, b = 0.03, half_height = 0.02, mass = 1.0, load = mass * G;
    const double inertia[6] = {1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0};
    const struct tact_shape box = box_of_sides(2.0 * a, 2.0 * b, 2.0 * half_height);
    struct tact_world_options o = options_with_contact_model("features", 1e-3);
    struct tact_contact_law law = make_friction_law(0.9);
    struct tact_pose local = tact_pose_identity();
    struct tact_body body = {.pose = tact_pose_identity()};
    struct world_scene s;
    law.compliance = compliance;
    law.dissipation = 0.02;
    o.spin = TACT_SPIN_UNIFORM;
    tact_v3_set(local.position, -off, 0.0, half_height);
    body.pose.position[0] = off;
    assert_int_equal(tact_body_set_mass(&body, mass, inertia), 0);
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    assert_int_equal(tact_world_add_body(s.world, &body), 0);
    add_scene_shape(&s, 0, &box, &local, 1);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    run_scene_for_seconds(&s, 3.0);
    assert_true(s.unsolved_ticks == 0);
    const double tilt = body_tilt_from_vertical(&s, 0), length = 3.0 * (a - off);
    close_scene(&s);
    return tilt / (length < 2.0 * a ? 4.0 * load * compliance * a / (length * length)
                                    : 3.0 * load * compliance * off / (a * a));
}

/* A box of base 2 a x 2 b whose load N acts at e from its middle tilts on an elastic layer of
 * stiffness k = 1 / (4 a b c) per area by N e / (k I), I = (2 b) (2 a)^3 / 12, which is
 * 3 N c e / a^2. Beyond e = a / 3 an edge lifts: the pressure is a triangle of length L whose
 * centroid, L / 3 from the other edge, is under the load, so that L = 3 (a - e); its peak
 * p = 2 N / (2 b L) is k times the depth, and the tilt p / (k L) = 4 N c a / L^2. For small tilts:
 * the centre of mass, at the height of the base, moves by the square of it. */
static void box_tilts_on_an_elastic_layer_and_lifts_its_edge(void **state)
{
    (void)state;
    static const double load_offsets[] = {0.01, 0.02, 0.03, 0.04, 0.045};
    for (int i = 0; i < 5; i++) {
        const double ratio = tilt_on_elastic_layer_over_exact(load_offsets[i], 1e-7);
        printf("load %g mm off the middle: tilt %.7f of the exact one\n", 1e3 * load_offsets[i],
               ratio);
        assert_true(fabs(ratio - 1.0) < 1e-6);
    }
}

/* An egg that rocks about its waist on a plate: small swings at sqrt(m g (R - b) / (I + m b^2)), R
 * its radius of curvature there. */
static void egg_rocks_at_its_exact_frequency(void **state)
{
    (void)state;
    const double a = 0.05, b = 0.03, mass = 0.2, curvature_radius = a * a / b;
    const double inertia = mass * (a * a + b * b) / 5.0 + mass * b * b;
    const double exact = sqrt(mass * G * (curvature_radius - b) / inertia);
    struct tact_world_options o = options_with_contact_model("features", 2.5e-4);
    const struct tact_shape egg = {.kind = TACT_SHAPE_ELLIPSOID, .size = {a, b, b}};
    const struct tact_shape plate = box_of_sides(1, 1, 0.01);
    const double place[3] = {0.0, 0.0, b}, turn[3] = {0.0, 1e-3, 0.0};
    struct tact_pose ground_pose = tact_pose_identity();
    struct world_scene s;
    open_empty_scene(&s, &o);
    ground_pose.position[2] = -0.005;
    add_scene_shape(&s, -1, &plate, &ground_pose, 0);
    add_scene_solid(&s, &egg, mass, place, 0.0);
    start_box_on_ground(&s, 1.0);
    double rocking_frequency_hz = measure_rocking_frequency(&s, turn, o.period, 10000);
    printf("rocks at %.5f of exact\n", rocking_frequency_hz / exact);
    assert_true(fabs(rocking_frequency_hz / exact - 1.0) < 2e-3);
    close_scene(&s);
}

/* A cube that presses on its face with a fingertip's radius: its one contact point stays at the
 * centre of the face. */
static void contact_point_of_a_fingertip_on_a_face_is_at_its_centre(void **state)
{
    (void)state;
    struct tact_world_options o = options_with_contact_model("features", 1e-3);
    struct tact_shape cube = box_of_sides(0.05, 0.05, 0.05);
    struct tact_contact_law law = make_friction_law(0.5);
    struct world_scene s;
    double farthest_contact_point_distance = 0.0;
    law.tip_radius = 0.01;
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    add_scene_solid(&s, &cube, 1.0, (double[3]){0, 0, 0.0250001}, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    const double *place = tact_world_body(s.world, 0)->pose.position;
    for (int k = 0; k < 200; k++) {
        step_scene(&s);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        for (int i = 0; i < 2 && c && c->touching; i++) {
            farthest_contact_point_distance =
                fmax(farthest_contact_point_distance, fabs(c->patch.center[i] - place[i]));
        }
    }
    printf("fingertip: contact point at most %.1e m from the centre, tilt %.1e, height %.9f m\n",
           farthest_contact_point_distance, body_tilt_from_vertical(&s, 0), place[2]);
    assert_true(s.stats.contacts == 1 && farthest_contact_point_distance < 1e-6);
    assert_true(body_tilt_from_vertical(&s, 0) < 1e-6 && fabs(place[2] - 0.025) < 1e-6);
    close_scene(&s);
}

/* A cube on springs along and across the patch is m g c deep. */
static void cube_rests_on_springs_in_both_directions(void **state)
{
    (void)state;
    const double compliance = 1e-5;
    struct tact_world_options o = options_with_contact_model("features", 1e-3);
    struct tact_shape cube = box_of_sides(0.05, 0.05, 0.05);
    struct tact_contact_law law = make_friction_law(0.5);
    struct world_scene s;
    law.compliance = law.tangential_compliance = compliance;
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    add_scene_solid(&s, &cube, 1.0, (double[3]){0, 0, 0.0251}, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    tact_world_body(s.world, 0)->twist[0] = 0.05;
    run_scene_for_seconds(&s, 0.5);
    const double depth = 0.025 - tact_world_body(s.world, 0)->pose.position[2];
    printf("cube on springs: %.9f m deep, exact %.9f; tilt %.1e\n", depth, G * compliance,
           body_tilt_from_vertical(&s, 0));
    assert_true(fabs(depth - G * compliance) < 1e-9);
    assert_true(body_tilt_from_vertical(&s, 0) < 1e-4 && s.unsolved_ticks == 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_block_stops_at_the_exact_distance),
        cmocka_unit_test(pivot_edge_of_a_tipping_box_stays_in_place),
        cmocka_unit_test(solids_keep_their_place_on_a_turntable),
        cmocka_unit_test(block_slides_equally_by_features_and_by_moments),
        cmocka_unit_test(block_tips_equally_by_features_and_by_moments),
        cmocka_unit_test(box_rocks_on_an_elastic_layer_at_the_exact_frequency),
        cmocka_unit_test(box_tilts_on_an_elastic_layer_and_lifts_its_edge),
        cmocka_unit_test(egg_rocks_at_its_exact_frequency),
        cmocka_unit_test(contact_point_of_a_fingertip_on_a_face_is_at_its_centre),
        cmocka_unit_test(cube_rests_on_springs_in_both_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
