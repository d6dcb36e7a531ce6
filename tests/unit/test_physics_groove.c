/* A peg in a V-groove touches both flanks: two planar contacts in one overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double g = 9.81, deg = 3.14159265358979323846 / 180.0;

/* Depth and half length of the groove, along y [m]. */
static const double GROOVE_DEPTH = 0.1, LENGTH = 1.0;

/* A block with a groove of half angle a, whose bottom is the line x = z = 0. */
static struct tact_mesh *make_groove_mesh(double a)
{
    double c = GROOVE_DEPTH * tan(a), v[30];
    const double outline[5][2] = {
        {-c, -GROOVE_DEPTH}, {c, -GROOVE_DEPTH}, {c, GROOVE_DEPTH}, {0.0, 0.0}, {-c, GROOVE_DEPTH}};
    static const uint32_t face[3][3] = {{0, 1, 3}, {1, 2, 3}, {0, 3, 4}};
    uint32_t t[16 * 3], n = 0;
    struct tact_mesh *mesh = NULL;
    struct tact_error err;
    for (uint32_t i = 0; i < 10; i++) {
        tact_v3_set(v + 3 * i, outline[i % 5][0], i < 5 ? -LENGTH : LENGTH, outline[i % 5][1]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            t[n++] = face[i][k];
        }
        for (uint32_t k = 0; k < 3; k++) {
            t[n++] = face[i][2 - k] + 5;
        }
    }
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t j = (i + 1) % 5;
        const uint32_t side[6] = {i, i + 5, j, j, i + 5, j + 5};
        memcpy(t + n, side, sizeof side);
        n += 6;
    }
    assert_int_equal(tact_mesh_create(v, 10, t, 16, &mesh, &err), 0);
    return mesh;
}

/* A wedge of half angle a and the given height and half length, point down at the origin. */
static struct tact_mesh *make_wedge_mesh(double a, double height, double half)
{
    double c = height * tan(a), v[18];
    struct tact_mesh *mesh = NULL;
    struct tact_error err;
    for (int i = 0; i < 2; i++) {
        tact_v3_set(v + 9 * i, 0.0, i ? half : -half, 0.0);
        tact_v3_set(v + 9 * i + 3, c, i ? half : -half, height);
        tact_v3_set(v + 9 * i + 6, -c, i ? half : -half, height);
    }
    assert_int_equal(tact_mesh_hull(v, 6, &mesh, &err), 0);
    return mesh;
}

/* Places a wedge of the groove's shape, `up` [m] above its bottom. */
static int place_wedge_in_groove(struct world_scene *s, double a, double friction,
                                 double compliance, double mass, double up,
                                 const struct tact_world_options *options)
{
    open_empty_scene(s, options);
    s->meshes[0] = make_groove_mesh(a);
    s->meshes[1] = make_wedge_mesh(a, 0.08, 0.05);
    s->mesh_count = 2;
    struct tact_shape fixed = {.kind = TACT_SHAPE_MESH, .mesh = s->meshes[0]};
    struct tact_shape peg = {.kind = TACT_SHAPE_CONVEX, .mesh = s->meshes[1]};
    const struct tact_pose here = tact_pose_identity();
    struct tact_contact_law law = make_rigid_law(friction);
    law.compliance = compliance;
    const double at[3] = {0.0, 0.0, up};
    add_scene_shape(s, -1, &fixed, &here, 0);
    int body = add_scene_solid(s, &peg, mass, at, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    return body;
}

/* Without friction each flank of the groove bears W / (2 sin a). */
static void each_flank_of_a_groove_bears_its_part_of_the_weight(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double a = (20.0 + 20.0 * i) * deg, mass = 0.3;
        struct world_scene s;
        int body = place_wedge_in_groove(&s, a, 0.0, 0.0, mass, 0.0, NULL);
        run_scene_for_seconds(&s, 1.0);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double exact = mass * g / (2.0 * sin(a)),
               speed = tact_v3_norm(tact_world_body(s.world, body)->twist);
        assert_int_equal(c->split, 2);
        const struct tact_contact *left = tact_world_piece(s.world, 0, 0),
                                  *right = tact_world_piece(s.world, 0, 1);
        double n[2] = {left->impulse[0] / s.options.period, right->impulse[0] / s.options.period};
        double normal = fabs(left->patch.frame[2]);
        printf("half angle %.0f: flanks bear %.9f and %.9f N, exact %.9f; normals off by %.1e; "
               "corners %d, depth %.3e m; %.1e m/s; both together %.9f N up\n",
               a / deg, n[0], n[1], exact, fabs(normal - sin(a)), left->patch.corners,
               left->patch.depth, speed, fabs(c->wrench[2]));
        assert_true(fabs(n[0] / exact - 1.0) < 1e-9 && fabs(n[1] / exact - 1.0) < 1e-9);
        assert_true(fabs(normal - sin(a)) < 1e-12);
        assert_true(fabs(fabs(c->wrench[2]) - mass * g) < 1e-9);
        assert_true(left->patch.corners >= 4);
        assert_true(fabs(left->patch.depth - 2e-5) < 1e-9);
        assert_true(speed < 1e-9);
        close_scene(&s);
    }
}

/* Along the groove the wedge slides as on a plane of friction mu / sin a. */
static void wedge_in_a_groove_stops_by_its_increased_friction(void **state)
{
    (void)state;
    const double a = 35.0 * deg, mu = 0.2, speed = 1.0;
    struct world_scene s;
    int body = place_wedge_in_groove(&s, a, mu, 0.0, 0.3, -2e-5 / sin(a), NULL);
    run_scene_for_seconds(&s, 0.2);
    double start = tact_world_body(s.world, body)->pose.position[1];
    tact_world_body(s.world, body)->twist[1] = speed;
    run_scene_for_seconds(&s, 1.0);
    double distance_slid = tact_world_body(s.world, body)->pose.position[1] - start;
    double deceleration = mu * g / sin(a),
           exact = speed * speed / (2.0 * deceleration) - 0.5 * speed * s.options.period;
    printf("slid %.6f m along the groove, exact %.6f m\n", distance_slid, exact);
    assert_true(fabs(distance_slid / exact - 1.0) < 5e-3);
    assert_true(tact_v3_norm(tact_world_body(s.world, body)->twist) < 1e-9);
    close_scene(&s);
}

/* A wedge that was pressed in stays when it is pulled gently, iff its half angle is less than the
 * friction angle. */
static double wedge_motion_when_pulled(double a, double mu)
{
    struct tact_world_options o = tact_world_options_default();
    o.gravity[2] = -200.0;
    struct world_scene s;
    int body = place_wedge_in_groove(&s, a, mu, 1e-6, 0.3, 0.0, &o);
    run_scene_for_seconds(&s, 0.5);
    double pressed = tact_world_body(s.world, body)->pose.position[2];
    struct tact_body held = *tact_world_body(s.world, body);
    struct tact_contact warm[TACT_PIECES];
    for (int k = 0; k < 2; k++) {
        warm[k] = *tact_world_piece(s.world, 0, k);
    }
    close_scene(&s);
    o.gravity[2] = 1.0; /* gravity pulls the wedge upwards from now on */
    body = place_wedge_in_groove(&s, a, mu, 1e-6, 0.3, 0.0, &o);
    *tact_world_body(s.world, body) = held;
    for (int k = 0; k < 2; k++) {
        *tact_world_piece(s.world, 0, k) = warm[k];
    }
    run_scene_for_seconds(&s, 0.5);
    double out = tact_world_body(s.world, body)->pose.position[2] - pressed;
    close_scene(&s);
    return out;
}

static void a_pressed_wedge_sticks_below_the_friction_angle(void **state)
{
    (void)state;
    const double mu = 0.5, limit = atan(mu);
    double held = wedge_motion_when_pulled(limit - 2.0 * deg, mu),
           loose = wedge_motion_when_pulled(limit + 2.0 * deg, mu);
    printf("wedge of half angle %.1f degrees comes out by %.2e m, of %.1f by %.2e m\n",
           limit / deg - 2.0, held, limit / deg + 2.0, loose);
    assert_true(fabs(held) < 1e-6);
    assert_true(loose > 1e-3);
}

/* A peg that touches one flank, or a box on a flat mesh, has one contact. */
static void peg_on_one_flank_has_one_contact(void **state)
{
    (void)state;
    struct world_scene s;
    const double two[12] = {-0.5, 0.0, -0.05, 1.0, 1.0, 0.1, 3.0, 0.0, -0.05, 1.0, 1.0, 0.1};
    open_empty_scene(&s, NULL);
    struct tact_shape floor = make_shape_of_boxes(&s, two, 2), box = box_of_sides(0.1, 0.1, 0.1);
    const struct tact_pose here = tact_pose_identity();
    struct tact_contact_law law = make_rigid_law(0.5);
    const double at[3] = {-0.5, 0.0, 0.0499};
    add_scene_shape(&s, -1, &floor, &here, 0);
    add_scene_solid(&s, &box, 0.5, at, 0.3);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    assert_non_null(tact_world_piece(s.world, 0, 0));
    run_scene_for_seconds(&s, 0.2);
    assert_true(tact_world_contact(s.world, 0)->touching);
    assert_int_equal(tact_world_contact(s.world, 0)->split, 0);
    close_scene(&s);
}

/* A box in a corner of a room: floor and two walls. */
static void box_in_a_corner_of_three_walls_has_three_contacts(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    const double push[3] = {-2.0, -3.0, -9.81}, mass = 0.5;
    memcpy(o.gravity, push, sizeof push);
    const double room[18] = {/* floor */
                             0.5, 0.5, -0.05, 1.2, 1.2, 0.1,
                             /* wall across x, standing on the floor */
                             -0.05, 0.5, 0.25, 0.1, 1.2, 0.5,
                             /* wall across y */
                             0.55, -0.05, 0.25, 1.1, 0.1, 0.5};
    open_empty_scene(&s, &o);
    struct tact_shape shape_of_three_walls = make_shape_of_boxes(&s, room, 3),
                      box = box_of_sides(0.1, 0.1, 0.1);
    const struct tact_pose here = tact_pose_identity();
    struct tact_contact_law law = make_rigid_law(0.0);
    const double at[3] = {0.04999, 0.04999, 0.04999};
    add_scene_shape(&s, -1, &shape_of_three_walls, &here, 0);
    add_scene_solid(&s, &box, mass, at, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    run_scene_for_seconds(&s, 1.0);
    const struct tact_contact *c = tact_world_contact(s.world, 0);
    double sum[3] = {0.0, 0.0, 0.0};
    printf("corner: %d pieces;", c->split);
    for (int k = 0; k < c->split; k++) {
        const struct tact_contact *p = tact_world_piece(s.world, 0, k);
        printf(" %.6f N", p->impulse[0] / o.period);
        for (int i = 0; i < 3; i++) {
            sum[i] += fabs(p->wrench[i]);
        }
    }
    printf("; %.6f %.6f %.6f N in all; %.1e m/s\n", sum[0], sum[1], sum[2],
           tact_v3_norm(tact_world_body(s.world, 0)->twist));
    assert_int_equal(c->split, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(sum[i] + mass * push[i]) < 1e-8);
    }
    close_scene(&s);
}

static void splitting_of_contacts_can_be_switched_off(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    struct world_scene s;
    o.split = 0;
    place_wedge_in_groove(&s, 0.5, 0.0, 0.0, 0.3, 0.0, &o);
    run_scene_for_seconds(&s, 0.05);
    assert_null(tact_world_piece(s.world, 0, 0));
    assert_int_equal(tact_world_contact(s.world, 0)->split, 0);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_flank_of_a_groove_bears_its_part_of_the_weight),
        cmocka_unit_test(wedge_in_a_groove_stops_by_its_increased_friction),
        cmocka_unit_test(a_pressed_wedge_sticks_below_the_friction_angle),
        cmocka_unit_test(peg_on_one_flank_has_one_contact),
        cmocka_unit_test(box_in_a_corner_of_three_walls_has_three_contacts),
        cmocka_unit_test(splitting_of_contacts_can_be_switched_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
