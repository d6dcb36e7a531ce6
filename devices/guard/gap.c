/* Limits how fast the forces of a device rise after a gap in the stream of commands to it, or where
 * the controller makes up for late ticks in a burst. */
#include <math.h>
#include <string.h>
#include "devices/guard/serve_internal.h"

enum { COMPONENTS = TACT_GUARD_GAP_COMPONENTS };
enum { USUAL_CALLS = 8 }; /* number of calls of which the shortest is a usual one */
/* [ns] limit of the ticks of a burst that count, so that sums of them are in range */
static const int64_t max_burst_excess_ns = 1000000000000;

static double dot_product(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of the vector `from` that needs no limit when `wanted` replaces it: a decrease is
 * allowed at once, and a force in the opposite direction, or across, rises from 0. */
static void find_part_without_limit(double *part_without_limit, const double *from,
                                    const double *wanted)
{
    const double squared_norm = dot_product(from, from), along = dot_product(wanted, from);
    const double projected_fraction =
        squared_norm > 0.0 ? fmax(0.0, fmin(1.0, along / squared_norm)) : 0.0;
    for (int i = 0; i < COMPONENTS; i++) {
        part_without_limit[i] = projected_fraction * from[i];
    }
}

static double find_limited_increase(double *part_without_limit, const double *from,
                                    const double *wanted)
{
    double increase[COMPONENTS];
    find_part_without_limit(part_without_limit, from, wanted);
    for (int i = 0; i < COMPONENTS; i++) {
        increase[i] = wanted[i] - part_without_limit[i];
    }
    return sqrt(dot_product(increase, increase));
}

/* Changes a part of what is sent toward the wanted one, by at most its rate limit times step_ns.
 * Returns false once the wanted one is reached. */
static bool limit_rise_of_part(struct tact_guard_rise_limit *gap, int part, const double *wanted,
                               int64_t step_ns)
{
    double *sent = gap->sent + COMPONENTS * part,
           *sent_before_gap = gap->sent_before_gap + COMPONENTS * part;
    double part_without_limit[COMPONENTS];
    const double total_increase =
        find_limited_increase(part_without_limit, sent_before_gap, wanted);
    /* after a decrease the force rises from the decreased value */
    memcpy(sent_before_gap, part_without_limit, COMPONENTS * sizeof *sent_before_gap);
    gap->rise_rate[part] =
        fmax(gap->rise_rate[part], total_increase / (double)gap->rise_duration_ns[part]);
    const double increase = find_limited_increase(part_without_limit, sent, wanted);
    /* the factor allows for rounding errors */
    const double allowed_force_rise = (1.0 + 1e-9) * gap->rise_rate[part] * (double)step_ns;
    if (!(increase > allowed_force_rise)) {
        memcpy(sent, wanted, COMPONENTS * sizeof *sent);
        return false;
    }
    gap->remaining_rise[part] = increase - allowed_force_rise;
    for (int i = 0; i < COMPONENTS; i++) {
        sent[i] = part_without_limit[i] +
                  allowed_force_rise / increase * (wanted[i] - part_without_limit[i]);
    }
    return true;
}

/* Starts to limit rates after a gap, for as long as it lasted, or as an earlier limited rise that
 * it interrupts would still have lasted. */
static void start_limited_rise(struct tact_guard_rise_limit *gap, int64_t gap_duration_ns)
{
    memcpy(gap->sent_before_gap, gap->sent, sizeof gap->sent_before_gap);
    for (int part = 0; part < gap->parts; part++) {
        const double remaining_rise_ns =
            gap->rise_duration_ns[part] > 0 && gap->rise_rate[part] > 0.0
                ? gap->remaining_rise[part] / gap->rise_rate[part]
                : 0.0;
        gap->rise_duration_ns[part] = remaining_rise_ns > (double)gap_duration_ns
                                          ? (int64_t)fmin(remaining_rise_ns, 1e12)
                                          : gap_duration_ns;
        gap->rise_rate[part] = 0.0;
    }
    gap->last_gap_ns = gap_duration_ns;
}

bool tact_guard_limit_rise_after_gap(struct tact_guard_rise_limit *gap, const double *wanted,
                                     int64_t now_ns, int64_t shortest_gap_ns)
{
    const int64_t time_since_choice_ns = now_ns - gap->last_choice_ns,
                  max_step_ns = shortest_gap_ns / 2;
    const int64_t gap_duration_ns =
        gap->is_heartbeat_burst && gap->burst_excess_ns > time_since_choice_ns
            ? gap->burst_excess_ns
            : time_since_choice_ns;
    const bool gap_has_ended = gap->last_choice_ns != 0 && gap_duration_ns > shortest_gap_ns;
    const int64_t step_ns = time_since_choice_ns < max_step_ns ? time_since_choice_ns : max_step_ns;
    bool is_force_reduced = false;
    if (gap_has_ended) {
        start_limited_rise(gap, gap_duration_ns);
    }
    for (int part = 0; part < gap->parts; part++) {
        if (gap->rise_duration_ns[part] > 0 &&
            limit_rise_of_part(gap, part, wanted + COMPONENTS * part, step_ns)) {
            is_force_reduced = true;
        } else {
            gap->rise_duration_ns[part] = 0;
            memcpy(gap->sent + COMPONENTS * part, wanted + COMPONENTS * part,
                   COMPONENTS * sizeof *wanted);
        }
    }
    gap->last_choice_ns = now_ns;
    return gap_has_ended && is_force_reduced;
}

void tact_guard_detect_heartbeat_burst(struct tact_guard_rise_limit *gap, uint32_t heartbeat_number,
                                       int64_t period_ns, int64_t now_ns)
{
    const int64_t time_since_choice_ns = now_ns - gap->last_choice_ns;
    const int64_t counted_ticks_duration_ns =
        (int64_t)(uint32_t)(heartbeat_number - gap->heartbeat_number) * period_ns;
    const int64_t burst_excess_ns =
        gap->burst_excess_ns + counted_ticks_duration_ns - 2 * time_since_choice_ns;
    gap->is_heartbeat_burst = counted_ticks_duration_ns > 2 * time_since_choice_ns;
    gap->burst_excess_ns = burst_excess_ns < 0                     ? 0
                           : burst_excess_ns < max_burst_excess_ns ? burst_excess_ns
                                                                   : max_burst_excess_ns;
    gap->heartbeat_number = heartbeat_number;
}

void tact_guard_limit_rise_and_count_gap(struct tact_guard_rise_limit *gap, const double *wanted,
                                         uint32_t heartbeat_number, int64_t now_ns,
                                         int64_t shortest_gap_ns,
                                         struct tact_guard_page_header *head)
{
    tact_guard_detect_heartbeat_burst(gap, heartbeat_number,
                                      atomic_load_explicit(&head->period_ns, memory_order_relaxed),
                                      now_ns);
    if (tact_guard_limit_rise_after_gap(gap, wanted, now_ns, shortest_gap_ns)) {
        atomic_fetch_add_explicit(&head->gaps, 1, memory_order_relaxed);
        if (gap->last_gap_ns > atomic_load_explicit(&head->longest_gap_ns, memory_order_relaxed)) {
            atomic_store_explicit(&head->longest_gap_ns, gap->last_gap_ns, memory_order_relaxed);
        }
    }
}

void tact_guard_add_driver_call_time(struct tact_guard_driver_call_times *driver_call_times,
                                     int64_t driver_call_duration_ns)
{
    if (driver_call_times->timed_call_count == 0 ||
        driver_call_duration_ns < driver_call_times->shortest_call_ns) {
        driver_call_times->shortest_call_ns = driver_call_duration_ns;
    }
    driver_call_times->timed_call_count += driver_call_times->timed_call_count < USUAL_CALLS;
}

int64_t tact_guard_shortest_gap(const struct tact_guard_driver_call_times *driver_call_times,
                                int64_t timeout_ns)
{
    const int64_t two_driver_calls_ns = driver_call_times->timed_call_count == USUAL_CALLS
                                            ? 2 * driver_call_times->shortest_call_ns
                                            : 0;
    return two_driver_calls_ns > timeout_ns ? two_driver_calls_ns : timeout_ns;
}
