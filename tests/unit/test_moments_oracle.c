/* Moments of 10,000 pairs of convex meshes against a clip in long double that shares no code with
 * the library: ordinary pairs, thin sheets, edges, faces that coincide, equal boxes, one inside
 * the other, none touching. The bound of volume, centroid and second moment is 1e-9 V + 768 eps S
 * L, where S is half the overlap's surface (the mean of A's part and B's) and L the size of the
 * coordinates; where the bound is exceeded, the pair is printed. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact/moments/moments.h"
#include "contact/moments/moments_internal.h"

#include "surface_oracle.h"
#include "support/random.h"

static struct tact_moments_scratch *scratch;

/* Largest errors of a family of pairs, in units of their bounds; the gradient's direction in
 * degrees. */
struct tally {
    int overlapping_pair_count, coplanar_pairs, refused;
    double v, c, s, g, gradient_angle_degrees;
};

static struct tact_mesh *make_hull_solid(int points, const double half[3])
{
    double p[64][3];
    struct tact_mesh *mesh;
    for (int i = 0; i < points; i++) {
        for (int k = 0; k < 3; k++) {
            p[i][k] = uniform(-half[k], half[k]);
        }
    }
    assert_int_equal(tact_mesh_hull(p[0], (size_t)points, &mesh, NULL), 0);
    return mesh;
}

static struct tact_mesh *box_mesh_of_sides(double x, double y, double z)
{
    struct tact_mesh *mesh;
    assert_int_equal(tact_mesh_box((double[]){x, y, z}, &mesh), 0);
    return mesh;
}

/* A prism over a regular polygon. */
static struct tact_mesh *make_regular_prism(int corners, double radius, double half)
{
    double p[48][3];
    struct tact_mesh *mesh;
    for (int i = 0; i < 2 * corners; i++) {
        double angle = 6.283185307179586 * (i / 2) / corners;
        tact_v3_set(p[i], radius * cos(angle), radius * sin(angle), i % 2 ? half : -half);
    }
    assert_int_equal(tact_mesh_hull(p[0], (size_t)(2 * corners), &mesh, NULL), 0);
    return mesh;
}

struct pair {
    struct tact_mesh *a, *b;
    struct tact_pose pa, pb;
};

/* Places body a at `at` in b's frame, then turns both bodies by one random rotation. */
static void place_pair_and_turn_both(struct pair *p, const double at[3])
{
    struct tact_pose offset = tact_pose_identity();
    tact_v3_copy(offset.position, at);
    p->pb = uniform(0.0, 1.0) < 0.3 ? tact_pose_identity() : random_pose(1.0);
    tact_pose_mul(&p->pa, &p->pb, &offset);
}

static void make_ordinary_pair(struct pair *p, int i)
{
    p->a = make_hull_solid(6 + i % 20, (double[]){1.0, 0.8, 0.6});
    p->b = make_hull_solid(5 + i % 17, (double[]){1.0, 0.5, 0.7});
    p->pa = random_pose(0.6);
    p->pb = random_pose(0.6);
}

static void make_thin_sheet_pair(struct pair *p, int i)
{
    double relative_thickness = pow(10.0, uniform(-5.0, -1.0));
    p->a = i % 2 ? box_mesh_of_sides(1.0, 0.7, relative_thickness)
                 : make_hull_solid(12, (double[]){1.0, 0.7, relative_thickness});
    p->b =
        i % 3 ? box_mesh_of_sides(0.5, 0.6, 0.4) : box_mesh_of_sides(0.5, relative_thickness, 0.8);
    p->pa = random_pose(0.3);
    p->pb = random_pose(0.3);
}

/* A shallow overlap: the face, edge or corner of a box just inside the face of another. */
static void make_shallow_pair(struct pair *p, int i)
{
    double depth = pow(10.0, uniform(-6.0, -2.0)), lean = i % 3 ? uniform(0.05, 0.8) : 0.0;
    double turn[3] = {i % 3 ? lean : 0.0, i % 3 == 2 ? 0.7 * lean : 0.0, 0.0}, low = 0.0, r[9];
    struct tact_pose at = tact_pose_identity();
    p->a = box_mesh_of_sides(0.4, 0.3, 0.2);
    p->b = box_mesh_of_sides(1.0, 1.0, 0.5);
    tact_quat_from_rotvec(at.quat_wxyz, turn);
    tact_quat_to_m3(r, at.quat_wxyz);
    low = fabs(r[6]) * 0.4 + fabs(r[7]) * 0.3 + fabs(r[8]) * 0.2;
    tact_v3_set(at.position, uniform(-0.3, 0.3), uniform(-0.3, 0.3), 0.5 + low - depth);
    p->pb = random_pose(1.0);
    tact_pose_mul(&p->pa, &p->pb, &at);
}

/* Pairs of boxes and prisms whose faces, edges and corners coincide. */
static void make_coincident_pair(struct pair *p, int i)
{
    const double box_half_edges_to_choose[4] = {0.25, 0.5, 1.0, 1.5};
    double a[3], b[3], at[3];
    for (int k = 0; k < 3; k++) {
        a[k] = box_half_edges_to_choose[(int)uniform(0.0, 4.0)];
        b[k] = box_half_edges_to_choose[(int)uniform(0.0, 4.0)];
        double side = uniform(0.0, 1.0) < 0.5 ? -1.0 : 1.0;
        switch ((int)uniform(0.0, 3.0)) {
        case 0:
            /* two faces lie in one plane, with equal outward normals */
            at[k] = side * (b[k] - a[k]);
            break;
        case 1:
            at[k] = side * (b[k] + a[k] - 0.125);
            break;
        default:
            at[k] = uniform(-1.0, 1.0) * (a[k] + b[k]);
        }
    }
    if (i % 4) {
        p->a = box_mesh_of_sides(a[0], a[1], a[2]);
        p->b = box_mesh_of_sides(b[0], b[1], b[2]);
    } else {
        int corners = 3 + i / 4 % 10;
        p->a = make_regular_prism(corners, a[0], a[2]);
        p->b = make_regular_prism(corners, a[0], b[2]);
        at[0] = i % 8 ? 0.0 : at[0];
        at[1] = 0.0;
    }
    place_pair_and_turn_both(p, at);
}

static void make_equal_boxes(struct pair *p, int i)
{
    double h[3] = {uniform(0.1, 1.0), uniform(0.1, 1.0), uniform(0.1, 1.0)}, at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (i >> k) & 1 ? uniform(-2.0, 2.0) * h[k] : 0.0;
    }
    p->a = box_mesh_of_sides(h[0], h[1], h[2]);
    p->b = box_mesh_of_sides(h[0], h[1], h[2]);
    place_pair_and_turn_both(p, at);
}

static void make_contained_pair(struct pair *p, int i)
{
    struct tact_mesh *smaller_hull_solid = make_hull_solid(8 + i % 12, (double[]){0.2, 0.15, 0.1});
    struct tact_mesh *mesh_of_containing_box = box_mesh_of_sides(1.0, 1.2, 0.9);
    p->a = i % 2 ? smaller_hull_solid : mesh_of_containing_box;
    p->b = i % 2 ? mesh_of_containing_box : smaller_hull_solid;
    p->pa = random_pose(0.3);
    p->pb = random_pose(0.3);
}

static void make_separate_pair(struct pair *p, int i)
{
    double u[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
    p->a = make_hull_solid(8 + i % 12, (double[]){1.0, 0.8, 0.6});
    p->b = box_mesh_of_sides(0.7, 0.5, 0.6);
    p->pa = random_pose(0.2);
    p->pb = random_pose(0.2);
    tact_v3_normalize(u, u);
    tact_v3_axpy(p->pa.position, uniform(0.9, 3.0), u);
}

/* Largest coordinate of either body in the world. */
static double largest_world_coordinate(const struct pair *p)
{
    double size = 0.0;
    for (int side = 0; side < 2; side++) {
        const struct tact_mesh *m = side ? p->b : p->a;
        const struct tact_pose *pose = side ? &p->pb : &p->pa;
        for (size_t i = 0; i < m->vertex_count; i++) {
            double r[3];
            tact_pose_point(r, pose, m->vertices + 3 * i);
            size = fmax(size, fmax(fabs(r[0]), fmax(fabs(r[1]), fabs(r[2]))));
        }
    }
    return size;
}

static double angle_between_deg(const double *got, const real *expected)
{
    real cross[3], dot = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        cross[k] = got[y] * expected[z] - got[z] * expected[y];
        dot += got[k] * expected[k];
    }
    size = sqrtl(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
    return (double)(atan2l(size, dot) * 57.29577951308232L);
}

static void check_moment_error_within_bound(const char *name, int i, double error, double bound,
                                            double *worst)
{
    double ratio = error > 0.0 ? error / bound : 0.0;
    if (!(ratio <= 1.0)) {
        print_message("%s %d: error %.3g, bound %.3g\n", name, i, error, bound);
    }
    *worst = fmax(*worst, ratio);
}

/* Checks the errors of one overlap's moments against their bounds. far: additional bound for the
 * second moment by prisms, whose terms have the bodies' whole size. */
static void check_moments_of_pair(const char *name, int i, const struct pair *p,
                                  const struct oracle_moments *exact, const struct tact_moments *m,
                                  double far, struct tally *tally)
{
    const struct oracle_moments expected = *exact;
    double l = largest_world_coordinate(p), dc = 0.0, ds = 0.0, dg = 0.0, dq = 0.0, g = 0.0;
    double area = 0.5 * (double)expected.surface, v = (double)expected.volume;
    /* The bound is about three times the worst error of many seeds, that of thin sheets, plus the
     * oracle's own rounding error, which is all where only corners touch. */
    double rounding_error_bound = 768.0 * DBL_EPSILON * l,
           slack = 1e-9 * v + rounding_error_bound * area;
    slack += (double)LDBL_EPSILON * l * l * l;
    tally->overlapping_pair_count += v > slack;
    tally->coplanar_pairs += expected.coplanar_triangle_count > 0;
    check_moment_error_within_bound(name, i, fabs(m->volume - v), slack, &tally->v);
    if (!(v > 1e3 * slack)) {
        return;
    }
    double size = sqrt((double)(expected.second[0] + expected.second[1] + expected.second[2]) / v);
    for (int k = 0; k < 3; k++) {
        dc += pow(m->centroid[k] - (double)expected.centroid[k], 2);
        dg += pow(m->gradient[k] - (double)expected.gradient[k], 2);
        dq += pow(m->gradient[3 + k] - (double)expected.torque[k], 2);
        g += pow((double)expected.gradient[k], 2);
    }
    for (int k = 0; k < 6; k++) {
        ds += (k < 3 ? 1 : 2) * pow(m->second[k] - (double)expected.second[k], 2);
    }
    check_moment_error_within_bound(name, i, sqrt(dc), slack / v * size + rounding_error_bound,
                                    &tally->c);
    check_moment_error_within_bound(
        name, i, sqrt(ds), slack * size * size + far * DBL_EPSILON * area * l * l * l, &tally->s);
    /* Twice the bound: where surfaces meet at a small angle, rounding moves the overlap's rim
     * further. */
    check_moment_error_within_bound(name, i, fmax(sqrt(dg), sqrt(dq) / size),
                                    1e-9 * area + 2.0 * rounding_error_bound * size, &tally->g);
    if (sqrt(g) > 1e-3 * area) {
        double gradient_angle_degrees = angle_between_deg(m->gradient, expected.gradient);
        check_moment_error_within_bound(name, i, gradient_angle_degrees, 1e-6, &(double){0.0});
        tally->gradient_angle_degrees = fmax(tally->gradient_angle_degrees, gradient_angle_degrees);
    }
}

/* Computes moments by sums over signed prism pairs, a method that the library does not use for
 * small convex meshes. */
static void compute_moments_by_prisms(const struct pair *p, struct tact_moments *m)
{
    struct tact_prism_frame frame;
    const struct tact_prism_pair *pairs;
    memset(m, 0, sizeof *m);
    if (tact_prism_frame(p->a, &p->pa, p->b, &p->pb, NULL, &frame)) {
        long n = tact_prism_pairs(p->a, &p->pa, p->b, &p->pb, &frame, scratch, &pairs);
        assert_true(n >= 0);
        tact_prism_sum(p->a, &p->pa, p->b, &p->pb, &frame, pairs, (size_t)n, m);
    }
}

/* Computes moments by the method of the overlap's rim; returns 0 where the method refuses the
 * pair. */
static int compute_moments_by_rim(const struct pair *p, struct tact_moments *m)
{
    struct tact_prism_frame frame;
    memset(m, 0, sizeof *m);
    return !tact_prism_frame(p->a, &p->pa, p->b, &p->pb, NULL, &frame) ||
           tact_moments_by_overlap_surface(p->a, &p->pa, p->b, &p->pb, &frame, scratch, m) >= 0;
}

static void compare_moments_of_pairs_of_kind(const char *name, int pairs,
                                             void (*make)(struct pair *, int))
{
    struct tally tally[3] = {{0}};
    random_state = 88172645463325252u ^ campaign_seed_offset();
    for (const char *c = name; *c; c++) {
        random_state = random_state * 1099511628211u + (uint64_t)*c;
    }
    for (int i = 0; i < pairs; i++) {
        struct pair p;
        struct tact_moments m;
        make(&p, i);
        struct oracle_moments expected = oracle_overlap(
            p.a, &p.pa, p.b, &p.pb, 20.0 * DBL_EPSILON * largest_world_coordinate(&p));
        struct tact_shape a = {.kind = TACT_SHAPE_CONVEX, .mesh = p.a};
        struct tact_shape b = {.kind = TACT_SHAPE_CONVEX, .mesh = p.b};
        int rc = tact_moments_pair(&a, &p.pa, &b, &p.pb, NULL, scratch, &m);
        assert_true(rc == 0 || rc == 1);
        check_moments_of_pair(name, i, &p, &expected, &m, 0.0, &tally[0]);
        compute_moments_by_prisms(&p, &m);
        check_moments_of_pair(name, i, &p, &expected, &m, 8.0, &tally[1]);
        if (compute_moments_by_rim(&p, &m)) {
            check_moments_of_pair(name, i, &p, &expected, &m, 0.0, &tally[2]);
        } else {
            tally[2].refused++;
        }
        tact_mesh_free(p.a);
        tact_mesh_free(p.b);
    }
    print_message("%s: %d pairs, %d overlap, %d with faces in one plane; errors/bounds:\n", name,
                  pairs, tally[0].overlapping_pair_count, tally[0].coplanar_pairs);
    for (int k = 0; k < 3; k++) {
        static const char *const methods[3] = {"pair", "prisms", "rim"};
        const struct tally *t = &tally[k];
        print_message("  %-6s V %.1e c %.1e C %.1e g %.1e, gradient %.1e degrees, %d refused\n",
                      methods[k], t->v, t->c, t->s, t->g, t->gradient_angle_degrees, t->refused);
        assert_true(t->v <= 1.0 && t->c <= 1.0 && t->s <= 1.0 && t->g <= 1.0);
        assert_true(t->gradient_angle_degrees <= 1e-6);
    }
}

static void moments_of_convex_pairs_match_the_oracle(void **unused)
{
    (void)unused;
    compare_moments_of_pairs_of_kind("ordinary", 3000, make_ordinary_pair);
    compare_moments_of_pairs_of_kind("sheets", 1500, make_thin_sheet_pair);
    compare_moments_of_pairs_of_kind("shallow", 1500, make_shallow_pair);
    compare_moments_of_pairs_of_kind("coincident", 1500, make_coincident_pair);
    compare_moments_of_pairs_of_kind("equal boxes", 1000, make_equal_boxes);
    compare_moments_of_pairs_of_kind("contained", 500, make_contained_pair);
    compare_moments_of_pairs_of_kind("apart", 1000, make_separate_pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_convex_pairs_match_the_oracle),
    };
    scratch = tact_moments_scratch_create(1u << 18);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    tact_moments_scratch_destroy(scratch);
    return rc;
}
