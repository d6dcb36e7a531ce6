#include "thread_internal.h"

#include <sched.h>
#include <signal.h>

/* The creator's policy where neither thread is real-time: one at SCHED_IDLE may not be allowed to
 * start a thread at SCHED_OTHER. */
static int set_scheduling_policy_of_thread(pthread_attr_t *attributes, int priority)
{
    const struct sched_param scheduling_parameters = {.sched_priority = priority};
    const int policy_of_creating_thread = sched_getscheduler(0);
    if (priority == 0 &&
        (policy_of_creating_thread == SCHED_OTHER || policy_of_creating_thread == SCHED_BATCH ||
         policy_of_creating_thread == SCHED_IDLE)) {
        return pthread_attr_setinheritsched(attributes, PTHREAD_INHERIT_SCHED);
    }
    int rc = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    rc = rc ? rc : pthread_attr_setschedpolicy(attributes, priority ? SCHED_FIFO : SCHED_OTHER);
    /* without this call the priority would be the creator's, which is invalid for SCHED_OTHER */
    return rc ? rc : pthread_attr_setschedparam(attributes, &scheduling_parameters);
}

static int set_thread_attributes(pthread_attr_t *attributes,
                                 const struct tact_thread_options *options)
{
    size_t stack = options->stack_size ? options->stack_size : TACT_THREAD_STACK_BYTES;
    int rc = pthread_attr_setstacksize(attributes, stack);
    rc = rc ? rc : set_scheduling_policy_of_thread(attributes, options->priority);
    if (rc == 0 && options->is_pinned_to_cpu) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET((size_t)options->cpu, &cpus);
        rc = pthread_attr_setaffinity_np(attributes, sizeof cpus, &cpus);
    }
    return rc;
}

int tact_thread_start(pthread_t *thread, const struct tact_thread_options *options,
                      void *(*run)(void *), void *data)
{
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);
    if (rc) {
        return -rc;
    }
    rc = set_thread_attributes(&attributes, options);
    if (rc == 0) {
        sigset_t all_signals, previous_signals;
        sigfillset(&all_signals);
        pthread_sigmask(SIG_SETMASK, &all_signals, &previous_signals);
        rc = pthread_create(thread, &attributes, run, data);
        pthread_sigmask(SIG_SETMASK, &previous_signals, NULL);
    }
    pthread_attr_destroy(&attributes);
    if (rc == 0 && options->name) {
        pthread_setname_np(*thread, options->name);
    }
    return -rc;
}
