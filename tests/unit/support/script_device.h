/* An input device for tests whose readings a function computes; at most one in a source file. */
#ifndef TACT_TEST_SCRIPT_DEVICE_H
#define TACT_TEST_SCRIPT_DEVICE_H

#include <stdio.h>
#include "rt/device.h"

typedef void (*script_read_fn)(void *self, uint64_t tick, double t, int64_t now,
                               struct tact_device_input *in);

static inline void close_script_device(void *self)
{
    (void)self;
}

/* Opens the scripted device with one channel of this name, or without channels where it is NULL.
 * Returns 0. */
static inline int open_script_device(script_read_fn read, const char *channel,
                                     struct tact_device *out)
{
    static struct tact_device_ops ops;
    ops =
        (struct tact_device_ops){TACT_ABI(struct tact_device_ops), read, NULL, close_script_device};
    out->ops = &ops;
    if (channel) {
        out->info.input_count = 1;
        snprintf(out->info.input[0].name, sizeof out->info.input[0].name, "%s", channel);
    }
    return 0;
}

#endif
