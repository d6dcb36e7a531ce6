/* Closest points of two smooth surfaces, with their common normal, gap and curvatures. */
#ifndef TACT_CONTACT_CLOSEST_INTERNAL_H
#define TACT_CONTACT_CLOSEST_INTERNAL_H

#include "contact/shape/charts.h"

/* Two smooth shapes at their poses; vectors are along the world's axes. */
struct smooth_pair {
    const struct tact_shape *shape[2]; /* A, B */
    /* parametric surfaces of the two shapes; NULL: the surface has a closed form */
    const struct tact_charts *charts[2];
    double rotation[2][9]; /* rotation matrices from the shape frames to the world */
    double offset_from_origin_b_to_origin_a[3]; /* from B's origin to A's [m] */
};

/* A contact of two smooth surfaces: points with opposite normals whose connection is along them. */
struct smooth_contact {
    double place[2][3]; /* surface positions of A's and B's point: those of the charts, else points
                           in the shape frames [m] */
    double arm[2][3];   /* vectors from the shapes' origins to the points, world axes [m] */
    double frame[9];    /* rows of the contact frame: n, outward from B, then t1, t2 */
    double gap;         /* gap along n from B to A [m]; negative: overlap */
    double bend[2][4];  /* Weingarten maps of A and B over t1, t2, row-major [1/m] */
};

/* Sets a pair of shapes at their poses. The charts are those that the shapes have; solids with
 * edges have none of their own. */
void tact_smooth_set_pair(const struct tact_shape *a, const struct tact_pose *pose_a,
                          const struct tact_shape *b, const struct tact_pose *pose_b,
                          struct smooth_pair *out);

/* Point of the surface of A (k = 0) or B (k = 1) at a surface position, shape frame. */
int tact_smooth_surface_point(const struct smooth_pair *pair, int k, const double place[3],
                              struct tact_surface_point *out);

/* Finds the closest points near c->place by Newton's method. 0, or -EDOM where it does not converge
 * to a local minimum of the distance. */
int tact_smooth_refine_closest_points(const struct smooth_pair *pair, struct smooth_contact *c);

/* 1 where tact_smooth_find_closest_points() supports both shapes: both strictly convex, or one of
 * them and a half-space. */
int tact_smooth_supports_convex_pair(const struct tact_shape *a, const struct tact_shape *b);

/* Finds the closest points of a convex pair from any poses; where the shapes overlap, those of a
 * direction along which the overlap is locally smallest. 0 or -EDOM. */
int tact_smooth_find_closest_points(const struct smooth_pair *pair, struct smooth_contact *c);

/* Solves the 2 x 2 system M x = y; returns 0 for a singular M. */
int tact_smooth_solve_2x2(const double m[4], const double y[2], double x[2]);

#endif
