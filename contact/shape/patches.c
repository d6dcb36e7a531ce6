/*
 * Surfaces of rational bicubic Bezier patches, as which B-splines and NURBS of degrees up to 3 are
 * read. A place is (patch, u, v). At an edge it continues in the neighbour.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/shape/kinds_internal.h"
#include "contact/shape/patches_internal.h"

enum {
    QUADRATURE_SECTIONS_PER_SIDE =
        4, /* number of sections of the quadrature along a side of a patch */
};

struct patches {
    struct square_charts square_charts;
    struct bezier_patch patch[];
};

/* Cubic Bernstein polynomials and their derivatives at t. */
static void evaluate_bernstein_basis(double t, double b[4][4])
{
    const double s = 1.0 - t;
    const double value[4][4] = {
        {s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t},
        {-3.0 * s * s, 3.0 * s * (s - 2.0 * t), 3.0 * t * (2.0 * s - t), 3.0 * t * t},
        {6.0 * s, 6.0 * (t - 2.0 * s), 6.0 * (s - 2.0 * t), 6.0 * t},
        {-6.0, 18.0, -18.0, 6.0}};
    memcpy(b, value, sizeof value);
}

/* Third derivatives of a rational patch h / w by the quotient rule, from those of lower order. */
static void third_derivatives_of_quotient(const double h[THIRD_ORDER][4], double (*c)[3])
{
    const double w = h[0][3];
    for (int k = 0; k < 3; k++) {
        c[6][k] = (h[6][k] - 3.0 * (h[1][3] * c[3][k] + h[3][3] * c[1][k]) - h[6][3] * c[0][k]) / w;
        c[7][k] = (h[7][k] - h[2][3] * c[3][k] - h[3][3] * c[2][k] -
                   2.0 * (h[1][3] * c[4][k] + h[4][3] * c[1][k]) - h[7][3] * c[0][k]) /
                  w;
        c[8][k] = (h[8][k] - h[1][3] * c[5][k] - h[5][3] * c[1][k] -
                   2.0 * (h[2][3] * c[4][k] + h[4][3] * c[2][k]) - h[8][3] * c[0][k]) /
                  w;
        c[9][k] = (h[9][k] - 3.0 * (h[2][3] * c[5][k] + h[5][3] * c[2][k]) - h[9][3] * c[0][k]) / w;
    }
}

/* Derivatives of a rational patch h / w up to the second order, by the quotient rule. */
static void second_derivatives_of_quotient(const double h[SECOND_ORDER][4], double (*c)[3])
{
    const double w = h[0][3];
    for (int k = 0; k < 3; k++) {
        c[0][k] = h[0][k] / w;
        c[1][k] = (h[1][k] - h[1][3] * c[0][k]) / w;
        c[2][k] = (h[2][k] - h[2][3] * c[0][k]) / w;
        c[3][k] = (h[3][k] - 2.0 * h[1][3] * c[1][k] - h[3][3] * c[0][k]) / w;
        c[4][k] = (h[4][k] - h[1][3] * c[2][k] - h[2][3] * c[1][k] - h[4][3] * c[0][k]) / w;
        c[5][k] = (h[5][k] - 2.0 * h[2][3] * c[2][k] - h[5][3] * c[0][k]) / w;
    }
}

void tact_patch_evaluate(const struct bezier_patch *patch, double u, double v, int count,
                         double (*c)[3])
{
    static const int order[THIRD_ORDER][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1},
                                              {0, 2}, {3, 0}, {2, 1}, {1, 2}, {0, 3}};
    const int derivative_orders_per_axis = count == THIRD_ORDER ? 4 : 3;
    double bu[4][4], bv[4][4], h[THIRD_ORDER][4], row[4][4][4];
    evaluate_bernstein_basis(u, bu);
    evaluate_bernstein_basis(v, bv);
    memset(row, 0, sizeof row);
    memset(h, 0, sizeof h);
    /* derivatives along u of each row of control points */
    for (int d = 0; d < derivative_orders_per_axis; d++) {
        for (int i = 0; i < PATCH_POINTS; i++) {
            for (int k = 0; k < 4; k++) {
                row[d][i / 4][k] += bu[d][i % 4] * patch->point[i][k];
            }
        }
    }
    for (int m = 0; m < count; m++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                h[m][k] += bv[order[m][1]][j] * row[order[m][0]][j][k];
            }
        }
    }
    second_derivatives_of_quotient((const double(*)[4])h, c);
    if (count == THIRD_ORDER) {
        third_derivatives_of_quotient((const double(*)[4])h, c);
    }
}

/* The control point of a patch in row j from an edge and column i along it. */
static const double *get_control_point_about_edge(const struct bezier_patch *patch, int edge, int i,
                                                  int j)
{
    const int u[PATCH_EDGES] = {i, 3 - j, 3 - i, j}, v[PATCH_EDGES] = {j, i, 3 - j, 3 - i};
    return patch->point[4 * v[edge] + u[edge]];
}

/* With h and w the numerators and the weight of the patch, (h - w pole) / b is a polynomial of
 * degree 2 in b, as its first row of control points is w pole. */
void tact_patch_evaluate_about_pole(const struct bezier_patch *patch, int edge, double a, double b,
                                    double q[SECOND_ORDER][3])
{
    static const int order[SECOND_ORDER][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
    const double s = 1.0 - b, divided[3][4] = {{0.0, 3.0 * s * s, 3.0 * b * s, b * b},
                                               {0.0, -6.0 * s, 3.0 - 6.0 * b, 2.0 * b},
                                               {0.0, 6.0, -6.0, 2.0}};
    double ba[4][4], bb[4][4], h[SECOND_ORDER][4];
    evaluate_bernstein_basis(a, ba);
    evaluate_bernstein_basis(b, bb);
    memset(h, 0, sizeof h);
    for (int m = 0; m < SECOND_ORDER; m++) {
        const double *bernstein_basis_along_a = ba[order[m][0]];
        for (int k = 0; k < PATCH_POINTS; k++) {
            const double *point = get_control_point_about_edge(patch, edge, k % 4, k / 4);
            const double w = bernstein_basis_along_a[k % 4] * divided[order[m][1]][k / 4];
            for (int n = 0; n < 3; n++) {
                h[m][n] += w * (point[n] - point[3] * patch->pole[edge][n]);
            }
            h[m][3] += bernstein_basis_along_a[k % 4] * bb[order[m][1]][k / 4] * point[3];
        }
    }
    second_derivatives_of_quotient((const double(*)[4])h, q);
}

static void evaluate_bezier_patch(const struct square_charts *surface, int square, double u,
                                  double v, int count, double (*c)[3])
{
    tact_patch_evaluate(&((const struct patches *)surface)->patch[square], u, v, count, c);
}

static void evaluate_bezier_patch_about_pole(const struct square_charts *surface, int square,
                                             int side, double a, double b,
                                             double q[SECOND_ORDER][3], double pole[3])
{
    const struct bezier_patch *patch = &((const struct patches *)surface)->patch[square];
    tact_patch_evaluate_about_pole(patch, side, a, b, q);
    tact_v3_copy(pole, patch->pole[side]);
}

static void evaluate_quadrature_element(const struct square_charts *surface,
                                        int quadrature_element_index, double s, double t,
                                        double c[3][3])
{
    double all[SECOND_ORDER][3];
    evaluate_bezier_patch(surface, quadrature_element_index, s, t, SECOND_ORDER, all);
    memcpy(c, all, 3 * sizeof all[0]);
}

/* Largest coordinate of the control points of a list of patches. */
static double largest_control_coordinate(const struct bezier_patch_list *list)
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

/* Makes the surface of a list of patches, without mesh and cells; NULL: out of memory. */
static struct patches *make_surface_of_patches(const struct bezier_patch_list *list)
{
    size_t count = (size_t)list->count;
    struct patches *p = calloc(1, sizeof *p + count * sizeof p->patch[0]);
    if (!p) {
        return NULL;
    }
    struct square_charts *s = &p->square_charts;
    tact_squares_init_surface(s);
    s->evaluate = evaluate_bezier_patch;
    s->evaluate_about_pole = evaluate_bezier_patch_about_pole;
    s->count = list->count;
    s->neighbour_over_edge = malloc(count * sizeof *s->neighbour_over_edge);
    memcpy(p->patch, list->patch, count * sizeof p->patch[0]);
    for (size_t i = 0; s->neighbour_over_edge && i < count; i++) {
        memcpy(s->neighbour_over_edge[i], p->patch[i].neighbour_over_edge,
               sizeof s->neighbour_over_edge[i]);
    }
    if (!s->neighbour_over_edge) {
        tact_charts_free(&s->base);
        return NULL;
    }
    return p;
}

int tact_charts_patches(const void *data, size_t size, const char *name, double scale,
                        struct tact_charts **out, struct tact_error *err)
{
    struct bezier_patch_list list = {0};
    struct patches *p = NULL;
    *out = NULL;
    tact_error_at(err, name, 0, 0, NULL);
    int rc = tact_patches_read(data, size, scale, &list, err);
    rc = rc ? rc : tact_patches_find_neighbours(&list, largest_control_coordinate(&list), err);
    if (!rc) {
        p = make_surface_of_patches(&list);
        rc = p ? 0 : -ENOMEM;
    }
    if (p) {
        tact_squares_set_mass(&p->square_charts, evaluate_quadrature_element, list.count,
                              QUADRATURE_SECTIONS_PER_SIDE);
        rc = tact_squares_triangulate_and_check(
            &p->square_charts,
            "the normals c_u x c_v of the surface patches point into the "
            "solid: they must point out of it",
            err);
    }
    free(list.patch);
    if (rc) {
        tact_charts_free(p ? &p->square_charts.base : NULL);
        return rc;
    }
    *out = &p->square_charts.base;
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
