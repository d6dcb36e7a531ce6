/* Masses of bodies from their shapes, by the rules of MuJoCo (its XML reference, `inertial`,
 * `geom/density`, `mesh/inertia`). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rt/model/model_internal.h"

#define PI 3.14159265358979323846

void tact_model_add_mass(struct model_mass_properties *sum,
                         const struct model_mass_properties *part,
                         const struct tact_pose *pose_of_added_part)
{
    double rotation[9], rotation_times_inertia[9], rotated_inertia[9], center[3], common_center[3];
    if (!(part->mass > 0.0)) {
        return;
    }
    const double total_mass = sum->mass + part->mass;
    tact_quat_to_m3(rotation, pose_of_added_part->quat_wxyz);
    tact_m3_mul(rotation_times_inertia, rotation, part->inertia);
    tact_m3_mul_t(rotated_inertia, rotation_times_inertia, rotation);
    tact_pose_point(center, pose_of_added_part, part->center);
    for (int i = 0; i < 3; i++) {
        common_center[i] = (sum->mass * sum->center[i] + part->mass * center[i]) / total_mass;
    }
    /* parallel-axis theorem about the joint centre of mass: reduced mass times the squared distance
     * of the two centres */
    double body_centre_offset[3];
    tact_v3_sub(body_centre_offset, center, sum->center);
    const double reduced_mass = sum->mass * part->mass / total_mass,
                 square = tact_v3_dot(body_centre_offset, body_centre_offset);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum->inertia[3 * i + j] +=
                rotated_inertia[3 * i + j] +
                reduced_mass *
                    ((i == j ? square : 0.0) - body_centre_offset[i] * body_centre_offset[j]);
        }
    }
    tact_v3_copy(sum->center, common_center);
    sum->mass = total_mass;
}

/* Area, unit normal and centre of a triangle. */
static double measure_triangle_area_and_normal(const double *a, const double *b, const double *c,
                                               double normal[3], double center[3])
{
    double ab[3], ac[3], cross[3];
    tact_v3_sub(ab, b, a);
    tact_v3_sub(ac, c, a);
    tact_v3_cross(cross, ab, ac);
    for (int i = 0; i < 3; i++) {
        center[i] = (a[i] + b[i] + c[i]) / 3.0;
    }
    return 0.5 * tact_v3_normalize(normal, cross);
}

/* Signed volume of the pyramid over a triangle, or the triangle's area, according to the mass rule.
 */
static double measure_pyramid_on_triangle(enum model_mesh_mass_rule rule, const double *a,
                                          const double *b, const double *c, const double apex[3],
                                          double center[3])
{
    double normal[3], from[3];
    const double area = measure_triangle_area_and_normal(a, b, c, normal, center);
    tact_v3_sub(from, center, apex);
    const double volume = tact_v3_dot(from, normal) * area / 3.0;
    return rule == MODEL_MASS_SHELL                         ? area
           : rule == MODEL_MESH_MASS_LEGACY && volume < 0.0 ? -volume
                                                            : volume;
}

/* Centre of a mesh's surface: the mean of all triangle centres, weighted by their areas. */
static void find_surface_center(const double *v, const uint32_t *t, size_t count, double center[3])
{
    double sum = 0.0, normal[3], triangle_center[3];
    tact_v3_set(center, 0.0, 0.0, 0.0);
    for (size_t i = 0; i < count; i++) {
        const double area = measure_triangle_area_and_normal(
            v + 3 * t[3 * i], v + 3 * t[3 * i + 1], v + 3 * t[3 * i + 2], normal, triangle_center);
        tact_v3_axpy(center, area, triangle_center);
        sum += area;
    }
    tact_v3_scale(center, center, sum > 0.0 ? 1.0 / sum : 0.0);
}

/* Adds the products of inertia of one pyramid or triangle, with corners relative to the centre of
 * mass. */
static void add_pyramid_inertia_products(double inertia_products[9], const double *d,
                                         const double *e, const double *f, double pyramid_volume,
                                         double pyramid_inertia_divisor)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inertia_products[3 * i + j] +=
                pyramid_volume / pyramid_inertia_divisor *
                (2.0 * (d[i] * d[j] + e[i] * e[j] + f[i] * f[j]) + d[i] * e[j] + d[j] * e[i] +
                 d[i] * f[j] + d[j] * f[i] + e[i] * f[j] + e[j] * f[i]);
        }
    }
}

/* Volume (or area), centre and inertia of unit density of triangles, by the rule: pyramids over the
 * triangles with the apex in the centre of the surface give the centre of mass, and again with the
 * apex there the rest. */
static void integrate_mesh_mass(enum model_mesh_mass_rule rule, const double *v, const uint32_t *t,
                                size_t count, const double mesh_surface_center[3],
                                struct model_mass_properties *out)
{
    double sum = 0.0, center[3], inertia_products[9] = {0.0};
    *out = (struct model_mass_properties){.mass = 0.0};
    for (size_t i = 0; i < count; i++) {
        const double pyramid_volume =
            measure_pyramid_on_triangle(rule, v + 3 * t[3 * i], v + 3 * t[3 * i + 1],
                                        v + 3 * t[3 * i + 2], mesh_surface_center, center);
        sum += pyramid_volume;
        tact_v3_axpy(out->center, 0.75 * pyramid_volume, center);
        tact_v3_axpy(out->center, 0.25 * pyramid_volume, mesh_surface_center);
    }
    if (!(sum > 0.0)) {
        return;
    }
    tact_v3_scale(out->center, out->center, 1.0 / sum);
    const double origin[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < count; i++) {
        double corner[3][3];
        for (int k = 0; k < 3; k++) {
            tact_v3_sub(corner[k], v + 3 * t[3 * i + (size_t)k], out->center);
        }
        const double pyramid_volume =
            measure_pyramid_on_triangle(rule, corner[0], corner[1], corner[2], origin, center);
        out->mass += pyramid_volume;
        add_pyramid_inertia_products(inertia_products, corner[0], corner[1], corner[2],
                                     pyramid_volume, rule == MODEL_MASS_SHELL ? 12.0 : 20.0);
    }
    const double inertia_product_trace =
        inertia_products[0] + inertia_products[4] + inertia_products[8];
    for (int i = 0; i < 9; i++) {
        out->inertia[i] = (i % 4 ? 0.0 : inertia_product_trace) - inertia_products[i];
    }
}

/* Reads the triangles of a mesh: its coordinates in single precision, as MuJoCo has them, scaled;
 * a mirrored mesh is turned outside out again. */
static int load_mesh_for_mass(struct model *m, struct model_mesh *mesh)
{
    struct tact_error error = {.line = 0};
    char *data = NULL;
    uint64_t size = 0;
    if (mesh->is_mesh_loaded) {
        return 0;
    }
    int rc = m->files->read(m->files->user, mesh->path, &data, &size);
    if (rc) {
        tact_model_report_error(m, mesh->line, "mesh: cannot read %.200s: %s", mesh->path,
                                strerror(-rc));
        return rc;
    }
    rc = tact_soup_read(data, size, mesh->path, 1.0, &mesh->soup, &error);
    free(data);
    if (rc) {
        return rc == -ENOMEM ? tact_model_report_no_memory(m)
                             : tact_model_report_error(m, mesh->line, "mesh %.80s: %.200s",
                                                       mesh->path, error.text);
    }
    for (size_t i = 0; i < 3 * mesh->soup.vertex_count; i++) {
        mesh->soup.vertices[i] = (double)(float)mesh->soup.vertices[i] * mesh->scale[i % 3];
    }
    const bool is_mesh_mirrored = mesh->scale[0] * mesh->scale[1] * mesh->scale[2] < 0.0;
    for (size_t i = 0; is_mesh_mirrored && i < mesh->soup.triangle_count; i++) {
        const uint32_t swapped_triangle_vertex = mesh->soup.triangles[3 * i + 1];
        mesh->soup.triangles[3 * i + 1] = mesh->soup.triangles[3 * i + 2];
        mesh->soup.triangles[3 * i + 2] = swapped_triangle_vertex;
    }
    mesh->is_mesh_loaded = true;
    return 0;
}

/* Notes a mesh whose mass differs from that of its enclosed volume. */
static void note_mesh_mass_differs_from_volume(struct model *m, const struct model_mesh *mesh,
                                               const double center[3],
                                               const struct model_mass_properties *found)
{
    struct model_mass_properties mesh_mass_by_enclosed_volume;
    integrate_mesh_mass(MODEL_MESH_MASS_EXACT, mesh->soup.vertices, mesh->soup.triangles,
                        mesh->soup.triangle_count, center, &mesh_mass_by_enclosed_volume);
    if (!(mesh_mass_by_enclosed_volume.mass > 0.999 * found->mass)) {
        tact_model_add_note(
            m, mesh->line,
            "mesh \"%.60s\" is open or not star-shaped: its mass is that of %.6g m^3, as "
            "MuJoCo's rule `legacy` has it; the volume is %.6g m^3",
            mesh->name, found->mass, mesh_mass_by_enclosed_volume.mass);
    }
}

static int compute_mesh_mass(struct model *m, struct model_mesh *mesh,
                             struct model_mass_properties *out)
{
    struct tact_error error = {.line = 0};
    struct tact_mesh *hull = NULL;
    double center[3];
    int rc = load_mesh_for_mass(m, mesh);
    if (rc) {
        return rc;
    }
    const struct tact_soup *s = &mesh->soup;
    find_surface_center(s->vertices, s->triangles, s->triangle_count, center);
    if (mesh->rule == MODEL_MESH_MASS_CONVEX) {
        rc = tact_mesh_hull(s->vertices, s->vertex_count, &hull, &error);
        if (rc) {
            return rc == -ENOMEM ? tact_model_report_no_memory(m)
                                 : tact_model_report_error(m, mesh->line, "mesh %.80s: %.200s",
                                                           mesh->path, error.text);
        }
    }
    integrate_mesh_mass(mesh->rule, hull ? hull->vertices : s->vertices,
                        hull ? hull->triangles : s->triangles,
                        hull ? hull->triangle_count : s->triangle_count, center, out);
    tact_mesh_free(hull);
    if (!(out->mass > 1e-15)) {
        return tact_model_report_error(
            m, mesh->line,
            "mesh \"%.60s\": its volume is not above 0: are its triangles inside out?", mesh->name);
    }
    if (mesh->rule == MODEL_MESH_MASS_LEGACY) {
        note_mesh_mass_differs_from_volume(m, mesh, center, out);
    }
    return 0;
}

/* Sets moments of inertia about three axes of symmetry. */
static void set_principal_inertia(struct model_mass_properties *out, double x, double y, double z)
{
    out->inertia[0] = x;
    out->inertia[4] = y;
    out->inertia[8] = z;
}

/* Volume and inertia of unit density of a primitive about its centre. */
static void compute_primitive_mass(const struct model_geom *g, struct model_mass_properties *out)
{
    const double r = g->size[0], h = g->size[1], *s = g->size;
    *out = (struct model_mass_properties){.mass = 0.0};
    switch (g->kind) {
    case MODEL_GEOM_SPHERE:
        out->mass = 4.0 / 3.0 * PI * r * r * r;
        set_principal_inertia(out, 0.4 * out->mass * r * r, 0.4 * out->mass * r * r,
                              0.4 * out->mass * r * r);
        break;
    case MODEL_GEOM_CAPSULE: {
        const double cylinder_volume = 2.0 * PI * r * r * h,
                     cap_volume = 4.0 / 3.0 * PI * r * r * r;
        const double transverse_inertia = cylinder_volume * (0.25 * r * r + h * h / 3.0) +
                                          cap_volume * (0.4 * r * r + h * h + 0.75 * r * h);
        out->mass = cylinder_volume + cap_volume;
        set_principal_inertia(out, transverse_inertia, transverse_inertia,
                              0.5 * cylinder_volume * r * r + 0.4 * cap_volume * r * r);
        break;
    }
    case MODEL_GEOM_CYLINDER: {
        out->mass = 2.0 * PI * r * r * h;
        const double transverse_inertia = out->mass * (0.25 * r * r + h * h / 3.0);
        set_principal_inertia(out, transverse_inertia, transverse_inertia, 0.5 * out->mass * r * r);
        break;
    }
    default: { /* box, ellipsoid */
        const bool box = g->kind == MODEL_GEOM_BOX;
        const double part = box ? 1.0 / 3.0 : 0.2;
        out->mass = (box ? 8.0 : 4.0 / 3.0 * PI) * s[0] * s[1] * s[2];
        set_principal_inertia(out, part * out->mass * (s[1] * s[1] + s[2] * s[2]),
                              part * out->mass * (s[0] * s[0] + s[2] * s[2]),
                              part * out->mass * (s[0] * s[0] + s[1] * s[1]));
    }
    }
}

static int add_geom_mass(struct model *m, const struct model_geom *g,
                         struct model_mass_properties *sum)
{
    struct model_mass_properties unit = {.mass = 0.0};
    int rc = 0;
    if (g->kind == MODEL_GEOM_MESH) {
        rc = compute_mesh_mass(m, &m->meshes.at[g->mesh], &unit);
    } else {
        compute_primitive_mass(g, &unit);
    }
    if (rc) {
        return rc;
    }
    const double density = g->mass >= 0.0 ? g->mass / unit.mass : g->density;
    unit.mass *= density;
    for (int i = 0; i < 9; i++) {
        unit.inertia[i] *= density;
    }
    tact_model_add_mass(sum, &unit, &g->pose);
    return 0;
}

/* The body to whose mass a shape is added; NULL where the file gives the body's mass. */
static struct model_body *body_receiving_geom_mass(struct model *m, const struct model_geom *g)
{
    struct model_body *body = &m->bodies.at[g->body];
    return g->adds_to_body_mass && !body->has_mass_in_file && g->body ? body : NULL;
}

static int check_body_masses(struct model *m)
{
    for (size_t i = 1; i < m->bodies.count; i++) {
        const struct model_mass_properties *mass = &m->bodies.at[i].mass;
        bool are_mass_properties_finite =
            isfinite(mass->mass) && isfinite(tact_v3_norm(mass->center));
        for (int k = 0; k < 9; k++) {
            are_mass_properties_finite &= isfinite(mass->inertia[k]) != 0;
        }
        if (!are_mass_properties_finite) {
            return tact_model_report_error(m, m->bodies.at[i].line,
                                           "the mass or inertia of this body is too large");
        }
    }
    return 0;
}

int tact_model_compute_masses(struct model *m)
{
    double total_mass_of_bodies = 0.0;
    for (size_t i = 0; i < m->geoms.count;
         i++) { /* first clears the masses that are computed from shapes */
        struct model_body *body = body_receiving_geom_mass(m, &m->geoms.at[i]);
        if (body) {
            body->mass = (struct model_mass_properties){.mass = 0.0};
        }
    }
    for (size_t i = 0; i < m->geoms.count; i++) {
        struct model_body *body = body_receiving_geom_mass(m, &m->geoms.at[i]);
        int rc = body ? add_geom_mass(m, &m->geoms.at[i], &body->mass) : 0;
        if (rc) {
            return rc;
        }
    }
    for (size_t i = 1; i < m->bodies.count; i++) {
        struct model_mass_properties *mass = &m->bodies.at[i].mass;
        mass->mass = tact_max(mass->mass, m->min_body_mass);
        total_mass_of_bodies += mass->mass;
    }
    for (size_t i = 1; m->total_mass > 0.0 && total_mass_of_bodies > 0.0 && i < m->bodies.count;
         i++) {
        struct model_mass_properties *mass = &m->bodies.at[i].mass;
        const double body_mass_scale = m->total_mass / total_mass_of_bodies;
        mass->mass *= body_mass_scale;
        for (int k = 0; k < 9; k++) {
            mass->inertia[k] *= body_mass_scale;
        }
    }
    return check_body_masses(m);
}
