/* Friction of a pressure given by its parts, from the law of each part, for tests. */
#ifndef TACT_TESTS_FRICTION_PARTS_H
#define TACT_TESTS_FRICTION_PARTS_H

#include <math.h>
#include "contact/limits.h"

/* Friction force over mu f_n and its torque [m], summed from Coulomb's law of each part at a slip
 * velocity; returns the dissipated power. */
static inline double friction_force_and_power_of_points(const struct tact_friction_points *p,
                                                        const double v[2], double w, double out[3])
{
    double power = 0.0;
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < p->count; i++) {
        double x = v[0] - w * p->y[i], y = v[1] + w * p->x[i], c = w * p->arm[i], a = x, b = y;
        if (p->tilted) { /* the component of the slip velocity along the part's surface */
            a -= p->tilt_xx[i] * x + p->tilt_xy[i] * y;
            b -= p->tilt_xy[i] * x + p->tilt_yy[i] * y;
        }
        double speed = sqrt(a * x + b * y + c * c), by = speed > 0 ? p->share[i] / speed : 0.0;
        out[0] += by * a;
        out[1] += by * b;
        out[2] += by * (p->x[i] * b - p->y[i] * a + p->arm[i] * c);
        power += p->share[i] * speed;
    }
    return power;
}

#endif
