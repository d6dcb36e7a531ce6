/**
 * The contact patch of an overlap: frame, depth, extent and spin arm from the moments.
 */
#ifndef TACT_CONTACT_PATCH_H
#define TACT_CONTACT_PATCH_H

#include "../api.h"
#include "../limits.h"
#include "moments.h"
#include "outline.h"

TACT_BEGIN_DECLS

/** Kind of patch. */
enum tact_patch_kind {
    TACT_PATCH_ELLIPSE, /**< rigid patch: the centre of pressure moves inside the outline, or the
                         * ellipse
                         */
    TACT_PATCH_ELASTIC, /**< elastic patch, of curved surfaces (Hertz) or a fingertip: the pressure
                           is symmetric about the centre, so that the centre of pressure is there,
                           and the patch grows with the force */
};

/** How the contact normal is computed. */
enum tact_normal_kind {
    TACT_NORMAL_GRADIENT, /**< normal opposite to the volume gradient (Bouchard 2015, section 4.1)
                           */
    TACT_NORMAL_LEAST, /**< normal along the axis of the overlap's smallest second moment (Bouchard
                          2015, section 6.1.2) */
    TACT_NORMAL_BLEND, /**< LEAST for a thin sheet, whose rim bends the gradient, with a smooth
                          transition to GRADIENT for thicker overlaps */
};

/** Torsion limit of a patch, and how slip reduces it. */
enum tact_spin_kind {
    TACT_SPIN_AUTO,    /**< chosen automatically: the same as LIMIT_SURFACE */
    TACT_SPIN_CORNERS, /**< friction at the four corners of the ellipse's rectangle, weighted by the
                            centre of pressure (Bouchard 2015, section 5.6) */
    TACT_SPIN_UNIFORM, /**< torsion limit of a uniform pressure: its mean distance from the centre
                        */
    TACT_SPIN_HERTZ,   /**< torsion limit of Hertz's pressure, elliptic or round */
    TACT_SPIN_LIMIT_SURFACE, /**< Hertz where the patch is elastic, else uniform; slip reduces
                                torsion, and spin reduces friction, as for Coulomb friction under
                                that pressure (enum tact_surface); for the others by an ellipsoid */
};

/** Law of a patch's normal force. */
enum tact_normal_law {
    TACT_LAW_DEPTH,  /**< the depth relaxes to the target by the materials' spring and dampers */
    TACT_LAW_GAPS,   /**< no point of the patch closes more than its gap in a tick; where the gap is
                        negative it opens like an overlap that is too deep */
    TACT_LAW_WRENCH, /**< an elastic wrench with its stiffness, implicit. The materials' overlap,
                        compliances and restitution do not apply, their dissipation does */
};

/** The patch of one pair in one tick: everything that the solver knows about a contact. */
struct tact_patch {
    enum tact_normal_law law;  /**< law of the patch's normal force */
    enum tact_patch_kind kind; /**< rigid or elastic */
    double center[3];          /**< centroid of the overlap [m], world */
    double frame[9]; /**< rows: normal n (pushes A out of B), t1, t2, right-handed, world; t1 and t2
                        are the axes of the ellipse [1] */
    double depth;    /**< mean depth of the overlap, V / area [m] (half of a sphere's deepest) */
    double target;   /**< laws DEPTH and GAPS: depth of the overlap in equilibrium [m] */
    double exponent; /**< exponent p of V ~ depth^p, 1 flat, 2 curved: a motion by x changes the
                        depth by x / p [1] */
    double gap[3]; /**< GAPS: gap[0] + gap[1] x_1 + gap[2] x_2 [m] at the point x of the patch, from
                      its centre along t1 and t2; depth is the magnitude of the most negative one */
    double wrench[6];     /**< WRENCH: on A at the centre, rows as for an impulse [N, N m]. The
                             torque about the normal of one without stiffness there comes with the
                             normal force, as of a thread: their ratio, the pitch, stays */
    double stiffness[36]; /**< WRENCH: its decrease as A moves relative to B, rows as for a
                             velocity, row-major, symmetric, positive semidefinite [N/m, N, N m]. A
                             row without stiffness is rigid, for example friction */
    /** velocity that the contact keeps in place of 0, rows n, t1, t2, then about them [m/s, rad/s];
     * not used in an impact with restitution */
    double target_velocity[6];
    double rolling_radius; /**< radius on which the patch rolls [m]; INFINITY: it tips about its
                              edge */
    double area;           /**< area of A's surface inside B, projected along n: -g.n [m^2] */
    double semi[2];        /**< semi-axes of the patch's ellipse along t1 and t2 [m] */
    int corners; /**< ELLIPSE: number of corners of the overlap's outline where it is known; else 0
                  */
    double corner[TACT_PATCH_CORNERS][2]; /**< corners of the outline, counter-clockwise, along t1
                                             and t2 from center [m] */
    double radius;     /**< effective radius of curvature R of an ELASTIC patch [m]; else 0 */
    double stretch[2]; /**< ELASTIC: semi-axes along t1 and t2 over the radius of a disc of the same
                          area; 1 1: round [1] */
    enum tact_spin_kind spin;  /**< how the patch's torsion limit is computed */
    enum tact_surface surface; /**< limit surface of friction and torsion */
    double fit[3];             /**< parameters of the limit surface, where it is FITTED [1] */
    /** parts of the pressure, where the limit surface is one of POINTS */
    struct tact_friction_points points;
    double spin_arm;   /**< ELLIPSE: torsion limit over mu N [m], with the centre of pressure at the
                          centre; ELASTIC: see tact_patch_spin_arm() */
    double modulus;    /**< contact modulus E* of an ELASTIC patch [Pa]; 0 for a fingertip */
    double tip_radius; /**< radius of a fingertip's patch at 1 N [m]; 0 for others */
    double tip_power;  /**< exponent of the normal force in a fingertip's patch radius [1] */
    double rolling_loss; /**< hysteresis loss of an ELASTIC patch in rolling, see
                            tact_patch_rolling_arms() [1] */
};

/** Options of the computation of a contact patch. */
struct tact_patch_options {
    double modulus; /**< contact modulus E* of the pair [Pa]; 0: rigid */
    int curved;     /**< 1 for curved surfaces, V ~ depth^2, 0 for flat ones */
    /** ratio of a semi-axis squared to C/V along it. 0: by shape, 4 flat (exact for a sheet of
     * uniform thickness over an ellipse), 6 curved (exact for a paraboloid cap). 5: Bouchard's
     * equivalent ellipsoid (appendix A) [1] */
    double ellipse_size;
    enum tact_normal_kind normal; /**< how the contact normal is computed */
    enum tact_spin_kind spin;     /**< how the torsion limit is computed */
    double tip_radius; /**< tip radius of a fingertip, independent of its shape: a = tip_radius (N /
                          1 N)^tip_power [m]; 0: none. Takes precedence over the modulus. Its
                          pressure is symmetric about the centre */
    double tip_power;  /**< exponent of the force in a fingertip's radius: 1/3 for Hertz; human
                          fingertips less (Xydas and Kao 1999: 0 to 1/3) [1] */
};

/** Area projected along the normal, over V^(2/3), below which V over the area is not a depth: for a
 * solid nearly inside another a motion of a micrometre would change it by metres. A cone of 0.06
 * degrees that touches with its tip has this value. */
#define TACT_PATCH_MIN_AREA 0.03

/**
 * Computes the contact patch from the moments m of an overlap. Semi-axes from the tangential block
 * of C/V (Bouchard 2015, section 4.2). ELASTIC: R = 3/2 sqrt(l1 l2) / depth with l1, l2 the
 * eigenvalues of that block, exact for a shallow cap (C/V = 2 R depth / 3). target is set to 0 and
 * rolling_radius to INFINITY.
 * @retval 0
 * @retval -EDOM  no volume, or no gradient that defines a normal; for a solid wholly inside another
 * rounding may leave a gradient Real-time safe.
 */
TACT_API int tact_patch_from_moments(const struct tact_moments *m,
                                     const struct tact_patch_options *options,
                                     struct tact_patch *out);

/**
 * Repairs the patch of a sliver whose moments are mere rounding: where the centre or the ellipse is
 * inconsistent with the outline, both are computed from the outline instead. A patch without an
 * outline is unchanged. Returns 1 where it was repaired. Real-time safe.
 */
TACT_API int tact_patch_repair(struct tact_patch *patch);

/**
 * Sets a patch to that of a uniform sheet over its outline: kind, area, semi-axes and torsion
 * limit. patch: on input its frame, a centre, and the corners relative to it; on output the centre
 * is the outline's centroid, and t1 and t2 are its principal axes. -EDOM for an outline without
 * area, as of fewer than three corners. Real-time safe.
 */
TACT_API int tact_patch_from_outline(struct tact_patch *patch, enum tact_spin_kind spin);

/**
 * Sets a patch to that of Hertz (1882) for two smooth surfaces: kind ELASTIC, an ellipse that grows
 * with the force. modulus: E* [Pa]; t1, t2: principal directions of the relative curvature, k1 and
 * k2 its values there [1/m], k1 <= k2. The semi-axes are (3 N / (4 E* sqrt(k1 k2)))^(1/3) times F1
 * sqrt(a/b) and F1 sqrt(b/a), a/b from k2/k1 by complete elliptic integrals (Johnson, Contact
 * Mechanics, 1985, section 4.2). -EDOM for curvatures that are not both positive. Real-time safe.
 */
TACT_API int tact_patch_hertz(struct tact_patch *patch, double modulus, double k1, double k2);

/**
 * Spin arm of a patch: torsion limit over mu N [m] at normal force n [N], with the centre of
 * pressure at the centre: the mean distance of the pressure from there. Uniform over an ellipse:
 * 2/3 of its perimeter over 2 pi (2/3 R for a disc); Hertz: 3 pi / 16 of that in place of 2/3;
 * corners: hypot(semi). ELASTIC: for a disc of radius a = (3 N R / (4 E*))^(1/3). Real-time safe.
 */
TACT_API double tact_patch_spin_arm(const struct tact_patch *patch, double n);

/**
 * Limits of the torques about t1 and t2 that resist rolling, over N [m], at normal force n [N]: of
 * the work that the pressure ahead of the centre does on the surfaces as they roll, the share
 * rolling_loss is lost. Hertz's pressure over an ellipse does 3/16 N a per radian, a its semi-axis
 * in the direction of motion, (3/16) N hypot(a_1 w_2, a_2 w_1) a second in any direction (Johnson,
 * Contact Mechanics, 1985, section 9.4). 0 0 for a patch that is not ELASTIC. Real-time safe.
 */
TACT_API void tact_patch_rolling_arms(const struct tact_patch *patch, double n, double arm[2]);

/**
 * Mean squares of a patch's extent along t1 and t2, about the centroid of its area [m^2]: of the
 * outline, else of the ellipse, or for ELASTIC of the disc at normal force n [N]. Real-time safe.
 */
TACT_API void tact_patch_mean_squares(const struct tact_patch *patch, double n, double square[2]);

/**
 * The patch at normal force n [N] as a polygon: the corners of its outline, of more than `most`
 * those at equal steps; of a patch without an outline, or an ELASTIC one, `most` points of its
 * ellipse. corner: most, counter-clockwise, along t1 and t2 from the centre [m]. Returns their
 * number. Real-time safe.
 */
TACT_API int tact_patch_polygon(const struct tact_patch *patch, double n, int most,
                                double (*corner)[2]);

/** Radius of an ELASTIC patch at normal force n [N]; its semi-axes are `stretch` times this:
 * Hertz's (3 N R / (4 E*))^(1/3), or the fingertip's power law [m]. Real-time safe. */
TACT_API double tact_patch_elastic_radius(const struct tact_patch *patch, double n);

/** Bouchard's eq. 11 to 13: the corners of the rectangle of half sides `half` [m], weighted
 * bilinearly by p in it; the sum of weight times distance from p [m]. Real-time safe. */
TACT_API double tact_patch_corner_arm(const double half[2], const double p[2]);

TACT_END_DECLS

#endif
