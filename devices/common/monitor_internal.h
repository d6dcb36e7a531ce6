/* A device's monitor thread: searches for a lost device, and reports events. */
#ifndef TACT_DEVICES_MONITOR_INTERNAL_H
#define TACT_DEVICES_MONITOR_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

struct tact_monitor_thread {
    /* function that is called periodically, and a last time when the thread is stopped */
    void (*poll)(void *data);
    void *data;
    int64_t check_interval_ns;
    pthread_t thread;
    sem_t stop;
};

/* Starts a monitor thread of that name without real-time priority and with signals blocked. The
 * struct must not be moved meanwhile. Not real-time safe.
 * @retval 0, or a negative errno: no thread was started */
int tact_monitor_start(struct tact_monitor_thread *monitor, const char *name,
                       int64_t check_interval_ns, void (*poll)(void *data), void *data);

/* Stops a monitor thread and waits for its end. */
void tact_monitor_stop(struct tact_monitor_thread *monitor);

#endif
