/* The scenes of tests/bench/scale, common to tact and the peer: initial position and velocity of
 * body i of n, and its external force. */
#ifndef TACT_BENCH_SCALE_SCENE_H
#define TACT_BENCH_SCALE_SCENE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum scaling_bench_scene {
    SCALING_BENCH_RESTING_CUBES,  /* cubes at rest on a floor, side by side */
    SCALING_BENCH_PUSHED_CUBES,   /* cubes at rest on a floor, each under an alternating horizontal
                                     force of a tenth of its weight */
    SCALING_BENCH_SEPARATE_BALLS, /* balls far from each other, without gravity, drifting together
                                   */
    SCALING_BENCH_BALL_HEAP,      /* balls that roll into a pit of four planes, into a heap */
    SCALING_BENCH_CASES
};

static const char *const scale_names[SCALING_BENCH_CASES] = {"cubes", "pushed", "apart", "heap"};

#define SCALING_BENCH_PERIOD 1e-3  /* [s] */
#define SCALING_BENCH_GRAVITY 9.81 /* [m/s^2] */
#define SCALING_BENCH_FRICTION 0.5
#define SCALING_BENCH_CUBE_EDGE 0.05           /* [m] */
#define SCALING_BENCH_CUBE_MASS 0.125          /* [kg] */
#define SCALING_BENCH_BALL_RADIUS 0.02         /* [m] */
#define SCALING_BENCH_BALL_MASS 0.1            /* [kg] */
#define SCALING_BENCH_PIT_SLOPE 0.3            /* slope of the four planes of the pit [rad] */
#define SCALING_BENCH_SEPARATE_BALL_SPEED 0.05 /* speed of the separate balls [m/s] */

static inline int is_scaling_bench_scene_of_balls(enum scaling_bench_scene which)
{
    return which == SCALING_BENCH_SEPARATE_BALLS || which == SCALING_BENCH_BALL_HEAP;
}

/* Centre of body i of n [m]. Balls of the heap are a little beside a grid, as nothing real is on
 * one. */
static inline void scaling_bench_body_position(enum scaling_bench_scene which, int i, int n,
                                               double *at)
{
    if (!is_scaling_bench_scene_of_balls(which)) {
        int side = (int)ceil(sqrt(n));
        at[0] = 2.0 * SCALING_BENCH_CUBE_EDGE * (i % side - 0.5 * side);
        at[1] = 2.0 * SCALING_BENCH_CUBE_EDGE * (i / side - 0.5 * side);
        at[2] = 0.5 * SCALING_BENCH_CUBE_EDGE;
        return;
    }
    int side = (int)ceil(cbrt(n));
    double pitch = (which == SCALING_BENCH_SEPARATE_BALLS ? 5.0 : 2.5) * SCALING_BENCH_BALL_RADIUS;
    at[0] = pitch * (i % side - 0.5 * (side - 1)) + 1e-3 * sin(12.9898 * i);
    at[1] = pitch * (i / side % side - 0.5 * (side - 1)) + 1e-3 * sin(78.233 * i);
    at[2] = pitch * (i / side / side) + pitch + 0.5 * pitch * side * tan(SCALING_BENCH_PIT_SLOPE);
}

/* Sideways force on each cube in a tick [N]: a tenth of its weight, the other way every 0.1 s. */
static inline double scaling_bench_push_force(int tick)
{
    return 0.1 * SCALING_BENCH_CUBE_MASS * SCALING_BENCH_GRAVITY * (tick / 100 % 2 ? -1.0 : 1.0);
}

struct scaling_bench_options {
    enum scaling_bench_scene which;
    /* number of measured ticks, and of ticks before them that are not measured */
    int bodies, ticks, skipped;
};

/* Reads the arguments CASE BODIES TICKS SKIPPED; exits with 2 where they are invalid. */
static inline struct scaling_bench_options parse_scaling_bench_arguments(int argc, char **argv)
{
    struct scaling_bench_options o = {.which = SCALING_BENCH_CASES};
    for (int i = 0; i < SCALING_BENCH_CASES && argc == 5; i++) {
        o.which = strcmp(argv[1], scale_names[i]) ? o.which : (enum scaling_bench_scene)i;
    }
    if (o.which != SCALING_BENCH_CASES) {
        o.bodies = atoi(argv[2]);
        o.ticks = atoi(argv[3]);
        o.skipped = atoi(argv[4]);
    }
    if (o.bodies < 1 || o.ticks < 1) {
        fprintf(stderr, "usage: %s cubes|pushed|apart|heap BODIES TICKS SKIPPED\n", argv[0]);
        exit(2);
    }
    return o;
}

static inline double scaling_bench_clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static inline int compare_tick_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Resident memory of this program [MB]. */
static inline double scaling_bench_resident_memory_mb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*d %ld", &pages) != 1) {
            pages = 0;
        }
        fclose(file);
    }
    return (double)pages * 4096e-6;
}

/* One JSON object: how long a tick took, how well it was solved, where the bodies are at the end.
 */
static inline void print_scaling_result(const char *engine_name,
                                        const struct scaling_bench_options *o,
                                        double *step_durations, double setup_seconds,
                                        double resident_memory_mb, double residual, double contacts,
                                        double moved)
{
    double sum = 0.0;
    for (int i = 0; i < o->ticks; i++) {
        sum += step_durations[i] / o->ticks;
    }
    qsort(step_durations, (size_t)o->ticks, sizeof *step_durations, compare_tick_times);
    printf(
        "{\"engine\": \"%s\", \"case\": \"%s\", \"bodies\": %d, \"ticks\": %d, \"compute_us\": "
        "{\"mean\": %.3f, \"p50\": %.3f, \"p99\": %.3f}, \"setup_s\": %.4f, \"memory_MB\": %.1f, "
        "\"residual\": %.3e, \"contacts\": %.1f, \"moved_mm\": %.5f}\n",
        engine_name, scale_names[o->which], o->bodies, o->ticks, sum, step_durations[o->ticks / 2],
        step_durations[o->ticks * 99 / 100], setup_seconds, resident_memory_mb, residual, contacts,
        1e3 * moved);
}

#endif
