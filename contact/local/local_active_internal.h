/*
 * The local law where it is known which of its limits act: then it is smooth, and Newton's method
 * finds the solution in a few steps from one that is near, and how it answers b besides.
 *
 * Unknowns and velocities are scaled as in local_scaled_internal.h, with friction and torsion at c:
 * the normal part n = (f_n, y1, y2), friction t = (f_1 / mu, f_2 / mu, tau_n / (mu k)). The normal
 * part is that of a face of the patch: all of it, an edge, a corner, or the rim of an ellipse.
 */
#ifndef TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H
#define TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H

#include "contact/local/local_internal.h"

enum tact_active_face { FACE_INSIDE, FACE_EDGE, FACE_CORNER, FACE_RIM, FACE_POINT };

/* The problem, scaled, and where the search is. */
struct tact_active {
    double nn[9], nt[9], tt[9]; /* S: normal part, that by friction, friction */
    double bn[3], bt[3];
    double unit[6];     /* impulse per unknown, n before t */
    double alpha, beta; /* semi-axes over the spin arm */
    double drive;       /* largest of b */
    double stiffness;   /* largest of the diagonal of S */
    double corner[TACT_PATCH_CORNERS][2];
    int corners;
    const struct tact_local_problem *law; /* for its limit surface */
    enum tact_active_face face;
    int first; /* FACE_EDGE, FACE_CORNER: which */
    int slips; /* 0: friction holds */
    double n[3], t[3];
    double un[3], ut[3];       /* velocities */
    double gamma;              /* multiplier of slip */
    double per_force;          /* 1 / f_n */
    double y[2];               /* centre of pressure */
    double m, f;               /* torsion about it; square of friction */
    double g;                  /* square of the normal force whose limit they are at */
    double w[2], curvature;    /* of the limit surface */
    double basis[3][3];        /* directions of n that the face leaves free; the others 0 */
    double normal_response[9]; /* minus how n answers normal velocities, friction kept */
};

/* Changes of the unknowns. */
struct tact_active_change {
    double n[3], t[3], gamma;
};

/* What follows from n and t: velocities; place, and use of the limit surface. */
void tact_active_velocities(struct tact_active *a);
void tact_active_evaluate(struct tact_active *a);

/* Slip at the centre of pressure, and the direction that it has at the limit surface. */
void tact_active_slip(const struct tact_active *a, double *v);
void tact_active_normal(const struct tact_active *a, double *out);

/* How far velocities are from the equations of the face and of slip. */
double tact_active_residual(const struct tact_active *a);

/* What Newton's step changes. */
void tact_active_step(const struct tact_active *a, struct tact_active_change *out);

/* What velocities (un, ut) change that come in, and what friction's equations and limit lack
 * beside, more. */
void tact_active_respond(const struct tact_active *a, const double *un, const double *ut,
                         const double *more, struct tact_active_change *out);

/* Size of velocities. */
static inline double tact_active_velocity_scale(const struct tact_active *a)
{
    double held = a->stiffness * a->n[0];
    return held > a->drive ? held : a->drive;
}

/* Goes to the face where the centre of pressure is. */
void tact_face_choose(struct tact_active *a);

/* Puts the normal part on the face. */
void tact_face_project(struct tact_active *a);

/* Finds which directions the face leaves free, and how the normal part answers along them. */
void tact_face_span(struct tact_active *a);

/* Whether the face is that of the solution; else goes to another that may be. */
int tact_face_update(struct tact_active *a);

/* Finds the solution from r, a solution of a near problem; r: out. Returns the active limits, or -1
 * where it was not found, and r is as it was. */
int tact_local_active(const struct tact_local_problem *problem, double r[6]);

/* How the solution r answers b, 6 x 6 row-major. Returns 1, or 0 where that is not known. */
int tact_local_derivative(const struct tact_local_problem *problem, const double r[6],
                          double *slope);

#endif
