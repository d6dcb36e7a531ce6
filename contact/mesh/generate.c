#include "contact/mesh/generate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"

static const double PI = 3.14159265358979323846;

const char *const tact_generate_names[TACT_GENERATE_KINDS + 1] = {"prism", "gear", "torus",
                                                                  "knot",  "blob", "bumpy_cube"};

static int allocate_soup(struct tact_soup *soup, size_t vertices, size_t triangles)
{
    memset(soup, 0, sizeof *soup);
    soup->vertices = malloc(3 * vertices * sizeof *soup->vertices);
    soup->triangles = malloc(3 * triangles * sizeof *soup->triangles);
    return soup->vertices && soup->triangles ? 0 : -ENOMEM;
}

static double *append_soup_vertex(struct tact_soup *soup)
{
    return soup->vertices + 3 * soup->vertex_count++;
}

static void append_soup_triangle(struct tact_soup *soup, size_t a, size_t b, size_t c)
{
    uint32_t *t = soup->triangles + 3 * soup->triangle_count++;
    t[0] = (uint32_t)a;
    t[1] = (uint32_t)b;
    t[2] = (uint32_t)c;
}

static void append_quad_as_two_triangles(struct tact_soup *soup, size_t a, size_t b, size_t c,
                                         size_t d)
{
    append_soup_triangle(soup, a, b, c);
    append_soup_triangle(soup, a, c, d);
}

/* Pseudo-random value from 0 to 1 for a point of the noise lattice (lowbias32 of Wellons over a mix
 * of the four).
 */
static double random_value_of_lattice_point(const int32_t at[3], uint32_t seed)
{
    uint32_t h = (uint32_t)at[0] * 0x9e3779b1u ^ (uint32_t)at[1] * 0x85ebca77u ^
                 (uint32_t)at[2] * 0xc2b2ae3du ^ seed * 0x27d4eb2fu;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return (double)h / 4294967295.0;
}

/* Value noise from 0 to 1 at a point: smooth interpolation of the lattice's random values. */
static double interpolated_value_noise(const double p[3], uint32_t seed)
{
    int32_t low[3];
    double t[3], sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double noise_lattice_index = floor(p[k]), x = p[k] - noise_lattice_index;
        low[k] = (int32_t)noise_lattice_index;
        t[k] = x * x * (3.0 - 2.0 * x);
    }
    for (int i = 0; i < 8; i++) {
        const int32_t at[3] = {low[0] + (i & 1), low[1] + (i >> 1 & 1), low[2] + (i >> 2)};
        sum += random_value_of_lattice_point(at, seed) * (i & 1 ? t[0] : 1.0 - t[0]) *
               (i >> 1 & 1 ? t[1] : 1.0 - t[1]) * (i >> 2 ? t[2] : 1.0 - t[2]);
    }
    return sum;
}

/* Projects a point of the cube of half edge 1 to the bumpy surface along its ray from the centre:
 * the solid is star-shaped and cannot intersect itself. */
static void project_to_bumpy_surface(const struct tact_generate *g, double p[3])
{
    double point_in_noise_lattice[3], size = g->edge * 0.5;
    if (g->kind == TACT_GENERATE_BLOB) {
        tact_v3_normalize(p, p);
        size = g->radius;
    }
    tact_v3_scale(point_in_noise_lattice, p, 0.5 * g->count);
    double height_of_bumpy_surface =
        g->bump * interpolated_value_noise(point_in_noise_lattice, g->seed);
    tact_v3_scale(p, p, size + height_of_bumpy_surface);
}

/* Makes a cube of six faces of n x n squares; vertices on shared edges are bitwise equal. */
static int make_bumpy_cube(const struct tact_generate *g, struct tact_soup *soup)
{
    size_t n = (size_t)lround(sqrt(g->triangles / 12.0)), row = n + 1;
    int rc = allocate_soup(soup, 6 * row * row, 12 * n * n);
    for (int face = 0; !rc && face < 6; face++) {
        size_t first = soup->vertex_count;
        int axis = face % 3;
        for (size_t i = 0; i < row * row; i++) {
            double *p = append_soup_vertex(soup);
            p[axis] = face < 3 ? 1.0 : -1.0;
            size_t u = i / row, v = i % row;
            p[(axis + 1) % 3] = (2.0 * (double)u - (double)n) / (double)n;
            p[(axis + 2) % 3] = (2.0 * (double)v - (double)n) / (double)n;
            project_to_bumpy_surface(g, p);
        }
        for (size_t i = 0; i < n * n; i++) {
            size_t a = first + i / n * row + i % n, b = a + row, c = b + 1, d = a + 1;
            if (face < 3) {
                append_quad_as_two_triangles(soup, a, b, c, d);
            } else {
                append_quad_as_two_triangles(soup, a, d, c, b);
            }
        }
    }
    return rc;
}

/* Appends outward quads between consecutive rings of `vertices_per_ring` vertices;
 * is_last_ring_joined_to_first: 1 where the last ring joins the first. */
static void append_quads_between_rings(struct tact_soup *soup, size_t first,
                                       size_t vertex_ring_count, size_t vertices_per_ring,
                                       int is_last_ring_joined_to_first)
{
    for (size_t i = 0; i + 1 < vertex_ring_count + (is_last_ring_joined_to_first ? 1 : 0); i++) {
        size_t low = first + i * vertices_per_ring,
               high = first + (i + 1) % vertex_ring_count * vertices_per_ring;
        for (size_t j = 0; j < vertices_per_ring; j++) {
            size_t k = (j + 1) % vertices_per_ring;
            append_quad_as_two_triangles(soup, low + j, low + k, high + k, high + j);
        }
    }
}

static int make_prism_soup(const struct tact_generate *g, struct tact_soup *soup)
{
    size_t sides = g->count;
    int rc = allocate_soup(soup, 2 * sides, 4 * sides - 4);
    for (int end = 0; !rc && end < 2; end++) {
        for (size_t i = 0; i < sides; i++) {
            double angle = 2.0 * PI * (double)i / (double)sides;
            tact_v3_set(append_soup_vertex(soup), g->radius * tact_cos(angle),
                        g->radius * tact_sin(angle), (end ? 0.5 : -0.5) * g->height);
        }
    }
    for (size_t i = 1; !rc && i + 1 < sides; i++) {
        append_soup_triangle(soup, 0, i + 1, i);
        append_soup_triangle(soup, sides, sides + i, sides + i + 1);
    }
    if (!rc) {
        append_quads_between_rings(soup, 0, 2, sides, 0);
    }
    return rc;
}

/* Appends a ring of a gear's outline, scaled by `scale`, at height z: four points on each tooth's
 * tip, four at its root. */
static void append_vertices_of_gear_outline(const struct tact_generate *g, struct tact_soup *soup,
                                            double scale, double z)
{
    for (uint32_t i = 0; i < 8 * g->count; i++) {
        double angle = 2.0 * PI * i / (8.0 * g->count);
        double r = scale * g->radius * (i % 8 < 4 ? 1.0 : 1.0 - 4.0 / (g->count + 4.0));
        tact_v3_set(append_soup_vertex(soup), r * tact_cos(angle), r * tact_sin(angle), z);
    }
}

static int make_gear_soup(const struct tact_generate *g, struct tact_soup *soup)
{
    size_t vertices_per_ring = 8 * (size_t)g->count;
    long fit = lround(((double)g->triangles / (double)vertices_per_ring + 2.0) / 6.0);
    size_t n = fit < 1 ? 1 : (size_t)fit, vertex_ring_count = 3 * n - 1;
    double half_gear_height = 0.5 * g->height;
    int rc = allocate_soup(soup, vertex_ring_count * vertices_per_ring + 2,
                           vertices_per_ring * (2 * (vertex_ring_count - 1) + 2));
    if (rc) {
        return rc;
    }
    tact_v3_set(append_soup_vertex(soup), 0.0, 0.0, -half_gear_height);
    for (size_t i = 1; i <= n; i++) {
        append_vertices_of_gear_outline(g, soup, (double)i / (double)n, -half_gear_height);
    }
    for (size_t i = 1; i < n; i++) {
        append_vertices_of_gear_outline(g, soup, 1.0,
                                        half_gear_height * (2.0 * (double)i / (double)n - 1.0));
    }
    for (size_t i = n; i >= 1; i--) {
        append_vertices_of_gear_outline(g, soup, (double)i / (double)n, half_gear_height);
    }
    tact_v3_set(append_soup_vertex(soup), 0.0, 0.0, half_gear_height);
    append_quads_between_rings(soup, 1, vertex_ring_count, vertices_per_ring, 0);
    size_t last = 1 + (vertex_ring_count - 1) * vertices_per_ring;
    for (size_t j = 0; j < vertices_per_ring; j++) {
        size_t k = (j + 1) % vertices_per_ring;
        append_soup_triangle(soup, 0, 1 + k, 1 + j);
        append_soup_triangle(soup, last + vertices_per_ring, last + j, last + k);
    }
    return 0;
}

/* Centre line of a torus or trefoil tube at s from 0 to 1, its direction, and a normal to it. The
 * trefoil lies on a torus of radii 2/3 and 1/3, whose surface normal is used. */
static void evaluate_tube_centre_line(const struct tact_generate *g, double s, double c[3],
                                      double t[3], double n[3])
{
    int is_trefoil_knot = g->kind == TACT_GENERATE_KNOT;
    double u = 2.0 * PI * s * (is_trefoil_knot ? 2.0 : 1.0), v = 6.0 * PI * s;
    if (is_trefoil_knot) {
        double r = 2.0 + tact_cos(v), scale = g->radius / 3.0;
        tact_v3_set(c, scale * r * tact_cos(u), scale * r * tact_sin(u), scale * tact_sin(v));
        tact_v3_set(t, -3.0 * tact_sin(v) * tact_cos(u) - 2.0 * r * tact_sin(u),
                    -3.0 * tact_sin(v) * tact_sin(u) + 2.0 * r * tact_cos(u), 3.0 * tact_cos(v));
        tact_v3_set(n, tact_cos(v) * tact_cos(u), tact_cos(v) * tact_sin(u), tact_sin(v));
    } else {
        tact_v3_set(c, g->radius * tact_cos(u), g->radius * tact_sin(u), 0.0);
        tact_v3_set(t, -tact_sin(u), tact_cos(u), 0.0);
        tact_v3_set(n, tact_cos(u), tact_sin(u), 0.0);
    }
    tact_v3_normalize(t, t);
}

static int make_tube_along_closed_curve(const struct tact_generate *g, struct tact_soup *soup)
{
    /* the trefoil's centre line is 10.6 times its radius long */
    double tube_centre_line_length = g->radius * (g->kind == TACT_GENERATE_KNOT ? 10.6 : 2.0 * PI);
    long fit = lround(sqrt(0.5 * g->triangles * 2.0 * PI * g->tube / tube_centre_line_length));
    size_t vertices_per_ring = fit < 4 ? 4 : (size_t)fit,
           vertex_ring_count = g->triangles / (2 * vertices_per_ring);
    vertex_ring_count = vertex_ring_count < 8 ? 8 : vertex_ring_count;
    int rc = allocate_soup(soup, vertex_ring_count * vertices_per_ring,
                           2 * vertex_ring_count * vertices_per_ring);
    for (size_t i = 0; !rc && i < vertex_ring_count; i++) {
        double c[3], t[3], n[3], b[3];
        evaluate_tube_centre_line(g, (double)i / (double)vertex_ring_count, c, t, n);
        tact_v3_cross(b, t, n);
        for (size_t j = 0; j < vertices_per_ring; j++) {
            double angle = 2.0 * PI * (double)j / (double)vertices_per_ring,
                   *p = append_soup_vertex(soup);
            tact_v3_copy(p, c);
            tact_v3_axpy(p, g->tube * tact_cos(angle), n);
            tact_v3_axpy(p, g->tube * tact_sin(angle), b);
        }
    }
    if (!rc) {
        append_quads_between_rings(soup, 0, vertex_ring_count, vertices_per_ring, 1);
    }
    return rc;
}

static int is_within_left_open_interval(double value, double lower, double upper)
{
    return value > lower && value <= upper; /* false for NaN */
}

/* Name of the generator parameter that is out of range, or NULL. */
static const char *parameter_out_of_range_name(const struct tact_generate *g)
{
    static const uint32_t most[TACT_GENERATE_KINDS] = {4096, 512, 0, 0, 1024, 1024};
    static const uint32_t least[TACT_GENERATE_KINDS] = {3, 3, 0, 0, 1, 1};
    int is_bumpy_cube = g->kind == TACT_GENERATE_BUMPY_CUBE, tube = g->kind == TACT_GENERATE_TORUS;
    int is_trefoil_knot = g->kind == TACT_GENERATE_KNOT, prism = g->kind == TACT_GENERATE_PRISM;
    double size = is_bumpy_cube ? g->edge : g->radius;
    if (!is_within_left_open_interval(size, 0.0, 1e6)) {
        return is_bumpy_cube ? "edge" : "radius";
    }
    if ((prism || g->kind == TACT_GENERATE_GEAR) &&
        !is_within_left_open_interval(g->height, 0.0, 1e6)) {
        return "height";
    }
    if ((tube || is_trefoil_knot) &&
        !(g->tube > 0.0 && g->tube < (is_trefoil_knot ? 0.25 : 1.0) * g->radius)) {
        return "tube";
    }
    if ((is_bumpy_cube || g->kind == TACT_GENERATE_BLOB) && !(g->bump >= 0.0 && g->bump <= size)) {
        return "bump";
    }
    if (most[g->kind] && (g->count < least[g->kind] || g->count > most[g->kind])) {
        return "count";
    }
    return !prism && (g->triangles < 12 || g->triangles > 1 << 20) ? "triangles" : NULL;
}

int tact_soup_generate(const struct tact_generate *parameters, struct tact_soup *out,
                       const char **name_of_bad_parameter)
{
    static int (*const make[TACT_GENERATE_KINDS])(const struct tact_generate *,
                                                  struct tact_soup *) = {
        make_prism_soup, make_gear_soup, make_tube_along_closed_curve, make_tube_along_closed_curve,
        make_bumpy_cube, make_bumpy_cube};
    int is_generator_kind_known = (unsigned)parameters->kind < TACT_GENERATE_KINDS;
    const char *bad_parameter_name =
        is_generator_kind_known ? parameter_out_of_range_name(parameters) : "kind";
    memset(out, 0, sizeof *out);
    if (bad_parameter_name) {
        if (name_of_bad_parameter) {
            *name_of_bad_parameter = bad_parameter_name;
        }
        return -EINVAL;
    }
    int rc = make[parameters->kind](parameters, out);
    if (rc) {
        tact_soup_free(out);
    }
    return rc;
}
