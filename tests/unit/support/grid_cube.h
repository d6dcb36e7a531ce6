/* A cube with many triangles in each face: of two aligned cubes in contact, all triangles of one
 * face touch those of another. */
#ifndef TACT_TESTS_GRID_CUBE_H
#define TACT_TESTS_GRID_CUBE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh/mesh.h"

/* A cube of edge 2 whose faces are grids of n squares, each of two triangles: 12 n^2 together.
 * NULL on failure. */
static inline struct tact_mesh *make_grid_cube_mesh(int n)
{
    const size_t side = (size_t)n + 1;
    uint32_t *at = calloc(side * side * side, sizeof *at), used = 0;
    double *vertices = calloc(18 * side * side, sizeof *vertices);
    uint32_t *triangles = calloc(36 * (size_t)n * (size_t)n, sizeof *triangles), *t = triangles;
    if (!at || !vertices || !triangles) {
        abort();
    }
    for (int i = 0; i < 6 * n * n; i++) {
        const int face = i / (n * n), axis = face / 2;
        uint32_t q[4];
        for (int k = 0; k < 4; k++) {
            int x[3];
            x[axis] = face % 2 ? n : 0;
            x[(axis + 1) % 3] = i % n + (k == 1 || k == 2);
            x[(axis + 2) % 3] = i / n % n + (k >= 2);
            uint32_t *v = at + ((size_t)x[0] * side + (size_t)x[1]) * side + (size_t)x[2];
            if (!*v) {
                for (int c = 0; c < 3; c++) {
                    vertices[3 * used + (uint32_t)c] = 2.0 * x[c] / n - 1.0;
                }
                *v = ++used;
            }
            q[face % 2 ? k : 3 - k] = *v - 1;
        }
        const uint32_t two[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
        memcpy(t, two, sizeof two);
        t += 6;
    }
    struct tact_mesh *mesh;
    if (tact_mesh_create(vertices, used, triangles, (size_t)(t - triangles) / 3, &mesh, NULL)) {
        mesh = NULL;
    }
    free(at);
    free(vertices);
    free(triangles);
    return mesh;
}

#endif
