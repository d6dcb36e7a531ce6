/* The shape kind of a half-space: everything below a plane. */
#include <string.h>
#include "contact/shape/kinds_internal.h"

static void set_infinite_halfspace_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    (void)shape;
    tact_shape_set_mass(out, INFINITY, INFINITY, INFINITY, INFINITY);
}

static double halfspace_bounding_radius(const double size[3])
{
    (void)size;
    return INFINITY;
}

static int find_plane_surface_point(const struct tact_shape *shape, const double near[3],
                                    struct tact_surface_point *out)
{
    (void)shape;
    tact_v3_set(out->at, near[0], near[1], 0.0);
    tact_v3_set(out->normal, 0.0, 0.0, 1.0);
    memset(out->bend, 0, sizeof out->bend);
    return 0;
}

const struct tact_shape_type tact_shape_halfspace_type = {
    .name = "halfspace",
    .keys = "",
    .mass = set_infinite_halfspace_mass,
    .reach = halfspace_bounding_radius,
    .surface = find_plane_surface_point,
};
