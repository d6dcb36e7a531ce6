/* Shows a log in the viewer. */
#ifndef TACT_EXAMPLES_VIEWER_PLAYER_H
#define TACT_EXAMPLES_VIEWER_PLAYER_H

#include <stdio.h>
#include "contact/error.h"
#include "rt/loop.h"

struct player_options {
    const char *path;
    int port;                   /* 0: the first free one of the usual ports */
    double time;                /* time of the log at which the player starts [s] */
    int starts_paused;          /* 1: it starts paused */
    const char *allowed_origin; /* see struct server_options */
    const struct tact_stop *stop;
    int must_open_browser; /* 1: open a browser if there is a display */
};

/* Serves the pages until a stop is requested. 0, or a negative errno with *err filled. */
int player_run(const struct player_options *options, struct tact_error *err);

/* Prints the address of the pages. Opens a browser there if requested and possible. */
void player_print_and_open_address(FILE *to, const char *address, int must_open_browser);

#endif
