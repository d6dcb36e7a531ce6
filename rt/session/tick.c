/*
 * One tick, the same in real time, free-wheeling and in a replay: no allocation, no lock, no
 * output, no system calls except those of the clock and the devices.
 */
#include <math.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/clock.h"
#include "rt/session/field_source_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/hold_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/meet_inside_internal.h"
#include "rt/session/session_internal.h"

static void read_device_inputs(struct tact_session *s, uint64_t tick, double t, int64_t now)
{
    if (s->replayed_input_record) {
        tact_session_replay_inputs(s, s->replayed_input_record);
        return;
    }
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        d->device.ops->read(d->device.self, tick, t, now, &d->input);
        if (d->input.state < TACT_DEVICE_OK || d->input.state > TACT_DEVICE_ENDED) {
            d->input.state = TACT_DEVICE_LOST; /* an invalid state counts as lost: nothing is sent
                                                  to the device */
        }
    }
}

static void update_gravity_of_bodies(struct tact_session *s, double t)
{
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        tact_world_set_weight(s->world, i, t >= s->bodies[i].gravity_start_time);
    }
}

static void solve_tick(struct tact_session *s, uint64_t tick)
{
    int rc = tact_world_solve(s->world, &s->solve_stats), count;
    tact_session_find_grip_points(s);
    const int *near = tact_world_near(s->world, &count);
    s->solve_stats.counts[TACT_COUNT_OVERSHOT] += tact_world_integrate(s->world);
    tact_session_measure_grips(s);
    tact_session_update_holds(s, tick);
    tact_session_check_world_state(s, rc, tick);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        struct session_pair *p = tact_session_find_or_add_pair(s, near[i]);
        p->stuck_overlap_tick_count += (uint64_t)c->stuck;
        p->tunnelled_tick_count += (uint64_t)c->outrun;
        p->did_pair_come_near |= c->outrun || c->touching;
        if (c->touching) {
            tact_limit_tally_add(&p->contact_limit_tally, c->limits, c->spin_arm, &c->margins);
        }
    }
    tact_session_find_overlap_inside_body(s, tick);
    struct tact_session_report *r = &s->report;
    for (int i = 0; i < TACT_SOLVE_COUNTS; i++) {
        r->counts[i] += (uint64_t)s->solve_stats.counts[i];
    }
    r->contacts_max =
        s->solve_stats.contacts > r->contacts_max ? s->solve_stats.contacts : r->contacts_max;
    if (s->solve_stats.iterations > 0) {
        s->solved_tick_count++;
        s->solver_iteration_sum += s->solve_stats.iterations;
        r->unconverged += s->solve_stats.iterations >= (int)s->scene->contact.iterations &&
                          !(s->solve_stats.residual <= s->scene->contact.tolerance);
    }
    if (s->solve_stats.iterations > r->iterations_max) {
        r->iterations_max = s->solve_stats.iterations;
    }
    if (s->solve_stats.residual > r->residual_max) {
        r->residual_max = s->solve_stats.residual;
    }
}

/* Logs the first tick in which a pair could not be measured, by its name. */
static void log_first_unmeasured_pair(struct tact_session *s, uint64_t tick, int64_t now)
{
    static const char why[] = ": its overlap cannot be measured, and the last one measured is used";
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        struct session_pair *p = tact_session_find_or_add_pair(s, near[i]);
        if (p->tick_counts.unmeasured && !p->logged) {
            char text[PAIR_NAME_BYTES + sizeof why];
            tact_session_name_pair(s, near[i], text);
            memcpy(text + strlen(text), why, sizeof why);
            tact_recorder_event_rt(s->recorder, tick, now, "unmeasured", text);
            p->logged = 1;
        }
    }
}

/* Logs the events of a tick: faults, the first fallback to the host, overlaps inside bodies, holds,
 * other sites, markers. */
static void log_first_events(struct tact_session *s, uint64_t tick, int64_t now)
{
    int had_moment_fallback = s->report.fallback_ticks > 0,
        fault = s->safety.state == TACT_SAFETY_FAULT;
    if (!s->recorder) {
        return;
    }
    if (had_moment_fallback && !s->is_moment_fallback_logged) {
        tact_recorder_event_rt(s->recorder, tick, now, "fallback",
                               "the loop measured a pair itself, as the moment source was late");
    }
    if (fault && !s->is_fault_logged) {
        tact_recorder_event_rt(s->recorder, tick, now, "fault", s->report.fault.text);
    }
    if (!fault && s->is_fault_logged) {
        tact_recorder_event_rt(s->recorder, tick, now, "fault cleared",
                               "outputs stay zero until armed");
    }
    if (s->report.unmeasured) {
        log_first_unmeasured_pair(s, tick, now);
    }
    tact_session_log_carried_field_measurements(s, tick, now);
    tact_session_log_overlaps_inside_bodies(s, tick, now);
    tact_session_log_hold_events(s, tick, now);
    tact_session_log_other_sites(s, tick, now);
    s->is_moment_fallback_logged = had_moment_fallback;
    s->is_fault_logged = fault;
    for (int i = 0; i < s->event_marker_count; i++) {
        struct session_event_marker *m = &s->markers[i];
        const struct tact_device_input *in = &s->devices[m->device].input;
        int high = in->channel[m->channel] > 0.5;
        if (high && !m->was_marker_channel_high) {
            /* The stamp of a marker is the time of the device's values, not that of the tick. */
            tact_recorder_event_rt(s->recorder, tick, in->stamp_ns,
                                   m->def->name ? m->def->name : "marker", m->def->from);
        }
        m->was_marker_channel_high = high;
    }
    const char *text =
        atomic_exchange_explicit(&s->requested_marker_text, NULL, memory_order_acquire);
    if (text) {
        tact_recorder_event_rt(s->recorder, tick, now, "marker", text);
    }
}

static TACT_IN_TICK_RECORD_SECTION void fill_tick_record(struct tact_session *s,
                                                         struct tact_record *r, uint64_t tick,
                                                         int64_t planned, int64_t wake_latency_ns)
{
    r->tick = tick;
    r->stamp_ns = planned;
    tact_session_fill_record(s, r);
    r->values[s->tick_timing_field] = (double)wake_latency_ns;
    r->values[s->tick_timing_field + 1] = (double)s->compute_ns;
    r->values[s->tick_timing_field + 2] = (double)s->skipped_tick_count;
    r->values[s->tick_timing_field + 3] =
        s->recorder ? (double)tact_recorder_overruns(s->recorder) : 0.0;
}

static void record_tick(struct tact_session *s, uint64_t tick, int64_t planned,
                        int64_t wake_time_ns)
{
    struct tact_record *slot = s->recorder ? tact_recorder_begin(s->recorder) : NULL;
    struct tact_record *r = slot ? slot : s->unrecorded_replay_record;
    s->planned_ns = planned;
    s->last_filled_record = slot || s->replayed_input_record ? r : NULL;
    if (!s->last_filled_record) {
        return; /* no reader */
    }
    fill_tick_record(s, r, tick, planned, wake_time_ns - planned);
    tact_session_check_record_capacity(s, tick);
    if (slot) {
        tact_recorder_commit(s->recorder);
    }
}

TACT_IN_TICK_RECORD_SECTION size_t tact_session_record(struct tact_session *s,
                                                       struct tact_record *out)
{
    const struct tact_layout *layout = &s->layout;
    size_t bytes = sizeof *out + layout->size * sizeof *out->values;
    const double *list =
        (s->last_filled_record ? s->last_filled_record : out)->values + layout->size;
    if (!s->last_filled_record) {
        fill_tick_record(s, out, s->status_of_last_tick.tick, s->planned_ns,
                         s->status_of_last_tick.wake_ns);
    }
    if (layout->element) {
        bytes += (1 + (size_t)*list * tact_layout_stride(layout)) * sizeof *list;
    }
    if (s->last_filled_record) {
        memcpy(out, s->last_filled_record, bytes);
    }
    return bytes;
}

static void publish_session_status(struct tact_session *s, uint64_t tick, int64_t wake_latency_ns)
{
    struct tact_session_status *st = &s->status_of_last_tick;
    *st = (struct tact_session_status){.tick = tick,
                                       .time = (double)tick * s->period,
                                       .wake_ns = wake_latency_ns,
                                       .compute_ns = s->compute_ns,
                                       .missed = s->deadline_missed_tick_count,
                                       .fallbacks = s->report.fallbacks,
                                       .unmeasured = s->report.unmeasured,
                                       .unmeasured_pair = s->unmeasured_pair,
                                       .age = s->moments_age_of_tick,
                                       .contacts = s->solve_stats.contacts,
                                       .iterations = s->solve_stats.iterations,
                                       .residual = s->solve_stats.residual,
                                       .safety = s->safety.state,
                                       .faults = s->report.faults,
                                       .fault = s->report.fault,
                                       .deadman = s->is_deadman_held};
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        st->normal_force += c->touching ? c->impulse[0] / s->period : 0.0;
    }
    for (int i = 0; i < TACT_TRIP_CAUSES; i++) {
        st->trips += s->safety.trips[i];
    }
    for (int i = 0; i < s->device_count; i++) {
        int state = s->devices[i].input.state;
        st->devices_lost += state == TACT_DEVICE_LOST || state == TACT_DEVICE_STALE;
    }
    st->overruns = s->recorder ? tact_recorder_overruns(s->recorder) : 0;
    *(struct tact_session_status *)tact_triple_write_begin(s->status) = *st;
    tact_triple_publish(s->status);
}

void tact_session_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    struct tact_session *s = user;
    double t = (double)tick * s->period;
    int64_t start_ns = s->replayed_input_record ? 0 : tact_clock_now();
    s->skipped_tick_count += tick - s->next_tick;
    s->next_tick = tick + 1;
    tact_session_apply_requests(s);
    read_device_inputs(s, tick, t, planned_ns);
    tact_session_read_inputs(s, tick);
    tact_session_call_controller(s, tick, t);
    tact_session_apply_grips(s);
    tact_session_clamp_targets(s);
    tact_session_set_tie_targets(s, tick);
    update_gravity_of_bodies(s, t);
    int64_t before = s->replayed_input_record ? 0 : tact_clock_now();
    tact_session_measure_moments(s, tick);
    tact_session_choose_pressure_map(s, tick);
    tact_session_carry_field_measurements(s);
    s->moments_duration_ns = s->replayed_input_record ? 0 : tact_clock_now() - before;
    solve_tick(s, tick);
    if (!s->replayed_input_record) {
        tact_session_count_measured_field_pairs(s);
        tact_histogram_add(&s->report.moments, s->moments_duration_ns);
    }
    tact_session_send_outputs(s, tick, woke_ns);
    tact_session_check_outputs(s, tick);
    tact_world_begin(s->world);
    if (!s->is_ticked_by_caller) {
        tact_session_submit_frame(s, tick + 1);
        tact_session_submit_field_pairs(s, tick + 1, planned_ns + s->period_ns);
    }
    record_tick(s, tick, planned_ns, woke_ns);
    tact_session_record_pressure(s, tick, planned_ns);
    tact_session_update_fault_state(s);
    if (!s->replayed_input_record) {
        log_first_events(s, tick, planned_ns);
        publish_session_status(s, tick, woke_ns - planned_ns);
        if (s->options.observe) {
            s->options.observe(s->options.observe_user, s, &s->status_of_last_tick);
        }
        s->compute_ns = tact_clock_now() - start_ns;
        int64_t late = start_ns + s->compute_ns - planned_ns - s->period_ns;
        if (s->options.clock == TACT_LOOP_REAL && late > 0) {
            s->deadline_missed_tick_count++;
            s->report.missed_moments += 2 * s->moments_duration_ns > s->period_ns;
        }
    }
}
