/*
 * The polynomials of subdivision surfaces. About a vertex the control points of a face are those of
 * a spline where the vertex is regular (valence 6 of triangles, 4 of squares). About an
 * extraordinary vertex they are after each subdivision for the outer three of a face's four parts,
 * while the inner one is subdivided again (Stam 1998).
 */
#ifndef TACT_CONTACT_RINGS_INTERNAL_H
#define TACT_CONTACT_RINGS_INTERNAL_H

#include "contact/shape/control_mesh_internal.h"
#include "contact/shape/patches_internal.h"

enum {
    POINTS_PER_SECTOR_AXIS =
        4, /* number of points of a ring's sector along each axis, the vertex itself included */
    BEZIER_POINTS_OF_QUARTIC_TRIANGLE = 15, /* number of Bezier points of a quartic triangle */
    MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX =
        40, /* largest number of subdivisions at an extraordinary vertex */
    POLYNOMIALS_PER_SPLIT_FACE =
        3, /* number of parts of a face that are polynomial after one subdivision */
};

/* Ring: a vertex and the control points about it. Sector i is between its edges i and i + 1, with
 * axes along these: at[i][a][b], a >= 1, is a steps along the first and b along the second. */
struct ring {
    int valence, triangles;
    double center[3];
    double at[MOST_VALENCE][POINTS_PER_SECTOR_AXIS][POINTS_PER_SECTOR_AXIS][3];
};

/* A part of a subdivision face as a polynomial: of squares over (b, c) in the unit square, of
 * triangles over b
 * + c <= 1. Positions are relative to the limit of the face's extraordinary vertex. */
struct subdivided_face_polynomial {
    int face;
    union {
        struct bezier_patch square;
        double triangle[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3];
    };
};

/* Makes the ring of the vertex where a half-edge begins; that half-edge is edge 0. All but the
 * vertex itself must be regular in the sectors that are used. */
void tact_vertex_ring_from_control_mesh(const struct control_mesh *mesh, int half,
                                        struct ring *out);

/* Makes the ring of a vertex after one subdivision, from that before. */
void tact_vertex_ring_subdivide(const struct ring *ring, struct ring *out);

/* Position of a ring's vertex on the limit surface. */
void tact_vertex_ring_limit_point(const struct ring *ring, double out[3]);
/* Normal of the limit surface at a ring's vertex, towards which the normals of the subdivided rings
 * converge. */
void tact_vertex_ring_limit_normal(const struct ring *ring, double out[3]);
/* Moves all points of a ring by minus `by`. */
void tact_vertex_ring_subtract_offset(struct ring *ring, const double by[3]);

/* Ratio of the sizes of successive rings in the limit: the subdominant eigenvalue. */
double tact_subdivision_subdominant_eigenvalue(int valence, int triangles);

/* Polynomial of the face of sector i of a regular vertex (part < 0), or of its part 0, 1, 2: the
 * one along edge i, the middle one, and the one along edge i + 1. */
void tact_vertex_ring_bezier_points(const struct ring *ring, int sector, int part,
                                    struct subdivided_face_polynomial *out);

/* Position and derivatives by b and c of a face polynomial, of the second or the third order, as
 * evaluate() of struct square_charts. */
void tact_quartic_triangle_evaluate(const double point[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3],
                                    double b, double c, int count, double (*out)[3]);

#endif
