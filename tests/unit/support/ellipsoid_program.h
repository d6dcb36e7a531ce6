/* Distance of two ellipsoids by another method than the library's: the convex program of the
 * distance, which needs no normals. */
#ifndef TACT_TESTS_ELLIPSOID_PROGRAM_H
#define TACT_TESTS_ELLIPSOID_PROGRAM_H

#include <string.h>
#include "contact/shape/shape.h"
#include "contact/vec.h"

/* Distance of two ellipsoids [m]: the least |d + A x - B y| over x and y in the unit ball,
 * by accelerated projected gradients (Nesterov; Beck and Teboulle 2009) that start anew where the
 * velocity points uphill. A and B have the half axes, turned, as columns. `error` becomes an upper
 * bound of the distance less the least one [m]: the duality gap of Frank and Wolfe (Jaggi 2013,
 * eq. 2) of half the squared distance, over the distance. */
static inline double ellipsoid_distance_by_convex_program(const struct tact_shape shape[2],
                                                          const struct tact_pose pose[2],
                                                          double *error)
{
    enum { MOST = 4000 };
    double map[2][9], turn[9], x[2][3] = {{0.0}}, ahead[2][3] = {{0.0}}, t = 1.0, bound = 0.0;
    for (int k = 0; k < 2; k++) {
        double most = 0.0;
        tact_quat_to_m3(turn, pose[k].quat_wxyz);
        for (int i = 0; i < 9; i++) {
            map[k][i] = (k ? -1.0 : 1.0) * turn[i] * shape[k].size[i % 3];
            most = fmax(most, shape[k].size[i % 3]);
        }
        bound += most * most; /* upper bound of the eigenvalues of the quadratic form */
    }
    double apart[3], at[3];
    tact_v3_sub(apart, pose[0].position, pose[1].position);
    for (int n = 0; n < MOST; n++) {
        double velocity_along_gradient = 0.0, moved = 0.0,
               next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * t * t));
        tact_v3_copy(at, apart);
        for (int k = 0; k < 2; k++) {
            double part[3];
            tact_m3_mul_v3(part, map[k], ahead[k]);
            tact_v3_add(at, at, part);
        }
        for (int k = 0; k < 2; k++) {
            double slope[3], then[3], step[3];
            tact_m3_tmul_v3(slope, map[k], at);
            tact_v3_copy(then, ahead[k]);
            tact_v3_axpy(then, -1.0 / bound, slope);
            tact_v3_scale(then, then, 1.0 / fmax(1.0, tact_v3_norm(then)));
            tact_v3_sub(step, then, x[k]);
            velocity_along_gradient += tact_v3_dot(slope, step);
            moved = fmax(moved, tact_v3_norm(step));
            tact_v3_copy(ahead[k], then);
            tact_v3_axpy(ahead[k], (t - 1.0) / next, step);
            tact_v3_copy(x[k], then);
        }
        t = next;
        if (velocity_along_gradient > 0.0) {
            t = 1.0;
            memcpy(ahead, x, sizeof ahead);
        }
        if (moved < 1e-15) {
            break;
        }
    }
    tact_v3_copy(at, apart);
    for (int k = 0; k < 2; k++) {
        double part[3];
        tact_m3_mul_v3(part, map[k], x[k]);
        tact_v3_add(at, at, part);
    }
    *error = 0.0;
    for (int k = 0; k < 2; k++) {
        double slope[3];
        tact_m3_tmul_v3(slope, map[k], at);
        *error += (tact_v3_dot(slope, x[k]) + tact_v3_norm(slope)) / tact_v3_norm(at);
    }
    return tact_v3_norm(at);
}

#endif
