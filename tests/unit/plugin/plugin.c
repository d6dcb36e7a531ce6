/* A plug-in for tests, compiled once for each defect: CASE. */
#include <stdlib.h>
#include "devices/plugin/plugin.h"

enum {
    VALID,
    WRONG_SIZE,
    OLDER_VERSION,
    NEWER_VERSION,
    CASE_MISSING_SYMBOL,
    MISSING_TYPE,
    TYPE_SIZE,
    TYPE_VERSION,
    NO_NAME,
    NO_OPEN,
    OTHER_NAME,
    LINK
};

static void read_of_plugin_without_values(void *self, uint64_t tick, double t, int64_t now,
                                          struct tact_device_input *in)
{
    (void)self, (void)tick, (void)now;
    in->state = TACT_DEVICE_OK;
    in->channel[0] = 0.1 * t;
}

static void close_of_plugin_without_memory(void *self)
{
    (void)self;
}

int tact_no_such_function(void);

static int open_plugin_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_of_plugin_without_values, NULL,
                                               close_of_plugin_without_memory};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = 1;
    out->info.input[0] = (struct tact_device_channel){.name = "x", .unit = "rad"};
    return CASE == LINK ? tact_no_such_function() : 0;
}

/* Runs as soon as the library is loaded. */
__attribute__((constructor)) static void loaded(void)
{
    setenv("TACT_TEST_LOADED", "1", 1);
}

static const struct tact_device_type type = {{(uint32_t)sizeof type + (CASE == TYPE_SIZE ? 8 : 0),
                                              TACT_ABI_VERSION + (CASE == TYPE_VERSION)},
                                             CASE == NO_NAME      ? NULL
                                             : CASE == OTHER_NAME ? "another"
                                                                  : NAME,
                                             "of a test",
                                             CASE == NO_OPEN ? NULL : open_plugin_device,
                                             NULL};

#if CASE == 4
extern const struct tact_plugin plugin_of_wrong_symbol_name;
const struct tact_plugin plugin_of_wrong_symbol_name
#else
extern const struct tact_plugin tact_plugin;
const struct tact_plugin tact_plugin
#endif
    = {{(uint32_t)sizeof(struct tact_plugin) - (CASE == WRONG_SIZE ? 8 : 0),
        TACT_ABI_VERSION - (CASE == OLDER_VERSION) + (CASE == NEWER_VERSION)},
       CASE == MISSING_TYPE ? NULL : &type};
