/* Panels on bodies held in hands: grip and load force, slip and turn. */
#include <stdio.h>
#include <string.h>
#include "plot.h"
#include "text.h"

const char *plot_hold_name(const struct plot_session *s, int hold)
{
    const struct tact_scene_log_hold *h = &s->scene_log.holds[s->hold[hold]];
    return text_hold_name(h->body, h->hand);
}

int plot_hold_colour(const struct plot_session *s, int session, int hold)
{
    const int first = plot_find_in_first_session(s, s->hold_count, session, hold, plot_hold_name);
    return first < 0 ? PLOT_COLOUR_OF_UNMATCHED_OBJECTS : first;
}

/* Draws curves of two quantities: the first solid; the second dashed, on the right axis if it has
 * one. */
static void draw_grip_and_slip_curves(FILE *to, const struct plot_session *s, int count,
                                      const char *const colours[6], const int which[2],
                                      const char *axes)
{
    const char *curve_separator = "plot ";
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].hold_count; i++) {
            for (int k = 0; k < 2; k++) {
                fprintf(to, "%s$%c u 1:%d %s w l dt %s lw %g lc rgb '%s' notitle", curve_separator,
                        'A' + a, plot_hold_column(&s[a], i, which[k]) + 2, k ? axes : "",
                        k ? "(6,4)" : "1", a ? 1.0 : 2.0, colours[plot_hold_colour(s, a, i)]);
                curve_separator = ", \\\n  ";
            }
        }
    }
}

void plot_holds(FILE *to, const struct plot_session *s, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title))
{
    frame(to, 0, row, "Grip force, dashed: load force [N]; dotted: ratio");
    fputs("set ytics nomirror; set y2tics font ',12'; set yrange [0:0.1<*]; set y2range [0:20]\n",
          to);
    draw_grip_and_slip_curves(to, s, count, colours,
                              (const int[2]){HOLD_GRIP_FORCE, HOLD_LOAD_FORCE}, "");
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].hold_count; i++) {
            fprintf(to, ", \\\n  $%c u 1:%d axes x1y2 w l dt 3 lw 1.5 lc rgb '%s' notitle", 'A' + a,
                    plot_hold_column(&s[a], i, HOLD_GRIP_TO_LOAD_RATIO) + 2,
                    colours[plot_hold_colour(s, a, i)]);
        }
    }
    frame(to, 1, row, "Slip so far [mm], dashed: turn so far [deg]");
    fputs(
        "set ytics nomirror; set y2tics font ',12'; set yrange [0:0.1<*]; set y2range [0:0.1<*]\n",
        to);
    draw_grip_and_slip_curves(to, s, count, colours,
                              (const int[2]){HOLD_SLIP_DISTANCE, HOLD_SLIP_ANGLE}, "axes x1y2");
    fputs("\n", to);
}
