/* Response of the unknowns of the local law to changes of velocity. */
#include <string.h>
#include "contact/local/local_active_internal.h"
#include "contact/local/local_points_internal.h"
#include "contact/simd_internal.h"
#include "contact/vec.h"

/* Four lanes of a row of the equations: the coefficients of the three components of friction and
 * the constant term of one problem, or the constant terms of up to four problems. */
typedef double row __attribute__((vector_size(32)));

/* start value of the row of each component of friction: 1 in the lane of its coefficient, or 0
 * where all lanes are constant terms */
static const row COEFFICIENTS[3] = {
    {1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}};
static const row CONSTANTS[3] = {{0.0}};

/* Changes due to changes of velocity, un of the normal part and ut of friction: w of the impulse of
 * the normal part, and v of friction's velocities, in which w is included. Each lane of a row is a
 * coefficient of the three parts of friction or a constant term, and each is computed alone. */
static void compute_velocity_changes(const struct tact_active_set *a, const row *un, const row *ut,
                                     row *w, row *v)
{
    for (int i = 0; i < 3; i++) {
        const double *response = a->normal_impulse_response[i];
        w[i] = -(un[0] * response[0] + un[1] * response[1] + un[2] * response[2]);
    }
    for (int i = 0; i < 3; i++) {
        const double *tn = a->nt_columns[i];
        v[i] = ut[i];
        v[i] += w[0] * tn[0] + w[1] * tn[1] + w[2] * tn[2];
    }
}

/* Adds the change of friction's direction to the equations of slip, and that of its limit, on a
 * surface of points. dm: change of the torsion. */
static void add_points_limit_surface_terms(const struct tact_active_set *a, const row *impulse_unit,
                                           const row *dm, row *out)
{
    const double *normal = a->normal, *b = a->limit_surface_hessian,
                 slip_multiplier = a->slip_multiplier;
    for (int i = 0; i < 3; i++) {
        out[i] += impulse_unit[0] * (b[3 * i] * slip_multiplier) +
                  impulse_unit[1] * (b[3 * i + 1] * slip_multiplier);
        out[i] += *dm * (b[3 * i + 2] * slip_multiplier);
    }
    out[3] += (impulse_unit[0] * normal[0] + impulse_unit[1] * normal[1] + *dm * normal[2]) *
              a->reciprocal_of_normal_force;
}

/* The equations of slip, from changes w of the normal part and v of friction's velocities; the
 * fourth is that of the limit. */
static void compute_slip_equation_residuals(const struct tact_active_set *a,
                                            const row *impulse_unit, const row *w, const row *v,
                                            row *out)
{
    const double *t = a->t, *y = a->y, m = a->m, square = m * m;
    double inverse = a->reciprocal_of_normal_force, w0 = a->slip_multiplier * a->w[0],
           w1 = a->slip_multiplier * a->w[1];
    row y0 = (w[1] - w[0] * y[0]) * inverse, y1 = (w[2] - w[0] * y[1]) * inverse;
    row along = impulse_unit[0] * t[0] + impulse_unit[1] * t[1];
    row turn = impulse_unit[0] * (a->semi_axis_2_over_spin_arm * y[1]) -
               impulse_unit[1] * (a->semi_axis_1_over_spin_arm * y[0]) + impulse_unit[2];
    row dm = (turn + y1 * (a->semi_axis_2_over_spin_arm * t[0]) -
              y0 * (a->semi_axis_1_over_spin_arm * t[1]));
    if (tact_has_friction_points(a->law)) {
        out[0] = v[0] - (y1 * a->ut[2] + v[2] * y[1]) * a->semi_axis_2_over_spin_arm;
        out[1] = v[1] + (y0 * a->ut[2] + v[2] * y[0]) * a->semi_axis_1_over_spin_arm;
        out[2] = v[2];
        out[3] = w[0] * (-0.5 * (a->g * inverse * inverse + 1.0));
        add_points_limit_surface_terms(a, impulse_unit, &dm, out);
        return;
    }
    row bent =
        (along * square - dm * (a->f * m)) * (a->slip_multiplier * a->limit_surface_curvature);
    out[0] = v[0] - (y1 * a->ut[2] + v[2] * y[1]) * a->semi_axis_2_over_spin_arm +
             bent * (square * t[0]);
    out[1] = v[1] + (y0 * a->ut[2] + v[2] * y[0]) * a->semi_axis_1_over_spin_arm +
             bent * (square * t[1]);
    out[2] = v[2] - bent * (a->f * m) + dm * w1;
    out[0] += impulse_unit[0] * w0;
    out[1] += impulse_unit[1] * w0;
    out[3] = (along * a->w[0] + dm * (a->w[1] * m)) * inverse -
             w[0] * (0.5 * (a->g * inverse * inverse + 1.0));
}

/* The equations of friction and of its limit, and the changes w of the normal part. */
static void compute_friction_equation_residuals(const struct tact_active_set *a,
                                                const row *impulse_unit, const row *un,
                                                const row *ut, row *w, row *out)
{
    row v[3];
    compute_velocity_changes(a, un, ut, w, v);
    if (a->is_contact_slipping) {
        compute_slip_equation_residuals(a, impulse_unit, w, v, out);
    } else {
        memcpy(out, v, sizeof v);
        out[3] = (row){0.0};
    }
}

/* The coefficients of the equations, J t + pull gamma (three equations) and limit . t (the fourth),
 * solved for t. */
struct solution_of_slip_equations {
    double slip_jacobian_cofactors[9]; /* cofactors of J: its transposed inverse times its
                                          determinant */
    double det, inverse;
    double limit[3], by[3], along; /* by: friction per unit of the slip multiplier, J^-1 pull;
                                      along: the product limit . by */
};

static void invert_slip_equations(const struct tact_active_set *a, const row *eq,
                                  struct solution_of_slip_equations *s)
{
    double j[3][3], pull[3];
    for (int i = 0; i < 3; i++) {
        tact_v3_set(j[i], eq[i][0], eq[i][1], eq[i][2]);
    }
    tact_v3_cross(s->slip_jacobian_cofactors, j[1], j[2]);
    tact_v3_cross(s->slip_jacobian_cofactors + 3, j[2], j[0]);
    tact_v3_cross(s->slip_jacobian_cofactors + 6, j[0], j[1]);
    s->det = tact_v3_dot(j[0], s->slip_jacobian_cofactors);
    s->inverse = 1.0 / s->det;
    if (a->is_contact_slipping) {
        tact_v3_set(s->limit, eq[3][0], eq[3][1], eq[3][2]);
        tact_active_set_limit_surface_normal(a, pull);
        tact_m3_tmul_v3(s->by, s->slip_jacobian_cofactors, pull);
        s->along = tact_v3_dot(s->limit, s->by);
    }
}

/* Solves for the given right side, then for the normal part, whose changes are w with its constant
 * terms in that lane of `constant`. */
static void solve_slip_equations(const struct tact_active_set *a,
                                 const struct solution_of_slip_equations *s,
                                 const double *slip_equations_right_side, const row *w,
                                 const row *constant, int lane_of_constant_terms,
                                 struct tact_active_set_changes *out)
{
    double dt[3];
    tact_m3_tmul_v3(dt, s->slip_jacobian_cofactors, slip_equations_right_side);
    out->slip_multiplier = 0.0;
    if (a->is_contact_slipping) {
        out->slip_multiplier =
            (tact_v3_dot(s->limit, dt) - s->det * slip_equations_right_side[3]) / s->along;
        tact_v3_axpy(dt, -out->slip_multiplier, s->by);
    }
    tact_v3_scale(out->t, dt, s->inverse);
    for (int i = 0; i < 3; i++) {
        out->n[i] = w[i][0] * out->t[0] + w[i][1] * out->t[1] + w[i][2] * out->t[2] +
                    constant[i][lane_of_constant_terms];
    }
}

/* Packs the velocities per unit of each part of friction into lanes, with further velocities as the
 * constant terms. */
static void pack_row_velocities_in_lanes(const struct tact_active_set *a, const double *un,
                                         const double *ut, row *normal, row *friction)
{
    for (int i = 0; i < 3; i++) {
        const row of_un = {un[i], un[i], un[i], un[i]}, of_ut = {ut[i], ut[i], ut[i], ut[i]};
        normal[i] = __builtin_shufflevector(TACT_FOUR_DOUBLES_AT(a->nt[i]), of_un, 0, 1, 2, 7);
        friction[i] = __builtin_shufflevector(TACT_FOUR_DOUBLES_AT(a->tt[i]), of_ut, 0, 1, 2, 7);
    }
}

void tact_active_set_response_of_unknowns(const struct tact_active_set *a, const double *un,
                                          const double *ut, const double *slip_equation_residuals,
                                          struct tact_active_set_changes *out)
{
    row normal[3], friction[3], w[3], eq[4];
    struct solution_of_slip_equations s;
    double slip_equations_right_side[4];
    pack_row_velocities_in_lanes(a, un, ut, normal, friction);
    compute_friction_equation_residuals(a, COEFFICIENTS, normal, friction, w, eq);
    invert_slip_equations(a, eq, &s);
    for (int i = 0; i < 4; i++) {
        slip_equations_right_side[i] = -eq[i][3] - slip_equation_residuals[i];
    }
    solve_slip_equations(a, &s, slip_equations_right_side, w, w, 3, out);
}

void tact_active_set_responses_to_rows(const struct tact_active_set *a,
                                       struct tact_active_set_changes out[6])
{
    static const double zero_velocity[3] = {0.0, 0.0, 0.0};
    const double *impulse_unit = a->impulse_unit;
    row normal[3], friction[3], w[3], eq[4];
    struct solution_of_slip_equations s;
    pack_row_velocities_in_lanes(a, zero_velocity, zero_velocity, normal, friction);
    compute_friction_equation_residuals(a, COEFFICIENTS, normal, friction, w, eq);
    invert_slip_equations(a, eq, &s);
    for (int is_friction_half_of_rows = 0; is_friction_half_of_rows < 2;
         is_friction_half_of_rows++) { /* unit velocities of each row in turn: of the normal
part n, then of friction t */
        row un[3] = {{0.0}}, ut[3] = {{0.0}}, constant[3], terms[4];
        for (int i = 0; i < 3; i++) {
            (is_friction_half_of_rows ? ut : un)[i] =
                COEFFICIENTS[i] * impulse_unit[3 * is_friction_half_of_rows + i];
        }
        compute_friction_equation_residuals(a, CONSTANTS, un, ut, constant, terms);
        for (int k = 0; k < 3; k++) {
            const double slip_equations_right_side[4] = {-terms[0][k], -terms[1][k], -terms[2][k],
                                                         -terms[3][k]};
            solve_slip_equations(a, &s, slip_equations_right_side, w, constant, k,
                                 &out[3 * is_friction_half_of_rows + k]);
        }
    }
}
