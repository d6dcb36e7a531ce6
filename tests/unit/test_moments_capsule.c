/* Moments of capsules: the overlaps with boxes that fill space add up to the capsule exactly; a
 * plane along the axis against integrals of slices; a capsule without length against the ball's
 * closed forms; finer and finer triangulations; finite differences; paths without jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/data.h"
#include "support/moved.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;

static struct tact_shape make_solid_shape(enum tact_shape_kind kind, double x, double y, double z)
{
    struct tact_shape s = {.kind = kind, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

/* A capsule without triangles, which are only needed where it is measured as a mesh. */
static struct tact_shape capsule_without_mesh(double radius, double half)
{
    return (struct tact_shape){.kind = TACT_SHAPE_CAPSULE, .size = {radius, half}};
}

/* Adds the moments of an overlap about a point to sum: V, first and second moment, gradient,
 * torque. */
static void add_moments_about_point(double sum[16], const struct tact_moments *m,
                                    const double moment_point[3])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double c[3], turn[3];
    tact_v3_sub(c, m->centroid, moment_point);
    tact_v3_cross(turn, c, m->gradient);
    sum[0] += m->volume;
    for (int k = 0; k < 6; k++) {
        sum[4 + k] += m->second[k] + m->volume * c[row[k]] * c[column[k]];
    }
    for (int k = 0; k < 3; k++) {
        sum[1 + k] += m->volume * c[k];
        sum[10 + k] += m->gradient[k];
        sum[13 + k] += m->gradient[3 + k] + turn[k];
    }
}

/* Adds the exact moments of a whole capsule about its centre. */
static void add_whole_capsule_moments(const struct tact_shape *capsule,
                                      const struct tact_pose *pose, double sum[16])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    struct tact_shape_mass mass;
    double r[9];
    memset(sum, 0, 16 * sizeof *sum);
    tact_shape_mass(capsule, &mass);
    tact_quat_to_m3(r, pose->quat_wxyz);
    sum[0] = mass.volume;
    double across = 0.5 * mass.inertia[8], along = mass.inertia[0] - across;
    for (int k = 0; k < 6; k++) {
        double square = r[3 * row[k] + 2] * r[3 * column[k] + 2];
        sum[4 + k] = across * ((k < 3) - square) + along * square;
    }
}

/* Exponent of length of the k-th of the 16 moments (3 for V, 5 for second moments). */
static int length_exponent_of_moment(int k)
{
    return k == 0 ? 3 : k < 4 ? 4 : k < 10 ? 5 : k < 13 ? 2 : 3;
}

/* Sums the overlaps with eight boxes that meet in `corner`, inside the capsule; returns the worst
 * difference from the whole capsule, relative to its size. Where an end of the axis lies in a face,
 * the library measures a slightly displaced capsule. */
static double capsule_octant_sum_error(struct tact_shape *capsule, const struct tact_pose *at,
                                       double turned, const double corner[3])
{
    double size = capsule->size[0], half = 4.0 * (size + capsule->size[1]), worst = 0.0;
    struct tact_shape octant_box_shape = make_solid_shape(TACT_SHAPE_BOX, half, half, half);
    struct tact_pose frame = *at;
    double sum[16] = {0.0}, exact[16];
    if (turned > 0.0) {
        random_unit_quaternion(frame.quat_wxyz);
    }
    for (int j = 0; j < 8; j++) {
        struct tact_pose local = tact_pose_identity(), pose;
        for (int k = 0; k < 3; k++) {
            local.position[k] = corner[k] + ((j >> k) & 1 ? half : -half);
        }
        struct tact_moments m;
        tact_pose_mul(&pose, &frame, &local);
        assert_true(tact_moments_pair(capsule, at, &octant_box_shape, &pose, NULL, NULL, &m) >= 0);
        add_moments_about_point(sum, &m, at->position);
    }
    add_whole_capsule_moments(capsule, at, exact);
    for (int k = 0; k < 16; k++) {
        worst = fmax(worst, fabs(sum[k] - exact[k]) /
                                pow(size + capsule->size[1], length_exponent_of_moment(k)));
    }
    tact_shape_release(&octant_box_shape);
    return worst;
}

static void overlaps_with_eight_octant_boxes_add_up_to_the_capsule(void **unused)
{
    (void)unused;
    double worst[3] = {0.0};
    for (int i = 0; i < campaign_trial_count(1500, 15000); i++) {
        double scale = pow(10.0, uniform(-3.0, 1.0)), corner[3];
        double half = i % 4 == 0 ? 0.0 : i % 4 == 1 ? uniform(0.0, 10.0) : uniform(0.1, 2.0);
        struct tact_shape capsule = capsule_without_mesh(scale, scale * half);
        struct tact_pose at = random_pose(0.3 * scale);
        int is_capsule_axis_aligned = i % 5 == 1, end = i % 10 == 6;
        for (int k = 0; k < 3; k++) {
            corner[k] = scale * (i % 7 == 2 ? uniform(-1e-3, 1e-3) : uniform(-1.0, 1.0));
        }
        corner[2] = end ? scale * half : corner[2] * (1.0 + half);
        double off =
            capsule_octant_sum_error(&capsule, &at, is_capsule_axis_aligned ? 0.0 : 1.0, corner);
        /* A short capsule, both ends of whose axis may lie in faces of aligned boxes. */
        int kind = is_capsule_axis_aligned && end ? 2 : is_capsule_axis_aligned;
        worst[kind] = fmax(worst[kind], off);
        if (!(off < (kind == 2 ? 1e-5 : 1e-11))) {
            fail_msg("capsule %g %g cut at %g %g %g: %.1e", scale, scale * half, corner[0],
                     corner[1], corner[2], off);
        }
    }
    print_message("eight boxes share a capsule, worst of all moments: turned %.1e, aligned %.1e, "
                  "with an end of the axis in faces %.1e\n",
                  worst[0], worst[1], worst[2]);
}

/* Moments of a capsule with its axis along z below the plane of height h, along x, by slices at
 * the depth s below the surface's lowest point: a disc's halves on a rectangle. */
struct lying_capsule_case {
    long double v, x, xx, yy, zz, area;
};

static struct lying_capsule_case integrate_lying_capsule_slices(long double r, long double l,
                                                                long double depth)
{
    const long double pi = 3.14159265358979323846264L;
    struct lying_capsule_case b = {0};
    enum { STEPS = 400 };
    for (int i = 0; i < STEPS; i++) {
        /* Gauss-Legendre quadrature with three points a step, over the angle */
        for (int g = -1; g <= 1; g += 1) {
            long double end = acosl(1 - depth / r), h = end / STEPS;
            long double weight = (g == 0 ? 8.0L : 5.0L) / 18;
            long double t = ((long double)i + 0.5L + (long double)g * sqrtl(0.15L)) * h;
            long double s = 2 * r * sinl(t / 2) * sinl(t / 2), w = r * sinl(t);
            long double ds = r * sinl(t) * h * weight, area = pi * w * w + 4 * l * w;
            b.v += area * ds;
            b.x += area * s * ds;
            b.xx += area * s * s * ds;
            b.yy += (pi * powl(w, 4) / 4 + 4 * l * powl(w, 3) / 3) * ds;
            b.zz += (pi * powl(w, 4) / 4 + 8 * l * powl(w, 3) / 3 + pi * l * l * w * w +
                     4 * w * powl(l, 3) / 3) *
                    ds;
        }
    }
    long double w = sqrtl(depth * (2 * r - depth));
    b.area = pi * w * w + 4 * l * w;
    return b;
}

static void assert_near(double got, long double exact, long double tolerance, const char *what)
{
    if (!(fabsl((long double)got - exact) <= tolerance)) {
        fail_msg("%s: %.17g, not %.17Lg +- %.1Le", what, got, exact, tolerance);
    }
}

/* A capsule that lies on a plane, or on a box: the rounding errors of V, C and the gradient grow
 * with the radius over the depth, as the bounds state. */
static void moments_of_a_capsule_lying_on_a_plane_are_exact(void **unused)
{
    (void)unused;
    static const double depths_over_radius[] = {1e-5,  1e-4, 1e-3, 1e-2, 0.1,  0.5,
                                                0.999, 1.0,  1.3,  1.9,  1.999};
    const double r = 0.01, l = 0.03;
    struct tact_shape capsule = capsule_without_mesh(r, l);
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape box = make_solid_shape(TACT_SHAPE_BOX, 0.1, 0.2, 0.05);
    for (size_t i = 0; i < 2 * sizeof depths_over_radius / sizeof *depths_over_radius; i++) {
        double depth = r * depths_over_radius[i / 2], ratio = r / depth;
        struct lying_capsule_case e = integrate_lying_capsule_slices(r, l, depth);
        struct tact_pose at = tact_pose_identity(), ground = at;
        /* Pose in which the plane's normal is z and the capsule's axis is along the plane's x. */
        at.quat_wxyz[0] = at.quat_wxyz[2] = sqrt(0.5);
        at.position[2] = r - depth;
        ground.position[2] = i % 2 ? -0.05 : 0.0;
        struct tact_moments m;
        assert_int_equal(
            tact_moments_pair(&capsule, &at, i % 2 ? &box : &plane, &ground, NULL, NULL, &m), 1);
        long double v = e.v, c = e.x / e.v, loss = 2e-15L * (1 + (long double)pow(ratio, 1.5));
        loss += depth == r ? 1e-7L : 0.0L; /* one end of the capsule's axis is in the plane */
        assert_near(m.volume, v, loss * v, "volume");
        assert_near(m.centroid[2], -depth + (double)c, loss * r, "centroid");
        assert_near(m.gradient[2], -e.area, 1e-14 * fmax(ratio, r / (2.0 * r - depth)) * e.area,
                    "gradient");
        assert_near(m.second[0], e.zz, loss * v * (r + l) * (r + l), "along");
        assert_near(m.second[1], e.yy, loss * v * (r + l) * (r + l), "across");
        assert_near(m.second[2], e.xx - v * c * c, loss * v * (r + l) * (r + l), "down");
        assert_true(fabs(m.gradient[0]) + fabs(m.gradient[1]) < 1e-13 * (double)e.area);
    }
    tact_shape_release(&box);
}

/* Moments of a capsule that stands on its end, or is cut across its axis by a tilted plane. */
static void moments_of_a_capsule_cut_across_its_axis_are_exact(void **unused)
{
    (void)unused;
    const double r = 0.5, l = 1.5, ball = 2.0 / 3.0 * PI * r * r * r;
    struct tact_shape capsule = capsule_without_mesh(r, l);
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    for (int i = 0; i < 200; i++) {
        double height = uniform(-0.3, 0.3), tilt = i % 4 ? uniform(-0.7, 0.7) : 0.0;
        struct tact_pose at = random_pose(1.0), local = tact_pose_identity(), ground;
        local.quat_wxyz[0] = cos(0.5 * tilt);
        local.quat_wxyz[1] = sin(0.5 * tilt);
        /* height at which the axis meets the plane, so that only the cylinder is cut */
        local.position[2] = height;
        tact_pose_mul(&ground, &at, &local);
        struct tact_moments m;
        assert_int_equal(tact_moments_pair(&plane, &ground, &capsule, &at, NULL, NULL, &m), 1);
        assert_near(m.volume, ball + PI * r * r * (l + height), 1e-14, "volume");
        assert_near(tact_v3_norm(m.gradient), PI * r * r / cos(tilt), 1e-14, "area");
    }
    for (int i = 0; i < 100; i++) { /* the overlap of a standing capsule is a cap of a ball */
        double depth = r * pow(10.0, uniform(-4.0, 0.0));
        struct tact_pose at = tact_pose_identity(), ground = at;
        at.position[2] = l + r - depth;
        struct tact_moments m;
        assert_int_equal(tact_moments_pair(&capsule, &at, &plane, &ground, NULL, NULL, &m), 1);
        double v = PI * depth * depth * (r - depth / 3.0), a = PI * depth * (2.0 * r - depth);
        assert_near(m.volume, v, 1e-14 * (1.0 + pow(r / depth, 1.5)) * v, "cap");
        assert_near(m.gradient[2], -a, 1e-13 * (r / depth) * a, "its area");
    }
}

/* Makes the hull of random points around the origin. */
static struct tact_shape make_hull(int points, double reach)
{
    double p[3 * 64];
    struct tact_shape s = {.kind = TACT_SHAPE_CONVEX};
    for (int i = 0; i < 3 * points; i++) {
        p[i] = uniform(-reach, reach);
    }
    assert_int_equal(tact_mesh_hull(p, (size_t)points, &s.owned, NULL), 0);
    s.mesh = s.owned;
    return s;
}

static double relative_moments_difference(const struct tact_moments *a,
                                          const struct tact_moments *b, double size,
                                          const double moment_point[3])
{
    double x[16] = {0.0}, y[16] = {0.0}, worst = 0.0;
    add_moments_about_point(x, a, moment_point);
    add_moments_about_point(y, b, moment_point);
    for (int k = 0; k < 16; k++) {
        worst = fmax(worst, fabs(x[k] - y[k]) / pow(size, length_exponent_of_moment(k)));
    }
    return worst;
}

/* A capsule of length 0 has the moments of a ball, which the library computes by other closed
 * forms. */
static void short_capsules_equal_balls(void **unused)
{
    (void)unused;
    double worst = 0.0;
    int touching = 0;
    for (int i = 0; i < campaign_trial_count(2000, 20000); i++) {
        struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.4}};
        struct tact_shape capsule = capsule_without_mesh(0.4, 0.0);
        struct tact_shape other = make_hull(4 + i % 60, 1.0);
        struct tact_pose pa = random_pose(1.2), pb = random_pose(0.1);
        struct tact_moments m, n;
        int rc = tact_moments_pair(&capsule, &pa, &other, &pb, NULL, NULL, &m);
        int rb = tact_moments_pair(&ball, &pa, &other, &pb, NULL, NULL, &n);
        assert_true(rc == rb || fmax(m.volume, n.volume) < 1e-15);
        touching += rc;
        worst = fmax(worst, relative_moments_difference(&m, &n, 0.4, pa.position));
        tact_shape_release(&other);
    }
    print_message("capsules without length and balls, %d touching: %.1e\n", touching, worst);
    assert_true(touching > 100 && worst < 1e-11);
}

/* The moments of triangulated capsules converge to the capsule's: with four times as many
 * triangles the error is a quarter. The other mesh is not convex where the data is available. */
static void triangulations_converge_to_capsule(void **unused)
{
    (void)unused;
    struct tact_mesh *spot_cow_mesh = load_test_data_mesh("spot.obj", 1.0), *fine[3];
    struct tact_shape other =
        spot_cow_mesh ? (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = spot_cow_mesh}
                      : make_hull(40, 0.7);
    struct tact_shape capsule = capsule_without_mesh(0.12, 0.2);
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(4000000);
    double worst[3] = {0.0};
    int touching = 0;
    for (int k = 0; k < 3; k++) {
        assert_int_equal(tact_mesh_capsule(0.12, 0.2, (size_t)(1500 << 2 * k), &fine[k]), 0);
    }
    for (int i = 0; i < campaign_trial_count(30, 300); i++) {
        struct tact_pose pa = random_pose(0.5), pb = tact_pose_identity();
        struct tact_moments m, n, swapped;
        touching += tact_moments_pair(&capsule, &pa, &other, &pb, NULL, scratch, &m);
        tact_moments_pair(&other, &pb, &capsule, &pa, NULL, scratch, &swapped);
        tact_v3_scale(swapped.gradient, swapped.gradient, -1.0);
        tact_v3_scale(swapped.gradient + 3, swapped.gradient + 3, -1.0);
        assert_true(relative_moments_difference(&m, &swapped, 1.0, pa.position) == 0.0);
        for (int k = 0; k < 3; k++) {
            struct tact_shape mesh = {.kind = TACT_SHAPE_CONVEX, .mesh = fine[k]};
            assert_true(tact_moments_pair(&mesh, &pa, &other, &pb, NULL, scratch, &n) >= 0);
            worst[k] = fmax(worst[k], relative_moments_difference(&m, &n, 0.2, pa.position));
        }
    }
    print_message("capsules of 1500, 6000, 24000 triangles with %s, %d touching: %.1e %.1e %.1e\n",
                  spot_cow_mesh ? "Spot" : "a hull", touching, worst[0], worst[1], worst[2]);
    assert_true(touching > 3 && worst[1] < 0.6 * worst[0] && worst[2] < 0.6 * worst[1]);
    assert_true(worst[2] < 1e-3);
    for (int k = 0; k < 3; k++) {
        tact_mesh_free(fine[k]);
    }
    tact_shape_release(&other);
    tact_mesh_free(spot_cow_mesh);
    tact_moments_scratch_destroy(scratch);
}

/* The gradient is the derivative of the volume, at every scale. */
static void capsule_gradient_is_the_derivative_of_its_volume(void **unused)
{
    (void)unused;
    double worst = 0.0;
    int touching = 0;
    for (int i = 0; i < campaign_trial_count(600, 6000); i++) {
        double scale = pow(10.0, uniform(-3.0, 1.0));
        struct tact_shape capsule = capsule_without_mesh(0.3 * scale, 0.5 * scale);
        struct tact_shape other = make_hull(8 + i % 40, scale);
        struct tact_pose pa = random_pose(scale), pb = tact_pose_identity();
        struct tact_moments m, up, down;
        if (tact_moments_pair(&capsule, &pa, &other, &pb, NULL, NULL, &m) == 1) {
            touching++;
            for (int k = 0; k < 6; k++) {
                double step = 1e-5 * (k < 3 ? scale : 1.0);
                struct tact_pose pose_moved_forward =
                    pose_displaced_along_coordinate(&pa, m.centroid, k, step);
                struct tact_pose pose_moved_back =
                    pose_displaced_along_coordinate(&pa, m.centroid, k, -step);
                tact_moments_pair(&capsule, &pose_moved_forward, &other, &pb, NULL, NULL, &up);
                tact_moments_pair(&capsule, &pose_moved_back, &other, &pb, NULL, NULL, &down);
                double slope = (up.volume - down.volume) / (2.0 * step);
                worst = fmax(worst, fabs(slope - m.gradient[k]) / pow(scale, k < 3 ? 2 : 3));
            }
        }
        tact_shape_release(&other);
    }
    print_message("gradient and differences of V, %d overlaps: %.1e\n", touching, worst);
    assert_true(touching > 50 && worst < 3e-7);
}

/* Change of V that the mean of the gradients before and after predicts for a translation by dx and
 * a rotation by dw about c. */
static double predicted_volume_change(const struct tact_moments *a, const struct tact_moments *b,
                                      const double dx[3], const double dw[3],
                                      const double origin[3])
{
    double sum = 0.0;
    const struct tact_moments *at[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        double arm[3], shift[3];
        tact_v3_sub(arm, at[i]->centroid, origin);
        tact_v3_cross(shift, dw, arm);
        tact_v3_add(shift, shift, dx);
        sum +=
            0.5 * tact_v3_dot(at[i]->gradient, shift) + 0.5 * tact_v3_dot(at[i]->gradient + 3, dw);
    }
    return sum;
}

/* No jumps while a capsule turns and slides over a face of a plate, its diagonal and an edge until
 * it no longer touches: V follows its gradient, and C changes continuously. */
static void capsule_moments_are_smooth_along_a_path(void **unused)
{
    (void)unused;
    struct tact_shape capsule = capsule_without_mesh(0.008, 0.012);
    struct tact_shape plate = make_solid_shape(TACT_SHAPE_BOX, 0.15, 0.001, 0.015);
    struct tact_pose pa = tact_pose_identity(), pb = pa;
    struct tact_moments last = {0}, m;
    double worst_volume_error = 0.0, worst_s = 0.0, most = 0.0, most_s = 0.0, tilt[4];
    const int steps = campaign_trial_count(60000, 600000);
    const double step = 0.03 / steps, dw[3] = {0.0, 60.0 * step, 0.0}, dx[3] = {0.0, 0.0, step};
    tact_quat_from_rotvec(tilt, (double[3]){0.1, 0.0, 0.0});
    int touching = 0;
    for (int i = 0; i <= steps; i++) {
        double t = (double)i * step, q[4];
        tact_quat_from_rotvec(q, (double[3]){0.0, 60.0 * t, 0.0});
        tact_quat_mul(pa.quat_wxyz, q, tilt);
        tact_v3_set(pa.position, 0.145, 0.001 + 0.0085, t);
        int rc = tact_moments_pair(&capsule, &pa, &plate, &pb, NULL, NULL, &m);
        if (i && rc == 1 && last.volume > 0.0) {
            double change = m.volume - last.volume;
            worst_volume_error =
                fmax(worst_volume_error,
                     fabs(change - predicted_volume_change(&last, &m, dx, dw, pa.position)));
            worst_s = fmax(worst_s, fabs(m.second[0] - last.second[0]));
            most = fmax(most, m.volume);
            most_s = fmax(most_s, m.second[0]);
            touching++;
        }
        last = m;
    }
    print_message("along a path, %d of %d touching: V leaves its gradient by %.1e of V, C steps by "
                  "%.1e of C\n",
                  touching, steps, worst_volume_error / most, worst_s / most_s);
    assert_true(touching > steps / 3);
    assert_true(worst_volume_error < 1e-8 * most * 60000 / steps && worst_s < 1e-3 * most_s);
    tact_shape_release(&plate);
}

/* A capsule with both ends or one end inside a mesh, and a capsule beside the mesh. */
static void moments_of_a_capsule_inside_or_beside_a_mesh_are_exact(void **unused)
{
    (void)unused;
    struct tact_shape big = {.kind = TACT_SHAPE_MESH};
    assert_int_equal(tact_mesh_capsule(1.0, 0.0, 5000, &big.owned), 0);
    big.mesh = big.owned;
    struct tact_shape capsule = capsule_without_mesh(0.1, 0.2);
    int trial_counts_by_overlap[3] = {0};
    for (int i = 0; i < campaign_trial_count(1000, 10000); i++) {
        struct tact_pose pa = random_pose(1.2), pb = tact_pose_identity();
        double up[3] = {0.0, 0.0, 0.2}, end[2][3], exact[16];
        struct tact_moments m;
        tact_pose_point(end[0], &pa, up);
        tact_v3_scale(up, up, -1.0);
        tact_pose_point(end[1], &pa, up);
        double most = fmax(tact_v3_norm(end[0]), tact_v3_norm(end[1]));
        double along[3], nearest;
        tact_v3_sub(along, end[1], end[0]);
        double s = -tact_v3_dot(end[0], along) / tact_v3_dot(along, along);
        tact_v3_copy(up, end[0]);
        tact_v3_axpy(up, fmin(fmax(s, 0.0), 1.0), along);
        nearest = tact_v3_norm(up);
        int rc = tact_moments_pair(&capsule, &pa, &big, &pb, NULL, NULL, &m);
        if (most < 0.89) {
            add_whole_capsule_moments(&capsule, &pa, exact);
            assert_int_equal(rc, 1);
            assert_near(m.volume, exact[0], 1e-14 * exact[0], "whole volume");
            assert_near(m.second[3], exact[7], 1e-14 * exact[0], "whole second moment");
            assert_true(tact_v3_norm(m.gradient) == 0.0);
            trial_counts_by_overlap[0]++;
        } else if (nearest > 1.11) {
            assert_int_equal(rc, 0);
            assert_true(m.volume == 0.0);
            trial_counts_by_overlap[1]++;
        } else if (nearest < 1.09) {
            assert_int_equal(rc, 1);
            trial_counts_by_overlap[2]++;
        }
    }
    assert_true(trial_counts_by_overlap[0] > 5 && trial_counts_by_overlap[1] > 5 &&
                trial_counts_by_overlap[2] > 5);
    tact_shape_release(&big);
}

/* Two capsules, the second as its triangulation: the error against the closed form of two balls is
 * that of the triangulation. */
static void capsule_pairs_differ_from_closed_form_by_triangulation_only(void **unused)
{
    (void)unused;
    struct tact_shape capsule_without_length = make_solid_shape(TACT_SHAPE_CAPSULE, 0.01, 0.0, 0.0);
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.01}};
    double worst = 0.0;
    for (int i = 0; i < 200; i++) {
        struct tact_pose pa = random_pose(0.0), pb = random_pose(0.0);
        double depth = 1e-3, apart[3];
        random_unit_quaternion(pb.quat_wxyz);
        tact_quat_rotate(apart, pb.quat_wxyz, (double[3]){0.0, 0.0, 1.0});
        tact_v3_scale(pb.position, apart, 0.02 - depth);
        random_unit_quaternion(pb.quat_wxyz);
        struct tact_moments m, n;
        assert_int_equal(tact_moments_pair(&capsule_without_length, &pa, &capsule_without_length,
                                           &pb, NULL, NULL, &m),
                         1);
        assert_int_equal(tact_moments_pair(&ball, &pa, &ball, &pb, NULL, NULL, &n), 1);
        worst = fmax(worst, fabs(m.volume - n.volume) / n.volume);
    }
    print_message("two capsules without length and the lens of two balls: V within %.1e\n", worst);
    assert_true(worst < 0.03);
    tact_shape_release(&capsule_without_length);
    /* Two capsules overlap exactly where the distance of their axes is less than the sum of the
     * radii. */
    struct tact_shape a = make_solid_shape(TACT_SHAPE_CAPSULE, 0.2, 0.5, 0.0);
    struct tact_shape b = make_solid_shape(TACT_SHAPE_CAPSULE, 0.3, 0.7, 0.0);
    for (int i = 0; i < campaign_trial_count(2000, 20000); i++) {
        struct tact_pose pa = random_pose(0.8), pb = random_pose(0.8);
        double nearest = INFINITY;
        for (int j = 0; j <= 200; j++) {
            double p[3] = {0.0, 0.0, -0.5 + 0.005 * j}, w[3], local[3], r[9];
            tact_pose_point(w, &pa, p);
            tact_quat_to_m3(r, pb.quat_wxyz);
            tact_v3_sub(w, w, pb.position);
            tact_m3_tmul_v3(local, r, w);
            local[2] -= fmin(fmax(local[2], -0.7), 0.7);
            nearest = fmin(nearest, tact_v3_norm(local));
        }
        struct tact_moments m;
        int rc = tact_moments_pair(&a, &pa, &b, &pb, NULL, NULL, &m);
        if (nearest < 0.497) {
            assert_int_equal(rc, 1);
        } else if (nearest > 0.51) {
            assert_int_equal(rc, 0);
        }
    }
    tact_shape_release(&a);
    tact_shape_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_with_eight_octant_boxes_add_up_to_the_capsule),
        cmocka_unit_test(moments_of_a_capsule_lying_on_a_plane_are_exact),
        cmocka_unit_test(moments_of_a_capsule_cut_across_its_axis_are_exact),
        cmocka_unit_test(short_capsules_equal_balls),
        cmocka_unit_test(triangulations_converge_to_capsule),
        cmocka_unit_test(capsule_gradient_is_the_derivative_of_its_volume),
        cmocka_unit_test(capsule_moments_are_smooth_along_a_path),
        cmocka_unit_test(moments_of_a_capsule_inside_or_beside_a_mesh_are_exact),
        cmocka_unit_test(capsule_pairs_differ_from_closed_form_by_triangulation_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
