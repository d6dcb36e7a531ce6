/* A build without Comedi (-DTACT_COMEDI=OFF): the type "comedi" is known and refused by name. */
#include <errno.h>
#include "devices/comedi/comedi.h"

static int report_build_without_comedi(const struct tact_device_config *config,
                                       struct tact_device *out, struct tact_error *err)
{
    (void)config;
    (void)out;
    return tact_error_set(err, -ENOTSUP,
                          "this build of tact has no measurement cards: it was configured with "
                          "-DTACT_COMEDI=OFF");
}

const struct tact_device_type tact_comedi_type = {
    .abi = TACT_ABI(struct tact_device_type),
    .name = "comedi",
    .summary = "measurement cards (not in this build: TACT_COMEDI=OFF)",
    .open = report_build_without_comedi,
};
