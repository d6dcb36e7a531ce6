/*
 * A scene of examples/scenes, run through the library and kept tick by tick.
 */
#ifndef TACT_TESTS_PLAYED_H
#define TACT_TESTS_PLAYED_H

#include "rt/session/session.h"

/* A body in a tick. */
struct played_body {
    double position[3];  /* of the centre of mass [m] */
    double quat_wxyz[4]; /* world */
    double twist[6];     /* [m/s], [rad/s], world */
};

struct played {
    char name[64];
    double period; /* [s] */
    int ticks, bodies;
    char (*body_name)[64];
    struct played_body *body; /* ticks x bodies */
    double *energy;           /* of all bodies: kinetic and of height [J], one a tick */
    double *work;             /* of the contacts, where they push bodies apart [J], one a tick */
    double *force;            /* sum of the normal forces [N], one a tick */
    double mass;              /* of all bodies [kg] */
    struct tact_session_report report;
};

/* Runs the scene with host moments. Fails the test where it cannot be run. */
void play(const char *scene, double seconds, struct played *out);

/* The same of a scene that reads no other file, with these lines of YAML added to it. */
void play_with(const char *scene, double seconds, const char *more, struct played *out);
void played_free(struct played *played);

/* The body of that name at a time [s]; the last tick for a negative one. */
const struct played_body *played_at(const struct played *played, const char *body, double seconds);

/* Angle [deg] of the body's z axis from the vertical. */
double played_tilt(const struct played_body *body);

/* Largest distance across the vertical of any body from where it was at `from` seconds [m], and
 * largest speed of any body in the last tick [m/s or rad/s]. */
double played_drift(const struct played *played, double from);
double played_speed(const struct played *played);

/* Fails where the energy grows in a tick by more than the contacts' work of pushing apart. */
void played_energy(const struct played *played);

#endif
