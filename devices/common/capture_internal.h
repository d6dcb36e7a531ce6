/* Files to which the raw data of a device are recorded during a session. */
#ifndef TACT_DEVICES_CAPTURE_INTERNAL_H
#define TACT_DEVICES_CAPTURE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "../../rt/device.h"
#include "../../rt/ring.h"

/* A recording that is being written: the loop queues entries, the device's monitor thread writes
 * them to the file. All zero: there is none, and the functions below do nothing. */
struct tact_capture_file {
    struct tact_ring *ring;
    FILE *file;
    char path[512];
    const char *what;               /* what an entry is called in messages, such as "events" */
    uint64_t capture_ring_overruns; /* reported */
    bool is_write_failure_reported;
};

/* Creates config->record/NAME.ending, readable by its owner only: keys that a person presses are
 * private. An existing file is refused, or replaced with config->replace; a link, and a file that
 * is being written (-EBUSY), are always refused. `kept` entries of `size` bytes can be queued for
 * the disk.
 * @retval 0, -EEXIST, or another negative errno with *err set */
int tact_capture_open(struct tact_capture_file *capture, const struct tact_device_config *config,
                      const char *file_name_suffix, const char *what, uint32_t kept, size_t size,
                      struct tact_error *err);

/* Gets a free slot of the queue, to be filled and passed on by tact_ring_commit(capture->ring);
 * NULL if the queue is full, which is counted. Real-time safe. */
void *tact_capture_reserve_entry(struct tact_capture_file *capture);

/* Writes the queued entries to the file by the callback `write`; reports lost entries once. Not
 * real-time safe. */
void tact_capture_write_queued_entries(struct tact_capture_file *capture,
                                       void (*write)(FILE *file, const void *kept, void *user),
                                       void *user, const char *name, struct tact_messages messages);

/* Closes the file; the caller writes the remaining entries before, by
 * tact_capture_write_queued_entries(). */
void tact_capture_close(struct tact_capture_file *capture, const char *name,
                        struct tact_messages messages);

#endif
