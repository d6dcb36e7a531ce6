/* Moments advanced by the motion of the two bodies. */
#include <math.h>
#include <string.h>

#include "contact/elementary.h"
#include "contact/moments/moments.h"

/* Rotates a symmetric matrix S (xx yy zz xy xz yz) and scales it: scale R S R^T. */
static void rotate_symmetric_matrix(double r[6], const double s[6], const double rot[9],
                                    double scale)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double full_matrix[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
    double half[9], turned[9];
    tact_m3_mul(half, rot, full_matrix);
    tact_m3_mul_t(turned, half, rot);
    for (int k = 0; k < 6; k++) {
        r[k] = scale * turned[3 * row[k] + column[k]];
    }
}

double tact_moments_exponent(const struct tact_moments *m)
{
    /* depth ratio at which the exponent is 2: mean of those of a lens and a cap */
    static const double spread_of_uniform_layer = 0.28867513459481287, lens = 0.44;
    double area = tact_v3_norm(m->gradient), n[3], cn[3];
    if (!(m->volume > 0.0 && area > 0.0)) {
        return 1.0;
    }
    const double *c = m->second;
    const double full_matrix[9] = {c[0], c[3], c[4], c[3], c[1], c[5], c[4], c[5], c[2]};
    tact_v3_scale(n, m->gradient, 1.0 / area);
    tact_m3_mul_v3(cn, full_matrix, n);
    double relative_spread_along_normal =
        sqrt(tact_max(tact_v3_dot(n, cn) / m->volume, 0.0)) * area / m->volume;
    return tact_min(tact_max(1.0 + (relative_spread_along_normal - spread_of_uniform_layer) /
                                       (lens - spread_of_uniform_layer),
                             1.0),
                    3.0);
}

void tact_moments_advance(const struct tact_moments *in, const double twist_a[6],
                          const double twist_b[6], double dt, double exponent,
                          struct tact_moments *out)
{
    double first_order_volume_change = 0.0, mean[6];
    for (int i = 0; i < 6; i++) {
        first_order_volume_change += in->gradient[i] * (twist_a[i] - twist_b[i]) * dt;
        mean[i] = 0.5 * (twist_a[i] + twist_b[i]);
    }
    double overlap_depth_after_to_before_ratio =
        1.0 + first_order_volume_change / (exponent * in->volume);
    if (!(in->volume > 0.0 && overlap_depth_after_to_before_ratio > 0.0)) {
        memset(out, 0, sizeof *out);
        return;
    }
    double spin[3], q[4], rot[9];
    tact_v3_scale(spin, mean + 3, dt);
    tact_quat_from_rotvec(q, spin);
    tact_quat_to_m3(rot, q);

    struct tact_moments next;
    double slope = tact_pow(overlap_depth_after_to_before_ratio, exponent - 1.0);
    next.volume = in->volume * tact_pow(overlap_depth_after_to_before_ratio, exponent);
    tact_v3_copy(next.centroid, in->centroid);
    tact_v3_axpy(next.centroid, dt, mean);
    rotate_symmetric_matrix(next.second, in->second, rot,
                            tact_pow(overlap_depth_after_to_before_ratio, 2.0 * exponent - 1.0));
    for (int i = 0; i < 6; i += 3) {
        tact_m3_mul_v3(next.gradient + i, rot, in->gradient + i);
        tact_v3_scale(next.gradient + i, next.gradient + i, slope);
    }
    *out = next;
}
