#include "devices/common/watch_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

enum { STACK = 262144 } /* [B] */;

static void *run(void *data)
{
    struct tact_watch *watch = data;
    struct timespec until;
    bool told = false;
    clock_gettime(CLOCK_MONOTONIC, &until);
    while (!told) {
        int64_t next = until.tv_nsec + watch->every_ns;
        until.tv_sec += next / 1000000000;
        until.tv_nsec = next % 1000000000;
        int rc;
        while ((rc = sem_clockwait(&watch->stop, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR) {
        }
        told = rc == 0;
        watch->look(watch->data);
    }
    return NULL;
}

int tact_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *data)
{
    const struct sched_param normal = {0};
    pthread_attr_t attr;
    sigset_t all;
    sigset_t before;
    int rc = pthread_attr_init(&attr);
    if (rc) {
        return -rc;
    }
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    /* else the caller's priority, which SCHED_OTHER refuses */
    pthread_attr_setschedparam(&attr, &normal);
    pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, &attr, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (rc == 0) {
        pthread_setname_np(*thread, name);
    }
    return -rc;
}

int tact_watch_start(struct tact_watch *watch, const char *name, int64_t every_ns,
                     void (*look)(void *data), void *data)
{
    watch->look = look;
    watch->data = data;
    watch->every_ns = every_ns;
    sem_init(&watch->stop, 0, 0);
    int rc = tact_thread_start(&watch->thread, name, run, watch);
    if (rc) {
        sem_destroy(&watch->stop);
    }
    return rc;
}

void tact_watch_stop(struct tact_watch *watch)
{
    sem_post(&watch->stop);
    pthread_join(watch->thread, NULL);
    sem_destroy(&watch->stop);
}
