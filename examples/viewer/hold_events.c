/* Touches, slips and releases for the pages of the viewer. See hold_events.h. */
#include "hold_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The texts of the log, which has the first 63 characters of each name. */
static char *make_hold_text(const struct tact_session_hold *hold, const char *text_after_names)
{
    static const char format[] = "%.63s in %.63s%s";
    const int length = snprintf(NULL, 0, format, hold->body, hold->hand, text_after_names);
    char *text = malloc((size_t)length + 1);
    if (text) {
        snprintf(text, (size_t)length + 1, format, hold->body, hold->hand, text_after_names);
    }
    return text;
}

int hold_events_open(struct hold_events *events, const struct tact_session *session)
{
    const int count = tact_session_hold_count(session);
    *events = (struct hold_events){.session = session,
                                   .count = count,
                                   .holds = calloc((size_t)count + 1, sizeof *events->holds)};
    int rc = events->holds ? 0 : -ENOMEM;
    for (int i = 0; !rc && i < count; i++) {
        const struct tact_session_hold hold = tact_session_hold(session, i);
        struct hold_event_source *source = &events->holds[i];
        source->text = make_hold_text(&hold, "");
        source->left_out_text = make_hold_text(&hold, ": further events are counted, not listed");
        rc = source->text && source->left_out_text ? 0 : -ENOMEM;
    }
    return rc;
}

void hold_events_close(struct hold_events *events)
{
    for (int i = 0; events->holds && i < events->count; i++) {
        free(events->holds[i].text);
        free(events->holds[i].left_out_text);
    }
    free(events->holds);
    *events = (struct hold_events){.count = 0};
}

void hold_events_send_new(struct hold_events *events, struct server *server)
{
    struct tact_session_hold_event event;
    for (int i = 0; i < events->count; i++) {
        struct hold_event_source *source = &events->holds[i];
        while (tact_session_hold_event(events->session, i, source->sent_event_count, &event)) {
            const int is_left_out_event = !strcmp(event.name, "left out");
            server_send_event(server, event.tick, event.name,
                              is_left_out_event ? source->left_out_text : source->text);
            source->sent_event_count++;
        }
    }
}
