/* Figures 15 and 16 of Bouchard 2015: the update of each sweep of a solve that starts from zero
 * impulses. */
#include <stdio.h>
#include "bench.h"
#include "drawing.h"
#include "text.h"

static const char *const colours[BENCH_METHOD_COUNT] = {"#000000", "#7F7F7F", "#0072B2"};

void write_bench_csv(FILE *to, const struct bench_scene *scenes, int count)
{
    fputs("scene,method,sweep,update,residual\n", to);
    for (int i = 0; i < count; i++) {
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            const struct bench_result *r = &scenes[i].result[m];
            for (int k = 0; k < r->curve_sweep_count; k++) {
                fprintf(to, "%s,\"%s\",%d,%.9g,%.9g\n", scenes[i].name, bench_method_names[m],
                        k + 1, r->update[k], r->residual_after_sweep[k]);
            }
        }
    }
}

static void write_plot_data(FILE *to, const struct bench_scene *scenes, int count)
{
    for (int i = 0; i < count; i++) {
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            const struct bench_result *r = &scenes[i].result[m];
            fprintf(to, "$D%d_%d << EOD\n", i, m);
            for (int k = 0; k < r->curve_sweep_count; k++) {
                fprintf(to, "%d %.6g\n", k + 1, r->update[k] > 1e-17 ? r->update[k] : 1e-17);
            }
            fputs("EOD\n", to);
        }
    }
}

void bench_figure(FILE *to, const struct bench_scene *scenes, int count,
                  const char *gnuplot_terminal)
{
    int columns = count < 3 ? count : 3, rows = (count + columns - 1) / columns;
    if (gnuplot_terminal) {
        fprintf(to, "set terminal %s size %d,%d font 'DejaVu Sans,12'\n", gnuplot_terminal,
                520 * columns, 400 * rows);
    }
    write_plot_data(to, scenes, count);
    fprintf(to,
            "set multiplot layout %d,%d\nset logscale y\nset yrange [1e-17:10]\n"
            "set format y '10^{%%L}'\nset grid lw 0.6 lc rgb '#E4E4E4'\nset key top right\n"
            "set xlabel 'sweep'\nset ylabel 'update of a sweep / impulses'\n",
            rows, columns);
    for (int i = 0; i < count; i++) {
        const struct bench_scene *s = &scenes[i];
        int log = s->result[BENCH_POINT_CONTACT_METHOD].curve_sweep_count > 100;
        char plot_title[MAX_SHOWN_TEXT_BYTES + 64];
        snprintf(plot_title, sizeof plot_title, "%s: %d contacts, %d points",
                 text_make_printable(s->name), s->result[BENCH_PATCH_METHOD].contacts,
                 s->result[BENCH_POINT_CONTACT_METHOD].largest_contact_row_count / 3);
        fprintf(to, "%s\nset title ", log ? "set logscale x" : "unset logscale x");
        drawing_print_quoted(to, "", plot_title);
        fputs(" noenhanced\nplot", to);
        for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
            fprintf(to, "%s $D%d_%d with %s lw 1.6 lc rgb '%s' title '%s'", m ? "," : "", i, m,
                    s->result[m].curve_sweep_count < 50 ? "linespoints pt 7 ps 0.5" : "lines",
                    colours[m], bench_method_names[m]);
        }
        fputs("\n", to);
    }
    fputs("unset multiplot\n", to);
    fflush(to);
}
