/*
 * The normal of a pair with a curved core, exact to rounding. The search ends with an error of the
 * normal of about the square root of its relative error of the distance. The features that
 * determine the normal are then known: a face, two lines that cross, a line and a curved surface,
 * or two curved surfaces. Each such combination defines a candidate normal, with curved surfaces by
 * Newton's method. The candidate with the largest width between the cores along it is the normal.
 *
 * The point w(n) of A - B that is farthest along -n must be parallel to n. On curved surfaces dw =
 * -K dn, where K is the sum of the cores' radii of curvature; with a line e on one core, n stays
 * perpendicular to e.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/features/curved_internal.h"
#include "contact/pair/features/difference_internal.h"

/* Largest angle between a candidate normal and the normal of the search [rad] */
#define MAX_CANDIDATE_NORMAL_ANGLE 1e-1
/* Difference of two widths that count as equal, relative to the size. */
#define EQUAL_MINKOWSKI_WIDTH_RATIO 4e-16
/* Sine of the angle below which a cylinder's axis is perpendicular to the normal. */
#define PERPENDICULAR_CYLINDER_SINE 1e-9
/* Width by which the search's normal must exceed all candidates to be kept, relative to the size.
 */
#define SEARCH_WIDTH_ROUNDING_RATIO 1e-15
/* A normal at the rim of a cylinder is tried where the present one is within the first two angles
 * from the axis or the side and the other body's farthest point is within the third, a distance
 * from the rim relative to the size; the search starts tilted by the fourth [rad]. */
#define MIN_COSINE_NEAR_CYLINDER_END 0.999
#define MAX_SINE_NEAR_CYLINDER_SIDE 0.03
#define MAX_RIM_DISTANCE_TO_SIZE_RATIO 0.01
#define TILT_OF_RIM_NORMAL 1e-6

enum { MOST_CANDIDATES = 24, MOST_NEWTON = 12 };

struct candidate_normal_with_width {
    double n[3], bound;
};

struct search_among_candidate_normals {
    struct tact_convex_core_pair *pair;
    const struct tact_nearest_points *found;
    int count;
    struct candidate_normal_with_width candidate_normals[MOST_CANDIDATES];
};

static const double CYLINDER_AXIS[3] = {0.0, 0.0, 1.0};

/* Computes the farthest point w(n) of A - B against n and, where bend is not NULL, its curvature
 * matrix K. Returns n.w, the width along n [m]. */
static double minkowski_width_along_normal(const struct tact_convex_core_pair *pair,
                                           const double n[3], double w[3], double *bend)
{
    double opposite_direction[3], in_b[3], of_a[3], of_b[3], farthest_point_b[3], bend_b[9],
        rotated_curvature_b[9];
    tact_v3_scale(opposite_direction, n, -1.0);
    tact_m3_tmul_v3(in_b, pair->rotation, n);
    tact_curved_core_farthest_point(pair->a, opposite_direction, of_a, bend);
    tact_curved_core_farthest_point(pair->b, in_b, of_b, bend ? bend_b : NULL);
    tact_m3_mul_v3(farthest_point_b, pair->rotation, of_b);
    tact_v3_add(farthest_point_b, farthest_point_b, pair->shift);
    tact_v3_sub(w, of_a, farthest_point_b);
    if (bend) {
        tact_m3_mul(rotated_curvature_b, pair->rotation, bend_b);
        tact_m3_mul_t(bend_b, rotated_curvature_b, pair->rotation);
        for (int i = 0; i < 9; i++) {
            bend[i] += bend_b[i];
        }
    }
    return tact_v3_dot(n, w);
}

static int is_normal_within_candidate_angle(const struct search_among_candidate_normals *s,
                                            const double n[3])
{
    double off[3];
    tact_v3_sub(off, n, s->found->normal);
    return tact_v3_norm(off) < MAX_CANDIDATE_NORMAL_ANGLE;
}

/* Adds a unit vector or its opposite as a candidate normal, where it is near the normal that the
 * search found. */
static void add_candidate_normal(struct search_among_candidate_normals *s,
                                 const double direction[3])
{
    double n[3], w[3];
    tact_v3_scale(n, direction, copysign(1.0, tact_v3_dot(direction, s->found->normal)));
    if (s->count < MOST_CANDIDATES && is_normal_within_candidate_angle(s, n)) {
        struct candidate_normal_with_width *c = &s->candidate_normals[s->count++];
        tact_v3_copy(c->n, n);
        c->bound = minkowski_width_along_normal(s->pair, n, w, NULL);
    }
}

static void shape_direction_to_world(const struct search_among_candidate_normals *s, int of_b,
                                     const double in[3], double out[3])
{
    if (of_b) {
        tact_m3_mul_v3(out, s->pair->rotation, in);
    } else {
        tact_v3_copy(out, in);
    }
}

static const struct tact_convex_core *core_of_shape(const struct search_among_candidate_normals *s,
                                                    int of_b)
{
    return of_b ? s->pair->b : s->pair->a;
}

/* Index of the vertex of a core that is farthest in the direction of the other core. */
static int64_t vertex_facing_other_core(const struct search_among_candidate_normals *s, int of_b)
{
    double out[3], towards[3];
    tact_v3_scale(out, s->found->normal, of_b ? 1.0 : -1.0);
    if (of_b) {
        tact_m3_tmul_v3(towards, s->pair->rotation, out);
    } else {
        tact_v3_copy(towards, out);
    }
    return tact_convex_core_support_vertex(core_of_shape(s, of_b), towards, -1);
}

/* Adds the normals of faces as candidates: those of a hull at its outermost vertex, or of the ends
 * of a cylinder. */
static void add_candidate_normals_of_faces(struct search_among_candidate_normals *s, int of_b)
{
    const struct tact_convex_core *core = core_of_shape(s, of_b);
    double n[3];
    if (core->kind == TACT_SHAPE_CYLINDER) {
        shape_direction_to_world(s, of_b, CYLINDER_AXIS, n);
        add_candidate_normal(s, n);
    }
    int64_t v = core->faces ? vertex_facing_other_core(s, of_b) : 0;
    for (int k = core->faces ? core->first_face_index_of_vertex[v] : 0;
         core->faces && k < core->first_face_index_of_vertex[v + 1]; k++) {
        shape_direction_to_world(s, of_b, core->normal[core->at[k]], n);
        add_candidate_normal(s, n);
    }
}

/* Direction of the k-th line of a core at its outermost vertex: an edge of a hull, or the axis of a
 * capsule or a cylinder. Returns 0 where there is none. */
static int direction_of_core_edge_or_axis(const struct search_among_candidate_normals *s, int of_b,
                                          int k, double out[3])
{
    const struct tact_convex_core *core = core_of_shape(s, of_b);
    if (core->kind == TACT_SHAPE_CYLINDER || core->kind == TACT_SHAPE_CAPSULE) {
        shape_direction_to_world(s, of_b, CYLINDER_AXIS, out);
        return k == 0;
    }
    int64_t v = core->faces ? vertex_facing_other_core(s, of_b) : 0;
    if (!core->faces || k >= core->first_neighbour_index_of_vertex[v + 1] -
                                 core->first_neighbour_index_of_vertex[v]) {
        return 0;
    }
    double d[3];
    tact_v3_sub(d, core->vertex[core->next[core->first_neighbour_index_of_vertex[v] + k]],
                core->vertex[v]);
    tact_v3_normalize(d, d);
    shape_direction_to_world(s, of_b, d, out);
    return 1;
}

static void add_candidate_normals_across_two_edges(struct search_among_candidate_normals *s)
{
    double u[3], v[3], n[3];
    for (int i = 0; direction_of_core_edge_or_axis(s, 0, i, u); i++) {
        for (int k = 0; direction_of_core_edge_or_axis(s, 1, k, v); k++) {
            tact_v3_cross(n, u, v);
            if (tact_v3_normalize(n, n) > 0.0) {
                add_candidate_normal(s, n);
            }
        }
    }
}

/* Adds the candidate normal of a line and a curved surface: rotates n about the line until w has no
 * component perpendicular to both. */
static void add_candidate_normal_across_line(struct search_among_candidate_normals *s,
                                             const double line[3])
{
    double n[3], t[3], w[3], bend[9], bent[3];
    tact_v3_copy(n, s->found->normal);
    tact_v3_axpy(n, -tact_v3_dot(n, line), line);
    if (!(tact_v3_normalize(n, n) > 0.0) || !is_normal_within_candidate_angle(s, n)) {
        return;
    }
    for (int step = 0; step < MOST_NEWTON; step++) {
        double f = minkowski_width_along_normal(s->pair, n, w, bend);
        tact_v3_cross(t, line, n);
        tact_m3_mul_v3(bent, bend, t);
        double slope = tact_v3_dot(t, bent) + f, rotation = tact_v3_dot(t, w) / slope;
        if (!(fabs(rotation) < MAX_CANDIDATE_NORMAL_ANGLE)) {
            return;
        }
        tact_v3_axpy(n, rotation, t);
        tact_v3_normalize(n, n);
        if (fabs(rotation) < 1e-15) {
            break;
        }
    }
    add_candidate_normal(s, n);
}

/* Adds the candidate normal of two curved surfaces: rotates n from `start` until w has no component
 * perpendicular to it. */
static void add_candidate_normal_of_curved_pair(struct search_among_candidate_normals *s,
                                                const double start[3])
{
    double n[3], t[2][3], w[3], bend[9], bent[3], k[3];
    tact_v3_copy(n, start);
    for (int step = 0; step < MOST_NEWTON; step++) {
        double f = minkowski_width_along_normal(s->pair, n, w, bend);
        tact_v3_tangents(n, t[0], t[1]);
        /* entries 00, 11 and 01 of the symmetric 2 x 2 curvature matrix */
        for (int i = 0; i < 3; i++) {
            tact_m3_mul_v3(bent, bend, t[i % 2]);
            k[i] = tact_v3_dot(t[i > 0], bent) + (i < 2 ? f : 0.0);
        }
        double x = tact_v3_dot(t[0], w), y = tact_v3_dot(t[1], w);
        double det = k[0] * k[1] - k[2] * k[2];
        double dx = (k[1] * x - k[2] * y) / det, dy = (k[0] * y - k[2] * x) / det;
        if (!(fabs(dx) < MAX_CANDIDATE_NORMAL_ANGLE && fabs(dy) < MAX_CANDIDATE_NORMAL_ANGLE)) {
            return;
        }
        tact_v3_axpy(n, dx, t[0]);
        tact_v3_axpy(n, dy, t[1]);
        tact_v3_normalize(n, n);
        if (fabs(dx) + fabs(dy) < 1e-15) {
            break;
        }
    }
    add_candidate_normal(s, n);
}

/* Sets `point` to the point of the body other than the cylinder that is farthest against the normal
 * n, in the frame of the cylinder. of_b: the cylinder is B. */
static void farthest_point_in_cylinder(const struct search_among_candidate_normals *s, int of_b,
                                       const double n[3], double point[3])
{
    double out[3], far[3];
    if (of_b) {
        tact_v3_scale(out, n, -1.0);
        tact_curved_core_farthest_point(s->pair->a, out, far, NULL);
        tact_v3_sub(far, far, s->pair->shift);
        tact_m3_tmul_v3(point, s->pair->rotation, far);
    } else {
        tact_m3_tmul_v3(out, s->pair->rotation, n);
        tact_curved_core_farthest_point(s->pair->b, out, far, NULL);
        tact_m3_mul_v3(point, s->pair->rotation, far);
        tact_v3_add(point, point, s->pair->shift);
    }
}

/* Adds the candidate normal at the rim of a cylinder, where the normal is nearly that of the end or
 * of the side, and the other body's farthest point along that is near the rim. Newton's method
 * could not start from it: at the normal of the end the rim has no curvature, at that of the side
 * either rim is as far. */
static void add_candidate_normal_at_rim(struct search_among_candidate_normals *s, int of_b)
{
    const struct tact_convex_core *core = core_of_shape(s, of_b);
    double axis[3], n[3], point[3], tilt[3], tilt_in_a[3], distance_beyond_rim;
    if (core->kind != TACT_SHAPE_CYLINDER) {
        return;
    }
    shape_direction_to_world(s, of_b, CYLINDER_AXIS, axis);
    const double axis_normal_cosine = tact_v3_dot(axis, s->found->normal);
    if (fabs(axis_normal_cosine) > MIN_COSINE_NEAR_CYLINDER_END) {
        tact_v3_scale(n, axis, copysign(1.0, axis_normal_cosine));
        farthest_point_in_cylinder(s, of_b, n, point);
        const double distance_from_axis = tact_hypot(point[0], point[1]);
        distance_beyond_rim = distance_from_axis - core->half[0];
        tact_v3_set(tilt, point[0] / distance_from_axis, point[1] / distance_from_axis, 0.0);
    } else if (fabs(axis_normal_cosine) < MAX_SINE_NEAR_CYLINDER_SIDE) {
        tact_v3_copy(n, s->found->normal);
        tact_v3_axpy(n, -axis_normal_cosine, axis);
        tact_v3_normalize(n, n);
        farthest_point_in_cylinder(s, of_b, n, point);
        distance_beyond_rim = fabs(point[2]) - core->half[1];
        tact_v3_set(tilt, 0.0, 0.0, copysign(1.0, point[2]));
    } else {
        return;
    }
    if (fabs(distance_beyond_rim) < MAX_RIM_DISTANCE_TO_SIZE_RATIO * s->pair->size) {
        shape_direction_to_world(s, of_b, tilt, tilt_in_a);
        tact_v3_axpy(n, of_b ? TILT_OF_RIM_NORMAL : -TILT_OF_RIM_NORMAL, tilt_in_a);
        tact_v3_normalize(n, n);
        add_candidate_normal_of_curved_pair(s, n);
    }
}

/* The first candidate normal with the largest width, except for rounding; NULL where the width of
 * the search's normal is larger by more than rounding. */
static const struct candidate_normal_with_width *
choose_normal_of_largest_width(const struct search_among_candidate_normals *s)
{
    double largest_width_of_candidates =
               s->found->bound - SEARCH_WIDTH_ROUNDING_RATIO * s->pair->size,
           spare = EQUAL_MINKOWSKI_WIDTH_RATIO * s->pair->size;
    for (int i = 0; i < s->count; i++) {
        largest_width_of_candidates =
            tact_max(largest_width_of_candidates, s->candidate_normals[i].bound);
    }
    for (int i = 0; i < s->count; i++) {
        if (s->candidate_normals[i].bound >= largest_width_of_candidates - spare) {
            return &s->candidate_normals[i];
        }
    }
    return NULL;
}

/* Points of both cores that are farthest along the normal, A's frame [m]. */
struct farthest_points_along_normal {
    int count;
    double a[3][3], b[3][3];
};

/* Finds the points of both cores that are farthest along the normal: those of the simplex, of which
 * vertices on curved surfaces are moved to the farthest points. */
static void find_farthest_points(const struct tact_convex_core_pair *pair, const double n[3],
                                 const struct tact_simplex *s,
                                 struct farthest_points_along_normal *f)
{
    double opposite_direction[3], in_b[3], of_b[3];
    tact_v3_scale(opposite_direction, n, -1.0);
    tact_m3_tmul_v3(in_b, pair->rotation, n);
    f->count = s->count;
    for (int i = 0; i < s->count; i++) {
        tact_curved_core_move_to_farthest(pair->a, s->point[i].a, opposite_direction, f->a[i]);
        tact_curved_core_move_to_farthest(pair->b, s->point[i].b, in_b, of_b);
        tact_m3_mul_v3(f->b[i], pair->rotation, of_b);
        tact_v3_add(f->b[i], f->b[i], pair->shift);
    }
}

/* 1 where all listed points of a core coincide. */
static int are_all_points_coincident(double (*point)[3], int count)
{
    int are_coincident = 1;
    for (int i = 1; i < count; i++) {
        are_coincident = are_coincident && !memcmp(point[i], point[0], sizeof point[0]);
    }
    return are_coincident;
}

/* 1 where a core has a single point that is farthest along n: not so a cylinder across n, even
 * where the simplex has one end of it only. */
static int has_single_farthest_point(const struct tact_convex_core *core, const double axis[3],
                                     const double n[3], double (*point)[3], int count)
{
    int line = core->kind == TACT_SHAPE_CYLINDER &&
               fabs(tact_v3_dot(axis, n)) < PERPENDICULAR_CYLINDER_SINE;
    return !line && are_all_points_coincident(point, count);
}

/* 1 where a point of A's frame may belong to a core, judged by its radius where the core is a
 * cylinder. */
static int is_point_within_core_radius(const struct tact_convex_core_pair *pair, int of_b,
                                       const double point[3])
{
    const struct tact_convex_core *core = of_b ? pair->b : pair->a;
    double off[3], in[3];
    tact_v3_copy(in, point);
    if (of_b) {
        tact_v3_sub(off, point, pair->shift);
        tact_m3_tmul_v3(in, pair->rotation, off);
    }
    return core->kind != TACT_SHAPE_CYLINDER ||
           tact_hypot(in[0], in[1]) <= core->half[0] + EQUAL_MINKOWSKI_WIDTH_RATIO * pair->size;
}

/* Sets nearest_point_on_a to the point of the simplex's points of A that is nearest to one of B,
 * and returns the square of the remaining distance from it [m2]. of: by point of the simplex, that
 * of A. */
static double find_nearest_point_pair_of_simplex(const struct tact_simplex *s, double (*a)[3],
                                                 const int *of, double nearest_point_on_a[3])
{
    double weight[3], remaining_offset[3] = {0.0, 0.0, 0.0};
    tact_simplex_weights(s, weight);
    tact_v3_set(nearest_point_on_a, 0.0, 0.0, 0.0);
    for (int i = 0; i < s->count; i++) {
        tact_v3_axpy(nearest_point_on_a, weight[i], a[of[i]]);
        tact_v3_axpy(remaining_offset, weight[i], s->point[i].w);
    }
    return tact_v3_dot(remaining_offset, remaining_offset);
}

/* Adds the other end of a cylinder's line where all points found are one end of it. */
static void add_other_end_of_cylinder_line(const struct tact_convex_core *core, double (*point)[3],
                                           int count, const double origin[3], const double axis[3])
{
    double off[3];
    tact_v3_sub(off, point[0], origin);
    if (core->kind == TACT_SHAPE_CYLINDER && count > 1 && are_all_points_coincident(point, count)) {
        tact_v3_axpy(point[1], -2.0 * tact_v3_dot(off, axis), axis);
    }
}

/* Finds the point nearest to the origin in the triangles of all triples of differences of points of
 * A and B: the triangle of the last simplex need not contain that point, as the search stopped at
 * another normal. */
static void find_nearest_point_pair_of_any_three(struct farthest_points_along_normal *f,
                                                 const double separation_of_cores[3], double least,
                                                 double nearest_point_on_a[3])
{
    struct tact_minkowski_point all[9];
    int of[9], count = 0;
    for (int i = 0; i < 3 * f->count; i++) {
        tact_v3_sub(all[count].w, f->a[i / 3], f->b[i % 3]);
        tact_v3_sub(all[count].w, all[count].w, separation_of_cores);
        int new = i % 3 < f->count;
        for (int k = 0; k < count && new; k++) {
            new = memcmp(all[k].w, all[count].w, sizeof all[k].w) != 0;
        }
        of[count] = i / 3;
        count += new;
    }
    for (int i = 0; i < count; i++) {
        for (int k = i + 1; k < count; k++) {
            for (int m = k + 1; m < count; m++) {
                const struct tact_simplex s = {3, {all[i], all[k], all[m]}};
                double at[3], left = find_nearest_point_pair_of_simplex(
                                  &s, f->a, (const int[]){of[i], of[k], of[m]}, at);
                if (left < least) {
                    least = left;
                    tact_v3_copy(nearest_point_on_a, at);
                }
            }
        }
    }
}

/* Sets the nearest points of the two cores for the normal n. Where one of the cores has a single
 * farthest point, the other's nearest point is opposite to it. */
static void set_nearest_points_along_normal(const struct tact_convex_core_pair *pair,
                                            const double n[3], double distance,
                                            struct tact_nearest_points *found)
{
    static const int of[3] = {0, 1, 2};
    static const double origin[3] = {0.0, 0.0, 0.0};
    const double cylinder_axis_b[3] = {pair->rotation[2], pair->rotation[5], pair->rotation[8]};
    double separation_of_cores[3], below[3], above[3],
        spare = EQUAL_MINKOWSKI_WIDTH_RATIO * pair->size;
    struct tact_simplex s = found->from;
    struct farthest_points_along_normal f = {.count = 0};
    find_farthest_points(pair, n, &s, &f);
    tact_v3_scale(separation_of_cores, n, distance);
    for (int i = 0; i < s.count; i++) {
        tact_v3_sub(s.point[i].w, f.a[i], f.b[i]);
        tact_v3_sub(s.point[i].w, s.point[i].w, separation_of_cores);
    }
    tact_v3_sub(below, f.a[0], separation_of_cores);
    tact_v3_add(above, f.b[0], separation_of_cores);
    double squared_mismatch_of_nearest_points =
        find_nearest_point_pair_of_simplex(&s, f.a, of, found->nearest_point_on_a);
    if (squared_mismatch_of_nearest_points <= spare * spare) {
        /* the nearest points of the two cores are opposite to each other */
    } else if (has_single_farthest_point(pair->a, CYLINDER_AXIS, n, f.a, f.count) &&
               is_point_within_core_radius(pair, 1, below)) {
        tact_v3_copy(found->nearest_point_on_a, f.a[0]);
    } else if (has_single_farthest_point(pair->b, cylinder_axis_b, n, f.b, f.count) &&
               is_point_within_core_radius(pair, 0, above)) {
        tact_v3_copy(found->nearest_point_on_a, above);
    } else {
        add_other_end_of_cylinder_line(pair->a, f.a, f.count, origin, CYLINDER_AXIS);
        add_other_end_of_cylinder_line(pair->b, f.b, f.count, pair->shift, cylinder_axis_b);
        find_nearest_point_pair_of_any_three(
            &f, separation_of_cores, squared_mismatch_of_nearest_points, found->nearest_point_on_a);
    }
    tact_v3_sub(found->nearest_point_on_b, found->nearest_point_on_a, separation_of_cores);
}

void tact_refine_normal_of_curved_cores(struct tact_convex_core_pair *pair,
                                        struct tact_nearest_points *found)
{
    struct search_among_candidate_normals s = {.pair = pair, .found = found};
    double line[3];
    for (int side = 0; side < 2; side++) {
        add_candidate_normals_of_faces(&s, side);
    }
    add_candidate_normals_across_two_edges(&s);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; direction_of_core_edge_or_axis(&s, side, k, line); k++) {
            add_candidate_normal_across_line(&s, line);
        }
    }
    add_candidate_normal_of_curved_pair(&s, found->normal);
    for (int side = 0; side < 2; side++) {
        add_candidate_normal_at_rim(&s, side);
    }
    const struct candidate_normal_with_width *c = choose_normal_of_largest_width(&s);
    if (c) {
        tact_v3_copy(found->normal, c->n);
        found->bound = found->distance = c->bound;
        set_nearest_points_along_normal(pair, c->n, c->bound, found);
    } else { /* bodies touch, so that rounding hides the direction between their nearest points: the
                width is the distance */
        found->distance = found->bound;
        tact_v3_copy(found->nearest_point_on_b, found->nearest_point_on_a);
        tact_v3_axpy(found->nearest_point_on_b, -found->distance, found->normal);
    }
}
