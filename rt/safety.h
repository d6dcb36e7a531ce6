/**
 * The safety chain of every output to a device, in this order:
 *
 * finite?  ->  filter  ->  rate limit  ->  clamp  ->  armed?  ->  sent
 *
 * The chain as a whole is disarmed, armed or in fault. It arms, and stays armed, only while the
 * deadman is pressed: on arming the outputs ramp up from zero; when it is released they are zero in
 * the same tick, whatever the rate limit. An input that is not finite is a fault: zero on every
 * channel until tact_safety_reset(). Every trip is recorded with cause, channel, value and tick.
 *
 * Channels of a group are the components of a vector, such as a force: its length is rate-limited
 * and clamped, so that its direction stays, and its components are filtered alike.
 *
 * A plain struct without pointers, deterministic: the same inputs yield the same bits, and its
 * state is logged and restored with tact_safety_save() and tact_safety_load(). Invariants for any
 * input: |sent| <= limit; between two armed ticks |change of sent| <= rate * period (to rounding),
 * of a group the lengths; exactly 0 while not armed; never NaN or infinite.
 *
 * Real-time safe but for tact_safety_init().
 */
#ifndef TACT_RT_SAFETY_H
#define TACT_RT_SAFETY_H

#include <stdint.h>
#include "../contact/api.h"

TACT_BEGIN_DECLS

#define TACT_SAFETY_CHANNELS 128 /**< maximum number of channels */
#define TACT_SAFETY_GROUP 3      /**< maximum number of channels of a group */
#define TACT_SAFETY_TRIPS 64     /**< number of latest trips that are stored; a power of two */

/** State of a chain. */
enum tact_safety_state { TACT_SAFETY_DISARMED, TACT_SAFETY_ARMED, TACT_SAFETY_FAULT };

/** Why the chain did not pass a requested output. */
enum tact_trip_cause {
    TACT_TRIP_NONFINITE, /**< NaN or infinity requested: fault */
    TACT_TRIP_CLAMP,     /**< value over the limit: it was clamped */
    TACT_TRIP_RATE,      /**< output changes faster than its rate limit: it is slowed */
    TACT_TRIP_DEADMAN,   /**< deadman released while armed: disarmed */
    TACT_TRIP_RAISED,    /**< tact_safety_raise(): fault */
    TACT_TRIP_CAUSES
};

/** One channel. */
struct tact_safety_channel {
    double limit;  /**< maximum |sent| [unit of the channel], finite, >= 0 */
    double rate;   /**< maximum rate of change [unit / s], > 0; INFINITY: none */
    double cutoff; /**< cutoff of the first-order low-pass [Hz], >= 0; 0: none */
    int32_t group; /**< number of a vector group: channels of the same number above 0 are components
                      of one vector, with equal settings; limit and rate apply to its length. 0: the
                      channel is on its own */
};

/** What all channels of a chain have in common. */
struct tact_safety_options {
    double period; /**< period of the loop [s], > 0; default 0.001 */
    double ramp;   /**< duration of the ramp from zero to full on arming [s], >= 0; default 0.2 */
};

/** One trip. A channel or group that stays clamped or rate-limited trips once, when that begins. */
struct tact_trip {
    int32_t cause;   /**< enum tact_trip_cause */
    int32_t channel; /**< channel that tripped; -1: the whole chain (deadman); of a vector group its
                        first channel */
    double value;    /**< the requested value at that point of the chain, in the channel's unit; of
                          a group its length */
    uint64_t tick;   /**< tick in which it tripped */
};

/** A safety chain: its state, its counters and its settings. */
struct tact_safety {
    int32_t count;         /**< channels */
    int32_t state;         /**< enum tact_safety_state */
    int32_t await_release; /**< after a reset: the deadman must be released before the chain arms */
    double ramp;           /**< factor of the output while armed, 0 to 1 [1] */
    uint64_t trips[TACT_TRIP_CAUSES]; /**< trips by cause since init */
    uint64_t ticks[TACT_TRIP_CAUSES]; /**< per cause: number of ticks times channels or groups in
                                         which it acted */
    struct {
        double filtered; /**< state of the low-pass [unit] */
        double sent;     /**< output of the last tick [unit] */
        int32_t clamped; /**< 1: the requested value was over the limit in the last tick */
        int32_t slowed;  /**< 1: the requested value changed faster than the rate limit in the last
                            tick */
    } channel[TACT_SAFETY_CHANNELS];          /**< [count] state of each channel */
    struct tact_trip trip[TACT_SAFETY_TRIPS]; /**< see tact_safety_trip() */
    uint64_t trip_count;                      /**< number of trips since init */
    /* settings, fixed by tact_safety_init() */
    struct {
        double limit; /**< [unit] */
        double step;  /**< maximum change per tick: rate * period [unit] */
        /** weight of the new value in the low-pass: 1 - exp(-2 pi cutoff period) [1] */
        double alpha;
        int32_t count; /**< number of channels of the vector group that starts at this channel; 0:
                          another channel is its first */
        int32_t member[TACT_SAFETY_GROUP]; /**< [count] those channels */
    } setting[TACT_SAFETY_CHANNELS];       /**< [count] settings of each channel */
    double ramp_step;                      /**< increase of the arming ramp in one tick [1] */
};

/** Defaults: 1 kHz, a ramp of 0.2 s. Real-time safe. */
TACT_API struct tact_safety_options tact_safety_default(void);

/**
 * Initialises the chain for n channels, disarmed, with no trips. Not real-time safe.
 * @retval 0
 * @retval -EINVAL n outside [0, TACT_SAFETY_CHANNELS], a limit, rate, cutoff, period or ramp out of
 *                 range, or a group of more than TACT_SAFETY_GROUP or of different settings
 */
TACT_API int tact_safety_init(struct tact_safety *s, const struct tact_safety_channel *channels,
                              int n, const struct tact_safety_options *options);

/**
 * One tick: requested[n] -> sent[n], both in the channels' units; they may be the same array.
 * deadman: 0 released, else pressed. Real-time safe.
 * @return the state after this tick, enum tact_safety_state
 */
TACT_API int tact_safety_step(struct tact_safety *s, const double *requested, int deadman,
                              uint64_t tick, double *sent);

/** Raises a fault found elsewhere (a lost device, a diverged solver): outputs are zero from the
 * next step on, until tact_safety_reset(). channel -1: the whole chain; value: the most relevant
 * number, in the unit of the channel or of the cause. Real-time safe. */
TACT_API void tact_safety_raise(struct tact_safety *s, int channel, double value, uint64_t tick);

/** Sets a channel, or the group that it is of, to 0 [its unit], filter and rate limit included: the
 * next output starts there. Real-time safe. */
TACT_API void tact_safety_release(struct tact_safety *s, int channel);

/** Leaves the fault for disarmed. The chain arms again after the deadman was released for a tick
 * and is pressed again. No effect outside a fault. Real-time safe. */
TACT_API void tact_safety_reset(struct tact_safety *s);

/** The i-th latest trip, 0 the newest; NULL if there is none or it is no longer stored. Real-time
 * safe. */
TACT_API const struct tact_trip *tact_safety_trip(const struct tact_safety *s, int i);

/** "disarmed", "armed", "fault". Real-time safe. */
TACT_API const char *tact_safety_state_name(int state);

/** "not finite", "clamp", "rate", "deadman", "raised". Real-time safe. */
TACT_API const char *tact_trip_name(int cause);

/** Number of doubles that tact_safety_save() writes for n channels. */
TACT_API int tact_safety_state_size(int n);

/** Writes the state (all that later steps depend on, and the counters; not the stored trips) to
 * v[tact_safety_state_size(s->count)]. Real-time safe. */
TACT_API void tact_safety_save(const struct tact_safety *s, double *v);

/** Restores a state written by tact_safety_save(), v in the order of that, in a chain with the same
 * settings. Real-time safe.
 * @retval 0
 * @retval -EINVAL v is not such a state; the chain is unchanged */
TACT_API int tact_safety_load(struct tact_safety *s, const double *v);

TACT_END_DECLS

#endif
