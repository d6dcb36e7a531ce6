/* The shape kind of a torus about z: a tube bent to a ring. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

enum { MIN_TUBE_CORNERS = 12 };

static double torus_volume(const double size[3])
{
    return 2.0 * PI * PI * size[0] * size[1] * size[1];
}

/* Numbers of corners of the tube's section and of sections along the ring. A thin tube has at least
 * MIN_TUBE_CORNERS, however long its triangles are. */
static void choose_torus_grid(const double size[3], size_t *corners, size_t *tube_circle_count)
{
    const long fit = lround(sqrt(0.5 * TACT_CURVED_TRIANGLES * size[1] / size[0]));

    *corners = fit < MIN_TUBE_CORNERS ? MIN_TUBE_CORNERS : (size_t)fit;
    *tube_circle_count = TACT_CURVED_TRIANGLES / (2 * *corners);
}

/* Radius of the tube of a triangulation with the volume of the torus: the sections are regular
 * polygons about the ring of that radius, and the volume between two of them is the area of a
 * section, times the ring's radius and the sine of the angle between them. */
static double tube_radius_of_torus_mesh(const double size[3], size_t corners,
                                        size_t tube_circle_count)
{
    const double corner = 2.0 * PI / (double)corners,
                 section = 2.0 * PI / (double)tube_circle_count;

    return size[1] * sqrt(corner / tact_sin(corner) * section / tact_sin(section));
}

/* Makes a torus's triangulation of its volume: the ring has its radius, the tube is enlarged. Where
 * an enlarged tube would close the hole, all is enlarged instead. */
static int make_torus_mesh(const double size[3], struct tact_mesh **out)
{
    size_t corners, tube_circle_count;
    if (!(size[1] > 0.0 && size[1] < size[0])) {
        return -EINVAL;
    }
    choose_torus_grid(size, &corners, &tube_circle_count);
    double tube = tube_radius_of_torus_mesh(size, corners, tube_circle_count), ring = size[0];
    if (tube > 0.5 * (size[0] + size[1])) {
        const double enlargement_of_torus_mesh = tact_cbrt(tube / size[1] * tube / size[1]);
        tube = size[1] * enlargement_of_torus_mesh;
        ring = size[0] * enlargement_of_torus_mesh;
    }
    double *vertices = malloc(3 * corners * tube_circle_count * sizeof *vertices);
    uint32_t *triangles = malloc(6 * corners * tube_circle_count * sizeof *triangles);
    int rc = vertices && triangles ? 0 : -ENOMEM;
    for (size_t i = 0; !rc && i < corners * tube_circle_count; i++) {
        const size_t of = i / corners, next = (of + 1) % tube_circle_count;
        const size_t a = i, b = of * corners + (i + 1) % corners;
        const size_t c = next * corners + (i + 1) % corners, d = next * corners + i % corners;
        const double u = 2.0 * PI * (double)of / (double)tube_circle_count;
        const double v = 2.0 * PI * (double)(i % corners) / (double)corners;
        const double distance_from_axis = ring + tube * tact_cos(v);
        tact_v3_set(vertices + 3 * i, distance_from_axis * tact_cos(u),
                    distance_from_axis * tact_sin(u), -tube * tact_sin(v));
        const size_t sides[6] = {a, b, c, a, c, d};
        for (size_t k = 0; k < 6; k++) {
            triangles[6 * i + k] = (uint32_t)sides[k];
        }
    }
    rc = rc ? rc
            : tact_mesh_create(vertices, corners * tube_circle_count, triangles,
                               2 * corners * tube_circle_count, out, NULL);
    free(vertices);
    free(triangles);
    return rc;
}

static void compute_torus_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double ring = shape->size[0] * shape->size[0], tube = shape->size[1] * shape->size[1];
    double v = torus_volume(shape->size), across = v * (0.5 * ring + 0.625 * tube);
    tact_shape_set_mass(out, v, across, across, v * (ring + 0.75 * tube));
}

/* From the nearest point of the ring, radius R, outward to the tube's surface, radius r: curvature
 * 1/r along the tube's section and cos / (R + r cos) along the ring, cos being the component of the
 * normal away from z. */
static int find_torus_surface_point(const struct tact_shape *shape, const double near[3],
                                    struct tact_surface_point *out)
{
    const double ring = shape->size[0], tube = shape->size[1];
    const double distance_from_axis = tact_hypot(near[0], near[1]);
    if (!(distance_from_axis > 0.0) || !isfinite(distance_from_axis)) {
        return -EDOM;
    }
    const double e[3] = {near[0] / distance_from_axis, near[1] / distance_from_axis, 0.0};
    double n[3] = {(distance_from_axis - ring) * e[0], (distance_from_axis - ring) * e[1], near[2]};
    if (!(tact_v3_normalize(n, n) > 0.0)) {
        return -EDOM;
    }
    const double cosine = n[0] * e[0] + n[1] * e[1], round[3] = {-e[1], e[0], 0.0};
    double tangent_of_tube_circle[3];
    tact_v3_cross(tangent_of_tube_circle, n, round);
    tact_v3_copy(out->normal, n);
    tact_v3_scale(out->at, e, ring);
    tact_v3_axpy(out->at, tube, n);
    memset(out->bend, 0, sizeof out->bend);
    tact_surface_add_curvature(out, 1.0 / tube, tangent_of_tube_circle);
    tact_surface_add_curvature(out, cosine / (ring + tube * cosine), round);
    return 0;
}

const struct tact_shape_type tact_shape_torus_type = {
    .name = "torus",
    .faces = TACT_FACES_CURVED,
    .keys = "radius tube",
    .lengths = 2,
    .concave = 1,
    .make = make_torus_mesh,
    .mass = compute_torus_mass,
    .reach = tact_shape_sum_of_sizes_as_radius,
    .rolling_radius = tact_shape_sum_of_sizes_as_radius,
    .surface = find_torus_surface_point,
};
