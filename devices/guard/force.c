/* The controller's side of the guard of forces. */
#include "devices/guard/force_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "devices/guard/process_internal.h"
#include "devices/guard/serve_internal.h"
#include "rt/clock.h"
#include "rt/thread_internal.h"

static void *force_server_thread_main(void *page)
{
    int64_t suspended_ns_at_start = tact_guard_suspended_time_upper_bound();
    const struct tact_guard_requests guard_requests = {.suspended_ns_at_start =
                                                           &suspended_ns_at_start};
    tact_guard_serve_force(page, &guard_requests);
    return NULL;
}

static int launch_guard_thread(const struct tact_guard_force_page *initial_shared_page,
                               struct tact_guard **out, struct tact_error *err)
{
    struct tact_guard *guard = calloc(1, sizeof *guard);
    void *page = mmap(NULL, sizeof *initial_shared_page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!guard || page == MAP_FAILED) {
        free(guard);
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    memcpy(page, initial_shared_page, sizeof *initial_shared_page);
    guard->guard_pidfd = -1;
    guard->head = page;
    guard->size = sizeof *initial_shared_page;
    const struct tact_thread_options options = {.name = "tact-force"};
    int rc = tact_thread_start(&guard->thread, &options, force_server_thread_main, guard->head);
    guard->is_guard_run_as_thread = rc == 0;
    while (!rc && !atomic_load_explicit(&guard->head->is_guard_ready, memory_order_acquire)) {
        const struct timespec ms = {.tv_nsec = 1000000};
        nanosleep(&ms, NULL);
    }
    rc = rc ? rc : atomic_load_explicit(&guard->head->error, memory_order_relaxed);
    if (rc) {
        tact_error_set(err, rc, "the device %s cannot play forces: %s",
                       initial_shared_page->path[0], strerror(-rc));
        tact_guard_stop(guard);
        return rc;
    }
    *out = guard;
    return 0;
}

int tact_guard_start_force_guard(const struct tact_guard_force_options *options,
                                 struct tact_guard **out, struct tact_error *err)
{
    *out = NULL;
    if (options->timeout_ns <= 0 || options->period_ns <= 0 || strlen(options->path) >= 256) {
        return tact_error_set(err, -EINVAL,
                              "the options of the guard are invalid: timeout and upload period "
                              "must be positive, and the path shorter than 256 bytes");
    }
    struct tact_guard_force_page *page = calloc(1, sizeof *page);
    if (!page) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    page->head.size = sizeof *page;
    page->head.kind = TACT_GUARD_FORCE;
    page->head.timeout_ns = options->timeout_ns;
    page->plan = *options->plan;
    page->period_ns = options->period_ns;
    snprintf(page->path[0], sizeof page->path[0], "%s", options->path);
    int rc = options->thread ? launch_guard_thread(page, out, err)
                             : tact_guard_start_with_page(&page->head, options->path, out, err);
    free(page);
    return rc;
}

void tact_guard_send_force_levels(struct tact_guard *guard, const double *level, int64_t stamp_ns)
{
    struct tact_guard_force_page *page = (struct tact_guard_force_page *)guard->head;
    uint32_t heartbeat_number = tact_guard_next_heartbeat_number(guard, tact_clock_now());
    uint32_t slot = heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS;
    for (int i = 0; i < TACT_FORCE_CHANNELS; i++) {
        atomic_store_explicit(&page->level[slot][i], level[i], memory_order_relaxed);
    }
    atomic_store_explicit(&page->stamp[slot], stamp_ns, memory_order_relaxed);
    atomic_store_explicit(&guard->head->heartbeat_number, heartbeat_number, memory_order_release);
}

void tact_guard_set_device_path(struct tact_guard *guard, const char *path)
{
    struct tact_guard_force_page *page = (struct tact_guard_force_page *)guard->head;
    uint32_t node_path_change_count =
        atomic_load_explicit(&page->node_path_change_count, memory_order_relaxed) + 1;
    snprintf(page->path[node_path_change_count % 2], sizeof page->path[0], "%s", path ? path : "");
    atomic_store_explicit(&page->node_path_change_count, node_path_change_count,
                          memory_order_release);
}

int64_t tact_guard_last_played_stamp(const struct tact_guard *guard)
{
    const struct tact_guard_force_page *page = (const struct tact_guard_force_page *)guard->head;
    return atomic_load_explicit(&page->played_levels_stamp_ns, memory_order_acquire);
}

uint64_t tact_guard_get_effect_upload_count(const struct tact_guard *guard,
                                            int64_t *slowest_upload_ns, int *failed)
{
    struct tact_guard_force_page *page = (struct tact_guard_force_page *)guard->head;
    *slowest_upload_ns = atomic_load_explicit(&page->slowest_upload_ns, memory_order_relaxed);
    *failed = atomic_exchange_explicit(&page->failed, 0, memory_order_relaxed);
    return atomic_load_explicit(&page->effect_upload_count, memory_order_relaxed);
}
