/* Runs a session: by the loop, or step by step in the program's own loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/clock.h"
#include "rt/loop_internal.h"
#include "rt/session/admittance_internal.h"
#include "rt/session/field_source_internal.h"
#include "rt/session/meet_inside_internal.h"
#include "rt/session/position_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

/* free-wheeling clock: longest wait for a result of the moment source */
#define MAX_SOURCE_WAIT_NS 1000000000

/* With the free-wheeling clock, waits for results that in real time would have had a period. */
static int wait_for_source_results(void *user, uint64_t tick)
{
    struct tact_session *s = user;
    if (s->is_tick_submitted) {
        s->source.ops->wait(s->source.self, tick, MAX_SOURCE_WAIT_NS);
    }
    if (s->recorder) {
        tact_recorder_wait_room(s->recorder);
    }
    return 0;
}

/* Writes to all devices once more, in any state of the safety chain: zero, and the positions that
 * were sent last. */
static void zero_session_outputs(struct tact_session *s)
{
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        memset(d->output, 0, sizeof d->output);
        tact_session_send_last_positions(s);
        if (d->device.ops->write) {
            d->device.ops->write(d->device.self, d->output, tact_clock_now());
        }
    }
}

static uint32_t compute_median_moments_age(const struct tact_session *s)
{
    uint64_t moment_count_up_to_age = 0;
    for (uint32_t age = 1; age < TACT_SESSION_AGES; age++) {
        moment_count_up_to_age += s->report.ages[age];
        if (2 * moment_count_up_to_age >= s->report.source_pairs && s->report.source_pairs) {
            return age;
        }
    }
    return 0;
}

static void finish_session_report(struct tact_session *s, struct tact_session_report *report)
{
    struct tact_session_report *r = &s->report;
    r->age = compute_median_moments_age(s);
    r->contacts = s->solve_stats.contacts;
    r->residual = s->solve_stats.residual;
    r->iterations_mean =
        s->solved_tick_count ? s->solver_iteration_sum / (double)s->solved_tick_count : 0.0;
    r->safety = s->safety.state;
    for (int i = 0; i < TACT_TRIP_CAUSES; i++) {
        r->trips += s->safety.trips[i];
    }
    *report = *r;
}

/* Reports every pair that could not be measured, by name. */
static void report_unmeasured_pairs(struct tact_session *s)
{
    struct session_pair **pairs = tact_session_sorted_pairs(s);
    for (int i = 0; i < s->pair_count; i++) {
        const struct session_pair *p = pairs[i];
        if (p->tick_counts.unmeasured) {
            char name[PAIR_NAME_BYTES];
            tact_session_name_pair(s, p->number, name);
            tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                         "the overlap of %s could not be measured in %llu ticks, the first at t = "
                         "%.3f s (%s): the last one measured was used",
                         name, (unsigned long long)p->tick_counts.unmeasured,
                         (double)p->first_unmeasured_tick * s->period,
                         strerror(-p->unmeasured_errno));
        }
    }
}

static void report_and_log_event(struct tact_session *s, const char *event, const char *text)
{
    tact_message(s->options.messages, TACT_MESSAGE_INFO, "%s", text);
    if (s->recorder) {
        tact_recorder_event(s->recorder, s->status_of_last_tick.tick, tact_clock_now(), event,
                            text);
    }
}

/* Reports joints whose targets were clamped to their range, in the log as well. */
static void report_clamped_targets(struct tact_session *s)
{
    char text[512];
    int reported_joint_count = 0;
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        for (int k = 0; s->hands[i].clamped_target_tick_counts &&
                        k < tact_hand_count(tact_world_hand(s->world, i));
             k++) {
            if (!s->hands[i].clamped_target_tick_counts[k] ||
                ++reported_joint_count > SESSION_MAX_NAMED_PAIRS) {
                continue;
            }
            snprintf(text, sizeof text,
                     "the target of the joint %s was outside of its range, and clamped to it, in "
                     "%llu ticks",
                     s->hands[i].joint_names[k],
                     (unsigned long long)s->hands[i].clamped_target_tick_counts[k]);
            report_and_log_event(s, "clamped", text);
        }
    }
    if (reported_joint_count > SESSION_MAX_NAMED_PAIRS) {
        snprintf(text, sizeof text,
                 "the targets of %d more joints were outside of their ranges, and clamped to them",
                 reported_joint_count - SESSION_MAX_NAMED_PAIRS);
        report_and_log_event(s, "clamped", text);
    }
}

/* Reports forces of persons whose devices were stale, in the log as well. */
static void report_stale_force_inputs(struct tact_session *s)
{
    char text[512];
    for (int i = 0; i < s->admittance_count; i++) {
        const struct tact_session_port port = tact_session_admittance_port(s, &s->admittances[i]);
        if (port.held || port.missing) {
            snprintf(text, sizeof text,
                     "the force sensor that moves joint %s had no new values: its last force was "
                     "used in %llu ticks, and zero force in %llu ticks",
                     port.name, (unsigned long long)port.held, (unsigned long long)port.missing);
            report_and_log_event(s, "stale", text);
        }
    }
}

/* Reports ticks that the loop skipped at the end: no later record states their number.
 */
static void report_ticks_skipped_at_end(struct tact_session *s)
{
    char text[128];
    if (s->report.loop.ticks > s->next_tick) {
        snprintf(text, sizeof text, "the loop skipped the last %llu ticks, because it was late",
                 (unsigned long long)(s->report.loop.ticks - s->next_tick));
        report_and_log_event(s, "skipped", text);
    }
}

/* Reports what the solver left out, by its counts. */
static void warn_about_solver_omissions(struct tact_session *s)
{
    const uint64_t *counts = s->report.counts;
    if (counts[TACT_COUNT_POINTS_LEFT_OUT]) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%llu contact points, summed over all ticks, were left out and transmitted no "
                     "force: contact.points allows %llu in a tick",
                     (unsigned long long)counts[TACT_COUNT_POINTS_LEFT_OUT],
                     (unsigned long long)s->scene->contact.points);
    }
    if (counts[TACT_COUNT_JOINTS_LOST]) {
        tact_message(
            s->options.messages, TACT_MESSAGE_WARNING,
            "constraint rows of joints between bodies were lost in rounding, %llu summed over all "
            "ticks: the masses or inertias of the bodies that they connect differ by too much",
            (unsigned long long)counts[TACT_COUNT_JOINTS_LOST]);
    }
}

/* Begins a run, which is possible once: -EALREADY the second time. */
static int begin_session_run_once(struct tact_session *s,
                                  const struct tact_realtime_options *realtime)
{
    if (s->phase != SESSION_MADE) {
        return -EALREADY;
    }
    s->phase = SESSION_RUNS;
    tact_session_start_status_watcher(s, realtime);
    return 0;
}

static int end_session_run(struct tact_session *s, struct tact_session_report *report)
{
    s->phase = SESSION_OVER;
    zero_session_outputs(s);
    tact_session_stop_status_watcher(s);
    tact_session_report_tunnelled_pairs(s);
    report_clamped_targets(s);
    tact_session_report_walls(s, report_and_log_event);
    report_stale_force_inputs(s);
    tact_session_report_polygons(s, report_and_log_event);
    report_ticks_skipped_at_end(s);
    warn_about_solver_omissions(s);
    int rc = tact_recorder_close(s->recorder, &s->report.recorder);
    s->recorder = NULL;
    finish_session_report(s, report);
    report_unmeasured_pairs(s);
    if (s->report.recorder.event_overruns) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%llu events are missing from the log: they occurred faster than the recorder "
                     "could write them",
                     (unsigned long long)s->report.recorder.event_overruns);
    }
    tact_session_report_pressure(s);
    tact_session_report_stuck_overlaps(s);
    tact_session_report_overlaps_inside_bodies(s);
    if (s->has_pair_overflow) {
        tact_message(
            s->options.messages, TACT_MESSAGE_WARNING,
            "more than %d pairs of shapes came near each other: the report omits the later ones",
            s->pair_capacity);
    }
    return rc;
}

int tact_session_run(struct tact_session *s, struct tact_session_report *report)
{
    struct tact_loop_options o = tact_loop_default();
    o.period_ns = s->period_ns;
    o.ticks = s->ticks;
    o.clock = s->options.clock;
    o.realtime.priority = s->scene->realtime.priority;
    o.realtime.cpu = s->scene->realtime.cpu;
    o.realtime.require = s->options.require_realtime;
    o.stop = s->options.stop;
    o.user = s;
    o.tick = tact_session_tick;
    o.between = wait_for_source_results;
    int rc = begin_session_run_once(s, &o.realtime);
    if (rc) {
        return rc;
    }
    rc = tact_loop_run(&o, &s->report.loop);
    int log = end_session_run(s, report);
    return rc ? rc : log;
}

int tact_session_begin(struct tact_session *s)
{
    const struct tact_realtime_options realtime = tact_realtime_default();
    const int rc = begin_session_run_once(s, &realtime);
    if (!rc) {
        s->is_stepped_by_program = 1;
        tact_histogram_reset(&s->report.loop.wake_latency);
        tact_histogram_reset(&s->report.loop.compute);
    }
    return rc;
}

/* Time at which the next tick is due, where the program does not specify it. */
static int64_t next_planned_tick_time(const struct tact_session *s, int64_t now)
{
    const int is_tick_time_planned_from_start =
        s->options.clock == TACT_LOOP_FREE && s->next_tick > 0;
    return is_tick_time_planned_from_start
               ? s->report.loop.start_ns + (int64_t)s->next_tick * s->period_ns
               : now;
}

int tact_session_step(struct tact_session *s, int64_t planned_ns,
                      struct tact_session_status *status)
{
    const int is_real_time = s->options.clock == TACT_LOOP_REAL;
    struct tact_loop_stats *stats = &s->report.loop;
    if (s->phase != SESSION_RUNS || !s->is_stepped_by_program) {
        return -EINVAL;
    }
    if (tact_stop_requested(s->options.stop)) {
        stats->stopped = 1;
        return -EINTR;
    }
    if (!is_real_time) {
        wait_for_source_results(s, s->next_tick);
    }
    const int64_t now = tact_clock_now();
    const int64_t planned_tick_time_ns = planned_ns ? planned_ns : next_planned_tick_time(s, now);
    if (s->next_tick == 0) {
        stats->start_ns = planned_tick_time_ns;
    }
    tact_session_tick(s, s->next_tick, planned_tick_time_ns,
                      is_real_time ? now : planned_tick_time_ns);
    const int64_t tick_end_ns = tact_clock_now();
    if (is_real_time) {
        tact_loop_add_tick_statistics(stats, s->period_ns, planned_tick_time_ns, now, tick_end_ns);
    } else {
        stats->ticks++;
        stats->executed++;
        tact_histogram_add(&stats->compute, tick_end_ns - now);
    }
    if (status) {
        *status = s->status_of_last_tick;
    }
    return 0;
}

int tact_session_end(struct tact_session *s, struct tact_session_report *report)
{
    return s->phase == SESSION_RUNS && s->is_stepped_by_program ? end_session_run(s, report)
                                                                : -EINVAL;
}

void tact_session_end_abandoned_run(struct tact_session *s)
{
    struct tact_session_report report;
    if (s->phase == SESSION_RUNS) {
        end_session_run(s, &report);
    }
}
