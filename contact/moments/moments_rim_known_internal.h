/** Which corners of a mesh are inside the other; not installed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H

#include "moments_rim_internal.h"

/** What a corner is: a corner that is both does not fit together. */
enum { TACT_RIM_UNKNOWN = 0, TACT_RIM_OUTSIDE = 1, TACT_RIM_INSIDE = 2 };

/** Before a query's corners are listed: the table is empty. */
TACT_INLINE void tact_rim_forget(struct tact_rim_side *side)
{
    side->known_count = 0;
    /* More than the 12 corners that a leaf may have: the table is never full, mostly empty as
     * leaves share corners, and in the cache where leaves are few. */
    side->known_shift = 32 - TACT_RIM_KNOWN_BITS;
    while (side->known_shift < 32 - 8 &&
           12 * side->placed <= UINT32_MAX >> (side->known_shift + 1)) {
        side->known_shift++;
    }
}

/** Where a corner is in the table, or where it is to be added. */
TACT_INLINE uint32_t tact_rim_look_up(const uint64_t *known, uint32_t shift, uint64_t key)
{
    uint32_t i = ((uint32_t)key * 2654435769U) >> shift;
    while (known[i] != key && known[i] >> 32 == key >> 32) {
        i = (i + 1) & (UINT32_MAX >> shift);
    }
    return i;
}

/** What is known of a corner, whether it is listed or not. */
TACT_INLINE uint32_t tact_rim_known(const struct tact_rim *rim, int of, uint32_t corner)
{
    const struct tact_rim_side *side = &rim->side[of];
    const uint64_t key = (uint64_t)rim->query << 32 | corner;
    const uint32_t i = tact_rim_look_up(side->known, side->known_shift, key);
    return side->known[i] == key ? side->state[i] : TACT_RIM_UNKNOWN;
}

/** Lists the corners of a leaf, unknown where they were not listed; returns 0, or -EAGAIN where
 *  there is no room. */
TACT_INLINE int tact_rim_list_corners(struct tact_rim *rim, int of, struct tact_rim_leaf *leaf)
{
    struct tact_rim_side *side = &rim->side[of];
    const struct tact_mesh *mesh = of ? rim->near->b.placed.mesh : rim->near->a.placed.mesh;
    const struct tact_mesh_leaf *from = &mesh->wide->leaves[leaf->index];
    const uint32_t *index = mesh->triangles + 3 * (size_t)leaf->first;
    const uint64_t query = (uint64_t)rim->query << 32;
    const uint32_t shift = side->known_shift, corners = from->corners;
    uint32_t listed = side->known_count;
    if (listed + 12 > TACT_RIM_KNOWN / 4 * 3) {
        return -EAGAIN;
    }
    for (uint32_t k = 0; k < corners; k++) {
        const uint64_t key = query | index[from->distinct[k]];
        const uint32_t i = tact_rim_look_up(side->known, shift, key),
                       is_new = side->known[i] != key;
        side->state[i] &= (uint8_t)(is_new - 1);
        side->known[i] = key;
        listed += is_new;
        leaf->corner[k] = (uint16_t)i;
    }
    side->known_count = listed;
    return 0;
}

/** Which of a leaf's corners, in leaf->corner, those of its triangles are. */
TACT_INLINE const uint8_t *tact_rim_local(const struct tact_rim *rim, int of,
                                          const struct tact_rim_leaf *leaf)
{
    const struct tact_mesh *mesh = of ? rim->near->b.placed.mesh : rim->near->a.placed.mesh;
    return mesh->wide->leaves[leaf->index].local;
}

#endif
