/* The lattice on which the extent (depth) of a mesh is computed: a rectangular grid of nodes about
 * the mesh, the distances from the nodes to the surface along the axes, and the extent at the
 * nodes. */
#ifndef TACT_CONTACT_LATTICE_INTERNAL_H
#define TACT_CONTACT_LATTICE_INTERNAL_H

#include "contact/mesh/mesh.h"
#include "contact/pair/field/extent.h"

/* LATTICE_PAD: number of cells between the bounds of the mesh and the end of the lattice on each
 * side. The bounds have a multiple of LATTICE_BLOCK cells along each axis. */
enum { LATTICE_PAD = 4, LATTICE_BLOCK = 8 };

/* Kinds of node. */
enum lattice_node_kind {
    LATTICE_NODE_OUTSIDE_SOLID, /* the node is outside the solid and has no value */
    LATTICE_NODE_INSIDE_SOLID,
    LATTICE_NODE_ON_SURFACE, /* the node is on the surface except for rounding: its extent is 0 */
    LATTICE_NODE_WITH_EXTRAPOLATED_EXTENT, /* the node is outside the solid, with an extrapolated
                                              value */
};

/* Crossings of the lattice lines along one axis with the surface: those of line l are at[first[l]]
 * to at[first[l + 1] - 1], ascending coordinates along the axis [steps], and the triangles crossed.
 */
struct lattice_lines {
    uint32_t *first;
    double *at;
    uint32_t *triangle;
};

/* Arms of a node inside: its distances from the surface towards the six neighbours, in steps; for
 * axis k backward at 2 k, forward at 2 k + 1. 1 where the surface does not cross the step [1]. */
struct lattice_arm_lengths {
    double of[6];
};

struct lattice {
    const struct tact_mesh *mesh;
    /* position of node (0, 0, 0), mesh frame; spacing of the nodes [m] */
    double origin[3], step[3];
    int nodes[3];
    size_t stride[3], count;
    struct lattice_lines lines[3];
    uint8_t *kind; /* enum lattice_node_kind of each node */
    double *value; /* extent at the nodes that have one, negative outside the solid [m] */
    uint32_t
        *cut; /* index of each node's arms in node_arm_lengths, from 1; 0: all its arms are 1 */
    /* [node_arm_set_count] distances of nodes from the surface; those of entry 0, for nodes whose
     * steps do not cross it, are all 1 */
    struct lattice_arm_lengths *node_arm_lengths;
    size_t node_arm_set_count;
    uint32_t *inside; /* indices of the nodes inside, [inside_node_count], ascending */
    size_t inside_node_count;
};

/* Index of the node at given lattice coordinates, which must be in the lattice. */
static inline size_t lattice_node_index(const struct lattice *l, const int at[3])
{
    return (size_t)at[0] + (size_t)at[1] * l->stride[1] + (size_t)at[2] * l->stride[2];
}

/* Lattice coordinates of a node [steps]. */
static inline void lattice_position_of_node(const struct lattice *l, size_t node, int at[3])
{
    at[2] = (int)(node / l->stride[2]);
    at[1] = (int)(node % l->stride[2] / l->stride[1]);
    at[0] = (int)(node % l->stride[1]);
}

/* Coordinate along an axis of a lattice position, mesh frame [m]. at: lattice coordinate [steps].
 */
static inline double mesh_coordinate_of_lattice_position(const struct lattice *l, int axis,
                                                         double at)
{
    return l->origin[axis] + l->step[axis] * at;
}

/* Smallest of the three lattice steps [m]. */
double tact_lattice_node_spacing(const struct lattice *l);

/* Creates the lattice of a mesh: the kinds of its nodes, the crossings of lines with the surface,
 * and the arms. Call tact_lattice_release() also on failure. -ENOMEM; -EDOM where there would be
 * more than `most` nodes. */
int tact_lattice_create(const struct tact_mesh *mesh, double cell, double most, struct lattice *l);
void tact_lattice_release(struct lattice *l);

/* The thinnest part of a solid between two nearly parallel faces. */
struct lattice_thin_part {
    double thickness; /* [m]; INFINITY: none */
    /* thickness of the part in lattice steps along the axis nearest to its normal [1] */
    double cells;
    double place[3]; /* middle of the part where it is thinnest [m], mesh frame */
};

/* Number of lines that must cross a thin part for it to count: fewer cross the edge of a wedge or a
 * rounded rim. */
enum { THIN_LINES = 8 };

void tact_lattice_thinnest_part(const struct lattice *l, struct lattice_thin_part *out);

/* Computes the extent at the nodes inside the solid. -ENOMEM; -EDOM where this kind of extent does
 * not exist: err states why. */
int tact_lattice_compute_extent(struct lattice *l, const struct tact_extent_recipe *recipe,
                                struct tact_error *err);

/* Corrects the values inside by the mean error of linear interpolation of a screened extent.
 * -ENOMEM. */
int tact_lattice_correct_mean_extent(struct lattice *l, double thickness);

/* Extrapolates the extent to the nodes outside that are near the surface. -ENOMEM. */
int tact_lattice_extrapolate_extent(struct lattice *l);

/* Divides the lattice's cells into tetrahedra. Cells are joined where the extent is linear within
 * an error of `tolerance` [m], for an extent of slope 1, plus `relative_extent_tolerance` times the
 * extent [1]. -ENOMEM; -EDOM where no cell has a positive extent. */
int tact_lattice_divide_into_tets(const struct lattice *l, double tolerance,
                                  double relative_extent_tolerance, struct tact_extent *out);

#endif
