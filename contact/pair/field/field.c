/* Construction of pressure fields: cells, their neighbours, and checks of the input. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

/* Smallest volume of a tetrahedron, relative to the cube of its longest edge. */
#define MIN_CELL_VOLUME_RATIO 1e-10
/* Pressure on the boundary that counts as 0, relative to the largest pressure. */
#define BOUNDARY_PRESSURE_TOLERANCE 1e-9

/* Sort key of a side of a cell: its corners in ascending order. */
struct cell_side_key {
    uint32_t corner[3];
    uint32_t cell, side;
};

static int compare_cell_side_keys(const void *pa, const void *pb)
{
    const struct cell_side_key *a = pa, *b = pb;
    for (int i = 0; i < 3; i++) {
        if (a->corner[i] != b->corner[i]) {
            return a->corner[i] < b->corner[i] ? -1 : 1;
        }
    }
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static void sort_corner_indices(uint32_t *c)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2 - i; k++) {
            if (c[k] > c[k + 1]) {
                uint32_t last = c[k];
                c[k] = c[k + 1];
                c[k + 1] = last;
            }
        }
    }
}

static void make_cell_side_key(const struct tact_pressure_field *field, uint32_t cell,
                               uint32_t side, struct cell_side_key *key)
{
    const uint32_t *c = field->cells[cell].corner;
    key->cell = cell;
    key->side = side;
    if (field->kind == TACT_FIELD_RIGID) {
        uint32_t p = c[side], q = c[(side + 1) % 3];
        key->corner[0] = p < q ? p : q;
        key->corner[1] = p < q ? q : p;
        key->corner[2] = 0;
        return;
    }
    for (uint32_t i = 0, k = 0; i < 4; i++) {
        if (i != side) {
            key->corner[k++] = c[i];
        }
    }
    sort_corner_indices(key->corner);
}

static struct cell_side_key *list_sorted_cell_sides(const struct tact_pressure_field *field,
                                                    size_t sides)
{
    struct cell_side_key *keys = malloc(field->cell_count * sides * sizeof *keys);
    for (size_t i = 0; keys && i < field->cell_count * sides; i++) {
        make_cell_side_key(field, (uint32_t)(i / sides), (uint32_t)(i % sides), &keys[i]);
    }
    if (keys) {
        qsort(keys, field->cell_count * sides, sizeof *keys, compare_cell_side_keys);
    }
    return keys;
}

static const double *field_vertex_position(const struct tact_pressure_field *field, uint32_t i)
{
    return field->vertices + 3 * (size_t)i;
}

static double signed_distance_from_cell_face_plane(const double *plane, const double *x)
{
    return tact_v3_dot(plane, x) - plane[3];
}

/* Computes the plane of a face, and on which side of the plane its tetrahedra are. */
static int add_interior_face_of_pressure_field(struct tact_pressure_field *field,
                                               const struct cell_side_key *keys, size_t count,
                                               struct tact_error *err)
{
    double u[3], w[3], *plane = field->faces[field->face_count];
    const double *p = field_vertex_position(field, keys->corner[0]);
    tact_v3_sub(u, field_vertex_position(field, keys->corner[1]), p);
    tact_v3_sub(w, field_vertex_position(field, keys->corner[2]), p);
    tact_v3_cross(plane, u, w);
    tact_v3_normalize(plane, plane);
    plane[3] = tact_v3_dot(plane, p);
    if (count > 2) {
        return tact_error_set(err, -EINVAL,
                              "%zu tetrahedra share the face of vertices %u, %u, %u, at most 2 may",
                              count, keys->corner[0], keys->corner[1], keys->corner[2]);
    }
    for (size_t i = 0; i < count; i++) {
        struct field_cell *cell = &field->cells[keys[i].cell];
        uint32_t side = keys[i].side;
        int is_vertex_above_side_plane =
            signed_distance_from_cell_face_plane(
                plane, field_vertex_position(field, cell->corner[side])) > 0.0;
        cell->face[side] = (uint32_t)field->face_count;
        cell->inside = (uint8_t)(cell->inside | is_vertex_above_side_plane << side);
        cell->next[side] = count == 2 ? keys[1 - i].cell : TACT_FIELD_NO_CELL;
        cell->rim = (uint8_t)(cell->rim | (count == 1) << side);
    }
    if (count == 2 && (field->cells[keys[0].cell].inside >> keys[0].side & 1) ==
                          (field->cells[keys[1].cell].inside >> keys[1].side & 1)) {
        return tact_error_set(err, -EINVAL, "tetrahedra %u and %u overlap", keys[0].cell,
                              keys[1].cell);
    }
    field->face_count++;
    return 0;
}

static int find_neighbour_tetrahedra_over_faces(struct tact_pressure_field *field,
                                                struct tact_error *err)
{
    size_t all = 4 * field->cell_count;
    struct cell_side_key *keys = list_sorted_cell_sides(field, 4);
    field->faces = malloc(all * sizeof *field->faces);
    int rc = keys && field->faces ? 0 : -ENOMEM;
    for (size_t i = 0, n; !rc && i < all; i += n) {
        for (n = 1; i + n < all && !memcmp(keys[i].corner, keys[i + n].corner, 12); n++) {
        }
        rc = add_interior_face_of_pressure_field(field, keys + i, n, err);
    }
    free(keys);
    return rc;
}

static double longest_cell_edge(const struct tact_pressure_field *field, const uint32_t *c)
{
    double most = 0.0, edge[3];
    for (int i = 0; i < 6; i++) {
        static const uint8_t corners_of_tetrahedron_edges[6][2] = {{0, 1}, {0, 2}, {0, 3},
                                                                   {1, 2}, {1, 3}, {2, 3}};
        tact_v3_sub(edge, field_vertex_position(field, c[corners_of_tetrahedron_edges[i][0]]),
                    field_vertex_position(field, c[corners_of_tetrahedron_edges[i][1]]));
        most = tact_max(most, tact_v3_norm(edge));
    }
    return most;
}

/* Sets the gradient of a tetrahedron's pressure, and the value that the pressure has at the origin.
 */
static int set_pressure_gradient_of_tetrahedron(struct tact_pressure_field *field, uint32_t i,
                                                struct tact_error *err)
{
    struct field_cell *cell = &field->cells[i];
    const uint32_t *c = cell->corner;
    const double *x = field_vertex_position(field, c[0]), *p = field->pressure;
    double edge[3][3], area[3][3], longest = longest_cell_edge(field, c);
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(edge[k], field_vertex_position(field, c[k + 1]), x);
    }
    for (int k = 0; k < 3; k++) {
        tact_v3_cross(area[k], edge[(k + 1) % 3], edge[(k + 2) % 3]);
    }
    double six = tact_v3_dot(edge[0], area[0]);
    if (!(fabs(six) > 6.0 * MIN_CELL_VOLUME_RATIO * longest * longest * longest)) {
        return tact_error_set(err, -EINVAL, "tetrahedron %u is flat", i);
    }
    memset(cell->gradient, 0, sizeof cell->gradient);
    for (int k = 0; k < 3; k++) {
        tact_v3_axpy(cell->gradient, (p[c[k + 1]] - p[c[0]]) / six, area[k]);
    }
    cell->value_at_origin = p[c[0]] - tact_v3_dot(cell->gradient, x);
    double least = tact_min(tact_min(p[c[0]], p[c[1]]), tact_min(p[c[2]], p[c[3]]));
    double most = tact_max(tact_max(p[c[0]], p[c[1]]), tact_max(p[c[2]], p[c[3]]));
    cell->rim = least < 0.0 ? 16 : 0;
    if (!(most > 0.0)) {
        return tact_error_set(err, -EINVAL,
                              "tetrahedron %u has no pressure: its corners are all on the surface; "
                              "it has to be split at a place inside of it",
                              i);
    }
    return 0;
}

/* Checks that the given pressure is 0 on the boundary of the solid. */
static int check_zero_boundary_pressure(const struct tact_pressure_field *field,
                                        struct tact_error *err)
{
    double most = 0.0;
    for (size_t i = 0; i < field->vertex_count; i++) {
        most = tact_max(most, field->pressure[i]);
    }
    for (size_t i = 0; i < field->cell_count; i++) {
        const struct field_cell *cell = &field->cells[i];
        for (int k = 0; k < 4; k++) {
            for (int side = 0; side < 4; side++) {
                double p = field->pressure[cell->corner[k]];
                if (side != k && cell->rim >> side & 1 && p > BOUNDARY_PRESSURE_TOLERANCE * most) {
                    return tact_error_set(
                        err, -EINVAL,
                        "the pressure at vertex %u, which is on the surface, must be 0, not %g Pa",
                        cell->corner[k], p);
                }
            }
        }
    }
    return 0;
}

static struct tact_pressure_field *allocate_pressure_field(enum tact_pressure_field_kind kind,
                                                           size_t vertices, size_t cells)
{
    struct tact_pressure_field *field = calloc(1, sizeof *field);
    if (!field) {
        return NULL;
    }
    field->kind = kind;
    field->power = 1.0;
    field->vertex_count = vertices;
    field->cell_count = cells;
    field->vertices = calloc(3 * vertices + 1, sizeof(double));
    field->cells = calloc(cells, sizeof *field->cells);
    if (kind == TACT_FIELD_TETS) {
        field->pressure = calloc(vertices, sizeof(double));
    }
    if (!field->vertices || !field->cells || (kind == TACT_FIELD_TETS && !field->pressure)) {
        tact_field_free(field);
        return NULL;
    }
    return field;
}

static int check_given_tetrahedra(const double *vertices, size_t vertex_count, const uint32_t *tets,
                                  size_t tet_count, const double *pressure, struct tact_error *err)
{
    if (!vertex_count || !tet_count || vertex_count >= TACT_FIELD_NO_CELL ||
        tet_count >= TACT_FIELD_NO_CELL / 4) {
        return tact_error_set(
            err, -EINVAL,
            "%zu vertices and %zu tetrahedra are too few or too many for a pressure field",
            vertex_count, tet_count);
    }
    for (size_t i = 0; i < 4 * vertex_count; i++) {
        double x = i < 3 * vertex_count ? vertices[i] : pressure[i - 3 * vertex_count];
        if (!isfinite(x) || (i < 3 * vertex_count && fabs(x) > TACT_MESH_MAX_COORDINATE)) {
            return tact_error_set(err, -EINVAL, "vertex %zu has the %s %g",
                                  i < 3 * vertex_count ? i / 3 : i - 3 * vertex_count,
                                  i < 3 * vertex_count ? "coordinate" : "pressure", x);
        }
    }
    for (size_t i = 0; i < 4 * tet_count; i++) {
        if (tets[i] >= vertex_count) {
            return tact_error_set(err, -EINVAL,
                                  "tetrahedron %zu uses vertex %u of a mesh of %zu vertices", i / 4,
                                  tets[i], vertex_count);
        }
    }
    return 0;
}

int tact_field_tets(const double *vertices, size_t vertex_count, const uint32_t *tets,
                    size_t tet_count, const double *pressure, struct tact_pressure_field **out,
                    struct tact_error *err)
{
    int rc = check_given_tetrahedra(vertices, vertex_count, tets, tet_count, pressure, err);
    *out = NULL;
    if (rc) {
        return rc;
    }
    struct tact_pressure_field *field =
        allocate_pressure_field(TACT_FIELD_TETS, vertex_count, tet_count);
    if (!field) {
        return -ENOMEM;
    }
    memcpy(field->vertices, vertices, 3 * vertex_count * sizeof(double));
    memcpy(field->pressure, pressure, vertex_count * sizeof(double));
    for (uint32_t i = 0; !rc && i < tet_count; i++) {
        memcpy(field->cells[i].corner, tets + 4 * (size_t)i, 4 * sizeof *tets);
        rc = set_pressure_gradient_of_tetrahedron(field, i, err);
    }
    rc = rc ? rc : find_neighbour_tetrahedra_over_faces(field, err);
    rc = rc ? rc : check_zero_boundary_pressure(field, err);
    rc = rc ? rc : tact_field_build_tree(field);
    if (rc) {
        tact_field_free(field);
        return rc;
    }
    *out = field;
    return 0;
}

/* Finds, for each triangle of a closed surface, the neighbouring triangles across its edges. */
static int find_neighbour_triangles_over_edges(struct tact_pressure_field *field)
{
    struct cell_side_key *keys = list_sorted_cell_sides(field, 3);
    if (!keys) {
        return -ENOMEM;
    }
    for (size_t i = 0; i + 1 < 3 * field->cell_count; i += 2) {
        field->cells[keys[i].cell].next[keys[i].side] = keys[i + 1].cell;
        field->cells[keys[i + 1].cell].next[keys[i + 1].side] = keys[i].cell;
    }
    free(keys);
    return 0;
}

int tact_field_rigid(const struct tact_mesh *mesh, struct tact_pressure_field **out)
{
    struct tact_pressure_field *field =
        allocate_pressure_field(TACT_FIELD_RIGID, mesh->vertex_count, mesh->triangle_count);
    *out = NULL;
    if (!field) {
        return -ENOMEM;
    }
    field->is_rigid = 1;
    memcpy(field->vertices, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        struct field_cell *cell = &field->cells[i];
        double u[3], w[3];
        memcpy(cell->corner, mesh->triangles + 3 * i, 3 * sizeof *cell->corner);
        tact_v3_sub(u, field_vertex_position(field, cell->corner[1]),
                    field_vertex_position(field, cell->corner[0]));
        tact_v3_sub(w, field_vertex_position(field, cell->corner[2]),
                    field_vertex_position(field, cell->corner[0]));
        tact_v3_cross(cell->gradient, w, u);
        tact_v3_normalize(cell->gradient, cell->gradient);
    }
    int rc = find_neighbour_triangles_over_edges(field);
    rc = rc ? rc : tact_field_build_tree(field);
    if (rc) {
        tact_field_free(field);
        return rc;
    }
    *out = field;
    return 0;
}

int tact_field_halfspace(double gradient, struct tact_pressure_field **out)
{
    *out = NULL;
    if (!(gradient > 0.0)) {
        return -EINVAL;
    }
    struct tact_pressure_field *field = allocate_pressure_field(TACT_FIELD_HALFSPACE, 0, 1);
    if (!field) {
        return -ENOMEM;
    }
    field->is_rigid = isinf(gradient);
    field->cells->gradient[2] = field->is_rigid ? -1.0 : -gradient;
    *out = field;
    return 0;
}

void tact_field_free(struct tact_pressure_field *field)
{
    if (field) {
        free(field->vertices);
        free(field->pressure);
        free(field->faces);
        free(field->cells);
        free(field->nodes);
        free(field);
    }
}

size_t tact_field_cells(const struct tact_pressure_field *field)
{
    return field->cell_count;
}
