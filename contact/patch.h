/**
 * The contact patch of an overlap: frame, depth, extent and spin arm from the moments.
 */
#ifndef TACT_CONTACT_PATCH_H
#define TACT_CONTACT_PATCH_H

#include "api.h"
#include "moments.h"
#include "outline.h"

TACT_BEGIN_DECLS

/** What kind of patch the overlap stands for. */
enum tact_patch_kind {
    TACT_PATCH_ELLIPSE, /**< rigid: the centre of pressure moves inside the outline, or the ellipse
                         */
    TACT_PATCH_ELASTIC, /**< curved and soft (Hertz): pressure is symmetric about the centre, so the
                             centre of pressure stays there, and the patch grows with the force */
};

/** Which way the patch faces. */
enum tact_normal_kind {
    TACT_NORMAL_GRADIENT, /**< against the volume's gradient (Bouchard 2015, section 4.1) */
    TACT_NORMAL_LEAST,    /**< along the axis of the least second moment (section 6.1.2) */
    TACT_NORMAL_BLEND,    /**< the latter for a thin sheet, whose rim bends the gradient, going over
                               to the former where the overlap is no sheet */
};

/** The patch of one pair at one tick. */
struct tact_patch {
    enum tact_patch_kind kind;
    double center[3]; /**< centroid of the overlap [m], world */
    double frame[9]; /**< rows: normal n (pushes A out of B), t1, t2, right-handed, world; t1 and t2
                          are the ellipse's axes */
    double depth;    /**< V / |g| [m]: the overlap's mean depth (half of a sphere's deepest) */
    double area;     /**< |g| [m^2]: A's surface inside B, seen along n */
    double semi[2];  /**< semi-axes along t1 and t2 [m] */
    int corners;     /**< ELLIPSE: of the overlap's outline where that is known; else 0 */
    double corner[TACT_OUTLINE_CORNERS]
                 [2]; /**< counter-clockwise, along t1 and t2 from center [m] */
    double radius;    /**< ELASTIC: effective radius of curvature R [m]; else 0 */
    double
        spin_arm;   /**< ELLIPSE: torsion limit over mu N [m]; ELASTIC: see tact_patch_spin_arm() */
    double modulus; /**< ELASTIC: E* [Pa] */
};

/** How the patch is made of the moments. */
struct tact_patch_options {
    double modulus;      /**< E* of the pair [Pa]; 0: rigid */
    int curved;          /**< 1 where V ~ depth^2 (a curved surface), 0 where flat */
    double ellipse_size; /**< semi-axis^2 over C/V. 0: by shape, 4 flat (exact for a sheet of
                            uniform thickness over an ellipse), 6 curved (exact for a paraboloid
                            cap). 5: Bouchard's equivalent ellipsoid (appendix A) */
    enum tact_normal_kind normal;
};

/**
 * Patch of moments m. Semi-axes from the tangential block of C/V (Bouchard 2015, section 4.2).
 * ELASTIC: R = 3/2 sqrt(l1 l2) / depth with l1, l2 that block's eigenvalues, exact for a shallow
 * cap (C/V = 2 R depth / 3).
 * @retval 0
 * @retval -EDOM  no volume, or no gradient to take a normal from
 * Real-time safe.
 */
TACT_API int tact_patch_from_moments(const struct tact_moments *m,
                                     const struct tact_patch_options *options,
                                     struct tact_patch *out);

/**
 * Torsion limit over mu N [m] at normal force n [N]. ELLIPSE: uniform pressure, the mean distance
 * from the centre, 2/3 of the ellipse's perimeter over 2 pi (2/3 R for a disc). ELASTIC: Hertz,
 * 3 pi / 16 a with a = (3 N R / (4 E*))^(1/3). Real-time safe.
 */
TACT_API double tact_patch_spin_arm(const struct tact_patch *patch, double n);

TACT_END_DECLS

#endif
