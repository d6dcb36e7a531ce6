/*
 * The Minkowski difference A - B of two cores, in the frame of A, so that precision does not depend
 * on the distance from the world's origin. The cores overlap where it contains the origin;
 * otherwise the vector to its point nearest to the origin is the shortest from B to A.
 */
#ifndef TACT_CONTACT_DIFFERENCE_INTERNAL_H
#define TACT_CONTACT_DIFFERENCE_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* Largest rounding error of a difference between a distance and its bound, relative to the size of
 * the pair. */
#define TACT_MINKOWSKI_ROUNDING_RATIO 1e-16

/* A point of the Minkowski difference, and the vertices of A and B whose difference it is. */
struct tact_minkowski_point {
    double w[3]; /* [m] */
    int64_t a, b;
};

/* A simplex: up to four points of the Minkowski difference, affinely independent except for
 * rounding. */
struct tact_simplex {
    int count;
    struct tact_minkowski_point point[4];
};

struct tact_convex_core_pair {
    const struct tact_convex_core *a, *b;
    double rotation[9]; /* rotation matrix from B's frame to A's, row-major */
    double shift[3];    /* position of B's origin in A's frame [m] */
    double size;        /* size of the pair: magnitude of the coordinates that are subtracted [m] */
    int64_t start_vertex_a,
        start_vertex_b; /* vertices of A and B at which the next support searches start; -1: none */
    int support_search_count; /* number of support searches so far */
};

/* Nearest points of two cores: result of a search for their distance or penetration depth. */
struct tact_nearest_points {
    double distance;  /* distance of the cores [m]; negative: length of the least translation that
                         separates them */
    double bound;     /* bound: the distance is at least this, the depth at most its negative [m] */
    double normal[3]; /* unit normal from B to A, A's frame */
    double nearest_point_on_a[3],
        nearest_point_on_b[3]; /* nearest points of the cores, A's frame [m] */
    /* vertices of the features of A and B that contain the nearest points */
    struct tact_simplex from;
};

/* Sets the pose of B in A's frame, from both poses in the world. rotation: receives the rotation
 * matrices from the frames of A and B to the world, row-major. */
void tact_convex_core_pair_set_poses(struct tact_convex_core_pair *pair,
                                     const struct tact_convex_core *a,
                                     const struct tact_pose *pose_a,
                                     const struct tact_convex_core *b,
                                     const struct tact_pose *pose_b, double rotation[2][9]);

/* The point of the Minkowski difference that belongs to a vertex of A and one of B, at the present
 * poses. */
static inline void tact_minkowski_from_vertices(const struct tact_convex_core_pair *pair, int64_t a,
                                                int64_t b, struct tact_minkowski_point *out)
{
    double of_a[3], of_b[3], moved[3];
    tact_convex_core_vertex_position(pair->a, a, of_a);
    tact_convex_core_vertex_position(pair->b, b, of_b);
    tact_m3_mul_v3(moved, pair->rotation, of_b);
    tact_v3_add(moved, moved, pair->shift);
    tact_v3_sub(out->w, of_a, moved);
    out->a = a;
    out->b = b;
}

/* The vector from one point of the Minkowski difference to another, A's frame [m], from the
 * differences of the vertices of each body: where the points have a vertex in common, and where
 * neighbouring vertices are close to each other, it is more precise than the difference of the
 * points, each of which is rounded at the size of the pair. */
void tact_minkowski_edge(const struct tact_convex_core_pair *pair,
                         const struct tact_minkowski_point *from,
                         const struct tact_minkowski_point *to, double edge[3]);

/* The point of the Minkowski difference that is farthest along d (A's frame, of any length). */
void tact_minkowski_find_support_point(struct tact_convex_core_pair *pair, const double d[3],
                                       struct tact_minkowski_point *out);

/* The point of the Minkowski difference that is farthest along d; returns 1 where it is already a
 * point of the simplex, which is then copied. */
int tact_minkowski_does_support_repeat(struct tact_convex_core_pair *pair,
                                       const struct tact_simplex *simplex, const double d[3],
                                       struct tact_minkowski_point *out);

/* Order of points of the difference by the indices of their vertices. */
static inline int tact_minkowski_point_sorts_before(const struct tact_minkowski_point *one,
                                                    const struct tact_minkowski_point *other)
{
    return one->a != other->a ? one->a < other->a : one->b < other->b;
}

/* 1 where the point `of` is among the first `count` points. */
int tact_minkowski_point_is_repeated(const struct tact_minkowski_point *points, int count,
                                     const struct tact_minkowski_point *of);

/*
 * Finds the point of the Minkowski difference nearest to the origin (Gilbert, Johnson and Keerthi
 * 1988). simplex: on input up to 3 points to start from; on output those that span the nearest
 * point, or four that contain the origin and have volume. The search ends where the support
 * repeats, which is exact for polytopes. 1: separated; 0: the cores overlap, or are nearer than
 * rounding allows a direction to be computed.
 */
int tact_gjk_find_nearest_points(struct tact_convex_core_pair *pair, struct tact_simplex *simplex,
                                 struct tact_nearest_points *out);

/*
 * Finds the nearest points of two polytopes with the bodies moved along the normal n of their
 * separation, of which `distance` [m] is the length, to a distance at which rounding affects the
 * search least. The nearest points remain what they are. s: on input up to 3 points to start from;
 * on output those that span the nearest point; nearest_point_of_a: the nearest point of A, A's
 * frame; v: the vector to it from that of B, as the bodies are [m]. Returns 0 where there are none,
 * as of a normal that does not separate them.
 */
int tact_nearest_points_after_shift(const struct tact_convex_core_pair *pair, const double n[3],
                                    double distance, struct tact_simplex *s,
                                    double nearest_point_of_a[3], double v[3]);

/* Barycentric weights of up to three points in the point of their simplex nearest to the origin. */
void tact_simplex_weights(const struct tact_simplex *simplex, double weight[3]);

/* Sets the normal of two separated cores and the bound of their distance. simplex: the one, two or
 * three points that span the nearest point v; out: on input the distance, on output normal and
 * bound as well. */
void tact_find_separating_normal(struct tact_convex_core_pair *pair,
                                 const struct tact_simplex *simplex, const double *v,
                                 struct tact_nearest_points *out);

enum { TACT_WORKING_SET = 12 }; /* capacity of a working set */

/* Points of the Minkowski difference among which the nearest vertex, edge or plane is searched. */
struct tact_minkowski_point_set {
    int count;
    struct tact_minkowski_point point[TACT_WORKING_SET];
};

/* Raises the bound of a distance to the greatest, from the normals of all vertices, edges and
 * planes of a growing set of points: `set` has the points to start with, and gets those among which
 * the normal was found. v: a vector to a point near the nearest; out: normal and bound so far. */
void tact_improve_distance_bound(struct tact_convex_core_pair *pair,
                                 struct tact_minkowski_point_set *set, const double *v,
                                 struct tact_nearest_points *out);

/* Refines the approximate result for a pair with a curved core to an exact one: normal, distance
 * and points. */
void tact_refine_normal_of_curved_cores(struct tact_convex_core_pair *pair,
                                        struct tact_nearest_points *found);

/* Return value of tact_epa_find_nearest_points(): the Minkowski difference of the cores has no
 * volume. */
enum { TACT_EPA_FLAT = 2 };

/*
 * Finds the least translation that separates two overlapping cores (van den Bergen 2001): the face
 * of the difference nearest to the origin, by expanding a polytope inside the difference. It starts
 * from the simplex, which is completed to a tetrahedron, and ends where the support of the nearest
 * face repeats. simplex: on input points to start from. out->distance may be positive by rounding,
 * for cores that touch. 1: found; TACT_EPA_FLAT: the difference has no volume, and is taken to
 * contain the origin; 0: they are separated; -1: the capacity was exceeded, and bound differs from
 * the distance by more than rounding.
 */
int tact_epa_find_nearest_points(struct tact_convex_core_pair *pair,
                                 const struct tact_simplex *simplex,
                                 struct tact_nearest_points *out);

/*
 * As tact_epa_find_nearest_points() for polytopes that touch, as bodies at rest do, from the three
 * points of the last result: where they are still a facet of the difference that contains the
 * origin except for rounding, no other facet is nearer by more than that, and none is searched. 1:
 * found; 0: it has to be searched.
 */
int tact_epa_find_touching_face(struct tact_convex_core_pair *pair,
                                const struct tact_simplex *simplex,
                                struct tact_nearest_points *out);

/*
 * Replaces the result of tact_epa_find_nearest_points() for polytopes by the facet of A - B which
 * is the farthest along its normal (out of which the translation is the shortest), among those at
 * the points of the result, then at the points of that facet, until none is farther. Where a body
 * is thin, or has short edges, rounding may hide that facet from the polytope.
 */
void tact_epa_move_to_farthest_facet(struct tact_convex_core_pair *pair,
                                     struct tact_nearest_points *out);

#endif
