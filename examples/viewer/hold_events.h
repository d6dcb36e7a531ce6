/* Touches, slips and releases of a running session, as events for the pages of the viewer. The
 * server's thread reads them from the session: the tick has no work with it. */
#ifndef TACT_EXAMPLES_VIEWER_HOLD_EVENTS_H
#define TACT_EXAMPLES_VIEWER_HOLD_EVENTS_H

#include "rt/session/session.h"
#include "server.h"

struct hold_events {
    const struct tact_session *session;
    int count; /* number of bodies against hands */
    struct hold_event_source {
        char *text;          /* "body in hand" */
        char *left_out_text; /* of the event that further ones are only counted */
        int sent_event_count;
    } * holds;
};

/* All of a session that has not started. 0 or -ENOMEM; call hold_events_close() in either case. */
int hold_events_open(struct hold_events *events, const struct tact_session *session);
void hold_events_close(struct hold_events *events);

/* Sends those that are new to the pages. The server's thread. */
void hold_events_send_new(struct hold_events *events, struct server *server);

#endif
