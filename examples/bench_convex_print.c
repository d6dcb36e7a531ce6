/* The figures of Yi and Drumwright 2018 as tables for people, as JSON, and drawn. */
#include <jansson.h>
#include <math.h>
#include "bench_convex.h"
#include "text.h"

#define DEGREES_PER_RADIAN (180.0 / M_PI)

static int is_figure_requested(const struct convex_bench_results *f, int paper_figure_number)
{
    return f->requested_figure_bits >> paper_figure_number & 1;
}

static void print_box_result(const struct box_attitude_curve *attitude_curve)
{
    enum { EACH = 30 };
    printf("Figure 3: a box embedded in a half-space is pushed out. Roll and pitch [degrees] where "
           "the force is\nthe pressure over the surface, as it should be, and where it is that of "
           "the deepest point; the latter\nis off by as much however small the steps\n%-20s %9s",
           "force", "step");
    for (int k = 0; k < CONVEX_SAMPLES; k += EACH) {
        printf("  %6.0f ms     ", 1e3 * CONVEX_SAMPLE_INTERVAL * k);
    }
    puts("   off by");
    for (int i = 0; i < CONVEX_PUSHES; i++) {
        printf("%-20s %6.3f ms", convex_push_names[i], 1e3 * attitude_curve[i].period);
        for (int k = 0; k < CONVEX_SAMPLES; k += EACH) {
            printf("  %6.2f %6.2f", DEGREES_PER_RADIAN * attitude_curve[i].sampled_roll_angles[k],
                   DEGREES_PER_RADIAN * attitude_curve[i].pitch[k]);
        }
        printf(" %8.3f\n", DEGREES_PER_RADIAN * attitude_curve[i].max_roll_or_pitch_error);
    }
}

static void print_hole_result(const struct plate_in_hole_result *plate_in_hole_results)
{
    puts("Figure 4: a parallelogram in a hole, moved toward each side. Where each side within a "
         "margin is a\ncontact, as drawn, every motion is cancelled; features know the gap\n"
         "   direction      gap [mm]   moves, features   as drawn");
    for (int i = 0; i < CONVEX_WAYS; i++) {
        printf("%8.1f degrees %10.6f %14.6f      %s\n",
               DEGREES_PER_RADIAN * plate_in_hole_results[i].angle,
               1e3 * plate_in_hole_results[i].gap, 1e3 * plate_in_hole_results[i].moved,
               plate_in_hole_results[i].least < 0.0 ? "not at all" : "freely");
    }
}

static void print_ball_result(const struct ball_in_corner_result *ball)
{
    puts("Figure 5: a ball in the top of a long box. Pushed out along the line of centres it goes "
         "along the\nbox; along the normal of the least translation it does not\n"
         "  offset [mm]   depth [mm]   aside, tact [mm]   centres: angle [degrees]   aside [mm]");
    for (int i = 0; i < CONVEX_OFFSETS; i++) {
        printf("%13.0f %12.6f %18.6f %26.2f %12.3f\n", 1e3 * ball[i].offset, 1e3 * ball[i].depth,
               1e3 * ball[i].shift_by_push_along_normal, DEGREES_PER_RADIAN * ball[i].angle,
               1e3 * ball[i].shift_by_push_along_centres);
    }
}

void print_convex_results(const struct convex_bench_results *results)
{
    if (is_figure_requested(results, 3)) {
        print_box_result(results->box_attitude_curves);
    }
    if (is_figure_requested(results, 4)) {
        print_hole_result(results->plate_in_hole_results);
    }
    if (is_figure_requested(results, 5)) {
        print_ball_result(results->ball);
    }
}

static json_t *box_json(const struct box_attitude_curve *attitude_curve)
{
    json_t *all = json_object();
    for (int i = 0; i < CONVEX_PUSHES; i++) {
        json_object_set_new(
            all, convex_push_names[i],
            json_pack("{s:f, s:f, s:o, s:o}", "period", attitude_curve[i].period, "deviation_rad",
                      attitude_curve[i].max_roll_or_pitch_error, "roll_rad",
                      text_json_numbers(attitude_curve[i].sampled_roll_angles, CONVEX_SAMPLES),
                      "pitch_rad", text_json_numbers(attitude_curve[i].pitch, CONVEX_SAMPLES)));
    }
    return json_pack("{s:f, s:o}", "sample", CONVEX_SAMPLE_INTERVAL, "forces", all);
}

static json_t *hole_json(const struct plate_in_hole_result *plate_in_hole_results)
{
    json_t *all = json_array();
    for (int i = 0; i < CONVEX_WAYS; i++) {
        json_array_append_new(all, json_pack("{s:f, s:f, s:f, s:b}", "direction_rad",
                                             plate_in_hole_results[i].angle, "gap",
                                             plate_in_hole_results[i].gap, "moved",
                                             plate_in_hole_results[i].moved, "moves_as_drawn",
                                             !(plate_in_hole_results[i].least < 0.0)));
    }
    return all;
}

static json_t *ball_json(const struct ball_in_corner_result *ball)
{
    json_t *all = json_array();
    for (int i = 0; i < CONVEX_OFFSETS; i++) {
        json_array_append_new(
            all, json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "offset", ball[i].offset, "depth",
                           ball[i].depth, "distance_after", ball[i].left, "aside",
                           ball[i].shift_by_push_along_normal, "centres_angle_rad", ball[i].angle,
                           "centres_aside", ball[i].shift_by_push_along_centres));
    }
    return all;
}

int convex_print_json(const struct convex_bench_results *results)
{
    json_t *all = json_object();
    if (is_figure_requested(results, 3)) {
        json_object_set_new(all, "3", box_json(results->box_attitude_curves));
    }
    if (is_figure_requested(results, 4)) {
        json_object_set_new(all, "4", hole_json(results->plate_in_hole_results));
    }
    if (is_figure_requested(results, 5)) {
        json_object_set_new(all, "5", ball_json(results->ball));
    }
    return text_print_json(json_pack("{s:o}", "figures", all));
}

void write_convex_csv(FILE *to, const struct convex_bench_results *results)
{
    fputs("force,period,time,roll_rad,pitch_rad\n", to);
    for (int i = 0; i < CONVEX_PUSHES; i++) {
        const struct box_attitude_curve *c = &results->box_attitude_curves[i];
        for (int k = 0; k < CONVEX_SAMPLES; k++) {
            fprintf(to, "\"%s\",%.9g,%.9g,%.9g,%.9g\n", convex_push_names[i], c->period,
                    k * CONVEX_SAMPLE_INTERVAL, c->sampled_roll_angles[k], c->pitch[k]);
        }
    }
}

void write_convex_figure(FILE *to, const struct convex_bench_results *results,
                         const char *gnuplot_terminal)
{
    static const char *const styles[CONVEX_PUSHES] = {
        "lines lw 4 lc rgb '#BBBBBB'", "lines lw 1.6 lc rgb '#D55E00'",
        "lines lw 1.6 dt 2 lc rgb '#D55E00'", "lines lw 1.6 lc rgb '#0072B2'",
        "lines lw 1.6 dt 2 lc rgb '#0072B2'"};
    if (gnuplot_terminal) {
        fprintf(to, "set terminal %s size 1040,400 font 'DejaVu Sans,12'\n", gnuplot_terminal);
    }
    for (int i = 0; i < CONVEX_PUSHES; i++) {
        const struct box_attitude_curve *c = &results->box_attitude_curves[i];
        fprintf(to, "$D%d << EOD\n", i);
        for (int k = 0; k < CONVEX_SAMPLES; k++) {
            fprintf(to, "%.6g %.9g %.9g\n", k * CONVEX_SAMPLE_INTERVAL,
                    DEGREES_PER_RADIAN * c->sampled_roll_angles[k],
                    DEGREES_PER_RADIAN * c->pitch[k]);
        }
        fputs("EOD\n", to);
    }
    fputs("set multiplot layout 1,2\nset grid lw 0.6 lc rgb '#E4E4E4'\nset key bottom left\n"
          "set xlabel 'time [s]'\n",
          to);
    for (int column = 2; column < 4; column++) {
        fprintf(to, "set ylabel '%s [degrees]'\nplot", column == 2 ? "roll" : "pitch");
        for (int i = 0; i < CONVEX_PUSHES; i++) {
            fprintf(to, "%s $D%d using 1:%d with %s title '%s'", i ? "," : "", i, column, styles[i],
                    convex_push_names[i]);
        }
        fputs("\n", to);
    }
    fputs("unset multiplot\n", to);
    fflush(to);
}
