/** The thread beside the loop that looks after a device: finds it again, tells what happened. */
#ifndef TACT_DEVICES_WATCH_INTERNAL_H
#define TACT_DEVICES_WATCH_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

struct tact_watch {
    void (*look)(void *data); /* called again and again, and a last time when it is stopped */
    void *data;
    int64_t every_ns;
    pthread_t thread;
    sem_t stop;
};

/** Starts it, in a normal thread of that name that takes no signals. The struct must stay where it
 * is. Not real-time safe.
 *  @retval 0, or a negative errno: nothing runs then */
int tact_watch_start(struct tact_watch *watch, const char *name, int64_t every_ns,
                     void (*look)(void *data), void *data);

/** Stops it and waits for it. */
void tact_watch_stop(struct tact_watch *watch);

#endif
