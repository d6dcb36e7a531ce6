/* One pass over the records of a log, for its summary. */
#ifndef TACT_EXAMPLES_SURVEY_H
#define TACT_EXAMPLES_SURVEY_H

#include "contact/limits.h"
#include "rt/histogram.h"
#include "rt/log/log_reader.h"
#include "rt/session/scene_log.h"

#define SURVEY_MAX_GAPS 8

struct survey_pair {
    struct tact_limit_tally tally; /* statistics of the ticks in which the pair touched */
    uint64_t limited; /* number of touching ticks with friction or torsion at its limit */
    uint64_t unmeasured_tick_count; /* number of ticks in which the pair's overlap could not be
                                       measured */
    double normal, torsion;         /* largest [N], [N m] */
    /* in the last tick, where the pair touched in it: */
    int touches_at_end, limits_at_end; /* enum tact_limit bits */
    double normal_force_at_end;        /* [N] */
    struct tact_margins friction_margins_at_end;
};

struct survey_hold {
    uint64_t touching; /* ticks with a normal force */
    double grip_force, load_force,
        ratio;         /* largest grip and load force [N], least ratio while it is loaded */
    double slip, turn; /* slip [m] and turn [rad] of the body in the hand at the end */
};

/* Whether a body in a hand is loaded: a load far below the grip force is a rounding error, to which
 * the grip has no ratio. */
static inline int survey_is_hold_loaded(double grip_force, double load_force)
{
    return load_force > 1e-9 * grip_force;
}

struct survey_joint_stop {
    uint64_t lower, upper; /* number of ticks in which the joint was at each stop */
    double reaction;       /* largest force or torque at the stop, with dry friction [N m], [N] */
};

struct log_survey {
    int64_t first_ns, last_ns; /* stamps, CLOCK_MONOTONIC */
    uint64_t gaps;             /* number of intervals of ticks that were not recorded */
    uint64_t skipped_tick_count,
        lost; /* ticks skipped by the loop; ticks lost as the recorder's ring was full */
    struct {
        uint64_t tick_before_gap, missing; /* tick before each gap, and number of ticks in it */
    } gap[SURVEY_MAX_GAPS];                /* the first gaps */
    /* Members that are set where the scene of the log can be read: */
    int faults; /* number of faults of the safety chain */
    uint64_t first_fault_tick;
    int safety; /* enum tact_safety_state at the end */
    int contacts_max;
    uint64_t counts[TACT_SOLVE_COUNTS],
        methods[TACT_MOMENTS_COUNTS];                        /* counts and methods of all ticks */
    struct tact_histogram wake_latency, computation_latency; /* [ns] */
    struct survey_pair *pairs; /* one entry for each pair of the scene log; to be freed */
    struct survey_port {
        double force;                /* largest force [N] and torque [N m] on the person */
        double energy, least_energy; /* energy absorbed from the person, at the end [J] */
        uint64_t limited;            /* ticks */
        /* ticks in which the port's device was stale: with the last force repeated, and without a
         * force */
        uint64_t held, missing;
    } * ports;                 /* one entry for each port of the scene log; to be freed */
    struct survey_hold *holds; /* one entry for each hold of the scene log; to be freed */
    struct survey_joint_stop
        *joint_stops; /* stops of joints of hands, then of mechanisms; to be freed */
    double *last;     /* values of the last record, where the scene can be read; to be freed */
};

/* Frees what the survey holds. */
void survey_free(struct log_survey *log_survey);

/* Reads all records from the present position. scene_log may be empty. 0 or a negative errno. */
int survey_log_records(struct tact_log *log, const struct tact_scene_log *scene_log,
                       struct log_survey *out);

/* A whole number of a log, which may have any value: NaN gives 0, larger ones than 9e18 give that.
 */
int64_t survey_round_to_integer(double value);
/* "armed"; "unknown" for a number that is no state of the safety chain. */
const char *survey_safety_state_name(int state);

/* Which stop a joint is at: -1 its lower one, 1 its upper one, 0 none; joint: index among the
 * joints of hands, then of mechanisms. */
double survey_reached_stop_of_joint(const struct tact_scene_log *scene_log, int joint,
                                    const double *values);
const char *survey_joint_name(const struct tact_scene_log *scene_log, int joint);

/* 1 for an input of a device of type network that describes the link, and not a joint of the other
 * end. */
int survey_is_link_quality_input(const struct tact_device_info *device, int input);

/* Wall-clock time of a stamp [ns since 1970], or -1 if the log does not have it. */
int64_t compute_wall_clock_time_ns(const struct tact_log *log, int64_t stamp_ns);

/* Force normal to the pair's patch, pushing A out of B [N], and torsion about the normal through
 * the centre of pressure (n x moment) / normal, where its limit applies [N m]; friction [N] is the
 * rest of the force. All 0 if not touching. */
struct survey_wrench {
    double normal, friction, torsion;
};
struct survey_wrench survey_wrench_of_pair(const struct tact_scene_log_pair *pair,
                                           const double *values);

#endif
