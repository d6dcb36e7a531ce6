/* Reports to the user during a run, from a thread of normal priority. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "rt/clock.h"
#include "rt/session/session_internal.h"

#define STATUS_CHECK_PERIOD_MS 100

/* Reports conditions that the user must know during a run, once each. */
static void warn_of_session_status_changes(struct session_status_watcher *w,
                                           const struct tact_session_status *now)
{
    struct tact_messages to = w->session->options.messages;
    if (now->fallbacks && !w->last.fallbacks) {
        tact_message(to, TACT_MESSAGE_WARNING,
                     "pairs that another thread measures are late (moments: %s): the loop measures "
                     "them itself (t = %.3f s)",
                     w->session->report.source, now->time);
    }
    if (now->unmeasured && !w->last.unmeasured) {
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(w->session, now->unmeasured_pair, name);
        tact_message(
            to, TACT_MESSAGE_WARNING,
            "the overlap of %s cannot be measured: the last one measured is used (t = %.3f s)",
            name, now->time);
    }
    const int fault = now->faults > w->last.faults;
    if (fault) {
        tact_message(to, TACT_MESSAGE_ERROR,
                     "fault at t = %.3f s: %s; outputs are zero from then on",
                     (double)now->fault.tick * w->session->period, now->fault.text);
    }
    if (now->safety != TACT_SAFETY_FAULT && (fault || w->last.safety == TACT_SAFETY_FAULT)) {
        tact_message(
            to, TACT_MESSAGE_WARNING,
            "the fault was cleared: outputs stay zero until they are armed again (t = %.3f s)",
            now->time);
    }
    if (now->devices_lost > w->last.devices_lost) {
        tact_message(to, TACT_MESSAGE_WARNING,
                     "%d device(s) are lost or have stale values (t = %.3f s)", now->devices_lost,
                     now->time);
    }
    if (now->overruns && !w->last.overruns) {
        tact_message(to, TACT_MESSAGE_WARNING,
                     "the log cannot be written fast enough: records are lost from t = %.3f s on",
                     now->time);
    }
    w->last = *now;
}

/* Logs which parts of real-time scheduling were granted, in the first ticks. */
static void log_refused_realtime_settings(struct session_status_watcher *w,
                                          const struct tact_session_status *now)
{
    struct tact_session *s = w->session;
    const struct tact_realtime_report *r = &s->report.loop.realtime;
    char text[512] = "granted:";
    size_t length_of_message = strlen(text);
    if (w->logged || !r->count || s->options.clock != TACT_LOOP_REAL) {
        return;
    }
    w->logged = 1;
    for (int i = 0; i < r->count; i++) {
        if (r->item[i].granted && r->item[i].why[0]) {
            tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                         "real time, %s: %s; for more: %s", r->item[i].name, r->item[i].why,
                         r->item[i].fix);
        }
    }
    if (!s->recorder) {
        return;
    }
    for (int refused = 0; refused < 2; refused++) {
        if (refused && r->refused) {
            length_of_message += (size_t)snprintf(text + length_of_message,
                                                  sizeof text - length_of_message, "; refused:");
        }
        for (int i = 0; i < r->count && length_of_message < sizeof text; i++) {
            if (r->item[i].granted != refused) {
                length_of_message +=
                    (size_t)snprintf(text + length_of_message, sizeof text - length_of_message,
                                     " %s", r->item[i].name);
            }
        }
    }
    tact_recorder_event(s->recorder, now->tick, w->session_start_time_ns, "realtime", text);
}

static void report_new_session_status(struct session_status_watcher *w)
{
    const struct tact_session_options *o = &w->session->options;
    int is_new_status;
    const struct tact_session_status *now = tact_triple_read(w->session->status, &is_new_status);
    if (!now || !is_new_status) {
        return;
    }
    log_refused_realtime_settings(w, now);
    warn_of_session_status_changes(w, now);
    if (o->watch) {
        o->watch(o->watch_user, now);
    }
}

static void *run_status_watcher(void *arg)
{
    struct session_status_watcher *w = arg;
    const struct timespec status_check_interval = {0, STATUS_CHECK_PERIOD_MS * 1000000L};
    while (!tact_stop_requested(&w->stop_request)) {
        nanosleep(&status_check_interval, NULL);
        report_new_session_status(w);
    }
    return NULL;
}

void tact_session_start_status_watcher(struct tact_session *s,
                                       const struct tact_realtime_options *realtime)
{
    struct session_status_watcher *w = &s->status_watcher;
    memset(w, 0, sizeof *w);
    w->session = s;
    w->session_start_time_ns = tact_clock_now();
    /* This thread blocks all signals, which are the program's, and has normal priority. */
    w->started = !tact_realtime_thread(&w->thread, realtime, run_status_watcher, w);
}

void tact_session_stop_status_watcher(struct tact_session *s)
{
    struct session_status_watcher *w = &s->status_watcher;
    if (w->started) {
        tact_stop_request(&w->stop_request);
        pthread_join(w->thread, NULL);
        report_new_session_status(w);
    }
    w->started = 0;
}
