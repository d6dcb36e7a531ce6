/* The second-order term of a patch of features: the change of the patch's tangential velocities in
 * half a tick of drift. */
#ifndef TACT_CONTACT_FEATURES_SECOND_ORDER_INTERNAL_H
#define TACT_CONTACT_FEATURES_SECOND_ORDER_INTERNAL_H

#include <string.h>
#include "contact/pair/features/manifold_internal.h"

/* State variables of a pair of features: those of the search, then the twists of both shapes'
 * frames in the last tick, where the pair was pressed at a point that moves over a surface; else 0.
 */
enum { TACT_FEATURES_STATE = TACT_NEAREST_STATE + 12 };

/* Clears the twists of the last tick. */
static inline void tact_features_clear_last_twists(double state[TACT_FEATURES_STATE])
{
    memset(state + TACT_NEAREST_STATE, 0,
           (TACT_FEATURES_STATE - TACT_NEAREST_STATE) * sizeof *state);
}

/*
 * Sets the target velocities of the rows t1, t2 and about n of a patch that has its centre, corners
 * and gaps. In the drift after the solve the bodies rotate and their centres of mass move along
 * straight lines, so that the velocity v of a place in contact changes by h dv/dt, and a contact
 * whose velocity is 0 after the solve creeps by h/2 dv/dt in each tick. With the target -h/2 dv/dt
 * the mean over the drift is 0. The rows along n need none: their gaps are measured in each tick.
 *
 * The contact point of polytopes, and of a ball or a capsule on a face, is fixed in a body's core.
 * Other contacts of a single point move over both surfaces (surface_motion_internal.h). 0 for a
 * pair that did not touch in the last tick, for a line or an area of a curved core, and where a
 * body rotates by more than 0.3 rad, or the normal over a surface by more than 0.1 rad, in a tick.
 * At most as large as the velocity that the target reverses, so that friction adds no energy.
 * feature: of the manifold. Real-time safe.
 */
void tact_features_set_second_order_term(const struct tact_pair_query *q,
                                         const struct tact_convex_core *a,
                                         const struct tact_convex_core *b,
                                         const struct tact_separation *sep,
                                         const enum tact_feature feature[2],
                                         struct tact_patch *patch);

#endif
