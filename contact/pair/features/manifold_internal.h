/*
 * Contact manifold: the polygon in which the closest features of two shapes overlap, projected
 * along the contact normal, and the gap between them, which is linear.
 */
#ifndef TACT_CONTACT_MANIFOLD_INTERNAL_H
#define TACT_CONTACT_MANIFOLD_INTERNAL_H

#include "contact/pair/features/distance.h"
#include "contact/pair/features/nearest_internal.h"

/* Capacity for the corners of two faces clipped by each other. */
enum { TACT_MANIFOLD_CORNERS = 2 * TACT_MAX_CORE_FACE_CORNERS + 8 };

struct tact_manifold {
    enum tact_feature feature[2]; /* kinds of the nearest features of A and of B */
    int corners; /* corners of the contact polygon; 1: a point, 2: a segment, else counter-clockwise
                    about n */
    int is_point_between_nearest_points; /* 1: the shapes' surfaces are level, and the only corner
                            that their features have in common is half way between the nearest
                            points */
    double corner[TACT_MANIFOLD_CORNERS][2]; /* along t1 and t2 [m] */
    double t1[3], t2[3]; /* tangents t1 and t2, world, right-handed with the normal */
    /* origin of the corners' coordinates, relative to the separation's origin [m] */
    double middle[3];
    double
        surface_height_plane_a[3]; /* height of A's surface at (x_1, x_2): surface_height_plane_a[0]
                        + surface_height_plane_a[1] x_1 + surface_height_plane_a[2] x_2 [m] */
    double surface_height_plane_b[3]; /* height of B's surface, likewise along the normal: the gap
                           is the difference of both */
};

/* Finds the contact manifold of two shapes from their separation. Real-time safe. */
void tact_manifold_find_contact_points(
    const struct tact_convex_core *a, const struct tact_pose *pose_a,
    const struct tact_convex_core *b, const struct tact_pose *pose_b,
    const struct tact_separation *nearest_points_and_normal_of_cores, struct tact_manifold *out);

/* 0 where a manifold needs no inner ball, however fast the pair moves: it is a polygon, or the
 * smaller solid is a ball itself. */
int tact_manifold_may_need_inner_ball(const struct tact_convex_core *a,
                                      const struct tact_convex_core *b,
                                      const struct tact_manifold *m);

/*
 * Adds a corner to a manifold that may need an inner ball, where the pair may move by more than the
 * thickness of the smaller solid in this tick (inner_ball.c). The corner has the position and the
 * gap of the ball inside that solid. displacement: upper bound of the motion [m]. Real-time safe.
 */
void tact_manifold_add_inner_ball(const struct tact_convex_core *a, const struct tact_pose *pose_a,
                                  const struct tact_convex_core *b, const struct tact_pose *pose_b,
                                  double displacement,
                                  const struct tact_separation *nearest_points_and_normal_of_cores,
                                  struct tact_manifold *out);

#endif
