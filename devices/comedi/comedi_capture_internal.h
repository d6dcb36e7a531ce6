/**
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

/** Ticks of readings before the first one: for the zero of sensors, and at the opening. */
enum { TACT_COMEDI_TARE = -2, TACT_COMEDI_OPENED = -1 };

/** The result of reading the board, in the tick or by a stream. */
struct tact_comedi_raw_values {
    int64_t scan_age_before_tick_ns;    /* age of a stream's scan before the tick; else 0 */
    int64_t age_ns;                     /* age of a stream's scan when it was read; else 0 */
    uint32_t lost;                      /* number of restarts of the stream */
    bool is_new_scan;                   /* the scan is new in this tick */
    lsampl_t raw[TACT_DEVICE_CHANNELS]; /* raw value of each input; of a digital one its bit */
};

/** Reasons that inhibit outputs, besides faults of the inputs. */
struct tact_comedi_inhibit_reasons {
    int guard;                    /* enum tact_device_state, from the guard */
    bool was_rearmed;             /* in this tick */
    bool has_output_write_failed; /* the outputs could not be written */
};

/** A reading of a tick. */
struct tact_comedi_row {
    int64_t tick;
    int error; /* positive errno; then there are no words */
    struct tact_comedi_inhibit_reasons held;
    struct tact_comedi_raw_values words;
};

/** A capture that is being written; all zero: none. */
struct tact_comedi_capture {
    struct tact_capture capture;
    int inputs;
};

/** Creates config->record/NAME.csv with a description of the board; does nothing if config->record
 * is NULL. @retval 0, or a negative errno with *err set */
int tact_comedi_capture_open(struct tact_comedi_capture *capture,
                             const struct tact_device_config *config, comedi_t *dev,
                             const struct tact_comedi_layout *layout, struct tact_error *err);

/** Queues a reading; error: 0 or a negative errno. Real-time safe. */
void tact_comedi_capture_record_row(struct tact_comedi_capture *capture, int64_t tick, int error,
                                    const struct tact_comedi_inhibit_reasons *held,
                                    const struct tact_comedi_raw_values *words);

/** Writes the queue; reports losses once. Not real-time safe. */
void tact_comedi_capture_drain(struct tact_comedi_capture *capture, const char *name,
                               struct tact_messages messages);

/** Writes the rest and closes the file. */
void tact_comedi_capture_close(struct tact_comedi_capture *capture, const char *name,
                               struct tact_messages messages);

/** A channel as it was recorded. */
struct tact_comedi_captured {
    enum tact_comedi_kind kind;
    unsigned int subdevice;
    unsigned int channel;
    lsampl_t maxdata;
    unsigned int range;
    double low; /* lower end of the range [V] */
    double high;
    comedi_polynomial_t volts; /* volts of the range */
};

/** A capture that is played back. */
struct tact_comedi_play {
    char driver[COMEDI_NAMELEN];
    char board[COMEDI_NAMELEN];
    double period; /* period of the recorded session [s] */
    int channels;
    struct tact_comedi_captured channel[TACT_DEVICE_CHANNELS];
    size_t rows;
    size_t next; /* row */
    struct tact_comedi_captured_row *row;
    lsampl_t *raw; /* rows x channels */
};

/** Reads a capture. *play must be closed in any case.
 * @retval 0, or a negative errno with *err set: file and line */
int tact_comedi_play_open(const char *path, struct tact_comedi_play *play, struct tact_error *err);
void tact_comedi_play_close(struct tact_comedi_play *play);

/** The next row if it is one before the first tick (TACT_COMEDI_TARE, TACT_COMEDI_OPENED); inputs
 * select their columns by layout->input[].captured.
 * @retval 0, the negative errno of the row, or -ENODATA: the next row is another */
int tact_comedi_play_row_before_ticks(struct tact_comedi_play *play,
                                      const struct tact_comedi_layout *layout, int64_t tick,
                                      struct tact_comedi_raw_values *words);

/** The row of a time [s]; a repeated one is older. Real-time safe. Returns whether the capture has
 * ended. */
bool tact_comedi_play_row_at_time(struct tact_comedi_play *play,
                                  const struct tact_comedi_layout *layout, double t,
                                  struct tact_comedi_row *row);

#endif
