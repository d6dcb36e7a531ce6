#include "rt/session/replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/clock.h"
#include "rt/log/log_reader.h"
#include "rt/session/facts.h"
#include "rt/session/playback_internal.h"
#include "rt/session/session_internal.h"
#include "rt/session/scene_log.h"

#define MAX_SOURCE_RESULT_WAIT_NS                                                                  \
    1000000000 /* longest wait of a replay for the moment source's result of a tick [ns] */

/* Compares the facts on which bits depend with those of the log. The results version is the first:
 * if it differs, values may differ on the same machine too. */
static void warn_about_differing_facts(struct tact_log *log, const char *path,
                                       struct tact_messages messages,
                                       struct tact_replay_report *report)
{
    struct tact_facts f;
    tact_facts_gather(&f);
    report->results_version = tact_log_results_version(log);
    if (report->results_version != tact_results_version()) {
        snprintf(report->mismatch, sizeof report->mismatch, "results version");
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "log %s: recorded by a program of results version %d, this one has %d: "
                     "replayed values may differ",
                     path, report->results_version, tact_results_version());
    }
    const struct tact_log_fact facts_of_this_machine[] = {{"machine", f.machine},
                                                          {"sleef", f.sleef},
                                                          {"lapack", f.lapack},
                                                          {"blas", f.blas},
                                                          {"build", f.build}};
    for (size_t i = 0; i < sizeof facts_of_this_machine / sizeof *facts_of_this_machine; i++) {
        const char *logged_fact_value = tact_log_fact(log, facts_of_this_machine[i].key);
        if (logged_fact_value && strcmp(logged_fact_value, facts_of_this_machine[i].value)) {
            size_t used = strlen(report->mismatch);
            snprintf(report->mismatch + used, sizeof report->mismatch - used, "%s%s",
                     used ? ", " : "", facts_of_this_machine[i].key);
            tact_message(
                messages, TACT_MESSAGE_WARNING,
                "%s was \"%s\" when the log was recorded and is \"%s\" now: bits may differ",
                facts_of_this_machine[i].key, logged_fact_value, facts_of_this_machine[i].value);
        }
    }
}

/* Reports contacts that the log does not contain as differing values. */
static void report_contacts_not_in_log(struct tact_session *s, const struct tact_record *logged,
                                       struct tact_replay_report *report)
{
    report->values += (uint64_t)s->unrecorded_contact_count;
    if (s->unrecorded_contact_count && !report->differing) {
        char name[PAIR_NAME_BYTES];
        tact_session_name_pair(s, s->first_unrecorded_pair, name);
        report->first_tick = logged->tick;
        report->replayed = 1.0;
        snprintf(report->first_field, sizeof report->first_field, "contact %.40s", name);
    }
    report->differing += (uint64_t)s->unrecorded_contact_count;
}

static void compare_with_logged_record(struct tact_session *s, const struct tact_record *logged,
                                       struct tact_replay_report *report)
{
    const struct tact_layout *layout = &s->layout;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->kind == TACT_FIELD_TIMING) {
            continue;
        }
        report->values += f->count;
        for (uint32_t k = f->offset; k < f->offset + f->count; k++) {
            if (!memcmp(&logged->values[k], &s->last_filled_record->values[k], sizeof(double))) {
                continue;
            }
            if (!report->differing++) {
                report->first_tick = logged->tick;
                report->first_element = k - f->offset;
                report->logged = logged->values[k];
                report->replayed = s->last_filled_record->values[k];
                snprintf(report->first_field, sizeof report->first_field, "%s", f->name);
            }
        }
    }
    report_contacts_not_in_log(s, logged, report);
}

/* Restores the state at the end of a record, and starts the moments of the next tick. */
static void restart_session_from_record(struct tact_session *s, const struct tact_record *record,
                                        uint64_t tick)
{
    tact_session_restore_state(s, record);
    tact_session_submit_frame(s, tick);
}

static void replay_tick(struct tact_session *s, const struct tact_record *now,
                        const struct tact_replay_options *o, struct tact_replay_report *report)
{
    s->replayed_input_record = now;
    if (s->is_tick_submitted) {
        s->source.ops->wait(s->source.self, now->tick, MAX_SOURCE_RESULT_WAIT_NS);
    }
    int64_t start_ns = tact_clock_now();
    tact_session_tick(s, now->tick, now->stamp_ns, now->stamp_ns);
    tact_histogram_add(&report->compute, tact_clock_now() - start_ns);
    report->session_ns += (int64_t)now->values[s->tick_timing_field + 1];
    compare_with_logged_record(s, now, report);
    if (o->compared) {
        o->compared(o->user, &s->layout, now, s->last_filled_record);
    }
    report->ticks++;
}

uint64_t tact_replay_tick(double value, int in_seconds, double period)
{
    return (uint64_t)(in_seconds ? ceil(value / period - 1e-6) : value);
}

/* Waits until a tick is due; the first one replayed is due at once. */
static void wait_until_tick_is_due(const struct tact_session *s,
                                   const struct tact_replay_options *o, uint64_t tick,
                                   int64_t *start_ns)
{
    int64_t at = (int64_t)tick * s->period_ns;
    if (!o->realtime && !o->playback_device) {
        return;
    }
    if (!*start_ns) {
        *start_ns = tact_clock_now() - at;
    }
    tact_clock_sleep_until(*start_ns + at);
}

/* Position of a replay in its log. */
struct position_in_replayed_log {
    struct tact_scene_log *view;
    struct tact_log *log;
    const struct tact_replay_options *options;
    uint64_t from, to;                    /* range of ticks to replay; to: the one after the last */
    uint64_t tick_after_last_read_record; /* tick after that of the last record read */
    uint64_t
        tick_chosen_by_turn_callback; /* tick chosen by turn(), for which it is not called again */
    int is_session_after_last_record; /* 1: the session's state is that after the last record */
    int64_t start_ns; /* clock time at which tick 0 of a paced replay is due; 0: not yet known */
    struct tact_record *now, *before;
};

/* Lets the options' turn() choose the next tick. 0; 1: a record before the chosen tick is read
 * next; -ECANCELED where the replay ends. */
static int choose_next_tick_to_replay(struct position_in_replayed_log *p, uint64_t next)
{
    const struct tact_log_state *state = tact_log_state(p->log);
    uint64_t tick_chosen_by_turn_callback = next;
    if (!p->options->turn) {
        return 0;
    }
    if (p->options->turn(p->options->user, p->view, p->log, &tick_chosen_by_turn_callback)) {
        return -ECANCELED;
    }
    if (tick_chosen_by_turn_callback == next || tick_chosen_by_turn_callback < state->first_tick ||
        tick_chosen_by_turn_callback >= p->to) {
        return 0;
    }
    /* Ticks that the log lacks make the index of a record smaller than that of its tick. */
    uint64_t missing_record_count_plus_one = state->missing + 1,
             index = tick_chosen_by_turn_callback - state->first_tick;
    p->from = p->tick_chosen_by_turn_callback = tick_chosen_by_turn_callback;
    p->tick_after_last_read_record = UINT64_MAX;
    int rc = tact_log_seek(
        p->log, index > missing_record_count_plus_one ? index - missing_record_count_plus_one : 0);
    return rc ? rc : 1;
}

/* Reads the record of the next tick: 1; 0 where none is left and no earlier one is chosen. */
static int read_next_record(struct position_in_replayed_log *p)
{
    int rc;
    while ((rc = tact_log_next(p->log, p->now)) >= 0) {
        if (rc && p->now->tick < p->to) {
            return 1;
        }
        rc = choose_next_tick_to_replay(p, p->to);
        if (rc <= 0) {
            return rc;
        }
    }
    return rc;
}

/* Whether no tick that ran is missing before the present record: the log counts those that the loop
 * skipped, in which nothing moved. */
static int is_next_executed_tick(const struct position_in_replayed_log *p)
{
    const uint32_t skipped_tick_field = p->view->session->tick_timing_field + 2;
    const double skipped_ticks_of_previous_record =
        p->tick_after_last_read_record ? p->before->values[skipped_tick_field] : 0.0;
    return p->now->tick >= p->tick_after_last_read_record &&
           (double)(p->now->tick - p->tick_after_last_read_record) ==
               p->now->values[skipped_tick_field] - skipped_ticks_of_previous_record;
}

static int replay_logged_record(struct position_in_replayed_log *p,
                                struct session_playback *playback,
                                struct tact_replay_report *report)
{
    struct tact_session *s = p->view->session;
    const struct tact_record *now = p->now;
    if (now->tick < p->from) {
        p->is_session_after_last_record = 0;
        return 0;
    }
    if (!is_next_executed_tick(p)) {
        /* The inputs of this record may be lost: it can only serve as the state before the next
         * tick. */
        restart_session_from_record(s, now, now->tick + 1);
        p->is_session_after_last_record = 1;
        report->resyncs++;
        return 0;
    }
    int rc =
        now->tick == p->tick_chosen_by_turn_callback ? 0 : choose_next_tick_to_replay(p, now->tick);
    if (rc) {
        return rc;
    }
    p->tick_chosen_by_turn_callback = UINT64_MAX;
    wait_until_tick_is_due(s, p->options, now->tick, &p->start_ns);
    if (p->tick_after_last_read_record &&
        (s->is_ticked_by_caller || !p->is_session_after_last_record)) {
        restart_session_from_record(s, p->before, now->tick);
    }
    p->is_session_after_last_record = 1;
    replay_tick(s, now, p->options, report);
    if (playback->count) {
        tact_session_playback_write(s, playback, now->tick, report);
    }
    return 0;
}

static int replay_ticks(struct tact_scene_log *view, struct tact_log *log,
                        const struct tact_replay_options *o, struct session_playback *playback,
                        struct tact_replay_report *report)
{
    struct tact_session *s = view->session;
    size_t bytes = tact_layout_bytes(&s->layout);
    uint64_t to = tact_replay_tick(o->to, o->in_seconds & 2, s->period);
    uint64_t end = tact_log_state(log)->last_tick + 1;
    struct position_in_replayed_log p = {.view = view,
                                         .log = log,
                                         .options = o,
                                         .to = to && to < end ? to : end,
                                         .tick_chosen_by_turn_callback = UINT64_MAX,
                                         .is_session_after_last_record = 1};
    p.from = tact_replay_tick(o->from, o->in_seconds & 1, s->period);
    p.now = malloc(bytes);
    p.before = malloc(bytes);
    int rc = p.now && p.before ? 1 : -ENOMEM;
    while (rc > 0 && !tact_stop_requested(o->stop) && (rc = read_next_record(&p)) > 0) {
        rc = replay_logged_record(&p, playback, report);
        if (rc <= 0) {
            p.tick_after_last_read_record = p.now->tick + 1;
            struct tact_record *last = p.before;
            p.before = p.now;
            p.now = last;
            rc = rc ? rc : 1;
        }
    }
    free(p.now);
    free(p.before);
    return rc == -ECANCELED || rc > 0 ? 0 : rc;
}

/* Opens a moment source that replaces that of the log. */
static int open_other_moment_source(struct tact_scene_log *view,
                                    const struct tact_replay_options *o, struct tact_error *err)
{
    struct tact_session *s = view->session;
    s->recomputes_source_moments = o->moments != TACT_REPLAY_LOGGED;
    s->is_ticked_by_caller = o->each;
    if (o->moments != TACT_REPLAY_SOURCE) {
        return 0;
    }
    char *kind = strdup("opencl"); /* the source is required: no fallback to the host */
    if (!kind) {
        return -ENOMEM;
    }
    free(view->scene->moments.source);
    view->scene->moments.source = kind;
    s->options.source = o->source;
    s->options.source_user = o->source_user;
    return tact_session_open_source(s, err);
}

struct tact_replay_options tact_replay_options_default(void)
{
    return (struct tact_replay_options){.moments = TACT_REPLAY_LOGGED};
}

/* Checks that there is a tick to replay: otherwise a replay of nothing would count as equal. */
static int refuse_range_without_ticks(const struct tact_log_state *state,
                                      const struct tact_replay_options *o, double period,
                                      struct tact_error *err)
{
    uint64_t from = tact_replay_tick(o->from, o->in_seconds & 1, period);
    uint64_t to = tact_replay_tick(o->to, o->in_seconds & 2, period);
    if (from > state->last_tick || (o->to > 0.0 && (to <= from || to <= state->first_tick))) {
        return tact_error_set(err, -EINVAL,
                              "no tick of the log, %llu to %llu, is in the range from %llu to "
                              "before %llu",
                              (unsigned long long)state->first_tick,
                              (unsigned long long)state->last_tick, (unsigned long long)from,
                              (unsigned long long)(o->to > 0.0 ? to : state->last_tick + 1));
    }
    return 0;
}

/* The impulses of the points of `model: points` are no part of the log. */
static void warn_about_points_not_in_log(struct tact_session *s,
                                         const struct tact_replay_options *o)
{
    if ((o->each || o->from > 0.0) && tact_world_extent(s->world).points) {
        tact_message(
            o->messages, TACT_MESSAGE_WARNING,
            "pairs with the contact model points start without the impulses of the tick before, "
            "which are not in the log: only a replay from tick 0 has the same bits");
    }
}

int tact_replay_run(const char *path, struct tact_messages messages,
                    struct tact_replay_report *report, struct tact_error *err)
{
    struct tact_replay_options options = tact_replay_options_default();
    options.messages = messages;
    return tact_replay_run_with(path, &options, report, err);
}

int tact_replay_run_with(const char *path, const struct tact_replay_options *o,
                         struct tact_replay_report *report, struct tact_error *err)
{
    struct tact_scene_log view = {0};
    struct session_playback playback = {.count = 0};
    struct tact_log *log;
    memset(report, 0, sizeof *report);
    tact_histogram_reset(&report->compute);
    int64_t start_ns = tact_clock_now();
    int rc = tact_log_open(path, &log, err);
    if (rc) {
        return rc;
    }
    const struct tact_log_state *state = tact_log_state(log);
    report->complete = state->complete;
    report->bytes_lost = state->bytes_lost;
    snprintf(report->damage, sizeof report->damage, "%s", state->why);
    warn_about_differing_facts(log, path, o->messages, report);
    rc = tact_scene_log_open_with(log, o->local, o->messages, &view, err);
    rc = rc ? rc : refuse_range_without_ticks(state, o, view.session->period, err);
    rc = rc ? rc : open_other_moment_source(&view, o, err);
    if (!rc) {
        warn_about_points_not_in_log(view.session, o);
    }
    if (!rc && o->playback_device) {
        rc = tact_session_playback_open(view.session, o, &playback, err);
    }
    rc = rc ? rc : replay_ticks(&view, log, o, &playback, report);
    tact_session_playback_close(&playback);
    if (!rc && o->scene && report->playback_ticks && !report->playback_armed) {
        tact_message(o->messages, TACT_MESSAGE_WARNING,
                     "playback device %s received only zeros: the deadman %s was never pressed",
                     o->playback_device, o->scene->deadman);
    }
    if (report->playback_fault) {
        tact_message(
            o->messages, TACT_MESSAGE_ERROR,
            "playback device %s: a logged output is not finite: zero is sent from there on",
            o->playback_device);
    }
    report->took_ns = tact_clock_now() - start_ns;
    if (!rc && !report->ticks && !tact_stop_requested(o->stop)) {
        rc = tact_error_set(
            err, -ENODATA,
            "no tick could be replayed: the log does not have the state before any of them");
    }
    if (!rc && o->ended) {
        o->ended(o->user, view.session);
    }
    tact_scene_log_close(&view);
    tact_log_close(log);
    return rc;
}
