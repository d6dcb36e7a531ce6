/*
 * Terms on which two sites must agree before their joints engage: which axes are tied, each axis's
 * mode and joint, and the impedances of the waves. They are one whole number below 2^53, which a
 * channel of a device carries exactly:
 *
 *     terms = impedances 33^6 + sum of (1 + 8 mode + joint) 33^axis over the tied axes
 *
 * impedances: a digest of 22 bits; 0 in place of the bracket: the axis is not tied. Real-time safe.
 */
#ifndef TACT_RT_REMOTE_TERMS_INTERNAL_H
#define TACT_RT_REMOTE_TERMS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* Term of a tied axis, 0 to 5, by its mode and the joint's type, slide or hinge, or of a base that
 * moves its coordinate, base_x and the like. The terms are the sum of those of all tied axes and of
 * the impedances in their order. */
uint64_t tact_remote_terms_of_axis(uint64_t axis, const char *mode, const char *joint);
uint64_t tact_remote_terms_of_impedances(const double *wave_impedances, size_t count);

/* Writes in which terms two sites differ, as "axis 0: joint hinge here, slide at the other end",
 * with at most one difference for each axis; "" if they agree. */
void tact_remote_terms_difference(uint64_t terms_here, uint64_t terms_at_other_site, char *text,
                                  size_t size);

#endif
