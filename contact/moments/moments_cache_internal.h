/** Which triangles of two meshes may count against each other, kept while the two hardly move
 *  against each other; not installed.
 *
 *  A list is made with all tests wider by a margin, and holds, in the order in which they
 *  would be found anew, all pairs of triangles that may count anywhere within it. Whoever uses it
 *  tests these as always: it is never seen in the moments' bits whether there was a list. */
#ifndef TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H

#include "moments_near_internal.h"

/** Pairs of triangles in a list, most; triangles of either mesh; lists, of as many pairs of
 *  bodies. */
enum { TACT_CACHE_PAIRS = 1024, TACT_CACHE_FACES = 512, TACT_CACHE_LISTS = 32 };

/** How two meshes are seen in a frame: of each, rows that give x, y, z and the height along the
 *  normal, and those of the middle of its bounds [m]. */
struct tact_cache_view {
    double row[2][4][3], middle[2][4];
};

struct tact_cache_list {
    struct tact_cache_view made, last; /* where the list was made; where it was asked for last */
    double reach[2];                   /* of the meshes' bounds from their middle [m] */
    double margin;                     /* [m] */
    int ready;                         /* there is a list */
    uint32_t count, faces_a, faces_b;
    struct tact_near_pair pair[TACT_CACHE_PAIRS];
    uint32_t face_a[TACT_CACHE_FACES], face_b[TACT_CACHE_FACES]; /* 4 leaf + lane */
};

struct tact_cache {
    uint64_t clock;
    struct {
        uint64_t serial[2];   /* of the two meshes; 0: not in use */
        uint64_t used;        /* by the cache's clock */
    } keys[TACT_CACHE_LISTS]; /* of the lists */
    struct tact_cache_list lists[TACT_CACHE_LISTS];
};

/** The list for a pair of meshes as placed, with the frame's normal in the frame: one that is
 *  ready, or one to be made (ready is 0), or NULL where they move too fast for one. */
struct tact_cache_list *tact_cache_find(struct tact_cache *cache, const struct tact_near *near,
                                        const double normal[3]);

#define tact_cache_make TACT_VARIANT(tact_cache_make)
#define tact_cache_place TACT_VARIANT(tact_cache_place)

/** Makes the list: cuts both trees with the margin and keeps the pairs of triangles. Leaves it not
 *  ready where there is no room. */
void tact_cache_make(struct tact_cache_list *list, struct tact_near *w);

/** Places the triangles of a list. */
void tact_cache_place(const struct tact_cache_list *list, struct tact_near *w);

#endif
