/* Presses of a joint that a coupling, or a drive, ties to a twin in a person's hand: the plant of
 * one axis, a wall at 20 mm, and the course out of the log. Include after cmocka.h. */
#ifndef TACT_TESTS_COUPLED_PRESS_H
#define TACT_TESTS_COUPLED_PRESS_H

#include <stdint.h>

#define PRESS_TICK_PERIOD 1e-3   /* [s] */
#define PRESS_TOOL_MASS 0.05     /* [kg] */
#define PRESS_WALL_POSITION 0.02 /* [m] */

/* A setting of the device whose force is one tick late. */
#define PRESS_FORCE_DELAY_SETTING "      force_delay: 0.001\n"

/* Mass [kg], damping [N s/m] and stiffness [N/m] of a hand, which presses 20 mm past the wall. */
struct pressing_hand {
    const char *name;
    double mass, damping, stiffness;
};
/* A weak, an average and a strong hand. */
extern const struct pressing_hand pressing_hands[3];

struct hand_press_scenario {
    struct pressing_hand grip;
    /* format of the drive: "coupling: {%s}", or "%s" for a drive damped against the base */
    const char *drive;
    double stiffness, damping;
    const char *device; /* further settings of the device */
    double seconds;
    double tool_mass;   /* [kg] */
    const char *motion; /* file of the hand's motion */
};

enum { X, FORCE, TOOL, TARGET, ENERGY, LEAST, ENGAGED, COLUMNS };

struct press_log {
    double *values; /* COLUMNS a tick */
    uint64_t ticks;
};

/* The folder of a test's files, and its log press.mcap; press.csv is a motion of the hand to 40 mm
 * within 0.4 s, lead.csv one that rests at 10 mm before. */
extern char press_folder[32];
int make_press_folder(void **state);
int remove_press_folder(void **state);

/* Writes a file of the hand's motion into the folder: press.csv, lead.csv or phase.csv. */
int write_hand_motion(const char *name, const char *rows);

/* The scene of a press, whose wall is known before it is touched. */
void format_press_scene(const struct hand_press_scenario *p, char out[4096]);

/* Runs a press; its log stays in the folder. The caller frees the values. contact: model and
 * numbers of the contact with the wall, as in a pair, in place of PRESS_CONTACT_BY_FEATURES. */
#define PRESS_CONTACT_BY_FEATURES "model: features"
struct press_log simulate_coupled_press(const struct hand_press_scenario *p);
struct press_log simulate_press_with_contact(const struct hand_press_scenario *p,
                                             const char *contact);

/* Reads a log of a press. expects_coupling_field: its joint has a coupling, else a drive. */
struct press_log read_press_log(const char *path, int expects_coupling_field);

double value_in_press_log(const struct press_log *t, uint64_t tick, int column);

/* Root mean square of the device's speed in the last half second [m/s]. */
double rms_tool_speed_of_last_500_ticks(const struct press_log *t);

#endif
