/* The second-order term of a patch of features: the change of the patch's tangential velocities in
 * half a tick of drift. */
#ifndef TACT_CONTACT_FEATURES_SECOND_ORDER_INTERNAL_H
#define TACT_CONTACT_FEATURES_SECOND_ORDER_INTERNAL_H

#include "contact/pair/features/manifold_internal.h"

/*
 * Sets the target velocities of the rows t1, t2 and about n of a patch that has its centre, corners
 * and gaps. In the drift after the solve the bodies rotate and their centres of mass move along
 * straight lines, so that the velocity v of a place in contact changes by h dv/dt, and a contact
 * whose velocity is 0 after the solve creeps by h/2 dv/dt in each tick. With the target -h/2 dv/dt
 * the mean over the drift is 0. The rows along n need none: their gaps are measured in each tick.
 *
 * 0 for a pair that did not touch in the last tick, for curved cores other than a ball or a capsule
 * on a face, whose contact moves over the surface (model `smooth`), and where a body rotates by
 * more than 0.3 rad in a tick. At most as large as the velocity that the target reverses, so that
 * friction adds no energy. feature: of the manifold. Real-time safe.
 */
void tact_features_second_order(const struct tact_pair_query *q, const struct tact_core *a,
                                const struct tact_core *b, const enum tact_feature feature[2],
                                struct tact_patch *patch);

#endif
