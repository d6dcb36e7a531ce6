/* Checks of contact polygons (manifolds), and comparison of numbers within a tolerance. */
#ifndef TACT_TESTS_MANIFOLD_CHECK_H
#define TACT_TESTS_MANIFOLD_CHECK_H

#include "contact/pair/features/manifold_internal.h"

static inline double area_of_manifold(const struct tact_manifold *m)
{
    double twice = 0.0;
    for (int i = 0; i < m->corners; i++) {
        const double *p = m->corner[i], *q = m->corner[(i + 1) % m->corners];
        twice += p[0] * q[1] - p[1] * q[0];
    }
    return 0.5 * twice;
}

/* Gap of the contact polygon at a point with the coordinates x along t1 and t2 [m]. */
static inline double gap_of_manifold_at_point(const struct tact_manifold *m, const double *x)
{
    return m->surface_height_plane_a[0] - m->surface_height_plane_b[0] +
           (m->surface_height_plane_a[1] - m->surface_height_plane_b[1]) * x[0] +
           (m->surface_height_plane_a[2] - m->surface_height_plane_b[2]) * x[1];
}

#define ASSERT_NEAR(value, expected, tolerance)                                                    \
    do {                                                                                           \
        double is = (value), should = (expected);                                                  \
        if (!(fabs(is - should) <= (tolerance))) {                                                 \
            fail_msg("%s = %.17g, expected %.17g within %g", #value, is, should, tolerance);       \
        }                                                                                          \
    } while (0)

#endif
