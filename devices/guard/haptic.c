/* The controller's side of a haptic device in the guard process. */
#include "devices/guard/haptic_internal.h"

#include <errno.h>
#include <string.h>
#include "devices/guard/process_internal.h"
#include "rt/clock.h"

int tact_guard_start_haptic_guard(struct tact_guard_haptic_page *initial_page_content,
                                  const char *what, struct tact_guard **out,
                                  struct tact_guard_haptic_page **page, struct tact_error *err)
{
    initial_page_content->head.timeout_ns = initial_page_content->haptic_device_choice.timeout_ns;
    if (initial_page_content->head.timeout_ns <= 0) {
        return tact_error_set(err, -EINVAL, "the timeout of the guard process must be positive");
    }
    initial_page_content->head.size = sizeof *initial_page_content;
    initial_page_content->head.kind = TACT_GUARD_HAPTIC;
    const int rc = tact_guard_start_with_page(&initial_page_content->head, what, out, err);
    *page = rc ? NULL : (struct tact_guard_haptic_page *)(*out)->head;
    return rc;
}

void tact_guard_send_haptic_wrench(struct tact_guard *guard,
                                   const double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH],
                                   int64_t stamp_of_wrench_pose_ns)
{
    struct tact_guard_haptic_page *page = (struct tact_guard_haptic_page *)guard->head;
    const int64_t now_ns = tact_clock_now();
    const uint32_t heartbeat_number = tact_guard_next_heartbeat_number(guard, now_ns);
    const uint32_t slot = heartbeat_number % TACT_GUARD_HEARTBEAT_SLOTS;
    for (int i = 0; i < TACT_HAPTIC_NUMBERS_PER_WRENCH; i++) {
        atomic_store_explicit(&page->wrench[slot][i], wrench[i], memory_order_relaxed);
    }
    atomic_store_explicit(&page->stamp_of_wrench_pose[slot], stamp_of_wrench_pose_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&page->stamp[slot], now_ns, memory_order_relaxed);
    atomic_store_explicit(&guard->head->heartbeat_number, heartbeat_number, memory_order_release);
}

void tact_guard_read_haptic_pose(const struct tact_guard_haptic_page *page,
                                 double pose[TACT_HAPTIC_NUMBERS_PER_POSE], uint32_t *buttons,
                                 int64_t *stamp_ns)
{
    for (int attempt = 0; attempt < TACT_GUARD_HEARTBEAT_SLOTS; attempt++) {
        const uint32_t count =
            atomic_load_explicit(&page->published_pose_count, memory_order_acquire);
        const uint32_t slot = count % TACT_GUARD_HEARTBEAT_SLOTS;
        for (int i = 0; i < TACT_HAPTIC_NUMBERS_PER_POSE; i++) {
            pose[i] = atomic_load_explicit(&page->pose[slot].value[i], memory_order_acquire);
        }
        *buttons = atomic_load_explicit(&page->pose[slot].buttons, memory_order_acquire);
        *stamp_ns = atomic_load_explicit(&page->pose[slot].stamp_ns, memory_order_acquire);
        if (atomic_load_explicit(&page->published_pose_count, memory_order_acquire) - count <
            TACT_GUARD_HEARTBEAT_SLOTS - 1) {
            return;
        }
    }
    *stamp_ns = 0;
}
