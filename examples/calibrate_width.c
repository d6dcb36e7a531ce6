/* tact calibrate: the stiffest wall that a haptic axis renders, by its damping (Colgate and Brown's
 * Z-width), and its picture. */
#include <math.h>
#include <stdio.h>
#include "calibrate_haptic.h"
#include "command.h"
#include "drawing.h"

enum { PRESS = 900, EARLY = 100, LATE = 500 }; /* [ticks] */

#define RAISED 1.05      /* factor from one stiffness to the next */
#define MOST_RAISED 20.0 /* times the analytic line, where it ends */

/* One press: the wall is where a constant push keeps the axis in it, and the axis starts off that
 * by half the depth. *grows: the oscillation is larger late than early. */
static int press_wall(struct haptic_axis *axis, double stiffness, double damping, double resolution,
                      int *grows)
{
    const double push = 0.4 * axis->limit, depth = push / stiffness;
    double position, last, early = 0.0, late = 0.0;
    int code = haptic_step(axis, &position);
    const double wall = position - 0.5 * depth, rest = wall + depth;
    last = position;
    for (int k = 0; !code && k < PRESS; k++) {
        const double in = fmax(0.0, position - wall);
        const double slow = in > 0.0 ? damping * (position - last) / axis->period : 0.0;
        haptic_force(axis, push - stiffness * in - slow);
        const double off = fabs(position - rest);
        early = k >= EARLY && k < LATE - EARLY ? fmax(early, off) : early;
        late = k >= LATE ? fmax(late, off) : late;
        last = position;
        if (axis->outside || late > 2.0 * depth) {
            late = INFINITY;
            break;
        }
        code = haptic_step(axis, &position);
    }
    haptic_force(axis, 0.0);
    *grows = late > early && late > 3.0 * resolution;
    return code;
}

int haptic_measure_width(struct haptic_axis *axis, const struct haptic_found *found,
                         struct haptic_width *width)
{
    static const double share[HAPTIC_DAMPINGS] = {0.0, 0.5, 1.0, 2.0};
    const double most_damping = 0.1 * found->mass / (axis->period + found->delay);
    const double soft = 0.2 * axis->limit / axis->travel;
    for (int i = 0; i < HAPTIC_DAMPINGS; i++) {
        const double damping = fmin(share[i] * found->damping, most_damping);
        width->damping[i] = damping;
        width->line[i] = (found->damping + damping) / (0.5 * axis->period + found->delay);
        width->stiffness[i] = 0.0;
        int grows = 0;
        for (double k = 0.25 * width->line[i]; !grows && k < MOST_RAISED * width->line[i];
             k *= RAISED) {
            int code = haptic_settle(axis, soft, found->damping);
            code = code ? code : haptic_settle(axis, 0.0, found->damping);
            code = code ? code : press_wall(axis, k, damping, found->resolution, &grows);
            if (code) {
                return code;
            }
            width->stiffness[i] = grows ? width->stiffness[i] : k;
        }
    }
    return EXIT_GOOD;
}

int haptic_draw(const struct haptic_width *width, const struct haptic_found *found,
                const char *path, int force)
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
