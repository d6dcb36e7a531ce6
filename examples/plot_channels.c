/* The page of a session without contacts, joints and bodies: what its devices measured, a panel for
 * each unit. */
#include <stdio.h>
#include <string.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

#define MAX_CHANNEL_PANELS 6
#define PANEL_LEFT_FRACTION 0.06
#define PANEL_RIGHT_FRACTION 0.97
#define TOP 0.91
#define PANEL_BOTTOM_FRACTION 0.05

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#56B4E9", "#E69F00", "#404040", "#7F7F7F"};

static const struct tact_device_channel *get_plotted_channel(const struct plot_session *s, int k)
{
    return &s->scene_log.devices[s->channel[k].device].input[s->channel[k].channel];
}

/* Lists the different units in the order of their channels. Returns their number. */
static int list_channel_units(const struct plot_session *s, const char *units[MAX_CHANNEL_PANELS])
{
    int count = 0;
    for (int k = 0; k < s->channel_count; k++) {
        int known = 0;
        for (int u = 0; u < count; u++) {
            known |= !strcmp(units[u], get_plotted_channel(s, k)->unit);
        }
        if (!known && count < MAX_CHANNEL_PANELS) {
            units[count++] = get_plotted_channel(s, k)->unit;
        }
    }
    return count;
}

static int has_channel_unit(const struct plot_session *s, int k, const char *unit)
{
    return !strcmp(get_plotted_channel(s, k)->unit, unit);
}

static void plot_channel_panel(FILE *to, const struct plot_session *s, int count, const char *unit)
{
    char named[MAX_SHOWN_TEXT_BYTES];
    int curve_count = 0;
    snprintf(named, sizeof named, "[%s]", unit);
    fputs("set label 80 ", to);
    drawing_print_quoted(to, "", named);
    fputs(" at graph 0, graph 1.04 left font 'DejaVu Sans Bold,14'\n", to);
    for (int a = 0; a < count; a++) {
        int colour = 0;
        for (int k = 0; k < s[a].channel_count; k++) {
            if (!has_channel_unit(&s[a], k, unit)) {
                continue;
            }
            fputs(curve_count++ ? ", \\\n  " : "plot ", to);
            fprintf(to, "$%c u 1:%d w l lw %s lc rgb '%s' t ", 'A' + a,
                    plot_channel_column(&s[a], k) + 2, a ? "1.5 dt (6,4)" : "2",
                    colours[colour++ % 8]);
            drawing_print_quoted(to, "", a ? "" : get_plotted_channel(&s[a], k)->name);
        }
    }
    fputs(curve_count ? "\n" : "set yrange [0:1]\nplot NaN notitle\n", to);
}

void plot_channels(FILE *to, const struct plot_session *s, int count)
{
    const char *units[MAX_CHANNEL_PANELS];
    int panel_count = list_channel_units(s, units);
    double height = (TOP - PANEL_BOTTOM_FRACTION) / (panel_count ? panel_count : 1);
    fputs("set key at graph 1, graph 1.01 right bottom maxrows 1 samplen 1.5 font ',11'\n"
          "set xrange [from:to]; set xlabel 's' offset 0,0.6; set format y '%g'\n",
          to);
    for (int k = 0; k < panel_count; k++) {
        double top = TOP - k * height;
        fprintf(to,
                "set lmargin at screen %g; set rmargin at screen %g\n"
                "set tmargin at screen %g; set bmargin at screen %g\n",
                PANEL_LEFT_FRACTION, PANEL_RIGHT_FRACTION, top, top - 0.72 * height);
        plot_channel_panel(to, s, count, units[k]);
        fputs("unset label 70; unset label 71; unset label 72; unset label 73\n", to); /* heading */
    }
}
