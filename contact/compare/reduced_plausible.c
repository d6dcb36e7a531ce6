/* Checks whether a contact state is one that a single contact can reach. */
#include "contact/compare/reduced_internal.h"

/* Largest rise of energy by integration error, relative to the kinetic energy. */
#define MAX_ENERGY_GAIN_RATIO 0.1
/* Rise of energy that is rounding, relative to weight times distance. */
#define ENERGY_ROUNDING_RATIO 1e-9

/* The Weingarten map of a surface, dn = L dp in the axes x, y of its contact frame, from the rates
 * of that frame: dn = w x z = (w_y, -w_x), dp = (v_x, v_y) for s' = 1 and t' = 1. */
static void weingarten_map(const struct contact_frame *f, double out[2][2])
{
    const double(*h)[2] = f->h;
    const double det = h[3][0] * h[4][1] - h[3][1] * h[4][0];
    const double inverse_of_tangent_matrix[2][2] = {{h[4][1] / det, -h[3][1] / det},
                                                    {-h[4][0] / det, h[3][0] / det}};
    for (int j = 0; j < 2; j++) {
        out[0][j] =
            h[1][0] * inverse_of_tangent_matrix[0][j] + h[1][1] * inverse_of_tangent_matrix[1][j];
        out[1][j] =
            -h[0][0] * inverse_of_tangent_matrix[0][j] - h[0][1] * inverse_of_tangent_matrix[1][j];
    }
}

/* Checks that the relative curvature L_1 + L_2 is positive in every direction, so that the surfaces
 * separate on all sides of the contact. */
static enum simulation_failure check_relative_curvature_positive(const struct reduced_kinematics *k)
{
    double weingarten_map_of_body_1[2][2], weingarten_map_of_body_2[2][2], sum[2][2];
    weingarten_map(&k->frame[0], weingarten_map_of_body_1);
    weingarten_map(&k->frame[1], weingarten_map_of_body_2);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            sum[i][j] = weingarten_map_of_body_1[i][j];
            for (int a = 0; a < 4; a++) {
                sum[i][j] += k->contact_angle_rotation[3 * i + a / 2] *
                             weingarten_map_of_body_2[a / 2][a % 2] *
                             k->contact_angle_rotation[3 * j + a % 2];
            }
        }
    }
    const double relative_curvature_trace = sum[0][0] + sum[1][1];
    const double det = sum[0][0] * sum[1][1] - sum[0][1] * sum[1][0];
    return !isfinite(relative_curvature_trace) || !isfinite(det) ? FAILURE_SINGULAR_MATRIX
           : relative_curvature_trace > 0.0 && det > 0.0         ? NO_SIMULATION_FAILURE
                                                                 : FAILURE_OVERLAP_BESIDE_CONTACT;
}

enum simulation_failure tact_reduced_check_state_possible(const struct tact_reduced *r,
                                                          struct reduced_state *s)
{
    struct reduced_kinematics k;
    double rotation[9], at[3], phi[SPATIAL] = {0.0}, turned[3];
    tact_reduced_kinematics(r->surface, s, &k);
    const enum simulation_failure failure = check_relative_curvature_positive(&k);
    if (failure) {
        return failure;
    }
    for (int i = 0; i < SPATIAL; i++) {
        for (int j = 0; j < COORDINATES; j++) {
            phi[i] += k.body_frame_jacobian[i][j] * s->rate[j];
        }
    }
    tact_reduced_moving_body_pose(&k, rotation, at);
    tact_m3_mul_v3(turned, r->body.inertia, phi);
    const double weight_of_moving_body = r->body.mass * tact_v3_norm(r->options.gravity);
    const double potential_energy = -r->body.mass * tact_v3_dot(r->options.gravity, at);
    const double kinetic_energy =
        0.5 * tact_v3_dot(phi, turned) + 0.5 * r->body.mass * tact_v3_dot(phi + 3, phi + 3);
    const double kinetic_energy_at_min_total =
        s->min_total_energy_since_contact_began - potential_energy;
    const double energy_rounding_error =
        ENERGY_ROUNDING_RATIO * weight_of_moving_body * (r->size + tact_v3_norm(at));
    s->min_total_energy_since_contact_began =
        tact_min(s->min_total_energy_since_contact_began, kinetic_energy + potential_energy);
    s->max_kinetic_energy_since_contact_began =
        tact_max(s->max_kinetic_energy_since_contact_began, kinetic_energy_at_min_total);
    return kinetic_energy - kinetic_energy_at_min_total <=
                   MAX_ENERGY_GAIN_RATIO * s->max_kinetic_energy_since_contact_began +
                       energy_rounding_error
               ? NO_SIMULATION_FAILURE
               : FAILURE_TOTAL_ENERGY_RISES;
}
