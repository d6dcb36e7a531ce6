#include "devices/guard/arming_internal.h"

#include <math.h>
#include "devices/guard/process_internal.h"
#include "rt/clock.h"

/* [s] for which only zeros must be sent before the guard is armed again */
static const double zero_time_before_rearming = 0.05;

double tact_guard_default_timeout(double period)
{
    return fmax(4.0 * period, 3e-3);
}

void tact_guard_arming_start(struct tact_guard_arming *arming, struct tact_guard *guard,
                             int64_t timeout_ns, double period)
{
    arming->guard = guard;
    arming->timeout_ns = timeout_ns;
    atomic_store_explicit(&guard->head->period_ns, (int64_t)(fmin(period, 1.0) * 1e9),
                          memory_order_relaxed);
    arming->zero_ticks_before_rearming =
        (uint32_t)ceil(fmin(zero_time_before_rearming / period, 1e9));
    arming->trip_number_when_armed = tact_guard_trips(guard);
    arming->reported_trip_count = arming->trip_number_when_armed;
    tact_guard_arm(guard);
}

void tact_guard_arming_update(struct tact_guard_arming *arming, const double *out, int count)
{
    bool are_all_outputs_zero = true;
    for (int i = 0; i < count; i++) {
        are_all_outputs_zero = are_all_outputs_zero && out[i] == 0.0;
    }
    arming->zero_output_tick_count =
        are_all_outputs_zero
            ? arming->zero_output_tick_count + (arming->zero_output_tick_count < UINT32_MAX)
            : 0;
    unsigned int sent =
        atomic_load_explicit(&arming->tick_count_and_zero_bit, memory_order_relaxed);
    atomic_store_explicit(&arming->tick_count_and_zero_bit,
                          ((sent | 1U) + 1U) | are_all_outputs_zero, memory_order_relaxed);
}

int tact_guard_arming_read_state(struct tact_guard_arming *arming, bool *was_guard_rearmed)
{
    *was_guard_rearmed = false;
    if (!arming->guard) {
        return TACT_DEVICE_OK;
    }
    int state = arming->has_guard_ended ? TACT_GUARD_ENDED
                                        : tact_guard_state(arming->guard, tact_clock_now());
    if (state == TACT_GUARD_ENDED && !arming->has_guard_ended) {
        arming->has_guard_ended = true;
        tact_guard_kill(arming->guard);
        atomic_store_explicit(&arming->must_report_guard_end, true, memory_order_relaxed);
    }
    if (state == TACT_GUARD_INHIBITED &&
        tact_guard_trips(arming->guard) != arming->trip_number_when_armed) {
        if (arming->zero_output_tick_count < arming->zero_ticks_before_rearming) {
            return TACT_DEVICE_STALE;
        }
        arming->trip_number_when_armed = tact_guard_trips(arming->guard);
        *was_guard_rearmed = true;
        tact_guard_arm(arming->guard);
    }
    return state == TACT_GUARD_ENDED || state == TACT_GUARD_LOST ? TACT_DEVICE_LOST
                                                                 : TACT_DEVICE_OK;
}

/* Whether the loop sent only zeros and then nothing since the last poll: it has ended, and its trip
 * need not be reported. Not known at the first poll: *must_wait_for_next_poll is then set. */
static bool has_loop_stopped_heartbeats(struct tact_guard_arming *arming,
                                        bool *must_wait_for_next_poll)
{
    const unsigned int sent =
        atomic_load_explicit(&arming->tick_count_and_zero_bit, memory_order_relaxed);
    *must_wait_for_next_poll = (sent & 1U) && !arming->is_waiting_for_second_poll;
    const bool has_loop_ended = (sent & 1U) && arming->is_waiting_for_second_poll &&
                                sent == arming->last_tick_count_and_zero_bit;
    arming->is_waiting_for_second_poll = *must_wait_for_next_poll;
    arming->last_tick_count_and_zero_bit = sent;
    return has_loop_ended;
}

void tact_guard_arming_report(struct tact_guard_arming *arming, const char *name,
                              struct tact_messages messages)
{
    if (!arming->guard) {
        return;
    }
    tact_guard_check_whether_process_ended(arming->guard);
    uint32_t trip_count = tact_guard_trips(arming->guard);
    bool must_wait_for_next_poll = false;
    const bool has_loop_ended = trip_count != arming->reported_trip_count &&
                                has_loop_stopped_heartbeats(arming, &must_wait_for_next_poll);
    if (trip_count != arming->reported_trip_count && !has_loop_ended && !must_wait_for_next_poll) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: the guard has set the outputs to zero: the loop was silent for more than "
                     "%g ms, the device failed or the system slept; they return after zeros were "
                     "sent, as when the deadman is released",
                     name, (double)arming->timeout_ns / 1e6);
    }
    arming->reported_trip_count =
        must_wait_for_next_poll ? arming->reported_trip_count : trip_count;
    if (!arming->is_guard_loss_reported &&
        atomic_load_explicit(&arming->must_report_guard_end, memory_order_relaxed)) {
        tact_message(messages, TACT_MESSAGE_ERROR,
                     "%s: the guard process has ended: the outputs are zero until the device is "
                     "opened again",
                     name);
        arming->is_guard_loss_reported = true;
    }
}

void tact_guard_arming_report_gaps(const struct tact_guard_arming *arming, const char *name,
                                   struct tact_messages messages)
{
    const struct tact_guard_page_header *head = arming->guard ? arming->guard->head : NULL;
    const uint64_t gaps = head ? atomic_load(&head->gaps) : 0;
    if (gaps) {
        tact_message(messages, TACT_MESSAGE_WARNING,
                     "%s: forces were reduced after %llu gaps between the guard process's commands "
                     "to the device, or after bursts that made up for them, the longest gap %.1f "
                     "ms: the device's driver or library, or the machine, was too slow",
                     name, (unsigned long long)gaps,
                     (double)atomic_load(&head->longest_heartbeat_gap_ns) * 1e-6);
    }
}
