/* Pairs that overlap each other inside a body that both press on. */
#ifndef TACT_RT_SESSION_MEET_INSIDE_INTERNAL_H
#define TACT_RT_SESSION_MEET_INSIDE_INTERNAL_H

#include "rt/session/session_internal.h"

/*
 * meet_inside.c: pairs that overlap each other, by pressure fields or volume, inside a body that
 * both press on. After a solve, looks for one: a pair in each tick, in turn. Real-time safe.
 */
void tact_session_find_overlap_inside_body(struct tact_session *s, uint64_t tick);
/* Logs those found, once each. Real-time safe. */
void tact_session_log_overlaps_inside_bodies(struct tact_session *s, uint64_t tick, int64_t now);
/* Reports them at the end. */
void tact_session_report_overlaps_inside_bodies(struct tact_session *s);

#endif
