/* The controller's interface to a haptic device in the guard process, which alone calls its
 * manufacturer's library: no force without the controller's heartbeat. */
#ifndef TACT_DEVICES_GUARD_HAPTIC_INTERNAL_H
#define TACT_DEVICES_GUARD_HAPTIC_INTERNAL_H

#include "guard.h"
#include "page_internal.h"

/* Starts the guard of a haptic device, as tact_guard_start(), with a page whose member `choice` is
 * set. *page: the shared page, in which turns, torques and model are set.
 * @retval also -ENODEV: the library finds no device, -ENOENT, -ENOSYS: no such library */
int tact_guard_start_haptic_guard(struct tact_guard_haptic_page *initial_page_content,
                                  const char *what, struct tact_guard **out,
                                  struct tact_guard_haptic_page **page, struct tact_error *err);

/* Sends one tick's wrench with the heartbeat; stamp_of_wrench_pose_ns: stamp of the pose that the
 * tick read. No system call. Real-time safe. */
void tact_guard_send_haptic_wrench(struct tact_guard *guard,
                                   const double wrench[TACT_HAPTIC_NUMBERS_PER_WRENCH],
                                   int64_t stamp_of_wrench_pose_ns);

/* Copies the newest pose and buttons of the device, and their stamp; stamp 0: none was read yet.
 * Real-time safe. */
void tact_guard_read_haptic_pose(const struct tact_guard_haptic_page *page,
                                 double pose[TACT_HAPTIC_NUMBERS_PER_POSE], uint32_t *buttons,
                                 int64_t *stamp_ns);

#endif
