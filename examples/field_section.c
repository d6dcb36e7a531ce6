/* A section through a pressure field: contour lines of the extent, and the intersection with the
 * mesh. */
#include "field_section.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "contact/pair/field/extent.h"
#include "contact/vec.h"
#include "drawing.h"

enum { SAMPLES = 240, LINES = 12 }; /* samples along the longer side; number of contour lines */

/* Indices of the two coordinate axes in the plane of the section. */
static int get_first_axis_in_section_plane(const struct pressure_field_section *s)
{
    return s->axis == 0 ? 1 : 0;
}

static int get_second_axis_in_section_plane(const struct pressure_field_section *s)
{
    return s->axis == 2 ? 1 : 2;
}

/* Writes the point at which the edge from p to q, whose ends are on two sides of the plane, crosses
 * it. */
static void write_section_line_of_triangle(const struct pressure_field_section *s, const double *p,
                                           const double *q, FILE *to)
{
    double share = (s->at - p[s->axis]) / (q[s->axis] - p[s->axis]);
    int u = get_first_axis_in_section_plane(s), v = get_second_axis_in_section_plane(s);
    fprintf(to, "%.6g %.6g\n", p[u] + share * (q[u] - p[u]), p[v] + share * (q[v] - p[v]));
}

static void write_outline_of_field_surface(const struct pressure_field_section *s, FILE *to)
{
    const struct tact_mesh *mesh = s->mesh;
    fputs("$surface << EOD\n", to);
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        const double *p[3];
        int any = 0;
        for (int k = 0; k < 3; k++) {
            p[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + (size_t)k];
        }
        for (int k = 0; k < 3; k++) {
            const double *from = p[k], *next = p[(k + 1) % 3];
            if ((from[s->axis] > s->at) != (next[s->axis] > s->at)) {
                write_section_line_of_triangle(s, from, next, to);
                any = 1;
            }
        }
        fputs(any ? "\n\n" : "", to);
    }
    fputs("EOD\n", to);
}

static void write_field_extent_samples(const struct pressure_field_section *s, FILE *to)
{
    int u = get_first_axis_in_section_plane(s), v = get_second_axis_in_section_plane(s);
    const struct tact_mesh_node *bounds = &s->mesh->nodes[0];
    double side[2] = {bounds->upper[u] - bounds->lower[u], bounds->upper[v] - bounds->lower[v]};
    double step = 1.1 * tact_max(side[0], side[1]) / SAMPLES, x[3];
    int count[2];
    for (int k = 0; k < 2; k++) {
        count[k] = 2 + (int)(1.1 * side[k] / step);
    }
    x[s->axis] = s->at;
    fputs("$extent << EOD\n", to);
    for (int j = 0; j < count[1]; j++) {
        x[v] = bounds->lower[v] - 0.05 * side[1] + j * step;
        for (int i = 0; i < count[0]; i++) {
            x[u] = bounds->lower[u] - 0.05 * side[0] + i * step;
            fprintf(to, "%.6g %.6g %.6g\n", x[u], x[v],
                    tact_field_pressure(s->field, x) / s->slope);
        }
        fputs("\n", to);
    }
    fputs("EOD\n", to);
}

static void write_field_section_heading(const struct drawing *d)
{
    int pdf = d->terminal && !strcmp(d->terminal, "pdfcairo");
    if (d->terminal) {
        fprintf(d->to,
                "set terminal %s size %s font 'DejaVu Sans,%d' background rgb 'white' "
                "noenhanced\n",
                d->terminal, pdf ? "6,5" : "900,750", pdf ? 10 : 13);
    }
}

int field_section_draw(const struct pressure_field_section *s, const char *command, const char *out,
                       int force)
{
    struct drawing d;
    int code = drawing_open(&d, command, out, force);
    if (code) {
        return code;
    }
    write_field_section_heading(&d);
    write_outline_of_field_surface(s, d.to);
    write_field_extent_samples(s, d.to);
    fprintf(d.to,
            "set title 'extent [m] at %c = %.6g m'\nset size ratio -1\nset key outside bottom\n"
            "set xlabel '%c [m]'\nset ylabel '%c [m]'\nset cblabel 'extent [m]'\n"
            "set palette defined (0 '#2040c0', 0.5 '#20a060', 1 '#d04020')\n"
            "set contour base\nset cntrparam levels incremental %.6g, %.6g, %.6g\nunset surface\n"
            "set table $lines\nsplot $extent using 1:2:3\nunset table\n"
            "plot $lines using 1:2:3 with lines lc palette lw 1.2 notitle, "
            "$surface using 1:2 with lines lc black lw 1.5 title 'mesh'\n",
            "xyz"[s->axis], s -> at, "xyz"[get_first_axis_in_section_plane(s)],
            "xyz"[get_second_axis_in_section_plane(s)], s -> deepest / LINES / 2,
            s -> deepest / LINES, s -> deepest);
    return drawing_close(&d);
}
