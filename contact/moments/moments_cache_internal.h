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

/** A list that is being made: where it has the triangles of the leaf of A that is matched, and
 *  those of B; NOWHERE. */
struct tact_cache_maker {
    struct tact_cache_list *list;
    uint32_t leaf_a;
    uint16_t at_a[4], at_b[4 * TACT_NEAR];
};

enum { TACT_CACHE_NOWHERE = UINT16_MAX };

/** Where a triangle is in a list; adds it where it is not. -ENOSPC: there is no room. */
TACT_INLINE int tact_cache_face(uint32_t face, uint16_t *at, uint32_t *faces, uint32_t *count)
{
    if (*at == TACT_CACHE_NOWHERE) {
        if (*count == TACT_CACHE_FACES) {
            return -ENOSPC;
        }
        *at = (uint16_t)*count;
        faces[(*count)++] = face;
    }
    return *at;
}

/** Takes pairs of triangles to the list. */
TACT_INLINE int tact_cache_keep(void *user, struct tact_near *w, uint32_t leaf_a,
                                const struct tact_near_pair *pairs, uint32_t count)
{
    struct tact_cache_maker *maker = user;
    struct tact_cache_list *list = maker->list;
    if (maker->leaf_a != leaf_a) {
        maker->leaf_a = leaf_a;
        memset(maker->at_a, 0xFF, sizeof maker->at_a);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = pairs[i].a, b = pairs[i].b;
        if (!tact_faces_near(&w->face_a[a], &w->face_b[b], list->margin)) {
            continue;
        }
        int at_a = tact_cache_face(4 * leaf_a + a, &maker->at_a[a], list->face_a, &list->faces_a);
        int at_b = tact_cache_face(4 * w->b.leaf[b / 4] + b % 4, &maker->at_b[b], list->face_b,
                                   &list->faces_b);
        if (at_a < 0 || at_b < 0 || list->count == TACT_CACHE_PAIRS) {
            return -ENOSPC;
        }
        list->pair[list->count++] = (struct tact_near_pair){(uint16_t)at_a, (uint16_t)at_b};
    }
    return 0;
}

/** Repeats a triangle where fours of a list's triangles are not full. */
TACT_INLINE void tact_cache_pad(uint32_t *faces, uint32_t count)
{
    for (; count % 4; count++) {
        faces[count] = faces[0];
    }
}

/** Makes the list: cuts both trees with the margin and keeps the pairs of triangles. Leaves it not
 *  ready where there is no room. */
TACT_INLINE void tact_cache_make(struct tact_cache_list *list, struct tact_near *w)
{
    struct tact_cache_maker maker;
    w->a.placed.margin = (float)list->margin * w->per_unit * 1.001F + 1e-6F;
    int rc = tact_near_cut_trees(w, TACT_NEAR);
    w->a.placed.margin = 0.0F;
    list->count = list->faces_a = list->faces_b = 0;
    if (rc > 0) {
        maker.list = list;
        maker.leaf_a = UINT32_MAX;
        memset(maker.at_b, 0xFF, 4 * w->b.leaves * sizeof *maker.at_b);
        rc = tact_near_match(w, list->margin, tact_cache_keep, &maker);
    }
    tact_cache_pad(list->face_a, list->faces_a);
    tact_cache_pad(list->face_b, list->faces_b);
    list->ready = rc >= 0;
}

/** Corners of four triangles of a list where the body is. */
TACT_INLINE void tact_cache_corners(const struct tact_placed *body, const uint32_t face[4],
                                    tact_d4 p[3][3])
{
    const struct tact_mesh_leaf *leaves = body->mesh->wide->leaves;
    const double *from[4];
    for (int i = 0; i < 4; i++) {
        from[i] = &leaves[face[i] / 4].corner[0][0][face[i] % 4];
    }
    for (int k = 0; k < 3; k++) {
        const tact_d4 x = TACT_D4_OF(from, 12 * k), y = TACT_D4_OF(from, 12 * k + 4);
        const tact_d4 z = TACT_D4_OF(from, 12 * k + 8);
        tact_leaf_place_corner(body, &x, &y, &z, p[k]);
    }
}

/** Places the triangles of a list. */
TACT_INLINE void tact_cache_place(const struct tact_cache_list *list, struct tact_near *w)
{
    tact_d4 p[3][3];
    for (uint32_t i = 0; i < list->faces_a; i += 4) {
        tact_cache_corners(&w->a.placed, &list->face_a[i], p);
        tact_face_place(p, 1, 0.0, &w->face_a[i]);
    }
    for (uint32_t i = 0; i < list->faces_b; i += 4) {
        tact_cache_corners(&w->b.placed, &list->face_b[i], p);
        tact_face_place(p, 0, w->b.placed.slack, &w->face_b[i]);
    }
}

#endif
