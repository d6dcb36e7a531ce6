/* A link between two ends, measured by packets of the size that a session sends. */
#ifndef TACT_EXAMPLES_LINK_H
#define TACT_EXAMPLES_LINK_H

#include "devices/network/clock_offset_internal.h"
#include "devices/network/endpoint_internal.h"
#include <jansson.h>
#include "link_quality.h"
#include "rt/histogram.h"
#include "rt/realtime.h"
#include "rt/scene/scene.h"

struct link_options {
    /* scene whose network device determines the following four options; or NULL */
    const char *scene;
    const char *listen, *connect; /* address to listen at or to connect to; one of them is NULL */
    const char *key, *peer; /* files of the own secret key and the peer's public key; NULL: none */
    double seconds;         /* duration of the measurement [s] */
    double rate;            /* packets a second [Hz] */
    double wait;            /* how long to wait for the other end [s] */
    int json;
};

/* Link settings of a scene. */
struct link_scene {
    struct tact_scene *scene; /* NULL: none; to be freed */
    struct tact_scene *other; /* scene of the other end; NULL: not known; to be freed */
    const char *device;       /* name of the scene's network device */
    char key[4096], peer[4096];
    double jitter;        /* setting jitter of the device [s] */
    int repeats;          /* setting repeats of the device */
    int has_unstable_tie; /* 1: the link that was measured does not support the mode of a tie */
};

enum { LINK_WAVES, LINK_POSITION_FORCE, LINK_POSITION_POSITION, LINK_MODEL, LINK_MODES };

/* Properties of the modes at a constant delay, for the ties that slide or for those that turn,
 * which have numbers of their own. */
struct link_modes {
    int is_rotational;              /* 1: of hinges and attitudes, in N m/rad and N m s/rad */
    int tie_count;                  /* number of ties of this kind, in both scenes */
    double max_robot_tie_stiffness; /* largest stiffness of a robot's tie [N/m, N m/rad] */
    /* smallest damping of a joint that a person holds, with that of the grip */
    double damping;                      /* [N s/m, N m s/rad] */
    int is_stiffness_or_damping_assumed; /* 1: stiffness or damping is not known; assumed are 1000
                                 N/m, 1 N s/m, or 3 N m/rad, 0.01 N m s/rad */
    double min_tie_wave_impedance; /* smallest wave impedance of the ties [N s/m, N m s/rad]; if no
                         tie has waves 10, 0.03 */
    double min_tie_energy_tank;    /* smallest tank of a robot's tie by waves [J]; 0: no such tie is
                                      known */
    /* largest press that this tank supplies, sqrt(2 b E / d), as a line under the force F contains
     * F^2 d / (2 b) [N, N m] */
    double largest_press_supplied_by_tank;
    struct link_mode {
        const char *name;
        /* stiffness with which a rigid wall is felt at once, or the largest stable one [N/m, N
         * m/rad] */
        double stiffness;
        int is_tie_mode_supported;
    } mode[LINK_MODES];
    int best; /* index of the best of these modes */
};

/* A measurement, of the direction towards this end. */
struct link_measurement {
    struct tact_network_endpoint endpoint;
    struct tact_network_clock_offset_estimate clock;
    struct link_arrival *packet_arrivals; /* [capacity] */
    size_t count, capacity;
    uint64_t session; /* number of the session to which the arrivals belong */
    /* packets that are no probe of tact link, or whose stamps have no order in time */
    uint64_t refused_packet_count;
    uint64_t dropped_probe_count;     /* number of probes beyond the capacity */
    struct tact_histogram round_trip; /* [ns] */
    struct tact_histogram send_call_durations,
        receive_call_time;                /* time of the calls in each tick [ns] */
    struct tact_realtime_report realtime; /* real-time settings that the thread was granted */
    uint64_t late_tick_count;             /* ticks that began more than a period late */
};

/* link_measure.c: opens the link, waits for the other end and measures. Returns the exit code. */
int link_measure(const char *command, const struct link_options *options,
                 struct link_measurement *m);

/* link_scene.c: sets address, keys and rate of the options by options->scene. 0 or a negative errno
 * with *err set; the scene is to be freed in any case. */
int link_scene_open(struct link_options *options, struct link_scene *out, struct tact_error *err);
/* Reads the link settings of the scene out->scene, which is loaded. */
int link_scene_read(struct link_options *options, struct link_scene *out, struct tact_error *err);
/* Prints how the scene's settings and ties behave over the measured link. */
void link_scene_print(const struct link_options *options, struct link_scene *scene,
                      const struct link_quality *quality);
json_t *link_scene_json(struct link_scene *scene, const struct link_quality *quality);

/* link_modes.c: the mode of a tie, by its name in a scene that was checked. */
int link_mode_of_name(const char *name);
/* 1 where a tie is of a hinge, or of the attitude of a base: its numbers are of angles. */
int link_is_tie_rotational(const struct tact_scene *scene, const struct tact_scene_remote *tie);

/* link_modes.c: of the ties that slide, or with `is_rotational` of those that turn; delay: one way,
 * with all waits [s]. Waves add b / d in series, and are stable at any delay. Forces and positions
 * that are sent as they are keep a wall passive only as stiff as b / (T / 2 + 2 d + T): the
 * condition of Colgate and Schenkel for a wall whose force is late by what the link takes there and
 * back. */
void link_modes(const struct link_scene *scene, double delay, int is_rotational,
                struct link_modes *out);
void link_modes_print(const struct link_modes *modes, double delay);
json_t *link_modes_json(const struct link_modes *modes);

/* link_print.c: the table, with that of a scene where there is one, or one JSON object. Returns the
 * exit code. */
int link_print(const struct link_options *options, struct link_scene *scene,
               struct link_measurement *m);

#endif
