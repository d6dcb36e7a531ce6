/* Tensor B-splines of the STEP reader. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "step_surface.h"

void step_spline_free(struct step_surface *s)
{
    free(s->point);
    free(s->knots[0]);
    free(s->knots[1]);
    s->point = NULL;
    s->knots[0] = s->knots[1] = NULL;
}

bool step_spline_allocate(struct step_surface *s, const int degree[2], const int count[2])
{
    bool is_degree_and_count_valid = true;
    for (int k = 0; k < 2; k++) {
        is_degree_and_count_valid &= degree[k] >= 1 && degree[k] <= STEP_MAX_DEGREE &&
                                     count[k] > degree[k] && count[k] <= STEP_MAX_POINTS;
    }
    if (!is_degree_and_count_valid || count[0] * count[1] > STEP_MAX_POINTS) {
        return false;
    }
    s->point = calloc((size_t)count[0] * (size_t)count[1], sizeof *s->point);
    is_degree_and_count_valid = s->point;
    for (int k = 0; k < 2; k++) {
        s->degree[k] = degree[k];
        s->count[k] = count[k];
        s->knot_count[k] = count[k] + degree[k] + 1;
        s->knots[k] = calloc((size_t)s->knot_count[k], sizeof *s->knots[k]);
        is_degree_and_count_valid &= s->knots[k] != NULL;
    }
    if (!is_degree_and_count_valid) {
        step_spline_free(s);
    }
    return is_degree_and_count_valid;
}

/* Knot `at` of a direction of period `count`, whose knots continue on either side. */
static double get_periodic_knot(const struct step_surface *s, int k, int at)
{
    const int count = s->count[k], turns = (at + count) / count - 1;
    return s->knots[k][at - turns * count] + turns * (s->knots[k][count] - s->knots[k][0]);
}

bool step_spline_make_periodic_clamped(struct step_surface *s, const int end_knot_multiplicity[2])
{
    struct step_surface clamped_surface = *s;
    int more[2], count[2];
    for (int k = 0; k < 2; k++) {
        more[k] = end_knot_multiplicity[k] > 0 ? s->degree[k] + 1 - end_knot_multiplicity[k] : 0;
        count[k] = s->count[k] + more[k];
        if (more[k] > s->count[k]) {
            return false;
        }
    }
    clamped_surface.point = NULL;
    clamped_surface.knots[0] = clamped_surface.knots[1] = NULL;
    if (!step_spline_allocate(&clamped_surface, s->degree, count)) {
        return false;
    }
    for (int i = 0; i < count[0] * count[1]; i++) {
        const int column = i % count[0] % s->count[0], row = i / count[0] % s->count[1];
        memcpy(clamped_surface.point[i], s->point[row * s->count[0] + column],
               sizeof *clamped_surface.point);
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < clamped_surface.knot_count[k]; i++) {
            clamped_surface.knots[k][i] = end_knot_multiplicity[k] > 0
                                              ? get_periodic_knot(s, k, i - more[k])
                                              : s->knots[k][i];
        }
    }
    step_spline_free(s);
    *s = clamped_surface;
    return true;
}

/* Index i of the knots with knots[i] <= x < knots[i + 1], within the range of the surface. */
static int find_knot_span(const struct step_surface *s, int k, double x)
{
    int i = s->degree[k];
    while (i + 1 < s->count[k] && !(x < s->knots[k][i + 1])) {
        i++;
    }
    return i;
}

/* One round after another of de Boor's method on `degree` + 1 homogeneous points. */
static void evaluate_by_de_boor(const double *knots, int span, int degree, double x,
                                double (*point)[4])
{
    for (int de_boor_level = 1; de_boor_level <= degree; de_boor_level++) {
        for (int j = degree; j >= de_boor_level; j--) {
            const double low = knots[span - degree + j], high = knots[span + 1 + j - de_boor_level];
            const double share = high > low ? (x - low) / (high - low) : 0.0;
            for (int m = 0; m < 4; m++) {
                point[j][m] = (1.0 - share) * point[j - 1][m] + share * point[j][m];
            }
        }
    }
}

void step_spline_parameter_range(const struct step_surface *s, int k, double range[2])
{
    const double scale = s->is_parameter_angle ? acos(0.0) : 1.0;
    range[0] = scale * s->knots[k][s->degree[k]];
    range[1] = scale * s->knots[k][s->count[k]];
}

/* Parameter of the spline for a parameter of the file. A rational parabola is a quarter of a
 * circle, from the middle of which tan(angle / 2) is proportional to its parameter. */
static double get_spline_parameter(const struct step_surface *s, double x)
{
    if (!s->is_parameter_angle) {
        return x;
    }
    const double quarter = acos(0.0), whole = fmax(0.0, fmin(floor(x / quarter), 3.0));
    return whole + 0.5 + 0.5 * tan(0.5 * (x - (whole + 0.5) * quarter)) / tan(0.25 * quarter);
}

void step_spline_evaluate_point(const struct step_surface *s, const double uv[2], double out[3])
{
    const int du = s->degree[0], dv = s->degree[1];
    const double x = get_spline_parameter(s, uv[0]), y = get_spline_parameter(s, uv[1]);
    const int u = find_knot_span(s, 0, x), v = find_knot_span(s, 1, y);
    double column[STEP_MAX_DEGREE + 1][4], row[STEP_MAX_DEGREE + 1][4];
    for (int j = 0; j <= dv; j++) {
        for (int i = 0; i <= du; i++) {
            const double *p = s->point[(v - dv + j) * s->count[0] + u - du + i];
            for (int m = 0; m < 4; m++) {
                row[i][m] = m < 3 ? p[3] * p[m] : p[3];
            }
        }
        evaluate_by_de_boor(s->knots[0], u, du, x, row);
        memcpy(column[j], row[du], sizeof column[j]);
    }
    evaluate_by_de_boor(s->knots[1], v, dv, y, column);
    for (int m = 0; m < 3; m++) {
        out[m] = column[dv][m] / column[dv][3];
    }
}

bool step_spline_make_torus(struct step_surface *s, const double frame[12], const double radius[2])
{
    static const int degree[2] = {2, 2}, count[2] = {9, 9};
    static const double corner[9][2] = {{1, 0},   {1, 1},  {0, 1},  {-1, 1}, {-1, 0},
                                        {-1, -1}, {0, -1}, {1, -1}, {1, 0}};
    if (!step_spline_allocate(s, degree, count)) {
        return false;
    }
    s->is_spline_rational = s->is_parameter_angle = true;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < s->knot_count[k]; i++) {
            /* the first and the last knot occur three times, the others twice */
            const int quarter = i == s->knot_count[k] - 1 ? 4 : i ? (i - 1) / 2 : 0;
            s->knots[k][i] = quarter;
        }
    }
    for (int j = 0; j < 9; j++) {
        for (int i = 0; i < 9; i++) {
            const double far = radius[0] + radius[1] * corner[j][0];
            double *p = s->point[9 * j + i];
            for (int m = 0; m < 3; m++) {
                p[m] = frame[m] + radius[1] * corner[j][1] * frame[3 + m] +
                       far * (corner[i][0] * frame[6 + m] + corner[i][1] * frame[9 + m]);
            }
            p[3] = (i % 2 ? sqrt(0.5) : 1.0) * (j % 2 ? sqrt(0.5) : 1.0);
        }
    }
    return true;
}

void step_spline_write_as_obj(FILE *to, const struct step_surface *s,
                              bool is_outward_normal_reversed)
{
    const int points = s->count[0] * s->count[1];
    for (int i = 0; i < points; i++) {
        const int column = i % s->count[0];
        const int from = is_outward_normal_reversed ? i - column + s->count[0] - 1 - column : i;
        const double *p = s->point[from];
        fprintf(to, s->is_spline_rational ? "v %.17g %.17g %.17g %.17g\n" : "v %.17g %.17g %.17g\n",
                p[0], p[1], p[2], p[3]);
    }
    fprintf(to, "cstype %sbspline\ndeg %d %d\nsurf", s->is_spline_rational ? "rat " : "",
            s->degree[0], s->degree[1]);
    for (int k = 0; k < 2; k++) {
        const double first = s->knots[k][s->degree[k]], last = s->knots[k][s->count[k]];
        const bool is_direction_reversed = is_outward_normal_reversed && k == 0;
        fprintf(to, " %.17g %.17g", is_direction_reversed ? -last : first,
                is_direction_reversed ? -first : last);
    }
    for (int i = 0; i < points; i++) {
        fprintf(to, i % 16 ? " %d" : " \\\n %d", i - points);
    }
    for (int k = 0; k < 2; k++) {
        const bool is_direction_reversed = is_outward_normal_reversed && k == 0;
        fprintf(to, "\nparm %c", "uv"[k]);
        for (int i = 0; i < s->knot_count[k]; i++) {
            fprintf(to, " %.17g",
                    is_direction_reversed ? -s->knots[k][s->knot_count[k] - 1 - i]
                                          : s->knots[k][i]);
        }
    }
    fprintf(to, "\nend\n");
}
