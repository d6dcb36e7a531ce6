/*
 * Reduced coordinates (Kry and Pai 2003): derivatives of the charts, and the relation of
 * coordinates to velocities with its rate against finite differences. Forms that the paper prints
 * otherwise (numbers in parentheses are its equations) are shown to be off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/reduced_internal.h"
#include "contact/shape/squares_internal.h"
#include "support/random.h"

static const struct tact_shape ellipsoid_shape = {.kind = TACT_SHAPE_ELLIPSOID,
                                                  .size = {0.05, 0.03, 0.02}};
static const struct tact_shape torus = {.kind = TACT_SHAPE_TORUS, .size = {0.06, 0.02}};

static struct tact_pose random_pose_in_metre_cube(void)
{
    struct tact_pose p;
    for (int i = 0; i < 4; i++) {
        p.quat_wxyz[i] = uniform(-1.0, 1.0);
    }
    tact_quat_normalize(p.quat_wxyz);
    for (int i = 0; i < 3; i++) {
        p.position[i] = uniform(-0.05, 0.05);
    }
    return p;
}

/* An ellipsoid on a torus with random coordinates, and rates none of which is small: what the
 * printed forms are off by is proportional to them. */
static void make_random_contact(struct reduced_surface surface[2], struct reduced_state *s)
{
    const struct tact_pose place[2] = {random_pose_in_metre_cube(), random_pose_in_metre_cube()};
    tact_reduced_surface_set_pose(&surface[0], &ellipsoid_shape, &place[0]);
    tact_reduced_surface_set_pose(&surface[1], &torus, &place[1]);
    s->chart[0] = (int)uniform(0.0, 5.999);
    s->chart[1] = 0;
    for (int i = 0; i < COORDINATES; i++) {
        s->q[i] = uniform(-1.0, 1.0) * (i < 2 ? 0.9 : 3.0);
        s->rate[i] = uniform(0.5, 2.0) * (uniform(-1.0, 1.0) < 0.0 ? -1.0 : 1.0);
    }
}

static struct reduced_kinematics kinematics_after_time(const struct reduced_surface surface[2],
                                                       const struct reduced_state *s, double h)
{
    struct reduced_state at = *s;
    struct reduced_kinematics k;
    for (int i = 0; i < COORDINATES; i++) {
        at.q[i] += h * s->rate[i];
    }
    tact_reduced_kinematics(surface, &at, &k);
    return k;
}

/* Largest entry of a - sign b, of 6 x 5, angular rows and then lengths in units of 20 mm. */
static double largest_entry_difference(const double a[SPATIAL][COORDINATES],
                                       const double b[SPATIAL][COORDINATES], double sign)
{
    double worst = 0.0;
    for (int i = 0; i < SPATIAL * COORDINATES; i++) {
        const int r = i / COORDINATES, c = i % COORDINATES;
        worst = fmax(worst, fabs(a[r][c] - sign * b[r][c]) * (r < 3 ? 1.0 : 50.0));
    }
    return worst;
}

/* Transforms every column from the contact frame of body 1 to the frame of body 1 (adjoint). */
static void transform_columns_to_body_frame(const struct contact_frame *f,
                                            const double h[SPATIAL][COORDINATES],
                                            double out[SPATIAL][COORDINATES])
{
    for (int j = 0; j < COORDINATES; j++) {
        double w[3], v[3], a[3], b[3], c[3];
        for (int i = 0; i < 3; i++) {
            w[i] = h[i][j];
            v[i] = h[3 + i][j];
        }
        tact_m3_mul_v3(a, f->axes, w);
        tact_m3_mul_v3(b, f->axes, v);
        tact_v3_cross(c, f->at, a);
        for (int i = 0; i < 3; i++) {
            out[i][j] = a[i];
            out[3 + i][j] = b[i] + c[i];
        }
    }
}

/* Largest difference of sign H q' from a velocity, both in the frame of body 1. */
static double relative_velocity_error_of_jacobian(const double h[SPATIAL][COORDINATES],
                                                  const double rate[COORDINATES], double sign,
                                                  const double is[SPATIAL])
{
    double worst = 0.0;
    for (int i = 0; i < SPATIAL; i++) {
        double sum = 0.0;
        for (int j = 0; j < COORDINATES; j++) {
            sum += h[i][j] * rate[j];
        }
        worst = fmax(worst, fabs(sign * sum - is[i]) * (i < 3 ? 1.0 : 50.0));
    }
    return worst;
}

/* H q' is phi(2,1), the velocity of body 1 relative to body 2, from the poses a moment before and
 * after; the appendix's H (55, 56) has the other sign. So has H_3,5 alone, 1 before (37) and -1 in
 * (54): H that has the right sign but for that entry is off too. */
static void coordinate_rates_give_the_relative_velocity(void **state)
{
    (void)state;
    const double h = 1e-5;
    double worst = 0.0, printed = INFINITY, printed_entry = INFINITY;
    for (int n = 0; n < 200; n++) {
        struct reduced_surface surface[2];
        struct reduced_state s;
        make_random_contact(surface, &s);
        const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
        double turn[3][9], at[3][3], moved[9], with_entry[SPATIAL][COORDINATES],
            in_body_frame[SPATIAL][COORDINATES];
        for (int i = 0; i < 3; i++) {
            const struct reduced_kinematics side = kinematics_after_time(surface, &s, h * (i - 1));
            tact_reduced_moving_body_pose(&side, turn[i], at[i]);
        }
        for (int i = 0; i < 9; i++) {
            moved[i] = 0.0; /* E^T dE/dt */
            for (int m = 0; m < 3; m++) {
                moved[i] +=
                    turn[1][3 * m + i / 3] * (turn[2][3 * m + i % 3] - turn[0][3 * m + i % 3]);
            }
            moved[i] /= 2.0 * h;
        }
        double is[6] = {moved[7], moved[2], moved[3]}, velocity[3];
        tact_v3_sub(velocity, at[2], at[0]);
        tact_v3_scale(velocity, velocity, 0.5 / h);
        tact_m3_tmul_v3(is + 3, turn[1], velocity);
        memcpy(with_entry, k.h, sizeof with_entry);
        assert_true(fabs(with_entry[2][4] - 1.0) < 1e-15);
        with_entry[2][4] = -1.0;
        transform_columns_to_body_frame(&k.frame[0], (const double(*)[COORDINATES])with_entry,
                                        in_body_frame);
        worst = fmax(worst,
                     relative_velocity_error_of_jacobian(k.body_frame_jacobian, s.rate, 1.0, is));
        printed = fmin(
            printed, relative_velocity_error_of_jacobian(k.body_frame_jacobian, s.rate, -1.0, is));
        printed_entry =
            fmin(printed_entry, relative_velocity_error_of_jacobian(
                                    (const double(*)[COORDINATES])in_body_frame, s.rate, 1.0, is));
        /* the coordinates give no velocity along the normal */
        for (int j = 0; j < COORDINATES; j++) {
            assert_true(fabs(k.h[5][j]) < 1e-15);
        }
    }
    printf("H q' to %.1e; with the printed sign off by at least %.2f, with that of H_3,5 alone by "
           "%.2f\n",
           worst, printed, printed_entry);
    assert_true(worst < 1e-6 && printed > 0.1 && printed_entry > 0.1);
}

/* R_psi (7) is its own inverse, which makes it an involution; it is not idempotent. */
static void chart_alignment_matrix_is_an_involution(void **state)
{
    (void)state;
    struct reduced_surface surface[2];
    struct reduced_state s;
    make_random_contact(surface, &s);
    const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
    double square[9], off = 0.0, idempotent = 0.0;
    tact_m3_mul(square, k.contact_angle_rotation, k.contact_angle_rotation);
    for (int i = 0; i < 9; i++) {
        off = fmax(off, fabs(square[i] - (i % 4 ? 0.0 : 1.0)));
        idempotent = fmax(idempotent, fabs(square[i] - k.contact_angle_rotation[i]));
    }
    assert_true(off < 1e-15 && idempotent > 1.0);
}

/* The rate H' of the velocity relation, in the contact frame 1c and in the frame of body 1, against
 * differences. In frame 1 it is not the adjoint Ad of the H' in 1c; and (57) transforms the rates
 * of body 2 by the Ad of 1 from 1c instead of that of 1c from 2c. */
static void rate_of_the_velocity_relation_matches_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    double worst = 0.0, simple = INFINITY, printed = INFINITY;
    for (int n = 0; n < 200; n++) {
        struct reduced_surface surface[2];
        struct reduced_state s;
        double by[2][SPATIAL][COORDINATES], other[SPATIAL][COORDINATES];
        make_random_contact(surface, &s);
        const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
        const struct reduced_kinematics low = kinematics_after_time(surface, &s, -h),
                                        high = kinematics_after_time(surface, &s, h);
        for (int i = 0; i < SPATIAL * COORDINATES; i++) {
            const int r = i / COORDINATES, c = i % COORDINATES;
            by[0][r][c] = (high.h[r][c] - low.h[r][c]) / (2.0 * h);
            by[1][r][c] =
                (high.body_frame_jacobian[r][c] - low.body_frame_jacobian[r][c]) / (2.0 * h);
        }
        worst = fmax(worst, largest_entry_difference(k.contact_jacobian_rate, by[0], 1.0));
        worst = fmax(worst, largest_entry_difference(k.body_frame_jacobian_rate, by[1], 1.0));
        transform_columns_to_body_frame(&k.frame[0], k.contact_jacobian_rate, other);
        simple = fmin(simple, largest_entry_difference(other, by[1], 1.0));
        memcpy(other, k.contact_jacobian_rate, sizeof other);
        for (int i = 0; i < SPATIAL * 2; i++) { /* second term of the paper's (57), as printed */
            double own[2] = {0.0, 0.0};
            const int half = i / 2 / 3 * 3, c = i % 2;
            for (int m = 0; m < 3; m++) {
                const double rate = k.frame[1].rate[0][half + m][c] * s.rate[2] +
                                    k.frame[1].rate[1][half + m][c] * s.rate[3];
                own[0] += k.contact_angle_rotation[3 * (i / 2 % 3) + m] * rate;
                own[1] += k.frame[0].axes[3 * (i / 2 % 3) + m] * rate;
            }
            other[i / 2][2 + c] += own[1] - own[0];
        }
        printed = fmin(printed, largest_entry_difference(other, by[0], 1.0));
    }
    printf("H' to %.1e; Ad H' off by at least %.2f, (57) by %.1e\n", worst, simple, printed);
    assert_true(worst < 1e-5 && simple > 0.05 && printed > 1e-3);
}

/* The rate of D (31), by which the rates of body 1 follow without slip, against differences. D' = 0
 * is wrong: rolling changes D. */
static void rate_of_the_no_slip_matrix_matches_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    double worst = 0.0, zero = 0.0; /* zero: mean error of D' = 0 */
    for (int n = 0; n < 200; n++) {
        struct reduced_surface surface[2];
        struct reduced_state s;
        make_random_contact(surface, &s);
        const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
        const struct reduced_kinematics low = kinematics_after_time(surface, &s, -h),
                                        high = kinematics_after_time(surface, &s, h);
        double largest = 0.0, size = 1.0, off = 0.0;
        for (int i = 0; i < 4; i++) {
            const double by = (high.d[i / 2][i % 2] - low.d[i / 2][i % 2]) / (2.0 * h);
            off = fmax(off, fabs(k.d_rate[i / 2][i % 2] - by));
            size = fmax(size, fabs(by));
            largest = fmax(largest, fabs(by));
        }
        worst = fmax(worst, off / size);
        zero += largest / size / 200.0;
    }
    printf("D' to %.1e of itself; D' = 0 off by %.2f in the mean\n", worst, zero);
    assert_true(worst < 1e-5 && zero > 0.1);
}

/* Transforms a wrench from the contact frame of body 1 to the frame of body 1. */
static void transform_wrench_to_body_frame(const struct contact_frame *f,
                                           const double wrench[SPATIAL], double out[SPATIAL])
{
    double moment_of_contact_force[3];
    tact_m3_mul_v3(out, f->axes, wrench);
    tact_m3_mul_v3(out + 3, f->axes, wrench + 3);
    tact_v3_cross(moment_of_contact_force, f->at, out + 3);
    tact_v3_add(out, out, moment_of_contact_force);
}

/* Largest difference of two wrenches, torques over 20 mm. */
static double wrench_difference(const double a[SPATIAL], const double b[SPATIAL])
{
    double worst = 0.0;
    for (int i = 0; i < SPATIAL; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]) * (i < 3 ? 50.0 : 1.0));
    }
    return worst;
}

/* The contact's wrench is what Newton's and Euler's equations leave, the first row of (19): M phi'
 * - [phi]^T M phi - f_ext. The second row, from which the paper says it is computed, has phi' = H
 * q'' + H' q' and no wrench: neither phi' nor M phi' is that. Without friction the wrench is a
 * normal force. */
static void first_row_of_equation_19_gives_the_contact_wrench(void **state)
{
    (void)state;
    double worst = 0.0, tangential = 0.0, second = INFINITY, with_mass = INFINITY;
    for (int n = 0; n < 200; n++) {
        struct tact_reduced r = {
            .options.gravity = {uniform(-3.0, 3.0), uniform(-3.0, 3.0), -9.81},
            .body = {.mass = 0.3, .inertia = {4e-5, 0, 0, 0, 9e-5, 0, 0, 0, 11e-5}}};
        struct reduced_state s;
        struct accelerations_and_contact_wrench motion_with_forces;
        double phi[SPATIAL] = {0.0}, rate[SPATIAL] = {0.0}, first[SPATIAL], mass_times[SPATIAL];
        double wrench[SPATIAL], momentum[3], change[3], turn[9], at[3], weight[3];
        make_random_contact(r.surface, &s);
        const struct reduced_kinematics k = kinematics_after_time(r.surface, &s, 0.0);
        assert_int_equal(tact_reduced_solve_motion_equations(&r, &s, &k, TACT_REDUCED_SLIDING,
                                                             &motion_with_forces),
                         0);
        transform_wrench_to_body_frame(&k.frame[0], motion_with_forces.wrench, wrench);
        for (int i = 0; i < SPATIAL; i++) {
            for (int j = 0; j < COORDINATES; j++) {
                phi[i] += k.body_frame_jacobian[i][j] * s.rate[j];
                rate[i] +=
                    k.body_frame_jacobian[i][j] * motion_with_forces.independent_accelerations[j] +
                    k.body_frame_jacobian_rate[i][j] * s.rate[j];
            }
        }
        tact_m3_mul_v3(mass_times, r.body.inertia, rate);
        tact_v3_scale(mass_times + 3, rate + 3, r.body.mass);
        tact_m3_mul_v3(momentum, r.body.inertia, phi);
        tact_v3_cross(change, phi, momentum);
        tact_v3_add(first, mass_times, change);
        tact_reduced_moving_body_pose(&k, turn, at);
        tact_m3_tmul_v3(weight, turn, r.options.gravity);
        tact_v3_cross(change, phi, phi + 3);
        tact_v3_sub(change, change, weight);
        tact_v3_copy(first + 3, mass_times + 3);
        tact_v3_axpy(first + 3, r.body.mass, change);
        worst = fmax(worst, wrench_difference(wrench, first));
        second = fmin(second, wrench_difference(wrench, rate));
        with_mass = fmin(with_mass, wrench_difference(wrench, mass_times));
        for (int i = 0; i < 5; i++) {
            tangential =
                fmax(tangential, fabs(motion_with_forces.wrench[i]) * (i < 3 ? 50.0 : 1.0));
        }
    }
    printf("f_c by the first row of (19) to %.1e N, %.1e of it not along the normal; by the second "
           "off by at least %.2f, with the mass by %.2f N\n",
           worst, tangential, second, with_mass);
    assert_true(worst < 1e-9 && tangential < 1e-9 && second > 0.1 && with_mass > 0.1);
}

/* Without slip the rates of body 1 follow from those of body 2, but not where the chart of body 1
 * is singular: there they are not a number. */
static void singular_chart_gives_no_coordinate_rates(void **state)
{
    (void)state;
    const struct tact_shape point = {.kind = TACT_SHAPE_ELLIPSOID};
    const struct tact_pose here = tact_pose_identity();
    struct reduced_surface surface[2];
    struct reduced_state s;
    make_random_contact(surface, &s);
    tact_reduced_surface_set_pose(&surface[0], &point, &here);
    const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(k.d[i / 2][i % 2]) && isnan(k.d_rate[i / 2][i % 2]));
    }
}

/* The correction of psi (42) by the arc tangent keeps its digits; by acos, as printed, it loses
 * half of them near 0. */
static void angle_between_charts_keeps_its_digits(void **state)
{
    (void)state;
    struct reduced_surface surface[2];
    struct reduced_state s;
    make_random_contact(surface, &s);
    const struct reduced_kinematics k = kinematics_after_time(surface, &s, 0.0);
    struct contact_frame turned = k.frame[0];
    const double angle = -3e-9;
    for (int i = 0; i < 3; i++) {
        const double *row = k.frame[0].axes + 3 * i;
        turned.axes[3 * i] = cos(angle) * row[0] + sin(angle) * row[1];
        turned.axes[3 * i + 1] = cos(angle) * row[1] - sin(angle) * row[0];
    }
    double dot = 0.0;
    for (int i = 0; i < 3; i++) {
        dot += k.frame[0].axes[3 * i] * turned.axes[3 * i];
    }
    const double angle_by_acos = -acos(fmin(dot, 1.0)),
                 is = tact_reduced_chart_frame_angle(&k.frame[0], &turned);
    printf("a turn of %g: %.12g, by acos %.3g\n", angle, is, angle_by_acos);
    assert_true(fabs(is - angle) < 1e-15 && fabs(angle_by_acos - angle) > 1e-9);
}

/* Third derivatives of a chart against differences of the second over h, of the size of
 * the second. */
static double third_derivative_error(const struct reduced_surface *surface, struct chart_point p,
                                     double h)
{
    static const int third_derivative_index[4] = {6, 7, 8, 9},
                     of[4][2] = {{3, 0}, {4, 0}, {5, 0}, {5, 1}};
    static const double second[6] = {1.0, 1.0, 1.0, 2.0, 1.0, 2.0},
                        third[10] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 6.0, 2.0, 2.0, 6.0};
    struct jet c[3], side[2][3];
    double worst = 0.0, size = 0.0;
    tact_reduced_surface_point(surface, &p, c);
    for (int t = 0; t < 4; t++) {
        for (int k = 0; k < 2; k++) {
            struct chart_point q = p;
            q.st[of[t][1]] += k ? h : -h;
            tact_reduced_surface_point(surface, &q, side[k]);
        }
        for (int i = 0; i < 3; i++) {
            const double by =
                second[of[t][0]] * (side[1][i].c[of[t][0]] - side[0][i].c[of[t][0]]) / (2.0 * h);
            worst = fmax(
                worst,
                fabs(third[third_derivative_index[t]] * c[i].c[third_derivative_index[t]] - by));
            size = fmax(size, fabs(second[of[t][0]] * c[i].c[of[t][0]]));
        }
    }
    return worst / size;
}

/* 1 where the pieces of a subdivision surface meet, over which third derivatives jump: at eighths
 * of a square of Catmull and Clark's, and of the barycentric coordinates of Loop's triangles, whose
 * thirds are the squares. */
static int is_on_subdivision_piece_border(const double st[2])
{
    const double a = st[0] * (0.5 - st[1] / 6.0), b = st[1] * (0.5 - st[0] / 6.0);
    const double at[5] = {st[0], st[1], a, b, a + b};
    int is_on_piece_border = 0;
    for (int i = 0; i < 5; i++) {
        is_on_piece_border |= fabs(8.0 * at[i] - nearbyint(8.0 * at[i])) < 1e-3;
    }
    return is_on_piece_border;
}

static struct tact_charts *make_subdivision_charts(const char *text)
{
    struct tact_charts *charts = NULL;
    assert_int_equal(tact_charts_subdivision(text, strlen(text), "mesh", 1.0, &charts, NULL), 0);
    return charts;
}

static void third_derivatives_of_charts_match_differences(void **state)
{
    (void)state;
    static const char cube[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n"
                               "v 0 1 1\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n"
                               "f 4 1 5 8\n";
    static const char octahedron_obj_text[] =
        "v 1 0 0\nv -1 0 0\nv 0 1.2 0\nv 0 -1 0\nv 0 0 0.8\nv 0 0 -1\n"
        "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\n"
        "f 1 4 6\n";
    static const double profile[][2] = {
        {0.0, -0.03}, {0.02, -0.02}, {0.03, 0.0}, {0.015, 0.02}, {0.0, 0.03}};
    struct tact_charts *charts[3] = {make_subdivision_charts(cube),
                                     make_subdivision_charts(octahedron_obj_text), NULL};
    const struct tact_pose here = random_pose_in_metre_cube();
    double worst[5] = {0.0};
    assert_int_equal(tact_charts_revolution(profile, 5, &charts[2], NULL), 0);
    const struct tact_shape shape[5] = {{.kind = TACT_SHAPE_SUBDIVISION, .charts = charts[0]},
                                        {.kind = TACT_SHAPE_SUBDIVISION, .charts = charts[1]},
                                        {.kind = TACT_SHAPE_REVOLUTION, .charts = charts[2]},
                                        ellipsoid_shape,
                                        torus};
    for (int i = 0; i < 1000; i++) {
        const int k = i % 5;
        struct reduced_surface surface;
        struct chart_point p = {.st = {uniform(0.2, 0.45), uniform(0.2, 0.45)}};
        tact_reduced_surface_set_pose(&surface, &shape[k], &here);
        if (k == 2) { /* place by arc parameter and azimuth, or by a point near the axis */
            const double s = uniform(0.004, 0.08);
            p = tact_reduced_surface_find_chart_point(&surface, (double[3]){s, 0.6, 0.8});
            int edge;
            if (fabs(tact_reduced_surface_edge_distance(&surface, &p, &edge)) < 1e-3) {
                continue;
            }
        } else if (k < 2 && is_on_subdivision_piece_border(p.st)) {
            continue;
        } else if (k < 2) {
            p.chart = (int)uniform(0.0, ((const struct square_charts *)charts[k])->count - 0.001);
        }
        worst[k] = fmax(worst[k], third_derivative_error(&surface, p, k == 2 ? 1e-6 : 1e-4));
    }
    printf("third derivatives: Catmull-Clark %.1e, Loop %.1e, revolution %.1e, ellipsoid %.1e, "
           "torus %.1e\n",
           worst[0], worst[1], worst[2], worst[3], worst[4]);
    for (int k = 0; k < 5; k++) {
        assert_true(worst[k] < 1e-4);
        tact_charts_free(k < 3 ? charts[k] : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinate_rates_give_the_relative_velocity),
        cmocka_unit_test(chart_alignment_matrix_is_an_involution),
        cmocka_unit_test(rate_of_the_velocity_relation_matches_differences),
        cmocka_unit_test(rate_of_the_no_slip_matrix_matches_differences),
        cmocka_unit_test(first_row_of_equation_19_gives_the_contact_wrench),
        cmocka_unit_test(singular_chart_gives_no_coordinate_rates),
        cmocka_unit_test(angle_between_charts_keeps_its_digits),
        cmocka_unit_test(third_derivatives_of_charts_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
