/* Moments from the rim of an overlap compared with signed prism pairs, which need no test of
 * inside and outside: bodies with holes, cavities and several components at every depth. The
 * gradient is compared with finite differences of the volume. Overlaps whose rim cannot be
 * determined are refused and measured by prisms. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/mesh/generate.h"
#include "contact/mesh/mesh_internal.h"
#include "contact/moments/moments_internal.h"
#include "support/campaign.h"
#include "support/grid_cube.h"
#include "support/moved.h"
#include "support/random.h"

enum { MESHES = 5, LARGE = 17000 };

static struct tact_moments_scratch *scratch;
static struct tact_mesh *meshes[MESHES];

static struct tact_mesh *mesh_of_triangle_soup(const struct tact_soup *soup)
{
    struct tact_mesh *mesh;
    struct tact_error err;
    assert_int_equal(tact_mesh_create(soup->vertices, soup->vertex_count, soup->triangles,
                                      soup->triangle_count, &mesh, &err),
                     0);
    return mesh;
}

static struct tact_mesh *generate_mesh(const struct tact_generate *what)
{
    struct tact_soup soup;
    assert_int_equal(tact_soup_generate(what, &soup, NULL), 0);
    struct tact_mesh *mesh = mesh_of_triangle_soup(&soup);
    tact_soup_free(&soup);
    return mesh;
}

/* Adds a blob to a soup, turned inside out where it is a cavity. */
static void add_bumpy_ball_mesh(struct tact_soup *to, double radius, const double at[3],
                                int is_mesh_a_cavity)
{
    const struct tact_generate what = {.kind = TACT_GENERATE_BLOB,
                                       .radius = radius,
                                       .bump = 0.1 * radius,
                                       .count = 5,
                                       .triangles = 3000,
                                       .seed = 7};
    struct tact_soup soup;
    assert_int_equal(tact_soup_generate(&what, &soup, NULL), 0);
    size_t vertices = to->vertex_count + soup.vertex_count;
    size_t triangles = to->triangle_count + soup.triangle_count;
    to->vertices = realloc(to->vertices, 3 * vertices * sizeof *to->vertices);
    to->triangles = realloc(to->triangles, 3 * triangles * sizeof *to->triangles);
    assert_true(to->vertices && to->triangles);
    for (size_t i = 0; i < soup.vertex_count; i++) {
        tact_v3_add(to->vertices + 3 * (to->vertex_count + i), soup.vertices + 3 * i, at);
    }
    for (size_t i = 0; i < 3 * soup.triangle_count; i++) {
        size_t from = is_mesh_a_cavity ? 3 * (i / 3) + 2 - i % 3 : i;
        to->triangles[3 * to->triangle_count + i] =
            soup.triangles[from] + (uint32_t)to->vertex_count;
    }
    to->vertex_count = vertices;
    to->triangle_count = triangles;
    tact_soup_free(&soup);
}

/* A blob with two cavities, a blob within one of them, and another blob outside. */
static struct tact_mesh *make_ball_mesh_with_cavities(void)
{
    struct tact_soup soup = {0};
    add_bumpy_ball_mesh(&soup, 0.7, (double[]){0.0, 0.0, 0.0}, 0);
    add_bumpy_ball_mesh(&soup, 0.3, (double[]){0.3, 0.0, 0.0}, 1);
    add_bumpy_ball_mesh(&soup, 0.2, (double[]){-0.35, 0.1, 0.0}, 1);
    add_bumpy_ball_mesh(&soup, 0.15, (double[]){0.3, 0.05, 0.0}, 0);
    add_bumpy_ball_mesh(&soup, 0.2, (double[]){0.0, 0.0, 1.0}, 0);
    struct tact_mesh *mesh = mesh_of_triangle_soup(&soup);
    tact_soup_free(&soup);
    return mesh;
}

static void make_test_meshes(void)
{
    const struct tact_generate what[MESHES - 1] = {
        {.kind = TACT_GENERATE_KNOT, .radius = 0.9, .tube = 0.2, .triangles = 12000},
        {.kind = TACT_GENERATE_TORUS, .radius = 0.7, .tube = 0.25, .triangles = 8000},
        {.kind = TACT_GENERATE_GEAR, .radius = 0.9, .height = 0.4, .count = 17, .triangles = 5000},
        {.kind = TACT_GENERATE_BLOB,
         .radius = 0.8,
         .bump = 0.1,
         .count = 9,
         .triangles = LARGE,
         .seed = 2},
    };
    for (int i = 0; i < MESHES - 1; i++) {
        meshes[i] = generate_mesh(&what[i]);
    }
    meshes[MESHES - 1] = make_ball_mesh_with_cavities();
}

/* A pair of meshes in their poses, and the direction along which prisms are projected. */
struct pair {
    const struct tact_mesh *a, *b;
    struct tact_pose pa, pb;
    const double *direction;
};

static int moments_of_pair_by_rim(const struct pair *p, struct tact_moments *m)
{
    struct tact_prism_frame frame;
    memset(m, 0, sizeof *m);
    return tact_prism_frame(p->a, &p->pa, p->b, &p->pb, p->direction, &frame)
               ? tact_moments_by_overlap_surface(p->a, &p->pa, p->b, &p->pb, &frame, scratch, m)
               : 0;
}

static int moments_of_pair_by_prisms(const struct pair *p, struct tact_moments *m)
{
    struct tact_prism_frame frame;
    const struct tact_prism_pair *pairs;
    memset(m, 0, sizeof *m);
    if (!tact_prism_frame(p->a, &p->pa, p->b, &p->pb, p->direction, &frame)) {
        return 0;
    }
    long n = tact_prism_pairs(p->a, &p->pa, p->b, &p->pb, &frame, scratch, &pairs);
    assert_true(n >= 0);
    return tact_prism_sum(p->a, &p->pa, p->b, &p->pb, &frame, pairs, (size_t)n, m);
}

static double largest_component_difference(const double *a, const double *b, int n)
{
    double d = 0.0;
    for (int k = 0; k < n; k++) {
        d += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(d);
}

/* Greatest of the relative errors of V, c, C and the gradient. */
static double greatest_relative_moment_error(const struct tact_moments *got,
                                             const struct tact_moments *expected)
{
    double v = expected->volume,
           size = sqrt((expected->second[0] + expected->second[1] + expected->second[2]) / v);
    double area = tact_max(tact_v3_norm(expected->gradient), size * size);
    double worst = fabs(got->volume / v - 1.0);
    worst =
        tact_max(worst, largest_component_difference(got->centroid, expected->centroid, 3) / size);
    worst = tact_max(worst, largest_component_difference(got->second, expected->second, 6) /
                                (v * size * size));
    worst =
        tact_max(worst, largest_component_difference(got->gradient, expected->gradient, 3) / area);
    return tact_max(worst,
                    largest_component_difference(got->gradient + 3, expected->gradient + 3, 3) /
                        (area * size));
}

static void rim_moments_agree_with_the_prism_method(void **unused)
{
    (void)unused;
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double worst = 0.0;
    int overlapping_pair_count = 0, refused = 0;
    for (int i = 0; i < 6 * MESHES * MESHES; i++) {
        struct pair p = {meshes[i % MESHES], meshes[i / MESHES % MESHES], random_pose(0.6),
                         random_pose(0.6), axes[0]};
        struct tact_moments expected, got;
        moments_of_pair_by_prisms(&p, &expected);
        for (int k = 0; k < 3; k++) {
            p.direction = axes[k];
            int rc = moments_of_pair_by_rim(&p, &got);
            refused += rc < 0;
            if (rc >= 0 && !(expected.volume > 1e-5)) {
                assert_true(fabs(got.volume - expected.volume) < 1e-15);
            } else if (rc >= 0) {
                worst = tact_max(worst,
                                 greatest_relative_moment_error(&got, &expected) * expected.volume);
                overlapping_pair_count++;
            }
        }
    }
    print_message("%d overlaps, rim against prisms: %.1e over the volume; %d refused\n",
                  overlapping_pair_count, worst, refused);
    assert_true(overlapping_pair_count > 12 * MESHES * MESHES && refused == 0);
    /* rounding errors at coordinates of about 1: 4e-14 over nine seeds */
    assert_true(worst < 1.2e-13);
}

static void rim_volume_gradient_is_the_derivative(void **unused)
{
    (void)unused;
    const double e = 1e-5;
    double worst = 0.0;
    int overlapping_pair_count = 0;
    for (int i = 0; i < MESHES * MESHES; i++) {
        struct pair p = {meshes[i % MESHES], meshes[i / MESHES], random_pose(0.6), random_pose(0.6),
                         NULL};
        struct tact_moments m, ahead, behind;
        if (moments_of_pair_by_rim(&p, &m) != 1 || !(m.volume > 1e-3)) {
            continue;
        }
        struct pair before = p, after = p;
        double slope[6];
        for (int k = 0; k < 6; k++) {
            before.pa = pose_displaced_along_coordinate(&p.pa, m.centroid, k, -e);
            after.pa = pose_displaced_along_coordinate(&p.pa, m.centroid, k, e);
            assert_true(moments_of_pair_by_rim(&before, &behind) == 1 &&
                        moments_of_pair_by_rim(&after, &ahead) == 1);
            slope[k] = (ahead.volume - behind.volume) / (2.0 * e);
        }
        worst = tact_max(worst, largest_component_difference(slope, m.gradient, 6) /
                                    tact_v3_norm(m.gradient));
        overlapping_pair_count++;
    }
    print_message("%d overlaps, central differences of V against the gradient: %.1e\n",
                  overlapping_pair_count, worst);
    assert_true(overlapping_pair_count > MESHES);
    assert_true(worst < 1e-5);
}

/* A ball in a cavity, in the material, and in the blob within the cavity: no rim at all. */
static void body_within_another_has_no_rim(void **unused)
{
    (void)unused;
    static const struct {
        double at[3];
        int inside;
    } places[4] = {
        {{0.3, 0.255, 0.0}, 0}, {{0.0, -0.5, 0.0}, 1}, {{0.3, 0.05, 0.0}, 1}, {{0.5, 0.5, 1.0}, 0}};
    struct tact_mesh *ball;
    assert_int_equal(tact_mesh_capsule(0.03, 0.0, 500, &ball), 0);
    for (int i = 0; i < 8; i++) {
        struct pair p = {ball, meshes[MESHES - 1], tact_pose_identity(), random_pose(0.3), NULL};
        struct tact_moments m;
        tact_pose_point(p.pa.position, &p.pb, places[i / 2].at);
        if (i % 2) {
            p = (struct pair){p.b, p.a, p.pb, p.pa, NULL};
        }
        int rc = moments_of_pair_by_rim(&p, &m);
        assert_int_equal(rc, places[i / 2].inside);
        if (rc) {
            assert_true(fabs(m.volume / ball->volume - 1.0) < 1e-12);
            assert_true(tact_v3_norm(m.gradient) < 1e-14);
        }
    }
    tact_mesh_free(ball);
}

/* The least |z| of the unit normals of A's triangles in the frame of the prisms: 0 for a triangle
 * parallel to the direction of projection. */
static double least_normal_component_along_projection(const struct pair *p)
{
    struct tact_prism_frame frame;
    double rot[9], shift[3], least = 1.0;
    assert_int_equal(tact_prism_frame(p->a, &p->pa, p->b, &p->pb, p->direction, &frame), 1);
    tact_prism_transform_to_frame(&frame, &p->pa, rot, shift);
    for (size_t t = 0; t < p->a->triangle_count; t++) {
        const uint32_t *corner = p->a->triangles + 3 * t;
        const double *v[3];
        double u[3], w[3], n[3];
        for (int k = 0; k < 3; k++) {
            v[k] = p->a->vertices + 3 * (size_t)corner[k];
        }
        tact_v3_sub(u, v[1], v[0]);
        tact_v3_sub(w, v[2], v[0]);
        tact_v3_cross(n, u, w);
        tact_v3_normalize(n, n);
        least = fmin(least, fabs(tact_v3_dot(rot + 6, n)));
    }
    return least;
}

/* Common faces count by half, as with prisms, which lose digits for faces nearly parallel to the
 * direction of projection. The rim method may refuse such pairs. */
static void common_faces_count_by_half_in_the_rim_method(void **unused)
{
    (void)unused;
    const struct tact_generate gear = {
        .kind = TACT_GENERATE_GEAR, .radius = 0.9, .height = 0.4, .count = 17, .triangles = LARGE};
    struct tact_mesh *generated_mesh = generate_mesh(&gear);
    static const double shifts_between_overlapping_cubes[4][3] = {
        {0, 0, 0}, {0.2, 0.1, 0.0}, {0, 0, 0.1}, {0, 0, -0.3999}};
    double worst = 0.0, worst_ratio = 0.0;
    int refused = 0;
    const int poses = campaign_trial_count(40, 40);
    for (int i = 0; i < poses; i++) {
        struct pair p = {generated_mesh, generated_mesh, random_pose(0.5), tact_pose_identity(),
                         NULL};
        struct tact_moments m, expected;
        p.pb = p.pa;
        tact_pose_point(p.pb.position, &p.pa, shifts_between_overlapping_cubes[i % 4]);
        if (moments_of_pair_by_rim(&p, &m) != 1) {
            refused++;
            continue;
        }
        assert_int_equal(moments_of_pair_by_prisms(&p, &expected), 1);
        double off = greatest_relative_moment_error(&m, &expected);
        worst = tact_max(worst, off);
        worst_ratio = tact_max(worst_ratio,
                               off / (1e-12 + 1e-15 / least_normal_component_along_projection(&p)));
    }
    print_message("common faces, rim against prisms: %.1e, %.1e of its bound; %d of %d refused\n",
                  worst, worst_ratio, refused, poses);
    assert_true(worst_ratio < 1.0);
    assert_true(refused <= 4);
    tact_mesh_free(generated_mesh);
}

/* Exact moments of the overlap of two aligned cubes of edge 2, with B's centre at `apart` from
 * A's, in A's frame; where faces are common the gradient is the mean of its one-sided values. */
static void exact_moments_of_cube_overlap(const double apart[3], struct tact_moments *m)
{
    double size[3];
    memset(m, 0, sizeof *m);
    for (int c = 0; c < 3; c++) {
        size[c] = 2.0 - fabs(apart[c]);
        m->centroid[c] = 0.5 * apart[c];
    }
    m->volume = size[0] * size[1] * size[2];
    for (int c = 0; c < 3; c++) {
        m->second[c] = m->volume * size[c] * size[c] / 12.0;
        m->gradient[c] = m->volume / size[c] * ((apart[c] > 0.0) - (apart[c] < 0.0));
    }
}

/* Common faces ever closer to parallel to the direction of projection: prisms measure them with
 * ever fewer digits. */
static void rim_measures_common_faces_along_projection(void **unused)
{
    (void)unused;
    struct tact_mesh *cube;
    assert_int_equal(tact_mesh_box((double[]){1.0, 1.0, 1.0}, &cube), 0);
    const double apart[3] = {0.0, 0.0, 0.3};
    struct tact_moments got, expected;
    double worst = 0.0;
    exact_moments_of_cube_overlap(apart, &expected);
    for (int i = 0; i < 400; i++) {
        const struct tact_pose identity_pose = tact_pose_identity();
        const double nz = pow(10.0, uniform(-9.0, -1.0)), turn = uniform(0.3, 1.2);
        double direction[3] = {nz, cos(turn), sin(turn)};
        struct pair p = {cube, cube, identity_pose, identity_pose, NULL};
        struct tact_prism_frame frame;
        const struct tact_prism_pair *pairs;
        tact_v3_copy(p.pb.position, apart);
        assert_int_equal(tact_prism_frame(cube, &p.pa, cube, &p.pb, NULL, &frame), 1);
        tact_v3_normalize(frame.axes + 6, direction);
        tact_v3_tangents(frame.axes + 6, frame.axes, frame.axes + 3);
        tact_v3_copy(frame.normal, frame.axes + 6);
        long n = tact_prism_pairs(cube, &p.pa, cube, &p.pb, &frame, scratch, &pairs);
        assert_true(n > 0);
        assert_int_equal(tact_prism_sum(cube, &p.pa, cube, &p.pb, &frame, pairs, (size_t)n, &got),
                         1);
        worst =
            tact_max(worst, largest_component_difference(got.gradient, expected.gradient, 3) * nz);
        assert_true(fabs(got.volume / expected.volume - 1.0) < 1e-14);
    }
    print_message("common faces seen edge-on, gradient: %.1e over z of the normal\n", worst);
    assert_true(worst < 1e-14);
    tact_mesh_free(cube);
}

/* Two prisms whose edge and face touch without an overlap: whatever rim is found, neither counts
 * as inside the other. */
static void touching_bodies_have_no_overlap(void **unused)
{
    (void)unused;
    struct tact_mesh *wedge_mesh;
    double corner[6][3];
    for (int i = 0; i < 6; i++) {
        const double angle = 2.0943951023931953 * (i / 2);
        tact_v3_set(corner[i], 0.25 * cos(angle), 0.25 * sin(angle), i % 2 ? 0.5 : -0.5);
    }
    assert_int_equal(tact_mesh_hull(corner[0], 6, &wedge_mesh, NULL), 0);
    int refused = 0;
    const int poses = campaign_trial_count(4000, 4000);
    for (int i = 0; i < poses; i++) {
        struct pair p = {wedge_mesh, wedge_mesh, random_pose(1.0), tact_pose_identity(), NULL};
        const double at[3] = {i % 2 ? 0.375 : -0.375, 0.0, uniform(-0.8, 0.8)};
        struct tact_moments m;
        p.pb = p.pa;
        tact_pose_point(p.pb.position, &p.pa, at);
        refused += moments_of_pair_by_rim(&p, &m) < 0;
        assert_true(m.volume < 1e-12);
    }
    print_message("edges on faces: %d of %d refused\n", refused, poses);
    tact_mesh_free(wedge_mesh);
}

/* Cubes whose faces are grids of triangles, in contact along each axis, aligned and then shifted
 * by increasing amounts: exact in every case, without a jump between. */
static void rim_moments_of_cubes_with_gridded_faces_are_exact(void **unused)
{
    (void)unused;
    static const int cells_per_cube_edge[] = {13, 29};
    static const double shifts_between_overlapping_cubes[] = {
        0.0, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3};
    for (int g = 0; g < 2; g++) {
        struct tact_mesh *cube = make_grid_cube_mesh(cells_per_cube_edge[g]);
        assert_non_null(cube);
        double worst = 0.0, worst_ratio = 0.0;
        for (int i = 0; i < 6 * (int)(sizeof shifts_between_overlapping_cubes /
                                      sizeof *shifts_between_overlapping_cubes);
             i++) {
            const double shift = shifts_between_overlapping_cubes[i / 6],
                         depth = i % 6 < 3 ? 0.01 : 0.4;
            double apart[3] = {shift, 0.6 * shift, shift};
            struct pair p = {cube, cube, tact_pose_identity(), tact_pose_identity(), NULL};
            struct tact_moments got, expected;
            apart[i % 3] = 2.0 - depth;
            tact_v3_copy(p.pb.position, apart);
            exact_moments_of_cube_overlap(apart, &expected);
            assert_int_equal(moments_of_pair_by_rim(&p, &got), 1);
            /* From this distance on the faces count as common: the gradient is the mean of its
             * one-sided values. */
            const double tie = 1e-11 + 4.0 * depth * (shift > 0.0 && shift < 2e-13);
            worst = tact_max(worst, fabs(got.volume / expected.volume - 1.0));
            worst =
                tact_max(worst, largest_component_difference(got.centroid, expected.centroid, 3));
            worst = tact_max(worst, largest_component_difference(got.second, expected.second, 6) /
                                        expected.volume);
            worst_ratio =
                tact_max(worst_ratio,
                         largest_component_difference(got.gradient, expected.gradient, 3) / tie);
        }
        print_message("grids of %d: V, c, C %.1e, gradient %.1e of its bound\n",
                      cells_per_cube_edge[g], worst, worst_ratio);
        assert_true(worst < 3e-12);
        assert_true(worst_ratio < 1.0);
        tact_mesh_free(cube);
    }
}

/* Two cubes of 307,200 triangles, with useless normals of the last tick: projected along those,
 * more triangles are near than a list can hold. */
static void rim_method_works_with_outdated_normals(void **unused)
{
    (void)unused;
    static const double directions[][3] = {
        {0, 0, -1}, {0, 0, 1}, {1, 0, 0}, {0.6, 0, 0.8}, {0, 0, 0}};
    struct tact_mesh *cube = make_grid_cube_mesh(160);
    assert_non_null(cube);
    const struct tact_shape s = {.kind = TACT_SHAPE_MESH, .mesh = cube};
    const struct tact_pose pa = tact_pose_identity();
    for (int i = 0; i < 2 * (int)(sizeof directions / sizeof *directions); i++) {
        const double apart[3] = {i % 2 ? 2e-3 : 0.0, i % 2 ? 1e-3 : 0.0, 1.98};
        struct tact_pose pb = pa;
        struct tact_moments got, expected;
        tact_v3_copy(pb.position, apart);
        exact_moments_of_cube_overlap(apart, &expected);
        assert_int_equal(tact_moments_pair(&s, &pa, &s, &pb, directions[i / 2], scratch, &got), 1);
        assert_true(fabs(got.volume / expected.volume - 1.0) < 3e-12);
        assert_true(largest_component_difference(got.centroid, expected.centroid, 3) < 3e-12);
        assert_true(largest_component_difference(got.gradient, expected.gradient, 3) < 1e-11);
    }
    tact_mesh_free(cube);
}

/* The corner of a triangle is displaced, in one of every four leaves in turn, so that the surface
 * is open: the pair is refused, or measured as without the damage. */
static void torn_surface_is_refused_or_measured_undamaged(void **unused)
{
    (void)unused;
    struct pair p = {meshes[3], meshes[1], tact_pose_identity(), tact_pose_identity(), NULL};
    struct tact_moments expected, got;
    int refused = 0;
    p.pa.position[0] = 0.5;
    p.pb.position[1] = 0.13;
    assert_int_equal(moments_of_pair_by_rim(&p, &expected), 1);
    for (uint32_t i = 0; i < p.a->wide->leaf_count; i += 4) {
        double *x = &p.a->wide->leaves[i].corner[1][2][0], kept = *x;
        *x += 1e-4;
        int rc = moments_of_pair_by_rim(&p, &got);
        *x = kept;
        refused += rc == -EAGAIN;
        assert_true(rc == -EAGAIN ||
                    (rc == 1 && greatest_relative_moment_error(&got, &expected) < 1e-12));
    }
    print_message("refused with %d of %u leaves damaged\n", refused, p.a->wide->leaf_count / 4);
    assert_true(refused > 50);
}

/* Measurements of other pairs between two queries of one pair change no bit of its moments. */
static void rim_results_do_not_depend_on_earlier_queries(void **unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++) {
        struct pair p = {meshes[i % MESHES], meshes[i / MESHES % MESHES], random_pose(0.5),
                         random_pose(0.5), NULL};
        struct pair other = {meshes[i / 2 % MESHES], meshes[i % MESHES], random_pose(0.5),
                             random_pose(0.5), NULL};
        struct tact_moments m, between, repeated_moments, fresh;
        struct tact_moments_scratch *old = scratch;
        int rc = moments_of_pair_by_rim(&p, &m);
        moments_of_pair_by_rim(&other, &between);
        assert_int_equal(moments_of_pair_by_rim(&p, &repeated_moments), rc);
        scratch = tact_moments_scratch_create(16);
        assert_int_equal(moments_of_pair_by_rim(&p, &fresh), rc);
        tact_moments_scratch_destroy(scratch);
        scratch = old;
        assert_memory_equal(&m, &repeated_moments, sizeof m);
        assert_memory_equal(&m, &fresh, sizeof m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rim_moments_agree_with_the_prism_method),
        cmocka_unit_test(rim_volume_gradient_is_the_derivative),
        cmocka_unit_test(body_within_another_has_no_rim),
        cmocka_unit_test(common_faces_count_by_half_in_the_rim_method),
        cmocka_unit_test(rim_moments_of_cubes_with_gridded_faces_are_exact),
        cmocka_unit_test(rim_measures_common_faces_along_projection),
        cmocka_unit_test(touching_bodies_have_no_overlap),
        cmocka_unit_test(torn_surface_is_refused_or_measured_undamaged),
        cmocka_unit_test(rim_results_do_not_depend_on_earlier_queries),
        cmocka_unit_test(rim_method_works_with_outdated_normals),
    };
    make_test_meshes();
    scratch = tact_moments_scratch_create(1u << 22);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    for (int i = 0; i < MESHES; i++) {
        tact_mesh_free(meshes[i]);
    }
    return rc;
}
