/* The profile of a spherical bowl, a solid of revolution. */
#ifndef TACT_TESTS_BOWL_PROFILE_H
#define TACT_TESTS_BOWL_PROFILE_H

#include <math.h>

#define BOWL_PI 3.14159265358979323846
#define BOWL_RADIUS 0.1          /* inner radius of the bowl [m] */
#define BOWL_WALL_THICKNESS 0.01 /* [m] */

/* Profile of a spherical bowl about the origin: its inner surface up to 66 degrees, and a round
 * lip. */
static inline int make_bowl_profile(double (*out)[2])
{
    int count = 0;
    for (int i = 0; i <= 22; i++, count++) {
        double a = BOWL_PI / 60.0 * i;
        out[count][0] = BOWL_RADIUS * sin(a);
        out[count][1] = -BOWL_RADIUS * cos(a);
    }
    double end = BOWL_PI / 60.0 * 22, middle = BOWL_RADIUS + 0.5 * BOWL_WALL_THICKNESS;
    for (int i = 1; i < 8; i++, count++) {
        /* profile points from the inner surface over the lip to the outer surface */
        double a = end - BOWL_PI / 2.0 + BOWL_PI + BOWL_PI / 8.0 * i;
        double x = 0.5 * BOWL_WALL_THICKNESS * cos(a - end - BOWL_PI / 2.0),
               y = 0.5 * BOWL_WALL_THICKNESS * sin(a - end - BOWL_PI / 2.0);
        out[count][0] = middle * sin(end) - x * sin(end) + y * cos(end);
        out[count][1] = -middle * cos(end) + x * cos(end) + y * sin(end);
    }
    for (int i = 22; i >= 0; i--, count++) {
        double a = BOWL_PI / 60.0 * i;
        out[count][0] = i ? (BOWL_RADIUS + BOWL_WALL_THICKNESS) * sin(a) : 0.0;
        out[count][1] = -(BOWL_RADIUS + BOWL_WALL_THICKNESS) * cos(a);
    }
    return count;
}

#endif
