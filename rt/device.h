/**
 * The device vtable: everything that gives the loop numbers or takes numbers from it.
 *
 * A device has named input channels (positions, buttons, scripted targets) and named output
 * channels (forces, torques, currents). rt declares the interface and is handed implementations;
 * simulated, recorded and real devices are equals. Units are the channel's own, stated in its
 * description.
 */
#ifndef TACT_RT_DEVICE_H
#define TACT_RT_DEVICE_H

#include <stdint.h>
#include "../contact/api.h"
#include "../contact/error.h"
#include "../contact/version.h"
#include "message.h"

TACT_BEGIN_DECLS

#define TACT_DEVICE_CHANNELS 64 /**< most input, and most output, channels of one device */
#define TACT_DEVICE_WRENCHES 4  /**< most force-torque sensors of one device */
#define TACT_DEVICE_NAME 48     /**< longest name of a device or channel, with the zero */

/** State of a device as the loop sees it. */
enum tact_device_state {
    TACT_DEVICE_OK,    /**< values are fresh, or held as they should be */
    TACT_DEVICE_STALE, /**< values are old: the last known ones, to be used with care */
    TACT_DEVICE_LOST,  /**< the device is gone: outputs to it must be zero */
    TACT_DEVICE_ENDED, /**< a recording or script is over; the last values are held */
};

/** What a device said at one tick. */
struct tact_device_input {
    int32_t state;                        /**< enum tact_device_state */
    int64_t stamp_ns;                     /**< when the newest value was made, CLOCK_MONOTONIC */
    double channel[TACT_DEVICE_CHANNELS]; /**< value per input channel, in the channel's unit */
};

/** A channel, as told to people and logs. Names differ among the inputs, and among the outputs, of
 * a device. */
struct tact_device_channel {
    char name[TACT_DEVICE_NAME];
    char unit[16]; /**< "rad", "m", "N", "N m", "1"; empty: unknown */
    double rest;   /**< value at rest, before anything was read; finite */
    int32_t raw;   /**< input: 1: as the sensor gives it, in volts say: nothing tells what one of
                        them is of what is measured; 0: calibrated, or made so */
};

/** A force-torque sensor among the channels of a device. */
struct tact_device_wrench {
    char name[TACT_DEVICE_NAME];  /**< letters, digits and _, a letter first */
    char frame[TACT_DEVICE_NAME]; /**< that the wrench is given in */
    int channel; /**< input of the first of six that follow each other: force [N], torque [N m] */
    int32_t no_zero; /**< 1: what it tells without load was never measured */
};

struct tact_device_info {
    char name[TACT_DEVICE_NAME]; /**< the scene's name for it; a session fills it in */
    char type[TACT_DEVICE_NAME]; /**< "operator", "evdev", ...; a session fills it in */
    char model[256];             /**< what the hardware calls itself; empty where there is none */
    int input_count;
    int output_count;
    struct tact_device_channel input[TACT_DEVICE_CHANNELS];
    struct tact_device_channel output[TACT_DEVICE_CHANNELS];
    int wrench_count; /**< 0 where a device has no such sensor */
    struct tact_device_wrench wrench[TACT_DEVICE_WRENCHES];
};

/**
 * Implementation of a device: the functions that a session calls, all with `self` of the device.
 *
 * The calls, in this order, for a device that its type's open() made:
 *   1. read(), then write(), once each in every tick, from the thread that ticks: the real-time
 *      thread, or the caller of tact_session_step(). Real-time safe: no allocation, lock, output or
 *      wait, and system calls only for device I/O that cannot block. All devices of a session are
 *      read before the first is written.
 *   2. write() once more, after the last tick and with zero for every channel: the end of the run,
 *      also of one that had no tick. From the thread that called tact_session_run(),
 *      tact_session_end() or tact_session_destroy(), when nothing ticks any more.
 *   3. close(), from the thread that called tact_session_destroy(), also where the session was
 * never run, or could not be made after this device was opened. A replay opens no device and calls
 * none of them.
 */
struct tact_device_ops {
    struct tact_abi abi; /**< TACT_ABI(struct tact_device_ops) */
    /** Fills in->state, stamp_ns and the channels; what it leaves alone keeps the value of the tick
     *  before, at first the channel's value at rest. tick counts from 0 and leaves out those that
     *  the loop skipped; t = tick * period is the scene's time [s], by which scripted devices must
     *  go; now_ns is the time t_k of the tick on CLOCK_MONOTONIC [ns]. Real-time safe. */
    void (*read)(void *self, uint64_t tick, double t, int64_t now_ns, struct tact_device_input *in);
    /** Takes one value per output channel, in the unit of each, that went through the safety chain;
     *  now_ns: when the tick began, CLOCK_MONOTONIC [ns]. Zero for all channels while the chain is
     *  not armed, and in the call after the last tick. NULL where there are no outputs. Real-time
     *  safe. */
    void (*write)(void *self, const double *out, int64_t now_ns);
    /** Puts the device in its safe state and frees it. Not real-time safe. */
    void (*close)(void *self);
};

/** An open device. */
struct tact_device {
    const struct tact_device_ops *ops;
    void *self;
    struct tact_device_info info;
};

/** One setting of a device in the scene: key and value as written, with where it stands.
 *  Nested lists of numbers come as `count` rows of `columns` doubles. */
struct tact_device_setting {
    const char *key;
    const char *text;      /**< scalar as written, or NULL */
    const double *numbers; /**< rows x columns, or NULL */
    int rows;
    int columns;
    int line;
    int column;
    const char *file; /**< it stands in, where that is not the scene: a calibration; else NULL */
};

/** What a factory is given. All pointers are valid during the call only. */
struct tact_device_config {
    const char *name;      /**< the scene's name for the device */
    const char *directory; /**< folder of the scene: relative file names start there */
    const char *file;      /**< scene file, for messages */
    const struct tact_device_setting *settings;
    int setting_count;
    double period;      /**< of the loop [s] */
    const char *record; /**< folder where it keeps the raw stream that it reads, or NULL */
    struct tact_messages messages;
    int replace; /**< 1: what is kept there already is replaced; 0: it is refused, -EEXIST */
    void *user;  /**< of the type */
};

/** A type of device: how the scene's `type: NAME` becomes a device. */
struct tact_device_type {
    struct tact_abi abi; /**< TACT_ABI(struct tact_device_type) */
    const char *name;    /**< a scene's `type`: letters, digits and _, a letter first */
    const char *summary; /**< one line for people */
    /** *out is all zero. What it says of itself is checked, see tact_device_check(); where that
     *  fails, close is called. Not real-time safe.
     *  @retval 0, or a negative errno with *err filled (file, line, key of the setting at fault) */
    int (*open)(const struct tact_device_config *config, struct tact_device *out,
                struct tact_error *err);
    void *user; /**< its own, in each config */
};

/**
 * Checks all that a device says of itself, as a session does once it is open: the ABI of its
 * functions, of which read and close are there; 0 to TACT_DEVICE_CHANNELS inputs and outputs and 0
 * to TACT_DEVICE_WRENCHES sensors; text that is terminated and UTF-8 without control characters;
 * channels with names that differ and a finite value at rest; sensors with six inputs each. Not
 * real-time safe.
 * @retval 0
 * @retval -EINVAL  *err says what is wrong
 */
TACT_API int tact_device_check(const struct tact_device *device, struct tact_error *err);

TACT_END_DECLS

#endif
