/* Moments of ellipsoids with meshes and half-spaces: with equal half axes those of a ball, boxes
 * that fill space add up to the whole, the gradient is the derivative of the volume, and a
 * triangulation with many triangles comes near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/moved.h"
#include "support/random.h"

static const double PI = 3.14159265358979323846;

static struct tact_shape make_sized_shape(enum tact_shape_kind kind, double x, double y, double z)
{
    struct tact_shape s = {.kind = kind, .size = {x, y, z}};
    assert_int_equal(tact_shape_tessellate(&s), 0);
    return s;
}

/* Makes an ellipsoid that shares the triangles of another; no pair of this test measures these. */
static struct tact_shape make_ellipsoid(const struct tact_shape *other, const double size[3])
{
    return (struct tact_shape){
        .kind = TACT_SHAPE_ELLIPSOID, .size = {size[0], size[1], size[2]}, .mesh = other->mesh};
}

/* Largest difference of the moments of two overlaps whose size and volume are near 1. */
static double largest_moments_difference(const struct tact_moments *a, const struct tact_moments *b)
{
    double worst = fabs(a->volume - b->volume);
    for (int k = 0; k < 6; k++) {
        worst = fmax(worst, fabs(a->second[k] - b->second[k]));
        worst = fmax(worst, fabs(a->gradient[k] - b->gradient[k]));
    }
    for (int k = 0; k < 3; k++) {
        worst = fmax(worst, a->volume * fabs(a->centroid[k] - b->centroid[k]));
    }
    return worst;
}

static void ellipsoid_of_equal_half_axes_is_a_ball(void **state)
{
    (void)state;
    struct tact_shape ball = {.kind = TACT_SHAPE_SPHERE, .size = {0.7, 0, 0}};
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape ball_as_ellipsoid = make_sized_shape(TACT_SHAPE_ELLIPSOID, 0.7, 0.7, 0.7);
    struct tact_shape box = make_sized_shape(TACT_SHAPE_BOX, 0.5, 0.3, 0.8);
    int touching = 0;
    double worst = 0.0;
    for (int i = 0; i < 400; i++) {
        const struct tact_shape *other = i % 2 ? &box : &plane;
        struct tact_pose pa = random_pose(0.8), pb = random_pose(0.4);
        struct tact_moments a, b;
        const int ra = tact_moments_pair(&ball, &pa, other, &pb, NULL, NULL, &a);
        assert_int_equal(tact_moments_pair(&ball_as_ellipsoid, &pa, other, &pb, NULL, NULL, &b),
                         ra);
        worst = fmax(worst, largest_moments_difference(&a, &b));
        touching += ra;
    }
    print_message("as a ball: %d touch, largest difference %.1e\n", touching, worst);
    assert_true(touching > 100 && worst < 1e-12);
    tact_shape_release(&ball_as_ellipsoid);
    tact_shape_release(&box);
}

/* Raw moments about the world's origin, which add up over disjoint parts. */
static void add_raw_moments(double sum[16], const struct tact_moments *m)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double turn[3];
    tact_v3_cross(turn, m->centroid, m->gradient);
    sum[0] += m->volume;
    for (int k = 0; k < 6; k++) {
        sum[4 + k] += m->second[k] + m->volume * m->centroid[row[k]] * m->centroid[column[k]];
    }
    for (int k = 0; k < 3; k++) {
        sum[1 + k] += m->volume * m->centroid[k];
        sum[10 + k] += m->gradient[k];
        sum[13 + k] += m->gradient[3 + k] + turn[k];
    }
}

/* Half axes from round to needles and plates; the corner that eight boxes share is anywhere in the
 * ellipsoid, or so near to its centre that a face or an edge is in it to rounding. */
static void overlaps_with_eight_boxes_add_up_to_the_ellipsoid(void **state)
{
    (void)state;
    struct tact_shape octant_box = make_sized_shape(TACT_SHAPE_BOX, 4.0, 4.0, 4.0);
    double worst[2] = {0.0, 0.0};
    for (int i = 0; i < 300; i++) {
        double s[3], corner[3], sum[16] = {0};
        for (int k = 0; k < 3; k++) {
            s[k] = i % 3 ? uniform(0.3, 1.0) : pow(10.0, uniform(-2.0, 0.0));
            corner[k] =
                i < 200 ? s[k] * uniform(-0.57, 0.57) : (i >> k & 1) * uniform(-1e-16, 1e-16);
        }
        struct tact_shape egg = make_ellipsoid(&octant_box, s);
        struct tact_pose at = tact_pose_identity(), frame = i < 100 ? random_pose(0.0) : at;
        tact_v3_copy(frame.position, corner);
        for (int j = 0; j < 8; j++) {
            struct tact_pose local = tact_pose_identity(), pose;
            struct tact_moments m;
            for (int k = 0; k < 3; k++) {
                local.position[k] = j >> k & 1 ? 4.0 : -4.0;
            }
            tact_pose_mul(&pose, &frame, &local);
            tact_moments_pair(&egg, &at, &octant_box, &pose, NULL, NULL, &m);
            add_raw_moments(sum, &m);
        }
        const double v = 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
        const double exact[16] = {
            v, 0, 0, 0, v / 5 * s[0] * s[0], v / 5 * s[1] * s[1], v / 5 * s[2] * s[2]};
        for (int k = 0; k < 16; k++) {
            worst[i >= 200] = fmax(worst[i >= 200], fabs(sum[k] - exact[k]));
        }
    }
    print_message(
        "eight boxes share it: worst error of any moment %.1e, with the centre on faces %.1e\n",
        worst[0], worst[1]);
    assert_true(worst[0] < 1e-11 && worst[1] < 2e-7);
    tact_shape_release(&octant_box);
}

/* Central difference of V for a translation along axis k of the world (0 to 2), or a rotation about
 * axis k - 3 through the centroid. */
static double overlap_volume_derivative(const struct tact_shape *egg, const struct tact_pose *pa,
                                        const struct tact_shape *other, const struct tact_pose *pb,
                                        const struct tact_moments *m, int k, double e)
{
    struct tact_moments side[2];
    for (int i = 0; i < 2; i++) {
        struct tact_pose p = pose_displaced_along_coordinate(pa, m->centroid, k, i ? e : -e);
        tact_moments_pair(egg, &p, other, pb, NULL, NULL, &side[i]);
    }
    return (side[1].volume - side[0].volume) / (2.0 * e);
}

static void ellipsoid_volume_gradient_is_the_derivative(void **state)
{
    (void)state;
    struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_shape box = make_sized_shape(TACT_SHAPE_BOX, 0.5, 0.3, 0.8);
    int touching = 0;
    double worst = 0.0;
    for (int i = 0; i < 200; i++) {
        const double size[3] = {uniform(0.2, 1.0), uniform(0.2, 1.0), uniform(0.2, 1.0)};
        struct tact_shape egg = make_ellipsoid(&box, size);
        const struct tact_shape *other = i % 2 ? &box : &plane;
        struct tact_pose pa = random_pose(0.8), pb = random_pose(0.4);
        struct tact_moments m, swapped;
        const int rc = tact_moments_pair(&egg, &pa, other, &pb, NULL, NULL, &m);
        assert_int_equal(tact_moments_pair(other, &pb, &egg, &pa, NULL, NULL, &swapped), rc);
        for (int k = 0; k < 6 && rc == 1; k++) {
            double off[2];
            for (int j = 0; j < 2; j++) { /* the smaller error of two steps: where the motion
                                             reaches an edge, the larger step is less accurate */
                const double e = j ? 1e-5 : 1e-6;
                off[j] = fabs(overlap_volume_derivative(&egg, &pa, other, &pb, &m, k, e) -
                              m.gradient[k]);
            }
            worst = fmax(worst, fmin(off[0], off[1]));
            assert_true(m.gradient[k] == -swapped.gradient[k]);
        }
        touching += rc;
    }
    print_message("gradient of %d against finite differences: %.1e\n", touching, worst);
    assert_true(touching > 60 && worst < 1e-7);
    tact_shape_release(&box);
}

/* The ellipsoid's triangles, measured as a mesh, and a plane, measured as the face of a large box,
 * give nearly the same moments. */
static void triangulated_ellipsoid_converges_to_the_exact_moments(void **state)
{
    (void)state;
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(1 << 20);
    struct tact_shape egg = make_sized_shape(TACT_SHAPE_ELLIPSOID, 0.6, 0.9, 0.4);
    struct tact_shape mesh = {.kind = TACT_SHAPE_MESH, .mesh = egg.mesh};
    struct tact_shape box = make_sized_shape(TACT_SHAPE_BOX, 0.5, 0.3, 0.8);
    struct tact_shape slab_box = make_sized_shape(TACT_SHAPE_BOX, 8.0, 8.0, 8.0),
                      plane = {.kind = TACT_SHAPE_HALFSPACE};
    double worst = 0.0, worst_plane = 0.0;
    assert_non_null(scratch);
    for (int i = 0; i < 60; i++) {
        struct tact_pose pa = random_pose(0.6), pb = random_pose(0.3),
                         pose_below_plane = tact_pose_identity(), slab_pose;
        struct tact_moments a, b;
        tact_moments_pair(&egg, &pa, &box, &pb, NULL, scratch, &a);
        tact_moments_pair(&mesh, &pa, &box, &pb, NULL, scratch, &b);
        worst = fmax(worst, largest_moments_difference(&a, &b));
        tact_moments_pair(&egg, &pa, &plane, &pb, NULL, scratch, &a);
        pose_below_plane.position[2] = -8.0;
        tact_pose_mul(&slab_pose, &pb, &pose_below_plane);
        tact_moments_pair(&egg, &pa, &slab_box, &slab_pose, NULL, scratch, &b);
        worst_plane = fmax(worst_plane, largest_moments_difference(&a, &b));
    }
    print_message("against its triangles %.1e, a plane against a box's face %.1e\n", worst,
                  worst_plane);
    assert_true(worst < 2e-2 && worst_plane < 1e-11);
    tact_shape_release(&egg);
    tact_shape_release(&box);
    tact_shape_release(&slab_box);
    tact_moments_scratch_destroy(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ellipsoid_of_equal_half_axes_is_a_ball),
        cmocka_unit_test(overlaps_with_eight_boxes_add_up_to_the_ellipsoid),
        cmocka_unit_test(ellipsoid_volume_gradient_is_the_derivative),
        cmocka_unit_test(triangulated_ellipsoid_converges_to_the_exact_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
