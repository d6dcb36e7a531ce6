/* Which pairs the host measures in the tick, and which a source beside it. */
#ifndef TACT_RT_SESSION_PLACING_INTERNAL_H
#define TACT_RT_SESSION_PLACING_INTERNAL_H

#include <stdint.h>

struct session_pair;
struct tact_session;

/* Assigns pairs to the moment source or the host. requires_moment_source: always the source. */
void tact_session_assign_pairs_host_or_source(struct tact_session *s, int requires_moment_source);
/* Moves a pair from the host to the source or back, at most one. Real-time safe, as those below. */
void tact_session_reassign_costliest_pair(struct tact_session *s);
void tact_session_reassign_costliest_field(struct tact_session *s); /* of pressure fields */
void tact_session_init_pair_source(const struct tact_session *s, struct session_pair *p);
/* Records the host time of a pair, or the source's estimate of it. */
void tact_session_update_host_cost(struct session_pair *p, int64_t ns);
void tact_session_update_source_cost(struct session_pair *p, int32_t ns);
/* Largest age of a result for the pair that is advanced [ticks]. */
uint32_t tact_session_oldest_accepted_result_age(const struct tact_session *s,
                                                 const struct session_pair *p);
uint32_t tact_session_oldest_accepted_field_age(const struct tact_session *s,
                                                const struct session_pair *p);

#endif
