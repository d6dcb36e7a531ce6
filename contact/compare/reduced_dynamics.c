/* Equations of motion in reduced coordinates, for each mode of friction. */
#include <errno.h>
#include <string.h>
#include "contact/compare/reduced_internal.h"

#define MIN_SPEED_WITH_SLIP_DIRECTION                                                              \
    1e-11 /* slip speed below which its direction is only rounding [m/s] */

/* Number of independent rates without slip: u', v' and, with spin, psi'. */
enum { MOST_RATES_WITHOUT_SLIP = 3 };

/* The independent rates p' of a contact mode: their number, the matrix P of q' = P p', and the rate
 * of P. */
struct independent_rates {
    int count;
    double p[COORDINATES][COORDINATES], rate[COORDINATES][COORDINATES];
};

/* Sets P of a contact mode: without slip p' = (u', v', psi') (30), without spin p' = (u', v') (37).
 */
static void set_independent_rates(const struct reduced_kinematics *k, enum tact_reduced_mode mode,
                                  struct independent_rates *f)
{
    memset(f, 0, sizeof *f);
    f->count = mode == TACT_REDUCED_NO_SPIN ? 2 : mode == TACT_REDUCED_ROLLING ? 3 : COORDINATES;
    if (f->count == COORDINATES) {
        for (int i = 0; i < COORDINATES; i++) {
            f->p[i][i] = 1.0;
        }
        return;
    }
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) {
            f->p[i][j] = k->d[i][j];
            f->rate[i][j] = k->d_rate[i][j];
        }
        f->p[2 + j][j] = 1.0;
    }
    if (mode == TACT_REDUCED_ROLLING) {
        f->p[4][2] = 1.0;
        return;
    }
    for (int j = 0; j < 2; j++) {
        f->p[4][j] = -k->h[2][2 + j];
        f->rate[4][j] = -k->contact_jacobian_rate[2][2 + j];
        for (int i = 0; i < 2; i++) {
            f->p[4][j] -= k->h[2][i] * k->d[i][j];
            f->rate[4][j] -=
                k->contact_jacobian_rate[2][i] * k->d[i][j] + k->h[2][i] * k->d_rate[i][j];
        }
    }
}

/* M v in frame 1. */
static void multiply_by_inertia(const struct tact_body *body, const double v[SPATIAL],
                                double out[SPATIAL])
{
    tact_m3_mul_v3(out, body->inertia, v);
    tact_v3_scale(out + 3, v + 3, body->mass);
}

/* The external and gyroscopic wrench on the body, f_ext + [phi]^T M phi, in frame 1. */
static void compute_applied_wrench(const struct tact_reduced *r, const struct reduced_kinematics *k,
                                   const double phi[SPATIAL], double out[SPATIAL])
{
    double momentum[SPATIAL], rotation[9], at[3], gravity_in_body[3];
    multiply_by_inertia(&r->body, phi, momentum);
    tact_v3_cross(out, momentum, phi);
    tact_v3_cross(out + 3, momentum + 3, phi);
    tact_reduced_moving_body_pose(k, rotation, at);
    tact_m3_tmul_v3(gravity_in_body, rotation, r->options.gravity);
    tact_v3_axpy(out + 3, r->body.mass, gravity_in_body);
}

/* Transforms a wrench from frame 1 to the contact frame 1c. */
static void wrench_to_contact_frame(const struct contact_frame *f, const double wrench[SPATIAL],
                                    double out[SPATIAL])
{
    double torque_of_force_at_offset[3], torque[3];
    tact_v3_cross(torque_of_force_at_offset, f->at, wrench + 3);
    tact_v3_sub(torque, wrench, torque_of_force_at_offset);
    tact_m3_tmul_v3(out, f->axes, torque);
    tact_m3_tmul_v3(out + 3, f->axes, wrench + 3);
}

/* Direction of slip in the contact frame 1c; where the contact does not slip yet, the direction in
 * which slip will begin. */
static void compute_slip_direction(const struct tact_reduced *r, const double twist[SPATIAL],
                                   double out[2])
{
    const double slip = tact_hypot(twist[3], twist[4]);
    for (int i = 0; i < 2; i++) {
        out[i] = slip > MIN_SPEED_WITH_SLIP_DIRECTION ? twist[3 + i] / slip
                                                      : r->incipient_slip_direction[i];
    }
}

/*
 * Rows of the constraints on the contact wrench in frame 1c: without slip it does no work in any
 * free motion, H'^T f_c = 0; with slip it is F f_c = 0 (26) with |f_n| for f_n: z is outward, so
 * that a contact that presses has f_6 < 0 and (22, 23) have the other sign.
 */
static int fill_wrench_constraint_rows(const struct tact_reduced *r,
                                       const struct reduced_kinematics *k,
                                       enum tact_reduced_mode mode,
                                       const struct independent_rates *independent_rates_of_mode,
                                       const double twist[SPATIAL],
                                       double row[COORDINATES][SPATIAL])
{
    memset(row, 0, COORDINATES * sizeof row[0]);
    if (mode == TACT_REDUCED_SLIDING) {
        double unit_slip_direction[2];
        compute_slip_direction(r, twist, unit_slip_direction);
        for (int i = 0; i < COORDINATES; i++) {
            row[i][i] = 1.0;
        }
        row[3][5] = -r->options.friction_dynamic * unit_slip_direction[0];
        row[4][5] = -r->options.friction_dynamic * unit_slip_direction[1];
        return COORDINATES;
    }
    for (int n = 0; n < independent_rates_of_mode->count; n++) {
        for (int i = 0; i < SPATIAL; i++) {
            for (int j = 0; j < COORDINATES; j++) {
                row[n][i] += k->h[i][j] * independent_rates_of_mode->p[j][n];
            }
        }
    }
    return independent_rates_of_mode->count;
}

/* The part of the body's acceleration that is due to the velocities: phi' - H q'', that is H' q'
 * with the rate of the independent rates' matrix. */
static void
compute_reduced_bias_acceleration(const struct reduced_state *s, const struct reduced_kinematics *k,
                                  const struct independent_rates *independent_rates_of_mode,
                                  double out[SPATIAL])
{
    double bias_coordinate_acceleration[COORDINATES] = {0.0};
    for (int j = 0; j < COORDINATES && independent_rates_of_mode->count <= MOST_RATES_WITHOUT_SLIP;
         j++) {
        static const int independent_rate_indices[MOST_RATES_WITHOUT_SLIP] = {2, 3, 4};
        for (int n = 0; n < independent_rates_of_mode->count; n++) {
            bias_coordinate_acceleration[j] +=
                independent_rates_of_mode->rate[j][n] * s->rate[independent_rate_indices[n]];
        }
    }
    for (int i = 0; i < SPATIAL; i++) {
        out[i] = 0.0;
        for (int j = 0; j < COORDINATES; j++) {
            out[i] += k->body_frame_jacobian_rate[i][j] * s->rate[j] +
                      k->body_frame_jacobian[i][j] * bias_coordinate_acceleration[j];
        }
    }
}

int tact_reduced_solve_motion_equations(const struct tact_reduced *r, const struct reduced_state *s,
                                        const struct reduced_kinematics *k,
                                        enum tact_reduced_mode mode,
                                        struct accelerations_and_contact_wrench *out)
{
    struct independent_rates free;
    double phi[SPATIAL] = {0.0}, applied[SPATIAL], bias_acceleration[SPATIAL], bias_wrench[SPATIAL];
    double row[COORDINATES][SPATIAL], column[COORDINATES][SPATIAL], work[SPATIAL];
    double a[COORDINATES * COORDINATES];
    memset(out, 0, sizeof *out);
    set_independent_rates(k, mode, &free);
    for (int i = 0; i < SPATIAL; i++) {
        for (int j = 0; j < COORDINATES; j++) {
            phi[i] += k->body_frame_jacobian[i][j] * s->rate[j];
            out->twist[i] += k->h[i][j] * s->rate[j];
        }
    }
    const int n = fill_wrench_constraint_rows(r, k, mode, &free, out->twist, row);
    out->count = n;
    compute_applied_wrench(r, k, phi, applied);
    compute_reduced_bias_acceleration(s, k, &free, bias_acceleration);
    multiply_by_inertia(&r->body, bias_acceleration, work);
    for (int i = 0; i < SPATIAL; i++) {
        work[i] -= applied[i];
    }
    /* the contact wrench that keeps the independent rates constant */
    wrench_to_contact_frame(&k->frame[0], work, bias_wrench);
    for (int m = 0; m < n; m++) {
        double twist_per_independent_rate[SPATIAL] = {0.0};
        for (int i = 0; i < SPATIAL; i++) {
            for (int j = 0; j < COORDINATES; j++) {
                twist_per_independent_rate[i] += k->body_frame_jacobian[i][j] * free.p[j][m];
            }
        }
        multiply_by_inertia(&r->body, twist_per_independent_rate, work);
        wrench_to_contact_frame(&k->frame[0], work, column[m]);
    }
    for (int i = 0; i < n; i++) { /* (20), (28) */
        out->independent_accelerations[i] = 0.0;
        for (int c = 0; c < SPATIAL; c++) {
            out->independent_accelerations[i] -= row[i][c] * bias_wrench[c];
        }
        for (int m = 0; m < n; m++) {
            a[i * n + m] = 0.0;
            for (int c = 0; c < SPATIAL; c++) {
                a[i * n + m] += row[i][c] * column[m][c];
            }
        }
    }
    if (tact_reduced_solve_linear(a, n, out->independent_accelerations)) {
        return -EDOM;
    }
    for (int c = 0; c < SPATIAL; c++) {
        out->wrench[c] = bias_wrench[c];
        for (int m = 0; m < n; m++) {
            out->wrench[c] += column[m][c] * out->independent_accelerations[m];
        }
    }
    return 0;
}

void tact_reduced_compute_dependent_rates(const struct reduced_kinematics *k,
                                          enum tact_reduced_mode mode, double rate[COORDINATES])
{
    struct independent_rates free;
    double independent_rate_values[MOST_RATES_WITHOUT_SLIP] = {rate[2], rate[3], rate[4]};
    set_independent_rates(k, mode, &free);
    for (int j = 0; j < COORDINATES && free.count <= MOST_RATES_WITHOUT_SLIP; j++) {
        rate[j] = 0.0;
        for (int n = 0; n < free.count; n++) {
            rate[j] += free.p[j][n] * independent_rate_values[n];
        }
    }
}

int tact_reduced_project_rates_to_mode(const struct tact_reduced *r, struct reduced_state *s,
                                       enum tact_reduced_mode mode)
{
    struct reduced_kinematics k;
    struct independent_rates free;
    double phi[SPATIAL] = {0.0}, momentum[SPATIAL], twist_per_independent_rate[3][SPATIAL], a[9],
           x[3] = {0.0};
    tact_reduced_kinematics(r->surface, s, &k);
    set_independent_rates(&k, mode, &free);
    if (free.count == COORDINATES) {
        return 0;
    }
    for (int i = 0; i < SPATIAL; i++) {
        for (int j = 0; j < COORDINATES; j++) {
            phi[i] += k.body_frame_jacobian[i][j] * s->rate[j];
        }
        for (int n = 0; n < free.count; n++) {
            twist_per_independent_rate[n][i] = 0.0;
            for (int j = 0; j < COORDINATES; j++) {
                twist_per_independent_rate[n][i] += k.body_frame_jacobian[i][j] * free.p[j][n];
            }
        }
    }
    multiply_by_inertia(&r->body, phi, momentum);
    for (int n = 0; n < free.count; n++) {
        double mass[SPATIAL];
        multiply_by_inertia(&r->body, twist_per_independent_rate[n], mass);
        for (int i = 0; i < SPATIAL; i++) {
            x[n] += twist_per_independent_rate[n][i] * momentum[i];
        }
        for (int m = 0; m < free.count; m++) {
            a[m * free.count + n] = 0.0;
            for (int i = 0; i < SPATIAL; i++) {
                a[m * free.count + n] += twist_per_independent_rate[m][i] * mass[i];
            }
        }
    }
    if (tact_reduced_solve_linear(a, free.count, x)) {
        return -EDOM;
    }
    memcpy(s->rate + 2, x, (size_t)free.count * sizeof *x);
    tact_reduced_compute_dependent_rates(&k, mode, s->rate);
    return 0;
}
