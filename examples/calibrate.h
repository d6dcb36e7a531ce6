/* The parts of tact calibrate. */
#ifndef TACT_EXAMPLES_CALIBRATE_H
#define TACT_EXAMPLES_CALIBRATE_H

#include <jansson.h>
#include "rt/device.h"
#include "rt/scene/scene.h"

enum { CALIBRATE_MOST = 128, CALIBRATE_NUMBERS = 8 };

/* One key of a calibration file: "axis.abs_x" and its numbers, or a text. */
struct calibration_entry {
    char key[96];
    char text[256]; /* value of a key that has a text and no numbers; else unused */
    int count;
    double number[CALIBRATE_NUMBERS];
};

struct calibrate_file {
    int count;
    struct calibration_entry entry[CALIBRATE_MOST];
};

/* The options of the command. */
struct calibrate_options {
    const char *device; /* name in the scene, or of an attached input device */
    const char *scene;
    const char *output;
    int force;                  /* the file may exist, and is replaced */
    const char *channel;        /* input of a measurement card that is calibrated */
    const char *points;         /* true values of that channel, separated by spaces */
    int degree;                 /* degree of the polynomial */
    const char *sensor_to_zero; /* force-torque sensor whose zero is measured, or NULL */
    const char *axis;           /* input of the haptic axis that is driven, or NULL */
    const char *drive;          /* the output that drives the haptic axis, */
    double limit;               /* the most force [N, N m], */
    double allowed_axis_travel; /* how far the driven axis may move from where it is [m, rad]; */
    const char *plugins;        /* folder of further device types, or NULL */
    const char *stable_wall_plot_path; /* path of the plot of stable walls, or NULL */
    double seconds;                    /* duration of a measurement [s] */
    double axis_sweep_duration;        /* time for moving the axes [s] */
    /* waiting time before each step [s]; negative: until Enter is pressed */
    double wait;
    json_t *report; /* collects the results for --json; NULL: they are printed as text */
    int json;       /* 1: --json */
};

/* The values of a channel while it was observed. */
struct calibrate_channel_extremes {
    double low, high, mean, deviation;
};

/* calibrate_file.c: set an entry, replacing one of the same key; EXIT_BAD where there are too many
 * entries.
 */
int calibrate_set_numbers(struct calibrate_file *file, const char *key, const double *numbers,
                          int count);
int calibrate_set_text(struct calibrate_file *file, const char *key, const char *text);
/* Stores the numbers of a haptic axis under its channel. */
int calibrate_set_haptic_axis(struct calibrate_file *file,
                              const struct tact_scene_haptic_axis *axis);
/* Copies the entries of the device's present calibration file. EXIT_BAD if it has some that cannot
 * be written again. */
int calibrate_copy_settings(struct calibrate_file *file, const struct tact_scene_device *def);
/* Chooses the path of the calibration file: by the option, by the scene, or in the working folder.
 */
void calibrate_choose_file_path(const struct calibrate_options *o,
                                const struct tact_scene_device *def, const char *scene_folder,
                                char *path, size_t size);
/* Whether the text can be a value of YAML as it is: the name of an input device need not be. */
int calibrate_is_plain_yaml_text(const char *text);
/* Writes the calibration file; replaces an existing one only with force. Returns the exit code. */
int calibrate_write_file(const struct calibrate_file *file, const char *path, int force);

/* calibrate_measure.c: asks for a step on stderr, and waits. EXIT_BAD at the end of the input. */
int ask_user_and_wait_for_enter(const struct calibrate_options *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Observes all channels for some seconds. EXIT_BAD where the device is lost. */
int observe_channel_extremes(const struct tact_device *device, double seconds,
                             struct calibrate_channel_extremes *channel_extremes, int *faults);
/* Measure the axes, a channel of a card, and the zero of a sensor; each adds entries to the
 * calibration file and returns the exit code. */
int calibrate_ranges_of_axes(const struct calibrate_options *o, const struct tact_device *device,
                             struct calibrate_file *file);
int calibrate_map_of_channel(const struct calibrate_options *o, const struct tact_device *device,
                             struct calibrate_file *file);
int calibrate_sensor_zero(const struct calibrate_options *o, const struct tact_device *device,
                          const char *gauges, struct calibrate_file *file);

/* calibrate_drive.c: finds the numbers of a haptic axis, and the walls that it renders. */
int calibrate_haptic(const struct calibrate_options *o, const struct tact_scene *scene,
                     const struct tact_scene_device *def);

#endif
