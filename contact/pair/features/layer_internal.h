/* The quasi-rigid layer: a stiffness distributed over the polygon of two features (Yi and
 * Drumwright 2018, section II-A.2). */
#ifndef TACT_CONTACT_LAYER_INTERNAL_H
#define TACT_CONTACT_LAYER_INTERNAL_H

#include "contact/moments/patch.h"

/* Clips the outline to the part in which the gap g_0 + g_1 x_1 + g_2 x_2 is negative. Returns the
 * fraction of its area that remains. */
double tact_compliant_layer_clip_compressed(struct tact_patch *patch, const double gap[3]);

/* Sets a patch with outline, axes and gap to that of a layer: the wrench of springs of `stiffness`
 * [N/m] distributed evenly over the outline, each compressed by the negative gap, and its
 * stiffness. The torques use the second moments of the polygon: springs at its corners only, as in
 * the paper's appendix, would be three times as stiff. */
void tact_compliant_layer_set_wrench(struct tact_patch *patch, double stiffness);

#endif
