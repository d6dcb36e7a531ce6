/* Moments of the overlap of a solid with a small convex one, from the surface of the overlap. */
#include "contact/moments/moments_internal.h"
#include "contact/moments/overlap_internal.h"

TACT_DISPATCH_BY_CPU(int, tact_moments_of_convex_and_mesh,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      struct tact_moments *out, double *planarity,
                      struct tact_overlap_corners *corners),
                     (a, pa, b, pb, out, planarity, corners))
{
    return tact_moments_of_overlap_in_planes(a, pa, b, pb, NULL, 0, out, planarity, corners);
}

TACT_DISPATCH_BY_CPU(int, tact_moments_of_overlap_in_planes,
                     (const struct tact_mesh *a, const struct tact_pose *pa,
                      const struct tact_mesh *b, const struct tact_pose *pb,
                      const double (*plane)[4], int plane_count, struct tact_moments *out,
                      double *planarity, struct tact_overlap_corners *corners),
                     (a, pa, b, pb, plane, plane_count, out, planarity, corners))
{
    /* the solid with fewer planes is the one that cuts, which takes fewer cuts */
    int is_swapped = b && (!b->facets || (a->facets && b->facets->count > a->facets->count));
    const struct tact_mesh *first = is_swapped ? b : a, *second = is_swapped ? a : b;
    const struct tact_pose *pose = is_swapped ? pb : pa;
    struct tact_cutter cutter;
    struct tact_moment_sums sums;
    double r[9], axes[9], origin[3] = {0.0}, world[3];
    tact_cutter_init_frame(&cutter, tact_mesh_largest_coordinate(first), pose,
                           second ? second->facets : NULL, is_swapped ? pa : pb);
    int rc = tact_cutter_add_world_planes(&cutter, pose, plane, plane_count);
    rc = rc ? rc : tact_cutter_sum_moments(&cutter, first, origin, &sums, planarity, corners);
    if (corners) {
        corners->was_solid_b_cut_by_a = is_swapped;
    }
    if (rc != 1) {
        return rc;
    }
    tact_quat_to_m3(r, pose->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        axes[i] = r[3 * (i % 3) + i / 3];
    }
    tact_pose_point(world, pose, origin);
    rc = tact_moment_sums_finish(&sums, axes, world, out);
    for (int i = 0; is_swapped && i < 6; i++) {
        out->gradient[i] = -out->gradient[i];
    }
    return rc;
}
