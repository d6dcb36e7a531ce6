/** Files that keep the raw stream of a device beside a session. */
#ifndef TACT_DEVICES_TAPE_INTERNAL_H
#define TACT_DEVICES_TAPE_INTERNAL_H

#include <stddef.h>
#include <stdio.h>
#include "../../rt/device.h"

/** Makes config->record/NAME.ending, which only its owner can read: what keys a person presses is
 *  nobody else's business. A file that is there already is refused, or with config->replace made
 *  way for the new one; a link, and a file that somebody writes (-EBUSY), are refused in any case.
 *  path[size] receives its name.
 *  @retval 0, -EEXIST, or another negative errno with *err filled */
int tact_tape_create(const struct tact_device_config *config, const char *ending, char *path,
                     size_t size, FILE **file, struct tact_error *err);

#endif
