/* tact moments --check: the content of a mesh file, and the reason if it is refused. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cmd_moments_check.h"
#include "command.h"
#include "contact/mesh/mesh.h"
#include "words.h"
#include "text.h"

enum { EXIT_REFUSED = 1, EXIT_FILE_ERROR = 3 };

struct mesh_check {
    const char *path;
    size_t vertices, triangles;
    struct tact_mesh_defects defects;
    struct tact_mesh *mesh; /* NULL where refused */
    double inertia[9];      /* about the centroid, per unit density */
    const char *reason;     /* reason of the refusal */
};

/* The integrals over an open surface depend on the origin. */
static int has_enclosed_volume(const struct tact_mesh_defects *d)
{
    return !d->boundary_edges && !d->nonmanifold_edges && !d->misoriented_edges;
}

static int print_check_json(const struct mesh_check *c)
{
    const struct tact_mesh_defects *d = &c->defects;
    json_t *all =
        json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "file",
                  text_json(c->path), "verdict", c->mesh ? "closed" : "refused", "reason",
                  c->mesh ? json_null() : text_json(c->reason), "vertices", (json_int_t)c->vertices,
                  "triangles", (json_int_t)c->triangles, "components", (json_int_t)d->components,
                  "boundary_edges", (json_int_t)d->boundary_edges, "nonmanifold_edges",
                  (json_int_t)d->nonmanifold_edges, "misoriented_edges",
                  (json_int_t)d->misoriented_edges, "degenerate", (json_int_t)d->degenerate,
                  "crossings", (json_int_t)d->crossings, "misplaced", (json_int_t)d->misplaced,
                  "volume", has_enclosed_volume(d) ? json_real(d->volume) : json_null());
    if (all && c->mesh) {
        json_object_set_new(all, "centroid", text_json_numbers(c->mesh->centroid, 3));
        json_object_set_new(all, "inertia", text_json_numbers(c->inertia, 9));
    }
    return text_print_json(all);
}

static void print_check_table(const struct mesh_check *c)
{
    const struct tact_mesh_defects *d = &c->defects;
    const double *i = c->inertia;
    const bool more = d->crossings > TACT_MESH_CROSSINGS_MAX;
    printf("%s: %s\n", text_make_printable(c->path),
           c->mesh ? "closed" : text_make_printable(c->reason));
    printf("  %-18s %zu\n  %-18s %zu\n  %-18s %zu\n", "vertices", c->vertices, "triangles",
           c->triangles, "components", d->components);
    printf("  %-18s %zu\n  %-18s %zu\n  %-18s %zu\n  %-18s %zu\n  %-18s %s%zu\n  %-18s %zu\n",
           "boundary edges", d->boundary_edges, "non-manifold edges", d->nonmanifold_edges,
           "misoriented edges", d->misoriented_edges, "without area", d->degenerate,
           "crossing pairs", more ? "over " : "", d->crossings - more, "misplaced parts",
           d->misplaced);
    if (has_enclosed_volume(d)) {
        printf("  %-18s %.9g m^3%s\n", "volume", d->volume,
               c->mesh ? "" : " (signed, of the triangles as they are)");
    } else {
        printf("  %-18s none: the surface is not closed\n", "volume");
    }
    if (c->mesh) {
        const double *r = c->mesh->centroid;
        printf("  %-18s %.9g %.9g %.9g m\n", "centroid", r[0], r[1], r[2]);
        printf("  %-18s xx yy zz %.6g %.6g %.6g  xy xz yz %.6g %.6g %.6g m^5\n",
               "inertia of volume", i[0], i[4], i[8], i[1], i[2], i[5]);
    }
}

static void compute_mass_properties(struct mesh_check *c)
{
    const double *s = c->mesh->second;
    for (int i = 0; i < 9; i++) {
        c->inertia[i] = (i % 4 == 0 ? s[0] + s[4] + s[8] : 0.0) - s[i];
    }
}

int check_mesh_of_file(const char *path, double scale, int json)
{
    struct tact_error err = {.line = 0};
    struct tact_soup soup = {0};
    struct mesh_check c = {.path = path, .reason = err.text};
    int rc = read_soup_of_file(path, scale, &soup, &err);
    if (rc) {
        command_print_error(&err);
        return EXIT_FILE_ERROR;
    }
    c.vertices = soup.vertex_count;
    c.triangles = soup.triangle_count;
    rc = tact_mesh_inspect(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                           &c.defects);
    int refused = rc ? rc
                     : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                                        soup.triangle_count, &c.mesh, &err);
    tact_soup_free(&soup);
    if (rc || (refused && !err.text[0])) {
        return command_print_usage_error("tact moments", "%s: %s", path,
                                         strerror(-(rc ? rc : refused)));
    }
    if (c.mesh) {
        compute_mass_properties(&c);
    }
    if (!json) {
        print_check_table(&c);
    } else if (print_check_json(&c)) {
        rc = EXIT_USAGE;
    }
    tact_mesh_free(c.mesh);
    return rc ? rc : c.mesh ? EXIT_GOOD : EXIT_REFUSED;
}
