/* Plays a log to the pages of the viewer. */
#ifndef TACT_EXAMPLES_VIEWER_PLAYER_H
#define TACT_EXAMPLES_VIEWER_PLAYER_H

#include <stdio.h>
#include "contact/error.h"
#include "rt/loop.h"

struct player_options {
    const char *path;
    int port;                   /* 0: any of the usual */
    double time;                /* that it begins at [s] */
    int paused;                 /* 1: at the start */
    const char *allowed_origin; /* see struct server_options */
    const struct tact_stop *stop;
    int browser; /* 1: one is opened where there is a display */
};

/* Serves until the stop is requested. 0, or a negative errno with *err filled. */
int player_run(const struct player_options *options, struct tact_error *err);

/* Prints where the pages are, and opens a browser there where one is wanted and can be had. */
void player_announce(FILE *to, const char *address, int browser);

#endif
