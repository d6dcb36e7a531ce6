/* Presses of a joint that a coupling, or a drive, ties to a twin in a person's hand: the plant of
 * one axis, a wall at 20 mm, and the course out of the log. Include after cmocka.h. */
#ifndef TACT_TESTS_COUPLED_PRESS_H
#define TACT_TESTS_COUPLED_PRESS_H

#include <stdint.h>

#define PRESS_PERIOD 1e-3 /* [s] */
#define PRESS_TOOL 0.05   /* [kg] */
#define PRESS_WALL 0.02   /* [m] */

/* A setting of the device whose force is one tick late. */
#define PRESS_LATE "      force_delay: 0.001\n"

/* Mass [kg], damping [N s/m] and stiffness [N/m] of a hand, which presses 20 mm past the wall. */
struct press_hand {
    const char *name;
    double mass, damping, stiffness;
};
/* A weak, an average and a strong one. */
extern const struct press_hand press_hands[3];

struct press {
    struct press_hand grip;
    /* format of the drive: "coupling: {%s}", or "%s" for a drive damped against the base */
    const char *drive;
    double stiffness, damping;
    const char *device; /* further settings of the device */
    double seconds;
    double tool_mass;   /* [kg] */
    const char *motion; /* file of the hand's motion */
};

enum { X, FORCE, TOOL, TARGET, ENERGY, LEAST, ENGAGED, COLUMNS };

struct motion_track_of_log {
    double *values; /* COLUMNS a tick */
    uint64_t ticks;
};

/* The folder of a test's files, and its log press.mcap; press.csv is a motion of the hand to 40 mm
 * within 0.4 s, lead.csv one that rests at 10 mm before. */
extern char press_folder[32];
int make_press_folder(void **state);
int remove_press_folder(void **state);

/* The scene of a press. */
void write_press_scene(const struct press *p, char out[4096]);

/* Runs a press; its log stays in the folder. The caller frees the values. */
struct motion_track_of_log simulate_coupled_press(const struct press *p);

/* Reads a log of a press. coupled: its joint has a coupling. */
struct motion_track_of_log read_track_from_log(const char *path, int coupled);

double reading_at(const struct motion_track_of_log *t, uint64_t tick, int column);

/* Root mean square of the device's speed in the last half second [m/s]. */
double remaining_rms_speed(const struct motion_track_of_log *t);

#endif
