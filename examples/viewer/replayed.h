/* A replay, as pages show it: it goes at their pace, and to the ticks that they ask for. */
#ifndef TACT_EXAMPLES_VIEWER_REPLAYED_H
#define TACT_EXAMPLES_VIEWER_REPLAYED_H

#include "rt/session/replay.h"
#include "rt/session/scene_log.h"
#include "wire.h"
#include "wishes.h"

struct replayed {
    int port;                   /* 0: any of the usual */
    int browser;                /* 1: one is opened where there is a display */
    const char *allowed_origin; /* see struct server_options */
    const struct tact_stop *stop;
    struct tact_error err; /* text: why the pages could not be served */

    struct server *server; /* NULL until the first turn */
    struct tact_topics *topics;
    struct tact_record *record; /* of the last tick that was replayed */
    size_t record_bytes;
    struct wishes wishes;
    struct wire_gather gather;
    const struct tact_scene_log *view;
    struct wire_state state; /* of the last tick that was replayed */
    int *devices;
    struct tact_pressure *map; /* of that tick */
    double due;                /* ticks that are due */
    int64_t next_ns;           /* of the next frame */
    char *hello;
    void **meshes;
    size_t *mesh_sizes, shapes;
};

/* The turn of a replay (struct tact_replay_options), of pages whose first members are set. */
int replayed_turn(struct replayed *r, struct tact_scene_log *view, const struct tact_log *log,
                  uint64_t *next);

/* To be called with each tick that was replayed; its latencies are those of the log. */
void replayed_tick(struct replayed *r, const struct tact_record *logged,
                   const struct tact_record *record);

/* After the replay; pages that were never open are allowed. */
void replayed_close(struct replayed *r);

#endif
