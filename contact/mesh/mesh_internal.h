/* Shared by the files of the mesh module; not installed. */
#ifndef TACT_CONTACT_MESH_INTERNAL_H
#define TACT_CONTACT_MESH_INTERNAL_H

#include "mesh.h"

/*
 * Merges vertices with equal coordinates and removes unused ones; the rest keep the order of
 * their first appearance. In place on both arrays. Returns 0 with the new number of vertices in
 * *vertex_count, or -ENOMEM.
 */
int tact_mesh_merge_equal_vertices(double *vertices, size_t *vertex_count, uint32_t *triangles,
                                   size_t triangle_count);

/* Polygons of an OBJ file as they are, before any check. Freed with tact_polygons_free(). */
struct tact_polygons {
    struct tact_soup soup; /* vertices of the polygons, in a soup that has no triangles */
    size_t corner_count, face_count;
    uint32_t *corners; /* vertex indices of all polygons' corners, corner_count of them, one polygon
                          after the other */
    struct tact_first_corner_and_line_of_polygon {
        uint32_t first; /* index of the polygon's first corner in `corners` */
        int line;       /* line of the file */
    } * faces;          /* [face_count] */
    size_t corner_capacity, face_capacity;
};

/* Reads the v and f lines of an OBJ file, as tact_soup_read(). Errors as there. */
int tact_polygons_read(const void *data, size_t size, const char *name, double scale,
                       struct tact_polygons *out, struct tact_error *err);
void tact_polygons_free(struct tact_polygons *polygons);

/* Counts the defects of triangles whose equal vertices are merged. Returns 0 or -ENOMEM. */
int tact_mesh_count_defects(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                            size_t triangle_count, struct tact_mesh_defects *defects);

/* Counts crossings and misplaced components of triangles with a tree, whose equal vertices are
 * merged; the surface may be open. Returns 0 or -ENOMEM. */
int tact_mesh_count_crossings(const struct tact_mesh *mesh, struct tact_mesh_defects *defects);

/* Maximum number of triangles in a leaf. */
enum { TACT_MESH_LEAF = 4 };

/* An oriented box about a node's triangles. Coordinates are relative to the centre
 * of the root's bounds, in units of their largest half extent (tact_mesh_box_length_unit()), so
 * that single precision suffices for any mesh. */
struct tact_mesh_box {
    float centre[3];
    float axis[3][3];      /* axes of the box, each with the length of the half extent */
    uint32_t first, count; /* children or triangles of the box's node, as in tact_mesh_node */
};

/* Centre of the root's bounds [m] and their largest half extent, the unit of boxes [m]. */
static inline double tact_mesh_box_length_unit(const struct tact_mesh *mesh, double middle[3])
{
    double unit = 0.0;
    for (int k = 0; k < 3; k++) {
        double half = 0.5 * (mesh->nodes[0].upper[k] - mesh->nodes[0].lower[k]);
        middle[k] = mesh->nodes[0].lower[k] + half;
        unit = half > unit ? half : unit;
    }
    return unit;
}

/* Largest coordinate of the root's bounds [m]: the scale of the rounding of vertices. */
static inline double tact_mesh_largest_coordinate(const struct tact_mesh *mesh)
{
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        double low = -mesh->nodes[0].lower[k], high = mesh->nodes[0].upper[k];
        size = low > size ? low : size;
        size = high > size ? high : size;
    }
    return size;
}

/* Makes the oriented boxes of all nodes of a mesh with a tree, to be freed with free(); NULL: out
 * of memory. */
struct tact_mesh_box *tact_mesh_build_boxes(const struct tact_mesh *mesh);

/* Largest numbers of facets and corners of a mesh with facets. */
enum { TACT_FACETS = 64, TACT_FACET_CORNERS = 128, TACT_FACET_RIM = 64 };

/* The flat faces of a small convex mesh, each with all triangles in its plane. Mesh coordinates.
 */
struct tact_mesh_facets {
    uint32_t count, corners;
    double size;                   /* largest coordinate of the facets' corners [m] */
    double normal[TACT_FACETS][3]; /* outward unit normals */
    double distance[TACT_FACETS];  /* distances of the facets' planes from the origin along their
                                      normals [m] */
    double corner[3][TACT_FACET_CORNERS]; /* coordinates of the corners, one row per coordinate;
                                             padded to a multiple of 4 */
    uint32_t first[TACT_FACETS + 1];      /* index in rim of the first corner of each facet */
    /* corners of each facet, counter-clockwise from outside */
    uint8_t rim[4 * TACT_FACET_CORNERS + 2 * TACT_FACETS];
    uint64_t corner_bits_of_facet[TACT_FACETS][2]; /* bit set of the corners of each facet */
};

/* Allocates and fills mesh->facets if the mesh is convex and within the limits; else leaves it
 * NULL. Returns 0 or -ENOMEM. */
int tact_mesh_build_facets(struct tact_mesh *mesh);

/* Stack for a traversal of nodes of eight: at most 7 more for each of 11 levels of a tree of 2^32.
 */
enum { TACT_MESH_STACK = 96 };

/* Flag in a child's index: the child is a leaf of the tree. */
#define TACT_MESH_CHILD_IS_LEAF_FLAG 0x80000000U

/* Boxes of up to eight nodes in SIMD layout, as in tact_mesh_box. */
struct tact_mesh_wide_node {
    float centre[3][8];
    /* scaled box axes, [axis][coordinate]; lanes past count repeat the first box */
    float axis[3][3][8];
    uint32_t child[8]; /* index of each child: of a node of eight, or of a leaf with
                          TACT_MESH_CHILD_IS_LEAF_FLAG */
    uint32_t count, unused[7];
};

/* Triangles of a leaf in SIMD layout; lanes past count repeat the first. */
struct tact_mesh_leaf {
    /* corners of the leaf's triangles, [corner][coordinate] [m], mesh frame */
    double corner[3][3][4];
    uint32_t first;
    uint8_t count, corners; /* number of the leaf's triangles; number of their distinct corners */
    uint8_t distinct_corner_index[12]; /* for each distinct corner, the index of its first
                                          occurrence among the triangles' 3 count corners */
    uint8_t local[12]; /* for each corner of the triangles, its index in `distinct` */
    uint8_t padding[2];
};

struct tact_mesh_wide {
    struct tact_mesh_wide_node *wide_nodes; /* nodes of eight children; the first is the root */
    struct tact_mesh_leaf *leaves;          /* leaves of the tree, in its order */
    uint32_t wide_node_count, leaf_count;
    uint64_t
        mesh_serial_number; /* serial number, unique among the meshes of this process, from 1 */
};

/* Allocates and fills mesh->wide for a mesh with a tree. Returns 0 or -ENOMEM. */
int tact_mesh_build_wide_tree(struct tact_mesh *mesh);

void tact_mesh_free_wide_tree(struct tact_mesh *mesh);

/* An item of a tree of bounding boxes: a triangle or facet. */
struct tact_bounding_box_tree_item {
    double centre[3]; /* bounds of the item, in [m] or any other unit common to all items */
    double key;       /* key of the last sort: coordinate of the item's centre on the sorted axis */
    uint32_t number;  /* number of the item's triangle or cell */
};

/* Sorts items along the axis on which their centres spread widest, equal ones by number. */
void tact_sort_tree_items(struct tact_bounding_box_tree_item *items, size_t count);

/* Allocates and fills mesh->nodes and sorts mesh->triangles. Returns 0 or -ENOMEM. */
int tact_mesh_build_tree(struct tact_mesh *mesh);

/* Fills volume, centroid, second and radius from vertices and triangles. */
void tact_mesh_integrate(struct tact_mesh *mesh);

/*
 * Thickness of the walls of a mesh that is not convex [m]: of the chords through the solid, from
 * four points of each triangle against its normal, that end at a side whose normal is within 30
 * degrees of opposite, the least but for those on less than a hundredth of the surface. Of more
 * than 2048 triangles every second, third and so on is measured, in the order of the tree, and
 * decides by its plane whether the mesh is convex. A wall is bounded by triangles on both sides,
 * and the finer of them decide. It is no bound for smaller places that are thinner, where a wall
 * becomes thinner within a triangle, or at an edge where two sides meet at less than 30 degrees.
 * INFINITY for a convex mesh, or one without such walls. Not real-time safe: up to 8192 rays.
 * Returns 0 or -ENOMEM.
 */
int tact_mesh_wall_thickness(const struct tact_mesh *mesh, double *thickness);

/* tact_mesh_create() for hulls: with is_zero_volume_allowed, accepts triangles without area that
 * keep the surface closed (they add nothing to any integral) and does not look for crossings. */
int tact_mesh_create_checked(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                             size_t triangle_count, int is_zero_volume_allowed,
                             struct tact_mesh **out, struct tact_error *err);

#endif
