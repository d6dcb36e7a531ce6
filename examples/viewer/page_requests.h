/*
 * Requests of the pages. The server's thread stores them; the thread that runs the ticks takes
 * them.
 */
#ifndef TACT_EXAMPLES_VIEWER_PAGE_REQUESTS_H
#define TACT_EXAMPLES_VIEWER_PAGE_REQUESTS_H

#include <pthread.h>
#include <stdint.h>
#include "server.h"

#define PAGE_FRAME_INTERVAL_NS 16666667 /* time between two frames */

struct page_requests {
    pthread_mutex_t lock;
    int is_playing;
    double speed; /* factor of real time */
    int64_t step; /* number of ticks by which the page steps forward; negative: back */
    double requested_seek_tick; /* tick, or -1 */
    int is_page_frame_due;      /* 1: a frame is due although playback is paused */
    int is_marker_requested, stop;
};

/* Requests of the pages since the last call. */
struct page_request {
    int is_playing, is_page_frame_due, is_marker_requested, stop;
    double speed, requested_seek_tick;
    int64_t step;
};

void page_requests_open(struct page_requests *w, int is_playing);
void page_requests_close(struct page_requests *w);

/* Whether a factor of real time is accepted as a speed; others are ignored. */
int page_requests_is_valid_speed(double factor);

/* Stores a request of a page: the member `ask` of struct server_options. user: a struct
 * page_requests. */
void page_requests_merge(void *user, enum server_request what, double value);

struct page_request page_requests_read_and_clear(struct page_requests *w);

/* Pauses the playback at the end of the log. */
void page_requests_pause(struct page_requests *w);

#endif
