/* tact calibrate: the stiffest wall that a haptic axis renders, by its damping (Colgate and Brown's
 * Z-width), and its picture. */
#include <math.h>
#include <stdio.h>
#include "calibrate_haptic.h"
#include "command.h"
#include "drawing.h"

enum { PRESS = 900, EARLY = 100, LATE = 500 }; /* [ticks] */

#define STIFFNESS_STEP_FACTOR 1.05 /* factor from one stiffness to the next */
#define MAX_STIFFNESS_FACTOR 20.0  /* times the analytic line, where it ends */

/* One press: the wall is where a constant push keeps the axis in it, and the axis starts off that
 * by half the depth. *grows: the oscillation is larger late than early. */
static int press_virtual_wall(struct haptic_axis *axis, double stiffness, double damping,
                              double resolution, int *is_oscillation_growing)
{
    const double push = 0.4 * axis->limit, depth = push / stiffness;
    double position, last, early = 0.0, late = 0.0;
    int code = step_haptic_axis(axis, &position);
    const double wall = position - 0.5 * depth, rest = wall + depth;
    last = position;
    for (int k = 0; !code && k < PRESS; k++) {
        const double in = fmax(0.0, position - wall);
        const double slow = in > 0.0 ? damping * (position - last) / axis->period : 0.0;
        set_haptic_force(axis, push - stiffness * in - slow);
        const double off = fabs(position - rest);
        early = k >= EARLY && k < LATE - EARLY ? fmax(early, off) : early;
        late = k >= LATE ? fmax(late, off) : late;
        last = position;
        if (axis->outside || late > 2.0 * depth) {
            late = INFINITY;
            break;
        }
        code = step_haptic_axis(axis, &position);
    }
    set_haptic_force(axis, 0.0);
    *is_oscillation_growing = late > early && late > 3.0 * resolution;
    return code;
}

int haptic_measure_width(struct haptic_axis *axis, const struct identified_haptic_axis *found,
                         struct stable_wall_stiffness *width)
{
    static const double share[HAPTIC_DAMPINGS] = {0.0, 0.5, 1.0, 2.0};
    const double max_wall_damping = 0.1 * found->mass / (axis->period + found->delay);
    const double soft = 0.2 * axis->limit / axis->travel;
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        const double damping = fmin(share[i] * found->damping, max_wall_damping);
        width->damping[i] = damping;
        width->line[i] = (found->damping + damping) / (0.5 * axis->period + found->delay);
        width->stiffness[i] = 0.0;
        int is_oscillation_growing = 0;
        for (double k = 0.25 * width->line[i];
             !is_oscillation_growing && k < MAX_STIFFNESS_FACTOR * width->line[i];
             k *= STIFFNESS_STEP_FACTOR) {
            int code = settle_haptic_axis(axis, soft, found->damping);
            code = code ? code : settle_haptic_axis(axis, 0.0, found->damping);
            code = code ? code
                        : press_virtual_wall(axis, k, damping, found->resolution,
                                             &is_oscillation_growing);
            if (code) {
                return code;
            }
            width->stiffness[i] = is_oscillation_growing ? width->stiffness[i] : k;
        }
    }
    return EXIT_GOOD;
}

int draw_stable_wall_stiffness(const struct stable_wall_stiffness *width,
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
    fputs("set xlabel 'damping of the wall (N s/m)'\nset ylabel 'stiffness of the wall (N/m)'\n"
          "set yrange [0:*]\nset offsets graph 0.05, graph 0.05, graph 0.1, 0\nset key left top\n"
          "$width << EOD\n",
          d.to);
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        fprintf(d.to, "%.9g %.9g %.9g\n", width->damping[i], width->stiffness[i], width->line[i]);
    }
    fprintf(d.to, "EOD\nset title 'mass %.3g kg, damping %.3g N s/m, delay %.3g ms'\n", found->mass,
            found->damping, found->delay * 1e3);
    fputs("plot $width using 1:2 with linespoints pt 7 title 'measured', "
          "$width using 1:3 with lines dt 2 title '(b + B) / (T/2 + delay)'\n",
          d.to);
    return drawing_close(&d);
}
