/*
 * Pressure laws p = q^m of a field q that is linear on its cells, and the integrals of polygons of
 * such a pressure.
 *
 * A triangle is cut at the level of its middle corner into two, each with a corner as apex and a
 * base on which q is constant. With t from 0 at the apex to 1 at the base, q is linear in t, and
 * the integrals of q^m and of m q^(m - 1) times 1, x and x x' are those of t, t^2 and t^3 times
 * integrals along the base.
 */
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/field/field_internal.h"

/* Ratio of two levels above which the integral over t is by Gauss-Legendre quadrature, exact to
 * 1e-13; below it is in closed form, which would lose that many digits above. */
#define MIN_QUADRATURE_LEVEL_RATIO 0.7

enum { NODES = 6 };
static const double node[NODES] = {0.033765242898423989, 0.16939530676686776, 0.38069040695840156,
                                   0.61930959304159849,  0.83060469323313224, 0.96623475710157603};
static const double weight[NODES] = {0.085662246189585178, 0.18038078652406930,
                                     0.23395696728634552,  0.23395696728634552,
                                     0.18038078652406930,  0.085662246189585178};

double tact_field_pressure_of_level(double power, double q)
{
    if (power == 1.0 || !(q > 0.0)) {
        return power == 1.0 ? q : 0.0;
    }
    return power == 0.5 ? sqrt(q) : power == 2.0 ? q * q : tact_pow(q, power);
}

double tact_field_pressure_slope(const struct tact_field_material *material)
{
    double power = tact_field_power_of_material(material);
    double top = power == 1.0 ? material->modulus : tact_pow(material->modulus, 1.0 / power);
    return top / material->thickness;
}

/* A pressure level q with its pressure q^m. */
struct level {
    double q, p;
};

/* Computes the integrals over t from 0 to 1 of t^k q^m and t^k m q^(m - 1), k = 1, 2, 3, with q
 * linear from `apex` to `base`. */
static void integrate_pressure_between_levels(double m, const struct level *apex,
                                              const struct level *base, double load[3],
                                              double stiffness_moment_integrals[3])
{
    double step = base->q - apex->q;
    memset(load, 0, 3 * sizeof *load);
    memset(stiffness_moment_integrals, 0, 3 * sizeof *stiffness_moment_integrals);
    if (tact_min(apex->q, base->q) > MIN_QUADRATURE_LEVEL_RATIO * tact_max(apex->q, base->q)) {
        for (int i = 0; i < NODES; i++) {
            double q = apex->q + step * node[i], p = weight[i] * tact_field_pressure_of_level(m, q),
                   t = node[i];
            for (int k = 0; k < 3; k++, t *= node[i]) {
                load[k] += t * p;
                stiffness_moment_integrals[k] += t * m * p / q;
            }
        }
        return;
    }
    /* with t = (q - apex) / step: binomial sums of integrals of q^j q^m and of q^j m q^(m - 1) */
    double to = base->p, from = apex->p, pressure_integrals[4], derivative_integrals[4];
    for (int j = 0; j < 4; j++) {
        derivative_integrals[j] = m * (to - from) / (m + j);
        to *= base->q;
        from *= apex->q;
        pressure_integrals[j] = (to - from) / (m + j + 1);
    }
    static const double binomials[3][4] = {{1, 1, 0, 0}, {1, 2, 1, 0}, {1, 3, 3, 1}};
    double by = 1.0 / (step * step);
    for (int k = 0; k < 3; k++, by /= step) {
        double shift = 1.0;
        for (int j = k + 1; j >= 0; j--, shift *= -apex->q) {
            load[k] += by * binomials[k][j] * shift * pressure_integrals[j];
            stiffness_moment_integrals[k] += by * binomials[k][j] * shift * derivative_integrals[j];
        }
    }
}

/* Adds the moments of one weight over a triangle to those about a point, from its integrals over t,
 * `integrals_of_pressure_level`. twice_area: twice the area of the triangle; the apex, and u, w,
 * the ends of the base, both from that point. */
static void add_integrals_over_triangle_part(struct field_moments *out, double twice_area,
                                             const double integrals_of_pressure_level[3],
                                             const double *apex, const double *u, const double *w)
{
    double a[3], b[3], mean[3], area = twice_area * integrals_of_pressure_level[0];
    tact_v3_sub(a, u, apex);
    tact_v3_sub(b, w, apex);
    for (int k = 0; k < 3; k++) {
        mean[k] = 0.5 * twice_area * integrals_of_pressure_level[1] * (a[k] + b[k]);
    }
    out->area += area;
    tact_v3_axpy(out->first, area, apex);
    tact_v3_add(out->first, out->first, mean);
    for (int k = 0; k < 9; k++) {
        int r = k / 3, c = k % 3;
        out->second[k] += area * apex[r] * apex[c] + apex[r] * mean[c] + mean[r] * apex[c] +
                          twice_area * integrals_of_pressure_level[2] / 6.0 *
                              (2.0 * a[r] * a[c] + 2.0 * b[r] * b[c] + a[r] * b[c] + b[r] * a[c]);
    }
}

/* Adds the moments of a triangle of signed area to those of the polygon; x: its corners from the
 * polygon's corner 0. */
static void add_triangle_moments(double m, double area, const double (*x)[3],
                                 const struct level *at, struct field_moments *load,
                                 struct field_moments *stiffness_moment_integrals)
{
    int low = 0, high = 0;
    for (int k = 1; k < 3; k++) {
        low = at[k].q < at[low].q ? k : low;
        high = at[k].q >= at[high].q ? k : high;
    }
    if (!(at[high].q > 0.0)) {
        return;
    }
    int middle = low == high ? (low + 1) % 3 : 3 - low - high;
    double pressure_level_range = at[high].q - at[low].q, cut[3];
    double fraction_of_level_range = low != high && pressure_level_range > 0.0
                                         ? (at[middle].q - at[low].q) / pressure_level_range
                                         : 1.0;
    int far = low == high ? (low + 2) % 3 : high;
    for (int k = 0; k < 3; k++) {
        cut[k] = x[low][k] + fraction_of_level_range * (x[far][k] - x[low][k]);
    }
    for (int is_triangle_part_above_middle = 0; is_triangle_part_above_middle < 2;
         is_triangle_part_above_middle++) {
        const int apex = is_triangle_part_above_middle ? far : low;
        double twice_area = 2.0 * area *
                            (is_triangle_part_above_middle ? 1.0 - fraction_of_level_range
                                                           : fraction_of_level_range),
               of_load[3], of_stiffness[3];
        if (is_triangle_part_above_middle ? fraction_of_level_range < 1.0
                                          : fraction_of_level_range > 0.0) {
            integrate_pressure_between_levels(m, &at[apex], &at[middle], of_load, of_stiffness);
            add_integrals_over_triangle_part(load, twice_area, of_load, x[apex], x[middle], cut);
            add_integrals_over_triangle_part(stiffness_moment_integrals, twice_area, of_stiffness,
                                             x[apex], x[middle], cut);
        }
    }
}

void tact_field_integrate_pressure_law(struct contact_surface_polygon *p)
{
    struct field_moments load = {.area = 0.0}, stiffness_moment_integrals = {.area = 0.0};
    struct level at[TACT_FIELD_MAX_POLYGON_CORNERS];
    double from[TACT_FIELD_MAX_POLYGON_CORNERS][3], sum = 0.0;
    for (int k = 0; k < p->corners; k++) {
        tact_v3_sub(from[k], p->corner[k], p->corner[0]);
        at[k].q = tact_max(p->value_at_origin + tact_v3_dot(p->gradient_a, p->corner[k]), 0.0);
        at[k].p = tact_field_pressure_of_level(p->power, at[k].q);
    }
    for (int k = 1; k + 1 < p->corners; k++) {
        const struct level of[3] = {at[0], at[k], at[k + 1]};
        double x[3][3], across[3];
        memset(x[0], 0, sizeof x[0]);
        tact_v3_copy(x[1], from[k]);
        tact_v3_copy(x[2], from[k + 1]);
        tact_v3_cross(across, x[1], x[2]);
        double area = 0.5 * tact_v3_dot(across, p->normal);
        sum += area;
        add_triangle_moments(p->power, area, (const double(*)[3])x, of, &load,
                             &stiffness_moment_integrals);
    }
    double sign = sum < 0.0 ? -1.0 : 1.0;
    p->load = sign * load.area;
    tact_v3_scale(p->lever, load.first, sign);
    p->stiffness_moments.area = sign * stiffness_moment_integrals.area;
    tact_v3_scale(p->stiffness_moments.first, stiffness_moment_integrals.first, sign);
    for (int k = 0; k < 9; k++) {
        p->stiffness_moments.second[k] = sign * stiffness_moment_integrals.second[k];
    }
}
