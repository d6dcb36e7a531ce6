/* A bumpy torus whose surface is a periodic bicubic B-spline: as patches of degree 3, and as
 * Catmull and Clark's surface of its control points, which are a grid of squares. */
#ifndef TACT_TESTS_BICUBIC_TORUS_H
#define TACT_TESTS_BICUBIC_TORUS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "contact/shape/charts.h"
#include "plain_subdivision.h"

enum { BICUBIC_SIDE = 6, BICUBIC_TEXT = 1 << 14 };

/* The control mesh: vertex BICUBIC_SIDE j + i is the i-th around the ring of the j-th around the
 * tube. */
static inline void make_bicubic_control_mesh(struct polygon_mesh *mesh)
{
    make_test_polygon_mesh(3, BICUBIC_SIDE, mesh);
    for (int i = 0; i < mesh->vertices; i++) {
        for (int k = 0; k < 3; k++) {
            mesh->at[i][k] += 0.05 * sin(1.0 + 2.7 * i + 1.3 * k);
        }
    }
}

/* An OBJ file of the surface as BICUBIC_SIDE x BICUBIC_SIDE patches of degree 3. */
static inline char *bicubic_torus_file_text(void)
{
    static struct polygon_mesh mesh;
    const int n = BICUBIC_SIDE;
    char *text = malloc(BICUBIC_TEXT), *at = text;
    assert_non_null(text);
    make_bicubic_control_mesh(&mesh);
    for (int i = 0; i < mesh.vertices; i++) {
        at += tact_number_print(at, 128, "v %.17g %.17g %.17g\n", mesh.at[i][0], mesh.at[i][1],
                                mesh.at[i][2]);
    }
    at += sprintf(at, "cstype bspline\ndeg 3 3\nsurf 0 %d 0 %d", n, n);
    for (int j = 0; j < n + 3; j++) {
        for (int i = 0; i < n + 3; i++) {
            at += sprintf(at, " %d", 1 + j % n * n + i % n);
        }
    }
    for (int k = 0; k < 2; k++) {
        at += sprintf(at, "\nparm %s", k ? "v" : "u");
        for (int i = -3; i <= n + 3; i++) {
            at += sprintf(at, " %d", i);
        }
    }
    sprintf(at, "\nend\n");
    return text;
}

static inline struct tact_charts *load_bicubic_torus(double scale)
{
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    char *text = bicubic_torus_file_text();
    if (tact_charts_patches(text, strlen(text), "bicubic.obj", scale, &charts, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    free(text);
    return charts;
}

static inline struct tact_charts *load_catmull_clark_torus(double scale)
{
    static struct polygon_mesh mesh;
    struct tact_charts *charts = NULL;
    struct tact_error err = {.line = 0};
    make_bicubic_control_mesh(&mesh);
    char *text = polygon_mesh_to_obj_text(&mesh, 0);
    if (tact_charts_subdivision(text, strlen(text), "control.obj", scale, &charts, &err)) {
        fail_msg("%d: %s", err.line, err.text);
    }
    free(text);
    return charts;
}

#endif
