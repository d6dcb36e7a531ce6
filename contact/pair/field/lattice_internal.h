/* The lattice on which the extent of a mesh is computed: a rectangular grid of nodes about it, how
 * far along the axes the surface is from each, and the extent at the nodes. */
#ifndef TACT_CONTACT_LATTICE_INTERNAL_H
#define TACT_CONTACT_LATTICE_INTERNAL_H

#include "contact/mesh/mesh.h"
#include "contact/pair/field/extent.h"

/* Cells between the mesh's bounds and the lattice's end; sides are multiples of a block. */
enum { LATTICE_PAD = 4, LATTICE_BLOCK = 8 };

/* What a node is. */
enum lattice_node {
    LATTICE_OUTSIDE, /* of the solid, without a value */
    LATTICE_INSIDE,
    LATTICE_SURFACE, /* on it but for rounding: the extent is 0 */
    LATTICE_BEYOND,  /* outside, with an extrapolated value */
};

/* Where the lines along one axis cross the surface: of line l, at[first[l]] to
 * at[first[l + 1] - 1], ascending [nodes]. */
struct lattice_lines {
    uint32_t *first;
    double *at;
    uint32_t *triangle;
};

/* Fractions of the steps to the six neighbours of a node inside that the surface leaves: of axis k
 * backward at 2 k, forward at 2 k + 1; 1 where it does not come between [1]. */
struct lattice_arms {
    double of[6];
};

struct lattice {
    const struct tact_mesh *mesh;
    double origin[3], step[3]; /* of node (0, 0, 0), mesh frame; between nodes [m] */
    int nodes[3];
    size_t stride[3], count;
    struct lattice_lines lines[3];
    uint8_t *kind;             /* enum lattice_node, of each node */
    double *value;             /* extent at the nodes that have one, below 0 outside [m] */
    uint32_t *cut;             /* of each node: of arms, from 1; 0: none is cut */
    struct lattice_arms *arms; /* [arm_count], the first of a node without */
    size_t arm_count;
    uint32_t *inside; /* [inside_count] nodes inside, ascending */
    size_t inside_count;
};

/* Number of a node, which must be in the lattice. */
static inline size_t lattice_node(const struct lattice *l, const int at[3])
{
    return (size_t)at[0] + (size_t)at[1] * l->stride[1] + (size_t)at[2] * l->stride[2];
}

/* Place of a node. */
static inline void lattice_place(const struct lattice *l, size_t node, int at[3])
{
    at[2] = (int)(node / l->stride[2]);
    at[1] = (int)(node % l->stride[2] / l->stride[1]);
    at[0] = (int)(node % l->stride[1]);
}

/* Coordinate of a place along an axis [m]. */
static inline double lattice_coordinate(const struct lattice *l, int axis, double at)
{
    return l->origin[axis] + l->step[axis] * at;
}

/* The least of the three steps [m]. */
double tact_lattice_step(const struct lattice *l);

/* Makes the lattice of a mesh: its nodes, where lines cross the surface, and what each node is.
 * *l is to be released also where this fails. -ENOMEM; -EDOM where there would be
 * more than `most` nodes.
 */
int tact_lattice_create(const struct tact_mesh *mesh, double cell, double most, struct lattice *l);
void tact_lattice_release(struct lattice *l);

/* The thinnest part between faces that all but face apart. */
struct lattice_thin {
    double thickness; /* [m]; INFINITY: none */
    double cells;     /* that, in steps of the axis that it is nearest to [1] */
    double place[3];  /* middle of it where it is thinnest [m], mesh frame */
};

/* One that THIN_LINES lines pass is a part; fewer meet an edge of a wedge, or a rounded rim. */
enum { THIN_LINES = 8 };

void tact_lattice_thinnest(const struct lattice *l, struct lattice_thin *out);

/* Fills the extent at the nodes inside. -ENOMEM; -EDOM where the kind has no extent here, err says
 * why. */
int tact_lattice_solve(struct lattice *l, const struct tact_extent_recipe *recipe,
                       struct tact_error *err);

/* Fills the extent at the nodes near the surface outside of it. -ENOMEM. */
int tact_lattice_extrapolate(struct lattice *l);

/* Makes tetrahedra of the lattice's cells, joined where the extent is linear within tolerance [m]
 * and `deeper` times itself [1]. -ENOMEM; -EDOM where none has an extent. */
int tact_lattice_tets(const struct lattice *l, double tolerance, double deeper,
                      struct tact_extent *out);

#endif
