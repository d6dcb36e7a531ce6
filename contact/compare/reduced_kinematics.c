/* Contact frames, and the relation of reduced coordinates to velocities with its rate. */
#include "contact/compare/reduced_internal.h"

#include <errno.h>
#include <string.h>
#include "contact/elementary.h"

int tact_reduced_solve_linear(double *a, int n, double *x)
{
    double largest_matrix_entry = 0.0;
    for (int i = 0; i < n * n; i++) {
        largest_matrix_entry = tact_max(largest_matrix_entry, fabs(a[i]));
    }
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        }
        if (!(fabs(a[pivot * n + k]) > 1e-15 * largest_matrix_entry)) {
            return -EDOM;
        }
        for (int j = 0; j < n; j++) {
            const double matrix_entry_to_swap = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = matrix_entry_to_swap;
        }
        const double matrix_entry_to_swap = x[k];
        x[k] = x[pivot];
        x[pivot] = matrix_entry_to_swap;
        for (int i = k + 1; i < n; i++) {
            const double elimination_factor = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) {
                a[i * n + j] -= elimination_factor * a[k * n + j];
            }
            x[i] -= elimination_factor * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            x[k] -= a[k * n + j] * x[j];
        }
        x[k] /= a[k * n + k];
    }
    return 0;
}

static void set_contact_frame_entry(struct contact_frame *f, int row, int column,
                                    const struct jet *value, double sign)
{
    f->h[row][column] = sign * value->c[0];
    f->rate[0][row][column] = sign * value->c[1];
    f->rate[1][row][column] = sign * value->c[2];
}

void tact_reduced_contact_frame(const struct reduced_surface *surface, const struct chart_point *p,
                                struct contact_frame *out)
{
    struct jet c[3], by[2][3], axis[3][3];
    memset(out, 0, sizeof *out);
    tact_reduced_surface_point(surface, p, c);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            by[k][i] = tact_jet_derivative(&c[i], k);
        }
    }
    tact_jet_normalize(axis[0], by[0]); /* (5) */
    tact_jet_cross(axis[2], by[0], by[1]);
    tact_jet_normalize(axis[2], axis[2]);
    tact_jet_cross(axis[1], axis[2], axis[0]);
    for (int i = 0; i < 3; i++) {
        out->at[i] = c[i].c[0];
        for (int k = 0; k < 3; k++) {
            out->axes[3 * i + k] = axis[k][i].c[0];
        }
    }
    for (int k = 0; k < 2; k++) { /* (51) */
        struct jet x[3], z[3], value;
        for (int i = 0; i < 3; i++) {
            x[i] = tact_jet_derivative(&axis[0][i], k);
            z[i] = tact_jet_derivative(&axis[2][i], k);
        }
        value = tact_jet_dot(axis[1], z);
        set_contact_frame_entry(out, 0, k, &value, -1.0);
        value = tact_jet_dot(axis[2], x);
        set_contact_frame_entry(out, 1, k, &value, -1.0);
        value = tact_jet_dot(axis[1], x);
        set_contact_frame_entry(out, 2, k, &value, 1.0);
        value = tact_jet_dot(axis[0], by[k]);
        set_contact_frame_entry(out, 3, k, &value, 1.0);
        value = tact_jet_dot(axis[1], by[k]);
        set_contact_frame_entry(out, 4, k, &value, k ? 1.0 : 0.0);
    }
}

/* Rotates the angular and the linear half of the spatial vectors h, each half by itself. */
static void rotate_spatial_rows(const double rotation[9], const double h[SPATIAL][2],
                                double out[SPATIAL][2])
{
    for (int i = 0; i < SPATIAL; i++) {
        const int first_row_of_spatial_half = i / 3 * 3;
        const double *row = rotation + 3 * (i % 3);
        for (int k = 0; k < 2; k++) {
            out[i][k] = row[0] * h[first_row_of_spatial_half][k] +
                        row[1] * h[first_row_of_spatial_half + 1][k] +
                        row[2] * h[first_row_of_spatial_half + 2][k];
        }
    }
}

/* Transforms a spatial vector v, angular part first, from the contact frame 1c to frame 1. */
static void spatial_to_body_frame(const struct contact_frame *f, const double v[SPATIAL],
                                  double out[SPATIAL])
{
    double moved[3];
    tact_m3_mul_v3(out, f->axes, v);
    tact_m3_mul_v3(out + 3, f->axes, v + 3);
    tact_v3_cross(moved, f->at, out);
    tact_v3_add(out + 3, out + 3, moved);
}

/* Spatial cross product [a] b. */
static void spatial_cross_product(const double a[SPATIAL], const double b[SPATIAL],
                                  double out[SPATIAL])
{
    double t[3];
    tact_v3_cross(out, a, b);
    tact_v3_cross(out + 3, a, b + 3);
    tact_v3_cross(t, a + 3, b);
    tact_v3_add(out + 3, out + 3, t);
}

/* Sets H and its rate in frame 1c: phi(2,1) = -phi(1,2), a sign that the paper's appendix lacks
 * (55, 57). */
static void set_jacobian_in_contact_frame(const struct reduced_state *s,
                                          struct reduced_kinematics *k)
{
    const double c = tact_cos(s->q[4]), d = tact_sin(s->q[4]), w = s->rate[4];
    const double contact_angle_rotation[9] = {c, -d, 0.0, -d, -c, 0.0, 0.0, 0.0, -1.0};
    const double contact_angle_rotation_rate[9] = {-d * w, -c * w, 0.0, -c * w, d * w,
                                                   0.0,    0.0,    0.0, 0.0};
    double frame_jacobian_rate[2][SPATIAL][2], second[SPATIAL][2], second_rate[SPATIAL][2],
        turned[SPATIAL][2];
    memcpy(k->contact_angle_rotation, contact_angle_rotation, sizeof contact_angle_rotation);
    for (int b = 0; b < 2; b++) {
        const double *rate = s->rate + 2 * b;
        for (int i = 0; i < 2 * SPATIAL; i++) {
            frame_jacobian_rate[b][i / 2][i % 2] = k->frame[b].rate[0][i / 2][i % 2] * rate[0] +
                                                   k->frame[b].rate[1][i / 2][i % 2] * rate[1];
        }
    }
    rotate_spatial_rows(contact_angle_rotation, (const double(*)[2])k->frame[1].h, second);
    rotate_spatial_rows(contact_angle_rotation, (const double(*)[2])frame_jacobian_rate[1],
                        second_rate);
    rotate_spatial_rows(contact_angle_rotation_rate, (const double(*)[2])k->frame[1].h, turned);
    memset(k->h, 0, sizeof k->h);
    memset(k->contact_jacobian_rate, 0, sizeof k->contact_jacobian_rate);
    for (int i = 0; i < 2 * SPATIAL; i++) {
        const int r = i / 2, j = i % 2;
        k->h[r][j] = -k->frame[0].h[r][j];
        k->contact_jacobian_rate[r][j] = -frame_jacobian_rate[0][r][j];
        k->h[r][2 + j] = second[r][j];
        k->contact_jacobian_rate[r][2 + j] = second_rate[r][j] + turned[r][j];
    }
    k->h[2][4] = 1.0;
}

/* Sets H and its rate in frame 1: the rate includes the motion of the contact frame 1c over body 1.
 */
static void set_jacobian_in_body_frame(const struct reduced_state *s, struct reduced_kinematics *k)
{
    double contact_frame_twist_over_body[SPATIAL];
    for (int i = 0; i < SPATIAL; i++) {
        contact_frame_twist_over_body[i] =
            k->frame[0].h[i][0] * s->rate[0] + k->frame[0].h[i][1] * s->rate[1];
    }
    for (int j = 0; j < COORDINATES; j++) {
        double column[SPATIAL], rate[SPATIAL], moved[SPATIAL], out[SPATIAL];
        for (int i = 0; i < SPATIAL; i++) {
            column[i] = k->h[i][j];
            rate[i] = k->contact_jacobian_rate[i][j];
        }
        spatial_cross_product(contact_frame_twist_over_body, column, moved);
        for (int i = 0; i < SPATIAL; i++) {
            rate[i] += moved[i];
        }
        spatial_to_body_frame(&k->frame[0], column, out);
        for (int i = 0; i < SPATIAL; i++) {
            k->body_frame_jacobian[i][j] = out[i];
        }
        spatial_to_body_frame(&k->frame[0], rate, out);
        for (int i = 0; i < SPATIAL; i++) {
            k->body_frame_jacobian_rate[i][j] = out[i];
        }
    }
}

/* Solves the 2 x 2 system A x = y; x is NaN where A is singular, so that a mode without slip is
 * refused there. */
static void solve_2x2_system_or_set_nan(const double a[4], const double y[2], double x[2])
{
    if (!tact_smooth_solve_2x2(a, y, x)) {
        x[0] = x[1] = NAN;
    }
}

/* Sets D (31) and its rate: A D = -B, A D' = -B' - A' D, with A and B of the rows of slip. */
static void set_no_slip_rate_matrix(struct reduced_kinematics *k)
{
    const double a[4] = {k->h[3][0], k->h[3][1], k->h[4][0], k->h[4][1]};
    for (int j = 0; j < 2; j++) {
        double y[2] = {-k->h[3][2 + j], -k->h[4][2 + j]}, x[2];
        solve_2x2_system_or_set_nan(a, y, x);
        k->d[0][j] = x[0];
        k->d[1][j] = x[1];
        for (int i = 0; i < 2; i++) {
            y[i] = -k->contact_jacobian_rate[3 + i][2 + j] -
                   k->contact_jacobian_rate[3 + i][0] * x[0] -
                   k->contact_jacobian_rate[3 + i][1] * x[1];
        }
        solve_2x2_system_or_set_nan(a, y, x);
        k->d_rate[0][j] = x[0];
        k->d_rate[1][j] = x[1];
    }
}

void tact_reduced_kinematics(const struct reduced_surface surface[2], const struct reduced_state *s,
                             struct reduced_kinematics *k)
{
    for (int b = 0; b < 2; b++) {
        const struct chart_point p = {s->chart[b], {s->q[2 * b], s->q[2 * b + 1]}};
        tact_reduced_contact_frame(&surface[b], &p, &k->frame[b]);
    }
    set_jacobian_in_contact_frame(s, k);
    set_jacobian_in_body_frame(s, k);
    set_no_slip_rate_matrix(k);
}

void tact_reduced_moving_body_pose(const struct reduced_kinematics *k, double rotation[9],
                                   double at[3])
{
    double axes[9], moved[3];
    tact_reduced_contact_axes_in_world(k, axes);
    tact_m3_mul_t(rotation, axes, k->frame[0].axes);
    tact_m3_mul_v3(moved, rotation, k->frame[0].at);
    tact_v3_sub(at, k->frame[1].at, moved);
}

void tact_reduced_matrix_to_quat(const double m[9], double q[4])
{
    const double rotation_matrix_trace = m[0] + m[4] + m[8];
    int k = 0; /* the largest of w, x, y, z */
    for (int i = 1; i < 4; i++) {
        k = m[4 * (i - 1)] > (k ? m[4 * (k - 1)] : rotation_matrix_trace) ? i : k;
    }
    const double off[3] = {m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    if (k == 0) {
        q[0] = 1.0 + rotation_matrix_trace;
        tact_v3_copy(q + 1, off);
    } else {
        const int a = k - 1, b = k % 3, c = (k + 1) % 3;
        q[0] = off[a];
        q[1 + a] = 1.0 + m[4 * a] - m[4 * b] - m[4 * c];
        q[1 + b] = m[3 * a + b] + m[3 * b + a];
        q[1 + c] = m[3 * a + c] + m[3 * c + a];
    }
    tact_quat_normalize(q);
}

void tact_reduced_contact_axes_in_world(const struct reduced_kinematics *k, double axes[9])
{
    tact_m3_mul(
        axes, k->frame[1].axes,
        k->contact_angle_rotation); /* R_psi, the rotation from 2c to 1c, is its own inverse */
}

int tact_reduced_set_rates_from_pose(const struct reduced_surface surface[2],
                                     const double rotation[9], const double twist[SPATIAL],
                                     struct reduced_state *s)
{
    struct reduced_kinematics k;
    double rotation_from_contact_to_world[9], contact_angle_rotation[9],
        a[COORDINATES * COORDINATES];
    s->q[4] = 0.0;
    memset(s->rate, 0, sizeof s->rate);
    tact_reduced_kinematics(surface, s, &k);
    tact_m3_mul(rotation_from_contact_to_world, rotation, k.frame[0].axes); /* 1c to the world */
    /* transposed rotation from 1c to the world, times the rotation from 2c to the world */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            contact_angle_rotation[3 * i + j] =
                rotation_from_contact_to_world[i] * k.frame[1].axes[j] +
                rotation_from_contact_to_world[3 + i] * k.frame[1].axes[3 + j] +
                rotation_from_contact_to_world[6 + i] * k.frame[1].axes[6 + j];
        }
    }
    s->q[4] = tact_atan2(-contact_angle_rotation[1] - contact_angle_rotation[3],
                         contact_angle_rotation[0] - contact_angle_rotation[4]);
    tact_reduced_kinematics(surface, s, &k);
    for (int i = 0; i < COORDINATES; i++) {
        memcpy(a + (size_t)i * COORDINATES, k.h[i], sizeof k.h[i]);
        s->rate[i] = twist[i];
    }
    return tact_reduced_solve_linear(a, COORDINATES, s->rate);
}

double tact_reduced_chart_frame_angle(const struct contact_frame *from,
                                      const struct contact_frame *to)
{
    double x[2][3], z[3], cross[3];
    for (int i = 0; i < 3; i++) {
        x[0][i] = from->axes[3 * i];
        x[1][i] = to->axes[3 * i];
        z[i] = to->axes[3 * i + 2];
    }
    tact_v3_cross(cross, x[0], x[1]);
    return tact_atan2(tact_v3_dot(cross, z), tact_v3_dot(x[0], x[1]));
}

/* Transforms a tangential vector to axes that are rotated by an angle about z. */
static void transform_to_rotated_tangents(double v[2], double angle)
{
    const double c = tact_cos(angle), d = tact_sin(angle), x = v[0], y = v[1];
    v[0] = c * x + d * y;
    v[1] = c * y - d * x;
}

int tact_reduced_change_chart(struct tact_reduced *r, int b, int edge)
{
    struct reduced_state *s = &r->state;
    struct reduced_kinematics kinematics_in_old_chart, kinematics_in_new_chart;
    struct chart_point p = {s->chart[b], {s->q[2 * b], s->q[2 * b + 1]}};
    double a[COORDINATES * COORDINATES], twist[COORDINATES];
    tact_reduced_kinematics(r->surface, s, &kinematics_in_old_chart);
    for (int i = 0; i < COORDINATES; i++) {
        twist[i] = 0.0;
        for (int j = 0; j < COORDINATES; j++) {
            twist[i] += kinematics_in_old_chart.h[i][j] * s->rate[j];
        }
    }
    p = tact_reduced_surface_next_chart(&r->surface[b], &p, edge);
    s->chart[b] = p.chart;
    memcpy(s->q + 2 * b, p.st, sizeof p.st);
    tact_reduced_contact_frame(&r->surface[b], &p, &kinematics_in_new_chart.frame[b]);
    const double rotation = tact_reduced_chart_frame_angle(&kinematics_in_old_chart.frame[b],
                                                           &kinematics_in_new_chart.frame[b]);
    s->q[4] += rotation;
    if (b == 0) { /* velocity and direction of slip are given in frame 1c, which rotates */
        transform_to_rotated_tangents(twist, rotation);
        transform_to_rotated_tangents(twist + 3, rotation);
        transform_to_rotated_tangents(r->incipient_slip_direction, rotation);
    }
    memset(s->rate, 0, sizeof s->rate);
    tact_reduced_kinematics(r->surface, s, &kinematics_in_new_chart);
    for (int i = 0; i < COORDINATES; i++) { /* (43) */
        memcpy(a + (size_t)i * COORDINATES, kinematics_in_new_chart.h[i],
               sizeof kinematics_in_new_chart.h[i]);
        s->rate[i] = twist[i];
    }
    return tact_reduced_solve_linear(a, COORDINATES, s->rate);
}
