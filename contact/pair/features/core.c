#include "contact/pair/features/core_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/pair/features/curved_internal.h"
#include "contact/pair/features/faces_internal.h"

/* Number of vertices up to which the farthest is found by testing all, which is faster than a walk
 * along edges. */
#define EXHAUSTIVE_SEARCH_MAX_VERTICES 24

/* Length of an edge, relative to the size, below which a vertex may be as far along a direction as
 * all of its neighbours but for rounding, though others are farther. */
#define MAX_SHORT_EDGE_TO_SIZE_RATIO 1e-4
/* Difference of two distances along a direction by which the edges of a hull may lead to the nearer
 * vertex, relative to the size: qhull's surface is convex but for that. */
#define EQUALLY_FAR_DISTANCE_RATIO 1e-10

/* Capacity for vertices that are as far as the last one of a walk. */
enum { MOST_TIED = 32 };

/* Directions of the table of start vertices: the faces of a cube, 8 by 8 cells each. */
enum { SIDE = 8, CELLS = 6 * SIDE * SIDE };

/* Smallest value of the largest component of a direction: below it the scale to the cube map would
 * overflow. */
#define MIN_DIRECTION_COMPONENT 1e-300

/* Index of the cell of the direction table that contains a direction; the first where all of its
 * components are 0, as from one centre to another at the same place. */
static int start_table_cell_of_direction(const double d[3])
{
    int axis = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    axis = fabs(d[2]) > fabs(d[axis]) ? 2 : axis;
    if (fabs(d[axis]) < MIN_DIRECTION_COMPONENT) {
        return 0;
    }
    double scale = 0.5 * SIDE / fabs(d[axis]);
    int u = (int)(d[(axis + 1) % 3] * scale + 0.5 * SIDE);
    int v = (int)(d[(axis + 2) % 3] * scale + 0.5 * SIDE);
    u = u < 0 ? 0 : u >= SIDE ? SIDE - 1 : u;
    v = v < 0 ? 0 : v >= SIDE ? SIDE - 1 : v;
    return ((2 * axis + (d[axis] < 0.0)) * SIDE + u) * SIDE + v;
}

static int support_vertex_by_full_scan(const struct tact_convex_core *core, const double d[3])
{
    int best = 0, count = (int)core->vertices;
    const double x = d[0], y = d[1], z = d[2];
    double most = tact_v3_dot(core->vertex[0], d);
    for (int i = 1; i < count; i++) {
        const double *v = core->vertex[i];
        double s = v[0] * x + v[1] * y + v[2] * z;
        best = s > most ? i : best;
        most = tact_max(s, most);
    }
    return best;
}

/* Walks along edges from a vertex to those that are farther along d, until none of the last one's
 * neighbours is. Sets *most to the distance of that vertex along d, of any scale. */
static int walk_to_farther_vertices(const struct tact_convex_core *core, const double d[3], int at,
                                    double *most)
{
    *most = tact_v3_dot(core->vertex[at], d);
    for (int previous_support_vertex = -1; previous_support_vertex != at;) {
        previous_support_vertex = at;
        for (int k = core->first_neighbour_index_of_vertex[previous_support_vertex];
             k < core->first_neighbour_index_of_vertex[previous_support_vertex + 1]; k++) {
            double s = tact_v3_dot(core->vertex[core->next[k]], d);
            at = s > *most ? core->next[k] : at;
            *most = tact_max(s, *most);
        }
    }
    return at;
}

/* Finds a vertex that is farther along d than `at` among the neighbours of all vertices that are
 * connected with it and as far but for rounding. -1: there is none; -2: too many are as far. */
static int find_farther_vertex_beyond_ties(const struct tact_convex_core *core, const double d[3],
                                           int at, double most)
{
    int equally_far_support_vertices[MOST_TIED], count = 1;
    const double length = fabs(d[0]) + fabs(d[1]) + fabs(d[2]);
    const double least = most - EQUALLY_FAR_DISTANCE_RATIO * core->size * length;
    equally_far_support_vertices[0] = at;
    for (int i = 0; i < count; i++) {
        for (int k = core->first_neighbour_index_of_vertex[equally_far_support_vertices[i]];
             k < core->first_neighbour_index_of_vertex[equally_far_support_vertices[i] + 1]; k++) {
            const int next = core->next[k];
            const double s = tact_v3_dot(core->vertex[next], d);
            int is_vertex_nearer_or_already_listed = !(s >= least);
            if (s > most) {
                return next;
            }
            for (int j = 0; j < count && !is_vertex_nearer_or_already_listed; j++) {
                is_vertex_nearer_or_already_listed = equally_far_support_vertices[j] == next;
            }
            if (!is_vertex_nearer_or_already_listed && count == MOST_TIED) {
                return -2;
            }
            if (!is_vertex_nearer_or_already_listed) {
                equally_far_support_vertices[count++] = next;
            }
        }
    }
    return -1;
}

int64_t tact_convex_core_support_vertex(const struct tact_convex_core *core, const double d[3],
                                        int64_t from)
{
    if (!core->vertex) {
        return tact_curved_core_support_vertex(core, d);
    }
    if (!core->start) {
        return support_vertex_by_full_scan(core, d);
    }
    int at = from >= 0 ? (int)from : core->start[start_table_cell_of_direction(d)];
    const int has_short_hull_edges =
        core->shortest_hull_edge_length < MAX_SHORT_EDGE_TO_SIZE_RATIO * core->size;
    for (int next = at; next >= 0;) {
        double most;
        at = walk_to_farther_vertices(core, d, next, &most);
        next = has_short_hull_edges ? find_farther_vertex_beyond_ties(core, d, at, most) : -1;
        if (next == -2) {
            const int farthest_vertex = support_vertex_by_full_scan(core, d);
            at = tact_v3_dot(core->vertex[farthest_vertex], d) > most ? farthest_vertex : at;
        }
    }
    return at;
}

/* Fills the table of start vertices: the farthest vertex along the middle of each cell's
 * directions. */
static int fill_support_start_vertex_table(struct tact_convex_core *core)
{
    int *start = calloc(CELLS, sizeof *start);
    if (!start) {
        return -ENOMEM;
    }
    core->start = start;
    for (int i = 0, last = 0; i < CELLS; i++) {
        int axis = i / (2 * SIDE * SIDE), sign = i / (SIDE * SIDE) % 2 ? -1 : 1;
        double d[3];
        d[axis] = sign;
        d[(axis + 1) % 3] = (2.0 * (i / SIDE % SIDE) + 1.0) / SIDE - 1.0;
        d[(axis + 2) % 3] = (2.0 * (i % SIDE) + 1.0) / SIDE - 1.0;
        last = (int)tact_convex_core_support_vertex(core, d, last);
        start[i] = last;
    }
    return 0;
}

/* Sets the inscribed ball of a core; its centre is the mean of the vertices. */
static void set_inscribed_ball(struct tact_convex_core *core)
{
    for (int i = 0; i < core->vertices; i++) {
        tact_v3_axpy(core->middle, 1.0 / (double)core->vertices, core->vertex[i]);
    }
    core->inscribed_ball_radius = core->faces ? INFINITY : 0.0;
    for (int f = 0; f < core->faces; f++) {
        double depth = core->offset[f] - tact_v3_dot(core->normal[f], core->middle);
        core->inscribed_ball_radius = tact_min(core->inscribed_ball_radius, depth);
    }
    core->inscribed_ball_radius += core->radius;
}

static int set_core_thickness_and_size(struct tact_convex_core *core)
{
    for (int i = 0; i < core->vertices; i++) {
        for (int k = 0; k < 3; k++) {
            core->size = tact_max(core->size, fabs(core->vertex[i][k]));
        }
    }
    core->thickness = core->faces ? INFINITY : 0.0;
    for (int f = 0; f < core->faces; f++) {
        double opposite_direction[3], far[3];
        tact_v3_scale(opposite_direction, core->normal[f], -1.0);
        tact_convex_core_vertex_position(
            core, tact_convex_core_support_vertex(core, opposite_direction, -1), far);
        double core_width_across_face = core->offset[f] + tact_v3_dot(far, opposite_direction);
        core->thickness = tact_min(core->thickness, core_width_across_face);
    }
    core->thickness += 2.0 * core->radius;
    set_inscribed_ball(core);
    return 0;
}

static int make_core_from_hull(struct tact_convex_core *core, const struct tact_mesh *mesh)
{
    int rc = tact_convex_core_set_vertices_of_mesh(core, mesh);
    rc = rc                                                ? rc
         : core->vertices > EXHAUSTIVE_SEARCH_MAX_VERTICES ? fill_support_start_vertex_table(core)
                                                           : 0;
    rc = rc ? rc : tact_convex_core_set_faces_of_mesh(core, mesh);
    return rc ? rc : set_core_thickness_and_size(core);
}

/* Makes the core of a ball, which is a point, or of a capsule, which is a segment. */
static int make_core_from_axis(struct tact_convex_core *core, double radius, double half)
{
    core->radius = radius;
    core->vertices = half > 0.0 ? 2 : 1;
    core->vertex = calloc(2, sizeof *core->vertex);
    if (!core->vertex) {
        return -ENOMEM;
    }
    core->vertex[0][2] = half;
    core->vertex[1][2] = -half;
    return set_core_thickness_and_size(core);
}

int tact_convex_core_create(const struct tact_shape *shape, struct tact_convex_core **out)
{
    struct tact_convex_core *core = calloc(1, sizeof *core);
    int rc = -ENOTSUP;
    *out = NULL;
    if (!core) {
        return -ENOMEM;
    }
    core->kind = shape->kind;
    core->shortest_hull_edge_length = INFINITY;
    switch (shape->kind) {
    case TACT_SHAPE_HALFSPACE:
        core->thickness = INFINITY;
        rc = 0;
        break;
    case TACT_SHAPE_SPHERE:
        rc = make_core_from_axis(core, shape->size[0], 0.0);
        break;
    case TACT_SHAPE_CAPSULE:
        rc = make_core_from_axis(core, shape->size[0], shape->size[1]);
        break;
    case TACT_SHAPE_BOX:
    case TACT_SHAPE_CONVEX:
        rc = shape->mesh ? make_core_from_hull(core, shape->mesh) : -EINVAL;
        break;
    case TACT_SHAPE_CYLINDER:
    case TACT_SHAPE_ELLIPSOID:
        tact_curved_core_init(core, shape->size);
        rc = 0;
        break;
    default:
        break;
    }
    if (rc) {
        tact_convex_core_free(core);
        return rc;
    }
    *out = core;
    return 0;
}

void tact_convex_core_free(struct tact_convex_core *core)
{
    if (!core) {
        return;
    }
    void *arrays_owned_by_core[] = {core->vertex,
                                    core->first_neighbour_index_of_vertex,
                                    core->next,
                                    core->normal,
                                    core->offset,
                                    core->rim,
                                    core->first_corner_index_of_face,
                                    core->first_face_index_of_vertex,
                                    core->at,
                                    core->start};
    for (size_t i = 0; i < sizeof arrays_owned_by_core / sizeof *arrays_owned_by_core; i++) {
        free(arrays_owned_by_core[i]);
    }
    free(core);
}
