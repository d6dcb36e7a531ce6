/* A log as frames of the viewer: its records run again tick by tick, so that a page is sent what
 * was computed and not only what was logged. */
#ifndef TACT_EXAMPLES_VIEWER_PLAYBACK_H
#define TACT_EXAMPLES_VIEWER_PLAYBACK_H

#include <stdint.h>
#include "rt/session/scene_log.h"
#include "wire.h"

struct playback {
    struct tact_log *log;
    struct tact_scene_log view;
    struct wire_gather gather;
    uint64_t index;                   /* of the record in `now`; 0: none was read */
    struct tact_record *before, *now; /* of two ticks, one after the other */
    int *devices;
    struct tact_pressure *map;                                  /* of the tick that was run last */
    void (*each)(void *user, const struct tact_record *record); /* called with each record that is
                                                                   read on the way; or NULL */
    void *user;
    char *hello;   /* wire_hello() */
    size_t shapes; /* of each the mesh, NULL where it needs none */
    void **meshes;
    size_t *mesh_sizes;
};

/* Of a log that is open, and stays so; to be closed whatever comes back. 0 or a negative errno with
 * *err filled. */
int playback_open(struct playback *p, struct tact_log *log, struct tact_error *err);
void playback_close(struct playback *p);

/* Reads every record up to the target-th, from the last one on, and runs its tick as long as
 * budget_ns has not passed; then the target itself. Jumps back, and forward by over a second of
 * ticks, are to the target alone. The first record has none before it and cannot be run: the second
 * stands for it. */
int playback_go(struct playback *p, uint64_t target, int64_t budget_ns);

/* The frame of the ticks run since the last one; flags: WIRE_PAUSED and so on. Its bytes. */
size_t playback_frame(struct playback *p, int flags, void *out);

#endif
