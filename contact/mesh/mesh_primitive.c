/* Triangulated primitives: box, and sphere or capsule by rings of latitude. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/elementary.h"

static const double PI = 3.14159265358979323846;

int tact_mesh_box(const double half[3], struct tact_mesh **out)
{
    static const uint32_t triangles[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6},
                                              {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                              {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    double vertices[8][3];
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 3; k++) {
            vertices[i][k] = (i >> k) & 1 ? half[k] : -half[k];
        }
    }
    return tact_mesh_create(vertices[0], 8, triangles[0], 12, out, NULL);
}

/** Volume of a unit ball cut into `rings` bands per half and `sectors` sectors: a stack of frusta
 * over regular polygons. */
static double unit_ball_volume(size_t sectors, size_t rings)
{
    double polygon = 0.5 * (double)sectors * tact_sin(2.0 * PI / (double)sectors);
    double volume = 0.0;
    for (size_t i = 0; i < rings; i++) {
        double t0 = 0.5 * PI * (double)i / (double)rings;
        double t1 = 0.5 * PI * (double)(i + 1) / (double)rings;
        double r0 = tact_cos(t0), r1 = i + 1 == rings ? 0.0 : tact_cos(t1);
        volume += 2.0 * (tact_sin(t1) - tact_sin(t0)) * (r0 * r0 + r0 * r1 + r1 * r1) / 3.0;
    }
    return polygon * volume;
}

/** Radius of the triangulation at which it has the volume of the exact capsule, with an unchanged
 * axis. */
static double radius_of_exact_volume(double radius, double half_length, size_t sectors,
                                     size_t rings)
{
    double cubic_coefficient = unit_ball_volume(sectors, rings);
    double square = (double)sectors * tact_sin(2.0 * PI / (double)sectors) * half_length;
    double target = PI * radius * radius * (4.0 / 3.0 * radius + 2.0 * half_length);
    double r = radius;
    for (int i = 0; i < 8; i++) {
        r -= (r * r * (cubic_coefficient * r + square) - target) /
             (r * (3.0 * cubic_coefficient * r + 2.0 * square));
    }
    return r;
}

/** Fills the vertices of a capsule or sphere: south pole, rings from south to north, north pole.
 * Returns their number. */
static size_t fill_capsule_vertices(double radius, double half_length, size_t sectors, size_t rings,
                                    double *v)
{
    size_t n = 0;
    size_t ring_level_count = half_length > 0.0 ? 2 * rings : 2 * rings - 1;
    double *south_pole = v + 3 * n++;
    south_pole[0] = south_pole[1] = 0.0;
    south_pole[2] = -half_length - radius;
    for (size_t level = 0; level < ring_level_count; level++) {
        int is_northern = level >= rings;
        size_t up = is_northern && half_length > 0.0 ? level - 1 : level;
        double latitude = 0.5 * PI * ((double)(up + 1) / (double)rings - 1.0);
        for (size_t i = 0; i < sectors; i++) {
            double angle = 2.0 * PI * (double)i / (double)sectors;
            double *p = v + 3 * n++;
            p[0] = radius * tact_cos(latitude) * tact_cos(angle);
            p[1] = radius * tact_cos(latitude) * tact_sin(angle);
            p[2] = radius * tact_sin(latitude) + (is_northern ? half_length : -half_length);
        }
    }
    double *top = v + 3 * n++;
    top[0] = top[1] = 0.0;
    top[2] = half_length + radius;
    return n;
}

static size_t set_triangle_vertices(uint32_t *t, size_t n, size_t a, size_t b, size_t c)
{
    t[3 * n] = (uint32_t)a;
    t[3 * n + 1] = (uint32_t)b;
    t[3 * n + 2] = (uint32_t)c;
    return n + 1;
}

int tact_mesh_capsule(double radius, double half_length, size_t triangles, struct tact_mesh **out)
{
    /* bands of latitude as wide as the sectors: sectors^2 triangles in all */
    size_t rings = (size_t)floor(sqrt((double)triangles) / 4.0 + 0.5);
    rings = rings < 1 ? 1 : rings;
    size_t ring_level_count = half_length > 0.0 ? 2 * rings : 2 * rings - 1;
    size_t sectors = triangles / (2 * ring_level_count);
    sectors = sectors < 3 ? 3 : sectors;
    size_t vertex_capacity = ring_level_count * sectors + 2,
           triangle_capacity = 2 * sectors * ring_level_count;
    double *v = malloc(3 * vertex_capacity * sizeof *v);
    uint32_t *t = malloc(3 * triangle_capacity * sizeof *t);
    if (!v || !t) {
        free(v);
        free(t);
        return -ENOMEM;
    }
    double r = radius_of_exact_volume(radius, half_length, sectors, rings);
    size_t top = fill_capsule_vertices(r, half_length, sectors, rings, v) - 1, n = 0;
    for (size_t i = 0; i < sectors; i++) {
        size_t j = (i + 1) % sectors;
        n = set_triangle_vertices(t, n, 0, 1 + j, 1 + i);
        for (size_t level = 0; level + 1 < ring_level_count; level++) {
            size_t low = 1 + level * sectors, high = low + sectors;
            n = set_triangle_vertices(t, n, low + i, low + j, high + j);
            n = set_triangle_vertices(t, n, low + i, high + j, high + i);
        }
        n = set_triangle_vertices(t, n, top, top - sectors + i, top - sectors + j);
    }
    int rc = tact_mesh_create(v, top + 1, t, n, out, NULL);
    free(v);
    free(t);
    return rc;
}
