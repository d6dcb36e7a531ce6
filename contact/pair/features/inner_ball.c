/*
 * Contact corners at balls inside bodies that move by more than their thickness in a tick. The gap
 * of the nearest features stops these features, while the body continues to rotate about them, by
 * an angle over which a gap that is linear in the velocity does not bound its other side. A ball
 * inside the body is not changed by rotation. The gap of this ball is added to the patch as one
 * more corner, so that at least the middle of the body does not pass through, however it rotates.
 */
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/features/manifold_internal.h"

/* Ratio of the sizes of two solids from which the larger is represented by its plane, as it hardly
 * rotates. */
#define MIN_SIZE_RATIO_FOR_PLANE 4.0
/* Distance of corners below which they bound the same motion, relative to the size. */
#define SAME_CORNER_DISTANCE_RATIO 1e-3

/* Sets x to the position of a core's inscribed ball in the plane of the manifold. Returns the
 * distance of the ball from the plane through the solid's nearest point, away from the other solid
 * [m]. */
static double place_inscribed_ball(const struct tact_convex_core *core,
                                   const struct tact_pose *pose, int is_core_below_contact_plane,
                                   const struct tact_separation *sep, const struct tact_manifold *m,
                                   double x[2])
{
    double at[3];
    tact_quat_rotate(at, pose->quat_wxyz, core->middle);
    tact_v3_add(at, at, pose->position);
    tact_v3_sub(at, at, sep->origin);
    tact_v3_sub(at, at, m->middle);
    x[0] = tact_v3_dot(at, m->t1);
    x[1] = tact_v3_dot(at, m->t2);
    double height = tact_v3_dot(at, sep->normal) * (is_core_below_contact_plane ? -1.0 : 1.0);
    return height - core->inscribed_ball_radius - 0.5 * sep->distance;
}

static double surface_plane_height_at(const double *height, const double *x)
{
    return height[0] + height[1] * x[0] + height[2] * x[1];
}

/* Sets both surface heights of a manifold such that the gap is the given plane and the middle
 * between them has the given height. */
static void set_corner_heights_from_gap(struct tact_manifold *m, const double gap[3],
                                        double height_midway_between_surfaces)
{
    for (int i = 0; i < 3; i++) {
        m->surface_height_plane_a[i] = 0.5 * gap[i] + (i ? 0.0 : height_midway_between_surfaces);
        m->surface_height_plane_b[i] = -0.5 * gap[i] + (i ? 0.0 : height_midway_between_surfaces);
    }
}

/* Gap at a corner of the manifold; *height_midway_between_surfaces: that of the middle between the
 * solids there. */
static double gap_at_manifold_corner(const struct tact_manifold *m, const double *corner,
                                     double *height_midway_between_surfaces)
{
    double of_a = surface_plane_height_at(m->surface_height_plane_a, corner),
           of_b = surface_plane_height_at(m->surface_height_plane_b, corner);
    *height_midway_between_surfaces = 0.5 * (of_a + of_b);
    return of_a - of_b;
}

/* Makes a segment of a contact point and the ball at x, with their gaps at its ends. */
static void make_segment_to_inner_ball(struct tact_manifold *m, const double x[2],
                                       double gap_at_inscribed_ball, double least)
{
    const double *p = m->corner[0];
    double middle, of_p = gap_at_manifold_corner(m, p, &middle);
    double u[2] = {x[0] - p[0], x[1] - p[1]}, square = u[0] * u[0] + u[1] * u[1];
    if (square > least * least) {
        double slope = (gap_at_inscribed_ball - of_p) / square;
        const double gap[3] = {of_p - slope * (u[0] * p[0] + u[1] * p[1]), slope * u[0],
                               slope * u[1]};
        memcpy(m->corner[1], x, sizeof u);
        m->corners = 2;
        set_corner_heights_from_gap(m, gap, middle);
    }
}

/* Makes a triangle of a contact segment and the ball at x. */
static void make_triangle_to_inner_ball(struct tact_manifold *m, const double x[2],
                                        double gap_at_inscribed_ball, double least)
{
    const double *p = m->corner[0], q[2] = {m->corner[1][0], m->corner[1][1]};
    double middle, unused, of_p = gap_at_manifold_corner(m, p, &middle),
                           rise = gap_at_manifold_corner(m, q, &unused) - of_p;
    double u[2] = {x[0] - p[0], x[1] - p[1]}, v[2] = {q[0] - p[0], q[1] - p[1]};
    double area = v[0] * u[1] - v[1] * u[0], up = gap_at_inscribed_ball - of_p;
    if (fabs(area) > least * tact_hypot(v[0], v[1])) {
        double gap[3] = {0.0, (rise * u[1] - up * v[1]) / area, (up * v[0] - rise * u[0]) / area};
        gap[0] = of_p - gap[1] * p[0] - gap[2] * p[1];
        memcpy(m->corner[1], area > 0.0 ? q : x, sizeof u);
        memcpy(m->corner[2], area > 0.0 ? x : q, sizeof u);
        m->corners = 3;
        set_corner_heights_from_gap(m, gap, middle);
    }
}

/* 1 where B is the smaller of the two solids. */
static int is_core_b_smaller(const struct tact_convex_core *a, const struct tact_convex_core *b)
{
    return a->kind == TACT_SHAPE_HALFSPACE ||
           (b->kind != TACT_SHAPE_HALFSPACE && b->size + b->radius < a->size + a->radius);
}

int tact_manifold_may_need_inner_ball(const struct tact_convex_core *a,
                                      const struct tact_convex_core *b,
                                      const struct tact_manifold *m)
{
    return m->corners <= 2 && (is_core_b_smaller(a, b) ? b : a)->vertices != 1;
}

void tact_manifold_add_inner_ball(const struct tact_convex_core *a, const struct tact_pose *pose_a,
                                  const struct tact_convex_core *b, const struct tact_pose *pose_b,
                                  double displacement, const struct tact_separation *sep,
                                  struct tact_manifold *m)
{
    int is_core_below_contact_plane = is_core_b_smaller(a, b);
    const struct tact_convex_core *core = is_core_below_contact_plane ? b : a,
                                  *other = is_core_below_contact_plane ? a : b;
    double x[2], of_other[2], least = SAME_CORNER_DISTANCE_RATIO * (core->size + core->radius);
    if (!(displacement > core->thickness)) {
        return;
    }
    double gap_at_inscribed_ball =
        sep->distance + place_inscribed_ball(core, is_core_below_contact_plane ? pose_b : pose_a,
                                             is_core_below_contact_plane, sep, m, x);
    if (other->vertices && other->size < MIN_SIZE_RATIO_FOR_PLANE * core->size) {
        gap_at_inscribed_ball +=
            place_inscribed_ball(other, is_core_below_contact_plane ? pose_a : pose_b,
                                 !is_core_below_contact_plane, sep, m, of_other);
    }
    if (m->corners == 1) {
        make_segment_to_inner_ball(m, x, gap_at_inscribed_ball, least);
    } else {
        make_triangle_to_inner_ball(m, x, gap_at_inscribed_ball, least);
    }
}
