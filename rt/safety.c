#include "rt/safety.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/low_pass_internal.h"
#include "rt/safety_internal.h"

#define SAVED_SAFETY_HEADER_DOUBLES (3 + 2 * TACT_TRIP_CAUSES)
#define SAVED_SAFETY_DOUBLES_PER_CHANNEL 4

struct tact_safety_options tact_safety_default(void)
{
    return (struct tact_safety_options){.period = 0.001, .ramp = 0.2};
}

static int is_safety_channel_valid(const struct tact_safety_channel *c)
{
    return isfinite(c->limit) && c->limit >= 0.0 && c->rate > 0.0 && isfinite(c->cutoff) &&
           c->cutoff >= 0.0 && c->group >= 0;
}

/* Adds a channel to the group of an earlier one, or makes it the first of its group. */
static int add_channel_to_vector_group(struct tact_safety *s,
                                       const struct tact_safety_channel *channels, int i)
{
    int first = i;
    for (int k = i - 1; k >= 0 && channels[i].group > 0; k--) {
        first = channels[k].group == channels[i].group ? k : first;
    }
    const struct tact_safety_channel *a = &channels[first], *b = &channels[i];
    if (s->setting[first].count >= TACT_SAFETY_GROUP || a->limit != b->limit ||
        a->rate != b->rate || a->cutoff != b->cutoff) {
        return -EINVAL;
    }
    s->setting[first].member[s->setting[first].count++] = i;
    return 0;
}

int tact_safety_init(struct tact_safety *s, const struct tact_safety_channel *channels, int n,
                     const struct tact_safety_options *options)
{
    const double h = options->period;
    if (n < 0 || n > TACT_SAFETY_CHANNELS || !isfinite(h) || h <= 0.0 || !isfinite(options->ramp) ||
        options->ramp < 0.0) {
        return -EINVAL;
    }
    for (int i = 0; i < n; i++) {
        if (!is_safety_channel_valid(&channels[i])) {
            return -EINVAL;
        }
    }
    memset(s, 0, sizeof *s);
    s->count = n;
    s->state = TACT_SAFETY_DISARMED;
    s->ramp_step = options->ramp > h ? h / options->ramp : 1.0;
    for (int i = 0; i < n; i++) {
        s->setting[i].limit = channels[i].limit;
        s->setting[i].step = channels[i].rate * h;
        s->setting[i].alpha = tact_low_pass_weight(channels[i].cutoff, h);
        if (add_channel_to_vector_group(s, channels, i)) {
            return -EINVAL;
        }
    }
    return 0;
}

static void record_safety_trip(struct tact_safety *s, enum tact_trip_cause cause, int channel,
                               double value, uint64_t tick)
{
    s->trip[s->trip_count % TACT_SAFETY_TRIPS] =
        (struct tact_trip){(int32_t)cause, channel, value, tick};
    s->trip_count++;
    s->trips[cause]++;
}

/* Records a trip when a limit starts to act: consecutive ticks count once. *limit_was_acting stores
 * whether it acted in the last tick. */
static void record_limit_trip(struct tact_safety *s, enum tact_trip_cause cause, int channel,
                              double value, uint64_t tick, int is_limit_acting,
                              int32_t *limit_was_acting)
{
    if (is_limit_acting) {
        s->ticks[cause]++;
        if (!*limit_was_acting) {
            record_safety_trip(s, cause, channel, value, tick);
        }
    }
    *limit_was_acting = is_limit_acting;
}

void tact_safety_count_clamp(struct tact_safety *s, int channel, double value, uint64_t tick,
                             int is_clamp_acting, int32_t *was_clamp_acting)
{
    record_limit_trip(s, TACT_TRIP_CLAMP, channel, value, tick, is_clamp_acting, was_clamp_acting);
}

static void zero_safety_outputs(struct tact_safety *s, double *sent)
{
    for (int i = 0; i < s->count; i++) {
        memset(&s->channel[i], 0, sizeof s->channel[i]);
        sent[i] = 0.0;
    }
    s->ramp = 0.0;
}

void tact_safety_release(struct tact_safety *s, int channel)
{
    int is_channel_in_vector_group = 0;
    for (int first = 0; !is_channel_in_vector_group && first < s->count && first <= channel;
         first++) {
        const int count = s->setting[first].count;
        const int32_t *member = s->setting[first].member;
        for (int k = 0; k < count; k++) {
            is_channel_in_vector_group |= member[k] == channel;
        }
        for (int k = 0; is_channel_in_vector_group && k < count; k++) {
            memset(&s->channel[member[k]], 0, sizeof s->channel[member[k]]);
        }
    }
}

static int record_nonfinite_values(struct tact_safety *s, const double *requested, uint64_t tick)
{
    int has_nonfinite_output = 0;
    for (int i = 0; i < s->count; i++) {
        if (!isfinite(requested[i])) {
            s->ticks[TACT_TRIP_NONFINITE]++;
            if (s->state != TACT_SAFETY_FAULT) {
                record_safety_trip(s, TACT_TRIP_NONFINITE, i, requested[i], tick);
            }
            has_nonfinite_output = 1;
        }
    }
    return !has_nonfinite_output;
}

/* Length of a vector, also where squares would overflow. */
static double compute_vector_length(const double *v, int n)
{
    double largest_vector_component = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++) {
        largest_vector_component = fmax(largest_vector_component, fabs(v[i]));
    }
    if (n == 1 || largest_vector_component == 0.0) {
        return largest_vector_component;
    }
    for (int i = 0; i < n; i++) {
        sum += (v[i] / largest_vector_component) * (v[i] / largest_vector_component);
    }
    return largest_vector_component * sqrt(sum);
}

/* Scales v down to the length `most` if it is longer; returns 1 if it was. */
static int clamp_vector_length(double *v, int n, double length, double vector_length_limit)
{
    if (!(length > vector_length_limit)) {
        return 0;
    }
    if (n == 1) {
        v[0] = copysign(vector_length_limit, v[0]);
        return 1;
    }
    /* ensures that the length after rounding is not above `most` */
    const double length_rounding_factor = 1.0 - 0x1p-50;
    for (int i = 0; i < n; i++) {
        v[i] =
            isfinite(length) ? v[i] / length * vector_length_limit * length_rounding_factor : 0.0;
    }
    return 1;
}

/* Limits the channels of one vector group; `first` is the group's first channel. */
static void limit_vector_group(struct tact_safety *s, int first, const double *requested,
                               uint64_t tick, double *sent)
{
    const int n = s->setting[first].count;
    const int *member = s->setting[first].member;
    const double alpha = s->setting[first].alpha;
    double target[TACT_SAFETY_GROUP], change_since_sent[TACT_SAFETY_GROUP], out[TACT_SAFETY_GROUP];
    for (int k = 0; k < n; k++) {
        const int i = member[k];
        /* this form cannot overflow, unlike y + alpha (w - y) */
        double y = (1.0 - alpha) * s->channel[i].filtered + alpha * requested[i];
        y = fmin(fmax(y, -0x1p1023), 0x1p1023);
        s->channel[i].filtered = y;
        target[k] = s->ramp * y;
        change_since_sent[k] = target[k] - s->channel[i].sent;
    }
    const int fast = clamp_vector_length(
        change_since_sent, n, compute_vector_length(change_since_sent, n), s->setting[first].step);
    record_limit_trip(s, TACT_TRIP_RATE, first,
                      n == 1 ? target[0] : compute_vector_length(target, n), tick, fast,
                      &s->channel[first].slowed);
    for (int k = 0; k < n; k++) {
        out[k] = fast ? s->channel[member[k]].sent + change_since_sent[k] : target[k];
    }
    const double length = compute_vector_length(out, n), value = n == 1 ? out[0] : length;
    const int is_vector_limit_exceeded =
        clamp_vector_length(out, n, length, s->setting[first].limit);
    record_limit_trip(s, TACT_TRIP_CLAMP, first, value, tick, is_vector_limit_exceeded,
                      &s->channel[first].clamped);
    for (int k = 0; k < n; k++) {
        s->channel[member[k]].sent = sent[member[k]] = out[k];
    }
}

int tact_safety_step(struct tact_safety *s, const double *requested, int deadman, uint64_t tick,
                     double *sent)
{
    if (!record_nonfinite_values(s, requested, tick)) {
        s->state = TACT_SAFETY_FAULT;
    }
    if (!deadman) {
        s->await_release = 0;
        if (s->state == TACT_SAFETY_ARMED) {
            s->ticks[TACT_TRIP_DEADMAN]++;
            record_safety_trip(s, TACT_TRIP_DEADMAN, -1, 0.0, tick);
            s->state = TACT_SAFETY_DISARMED;
        }
    } else if (s->state == TACT_SAFETY_DISARMED && !s->await_release) {
        s->state = TACT_SAFETY_ARMED;
        s->ramp = 0.0;
    }
    if (s->state != TACT_SAFETY_ARMED) {
        zero_safety_outputs(s, sent);
        return s->state;
    }
    s->ramp = fmin(1.0, s->ramp + s->ramp_step);
    for (int i = 0; i < s->count; i++) {
        if (s->setting[i].count > 0) {
            limit_vector_group(s, i, requested, tick, sent);
        }
    }
    return s->state;
}

void tact_safety_raise(struct tact_safety *s, int channel, double value, uint64_t tick)
{
    s->ticks[TACT_TRIP_RAISED]++;
    if (s->state != TACT_SAFETY_FAULT) {
        record_safety_trip(s, TACT_TRIP_RAISED, channel, value, tick);
    }
    s->state = TACT_SAFETY_FAULT;
}

void tact_safety_reset(struct tact_safety *s)
{
    if (s->state == TACT_SAFETY_FAULT) {
        s->state = TACT_SAFETY_DISARMED;
        s->await_release = 1;
    }
}

const struct tact_trip *tact_safety_trip(const struct tact_safety *s, int i)
{
    if (i < 0 || i >= TACT_SAFETY_TRIPS || (uint64_t)i >= s->trip_count) {
        return NULL;
    }
    return &s->trip[(s->trip_count - 1 - (uint64_t)i) % TACT_SAFETY_TRIPS];
}

const char *tact_safety_state_name(int state)
{
    static const char *const names[] = {"disarmed", "armed", "fault"};
    return state >= 0 && state <= TACT_SAFETY_FAULT ? names[state] : "unknown";
}

const char *tact_trip_name(int cause)
{
    static const char *const names[] = {"not finite", "clamp", "rate", "deadman", "raised"};
    return cause >= 0 && cause < TACT_TRIP_CAUSES ? names[cause] : "unknown";
}

int tact_safety_state_size(int n)
{
    return SAVED_SAFETY_HEADER_DOUBLES + SAVED_SAFETY_DOUBLES_PER_CHANNEL * n;
}

TACT_IN_TICK_RECORD_SECTION void tact_safety_save(const struct tact_safety *s, double *v)
{
    *v++ = s->state;
    *v++ = s->await_release;
    *v++ = s->ramp;
    for (int i = 0; i < TACT_TRIP_CAUSES; i++) {
        *v++ = (double)s->trips[i];
        *v++ = (double)s->ticks[i];
    }
    for (int i = 0; i < s->count; i++) {
        *v++ = s->channel[i].filtered;
        *v++ = s->channel[i].sent;
        *v++ = s->channel[i].clamped;
        *v++ = s->channel[i].slowed;
    }
}

static int is_integer_from_zero_to(double x, int last)
{
    for (int i = 0; i <= last; i++) {
        if (x == i) {
            return 1;
        }
    }
    return 0;
}

static int is_saved_safety_state_valid(const struct tact_safety *s, const double *v)
{
    int ok = is_integer_from_zero_to(v[0], TACT_SAFETY_FAULT) && is_integer_from_zero_to(v[1], 1) &&
             v[2] >= 0.0 && v[2] <= 1.0;
    for (int i = 3; i < SAVED_SAFETY_HEADER_DOUBLES; i++) {
        ok = ok && v[i] >= 0.0 && v[i] <= 0x1p53;
    }
    for (int i = 0; i < s->count; i++) {
        const double *c = v + SAVED_SAFETY_HEADER_DOUBLES + SAVED_SAFETY_DOUBLES_PER_CHANNEL * i;
        ok = ok && isfinite(c[0]) && fabs(c[1]) <= s->setting[i].limit &&
             is_integer_from_zero_to(c[2], 1) && is_integer_from_zero_to(c[3], 1);
    }
    return ok;
}

int tact_safety_load(struct tact_safety *s, const double *v)
{
    if (!is_saved_safety_state_valid(s, v)) {
        return -EINVAL;
    }
    s->state = (int32_t)*v++;
    s->await_release = (int32_t)*v++;
    s->ramp = *v++;
    s->trip_count = 0;
    for (int i = 0; i < TACT_TRIP_CAUSES; i++) {
        s->trips[i] = (uint64_t)*v++;
        s->ticks[i] = (uint64_t)*v++;
    }
    for (int i = 0; i < s->count; i++) {
        s->channel[i].filtered = *v++;
        s->channel[i].sent = *v++;
        s->channel[i].clamped = (int32_t)*v++;
        s->channel[i].slowed = (int32_t)*v++;
    }
    return 0;
}
