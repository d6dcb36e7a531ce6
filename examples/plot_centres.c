/* Centres of pressure in the panel of patches of tact plot. */
#include <math.h>
#include "plot.h"

/* Ratio of a point's distance from the centre of an outline to that of the outline in the same
 * direction. */
static double compute_ratio_to_outline_distance(const struct plot_pair *p, const double at[2])
{
    double ratio_to_outline_distance = 0.0;
    for (int i = 0; i < p->corner_count; i++) {
        const double *a = p->corner[i], *b = p->corner[i + 1 < p->corner_count ? i + 1 : 0];
        double out[2] = {b[1] - a[1], a[0] - b[0]},
               outline_distance = out[0] * a[0] + out[1] * a[1];
        if (outline_distance > 0.0) {
            ratio_to_outline_distance = fmax(ratio_to_outline_distance,
                                             (out[0] * at[0] + out[1] * at[1]) / outline_distance);
        }
    }
    return ratio_to_outline_distance;
}

/* Until the last outline is known, a centre of pressure is stored as a unit direction times its
 * ratio to the outline. */
void plot_add_pressure_centre(struct plot_pair *p, const struct tact_contact *c)
{
    const double *r = c->impulse, at[2] = {-r[5] / r[0], r[4] / r[0]};
    double length = hypot(at[0], at[1]),
           ratio_to_outline_distance = compute_ratio_to_outline_distance(p, at);
    double *out = p->centre[p->pressure_centre_count++];
    out[0] = length > 0.0 ? ratio_to_outline_distance * at[0] / length : 0.0;
    out[1] = length > 0.0 ? ratio_to_outline_distance * at[1] / length : 0.0;
}

void plot_scale_pressure_centres(struct plot_pair *p)
{
    for (int i = 0; i < p->pressure_centre_count; i++) {
        double *at = p->centre[i], length = hypot(at[0], at[1]),
               ratio_to_outline_distance = compute_ratio_to_outline_distance(p, at);
        double scale = ratio_to_outline_distance > 0.0 ? length / ratio_to_outline_distance : 0.0;
        at[0] *= scale;
        at[1] *= scale;
    }
}
