/* The controller's side of a board's guard. */
#include "devices/guard/guard.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "devices/guard/process_internal.h"

int tact_guard_start(const struct tact_guard_options *options, struct tact_guard **out,
                     struct tact_error *err)
{
    *out = NULL;
    if (options->output_count < 1 || options->output_count > TACT_GUARD_MAX_OUTPUTS ||
        options->timeout_ns <= 0 || strlen(options->board) >= 256) {
        return tact_error_set(
            err, -EINVAL,
            "an option of the guard process is out of range: the number of outputs, the timeout, "
            "or the path, which must be shorter than 256 bytes");
    }
    struct tact_guard_page *page = calloc(1, sizeof *page);
    if (!page) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    page->head.size = sizeof *page;
    page->head.kind = TACT_GUARD_BOARD;
    page->head.timeout_ns = options->timeout_ns;
    page->output_count = options->output_count;
    snprintf(page->board, sizeof page->board, "%s", options->board);
    snprintf(page->driver, sizeof page->driver, "%s", options->driver);
    snprintf(page->name, sizeof page->name, "%s", options->name);
    memcpy(page->output, options->outputs,
           (size_t)options->output_count * sizeof *options->outputs);
    int rc = tact_guard_start_with_page(&page->head, options->board, out, err);
    free(page);
    return rc;
}

void tact_guard_send(struct tact_guard *guard, const uint32_t (*words)[2], int64_t now_ns)
{
    struct tact_guard_page *page = (struct tact_guard_page *)guard->head;
    uint32_t heartbeat_number = tact_guard_next_heartbeat_number(guard, now_ns);
    for (int i = 0; i < page->output_count; i++) {
        for (int k = 0; k < 2; k++) {
            atomic_store_explicit(&page->slot[heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS][i][k],
                                  words[i][k], memory_order_relaxed);
        }
    }
    atomic_store_explicit(&page->stamp[heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS], now_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&guard->head->heartbeat_number, heartbeat_number, memory_order_release);
    syscall(SYS_futex, &guard->head->heartbeat_number, FUTEX_WAKE, 1, NULL, NULL, 0);
}
