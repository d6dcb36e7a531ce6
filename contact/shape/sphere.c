/* A ball: closed forms measure it against every kind. */
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

static void mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double r = shape->size[0], ball = 4.0 / 3.0 * PI * r * r * r;
    double any = ball * (2.0 / 5.0 * r * r);
    tact_shape_put_mass(out, ball, any, any, any);
}

const struct tact_shape_type tact_shape_sphere_type = {
    .name = "sphere",
    .faces = TACT_FACES_CURVED,
    .keys = "radius",
    .lengths = 1,
    .mass = mass,
    .reach = tact_shape_first,
    .rolls = tact_shape_first,
};
