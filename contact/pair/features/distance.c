#include "contact/pair/features/distance.h"

#include <errno.h>
#include "contact/pair/features/manifold_internal.h"

_Static_assert(TACT_DISTANCE_CORNERS == TACT_MANIFOLD_CORNERS,
               "struct tact_distance must have room for every corner of a contact manifold");

const char *tact_feature_name(enum tact_feature feature)
{
    return feature == TACT_FEATURE_FACE ? "face" : feature == TACT_FEATURE_EDGE ? "edge" : "vertex";
}

int tact_distance_supports(const struct tact_shape *a, const struct tact_shape *b)
{
    int planes = (a->kind == TACT_SHAPE_HALFSPACE) + (b->kind == TACT_SHAPE_HALFSPACE);
    return tact_has_shape_kind_convex_core(a->kind) && tact_has_shape_kind_convex_core(b->kind) &&
           planes < 2;
}

static void compute_core_distance(const struct tact_convex_core *a, const struct tact_pose *pose_a,
                                  const struct tact_convex_core *b, const struct tact_pose *pose_b,
                                  struct tact_distance *out)
{
    double state[TACT_NEAREST_STATE] = {0.0};
    struct tact_separation sep;
    struct tact_manifold m;
    tact_nearest_points(a, pose_a, b, pose_b, state, &sep);
    tact_manifold_find_contact_points(a, pose_a, b, pose_b, &sep, &m);
    out->distance = sep.distance;
    out->bound = sep.bound;
    out->supports = sep.supports;
    tact_v3_copy(out->normal, sep.normal);
    tact_v3_add(out->point[0], sep.origin, sep.point_a);
    tact_v3_add(out->point[1], sep.origin, sep.point_b);
    out->feature[0] = m.feature[0];
    out->feature[1] = m.feature[1];
    out->corners = m.corners;
    for (int i = 0; i < m.corners; i++) {
        const double *x = m.corner[i];
        double of_a = m.surface_height_plane_a[0] + m.surface_height_plane_a[1] * x[0] +
                      m.surface_height_plane_a[2] * x[1];
        double of_b = m.surface_height_plane_b[0] + m.surface_height_plane_b[1] * x[0] +
                      m.surface_height_plane_b[2] * x[1];
        out->gap[i] = of_a - of_b;
        tact_v3_add(out->corner[i], sep.origin, m.middle);
        tact_v3_axpy(out->corner[i], x[0], m.t1);
        tact_v3_axpy(out->corner[i], x[1], m.t2);
        tact_v3_axpy(out->corner[i], 0.5 * (of_a + of_b), sep.normal);
    }
}

int tact_distance_find(const struct tact_shape *a, const struct tact_pose *pose_a,
                       const struct tact_shape *b, const struct tact_pose *pose_b,
                       struct tact_distance *out)
{
    struct tact_convex_core *of_a = NULL, *of_b = NULL;
    int rc = tact_distance_supports(a, b) ? tact_convex_core_create(a, &of_a) : -ENOTSUP;
    rc = rc ? rc : tact_convex_core_create(b, &of_b);
    if (!rc) {
        compute_core_distance(of_a, pose_a, of_b, pose_b, out);
    }
    tact_convex_core_free(of_a);
    tact_convex_core_free(of_b);
    return rc;
}
