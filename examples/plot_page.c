/* The page of tact plot, as a script for gnuplot. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

#define WIDTH 0.41 /* of a panel, of the page */
#define HEIGHT 0.16
#define GRID "set grid lw 0.6 lc rgb '#E4E4E4'\n"
#define KEY                                                                                        \
    "set key at graph 1, graph 1.01 right bottom maxrows 3 samplen 1.5 spacing 0.9 font ',11'"

static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73",
                                      "#CC79A7", "#56B4E9", "#7F7F7F"};

/* A plot of several curves: commas between them, and nothing drawn twice. */
struct curves {
    FILE *to;
    int count;
};

__attribute__((format(printf, 2, 3))) static void curve(struct curves *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs(c->count++ ? ", \\\n  " : "plot ", c->to);
    vfprintf(c->to, format, args);
    va_end(args);
}

/* A panel without curves must still be drawn: its frame, and why it is empty. */
static void finish(struct curves *c, const char *why)
{
    if (!c->count) {
        fprintf(c->to,
                "set label 90 '%s' at graph 0.5, graph 0.5 center tc '#707070'\n"
                "set yrange [0:1]\nplot NaN notitle",
                why);
    }
    fputs("\nunset label 90\n", c->to);
}

static void panel(FILE *to, int column, int row, const char *title)
{
    double left = column ? 0.54 : 0.05, top = 0.915 - 0.229 * row;
    fprintf(to,
            "\nset lmargin at screen %g; set rmargin at screen %g\n"
            "set tmargin at screen %g; set bmargin at screen %g\n"
            "set autoscale; unset logscale; unset label 81; unset y2tics; set ytics mirror\n"
            "set xrange [from:to]; set xlabel 's' offset 0,0.6; set format y '%%g'; unset key\n"
            "set label 80 '%s' at graph 0, graph 1.085 left font 'DejaVu Sans Bold,14'\n",
            left, left + WIDTH, top, top - HEIGHT, title);
}

static void marks(FILE *to, const struct plot_session *s, int labels)
{
    for (int i = 0; i < s->mark_count; i++) {
        const struct plot_mark *m = &s->mark[i];
        const char *colour = m->bad ? "#B00020" : "#707070";
        fprintf(to,
                "set arrow %d from first %g, graph 0 to first %g, graph 1 nohead dt 3 lw %d "
                "lc rgb '%s' back\n",
                i + 1, m->time, m->time, m->bad ? 2 : 1, colour);
        if (labels) {
            fprintf(to, "set label %d ", i + 1);
            drawing_quoted(to, " ", m->text);
            fprintf(to,
                    " at first %g, graph %g left offset 0.2,0 tc rgb '%s' font ',11' "
                    "front\n",
                    m->time, 0.94 - 0.09 * (i % 4), colour);
        } else {
            fprintf(to, "unset label %d\n", i + 1);
        }
    }
}

static void unmark(FILE *to)
{
    for (int i = 0; i < PLOT_MARKS; i++) {
        fprintf(to, "unset arrow %d; unset label %d\n", i + 1, i + 1);
    }
}

/* Place of a session's pair among those of the first session, or -1. */
static int slot(const struct plot_session *s, int session, int pair)
{
    const char *name = s[session].view.pairs[s[session].pair[pair].pair].name;
    for (int i = 0; i < s->pair_count; i++) {
        if (!strcmp(name, s->view.pairs[s->pair[i].pair].name)) {
            return i;
        }
    }
    return -1;
}

/* A pair has the same colour in both sessions. */
static const char *pair_colour(const struct plot_session *s, int session, int pair)
{
    int place = slot(s, session, pair);
    return colours[place < 0 ? PLOT_PAIRS - 1 - pair : place];
}

/* The first curve is broad, so that one that runs over it leaves both to be seen. */
static const char *style(int session, int curve)
{
    return session ? "dt (6,4) lw 1.5" : (curve ? "dt 1 lw 1.8" : "dt 1 lw 4");
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* An impact of a few ticks would leave nothing to be seen of the rest: where the largest hundredth
 * of the values stands far above the others, the axis ends below it, and the panel says so. */
static void range(FILE *to, const struct plot_session *s, int count, int what, double scale,
                  int signs)
{
    static double value[2 * PLOT_PAIRS * PLOT_BUCKETS];
    size_t used = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < PLOT_BUCKETS; i++) {
            const struct plot_bucket *b = &s[a].bucket[i];
            double most = 0.0;
            for (int k = 0; k < s[a].pair_count; k++) {
                int column = plot_pair_column(k, what);
                most = fmax(most, fmax(fabs(b->low[column]), fabs(b->high[column])));
            }
            if (most > 0.0) {
                value[used++] = scale * most;
            }
        }
    }
    qsort(value, used, sizeof *value, by_size);
    double most = used ? value[used - 1] : 0.0, usual = used ? value[used - 1 - used / 50] : 0.0;
    if (most > 3.0 * usual && usual > 0.0) {
        fprintf(to,
                "set yrange [%g:%g]\nset label 81 'largest: %.3g' at graph 0.5, graph 0.92 center "
                "tc rgb '#B00020' font ',11'\n",
                signs * 1.6 * usual, 1.6 * usual, most);
    } else {
        fprintf(to, "set yrange [%g:%g]\nunset label 81\n", signs * 1.2 * fmax(most, 1e-3),
                1.2 * fmax(most, 1e-3));
    }
}

static void normal_panel(FILE *to, const struct plot_session *s, int count)
{
    struct curves c = {to, 0};
    panel(to, 0, 0, "Normal force [N]");
    fputs(KEY "\n", to);
    range(to, s, count, PAIR_NORMAL, 1.2, 0);
    marks(to, s, 1);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            curve(&c, "$%c u 1:%d w l %s lc rgb '%s' t ", 'A' + a,
                  plot_pair_column(i, PAIR_NORMAL) + 2, style(a, i), pair_colour(s, a, i));
            int known = a && slot(s, a, i) >= 0; /* dashed, with the colour of the first */
            drawing_quoted(to, "", known ? "" : s[a].view.pairs[s[a].pair[i].pair].name);
        }
    }
    finish(&c, "nothing touched");
    marks(to, s, 0);
}

/* A quantity of the contacts with its limit shaded, red where it is at the limit. */
static void limit_panel(FILE *to, const struct plot_session *s, int count, int row, int signs)
{
    struct curves c = {to, 0};
    int what = row == 1 ? PAIR_FRICTION : PAIR_TORSION;
    int active = row == 1 ? PAIR_FRICTION_ACTIVE : PAIR_TORSION_ACTIVE;
    double scale = row == 1 ? 1.0 : 1e3;
    panel(to, 0, row,
          row == 1 ? "Friction force [N]; shaded: limit μN; red: reached"
                   : "Torsion [mN m]; shaded: limit ±μNk; red: reached");
    range(to, s, count, what + 1, scale, signs);
    for (int i = 0; i < s->pair_count; i++) {
        int limit = plot_pair_column(i, what + 1) + 2;
        curve(&c,
              "$A u 1:(%d*%g*$%d):(%g*$%d) w filledcurves fs transparent solid 0.15 noborder "
              "fc rgb '#808080' notitle",
              signs, scale, limit, scale, limit);
        for (int sign = signs ? -1 : 1; sign <= 1; sign += 2) {
            curve(&c, "$A u 1:(%d*%g*$%d) w l lw 0.7 lc rgb '%s' notitle", sign, scale, limit,
                  colours[i]);
        }
    }
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            curve(&c, "$%c u 1:(%g*$%d) w l %s lc rgb '%s' notitle", 'A' + a, scale,
                  plot_pair_column(i, what) + 2, style(a, i), pair_colour(s, a, i));
            curve(&c, "$%c u 1:(%g*$%d) w p pt 7 ps 0.5 lc rgb '#D00000' notitle", 'A' + a, scale,
                  plot_pair_column(i, active) + 2);
        }
    }
    finish(&c, "nothing touched");
}

/* Largest distance of the patch's outline from its centre [mm]. */
static double extent(const struct plot_pair *p)
{
    double most = 0.0;
    for (int k = 0; k < p->corner_count; k++) {
        most = fmax(most, 1e3 * hypot(p->corner[k][0], p->corner[k][1]));
    }
    return most > 0.0 ? most : 1.0;
}

/* Patches side by side, each around its centre and as large as there is room. */
static void centre_panel(FILE *to, const struct plot_session *s, int count)
{
    struct curves c = {to, 0};
    double half = fmax(1.15, 1.15 * s->pair_count * HEIGHT / WIDTH);
    unmark(to);
    panel(to, 0, 3, "Patch of each contact; dots: centre of pressure");
    fprintf(to,
            "set yrange [-%g:%g]; set xrange [-1.15:%g]; set xlabel ' '; set format x ''\n"
            "set format y ''; set tics scale 0; unset grid\n",
            half, half, 2.0 * half * WIDTH / HEIGHT - 1.15);
    for (int i = 0; i < s->pair_count; i++) {
        const struct plot_pair *p = &s->pair[i];
        double x = 2.3 * i, size[2] = {0.0, 0.0};
        for (int k = 0; k < p->corner_count; k++) {
            size[0] = fmax(size[0], 2e3 * fabs(p->corner[k][0]));
            size[1] = fmax(size[1], 2e3 * fabs(p->corner[k][1]));
        }
        fprintf(to, "set label %d ", 40 + i);
        drawing_quoted(to, "", s->view.pairs[p->pair].name);
        fprintf(to,
                " at first %g, graph -0.07 center tc rgb '%s' font ',11'\n"
                "set label %d '%.3g × %.3g mm' at first %g, graph -0.14 center font ',11'\n",
                x, colours[i], 50 + i, size[0], size[1], x);
    }
    for (int i = 0; i < s->pair_count; i++) {
        const struct plot_pair *p = &s->pair[i];
        double x = 2.3 * i;
        curve(&c,
              "$AO%d u ($1/%g+%g):($2/%g) w filledcurves closed fs transparent solid 0.18 "
              "noborder fc rgb '%s' notitle",
              i, extent(p), x, extent(p), colours[i]);
        curve(&c, "$AO%d u ($1/%g+%g):($2/%g) w l lw 1.5 lc rgb '%s' notitle", i, extent(p), x,
              extent(p), colours[i]);
    }
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            int place = slot(s, a, i);
            if (place >= 0) {
                double size = extent(&s->pair[place]);
                curve(&c, "$%cC%d u ($1/%g+%g):($2/%g) w p pt %d ps 0.7 lc rgb '%s' notitle",
                      'A' + a, i, size, 2.3 * place, size, a ? 6 : 7, colours[place]);
            }
        }
    }
    finish(&c, "nothing touched");
    for (int i = 0; i < s->pair_count; i++) {
        fprintf(to, "unset label %d; unset label %d\n", 40 + i, 50 + i);
    }
    fputs("set format x '%g'; set tics scale 1\n" GRID, to);
}

static void joint_panel(FILE *to, const struct plot_session *s, int count)
{
    struct curves c = {to, 0};
    int slides = 0, hinges = 0;
    for (int i = 0; i < s->joint_count; i++) {
        *(s->view.joints[s->joint[i]].slides ? &slides : &hinges) += 1;
    }
    marks(to, s, 0);
    panel(to, 1, 0, slides ? (hinges ? "Joints [deg, mm]" : "Joints [mm]") : "Joints [deg]");
    fputs("" KEY "\n", to);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].joint_count; i++) {
            int column = plot_joint_column(&s[a], i) + 2;
            curve(&c, "$%c u 1:%d w l dt 3 lw 2 lc rgb '%s' notitle", 'A' + a, column + 1,
                  colours[i]);
            curve(&c, "$%c u 1:%d w l %s lc rgb '%s' ", 'A' + a, column, style(a, 1), colours[i]);
            fputs(a ? "notitle" : "t ", to);
            if (!a) {
                drawing_quoted(to, "", s->view.joints[s->joint[i]].name);
            }
        }
    }
    if (s->joint_count) {
        curve(&c, "NaN w l dt 3 lw 2 lc rgb '#303030' t 'target'");
    }
    finish(&c, "no joints");
}

static void body_panel(FILE *to, const struct plot_session *s, int count)
{
    struct curves c = {to, 0};
    panel(to, 1, 1, "Bodies: turned [deg], moved [mm, dashed]");
    fputs("set ytics nomirror; set y2tics; set yrange [0:0.1<*]; set y2range "
          "[0:0.1<*]\n" KEY "\n",
          to);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].body_count; i++) {
            int column = plot_body_column(&s[a], i) + 2;
            curve(&c, "$%c u 1:%d w l dt 1 lw %g lc rgb '%s' t ", 'A' + a, column, a ? 1.0 : 2.0,
                  colours[(i + 2 * a) % 6]);
            drawing_quoted(to, a ? "B: " : (count > 1 ? "A: " : ""), s[a].view.bodies[i].name);
            curve(&c, "$%c u 1:%d axes x1y2 w l dt (6,4) lw 1.5 lc rgb '%s' notitle", 'A' + a,
                  column + 1, colours[(i + 2 * a) % 6]);
        }
    }
    finish(&c, "no bodies that move");
}

static const char *const time_names[2] = {"wake-up", "compute"};
static const char *const time_colours[2][2] = {{"#56B4E9", "#9F7FC0"}, {"#404040", "#D08080"}};

static void latency_panels(FILE *to, const struct plot_session *s, int count)
{
    struct curves line = {to, 0}, bars = {to, 0};
    double period = s->view.scene->period * 1e6;
    panel(to, 1, 2, "Time of each tick [µs]; red: the period");
    fprintf(to, "set logscale y; set yrange [0.5:%g]; " KEY "\n", period * 5.0);
    for (int a = 0; a < count; a++) {
        for (int k = s[a].real ? 0 : 1; k < 2; k++) {
            int column = plot_time_column(&s[a]) + 2 + k;
            curve(&line, "$%c u 1:%d w p pt 7 ps 0.3 lc rgb '%s' t '%s%s'", 'A' + a, column,
                  time_colours[k][a], count > 1 ? (a ? "B: " : "A: ") : "", time_names[k]);
        }
    }
    curve(&line, "%g w l lw 1.5 lc rgb '#D00000' notitle", period);
    finish(&line, "");
    unmark(to);
    panel(to, 1, 3, "How many ticks took how long [µs]");
    fprintf(to,
            "set logscale xy; set xrange [0.5:%g]; set yrange [0.7:*]; "
            "set format y '%%.0f'; set xlabel 'µs' offset 0,0.6; " KEY "\n"
            "set arrow 99 from first %g, graph 0 to first %g, graph 1 nohead lw 1.5 lc rgb "
            "'#D00000'\n",
            period * 5.0, period, period);
    for (int a = 0; a < count; a++) {
        for (int k = s[a].real ? 0 : 1; k < 2; k++) {
            curve(&bars,
                  "$%cH u 1:($%d>0?$%d:NaN):($1*0.115) w boxes fs transparent solid 0.5 noborder "
                  "lc rgb '%s' t '%s%s'",
                  'A' + a, 2 + k, 2 + k, time_colours[k][a], count > 1 ? (a ? "B: " : "A: ") : "",
                  time_names[k]);
        }
    }
    finish(&bars, "");
}

static void heading(FILE *to, const struct plot_session *s, int count)
{
    const char *scene = s->view.scene->name ? s->view.scene->name : "";
    fputs("set label 70 ", to);
    drawing_quoted(to, "", scene);
    fputs(" at screen 0.02, screen 0.978 font 'DejaVu Sans Bold,22' left\n", to);
    for (int a = 0; a < count; a++) {
        const struct tact_log_state *st = tact_log_state(s[a].log);
        struct tact_histogram_summary c = tact_histogram_summarise(&s[a].survey.compute);
        char text[TEXT_SHOWN + 256], wake[128] = "";
        if (s[a].real) {
            struct tact_histogram_summary w = tact_histogram_summarise(&s[a].survey.wake);
            snprintf(wake, sizeof wake, "wake-up %.0f / %.0f / %.0f,  ", (double)w.p50 * 1e-3,
                     (double)w.p99 * 1e-3, (double)w.max * 1e-3);
        }
        snprintf(
            text, sizeof text,
            "%s:  %.2f s %s, %s, %llu ticks lost, %d faults;  %scompute %.0f / %.0f / %.0f µs  "
            "(p50 / p99 / most)",
            text_shown(s[a].path), s[a].duration, s[a].real ? "in real time" : "free-wheeling",
            st->complete ? "whole" : "NOT WHOLE", (unsigned long long)st->missing,
            s[a].survey.faults, wake, (double)c.p50 * 1e-3, (double)c.p99 * 1e-3,
            (double)c.max * 1e-3);
        fprintf(to, "set label %d ", 71 + a);
        drawing_quoted(to, count > 1 ? (a ? "B (dashed)  " : "A (solid)  ") : "", text);
        fprintf(to, " at screen %g, screen %g font ',12' left\n", 0.12,
                count > 1 ? 0.985 - 0.016 * a : 0.976);
    }
}

void plot_page(FILE *to, const struct plot_session *s, int count, const char *terminal)
{
    double from = s->from, to_time = s->to;
    for (int a = 0; a < count; a++) {
        plot_table(to, &s[a], (char)('A' + a));
        from = fmin(from, s[a].from);
        to_time = fmax(to_time, s[a].to);
    }
    if (terminal) {
        fprintf(to,
                "set terminal %s size 1400,1400 %s font 'DejaVu Sans,14' background rgb 'white' "
                "noenhanced\n",
                terminal, strcmp(terminal, "svg") ? "" : "dynamic");
    }
    fprintf(to,
            "set encoding utf8\nfrom = %.9g\nto = %.9g\nset multiplot\nset border lw 1 lc rgb "
            "'#808080'\n"
            "set tics nomirror tc rgb '#303030'\n" GRID "",
            from, to_time);
    heading(to, s, count);
    if (s->channel_count > 0) {
        plot_channels(to, s, count);
        fputs("unset multiplot\n", to);
        return;
    }
    normal_panel(to, s, count);
    fputs("unset label 70; unset label 71; unset label 72\n", to);
    limit_panel(to, s, count, 1, 0);
    limit_panel(to, s, count, 2, -1);
    centre_panel(to, s, count);
    joint_panel(to, s, count);
    body_panel(to, s, count);
    latency_panels(to, s, count);
    fputs("unset multiplot\n", to);
}
