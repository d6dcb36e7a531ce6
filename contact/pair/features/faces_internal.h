/* Vertices, edges and faces of a hull out of its triangles. */
#ifndef TACT_CONTACT_FACES_INTERNAL_H
#define TACT_CONTACT_FACES_INTERNAL_H

#include "contact/pair/features/core_internal.h"

/* Vertices and the graph of their neighbours. -ENOMEM. */
int tact_core_make_graph(struct tact_core *core, const struct tact_mesh *mesh);

/* Faces, their rims, and the faces at each vertex. -ENOMEM, or -EINVAL for a mesh that is not
 * closed. */
int tact_core_make_faces(struct tact_core *core, const struct tact_mesh *mesh);

#endif
