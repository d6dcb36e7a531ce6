/* A box. */
#include "contact/shape/kinds_internal.h"

static void compute_box_volume_moments(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    const double *s = shape->size;
    double v = 8.0 * s[0] * s[1] * s[2], xx = s[0] * s[0], yy = s[1] * s[1], zz = s[2] * s[2];
    tact_shape_set_mass(out, v, v / 3.0 * (yy + zz), v / 3.0 * (zz + xx), v / 3.0 * (xx + yy));
}

static double box_bounding_radius(const double size[3])
{
    return sqrt(tact_v3_dot(size, size));
}

const struct tact_shape_type tact_shape_box_type = {
    .name = "box",
    .keys = "size",
    .lengths = 3,
    .make = tact_mesh_box,
    .mass = compute_box_volume_moments,
    .reach = box_bounding_radius,
};
