/*
 * Contact by the closest features of convex solids (Yi and Drumwright 2018): the polygon in which
 * they overlap when projected along the normal, with the gap at each of its corners, before they
 * touch.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "contact/moments/hull_internal.h"
#include "contact/pair/features/layer_internal.h"
#include "contact/pair/features/manifold_internal.h"
#include "contact/pair/features/second_order_internal.h"
#include "contact/pair/models_internal.h"

/* Width of the patch of an edge that lies on a face, relative to its length. */
#define EDGE_STRIP_WIDTH_RATIO 1e-4
/* Gap below which two solids are in contact at any speed, relative to the thinner solid. */
#define MAX_CONTACT_GAP_RATIO 0.01
/* Ticks of motion before touch at which a contact is created. */
#define CONTACT_LOOKAHEAD_TICKS 2.0

static int prepare_features_core(const struct tact_contact_model *model,
                                 const struct tact_shape *shape,
                                 const struct tact_material *material, void **data,
                                 struct tact_error *err)
{
    struct tact_convex_core *core = NULL;
    int rc = tact_convex_core_create(shape, &core);
    (void)model;
    (void)material;
    *data = core;
    return rc && rc != -ENOMEM ? tact_error_set(err, rc, "expected a convex solid") : rc;
}

static void release_features_core(void *data)
{
    tact_convex_core_free(data);
}

static int count_features_patches(const struct tact_shape *a, const struct tact_shape *b,
                                  const struct tact_world_options *options)
{
    (void)options;
    return tact_distance_supports(a, b);
}

/* Velocity of a point of a shape, world axes from the separation's origin, and an upper bound of
 * how much faster another point of its core may be. */
static double contact_point_velocity_and_spread(const struct tact_convex_core *core,
                                                const struct tact_pose *pose, const double twist[6],
                                                const struct tact_separation *sep,
                                                const double *point, double velocity[3])
{
    double arm[3];
    tact_v3_sub(arm, sep->origin, pose->position);
    tact_v3_add(arm, arm, point);
    tact_v3_cross(velocity, twist + 3, arm);
    tact_v3_add(velocity, velocity, twist);
    double size = core->kind == TACT_SHAPE_HALFSPACE ? 0.0 : 2.0 * core->size + core->radius;
    return tact_v3_norm(twist + 3) * size;
}

/* Upper bound of the relative displacement of points of the two solids in one or two ticks [m]. */
static double bound_of_relative_displacement(const struct tact_pair_query *q,
                                             const struct tact_convex_core *a,
                                             const struct tact_convex_core *b,
                                             const struct tact_separation *sep)
{
    double va[3], vb[3], h = q->options->period;
    double rotation_speed_bound =
        contact_point_velocity_and_spread(a, q->pose_a, q->twist[0], sep, sep->point_a, va) +
        contact_point_velocity_and_spread(b, q->pose_b, q->twist[1], sep, sep->point_b, vb);
    tact_v3_sub(va, va, vb);
    return CONTACT_LOOKAHEAD_TICKS * h *
           (tact_v3_norm(va) + rotation_speed_bound + 2.0 * h * tact_v3_norm(q->options->gravity));
}

/* Sets the corners of the patch: those of the manifold; for an edge a thin strip about it. */
static void set_patch_corners(const struct tact_manifold *m, struct tact_patch *patch)
{
    if (m->corners == 2) {
        const double *p = m->corner[0], *q = m->corner[1];
        double x = 0.5 * EDGE_STRIP_WIDTH_RATIO * (q[0] - p[0]),
               y = 0.5 * EDGE_STRIP_WIDTH_RATIO * (q[1] - p[1]);
        const double edge_strip_corners[4][2] = {
            {p[0] + y, p[1] - x}, {q[0] + y, q[1] - x}, {q[0] - y, q[1] + x}, {p[0] - y, p[1] + x}};
        memcpy(patch->corner, edge_strip_corners, sizeof edge_strip_corners);
        patch->corners = 4;
    } else if (m->corners <= TACT_PATCH_CORNERS) {
        memcpy(patch->corner, m->corner, (size_t)m->corners * sizeof *m->corner);
        patch->corners = m->corners;
    } else {
        struct tact_planar_hull hull = {.count = 0};
        for (int i = 0; i < m->corners; i++) {
            tact_planar_hull_add_point(&hull, m->corner[i][0], m->corner[i][1]);
        }
        patch->corners = tact_planar_hull_corners(&hull, patch->corner);
    }
}

/* 1 where a shape is a ball or a plane at the contact: a half-space, a face, a ball, the end of a
 * capsule. */
static int is_spherical_or_flat_feature(const struct tact_convex_core *core,
                                        enum tact_feature feature)
{
    return core->vertices == 0 || feature == TACT_FEATURE_FACE ||
           (core->vertex && core->radius > 0.0 && feature == TACT_FEATURE_VERTEX);
}

/* Makes a patch that is a contact point, which transmits no torques, except for soft balls or a
 * fingertip. */
static void make_contact_point(const struct tact_pair_query *q, const struct tact_convex_core *a,
                               const struct tact_convex_core *b, const struct tact_manifold *m,
                               struct tact_patch *patch)
{
    const struct tact_contact_law *law = q->law;
    double sum_of_core_curvatures =
        (a->radius > 0.0 ? 1.0 / a->radius : 0.0) + (b->radius > 0.0 ? 1.0 / b->radius : 0.0);
    int tip = law->tip_radius > 0.0, soft = law->modulus > 0.0 && sum_of_core_curvatures > 0.0;
    int is_hertz_contact = soft && is_spherical_or_flat_feature(a, m->feature[0]) &&
                           is_spherical_or_flat_feature(b, m->feature[1]);
    patch->corners = 0;
    patch->spin = q->options->spin;
    patch->surface = TACT_SURFACE_ELLIPSOID;
    if (tip || is_hertz_contact) {
        patch->kind = TACT_PATCH_ELASTIC;
        patch->surface =
            patch->spin == TACT_SPIN_LIMIT_SURFACE ? TACT_SURFACE_HERTZ : TACT_SURFACE_ELLIPSOID;
        patch->stretch[0] = patch->stretch[1] = 1.0;
        patch->tip_radius = tip ? law->tip_radius : 0.0;
        patch->tip_power = tip ? law->tip_power : 0.0;
        patch->modulus = tip ? 0.0 : law->modulus;
        patch->radius = tip ? 0.0 : 1.0 / sum_of_core_curvatures;
    }
}

/* Gap between the surfaces at a position in the patch [m]. */
static double surface_gap_at_patch_point(const struct tact_patch *patch, const double x[2])
{
    return patch->gap[0] + patch->gap[1] * x[0] + patch->gap[2] * x[1];
}

/* The corner where the gap is smallest, or the centre for a point contact: along t1 and t2 from the
 * centre [m]. */
static const double *corner_of_smallest_gap(const struct tact_patch *patch)
{
    static const double centre[2] = {0.0, 0.0};
    const double *least = patch->corners ? patch->corner[0] : centre;
    for (int i = 1; i < patch->corners; i++) {
        least = surface_gap_at_patch_point(patch, patch->corner[i]) <
                        surface_gap_at_patch_point(patch, least)
                    ? patch->corner[i]
                    : least;
    }
    return least;
}

/* Sets the gap as a linear function about the centre of the patch, and moves the centre to the
 * height of the middle between the two surfaces: where the gap is smallest, as there the bodies
 * touch and friction acts; at the centre where a layer fills the gap. slope: world axes; from, gap,
 * up: a point, the gap there and the height of the middle. */
static void set_patch_gap_plane(struct tact_patch *patch, const double *from, double gap,
                                const double slope[3], double up,
                                const double height_slope_of_middle_plane[3],
                                int has_compliant_layer)
{
    double way[3];
    tact_v3_sub(way, patch->center, from);
    patch->gap[0] = gap + tact_v3_dot(slope, way);
    patch->gap[1] = tact_v3_dot(slope, patch->frame + 3);
    patch->gap[2] = tact_v3_dot(slope, patch->frame + 6);
    if (!has_compliant_layer) {
        const double *x = corner_of_smallest_gap(patch);
        tact_v3_axpy(way, x[0], patch->frame + 3);
        tact_v3_axpy(way, x[1], patch->frame + 6);
    }
    tact_v3_axpy(patch->center, up + tact_v3_dot(height_slope_of_middle_plane, way), patch->frame);
}

/* Stiffness of a compliant layer distributed over the polygon [N/m]; 0 for none. */
static double compliant_layer_stiffness(const struct tact_pair_query *q,
                                        const struct tact_manifold *m)
{
    const struct tact_contact_law *law = q->law;
    int has_uniform_compliant_layer =
        m->corners > 2 && !(law->tangential_compliance > 0.0) && !(law->tip_radius > 0.0);
    return has_uniform_compliant_layer && law->compliance > 0.0 ? 1.0 / law->compliance : 0.0;
}

/* Makes the patch from the outline of the manifold, with the centre of the outline as its centre.
 * -EDOM where a compliant patch has no compressed part. */
static int make_patch_from_outline(const struct tact_pair_query *q,
                                   const struct tact_convex_core *a,
                                   const struct tact_convex_core *b, const struct tact_manifold *m,
                                   double *stiffness_of_compliant_layer, struct tact_patch *patch)
{
    double gap[3];
    set_patch_corners(m, patch);
    for (int i = 0; i < 3; i++) {
        gap[i] = m->surface_height_plane_a[i] - m->surface_height_plane_b[i];
    }
    *stiffness_of_compliant_layer = compliant_layer_stiffness(q, m);
    *stiffness_of_compliant_layer *= *stiffness_of_compliant_layer > 0.0
                                         ? tact_compliant_layer_clip_compressed(patch, gap)
                                         : 0.0;
    if (compliant_layer_stiffness(q, m) > 0.0 && !(*stiffness_of_compliant_layer > 0.0)) {
        return -EDOM;
    }
    if (m->corners == 1) {
        tact_v3_axpy(patch->center, m->corner[0][0], m->t1);
        tact_v3_axpy(patch->center, m->corner[0][1], m->t2);
    }
    if (m->corners == 1 || tact_patch_from_outline(patch, q->options->spin) ||
        q->law->tip_radius > 0.0) {
        make_contact_point(q, a, b, m, patch);
    }
    return 0;
}

#define OFFSET_AFTER_PATCH_MEMBER(member)                                                          \
    (offsetof(struct tact_patch, member) + sizeof((struct tact_patch *)NULL)->member)

/* Clears the bytes of a patch from one member's offset to another's. */
static void clear_patch_bytes_between_members(struct tact_patch *patch, size_t from, size_t to)
{
    memset((char *)patch + from, 0, to - from);
}

/* Sets a patch to 0 except most of its bytes: the arrays of corners and points, of which only the
 * counted entries are read, and the elastic wrench, which is read only where the law is that. */
static void clear_features_patch(struct tact_patch *patch)
{
    clear_patch_bytes_between_members(patch, 0, offsetof(struct tact_patch, wrench));
    clear_patch_bytes_between_members(patch, OFFSET_AFTER_PATCH_MEMBER(stiffness),
                                      offsetof(struct tact_patch, corner));
    clear_patch_bytes_between_members(patch, OFFSET_AFTER_PATCH_MEMBER(corner),
                                      offsetof(struct tact_patch, points));
    clear_patch_bytes_between_members(patch, OFFSET_AFTER_PATCH_MEMBER(points), sizeof *patch);
    patch->points.count = 0;
}

_Static_assert(
    OFFSET_AFTER_PATCH_MEMBER(wrench) == offsetof(struct tact_patch, stiffness),
    "the members of struct tact_patch that clear_features_patch() leaves unset must be adjacent");

/* Sets a patch whose centre is the manifold's middle to the outline and the gaps of the manifold.
 * -EDOM where a compliant patch has no compressed part. */
static int
set_patch_outline_and_gap_plane(const struct tact_pair_query *q, const struct tact_convex_core *a,
                                const struct tact_convex_core *b, const struct tact_manifold *m,
                                double *stiffness_of_compliant_layer, struct tact_patch *patch)
{
    const double *surface_height_coefficients_a = m->surface_height_plane_a,
                 *surface_height_coefficients_b = m->surface_height_plane_b;
    double slope[3], height_slope_of_middle_plane[3], middle[3];
    for (int i = 0; i < 3; i++) {
        double of_a = surface_height_coefficients_a[1] * m->t1[i] +
                      surface_height_coefficients_a[2] * m->t2[i];
        double of_b = surface_height_coefficients_b[1] * m->t1[i] +
                      surface_height_coefficients_b[2] * m->t2[i];
        slope[i] = of_a - of_b;
        height_slope_of_middle_plane[i] = 0.5 * (of_a + of_b);
    }
    tact_v3_copy(middle, patch->center);
    if (make_patch_from_outline(q, a, b, m, stiffness_of_compliant_layer, patch)) {
        return -EDOM;
    }
    set_patch_gap_plane(patch, middle,
                        surface_height_coefficients_a[0] - surface_height_coefficients_b[0], slope,
                        0.5 * (surface_height_coefficients_a[0] + surface_height_coefficients_b[0]),
                        height_slope_of_middle_plane, *stiffness_of_compliant_layer > 0.0);
    return 0;
}

static int make_patch_of_manifold(const struct tact_pair_query *q, const struct tact_convex_core *a,
                                  const struct tact_convex_core *b,
                                  const struct tact_separation *sep, struct tact_patch *patch)
{
    struct tact_manifold m;
    double stiffness_of_compliant_layer = 0.0;
    tact_manifold_find_contact_points(a, q->pose_a, b, q->pose_b, sep, &m);
    if (tact_manifold_may_need_inner_ball(a, b, &m)) {
        tact_manifold_add_inner_ball(a, q->pose_a, b, q->pose_b,
                                     bound_of_relative_displacement(q, a, b, sep), sep, &m);
    }
    clear_features_patch(patch);
    tact_v3_copy(patch->frame, sep->normal);
    tact_v3_copy(patch->frame + 3, m.t1);
    tact_v3_copy(patch->frame + 6, m.t2);
    tact_v3_add(patch->center, sep->origin, m.middle);
    if (m.is_point_between_nearest_points && m.corners == 1) {
        patch->gap[0] = sep->distance;
        make_contact_point(q, a, b, &m, patch);
    } else if (set_patch_outline_and_gap_plane(q, a, b, &m, &stiffness_of_compliant_layer, patch)) {
        return -EDOM;
    }
    patch->law = TACT_LAW_GAPS;
    patch->exponent = 1.0;
    patch->rolling_radius = INFINITY;
    patch->depth = tact_max(0.0, -surface_gap_at_patch_point(patch, corner_of_smallest_gap(patch)));
    tact_features_set_second_order_term(q, a, b, sep, m.feature, patch);
    if (stiffness_of_compliant_layer > 0.0) {
        tact_compliant_layer_set_wrench(patch, stiffness_of_compliant_layer);
    }
    return 0;
}

static int measure_features_pair(const struct tact_pair_query *q, struct tact_patch *patch,
                                 struct tact_pair_piece *piece)
{
    const struct tact_convex_core *a = q->data_a, *b = q->data_b;
    double contact_gap_at_any_speed =
        MAX_CONTACT_GAP_RATIO *
        tact_min(tact_min(a->thickness, b->thickness), a->size + a->radius + b->size + b->radius);
    struct tact_separation sep;
    (void)piece;
    /* the normal of a half-space is fixed, so that no other can be requested */
    if (q->along && a->vertices && b->vertices) {
        tact_nearest_points_along_normal(a, q->pose_a, b, q->pose_b, q->along, &sep);
    } else if (tact_nearest_points(a, q->pose_a, b, q->pose_b, q->state, &sep)) {
        tact_features_clear_last_twists(q->state);
        return -EDOM;
    }
    int is_gap_within_lookahead =
        sep.distance < contact_gap_at_any_speed ||
        sep.distance < bound_of_relative_displacement(q, a, b, &sep) + contact_gap_at_any_speed;
    if (!is_gap_within_lookahead) {
        tact_features_clear_last_twists(q->state);
        return -EDOM;
    }
    return make_patch_of_manifold(q, a, b, &sep, patch);
}

const struct tact_contact_model tact_model_features = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "features",
    .state = TACT_FEATURES_STATE,
    .gaps = 1,
    .patches = count_features_patches,
    .prepare = prepare_features_core,
    .release = release_features_core,
    .measure = measure_features_pair,
};
