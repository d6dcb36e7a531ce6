/* The output of tact info. */
#ifndef TACT_EXAMPLES_INFO_H
#define TACT_EXAMPLES_INFO_H

#include "survey.h"

#define EXIT_DAMAGED_LOG 3

struct info {
    const char *path;
    struct tact_log *log;
    struct tact_scene_log scene_log; /* empty where the log's scene cannot be read */
    struct log_survey log_survey;
};

/* Duration of a log from the first tick to the end of the last one [s]. */
double info_recorded_duration(const struct info *info);
/* Wall-clock time of the first tick [ns]; -1: there is none, or it is not known. */
int64_t info_start_wall_clock_ns(const struct info *info);

/* digest.c: prints a line "HASH  PATH" for each log. is_digest_of_results: of its results, whatever
 * its layout; else over tick, name and every value that a session of the same scene reproduces: all
 * but stamps and measured times. Returns the exit code. */
int info_print_digests(char **log_paths, int count, int is_digest_of_results);

/* results.c: the digest of the results of a log that was just opened. Returns 0 or a negative
 * errno. */
#define INFO_DIGEST_TEXT_BYTES 33 /* 128 bits as text */
int info_compute_results_digest(struct tact_log *log, const struct tact_scene_log *scene_log,
                                char out[INFO_DIGEST_TEXT_BYTES]);

/* info_ports.c: writes why the log has no energy of the force that an output sends, and returns
 * `out`; NULL where it has it, or the output sends a rate or position. */
#define INFO_REASON_TEXT_BYTES 320
const char *info_reason_without_port_energy(const struct tact_scene_log *scene_log, uint32_t output,
                                            char *out, size_t size);

/* info_json.c: 0, or -1 where it cannot be written. */
int info_print_json(const struct info *info);

#endif
