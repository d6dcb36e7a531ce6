/*
 * Two forms of the equations of closest points: that of the least distance (Nelson, Johnson and
 * Cohen 1999), which Kry and Pai use, is singular where the surfaces touch; that of the normals
 * (Baraff 1990), as in the library, is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/reduced_internal.h"
#include "support/random.h"

#define RESIDUAL_LENGTH 0.02        /* length by which residuals are divided [m] */
#define COLD_START_ROTATION 0.4     /* rotation of the normals at a cold start [rad] */
#define WARM_START_ROTATION 3e-3    /* rotation of the normals from one tick to the next [rad] */
#define CONVERGED_NEWTON_STEP 1e-10 /* last Newton step at convergence, over RESIDUAL_LENGTH */
#define SAME_POINT_RATIO 1e-7       /* distance of equal points, over RESIDUAL_LENGTH */
#define MAX_NORMAL_ROTATION 0.5     /* largest rotation of a normal in a Newton step [rad] */

enum { UNKNOWNS = 4, MAX_STEPS = 40, NOT_CONVERGED = 1000 };
enum equation_form { NORMALS, LEAST_DISTANCE };

/* A surface at a point: tangents t and its Weingarten map over them, world. */
struct surface_point_frame {
    double at[3], normal[3], t[2][3], l[2][2];
};

static void compute_surface_point_frame(const struct smooth_pair *pair, int k, const double *place,
                                        struct surface_point_frame *out)
{
    struct tact_surface_point p;
    double u[2][3], bent[3];
    assert_int_equal(tact_smooth_surface_point(pair, k, place, &p), 0);
    tact_m3_mul_v3(out->at, pair->rotation[k], p.at);
    tact_m3_mul_v3(out->normal, pair->rotation[k], p.normal);
    tact_v3_tangents(out->normal, out->t[0], out->t[1]);
    for (int i = 0; i < 2; i++) {
        tact_m3_tmul_v3(u[i], pair->rotation[k], out->t[i]);
    }
    for (int i = 0; i < 2; i++) {
        tact_m3_mul_v3(bent, p.bend, u[i]);
        out->l[0][i] = tact_v3_dot(u[0], bent);
        out->l[1][i] = tact_v3_dot(u[1], bent);
    }
}

static void move_surface_point(const struct smooth_pair *pair, int k,
                               const struct surface_point_frame *s, const double y[2],
                               double place[3])
{
    double step[3], local[3];
    struct tact_surface_point p;
    tact_v3_scale(step, s->t[0], y[0]);
    tact_v3_axpy(step, y[1], s->t[1]);
    tact_m3_tmul_v3(local, pair->rotation[k], step);
    tact_v3_add(place, place, local);
    assert_int_equal(tact_smooth_surface_point(pair, k, place, &p), 0);
    tact_v3_copy(place, p.at);
}

/* Equations t_Ai e of the distance e from B's point to A's, along A's tangents (k = 0) or B's, and
 * their derivatives by the steps of both points along their tangents. */
static void least_distance_equations(const struct surface_point_frame s[2], const double e[3],
                                     int k, double f[2], double (*j)[UNKNOWNS])
{
    double along = tact_v3_dot(s[k].normal, e);
    for (int i = 0; i < 2; i++) {
        f[i] = tact_v3_dot(s[k].t[i], e);
        for (int m = 0; m < UNKNOWNS; m++) {
            const struct surface_point_frame *of = &s[m / 2];
            j[i][m] = (m < 2 ? 1.0 : -1.0) * tact_v3_dot(s[k].t[i], of->t[m % 2]);
            j[i][m] -= m / 2 == k ? along * s[k].l[i][m % 2] : 0.0;
        }
    }
}

/* Equations t_Bi n_A, which are 0 where the normals are opposite, in units of RESIDUAL_LENGTH. */
static void opposite_normal_equations(const struct surface_point_frame s[2], double f[2],
                                      double (*j)[UNKNOWNS])
{
    double cosine = tact_v3_dot(s[0].normal, s[1].normal);
    for (int i = 0; i < 2; i++) {
        f[i] = RESIDUAL_LENGTH * tact_v3_dot(s[1].t[i], s[0].normal);
        for (int m = 0; m < 2; m++) {
            j[i][m] = 0.0;
            for (int n = 0; n < 2; n++) {
                j[i][m] += RESIDUAL_LENGTH * tact_v3_dot(s[1].t[i], s[0].t[n]) * s[0].l[n][m];
            }
            j[i][2 + m] = -RESIDUAL_LENGTH * cosine * s[1].l[i][m];
        }
    }
}

static void contact_equations(const struct smooth_pair *pair, enum equation_form equation_form,
                              double place[2][3], struct surface_point_frame s[2],
                              double f[UNKNOWNS], double j[UNKNOWNS][UNKNOWNS])
{
    double e[3];
    for (int k = 0; k < 2; k++) {
        compute_surface_point_frame(pair, k, place[k], &s[k]);
    }
    tact_v3_sub(e, s[0].at, s[1].at);
    tact_v3_add(e, e, pair->offset_from_origin_b_to_origin_a);
    least_distance_equations(s, e, 0, f, j);
    if (equation_form == NORMALS) {
        opposite_normal_equations(s, f + 2, j + 2);
    } else {
        least_distance_equations(s, e, 1, f + 2, j + 2);
    }
}

/* Newton's method; returns its number of steps to the known points, or NOT_CONVERGED. */
static int count_newton_steps(const struct smooth_pair *pair, enum equation_form equation_form,
                              double start[2][3], double known[2][3])
{
    double place[2][3], f[UNKNOWNS], j[UNKNOWNS][UNKNOWNS];
    memcpy(place, start, sizeof place);
    for (int step = 1; step <= MAX_STEPS; step++) {
        struct surface_point_frame s[2];
        double size = 0.0, turn = 0.0, off = 0.0;
        contact_equations(pair, equation_form, place, s, f, j);
        if (tact_reduced_solve_linear(j[0], UNKNOWNS, f)) {
            return NOT_CONVERGED;
        }
        for (int k = 0; k < 2; k++) {
            const double *y = f + 2 * k;
            size = fmax(size, hypot(y[0], y[1]));
            turn = fmax(turn, hypot(s[k].l[0][0] * y[0] + s[k].l[0][1] * y[1],
                                    s[k].l[1][0] * y[0] + s[k].l[1][1] * y[1]));
        }
        for (int k = 0; k < 2; k++) {
            double share = turn > MAX_NORMAL_ROTATION ? MAX_NORMAL_ROTATION / turn : 1.0, d[3];
            const double y[2] = {-share * f[2 * k], -share * f[2 * k + 1]};
            move_surface_point(pair, k, &s[k], y, place[k]);
            tact_v3_sub(d, place[k], known[k]);
            off = fmax(off, tact_v3_norm(d));
        }
        if (size < CONVERGED_NEWTON_STEP * RESIDUAL_LENGTH) {
            return off < SAME_POINT_RATIO * RESIDUAL_LENGTH ? step : NOT_CONVERGED;
        }
    }
    return NOT_CONVERGED;
}

/* Product of the Frobenius norms of a matrix and its inverse; INFINITY where it is singular. */
static double jacobian_condition_number(double j[UNKNOWNS][UNKNOWNS])
{
    double norm = 0.0, inverse_norm = 0.0;
    for (int i = 0; i < UNKNOWNS; i++) {
        double a[UNKNOWNS][UNKNOWNS], x[UNKNOWNS] = {0.0};
        memcpy(a, j, sizeof a);
        x[i] = 1.0;
        if (tact_reduced_solve_linear(a[0], UNKNOWNS, x)) {
            return INFINITY;
        }
        for (int k = 0; k < UNKNOWNS; k++) {
            norm += j[i][k] * j[i][k];
            inverse_norm += x[k] * x[k];
        }
    }
    return sqrt(norm * inverse_norm);
}

/* Determinant of the last n rows and of the columns in `used`, by expansion along the first row. */
static double determinant_of_minor(double (*j)[UNKNOWNS], int row, int used)
{
    double sum = 0.0, sign = 1.0;
    if (row == UNKNOWNS) {
        return 1.0;
    }
    for (int c = 0; c < UNKNOWNS; c++) {
        if (!(used & 1 << c)) {
            sum += sign * j[row][c] * determinant_of_minor(j, row + 1, used | 1 << c);
            sign = -sign;
        }
    }
    return sum;
}

/* Two ellipsoids with a known pair of closest points, the gap between which is along n. */
struct pair_with_known_closest_points {
    struct tact_shape a, b;
    struct smooth_pair pair;
    double place[2][3], n[3];
};

/* Points at which the outward normals are -n and n, rotated by `turn` about random axes. */
static void set_places_with_rotated_opposite_normals(const struct pair_with_known_closest_points *k,
                                                     double turn, double place[2][3])
{
    for (int i = 0; i < 2; i++) {
        double t[2][3], to[3], local[3], angle = uniform(0.0, 6.28);
        tact_v3_tangents(k->n, t[0], t[1]);
        tact_v3_scale(to, k->n, (i ? 1.0 : -1.0) * cos(turn));
        tact_v3_axpy(to, sin(turn) * cos(angle), t[0]);
        tact_v3_axpy(to, sin(turn) * sin(angle), t[1]);
        tact_m3_tmul_v3(local, k->pair.rotation[i], to);
        assert_int_equal(tact_shape_support(i ? &k->b : &k->a, local, place[i]), 0);
    }
}

static void make_pair_with_known_closest_points(double gap,
                                                struct pair_with_known_closest_points *k)
{
    const double size[6] = {0.03, 0.02, 0.016, 0.026, 0.018, 0.022};
    struct tact_pose pa = random_pose(0.0), pb = random_pose(0.0);
    double at[3];
    k->a = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {size[0], size[1], size[2]}};
    k->b = (struct tact_shape){.kind = TACT_SHAPE_ELLIPSOID, .size = {size[3], size[4], size[5]}};
    tact_v3_set(k->n, uniform(-1.0, 1.0), uniform(-1.0, 1.0), uniform(-1.0, 1.0));
    tact_v3_normalize(k->n, k->n);
    tact_smooth_set_pair(&k->a, &pa, &k->b, &pb, &k->pair);
    set_places_with_rotated_opposite_normals(k, 0.0, k->place);
    tact_m3_mul_v3(at, k->pair.rotation[1], k->place[1]);
    tact_v3_axpy(at, gap, k->n);
    tact_v3_copy(k->pair.offset_from_origin_b_to_origin_a, at);
    tact_m3_mul_v3(at, k->pair.rotation[0], k->place[0]);
    tact_v3_sub(k->pair.offset_from_origin_b_to_origin_a, k->pair.offset_from_origin_b_to_origin_a,
                at);
}

/* The derivatives against central differences, away from the solution. */
static void derivatives_of_contact_equations_are_exact(void **state)
{
    (void)state;
    const double h = 1e-7;
    for (int n = 0; n < 40; n++) {
        struct pair_with_known_closest_points k;
        struct surface_point_frame s[2], other[2];
        double place[2][3], f[UNKNOWNS], j[UNKNOWNS][UNKNOWNS];
        make_pair_with_known_closest_points(1e-3 * (n % 3 - 1), &k);
        const enum equation_form equation_form = n % 2 ? LEAST_DISTANCE : NORMALS;
        set_places_with_rotated_opposite_normals(&k, COLD_START_ROTATION, place);
        contact_equations(&k.pair, equation_form, place, s, f, j);
        for (int m = 0; m < UNKNOWNS; m++) {
            double side[2][UNKNOWNS], unused[UNKNOWNS][UNKNOWNS];
            for (int i = 0; i < 2; i++) {
                double moved[2][3], y[2] = {0.0, 0.0};
                memcpy(moved, place, sizeof moved);
                y[m % 2] = i ? h : -h;
                move_surface_point(&k.pair, m / 2, &s[m / 2], y, moved[m / 2]);
                contact_equations(&k.pair, equation_form, moved, other, side[i], unused);
                /* derivatives along the tangents of s, which move with it */
                for (int r = 0; r < 2; r++) {
                    double e[3];
                    tact_v3_sub(e, other[0].at, other[1].at);
                    tact_v3_add(e, e, k.pair.offset_from_origin_b_to_origin_a);
                    for (int b = 0; b < 2; b++) {
                        const double *t = s[b].t[r], *up = other[b].normal;
                        double across[3];
                        tact_v3_copy(across, t);
                        tact_v3_axpy(across, -tact_v3_dot(t, up), up);
                        if (n % 2 == NORMALS && b) {
                            side[i][2 + r] = RESIDUAL_LENGTH * tact_v3_dot(across, other[0].normal);
                        } else {
                            side[i][2 * b + r] = tact_v3_dot(across, e);
                        }
                    }
                }
            }
            for (int i = 0; i < UNKNOWNS; i++) {
                assert_true(fabs(j[i][m] - (side[1][i] - side[0][i]) / (2.0 * h)) < 1e-6);
            }
        }
    }
}

/* At the solution the determinant is g^2 det(L_A + L_B + g L_A L_B) for the least distance, and
 * RESIDUAL_LENGTH^2 times the last factor for the normals. */
static void determinants_of_contact_equations_match_closed_forms(void **state)
{
    (void)state;
    const double gaps[] = {1e-3, 1e-5, 0.0, -1e-5};
    for (int n = 0; n < 200; n++) {
        struct pair_with_known_closest_points k;
        struct surface_point_frame s[2];
        struct smooth_contact c;
        double f[UNKNOWNS], j[UNKNOWNS][UNKNOWNS], gap = gaps[n % 4], m[4];
        make_pair_with_known_closest_points(gap, &k);
        memcpy(c.place, k.place, sizeof c.place);
        assert_int_equal(tact_smooth_refine_closest_points(&k.pair, &c), 0);
        assert_true(fabs(c.gap - gap) < 1e-15);
        for (int i = 0; i < 4; i++) {
            const double *a = c.bend[0] + i / 2 * 2, *b = c.bend[1] + i % 2;
            m[i] = c.bend[0][i] + c.bend[1][i] + gap * (a[0] * b[0] + a[1] * b[2]);
        }
        double exact = m[0] * m[3] - m[1] * m[2];
        contact_equations(&k.pair, LEAST_DISTANCE, k.place, s, f, j);
        assert_true(fabs(determinant_of_minor(j, 0, 0) - gap * gap * exact) < 1e-14);
        contact_equations(&k.pair, NORMALS, k.place, s, f, j);
        assert_true(
            fabs(fabs(determinant_of_minor(j, 0, 0)) / (RESIDUAL_LENGTH * RESIDUAL_LENGTH * exact) -
                 1.0) < 1e-10);
    }
}

/* Cost of both forms at a gap: the median condition number at the solution, the most steps and the
 * share of the starts that fail. */
struct cost {
    double condition_number_at_solution;
    int steps[2], failed[2];
};

static void measure_equation_forms(double gap, int trial_count, struct cost cost[2])
{
    memset(cost, 0, 2 * sizeof *cost);
    for (int n = 0; n < trial_count; n++) {
        struct pair_with_known_closest_points k;
        double start[2][2][3];
        make_pair_with_known_closest_points(gap, &k);
        set_places_with_rotated_opposite_normals(&k, COLD_START_ROTATION, start[0]);
        set_places_with_rotated_opposite_normals(&k, WARM_START_ROTATION, start[1]);
        for (enum equation_form equation_form = NORMALS; equation_form <= LEAST_DISTANCE;
             equation_form++) {
            struct surface_point_frame s[2];
            double f[UNKNOWNS], j[UNKNOWNS][UNKNOWNS];
            contact_equations(&k.pair, equation_form, k.place, s, f, j);
            cost[equation_form].condition_number_at_solution = fmax(
                cost[equation_form].condition_number_at_solution, jacobian_condition_number(j));
            for (int i = 0; i < 2; i++) {
                int steps = count_newton_steps(&k.pair, equation_form, start[i], k.place);
                cost[equation_form].failed[i] += steps == NOT_CONVERGED;
                cost[equation_form].steps[i] =
                    steps < NOT_CONVERGED && steps > cost[equation_form].steps[i]
                        ? steps
                        : cost[equation_form].steps[i];
            }
        }
        struct smooth_contact c;
        memcpy(c.place, start[1], sizeof c.place);
        assert_int_equal(tact_smooth_refine_closest_points(&k.pair, &c), 0);
        assert_true(fabs(c.gap - gap) < 1e-15);
    }
}

static void only_the_least_distance_equations_are_singular_at_touch(void **state)
{
    (void)state;
    const double gaps[] = {1e-3, 1e-5, 1e-7, 0.0, -1e-5};
    const int trial_count = campaign_trial_count(200, 20000);
    struct cost cost[5][2];
    for (int i = 0; i < 5; i++) {
        measure_equation_forms(gaps[i], trial_count, cost[i]);
        for (enum equation_form equation_form = NORMALS; equation_form <= LEAST_DISTANCE;
             equation_form++) {
            const struct cost *c = &cost[i][equation_form];
            printf("gap %7.1e m, %-14s: condition up to %.1e, up to %d steps from 0.4 rad (%d of "
                   "%d fail), %d from 3 mrad (%d fail)\n",
                   gaps[i], equation_form ? "least distance" : "normals",
                   c->condition_number_at_solution, c->steps[0], c->failed[0], trial_count,
                   c->steps[1], c->failed[1]);
        }
        assert_true(cost[i][NORMALS].failed[0] == 0 && cost[i][NORMALS].failed[1] == 0);
        assert_true(cost[i][NORMALS].steps[0] <= 8 && cost[i][NORMALS].steps[1] <= 5);
        assert_true(cost[i][NORMALS].condition_number_at_solution < 10.0);
    }
    for (int i = 0; i < 2; i++) { /* as 1 / g */
        double condition_number_growth = cost[i + 1][LEAST_DISTANCE].condition_number_at_solution /
                                         cost[i][LEAST_DISTANCE].condition_number_at_solution;
        assert_true(fabs(condition_number_growth / 100.0 - 1.0) < 0.2);
    }
    assert_true(!(cost[3][LEAST_DISTANCE].condition_number_at_solution < 1e13));
    assert_true(cost[3][LEAST_DISTANCE].failed[1] > trial_count / 2);
    assert_true(cost[4][LEAST_DISTANCE].failed[0] > 0.8 * trial_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_contact_equations_are_exact),
        cmocka_unit_test(determinants_of_contact_equations_match_closed_forms),
        cmocka_unit_test(only_the_least_distance_equations_are_singular_at_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
