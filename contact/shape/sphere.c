/* The shape kind of a ball, whose overlaps are measured by closed forms with every kind. */
#include <errno.h>
#include <string.h>
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

static void compute_sphere_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double r = shape->size[0], ball = 4.0 / 3.0 * PI * r * r * r;
    double any = ball * (2.0 / 5.0 * r * r);
    tact_shape_set_mass(out, ball, any, any, any);
}

static int find_sphere_surface_point(const struct tact_shape *shape, const double near[3],
                                     struct tact_surface_point *out)
{
    const double r = shape->size[0], k = 1.0 / r;
    if (!(tact_v3_normalize(out->normal, near) > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(out->at, out->normal, r);
    memset(out->bend, 0, sizeof out->bend);
    tact_surface_add_curvature(out, -k, out->normal);
    for (int i = 0; i < 9; i += 4) {
        out->bend[i] += k;
    }
    return 0;
}

static void find_sphere_support_point(const struct tact_shape *shape, const double normal[3],
                                      double out[3])
{
    tact_v3_scale(out, normal, shape->size[0]);
}

const struct tact_shape_type tact_shape_sphere_type = {
    .name = "sphere",
    .faces = TACT_FACES_CURVED,
    .keys = "radius",
    .lengths = 1,
    .mass = compute_sphere_mass,
    .reach = tact_shape_first_size_as_radius,
    .rolling_radius = tact_shape_first_size_as_radius,
    .surface = find_sphere_surface_point,
    .support = find_sphere_support_point,
};
