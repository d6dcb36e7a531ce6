#include "contact/pair/smooth/closest_internal.h"

#include <errno.h>
#include <string.h>

#define MAX_CLOSEST_POINT_NEWTON_STEPS 20 /* maximum number of steps of Newton's method */
/* Size of a Newton step that is rounding, relative to the radii. */
#define NEWTON_STEP_ROUNDING_RATIO 1e-8
#define MAX_NORMAL_ROTATION_STEP 0.5  /* largest rotation of a normal in one Newton step [rad] */
#define MAX_DISTANCE_ASCENT_STEPS 100 /* largest number of steps of the search along normals */
/* Remaining rotation below which Newton's method is used [rad] */
#define MAX_ROTATION_LEFT_FOR_NEWTON 0.05
#define MAX_STEP_HALVINGS 40
#define ARMIJO_INCREASE_RATIO 1e-4

void tact_smooth_set_pair(const struct tact_shape *a, const struct tact_pose *pose_a,
                          const struct tact_shape *b, const struct tact_pose *pose_b,
                          struct smooth_pair *out)
{
    out->shape[0] = a;
    out->shape[1] = b;
    out->charts[0] = a->charts;
    out->charts[1] = b->charts;
    tact_quat_to_m3(out->rotation[0], pose_a->quat_wxyz);
    tact_quat_to_m3(out->rotation[1], pose_b->quat_wxyz);
    tact_v3_sub(out->offset_from_origin_b_to_origin_a, pose_a->position, pose_b->position);
}

int tact_smooth_surface_point(const struct smooth_pair *pair, int k, const double place[3],
                              struct tact_surface_point *out)
{
    return pair->charts[k] ? tact_charts_point(pair->charts[k], place, out)
                           : tact_shape_surface(pair->shape[k], place, out);
}

int tact_smooth_solve_2x2(const double m[4], const double y[2], double x[2])
{
    double det = m[0] * m[3] - m[1] * m[2];
    if (det == 0.0 || !isfinite(det)) {
        return 0;
    }
    x[0] = (m[3] * y[0] - m[1] * y[1]) / det;
    x[1] = (m[0] * y[1] - m[2] * y[0]) / det;
    return 1;
}

/* Quadratic form t' L t of a curvature map L for two tangents given in the world. */
static void evaluate_curvature_form(const double rotation[9], const double bend[9],
                                    const double *t1, const double *t2, double out[4])
{
    double u1[3], u2[3], l1[3], l2[3];
    tact_m3_tmul_v3(u1, rotation, t1);
    tact_m3_tmul_v3(u2, rotation, t2);
    tact_m3_mul_v3(l1, bend, u1);
    tact_m3_mul_v3(l2, bend, u2);
    out[0] = tact_v3_dot(u1, l1);
    out[1] = out[2] = tact_v3_dot(u1, l2);
    out[3] = tact_v3_dot(u2, l2);
}

/* Projects both points onto their surfaces and computes normal, gap and curvature.
 * normal_sum_along_tangents: sum of the outward normals along t1, t2; offset_along_tangents: offset
 * from B's point to A's along them. The normal is the mean of both, so that rounding of neither
 * surface decides alone. */
static int evaluate_closest_points(const struct smooth_pair *pair, struct smooth_contact *c,
                                   double normal_sum_along_tangents[2],
                                   double offset_along_tangents[2])
{
    struct tact_surface_point point[2];
    double normal[2][3], sum[3], d[3], *n = c->frame;
    for (int k = 0; k < 2; k++) {
        if (tact_smooth_surface_point(pair, k, c->place[k], &point[k])) {
            return -EDOM;
        }
        if (!pair->charts[k]) {
            tact_v3_copy(c->place[k], point[k].at);
        }
        tact_m3_mul_v3(c->arm[k], pair->rotation[k], point[k].at);
        tact_m3_mul_v3(normal[k], pair->rotation[k], point[k].normal);
    }
    tact_v3_sub(n, normal[1], normal[0]);
    if (!(tact_v3_normalize(n, n) > 1.0)) { /* the two normals are far from opposite */
        return -EDOM;
    }
    tact_v3_tangents(n, n + 3, n + 6);
    tact_v3_add(sum, normal[0], normal[1]);
    tact_v3_sub(d, c->arm[0], c->arm[1]);
    tact_v3_add(d, d, pair->offset_from_origin_b_to_origin_a);
    c->gap = tact_v3_dot(n, d);
    for (int i = 0; i < 2; i++) {
        evaluate_curvature_form(pair->rotation[i], point[i].bend, n + 3, n + 6, c->bend[i]);
        normal_sum_along_tangents[i] = tact_v3_dot(sum, n + 3 + 3 * i);
        offset_along_tangents[i] = tact_v3_dot(d, n + 3 + 3 * i);
    }
    return 0;
}

/* r = M x. */
static void multiply_2x2_matrix_vector(const double m[4], const double x[2], double r[2])
{
    r[0] = m[0] * x[0] + m[1] * x[1];
    r[1] = m[2] * x[0] + m[3] * x[1];
}

/* Hessian of the distance as a function of the point of A, L_A + L_B + g L_B L_A: positive definite
 * at a minimum. */
static void relative_curvature(const struct smooth_contact *c, double m[4])
{
    const double *a = c->bend[0], *b = c->bend[1];
    for (int i = 0; i < 4; i++) {
        int r = i / 2 * 2, k = i % 2;
        m[i] = a[i] + b[i] + c->gap * (b[r] * a[k] + b[r + 1] * a[2 + k]);
    }
}

/* Computes Newton's step of both points along t1, t2. It makes the normals opposite, L_A x_A + L_B
 * x_B = -normal_sum_along_tangents, and brings the points onto one normal, the mean of both, which
 * rotates by -L_A x_A - normal_sum_along_tangents/2: (1 + g L_A) x_A - x_B =
 * -(offset_along_tangents + g normal_sum_along_tangents/2). */
static int compute_closest_point_newton_step(const struct smooth_contact *c,
                                             const double normal_sum_along_tangents[2],
                                             const double offset_along_tangents[2],
                                             double step[2][2])
{
    const double off[2] = {offset_along_tangents[0] + 0.5 * c->gap * normal_sum_along_tangents[0],
                           offset_along_tangents[1] + 0.5 * c->gap * normal_sum_along_tangents[1]};
    double m[4], right[2], turned[2];
    relative_curvature(c, m);
    multiply_2x2_matrix_vector(c->bend[1], off, right);
    for (int i = 0; i < 2; i++) {
        right[i] = -normal_sum_along_tangents[i] - right[i];
    }
    if (!tact_smooth_solve_2x2(m, right, step[0])) {
        return 0;
    }
    multiply_2x2_matrix_vector(c->bend[0], step[0], turned);
    for (int i = 0; i < 2; i++) {
        step[1][i] = step[0][i] + c->gap * turned[i] + off[i];
    }
    return 1;
}

/* Applies a Newton step, shortened where it rotates a normal too far. Returns its size relative to
 * the radii. */
static double apply_closest_point_newton_step(const struct smooth_pair *pair,
                                              struct smooth_contact *c, double step[2][2])
{
    double size = 0.0, turns = 0.0, bend = 0.0;
    for (int k = 0; k < 2; k++) {
        double turned[2];
        multiply_2x2_matrix_vector(c->bend[k], step[k], turned);
        turns = tact_max(turns, turned[0] * turned[0] + turned[1] * turned[1]);
        size += sqrt(step[k][0] * step[k][0] + step[k][1] * step[k][1]);
        bend = tact_max(bend, fabs(c->bend[k][0]) + fabs(c->bend[k][3]));
    }
    turns = sqrt(turns);
    double step_fraction =
        turns > MAX_NORMAL_ROTATION_STEP ? MAX_NORMAL_ROTATION_STEP / turns : 1.0;
    for (int k = 0; k < 2; k++) {
        double surface_step_in_world[3], local[3];
        tact_v3_scale(surface_step_in_world, c->frame + 3, step_fraction * step[k][0]);
        tact_v3_axpy(surface_step_in_world, step_fraction * step[k][1], c->frame + 6);
        tact_m3_tmul_v3(local, pair->rotation[k], surface_step_in_world);
        if (pair->charts[k]) {
            tact_charts_move(pair->charts[k], c->place[k], local);
        } else {
            tact_v3_add(c->place[k], c->place[k], local);
        }
    }
    return size * bend;
}

/* 1 where the symmetric 2 x 2 matrix has positive eigenvalues. */
static int is_positive_definite_2x2(const double m[4])
{
    return m[0] * m[3] - m[1] * m[2] > 0.0 && m[0] + m[3] > 0.0;
}

/* 1 where the distance, or for overlapping shapes the depth, is a local minimum. Strictly convex
 * surfaces of radii R = L^-1: R_A + R_B + g is positive. Others, B being the one that is not
 * convex: L_A + L_B (1 + g L_B)^-1 and 1 + g L_B are positive. */
static int is_local_distance_minimum(const struct smooth_contact *c)
{
    const double *a = c->bend[0], *b = c->bend[1];
    double m[4], s[4];
    relative_curvature(c, m);
    if (!(m[0] * m[3] - m[1] * m[2] > 0.0)) {
        return 0;
    }
    if (is_positive_definite_2x2(a) && is_positive_definite_2x2(b)) {
        double curvature_determinant_a = a[0] * a[3] - a[1] * a[2],
               curvature_determinant_b = b[0] * b[3] - b[1] * b[2];
        return (a[0] + a[3]) / curvature_determinant_a + (b[0] + b[3]) / curvature_determinant_b +
                   2.0 * c->gap >
               0.0;
    }
    const double *definite_curvature_matrix = is_positive_definite_2x2(b) ? a : b,
                 *other = is_positive_definite_2x2(b) ? b : a;
    for (int i = 0; i < 4; i++) {
        s[i] = (i % 3 == 0 ? 1.0 : 0.0) + c->gap * definite_curvature_matrix[i];
    }
    if (!is_positive_definite_2x2(s)) {
        return 0;
    }
    for (int i = 0; i < 2; i++) { /* of a symmetric matrix */
        const double unit[2] = {i == 0, i == 1};
        double column[2], bent[2];
        if (!tact_smooth_solve_2x2(s, unit, column)) {
            return 0;
        }
        multiply_2x2_matrix_vector(definite_curvature_matrix, column, bent);
        m[i] = other[i] + bent[0];
        m[2 + i] = other[2 + i] + bent[1];
    }
    return is_positive_definite_2x2(m);
}

int tact_smooth_refine_closest_points(const struct smooth_pair *pair, struct smooth_contact *c)
{
    double normal_sum_along_tangents[2], offset_along_tangents[2], step[2][2];
    for (int i = 0; i < MAX_CLOSEST_POINT_NEWTON_STEPS; i++) {
        if (evaluate_closest_points(pair, c, normal_sum_along_tangents, offset_along_tangents) ||
            !compute_closest_point_newton_step(c, normal_sum_along_tangents, offset_along_tangents,
                                               step)) {
            return -EDOM;
        }
        double size = apply_closest_point_newton_step(pair, c, step);
        if (!isfinite(size)) {
            return -EDOM;
        }
        if (size <= NEWTON_STEP_ROUNDING_RATIO) {
            return evaluate_closest_points(pair, c, normal_sum_along_tangents,
                                           offset_along_tangents) ||
                           !is_local_distance_minimum(c)
                       ? -EDOM
                       : 0;
        }
    }
    return -EDOM;
}

static int has_support_function(const struct tact_shape *shape)
{
    return tact_shape_type(shape->kind)->support != NULL;
}

static int is_halfspace_shape(const struct tact_shape *shape)
{
    return shape->kind == TACT_SHAPE_HALFSPACE;
}

int tact_smooth_supports_convex_pair(const struct tact_shape *a, const struct tact_shape *b)
{
    return (has_support_function(a) && (has_support_function(b) || is_halfspace_shape(b))) ||
           (is_halfspace_shape(a) && has_support_function(b));
}

/* Support points of two shapes along n, which is outward from B; returns their distance along n,
 * h(n) < 0 where the shapes overlap, and the distance vector d. */
static double distance_by_support_points(const struct smooth_pair *pair, const double *n,
                                         struct smooth_contact *c, double d[3])
{
    double inward_normal[3], local[3];
    tact_v3_scale(inward_normal, n, -1.0);
    tact_m3_tmul_v3(local, pair->rotation[0], inward_normal);
    tact_shape_support(pair->shape[0], local, c->place[0]);
    tact_m3_tmul_v3(local, pair->rotation[1], n);
    tact_shape_support(pair->shape[1], local, c->place[1]);
    tact_m3_mul_v3(c->arm[0], pair->rotation[0], c->place[0]);
    tact_m3_mul_v3(c->arm[1], pair->rotation[1], c->place[1]);
    tact_v3_sub(d, c->arm[0], c->arm[1]);
    tact_v3_add(d, d, pair->offset_from_origin_b_to_origin_a);
    return tact_v3_dot(n, d);
}

/* Chooses, of the directions between the centres and along the axes of both shapes, the one with
 * the largest distance. */
static double choose_first_separating_direction(const struct smooth_pair *pair, double n[3])
{
    struct smooth_contact c;
    double best = -INFINITY, d[3], centers[3];
    tact_v3_normalize(centers, pair->offset_from_origin_b_to_origin_a);
    tact_v3_copy(n, centers); /* no direction is the best for a pose that is not finite */
    for (int i = 0; i < 13; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) {
            double axis = i ? pair->rotation[(i - 1) / 6][3 * k + (i - 1) / 2 % 3] : centers[k];
            at[k] = i > 0 && i % 2 ? -axis : axis;
        }
        double distance =
            tact_v3_dot(at, at) > 0.0 ? distance_by_support_points(pair, at, &c, d) : -INFINITY;
        if (distance > best) {
            best = distance;
            tact_v3_copy(n, at);
        }
    }
    return best;
}

/* Sum of the radii of curvature R = L^-1 of both surfaces, plus a distance on the diagonal. */
static void sum_of_curvature_radii(const struct smooth_contact *c, double distance, double m[4])
{
    for (int i = 0; i < 4; i++) {
        m[i] = i % 3 == 0 ? distance : 0.0;
        for (int k = 0; k < 2; k++) {
            const double *l = c->bend[k];
            double det = l[0] * l[3] - l[1] * l[2];
            m[i] += (i % 3 == 0 ? l[3 - i] : -l[i]) / det;
        }
    }
}

/* Sets the ascent direction for n: the gradient of the distance d along t1, t2 times the inverse of
 * its Hessian, -(R_A + R_B + d); where that is not negative, that of the bound without a negative
 * d. Returns the slope along it. */
static double compute_distance_ascent_direction(const struct smooth_contact *c,
                                                const double offset_along_tangents[2],
                                                double rotation[2])
{
    double m[4];
    rotation[0] = rotation[1] = 0.0;
    sum_of_curvature_radii(c, c->gap, m);
    if (!is_positive_definite_2x2(m)) {
        sum_of_curvature_radii(c, 0.0, m);
    }
    if (!tact_smooth_solve_2x2(m, offset_along_tangents, rotation)) {
        return 0.0;
    }
    double size = tact_hypot(rotation[0], rotation[1]), share = size > 1.0 ? 1.0 / size : 1.0;
    rotation[0] *= share;
    rotation[1] *= share;
    return rotation[0] * offset_along_tangents[0] + rotation[1] * offset_along_tangents[1];
}

/* Rotates n along t1, t2 until the distance has increased sufficiently. Returns the new distance,
 * or the old one where it does not increase. */
static double search_along_ascent(const struct smooth_pair *pair, const struct smooth_contact *c,
                                  double distance, const double rotation[2], double slope,
                                  double n[3])
{
    struct smooth_contact next;
    double step_fraction = 1.0, d[3], to[3];
    for (int i = 0; i < MAX_STEP_HALVINGS; i++, step_fraction *= 0.5) {
        tact_v3_copy(to, n);
        tact_v3_axpy(to, step_fraction * rotation[0], c->frame + 3);
        tact_v3_axpy(to, step_fraction * rotation[1], c->frame + 6);
        tact_v3_normalize(to, to);
        double support_distance_after_step = distance_by_support_points(pair, to, &next, d);
        if (support_distance_after_step >=
            distance + ARMIJO_INCREASE_RATIO * step_fraction * slope) {
            tact_v3_copy(n, to);
            return support_distance_after_step;
        }
    }
    return distance;
}

/* Finds the direction n with the largest distance between the supporting planes, negative where
 * they overlap. The distance along n is concave where it is positive (the dual of the distance, a
 * convex program), so that any ascent leads to its maximum. The ascent ends near that, from where
 * Newton's method converges. */
static int search_contact_by_normal_direction(const struct smooth_pair *pair,
                                              struct smooth_contact *c)
{
    double n[3], normal_sum_along_tangents[2], offset_along_tangents[2], rotation[2], d[3];
    double distance = choose_first_separating_direction(pair, n);
    for (int i = 0; i < MAX_DISTANCE_ASCENT_STEPS; i++) {
        distance_by_support_points(pair, n, c, d);
        if (evaluate_closest_points(pair, c, normal_sum_along_tangents, offset_along_tangents)) {
            return -EDOM;
        }
        double slope = compute_distance_ascent_direction(c, offset_along_tangents, rotation),
               size = tact_hypot(rotation[0], rotation[1]);
        if (size < MAX_ROTATION_LEFT_FOR_NEWTON) {
            struct smooth_contact contact_by_newton_method = *c;
            if (!tact_smooth_refine_closest_points(pair, &contact_by_newton_method) &&
                contact_by_newton_method.gap >= distance - 1e-9 * fabs(distance)) {
                *c = contact_by_newton_method;
                return 0;
            }
        }
        double support_distance_after_step =
            search_along_ascent(pair, c, distance, rotation, slope, n);
        if (!(support_distance_after_step > distance)) {
            return tact_smooth_refine_closest_points(pair, c);
        }
        distance = support_distance_after_step;
    }
    return tact_smooth_refine_closest_points(pair, c);
}

/* Finds the closest points to a half-space, whose normal is known. */
static int find_closest_points_to_halfspace(const struct smooth_pair *pair, int plane,
                                            struct smooth_contact *c)
{
    const double *rotation = pair->rotation[plane],
                 inward_normal[3] = {-rotation[2], -rotation[5], -rotation[8]};
    double local[3], at[3];
    int index_of_supported_shape = 1 - plane;
    tact_m3_tmul_v3(local, pair->rotation[index_of_supported_shape], inward_normal);
    tact_shape_support(pair->shape[index_of_supported_shape], local,
                       c->place[index_of_supported_shape]);
    tact_m3_mul_v3(at, pair->rotation[index_of_supported_shape],
                   c->place[index_of_supported_shape]);
    tact_v3_axpy(at, plane ? 1.0 : -1.0, pair->offset_from_origin_b_to_origin_a);
    tact_m3_tmul_v3(c->place[plane], rotation, at);
    return tact_smooth_refine_closest_points(pair, c);
}

int tact_smooth_find_closest_points(const struct smooth_pair *pair, struct smooth_contact *c)
{
    for (int k = 0; k < 2; k++) {
        if (is_halfspace_shape(pair->shape[k])) {
            return find_closest_points_to_halfspace(pair, k, c);
        }
    }
    return search_contact_by_normal_direction(pair, c);
}
