#include "wishes.h"

#include <string.h>

void wishes_open(struct wishes *w, int playing)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    w->playing = playing;
    w->speed = 1.0;
    w->seek = -1.0;
    w->changed = 1;
}

void wishes_close(struct wishes *w)
{
    pthread_mutex_destroy(&w->lock);
}

void wishes_ask(void *user, enum server_ask what, double value)
{
    struct wishes *w = user;
    pthread_mutex_lock(&w->lock);
    w->changed = 1;
    switch (what) {
    case SERVER_PLAY:
    case SERVER_PAUSE:
        w->playing = what == SERVER_PLAY;
        break;
    case SERVER_STEP:
        w->playing = 0;
        w->step += value >= -1e6 && value <= 1e6 ? (int64_t)value : 0;
        break;
    case SERVER_SEEK:
        w->seek = value >= 0.0 ? value : 0.0;
        break;
    case SERVER_SPEED:
        w->speed = value >= 1e-3 && value <= 1e3 ? value : w->speed;
        break;
    case SERVER_MARKER:
        w->marker = 1;
        break;
    case SERVER_STOP:
        w->stop = 1;
        break;
    case SERVER_SHOW:
        break;
    }
    pthread_mutex_unlock(&w->lock);
}

struct wish wishes_take(struct wishes *w)
{
    pthread_mutex_lock(&w->lock);
    struct wish out = {w->playing, w->changed, w->marker, w->stop, w->speed, w->seek, w->step};
    w->changed = w->marker = 0;
    w->seek = -1.0;
    w->step = 0;
    pthread_mutex_unlock(&w->lock);
    return out;
}

void wishes_pause(struct wishes *w)
{
    pthread_mutex_lock(&w->lock);
    w->playing = 0;
    pthread_mutex_unlock(&w->lock);
}
