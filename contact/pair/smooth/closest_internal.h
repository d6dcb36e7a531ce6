/* Closest points of two smooth surfaces: points, common normal, gap and curvatures. */
#ifndef TACT_CONTACT_CLOSEST_INTERNAL_H
#define TACT_CONTACT_CLOSEST_INTERNAL_H

#include "contact/shape/charts.h"

/* Two shapes at their poses; vectors are along the world's axes. */
struct smooth_pair {
    const struct tact_shape *shape[2]; /* A, B */
    const struct tact_charts
        *charts[2];    /* parametric surfaces of the two shapes; NULL: in closed form */
    double turn[2][9]; /* shape frame to world */
    double apart[3];   /* from B's origin to A's [m] */
};

/* A pair of points with opposite normals whose connection is along them. */
struct smooth_contact {
    double place[2][3]; /* place of A and B: places of the charts, else points, shape frames [m] */
    double arm[2][3];   /* the points from the shapes' origins, world axes [m] */
    double frame[9];    /* rows: n, outward from B, then t1, t2 */
    double gap;         /* along n from B to A [m]; negative: overlap */
    double bend[2][4];  /* Weingarten maps of A and B over t1, t2, row-major [1/m] */
};

/* The charts are those that the shapes have; solids with edges have none of their own. */
void tact_smooth_pair(const struct tact_shape *a, const struct tact_pose *pose_a,
                      const struct tact_shape *b, const struct tact_pose *pose_b,
                      struct smooth_pair *out);

/* Surface of A (k = 0) or B at a place, shape frame. */
int tact_smooth_surface_point(const struct smooth_pair *pair, int k, const double place[3],
                              struct tact_surface_point *out);

/* Closest points near c->place, by Newton's method. 0, or -EDOM where it does not converge to a
 * local minimum of the distance. */
int tact_smooth_follow_closest(const struct smooth_pair *pair, struct smooth_contact *c);

/* 1 where tact_smooth_find_closest() supports both kinds: both strictly convex, or one of them and
 * a half-space. */
int tact_smooth_supports_convex_pair(const struct tact_shape *a, const struct tact_shape *b);

/* Closest points of such a pair from any poses; where they overlap, those of a direction along
 * which the overlap is locally smallest. 0 or -EDOM. */
int tact_smooth_find_closest(const struct smooth_pair *pair, struct smooth_contact *c);

/* x = M^-1 y of a 2 x 2 matrix; 0 for a singular one. */
int tact_smooth_solve_2x2(const double m[4], const double y[2], double x[2]);

#endif
