#include "contact/moments/patch.h"

#include <errno.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/linear.h"

#define PI 3.14159265358979323846

/* Rotates t1, t2 to the axes of the 2 x 2 form [a b; b c] over them; l: eigenvalues of t1, t2. */
static void rotate_to_principal_axes(double *t1, double *t2, double a, double b, double c,
                                     double *l)
{
    /* a round patch has no distinct axes; rounding must not rotate its frame from tick to tick */
    int is_circular_patch = tact_hypot(2.0 * b, a - c) <= 1e-9 * (a + c);
    double angle = is_circular_patch ? 0.0 : 0.5 * tact_atan2(2.0 * b, a - c);
    double cs = is_circular_patch ? 1.0 : tact_cos(angle),
           sn = is_circular_patch ? 0.0 : tact_sin(angle), u[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = cs * t1[i] + sn * t2[i];
        w[i] = cs * t2[i] - sn * t1[i];
    }
    tact_v3_copy(t1, u);
    tact_v3_copy(t2, w);
    l[0] = cs * cs * a + 2.0 * cs * sn * b + sn * sn * c;
    l[1] = sn * sn * a - 2.0 * cs * sn * b + cs * cs * c;
}

/* Bilinear form a' C b of a symmetric matrix C stored as xx yy zz xy xz yz. */
static double symmetric_bilinear_form(const double *c, const double *a, const double *b)
{
    return a[0] * (c[0] * b[0] + c[3] * b[1] + c[4] * b[2]) +
           a[1] * (c[3] * b[0] + c[1] * b[1] + c[5] * b[2]) +
           a[2] * (c[4] * b[0] + c[5] * b[1] + c[2] * b[2]);
}

/* Mean distance from the centre of a uniform ellipse: 2/3 of its perimeter (Ramanujan) over 2 pi.
 */
static double mean_distance_in_ellipse(const double *semi)
{
    double sum = semi[0] + semi[1];
    if (!(sum > 0.0)) {
        return 0.0;
    }
    double h = (semi[0] - semi[1]) / sum;
    h *= h;
    return sum * (1.0 + 3.0 * h / (10.0 + sqrt(4.0 - 3.0 * h))) / 3.0;
}

/* Torsion arm of a patch: mean distance from the centre of the pressure that the kind of spin
 * assumes. */
static double torsion_arm_of_pressure_ellipse(enum tact_spin_kind spin, int is_elastic_patch,
                                              const double *semi)
{
    if (spin == TACT_SPIN_CORNERS) {
        return tact_hypot(semi[0], semi[1]);
    }
    int is_hertz_pressure =
        spin == TACT_SPIN_HERTZ || (spin != TACT_SPIN_UNIFORM && is_elastic_patch);
    return (is_hertz_pressure ? 9.0 * PI / 32.0 : 1.0) * mean_distance_in_ellipse(semi);
}

/* Axis of the overlap's smallest second moment, by inverse iteration from n, on n's side. For a
 * sheet of zero thickness C is singular: n is that axis already. */
static void axis_of_least_second_moment(const double *c, const double *n, double *axis)
{
    double a[9] = {c[0], c[3], c[4], c[3], c[1], c[5], c[4], c[5], c[2]};
    tact_ldl_factor(a, 3);
    tact_v3_copy(axis, n);
    for (int i = 0; i < 8; i++) {
        double next[3];
        tact_v3_copy(next, axis);
        tact_ldl_solve(a, 3, next);
        if (!(tact_v3_normalize(next, next) > 0.0)) {
            return;
        }
        double change_of_axis_direction = 1.0 - fabs(tact_v3_dot(next, axis));
        tact_v3_scale(axis, next, tact_v3_dot(next, n) < 0.0 ? -1.0 : 1.0);
        if (change_of_axis_direction < 1e-16) {
            return;
        }
    }
}

/* Degree to which the overlap is a sheet: 1 up to a thickness of a 30th of its width, 0 from a 10th
 * on. */
static double thin_sheet_blend_weight(const double *c, const double *n, const double *axis)
{
    double t1[3], t2[3], a, b, d;
    tact_v3_tangents(n, t1, t2);
    a = symmetric_bilinear_form(c, t1, t1);
    b = symmetric_bilinear_form(c, t1, t2);
    d = symmetric_bilinear_form(c, t2, t2);
    double least = 0.5 * (a + d) - tact_hypot(0.5 * (a - d), b);
    double ratio = least > 0.0 ? symmetric_bilinear_form(c, axis, axis) / least : 1.0;
    double x = (1e-2 - ratio) / (1e-2 - 1e-3);
    x = tact_min(1.0, tact_max(0.0, x));
    return x * x * (3.0 - 2.0 * x);
}

static void choose_patch_normal(const struct tact_moments *m, enum tact_normal_kind kind, double *n)
{
    double axis[3], share = 1.0;
    if (kind == TACT_NORMAL_GRADIENT) {
        return;
    }
    axis_of_least_second_moment(m->second, n, axis);
    if (kind == TACT_NORMAL_BLEND) {
        share = thin_sheet_blend_weight(m->second, n, axis);
    }
    tact_v3_scale(n, n, 1.0 - share);
    tact_v3_axpy(n, share, axis);
    tact_v3_normalize(n, n);
}

static enum tact_surface limit_surface_kind(enum tact_spin_kind spin, int is_elastic_patch)
{
    if (spin != TACT_SPIN_LIMIT_SURFACE && spin != TACT_SPIN_AUTO) {
        return TACT_SURFACE_ELLIPSOID;
    }
    return is_elastic_patch ? TACT_SURFACE_HERTZ : TACT_SURFACE_UNIFORM;
}

int tact_patch_from_moments(const struct tact_moments *m, const struct tact_patch_options *options,
                            struct tact_patch *out)
{
    double *n = out->frame, *t1 = out->frame + 3, *t2 = out->frame + 6, l[2];
    double area = tact_v3_normalize(n, m->gradient);
    if (!(m->volume > 0.0) || !(area > 0.0)) {
        return -EDOM;
    }
    tact_v3_scale(n, n, -1.0);
    choose_patch_normal(m, options->normal, n);
    /* area projected along n: a side face that lies in one of the other solid, and counts or not by
     * rounding, adds nothing */
    area = -tact_v3_dot(m->gradient, n);
    double least = TACT_PATCH_MIN_AREA;
    if (!(area * area * area > least * least * least * m->volume * m->volume)) {
        return -EDOM;
    }
    tact_v3_tangents(n, t1, t2);
    rotate_to_principal_axes(t1, t2, symmetric_bilinear_form(m->second, t1, t1),
                             symmetric_bilinear_form(m->second, t1, t2),
                             symmetric_bilinear_form(m->second, t2, t2), l);
    l[0] = l[0] > 0.0 ? l[0] / m->volume : 0.0;
    l[1] = l[1] > 0.0 ? l[1] / m->volume : 0.0;
    double size =
        options->ellipse_size > 0.0 ? options->ellipse_size : (options->curved ? 6.0 : 4.0);
    tact_v3_copy(out->center, m->centroid);
    out->area = area;
    out->law = TACT_LAW_DEPTH;
    out->depth = m->volume / area;
    out->target = 0.0;
    out->exponent = options->curved ? 2.0 : 1.0;
    out->rolling_radius = INFINITY;
    out->rolling_loss = 0.0;
    out->semi[0] = sqrt(size * l[0]);
    out->semi[1] = sqrt(size * l[1]);
    out->corners = 0;
    out->spin = options->spin;
    out->spin_arm = torsion_arm_of_pressure_ellipse(options->spin, 0, out->semi);
    int tip = options->tip_radius > 0.0;
    int is_elastic_patch = tip || (options->modulus > 0.0 && options->curved);
    out->kind = is_elastic_patch ? TACT_PATCH_ELASTIC : TACT_PATCH_ELLIPSE;
    out->surface = limit_surface_kind(options->spin, is_elastic_patch);
    out->stretch[0] = out->stretch[1] = 1.0;
    memset(out->target_velocity, 0, sizeof out->target_velocity);
    out->tip_radius = tip ? options->tip_radius : 0.0;
    out->tip_power = tip ? options->tip_power : 0.0;
    out->modulus = is_elastic_patch && !tip ? options->modulus : 0.0;
    out->radius = is_elastic_patch && !tip ? 1.5 * sqrt(l[0] * l[1]) / out->depth : 0.0;
    return 0;
}

/* Centroid c of the outline and its second moments xx, yy over the area about it. 0: no area. */
static int compute_outline_moments(const struct tact_patch *patch, double *c, double *second)
{
    double area = 0.0, sum[4] = {0.0};
    for (int i = 0; i < patch->corners; i++) {
        const double *p = patch->corner[i], *q = patch->corner[(i + 1) % patch->corners];
        const double *o = patch->corner[0];
        double a[2] = {p[0] - o[0], p[1] - o[1]}, b[2] = {q[0] - o[0], q[1] - o[1]};
        double twice_area = a[0] * b[1] - a[1] * b[0];
        area += 0.5 * twice_area;
        for (int k = 0; k < 2; k++) {
            sum[k] += twice_area * (a[k] + b[k]) / 6.0;
            sum[2 + k] += twice_area * (a[k] * a[k] + a[k] * b[k] + b[k] * b[k]) / 12.0;
        }
    }
    if (!(area > 0.0)) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        double outline_centroid_offset = sum[k] / area;
        c[k] = patch->corner[0][k] + outline_centroid_offset;
        second[k] =
            tact_max(0.0, sum[2 + k] / area - outline_centroid_offset * outline_centroid_offset);
    }
    return 1;
}

int tact_patch_from_outline(struct tact_patch *patch, enum tact_spin_kind spin)
{
    double c[2], second[2], mixed = 0.0, *t1 = patch->frame + 3, *t2 = patch->frame + 6;
    if (!compute_outline_moments(patch, c, second)) {
        return -EDOM;
    }
    patch->area = 0.0;
    /* Corners relative to the centroid, then along the principal axes. */
    for (int i = 0; i < patch->corners; i++) {
        patch->corner[i][0] -= c[0];
        patch->corner[i][1] -= c[1];
    }
    for (int i = 0; i < patch->corners; i++) {
        const double *p = patch->corner[i], *q = patch->corner[(i + 1) % patch->corners];
        double twice_area = p[0] * q[1] - p[1] * q[0];
        patch->area += 0.5 * twice_area;
        mixed +=
            twice_area * (2.0 * (p[0] * p[1] + q[0] * q[1]) + p[0] * q[1] + q[0] * p[1]) / 24.0;
    }
    tact_v3_axpy(patch->center, c[0], t1);
    tact_v3_axpy(patch->center, c[1], t2);
    double patch_tangent_before_rotation[3], l[2];
    tact_v3_copy(patch_tangent_before_rotation, t1);
    rotate_to_principal_axes(t1, t2, second[0], mixed / patch->area, second[1], l);
    double cs = tact_v3_dot(t1, patch_tangent_before_rotation),
           sn = -tact_v3_dot(t2, patch_tangent_before_rotation);
    for (int i = 0; i < patch->corners; i++) {
        double x = patch->corner[i][0], y = patch->corner[i][1];
        patch->corner[i][0] = cs * x + sn * y;
        patch->corner[i][1] = cs * y - sn * x;
    }
    patch->kind = TACT_PATCH_ELLIPSE;
    patch->semi[0] = 2.0 * sqrt(tact_max(0.0, l[0]));
    patch->semi[1] = 2.0 * sqrt(tact_max(0.0, l[1]));
    patch->spin = spin;
    patch->spin_arm = torsion_arm_of_pressure_ellipse(spin, 0, patch->semi);
    patch->surface = limit_surface_kind(spin, 0);
    return 0;
}

/* 1 where the patch is consistent with its outline: a uniform sheet extends no further than twice
 * the outline. */
static int is_depth_consistent_with_outline(const struct tact_patch *patch)
{
    double reach = 0.0;
    for (int i = 0; i < patch->corners; i++) {
        const double *p = patch->corner[i], *q = patch->corner[(i + 1) % patch->corners];
        if (p[0] * q[1] < p[1] * q[0]) {
            return 0;
        }
        reach = tact_max(reach, tact_hypot(p[0], p[1]));
    }
    return patch->semi[0] > 0.0 && patch->semi[1] > 0.0 &&
           tact_max(patch->semi[0], patch->semi[1]) <= 2.1 * reach;
}

int tact_patch_repair(struct tact_patch *patch)
{
    double c[2], second[2];
    if (!patch->corners || is_depth_consistent_with_outline(patch) ||
        !compute_outline_moments(patch, c, second)) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        tact_v3_axpy(patch->center, c[k], patch->frame + 3 * (k + 1));
        patch->semi[k] = 2.0 * sqrt(second[k]);
        for (int i = 0; i < patch->corners; i++) {
            patch->corner[i][k] -= c[k];
        }
    }
    patch->spin_arm = torsion_arm_of_pressure_ellipse(patch->spin, 0, patch->semi);
    return 1;
}

double tact_patch_elastic_radius(const struct tact_patch *patch, double n)
{
    if (!(n > 0.0)) {
        return 0.0;
    }
    return patch->tip_radius > 0.0 ? patch->tip_radius * tact_pow(n, patch->tip_power)
                                   : tact_cbrt(0.75 * n * patch->radius / patch->modulus);
}

/* Semi-axes of a patch's ellipse at normal force n [m]. */
static void compute_ellipse_semi_axes(const struct tact_patch *patch, double n, double semi[2])
{
    int is_elastic_patch = patch->kind == TACT_PATCH_ELASTIC;
    double radius = is_elastic_patch ? tact_patch_elastic_radius(patch, n) : 0.0;
    for (int i = 0; i < 2; i++) {
        semi[i] = is_elastic_patch ? radius * patch->stretch[i] : patch->semi[i];
    }
}

void tact_patch_mean_squares(const struct tact_patch *patch, double n, double square[2])
{
    double middle[2], semi[2];
    if (patch->kind == TACT_PATCH_ELLIPSE && patch->corners &&
        compute_outline_moments(patch, middle, square)) {
        return;
    }
    compute_ellipse_semi_axes(patch, n, semi);
    for (int i = 0; i < 2; i++) {
        square[i] = 0.25 * semi[i] * semi[i];
    }
}

int tact_patch_polygon(const struct tact_patch *patch, double n, int most, double (*corner)[2])
{
    int has_polygon_outline = patch->kind == TACT_PATCH_ELLIPSE && patch->corners > 2;
    int count = has_polygon_outline && patch->corners < most ? patch->corners : most;
    double semi[2];
    compute_ellipse_semi_axes(patch, n, semi);
    for (int i = 0; i < count; i++) {
        const double *at =
            has_polygon_outline ? patch->corner[(ptrdiff_t)i * patch->corners / count] : NULL;
        double angle = 2.0 * PI * i / count;
        corner[i][0] = at ? at[0] : semi[0] * tact_cos(angle);
        corner[i][1] = at ? at[1] : semi[1] * tact_sin(angle);
    }
    return count;
}

double tact_patch_spin_arm(const struct tact_patch *patch, double n)
{
    if (patch->kind == TACT_PATCH_ELLIPSE) {
        return patch->spin_arm;
    }
    double semi[2];
    compute_ellipse_semi_axes(patch, n, semi);
    return torsion_arm_of_pressure_ellipse(patch->spin, 1, semi);
}

void tact_patch_rolling_arms(const struct tact_patch *patch, double n, double arm[2])
{
    arm[0] = arm[1] = 0.0;
    if (patch->kind == TACT_PATCH_ELASTIC && patch->rolling_loss > 0.0) {
        double semi[2];
        compute_ellipse_semi_axes(patch, n, semi);
        arm[0] = 3.0 / 16.0 * patch->rolling_loss * semi[1];
        arm[1] = 3.0 / 16.0 * patch->rolling_loss * semi[0];
    }
}

double tact_patch_corner_arm(const double half[2], const double p[2])
{
    if (!(half[0] > 0.0) || !(half[1] > 0.0)) {
        return 0.0;
    }
    double x = 0.5 + 0.5 * tact_max(-1.0, tact_min(1.0, p[0] / half[0]));
    double y = 0.5 + 0.5 * tact_max(-1.0, tact_min(1.0, p[1] / half[1])), arm = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            double dx = (i ? half[0] : -half[0]) - p[0];
            double dy = (j ? half[1] : -half[1]) - p[1];
            arm += (i ? x : 1.0 - x) * (j ? y : 1.0 - y) * tact_hypot(dx, dy);
        }
    }
    return arm;
}
