/** Which corners of a mesh are inside the other; not installed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_KNOWN_INTERNAL_H

#include "moments_rim_internal.h"

/** What a corner is: a corner that is both does not fit together. */
enum { TACT_RIM_UNKNOWN = 0, TACT_RIM_OUTSIDE = 1, TACT_RIM_INSIDE = 2 };

/** Which of a leaf's corners, in leaf->corner, those of its triangles are. */
TACT_INLINE const uint8_t *tact_rim_local(const struct tact_rim *rim, int of,
                                          const struct tact_rim_leaf *leaf)
{
    const struct tact_mesh *mesh = of ? rim->near->b.placed.mesh : rim->near->a.placed.mesh;
    return mesh->wide->leaves[leaf->index].local;
}

#define tact_rim_forget TACT_VARIANT(tact_rim_forget)
#define tact_rim_known TACT_VARIANT(tact_rim_known)
#define tact_rim_list_corners TACT_VARIANT(tact_rim_list_corners)

/** Before a query's corners are listed: the table is empty. */
void tact_rim_forget(struct tact_rim_side *side);

/** What is known of a corner, whether it is listed or not. */
uint32_t tact_rim_known(const struct tact_rim *rim, int of, uint32_t corner);

/** Lists the corners of a leaf, unknown where they were not listed; returns 0, or -EAGAIN where
 *  there is no room. */
int tact_rim_list_corners(struct tact_rim *rim, int of, struct tact_rim_leaf *leaf);

#endif
