/** The rim of an overlap: where the surfaces of two meshes cross; not installed.
 *
 * Every decision is the sign of a determinant of corners as they are placed, and is found from the
 * same numbers wherever it is asked for, so that neighbours agree even where rounding has the last
 * word. What still does not fit together is told, never guessed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_INTERNAL_H

#include <float.h>

#include "moments_near_internal.h"
#include "moments_surface_internal.h"

#define tact_rim_place TACT_VARIANT(tact_rim_place)
#define tact_rim_span TACT_VARIANT(tact_rim_span)
#define tact_rim_cross_pending TACT_VARIANT(tact_rim_cross_pending)
#define tact_rim_hold_leaves TACT_VARIANT(tact_rim_hold_leaves)
#define tact_rim_find TACT_VARIANT(tact_rim_find)
#define tact_rim_share TACT_VARIANT(tact_rim_share)
#define tact_rim_bring_back TACT_VARIANT(tact_rim_bring_back)

/** Leaves of one mesh that may meet the other's, most; segments of the rim; corners of one mesh
 *  that are known to be inside or outside; levels of the tree over what is near;
 *  times that the rim may cross an edge of a triangle in one sense; triangles of A that are held
 *  against four of B together. */
enum {
    TACT_RIM_LEAVES = 16384,
    TACT_RIM_SEGMENTS = 32768,
    TACT_RIM_KNOWN_BITS = 16,
    TACT_RIM_KNOWN = 1 << TACT_RIM_KNOWN_BITS,
    TACT_RIM_LEVELS = 5,
    TACT_RIM_ON_EDGE = 16,
    TACT_RIM_BATCH = 16
};

#define TACT_RIM_NONE UINT32_MAX

/** Triangles of a leaf, a lane each. Lanes past count repeat the first. */
struct tact_rim_leaf {
    tact_d4 p[3][3]; /* [corner][coordinate] */
    tact_d4 n[3];    /* twice the area, outward */
    tact_d4 size;    /* greatest coordinate of the edges from corner 0 */
    tact_f4 lower[3],
        upper[3];  /* in the unit of the pair, with what single precision loses added */
    double within; /* heights over one of its planes, times twice the area, that are below this may
                      be those of a triangle that lies in it */
    uint32_t first, count;
    uint32_t meets;      /* whether its box meets that of any leaf of the other mesh */
    uint32_t index;      /* among the leaves of the mesh */
    uint16_t corner[12]; /* those that are distinct, in the table of corners */
};

/** A box of tact_rim_side.eights: of leaf k (level 0) or of 8 boxes of the level below, from 8 k.
 */
TACT_INLINE uint32_t tact_rim_box(uint32_t level, uint32_t k)
{
    return level << 16 | k;
}

/** Where the surfaces of two triangles cross, with B inside on the left as seen from outside A. */
struct tact_rim_segment {
    tact_d4 end[2];       /* start and end */
    double along[2];      /* where on the edge that the start, the end lies on: 0 to 1 */
    uint8_t edge[2];      /* that edge: 0 to 2 of A's triangle, 3 to 5 of B's */
    uint32_t triangle[2]; /* of A, of B: 4 times the place among its leaves, and the lane */
    uint32_t next[2];     /* segment of the same triangle */
};

/** A triangle of a leaf of A against the four of a leaf of B: heights of the corners of each over
 *  the plane of the other, times twice its area. */
struct tact_rim_heights {
    tact_d4 of_a[3], of_b[3];
};

/** Boxes of eight nodes or leaves side by side, in the unit of the pair. All of a box that meets
 * none of the other mesh is inside it or outside. */
struct tact_rim_eight {
    tact_f8 lower[3], upper[3];
};

/** A triangle of A and those of a leaf of B that it may cross. */
struct tact_rim_pending {
    uint32_t a; /* 4 times the place of its leaf, and the lane */
    uint32_t b; /* 16 times the place of the leaf, and a bit for each triangle */
};

/** One mesh of a pair. */
struct tact_rim_side {
    uint32_t count;              /* leaves near */
    int top;                     /* level of the root */
    uint32_t at[TACT_NEAR_MOST]; /* place of each leaf in leaf, or NONE */
    struct tact_rim_eight eights[TACT_NEAR_MOST / 7 + 8];
    uint32_t level[TACT_RIM_LEVELS]; /* first of eights */
    uint32_t apart[TACT_NEAR_MOST];  /* boxes that meet no leaf of the other: tact_rim_box() */
    uint32_t apart_count;
    uint32_t placed;
    uint32_t free[8], free_count; /* places below `placed` that are not in use */
    struct tact_rim_leaf leaf[TACT_RIM_LEAVES];
    uint32_t segment[4 * TACT_RIM_LEAVES]; /* first of each triangle */
    uint64_t known[TACT_RIM_KNOWN]; /* number of the query that listed a corner, and the corner */
    uint8_t state[TACT_RIM_KNOWN];  /* what it is: moments_rim_known_internal.h */
    uint32_t known_count, known_shift; /* in use is a part of 2^(32 - known_shift) */
};

struct tact_rim {
    struct tact_near *near;
    struct tact_rim_side side[2];
    uint32_t query; /* number of this one, from 1 */
    uint32_t segments;
    struct tact_rim_segment segment[TACT_RIM_SEGMENTS];
    uint32_t eight[TACT_NEAR_MOST / 8]; /* of B's leaves, near a box of A's */
    struct tact_rim_pending pending[TACT_RIM_BATCH + 4];
    uint32_t pending_count;
    double slack;    /* within which a triangle lies in a plane [m] */
    double shift[3]; /* by which A is moved in the frame, as faces lie in each other; or zero [m] */
    double reach;    /* slack and the size of the shift [m] */
    uint8_t unasked[2][2]; /* [side][inside]: rays that may still be asked whether what the rim
                              tells is so; 0 where one said that it is */
    int in_common;         /* whether faces were found that lie in each other, */
    int again;             /* and A has to be moved, or otherwise */
    double half[3], half_torque[3]; /* to be added to the gradient so that half of them counts, and
                                       its torque about the frame's origin */
    float margin; /* what single precision loses of what is near, in the unit of the pair */
    tact_d4 origin;
};

/** Greatest coordinate of vectors. */
TACT_INLINE void tact_rim_greatest(const tact_d4 v[3], tact_d4 *greatest)
{
    tact_d4 m = TACT_D4_MAX(TACT_D4_ABS(v[0]), TACT_D4_ABS(v[1]));
    *greatest = TACT_D4_MAX(TACT_D4_ABS(v[2]), m);
}

/** The corner, or the edge, after one of a triangle. */
TACT_INLINE int tact_rim_next(int k)
{
    return 9 >> 2 * k & 3;
}

/** Adds what keeps half of a common face to rim->half: of triangle `lane_a` of leaf s of A in the
 *  plane of triangle `lane_b` of leaf t of B. -EAGAIN where the shift is along their plane. */
int tact_rim_share(struct tact_rim *rim, const struct tact_rim_leaf *s, uint32_t lane_a,
                   const struct tact_rim_leaf *t, uint32_t lane_b);

/** Brings the gradient, and its torque about rim->origin, back from where A was moved to, with half
 * of the common faces. */
void tact_rim_bring_back(const struct tact_rim *rim, struct tact_moment_sums *sums);

/** Cuts the two trees, placed in rim->near, and finds the segments of the rim; with faces that lie
 *  in each other, of A a little beside, by rim->shift.
 *  Returns 1, 0 where nothing is near, -ENOSPC where too much is, or -EAGAIN where too much meets
 * or the shift fits no faces in common.
 */
int tact_rim_find(struct tact_rim *rim);

/** Places a leaf. Its bounds are larger by `margin` than single precision finds them. */
void tact_rim_place(const struct tact_placed *body, uint32_t index, float per_unit, float margin,
                    struct tact_rim_leaf *leaf);

/** What the triangles of a leaf span, in the unit of the pair. */
void tact_rim_span(const struct tact_rim_leaf *leaf, float low[3], float high[3]);

/** Finds where the first `count` triangles of A that wait, a batch at most, cross those of B;
 *  returns 0 or -EAGAIN. Every step is done for all of them before the next: no guess at the
 * outcome of a single test would be any good. */
int tact_rim_cross_pending(struct tact_rim *rim, uint32_t count);

/** Holds two leaves that are near each other against each other, by their places: lists which
 *  triangles may cross, and finds where a batch of them does; returns 0 or -EAGAIN. */
int tact_rim_hold_leaves(struct tact_rim *rim, uint32_t a, uint32_t b);

#endif
