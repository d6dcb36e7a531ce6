/*
 * Pressure fields in memory, and the polygon of two cells. field_cut.c and this header are compiled
 * for the host and, in kernels, for OpenCL devices: they are in what C99 and OpenCL C 1.2 have in
 * common, and call no function but those of each other and of contact/vec.h.
 */
#ifndef TACT_CONTACT_FIELD_CUT_INTERNAL_H
#define TACT_CONTACT_FIELD_CUT_INTERNAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include "contact/vec.h"

#ifndef FIELD_GLOBAL_ADDRESS_SPACE
#define FIELD_GLOBAL_ADDRESS_SPACE /* memory of a field's arrays; __global on a device */
#endif
#ifndef FIELD_CONSTANT_ADDRESS_SPACE
#define FIELD_CONSTANT_ADDRESS_SPACE                                                               \
    static const /* a table at file scope; __constant on a device */
#endif

#define TACT_FIELD_NO_CELL UINT32_MAX /* index of the neighbouring cell where a face has none */

enum tact_pressure_field_kind {
    TACT_FIELD_TETS,      /* cells are tetrahedra */
    TACT_FIELD_RIGID,     /* cells are triangles */
    TACT_FIELD_HALFSPACE, /* the field is one cell without faces: the half-space z <= 0 */
};

/* A cell of a pressure field: a tetrahedron, whose side i is opposite to corner i, or a triangle,
 * whose side i is from corner i to the next. */
struct field_cell {
    double gradient[3]; /* gradient of the pressure [Pa/m]; for a triangle minus its unit normal */
    double value_at_origin; /* value of the pressure extrapolated to the field's origin [Pa]; unused
                    for a triangle */
    uint32_t corner[4];
    uint32_t face[4]; /* faces of a tetrahedron, as indices into the field's faces */
    uint32_t next[4]; /* neighbouring cell across each side */
    uint8_t inside;   /* bit i: the cell is on the positive side of the plane of its face i */
    uint8_t rim; /* bit i: face i is on the solid's boundary; 16: the pressure becomes negative in
                    the cell */
};

/* A bounding box, and a ball about it; the radius is -INFINITY where the box is empty. */
struct field_box {
    double middle[3], half[3], radius; /* [m] */
};

/* Node of the tree of a field's cells, with their bounds. */
struct field_node {
    /* bounds of all cells below the node, and of their faces on which the pressure is 0 */
    struct field_box all, rim;
    /* lower and upper bound of the pressure gradients [Pa/m] */
    double pressure_gradient_lower_bound[3], pressure_gradient_upper_bound[3];
    double least, most; /* pressure [Pa] */
    uint32_t first;     /* index of the first of two child nodes, or of the cell of a leaf */
    uint32_t leaf;
};

struct tact_pressure_field {
    enum tact_pressure_field_kind kind;
    int is_rigid;
    double power; /* exponent m of the pressure law q^m. Below, "pressure" of a field or cell is q
                     [Pa^(1/m)] */
    double size;  /* sum of the sides of the field's bounds [m]; 0 of a half-space */
    double mean_radius_of_rim_cells; /* mean radius of the boxes of the cells at the zero-pressure
                               boundary [m] */
    uint64_t key; /* hash of the nodes, which identifies the field in cached lists of cells */
    size_t vertex_count, cell_count, face_count, node_count;
    FIELD_GLOBAL_ADDRESS_SPACE double *vertices;
    /* pressure at the vertices [Pa^(1/m)]; NULL for a rigid field */
    FIELD_GLOBAL_ADDRESS_SPACE double *pressure;
    /* planes of the faces: unit normal, distance from the origin [m] */
    FIELD_GLOBAL_ADDRESS_SPACE double (*faces)[4];
    FIELD_GLOBAL_ADDRESS_SPACE struct field_cell *cells;
    FIELD_GLOBAL_ADDRESS_SPACE struct field_node *nodes;
};

/* A pair of pressure fields, with the pose of b relative to a. */
struct field_pair {
    const struct tact_pressure_field *a, *b;
    /* rotation and translation: a point x of b is rotation x + shift in a's frame */
    double rotation[9], shift[3];
    double size[9]; /* absolute values of the entries of `rotation` */
};

/* Capacity for the corners of a contact polygon: a slice of a tetrahedron has 4, each face of the
 * other and the plane of zero pressure add one, and rounding where an edge lies in a face adds some
 * more. */
#define TACT_FIELD_MAX_POLYGON_CORNERS 18

/* Moments of a weight over a polygon: its integrals times 1, x and x x'. */
struct field_moments {
    double area, first[3], second[9];
};

/* A soft ball about the origin of its frame: q = slope (radius - r), the pressure q^power. */
struct field_sphere {
    double radius, slope, power; /* [m], [Pa^(1/m)/m] */
};

/* A polygon of the contact surface, of cell a of pair->a and cell b of pair->b, in the frame of
 * pair->a. */
struct contact_surface_polygon {
    uint32_t a, b;
    int similar_normal_group; /* number of the group of polygons with similar normals that the
                               * polygon is in
                               */
    int corners;
    int are_both_soft;           /* 1: neither of the two bodies is rigid */
    int is_polygon_in_cell_face; /* 1: the polygon is a rigid triangle that lies in a face between
                            two cells of a */
    /* corners of the polygon [m], in either orientation about the normal */
    double corner[TACT_FIELD_MAX_POLYGON_CORNERS][3];
    /* Side of a cell across which the surface continues beyond the polygon's edge from each corner:
     * of cell a 0 to 3, of cell b 4 to 7, -1: none. */
    int16_t side[TACT_FIELD_MAX_POLYGON_CORNERS];
    double normal[3]; /* unit, into b */
    double gradient_a[3],
        gradient_b[3]; /* pressure gradients of a and b; for a rigid b its normal */
    /* the ball that stands for a without cells: gradient_a and value_at_origin are unset, springs
     * are those of -p'/r about its centre, and all integrals are over the part of a triangle in the
     * ball; NULL: a has cells */
    const struct field_sphere *sphere;
    double power; /* exponent m: gradients and levels are those of q, the pressure is q^m */
    double value_at_origin;              /* value of a's q at the origin of the frame [Pa^(1/m)] */
    double pressure_gradient_difference; /* |g_B - g_A|; 1 where b is rigid */
    double level;                        /* q at corner 0 [Pa^(1/m)] */
    struct field_moments area_moments;   /* moments of the area about corner 0 [m^2, m^3, m^4] */
    double load, lever[3]; /* integrals over the polygon of the pressure, and of the pressure times
                              the position from corner 0 */
    struct field_moments stiffness_moments; /* moments of the weight m q^(m - 1) about corner 0;
                                     unset where the power m is 1 */
};

/* What tact_field_cut_contact_polygon() and tact_field_integrate_linear() set in a polygon besides
 * what is known of its two cells: a result of a device. */
struct field_cut {
    double corner[TACT_FIELD_MAX_POLYGON_CORNERS][3];
    double normal[3], gradient_b[3], pressure_gradient_difference, level;
    struct field_moments area_moments;
    double load, lever[3];
    int32_t corners, is_polygon_in_cell_face;
    int16_t side[TACT_FIELD_MAX_POLYGON_CORNERS];
};

/* Computes the corners of the contact polygon of cells i of a and j of b, without its integrals. 1;
 * 0 where there is none; -1 where the two fields are equal in a volume. */
int tact_field_cut_contact_polygon(const struct field_pair *pair, uint32_t i, uint32_t j,
                                   struct contact_surface_polygon *polygon);

/* Computes the integrals of a polygon as if its power were 1. */
void tact_field_integrate_linear(struct contact_surface_polygon *polygon);

void tact_field_store_cut(const struct contact_surface_polygon *polygon,
                          FIELD_GLOBAL_ADDRESS_SPACE struct field_cut *out);

#endif
