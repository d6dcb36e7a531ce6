/* Distance, least translation and contact polygon of convex cores, compared with exact answers and
 * with exhaustive searches. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/convex_program.h"
#include "support/convex_solid.h"
#include "support/manifold_check.h"

static struct tact_manifold find_contact_polygon(const struct solid *a, const struct solid *b)
{
    struct tact_separation sep = find_separation_of_solids(a, b, NULL);
    struct tact_manifold m;
    tact_manifold_find_contact_points(a->core, &a->pose, b->core, &b->pose, &sep, &m);
    return m;
}

/* Extent of a contact polygon along an axis of the world. */
static double manifold_extent_along(const struct tact_manifold *m, int axis)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < m->corners; i++) {
        double at = m->corner[i][0] * m->t1[axis] + m->corner[i][1] * m->t2[axis];
        low = fmin(low, at);
        high = fmax(high, at);
    }
    return high - low;
}

/* ---- exhaustive searches ---- */

/* The hull of a solid at its pose, world axes from `origin`; free by free_reference_hull(). */
static struct reference_hull make_placed_hull(const struct solid *s, const double origin[3])
{
    struct reference_hull own = make_reference_hull(s->shape.mesh),
                          out = make_reference_hull(s->shape.mesh);
    place_reference_hull(&own, &s->pose, origin, &out);
    free_reference_hull(&own);
    return out;
}

/* Distance by which a point (world axes from `origin`) is outside of a hull [m]. */
static double distance_outside_solid(const struct solid *s, const double *origin,
                                     const double *point)
{
    const struct tact_mesh *m = s->shape.mesh;
    double turned[9], rel[3], in[3], most = -INFINITY;
    tact_v3_sub(rel, s->pose.position, origin);
    tact_v3_sub(rel, point, rel);
    tact_quat_to_m3(turned, s->pose.quat_wxyz);
    tact_m3_tmul_v3(in, turned, rel);
    for (size_t t = 0; t < m->triangle_count; t++) {
        double u[3], v[3], n[3];
        const uint32_t *c = m->triangles + 3 * t;
        tact_v3_sub(u, m->vertices + 3 * c[1], m->vertices + 3 * c[0]);
        tact_v3_sub(v, m->vertices + 3 * c[2], m->vertices + 3 * c[0]);
        tact_v3_cross(n, u, v);
        double sides = tact_v3_norm(u) * tact_v3_norm(v);
        if (tact_v3_normalize(n, n) > 1e-3 * sides) {
            /* a very thin triangle has no reliable plane */
            tact_v3_sub(u, in, m->vertices + 3 * c[0]);
            most = fmax(most, tact_v3_dot(n, u));
        }
    }
    return most;
}

/* Checks a result by the conditions of the optimum: a separation by the gap along its normal and
 * by two points of the solids at that distance, to 1e-13 of the size; a depth by the normals of all
 * faces and of all edges that cross. Returns the worst deviation over the size. */
static double check_separation_of_polyhedra(const struct solid *a, const struct solid *b,
                                            const struct tact_separation *s)
{
    struct reference_hull of_a = make_placed_hull(a, a->pose.position),
                          of_b = make_placed_hull(b, a->pose.position);
    double size = a->core->size + b->core->size, apart[3];
    double worst = fabs(gap_of_hulls_along_normal(&of_a, &of_b, s->normal) - s->distance);
    worst = fmax(worst, fabs(tact_v3_norm(s->normal) - 1.0) * size);
    worst = fmax(worst, fabs(s->distance - s->bound));
    if (s->distance > 0.0) {
        tact_v3_sub(apart, s->point_a, s->point_b);
        assert_true(fabs(tact_v3_norm(apart) - s->distance) < 1e-13 * size);
        assert_true(distance_outside_solid(a, s->origin, s->point_a) < 1e-13 * size);
        assert_true(distance_outside_solid(b, s->origin, s->point_b) < 1e-13 * size);
    } else {
        worst = fmax(worst, fabs(greatest_gap_of_hulls(&of_a, &of_b) - s->distance));
    }
    free_reference_hull(&of_a);
    free_reference_hull(&of_b);
    return worst / size;
}

/* ---- the tests ---- */

/* Distances of two cubes of edge 1 with parallel faces. */
static void distance_of_cubes_face_to_face_is_exact(void **state)
{
    (void)state;
    struct solid a = make_box_solid(1, 1, 1), b = make_box_solid(1, 1, 1);
    for (int i = 0; i < 3; i++) {
        const double s[3] = {1.5, 1.0 + 1e-9, 0.9};
        tact_v3_set(a.pose.position, s[i], 0.3, 0.0);
        struct tact_separation sep = find_separation_of_solids(&a, &b, NULL);
        struct tact_manifold m = find_contact_polygon(&a, &b);
        ASSERT_NEAR(sep.distance, s[i] - 1.0, 1e-15);
        ASSERT_NEAR(sep.normal[0], 1.0, 1e-15);
        ASSERT_NEAR(manifold_extent_along(&m, 1), 0.7, 1e-12);
        ASSERT_NEAR(manifold_extent_along(&m, 2), 1.0, 1e-12);
        ASSERT_NEAR(area_of_manifold(&m), 0.7, 1e-12);
        assert_int_equal(m.corners, 4);
        for (int k = 0; k < 4; k++) {
            ASSERT_NEAR(gap_of_manifold_at_point(&m, m.corner[k]), s[i] - 1.0, 1e-12);
        }
    }
    tact_v3_set(a.pose.position, 0.0, 0.0, 1.2);
    /* turned about the contact normal, the cubes have the same distance */
    rotate_solid(&a, 0.0, 0.0, atan(1.0));
    struct tact_manifold m = find_contact_polygon(&a, &b);
    assert_int_equal(m.corners, 8);
    ASSERT_NEAR(area_of_manifold(&m), 2.0 * (sqrt(2.0) - 1.0), 1e-12);
    assert_true(m.feature[0] == TACT_FEATURE_FACE && m.feature[1] == TACT_FEATURE_FACE);
    /* coincident cubes: any of six normals, but always the same one */
    tact_v3_set(a.pose.position, 0.0, 0.0, 0.0);
    rotate_solid(&a, 0.0, 0.0, 0.0);
    struct tact_separation one = find_separation_of_solids(&a, &b, NULL),
                           two = find_separation_of_solids(&a, &b, NULL);
    ASSERT_NEAR(one.distance, -1.0, 1e-15);
    ASSERT_NEAR(fmax(fabs(one.normal[0]), fmax(fabs(one.normal[1]), fabs(one.normal[2]))), 1.0,
                1e-15);
    assert_memory_equal(&one, &two, sizeof one);
    free_convex_solid(&a);
    free_convex_solid(&b);
}

/* Places a plate so that the edge along y of its local x and z is at a point, turned about y. */
static void place_plate_by_edge(struct solid *plate, double angle, double x, double z,
                                const double at[3])
{
    double c = cos(angle), s = sin(angle);
    rotate_solid(plate, 0.0, angle, 0.0);
    tact_v3_set(plate->pose.position, at[0] - (c * x + s * z), at[1], at[2] - (c * z - s * x));
}

/* Two plates lean against each other, edge on edge; a face of one is nearly in the contact plane.
 * The contact polygon keeps the whole edge, which is a part of that face's rim. */
static void contact_polygon_keeps_an_edge_on_the_rim_of_a_face(void **state)
{
    (void)state;
    const double lean_angle = 0.35, x = 0.0015, z = 0.44;
    struct solid a = make_box_solid(2.0 * x, 0.63, 2.0 * z),
                 b = make_box_solid(2.0 * x, 0.63, 2.0 * z);
    for (int i = 0; i < 300; i++) {
        double all = uniform(-0.5, 0.5), gap = pow(10.0, uniform(-9.0, -4.0));
        double along = (i % 2 ? 1.0 : -1.0) * (lean_angle - uniform(0.0, 0.05)) + all;
        const double n[3] = {-cos(along), 0.0, sin(along)}, origin[3] = {0.1, -0.06, 0.2};
        double at[3] = {origin[0], origin[1], origin[2]};
        place_plate_by_edge(&b, all - lean_angle, -x, z, origin);
        tact_v3_axpy(at, gap, n);
        place_plate_by_edge(&a, all + lean_angle, x, z, at);
        struct tact_manifold m = find_contact_polygon(&a, &b);
        assert_int_equal(m.corners, 2);
        ASSERT_NEAR(manifold_extent_along(&m, 1), 0.63, 1e-12);
        assert_true(m.feature[0] != m.feature[1]);
    }
    free_convex_solid(&a);
    free_convex_solid(&b);
}

/* A ball measured along a given normal over a tilted face: its point is where the line along the
 * normal meets the face, or there is none, and the middle of the farthest points is taken. */
static void point_along_a_given_normal_is_on_a_face_or_absent(void **state)
{
    (void)state;
    static const double up[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0};
    struct solid ball = make_round_solid(TACT_SHAPE_SPHERE, 0.1, 0.0),
                 plate = make_box_solid(2.0, 1.0, 0.2);
    int point_on_face_count = 0;
    for (int i = 0; i < 200; i++) {
        struct tact_separation sep;
        struct tact_manifold m;
        double rotation[9], centre[3], n[3], at[3];
        tact_v3_set(ball.pose.position, uniform(-1.5, 1.5), uniform(-0.75, 0.75), 1.0);
        rotate_solid(&plate, uniform(-0.05, 0.05), uniform(-0.05, 0.05), uniform(-3.0, 3.0));
        const struct solid *a = i % 2 ? &ball : &plate, *b = i % 2 ? &plate : &ball;
        tact_nearest_points_along_normal(a->core, &a->pose, b->core, &b->pose, i % 2 ? up : down,
                                         &sep);
        tact_manifold_find_contact_points(a->core, &a->pose, b->core, &b->pose, &sep, &m);
        tact_quat_to_m3(rotation, plate.pose.quat_wxyz);
        tact_m3_tmul_v3(centre, rotation, ball.pose.position);
        tact_m3_tmul_v3(n, rotation, up);
        tact_v3_axpy(centre, (0.1 - centre[2]) / n[2], n);
        int inside = fabs(centre[0]) < 1.0 && fabs(centre[1]) < 0.5;
        tact_v3_add(at, sep.origin, m.middle);
        tact_v3_axpy(at, m.corner[0][0], m.t1);
        tact_v3_axpy(at, m.corner[0][1], m.t2);
        assert_int_equal(m.corners, 1);
        for (int k = 0; k < 2; k++) {
            double middle = sep.origin[k] + m.middle[k];
            ASSERT_NEAR(at[k], inside ? ball.pose.position[k] : middle, 1e-14);
        }
        assert_true(m.feature[i % 2] == TACT_FEATURE_FACE &&
                    m.feature[!(i % 2)] == TACT_FEATURE_VERTEX);
        point_on_face_count += inside;
    }
    assert_true(point_on_face_count > 50 && point_on_face_count < 150);
    free_convex_solid(&ball);
    free_convex_solid(&plate);
}

/* Edge on edge: the paper's section IV-D takes its normal from a face in the contact plane, and
 * there is none. */
static void distance_of_cubes_edge_on_edge_is_exact(void **state)
{
    (void)state;
    const double angle_of_45_degrees = atan(1.0);
    struct solid a = make_box_solid(1, 1, 1), b = make_box_solid(1, 1, 1);
    rotate_solid(&b, 0.0, angle_of_45_degrees, 0.0);
    rotate_solid(&a, angle_of_45_degrees, 0.0, 0.0);
    for (int i = 0; i < 6; i++) {
        static const double gaps[6] = {0.5, 1e-3, 1e-9, -1e-9, -1e-3, -0.1};
        tact_v3_set(a.pose.position, 0.0, 0.0, sqrt(2.0) + gaps[i]);
        struct tact_separation sep = find_separation_of_solids(&a, &b, NULL);
        struct tact_manifold m = find_contact_polygon(&a, &b);
        ASSERT_NEAR(sep.distance, gaps[i], 1e-15);
        ASSERT_NEAR(sep.normal[2], 1.0, 1e-12);
        assert_int_equal(m.corners, 1);
        assert_true(m.feature[0] == TACT_FEATURE_EDGE && m.feature[1] == TACT_FEATURE_EDGE);
        ASSERT_NEAR(sep.point_a[0], 0.0, 1e-12);
        ASSERT_NEAR(sep.point_a[1], 0.0, 1e-12);
        ASSERT_NEAR(gap_of_manifold_at_point(&m, m.corner[0]), gaps[i], 1e-15);
        /* no face is within 40 degrees of the contact plane */
        for (int f = 0; f < a.core->faces; f++) {
            double n[3];
            tact_quat_rotate(n, a.pose.quat_wxyz, a.core->normal[f]);
            assert_true(fabs(n[2]) < 0.77);
        }
    }
    free_convex_solid(&a);
    free_convex_solid(&b);
}

/* Distances of half-spaces, and of cores with a radius (spheres, capsules). */
static void distances_of_planes_and_round_solids_are_exact(void **state)
{
    (void)state;
    struct solid floor = make_round_solid(TACT_SHAPE_HALFSPACE, 0.0, 0.0),
                 cube = make_box_solid(1, 1, 1);
    struct solid ball = make_round_solid(TACT_SHAPE_SPHERE, 0.3, 0.0);
    struct solid rod = make_round_solid(TACT_SHAPE_CAPSULE, 0.1, 0.4);
    const double corner[3] = {1.0 / sqrt(3.0), 1.0 / sqrt(3.0), 1.0 / sqrt(3.0)};
    double axis[3] = {corner[1], -corner[0], 0.0};
    double angle = acos(corner[2]), size = tact_v3_norm(axis);
    tact_v3_scale(axis, axis, angle / size);
    /* the cube's lowest corner is below the half-space's plane, or above it */
    rotate_solid(&cube, axis[0], axis[1], axis[2]);
    cube.pose.position[2] = 0.9;
    struct tact_separation sep = find_separation_of_solids(&cube, &floor, NULL);
    ASSERT_NEAR(sep.distance, 0.9 - 0.5 * sqrt(3.0), 1e-15);
    ASSERT_NEAR(sep.normal[2], 1.0, 1e-15);
    struct tact_manifold m = find_contact_polygon(&cube, &floor);
    assert_true(m.corners == 1 && m.feature[0] == TACT_FEATURE_VERTEX &&
                m.feature[1] == TACT_FEATURE_FACE);
    ASSERT_NEAR(gap_of_manifold_at_point(&m, m.corner[0]), sep.distance, 1e-15);
    ASSERT_NEAR(find_separation_of_solids(&floor, &cube, NULL).normal[2], -1.0, 1e-15);

    /* point nearest to a face, nearest to an edge, and inside the cube */
    tact_v3_set(ball.pose.position, 0.1, 0.05, 0.9);
    rotate_solid(&cube, 0.0, 0.0, 0.0);
    cube.pose.position[2] = 0.0;
    ASSERT_NEAR(find_separation_of_solids(&ball, &cube, NULL).distance, 0.1, 1e-15);
    tact_v3_set(ball.pose.position, 0.7, 0.0, 0.8);
    ASSERT_NEAR(find_separation_of_solids(&ball, &cube, NULL).distance, sqrt(0.13) - 0.3, 1e-15);
    tact_v3_set(ball.pose.position, 0.0, 0.0, 0.4);
    ASSERT_NEAR(find_separation_of_solids(&ball, &cube, NULL).distance, -0.4, 1e-15);
    ASSERT_NEAR(find_separation_of_solids(&ball, &ball, NULL).distance, -0.6, 1e-15);
    ASSERT_NEAR(find_separation_of_solids(&rod, &rod, NULL).distance, -0.2, 1e-15);

    /* a capsule along y on the cube, whose face is longer */
    rotate_solid(&rod, 2.0 * atan(1.0), 0.0, 0.0);
    tact_v3_set(rod.pose.position, 0.2, 0.0, 0.62);
    m = find_contact_polygon(&rod, &cube);
    sep = find_separation_of_solids(&rod, &cube, NULL);
    ASSERT_NEAR(sep.distance, 0.02, 1e-15);
    assert_true(m.corners == 2 && m.feature[0] == TACT_FEATURE_EDGE);
    ASSERT_NEAR(manifold_extent_along(&m, 1), 0.8, 1e-12);
    rotate_solid(&ball, 0.0, 0.0, 0.0);
    struct solid other = rod; /* crossed axes separate along their common normal */
    rotate_solid(&other, 0.0, 0.0, 0.0);
    other.pose.position[0] = 0.5;
    ASSERT_NEAR(find_separation_of_solids(&rod, &other, NULL).distance, 0.1, 1e-15);
    tact_v3_set(other.pose.position, 0.2, 0.1, 0.62);
    sep = find_separation_of_solids(&rod, &other, NULL);
    ASSERT_NEAR(sep.distance, -0.2, 1e-15);
    ASSERT_NEAR(fabs(sep.normal[0]), 1.0, 1e-12);
    free_convex_solid(&floor);
    free_convex_solid(&cube);
    free_convex_solid(&ball);
    free_convex_solid(&rod);
}

/* Moves A along its normal to 1e-9 of the distance before touch, where they are apart, and as far
 * beyond it. There the vertices that were nearest are 1e-9 of the distance from each other, but
 * only where a face, or two edges that cross, decide must the solids overlap: two sharp corners
 * that lean away pass. Either answer must be the optimum. Returns the worst deviation. */
static double check_optimum_on_both_sides_of_touch(const struct solid *a, const struct solid *b,
                                                   const struct tact_separation *s)
{
    const double share = 1e-9, size = a->core->size + b->core->size;
    double worst = 0.0;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct solid near = *a;
        double state[TACT_NEAREST_STATE] = {0.0};
        find_separation_of_solids(a, b, state);
        int flat = fabs(state[0]) == 3.0;
        tact_v3_axpy(near.pose.position, -s->distance * (1.0 + sign * share), s->normal);
        struct tact_separation now = find_separation_of_solids(&near, b, NULL);
        worst = fmax(worst, check_separation_of_polyhedra(&near, b, &now));
        double off = now.distance + sign * share * s->distance;
        assert_true(sign < 0 ? now.distance > 0.0 : off < 4e-15 * size + 2.0 * share * s->distance);
        if (flat || sign < 0) {
            worst = fmax(worst, fabs(off) / size);
        }
    }
    return worst;
}

/* Moves both solids by a kilometre: the distance has the same bits where the sums of positions are
 * exact; elsewhere returns its deviation, due to rounding of the positions [m]. */
static double distance_deviation_far_from_origin(const struct solid *a, const struct solid *b,
                                                 double distance)
{
    struct solid c = *a, d = *b;
    for (int m = 0; m < 3; m++) {
        c.pose.position[m] += 1024.0;
        d.pose.position[m] += 1024.0;
    }
    assert_true(find_separation_of_solids(&c, &d, NULL).distance == distance);
    tact_v3_scale(d.pose.position, b->pose.position, 1.0 + 1e-9);
    double near = find_separation_of_solids(a, &d, NULL).distance;
    for (int m = 0; m < 3; m++) {
        c.pose.position[m] = a->pose.position[m] + 1000.1;
        d.pose.position[m] += 1000.1;
    }
    return fabs(find_separation_of_solids(&c, &d, NULL).distance - near);
}

/* Worst deviations of a distance result after both solids are turned together, and after they are
 * exchanged, over the size of the pair. normal: the motion of the nearest points that the angle of
 * the normal means at their distance; duality: the gap of pairs that are apart. */
struct moved {
    double turned, exchanged, normal, duality;
};

/* Turns both solids together about the origin, and exchanges them: the same distance, the normal
 * turned with them, and reversed. */
static void check_distance_after_rigid_motion(const struct solid *a, const struct solid *b,
                                              const struct tact_separation *s, struct moved *worst)
{
    struct solid c = *a, d = *b;
    double turn[4], normal[3], apart[3], size = a->core->size + b->core->size;
    random_unit_quaternion(turn);
    tact_quat_rotate(c.pose.position, turn, a->pose.position);
    tact_quat_rotate(d.pose.position, turn, b->pose.position);
    tact_quat_mul(c.pose.quat_wxyz, turn, a->pose.quat_wxyz);
    tact_quat_mul(d.pose.quat_wxyz, turn, b->pose.quat_wxyz);
    tact_quat_rotate(normal, turn, s->normal);
    const struct tact_separation turned = find_separation_of_solids(&c, &d, NULL),
                                 exchanged = find_separation_of_solids(b, a, NULL);
    worst->turned = fmax(worst->turned, fabs(turned.distance - s->distance) / size);
    worst->exchanged = fmax(worst->exchanged, fabs(exchanged.distance - s->distance) / size);
    const double distance_over_size = fabs(s->distance) / size;
    tact_v3_sub(apart, turned.normal, normal);
    worst->normal = fmax(worst->normal, tact_v3_norm(apart) * distance_over_size);
    tact_v3_add(apart, exchanged.normal, s->normal);
    worst->normal = fmax(worst->normal, tact_v3_norm(apart) * distance_over_size);
    if (s->distance > 0.0) {
        worst->duality = fmax(worst->duality, fabs(s->distance - s->bound) / size);
    }
}

/* Distances of random hulls of any size and place, compared with all candidate normals and with the
 * result's own points; also with both hulls turned and moved together, and exchanged. */
static void distances_of_random_polyhedra_are_exact(void **state)
{
    (void)state;
    static const double scale[3] = {1e-3, 0.05, 10.0};
    double worst[2] = {0.0, 0.0}, far = 0.0;
    struct moved moved = {.turned = 0.0};
    int trial_count = campaign_trial_count(60, 2000), deep = 0;
    for (int i = 0; i < trial_count; i++) {
        double size = scale[i % 3];
        int count = i % 5 == 4 ? 60 : 8 + i % 13;
        struct solid a = make_random_hull(count, size, i & 1),
                     b = make_random_hull(count, size, i & 2);
        for (int k = 0; k < 10; k++) {
            b.pose = random_pose(size * (k & 1 ? 1.0 : 2.0));
            for (int m = 0; m < 3; m++) {
                b.pose.position[m] = ldexp(round(ldexp(b.pose.position[m], 40)), -40);
            }
            random_unit_quaternion(a.pose.quat_wxyz);
            struct tact_separation s = find_separation_of_solids(&a, &b, NULL);
            deep += s.distance < 0.0;
            worst[0] = fmax(worst[0], check_separation_of_polyhedra(&a, &b, &s));
            assert_true(s.is_exact);
            far = fmax(far, distance_deviation_far_from_origin(&a, &b, s.distance));
            check_distance_after_rigid_motion(&a, &b, &s, &moved);
            if (s.distance > 0.1 * size) {
                worst[1] = fmax(worst[1], check_optimum_on_both_sides_of_touch(&a, &b, &s));
            }
        }
        free_convex_solid(&a);
        free_convex_solid(&b);
    }
    printf(
        "%d pairs, %d overlapping: deviation at most %.1e of size, 1e-9 about touch %.1e; turned "
        "%.1e, exchanged %.1e, normals %.1e; duality gap %.1e; 1 km away %.1e m\n",
        10 * trial_count, deep, worst[0], worst[1], moved.turned, moved.exchanged, moved.normal,
        moved.duality, far);
    assert_true(deep > trial_count && deep < 9 * trial_count);
    /* of size and distance of the pair; in 22 long campaigns 2.1e-15 and 7.3e-15 */
    const double depth = is_long_campaign() ? 1e-14 : 2e-15, most = fmax(depth, 4e-15);
    assert_true(worst[0] < depth && worst[1] < most && far < 1e-13);
    /* the rounding of the turned poses and that of two results, 1e-15 each, add up: 2.1e-15 turned
     * and 1.8e-15 exchanged in 440,000 pairs (22 seeds) */
    assert_true(moved.duality < 1e-15 && moved.exchanged < 2e-15 && moved.turned < 2.5e-15);
    assert_true(moved.normal < most);
}

/* Distances of hulls of up to 5000 points on spheres of 50 mm, 5 mm and 0.1 mm apart, 0.5 mm and 10
 * mm deep: to 1e-14 of 50 mm near the origin, and within the rounding of positions a kilometre
 * away. */
static void distances_of_hulls_of_many_vertices_are_exact(void **state)
{
    (void)state;
    static const int counts[4] = {8, 100, 1000, 5000};
    static const double gaps[4] = {5e-3, 1e-4, -5e-4, -1e-2};
    for (int i = 0; i < 4; i++) {
        const int trial_count = campaign_trial_count(i == 3 ? 1 : 5, i == 3 ? 10 : 100);
        struct solid a = make_random_hull(counts[i], 0.05, 1),
                     b = make_random_hull(counts[i], 0.05, 1);
        double worst = 0.0, far = 0.0;
        for (int k = 0; k < 4 * trial_count; k++) {
            a.pose = random_pose(0.0);
            b.pose = random_pose(0.1);
            struct tact_separation s = find_separation_of_solids(&a, &b, NULL);
            tact_v3_axpy(b.pose.position, s.distance - gaps[k % 4], s.normal);
            for (int m = 0; m < 3; m++) {
                b.pose.position[m] = ldexp(round(ldexp(b.pose.position[m], 40)), -40);
            }
            s = find_separation_of_solids(&a, &b, NULL);
            assert_true(s.is_exact);
            worst = fmax(worst,
                         check_separation_of_polyhedra(&a, &b, &s) * (a.core->size + b.core->size));
            far = fmax(far, distance_deviation_far_from_origin(&a, &b, s.distance));
        }
        printf("%d vertices, %d pairs: error at most %.1e m, 1 km away %.1e m\n", counts[i],
               4 * trial_count, worst, far);
        assert_true(worst < 1e-14 * 0.05 && far < 1e-13);
        free_convex_solid(&a);
        free_convex_solid(&b);
    }
}

/* Distance searches from the last result and from no start state agree: bit for bit where they end
 * at the same vertices, else within rounding errors. */
static void warm_and_cold_started_polyhedra_distances_agree(void **state)
{
    (void)state;
    int ticks = campaign_trial_count(20000, 100000), same = 0, warm = 0, cold = 0;
    struct solid a[2] = {make_random_hull(8, 0.05, 0), make_random_hull(300, 0.05, 1)};
    struct solid b[2] = {make_random_hull(20, 0.05, 1), make_random_hull(200, 0.05, 1)};
    double kept[2][TACT_NEAREST_STATE] = {{0.0}}, worst = 0.0;
    for (int i = 0; i < ticks; i++) {
        int k = i % 2;
        double s = 1e-3 * i, way = 0.08 + 0.04 * sin(0.37 * s), fresh[TACT_NEAREST_STATE] = {0.0};
        rotate_solid(&a[k], sin(s), 0.3 * cos(1.3 * s), 0.2 * s);
        tact_v3_set(a[k].pose.position, way * cos(0.1 * s), way * sin(0.1 * s), 0.01);
        struct tact_separation now = find_separation_of_solids(&a[k], &b[k], kept[k]);
        struct tact_separation then = find_separation_of_solids(&a[k], &b[k], fresh);
        worst = fmax(worst, fabs(now.distance - then.distance));
        warm += now.supports;
        cold += then.supports;
        assert_true(now.is_exact && then.is_exact);
        if (!memcmp(kept[k], fresh, sizeof fresh)) {
            same++;
            assert_true(now.distance == then.distance);
            assert_memory_equal(now.normal, then.normal, sizeof now.normal);
            assert_memory_equal(now.point_a, then.point_a, sizeof now.point_a);
            assert_memory_equal(now.point_b, then.point_b, sizeof now.point_b);
        }
    }
    printf("%d ticks: %d with the same features, bit for bit, else within %.1e m; %.1f supports a "
           "tick, cold %.1f\n",
           ticks, same, worst, (double)warm / ticks, (double)cold / ticks);
    assert_true(worst < 1e-16 && warm < cold && 2 * same > ticks);
    for (int k = 0; k < 2; k++) {
        free_convex_solid(&a[k]);
        free_convex_solid(&b[k]);
    }
}

/* Two boxes with coincident faces, exactly or within rounding errors, for 100,000 searches that
 * start from the last result; at times the boxes are separate, or shifted. */
static void distance_of_aligned_stacks_is_exact(void **state)
{
    (void)state;
    enum { STACK = 4, TICKS = 100000 };
    struct solid of = make_box_solid(0.1, 0.1, 0.1);
    double kept[STACK][TACT_NEAREST_STATE] = {{0.0}};
    for (int i = 0; i < TICKS; i++) {
        for (int k = 1; k < STACK; k++) {
            struct solid upper_box = of, lower_box = of;
            double up = i % 5 ? 1e-17 * ((i + k) % 7) : i % 25 ? 0.0 : 1e-3;
            double sideways_box_offset = (i / 500 + k) % 2 ? 0.0 : 0.03;
            tact_v3_set(lower_box.pose.position, 0.0, 0.0, 0.1 * (k - 1));
            tact_v3_set(upper_box.pose.position, 0.0, sideways_box_offset,
                        0.1 * (k - 1) + 0.1 + up);
            double apart = upper_box.pose.position[2] - lower_box.pose.position[2] - 0.1;
            struct tact_separation s = find_separation_of_solids(&upper_box, &lower_box, kept[k]);
            assert_true(s.is_exact);
            ASSERT_NEAR(s.distance, apart, 3e-17);
            ASSERT_NEAR(s.normal[2], 1.0, 1e-15);
        }
    }
    free_convex_solid(&of);
}

/* A warm-start state of another scene, or of a damaged log, changes only the duration of the
 * distance search. */
static void any_warm_start_state_gives_the_polyhedra_distance(void **state)
{
    (void)state;
    struct solid a = make_random_hull(40, 0.05, 1), b = make_random_hull(50, 0.05, 1);
    for (int i = 0; i < 2000; i++) {
        double arbitrary_warm_start_state[TACT_NEAREST_STATE], size = pow(10.0, uniform(0.0, 12.0));
        b.pose = random_pose(0.07);
        for (int k = 0; k < TACT_NEAREST_STATE; k++) {
            arbitrary_warm_start_state[k] =
                i % 3 ? floor(uniform(-60.0, 60.0)) : uniform(-size, size);
            arbitrary_warm_start_state[k] = i % 50 ? arbitrary_warm_start_state[k] : NAN;
        }
        arbitrary_warm_start_state[0] =
            i % 2 ? floor(uniform(-4.0, 4.0)) : arbitrary_warm_start_state[0];
        ASSERT_NEAR(find_separation_of_solids(&a, &b, arbitrary_warm_start_state).distance,
                    find_separation_of_solids(&a, &b, NULL).distance, 1e-16);
    }
    free_convex_solid(&a);
    free_convex_solid(&b);
}

/* Two capsules that cross axis through axis, whose difference is flat: they touch where the axes
 * cross, and once apart they have their distance, also from the state of the crossing. */
static void capsules_have_their_distance_after_crossing(void **state)
{
    (void)state;
    struct solid bar = make_round_solid(TACT_SHAPE_CAPSULE, 0.01, 0.2),
                 rod = make_round_solid(TACT_SHAPE_CAPSULE, 0.01, 0.2);
    rotate_solid(&bar, 0.0, 0.5 * M_PI, 0.0);
    for (int i = 0; i < 100; i++) {
        const double x = uniform(-0.09, 0.09), turn = uniform(0.1, 3.0);
        double kept[TACT_NEAREST_STATE] = {0.0};
        tact_v3_set(rod.pose.position, x, 0.0, 0.0);
        rotate_solid(&rod, turn, 0.0, 0.0);
        struct tact_separation s = find_separation_of_solids(&rod, &bar, kept);
        ASSERT_NEAR(s.distance, -0.02, 1e-15);
        ASSERT_NEAR(s.origin[0] + s.point_b[0], x, 1e-12);
        ASSERT_NEAR(s.point_b[1], 0.0, 0.01 + 1e-12);
        tact_v3_set(rod.pose.position, x, 0.0, 0.055);
        rotate_solid(&rod, 0.5 * M_PI, 0.0, 0.0);
        s = find_separation_of_solids(&rod, &bar, kept);
        ASSERT_NEAR(s.distance, 0.035, 1e-15);
    }
    free_convex_solid(&bar);
    free_convex_solid(&rod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_of_cubes_face_to_face_is_exact),
        cmocka_unit_test(distance_of_cubes_edge_on_edge_is_exact),
        cmocka_unit_test(distances_of_planes_and_round_solids_are_exact),
        cmocka_unit_test(distances_of_random_polyhedra_are_exact),
        cmocka_unit_test(distances_of_hulls_of_many_vertices_are_exact),
        cmocka_unit_test(warm_and_cold_started_polyhedra_distances_agree),
        cmocka_unit_test(distance_of_aligned_stacks_is_exact),
        cmocka_unit_test(any_warm_start_state_gives_the_polyhedra_distance),
        cmocka_unit_test(capsules_have_their_distance_after_crossing),
        cmocka_unit_test(point_along_a_given_normal_is_on_a_face_or_absent),
        cmocka_unit_test(contact_polygon_keeps_an_edge_on_the_rim_of_a_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
