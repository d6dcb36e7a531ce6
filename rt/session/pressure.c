/* Pressure maps of a session: those of its log, and those requested by an observer. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/session_internal.h"

#define PRESSURE_RING_CAPACITY                                                                     \
    32 /* capacity, in maps: the recorder's thread empties it every few milliseconds */

int tact_session_open_pressure(struct tact_session *s, struct tact_recorder_options *options)
{
    double rate = s->scene->recorder.pressure_rate;
    if (!(rate > 0.0)) {
        return 0;
    }
    s->pressure = malloc(sizeof *s->pressure);
    if (!s->pressure) {
        return -ENOMEM;
    }
    memset(s->pressure, 0,
           sizeof *s->pressure); /* touches all pages, so that none is mapped in a tick */
    s->pressure_every = (uint64_t)fmax(1.0, round(1.0 / (rate * s->period)));
    options->ring_pressures = PRESSURE_RING_CAPACITY;
    return 0;
}

void tact_session_request_pressure(struct tact_session *s, struct tact_pressure *map)
{
    s->pressure_asked = map;
}

void tact_session_keep_pressure(struct tact_session *s, uint64_t tick)
{
    int due = s->recorder && s->pressure_every && tick % s->pressure_every == 0;
    struct tact_pressure *own = due ? s->pressure : NULL;
    s->pressure_due = due;
    s->pressure_now = s->pressure_asked ? s->pressure_asked : own;
    s->pressure_asked = NULL;
    tact_world_keep_pressure(s->world, s->pressure_now);
}

void tact_session_record_pressure(struct tact_session *s, uint64_t tick, int64_t stamp_ns)
{
    if (s->pressure_due) {
        s->pressure_patches += s->pressure_now->patches;
        tact_recorder_pressure(s->recorder, tick, stamp_ns, s->pressure_now);
    }
}

void tact_session_report_pressure(const struct tact_session *s)
{
    const struct tact_recorder_report *r = &s->report.recorder;
    if (!s->pressure_every) {
        return;
    }
    if (r->pressures && !s->pressure_patches) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "recorder.pressure_rate: no contact had a model that computes a pressure, "
                     "such as field");
    }
    if (r->pressure_overruns) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%llu pressure maps are missing from the log: the recorder was too slow",
                     (unsigned long long)r->pressure_overruns);
    }
    if (r->polygons_left_out) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%llu polygons of pressure maps are missing from the log: a map has room for "
                     "%d patches, %d polygons and %d corners",
                     (unsigned long long)r->polygons_left_out, TACT_PRESSURE_PATCHES,
                     TACT_PRESSURE_POLYGONS, TACT_PRESSURE_CORNERS);
    }
}
