/* Subdivision of a whole control mesh by a table of its directed edges: an independent method for
 * the limit positions and normals of the vertices of a subdivided mesh. */
#ifndef TACT_TESTS_PLAIN_SUBDIVISION_H
#define TACT_TESTS_PLAIN_SUBDIVISION_H

enum { PLAIN_VERTICES = 2048, PLAIN_CORNERS = 8192, PLAIN_SIDES = 8 };

/* A polygon mesh. Faces have up to 8 corners; the list of a face's corners ends with -1. */
struct polygon_mesh {
    int vertices, faces;
    double at[PLAIN_VERTICES][3];
    int corner[PLAIN_CORNERS / 2][PLAIN_SIDES + 1];
};

/* A prism over n points, whose ends are polygons (0) or fans of triangles, sides triangles too (1);
 * two pyramids over n points (2); of n x n faces, a torus of squares (3) or triangles (4). */
void make_test_polygon_mesh(int kind, int n, struct polygon_mesh *out);

/* One step of subdivision: Loop's where all faces are triangles, else Catmull and Clark's. */
void subdivide_polygon_mesh(const struct polygon_mesh *mesh, struct polygon_mesh *out);

/* Limit positions and unit normals of the vertices, by the masks of the subdivision. */
void compute_subdivision_limit_positions(const struct polygon_mesh *mesh, double (*at)[3],
                                         double (*normal)[3]);

/* The mesh as the text of an OBJ file, to be freed. reverses_faces: faces in the opposite
 * direction. */
char *polygon_mesh_to_obj_text(const struct polygon_mesh *mesh, int reverses_faces);

#endif
