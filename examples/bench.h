/* Benchmarks of the contact solver: the tables and figures of Bouchard 2015 on this machine. */
#ifndef TACT_EXAMPLES_BENCH_H
#define TACT_EXAMPLES_BENCH_H

#include <stdio.h>
#include "contact/error.h"

#define BENCH_MAX_CONTACT_POINTS 16384 /* maximum number of contact points of a tick */
#define BENCH_MAX_CURVE_SWEEPS 2000    /* maximum number of sweeps stored for the curve */

/* Methods by which the same tick is solved. */
enum bench_method {
    BENCH_PATCH_METHOD,         /* one 6D contact a pair, as tact does by default */
    BENCH_BOUCHARD_METHOD,      /* one 6D contact a pair, by Algorithm 1 as published: plain sweeps,
                                 * ellipses,         gradient normals
                                 */
    BENCH_POINT_CONTACT_METHOD, /* contact points, plain projected Gauss-Seidel */
    BENCH_METHOD_COUNT,
};
extern const char *const bench_method_names[BENCH_METHOD_COUNT];

/* Time of the parts of a tick; medians over the ticks [us]. */
enum bench_tick_phase {
    BENCH_TIME_DETECTION,
    BENCH_TIME_ASSEMBLY,
    BENCH_TIME_FACTORIZATION,
    BENCH_TIME_SOLVE,
    BENCH_PART_COUNT
};
extern const char *const bench_part_names[BENCH_PART_COUNT];

struct bench_statistics {
    double mean, deviation, median, most;
};

struct bench_result {
    int contacts;                  /* maximum number of touching pairs */
    int largest_contact_row_count; /* of a tick: 6 a patch, 3 a contact point */
    int left_out; /* largest number of contact points in a tick for which there was no room */
    double time[BENCH_PART_COUNT];
    /* sweeps until the criterion is met, started from zero impulses */
    struct bench_statistics cold_start_sweeps;
    struct bench_statistics cold_start_elimination_steps,
        warm_elimination_steps; /* factorisations between the sweeps from zero impulses, and between
                                   the warm-started sweeps */
    /* natural-map residual at the end of the sweeps from zero impulses */
    struct bench_statistics residual;
    /* sweeps with a warm start from the tick before, under a load that differs by 1 % */
    struct bench_statistics warm;
    int unconverged_cold_ticks,
        unconverged_warm_ticks; /* ticks that ended at the limit of sweeps */
    int curve_sweep_count;
    double update[BENCH_MAX_CURVE_SWEEPS]; /* 2-norm of each sweep's update over that of the
                                              impulses */
    double residual_after_sweep[BENCH_MAX_CURVE_SWEEPS];
};

/* Published values of a scene; 0: not given. */
struct bench_published_values {
    const char *scene;                /* name of the scene in the paper, or NULL */
    double time[2][BENCH_PART_COUNT]; /* Table 1 of the paper, with 6D contacts and with contact
                                         points [ms] */
    double sweeps[2],
        sweeps_dev[2]; /* Table 2 of the paper; those of the scene `octagon` from figure 16 */
    double residual[2], residual_dev[2];
};

struct bench_scene {
    char name[64];
    int bodies, ticks;
    unsigned long triangles;
    struct bench_published_values published_values;
    struct bench_result result[BENCH_METHOD_COUNT];
};

struct bench_options {
    int ticks;                /* number of measured ticks per scene; 0: as the scene sets */
    int sweeps;               /* maximum per solve */
    double settling_duration; /* simulated time before the measured ticks [s]; negative: as the
                                 scene sets */
    double update;            /* criterion: 2-norm of a sweep's update over that of the impulses */
};

/* bench_published.c: the paper's values for the scene of this name, the time at which to
 * measure it [s] (negative: not given) and the number of ticks. */
void bench_published_values(const char *name, struct bench_published_values *out,
                            double *settling_duration, int *ticks);

/* bench_contact.c: runs one scene by every method. 0, or a negative errno with *err filled. */
int bench_contact(const char *path, const struct bench_options *options, struct bench_scene *out,
                  struct tact_error *err);

/* For qsort(): ascending. */
int bench_compare_doubles(const void *a, const void *b);

/* bench_print.c */
void bench_print(const struct bench_scene *scenes, int count, const struct bench_options *options);
int bench_print_json(const struct bench_scene *scenes, int count,
                     const struct bench_options *options);

/* bench_figure.c: figures 15 and 16 as a script for gnuplot (terminal "pngcairo", "svg" or NULL) or
 * as CSV. */
void bench_figure(FILE *to, const struct bench_scene *scenes, int count,
                  const char *gnuplot_terminal);
void write_bench_csv(FILE *to, const struct bench_scene *scenes, int count);

#endif
