/* The outline of the part of an overlap within given planes. */
#ifndef TACT_CONTACT_OUTLINE_INTERNAL_H
#define TACT_CONTACT_OUTLINE_INTERNAL_H

#include "contact/moments/moments_internal.h"
#include "contact/moments/outline.h"

/* Outline, as tact_outline(), of an overlap whose corners are known. pose: of the solid that was
 * cut. */
int tact_outline_from_corners(const struct tact_overlap_corners *overlap_corners,
                              const struct tact_pose *pose, const double center[3],
                              const double frame[9], double corners[TACT_PATCH_CORNERS][2]);

/* Outline, as tact_outline(), of the part of the overlap within planes in the world. */
int tact_outline_of_overlap_in_planes(const struct tact_mesh *a, const struct tact_pose *pa,
                                      const struct tact_mesh *b, const struct tact_pose *pb,
                                      const double (*plane)[4], int planes, const double center[3],
                                      const double frame[9], double corners[TACT_PATCH_CORNERS][2]);

#endif
