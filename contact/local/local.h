/**
 * The local problem of one 6D contact, and its solvers.
 *
 * Frame: (n, t1, t2) at the patch centre c, right-handed. Impulse r = (f_n, f_1, f_2, tau_n, tau_1,
 * tau_2) on A [N s, N m s]; velocity of A relative to B at c u = (v_n, v_1, v_2, w_n, w_1, w_2)
 * [m/s, rad/s]; u = S r + b. The centre of pressure of r is d = (-tau_2, tau_1) / f_n in (t1, t2).
 * All functions are real-time safe and use only what they are given.
 */
#ifndef TACT_CONTACT_LOCAL_H
#define TACT_CONTACT_LOCAL_H

#include "../api.h"
#include "../limits.h"

TACT_BEGIN_DECLS

/** The problem of one contact. */
struct tact_local_problem {
    double s[36]; /**< S, 6 x 6, row-major, symmetric positive semidefinite [1/kg, 1/(kg m^2), ...];
                       s[0] includes the compliance of the normal direction */
    double
        b[6];  /**< velocity without this contact's impulse, stabilisation included [m/s, rad/s] */
    double mu; /**< Coulomb coefficient [1] */
    double semi[2]; /**< semi-axes of the ellipse that holds the centre of pressure [m]; 0 0: the
                         centre of pressure stays at c and no rolling torque is transmitted */
    int corners;    /**< of the polygon that holds the centre of pressure instead; 0: the ellipse */
    double corner[TACT_PATCH_CORNERS]
                 [2];          /**< counter-clockwise about c [m]; c is inside; cone only */
    double spin_arm;           /**< torsion limit over mu f_n [m] (cone) */
    enum tact_surface surface; /**< which friction and torsion go together */
    double fit[3];             /**< FITTED: p_0, p_1, p_2 [1] */
    double rectangle[2]; /**< Bouchard: half sides of the rectangle whose corners bound spin in
                              eq. 13 [m]; 0 0: the surface bounds it */
    int by_mass; /**< Bouchard: the centre of pressure goes to the patch in the metric of S (1), or
                      to the closest point (0); see tact_local_bouchard() */
    double factor[36]; /**< of the rows of S that the patch transmits; see tact_local_prepare()
                          [kg^-1/2] and its rows in turn */
    int passes;        /**< cone: most steps of the search for the place of friction (centre of
                            pressure, ratio to spin) in one solve; 0: 6. Among other contacts 3
                            converge as well */
    int rows;          /**< of those: 6, or 4 without rolling torque */
};

/** Factors S for tact_local_cone(), once s and semi are set; b may change afterwards. */
TACT_API void tact_local_prepare(struct tact_local_problem *problem);

/**
 * Bouchard 2015, Algorithm 1: rigid 6D solve, projection to the friction cone with Hahn's re-solve
 * (eq. 4), centre of pressure projected to the ellipse and point-contact solve there (eq. 8, 10),
 * spin clamped by the four corners (eq. 13). With the errata: eq. 7 with (c - p),
 * d = (n x tau) / f_n, right side -R'Pe in eq. 10, spin clamped about p, f_n <= 0 handled first.
 * The projection is Euclidean or, with by_mass, that of the normal force and rolling torque onto
 * those with a centre of pressure in the ellipse, in the metric of S: the least energy of the
 * relative motion, where the contact slides beside the friction that it has, else beside that which
 * stops slip and spin. Section 5.4 asks for it without friction, where it is the solution; with
 * friction, where no metric is exact, its residuals are three quarters of the Euclidean ones in the
 * median.
 * r: out. Returns the active limits (enum tact_limit).
 */
TACT_API int tact_local_bouchard(const struct tact_local_problem *problem, double r[6]);

/**
 * Maximal dissipation over the wrenches a patch can transmit: f_n >= 0 and d in the patch, in
 * associated complementarity with (v_n, w_1, w_2); friction and spin at the centre of pressure
 * inside the limit surface, and of all those that are, dissipating most: the slip is normal to the
 * surface. problem: prepared by tact_local_prepare(). r: in, an impulse near which the search
 * for the centre of pressure and the ratio of friction to spin starts; out, the solution. Returns
 * the active limits.
 */
TACT_API int tact_local_cone(const struct tact_local_problem *problem, double r[6]);

/** The same; *by is the layer that solved it: TACT_COUNT_STICK, _ACTIVE_SET or _SEARCH (counts.h).
 */
TACT_API int tact_local_cone_by(const struct tact_local_problem *problem, double r[6], int *by);

/**
 * Residual of r against the law of tact_local_cone(); 0 for a solution. For a polygon the largest
 * violation of its conditions: forces and velocities inside their cones, and no power but that of
 * slip at the limit. Otherwise the natural map: |x - P_K(x - rho U)| over the
 * larger of |x| and rho |b|, in variables scaled to a force, with u = S r + b; P_K is the exact
 * projection onto the cone at r's centre of pressure, U the velocity with De Saxce's term mu |slip|
 * on the normal, rho the inverse of the largest diagonal entry.
 */
TACT_API double tact_local_residual(const struct tact_local_problem *problem, const double r[6]);

/**
 * How far the contact is from each of its limits, by the impulse that would stop all motion at it
 * (limits.h), with the limits of tact_local_cone(). problem: as solved, prepared. r: its solution.
 * out->joint is 1: a patch knows no joints.
 */
TACT_API void tact_local_margins(const struct tact_local_problem *problem, const double r[6],
                                 struct tact_margins *out);

TACT_END_DECLS

#endif
