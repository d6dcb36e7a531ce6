/* Matrices of the coupling of a base against what its device renders: along every direction of its
 * six coordinates, not only along their axes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "contact/symmetric_six_internal.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/session_internal.h"

/* Rounding of the largest eigenvalue: a matrix along the axes may be at the limit of each. */
#define EIGENVALUE_ROUNDING_MARGIN 1e-9

/* Largest stiffness, or damping (is_damping_matrix), that the device renders along an axis. */
static double max_device_gain_along_axis(const struct tact_session *s,
                                         const struct session_coupling *c, int is_damping_matrix)
{
    return is_damping_matrix ? tact_session_max_damping_of_coupling(s, c)
                             : tact_session_max_stiffness_of_port(s, &c->port);
}

/* Weights of the six coordinates: square roots of the coupling's gain over the device's limit, of
 * three axes the least, as the matrix couples these; 0 where no limit is known or an energy bound
 * acts. */
static void compute_matrix_weights(const struct tact_session *s, const struct session_coupling *c,
                                   int is_damping_matrix, double weight[6])
{
    for (int part = 0; part < 2; part++) {
        double lowest_gain_limit_of_coupled_axes = INFINITY;
        for (int i = 3 * part; i < 3 * part + 3; i++) {
            const struct tact_scene_coupling *def =
                s->scene->hands[c->hand].links[c[i].link].joint.coupling;
            const int is_axis_gain_bounded = c[i].port.are_axis_numbers_known && !def->hard;
            lowest_gain_limit_of_coupled_axes =
                is_axis_gain_bounded ? fmin(lowest_gain_limit_of_coupled_axes,
                                            max_device_gain_along_axis(s, &c[i], is_damping_matrix))
                                     : lowest_gain_limit_of_coupled_axes;
        }
        for (int i = 3 * part; i < 3 * part + 3; i++) {
            weight[i] = sqrt(tact_session_coupling_gain(&c[i]) / lowest_gain_limit_of_coupled_axes);
        }
    }
}

/* Checks that no direction exceeds the limits: with W^2 the limits, W^-1 K W^-1 is at most 1. */
static int check_coupling_matrix(const struct tact_session *s, const struct session_coupling *c,
                                 int is_damping_matrix, struct tact_error *err)
{
    const struct tact_scene_file_base *file =
        tact_scene_file_base_with_matrices(&s->scene->hands[c->hand]);
    const double *matrix = is_damping_matrix ? file->damping_matrix : file->stiffness_matrix;
    double weight[6], weighted[36], values[6];
    char key[64];
    compute_matrix_weights(s, c, is_damping_matrix, weight);
    for (int i = 0; i < 36; i++) {
        const int transposed_entry_index = i % 6 * 6 + i / 6;
        weighted[i] =
            0.5 * (matrix[i] + matrix[transposed_entry_index]) * weight[i / 6] * weight[i % 6];
    }
    tact_matrix_6x6_eigenvalues(weighted, values);
    if (values[5] <= 1.0 + EIGENVALUE_ROUNDING_MARGIN) {
        return 0;
    }
    snprintf(key, sizeof key, "hands[%d].base.%s", c->hand,
             is_damping_matrix ? "damping_matrix" : "stiffness_matrix");
    tact_scene_where(s->scene, key, err);
    return tact_error_set(
        err, -EINVAL,
        "this matrix is, in one direction of force and torque, %.4g times the largest that the "
        "device of %s %s; expected at most 1, or \"hard: true\" in both couplings",
        values[5], s->hands[c->hand].base_name,
        is_damping_matrix ? "allows without oscillating when the person releases it"
                          : "renders without rattling");
}

int tact_session_check_base_matrices(const struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->coupling_count; i++) {
        const struct session_coupling *c = &s->couplings[i];
        if (c->link == 0 && tact_scene_file_base_with_matrices(&s->scene->hands[c->hand])) {
            rc = check_coupling_matrix(s, c, 0, err);
            rc = rc ? rc : check_coupling_matrix(s, c, 1, err);
        }
    }
    return rc;
}
