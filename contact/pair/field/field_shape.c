/*
 * The field of a shape, from the slope of its pressure. Each vertex of its triangles has a place in
 * the core, where the pressure is largest; a triangle and its three places make a prism, cut into
 * tetrahedra by one order of all vertices so that neighbours fit: by their places in the core
 * first, as a prism whose first and last have the same one would need a flat tetrahedron.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

/* Triangles of a sphere, which has none of its own. */
enum { BALL_TRIANGLES = 2000 };

/* Vertices, tetrahedra and pressures as they are made. */
struct maker {
    const struct tact_shape *shape;
    const struct tact_mesh *mesh;
    double depth;     /* of the core below the surface [m] */
    double *vertices; /* of the mesh, then of the core */
    double *pressure;
    uint32_t *tets, *core; /* core: of each vertex of the mesh */
    size_t vertex_count, tet_count;
};

/* The least distance of a convex solid's faces from its centroid. */
static double least_height(const struct tact_mesh *mesh)
{
    double least = INFINITY;
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *t = mesh->triangles + 3 * i;
        const double *p = mesh->vertices + 3 * (size_t)t[0];
        double u[3], w[3], normal[3], arm[3];
        tact_v3_sub(u, mesh->vertices + 3 * (size_t)t[1], p);
        tact_v3_sub(w, mesh->vertices + 3 * (size_t)t[2], p);
        tact_v3_cross(normal, u, w);
        tact_v3_normalize(normal, normal);
        tact_v3_sub(arm, p, mesh->centroid);
        least = tact_min(least, tact_v3_dot(normal, arm));
    }
    return least;
}

static double core_depth(const struct tact_shape *shape, const struct tact_mesh *mesh)
{
    const double *s = shape->size;
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
    case TACT_SHAPE_CAPSULE:
        return s[0];
    case TACT_SHAPE_CYLINDER:
        return tact_min(s[0], s[1]);
    case TACT_SHAPE_CONVEX:
        return least_height(mesh);
    default:
        return tact_min(s[0], tact_min(s[1], s[2]));
    }
}

/* Where in the core a vertex x has its place. */
static void core_place(const struct maker *m, const double *x, double *out)
{
    const double *s = m->shape->size, *c = m->mesh->centroid;
    double z = x[2] < 0.0 ? -1.0 : 1.0, shrink;
    switch (m->shape->kind) {
    case TACT_SHAPE_BOX:
        for (int k = 0; k < 3; k++) {
            out[k] = copysign(s[k] - m->depth, x[k]) + 0.0;
        }
        return;
    case TACT_SHAPE_CAPSULE:
        tact_v3_set(out, 0.0, 0.0, z * s[1] + 0.0);
        return;
    case TACT_SHAPE_CYLINDER:
        shrink = (s[0] - m->depth) / s[0];
        tact_v3_set(out, shrink * x[0] + 0.0, shrink * x[1] + 0.0, z * (s[1] - m->depth) + 0.0);
        return;
    case TACT_SHAPE_CONVEX:
        tact_v3_copy(out, c);
        return;
    default:
        tact_v3_set(out, 0.0, 0.0, 0.0);
    }
}

/* The core's vertex at a place, a new one where there is none yet. */
static uint32_t core_vertex(struct maker *m, const double *place)
{
    size_t first = m->mesh->vertex_count;
    for (size_t i = first; i < m->vertex_count; i++) {
        const double *x = m->vertices + 3 * i;
        if (x[0] == place[0] && x[1] == place[1] && x[2] == place[2]) {
            return (uint32_t)i;
        }
    }
    tact_v3_copy(m->vertices + 3 * m->vertex_count, place);
    return (uint32_t)m->vertex_count++;
}

static int goes_before(const struct maker *m, uint32_t i, uint32_t k)
{
    return m->core[i] != m->core[k] ? m->core[i] < m->core[k] : i < k;
}

/* The tetrahedra of a triangle's prism. */
static void add_prism(struct maker *m, const uint32_t *triangle)
{
    uint32_t v[3] = {triangle[0], triangle[1], triangle[2]};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            if (goes_before(m, v[k + 1], v[k])) {
                uint32_t last = v[k];
                v[k] = v[k + 1];
                v[k + 1] = last;
            }
        }
    }
    const uint32_t c[3] = {m->core[v[0]], m->core[v[1]], m->core[v[2]]};
    const uint32_t tet[3][4] = {
        {v[0], v[1], v[2], c[2]}, {v[0], v[1], c[1], c[2]}, {v[0], c[0], c[1], c[2]}};
    const int whole[3] = {1, c[1] != c[2], c[0] != c[1] && c[1] != c[2]};
    for (int i = 0; i < 3; i++) {
        if (whole[i]) {
            memcpy(m->tets + 4 * m->tet_count++, tet[i], sizeof tet[i]);
        }
    }
}

static int make(struct maker *m, double slope, struct tact_pressure_field **out,
                struct tact_error *err)
{
    const struct tact_mesh *mesh = m->mesh;
    size_t n = mesh->vertex_count;
    m->depth = core_depth(m->shape, mesh);
    m->vertices = malloc(6 * n * sizeof(double));
    m->pressure = calloc(2 * n, sizeof(double));
    m->core = malloc(n * sizeof *m->core);
    m->tets = malloc(12 * mesh->triangle_count * sizeof *m->tets);
    if (!m->vertices || !m->pressure || !m->core || !m->tets) {
        return -ENOMEM;
    }
    memcpy(m->vertices, mesh->vertices, 3 * n * sizeof(double));
    m->vertex_count = n;
    for (size_t i = 0; i < n; i++) {
        double place[3];
        core_place(m, mesh->vertices + 3 * i, place);
        m->core[i] = core_vertex(m, place);
        m->pressure[m->core[i]] = slope * m->depth;
    }
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        add_prism(m, mesh->triangles + 3 * i);
    }
    return tact_field_tets(m->vertices, m->vertex_count, m->tets, m->tet_count, m->pressure, out,
                           err);
}

int tact_field_of_shape(const struct tact_shape *shape, double slope,
                        struct tact_pressure_field **out, struct tact_error *err)
{
    struct maker m = {.shape = shape, .mesh = shape->mesh};
    struct tact_mesh *ball = NULL;
    int rc = 0;
    *out = NULL;
    if (shape->kind == TACT_SHAPE_HALFSPACE) {
        return tact_field_halfspace(slope, out);
    }
    int bent = shape->kind == TACT_SHAPE_MESH || shape->kind == TACT_SHAPE_TORUS;
    if (bent && !isinf(slope)) {
        return tact_error_set(
            err, -ENOTSUP,
            "a %s has no pressure field; expected a material without \"field\", or "
            "type convex",
            tact_shape_type(shape->kind)->name);
    }
    if (!m.mesh) {
        rc = tact_mesh_capsule(shape->size[0], 0.0, BALL_TRIANGLES, &ball);
        m.mesh = ball;
    }
    if (!rc) {
        rc = isinf(slope) ? tact_field_rigid(m.mesh, out) : make(&m, slope, out, err);
    }
    free(m.vertices);
    free(m.pressure);
    free(m.core);
    free(m.tets);
    tact_mesh_free(ball);
    return rc;
}
