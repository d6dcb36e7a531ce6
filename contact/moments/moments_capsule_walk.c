/* The triangles of a mesh that may reach into a capsule: tests the boxes of eight nodes, then four
 * triangles, at a time. */
#include "contact/mesh/mesh_internal.h"
#include "contact/moments/moments_capsule_internal.h"
#include "contact/simd_internal.h"

/** Stack of nodes: at most 7 more for each of 11 levels of a tree of 2^32. */
enum { STACK = 96 };

/** Rounding of single precision in the test of a box, over the sizes that enter it. */
static const float MARGIN = 2e-6F;

/** A capsule in the unit of a mesh's boxes, relative to their middle. */
struct narrow {
    float centre[3], axis[3];
    float radius2;  /* square of the radius plus a margin */
    float inverse2; /* 1 / axis.axis, or 0 */
};

static void make_narrow(const struct tact_capsule_place *p, const struct tact_mesh *mesh,
                        struct narrow *out)
{
    double middle[3], far = 2.0, radius, axis2 = 0.0;
    double unit = tact_mesh_box_unit(mesh, middle);
    for (int k = 0; k < 3; k++) {
        double centre = (p->centre[k] - middle[k]) / unit, axis = p->axis[k] / unit;
        out->centre[k] = (float)centre;
        out->axis[k] = (float)axis;
        axis2 += axis * axis;
        far += fabs(centre) + fabs(axis);
    }
    radius = p->radius / unit;
    radius += (double)MARGIN * (far + radius);
    out->radius2 = (float)(radius * radius * (1.0 + (double)MARGIN));
    out->inverse2 = axis2 > 0.0 ? (float)(1.0 / axis2) : 0.0F;
}

/** Bits of the boxes that may reach into the capsule. Outward from the axis to the centre of a box,
 * the capsule ends at its radius, and the box begins at the distance of its centre less its extent.
 */
TACT_INLINE void test_boxes(const struct narrow *n, const struct tact_mesh_eight *eight,
                            uint32_t *bits)
{
    const tact_f8 *centre = (const tact_f8 *)eight->centre;
    const tact_f8 one = (tact_f8){0.0F} + 1.0F;
    tact_f8 x = centre[0] - n->centre[0], y = centre[1] - n->centre[1];
    tact_f8 z = centre[2] - n->centre[2];
    tact_f8 share = (x * n->axis[0] + y * n->axis[1] + z * n->axis[2]) * n->inverse2;
    share = TACT_F8_MIN(TACT_F8_MAX(share, -one), one);
    x -= share * n->axis[0];
    y -= share * n->axis[1];
    z -= share * n->axis[2];
    tact_f8 apart2 = x * x + y * y + z * z, begins = apart2;
    for (int k = 0; k < 3; k++) {
        const tact_f8 *axis = (const tact_f8 *)eight->axis[k];
        begins -= TACT_F8_ABS(x * axis[0] + y * axis[1] + z * axis[2]);
    }
    tact_i8 near = (begins <= 0.0F) | (begins * begins <= n->radius2 * apart2);
    tact_i8_bits(&near, bits);
    *bits &= (1U << eight->count) - 1U;
}

/** Bits of a leaf's triangles that may reach into the capsule: outward from the axis to the middle
 * of the corners, a corner is within the radius. corner: output, from the capsule's centre. */
TACT_INLINE void test_triangles(const struct tact_capsule_place *p,
                                const struct tact_mesh_leaf *leaf, tact_d4 corner[3][3],
                                uint32_t *bits)
{
    const double axis2 = tact_v3_dot(p->axis, p->axis), inverse2 = axis2 > 0.0 ? 1.0 / axis2 : 0.0;
    const tact_d4 one = (tact_d4){0.0} + 1.0;
    tact_d4 out[3], share = {0.0}, apart2 = {0.0}, least = (tact_d4){0.0} + INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            corner[i][k] = *(const tact_d4 *)leaf->corner[i][k] - p->centre[k];
        }
        out[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3.0;
        share += out[k] * p->axis[k];
    }
    share *= inverse2;
    share = TACT_D4_MIN(TACT_D4_MAX(share, -one), one);
    for (int k = 0; k < 3; k++) {
        out[k] -= share * p->axis[k];
        apart2 += out[k] * out[k];
    }
    for (int i = 0; i < 3; i++) {
        tact_d4 begins = {0.0};
        for (int k = 0; k < 3; k++) {
            begins += out[k] * (corner[i][k] - share * p->axis[k]);
        }
        least = TACT_D4_MIN(begins, least);
    }
    tact_l4 near = (least <= 0.0) | (least * least <= p->radius * p->radius * apart2);
    *bits = 0;
    for (unsigned i = 0; i < leaf->count; i++) {
        *bits |= (near[i] ? 1U : 0U) << i;
    }
}

/** Turns the corners of a leaf's triangles into the capsule's axes, and clears the bits of those
 * whose bounding boxes do not overlap the capsule's. */
TACT_INLINE void turn_triangles(const double rot[9], const struct tact_capsule_sums *sums,
                                tact_d4 corner[3][3], tact_d4 turned[3][3], uint32_t *bits)
{
    tact_l4 reaches = (tact_l4){0} == 0;
    for (int k = 0; k < 3; k++) {
        const double most = k < 2 ? sums->radius : sums->radius + sums->half;
        for (int i = 0; i < 3; i++) {
            turned[i][k] = rot[3 * k] * corner[i][0] + rot[3 * k + 1] * corner[i][1] +
                           rot[3 * k + 2] * corner[i][2];
        }
        tact_d4 low = TACT_D4_MIN(turned[0][k], turned[1][k]);
        tact_d4 high = TACT_D4_MAX(turned[0][k], turned[1][k]);
        low = TACT_D4_MIN(turned[2][k], low);
        high = TACT_D4_MAX(turned[2][k], high);
        reaches &= (low < most) & (high > -most);
    }
    uint32_t near;
    tact_l4_bits(&reaches, &near);
    *bits &= near;
}

TACT_INLINE void add_leaf(const struct tact_capsule_place *p, const struct tact_mesh_leaf *leaf,
                          struct tact_capsule_sums *sums)
{
    tact_d4 corner[3][3], turned[3][3];
    uint32_t bits;
    test_triangles(p, leaf, corner, &bits);
    if (!bits) {
        return;
    }
    turn_triangles(p->rot, sums, corner, turned, &bits);
    for (unsigned i = 0; i < leaf->count; i++) {
        if (bits >> i & 1U) {
            double face[3][3];
            for (int k = 0; k < 9; k++) {
                face[k / 3][k % 3] = turned[k / 3][k % 3][i];
            }
            tact_capsule_add_face(sums, face, 3);
        }
    }
}

TACT_TWICE(void, tact_capsule_add_mesh,
           (const struct tact_mesh *mesh, const struct tact_capsule_place *p,
            struct tact_capsule_sums *sums),
           (mesh, p, sums))
{
    struct narrow n;
    uint32_t stack[STACK] = {0};
    int top = 1;
    make_narrow(p, mesh, &n);
    while (top > 0) {
        const uint32_t index = stack[--top];
        if (index & TACT_MESH_IS_LEAF) {
            add_leaf(p, &mesh->wide->leaves[index & ~TACT_MESH_IS_LEAF], sums);
            continue;
        }
        const struct tact_mesh_eight *eight = &mesh->wide->eights[index];
        uint32_t bits;
        test_boxes(&n, eight, &bits);
        for (int i = 7; i >= 0 && bits; i--) {
            if (bits >> i & 1U) {
                stack[top++] = eight->child[i];
            }
        }
    }
}
