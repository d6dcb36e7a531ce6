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
    RECORDED_TICK_COUNT = 2000,
    EXCITATION_TRIAL_TICKS = 200,
    MAX_FITTED_DELAY_TICKS = 30,
    STARTING_MASS_COUNT = 12,
    MAX_LEVENBERG_MARQUARDT_STEPS = 40,
    REFITTED_DELAY_TICKS =
        3, /* number of delays to either side of the best one at which it is fitted again */
    MAX_REFIT_PASSES = 10,
    FITTED_NUMBER_COUNT = 4
};

/* [s] without force after a pause: twice the time of zeros after which a guard is armed again */
#define ZERO_FORCE_TIME_TO_REARM_GUARD 0.1
/* factor of the allowed travel, beyond which the axis is taken as out of control */
#define MAX_EXCURSION_TO_TRAVEL_RATIO 1.2
/* smallest gain that counts, as a fraction of the sum of squares */
#define MIN_FIT_IMPROVEMENT 1e-9
/* largest accepted error of the fitted motion, as a fraction of the largest distance from the start
 */
#define MAX_FIT_ERROR 0.1
/* smallest error of the fitted motion of which the user is warned: in steps of the sensor, and as a
 * fraction of the largest distance from the start */
#define WARNED_FIT_ERROR_RESOLUTION_STEPS 2.0
#define WARNED_FIT_ERROR_TO_TRAVEL_RATIO 2e-3

/* Force set in each of RECORDED_TICK_COUNT ticks, and position read in it. */
struct axis_motion_recording {
    const double *force, *x; /* [N], [m] */
    double period;           /* [s] */
};

/* Reads the device in the next tick. EXIT_BAD, with force 0, where a signal requests a stop or
 * the device is not there. */
static int read_haptic_axis(struct haptic_axis *axis, struct tact_device_input *in)
{
    const int64_t due = axis->start_ns + (int64_t)((double)axis->tick * axis->period * 1e9);
    in->state = TACT_DEVICE_LOST;
    if (axis->is_axis_paced_by_clock) {
        tact_clock_sleep_until(due);
        axis->late_tick_count += tact_clock_now() > due + (int64_t)(axis->period * 1e9);
    }
    axis->device->ops->read(axis->device->self, axis->tick, (double)axis->tick * axis->period,
                            axis->is_axis_paced_by_clock ? tact_clock_now() : due, in);
    axis->tick++;
    const int is_stop_requested = tact_stop_requested(command_stop_flag());
    if (!is_stop_requested && (in->state == TACT_DEVICE_OK || in->state == TACT_DEVICE_STALE)) {
        return EXIT_GOOD;
    }
    set_haptic_force(axis, 0.0);
    fprintf(stderr, is_stop_requested ? "tact: stopped by a signal: nothing is measured\n"
                                      : "tact: the device was disconnected: nothing is measured\n");
    return EXIT_BAD;
}

int step_haptic_axis(struct haptic_axis *axis, double *position)
{
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    if (read_haptic_axis(axis, &in)) {
        return EXIT_BAD;
    }
    *position = in.channel[axis->input];
    if (in.state != TACT_DEVICE_OK || !isfinite(*position)) {
        set_haptic_force(axis, 0.0);
        fprintf(stderr, "tact: the device does not answer, or its guard has set its outputs to "
                        "zero; nothing is found\n");
        return EXIT_BAD;
    }
    axis->is_axis_beyond_travel =
        fabs(*position - axis->axis_start_position) > axis->allowed_axis_travel;
    return EXIT_GOOD;
}

/* Restarts the clock of the ticks after a pause, and writes zeros for as long as a guard that the
 * pause has tripped needs them; readings may be stale meanwhile. Returns the exit code. */
static int rearm_haptic_axis(struct haptic_axis *axis)
{
    const int ticks = (int)fmax(100.0, ceil(ZERO_FORCE_TIME_TO_REARM_GUARD / axis->period));
    struct tact_device_input in = {.state = TACT_DEVICE_LOST};
    axis->start_ns = tact_clock_now() - (int64_t)((double)axis->tick * axis->period * 1e9);
    for (int k = 0; k < ticks; k++) {
        if (read_haptic_axis(axis, &in)) {
            return EXIT_BAD;
        }
        set_haptic_force(axis, 0.0);
    }
    return EXIT_GOOD;
}

void set_haptic_force(struct haptic_axis *axis, double force)
{
    double out[TACT_DEVICE_CHANNELS] = {0.0};
    const double force_within_device_limit = fmin(axis->limit, fmax(-axis->limit, force));
    out[axis->output] =
        isfinite(force) && !axis->is_axis_beyond_travel ? force_within_device_limit : 0.0;
    axis->device->ops->write(axis->device->self, out, tact_clock_now());
}

/* Applies forces +level and -level for `ticks` ticks, alternating at random times, and back toward
 * the start where the axis is more than a quarter of its travel away. Stores force and position, if
 * they are not NULL. Returns the exit code. */
static int apply_random_force_to_axis(struct haptic_axis *axis, double level, int ticks,
                                      double *force, double *x, double *reach)
{
    unsigned random_state = 1;
    double push = 0.0, position;
    *reach = 0.0;
    for (int k = 0, left = 0; k < ticks; k++, left--) {
        int code = step_haptic_axis(axis, &position);
        if (code) {
            return code;
        }
        const double off = position - axis->axis_start_position;
        if (left <= 0) {
            random_state = random_state * 1664525u + 1013904223u;
            left = 5 + (int)((random_state >> 16) % 40);
            push = fabs(off) > 0.25 * axis->allowed_axis_travel ? -copysign(level, off)
                   : push > 0.0                                 ? -level
                                                                : level;
        }
        if (fabs(off) > 0.5 * axis->allowed_axis_travel) {
            push = -copysign(level, off);
        }
        set_haptic_force(axis, push);
        *reach = fmax(*reach, fabs(off));
        if (force) {
            force[k] = axis->is_axis_beyond_travel ? 0.0 : push;
            x[k] = position;
        }
    }
    set_haptic_force(axis, 0.0);
    return EXIT_GOOD;
}

int return_haptic_axis_to_start(struct haptic_axis *axis, double stiffness, double damping)
{
    const int has_axis_restoring_force = stiffness > 0.0 || damping > 0.0;
    double position, last = 0.0, bound = 0.0;
    for (int k = 0; k < SETTLING_TICK_COUNT; k++) {
        int code = step_haptic_axis(axis, &position);
        if (code) {
            return code;
        }
        const double off = position - axis->axis_start_position;
        last = k ? last : off;
        bound =
            k ? bound : MAX_EXCURSION_TO_TRAVEL_RATIO * fmax(axis->allowed_axis_travel, fabs(off));
        if (has_axis_restoring_force && fabs(off) > bound) {
            set_haptic_force(axis, 0.0);
            fprintf(stderr,
                    "tact: the force that is to bring the axis back leads it away, now %.3g from "
                    "its start: the sign of the force or of the reading is reversed, or the axis "
                    "has too little damping or too long a delay; nothing is found\n",
                    off);
            return EXIT_BAD;
        }
        /* this force moves the axis back, which the limit of the travel verifies */
        axis->is_axis_beyond_travel = 0;
        set_haptic_force(axis, -stiffness * off - damping * (off - last) / axis->period);
        last = off;
    }
    set_haptic_force(axis, 0.0);
    return EXIT_GOOD;
}

/* Positions of mass, damper and dry friction under the recorded force, `delay` ticks late, exact
 * for a force that is constant within a tick; the friction at most stops the motion in a tick.
 * Returns the sum of squares of the differences. */
static double compute_squared_position_error(const double p[FITTED_NUMBER_COUNT], int delay,
                                             double period, const double *force, const double *x,
                                             double *out)
{
    const double mass = p[0], damping = fmax(p[1], 1e-9 * mass / period), friction = p[2];
    const double velocity_decay_factor = exp(-damping * period / mass),
                 velocity_change_per_force = (1.0 - velocity_decay_factor) / damping;
    const double position_change_per_force = (period - mass * velocity_change_per_force) / damping;
    double position = x[0], velocity = p[3], sum = 0.0;
    for (int k = 0; k < RECORDED_TICK_COUNT; k++) {
        out[k] = position - x[k];
        sum += out[k] * out[k];
        double net_axis_force = k >= delay ? force[k - delay] : 0.0;
        const double frictionless_velocity =
            velocity_decay_factor * velocity + velocity_change_per_force * net_axis_force;
        net_axis_force +=
            fmin(friction, fmax(-friction, -frictionless_velocity / velocity_change_per_force));
        position += mass * velocity_change_per_force * velocity +
                    position_change_per_force * net_axis_force;
        velocity = velocity_decay_factor * velocity + velocity_change_per_force * net_axis_force;
    }
    return sum;
}

/* Solves the damped normal equations. */
static void solve_damped_normal_equations(double a[FITTED_NUMBER_COUNT][FITTED_NUMBER_COUNT],
                                          const double b[FITTED_NUMBER_COUNT], double damping,
                                          double out[FITTED_NUMBER_COUNT])
{
    double m[FITTED_NUMBER_COUNT][FITTED_NUMBER_COUNT + 1];
    for (int i = 0; i < FITTED_NUMBER_COUNT; i++) {
        for (int j = 0; j < FITTED_NUMBER_COUNT; j++) {
            m[i][j] = a[i][j] * (i == j ? 1.0 + damping : 1.0) + (i == j ? 1e-300 : 0.0);
        }
        m[i][FITTED_NUMBER_COUNT] = -b[i];
    }
    for (int i = 0; i < FITTED_NUMBER_COUNT; i++) {
        for (int r = i + 1; r < FITTED_NUMBER_COUNT; r++) {
            const double f = m[r][i] / m[i][i];
            for (int j = i; j <= FITTED_NUMBER_COUNT; j++) {
                m[r][j] -= f * m[i][j];
            }
        }
    }
    for (int i = FITTED_NUMBER_COUNT - 1; i >= 0; i--) {
        out[i] = m[i][FITTED_NUMBER_COUNT];
        for (int j = i + 1; j < FITTED_NUMBER_COUNT; j++) {
            out[i] -= m[i][j] * out[j];
        }
        out[i] /= m[i][i];
    }
}

/* Fits the axis' parameters p by the method of Levenberg and Marquardt. Returns the sum of squares.
 */
static double fit_by_levenberg_marquardt(double p[FITTED_NUMBER_COUNT], int delay, double period,
                                         const double *force, const double *x)
{
    static double residual[RECORDED_TICK_COUNT],
        perturbed_residual[FITTED_NUMBER_COUNT][RECORDED_TICK_COUNT];
    double damping = 1e-3,
           best = compute_squared_position_error(p, delay, period, force, x, residual);
    for (int round = 0; round < MAX_LEVENBERG_MARQUARDT_STEPS && damping < 1e8; round++) {
        double a[FITTED_NUMBER_COUNT][FITTED_NUMBER_COUNT] = {{0.0}},
               b[FITTED_NUMBER_COUNT] = {0.0}, step[FITTED_NUMBER_COUNT];
        const double difference_step_of_fitted_number[FITTED_NUMBER_COUNT] = {
            1e-4 * p[0], 1e-4 * fmax(p[1], 0.1 * p[0]), 1e-6, 1e-6};
        for (int i = 0; i < FITTED_NUMBER_COUNT; i++) {
            double q[FITTED_NUMBER_COUNT] = {p[0], p[1], p[2], p[3]};
            q[i] += difference_step_of_fitted_number[i];
            compute_squared_position_error(q, delay, period, force, x, perturbed_residual[i]);
        }
        compute_squared_position_error(p, delay, period, force, x, residual);
        for (int k = 0; k < RECORDED_TICK_COUNT; k++) {
            for (int i = 0; i < FITTED_NUMBER_COUNT; i++) {
                b[i] += (perturbed_residual[i][k] - residual[k]) * residual[k];
                for (int j = 0; j < FITTED_NUMBER_COUNT; j++) {
                    a[i][j] += (perturbed_residual[i][k] - residual[k]) *
                               (perturbed_residual[j][k] - residual[k]);
                }
            }
        }
        solve_damped_normal_equations(a, b, damping, step);
        const double trial_axis_parameters[FITTED_NUMBER_COUNT] = {
            fmax(0.2 * p[0], p[0] + difference_step_of_fitted_number[0] * step[0]),
            fmax(0.0, p[1] + difference_step_of_fitted_number[1] * step[1]),
            fmax(0.0, p[2] + difference_step_of_fitted_number[2] * step[2]),
            p[3] + difference_step_of_fitted_number[3] * step[3]};
        const double sum = compute_squared_position_error(trial_axis_parameters, delay, period,
                                                          force, x, residual);
        const int is_fit_converged = sum < best && sum > best * (1.0 - MIN_FIT_IMPROVEMENT);
        damping = sum < best ? 0.1 * damping : 10.0 * damping;
        if (sum < best) {
            memcpy(p, trial_axis_parameters, sizeof trial_axis_parameters);
            best = sum;
        }
        if (is_fit_converged) {
            break;
        }
    }
    return best;
}

/* Finds the resolution of the position readings; 0 where they are no multiples of a step. */
static double find_position_resolution(const double *x)
{
    double step = INFINITY, worst = 0.0, span = 0.0;
    for (int k = 1; k < RECORDED_TICK_COUNT; k++) {
        const double moved = fabs(x[k] - x[k - 1]);
        step = moved > 0.0 ? fmin(step, moved) : step;
        span = fmax(span, fabs(x[k] - x[0]));
    }
    step = isfinite(step) ? span / round(span / step) : 0.0;
    for (int k = 1; k < RECORDED_TICK_COUNT && step > 0.0; k++) {
        const double at = (x[k] - x[0]) / step;
        worst = fmax(worst, fabs(at - round(at)));
    }
    return worst < 0.05 ? step : 0.0;
}

/* Finds the force that moves the axis by a tenth of its travel, at most half of the limit. */
static int find_force_that_moves_axis(struct haptic_axis *axis, double *level)
{
    double reach = 0.0;
    int code = EXIT_GOOD;
    *level = 0.02 * axis->limit;
    while (!code && *level < 0.5 * axis->limit) {
        code = apply_random_force_to_axis(axis, *level, EXCITATION_TRIAL_TICKS, NULL, NULL, &reach);
        if (code || reach > 0.1 * axis->allowed_axis_travel) {
            break;
        }
        *level *= 1.5;
    }
    return code;
}

/* Fits the axis' parameters, starting from p, and stores them where they fit better than *best. */
static void fit_axis_and_store_if_better(const struct axis_motion_recording *recorded_axis_motion,
                                         int delay, double p[FITTED_NUMBER_COUNT], double *best,
                                         struct identified_haptic_axis *found)
{
    const double sum =
        fit_by_levenberg_marquardt(p, delay, recorded_axis_motion->period,
                                   recorded_axis_motion->force, recorded_axis_motion->x);
    if (sum < *best * (1.0 - MIN_FIT_IMPROVEMENT)) {
        *best = sum;
        *found = (struct identified_haptic_axis){p[0],
                                                 p[1],
                                                 p[2],
                                                 delay * recorded_axis_motion->period,
                                                 found->resolution,
                                                 sqrt(sum / RECORDED_TICK_COUNT)};
    }
}

/* Fits for every delay, starting from several masses without friction, except from those that are
 * far off. Returns the least sum of squares. */
static double fit_axis_from_several_masses(const struct axis_motion_recording *recorded_axis_motion,
                                           struct identified_haptic_axis *found)
{
    double best = INFINITY;
    for (int delay = 0; delay <= MAX_FITTED_DELAY_TICKS; delay++) {
        for (int i = 0; i < STARTING_MASS_COUNT; i++) {
            double p[FITTED_NUMBER_COUNT] = {1e-3 * pow(3.0, i)};
            p[1] = p[0] * 5.0;
            static double unused[RECORDED_TICK_COUNT];
            const double start = compute_squared_position_error(
                p, delay, recorded_axis_motion->period, recorded_axis_motion->force,
                recorded_axis_motion->x, unused);
            if (start < 1e6 && (!i || !delay || start <= 4.0 * best)) {
                fit_axis_and_store_if_better(recorded_axis_motion, delay, p, &best, found);
            }
        }
    }
    return best;
}

/* Fits again from the best parameters, at delays near theirs and with more and less friction, until
 * none is better: with friction, the fit from parameters without it ends in local minima, and a
 * start that is far off has left out the right delay. */
static void
refit_axis_from_best_parameters(const struct axis_motion_recording *recorded_axis_motion,
                                double best, struct identified_haptic_axis *found)
{
    static const double start_friction_factors[] = {1.0, 0.5, 1.5};
    double last = INFINITY;
    for (int pass = 0; pass < MAX_REFIT_PASSES && best < last; pass++) {
        const struct identified_haptic_axis from = *found;
        const int nearest = (int)lround(from.delay / recorded_axis_motion->period);
        last = best;
        for (int k = -REFITTED_DELAY_TICKS; k <= REFITTED_DELAY_TICKS; k++) {
            for (size_t i = 0; i < sizeof start_friction_factors / sizeof *start_friction_factors;
                 i++) {
                double p[FITTED_NUMBER_COUNT] = {from.mass, from.damping,
                                                 from.friction * start_friction_factors[i]};
                const int delay = nearest + k;
                if (delay >= 0 && delay <= MAX_FITTED_DELAY_TICKS) {
                    fit_axis_and_store_if_better(recorded_axis_motion, delay, p, &best, found);
                }
            }
        }
    }
}

/* Fits the axis' parameters. reach: largest distance from the start. Returns the exit code. */
static int fit_axis_model(const struct axis_motion_recording *recorded_axis_motion, double reach,
                          struct identified_haptic_axis *found)
{
    found->rms_position_error = INFINITY;
    refit_axis_from_best_parameters(
        recorded_axis_motion, fit_axis_from_several_masses(recorded_axis_motion, found), found);
    if (!(found->rms_position_error <= MAX_FIT_ERROR * reach)) {
        fprintf(stderr,
                "tact: no mass, damping and dry friction explain the motion: off by %.3g of %.3g; "
                "the sign of the force or of the reading may be reversed, or a spring or a weight "
                "acts on it; nothing is found\n",
                found->rms_position_error, reach);
        return EXIT_BAD;
    }
    if (found->rms_position_error > fmax(WARNED_FIT_ERROR_RESOLUTION_STEPS * found->resolution,
                                         WARNED_FIT_ERROR_TO_TRAVEL_RATIO * reach)) {
        fprintf(stderr,
                "tact: the measured motion differs from that of the fitted mass, damping, dry "
                "friction and delay by %.3g (rms) of %.3g, more than the resolution of the sensor "
                "explains: these four are uncertain\n",
                found->rms_position_error, reach);
    }
    return EXIT_GOOD;
}

int identify_haptic_axis(struct haptic_axis *axis, struct identified_haptic_axis *found)
{
    static double force[RECORDED_TICK_COUNT], x[RECORDED_TICK_COUNT];
    double level, reach;
    int code = rearm_haptic_axis(axis);
    code = code ? code : step_haptic_axis(axis, &axis->axis_start_position);
    axis->is_axis_beyond_travel = 0;
    code = code ? code : find_force_that_moves_axis(axis, &level);
    const double stiffness = 0.2 * axis->limit / axis->allowed_axis_travel;
    code = code ? code : return_haptic_axis_to_start(axis, stiffness, 0.0);
    code = code ? code : return_haptic_axis_to_start(axis, 0.0, 0.0);
    code = code ? code
                : apply_random_force_to_axis(axis, level, RECORDED_TICK_COUNT, force, x, &reach);
    if (code) {
        return code;
    }
    found->resolution = find_position_resolution(x);
    if (reach < 10.0 * found->resolution || reach <= 0.0) {
        fprintf(stderr, "tact: the axis does not move by the force; nothing is found\n");
        return EXIT_BAD;
    }
    if (reach > MAX_EXCURSION_TO_TRAVEL_RATIO * axis->allowed_axis_travel) {
        fprintf(stderr,
                "tact: the axis came %.3g from its start, further than --travel, when it was "
                "pushed to and fro: it has too little damping, or the sign of the force or of the "
                "reading is reversed; nothing is found\n",
                reach);
        return EXIT_BAD;
    }
    const struct axis_motion_recording recorded_axis_motion = {force, x, axis->period};
    code = fit_axis_model(&recorded_axis_motion, reach, found);
    return code ? code : rearm_haptic_axis(axis);
}
