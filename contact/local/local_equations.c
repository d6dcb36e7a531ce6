/* The equations of the local law for known active limits. */
#include <math.h>
#include <string.h>
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/vec.h"

/* Product of a matrix, given by its columns, and three numbers; by its rows, that of its transpose.
 */
#define TACT_PRODUCT_OF_3_COLUMNS(columns, x)                                                      \
    TACT_MULTIPLY_COLUMNS(TACT_FOUR_DOUBLES_AT((columns)[0]), TACT_FOUR_DOUBLES_AT((columns)[1]),  \
                          TACT_FOUR_DOUBLES_AT((columns)[2]), x)

void tact_active_set_compute_velocities(struct tact_active_set *a)
{
    const tact_row4 un = TACT_PRODUCT_OF_3_COLUMNS(a->columns_of_normal_mobility_block, a->n) +
                         TACT_PRODUCT_OF_3_COLUMNS(a->nt_columns, a->t),
                    ut = TACT_PRODUCT_OF_3_COLUMNS(a->nt, a->n) +
                         TACT_PRODUCT_OF_3_COLUMNS(a->tt_columns, a->t);
    TACT_STORE_FOUR_DOUBLES_AT(a->un, un + TACT_FOUR_DOUBLES_AT(a->bn));
    TACT_STORE_FOUR_DOUBLES_AT(a->ut, ut + TACT_FOUR_DOUBLES_AT(a->bt));
}

void tact_active_set_set_pressure_centre(struct tact_active_set *a)
{
    a->reciprocal_of_normal_force = 1.0 / a->n[0];
    a->y[0] = a->n[1] * a->reciprocal_of_normal_force;
    a->y[1] = a->n[2] * a->reciprocal_of_normal_force;
}

void tact_active_set_update_limit_surface(struct tact_active_set *a)
{
    const double *t = a->t;
    tact_active_set_set_pressure_centre(a);
    a->m = t[2] - (a->semi_axis_1_over_spin_arm * a->y[0] * t[1] -
                   a->semi_axis_2_over_spin_arm * a->y[1] * t[0]);
    a->f = t[0] * t[0] + t[1] * t[1];
    if (tact_has_friction_points(a->law)) {
        const double z[3] = {t[0], t[1], a->m};
        a->g = tact_friction_points_gauge_hessian(a->law, z, a->normal, a->limit_surface_hessian);
        return;
    }
    a->g = tact_local_limit_surface_curvature(a->law, a->f, a->m * a->m, a->w,
                                              &a->limit_surface_curvature);
}

void tact_active_set_compute_slip(const struct tact_active_set *a, double *v)
{
    v[0] = a->ut[0] - a->semi_axis_2_over_spin_arm * a->y[1] * a->ut[2];
    v[1] = a->ut[1] + a->semi_axis_1_over_spin_arm * a->y[0] * a->ut[2];
    v[2] = a->ut[2];
}

void tact_active_set_limit_surface_normal(const struct tact_active_set *a, double *out)
{
    if (tact_has_friction_points(a->law)) {
        tact_v3_copy(out, a->normal);
        return;
    }
    tact_v3_set(out, a->w[0] * a->t[0], a->w[0] * a->t[1], a->w[1] * a->m);
}

/* Excess of friction over its limit in the active-set equations; negative inside the limit. */
static double friction_limit_excess(const struct tact_active_set *a)
{
    return 0.5 * (a->g * a->reciprocal_of_normal_force - a->n[0]);
}

double tact_active_set_residual(const struct tact_active_set *a)
{
    double v[3], resist[3], worst = 0.0;
    tact_active_set_compute_slip(a, v);
    if (a->is_contact_slipping) {
        tact_active_set_limit_surface_normal(a, resist);
        tact_v3_axpy(v, a->slip_multiplier, resist);
        worst = a->max_scaled_mobility * fabs(friction_limit_excess(a));
    }
    for (int i = 0; i < 3; i++) {
        worst = tact_max(worst, fabs(v[i]));
        worst = tact_max(worst, fabs(tact_v3_dot(a->active_face_basis[i], a->un)));
    }
    return worst;
}

void tact_active_set_solve_newton_step(const struct tact_active_set *a,
                                       struct tact_active_set_changes *out)
{
    double velocity_terms_of_slip[4] = {0.0};
    if (a->is_contact_slipping) {
        tact_active_set_limit_surface_normal(a, velocity_terms_of_slip);
        tact_v3_scale(velocity_terms_of_slip, velocity_terms_of_slip, a->slip_multiplier);
        velocity_terms_of_slip[3] = friction_limit_excess(a);
    }
    tact_active_set_response_of_unknowns(a, a->un, a->ut, velocity_terms_of_slip, out);
}
