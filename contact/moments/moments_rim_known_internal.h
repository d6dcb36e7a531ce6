/* Which corners of a mesh are inside the other; not installed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H

#include "moments_rim_internal.h"

/* State of a corner of one mesh against the other: one that is both inside and outside is
 * inconsistent. */
enum { TACT_RIM_UNKNOWN = 0, TACT_RIM_OUTSIDE = 1, TACT_RIM_INSIDE = 2 };

/* Indices of the corners of a leaf's triangles in leaf->corner. */
TACT_INLINE const uint8_t *tact_rim_corner_indices(const struct tact_rim *rim, int of,
                                                   const struct tact_rim_leaf *leaf)
{
    const struct tact_mesh *mesh =
        of ? rim->pairing->b.placed_mesh.mesh : rim->pairing->a.placed_mesh.mesh;
    return mesh->wide->leaves[leaf->index].local;
}

#define tact_rim_reset_corners TACT_CPU_VARIANT(tact_rim_reset_corners)
#define tact_rim_get_corner_state TACT_CPU_VARIANT(tact_rim_get_corner_state)
#define tact_rim_list_corners TACT_CPU_VARIANT(tact_rim_list_corners)

/* Empties the table of corners before those of a query are listed. */
void tact_rim_reset_corners(struct tact_rim_mesh *side);

/* State of a corner in the table; unknown where it is not listed. */
uint32_t tact_rim_get_corner_state(const struct tact_rim *rim, int of, uint32_t corner);

/* Lists the corners of a leaf in the table, with unknown state where they are new; returns 0, or
 * -EAGAIN where the capacity is exceeded. */
int tact_rim_list_corners(struct tact_rim *rim, int of, struct tact_rim_leaf *leaf);

#endif
