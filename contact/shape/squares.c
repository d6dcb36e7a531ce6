/* Surfaces with charts over unit squares: points, steps over their sides, cells, triangulation and
 * mass properties. */
#include "contact/shape/squares_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CELL_NORMAL_TURN                                                                       \
    0.25 /* largest rotation of the normal over a cell, from corner to corner [rad]                \
          */

enum {
    MAX_SIDE_CROSSINGS_PER_STEP =
        8, /* largest number of sides that one step over the surface may cross */
    MAX_SQUARES_AROUND_CORNER =
        128, /* largest number of unit squares of charts about a corner of the surface */
    MAX_CHART_CELLS_PER_SQUARE_SIDE = 16, /* largest number of cells along a side of a square */
    MESH_STEPS_PER_SIDE =
        16, /* number of steps of the triangulation along a side of a square: a power of 2 */
    MAX_SQUARES_AT_FULL_RESOLUTION = 64, /* number of squares up to which the triangulation has all
                                      its steps per side; beyond, a quarter of them */
    MAX_SQUARES_AT_QUARTER_RESOLUTION = 2048, /* number of squares beyond which the triangulation
                                           has an eighth of its steps per side */
    GAUSS_POINTS_PER_SIDE = 8, /* number of points of the quadrature along a side of a section */
};

void tact_square_point_on_side(int side, double fraction_from_side_start, double uv[2])
{
    uv[0] = side == 0   ? fraction_from_side_start
            : side == 1 ? 1.0
            : side == 2 ? 1.0 - fraction_from_side_start
                        : 0.0;
    uv[1] = side == 0   ? 0.0
            : side == 1 ? fraction_from_side_start
            : side == 2 ? 1.0
                        : 1.0 - fraction_from_side_start;
}

/* Dual basis of c_u and c_v: vectors along the tangent plane whose products with them are 1 or 0.
 * -EDOM where the chart is singular. */
static int compute_dual_basis(const double c[6][3], double dual_tangent_basis[2][3])
{
    double uu = tact_v3_dot(c[1], c[1]), uv = tact_v3_dot(c[1], c[2]), vv = tact_v3_dot(c[2], c[2]),
           det = uu * vv - uv * uv;
    if (!(det > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(dual_tangent_basis[0], c[1], vv / det);
    tact_v3_axpy(dual_tangent_basis[0], -uv / det, c[2]);
    tact_v3_scale(dual_tangent_basis[1], c[2], uu / det);
    tact_v3_axpy(dual_tangent_basis[1], -uv / det, c[1]);
    return 0;
}

/* 1 where a place, square and parameters, exists on the surface. */
static int is_surface_position_valid(const struct square_charts *s, const double place[3])
{
    return place[0] >= 0.0 && place[0] < s->count && place[1] >= 0.0 && place[1] <= 1.0 &&
           place[2] >= 0.0 && place[2] <= 1.0;
}

/* Weingarten map over the dual basis: L = sum of b_ij c^i c^j with b_ij = -n . c_ij. */
int tact_surface_point_from_chart_derivatives(const double c[SECOND_ORDER][3],
                                              struct tact_surface_point *out)
{
    double dual_tangent_basis[2][3];
    if (compute_dual_basis(c, dual_tangent_basis)) {
        return -EDOM;
    }
    tact_v3_copy(out->at, c[0]);
    tact_v3_cross(out->normal, c[1], c[2]);
    tact_v3_normalize(out->normal, out->normal);
    double uu = -tact_v3_dot(out->normal, c[3]), uv = -tact_v3_dot(out->normal, c[4]),
           vv = -tact_v3_dot(out->normal, c[5]);
    for (int i = 0; i < 9; i++) {
        const int r = i / 3, k = i % 3;
        out->bend[i] = uu * dual_tangent_basis[0][r] * dual_tangent_basis[0][k] +
                       vv * dual_tangent_basis[1][r] * dual_tangent_basis[1][k] +
                       uv * (dual_tangent_basis[0][r] * dual_tangent_basis[1][k] +
                             dual_tangent_basis[1][r] * dual_tangent_basis[0][k]);
    }
    return 0;
}

static int evaluate_surface_point(const struct tact_charts *charts, const double place[3],
                                  struct tact_surface_point *out)
{
    const struct square_charts *s = (const struct square_charts *)charts;
    double c[SECOND_ORDER][3], ab[2];
    if (!is_surface_position_valid(s, place)) {
        return -EDOM;
    }
    const int square = (int)place[0], side = tact_squares_pole_side(s, place, ab);
    if (side >= 0) {
        return tact_squares_point_about_pole(s, square, side, ab[0], ab[1], out);
    }
    s->evaluate(s, square, place[1], place[2], SECOND_ORDER, c);
    return tact_surface_point_from_chart_derivatives((const double(*)[3])c, out);
}

/* Moves a place to the end of a step of (u, v) within its square, or to the side of the square that
 * the step meets first. Returns the fraction of the step that was made, and the side, -1 for none.
 */
static double move_up_to_patch_side(double place[3], const double step[2], int *side)
{
    double step_fraction = 1.0;
    *side = -1;
    for (int k = 0; k < 2; k++) {
        double to = place[1 + k] + step[k], end = step[k] > 0.0 ? 1.0 : 0.0;
        double at = to > 1.0 || to < 0.0 ? (end - place[1 + k]) / step[k] : 1.0;
        if (at < step_fraction || (at <= step_fraction && *side < 0 && (to > 1.0 || to < 0.0))) {
            step_fraction = at;
            *side = k == 0 ? (end > 0.0 ? 1 : 3) : (end > 0.0 ? 2 : 0);
        }
    }
    for (int k = 0; k < 2; k++) {
        place[1 + k] = tact_min(tact_max(place[1 + k] + step_fraction * step[k], 0.0), 1.0);
    }
    return step_fraction;
}

/* Moves a place over a side of its square into the neighbouring square. */
static void move_position_into_neighbour_square(const struct square_charts *s, int side,
                                                double place[3])
{
    const double position_fraction_along_side[SQUARE_SIDES] = {place[1], place[2], 1.0 - place[1],
                                                               1.0 - place[2]};
    const int to = s->neighbour_over_edge[(int)place[0]][side], next = to / SQUARE_SIDES;
    place[0] = next;
    tact_square_point_on_side(to % SQUARE_SIDES, 1.0 - position_fraction_along_side[side],
                              place + 1);
}

static void move_position_on_squares(const struct tact_charts *charts, double place[3],
                                     const double step[3])
{
    const struct square_charts *s = (const struct square_charts *)charts;
    double remaining_chart_step[3];
    tact_v3_copy(remaining_chart_step, step);
    for (int i = 0; i < MAX_SIDE_CROSSINGS_PER_STEP && is_surface_position_valid(s, place); i++) {
        double c[6][3], dual_tangent_basis[2][3], uv[2];
        int side;
        if (tact_squares_move_about_pole(s, place, remaining_chart_step)) {
            return;
        }
        s->evaluate(s, (int)place[0], place[1], place[2], SECOND_ORDER, c);
        if (compute_dual_basis((const double(*)[3])c, dual_tangent_basis)) {
            return;
        }
        uv[0] = tact_v3_dot(dual_tangent_basis[0], remaining_chart_step);
        uv[1] = tact_v3_dot(dual_tangent_basis[1], remaining_chart_step);
        double step_fraction_within_square = move_up_to_patch_side(place, uv, &side);
        if (side < 0) {
            return;
        }
        if (s->neighbour_over_edge[(int)place[0]][side] != SQUARE_POLE) {
            move_position_into_neighbour_square(s, side, place);
        }
        tact_v3_scale(remaining_chart_step, remaining_chart_step,
                      1.0 - step_fraction_within_square);
    }
}

static void free_squares_surface(struct tact_charts *charts)
{
    struct square_charts *s = (struct square_charts *)charts;
    free(s->neighbour_over_edge);
    free(s->owned[0]);
    free(s->owned[1]);
}

static const struct chart_surface_type square_charts_type = {.point = evaluate_surface_point,
                                                             .move = move_position_on_squares,
                                                             .release = free_squares_surface};

void tact_squares_init_surface(struct square_charts *surface)
{
    surface->base.type = &square_charts_type;
}

/* Rotation of the normal over a square, from samples. */
static double measure_normal_rotation_over_square(const struct square_charts *s, int square)
{
    struct tact_surface_point q[9];
    double turn = 0.0;
    for (int i = 0; i < 9; i++) {
        const int u = i % 3, v = i / 3;
        const double place[3] = {square, 0.5 * u, 0.5 * v};
        if (evaluate_surface_point(&s->base, place, &q[i])) {
            return INFINITY;
        }
        for (int k = 0; k < i; k++) {
            double d[3];
            tact_v3_sub(d, q[i].normal, q[k].normal);
            turn = tact_max(turn, tact_v3_norm(d));
        }
    }
    return turn;
}

/* n x n cells of a square. */
static void fill_patch_cells(int square, int n, struct chart_surface_cell *cell)
{
    for (int i = 0; i < n * n; i++) {
        for (int k = 0; k < 9; k++) {
            const int u = 2 * (i % n) + k % 3, v = 2 * (i / n) + k / 3;
            tact_v3_set(cell[i].place[k], square, 0.5 * u / n, 0.5 * v / n);
        }
    }
}

/* Counts the cells along each side of a square. */
static int count_cells_along_side(const struct square_charts *s, int square)
{
    int n =
        (int)tact_min(ceil(measure_normal_rotation_over_square(s, square) / MAX_CELL_NORMAL_TURN),
                      MAX_CHART_CELLS_PER_SQUARE_SIDE);
    return n < 1 ? 1 : n;
}

static int build_square_cells(struct square_charts *s)
{
    size_t count = 0;
    for (int i = 0; i < s->count; i++) {
        const int n = count_cells_along_side(s, i);
        count += (size_t)(n * n);
    }
    struct chart_surface_cell *cell = calloc(count + 1, sizeof *cell);
    count = 0;
    for (int i = 0; cell && i < s->count; i++) {
        const int n = count_cells_along_side(s, i);
        fill_patch_cells(i, n, cell + count);
        count += (size_t)(n * n);
    }
    int rc = cell ? tact_charts_build(&s->base, cell, (int)count) : -ENOMEM;
    free(cell);
    return rc;
}

/* Position of a vertex of the triangulation's grid: on a side that of the square with the lower
 * number, so that equal vertices are bitwise equal, at a corner the lowest of all about it. */
static void grid_point_of_square_triangulation(const struct square_charts *s, int square, double u,
                                               double v, double out[3])
{
    double place[3] = {square, u, v}, best[3], c[6][3], ab[2];
    const int pole_side_of_square = tact_squares_pole_side(s, place, ab);
    if (pole_side_of_square >= 0 && ab[1] == 0.0) {
        s->evaluate_about_pole(s, square, pole_side_of_square, ab[0], 0.0, c, out);
        return;
    }
    memcpy(best, place, sizeof best);
    /* The path leads about a corner, or to the neighbouring square and back. */
    for (int k = 0; k < MAX_SQUARES_AROUND_CORNER; k++) {
        int side = place[2] == 0.0   ? 0
                   : place[1] == 1.0 ? 1
                   : place[2] == 1.0 ? 2
                   : place[1] == 0.0 ? 3
                                     : -1;
        if (side == 0 && place[1] == 0.0) {
            side = 3; /* at a corner the path continues over the side that ends there, whichever
                         side it came along */
        }
        if (side < 0) {
            break;
        }
        move_position_into_neighbour_square(s, side, place);
        if (memcmp(place, best, sizeof best) != 0 &&
            (place[0] < best[0] ||
             (place[0] <= best[0] && place[1] + 2.0 * place[2] < best[1] + 2.0 * best[2]))) {
            memcpy(best, place, sizeof best);
        }
    }
    s->evaluate(s, (int)best[0], best[1], best[2], SECOND_ORDER, c);
    tact_v3_copy(out, c[0]);
}

/* Appends a triangle, unless two of its corners are the same point, a pole. */
static void append_triangle(struct tact_soup *soup, const uint32_t corner[3])
{
    for (int k = 0; k < 3; k++) {
        const double *a = soup->vertices + 3 * (size_t)corner[k],
                     *b = soup->vertices + 3 * (size_t)corner[(k + 1) % 3];
        if (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) {
            return;
        }
    }
    memcpy(soup->triangles + 3 * soup->triangle_count++, corner, 3 * sizeof *corner);
}

/* Appends the vertices and triangles of n x n steps of each square. n is a power of 2, so that u
 * and 1 - u are exact. */
static void fill_square_soup(const struct square_charts *s, uint32_t n, struct tact_soup *soup)
{
    for (int i = 0; i < s->count; i++) {
        const uint32_t first = (uint32_t)soup->vertex_count, row = n + 1;
        for (uint32_t k = 0; k < row * row; k++) {
            const uint32_t u = k % row, v = k / row;
            grid_point_of_square_triangulation(s, i, (double)u / n, (double)v / n,
                                               soup->vertices + 3 * soup->vertex_count++);
        }
        for (uint32_t k = 0; k < 2 * n * n; k++) {
            const uint32_t a = first + k / 2 / n * row + k / 2 % n;
            const uint32_t corner[2][3] = {{a, a + 1, a + row + 1}, {a, a + row + 1, a + row}};
            append_triangle(soup, corner[k % 2]);
        }
    }
}

static int triangulate_squares(struct square_charts *s, struct tact_error *err)
{
    const uint32_t n = s->count <= MAX_SQUARES_AT_FULL_RESOLUTION      ? MESH_STEPS_PER_SIDE
                       : s->count <= MAX_SQUARES_AT_QUARTER_RESOLUTION ? MESH_STEPS_PER_SIDE / 4
                                                                       : MESH_STEPS_PER_SIDE / 8;
    size_t count = (size_t)s->count;
    struct tact_soup soup = {.vertices = malloc(3 * count * (n + 1) * (n + 1) * sizeof(double)),
                             .triangles = malloc(6 * count * n * n * sizeof(uint32_t))};
    int rc = soup.vertices && soup.triangles ? 0 : -ENOMEM;
    if (!rc) {
        fill_square_soup(s, n, &soup);
        rc = tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                              &s->base.mesh, err);
    }
    tact_soup_free(&soup);
    return rc;
}

/* Adds the contribution of a surface point to volume and moments, by the divergence theorem: x . n
 * dA / 3 and so on.
 */
static void add_quadrature_point(const double c[3][3], double weight, double sum[10])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double area[3];
    tact_v3_cross(area, c[1], c[2]);
    double position_flux_through_surface = weight * tact_v3_dot(c[0], area);
    sum[0] += position_flux_through_surface / 3.0;
    for (int i = 0; i < 3; i++) {
        sum[1 + i] += position_flux_through_surface / 4.0 * c[0][i];
    }
    for (int i = 0; i < 6; i++) {
        sum[4 + i] += position_flux_through_surface / 5.0 * c[0][row[i]] * c[0][column[i]];
    }
}

static void mass_from_volume_integrals(const double sum[10], struct tact_shape_mass *m)
{
    static const int packed_symmetric_matrix_index[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    double second_moment_matrix[9];
    m->volume = sum[0];
    tact_v3_scale(m->centroid, sum + 1, 1.0 / sum[0]);
    for (int i = 0; i < 9; i++) {
        second_moment_matrix[i] = sum[4 + packed_symmetric_matrix_index[i]] -
                                  sum[0] * m->centroid[i / 3] * m->centroid[i % 3];
    }
    for (int i = 0; i < 9; i++) {
        m->inertia[i] = (i % 4 == 0 ? second_moment_matrix[0] + second_moment_matrix[4] +
                                          second_moment_matrix[8]
                                    : 0.0) -
                        second_moment_matrix[i];
    }
}

void tact_squares_set_mass(struct square_charts *surface, evaluate_square_element *element,
                           int count, int quadrature_parts_per_side)
{
    static const double x[GAUSS_POINTS_PER_SIDE / 2] = {
        0.1834346424956498049, 0.5255324099163289858, 0.7966664774136267396, 0.9602898564975362317};
    static const double w[GAUSS_POINTS_PER_SIDE / 2] = {
        0.3626837833783619830, 0.3137066458778872873, 0.2223810344533744706, 0.1012285362903762591};
    double sum[10] = {0.0}, c[3][3];
    for (int i = 0; i < count * quadrature_parts_per_side * quadrature_parts_per_side *
                            GAUSS_POINTS_PER_SIDE * GAUSS_POINTS_PER_SIDE;
         i++) {
        const int k = i % (GAUSS_POINTS_PER_SIDE * GAUSS_POINTS_PER_SIDE),
                  part = i / (GAUSS_POINTS_PER_SIDE * GAUSS_POINTS_PER_SIDE) %
                         (quadrature_parts_per_side * quadrature_parts_per_side);
        const int a = k % GAUSS_POINTS_PER_SIDE, b = k / GAUSS_POINTS_PER_SIDE;
        double at[2] = {(a % 2 ? x[a / 2] : -x[a / 2]), (b % 2 ? x[b / 2] : -x[b / 2])};
        const int corner[2] = {part % quadrature_parts_per_side, part / quadrature_parts_per_side};
        for (int m = 0; m < 2; m++) {
            at[m] = (corner[m] + 0.5 + 0.5 * at[m]) / quadrature_parts_per_side;
        }
        element(surface,
                i / (GAUSS_POINTS_PER_SIDE * GAUSS_POINTS_PER_SIDE * quadrature_parts_per_side *
                     quadrature_parts_per_side),
                at[0], at[1], c);
        add_quadrature_point((const double(*)[3])c,
                             w[a / 2] * w[b / 2] /
                                 (4.0 * quadrature_parts_per_side * quadrature_parts_per_side),
                             sum);
    }
    mass_from_volume_integrals(sum, &surface->base.mass);
}

int tact_squares_triangulate_and_check(struct square_charts *surface,
                                       const char *message_if_normals_are_inward,
                                       struct tact_error *err)
{
    if (!(surface->base.mass.volume > 0.0)) {
        return tact_error_set(err, -EINVAL, "%s", message_if_normals_are_inward);
    }
    int rc = triangulate_squares(surface, err);
    rc = rc ? rc : build_square_cells(surface);
    return rc == -EINVAL
               ? tact_error_set(err, rc, "the surface has no normal at some of its points")
               : rc;
}
