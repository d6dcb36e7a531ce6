/* A torus about z as NURBS patches: the file of its surface, and the surface. */
#ifndef TACT_TESTS_TORUS_PATCHES_H
#define TACT_TESTS_TORUS_PATCHES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "contact/shape/charts.h"
#include "contact/vec.h"

#define TORUS_PI 3.14159265358979323846
#define TORUS_RING_RADIUS_M 0.03  /* [m] */
#define TORUS_TUBE_RADIUS_M 0.008 /* [m] */

enum { TORUS_PATCH_TEXT = 1 << 18 };

/* Control points of a circle of radius 1, made of rational quadratic arcs; returns their number. */
static inline int circle_control_points(int arc_count, double (*out)[3])
{
    double half = TORUS_PI / arc_count;
    for (int i = 0; i <= 2 * arc_count; i++) {
        double far = i % 2 ? 1.0 / cos(half) : 1.0;
        tact_v3_set(out[i], far * cos(half * i), far * sin(half * i), i % 2 ? cos(half) : 1.0);
    }
    /* the last control point equals the first bit for bit */
    tact_v3_set(out[2 * arc_count], 1.0, 0.0, 1.0);
    return 2 * arc_count + 1;
}

/* An OBJ file of a torus: of arcs x arcs patches, as one surface. */
static inline char *torus_patch_file_text(int arc_count, int flip)
{
    double c[65][3];
    int count = circle_control_points(arc_count, c);
    char *text = malloc(TORUS_PATCH_TEXT), *at = text;
    assert_non_null(text);
    at += sprintf(at, "# a torus\n");
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < count; i++) {
            double r = TORUS_RING_RADIUS_M + TORUS_TUBE_RADIUS_M * c[j][0];
            at += tact_number_print(
                at, 128, "v %.17g %.17g %.17g %.17g\n", r * c[i][0], r * c[i][1],
                (flip ? -TORUS_TUBE_RADIUS_M : TORUS_TUBE_RADIUS_M) * c[j][1], c[i][2] * c[j][2]);
        }
    }
    at += sprintf(at, "cstype rat bspline\ndeg 2 2\nsurf 0 %d 0 %d", arc_count, arc_count);
    for (int i = 1; i <= count * count; i++) {
        at += sprintf(at, i % 16 ? " %d" : " %d \\\n", i);
    }
    for (int k = 0; k < 2; k++) {
        at += sprintf(at, "\nparm %s 0", k ? "v" : "u");
        for (int i = 0; i <= arc_count; i++) {
            at += sprintf(at, " %d %d", i, i);
        }
        at += sprintf(at, " %d", arc_count);
    }
    sprintf(at, "\nend\n");
    return text;
}

static inline struct tact_charts *load_torus_patches(int arc_count)
{
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    char *text = torus_patch_file_text(arc_count, 0);
    if (tact_charts_patches(text, strlen(text), "torus.obj", 1.0, &charts, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    free(text);
    return charts;
}

#endif
