/* Integrals over an overlap as tetrahedra about a point in it. */
#include "contact/moments/moments_tets_internal.h"

/* Adds `weight` times the tetrahedron over triangle p q r, coordinates relative to the origin. */
static void tact_tetrahedron_sums_add_tetrahedron(struct tact_tetrahedron_sums *tets,
                                                  const double *p, const double *q, const double *r,
                                                  double weight)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    struct tact_moment_sums *sums = &tets->sums;
    double u[3], w[3], normal[3], t[3];
    tact_v3_sub(u, q, p);
    tact_v3_sub(w, r, p);
    tact_v3_cross(normal, u, w);
    double v = weight * (1.0 / 6.0) * tact_v3_dot(normal, p);
    sums->volume += v;
    sums->volume_term_magnitude += fabs(v);
    for (int k = 0; k < 3; k++) {
        t[k] = p[k] + q[k] + r[k];
        sums->first[k] += 0.25 * v * t[k];
    }
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        sums->second[k] += 0.05 * v * (p[i] * p[j] + q[i] * q[j] + r[i] * r[j] + t[i] * t[j]);
    }
}

void tact_tetrahedron_sums_add_polygon(struct tact_tetrahedron_sums *tets, const tact_d4 *polygon,
                                       int n, double weight)
{
    double first[3] = {0.0}, last[3] = {0.0}, next[3];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            next[k] = polygon[i][k] - tets->origin[k];
        }
        if (i == 0) {
            tact_v3_copy(first, next);
        } else if (i > 1) {
            tact_tetrahedron_sums_add_tetrahedron(tets, first, last, next, weight);
        }
        tact_v3_copy(last, next);
    }
}

void tact_tetrahedron_sums_to_moment_sums(const struct tact_tetrahedron_sums *tets,
                                          struct tact_moment_sums *sums)
{
    double torque[3];
    tact_v3_cross(torque, tets->origin, sums->gradient);
    tact_v3_sub(torque, sums->torque, torque);
    double gradient[3] = {sums->gradient[0], sums->gradient[1], sums->gradient[2]};
    *sums = tets->sums;
    tact_v3_copy(sums->gradient, gradient);
    tact_v3_copy(sums->torque, torque);
}
