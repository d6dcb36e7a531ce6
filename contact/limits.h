/**
 * Why a contact slipped, or how far it is from slipping: the limits of what a patch transmits.
 *
 * Real-time safe.
 */
#ifndef TACT_CONTACT_LIMITS_H
#define TACT_CONTACT_LIMITS_H

#include "api.h"

TACT_BEGIN_DECLS

/** Most corners of a patch: of its outline, and of the polygon that holds the centre of pressure in
 *  the law. */
#define TACT_PATCH_CORNERS 64

/** Most patches of a pair of shapes. */
#define TACT_PIECES 4

/** Which friction forces F = f_t / (mu f_n) and torsions M = tau_d / (mu k f_n) go together. */
enum tact_surface {
    TACT_SURFACE_ELLIPSOID, /**< F^2 + M^2 <= 1 (Goyal, Ruina and Papadopoulos 1991) */
    TACT_SURFACE_UNIFORM,   /**< what Coulomb friction makes of a uniform pressure on a disc
                               (Contensou   1963), within 0.6 % of mu k f_n */
    TACT_SURFACE_HERTZ,     /**< the same for Hertz's pressure */
    TACT_SURFACE_FITTED,    /**< (f + m) (1 + c (1 - c) (p_0 + p_1 c + p_2 c^2)) <= 1 with f = F^2,
                                m = M^2, c = f / (f + m) and p that of a pressure of its own: of a
                                uniform one 0.5004, 0.0169, 0.2663. Must be convex in (F, M) */
};

/** Which limits are active: bits. */
enum tact_limit {
    TACT_LIMIT_OPEN = 1,   /**< no force: the bodies part */
    TACT_LIMIT_CONE = 2,   /**< friction is at its limit: the contact slides */
    TACT_LIMIT_EDGE = 4,   /**< the centre of pressure is at the patch's edge: the contact tips */
    TACT_LIMIT_SPIN = 8,   /**< torsion is at its limit: the contact spins */
    TACT_LIMIT_JOINT = 16, /**< a drive that carries one of the bodies is at its torque limit */
};

#define TACT_LIMIT_COUNT 5 /**< number of limits */

/**
 * How far each limit is from what it would take to stop all motion at the contact: with `needed` of
 * that impulse, (limit - needed) / max(limit, needed), between -1 and 1. Positive: that share of
 * the limit is left; negative: by that share of what was needed the limit fell short. 1 where there
 * is no such limit. Where no push could stop the motion the limits of friction and edge are those
 * of the impulse that was given.
 */
struct tact_margins {
    double normal;   /**< f_n / |f| of that impulse: negative where it would have to pull [1] */
    double slip;     /**< of the limit surface: friction and torsion together [1] */
    double friction; /**< of mu f_n, by friction alone [1] */
    double spin;     /**< of mu f_n k, by torsion about the centre of pressure alone [1] */
    double edge;     /**< of the patch's extent from its centre, by the centre of pressure [1] */
    double joint;    /**< of the torque limit, by the drives that carry the bodies: the least [1] */
};

#define TACT_MARGIN_COUNT 6 /**< number of margins */

/** (limit - needed) / max(limit, needed); 1 where both are 0. */
TACT_API double tact_margin(double needed, double limit);

/** Names for machines: of the limit of bit 1 << i ("open", "friction", "edge", "spin", "joint"),
 *  and of the i-th margin ("normal", "slip", ...). NULL out of range. Real-time safe. */
TACT_API const char *tact_limit_name(int i);
/** Name of a margin, static text. Real-time safe. */
TACT_API const char *tact_margin_name(int i);

/** Ticks of a contact: how many at each limit, and its least margins. */
struct tact_limit_tally {
    unsigned long long touching; /**< ticks in which the pair touched */
    unsigned long long
        at[TACT_LIMIT_COUNT];        /**< of those, the ticks in which each limit was active */
    double least[TACT_MARGIN_COUNT]; /**< in the order of struct tact_margins */
};

/** Adds a tick in which the contact touched, with its limits. Real-time safe. */
TACT_API void tact_limit_tally_add(struct tact_limit_tally *tally, int limits,
                                   const struct tact_margins *margins);

TACT_END_DECLS

#endif
