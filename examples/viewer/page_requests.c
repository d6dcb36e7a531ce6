#include "page_requests.h"

#include <string.h>

void page_requests_open(struct page_requests *w, int is_playing)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    w->is_playing = is_playing;
    w->speed = 1.0;
    w->requested_seek_tick = -1.0;
    w->is_page_frame_due = 1;
}

void page_requests_close(struct page_requests *w)
{
    pthread_mutex_destroy(&w->lock);
}

int page_requests_is_valid_speed(double factor)
{
    return factor >= 1e-3 && factor <= 1e3;
}

void page_requests_merge(void *user, enum server_request what, double value)
{
    struct page_requests *w = user;
    pthread_mutex_lock(&w->lock);
    w->is_page_frame_due = 1;
    switch (what) {
    case SERVER_PLAY:
    case SERVER_PAUSE:
        w->is_playing = what == SERVER_PLAY;
        break;
    case SERVER_STEP:
        w->is_playing = 0;
        w->step += value >= -1e6 && value <= 1e6 ? (int64_t)value : 0;
        break;
    case SERVER_SEEK:
        w->requested_seek_tick = value >= 0.0 ? value : 0.0;
        break;
    case SERVER_SET_SPEED:
        w->speed = page_requests_is_valid_speed(value) ? value : w->speed;
        break;
    case SERVER_ADD_MARKER:
        w->is_marker_requested = 1;
        break;
    case SERVER_STOP:
        w->stop = 1;
        break;
    case SERVER_SHOW_TICK:
        break;
    }
    pthread_mutex_unlock(&w->lock);
}

struct page_request page_requests_read_and_clear(struct page_requests *w)
{
    pthread_mutex_lock(&w->lock);
    struct page_request out = {w->is_playing,
                               w->is_page_frame_due,
                               w->is_marker_requested,
                               w->stop,
                               w->speed,
                               w->requested_seek_tick,
                               w->step};
    w->is_page_frame_due = w->is_marker_requested = 0;
    w->requested_seek_tick = -1.0;
    w->step = 0;
    pthread_mutex_unlock(&w->lock);
    return out;
}

void page_requests_pause(struct page_requests *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_playing = 0;
    pthread_mutex_unlock(&w->lock);
}
