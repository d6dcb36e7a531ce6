/*
 * The normal part of the local problem: min x'Hx/2 + g'x over the forces x = (f, y1, y2) whose
 * centre of pressure y / f is in the patch.
 */
#include "contact/local/normal_internal.h"

#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/root.h"
#include "contact/vec.h"

/* Derivative of the objective along the rim of N, for the bracketed search. */
struct rim {
    const double *h;
    const double *g;
    double from[2]; /* direction on the cone's rim from which the bracketed search starts */
    double x[3];
};

/* Number of directions on the rim of the cone among which the start of a search is chosen. */
enum { RIM_DIRECTIONS = 16, RIM_STEPS = 8 };
static const double sampled_cone_rim_directions[RIM_DIRECTIONS][2] = {
    {1.0, 0.0},
    {0.92387953251128676, 0.38268343236508977},
    {0.70710678118654752, 0.70710678118654752},
    {0.38268343236508977, 0.92387953251128676},
    {0.0, 1.0},
    {-0.38268343236508977, 0.92387953251128676},
    {-0.70710678118654752, 0.70710678118654752},
    {-0.92387953251128676, 0.38268343236508977},
    {-1.0, 0.0},
    {-0.92387953251128676, -0.38268343236508977},
    {-0.70710678118654752, -0.70710678118654752},
    {-0.38268343236508977, -0.92387953251128676},
    {0.0, -1.0},
    {0.38268343236508977, -0.92387953251128676},
    {0.70710678118654752, -0.70710678118654752},
    {0.92387953251128676, -0.38268343236508977},
};

/* Derivative of the objective along the rim, in the direction rotated from `from` by an angle given
 * as the tangent of its half. */
static double rim_derivative_at_half_angle(void *user, double tangent_of_half_rim_angle)
{
    struct rim *rim = user;
    double squared_half_angle_cosine =
               1.0 / (1.0 + tangent_of_half_rim_angle * tangent_of_half_rim_angle),
           c = (1.0 - tangent_of_half_rim_angle * tangent_of_half_rim_angle) *
               squared_half_angle_cosine,
           s = 2.0 * tangent_of_half_rim_angle * squared_half_angle_cosine, he[3];
    double e[3] = {1.0, c * rim->from[0] - s * rim->from[1], s * rim->from[0] + c * rim->from[1]};
    tact_m3_mul_v3(he, rim->h, e);
    double eg = tact_v3_dot(e, rim->g), ehe = tact_v3_dot(e, he);
    double size = eg < 0.0 && ehe > 0.0 ? -eg / ehe : 0.0;
    tact_v3_scale(rim->x, e, size);
    double u1 = size * he[1] + rim->g[1], u2 = size * he[2] + rim->g[2];
    return u2 * e[1] - u1 * e[2];
}

/* Newton's method for a zero of the objective's derivative along the rim, from the direction of
 * rim->x. Returns 1 where it converged and the velocity there opens the rest of the patch: the
 * objective is convex, so this is its minimum. */
static int minimize_on_rim_by_newton(struct rim *rim)
{
    double size = tact_hypot(rim->x[1], rim->x[2]), he[3], ht[3];
    double e[3] = {1.0, rim->x[1] / size, rim->x[2] / size}, turn = 1.0;
    for (int i = 0; i < RIM_STEPS && fabs(turn) > 1e-15; i++) {
        const double t[3] = {0.0, -e[2], e[1]};
        tact_m3_mul_v3(he, rim->h, e);
        tact_m3_mul_v3(ht, rim->h, t);
        double eg = tact_v3_dot(e, rim->g), ehe = tact_v3_dot(e, he), het = tact_v3_dot(t, he);
        if (!(eg < 0.0) || !(ehe > 0.0)) {
            return 0;
        }
        double force = -eg / ehe, slope = force * het + tact_v3_dot(t, rim->g);
        double contact_opening_velocity = force * he[0] + rim->g[0];
        double rim_second_derivative = contact_opening_velocity + force * tact_v3_dot(t, ht) -
                                       (slope + force * het) * het / ehe;
        tact_v3_scale(rim->x, e, force);
        turn = -slope / rim_second_derivative;
        if (!(contact_opening_velocity > 0.0) || !(rim_second_derivative > 0.0) ||
            fabs(turn) > 0.5) {
            return 0;
        }
        tact_v3_axpy(e, turn, t);
        size = tact_hypot(e[1], e[2]);
        e[1] /= size;
        e[2] /= size;
    }
    return fabs(turn) < 1e-13;
}

/* Minimum of the objective along the ray e of the cone. */
static double find_minimum_along_cone_ray(const double *h, const double *g, const double *e)
{
    double eg = g[0] + g[1] * e[0] + g[2] * e[1];
    double ehe = h[0] + 2.0 * (h[1] * e[0] + h[2] * e[1]) + h[4] * e[0] * e[0] +
                 2.0 * h[5] * e[0] * e[1] + h[8] * e[1] * e[1];
    return eg < 0.0 && ehe > 0.0 ? -0.5 * eg * eg / ehe : 0.0;
}

/* Points of the rim by their multiplier: x(m) = -(H - m J)^-1 g with J = diag(1, -1, -1). x'Jx
 * increases with m, from its value at the unconstrained minimum x(0) to above 0, as long as H - m J
 * is positive definite, which requires m < H00. Returns x'Jx / |x|^2, and 1 beyond. */
static double evaluate_cone_form_at_multiplier(void *user, double multiplier_of_cone_constraint)
{
    struct rim *rim = user;
    double a[9];
    memcpy(a, rim->h, sizeof a);
    a[0] -= multiplier_of_cone_constraint;
    a[4] += multiplier_of_cone_constraint;
    a[8] += multiplier_of_cone_constraint;
    tact_ldl_factor(a, 3);
    if (!(a[0] > 0.0 && a[4] > 0.0 && a[8] > 0.0)) {
        return 1.0;
    }
    tact_v3_scale(rim->x, rim->g, -1.0);
    tact_ldl_solve(a, 3, rim->x);
    const double *x = rim->x, size = tact_v3_dot(x, x);
    return size > 0.0 ? (x[0] * x[0] - x[1] * x[1] - x[2] * x[2]) / size : 1.0;
}

/* Minimum of the objective on the rim, where the unconstrained minimum is outside of both cones
 * |(x2, x3)| <= |x1|.
 */
static int minimize_by_multiplier(struct rim *rim)
{
    double least = evaluate_cone_form_at_multiplier(rim, 0.0);
    if (!(least < 0.0)) {
        return 0;
    }
    double m =
        tact_root_find(evaluate_cone_form_at_multiplier, rim, 0.0, least, rim->h[0], 1.0, 80);
    return evaluate_cone_form_at_multiplier(rim, m) < 1.0 && rim->x[0] > 0.0 &&
           tact_hypot(rim->x[1], rim->x[2]) > 0.0 && minimize_on_rim_by_newton(rim);
}

/* Minimum of x'Hx/2 + g'x on the rim of |(x2, x3)| <= x1: from the last x, otherwise from the best
 * of 16 directions, otherwise, as the objective may have two minima along the rim, by its
 * multiplier, otherwise the zero of the derivative between the neighbours of the best direction. */
static void minimize_on_cone_rim(const double *h, const double *g, double *x)
{
    /* tangent of half the angle between two directions */
    static const double tangent_of_half_rim_angle = 0.19891236737965801;
    struct rim rim = {h, g, {0.0, 0.0}, {0.0, 0.0, 0.0}};
    double smallest_cone_objective = 0.0;
    tact_v3_copy(rim.x, x);
    if (tact_hypot(x[1], x[2]) > 0.0 && minimize_on_rim_by_newton(&rim)) {
        tact_v3_copy(x, rim.x);
        return;
    }
    for (int i = 0; i < RIM_DIRECTIONS; i++) {
        double value = find_minimum_along_cone_ray(h, g, sampled_cone_rim_directions[i]);
        if (value < smallest_cone_objective) {
            smallest_cone_objective = value;
            memcpy(rim.from, sampled_cone_rim_directions[i], sizeof rim.from);
        }
    }
    if (!(smallest_cone_objective < 0.0)) { /* the objective decreases only in a narrow range about
                            the steepest descent of g */
        double size = tact_hypot(g[1], g[2]);
        rim.from[0] = size > 0.0 ? -g[1] / size : 1.0;
        rim.from[1] = size > 0.0 ? -g[2] / size : 0.0;
    }
    tact_v3_set(rim.x, 1.0, rim.from[0], rim.from[1]);
    if (minimize_on_rim_by_newton(&rim)) {
        tact_v3_copy(x, rim.x);
        return;
    }
    if (minimize_by_multiplier(&rim)) {
        tact_v3_copy(x, rim.x);
        return;
    }
    double flo = rim_derivative_at_half_angle(&rim, -tangent_of_half_rim_angle),
           fhi = rim_derivative_at_half_angle(&rim, tangent_of_half_rim_angle);
    if (flo < 0.0 && fhi > 0.0) {
        tact_root_find(rim_derivative_at_half_angle, &rim, -tangent_of_half_rim_angle, flo,
                       tangent_of_half_rim_angle, fhi, 60);
    } else {
        rim_derivative_at_half_angle(&rim, 0.0);
    }
    tact_v3_copy(x, rim.x);
}

/* Compares a candidate on the ray of a corner or on the face between two with the smallest
 * objective so far. */
static void keep_smaller_minimum_on_face(double objective_of_minimum_on_face, const double *p,
                                         double a, const double *q, double b,
                                         double *smallest_cone_objective, double *x)
{
    if (objective_of_minimum_on_face < *smallest_cone_objective) {
        *smallest_cone_objective = objective_of_minimum_on_face;
        x[0] = a + b;
        x[1] = a * p[0] + b * q[0];
        x[2] = a * p[1] + b * q[1];
    }
}

/* Minimum on the faces of the cone over the polygon: tries every corner and every edge. */
static void minimize_on_faces_of_polygon_cone(const struct admissible_pressure_centres *patch,
                                              const double *h, const double *g, double *x)
{
    double he[TACT_PATCH_CORNERS][3], eg[TACT_PATCH_CORNERS], smallest_cone_objective = 0.0;
    int n = patch->corners;
    for (int i = 0; i < n; i++) {
        double e[3] = {1.0, patch->corner[i][0], patch->corner[i][1]};
        tact_m3_mul_v3(he[i], h, e);
        eg[i] = tact_v3_dot(e, g);
    }
    tact_v3_set(x, 0.0, 0.0, 0.0);
    for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        const double *p = patch->corner[i], *q = patch->corner[j];
        double pp = he[i][0] + p[0] * he[i][1] + p[1] * he[i][2];
        double pq = he[i][0] + q[0] * he[i][1] + q[1] * he[i][2];
        double qq = he[j][0] + q[0] * he[j][1] + q[1] * he[j][2];
        double det = pp * qq - pq * pq;
        if (eg[i] < 0.0 && pp > 0.0) {
            keep_smaller_minimum_on_face(-0.5 * eg[i] * eg[i] / pp, p, -eg[i] / pp, q, 0.0,
                                         &smallest_cone_objective, x);
        }
        if (det > TACT_PIVOT_FLOOR * pp * qq) {
            double a = (pq * eg[j] - qq * eg[i]) / det, b = (pq * eg[i] - pp * eg[j]) / det;
            if (a > 0.0 && b > 0.0) {
                keep_smaller_minimum_on_face(0.5 * (a * eg[i] + b * eg[j]), p, a, q, b,
                                             &smallest_cone_objective, x);
            }
        }
    }
}

static int satisfies_normal_law(const struct admissible_pressure_centres *patch, const double *x)
{
    if (!patch->corners) {
        return x[0] >= tact_hypot(x[1], x[2]);
    }
    for (int i = 0; i < patch->corners; i++) {
        const double *p = patch->corner[i], *q = patch->corner[(i + 1) % patch->corners];
        if ((q[0] - p[0]) * (x[2] - p[1] * x[0]) < (q[1] - p[1]) * (x[1] - p[0] * x[0])) {
            return 0;
        }
    }
    return x[0] >= 0.0;
}

int tact_normal_velocity_opens_patch(const struct admissible_pressure_centres *patch,
                                     const double *v)
{
    if (!patch->corners) {
        return v[0] >= tact_hypot(v[1], v[2]);
    }
    for (int i = 0; i < patch->corners; i++) {
        if (v[0] + patch->corner[i][0] * v[1] + patch->corner[i][1] * v[2] < 0.0) {
            return 0;
        }
    }
    return 1;
}

int tact_normal_minimize_over_cone(const struct admissible_pressure_centres *patch, const double *h,
                                   const double *g, double *x)
{
    if (tact_normal_velocity_opens_patch(patch, g)) {
        tact_v3_set(x, 0.0, 0.0, 0.0);
        return 0;
    }
    double a[9], last[3];
    tact_v3_copy(last, x);
    memcpy(a, h, sizeof a);
    tact_v3_scale(x, g, -1.0);
    tact_ldl_factor(a, 3);
    tact_ldl_solve(a, 3, x);
    if (satisfies_normal_law(patch, x)) {
        return 0;
    }
    tact_v3_copy(x, last);
    if (patch->corners) {
        minimize_on_faces_of_polygon_cone(patch, h, g, x);
    } else {
        minimize_on_cone_rim(h, g, x);
    }
    return 1;
}

double tact_polygon_edge_distance_ratio(const double (*corner)[2], int corners, const double *d)
{
    double most = 0.0,
           of = 1.0; /* the largest ratio of d to an edge's distance so far is most / of */
    const double *p = corner[corners - 1];
    for (int i = 0; i < corners; i++) {
        const double *q = corner[i];
        double n[2] = {q[1] - p[1], p[0] - q[0]}, far = n[0] * p[0] + n[1] * p[1];
        double at = n[0] * d[0] + n[1] * d[1];
        if (at > 0.0 && !(far > 0.0)) {
            return INFINITY;
        }
        if (at * of > most * far) {
            most = at;
            of = far;
        }
        p = q;
    }
    return most / of;
}
