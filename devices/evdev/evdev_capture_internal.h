/*
 * Raw events of an input device, recorded to a file along with the session and played back.
 *
 * The file is a recording of evemu (package evemu-tools: evemu-play, evemu-describe; umockdev reads
 * it too). Additions of tact are comments: the tick of the loop in which each event was read, when
 * the device was gone, and the times of the ticks.
 */
#ifndef TACT_DEVICES_EVDEV_CAPTURE_INTERNAL_H
#define TACT_DEVICES_EVDEV_CAPTURE_INTERNAL_H

#include <libevdev/libevdev.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../common/capture_internal.h"

/* Types of entries that are marks between the events; their code is 0. */
enum { TACT_CAPTURE_LOST = 0xfff0, TACT_CAPTURE_BACK, TACT_CAPTURE_START };

/* A capture that is being written; all zero: none. */
struct tact_evdev_capture {
    struct tact_capture_file capture;
    bool is_start_mark_queued;
};

/* Creates config->record/NAME.evemu with the description and state of the device; does nothing if
 * config->record is NULL. @retval 0, or a negative errno with *err set */
int tact_evdev_capture_open(struct tact_evdev_capture *capture,
                            const struct tact_device_config *config, const struct libevdev *dev,
                            bool is_clock_monotonic, struct tact_error *err);

/* Queue for the file an event that the loop read in a tick, or a mark of a lost or returned
 * device. Real-time safe. */
void tact_evdev_capture_add_event(struct tact_evdev_capture *capture, uint64_t tick,
                                  const struct input_event *event);
void tact_evdev_capture_add_connection_mark(struct tact_evdev_capture *capture, uint64_t tick,
                                            int connection_mark_code, int64_t now_ns);

/* Queues the return of a lost device, and its whole state. Real-time safe. */
void tact_evdev_capture_add_full_state(struct tact_evdev_capture *capture, uint64_t tick,
                                       const struct libevdev *dev, int64_t now_ns);

/* Writes the queued entries to the file; reports lost entries once. Not real-time safe. */
void tact_evdev_capture_write_queued_events(struct tact_evdev_capture *capture, const char *name,
                                            struct tact_messages messages);

/* Writes the remaining entries and the last tick, and closes the file. */
void tact_evdev_capture_close(struct tact_evdev_capture *capture, uint64_t tick, const char *name,
                              struct tact_messages messages);

/* An event or mark of a recording. */
struct tact_evdev_recorded_event {
    double time; /* time of the recorded session at which the event is due [s] */
    int64_t
        recorded_event_time_ns; /* time of the event on the recording's clock; 0: current time */
    uint16_t type;
    uint16_t code;
    int32_t value;
};

/* A capture that is played back. */
struct tact_evdev_playback {
    struct libevdev *dev; /* the recorded device with its initial state; without a node */
    bool is_clock_monotonic;
    struct tact_evdev_recorded_event *event;
    size_t count;
    size_t next;
    double end;       /* end of the recording [s] */
    int64_t start_ns; /* time of tick 0 on the recording's clock */
    bool is_recorded_device_gone;
    bool reported[ABS_CNT];                /* axes whose initial state is among the events */
    char axes_without_start_position[256]; /* names of axes whose initial position the file does not
                                            * state
                                            */
};

/* Reads a capture. *play must be closed in any case.
 * @retval 0, or a negative errno with *err set: file and line */
int tact_evdev_playback_open(const char *path, struct tact_evdev_playback *playback,
                             struct tact_error *err);
void tact_evdev_playback_close(struct tact_evdev_playback *playback);

#endif
