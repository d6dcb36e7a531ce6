/* Integrals over the overlap from its surface, four triangles at a time. */
#include "contact/moments/moments_surface_internal.h"

void tact_surface_integrate_coplanar(struct tact_cut_surface *s)
{
    tact_d4 n[3];
    tact_surface_area_vectors(s, n);
    tact_d4 area = 0.5 * (n[0] * s->normal[0] + n[1] * s->normal[1] + n[2] * s->normal[2]);
    for (int k = 0; k < 3; k++) {
        n[k] = area * s->normal[k];
    }
    tact_d4 v = (1.0 / 3.0) * s->height * area;
    tact_surface_add_tetrahedra(s, n, &v);
}

static double tact_surface_sum_lanes(const tact_d4 *lanes)
{
    const tact_d4 l = *lanes;
    return (l[0] + l[1]) + (l[2] + l[3]);
}

void tact_surface_zero_unused_lanes(struct tact_cut_surface *s)
{
    for (int lane = s->queued_triangle_count; lane < 4; lane++) {
        for (int k = 0; k < 9; k++) {
            ((double *)&s->corner[k / 3][k % 3])[lane] = 0.0;
        }
    }
}

void tact_surface_convert_to_moment_sums(struct tact_cut_surface *s, double size,
                                         struct tact_moment_sums *sums)
{
    tact_surface_zero_unused_lanes(s);
    tact_surface_integrate_batch(s);
    sums->volume = tact_surface_sum_lanes(&s->volume);
    /* bound of the volume by rounding: planes displaced outward by 4 roundings of the size sweep 4
     * times their areas */
    sums->volume_term_magnitude = 0.1 * size * tact_surface_sum_lanes(&s->area);
    for (int k = 0; k < 3; k++) {
        sums->first[k] = tact_surface_sum_lanes(&s->first[k]);
        sums->second[k] = tact_surface_sum_lanes(&s->second[k]);
        sums->second[3 + k] = tact_surface_sum_lanes(&s->second[3 + k]);
        sums->gradient[k] = tact_surface_sum_lanes(&s->gradient[k]);
        sums->torque[k] = tact_surface_sum_lanes(&s->torque[k]);
    }
}
