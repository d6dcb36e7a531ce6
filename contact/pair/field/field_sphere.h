/* A soft ball on a rigid surface of triangles, exactly: without tetrahedra. */
#ifndef TACT_CONTACT_FIELD_SPHERE_H
#define TACT_CONTACT_FIELD_SPHERE_H

#include "contact/pair/field/field_internal.h"

/* Finds the surface of the soft ball out->sphere and a rigid surface of triangles, out->pair.b,
 * with a polygon for each triangle in the ball. The pair, frame, swapped and the ball of *out are
 * set; out->polygon has room for `most`. 1, 0 where they do not touch, -ENOSPC. */
int tact_field_sphere(struct field_surface *out, size_t most);

/* Where the surface is one whole disc in a plane, beyond which the centre is, returns the distance
 * of the centre from it [m], and its normal toward the centre, frame of pair.a; else 0. */
double tact_field_sphere_disc(const struct field_surface *of, double normal[3]);

/* Adds the stiffness of a polygon about a point in the frame of pair.a. */
void tact_field_sphere_stiffness(const struct field_polygon *p, const double *origin,
                                 double *stiffness);

#endif
