/* Shows a replay in the viewer. The pages control its speed and choose its ticks. */
#ifndef TACT_EXAMPLES_VIEWER_REPLAYED_H
#define TACT_EXAMPLES_VIEWER_REPLAYED_H

#include "rt/session/replay.h"
#include "rt/session/scene_log.h"
#include "wire.h"
#include "page_requests.h"

struct replayed {
    int port;                   /* 0: the first free one of the usual ports */
    int must_open_browser;      /* 1: open a browser if there is a display */
    const char *allowed_origin; /* see struct server_options */
    const struct tact_stop *stop;
    struct tact_error err; /* error for which the pages could not be served */

    struct server *server; /* viewer's server; NULL until the first tick was replayed */
    struct tact_topics *topics;
    struct tact_record *record; /* record of the last tick that was replayed */
    size_t record_bytes;
    struct page_requests page_requests;
    struct wire_tick_statistics tick_statistics;
    const struct tact_scene_log *scene_log;
    struct wire_session_state state; /* state of the last tick that was replayed */
    int *devices;
    struct tact_pressure *map; /* pressure map of the last replayed tick */
    double due;                /* number of ticks that are due */
    int64_t next_frame_due_ns; /* when the next frame is due */
    char *hello;
    void **meshes;
    size_t *mesh_sizes, shapes;
};

/* The turn() of a replay (struct tact_replay_options). The caller sets the members up to `stop`
 * beforehand. */
int replay_view_choose_tick(struct replayed *r, struct tact_scene_log *scene_log,
                            const struct tact_log *log, uint64_t *next);

/* Call it with each replayed tick. The latencies that it shows are those of the log. */
void replay_view_add_tick(struct replayed *r, const struct tact_record *logged,
                          const struct tact_record *record);

/* Call it after the replay, even where the pages were never opened. */
void replay_view_close(struct replayed *r);

#endif
