/* The shape kind of a circular cone about z, its base down. */
#include <errno.h>
#include <stdlib.h>
#include "contact/elementary.h"
#include "contact/shape/charts_internal.h"
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

enum { SIDES = TACT_CYLINDER_SIDES };

/* Makes a cone's triangulation: a pyramid whose base has the area of the cone's, so that the volume
 * is exact. */
static int make_cone_mesh(const double size[3], struct tact_mesh **out)
{
    const double sides = SIDES,
                 radius = size[0] / sqrt(sides * tact_sin(2.0 * PI / sides) / 2.0 / PI);
    double v[3 * (SIDES + 2)];
    uint32_t t[6 * SIDES];
    for (uint32_t i = 0; i < SIDES; i++) {
        const uint32_t next = (i + 1) % SIDES, side[6] = {i, next, SIDES, next, i, SIDES + 1};
        double angle = 2.0 * PI * i / SIDES;
        tact_v3_set(v + 3 * i, radius * tact_cos(angle), radius * tact_sin(angle), -size[1]);
        for (int k = 0; k < 6; k++) {
            t[6 * i + (uint32_t)k] = side[k];
        }
    }
    tact_v3_set(v + 3 * SIDES, 0.0, 0.0, size[1]);
    tact_v3_set(v + 3 * (SIDES + 1), 0.0, 0.0, -size[1]);
    return tact_mesh_create(v, SIDES + 2, t, 2 * SIDES, out, NULL);
}

/* a cone's height is h = 2 l, and its centroid h / 4 above the base */
static void compute_cone_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double r = shape->size[0], h = 2.0 * shape->size[1], v = PI / 3.0 * r * r * h;
    double across = v * 0.0375 * (4.0 * r * r + h * h);
    tact_shape_set_mass(out, v, across, across, v * 0.3 * r * r);
    out->centroid[2] = -0.25 * h;
}

static double cone_bounding_radius(const double size[3])
{
    return tact_hypot(size[0], size[1]);
}

static int make_cone_charts(const struct tact_shape *shape, struct tact_charts **out)
{
    const double r = shape->size[0], l = shape->size[1];
    const double corner[3][2] = {{0.0, -l}, {r, -l}, {0.0, l}};
    return tact_charts_of_rotated_polygon(corner, 3, out);
}

const struct tact_shape_type tact_shape_cone_type = {
    .name = "cone",
    .faces = TACT_FACES_MIXED,
    .keys = "radius length",
    .lengths = 2,
    .make = make_cone_mesh,
    .mass = compute_cone_mass,
    .reach = cone_bounding_radius,
    .rolling_radius = tact_shape_first_size_as_radius,
    .charts = make_cone_charts,
};
