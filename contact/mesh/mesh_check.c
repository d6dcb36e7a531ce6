/* Checks that triangles form a closed oriented surface, by sorting their half-edges. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/vec.h"

struct vertex_with_index {
    double r[3];
    size_t index;
};

static int compare_vertices(const void *pa, const void *pb)
{
    const struct vertex_with_index *a = pa, *b = pb;
    for (int k = 0; k < 3; k++) {
        if (a->r[k] != b->r[k]) {
            return a->r[k] < b->r[k] ? -1 : 1;
        }
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Finds equal vertices: sets first[i] to the smallest index of a vertex equal to vertex i. Returns
 * 0 or -ENOMEM. */
static int find_equal_vertices(const double *vertices, size_t n, size_t *first)
{
    struct vertex_with_index *keys = malloc((n ? n : 1) * sizeof *keys);
    if (!keys) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        tact_v3_copy(keys[i].r, vertices + 3 * i);
        keys[i].index = i;
    }
    qsort(keys, n, sizeof *keys, compare_vertices);
    for (size_t i = 0; i < n; i++) {
        const double *r = keys[i].r, *p = i ? keys[i - 1].r : r;
        int is_vertex_equal_to_previous = i && r[0] == p[0] && r[1] == p[1] && r[2] == p[2];
        first[keys[i].index] =
            is_vertex_equal_to_previous ? first[keys[i - 1].index] : keys[i].index;
    }
    free(keys);
    return 0;
}

int tact_mesh_merge_equal_vertices(double *vertices, size_t *vertex_count, uint32_t *triangles,
                                   size_t triangle_count)
{
    size_t n = *vertex_count;
    size_t *first = malloc((n ? n : 1) * sizeof *first);
    size_t *number = malloc((n ? n : 1) * sizeof *number);
    int rc = first && number ? find_equal_vertices(vertices, n, first) : -ENOMEM;
    if (rc == 0) {
        const size_t mark_of_unused_vertex = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
            number[i] = mark_of_unused_vertex;
        }
        for (size_t i = 0; i < 3 * triangle_count; i++) {
            number[first[triangles[i]]] = 0;
        }
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (number[i] != mark_of_unused_vertex) {
                memmove(vertices + 3 * count, vertices + 3 * i, 3 * sizeof *vertices);
                number[i] = count++;
            }
        }
        for (size_t i = 0; i < 3 * triangle_count; i++) {
            triangles[i] = (uint32_t)number[first[triangles[i]]];
        }
        *vertex_count = count;
    }
    free(first);
    free(number);
    return rc;
}

/* A half-edge: one side of one triangle; low < high are its vertices. */
struct mesh_half_edge {
    uint32_t low, high;
    uint32_t triangle;
    uint32_t runs_to_higher_vertex; /* 1: the half-edge runs from low to high */
};

static int compare_half_edges(const void *pa, const void *pb)
{
    const struct mesh_half_edge *a = pa, *b = pb;
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static uint32_t find_component_root(uint32_t *union_find_parents, uint32_t i)
{
    while (union_find_parents[i] != i) {
        union_find_parents[i] = union_find_parents[union_find_parents[i]];
        i = union_find_parents[i];
    }
    return i;
}

static void unite_mesh_components(uint32_t *union_find_parents, uint32_t a, uint32_t b)
{
    uint32_t ra = find_component_root(union_find_parents, a),
             rb = find_component_root(union_find_parents, b);
    if (ra < rb) {
        union_find_parents[rb] = ra;
    } else {
        union_find_parents[ra] = rb;
    }
}

/* Lists the half-edges of the triangles without a repeated vertex; returns their number. */
static size_t list_mesh_half_edges(const uint32_t *triangles, size_t count,
                                   struct mesh_half_edge *sorted_half_edges)
{
    size_t n = 0;
    for (size_t t = 0; t < count; t++) {
        const uint32_t *v = triangles + 3 * t;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            uint32_t p = v[k], q = v[(k + 1) % 3];
            sorted_half_edges[n].low = p < q ? p : q;
            sorted_half_edges[n].high = p < q ? q : p;
            sorted_half_edges[n].triangle = (uint32_t)t;
            sorted_half_edges[n].runs_to_higher_vertex = p < q;
            n++;
        }
    }
    return n;
}

static void count_edge_defects(const struct mesh_half_edge *sorted_half_edges, size_t n,
                               uint32_t *union_find_parents, struct tact_mesh_defects *defects)
{
    for (size_t i = 0; i < n;) {
        size_t end = i, runs_to_higher_vertex = 0;
        while (end < n && sorted_half_edges[end].low == sorted_half_edges[i].low &&
               sorted_half_edges[end].high == sorted_half_edges[i].high) {
            unite_mesh_components(union_find_parents, sorted_half_edges[i].triangle,
                                  sorted_half_edges[end].triangle);
            runs_to_higher_vertex += sorted_half_edges[end].runs_to_higher_vertex;
            end++;
        }
        size_t half_edge_count_of_edge = end - i;
        defects->boundary_edges += half_edge_count_of_edge == 1;
        defects->misoriented_edges += half_edge_count_of_edge == 2 && runs_to_higher_vertex != 1;
        defects->nonmanifold_edges += half_edge_count_of_edge > 2;
        i = end;
    }
}

/* Counts triangles with a repeated vertex or no area, and sums the signed volume. */
static void count_degenerate_triangles(const double *vertices, const uint32_t *triangles,
                                       size_t count, struct tact_mesh_defects *defects)
{
    const double *origin = count ? vertices + 3 * (size_t)triangles[0] : NULL;
    for (size_t t = 0; t < count; t++) {
        double p[3][3], normal[3], u[3], w[3];
        for (int k = 0; k < 3; k++) {
            tact_v3_sub(p[k], vertices + 3 * (size_t)triangles[3 * t + (size_t)k], origin);
        }
        tact_v3_sub(u, p[1], p[0]);
        tact_v3_sub(w, p[2], p[0]);
        tact_v3_cross(normal, u, w);
        if (normal[0] == 0.0 && normal[1] == 0.0 && normal[2] == 0.0) {
            defects->degenerate++;
        }
        defects->volume += tact_v3_dot(normal, p[0]) / 6.0;
    }
}

int tact_mesh_count_defects(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                            size_t triangle_count, struct tact_mesh_defects *defects)
{
    (void)vertex_count;
    memset(defects, 0, sizeof *defects);
    struct mesh_half_edge *sorted_half_edges =
        calloc(3 * triangle_count + 1, sizeof *sorted_half_edges);
    uint32_t *union_find_parents =
        malloc((triangle_count ? triangle_count : 1) * sizeof *union_find_parents);
    if (!sorted_half_edges || !union_find_parents) {
        free(sorted_half_edges);
        free(union_find_parents);
        return -ENOMEM;
    }
    for (size_t t = 0; t < triangle_count; t++) {
        union_find_parents[t] = (uint32_t)t;
    }
    size_t n = list_mesh_half_edges(triangles, triangle_count, sorted_half_edges);
    qsort(sorted_half_edges, n, sizeof *sorted_half_edges, compare_half_edges);
    count_edge_defects(sorted_half_edges, n, union_find_parents, defects);
    count_degenerate_triangles(vertices, triangles, triangle_count, defects);
    for (size_t t = 0; t < triangle_count; t++) {
        defects->components += union_find_parents[t] == (uint32_t)t;
    }
    free(sorted_half_edges);
    free(union_find_parents);
    return 0;
}

static int is_closed_surface(const struct tact_mesh_defects *d)
{
    return !d->boundary_edges && !d->nonmanifold_edges && !d->misoriented_edges;
}

int tact_mesh_inspect(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                      size_t triangle_count, struct tact_mesh_defects *defects)
{
    memset(defects, 0, sizeof *defects);
    for (size_t i = 0; i < 3 * triangle_count; i++) {
        if (triangles[i] >= vertex_count) {
            return -EINVAL;
        }
    }
    double *v = calloc(3 * vertex_count + 1, sizeof *v);
    uint32_t *t = calloc(3 * triangle_count + 1, sizeof *t);
    int rc = v && t ? 0 : -ENOMEM;
    if (rc == 0) {
        memcpy(v, vertices, 3 * vertex_count * sizeof *v);
        memcpy(t, triangles, 3 * triangle_count * sizeof *t);
        rc = tact_mesh_merge_equal_vertices(v, &vertex_count, t, triangle_count);
    }
    if (rc == 0) {
        rc = tact_mesh_count_defects(v, vertex_count, t, triangle_count, defects);
    }
    if (rc == 0 && triangle_count) {
        struct tact_mesh mesh = {.vertex_count = vertex_count,
                                 .vertices = v,
                                 .triangle_count = triangle_count,
                                 .triangles = t};
        rc = tact_mesh_build_tree(&mesh);
        rc = rc ? rc : tact_mesh_count_crossings(&mesh, defects);
        defects->misplaced = is_closed_surface(defects) ? defects->misplaced : 0;
        t = mesh.triangles;
        free(mesh.nodes);
    }
    free(v);
    free(t);
    return rc;
}
