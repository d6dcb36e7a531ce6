/* The cubic spline of a solid of revolution's profile, and its mass properties. */
#include <errno.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/shape/kinds_internal.h"
#include "contact/shape/profile_internal.h"

#define PI 3.14159265358979323846
#define MIN_PROFILE_PARAMETER_SPEED                                                                \
    1e-3 /* smallest derivative of the spline's position by its arc parameter: where it is less    \
            there is a cusp */

enum {
    CHECKED_SAMPLES_PER_PROFILE_SEGMENT =
        32, /* number of samples of a segment at which the profile is checked */
    GAUSS_POINTS =
        8, /* number of points of a Gauss quadrature that is exact for the moments of cubics */
};

void tact_profile_evaluate_segment(const struct segment *g, double s, struct profile_curve_point *p)
{
    const double x = s - g->about, *a = g->r, *b = g->z;
    p->r = a[0] + x * (a[1] + x * (a[2] + x * a[3]));
    p->z = b[0] + x * (b[1] + x * (b[2] + x * b[3]));
    p->dr = a[1] + x * (2.0 * a[2] + x * 3.0 * a[3]);
    p->dz = b[1] + x * (2.0 * b[2] + x * 3.0 * b[3]);
    p->ddr = 2.0 * a[2] + 6.0 * x * a[3];
    p->ddz = 2.0 * b[2] + 6.0 * x * b[3];
}

/* Solves M x = b in place by elimination, for a symmetric matrix that is dominated by its diagonal.
 */
static void solve_linear_system_in_place(double *m, int n, double *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            double part = m[i * n + k] / m[k * n + k];
            for (int j = k; j < n && part != 0.0; j++) {
                m[i * n + j] -= part * m[k * n + j];
            }
            x[i] -= part * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= m[k * n + j] * x[j];
        }
        x[k] /= m[k * n + k];
    }
}

/* Solves for the second derivatives m, at the knots, of the cubic spline through y, with knots h[]
 * apart. */
static void solve_spline_second_derivatives(const double *h, const double *y,
                                            int spline_segment_count, int is_closed_profile,
                                            int has_clamped_spline_ends, double *matrix, double *m)
{
    int n = is_closed_profile ? spline_segment_count : spline_segment_count + 1;
    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    memset(m, 0, ((size_t)spline_segment_count + 1) * sizeof *m);
    for (int i = 0; i < spline_segment_count; i++) {
        int k = (i + 1) % n;
        double slope = 6.0 * (y[i + 1] - y[i]) / h[i];
        matrix[i * n + i] += 2.0 * h[i];
        matrix[k * n + k] += 2.0 * h[i];
        matrix[i * n + k] += h[i];
        matrix[k * n + i] += h[i];
        m[i] += slope;
        m[k] -= slope;
    }
    /* the spline's second derivative is zero at free ends */
    for (int end = 0; end < n && !is_closed_profile && !has_clamped_spline_ends; end += n - 1) {
        for (int k = 0; k < n; k++) {
            matrix[end * n + k] = matrix[k * n + end] = k == end ? 1.0 : 0.0;
        }
        m[end] = 0.0;
    }
    solve_linear_system_in_place(matrix, n, m);
    m[spline_segment_count] = is_closed_profile ? m[0] : m[spline_segment_count];
}

/* Sets the cubic polynomial between two knots of a spline, about one of them. */
static void set_cubic_segment(const double *y, const double *m, double h, int segment_end_at_origin,
                              double out[4])
{
    double slope = (y[1] - y[0]) / h;
    out[0] = y[segment_end_at_origin];
    out[1] = segment_end_at_origin ? slope + h * (m[0] + 2.0 * m[1]) / 6.0
                                   : slope - h * (2.0 * m[0] + m[1]) / 6.0;
    out[2] = 0.5 * m[segment_end_at_origin];
    out[3] = (m[1] - m[0]) / (6.0 * h);
}

/* Sets the segments of a profile from the spline's solution; knots are h[] apart. r is odd and z
 * even in the distance from the axis. */
static void set_profile_segments(struct revolution_surface *v, const double *h, const double *r,
                                 const double *z, const double *mr, const double *mz)
{
    double s = 0.0;
    for (int i = 0; i < v->count; i++) {
        struct segment *g = &v->segment[i];
        int last = i + 1 == v->count && !v->closed;
        g->from = s;
        s += h[i];
        g->to = s;
        g->about = last ? g->to : g->from;
        set_cubic_segment(r + i, mr + i, h[i], last, g->r);
        set_cubic_segment(z + i, mz + i, h[i], last, g->z);
        if ((!i && !v->closed) || last) {
            g->z[1] = g->r[2] = 0.0;
        }
    }
    v->length = s;
    for (int i = 0; i < v->count; i++) {
        v->segment[i].least = 0.0;
        v->segment[i].most = s;
    }
}

static void fit_spline_through_profile(struct revolution_surface *v, const double (*profile)[2],
                                       double *scratch)
{
    int n = v->count;
    double *h = scratch, *r = h + n + 1, *z = r + n + 1, *mr = z + n + 1, *mz = mr + n + 1;
    double *matrix = mz + n + 1;
    for (int i = 0; i <= n; i++) {
        r[i] = profile[i][0];
        z[i] = profile[i][1];
        h[i] = i < n ? tact_hypot(profile[i + 1][0] - r[i], profile[i + 1][1] - z[i]) : 0.0;
    }
    solve_spline_second_derivatives(h, r, n, v->closed, 0, matrix, mr);
    solve_spline_second_derivatives(h, z, n, v->closed, 1, matrix, mz);
    set_profile_segments(v, h, r, z, mr, mz);
}

/* Volume and moments about the origin by Gauss's quadrature, exact for cubics: V = pi int r^2 dz.
 */
static void set_revolution_mass(struct revolution_surface *v)
{
    static const double x[GAUSS_POINTS / 2] = {0.1834346424956498049, 0.5255324099163289858,
                                               0.7966664774136267396, 0.9602898564975362317};
    static const double w[GAUSS_POINTS / 2] = {0.3626837833783619830, 0.3137066458778872873,
                                               0.2223810344533744706, 0.1012285362903762591};
    double sum[4] = {0.0}; /* of r^2, r^2 z, r^2 z^2, r^4 */
    for (int i = 0; i < v->count; i++) {
        const struct segment *g = &v->segment[i];
        double half = 0.5 * (g->to - g->from), middle = 0.5 * (g->to + g->from);
        for (int k = 0; k < GAUSS_POINTS; k++) {
            struct profile_curve_point p;
            tact_profile_evaluate_segment(g, middle + (k % 2 ? half : -half) * x[k / 2], &p);
            double part = w[k / 2] * half * p.dz * p.r * p.r;
            sum[0] += part;
            sum[1] += part * p.z;
            sum[2] += part * p.z * p.z;
            sum[3] += part * p.r * p.r;
        }
    }
    struct tact_shape_mass *m = &v->base.mass;
    double center = sum[1] / sum[0], across = PI * (0.25 * sum[3] + sum[2] - center * sum[1]);
    tact_shape_set_mass(m, PI * sum[0], across, across, 0.5 * PI * sum[3]);
    m->centroid[2] = center;
}

static int report_bad_profile_point(struct tact_error *err, int i, const char *what)
{
    return tact_error_set(err, -EINVAL, "point %d of the profile %s", i, what);
}

int tact_profile_check(const double (*profile)[2], int count, struct tact_error *err)
{
    if (count < 3 || count > TACT_PROFILE_POINTS) {
        return tact_error_set(err, -EINVAL, "a profile of %d points; expected 3 to %d", count,
                              TACT_PROFILE_POINTS);
    }
    const double *first = profile[0], *last = profile[count - 1];
    int is_closed_profile = first[0] == last[0] && first[1] == last[1] && first[0] > 0.0;
    for (int i = 0; i < count; i++) {
        const double *p = profile[i];
        int end = i == 0 || i == count - 1;
        if (!(fabs(p[0]) <= TACT_MESH_MAX_COORDINATE && fabs(p[1]) <= TACT_MESH_MAX_COORDINATE)) {
            return report_bad_profile_point(err, i, "is not finite, or beyond 1e9 m");
        }
        if (i && p[0] == p[-2] && p[1] == p[-1]) {
            return report_bad_profile_point(err, i, "is equal to the point before it");
        }
        if (end && !is_closed_profile && p[0] != 0.0) {
            return report_bad_profile_point(
                err, i,
                "ends it off the axis, where the surface would be open; "
                "expected r = 0, or a last point equal to the first");
        }
        if (!end && !(p[0] > 0.0)) {
            return report_bad_profile_point(err, i,
                                            "has no positive r; only the ends may be on the axis");
        }
    }
    return 0;
}

/* Checks the profile's spline between its points: it must stay off the axis and may have no cusp.
 */
int tact_profile_check_spline(const struct revolution_surface *v, struct tact_error *err)
{
    for (int i = 0; i < v->count; i++) {
        const struct segment *g = &v->segment[i];
        for (int k = 0; k <= CHECKED_SAMPLES_PER_PROFILE_SEGMENT; k++) {
            struct profile_curve_point p;
            int end =
                !v->closed &&
                ((!i && !k) || (i + 1 == v->count && k == CHECKED_SAMPLES_PER_PROFILE_SEGMENT));
            tact_profile_evaluate_segment(
                g, g->from + (g->to - g->from) * k / CHECKED_SAMPLES_PER_PROFILE_SEGMENT, &p);
            if (!end && !(p.r > 0.0)) {
                return report_bad_profile_point(
                    err, i,
                    "is followed by a part of the spline that reaches the "
                    "axis; expected points that are closer together");
            }
            if (!(tact_hypot(p.dr, p.dz) > MIN_PROFILE_PARAMETER_SPEED)) {
                return report_bad_profile_point(
                    err, i,
                    "is followed by a cusp of the spline; expected points "
                    "that are spaced more evenly");
            }
        }
    }
    return 0;
}

size_t tact_profile_scratch_size_in_numbers(int points)
{
    size_t n = (size_t)points;
    return 5 * n + n * n;
}

void tact_profile_fit(struct revolution_surface *v, const double (*profile)[2], double *scratch)
{
    fit_spline_through_profile(v, profile, scratch);
    set_revolution_mass(v);
}
