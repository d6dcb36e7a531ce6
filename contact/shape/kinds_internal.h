/* The rows of the table of shape kinds, and functions that the kinds' sources share. */
#ifndef TACT_CONTACT_KINDS_INTERNAL_H
#define TACT_CONTACT_KINDS_INTERNAL_H

#include "contact/shape/surface.h"

#define TACT_SHAPE_TYPE_DECLARATION(name, word)                                                    \
    extern const struct tact_shape_type tact_shape_##word##_type;
TACT_SHAPE_KINDS(TACT_SHAPE_TYPE_DECLARATION)
#undef TACT_SHAPE_TYPE_DECLARATION

/* Number of triangles of a curved surface: the chord error is then about 0.3 % of the radius. */
enum { TACT_CURVED_TRIANGLES = 2000 };

/* Sides of a cylinder's triangulation. Up to a radius of 0.1 m each is shorter than the patch of
 * the cylinder on a plane with the default overlap of 20 um, so that it rolls. With 256 sides this
 * holds up to 0.4 m, but a lid on its end took 3 times as long to measure. */
enum { TACT_CYLINDER_SIDES = 124 };

/* Sets mass properties with the centroid at the origin and a diagonal inertia. */
void tact_shape_set_mass(struct tact_shape_mass *out, double volume, double xx, double yy,
                         double zz);

double tact_shape_first_size_as_radius(const double size[3]);
/* Bounding radius of a shape around a ring or axis: the sum of the first two sizes, of the ring or
 * half axis and of the radius about it. */
double tact_shape_sum_of_sizes_as_radius(const double size[3]);

/* Adds a principal curvature k [1/m] along the unit vector t to the Weingarten map. */
void tact_surface_add_curvature(struct tact_surface_point *point, double k, const double t[3]);

#endif
