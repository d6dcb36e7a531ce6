/*
 * Makes the pressure field of a shape, from the slope of its pressure. Each vertex of its
 * triangulation has a point in the core, where the pressure is largest. A triangle and its three
 * core points form a prism, which is cut into tetrahedra by a common order of all vertices, so that
 * neighbours fit: first by their core points, as a prism whose first and last have the same one
 * would need a flat tetrahedron.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/mesh/tets.h"
#include "contact/number.h"
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field_internal.h"
#include "contact/pair/options.h"

/* Number of triangles that represent a sphere, which has no triangulation of its own. */
enum { BALL_TRIANGLES = 2000 };

/* Core width, relative to the body's size, below which the core has no width: its tetrahedra would
 * be flat. The slope of the faces beyond it is off by at most as much. */
#define MIN_LAYER_CORE_WIDTH_RATIO 1e-2

/* Ratio of the slope of a user's field to that of the material above which the user's units are
 * questioned. */
#define MAX_PLAUSIBLE_PRESSURE_SLOPE_RATIO 10.0

/* A layered pressure field under construction: vertices, tetrahedra and pressures. */
struct layer_field_builder {
    const struct tact_shape *shape;
    const struct tact_mesh *mesh;
    double depth;     /* depth of the core below the solid's surface [m] */
    double *vertices; /* positions of the mesh's vertices, then of the core's [m] */
    double *pressure;
    uint32_t *tets, *core; /* core: the core vertex of each vertex of the mesh */
    size_t vertex_count, tet_count;
};

/* Smallest distance of a convex solid's faces from its centroid [m]. */
static double smallest_face_centroid_distance(const struct tact_mesh *mesh)
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

static double depth_of_layer_core(const struct tact_shape *shape, const struct tact_mesh *mesh)
{
    const double *s = shape->size;
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
    case TACT_SHAPE_CAPSULE:
        return s[0];
    case TACT_SHAPE_CYLINDER:
        return tact_min(s[0], s[1]);
    case TACT_SHAPE_CONVEX:
        return smallest_face_centroid_distance(mesh);
    default:
        return tact_min(s[0], tact_min(s[1], s[2]));
    }
}

/* Half the width of the core in a direction in which the body's half width is `half` [m]. */
static double half_width_of_layer_core(double half, double depth)
{
    return half - depth < MIN_LAYER_CORE_WIDTH_RATIO * half ? 0.0 : half - depth;
}

/* Point of the core that belongs to a surface vertex x. */
static void layer_core_point_of_vertex(const struct layer_field_builder *m, const double *x,
                                       double *out)
{
    const double *s = m->shape->size, *c = m->mesh->centroid;
    double z = x[2] < 0.0 ? -1.0 : 1.0, shrink;
    switch (m->shape->kind) {
    case TACT_SHAPE_BOX:
        for (int k = 0; k < 3; k++) {
            out[k] = copysign(half_width_of_layer_core(s[k], m->depth), x[k]) + 0.0;
        }
        return;
    case TACT_SHAPE_CAPSULE:
        tact_v3_set(out, 0.0, 0.0, z * s[1] + 0.0);
        return;
    case TACT_SHAPE_CYLINDER:
        shrink = half_width_of_layer_core(s[0], m->depth) / s[0];
        tact_v3_set(out, shrink * x[0] + 0.0, shrink * x[1] + 0.0,
                    z * half_width_of_layer_core(s[1], m->depth) + 0.0);
        return;
    case TACT_SHAPE_CONVEX:
        tact_v3_copy(out, c);
        return;
    default:
        tact_v3_set(out, 0.0, 0.0, 0.0);
    }
}

/* Index of the core's vertex at a point; adds a new one where there is none yet. */
static uint32_t find_or_add_core_vertex(struct layer_field_builder *m, const double *place)
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

static int does_vertex_sort_before(const struct layer_field_builder *m, uint32_t i, uint32_t k)
{
    return m->core[i] != m->core[k] ? m->core[i] < m->core[k] : i < k;
}

/* Adds the tetrahedra of the prism between a triangle and its core points. */
static void add_prism_tetrahedra(struct layer_field_builder *m, const uint32_t *triangle)
{
    uint32_t v[3] = {triangle[0], triangle[1], triangle[2]};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            if (does_vertex_sort_before(m, v[k + 1], v[k])) {
                uint32_t last = v[k];
                v[k] = v[k + 1];
                v[k + 1] = last;
            }
        }
    }
    const uint32_t c[3] = {m->core[v[0]], m->core[v[1]], m->core[v[2]]};
    const uint32_t tet[3][4] = {
        {v[0], v[1], v[2], c[2]}, {v[0], v[1], c[1], c[2]}, {v[0], c[0], c[1], c[2]}};
    const int has_tetrahedron_volume[3] = {1, c[1] != c[2], c[0] != c[1] && c[1] != c[2]};
    for (int i = 0; i < 3; i++) {
        if (has_tetrahedron_volume[i]) {
            memcpy(m->tets + 4 * m->tet_count++, tet[i], sizeof tet[i]);
        }
    }
}

static int make_layer_field(struct layer_field_builder *m, double slope,
                            struct tact_pressure_field **out, struct tact_error *err)
{
    const struct tact_mesh *mesh = m->mesh;
    size_t n = mesh->vertex_count;
    m->depth = depth_of_layer_core(m->shape, mesh);
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
        layer_core_point_of_vertex(m, mesh->vertices + 3 * i, place);
        m->core[i] = find_or_add_core_vertex(m, place);
        m->pressure[m->core[i]] = slope * m->depth;
    }
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        add_prism_tetrahedra(m, mesh->triangles + 3 * i);
    }
    return tact_field_tets(m->vertices, m->vertex_count, m->tets, m->tet_count, m->pressure, out,
                           err);
}

/* Makes the pressure field of an extent. */
static int field_of_extent(const struct tact_extent *extent, double slope,
                           struct tact_pressure_field **out, struct tact_error *err)
{
    double *pressure = malloc(extent->vertex_count * sizeof *pressure);
    if (!pressure) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < extent->vertex_count; i++) {
        pressure[i] = slope * extent->extent[i];
    }
    int rc = tact_field_tets(extent->vertices, extent->vertex_count, extent->tets,
                             extent->tet_count, pressure, out, err);
    free(pressure);
    return rc;
}

/* Warns where the surface of zero pressure differs from the mesh by more than half the thickness of
 * the layer, so that the layer's actual thickness differs there. */
static void warn_of_inexact_field(const struct tact_mesh *mesh,
                                  const struct tact_field_material *material,
                                  const struct tact_field_quality *q)
{
    char text[256];
    if (material->store && material->store->warn && q->worst > 0.5 * material->thickness) {
        tact_number_print(
            text, sizeof text,
            "the pressure field of its mesh of %zu triangles is %.3g m off the surface "
            "at (%.4g, %.4g, %.4g), more than half the thickness of %.3g m; a smaller "
            "field cell brings it nearer",
            mesh->triangle_count, q->worst, q->place[0], q->place[1], q->place[2],
            material->thickness);
        material->store->warn(material->store->user, text);
    }
}

/* Makes the field of a mesh from its extent: a stored one, else one that is computed and then
 * stored. */
static int field_of_mesh(const struct tact_mesh *mesh, const struct tact_field_material *material,
                         struct tact_pressure_field **out, struct tact_error *err)
{
    const struct tact_extent_recipe recipe = {(enum tact_extent_kind)material->kind,
                                              material->thickness, material->cell};
    double slope = tact_field_pressure_slope(material);
    struct tact_extent *extent;
    int was_extent_loaded = tact_extent_load(material->store, mesh, &recipe, &extent);
    int rc = was_extent_loaded ? field_of_extent(extent, slope, out, NULL) : -ENOENT;
    if (rc && rc != -ENOMEM) {
        tact_extent_free(was_extent_loaded ? extent : NULL);
        was_extent_loaded = 0;
        rc = tact_extent_of_mesh(mesh, &recipe, &extent, err);
        rc = rc ? rc : field_of_extent(extent, slope, out, err);
    }
    if (!rc && !was_extent_loaded) {
        tact_field_measure(*out, slope, mesh, &extent->quality);
        tact_extent_save(material->store, mesh, &recipe, extent);
    }
    if (!rc) {
        warn_of_inexact_field(mesh, material, &extent->quality);
    }
    tact_extent_free(extent);
    return rc;
}

/* Level q of a vertex value: of a pressure p its root, of an extent the slope times it. Negative
 * values are outside of the solid. */
static double pressure_level_of_vertex_value(const struct tact_tets *tets, double value,
                                             double power, double slope)
{
    if (!tets->pressure) {
        return slope * value;
    }
    return power == 1.0 ? value : copysign(tact_pow(fabs(value), 1.0 / power), value);
}

static int field_from_tetrahedra(const struct tact_tets *tets, double power, double slope,
                                 struct tact_pressure_field **out, struct tact_error *err)
{
    double *q = malloc(tets->vertex_count * sizeof *q);
    if (!q) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < tets->vertex_count; i++) {
        q[i] = pressure_level_of_vertex_value(tets, tets->values[i], power, slope);
    }
    int rc = tact_field_tets(tets->vertices, tets->vertex_count, tets->tets, tets->tet_count, q,
                             out, err);
    free(q);
    return rc;
}

int tact_field_check_tets(const struct tact_tets *tets, struct tact_error *err)
{
    struct tact_pressure_field *field;
    int rc = field_from_tetrahedra(tets, 1.0, 1.0, &field, err);
    if (!rc) {
        tact_field_free(field);
    }
    return rc;
}

/* Warns where the slope of the user's pressure on the surface is far from the material's: values
 * for another material, or in other units. */
static void warn_of_implausible_pressure_slope(const struct tact_tets *tets,
                                               const struct tact_pressure_field *field,
                                               const struct tact_mesh *mesh,
                                               const struct tact_field_material *material)
{
    struct tact_field_quality q;
    char text[320];
    if (!material->store || !material->store->warn) {
        return;
    }
    tact_field_measure(field, tact_field_pressure_slope(material), mesh, &q);
    if (q.slope > MAX_PLAUSIBLE_PRESSURE_SLOPE_RATIO ||
        q.slope < 1.0 / MAX_PLAUSIBLE_PRESSURE_SLOPE_RATIO) {
        tact_number_print(
            text, sizeof text,
            "the %s of its %zu tetrahedra rises on the surface %.3g times as fast as "
            "modulus and thickness of its material say (%.3g Pa, %.3g m); expected Pa "
            "and m in the file and the scene",
            tets->pressure ? "pressure" : "extent", tets->tet_count, q.slope, material->modulus,
            material->thickness);
        material->store->warn(material->store->user, text);
    }
}

/* Makes the field of a mesh, from the user's tetrahedra or from its extent. */
static int field_from_given_tetrahedra(const struct tact_mesh *mesh,
                                       const struct tact_field_material *material,
                                       struct tact_pressure_field **out, struct tact_error *err)
{
    if (!mesh->tets || material->kind != TACT_EXTENT_AUTO) {
        return field_of_mesh(mesh, material, out, err);
    }
    int rc = field_from_tetrahedra(mesh->tets, tact_field_power_of_material(material),
                                   tact_field_pressure_slope(material), out, err);
    if (!rc) {
        warn_of_implausible_pressure_slope(mesh->tets, *out, mesh, material);
    }
    return rc;
}

/* Makes the field of a shape other than a half-space. */
static int field_of_solid(const struct tact_shape *shape,
                          const struct tact_field_material *material,
                          struct tact_pressure_field **out, struct tact_error *err)
{
    struct layer_field_builder m = {.shape = shape, .mesh = shape->mesh};
    struct tact_mesh *ball = NULL;
    int rc = 0, is_soft = material->modulus > 0.0;
    if (!m.mesh && shape->kind != TACT_SHAPE_SPHERE) {
        tact_error_set(err, -EINVAL,
                       "a pressure field needs a triangle mesh of the shape, which has none: "
                       "tessellate it first");
        return -EINVAL;
    }
    if (!m.mesh) {
        rc = tact_mesh_capsule(shape->size[0], 0.0, BALL_TRIANGLES, &ball);
        m.mesh = ball;
    }
    int does_field_need_tetrahedra = shape->kind == TACT_SHAPE_MESH ||
                                     shape->kind == TACT_SHAPE_TORUS ||
                                     shape->kind == TACT_SHAPE_CONE || shape->charts != NULL;
    if (!rc && !is_soft) {
        rc = tact_field_rigid(m.mesh, out);
    } else if (!rc && (does_field_need_tetrahedra || material->kind != TACT_EXTENT_AUTO)) {
        rc = field_from_given_tetrahedra(m.mesh, material, out, err);
    } else if (!rc) {
        rc = make_layer_field(&m, tact_field_pressure_slope(material), out, err);
    }
    free(m.vertices);
    free(m.pressure);
    free(m.core);
    free(m.tets);
    tact_mesh_free(ball);
    return rc;
}

int tact_field_of_shape(const struct tact_shape *shape, const struct tact_field_material *material,
                        struct tact_pressure_field **out, struct tact_error *err)
{
    int is_soft = material->modulus > 0.0;
    *out = NULL;
    if (material->store && tact_abi_check(&material->store->abi, sizeof *material->store)) {
        return tact_error_set(
            err, -EINVAL,
            "the program's store of pressure-field extents was compiled for another ABI version");
    }
    int rc =
        shape->kind == TACT_SHAPE_HALFSPACE
            ? tact_field_halfspace(is_soft ? tact_field_pressure_slope(material) : INFINITY, out)
            : field_of_solid(shape, material, out, err);
    if (!rc) {
        (*out)->power = tact_field_power_of_material(material);
    }
    return rc;
}
