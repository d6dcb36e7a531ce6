/*
 * The charts of smooth surfaces as Kry and Pai (2003) need them: position and all partial
 * derivatives up to the third order over a domain, and the way over its edges.
 */
#ifndef TACT_CONTACT_REDUCED_SURFACE_INTERNAL_H
#define TACT_CONTACT_REDUCED_SURFACE_INTERNAL_H

#include "contact/compare/jet_internal.h"
#include "contact/shape/charts.h"

/* A surface at its place in a frame, that of a body or the world. */
struct reduced_surface {
    const struct tact_shape *shape;
    double turn[9]; /* shape frame to that frame */
    double at[3];   /* origin of the shape there [m] */
};

/* A point of a surface by its chart. */
struct chart_point {
    int chart;
    double st[2];
};

/* 1 where the charts of a shape are known: it is smooth everywhere. */
int tact_reduced_surface_supported(const struct tact_shape *shape);

void tact_reduced_surface_place(struct reduced_surface *surface, const struct tact_shape *shape,
                                const struct tact_pose *pose);

/* The chart of a place as the closest points of contact/pair/smooth have it: of parametric surfaces
 * that of their charts, of others the point in the shape frame [m]. */
struct chart_point tact_reduced_surface_locate(const struct reduced_surface *surface,
                                               const double place[3]);

/* The point and its derivatives, with c_s x c_t outward [m]. */
void tact_reduced_surface_point(const struct reduced_surface *surface, const struct chart_point *p,
                                struct jet c[3]);

/* How far a point is inside the domain of its chart, in parameters; negative outside, with the
 * number of the edge in *edge. INFINITY for a chart without edges. */
double tact_reduced_surface_margin(const struct reduced_surface *surface,
                                   const struct chart_point *p, int *edge);

/* The same place, on an edge, in the chart beyond it (41). */
struct chart_point tact_reduced_surface_cross(const struct reduced_surface *surface,
                                              const struct chart_point *p, int edge);

#endif
