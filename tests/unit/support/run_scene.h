/* Runs a scene of examples/scenes, edited as text, and reports its final state. */
#ifndef TACT_TESTS_RUN_SCENE_H
#define TACT_TESTS_RUN_SCENE_H

#include "rt/session/session.h"

/* One replacement in a scene's text: `from`, which the text must contain, by `to`. */
struct edit {
    const char *from;
    const char *to;
};

struct run_options {
    const char *scene;        /* "ruler.yaml" */
    const struct edit *edits; /* list of replacements, ended by from = NULL; may be NULL */
    double seconds;
    int clock;                   /* clock of the session's loop: an enum tact_loop_clock */
    const char *source;          /* "host", "opencl", "auto" */
    const char *record;          /* path, or NULL */
    tact_source_factory factory; /* NULL: OpenCL */
    void *source_factory_user_data;
};

struct run_result {
    struct tact_session_report report;
    double position[3]; /* position of the first body's frame at the end [m] */
    double quat_wxyz[4];
    double speed;                /* speed of the first body's centre of mass at the end [m/s] */
    double pitch_deg;            /* rotation of the body about y; 0: level [deg] */
    double tilt_deg;             /* angle of the body's z axis from the vertical [deg] */
    double normal_force;         /* least normal force of the pairs that touch at the end [N] */
    double spin_arm;             /* spin arm of the pair with the least normal force [m] */
    char run_warning_text[2048]; /* warnings and errors of the run, one line each */
};

/* Skips the test with the reason where there is no OpenCL device. */
void skip_test_without_opencl(void);

/* Fails the test where the scene cannot be loaded or its session created. */
void run_scene(const struct run_options *options, struct run_result *result);

/* Runs a scene of examples/scenes free-wheeling, with the moments of the host, and opens the log of
 * it at `path`; *record: for its ticks, freed by the caller with free(). */
struct tact_log *record_and_open_log(const char *scene, double seconds, const char *path,
                                     struct tact_record **record);

/* The values of a tick of a log, in `record`. */
const double *read_values_of_tick(struct tact_log *log, uint64_t tick, struct tact_record *record);

/* Loads a scene given as text and creates its session; fails the test where that fails. The caller
 * frees both. */
void open_session_of_scene_text(const char *text, const struct tact_session_options *options,
                                struct tact_scene **scene, struct tact_session **session);

/* Loads and runs a scene given as text; fails the test where that fails. */
void run_session_of_scene_text(const char *text, const struct tact_session_options *options,
                               struct tact_session_report *report);

/* Runs a scene given as text and reads the pose of a body of the world, of which those that move
 * are first, at the end. */
void run_scene_text_to_pose(const char *text, int body, struct tact_session_report *report,
                            struct tact_pose *pose);

/* The scene's text with its edits, freed with free(). */
char *load_scene_text_with_edits(const char *scene, const struct edit *edits);

/* Reads from a log, between `from` and `to` seconds: the worst tilt of a body against its first
 * pose [deg], and the worst slip of the mean of two pairs' patch centres in the body's frame [m].
 */
void read_worst_tilt_and_slip_of_log(const char *log, const char *body, const char *pair_body_a,
                                     const char *pair_body_b, double from, double to,
                                     double *tilt_deg, double *slip);

/* CPU time of this process, all threads [s]. */
double cpu_seconds(void);

#endif
