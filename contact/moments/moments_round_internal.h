/* The triangles of a mesh that may reach into a ball, a capsule or an ellipsoid, found eight boxes
 * at a time; not installed. */
#ifndef TACT_CONTACT_MOMENTS_ROUND_INTERNAL_H
#define TACT_CONTACT_MOMENTS_ROUND_INTERNAL_H

#include "../mesh/mesh_internal.h"
#include "../simd_internal.h"
#include "../vec.h"

/* Rounding of single precision in the test of a box, over the sizes that enter it. */
static const float TACT_CAPSULE_QUERY_MARGIN = 2e-6F;

/* A ball or capsule in the unit of a mesh's boxes, relative to their middle. */
struct tact_capsule_query {
    float centre[3], axis[3];          /* axis: from the centre to its upper end; 0 for a ball */
    float squared_query_radius;        /* square of the radius plus a margin for rounding */
    float inverse_squared_axis_length; /* 1 / axis.axis, or 0 */
};

/* Converts a capsule, or with an axis of 0 a ball, from the frame of a mesh. */
TACT_INLINE void tact_capsule_query_init(const double at[3], const double axis[3], double radius,
                                         const struct tact_mesh *mesh,
                                         struct tact_capsule_query *out)
{
    double middle[3], far = 2.0, axis2 = 0.0;
    double unit = tact_mesh_box_length_unit(mesh, middle);
    for (int k = 0; k < 3; k++) {
        double centre = (at[k] - middle[k]) / unit, half = axis[k] / unit;
        out->centre[k] = (float)centre;
        out->axis[k] = (float)half;
        axis2 += half * half;
        far += fabs(centre) + fabs(half);
    }
    radius /= unit;
    radius += (double)TACT_CAPSULE_QUERY_MARGIN * (far + radius);
    out->squared_query_radius =
        (float)(radius * radius * (1.0 + (double)TACT_CAPSULE_QUERY_MARGIN));
    out->inverse_squared_axis_length = axis2 > 0.0 ? (float)(1.0 / axis2) : 0.0F;
}

/* Bits of those among eight boxes that may reach into a ball or capsule. Outward from the axis to
 * the centre of a box, the capsule ends at its radius, and the box begins at the distance of its
 * centre less its extent. */
TACT_INLINE void tact_capsule_query_boxes(const void *query,
                                          const struct tact_mesh_wide_node *wide_node,
                                          uint32_t *bits)
{
    const struct tact_capsule_query *n = query;
    const tact_f8 *centre = (const tact_f8 *)wide_node->centre;
    const tact_f8 one = (tact_f8){0.0F} + 1.0F;
    tact_f8 x = centre[0] - n->centre[0], y = centre[1] - n->centre[1];
    tact_f8 z = centre[2] - n->centre[2];
    tact_f8 share =
        (x * n->axis[0] + y * n->axis[1] + z * n->axis[2]) * n->inverse_squared_axis_length;
    share = TACT_F8_MIN(TACT_F8_MAX(share, -one), one);
    x -= share * n->axis[0];
    y -= share * n->axis[1];
    z -= share * n->axis[2];
    tact_f8 apart2 = x * x + y * y + z * z, begins = apart2;
    for (int k = 0; k < 3; k++) {
        const tact_f8 *axis = (const tact_f8 *)wide_node->axis[k];
        begins -= TACT_F8_ABS(x * axis[0] + y * axis[1] + z * axis[2]);
    }
    tact_i8 near = (begins <= 0.0F) | (begins * begins <= n->squared_query_radius * apart2);
    tact_i8_mask_to_bits(&near, bits);
    *bits &= (1U << wide_node->count) - 1U;
}

/* An ellipsoid, as the ball of radius 1 to which a linear map takes it from the unit of a mesh's
 * boxes. */
struct tact_ellipsoid_query {
    /* centre of the ellipsoid in the unit of the boxes, relative to their middle */
    float centre[3];
    float map[9]; /* linear map of a displacement in the unit of the boxes to that of the ball,
                     row-major */
    float squared_query_radius; /* 1 plus a margin */
};

/* Converts an ellipsoid about `at`, in the frame of a mesh. map: of a displacement in that frame
 * [1/m]. */
TACT_INLINE void tact_ellipsoid_query_init(const double at[3], const double map[9],
                                           const struct tact_mesh *mesh,
                                           struct tact_ellipsoid_query *out)
{
    double middle[3], far = 2.0, size2 = 0.0, unit = tact_mesh_box_length_unit(mesh, middle);
    for (int k = 0; k < 3; k++) {
        const double centre = (at[k] - middle[k]) / unit;
        out->centre[k] = (float)centre;
        far += fabs(centre);
    }
    for (int k = 0; k < 9; k++) {
        out->map[k] = (float)(unit * map[k]);
        size2 += unit * map[k] * unit * map[k];
    }
    const double radius = 1.0 + (double)TACT_CAPSULE_QUERY_MARGIN * (far * sqrt(size2) + 1.0);
    out->squared_query_radius =
        (float)(radius * radius * (1.0 + (double)TACT_CAPSULE_QUERY_MARGIN));
}

/* Maps a vector in each lane by the linear map of an ellipsoid's query. */
TACT_INLINE void tact_ellipsoid_query_map(const float map[9], const tact_f8 in[3], tact_f8 out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = map[3 * k] * in[0] + map[3 * k + 1] * in[1] + map[3 * k + 2] * in[2];
    }
}

/* Bits of those among eight boxes that may reach into an ellipsoid: as for a ball, with mapped
 * boxes. One whose test overflows may. */
TACT_INLINE void tact_ellipsoid_query_boxes(const void *query,
                                            const struct tact_mesh_wide_node *wide_node,
                                            uint32_t *bits)
{
    const struct tact_ellipsoid_query *n = query;
    const tact_f8 *centre = (const tact_f8 *)wide_node->centre;
    const tact_f8 from[3] = {centre[0] - n->centre[0], centre[1] - n->centre[1],
                             centre[2] - n->centre[2]};
    tact_f8 x[3], axis[3];
    tact_ellipsoid_query_map(n->map, from, x);
    tact_f8 apart2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], begins = apart2;
    for (int k = 0; k < 3; k++) {
        tact_ellipsoid_query_map(n->map, (const tact_f8 *)wide_node->axis[k], axis);
        begins -= TACT_F8_ABS(x[0] * axis[0] + x[1] * axis[1] + x[2] * axis[2]);
    }
    tact_i8 near = ~((begins > 0.0F) & (begins * begins > n->squared_query_radius * apart2));
    tact_i8_mask_to_bits(&near, bits);
    *bits &= (1U << wide_node->count) - 1U;
}

/* Test of eight boxes: tact_capsule_query_boxes() or tact_ellipsoid_query_boxes(), with its query.
 */
typedef void tact_round_body_query_boxes_fn(const void *query,
                                            const struct tact_mesh_wide_node *wide_node,
                                            uint32_t *bits);

typedef void tact_round_body_query_leaf_fn(void *user, const struct tact_mesh_leaf *leaf);

/* Visits the leaves of a mesh that may reach into the round solid of a query, in the order of the
 * tree. */
TACT_INLINE void tact_round_body_query_visit_leaves(const void *query,
                                                    tact_round_body_query_boxes_fn *boxes,
                                                    const struct tact_mesh *mesh,
                                                    tact_round_body_query_leaf_fn *leaf, void *user)
{
    uint32_t stack[TACT_MESH_STACK] = {0};
    int top = 1;
    while (top > 0) {
        const uint32_t index = stack[--top];
        if (index & TACT_MESH_CHILD_IS_LEAF_FLAG) {
            leaf(user, &mesh->wide->leaves[index & ~TACT_MESH_CHILD_IS_LEAF_FLAG]);
            continue;
        }
        const struct tact_mesh_wide_node *wide_node = &mesh->wide->wide_nodes[index];
        uint32_t bits;
        boxes(query, wide_node, &bits);
        for (int i = 7; i >= 0 && bits; i--) {
            if (bits >> i & 1U) {
                stack[top++] = wide_node->child[i];
            }
        }
    }
}

#endif
