/* Self-intersection of a closed surface: triangles against triangles through the tree, and
 * components against components by winding numbers. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contact/vec.h"

/* Displacement of a mesh's components against each other, relative to its size: for coincident
 * faces, edges and corners it separates overlap from mere contact. */
static const double COMPONENT_PERTURBATION_RATIO = 1e-9;

/* Two components whose triangles cross: the smaller index in the high half. */
struct crossing_component_pair {
    uint64_t pair;
    size_t crossings; /* number of pairs of their triangles that cross */
};

/* List of pairs of components. */
struct crossings {
    struct crossing_component_pair *pairs;
    size_t count, capacity;
};

/* A search for crossings: the mesh with its vertices as given, or displaced by component. */
struct triangle_crossing_search {
    const struct tact_mesh *mesh;
    const double *vertices;
    const uint32_t *component_of_vertex;     /* index of the connected component of each vertex */
    double triangle_box_margin;              /* enlargement of boxes [m] */
    int counts_crossings_between_components; /* 1: crossings of triangles of different components
                                                are counted; 0: those within a component */
    struct crossings
        *component_crossings; /* where crossings between components are listed, or NULL */
    struct crossings *only_component_pairs_to_count; /* crossings that are counted, each once,
                                                        ascending; NULL: all */
    size_t count; /* the search ends above TACT_MESH_CROSSINGS_MAX */
    int rc;       /* 0, or -ENOMEM */
};

/* Six times the signed volume of the tetrahedron a b c p, or 0 if rounding hides its sign. */
static double sixfold_signed_tetrahedron_volume(const double *a, const double *b, const double *c,
                                                const double *p)
{
    double u[3], v[3], w[3], n[3], size = 0.0;
    tact_v3_sub(u, a, p);
    tact_v3_sub(v, b, p);
    tact_v3_sub(w, c, p);
    tact_v3_cross(n, u, v);
    double det = tact_v3_dot(n, w);
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        size += fabs(w[k]) * (fabs(u[y] * v[z]) + fabs(u[z] * v[y]));
    }
    if (fabs(det) > 16.0 * DBL_EPSILON * size) {
        return det;
    }
    long double lu[3], lv[3], lw[3], fine = 0.0L;
    for (int k = 0; k < 3; k++) {
        lu[k] = (long double)a[k] - p[k];
        lv[k] = (long double)b[k] - p[k];
        lw[k] = (long double)c[k] - p[k];
    }
    for (int k = 0; k < 3; k++) {
        int y = (k + 1) % 3, z = (k + 2) % 3;
        fine += lw[k] * (lu[y] * lv[z] - lu[z] * lv[y]);
    }
    return fabsl(fine) > 16.0L * LDBL_EPSILON * (long double)size ? (double)fine : 0.0;
}

static int have_opposite_nonzero_signs(double a, double b)
{
    return (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0);
}

/* Whether a segment passes through the interior of a triangle. */
static int segment_pierces_triangle(const double *p, const double *q, const double *const t[3])
{
    if (!have_opposite_nonzero_signs(sixfold_signed_tetrahedron_volume(t[0], t[1], t[2], p),
                                     sixfold_signed_tetrahedron_volume(t[0], t[1], t[2], q))) {
        return 0;
    }
    double s0 = sixfold_signed_tetrahedron_volume(p, q, t[0], t[1]),
           s1 = sixfold_signed_tetrahedron_volume(p, q, t[1], t[2]);
    double s2 = sixfold_signed_tetrahedron_volume(p, q, t[2], t[0]);
    return (s0 > 0.0 && s1 > 0.0 && s2 > 0.0) || (s0 < 0.0 && s1 < 0.0 && s2 < 0.0);
}

/* Whether an edge of s without a common corner with t passes through t. */
static int edge_pierces_triangle(const uint32_t *is, const double *const s[3], const uint32_t *it,
                                 const double *const t[3])
{
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, has_common_corner = 0;
        for (int j = 0; j < 3; j++) {
            has_common_corner |= is[k] == it[j] || is[l] == it[j];
        }
        if (!has_common_corner && segment_pierces_triangle(s[k], s[l], t)) {
            return 1;
        }
    }
    return 0;
}

/* Whether two triangles cross other than at common corners. */
static int do_triangles_cross(const struct triangle_crossing_search *f, size_t i, size_t j)
{
    const uint32_t *is = f->mesh->triangles + 3 * i, *it = f->mesh->triangles + 3 * j;
    const double *s[3], *t[3];
    if (f->counts_crossings_between_components ==
        (f->component_of_vertex[is[0]] == f->component_of_vertex[it[0]])) {
        return 0;
    }
    for (int k = 0; k < 3; k++) {
        s[k] = f->vertices + 3 * (size_t)is[k];
        t[k] = f->vertices + 3 * (size_t)it[k];
    }
    for (int k = 0; k < 3; k++) {
        double lowest_coordinate_of_triangle_s = fmin(s[0][k], fmin(s[1][k], s[2][k]));
        double highest_coordinate_of_triangle_s = fmax(s[0][k], fmax(s[1][k], s[2][k]));
        double lowest_coordinate_of_triangle_t = fmin(t[0][k], fmin(t[1][k], t[2][k]));
        double highest_coordinate_of_triangle_t = fmax(t[0][k], fmax(t[1][k], t[2][k]));
        if (lowest_coordinate_of_triangle_s > highest_coordinate_of_triangle_t ||
            lowest_coordinate_of_triangle_t > highest_coordinate_of_triangle_s) {
            return 0;
        }
    }
    return edge_pierces_triangle(is, s, it, t) || edge_pierces_triangle(it, t, is, s);
}

static int compare_component_pairs(const void *a, const void *b)
{
    const struct crossing_component_pair *x = a, *y = b;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

static int append_component_pair(struct crossings *c, uint64_t pair)
{
    if (c->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct crossing_component_pair *resized_component_pairs =
            realloc(c->pairs, capacity * sizeof *resized_component_pairs);
        if (!resized_component_pairs) {
            return -ENOMEM;
        }
        c->pairs = resized_component_pairs;
        c->capacity = capacity;
    }
    c->pairs[c->count++] = (struct crossing_component_pair){pair, 1};
    return 0;
}

static void count_triangle_crossing(struct triangle_crossing_search *f, size_t i, size_t j)
{
    uint64_t a = f->component_of_vertex[f->mesh->triangles[3 * i]];
    uint64_t b = f->component_of_vertex[f->mesh->triangles[3 * j]];
    const struct crossing_component_pair key = {a < b ? a << 32 | b : b << 32 | a, 0};
    if (f->only_component_pairs_to_count) {
        struct crossing_component_pair *of =
            f->only_component_pairs_to_count->count
                ? bsearch(&key, f->only_component_pairs_to_count->pairs,
                          f->only_component_pairs_to_count->count, sizeof key,
                          compare_component_pairs)
                : NULL;
        if (!of || !of->crossings) {
            return;
        }
        of->crossings--;
    } else if (f->component_crossings) {
        f->rc = append_component_pair(f->component_crossings, key.pair);
    }
    f->count++;
}

static int do_node_boxes_overlap(const struct triangle_crossing_search *f,
                                 const struct tact_mesh_node *a, const struct tact_mesh_node *b)
{
    for (int k = 0; k < 3; k++) {
        if (a->lower[k] > b->upper[k] + f->triangle_box_margin ||
            b->lower[k] > a->upper[k] + f->triangle_box_margin) {
            return 0;
        }
    }
    return 1;
}

/* Finds the crossing triangle pairs below two nodes of the tree, or below one. Recursive: the tree
 * is shallow. */
static void find_crossings_below_nodes(struct triangle_crossing_search *f, uint32_t i, uint32_t j)
{
    const struct tact_mesh_node *a = &f->mesh->nodes[i], *b = &f->mesh->nodes[j];
    if (f->rc || f->count > TACT_MESH_CROSSINGS_MAX ||
        (i != j && !do_node_boxes_overlap(f, a, b))) {
        return;
    }
    if (a->count && b->count) {
        for (uint32_t s = a->first; s < a->first + a->count; s++) {
            for (uint32_t t = i == j ? s + 1 : b->first; t < b->first + b->count; t++) {
                if (do_triangles_cross(f, s, t)) {
                    count_triangle_crossing(f, s, t);
                }
            }
        }
    } else if (i == j) {
        find_crossings_below_nodes(f, a->first, a->first);
        find_crossings_below_nodes(f, a->first + 1, a->first + 1);
        find_crossings_below_nodes(f, a->first, a->first + 1);
    } else if (b->count || (!a->count && a->upper[0] - a->lower[0] > b->upper[0] - b->lower[0])) {
        find_crossings_below_nodes(f, a->first, j);
        find_crossings_below_nodes(f, a->first + 1, j);
    } else {
        find_crossings_below_nodes(f, i, b->first);
        find_crossings_below_nodes(f, i, b->first + 1);
    }
}

/* Labels vertices by connected components, from 0 in the order of their first vertices; returns
 * the number of components. */
static uint32_t label_components(const struct tact_mesh *mesh, uint32_t *component_of_vertex)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        component_of_vertex[i] = i;
    }
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++) {
        uint32_t a = mesh->triangles[i], b = mesh->triangles[i - i % 3];
        while (component_of_vertex[a] != a) {
            a = component_of_vertex[a] = component_of_vertex[component_of_vertex[a]];
        }
        while (component_of_vertex[b] != b) {
            b = component_of_vertex[b] = component_of_vertex[component_of_vertex[b]];
        }
        component_of_vertex[a > b ? a : b] = a > b ? b : a;
    }
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        component_of_vertex[i] =
            component_of_vertex[i] == i ? count++ : component_of_vertex[component_of_vertex[i]];
    }
    return count;
}

/* Direction of a component's perturbation along an axis: a deterministic value from -1 to 1. */
static double mesh_component_perturbation(uint32_t mesh_component_index, int axis)
{
    double x = (mesh_component_index + 1.0) * (axis == 0   ? 0.754877666
                                               : axis == 1 ? 0.569840291
                                                           : 0.819172513);
    return 2.0 * (x - floor(x)) - 1.0;
}

/* Sorts a list and joins its equal pairs. */
static void remove_duplicate_component_pairs(struct crossings *c)
{
    size_t distinct_component_pair_count = 0;
    if (c->count) {
        qsort(c->pairs, c->count, sizeof *c->pairs, compare_component_pairs);
    }
    for (size_t i = 0; i < c->count; i++) {
        if (distinct_component_pair_count &&
            c->pairs[distinct_component_pair_count - 1].pair == c->pairs[i].pair) {
            c->pairs[distinct_component_pair_count - 1].crossings++;
        } else {
            c->pairs[distinct_component_pair_count++] = c->pairs[i];
        }
    }
    c->count = distinct_component_pair_count;
}

/* Counts crossings between components displaced by +- a perturbation: components that overlap
 * cross for both signs, components that touch for at most one. So of each pair of components the
 * crossings for the second sign count, up to the number for the first. A mesh that exceeds the
 * limit for the first is not searched for the second. */
static int count_perturbed_crossings(struct triangle_crossing_search *f, size_t *crossings)
{
    size_t n = f->mesh->vertex_count;
    struct crossings component_crossings = {0};
    const double *vertices = f->vertices;
    double *vertices_displaced_by_component =
        malloc(3 * n * sizeof *vertices_displaced_by_component);
    f->rc = vertices_displaced_by_component ? 0 : -ENOMEM;
    f->counts_crossings_between_components = 1;
    f->component_crossings = &component_crossings;
    f->count = 0;
    for (int way = 0; way < 2 && !f->rc && f->count <= TACT_MESH_CROSSINGS_MAX; way++) {
        for (size_t i = 0; i < 3 * n; i++) {
            double by = (way ? 0.5 : -0.5) * f->triangle_box_margin *
                        mesh_component_perturbation(f->component_of_vertex[i / 3], (int)(i % 3));
            vertices_displaced_by_component[i] = vertices[i] + by;
        }
        f->vertices = vertices_displaced_by_component;
        f->only_component_pairs_to_count = way ? &component_crossings : NULL;
        f->count = 0;
        find_crossings_below_nodes(f, 0, 0);
        remove_duplicate_component_pairs(&component_crossings);
    }
    f->vertices = vertices;
    f->component_crossings = f->only_component_pairs_to_count = NULL;
    *crossings = f->rc ? 0 : f->count;
    free(vertices_displaced_by_component);
    free(component_crossings.pairs);
    return f->rc;
}

/* Side of the projected line from a to b on which a point lies; it is the same for both triangles
 * of the edge. */
static int side_of_projected_line(const double *a, const double *b, const double *p)
{
    int is_edge_direction_reversed = a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
    const double *low = is_edge_direction_reversed ? b : a,
                 *high = is_edge_direction_reversed ? a : b;
    double area = (high[0] - low[0]) * (p[1] - low[1]) - (high[1] - low[1]) * (p[0] - low[0]);
    return (area >= 0.0) != is_edge_direction_reversed;
}

/* Winding number of the other components about a point: signed crossings of the ray along +z. */
static int winding_number_of_components(const struct triangle_crossing_search *f, uint32_t node,
                                        const double p[3], uint32_t own)
{
    const struct tact_mesh_node *n = &f->mesh->nodes[node];
    int w = 0;
    if (p[0] < n->lower[0] || p[0] > n->upper[0] || p[1] < n->lower[1] || p[1] > n->upper[1] ||
        p[2] > n->upper[2]) {
        return 0;
    }
    if (!n->count) {
        return winding_number_of_components(f, n->first, p, own) +
               winding_number_of_components(f, n->first + 1, p, own);
    }
    for (uint32_t t = n->first; t < n->first + n->count; t++) {
        const uint32_t *v = f->mesh->triangles + 3 * (size_t)t;
        const double *a = f->vertices + 3 * (size_t)v[0], *b = f->vertices + 3 * (size_t)v[1];
        const double *c = f->vertices + 3 * (size_t)v[2];
        int side_of_point_at_first_edge = side_of_projected_line(a, b, p);
        if (f->component_of_vertex[v[0]] == own ||
            side_of_projected_line(b, c, p) != side_of_point_at_first_edge ||
            side_of_projected_line(c, a, p) != side_of_point_at_first_edge) {
            continue;
        }
        double sixfold_volume_of_triangle_and_point = sixfold_signed_tetrahedron_volume(a, b, c, p);
        w += side_of_point_at_first_edge && sixfold_volume_of_triangle_and_point > 0.0    ? 1
             : !side_of_point_at_first_edge && sixfold_volume_of_triangle_and_point < 0.0 ? -1
                                                                                          : 0;
    }
    return w;
}

/* Counts misplaced components: a solid must lie outside all others, a cavity (inside out) inside
 * exactly one. For components that do not cross, one triangle decides; triangles that lie on
 * another component's face are skipped. */
static int count_wrongly_nested_components(const struct triangle_crossing_search *f,
                                           uint32_t components, size_t *misplaced)
{
    const struct tact_mesh *m = f->mesh;
    double *volume = calloc(components, sizeof *volume);
    unsigned char *is_properly_nested = calloc(components, sizeof *is_properly_nested);
    if (!volume || !is_properly_nested) {
        free(volume);
        free(is_properly_nested);
        return -ENOMEM;
    }
    for (size_t t = 0; t < m->triangle_count; t++) {
        const uint32_t *v = m->triangles + 3 * t;
        double n[3];
        tact_v3_cross(n, f->vertices + 3 * (size_t)v[0], f->vertices + 3 * (size_t)v[1]);
        volume[f->component_of_vertex[v[0]]] += tact_v3_dot(n, f->vertices + 3 * (size_t)v[2]);
    }
    *misplaced = components;
    for (size_t t = 0; t < m->triangle_count && *misplaced; t++) {
        const uint32_t *v = m->triangles + 3 * t, c = f->component_of_vertex[v[0]];
        double p[3];
        /* The test point is inside the triangle, off its lines of symmetry. */
        for (int k = 0; k < 3; k++) {
            p[k] = 0.41 * f->vertices[3 * (size_t)v[0] + (size_t)k] +
                   0.33 * f->vertices[3 * (size_t)v[1] + (size_t)k] +
                   0.26 * f->vertices[3 * (size_t)v[2] + (size_t)k];
        }
        if (!is_properly_nested[c] &&
            winding_number_of_components(f, 0, p, c) == (volume[c] < 0.0)) {
            is_properly_nested[c] = 1;
            (*misplaced)--;
        }
    }
    free(volume);
    free(is_properly_nested);
    return 0;
}

int tact_mesh_count_crossings(const struct tact_mesh *mesh, struct tact_mesh_defects *defects)
{
    double size = 0.0;
    uint32_t *component_of_vertex = malloc(mesh->vertex_count * sizeof *component_of_vertex);
    if (!component_of_vertex) {
        return -ENOMEM;
    }
    for (int k = 0; k < 3; k++) {
        size = fmax(size, mesh->nodes[0].upper[k] - mesh->nodes[0].lower[k]);
    }
    uint32_t components = label_components(mesh, component_of_vertex);
    struct triangle_crossing_search f = {
        .mesh = mesh, .vertices = mesh->vertices, .component_of_vertex = component_of_vertex};
    find_crossings_below_nodes(&f, 0, 0);
    size_t crossings = f.count, crossings_when_perturbed = 0;
    int rc = f.rc;
    defects->misplaced = 0;
    if (components > 1 && !rc && crossings <= TACT_MESH_CROSSINGS_MAX) {
        f.triangle_box_margin = 2.0 * COMPONENT_PERTURBATION_RATIO * size;
        rc = count_perturbed_crossings(&f, &crossings_when_perturbed);
        crossings += crossings_when_perturbed;
    }
    if (components > 1 && !rc && crossings <= TACT_MESH_CROSSINGS_MAX) {
        rc = count_wrongly_nested_components(&f, components, &defects->misplaced);
    }
    defects->crossings =
        crossings <= TACT_MESH_CROSSINGS_MAX ? crossings : TACT_MESH_CROSSINGS_MAX + 1;
    free(component_of_vertex);
    return rc;
}
