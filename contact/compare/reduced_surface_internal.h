/*
 * Charts of smooth surfaces as Kry and Pai (2003) need them: position and all partial derivatives
 * up to the third order over a domain, and the continuation across its edges.
 */
#ifndef TACT_CONTACT_REDUCED_SURFACE_INTERNAL_H
#define TACT_CONTACT_REDUCED_SURFACE_INTERNAL_H

#include "contact/compare/jet_internal.h"
#include "contact/shape/charts.h"

/* A surface with its pose in the frame of its body or in the world. */
struct reduced_surface {
    const struct tact_shape *shape;
    double rotation[9]; /* rotation from the shape frame to that of the body or the world */
    double at[3];       /* origin of the shape frame in that of the body or the world [m] */
};

/* A point of a surface by chart number and chart coordinates. */
struct chart_point {
    int chart;
    double st[2];
};

/* 1 where a shape is smooth everywhere, so that its charts are known. */
int tact_reduced_surface_has_charts(const struct tact_shape *shape);

void tact_reduced_surface_set_pose(struct reduced_surface *surface, const struct tact_shape *shape,
                                   const struct tact_pose *pose);

/* Chart coordinates of a point given as contact/pair/smooth gives closest points: of parametric
 * surfaces in their charts, of others as the point in the shape frame [m]. */
struct chart_point tact_reduced_surface_find_chart_point(const struct reduced_surface *surface,
                                                         const double place[3]);

/* Point of the surface and its derivatives c_s, c_t, ...; c_s x c_t points outward [m]. */
void tact_reduced_surface_point(const struct reduced_surface *surface, const struct chart_point *p,
                                struct jet c[3]);

/* Distance of a point from the edge of its chart's domain, in chart parameters; negative outside,
 * with the number of the edge in *edge. INFINITY for a chart without edges. */
double tact_reduced_surface_edge_distance(const struct reduced_surface *surface,
                                          const struct chart_point *p, int *edge);

/* The point in the neighbouring chart, for a point on an edge of its chart (41). */
struct chart_point tact_reduced_surface_next_chart(const struct reduced_surface *surface,
                                                   const struct chart_point *p, int edge);

#endif
