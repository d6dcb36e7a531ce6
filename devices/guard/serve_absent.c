/* The guard of a build without Comedi: no page of a board can be served. */
#include <errno.h>
#include "devices/guard/serve_internal.h"

int tact_guard_serve_board(struct tact_guard_page *page,
                           const struct tact_guard_requests *guard_requests)
{
    (void)page;
    (void)guard_requests;
    return -ENOTSUP;
}
