/*
 * Contacts of pressure fields that are measured beside the tick: by a thread in real time, at the
 * poses that each tick submits. The tick carries the newest result to its own poses. Without a
 * real-time clock results are as old as moments.max_age allows, so that a run can be repeated, and
 * a replay measures at the poses of the log.
 */
#ifndef TACT_RT_SESSION_FIELD_SOURCE_INTERNAL_H
#define TACT_RT_SESSION_FIELD_SOURCE_INTERNAL_H

#include <stdint.h>

struct tact_session;
struct session_pair;

/* Number of values in the record of a contact for the two poses at which it was measured. */
enum { SESSION_MEASURED_POSES = 14 };

/* 1 where contacts of the session's scene may be measured at earlier poses. */
int tact_session_may_carry_field_measurements(const struct tact_session *s);

/* Allocates the source and starts its thread, where the session needs it. is_replay: contacts are
 * measured at the poses of a log. 0 or a negative errno. */
int tact_session_open_field_source(struct tact_session *s, int is_replay);
void tact_session_close_field_source(struct tact_session *s);

/* Which pairs start at the source. */
void tact_session_init_field_pair(const struct tact_session *s, struct session_pair *p);

/* Submits the poses of the next tick, which is planned for that time. Real-time safe, as the
 * following. */
void tact_session_submit_field_pairs(struct tact_session *s, uint64_t tick, int64_t planned_ns);

/* Chooses the measurements that the solve of a tick carries; it measures all other pairs. */
void tact_session_carry_field_measurements(struct tact_session *s);

/* After the solve: counts the pairs that it measured, and their times. */
void tact_session_count_measured_field_pairs(struct tact_session *s);

/* At the end of a run: reports what a device computed for the thread, if it had one. */
void tact_session_report_polygons(struct tact_session *s,
                                  void (*report)(struct tact_session *s, const char *event,
                                                 const char *text));

/* Logs the first tick in which an earlier measurement of a pair was carried. */
void tact_session_log_carried_field_measurements(struct tact_session *s, uint64_t tick,
                                                 int64_t now);

#endif
