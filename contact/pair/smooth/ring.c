#include "contact/pair/smooth/ring_internal.h"

#include <errno.h>
#include <string.h>
#include "contact/elementary.h"

/* Gap at which a ring's contact begins, relative to the ring's radius. */
#define MAX_RING_GAP_RATIO 1e-3

/* Number of corners of the patch of a torus that lies on a plane. */
enum { TORUS_PATCH_CORNERS = 32 };

/* 1 where a torus over a half-space may touch it along the whole ring in this tick. */
static int may_ring_touch_halfspace(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                    int plane, double closing_speed_change_per_tick,
                                    const struct tact_patch *patch)
{
    const double radius = pair->shape[1 - plane]->size[0], h = q->options->period;
    double v[3], w[3];
    tact_v3_sub(v, q->twist[0], q->twist[1]);
    tact_v3_sub(w, q->twist[0] + 3, q->twist[1] + 3);
    double closing_speed = tact_max(0.0, radius * tact_v3_norm(w) - tact_v3_dot(patch->frame, v));
    double ring_gap_change_by_tilt = radius * tact_hypot(patch->gap[1], patch->gap[2]);
    return patch->gap[0] - ring_gap_change_by_tilt <=
           h * (2.0 * closing_speed + closing_speed_change_per_tick) + MAX_RING_GAP_RATIO * radius;
}

/* Makes the patch of a torus that lies on a half-space: the gap is that of the disc bounded by its
 * ring, displaced downward by the tube, also for a small tilt. The pressure acts along the ring. */
static void set_torus_ring_patch(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                 int plane, struct tact_patch *patch)
{
    const struct tact_pose *pose = plane ? q->pose_a : q->pose_b;
    const double *size = pair->shape[1 - plane]->size;
    double *n = patch->frame, up[3], axis[3];
    memset(patch, 0, sizeof *patch);
    for (int i = 0; i < 3; i++) {
        up[i] = pair->rotation[plane][3 * i + 2];
        axis[i] = pair->rotation[1 - plane][3 * i + 2];
    }
    tact_v3_scale(n, up, plane ? 1.0 : -1.0);
    tact_v3_tangents(n, n + 3, n + 6);
    double height =
        tact_v3_dot(up, pair->offset_from_origin_b_to_origin_a) * (plane ? 1.0 : -1.0) - size[1];
    tact_v3_copy(patch->center, pose->position);
    tact_v3_axpy(patch->center, -size[1] - 0.5 * height, up);
    patch->law = TACT_LAW_GAPS;
    patch->kind = TACT_PATCH_ELLIPSE;
    patch->exponent = 1.0;
    patch->rolling_radius = INFINITY;
    patch->gap[0] = height;
    patch->gap[1] = -tact_v3_dot(axis, n + 3) / tact_v3_dot(axis, up);
    patch->gap[2] = -tact_v3_dot(axis, n + 6) / tact_v3_dot(axis, up);
    patch->depth = tact_max(0.0, size[0] * tact_hypot(patch->gap[1], patch->gap[2]) - height);
    patch->corners = TORUS_PATCH_CORNERS;
    for (int i = 0; i < TORUS_PATCH_CORNERS; i++) {
        double angle = 2.0 * 3.14159265358979323846 * i / TORUS_PATCH_CORNERS;
        patch->corner[i][0] = size[0] * tact_cos(angle);
        patch->corner[i][1] = size[0] * tact_sin(angle);
    }
    patch->semi[0] = patch->semi[1] = patch->spin_arm = size[0];
    patch->spin = q->options->spin;
    patch->surface = TACT_SURFACE_UNIFORM;
}

int tact_smooth_measure_torus_ring(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                   int plane, double closing_speed_change_per_tick,
                                   struct tact_patch *patch)
{
    set_torus_ring_patch(q, pair, plane, patch);
    return may_ring_touch_halfspace(q, pair, plane, closing_speed_change_per_tick, patch) ? 0
                                                                                          : -EDOM;
}
