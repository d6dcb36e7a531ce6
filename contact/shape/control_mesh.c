#include "contact/shape/control_mesh_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"

#define PI 3.14159265358979323846

int tact_control_mesh_next_half_edge(const struct control_mesh *mesh, int half)
{
    const int face = mesh->face[half];
    return half + 1 < mesh->first[face + 1] ? half + 1 : mesh->first[face];
}

int tact_control_mesh_previous_half_edge(const struct control_mesh *mesh, int half)
{
    const int face = mesh->face[half];
    return half > mesh->first[face] ? half - 1 : mesh->first[face + 1] - 1;
}

void tact_control_mesh_free(struct control_mesh *mesh)
{
    free(mesh->at);
    free(mesh->first);
    free(mesh->origin);
    free(mesh->twin);
    free(mesh->face);
    free(mesh->valence);
    memset(mesh, 0, sizeof *mesh);
}

static int allocate_control_mesh(struct control_mesh *mesh, int vertices, int faces,
                                 int half_edge_count)
{
    *mesh = (struct control_mesh){.vertices = vertices, .faces = faces, .halves = half_edge_count};
    mesh->at = malloc(((size_t)vertices + 1) * sizeof *mesh->at);
    mesh->first = calloc((size_t)faces + 1, sizeof *mesh->first);
    mesh->origin = calloc((size_t)half_edge_count + 1, sizeof *mesh->origin);
    mesh->twin = calloc((size_t)half_edge_count + 1, sizeof *mesh->twin);
    mesh->face = calloc((size_t)half_edge_count + 1, sizeof *mesh->face);
    mesh->valence = calloc((size_t)vertices + 1, sizeof *mesh->valence);
    return mesh->at && mesh->first && mesh->origin && mesh->twin && mesh->face && mesh->valence
               ? 0
               : -ENOMEM;
}

/* Fault of a control mesh: why two half-edges cannot be twins, and a half-edge of the face
 * concerned. */
struct control_mesh_fault {
    const char *what;
    int half;
};

static int set_control_mesh_fault(struct control_mesh_fault *fault, const char *what, int half)
{
    *fault = (struct control_mesh_fault){what, half};
    return -EINVAL;
}

/* A half-edge, identified by the ends of its edge, for sorting. */
struct sortable_half_edge {
    int low, high, half;
};

static int compare_directed_edges(const void *a, const void *b)
{
    const struct sortable_half_edge *x = a, *y = b;
    return x->low != y->low     ? x->low - y->low
           : x->high != y->high ? x->high - y->high
                                : x->half - y->half;
}

/* Pairs the half-edges of each edge as twins, from a sorted list. */
static int pair_half_edges_as_twins(struct control_mesh *mesh,
                                    const struct sortable_half_edge *edge,
                                    struct control_mesh_fault *fault)
{
    for (int i = 0; i < mesh->halves;) {
        int half_edge_count_of_same_edge = 1;
        while (i + half_edge_count_of_same_edge < mesh->halves &&
               edge[i + half_edge_count_of_same_edge].low == edge[i].low &&
               edge[i + half_edge_count_of_same_edge].high == edge[i].high) {
            half_edge_count_of_same_edge++;
        }
        const int a = edge[i].half, b = edge[i + half_edge_count_of_same_edge - 1].half;
        if (edge[i].low == edge[i].high) {
            return set_control_mesh_fault(
                fault, "a face of the control mesh lists a vertex twice in succession", a);
        }
        if (half_edge_count_of_same_edge == 1) {
            return set_control_mesh_fault(
                fault, "an edge with one face: the surface is open; expected a closed one", a);
        }
        if (half_edge_count_of_same_edge > 2) {
            return set_control_mesh_fault(
                fault, "an edge with more than two faces; expected a manifold", a);
        }
        if (mesh->origin[a] == mesh->origin[b]) {
            return set_control_mesh_fault(fault,
                                          "two faces with a common edge have opposite "
                                          "orientations: the surface normal flips there",
                                          b);
        }
        mesh->twin[a] = b;
        mesh->twin[b] = a;
        i += half_edge_count_of_same_edge;
    }
    return 0;
}

static int find_twin_half_edges(struct control_mesh *mesh, struct control_mesh_fault *fault)
{
    struct sortable_half_edge *edge = calloc((size_t)mesh->halves + 1, sizeof *edge);
    if (!edge) {
        return -ENOMEM;
    }
    for (int h = 0; h < mesh->halves; h++) {
        const int a = mesh->origin[h], b = mesh->origin[tact_control_mesh_next_half_edge(mesh, h)];
        edge[h] = (struct sortable_half_edge){a < b ? a : b, a < b ? b : a, h};
    }
    qsort(edge, (size_t)mesh->halves, sizeof *edge, compare_directed_edges);
    int rc = pair_half_edges_as_twins(mesh, edge, fault);
    free(edge);
    return rc;
}

/* Counts the valence of each vertex, whose faces must form one fan. */
static int count_vertex_valences(struct control_mesh *mesh, struct control_mesh_fault *fault)
{
    for (int h = 0; h < mesh->halves; h++) {
        mesh->valence[mesh->origin[h]]++;
    }
    for (int h = 0; h < mesh->halves; h++) {
        const int valence = mesh->valence[mesh->origin[h]];
        int half_edge_count_around_vertex = 0, at = h;
        if (valence < 3 || valence > MOST_VALENCE) {
            return set_control_mesh_fault(
                fault, "a vertex of the control mesh must have 3 to 64 edges", h);
        }
        do {
            at = mesh->twin[tact_control_mesh_previous_half_edge(mesh, at)];
            half_edge_count_around_vertex++;
        } while (at != h);
        if (half_edge_count_around_vertex != valence) {
            return set_control_mesh_fault(
                fault, "a vertex where two fans of faces meet; expected a manifold", h);
        }
    }
    return 0;
}

static int link_half_edges_at_vertices(struct control_mesh *mesh, struct control_mesh_fault *fault)
{
    mesh->triangles = 1;
    for (int f = 0; f < mesh->faces; f++) {
        mesh->triangles &= mesh->first[f + 1] - mesh->first[f] == 3;
        for (int h = mesh->first[f]; h < mesh->first[f + 1]; h++) {
            mesh->face[h] = f;
        }
    }
    int rc = find_twin_half_edges(mesh, fault);
    return rc ? rc : count_vertex_valences(mesh, fault);
}

int tact_control_mesh_create(const struct tact_polygons *polygons, struct control_mesh *out,
                             struct tact_error *err)
{
    struct control_mesh_fault fault = {"", 0};
    int rc = allocate_control_mesh(out, (int)polygons->soup.vertex_count, (int)polygons->face_count,
                                   (int)polygons->corner_count);
    if (rc) {
        return rc;
    }
    memcpy(out->at, polygons->soup.vertices, polygons->soup.vertex_count * sizeof *out->at);
    for (int h = 0; h < out->halves; h++) {
        out->origin[h] = (int)polygons->corners[h];
    }
    for (int f = 0; f <= out->faces; f++) {
        out->first[f] = f < out->faces ? (int)polygons->faces[f].first : out->halves;
        if (f > 0 && out->first[f] - out->first[f - 1] > MOST_VALENCE) {
            tact_error_at(err, NULL, polygons->faces[f - 1].line, 0, NULL);
            return tact_error_set(err, -EINVAL,
                                  "a face of the control mesh has more than 64 corners");
        }
    }
    rc = link_half_edges_at_vertices(out, &fault);
    if (rc == -EINVAL) {
        tact_error_at(err, NULL, polygons->faces[out->face[fault.half]].line, 0, NULL);
        return tact_error_set(err, rc, "%s", fault.what);
    }
    return rc;
}

double tact_loop_vertex_weight(int valence)
{
    const double c = 0.375 + 0.25 * tact_cos(2.0 * PI / valence);
    return (0.625 - c * c) / valence;
}

static void control_face_centroid(const struct control_mesh *mesh, int face, double out[3])
{
    const int n = mesh->first[face + 1] - mesh->first[face];
    tact_v3_set(out, 0.0, 0.0, 0.0);
    for (int h = mesh->first[face]; h < mesh->first[face + 1]; h++) {
        tact_v3_axpy(out, 1.0 / n, mesh->at[mesh->origin[h]]);
    }
}

/* Computes the subdivision's new point of an edge. */
static void compute_new_point_of_subdivided_edge(const struct control_mesh *mesh, int half,
                                                 double out[3])
{
    const int side[2] = {half, mesh->twin[half]};
    const double weight = mesh->triangles ? 0.375 : 0.25;
    tact_v3_set(out, 0.0, 0.0, 0.0);
    for (int k = 0; k < 2; k++) {
        tact_v3_axpy(out, weight, mesh->at[mesh->origin[side[k]]]);
        if (mesh->triangles) {
            tact_v3_axpy(
                out, 0.125,
                mesh->at[mesh->origin[tact_control_mesh_previous_half_edge(mesh, side[k])]]);
        } else {
            double middle[3];
            control_face_centroid(mesh, mesh->face[side[k]], middle);
            tact_v3_axpy(out, 0.25, middle);
        }
    }
}

/* Adds the contribution of a half-edge's neighbourhood to the new position of the half-edge's
 * origin. */
static void add_subdivision_terms_to_vertex(const struct control_mesh *mesh, int half,
                                            double out[3])
{
    const int v = mesh->origin[half], n = mesh->valence[v];
    const double *end = mesh->at[mesh->origin[tact_control_mesh_next_half_edge(mesh, half)]],
                 *at = mesh->at[v];
    if (mesh->triangles) {
        const double weight = tact_loop_vertex_weight(n);
        tact_v3_axpy(out, weight, end);
        tact_v3_axpy(out, 1.0 / n - weight, at);
    } else {
        double middle[3];
        control_face_centroid(mesh, mesh->face[half], middle);
        tact_v3_axpy(out, 1.0 / ((double)n * n), middle);
        tact_v3_axpy(out, 1.0 / ((double)n * n), end);
        tact_v3_axpy(out, (n - 2.0) / ((double)n * n), at);
    }
}

/* Sets the vertices of the subdivided mesh: of old vertices, then of edges, then, in Catmull and
 * Clark's scheme, of faces. edge: the new vertex of each half-edge. */
static void set_vertices_of_subdivided_mesh(const struct control_mesh *old, const int *edge,
                                            int edges, struct control_mesh *mesh)
{
    memset(mesh->at, 0, (size_t)mesh->vertices * sizeof *mesh->at);
    for (int h = 0; h < old->halves; h++) {
        add_subdivision_terms_to_vertex(old, h, mesh->at[old->origin[h]]);
        if (h < old->twin[h]) {
            compute_new_point_of_subdivided_edge(old, h, mesh->at[edge[h]]);
        }
    }
    for (int f = 0; !old->triangles && f < old->faces; f++) {
        control_face_centroid(old, f, mesh->at[old->vertices + edges + f]);
    }
}

/* Sets the faces of the subdivided mesh: four from a triangle, from another face one at each
 * corner. */
static void set_faces_of_subdivided_mesh(const struct control_mesh *old, const int *edge, int edges,
                                         struct control_mesh *mesh)
{
    const int sides = old->triangles ? 3 : 4;
    int *to = mesh->origin;
    for (int h = 0; h < old->halves; h++) {
        const int before = tact_control_mesh_previous_half_edge(old, h);
        *to++ = old->origin[h];
        *to++ = edge[h];
        if (!old->triangles) {
            *to++ = old->vertices + edges + old->face[h];
        }
        *to++ = edge[before];
    }
    for (int h = 0; old->triangles && h < old->halves; h++) {
        *to++ = edge[h];
    }
    for (int f = 0; f <= mesh->faces; f++) {
        mesh->first[f] = sides * f;
    }
}

int tact_control_mesh_subdivide(struct control_mesh *mesh)
{
    struct control_mesh next = {0};
    struct control_mesh_fault fault;
    const int edges = mesh->halves / 2, faces = mesh->halves + (mesh->triangles ? mesh->faces : 0),
              vertices = mesh->vertices + edges + (mesh->triangles ? 0 : mesh->faces);
    int count = 0, *edge = calloc((size_t)mesh->halves + 1, sizeof *edge);
    int rc = edge ? allocate_control_mesh(&next, vertices, faces, faces * (mesh->triangles ? 3 : 4))
                  : -ENOMEM;
    for (int h = 0; !rc && h < mesh->halves; h++) {
        const int twin = mesh->twin[h];
        edge[h] = h < twin ? mesh->vertices + count++ : edge[twin];
    }
    if (!rc) {
        set_vertices_of_subdivided_mesh(mesh, edge, edges, &next);
        set_faces_of_subdivided_mesh(mesh, edge, edges, &next);
        rc = link_half_edges_at_vertices(&next, &fault);
    }
    free(edge);
    tact_control_mesh_free(rc ? &next : mesh);
    if (!rc) {
        *mesh = next;
    }
    return rc;
}
