/*
 * The local law where it is known which of its limits act: then it is smooth, and Newton's method
 * finds the solution in a few steps from one that is near, and how it answers b besides.
 *
 * Scaled unknowns x = (f_n, f_1 / mu, f_2 / mu, tau_n / (mu k), tau_1 / a2, tau_2 / a1), velocities
 * power-conjugate; y the centre of pressure over the semi-axes. The normal part (x0, x4, x5) is
 * that of a face of the patch: all of it, an edge, a corner, or the rim of an ellipse.
 */
#ifndef TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H
#define TACT_CONTACT_LOCAL_ACTIVE_INTERNAL_H

#include "contact/local/local_internal.h"

enum face { FACE_INSIDE, FACE_EDGE, FACE_CORNER, FACE_RIM, FACE_POINT };

/* The problem, scaled, and where the search is. */
struct active {
    double s[6][6], b[6], unit[6];
    double alpha, beta; /* semi-axes over the spin arm */
    double corner[TACT_LOCAL_CORNERS][2];
    int corners;
    enum tact_surface surface;
    enum face face;
    int first;          /* FACE_EDGE, FACE_CORNER: which */
    int slips;          /* 0: friction holds */
    double x[6], u[6];  /* u = s x + b */
    double gamma;       /* multiplier of slip */
    double y[2];        /* centre of pressure */
    double m, f;        /* torsion about it; square of friction */
    double g;           /* square of the normal force whose limit they are at */
    double w[2];        /* of the limit surface */
    double bend;        /* how w answers the share of friction, over (f + m^2)^3 / 2 */
    double size;        /* of velocities */
    double basis[3][3]; /* directions of (x0, x4, x5) that the face leaves free */
    int free;
    double inner[9];       /* factors of S on the face */
    double follow[3][3];   /* change of (x0, x4, x5) by each part of friction */
    double seen[3][3];     /* and of friction's velocities */
    double jacobian[4][4]; /* of friction's equations by friction and multiplier, factored */
    double diagonal[4];
    int pivot[4];
    int n;
};

/* What follows from x: velocities, place, use of the limit surface. */
void tact_active_look(struct active *a);

/* The directions that the face leaves free. */
void tact_active_basis(struct active *a);

/* Finds how the normal part answers friction, and friction's velocities with it: the equations of
 * the face, no velocity along the basis, are linear, but for the turning of the rim. */
void tact_active_eliminate(struct active *a);

/* What is left of friction's equations. */
void tact_active_equations(const struct active *a, double *t);

/* Factors their derivative. Returns 0 where it is singular. */
int tact_active_factor(struct active *a);

/* Changes of all unknowns that answer changes b of the velocities and, of friction's equations,
 * what is left beside; left: out, the changes of friction and of the multiplier. */
void tact_active_respond(const struct active *a, const double *b, double *left, double *dx);

/* Finds the solution from r, a solution of a near problem; r: out. Returns the active limits, or -1
 * where it was not found, and r is as it was. */
int tact_local_active(const struct tact_local_problem *problem, double r[6]);

/* How the solution r answers b, 6 x 6 row-major. Returns 1, or 0 where that is not known. */
int tact_local_slope(const struct tact_local_problem *problem, const double r[6], double *slope);

#endif
