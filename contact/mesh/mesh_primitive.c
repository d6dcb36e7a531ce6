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

/* Volume of a unit ball cut into `latitude_band_count` bands per half and `longitude_sector_count`
 * sectors: a stack of frusta over regular polygons. */
static double unit_ball_mesh_volume(size_t longitude_sector_count, size_t latitude_band_count)
{
    double polygon =
        0.5 * (double)longitude_sector_count * tact_sin(2.0 * PI / (double)longitude_sector_count);
    double volume = 0.0;
    for (size_t i = 0; i < latitude_band_count; i++) {
        double t0 = 0.5 * PI * (double)i / (double)latitude_band_count;
        double t1 = 0.5 * PI * (double)(i + 1) / (double)latitude_band_count;
        double r0 = tact_cos(t0), r1 = i + 1 == latitude_band_count ? 0.0 : tact_cos(t1);
        volume += 2.0 * (tact_sin(t1) - tact_sin(t0)) * (r0 * r0 + r0 * r1 + r1 * r1) / 3.0;
    }
    return polygon * volume;
}

/* Radius of the triangulation at which it has the volume of the exact capsule, with an unchanged
 * axis. */
static double radius_of_exact_volume(double radius, double half_length,
                                     size_t longitude_sector_count, size_t latitude_band_count)
{
    double capsule_volume_cubic_coefficient =
        unit_ball_mesh_volume(longitude_sector_count, latitude_band_count);
    double square = (double)longitude_sector_count *
                    tact_sin(2.0 * PI / (double)longitude_sector_count) * half_length;
    double exact_capsule_volume = PI * radius * radius * (4.0 / 3.0 * radius + 2.0 * half_length);
    double r = radius;
    for (int i = 0; i < 8; i++) {
        r -= (r * r * (capsule_volume_cubic_coefficient * r + square) - exact_capsule_volume) /
             (r * (3.0 * capsule_volume_cubic_coefficient * r + 2.0 * square));
    }
    return r;
}

/* Fills the vertices of a capsule or sphere: south pole, rings from south to north, north pole.
 * Returns their number. */
static size_t fill_capsule_vertices(double radius, double half_length,
                                    size_t longitude_sector_count, size_t latitude_band_count,
                                    double *v)
{
    size_t n = 0;
    size_t vertex_ring_count_of_capsule =
        half_length > 0.0 ? 2 * latitude_band_count : 2 * latitude_band_count - 1;
    double *south_pole_vertex = v + 3 * n++;
    south_pole_vertex[0] = south_pole_vertex[1] = 0.0;
    south_pole_vertex[2] = -half_length - radius;
    for (size_t vertex_ring_index = 0; vertex_ring_index < vertex_ring_count_of_capsule;
         vertex_ring_index++) {
        int is_upper_half_ball = vertex_ring_index >= latitude_band_count;
        size_t up =
            is_upper_half_ball && half_length > 0.0 ? vertex_ring_index - 1 : vertex_ring_index;
        double latitude_of_vertex_ring =
            0.5 * PI * ((double)(up + 1) / (double)latitude_band_count - 1.0);
        for (size_t i = 0; i < longitude_sector_count; i++) {
            double angle = 2.0 * PI * (double)i / (double)longitude_sector_count;
            double *p = v + 3 * n++;
            p[0] = radius * tact_cos(latitude_of_vertex_ring) * tact_cos(angle);
            p[1] = radius * tact_cos(latitude_of_vertex_ring) * tact_sin(angle);
            p[2] = radius * tact_sin(latitude_of_vertex_ring) +
                   (is_upper_half_ball ? half_length : -half_length);
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
    size_t latitude_band_count = (size_t)floor(sqrt((double)triangles) / 4.0 + 0.5);
    latitude_band_count = latitude_band_count < 1 ? 1 : latitude_band_count;
    size_t vertex_ring_count_of_capsule =
        half_length > 0.0 ? 2 * latitude_band_count : 2 * latitude_band_count - 1;
    size_t longitude_sector_count = triangles / (2 * vertex_ring_count_of_capsule);
    longitude_sector_count = longitude_sector_count < 3 ? 3 : longitude_sector_count;
    size_t vertex_capacity = vertex_ring_count_of_capsule * longitude_sector_count + 2,
           triangle_capacity = 2 * longitude_sector_count * vertex_ring_count_of_capsule;
    double *v = malloc(3 * vertex_capacity * sizeof *v);
    uint32_t *t = malloc(3 * triangle_capacity * sizeof *t);
    if (!v || !t) {
        free(v);
        free(t);
        return -ENOMEM;
    }
    double r =
        radius_of_exact_volume(radius, half_length, longitude_sector_count, latitude_band_count);
    size_t top = fill_capsule_vertices(r, half_length, longitude_sector_count, latitude_band_count,
                                       v) -
                 1,
           n = 0;
    for (size_t i = 0; i < longitude_sector_count; i++) {
        size_t j = (i + 1) % longitude_sector_count;
        n = set_triangle_vertices(t, n, 0, 1 + j, 1 + i);
        for (size_t vertex_ring_index = 0; vertex_ring_index + 1 < vertex_ring_count_of_capsule;
             vertex_ring_index++) {
            size_t low = 1 + vertex_ring_index * longitude_sector_count,
                   high = low + longitude_sector_count;
            n = set_triangle_vertices(t, n, low + i, low + j, high + j);
            n = set_triangle_vertices(t, n, low + i, high + j, high + i);
        }
        n = set_triangle_vertices(t, n, top, top - longitude_sector_count + i,
                                  top - longitude_sector_count + j);
    }
    int rc = tact_mesh_create(v, top + 1, t, n, out, NULL);
    free(v);
    free(t);
    return rc;
}
