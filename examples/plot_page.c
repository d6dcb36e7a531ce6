/* The page of tact plot, as a script for gnuplot. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

#define PANEL_WIDTH_FRACTION 0.41 /* width of a panel, as a fraction of the page */
#define PANEL_HEIGHT 0.15
#define TOP 0.845 /* top of the first row of panels, as a fraction of the page */
#define PANEL_ROW_PITCH_FRACTION                                                                   \
    0.213                       /* distance between rows of panels, as a fraction of the page */
#define MIN_PANEL_ROWS 4        /* number of rows of panels on every page */
#define PAGE_HEIGHT_PIXELS 1500 /* [pixels] */
#define PLOT_PANEL_WIDTH_PIXELS (PANEL_WIDTH_FRACTION * PLOT_PAGE_WIDTH)
#define PLOT_CELL_ASPECT_RATIO                                                                     \
    (PLOT_PANEL_WIDTH_PIXELS / (PANEL_HEIGHT * PAGE_HEIGHT_PIXELS)) /* width to height of a panel  \
                                                                     */
#define PIXELS_PER_INCH 100           /* pixels per inch, for page sizes in inches */
#define MAX_MARK_LABEL_ROWS 4         /* rows of labels at the top of a panel */
#define AXIS_RANGE_OF_ZERO_VALUES 1.0 /* range of a plot axis on which all values are 0 */
#define MAX_MARK_LABEL_WIDTH (0.55 * PLOT_PANEL_WIDTH_PIXELS) /* [pixels] */
#define GNUPLOT_GRID_STYLE "set grid lw 0.6 lc rgb '#E4E4E4'\n"
#define KEY                                                                                        \
    "set key at graph 1, graph 1.02 right bottom maxrows 1 samplen 1.5 spacing 0.9 font ',11'"
/* key in the panel, for more entries than fit beside the title */
#define GNUPLOT_KEY_INSIDE_PANEL                                                                   \
    "set key at graph 0.99, graph 0.97 right top maxrows 1 samplen 1 font ',10'"

static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73",
                                      "#CC79A7", "#56B4E9", "#7F7F7F"};

/* A plot command of several curves, separated by commas. */
struct curve_list {
    FILE *to;
    int count;
};

__attribute__((format(printf, 2, 3))) static void curve(struct curve_list *c, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    fputs(c->count++ ? ", \\\n  " : "plot ", c->to);
    vfprintf(c->to, format, args);
    va_end(args);
}

/* Ends the plot command of a panel. A panel without curves is drawn too, with a text that says why
 * it is empty. */
static void end_panel_curves(struct curve_list *c, const char *why)
{
    if (!c->count) {
        fprintf(c->to,
                "set label 90 '%s' at graph 0.5, graph 0.5 center tc '#707070'\n"
                "set format x ''; set format y ''; set xlabel ' '; set tics scale 0\n"
                "set yrange [0:1]\nplot NaN notitle",
                why);
    }
    fputs("\nunset label 90; set format x '%g'; set tics scale 1\n", c->to);
}

static void write_panel_frame(FILE *to, int column, int row, const char *title)
{
    double left = column ? 0.54 : 0.05, top = TOP - PANEL_ROW_PITCH_FRACTION * row;
    fprintf(to,
            "\nset lmargin at screen %g; set rmargin at screen %g\n"
            "set tmargin at screen down(%g); set bmargin at screen down(%g)\n"
            "set autoscale; unset logscale; unset label 81; unset y2tics; set ytics mirror\n"
            "set xrange [from:to]; set xlabel 's' offset 0,0.6; set format y '%%g'; unset key\n"
            "set label 80 '%s' at graph 0, graph 1.085 left font 'DejaVu Sans Bold,14'\n",
            left, left + PANEL_WIDTH_FRACTION, top, top - PANEL_HEIGHT, title);
}

/* Rows of time mark labels at the top of a panel: each label is put in the first row with room;
 * without room it is omitted, but the mark's line is drawn. */
struct mark_label_rows {
    /* right end of the last label of each row, as a fraction of the panel's width */
    double end[MAX_MARK_LABEL_ROWS];
};

static int choose_row_of_mark_label(struct mark_label_rows *rows, const char *text, double at)
{
    double width = text_width(text, PLOT_SMALL_TEXT_SIZE, 0) / PLOT_PANEL_WIDTH_PIXELS + 0.03;
    for (int i = 0; i < MAX_MARK_LABEL_ROWS && at + width < 1.0; i++) {
        if (at >= rows->end[i]) {
            rows->end[i] = at + width;
            return i;
        }
    }
    return -1;
}

static void write_time_marks(FILE *to, const struct plot_session *s, int has_mark_labels)
{
    struct mark_label_rows rows = {{0.0}};
    for (int i = 0; i < s->time_mark_count; i++) {
        const struct plot_time_mark *m = &s->mark[i];
        const char *colour = m->is_mark_of_fault ? "#B00020" : "#707070";
        double at = (m->time - s->from) / (s->to - s->from);
        char text[MAX_SHOWN_TEXT_BYTES];
        text_shorten_to_width(m->text, MAX_MARK_LABEL_WIDTH, PLOT_SMALL_TEXT_SIZE, 0, text,
                              sizeof text);
        int row = has_mark_labels && at >= 0.0 ? choose_row_of_mark_label(&rows, text, at) : -1;
        if (at >= 0.0 && at <= 1.0) {
            fprintf(to,
                    "set arrow %d from first %g, graph 0 to first %g, graph 1 nohead dt 3 lw %d "
                    "lc rgb '%s' back\n",
                    i + 1, m->time, m->time, m->is_mark_of_fault ? 2 : 1, colour);
        }
        if (row >= 0) {
            fprintf(to, "set label %d ", i + 1);
            drawing_print_quoted(to, " ", text);
            fprintf(to,
                    " at first %g, graph %g left offset 0.2,0 tc rgb '%s' font ',11' "
                    "front boxed\n",
                    m->time, 0.94 - 0.09 * row, colour);
        } else {
            fprintf(to, "unset label %d\n", i + 1);
        }
    }
}

static void clear_mark_labels(FILE *to)
{
    for (int i = 0; i < PLOT_MAX_TIME_MARKS; i++) {
        fprintf(to, "unset arrow %d; unset label %d\n", i + 1, i + 1);
    }
}

const char *plot_pair_name(const struct plot_session *s, int pair)
{
    return s->scene_log.pairs[s->pair[pair].pair].name;
}

/* Index of a session's pair among the pairs drawn of the first session, or -1. */
static int first_session_index_of_pair(const struct plot_session *s, int session, int pair)
{
    return plot_find_in_first_session(s, s->pair_count, session, pair, plot_pair_name);
}

int plot_pair_colour(const struct plot_session *s, int session, int pair)
{
    int place = first_session_index_of_pair(s, session, pair);
    return place < 0 ? PLOT_MAX_PAIRS - 1 - pair : place;
}

/* The first curve is broad, so that a second one over it leaves both visible. */
static const char *curve_line_style(int session, int curve)
{
    return session ? "dt (6,4) lw 1.5" : (curve ? "dt 1 lw 1.8" : "dt 1 lw 4");
}

static int compare_column_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double find_largest_value_of_pairs(const struct plot_session *s, int count, int what)
{
    double most = 0.0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < PLOT_MAX_TIME_INTERVALS; i++) {
            for (int k = 0; k < s[a].pair_count; k++) {
                int column = plot_pair_column(k, what);
                most = fmax(most, fabs(s[a].values_by_time_interval[i].low[column]));
                most = fmax(most, fabs(s[a].values_by_time_interval[i].high[column]));
            }
        }
    }
    return most;
}

void plot_write_robust_axis_range(FILE *to, double *value, size_t used, double height,
                                  int lower_limit_sign, double zero_magnitude_limit)
{
    qsort(value, used, sizeof *value, compare_column_values);
    while (used > 0 && isinf(value[used - 1])) { /* infinite in a damaged log: no axis ends there */
        used--;
    }
    double most = used ? value[used - 1] : 0.0, usual = used ? value[used - 1 - used / 50] : 0.0;
    if (most > 3.0 * usual && usual > 0.0) {
        fprintf(to,
                "set yrange [%g:%g]\nset label 81 'max %.*f' at graph 1, graph 1.085 right "
                "tc rgb '#B00020' font ',11'\n",
                lower_limit_sign * 1.6 * height * usual, 1.6 * height * usual,
                most < 1.0 ? 3 : (most < 100.0 ? 1 : 0), most);
    } else {
        most = most > zero_magnitude_limit ? 1.2 * height * most : AXIS_RANGE_OF_ZERO_VALUES;
        fprintf(to, "set yrange [%g:%g]\nunset label 81\n", lower_limit_sign * most, most);
    }
}

/* first, last: columns of a pair. */
static void write_range_of_plot_axis(FILE *to, const struct plot_session *s, int count, int first,
                                     int last, double scale, double height, int lower_limit_sign,
                                     double zero_magnitude_limit)
{
    static double value[2 * PLOT_MAX_TIME_INTERVALS];
    size_t used = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < PLOT_MAX_TIME_INTERVALS; i++) {
            const struct plot_time_interval *b = &s[a].values_by_time_interval[i];
            double most = 0.0;
            for (int k = 0; k < s[a].pair_count * (last - first + 1); k++) {
                int column = plot_pair_column(k % s[a].pair_count, first + k / s[a].pair_count);
                most = fmax(most, fmax(fabs(b->low[column]), fabs(b->high[column])));
            }
            if (most > 0.0) {
                value[used++] = scale * most;
            }
        }
    }
    plot_write_robust_axis_range(to, value, used, height, lower_limit_sign, zero_magnitude_limit);
}

static void plot_normal_forces(FILE *to, const struct plot_session *s, int count)
{
    struct curve_list c = {to, 0};
    write_panel_frame(to, 0, 0, "Normal force [N]");
    write_range_of_plot_axis(to, s, count, PAIR_NORMAL_FORCE, PAIR_NORMAL_FORCE, 1.0, 1.2, 0, 0.0);
    write_time_marks(to, s, 1);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            curve(&c, "$%c u 1:%d w l %s lc rgb '%s' notitle", 'A' + a,
                  plot_pair_column(i, PAIR_NORMAL_FORCE) + 2, curve_line_style(a, i),
                  colours[plot_pair_colour(s, a, i)]);
        }
    }
    end_panel_curves(&c, "nothing touched");
    write_time_marks(to, s, 0);
}

/* Draws the limit of each contact as a thin line in its colour, dashed for a second session; the
 * area below the limit of a single contact is shaded. */
static void plot_limit_curves(struct curve_list *c, const struct plot_session *s, int count,
                              int limit, double scale, int lower_limit_sign)
{
    if (count == 1 && s->pair_count == 1) {
        int column = plot_pair_column(0, limit) + 2;
        curve(c,
              "$A u 1:(%d*%g*$%d):(%g*$%d) w filledcurves fs transparent solid 0.15 noborder "
              "fc rgb '#808080' notitle",
              lower_limit_sign, scale, column, scale, column);
    }
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            for (int sign = lower_limit_sign ? -1 : 1; sign <= 1; sign += 2) {
                curve(c, "$%c u 1:(%d*%g*$%d) w l lw 0.8 dt %s lc rgb '%s' notitle", 'A' + a, sign,
                      scale, plot_pair_column(i, limit) + 2, a ? "(6,4)" : "1",
                      colours[plot_pair_colour(s, a, i)]);
            }
        }
    }
}

/* Draws friction or torsion of the contacts with its limit, red in ticks in which the limit is
 * reached. Where a contact slides and spins, both together reach the limit, and each is below its
 * own. */
static void plot_friction_with_limit(FILE *to, const struct plot_session *s, int count, int row,
                                     int lower_limit_sign)
{
    struct curve_list c = {to, 0};
    int what = row == 1 ? PAIR_FRICTION : PAIR_TORSION;
    int column_at_limit = row == 1 ? PAIR_SLIDING_FRICTION : PAIR_SPINNING_TORSION;
    double most = row == 1 ? 0.0 : find_largest_value_of_pairs(s, count, what + 1);
    int must_plot_torsion_in_micro = most > 0.0 && most < 1e-4; /* [N m] */
    double scale = row == 1 ? 1.0 : must_plot_torsion_in_micro ? 1e6 : 1e3;
    write_panel_frame(to, 0, row,
                      row == 1 ? "Friction force [N]; thin: limit μN; red: slides"
                      : must_plot_torsion_in_micro
                          ? "Torsion [µN m]; thin: limit ±μNk; red: spins"
                          : "Torsion [mN m]; thin: limit ±μNk; red: spins");
    /* errors of the solver that are drawn as zero: a millionth of the normal force, and its torque
     * at a millimetre */
    double zero_magnitude_limit = 1e-6 * find_largest_value_of_pairs(s, count, PAIR_NORMAL_FORCE);
    write_range_of_plot_axis(to, s, count, what, what + 1, scale, 1.0, lower_limit_sign,
                             scale *
                                 (row == 1 ? zero_magnitude_limit : 1e-3 * zero_magnitude_limit));
    plot_limit_curves(&c, s, count, what + 1, scale, lower_limit_sign);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            curve(&c, "$%c u 1:(%g*$%d) w l %s lc rgb '%s' notitle", 'A' + a, scale,
                  plot_pair_column(i, what) + 2, curve_line_style(a, i),
                  colours[plot_pair_colour(s, a, i)]);
            curve(&c, "$%c u 1:(%g*$%d) w p pt 7 ps 0.5 lc rgb '#D00000' notitle", 'A' + a, scale,
                  plot_pair_column(i, column_at_limit) + 2);
        }
    }
    end_panel_curves(&c, "nothing touched");
}

/* Largest distance of the patch's outline from its centre [mm]. */
static double patch_radius_mm(const struct plot_pair *p)
{
    double most = 0.0;
    for (int k = 0; k < p->corner_count; k++) {
        most = fmax(most, 1e3 * hypot(p->corner[k][0], p->corner[k][1]));
    }
    return most > 0.0 ? most : 1.0;
}

/* Writes the size of a patch [mm], its largest pressure and its force as text. */
static void describe_patch_size_and_pressure(const struct plot_pair *p, const double size[2],
                                             char *out, size_t room)
{
    double most = fmax(size[0], size[1]), unit = most < 0.1 ? 1e3 : 1.0;
    int used = most > 1e-6 ? snprintf(out, room, "%.3g×%.3g %s", unit * size[0], unit * size[1],
                                      most < 0.1 ? "µm" : "mm")
                           : snprintf(out, room, "a point");
    if (p->peak > 0.0) {
        double scale = p->peak >= 1e6 ? 1e-6 : 1e-3;
        snprintf(out + used, room - (size_t)used, ", %.3g %s, %.3g N", scale * p->peak,
                 scale < 1e-4 ? "MPa" : "kPa", p->load);
    }
}

/* Writes the sizes of the patches below them, in alternating rows so that they do not overlap. */
static void write_patch_size_labels(FILE *to, const struct plot_session *s,
                                    int plotted_session_index, int rows)
{
    for (int i = 0; i < s[plotted_session_index].pair_count; i++) {
        const struct plot_pair *p = &s[plotted_session_index].pair[i];
        double x = 2.3 * i, size[2] = {0.0, 0.0};
        for (int k = 0; k < p->corner_count; k++) {
            size[0] = fmax(size[0], 2e3 * fabs(p->corner[k][0]));
            size[1] = fmax(size[1], 2e3 * fabs(p->corner[k][1]));
        }
        char text[96] = "no patch";
        if (p->corner_count) {
            describe_patch_size_and_pressure(p, size, text, sizeof text);
        }
        fprintf(to, "set label %d '%s' at first %g, graph %g center tc rgb '%s' font ',11'\n",
                40 + i, text, x, -0.08 * (1 + i % rows),
                colours[plot_pair_colour(s, plotted_session_index, i)]);
    }
}

/* Draws the patches with their centres of pressure side by side, each scaled to the available
 * space: those of the first session, or of a second one where the first touched nothing. */
static void plot_pressure_centres(FILE *to, const struct plot_session *s, int count)
{
    struct curve_list c = {to, 0};
    const int plotted_session_index = s->pair_count == 0 && count > 1;
    const struct plot_pair *pairs = s[plotted_session_index].pair;
    const int pair_count = s[plotted_session_index].pair_count;
    double half = fmax(1.15, 1.15 * pair_count / PLOT_CELL_ASPECT_RATIO);
    clear_mark_labels(to);
    int has_any_pair_pressure = 0, gnuplot_object_count = 0;
    for (int i = 0; i < pair_count; i++) {
        has_any_pair_pressure |= pairs[i].peak > 0.0;
    }
    write_panel_frame(to, 0, 3,
                      has_any_pair_pressure
                          ? "Last patches, light: peak pressure; dots: its centre"
                          : "Last patches; dots: centre of pressure, scaled to them");
    fprintf(to,
            "set yrange [-%g:%g]; set xrange [-1.15:%g]; set xlabel ' '; set format x ''\n"
            "set format y ''; set tics scale 0; unset grid\n",
            half, half, 2.0 * half * PLOT_CELL_ASPECT_RATIO - 1.15);
    write_patch_size_labels(to, s, plotted_session_index, has_any_pair_pressure ? 3 : 2);
    for (int i = 0; i < pair_count; i++) {
        plot_pressure(to, &pairs[i], 2.3 * i, 1e3 / patch_radius_mm(&pairs[i]),
                      &gnuplot_object_count);
    }
    for (int i = 0; i < pair_count; i++) {
        const struct plot_pair *p = &pairs[i];
        const char *colour = colours[plot_pair_colour(s, plotted_session_index, i)];
        double x = 2.3 * i;
        if (p->peak > 0.0 && p->has_pressure_polygons) {
            continue; /* the pressure of this patch is drawn, below the curves */
        }
        curve(&c,
              "$%cO%d u ($1/%g+%g):($2/%g) w filledcurves closed fs transparent solid 0.18 "
              "noborder fc rgb '%s' notitle",
              'A' + plotted_session_index, i, patch_radius_mm(p), x, patch_radius_mm(p), colour);
        curve(&c, "$%cO%d u ($1/%g+%g):($2/%g) w l lw 1.5 lc rgb '%s' notitle",
              'A' + plotted_session_index, i, patch_radius_mm(p), x, patch_radius_mm(p), colour);
    }
    for (int a = plotted_session_index; a < count; a++) {
        for (int i = 0; i < s[a].pair_count; i++) {
            int place = plotted_session_index ? i : first_session_index_of_pair(s, a, i);
            if (place >= 0) {
                double size = patch_radius_mm(&pairs[place]);
                curve(&c, "$%cC%d u ($1/%g+%g):($2/%g) w p pt %d ps 0.7 lc rgb '%s' notitle",
                      'A' + a, i, size, 2.3 * place, size, a > plotted_session_index ? 6 : 7,
                      colours[plot_pair_colour(s, a, i)]);
            }
        }
    }
    end_panel_curves(&c, "nothing touched");
    plot_pressure_remove_objects(to, gnuplot_object_count);
    for (int i = 0; i < pair_count; i++) {
        fprintf(to, "unset label %d\n", 40 + i);
    }
    fputs("set format x '%g'; set tics scale 1\n" GNUPLOT_GRID_STYLE, to);
}

static void plot_joint_positions(FILE *to, const struct plot_session *s, int count)
{
    struct curve_list c = {to, 0};
    int slides = 0, hinges = 0;
    for (int i = 0; i < s->joint_count; i++) {
        *(plot_is_joint_prismatic(s, i) ? &slides : &hinges) += 1;
    }
    write_time_marks(to, s, 0);
    write_panel_frame(to, 1, 0,
                      slides   ? (hinges ? "Joints [deg, mm]; dotted: target; red: at a stop"
                                         : "Joints [mm]; dotted: target; red: at a stop")
                      : hinges ? "Joints [deg]; dotted: target; red: at a stop"
                               : "Joints");
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].joint_count; i++) {
            int column = plot_joint_column(&s[a], i) + 2;
            curve(&c, "$%c u 1:%d w l dt 3 lw 2 lc rgb '%s' notitle", 'A' + a, column + 1,
                  colours[i]);
            curve(&c, "$%c u 1:%d w l %s lc rgb '%s' notitle", 'A' + a, column,
                  curve_line_style(a, 1), colours[i]);
            curve(&c, "$%c u 1:%d w p pt 7 ps 0.5 lc rgb '#D00000' notitle", 'A' + a,
                  plot_joint_stop_column(&s[a], i) + 2);
        }
    }
    end_panel_curves(&c, "no joints");
}

static void plot_body_positions(FILE *to, const struct plot_session *s, int count)
{
    struct curve_list c = {to, 0};
    write_panel_frame(to, 1, 1, "Bodies: turned [deg], moved [mm, dashed]");
    if (s->body_count) {
        fputs("set ytics nomirror; set y2tics font ',12'; set yrange [0:0.1<*]; set y2range "
              "[0:0.1<*]\n",
              to);
    }
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].body_count; i++) {
            int column = plot_body_column(&s[a], i) + 2;
            curve(&c, "$%c u 1:%d w l dt 1 lw %g lc rgb '%s' notitle", 'A' + a, column,
                  a ? 1.0 : 2.0, colours[(i + 2 * a) % 6]);
            curve(&c, "$%c u 1:%d axes x1y2 w l dt (6,4) lw 1.5 lc rgb '%s' notitle", 'A' + a,
                  column + 1, colours[(i + 2 * a) % 6]);
        }
    }
    end_panel_curves(&c, "no bodies that move");
}

static const char *const time_names[2] = {"wake-up", "compute"};
static const char *const time_colours[2][2] = {{"#56B4E9", "#9F7FC0"}, {"#404040", "#D08080"}};

static void plot_latency_histograms(FILE *to, const struct plot_session *s, int count)
{
    struct curve_list line = {to, 0}, bars = {to, 0};
    double period = s->scene_log.scene->period * 1e6, most = 5.0 * period;
    for (int a = 0; a < count; a++) {
        most = fmax(most, 1.5e-3 * (double)tact_histogram_summarise(&s[a].compute).max);
        most = fmax(most, s[a].is_real_time
                              ? 1.5e-3 * (double)tact_histogram_summarise(&s[a].wake_latency).max
                              : 0.0);
    }
    write_panel_frame(to, 1, 2, "Time of each tick [µs]; red: the period");
    fprintf(to, "set logscale y; set yrange [0.5:%g]; %s\n", most,
            count > 1 ? GNUPLOT_KEY_INSIDE_PANEL : KEY);
    for (int a = 0; a < count; a++) {
        for (int k = s[a].is_real_time ? 0 : 1; k < 2; k++) {
            int column = plot_latency_column(&s[a]) + 2 + k;
            curve(&line, "$%c u 1:%d w p pt 7 ps 0.3 lc rgb '%s' t '%s%s'", 'A' + a, column,
                  time_colours[k][a], count > 1 ? (a ? "B: " : "A: ") : "", time_names[k]);
        }
    }
    curve(&line, "%g w l lw 1.5 lc rgb '#D00000' notitle", period);
    end_panel_curves(&line, "");
    clear_mark_labels(to);
    write_panel_frame(to, 1, 3, "Number of ticks by duration [µs]");
    fprintf(to,
            "set logscale xy; set xrange [0.5:%g]; set yrange [0.7:*]; "
            "set format y '%%.0f'; set xlabel 'µs' offset 0,0.6; %s\n"
            "set arrow 99 from first %g, graph 0 to first %g, graph 1 nohead lw 1.5 lc rgb "
            "'#D00000'\n",
            most, count > 1 ? GNUPLOT_KEY_INSIDE_PANEL : KEY, period, period);
    for (int a = 0; a < count; a++) {
        for (int k = s[a].is_real_time ? 0 : 1; k < 2; k++) {
            curve(&bars,
                  "$%cH u 1:($%d>0?$%d:NaN):($1*0.115) w boxes fs transparent solid 0.5 noborder "
                  "lc rgb '%s' t '%s%s'",
                  'A' + a, 2 + k, 2 + k, time_colours[k][a], count > 1 ? (a ? "B: " : "A: ") : "",
                  time_names[k]);
        }
    }
    end_panel_curves(&bars, "");
}

/* A page has its size in pixels, or where it is printed in inches. The scales of the fonts are such
 * that text is as wide beside the page in each: a point has 4/3 pixels in a PNG, one in an SVG, and
 * half of its size by default in a PDF. */
static void set_plot_page_terminal(FILE *to, const char *terminal, double height)
{
    if (!strcmp(terminal, "pdfcairo")) {
        fprintf(to, "set terminal pdfcairo fontscale 0.717 size %g,%g",
                (double)PLOT_PAGE_WIDTH / PIXELS_PER_INCH,
                height * PAGE_HEIGHT_PIXELS / PIXELS_PER_INCH);
    } else {
        fprintf(to, "set terminal %s size %d,%d%s", terminal, PLOT_PAGE_WIDTH,
                (int)(height * PAGE_HEIGHT_PIXELS),
                strcmp(terminal, "svg") ? "" : " dynamic fontscale 1.333");
    }
    fputs(" font 'DejaVu Sans,14' background rgb 'white' noenhanced\n", to);
}

void plot_write_page(FILE *to, const struct plot_session *s, int count, const char *terminal)
{
    double from = s->from, to_time = s->to;
    /* more rows of panels: one for bodies in hands, two for ties to another site, one for ports */
    int has_any_hold = 0, has_ports = 0, has_ties = 0;
    for (int a = 0; a < count; a++) {
        has_any_hold |= s[a].hold_count > 0;
        has_ports |= s[a].port_count > 0;
        has_ties |= s[a].tie_count > 0;
        plot_write_data_blocks(to, &s[a], (char)('A' + a));
        from = fmin(from, s[a].from);
        to_time = fmax(to_time, s[a].to);
    }
    const int link_panel_row_count = has_ties ? PLOT_LINK_ROWS : 0;
    const double height =
        1.0 + PANEL_ROW_PITCH_FRACTION * (has_any_hold + link_panel_row_count + has_ports);
    if (terminal) {
        set_plot_page_terminal(to, terminal, height);
    }
    fprintf(to,
            "set encoding utf8\nfrom = %.9g\nto = %.9g\n"
            "down(y) = 1.0 - (1.0 - y) / %g # on a page that is so much higher\nset multiplot\nset "
            "border lw 1 lc rgb "
            "'#808080'\n"
            "set tics nomirror tc rgb '#303030' font ',12'\n"
            "set style textbox opaque noborder margins 0.2,0.1\n" GNUPLOT_GRID_STYLE "",
            from, to_time, height);
    plot_heading(to, s, count);
    if (s->channel_count > 0) {
        plot_channels(to, s, count);
        fputs("unset multiplot\n", to);
        return;
    }
    plot_legend(to, s, count, colours);
    plot_normal_forces(to, s, count);
    fputs("unset label 70; unset label 71; unset label 72; unset label 73\n", to);
    plot_legend_remove_labels(to);
    plot_friction_with_limit(to, s, count, 1, 0);
    plot_friction_with_limit(to, s, count, 2, -1);
    plot_pressure_centres(to, s, count);
    plot_joint_positions(to, s, count);
    plot_body_positions(to, s, count);
    plot_latency_histograms(to, s, count);
    if (height > 1.0) {
        fputs("unset logscale; set format x '%g'\nunset arrow 99\n", to);
        write_time_marks(to, s, 0);
    }
    if (has_any_hold) {
        plot_holds(to, s, count, MIN_PANEL_ROWS, colours, write_panel_frame);
    }
    if (has_ties) {
        plot_links(to, s, count, MIN_PANEL_ROWS + has_any_hold, colours, write_panel_frame);
    }
    if (has_ports) {
        plot_ports(to, s, count, MIN_PANEL_ROWS + has_any_hold + link_panel_row_count, colours,
                   write_panel_frame);
    }
    fputs("unset multiplot\n", to);
}
