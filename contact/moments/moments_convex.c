/* Moments of the overlap of a solid with a small convex one, from the overlap's surface. */
#include <string.h>

#include "contact/moments/moments_internal.h"
#include "contact/moments/moments_surface_internal.h"
#include "contact/moments/overlap_internal.h"

/** Cuts a mesh by the cutter's planes, as facets where it has them. */
TACT_CLONES static int cut_out(struct tact_cutter *c, const struct tact_mesh *mesh,
                               double origin[3], struct tact_moment_sums *sums)
{
    struct tact_cut_surface s;
    memset(&s, 0, sizeof s);
    int rc = mesh->facets ? tact_cut_facets(c, mesh->facets, tact_surface_add, &s)
                          : tact_cut_mesh(c, mesh, tact_surface_add, &s);
    if (rc == 1) {
        tact_surface_finish(&s, c->size, sums);
        for (int k = 0; k < 3; k++) {
            origin[k] = s.origin[k];
        }
    }
    return rc;
}

int tact_moments_convex(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        struct tact_moments *out)
{
    return tact_moments_within(a, pa, b, pb, NULL, 0, out);
}

int tact_moments_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, struct tact_moments *out)
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
    rc = rc ? rc : cut_out(&cutter, first, origin, &sums);
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
