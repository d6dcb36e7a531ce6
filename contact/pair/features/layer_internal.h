/* The quasi-rigid layer: a stiffness spread over the polygon of two features (Yi and Drumwright
 * 2018, section II-A.2). */
#ifndef TACT_CONTACT_LAYER_INTERNAL_H
#define TACT_CONTACT_LAYER_INTERNAL_H

#include "contact/moments/patch.h"

/* Cuts the outline down to where the gap g_0 + g_1 x_1 + g_2 x_2 is negative. Returns the share of
 * its area that is left, 0 where nothing is. */
double tact_layer_clip(struct tact_patch *patch, const double gap[3]);

/* Makes the patch, which has its outline, axes and gap, that of a layer: the wrench of springs of
 * `stiffness` [N/m] spread evenly over the outline, each as long as the gap is negative there, and
 * its stiffness. The torques have the second moments of the polygon: springs at its corners only,
 * as in the paper's appendix, would be three times as stiff. */
void tact_layer_press(struct tact_patch *patch, double stiffness);

#endif
