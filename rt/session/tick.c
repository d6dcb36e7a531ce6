/*
 * One tick, the same in real time, free-wheeling and in a replay: no allocation, no lock, no
 * output, no system call but the clock's and the devices'.
 */
#include <math.h>
#include <string.h>
#include "rt/clock.h"
#include "rt/session/session_internal.h"

static void read_devices(struct tact_session *s, uint64_t tick, double t, int64_t now)
{
    if (s->fed) {
        tact_session_feed(s, s->fed);
        return;
    }
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        d->device.ops->read(d->device.self, tick, t, now, &d->input);
    }
}

/* Held where no deadman is asked for; let go by a device that is lost or whose values are old. */
static int deadman_held(const struct tact_session *s)
{
    if (s->deadman_device < 0) {
        return 1;
    }
    const struct tact_device_input *in = &s->devices[s->deadman_device].input;
    return in->state != TACT_DEVICE_LOST && in->state != TACT_DEVICE_STALE &&
           in->channel[s->deadman_channel] > 0.5;
}

/* Joint targets from the devices; they stay where they are while the deadman is let go, or a device
 * gives numbers that are not finite. */
static void map_targets(struct tact_session *s)
{
    if (!s->deadman) {
        return;
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (!isfinite(s->devices[in->device].input.channel[in->channel])) {
            return;
        }
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        tact_hand_state(tact_world_hand(s->world, in->hand)).target[in->link] = 0.0;
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        double x = in->offset + in->scale * s->devices[in->device].input.channel[in->channel];
        if (in->lower < in->upper) {
            x = x < in->lower ? in->lower : (x > in->upper ? in->upper : x);
        }
        tact_hand_state(tact_world_hand(s->world, in->hand)).target[in->link] += x;
    }
}

static void carry_weights(struct tact_session *s, double t)
{
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        tact_world_set_weight(s->world, i, t >= s->bodies[i].released);
    }
}

static void solve(struct tact_session *s, uint64_t tick)
{
    if (tact_world_solve(s->world, &s->solve)) {
        s->report.solve_failures++;
        tact_safety_raise(&s->safety, -1, NAN, tick);
    }
    tact_world_integrate(s->world);
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        if (c->touching) {
            tact_limit_tally_add(&s->pairs[i].tally, c->limits, &c->margins);
        }
    }
    struct tact_session_report *r = &s->report;
    r->contacts_max = s->solve.contacts > r->contacts_max ? s->solve.contacts : r->contacts_max;
    if (s->solve.contacts > 0) {
        s->solved_ticks++;
        s->iterations_sum += s->solve.iterations;
        r->unconverged += s->solve.iterations >= (int)s->scene->contact.iterations &&
                          s->solve.residual > s->scene->contact.tolerance;
    }
    if (s->solve.iterations > r->iterations_max) {
        r->iterations_max = s->solve.iterations;
    }
    if (s->solve.residual > r->residual_max) {
        r->residual_max = s->solve.residual;
    }
}

static int is_lost(const struct tact_session *s, const struct session_output *out)
{
    return s->devices[out->device].input.state == TACT_DEVICE_LOST;
}

static void send_outputs(struct tact_session *s, uint64_t tick, int64_t now)
{
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        struct tact_hand *hand = tact_world_hand(s->world, out->hand);
        /* A device that comes back finds its channels at zero, and the rate limit in its way. */
        s->wanted[i] = is_lost(s, out) ? 0.0 : out->gain * tact_hand_state(hand).torque[out->link];
    }
    tact_safety_step(&s->safety, s->wanted, s->deadman, tick, s->sent);
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        struct session_device *d = &s->devices[out->device];
        d->output[out->channel] = is_lost(s, out) ? 0.0 : s->sent[i];
    }
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        if (!s->fed && d->device.ops->write) {
            d->device.ops->write(d->device.self, d->output, now);
        }
    }
}

/* Events that a person looks for in the log, written once where they begin. */
static void mark_events(struct tact_session *s, uint64_t tick, int64_t now)
{
    int fallback = s->report.fallback_ticks > 0, fault = s->safety.state == TACT_SAFETY_FAULT;
    if (!s->recorder) {
        return;
    }
    if (fallback && !s->seen_fallback) {
        tact_recorder_event_rt(s->recorder, tick, now, "fallback",
                               "moments of a pair were computed on the host: the source is late");
    }
    if (fault && !s->seen_fault) {
        tact_recorder_event_rt(s->recorder, tick, now, "fault",
                               "the safety chain went to fault: outputs are zero");
    }
    s->seen_fallback = fallback;
    s->seen_fault = fault;
}

static void record(struct tact_session *s, uint64_t tick, int64_t planned, int64_t woke)
{
    struct tact_record *slot = s->recorder ? tact_recorder_begin(s->recorder) : NULL;
    struct tact_record *r = slot ? slot : s->blank;
    r->tick = tick;
    r->stamp_ns = planned;
    tact_session_fill(s, r);
    r->values[s->timing_field] = (double)(woke - planned);
    r->values[s->timing_field + 1] = (double)s->compute_ns;
    s->last = r;
    if (slot) {
        tact_recorder_commit(s->recorder);
    }
}

static void publish_status(struct tact_session *s, uint64_t tick, int64_t wake)
{
    struct tact_session_status *st = tact_triple_write_begin(s->status);
    *st = (struct tact_session_status){.tick = tick,
                                       .time = (double)tick * s->period,
                                       .wake_ns = wake,
                                       .compute_ns = s->compute_ns,
                                       .missed = s->missed,
                                       .fallbacks = s->report.fallbacks,
                                       .age = s->age_now,
                                       .contacts = s->solve.contacts,
                                       .iterations = s->solve.iterations,
                                       .residual = s->solve.residual,
                                       .safety = s->safety.state,
                                       .deadman = s->deadman};
    for (int i = 0; i < tact_world_pair_count(s->world); i++) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
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
    tact_triple_publish(s->status);
}

void tact_session_tick(void *user, uint64_t tick, int64_t planned_ns, int64_t woke_ns)
{
    struct tact_session *s = user;
    double t = (double)tick * s->period;
    int64_t began = s->fed ? 0 : tact_clock_now();
    read_devices(s, tick, t, planned_ns);
    s->deadman = deadman_held(s);
    map_targets(s);
    carry_weights(s, t);
    tact_session_moments(s, tick);
    solve(s, tick);
    send_outputs(s, tick, woke_ns);
    tact_world_begin(s->world);
    tact_session_submit(s, tick + 1);
    record(s, tick, planned_ns, woke_ns);
    if (!s->fed) {
        mark_events(s, tick, planned_ns);
        publish_status(s, tick, woke_ns - planned_ns);
        s->compute_ns = tact_clock_now() - began;
        s->missed +=
            s->options.clock == TACT_LOOP_REAL && began + s->compute_ns > planned_ns + s->period_ns;
    }
}
