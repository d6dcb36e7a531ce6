/* tact calibrate: a haptic axis that is driven, guarded, to find its mass, damping, dry friction,
 * delay and resolution. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate_haptic.h"
#include "command.h"
#include "rt/clock.h"
#include "text.h"

enum {
    RECORDED = 2000,
    SETTLE = 300,
    TRY = 200,
    MOST_DELAY = 30,
    FITS = 12,
    ROUNDS = 40,
    NUMBERS = 4
};

int haptic_step(struct haptic_axis *axis, double *position)
{
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    const int64_t due = axis->start_ns + (int64_t)((double)axis->tick * axis->period * 1e9);
    if (axis->timed) {
        tact_clock_sleep_until(due);
        axis->late += tact_clock_now() > due + (int64_t)(axis->period * 1e9);
    }
    axis->device->ops->read(axis->device->self, axis->tick, (double)axis->tick * axis->period,
                            axis->timed ? tact_clock_now() : due, &in);
    axis->tick++;
    *position = in.channel[axis->input];
    if (in.state != TACT_DEVICE_OK || !isfinite(*position)) {
        haptic_force(axis, 0.0);
        fprintf(stderr, "tact: the device is gone or does not answer; nothing is found\n");
        return EXIT_BAD;
    }
    axis->outside = fabs(*position - axis->home) > axis->travel;
    return EXIT_GOOD;
}

void haptic_force(struct haptic_axis *axis, double force)
{
    double out[TACT_DEVICE_CHANNELS] = {0.0};
    const double within = fmin(axis->limit, fmax(-axis->limit, force));
    out[axis->output] = isfinite(force) && !axis->outside ? within : 0.0;
    axis->device->ops->write(axis->device->self, out, tact_clock_now());
}

/* Alternating pushes of `level` for `ticks` ticks, of random lengths, back where the axis is off by
 * a quarter of its travel. Stores force and position, if they are not NULL. Returns the exit code.
 */
static int excite(struct haptic_axis *axis, double level, int ticks, double *force, double *x,
                  double *reach)
{
    unsigned random = 1;
    double push = 0.0, position;
    *reach = 0.0;
    for (int k = 0, left = 0; k < ticks; k++, left--) {
        int code = haptic_step(axis, &position);
        if (code) {
            return code;
        }
        const double off = position - axis->home;
        if (left <= 0) {
            random = random * 1664525u + 1013904223u;
            left = 5 + (int)((random >> 16) % 40);
            push = fabs(off) > 0.25 * axis->travel ? -copysign(level, off)
                   : push > 0.0                    ? -level
                                                   : level;
        }
        if (fabs(off) > 0.5 * axis->travel) {
            push = -copysign(level, off);
        }
        haptic_force(axis, push);
        *reach = fmax(*reach, fabs(off));
        if (force) {
            force[k] = axis->outside ? 0.0 : push;
            x[k] = position;
        }
    }
    haptic_force(axis, 0.0);
    return EXIT_GOOD;
}

int haptic_settle(struct haptic_axis *axis, double stiffness, double damping)
{
    double position, last = axis->home;
    for (int k = 0; k < SETTLE; k++) {
        int code = haptic_step(axis, &position);
        if (code) {
            return code;
        }
        last = k ? last : position;
        axis->outside = 0; /* this force leads back */
        haptic_force(axis, -stiffness * (position - axis->home) -
                               damping * (position - last) / axis->period);
        last = position;
    }
    haptic_force(axis, 0.0);
    return EXIT_GOOD;
}

/* Positions of mass, damper and dry friction under the recorded force, `delay` ticks late, exact
 * for a force that is constant within a tick; the friction at most stops the motion in a tick.
 * Returns the sum of squares of the differences. */
static double simulate(const double p[NUMBERS], int delay, double period, const double *force,
                       const double *x, double *out)
{
    const double mass = p[0], damping = fmax(p[1], 1e-9 * mass / period), friction = p[2];
    const double decay = exp(-damping * period / mass), gain = (1.0 - decay) / damping;
    const double rise = (period - mass * gain) / damping;
    double position = x[0], speed = p[3], sum = 0.0;
    for (int k = 0; k < RECORDED; k++) {
        out[k] = position - x[k];
        sum += out[k] * out[k];
        double push = k >= delay ? force[k - delay] : 0.0;
        const double free_speed = decay * speed + gain * push;
        push += fmin(friction, fmax(-friction, -free_speed / gain));
        position += mass * gain * speed + rise * push;
        speed = decay * speed + gain * push;
    }
    return sum;
}

/* Solves the damped normal equations. */
static void solve_step(double a[NUMBERS][NUMBERS], const double b[NUMBERS], double damping,
                       double out[NUMBERS])
{
    double m[NUMBERS][NUMBERS + 1];
    for (int i = 0; i < NUMBERS; i++) {
        for (int j = 0; j < NUMBERS; j++) {
            m[i][j] = a[i][j] * (i == j ? 1.0 + damping : 1.0) + (i == j ? 1e-300 : 0.0);
        }
        m[i][NUMBERS] = -b[i];
    }
    for (int i = 0; i < NUMBERS; i++) {
        for (int r = i + 1; r < NUMBERS; r++) {
            const double f = m[r][i] / m[i][i];
            for (int j = i; j <= NUMBERS; j++) {
                m[r][j] -= f * m[i][j];
            }
        }
    }
    for (int i = NUMBERS - 1; i >= 0; i--) {
        out[i] = m[i][NUMBERS];
        for (int j = i + 1; j < NUMBERS; j++) {
            out[i] -= m[i][j] * out[j];
        }
        out[i] /= m[i][i];
    }
}

/* Levenberg and Marquardt's method from p. Returns the sum of squares. */
static double fit(double p[NUMBERS], int delay, double period, const double *force, const double *x)
{
    static double residual[RECORDED], moved[NUMBERS][RECORDED];
    double damping = 1e-3, best = simulate(p, delay, period, force, x, residual);
    for (int round = 0; round < ROUNDS && damping < 1e8; round++) {
        double a[NUMBERS][NUMBERS] = {{0.0}}, b[NUMBERS] = {0.0}, step[NUMBERS];
        const double unit[NUMBERS] = {1e-4 * p[0], 1e-4 * fmax(p[1], 0.1 * p[0]), 1e-6, 1e-6};
        for (int i = 0; i < NUMBERS; i++) {
            double q[NUMBERS] = {p[0], p[1], p[2], p[3]};
            q[i] += unit[i];
            simulate(q, delay, period, force, x, moved[i]);
        }
        simulate(p, delay, period, force, x, residual);
        for (int k = 0; k < RECORDED; k++) {
            for (int i = 0; i < NUMBERS; i++) {
                b[i] += (moved[i][k] - residual[k]) * residual[k];
                for (int j = 0; j < NUMBERS; j++) {
                    a[i][j] += (moved[i][k] - residual[k]) * (moved[j][k] - residual[k]);
                }
            }
        }
        solve_step(a, b, damping, step);
        const double tried[NUMBERS] = {
            fmax(0.2 * p[0], p[0] + unit[0] * step[0]), fmax(0.0, p[1] + unit[1] * step[1]),
            fmax(0.0, p[2] + unit[2] * step[2]), p[3] + unit[3] * step[3]};
        const double sum = simulate(tried, delay, period, force, x, residual);
        damping = sum < best ? 0.1 * damping : 10.0 * damping;
        if (sum < best) {
            memcpy(p, tried, sizeof tried);
            best = sum;
        }
    }
    return best;
}

/* The step of the readings, 0 where they are on no lattice. */
static double find_resolution(const double *x)
{
    double step = INFINITY, worst = 0.0, span = 0.0;
    for (int k = 1; k < RECORDED; k++) {
        const double moved = fabs(x[k] - x[k - 1]);
        step = moved > 0.0 ? fmin(step, moved) : step;
        span = fmax(span, fabs(x[k] - x[0]));
    }
    step = isfinite(step) ? span / round(span / step) : 0.0;
    for (int k = 1; k < RECORDED && step > 0.0; k++) {
        const double at = (x[k] - x[0]) / step;
        worst = fmax(worst, fabs(at - round(at)));
    }
    return worst < 0.05 ? step : 0.0;
}

/* The level of force that moves the axis by a tenth of its travel, at most half of the limit. */
static int find_level(struct haptic_axis *axis, double *level)
{
    double reach = 0.0;
    int code = EXIT_GOOD;
    *level = 0.02 * axis->limit;
    while (!code && *level < 0.5 * axis->limit) {
        code = excite(axis, *level, TRY, NULL, NULL, &reach);
        if (code || reach > 0.1 * axis->travel) {
            break;
        }
        *level *= 1.5;
    }
    return code;
}

int haptic_identify(struct haptic_axis *axis, struct haptic_found *found)
{
    static double force[RECORDED], x[RECORDED];
    double level, reach, best = INFINITY;
    int code = haptic_step(axis, &axis->home);
    axis->outside = 0;
    code = code ? code : find_level(axis, &level);
    const double stiffness = 0.2 * axis->limit / axis->travel;
    code = code ? code : haptic_settle(axis, stiffness, 0.0);
    code = code ? code : haptic_settle(axis, 0.0, 0.0);
    code = code ? code : excite(axis, level, RECORDED, force, x, &reach);
    if (code) {
        return code;
    }
    found->resolution = find_resolution(x);
    if (reach < 10.0 * found->resolution || reach <= 0.0) {
        fprintf(stderr, "tact: the axis does not move by the force; nothing is found\n");
        return EXIT_BAD;
    }
    for (int delay = 0; delay <= MOST_DELAY; delay++) {
        for (int i = 0; i < FITS; i++) {
            double p[NUMBERS] = {1e-3 * pow(3.0, i)};
            p[1] = p[0] * 5.0;
            static double unused[RECORDED];
            const double start = simulate(p, delay, axis->period, force, x, unused);
            if (!(start < 1e6) || (i && start > 4.0 * best && delay)) {
                continue;
            }
            const double sum = fit(p, delay, axis->period, force, x);
            if (sum < best * (1.0 - 1e-9)) {
                best = sum;
                *found = (struct haptic_found){p[0],
                                               p[1],
                                               p[2],
                                               delay * axis->period,
                                               found->resolution,
                                               sqrt(sum / RECORDED)};
            }
        }
    }
    return EXIT_GOOD;
}
