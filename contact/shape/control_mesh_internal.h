/*
 * Control meshes of subdivision surfaces: closed polygon meshes as half-edges, and one step of
 * Loop's (1987) and of Catmull and Clark's (1978) subdivision.
 */
#ifndef TACT_CONTACT_CONTROL_MESH_INTERNAL_H
#define TACT_CONTACT_CONTROL_MESH_INTERNAL_H

#include "contact/error.h"
#include "contact/mesh/mesh_internal.h"
#include "contact/vec.h"

enum {
    MOST_VALENCE = 64
}; /* largest number of edges at a vertex, and of corners of a face, in a control mesh */

/* Control mesh as half-edges. Half-edge h goes from origin[h] to the origin of the next one of its
 * face, which is on its left. Half-edges of a face are successive. */
struct control_mesh {
    int vertices, faces, halves;
    double (*at)[3]; /* [vertices] [m] */
    int *first;      /* first half-edge of each face, faces + 1 entries */
    int *origin;     /* vertex where each half-edge begins */
    int *twin;       /* twin of each half-edge: the opposite one of the same edge */
    int *face;       /* [halves] */
    int *valence;    /* valence: number of edges at each vertex; 0: the vertex is not used */
    int triangles;   /* 1: all faces of the mesh are triangles */
};

int tact_control_mesh_next_half_edge(const struct control_mesh *mesh, int half);
int tact_control_mesh_previous_half_edge(const struct control_mesh *mesh, int half);

/* Makes the control mesh of given faces. -EINVAL with a message and the line of a face: an open,
 * non-manifold or inconsistently oriented mesh, or one that is not valid; -ENOMEM. To be freed in
 * any case. */
int tact_control_mesh_create(const struct tact_polygons *polygons, struct control_mesh *out,
                             struct tact_error *err);

/* Subdivides a control mesh once: by Loop's scheme where all faces are triangles, else by Catmull
 * and Clark's. Replaces the mesh. -ENOMEM, -EINVAL. */
int tact_control_mesh_subdivide(struct control_mesh *mesh);

/* Loop's weight of each neighbour for the new position of a vertex of this valence. */
double tact_loop_vertex_weight(int valence);

void tact_control_mesh_free(struct control_mesh *mesh);

#endif
