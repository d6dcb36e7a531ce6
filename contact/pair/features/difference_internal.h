/*
 * The set of differences A - B of the points of two cores (their Minkowski difference), in the
 * frame of A, so that nothing is lost far from the world's origin. The cores overlap where it
 * contains the origin; else the vector to its point nearest to the origin is the shortest from B to
 * A.
 */
#ifndef TACT_CONTACT_DIFFERENCE_INTERNAL_H
#define TACT_CONTACT_DIFFERENCE_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* A point of it: the difference of two vertices. */
struct tact_difference {
    double w[3]; /* [m] */
    int64_t a, b;
};

/* Up to four of its points, affinely independent but for rounding. */
struct tact_simplex {
    int count;
    struct tact_difference point[4];
};

struct tact_core_pair {
    const struct tact_core *a, *b;
    double turn[9];     /* from B's frame to A's, row-major */
    double shift[3];    /* of B's origin in A's frame [m] */
    double size;        /* of the coordinates that are subtracted [m] */
    int64_t at_a, at_b; /* where the next searches of a support start; -1: nowhere in particular */
    int supports;       /* searches made */
};

/* What a search of the least distance or depth came to. */
struct tact_nearest {
    double distance;         /* [m]; negative: depth of the least translation */
    double bound;            /* the distance is at least this, the depth at most its negative [m] */
    double normal[3];        /* unit, from B to A, A's frame */
    double on_a[3], on_b[3]; /* the points of the cores that are nearest, A's frame [m] */
    struct tact_simplex from; /* of the features that they are on */
};

/* Places B in A's frame. */
void tact_core_pair_place(struct tact_core_pair *pair, const struct tact_core *a,
                          const struct tact_pose *pose_a, const struct tact_core *b,
                          const struct tact_pose *pose_b);

/* A difference of two vertices, at the present poses. */
void tact_difference_of(const struct tact_core_pair *pair, int64_t a, int64_t b,
                        struct tact_difference *out);

/* The one furthest along d (A's frame, of any length). */
void tact_difference_support(struct tact_core_pair *pair, const double d[3],
                             struct tact_difference *out);

/* Whether it is among the first `count` points. */
int tact_difference_repeats(const struct tact_difference *points, int count,
                            const struct tact_difference *of);

/*
 * Gilbert, Johnson and Keerthi (1988): the point nearest to the origin. simplex: in, points to
 * start from, any number up to 3; out, those that the nearest point is on, or about the origin. It
 * ends where the support repeats, which on polytopes is exact. 1: apart; 0: they overlap, or are
 * nearer than rounding lets a direction be known.
 */
int tact_gjk(struct tact_core_pair *pair, struct tact_simplex *simplex, struct tact_nearest *out);

/* Weights of up to three points in the point of their simplex that is nearest to the origin. */
void tact_simplex_weights(const struct tact_simplex *simplex, double weight[3]);

/* The normal of a separation and its bound. simplex: the one, two or three points that the nearest
 * point v is on; out: in, the distance; out, normal and bound. */
void tact_separating_normal(struct tact_core_pair *pair, const struct tact_simplex *simplex,
                            const double *v, struct tact_nearest *out);

/* Makes the result of a pair of which a core is curved exact, which was found nearly: its normal,
 * distance and points. */
void tact_settle_normal(struct tact_core_pair *pair, struct tact_nearest *found);

/*
 * The least translation (van den Bergen 2001): the face of the difference nearest to the origin, by
 * expanding a polytope that starts from the simplex, where it has volume, and contains the origin
 * in the end. It ends where the support of the nearest face repeats. simplex: in, points to start
 * from. out->distance may be over 0 by rounding, of cores that touch. 1: found; 0: they are apart;
 * -1: room ran out, and bound is less than the distance by more than rounding.
 */
int tact_epa(struct tact_core_pair *pair, const struct tact_simplex *simplex,
             struct tact_nearest *out);

#endif
