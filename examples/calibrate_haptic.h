/* tact calibrate: identifies haptic axes, by driving them. */
#ifndef TACT_EXAMPLES_CALIBRATE_HAPTIC_H
#define TACT_EXAMPLES_CALIBRATE_HAPTIC_H

#include <stdint.h>
#include <stdio.h>
#include "rt/device.h"

/* Units of position and force: m and N; rad and N m; others or unknown ones. */
enum haptic_units { HAPTIC_LINEAR, HAPTIC_ROTARY, HAPTIC_OTHER };

/* An axis of an open haptic device, with limits of travel and force. */
struct haptic_axis {
    const struct tact_device *device;
    int input, output; /* channels of the axis: position, and force or torque */
    enum haptic_units units;
    double limit;               /* maximum force [N] */
    double allowed_axis_travel; /* distance from the start position beyond which no force is applied
                                   [m] */
    double period;              /* [s] */
    /* 1: a real device, ticks wait for their time; 0: a simulated twin, without waiting */
    int is_axis_paced_by_clock;
    double axis_start_position; /* position of the axis at the start [m] */
    int is_axis_beyond_travel;  /* 1: the axis was beyond its travel in the last tick */
    int late_tick_count;        /* number of ticks that began a period late or more */
    uint64_t tick;
    int64_t start_ns;
};

/* Identified parameters of an axis, as for `device` of a coupling, and how well they fit. */
struct identified_haptic_axis {
    double mass, damping, friction, delay, resolution; /* [kg], [N s/m], [N], [s], [m] */
    double rms_position_error; /* root mean square of modelled minus measured position [m] */
};

enum { HAPTIC_DAMPINGS = 4, SETTLING_TICK_COUNT = 300 };

/* Largest stable stiffness of a wall at several dampings. NAN: no wall was stable, or unstable;
 * both: none was tested, as the axis is without damping. */
struct stable_wall_stiffness {
    double damping[HAPTIC_DAMPINGS]; /* damping of the wall [N s/m] */
    /* largest tested stiffness without a growing oscillation [N/m] */
    double stiffness[HAPTIC_DAMPINGS];
    double unstable_stiffness[HAPTIC_DAMPINGS]; /* smallest stiffness with a growing oscillation,
                                         the next tried [N/m] */
    double analytic_stiffness_limit[HAPTIC_DAMPINGS]; /* (b + B) / (T/2 + delay) [N/m] */
};

/* Reads the axis in the next tick; then its force is to be set. EXIT_BAD, with force 0, where it is
 * lost or a stop is requested (command_stop_flag()). */
int step_haptic_axis(struct haptic_axis *axis, double *position);
/* Sets the force, within the limit; 0 beyond the travel. */
void set_haptic_force(struct haptic_axis *axis, double force);
/* Moves the axis back to its start position by a spring and damper. EXIT_BAD, with force 0, where
 * they drive it away. */
int return_haptic_axis_to_start(struct haptic_axis *axis, double stiffness, double damping);
/* Applies alternating forces to the axis and fits its parameters. EXIT_BAD where they do not
 * explain its motion.
 */
int identify_haptic_axis(struct haptic_axis *axis, struct identified_haptic_axis *found);
/* Raises the stiffness of a virtual wall at several dampings. Returns the exit code. */
int measure_stable_wall_stiffness(struct haptic_axis *axis,
                                  const struct identified_haptic_axis *found,
                                  struct stable_wall_stiffness *wall_stiffness);
/* Plots measured and computed wall stiffness over damping. Returns the exit code. */
int draw_stable_wall_stiffness(enum haptic_units units,
                               const struct stable_wall_stiffness *wall_stiffness,
                               const struct identified_haptic_axis *found, const char *path,
                               int force);

#endif
