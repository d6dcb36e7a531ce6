/*
 * Subdivision surfaces of a control mesh: Loop's of triangles, Catmull and Clark's of other
 * polygons, evaluated exactly (Stam 1998). Each face is a chart over a square, a triangle three:
 * one at each corner, to the middles of its sides and its centre.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/shape/kinds_internal.h"
#include "contact/shape/rings_internal.h"

enum {
    MAX_CONTROL_VERTICES = 1 << 24,
    MAX_CONTROL_FACES = 2048, /* largest number of faces of the control mesh, each with at most one
                                 extraordinary vertex */
    SUBDIVISIONS_TO_SEPARATE =
        2, /* number of subdivisions after which no face has two extraordinary vertices */
    EXTRAORDINARY_FACE_POLYNOMIALS = MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX *
                                     POLYNOMIALS_PER_SPLIT_FACE, /* number of polynomials of a face
                                            with an extraordinary vertex */
};

/* A face of the subdivided control mesh; its first corner is its extraordinary vertex where it has
 * one. */
struct subdivided_face {
    int half;                     /* half-edge from the face's first corner */
    int first;                    /* index of the first polynomial of the face */
    int has_extraordinary_vertex; /* 1: the face has EXTRAORDINARY_FACE_POLYNOMIALS polynomials,
                                   * else one
                                   */
    double origin[3];             /* origin to which the face's positions are relative [m] */
    double normal[3];             /* unit normal at the face's extraordinary vertex */
    double ratio; /* ratio of the sizes of successive subdivisions at the extraordinary vertex, in
                     the limit */
};

struct subdivision_surface {
    struct square_charts square_charts;
    int triangles;
    struct subdivided_face_polynomial
        *subdivided_face_polynomials; /* polynomials of all faces, owned by the squares */
    struct subdivided_face *face;     /* owned by the squares */
    int face_polynomial_count;
};

static void evaluate_face_polynomial(const struct subdivision_surface *s, int face_polynomial_index,
                                     double b, double c, int count, double (*out)[3])
{
    const struct subdivided_face_polynomial *p =
        &s->subdivided_face_polynomials[face_polynomial_index];
    if (s->triangles) {
        tact_quartic_triangle_evaluate((const double(*)[3])p->triangle, b, c, count, out);
    } else {
        tact_patch_evaluate(&p->square, b, c, count, out);
    }
}

/* Number of subdivisions after which a place is in one of the outer parts of a face. size: b + c of
 * a triangle, the larger of both of a square, in (0, 1]. */
static int count_subdivisions_to_place(double size)
{
    int exponent;
    frexp(size, &exponent);
    return exponent < 0 ? 1 - exponent : 1;
}

/*
 * Evaluates a face with an extraordinary vertex at its first corner. Beyond the last subdivision
 * positions shrink onto the vertex by the ratio of the limit, the normal is that of the vertex, and
 * the curvature is that of the last one.
 */
static void evaluate_extraordinary_face(const struct subdivision_surface *s,
                                        const struct subdivided_face *face, double b, double c,
                                        int count, double (*out)[3])
{
    const double size = s->triangles ? b + c : tact_max(b, c);
    int level = size > 0.0 ? count_subdivisions_to_place(size)
                           : MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX,
        part;
    double scale_by_subdivision_levels = 1.0;
    if (!(size > 0.0)) { /* the vertex itself */
        scale_by_subdivision_levels = 0.0;
        b = c = ldexp(s->triangles ? 0.5 : 1.0, -MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX);
    } else if (level > MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX) {
        scale_by_subdivision_levels =
            tact_pow(face->ratio, level - MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX);
        b = ldexp(b, level - MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX);
        c = ldexp(c, level - MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX);
        level = MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX;
    }
    double scale = ldexp(1.0, level);
    b *= scale;
    c *= scale;
    if (b >= 1.0 && (s->triangles || c < 1.0)) {
        part = 0;
        b -= 1.0;
    } else if (c >= 1.0 && (s->triangles || b < 1.0)) {
        part = 2;
        c -= 1.0;
    } else {
        part = 1;
        b = s->triangles ? 1.0 - b : b - 1.0;
        c = s->triangles ? 1.0 - c : c - 1.0;
        scale = s->triangles ? -scale : scale;
    }
    evaluate_face_polynomial(s, face->first + (level - 1) * POLYNOMIALS_PER_SPLIT_FACE + part, b, c,
                             count, out);
    for (int i = 1; scale_by_subdivision_levels < 1.0 && i < 3; i++) {
        tact_v3_axpy(out[i], -tact_v3_dot(out[i], face->normal), face->normal);
    }
    for (int k = 0; k < 3; k++) {
        out[0][k] *= scale_by_subdivision_levels;
        out[1][k] *= scale;
        out[2][k] *= scale;
        for (int i = 3; i < SECOND_ORDER; i++) {
            out[i][k] *= scale * scale;
        }
        for (int i = SECOND_ORDER; i < count; i++) {
            out[i][k] *= scale * scale * scale;
        }
    }
}

static void evaluate_control_face(const struct subdivision_surface *s, int number, double b,
                                  double c, int count, double (*out)[3])
{
    const struct subdivided_face *face = &s->face[number];
    if (face->has_extraordinary_vertex) {
        evaluate_extraordinary_face(s, face, b, c, count, out);
    } else {
        evaluate_face_polynomial(s, face->first, b, c, count, out);
    }
    tact_v3_add(out[0], out[0], face->origin);
}

static void evaluate_subdivision_square(const struct square_charts *surface, int square, double u,
                                        double v, int count, double (*c)[3])
{
    evaluate_control_face((const struct subdivision_surface *)surface, square, u, v, count, c);
}

/* Applies the third derivative of a function of (b, c), with entries f[6 .. 9], to three vectors.
 */
static double third_derivative_along_three_vectors(const double f[][3], int k, const double x[2],
                                                   const double y[2], const double z[2])
{
    return f[6][k] * x[0] * y[0] * z[0] +
           f[7][k] * (x[0] * y[0] * z[1] + x[0] * y[1] * z[0] + x[1] * y[0] * z[0]) +
           f[8][k] * (x[0] * y[1] * z[1] + x[1] * y[0] * z[1] + x[1] * y[1] * z[0]) +
           f[9][k] * x[1] * y[1] * z[1];
}

/* Third derivatives of a chart by (u, v), where (b, c) change by du, dv and the mixed second
 * derivative. */
static void third_derivatives_by_square(const double f[][3], const double du[2], const double dv[2],
                                        const double mixed_derivative_of_map[2], double (*out)[3])
{
    for (int k = 0; k < 3; k++) {
        const double u =
            f[3][k] * du[0] * mixed_derivative_of_map[0] +
            f[4][k] * (du[0] * mixed_derivative_of_map[1] + du[1] * mixed_derivative_of_map[0]) +
            f[5][k] * du[1] * mixed_derivative_of_map[1];
        const double v =
            f[3][k] * dv[0] * mixed_derivative_of_map[0] +
            f[4][k] * (dv[0] * mixed_derivative_of_map[1] + dv[1] * mixed_derivative_of_map[0]) +
            f[5][k] * dv[1] * mixed_derivative_of_map[1];
        out[6][k] = third_derivative_along_three_vectors(f, k, du, du, du);
        out[7][k] = third_derivative_along_three_vectors(f, k, du, du, dv) + 2.0 * u;
        out[8][k] = third_derivative_along_three_vectors(f, k, du, dv, dv) + 2.0 * v;
        out[9][k] = third_derivative_along_three_vectors(f, k, dv, dv, dv);
    }
}

/* Evaluates the square chart at a corner of a triangular face. The weights of the next and the last
 * corner are u/2 - uv/6 and v/2 - uv/6; b and c those of the triangle's second and third. */
static void evaluate_triangle_corner_square(const struct square_charts *surface, int square,
                                            double u, double v, int count, double (*out)[3])
{
    const int corner = square % 3;
    const double mixed_derivative_of_map = -1.0 / 6.0;
    /* value, d/du, d/dv and d/du dv of the barycentric weights of this corner, the next and the
     * last */
    double w[3][4] = {{0.0},
                      {0.5 * u + mixed_derivative_of_map * u * v, 0.5 + mixed_derivative_of_map * v,
                       mixed_derivative_of_map * u, mixed_derivative_of_map},
                      {0.5 * v + mixed_derivative_of_map * u * v, mixed_derivative_of_map * v,
                       0.5 + mixed_derivative_of_map * u, mixed_derivative_of_map}};
    for (int i = 0; i < 4; i++) {
        w[0][i] = (i == 0 ? 1.0 : 0.0) - w[1][i] - w[2][i];
    }
    const double *b = w[(4 - corner) % 3], *c = w[(5 - corner) % 3];
    double f[THIRD_ORDER][3];
    evaluate_control_face((const struct subdivision_surface *)surface, square / 3, b[0], c[0],
                          count, f);
    for (int k = 0; k < 3; k++) {
        out[0][k] = f[0][k];
        out[1][k] = f[1][k] * b[1] + f[2][k] * c[1];
        out[2][k] = f[1][k] * b[2] + f[2][k] * c[2];
        out[3][k] = f[3][k] * b[1] * b[1] + 2.0 * f[4][k] * b[1] * c[1] + f[5][k] * c[1] * c[1];
        out[4][k] = f[3][k] * b[1] * b[2] + f[4][k] * (b[1] * c[2] + b[2] * c[1]) +
                    f[5][k] * c[1] * c[2] + f[1][k] * b[3] + f[2][k] * c[3];
        out[5][k] = f[3][k] * b[2] * b[2] + 2.0 * f[4][k] * b[2] * c[2] + f[5][k] * c[2] * c[2];
    }
    if (count == THIRD_ORDER) {
        const double du[2] = {b[1], c[1]}, dv[2] = {b[2], c[2]}, both[2] = {b[3], c[3]};
        third_derivatives_by_square((const double(*)[3])f, du, dv, both, out);
    }
}

/* Evaluates a face polynomial as an element of quadrature; on a triangle, b = s (1 - t) and c = t.
 */
static void evaluate_subdivided_element(const struct square_charts *surface,
                                        int quadrature_element_index, double s, double t,
                                        double c[3][3])
{
    const struct subdivision_surface *sub = (const struct subdivision_surface *)surface;
    double f[SECOND_ORDER][3];
    evaluate_face_polynomial(sub, quadrature_element_index, sub->triangles ? s * (1.0 - t) : s, t,
                             SECOND_ORDER, f);
    tact_v3_add(c[0], f[0],
                sub->face[sub->subdivided_face_polynomials[quadrature_element_index].face].origin);
    tact_v3_scale(c[1], f[1], sub->triangles ? 1.0 - t : 1.0);
    tact_v3_copy(c[2], f[2]);
    if (sub->triangles) {
        tact_v3_axpy(c[2], -s, f[1]);
    }
}

/* Fills the polynomials of the faces about a vertex that have it as their first corner. ring, next:
 * scratch. */
static void fill_polynomials_about_vertex(struct subdivision_surface *s,
                                          const struct control_mesh *mesh, int half,
                                          struct ring *ring, struct ring *next)
{
    double origin[3] = {0.0, 0.0, 0.0}, limit[3], normal[3];
    tact_vertex_ring_from_control_mesh(mesh, half, ring);
    tact_vertex_ring_limit_normal(ring, normal);
    const int n = ring->valence, regular = n == (s->triangles ? 6 : 4);
    for (int level = regular ? -1 : 0;
         level < (regular ? 0 : MAX_SUBDIVISIONS_AT_EXTRAORDINARY_VERTEX); level++) {
        if (!regular) { /* positions are relative to the limit point, so that rounding is relative
                           to the size of the ring */
            tact_vertex_ring_limit_point(ring, limit);
            tact_v3_add(origin, origin, limit);
            tact_vertex_ring_subtract_offset(ring, limit);
            tact_vertex_ring_subdivide(ring, next);
            *ring = *next;
        }
        for (int i = 0, at = half; i < n; i++) {
            struct subdivided_face *face = &s->face[mesh->face[at]];
            for (int part = regular ? -1 : 0; at == face->half && part < (regular ? 0 : 3);
                 part++) {
                const int to = regular ? 0 : level * POLYNOMIALS_PER_SPLIT_FACE + part;
                tact_vertex_ring_bezier_points(ring, i, part,
                                               &s->subdivided_face_polynomials[face->first + to]);
                s->subdivided_face_polynomials[face->first + to].face = mesh->face[at];
                tact_v3_copy(face->origin, origin);
                tact_v3_copy(face->normal, normal);
                face->ratio = tact_subdivision_subdominant_eigenvalue(n, s->triangles);
            }
            at = mesh->twin[tact_control_mesh_previous_half_edge(mesh, at)];
        }
    }
}

static int fill_face_polynomials(struct subdivision_surface *s, const struct control_mesh *mesh)
{
    struct ring *ring = malloc(2 * sizeof *ring);
    for (int h = 0; ring && h < mesh->halves; h++) {
        int at = h, first = 1;
        do { /* each vertex is handled once, at its lowest half-edge */
            at = mesh->twin[tact_control_mesh_previous_half_edge(mesh, at)];
            first &= at >= h;
        } while (at != h);
        if (first) {
            fill_polynomials_about_vertex(s, mesh, h, &ring[0], &ring[1]);
        }
    }
    free(ring);
    return ring ? 0 : -ENOMEM;
}

static int is_extraordinary_vertex(const struct control_mesh *mesh, int half)
{
    return mesh->valence[mesh->origin[half]] != (mesh->triangles ? 6 : 4);
}

/* 1 where all faces of the control mesh are of one kind, with at most one extraordinary vertex
 * each. */
static int are_extraordinary_vertices_separate(const struct control_mesh *mesh)
{
    for (int f = 0; f < mesh->faces; f++) {
        int count = 0;
        for (int h = mesh->first[f]; h < mesh->first[f + 1]; h++) {
            count += is_extraordinary_vertex(mesh, h);
        }
        if (count > 1 || mesh->first[f + 1] - mesh->first[f] != (mesh->triangles ? 3 : 4)) {
            return 0;
        }
    }
    return 1;
}

/* Index of a half-edge in its face, counted from the face's first corner. */
static int square_side_of_half_edge(const struct subdivision_surface *s,
                                    const struct control_mesh *mesh, int half)
{
    const int sides = s->triangles ? 3 : 4, face = mesh->face[half];
    return (half - s->face[face].half + sides) % sides;
}

/* Finds the neighbouring square over each side of each square of the surface. */
static void find_square_neighbours(struct subdivision_surface *s, const struct control_mesh *mesh)
{
    for (int h = 0; h < mesh->halves; h++) {
        const int side = square_side_of_half_edge(s, mesh, h), face = mesh->face[h],
                  twin = mesh->twin[h], beside = mesh->face[twin];
        if (!s->triangles) {
            s->square_charts.neighbour_over_edge[face][side] =
                SQUARE_SIDES * beside + square_side_of_half_edge(s, mesh, twin);
            continue;
        }
        /* the square at the origin of the half-edge, whose side 0 is along it */
        const int square = 3 * face + side, ahead = 3 * face + (side + 1) % 3,
                  over = 3 * beside + (square_side_of_half_edge(s, mesh, twin) + 1) % 3;
        s->square_charts.neighbour_over_edge[square][0] = SQUARE_SIDES * over + 3;
        s->square_charts.neighbour_over_edge[over][3] = SQUARE_SIDES * square;
        s->square_charts.neighbour_over_edge[square][1] = SQUARE_SIDES * ahead + 2;
        s->square_charts.neighbour_over_edge[ahead][2] = SQUARE_SIDES * square + 1;
    }
}

/* Numbers the polynomials of the faces and allocates them. */
static int allocate_face_polynomials(struct subdivision_surface *s, const struct control_mesh *mesh)
{
    int count = 0;
    s->triangles = mesh->triangles;
    s->square_charts.count = mesh->faces * (mesh->triangles ? 3 : 1);
    s->square_charts.evaluate =
        mesh->triangles ? evaluate_triangle_corner_square : evaluate_subdivision_square;
    s->face = calloc((size_t)mesh->faces, sizeof *s->face);
    s->square_charts.neighbour_over_edge =
        malloc((size_t)s->square_charts.count * sizeof *s->square_charts.neighbour_over_edge);
    for (int f = 0; s->face && f < mesh->faces; f++) {
        struct subdivided_face *face = &s->face[f];
        face->half = mesh->first[f];
        for (int h = mesh->first[f]; h < mesh->first[f + 1]; h++) {
            if (is_extraordinary_vertex(mesh, h)) {
                face->half = h;
                face->has_extraordinary_vertex = 1;
            }
        }
        face->first = count;
        count += face->has_extraordinary_vertex ? EXTRAORDINARY_FACE_POLYNOMIALS : 1;
    }
    s->face_polynomial_count = count;
    s->subdivided_face_polynomials =
        malloc(((size_t)count + 1) * sizeof *s->subdivided_face_polynomials);
    s->square_charts.owned[0] = s->face;
    s->square_charts.owned[1] = s->subdivided_face_polynomials;
    return s->face && s->square_charts.neighbour_over_edge && s->subdivided_face_polynomials
               ? 0
               : -ENOMEM;
}

static int make_subdivision_surface(struct control_mesh *mesh, struct tact_charts **out,
                                    struct tact_error *err)
{
    for (int i = 0; i < SUBDIVISIONS_TO_SEPARATE && !are_extraordinary_vertices_separate(mesh);
         i++) {
        int rc = tact_control_mesh_subdivide(mesh);
        if (rc) {
            return rc;
        }
    }
    if (mesh->faces > MAX_CONTROL_FACES) {
        return tact_error_set(err, -EINVAL,
                              "%d faces, after subdivision so that no face has two vertices of "
                              "another number of edges than %d; expected at most %d",
                              mesh->faces, mesh->triangles ? 6 : 4, MAX_CONTROL_FACES);
    }
    struct subdivision_surface *s = calloc(1, sizeof *s);
    if (!s) {
        return -ENOMEM;
    }
    tact_squares_init_surface(&s->square_charts);
    int rc = allocate_face_polynomials(s, mesh);
    rc = rc ? rc : fill_face_polynomials(s, mesh);
    if (!rc) {
        find_square_neighbours(s, mesh);
        tact_squares_set_mass(&s->square_charts, evaluate_subdivided_element,
                              s->face_polynomial_count, 1);
        rc = tact_squares_triangulate_and_check(
            &s->square_charts,
            "the faces' normals point into the solid: list the corners of "
            "each face counter-clockwise as seen from outside",
            err);
    }
    if (rc) {
        tact_charts_free(&s->square_charts.base);
        return rc;
    }
    *out = &s->square_charts.base;
    return 0;
}

int tact_charts_subdivision(const void *data, size_t size, const char *name, double scale,
                            struct tact_charts **out, struct tact_error *err)
{
    struct tact_polygons polygons;
    struct control_mesh mesh = {0};
    *out = NULL;
    tact_error_at(err, name, 0, 0, NULL);
    int rc = tact_polygons_read(data, size, name, scale, &polygons, err);
    if (rc) {
        return rc;
    }
    if (polygons.face_count > MAX_CONTROL_FACES ||
        polygons.soup.vertex_count > MAX_CONTROL_VERTICES) {
        rc = tact_error_set(err, -EINVAL, "%zu faces and %zu vertices; expected at most %d and %d",
                            polygons.face_count, polygons.soup.vertex_count, MAX_CONTROL_FACES,
                            MAX_CONTROL_VERTICES);
    }
    rc = rc ? rc : tact_control_mesh_create(&polygons, &mesh, err);
    rc = rc ? rc : make_subdivision_surface(&mesh, out, err);
    tact_control_mesh_free(&mesh);
    tact_polygons_free(&polygons);
    return rc;
}

const struct tact_shape_type tact_shape_subdivision_type = {
    .name = "subdivision",
    .faces = TACT_FACES_MIXED,
    .keys = "file",
    .concave = 1,
    .mass = tact_charts_mass,
    .reach = tact_charts_bounding_radius,
};
