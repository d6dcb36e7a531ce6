/** What a device does about its guard: it arms it again after zeros, and tells what happened. */
#ifndef TACT_DEVICES_GUARD_ARMING_INTERNAL_H
#define TACT_DEVICES_GUARD_ARMING_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include "../../rt/device.h"
#include "guard.h"

struct tact_arming {
    struct tact_guard *guard; /* or NULL: the device writes its outputs itself */
    int64_t timeout_ns;
    uint32_t rearm; /* ticks of zeros that arm it again */
    /* the loop's */
    uint32_t zeros;  /* ticks in a row in which nothing but zeros was to be sent */
    uint32_t armed;  /* the trip that was ended last */
    bool left_alone; /* the guard is gone: for good */
    atomic_bool alone;
    atomic_uint sent; /* ticks; the lowest bit: that was zeros */
    /* the watcher's */
    bool alone_told;
    bool waits; /* to see whether the loop has ended */
    unsigned int sent_then;
    uint32_t trips_told;
};

/** Longest silence of a loop that a guard bears unless a scene says another [s]: four periods, and
 * 3 ms at least. */
double tact_arming_patience(double period);

/** Takes over a guard that was started just now, and arms it. period: of the loop [s]. */
void tact_arming_start(struct tact_arming *arming, struct tact_guard *guard, int64_t timeout_ns,
                       double period);

/** Looks at what is to be sent. Real-time safe. */
void tact_arming_see(struct tact_arming *arming, const double *out, int count);

/** TACT_DEVICE_OK, STALE while the guard holds the outputs back, LOST once it is gone; it is killed
 *  then, as one that is stopped would still hold the outputs as they are. *rearmed: it lets pass
 *  from now on. Real-time safe. */
int tact_arming_ask(struct tact_arming *arming, bool *rearmed);

/** Tells of trips, but where the loop has ended with zeros, and of a guard that is gone. Not
 * real-time safe. */
void tact_arming_tell(struct tact_arming *arming, const char *name, struct tact_messages messages);

#endif
