/* What a body does against a hand: touch, slip, release, and the forces between the two. */
#ifndef TACT_RT_SESSION_HOLD_INTERNAL_H
#define TACT_RT_SESSION_HOLD_INTERNAL_H

#include "rt/session/session_internal.h"

#define SESSION_MAX_HOLDS 256      /* of a session, body by body; further ones are counted */
#define SESSION_MAX_HOLD_EVENTS 32 /* of one hold; further ones are counted */
#define SESSION_HOLD_NUMBERS 4     /* in the record: normal and friction forces, slip, turn */

enum session_hold_event_kind {
    SESSION_HOLD_TOUCH,
    SESSION_HOLD_SLIP,
    SESSION_HOLD_RELEASE,
    SESSION_HOLD_KINDS
};

/* A body and a hand. */
struct session_hold {
    int body, hand;
    struct session_hold_tick_sums { /* sums over the contacts of a tick */
        int touching, sliding;
        double normal, friction; /* sums of the magnitudes of the forces [N] */
        double slip, turn;       /* largest [m], [rad] */
    } now;
    int touches;          /* 1: since the last event of touch */
    int slides;           /* 1: in an episode of sliding */
    int is_slip_reported; /* 1: that episode is an event */
    struct session_slip_episode {
        uint64_t tick; /* its first */
        double slip;   /* [m] */
        double turn;   /* [rad] */
    } episode;
    uint64_t last_touch, last_slide; /* last ticks with contact, with sliding */
    double slip, turn;               /* so far [m], [rad] */
    struct session_hold_event {
        enum session_hold_event_kind kind;
        uint64_t tick;
    } event[SESSION_MAX_HOLD_EVENTS];
    int events;
    int logged; /* events of these in the log; 1 more: that further ones are counted only */
    uint64_t events_left_out;
    uint64_t count[SESSION_HOLD_KINDS];
    uint32_t field; /* its field in the record; 0: the replayed log has none */
};

/* hold.c: after the world is built, before the layout. -ENOMEM. */
int tact_session_create_holds(struct tact_session *s);
/* After a tick is solved and integrated. Real-time safe. */
void tact_session_update_holds(struct tact_session *s, uint64_t tick);
/* Logs what is new. now: stamp of the tick. Real-time safe, as the following. */
void tact_session_log_holds(struct tact_session *s, uint64_t tick, int64_t now);
/* To the values of a record, and from a record. What touched in it is touching; a slip in course
 * begins anew, as a record does not have its beginning. */
void tact_session_fill_holds(const struct tact_session *s, double *values);
void tact_session_restore_holds(struct tact_session *s, const struct tact_record *record);
/* "touch", "slip", "release" */
const char *tact_session_hold_event_name(enum session_hold_event_kind kind);
#endif
