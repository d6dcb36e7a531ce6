/** A device's monitor thread: finds a lost device again, reports events. */
#ifndef TACT_DEVICES_MONITOR_INTERNAL_H
#define TACT_DEVICES_MONITOR_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

struct tact_monitor {
    void (*poll)(void *data); /* called periodically, and a last time when it is stopped */
    void *data;
    int64_t every_ns;
    pthread_t thread;
    sem_t stop;
};

/** Starts it, in a normal thread of that name with signals blocked. The struct must not be moved.
 * Not real-time safe.
 * @retval 0, or a negative errno: no thread was started */
int tact_monitor_start(struct tact_monitor *monitor, const char *name, int64_t every_ns,
                       void (*poll)(void *data), void *data);

/** Stops it and waits for it. */
void tact_monitor_stop(struct tact_monitor *monitor);

#endif
