/* Distance and least translation of two hulls by other methods than the library's, from their
 * vertices alone.
 *
 * Distance: the quadratic program min 1/2 |w|^2 - alpha + beta with w.a >= alpha for every vertex a
 * of A and w.b <= beta for every b of B, by an interior-point method (Mehrotra 1992). Its optimum
 * is w = d n; its multipliers weigh the nearest points. Both give a bound, so that a result
 * certifies itself.
 *
 * Least translation: it is no convex program but the least of one for each face of A - B, whose
 * normals are those of the faces of both and of their edges whose arcs cross on the Gauss sphere.
 * All are tried. */
#ifndef TACT_TESTS_CONVEX_PROGRAM_H
#define TACT_TESTS_CONVEX_PROGRAM_H

#include "contact/mesh/mesh.h"
#include "contact/vec.h"

/* An edge of a hull, with the unit normals of its two faces. */
struct hull_edge {
    int vertex;
    double along[3], normal[2][3];
};

/* Vertices, face normals and edges of a closed convex mesh, in its frame or in the world's axes. */
struct reference_hull {
    int vertices, faces, edges;
    double (*vertex)[3]; /* [m] */
    double (*normal)[3]; /* unit, outward */
    struct hull_edge *edge;
};

/* Bounds of the distance of two hulls that are apart [m], the unit normal from B to A that gives
 * the lower one, and how often the program was solved. */
struct distance_bounds {
    double lower, upper, normal[3];
    int program_solve_count;
};

/* The hull of a mesh, in the mesh's frame. Free it by free_reference_hull(). */
struct reference_hull make_reference_hull(const struct tact_mesh *mesh);
void free_reference_hull(struct reference_hull *h);

/* Writes hull h at a pose, with positions relative to `origin`, into `out`, a hull with as many
 * vertices and faces. */
void place_reference_hull(const struct reference_hull *h, const struct tact_pose *pose,
                          const double origin[3], struct reference_hull *out);

/* Solves the program until the bounds differ by 1e-13 of the size [m] of the pair. For hulls that
 * are apart. */
struct distance_bounds bound_hull_distance(const struct reference_hull *a,
                                           const struct reference_hull *b, double size);

/* Gap between A and B along the unit vector n from B to A [m]. */
double gap_of_hulls_along_normal(const struct reference_hull *a, const struct reference_hull *b,
                                 const double n[3]);

/* The greatest gap along the normals of all faces of A - B [m]: negative, the least translation of
 * hulls that overlap. */
double greatest_gap_of_hulls(const struct reference_hull *a, const struct reference_hull *b);

#endif
