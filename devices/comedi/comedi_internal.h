/** Internals of the comedi device: settings, boards, outputs, conversion, faults. */
#ifndef TACT_DEVICES_COMEDI_INTERNAL_H
#define TACT_DEVICES_COMEDI_INTERNAL_H

#include <comedilib.h>
#include <stdbool.h>
#include <stdint.h>
#include "../../rt/device.h"
#include "../guard/comedi_output_internal.h"
#include "wrench_internal.h"

#define TACT_COMEDI_MAX_COEFFICIENTS COMEDI_MAX_NUM_POLYNOMIAL_COEFFICIENTS

enum tact_comedi_kind { TACT_COMEDI_ANALOG, TACT_COMEDI_DIGITAL, TACT_COMEDI_COUNTER };

struct tact_comedi_channel {
    char name[TACT_DEVICE_NAME];
    char unit[16];
    enum tact_comedi_kind kind;
    unsigned int subdevice;
    unsigned int channel;
    unsigned int range; /* index of the subdevice's */
    unsigned int voltage_reference;
    lsampl_t maxdata;
    comedi_polynomial_t volts;                /* raw to V or mA (inputs), back (outputs) */
    double map[TACT_COMEDI_MAX_COEFFICIENTS]; /* V to the unit (inputs), the unit to V (outputs) */
    double low;                               /* lower limit of an input [unit] */
    double high;
    bool mapped;            /* a map was set */
    bool is_active_low;     /* digital: active low */
    bool is_read_by_stream; /* read by the stream, not by the list */
    int scan;               /* index of this input in a scan of the stream */
    /* index in the list of instructions */
    int op;
    int bit;             /* digital: of the second word */
    int captured_column; /* column of the recording */
};

/* Channels that a stream adds, the last of the device: age of the scan [s], number of restarts. */
enum { TACT_COMEDI_STREAM_CHANNELS = 2 };

struct tact_comedi_layout {
    char path[256];
    char driver[COMEDI_NAMELEN]; /* driver of the board that was found: another one is refused */
    char board[COMEDI_NAMELEN];
    int input_count;
    int output_count;
    struct tact_comedi_channel input[TACT_DEVICE_CHANNELS];
    struct tact_comedi_channel output[TACT_DEVICE_CHANNELS];
    int wrench_count; /* sensors whose gauges are inputs; their channels follow the inputs */
    struct tact_wrench wrench[TACT_DEVICE_WRENCHES];
    double stream;               /* [Hz] of analog inputs; 0: read in the tick */
    int64_t stream_timeout_ns;   /* age of a scan that is a fault */
    int streamed_input_count;    /* inputs in a scan */
    size_t stream_sample_bytes;  /* size of a value in the driver's buffer [B] */
    int input_instruction_count; /* all inputs: one list of instructions */
    struct tact_comedi_instruction in[TACT_COMEDI_MAX_INSTRUCTIONS];
    int output_instruction_count; /* all outputs: another */
    struct tact_comedi_instruction out[TACT_COMEDI_MAX_INSTRUCTIONS];
};

struct tact_comedi_play;

/** What the settings are matched with: a board, or a recording of one. */
struct tact_comedi_source {
    comedi_t *dev;                       /* NULL: a recording */
    const struct tact_comedi_play *play; /* NULL: a board */
    const char *driver;
    const char *board;
};

/** Reads the settings and matches them with the board. Outputs of a recording are names only.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_choose_channels(const struct tact_device_config *config,
                                const struct tact_comedi_source *known,
                                struct tact_comedi_layout *layout, struct tact_error *err);

/** Location of a channel; the next three functions differ for board and recording. */
struct tact_comedi_channel_place {
    const char *word; /* as in the settings: "ai4@0" */
    unsigned int number;
    int subdevice; /* negative: the first of its kind */
    int type[2];   /* COMEDI_SUBD_ of that kind */
    bool output;
};

/** Finds subdevice, number and maxdata of the channel; its kind is known.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_locate_channel(const struct tact_device_config *config,
                               const struct tact_comedi_source *known,
                               const struct tact_comedi_channel_place *where,
                               struct tact_comedi_channel *channel, struct tact_error *err);

/** Finds the range [row[0], row[1]] of `setting`, if row is NULL the first one, of a recording its
 * own. @retval as above */
int tact_comedi_find_range(const struct tact_device_config *config,
                           const struct tact_comedi_source *known, const char *setting,
                           const double *row, struct tact_comedi_channel *channel,
                           struct tact_error *err);

/** The polynomial between raw values and volts of the range, without soft calibration.
 * @retval 0, or negative if there is none */
int tact_comedi_volt_polynomial(const struct tact_comedi_source *known, bool output,
                                struct tact_comedi_channel *channel);

/** Reads the settings of force-torque sensors, once the inputs are chosen. @retval as above */
int tact_comedi_read_wrench_settings(const struct tact_device_config *config,
                                     struct tact_comedi_layout *layout, struct tact_error *err);

/** Number of inputs of the device: the board's, those of its sensors, those of the stream. */
int tact_comedi_input_count(const struct tact_comedi_layout *layout);

/** Builds the two lists of instructions. @retval 0, or -E2BIG */
int tact_comedi_assemble_instructions(struct tact_comedi_layout *layout);

/** An open board, with its list of inputs. */
struct tact_comedi_board {
    comedi_t *dev;
    struct tact_comedi_instruction_list in;
    struct tact_comedi_instruction_list out;
};

/** Opens the layout's board again and sets up its inputs; claims the outputs if `outputs`. Not
 * real-time safe. @retval NULL, *error a negative errno: -ENXIO if it is another board */
struct tact_comedi_board *tact_comedi_board_open(const struct tact_comedi_layout *layout,
                                                 bool outputs, int *error);

/** Writes safe values unless another process has the outputs, closes and frees; NULL is allowed. */
void tact_comedi_board_free(struct tact_comedi_board *board);

/** Value of an analog input or counter, in its unit. count: of a counter, from
 * tact_comedi_extend_counter(). Real-time safe. */
double tact_comedi_value(const struct tact_comedi_channel *channel, lsampl_t raw, int64_t count);

/** Raw value of an analog output, rounded; for a value that is not finite, that of 0. Real-time
 * safe. */
lsampl_t tact_comedi_raw(const struct tact_comedi_channel *channel, double value);

/** Extends a counter over its wrap: count + the shorter way from raw `before` to raw `now`. */
int64_t tact_comedi_extend_counter(int64_t count, lsampl_t before, lsampl_t now, lsampl_t maxdata);

enum tact_comedi_fault {
    TACT_COMEDI_GOOD,
    TACT_COMEDI_SATURATED,
    TACT_COMEDI_IMPLAUSIBLE,
    TACT_COMEDI_STUCK,
    TACT_COMEDI_FAULTS
};

/** State of the fault detection of one analog input. */
struct tact_comedi_health {
    lsampl_t raw;
    uint32_t saturated; /* ticks in a row */
    uint32_t implausible_tick_count;
    uint32_t same;
};

/** Updates it with the raw value and the value of this tick. most: saturated ticks in a row that
 * are a fault; still: ticks without any change that are one, 0: never. Real-time safe.
 * @return enum tact_comedi_fault; *usable: false if the value should not be used, fault or not */
int tact_comedi_check_reading(struct tact_comedi_health *health,
                              const struct tact_comedi_channel *channel, lsampl_t raw, double value,
                              uint32_t most, uint32_t still, bool *usable);

/** "saturated", "outside its limits", "stuck". */
const char *tact_comedi_fault_name(int fault);

#endif
