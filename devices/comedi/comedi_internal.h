/* Internals of the comedi device: settings, boards, outputs, conversion, faults. */
#ifndef TACT_DEVICES_COMEDI_INTERNAL_H
#define TACT_DEVICES_COMEDI_INTERNAL_H

#include <comedilib.h>
#include <stdbool.h>
#include <stdint.h>
#include "../../rt/device.h"
#include "../guard/comedi_output_internal.h"
#include "wrench_internal.h"

#define TACT_COMEDI_MAX_COEFFICIENTS COMEDI_MAX_NUM_POLYNOMIAL_COEFFICIENTS

enum tact_comedi_channel_kind { TACT_COMEDI_ANALOG, TACT_COMEDI_DIGITAL, TACT_COMEDI_COUNTER };

struct tact_comedi_channel {
    char name[TACT_DEVICE_NAME];
    char unit[16];
    enum tact_comedi_channel_kind kind;
    unsigned int subdevice;
    unsigned int channel;
    unsigned int range; /* index of the voltage range among those of the subdevice */
    unsigned int voltage_reference;
    lsampl_t maxdata;
    /* polynomial from raw value to V or mA (inputs), or back (outputs) */
    comedi_polynomial_t volts;
    /* polynomial from V to the unit (inputs), or from the unit to V (outputs) */
    double map[TACT_COMEDI_MAX_COEFFICIENTS];
    double low; /* lower limit of an input [unit] */
    double high;
    bool has_scaling_map;               /* the scene or calibration sets a map for this channel */
    bool is_digital_channel_active_low; /* digital channel that is active low */
    bool is_input_read_by_stream; /* the input is read by the stream, not by an instruction in the
                                     tick */
    int index_of_input_in_scan;   /* index of this input in a scan of the stream */
    /* index of the channel's instruction in the list */
    int op;
    int bit;              /* digital channel: its bit in the second data word */
    int recording_column; /* column of this channel in the recording that is played */
};

/* Number of input channels that a stream adds, last of the device: age of the scan [s], number of
 * restarts. */
enum { TACT_COMEDI_STREAM_CHANNELS = 2 };

struct tact_comedi_channel_layout {
    char path[256];
    /* kernel driver of the board that was found; a board with another one is refused later */
    char driver[COMEDI_NAMELEN];
    char board[COMEDI_NAMELEN];
    int input_count;
    int output_count;
    struct tact_comedi_channel input[TACT_DEVICE_CHANNELS];
    struct tact_comedi_channel output[TACT_DEVICE_CHANNELS];
    /* number of force-torque sensors whose gauges are inputs; their channels follow the inputs */
    int wrench_count;
    struct tact_force_torque_sensor wrench[TACT_DEVICE_WRENCHES];
    /* scans of the analog inputs per second [Hz]; 0: they are read in the tick */
    double stream_scan_rate;
    int64_t stream_timeout_ns;   /* age from which a scan is a fault */
    int streamed_input_count;    /* number of inputs in a scan */
    size_t stream_sample_bytes;  /* size of a value in the driver's buffer [B] */
    int input_instruction_count; /* number of instructions that read all inputs */
    struct tact_comedi_instruction in[TACT_COMEDI_MAX_INSTRUCTIONS];
    int output_instruction_count; /* number of instructions that write all outputs */
    struct tact_comedi_instruction out[TACT_COMEDI_MAX_INSTRUCTIONS];
};

struct tact_comedi_playback;

/* Source with which the settings are matched: a board, or a recording of one. */
struct tact_comedi_board_or_recording {
    comedi_t *dev;                               /* NULL: a recording */
    const struct tact_comedi_playback *playback; /* NULL: a board */
    const char *driver;
    const char *board;
};

/* Reads the settings and matches them with the board. With a recording, outputs have only names.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_choose_channels(const struct tact_device_config *config,
                                const struct tact_comedi_board_or_recording *board_or_recording,
                                struct tact_comedi_channel_layout *layout, struct tact_error *err);

/* Location of a channel on a board. The next three functions search in a board or in a recording.
 */
struct tact_comedi_channel_address {
    const char *word; /* the channel as the settings name it: "ai4@0" */
    unsigned int number;
    int subdevice; /* index of the subdevice; negative: the first one of its type */
    int type[2];   /* subdevice types that match, COMEDI_SUBD_... */
    bool output;
};

/* Finds subdevice, number and largest raw value of a channel, whose kind is set.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_locate_channel(const struct tact_device_config *config,
                               const struct tact_comedi_board_or_recording *board_or_recording,
                               const struct tact_comedi_channel_address *board_channel_address,
                               struct tact_comedi_channel *channel, struct tact_error *err);

/* Finds the voltage range [row[0], row[1]] that `setting` asks for; if row is NULL, the first
 * range of a board, or the recorded one. @retval as tact_comedi_locate_channel() */
int tact_comedi_find_range(const struct tact_device_config *config,
                           const struct tact_comedi_board_or_recording *board_or_recording,
                           const char *setting, const double *row,
                           struct tact_comedi_channel *channel, struct tact_error *err);

/* Computes the polynomial between raw values and volts of the range, without soft calibration.
 * @retval 0, or negative if there is none */
int tact_comedi_find_volt_polynomial(
    const struct tact_comedi_board_or_recording *board_or_recording, bool output,
    struct tact_comedi_channel *channel);

/* Reads the settings of force-torque sensors, once the inputs are chosen. @retval as
 * tact_comedi_locate_channel() */
int tact_comedi_read_wrench_settings(const struct tact_device_config *config,
                                     struct tact_comedi_channel_layout *layout,
                                     struct tact_error *err);

/* Number of input channels of the device: inputs of the board, of its sensors and of the stream.
 */
int tact_comedi_input_count(const struct tact_comedi_channel_layout *layout);

/* Builds the two lists of comedi instructions, of inputs and of outputs. @retval 0, or -E2BIG */
int tact_comedi_assemble_instructions(struct tact_comedi_channel_layout *layout);

/* An open board, with the instruction lists of its inputs and outputs. */
struct tact_comedi_board {
    comedi_t *dev;
    struct tact_comedi_instruction_list in;
    struct tact_comedi_instruction_list out;
};

/* Opens the layout's board again and sets up its inputs; claims the outputs if `outputs`. Not
 * real-time safe. @retval NULL, *error a negative errno: -ENXIO if it is another board */
struct tact_comedi_board *tact_comedi_board_open(const struct tact_comedi_channel_layout *layout,
                                                 bool outputs, int *error);

/* Writes safe values unless another process has the outputs, closes and frees; NULL is allowed. */
void tact_comedi_board_free(struct tact_comedi_board *board);

/* Value of an analog input or counter, in its unit. count: unwrapped count of a counter, from
 * tact_comedi_extend_counter(). Real-time safe. */
double tact_comedi_scaled_value(const struct tact_comedi_channel *channel, lsampl_t raw,
                                int64_t count);

/* Raw value of an analog output, rounded; a value that is not finite is taken as 0. Real-time
 * safe. */
lsampl_t tact_comedi_raw(const struct tact_comedi_channel *channel, double value);

/* Unwraps a counter: adds to count the shorter signed difference from raw value `before` to `now`.
 */
int64_t tact_comedi_extend_counter(int64_t count, lsampl_t before, lsampl_t now, lsampl_t maxdata);

enum tact_comedi_reading_fault {
    TACT_COMEDI_READING_GOOD,
    TACT_COMEDI_READING_SATURATED,
    TACT_COMEDI_READING_IMPLAUSIBLE,
    TACT_COMEDI_READING_STUCK,
    TACT_COMEDI_FAULTS
};

/* State of the fault detection of one analog input. */
struct tact_comedi_analog_input_health {
    lsampl_t raw;
    uint32_t saturated; /* ticks in a row */
    uint32_t implausible_tick_count;
    uint32_t unchanged_tick_count;
};

/* Updates the fault detection of an input with its raw value and value in this tick. most: number
 * of saturated ticks in a row that is a fault; still: number of ticks without change that is a
 * fault, 0: never. Real-time safe. @return enum tact_comedi_reading_fault; *usable: false if the
 * value should not be used, fault or not */
int tact_comedi_check_analog_reading(struct tact_comedi_analog_input_health *analog_input_health,
                                     const struct tact_comedi_channel *channel, lsampl_t raw,
                                     double value, uint32_t most, uint32_t stuck_tick_limit,
                                     bool *is_analog_reading_usable);

/* Name of an input's fault: "saturated", "outside its limits", "stuck". */
const char *tact_comedi_fault_name(int fault);

#endif
