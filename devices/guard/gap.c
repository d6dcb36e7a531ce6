/* Limits how fast the forces of a device rise after a gap in the stream of commands to it, or where
 * the controller makes up for late ticks in a burst. */
#include <math.h>
#include <string.h>
#include "devices/guard/serve_internal.h"

enum { COMPONENTS = TACT_GUARD_COMPONENTS_PER_FORCE_PART };
enum { USUAL_CALLS = 8 }; /* number of calls of which the shortest is a usual one */
/* [ns] limit of the ticks of a burst that count, so that sums of them are in range */
static const int64_t burst_excess_cap_ns = 1000000000000;

static double dot_product(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of the vector `from` that needs no limit when `wanted` replaces it: a decrease is
 * allowed at once, and a force in the opposite direction, or across, rises from 0. */
static void compute_force_allowed_at_once(double *force_allowed_at_once, const double *from,
                                          const double *requested_value)
{
    const double squared_segment_length = dot_product(from, from),
                 along = dot_product(requested_value, from);
    const double fraction_along_sent_force =
        squared_segment_length > 0.0 ? fmax(0.0, fmin(1.0, along / squared_segment_length)) : 0.0;
    for (int i = 0; i < COMPONENTS; i++) {
        force_allowed_at_once[i] = fraction_along_sent_force * from[i];
    }
}

static double compute_force_increase(double *force_allowed_at_once, const double *from,
                                     const double *requested_value)
{
    double force_increase[COMPONENTS];
    compute_force_allowed_at_once(force_allowed_at_once, from, requested_value);
    for (int i = 0; i < COMPONENTS; i++) {
        force_increase[i] = requested_value[i] - force_allowed_at_once[i];
    }
    return sqrt(dot_product(force_increase, force_increase));
}

/* Changes a part of what is sent toward the requested value, by at most its rate limit times
 * rise_step_ns. Returns false once that is reached. */
static bool limit_force_rise_of_part(struct tact_guard_rise_limit *gap, int part,
                                     const double *requested_value, int64_t rise_step_ns)
{
    double *sent = gap->sent + COMPONENTS * part,
           *value_sent_before_gap = gap->value_sent_before_gap + COMPONENTS * part;
    double force_allowed_at_once[COMPONENTS];
    const double total_force_increase =
        compute_force_increase(force_allowed_at_once, value_sent_before_gap, requested_value);
    /* after a decrease the force rises from the decreased value */
    memcpy(value_sent_before_gap, force_allowed_at_once,
           COMPONENTS * sizeof *value_sent_before_gap);
    gap->max_rise_rate[part] =
        fmax(gap->max_rise_rate[part],
             total_force_increase / (double)gap->remaining_rise_duration_ns[part]);
    const double force_increase =
        compute_force_increase(force_allowed_at_once, sent, requested_value);
    /* the factor allows for rounding errors */
    const double allowed_force_rise_in_step =
        (1.0 + 1e-9) * gap->max_rise_rate[part] * (double)rise_step_ns;
    if (!(force_increase > allowed_force_rise_in_step)) {
        memcpy(sent, requested_value, COMPONENTS * sizeof *sent);
        return false;
    }
    gap->remaining_force_rise[part] = force_increase - allowed_force_rise_in_step;
    for (int i = 0; i < COMPONENTS; i++) {
        sent[i] = force_allowed_at_once[i] + allowed_force_rise_in_step / force_increase *
                                                 (requested_value[i] - force_allowed_at_once[i]);
    }
    return true;
}

/* Starts to limit rates after a gap, for as long as it lasted, or as an earlier limited rise that
 * it interrupts would still have lasted. */
static void start_limited_force_rise(struct tact_guard_rise_limit *gap,
                                     int64_t heartbeat_gap_duration_ns)
{
    memcpy(gap->value_sent_before_gap, gap->sent, sizeof gap->value_sent_before_gap);
    for (int part = 0; part < gap->parts; part++) {
        const double remaining_rise_ns =
            gap->remaining_rise_duration_ns[part] > 0 && gap->max_rise_rate[part] > 0.0
                ? gap->remaining_force_rise[part] / gap->max_rise_rate[part]
                : 0.0;
        gap->remaining_rise_duration_ns[part] =
            remaining_rise_ns > (double)heartbeat_gap_duration_ns
                ? (int64_t)fmin(remaining_rise_ns, 1e12)
                : heartbeat_gap_duration_ns;
        gap->max_rise_rate[part] = 0.0;
    }
    gap->last_heartbeat_gap_ns = heartbeat_gap_duration_ns;
}

bool tact_guard_limit_rise_after_gap(struct tact_guard_rise_limit *gap,
                                     const double *requested_value, int64_t now_ns,
                                     int64_t shortest_limited_gap_ns)
{
    const int64_t time_since_last_value_ns = now_ns - gap->last_value_time_ns,
                  max_step_ns = shortest_limited_gap_ns / 2;
    const int64_t heartbeat_gap_duration_ns =
        gap->is_heartbeat_burst && gap->burst_excess_ns > time_since_last_value_ns
            ? gap->burst_excess_ns
            : time_since_last_value_ns;
    const bool has_heartbeat_gap_ended =
        gap->last_value_time_ns != 0 && heartbeat_gap_duration_ns > shortest_limited_gap_ns;
    const int64_t rise_step_ns =
        time_since_last_value_ns < max_step_ns ? time_since_last_value_ns : max_step_ns;
    bool is_force_rise_limited = false;
    if (has_heartbeat_gap_ended) {
        start_limited_force_rise(gap, heartbeat_gap_duration_ns);
    }
    for (int part = 0; part < gap->parts; part++) {
        if (gap->remaining_rise_duration_ns[part] > 0 &&
            limit_force_rise_of_part(gap, part, requested_value + COMPONENTS * part,
                                     rise_step_ns)) {
            is_force_rise_limited = true;
        } else {
            gap->remaining_rise_duration_ns[part] = 0;
            memcpy(gap->sent + COMPONENTS * part, requested_value + COMPONENTS * part,
                   COMPONENTS * sizeof *requested_value);
        }
    }
    gap->last_value_time_ns = now_ns;
    return has_heartbeat_gap_ended && is_force_rise_limited;
}

void tact_guard_detect_heartbeat_burst(struct tact_guard_rise_limit *gap, uint32_t heartbeat_number,
                                       int64_t period_ns, int64_t now_ns)
{
    const int64_t time_since_last_value_ns = now_ns - gap->last_value_time_ns;
    const int64_t duration_of_heartbeat_ticks_ns =
        (int64_t)(uint32_t)(heartbeat_number - gap->heartbeat_number) * period_ns;
    const int64_t burst_excess_ns =
        gap->burst_excess_ns + duration_of_heartbeat_ticks_ns - 2 * time_since_last_value_ns;
    gap->is_heartbeat_burst = duration_of_heartbeat_ticks_ns > 2 * time_since_last_value_ns;
    gap->burst_excess_ns = burst_excess_ns < 0                     ? 0
                           : burst_excess_ns < burst_excess_cap_ns ? burst_excess_ns
                                                                   : burst_excess_cap_ns;
    gap->heartbeat_number = heartbeat_number;
}

void tact_guard_limit_rise_and_count_gap(struct tact_guard_rise_limit *gap,
                                         const double *requested_value, uint32_t heartbeat_number,
                                         int64_t now_ns, int64_t shortest_limited_gap_ns,
                                         struct tact_guard_page_header *head)
{
    tact_guard_detect_heartbeat_burst(gap, heartbeat_number,
                                      atomic_load_explicit(&head->period_ns, memory_order_relaxed),
                                      now_ns);
    if (tact_guard_limit_rise_after_gap(gap, requested_value, now_ns, shortest_limited_gap_ns)) {
        atomic_fetch_add_explicit(&head->gaps, 1, memory_order_relaxed);
        if (gap->last_heartbeat_gap_ns >
            atomic_load_explicit(&head->longest_heartbeat_gap_ns, memory_order_relaxed)) {
            atomic_store_explicit(&head->longest_heartbeat_gap_ns, gap->last_heartbeat_gap_ns,
                                  memory_order_relaxed);
        }
    }
}

void tact_guard_add_driver_call_duration(
    struct tact_guard_driver_call_durations *driver_call_durations, int64_t driver_call_duration_ns)
{
    if (driver_call_durations->timed_driver_call_count == 0 ||
        driver_call_duration_ns < driver_call_durations->shortest_driver_call_ns) {
        driver_call_durations->shortest_driver_call_ns = driver_call_duration_ns;
    }
    driver_call_durations->timed_driver_call_count +=
        driver_call_durations->timed_driver_call_count < USUAL_CALLS;
}

int64_t tact_guard_find_shortest_limited_gap(
    const struct tact_guard_driver_call_durations *driver_call_durations, int64_t timeout_ns)
{
    const int64_t duration_of_two_driver_calls_ns =
        driver_call_durations->timed_driver_call_count == USUAL_CALLS
            ? 2 * driver_call_durations->shortest_driver_call_ns
            : 0;
    return duration_of_two_driver_calls_ns > timeout_ns ? duration_of_two_driver_calls_ns
                                                        : timeout_ns;
}
