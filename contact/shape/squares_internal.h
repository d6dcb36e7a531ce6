/*
 * Surfaces whose charts are over unit squares, each with a neighbour over each of its sides. A
 * place is (square, u, v). The kinds of such surfaces differ in how they evaluate a square.
 */
#ifndef TACT_CONTACT_SQUARES_INTERNAL_H
#define TACT_CONTACT_SQUARES_INTERNAL_H

#include "contact/shape/charts_internal.h"

/* Sides of a square, numbered counter-clockwise about the normal c_u x c_v, from v = 0. */
enum { SQUARE_SIDES = 4 };

/* Number of derivatives of a chart up to an order, the position included. */
enum { SECOND_ORDER = 6, THIRD_ORDER = 10 };

/* A surface of squares: the first member of the struct of each kind of such surfaces. */
struct square_charts {
    struct tact_charts base;
    int count;
    int (*neighbour_over_edge)[SQUARE_SIDES]; /* neighbour of each square over each side: 4 times
                                    its index, plus its side; freed with the surface */
    void *owned[2]; /* data of the kind, freed with the surface; NULL: none */
    /* Computes position and derivatives of a square's chart: c, c_u, c_v, c_uu, c_uv, c_vv, and
     * with THIRD_ORDER c_uuu, c_uuv, c_uvv, c_vvv. count: SECOND_ORDER or THIRD_ORDER, the rows of
     * c. */
    void (*evaluate)(const struct square_charts *surface, int square, double u, double v, int count,
                     double (*c)[3]);
};

/* A part of a surface for quadrature: gives point and derivatives c, c_s, c_t over a unit square,
 * with c_s x c_t outward. */
typedef void square_element(const struct square_charts *surface, int element_index, double s,
                            double t, double c[3][3]);

/* Parameters (u, v) at a fraction of a square's side. */
void tact_square_point_on_side(int side, double along, double uv[2]);

/* Initialises a surface of squares with the functions of its kind; the caller sets count, beside
 * and evaluate. */
void tact_squares_init(struct square_charts *surface);

/* Volume, centroid and inertia by Gauss's quadrature of parts x parts sections of each element,
 * eight points along each side: exact for polynomials of degree 15. */
void tact_squares_set_mass(struct square_charts *surface, square_element *element_index, int count,
                           int parts);

/* Completes a surface of squares: checks that the volume is positive, and makes the triangulation
 * and the tree of cells. inward_error: the message where it is not. -EINVAL with a message;
 * -ENOMEM. */
int tact_squares_finish(struct square_charts *surface, const char *inward_error,
                        struct tact_error *err);

#endif
