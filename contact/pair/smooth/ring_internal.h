/* A torus that lies on a half-space and touches it along its whole ring. */
#ifndef TACT_CONTACT_RING_INTERNAL_H
#define TACT_CONTACT_RING_INTERNAL_H

#include "contact/pair/model.h"
#include "contact/pair/smooth/closest_internal.h"

/* Makes the patch of a torus that lies on a half-space, `plane` of the pair.
 * closing_speed_change_per_tick: speed that gravity adds until the contact is measured again [m/s].
 * 0, or -EDOM where the torus does not touch in this tick. */
int tact_smooth_measure_torus_ring(const struct tact_pair_query *q, const struct smooth_pair *pair,
                                   int plane, double closing_speed_change_per_tick,
                                   struct tact_patch *patch);

#endif
