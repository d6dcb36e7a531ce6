/* The shape kind of a capsule: a cylinder between two half balls. */
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

static int make_capsule_mesh(const double size[3], struct tact_mesh **out)
{
    return tact_mesh_capsule(size[0], size[1], TACT_CURVED_TRIANGLES, out);
}

static void compute_capsule_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double r = shape->size[0], l = shape->size[1];
    double cylinder_volume = 2.0 * PI * r * r * l, end_balls_volume = 4.0 / 3.0 * PI * r * r * r;
    /* a half ball's centroid is 3/8 r beyond the end of the capsule's axis; its inertia 2/5 m r^2
     * is about its flat side
     */
    double inertia_across_capsule_axis =
        cylinder_volume * (r * r / 4.0 + l * l / 3.0) +
        end_balls_volume * (2.0 / 5.0 * r * r + l * l + 0.75 * r * l);
    double inertia_about_capsule_axis =
        cylinder_volume * r * r / 2.0 + end_balls_volume * 2.0 / 5.0 * r * r;
    tact_shape_set_mass(out, cylinder_volume + end_balls_volume, inertia_across_capsule_axis,
                        inertia_across_capsule_axis, inertia_about_capsule_axis);
}

const struct tact_shape_type tact_shape_capsule_type = {
    .name = "capsule",
    .faces = TACT_FACES_CURVED,
    .keys = "radius length",
    .lengths = 2,
    .may_vanish = 2,
    .make = make_capsule_mesh,
    .mass = compute_capsule_mass,
    .reach = tact_shape_sum_of_sizes_as_radius,
    .rolling_radius = tact_shape_first_size_as_radius,
};
