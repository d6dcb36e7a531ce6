/* Tables I and II of Kry and Pai 2003: what their surfaces and a rolling bowl cost, by tact. */
#ifndef TACT_EXAMPLES_BENCH_SMOOTH_H
#define TACT_EXAMPLES_BENCH_SMOOTH_H

#include "contact/error.h"

enum { SMOOTH_SURFACES = 6, SMOOTH_STEPS = 7 };

/* Table I: a surface, and the time to evaluate it at a place. */
struct smooth_surface_row {
    const char *name;
    /* published time of ten derivatives, to the third order, on a Pentium II of 350 MHz [s] */
    double published_seconds;
    /* measured time of ten derivatives, and of six, to the second order, with normal and curvature,
     * which the contact model needs [s] */
    double ten_derivatives_time, time;
};

/* Table II: 3 s of a bowl that is thrown on a table, by the length of a step. */
struct smooth_bowl_row {
    double period;            /* [s] */
    double published_seconds; /* published processor time on a Xeon of 1.8 GHz [s] */
    double time;              /* processor time of tact's ticks [s] */
    double position[3];       /* position of the bowl at the end, world [m] */
    double
        unconverged_tick_fraction; /* fraction of the ticks that were not solved to the tolerance */
    unsigned long long edges;      /* patches that were measured as edges */
    /* the same bowl by reduced coordinates, the paper's method: */
    double reduced_processor_time; /* processor time [s] */
    double
        reduced_simulated_time; /* simulated time, less than 3 s where it could not continue [s] */
    long reduced_step_count, reduced_rejected_steps;
};

struct smooth_bench_results {
    int requested_table_bits; /* bits 1, 2: these tables */
    int reduced;              /* 1: table II by reduced coordinates too */
    struct smooth_surface_row surface_rows[SMOOTH_SURFACES];
    struct smooth_bowl_row bowl_rows[SMOOTH_STEPS];
};

/* folder: that of the scenes, with loop_bowl.obj. 0 or a negative errno with *err set. */
int measure_smooth_tables(const char *folder, struct smooth_bench_results *out,
                          struct tact_error *err);

void print_smooth_tables(const struct smooth_bench_results *results);
int smooth_tables_print_json(const struct smooth_bench_results *results);

#endif
