/* Power, friction and curvature of a pressure's parts at a slip: a sum over the parts, four at a
 * time. */
#include <math.h>
#include "contact/local/local_points_internal.h"
#include "contact/simd_internal.h"
#include "contact/vec.h"

#define MIN_TORSION_ARM_OF_PART_RATIO                                                              \
    0.01 /* smallest torsion arm of a pressure part that counts, over the spin arm */

enum { LANES = 4 };

_Static_assert(TACT_FRICTION_POINTS % LANES == 0,
               "the number of friction points must be a multiple of the SIMD vector length");

/* Sums over the parts: q = share / speed times the matrix A of s' A s (local_points.c), which
 * without tilt is 1, x, y and the square of the distance; q times A s = (a, b, c); and q / speed^2
 * times their products. */
struct sums {
    tact_d4 one, xy, other, x, y, square, a, b, c, aa, ab, ac, bb, bc, cc;
};

/* Loads four pressure parts from `first` on; lanes beyond the last part are 0. */
TACT_INLINE void load_four_pressure_parts(const double *from, int count, tact_d4 *out)
{
    if (count >= LANES) {
        memcpy(out, from, sizeof *out);
        return;
    }
    *out = (tact_d4){0.0};
    for (int i = 0; i < count; i++) {
        (*out)[i] = from[i];
    }
}

TACT_INLINE double sum_lanes(const tact_d4 *a)
{
    return ((*a)[0] + (*a)[1]) + ((*a)[2] + (*a)[3]);
}

/* Adds the friction of four pressure parts from `first` on. v, w: slip at the centre, and spin
 * [1/m]. are_pressure_parts_tilted is a compile-time constant.
 */
TACT_INLINE void add_part_friction(const struct tact_friction_points *p, int first, const double *v,
                                   double w, double least, int are_pressure_parts_tilted,
                                   struct sums *sums)
{
    tact_d4 x, y, share, arm, speed;
    int remaining_pressure_part_count = p->count - first;
    load_four_pressure_parts(p->x + first, remaining_pressure_part_count, &x);
    load_four_pressure_parts(p->y + first, remaining_pressure_part_count, &y);
    load_four_pressure_parts(p->share + first, remaining_pressure_part_count, &share);
    load_four_pressure_parts(p->arm + first, remaining_pressure_part_count, &arm);
    tact_d4 own = arm * arm, floor = {least, least, least, least};
    own = TACT_D4_MAX(own, floor);
    tact_d4 a = v[0] - w * y, b = v[1] + w * x, square, xx, xy, yy;
    if (are_pressure_parts_tilted) {
        const tact_d4 slip_a = a, slip_b = b;
        load_four_pressure_parts(p->tilt_xx + first, remaining_pressure_part_count, &xx);
        load_four_pressure_parts(p->tilt_xy + first, remaining_pressure_part_count, &xy);
        load_four_pressure_parts(p->tilt_yy + first, remaining_pressure_part_count, &yy);
        a -= xx * slip_a + xy * slip_b;
        b -= xy * slip_a + yy * slip_b;
        square = slip_a * a + slip_b * b + own * (w * w);
    } else {
        square = a * a + b * b + own * (w * w);
    }
    tact_d4 c = x * b - y * a + own * w;
    tact_d4_sqrt(&square, &speed);
    tact_d4 q = share / speed, friction_per_slip_curvature = q / square,
            ba = friction_per_slip_curvature * a, bb = friction_per_slip_curvature * b;
    if (are_pressure_parts_tilted) {
        sums->one += q - q * xx;
        sums->xy -= q * xy;
        sums->other += q - q * yy;
        sums->x += q * (x - yy * x + xy * y);
        sums->y += q * (y - xx * y + xy * x);
        sums->square += q * (x * (x - yy * x) + y * (y - xx * y) + 2.0 * xy * x * y + own);
    } else {
        sums->one += q;
        sums->x += q * x;
        sums->y += q * y;
        sums->square += q * (x * x + y * y + own);
    }
    sums->a += q * a;
    sums->b += q * b;
    sums->c += q * c;
    sums->aa += ba * a;
    sums->ab += ba * b;
    sums->ac += ba * c;
    sums->bb += bb * b;
    sums->bc += bb * c;
    sums->cc += friction_per_slip_curvature * c * c;
}

TACT_DISPATCH_BY_CPU(void, tact_friction_points_at_slip,
                     (const struct tact_local_problem *problem, const double slip[3],
                      struct limit_surface_at_slip *out),
                     (problem, slip, out))
{
    const struct tact_friction_points *p = problem->points;
    const double inverse = 1.0 / problem->spin_arm,
                 floor = MIN_TORSION_ARM_OF_PART_RATIO * problem->spin_arm;
    struct sums s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < p->count; i += LANES) {
        if (p->tilted) {
            add_part_friction(p, i, slip, slip[2] * inverse, floor * floor, 1, &s);
        } else {
            add_part_friction(p, i, slip, slip[2] * inverse, floor * floor, 0, &s);
        }
    }
    const double one = sum_lanes(&s.one), over = inverse * inverse;
    double *force = out->force;
    tact_v3_set(force, sum_lanes(&s.a), sum_lanes(&s.b), inverse * sum_lanes(&s.c));
    out->power = tact_v3_dot(slip, force);
    const double sum[6] = {one,
                           sum_lanes(&s.xy),
                           -inverse * sum_lanes(&s.y),
                           p->tilted ? sum_lanes(&s.other) : one,
                           inverse * sum_lanes(&s.x),
                           over * sum_lanes(&s.square)};
    const double friction_per_slip_curvature[6] = {
        sum_lanes(&s.aa), sum_lanes(&s.ab),           inverse * sum_lanes(&s.ac),
        sum_lanes(&s.bb), inverse * sum_lanes(&s.bc), over * sum_lanes(&s.cc)};
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            out->metric[3 * i + j] = out->metric[3 * j + i] = out->power * sum[k];
            out->hessian[3 * i + j] = out->hessian[3 * j + i] =
                out->power * (sum[k] - friction_per_slip_curvature[k]) + force[i] * force[j];
        }
    }
}
