/**
 * Limits of what a contact patch can transmit: which of them are active, and the margins to them.
 *
 * Real-time safe.
 */
#ifndef TACT_CONTACT_LIMITS_H
#define TACT_CONTACT_LIMITS_H

#include "api.h"

TACT_BEGIN_DECLS

/** Largest number of corners of a patch: of its outline, and of the polygon that contains the
 * centre of pressure. */
#define TACT_PATCH_CORNERS 64

/** Largest number of patches that the contact of two shapes consists of. */
#define TACT_PIECES 4

/** Limit surfaces of friction: admissible combinations of friction force F = f_t / (mu f_n) and
 * torsion M = tau_d / (mu k f_n). */
enum tact_surface {
    TACT_SURFACE_ELLIPSOID, /**< limit surface F^2 + M^2 <= 1 (Goyal, Ruina and Papadopoulos 1991)
                             */
    TACT_SURFACE_UNIFORM, /**< limit surface of Coulomb friction under a uniform pressure on a disc
                             (Contensou 1963), within 0.6 % of mu k f_n */
    TACT_SURFACE_HERTZ,   /**< limit surface of Coulomb friction under Hertz's pressure on a disc */
    TACT_SURFACE_FITTED, /**< (f + m) (1 + c (1 - c) (p_0 + p_1 c + p_2 c^2)) <= 1 with f = F^2, m =
                            M^2, c = f / (f + m) and given p; for a uniform pressure 0.5004, 0.0169,
                            0.2663. Must be convex in (F, M) */
    TACT_SURFACE_POINTS, /**< sum of the limit surfaces of a pressure's parts, struct
                            tact_friction_points: for a pressure of any shape */
};

/** Largest number of parts that represent a pressure. */
#define TACT_FRICTION_POINTS 32

/**
 * A pressure as parts, for TACT_SURFACE_POINTS. The limit of a part is an ellipsoid, friction at
 * its point and torsion about it, and that of the whole is their Minkowski sum: at a slip v and a
 * spin w about the centre of pressure the power is mu f_n sum share sqrt(u'(1 - T) u + (w arm)^2),
 * u = v + w x r, r the part's point from there. T is the mean of n n', n the normal of the part's
 * surface without its component along the patch's: of a slip, friction resists what is along the
 * surface. The shares add up to 1 where T is 0, else to the integral of the pressure over the
 * force; their mean point is 0, and with the spin arm k, the power of a spin of 1 without slip over
 * mu f_n, M is 1 there.
 */
struct tact_friction_points {
    int count;                          /**< number of parts */
    double x[TACT_FRICTION_POINTS];     /**< their points along t1 [m] */
    double y[TACT_FRICTION_POINTS];     /**< along t2 [m] */
    double share[TACT_FRICTION_POINTS]; /**< loads of the parts: integrals of the pressure, over the
                                           normal force [1] */
    double arm[TACT_FRICTION_POINTS]; /**< torsion arms of the parts about their own points [m]; at
                                         least a hundredth of the spin arm is assumed */
    int tilted; /**< 0: the tilt T of all parts is 0, and the entries are not read */
    double tilt_xx[TACT_FRICTION_POINTS]; /**< T along t1 and t1 [1] */
    double tilt_xy[TACT_FRICTION_POINTS]; /**< along t1 and t2 [1] */
    double tilt_yy[TACT_FRICTION_POINTS]; /**< along t2 and t2 [1] */
};

/** Active limits: bits. */
enum tact_limit {
    TACT_LIMIT_OPEN = 1, /**< no contact force: the bodies separate */
    TACT_LIMIT_CONE = 2, /**< friction is at its limit: the contact slides */
    TACT_LIMIT_EDGE =
        4, /**< the centre of pressure is at the edge of the patch: the contact tips */
    TACT_LIMIT_SPIN = 8,     /**< torsion is at its limit: the contact spins */
    TACT_LIMIT_JOINT = 16,   /**< a drive that carries one of the bodies is at its torque limit */
    TACT_LIMIT_ROLLING = 32, /**< the resistance to rolling is at its limit: the contact rolls */
};

#define TACT_LIMIT_COUNT 6 /**< number of limits */

/**
 * Margins of a contact to its limits, for the impulse that would stop all motion at the contact.
 * With `needed` of that impulse a margin is (limit - needed) / max(limit, needed), between -1 and
 * 1. Positive: the remaining fraction of the limit; negative: the fraction of what was needed that
 * the limit could not supply. 1 where there is no such limit. Where no push could stop the motion,
 * the margins of friction and edge are those of the actual impulse.
 *
 * For a patch with an elastic wrench (TACT_LAW_WRENCH) that resists rolling, the margin of the edge
 * is always that of the actual impulse, between 0 and 1: its centre of pressure cannot leave the
 * patch.
 */
struct tact_margins {
    double normal;   /**< normal component over magnitude of that impulse, f_n / |f|: negative where
                        it would have to pull [1] */
    double slip;     /**< margin to the limit surface of friction and torsion together [1] */
    double friction; /**< margin of the friction force alone to mu f_n, or to what the pressure on a
                        curved patch permits [1] */
    double spin; /**< margin of the torsion about the centre of pressure alone to mu f_n k [1] */
    double edge; /**< margin of the centre of pressure to the edge of the patch [1] */
    /** smallest margin of the drives that carry the bodies to their torque limits [1] */
    double joint;
};

#define TACT_MARGIN_COUNT 6 /**< number of margins */

/** Margin of a value to its limit, both in the same unit: (limit - needed) / max(limit, needed)
 * [1]; 1 where both are 0. */
TACT_API double tact_margin(double needed, double limit);

/** Name of the contact limit with bit 1 << i ("open", "friction", "edge", "spin", "joint",
 * "rolling"), static text. NULL out of range. Real-time safe. */
TACT_API const char *tact_limit_name(int i);
/** Name of the i-th margin of struct tact_margins ("normal", "slip", ...), static text. NULL out of
 * range. Real-time safe. */
TACT_API const char *tact_margin_name(int i);

/** How two surfaces in contact move over each other. A contact without a force has no friction
 * mode. */
enum tact_friction_mode {
    TACT_FRICTION_SLIDING, /**< sliding: friction is at its limit */
    TACT_FRICTION_ROLLING, /**< rolling: no slip, but the surfaces may spin, as torsion is at its
                              limit or there is none: three relative angular velocities */
    TACT_FRICTION_NO_SPIN, /**< rolling without spin: no slip, and torsion prevents spin: two
                              relative angular velocities */
};

#define TACT_FRICTION_MODES 3 /**< number of modes */

/**
 * Returns the friction mode of a contact with a force, -1 without one (TACT_LIMIT_OPEN). limits:
 * its active limits; spin_arm: its torsion limit over mu f_n [m], 0 for a contact in a point.
 * Real-time safe. The modes are those of Kry and Pai 2003, section 3.4.
 */
TACT_API int tact_friction_mode_from_limits(int limits, double spin_arm);

/** Name of a friction mode: "sliding", "rolling" or "without spin", static text. NULL out of range.
 * Real-time safe. */
TACT_API const char *tact_friction_mode_name(int mode);

/** Statistics of a contact over ticks: number of ticks at each limit, and smallest margins. */
struct tact_limit_tally {
    unsigned long long touching;             /**< number of ticks in which the pair touched */
    unsigned long long at[TACT_LIMIT_COUNT]; /**< number of ticks in which each limit was active */
    unsigned long long modes[TACT_FRICTION_MODES]; /**< number of ticks in each friction mode */
    double least[TACT_MARGIN_COUNT]; /**< smallest margins over the ticks, in the order of struct
                                        tact_margins */
};

/** Adds a tick in which the pair touched to the statistics, with its active limits, its spin arm
 * [m] and margins. Real-time safe. */
TACT_API void tact_limit_tally_add(struct tact_limit_tally *tally, int limits, double spin_arm,
                                   const struct tact_margins *margins);

TACT_END_DECLS

#endif
