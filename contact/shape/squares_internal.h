/*
 * Surfaces whose charts are over unit squares, each with a neighbour over each of its sides. A
 * place is (square, u, v). The kinds of such surfaces differ in how they evaluate a square.
 */
#ifndef TACT_CONTACT_SQUARES_INTERNAL_H
#define TACT_CONTACT_SQUARES_INTERNAL_H

#include "contact/shape/charts_internal.h"

/* Sides of a square, numbered counter-clockwise about the normal c_u x c_v, from v = 0. */
enum { SQUARE_SIDES = 4 };

/* In place of a neighbour: the side is collapsed to a point of the surface, a pole. */
enum { SQUARE_POLE = -1 };

/* Number of derivatives of a chart up to an order, the position included. */
enum { SECOND_ORDER = 6, THIRD_ORDER = 10 };

/* A surface of squares: the first member of the struct of each kind of such surfaces. */
struct square_charts {
    struct tact_charts base;
    int count;
    int (*neighbour_over_edge)[SQUARE_SIDES]; /* neighbour of each square over each side: 4 times
                                    its index, plus its side, or SQUARE_POLE; freed with the
                                    surface */
    void *owned[2]; /* data of the kind, freed with the surface; NULL: none */
    /* Computes position and derivatives of a square's chart: c, c_u, c_v, c_uu, c_uv, c_vv, and
     * with THIRD_ORDER c_uuu, c_uuv, c_uvv, c_vvv. count: SECOND_ORDER or THIRD_ORDER, the rows of
     * c. */
    void (*evaluate)(const struct square_charts *surface, int square, double u, double v, int count,
                     double (*c)[3]);
    /* Computes q = (c - pole) / b and its derivatives q_a, q_b, q_aa, q_ab, q_bb about a side that
     * is a pole: a along the side, counter-clockwise, b into the square. Of a kind without poles
     * NULL. */
    void (*evaluate_about_pole)(const struct square_charts *surface, int square, int side, double a,
                                double b, double q[SECOND_ORDER][3], double pole[3]);
};

/* A part of a surface for quadrature: gives point and derivatives c, c_s, c_t over a unit square,
 * with c_s x c_t outward. */
typedef void evaluate_square_element(const struct square_charts *surface,
                                     int quadrature_element_index, double s, double t,
                                     double c[3][3]);

/* Parameters (u, v) at a fraction of a square's side. */
void tact_square_point_on_side(int side, double fraction_from_side_start, double uv[2]);

/* A side of a place's square that is a pole and next to the place, with the coordinates a along it
 * and b <= 1/2 from it; -1: none. */
int tact_squares_pole_side(const struct square_charts *surface, const double place[3],
                           double ab[2]);

/* Point, normal and curvature at coordinates about a side that is a pole. -EDOM where there is no
 * normal. */
int tact_squares_point_about_pole(const struct square_charts *surface, int square, int side,
                                  double a, double b, struct tact_surface_point *out);

/* Point, normal and curvature of a chart from its position and derivatives up to the second order.
 * -EDOM where the chart is singular. */
int tact_surface_point_from_chart_derivatives(const double c[SECOND_ORDER][3],
                                              struct tact_surface_point *out);

/* Moves a place near a pole by a tangent step [m]: in the tangent plane of the pole, as its chart
 * is polar. 1; 0 where the place is not near a pole, or the step leads away from it. */
int tact_squares_move_about_pole(const struct square_charts *surface, double place[3],
                                 const double step[3]);

/* Initialises a surface of squares with the functions of its kind; the caller sets count, beside
 * and evaluate. */
void tact_squares_init_surface(struct square_charts *surface);

/* Volume, centroid and inertia by Gauss's quadrature of parts x parts sections of each element,
 * eight points along each side: exact for polynomials of degree 15. */
void tact_squares_set_mass(struct square_charts *surface,
                           evaluate_square_element *quadrature_element_index, int count, int parts);

/* Completes a surface of squares: checks that the volume is positive, and makes the triangulation
 * and the tree of cells. message_if_normals_are_inward: the message where it is not. -EINVAL with a
 * message; -ENOMEM. */
int tact_squares_triangulate_and_check(struct square_charts *surface,
                                       const char *message_if_normals_are_inward,
                                       struct tact_error *err);

#endif
