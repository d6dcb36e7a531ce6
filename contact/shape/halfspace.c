/* All that is below a plane. */
#include "contact/shape/kinds_internal.h"

static void mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    (void)shape;
    tact_shape_put_mass(out, INFINITY, INFINITY, INFINITY, INFINITY);
}

static double reach(const double size[3])
{
    (void)size;
    return INFINITY;
}

const struct tact_shape_type tact_shape_halfspace_type = {
    .name = "halfspace",
    .keys = "",
    .mass = mass,
    .reach = reach,
};
