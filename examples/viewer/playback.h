/*
 * Computes the frames of the viewer from a log. It runs the ticks of the log again, so that a page
 * shows all computed values, not only the logged ones.
 */
#ifndef TACT_EXAMPLES_VIEWER_PLAYBACK_H
#define TACT_EXAMPLES_VIEWER_PLAYBACK_H

#include <stdint.h>
#include "rt/session/scene_log.h"
#include "wire.h"

struct playback {
    struct tact_log *log;
    struct tact_scene_log scene_log;
    struct wire_tick_statistics tick_statistics;
    uint64_t index;                   /* index of the record in `now`; 0: none was read */
    struct tact_record *before, *now; /* records of two successive ticks */
    int *devices;
    struct tact_pressure *map; /* pressures of the last tick that ran */
    /* called with each record that is read; or NULL */
    void (*on_record)(void *user, const struct tact_record *record);
    void *user;
    char *hello;   /* message of wire_make_hello_message() */
    size_t shapes; /* number of shapes, and their meshes; NULL where a shape needs none */
    void **meshes;
    size_t *mesh_sizes;
};

/* Starts the playback of an open log, which must stay open. 0 or a negative errno with *err filled.
 * Call playback_close() in either case. */
int playback_open(struct playback *p, struct tact_log *log, struct tact_error *err);
void playback_close(struct playback *p);

/* Reads the records from the last one up to the target-th and runs their ticks until time_budget_ns
 * has passed, then runs the target itself. A jump back, or forward by more than a second of ticks,
 * goes to the target directly. The first record has no predecessor and cannot run: the second is
 * shown in its place. */
int playback_go_to_tick(struct playback *p, uint64_t target, int64_t time_budget_ns);

/* Index of the record of a tick, for playback_go_to_tick(): see log_find_record(). 0 or a negative
 * errno. */
int playback_find_record(struct playback *p, uint64_t tick, uint64_t *index);

/* Takes the sample of the ticks since the last one; flags: WIRE_PAUSED etc. */
void playback_fill_sample(struct playback *p, int flags, struct wire_sample *out);

/* Age of the oldest moments that a record's tick used [ticks], 0: all were computed on the host. */
uint32_t playback_age_of_moments(const struct tact_scene_log *scene_log, const double *values);

#endif
