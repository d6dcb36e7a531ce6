/**
 * Attached devices: input devices and measurement cards, their channels, and why one cannot be
 * opened.
 *
 * Read-only: no output is written, no effect is uploaded. A driver that is blocked in a force
 * blocks the survey too.
 */
#ifndef TACT_DEVICES_ATTACHED_H
#define TACT_DEVICES_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"
#include "../../rt/device.h"

TACT_BEGIN_DECLS

#define TACT_ATTACHED_FORCES 16     /**< maximum number of outputs of an input device */
#define TACT_ATTACHED_SUBDEVICES 32 /**< maximum number of subdevices of a board */
#define TACT_ATTACHED_RANGES 16     /**< maximum number of ranges of a subdevice */

/** Whether this process can open a device, and what to do to get access. */
struct tact_attached_access {
    int error; /**< 0, or negative errno of opening the device as a scene would without forces */
    /** 0, or the negative errno of opening an input device for writing, as forces need */
    int force_error;
    char why[256]; /**< missing permission, as text; empty if none is missing */
    char fix[256]; /**< shell command that gives access permanently, by a group if possible */
    /** alternative to the command: a udev rule that gives only the user at the machine access to
     * this device; empty if it would change nothing */
    char rule[512];
};

/** A channel of an input device with default settings. */
struct tact_attached_channel {
    char name[TACT_DEVICE_NAME]; /**< "abs_x", "btn_south", ... */
    bool axis;                   /**< false: a button, 0 or 1 */
    char span[32]; /**< "-1..1", "0..1", "0..1 inverted", "-1..1 displacement", "counts", "0 or 1";
                        "?" if only an open device reports it */
    int low;       /**< raw values of an absolute axis, with the device's dead zone; else 0 */
    int high;      /**< largest raw value */
    int flat;      /**< half the width of the dead zone, raw */
};

/** An output of an input device with forces, and the kernel's effect that renders it. */
struct tact_attached_force {
    char name[TACT_DEVICE_NAME]; /**< "force_x", ... as in DEVICES.md */
    char effect[16];             /**< "constant", "spring", ... */
};

/** An input device: pad, wheel, pedals, six-axis puck. */
struct tact_attached_input {
    char path[64];     /**< /dev/input/event7 */
    char link[256];    /**< permanent path of the device in /dev/input/by-id; may be empty */
    char name[256];    /**< name that the device states */
    char serial[128];  /**< unique identifier of the device; may be empty */
    char phys[256];    /**< physical port to which it is connected */
    uint16_t bus;      /**< BUS_USB, ... of linux/input.h */
    uint16_t vendor;   /**< USB or other bus identifier of the maker */
    uint16_t product;  /**< USB or other bus identifier of the product */
    char kind[16];     /**< "pad", "stick", "wheel", "puck", "tablet", "touch", "mouse", "keyboard",
                            "motion", "other": a guess from what it has */
    int channel_count; /**< number of channels */
    struct tact_attached_channel channel[TACT_DEVICE_CHANNELS]; /**< axes first */
    int force_count; /**< number of kinds of force effects */
    /** [force_count] kinds of force effects */
    struct tact_attached_force force[TACT_ATTACHED_FORCES];
    /** names of the kernel's effects that the device has: "constant, spring"; may be empty */
    char effects[128];
    int effect_most; /**< maximum number of effects on the device at once; 0: unknown */
    char note[256];  /**< how a scene selects further channels; may be empty */
    /** whether this user can open it, and otherwise how to get access */
    struct tact_attached_access access;
    char named[48];   /**< one key of a keyboard that `channels` can name; otherwise empty */
    char scene[1024]; /**< an entry of a scene's `devices` that opens exactly this one; empty if it
                         has no channels */
};

/** A range of voltages or currents of a subdevice. */
struct tact_attached_range {
    double low;   /**< [V], or [mA], or without unit */
    double high;  /**< upper end of the range, in the unit of low */
    char unit[4]; /**< "V", "mA", "" */
};

/** A subdevice of a card: analog inputs or outputs, or digital lines. */
struct tact_attached_subdevice {
    int number;      /**< index of the subdevice on the card, from 0 */
    char type[24];   /**< "analog input", ... */
    char input[48];  /**< what a scene calls its inputs: "ai0 .. ai7", "di0@2 .. di7@2", "counter0";
                          may be empty */
    char output[48]; /**< names of its output channels: "ao0 .. ao1", "do0 .. do7" */
    int channels;    /**< number of its channels */
    uint32_t maxdata;                                       /**< maxdata of channel 0 */
    int range_count;                                        /**< number of ranges of channel 0 */
    struct tact_attached_range range[TACT_ATTACHED_RANGES]; /**< ranges of channel 0 */
    /** another process uses the subdevice */
    bool busy;
    /** the subdevice has software calibration (setting `calibration` of a scene) */
    bool calibrates;
    /** the card can scan its analog inputs by itself (setting `stream` of a scene) */
    bool streams;
};

/** A measurement card. */
struct tact_attached_board {
    char path[64];       /**< /dev/comedi0 */
    char name[32];       /**< name of the board; empty, as is driver, where it cannot be opened */
    char driver[32];     /**< name of its kernel driver */
    int subdevice_count; /**< number of its subdevices */
    struct tact_attached_subdevice subdevice[TACT_ATTACHED_SUBDEVICES]; /**< [subdevice_count] */
    /** whether this user can open it, and otherwise how to get access */
    struct tact_attached_access access;
    /** an entry of a scene's `devices` for this board; empty where it cannot be opened */
    char scene[512];
};

/** The devices attached to this machine, as found by tact_attached_survey(). */
struct tact_attached {
    int input_count;                   /**< number of input devices */
    struct tact_attached_input *input; /**< input devices, sorted by the number of their nodes */
    int board_count;                   /**< number of cards */
    struct tact_attached_board *board; /**< [board_count] cards */
};

/**
 * Examines the attached devices. For a device that cannot be opened, /sys has all but the ranges
 * of its axes. No attached device is no error. Free with tact_attached_free(). Not real-time safe.
 * @retval 0, or -ENOMEM with *err set and *out empty
 */
TACT_API int tact_attached_survey(struct tact_attached *out, struct tact_error *err);

/** Frees the survey's memory, and empties it. Not real-time safe. */
TACT_API void tact_attached_free(struct tact_attached *attached);

TACT_END_DECLS

#endif
