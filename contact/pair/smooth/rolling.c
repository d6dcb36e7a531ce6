#include "contact/pair/smooth/rolling_internal.h"

#include <errno.h>
#include "contact/pair/motion_internal.h"

/* Smallest determinant of the relative curvature, relative to the square of its largest entry. */
#define MIN_CURVATURE_DETERMINANT 1e-9

/* Curvature map L x of a vector along the tangent plane. */
static void multiply_by_curvature_map(const double *frame, const double l[4], const double x[3],
                                      double out[3])
{
    double a = tact_v3_dot(frame + 3, x), b = tact_v3_dot(frame + 6, x);
    tact_v3_scale(out, frame + 3, l[0] * a + l[1] * b);
    tact_v3_axpy(out, l[2] * a + l[3] * b, frame + 6);
}

static int compute_relative_curvature(const struct smooth_contact *c, double m[4])
{
    const double *a = c->bend[0], *b = c->bend[1];
    double most = 0.0;
    for (int i = 0; i < 4; i++) {
        int r = i / 2 * 2, k = i % 2;
        m[i] = a[i] + b[i] + c->gap * (a[r] * b[k] + a[r + 1] * b[2 + k]);
        most = tact_max(most, fabs(m[i]));
    }
    return m[0] * m[3] - m[1] * m[2] > MIN_CURVATURE_DETERMINANT * most * most && m[0] + m[3] > 0.0;
}

int tact_smooth_contact_point_rates(const struct smooth_contact *c, const double twist[2][6],
                                    struct smooth_contact_motion *out)
{
    const double *n = c->frame;
    double at[2][3], w[3], right[3], turned[3], wb[3], m[4], x[2], y[2];
    for (int k = 0; k < 2; k++) {
        tact_pair_velocity_at_arm(twist[k], c->arm[k], at[k]);
    }
    tact_v3_sub(out->slip, at[0], at[1]);
    tact_v3_sub(w, twist[0] + 3, twist[1] + 3);
    tact_v3_cross(wb, twist[1] + 3, n);
    tact_v3_cross(right, w, n);
    tact_v3_copy(w, out->slip);
    tact_v3_axpy(w, -c->gap, wb);
    multiply_by_curvature_map(n, c->bend[0], w, turned);
    tact_v3_add(right, right, turned);
    for (int i = 0; i < 2; i++) {
        y[i] = tact_v3_dot(n + 3 + 3 * i, right);
    }
    if (!compute_relative_curvature(c, m) || !tact_smooth_solve_2x2(m, y, x)) {
        return -EDOM;
    }
    tact_v3_scale(out->velocity_over_surface[1], n + 3, x[0]);
    tact_v3_axpy(out->velocity_over_surface[1], x[1], n + 6);
    multiply_by_curvature_map(n, c->bend[1], out->velocity_over_surface[1], out->normal);
    tact_v3_add(out->normal, out->normal, wb);
    tact_v3_copy(out->velocity_over_surface[0], out->velocity_over_surface[1]);
    tact_v3_axpy(out->velocity_over_surface[0], c->gap, out->normal);
    tact_v3_sub(out->velocity_over_surface[0], out->velocity_over_surface[0], out->slip);
    tact_v3_axpy(out->velocity_over_surface[0], tact_v3_dot(n, out->slip), n);
    for (int k = 0; k < 2; k++) {
        tact_v3_add(out->point[k], at[k], out->velocity_over_surface[k]);
    }
    return 0;
}

void tact_smooth_second_order_rates(const struct smooth_contact *c, const double twist[2][6],
                                    const double rate[2][6],
                                    const struct smooth_contact_motion *motion, double out[4])
{
    const double *n = c->frame;
    double of[2][3], change[3], w[3], alpha[3];
    for (int k = 0; k < 2; k++) {
        tact_pair_velocity_rate(twist[k], rate[k], c->arm[k], motion->point[k], of[k]);
    }
    tact_v3_sub(change, of[0], of[1]);
    tact_v3_sub(w, twist[0] + 3, twist[1] + 3);
    tact_v3_sub(alpha, rate[0] + 3, rate[1] + 3);
    double normal = tact_v3_dot(n, motion->slip);
    out[0] = tact_v3_dot(n, change) + tact_v3_dot(motion->normal, motion->slip);
    for (int i = 1; i < 3; i++) { /* the tangent t rotates with n: its rate is -n (ndot.t) */
        const double *t = n + 3 * i;
        out[i] = tact_v3_dot(t, change) - normal * tact_v3_dot(motion->normal, t);
    }
    out[3] = tact_v3_dot(n, alpha) + tact_v3_dot(motion->normal, w);
}
