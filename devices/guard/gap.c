/* Limits how fast the forces of a device rise after a gap in the stream of commands to it, or where
 * the controller makes up for late ticks in a burst. */
#include <math.h>
#include <string.h>
#include "devices/guard/serve_internal.h"

enum { COMPONENTS = TACT_GUARD_GAP_COMPONENTS };
enum { USUAL_CALLS = 8 }; /* number of calls of which the shortest is a usual one */
/* [ns] limit of the ticks of a burst that count, so that sums of them are in range */
static const int64_t max_ahead_ns = 1000000000000;

static double dot_product(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The part of the vector `from` that needs no limit when `wanted` replaces it: a decrease is
 * allowed at once, and a force in the opposite direction, or across, rises from 0. */
static void find_unlimited_part(double *unlimited_part, const double *from, const double *wanted)
{
    const double squared_norm = dot_product(from, from), along = dot_product(wanted, from);
    const double fraction = squared_norm > 0.0 ? fmax(0.0, fmin(1.0, along / squared_norm)) : 0.0;
    for (int i = 0; i < COMPONENTS; i++) {
        unlimited_part[i] = fraction * from[i];
    }
}

static double find_increase(double *unlimited_part, const double *from, const double *wanted)
{
    double increase[COMPONENTS];
    find_unlimited_part(unlimited_part, from, wanted);
    for (int i = 0; i < COMPONENTS; i++) {
        increase[i] = wanted[i] - unlimited_part[i];
    }
    return sqrt(dot_product(increase, increase));
}

/* Changes a part of what is sent toward the wanted one, by at most its rate limit times step_ns.
 * Returns false once the wanted one is reached. */
static bool raise_part_toward_wanted(struct tact_guard_gap *gap, int part, const double *wanted,
                                     int64_t step_ns)
{
    double *sent = gap->sent + COMPONENTS * part, *before = gap->before + COMPONENTS * part;
    double unlimited_part[COMPONENTS];
    const double whole_increase = find_increase(unlimited_part, before, wanted);
    /* after a decrease the force rises from what is left */
    memcpy(before, unlimited_part, COMPONENTS * sizeof *before);
    gap->rate[part] = fmax(gap->rate[part], whole_increase / (double)gap->length_ns[part]);
    const double increase = find_increase(unlimited_part, sent, wanted);
    /* the factor allows for rounding errors */
    const double max_increase = (1.0 + 1e-9) * gap->rate[part] * (double)step_ns;
    if (!(increase > max_increase)) {
        memcpy(sent, wanted, COMPONENTS * sizeof *sent);
        return false;
    }
    gap->remaining_increase[part] = increase - max_increase;
    for (int i = 0; i < COMPONENTS; i++) {
        sent[i] = unlimited_part[i] + max_increase / increase * (wanted[i] - unlimited_part[i]);
    }
    return true;
}

/* Starts to limit rates after a gap, for as long as it lasted, or as an earlier limited rise that
 * it interrupts would still have lasted. */
static void start_limited_rise(struct tact_guard_gap *gap, int64_t length_ns)
{
    memcpy(gap->before, gap->sent, sizeof gap->before);
    for (int part = 0; part < gap->parts; part++) {
        const double remaining_ns = gap->length_ns[part] > 0 && gap->rate[part] > 0.0
                                        ? gap->remaining_increase[part] / gap->rate[part]
                                        : 0.0;
        gap->length_ns[part] =
            remaining_ns > (double)length_ns ? (int64_t)fmin(remaining_ns, 1e12) : length_ns;
        gap->rate[part] = 0.0;
    }
    gap->last_ns = length_ns;
}

bool tact_guard_bridge_gap(struct tact_guard_gap *gap, const double *wanted, int64_t now_ns,
                           int64_t shortest_gap_ns)
{
    const int64_t time_since_choice_ns = now_ns - gap->last_choice_ns,
                  max_step_ns = shortest_gap_ns / 2;
    const int64_t length_ns = gap->is_burst && gap->ahead_ns > time_since_choice_ns
                                  ? gap->ahead_ns
                                  : time_since_choice_ns;
    const bool gap_has_ended = gap->last_choice_ns != 0 && length_ns > shortest_gap_ns;
    const int64_t step_ns = time_since_choice_ns < max_step_ns ? time_since_choice_ns : max_step_ns;
    bool is_force_reduced = false;
    if (gap_has_ended) {
        start_limited_rise(gap, length_ns);
    }
    for (int part = 0; part < gap->parts; part++) {
        if (gap->length_ns[part] > 0 &&
            raise_part_toward_wanted(gap, part, wanted + COMPONENTS * part, step_ns)) {
            is_force_reduced = true;
        } else {
            gap->length_ns[part] = 0;
            memcpy(gap->sent + COMPONENTS * part, wanted + COMPONENTS * part,
                   COMPONENTS * sizeof *wanted);
        }
    }
    gap->last_choice_ns = now_ns;
    return gap_has_ended && is_force_reduced;
}

void tact_guard_count_heartbeats(struct tact_guard_gap *gap, uint32_t heartbeat_number,
                                 int64_t period_ns, int64_t now_ns)
{
    const int64_t time_since_choice_ns = now_ns - gap->last_choice_ns;
    const int64_t ticks_ns =
        (int64_t)(uint32_t)(heartbeat_number - gap->heartbeat_number) * period_ns;
    const int64_t ahead_ns = gap->ahead_ns + ticks_ns - 2 * time_since_choice_ns;
    gap->is_burst = ticks_ns > 2 * time_since_choice_ns;
    gap->ahead_ns = ahead_ns < 0 ? 0 : ahead_ns < max_ahead_ns ? ahead_ns : max_ahead_ns;
    gap->heartbeat_number = heartbeat_number;
}

void tact_guard_bridge_counted_gap(struct tact_guard_gap *gap, const double *wanted,
                                   uint32_t heartbeat_number, int64_t now_ns,
                                   int64_t shortest_gap_ns, struct tact_guard_page_header *head)
{
    tact_guard_count_heartbeats(gap, heartbeat_number,
                                atomic_load_explicit(&head->period_ns, memory_order_relaxed),
                                now_ns);
    if (tact_guard_bridge_gap(gap, wanted, now_ns, shortest_gap_ns)) {
        atomic_fetch_add_explicit(&head->gaps, 1, memory_order_relaxed);
        if (gap->last_ns > atomic_load_explicit(&head->longest_gap_ns, memory_order_relaxed)) {
            atomic_store_explicit(&head->longest_gap_ns, gap->last_ns, memory_order_relaxed);
        }
    }
}

void tact_guard_add_driver_call(struct tact_guard_driver_calls *driver_calls, int64_t duration_ns)
{
    if (driver_calls->count == 0 || duration_ns < driver_calls->shortest_ns) {
        driver_calls->shortest_ns = duration_ns;
    }
    driver_calls->count += driver_calls->count < USUAL_CALLS;
}

int64_t tact_guard_shortest_gap(const struct tact_guard_driver_calls *driver_calls,
                                int64_t timeout_ns)
{
    const int64_t two_calls_ns =
        driver_calls->count == USUAL_CALLS ? 2 * driver_calls->shortest_ns : 0;
    return two_calls_ns > timeout_ns ? two_calls_ns : timeout_ns;
}
