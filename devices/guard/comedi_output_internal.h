/*
 * Lists of instructions for a board, and all outputs of a board: claim, write, zero. Has no
 * dependencies, so that the guard process can use it.
 */
#ifndef TACT_DEVICES_COMEDI_OUTPUT_INTERNAL_H
#define TACT_DEVICES_COMEDI_OUTPUT_INTERNAL_H

#include <comedilib.h>
#include <stdint.h>

#define TACT_COMEDI_MAX_INSTRUCTIONS 32 /* maximum number of comedi instructions in a list */

/* One instruction. */
struct tact_comedi_instruction {
    uint32_t insn; /* INSN_READ, INSN_WRITE: 1 word, the value; INSN_BITS: 2 words, mask and bits */
    uint32_t words;
    uint32_t subdevice;
    uint32_t chanspec;
    uint32_t maxdata; /* largest raw value of the channel */
    uint32_t safe[2]; /* data words that set the output to zero */
};

struct tact_comedi_instruction_list {
    int count;
    comedi_insnlist list;
    comedi_insn insn[TACT_COMEDI_MAX_INSTRUCTIONS];
    lsampl_t data[TACT_COMEDI_MAX_INSTRUCTIONS][2];
    lsampl_t safe[TACT_COMEDI_MAX_INSTRUCTIONS][2];
};

/* Initialises a list. It has pointers into itself: it must not be moved. */
void tact_comedi_instruction_list_prepare(struct tact_comedi_instruction_list *list,
                                          const struct tact_comedi_instruction *ops, int count);

/* Runs a list of comedi instructions in one system call. Real-time safe.
 * @retval 0, or a negative errno: -ENODEV board gone, -EBUSY or -EACCES another process has a
 *            subdevice */
int tact_comedi_instruction_list_run(comedi_t *dev, struct tact_comedi_instruction_list *list);

/* Writes the safe values in one call, and on failure one by one, so that one failing output does
 * not prevent the others. Real-time safe. @retval 0 all are written @retval as above otherwise */
int tact_comedi_instruction_list_write_zeros(comedi_t *dev,
                                             struct tact_comedi_instruction_list *list);

/* Locks the subdevices of the list, writes the safe values and makes digital channels outputs.
 * @retval 0, or a negative errno: -EBUSY another process has the lock */
int tact_comedi_claim_outputs(comedi_t *dev, struct tact_comedi_instruction_list *list);

#endif
