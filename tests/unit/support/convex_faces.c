/* Hulls as vertices, normals and edges, and all faces of the difference of two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "convex_program.h"

/* Number of grid cells of [-1, 1]^3 along each axis; they sort the arcs on the unit sphere. */
enum { CELLS = 24, ALL_CELLS = CELLS * CELLS * CELLS };

struct convex_mesh_half_edge {
    uint32_t low, high;
    int triangle;
};

static int compare_half_edges(const void *p, const void *q)
{
    const struct convex_mesh_half_edge *a = p, *b = q;
    return a->low != b->low     ? (a->low < b->low ? -1 : 1)
           : a->high != b->high ? (a->high < b->high ? -1 : 1)
                                : 0;
}

/* Edges of a closed mesh: half-edges, sorted so that the two of each edge are neighbours. */
static struct convex_mesh_half_edge *sort_half_edges(const struct tact_mesh *m)
{
    const size_t count = 3 * m->triangle_count;
    struct convex_mesh_half_edge *out = calloc(count, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const uint32_t p = m->triangles[i], q = m->triangles[i - i % 3 + (i + 1) % 3];
        out[i] = (struct convex_mesh_half_edge){p < q ? p : q, p < q ? q : p, (int)(i / 3)};
    }
    qsort(out, count, sizeof *out, compare_half_edges);
    return out;
}

struct reference_hull make_reference_hull(const struct tact_mesh *m)
{
    struct convex_mesh_half_edge *half = sort_half_edges(m);
    struct reference_hull h = {(int)m->vertex_count,
                               (int)m->triangle_count,
                               0,
                               calloc(m->vertex_count, sizeof *h.vertex),
                               calloc(m->triangle_count, sizeof *h.normal),
                               calloc(2 * m->triangle_count, sizeof *h.edge)};
    memcpy(h.vertex, m->vertices, m->vertex_count * sizeof *h.vertex);
    for (int t = 0; t < h.faces; t++) {
        const uint32_t *c = m->triangles + 3 * t;
        double u[3], v[3];
        tact_v3_sub(u, h.vertex[c[1]], h.vertex[c[0]]);
        tact_v3_sub(v, h.vertex[c[2]], h.vertex[c[0]]);
        tact_v3_cross(h.normal[t], u, v);
        tact_v3_normalize(h.normal[t], h.normal[t]);
    }
    for (int i = 0; i < 3 * h.faces; i += 2) {
        struct hull_edge *e = &h.edge[h.edges++];
        e->vertex = (int)half[i].low;
        tact_v3_sub(e->along, h.vertex[half[i].high], h.vertex[half[i].low]);
        tact_v3_copy(e->normal[0], h.normal[half[i].triangle]);
        tact_v3_copy(e->normal[1], h.normal[half[i + 1].triangle]);
    }
    free(half);
    return h;
}

void free_reference_hull(struct reference_hull *h)
{
    free(h->vertex);
    free(h->normal);
    free(h->edge);
}

void place_reference_hull(const struct reference_hull *h, const struct tact_pose *pose,
                          const double origin[3], struct reference_hull *out)
{
    double turned[9], apart[3];
    tact_quat_to_m3(turned, pose->quat_wxyz);
    tact_v3_sub(apart, pose->position, origin);
    out->vertices = h->vertices;
    out->faces = h->faces;
    out->edges = h->edges;
    for (int i = 0; i < h->vertices; i++) {
        tact_m3_mul_v3(out->vertex[i], turned, h->vertex[i]);
        tact_v3_add(out->vertex[i], out->vertex[i], apart);
    }
    for (int i = 0; i < h->faces; i++) {
        tact_m3_mul_v3(out->normal[i], turned, h->normal[i]);
    }
    for (int i = 0; i < h->edges; i++) {
        out->edge[i].vertex = h->edge[i].vertex;
        tact_m3_mul_v3(out->edge[i].along, turned, h->edge[i].along);
        tact_m3_mul_v3(out->edge[i].normal[0], turned, h->edge[i].normal[0]);
        tact_m3_mul_v3(out->edge[i].normal[1], turned, h->edge[i].normal[1]);
    }
}

/* Index of the hull's vertex v of least n.v; *value gets that n.v. */
static int find_vertex_of_least_projection(const struct reference_hull *h, const double n[3],
                                           double *value)
{
    double least = INFINITY;
    int at = 0;
    for (int i = 0; i < h->vertices; i++) {
        const double up = tact_v3_dot(n, h->vertex[i]);
        if (up < least) {
            least = up;
            at = i;
        }
    }
    *value = least;
    return at;
}

double gap_of_hulls_along_normal(const struct reference_hull *a, const struct reference_hull *b,
                                 const double n[3])
{
    double back[3], least, most;
    tact_v3_scale(back, n, -1.0);
    find_vertex_of_least_projection(a, n, &least);
    find_vertex_of_least_projection(b, back, &most);
    return least + most;
}

/* The greatest gap of two hulls found so far, and a vertex of each hull from which the next search
 * starts. */
struct greatest_gap {
    double gap;
    int vertex_of_a, vertex_of_b;
};

/* Raises the greatest gap to the gap along n. Any two vertices bound the gap along n from above, so
 * that most normals need no search. */
static void update_greatest_gap_by_normal(const struct reference_hull *a,
                                          const struct reference_hull *b, const double n[3],
                                          struct greatest_gap *best)
{
    double apart[3], back[3], least, most;
    tact_v3_sub(apart, a->vertex[best->vertex_of_a], b->vertex[best->vertex_of_b]);
    if (tact_v3_dot(n, apart) <= best->gap) {
        return;
    }
    tact_v3_scale(back, n, -1.0);
    best->vertex_of_a = find_vertex_of_least_projection(a, n, &least);
    best->vertex_of_b = find_vertex_of_least_projection(b, back, &most);
    best->gap = fmax(best->gap, least + most);
}

/* The grid cells that the arc between an edge's two face normals crosses (sign -1: the reversed
 * normals): first and last cell along each axis. */
static void grid_cells_crossed_by_arc(const struct hull_edge *e, double sign, int from[3],
                                      int to[3])
{
    /* cos^2 of half the arc */
    const double half = 0.5 * tact_v3_dot(e->normal[0], e->normal[1]) + 0.5;
    const double normal_arc_sagitta = 1.0 - sqrt(fmax(half, 0.0)) + 1e-6;
    for (int k = 0; k < 3; k++) {
        const double p = sign * e->normal[0][k], q = sign * e->normal[1][k];
        from[k] = (int)floor((fmin(p, q) - normal_arc_sagitta + 1.0) * 0.5 * CELLS);
        to[k] = (int)floor((fmax(p, q) + normal_arc_sagitta + 1.0) * 0.5 * CELLS);
        from[k] = from[k] < 0 ? 0 : from[k];
        to[k] = to[k] >= CELLS ? CELLS - 1 : to[k];
    }
}

/* Whether the arcs of B's and of A's reversed normals cross, or come within rounding of it. */
static int do_normal_arcs_cross(const struct hull_edge *a, const struct hull_edge *b)
{
    const double rounding_tolerance = 1e-12;
    double ab[3], cd[3];
    tact_v3_cross(ab, a->normal[0], a->normal[1]);
    tact_v3_cross(cd, b->normal[0], b->normal[1]);
    const double c = -tact_v3_dot(b->normal[0], ab), d = -tact_v3_dot(b->normal[1], ab);
    const double e = tact_v3_dot(a->normal[0], cd), f = tact_v3_dot(a->normal[1], cd);
    return fmin(c, d) < rounding_tolerance && fmax(c, d) > -rounding_tolerance &&
           fmin(e, f) < rounding_tolerance && fmax(e, f) > -rounding_tolerance;
}

/* Raises the greatest gap to that along the common normal of two edges. Where the edges' arcs do
 * not really cross, that gap is smaller and changes nothing. */
static void update_greatest_gap_by_edge_normal(const struct reference_hull *a,
                                               const struct reference_hull *b,
                                               const struct hull_edge *of_a,
                                               const struct hull_edge *of_b,
                                               struct greatest_gap *best)
{
    double n[3], outward[3];
    tact_v3_cross(n, of_a->along, of_b->along);
    if (!(tact_v3_normalize(n, n) > 0.0)) {
        return;
    }
    tact_v3_add(outward, of_b->normal[0], of_b->normal[1]);
    tact_v3_scale(n, n, tact_v3_dot(n, outward) < 0.0 ? -1.0 : 1.0);
    best->vertex_of_a = of_a->vertex;
    best->vertex_of_b = of_b->vertex;
    update_greatest_gap_by_normal(a, b, n, best);
}

/* The edges of B by the cells of their arcs: those of cell c are list[first[c]] to list[first[c +
 * 1] - 1]. */
static int *list_edges_by_grid_cell(const struct reference_hull *b, int first[ALL_CELLS + 1])
{
    int *list = NULL;
    memset(first, 0, (ALL_CELLS + 1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < b->edges; k++) {
            int from[3], to[3];
            grid_cells_crossed_by_arc(&b->edge[k], 1.0, from, to);
            for (int x = from[0]; x <= to[0]; x++) {
                for (int y = from[1]; y <= to[1]; y++) {
                    for (int z = from[2]; z <= to[2]; z++) {
                        const int cell = (x * CELLS + y) * CELLS + z;
                        if (pass) {
                            list[--first[cell]] = k;
                        } else {
                            first[cell]++;
                        }
                    }
                }
            }
        }
        for (int c = 1; !pass && c <= ALL_CELLS; c++) {
            first[c] += first[c - 1];
        }
        list = pass ? list : calloc((size_t)first[ALL_CELLS] + 1, sizeof *list);
    }
    return list;
}

double greatest_gap_of_hulls(const struct reference_hull *a, const struct reference_hull *b)
{
    static int first[ALL_CELLS + 1];
    struct greatest_gap best = {-INFINITY, 0, 0};
    for (int i = 0; i < a->faces + b->faces; i++) {
        double n[3];
        tact_v3_scale(n, i < a->faces ? a->normal[i] : b->normal[i - a->faces],
                      i < a->faces ? -1.0 : 1.0);
        update_greatest_gap_by_normal(a, b, n, &best);
    }
    int *list = list_edges_by_grid_cell(b, first);
    for (int i = 0; i < a->edges; i++) {
        int from[3], to[3];
        grid_cells_crossed_by_arc(&a->edge[i], -1.0, from, to);
        for (int x = from[0]; x <= to[0]; x++) {
            for (int y = from[1]; y <= to[1]; y++) {
                const int row = (x * CELLS + y) * CELLS;
                for (int k = first[row + from[2]]; k < first[row + to[2] + 1]; k++) {
                    if (do_normal_arcs_cross(&a->edge[i], &b->edge[list[k]])) {
                        update_greatest_gap_by_edge_normal(a, b, &a->edge[i], &b->edge[list[k]],
                                                           &best);
                    }
                }
            }
        }
    }
    free(list);
    return best.gap;
}
