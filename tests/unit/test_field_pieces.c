/*
 * Pressure fields: all pieces of the contact surface of real meshes, against all pairs of cells,
 * and the continuity of the stiffness.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field_search_internal.h"
#include "support/data.h"
#include "support/field_bodies.h"

#define PI 3.14159265358979323846

/* The field of a mesh as its extent on a lattice of large cells. */
static struct tact_pressure_field *make_extent_field(const struct tact_mesh *mesh, double cell,
                                                     double slope)
{
    const struct tact_extent_recipe recipe = {TACT_EXTENT_SCREENED, 2.0 * cell, cell};
    struct tact_pressure_field *field;
    struct tact_extent *extent;
    struct tact_error err = {.line = 0};
    if (tact_extent_of_mesh(mesh, &recipe, &extent, &err)) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < extent->vertex_count; i++) {
        extent->extent[i] *= slope;
    }
    if (tact_field_tets(extent->vertices, extent->vertex_count, extent->tets, extent->tet_count,
                        extent->extent, &field, &err)) {
        fail_msg("%s", err.text);
    }
    tact_extent_free(extent);
    return field;
}

/* Boxes of all cells along the axes of a frame, in which the field has a rotation and a shift. */
static double (*make_cell_boxes(const struct tact_pressure_field *f, const double *turn,
                                const double *shift))[6]
{
    double(*box)[6] = malloc(f->cell_count * sizeof *box);
    assert_non_null(box);
    for (uint32_t i = 0; i < f->cell_count; i++) {
        for (int k = 0; k < (f->is_rigid ? 3 : 4); k++) {
            double x[3];
            tact_m3_mul_v3(x, turn, f->vertices + 3 * (size_t)f->cells[i].corner[k]);
            tact_v3_add(x, x, shift);
            for (int c = 0; c < 3; c++) {
                box[i][c] = k ? fmin(box[i][c], x[c]) : x[c];
                box[i][3 + c] = k ? fmax(box[i][3 + c], x[c]) : x[c];
            }
        }
    }
    return box;
}

static int do_boxes_overlap(const double *a, const double *b)
{
    const double slack = 1e-9;
    return a[0] <= b[3] + slack && b[0] <= a[3] + slack && a[1] <= b[4] + slack &&
           b[1] <= a[4] + slack && a[2] <= b[5] + slack && b[2] <= a[5] + slack;
}

/* Lower end of a cell's box along x. */
struct lower_end_of_cell_box {
    double low;
    uint32_t cell;
};

static int compare_lower_ends_of_cell_boxes(const void *a, const void *b)
{
    const struct lower_end_of_cell_box *p = a, *q = b;
    return p->low != q->low ? (p->low < q->low ? -1 : 1)
                            : (p->cell > q->cell) - (p->cell < q->cell);
}

/* The boxes of cells in the order of their lower ends along x; *largest_box_length_along_x: the
 * largest extent along x. */
static struct lower_end_of_cell_box *sort_boxes_along_x(const double (*box)[6], size_t count,
                                                        double *largest_box_length_along_x)
{
    struct lower_end_of_cell_box *end = malloc(count * sizeof *end);
    assert_non_null(end);
    *largest_box_length_along_x = 0.0;
    for (size_t i = 0; i < count; i++) {
        end[i] = (struct lower_end_of_cell_box){box[i][0], (uint32_t)i};
        *largest_box_length_along_x = fmax(*largest_box_length_along_x, box[i][3] - box[i][0]);
    }
    qsort(end, count, sizeof *end, compare_lower_ends_of_cell_boxes);
    return end;
}

/* The first box whose lower end is not below a value. */
static size_t find_first_box_not_below(const struct lower_end_of_cell_box *end, size_t count,
                                       double least)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        *(end[middle].low < least ? &low : &high) = middle + (end[middle].low < least);
    }
    return low;
}

/* Area and number of the polygons of all pairs of cells whose boxes overlap, each pair tested by
 * itself. */
static size_t sum_polygons_of_all_cell_pairs(const struct tact_pressure_field *a,
                                             const struct tact_pose *pa,
                                             const struct tact_pressure_field *b,
                                             const struct tact_pose *pb, double *area)
{
    const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, zero[3] = {0.0};
    struct field_pair pair;
    struct contact_surface_polygon polygon;
    size_t polygons = 0;
    tact_field_set_pair_poses(&pair, a, pa, b, pb);
    double(*box_a)[6] = make_cell_boxes(a, identity, zero),
    (*box_b)[6] = make_cell_boxes(b, pair.rotation, pair.shift);
    double largest_box_length_along_x;
    struct lower_end_of_cell_box *end =
        sort_boxes_along_x((const double(*)[6])box_b, b->cell_count, &largest_box_length_along_x);
    *area = 0.0;
    for (uint32_t i = 0; i < a->cell_count; i++) {
        size_t from = find_first_box_not_below(end, b->cell_count,
                                               box_a[i][0] - largest_box_length_along_x - 1e-8);
        for (size_t k = from; k < b->cell_count && end[k].low <= box_a[i][3] + 1e-8; k++) {
            uint32_t j = end[k].cell;
            if (do_boxes_overlap(box_a[i], box_b[j]) &&
                tact_field_cut_contact_polygon(&pair, i, j, &polygon) > 0) {
                tact_field_integrate_polygon(&polygon);
                *area += polygon.area_moments.area;
                polygons += polygon.area_moments.area > 1e-18;
            }
        }
    }
    free(end);
    free(box_a);
    free(box_b);
    return polygons;
}

static double seconds_of_processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Two fields in random poses: the surface that is followed from polygon to polygon has every
 * polygon of all pairs of cells. */
static void compare_pieces_with_all_cell_pairs(const struct tact_pressure_field *a,
                                               const struct tact_pressure_field *b,
                                               const char *name, double reach, int poses)
{
    size_t most = 0, pieces = 0;
    double start = seconds_of_processor();
    for (int n = 0; n < poses; n++) {
        struct tact_pose pa = random_pose(reach), pb = random_pose(reach);
        struct contact_surface_of_fields of;
        double area, found_area = 0.0;
        size_t found = 0;
        int rc = tact_field_find_contact_surface(a, &pa, b, &pb, shared_field_scratch(), &of);
        assert_true(rc >= 0 && !of.swapped);
        for (size_t i = 0; i < of.count; i++) {
            found += of.polygon[i].area_moments.area > 1e-18;
            found_area += of.polygon[i].area_moments.area;
        }
        size_t all = sum_polygons_of_all_cell_pairs(a, &pa, b, &pb, &area);
        if (found != all || fabs(found_area - area) > 1e-12 * area + 1e-18) {
            fail_msg("%s, pose %d: %zu of %zu polygons, area %.15g of %.15g", name, n, found, all,
                     found_area, area);
        }
        most = found > most ? found : most;
        pieces = of.pieces > pieces ? of.pieces : pieces;
    }
    print_message(
        "%s, %zu and %zu cells, %d poses: at most %zu polygons in %zu pieces; %.3f s each\n", name,
        (size_t)a->cell_count, (size_t)b->cell_count, poses, most, pieces,
        (seconds_of_processor() - start) / poses);
    assert_true(most > 0 ||
                poses <
                    5); /* in a single pose, as under a sanitizer, the two fields may be apart */
}

/* A pose of two cows takes 0.18 s of a processor, most of it for all pairs of cells; the long form
 * of this file ten minutes. */
static void all_pieces_between_real_meshes_are_found(void **state)
{
    (void)state;
    struct tact_mesh *cow = load_test_data_mesh("spot.obj", 0.1);
    if (!cow) {
        skip();
        return;
    }
    struct tact_pressure_field *soft_cow_field = make_extent_field(cow, 0.008, 1e6), *hard;
    assert_int_equal(tact_field_rigid(cow, &hard), 0);
    compare_pieces_with_all_cell_pairs(soft_cow_field, soft_cow_field, "two cows", 0.05,
                                       campaign_trial_count(10, 1500));
    compare_pieces_with_all_cell_pairs(soft_cow_field, hard, "a cow and a rigid one", 0.05,
                                       campaign_trial_count(10, 1500));
    tact_field_free(soft_cow_field);
    tact_field_free(hard);
    tact_mesh_free(cow);
}

/* A socket: a spherical shell about the origin up to 75 degrees from -z, its radii [m] and the
 * number of rings of its inner and of its outer surface, of twice as many triangles around. */
static struct tact_mesh *make_socket_mesh(double inner, double outer, int rings)
{
    const int points_per_circle = 4 * rings, circle_count = 2 * rings;
    const uint32_t bottom = 0, below = 1 + (uint32_t)(circle_count * points_per_circle);
    double *x = malloc(3 * ((size_t)below + 1) * sizeof *x);
    uint32_t *t = malloc(6 * (size_t)(circle_count * points_per_circle) * sizeof *t);
    struct tact_mesh *mesh;
    size_t n = 0;
    assert_non_null(x);
    assert_non_null(t);
    tact_v3_set(x, 0.0, 0.0, -inner);
    tact_v3_set(x + 3 * (size_t)below, 0.0, 0.0, -outer);
    for (int i = 0; i < circle_count * points_per_circle; i++) {
        /* from the inner bottom over the lip to the outer bottom */
        int circle = i / points_per_circle,
            ring = circle < rings ? circle + 1 : circle_count - circle;
        double radius = circle < rings ? inner : outer,
               turn = 2.0 * PI * (i % points_per_circle) / points_per_circle;
        double angle = 75.0 / 180.0 * PI * ring / rings;
        tact_v3_set(x + 3 * ((size_t)i + 1), radius * sin(angle) * cos(turn),
                    radius * sin(angle) * sin(turn), -radius * cos(angle));
    }
    for (int i = 0; i < circle_count * points_per_circle; i++) {
        int next =
            i % points_per_circle + 1 == points_per_circle ? i + 1 - points_per_circle : i + 1;
        const uint32_t p = 1 + (uint32_t)i, q = 1 + (uint32_t)next,
                       row = (uint32_t)points_per_circle;
        const uint32_t triangles_to_next_circle[6] = {p, p + row, q + row, p, q + row, q},
                       triangle_at_outer_bottom[3] = {p, below, q},
                       triangle_at_inner_bottom[3] = {bottom, p, q};
        int is_on_first_circle = i < points_per_circle,
            is_on_last_circle = i >= (circle_count - 1) * points_per_circle;
        memcpy(t + n, is_on_last_circle ? triangle_at_outer_bottom : triangles_to_next_circle,
               is_on_last_circle ? sizeof triangle_at_outer_bottom
                                 : sizeof triangles_to_next_circle);
        n += is_on_last_circle ? 3 : 6;
        memcpy(t + n, triangle_at_inner_bottom,
               is_on_first_circle ? sizeof triangle_at_inner_bottom : 0);
        n += is_on_first_circle ? 3 : 0;
    }
    assert_int_equal(tact_mesh_create(x, (size_t)below + 1, t, n / 3, &mesh, NULL), 0);
    free(x);
    free(t);
    return mesh;
}

/* A ball in a socket that is a little narrower or wider: their surfaces cross in lines near to each
 * other, and pieces are rings and caps. */
static void all_pieces_in_a_socket_are_found(void **state)
{
    (void)state;
    struct tact_mesh *mesh = make_socket_mesh(0.02, 0.03, 8);
    struct tact_pressure_field *soft_socket = make_extent_field(mesh, 0.0035, 1e6), *hard_socket;
    struct tact_pressure_field *narrow_ball = make_ball_field(0.0195, 1e5, 3),
                               *wide_ball = make_ball_field(0.021, 1e5, 3);
    assert_int_equal(tact_field_rigid(mesh, &hard_socket), 0);
    compare_pieces_with_all_cell_pairs(soft_socket, narrow_ball, "soft socket, ball", 0.002,
                                       campaign_trial_count(5, 300));
    compare_pieces_with_all_cell_pairs(soft_socket, wide_ball, "soft socket, wide ball", 0.002,
                                       campaign_trial_count(5, 300));
    compare_pieces_with_all_cell_pairs(narrow_ball, hard_socket, "ball in a rigid socket", 0.002,
                                       campaign_trial_count(20, 2000));
    compare_pieces_with_all_cell_pairs(wide_ball, hard_socket, "wide ball in a rigid socket", 0.002,
                                       campaign_trial_count(20, 2000));
    tact_field_free(soft_socket);
    tact_field_free(hard_socket);
    tact_field_free(narrow_ball);
    tact_field_free(wide_ball);
    tact_mesh_free(mesh);
}

/* Two solids, the first of which moves along a segment. */
struct segment {
    const struct tact_pressure_field *a, *b;
    struct tact_pose from;
    double along[3];
};

/* The stiffness at a place of the segment, torques over 0.02 m, in the frame of its contact. */
static void compute_stiffness_on_path_segment(const struct segment *s, double place,
                                              double stiffness[36])
{
    struct tact_pose at = s->from, origin = tact_pose_identity();
    struct tact_field_contact c;
    tact_v3_axpy(at.position, place, s->along);
    find_field_contact(s->a, &at, s->b, &origin, &c);
    for (int k = 0; k < 36; k++) {
        stiffness[k] = c.stiffness[k] / (k / 6 < 3 ? 1.0 : 0.02) / (k % 6 < 3 ? 1.0 : 0.02);
    }
}

static double largest_stiffness_difference(const double *a, const double *b)
{
    double most = 0.0;
    for (int k = 0; k < 36; k++) {
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most;
}

/* Halves the step of the segment with the largest change of the stiffness twenty times, keeping the
 * half in which it changes more. Returns the change in the last, *most: the largest stiffness. */
static double largest_stiffness_jump(const struct segment *s, double *most)
{
    enum { STEPS = 60, HALVINGS = 20 };
    double last[36], next[36], low[36], high[36], middle[36], worst = -1.0, from = 0.0, to = 0.0;
    compute_stiffness_on_path_segment(s, 0.0, last);
    for (int i = 1; i <= STEPS; i++) {
        const double zero[36] = {0.0};
        compute_stiffness_on_path_segment(s, (double)i / STEPS, next);
        double change = largest_stiffness_difference(last, next);
        *most = fmax(*most, largest_stiffness_difference(next, zero));
        if (change > worst) {
            worst = change;
            from = (double)(i - 1) / STEPS;
            to = (double)i / STEPS;
            memcpy(low, last, sizeof low);
            memcpy(high, next, sizeof high);
        }
        memcpy(last, next, sizeof last);
    }
    for (int i = 0; i < HALVINGS; i++) {
        double at = 0.5 * (from + to);
        compute_stiffness_on_path_segment(s, at, middle);
        int first =
            largest_stiffness_difference(low, middle) > largest_stiffness_difference(middle, high);
        *(first ? &to : &from) = at;
        memcpy(first ? high : low, middle, sizeof middle);
    }
    return largest_stiffness_difference(low, high);
}

/* On random segments the stiffness has no jumps, over edges, faces and pieces that appear and
 * vanish. */
static void field_stiffness_has_no_jumps(void **state)
{
    (void)state;
    enum { KINDS = 4 };
    struct tact_mesh *mesh;
    struct tact_pressure_field *ball = make_ball_field(0.03, 1e5, 2),
                               *box = field_box(0.02, 0.03, 0.01, 4e4, 4);
    struct tact_pressure_field *small_ball_field = make_ball_field(0.012, 2e6, 1);
    struct tact_pressure_field *hard = make_rigid_box_field(0.02, 0.03, 0.01, &mesh);
    const struct tact_pressure_field *a[KINDS] = {ball, box, small_ball_field, ball};
    const struct tact_pressure_field *b[KINDS] = {box, box, hard, hard};
    int path_segment_count = campaign_trial_count(60, 10000), touching = 0,
        stiffness_jump_count = 0;
    double worst = 0.0;
    for (int i = 0; i < path_segment_count; i++) {
        struct segment s = {.a = a[i % KINDS], .b = b[i % KINDS], .from = random_pose(0.03)};
        double most = 0.0;
        for (int k = 0; k < 3; k++) {
            s.along[k] = uniform(-0.02, 0.02);
        }
        double stiffness_jump = largest_stiffness_jump(&s, &most);
        if (most > 0.0) {
            touching++;
            worst = fmax(worst, stiffness_jump / most);
            stiffness_jump_count += stiffness_jump > 1e-4 * most;
        }
    }
    print_message(
        "%d segments, %d touch: largest change of the stiffness in 1e-6 of a step %.1e of "
        "the largest, %d over 1e-4\n",
        path_segment_count, touching, worst, stiffness_jump_count);
    assert_true(touching > path_segment_count / 3);
    assert_int_equal(stiffness_jump_count, 0);
    tact_field_free(ball);
    tact_field_free(box);
    tact_field_free(small_ball_field);
    tact_field_free(hard);
    tact_mesh_free(mesh);
}

/* Where flat faces meet at once the stiffness jumps from 0 to that of the whole face, and the force
 * does not. */
static void stiffness_jumps_where_flat_faces_meet_at_once(void **state)
{
    (void)state;
    struct tact_mesh *mesh;
    struct tact_pressure_field *punch_field = make_rigid_box_field(0.01, 0.01, 0.02, &mesh),
                               *floor = make_halfspace_field(2e6);
    struct tact_pose at = tact_pose_identity(), origin = at;
    struct tact_field_contact c;
    at.position[2] = 0.02 + 1e-9;
    assert_int_equal(find_field_contact(punch_field, &at, floor, &origin, &c), 0);
    at.position[2] = 0.02 - 1e-9;
    assert_int_equal(find_field_contact(punch_field, &at, floor, &origin, &c), 1);
    print_message("1 nm deep: force %.3e N, stiffness %.6f N/m\n", c.wrench[2], c.stiffness[14]);
    assert_true(fabs(c.stiffness[14] / 800.0 - 1.0) < 1e-12);
    assert_true(fabs(c.wrench[2] / 800e-9 - 1.0) < 1e-6);
    tact_field_free(punch_field);
    tact_field_free(floor);
    tact_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pieces_between_real_meshes_are_found),
        cmocka_unit_test(all_pieces_in_a_socket_are_found),
        cmocka_unit_test(field_stiffness_has_no_jumps),
        cmocka_unit_test(stiffness_jumps_where_flat_faces_meet_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
