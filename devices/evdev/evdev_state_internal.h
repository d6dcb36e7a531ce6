/* An open evdev device, shared by loop, monitor and playback. */
#ifndef TACT_DEVICES_EVDEV_STATE_INTERNAL_H
#define TACT_DEVICES_EVDEV_STATE_INTERNAL_H

#include <stdatomic.h>
#include "evdev_internal.h"
#include "evdev_capture_internal.h"
#include "../common/monitor_internal.h"

enum { TACT_EVDEV_NONE = 0xff }; /* index that means: an event code has no channel */

/* The loop owns `active_source`, the monitor any other source. A source moves in one direction:
 * reopened_source (monitor to loop), active, lost_source (loop to monitor); no second one is opened
 * before the first has returned, so that no slot is ever occupied. */
struct tact_evdev_device {
    struct tact_evdev_layout layout;
    uint8_t channel_of_absolute_axis_code[ABS_CNT];
    uint8_t channel_of_relative_axis_code[REL_CNT];
    uint8_t channel_of_key_code[KEY_CNT];
    int64_t timeout_ns;
    struct tact_evdev_playback *playback; /* a recording instead of a device, or NULL */
    /* members used by the loop: */
    struct tact_evdev_source *active_source; /* NULL while lost */
    uint64_t tick;
    /* events were lost (SYN_DROPPED), and libevdev reports the changes of state */
    bool is_resyncing_after_event_loss;
    int64_t stamp_ns;
    int64_t last_event_time_ns[TACT_DEVICE_CHANNELS]; /* stamp of the last event of each channel */
    double value[TACT_DEVICE_CHANNELS];
    struct tact_evdev_force_feedback force;
    struct tact_evdev_capture capture;
    /* exchanged between the loop and the monitor */
    _Atomic(struct tact_evdev_source *) reopened_source;
    _Atomic(struct tact_evdev_source *) lost_source;
    atomic_bool is_node_gone;                   /* the node of the active source is gone */
    atomic_uint_fast64_t kernel_overflow_count; /* number of overflows of the kernel's buffer */
    /* members used by the monitor thread: */
    char name[TACT_DEVICE_NAME];
    struct tact_evdev_selector selector;
    struct tact_messages messages;
    const struct tact_evdev_source *source_checked_by_monitor; /* source of the loop, or NULL */
    uint_fast64_t reported_overflow_count;
    struct tact_monitor_thread monitor;
};

/* Device operations of real devices: read, write, monitor, close. */
extern const struct tact_device_ops tact_evdev_ops;
void tact_evdev_monitor_device(void *data);

/* Device operations of recordings. */
extern const struct tact_device_ops tact_evdev_playback_ops;

/* Copies the state of a device that was just opened. Real-time safe. */
void tact_evdev_update_state(struct tact_evdev_device *self, int64_t now_ns);

/* Applies an event to the channel of its code; stamp_ns: time of the event. Real-time safe. */
void tact_evdev_handle_event(struct tact_evdev_device *self, const struct input_event *event,
                             int64_t stamp_ns);

/* Releases all buttons and displacements; axes keep their values. Real-time safe. */
void tact_evdev_release_buttons(struct tact_evdev_device *self);

/* Gets the input values of this tick. Real-time safe. */
void tact_evdev_get_inputs(struct tact_evdev_device *self, int64_t now_ns,
                           struct tact_device_input *in);

#endif
