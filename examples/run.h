/* The options of tact run and tact sim. */
#ifndef TACT_EXAMPLES_RUN_H
#define TACT_EXAMPLES_RUN_H

#include "command.h"
#include "contact/compare/reduced.h"
#include "rt/scene/scene.h"
#include "rt/session/session.h"
#include "viewer/stream.h"

struct run {
    const char *name; /* "tact run" */
    const char *scene;
    const char
        *moments; /* what computes moments: auto, opencl, host, thread; NULL: as in the scene */
    const char *plugins; /* folder of device types, or NULL */
    double duration;     /* 0: the scene's */
    int json, quiet;
    int view;                  /* 1: pages show it */
    int must_not_open_browser; /* 1: no browser is opened */
    struct stream_options viewer_page_options;
    char source[64]; /* name of the moment source; "": none was opened */
    int reduced;     /* 1: simulates in reduced coordinates (contact/compare/reduced.h) */
    int is_newton_impact_law_used; /* 1: with Newton's law of impacts instead of Chatterjee and
                                    * Ruina's
                                    */
    /* coefficients of the reduced coordinates, as in struct tact_reduced_options; NAN: the scene's,
       or the default */
    double static_friction_coefficient, dynamic_friction_coefficient, spin_limit,
        tangential_restitution;
    int tractions; /* 1: simulates by tractions in explicit steps (contact/compare/tractions.h) */
    double slip_speed; /* slip speed of their regularised friction [m/s] */
    int help;          /* 1: the help was printed, so that nothing is run */
    /* function that corrects file and line of a scene error; or NULL */
    void (*relocate_error)(void *user, struct tact_error *err);
    void *relocate_error_user_data;
    struct tact_session_options options;
    struct live_status live_status; /* user of options.watch */
};

/* run_options.c: fills run, whose name and clock are set. 0, or an exit code after a message. */
int run_parse_options(struct run *run, int argc, char **argv);

/* cmd_run.c: runs a scene, which it frees, as the options say. The exit code. */
int run_loaded_scene(struct run *run, struct tact_scene *scene);

/* run_reduced.c: runs a scene of one smooth pair by reduced coordinates. An exit code, after a
 * message where it is refused. */
int run_reduced(const struct run *run, const struct tact_scene *scene);

/* run_tractions.c: runs a scene of free bodies by tractions in explicit steps. An exit code, after
 * a message where it is refused. */
int run_tractions(const struct run *run, const struct tact_scene *scene);

/* run_reduced.c: what of a scene the methods of contact/compare/ do not support, in words; NULL:
 * nothing. */
const char *find_part_beyond_comparison(const struct tact_scene *scene);

/* Makes the simulation of a scene of one smooth pair, at its start, of which only run's name,
 * coefficients, clock and ticks are used, and the session with its shapes, which must outlive it.
 * Both are to be freed, also after an error. 0, or an exit code after a message. */
int open_reduced_scene(const struct run *run, const struct tact_scene *scene,
                       struct tact_session **session, struct tact_reduced **out);

#endif
