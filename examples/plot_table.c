/* The columns of a session as data blocks of a script for gnuplot. */
#include <math.h>
#include "plot.h"

static void write_table_cell(FILE *to, double v)
{
    if (isfinite(v)) {
        fprintf(to, " %.6g", v);
    } else {
        fputs(" NaN", to);
    }
}

/* Writes two rows per time interval, with the smallest and the largest value, so that no spike is
 * lost; an empty line interrupts the curves at a gap. */
static void write_time_interval_series(FILE *to, const struct plot_session *s, char session_letter)
{
    int count = plot_latency_column(s) + 2;
    double quarter_of_time_interval = (s->to - s->from) / PLOT_MAX_TIME_INTERVALS / 4.0;
    fprintf(to, "$%c << EOD\n", session_letter);
    for (int i = 0; i < PLOT_MAX_TIME_INTERVALS; i++) {
        const struct plot_time_interval *b = &s->values_by_time_interval[i];
        if (b->used && b->gap) {
            fputs("\n", to);
        }
        for (int high = 0; b->used && high < 2; high++) {
            fprintf(to, "%.6g",
                    b->time + (high ? quarter_of_time_interval : -quarter_of_time_interval));
            for (int k = 0; k < count; k++) {
                write_table_cell(to, high ? b->high[k] : b->low[k]);
            }
            fputs("\n", to);
        }
    }
    fputs("EOD\n", to);
}

static void write_latency_histogram(FILE *to, const struct plot_session *s, char session_letter)
{
    fprintf(to, "$%cH << EOD\n", session_letter);
    for (int i = 0; i < PLOT_HISTOGRAM_BINS; i++) {
        fprintf(to, "%.6g %llu %llu\n", 0.1 * pow(10.0, (i + 0.5) / 20.0),
                (unsigned long long)s->wake_latency_bins[i],
                (unsigned long long)s->compute_time_bins[i]);
    }
    fputs("EOD\n", to);
}

static void write_plot_points(FILE *to, char session_letter, const char *kind, int pair,
                              const double (*p)[2], int count, int closed)
{
    fprintf(to, "$%c%s%d << EOD\n", session_letter, kind, pair);
    for (int i = 0; i < count + (closed && count); i++) {
        fprintf(to, "%.6g %.6g\n", 1e3 * p[i % count][0], 1e3 * p[i % count][1]);
    }
    fputs(count ? "EOD\n" : "NaN NaN\nEOD\n", to);
}

void plot_write_data_blocks(FILE *to, const struct plot_session *s, char session_letter)
{
    write_time_interval_series(to, s, session_letter);
    write_latency_histogram(to, s, session_letter);
    for (int i = 0; i < s->pair_count; i++) {
        const struct plot_pair *p = &s->pair[i];
        write_plot_points(to, session_letter, "C", i, p->centre, p->pressure_centre_count, 0);
        write_plot_points(to, session_letter, "O", i, p->corner, p->corner_count, 1);
    }
}
