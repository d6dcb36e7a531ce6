/* Recorded tosses of a cube, as starts.csv and tosses.csv have them, in the tracker's lengths. */
#ifndef TACT_BENCH_TOSS_DATA_H
#define TACT_BENCH_TOSS_DATA_H

/* One sample: position of the centre [m], quaternion w first (body to world). */
struct toss_sample {
    double position[3];
    double quat_wxyz[4];
};

struct toss {
    int number;
    double velocity[3];         /* velocity of the centre at the start, world frame [m/s] */
    double angular_velocity[3]; /* angular velocity at the start, world frame [rad/s] */
    int count; /* number of samples: the start and those that are compared with it */
    struct toss_sample *samples;
};

struct toss_data {
    struct toss *tosses; /* the tosses in the order of starts.csv */
    int count;
};

/* Reads both files of the folder. 0, or a negative errno with a message of at most `room` bytes. */
int toss_data_read(const char *folder, struct toss_data *out, char *message, unsigned room);
void toss_data_free(struct toss_data *data);

#endif
