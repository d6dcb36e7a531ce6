/* What pages ask of what they show: written by the server's thread, taken by the one that plays. */
#ifndef TACT_EXAMPLES_VIEWER_WISHES_H
#define TACT_EXAMPLES_VIEWER_WISHES_H

#include <pthread.h>
#include <stdint.h>
#include "server.h"

#define WISHES_FRAME_NS 16666667 /* between two frames */

struct wishes {
    pthread_mutex_t lock;
    int playing;
    double speed; /* of real time */
    int64_t step; /* ticks */
    double seek;  /* tick, or -1 */
    int changed;  /* 1: a frame is due although nothing plays */
    int marker, stop;
};

/* What was asked since the last time. */
struct wish {
    int playing, changed, marker, stop;
    double speed, seek;
    int64_t step;
};

void wishes_open(struct wishes *w, int playing);
void wishes_close(struct wishes *w);

/* A server's ask(); user is a struct wishes. */
void wishes_ask(void *user, enum server_ask what, double value);

struct wish wishes_take(struct wishes *w);

/* Pauses: the end was reached. */
void wishes_pause(struct wishes *w);

#endif
