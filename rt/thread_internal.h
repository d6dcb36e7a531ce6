/* Starting threads: all threads of the library are started here. */
#ifndef TACT_RT_THREAD_INTERNAL_H
#define TACT_RT_THREAD_INTERNAL_H

#include <pthread.h>
#include <stddef.h>

/* stack size of a library thread [B]; mlockall() would lock all 8 MiB of the default */
#define TACT_THREAD_STACK_BYTES 262144

struct tact_thread_options {
    const char *name;     /* name of the thread, at most 15 characters; NULL: the creator's */
    size_t stack_size;    /* [B]; 0: TACT_THREAD_STACK_BYTES */
    int priority;         /* priority of SCHED_FIFO; 0: that of the creator, SCHED_OTHER
                             where it is real-time */
    int is_pinned_to_cpu; /* 1: the thread runs only on the processor `cpu` */
    int cpu;
};

/* Starts a joinable thread with all signals blocked. Not real-time safe.
 * @retval 0, or a negative errno of pthread_create() or of an option */
int tact_thread_start(pthread_t *thread, const struct tact_thread_options *options,
                      void *(*run)(void *), void *data);

#endif
