/* The shape kind of a torus about z: a tube bent to a ring. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/mesh/generate.h"
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

static double torus_volume(const double size[3])
{
    return 2.0 * PI * PI * size[0] * size[1] * size[1];
}

/* Makes a torus's triangulation, with its vertices on the surface and then enlarged to the volume
 * of the torus. */
static int make_torus_mesh(const double size[3], struct tact_mesh **out)
{
    struct tact_generate ring = {.kind = TACT_GENERATE_TORUS,
                                 .radius = size[0],
                                 .tube = size[1],
                                 .triangles = TACT_CURVED_TRIANGLES};
    struct tact_soup soup = {0};
    struct tact_mesh *inside = NULL;
    int rc = tact_soup_generate(&ring, &soup, NULL);
    rc = rc ? rc
            : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                               soup.triangle_count, &inside, NULL);
    double volume_scale = rc ? 1.0 : tact_cbrt(torus_volume(size) / inside->volume);
    for (size_t i = 0; i < 3 * soup.vertex_count; i++) {
        soup.vertices[i] *= volume_scale;
    }
    rc = rc ? rc
            : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                               soup.triangle_count, out, NULL);
    tact_mesh_free(inside);
    tact_soup_free(&soup);
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
    const double across = tact_hypot(near[0], near[1]);
    if (!(across > 0.0) || !isfinite(across)) {
        return -EDOM;
    }
    const double e[3] = {near[0] / across, near[1] / across, 0.0};
    double n[3] = {(across - ring) * e[0], (across - ring) * e[1], near[2]};
    if (!(tact_v3_normalize(n, n) > 0.0)) {
        return -EDOM;
    }
    const double cosine = n[0] * e[0] + n[1] * e[1], round[3] = {-e[1], e[0], 0.0};
    double tube_circle_tangent[3];
    tact_v3_cross(tube_circle_tangent, n, round);
    tact_v3_copy(out->normal, n);
    tact_v3_scale(out->at, e, ring);
    tact_v3_axpy(out->at, tube, n);
    memset(out->bend, 0, sizeof out->bend);
    tact_surface_add_curvature(out, 1.0 / tube, tube_circle_tangent);
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
    .reach = tact_shape_sum_of_lengths,
    .rolling_radius = tact_shape_sum_of_lengths,
    .surface = find_torus_surface_point,
};
