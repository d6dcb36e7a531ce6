/* Streaming analog input: a thread reads the board's buffer, the loop reads the latest scan. */
#ifndef TACT_DEVICES_COMEDI_STREAM_INTERNAL_H
#define TACT_DEVICES_COMEDI_STREAM_INTERNAL_H

#include "comedi_internal.h"

/* A scan: one value of each streamed input, in the order of the layout. */
struct tact_comedi_scan {
    int64_t stamp_ns;              /* time at which the scan was read, CLOCK_MONOTONIC */
    uint32_t stream_restart_count; /* number of restarts of the stream until then */
    lsampl_t raw[TACT_DEVICE_CHANNELS];
};

struct tact_comedi_stream;

/* Reads the settings stream and stream_timeout: marks the inputs that are streamed and their index
 * in a scan; dev: NULL for a recording. @retval 0, or a negative errno with *err set */
int tact_comedi_stream_read_settings(const struct tact_device_config *config, comedi_t *dev,
                                     struct tact_comedi_channel_layout *layout,
                                     struct tact_error *err);

/* Opens the board once more, starts the command and the thread, and waits for the first scan. The
 * layout must outlive it. *rate: actual scans per second. Not real-time safe.
 * @retval 0, or a negative errno with *err set */
int tact_comedi_stream_start(const struct tact_comedi_channel_layout *layout,
                             struct tact_comedi_stream **out, double *rate, struct tact_error *err);

/* The latest complete scan; *is_new_scan: whether it is new. Real-time safe, without a system
 * call. */
const struct tact_comedi_scan *tact_comedi_stream_latest_scan(struct tact_comedi_stream *stream,
                                                              int *is_new_scan);

/* Whether the stream has found that the board is gone. Real-time safe. */
bool tact_comedi_stream_board_is_gone(const struct tact_comedi_stream *stream);

/* For the monitor thread: number of restarts of the stream, and the reason of the last one
 * (negative errno). */
uint32_t tact_comedi_stream_restart_count(const struct tact_comedi_stream *stream, int *error);

/* Ends the stream's thread and its scans; NULL is allowed. Not real-time safe. */
void tact_comedi_stream_stop(struct tact_comedi_stream *stream);

#endif
