/*
 * Tetrahedra of the lattice's cells. Cells are joined to blocks of 2, 4 and 8 cells a side where
 * the extent is linear within a tolerance on the six tetrahedra about the block's diagonal (Kuhn
 * 1960). Blocks that share a face or an edge differ in size by at most a factor of two. A block
 * next to a finer one has a vertex in its centre, and tetrahedra from there to the triangles of its
 * faces. The division of a face depends only on which of its edges are halved, so that both sides
 * agree.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/lattice_internal.h"
#include "contact/vec.h"

/* Largest level of a block: blocks have 2^level cells a side; NONE: the cell is in no block. */
enum { NONE = 255, COARSEST = 3 };

struct cells {
    const struct lattice *l;
    int count[3]; /* number of finest cells along each axis */
    size_t stride[3];
    uint8_t *level; /* level of the block that contains each finest cell */
    double tolerance, relative_extent_tolerance; /* allowed interpolation errors, relative to the
                                             slope [m] and to the extent [1] */
    uint32_t *vertex; /* index of the tetrahedra's vertex at each node, from 1; 0: none */
    struct tact_extent *out;
    size_t vertex_capacity, tet_capacity;
    int is_out_of_memory; /* memory ran out */
};

/* Level of the block that contains a finest cell. */
static int find_level_of_block_at(const struct cells *c, int x, int y, int z)
{
    if (x < 0 || y < 0 || z < 0 || x >= c->count[0] || y >= c->count[1] || z >= c->count[2]) {
        return NONE;
    }
    return c->level[(size_t)x + (size_t)y * c->stride[1] + (size_t)z * c->stride[2]];
}

static void set_block_level(struct cells *c, const int at[3], int size, int level)
{
    for (int z = at[2]; z < at[2] + size; z++) {
        for (int y = at[1]; y < at[1] + size; y++) {
            memset(c->level + (size_t)at[0] + (size_t)y * c->stride[1] + (size_t)z * c->stride[2],
                   level, (size_t)size);
        }
    }
}

static size_t lattice_node_at(const struct lattice *l, const int at[3], int x, int y, int z)
{
    const int place[3] = {at[0] + x, at[1] + y, at[2] + z};
    return lattice_node_index(l, place);
}

static int has_block_inside_nodes(const struct lattice *l, const int at[3], int size)
{
    for (int z = 0; z <= size; z++) {
        for (int y = 0; y <= size; y++) {
            size_t row = lattice_node_at(l, at, 0, y, z);
            for (int x = 0; x <= size; x++) {
                if (l->kind[row + (size_t)x] == LATTICE_NODE_INSIDE_SOLID) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

/* Value at a node of a block, interpolated from the block's corners. f: position in the block
 * [steps]. */
static double interpolate_extent_in_block(const double corner[8], const int f[3], int size)
{
    int order[3] = {0, 1, 2}, corner_mask = 0;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2 - i; k++) {
            if (f[order[k]] < f[order[k + 1]]) {
                int first = order[k];
                order[k] = order[k + 1];
                order[k + 1] = first;
            }
        }
    }
    double sum = corner[0] * (size - f[order[0]]);
    for (int i = 0; i < 3; i++) {
        corner_mask |= 1 << order[i];
        sum += corner[corner_mask] * (f[order[i]] - (i < 2 ? f[order[i + 1]] : 0));
    }
    return sum / size;
}

/* 1 where a node of a block has, along an axis, a neighbour in the block that is inside the solid.
 */
static int has_inside_node_beside(const struct lattice *l, size_t node, const int f[3], int size)
{
    for (int k = 0; k < 3; k++) {
        if ((f[k] > 0 && l->kind[node - l->stride[k]] == LATTICE_NODE_INSIDE_SOLID) ||
            (f[k] < size && l->kind[node + l->stride[k]] == LATTICE_NODE_INSIDE_SOLID)) {
            return 1;
        }
    }
    return 0;
}

/* Largest slope of the extent between neighbouring nodes of a block, at most 1. */
static double largest_block_slope(const struct lattice *l, const int at[3], int size)
{
    double most = 0.0;
    for (int z = 0; z <= size; z++) {
        for (int y = 0; y <= size; y++) {
            for (int x = 0; x <= size; x++) {
                const double *v = &l->value[lattice_node_at(l, at, x, y, z)];
                most = x < size ? tact_max(most, fabs(v[1] - v[0]) / l->step[0]) : most;
                most = y < size ? tact_max(most, fabs(v[l->stride[1]] - v[0]) / l->step[1]) : most;
                most = z < size ? tact_max(most, fabs(v[l->stride[2]] - v[0]) / l->step[2]) : most;
            }
        }
    }
    return tact_min(most, 1.0);
}

/* 1 where the extent is linear in a block: all its nodes have values, and the values inside the
 * solid and next to it are those interpolated from the corners, within the tolerance. */
static int is_extent_linear_in_block(const struct cells *c, const int at[3], int size)
{
    const struct lattice *l = c->l;
    double corner[8];
    for (int i = 0; i < 8; i++) {
        size_t node = lattice_node_at(l, at, i & 1 ? size : 0, i & 2 ? size : 0, i & 4 ? size : 0);
        if (l->kind[node] == LATTICE_NODE_OUTSIDE_SOLID) {
            return 0;
        }
        corner[i] = l->value[node];
    }
    double tolerance = c->tolerance * largest_block_slope(l, at, size);
    for (int z = 0; z <= size; z++) {
        for (int y = 0; y <= size; y++) {
            for (int x = 0; x <= size; x++) {
                const int f[3] = {x, y, z};
                size_t node = lattice_node_at(l, at, x, y, z);
                if (l->kind[node] == LATTICE_NODE_OUTSIDE_SOLID) {
                    return 0;
                }
                if (l->kind[node] == LATTICE_NODE_WITH_EXTRAPOLATED_EXTENT &&
                    !has_inside_node_beside(l, node, f, size)) {
                    continue;
                }
                double value = l->value[node];
                double most = tolerance + c->relative_extent_tolerance * tact_max(value, 0.0);
                if (!(fabs(interpolate_extent_in_block(corner, f, size) - value) <= most)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static void split_block_if_needed(struct cells *c, const int at[3], int level);

static void choose_block_size(struct cells *c, const int at[3], int level)
{
    int size = 1 << level;
    if (!has_block_inside_nodes(c->l, at, size)) {
        set_block_level(c, at, size, NONE);
    } else if (!level || is_extent_linear_in_block(c, at, size)) {
        set_block_level(c, at, size, level);
    } else {
        split_block_if_needed(c, at, level);
    }
}

static void split_block_if_needed(struct cells *c, const int at[3], int level)
{
    int half = 1 << (level - 1);
    for (int i = 0; i < 8; i++) {
        const int part[3] = {at[0] + (i & 1 ? half : 0), at[1] + (i & 2 ? half : 0),
                             at[2] + (i & 4 ? half : 0)};
        choose_block_size(c, part, level - 1);
    }
}

/* Divides a block into its eight half-size blocks. */
static void split_block_into_eight(struct cells *c, const int at[3], int level)
{
    int half = 1 << (level - 1);
    for (int i = 0; i < 8; i++) {
        const int part[3] = {at[0] + (i & 1 ? half : 0), at[1] + (i & 2 ? half : 0),
                             at[2] + (i & 4 ? half : 0)};
        set_block_level(c, part, half, has_block_inside_nodes(c->l, part, half) ? level - 1 : NONE);
    }
}

/* Calls `visit` with each block of cells; returns 1 where one of the calls did. */
static int visit_all_blocks(struct cells *c, int (*visit)(struct cells *, const int *, int))
{
    int any = 0;
    int at[3];
    for (at[2] = 0; at[2] < c->count[2]; at[2]++) {
        for (at[1] = 0; at[1] < c->count[1]; at[1]++) {
            for (at[0] = 0; at[0] < c->count[0]; at[0]++) {
                int level = find_level_of_block_at(c, at[0], at[1], at[2]);
                int coordinate_mask_within_block = level == NONE ? 0 : (1 << level) - 1;
                if (level != NONE && !((at[0] | at[1] | at[2]) & coordinate_mask_within_block)) {
                    any |= visit(c, at, level);
                }
            }
        }
    }
    return any;
}

/* Splits the neighbours of a block that are more than twice its size. Returns 1 where there was
 * one. */
static int split_larger_neighbours(struct cells *c, const int at[3], int level)
{
    int size = 1 << level, any = 0;
    for (int i = 0; i < 27; i++) {
        const int step[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        int number_of_changed_axes = abs(step[0]) + abs(step[1]) + abs(step[2]);
        int x = at[0] + step[0] * size, y = at[1] + step[1] * size, z = at[2] + step[2] * size;
        int level_of_neighbour_block = find_level_of_block_at(c, x, y, z);
        if ((number_of_changed_axes == 1 || number_of_changed_axes == 2) &&
            level_of_neighbour_block != NONE && level_of_neighbour_block > level + 1) {
            int neighbour_block_origin_mask = ~((1 << level_of_neighbour_block) - 1);
            const int origin_of_neighbour_block[3] = {x & neighbour_block_origin_mask,
                                                      y & neighbour_block_origin_mask,
                                                      z & neighbour_block_origin_mask};
            split_block_into_eight(c, origin_of_neighbour_block, level_of_neighbour_block);
            any = 1;
        }
    }
    return any;
}

static void *grow_lattice_array(struct cells *c, void *old, size_t *capacity,
                                size_t required_entry_count, size_t element_size)
{
    if (required_entry_count <= *capacity) {
        return old;
    }
    size_t new_capacity = 2 * required_entry_count + 1024;
    void *resized_lattice_array = realloc(old, new_capacity * element_size);
    c->is_out_of_memory |= !resized_lattice_array;
    *capacity = resized_lattice_array ? new_capacity : *capacity;
    return resized_lattice_array ? resized_lattice_array : old;
}

static uint32_t find_or_add_vertex_of_node(struct cells *c, size_t node)
{
    struct tact_extent *out = c->out;
    if (!c->vertex[node] && !c->is_out_of_memory) {
        size_t room = c->vertex_capacity;
        out->vertices =
            grow_lattice_array(c, out->vertices, &room, out->vertex_count + 1, 3 * sizeof(double));
        out->extent = grow_lattice_array(c, out->extent, &c->vertex_capacity, out->vertex_count + 1,
                                         sizeof(double));
        if (c->is_out_of_memory) {
            return 0;
        }
        int at[3];
        lattice_position_of_node(c->l, node, at);
        for (int k = 0; k < 3; k++) {
            out->vertices[3 * out->vertex_count + (size_t)k] =
                mesh_coordinate_of_lattice_position(c->l, k, at[k]);
        }
        out->extent[out->vertex_count] = c->l->value[node];
        c->vertex[node] = (uint32_t)++out->vertex_count;
    }
    return c->vertex[node] - 1;
}

/* Adds a tetrahedron, unless the extent is nowhere positive in it. */
static void add_lattice_tet(struct cells *c, size_t p, size_t q, size_t r, size_t s)
{
    const size_t node[4] = {p, q, r, s};
    struct tact_extent *out = c->out;
    double most = -INFINITY;
    for (int k = 0; k < 4; k++) {
        most = tact_max(most, c->l->value[node[k]]);
    }
    out->tets = grow_lattice_array(c, out->tets, &c->tet_capacity, out->tet_count + 1,
                                   4 * sizeof *out->tets);
    if (!(most > 0.0) || c->is_out_of_memory) {
        return;
    }
    uint32_t *tet = out->tets + 4 * out->tet_count++;
    for (int k = 0; k < 4; k++) {
        tet[k] = find_or_add_vertex_of_node(c, node[k]);
    }
}

/* 1 where a finer block touches an edge of a block. The edge is along `axis`, on the upper (1) or
 * lower (0) side of the other two axes: u, v. */
static int is_edge_halved_by_finer_block(const struct cells *c, const int at[3], int level,
                                         int axis, int u, int v)
{
    int size = 1 << level;
    for (int i = 0; i < 8; i++) {
        int place[3];
        place[axis] = at[axis] + (i & 4 ? size / 2 : 0);
        place[(axis + 1) % 3] = at[(axis + 1) % 3] + (u ? size : 0) - (i & 1);
        place[(axis + 2) % 3] = at[(axis + 2) % 3] + (v ? size : 0) - (i >> 1 & 1);
        if (find_level_of_block_at(c, place[0], place[1], place[2]) < level) {
            return 1;
        }
    }
    return 0;
}

/* A face of a block: the nodes at its middle, at its corners and at the middles of its edges, in
 * order around the face. */
struct face {
    /* half[i]: node at the middle of the edge between corner i and the next */
    size_t middle, corner[4], half[4];
    int is_edge_halved[4];
    int upper[4]; /* number of each corner's two coordinates that are on the upper side */
};

/* Describes the face of a block that is perpendicular to `axis`, on the block's upper (1) or lower
 * (0) side. */
static void describe_block_face(const struct cells *c, const int at[3], int level, int axis,
                                int upper, struct face *f)
{
    static const int block_corners_around_face[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int size = 1 << level, u = (axis + 1) % 3, v = (axis + 2) % 3, place[3];
    place[axis] = at[axis] + (upper ? size : 0);
    place[u] = at[u] + size / 2;
    place[v] = at[v] + size / 2;
    f->middle = lattice_node_index(c->l, place);
    for (int i = 0; i < 4; i++) {
        const int *p = block_corners_around_face[i], *q = block_corners_around_face[(i + 1) % 4];
        place[u] = at[u] + p[0] * size;
        place[v] = at[v] + p[1] * size;
        f->corner[i] = lattice_node_index(c->l, place);
        place[u] = at[u] + (p[0] + q[0]) * size / 2;
        place[v] = at[v] + (p[1] + q[1]) * size / 2;
        f->half[i] = lattice_node_index(c->l, place);
        f->upper[i] = p[0] + p[1];
        /* an edge along u lies on sides of v, then axis; one along v on sides of axis, then u */
        f->is_edge_halved[i] = i % 2 ? is_edge_halved_by_finer_block(c, at, level, v, upper, p[0])
                                     : is_edge_halved_by_finer_block(c, at, level, u, p[1], upper);
    }
}

/* Adds the tetrahedra between a node and the triangles of a block's face. */
static void add_face_tetrahedra(struct cells *c, size_t apex, const struct face *f)
{
    if (!f->is_edge_halved[0] && !f->is_edge_halved[1] && !f->is_edge_halved[2] &&
        !f->is_edge_halved[3]) {
        add_lattice_tet(c, apex, f->corner[0], f->corner[1], f->corner[2]);
        add_lattice_tet(c, apex, f->corner[0], f->corner[2], f->corner[3]);
        return;
    }
    /* the quarter of the face at corner i, with the halves of its edges */
    for (int i = 0; i < 4; i++) {
        int before = (i + 3) % 4, next = (i + 1) % 4;
        if (f->is_edge_halved[before] && f->is_edge_halved[i] && f->upper[i] == 1) {
            add_lattice_tet(c, apex, f->half[before], f->corner[i], f->half[i]);
            add_lattice_tet(c, apex, f->middle, f->half[before], f->half[i]);
            continue;
        }
        if (f->is_edge_halved[before]) {
            add_lattice_tet(c, apex, f->middle, f->half[before], f->corner[i]);
        }
        add_lattice_tet(c, apex, f->middle, f->corner[i],
                        f->is_edge_halved[i] ? f->half[i] : f->corner[next]);
    }
}

static void add_kuhn_tetrahedra(struct cells *c, const int at[3], int size)
{
    static const int order[6][2] = {{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}};
    const int opposite_corner_of_block[3] = {at[0] + size, at[1] + size, at[2] + size};
    for (int i = 0; i < 6; i++) {
        int one[3] = {at[0], at[1], at[2]}, two[3];
        one[order[i][0]] += size;
        memcpy(two, one, sizeof two);
        two[order[i][1]] += size;
        add_lattice_tet(c, lattice_node_index(c->l, at), lattice_node_index(c->l, one),
                        lattice_node_index(c->l, two),
                        lattice_node_index(c->l, opposite_corner_of_block));
    }
}

static int add_block_tetrahedra(struct cells *c, const int at[3], int level)
{
    int size = 1 << level, any = 0;
    struct face face[6];
    for (int i = 0; i < 6 && level; i++) {
        describe_block_face(c, at, level, i / 2, i % 2, &face[i]);
        any |= face[i].is_edge_halved[0] | face[i].is_edge_halved[1] | face[i].is_edge_halved[2] |
               face[i].is_edge_halved[3];
    }
    if (!any) {
        add_kuhn_tetrahedra(c, at, size);
        return 0;
    }
    size_t apex = lattice_node_at(c->l, at, size / 2, size / 2, size / 2);
    for (int i = 0; i < 6; i++) {
        add_face_tetrahedra(c, apex, &face[i]);
    }
    return 0;
}

static void choose_all_block_sizes(struct cells *c)
{
    int at[3], size = 1 << COARSEST;
    for (at[2] = 0; at[2] < c->count[2]; at[2] += size) {
        for (at[1] = 0; at[1] < c->count[1]; at[1] += size) {
            for (at[0] = 0; at[0] < c->count[0]; at[0] += size) {
                choose_block_size(c, at, COARSEST);
            }
        }
    }
    while (visit_all_blocks(c, split_larger_neighbours)) {
    }
}

int tact_lattice_divide_into_tets(const struct lattice *l, double tolerance,
                                  double relative_extent_tolerance, struct tact_extent *out)
{
    struct cells c = {.l = l,
                      .tolerance = tolerance,
                      .relative_extent_tolerance = relative_extent_tolerance,
                      .out = out};
    size_t count = 1;
    for (int k = 0; k < 3; k++) {
        c.count[k] = l->nodes[k] - 1;
        c.stride[k] = count;
        count *= (size_t)c.count[k];
    }
    c.level = malloc(count);
    c.vertex = calloc(l->count, sizeof *c.vertex);
    if (c.level && c.vertex) {
        choose_all_block_sizes(&c);
        visit_all_blocks(&c, add_block_tetrahedra);
    }
    int rc = !c.level || !c.vertex || c.is_out_of_memory ? -ENOMEM : out->tet_count ? 0 : -EDOM;
    free(c.level);
    free(c.vertex);
    return rc;
}
