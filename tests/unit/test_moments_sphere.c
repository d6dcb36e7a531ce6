/* Moments of spheres: caps and lenses against integrals of slices, spheres with meshes against
 * exact cases, against additivity (the overlaps with boxes that fill space add up to the whole
 * ball) and finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/data.h"
#include "support/moved.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;

static struct tact_shape make_sphere(double radius)
{
    return (struct tact_shape){.kind = TACT_SHAPE_SPHERE, .size = {radius, 0.0, 0.0}};
}

static struct tact_shape make_tessellated_box(double x, double y, double z)
{
    struct tact_shape s = {.kind = TACT_SHAPE_BOX, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

/* Volume, first and second moments along x about the origin, and across, of a body of revolution
 * about x whose squared radius is r2(x): Gauss-Legendre in long double, exact for its polynomials.
 */
struct moments_by_slices {
    long double v, x, xx, yy;
};

static void integrate_volume_by_slices(struct moments_by_slices *s, long double centre,
                                       long double radius, long double from, long double to)
{
    static const long double node[3] = {0.0L, 0.538469310105683091036L, 0.906179845938663992798L};
    static const long double weight[3] = {0.568888888888888888889L, 0.478628670499366468041L,
                                          0.236926885056189087514L};
    long double middle = (from + to) / 2, half = (to - from) / 2;
    for (int i = -2; i <= 2; i++) {
        long double x = middle + (i < 0 ? -1 : 1) * node[abs(i)] * half;
        /* The factored form keeps the digits that radius^2 - x^2 would lose for shallow caps. */
        long double r2 = (radius - (x - centre)) * (radius + (x - centre));
        long double w = weight[abs(i)] * half * 3.14159265358979323846264L * r2;
        s->v += w;
        s->x += w * x;
        s->xx += w * x * x;
        s->yy += w * r2 / 4;
    }
}

static void assert_close(double value, long double exact, double relative_tolerance,
                         const char *what)
{
    if (!(fabsl(value - exact) <= relative_tolerance * fabsl(exact))) {
        fail_msg("%s: %.17g, not %.17Lg", what, value, exact);
    }
}

/* Checks m, with the axis from b to a along x and positions along x from the origin. */
static void check_moments_against_slices(const struct tact_moments *m,
                                         const struct moments_by_slices *s, double disc,
                                         double tolerance_of_other_overlap_moments,
                                         double tolerance_of_second_moment_along_axis)
{
    long double c = s->x / s->v;
    assert_close(m->volume, s->v, tolerance_of_other_overlap_moments, "volume");
    assert_true(fabsl(m->centroid[0] - c) <=
                1e-15L + tolerance_of_other_overlap_moments * sqrtl(s->yy / s->v));
    assert_close(m->second[1], s->yy, tolerance_of_other_overlap_moments, "second moment across");
    assert_close(m->second[2], s->yy, tolerance_of_other_overlap_moments, "second moment across");
    assert_close(m->second[0], s->xx - s->v * c * c, tolerance_of_second_moment_along_axis,
                 "second moment along");
    assert_close(m->gradient[0], -disc, tolerance_of_other_overlap_moments, "gradient");
    assert_true(fabs(m->gradient[1]) < 1e-9 * disc && fabs(m->gradient[4]) < 1e-9 * disc);
}

static const double OVERLAP_DEPTHS[] = {1e-4, 1e-3, 2.5e-3, 1e-2, 0.1, 0.5, 1.0, 1.3, 1.9, 1.999};

/* A half-space, a face of a box (one triangle, and the diagonal between two) give the same cap. */
static void plane_and_box_cut_the_same_cap_of_a_ball(void **unused)
{
    (void)unused;
    struct tact_shape ball = make_sphere(1.0), plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape slab_shape = make_tessellated_box(10.0, 10.0, 10.0);
    const double s = sqrt(0.5);
    for (size_t i = 0; i < sizeof OVERLAP_DEPTHS / sizeof OVERLAP_DEPTHS[0]; i++) {
        double depth = OVERLAP_DEPTHS[i];
        /* Powers of two keep positions exact, so that only the formulas contribute errors. */
        double x = 1.0 - depth;
        depth = 1.0 - x;
        struct moments_by_slices exact = {0};
        integrate_volume_by_slices(&exact, x, 1.0L, x - 1.0L, 0.0L);
        double disc = PI * depth * (2.0 - depth);
        struct tact_pose at = tact_pose_identity();
        /* rotates the z axis of the plane onto x */
        struct tact_pose turned = {{0, 0, 0}, {s, 0, s, 0}};
        struct tact_moments m;
        tact_v3_set(at.position, x, 0.0, 0.0);
        assert_int_equal(tact_moments_pair(&ball, &at, &plane, &turned, NULL, NULL, &m), 1);
        check_moments_against_slices(&m, &exact, disc, 2e-12 + 1e-15 / depth,
                                     1e-11 + 1e-14 / depth);
        for (int is_slab_shifted = 0; is_slab_shifted < 2; is_slab_shifted++) {
            struct tact_pose slab_pose = tact_pose_identity();
            tact_v3_set(slab_pose.position, -10.0, 0.0, is_slab_shifted ? 4.0 : 0.0);
            assert_int_equal(tact_moments_pair(&ball, &at, &slab_shape, &slab_pose, NULL, NULL, &m),
                             1);
            /* A centre on an edge, be it a face's diagonal, is moved by 2e-8 of the radius. */
            double moved = depth == 1.0 ? 1e-7 : 0.0;
            check_moments_against_slices(&m, &exact, disc, moved + 2e-12 + 1e-13 / depth,
                                         moved + 1e-11 + 1e-15 / (depth * depth * depth));
        }
    }
    tact_shape_release(&slab_shape);
}

static void overlap_of_two_spheres_is_an_exact_lens(void **unused)
{
    (void)unused;
    for (int i = 0; i < 300; i++) {
        double ra = uniform(0.2, 2.0), rb = uniform(0.2, 2.0);
        double d = ra + rb - uniform(0.001, 1.0) * 2.0 * fmin(ra, rb);
        struct tact_shape a = make_sphere(ra), b = make_sphere(rb);
        struct tact_pose pa = tact_pose_identity(), pb = pa;
        pa.position[0] = d;
        struct tact_moments m, swapped;
        assert_int_equal(tact_moments_pair(&a, &pa, &b, &pb, NULL, NULL, &m), 1);
        assert_int_equal(tact_moments_pair(&b, &pb, &a, &pa, NULL, NULL, &swapped), 1);
        struct moments_by_slices exact = {0};
        long double x =
            ((long double)d * d + (long double)rb * rb - (long double)ra * ra) / (2 * d);
        integrate_volume_by_slices(&exact, d, ra, d - (long double)ra, x);
        integrate_volume_by_slices(&exact, 0, rb, x, rb);
        double disc = PI * (double)((rb - x) * (rb + x));
        check_moments_against_slices(&m, &exact, disc, 1e-10, 1e-9);
        assert_close(swapped.volume, m.volume, 1e-12, "swapped");
        assert_close(swapped.gradient[0], -m.gradient[0], 1e-12, "swapped");
    }
    struct tact_shape a = make_sphere(0.3), b = make_sphere(1.0);
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    struct tact_moments m;
    pa.position[1] = 0.4;
    assert_int_equal(tact_moments_pair(&a, &pa, &b, &pb, NULL, NULL, &m), 1);
    assert_close(m.volume, 4.0L / 3.0L * 3.14159265358979323846264L * 0.027L, 1e-14, "contained");
    assert_true(m.centroid[1] == 0.4 && m.gradient[1] == 0.0);
    pa.position[1] = 1.3;
    assert_int_equal(tact_moments_pair(&a, &pa, &b, &pb, NULL, NULL, &m), 0);
}

/* Raw moments about the world's origin, which add up over disjoint parts. */
static void add_raw_moments(double sum[16], const struct tact_moments *m, double sign)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double turn[3];
    tact_v3_cross(turn, m->centroid, m->gradient);
    sum[0] += sign * m->volume;
    for (int k = 0; k < 6; k++) {
        sum[4 + k] +=
            sign * (m->second[k] + m->volume * m->centroid[row[k]] * m->centroid[column[k]]);
    }
    for (int k = 0; k < 3; k++) {
        sum[1 + k] += sign * m->volume * m->centroid[k];
        sum[10 + k] += sign * m->gradient[k];
        sum[13 + k] += sign * (m->gradient[3 + k] + turn[k]);
    }
}

/* The overlaps with eight boxes around a point in the ball add up to the ball: faces, edges and
 * corners, deep and shallow. */
static void overlaps_with_eight_boxes_add_up_to_the_ball(void **unused)
{
    (void)unused;
    double worst = 0.0;
    struct tact_shape ball = make_sphere(1.0), octant = make_tessellated_box(2.0, 2.0, 2.0);
    for (int i = 0; i < 400; i++) {
        struct tact_pose frame = random_pose(1.0), at = tact_pose_identity();
        double corner[3], sum[16] = {0};
        for (int k = 0; k < 3; k++) {
            corner[k] = i < 100   ? uniform(-0.999, 0.999)
                        : i < 200 ? uniform(-1e-3, 1e-3)
                        : i < 300 ? (double)((i >> k) & 1) * uniform(-1, 1) * 0.5
                                  : uniform(-1e-9, 1e-9);
        }
        for (int j = 0; j < 8; j++) {
            struct tact_pose local = tact_pose_identity(), pose;
            for (int k = 0; k < 3; k++) {
                local.position[k] = corner[k] + ((j >> k) & 1 ? 2.0 : -2.0);
            }
            struct tact_pose base = frame;
            tact_pose_mul(&pose, &base, &local);
            tact_v3_sub(pose.position, pose.position, frame.position);
            struct tact_moments m;
            tact_moments_pair(&ball, &at, &octant, &pose, NULL, NULL, &m);
            add_raw_moments(sum, &m, 1.0);
        }
        double v = 4.0 / 3.0 * PI;
        const double exact[16] = {v, 0, 0, 0, v / 5, v / 5, v / 5};
        for (int k = 0; k < 16; k++) {
            worst = fmax(worst, fabs(sum[k] - exact[k]));
        }
    }
    print_message("eight boxes share the ball: worst error of any moment %.1e\n", worst);
    assert_true(worst < 2e-7);
    tact_shape_release(&octant);
}

/* Overlaps with boxes that share a ball whose centre is on none of their edges: exact, as no
 * digits are lost. */
static void overlaps_with_boxes_off_the_centre_add_up_to_the_ball(void **unused)
{
    (void)unused;
    double worst = 0.0;
    struct tact_shape ball = make_sphere(1.0), octant = make_tessellated_box(2.0, 2.0, 2.0);
    for (int i = 0; i < 300; i++) {
        double corner[3], sum[16] = {0};
        struct tact_pose at = random_pose(0.3), frame = at;
        for (int k = 0; k < 3; k++) {
            corner[k] = uniform(-0.999, 0.999);
        }
        for (int j = 0; j < 8; j++) {
            struct tact_pose local = tact_pose_identity(), pose;
            for (int k = 0; k < 3; k++) {
                local.position[k] = corner[k] + ((j >> k) & 1 ? 2.0 : -2.0);
            }
            tact_pose_mul(&pose, &frame, &local);
            struct tact_moments m;
            tact_moments_pair(&ball, &at, &octant, &pose, NULL, NULL, &m);
            tact_v3_sub(m.centroid, m.centroid, at.position);
            add_raw_moments(sum, &m, 1.0);
        }
        double v = 4.0 / 3.0 * PI;
        const double exact[16] = {v, 0, 0, 0, v / 5, v / 5, v / 5};
        for (int k = 0; k < 16; k++) {
            worst = fmax(worst, fabs(sum[k] - exact[k]));
        }
    }
    print_message("... with the centre away from edges: %.1e\n", worst);
    assert_true(worst < 1e-11);
    tact_shape_release(&octant);
}

/* Central difference of V as the ball moves along axis k, or turns about it through m's centroid.
 */
static double numerical_volume_derivative(const struct tact_shape *ball, const struct tact_pose *pa,
                                          const struct tact_shape *hull, const struct tact_pose *pb,
                                          const struct tact_moments *m, int k, double e)
{
    struct tact_moments side[2];
    for (int i = 0; i < 2; i++) {
        struct tact_pose p = pose_displaced_along_coordinate(pa, m->centroid, k, i ? e : -e);
        tact_moments_pair(ball, &p, hull, pb, NULL, NULL, &side[i]);
    }
    return (side[1].volume - side[0].volume) / (2.0 * e);
}

/* The gradient of a ball with a convex hull is the derivative of V. The better of two step sizes
 * counts: the small one has more rounding error, the large one more truncation error where the ball
 * reaches an edge. */
static void ball_volume_gradient_is_the_derivative(void **unused)
{
    (void)unused;
    double worst = 0.0;
    for (int i = 0; i < 200; i++) {
        double points[16][3];
        for (int j = 0; j < 16; j++) {
            for (int k = 0; k < 3; k++) {
                points[j][k] = uniform(-1, 1);
            }
        }
        struct tact_mesh *mesh;
        assert_int_equal(tact_mesh_hull(points[0], 16, &mesh, NULL), 0);
        struct tact_shape hull = {.kind = TACT_SHAPE_CONVEX, .mesh = mesh};
        struct tact_shape ball = make_sphere(uniform(0.2, 1.0));
        struct tact_pose pa = random_pose(0.9), pb = random_pose(0.2);
        struct tact_moments m, swapped;
        int rc = tact_moments_pair(&ball, &pa, &hull, &pb, NULL, NULL, &m);
        int rs = tact_moments_pair(&hull, &pb, &ball, &pa, NULL, NULL, &swapped);
        assert_int_equal(rc, rs);
        for (int k = 0; rc == 1 && k < 6; k++) {
            double off[2];
            for (int i = 0; i < 2; i++) {
                const double e = (i ? 1e-5 : 1e-6) * ball.size[0];
                off[i] = fabs(numerical_volume_derivative(&ball, &pa, &hull, &pb, &m, k, e) -
                              m.gradient[k]);
            }
            worst = fmax(worst, fmin(off[0], off[1]) / (ball.size[0] * ball.size[0]));
            assert_true(m.gradient[k] == -swapped.gradient[k]);
        }
        tact_mesh_free(mesh);
    }
    print_message("gradient against finite differences: %.1e of the ball's\n", worst);
    assert_true(worst < 2e-8);
}

/* The overlap with a fine triangulation of the same sphere, measured by prisms, nearly agrees: on
 * edges, corners and faces of a thin plate like the ruler. */
static void moments_agree_with_prism_method(void **unused)
{
    (void)unused;
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1000000);
    struct tact_mesh *fine;
    assert_int_equal(tact_mesh_capsule(0.008, 0.0, 40000, &fine), 0);
    struct tact_shape ball = make_sphere(0.008), mesh = {.kind = TACT_SHAPE_CONVEX, .mesh = fine};
    struct tact_shape plate = make_tessellated_box(0.15, 0.001, 0.015);
    double worst_volume_error = 0.0, worst_s = 0.0, worst_c = 0.0;
    for (int i = 0; i < 200; i++) {
        struct tact_pose pb = random_pose(0.1), local = tact_pose_identity(), pa;
        tact_v3_set(local.position, uniform(-0.155, 0.155), uniform(-0.007, 0.007),
                    uniform(-0.02, 0.02));
        tact_pose_mul(&pa, &pb, &local);
        struct tact_moments a, b;
        int ra = tact_moments_pair(&ball, &pa, &plate, &pb, NULL, scratch, &a);
        int rb = tact_moments_pair(&mesh, &pa, &plate, &pb, NULL, scratch, &b);
        if (ra != 1 || rb != 1 || a.volume < 2e-9) {
            continue;
        }
        double size = sqrt((a.second[0] + a.second[1] + a.second[2]) / a.volume), d[3];
        tact_v3_sub(d, a.centroid, b.centroid);
        worst_volume_error = fmax(worst_volume_error, fabs(a.volume / b.volume - 1.0));
        worst_c = fmax(worst_c, tact_v3_norm(d) / size);
        for (int k = 0; k < 6; k++) {
            double scale = a.second[0] + a.second[1] + a.second[2];
            worst_s = fmax(worst_s, fabs(a.second[k] - b.second[k]) / scale);
        }
    }
    print_message("against prisms of 40,000 triangles: V %.1e c %.1e C %.1e\n", worst_volume_error,
                  worst_c, worst_s);
    assert_true(worst_volume_error < 3e-3 && worst_c < 3e-3 && worst_s < 3e-3);
    tact_shape_release(&plate);
    tact_mesh_free(fine);
    tact_moments_scratch_destroy(scratch);
}

/* A ball at random positions in and around a mesh: deep, cut by protrusions, or wholly inside. */
static void check_ball_moments_by_integration(const char *name)
{
    struct tact_mesh *solid = load_test_data_mesh(name, 1.0), *fine;
    if (!solid) {
        skip();
    }
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(4000000);
    assert_int_equal(tact_mesh_capsule(0.2, 0.0, 20000, &fine), 0);
    struct tact_shape ball = make_sphere(0.2), mesh = {.kind = TACT_SHAPE_CONVEX, .mesh = fine};
    struct tact_shape b = {.kind = TACT_SHAPE_MESH, .mesh = solid};
    const double whole = 4.0 / 3.0 * PI * 0.008;
    double worst_volume_error = 0.0, worst_c = 0.0, worst_g = 0.0, worst_s = 0.0;
    int inside = 0, touching = 0;
    for (int i = 0; i < 60; i++) {
        struct tact_pose pa = random_pose(0.5), pb = tact_pose_identity();
        struct tact_moments m, p;
        int rm = tact_moments_pair(&ball, &pa, &b, &pb, NULL, scratch, &m);
        int rp = tact_moments_pair(&mesh, &pa, &b, &pb, NULL, scratch, &p);
        assert_true(rm == rp || fmax(m.volume, p.volume) < 1e-5 * whole);
        double d[3], f[3];
        tact_v3_sub(d, m.centroid, p.centroid);
        tact_v3_sub(f, m.gradient, p.gradient);
        inside += m.volume > 0.9999 * whole;
        touching += rm;
        worst_volume_error = fmax(worst_volume_error, fabs(m.volume - p.volume) / whole);
        worst_c = fmax(worst_c, tact_v3_norm(d) * m.volume / (0.2 * whole));
        worst_g = fmax(worst_g, tact_v3_norm(f) / (PI * 0.04));
        for (int k = 0; k < 6; k++) {
            worst_s = fmax(worst_s, fabs(m.second[k] - p.second[k]) / (whole * 0.04));
        }
    }
    print_message("ball and %s, %d touching, %d inside: V %.1e c %.1e C %.1e g %.1e\n", name,
                  touching, inside, worst_volume_error, worst_c, worst_s, worst_g);
    assert_true(touching > 20 && worst_volume_error < 2e-3 && worst_c < 2e-3 && worst_s < 2e-3);
    assert_true(worst_g < 1e-2);
    tact_mesh_free(solid);
    tact_mesh_free(fine);
    tact_moments_scratch_destroy(scratch);
}

static void ball_moments_in_star_mesh_agree_with_integration(void **unused)
{
    (void)unused;
    check_ball_moments_by_integration("star.obj");
}

static void ball_moments_in_cow_mesh_agree_with_integration(void **unused)
{
    (void)unused;
    check_ball_moments_by_integration("spot.obj");
}

/* No jumps: V is continuously differentiable where the ball slides over an edge and a diagonal. */
static void ball_moments_are_smooth_over_mesh_edges(void **unused)
{
    (void)unused;
    struct tact_shape ball = make_sphere(0.008), plate = make_tessellated_box(0.15, 0.001, 0.015);
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    struct tact_moments last = {0}, m;
    double worst_volume_error = 0.0, worst_s = 0.0;
    const double step = 1e-7;
    for (int i = 0; i <= 200000; i++) {
        /* The ball moves from the middle of a face across its diagonal and its long edge, until it
         * no longer touches. */
        tact_v3_set(pa.position, 0.02, 0.001 + 0.008 - 5e-5, (double)i * step);
        int rc = tact_moments_pair(&ball, &pa, &plate, &pb, NULL, NULL, &m);
        if (i && rc == 1) {
            double volume_change_by_gradient = 0.5 * (m.gradient[2] + last.gradient[2]) * step;
            worst_volume_error =
                fmax(worst_volume_error, fabs(m.volume - last.volume - volume_change_by_gradient));
            worst_s = fmax(worst_s, fabs(m.second[0] - last.second[0]));
        }
        last = m;
    }
    double v = PI * 5e-5 * 5e-5 * 0.008, s = v * 0.008 * 5e-5;
    print_message("sliding off an edge: V leaves its gradient by %.1e of V, C steps by %.1e of C\n",
                  worst_volume_error / v, worst_s / s);
    assert_true(worst_volume_error < 1e-7 * v && worst_s < 1e-3 * s);
    tact_shape_release(&plate);
}

static void balls_wholly_in_or_out_of_a_mesh_have_whole_or_no_volume(void **unused)
{
    (void)unused;
    struct tact_mesh *fine;
    assert_int_equal(tact_mesh_capsule(1.0, 0.5, 5000, &fine), 0);
    struct tact_shape big = {.kind = TACT_SHAPE_MESH, .mesh = fine};
    for (int i = 0; i < 200; i++) {
        struct tact_shape ball = make_sphere(0.1);
        struct tact_pose pa = random_pose(2.0), pb = tact_pose_identity();
        pb.quat_wxyz[0] = 0.8;
        pb.quat_wxyz[2] = 0.6;
        double local[3], nearest[3] = {0}, away[3];
        tact_v3_sub(away, pa.position, pb.position);
        double r[9];
        tact_quat_to_m3(r, pb.quat_wxyz);
        tact_m3_tmul_v3(local, r, away);
        nearest[2] = fmin(fmax(local[2], -0.5), 0.5);
        tact_v3_sub(away, local, nearest);
        double distance = tact_v3_norm(away);
        struct tact_moments m;
        int rc = tact_moments_pair(&ball, &pa, &big, &pb, NULL, NULL, &m);
        if (distance < 0.89) {
            assert_int_equal(rc, 1);
            assert_close(m.volume, 4.0 / 3.0 * PI * 1e-3, 1e-14, "whole ball");
            assert_true(tact_v3_norm(m.gradient) == 0.0);
        } else if (distance > 1.11) {
            assert_int_equal(rc, 0);
        }
    }
    tact_mesh_free(fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_and_box_cut_the_same_cap_of_a_ball),
        cmocka_unit_test(overlap_of_two_spheres_is_an_exact_lens),
        cmocka_unit_test(overlaps_with_eight_boxes_add_up_to_the_ball),
        cmocka_unit_test(overlaps_with_boxes_off_the_centre_add_up_to_the_ball),
        cmocka_unit_test(ball_volume_gradient_is_the_derivative),
        cmocka_unit_test(moments_agree_with_prism_method),
        cmocka_unit_test(ball_moments_in_star_mesh_agree_with_integration),
        cmocka_unit_test(ball_moments_in_cow_mesh_agree_with_integration),
        cmocka_unit_test(ball_moments_are_smooth_over_mesh_edges),
        cmocka_unit_test(balls_wholly_in_or_out_of_a_mesh_have_whole_or_no_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
