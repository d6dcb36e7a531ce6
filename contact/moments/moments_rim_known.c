/* Table of the corners of a mesh that are known to be inside or outside. */
#include "contact/moments/moments_rim_known_internal.h"

void tact_rim_reset_corners(struct tact_rim_mesh *side)
{
    side->known_corner_count = 0;
    /* size of the table: above 12 corners a leaf, so that it is never full, mostly empty as leaves
     * share corners, and in the cache where leaves are few */
    side->corner_hash_shift = 32 - TACT_RIM_CORNER_SLOT_BITS;
    while (side->corner_hash_shift < 32 - 8 &&
           12 * side->placed_leaf_count <= UINT32_MAX >> (side->corner_hash_shift + 1)) {
        side->corner_hash_shift++;
    }
}

/* Index of a corner in the hash table of corners, or of the entry where it is to be added. */
static uint32_t tact_rim_find_corner(const uint64_t *known_corner_keys, uint32_t shift,
                                     uint64_t key)
{
    uint32_t i = ((uint32_t)key * 2654435769U) >> shift;
    while (known_corner_keys[i] != key && known_corner_keys[i] >> 32 == key >> 32) {
        i = (i + 1) & (UINT32_MAX >> shift);
    }
    return i;
}

uint32_t tact_rim_get_corner_state(const struct tact_rim *rim, int of, uint32_t corner)
{
    const struct tact_rim_mesh *side = &rim->side[of];
    const uint64_t key = (uint64_t)rim->overlap_query_number << 32 | corner;
    const uint32_t i = tact_rim_find_corner(side->known_corner_keys, side->corner_hash_shift, key);
    return side->known_corner_keys[i] == key ? side->state[i] : TACT_RIM_UNKNOWN;
}

int tact_rim_list_corners(struct tact_rim *rim, int of, struct tact_rim_leaf *leaf)
{
    struct tact_rim_mesh *side = &rim->side[of];
    const struct tact_mesh *mesh =
        of ? rim->pairing->b.placed_mesh.mesh : rim->pairing->a.placed_mesh.mesh;
    const struct tact_mesh_leaf *from = &mesh->wide->leaves[leaf->index];
    const uint32_t *index = mesh->triangles + 3 * (size_t)leaf->first;
    const uint64_t query = (uint64_t)rim->overlap_query_number << 32;
    const uint32_t shift = side->corner_hash_shift, corners = from->corners;
    uint32_t listed_corner_count = side->known_corner_count;
    if (listed_corner_count + 12 > TACT_RIM_KNOWN_CORNER_SLOTS / 4 * 3) {
        return -EAGAIN;
    }
    for (uint32_t k = 0; k < corners; k++) {
        const uint64_t key = query | index[from->distinct_corner_index[k]];
        const uint32_t i = tact_rim_find_corner(side->known_corner_keys, shift, key),
                       is_new = side->known_corner_keys[i] != key;
        side->state[i] &= (uint8_t)(is_new - 1);
        side->known_corner_keys[i] = key;
        listed_corner_count += is_new;
        leaf->corner[k] = (uint16_t)i;
    }
    side->known_corner_count = listed_corner_count;
    return 0;
}
