/* Two logs of one link, of which the second is drawn on the clock of the first. */
#include <math.h>
#include <string.h>
#include "plot.h"

/* largest accepted disagreement of the clock offsets that the two ends measured [s] */
#define MAX_CLOCK_DISAGREEMENT 0.05

/* Clock of the other end minus that of this one, as measured last [s]; NaN: the logs have no common
 * link, or it was not measured. */
static double find_clock_offset(const struct plot_session *s)
{
    double offset = NAN, one_way = 0.0;
    int links = 0;
    for (int d = 0; d < s->view.device_count; d++) {
        const struct tact_device_info *device = &s->view.devices[d];
        for (int i = 0; i < device->input_count; i++) {
            const double value = s->survey.last[s->view.device_inputs[d] + 2 + (uint32_t)i];
            if (!survey_is_link_quality_input(device, i)) {
                continue;
            }
            offset = strcmp(device->input[i].name, "clock_offset") ? offset : value;
            links += !strcmp(device->input[i].name, "clock_offset");
            one_way = strcmp(device->input[i].name, "one_way") ? one_way : value;
        }
    }
    return links == 1 && one_way > 0.0 ? offset : NAN;
}

/* Time of tick 0 on the session's own clock [ns]. */
static double find_start_time_ns(const struct plot_session *s)
{
    return (double)s->survey.first_ns -
           1e9 * s->view.scene->period * (double)tact_log_state(s->log)->first_tick;
}

void plot_align_session_clocks(struct plot_session *s)
{
    const double offset[2] = {find_clock_offset(&s[0]), find_clock_offset(&s[1])};
    const double shift = 1e-9 * (find_start_time_ns(&s[1]) - find_start_time_ns(&s[0])) - offset[0];
    if (!(fabs(offset[0] + offset[1]) < MAX_CLOCK_DISAGREEMENT) || !(shift < s[0].duration) ||
        !(shift > -s[1].duration)) {
        return;
    }
    s[1].shift = shift;
    s[1].from += shift;
    s[1].to += shift;
    for (int i = 0; i < PLOT_MAX_TIME_INTERVALS; i++) {
        s[1].values_by_time_interval[i].time += shift;
    }
    for (int i = 0; i < s[1].time_mark_count; i++) {
        s[1].mark[i].time += shift;
    }
}
