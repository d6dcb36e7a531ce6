/* The triangles of a mesh that may reach into a capsule, tested four at a time. */
#include "contact/moments/moments_capsule_internal.h"
#include "contact/moments/moments_round_internal.h"

/* A capsule that a mesh is traversed for, and the sums over the faces in it. */
struct capsule_with_mesh_sums {
    const struct tact_capsule_in_mesh_frame *place;
    struct tact_capsule_sums *sums;
};

/* Tests which triangles of a leaf may reach into the capsule, a bit each: outward from the axis to
 * the middle of the corners, a corner is within the radius. corner: output, from the capsule's
 * centre. */
TACT_INLINE void test_triangles_against_capsule(const struct tact_capsule_in_mesh_frame *p,
                                                const struct tact_mesh_leaf *leaf,
                                                tact_d4 corner[3][3], uint32_t *bits)
{
    const double axis_length_squared = tact_v3_dot(p->axis, p->axis),
                 inverse_squared_axis_length =
                     axis_length_squared > 0.0 ? 1.0 / axis_length_squared : 0.0;
    const tact_d4 one = (tact_d4){0.0} + 1.0;
    tact_d4 out[3], share = {0.0}, apart2 = {0.0}, least = (tact_d4){0.0} + INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            corner[i][k] = *(const tact_d4 *)leaf->corner[i][k] - p->centre[k];
        }
        out[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3.0;
        share += out[k] * p->axis[k];
    }
    share *= inverse_squared_axis_length;
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
    tact_l4 triangle_lanes_within_capsule =
        (least <= 0.0) | (least * least <= p->radius * p->radius * apart2);
    *bits = 0;
    for (unsigned i = 0; i < leaf->count; i++) {
        *bits |= (triangle_lanes_within_capsule[i] ? 1U : 0U) << i;
    }
}

/* Turns the corners of a leaf's triangles into the capsule's axes, and clears the bits of those
 * whose bounding boxes do not overlap the capsule's. */
TACT_INLINE void rotate_triangles_to_capsule(const double rot[9],
                                             const struct tact_capsule_sums *sums,
                                             tact_d4 corner[3][3], tact_d4 turned[3][3],
                                             uint32_t *bits)
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
    uint32_t triangle_lanes_within_capsule;
    tact_l4_mask_to_bits(&reaches, &triangle_lanes_within_capsule);
    *bits &= triangle_lanes_within_capsule;
}

TACT_INLINE void add_leaf(void *user, const struct tact_mesh_leaf *leaf)
{
    const struct capsule_with_mesh_sums *capsule_with_mesh_sums = user;
    const struct tact_capsule_in_mesh_frame *p = capsule_with_mesh_sums->place;
    tact_d4 corner[3][3], turned[3][3];
    uint32_t bits;
    test_triangles_against_capsule(p, leaf, corner, &bits);
    if (!bits) {
        return;
    }
    rotate_triangles_to_capsule(p->rot, capsule_with_mesh_sums->sums, corner, turned, &bits);
    for (unsigned i = 0; i < leaf->count; i++) {
        if (bits >> i & 1U) {
            double face[3][3];
            for (int k = 0; k < 9; k++) {
                face[k / 3][k % 3] = turned[k / 3][k % 3][i];
            }
            tact_capsule_add_face(capsule_with_mesh_sums->sums, face, 3);
        }
    }
}

TACT_DISPATCH_BY_CPU(void, tact_capsule_add_mesh,
                     (const struct tact_mesh *mesh, const struct tact_capsule_in_mesh_frame *p,
                      struct tact_capsule_sums *sums),
                     (mesh, p, sums))
{
    struct tact_capsule_query capsule_query;
    struct capsule_with_mesh_sums capsule_with_mesh_sums = {p, sums};
    tact_capsule_query_init(p->centre, p->axis, p->radius, mesh, &capsule_query);
    tact_round_body_query_visit_leaves(&capsule_query, tact_capsule_query_boxes, mesh, add_leaf,
                                       &capsule_with_mesh_sums);
}
