/* A mesh from buffers: copy, merge vertices, check, integrate, build the trees. */
#include "contact/mesh/mesh.h"
#include "contact/mesh/tets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh/mesh_internal.h"

static int check_mesh_arrays(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                             size_t triangle_count, struct tact_error *err)
{
    if (triangle_count == 0) {
        return tact_error_set(err, -EINVAL, "the mesh has no triangles");
    }
    if (vertex_count > UINT32_MAX || triangle_count > UINT32_MAX / 3) {
        return tact_error_set(err, -EINVAL, "the mesh has more than 2^32 vertices or edges");
    }
    for (size_t i = 0; i < 3 * vertex_count; i++) {
        if (!(fabs(vertices[i]) <= TACT_MESH_MAX_COORDINATE)) {
            return tact_error_set(err, -EINVAL, "coordinate %c of vertex %zu is not %s",
                                  "xyz"[i % 3], i / 3,
                                  isfinite(vertices[i]) ? "within 1e9 m" : "finite");
        }
    }
    for (size_t i = 0; i < 3 * triangle_count; i++) {
        if (triangles[i] >= vertex_count) {
            return tact_error_set(err, -EINVAL,
                                  "triangle %zu uses vertex %lu of a mesh of %zu vertices", i / 3,
                                  (unsigned long)triangles[i], vertex_count);
        }
    }
    return 0;
}

/* Appends "N what" to the list of defects in text if the count is not 0. */
static void append_count_to_text(char *text, size_t size, size_t count, const char *what)
{
    size_t length_of_listed_defects = strlen(text);
    if (count && length_of_listed_defects < size) {
        snprintf(text + length_of_listed_defects, size - length_of_listed_defects, "%s%zu %s",
                 length_of_listed_defects ? ", " : "", count, what);
    }
}

static int report_mesh_defects(const struct tact_mesh_defects *d, int is_zero_volume_allowed,
                               struct tact_error *err)
{
    char text[256] = "";
    append_count_to_text(text, sizeof text, d->boundary_edges, "boundary edges (the mesh is open)");
    append_count_to_text(text, sizeof text, d->nonmanifold_edges,
                         "edges shared by three or more triangles");
    append_count_to_text(text, sizeof text, d->misoriented_edges,
                         "edges between triangles of opposite orientation");
    if (!is_zero_volume_allowed) {
        append_count_to_text(text, sizeof text, d->degenerate, "triangles without area");
    }
    if (text[0]) {
        return tact_error_set(err, -EINVAL, "not a closed oriented surface: %s", text);
    }
    if (d->crossings > TACT_MESH_CROSSINGS_MAX) {
        snprintf(text, sizeof text, "more than %d pairs of triangles that cross",
                 TACT_MESH_CROSSINGS_MAX);
    } else {
        append_count_to_text(text, sizeof text, d->crossings, "pairs of triangles that cross");
    }
    append_count_to_text(text, sizeof text, d->misplaced,
                         "connected components that lie inside another one or are inside out");
    if (text[0]) {
        return tact_error_set(err, -EINVAL, "the surface overlaps itself: %s", text);
    }
    if (!(d->volume > 0.0)) {
        return tact_error_set(err, -EINVAL,
                              "the triangles are inside out or enclose nothing: volume %g m^3",
                              d->volume);
    }
    return 0;
}

int tact_mesh_create_checked(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                             size_t triangle_count, int is_zero_volume_allowed,
                             struct tact_mesh **out, struct tact_error *err)
{
    *out = NULL;
    int rc = check_mesh_arrays(vertices, vertex_count, triangles, triangle_count, err);
    if (rc) {
        return rc;
    }
    struct tact_mesh *mesh = calloc(1, sizeof *mesh);
    if (!mesh) {
        return tact_error_set(err, -ENOMEM, "out of memory");
    }
    mesh->vertex_count = vertex_count;
    mesh->triangle_count = triangle_count;
    mesh->vertices = malloc(3 * vertex_count * sizeof *mesh->vertices);
    mesh->triangles = malloc(3 * triangle_count * sizeof *mesh->triangles);
    rc = mesh->vertices && mesh->triangles ? 0 : -ENOMEM;
    if (rc == 0) {
        memcpy(mesh->vertices, vertices, 3 * vertex_count * sizeof *vertices);
        memcpy(mesh->triangles, triangles, 3 * triangle_count * sizeof *triangles);
        rc = tact_mesh_merge_equal_vertices(mesh->vertices, &mesh->vertex_count, mesh->triangles,
                                            triangle_count);
    }
    struct tact_mesh_defects defects;
    if (rc == 0) {
        rc = tact_mesh_count_defects(mesh->vertices, mesh->vertex_count, mesh->triangles,
                                     triangle_count, &defects);
    }
    if (rc == 0) {
        rc = report_mesh_defects(&defects, is_zero_volume_allowed, err);
    }
    if (rc == 0) {
        tact_mesh_integrate(mesh);
        rc = tact_mesh_build_tree(mesh);
    }
    if (rc == 0 && !is_zero_volume_allowed) {
        rc = tact_mesh_count_crossings(mesh, &defects);
        rc = rc ? rc : report_mesh_defects(&defects, is_zero_volume_allowed, err);
    }
    if (rc == 0) {
        rc = tact_mesh_build_wide_tree(mesh);
    }
    if (rc == 0) {
        rc = tact_mesh_build_facets(mesh);
    }
    if (rc) {
        tact_mesh_free(mesh);
        return rc == -ENOMEM ? tact_error_set(err, rc, "out of memory") : rc;
    }
    *out = mesh;
    return 0;
}

int tact_mesh_create(const double *vertices, size_t vertex_count, const uint32_t *triangles,
                     size_t triangle_count, struct tact_mesh **out, struct tact_error *err)
{
    return tact_mesh_create_checked(vertices, vertex_count, triangles, triangle_count, 0, out, err);
}

int tact_mesh_of_soup(struct tact_soup *soup, struct tact_mesh **out, struct tact_error *err)
{
    int rc = tact_mesh_create(soup->vertices, soup->vertex_count, soup->triangles,
                              soup->triangle_count, out, err);
    if (*out) {
        (*out)->tets = soup->tets;
        soup->tets = NULL;
    }
    return rc;
}

void tact_mesh_free(struct tact_mesh *mesh)
{
    if (mesh) {
        tact_tets_free(mesh->tets);
        free(mesh->vertices);
        free(mesh->triangles);
        free(mesh->nodes);
        free(mesh->facets);
        tact_mesh_free_wide_tree(mesh);
        free(mesh);
    }
}
