/**
 * Raw words of a board, kept in a file beside the session and played from one.
 *
 * The file is a table of numbers with commas between them, one row a tick, under comments that say
 * what the board and its channels are: what tells volts from words is taken from there.
 */
#ifndef TACT_DEVICES_COMEDI_TAPE_INTERNAL_H
#define TACT_DEVICES_COMEDI_TAPE_INTERNAL_H

#include <comedilib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../common/tape_internal.h"
#include "comedi_internal.h"

/** Ticks of what is read before the first one: for the zero of sensors, and at the opening. */
enum { TACT_COMEDI_TARE = -2, TACT_COMEDI_OPENED = -1 };

/** All that a reading of the board gave, in whatever way it was read. */
struct tact_comedi_words {
    int64_t before_ns; /* how long before the tick it was made: of a stream; else 0 */
    int64_t age_ns;    /* of a stream's scan when it was taken; else 0 */
    uint32_t lost;     /* how often the stream was started anew */
    bool renewed;      /* not a scan that was there before */
    lsampl_t raw[TACT_DEVICE_CHANNELS]; /* by input; of a digital one its bit */
};

/** What keeps outputs back beside faults of the inputs. */
struct tact_comedi_held {
    int guard;      /* enum tact_device_state, as the guard sees it */
    bool rearmed;   /* in this tick */
    bool unwritten; /* the outputs could not be written */
};

/** A reading of a tick. */
struct tact_comedi_row {
    int64_t tick;
    int error; /* positive errno; then there are no words */
    struct tact_comedi_held held;
    struct tact_comedi_words words;
};

/** A tape that is being written; all zero: none. */
struct tact_comedi_tape {
    struct tact_tape tape;
    int inputs;
};

/** Begins config->record/NAME.csv with what the board is; does nothing where config->record is
 *  NULL. @retval 0, or a negative errno with *err filled */
int tact_comedi_tape_open(struct tact_comedi_tape *tape, const struct tact_device_config *config,
                          comedi_t *dev, const struct tact_comedi_layout *layout,
                          struct tact_error *err);

/** Keeps a reading; error: 0 or a negative errno. Real-time safe. */
void tact_comedi_tape_put(struct tact_comedi_tape *tape, int64_t tick, int error,
                          const struct tact_comedi_held *held,
                          const struct tact_comedi_words *words);

/** Writes what is kept; reports once what is lost. Not real-time safe. */
void tact_comedi_tape_drain(struct tact_comedi_tape *tape, const char *name,
                            struct tact_messages messages);

/** Writes the rest and closes the file. */
void tact_comedi_tape_close(struct tact_comedi_tape *tape, const char *name,
                            struct tact_messages messages);

/** A channel as it was recorded. */
struct tact_comedi_taped {
    enum tact_comedi_kind kind;
    unsigned int subdevice;
    unsigned int channel;
    lsampl_t maxdata;
    unsigned int range;
    double low; /* of the range [V] */
    double high;
    comedi_polynomial_t volts; /* of the range */
};

/** A tape that is played. */
struct tact_comedi_play {
    char driver[COMEDI_NAMELEN];
    char board[COMEDI_NAMELEN];
    double period; /* of the recorded session [s] */
    int channels;
    struct tact_comedi_taped channel[TACT_DEVICE_CHANNELS];
    size_t rows;
    size_t next; /* row */
    struct tact_comedi_taped_row *row;
    lsampl_t *raw; /* rows x channels */
};

/** Reads a tape. *play is to be closed whatever comes back.
 *  @retval 0, or a negative errno with *err filled: file and line */
int tact_comedi_play_open(const char *path, struct tact_comedi_play *play, struct tact_error *err);
void tact_comedi_play_close(struct tact_comedi_play *play);

/** The next row, where it is one of before the first tick (TACT_COMEDI_TARE, TACT_COMEDI_OPENED);
 *  inputs choose their columns by layout->input[].taped.
 *  @retval 0, the negative errno of the row, or -ENODATA: the next row is another */
int tact_comedi_play_before(struct tact_comedi_play *play, const struct tact_comedi_layout *layout,
                            int64_t tick, struct tact_comedi_words *words);

/** What there was at a time [s]; where that was given before, it is older. Real-time safe.
 *  Returns whether the tape is over. */
bool tact_comedi_play_at(struct tact_comedi_play *play, const struct tact_comedi_layout *layout,
                         double t, struct tact_comedi_row *row);

#endif
