#include "devices/common/monitor_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>
#include "rt/thread_internal.h"

static void *run_monitor_thread(void *data)
{
    struct tact_monitor_thread *monitor = data;
    struct timespec next_monitor_check_time;
    bool reported = false;
    clock_gettime(CLOCK_MONOTONIC, &next_monitor_check_time);
    while (!reported) {
        int64_t next = next_monitor_check_time.tv_nsec + monitor->check_interval_ns;
        next_monitor_check_time.tv_sec += next / 1000000000;
        next_monitor_check_time.tv_nsec = next % 1000000000;
        int rc;
        while ((rc = sem_clockwait(&monitor->stop, CLOCK_MONOTONIC, &next_monitor_check_time)) !=
                   0 &&
               errno == EINTR) {
        }
        reported = rc == 0;
        monitor->poll(monitor->data);
    }
    return NULL;
}

int tact_monitor_start(struct tact_monitor_thread *monitor, const char *name,
                       int64_t check_interval_ns, void (*poll)(void *data), void *data)
{
    monitor->poll = poll;
    monitor->data = data;
    monitor->check_interval_ns = check_interval_ns;
    sem_init(&monitor->stop, 0, 0);
    const struct tact_thread_options options = {.name = name};
    int rc = tact_thread_start(&monitor->thread, &options, run_monitor_thread, monitor);
    if (rc) {
        sem_destroy(&monitor->stop);
    }
    return rc;
}

void tact_monitor_stop(struct tact_monitor_thread *monitor)
{
    sem_post(&monitor->stop);
    pthread_join(monitor->thread, NULL);
    sem_destroy(&monitor->stop);
}
