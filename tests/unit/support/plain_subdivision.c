#include "plain_subdivision.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/number.h"
#include "contact/vec.h"

#define PI 3.14159265358979323846

static void add_polygon_face(struct polygon_mesh *m, int count, const int *corner)
{
    assert_true(m->faces < PLAIN_CORNERS / 2 && count <= PLAIN_SIDES);
    memcpy(m->corner[m->faces], corner, (size_t)count * sizeof *corner);
    m->corner[m->faces++][count] = -1;
}

static void add_polygon_mesh_vertex(struct polygon_mesh *m, double x, double y, double z)
{
    assert_true(m->vertices < PLAIN_VERTICES);
    tact_v3_set(m->at[m->vertices++], x, y, z);
}

static void make_torus_mesh(int triangles, int n, struct polygon_mesh *m)
{
    for (int i = 0; i < n * n; i++) {
        const double u = 2.0 * PI * (i % n) / n, v = 2.0 * PI * (i / n) / n;
        const double r = 1.0 + 0.4 * cos(v);
        const int right_vertex = i / n * n + (i + 1) % n, up = (i + n) % (n * n),
                  diagonal_vertex = (right_vertex + n) % (n * n);
        add_polygon_mesh_vertex(m, r * cos(u), r * sin(u), 0.4 * sin(v));
        if (triangles) {
            add_polygon_face(m, 3, (int[]){i, right_vertex, diagonal_vertex});
            add_polygon_face(m, 3, (int[]){i, diagonal_vertex, up});
        } else {
            add_polygon_face(m, 4, (int[]){i, right_vertex, diagonal_vertex, up});
        }
    }
}

static void make_prism_mesh(int kind, int n, struct polygon_mesh *m)
{
    int top[PLAIN_SIDES], bottom[PLAIN_SIDES];
    for (int i = 0; i < n; i++) {
        const double x = cos(2.0 * PI * i / n), y = sin(2.0 * PI * i / n);
        add_polygon_mesh_vertex(m, x, y, kind == 2 ? 0.0 : -0.7);
        if (kind < 2) {
            add_polygon_mesh_vertex(m, x, y, 0.7);
        }
    }
    const int south_pole_index = m->vertices, north_pole = m->vertices + 1;
    if (kind > 0) {
        add_polygon_mesh_vertex(m, 0.0, 0.0, -1.0);
        add_polygon_mesh_vertex(m, 0.0, 0.0, 1.0);
    }
    for (int i = 0; i < n; i++) {
        const int k = (i + 1) % n, a = kind == 2 ? i : 2 * i, b = kind == 2 ? k : 2 * k,
                  up_a = kind == 2 ? a : a + 1, up_b = kind == 2 ? b : b + 1;
        if (kind == 0) {
            top[i] = a + 1;
            bottom[n - 1 - i] = a;
            add_polygon_face(m, 4, (int[]){a, b, b + 1, a + 1});
        } else {
            add_polygon_face(m, 3, (int[]){south_pole_index, b, a});
            add_polygon_face(m, 3, (int[]){north_pole, up_a, up_b});
        }
        if (kind == 1) {
            add_polygon_face(m, 3, (int[]){a, b, b + 1});
            add_polygon_face(m, 3, (int[]){a, b + 1, a + 1});
        }
    }
    if (kind == 0) {
        add_polygon_face(m, n, top);
        add_polygon_face(m, n, bottom);
    }
}

void make_test_polygon_mesh(int kind, int n, struct polygon_mesh *out)
{
    out->vertices = out->faces = 0;
    if (kind > 2) {
        make_torus_mesh(kind == 4, n, out);
    } else {
        make_prism_mesh(kind, n, out);
    }
}

/* For each ordered pair of vertices: index + 1 of the face with the directed edge from the first to
 * the second, and the corner at which that edge begins. */
struct directed_edges {
    int vertices;
    int (*at)[2];
};

static int corner_count_of_face(const struct polygon_mesh *m, int face)
{
    int n = 0;
    while (m->corner[face][n] >= 0) {
        n++;
    }
    return n;
}

static struct directed_edges list_directed_edges(const struct polygon_mesh *m)
{
    struct directed_edges e = {m->vertices,
                               calloc((size_t)(m->vertices * m->vertices), sizeof *e.at)};
    assert_non_null(e.at);
    for (int f = 0; f < m->faces; f++) {
        const int n = corner_count_of_face(m, f);
        for (int i = 0; i < n; i++) {
            int *entry = e.at[m->corner[f][i] * m->vertices + m->corner[f][(i + 1) % n]];
            entry[0] = f + 1;
            entry[1] = i;
        }
    }
    return e;
}

static const int *find_directed_edge(const struct directed_edges *e, int a, int b)
{
    return e->at[a * e->vertices + b];
}

static int has_only_triangles(const struct polygon_mesh *m)
{
    for (int f = 0; f < m->faces; f++) {
        if (corner_count_of_face(m, f) != 3) {
            return 0;
        }
    }
    return 1;
}

/* Lists the neighbours of a vertex counter-clockwise, and the faces between each neighbour and the
 * next. */
static int list_neighbours_of_vertex(const struct polygon_mesh *m, const struct directed_edges *e,
                                     int v, int *neighbours_of_vertex, int *face)
{
    int first = -1, count = 0;
    for (int i = 0; first < 0; i++) {
        first = find_directed_edge(e, v, i)[0] ? i : -1;
    }
    for (int at = first; count == 0 || at != first; count++) {
        const int *to = find_directed_edge(e, v, at);
        const int n = corner_count_of_face(m, to[0] - 1);
        neighbours_of_vertex[count] = at;
        face[count] = to[0] - 1;
        at = m->corner[to[0] - 1][(to[1] + n - 1) % n];
    }
    return count;
}

static void centroid_of_face(const struct polygon_mesh *m, int face, double out[3])
{
    const int n = corner_count_of_face(m, face);
    tact_v3_set(out, 0.0, 0.0, 0.0);
    for (int i = 0; i < n; i++) {
        tact_v3_axpy(out, 1.0 / n, m->at[m->corner[face][i]]);
    }
}

/* Sum of the weights of a vertex's n neighbours in Loop's subdivision. */
static double loop_subdivision_weight(int n)
{
    return 5.0 / 8.0 - pow(3.0 / 8.0 + cos(2.0 * PI / n) / 4.0, 2.0);
}

static void subdivided_vertex_position(const struct polygon_mesh *m, const struct directed_edges *e,
                                       int v, int is_triangle_mesh, double out[3])
{
    int neighbours_of_vertex[64], face[64];
    const int n = list_neighbours_of_vertex(m, e, v, neighbours_of_vertex, face);
    const double weight_of_vertex_itself =
        is_triangle_mesh ? 1.0 - loop_subdivision_weight(n) : (n - 3.0) / n;
    tact_v3_scale(out, m->at[v], weight_of_vertex_itself);
    for (int i = 0; i < n; i++) {
        double q[3];
        centroid_of_face(m, face[i], q);
        if (is_triangle_mesh) {
            tact_v3_axpy(out, loop_subdivision_weight(n) / n, m->at[neighbours_of_vertex[i]]);
        } else { /* (Q + 2 R + (n - 3) v) / n */
            tact_v3_axpy(out, 1.0 / n / n, q);
            tact_v3_axpy(out, 1.0 / n / n, m->at[v]);
            tact_v3_axpy(out, 1.0 / n / n, m->at[neighbours_of_vertex[i]]);
        }
    }
}

static void subdivided_edge_position(const struct polygon_mesh *m, const struct directed_edges *e,
                                     int a, int b, int is_triangle_mesh, double out[3])
{
    const int *side[2] = {find_directed_edge(e, a, b), find_directed_edge(e, b, a)};
    tact_v3_add(out, m->at[a], m->at[b]);
    tact_v3_scale(out, out, is_triangle_mesh ? 0.375 : 0.25);
    for (int k = 0; k < 2; k++) {
        double q[3];
        centroid_of_face(m, side[k][0] - 1, q);
        if (is_triangle_mesh) {
            tact_v3_copy(q, m->at[m->corner[side[k][0] - 1][(side[k][1] + 2) % 3]]);
        }
        tact_v3_axpy(out, is_triangle_mesh ? 0.125 : 0.25, q);
    }
}

void subdivide_polygon_mesh(const struct polygon_mesh *m, struct polygon_mesh *out)
{
    const int is_triangle_mesh = has_only_triangles(m);
    struct directed_edges e = list_directed_edges(m);
    int *made = calloc((size_t)(m->vertices * m->vertices), sizeof *made);
    double p[3];
    assert_non_null(made);
    out->vertices = out->faces = 0;
    for (int v = 0; v < m->vertices; v++) {
        subdivided_vertex_position(m, &e, v, is_triangle_mesh, p);
        add_polygon_mesh_vertex(out, p[0], p[1], p[2]);
    }
    for (int f = 0; f < m->faces; f++) {
        const int n = corner_count_of_face(m, f), center = out->vertices;
        int on[PLAIN_SIDES];
        centroid_of_face(m, f, p);
        if (!is_triangle_mesh) {
            add_polygon_mesh_vertex(out, p[0], p[1], p[2]);
        }
        for (int i = 0; i < n; i++) {
            const int a = m->corner[f][i], b = m->corner[f][(i + 1) % n];
            int *known = &made[a < b ? a * m->vertices + b : b * m->vertices + a];
            if (!*known) {
                subdivided_edge_position(m, &e, a, b, is_triangle_mesh, p);
                *known = out->vertices;
                add_polygon_mesh_vertex(out, p[0], p[1], p[2]);
            }
            on[i] = *known;
        }
        for (int i = 0; i < n; i++) {
            const int a = m->corner[f][i], before = on[(i + n - 1) % n];
            if (is_triangle_mesh) {
                add_polygon_face(out, 3, (int[]){a, on[i], before});
            } else {
                add_polygon_face(out, 4, (int[]){a, on[i], center, before});
            }
        }
        if (is_triangle_mesh) {
            add_polygon_face(out, 3, on);
        }
    }
    free(made);
    free(e.at);
}

/* Limit position and normal of a vertex, of a mesh of triangles or of quadrilaterals (Hoppe 1994;
 * Halstead, Kass and DeRose 1993).
 */
static void limit_position_of_vertex(const struct polygon_mesh *m, const struct directed_edges *e,
                                     int v, int is_triangle_mesh, double at[3], double normal[3])
{
    int neighbours_of_vertex[64], face[64];
    const int n = list_neighbours_of_vertex(m, e, v, neighbours_of_vertex, face);
    const double loop_limit_position_weight = 3.0 / 8.0 / loop_subdivision_weight(n) * n,
                 c = cos(2.0 * PI / n), a = 1.0 + c + cos(PI / n) * sqrt(2.0 * (9.0 + c));
    double along[2][3] = {{0.0}};
    tact_v3_scale(at, m->at[v],
                  is_triangle_mesh ? loop_limit_position_weight / (loop_limit_position_weight + n)
                                   : n / (n + 5.0));
    for (int i = 0; i < n; i++) {
        const int *to = find_directed_edge(e, v, neighbours_of_vertex[i]);
        const double *p = m->at[neighbours_of_vertex[i]],
                     *q = m->at[m->corner[to[0] - 1][(to[1] + 2) % (is_triangle_mesh ? 3 : 4)]];
        tact_v3_axpy(
            at, is_triangle_mesh ? 1.0 / (loop_limit_position_weight + n) : 4.0 / n / (n + 5.0), p);
        tact_v3_axpy(at, is_triangle_mesh ? 0.0 : 1.0 / n / (n + 5.0), q);
        /* k = 1: the sine, as the cosine of an angle less by a quarter turn */
        for (int k = 0; k < 2; k++) {
            const double turn = 2.0 * PI / n, quarter = k * PI / 2.0;
            tact_v3_axpy(along[k], (is_triangle_mesh ? 1.0 : a) * cos(turn * i - quarter), p);
            if (!is_triangle_mesh) {
                tact_v3_axpy(along[k], cos(turn * i - quarter) + cos(turn * (i + 1) - quarter), q);
            }
        }
    }
    tact_v3_cross(normal, along[0], along[1]);
    tact_v3_normalize(normal, normal);
}

void compute_subdivision_limit_positions(const struct polygon_mesh *mesh, double (*at)[3],
                                         double (*normal)[3])
{
    struct directed_edges e = list_directed_edges(mesh);
    for (int v = 0; v < mesh->vertices; v++) {
        limit_position_of_vertex(mesh, &e, v, has_only_triangles(mesh), at[v], normal[v]);
    }
    free(e.at);
}

char *polygon_mesh_to_obj_text(const struct polygon_mesh *mesh, int reverses_faces)
{
    const size_t room = 128 * (size_t)(mesh->vertices + mesh->faces) + 64;
    char *text = malloc(room), *at = text;
    assert_non_null(text);
    at += sprintf(at, "# a control mesh\n");
    for (int i = 0; i < mesh->vertices; i++) {
        at += tact_number_print(at, 128, "v %.17g %.17g %.17g\n", mesh->at[i][0], mesh->at[i][1],
                                mesh->at[i][2]);
    }
    for (int f = 0; f < mesh->faces; f++) {
        const int n = corner_count_of_face(mesh, f);
        at += sprintf(at, "f");
        for (int i = 0; i < n; i++) {
            at += sprintf(at, " %d", 1 + mesh->corner[f][reverses_faces ? n - 1 - i : i]);
        }
        at += sprintf(at, "\n");
    }
    return text;
}
