/* Triangles of a mesh in the frame of prisms, in the layout of the pair tests and of clipping; not
 * installed.
 *
 * Four are placed at once, one a lane; a pair is tested with the three edges and the plane of a
 * triangle in the lanes. The result for two triangles depends on these two only. */
#ifndef TACT_CONTACT_MOMENTS_FACE_INTERNAL_H
#define TACT_CONTACT_MOMENTS_FACE_INTERNAL_H

#include <math.h>

#include "../vec.h"
#include "../simd_internal.h"
#include "moments_internal.h"

/* A triangle placed for the tests of pairs. dx (y - ay) - dy (x - ax) is, in lanes 0 to 2, the
 * distance of (x, y) on the inner side of that edge, times its length, and in lane 3 the height of
 * the plane over its height at (ax, ay), negated for A. A triangle that is projected to a line has
 * no inner side and no plane: every point is within one of A, none within one of B. */
struct tact_face {
    tact_d4 corner[3]; /* coordinates x, y, z of each corner, and its height that is compared with
                          the other triangle's plane */
    tact_d4 ax, ay, dx, dy;
    tact_d4 at;   /* points of the edges' and the plane's equations; lane 3 of the height is that of
                     the plane at (ax, ay), negated for A, slightly raised for B */
    tact_d4 span; /* bounds of the projection: of A upper x, y and negative lower x, y; of B lower
                     and negative upper ones */
    tact_d4 height; /* heights of a triangle of B: of its plane at (ax, ay), of its lowest and
                       highest corner; tau: +1 facing up, -1 down, 0 neither */
};

TACT_INLINE void tact_faces_bounds(const tact_d4 p[3][3], tact_d4 lower[3], tact_d4 upper[3])
{
    for (int c = 0; c < 3; c++) {
        tact_d4 low = TACT_D4_MIN(p[1][c], p[2][c]), high = TACT_D4_MAX(p[1][c], p[2][c]);
        lower[c] = TACT_D4_MIN(p[0][c], low);
        upper[c] = TACT_D4_MAX(p[0][c], high);
    }
}

/* Values of the edges and the plane of a face at a point, one a lane. */
#define TACT_FACE_EDGE_VALUES_AT(face, point)                                                      \
    ((face)->dx * ((point)[1] - (face)->ay) - (face)->dy * ((point)[0] - (face)->ax))

/* Lanes in which the edges and planes of s, of A, and t, of B, do not exclude a contribution: no
 * edge of either separates their projections, and t is above s somewhere according to both planes.
 * value: TACT_FACE_EDGE_VALUES_AT() of t at the corners of s. */
TACT_INLINE void tact_faces_test_prism_overlap(const struct tact_face *s, const tact_d4 *at_s,
                                               const struct tact_face *t, const tact_d4 *at_t,
                                               tact_d4 value[3], tact_l4 *meet)
{
    const tact_l4 last = {0, 0, 0, -1};
    tact_l4 in_t = {0}, in_s = {0};
    for (int k = 0; k < 3; k++) {
        value[k] = TACT_FACE_EDGE_VALUES_AT(t, s->corner[k]);
        in_t |= value[k] + *at_t > (tact_d4)((tact_l4)s->corner[k] & last);
        tact_d4 of_s = TACT_FACE_EDGE_VALUES_AT(s, t->corner[k]);
        in_s |= of_s + *at_s > (tact_d4)((tact_l4)t->corner[k] & last);
    }
    *meet = in_t & in_s;
}

/* 1 where the prisms over triangle s of A and triangle t of B may contribute to the overlap. */
TACT_INLINE int tact_faces_may_prisms_overlap(const struct tact_face *s, const struct tact_face *t,
                                              tact_d4 value[3])
{
    tact_l4 meet;
    uint32_t bits;
    tact_faces_test_prism_overlap(s, &s->at, t, &t->at, value, &meet);
    meet &= s->span > t->span;
    tact_l4_mask_to_bits(&meet, &bits);
    return bits == 15;
}

/* 1 where triangle s of A and t of B may contribute after a relative motion of up to a margin [m]
 * along x, y and z. */
TACT_INLINE int tact_faces_may_overlap_after_motion(const struct tact_face *s,
                                                    const struct tact_face *t, double margin)
{
    const tact_d4 plane = {0.0, 0.0, 0.0, 1.0};
    tact_d4 value[3];
    tact_d4 at_s = s->at + margin * (TACT_D4_ABS(s->dx) + TACT_D4_ABS(s->dy) + plane);
    tact_d4 at_t = t->at + margin * (TACT_D4_ABS(t->dx) + TACT_D4_ABS(t->dy) + plane);
    tact_l4 meet;
    uint32_t bits;
    tact_faces_test_prism_overlap(s, &at_s, t, &at_t, value, &meet);
    tact_l4_mask_to_bits(&meet, &bits);
    return bits == 15;
}

#define tact_faces_set_from_corners TACT_CPU_VARIANT(tact_faces_set_from_corners)

/* Places four triangles of A, or else of B: p[corner][coordinate]. slack: height by which B is
 * raised. */
void tact_faces_set_from_corners(const tact_d4 p[3][3], int is_of_a, double slack,
                                 struct tact_face face[4]);

#endif
