/* What a session adds to the safety chain. */
#ifndef TACT_RT_SAFETY_INTERNAL_H
#define TACT_RT_SAFETY_INTERNAL_H

#include "rt/safety.h"

/* Counts a limit that acts before the chain as its clamp does: a tick, and where *was_clamp_acting
 * is 0 a trip with that value. Sets *was_clamp_acting. Real-time safe. */
void tact_safety_count_clamp(struct tact_safety *s, int channel, double value, uint64_t tick,
                             int is_clamp_acting, int32_t *was_clamp_acting);

#endif
