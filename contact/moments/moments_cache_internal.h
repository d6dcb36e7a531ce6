/* Cached lists of the pairs of triangles of two meshes that may contribute, valid while the two
 * hardly move relative to each other; not installed.
 *
 * A list is made with all tests enlarged by a margin. It contains all pairs of triangles that may
 * contribute within that margin, in the order in which a search would find them. Users test these
 * pairs as usual, so that the moments are bit for bit the same with and without a list. */
#ifndef TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H

#include "moments_near_internal.h"

/* Capacity for pairs of triangles in a list, for triangles of either mesh, and for lists, each of
 * one pair of bodies. */
enum { TACT_CACHE_PAIRS = 1024, TACT_CACHE_FACES = 512, TACT_CACHE_LISTS = 32 };

/* Placement of two meshes in a frame: for each, the rows that map to x, y, z and the height along
 * the normal, and these coordinates of the middle of its bounds [m]. */
struct tact_cached_placement {
    double row[2][4][3], middle[2][4];
};

struct tact_cached_pair_list {
    /* placement of the meshes when the list was made, and at its last use */
    struct tact_cached_placement placement_when_list_made, placement_at_last_use;
    double bounding_radius_of_mesh[2]; /* radii of the meshes' bounds about their middle [m] */
    double margin;                     /* [m] */
    int is_cached_list_valid;          /* 1: the cached list is valid */
    uint32_t count, faces_a, faces_b;
    struct tact_triangle_pair pair[TACT_CACHE_PAIRS];
    uint32_t triangle_of_face_a[TACT_CACHE_FACES],
        triangle_of_face_b[TACT_CACHE_FACES]; /* 4 leaf + lane */
};

struct tact_pair_list_cache {
    uint64_t last_use_clock_of_cache;
    struct {
        uint64_t mesh_serial_number[2]; /* serial numbers of the two meshes; 0: not in use */
        uint64_t last_use_time_of_list; /* time of the list's last use, by the clock of the cache */
    } keys[TACT_CACHE_LISTS];           /* of the lists */
    struct tact_cached_pair_list pair_lists[TACT_CACHE_LISTS];
};

/* Finds the cached list for a pair of meshes at their placement and the frame's normal, in the
 * frame: one that is valid, or one to be made (is_cached_list_valid is 0), or NULL where the
 * meshes move too fast for a list. */
struct tact_cached_pair_list *
tact_cache_find_pair_list(struct tact_pair_list_cache *triangle_pair_list_cache,
                          const struct tact_leaf_pairing *pairing, const double normal[3]);

#define tact_cache_make_triangle_pair_list TACT_CPU_VARIANT(tact_cache_make_triangle_pair_list)
#define tact_cache_transform_list_triangles TACT_CPU_VARIANT(tact_cache_transform_list_triangles)

/* Makes a cached list: cuts both trees with the margin and stores the pairs of triangles. Leaves
 * it invalid where its capacity is exceeded. */
void tact_cache_make_triangle_pair_list(struct tact_cached_pair_list *cached_triangle_pair_list,
                                        struct tact_leaf_pairing *w);

/* Places the triangles of a cached list in the frame, at the poses of their bodies. */
void tact_cache_transform_list_triangles(
    const struct tact_cached_pair_list *cached_triangle_pair_list, struct tact_leaf_pairing *w);

#endif
