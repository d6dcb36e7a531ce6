/* The heading of the page: the name of the scene, smaller where it is long, and below it a line for
 * each session. */
#include <stdio.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

#define MAX_LOG_PATH_WIDTH 220.0       /* maximum width of a log's path in the heading [pixels] */
#define HEADING_FONT_POINTS 20.0       /* size of the scene's name [points] */
#define SMALL_HEADING_FONT_POINTS 14.0 /* size of a name that is wide [points] */
#define HEADING_WIDTH (0.96 * PLOT_PAGE_WIDTH)                 /* [pixels] */
#define HEADING_WIDTH_WITH_CLOCK_SHIFT (HEADING_WIDTH - 620.0) /* [pixels] */

void plot_heading(FILE *to, const struct plot_session *s, int count)
{
    const char *scene = s->scene_log.scene->name ? s->scene_log.scene->name : "";
    char name[MAX_SHOWN_TEXT_BYTES];
    const double session_name_position = count > 1 ? 0.9905 : 0.987,
                 first_line_position = count > 1 ? 0.9765 : 0.9715;
    const int has_clock_shift = count > 1 && s[1].shift != 0.0;
    const double room = has_clock_shift ? HEADING_WIDTH_WITH_CLOCK_SHIFT : HEADING_WIDTH,
                 points = text_width(scene, HEADING_FONT_POINTS * 4.0 / 3.0, 1) <= 0.5 * room
                              ? HEADING_FONT_POINTS
                              : SMALL_HEADING_FONT_POINTS;
    text_shorten_to_width(scene, room, points * 4.0 / 3.0, 1, name, sizeof name);
    fputs("set label 70 ", to);
    drawing_print_quoted(to, "", name);
    fprintf(to, " at screen 0.02, screen down(%g) font 'DejaVu Sans Bold,%g' left\n",
            session_name_position, points);
    for (int a = 0; a < count; a++) {
        const struct tact_log_state *st = tact_log_state(s[a].log);
        struct tact_histogram_summary c = tact_histogram_summarise(&s[a].compute);
        char text[MAX_SHOWN_TEXT_BYTES + 256], path[MAX_SHOWN_TEXT_BYTES],
            wake_latency_text[128] = "";
        if (s[a].is_real_time) {
            struct tact_histogram_summary w = tact_histogram_summarise(&s[a].wake_latency);
            snprintf(wake_latency_text, sizeof wake_latency_text, "wake-up %.0f / %.0f / %.0f,  ",
                     (double)w.p50 * 1e-3, (double)w.p99 * 1e-3, (double)w.max * 1e-3);
        }
        text_shorten_to_width(s[a].path, MAX_LOG_PATH_WIDTH, PLOT_SMALL_TEXT_SIZE, 0, path,
                              sizeof path);
        snprintf(
            text, sizeof text,
            "%s:  %.2f s %s, %s, %llu ticks lost, %d faults;  %scompute %.0f / %.0f / %.0f µs  "
            "(p50 / p99 / most)",
            path, s[a].duration, s[a].is_real_time ? "in real time" : "free-wheeling",
            st->complete ? "whole" : "NOT WHOLE", (unsigned long long)st->missing,
            s[a].log_survey.faults, wake_latency_text, (double)c.p50 * 1e-3, (double)c.p99 * 1e-3,
            (double)c.max * 1e-3);
        fprintf(to, "set label %d ", 71 + a);
        drawing_print_quoted(to, count < 2 ? "" : (a ? "B (dashed)  " : "A (solid)  "), text);
        fprintf(to, " at screen 0.02, screen down(%g) font ',11' left\n",
                first_line_position - 0.0105 * a);
    }
    if (has_clock_shift) {
        fprintf(to,
                "set label 73 \"B is shifted by %+.3f s to the clock of A, known within %.1f ms\" "
                "at screen 0.98, screen down(0.9905) font ',11' right\n",
                s[1].shift, 1e3 * s[1].clock_shift_error);
    }
}
