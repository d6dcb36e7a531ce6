/** Files that keep the raw stream of a device beside a session. */
#ifndef TACT_DEVICES_TAPE_INTERNAL_H
#define TACT_DEVICES_TAPE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../../rt/ring.h"

/** A tape that is being written: the loop keeps entries, the thread that looks after the device
 * writes them. All zero: none, and nothing below does anything. */
struct tact_tape {
    struct tact_ring *ring;
    FILE *file;
    char path[512];
    const char *what;  /* entries are, in messages */
    uint64_t overruns; /* reported */
    bool failed;       /* reported */
};

/** Makes config->record/NAME.ending, which only its owner can read: what keys a person presses is
 *  nobody else's business. A file that is there already is refused, or with config->replace made
 *  way for the new one; a link, and a file that somebody writes (-EBUSY), are refused in any case.
 *  There is room for `kept` entries of `size` bytes that wait for the disk.
 *  @retval 0, -EEXIST, or another negative errno with *err filled */
int tact_tape_open(struct tact_tape *tape, const struct tact_device_config *config,
                   const char *ending, const char *what, uint32_t kept, size_t size,
                   struct tact_error *err);

/** The place of an entry, for tact_ring_commit(tape->ring); NULL where there is no room, which is
 *  counted. Real-time safe. */
void *tact_tape_reserve(struct tact_tape *tape);

/** Writes what is kept, by `write`; reports once what is lost. Not real-time safe. */
void tact_tape_drain(struct tact_tape *tape,
                     void (*write)(FILE *file, const void *kept, void *user), void *user,
                     const char *name, struct tact_messages messages);

/** Closes the file, after a last tact_tape_drain(). */
void tact_tape_close(struct tact_tape *tape, const char *name, struct tact_messages messages);

#endif
