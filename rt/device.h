/**
 * The device vtable: the interface of everything that supplies numbers to the loop or receives
 * them.
 *
 * A device has named input channels (positions, buttons, scripted targets) and named output
 * channels (forces, torques, currents). rt declares the interface; implementations are passed in;
 * simulated, recorded and real devices are equivalent. Units are the channel's own, stated in its
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

#define TACT_DEVICE_CHANNELS 64 /**< maximum inputs, and outputs, of a device */
#define TACT_DEVICE_WRENCHES 4  /**< maximum number of force-torque sensors of a device */
#define TACT_DEVICE_NAME 48     /**< maximum size of a device's or channel's name, with the zero */

/** State of a device as reported to the loop. */
enum tact_device_state {
    TACT_DEVICE_OK,    /**< values are current */
    TACT_DEVICE_STALE, /**< values are old: the last known ones */
    TACT_DEVICE_LOST,  /**< the device is absent: outputs to it must be zero */
    TACT_DEVICE_ENDED, /**< a recording or script has ended; its last values are repeated */
};

/** The inputs of a device in one tick. */
struct tact_device_input {
    int32_t state;                        /**< enum tact_device_state */
    int64_t stamp_ns;                     /**< time of the newest value, CLOCK_MONOTONIC */
    double channel[TACT_DEVICE_CHANNELS]; /**< value per input channel, in the channel's unit */
};

/** A channel, for messages and logs. The names of a device's inputs are distinct, and those of its
 * outputs. */
struct tact_device_channel {
    char name[TACT_DEVICE_NAME]; /**< name, unlike those of the other inputs, or outputs, of the
                                    device */
    char unit[16];               /**< "rad", "m", "N", "N m", "1"; empty: unknown */
    double rest;                 /**< initial value, before anything was read; finite [unit] */
    int32_t raw; /**< input: 1: sensor's raw value, for example in volts, of unknown relation to the
                    measured quantity; 0: calibrated or synthetic. Output: 0: a force, a speed or
                    another quantity of which zero is safe; else a position to which the device
                    moves, and 1 + the index of the input that measures it, in the same unit */
};

/** A force-torque sensor among the channels of a device. */
struct tact_device_wrench {
    char name[TACT_DEVICE_NAME];  /**< letters, digits and _, a letter first */
    char frame[TACT_DEVICE_NAME]; /**< frame of the wrench */
    int channel;     /**< index of the first of six consecutive inputs: force [N], torque [N m] */
    int32_t untared; /**< 1: the sensor's reading without load was never measured, so that its zero
                        is unknown */
};

/** The description of a device, which it returns when it is opened. An input named `delay`, of unit
 * "s", is the time from the device's sensor to its force; its value at rest is the one measured at
 * the opening, against which couplings with a `device` are checked. */
struct tact_device_info {
    char name[TACT_DEVICE_NAME]; /**< name of the device in the scene; set by a session */
    char type[TACT_DEVICE_NAME]; /**< "operator", "evdev", ...; a session fills it in */
    char model[256];             /**< model name reported by the hardware; empty if none */
    int input_count;             /**< number of inputs, 0 to TACT_DEVICE_CHANNELS */
    int output_count;            /**< number of outputs, 0 to TACT_DEVICE_CHANNELS */
    struct tact_device_channel input[TACT_DEVICE_CHANNELS];  /**< [input_count] input channels */
    struct tact_device_channel output[TACT_DEVICE_CHANNELS]; /**< [output_count] output channels */
    int wrench_count; /**< number of force-torque sensors; 0 where a device has none */
    /** [wrench_count] force-torque sensors */
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
    /** Sets in->state, stamp_ns and the channels; channels that are not set keep the value of the
     * previous tick, initially the channel's value at rest. tick counts from 0 and omits those that
     * the loop skipped; t = tick * period is the scene's time [s], which scripted devices follow;
     * now_ns is the time t_k of the tick on CLOCK_MONOTONIC [ns]. Real-time safe. */
    void (*read)(void *self, uint64_t tick, double t, int64_t now_ns, struct tact_device_input *in);
    /** Writes one value per output channel, in the unit of each, from the safety chain; now_ns:
     * when the tick began, CLOCK_MONOTONIC [ns]. Zero while the chain is not armed (not so what a
     * scene's `remotes` send) and after the last tick: zero has to be safe, no force, or the speed
     * of a standstill. An output that is a position (`raw` above 0) is then the one that was
     * written last, and from the start and after the device was lost the measured one, before the
     * first reading the input's value at rest: the device stays where it is. It stays there by
     * itself where writes end, and is lost while it does not follow them. NULL: no outputs.
     * Real-time safe. */
    void (*write)(void *self, const double *out, int64_t now_ns);
    /** Puts the device in its safe state and frees it. Not real-time safe. */
    void (*close)(void *self);
};

/** An open device. */
struct tact_device {
    const struct tact_device_ops *ops; /**< its functions */
    void *self;                        /**< handed to them */
    struct tact_device_info info;      /**< its description */
};

/** One setting of a device in the scene: key and value as written, with line and column. Nested
 * lists of numbers are `count` rows of `columns` doubles. */
struct tact_device_setting {
    const char *key;       /**< key, with "list[0]." or "map." before it where it is nested */
    const char *text;      /**< scalar as written, or NULL */
    const double *numbers; /**< rows x columns, or NULL [of the setting] */
    int rows;              /**< number of rows */
    int columns;           /**< numbers in each row */
    int line;              /**< line of the value, from 1 */
    int column;            /**< column of the value, from 1 */
    const char *file;      /**< file of the setting if not the scene: a calibration; else NULL */
};

/** Arguments of a factory. All pointers are valid during the call only. */
struct tact_device_config {
    const char *name;      /**< name of the device in the scene */
    const char *directory; /**< folder of the scene: base of relative file names */
    const char *file;      /**< scene file, for messages */
    /** [setting_count] settings, in the order of the scene */
    const struct tact_device_setting *settings;
    int setting_count;             /**< number of settings */
    double period;                 /**< period of the loop [s] */
    const char *record;            /**< folder for the raw stream that it reads, or NULL */
    struct tact_messages messages; /**< where messages about the device go */
    int replace; /**< 1: replace an existing raw-stream file; 0: refuse it, -EEXIST */
    void *user;  /**< the type's `user` */
};

/** A type of device: how the scene's `type: NAME` becomes a device. */
struct tact_device_type {
    struct tact_abi abi; /**< TACT_ABI(struct tact_device_type) */
    const char *name;    /**< a scene's `type`: letters, digits and _, a letter first */
    const char *summary; /**< one line that describes the device type to people */
    /** *out is all zero on entry. Its description is checked with tact_device_check(); if that
     * fails, close is called. Not real-time safe.
     * @retval 0, or a negative errno with *err set (file, line, key of the setting at fault) */
    int (*open)(const struct tact_device_config *config, struct tact_device *out,
                struct tact_error *err);
    void *user; /**< pointer that is passed to open() in each config */
};

/**
 * Checks the description of a device, as a session does once it is open: the ABI of its
 * functions, of which read and close are required; 0 to TACT_DEVICE_CHANNELS inputs and outputs and
 * 0 to TACT_DEVICE_WRENCHES sensors; text that is terminated and UTF-8 without control characters;
 * channels with distinct names and a finite value at rest; sensors with six inputs each;
 * positions that an input measures. Not real-time safe.
 * @retval 0
 * @retval -EINVAL  *err is set
 */
TACT_API int tact_device_check(const struct tact_device *device, struct tact_error *err);

TACT_END_DECLS

#endif
