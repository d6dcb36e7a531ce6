/* What a body does against a hand: touch, slip, release, and the forces between the two. */
#ifndef TACT_RT_SESSION_HOLD_INTERNAL_H
#define TACT_RT_SESSION_HOLD_INTERNAL_H

#include <stdatomic.h>
#include "rt/session/session_internal.h"

/* largest number of body-hand pairs of a session; further ones are counted */
#define SESSION_MAX_HOLDS 256
/* largest number of events of one body-hand pair; further ones are counted */
#define SESSION_MAX_HOLD_EVENTS 32
/* values of a body-hand pair in the record: normal and friction forces, slip, turn */
#define SESSION_HOLD_NUMBER_COUNT 4

enum session_hold_event_kind {
    SESSION_HOLD_EVENT_TOUCH,
    SESSION_HOLD_EVENT_SLIP,
    SESSION_HOLD_EVENT_RELEASE,
    SESSION_HOLD_EVENT_KIND_COUNT,
    SESSION_HOLD_LEFT_OUT =
        SESSION_HOLD_EVENT_KIND_COUNT /* further events are counted, not listed */
};

#define SESSION_CACHE_LINE_BYTES 64

/* A body and a hand. What other threads read is in no cache line that the tick writes, except where
 * there is an event. */
struct session_hold {
    int body, hand;
    struct session_hold_tick_sums { /* sums over the contacts of a tick */
        int touching, sliding;
        double normal, friction; /* sums of the magnitudes of the contact forces [N] */
        double slip, turn;       /* largest [m], [rad] */
    } tick_sums;
    int touches;                 /* 1: the last touch event was not followed by a release */
    int slides;                  /* 1: the body is sliding in the hand */
    int is_slip_reported;        /* 1: the present sliding was reported as a slip event */
    int logged_hold_event_count; /* number of events already logged */
    uint32_t field; /* offset of the body-hand pair in the record; 0: the replayed log has none */
    struct session_slip_episode {
        uint64_t tick; /* first tick of the episode */
        double slip;   /* [m] */
        double turn;   /* [rad] */
    } episode;
    uint64_t last_touch_tick, last_slide; /* last tick with contact, and last tick with sliding */
    double slip, turn;                    /* distance [m] and angle [rad] of all slip so far */
    uint64_t events_left_out;
    uint64_t count[SESSION_HOLD_EVENT_KIND_COUNT];
    /* Members that other threads may read. */
    /* number of elements of `event`, which do not change any more */
    _Alignas(SESSION_CACHE_LINE_BYTES) atomic_int events;
    struct session_hold_event {
        enum session_hold_event_kind kind;
        uint64_t tick;
    } event[SESSION_MAX_HOLD_EVENTS + 1]; /* the last one is SESSION_HOLD_LEFT_OUT */
};

/* hold.c: creates the body-hand pairs, after the world is built and before the layout. -ENOMEM. */
int tact_session_create_holds(struct tact_session *s);
/* Updates touch, slip and release after a tick is solved and integrated. Real-time safe. */
void tact_session_update_holds(struct tact_session *s, uint64_t tick);
/* Logs new hold events. now: stamp of the tick. Real-time safe, as the following. */
void tact_session_log_hold_events(struct tact_session *s, uint64_t tick, int64_t now);
/* Write the holds to a record and restore them from one. A contact of the record counts as
 * touching; a slip in progress starts anew, as a record does not state its beginning. */
void tact_session_fill_hold_fields(const struct tact_session *s, double *values);
void tact_session_restore_holds(struct tact_session *s, const struct tact_record *record);
/* "touch", "slip", "release", "left out" */
const char *tact_session_hold_event_name(enum session_hold_event_kind kind);
#endif
