/*
 * The law, scaled. x = (f_n, y1, y2, z1, z2, z3) with y the centre of pressure over the semi-axes
 * times f_n, z friction over mu and torsion over mu k, both at the centre of pressure d:
 *     f_1 = mu z1, f_2 = mu z2, tau_d = mu k z3, tau_1 = a2 y2, tau_2 = -a1 y1.
 * Where the limit surface is no ellipsoid z is scaled further to the ellipsoid that touches it at
 * the last solution, which is then a fixed point.
 * U = S x + b is power-conjugate. Wanted: N = {y / f_n in the patch} holds x_N, perpendicular to
 * U_N in N* = N; and either |z| <= f_n with U_z = 0 (stick) or |z| = f_n with U_z = -g z, g > 0
 * (slip). For a given g friction is linear and is eliminated, which leaves a convex program of
 * three unknowns over N; |z| = f_n is then one equation for g.
 */
#ifndef TACT_CONTACT_LOCAL_SCALED_INTERNAL_H
#define TACT_CONTACT_LOCAL_SCALED_INTERNAL_H

#include "contact/local/local_internal.h"
#include "contact/local/normal_internal.h"

/** The scaled problem at a centre of pressure. */
struct scaled {
    double s[36]; /* order f_n, y1, y2, z1, z2, z3 */
    double b[6];
    double unit[6];            /* impulse per scaled unknown */
    int rolling;               /* 1: y are unknowns, 0: y = 0 */
    struct normal_patch patch; /* what y / f_n stays in */
    double x[6];               /* of the last evaluation */
    double slip;               /* of that: g */
    int rim;                   /* of that: the centre of pressure is at the edge */
};

/** What friction of an impulse depends on but for the impulse itself. */
struct friction_state {
    double d[2];              /* centre of pressure, where it acts, held inside the patch [m] */
    double friction_fraction; /* of friction in friction and torsion: f / (f + m), see
                                 tact_local_surface() */
};

/* Which entry of r each scaled unknown is. */
extern const int tact_local_entry[6];

/* Squares of F f_n and M f_n (enum tact_surface) of the impulse r at d. */
void tact_local_squares(const struct tact_local_problem *problem, const double *r, const double *d,
                        double *f, double *m);

/* The scaled problem with friction at that place. */
void tact_local_scale(const struct tact_local_problem *in, const struct friction_state *at,
                      struct scaled *out);

/* Pulls d towards the centre until it is in the patch. Returns the share of the patch's extent that
 * it used. */
double tact_local_clamp_pressure(const struct tact_local_problem *problem, double *d);

/* The centre of pressure of r, held inside the patch; returns the share as well. */
double tact_local_pressure_centre(const struct tact_local_problem *problem, const double *r,
                                  double *d);

/* Where friction of the impulse r acts. */
void tact_local_friction_state(const struct tact_local_problem *problem, const double *r,
                               struct friction_state *at);

#endif
