#include "contact/shape/surface.h"

#include <errno.h>
#include "contact/shape/kinds_internal.h"

void tact_surface_add_curvature(struct tact_surface_point *point, double k, const double t[3])
{
    for (int i = 0; i < 9; i++) {
        point->bend[i] += k * t[i / 3] * t[i % 3];
    }
}

int tact_shape_surface(const struct tact_shape *shape, const double near[3],
                       struct tact_surface_point *out)
{
    const struct tact_shape_type *type = tact_shape_type(shape->kind);
    return type->surface ? type->surface(shape, near, out) : -ENOTSUP;
}

int tact_shape_support(const struct tact_shape *shape, const double normal[3], double out[3])
{
    const struct tact_shape_type *type = tact_shape_type(shape->kind);
    if (!type->support) {
        return -ENOTSUP;
    }
    type->support(shape, normal, out);
    return 0;
}

void tact_eigen2(double a, double b, double c, double l[2], double axis[2])
{
    double mean = 0.5 * (a + c), half = 0.5 * (a - c), radius = tact_hypot(half, b);
    l[0] = mean - radius;
    l[1] = mean + radius;
    /* axis of the smaller eigenvalue l[0]: the longer of the two rows of (M - l[1]), which is
     * normal to the axis of l[1] */
    double x = half > 0.0 ? -b : radius - half, y = half > 0.0 ? radius + half : -b;
    double size = tact_hypot(x, y);
    axis[0] = size > 0.0 ? x / size : 1.0;
    axis[1] = size > 0.0 ? y / size : 0.0;
}

void tact_surface_curvatures(const struct tact_surface_point *point, double k[2],
                             double directions[9])
{
    double t1[3], t2[3], l1[3], l2[3], axis[2];
    tact_v3_tangents(point->normal, t1, t2);
    tact_m3_mul_v3(l1, point->bend, t1);
    tact_m3_mul_v3(l2, point->bend, t2);
    tact_eigen2(tact_v3_dot(t1, l1), tact_v3_dot(t1, l2), tact_v3_dot(t2, l2), k, axis);
    for (int i = 0; i < 3; i++) {
        directions[i] = axis[0] * t1[i] + axis[1] * t2[i];
        directions[3 + i] = axis[0] * t2[i] - axis[1] * t1[i];
        directions[6 + i] = point->normal[i];
    }
}
