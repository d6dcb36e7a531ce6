/** Internals of the survey of attached devices. */
#ifndef TACT_DEVICES_ATTACHED_INTERNAL_H
#define TACT_DEVICES_ATTACHED_INTERNAL_H

#include <libudev.h>
#include <stddef.h>
#include "attached.h"

/** Describes one node, without `scene`. udev: may be NULL. @retval false if it is gone */
bool tact_attached_read_input(struct udev *udev, int number, struct tact_attached_input *input);

/** Describes one board. @retval false if it is gone */
bool tact_attached_read_board(struct udev *udev, int number, struct tact_attached_board *board);

/** Writes `scene` of each, with the shortest selector that is unique. */
void tact_attached_scene_inputs(struct tact_attached_input *input, int count);

/** Sets why, fix and rule for a node that could not be opened, or written (what: "forces"). rule:
 * condition of a udev rule that matches this device only, or ""; seated: udev already opens the
 * node to the user at the machine. */
void tact_attached_explain_access(const char *path, int error, const char *what, const char *rule,
                                  bool has_seat_access, struct tact_attached_access *access);

/** Appends to a text of that size, truncating. */
void tact_attached_append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
