/*
 * Requests of the pages. The server's thread stores them; the thread that runs the ticks takes
 * them.
 */
#ifndef TACT_EXAMPLES_VIEWER_WISHES_H
#define TACT_EXAMPLES_VIEWER_WISHES_H

#include <pthread.h>
#include <stdint.h>
#include "server.h"

#define WISHES_FRAME_NS 16666667 /* time between two frames */

struct wishes {
    pthread_mutex_t lock;
    int playing;
    double speed; /* factor of real time */
    int64_t step; /* number of ticks to go forward; negative: back */
    double seek;  /* tick, or -1 */
    int changed;  /* 1: a frame is due although playback is paused */
    int marker, stop;
};

/* The requests since the last call. */
struct wish {
    int playing, changed, marker, stop;
    double speed, seek;
    int64_t step;
};

void wishes_open(struct wishes *w, int playing);
void wishes_close(struct wishes *w);

/* The server's ask(). user: a struct wishes. */
void wishes_ask(void *user, enum server_ask what, double value);

struct wish wishes_take(struct wishes *w);

/* Pauses at the end. */
void wishes_pause(struct wishes *w);

#endif
