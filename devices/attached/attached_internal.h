/** The parts of the survey of attached devices. */
#ifndef TACT_DEVICES_ATTACHED_INTERNAL_H
#define TACT_DEVICES_ATTACHED_INTERNAL_H

#include <libudev.h>
#include <stddef.h>
#include "attached.h"

/** Tells all of one node but `scene`. udev: may be NULL. @retval false where it is gone */
bool tact_attached_look_input(struct udev *udev, int number, struct tact_attached_input *input);

/** Tells all of one board. @retval false where it is gone */
bool tact_attached_look_board(struct udev *udev, int number, struct tact_attached_board *board);

/** Writes `scene` of each, by the least that tells it from all others. */
void tact_attached_scene_inputs(struct tact_attached_input *input, int count);

/** Fills why, fix and rule for a node that could not be opened, or written (what: "forces").
 *  rule: condition of a udev rule that is true of this device alone, or ""; seated: udev already
 *  opens the node to who sits at the machine. */
void tact_attached_explain(const char *path, int error, const char *what, const char *rule,
                           bool seated, struct tact_attached_access *access);

/** Appends to a text of that size; what does not fit is left out. */
void tact_attached_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
