/* Friction of a pressure given by its parts, from the law of each part, for tests. */
#ifndef TACT_TESTS_FRICTION_PARTS_H
#define TACT_TESTS_FRICTION_PARTS_H

#include <math.h>
#include "contact/limits.h"

/* Friction over mu f_n, and its torque [m], of each part's own law at a slip; returns the power. */
static inline double friction_of_parts(const struct tact_friction_points *p, const double v[2],
                                       double w, double out[3])
{
    double power = 0.0;
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < p->count; i++) {
        double a = v[0] - w * p->y[i], b = v[1] + w * p->x[i], c = w * p->arm[i];
        double speed = sqrt(a * a + b * b + c * c), by = speed > 0 ? p->share[i] / speed : 0.0;
        out[0] += by * a;
        out[1] += by * b;
        out[2] += by * (p->x[i] * b - p->y[i] * a + p->arm[i] * c);
        power += p->share[i] * speed;
    }
    return power;
}

#endif
