/* The shape kind of a cylinder with flat ends. */
#include <string.h>
#include "contact/elementary.h"
#include "contact/mesh/generate.h"
#include "contact/shape/charts_internal.h"
#include "contact/shape/kinds_internal.h"

#define PI 3.14159265358979323846

static int make_cylinder_mesh(const double size[3], struct tact_mesh **out)
{
    const double sides = TACT_CYLINDER_SIDES, polygon = 0.5 * sides * tact_sin(2.0 * PI / sides);
    struct tact_generate options_of_cylinder_prism = {
        .kind = TACT_GENERATE_PRISM,
        .radius = size[0] * sqrt(PI / polygon),
        .height = 2.0 * size[1],
        .count = TACT_CYLINDER_SIDES,
    };
    struct tact_soup soup = {0};
    int rc = tact_soup_generate(&options_of_cylinder_prism, &soup, NULL);
    rc = rc ? rc
            : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                               soup.triangle_count, out, NULL);
    tact_soup_free(&soup);
    return rc;
}

static void compute_cylinder_mass(const struct tact_shape *shape, struct tact_shape_mass *out)
{
    double r = shape->size[0], l = shape->size[1], v = 2.0 * PI * r * r * l;
    double across = v * (r * r / 4.0 + l * l / 3.0);
    tact_shape_set_mass(out, v, across, across, v * r * r / 2.0);
}

/* Makes the smooth pieces of a cylinder's surface: the ends and the side, with edges between them.
 */
static int make_cylinder_charts(const struct tact_shape *shape, struct tact_charts **out)
{
    const double r = shape->size[0], l = shape->size[1];
    const double corner[4][2] = {{0.0, -l}, {r, -l}, {r, l}, {0.0, l}};
    return tact_charts_of_rotated_polygon(corner, 4, out);
}

static double cylinder_bounding_radius(const double size[3])
{
    return tact_hypot(size[0], size[1]);
}

const struct tact_shape_type tact_shape_cylinder_type = {
    .name = "cylinder",
    .faces = TACT_FACES_MIXED,
    .keys = "radius length",
    .lengths = 2,
    .make = make_cylinder_mesh,
    .mass = compute_cylinder_mass,
    .reach = cylinder_bounding_radius,
    .rolling_radius = tact_shape_first_size_as_radius,
    .charts = make_cylinder_charts,
};
