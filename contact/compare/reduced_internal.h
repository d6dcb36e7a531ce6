/*
 * One contact in reduced coordinates q = (s, t, u, v, psi) (Kry and Pai 2003): (s, t) of the moving
 * body's surface, (u, v) of the fixed one's, and the angle between their contact frames. Numbers in
 * parentheses are equations of the paper.
 *
 * Frame 1 is that of the moving body, at its centre of mass; frame 2 is the world, in which body 2
 * is at rest. The contact frames 1c and 2c are at the contact, z along the outward normals. A
 * spatial vector has its angular part first, a wrench its torque.
 */
#ifndef TACT_CONTACT_REDUCED_INTERNAL_H
#define TACT_CONTACT_REDUCED_INTERNAL_H

#include "contact/compare/reduced.h"
#include "contact/compare/reduced_surface_internal.h"
#include "contact/limits.h"
#include "contact/pair/smooth/closest_internal.h"
#include "contact/world/body.h"

enum { COORDINATES = 5, SPATIAL = 6 };

/* The contact frame of a surface (5, 6), and the relation of its motion to (s', t') (51). */
struct contact_frame {
    double at[3];
    double axes[9];             /* x, y, z as columns: row-major rotation from 1c to 1 */
    double h[SPATIAL][2];       /* phi(1,1c) in 1c = h (s', t') */
    double rate[2][SPATIAL][2]; /* derivatives of h by s and t */
};

/* Position in reduced coordinates and its rates. */
struct reduced_state {
    int chart[2];             /* of bodies 1 and 2 */
    double q[COORDINATES];    /* s, t, u, v, psi */
    double rate[COORDINATES]; /* q' */
    double energy;            /* the least since the contact began [J] */
    double kinetic;           /* the most kinetic energy that this has left since then [J] */
};

/* The relation phi = H q' (14) and its rate. phi: of body 1 relative to body 2, phi(2,1). */
struct reduced_kinematics {
    struct contact_frame frame[2];
    double align[9];                          /* R_psi (7): 2c to 1c */
    double h[SPATIAL][COORDINATES];           /* in 1c */
    double h_rate[SPATIAL][COORDINATES];      /* in 1c */
    double body_h[SPATIAL][COORDINATES];      /* in 1 */
    double body_h_rate[SPATIAL][COORDINATES]; /* in 1 */
    double d[2][2], d_rate[2][2];             /* (s', t') = D (u', v') without slip (31); NaN where
                                                 the chart of body 1 is singular */
};

/* Why a motion cannot begin or continue. */
enum reduced_failure {
    REDUCED_NO_FAILURE,
    REDUCED_SINGULAR,   /* H or the matrix of the accelerations */
    REDUCED_NOT_FINITE, /* the state */
    REDUCED_CONFORMS,   /* contact along a line or a face */
    REDUCED_OVERLAPS,   /* at the start */
    REDUCED_MERGES,     /* the surfaces overlap beside the contact */
    REDUCED_GAINS,      /* energy out of nothing */
    REDUCED_EDGES,      /* MAX_CROSSINGS_AT_ONCE */
    REDUCED_IDLE,       /* MAX_STEPS_WITHOUT_TIME */
    REDUCED_FAILURES
};

enum {
    MAX_CROSSINGS_AT_ONCE = 64,    /* more, without time between them: an oscillation */
    MAX_STEPS_WITHOUT_TIME = 10000 /* rejected steps and edges in succession */
};

struct tact_reduced {
    struct tact_reduced_options options;
    struct tact_shape shape[2];
    struct reduced_surface surface[2];
    struct tact_pose local; /* pose of shape 1 in frame 1 */
    struct tact_pose fixed; /* pose of shape 2 */
    double size;            /* of the smaller of the two [m] */
    double reach;           /* from the centre of mass to the farthest point of shape 1, at most
                               [m] */
    int may_touch_twice;    /* 1: not a convex pair */
    struct tact_body body;  /* in flight; otherwise mass and inertia */
    struct reduced_state state;
    double step;         /* that is tried next [s] */
    double slide[2];     /* direction of slip where there is none yet, in 1c */
    int crossed_at_once; /* edges crossed without time between them */
    enum reduced_failure failure;
    struct tact_reduced_report report;
};

/* What a mode of contact gives at a state: the accelerations and the contact's wrench. */
struct reduced_forces {
    int count;                  /* number of independent rates */
    double second[COORDINATES]; /* their derivatives */
    double wrench[SPATIAL];     /* on body 1, in 1c, about the contact: f_c */
    double twist[SPATIAL];      /* phi in 1c */
};

void tact_reduced_contact_frame(const struct reduced_surface *surface, const struct chart_point *p,
                                struct contact_frame *out);
void tact_reduced_kinematics(const struct reduced_surface surface[2],
                             const struct reduced_state *state, struct reduced_kinematics *out);

/* Pose of frame 1 in the world (9). */
void tact_reduced_pose(const struct reduced_kinematics *k, double turn[9], double at[3]);

/* The contact frame 1c in the world, as columns. */
void tact_reduced_world_axes(const struct reduced_kinematics *k, double axes[9]);

/* The unit quaternion of a rotation matrix, by its largest component (Shepperd 1978). */
void tact_reduced_quaternion(const double turn[9], double q[4]);

/* Replaces the angle psi and the rates so that they are those of a pose (frame 1 in the world) and
 * a twist (in 1c), at the charts' coordinates that are set. -EDOM where H is singular. */
int tact_reduced_match(const struct reduced_surface surface[2], const double turn[9],
                       const double twist[SPATIAL], struct reduced_state *state);

/* Whether a state that a step reaches is possible: the surfaces part on all sides of the contact,
 * and the energy has not risen; both are also the signs of a step that is too long. Updates the
 * energies of the state. */
enum reduced_failure tact_reduced_check(const struct tact_reduced *r, struct reduced_state *state);

/* Accelerations in a mode (20, 28 and with H' or H''). -EDOM where the matrix is singular. */
int tact_reduced_forces(const struct tact_reduced *r, const struct reduced_state *state,
                        const struct reduced_kinematics *k, enum tact_reduced_mode mode,
                        struct reduced_forces *out);

/* The full rates q' from the independent ones of a mode (30, 37). */
void tact_reduced_all_rates(const struct reduced_kinematics *k, enum tact_reduced_mode mode,
                            double rate[COORDINATES]);

/* Replaces the rates by those of a mode with less freedom, by the impulse of a contact that loses
 * no more energy than it must. -EDOM as tact_reduced_forces(). */
int tact_reduced_project(const struct tact_reduced *r, struct reduced_state *state,
                         enum tact_reduced_mode mode);

/* Changes the chart of body k over an edge (41 to 43). A chart of body 1 has another frame 1c, to
 * which the direction of slip is turned. -EDOM where H is singular. */
int tact_reduced_cross(struct tact_reduced *r, int k, int edge);

/* Correction of psi for a change of chart: the angle from x of one frame to x of the other about z
 * (42). */
double tact_reduced_turn(const struct contact_frame *from, const struct contact_frame *to);

/* One step of at most r->step in contact, not beyond `until`; switches modes, charts, and to
 * flight. */
enum reduced_failure tact_reduced_step_contact(struct tact_reduced *r, double until);

/* One step in flight, with impacts; changes to contact. */
enum reduced_failure tact_reduced_step_flight(struct tact_reduced *r, double until);

/* The contacts that are near, from the pose of r->body; their number. contact: TACT_PIECES. -EDOM
 * where the surfaces conform. */
int tact_reduced_find(const struct tact_reduced *r, struct smooth_contact *contact);

/* The start: in contact, or in flight. */
enum reduced_failure tact_reduced_begin(struct tact_reduced *r, double gap);

/* Begins a contact at closest points, from the pose and twist of r->body without their part along
 * the normal. -EDOM where H is singular. */
int tact_reduced_touch(struct tact_reduced *r, const struct smooth_contact *c);

/* The mode with which a contact begins; flight where it would pull. */
void tact_reduced_choose_mode(struct tact_reduced *r);

/* Ends the contact: r->body gets the pose and twist of the state. */
void tact_reduced_release(struct tact_reduced *r);

/* The velocity change of an impact by the law of the options; twist at the centre of mass as
 * struct tact_body. n: outward from the fixed body, arm: from the centre of mass. */
void tact_reduced_impact(struct tact_reduced *r, const double n[3], const double arm[3],
                         double velocity[3]);

/* x = A^-1 x of n equations, row-major with rows of n, by elimination with pivots; A is
 * overwritten. -EDOM where it is singular to rounding. */
int tact_reduced_solve(double *a, int n, double *x);

#endif
