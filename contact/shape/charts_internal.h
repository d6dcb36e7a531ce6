/* Parametric surfaces: what their kinds implement, and the tree of their cells. */
#ifndef TACT_CONTACT_CHARTS_INTERNAL_H
#define TACT_CONTACT_CHARTS_INTERNAL_H

#include "contact/shape/charts.h"

/* Depth of the stack on which the nodes of a tree over a surface, which is balanced, are visited;
 * of two trees, twice this. */
enum { CHART_TREE_STACK_DEPTH = 128 };

/* A node of the tree over the cells of a surface, shape frame: a ball that contains its part of the
 * surface and a cone that contains the outward normals there. */
struct chart_node {
    double center[3];
    double radius;                      /* [m] */
    double node_extent_along_cone_axis; /* largest distance of the node's points from its centre
                    along the axis of the normal cone [m] */
    double axis[3];                     /* unit */
    double normal_cone_cosine; /* cosine of the half angle of the normal cone; -1: all directions */
    double sine;
    /* mean Weingarten map of the node's points over the plane across the axis [1/m] */
    double bend[9];
    double max_curvature_deviation; /* largest deviation from the mean Weingarten map: Frobenius
                                       norm [1/m] */
    int first; /* index of an inner node's first child, which the second one follows; -1: a leaf */
    double place[3]; /* place in the middle of a leaf's cell */
};

/* Implementation of a kind of parametric surface. */
struct chart_surface_type {
    int (*point)(const struct tact_charts *charts, const double place[3],
                 struct tact_surface_point *out);
    void (*move)(const struct tact_charts *charts, double place[3], const double step[3]);
    /* frees what the surface owns besides its struct; NULL: nothing */
    void (*release)(struct tact_charts *charts);
};

/* Base of every kind's surface: the first member of the kind's struct, which is one allocation. */
struct tact_charts {
    const struct chart_surface_type *type;
    /* triangulation of the surface; NULL where only the surface is needed */
    struct tact_mesh *mesh;
    struct tact_shape_mass mass; /* at unit density */
    double radius; /* radius of a ball about the origin that contains the surface [m] */
    int edges;     /* 1: the surface has edges, at which the normal is discontinuous */
    int node_count;
    struct chart_node *nodes; /* the root first */
};

/* Largest distance of a node's points from its centre along a unit vector, shape frame [m]. */
double tact_chart_node_extent_along(const struct chart_node *node, const double along[3]);

/* Mass properties and bounding radius of a shape with charts of its own, for the rows of such
 * kinds. */
void tact_charts_mass(const struct tact_shape *shape, struct tact_shape_mass *out);
double tact_charts_bounding_radius(const double size[3]);

/* A cell of a surface: nine places on a grid of 3 x 3 over it, the middle one being its place. */
struct chart_surface_cell {
    double place[9][3];
};

/* Builds the tree over a surface's cells. -EINVAL where a place has no point; -ENOMEM. */
int tact_charts_build(struct tact_charts *charts, const struct chart_surface_cell *cell, int count);

/* The surface of revolution of a polygon (r, z) that begins and ends on the axis, with an edge at
 * each of its corners; without triangulation and mass. -ENOMEM. */
int tact_charts_of_rotated_polygon(const double (*corner)[2], int count, struct tact_charts **out);

#endif
