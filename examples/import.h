/* A recording of another program: a CSV file, the mapping of its columns, and the resulting
 * ticks. */
#ifndef TACT_EXAMPLES_IMPORT_H
#define TACT_EXAMPLES_IMPORT_H

#include <stdbool.h>
#include <stdint.h>
#include "contact/error.h"
#include "rt/device.h"
#include "rt/log/recorder.h"

#define IMPORT_NO_COLUMN (-1) /* a channel whose value is constant */

/* One channel of the device "recording". */
struct import_channel {
    char name[TACT_DEVICE_NAME];
    char unit[16];    /* SI */
    const char *word; /* the column as the mapping names it; NULL: constant */
    const char *key;  /* key of the mapping, for messages */
    int column;       /* column of the file, or IMPORT_NO_COLUMN */
    double factor;    /* factor to SI units; of a constant channel: its value */
};

/* Channels that were measured together: a row that repeats all of their values contains no new
 * measurement. */
struct import_channel_group {
    char name[TACT_DEVICE_NAME];
    int first, count;
    int quaternion_channel;        /* channel where a unit quaternion starts, w first; -1: none */
    int is_quaternion_scalar_last; /* 1: the file has w last */
    uint64_t repeated_row_count;   /* rows that equal the row before */
    uint64_t longest;              /* longest run of rows that equal the row before */
};

struct import_map; /* text of the mapping's file */

struct recording_import {
    const char *imported_csv_path, *map_path;
    struct import_map *map;
    char *import_map_text;
    size_t import_map_bytes;
    double period; /* period of the ticks [s] */

    struct import_channel channel[TACT_DEVICE_CHANNELS];
    int channel_count;
    struct import_channel_group group[TACT_DEVICE_CHANNELS];
    int group_count;
    struct tact_recorder_joint joint[TACT_DEVICE_CHANNELS];
    struct tact_recorder_body body[TACT_DEVICE_CHANNELS];
    struct tact_recorder_sensor sensor[TACT_DEVICE_CHANNELS];
    size_t joint_count, body_count, sensor_count;

    size_t rows, room;
    double *time;               /* rows: from 0 [s] */
    double *values;             /* rows x channel_count, SI */
    uint8_t *gap;               /* for each row: 1 where a gap in time follows it */
    double median_row_interval; /* median time between rows [s] */
    uint64_t gaps, dropped;
    double longest_time_gap; /* [s] */
    uint64_t ticks;
};

/* import_map.c: reads the mapping and sets all members up to sensor_count except the columns.
 * Returns 0 or a negative errno with *err filled. Call import_free_recording() in either case. */
int import_read_map(struct recording_import *i, struct tact_error *err);
void import_free_recording(struct recording_import *i);
/* Get values of the mapping; NULL or 0 where absent. */
const char *get_session_name_of_import_map(const struct recording_import *i);
const char *get_scene_of_import_map(const struct recording_import *i);
const char *get_import_time_unit(const struct recording_import *i, double *factor);
/* Name of the unit of time, "s" where the mapping has no time_unit. */
const char *get_import_time_unit_name(const struct recording_import *i);
double get_import_rate(const struct recording_import *i);
bool import_must_interpolate_repeats(const struct recording_import *i);

/* import_rows.c: reads the CSV file and sets the members that import_read_map() does not set. */
int import_read_rows(struct recording_import *i, struct tact_error *err);

/* The values at a time since the first row [s], by linear interpolation; *row is the result of the
 * last call, 0 at first. Returns 0, or 1 in a gap, where the values are those of the row before it.
 */
int interpolate_imported_rows(const struct recording_import *i, double t, size_t *row, double *out);

/* import_hand.c: a hand from an MJCF or URDF file. */
struct hand_import {
    const char *path, *out; /* out NULL: stdout */
    const char *material;   /* name of the material of the hand's shapes */
    bool meshes;            /* meshes are used for contact as they are, not their convex hulls */
    int force, quiet;
};

/* Whether a path has the type of such a file. */
bool is_hand_file(const char *path);
/* import_mesh.c: whether a path has the type of a mesh that scenes do not read; writes it as OBJ.
 * Returns the exit code, after a message. */
bool is_mesh_file(const char *path);
int import_mesh(const char *command, const struct hand_import *h);
/* Whether a path is that of a STEP file; imports one: writes the surfaces of its solid as free-form
 * surfaces of an OBJ file. */
bool is_step_file(const char *path);
int import_step_file_as_surfaces(const char *command, const struct hand_import *h);
/* Writes the hand as the YAML of a scene. Returns the exit code, after a message. */
int import_hand(const char *command, const struct hand_import *h);

#endif
