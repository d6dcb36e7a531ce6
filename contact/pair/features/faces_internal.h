/* Builds vertices, edges and faces of a convex hull from its triangles. */
#ifndef TACT_CONTACT_FACES_INTERNAL_H
#define TACT_CONTACT_FACES_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* Sets a core's vertices and the graph of their neighbours. -ENOMEM. */
int tact_convex_core_set_vertices_of_mesh(struct tact_convex_core *core,
                                          const struct tact_mesh *mesh);

/* Sets a core's faces, their rims, and the lists of faces at each vertex. -ENOMEM, or -EINVAL for a
 * mesh that is not closed. */
int tact_convex_core_set_faces_of_mesh(struct tact_convex_core *core, const struct tact_mesh *mesh);

#endif
