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

/* Control points of a circle of radius 1, made of rational arcs of degree 2 or 3, with their
 * weights; returns their number. */
static inline int circle_control_points(int arcs_per_circle, int degree, double (*out)[3])
{
    const double half = TORUS_PI / arcs_per_circle, middle = cos(half);
    for (int i = 0; i < arcs_per_circle; i++) {
        /* the arc's points x w, y w, w: those of degree 2, and between them those of degree 3 */
        const double end[2][3] = {{cos(2.0 * half * i), sin(2.0 * half * i), 1.0},
                                  {cos(2.0 * half * (i + 1)), sin(2.0 * half * (i + 1)), 1.0}};
        const double far[3] = {cos(half * (2 * i + 1)), sin(half * (2 * i + 1)), middle};
        double(*arc)[3] = out + degree * i;
        tact_v3_copy(arc[0], end[0]);
        for (int k = 1; k < degree; k++) {
            tact_v3_scale(arc[k], far, degree == 2 ? 1.0 : 2.0 / 3.0);
            tact_v3_axpy(arc[k], degree == 2 ? 0.0 : 1.0 / 3.0, end[k - 1]);
            arc[k][0] /= arc[k][2];
            arc[k][1] /= arc[k][2];
        }
    }
    /* the last control point equals the first bit for bit */
    tact_v3_set(out[degree * arcs_per_circle], 1.0, 0.0, 1.0);
    return degree * arcs_per_circle + 1;
}

/* An OBJ file of a torus: of arcs x arcs patches, as one surface. degree: around the ring and the
 * tube, 2 or 3. */
static inline char *torus_surface_patch_obj_text_of_degrees(int arcs_per_circle,
                                                            const int degree[2],
                                                            int reverses_surface_patches)
{
    double c[2][65][3];
    int count[2];
    char *text = malloc(TORUS_PATCH_TEXT), *at = text;
    assert_non_null(text);
    for (int k = 0; k < 2; k++) {
        count[k] = circle_control_points(arcs_per_circle, degree[k], c[k]);
    }
    at += sprintf(at, "# a torus\n");
    for (int j = 0; j < count[1]; j++) {
        for (int i = 0; i < count[0]; i++) {
            const double *ring = c[0][i], *tube = c[1][j];
            double r = TORUS_RING_RADIUS_M + TORUS_TUBE_RADIUS_M * tube[0];
            at += tact_number_print(
                at, 128, "v %.17g %.17g %.17g %.17g\n", r * ring[0], r * ring[1],
                (reverses_surface_patches ? -TORUS_TUBE_RADIUS_M : TORUS_TUBE_RADIUS_M) * tube[1],
                ring[2] * tube[2]);
        }
    }
    at += sprintf(at, "cstype rat bspline\ndeg %d %d\nsurf 0 %d 0 %d", degree[0], degree[1],
                  arcs_per_circle, arcs_per_circle);
    for (int i = 1; i <= count[0] * count[1]; i++) {
        at += sprintf(at, i % 16 ? " %d" : " %d \\\n", i);
    }
    for (int k = 0; k < 2; k++) {
        at += sprintf(at, "\nparm %s 0", k ? "v" : "u");
        for (int i = 0; i < degree[k] * (arcs_per_circle + 1); i++) {
            at += sprintf(at, " %d", i / degree[k]);
        }
        at += sprintf(at, " %d", arcs_per_circle);
    }
    sprintf(at, "\nend\n");
    return text;
}

/* An OBJ file of a torus of patches of degree 2 in both directions. */
static inline char *torus_surface_patch_obj_text(int arcs_per_circle, int reverses_surface_patches)
{
    return torus_surface_patch_obj_text_of_degrees(arcs_per_circle, (const int[]){2, 2},
                                                   reverses_surface_patches);
}

/* An OBJ file of a torus of patches of degree 2, each a surface by itself, whose u and v are turned
 * by a quarter against those of its neighbours. */
static inline char *turned_torus_surface_patch_obj_text(int arcs_per_circle)
{
    char *text = torus_surface_patch_obj_text(arcs_per_circle, 0), *at = strstr(text, "cstype");
    at += sprintf(at, "cstype rat bezier\ndeg 2 2\n");
    for (int patch = 0; patch < arcs_per_circle * arcs_per_circle; patch++) {
        const int row = patch / arcs_per_circle, column = patch % arcs_per_circle,
                  turns = (row + column) % 4;
        at += sprintf(at, "surf 0 1 0 1");
        for (int k = 0; k < 9; k++) {
            int i = k % 3, j = k / 3; /* indices of the control point along u and v */
            for (int turn = 0; turn < turns; turn++) {
                const int other = i;
                i = 2 - j;
                j = other;
            }
            at +=
                sprintf(at, " %d", 1 + 2 * column + i + (2 * row + j) * (2 * arcs_per_circle + 1));
        }
        at += sprintf(at, "\nparm u 0 1\nparm v 0 1\nend\n");
    }
    return text;
}

/* Reads the patches of an OBJ file's text, and frees the text. */
static inline struct tact_charts *load_surface_patches_and_free_text(char *text)
{
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    if (tact_charts_patches(text, strlen(text), "torus.obj", 1.0, &charts, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    free(text);
    return charts;
}

static inline struct tact_charts *load_torus_surface_patches_of_degrees(int arcs_per_circle,
                                                                        const int degree[2])
{
    return load_surface_patches_and_free_text(
        torus_surface_patch_obj_text_of_degrees(arcs_per_circle, degree, 0));
}

static inline struct tact_charts *load_torus_surface_patches(int arcs_per_circle)
{
    return load_torus_surface_patches_of_degrees(arcs_per_circle, (const int[]){2, 2});
}

#endif
