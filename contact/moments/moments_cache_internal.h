/** Which leaves of two meshes may count against each other, kept while the two hardly move against
 *  each other; not installed.
 *
 *  A list is made with the boxes of A larger by a margin, and holds, in the order in which they
 *  would be found anew, all pairs of leaves that may count anywhere within it. Whoever uses it
 * tests these as always: it is never seen in the moments' bits whether there was a list. */
#ifndef TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_CACHE_INTERNAL_H

#include "moments_near_internal.h"

/** Pairs of leaves in a list, most; lists, of as many pairs of bodies. */
enum { TACT_CACHE_PAIRS = 1024, TACT_CACHE_LISTS = 32 };

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
    uint32_t count, leaves_b;
    uint32_t leaf_a[TACT_CACHE_PAIRS];
    uint16_t at_b[TACT_CACHE_PAIRS]; /* index into leaf_b */
    uint32_t leaf_b[TACT_NEAR];
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

/** Makes the list: cuts both trees with the margin and keeps the pairs of leaves. Leaves it not
 *  ready where there is no room. */
TACT_INLINE void tact_cache_make(struct tact_cache_list *list, struct tact_near *w)
{
    const float margin = (float)list->margin * w->per_unit;
    uint16_t at[TACT_NEAR];
    w->a.placed.margin = margin * 1.001F + 1e-6F;
    int rc = tact_near_cut_trees(w, TACT_NEAR);
    w->a.placed.margin = 0.0F;
    if (rc < 0) {
        return;
    }
    list->count = list->leaves_b = 0;
    list->ready = 1;
    if (!rc) {
        return;
    }
    memset(at, 0xFF, sizeof at);
    tact_near_begin(w);
    for (uint32_t i = 0; i < w->a.leaves; i++) {
        struct tact_leaf s;
        struct tact_near_span span;
        tact_leaf_place(&w->a.placed, w->a.leaf[i], 1, &s);
        tact_near_measure(&s, w->per_unit, &span);
        tact_near_widen(&span, list->margin, margin);
        for (uint32_t e = 0; e < w->b.leaves; e += 8) {
            for (uint32_t bits = tact_near_meets(&w->b, &span, e / 8); bits; bits &= bits - 1) {
                uint32_t k = e + (uint32_t)__builtin_ctz(bits);
                if (!tact_near_any(&span, tact_near_ready(w, k, w->b.leaf[k]))) {
                    continue;
                }
                if (list->count == TACT_CACHE_PAIRS) {
                    list->ready = 0;
                    return;
                }
                if (at[k] == UINT16_MAX) {
                    at[k] = (uint16_t)list->leaves_b;
                    list->leaf_b[list->leaves_b++] = w->b.leaf[k];
                }
                list->leaf_a[list->count] = w->a.leaf[i];
                list->at_b[list->count++] = at[k];
            }
        }
    }
}

/** Matches the leaves of a list, as tact_near_match() does after cutting the trees. */
TACT_INLINE int tact_cache_match(const struct tact_cache_list *list, struct tact_near *w,
                                 tact_near_pair *pair, void *user)
{
    const struct tact_mesh_leaf *leaves_a = w->a.placed.mesh->wide->leaves;
    const struct tact_mesh_leaf *leaves_b = w->b.placed.mesh->wide->leaves;
    memset(w->ready, 0, list->leaves_b);
    for (uint32_t i = 0; i < list->count;) {
        const uint32_t of_a = list->leaf_a[i];
        struct tact_leaf s;
        struct tact_near_span span;
        tact_leaf_place(&w->a.placed, of_a, 1, &s);
        tact_near_measure(&s, w->per_unit, &span);
        for (; i < list->count && list->leaf_a[i] == of_a; i++) {
            uint32_t of_b = list->leaf_b[list->at_b[i]];
            const struct tact_leaf *t = tact_near_ready(w, list->at_b[i], of_b);
            if (tact_near_any(&span, t)) {
                int rc = tact_near_leaves(&s, &leaves_a[of_a], t, &leaves_b[of_b], pair, user);
                if (rc) {
                    return rc;
                }
            }
        }
    }
    return 0;
}

#endif
