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

/* Contact frame of a surface at a point (5, 6), and the relation of the frame's motion to (s', t')
 * (51). */
struct contact_frame {
    double at[3];
    double axes[9]; /* x, y, z of the contact frame as columns: row-major rotation from 1c to 1 */
    double h[SPATIAL][2]; /* phi(1,1c) in 1c = h (s', t') */
    /* partial derivatives of h by the coordinates s and t of the chart */
    double rate[2][SPATIAL][2];
};

/* Position of the contact in reduced coordinates, and its rates. */
struct reduced_state {
    int chart[2];                                  /* of bodies 1 and 2 */
    double q[COORDINATES];                         /* s, t, u, v, psi */
    double rate[COORDINATES];                      /* q' */
    double min_total_energy_since_contact_began;   /* smallest total energy since the contact began
                                                      [J] */
    double max_kinetic_energy_since_contact_began; /* largest kinetic energy possible with that
                       total energy since the contact began [J] */
};

/* The matrix H of phi = H q' (14) and its rate. phi: twist of body 1 relative to body 2, phi(2,1).
 */
struct reduced_kinematics {
    struct contact_frame frame[2];
    double contact_angle_rotation[9];                      /* rotation R_psi (7) from 2c to 1c */
    double h[SPATIAL][COORDINATES];                        /* H in frame 1c */
    double contact_jacobian_rate[SPATIAL][COORDINATES];    /* H' in frame 1c */
    double body_frame_jacobian[SPATIAL][COORDINATES];      /* H in frame 1 */
    double body_frame_jacobian_rate[SPATIAL][COORDINATES]; /* H' in frame 1 */
    double d[2][2], d_rate[2][2]; /* matrix D of (s', t') = D (u', v') without slip (31); NaN where
                                     the chart of body 1 is singular */
};

/* Why a simulation cannot begin or continue. */
enum simulation_failure {
    NO_SIMULATION_FAILURE,
    FAILURE_SINGULAR_MATRIX,          /* H or the matrix of the accelerations is singular */
    FAILURE_STATE_NOT_FINITE,         /* the state is not finite */
    FAILURE_CONFORMING_SURFACES,      /* the surfaces touch along a line or a face */
    FAILURE_OVERLAP_AT_START,         /* the surfaces overlap at the start */
    FAILURE_OVERLAP_BESIDE_CONTACT,   /* the surfaces also overlap beside the contact */
    FAILURE_TOTAL_ENERGY_RISES,       /* the total energy rises */
    FAILURE_TOO_MANY_CHART_CROSSINGS, /* more than MAX_CHART_CROSSINGS_WITHOUT_TIME chart edges
                                         crossed */
    FAILURE_STEPS_WITHOUT_PROGRESS,   /* more than MAX_STEPS_WITHOUT_TIME steps without progress */
    REDUCED_FAILURES
};

enum {
    MAX_CHART_CROSSINGS_WITHOUT_TIME =
        64, /* largest number of chart edges crossed in succession without time between them */
    MAX_STEPS_WITHOUT_TIME =
        10000 /* largest number of rejected steps and crossed chart edges in succession */
};

struct tact_reduced {
    struct tact_reduced_options options;
    struct tact_shape shape[2];
    struct reduced_surface surface[2];
    struct tact_pose local;                  /* pose of shape 1 in the frame of the moving body */
    struct tact_pose fixed;                  /* pose of shape 2 */
    double size;                             /* size of the smaller of the two shapes [m] */
    double max_distance_from_centre_of_mass; /* upper bound of the distance from the centre of mass
                     to the farthest point of shape 1 [m] */
    int may_have_two_contacts;               /* 1: the two shapes are not a convex pair */
    struct tact_body body; /* mass and inertia of the moving body; pose and twist in flight only */
    struct reduced_state state;
    double step;                        /* length of the next time step [s] */
    double incipient_slip_direction[2]; /* direction in which slip will begin, while there is none,
                                 in frame 1c */
    int chart_crossings_at_same_time; /* chart edges crossed in succession without time between them
                                       */
    enum simulation_failure failure;
    struct tact_reduced_report report;
};

/* Solution of the equations of motion in a contact mode: accelerations and contact wrench. */
struct accelerations_and_contact_wrench {
    int count; /* number of independent rates of the contact mode */
    double independent_accelerations[COORDINATES]; /* derivatives of the independent rates */
    double wrench[SPATIAL]; /* contact wrench f_c on body 1, about the contact, in frame 1c */
    double twist[SPATIAL];  /* relative twist phi in the contact frame 1c */
};

void tact_reduced_contact_frame(const struct reduced_surface *surface, const struct chart_point *p,
                                struct contact_frame *out);
void tact_reduced_kinematics(const struct reduced_surface surface[2],
                             const struct reduced_state *state, struct reduced_kinematics *out);

/* Pose of the moving body's frame 1 in the world (9). */
void tact_reduced_moving_body_pose(const struct reduced_kinematics *k, double rotation[9],
                                   double at[3]);

/* Axes of the contact frame 1c in the world, as columns. */
void tact_reduced_contact_axes_in_world(const struct reduced_kinematics *k, double axes[9]);

/* Converts a rotation matrix to a unit quaternion, by its largest component (Shepperd 1978). */
void tact_reduced_matrix_to_quat(const double rotation[9], double q[4]);

/* Sets the angle psi and the rates such that they correspond to a pose (frame 1 in the world) and a
 * twist (in 1c), at given chart coordinates. -EDOM where H is singular. */
int tact_reduced_set_rates_from_pose(const struct reduced_surface surface[2],
                                     const double rotation[9], const double twist[SPATIAL],
                                     struct reduced_state *state);

/* Checks that a state reached by a step is possible: the surfaces separate on all sides of the
 * contact, and the energy has not risen; a state that fails may also come from a step that is too
 * long. Updates the energies of the state. */
enum simulation_failure tact_reduced_check_state_possible(const struct tact_reduced *r,
                                                          struct reduced_state *state);

/* Computes accelerations and contact wrench in a contact mode (20, 28 and with H' or H''). -EDOM
 * where the matrix is singular. */
int tact_reduced_solve_motion_equations(const struct tact_reduced *r,
                                        const struct reduced_state *state,
                                        const struct reduced_kinematics *k,
                                        enum tact_reduced_mode mode,
                                        struct accelerations_and_contact_wrench *out);

/* Computes all rates q' from the independent ones of a contact mode (30, 37). */
void tact_reduced_compute_dependent_rates(const struct reduced_kinematics *k,
                                          enum tact_reduced_mode mode, double rate[COORDINATES]);

/* Projects the rates onto those of a contact mode with fewer degrees of freedom, by a contact
 * impulse that loses no more energy than it must. -EDOM as tact_reduced_solve_motion_equations().
 */
int tact_reduced_project_rates_to_mode(const struct tact_reduced *r, struct reduced_state *state,
                                       enum tact_reduced_mode mode);

/* Moves the contact on body k across an edge into the next chart (41 to 43). A chart of body 1 has
 * another frame 1c, to which the direction of slip is rotated. -EDOM where H is singular. */
int tact_reduced_change_chart(struct tact_reduced *r, int k, int edge);

/* Correction of psi for a change of chart: the angle from the x axis of one contact frame to that
 * of the other about z (42). */
double tact_reduced_chart_frame_angle(const struct contact_frame *from,
                                      const struct contact_frame *to);

/* Simulates one step of at most r->step in contact, not beyond `step_end_time`; changes modes and
 * charts, and ends the contact. */
enum simulation_failure tact_reduced_step_contact(struct tact_reduced *r, double step_end_time);

/* Simulates one step in flight, with impacts; begins a contact. */
enum simulation_failure tact_reduced_step_flight(struct tact_reduced *r, double step_end_time);

/* Finds the contacts near the pose of r->body, at most TACT_PIECES; returns their number, or -EDOM
 * where the surfaces conform. */
int tact_reduced_find_contacts(const struct tact_reduced *r, struct smooth_contact *contact);

/* Begins the simulation in contact or in flight. */
enum simulation_failure tact_reduced_begin_motion(struct tact_reduced *r, double gap);

/* Begins a contact at given closest points, from the pose and twist of r->body without the velocity
 * along the normal. -EDOM where H is singular. */
int tact_reduced_begin_contact(struct tact_reduced *r, const struct smooth_contact *c);

/* Chooses the mode with which a contact begins; flight where the contact force would pull. */
void tact_reduced_choose_contact_mode(struct tact_reduced *r);

/* Ends the contact: r->body gets the pose and twist of the state in reduced coordinates. */
void tact_reduced_end_contact(struct tact_reduced *r);

/* Applies an impact by the law of the options to the twist of r->body. n: outward from the fixed
 * body, arm: from the centre of mass to the contact; velocity: of the point, before and after. */
void tact_reduced_apply_impact(struct tact_reduced *r, const double n[3], const double arm[3],
                               double velocity[3]);

/* Solves A x = b of n equations by elimination with pivots: A row-major, overwritten; x holds b on
 * input. -EDOM where A is singular to rounding. */
int tact_reduced_solve_linear(double *a, int n, double *x);

#endif
