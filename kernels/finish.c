/* Converts the device's sums of a pair to moments in the world. */
#include "kernels/batch_internal.h"

#include <math.h>
#include <string.h>

int tact_batch_pair_finish(const struct tact_batch_pair *c, double *s, struct tact_moments *out)
{
    memset(out, 0, sizeof *out);
    if (!(s[0] > 1e-13 * s[16]) || !isfinite(s[0])) {
        return 0;
    }
    double centroid[3], torque[3], arm[3], second[9], turned[9], axes_t[9];
    tact_v3_scale(centroid, s + 1, 1.0 / s[0]);
    static const int index[9] = {4, 7, 8, 7, 5, 9, 8, 9, 6};
    for (int i = 0; i < 9; i++) {
        second[i] = s[index[i]] - s[0] * centroid[i / 3] * centroid[i % 3];
        axes_t[i] = c->axes[3 * (i % 3) + i / 3];
    }
    tact_v3_cross(arm, centroid, s + 10);
    tact_v3_sub(torque, s + 13, arm);
    out->volume = s[0];
    tact_m3_tmul_v3(out->centroid, c->axes, centroid);
    tact_v3_add(out->centroid, out->centroid, c->origin);
    tact_m3_mul_t(turned, second, axes_t);
    tact_m3_mul(second, axes_t, turned);
    static const int matrix_entry_of_packed[6] = {0, 4, 8, 1, 2, 5};
    for (int i = 0; i < 6; i++) {
        out->second[i] = second[matrix_entry_of_packed[i]];
    }
    tact_m3_tmul_v3(out->gradient, c->axes, s + 10);
    tact_m3_tmul_v3(out->gradient + 3, c->axes, torque);
    /* the integrals of n dS and r x n dS over a closed surface are zero: B's are minus A's */
    for (int i = 0; i < 6 && c->swapped; i++) {
        out->gradient[i] = -out->gradient[i];
    }
    return 1;
}
