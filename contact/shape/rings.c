#include "contact/shape/rings_internal.h"

#include <math.h>
#include <string.h>
#include "contact/elementary.h"

#define PI 3.14159265358979323846

/* Control point at (a, b) of a ring's sector; negative coordinates are in the neighbouring sectors.
 */
static const double *control_point_of_vertex_ring(const struct ring *ring, int sector, int a, int b)
{
    const int n = ring->valence;
    while (a < 0 || b < 0 || (a == 0 && b > 0)) {
        const int u = a, v = b;
        if (b < 0) { /* in a ring of triangles the grid vector of edge i + 1 is that of edge i less
                        that of edge i - 1 */
            sector = (sector + n - 1) % n;
            a = -v;
            b = ring->triangles ? u + v : u;
        } else {
            sector = (sector + 1) % n;
            a = ring->triangles ? u + v : v;
            b = -u;
        }
    }
    return a == 0 ? ring->center : ring->at[sector][a][b];
}

static void set_ring_point_of_half_edge(struct ring *ring, int sector, int a, int b,
                                        const struct control_mesh *mesh, int half)
{
    tact_v3_copy(ring->at[sector][a][b], mesh->at[mesh->origin[half]]);
}

/* Fills a ring's sector of triangles from the half-edge of the sector's first edge. */
static void fill_triangle_sector_of_ring(const struct control_mesh *mesh, int half, int sector,
                                         struct ring *ring)
{
    const int opposite_half_edge = mesh->twin[tact_control_mesh_next_half_edge(mesh, half)],
              beyond = mesh->twin[tact_control_mesh_next_half_edge(mesh, opposite_half_edge)];
    set_ring_point_of_half_edge(ring, sector, 1, 0, mesh,
                                tact_control_mesh_next_half_edge(mesh, half));
    set_ring_point_of_half_edge(ring, sector, 1, 1, mesh,
                                tact_control_mesh_previous_half_edge(mesh, opposite_half_edge));
    set_ring_point_of_half_edge(ring, sector, 2, 0, mesh,
                                tact_control_mesh_previous_half_edge(mesh, beyond));
}

static void fill_square_sector_of_ring(const struct control_mesh *mesh, int half, int sector,
                                       struct ring *ring)
{
    const int next_half_edge_of_face = tact_control_mesh_next_half_edge(mesh, half),
              back = tact_control_mesh_next_half_edge(mesh, next_half_edge_of_face),
              beyond = tact_control_mesh_next_half_edge(mesh, mesh->twin[next_half_edge_of_face]),
              side = tact_control_mesh_next_half_edge(mesh, mesh->twin[back]),
              corner = mesh->twin[tact_control_mesh_next_half_edge(
                  mesh, tact_control_mesh_next_half_edge(mesh, beyond))];
    set_ring_point_of_half_edge(ring, sector, 1, 0, mesh, next_half_edge_of_face);
    set_ring_point_of_half_edge(ring, sector, 1, 1, mesh, back);
    set_ring_point_of_half_edge(ring, sector, 2, 0, mesh,
                                tact_control_mesh_next_half_edge(mesh, beyond));
    set_ring_point_of_half_edge(ring, sector, 2, 1, mesh, mesh->twin[corner]);
    set_ring_point_of_half_edge(ring, sector, 1, 2, mesh,
                                tact_control_mesh_next_half_edge(mesh, side));
    set_ring_point_of_half_edge(
        ring, sector, 2, 2, mesh,
        tact_control_mesh_next_half_edge(mesh, tact_control_mesh_next_half_edge(mesh, corner)));
}

void tact_vertex_ring_from_control_mesh(const struct control_mesh *mesh, int half, struct ring *out)
{
    memset(out, 0, sizeof *out);
    out->triangles = mesh->triangles;
    out->valence = mesh->valence[mesh->origin[half]];
    tact_v3_copy(out->center, mesh->at[mesh->origin[half]]);
    for (int i = 0; i < out->valence; i++) {
        if (out->triangles) {
            fill_triangle_sector_of_ring(mesh, half, i, out);
        } else {
            fill_square_sector_of_ring(mesh, half, i, out);
        }
        half = mesh->twin[tact_control_mesh_previous_half_edge(mesh, half)];
    }
}

static void add_weighted_ring_point(double out[3], const struct ring *ring, int sector, int a,
                                    int b, double weight)
{
    tact_v3_axpy(out, weight, control_point_of_vertex_ring(ring, sector, a, b));
}

/* Subdivided control point at (a, b) of a ring of squares, by the products of the masks of cubic
 * splines. */
static void refine_catmull_clark_point(const struct ring *ring, int sector, int a, int b,
                                       double out[3])
{
    static const double cubic_spline_subdivision_mask[2][3] = {{0.125, 0.75, 0.125},
                                                               {0.5, 0.5, 0.0}};
    const int x = a % 2 ? (a - 1) / 2 : a / 2 - 1, y = b % 2 ? (b - 1) / 2 : b / 2 - 1;
    for (int i = 0; i < 9; i++) {
        const double weight = cubic_spline_subdivision_mask[a % 2][i % 3] *
                              cubic_spline_subdivision_mask[b % 2][i / 3];
        if (weight > 0.0) {
            add_weighted_ring_point(out, ring, sector, x + i % 3, y + i / 3, weight);
        }
    }
}

/* Subdivided control point at (a, b) of a ring of triangles, on an edge or at a regular vertex. */
static void refine_loop_point(const struct ring *ring, int sector, int a, int b, double out[3])
{
    static const int triangle_grid_neighbour_offsets[6][2] = {{1, 0},  {0, 1},  {-1, 1},
                                                              {-1, 0}, {0, -1}, {1, -1}};
    const int x = a / 2, y = b / 2;
    if (a % 2 == 0 && b % 2 == 0) {
        add_weighted_ring_point(out, ring, sector, x, y, 0.625);
        for (int i = 0; i < 6; i++) {
            add_weighted_ring_point(out, ring, sector, x + triangle_grid_neighbour_offsets[i][0],
                                    y + triangle_grid_neighbour_offsets[i][1], 0.0625);
        }
        return;
    }
    /* control points: the ends of the edge, then the corners opposite to it */
    static const int loop_edge_rule_points[3][4][2] = {{{0, 0}, {1, 0}, {0, 1}, {1, -1}},
                                                       {{0, 0}, {0, 1}, {1, 0}, {-1, 1}},
                                                       {{1, 0}, {0, 1}, {0, 0}, {1, 1}}};
    const int(*at)[2] = loop_edge_rule_points[a % 2 == 0 ? 1 : b % 2 == 0 ? 0 : 2];
    for (int i = 0; i < 4; i++) {
        add_weighted_ring_point(out, ring, sector, x + at[i][0], y + at[i][1],
                                i < 2 ? 0.375 : 0.125);
    }
}

/* Weighted sum over a ring of its centre, the neighbours and, of squares, the opposite corners of
 * the faces. */
static void sum_weighted_points_of_ring(const struct ring *ring, double center,
                                        double weight_of_neighbour_point, double corner,
                                        double out[3])
{
    tact_v3_scale(out, ring->center, center);
    for (int i = 0; i < ring->valence; i++) {
        tact_v3_axpy(out, weight_of_neighbour_point, ring->at[i][1][0]);
        if (!ring->triangles) {
            tact_v3_axpy(out, corner, ring->at[i][1][1]);
        }
    }
}

void tact_vertex_ring_subdivide(const struct ring *ring, struct ring *out)
{
    const double n = ring->valence;
    memset(out, 0, sizeof *out);
    out->valence = ring->valence;
    out->triangles = ring->triangles;
    if (ring->triangles) {
        const double weight = tact_loop_vertex_weight(ring->valence);
        sum_weighted_points_of_ring(ring, 1.0 - n * weight, weight, 0.0, out->center);
    } else {
        sum_weighted_points_of_ring(ring, 1.0 - 1.75 / n, 1.5 / (n * n), 0.25 / (n * n),
                                    out->center);
    }
    for (int i = 0; i < ring->valence; i++) {
        for (int a = 1; a < POINTS_PER_SECTOR_AXIS; a++) {
            for (int b = 0;
                 b < (ring->triangles ? POINTS_PER_SECTOR_AXIS - a : POINTS_PER_SECTOR_AXIS); b++) {
                if (ring->triangles) {
                    refine_loop_point(ring, i, a, b, out->at[i][a][b]);
                } else {
                    refine_catmull_clark_point(ring, i, a, b, out->at[i][a][b]);
                }
            }
        }
    }
}

void tact_vertex_ring_limit_point(const struct ring *ring, double out[3])
{
    const double n = ring->valence;
    if (ring->triangles) {
        const double share = 1.0 / (n + 0.375 / tact_loop_vertex_weight(ring->valence));
        sum_weighted_points_of_ring(ring, 1.0 - n * share, share, 0.0, out);
    } else {
        sum_weighted_points_of_ring(ring, n / (n + 5.0), 4.0 / (n * (n + 5.0)),
                                    1.0 / (n * (n + 5.0)), out);
    }
}

void tact_vertex_ring_limit_normal(const struct ring *ring, double out[3])
{
    const double turn = 2.0 * PI / ring->valence, c = tact_cos(turn);
    const double edge =
        ring->triangles ? 1.0 : 1.0 + c + tact_cos(PI / ring->valence) * sqrt(2.0 * (9.0 + c));
    double along[2][3] = {{0.0}};
    /* Left eigenvectors of the subdivision matrix for the ratio of successive rings. */
    for (int i = 0; i < ring->valence; i++) {
        const double now[2] = {tact_cos(turn * i), tact_sin(turn * i)},
                     next[2] = {tact_cos(turn * (i + 1)), tact_sin(turn * (i + 1))};
        for (int k = 0; k < 2; k++) {
            tact_v3_axpy(along[k], edge * now[k], ring->at[i][1][0]);
            if (!ring->triangles) {
                tact_v3_axpy(along[k], now[k] + next[k], ring->at[i][1][1]);
            }
        }
    }
    tact_v3_cross(out, along[0], along[1]);
    tact_v3_normalize(out, out);
}

void tact_vertex_ring_subtract_offset(struct ring *ring, const double by[3])
{
    tact_v3_sub(ring->center, ring->center, by);
    for (int i = 0; i < ring->valence * POINTS_PER_SECTOR_AXIS * POINTS_PER_SECTOR_AXIS; i++) {
        double *at = ring->at[i / (POINTS_PER_SECTOR_AXIS * POINTS_PER_SECTOR_AXIS)]
                             [i / POINTS_PER_SECTOR_AXIS % POINTS_PER_SECTOR_AXIS]
                             [i % POINTS_PER_SECTOR_AXIS];
        tact_v3_sub(at, at, by);
    }
}

double tact_subdivision_subdominant_eigenvalue(int valence, int triangles)
{
    const double c = tact_cos(2.0 * PI / valence);
    return triangles ? 0.375 + 0.25 * c
                     : (5.0 + c + tact_cos(PI / valence) * sqrt(18.0 + 2.0 * c)) / 16.0;
}

/* Bezier points of the square of a ring at (x, y). */
static void compute_bezier_points_of_square(const struct ring *ring, int sector, int x, int y,
                                            struct bezier_patch *out)
{
    static const double cubic_spline_to_bezier_matrix[4][4] = {
        {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0},
        {0.0, 4.0 / 6.0, 2.0 / 6.0, 0.0},
        {0.0, 2.0 / 6.0, 4.0 / 6.0, 0.0},
        {0.0, 1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0}};
    memset(out, 0, sizeof *out);
    for (int i = 0; i < PATCH_POINTS; i++) {
        double *at = out->point[i];
        for (int k = 0; k < PATCH_POINTS; k++) {
            const double weight = cubic_spline_to_bezier_matrix[i % 4][k % 4] *
                                  cubic_spline_to_bezier_matrix[i / 4][k / 4];
            if (weight > 0.0) {
                add_weighted_ring_point(at, ring, sector, x - 1 + k % 4, y - 1 + k / 4, weight);
            }
        }
        at[3] = 1.0;
    }
}

/* Bezier points of a quartic triangle are in the order of (j, k), the powers of b and c: k runs
 * fastest. */
static int quartic_bezier_index(int j, int k)
{
    return j * 5 - j * (j - 1) / 2 + k;
}

/* The three kinds of basis functions of the quartic box spline over a triangle (Stam 1998), 24
 * times the coefficients of Bernstein's polynomials with powers i, j, k of the corners' weights:
 * that of the control point at a corner (i), at the corner opposite to the side i, j, and at the
 * one further round the corner i, next to the side i, j. */
static double box_spline_weight_of_corner(int i, int j, int k)
{
    static const double box_spline_corner_weight_by_powers[5][3] = {/* [i][least of j, k] */
                                                                    {2.0, 3.0, 4.0},
                                                                    {4.0, 6.0, 0.0},
                                                                    {8.0, 10.0, 0.0},
                                                                    {12.0, 0.0, 0.0},
                                                                    {12.0, 0.0, 0.0}};
    return box_spline_corner_weight_by_powers[i][j < k ? j : k];
}

static double box_spline_weight_of_opposite_corner(int i, int j, int k)
{
    return k == 0 ? (i == 0 || j == 0 ? 2.0 : i == 2 ? 4.0 : 3.0) : k == 1 ? 1.0 : 0.0;
}

static double box_spline_weight_of_further_corner(int i, int j, int k)
{
    return i == 4 ? 2.0 : i == 3 && j == 1 && k == 0 ? 1.0 : 0.0;
}

/* Adds the contribution of a control point to the Bezier points of a triangle. corner: the corners
 * of the triangle in the order i, j, k of its basis function. */
static void add_weighted_quartic_basis_function(double (*weight)(int, int, int),
                                                const int corner[3], const double *from,
                                                double out[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3])
{
    for (int j = 0; j <= 4; j++) {
        for (int k = 0; j + k <= 4; k++) {
            const int power[3] = {4 - j - k, j, k};
            const double w = weight(power[corner[0]], power[corner[1]], power[corner[2]]);
            tact_v3_axpy(out[quartic_bezier_index(j, k)], w / 24.0, from);
        }
    }
}

/* Bezier points of the triangle of a ring with its first corner at (x, y) and its sides along the
 * axes, or against them (sign -1). */
static void compute_bezier_points_of_triangle(const struct ring *ring, int sector, int x, int y,
                                              int sign,
                                              double out[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3])
{
    static const struct {
        int at[2];
        double (*weight)(int, int, int);
        int corner[3];
    } basis[12] = {
        {{0, 0}, box_spline_weight_of_corner, {0, 1, 2}},
        {{1, 0}, box_spline_weight_of_corner, {1, 2, 0}},
        {{0, 1}, box_spline_weight_of_corner, {2, 0, 1}},
        {{1, -1}, box_spline_weight_of_opposite_corner, {0, 1, 2}},
        {{1, 1}, box_spline_weight_of_opposite_corner, {1, 2, 0}},
        {{-1, 1}, box_spline_weight_of_opposite_corner, {2, 0, 1}},
        {{0, -1}, box_spline_weight_of_further_corner, {0, 1, 2}},
        {{-1, 0}, box_spline_weight_of_further_corner, {0, 2, 1}},
        {{2, -1}, box_spline_weight_of_further_corner, {1, 0, 2}},
        {{2, 0}, box_spline_weight_of_further_corner, {1, 2, 0}},
        {{0, 2}, box_spline_weight_of_further_corner, {2, 1, 0}},
        {{-1, 2}, box_spline_weight_of_further_corner, {2, 0, 1}},
    };
    memset(out, 0, BEZIER_POINTS_OF_QUARTIC_TRIANGLE * sizeof *out);
    for (int i = 0; i < 12; i++) {
        const double *from = control_point_of_vertex_ring(ring, sector, x + sign * basis[i].at[0],
                                                          y + sign * basis[i].at[1]);
        add_weighted_quartic_basis_function(basis[i].weight, basis[i].corner, from, out);
    }
}

void tact_vertex_ring_bezier_points(const struct ring *ring, int sector, int part,
                                    struct subdivided_face_polynomial *out)
{
    static const int first[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const int *at = first[part + 1];
    if (ring->triangles) {
        compute_bezier_points_of_triangle(ring, sector, at[0], at[1], part == 1 ? -1 : 1,
                                          out->triangle);
    } else {
        compute_bezier_points_of_square(ring, sector, at[0], at[1], &out->square);
    }
}

/* Third derivatives of a quartic triangle, from the cubics of de Casteljau's algorithm. */
static void third_derivatives_of_quartic(const double (*p)[3], double (*out)[3])
{
    for (int m = 0; m < 3; m++) {
        for (int k = 0; k < 4; k++) { /* k of the derivatives are by c, 3 - k by b */
            double sum = 0.0;
            for (int i = 0; i <= 3 - k; i++) {
                for (int j = 0; j <= k; j++) {
                    static const double binomials[4][4] = {
                        {1.0}, {1.0, 1.0}, {1.0, 2.0, 1.0}, {1.0, 3.0, 3.0, 1.0}};
                    double sign = (3 - i - j) % 2 ? -1.0 : 1.0;
                    sum += sign * binomials[3 - k][i] * binomials[k][j] *
                           p[quartic_bezier_index(i, j)][m];
                }
            }
            out[6 + k][m] = 24.0 * sum;
        }
    }
}

void tact_quartic_triangle_evaluate(const double point[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3],
                                    double b, double c, int count, double (*out)[3])
{
    const double a = 1.0 - b - c;
    double p[BEZIER_POINTS_OF_QUARTIC_TRIANGLE][3];
    memcpy(p, point, sizeof p);
    for (int degree = 3; degree >= 1; degree--) { /* de Casteljau's algorithm */
        for (int j = 0; j <= degree; j++) {
            for (int k = 0; j + k <= degree; k++) {
                double *to = p[quartic_bezier_index(j, k)];
                const double *along = p[quartic_bezier_index(j + 1, k)],
                             *other = p[quartic_bezier_index(j, k + 1)];
                for (int m = 0; m < 3; m++) {
                    to[m] = a * to[m] + b * along[m] + c * other[m];
                }
            }
        }
        if (degree == 3 && count == THIRD_ORDER) {
            third_derivatives_of_quartic((const double(*)[3])p, out);
        }
        for (int m = 0; degree == 2 && m < 3; m++) {
            const double p0 = p[quartic_bezier_index(0, 0)][m],
                         pb = p[quartic_bezier_index(1, 0)][m],
                         pc = p[quartic_bezier_index(0, 1)][m];
            out[3][m] = 12.0 * (p[quartic_bezier_index(2, 0)][m] - 2.0 * pb + p0);
            out[4][m] = 12.0 * (p[quartic_bezier_index(1, 1)][m] - pb - pc + p0);
            out[5][m] = 12.0 * (p[quartic_bezier_index(0, 2)][m] - 2.0 * pc + p0);
        }
    }
    for (int m = 0; m < 3; m++) {
        const double p0 = p[quartic_bezier_index(0, 0)][m], pb = p[quartic_bezier_index(1, 0)][m],
                     pc = p[quartic_bezier_index(0, 1)][m];
        out[0][m] = a * p0 + b * pb + c * pc;
        out[1][m] = 4.0 * (pb - p0);
        out[2][m] = 4.0 * (pc - p0);
    }
}
