/* What the sources of the local law share. */
#ifndef TACT_CONTACT_LOCAL_INTERNAL_H
#define TACT_CONTACT_LOCAL_INTERNAL_H

#include "contact/local/local.h"

/* 1 where the patch transmits rolling torque: its centre of pressure may move. */
static inline int tact_local_rolls(const struct tact_local_problem *problem)
{
    return problem->semi[0] > 0.0 && problem->semi[1] > 0.0;
}

/* The impulse that stops all relative motion that the patch transmits, and its centre of pressure
 * d; returns 1 where it pushes. */
int tact_local_sticking_impulse(const struct tact_local_problem *problem, double x[6], double d[2]);

/* The limit surface, convex: G(f, m) <= 1 with f = F^2, m = M^2 and G homogeneous of degree 1. Its
 * normal at (F, M) is (F w[0], M w[1]), w the derivatives of G by f and m, so that F^2 w[0] + M^2
 * w[1] = G: the ellipsoid of those weights touches the surface there. Returns G. */
double tact_local_surface(const struct tact_local_problem *problem, double f, double m,
                          double w[2]);

/* Finds bend as well, how w answers: w[0] by m and w[1] by -f times bend (m df - f dm) / 2. */
double tact_local_surface_curvature(const struct tact_local_problem *problem, double f, double m,
                                    double w[2], double *curvature);

/* Share of the limit surface that r uses at its own centre of pressure d; 1: at the limit. */
double tact_local_friction_share(const struct tact_local_problem *problem, const double *r,
                                 const double *d);

/* Shrinks friction and torsion of r, about its centre of pressure, until they are inside the limit
 * surface: the place where it was solved may have been another. A pull becomes nothing. Returns
 * CONE, SPIN or both: each that takes at least a hundredth of the power that friction and spin
 * dissipate at the limit surface. */
int tact_local_enforce_limits(const struct tact_local_problem *problem, double r[6]);

/* Share of the patch's extent that the centre of pressure d uses; 1: at the edge. */
double tact_local_edge_share(const struct tact_local_problem *problem, const double *d);

#endif
