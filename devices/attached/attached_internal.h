/* Internals of the survey of attached devices. */
#ifndef TACT_DEVICES_ATTACHED_INTERNAL_H
#define TACT_DEVICES_ATTACHED_INTERNAL_H

#include <libudev.h>
#include <stddef.h>
#include "attached.h"

/* Describes the input device of one node, except for the member `scene`. udev: may be NULL.
 * @retval false if the node is gone */
bool tact_attached_read_input(struct udev *udev, int number, struct tact_attached_input *input);

/* Describes one board. @retval false if its node is gone */
bool tact_attached_read_board(struct udev *udev, int number, struct tact_attached_board *board);

/* Sets the member `scene` of each input device, with the shortest unique selector. */
void tact_attached_write_input_scene_entries(struct tact_attached_input *input, int count);

/* Explains why a node could not be opened or, with what: "forces", not be written: sets why, fix
 * and rule. rule: condition of a udev rule that matches this device only, or "";
 * is_open_to_user_at_seat: udev already gives the user at the machine access to the node. */
void tact_attached_explain_access(const char *path, int error, const char *what, const char *rule,
                                  bool is_open_to_user_at_seat,
                                  struct tact_attached_access *access);

/* Appends to the text in a buffer of that size, truncating. */
void tact_attached_append_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
