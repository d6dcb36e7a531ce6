/* Runs a scene of examples/scenes by the library and stores its states, tick by tick. */
#ifndef TACT_TESTS_SIMULATION_H
#define TACT_TESTS_SIMULATION_H

#include "rt/session/session.h"

/* State of a body at the end of a tick. */
struct body_state {
    double position[3];  /* position of the centre of mass, world frame [m] */
    double quat_wxyz[4]; /* world */
    double twist[6];     /* [m/s], [rad/s], world */
};

struct simulation {
    char name[64];
    double period; /* [s] */
    int ticks, bodies;
    char (*body_name)[64];
    struct body_state *body; /* ticks x bodies */
    double *energy;          /* energy of all bodies: kinetic and gravitational [J], one a tick */
    double *work;  /* work of the contacts, where they push bodies apart [J], one a tick */
    double *force; /* sum of the normal forces [N], one a tick */
    double mass;   /* mass of all bodies [kg] */
    struct tact_session_report report;
};

/* Runs the scene with host moments. Fails the test where it cannot be run. */
void simulate_scene(const char *scene, double seconds, struct simulation *out);

/* A function that is called at the end of each simulated tick. */
struct simulation_observer {
    tact_session_observer observe;
    void *user;
};

/* Runs the scene as simulate() does; observer: called in each tick, or NULL. */
void simulate_scene_observed(const char *scene, double seconds,
                             const struct simulation_observer *observer, struct simulation *out);

/* Runs a scene that reads no other file, with these lines of YAML appended. */
void simulate_scene_with_yaml_appended(const char *scene, double seconds, const char *more,
                                       struct simulation *out);

/* Runs a scene that reads no other file, with every `from` in its text replaced by `to`. */
void simulate_scene_with_yaml_replaced(const char *scene, double seconds, const char *from,
                                       const char *to, struct simulation *out);
void simulation_free(struct simulation *simulation);

/* State of the body of that name at a time [s]; in the last tick for a negative time. */
const struct body_state *simulation_body_at(const struct simulation *simulation, const char *body,
                                            double seconds);

/* Angle [deg] of the body's z axis from the vertical. */
double body_tilt_deg(const struct body_state *body);

/* Largest distance across the vertical of any body from where it was at `from` seconds [m], and
 * largest speed of any body in the last tick [m/s or rad/s]. */
double largest_horizontal_drift(const struct simulation *simulation, double from);
double largest_final_speed(const struct simulation *simulation);

/* Mean period of a body's coordinate, from its first to its last change to a negative sign [s].
 * Fails the test where there are fewer than three. */
double mean_oscillation_period(const struct simulation *simulation, const char *body, int axis);

/* Fails where the energy grows in a tick by more than the contacts' positive work. */
void assert_simulated_energy_rises_by_work_only(const struct simulation *simulation);

#endif
