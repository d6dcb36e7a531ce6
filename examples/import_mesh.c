/* tact import MESH: a mesh of a type that scenes do not read, as OBJ, by tact-mesh (mesh_reader.c);
 * and the surfaces of a solid in a STEP file, by tact-step (step_reader.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "command.h"
#include "contact/mesh/mesh.h"
#include "contact/shape/charts.h"
#include "import.h"
#include "import_reader.h"
#include "output.h"
#include "text.h"

static bool is_file_of_type(const char *path, const char *const *types)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && types[i]; i++) {
        if (!strcasecmp(dot, types[i])) {
            return true;
        }
    }
    return false;
}

bool is_mesh_file(const char *path)
{
    static const char *const types[] = {".ply", ".glb", ".dae", NULL};
    return is_file_of_type(path, types);
}

bool is_step_file(const char *path)
{
    static const char *const types[] = {".step", ".stp", NULL};
    return is_file_of_type(path, types);
}

static void print_triangles_as_obj(FILE *to, const struct tact_soup *soup)
{
    for (size_t i = 0; i < soup->vertex_count; i++) {
        const double *v = soup->vertices + 3 * i;
        fprintf(to, "v %.9g %.9g %.9g\n", v[0], v[1], v[2]);
    }
    for (size_t i = 0; i < soup->triangle_count; i++) {
        const uint32_t *t = soup->triangles + 3 * i;
        fprintf(to, "f %u %u %u\n", t[0] + 1, t[1] + 1, t[2] + 1);
    }
}

static int write_triangles_to_obj_file(const struct tact_soup *soup, const char *command,
                                       const struct hand_import *h)
{
    struct output output;
    int code = output_open(&output, command, h->out, h->force);
    if (code) {
        return code;
    }
    print_triangles_as_obj(output.to, soup);
    return output_close(&output, EXIT_GOOD, 1);
}

/* Prints as which type of shape a scene can use the mesh. */
static void report_shape_type_of_mesh(const struct tact_soup *soup, const struct hand_import *h)
{
    struct tact_mesh_defects d;
    double lower[3] = {0.0}, upper[3] = {0.0};
    for (size_t i = 0; i < 3 * soup->vertex_count; i++) {
        const double x = soup->vertices[i];
        lower[i % 3] = i < 3 || x < lower[i % 3] ? x : lower[i % 3];
        upper[i % 3] = i < 3 || x > upper[i % 3] ? x : upper[i % 3];
    }
    if (h->quiet || tact_mesh_inspect(soup->vertices, soup->vertex_count, soup->triangles,
                                      soup->triangle_count, &d)) {
        return;
    }
    const bool closed = !d.boundary_edges && !d.nonmanifold_edges && !d.misoriented_edges &&
                        !d.degenerate && !d.crossings && !d.misplaced && d.volume > 0.0;
    printf("%s: %zu triangles, %.6g x %.6g x %.6g in the file's unit; %s\n",
           text_make_printable(h->out), soup->triangle_count, upper[0] - lower[0],
           upper[1] - lower[1], upper[2] - lower[2],
           closed
               ? "closed: usable by `type: mesh`"
               : "not closed (see `tact moments --check`): its hull is usable by `type: convex`");
}

int import_mesh(const char *command, const struct hand_import *h)
{
    struct tact_error err = {.line = 0};
    struct tact_soup soup = {0};
    char *text = NULL;
    size_t size = 0;
    int rc = import_read_in_other_process(h->path, "tact-mesh", strrchr(h->path, '.') + 1, &text,
                                          &size, &err);
    rc = rc ? rc : tact_soup_read(text ? text : "", size, h->path, 1.0, &soup, &err);
    free(text);
    if (rc) {
        return command_print_error(&err);
    }
    int code = write_triangles_to_obj_file(&soup, command, h);
    if (code == EXIT_GOOD) {
        report_shape_type_of_mesh(&soup, h);
    }
    tact_soup_free(&soup);
    return code;
}

/* Prints as which type of shape a scene can use the surfaces. */
static void report_shape_type_of_surfaces(const char *text, const struct tact_charts *charts,
                                          const struct hand_import *h)
{
    struct tact_shape shape = {.kind = TACT_SHAPE_PATCHES, .charts = charts};
    struct tact_shape_mass mass;
    int written_surface_count = 0;
    for (const char *at = text; (at = strstr(at, "\nsurf "));) {
        written_surface_count++;
        at++;
    }
    if (!h->quiet && !tact_shape_tessellate(&shape)) {
        tact_shape_mass(&shape, &mass);
        printf("%s: %d surfaces, a solid of %.6g m^3; `type: patches` takes it\n",
               text_make_printable(h->out), written_surface_count, mass.volume);
        tact_shape_release(&shape);
    }
}

int import_step_file_as_surfaces(const char *command, const struct hand_import *h)
{
    struct tact_error err = {.line = 0};
    struct tact_charts *charts = NULL;
    struct output output;
    char *text = NULL;
    size_t size = 0;
    int rc = import_read_in_other_process(h->path, "tact-step", "step", &text, &size, &err);
    if (!rc) {
        rc = tact_charts_patches(text ? text : "", size, NULL, 1.0, &charts, &err);
        err.line = 0; /* a line of `text`, which the user does not have */
    }
    if (rc) {
        free(text);
        return command_print_error(&err);
    }
    int code = output_open(&output, command, h->out, h->force);
    if (code == EXIT_GOOD) {
        fwrite(text, 1, size, output.to);
        code = output_close(&output, EXIT_GOOD, 1);
    }
    if (code == EXIT_GOOD) {
        report_shape_type_of_surfaces(text, charts, h);
    }
    tact_charts_free(charts);
    free(text);
    return code;
}
