/*
 * Surfaces of rational bicubic Bezier patches, as which B-splines and NURBS of degrees up to 3 are
 * read. A place is (patch, u, v). At an edge it continues in the neighbour.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/shape/kinds_internal.h"
#include "contact/shape/patches_internal.h"

#define CELL_TURN                                                                                  \
    0.25 /* largest rotation of the normal over a cell, from corner to corner [rad]                \
          */

enum {
    MAX_BEZIER_PATCHES = 2048,
    MAX_EDGE_CROSSINGS = 8, /* of edges in a step */
    MAX_CELLS_PER_SIDE = 16,
    MESH = 16, /* squares of the triangulation along a side of a patch: a power of 2 */
    FEW = 64,  /* patches up to which it has as many, of more a quarter */
    GAUSS = 8, /* points of the quadrature along a side of a part */
    PARTS = 4, /* parts along a side of a patch */
};

struct patches {
    struct tact_charts base;
    int count;
    struct bezier_patch patch[];
};

/* Bernstein's cubics and their derivatives at t. */
static void basis(double t, double b[3][4])
{
    const double s = 1.0 - t;
    const double value[3][4] = {
        {s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t},
        {-3.0 * s * s, 3.0 * s * (s - 2.0 * t), 3.0 * t * (2.0 * s - t), 3.0 * t * t},
        {6.0 * s, 6.0 * (t - 2.0 * s), 6.0 * (s - 2.0 * t), 6.0 * t}};
    memcpy(b, value, sizeof value);
}

void tact_patch_evaluate(const struct bezier_patch *patch, double u, double v, double c[6][3])
{
    static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    double bu[3][4], bv[3][4], h[6][4], row[3][4][4];
    basis(u, bu);
    basis(v, bv);
    memset(row, 0, sizeof row);
    memset(h, 0, sizeof h);
    for (int d = 0; d < 3; d++) { /* derivatives along u of each row */
        for (int i = 0; i < PATCH_POINTS; i++) {
            for (int k = 0; k < 4; k++) {
                row[d][i / 4][k] += bu[d][i % 4] * patch->point[i][k];
            }
        }
    }
    for (int m = 0; m < 6; m++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                h[m][k] += bv[order[m][1]][j] * row[order[m][0]][j][k];
            }
        }
    }
    const double w = h[0][3]; /* the quotient rule */
    for (int k = 0; k < 3; k++) {
        c[0][k] = h[0][k] / w;
        c[1][k] = (h[1][k] - h[1][3] * c[0][k]) / w;
        c[2][k] = (h[2][k] - h[2][3] * c[0][k]) / w;
        c[3][k] = (h[3][k] - 2.0 * h[1][3] * c[1][k] - h[3][3] * c[0][k]) / w;
        c[4][k] = (h[4][k] - h[1][3] * c[2][k] - h[2][3] * c[1][k] - h[4][3] * c[0][k]) / w;
        c[5][k] = (h[5][k] - 2.0 * h[2][3] * c[2][k] - h[5][3] * c[0][k]) / w;
    }
}

/* Vectors along the tangent plane whose products with c_u and c_v are 1 or 0. -EDOM where the chart
 * is singular. */
static int dual_basis(const double c[6][3], double dual[2][3])
{
    double uu = tact_v3_dot(c[1], c[1]), uv = tact_v3_dot(c[1], c[2]), vv = tact_v3_dot(c[2], c[2]),
           det = uu * vv - uv * uv;
    if (!(det > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(dual[0], c[1], vv / det);
    tact_v3_axpy(dual[0], -uv / det, c[2]);
    tact_v3_scale(dual[1], c[2], uu / det);
    tact_v3_axpy(dual[1], -uv / det, c[1]);
    return 0;
}

/* The patch of a place; NULL for a place that is none. */
static const struct bezier_patch *patch_of(const struct patches *p, const double place[3])
{
    int valid = place[0] >= 0.0 && place[0] < p->count && place[1] >= 0.0 && place[1] <= 1.0 &&
                place[2] >= 0.0 && place[2] <= 1.0;
    return valid ? &p->patch[(int)place[0]] : NULL;
}

/* L = sum of b_ij c^i c^j over the dual basis, with b_ij = -n . c_ij. */
static int patch_point(const struct tact_charts *charts, const double place[3],
                       struct tact_surface_point *out)
{
    const struct bezier_patch *patch = patch_of((const struct patches *)charts, place);
    double c[6][3], dual[2][3];
    if (!patch) {
        return -EDOM;
    }
    tact_patch_evaluate(patch, place[1], place[2], c);
    if (dual_basis((const double(*)[3])c, dual)) {
        return -EDOM;
    }
    tact_v3_copy(out->at, c[0]);
    tact_v3_cross(out->normal, c[1], c[2]);
    tact_v3_normalize(out->normal, out->normal);
    double uu = -tact_v3_dot(out->normal, c[3]), uv = -tact_v3_dot(out->normal, c[4]),
           vv = -tact_v3_dot(out->normal, c[5]);
    for (int i = 0; i < 9; i++) {
        const int r = i / 3, k = i % 3;
        out->bend[i] = uu * dual[0][r] * dual[0][k] + vv * dual[1][r] * dual[1][k] +
                       uv * (dual[0][r] * dual[1][k] + dual[1][r] * dual[0][k]);
    }
    return 0;
}

/* Moves to the end of a step of (u, v) within the patch, or to the edge that it meets first.
 * Returns the part of the step that was made, and the edge, -1 for none. */
static double move_within_patch(double place[3], const double step[2], int *edge)
{
    double part = 1.0;
    *edge = -1;
    for (int k = 0; k < 2; k++) {
        double to = place[1 + k] + step[k], end = step[k] > 0.0 ? 1.0 : 0.0;
        double at = to > 1.0 || to < 0.0 ? (end - place[1 + k]) / step[k] : 1.0;
        if (at < part || (at <= part && *edge < 0 && (to > 1.0 || to < 0.0))) {
            part = at;
            *edge = k == 0 ? (end > 0.0 ? 1 : 3) : (end > 0.0 ? 2 : 0);
        }
    }
    for (int k = 0; k < 2; k++) {
        place[1 + k] = tact_min(tact_max(place[1 + k] + part * step[k], 0.0), 1.0);
    }
    return part;
}

/* Goes over an edge into the neighbour. */
static void cross_patch_edge(const struct bezier_patch *patch, int edge, double place[3])
{
    const double along[PATCH_EDGES] = {place[1], place[2], 1.0 - place[1], 1.0 - place[2]};
    const int to = patch->beside[edge], next = to / PATCH_EDGES;
    place[0] = next;
    tact_patch_on_edge(to % PATCH_EDGES, 1.0 - along[edge], place + 1);
}

static void move_on_patches(const struct tact_charts *charts, double place[3], const double step[3])
{
    const struct patches *p = (const struct patches *)charts;
    double left[3];
    tact_v3_copy(left, step);
    for (int i = 0; i < MAX_EDGE_CROSSINGS; i++) {
        const struct bezier_patch *patch = patch_of(p, place);
        double c[6][3], dual[2][3], uv[2];
        int edge;
        if (!patch) {
            return;
        }
        tact_patch_evaluate(patch, place[1], place[2], c);
        if (dual_basis((const double(*)[3])c, dual)) {
            return;
        }
        uv[0] = tact_v3_dot(dual[0], left);
        uv[1] = tact_v3_dot(dual[1], left);
        double made = move_within_patch(place, uv, &edge);
        if (edge < 0) {
            return;
        }
        cross_patch_edge(patch, edge, place);
        tact_v3_scale(left, left, 1.0 - made);
    }
}

static const struct chart_type patches_type = {.point = patch_point, .move = move_on_patches};

/* Rotation of the normal over a patch, from samples. */
static double normal_rotation_over_patch(const struct patches *p, int patch)
{
    struct tact_surface_point q[9];
    double turn = 0.0;
    for (int i = 0; i < 9; i++) {
        const int u = i % 3, v = i / 3;
        const double place[3] = {patch, 0.5 * u, 0.5 * v};
        if (patch_point(&p->base, place, &q[i])) {
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

/* n x n cells of a patch. */
static void fill_patch_cells(int patch, int n, struct chart_cell *cell)
{
    for (int i = 0; i < n * n; i++) {
        for (int k = 0; k < 9; k++) {
            const int u = 2 * (i % n) + k % 3, v = 2 * (i / n) + k / 3;
            tact_v3_set(cell[i].place[k], patch, 0.5 * u / n, 0.5 * v / n);
        }
    }
}

static int build_patch_cells(struct patches *p)
{
    struct chart_cell *cell =
        calloc((size_t)p->count * MAX_CELLS_PER_SIDE * MAX_CELLS_PER_SIDE, sizeof *cell);
    int count = 0;
    for (int i = 0; cell && i < p->count; i++) {
        int n =
            (int)tact_min(ceil(normal_rotation_over_patch(p, i) / CELL_TURN), MAX_CELLS_PER_SIDE);
        n = n < 1 ? 1 : n;
        fill_patch_cells(i, n, cell + count);
        count += n * n;
    }
    int rc = cell ? tact_charts_build(&p->base, cell, count) : -ENOMEM;
    free(cell);
    return rc;
}

/* Sums of x . n dA / 3 and of the moments over a point of the surface, by the divergence theorem.
 */
static void add_point(const double c[6][3], double weight, double sum[10])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double area[3];
    tact_v3_cross(area, c[1], c[2]);
    double flux = weight * tact_v3_dot(c[0], area);
    sum[0] += flux / 3.0;
    for (int i = 0; i < 3; i++) {
        sum[1 + i] += flux / 4.0 * c[0][i];
    }
    for (int i = 0; i < 6; i++) {
        sum[4 + i] += flux / 5.0 * c[0][row[i]] * c[0][column[i]];
    }
}

/* Volume, centroid and inertia by Gauss's quadrature: exact without weights, else to rounding for
 * weights that vary little over a part. */
static void set_patch_mass(struct patches *p)
{
    static const double x[GAUSS / 2] = {0.1834346424956498049, 0.5255324099163289858,
                                        0.7966664774136267396, 0.9602898564975362317};
    static const double w[GAUSS / 2] = {0.3626837833783619830, 0.3137066458778872873,
                                        0.2223810344533744706, 0.1012285362903762591};
    double sum[10] = {0.0}, c[6][3];
    for (int i = 0; i < p->count * PARTS * PARTS * GAUSS * GAUSS; i++) {
        const int k = i % (GAUSS * GAUSS), part = i / (GAUSS * GAUSS) % (PARTS * PARTS);
        const int a = k % GAUSS, b = k / GAUSS;
        double at[2] = {(a % 2 ? x[a / 2] : -x[a / 2]), (b % 2 ? x[b / 2] : -x[b / 2])};
        const int corner[2] = {part % PARTS, part / PARTS};
        for (int m = 0; m < 2; m++) {
            at[m] = (corner[m] + 0.5 + 0.5 * at[m]) / PARTS;
        }
        tact_patch_evaluate(&p->patch[i / (GAUSS * GAUSS * PARTS * PARTS)], at[0], at[1], c);
        add_point((const double(*)[3])c, w[a / 2] * w[b / 2] / (4.0 * PARTS * PARTS), sum);
    }
    struct tact_shape_mass *m = &p->base.mass;
    double full[9];
    m->volume = sum[0];
    tact_v3_scale(m->centroid, sum + 1, 1.0 / sum[0]);
    static const int place[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 0; i < 9; i++) {
        full[i] = sum[4 + place[i]] - sum[0] * m->centroid[i / 3] * m->centroid[i % 3];
    }
    for (int i = 0; i < 9; i++) {
        m->inertia[i] = (i % 4 == 0 ? full[0] + full[4] + full[8] : 0.0) - full[i];
    }
}

/* The position of a vertex of the grid: on an edge that of the patch with the lower number, so that
 * equal vertices are bitwise equal, at a corner the lowest of all about it. */
static void patch_grid_point(const struct patches *p, int patch, double u, double v, double out[3])
{
    double place[3] = {patch, u, v}, c[6][3];
    double best[3];
    memcpy(best, place, sizeof best);
    for (int k = 0; k < 2 * PATCH_POINTS; k++) { /* about a corner, or to the neighbour and back */
        const struct bezier_patch *at = &p->patch[(int)place[0]];
        int edge = place[2] == 0.0   ? 0
                   : place[1] == 1.0 ? 1
                   : place[2] == 1.0 ? 2
                   : place[1] == 0.0 ? 3
                                     : -1;
        if (edge == 0 && place[1] == 0.0) {
            edge = 3; /* at a corner, always over the edge that ends there */
        }
        if (edge < 0) {
            break;
        }
        cross_patch_edge(at, edge, place);
        if (memcmp(place, best, sizeof best) != 0 &&
            (place[0] < best[0] ||
             (place[0] <= best[0] && place[1] + 2.0 * place[2] < best[1] + 2.0 * best[2]))) {
            memcpy(best, place, sizeof best);
        }
    }
    tact_patch_evaluate(&p->patch[(int)best[0]], best[1], best[2], c);
    tact_v3_copy(out, c[0]);
}

/* n x n squares of each patch. n is a power of 2, so that u and 1 - u are exact. */
static void fill_patch_soup(const struct patches *p, uint32_t n, struct tact_soup *soup)
{
    for (int i = 0; i < p->count; i++) {
        const uint32_t first = (uint32_t)soup->vertex_count, row = n + 1;
        for (uint32_t k = 0; k < row * row; k++) {
            const uint32_t u = k % row, v = k / row;
            patch_grid_point(p, i, (double)u / n, (double)v / n,
                             soup->vertices + 3 * soup->vertex_count++);
        }
        for (uint32_t k = 0; k < n * n; k++) {
            const uint32_t a = first + k / n * row + k % n;
            const uint32_t corner[6] = {a, a + 1, a + row + 1, a, a + row + 1, a + row};
            memcpy(soup->triangles + 3 * soup->triangle_count, corner, sizeof corner);
            soup->triangle_count += 2;
        }
    }
}

static int make_patch_mesh(struct patches *p, struct tact_error *err)
{
    const uint32_t n = p->count <= FEW ? MESH : MESH / 4;
    size_t patches = (size_t)p->count;
    struct tact_soup soup = {.vertices = malloc(3 * patches * (n + 1) * (n + 1) * sizeof(double)),
                             .triangles = malloc(6 * patches * n * n * sizeof(uint32_t))};
    int rc = soup.vertices && soup.triangles ? 0 : -ENOMEM;
    if (!rc) {
        fill_patch_soup(p, n, &soup);
        rc = tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles, soup.triangle_count,
                              &p->base.mesh, err);
    }
    tact_soup_free(&soup);
    return rc;
}

static int finish_patches(struct patches *p, struct tact_error *err)
{
    int rc;
    set_patch_mass(p);
    if (!(p->base.mass.volume > 0.0)) {
        return tact_error_set(err, -EINVAL, "the patches' normals c_u x c_v point into the solid");
    }
    rc = make_patch_mesh(p, err);
    return rc ? rc : build_patch_cells(p);
}

/* Largest coordinate of the control points. */
static double largest_control_coordinate(const struct patch_list *list)
{
    double size = 0.0;
    for (int i = 0; i < list->count * PATCH_POINTS; i++) {
        const double *at = list->patch[i / PATCH_POINTS].point[i % PATCH_POINTS];
        for (int k = 0; k < 3; k++) {
            size = tact_max(size, fabs(at[k] / at[3]));
        }
    }
    return size;
}

int tact_charts_patches(const void *data, size_t size, const char *name, double scale,
                        struct tact_charts **out, struct tact_error *err)
{
    struct patch_list list = {0};
    struct patches *p = NULL;
    *out = NULL;
    tact_error_at(err, name, 0, 0, NULL);
    int rc = tact_patches_read(data, size, scale, &list, err);
    if (!rc && list.count > MAX_BEZIER_PATCHES) {
        rc = tact_error_set(err, -EINVAL, "%d patches; expected at most %d", list.count,
                            MAX_BEZIER_PATCHES);
    }
    rc = rc ? rc : tact_patches_find_neighbours(&list, largest_control_coordinate(&list), err);
    if (!rc) {
        p = calloc(1, sizeof *p + (size_t)list.count * sizeof p->patch[0]);
        rc = p ? 0 : -ENOMEM;
    }
    if (p) {
        p->base.type = &patches_type;
        p->count = list.count;
        memcpy(p->patch, list.patch, (size_t)list.count * sizeof p->patch[0]);
        rc = finish_patches(p, err);
    }
    free(list.patch);
    if (rc) {
        tact_charts_free(p ? &p->base : NULL);
        return rc;
    }
    *out = &p->base;
    return 0;
}

const struct tact_shape_type tact_shape_patches_type = {
    .name = "patches",
    .faces = TACT_FACES_MIXED,
    .keys = "file",
    .concave = 1,
    .mass = tact_charts_mass,
    .reach = tact_charts_bounding_radius,
};
