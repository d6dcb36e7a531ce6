/* A build without Comedi (-DTACT_COMEDI=OFF): no board is listed. */
#include "devices/attached/attached_internal.h"

bool tact_attached_read_board(struct udev *udev, int number, struct tact_attached_board *board)
{
    (void)udev;
    (void)number;
    (void)board;
    return false;
}
