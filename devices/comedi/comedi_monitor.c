/* The monitor thread of a measurement card: searches for a lost board, and reports events. */
#include <errno.h>
#include <string.h>
#include "devices/comedi/comedi_state_internal.h"

enum { POLL_NS = 50000000 }; /* [ns] how often */

static void free_lost_board(struct tact_comedi_device *self)
{
    struct tact_comedi_board *board =
        atomic_exchange_explicit(&self->lost_board, NULL, memory_order_acquire);
    if (board) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: the measurement card %s (%s) was disconnected", self->name,
                     self->layout.path, self->layout.board);
        tact_comedi_board_free(board);
        self->is_board_loss_reported = true;
        self->reported_open_error = -ENODEV;
    }
}

static void search_for_board(struct tact_comedi_device *self)
{
    int error = 0;
    struct tact_comedi_board *board =
        tact_comedi_board_open(&self->layout, !self->guard_arming.guard, &error);
    if (board) {
        tact_message(self->messages, TACT_MESSAGE_INFO,
                     "%s: the measurement card %s (%s) is connected again", self->name,
                     self->layout.path, self->layout.board);
        self->is_board_loss_reported = false;
        atomic_store_explicit(&self->reopened_board, board, memory_order_release);
    } else if (error != self->reported_open_error && error != -ENOENT) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: %s has not returned: %s",
                     self->name, self->layout.path,
                     error == -ENXIO ? "a board of another kind is at this path"
                                     : strerror(-error));
        self->reported_open_error = error;
    }
}

static void report_stream_losses(struct tact_comedi_device *self)
{
    int why = 0;
    uint32_t stream_restart_count =
        self->stream ? tact_comedi_stream_restart_count(self->stream, &why) : 0;
    if (stream_restart_count != self->reported_stream_restart_count) {
        tact_message(
            self->messages, TACT_MESSAGE_WARNING,
            "%s: the stream of analog inputs of %s was lost (%s), %u so far; it is restarted",
            self->name, self->layout.path,
            why == -EPIPE ? "the driver's buffer was full" : strerror(-why), stream_restart_count);
        self->reported_stream_restart_count = stream_restart_count;
    }
}

static void report_input_faults(struct tact_comedi_device *self)
{
    for (int i = 0; i < self->layout.input_count; i++) {
        unsigned int faults =
            atomic_load_explicit(&self->fault_counts_and_kinds[i], memory_order_relaxed);
        if (faults != self->reported_input_fault_bits[i]) {
            char gauge_description_text[160];
            tact_comedi_describe_gauge(self, i, gauge_description_text,
                                       sizeof gauge_description_text);
            tact_message(self->messages, TACT_MESSAGE_WARNING,
                         "%s: input %s is %s%s; the outputs are zero", self->name,
                         self->layout.input[i].name, tact_comedi_fault_name((int)(faults & 3U)),
                         gauge_description_text);
            self->reported_input_fault_bits[i] = faults;
        }
    }
    tact_comedi_report_wrenches(self);
    report_stream_losses(self);
    int error = atomic_exchange_explicit(&self->unreported_read_error, 0, memory_order_relaxed);
    if (error) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: the inputs of %s cannot be read: %s; the outputs are zero", self->name,
                     self->layout.path, strerror(-error));
    }
    error = atomic_exchange_explicit(&self->unreported_write_error, 0, memory_order_relaxed);
    if (error) {
        tact_message(self->messages, TACT_MESSAGE_ERROR,
                     "%s: the outputs of %s cannot be written: %s", self->name, self->layout.path,
                     strerror(-error));
    }
}

static void monitor_board_once(void *data)
{
    struct tact_comedi_device *self = data;
    report_input_faults(self);
    tact_guard_arming_report(&self->guard_arming, self->name, self->messages);
    tact_comedi_capture_write_queued_rows(&self->capture, self->name, self->messages);
    free_lost_board(self);
    if (self->is_board_loss_reported) {
        search_for_board(self);
    }
}

int tact_comedi_start_monitor(struct tact_comedi_device *self)
{
    return tact_monitor_start(&self->board_monitor, "tact-comedi", POLL_NS, monitor_board_once,
                              self);
}
