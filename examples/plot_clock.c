/* Two logs of one link, of which the second is drawn on the clock of the first. */
#include <math.h>
#include <string.h>
#include "plot.h"

/* largest accepted disagreement of the clock offsets that the two ends measured [s] */
#define MAX_CLOCK_DISAGREEMENT 0.05

struct clock_offset_of_link {
    double offset;        /* clock of the other end minus that of this one, as measured last [s] */
    double one_way_delay; /* half of the round trip by which the offset was measured, which limits
                             the offset's error [s]; NaN: the logs have no common link, or the
                             offset was not measured */
};

static struct clock_offset_of_link read_last_clock_sample(const struct plot_session *s)
{
    struct clock_offset_of_link sample = {NAN, 0.0};
    int link_count = 0;
    for (int d = 0; d < s->scene_log.device_count; d++) {
        const struct tact_device_info *device = &s->scene_log.devices[d];
        for (int i = 0; i < device->input_count; i++) {
            const double value =
                s->log_survey.last[s->scene_log.device_inputs[d] + 2 + (uint32_t)i];
            if (!survey_is_link_quality_input(device, i)) {
                continue;
            }
            if (!strcmp(device->input[i].name, "clock_offset")) {
                sample.offset = value;
                link_count++;
            } else if (!strcmp(device->input[i].name, "one_way")) {
                sample.one_way_delay = value;
            }
        }
    }
    sample.one_way_delay =
        link_count == 1 && sample.one_way_delay > 0.0 ? sample.one_way_delay : NAN;
    return sample;
}

/* Whether the session's end of its link connects to the address of the other one, or listens; -1:
 * it has no link. */
static int find_whether_end_connects(const struct plot_session *s)
{
    int is_connecting_end = -1;
    for (uint32_t d = 0; d < s->scene_log.scene->devices_count; d++) {
        const struct tact_scene_device *device = &s->scene_log.scene->devices[d];
        for (uint32_t i = 0; i < device->settings_count && !strcmp(device->type, "network"); i++) {
            const char *key = device->settings[i].key;
            is_connecting_end = !strcmp(key, "connect")  ? 1
                                : !strcmp(key, "listen") ? 0
                                                         : is_connecting_end;
        }
    }
    return is_connecting_end;
}

/* Time of tick 0 on the session's own clock [ns]. */
static double find_start_time_ns(const struct plot_session *s)
{
    return (double)s->log_survey.first_ns -
           1e9 * s->scene_log.scene->period * (double)tact_log_state(s->log)->first_tick;
}

int plot_align_session_clocks(struct plot_session *s)
{
    const int is_connecting_end[2] = {find_whether_end_connects(&s[0]),
                                      find_whether_end_connects(&s[1])};
    const int are_both_ends_of_link =
        is_connecting_end[0] >= 0 && is_connecting_end[1] == !is_connecting_end[0];
    const struct clock_offset_of_link a = read_last_clock_sample(&s[0]),
                                      b = read_last_clock_sample(&s[1]);
    /* the clock offset that the end with the smaller delay has measured */
    const double offset = a.one_way_delay <= b.one_way_delay ? a.offset : -b.offset;
    const double clock_shift_of_second_session =
        1e-9 * (find_start_time_ns(&s[1]) - find_start_time_ns(&s[0])) - offset;
    if (!(fabs(a.offset + b.offset) < MAX_CLOCK_DISAGREEMENT + a.one_way_delay + b.one_way_delay) ||
        !(clock_shift_of_second_session < s[0].duration) ||
        !(clock_shift_of_second_session > -s[1].duration)) {
        return are_both_ends_of_link;
    }
    s[1].is_other_end_of_link = are_both_ends_of_link;
    s[1].shift = clock_shift_of_second_session;
    s[1].clock_shift_error = fmin(a.one_way_delay, b.one_way_delay);
    s[1].from += clock_shift_of_second_session;
    s[1].to += clock_shift_of_second_session;
    for (int i = 0; i < PLOT_MAX_TIME_INTERVALS; i++) {
        s[1].values_by_time_interval[i].time += clock_shift_of_second_session;
    }
    for (int i = 0; i < s[1].time_mark_count; i++) {
        s[1].mark[i].time += clock_shift_of_second_session;
    }
    return 0;
}
