/* Pressure maps of a session: those of its log, and those requested by an observer. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/session/session_internal.h"

/* capacity, in maps: the recorder's thread empties it every few milliseconds */
#define PRESSURE_RING_CAPACITY 32

int tact_session_open_logged_pressure(struct tact_session *s, struct tact_recorder_options *options)
{
    double rate = s->scene->recorder.pressure_rate;
    if (!(rate > 0.0)) {
        return 0;
    }
    s->pressure = malloc(sizeof *s->pressure);
    if (!s->pressure) {
        return -ENOMEM;
    }
    /* touches all pages, so that none is mapped in a tick */
    memset(s->pressure, 0, sizeof *s->pressure);
    s->pressure_log_interval = (uint64_t)fmax(1.0, round(1.0 / (rate * s->period)));
    options->ring_pressures = PRESSURE_RING_CAPACITY;
    return 0;
}

TACT_IN_TICK_RECORD_SECTION void tact_session_request_pressure(struct tact_session *s,
                                                               struct tact_pressure *map)
{
    s->requested_pressure_map = map;
}

void tact_session_choose_pressure_map(struct tact_session *s, uint64_t tick)
{
    int is_logged_pressure_map_due =
        s->recorder && s->pressure_log_interval && tick % s->pressure_log_interval == 0;
    struct tact_pressure *pressure_map_for_log = is_logged_pressure_map_due ? s->pressure : NULL;
    s->is_pressure_map_logged = is_logged_pressure_map_due;
    s->pressure_map_of_tick =
        s->requested_pressure_map ? s->requested_pressure_map : pressure_map_for_log;
    s->requested_pressure_map = NULL;
    tact_world_keep_pressure(s->world, s->pressure_map_of_tick);
}

void tact_session_record_pressure(struct tact_session *s, uint64_t tick, int64_t stamp_ns)
{
    if (s->is_pressure_map_logged) {
        s->logged_pressure_patch_count += s->pressure_map_of_tick->patches;
        tact_recorder_pressure(s->recorder, tick, stamp_ns, s->pressure_map_of_tick);
    }
}

void tact_session_report_pressure(const struct tact_session *s)
{
    const struct tact_recorder_report *r = &s->report.recorder;
    if (!s->pressure_log_interval) {
        return;
    }
    if (r->pressures && !s->logged_pressure_patch_count) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "recorder.pressure_rate: no contact used a model that computes a pressure "
                     "map, such as the model field");
    }
    if (r->pressure_overruns) {
        tact_message(
            s->options.messages, TACT_MESSAGE_WARNING,
            "%llu pressure maps are missing from the log: the recorder thread was too slow",
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
