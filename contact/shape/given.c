/* The shape kinds that are defined by a mesh: mesh and convex. */
#include "contact/shape/kinds_internal.h"

static void compute_mesh_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    const struct tact_mesh *mesh = shape->mesh;
    const double *s = mesh->second;
    double second_moment_trace = s[0] + s[4] + s[8];
    out->volume = mesh->volume;
    tact_v3_copy(out->centroid, mesh->centroid);
    for (int i = 0; i < 9; i++) {
        out->inertia[i] = (i % 4 == 0 ? second_moment_trace : 0.0) - s[i];
    }
}

static double mesh_bounding_radius(const double size[3])
{
    (void)size;
    return 0.0; /* the bounding radius is computed from the vertices */
}

const struct tact_shape_type tact_shape_convex_type = {
    .name = "convex",
    .keys = "file",
    .mass = compute_mesh_mass,
    .reach = mesh_bounding_radius,
};

const struct tact_shape_type tact_shape_mesh_type = {
    .name = "mesh",
    .keys = "file",
    .concave = 1,
    .mass = compute_mesh_mass,
    .reach = mesh_bounding_radius,
};
