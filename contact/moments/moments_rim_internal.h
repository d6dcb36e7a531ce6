/* The rim of an overlap: where the surfaces of two meshes cross; not installed.
 *
 * Every decision is the sign of a determinant of placed corners, and is computed from the same
 * numbers wherever it is needed, so that neighbours agree even where the sign is due to rounding.
 * Remaining inconsistencies are reported, never guessed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_INTERNAL_H

#include <float.h>

#include "moments_near_internal.h"
#include "moments_surface_internal.h"

#define tact_rim_place_leaf TACT_CPU_VARIANT(tact_rim_place_leaf)
#define tact_rim_leaf_bounds TACT_CPU_VARIANT(tact_rim_leaf_bounds)
#define tact_rim_cross_pending_triangles TACT_CPU_VARIANT(tact_rim_cross_pending_triangles)
#define tact_rim_queue_leaf_pair TACT_CPU_VARIANT(tact_rim_queue_leaf_pair)
#define tact_rim_find_segments TACT_CPU_VARIANT(tact_rim_find_segments)
#define tact_rim_add_half_common_area TACT_CPU_VARIANT(tact_rim_add_half_common_area)
#define tact_rim_correct_sums_for_shift TACT_CPU_VARIANT(tact_rim_correct_sums_for_shift)

/* Capacities: leaves of one mesh that may meet the other's; segments of the rim; corners of one
 * mesh known to be inside or outside; levels of the tree over what is near; crossings of the rim
 * with an edge of a triangle in one sense; triangles of A that are matched with four of B together.
 */
enum {
    TACT_RIM_MAX_LEAVES = 16384,
    TACT_RIM_MAX_SEGMENTS = 32768,
    TACT_RIM_CORNER_SLOT_BITS = 16,
    TACT_RIM_KNOWN_CORNER_SLOTS = 1 << TACT_RIM_CORNER_SLOT_BITS,
    TACT_RIM_BOX_LEVELS = 5,
    TACT_RIM_MAX_CROSSINGS_ON_EDGE = 16,
    TACT_RIM_PENDING_BATCH = 16
};

#define TACT_RIM_NO_INDEX UINT32_MAX

/* Placed triangles of a leaf, one a lane. Lanes beyond count repeat the first. */
struct tact_rim_leaf {
    tact_d4 p[3][3];            /* [corner][coordinate] */
    tact_d4 n[3];               /* twice the outward area vector of each triangle */
    tact_d4 size;               /* largest coordinate of the triangle's edges from corner 0 */
    tact_f4 lower[3], upper[3]; /* bounds of each triangle in the unit of the pair, enlarged by the
                                   rounding of single precision */
    double coplanar_height; /* heights over one of its planes, times twice the area, below which a
                      triangle may lie in it */
    uint32_t first, count;
    uint32_t meets_other_mesh; /* 1: the leaf's box meets that of a leaf of the other mesh */
    uint32_t index;            /* index of the leaf in its mesh */
    uint16_t corner[12];       /* indices of the leaf's distinct corners in the table of corners */
};

/* Key of a box in tact_rim_mesh.box_groups: of leaf k (level 0) or of the 8 boxes of the level
 * below from 8 k. */
TACT_INLINE uint32_t tact_rim_box_key(uint32_t level, uint32_t k)
{
    return level << 16 | k;
}

/* Intersection of the surfaces of two triangles, with B's inside on the left as seen from outside
 * A. */
struct tact_rim_segment {
    tact_d4 end[2];          /* start and end */
    double edge_crossing[2]; /* positions of the segment's start and end on the edges
                        that contain them, 0 to 1 */
    uint8_t edge[2]; /* edges that contain the segment's start and end: 0 to 2 of A's triangle, 3 to
                        5 of B's */
    uint32_t triangle[2]; /* triangles of A and B that cross: 4 times the index of the leaf, plus
                             the lane */
    uint32_t next[2];     /* index of the next segment of the same triangle, for A and for B */
};

/* A triangle of a leaf of A and the four of a leaf of B: heights of the corners of each over the
 * plane of the other, times twice its area. */
struct tact_rim_corner_heights {
    tact_d4 heights_of_a[3], heights_of_b[3];
};

/* Boxes of eight adjacent nodes or leaves, in the unit of the pair. A box that meets none of the
 * other mesh is wholly inside or wholly outside of it. */
struct tact_rim_box_group {
    tact_f8 lower[3], upper[3];
};

/* A triangle of A and those of a leaf of B that it may cross. */
struct tact_rim_pending_pair {
    uint32_t a; /* triangle of A: 4 times the index of its leaf, plus the lane */
    uint32_t b; /* triangles of B: 16 times the index of their leaf, plus a bit for each */
};

/* One mesh of a pair in the search for the rim. */
struct tact_rim_mesh {
    uint32_t count;                      /* number of leaves of the mesh near the other one */
    int top;                             /* level of the root of the tree of boxes */
    uint32_t at[TACT_PAIRING_MAX_NODES]; /* position of each near leaf in leaf[], or NONE */
    struct tact_rim_box_group box_groups[TACT_PAIRING_MAX_NODES / 7 + 8];
    uint32_t
        level[TACT_RIM_BOX_LEVELS]; /* index in the box groups of the first group of each level */
    uint32_t separated_boxes[TACT_PAIRING_MAX_NODES]; /* boxes that meet no leaf of the other side:
                                                tact_rim_box_key() */
    uint32_t separated_box_count;
    uint32_t placed_leaf_count;
    uint32_t free_indices_of_leaf_array[8],
        free_slot_count; /* indices of leaf[] below `placed_leaf_count` that are not in use */
    struct tact_rim_leaf leaf[TACT_RIM_MAX_LEAVES];
    uint32_t first_segment_of_triangle[4 * TACT_RIM_MAX_LEAVES]; /* index of the first rim segment
                                                                of each triangle */
    uint64_t known_corner_keys[TACT_RIM_KNOWN_CORNER_SLOTS]; /* key of a table entry: number of the
                                                    query that listed a corner, and the corner */
    uint8_t state[TACT_RIM_KNOWN_CORNER_SLOTS];              /* state of each corner in the table:
                                                          moments_rim_known_internal.h */
    uint32_t known_corner_count,
        corner_hash_shift; /* the hash table of corners uses 2^(32 - corner_hash_shift) entries */
};

struct tact_rim {
    struct tact_leaf_pairing *pairing;
    struct tact_rim_mesh side[2];
    uint32_t overlap_query_number; /* number of the present query for an overlap, from 1 */
    uint32_t rim_segment_count;
    struct tact_rim_segment segment[TACT_RIM_MAX_SEGMENTS];
    /* groups of eight leaves of B near a box of A */
    uint32_t near_leaf_groups[TACT_PAIRING_MAX_NODES / 8];
    struct tact_rim_pending_pair pending_leaf_pairs[TACT_RIM_PENDING_BATCH + 4];
    uint32_t pending_leaf_pair_count;
    double slack;    /* distance within which a triangle lies in a plane [m] */
    double shift[3]; /* shift of A in the frame because of coplanar faces; or zero [m] */
    double coplanarity_slack_with_shift; /* slack for coplanar triangles, plus the size of A's shift
                                            [m] */
    uint8_t ray_checks_left_by_state[2][2]; /* [side][inside]: number of rays that may still be cast
                                               to check the sides that the rim implies; 0 once one
                                               has confirmed them */
    int has_coplanar_faces;                 /* 1: coplanar faces of the two meshes were found */
    int must_shift_mesh_a;                  /* 1: mesh A must be shifted, or shifted differently */
    /* correction of the gradient by which half of the coplanar faces counts, and its torque about
     * the frame's origin */
    double coplanar_face_area_correction[3], coplanar_half_torque[3];
    float margin; /* rounding of single precision in the coordinates of near leaves, in the unit of
                     the pair */
    tact_d4 origin;
};

/* Largest absolute coordinate of each of four vectors. */
TACT_INLINE void tact_rim_largest_coordinate(const tact_d4 v[3], tact_d4 *greatest)
{
    tact_d4 m = TACT_D4_MAX(TACT_D4_ABS(v[0]), TACT_D4_ABS(v[1]));
    *greatest = TACT_D4_MAX(TACT_D4_ABS(v[2]), m);
}

/* Index of the corner, or edge, of a triangle after a given one. */
TACT_INLINE int tact_rim_next_corner(int k)
{
    return 9 >> 2 * k & 3;
}

/* Adds the correction for a coplanar face to rim->coplanar_face_area_correction: of triangle
 * `triangle_lane_a` of leaf s of A in the plane of triangle `triangle_lane_b` of leaf t of B.
 * -EAGAIN where the shift is along their plane.
 */
int tact_rim_add_half_common_area(struct tact_rim *rim, const struct tact_rim_leaf *s,
                                  uint32_t triangle_lane_a, const struct tact_rim_leaf *t,
                                  uint32_t triangle_lane_b);

/* Transforms the gradient, and its torque about rim->origin, back from the shifted A, and adds
 * half of the coplanar faces. */
void tact_rim_correct_sums_for_shift(const struct tact_rim *rim, struct tact_moment_sums *sums);

/* Cuts the two trees, placed in rim->near, and finds the segments of the rim; with coplanar faces,
 * for A shifted by rim->shift. Returns 1, 0 where nothing is near, -ENOSPC where too much is, or
 * -EAGAIN where too much meets or no shift suits the coplanar faces. */
int tact_rim_find_segments(struct tact_rim *rim);

/* Places a leaf's triangles for the rim; their bounds are enlarged by `margin`, for single
 * precision. */
void tact_rim_place_leaf(const struct tact_placed_mesh *body, uint32_t index,
                         float pair_units_per_metre, float margin, struct tact_rim_leaf *leaf);

/* Bounds of all triangles of a placed leaf, in the unit of the pair. */
void tact_rim_leaf_bounds(const struct tact_rim_leaf *leaf, float low[3], float high[3]);

/* Finds where the first `count` pending triangles of A, at most a batch, cross those of B; returns
 * 0 or -EAGAIN. Every step is done for all of them before the next, because the outcome of a single
 * test cannot be predicted. */
int tact_rim_cross_pending_triangles(struct tact_rim *rim, uint32_t count);

/* Matches two near leaves, given by their indices: lists which triangles may cross, and finds the
 * crossings of a full batch; returns 0 or -EAGAIN. */
int tact_rim_queue_leaf_pair(struct tact_rim *rim, uint32_t a, uint32_t b);

#endif
