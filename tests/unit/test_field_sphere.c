/*
 * A soft ball on rigid triangles, exactly: against quadrature, closed forms, differences and closed
 * paths across the edges of a box.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/field_bodies.h"
#include "support/field_patch.h"
#include "support/random.h"

#define PI 3.14159265358979323846
#define BALL_RADIUS_M 0.02

static const double box_half_sides_m[3] = {0.02, 0.03, 0.01};

/* A soft ball and a rigid box at the origin: their pressure fields, and the sphere of the exact
 * integrals. */
struct soft_ball_on_box {
    struct tact_pressure_field *ball, *box;
    struct tact_mesh *mesh;
    struct field_sphere sphere;
};

static struct soft_ball_on_box make_soft_ball_on_box(double power)
{
    struct soft_ball_on_box o = {.sphere = {BALL_RADIUS_M, 1e6, power}};
    const struct tact_shape shape = make_sphere(BALL_RADIUS_M);
    const struct tact_field_material soft_ball_material = {.modulus = 1e6, .thickness = 1.0};
    assert_int_equal(tact_field_of_shape(&shape, &soft_ball_material, &o.ball, NULL), 0);
    o.box = make_rigid_box_field(box_half_sides_m[0], box_half_sides_m[1], box_half_sides_m[2],
                                 &o.mesh);
    return o;
}

static void free_soft_ball_on_box(struct soft_ball_on_box *o)
{
    tact_field_free(o->ball);
    tact_field_free(o->box);
    tact_mesh_free(o->mesh);
}

/* Sums force on the box and stiffness about the ball's centre. Returns the number of contact
 * polygons. */
static size_t sum_ball_contact_on_box(const struct soft_ball_on_box *o, const double *place,
                                      struct patch_pressure_part *out)
{
    struct tact_pose at = tact_pose_identity(), origin = at;
    struct contact_surface_of_fields of;
    tact_v3_copy(at.position, place);
    int rc = tact_field_find_ball_surface(&o->sphere, o->ball, &at, o->box, &origin,
                                          shared_field_scratch(), &of);
    assert_true(rc >= 0);
    memset(out, 0, sizeof *out);
    if (rc) {
        tact_field_sum_polygons(&of, -1, out);
    }
    return of.count;
}

/* Integrates by quadrature over the box face whose outward normal is `sign` times axis k: force,
 * its moment, and stiffness about the ball's centre. */
static void integrate_face_by_quadrature(const struct soft_ball_on_box *o, const double *place,
                                         int k, double sign, double *force, double *moment,
                                         double *stiffness)
{
    enum { POINTS = 600 };
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double x[3], n[3] = {0.0};
    n[k] = -sign;
    x[k] = sign * box_half_sides_m[k] - place[k];
    double low[2] = {fmax(-box_half_sides_m[i] - place[i], -BALL_RADIUS_M),
                     fmax(-box_half_sides_m[j] - place[j], -BALL_RADIUS_M)};
    double high[2] = {fmin(box_half_sides_m[i] - place[i], BALL_RADIUS_M),
                      fmin(box_half_sides_m[j] - place[j], BALL_RADIUS_M)};
    double m = o->sphere.power, s = o->sphere.slope;
    for (int a = 0; a < POINTS * POINTS; a++) {
        const int column = a % POINTS, row = a / POINTS;
        x[i] = low[0] + (high[0] - low[0]) * (column + 0.5) / POINTS;
        x[j] = low[1] + (high[1] - low[1]) * (row + 0.5) / POINTS;
        double r = tact_v3_norm(x), area = (high[0] - low[0]) * (high[1] - low[1]);
        if (r >= BALL_RADIUS_M || high[0] <= low[0] || high[1] <= low[1]) {
            continue;
        }
        double q = s * (BALL_RADIUS_M - r), p = pow(q, m) * area / POINTS / POINTS;
        double stiffness_of_quadrature_point = m * s * pow(q, m - 1.0) / r * area / POINTS / POINTS,
               across[3];
        tact_v3_axpy(force, p, n);
        tact_v3_axpy(moment, p, x);
        tact_v3_cross(across, x, n);
        const double one[6] = {x[0], x[1], x[2], 0.0, 0.0, 0.0};
        const double other[6] = {n[0], n[1], n[2], across[0], across[1], across[2]};
        for (int c = 0; c < 36; c++) {
            stiffness[c] += 0.5 * stiffness_of_quadrature_point *
                            (one[c / 6] * other[c % 6] + one[c % 6] * other[c / 6]);
        }
    }
}

static void ball_on_box_integrals_equal_quadrature(void **state)
{
    (void)state;
    static const double pressure_exponents[3] = {1.0, 2.0, 1.5};
    static const double places[3][3] = {
        {0.015, 0.02, 0.021}, {0.031, 0.012, 0.0215}, {0.012, 0.024, -0.006}};
    for (int n = 0; n < 3; n++) {
        struct soft_ball_on_box o = make_soft_ball_on_box(pressure_exponents[n]);
        struct patch_pressure_part part;
        double force[3] = {0.0}, moment[3] = {0.0}, stiffness[36] = {0.0}, back[3], most = 0.0;
        assert_true(sum_ball_contact_on_box(&o, places[n], &part) > 2);
        for (int k = 0; k < 3; k++) {
            integrate_face_by_quadrature(&o, places[n], k, 1.0, force, moment, stiffness);
            integrate_face_by_quadrature(&o, places[n], k, -1.0, force, moment, stiffness);
        }
        double load = part.sums.load;
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(part.sums.force[k] - force[k]) < 2e-5 * load);
            assert_true(fabs(part.sums.origin[k] * load - moment[k]) < 2e-5 * load * BALL_RADIUS_M);
        }
        tact_v3_scale(back, part.sums.origin, -1.0);
        tact_field_shift_stiffness_point(part.sums.stiffness, back);
        for (int k = 0; k < 36; k++) {
            double unit = (k / 6 < 3 ? 1.0 : BALL_RADIUS_M) * (k % 6 < 3 ? 1.0 : BALL_RADIUS_M);
            most = fmax(most, fabs(part.sums.stiffness[k] - stiffness[k]) * BALL_RADIUS_M /
                                  (load * unit));
        }
        print_message("power %.1f: %.3f N, stiffness within %.1e of quadrature\n",
                      pressure_exponents[n], load, most);
        assert_true(most < 1e-3);
        free_soft_ball_on_box(&o);
    }
}

/* A disc within a face has the closed form of a ball on a half-space; at a corner of the box, the
 * ball's centre has three quarters of discs, each of force pi s R^3 / 12. */
static void soft_ball_force_has_its_closed_form(void **state)
{
    (void)state;
    static const double pressure_exponents[4] = {1.0, 0.5, 2.0, 0.7};
    static const double relative_tolerances[4] = {1e-13, 1e-9, 1e-9, 1e-7};
    for (int i = 0; i < 4; i++) {
        struct soft_ball_on_box o = make_soft_ball_on_box(pressure_exponents[i]);
        const double place[3] = {0.003, -0.004, box_half_sides_m[2] + 0.9 * BALL_RADIUS_M};
        struct patch_pressure_part part;
        assert_int_equal(sum_ball_contact_on_box(&o, place, &part), 2);
        /* s int_0^d 2 pi (R - u) q^m du over the depth u; for m = 1: pi/3 s d^2 (3 R - d) */
        double d = 0.1 * BALL_RADIUS_M, m = pressure_exponents[i], s = pow(1e6, m);
        double force = 2.0 * PI * s *
                       (BALL_RADIUS_M * pow(d, m + 1.0) / (m + 1.0) - pow(d, m + 2.0) / (m + 2.0));
        double exact_stiffness_of_ball = 2.0 * PI * s * (BALL_RADIUS_M - d) * pow(d, m);
        print_message("power %.1f: force %.1e, stiffness %.1e off\n", m,
                      part.sums.load / force - 1.0,
                      part.sums.stiffness[14] / exact_stiffness_of_ball - 1.0);
        assert_true(fabs(part.sums.load / force - 1.0) < relative_tolerances[i]);
        assert_true(fabs(part.sums.stiffness[14] / exact_stiffness_of_ball - 1.0) <
                    relative_tolerances[i]);
        if (m == 1.0) {
            assert_int_equal(sum_ball_contact_on_box(&o, box_half_sides_m, &part), 6);
            for (int k = 0; k < 3; k++) {
                double exact_force_on_quarter_of_ball =
                    PI * 1e6 * BALL_RADIUS_M * BALL_RADIUS_M * BALL_RADIUS_M / 12.0;
                assert_true(fabs(part.sums.force[k] / -exact_force_on_quarter_of_ball - 1.0) <
                            1e-13);
            }
        }
        free_soft_ball_on_box(&o);
    }
}

/* A disc on a plane of triangles of any size has the closed form of a half-space: each edge is
 * integrated with as many nodes as its distance from the disc's rim needs. */
static void soft_ball_force_is_independent_of_the_triangles_of_a_plane(void **state)
{
    (void)state;
    static const double pressure_exponents[4] = {1.0, 0.5, 2.0, 0.7};
    static const int counts[3] = {2, 12, 50};
    struct soft_ball_on_box o = make_soft_ball_on_box(1.0);
    for (int i = 0; i < 12; i++) {
        const double m = pressure_exponents[i % 4], s = pow(1e6, m);
        double worst_force_error = 0.0, worst_stiffness_error = 0.0;
        o.sphere.power = m;
        if (i % 4 == 0) {
            tact_field_free(o.box);
            tact_mesh_free(o.mesh);
            o.mesh = make_triangulated_plane(0.02, counts[i / 4], 0.0);
            assert_int_equal(tact_field_rigid(o.mesh, &o.box), 0);
        }
        for (int n = 0; n < campaign_trial_count(20, 1000); n++) {
            const double d = uniform(0.001, 0.15) * BALL_RADIUS_M;
            const double place[3] = {uniform(-0.006, 0.006), uniform(-0.006, 0.006),
                                     BALL_RADIUS_M - d};
            const double force =
                2.0 * PI * s *
                (BALL_RADIUS_M * pow(d, m + 1.0) / (m + 1.0) - pow(d, m + 2.0) / (m + 2.0));
            const double stiffness = 2.0 * PI * s * (BALL_RADIUS_M - d) * pow(d, m);
            struct patch_pressure_part part;
            assert_true(sum_ball_contact_on_box(&o, place, &part) > 0);
            worst_force_error = fmax(worst_force_error, fabs(part.sums.load / force - 1.0));
            worst_stiffness_error =
                fmax(worst_stiffness_error, fabs(part.sums.stiffness[14] / stiffness - 1.0));
        }
        print_message("power %.1f, %d triangles: force %.1e, stiffness %.1e off\n", m,
                      2 * counts[i / 4] * counts[i / 4], worst_force_error, worst_stiffness_error);
        assert_true(worst_force_error < 1e-10 && worst_stiffness_error < 1e-10);
    }
    free_soft_ball_on_box(&o);
}

/* Stiffness is minus the derivative of the force as the ball moves, across edges and corners. Where
 * an edge begins to be integrated in two parts the force jumps by the error of the quadrature, up
 * to 5e-8 of its size; one difference in some thousands spans such a jump. */
static void contact_stiffness_is_the_derivative_of_the_force(void **state)
{
    (void)state;
    struct soft_ball_on_box o = make_soft_ball_on_box(1.0);
    double worst = 0.0, largest_force_jump = 0.0;
    int force_jump_count = 0;
    for (int n = 0; n < 200; n++) {
        struct patch_pressure_part part, moved[2];
        double place[3], step = 1e-6;
        for (int k = 0; k < 3; k++) {
            place[k] = uniform(-1.0, 1.0) * (box_half_sides_m[k] + 0.9 * BALL_RADIUS_M);
        }
        if (!sum_ball_contact_on_box(&o, place, &part)) {
            continue;
        }
        double scale = 1e6 * BALL_RADIUS_M * BALL_RADIUS_M;
        for (int c = 0; c < 3; c++) {
            for (int side = 0; side < 2; side++) {
                double at[3];
                tact_v3_copy(at, place);
                at[c] += side ? step : -step;
                sum_ball_contact_on_box(&o, at, &moved[side]);
            }
            for (int r = 0; r < 3; r++) {
                double slope = (moved[1].sums.force[r] - moved[0].sums.force[r]) / (2.0 * step);
                double off = fabs(slope - part.sums.stiffness[6 * r + c]);
                if (off < 2e-6 * scale) {
                    worst = fmax(worst, off / scale);
                } else {
                    force_jump_count++;
                    largest_force_jump =
                        fmax(largest_force_jump, off * 2.0 * step / part.sums.load);
                }
            }
        }
    }
    print_message("stiffness against differences: %.1e, but for %d that span a jump of %.1e\n",
                  worst, force_jump_count, largest_force_jump);
    assert_true(force_jump_count <= 3 && largest_force_jump < 5e-8);
    free_soft_ball_on_box(&o);
}

/* Around a closed path over faces, edges and a corner the force of the ball does no net work, and
 * its changes from step to step vanish with the step. */
static void soft_ball_does_no_net_work_on_closed_paths(void **state)
{
    (void)state;
    struct soft_ball_on_box o = make_soft_ball_on_box(1.0);
    double net[3], most[3];
    for (int i = 0; i < 3; i++) {
        int points = 400 << 2 * i;
        double last[3] = {0.0}, at[3] = {0.0}, gross = 0.0;
        net[i] = most[i] = 0.0;
        for (int k = 0; k <= points; k++) {
            double t = 2.0 * PI * k / points, jump[3], way[3], mean[3];
            const double place[3] = {0.018 + 0.016 * cos(t), 0.028 + 0.017 * sin(t + 0.3),
                                     0.024 + 0.012 * sin(2.0 * t)};
            struct patch_pressure_part part;
            sum_ball_contact_on_box(&o, place, &part);
            tact_v3_sub(jump, part.sums.force, last);
            tact_v3_sub(way, place, at);
            tact_v3_add(mean, part.sums.force, last);
            if (k) {
                net[i] += 0.5 * tact_v3_dot(mean, way);
                gross += 0.5 * fabs(tact_v3_dot(mean, way));
                most[i] = fmax(most[i], tact_v3_norm(jump));
            }
            tact_v3_copy(last, part.sums.force);
            tact_v3_copy(at, place);
        }
        net[i] = fabs(net[i] / gross);
        print_message("%d points: net work %.1e of that moved, largest step of the force %.2e N\n",
                      points, net[i], most[i]);
    }
    assert_true(net[2] < 1e-6 && net[2] < 0.1 * net[1]);
    assert_true(most[2] < 0.27 * most[1] && most[1] < 0.27 * most[0]);
    free_soft_ball_on_box(&o);
}

/* Power of friction in a spin of 1 about the force of a ball over an edge along y, 0.1 R beside and
 * 0.9 R above it, over that force: of the pressure R - r on both faces, each of which rubs along
 * itself. */
static double torsion_arm_of_ball_over_box_edge(void)
{
    double load = 0.0, power = 0.0, force[3] = {0.0}, centre[3] = {0.0}, axis[3] = {0.0};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2000000; i++) {
            const int side = i % 2, column = i / 2 % 1000, row = i / 2000;
            double from = -BALL_RADIUS_M * (column + 0.5) / 1000.0,
                   y = BALL_RADIUS_M * (row - 499.5) / 500.0;
            const double at[3] = {side ? 0.0 : from, y, side ? from : 0.0};
            const double normal[3] = {side, 0.0, !side};
            const double offset_from_ball_centre[3] = {at[0] - 0.1 * BALL_RADIUS_M, y,
                                                       at[2] - 0.9 * BALL_RADIUS_M};
            double pressure = fmax(BALL_RADIUS_M - tact_v3_norm(offset_from_ball_centre), 0.0),
                   arm[3], slip[3];
            if (pass == 0) {
                load += pressure;
                tact_v3_axpy(force, pressure, normal);
                tact_v3_axpy(centre, pressure, at);
                continue;
            }
            tact_v3_copy(arm, at);
            tact_v3_axpy(arm, -1.0 / load, centre);
            tact_v3_cross(slip, axis, arm);
            tact_v3_axpy(slip, -tact_v3_dot(slip, normal), normal);
            power += pressure * tact_v3_norm(slip);
        }
        tact_v3_normalize(axis, force);
    }
    return power / tact_v3_norm(force);
}

/* In the middle of a face the ball's patch is that of a half-space; over an edge its friction is
 * that of the pressure on both faces. */
static void soft_ball_patches_on_faces_and_edges_are_exact(void **state)
{
    (void)state;
    const struct tact_shape ball = make_sphere(BALL_RADIUS_M),
                            floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape box = box_of_sides(0.04, 0.06, 0.02);
    struct tact_pose at = tact_pose_identity(), up = at, down = at;
    struct tact_patch is, exact;
    assert_int_equal(tact_shape_tessellate(&box), 0);
    up.position[2] = box_half_sides_m[2] + 0.9 * BALL_RADIUS_M;
    down.position[2] = box_half_sides_m[2];
    measure_field_patch(&ball, &up, 1e6, &box, &at, INFINITY, &is);
    measure_field_patch(&ball, &up, 1e6, &floor, &down, INFINITY, &exact);
    assert_true(fabs(is.wrench[0] / exact.wrench[0] - 1.0) < 1e-13);
    assert_true(fabs(is.spin_arm / exact.spin_arm - 1.0) < 1e-13);
    assert_int_equal(is.surface, TACT_SURFACE_FITTED);

    /* most of the contact disc is beyond the box's edge */
    up.position[0] = box_half_sides_m[0] + 0.1 * BALL_RADIUS_M;
    measure_field_patch(&box, &at, INFINITY, &ball, &up, 1e6, &is);
    const double arm = torsion_arm_of_ball_over_box_edge();
    print_message("over an edge: arm %.4f of exact in %d parts\n", is.spin_arm / arm,
                  is.points.count);
    assert_int_equal(is.surface, TACT_SURFACE_POINTS);
    /* the patch's plane is the mean of both faces' parts */
    assert_true(fabs(is.spin_arm / arm - 1.0) < 0.015);
    tact_shape_release(&box);
}

/* A ball on a face of a box, in closed form, and on the box as a mesh, by its triangles: the same
 * patch, in random poses over its faces and edges; thin boxes are pierced. */
static void patch_on_a_box_equals_that_on_its_mesh(void **state)
{
    (void)state;
    int face_patch_count = 0, triangle_patch_count = 0;
    for (int i = 0; i < (is_quick_sanitizer_run() ? 16 : 40); i++) {
        const double sides[3] = {0.06, 0.08, i % 2 ? 0.02 : 0.002}; /* half of the boxes are thin */
        const struct tact_shape ball = make_sphere(BALL_RADIUS_M);
        struct tact_shape box = box_of_sides(sides[0], sides[1], sides[2]), mesh;
        struct tact_pose at = tact_pose_identity(), pose_over_edge = at;
        struct tact_patch is, exact;
        assert_int_equal(tact_shape_tessellate(&box), 0);
        mesh = box;
        mesh.kind = TACT_SHAPE_MESH;
        random_unit_quaternion(at.quat_wxyz);
        const double from[3] = {uniform(-0.5, 0.5) * sides[0], uniform(-0.5, 0.5) * sides[1],
                                0.5 * sides[2] + uniform(0.7, 0.999) * BALL_RADIUS_M};
        tact_pose_point(pose_over_edge.position, &at, from);
        measure_field_patch(&ball, &pose_over_edge, 1e6, &box, &at, INFINITY, &is);
        measure_field_patch(&ball, &pose_over_edge, 1e6, &mesh, &at, INFINITY, &exact);
        assert_int_equal(is.surface, exact.surface);
        face_patch_count += is.surface == TACT_SURFACE_FITTED;
        triangle_patch_count += is.surface == TACT_SURFACE_POINTS;
        double size = exact.wrench[0], off = fabs(is.spin_arm / exact.spin_arm - 1.0);
        for (int k = 0; k < 3; k++) {
            off = fmax(off, fabs(is.center[k] - exact.center[k]) / BALL_RADIUS_M);
            off = fmax(off, fabs(is.frame[k] - exact.frame[k]));
        }
        off = fmax(off, fabs(is.wrench[0] / size - 1.0));
        off = fmax(off, fabs(is.stiffness[0] / exact.stiffness[0] - 1.0));
        off = fmax(off, fabs(is.stiffness[28] / exact.stiffness[28] - 1.0));
        if (!(off < 1e-9)) {
            fail_msg("pose %d: %.2e off", i, off);
        }
        tact_shape_release(&box);
    }
    print_message("%d on a face, %d over edges\n", face_patch_count, triangle_patch_count);
    assert_true(face_patch_count > 2 && triangle_patch_count > 2);
}

/* Area of the outline that is made for the part of a triangle in a ball; *part gets that part's
 * exact area; -1 where no part is in the ball. The centre of the ball of radius 5 is 3 above the
 * triangle's plane, in which its disc has the radius 4. */
static double area_of_triangle_outline_in_disc(const double corner[3][2], double *part)
{
    const struct field_sphere sphere = {5.0, 1e6, 1.0};
    const struct tact_pose origin = tact_pose_identity();
    double vertices[9], area = 0.0;
    struct field_cell cell = {.gradient = {0.0, 0.0, -1.0}, .corner = {0, 1, 2}};
    struct field_node node = {.all = {.half = {20.0, 20.0, 20.0}}, .leaf = 1};
    struct tact_pressure_field triangle = {.kind = TACT_FIELD_RIGID, .is_rigid = 1, .power = 1.0};
    struct contact_surface_of_fields of;
    for (int k = 0; k < 9; k++) {
        vertices[k] = k % 3 < 2 ? corner[k / 3][k % 3] : -3.0;
    }
    triangle.vertex_count = 3;
    triangle.cell_count = triangle.node_count = 1;
    triangle.vertices = vertices;
    triangle.cells = &cell;
    triangle.nodes = &node;
    int rc = tact_field_find_ball_surface(&sphere, &triangle, &origin, &triangle, &origin,
                                          shared_field_scratch(), &of);
    assert_true(rc == 0 || rc == 1);
    if (!rc) {
        return -1.0;
    }
    const struct contact_surface_polygon *p = of.polygon;
    assert_in_range(p->corners, 2, TACT_FIELD_MAX_POLYGON_CORNERS);
    for (int i = 0; i < p->corners; i++) {
        const double *x = p->corner[i], *y = p->corner[(i + 1) % p->corners];
        area += 0.5 * (x[0] * y[1] - x[1] * y[0]);
    }
    *part = p->area_moments.area;
    return area;
}

/* A triangle with corners on the disc's circle to rounding has no arc there. An outline has
 * straight parts in place of arcs, of a twelfth of the circle at most. */
static void triangle_corners_on_the_disc_circle_make_no_arc(void **state)
{
    (void)state;
    /* area between an arc of the circle and its chord */
    const double segment = 8.0 * (PI / 6.0 - 0.5);
    int cut = 0;
    for (int i = 0; i < 20000; i++) {
        double corner[3][2], part = 0.0, start = uniform(-PI, PI), whole = i % 2 ? 4.0 : 0.0;
        const double triangle_corner_angles[3] = {start, start + uniform(0.1, 3.0),
                                                  start + uniform(3.2, 6.0)};
        for (int k = 0; k < 3; k++) {
            double radius = k && whole == 0.0 ? uniform(6.0, 10.0) : 4.0;
            corner[k][0] = radius * tact_cos(triangle_corner_angles[k]);
            corner[k][1] = radius * tact_sin(triangle_corner_angles[k]);
        }
        double turn = (corner[1][0] - corner[0][0]) * (corner[2][1] - corner[0][1]) -
                      (corner[1][1] - corner[0][1]) * (corner[2][0] - corner[0][0]);
        if (turn < 0.0) { /* the outline's corners go counterclockwise */
            for (int k = 0; k < 2; k++) {
                double x = corner[1][k];
                corner[1][k] = corner[2][k];
                corner[2][k] = x;
            }
        }
        double area = area_of_triangle_outline_in_disc((const double(*)[2])corner, &part);
        cut += area > 0.0;
        if (area >= 0.0) {
            assert_true(area <= part + 1e-10);
            assert_true(area >= part - (whole > 0.0 ? 1e-10 : 14.0 * segment));
        }
    }
    print_message("%d of 20000 triangles in the disc\n", cut);
    assert_true(cut > 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_on_box_integrals_equal_quadrature),
        cmocka_unit_test(soft_ball_force_has_its_closed_form),
        cmocka_unit_test(soft_ball_force_is_independent_of_the_triangles_of_a_plane),
        cmocka_unit_test(contact_stiffness_is_the_derivative_of_the_force),
        cmocka_unit_test(soft_ball_does_no_net_work_on_closed_paths),
        cmocka_unit_test(soft_ball_patches_on_faces_and_edges_are_exact),
        cmocka_unit_test(patch_on_a_box_equals_that_on_its_mesh),
        cmocka_unit_test(triangle_corners_on_the_disc_circle_make_no_arc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
