/* Internals of the evdev device: finding nodes, choosing channels, scaling values. */
#ifndef TACT_DEVICES_EVDEV_INTERNAL_H
#define TACT_DEVICES_EVDEV_INTERNAL_H

#include <libevdev/libevdev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../rt/device.h"
#include "../force/force_internal.h"
#include "../guard/arming_internal.h"
#include "../guard/force_internal.h"

enum { TACT_EVDEV_NODES = 256 }; /* maximum number of nodes that are examined */

/* Criteria that select a device; empty texts match any. */
struct tact_evdev_selector {
    char path[256];
    char name_to_match[128];
    char serial[128];
    char phys[256];
    /* identity of a device that was found, to find the same one again */
    bool has_hardware_identity;
    char name[256];
    char unique_identifier_to_match[128];
    int vendor;
    int product;
};

enum tact_evdev_channel_kind {
    TACT_EVDEV_CENTRED_AXIS,          /* absolute, -1 .. 1 */
    TACT_EVDEV_ONE_SIDED_AXIS,        /* absolute, 0 .. 1 */
    TACT_EVDEV_RELATIVE_DISPLACEMENT, /* relative type that reports a displacement, -1 .. 1 */
    TACT_EVDEV_RELATIVE_INCREMENT,    /* relative, summed up */
    TACT_EVDEV_BUTTON,                /* 0 or 1 */
};

struct tact_evdev_channel {
    char name[TACT_DEVICE_NAME];
    unsigned int type;
    unsigned int code;
    enum tact_evdev_channel_kind kind;
    bool is_axis_inverted;
    bool is_axis_calibrated; /* the calibration has this axis: */
    double span[4];          /* lowest, at rest, highest, half the width of rest [counts] */
};

/* Conversion from raw values of a code to a channel's value. */
struct tact_evdev_range {
    double low;
    double high;
    double rest;                     /* raw value at rest of a centred axis */
    double dead_zone_half_width_raw; /* half the width of the dead zone around rest [raw units] */
    bool raw;                        /* the channel's value is the raw value */
};

struct tact_evdev_layout {
    int count;
    struct tact_evdev_channel channel[TACT_DEVICE_CHANNELS];
    /* dead zone as a fraction of the range; negative: the device's own */
    double dead_zone_fraction_of_range;
    double relative_axis_range;
    bool raw; /* channels have counts */
};

/* An open node. */
struct tact_evdev_source {
    struct libevdev *dev;
    int fd;
    char path[256];
    dev_t rdev; /* device number which, with inode, identifies the node that was opened */
    ino_t inode;
    bool is_clock_monotonic; /* events are stamped by CLOCK_MONOTONIC */
    struct tact_evdev_range range[TACT_DEVICE_CHANNELS];
};

/* Result of a search. */
struct tact_evdev_device_search {
    int matching_device_count;
    int readable_device_count;
    int refused; /* nodes without permission */
    int error;   /* the last negative errno of a node that did not open, or 0 */
};

/* Numbers of the nodes /dev/input/event*, ascending. Not real-time safe. @return their number */
int tact_evdev_list_nodes(int *numbers);

/* Opens a node for reading. Not real-time safe. @retval NULL, *error the negative errno */
struct tact_evdev_source *tact_evdev_node_open(const char *path, int *error);

/* Finds and opens the node that matches the selector. Not real-time safe. @retval NULL if there is
 * none */
struct tact_evdev_source *tact_evdev_find_device(const struct tact_evdev_selector *selector,
                                                 struct tact_evdev_device_search *search);

/* Stores the identity of the device, so that only the same one is found again. */
void tact_evdev_store_identity(struct tact_evdev_selector *selector, const struct libevdev *dev);

/* Whether the node at the source's path is still the one that was opened. */
bool tact_evdev_device_is_present(const struct tact_evdev_source *source);

/* Closes and frees a source; NULL is allowed. */
void tact_evdev_source_free(struct tact_evdev_source *source);

/* Name of an axis or button as a scene has it: "abs_x", "key_0x1f8". */
void tact_evdev_code_name(unsigned int type, unsigned int code, char *name, size_t size);

/* Chooses the channels by the settings. @retval 0, or a negative errno with *err set */
int tact_evdev_choose_channels(const struct tact_device_config *config, const struct libevdev *dev,
                               struct tact_evdev_layout *layout, struct tact_error *err);

/* Computes the range of each channel of the layout from the axes of a source. @retval false if it
 * lacks one of the channels */
bool tact_evdev_compute_channel_ranges(const struct tact_evdev_layout *layout,
                                       struct tact_evdev_source *source);

/* The force outputs of a device. */
struct tact_evdev_force_feedback {
    /* number of force outputs; 0: none, and no other member is set */
    int count;
    int channel[TACT_FORCE_CHANNELS]; /* enum tact_force_channel of each force output */
    struct tact_force_rendering_plan rendering_plan;
    int64_t period_ns;
    bool is_guard_run_as_process;
    struct tact_guard_arming guard_arming;
};

/* Reads the settings, matches them with the device and starts the guard or thread that plays the
 * forces.
 * @retval 0, or a negative errno with *err set */
int tact_evdev_force_open(const struct tact_device_config *config,
                          const struct tact_evdev_source *source,
                          struct tact_evdev_force_feedback *force, struct tact_error *err);

/* Reads the settings only, for a device that is not present. @retval as tact_evdev_force_open() */
int tact_evdev_force_read_settings(const struct tact_device_config *config,
                                   struct tact_evdev_force_feedback *force, struct tact_error *err);

/* Returns TACT_DEVICE_OK, or LOST once the guard has ended; *age: since the force on the device
 * was sent [s], 0 before the first. Real-time safe. */
int tact_evdev_force_device_state(struct tact_evdev_force_feedback *force, int64_t now_ns,
                                  double *age);

/* Sends one value per force output to the guard. No system call. Real-time safe. */
void tact_evdev_force_write(struct tact_evdev_force_feedback *force, const double *out,
                            int64_t now_ns);

/* Reports trips of the guard and failures of forces. Not real-time safe. */
void tact_evdev_force_report(struct tact_evdev_force_feedback *force, const char *name,
                             struct tact_messages messages);

/* Stops all forces; waits about a second for a driver that blocks. */
void tact_evdev_force_close(struct tact_evdev_force_feedback *force, const char *name,
                            struct tact_messages messages);

/* Value of an axis or button for a raw value: clamped, with the dead zone. Real-time safe. */
double tact_evdev_scaled_value(const struct tact_evdev_channel *channel,
                               const struct tact_evdev_range *range, int raw);

#endif
