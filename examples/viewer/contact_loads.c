#include "contact_loads.h"
#include <math.h>

struct contact_loads compute_contact_loads(const double impulse[6], double period)
{
    const double *r = impulse;
    struct contact_loads out = {.normal = r[0] / period, .friction = hypot(r[1], r[2]) / period};
    double *d = out.center_of_pressure;
    if (r[0] > 0.0) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
    }
    out.torsion = (r[3] - (d[0] * r[2] - d[1] * r[1])) / period;
    return out;
}
