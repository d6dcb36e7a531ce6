/* Figures 3, 4 and 5 of Yi and Drumwright 2018: by the paper's method and by tact. */
#ifndef TACT_EXAMPLES_BENCH_CONVEX_H
#define TACT_EXAMPLES_BENCH_CONVEX_H

#include <stdio.h>

/* Figure 3: a box, embedded in a half-space at rest, is pushed out of it. */
enum push_out_method {
    CONVEX_PUSH_BY_EXACT_PRESSURE, /* pressure over the surface, by an independent integrator in
                                    * fine steps
                                    */
    CONVEX_PUSH_AT_DEEPEST_POINT,  /* a spring at the deepest point, in steps of h */
    CONVEX_PUSH_AT_DEEPEST_POINT_FINE_STEPS, /* a spring at the deepest point, in fine steps */
    CONVEX_PUSH_BY_PRESSURE_FIELD,           /* the contact model `field`, in ticks of h */
    CONVEX_PUSH_BY_FIELD_1_MS,               /* the contact model `field`, in ticks of 1 ms */
    CONVEX_PUSHES
};
extern const char *const convex_push_names[CONVEX_PUSHES];

#define CONVEX_SAMPLE_INTERVAL 1e-3 /* time between two points of a curve [s] */
enum { CONVEX_SAMPLES = 151, CONVEX_OFFSETS = 5, CONVEX_WAYS = 4 };

struct box_attitude_curve {
    double period;                                                     /* [s] */
    double sampled_roll_angles[CONVEX_SAMPLES], pitch[CONVEX_SAMPLES]; /* [rad] */
    double
        max_roll_or_pitch_error; /* largest deviation of roll or pitch from the exact one [rad] */
};

/* Figure 4: a parallelogram in the hole of another, moved toward each of the four sides. */
struct plate_in_hole_result {
    double angle; /* angle between the motion and the side's normal [rad] */
    double gap;   /* distance to where the plate touches the side [m] */
    double moved; /* distance until the plate stops, by the contact model `features` [m] */
    double least; /* product of the motion's direction with the normals of all sides: negative, it
                     is cancelled where each side within a margin is a contact, as drawn [1] */
};

/* Figure 5: a ball in the top of a long box. */
struct ball_in_corner_result {
    double offset; /* position of the ball from the middle, along the box [m] */
    double depth;  /* depth of the overlap as tact measures it: the least translation [m] */
    double left;   /* distance after that translation along tact's normal [m] */
    double shift_by_push_along_normal; /* displacement along the box by that translation [m] */
    double angle; /* angle between the line of centres and the face's normal [rad] */
    /* displacement along the box if the ball is pushed out along the line of centres [m] */
    double shift_by_push_along_centres;
};

struct convex_bench_results {
    int requested_figure_bits; /* bits 3, 4, 5: these figures */
    struct box_attitude_curve box_attitude_curves[CONVEX_PUSHES];
    struct plate_in_hole_result plate_in_hole_results[CONVEX_WAYS];
    struct ball_in_corner_result ball[CONVEX_OFFSETS];
};

/* bench_convex_box.c, bench_convex_normals.c: 0 or a negative errno. */
int measure_falling_box(struct box_attitude_curve attitude_curve[CONVEX_PUSHES]);
int measure_plate_in_hole(struct plate_in_hole_result plate_in_hole_results[CONVEX_WAYS]);
int measure_ball_in_corner(struct ball_in_corner_result ball[CONVEX_OFFSETS]);

/* bench_convex_print.c: tables, JSON, curves of figure 3 as a script for gnuplot or as CSV. */
void print_convex_results(const struct convex_bench_results *results);
int convex_print_json(const struct convex_bench_results *results);
void write_convex_figure(FILE *to, const struct convex_bench_results *results,
                         const char *gnuplot_terminal);
void write_convex_csv(FILE *to, const struct convex_bench_results *results);

#endif
