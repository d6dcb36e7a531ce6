/* Moments of the overlap of a solid with a small convex one, from the overlap's surface. */
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/moments/moments_surface_internal.h"
#include "contact/moments/overlap_internal.h"

/** What is found out about the faces of an overlap as they are cut out of a solid that is not
 *  convex. */
struct cut {
    struct tact_cut_surface surface;
    struct tact_areas areas; /* of the faces, not the caps */
};

TACT_INLINE void add_face(void *user, const tact_d4 *corner, int n, double share)
{
    struct cut *cut = user;
    tact_surface_add(&cut->surface, corner, n, share);
    for (int i = 1; i + 1 < n && share > 0.0; i++) {
        double area[3];
        tact_areas_add(&cut->areas, &corner[0], &corner[i], &corner[i + 1], share, area);
    }
}

/** Cuts a mesh by the cutter's planes, as facets where it has them. */
TACT_CLONES static int cut_out(struct tact_cutter *c, const struct tact_mesh *mesh,
                               double origin[3], struct tact_moment_sums *sums, double *planar)
{
    struct cut cut;
    memset(&cut, 0, sizeof cut);
    int rc = mesh->facets ? tact_cut_facets(c, mesh->facets, tact_surface_add, &cut.surface)
             : planar     ? tact_cut_mesh(c, mesh, add_face, &cut)
                          : tact_cut_mesh(c, mesh, tact_surface_add, &cut.surface);
    if (rc == 1) {
        tact_surface_finish(&cut.surface, c->size, sums);
        for (int k = 0; k < 3; k++) {
            origin[k] = cut.surface.origin[k];
        }
    }
    if (rc == 1 && planar) {
        *planar = tact_max(tact_areas_planar(&cut.areas), tact_caps_planar(c));
    }
    return rc;
}

int tact_moments_convex(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        struct tact_moments *out, double *planar)
{
    return tact_moments_within(a, pa, b, pb, NULL, 0, out, planar);
}

int tact_moments_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, struct tact_moments *out,
                        double *planar)
{
    /* Fewer planes are fewer cuts. */
    int swapped = b && (!b->facets || (a->facets && b->facets->count > a->facets->count));
    const struct tact_mesh *first = swapped ? b : a, *second = swapped ? a : b;
    const struct tact_pose *pose = swapped ? pb : pa;
    struct tact_cutter cutter;
    struct tact_moment_sums sums;
    double r[9], axes[9], origin[3] = {0.0}, world[3];
    tact_cutter_place(&cutter, tact_mesh_size(first), pose, second ? second->facets : NULL,
                      swapped ? pa : pb);
    int rc = tact_cutter_add(&cutter, pose, plane, planes);
    rc = rc ? rc : cut_out(&cutter, first, origin, &sums, planar);
    if (rc != 1) {
        return rc;
    }
    tact_quat_to_m3(r, pose->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        axes[i] = r[3 * (i % 3) + i / 3];
    }
    tact_pose_point(world, pose, origin);
    rc = tact_sums_finish(&sums, axes, world, out);
    for (int i = 0; swapped && i < 6; i++) {
        out->gradient[i] = -out->gradient[i];
    }
    return rc;
}
