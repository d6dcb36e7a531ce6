/* A guard in the controller. */
#ifndef TACT_DEVICES_GUARD_PROCESS_INTERNAL_H
#define TACT_DEVICES_GUARD_PROCESS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "page_internal.h"

struct tact_guard {
    struct tact_guard_page_header *head; /* header of the page shared with the guard */
    size_t size;
    pid_t pid;       /* process id, for display; 0: the guard is a thread */
    int guard_pidfd; /* pidfd of the guard; -1: the guard is a thread */
    bool is_guard_run_as_thread;
    pthread_t thread;
    uint32_t acknowledged_heartbeat_number; /* number of the heartbeat that the guard acknowledged
                                               last */
    /* time of the last acknowledgement, or at which none was outstanding */
    int64_t last_acknowledgement_ns;
    atomic_bool has_process_ended; /* the guard process has ended */
};

/* Starts a guard with a copy of a page, whose size, kind and timeout are set. what: the node, for
 * messages. */
int tact_guard_start_with_page(struct tact_guard_page_header *initial_page_content,
                               const char *what, struct tact_guard **out, struct tact_error *err);

/* Path of the guard program: $TACT_GUARD, except in a setuid program; that of the build tree for a
 * library loaded from there; the installed one.
 * @retval 0, or -ENOENT if it cannot be run */
int tact_guard_program_path(char *path, size_t size);

/* Checks whether the process has ended, for tact_guard_state(). Not real-time safe. */
void tact_guard_check_whether_process_ended(struct tact_guard *guard);

/* Number of the next heartbeat; its data must be written before it is stored. Real-time safe. */
uint32_t tact_guard_next_heartbeat_number(struct tact_guard *guard, int64_t now_ns);

#endif
