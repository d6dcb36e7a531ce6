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

/** Places a leaf. Its bounds are larger by `margin` than single precision finds them. */
TACT_INLINE void tact_rim_place(const struct tact_placed *body, uint32_t index, float per_unit,
                                float margin, struct tact_rim_leaf *leaf)
{
    const struct tact_mesh_leaf *from = &body->mesh->wide->leaves[index];
    tact_d4 u[3], w[3], size = {0.0};
    tact_leaf_corners(body, from, leaf->p);
    for (int c = 0; c < 3; c++) {
        const tact_d4 *a = &leaf->p[0][c], *b = &leaf->p[1][c], *d = &leaf->p[2][c];
        const tact_f4 x = __builtin_convertvector(*a, tact_f4);
        const tact_f4 y = __builtin_convertvector(*b, tact_f4);
        const tact_f4 z = __builtin_convertvector(*d, tact_f4);
        tact_f4 lower = TACT_F4_MIN(y, z), upper = TACT_F4_MAX(y, z);
        lower = TACT_F4_MIN(x, lower);
        upper = TACT_F4_MAX(x, upper);
        leaf->lower[c] = per_unit * lower - margin;
        leaf->upper[c] = per_unit * upper + margin;
        u[c] = *b - *a;
        w[c] = *d - *a;
        tact_d4 longer = TACT_D4_MAX(TACT_D4_ABS(u[c]), TACT_D4_ABS(w[c]));
        size = TACT_D4_MAX(longer, size);
    }
    for (int c = 0; c < 3; c++) {
        int y = (c + 1) % 3, z = (c + 2) % 3;
        leaf->n[c] = u[y] * w[z] - u[z] * w[y];
    }
    leaf->size = size;
    leaf->first = from->first;
    leaf->count = from->count;
    leaf->index = index;
}

/** What the triangles of a leaf span, in the unit of the pair. */
TACT_INLINE void tact_rim_span(const struct tact_rim_leaf *leaf, float low[3], float high[3])
{
    for (int c = 0; c < 3; c++) {
        const float *l = (const float *)&leaf->lower[c], *u = (const float *)&leaf->upper[c];
        float l0 = l[0] < l[1] ? l[0] : l[1], l1 = l[2] < l[3] ? l[2] : l[3];
        float u0 = u[0] > u[1] ? u[0] : u[1], u1 = u[2] > u[3] ? u[2] : u[3];
        low[c] = l0 < l1 ? l0 : l1;
        high[c] = u0 > u1 ? u0 : u1;
    }
}

/** Lanes whose three heights are of both signs. */
TACT_INLINE void tact_rim_mixed(const tact_d4 h[3], tact_l4 *mixed)
{
    tact_l4 a = h[0] < 0.0, b = h[1] < 0.0, c = h[2] < 0.0;
    *mixed = (a | b | c) & ~(a & b & c);
}

/** Bits of the lanes of t (of B) whose bounds meet those of triangle i of s (of A); past t's count
 *  they tell nothing. */
TACT_INLINE uint32_t tact_rim_touches(const struct tact_rim_leaf *s, uint32_t i,
                                      const struct tact_rim_leaf *t)
{
    uint32_t bits;
    tact_i4 keep = (t->upper[0] >= s->lower[0][i]) & (t->lower[0] <= s->upper[0][i]);
    for (int c = 1; c < 3; c++) {
        keep &= (t->upper[c] >= s->lower[c][i]) & (t->lower[c] <= s->upper[c][i]);
    }
    tact_i4_bits(&keep, &bits);
    return bits;
}

/** Bits of the lanes of t (of B) where one of t and triangle i of s (of A) lies in the other's
 * plane, where A is without the shift; and before A is moved, where their bounds meet as well,
 * without the margin of those in single precision: afterwards what they have in common is asked. */
TACT_INLINE void tact_rim_lies(const struct tact_rim *rim, const struct tact_rim_leaf *s,
                               uint32_t i, const struct tact_rim_leaf *t,
                               const struct tact_rim_heights *h, uint32_t *bits)
{
    /* The greatest coordinate of a vector is at least its length over the square root of 3. */
    const double within = 1.7320508 * rim->slack, *d = rim->shift;
    const int moved = rim->reach > rim->slack;
    tact_d4 high_a, high_b, area_s, area_t, of_a[3], of_b[3];
    const tact_d4 along_t = t->n[0] * d[0] + t->n[1] * d[1] + t->n[2] * d[2];
    const double along_s = s->n[0][i] * d[0] + s->n[1][i] * d[1] + s->n[2][i] * d[2];
    for (int k = 0; k < 3; k++) {
        of_a[k] = h->of_a[k] - along_t;
        of_b[k] = h->of_b[k] + along_s;
    }
    tact_rim_greatest(of_a, &high_a);
    tact_rim_greatest(of_b, &high_b);
    tact_rim_greatest(s->n, &area_s);
    tact_rim_greatest(t->n, &area_t);
    tact_l4 lies = (high_a < within * area_t) | (high_b < within * area_s[i]);
    for (int c = 0; c < 3 && !moved; c++) {
        tact_d4 lower[2], upper[2];
        for (int k = 0; k < 2; k++) {
            const struct tact_rim_leaf *leaf = k ? t : s;
            lower[k] = TACT_D4_MIN(leaf->p[1][c], leaf->p[2][c]);
            upper[k] = TACT_D4_MAX(leaf->p[1][c], leaf->p[2][c]);
            lower[k] = TACT_D4_MIN(leaf->p[0][c], lower[k]);
            upper[k] = TACT_D4_MAX(leaf->p[0][c], upper[k]);
        }
        lies &= (upper[1] >= lower[0][i]) & (lower[1] <= upper[0][i]);
    }
    tact_l4_bits(&lies, bits);
}

/** Bits of those of the given lanes of t (of B) whose triangles may cross triangle i of s (of A).
 * *flat: of those lanes, where one of two near each other lies in the other's plane. */
TACT_INLINE uint32_t tact_rim_meets(const struct tact_rim *rim, const struct tact_rim_leaf *s,
                                    uint32_t i, const struct tact_rim_leaf *t,
                                    struct tact_rim_heights *h, uint32_t lanes, uint32_t *flat)
{
    uint32_t bits, in_plane;
    const double n[3] = {s->n[0][i], s->n[1][i], s->n[2][i]};
    for (int k = 0; k < 3; k++) {
        h->of_a[k] = t->n[0] * (s->p[k][0][i] - t->p[0][0]) +
                     t->n[1] * (s->p[k][1][i] - t->p[0][1]) +
                     t->n[2] * (s->p[k][2][i] - t->p[0][2]);
        h->of_b[k] = n[0] * (t->p[k][0] - s->p[0][0][i]) + n[1] * (t->p[k][1] - s->p[0][1][i]) +
                     n[2] * (t->p[k][2] - s->p[0][2][i]);
    }
    tact_l4 mixed_a, mixed_b, mixed;
    tact_rim_mixed(h->of_a, &mixed_a);
    tact_rim_mixed(h->of_b, &mixed_b);
    mixed = mixed_a & mixed_b;
    tact_l4_bits(&mixed, &bits);
    /* One corner away from the plane is enough, and that is how nearly all are. */
    const tact_l4 near =
        (TACT_D4_ABS(h->of_a[0]) < t->within) | (TACT_D4_ABS(h->of_b[0]) < s->within);
    tact_l4_bits(&near, &in_plane);
    if (in_plane) {
        tact_rim_lies(rim, s, i, t, h, &in_plane);
    }
    *flat = in_plane & lanes;
    return bits & lanes;
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

#endif
