/** An open evdev device, as its loop, its watcher and what plays a recording of it share it. */
#ifndef TACT_DEVICES_EVDEV_STATE_INTERNAL_H
#define TACT_DEVICES_EVDEV_STATE_INTERNAL_H

#include <stdatomic.h>
#include "evdev_internal.h"
#include "evdev_tape_internal.h"
#include "../common/watch_internal.h"

enum { TACT_EVDEV_NONE = 0xff }; /* no channel for a code */

/* The loop owns `active`, the watcher what is not handed over. A source goes round in one
 * direction: fresh (watcher to loop), active, retired (loop to watcher); no second one is made
 * before the first has come back, so that no slot is ever taken. */
struct tact_evdev {
    struct tact_evdev_layout layout;
    uint8_t channel_of_abs[ABS_CNT];
    uint8_t channel_of_rel[REL_CNT];
    uint8_t channel_of_key[KEY_CNT];
    int64_t timeout_ns;
    struct tact_evdev_play *play; /* a recording instead of a device, or NULL */
    /* the loop's */
    struct tact_evdev_source *active; /* NULL while lost */
    uint64_t tick;
    bool syncing; /* events were lost, libevdev is telling the difference */
    int64_t stamp_ns;
    int64_t seen_ns[TACT_DEVICE_CHANNELS]; /* stamp of the last event of each */
    double value[TACT_DEVICE_CHANNELS];
    struct tact_evdev_force force;
    struct tact_evdev_tape tape;
    /* between the two */
    _Atomic(struct tact_evdev_source *) fresh;
    _Atomic(struct tact_evdev_source *) retired;
    atomic_bool vanished;      /* the node of the active source is gone */
    atomic_uint_fast64_t lost; /* how often the kernel's buffer ran over */
    /* the watcher's */
    char name[TACT_DEVICE_NAME];
    struct tact_evdev_wanted wanted;
    struct tact_messages messages;
    const struct tact_evdev_source *watched; /* what the loop has, or NULL */
    uint_fast64_t lost_told;
    struct tact_watch watch;
};

/** What real devices do: read, write, watch, close. */
extern const struct tact_device_ops tact_evdev_ops;
void tact_evdev_watch(void *data);

/** What recorded ones do. */
extern const struct tact_device_ops tact_evdev_play_ops;

/** Takes over the state of a device that was opened just now. Real-time safe. */
void tact_evdev_take_state(struct tact_evdev *self, int64_t now_ns);

/** Takes an event that was made at stamp_ns. Real-time safe. */
void tact_evdev_take_event(struct tact_evdev *self, const struct input_event *event,
                           int64_t stamp_ns);

/** Lets go of what must be pressed or pushed; axes are held. Real-time safe. */
void tact_evdev_release(struct tact_evdev *self);

/** Tells the values of this tick. Real-time safe. */
void tact_evdev_fill(struct tact_evdev *self, int64_t now_ns, struct tact_device_input *in);

#endif
