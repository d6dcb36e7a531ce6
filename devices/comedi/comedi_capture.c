/* Records the raw words of a board to a file. */
#include "devices/comedi/comedi_capture_internal.h"

#include <inttypes.h>
#include "contact/number.h"

enum { QUEUE_ROWS = 8192 }; /* capacity of the queue of rows to be written: 8 s at 1 kHz */

static void write_channel_description(FILE *file, comedi_t *dev,
                                      const struct tact_comedi_channel *c)
{
    static const char *const channel_kind_words[] = {"ai", "di", "counter"};
    fprintf(file, "# channel %s%u@%u %s maxdata %u", channel_kind_words[c->kind], c->channel,
            c->subdevice, c->name, c->maxdata);
    if (c->kind == TACT_COMEDI_ANALOG) {
        const comedi_range *range = comedi_get_range(dev, c->subdevice, c->channel, c->range);
        comedi_polynomial_t volts = c->volts;
        comedi_get_hardcal_converter(dev, c->subdevice, c->channel, c->range, COMEDI_TO_PHYSICAL,
                                     &volts);
        char text[128];
        tact_number_print(text, sizeof text, "from %.17g to %.17g volts %.17g",
                          range ? range->min : 0, range ? range->max : 0, volts.expansion_origin);
        fprintf(file, " range %u %s", c->range, text);
        for (unsigned int i = 0; i <= volts.order && i < TACT_COMEDI_MAX_COEFFICIENTS; i++) {
            tact_number_print(text, sizeof text, "%.17g", volts.coefficients[i]);
            fprintf(file, " %s", text);
        }
    }
    fputc('\n', file);
}

static void write_comedi_capture_header(FILE *file, const struct tact_device_config *config,
                                        comedi_t *dev,
                                        const struct tact_comedi_channel_layout *layout)
{
    char period[32];
    tact_number_print(period, sizeof period, "%.17g", config->period);
    fprintf(file,
            "# tact raw words of a measurement card\n# device %s, period %s\n# driver %s\n"
            "# board %s\n",
            config->name, period, layout->driver, layout->board);
    for (int i = 0; i < layout->input_count; i++) {
        write_channel_description(file, dev, &layout->input[i]);
    }
    fputs(
        "# A row is what the loop read in a tick; -2: for the zero of sensors, -1: at the\n"
        "# opening. error: errno, 19 while the board is gone. held: what keeps the outputs back,\n"
        "# the guard (1 stale, 2 gone), +4 it was rearmed, +8 they could not be written. Of a\n"
        "# stream: before_ns from scan to tick, age_ns of the scan when it was taken, restarts,\n"
        "# new: a scan that was not there in the tick before.\n"
        "# tick,error,held,before_ns,age_ns,restarts,new",
        file);
    for (int i = 0; i < layout->input_count; i++) {
        fprintf(file, ",%s", layout->input[i].name);
    }
    fputc('\n', file);
}

int tact_comedi_capture_open(struct tact_comedi_capture *capture,
                             const struct tact_device_config *config, comedi_t *dev,
                             const struct tact_comedi_channel_layout *layout,
                             struct tact_error *err)
{
    if (!config->record) {
        return 0;
    }
    int rc = tact_capture_open(&capture->capture, config, "csv", "ticks", QUEUE_ROWS,
                               sizeof(struct tact_comedi_recorded_tick), err);
    if (rc) {
        return rc;
    }
    capture->inputs = layout->input_count;
    write_comedi_capture_header(capture->capture.file, config, dev, layout);
    return 0;
}

void tact_comedi_capture_record_row(
    struct tact_comedi_capture *capture, int64_t tick, int error,
    const struct tact_comedi_inhibit_reasons *output_inhibit_reasons,
    const struct tact_comedi_raw_values *raw_tick_values)
{
    struct tact_comedi_recorded_tick *row = tact_capture_reserve_entry(&capture->capture);
    if (row) {
        row->tick = tick;
        row->error = -error;
        row->output_inhibit_reasons = *output_inhibit_reasons;
        row->raw_tick_values = *raw_tick_values;
        tact_ring_commit(capture->capture.ring);
    }
}

static void write_comedi_capture_row(FILE *file, const void *captured_tick, void *inputs)
{
    const struct tact_comedi_recorded_tick *row = captured_tick;
    const struct tact_comedi_raw_values *raw_tick_values = &row->raw_tick_values;
    fprintf(file, "%" PRId64 ",%d,%d,%" PRId64 ",%" PRId64 ",%u,%d", row->tick, row->error,
            row->output_inhibit_reasons.guard + 4 * row->output_inhibit_reasons.was_guard_rearmed +
                8 * row->output_inhibit_reasons.has_output_write_failed,
            raw_tick_values->scan_age_at_tick_start_ns, raw_tick_values->scan_age_ns,
            raw_tick_values->stream_restart_count, raw_tick_values->is_new_scan);
    for (int i = 0; i < *(const int *)inputs; i++) {
        fprintf(file, ",%u", raw_tick_values->raw[i]);
    }
    fputc('\n', file);
}

void tact_comedi_capture_write_queued_rows(struct tact_comedi_capture *capture, const char *name,
                                           struct tact_messages messages)
{
    tact_capture_write_queued_entries(&capture->capture, write_comedi_capture_row, &capture->inputs,
                                      name, messages);
}

void tact_comedi_capture_close(struct tact_comedi_capture *capture, const char *name,
                               struct tact_messages messages)
{
    tact_comedi_capture_write_queued_rows(capture, name, messages);
    tact_capture_close(&capture->capture, name, messages);
}
