/* Opens a board and builds its lists of comedi instructions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "devices/comedi/comedi_internal.h"

/* Index of the instruction that reads or writes the 32 digital channels to which this one belongs;
 * adds it if absent. */
static int append_or_find_bits_instruction(struct tact_comedi_instruction *ops, int *count,
                                           const struct tact_comedi_channel *c)
{
    uint32_t base = c->channel / 32 * 32;
    for (int i = 0; i < *count; i++) {
        if (ops[i].insn == INSN_BITS && ops[i].subdevice == c->subdevice &&
            ops[i].chanspec == CR_PACK(base, 0, 0)) {
            return i;
        }
    }
    if (*count < TACT_COMEDI_MAX_INSTRUCTIONS) {
        ops[*count] = (struct tact_comedi_instruction){.insn = INSN_BITS,
                                                       .words = 2,
                                                       .subdevice = c->subdevice,
                                                       .chanspec = CR_PACK(base, 0, 0),
                                                       .maxdata = UINT32_MAX};
    }
    return (*count)++;
}

static int assemble_instruction_list(struct tact_comedi_instruction *ops,
                                     struct tact_comedi_channel *channels, int n, bool output)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        struct tact_comedi_channel *c = &channels[i];
        if (c->kind == TACT_COMEDI_DIGITAL) {
            c->op = append_or_find_bits_instruction(ops, &count, c);
            c->bit = (int)(c->channel % 32);
            if (output && c->op < TACT_COMEDI_MAX_INSTRUCTIONS) {
                ops[c->op].safe[0] |= 1U << c->bit;
                ops[c->op].safe[1] |= (uint32_t)c->is_digital_channel_active_low << c->bit;
            }
            continue;
        }
        if (c->is_input_read_by_stream) {
            continue;
        }
        c->op = count++;
        if (c->op < TACT_COMEDI_MAX_INSTRUCTIONS) {
            ops[c->op] = (struct tact_comedi_instruction){
                .insn = output ? INSN_WRITE : INSN_READ,
                .words = 1,
                .subdevice = c->subdevice,
                .chanspec = CR_PACK(c->channel, c->range, c->voltage_reference),
                .maxdata = c->maxdata,
                .safe = {output ? tact_comedi_raw(c, 0.0) : 0}};
        }
    }
    return count;
}

int tact_comedi_assemble_instructions(struct tact_comedi_channel_layout *layout)
{
    layout->input_instruction_count =
        assemble_instruction_list(layout->in, layout->input, layout->input_count, false);
    layout->output_instruction_count =
        assemble_instruction_list(layout->out, layout->output, layout->output_count, true);
    return layout->input_instruction_count <= TACT_COMEDI_MAX_INSTRUCTIONS &&
                   layout->output_instruction_count <= TACT_COMEDI_MAX_INSTRUCTIONS
               ? 0
               : -E2BIG;
}

/* Configures bidirectional digital channels as inputs. */
static int configure_digital_inputs(comedi_t *dev, const struct tact_comedi_channel_layout *layout)
{
    for (int i = 0; i < layout->input_count; i++) {
        const struct tact_comedi_channel *c = &layout->input[i];
        if (c->kind == TACT_COMEDI_DIGITAL &&
            comedi_get_subdevice_type(dev, c->subdevice) == COMEDI_SUBD_DIO &&
            comedi_dio_config(dev, c->subdevice, c->channel, COMEDI_INPUT) < 0) {
            return errno ? -errno : -EIO;
        }
    }
    return 0;
}

static int set_up_board(struct tact_comedi_board *board,
                        const struct tact_comedi_channel_layout *layout, bool outputs)
{
    errno = 0;
    board->dev = comedi_open(layout->path);
    if (!board->dev) {
        return errno ? -errno : -ENODEV;
    }
    if (strcmp(comedi_get_driver_name(board->dev), layout->driver) != 0 ||
        strcmp(comedi_get_board_name(board->dev), layout->board) != 0) {
        return -ENXIO;
    }
    tact_comedi_instruction_list_prepare(&board->in, layout->in, layout->input_instruction_count);
    tact_comedi_instruction_list_prepare(&board->out, layout->out,
                                         layout->output_instruction_count);
    int rc = configure_digital_inputs(board->dev, layout);
    if (rc == 0 && outputs) {
        rc = tact_comedi_claim_outputs(board->dev, &board->out);
    }
    return rc;
}

struct tact_comedi_board *tact_comedi_board_open(const struct tact_comedi_channel_layout *layout,
                                                 bool outputs, int *error)
{
    struct tact_comedi_board *board = calloc(1, sizeof *board);
    *error = board ? set_up_board(board, layout, outputs) : -ENOMEM;
    if (*error && board) {
        tact_comedi_board_free(board);
        board = NULL;
    }
    return board;
}

void tact_comedi_board_free(struct tact_comedi_board *board)
{
    if (!board) {
        return;
    }
    if (board->dev) {
        if (board->out.count > 0) {
            tact_comedi_instruction_list_write_zeros(board->dev, &board->out);
        }
        comedi_close(board->dev);
    }
    free(board);
}
