/* tact calibrate: the stiffest wall that a haptic axis renders, by its damping (Colgate and Brown's
 * Z-width), and its picture. */
#include <math.h>
#include <stdio.h>
#include "calibrate_haptic.h"
#include "command.h"
#include "drawing.h"

enum { PRESS = 900, EARLY = 100, LATE = 500 }; /* [ticks] */
/* maximum number of tested stiffnesses: up to 19 times the analytic limit */
enum { MAX_PRESSES = 90 };

#define FIRST_STIFFNESS_TO_LIMIT_RATIO                                                             \
    0.25                           /* first tested stiffness, as a factor of the analytic limit */
#define STIFFNESS_STEP_FACTOR 1.05 /* factor from one stiffness to the next */

/* One press: the wall is where a constant push keeps the axis in it, at most half of the travel
 * deep, and the axis starts off that by half the depth. The oscillation grows if it is larger late
 * than early. */
static int press_virtual_wall(struct haptic_axis *axis, double stiffness, double damping,
                              double resolution, int *is_oscillation_growing)
{
    const double push = fmin(0.4 * axis->limit, 0.5 * axis->allowed_axis_travel * stiffness);
    const double depth = push / stiffness;
    double position, last, early_amplitude = 0.0, late_amplitude = 0.0;
    int code = step_haptic_axis(axis, &position);
    const double wall_position = position - 0.5 * depth, rest = wall_position + depth;
    last = position;
    for (int k = 0; !code && k < PRESS; k++) {
        const double wall_penetration = fmax(0.0, position - wall_position);
        const double wall_damping_force =
            wall_penetration > 0.0 ? damping * (position - last) / axis->period : 0.0;
        set_haptic_force(axis, push - stiffness * wall_penetration - wall_damping_force);
        const double axis_deviation_from_rest = fabs(position - rest);
        early_amplitude = k >= EARLY && k < LATE - EARLY
                              ? fmax(early_amplitude, axis_deviation_from_rest)
                              : early_amplitude;
        late_amplitude =
            k >= LATE ? fmax(late_amplitude, axis_deviation_from_rest) : late_amplitude;
        last = position;
        if (axis->is_axis_beyond_travel || late_amplitude > 2.0 * depth) {
            late_amplitude = INFINITY;
            break;
        }
        code = step_haptic_axis(axis, &position);
    }
    set_haptic_force(axis, 0.0);
    *is_oscillation_growing = late_amplitude > early_amplitude && late_amplitude > 3.0 * resolution;
    return code;
}

/* Presses walls of rising stiffness at one damping until an oscillation grows. */
static int find_stable_stiffness(struct haptic_axis *axis,
                                 const struct identified_haptic_axis *found, int wall_damping_index,
                                 struct stable_wall_stiffness *wall_stiffness)
{
    const double recentering_stiffness = 0.2 * axis->limit / axis->allowed_axis_travel;
    double stiffness = FIRST_STIFFNESS_TO_LIMIT_RATIO *
                       wall_stiffness->analytic_stiffness_limit[wall_damping_index];
    wall_stiffness->stiffness[wall_damping_index] =
        wall_stiffness->unstable_stiffness[wall_damping_index] = NAN;
    for (int wall_press_index = 0; wall_press_index < MAX_PRESSES && stiffness > 0.0;
         wall_press_index++) {
        int is_oscillation_growing = 0;
        int code = return_haptic_axis_to_start(axis, recentering_stiffness, found->damping);
        code = code ? code : return_haptic_axis_to_start(axis, 0.0, found->damping);
        code =
            code ? code
                 : press_virtual_wall(axis, stiffness, wall_stiffness->damping[wall_damping_index],
                                      found->resolution, &is_oscillation_growing);
        if (code) {
            return code;
        }
        if (is_oscillation_growing) {
            wall_stiffness->unstable_stiffness[wall_damping_index] = stiffness;
            break;
        }
        wall_stiffness->stiffness[wall_damping_index] = stiffness;
        stiffness *= STIFFNESS_STEP_FACTOR;
    }
    return EXIT_GOOD;
}

int measure_stable_wall_stiffness(struct haptic_axis *axis,
                                  const struct identified_haptic_axis *found,
                                  struct stable_wall_stiffness *wall_stiffness)
{
    static const double share[HAPTIC_DAMPINGS] = {0.0, 0.5, 1.0, 2.0};
    const double max_wall_damping = 0.1 * found->mass / (axis->period + found->delay);
    const double damping_test_duration_limit =
        MAX_PRESSES * (2 * SETTLING_TICK_COUNT + PRESS + 1) * axis->period;
    int code = EXIT_GOOD;
    for (int i = 0; !code && i < HAPTIC_DAMPINGS; i++) {
        wall_stiffness->damping[i] = fmin(share[i] * found->damping, max_wall_damping);
        wall_stiffness->analytic_stiffness_limit[i] =
            (found->damping + wall_stiffness->damping[i]) / (0.5 * axis->period + found->delay);
        if (axis->is_axis_paced_by_clock && wall_stiffness->analytic_stiffness_limit[i] > 0.0) {
            fprintf(stderr,
                    "virtual wall %d of %d, damping %.3g: the axis presses on it at most %d times, "
                    "with a higher stiffness each time, within %.0f s\n",
                    i + 1, HAPTIC_DAMPINGS, wall_stiffness->damping[i], MAX_PRESSES,
                    damping_test_duration_limit);
        }
        code = find_stable_stiffness(axis, found, i, wall_stiffness);
    }
    return code;
}

/* Writes the wall stiffness over the damping as curves where both a stable and an unstable one were
 * found, else as marks. */
static void write_gnuplot_of_walls(FILE *to, const struct stable_wall_stiffness *wall_stiffness)
{
    int dampings_with_only_stable_stiffness = 0, unstable_only_damping_count = 0,
        untested_damping_count = 0;
    fputs("$width << EOD\n", to);
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        const double stable_stiffness = wall_stiffness->stiffness[i],
                     unstable_stiffness = wall_stiffness->unstable_stiffness[i];
        const int is_only_unstable_stiffness_known =
            isnan(stable_stiffness) && !isnan(unstable_stiffness);
        const int is_only_stable_stiffness_known =
            !isnan(stable_stiffness) && isnan(unstable_stiffness);
        const int is_wall_untested = isnan(stable_stiffness) && isnan(unstable_stiffness);
        fprintf(to, "%.9g %.9g %.9g %.9g %.9g %.9g\n", wall_stiffness->damping[i],
                is_only_stable_stiffness_known ? NAN : stable_stiffness,
                wall_stiffness->analytic_stiffness_limit[i],
                is_only_stable_stiffness_known ? stable_stiffness : NAN,
                is_only_unstable_stiffness_known ? unstable_stiffness : NAN,
                is_wall_untested ? 0.0 : NAN);
        dampings_with_only_stable_stiffness += is_only_stable_stiffness_known;
        unstable_only_damping_count += is_only_unstable_stiffness_known;
        untested_damping_count += is_wall_untested;
    }
    fputs("EOD\nplot ", to);
    if (dampings_with_only_stable_stiffness + unstable_only_damping_count + untested_damping_count <
        HAPTIC_DAMPINGS) {
        fputs("$width using 1:2 with linespoints pt 7 title 'measured', ", to);
    }
    fputs("$width using 1:3 with lines dt 2 title '(b + B) / (T/2 + delay)'", to);
    fputs(dampings_with_only_stable_stiffness
              ? ", $width using 1:4 with points pt 8 title 'at least'"
              : "",
          to);
    fputs(unstable_only_damping_count ? ", $width using 1:5 with points pt 10 title 'below'" : "",
          to);
    fputs(untested_damping_count ? ", $width using 1:6 with points pt 2 title 'not tested'\n"
                                 : "\n",
          to);
}

/* Units of an axis in metres and newtons, in radians, or of another kind, by enum haptic_units. */
static void write_wall_plot_axis_labels(FILE *to, enum haptic_units units,
                                        const struct identified_haptic_axis *found)
{
    static const struct {
        const char *mass, *damping, *stiffness;
    } names[] = {{" kg", "N s/m", "N/m"}, {" kg m^2", "N m s/rad", "N m/rad"}, {"", "", ""}};
    const char *damping = names[units].damping, *stiffness = names[units].stiffness;
    const int are_wall_units_known = damping[0] != '\0';
    fprintf(to, "set xlabel 'damping of the wall%s%s%s'\n", are_wall_units_known ? " (" : "",
            damping, are_wall_units_known ? ")" : "");
    fprintf(to, "set ylabel 'stiffness of the wall%s%s%s'\n", are_wall_units_known ? " (" : "",
            stiffness, are_wall_units_known ? ")" : "");
    fprintf(to, "set title '%s %.3g%s, damping %.3g%s%s, delay %.3g ms'\n",
            units == HAPTIC_ROTARY ? "moment of inertia" : "mass", found->mass, names[units].mass,
            found->damping, are_wall_units_known ? " " : "", damping, found->delay * 1e3);
}

int draw_stable_wall_stiffness(enum haptic_units units,
                               const struct stable_wall_stiffness *wall_stiffness,
                               const struct identified_haptic_axis *found, const char *path,
                               int force)
{
    struct drawing d;
    int code = drawing_open(&d, "tact calibrate", path, force);
    if (code) {
        return code;
    }
    if (d.terminal) {
        fprintf(d.to, "set terminal %s size 640,440 font 'DejaVu Sans,12'\n", d.terminal);
    }
    fputs("set yrange [0:*]\nset offsets graph 0.05, graph 0.05, graph 0.1, 0\nset key left top\n",
          d.to);
    write_wall_plot_axis_labels(d.to, units, found);
    write_gnuplot_of_walls(d.to, wall_stiffness);
    return drawing_close(&d);
}
