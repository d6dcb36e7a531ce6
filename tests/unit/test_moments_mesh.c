/* Moments of pairs of meshes against an oracle that shares no code with the library: the polyhedra
 * clipped half-space by half-space in long double, their integrals by the divergence theorem. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"

#include "convex_oracle.h"
#include "support/data.h"
#include "support/random.h"

static struct tact_moments_scratch *scratch;

struct moment_errors {
    double v, c, s, g, q;
};

static void record_moment_errors(struct moment_errors *worst, const struct tact_moments *m,
                                 const struct answer *a)
{
    static const double weight[6] = {1, 1, 1, 2, 2, 2};
    double second_moment_trace = (double)(a->s[0] + a->s[1] + a->s[2]),
           size = sqrt(second_moment_trace / (double)a->v);
    double dc = 0, ds = 0, ss = 0, dg = 0, gg = 0, dq = 0;
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        real q = a->q[k] - (a->c[y] * a->g[z] - a->c[z] * a->g[y]);
        dc += pow(m->centroid[k] - (double)a->c[k], 2);
        dg += pow(m->gradient[k] - (double)a->g[k], 2);
        gg += pow((double)a->g[k], 2);
        dq += pow(m->gradient[3 + k] - (double)q, 2);
    }
    for (int k = 0; k < 6; k++) {
        ds += weight[k] * pow(m->second[k] - (double)a->s[k], 2);
        ss += weight[k] * pow((double)a->s[k], 2);
    }
    /* The gradient's rounding error scales with the surface that it is summed over; the gradient
     * may be much smaller than that, and is zero for a contained body. */
    double scale = fmax(sqrt(gg), 1e-3 * size * size);
    worst->v = fmax(worst->v, fabs(m->volume - (double)a->v) / (double)a->v);
    worst->c = fmax(worst->c, sqrt(dc) / size);
    worst->s = fmax(worst->s, sqrt(ds / ss));
    worst->g = fmax(worst->g, sqrt(dg) / scale);
    worst->q = fmax(worst->q, sqrt(dq) / (scale * size));
}

static void print_moment_errors(const char *what, int count, const struct moment_errors *e)
{
    print_message("%s: %d overlaps, worst errors V %.1e c %.1e C %.1e g %.1e torque %.1e\n", what,
                  count, e->v, e->c, e->s, e->g, e->q);
}

static struct tact_shape random_convex_shape(struct tact_mesh **mesh, int points,
                                             const double half[3])
{
    double p[64][3];
    for (int i = 0; i < points; i++) {
        for (int k = 0; k < 3; k++) {
            p[i][k] = uniform(-half[k], half[k]);
        }
    }
    assert_int_equal(tact_mesh_hull(p[0], (size_t)points, mesh, NULL), 0);
    return (struct tact_shape){.kind = TACT_SHAPE_CONVEX, .mesh = *mesh};
}

static void moments_of_random_convex_pairs_are_exact(void **unused)
{
    (void)unused;
    struct moment_errors worst[2] = {{0}};
    int overlapping_pair_count = 0;
    for (int i = 0; i < 600; i++) {
        struct tact_mesh *ma, *mb;
        double flat = i % 3 == 0 ? 0.02 : 1.0;
        struct tact_shape a = random_convex_shape(&ma, 6 + i % 20, (double[]){1.0, 0.8, flat});
        struct tact_shape b = random_convex_shape(&mb, 5 + i % 17, (double[]){1.0, flat, 0.6});
        struct tact_pose pa = random_pose(0.5), pb = random_pose(0.5);
        double d[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        struct tact_moments m;
        int rc = tact_moments_pair(&a, &pa, &b, &pb, i % 2 ? d : NULL, scratch, &m);
        struct answer exact = reference_overlap_by_clipping(ma, &pa, mb, &pb);
        if (exact.v > 1e-7L) {
            assert_int_equal(rc, 1);
            record_moment_errors(&worst[i % 2], &m, &exact);
            overlapping_pair_count++;
        } else if (exact.v <= 0) {
            assert_true(m.volume < 1e-14);
        }
        tact_mesh_free(ma);
        tact_mesh_free(mb);
    }
    print_moment_errors("random convex pairs, no direction given", overlapping_pair_count,
                        &worst[0]);
    print_moment_errors("random convex pairs, random direction", overlapping_pair_count, &worst[1]);
    assert_true(overlapping_pair_count > 200);
    assert_true(worst[0].v < 1e-9 && worst[0].c < 1e-9 && worst[0].s < 1e-9);
    assert_true(worst[0].g < 1e-9 && worst[0].q < 1e-9);
    /* Bounds are wider for some projection directions: across a small overlap large terms cancel.
     */
    assert_true(worst[1].v < 1e-9 && worst[1].c < 1e-7 && worst[1].s < 1e-6);
    assert_true(worst[1].g < 1e-9 && worst[1].q < 1e-7);
}

struct relative_placement_of_boxes {
    const char *name;
    double a[3], b[3], at[3]; /* half sides of both boxes, position of a relative to b */
    int gradient;             /* whether the gradient is defined: no side faces coincide */
};

/* Boxes whose faces and edges coincide, aligned with the world's axes and turned. */
static void moments_of_boxes_with_common_faces_are_exact(void **unused)
{
    (void)unused;
    static const struct relative_placement_of_boxes list[] = {
        {"equal, one above", {1, 1, 1}, {1, 1, 1}, {0, 0, 1.9}, 0},
        {"equal, same place", {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0},
        {"equal, along an edge", {1, 1, 1}, {1, 1, 1}, {0, 1.5, 1.5}, 0},
        {"equal, at a corner", {1, 1, 1}, {1, 1, 1}, {1.7, 1.5, 1.9}, 1},
        {"inside", {0.3, 0.2, 0.1}, {1, 1, 1}, {0.1, 0.2, 0.3}, 1},
        {"around", {3, 2, 4}, {1, 1, 1}, {0.1, 0.2, 0.3}, 1},
        {"inside, one face shared", {0.3, 0.2, 0.1}, {1, 1, 1}, {0, 0, 0.9}, 0},
        {"small on large", {0.5, 0.5, 0.5}, {2, 2, 1}, {0.3, 0.1, 1.4}, 1},
        {"thin sheet", {1, 1, 1}, {3, 3, 1}, {0, 0, 1.99999}, 1},
        {"sheet through box", {3, 3, 0.001}, {1, 1, 1}, {0, 0, 0.2}, 1},
        {"cross", {3, 0.2, 0.2}, {0.2, 3, 0.2}, {0, 0, 0}, 0},
        {"edge shared", {0.5, 0.5, 0.5}, {1, 1, 1}, {0.5, 0.5, 1.4}, 0},
    };
    struct moment_errors worst = {0};
    int overlapping_pair_count = 0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        struct tact_shape a = {.kind = TACT_SHAPE_BOX, .size = {0}}, b = a;
        memcpy(a.size, list[i].a, sizeof a.size);
        memcpy(b.size, list[i].b, sizeof b.size);
        assert_int_equal(tact_shape_tessellate(&a), 0);
        assert_int_equal(tact_shape_tessellate(&b), 0);
        for (int turn = 0; turn < 4; turn++) {
            struct tact_pose pb = turn ? random_pose(1.0) : tact_pose_identity(), pa = pb, at;
            at = tact_pose_identity();
            memcpy(at.position, list[i].at, sizeof at.position);
            if (turn) {
                tact_pose_mul(&pa, &pb, &at);
            } else {
                pa = at;
            }
            for (int axis = -1; axis < 6; axis++) {
                double d[3] = {0};
                d[axis < 0 ? 0 : axis % 3] = axis < 3 ? 1.0 : -1.0;
                struct tact_moments m;
                int rc = tact_moments_pair(&a, &pa, &b, &pb, axis < 0 ? NULL : d, scratch, &m);
                struct answer exact = {0};
                real lo[3], hi[3], size[3];
                exact.v = 1;
                for (int k = 0; k < 3; k++) {
                    hi[k] = fminl(list[i].at[k] + list[i].a[k], list[i].b[k]);
                    lo[k] = fmaxl(list[i].at[k] - list[i].a[k], -list[i].b[k]);
                    size[k] = hi[k] - lo[k];
                    exact.v *= size[k];
                }
                if (rc != 1 || fabsl(m.volume - exact.v) > 1e-9L * exact.v) {
                    fail_msg("%s, axis %d, turn %d: V %.17g, not %.17Lg", list[i].name, axis, turn,
                             m.volume, exact.v);
                }
                if (turn == 0) {
                    for (int k = 0; k < 3; k++) {
                        exact.c[k] = (hi[k] + lo[k]) / 2;
                        exact.s[k] = exact.v * size[k] * size[k] / 12;
                        exact.q[k] = 0;
                    }
                    if (list[i].gradient) {
                        struct answer full =
                            reference_overlap_by_clipping(a.mesh, &pa, b.mesh, &pb);
                        memcpy(exact.g, full.g, sizeof exact.g);
                        memcpy(exact.q, full.q, sizeof exact.q);
                    } else {
                        memcpy(m.gradient, (double[6]){0}, sizeof m.gradient);
                    }
                    record_moment_errors(&worst, &m, &exact);
                }
                overlapping_pair_count++;
            }
        }
        tact_shape_release(&a);
        tact_shape_release(&b);
    }
    print_moment_errors("aligned boxes", overlapping_pair_count, &worst);
    assert_true(worst.c < 1e-9 && worst.s < 1e-8);
    assert_true(worst.g < 1e-9 && worst.q < 1e-9);
}

static void separate_meshes_have_zero_moments(void **unused)
{
    (void)unused;
    struct tact_shape a = {.kind = TACT_SHAPE_BOX, .size = {1, 1, 1}}, b = a;
    assert_int_equal(tact_shape_tessellate(&a), 0);
    assert_int_equal(tact_shape_tessellate(&b), 0);
    for (int i = 0; i < 500; i++) {
        struct tact_pose pa = random_pose(1.0), pb = random_pose(1.0);
        double u[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        tact_v3_normalize(u, u);
        tact_v3_axpy(pa.position, 2.0 * sqrt(3.0) + 2.0 * sqrt(3.0) * uniform(0.0, 1.0), u);
        struct tact_moments m = {.volume = 1.0};
        struct answer exact = reference_overlap_by_clipping(a.mesh, &pa, b.mesh, &pb);
        int rc = tact_moments_pair(&a, &pa, &b, &pb, i % 2 ? u : NULL, scratch, &m);
        if (exact.v <= 0) {
            assert_int_equal(rc, 0);
            assert_true(m.volume == 0.0);
        }
    }
    tact_shape_release(&a);
    tact_shape_release(&b);
}

/* The gradient is the derivative of the volume, and exchanging the arguments reverses its sign. */
static void mesh_volume_gradient_is_the_derivative(void **unused)
{
    (void)unused;
    double worst_linear_volume_gradient_error = 0.0, worst_angular_gradient_error = 0.0,
           worst_swap_error = 0.0;
    for (int i = 0; i < 60; i++) {
        struct tact_mesh *ma, *mb;
        struct tact_shape a = random_convex_shape(&ma, 12, (double[]){1, 1, 1});
        struct tact_shape b = random_convex_shape(&mb, 12, (double[]){1, 1, 1});
        struct tact_pose pa = random_pose(0.4), pb = random_pose(0.4);
        struct tact_moments m, swapped;
        if (tact_moments_pair(&a, &pa, &b, &pb, NULL, scratch, &m) != 1 || m.volume < 1e-3) {
            tact_mesh_free(ma);
            tact_mesh_free(mb);
            continue;
        }
        tact_moments_pair(&b, &pb, &a, &pa, NULL, scratch, &swapped);
        worst_swap_error = fmax(worst_swap_error, fabs(m.volume - swapped.volume) / m.volume);
        for (int k = 0; k < 6; k++) {
            const double e = 1e-6;
            double v[2];
            for (int side = 0; side < 2; side++) {
                struct tact_pose p = pa;
                struct tact_moments moved;
                double step = side ? e : -e;
                if (k < 3) {
                    p.position[k] += step;
                } else {
                    double spin[3] = {0}, q[4], r[3], turned[3];
                    spin[k - 3] = step;
                    tact_quat_from_rotvec(q, spin);
                    tact_v3_sub(r, pa.position, m.centroid);
                    tact_quat_rotate(turned, q, r);
                    tact_v3_add(p.position, m.centroid, turned);
                    tact_quat_mul(p.quat_wxyz, q, pa.quat_wxyz);
                }
                tact_moments_pair(&a, &p, &b, &pb, NULL, scratch, &moved);
                v[side] = moved.volume;
            }
            double error = fabs((v[1] - v[0]) / (2.0 * e) - m.gradient[k]);
            worst_linear_volume_gradient_error =
                k < 3 ? fmax(worst_linear_volume_gradient_error, error)
                      : worst_linear_volume_gradient_error;
            worst_angular_gradient_error =
                k < 3 ? worst_angular_gradient_error : fmax(worst_angular_gradient_error, error);
            worst_swap_error = fmax(worst_swap_error, fabs(m.gradient[k] + swapped.gradient[k]));
        }
        tact_mesh_free(ma);
        tact_mesh_free(mb);
    }
    print_message("finite differences: linear %.1e angular %.1e; swapped arguments %.1e\n",
                  worst_linear_volume_gradient_error, worst_angular_gradient_error,
                  worst_swap_error);
    assert_true(worst_linear_volume_gradient_error < 1e-6 && worst_angular_gradient_error < 1e-6 &&
                worst_swap_error < 1e-11);
}

/* Any direction of projection gives the same moments: a check that needs neither convexity nor a
 * reference. */
static void compare_moments_by_projection_direction(const char *name, double scale)
{
    struct tact_mesh *mesh = load_test_data_mesh(name, scale);
    if (!mesh) {
        skip();
    }
    struct tact_shape a = {.kind = TACT_SHAPE_MESH, .mesh = mesh}, b = a;
    double worst_volume_error = 0.0, worst_g = 0.0, worst_s = 0.0;
    int overlapping_pair_count = 0;
    for (int i = 0; i < 6; i++) {
        struct tact_pose pa = random_pose(0.05), pb = random_pose(0.05);
        struct tact_moments m[3];
        for (int k = 0; k < 3; k++) {
            double d[3] = {k == 0, k == 1, k == 2};
            assert_true(tact_moments_pair(&a, &pa, &b, &pb, d, scratch, &m[k]) >= 0);
        }
        if (!(m[0].volume > 1e-8)) {
            continue;
        }
        overlapping_pair_count++;
        for (int k = 1; k < 3; k++) {
            double g = tact_v3_norm(m[0].gradient);
            worst_volume_error = fmax(worst_volume_error, fabs(m[k].volume / m[0].volume - 1.0));
            for (int j = 0; j < 3; j++) {
                worst_g = fmax(worst_g, fabs(m[k].gradient[j] - m[0].gradient[j]) / g);
                worst_s = fmax(worst_s, fabs(m[k].second[j] / m[0].second[j] - 1.0));
            }
        }
    }
    print_message("%d overlaps of %s with itself, three directions: V %.1e g %.1e C %.1e\n",
                  overlapping_pair_count, name, worst_volume_error, worst_g, worst_s);
    assert_true(overlapping_pair_count > 0);
    assert_true(worst_volume_error < 1e-10 && worst_g < 1e-9 && worst_s < 1e-9);
    tact_mesh_free(mesh);
}

static void projection_directions_agree_on_a_knot(void **unused)
{
    (void)unused;
    compare_moments_by_projection_direction("knot.obj", 0.2);
}

static void projection_directions_agree_on_the_mesh_spot(void **unused)
{
    (void)unused;
    compare_moments_by_projection_direction("spot.obj", 0.1);
}

/* A half-space gives the same moments as a box so large that it acts as one; also with the body
 * wholly inside or outside. */
static void half_space_overlap_equals_that_of_a_large_box(void **unused)
{
    (void)unused;
    struct moment_errors worst = {0};
    int overlapping_pair_count = 0;
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape large_box_shape = {.kind = TACT_SHAPE_BOX, .size = {20, 20, 20}};
    assert_int_equal(tact_shape_tessellate(&large_box_shape), 0);
    for (int i = 0; i < 300; i++) {
        struct tact_mesh *mesh;
        struct tact_shape a = random_convex_shape(&mesh, 6 + i % 20, (double[]){1.0, 0.8, 0.5});
        struct tact_pose pa = random_pose(0.7), pb = random_pose(0.2), box_pose_below_plane = pb,
                         down;
        down = tact_pose_identity();
        down.position[2] = -20.0;
        tact_pose_mul(&box_pose_below_plane, &pb, &down);
        struct tact_moments m, swapped;
        int rc = tact_moments_pair(&a, &pa, &plane, &pb, NULL, scratch, &m);
        int rs = tact_moments_pair(&plane, &pb, &a, &pa, NULL, scratch, &swapped);
        struct answer exact =
            reference_overlap_by_clipping(mesh, &pa, large_box_shape.mesh, &box_pose_below_plane);
        assert_int_equal(rc, rs);
        assert_true(rc == (exact.v > 1e-14L) || fmax(m.volume, (double)exact.v) < 1e-12);
        if (exact.v > 1e-7L) {
            record_moment_errors(&worst, &m, &exact);
            assert_true(m.gradient[1] == -swapped.gradient[1] && m.volume == swapped.volume);
            overlapping_pair_count++;
        }
        tact_mesh_free(mesh);
    }
    print_moment_errors("mesh and half-space", overlapping_pair_count, &worst);
    assert_true(overlapping_pair_count > 100);
    assert_true(worst.v < 3e-11 && worst.c < 3e-11 && worst.s < 1e-10);
    assert_true(worst.g < 1e-10 && worst.q < 2e-10);
    tact_shape_release(&large_box_shape);
}

static void too_small_moments_scratch_is_refused(void **unused)
{
    (void)unused;
    struct tact_moments_scratch *too_small_scratch = tact_moments_scratch_create(3);
    struct tact_shape a = {.kind = TACT_SHAPE_MESH}, plane = {.kind = TACT_SHAPE_HALFSPACE};
    assert_int_equal(tact_mesh_capsule(1.0, 1.0, 20000, &a.owned), 0);
    a.mesh = a.owned;
    struct tact_pose p = tact_pose_identity();
    struct tact_moments m;
    assert_int_equal(tact_moments_pair(&a, &p, &a, &p, NULL, too_small_scratch, &m), -ENOSPC);
    assert_int_equal(tact_moments_pair(&a, &p, &a, &p, NULL, NULL, &m), -ENOSPC);
    assert_int_equal(tact_moments_pair(&plane, &p, &plane, &p, NULL, too_small_scratch, &m),
                     -ENOTSUP);
    tact_shape_release(&a);
    tact_moments_scratch_destroy(too_small_scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_random_convex_pairs_are_exact),
        cmocka_unit_test(moments_of_boxes_with_common_faces_are_exact),
        cmocka_unit_test(separate_meshes_have_zero_moments),
        cmocka_unit_test(mesh_volume_gradient_is_the_derivative),
        cmocka_unit_test(projection_directions_agree_on_a_knot),
        cmocka_unit_test(projection_directions_agree_on_the_mesh_spot),
        cmocka_unit_test(half_space_overlap_equals_that_of_a_large_box),
        cmocka_unit_test(too_small_moments_scratch_is_refused),
    };
    scratch = tact_moments_scratch_create(1000000);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    return rc;
}
