/*
 * Builds the lattice about a mesh: the crossings of its lines with the surface, and which nodes are
 * inside.
 *
 * Whether a line crosses a triangle is decided by the three edges of the triangle, in the plane
 * perpendicular to the line: one coordinate of their ends is compared exactly, and the other
 * coordinate of the crossing is computed from the vertex with the smaller index. Two triangles with
 * a common edge therefore agree. As the mesh is closed, each line crosses it an even number of
 * times.
 */
#include "contact/pair/field/lattice_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"

/* Distance from the surface below which a node counts as on it, in lattice steps. */
#define ON_SURFACE_DISTANCE_IN_STEPS 1e-6

static int init_lattice(const struct tact_mesh *mesh, double cell, double most, struct lattice *l)
{
    const struct tact_mesh_node *bounds = &mesh->nodes[0];
    double nodes = 1.0;
    for (int k = 0; k < 3; k++) {
        double side = bounds->upper[k] - bounds->lower[k];
        double lattice_blocks_along_axis =
            tact_max(ceil(side / (LATTICE_BLOCK * cell) - 1e-9), 1.0);
        nodes *= LATTICE_BLOCK * lattice_blocks_along_axis + 2 * LATTICE_PAD + 1;
        if (!(nodes <= most)) {
            return -EDOM;
        }
        int cells = LATTICE_BLOCK * (int)lattice_blocks_along_axis;
        l->step[k] = side / cells;
        l->origin[k] = bounds->lower[k] - LATTICE_PAD * l->step[k];
        l->nodes[k] = cells + 2 * LATTICE_PAD + 1;
        l->stride[k] = k ? l->stride[k - 1] * (size_t)l->nodes[k - 1] : 1;
    }
    l->count = l->stride[2] * (size_t)l->nodes[2];
    l->mesh = mesh;
    return 0;
}

/* A triangle projected along `axis` for its crossings with the lattice lines; across: the other two
 * axes. */
struct triangle_projected_on_lattice {
    const struct lattice *l;
    int axis, across[2];
    uint32_t vertex[3];
    double x[3][3]; /* coordinates of the triangle's vertices [steps] */
};

/* Intersects the edges of a projected triangle with the line of second coordinate v: `ends` are the
 * two values of the first coordinate, ascending. Returns 0 where there are none. */
static int find_edge_crossings_at(const struct triangle_projected_on_lattice *c, double v,
                                  double ends[2])
{
    int count = 0;
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int i = 0; i < 3; i++) {
        int from = i, to = (i + 1) % 3;
        if (c->vertex[from] > c->vertex[to]) {
            from = to;
            to = i;
        }
        const double *p = c->x[from], *q = c->x[to];
        double pv = p[c->across[1]], qv = q[c->across[1]];
        if ((pv > v) != (qv > v)) {
            double at =
                p[c->across[0]] + (v - pv) / (qv - pv) * (q[c->across[0]] - p[c->across[0]]);
            ends[0] = tact_min(ends[0], at);
            ends[1] = tact_max(ends[1], at);
            count++;
        }
    }
    return count;
}

/* Coordinate along the axis of the point of the triangle's plane at (u, v), within the range of its
 * vertices [steps]. */
static double coordinate_on_triangle_plane(const struct triangle_projected_on_lattice *c, double u,
                                           double v)
{
    double e[3], f[3], n[3];
    const double *p = c->x[0];
    tact_v3_sub(e, c->x[1], p);
    tact_v3_sub(f, c->x[2], p);
    tact_v3_cross(n, e, f);
    double least = tact_min(tact_min(p[c->axis], c->x[1][c->axis]), c->x[2][c->axis]);
    double most = tact_max(tact_max(p[c->axis], c->x[1][c->axis]), c->x[2][c->axis]);
    double slope =
        n[c->across[0]] * (u - p[c->across[0]]) + n[c->across[1]] * (v - p[c->across[1]]);
    double at = p[c->axis] - (n[c->axis] != 0.0 ? slope / n[c->axis] : 0.0);
    return tact_min(tact_max(at, least), most);
}

static size_t index_of_lattice_line(const struct triangle_projected_on_lattice *c, int u, int v)
{
    return (size_t)v * (size_t)c->l->nodes[c->across[0]] + (size_t)u;
}

/* Counts the crossings of a triangle with the lattice lines where lines->at is NULL; otherwise adds
 * them to the lists of the lines, which are filled from their ends. */
static void add_triangle_crossings(const struct triangle_projected_on_lattice *c, uint32_t triangle,
                                   struct lattice_lines *lines)
{
    double least = INFINITY, most = -INFINITY, ends[2];
    for (int i = 0; i < 3; i++) {
        least = tact_min(least, c->x[i][c->across[1]]);
        most = tact_max(most, c->x[i][c->across[1]]);
    }
    for (int v = (int)ceil(least); v <= most; v++) {
        if (!find_edge_crossings_at(c, v, ends)) {
            continue;
        }
        for (int u = (int)ceil(ends[0]); u < ends[1]; u++) {
            size_t line = index_of_lattice_line(c, u, v);
            if (!lines->at) {
                lines->first[line + 1]++;
            } else {
                uint32_t place = --lines->first[line + 1];
                lines->at[place] = coordinate_on_triangle_plane(c, u, v);
                lines->triangle[place] = triangle;
            }
        }
    }
}

static void add_all_triangle_crossings(const struct lattice *l, int axis,
                                       struct lattice_lines *lines)
{
    struct triangle_projected_on_lattice c = {
        .l = l, .axis = axis, .across = {(axis + 1) % 3, (axis + 2) % 3}};
    for (size_t i = 0; i < l->mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            c.vertex[k] = l->mesh->triangles[3 * i + (size_t)k];
            const double *p = l->mesh->vertices + 3 * (size_t)c.vertex[k];
            for (int d = 0; d < 3; d++) {
                c.x[k][d] = (p[d] - l->origin[d]) / l->step[d];
            }
        }
        add_triangle_crossings(&c, (uint32_t)i, lines);
    }
}

/* Sorts the crossings of a line by coordinate, then by triangle; by insertion, as there are few. */
static void sort_line_crossings(struct lattice_lines *lines, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++) {
        double at = lines->at[i];
        uint32_t triangle = lines->triangle[i], k = i;
        for (; k > from && (lines->at[k - 1] > at ||
                            (lines->at[k - 1] == at && lines->triangle[k - 1] > triangle));
             k--) {
            lines->at[k] = lines->at[k - 1];
            lines->triangle[k] = lines->triangle[k - 1];
        }
        lines->at[k] = at;
        lines->triangle[k] = triangle;
    }
}

static int find_line_crossings(const struct lattice *l, int axis, struct lattice_lines *lines)
{
    size_t count = l->count / (size_t)l->nodes[axis];
    lines->first = calloc(count + 2, sizeof *lines->first);
    if (!lines->first) {
        return -ENOMEM;
    }
    add_all_triangle_crossings(l, axis, lines);
    for (size_t i = 0; i < count; i++) {
        lines->first[i + 1] += lines->first[i];
    }
    size_t triangle_crossing_count = lines->first[count];
    lines->at = malloc((triangle_crossing_count + 1) * sizeof *lines->at);
    lines->triangle = malloc((triangle_crossing_count + 1) * sizeof *lines->triangle);
    if (!lines->at || !lines->triangle) {
        return -ENOMEM;
    }
    /* fills the list of each line from its end: first[i + 1] moves down to the beginning of list i
     */
    add_all_triangle_crossings(l, axis, lines);
    memmove(lines->first, lines->first + 1, count * sizeof *lines->first);
    lines->first[count] = (uint32_t)triangle_crossing_count;
    for (size_t i = 0; i < count; i++) {
        sort_line_crossings(lines, lines->first[i], lines->first[i + 1]);
    }
    return 0;
}

/* Index of the first node of a lattice line. */
static size_t first_node_of_line(const struct lattice *l, int axis, size_t line)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    size_t per = (size_t)l->nodes[u];
    return line % per * l->stride[u] + line / per * l->stride[v];
}

/* Marks the nodes inside: those between the first and the second crossing of a line, the third and
 * the fourth, ... */
static void mark_lattice_nodes_inside(struct lattice *l)
{
    const struct lattice_lines *lines = &l->lines[0];
    for (size_t line = 0; line < l->count / (size_t)l->nodes[0]; line++) {
        size_t start = first_node_of_line(l, 0, line);
        for (uint32_t i = lines->first[line]; i + 1 < lines->first[line + 1]; i += 2) {
            for (int k = (int)ceil(lines->at[i]); k <= lines->at[i + 1]; k++) {
                l->kind[start + (size_t)k] = LATTICE_NODE_INSIDE_SOLID;
            }
        }
    }
}

static void mark_surface_nodes(struct lattice *l, int axis)
{
    const struct lattice_lines *lines = &l->lines[axis];
    for (size_t line = 0; line < l->count / (size_t)l->nodes[axis]; line++) {
        size_t start = first_node_of_line(l, axis, line);
        for (uint32_t i = lines->first[line]; i < lines->first[line + 1]; i++) {
            double at = rint(lines->at[i]);
            if (fabs(lines->at[i] - at) < ON_SURFACE_DISTANCE_IN_STEPS) {
                l->kind[start + (size_t)at * l->stride[axis]] = LATTICE_NODE_ON_SURFACE;
            }
        }
    }
}

static struct lattice_arm_lengths *get_own_arms_of_node(struct lattice *l, size_t node)
{
    if (!l->cut[node]) {
        l->cut[node] = (uint32_t)l->node_arm_set_count;
        l->node_arm_lengths[l->node_arm_set_count++] =
            (struct lattice_arm_lengths){{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}};
    }
    return &l->node_arm_lengths[l->cut[node]];
}

/* Shortens the arms of the nodes inside that are next to a crossing of the surface. */
static void shorten_node_arms_at_surface(struct lattice *l, int axis)
{
    const struct lattice_lines *lines = &l->lines[axis];
    for (size_t line = 0; line < l->count / (size_t)l->nodes[axis]; line++) {
        size_t start = first_node_of_line(l, axis, line);
        for (uint32_t i = lines->first[line]; i < lines->first[line + 1]; i++) {
            double node_below_crossing = floor(lines->at[i]),
                   part = lines->at[i] - node_below_crossing;
            size_t node = start + (size_t)node_below_crossing * l->stride[axis],
                   next = node + l->stride[axis];
            if (l->kind[node] == LATTICE_NODE_INSIDE_SOLID) {
                double *arm = &get_own_arms_of_node(l, node)->of[2 * axis + 1];
                *arm = tact_min(*arm, tact_max(part, ON_SURFACE_DISTANCE_IN_STEPS));
            }
            if (l->kind[next] == LATTICE_NODE_INSIDE_SOLID) {
                double *arm = &get_own_arms_of_node(l, next)->of[2 * axis];
                *arm = tact_min(*arm, tact_max(1.0 - part, ON_SURFACE_DISTANCE_IN_STEPS));
            }
        }
    }
}

static int list_inside_nodes(struct lattice *l)
{
    size_t crossings = 0;
    for (int k = 0; k < 3; k++) {
        crossings += l->lines[k].first[l->count / (size_t)l->nodes[k]];
    }
    for (size_t i = 0; i < l->count; i++) {
        l->inside_node_count += l->kind[i] == LATTICE_NODE_INSIDE_SOLID;
    }
    l->inside = malloc((l->inside_node_count + 1) * sizeof *l->inside);
    l->node_arm_lengths = malloc((2 * crossings + 1) * sizeof *l->node_arm_lengths);
    if (!l->inside || !l->node_arm_lengths) {
        return -ENOMEM;
    }
    for (size_t i = 0, n = 0; i < l->count; i++) {
        if (l->kind[i] == LATTICE_NODE_INSIDE_SOLID) {
            l->inside[n++] = (uint32_t)i;
        }
    }
    l->node_arm_lengths[0] = (struct lattice_arm_lengths){{1.0, 1.0, 1.0, 1.0, 1.0, 1.0}};
    l->node_arm_set_count = 1;
    return 0;
}

int tact_lattice_create(const struct tact_mesh *mesh, double cell, double most, struct lattice *l)
{
    memset(l, 0, sizeof *l);
    int rc = init_lattice(mesh, cell, most, l);
    if (rc) {
        return rc;
    }
    l->kind = calloc(l->count, sizeof *l->kind);
    l->value = calloc(l->count, sizeof *l->value);
    l->cut = calloc(l->count, sizeof *l->cut);
    rc = l->kind && l->value && l->cut ? 0 : -ENOMEM;
    for (int k = 0; k < 3 && !rc; k++) {
        rc = find_line_crossings(l, k, &l->lines[k]);
    }
    if (rc) {
        return rc;
    }
    mark_lattice_nodes_inside(l);
    for (int k = 0; k < 3; k++) {
        mark_surface_nodes(l, k);
    }
    rc = list_inside_nodes(l);
    for (int k = 0; k < 3 && !rc; k++) {
        shorten_node_arms_at_surface(l, k);
    }
    return rc;
}

void tact_lattice_release(struct lattice *l)
{
    for (int k = 0; k < 3; k++) {
        free(l->lines[k].first);
        free(l->lines[k].at);
        free(l->lines[k].triangle);
    }
    free(l->kind);
    free(l->value);
    free(l->cut);
    free(l->node_arm_lengths);
    free(l->inside);
}

double tact_lattice_node_spacing(const struct lattice *l)
{
    return tact_min(l->step[0], tact_min(l->step[1], l->step[2]));
}

static void triangle_normal(const struct tact_mesh *mesh, uint32_t triangle, double n[3])
{
    const uint32_t *t = mesh->triangles + 3 * (size_t)triangle;
    double e[3], f[3];
    tact_v3_sub(e, mesh->vertices + 3 * (size_t)t[1], mesh->vertices + 3 * (size_t)t[0]);
    tact_v3_sub(f, mesh->vertices + 3 * (size_t)t[2], mesh->vertices + 3 * (size_t)t[0]);
    tact_v3_cross(n, e, f);
    tact_v3_normalize(n, n);
}

/* Largest cosine between the outward normals of two faces that enclose a thin part, and smallest
 * cosine between the line and a normal. The first excludes wedges, which are thin at their edges
 * for any lattice. */
#define THIN_PART_NORMAL_COSINE (-0.97)
#define MIN_LINE_TO_NORMAL_COSINE 0.5

/* Lines through thin parts of the mesh, the thinnest first. */
struct thin_part_list {
    struct lattice_thin_part of[THIN_LINES];
    int count;
};

static void add_thin_part(struct thin_part_list *list, const struct lattice_thin_part *part)
{
    int i = list->count < THIN_LINES ? list->count++ : THIN_LINES - 1;
    if (i == THIN_LINES - 1 && list->of[i].cells > 0.0 && !(part->cells < list->of[i].cells)) {
        return;
    }
    for (; i > 0 && list->of[i - 1].cells > part->cells; i--) {
        list->of[i] = list->of[i - 1];
    }
    list->of[i] = *part;
}

/* Describes the thin part between two successive crossings of a line. Returns 0 where its faces are
 * not nearly parallel. */
static int find_thin_part_on_line(const struct lattice *l, int axis, size_t line, uint32_t i,
                                  struct lattice_thin_part *out)
{
    const struct lattice_lines *lines = &l->lines[axis];
    double n[2][3], from = lines->at[i], to = lines->at[i + 1];
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const size_t across[2] = {line % (size_t)l->nodes[u], line / (size_t)l->nodes[u]};
    triangle_normal(l->mesh, lines->triangle[i], n[0]);
    triangle_normal(l->mesh, lines->triangle[i + 1], n[1]);
    if (-n[0][axis] < MIN_LINE_TO_NORMAL_COSINE ||
        tact_v3_dot(n[0], n[1]) > THIN_PART_NORMAL_COSINE) {
        return 0;
    }
    out->cells = -n[0][axis] * (to - from);
    out->thickness = out->cells * l->step[axis];
    out->place[axis] = mesh_coordinate_of_lattice_position(l, axis, 0.5 * (from + to));
    out->place[u] = mesh_coordinate_of_lattice_position(l, u, (double)across[0]);
    out->place[v] = mesh_coordinate_of_lattice_position(l, v, (double)across[1]);
    return 1;
}

void tact_lattice_thinnest_part(const struct lattice *l, struct lattice_thin_part *out)
{
    struct thin_part_list list = {.count = 0};
    struct lattice_thin_part part;
    for (int axis = 0; axis < 3; axis++) {
        const struct lattice_lines *lines = &l->lines[axis];
        for (size_t line = 0; line < l->count / (size_t)l->nodes[axis]; line++) {
            for (uint32_t i = lines->first[line]; i + 1 < lines->first[line + 1]; i += 2) {
                if (find_thin_part_on_line(l, axis, line, i, &part)) {
                    add_thin_part(&list, &part);
                }
            }
        }
    }
    *out = list.of[0];
    out->cells = list.count < THIN_LINES ? INFINITY : list.of[THIN_LINES - 1].cells;
    out->thickness = list.count < THIN_LINES ? INFINITY : list.of[THIN_LINES - 1].thickness;
}
