/*
 * Raw words of a board, recorded to a file along with the session and played back.
 *
 * The file is a comma-separated table of numbers, one row per tick, after comments that describe
 * the board, its channels and their conversion to volts.
 */
#ifndef TACT_DEVICES_COMEDI_CAPTURE_INTERNAL_H
#define TACT_DEVICES_COMEDI_CAPTURE_INTERNAL_H

#include <comedilib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../common/capture_internal.h"
#include "comedi_internal.h"

/* Tick numbers of readings before the first tick: for the tare of sensors, and at the opening. */
enum { TACT_COMEDI_TARE = -2, TACT_COMEDI_OPENED = -1 };

/* Raw values read from the board, in the tick or by a stream. */
struct tact_comedi_raw_values {
    /* age of a stream's scan at the start of the tick; without a stream 0 */
    int64_t scan_age_at_tick_start_ns;
    /* age of a stream's scan when the tick read it; without a stream 0 */
    int64_t scan_age_ns;
    uint32_t stream_restart_count;      /* number of restarts of the stream so far */
    bool is_new_scan;                   /* the scan is new in this tick */
    lsampl_t raw[TACT_DEVICE_CHANNELS]; /* raw value of each input; 0 or 1 for a digital one */
};

/* Reasons to inhibit the outputs, in addition to faults of the inputs. */
struct tact_comedi_inhibit_reasons {
    int guard;                    /* state of the guard, enum tact_device_state */
    bool was_guard_rearmed;       /* the guard was armed again in this tick */
    bool has_output_write_failed; /* the outputs could not be written */
};

/* What a recording has of one tick. */
struct tact_comedi_recorded_tick {
    int64_t tick;
    /* positive errno if the board could not be read, and there are no raw values; else 0 */
    int error;
    struct tact_comedi_inhibit_reasons output_inhibit_reasons;
    struct tact_comedi_raw_values raw_tick_values;
};

/* A recording of raw values that is being written; all zero: none. */
struct tact_comedi_capture {
    struct tact_capture_file capture;
    int inputs;
};

/* Creates config->record/NAME.csv with a description of the board; does nothing if config->record
 * is NULL. @retval 0, or a negative errno with *err set */
int tact_comedi_capture_open(struct tact_comedi_capture *capture,
                             const struct tact_device_config *config, comedi_t *dev,
                             const struct tact_comedi_channel_layout *layout,
                             struct tact_error *err);

/* Queues the raw values of a tick for the file; error: 0 or a negative errno of reading. Real-time
 * safe. */
void tact_comedi_capture_record_row(struct tact_comedi_capture *capture, int64_t tick, int error,
                                    const struct tact_comedi_inhibit_reasons *held,
                                    const struct tact_comedi_raw_values *raw_tick_values);

/* Writes the queued rows to the file; reports lost rows once. Not real-time safe. */
void tact_comedi_capture_write_queued_rows(struct tact_comedi_capture *capture, const char *name,
                                           struct tact_messages messages);

/* Writes the remaining rows and closes the file. */
void tact_comedi_capture_close(struct tact_comedi_capture *capture, const char *name,
                               struct tact_messages messages);

/* A channel as it was recorded. */
struct tact_comedi_recorded_channel {
    enum tact_comedi_channel_kind kind;
    unsigned int subdevice;
    unsigned int channel;
    lsampl_t maxdata;
    unsigned int range;
    double low; /* lower end of the range [V] */
    double high;
    comedi_polynomial_t volts; /* polynomial from raw values to volts */
};

/* A recording of raw values that is played back. */
struct tact_comedi_playback {
    char driver[COMEDI_NAMELEN];
    char board[COMEDI_NAMELEN];
    double period; /* period of the recorded session [s] */
    int channels;
    struct tact_comedi_recorded_channel channel[TACT_DEVICE_CHANNELS];
    size_t rows;
    size_t next; /* index of the next row */
    struct tact_comedi_playback_row *row;
    lsampl_t *raw; /* raw values [rows][channels] */
};

/* Reads a recording from a file. *play must be closed in any case.
 * @retval 0, or a negative errno with *err set: file and line */
int tact_comedi_playback_open(const char *path, struct tact_comedi_playback *playback,
                              struct tact_error *err);
void tact_comedi_playback_close(struct tact_comedi_playback *playback);

/* Gets the next row of a recording if it was read before the first tick (tick TACT_COMEDI_TARE or
 * TACT_COMEDI_OPENED); inputs select their columns by layout->input[].recording_column.
 * @retval 0, the negative errno of the row, or -ENODATA: the next row has another tick number */
int tact_comedi_playback_read_row_before_ticks(struct tact_comedi_playback *playback,
                                               const struct tact_comedi_channel_layout *layout,
                                               int64_t tick,
                                               struct tact_comedi_raw_values *raw_tick_values);

/* Gets the row of a recording for a time [s]; if an earlier row is used again, its age grows.
 * Real-time safe. Returns whether the recording has ended. */
bool tact_comedi_playback_tick_at_time(struct tact_comedi_playback *playback,
                                       const struct tact_comedi_channel_layout *layout, double t,
                                       struct tact_comedi_recorded_tick *row);

#endif
