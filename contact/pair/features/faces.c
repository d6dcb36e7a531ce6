#include "contact/pair/features/faces_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh/mesh_internal.h"

/* Triangles whose corners are within this distance of a common plane, relative to the size, form
 * one face: mesh files have six digits. */
#define COPLANAR_DISTANCE_RATIO 1e-6

/* A half edge: an edge of a triangle, from its corner to the next. */
struct half {
    int from, to, triangle;
};

struct triangle_sorted_by_area {
    double size;
    int triangle;
};

struct hull_face_builder {
    struct tact_convex_core *core;
    const uint32_t *corner; /* three a triangle */
    int triangles;
    struct half *half; /* half edges sorted by their start vertex, then by their end vertex */
    int *neighbour_over_edge; /* neighbouring triangle over each edge, three for each triangle */
    double (*area)[3];        /* twice the area vector of each triangle [m^2] */
    int *face;                /* index of the face that each triangle belongs to; -1: none yet */
    int *stack;
    double coplanar_distance_limit_of_face; /* distance from a common plane within which triangles
                                 form one face [m] */
};

static int compare_half_edges(const void *a, const void *b)
{
    const struct half *p = a, *q = b;
    if (p->from != q->from) {
        return p->from < q->from ? -1 : 1;
    }
    return p->to < q->to ? -1 : p->to > q->to;
}

/* Index of a half edge among the sorted ones; -1: there is none. */
static int find_half_edge(const struct hull_face_builder *b, int from, int to)
{
    const struct half key = {from, to, 0};
    const struct half *at =
        bsearch(&key, b->half, 3 * (size_t)b->triangles, sizeof key, compare_half_edges);
    return at ? (int)(at - b->half) : -1;
}

static void set_shortest_edge_length_of_core(struct tact_convex_core *core)
{
    for (int v = 0; v < core->vertices; v++) {
        for (int k = core->first_neighbour_index_of_vertex[v];
             k < core->first_neighbour_index_of_vertex[v + 1]; k++) {
            double edge[3];
            tact_v3_sub(edge, core->vertex[core->next[k]], core->vertex[v]);
            core->shortest_hull_edge_length =
                tact_min(core->shortest_hull_edge_length, tact_v3_norm(edge));
        }
    }
}

int tact_convex_core_set_vertices_of_mesh(struct tact_convex_core *core,
                                          const struct tact_mesh *mesh)
{
    int edges = 3 * (int)mesh->triangle_count;
    core->vertices = (int)mesh->vertex_count;
    core->vertex = calloc(mesh->vertex_count + 1, sizeof *core->vertex);
    core->first_neighbour_index_of_vertex =
        calloc(mesh->vertex_count + 2, sizeof *core->first_neighbour_index_of_vertex);
    core->next = calloc((size_t)edges + 1, sizeof *core->next);
    if (!core->vertex || !core->first_neighbour_index_of_vertex || !core->next) {
        return -ENOMEM;
    }
    memcpy(core->vertex, mesh->vertices, mesh->vertex_count * sizeof *core->vertex);
    /* a mesh is closed where each edge occurs once in each direction */
    for (int i = 0; i < edges; i++) {
        core->first_neighbour_index_of_vertex[mesh->triangles[i] + 1]++;
    }
    for (int i = 0; i < core->vertices; i++) {
        core->first_neighbour_index_of_vertex[i + 1] += core->first_neighbour_index_of_vertex[i];
    }
    int *listed_neighbour_count = calloc(mesh->vertex_count + 1, sizeof *listed_neighbour_count);
    for (int i = 0; i < edges && listed_neighbour_count; i++) {
        int from = (int)mesh->triangles[i], to = (int)mesh->triangles[i - i % 3 + (i + 1) % 3];
        core->next[core->first_neighbour_index_of_vertex[from] + listed_neighbour_count[from]++] =
            to;
    }
    if (!listed_neighbour_count) {
        return -ENOMEM;
    }
    free(listed_neighbour_count);
    set_shortest_edge_length_of_core(core);
    return 0;
}

static void compute_triangle_areas(struct hull_face_builder *b)
{
    for (int t = 0; t < b->triangles; t++) {
        const double *p = b->core->vertex[b->corner[3 * t]];
        double u[3], v[3];
        tact_v3_sub(u, b->core->vertex[b->corner[3 * t + 1]], p);
        tact_v3_sub(v, b->core->vertex[b->corner[3 * t + 2]], p);
        tact_v3_cross(b->area[t], u, v);
        b->face[t] = -1;
    }
}

static int find_neighbours_across_edges(struct hull_face_builder *b)
{
    for (int i = 0; i < 3 * b->triangles; i++) {
        int next = i - i % 3 + (i + 1) % 3;
        b->half[i] = (struct half){(int)b->corner[i], (int)b->corner[next], i / 3};
    }
    qsort(b->half, 3 * (size_t)b->triangles, sizeof *b->half, compare_half_edges);
    for (int i = 0; i < 3 * b->triangles; i++) {
        int next = i - i % 3 + (i + 1) % 3;
        int at = find_half_edge(b, (int)b->corner[next], (int)b->corner[i]);
        if (at < 0) {
            return -EINVAL;
        }
        b->neighbour_over_edge[i] = b->half[at].triangle;
    }
    return 0;
}

/* 1 where a triangle lies in the plane n.x = offset and is not oriented against n; a triangle
 * without area has no orientation. */
static int is_core_triangle_in_face_plane(const struct hull_face_builder *b, int t, const double *n,
                                          double offset)
{
    for (int k = 0; k < 3; k++) {
        double h = tact_v3_dot(n, b->core->vertex[b->corner[3 * t + k]]) - offset;
        if (fabs(h) > b->coplanar_distance_limit_of_face) {
            return 0;
        }
    }
    return tact_v3_dot(b->area[t], n) >
           -b->coplanar_distance_limit_of_face * b->coplanar_distance_limit_of_face;
}

/* Collects the triangles of a face, beginning with triangle t: all that lie in t's plane and are
 * connected with it. */
static void collect_face_triangles(struct hull_face_builder *b, int t)
{
    struct tact_convex_core *core = b->core;
    double *n = core->normal[core->faces], sum[3] = {0.0, 0.0, 0.0};
    int depth = 0;
    tact_v3_normalize(n, b->area[t]);
    double offset = tact_v3_dot(n, core->vertex[b->corner[3 * t]]);
    b->face[t] = core->faces;
    b->stack[depth++] = t;
    while (depth > 0) {
        int at = b->stack[--depth];
        tact_v3_add(sum, sum, b->area[at]);
        for (int k = 0; k < 3; k++) {
            int triangle_over_edge = b->neighbour_over_edge[3 * at + k];
            if (b->face[triangle_over_edge] < 0 &&
                is_core_triangle_in_face_plane(b, triangle_over_edge, n, offset)) {
                b->face[triangle_over_edge] = core->faces;
                b->stack[depth++] = triangle_over_edge;
            }
        }
    }
    tact_v3_normalize(n, sum);
    core->faces++;
}

static int compare_triangle_areas(const void *a, const void *b)
{
    const struct triangle_sorted_by_area *p = a, *q = b;
    if (p->size != q->size) {
        return p->size > q->size ? -1 : 1;
    }
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

/* Collects the faces, beginning with the largest triangles, whose normals are the most accurate. A
 * triangle without area is added to a neighbouring face. */
static int collect_all_coplanar_faces(struct hull_face_builder *b)
{
    struct triangle_sorted_by_area *triangles_sorted_by_area =
        calloc((size_t)b->triangles + 1, sizeof *triangles_sorted_by_area);
    if (!triangles_sorted_by_area) {
        return -ENOMEM;
    }
    for (int t = 0; t < b->triangles; t++) {
        triangles_sorted_by_area[t] =
            (struct triangle_sorted_by_area){tact_v3_dot(b->area[t], b->area[t]), t};
    }
    qsort(triangles_sorted_by_area, (size_t)b->triangles, sizeof *triangles_sorted_by_area,
          compare_triangle_areas);
    for (int i = 0; i < b->triangles; i++) {
        int t = triangles_sorted_by_area[i].triangle;
        if (b->face[t] < 0 && triangles_sorted_by_area[i].size > 0.0) {
            collect_face_triangles(b, t);
        }
        for (int k = 0; k < 3 && b->face[t] < 0; k++) {
            b->face[t] = b->face[b->neighbour_over_edge[3 * t + k]];
        }
    }
    free(triangles_sorted_by_area);
    return 0;
}

/* Lists the corners of face f in order: the longest closed loop along its edges with other faces.
 * next_vertex_on_boundary: for each vertex, the end of the edge that starts there; -1: none. */
static void list_face_boundary(struct hull_face_builder *b, const int *edge, int edges,
                               int *next_vertex_on_boundary, int *rim, int *count)
{
    int corner_count_of_longest_loop = 0, best = 0;
    for (int i = 0; i < edges; i++) {
        next_vertex_on_boundary[b->half[edge[i]].from] = b->half[edge[i]].to;
    }
    /* first pass: finds the longest loop; second pass: lists its corners */
    for (int pass_to_measure_then_list_loop = 0; pass_to_measure_then_list_loop < 2;
         pass_to_measure_then_list_loop++) {
        for (int i = pass_to_measure_then_list_loop ? best : 0; i < edges; i++) {
            int first = b->half[edge[i]].from, at = first, n = 0;
            do {
                if (pass_to_measure_then_list_loop) {
                    rim[n] = at;
                }
                at = next_vertex_on_boundary[at];
                n++;
            } while (at >= 0 && at != first && n < edges);
            if (pass_to_measure_then_list_loop) {
                *count = n;
                break;
            }
            best = n > corner_count_of_longest_loop ? i : best;
            corner_count_of_longest_loop =
                n > corner_count_of_longest_loop ? n : corner_count_of_longest_loop;
            if (corner_count_of_longest_loop == edges) {
                break; /* the face has one loop, as nearly every face has */
            }
        }
    }
    for (int i = 0; i < edges; i++) {
        next_vertex_on_boundary[b->half[edge[i]].from] = -1;
    }
}

/* Lists the rims of all faces. edge: half edges between different faces, by face, those of face f
 * from first[f] on. */
static void list_all_face_boundaries(struct hull_face_builder *b, const int *first, const int *edge,
                                     int *next_vertex_on_boundary)
{
    struct tact_convex_core *core = b->core;
    int listed_rim_corner_count = 0;
    for (int f = 0; f < core->faces; f++) {
        int count = 0;
        core->first_corner_index_of_face[f] = listed_rim_corner_count;
        list_face_boundary(b, edge + first[f], first[f + 1] - first[f], next_vertex_on_boundary,
                           core->rim + listed_rim_corner_count, &count);
        core->offset[f] = -INFINITY;
        for (int k = listed_rim_corner_count; k < listed_rim_corner_count + count; k++) {
            double h = tact_v3_dot(core->normal[f], core->vertex[core->rim[k]]);
            core->offset[f] = tact_max(core->offset[f], h);
        }
        listed_rim_corner_count += count;
    }
    core->first_corner_index_of_face[core->faces] = listed_rim_corner_count;
}

static int make_face_boundaries(struct hull_face_builder *b)
{
    struct tact_convex_core *core = b->core;
    int half_edge_count = 3 * b->triangles, rc = -ENOMEM;
    int *first = calloc((size_t)core->faces + 2, sizeof *first);
    int *edge = calloc((size_t)half_edge_count + 1, sizeof *edge);
    int *next_vertex_on_boundary =
        calloc((size_t)core->vertices + 1, sizeof *next_vertex_on_boundary);
    core->rim = calloc((size_t)half_edge_count + 1, sizeof *core->rim);
    core->first_corner_index_of_face =
        calloc((size_t)core->faces + 1, sizeof *core->first_corner_index_of_face);
    core->offset = calloc((size_t)core->faces + 1, sizeof *core->offset);
    if (first && edge && next_vertex_on_boundary && core->rim && core->first_corner_index_of_face &&
        core->offset) {
        for (int pass_to_measure_then_list_loop = 0; pass_to_measure_then_list_loop < 2;
             pass_to_measure_then_list_loop++) { /* counts, then lists */
            for (int i = 0; i < half_edge_count; i++) {
                int opposite_half_edge = find_half_edge(b, b->half[i].to, b->half[i].from);
                int f = b->face[b->half[i].triangle];
                if (f == b->face[b->half[opposite_half_edge].triangle]) {
                    continue;
                }
                if (pass_to_measure_then_list_loop) {
                    edge[first[f]++] = i;
                } else {
                    first[f + 1]++;
                }
            }
            for (int f = 0; f < core->faces; f++) {
                first[f + 1] += pass_to_measure_then_list_loop ? 0 : first[f];
            }
        }
        memmove(first + 1, first, (size_t)core->faces * sizeof *first);
        first[0] = 0;
        for (int i = 0; i < core->vertices; i++) {
            next_vertex_on_boundary[i] = -1;
        }
        list_all_face_boundaries(b, first, edge, next_vertex_on_boundary);
        rc = 0;
    }
    free(first);
    free(edge);
    free(next_vertex_on_boundary);
    return rc;
}

/* Lists the faces at each vertex, including faces that contain it in their interior. */
static int list_faces_at_vertices(struct hull_face_builder *b)
{
    struct tact_convex_core *core = b->core;
    int corners = 3 * b->triangles, used = 0;
    core->first_face_index_of_vertex =
        calloc((size_t)core->vertices + 2, sizeof *core->first_face_index_of_vertex);
    core->at = calloc((size_t)corners + 1, sizeof *core->at);
    if (!core->first_face_index_of_vertex || !core->at) {
        return -ENOMEM;
    }
    for (int i = 0; i < corners; i++) {
        core->first_face_index_of_vertex[b->corner[i] + 2]++;
    }
    for (int i = 0; i < core->vertices; i++) {
        core->first_face_index_of_vertex[i + 2] += core->first_face_index_of_vertex[i + 1];
    }
    for (int i = 0; i < corners; i++) {
        core->at[core->first_face_index_of_vertex[b->corner[i] + 1]++] = b->face[i / 3];
    }
    for (int i = 0, k = 0; i < core->vertices; i++) { /* each once */
        int first = used, end = core->first_face_index_of_vertex[i + 1];
        core->first_face_index_of_vertex[i] = first;
        for (; k < end; k++) {
            int at = first;
            while (at < used && core->at[at] != core->at[k]) {
                at++;
            }
            if (at == used) {
                core->at[used++] = core->at[k];
            }
        }
    }
    core->first_face_index_of_vertex[core->vertices] = used;
    return 0;
}

int tact_convex_core_set_faces_of_mesh(struct tact_convex_core *core, const struct tact_mesh *mesh)
{
    size_t n = mesh->triangle_count + 1;
    struct hull_face_builder b = {.core = core,
                                  .corner = mesh->triangles,
                                  .triangles = (int)mesh->triangle_count,
                                  .half = calloc(3 * n, sizeof *b.half),
                                  .neighbour_over_edge =
                                      calloc(3 * n, sizeof *b.neighbour_over_edge),
                                  .area = calloc(n, sizeof *b.area),
                                  .face = calloc(n, sizeof *b.face),
                                  .stack = calloc(n, sizeof *b.stack),
                                  .coplanar_distance_limit_of_face =
                                      COPLANAR_DISTANCE_RATIO * tact_mesh_largest_coordinate(mesh)};
    int rc = -ENOMEM;
    core->normal = calloc(n, sizeof *core->normal);
    if (b.half && b.neighbour_over_edge && b.area && b.face && b.stack && core->normal) {
        compute_triangle_areas(&b);
        rc = find_neighbours_across_edges(&b);
        rc = rc ? rc : collect_all_coplanar_faces(&b);
        rc = rc ? rc : make_face_boundaries(&b);
        rc = rc ? rc : list_faces_at_vertices(&b);
    }
    free(b.half);
    free(b.neighbour_over_edge);
    free(b.area);
    free(b.face);
    free(b.stack);
    return rc;
}
