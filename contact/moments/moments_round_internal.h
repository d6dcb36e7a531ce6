/** The triangles of a mesh that may reach into a ball or a capsule, found eight boxes at a time;
 * not installed. */
#ifndef TACT_CONTACT_MOMENTS_ROUND_INTERNAL_H
#define TACT_CONTACT_MOMENTS_ROUND_INTERNAL_H

#include "../mesh/mesh_internal.h"
#include "../simd_internal.h"
#include "../vec.h"

/** Rounding of single precision in the test of a box, over the sizes that enter it. */
static const float TACT_CAPSULE_QUERY_MARGIN = 2e-6F;

/** A ball or capsule in the unit of a mesh's boxes, relative to their middle. */
struct tact_capsule_query {
    float centre[3], axis[3];  /* axis: from the centre to its upper end; 0 for a ball */
    float squared_radius;      /* square of the radius plus a margin */
    float inverse_axis_square; /* 1 / axis.axis, or 0 */
};

/** Converts a capsule, or with an axis of 0 a ball, from the frame of a mesh. */
TACT_INLINE void tact_capsule_query_init(const double at[3], const double axis[3], double radius,
                                         const struct tact_mesh *mesh,
                                         struct tact_capsule_query *out)
{
    double middle[3], far = 2.0, axis2 = 0.0;
    double unit = tact_mesh_box_unit(mesh, middle);
    for (int k = 0; k < 3; k++) {
        double centre = (at[k] - middle[k]) / unit, half = axis[k] / unit;
        out->centre[k] = (float)centre;
        out->axis[k] = (float)half;
        axis2 += half * half;
        far += fabs(centre) + fabs(half);
    }
    radius /= unit;
    radius += (double)TACT_CAPSULE_QUERY_MARGIN * (far + radius);
    out->squared_radius = (float)(radius * radius * (1.0 + (double)TACT_CAPSULE_QUERY_MARGIN));
    out->inverse_axis_square = axis2 > 0.0 ? (float)(1.0 / axis2) : 0.0F;
}

/** Bits of the boxes that may reach into it. Outward from the axis to the centre of a box, the
 * capsule ends at its radius, and the box begins at the distance of its centre less its extent. */
TACT_INLINE void tact_capsule_query_boxes(const struct tact_capsule_query *n,
                                          const struct tact_mesh_wide_node *eight, uint32_t *bits)
{
    const tact_f8 *centre = (const tact_f8 *)eight->centre;
    const tact_f8 one = (tact_f8){0.0F} + 1.0F;
    tact_f8 x = centre[0] - n->centre[0], y = centre[1] - n->centre[1];
    tact_f8 z = centre[2] - n->centre[2];
    tact_f8 share = (x * n->axis[0] + y * n->axis[1] + z * n->axis[2]) * n->inverse_axis_square;
    share = TACT_F8_MIN(TACT_F8_MAX(share, -one), one);
    x -= share * n->axis[0];
    y -= share * n->axis[1];
    z -= share * n->axis[2];
    tact_f8 apart2 = x * x + y * y + z * z, begins = apart2;
    for (int k = 0; k < 3; k++) {
        const tact_f8 *axis = (const tact_f8 *)eight->axis[k];
        begins -= TACT_F8_ABS(x * axis[0] + y * axis[1] + z * axis[2]);
    }
    tact_i8 near = (begins <= 0.0F) | (begins * begins <= n->squared_radius * apart2);
    tact_i8_bits(&near, bits);
    *bits &= (1U << eight->count) - 1U;
}

typedef void tact_capsule_query_leaf_fn(void *user, const struct tact_mesh_leaf *leaf);

/** Passes on the leaves that may reach into it, in the order of the tree. */
TACT_INLINE void tact_capsule_query_visit(const struct tact_capsule_query *n,
                                          const struct tact_mesh *mesh,
                                          tact_capsule_query_leaf_fn *leaf, void *user)
{
    uint32_t stack[TACT_MESH_STACK] = {0};
    int top = 1;
    while (top > 0) {
        const uint32_t index = stack[--top];
        if (index & TACT_MESH_LEAF_FLAG) {
            leaf(user, &mesh->wide->leaves[index & ~TACT_MESH_LEAF_FLAG]);
            continue;
        }
        const struct tact_mesh_wide_node *eight = &mesh->wide->eights[index];
        uint32_t bits;
        tact_capsule_query_boxes(n, eight, &bits);
        for (int i = 7; i >= 0 && bits; i--) {
            if (bits >> i & 1U) {
                stack[top++] = eight->child[i];
            }
        }
    }
}

#endif
