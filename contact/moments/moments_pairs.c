/* Signed prism pairs: the broad phase that lists the pairs (moments_near_internal.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/moments/moments_near_internal.h"

struct tact_prism_work {
    struct tact_leaf_pairing pairing;
    struct tact_moments_scratch *scratch;
    size_t count;
};

TACT_DISPATCH_BY_CPU(struct tact_prism_work *, tact_prism_work_create, (void), ())
{
    /* alignment of vectors, stated explicitly because the compiler's choice depends on the
     * processor */
    size_t size = (sizeof(struct tact_prism_work) + 63) / 64 * 64;
    struct tact_prism_work *work = aligned_alloc(64, size);
    if (work) {
        memset(work, 0, sizeof *work);
    }
    return work;
}

/* Places a mesh in the prism frame: the transforms of its vertices and boxes. */
static void set_mesh_transform_to_prism_frame(const struct tact_mesh *mesh,
                                              const struct tact_prism_frame *frame,
                                              const struct tact_pose *pose, double unit,
                                              struct tact_placed_mesh *p)
{
    double middle[3], seen[3], normal[3], along[3], own = tact_mesh_box_length_unit(mesh, middle);
    p->mesh = mesh;
    tact_prism_transform_to_frame(frame, pose, p->rot, p->shift);
    tact_m3_mul_v3(seen, p->rot, middle);
    tact_v3_add(seen, seen, p->shift);
    tact_m3_mul_v3(normal, frame->axes, frame->normal);
    tact_m3_tmul_v3(along, p->rot, normal);
    p->middle[3] = (float)(tact_v3_dot(normal, seen) / unit);
    for (int j = 0; j < 3; j++) {
        p->column[j][3] = (float)(along[j] * (own / unit));
        for (int i = 0; i < 3; i++) {
            p->column[j][i] = (float)(p->rot[3 * i + j] * (own / unit));
        }
        p->middle[j] = (float)(seen[j] / unit);
    }
}

TACT_DISPATCH_BY_CPU(struct tact_leaf_pairing *, tact_pairing_place_meshes,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch),
                     (a, pa, b, pb, frame, scratch))
{
    struct tact_leaf_pairing *pairing = &scratch->work->pairing;
    double middle[3];
    double unit = fmax(tact_mesh_box_length_unit(a, middle), tact_mesh_box_length_unit(b, middle));
    pairing->pair_units_per_metre = (float)(1.0 / unit);
    set_mesh_transform_to_prism_frame(a, frame, pa, unit, &pairing->a.placed_mesh);
    set_mesh_transform_to_prism_frame(b, frame, pb, unit, &pairing->b.placed_mesh);
    /* slack of the search, twice that of the sum: a triangle that the sum treats as lying in a
     * plane is then found, regardless of rounding here */
    pairing->b.placed_mesh.slack = 2.0 * tact_prism_slack(a, pa, b, pb);
    return pairing;
}

/* Lists those of the near triangle pairs whose prisms may contribute. */
TACT_INLINE int list_leaf_pairs(void *user, struct tact_leaf_pairing *pairing, uint32_t leaf_a,
                                const struct tact_triangle_pair *pairs, uint32_t count)
{
    struct tact_prism_work *w = user;
    const struct tact_mesh_leaf *tree_leaves_of_mesh_b = pairing->b.placed_mesh.mesh->wide->leaves;
    uint32_t first_triangle_a = pairing->a.placed_mesh.mesh->wide->leaves[leaf_a].first;
    for (uint32_t i = 0; i < count; i++) {
        tact_d4 value[3];
        uint32_t a = pairs[i].a, b = pairs[i].b;
        if (!tact_faces_may_prisms_overlap(&pairing->face_a[a], &pairing->face_b[b], value)) {
            continue;
        }
        if (w->count == w->scratch->capacity) {
            return -ENOSPC;
        }
        w->scratch->pairs[w->count++] = (struct tact_prism_pair){
            first_triangle_a + a,
            tree_leaves_of_mesh_b[pairing->b.leaf[pairing->first + b / 4]].first + b % 4};
    }
    return 0;
}

static int find_prism_pairs(struct tact_prism_work *w)
{
    int rc = tact_pairing_expand_to_leaves(&w->pairing, TACT_PAIRING_MAX_NODES);
    return rc > 0 ? tact_pairing_match_leaves(&w->pairing, 0.0, list_leaf_pairs, w) : rc;
}

TACT_DISPATCH_BY_CPU(long, tact_prism_pairs,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const struct tact_prism_frame *frame, struct tact_moments_scratch *scratch,
                      const struct tact_prism_pair **pairs),
                     (a, pa, b, pb, frame, scratch, pairs))
{
    struct tact_prism_work *w = scratch->work;
    *pairs = scratch->pairs;
    w->scratch = scratch;
    w->count = 0;
    tact_pairing_place_meshes(a, pa, b, pb, frame, scratch);
    int rc = find_prism_pairs(w);
    return rc ? rc : (long)w->count;
}
