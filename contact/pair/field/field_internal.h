/* Shared by the sources of contact/pair/field, which compute contacts of pressure fields. */
#ifndef TACT_CONTACT_FIELD_INTERNAL_H
#define TACT_CONTACT_FIELD_INTERNAL_H

#include "contact/pair/field/field.h"
#include "contact/pair/options.h"

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
    double gradient_lower_bound[3], gradient_upper_bound[3];
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
    double rim_cell_radius; /* mean radius of the boxes of the cells at the zero-pressure boundary
                               [m] */
    uint64_t key; /* hash of the nodes, which identifies the field in cached lists of cells */
    size_t vertex_count, cell_count, face_count, node_count;
    double *vertices;
    double *pressure;   /* pressure at the vertices [Pa^(1/m)]; NULL for a rigid field */
    double (*faces)[4]; /* planes of the faces: unit normal, distance from the origin [m] */
    struct field_cell *cells;
    struct field_node *nodes;
};

/* Builds the tree of a field's cells. 0 or -ENOMEM. */
int tact_field_build_tree(struct tact_pressure_field *field);

/* Largest depth of the tree of a field's cells. */
enum { TACT_FIELD_DEPTH = 40 };

/* A pair of pressure fields, with the pose of b relative to a. */
struct field_pair {
    const struct tact_pressure_field *a, *b;
    /* rotation and translation: a point x of b is rotation x + shift in a's frame */
    double rotation[9], shift[3];
    double size[9]; /* absolute values of the entries of `rotation` */
};

/* 1 where two fields can have a contact: not two rigid ones, nor two half-spaces, nor two soft ones
 * of different power, whose pressures are not equal on planes. */
static inline int tact_field_can_touch(const struct tact_pressure_field *a,
                                       const struct tact_pressure_field *b)
{
    int planes = a->kind == TACT_FIELD_HALFSPACE && b->kind == TACT_FIELD_HALFSPACE;
    int alike = a->is_rigid || b->is_rigid || a->power == b->power;
    return !(a->is_rigid && b->is_rigid) && !planes && alike;
}

/* 1 where b must be the first field of the pair: the first is one with tetrahedra, else the soft
 * half-space. */
static inline int tact_field_must_swap(const struct tact_pressure_field *a,
                                       const struct tact_pressure_field *b)
{
    if (a->kind == TACT_FIELD_TETS || b->kind == TACT_FIELD_TETS) {
        return a->kind != TACT_FIELD_TETS;
    }
    return a->kind == TACT_FIELD_RIGID;
}

void tact_field_place_pair(struct field_pair *pair, const struct tact_pressure_field *a,
                           const struct tact_pose *pose_a, const struct tact_pressure_field *b,
                           const struct tact_pose *pose_b);

/* Capacity for the corners of a contact polygon: a slice of a tetrahedron has 4, each face of the
 * other and the plane of zero pressure add one, and rounding where an edge lies in a face adds some
 * more. */
#define TACT_FIELD_CORNERS 18

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
struct field_polygon {
    uint32_t a, b;
    int normal_group; /* number of the group of polygons with similar normals that the polygon is in
                       */
    int corners;
    int are_both_soft;   /* 1: neither of the two bodies is rigid */
    int is_in_cell_face; /* 1: the polygon is a rigid triangle that lies in a face between two cells
                            of a */
    /* corners of the polygon [m], in either orientation about the normal */
    double corner[TACT_FIELD_CORNERS][3];
    /* Side of a cell across which the surface continues beyond the polygon's edge from each corner:
     * of cell a 0 to 3, of cell b 4 to 7, -1: none. */
    int16_t side[TACT_FIELD_CORNERS];
    double normal[3]; /* unit, into b */
    double gradient_a[3],
        gradient_b[3]; /* pressure gradients of a and b; for a rigid b its normal */
    /* the ball that stands for a without cells: gradient_a and value_at_origin are unset, springs
     * are those of -p'/r about its centre, and all integrals are over the part of a triangle in the
     * ball; NULL: a has cells */
    const struct field_sphere *sphere;
    double power; /* exponent m: gradients and levels are those of q, the pressure is q^m */
    double value_at_origin;            /* value of a's q at the origin of the frame [Pa^(1/m)] */
    double gradient_difference;        /* |g_B - g_A|; 1 where b is rigid */
    double level;                      /* q at corner 0 [Pa^(1/m)] */
    struct field_moments area_moments; /* moments of the area about corner 0 [m^2, m^3, m^4] */
    double load, lever[3]; /* integrals over the polygon of the pressure, and of the pressure times
                              the position from corner 0 */
    struct field_moments stiffness_moments; /* moments of the weight m q^(m - 1) about corner 0;
                                     unset where the power m is 1 */
};

/* The pressure q^m of a level q [Pa]; 0 where q is not positive. */
double tact_field_pressure_law(double power, double q);

/* Exponent of a material's pressure law; 1 by default. */
static inline double tact_field_law_power(const struct tact_field_material *material)
{
    return material->power > 0.0 ? material->power : 1.0;
}

/* Increase of the level q with depth, E^(1/m) / T [Pa^(1/m)/m]. */
double tact_field_pressure_slope(const struct tact_field_material *material);

/* Pressure level q at a point of a contact polygon. */
static inline double tact_field_level(const struct field_polygon *p, const double *x)
{
    return p->sphere ? p->sphere->slope * (p->sphere->radius - tact_v3_norm(x))
                     : p->value_at_origin + tact_v3_dot(p->gradient_a, x);
}

/* Moments of the derivative of the pressure law over a polygon, with which gradients of q become
 * those of pressure. */
static inline const struct field_moments *
tact_field_stiffness_moments(const struct field_polygon *polygon)
{
    return polygon->power == 1.0 ? &polygon->area_moments : &polygon->stiffness_moments;
}

/* Integrates the pressure over a contact polygon whose pressure law has a power other than 1: sets
 * load, lever and springs of the polygon. */
void tact_field_integrate_law(struct field_polygon *polygon);

/* Computes the corners of the contact polygon of cells i of a and j of b, without its integrals. 1;
 * 0 where there is none; -1 where the two fields are equal in a volume. */
int tact_field_cut_cells(const struct field_pair *pair, uint32_t i, uint32_t j,
                         struct field_polygon *polygon);

/* Computes its integrals. */
void tact_field_integrate(struct field_polygon *polygon);

/* Sums over the polygons of a contact, about a point near them, frame of pair->a; forces on b. */
struct field_sums {
    double origin[3];
    double area, load;
    double first[3]; /* integral of the pressure times the position */
    double force[3], torque[3];
    double stiffness[36]; /* stiffness matrix before the shift to the centre of pressure, of which
                             the symmetric part counts */
    size_t alike;         /* number of polygons of nearly equal fields, which have no stiffness */
};

void tact_field_add_polygon(struct field_sums *sums, const struct field_polygon *polygon);

/* Transforms a 6 x 6 stiffness about a point to that about a point `arm` away. */
void tact_field_shift_stiffness(double *stiffness, const double *arm);

/* Moves the reference point of the sums to their centre of pressure, and makes the stiffness
 * symmetric. */
void tact_field_shift_to_pressure_centre(struct field_sums *sums);

/* Transforms a 6 x 6 matrix that multiplies twists to another frame, whose axes are the rows of
 * `rotation`. */
void tact_field_rotate_matrix(const double *matrix, const double *rotation, double *out);

/* The contact surface of two pressure fields, polygon by polygon. */
struct field_surface {
    struct field_pair pair;
    const struct tact_pose *frame; /* frame of pair.a */
    int swapped;                   /* 1: the two fields are swapped, pair.a is the query's b */
    /* polygons of the surface, valid until the scratch is used again */
    struct field_polygon *polygon;
    /* soft ball that replaces the cells of pair.a, where its field is that of a ball */
    struct field_sphere sphere;
    size_t count, pieces, tried, alike; /* polygons, connected pieces, pairs of cells tested, and
                                           pairs with equal fields, which have no polygon */
};

/* Finds the contact surface of two fields. 1; 0 where there is none; -ENOSPC; -ENOTSUP. */
int tact_field_find_contact_surface(const struct tact_pressure_field *a,
                                    const struct tact_pose *pose_a,
                                    const struct tact_pressure_field *b,
                                    const struct tact_pose *pose_b,
                                    struct tact_field_scratch *scratch, struct field_surface *out);

/* Finds the contact surface of a soft ball and a rigid surface of triangles. ball: its field, for
 * the frame. Returns as tact_field_find_contact_surface(). */
int tact_field_find_sphere(const struct field_sphere *sphere,
                           const struct tact_pressure_field *ball, const struct tact_pose *pose,
                           const struct tact_pressure_field *rigid_field,
                           const struct tact_pose *rigid_pose, struct tact_field_scratch *scratch,
                           struct field_surface *out);

/* 1 where two boxes overlap, or are nearer than the margin: one in the frame of field a, the other
 * in that of b. */
int tact_field_boxes_overlap(const struct field_pair *pair, const struct field_box *a,
                             const struct field_box *b, double margin);

#endif
