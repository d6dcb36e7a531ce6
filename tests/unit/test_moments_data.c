/* Moments of non-convex meshes, the project's own and real ones: three directions of projection
 * agree, the gradient is the derivative of the volume by finite differences, and exchanging A and
 * B changes only signs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "support/campaign.h"
#include "support/data.h"
#include "support/moved.h"
#include "support/random.h"

static const char *const names[] = {"knot.obj",
                                    "star.obj",
                                    "bracket.stl",
                                    "spot.obj",
                                    "ycb/003_cracker_box.obj",
                                    "ycb/011_banana.obj",
                                    "ycb/056_tennis_ball.obj",
                                    "allegro/link_0.0.stl",
                                    "allegro/link_12.0_right.stl"};

/* Under a sanitizer only every 12th pair is measured. */
enum { PAIR_STRIDE = IS_SANITIZER_BUILD ? 12 : 1 };

static struct tact_moments_scratch *scratch;
static struct tact_mesh *meshes[sizeof names / sizeof *names];
static int count; /* number of data meshes that were found */

/* Reads a mesh and scales it to a radius of 1, so that any two of them overlap well. */
static struct tact_mesh *read_mesh_of_unit_radius(const char *name)
{
    struct tact_mesh *unscaled_mesh = load_test_data_mesh(name, 1.0), *scaled = NULL;
    if (unscaled_mesh) {
        scaled = load_test_data_mesh(name, 1.0 / unscaled_mesh->radius);
    }
    tact_mesh_free(unscaled_mesh);
    return scaled;
}

/* A pose that turns a mesh at random and puts its centroid near the origin. */
static struct tact_pose random_overlapping_pose(const struct tact_mesh *mesh)
{
    struct tact_pose p;
    double centre[3];
    for (int k = 0; k < 4; k++) {
        p.quat_wxyz[k] = uniform(-1.0, 1.0);
    }
    tact_quat_normalize(p.quat_wxyz);
    tact_quat_rotate(centre, p.quat_wxyz, mesh->centroid);
    for (int k = 0; k < 3; k++) {
        p.position[k] = uniform(-0.4, 0.4) - centre[k];
    }
    return p;
}

static double largest_component_difference(const double *a, const double *b, int n)
{
    double d = 0.0;
    for (int k = 0; k < n; k++) {
        d += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(d);
}

/* Scale of a gradient's rounding error: the area that the gradient is summed over. The gradient
 * itself is nearly zero for a body inside another or pierced by it. */
static double area_of_manifold(const struct tact_moments *m)
{
    return fmax(tact_v3_norm(m->gradient), pow(m->volume, 2.0 / 3.0));
}

static double trace_of_second_moment(const struct tact_moments *m)
{
    return m->second[0] + m->second[1] + m->second[2];
}

static void compute_moments_in_body_order(int i, const struct tact_pose *pi, int j,
                                          const struct tact_pose *pj, const double *direction,
                                          struct tact_moments *out)
{
    struct tact_shape a = {.kind = TACT_SHAPE_MESH, .mesh = meshes[i]};
    struct tact_shape b = {.kind = TACT_SHAPE_MESH, .mesh = meshes[j]};
    assert_true(tact_moments_pair(&a, pi, &b, pj, direction, scratch, out) >= 0);
}

static void moments_do_not_depend_on_the_order_of_bodies(void **unused)
{
    (void)unused;
    double worst_volume_error = 0.0, worst_centroid_error = 0.0, worst_second_moment_error = 0.0,
           worst_gradient_error = 0.0, worst_swap = 0.0;
    int overlapping_pair_count = 0;
    for (int pair = 0; pair < count * count; pair += PAIR_STRIDE) {
        int i = pair % count, j = pair / count;
        struct tact_pose pi = random_overlapping_pose(meshes[i]),
                         pj = random_overlapping_pose(meshes[j]);
        struct tact_moments m[3], swapped;
        for (int k = 0; k < 3; k++) {
            compute_moments_in_body_order(i, &pi, j, &pj, (double[]){k == 0, k == 1, k == 2},
                                          &m[k]);
        }
        if (!(m[0].volume > 1e-3)) {
            continue;
        }
        overlapping_pair_count++;
        compute_moments_in_body_order(j, &pj, i, &pi, NULL, &swapped);
        worst_swap = fmax(worst_swap, fabs(swapped.volume / m[0].volume - 1.0));
        for (int k = 1; k < 3; k++) {
            worst_volume_error = fmax(worst_volume_error, fabs(m[k].volume / m[0].volume - 1.0));
            worst_second_moment_error =
                fmax(worst_second_moment_error,
                     largest_component_difference(m[k].second, m[0].second, 6) /
                         trace_of_second_moment(&m[0]));
            worst_gradient_error =
                fmax(worst_gradient_error,
                     largest_component_difference(m[k].gradient, m[0].gradient, 3) /
                         area_of_manifold(&m[0]));
            for (int x = 0; x < 3; x++) {
                worst_centroid_error =
                    fmax(worst_centroid_error, fabs(m[k].centroid[x] - m[0].centroid[x]));
            }
        }
    }
    print_message("%d overlaps, three directions: V %.1e c %.1e C %.1e g %.1e; swapped %.1e\n",
                  overlapping_pair_count, worst_volume_error, worst_centroid_error,
                  worst_second_moment_error, worst_gradient_error, worst_swap);
    assert_true(overlapping_pair_count > count * count / 2 / PAIR_STRIDE);
    assert_true(worst_volume_error < 1e-12 && worst_centroid_error < 1e-12 &&
                worst_second_moment_error < 1e-12 && worst_gradient_error < 1e-12);
    assert_true(worst_swap < 1e-12);
}

static void overlap_gradient_is_the_derivative_of_volume(void **unused)
{
    (void)unused;
    const double e = 1e-5;
    double worst = 0.0;
    int overlapping_pair_count = 0;
    for (int pair = 0; pair < count * count; pair += 2 * PAIR_STRIDE) {
        int i = pair % count, j = pair / count;
        struct tact_pose pi = random_overlapping_pose(meshes[i]),
                         pj = random_overlapping_pose(meshes[j]);
        struct tact_moments m, ahead, behind;
        compute_moments_in_body_order(i, &pi, j, &pj, NULL, &m);
        if (!(m.volume > 1e-3)) {
            continue;
        }
        overlapping_pair_count++;
        double slope[6];
        for (int k = 0; k < 6; k++) {
            struct tact_pose before = pose_displaced_along_coordinate(&pi, m.centroid, k, -e);
            struct tact_pose displaced_pose =
                pose_displaced_along_coordinate(&pi, m.centroid, k, e);
            compute_moments_in_body_order(i, &before, j, &pj, m.gradient, &behind);
            compute_moments_in_body_order(i, &displaced_pose, j, &pj, m.gradient, &ahead);
            slope[k] = (ahead.volume - behind.volume) / (2.0 * e);
        }
        worst =
            fmax(worst, largest_component_difference(slope, m.gradient, 6) / area_of_manifold(&m));
    }
    print_message("%d overlaps, central differences of V against the gradient: %.1e\n",
                  overlapping_pair_count, worst);
    assert_true(overlapping_pair_count > count / PAIR_STRIDE);
    assert_true(worst < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_do_not_depend_on_the_order_of_bodies),
        cmocka_unit_test(overlap_gradient_is_the_derivative_of_volume),
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tact_mesh *mesh = read_mesh_of_unit_radius(names[i]);
        if (mesh) {
            meshes[count++] = mesh;
        }
    }
    scratch = tact_moments_scratch_create(1u << 22);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    for (int i = 0; i < count; i++) {
        tact_mesh_free(meshes[i]);
    }
    return rc;
}
