/*
 * Solids of revolution about z. A place of the surface is (s, x, y): the arc parameter s of the
 * profile and the unit vector (x, y) of the half plane in which it lies. There is no seam, and at
 * the axis a place runs through to the opposite half plane.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/shape/kinds_internal.h"
#include "contact/shape/profile_internal.h"

#define PI 3.14159265358979323846
#define SMOOTH_SEGMENT_END_OFFSET                                                                  \
    1e-9 /* distance of the ends of a smooth piece from the surface's edge, relative to the piece  \
          */
#define AXIS_RADIUS_TOLERANCE                                                                      \
    1e-6 /* radius below which curvatures are taken as those at the axis, relative to a segment */
#define MAX_NORMAL_ROTATION_OF_CHART_CELL                                                          \
    0.25 /* largest rotation of the normal along a side of a cell of a surface of revolution [rad] \
          */
#define MAX_CHART_CELL_LENGTH_RATIO 0.1 /* largest length of a cell, relative to the profile */
#define MAX_NORMAL_ROTATION_OF_TRIANGLE                                                            \
    0.1 /* largest rotation of the normal over a triangle of the triangulation [rad] */
#define MAX_TRIANGLE_LENGTH_RATIO 0.05
#define CHART_CELL_ASPECT_RATIO 1.5 /* ratio of the width of a cell to its length */

enum {
    SAMPLES_PER_SEGMENT =
        32, /* number of samples of a segment, by which the profile is cut into rows of cells */
    MAX_CELLS_AROUND_AXIS = 64, /* largest number of cells around the axis */
    MIN_CELLS_AROUND_AXIS =
        6, /* smallest number of cells around the axis, used in the rows next to it */
    MESH_COLUMNS_AROUND_AXIS = 96, /* number of columns of the triangulation around the axis */
};

static const struct segment *find_profile_segment(const struct revolution_surface *v, double s)
{
    int low = 0, high = v->count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (s < v->segment[middle].to) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return &v->segment[low];
}

/* Normal and curvatures of a surface of revolution. The profile's tangent (dr, dz), rotated
 * clockwise, is the outward normal. Curvature along the profile, and of the circle about the axis:
 * at the axis both are equal. */
static void compute_revolution_curvature(const struct segment *g,
                                         const struct profile_curve_point *p, const double *e,
                                         struct tact_surface_point *out)
{
    double speed = tact_hypot(p->dr, p->dz), nr = p->dz / speed, nz = -p->dr / speed;
    const double profile_tangent[3] = {-nz * e[0], -nz * e[1], nr},
                 tangent_of_parallel_circle[3] = {-e[1], e[0], 0.0};
    double k = (p->dr * p->ddz - p->dz * p->ddr) / (speed * speed * speed);
    double curvature_along_parallel_circle =
        p->r > AXIS_RADIUS_TOLERANCE * (g->to - g->from) ? nr / p->r : k;
    tact_v3_set(out->normal, nr * e[0], nr * e[1], nz);
    memset(out->bend, 0, sizeof out->bend);
    tact_surface_add_curvature(out, k, profile_tangent);
    tact_surface_add_curvature(out, curvature_along_parallel_circle, tangent_of_parallel_circle);
}

static int revolution_surface_point(const struct tact_charts *charts, const double place[3],
                                    struct tact_surface_point *out)
{
    const struct revolution_surface *v = (const struct revolution_surface *)charts;
    double size = tact_hypot(place[1], place[2]);
    if (!(place[0] >= 0.0 && place[0] <= v->length) || !(size > 0.0) || !isfinite(size)) {
        return -EDOM;
    }
    const struct segment *g = find_profile_segment(v, place[0]);
    const double e[2] = {place[1] / size, place[2] / size};
    struct profile_curve_point p;
    tact_profile_evaluate_segment(g, place[0], &p);
    tact_v3_set(out->at, p.r * e[0], p.r * e[1], p.z);
    compute_revolution_curvature(g, &p, e, out);
    return 0;
}

/* Moves a place near the axis about the nearer end of the profile, as in polar coordinates of the
 * plane: its distance from the axis along the profile and its direction. */
static double move_surface_position_about_axis(const struct revolution_surface *v,
                                               const struct segment *g,
                                               const struct profile_curve_point *p, double place[3],
                                               double step_along_profile,
                                               double step_along_parallel_circle)
{
    int far = place[0] > 0.5 * v->length;
    double from = far ? v->length - place[0] : place[0];
    double rate = p->r > 0.0 && from > 0.0 ? from / p->r : 1.0 / tact_hypot(p->dr, p->dz);
    double x = from + (far ? -step_along_profile : step_along_profile),
           y = step_along_parallel_circle * rate;
    double tip = far ? v->length - g->most : g->least;
    x = tip > 0.0 ? tact_max(x, tip) : x;
    double to = tact_hypot(x, y);
    const double e[2] = {place[1], place[2]};
    if (to > 0.0) {
        place[1] = (x * e[0] - y * e[1]) / to;
        place[2] = (x * e[1] + y * e[0]) / to;
    }
    return far ? v->length - to : to;
}

static void move_surface_position(const struct tact_charts *charts, double place[3],
                                  const double step[3])
{
    const struct revolution_surface *v = (const struct revolution_surface *)charts;
    const struct segment *g = find_profile_segment(v, place[0]);
    double size = tact_hypot(place[1], place[2]);
    struct profile_curve_point p;
    tact_profile_evaluate_segment(g, place[0], &p);
    place[1] /= size;
    place[2] /= size;
    double step_away_from_axis = step[0] * place[1] + step[1] * place[2];
    double step_along_parallel_circle = step[1] * place[1] - step[0] * place[2];
    double step_along_profile =
        (step_away_from_axis * p.dr + step[2] * p.dz) / (p.dr * p.dr + p.dz * p.dz);
    if (v->closed) {
        double angle = step_along_parallel_circle / p.r, c = tact_cos(angle), d = tact_sin(angle);
        const double e[2] = {place[1], place[2]};
        place[1] = c * e[0] - d * e[1];
        place[2] = c * e[1] + d * e[0];
        place[0] += step_along_profile;
        place[0] -= v->length * floor(place[0] / v->length);
        return;
    }
    place[0] = move_surface_position_about_axis(v, g, &p, place, step_along_profile,
                                                step_along_parallel_circle);
    place[0] = tact_min(tact_max(place[0], g->least), g->most);
}

static const struct chart_surface_type chart_surface_type_of_revolution = {
    .point = revolution_surface_point, .move = move_surface_position};

static struct revolution_surface *allocate_revolution(int profile_segment_count)
{
    struct revolution_surface *v =
        calloc(1, sizeof *v + (size_t)profile_segment_count * sizeof v->segment[0]);
    if (v) {
        v->base.type = &chart_surface_type_of_revolution;
        v->count = profile_segment_count;
    }
    return v;
}

/* Rows of cells along the profile: their bounds s[0 .. count], each row within one piece of the
 * surface. */
struct rows {
    double *s;
    int count;
};

/* Cuts the profile into rows over which the normal rotates by normal_rotation_limit_of_row and
 * which are `length` long, at most, to within a sample. */
static int cut_profile_into_rows_of_cells(const struct revolution_surface *v,
                                          double normal_rotation_limit_of_row, double length,
                                          struct rows *rows)
{
    double normal_rotation_along_row = 0.0, from = 0.0;
    struct profile_curve_point last, p;
    rows->s = malloc(((size_t)v->count * SAMPLES_PER_SEGMENT + 1) * sizeof *rows->s);
    rows->count = 0;
    if (!rows->s) {
        return -ENOMEM;
    }
    rows->s[0] = 0.0;
    for (int i = 0; i < v->count * SAMPLES_PER_SEGMENT; i++) {
        const struct segment *g = &v->segment[i / SAMPLES_PER_SEGMENT];
        int end = i % SAMPLES_PER_SEGMENT + 1 == SAMPLES_PER_SEGMENT;
        double step = (g->to - g->from) / SAMPLES_PER_SEGMENT;
        double to = end ? g->to : g->from + step * (i % SAMPLES_PER_SEGMENT + 1);
        tact_profile_evaluate_segment(g, to - step, &last);
        tact_profile_evaluate_segment(g, to, &p);
        normal_rotation_along_row +=
            fabs(tact_atan2(last.dr * p.dz - last.dz * p.dr, last.dr * p.dr + last.dz * p.dz));
        int edge = end && (v->base.edges || i + 1 == v->count * SAMPLES_PER_SEGMENT);
        if (edge || normal_rotation_along_row >= normal_rotation_limit_of_row ||
            to - from >= length * v->length) {
            rows->s[++rows->count] = to;
            normal_rotation_along_row = 0.0;
            from = to;
        }
    }
    return 0;
}

/* Unit vector around the axis at `step` of `steps` of a full turn. */
static void direction_around_axis(int step, int steps, double e[2])
{
    double angle = 2.0 * PI * step / steps;
    e[0] = tact_cos(angle);
    e[1] = tact_sin(angle);
}

/* Number of cells around the axis in a row: nearly square, and over which the normal rotates
 * little. */
static int count_chart_cells_of_row(const struct profile_curve_point *p,
                                    const struct profile_curve_point *q, double length)
{
    double r = tact_max(p->r, q->r);
    double largest_axial_normal_component =
        tact_max(fabs(p->dz) / tact_hypot(p->dr, p->dz), fabs(q->dz) / tact_hypot(q->dr, q->dz));
    double unrounded_chart_cell_count =
        2.0 * PI *
        tact_max(r / (CHART_CELL_ASPECT_RATIO * length),
                 largest_axial_normal_component / MAX_NORMAL_ROTATION_OF_CHART_CELL);
    return (int)tact_min(tact_max(ceil(unrounded_chart_cell_count), MIN_CELLS_AROUND_AXIS),
                         MAX_CELLS_AROUND_AXIS);
}

/* Appends the cells of the row from `from` to `to`, in one piece of the surface. Returns their
 * number. */
static int append_chart_cells_of_row(const struct revolution_surface *v, double from, double to,
                                     struct chart_surface_cell *cell)
{
    const struct segment *g = find_profile_segment(v, 0.5 * (from + to));
    struct profile_curve_point p, q;
    from = tact_max(from, g->least);
    to = tact_min(to, g->most);
    tact_profile_evaluate_segment(find_profile_segment(v, from), from, &p);
    tact_profile_evaluate_segment(find_profile_segment(v, to), to, &q);
    int columns = count_chart_cells_of_row(&p, &q, to - from);
    for (int j = 0; j < columns; j++) {
        for (int k = 0; k < 9; k++) {
            const int row_of_cell_sample = k / 3;
            cell[j].place[k][0] =
                row_of_cell_sample == 2 ? to : from + 0.5 * row_of_cell_sample * (to - from);
            direction_around_axis(2 * j + k % 3, 2 * columns, cell[j].place[k] + 1);
        }
    }
    return columns;
}

static int build_revolution_cells(struct revolution_surface *v)
{
    struct rows rows;
    int count = 0, rc = cut_profile_into_rows_of_cells(v, MAX_NORMAL_ROTATION_OF_CHART_CELL,
                                                       MAX_CHART_CELL_LENGTH_RATIO, &rows);
    struct chart_surface_cell *cell =
        rc ? NULL : calloc(((size_t)rows.count + 1) * MAX_CELLS_AROUND_AXIS, sizeof *cell);
    for (int i = 0; cell && i < rows.count; i++) {
        count += append_chart_cells_of_row(v, rows.s[i], rows.s[i + 1], cell + count);
    }
    rc = cell ? tact_charts_build(&v->base, cell, count) : -ENOMEM;
    free(cell);
    free(rows.s);
    return rc;
}

int tact_charts_of_rotated_polygon(const double (*corner)[2], int count, struct tact_charts **out)
{
    struct revolution_surface *v = allocate_revolution(count - 1);
    double s = 0.0;
    *out = NULL;
    if (!v) {
        return -ENOMEM;
    }
    v->base.edges = 1;
    for (int i = 0; i + 1 < count; i++) {
        struct segment *g = &v->segment[i];
        double dr = corner[i + 1][0] - corner[i][0], dz = corner[i + 1][1] - corner[i][1];
        double length = tact_hypot(dr, dz);
        int last = i + 2 == count;
        g->from = s;
        g->to = s + length;
        s = g->to;
        g->about = last ? g->to : g->from;
        g->r[0] = corner[i + last][0];
        g->z[0] = corner[i + last][1];
        g->r[1] = dr / length;
        g->z[1] = dz / length;
        int is_surface_smooth_at_axis = dz == 0.0; /* the profile is perpendicular to the axis where
                                              it meets it; else there is a tip */
        g->least = i || !is_surface_smooth_at_axis ? g->from + SMOOTH_SEGMENT_END_OFFSET * length
                                                   : g->from;
        g->most =
            last && is_surface_smooth_at_axis ? g->to : g->to - SMOOTH_SEGMENT_END_OFFSET * length;
    }
    v->length = s;
    int rc = build_revolution_cells(v);
    if (rc) {
        tact_charts_free(&v->base);
        return rc;
    }
    *out = &v->base;
    return 0;
}

/* Appends the vertices of the triangulation at s: one on the axis, else one for each column.
 * Returns their number. */
static int append_circle_vertices(const struct revolution_surface *v, double s, int axis,
                                  double *out)
{
    int columns = axis ? 1 : MESH_COLUMNS_AROUND_AXIS;
    struct profile_curve_point p;
    tact_profile_evaluate_segment(find_profile_segment(v, s), s, &p);
    for (int j = 0; j < columns; j++) {
        double e[2];
        direction_around_axis(j, MESH_COLUMNS_AROUND_AXIS, e);
        tact_v3_set(out + 3 * j, axis ? 0.0 : p.r * e[0], axis ? 0.0 : p.r * e[1], p.z);
    }
    return columns;
}

static void add_triangle(struct tact_soup *soup, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = soup->triangles + 3 * soup->triangle_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

/* Appends the triangles between two circles of vertices, which begin at vertices a and b and have
 * as many vertices as given. */
static void append_triangles_between_circles(struct tact_soup *soup, uint32_t a,
                                             int vertex_count_of_circle_a, uint32_t b,
                                             int vertex_count_of_circle_b)
{
    for (uint32_t j = 0; j < MESH_COLUMNS_AROUND_AXIS; j++) {
        uint32_t k = (j + 1) % MESH_COLUMNS_AROUND_AXIS;
        uint32_t bk = vertex_count_of_circle_b > 1 ? b + k : b;
        if (vertex_count_of_circle_a > 1) {
            add_triangle(soup, a + j, a + k, bk);
        }
        if (vertex_count_of_circle_b > 1) {
            add_triangle(soup, vertex_count_of_circle_a > 1 ? a + j : a, bk, b + j);
        }
    }
}

/* Fills the circles of vertices and the triangles between them. */
static void fill_revolution_triangulation(const struct revolution_surface *v,
                                          const struct rows *rows, struct tact_soup *soup)
{
    uint32_t last = 0;
    int columns = 0;
    for (int i = 0; i <= rows->count; i++) {
        uint32_t first = (uint32_t)soup->vertex_count;
        int end = i == 0 || i == rows->count;
        if (v->closed && i == rows->count) {
            append_triangles_between_circles(soup, last, columns, 0, columns);
            return;
        }
        int now =
            append_circle_vertices(v, rows->s[i], end && !v->closed, soup->vertices + 3 * first);
        soup->vertex_count += (size_t)now;
        if (i) {
            append_triangles_between_circles(soup, last, columns, first, now);
        }
        last = first;
        columns = now;
    }
}

static int make_revolution_mesh(struct revolution_surface *v, struct tact_error *err)
{
    struct tact_error error_of_revolution_mesh = {0};
    struct tact_soup soup = {0};
    struct rows rows;
    int rc = cut_profile_into_rows_of_cells(v, MAX_NORMAL_ROTATION_OF_TRIANGLE,
                                            MAX_TRIANGLE_LENGTH_RATIO, &rows);
    size_t vertices = rc ? 0 : (size_t)(rows.count + 1) * MESH_COLUMNS_AROUND_AXIS;
    if (!rc) {
        soup.vertices = malloc(3 * vertices * sizeof *soup.vertices);
        soup.triangles = malloc(6 * vertices * sizeof *soup.triangles);
        rc = soup.vertices && soup.triangles ? 0 : -ENOMEM;
    }
    if (!rc) {
        fill_revolution_triangulation(v, &rows, &soup);
        rc = tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                              &v->base.mesh, &error_of_revolution_mesh);
    }
    free(rows.s);
    tact_soup_free(&soup);
    return rc == -EINVAL
               ? tact_error_set(err, rc,
                                "the profile encloses no valid solid of revolution: %.100s",
                                error_of_revolution_mesh.text)
               : rc;
}

static int finish_revolution_surface(struct revolution_surface *v, struct tact_error *err)
{
    int rc = tact_profile_check_spline(v, err);
    rc = rc ? rc : make_revolution_mesh(v, err);
    return rc ? rc : build_revolution_cells(v);
}

int tact_charts_revolution(const double (*profile)[2], int count, struct tact_charts **out,
                           struct tact_error *err)
{
    int rc = tact_profile_check(profile, count, err);
    *out = NULL;
    if (rc) {
        return rc;
    }
    size_t n = (size_t)count;
    struct revolution_surface *v = allocate_revolution(count - 1);
    double *scratch = malloc(tact_profile_scratch_size_in_numbers(count) * sizeof *scratch);
    double(*turned)[2] = malloc(n * sizeof *turned);
    if (!v || !scratch || !turned) {
        rc = -ENOMEM;
    } else {
        v->closed = profile[0][0] > 0.0;
        tact_profile_fit(v, profile, scratch);
        if (v->base.mass.volume < 0.0) { /* the profile runs clockwise: its segments are computed
                                            again for the reversed points */
            for (size_t i = 0; i < n; i++) {
                memcpy(turned[i], profile[n - 1 - i], sizeof turned[i]);
            }
            tact_profile_fit(v, (const double(*)[2])turned, scratch);
        }
        rc = finish_revolution_surface(v, err);
    }
    free(turned);
    free(scratch);
    if (rc) {
        tact_charts_free(v ? &v->base : NULL);
        return rc;
    }
    *out = &v->base;
    return 0;
}

const struct tact_shape_type tact_shape_revolution_type = {
    .name = "revolution",
    .faces = TACT_FACES_MIXED,
    .keys = "profile",
    .concave = 1,
    .mass = tact_charts_mass,
    .reach = tact_charts_bounding_radius,
};
