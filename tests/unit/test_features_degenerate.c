/* Distances by features where rounding decides: faces that are parallel within 1e-7 rad, and hulls
 * of needles, wedges, slivers and vertices that coincide within rounding. */
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

/* A cube of 0.1 m above a box whose face is larger, equal to it or shifted by half or a whole edge,
 * tilted by 1e-14 to 1e-6 rad. The square of their distance changes by less than rounding from one
 * vertex of the difference to the next. Over the larger face the distance is the height of the
 * lowest corner. */
static void distance_of_nearly_parallel_boxes_is_exact(void **state)
{
    (void)state;
    static const double gaps[5] = {0.1, 1e-2, 1e-4, 1e-6, 1e-9}, offsets[3] = {0.0, 0.05, 0.1};
    struct solid cube = make_box_solid(0.1, 0.1, 0.1), wide = make_box_solid(0.5, 0.5, 0.1),
                 equal = make_box_solid(0.1, 0.1, 0.1);
    double duality_gap = 0.0, off = 0.0;
    const int trial_count = campaign_trial_count(20000, 1000000);
    for (int i = 0; i < trial_count; i++) {
        const struct solid *box_below_cube = i & 1 ? &equal : &wide;
        const double tilt = pow(10.0, uniform(-14.0, -6.0)), offset = offsets[i / 2 % 3];
        double turn[9], low;
        tact_v3_set(cube.pose.position, offset, i & 8 ? offset : 0.0, 0.1 + gaps[i % 5]);
        rotate_solid(&cube, tilt * uniform(-1.0, 1.0), tilt * uniform(-1.0, 1.0),
                     i & 16 ? uniform(-3.0, 3.0) : 0.0);
        const struct tact_separation s = find_separation_of_solids(&cube, box_below_cube, NULL);
        const double size = 0.1 + tact_v3_norm(cube.pose.position);
        tact_quat_to_m3(turn, cube.pose.quat_wxyz);
        low = cube.pose.position[2] - 0.05 * (fabs(turn[6]) + fabs(turn[7]) + fabs(turn[8]) + 1.0);
        duality_gap = fmax(duality_gap, fabs(s.distance - s.bound) / size);
        off = i & 1 ? off : fmax(off, fabs(s.distance - low) / size);
        assert_true(s.is_exact);
    }
    printf("nearly parallel boxes: duality gap at most %.1e of size, distance off by %.1e\n",
           duality_gap, off);
    assert_true(duality_gap < 5e-15 && off < 5e-15);
    free_convex_solid(&cube);
    free_convex_solid(&wide);
    free_convex_solid(&equal);
}

/* Boxes of which the point nearest to the origin is on an edge of the triangle of A - B around it:
 * by the order of the triangle's points rounding gives the third one a part or none. Found among
 * 1,000,000 random ones. */
static void distance_with_nearest_point_on_edge_is_exact(void **state)
{
    (void)state;
    static const struct {
        double x, y, offset[2], gap;
    } trial[4] = {
        {-0x1.9a87f03d952ecp-39, 0x1.9aa7f1aa7b0bep-39, {0.0, 0.0}, 1e-9},
        {0x1.a679e9dfa022ep-43, -0x1.a5aa826e22a97p-43, {0.05, 0.05}, 1e-6},
        {0x1.4a6fc6e129e59p-44, -0x1.4f1437b77d709p-44, {0.05, 0.05}, 1e-4},
        {-0x1.df24a340c95dcp-45, 0x1.da0cbff0c3d58p-45, {0.0, 0.0}, 1e-9},
    };
    struct solid cube = make_box_solid(0.1, 0.1, 0.1), wide = make_box_solid(0.5, 0.5, 0.1);
    for (int i = 0; i < 4; i++) {
        double turn[9];
        tact_v3_set(cube.pose.position, trial[i].offset[0], trial[i].offset[1], 0.1 + trial[i].gap);
        rotate_solid(&cube, trial[i].x, trial[i].y, 0.0);
        tact_quat_to_m3(turn, cube.pose.quat_wxyz);
        const struct tact_separation s = find_separation_of_solids(&cube, &wide, NULL);
        const double low =
            cube.pose.position[2] - 0.05 * (fabs(turn[6]) + fabs(turn[7]) + fabs(turn[8]) + 1.0);
        assert_true(fabs(s.distance - low) < 2e-16 && fabs(s.bound - low) < 2e-16);
    }
    free_convex_solid(&cube);
    free_convex_solid(&wide);
}

enum hull_kind { NEEDLE, WEDGE, SLIVER, DUPLICATES, GRID, PRISM, HULL_KINDS };
static const char *const hull_names[HULL_KINDS] = {"needle",     "wedge", "sliver",
                                                   "duplicates", "grid",  "prism"};

/* Points of a hull that is 1e-6 to 1e-2 as thick as it is long, or has vertices within 1e-16 to
 * 1e-8 of each other, or many in one plane. Returns how many. */
static int make_degenerate_points(enum hull_kind kind, double (*point)[3])
{
    static const double wedge_vertices[6][3] = {{-1.0, 0.0, -1.0}, {1.0, 0.0, -1.0},
                                                {1.0, 0.0, 1.0},   {-1.0, 0.0, 1.0},
                                                {-1.0, 1.0, 1.0},  {1.0, 1.0, 1.0}};
    static const int counts[HULL_KINDS] = {8, 6, 8, 48, 125, 48};
    const double hull_thickness_over_size = pow(10.0, uniform(-6.0, -2.0));
    for (int i = 0; i < counts[kind]; i++) {
        double *p = point[i];
        const double angle = 2.0 * M_PI * (i / 2) / 24.0, sign = i & 1 ? 1.0 : -1.0;
        switch (kind) {
        case NEEDLE:
            tact_v3_set(p, sign, (i & 2 ? 1.0 : -1.0) * hull_thickness_over_size,
                        (i & 4 ? 1.0 : -1.0) * hull_thickness_over_size);
            break;
        case WEDGE:
            tact_v3_set(p, wedge_vertices[i][0], hull_thickness_over_size * wedge_vertices[i][1],
                        wedge_vertices[i][2]);
            break;
        case DUPLICATES:
            for (int k = 0; k < 3; k++) {
                p[k] = i < 12 ? uniform(-1.0, 1.0)
                              : point[i % 12][k] +
                                    pow(10.0, uniform(-16.0, -8.0)) * uniform(-1.0, 1.0);
            }
            break;
        case GRID:
            tact_v3_set(p, i % 5 / 2.0 - 1.0, i / 5 % 5 / 2.0 - 1.0, i / 25 / 2.0 - 1.0);
            break;
        case PRISM:
            tact_v3_set(p, cos(angle), sin(angle), sign * 0.3);
            break;
        default:
            tact_v3_set(p, uniform(-1.0, 1.0), uniform(-1.0, 1.0),
                        hull_thickness_over_size * uniform(-1.0, 1.0));
        }
    }
    return counts[kind];
}

/* Makes a hull of the given kind. Points of which qhull makes no surface, as where some coincide,
 * are drawn anew. */
static struct solid make_degenerate_hull(enum hull_kind kind, double size)
{
    static double point[125][3];
    struct tact_error err = {.line = 0};
    struct solid s = {.shape = {.kind = TACT_SHAPE_CONVEX}};
    do {
        const int count = make_degenerate_points(kind, point);
        for (int i = 0; i < count; i++) {
            tact_v3_scale(point[i], point[i], size);
        }
        tact_mesh_hull(point[0], (size_t)count, &s.mesh, &err);
    } while (!s.mesh);
    s.shape.mesh = s.mesh;
    create_solid_core(&s);
    return s;
}

/* Supports of hulls with vertices that nearly coincide, from any start, are those of a comparison
 * of all vertices. The neighbours of such a vertex may all be as far along a direction but for
 * rounding, though others are farther. */
static void support_of_coincident_vertices_is_the_farthest(void **state)
{
    (void)state;
    double worst = 0.0;
    const int trial_count = campaign_trial_count(1000, 20000);
    for (int i = 0; i < trial_count; i++) {
        struct solid s = make_degenerate_hull(DUPLICATES, 1.0);
        for (int k = 0; k < 200; k++) {
            double turn[9], found[3], most = -INFINITY;
            const double *d = turn;
            random_unit_quaternion(s.pose.quat_wxyz);
            tact_quat_to_m3(turn, s.pose.quat_wxyz);
            const int64_t from = (int64_t)uniform(0.0, (double)s.core->vertices);
            tact_convex_core_vertex_position(
                s.core, tact_convex_core_support_vertex(s.core, d, from), found);
            for (size_t v = 0; v < s.mesh->vertex_count; v++) {
                most = fmax(most, tact_v3_dot(d, s.mesh->vertices + 3 * v));
            }
            worst = fmax(worst, most - tact_v3_dot(d, found));
        }
        free_convex_solid(&s);
    }
    printf("supports of coincident vertices: %.1e short of the farthest\n", worst);
    assert_true(worst < 1e-15);
}

/* Worst deviations of the results of one kind, relative to the size of the pair: from the gap along
 * the normal, of a depth from the least over all faces of A - B, of a search from the last result
 * from one without. */
struct worst_distance_deviations {
    double width, depth, warm;
};

static void check_degenerate_pair(const struct solid *a, const struct solid *b, double *kept,
                                  struct worst_distance_deviations *worst)
{
    struct reference_hull own[2] = {make_reference_hull(a->mesh), make_reference_hull(b->mesh)},
                          placed[2] = {make_reference_hull(a->mesh), make_reference_hull(b->mesh)};
    const struct tact_separation s = find_separation_of_solids(a, b, NULL),
                                 warm = find_separation_of_solids(a, b, kept);
    const double size = a->core->size + b->core->size;
    place_reference_hull(&own[0], &a->pose, a->pose.position, &placed[0]);
    place_reference_hull(&own[1], &b->pose, a->pose.position, &placed[1]);
    const double width = gap_of_hulls_along_normal(&placed[0], &placed[1], s.normal);
    worst->width = fmax(worst->width, fabs(width - s.distance) / size);
    if (s.distance < 0.0) {
        const double least = greatest_gap_of_hulls(&placed[0], &placed[1]);
        worst->depth = fmax(worst->depth, (least - s.distance) / size);
    }
    worst->warm = fmax(worst->warm, fabs(warm.distance - s.distance) / size);
    assert_true(s.is_exact && warm.is_exact);
    for (int i = 0; i < 2; i++) {
        free_reference_hull(&own[i]);
        free_reference_hull(&placed[i]);
    }
}

/* Places solid B at random, with its axes parallel to those of A, or moved from there to within
 * rounding of touching A. */
static void place_degenerate_pair(const struct solid *a, struct solid *b, double size, int i)
{
    static const double apart[3] = {0.0, 1e-12, -1e-12};
    b->pose = random_pose(size);
    if (i % 3 == 0) {
        const double way = 0.5 * size;
        b->pose.quat_wxyz[0] = 1.0;
        memset(b->pose.quat_wxyz + 1, 0, 3 * sizeof(double));
        for (int k = 0; k < 3; k++) {
            b->pose.position[k] = way * round(b->pose.position[k] / way);
        }
    }
    if (i & 1) {
        const struct tact_separation s = find_separation_of_solids(a, b, NULL);
        tact_v3_axpy(b->pose.position, s.distance + size * apart[i / 2 % 3], s.normal);
    }
}

/* A wedge of 2 mm, 6e-8 m thick, that touches a corner of a sliver of 20 m. The face of A - B goes
 * through the origin, where its distance is 0 by any normal: the normal is wrong by 1e-7 in one of
 * the orders of its points. */
static void bound_of_a_sliver_through_the_origin_is_the_gap_along_its_normal(void **state)
{
    (void)state;
    static const double sliver_vertices[8][3] = {
        {0x1.ed500a6990611p+1, 0x1.037574a3f337p+2, 0x1.75b719d7b9ef4p-5},
        {0x1.686d45668a557p+2, -0x1.0310bda62f07ep+2, 0x1.993282f99e2b5p-5},
        {0x1.fc8874511cc0ep+1, -0x1.f9160df9d11bp+0, -0x1.16bdb44f398f6p-5},
        {-0x1.30135995bd68fp+3, -0x1.0f8f157a598ep+3, -0x1.b0f6d473a708cp-8},
        {0x1.357da9e7db921p+3, -0x1.fc7f27830a2f8p+1, -0x1.9843111c532fp-6},
        {0x1.aa5585cfc3e3ap+2, -0x1.6b7670ca35223p+2, -0x1.64ba9d3ceacafp-5},
        {-0x1.16652bfb5a2ap+0, 0x1.2ec531cb37156p+2, 0x1.039f5edaf8924p-5},
        {0x1.d124e9767fdcbp+2, -0x1.8d495959247cep+2, 0x1.ef309b432e429p-7}};
    static const double half = 0x1.0624dd2f1a9fcp-10,
                        hull_thickness_over_size = 0x1.049b76fbfd3e6p-24;
    const double wedge_vertices[6][3] = {{-half, 0.0, -half},
                                         {half, 0.0, -half},
                                         {half, 0.0, half},
                                         {-half, 0.0, half},
                                         {-half, hull_thickness_over_size, half},
                                         {half, hull_thickness_over_size, half}};
    const struct tact_pose pose = {
        .position = {0x1.ed50652aab806p+1, 0x1.03841782ed1ffp+2, 0x1.6cbc02a4e42ep-5},
        .quat_wxyz = {0x1.bf0b53a139c4bp-1, 0x1.399fdf76e4329p-2, 0x1.6a576e5a036f7p-2,
                      0x1.177fff32992c8p-3}};
    struct solid a = make_hull_solid(sliver_vertices[0], 8),
                 b = make_hull_solid(wedge_vertices[0], 6);
    double kept[TACT_NEAREST_STATE] = {0.0};
    struct worst_distance_deviations worst = {0.0, 0.0, 0.0};
    b.pose = pose;
    check_degenerate_pair(&a, &b, kept, &worst);
    printf("a sliver through the origin: off the width by %.1e of size\n", worst.width);
    assert_true(worst.width < 1e-15 && worst.depth < 1e-15 && worst.warm < 1e-15);
    free_convex_solid(&a);
    free_convex_solid(&b);
}

static void distances_of_degenerate_hulls_are_exact(void **state)
{
    (void)state;
    static const double scale[3] = {1e-3, 0.05, 10.0};
    struct worst_distance_deviations worst[HULL_KINDS] = {{0.0, 0.0, 0.0}};
    const int trial_count = campaign_trial_count(96, 10000);
    for (int i = 0; i < trial_count; i++) {
        const enum hull_kind kind = (enum hull_kind)(i % HULL_KINDS);
        const double size = scale[i / HULL_KINDS % 3];
        const double size_of_hull_b = scale[(int)uniform(0.0, 3.0)];
        const enum hull_kind kind_of_hull_b = (enum hull_kind)uniform(0.0, HULL_KINDS);
        struct solid a = make_degenerate_hull(kind, size),
                     b = make_degenerate_hull(kind_of_hull_b, size_of_hull_b);
        double kept[TACT_NEAREST_STATE] = {0.0};
        for (int k = 0; k < 12; k++) {
            if (k & 2) {
                random_unit_quaternion(a.pose.quat_wxyz);
            }
            place_degenerate_pair(&a, &b, fmax(a.core->size, b.core->size), k);
            check_degenerate_pair(&a, &b, kept, &worst[kind]);
        }
        free_convex_solid(&a);
        free_convex_solid(&b);
    }
    for (int k = 0; k < HULL_KINDS; k++) {
        printf("%s: off the width by %.1e of size, deeper than the least by %.1e, from the last "
               "result by %.1e\n",
               hull_names[k], worst[k].width, worst[k].depth, worst[k].warm);
        assert_true(worst[k].width < 4e-12 && worst[k].depth < 4e-12 && worst[k].warm < 4e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_of_nearly_parallel_boxes_is_exact),
        cmocka_unit_test(distance_with_nearest_point_on_edge_is_exact),
        cmocka_unit_test(bound_of_a_sliver_through_the_origin_is_the_gap_along_its_normal),
        cmocka_unit_test(support_of_coincident_vertices_is_the_farthest),
        cmocka_unit_test(distances_of_degenerate_hulls_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
