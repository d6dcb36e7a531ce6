/** The parts of a twin: its axes, their steps, and its settings. */
#ifndef TACT_DEVICES_TWIN_INTERNAL_H
#define TACT_DEVICES_TWIN_INTERNAL_H

#include <stdbool.h>
#include "twin.h"

/** One tick of a mass on spring and damper: position and (speed times the period) at its end, from
 *  those at its beginning, the acceleration that was asked for [m per squared period] and the
 *  growth of that over the tick. */
struct tact_twin_step {
    double position[4];
    double speed[4];
};

/** Forms the step. spring: stiffness period^2 / mass, damper: damping period / mass, both at least
 *  0 and at most TACT_TWIN_STIFF. */
void tact_twin_step_init(struct tact_twin_step *step, double spring, double damper);

#define TACT_TWIN_STIFF 1e6 /* beyond it the motion is over within 1e-6 of a tick */

/** A fixed delay. */
struct tact_twin_delay {
    int ticks;
    int at;
    double *value; /* ticks + 1 */
};

struct tact_twin_axis {
    /* as set */
    double mass, damping, stiffness, rest, start;
    double strength, limit;           /* of the motor; limit may be infinite */
    double scale, origin, step;       /* of the reading; step 0: none, else from origin */
    double range[2], stops[2];        /* of the reading, of x; may be infinite */
    double grip, grip_damping, reach; /* of the hand */
    int channel;                      /* of the hand, -1: none */
    int output;                       /* -1: none */
    struct tact_twin_step motion;
    /* as it is */
    double x, w;   /* position [m], speed times the period [m] */
    double target; /* of the hand at the last tick [m] */
    double asked;  /* written last [N] */
    double force;  /* that acts [N] */
    struct tact_twin_delay motor, sensor;
};

struct tact_twin {
    double period;
    int axes, buttons, outputs;
    struct tact_twin_axis axis[TACT_TWIN_AXES];
    int button[TACT_DEVICE_CHANNELS]; /* channel of the hand, -1: none */
    struct tact_twin_delay buttons_delay[TACT_DEVICE_CHANNELS];
    int push_rows, push_columns; /* time, then one for all axes or one for each */
    double *push;
    int lost_rows;
    double *lost; /* rows [from, until] */
    struct tact_device hand;
    int delay_ticks;
    bool started;
    bool away;                         /* unplugged */
    uint64_t tick;                     /* that was read last */
    double held[TACT_DEVICE_CHANNELS]; /* told last */
};

/** Reads all settings, opens the hand, allocates, fills *info. The caller closes self, also after
 *  a failure. @retval 0, or a negative errno with *err filled */
int tact_twin_load(struct tact_twin *self, const struct tact_device_config *config,
                   struct tact_device_info *info, struct tact_error *err);

/** Its part for the axes, whose number is known: motion, motor, sensor, delays.
 *  @retval as tact_twin_load() */
int tact_twin_read_motion(struct tact_twin *self, const struct tact_device_config *config,
                          struct tact_error *err);

/** Finite rows of so many numbers; *rows points into the config and stays where the key is absent.
 *  @retval as tact_twin_load() */
int tact_twin_rows(const struct tact_device_config *config, const char *key, int columns,
                   const double **rows, int *count, struct tact_error *err);

/** What an axis' sensor says now. Real-time safe. */
double tact_twin_reading(const struct tact_twin_axis *axis);

#endif
