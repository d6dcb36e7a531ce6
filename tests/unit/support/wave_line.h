/* One axis over a plain wave line, by its equations (rt/wave_internal.h) in 20 substeps of a
 * tick, without code of tact: a hand moves a device of 0.1 kg and 1 N s/m by 70 mm in 1 s (minimum
 * jerk), and a robot of 0.5 kg and 2 N s/m follows by a drive of 1000 N/m and 30 N s/m, in free
 * motion. What arrives is what left the other end a delay earlier. The tank is not empty. */
#ifndef TACT_TESTS_WAVE_LINE_H
#define TACT_TESTS_WAVE_LINE_H

#include <math.h>
#include <string.h>

enum { WAVE_LINE_SUBSTEPS = 20, WAVE_LINE_MAX_DELAY = 400 /* [ms] */ };

struct wave_line_options {
    double hand_mass, hand_damping, hand_stiffness; /* [kg, N s/m, N/m] */
    double impedance;                               /* [N s/m] */
    double delay;                                   /* one way, at most 399 ms [s] */
    int is_position_correction_off; /* 1: neither position nor waves are corrected */
};

struct wave_line {
    struct wave_line_options options;
    int elapsed_substep_count;
    double time;                   /* of the motion [s] */
    double x, v, robot_x, robot_v; /* of device and robot [m, m/s] */
    double end_x;                  /* position of the line's end at the robot [m] */
    double force, robot_force;     /* of the line on device and robot [N] */
    /* what left each end, by the substep: waves [sqrt(W)], and the position of the device [m] */
    double waves_sent_by_device[WAVE_LINE_MAX_DELAY * WAVE_LINE_SUBSTEPS];
    double waves_returned_by_robot[WAVE_LINE_MAX_DELAY * WAVE_LINE_SUBSTEPS];
    double sent_device_positions[WAVE_LINE_MAX_DELAY * WAVE_LINE_SUBSTEPS];
};

static inline void start_wave_line(struct wave_line *line, const struct wave_line_options *options)
{
    memset(line, 0, sizeof *line);
    line->options = *options;
}

static inline double wave_line_clip(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

/* Fraction of an incoming wave that is used where the end of the line is ahead of the device. */
static inline double wave_line_used_fraction(const struct wave_line *line, double wave, double lead)
{
    const double b = line->options.impedance, d = line->options.delay;
    const double direction = sqrt(2.0 * b) * wave > line->robot_force ? 1.0 : -1.0;
    const double lead_beyond_that_by_force = direction * lead - fabs(line->robot_force) * d / b;
    const double most = 0.5 * wave_line_clip((d - 0.08) / 0.03, 0.0, 1.0);
    return 1.0 - wave_line_clip(lead_beyond_that_by_force / (0.1 * d), 0.0, most);
}

/* Rate by which the end of the line returns to the device's position. */
static inline double wave_line_correction(const struct wave_line *line, double error)
{
    const double d = line->options.delay, stretch = line->robot_force * d / line->options.impedance;
    const double error_within_expected_stretch =
        wave_line_clip(error, fmin(0.0, stretch), fmax(0.0, stretch));
    return wave_line_clip(fmin(2.0, 0.25 / d) *
                              (error + fmin(2.0, 8.0 * d) * error_within_expected_stretch),
                          -0.05, 0.05);
}

/* Robot's end; returns the wave that leaves it. */
static inline double move_robot_and_return_wave(struct wave_line *line, double wave,
                                                double device_position_received_by_robot, double h)
{
    const double b = line->options.impedance, stiffness = 1000.0, damping = 30.0;
    double correction = 0.0;
    if (!line->options.is_position_correction_off) {
        wave *=
            wave_line_used_fraction(line, wave, line->end_x - device_position_received_by_robot);
        correction = wave_line_correction(line, device_position_received_by_robot - line->end_x);
    }
    /* F = K (x_d - x) + D (v + c - v_x) with b v + F = sqrt(2 b) u */
    line->robot_force = (stiffness * (line->end_x - line->robot_x) +
                         damping * (correction + sqrt(2.0 / b) * wave - line->robot_v)) /
                        (1.0 + damping / b);
    const double rate = sqrt(2.0 / b) * wave - line->robot_force / b;
    line->end_x += h * (rate + correction);
    line->robot_v += h * (line->robot_force - 2.0 * line->robot_v) / 0.5;
    line->robot_x += h * line->robot_v;
    return (b * rate - line->robot_force) / sqrt(2.0 * b);
}

static inline void step_wave_line_once(struct wave_line *line, double h)
{
    const struct wave_line_options *o = &line->options;
    const int capacity = WAVE_LINE_MAX_DELAY * WAVE_LINE_SUBSTEPS,
              delay = (int)(o->delay / h + 0.5), now = line->elapsed_substep_count++,
              then = (now - delay) % capacity;
    const double s = fmin(1.0, line->time), b = o->impedance;
    const double target = 0.07 * s * s * s * (10.0 + s * (6.0 * s - 15.0)),
                 target_rate = 2.1 * s * s * (1.0 - s) * (1.0 - s);
    const double wave = now < delay ? 0.0 : line->waves_returned_by_robot[then],
                 wave_at_robot = now < delay ? 0.0 : line->waves_sent_by_device[then],
                 device_position_at_robot = now < delay ? 0.0 : line->sent_device_positions[then];
    line->force = sqrt(2.0 * b) * wave - b * line->v;
    line->v += h *
               (o->hand_damping * (target_rate - line->v) + o->hand_stiffness * (target - line->x) -
                line->v + line->force) /
               (0.1 + o->hand_mass);
    line->x += h * line->v;
    line->waves_sent_by_device[now % capacity] = (b * line->v - line->force) / sqrt(2.0 * b);
    line->sent_device_positions[now % capacity] = line->x;
    line->waves_returned_by_robot[now % capacity] =
        move_robot_and_return_wave(line, wave_at_robot, device_position_at_robot, h);
    line->time += h;
}

/* One tick of 1 ms. */
static inline void step_wave_line(struct wave_line *line)
{
    for (int i = 0; i < WAVE_LINE_SUBSTEPS; i++) {
        step_wave_line_once(line, 1e-3 / WAVE_LINE_SUBSTEPS);
    }
}

/* Largest force against the hand in the time. */
static inline double wave_line_largest_drag_force(const struct wave_line_options *options,
                                                  int ticks)
{
    static struct wave_line line;
    double drag = 0.0;
    start_wave_line(&line, options);
    for (int k = 0; k < ticks; k++) {
        step_wave_line(&line);
        drag = fmax(drag, -line.force);
    }
    return drag;
}

#endif
