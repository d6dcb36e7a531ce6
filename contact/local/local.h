/**
 * The local problem of one 6D contact, and its solvers.
 *
 * Frame: (n, t1, t2) at the patch centre c, right-handed. Impulse r = (f_n, f_1, f_2, tau_n,
 * tau_1, tau_2) on A [N s, N m s]; velocity of A relative to B at c u = (v_n, v_1, v_2, w_n, w_1,
 * w_2) [m/s, rad/s]; u = S r + b. The centre of pressure of r is d = (-tau_2, tau_1) / f_n in (t1,
 * t2). All functions are real-time safe and use no state but their arguments.
 */
#ifndef TACT_CONTACT_LOCAL_H
#define TACT_CONTACT_LOCAL_H

#include "../api.h"
#include "../limits.h"

TACT_BEGIN_DECLS

/** The local problem of one contact: the velocity u = S r + b and the limits of the impulse r. */
struct tact_local_problem {
    double s[36]; /**< S, 6 x 6, row-major, symmetric positive semidefinite [1/kg, 1/(kg m^2), ...];
                       s[0] includes the compliance of the normal direction */
    double b[6]; /**< velocity b of the contact without its own impulse, including the stabilisation
                    [m/s, rad/s] */
    double mu;   /**< Coulomb coefficient [1] */
    double semi[2]; /**< semi-axes of the ellipse that contains the centre of pressure [m]; 0 0: the
                       centre of pressure is at c and no rolling torque is transmitted */
    int corners; /**< number of corners of a polygon that contains the centre of pressure instead;
                    0: the ellipse */
    double corner[TACT_PATCH_CORNERS][2]; /**< corners of that polygon, counter-clockwise about c
                                             [m], with c inside; only for tact_local_cone() */
    double spin_arm;       /**< spin arm: torsion limit over mu f_n [m], for tact_local_cone() */
    double rolling_arm[2]; /**< for a point, semi 0 0: limits of the torques about t1 and t2 over
                              f_n [m], the semi-axes of an ellipse of admissible torques. They
                              oppose rolling and do not move the centre of pressure; 0 0: none
                              (cone) */
    enum tact_surface surface; /**< shape of the limit surface of friction and torsion */
    double fit[3];             /**< FITTED: p_0, p_1, p_2 [1] */
    /** limit surface POINTS: the parts of the pressure, for spin_arm > 0 */
    const struct tact_friction_points *points;
    double rectangle[2]; /**< Bouchard: half sides of the rectangle whose corners bound torsion in
                            eq. 13 [m]; 0 0: the limit surface bounds it */
    int by_mass; /**< Bouchard: the centre of pressure is projected to the patch in the metric of S
                    (1) or to the closest point (0); see tact_local_bouchard() */
    double factor[36]; /**< Cholesky factor of the transmitted rows of S, see tact_local_prepare()
                          [kg^-1/2, ...] */
    int passes; /**< for tact_local_cone(): one more than the most steps in a series of the search
                   for the centre of pressure and the ratio of friction to torsion; 0: 6. In a sweep
                   over several contacts 3 converge as well */
    int rows;   /**< number of rows of the impulse that the patch transmits: 6, or 4 without rolling
                   torque */
};

/** Factors S for tact_local_cone(), once s and semi are set. b may change afterwards. */
TACT_API void tact_local_prepare(struct tact_local_problem *problem);

/**
 * Bouchard 2015, Algorithm 1: rigid 6D solve, projection to the friction cone with Hahn's second
 * solve (eq. 4), projection of the centre of pressure to the ellipse and a point contact there
 * (eq. 8, 10), torsion bounded by the four corners (eq. 13). Errata that are applied: eq. 7 with
 * (c - p), d = (n x tau) / f_n, right side -R'Pe in eq. 10, torsion bounded about p, f_n <= 0
 * handled first.
 * The projection is Euclidean or, with by_mass, that of normal force and rolling torque in the
 * metric of S to those with a centre of pressure in the ellipse, which minimises the energy of the
 * relative motion: where the contact slides with the friction that it has, otherwise with the
 * friction and torsion that stop slip. Section 5.4 requires it without friction, where it is the
 * solution. With friction no metric is exact; the residuals are three quarters of the Euclidean
 * ones in the median.
 * r: output, the impulse on the contact [N s, N m s]. Returns the active limits (enum tact_limit).
 */
TACT_API int tact_local_bouchard(const struct tact_local_problem *problem, double r[6]);

/**
 * Maximal dissipation over the wrenches that a patch can transmit: f_n >= 0 and d in the patch,
 * complementary to (v_n, w_1, w_2); friction and torsion at the centre of pressure inside the
 * limit surface and, among all such, those that dissipate most: the slip is normal to the surface.
 * problem: prepared by tact_local_prepare(). r [N s, N m s]: on input an impulse near which the
 * search for the centre of pressure and the ratio of friction to torsion starts, on output the
 * solution. Returns the active limits.
 */
TACT_API int tact_local_cone(const struct tact_local_problem *problem, double r[6]);

/** Searches for the impulse as tact_local_cone() does; *by is the stage that found the solution:
 * TACT_COUNT_STICK, _ACTIVE_SET or _SEARCH (counts.h); or TACT_COUNT_ROLLING_NOT_FOUND where the
 * torques that resist rolling were not found, and are inside their limit but no solution. */
TACT_API int tact_local_cone_by(const struct tact_local_problem *problem, double r[6], int *by);

/**
 * Residual of r for the law of tact_local_cone(); 0 for a solution. For a polygon it is the
 * largest violation of its conditions: forces and velocities inside their cones, and no power
 * except that of slip at the limit. Otherwise it is the natural map: |x - P_K(x - rho U)| over the
 * larger of |x| and rho |b|, in variables scaled to a force, with u = S r + b. P_K is the exact
 * projection onto the cone at r's centre of pressure, U the velocity with De Saxce's term mu
 * |slip| on the normal, |slip| in the metric of the ellipsoid that is tangent to the limit surface
 * at r, rho the inverse of the largest diagonal entry of S.
 */
TACT_API double tact_local_residual(const struct tact_local_problem *problem, const double r[6]);

/**
 * Margins of the contact to its limits, for the impulse that would stop all relative motion
 * (limits.h), with the limits of tact_local_cone(). problem: as solved, prepared. r: its solution.
 * out->joint is 1, as a patch has no joints.
 */
TACT_API void tact_local_margins(const struct tact_local_problem *problem, const double r[6],
                                 struct tact_margins *out);

TACT_END_DECLS

#endif
