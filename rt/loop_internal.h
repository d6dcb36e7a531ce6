/* Accounting common to a loop and to a session that is stepped. */
#ifndef TACT_RT_LOOP_INTERNAL_H
#define TACT_RT_LOOP_INTERNAL_H

#include "rt/loop.h"

/* Counts a tick that was due at t_k, began at woke and ended at end [ns]. Real-time safe. */
void tact_loop_add_tick_statistics(struct tact_loop_stats *stats, int64_t period_ns, int64_t t_k,
                                   int64_t woke_ns, int64_t end);

#endif
