/* Pressure fields: the tree search against all pairs of cells, and forces on paths, which are
 * continuous and do no net work. */
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
#include "contact/pair/field/field_search_internal.h"
#include "support/field_bodies.h"
#include "support/random.h"

#define PI 3.14159265358979323846

/* Contact found without the tree search: tests all pairs of cells, one by one. */
static void sum_contact_over_all_cell_pairs(const struct tact_pressure_field *a,
                                            const struct tact_pose *pa,
                                            const struct tact_pressure_field *b,
                                            const struct tact_pose *pb,
                                            struct contact_surface_sums *sums, size_t *polygons)
{
    struct field_pair pair;
    struct contact_surface_polygon polygon;
    tact_field_set_pair_poses(&pair, a, pa, b, pb);
    memset(sums, 0, sizeof *sums);
    *polygons = 0;
    for (uint32_t i = 0; i < a->cell_count; i++) {
        for (uint32_t j = 0; j < b->cell_count; j++) {
            if (tact_field_cut_contact_polygon(&pair, i, j, &polygon) > 0) {
                tact_field_integrate_polygon(&polygon);
                tact_field_add_polygon_to_sums(sums, &polygon);
                *polygons += polygon.area_moments.area > 1e-18;
            }
        }
    }
}

/* Checks that the tree search finds every polygon of all pairs of cells, and none twice. */
static void check_tree_search(const struct tact_pressure_field *a,
                              const struct tact_pressure_field *b, const char *name, double reach,
                              int poses)
{
    size_t most = 0, pieces = 0, sum = 0;
    for (int n = 0; n < poses; n++) {
        struct tact_pose pa = random_pose(reach), pb = random_pose(reach);
        struct contact_surface_of_fields c;
        struct contact_surface_sums all, found = {.area = 0.0};
        size_t pair_count_by_tree_search = 0, expected_pair_count;
        assert_true(tact_field_find_contact_surface(a, &pa, b, &pb, shared_field_scratch(), &c) >=
                    0);
        for (size_t i = 0; i < c.count; i++) {
            tact_field_add_polygon_to_sums(&found, &c.polygon[i]);
            pair_count_by_tree_search += c.polygon[i].area_moments.area > 1e-18;
        }
        sum_contact_over_all_cell_pairs(a, &pa, b, &pb, &all, &expected_pair_count);
        if (pair_count_by_tree_search != expected_pair_count ||
            fabs(found.area - all.area) > 1e-12 * all.area + 1e-18) {
            fail_msg("%s, pose %d: %zu of %zu polygons, area %.15g of %.15g", name, n,
                     pair_count_by_tree_search, expected_pair_count, found.area, all.area);
        }
        most = pair_count_by_tree_search > most ? pair_count_by_tree_search : most;
        pieces = c.pieces > pieces ? c.pieces : pieces;
        sum += pair_count_by_tree_search;
    }
    printf("%s, %d poses: %.1f polygons in the mean, at most %zu; at most %zu pieces\n", name,
           poses, (double)sum / poses, most, pieces);
}

/* Bars of different heights on one side of a slab: a field with many separate contact regions. */
static struct tact_pressure_field *make_comb_field(int comb_tooth_count)
{
    double *vertices = malloc((size_t)comb_tooth_count * 9 * 3 * sizeof(double)), *pressure;
    uint32_t *tets = malloc((size_t)comb_tooth_count * 24 * 4 * sizeof *tets);
    struct surface_mesh cube = make_cube_surface(2);
    struct tact_pressure_field *field;
    size_t n = 0, m = 0;
    pressure = calloc((size_t)comb_tooth_count * 9, sizeof(double));
    for (int t = 0; t < comb_tooth_count; t++) {
        for (size_t i = 0; i < cube.vertex_count; i++) {
            const double *x = cube.vertices + 3 * i;
            tact_v3_set(vertices + 3 * (n + i), 0.004 * (2.2 * t - comb_tooth_count + x[0]),
                        0.02 * x[1], 0.01 * x[2] + 0.0005 * t);
        }
        tact_v3_set(vertices + 3 * (n + 8), 0.004 * (2.2 * t - comb_tooth_count), 0.0, 0.0005 * t);
        pressure[n + 8] = 1e5;
        for (size_t i = 0; i < cube.triangle_count; i++, m++) {
            tets[4 * m] = (uint32_t)n + 8;
            for (size_t k = 0; k < 3; k++) {
                tets[4 * m + 1 + k] = (uint32_t)n + cube.triangles[3 * i + k];
            }
        }
        n += 9;
    }
    assert_int_equal(tact_field_tets(vertices, n, tets, m, pressure, &field, NULL), 0);
    free(vertices);
    free(pressure);
    free(tets);
    free_surface_mesh(&cube);
    return field;
}

/* Pairs of leaves that a search found, in order. */
struct leaf_pair_list {
    struct field_cell_pair leaves[8192];
    size_t count;
};

static int append_leaf_pair(void *user, uint32_t a, uint32_t b)
{
    struct leaf_pair_list *found = user;
    assert_true(found->count < 8192);
    found->leaves[found->count++] = (struct field_cell_pair){a, b};
    return 0;
}

/* Checks that the pairs of a list made at another pose, once tested, are those that a new tree
 * search finds, in the same order. */
static void check_kept_list_against_tree_search(const struct cached_boundary_cell_pair_list *list,
                                                const struct field_pair *pair)
{
    static struct leaf_pair_list found;
    const struct field_cell_pair_search search = {
        .pair = pair, .found = append_leaf_pair, .user = &found};
    size_t left = 0;
    found.count = 0;
    tact_field_search_cells(&search);
    for (size_t i = 0; i < list->count; i++) {
        const struct field_cell_pair *p = &list->leaves[i];
        if (tact_field_boxes_overlap(pair, &pair->a->nodes[p->a].rim, &pair->b->nodes[p->b].rim,
                                     0.0)) {
            assert_true(left < found.count);
            assert_memory_equal(p, &found.leaves[left], sizeof *p);
            left++;
        }
    }
    assert_int_equal(left, found.count);
}

/* Bodies that move a little from query to query: checks the lists of pairs that are kept, and that
 * the contact is that of a query which starts from nothing, bit for bit. */
static void check_queries_along_random_paths(const struct tact_pressure_field *a,
                                             const struct tact_pressure_field *b, const char *name,
                                             double reach, int paths)
{
    enum { QUERIES = 8 };
    struct cached_boundary_cell_pair_lists seeds;
    int query_count_with_kept_list = 0, touching = 0;
    assert_int_equal(tact_field_boundary_pair_lists_init(&seeds, 8192), 0);
    for (int n = 0; n < paths; n++) {
        struct tact_pose pa = random_pose(reach), pb = random_pose(reach);
        const double step = a->mean_radius_of_rim_cells * pow(10.0, uniform(-4.0, -0.4));
        for (int i = 0; i < QUERIES; i++) {
            double twist[6];
            struct field_pair pair;
            struct tact_field_contact warm, cold;
            struct tact_field_scratch *scratch_without_lists = tact_field_scratch_create(1000);
            for (int k = 0; k < 6; k++) {
                twist[k] = uniform(-1.0, 1.0) / (k < 3 ? 1.0 : 0.02);
            }
            pa = pose_displaced_by_twist(&pa, pa.position, twist, step);
            tact_field_set_pair_poses(&pair, a, &pa, b, &pb);
            const struct cached_boundary_cell_pair_list *list =
                tact_field_find_boundary_pair_list(&seeds, &pair);
            if (list) {
                check_kept_list_against_tree_search(list, &pair);
                query_count_with_kept_list++;
            }
            assert_true(tact_field_touch(a, &pa, b, &pb, scratch_without_lists, &cold) >= 0);
            touching += find_field_contact(a, &pa, b, &pb, &warm);
            assert_memory_equal(&warm, &cold, sizeof warm);
            tact_field_scratch_destroy(scratch_without_lists);
        }
    }
    printf("%s: %d queries, %d touch, %d with a list\n", name, paths * QUERIES, touching,
           query_count_with_kept_list);
    assert_true(query_count_with_kept_list > paths && touching > paths);
    tact_field_boundary_pair_lists_free(&seeds);
}

static void queries_with_kept_pair_lists_have_the_same_bits(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 2),
                               *other = make_ball_field(0.02, 3e5, 1),
                               *comb_field = make_comb_field(6);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.03, 0.01, &mesh);
    check_queries_along_random_paths(ball, other, "ball, ball", 0.015,
                                     campaign_trial_count(20, 1250));
    check_queries_along_random_paths(ball, ball, "ball, the same", 0.02,
                                     campaign_trial_count(20, 1250));
    check_queries_along_random_paths(comb_field, comb_field, "comb, comb", 0.015,
                                     campaign_trial_count(20, 1250));
    check_queries_along_random_paths(ball, hard, "ball, rigid box", 0.015,
                                     campaign_trial_count(20, 1250));
    tact_field_free(ball);
    tact_field_free(other);
    tact_field_free(comb_field);
    tact_field_free(hard);
    tact_mesh_free(mesh);
}

static void tree_search_finds_all_touching_cell_pairs(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 2),
                               *other = make_ball_field(0.02, 3e5, 1);
    struct tact_pressure_field *box = field_box(0.02, 0.03, 0.01, 4e4, 2),
                               *comb_field = make_comb_field(6);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.03, 0.01, &mesh);
    struct tact_pressure_field *small_ball_field = make_ball_field(0.006, 2e6, 1);
    check_tree_search(ball, other, "ball, ball", 0.025, campaign_trial_count(300, 10000));
    check_tree_search(ball, small_ball_field, "ball, a small one in it", 0.012,
                      campaign_trial_count(300, 10000));
    check_tree_search(box, other, "box, ball", 0.02, campaign_trial_count(1000, 10000));
    check_tree_search(comb_field, box, "comb, box", 0.02, campaign_trial_count(1000, 10000));
    check_tree_search(comb_field, comb_field, "comb, comb", 0.02, campaign_trial_count(500, 10000));
    check_tree_search(ball, hard, "ball, rigid box", 0.02, campaign_trial_count(500, 10000));
    check_tree_search(comb_field, hard, "comb, rigid box", 0.02, campaign_trial_count(1000, 10000));
    tact_field_free(ball);
    tact_field_free(other);
    tact_field_free(box);
    tact_field_free(comb_field);
    tact_field_free(hard);
    tact_field_free(small_ball_field);
    tact_mesh_free(mesh);
}

/* The net work of the contact force around closed paths across edges and tetrahedra is zero. */
static void elastic_field_forces_are_conservative(void **state)
{
    (void)state;
    struct tact_pressure_field *a = field_box(0.03, 0.03, 0.03, 1e5, 4);
    struct tact_pressure_field *b = field_box(0.015, 0.015, 0.015, 1e5, 4);
    struct tact_pose at = tact_pose_identity();
    double net[3], gross[3];
    const int last_refinement_level = is_quick_sanitizer_run() ? 1 : 2;
    for (int i = 0; i <= last_refinement_level; i++) {
        int points = 400 << 2 * i;
        double last[3] = {0.0}, force[3] = {0.0}, place[3] = {0.0};
        net[i] = gross[i] = 0.0;
        for (int k = 0; k <= points; k++) {
            double s = 2.0 * PI * k / points;
            struct tact_pose p =
                pose_from_position_and_rotation(0.03 * cos(s) + 0.003, 0.021 * sin(s),
                                                0.04 + 0.002 * sin(2.0 * s), 0.03, 0.02, 0.2);
            struct tact_field_contact c;
            find_field_contact(b, &p, a, &at, &c);
            for (int j = 0; j < 3 && k; j++) {
                double work = 0.5 * (c.wrench[j] + force[j]) * (p.position[j] - place[j]);
                last[j] = work;
            }
            if (k) {
                double work = last[0] + last[1] + last[2];
                net[i] += work;
                gross[i] += fabs(work);
            }
            tact_v3_copy(force, c.wrench);
            tact_v3_copy(place, p.position);
        }
        printf("closed path, %d points: net %.1e of the work moved\n", points,
               fabs(net[i] / gross[i]));
    }
    if (last_refinement_level == 2) {
        assert_true(fabs(net[2] / gross[2]) < 1e-6);
    }
    for (int i = 1; i <= last_refinement_level; i++) { /* as the square of the step */
        assert_true(fabs(net[i] / gross[i]) < 0.09 * fabs(net[i - 1] / gross[i - 1]));
    }
    tact_field_free(a);
    tact_field_free(b);
}

/* Two solids: a moves around the ellipse centre + across cos + along sin, b is fixed. */
struct path {
    const struct tact_pressure_field *a, *b;
    struct tact_pose centre;
    double across[3], along[3];
    size_t alike; /* number of pairs of cells on the path with equal pressure gradients, which make
                     no contact surface */
};

/* The force on a, and the position of a, at an angle of the path. */
static void force_at_path_angle(struct path *p, double angle, double *force, double *place)
{
    struct tact_pose at = p->centre, origin = tact_pose_identity();
    struct tact_field_contact c;
    tact_v3_axpy(at.position, cos(angle), p->across);
    tact_v3_axpy(at.position, sin(angle), p->along);
    find_field_contact(p->a, &at, p->b, &origin, &c);
    p->alike += c.alike;
    tact_v3_copy(force, c.wrench);
    tact_v3_copy(place, at.position);
}

static double distance_of_points(const double *a, const double *b)
{
    double d[3];
    tact_v3_sub(d, a, b);
    return tact_v3_norm(d);
}

/* Halves an interval of the path twenty times, keeping the half in which the force changes more.
 * Returns the change of the force in the last interval. */
static double largest_force_jump(struct path *p, double from, double to)
{
    double low[3], high[3], middle[3], place[3];
    force_at_path_angle(p, from, low, place);
    force_at_path_angle(p, to, high, place);
    for (int i = 0; i < 20; i++) {
        double at = 0.5 * (from + to);
        force_at_path_angle(p, at, middle, place);
        int first = distance_of_points(low, middle) > distance_of_points(middle, high);
        *(first ? &to : &from) = at;
        tact_v3_copy(first ? high : low, middle);
    }
    return distance_of_points(low, high);
}

/* Goes around a path in `points` steps; returns the magnitude of the net work over the sum of
 * magnitudes; *most: largest force, *sharpest_bend_angle: angle of the largest second difference of
 * the force. */
static double relative_work_around_path(struct path *p, int points, double *most,
                                        double *sharpest_bend_angle)
{
    double last[3] = {0.0}, before[3] = {0.0}, at[3] = {0.0}, net = 0.0, gross = 0.0, worst = -1.0;
    for (int k = 0; k <= points; k++) {
        double force[3], place[3], sum[3], way[3], second[3];
        force_at_path_angle(p, 2.0 * PI * k / points, force, place);
        tact_v3_add(sum, force, last);
        tact_v3_sub(way, place, at);
        double work = k ? 0.5 * tact_v3_dot(sum, way) : 0.0;
        net += work;
        gross += fabs(work);
        *most = fmax(*most, tact_v3_norm(force));
        for (int j = 0; j < 3; j++) {
            second[j] = force[j] - 2.0 * last[j] + before[j];
        }
        if (k > 1 && tact_v3_norm(second) > worst) {
            worst = tact_v3_norm(second);
            *sharpest_bend_angle = 2.0 * PI * (k - 1) / points;
        }
        tact_v3_copy(before, last);
        tact_v3_copy(last, force);
        tact_v3_copy(at, place);
    }
    return gross > 0.0 ? fabs(net) / gross : 0.0;
}

/* On random paths the force has no jumps, over edges, faces and pieces that appear and vanish: in
 * a millionth of a step, where it bends most, it changes by a small part of what it does in the
 * step. Round each path its net work falls as the square of the step. */
static void field_forces_have_no_jumps(void **state)
{
    (void)state;
    enum { POINTS = 100, KINDS = 5 };
    struct tact_mesh *mesh;
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 2),
                               *box = field_box(0.02, 0.03, 0.01, 4e4, 2);
    struct tact_pressure_field *comb_field = make_comb_field(4),
                               *small_ball_field = make_ball_field(0.012, 2e6, 1);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.03, 0.01, &mesh);
    const struct tact_pressure_field *a[KINDS] = {ball, box, comb_field, small_ball_field,
                                                  comb_field};
    const struct tact_pressure_field *b[KINDS] = {box, box, box, hard, hard};
    int paths = campaign_trial_count(30, 10000), touching = 0, alike = 0, jumps = 0;
    double coarse_net_work = 0.0, fine_net_work = 0.0, worst = 0.0, worst_work = 0.0;
    for (int i = 0; i < paths; i++) {
        struct path p = {.a = a[i % KINDS], .b = b[i % KINDS], .centre = random_pose(0.02)};
        double most = 0.0, sharpest_bend_angle = 0.0, step = 2.0 * PI / POINTS;
        for (int k = 0; k < 3; k++) {
            p.across[k] = uniform(-0.02, 0.02);
            p.along[k] = uniform(-0.02, 0.02);
        }
        double first = relative_work_around_path(&p, POINTS, &most, &sharpest_bend_angle);
        double second = relative_work_around_path(&p, 4 * POINTS, &most, &sharpest_bend_angle);
        step *= 0.25;
        double force_jump =
            most > 0.0
                ? fmax(largest_force_jump(&p, sharpest_bend_angle - step, sharpest_bend_angle),
                       largest_force_jump(&p, sharpest_bend_angle, sharpest_bend_angle + step)) /
                      most
                : 0.0;
        touching += most > 0.0;
        if (p.alike) {
            alike++;
            continue;
        }
        coarse_net_work += first;
        fine_net_work += second;
        worst = fmax(worst, force_jump);
        worst_work = fmax(worst_work, second);
        jumps += force_jump > 1e-5;
    }
    print_message("%d paths, %d touch, %d with equal pressures: largest change in 1e-6 of a step "
                  "%.1e of the largest force, %d over 1e-5; net work, mean of 100 and 400 points "
                  "%.1e, %.1e, worst %.1e of that moved\n",
                  paths, touching, alike, worst, jumps, coarse_net_work / paths,
                  fine_net_work / paths, worst_work);
    assert_int_equal(jumps, 0);
    assert_true(fine_net_work < 0.08 * coarse_net_work);
    tact_field_free(ball);
    tact_field_free(box);
    tact_field_free(comb_field);
    tact_field_free(small_ball_field);
    tact_field_free(hard);
    tact_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_search_finds_all_touching_cell_pairs),
        cmocka_unit_test(queries_with_kept_pair_lists_have_the_same_bits),
        cmocka_unit_test(elastic_field_forces_are_conservative),
        cmocka_unit_test(field_forces_have_no_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
