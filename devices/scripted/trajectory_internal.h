/* A recorded motion: filled by the code that reads its file, and used by the code that plays it.
 */
#ifndef TACT_DEVICES_TRAJECTORY_INTERNAL_H
#define TACT_DEVICES_TRAJECTORY_INTERNAL_H

#include <stdbool.h>
#include "../../rt/device.h"
#include "../common/csv_internal.h"

struct tact_trajectory {
    double rate;                /* rate of the rows [Hz] if `time` is NULL */
    double start;               /* [s] */
    double speed;               /* [1] */
    double start_ramp_duration; /* [s] */
    bool is_cubic_interpolation;
    int rows;
    int columns;
    double *time;   /* [rows] times from 0, strictly increasing [s]; or NULL */
    double *values; /* [rows][columns] values, scaled and centred */
};

/* A trajectory that is being read: settings, file, and counts of irregularities. */
struct tact_trajectory_file_reader {
    const struct tact_device_config *config;
    struct tact_error *err;
    struct tact_csv_file csv;
    struct tact_trajectory *self;
    /* indices of the columns that are read; the last one is that of the time */
    int csv_column_of_channel[TACT_DEVICE_CHANNELS + 1];
    bool has_time_column;
    double origin;          /* time of the first row [s] */
    int capacity;           /* number of rows for which memory is allocated */
    int repeated_row_count; /* number of rows equal to the row before */
    int dropped_row_count;  /* number of rows with the same time as the row before */
    int time_gap_count;     /* number of time intervals over 1.5 times the median one */
};

/* Time of a row from the first one [s]. Real-time safe. */
static inline double tact_trajectory_row_time(const struct tact_trajectory *self, int row)
{
    return self->time ? self->time[row] : row / self->rate;
}

/* Reads settings and file into r->self; r->config, r->err and r->self are set, the rest is zero.
 * The caller closes r->csv and frees r->self's arrays, also after a failure.
 * @retval 0, or a negative errno with *r->err filled */
int tact_trajectory_load(struct tact_trajectory_file_reader *r);

#endif
