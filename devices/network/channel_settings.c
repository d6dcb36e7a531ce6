/* Settings of a network channel, which the device and tact link --scene read. */
#include <errno.h>
#include <math.h>
#include "devices/common/settings.h"
#include "devices/network/network_internal.h"

/* Reads a number within a range; must_be_whole_number: it must be a whole number. */
int tact_network_read_range(const struct tact_device_config *config, const char *key, double least,
                            double most, int must_be_whole_number, double *value,
                            struct tact_error *err)
{
    int rc = tact_settings_number(config, key, value, err);
    if (!rc && (!(*value >= least && *value <= most) ||
                (must_be_whole_number && *value != floor(*value)))) {
        rc = tact_settings_fault(config, tact_settings_find(config, key), err,
                                 "expected a %snumber from %g to %g",
                                 must_be_whole_number ? "whole " : "", least, most);
    }
    return rc;
}

int tact_network_read_channel_options(const struct tact_device_config *config,
                                      struct tact_network_channel_options *out,
                                      struct tact_error *err)
{
    double axes = 1.0, repeats = 10.0, jitter = 0.005, hold = 0.0;
    if (!(config->period >= 1e-4 && config->period <= 1e-2)) {
        return tact_settings_fault(config, NULL, err,
                                   "a link to another site needs a loop period of 0.1 to 10 ms");
    }
    int rc = tact_network_read_range(config, "axes", 1.0, TACT_NETWORK_MAX_AXES, 1, &axes, err);
    rc = rc ? rc
            : tact_network_read_range(config, "repeats", 0.0, TACT_NETWORK_MAX_REPEATS, 1, &repeats,
                                      err);
    rc = rc ? rc
            : tact_network_read_range(config, "jitter", 0.0, 500.0 * config->period, 0, &jitter,
                                      err);
    rc = rc ? rc : tact_network_read_range(config, "hold", 0.0, 0.01, 0, &hold, err);
    *out =
        (struct tact_network_channel_options){.axes = (int)axes,
                                              .repeats = (int)repeats,
                                              .jitter = (int)ceil(jitter / config->period - 1e-9),
                                              .hold = (int)floor(hold / config->period + 1e-9),
                                              .period = config->period};
    return rc;
}
