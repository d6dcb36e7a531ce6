#include "devices/guard/comedi_output_internal.h"

#include <errno.h>
#include <string.h>

void tact_comedi_instruction_list_prepare(struct tact_comedi_instruction_list *list,
                                          const struct tact_comedi_instruction *ops, int count)
{
    memset(list, 0, sizeof *list);
    list->count = count;
    list->list.n_insns = (unsigned int)count;
    list->list.insns = list->insn;
    for (int i = 0; i < count; i++) {
        list->insn[i] = (comedi_insn){.insn = ops[i].insn,
                                      .n = ops[i].words,
                                      .data = list->data[i],
                                      .subdev = ops[i].subdevice,
                                      .chanspec = ops[i].chanspec};
        memcpy(list->safe[i], ops[i].safe, sizeof list->safe[i]);
        memcpy(list->data[i], ops[i].safe, sizeof list->data[i]);
    }
}

int tact_comedi_instruction_list_run(comedi_t *dev, struct tact_comedi_instruction_list *list)
{
    if (list->count == 0) {
        return 0;
    }
    errno = 0;
    int completed_instruction_count = comedi_do_insnlist(dev, &list->list);
    if (completed_instruction_count == list->count) {
        return 0;
    }
    return errno ? -errno : -EIO;
}

int tact_comedi_instruction_list_write_zeros(comedi_t *dev,
                                             struct tact_comedi_instruction_list *list)
{
    memcpy(list->data, list->safe, sizeof list->data);
    int rc = tact_comedi_instruction_list_run(dev, list);
    if (rc == 0 || rc == -ENODEV) {
        return rc;
    }
    rc = 0;
    for (int i = 0; i < list->count; i++) {
        /* the driver may have overwritten the two data words of an INSN_BITS instruction */
        memcpy(list->data[i], list->safe[i], sizeof list->data[i]);
        errno = 0;
        if (comedi_do_insn(dev, &list->insn[i]) < 0) {
            rc = errno ? -errno : -EIO;
        }
    }
    return rc;
}

static int configure_digital_outputs(comedi_t *dev, const struct tact_comedi_instruction_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const comedi_insn *insn = &list->insn[i];
        if (insn->insn != INSN_BITS ||
            comedi_get_subdevice_type(dev, insn->subdev) != COMEDI_SUBD_DIO) {
            continue;
        }
        for (unsigned int k = 0; k < 32; k++) {
            if ((list->safe[i][0] >> k & 1U) &&
                comedi_dio_config(dev, insn->subdev, CR_CHAN(insn->chanspec) + k, COMEDI_OUTPUT) <
                    0) {
                return errno ? -errno : -EIO;
            }
        }
    }
    return 0;
}

int tact_comedi_claim_outputs(comedi_t *dev, struct tact_comedi_instruction_list *list)
{
    for (int i = 0; i < list->count; i++) {
        int first = 0;
        while (list->insn[first].subdev != list->insn[i].subdev) {
            first++;
        }
        errno = 0; /* a locked subdevice cannot be locked again, not even by its owner */
        if (first == i && comedi_lock(dev, list->insn[i].subdev) < 0) {
            return errno ? -errno : -EIO;
        }
    }
    /* Safe values are written before the pins become outputs, and again after, as some boards reset
     * them. */
    int rc = tact_comedi_instruction_list_write_zeros(dev, list);
    rc = rc ? rc : configure_digital_outputs(dev, list);
    return rc ? rc : tact_comedi_instruction_list_write_zeros(dev, list);
}
