/* Keeps the raw words of a board in a file. */
#include "devices/comedi/comedi_tape_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "contact/number.h"
#include "devices/common/tape_internal.h"

enum { KEPT = 8192 }; /* rows that may wait for the disk: 8 s at 1 kHz */

static void write_channel(FILE *file, comedi_t *dev, const struct tact_comedi_channel *c)
{
    static const char *const words[] = {"ai", "di", "counter"};
    fprintf(file, "# channel %s%u@%u %s maxdata %u", words[c->kind], c->channel, c->subdevice,
            c->name, c->maxdata);
    if (c->kind == TACT_COMEDI_ANALOG) {
        const comedi_range *range = comedi_get_range(dev, c->subdevice, c->channel, c->range);
        comedi_polynomial_t volts = c->volts;
        comedi_get_hardcal_converter(dev, c->subdevice, c->channel, c->range, COMEDI_TO_PHYSICAL,
                                     &volts);
        char text[128];
        tact_number_print(text, sizeof text, "from %.17g to %.17g volts %.17g",
                          range ? range->min : 0, range ? range->max : 0, volts.expansion_origin);
        fprintf(file, " range %u %s", c->range, text);
        for (unsigned int i = 0; i <= volts.order && i < TACT_COMEDI_TERMS; i++) {
            tact_number_print(text, sizeof text, "%.17g", volts.coefficients[i]);
            fprintf(file, " %s", text);
        }
    }
    fputc('\n', file);
}

static void write_head(FILE *file, const struct tact_device_config *config, comedi_t *dev,
                       const struct tact_comedi_layout *layout)
{
    char period[32];
    tact_number_print(period, sizeof period, "%.17g", config->period);
    fprintf(file,
            "# tact raw words of a measurement card\n# device %s, period %s\n# driver %s\n"
            "# board %s\n",
            config->name, period, layout->driver, layout->board);
    for (int i = 0; i < layout->input_count; i++) {
        write_channel(file, dev, &layout->input[i]);
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

int tact_comedi_tape_open(struct tact_comedi_tape *tape, const struct tact_device_config *config,
                          comedi_t *dev, const struct tact_comedi_layout *layout,
                          struct tact_error *err)
{
    if (!config->record) {
        return 0;
    }
    int rc = tact_ring_create(&tape->ring, KEPT, sizeof(struct tact_comedi_row), 0);
    if (rc) {
        return tact_error_set(err, rc, "out of memory");
    }
    tape->inputs = layout->input_count;
    rc = tact_tape_create(config, "csv", tape->path, sizeof tape->path, &tape->file, err);
    if (rc) {
        tact_ring_free(tape->ring);
        tape->ring = NULL;
        return rc;
    }
    write_head(tape->file, config, dev, layout);
    return 0;
}

void tact_comedi_tape_put(struct tact_comedi_tape *tape, int64_t tick, int error,
                          const struct tact_comedi_held *held,
                          const struct tact_comedi_words *words)
{
    struct tact_comedi_row *row = tape->ring ? tact_ring_reserve(tape->ring) : NULL;
    if (row) {
        row->tick = tick;
        row->error = -error;
        row->held = *held;
        row->words = *words;
        tact_ring_commit(tape->ring);
    }
}

static void write_row(FILE *file, const struct tact_comedi_row *row, int inputs)
{
    const struct tact_comedi_words *words = &row->words;
    fprintf(file, "%" PRId64 ",%d,%d,%" PRId64 ",%" PRId64 ",%u,%d", row->tick, row->error,
            row->held.guard + 4 * row->held.rearmed + 8 * row->held.unwritten, words->before_ns,
            words->age_ns, words->lost, words->renewed);
    for (int i = 0; i < inputs; i++) {
        fprintf(file, ",%u", words->raw[i]);
    }
    fputc('\n', file);
}

void tact_comedi_tape_drain(struct tact_comedi_tape *tape, const char *name,
                            struct tact_messages messages)
{
    const struct tact_comedi_row *row;
    if (!tape->file) {
        return;
    }
    while ((row = tact_ring_peek(tape->ring))) {
        write_row(tape->file, row, tape->inputs);
        tact_ring_release(tape->ring);
    }
    fflush(tape->file);
    uint64_t overruns = tact_ring_overruns(tape->ring);
    bool refused = ferror(tape->file) && !tape->failed;
    if (overruns != tape->overruns || refused) {
        tact_message(messages, TACT_MESSAGE_ERROR, "%s: %s: %" PRIu64 " ticks could not be kept%s",
                     name, tape->path, overruns,
                     refused ? ", and the disk refuses what is written" : "");
        tape->overruns = overruns;
        tape->failed = tape->failed || refused;
    }
}

void tact_comedi_tape_close(struct tact_comedi_tape *tape, const char *name,
                            struct tact_messages messages)
{
    if (!tape->file) {
        return;
    }
    tact_comedi_tape_drain(tape, name, messages);
    if (fclose(tape->file) && !tape->failed) {
        tact_message(messages, TACT_MESSAGE_ERROR, "%s: %s: the disk refuses what is written", name,
                     tape->path);
    }
    tact_ring_free(tape->ring);
    tape->file = NULL;
    tape->ring = NULL;
}
