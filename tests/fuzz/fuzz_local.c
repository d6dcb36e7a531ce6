/*
 * Fuzz target: the local solvers of one contact, on a problem decoded from the bytes. For any bytes
 * the impulse is finite and within its limits; a solution of the cone's law remains one when solved
 * again, and no other impulse within the limits dissipates more.
 *
 * Built for libFuzzer where the compiler is clang (target fuzz_local); tests/unit/test_fuzz_local.c
 * calls it with random bytes from a seed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/local/local_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at;
    size_t left;
};

static unsigned next_fuzz_byte(struct bytes *b)
{
    if (!b->left) {
        return 0;
    }
    b->left--;
    return *b->at++;
}

/* Number decoded from the input: +-(1 to 2) 2^e with |e| <= range, sometimes 0. */
static double next_fuzz_number(struct bytes *b, int range)
{
    unsigned mantissa = next_fuzz_byte(b), exponent = next_fuzz_byte(b);
    if (exponent % 32 == 31) {
        return 0.0;
    }
    int e = (int)(exponent % (unsigned)(2 * range + 1)) - range;
    return ldexp((mantissa & 1 ? -1.0 : 1.0) * (1.0 + mantissa / 256.0), e);
}

static double next_positive_fuzz_number(struct bytes *b, int range)
{
    return fabs(next_fuzz_number(b, range));
}

/* Corners on an ellipse, in order; equal angles make coincident corners. */
static void make_patch_corners(struct bytes *b, struct tact_local_problem *p)
{
    double shift[2] = {(next_fuzz_byte(b) / 255.0 - 0.5) * p->semi[0],
                       (next_fuzz_byte(b) / 255.0 - 0.5) * p->semi[1]};
    int count = 3 + (int)(next_fuzz_byte(b) % (TACT_PATCH_CORNERS - 2));
    for (int i = 0; i < count; i++) {
        double corner_angle_jitter = (double)(next_fuzz_byte(b) % 3) / 3.0,
               angle = 2.0 * M_PI * (i + corner_angle_jitter) / count;
        p->corner[i][0] = shift[0] + p->semi[0] * cos(angle);
        p->corner[i][1] = shift[1] + p->semi[1] * sin(angle);
    }
    for (int i = 0; i < count; i++) { /* the polygon must contain the centre */
        const double *a = p->corner[i], *c = p->corner[(i + 1) % count];
        if (a[0] * c[1] <= a[1] * c[0]) {
            return;
        }
    }
    p->corners = count;
}

/* Parts of a pressure about its centre, their number, places and shares from the bytes; returns
 * their torsion arm. */
static double make_friction_points_from_bytes(struct bytes *b, double length,
                                              struct tact_friction_points *parts)
{
    double load = 0.0, x = 0.0, y = 0.0, arm = 0.0;
    memset(parts, 0, sizeof *parts);
    parts->count = 1 + (int)(next_fuzz_byte(b) % TACT_FRICTION_POINTS);
    for (int i = 0; i < parts->count; i++) {
        parts->x[i] = length * next_fuzz_number(b, 3);
        parts->y[i] = length * next_fuzz_number(b, 3);
        parts->arm[i] = length * next_positive_fuzz_number(b, 3);
        parts->share[i] = 1.0 + next_fuzz_byte(b);
        load += parts->share[i];
        x += parts->share[i] * parts->x[i];
        y += parts->share[i] * parts->y[i];
    }
    for (int i = 0; i < parts->count; i++) {
        parts->share[i] /= load;
        parts->x[i] -= x / load;
        parts->y[i] -= y / load;
        arm += parts->share[i] * sqrt(parts->x[i] * parts->x[i] + parts->y[i] * parts->y[i] +
                                      parts->arm[i] * parts->arm[i]);
    }
    return arm;
}

/* S is a sum of up to 8 squares, so positive semidefinite of any rank; lengths are of order 1. */
static void make_problem_from_bytes(struct bytes *b, struct tact_local_problem *p,
                                    struct tact_friction_points *parts)
{
    memset(p, 0, sizeof *p);
    double length = ldexp(1.0, (int)(next_fuzz_byte(b) % 21) - 14);
    int range = 1 + (int)(next_fuzz_byte(b) % 8);
    for (int rank = 1 + (int)(next_fuzz_byte(b) % 8); rank > 0; rank--) {
        double row[6];
        for (int i = 0; i < 6; i++) {
            row[i] = next_fuzz_number(b, range) * (i < 3 ? 1.0 : 1.0 / length);
        }
        for (int i = 0; i < 36; i++) {
            p->s[i] += row[i / 6] * row[i % 6];
        }
    }
    /* b in the range of S, as that of a real contact is */
    int is_free_velocity_that_of_an_impulse = next_fuzz_byte(b) % 2;
    double push[6], velocity[6] = {0.0};
    for (int i = 0; i < 6; i++) {
        push[i] = next_fuzz_number(b, range) * (i < 3 ? 1.0 : length);
        p->b[i] = next_fuzz_number(b, range) * (i < 3 ? 1.0 : 1.0 / length);
    }
    for (int i = 0; i < 36; i++) {
        velocity[i / 6] += p->s[i] * push[i % 6];
    }
    if (is_free_velocity_that_of_an_impulse) {
        memcpy(p->b, velocity, sizeof velocity);
    }
    unsigned kind = next_fuzz_byte(b);
    p->mu = kind % 7 == 0 ? 0.0 : (kind % 11 == 0 ? 1e6 : next_positive_fuzz_number(b, 4));
    p->surface = (enum tact_surface)(next_fuzz_byte(b) % 4);
    p->spin_arm = next_positive_fuzz_number(b, 4) * length;
    if (p->surface == TACT_SURFACE_FITTED) {
        p->surface = TACT_SURFACE_POINTS;
        p->points = parts;
        p->spin_arm = make_friction_points_from_bytes(b, length, parts);
    }
    p->rectangle[0] = p->rectangle[1] = kind % 2 ? length : 0.0;
    if (kind % 3) {
        p->semi[0] = length * next_positive_fuzz_number(b, 4);
        p->semi[1] = length * next_positive_fuzz_number(b, 4);
    }
    if (kind % 5 > 1 && p->semi[0] > 0.0 && p->semi[1] > 0.0) {
        make_patch_corners(b, p);
    }
    tact_local_prepare(p);
}

static void report_failed_problem_and_abort(const struct tact_local_problem *p, const double *r,
                                            const char *what, double by)
{
    fprintf(stderr, "%s: %.3e; mu %g, arm %g, semi %g %g, corners %d, surface %d\n", what, by,
            p->mu, p->spin_arm, p->semi[0], p->semi[1], p->corners, (int)p->surface);
    for (int i = 0; i < 6; i++) {
        fprintf(stderr, "  b %.17g r %.17g\n", p->b[i], r[i]);
    }
    abort();
}

/* Checks that the impulse is finite, its normal part not negative, the centre of pressure in the
 * patch and friction in Coulomb's cone. */
static void check_impulse_limits(const struct tact_local_problem *p, const double *r, double *d)
{
    double most = 0.0;
    d[0] = d[1] = 0.0;
    for (int i = 0; i < 6; i++) {
        if (!isfinite(r[i])) {
            report_failed_problem_and_abort(p, r, "not finite", r[i]);
        }
        most = fmax(most, fabs(r[i]));
    }
    if (!(r[0] > 0.0)) {
        if (most != 0.0) {
            report_failed_problem_and_abort(p, r, "pulls, or a torque without force", r[0]);
        }
        return;
    }
    if (tact_local_transmits_rolling_torque(p)) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
        double edge = tact_local_edge_distance_ratio(p, d);
        if (edge > 1.0 + 1e-9) {
            report_failed_problem_and_abort(p, r, "centre of pressure outside the patch",
                                            edge - 1.0);
        }
    }
    double friction = hypot(r[1], r[2]);
    if (friction > p->mu * r[0] * (1.0 + 1e-9)) {
        report_failed_problem_and_abort(p, r, "friction outside the cone",
                                        friction / (p->mu * r[0]) - 1.0);
    }
}

/* Checks the limit surface that couples friction and torsion. */
static void check_friction_torsion_limit(const struct tact_local_problem *p, const double *r,
                                         const double *d)
{
    if (r[0] > 0.0 && p->mu > 0.0 && p->spin_arm > 0.0) {
        double share = tact_local_friction_limit_ratio(p, r, d);
        if (share > 1.0 + 1e-9) {
            report_failed_problem_and_abort(p, r, "outside the limit surface", share - 1.0);
        }
    }
}

/* Scale of the power: the scales of impulse and velocity in the residual. */
static double rounding_scale_of_dissipated_power(const struct tact_local_problem *p,
                                                 const double *r)
{
    const double unit[6] = {1.0, p->mu, p->mu, p->mu * p->spin_arm, p->semi[1], p->semi[0]};
    double x = 0.0, b = 0.0, most = 0.0;
    for (int i = 0; i < 6; i++) {
        x += unit[i] > 0.0 ? r[i] / unit[i] * (r[i] / unit[i]) : 0.0;
        b += unit[i] * p->b[i] * unit[i] * p->b[i];
        most = fmax(most, unit[i] * unit[i] * p->s[7 * i]);
    }
    return (sqrt(x) + sqrt(b) / most) * (sqrt(b) + sqrt(x) * most);
}

/* Compares the power that the friction of r dissipates at its centre of pressure with that of
 * other friction impulses for the same normal impulse. A residual of 1e-11 leaves up to 1.8e-9 of
 * the power's scale (2e5 problems of ten seeds). */
static void check_maximal_dissipation(const struct tact_local_problem *p, const double *r,
                                      const double *d)
{
    double u[6], most = p->mu * r[0];
    for (int i = 0; i < 6; i++) {
        u[i] = p->b[i];
        for (int j = 0; j < 6; j++) {
            u[i] += p->s[6 * i + j] * r[j];
        }
    }
    const double v[3] = {u[1] - d[1] * u[3], u[2] + d[0] * u[3], u[3]};
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]);
    double taken = -(r[1] * v[0] + r[2] * v[1] + spin * v[2]),
           rounding = rounding_scale_of_dissipated_power(p, r);
    for (int i = 0; i < 48; i++) {
        double angle = 2.0 * M_PI * (i % 12) / 12.0, up = M_PI * (i / 12 - 1.5) / 4.0,
               d0[2] = {0, 0};
        double z[6] = {r[0],
                       most * cos(up) * cos(angle),
                       most * cos(up) * sin(angle),
                       most * p->spin_arm * sin(up),
                       0.0,
                       0.0};
        double share = tact_local_friction_limit_ratio(p, z, d0);
        double other = -(z[1] * v[0] + z[2] * v[1] + z[3] * v[2]) / fmax(share, 1.0);
        if (isfinite(share) && other > taken + 5e-9 * rounding) {
            report_failed_problem_and_abort(p, r, "another dissipates more",
                                            (other - taken) / rounding);
        }
    }
}

static void check_cone_solution(const struct tact_local_problem *p)
{
    double r[6] = {0.0}, d[2], residual = INFINITY;
    for (int pass = 0; pass < 40 && !(residual < 1e-11); pass++) {
        tact_local_cone(p, r);
        check_impulse_limits(p, r, d);
        check_friction_torsion_limit(p, r, d);
        residual = tact_local_residual(p, r);
        if (!isfinite(residual) || residual < 0.0) {
            report_failed_problem_and_abort(p, r, "residual", residual);
        }
    }
    struct tact_margins margins;
    tact_local_margins(p, r, &margins);
    if (!(fabs(margins.normal) <= 1.0 && fabs(margins.slip) <= 1.0 && fabs(margins.edge) <= 1.0 &&
          fabs(margins.friction) <= 1.0 && fabs(margins.spin) <= 1.0)) {
        report_failed_problem_and_abort(p, r, "margins", margins.slip);
    }
    if (residual < 1e-11) {
        check_maximal_dissipation(p, r, d);
    }
    /* Where the centre of pressure moves with friction, or the limit surface is no ellipsoid (2 of
     * 280,000 problems of fourteen seeds), there may be several solutions, and the solver may
     * leave some of them. */
    const int one = !tact_local_transmits_rolling_torque(p) && p->surface == TACT_SURFACE_ELLIPSOID;
    if (residual < 1e-11 && (one || !(p->mu > 0.0))) {
        double residual_when_solved_again = INFINITY;
        for (int pass = 0; pass < 40 && !(residual_when_solved_again < 1e-7); pass++) {
            tact_local_cone(p, r);
            check_impulse_limits(p, r, d);
            residual_when_solved_again = tact_local_residual(p, r);
        }
        if (!(residual_when_solved_again < 1e-7)) {
            report_failed_problem_and_abort(p, r, "solved, and not any more",
                                            residual_when_solved_again);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size};
    struct tact_local_problem p;
    struct tact_friction_points parts;
    double r[6] = {0.0}, d[2];
    make_problem_from_bytes(&b, &p, &parts);
    check_cone_solution(&p);
    p.corners = 0; /* Algorithm 1 supports only ellipses */
    for (p.by_mass = 0; p.by_mass < 2; p.by_mass++) {
        tact_local_bouchard(&p, r);
        check_impulse_limits(&p, r, d);
    }
    return 0;
}
