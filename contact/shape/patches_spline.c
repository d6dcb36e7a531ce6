/* From tensor B-splines to Bezier patches, by the blossoms of their polynomials (Ramshaw 1989). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/shape/patches_internal.h"

enum { CUBIC = 3 };

/* The blossom of the span from knots[span] on, at `degree` arguments: de Boor's algorithm with an
 * argument of its own in each step. stride: of the control points. */
static void evaluate_spline_blossom(const double (*point)[4], int stride, const double *knots,
                                    int degree, int span, const double *at, double out[4])
{
    double d[CUBIC + 1][4];
    for (int i = 0; i <= degree; i++) {
        memcpy(d[i], point[(span - degree + i) * stride], sizeof d[i]);
    }
    for (int r = 1; r <= degree; r++) {
        for (int i = degree; i >= r; i--) {
            const double low = knots[span - degree + i], high = knots[span + 1 + i - r];
            const double x = (at[r - 1] - low) / (high - low);
            for (int k = 0; k < 4; k++) {
                d[i][k] = (1.0 - x) * d[i - 1][k] + x * d[i][k];
            }
        }
    }
    memcpy(out, d[degree], sizeof d[degree]);
}

/* Bezier points of a B-spline's span, raised to a cubic. */
static void compute_bezier_points_of_span(const double (*point)[4], int stride, const double *knots,
                                          int degree, int span, double out[CUBIC + 1][4])
{
    for (int j = 0; j <= degree; j++) {
        double at[CUBIC];
        for (int i = 0; i < degree; i++) {
            at[i] = i < degree - j ? knots[span] : knots[span + 1];
        }
        evaluate_spline_blossom(point, stride, knots, degree, span, at, out[j]);
    }
    for (int d = degree; d < CUBIC; d++) {
        memcpy(out[d + 1], out[d], sizeof out[d]);
        for (int j = d; j > 0; j--) {
            const double part = (double)j / (d + 1);
            for (int k = 0; k < 4; k++) {
                out[j][k] = part * out[j - 1][k] + (1.0 - part) * out[j][k];
            }
        }
    }
}

/* Appends an empty patch. -E2BIG, -ENOMEM */
static int add_spline_patch(struct bezier_patch_list *list, int line, struct bezier_patch **out)
{
    if (list->count == MAX_BEZIER_PATCHES) {
        return -E2BIG;
    }
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 64;
        struct bezier_patch *resized_patches =
            realloc(list->patch, (size_t)room * sizeof *resized_patches);
        if (!resized_patches) {
            return -ENOMEM;
        }
        list->patch = resized_patches;
        list->room = room;
    }
    struct bezier_patch *patch = &list->patch[list->count++];
    memset(patch, 0, sizeof *patch);
    patch->line = line;
    *out = patch;
    return 0;
}

int tact_patches_add_spline(struct bezier_patch_list *list, const double (*point)[4],
                            const int count[2], const int degree[2], const double *const knots[2],
                            int line)
{
    double(*row)[CUBIC + 1][4] = malloc((size_t)count[1] * sizeof *row);
    int rc = row ? 0 : -ENOMEM;
    for (int s = degree[0]; !rc && s < count[0]; s++) {
        if (!(knots[0][s] < knots[0][s + 1])) {
            continue;
        }
        /* Bezier points along u, for each row of control points. */
        for (int j = 0; j < count[1]; j++) {
            compute_bezier_points_of_span(point + j * count[0], 1, knots[0], degree[0], s, row[j]);
        }
        for (int t = degree[1]; !rc && t < count[1]; t++) {
            struct bezier_patch *patch = NULL;
            rc = knots[1][t] < knots[1][t + 1] ? add_spline_patch(list, line, &patch) : 0;
            for (int i = 0; patch && i <= CUBIC; i++) {
                double column[CUBIC + 1][4];
                compute_bezier_points_of_span(row[0] + i, CUBIC + 1, knots[1], degree[1], t,
                                              column);
                for (int j = 0; j <= CUBIC; j++) {
                    memcpy(patch->point[4 * j + i], column[j], sizeof column[j]);
                }
            }
        }
    }
    free(row);
    return rc;
}
