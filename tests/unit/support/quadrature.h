/*
 * Coulomb friction of a pressure by quadrature, and bodies that it brings to rest, for tests:
 * nothing of it uses the library.
 */
#ifndef TACT_TESTS_QUADRATURE_H
#define TACT_TESTS_QUADRATURE_H

#include <math.h>
#include <string.h>

enum { QUADRATURE_FINE = 150 };

/* Pressure over a plane, or a curved surface above it [Pa, of any unit]: points, the surface's
 * normal along x and y, and integrals of the pressure, whose forces along z add up to 1. */
struct pressure_quadrature {
    int count;
    double x[2 * QUADRATURE_FINE * QUADRATURE_FINE], y[2 * QUADRATURE_FINE * QUADRATURE_FINE],
        nx[2 * QUADRATURE_FINE * QUADRATURE_FINE], ny[2 * QUADRATURE_FINE * QUADRATURE_FINE],
        load[2 * QUADRATURE_FINE * QUADRATURE_FINE];
};

enum profile { UNIFORM, DISC, CAP, HERTZ, LIFTING };

#define SPHERICAL_CAP_BALL_RADIUS_M                                                                \
    0.03 /* profile CAP: radius of a ball, and its depth in a half-space [m] */
#define SPHERICAL_CAP_DEPTH_M 0.0015

static inline double pressure_profile_at(enum profile profile, double u, double v)
{
    double square = 1.0 - u * u - v * v;
    switch (profile) {
    case UNIFORM:
        return 1.0;
    case LIFTING: /* pressure falls linearly to 0 at one edge */
        return 1.0 + u;
    case DISC:
        return square > 0.0;
    case CAP:
        return fmax(sqrt(SPHERICAL_CAP_BALL_RADIUS_M * SPHERICAL_CAP_BALL_RADIUS_M -
                         SPHERICAL_CAP_DEPTH_M *
                             (2.0 * SPHERICAL_CAP_BALL_RADIUS_M - SPHERICAL_CAP_DEPTH_M) *
                             (1.0 - square)) -
                        (SPHERICAL_CAP_BALL_RADIUS_M - SPHERICAL_CAP_DEPTH_M),
                    0.0);
    default:
        return sqrt(fmax(square, 0.0));
    }
}

/* Adds points of a pressure profile over the rectangle about (cx, cy) of half sides a and b. */
static inline void add_quadrature_pressure(struct pressure_quadrature *q, enum profile profile,
                                           int fine, double cx, double cy, double a, double b)
{
    for (int i = 0; i < fine * fine; i++) {
        double u = 2.0 * (i % fine + 0.5) / fine - 1.0, v = 2.0 * (i / fine + 0.5) / fine - 1.0;
        double load = a * b * pressure_profile_at(profile, u, v);
        if (load > 0.0) {
            int curved = profile == CAP;
            double nx = curved ? a * u / SPHERICAL_CAP_BALL_RADIUS_M : 0.0,
                   ny = curved ? b * v / SPHERICAL_CAP_BALL_RADIUS_M : 0.0;
            q->x[q->count] = cx + a * u;
            q->y[q->count] = cy + b * v;
            q->nx[q->count] = nx;
            q->ny[q->count] = ny;
            q->load[q->count++] = load / sqrt(1.0 - nx * nx - ny * ny);
        }
    }
}

/* Moves the origin to the centre of pressure, and scales the loads to a normal force of 1. */
static inline void normalize_quadrature(struct pressure_quadrature *q)
{
    double all = 0.0, x = 0.0, y = 0.0, force = 0.0;
    for (int i = 0; i < q->count; i++) {
        all += q->load[i];
        x += q->load[i] * q->x[i];
        y += q->load[i] * q->y[i];
        force += q->load[i] * sqrt(1.0 - q->nx[i] * q->nx[i] - q->ny[i] * q->ny[i]);
    }
    for (int i = 0; i < q->count; i++) {
        q->x[i] -= x / all;
        q->y[i] -= y / all;
        q->load[i] /= force;
    }
}

/* Friction force over mu N and its torque [m] at the slip velocity v, w; returns the power over mu
 * N. */
static inline double compute_friction_and_power_by_quadrature(const struct pressure_quadrature *q,
                                                              const double v[2], double w,
                                                              double out[3])
{
    double power = 0.0;
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < q->count; i++) {
        double a = v[0] - w * q->y[i], b = v[1] + w * q->x[i];
        double across = q->nx[i] * a + q->ny[i] * b, speed = sqrt(a * a + b * b - across * across);
        a -= q->nx[i] * across;
        b -= q->ny[i] * across;
        double by = speed > 0.0 ? q->load[i] / speed : 0.0;
        out[0] += by * a;
        out[1] += by * b;
        out[2] += by * (q->x[i] * b - q->y[i] * a);
        power += q->load[i] * speed;
    }
    return power;
}

/* State of a body that slides on a plane at the height of its centre of mass: position, angle, and
 * their rates. */
struct sliding_state {
    double x[3], v[3];
};

/* Integrates the sliding body until it rests, by the midpoint rule; the quadrature turns with the
 * body. */
static inline void slide_to_rest_by_quadrature(const struct pressure_quadrature *q,
                                               double friction_deceleration, double inertia,
                                               struct sliding_state *s)
{
    const double h = 5e-5; /* inertia: moment of inertia over mass [m^2] */
    double start = s->v[0] * s->v[0] + s->v[1] * s->v[1] + inertia * s->v[2] * s->v[2];
    for (int n = 0; n < 100000; n++) {
        double now[3], angle = s->x[2], f[3];
        memcpy(now, s->v, sizeof now);
        if (now[0] * now[0] + now[1] * now[1] + inertia * now[2] * now[2] < 1e-8 * start) {
            return;
        }
        for (int half = 1; half <= 2; half++) {
            double c = cos(angle), k = sin(angle);
            const double v[2] = {c * now[0] + k * now[1], c * now[1] - k * now[0]};
            compute_friction_and_power_by_quadrature(q, v, now[2], f);
            double by = friction_deceleration * (half == 1 ? 0.5 * h : h);
            double next[3] = {s->v[0] - by * (c * f[0] - k * f[1]),
                              s->v[1] - by * (k * f[0] + c * f[1]), s->v[2] - by * f[2] / inertia};
            angle = s->x[2] + 0.5 * h * s->v[2];
            memcpy(now, next, sizeof now);
        }
        for (int i = 0; i < 3; i++) {
            s->x[i] += 0.5 * h * (s->v[i] + now[i]);
            s->v[i] = now[i];
        }
    }
}

#endif
