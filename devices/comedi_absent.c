/* A build without Comedi (-DTACT_COMEDI=OFF): the type "comedi" is known and refused by name, and
 * no board is listed. */
#include <errno.h>
#include "devices/attached_internal.h"
#include "devices/comedi.h"

static int refuse(const struct tact_device_config *config, struct tact_device *out,
                  struct tact_error *err)
{
    (void)config;
    (void)out;
    return tact_error_set(err, -ENOTSUP,
                          "this build of tact has no measurement cards: it was configured with "
                          "-DTACT_COMEDI=OFF");
}

const struct tact_device_type tact_comedi_type = {
    .name = "comedi",
    .summary = "measurement cards (not in this build: TACT_COMEDI=OFF)",
    .open = refuse,
};

bool tact_attached_look_board(struct udev *udev, int number, struct tact_attached_board *board)
{
    (void)udev;
    (void)number;
    (void)board;
    return false;
}
