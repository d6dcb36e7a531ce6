#include "devices/common/watch_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include "rt/thread_internal.h"

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

int tact_watch_start(struct tact_watch *watch, const char *name, int64_t every_ns,
                     void (*look)(void *data), void *data)
{
    watch->look = look;
    watch->data = data;
    watch->every_ns = every_ns;
    sem_init(&watch->stop, 0, 0);
    const struct tact_thread_options options = {.name = name};
    int rc = tact_thread_start(&watch->thread, &options, run, watch);
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
