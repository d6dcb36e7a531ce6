/* Pressure fields of simple bodies made of tetrahedra with a common vertex in the centre, for
 * tests and benchmarks. */
#ifndef TACT_TESTS_FIELD_TRIANGULATION_H
#define TACT_TESTS_FIELD_TRIANGULATION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"
#include "contact/pair/options.h"

/* Surface triangles of a solid that contains the origin; the arrays have room for more. */
struct surface_mesh {
    double *vertices;
    uint32_t *triangles;
    size_t vertex_count, triangle_count;
};

static inline uint32_t add_surface_vertex(struct surface_mesh *s, double x, double y, double z)
{
    tact_v3_set(s->vertices + 3 * s->vertex_count, x, y, z);
    return (uint32_t)s->vertex_count++;
}

static inline struct surface_mesh allocate_surface_mesh(size_t triangles)
{
    struct surface_mesh s = {malloc(9 * triangles * sizeof(double)), malloc(3 * triangles * 4), 0,
                             0};
    return s;
}

static inline void free_surface_mesh(struct surface_mesh *s)
{
    free(s->vertices);
    free(s->triangles);
}

/* The vertex in the middle of an edge; it is shared with an earlier triangle that has the same
 * edge. */
static inline uint32_t add_edge_midpoint(struct surface_mesh *to, const struct surface_mesh *from,
                                         uint32_t p, uint32_t q, uint32_t *known)
{
    size_t key = (size_t)(p < q ? p : q) * from->vertex_count + (p < q ? q : p);
    if (!known[key]) {
        const double *x = from->vertices + 3 * (size_t)p, *y = from->vertices + 3 * (size_t)q;
        known[key] = 1 + add_surface_vertex(to, x[0] + y[0], x[1] + y[1], x[2] + y[2]);
        tact_v3_normalize(to->vertices + 3 * (size_t)(known[key] - 1),
                          to->vertices + 3 * (size_t)(known[key] - 1));
    }
    return known[key] - 1;
}

/* A ball of radius 1 by halving the edges of an octahedron `level` times: 8 4^level triangles. */
static inline struct surface_mesh make_ball_surface(int level)
{
    struct surface_mesh s = allocate_surface_mesh(8);
    for (int k = 0; k < 6; k++) {
        double v = k % 2 ? -1.0 : 1.0;
        add_surface_vertex(&s, k / 2 == 0 ? v : 0.0, k / 2 == 1 ? v : 0.0, k / 2 == 2 ? v : 0.0);
    }
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t x = k & 1, y = 2 + (k >> 1 & 1), z = 4 + (k >> 2 & 1);
        int odd = (int)((k & 1) + (k >> 1 & 1) + (k >> 2 & 1)) % 2;
        uint32_t *t = s.triangles + 3 * s.triangle_count++;
        t[0] = x;
        t[1] = odd ? z : y;
        t[2] = odd ? y : z;
    }
    for (int i = 0; i < level; i++) {
        struct surface_mesh refined_surface = allocate_surface_mesh(4 * s.triangle_count);
        uint32_t *known = calloc(s.vertex_count * s.vertex_count, sizeof *known);
        memcpy(refined_surface.vertices, s.vertices, 3 * s.vertex_count * sizeof(double));
        refined_surface.vertex_count = s.vertex_count;
        for (size_t k = 0; k < s.triangle_count; k++) {
            const uint32_t *t = s.triangles + 3 * k;
            uint32_t m[3];
            for (int e = 0; e < 3; e++) {
                m[e] = add_edge_midpoint(&refined_surface, &s, t[e], t[(e + 1) % 3], known);
            }
            const uint32_t subtriangles[12] = {t[0], m[0], m[2], m[0], t[1], m[1],
                                               m[2], m[1], t[2], m[0], m[1], m[2]};
            memcpy(refined_surface.triangles + 3 * refined_surface.triangle_count, subtriangles,
                   sizeof subtriangles);
            refined_surface.triangle_count += 4;
        }
        free(known);
        free_surface_mesh(&s);
        s = refined_surface;
    }
    return s;
}

/* A cube of half side 1, each face in `triangles_per_face` triangles: 2, or 4 about its middle. */
static inline struct surface_mesh make_cube_surface(int triangles_per_face)
{
    struct surface_mesh s = allocate_surface_mesh(24);
    for (int k = 0; k < 8; k++) {
        add_surface_vertex(&s, k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0);
    }
    static const uint32_t face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int f = 0; f < 6; f++) {
        const uint32_t *c = face[f];
        if (triangles_per_face == 2) {
            const uint32_t two[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
            memcpy(s.triangles + 3 * s.triangle_count, two, sizeof two);
        } else {
            double v = f % 2 ? 1.0 : -1.0;
            uint32_t m = add_surface_vertex(&s, f / 2 == 0 ? v : 0.0, f / 2 == 1 ? v : 0.0,
                                            f / 2 == 2 ? v : 0.0);
            const uint32_t subtriangles[12] = {c[0], c[1], m, c[1], c[2], m,
                                               c[2], c[3], m, c[3], c[0], m};
            memcpy(s.triangles + 3 * s.triangle_count, subtriangles, sizeof subtriangles);
        }
        s.triangle_count += (size_t)triangles_per_face;
    }
    return s;
}

static inline void scale_surface_mesh(struct surface_mesh *s, double x, double y, double z)
{
    for (size_t i = 0; i < s->vertex_count; i++) {
        s->vertices[3 * i] *= x;
        s->vertices[3 * i + 1] *= y;
        s->vertices[3 * i + 2] *= z;
    }
}

/* Makes a pressure field of one tetrahedron for each surface triangle, all with a vertex at the
 * origin; pressure: at the origin [Pa]. */
static inline struct tact_pressure_field *field_of_surface_mesh(const struct surface_mesh *s,
                                                                double pressure)
{
    size_t n = s->vertex_count;
    double *vertices = calloc(3 * (n + 1), sizeof(double)), *p = calloc(n + 1, sizeof(double));
    uint32_t *tets = malloc(16 * s->triangle_count);
    struct tact_pressure_field *field = NULL;
    memcpy(vertices, s->vertices, 3 * n * sizeof(double));
    p[n] = pressure;
    for (size_t i = 0; i < s->triangle_count; i++) {
        tets[4 * i] = (uint32_t)n;
        memcpy(tets + 4 * i + 1, s->triangles + 3 * i, 12);
    }
    struct tact_error err;
    if (tact_field_tets(vertices, n + 1, tets, s->triangle_count, p, &field, &err)) {
        printf("%s\n", err.text);
    }
    free(vertices);
    free(p);
    free(tets);
    return field;
}

/* A ball of `radius` whose pressure rises to `pressure` in its centre. */
static inline struct tact_pressure_field *make_ball_field(double radius, double pressure, int level)
{
    struct surface_mesh s = make_ball_surface(level);
    scale_surface_mesh(&s, radius, radius, radius);
    struct tact_pressure_field *field = field_of_surface_mesh(&s, pressure);
    free_surface_mesh(&s);
    return field;
}

static inline struct tact_pressure_field *field_box(double x, double y, double z, double pressure,
                                                    int triangles_per_face)
{
    struct surface_mesh s = make_cube_surface(triangles_per_face);
    scale_surface_mesh(&s, x, y, z);
    struct tact_pressure_field *field = field_of_surface_mesh(&s, pressure);
    free_surface_mesh(&s);
    return field;
}

/* Makes the pressure field of a shape; slope: pressure over depth [Pa/m], INFINITY: rigid. */
static inline int field_of_shape(const struct tact_shape *shape, double slope,
                                 struct tact_pressure_field **out, struct tact_error *err)
{
    const struct tact_field_material material = {.modulus = isinf(slope) ? 0.0 : slope,
                                                 .thickness = 1.0};
    return tact_field_of_shape(shape, &material, out, err);
}

#endif
