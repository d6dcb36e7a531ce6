/* A device plug-in for tests, compiled once for each value of PLUGIN_DEFECT. */
#include <stdlib.h>
#include "devices/plugin/plugin.h"

enum {
    VALID_PLUGIN,
    DEFECT_WRONG_PLUGIN_SIZE,
    DEFECT_OLDER_PLUGIN_VERSION,
    DEFECT_NEWER_PLUGIN_VERSION,
    DEFECT_MISSING_PLUGIN_SYMBOL,
    DEFECT_MISSING_DEVICE_TYPE,
    DEFECT_WRONG_DEVICE_TYPE_SIZE,
    DEFECT_WRONG_DEVICE_TYPE_VERSION,
    DEFECT_MISSING_TYPE_NAME,
    DEFECT_MISSING_OPEN_FUNCTION,
    DEFECT_NAME_UNLIKE_FILE,
    DEFECT_UNDEFINED_SYMBOL
};

static void read_stateless_test_plugin(void *self, uint64_t tick, double t, int64_t now,
                                       struct tact_device_input *in)
{
    (void)self, (void)tick, (void)now;
    in->state = TACT_DEVICE_OK;
    in->channel[0] = 0.1 * t;
}

static void close_stateless_test_plugin(void *self)
{
    (void)self;
}

int tact_no_such_function(void);

static int open_plugin_device(const struct tact_device_config *config, struct tact_device *out,
                              struct tact_error *err)
{
    static const struct tact_device_ops ops = {TACT_ABI(struct tact_device_ops),
                                               read_stateless_test_plugin, NULL,
                                               close_stateless_test_plugin};
    (void)config, (void)err;
    out->ops = &ops;
    out->info.input_count = 1;
    out->info.input[0] = (struct tact_device_channel){.name = "x", .unit = "rad"};
    return PLUGIN_DEFECT == DEFECT_UNDEFINED_SYMBOL ? tact_no_such_function() : 0;
}

/* Runs as soon as the plug-in's library is loaded: shows whether a refused plug-in was loaded at
 * all. */
__attribute__((constructor)) static void mark_plugin_loaded(void)
{
    setenv("TACT_TEST_LOADED", "1", 1);
}

static const struct tact_device_type type = {
    {(uint32_t)sizeof type + (PLUGIN_DEFECT == DEFECT_WRONG_DEVICE_TYPE_SIZE ? 8 : 0),
     TACT_ABI_VERSION + (PLUGIN_DEFECT == DEFECT_WRONG_DEVICE_TYPE_VERSION)},
    PLUGIN_DEFECT == DEFECT_MISSING_TYPE_NAME  ? NULL
    : PLUGIN_DEFECT == DEFECT_NAME_UNLIKE_FILE ? "another"
                                               : NAME,
    "of a test",
    PLUGIN_DEFECT == DEFECT_MISSING_OPEN_FUNCTION ? NULL : open_plugin_device,
    NULL};

#if PLUGIN_DEFECT == 4
extern const struct tact_plugin plugin_of_wrong_symbol_name;
const struct tact_plugin plugin_of_wrong_symbol_name
#else
extern const struct tact_plugin tact_plugin;
const struct tact_plugin tact_plugin
#endif
    = {{(uint32_t)sizeof(struct tact_plugin) - (PLUGIN_DEFECT == DEFECT_WRONG_PLUGIN_SIZE ? 8 : 0),
        TACT_ABI_VERSION - (PLUGIN_DEFECT == DEFECT_OLDER_PLUGIN_VERSION) +
            (PLUGIN_DEFECT == DEFECT_NEWER_PLUGIN_VERSION)},
       PLUGIN_DEFECT == DEFECT_MISSING_DEVICE_TYPE ? NULL : &type};
