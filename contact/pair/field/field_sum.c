/* The integrals over a contact polygon: its pressure is linear, so that they follow from area,
 * first and second moments. */
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_sphere_internal.h"

/* Smallest difference of two pressure gradients, relative to the larger, that defines a stiffness:
 * nearly equal fields have a discontinuous force. */
#define MIN_GRADIENT_DIFFERENCE_RATIO 1e-6

void tact_field_integrate_polygon(struct contact_surface_polygon *p)
{
    tact_field_integrate_linear(p);
    if (p->power != 1.0) {
        tact_field_integrate_pressure_law(p);
    }
}

/* Adds the stiffness of a polygon: minus the integral of m q^(m - 1) (g_B.u1)(g_A.u2) / |g_B -
 * g_A|, gradients of q, with (v, w) moving x, from the origin of the sums, at v + w x x: g.u = g.v
 * + (x cross g).w. arm: of corner 0. The stiffness is the symmetric part of the sum. */
static void add_polygon_stiffness(const struct contact_surface_polygon *p, const double *arm,
                                  double *stiffness)
{
    const struct field_moments *m = tact_field_stiffness_moments(p);
    const double *ga = p->gradient_a, *gb = p->gradient_b;
    double torque_lever_of_gradient_a[3], torque_lever_of_gradient_b[3], rotation[9], at[9],
        middle[3], scale = 1.0 / p->pressure_gradient_difference;
    for (int k = 0; k < 3; k++) {
        middle[k] = m->first[k] + m->area * arm[k];
    }
    for (int k = 0; k < 9; k++) {
        int r = k / 3, c = k % 3;
        at[k] =
            m->second[k] + arm[r] * m->first[c] + m->first[r] * arm[c] + m->area * arm[r] * arm[c];
    }
    tact_v3_cross(torque_lever_of_gradient_a, middle, ga);
    tact_v3_cross(torque_lever_of_gradient_b, middle, gb);
    /* rotational block: [x cross g_B] integral of x x' [x cross g_A]', by columns of the second
     * moment */
    for (int c = 0; c < 3; c++) {
        const double column[3] = {at[c], at[3 + c], at[6 + c]};
        double across[3];
        tact_v3_cross(across, column, gb);
        rotation[c] = across[0];
        rotation[3 + c] = across[1];
        rotation[6 + c] = across[2];
    }
    for (int r = 0; r < 3; r++) {
        double across[3], *upper = stiffness + 6 * r, *lower = upper + 18;
        tact_v3_cross(across, rotation + 3 * r, ga);
        for (int c = 0; c < 3; c++) {
            upper[c] -= scale * m->area * gb[r] * ga[c];
            upper[3 + c] -= scale * gb[r] * torque_lever_of_gradient_a[c];
            lower[c] -= scale * torque_lever_of_gradient_b[r] * ga[c];
            lower[3 + c] -= scale * across[c];
        }
    }
}

/* 1 for two soft fields whose gradients are nearly equal. */
static int has_nearly_equal_pressure_gradients(const struct contact_surface_polygon *p)
{
    double larger_pressure_slope =
        tact_max(tact_v3_norm(p->gradient_a), tact_v3_norm(p->gradient_b));
    return p->are_both_soft &&
           p->pressure_gradient_difference < MIN_GRADIENT_DIFFERENCE_RATIO * larger_pressure_slope;
}

void tact_field_add_polygon_to_sums(struct contact_surface_sums *sums,
                                    const struct contact_surface_polygon *p)
{
    double arm[3], moment[3], torque[3];
    tact_v3_sub(arm, p->corner[0], sums->origin);
    tact_v3_copy(moment, p->lever);
    tact_v3_axpy(moment, p->load, arm);
    tact_v3_cross(torque, moment, p->normal);
    sums->area += p->area_moments.area;
    sums->load += p->load;
    tact_v3_add(sums->first, sums->first, moment);
    tact_v3_axpy(sums->force, p->load, p->normal);
    tact_v3_add(sums->torque, sums->torque, torque);
    if (p->sphere) {
        tact_field_add_stiffness_in_ball(p, sums->origin, sums->stiffness);
    } else if (has_nearly_equal_pressure_gradients(p)) {
        sums->alike++;
    } else {
        add_polygon_stiffness(p, arm, sums->stiffness);
    }
}

/* a twist (v, w) about the new reference point moves the former one at v - w x arm = v + arm x w */
void tact_field_shift_stiffness_point(double *k, const double *arm)
{
    const double cross_product_matrix_of_arm[9] = {0.0,     -arm[2], arm[1], arm[2], 0.0,
                                                   -arm[0], -arm[1], arm[0], 0.0};
    for (int row = 0; row < 6; row++) {
        for (int q = 0; q < 3; q++) {
            for (int r = 0; r < 3; r++) {
                k[6 * row + 3 + q] += k[6 * row + r] * cross_product_matrix_of_arm[3 * r + q];
            }
        }
    }
    for (int column = 0; column < 6; column++) {
        for (int q = 0; q < 3; q++) {
            for (int r = 0; r < 3; r++) {
                k[6 * (3 + q) + column] +=
                    cross_product_matrix_of_arm[3 * r + q] * k[6 * r + column];
            }
        }
    }
}

static void symmetrize_matrix(double *matrix)
{
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < r; c++) {
            double mean = 0.5 * (matrix[6 * r + c] + matrix[6 * c + r]);
            matrix[6 * r + c] = matrix[6 * c + r] = mean;
        }
    }
}

void tact_field_shift_to_pressure_centre(struct contact_surface_sums *sums)
{
    double arm[3], lever[3];
    tact_v3_scale(arm, sums->first, sums->load > 0.0 ? 1.0 / sums->load : 0.0);
    tact_v3_cross(lever, arm, sums->force);
    tact_v3_sub(sums->torque, sums->torque, lever);
    tact_v3_add(sums->origin, sums->origin, arm);
    memset(sums->first, 0, sizeof sums->first);
    symmetrize_matrix(sums->stiffness);
    tact_field_shift_stiffness_point(sums->stiffness, arm);
}

void tact_field_rotate_twist_matrix(const double *matrix, const double *rotation, double *out)
{
    double half[9], block[9];
    for (int b = 0; b < 4; b++) {
        int row = 3 * (b / 2), column = 3 * (b % 2);
        for (int k = 0; k < 9; k++) {
            block[k] = matrix[6 * (row + k / 3) + column + k % 3];
        }
        tact_m3_mul(half, rotation, block);
        tact_m3_mul_t(block, half, rotation);
        for (int k = 0; k < 9; k++) {
            out[6 * (row + k / 3) + column + k % 3] = block[k];
        }
    }
}
