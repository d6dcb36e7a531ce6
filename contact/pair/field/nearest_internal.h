/* Distances of points from triangles and meshes. */
#ifndef TACT_CONTACT_FIELD_NEAREST_INTERNAL_H
#define TACT_CONTACT_FIELD_NEAREST_INTERNAL_H

#include "contact/mesh/mesh.h"

struct tact_pressure_field;

/* Squared distance of a point from a triangle [m^2]. */
double tact_triangle_squared_distance(const double *x, const double *a, const double *b,
                                      const double *c);

/* Distance of a point from the surface of a mesh [m]. */
double tact_mesh_distance(const struct tact_mesh *mesh, const double x[3]);

#endif
