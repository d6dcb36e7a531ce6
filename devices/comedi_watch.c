/* The thread beside the loop: looks for a board that is gone, and tells what happened. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include "devices/comedi_state_internal.h"

enum { LOOK_NS = 50000000 }; /* [ns] how often */
enum { WATCHER_STACK = 262144 } /* [B] */;

static void take_back(struct tact_comedi *self)
{
    struct tact_comedi_board *board =
        atomic_exchange_explicit(&self->retired, NULL, memory_order_acquire);
    if (board) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: the board %s (%s) is gone",
                     self->name, self->layout.path, self->layout.board);
        tact_comedi_board_free(board);
        self->lost = true;
        self->open_error = -ENODEV;
    }
}

static void look_for(struct tact_comedi *self)
{
    int error = 0;
    struct tact_comedi_board *board = tact_comedi_board_open(&self->layout, !self->guard, &error);
    if (board) {
        tact_message(self->messages, TACT_MESSAGE_INFO, "%s: the board %s (%s) is back", self->name,
                     self->layout.path, self->layout.board);
        self->lost = false;
        atomic_store_explicit(&self->fresh, board, memory_order_release);
    } else if (error != self->open_error && error != -ENOENT) {
        tact_message(self->messages, TACT_MESSAGE_WARNING, "%s: %s does not come back: %s",
                     self->name, self->layout.path,
                     error == -ENXIO ? "another board is there" : strerror(-error));
        self->open_error = error;
    }
}

static void tell(struct tact_comedi *self)
{
    for (int i = 0; i < self->layout.input_count; i++) {
        unsigned int faults = atomic_load_explicit(&self->faults[i], memory_order_relaxed);
        if (faults != self->faults_told[i]) {
            tact_message(self->messages, TACT_MESSAGE_WARNING,
                         "%s: input %s is %s; the outputs let go", self->name,
                         self->layout.input[i].name, tact_comedi_fault_name((int)(faults & 3U)));
            self->faults_told[i] = faults;
        }
    }
    int error = atomic_exchange_explicit(&self->read_error, 0, memory_order_relaxed);
    if (error) {
        tact_message(self->messages, TACT_MESSAGE_WARNING,
                     "%s: the inputs of %s cannot be read: %s; the outputs let go", self->name,
                     self->layout.path, strerror(-error));
    }
    error = atomic_exchange_explicit(&self->refused, 0, memory_order_relaxed);
    if (error) {
        tact_message(self->messages, TACT_MESSAGE_ERROR,
                     "%s: the outputs of %s cannot be written: %s", self->name, self->layout.path,
                     strerror(-error));
    }
}

static void tell_guard(struct tact_comedi *self)
{
    uint32_t trips = self->guard ? tact_guard_trips(self->guard) : self->trips_told;
    if (trips != self->trips_told) {
        tact_message(
            self->messages, TACT_MESSAGE_WARNING,
            "%s: the guard has let go of the outputs: the loop was silent for more than "
            "%g ms, or the board failed; they come back after zeros were sent, as when the "
            "deadman is let go",
            self->name, (double)self->timeout_ns / 1e6);
        self->trips_told = trips;
    }
    if (!self->alone_told && atomic_load_explicit(&self->alone, memory_order_relaxed)) {
        tact_message(self->messages, TACT_MESSAGE_ERROR,
                     "%s: the guard is gone: the outputs are zero until the device is opened again",
                     self->name);
        self->alone_told = true;
    }
}

static void *watch(void *data)
{
    struct tact_comedi *self = data;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    for (;;) {
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int rc;
        while ((rc = sem_clockwait(&self->stop, CLOCK_MONOTONIC, &until)) != 0 && errno == EINTR) {
        }
        tell(self);
        tell_guard(self);
        if (rc == 0) {
            return NULL;
        }
        take_back(self);
        if (self->lost) {
            look_for(self);
        }
    }
}

int tact_comedi_watch(struct tact_comedi *self)
{
    const struct sched_param normal = {0};
    pthread_attr_t attr;
    sigset_t all;
    sigset_t before;
    int rc = pthread_attr_init(&attr);
    if (rc) {
        return -rc;
    }
    sem_init(&self->stop, 0, 0);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
    pthread_attr_setschedparam(&attr,
                               &normal); /* else the caller's priority, which OTHER refuses */
    pthread_attr_setstacksize(&attr, WATCHER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&self->watcher, &attr, watch, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (rc) {
        sem_destroy(&self->stop);
        return -rc;
    }
    pthread_setname_np(self->watcher, "tact-comedi");
    return 0;
}

void tact_comedi_unwatch(struct tact_comedi *self)
{
    sem_post(&self->stop);
    pthread_join(self->watcher, NULL);
    sem_destroy(&self->stop);
}
