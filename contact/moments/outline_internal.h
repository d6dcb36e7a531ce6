/* The outline of the part of an overlap within given planes. */
#ifndef TACT_CONTACT_OUTLINE_INTERNAL_H
#define TACT_CONTACT_OUTLINE_INTERNAL_H

#include "contact/moments/outline.h"

/* Outline, as tact_outline(), of the part of the overlap within planes in the world. */
int tact_outline_within(const struct tact_mesh *a, const struct tact_pose *pa,
                        const struct tact_mesh *b, const struct tact_pose *pb,
                        const double (*plane)[4], int planes, const double center[3],
                        const double frame[9], double corners[TACT_PATCH_CORNERS][2]);

#endif
