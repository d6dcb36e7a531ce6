/* Clipping of a triangle of A by the projection of one of B, and by its plane; not installed. */
#ifndef TACT_CONTACT_MOMENTS_CLIP_INTERNAL_H
#define TACT_CONTACT_MOMENTS_CLIP_INTERNAL_H

#include <string.h>

#include "moments_face_internal.h"
#include "moments_internal.h"

/* Capacity of a polygon. Exact clipping of a triangle by four lines leaves 7 corners. Where
 * everything is within rounding of a line, signs may alternate and leave 13; six more lines of a
 * box add at most two each, and one more corner is written without being used. */
enum { TACT_POLYGON = 28 };

/* A polygon that is clipped: in one of two buffers, as clipping writes to the other. */
struct tact_clipped_polygon {
    int n, buffer_in_use;
    tact_d4 corner[2][TACT_POLYGON];
};

#define tact_clip_nonconvex_polygon TACT_CPU_VARIANT(tact_clip_nonconvex_polygon)
#define tact_clip_polygon_by_face TACT_CPU_VARIANT(tact_clip_polygon_by_face)
#define tact_clip_polygon_below_face TACT_CPU_VARIANT(tact_clip_polygon_below_face)
#define tact_clip_compute_corner_heights TACT_CPU_VARIANT(tact_clip_compute_corner_heights)

/* Clips a polygon to its part where value >= 0 (Sutherland-Hodgman), where due to rounding its
 * boundary crosses 0 more than twice. value is linear over the polygon. kept_corner_heights: values
 * at the remaining corners, exactly 0 where it is cut. */
void tact_clip_nonconvex_polygon(struct tact_clipped_polygon *p, const double *value,
                                 double *kept_corner_heights);

/* Clips a triangle of A, given as the polygon, by the projection of t. value:
 * TACT_FACE_EDGE_VALUES_AT() of t at its corners. */
void tact_clip_polygon_by_face(struct tact_clipped_polygon *p, const struct tact_face *t,
                               const tact_d4 value[3]);

/* Clips a polygon to its part where height >= 0, and the heights with it. */
void tact_clip_polygon_below_face(struct tact_clipped_polygon *p, double *height);

/* Computes the height of triangle t's plane above each corner of a polygon within t's projection.
 * Returns the number of corners that it is below, or -1 where the polygon lies in the plane, within
 * slack [m]. */
int tact_clip_compute_corner_heights(const struct tact_face *t, const tact_d4 *p, int n,
                                     double height_difference_slack, double *height);

#endif
