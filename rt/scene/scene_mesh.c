/* Preparing shapes for contact: mesh files read and checked, surfaces triangulated, and the mass
 * properties that follow from shapes. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/mesh/tets.h"
#include "contact/pair/field/field.h"
#include "contact/shape/charts.h"
#include "contact/vec.h"
#include "rt/file.h"

/* Reads the mesh file of a shape into shape->file_data. */
static int read_mesh_file(const struct tact_scene_check_context *check,
                          const struct tact_scene *scene, const struct tact_scene_files *files,
                          struct tact_scene_shape *shape, const char *path)
{
    int rc;
    if (files && files->get) {
        const void *data = NULL;
        rc = files->get(files->user, shape->file, &data, &shape->file_size);
        if (!rc) {
            shape->file_data = malloc(shape->file_size + 1);
            if (!shape->file_data) {
                return tact_error_set(check->err, -ENOMEM, "out of memory");
            }
            memcpy(shape->file_data, data, shape->file_size);
        }
    } else {
        char name[4096];
        bool is_path_absolute = shape->file[0] == '/';
        snprintf(name, sizeof name, "%s%s%s", is_path_absolute ? "" : scene->directory,
                 is_path_absolute ? "" : "/", shape->file);
        char *data = NULL;
        rc = tact_file_read(name, TACT_FILE_MESH_BYTES, &data, &shape->file_size);
        shape->file_data = data;
    }
    if (rc) {
        tact_scene_report_bad_value(
            check, path, "cannot read mesh file %.200s: %s; expected an OBJ, STL, VTK or Gmsh file",
            shape->file, tact_file_failure_reason(rc));
    }
    return rc;
}

/* Reports a mesh's error, with its file and line, at the scene's key. */
static int report_mesh_error(const struct tact_scene_check_context *check,
                             const struct tact_scene_shape *shape, const struct tact_error *mesh,
                             const char *path, int rc)
{
    char mesh_file_line_text[24] = "";
    if (mesh->line) {
        snprintf(mesh_file_line_text, sizeof mesh_file_line_text, ":%d", mesh->line);
    }
    bool open = strcmp(shape->type, "mesh") == 0 && !mesh->line &&
                !tact_tets_recognise(shape->file_data, shape->file_size);
    tact_scene_report_bad_value(
        check, path, "mesh file %.80s%s: %.150s%s", shape->file, mesh_file_line_text, mesh->text,
        open ? "; expected a closed one, or `type: convex` for its hull" : "");
    return rc;
}

/* Scale factor from the coordinates of a shape's file to metres. */
static double mesh_file_scale(const struct tact_scene_shape *shape)
{
    static const struct {
        const char *name;
        double metres_per_unit;
    } units[] = {{"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}};
    for (int i = 0; shape->unit && i < 3; i++) {
        if (!strcmp(shape->unit, units[i].name)) {
            return shape->scale * units[i].metres_per_unit;
        }
    }
    return shape->scale;
}

/* Scales each axis of a triangle soup by its factor; a mirror image gets its triangles outside
 * out. */
static void scale_soup_axes(struct tact_soup *soup, const double scale[3])
{
    for (size_t i = 0; i < 3 * soup->vertex_count; i++) {
        soup->vertices[i] *= scale[i % 3];
    }
    for (size_t i = 0; scale[0] * scale[1] * scale[2] < 0.0 && i < soup->triangle_count; i++) {
        const uint32_t swapped_triangle_vertex = soup->triangles[3 * i + 1];
        soup->triangles[3 * i + 1] = soup->triangles[3 * i + 2];
        soup->triangles[3 * i + 2] = swapped_triangle_vertex;
    }
}

/* Creates the mesh of a soup, which it frees. */
static int make_mesh_from_soup(struct tact_scene_shape *shape, struct tact_soup *soup,
                               struct tact_error *err)
{
    bool hull = strcmp(shape->type, "convex") == 0;
    int rc = hull ? tact_mesh_hull(soup->vertices, soup->vertex_count, &shape->mesh, err)
                  : tact_mesh_of_soup(soup, &shape->mesh, err);
    tact_soup_free(soup);
    shape->shape.kind = hull ? TACT_SHAPE_CONVEX : TACT_SHAPE_MESH;
    shape->shape.mesh = shape->mesh;
    return rc;
}

static int make_mesh_from_file(const struct tact_scene_check_context *check,
                               struct tact_scene_shape *shape, const char *path)
{
    struct tact_error error_of_mesh_file = {0};
    struct tact_soup soup = {0};
    int rc = tact_soup_read(shape->file_data, shape->file_size, shape->file, mesh_file_scale(shape),
                            &soup, &error_of_mesh_file);
    if (!rc && shape->scale_xyz && !soup.tets) {
        scale_soup_axes(&soup, shape->scale_xyz);
    }
    if (!rc && soup.tets) {
        rc = strcmp(shape->type, "mesh") || shape->scale_xyz
                 ? tact_error_set(&error_of_mesh_file, -EINVAL,
                                  "a mesh file of tetrahedra needs `type: mesh`, and cannot be "
                                  "scaled by `scale_xyz`")
                 : tact_field_check_tets(soup.tets, &error_of_mesh_file);
    }
    if (rc) {
        tact_soup_free(&soup);
    }
    rc = rc ? rc : make_mesh_from_soup(shape, &soup, &error_of_mesh_file);
    return rc ? report_mesh_error(check, shape, &error_of_mesh_file, path, rc) : 0;
}

/* 1 for a shape type whose file is the surface itself, not triangles. */
static bool has_surface_file(const struct tact_scene_shape *shape)
{
    return strcmp(shape->type, "patches") == 0 || strcmp(shape->type, "subdivision") == 0;
}

/* Makes the surface of a file of patches or of a control mesh. */
static int make_surface(const struct tact_scene_check_context *check,
                        struct tact_scene_shape *shape, const char *path)
{
    struct tact_error surface_file_error = {0};
    enum tact_shape_kind kind = (enum tact_shape_kind)tact_shape_kind_find(shape->type);
    int rc = (kind == TACT_SHAPE_PATCHES ? tact_charts_patches : tact_charts_subdivision)(
        shape->file_data, shape->file_size, shape->file, mesh_file_scale(shape), &shape->charts,
        &surface_file_error);
    shape->shape = (struct tact_shape){.kind = kind, .charts = shape->charts};
    rc = rc ? rc : tact_shape_tessellate(&shape->shape);
    return rc ? report_mesh_error(check, shape, &surface_file_error, path, rc) : 0;
}

static int make_generated_mesh(const struct tact_scene_check_context *check,
                               struct tact_scene_shape *shape, const char *path)
{
    struct tact_error error_of_mesh_file = {0};
    struct tact_soup soup;
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_generate(check, shape, path, &soup);
    if (rc) {
        return rc;
    }
    rc = make_mesh_from_soup(shape, &soup, &error_of_mesh_file);
    snprintf(key, sizeof key, "%.100s.generate", path);
    return rc ? tact_scene_report_bad_value(check, key, "%.150s", error_of_mesh_file.text) : 0;
}

/* Makes the surface of a solid of revolution. */
static int make_surface_of_revolution(const struct tact_scene_check_context *check,
                                      struct tact_scene_shape *shape, const char *path)
{
    struct tact_error surface_charts_error = {0};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_charts_revolution((const double(*)[2])shape->profile, (int)shape->profile_count,
                                    &shape->charts, &surface_charts_error);
    shape->shape = (struct tact_shape){.kind = TACT_SHAPE_REVOLUTION, .charts = shape->charts};
    rc = rc ? rc : tact_shape_tessellate(&shape->shape);
    snprintf(key, sizeof key, "%.100s.profile", path);
    return rc ? tact_scene_report_bad_value(
                    check, key, "%.200s", rc == -EINVAL ? surface_charts_error.text : strerror(-rc))
              : 0;
}

static bool are_texts_equal(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* 1 where two shapes use the same mesh: same file, kind and scales. */
static bool has_same_mesh(const struct tact_scene_shape *a, const struct tact_scene_shape *b)
{
    const size_t bytes = 3 * sizeof *a->scale_xyz;
    return a->mesh && a->file && !strcmp(a->file, b->file) && !strcmp(a->type, b->type) &&
           a->scale == b->scale && are_texts_equal(a->unit, b->unit) &&
           !a->scale_xyz == !b->scale_xyz &&
           (!a->scale_xyz || !memcmp(a->scale_xyz, b->scale_xyz, bytes));
}

/* An earlier shape of the list that has the same mesh as `shape`, or NULL. */
static const struct tact_scene_shape *
find_shape_with_same_mesh(const struct tact_scene_shape *shapes, uint32_t count,
                          const struct tact_scene_shape *shape)
{
    for (uint32_t i = 0; i < count; i++) {
        if (&shapes[i] != shape && has_same_mesh(&shapes[i], shape)) {
            return &shapes[i];
        }
    }
    return NULL;
}

/* Shares the mesh of an earlier shape that has the same: it is read and built once and belongs to
 * that shape, which alone has file_data. Returns 0 where there is none. */
static int share_equal_mesh(const struct tact_scene *scene, struct tact_scene_shape *shape)
{
    const struct tact_scene_shape *earlier_shape_with_equal_mesh = NULL;
    for (uint32_t i = 0; !earlier_shape_with_equal_mesh && i < scene->bodies_count; i++) {
        earlier_shape_with_equal_mesh = find_shape_with_same_mesh(
            scene->bodies[i].shapes, scene->bodies[i].shapes_count, shape);
    }
    for (uint32_t i = 0; !earlier_shape_with_equal_mesh && i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        for (uint32_t k = 0; !earlier_shape_with_equal_mesh && k < hand->links_count; k++) {
            earlier_shape_with_equal_mesh = find_shape_with_same_mesh(
                hand->links[k].shapes, hand->links[k].shapes_count, shape);
        }
    }
    if (!earlier_shape_with_equal_mesh) {
        return 0;
    }
    shape->mesh = earlier_shape_with_equal_mesh->mesh;
    shape->shape = earlier_shape_with_equal_mesh->shape;
    return 1;
}

static int load_scene_shape(const struct tact_scene_check_context *check,
                            const struct tact_scene *scene, const struct tact_scene_files *files,
                            struct tact_scene_shape *shape, const char *owner, uint32_t number)
{
    char path[TACT_SCENE_PATH_BYTES];
    struct tact_shape *s = &shape->shape;
    snprintf(path, sizeof path, "%.80s.shapes[%u]", owner, number);
    if (shape->file && !has_surface_file(shape) && share_equal_mesh(scene, shape)) {
        return 0;
    }
    if (shape->file) {
        snprintf(path, sizeof path, "%.80s.shapes[%u].file", owner, number);
        int rc = read_mesh_file(check, scene, files, shape, path);
        if (rc) {
            return rc;
        }
        return has_surface_file(shape) ? make_surface(check, shape, path)
                                       : make_mesh_from_file(check, shape, path);
    }
    if (shape->generate) {
        return make_generated_mesh(check, shape, path);
    }
    if (shape->profile) {
        return make_surface_of_revolution(check, shape, path);
    }
    enum tact_shape_kind kind = (enum tact_shape_kind)tact_shape_kind_find(shape->type);
    struct tact_shape_lengths lengths = {shape->radius, shape->tube, shape->length, {0.0}};
    tact_v3_copy(lengths.size, shape->size);
    *s = tact_shape_sized(kind, &lengths);
    int rc = tact_shape_tessellate(s);
    if (rc) {
        tact_scene_report_bad_value(check, path, "cannot be triangulated: %s", strerror(-rc));
    }
    return rc;
}

/* Volume, first and second moments of shapes at unit density, in their owner's frame. */
struct sums {
    double volume;
    double first[3];   /* integral of r dV */
    double inertia[9]; /* moments about the origin of the owner's frame */
};

static void add_point_inertia(double inertia[9], const double r[3], double mass)
{
    double square = tact_v3_dot(r, r);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inertia[3 * i + j] += mass * ((i == j ? square : 0.0) - r[i] * r[j]);
        }
    }
}

static void add_shape_to_mass_sums(struct sums *sums, const struct tact_scene_shape *shape)
{
    struct tact_shape_mass mass;
    double rotation[9], rotation_times_inertia[9], inertia_in_body_axes[9], centroid[3];
    tact_shape_mass(&shape->shape, &mass);
    tact_quat_to_m3(rotation, shape->quat_wxyz);
    tact_m3_mul(rotation_times_inertia, rotation, mass.inertia);
    tact_m3_mul_t(inertia_in_body_axes, rotation_times_inertia, rotation);
    tact_m3_mul_v3(centroid, rotation, mass.centroid);
    tact_v3_add(centroid, centroid, shape->position);
    sums->volume += mass.volume;
    tact_v3_axpy(sums->first, mass.volume, centroid);
    for (int i = 0; i < 9; i++) {
        sums->inertia[i] += inertia_in_body_axes[i];
    }
    add_point_inertia(sums->inertia, centroid, mass.volume);
}

/* Centre of mass and inertia ixx iyy izz ixy ixz iyz of shapes of uniform density and total mass.
 */
static void compute_mass_of_shapes(const struct tact_scene_shape *shapes, uint32_t count,
                                   double mass, double center[3], double inertia[6])
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < count; i++) {
        add_shape_to_mass_sums(&sums, &shapes[i]);
    }
    tact_v3_scale(center, sums.first, 1.0 / sums.volume);
    add_point_inertia(sums.inertia, center, -sums.volume);
    const int entry_of_3x3_matrix[6] = {0, 4, 8, 1, 2, 5};
    for (int i = 0; i < 6; i++) {
        inertia[i] = sums.inertia[entry_of_3x3_matrix[i]] * (mass / sums.volume);
    }
}

/* Sets mass properties from the shapes of a moving object without an inertia; allocated as by
 * libcyaml. */
static int fill_mass_from_shapes(const struct tact_scene_check_context *check,
                                 const struct tact_scene_shape *shapes, uint32_t count, double mass,
                                 double center[3], double **inertia, const char *owner)
{
    char path[TACT_SCENE_PATH_BYTES];
    *inertia = calloc(6, sizeof **inertia);
    if (!*inertia) {
        return tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    compute_mass_of_shapes(shapes, count, mass, center, *inertia);
    bool are_vertices_finite = true;
    for (int i = 0; i < 6; i++) {
        are_vertices_finite =
            are_vertices_finite && isfinite((*inertia)[i]) && isfinite(center[i % 3]);
    }
    snprintf(path, sizeof path, "%.80s.inertia", owner);
    if (!are_vertices_finite) {
        return tact_scene_report_bad_value(
            check, path,
            "the shapes are too large or too small to compute an inertia; "
            "expected sizes in metres, or the key \"inertia\"");
    }
    return tact_scene_check_inertia(check, *inertia, path);
}

static int make_body_shapes_and_mass(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene, const struct tact_scene_files *files,
                                     uint32_t number)
{
    struct tact_scene_body *body = &scene->bodies[number];
    char path[TACT_SCENE_PATH_BYTES];
    tact_scene_body_key_path(scene, number, path);
    int rc = 0;
    for (uint32_t i = 0; !rc && i < body->shapes_count; i++) {
        rc = load_scene_shape(check, scene, files, &body->shapes[i], path, i);
    }
    if (rc || body->fixed) {
        return rc;
    }
    if (!body->center_of_mass) {
        body->center_of_mass = calloc(3, sizeof *body->center_of_mass);
        if (!body->center_of_mass) {
            return tact_error_set(check->err, -ENOMEM, "out of memory");
        }
        if (body->inertia && body->shapes_count > 0) {
            double discarded_inertia[6];
            compute_mass_of_shapes(body->shapes, body->shapes_count, body->mass,
                                   body->center_of_mass, discarded_inertia);
        }
    }
    return body->inertia
               ? 0
               : fill_mass_from_shapes(check, body->shapes, body->shapes_count, body->mass,
                                       body->center_of_mass, &body->inertia, path);
}

static int make_link_shapes(const struct tact_scene_check_context *check, struct tact_scene *scene,
                            const struct tact_scene_files *files, struct tact_scene_link *link,
                            const char *path)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < link->shapes_count; i++) {
        rc = load_scene_shape(check, scene, files, &link->shapes[i], path, i);
    }
    if (rc) {
        return rc;
    }
    if (!link->inertia) {
        return fill_mass_from_shapes(check, link->shapes, link->shapes_count, link->mass,
                                     link->center_of_mass, &link->inertia, path);
    }
    if (link->shapes_count > 0 && !tact_scene_has_key(check, "%s.center_of_mass", path)) {
        double discarded_inertia[6];
        compute_mass_of_shapes(link->shapes, link->shapes_count, link->mass, link->center_of_mass,
                               discarded_inertia);
    }
    return 0;
}

int tact_scene_load_shapes(const struct tact_scene_check_context *check, struct tact_scene *scene,
                           const struct tact_scene_files *files)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->bodies_count; i++) {
        rc = make_body_shapes_and_mass(check, scene, files, i);
    }
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        struct tact_scene_hand *hand = &scene->hands[i];
        const uint32_t base_coordinate_link_count = tact_scene_base_links(hand);
        for (uint32_t j = base_coordinate_link_count ? base_coordinate_link_count - 1 : 0;
             !rc && j < hand->links_count; j++) {
            char path[TACT_SCENE_PATH_BYTES];
            tact_scene_link_key_path(scene, i, j, path);
            rc = make_link_shapes(check, scene, files, &hand->links[j], path);
        }
    }
    return rc;
}

static void free_scene_shapes(struct tact_scene_shape *shapes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        tact_shape_release(&shapes[i].shape);
        if (!shapes[i].file || shapes[i].file_data) { /* else another shape's */
            tact_mesh_free(shapes[i].mesh);
        }
        tact_charts_free(shapes[i].charts);
        free(shapes[i].file_data);
    }
}

void tact_scene_free_shapes(struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        free_scene_shapes(scene->bodies[i].shapes, scene->bodies[i].shapes_count);
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t j = 0; j < scene->hands[i].links_count; j++) {
            free_scene_shapes(scene->hands[i].links[j].shapes,
                              scene->hands[i].links[j].shapes_count);
        }
    }
}
