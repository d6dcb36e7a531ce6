/*
 * Poles of surfaces over unit squares: a side that is one point. The squares about it make a polar
 * chart of its neighbourhood: with a along the side and b into the square, the position is pole + b
 * q(a, b), and q(a, 0) goes once round the tangent plane.
 */
#include "contact/shape/squares_internal.h"

#include <errno.h>

/* Distance from the pole, as a parameter, within which the curvature at this distance is used: at
 * it the curvature's rounding error is as small as its change up to the pole. */
#define MIN_POLE_DISTANCE_FOR_CURVATURE 0x1p-24
/* Length of a step, relative to the distance from the pole, up to which the chart is straight. */
#define MAX_STRAIGHT_CHART_STEP_RATIO 1e-3
/* Distance from the solution of Newton's method that counts as rounding, relative to the target's
 * distance from the pole. */
#define NEWTON_SOLUTION_DISTANCE_RATIO 1e-13

enum {
    MAX_SQUARES_ABOUT_POLE = 128,
    MAX_NEWTON_STEPS_ABOUT_POLE = 20, /* of Newton's method */
};

int tact_squares_pole_side(const struct square_charts *s, const double place[3], double ab[2])
{
    const double u = place[1], v = place[2];
    const double position_fraction_along_side[SQUARE_SIDES] = {u, v, 1.0 - u, 1.0 - v},
                 into[SQUARE_SIDES] = {v, 1.0 - u, 1.0 - v, u};
    for (int side = 0; side < SQUARE_SIDES; side++) {
        if (s->neighbour_over_edge[(int)place[0]][side] == SQUARE_POLE && into[side] <= 0.5) {
            ab[0] = position_fraction_along_side[side];
            ab[1] = into[side];
            return side;
        }
    }
    return -1;
}

/* Sets a place from its coordinates about a side. */
static void set_position_from_side_coordinates(double place[3], int square, int side, double a,
                                               double b)
{
    const double u[SQUARE_SIDES] = {a, 1.0 - b, 1.0 - a, b},
                 v[SQUARE_SIDES] = {b, a, 1.0 - b, 1.0 - a};
    tact_v3_set(place, square, u[side], v[side]);
}

/* Position and derivatives c, c_a / b, c_b, c_aa / b^2, c_ab / b, c_bb, the last three up to
 * vectors of the tangent plane: a chart over (a b, b) that is regular at the pole too. */
static void derivatives_regular_at_pole(const struct square_charts *s, int square, int side,
                                        double a, double b, double c[SECOND_ORDER][3])
{
    double q[SECOND_ORDER][3], pole[3];
    s->evaluate_about_pole(s, square, side, a, b, q, pole);
    tact_v3_copy(c[0], pole);
    tact_v3_axpy(c[0], b, q[0]);
    tact_v3_copy(c[1], q[1]);
    tact_v3_copy(c[2], q[0]);
    tact_v3_axpy(c[2], b, q[2]);
    tact_v3_scale(c[3], q[3], 1.0 / tact_max(b, MIN_POLE_DISTANCE_FOR_CURVATURE));
    tact_v3_copy(c[4], q[4]); /* c_ab / b = q_a / b + q_ab, and q_a is tangent */
    tact_v3_scale(c[5], q[2], 2.0);
    tact_v3_axpy(c[5], b, q[5]);
}

int tact_squares_point_about_pole(const struct square_charts *s, int square, int side, double a,
                                  double b, struct tact_surface_point *out)
{
    struct tact_surface_point near;
    double c[SECOND_ORDER][3];
    derivatives_regular_at_pole(s, square, side, a, b, c);
    int rc = tact_surface_point_from_chart_derivatives((const double(*)[3])c, out);
    if (!rc && b < MIN_POLE_DISTANCE_FOR_CURVATURE) {
        derivatives_regular_at_pole(s, square, side, a, MIN_POLE_DISTANCE_FOR_CURVATURE, c);
        rc = tact_surface_point_from_chart_derivatives((const double(*)[3])c, &near);
        for (int i = 0; i < 9; i++) {
            out->bend[i] = near.bend[i];
        }
    }
    return rc;
}

/* The neighbourhood of a pole: the tangent plane there. */
struct tangent_plane_at_pole {
    double origin[3], t[2][3];
};

/* Projects a vector onto the tangent plane of a pole. */
static void project_onto_pole_tangent_plane(const struct tangent_plane_at_pole *plane,
                                            const double v[3], double out[2])
{
    out[0] = tact_v3_dot(plane->t[0], v);
    out[1] = tact_v3_dot(plane->t[1], v);
}

static double cross_product_in_plane(const double x[2], const double y[2])
{
    return x[0] * y[1] - x[1] * y[0];
}

/* The squares go round a pole clockwise, seen from outside. Sine of the angle by which a direction
 * is inside half a square's sector about the pole, from a to a + 1/2, at least: negative outside.
 */
static double sine_of_direction_inside_pole_sector(const struct square_charts *s,
                                                   const struct tangent_plane_at_pole *plane,
                                                   int square, int side, double a,
                                                   const double to[2])
{
    double q[SECOND_ORDER][3], pole[3], d[2][2], depth[2];
    for (int i = 0; i < 2; i++) {
        s->evaluate_about_pole(s, square, side, a + 0.5 * i, 0.0, q, pole);
        project_onto_pole_tangent_plane(plane, q[0], d[i]);
    }
    for (int i = 0; i < 2; i++) {
        depth[i] = (i ? cross_product_in_plane(d[1], to) : cross_product_in_plane(to, d[0])) /
                   tact_hypot(d[i][0], d[i][1]);
    }
    return tact_min(depth[0], depth[1]);
}

/* Solves b q(a, b) = to in the tangent plane by Newton's method, within a square. 1: solved. */
static int solve_position_about_pole(const struct square_charts *s,
                                     const struct tangent_plane_at_pole *plane, int square,
                                     int side, const double to[2], double ab[2])
{
    const double size = tact_hypot(to[0], to[1]);
    for (int i = 0; i < MAX_NEWTON_STEPS_ABOUT_POLE; i++) {
        double q[SECOND_ORDER][3], pole[3], v[3], value[2], da[2], db[2], off[2];
        s->evaluate_about_pole(s, square, side, ab[0], ab[1], q, pole);
        project_onto_pole_tangent_plane(plane, q[0], value);
        project_onto_pole_tangent_plane(plane, q[1], da);
        tact_v3_copy(v, q[0]);
        tact_v3_axpy(v, ab[1], q[2]);
        project_onto_pole_tangent_plane(plane, v, db);
        for (int k = 0; k < 2; k++) {
            off[k] = to[k] - ab[1] * value[k];
            da[k] *= ab[1];
        }
        if (tact_hypot(off[0], off[1]) <= NEWTON_SOLUTION_DISTANCE_RATIO * size) {
            return 1;
        }
        const double det = cross_product_in_plane(da, db);
        const double next[2] = {ab[0] + cross_product_in_plane(off, db) / det,
                                ab[1] + cross_product_in_plane(da, off) / det};
        if (!(next[1] > 0.0 && next[1] <= 1.0) || !isfinite(next[0])) {
            return 0;
        }
        if (i > 0 && (next[0] < 0.0 || next[0] > 1.0) && (ab[0] <= 0.0 || ab[0] >= 1.0)) {
            return 1; /* at the edge of the square: what is left of the step is of the second order
                       */
        }
        ab[0] = tact_min(tact_max(next[0], 0.0), 1.0);
        ab[1] = next[1];
    }
    return 1;
}

int tact_squares_move_about_pole(const struct square_charts *s, double place[3],
                                 const double step[3])
{
    struct tact_surface_point p;
    struct tangent_plane_at_pole plane;
    double ab[2], q[SECOND_ORDER][3], from[3], to[2], best = -INFINITY, start = 0.0;
    int side = tact_squares_pole_side(s, place, ab), square = (int)place[0];
    int square_of_pole_sector = square, side_of_pole_sector = side;
    if (side < 0) {
        return 0;
    }
    s->evaluate_about_pole(s, square, side, ab[0], ab[1], q, plane.origin);
    tact_v3_scale(from, q[0], ab[1]);
    if (tact_v3_norm(step) <= MAX_STRAIGHT_CHART_STEP_RATIO * tact_v3_norm(from) ||
        tact_squares_point_about_pole(s, square, side, ab[0], 0.0, &p)) {
        return 0;
    }
    tact_v3_tangents(p.normal, plane.t[0], plane.t[1]);
    tact_v3_add(from, from, step);
    project_onto_pole_tangent_plane(&plane, from, to);
    const double size = tact_hypot(to[0], to[1]);
    if (!(size > 0.0)) {
        set_position_from_side_coordinates(place, square, side, ab[0], 0.0);
        return isfinite(size);
    }
    for (int i = 0; i < MAX_SQUARES_ABOUT_POLE && (i == 0 || square != (int)place[0]); i++) {
        for (int half = 0; half < 2; half++) {
            double depth =
                sine_of_direction_inside_pole_sector(s, &plane, square, side, 0.5 * half, to);
            if (depth > best) {
                best = depth;
                start = 0.25 + 0.5 * half;
                square_of_pole_sector = square;
                side_of_pole_sector = side;
            }
        }
        const int next = s->neighbour_over_edge[square][(side + 1) % SQUARE_SIDES];
        square = next / SQUARE_SIDES;
        side = (next % SQUARE_SIDES + 1) % SQUARE_SIDES;
    }
    s->evaluate_about_pole(s, square_of_pole_sector, side_of_pole_sector, start, 0.0, q, from);
    ab[0] = start;
    ab[1] = tact_min(size / tact_v3_norm(q[0]), 1.0);
    if (!solve_position_about_pole(s, &plane, square_of_pole_sector, side_of_pole_sector, to, ab)) {
        return 0;
    }
    set_position_from_side_coordinates(place, square_of_pole_sector, side_of_pole_sector, ab[0],
                                       ab[1]);
    return 1;
}
