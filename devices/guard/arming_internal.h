/* A device's side of its guard: arms it again after zeros, and reports its trips.
 *
 * Zeros arm it whatever their cause: the deadman, a fault, a device that is lost or does not lead,
 * or nothing that is touched. All of these leave the safety chain at 0 (rt/safety.h), so that what
 * comes next begins there, within its rate limit, and after a fault, the deadman or a loss also by
 * a ramp; after a fault it does not come before a reset. No cause needs another proof that the loop
 * is alive than zeros and heartbeats of 50 ms. */
#ifndef TACT_DEVICES_GUARD_ARMING_INTERNAL_H
#define TACT_DEVICES_GUARD_ARMING_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include "../../rt/device.h"
#include "guard.h"

struct tact_guard_arming {
    /* guard of the outputs; NULL: none, the device writes its outputs itself */
    struct tact_guard *guard;
    int64_t timeout_ns;
    uint32_t zero_ticks_before_rearming; /* ticks of zeros after which it is armed again */
    /* members used by the loop: */
    uint32_t zero_output_tick_count; /* consecutive ticks in which only zeros were sent */
    uint32_t trip_number_when_armed; /* number of the trip for which the guard was armed last */
    /* the guard process has ended: outputs stay zero until the device is opened again */
    bool has_guard_ended;
    atomic_bool must_report_guard_end;
    atomic_uint tick_count_and_zero_bit; /* twice the count of ticks sent, plus 1 if the last one
                                            had only zeros */
    /* members used by the monitor thread: */
    bool is_guard_loss_reported;
    bool is_waiting_for_second_poll; /* waiting for a second poll, to see whether the loop has ended
                                      */
    unsigned int last_tick_count_and_zero_bit;
    uint32_t reported_trip_count;
};

/* Default timeout of a guard: longest silence of the loop [s]: four periods, at least 3 ms. */
double tact_guard_default_timeout(double period);

/* Takes ownership of a guard that was just started, and arms it. period: of the loop [s]. */
void tact_guard_arming_start(struct tact_guard_arming *arming, struct tact_guard *guard,
                             int64_t timeout_ns, double period);

/* Counts ticks of zero outputs, and arms the guard again after enough of them. Real-time safe. */
void tact_guard_arming_update(struct tact_guard_arming *arming, const double *out, int count);

/* Returns TACT_DEVICE_OK, STALE while the guard inhibits the outputs, LOST once it has ended; it
 * is then killed, as a stopped guard would leave the outputs as they are. *rearmed: outputs pass
 * again. Real-time safe. */
int tact_guard_arming_read_state(struct tact_guard_arming *arming, bool *was_guard_rearmed);

/* Reports trips, except after a loop that ended with zeros, and the end of a guard. Not real-time
 * safe. */
void tact_guard_arming_report(struct tact_guard_arming *arming, const char *name,
                              struct tact_messages messages);

/* Reports the gaps in what the guard sent, after which it reduced a force that had risen
 * meanwhile; before the guard is stopped. Not real-time safe. */
void tact_guard_arming_report_gaps(const struct tact_guard_arming *arming, const char *name,
                                   struct tact_messages messages);

#endif
