/* Marks on the time axis of a session. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "plot.h"

static void add_time_mark(struct plot_session *s, double time, int is_mark_of_fault,
                          const char *what, const char *name)
{
    if (s->time_mark_count == PLOT_MAX_TIME_MARKS || time < 0.0) {
        return;
    }
    struct plot_time_mark *m = &s->mark[s->time_mark_count++];
    m->time = time;
    m->is_mark_of_fault = is_mark_of_fault;
    snprintf(m->text, sizeof m->text, "%s%s%.40s", what, *name ? " " : "", name);
}

/* Adds one mark for all pairs that begin to touch at about the same time. */
static void add_first_touch_marks(struct plot_session *s, const double *first_touch_times)
{
    double last = -1.0;
    for (int i = 0; i < s->pair_count; i++) {
        if (last < 0.0 || fabs(first_touch_times[i] - last) > 0.02 * s->duration) {
            add_time_mark(s, first_touch_times[i], 0, "touch", "");
            last = first_touch_times[i];
        }
    }
}

static int is_time_already_marked(const struct plot_session *s, double time)
{
    for (int i = 0; i < s->time_mark_count; i++) {
        if (fabs(s->mark[i].time - time) <= 0.02 * s->duration) {
            return 1;
        }
    }
    return 0;
}

/* Adds marks of slips and releases of held bodies, except near other marks; first touches are
 * marked by pair. */
static void add_hold_marks(struct plot_session *s)
{
    const struct tact_log_event *e;
    for (size_t i = 0; (e = tact_log_event(s->log, i)); i++) {
        const double time = (double)e->tick * s->scene_log.scene->period;
        const int is_slip_event = !strcmp(e->name, "slip");
        if ((is_slip_event || !strcmp(e->name, "release")) && !is_time_already_marked(s, time)) {
            add_time_mark(s, time, is_slip_event, is_slip_event ? "slip:" : "release:", e->text);
        }
    }
}

static int is_event_of_hold(const struct tact_log_event *e)
{
    static const char *const names[] = {"touch", "slip", "release", "left out"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        found |= !strcmp(e->name, names[i]);
    }
    return found;
}

void plot_collect_time_marks(struct plot_session *s, const double *first_touch_times)
{
    const struct tact_log_event *e;
    double period = s->scene_log.scene->period;
    int is_fault_marked = 0;
    add_first_touch_marks(s, first_touch_times);
    for (uint32_t i = 0; i < s->scene_log.scene->bodies_count; i++) {
        const struct tact_scene_body *b = &s->scene_log.scene->bodies[i];
        if (!b->fixed && b->support_until > 0.0 && b->support_until < s->duration) {
            add_time_mark(s, b->support_until, 0, "support ends:", b->name);
        }
    }
    for (size_t i = 0; (e = tact_log_event(s->log, i)); i++) {
        if (is_event_of_hold(e)) {
            continue;
        }
        int is_benign_event = !strcmp(e->name, "marker") || !strcmp(e->name, "realtime");
        is_fault_marked |= !strcmp(e->name, "fault");
        add_time_mark(s, (double)e->tick * period, !is_benign_event,
                      is_benign_event ? e->text : e->name, "");
    }
    if (s->log_survey.faults && !is_fault_marked) {
        add_time_mark(s, (double)s->log_survey.first_fault_tick * period, 1, "fault", "");
    }
    for (uint64_t i = 0; i < s->log_survey.gaps && i < SURVEY_MAX_GAPS; i++) {
        char text[32];
        snprintf(text, sizeof text, "%llu", (unsigned long long)s->log_survey.gap[i].missing);
        add_time_mark(s, (double)s->log_survey.gap[i].tick_before_gap * period, 1,
                      "ticks missing:", text);
    }
    add_hold_marks(s);
}
