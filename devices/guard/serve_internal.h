/** What the guard process does with a page, until it is told to end. */
#ifndef TACT_DEVICES_GUARD_SERVE_INTERNAL_H
#define TACT_DEVICES_GUARD_SERVE_INTERNAL_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include "page_internal.h"

#define TACT_GUARD_LOOK_NS 50000000 /* [ns] how often a controller that is silent is looked at */

/** What comes from outside the page. */
struct tact_guard_orders {
    const volatile sig_atomic_t *end; /* or NULL */
    volatile sig_atomic_t *let_go;    /* or NULL: let go once, as before a suspend */
    int64_t *slept; /* tact_guard_slept_most() at first: a longer sleep is an order too; or NULL */
    int controller; /* pidfd, to be outlived by no more than it takes; 0: this process */
};

static inline int64_t tact_guard_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** How long the system has slept since it was started, at most: CLOCK_BOOTTIME goes on while it
 *  sleeps, CLOCK_MONOTONIC does not. [ns] */
int64_t tact_guard_slept_most(void);

/** Whether it is time to end. */
int tact_guard_over(const struct tact_guard_head *head, const struct tact_guard_orders *orders);

/** Whether an order to let go has come since the last call, or the system has slept meanwhile: what
 *  was sent before is not what is wanted now. */
int tact_guard_let_go(const struct tact_guard_orders *orders);

/** Takes the outputs of a board and writes what is sent. @retval 0, or a negative errno where the
 *  board could not be taken, which the page tells */
int tact_guard_serve_board(struct tact_guard_page *page, const struct tact_guard_orders *orders);

/** Shows what is sent on an input device; also the thread of a device without guard. */
void tact_guard_serve_force(struct tact_force_page *page, const struct tact_guard_orders *orders);

#endif
