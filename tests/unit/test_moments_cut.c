/* A mesh of thousands of triangles cut by the planes of a small convex solid: a ring, such as the
 * wall of a mug, in a finger that reaches over its rim. Expected moments are sums over the ring's
 * convex segments, each clipped in long double (surface_oracle.h).
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/mesh/mesh_internal.h"
#include "contact/moments/moments.h"

#include "surface_oracle.h"
#include "support/random.h"

enum { SEGMENTS = 24, ROWS = 48, SOLIDS = 240, ALL_SOLIDS = 20000 };

static const double RING_INNER_RADIUS = 0.9, OUTER_RADIUS = 1.0, HALF_HEIGHT = 1.2;

/* Index of the ring's vertex on its inner (0) or outer (1) wall, at the angle of a segment and the
 * height of a row. */
static void ring_vertex_position(int side, int segment, int row, double out[3])
{
    const double angle = 6.283185307179586 * (segment % SEGMENTS) / SEGMENTS;
    const double radius = side ? OUTER_RADIUS : RING_INNER_RADIUS;
    tact_v3_set(out, radius * cos(angle), radius * sin(angle),
                HALF_HEIGHT * (2.0 * row / ROWS - 1.0));
}

static void add_square_triangles(uint32_t **next, const uint32_t corner[4])
{
    const int of[6] = {0, 1, 2, 0, 2, 3};
    for (int k = 0; k < 6; k++) {
        *(*next)++ = corner[of[k]];
    }
}

static uint32_t ring_vertex_index(int side, int segment, int row)
{
    return (uint32_t)((side * SEGMENTS + segment % SEGMENTS) * (ROWS + 1) + row);
}

/* Makes the ring's mesh: two walls of rows of squares, and two rims. */
static struct tact_mesh *make_ring_mesh(void)
{
    static double vertices[2 * SEGMENTS * (ROWS + 1)][3];
    static uint32_t triangles[SEGMENTS * (2 * ROWS + 2) * 6];
    uint32_t *next = triangles;
    struct tact_mesh *mesh;
    for (int i = 0; i < 2 * SEGMENTS * (ROWS + 1); i++) {
        const int row = i % (ROWS + 1), wall = i / (ROWS + 1);
        ring_vertex_position(wall / SEGMENTS, wall % SEGMENTS, row, vertices[i]);
    }
    for (int i = 0; i < SEGMENTS; i++) {
        for (int row = 0; row < ROWS; row++) {
            for (int side = 0; side < 2; side++) {
                const int a = side ? i : i + 1, b = side ? i + 1 : i;
                add_square_triangles(&next,
                                     (const uint32_t[4]){ring_vertex_index(side, a, row),
                                                         ring_vertex_index(side, b, row),
                                                         ring_vertex_index(side, b, row + 1),
                                                         ring_vertex_index(side, a, row + 1)});
            }
        }
        for (int top = 0; top < 2; top++) {
            const int a = top ? i : i + 1, b = top ? i + 1 : i, row = top ? ROWS : 0;
            add_square_triangles(&next, (const uint32_t[4]){ring_vertex_index(0, a, row),
                                                            ring_vertex_index(1, a, row),
                                                            ring_vertex_index(1, b, row),
                                                            ring_vertex_index(0, b, row)});
        }
    }
    assert_int_equal(tact_mesh_create(vertices[0], sizeof vertices / sizeof *vertices, triangles,
                                      sizeof triangles / sizeof *triangles / 3, &mesh, NULL),
                     0);
    return mesh;
}

static struct tact_mesh *make_ring_segment_mesh(int segment)
{
    double p[8][3];
    struct tact_mesh *mesh;
    for (int i = 0; i < 8; i++) {
        ring_vertex_position(i & 1, segment + (i >> 1 & 1), i & 4 ? ROWS : 0, p[i]);
    }
    assert_int_equal(tact_mesh_hull(p[0], 8, &mesh, NULL), 0);
    return mesh;
}

/* Makes a box, a prism or a random hull, of up to about 30 faces. */
static struct tact_mesh *make_cut_test_solid(int i)
{
    const double half[3] = {uniform(0.02, 0.5), uniform(0.02, 0.5), uniform(0.02, 0.5)};
    const int corners = 3 + i % 12, points = i % 3 == 1 ? 2 * corners : 6 + i % 10;
    double p[32][3];
    struct tact_mesh *mesh;
    if (i % 3 == 0) {
        assert_int_equal(tact_mesh_box(half, &mesh), 0);
        return mesh;
    }
    for (int k = 0; k < points; k++) {
        const double angle = 6.283185307179586 * (k / 2) / corners;
        if (i % 3 == 1) {
            tact_v3_set(p[k], half[0] * cos(angle), half[0] * sin(angle),
                        k % 2 ? half[2] : -half[2]);
        } else {
            tact_v3_set(p[k], uniform(-half[0], half[0]), uniform(-half[1], half[1]),
                        uniform(-half[2], half[2]));
        }
    }
    assert_int_equal(tact_mesh_hull(p[0], (size_t)points, &mesh, NULL), 0);
    return mesh;
}

/* Sums of moments about a point: integrals of 1, r, r r^T; area vector and torque of the ring's
 * surface. */
struct sums {
    real v, first[3], second[6], gradient[3], torque[3], surface;
};

static const int row_of_second_moment_element[6] = {0, 1, 2, 0, 0, 1},
                 column_of_second_moment_element[6] = {0, 1, 2, 1, 2, 2};

static void add_segment_overlap_moments(const struct oracle_moments *part,
                                        const double moment_point[3], struct sums *sums)
{
    /* the error is that of rounding alone, about a point that may be far away */
    const real volume = part->volume > 16 * LDBL_EPSILON ? part->volume : 0;
    real r[3], turn[3];
    for (int k = 0; k < 3; k++) {
        r[k] = part->centroid[k] - moment_point[k];
    }
    oracle_cross(r, part->gradient, turn);
    sums->v += volume;
    sums->surface += part->surface;
    for (int k = 0; k < 3; k++) {
        sums->first[k] += volume * r[k];
        sums->gradient[k] += part->gradient[k];
        sums->torque[k] += part->torque[k] + turn[k];
    }
    for (int k = 0; k < 6; k++) {
        sums->second[k] += volume > 0
                               ? part->second[k] + volume * r[row_of_second_moment_element[k]] *
                                                       r[column_of_second_moment_element[k]]
                               : 0;
    }
}

static double worst_moment_error_over_bound; /* largest error of a moment, relative to its bound */

static void record_moment_error_over_bound(double error, double bound)
{
    worst_moment_error_over_bound = fmax(worst_moment_error_over_bound, fabs(error) / bound);
}

/* Compares the library's moments with the sums over the segments, both about the library's
 * centroid. */
static void compare_moments_with_segment_sums(const struct tact_moments *m,
                                              const struct sums *expected_moment_sums)
{
    const double area = 0.5 * (double)expected_moment_sums->surface,
                 v = (double)expected_moment_sums->v;
    const double slack =
        1e-10 * v + 768.0 * DBL_EPSILON * area * OUTER_RADIUS + 16.0 * (double)LDBL_EPSILON;
    const double size =
        v > 0.0 ? sqrt((double)(expected_moment_sums->second[0] + expected_moment_sums->second[1] +
                                expected_moment_sums->second[2]) /
                       v)
                : 0.0;
    record_moment_error_over_bound(m->volume - v, slack);
    for (int k = 0; k < 3 && v > 1e3 * slack; k++) {
        record_moment_error_over_bound((double)expected_moment_sums->first[k],
                                       slack * size + 768.0 * DBL_EPSILON * v);
        record_moment_error_over_bound(m->gradient[k] - (double)expected_moment_sums->gradient[k],
                                       1e-10 * area + 1536.0 * DBL_EPSILON * size);
        record_moment_error_over_bound(m->gradient[3 + k] - (double)expected_moment_sums->torque[k],
                                       (1e-10 * area + 1536.0 * DBL_EPSILON * size) * size);
    }
    for (int k = 0; k < 6 && v > 1e3 * slack; k++) {
        record_moment_error_over_bound(m->second[k] - (double)expected_moment_sums->second[k],
                                       slack * size * size);
    }
}

/* The ring, whole and in its convex segments. */
struct ring {
    struct tact_shape whole;
    struct tact_mesh *segment[SEGMENTS];
    struct tact_moments_scratch *scratch;
};

static void make_ring_solid(struct ring *ring)
{
    ring->whole = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = make_ring_mesh()};
    ring->scratch = tact_moments_scratch_create(1 << 16);
    assert_non_null(ring->scratch);
    assert_null(ring->whole.mesh->facets);
    for (int i = 0; i < SEGMENTS; i++) {
        ring->segment[i] = make_ring_segment_mesh(i);
    }
    worst_moment_error_over_bound = 0.0;
}

static void destroy_ring_solid(struct ring *ring)
{
    for (int i = 0; i < SEGMENTS; i++) {
        tact_mesh_free(ring->segment[i]);
    }
    tact_mesh_free((struct tact_mesh *)ring->whole.mesh);
    tact_moments_scratch_destroy(ring->scratch);
}

/* Result of a trial: whether the solid touches the ring, in the library and in the oracle, and
 * whether it was cut out of the ring by its planes. */
struct trial {
    int touches, is_expected_to_touch, is_cut, is_not_convex;
};

/* Puts solid number i at a random pose near the ring and compares the moments of the overlap. */
static struct trial compare_ring_overlap_with_random_solid(const struct ring *ring, int i)
{
    struct tact_mesh *solid = make_cut_test_solid(i);
    const struct tact_shape b = {.kind = TACT_SHAPE_CONVEX, .mesh = solid};
    const double angle = uniform(0.0, 6.283185307179586), radius = uniform(0.7, 1.2);
    struct tact_pose pa = random_pose(0.2), at = random_pose(0.0), pb;
    struct tact_moments m;
    struct sums expected_moment_sums = {.v = 0};
    if (!solid->facets) { /* points that are so near a plane that the hull is not convex */
        tact_mesh_free(solid);
        return (struct trial){.is_not_convex = 1};
    }
    tact_v3_set(at.position, radius * cos(angle), radius * sin(angle),
                uniform(-HALF_HEIGHT, HALF_HEIGHT));
    if (i % 4 == 0) { /* the solid's faces are along the ring's wall, as a finger's */
        tact_v3_set(at.quat_wxyz + 1, 0.0, 0.0, sin(0.5 * angle));
        at.quat_wxyz[0] = cos(0.5 * angle);
    }
    tact_pose_mul(&pb, &pa, &at);
    const uint64_t *counts = tact_moments_counts(ring->scratch);
    const uint64_t cut = counts[TACT_COUNT_CONVEX];
    const int rc = tact_moments_pair(&ring->whole, &pa, &b, &pb, NULL, ring->scratch, &m);
    for (int k = 0; k < SEGMENTS; k++) {
        const struct oracle_moments part =
            oracle_overlap(ring->segment[k], &pa, solid, &pb, 20.0 * DBL_EPSILON * OUTER_RADIUS);
        add_segment_overlap_moments(&part, m.centroid, &expected_moment_sums);
    }
    assert_true(rc == 0 || rc == 1);
    const struct trial trial = {.touches = rc,
                                .is_expected_to_touch = expected_moment_sums.v > 0,
                                .is_cut = counts[TACT_COUNT_CONVEX] > cut};
    if (trial.is_cut) {
        compare_moments_with_segment_sums(&m, &expected_moment_sums);
    }
    tact_mesh_free(solid);
    return trial;
}

/* Small solids in the ring's wall, across its rims, and in the middle of the ring, where there is
 * no overlap. */
static void ring_overlap_equals_the_sum_over_its_segments(void **state)
{
    (void)state;
    const int tested_random_solid_count = campaign_trial_count(SOLIDS, ALL_SOLIDS);
    struct ring ring;
    int touching = 0, not_convex = 0;
    make_ring_solid(&ring);
    const uint64_t *counts = tact_moments_counts(ring.scratch);
    for (int i = 0; i < tested_random_solid_count; i++) {
        const struct trial trial = compare_ring_overlap_with_random_solid(&ring, i);
        touching += trial.touches;
        not_convex += trial.is_not_convex;
    }
    print_message(
        "%d of %d solids touch the ring, %d are not convex by rounding; of %lu it is cut, of "
        "%lu measured by the rim: worst error %.2g of its bound\n",
        touching, tested_random_solid_count, not_convex, (unsigned long)counts[TACT_COUNT_CONVEX],
        (unsigned long)counts[TACT_COUNT_RIM], worst_moment_error_over_bound);
    assert_true(not_convex <= tested_random_solid_count / 2000 &&
                touching > tested_random_solid_count / 3);
    assert_true(counts[TACT_COUNT_CONVEX] > (uint64_t)tested_random_solid_count / 2);
    assert_true(worst_moment_error_over_bound <= 1.0);
    destroy_ring_solid(&ring);
}

/* Solids that cut the ring's wall in several places in one plane, of which a later plane leaves one
 * or none. Where the openings of one place were closed with corners of another, the first moments
 * of the first two were 4 and 1.4 of their bound off, and the others, which do not touch the ring,
 * had an overlap of 3e-21 to 7e-19. */
static void one_of_several_openings_in_a_plane_is_closed_by_itself(void **state)
{
    (void)state;
    static const struct {
        int solid;
        uint64_t state; /* state of the random generator before the trial */
    } cases[] = {
        {8474, UINT64_C(16766423110223342543)}, {4753, UINT64_C(5126213269028452136)},
        {2929, UINT64_C(7113065674242425633)},  {10766, UINT64_C(13921331353463823112)},
        {15106, UINT64_C(4664754043805183230)},
    };
    const uint64_t stream = random_state;
    struct ring ring;
    make_ring_solid(&ring);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        random_state = cases[i].state;
        const struct trial trial = compare_ring_overlap_with_random_solid(&ring, cases[i].solid);
        assert_true(trial.is_cut);
        assert_int_equal(trial.touches, trial.is_expected_to_touch);
        assert_int_equal(trial.touches, i < 2);
    }
    print_message("worst error %.2g of its bound\n", worst_moment_error_over_bound);
    assert_true(worst_moment_error_over_bound <= 1.0);
    random_state = stream;
    destroy_ring_solid(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_overlap_equals_the_sum_over_its_segments),
        cmocka_unit_test(one_of_several_openings_in_a_plane_is_closed_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
