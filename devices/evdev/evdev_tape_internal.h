/**
 * Raw events of an input device, kept in a file beside the session and played from one.
 *
 * The file is a recording of evemu (package evemu-tools: evemu-play, evemu-describe; umockdev and
 * kernel developers read it too). What tact adds stands in comments: in which tick of the loop each
 * event was read, when the device was gone, and when the loop was where.
 */
#ifndef TACT_DEVICES_EVDEV_TAPE_INTERNAL_H
#define TACT_DEVICES_EVDEV_TAPE_INTERNAL_H

#include <libevdev/libevdev.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../common/tape_internal.h"

/** Marks that stand between the events, as their type; code 0. */
enum { TACT_TAPE_LOST = 0xfff0, TACT_TAPE_BACK, TACT_TAPE_START };

/** A tape that is being written; all zero: none. */
struct tact_evdev_tape {
    struct tact_tape tape;
    bool started;
};

/** Begins config->record/NAME.evemu with what the device is and its state; does nothing where
 *  config->record is NULL. @retval 0, or a negative errno with *err filled */
int tact_evdev_tape_open(struct tact_evdev_tape *tape, const struct tact_device_config *config,
                         const struct libevdev *dev, bool monotonic, struct tact_error *err);

/** Keeps an event, or a mark, of a tick. Real-time safe. */
void tact_evdev_tape_put(struct tact_evdev_tape *tape, uint64_t tick,
                         const struct input_event *event);
void tact_evdev_tape_mark(struct tact_evdev_tape *tape, uint64_t tick, int mark, int64_t now_ns);

/** Keeps that the device came back, and the state that it was found in. Real-time safe. */
void tact_evdev_tape_state(struct tact_evdev_tape *tape, uint64_t tick, const struct libevdev *dev,
                           int64_t now_ns);

/** Writes what is kept; reports once what is lost. Not real-time safe. */
void tact_evdev_tape_drain(struct tact_evdev_tape *tape, const char *name,
                           struct tact_messages messages);

/** Writes the rest, ends the file in this tick and closes it. */
void tact_evdev_tape_close(struct tact_evdev_tape *tape, uint64_t tick, const char *name,
                           struct tact_messages messages);

/** An event or mark of a tape. */
struct tact_evdev_taped {
    double time;     /* at which it is due [s] of the recorded session */
    int64_t made_ns; /* by the recording's clock; 0: just now */
    uint16_t type;
    uint16_t code;
    int32_t value;
};

/** A tape that is played. */
struct tact_evdev_play {
    struct libevdev *dev; /* what was recorded, with its first state; no node is behind it */
    bool monotonic;
    struct tact_evdev_taped *event;
    size_t count;
    size_t next;
    double end;       /* [s]; after it the tape is over */
    int64_t start_ns; /* when tick 0 was, by the recording's clock */
    bool gone;
    bool told[ABS_CNT]; /* axes whose first state stands among the events */
    char guessed[256];  /* names of axes of which the file does not say where they were at first */
};

/** Reads a tape. *play is to be closed whatever comes back.
 *  @retval 0, or a negative errno with *err filled: file and line */
int tact_evdev_play_open(const char *path, struct tact_evdev_play *play, struct tact_error *err);
void tact_evdev_play_close(struct tact_evdev_play *play);

#endif
