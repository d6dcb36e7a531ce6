/** A guard as the controller has it. */
#ifndef TACT_DEVICES_GUARD_PROCESS_INTERNAL_H
#define TACT_DEVICES_GUARD_PROCESS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "page_internal.h"

struct tact_guard {
    struct tact_guard_head *head; /* of its page */
    size_t size;
    pid_t pid;   /* for people; 0: a thread */
    int process; /* pidfd, -1: a thread */
    bool threaded;
    pthread_t thread;
    uint32_t answered; /* as last seen */
    int64_t seen_ns;   /* when it last changed, or there was nothing to answer */
    atomic_bool dead;  /* the process has ended */
};

/** Starts a guard with a copy of a page, whose size, kind and timeout are set. what: the node, for
 *  messages. */
int tact_guard_launch(struct tact_guard_head *content, const char *what, struct tact_guard **out,
                      struct tact_error *err);

/** Which program the guard is: $TACT_GUARD, except in a program with more rights than its user's;
 *  that of the build tree for a library that is loaded from there; the one that was installed.
 *  @retval 0, or -ENOENT where it cannot be run */
int tact_guard_program(char *path, size_t size);

/** Looks whether the process has ended: tact_guard_state() tells it then. Not real-time safe. */
void tact_guard_look(struct tact_guard *guard);

/** The next heartbeat's number; what belongs to it is to be written before it is set. Real-time
 *  safe. */
uint32_t tact_guard_beat(struct tact_guard *guard, int64_t now_ns);

#endif
