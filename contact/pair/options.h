/**
 * How contacts are modelled and solved: the law of two materials, and the options of a world.
 */
#ifndef TACT_CONTACT_PAIR_OPTIONS_H
#define TACT_CONTACT_PAIR_OPTIONS_H

#include "../api.h"
#include "../moments/patch.h"

TACT_BEGIN_DECLS

struct tact_contact_model;
struct tact_extent_store;

/** The soft layer of a material, for the models of pair/field/. */
struct tact_field_material {
    double modulus;   /**< E [Pa]; 0: rigid */
    double thickness; /**< thickness T of the layer [m]: the pressure is E (d / T)^power at the
                         depth d, or the extent of a mesh (field/extent.h) */
    /** exponent of the pressure, 0.5 to 5: 1/2 is Hertz's pressure on a sphere, 1 that of the
     * paper; 0: 1. Two soft materials that touch must have the same [1] */
    double power;
    double cell; /**< cell size of a mesh's extent [m]; 0: the default */
    int kind;    /**< how the extent is computed, enum tact_extent_kind */
    /** store of computed pressure extents; NULL: they are not stored */
    const struct tact_extent_store *store;
};

/** Properties of a single material, for models that derive data from a shape made of it
 * (tact_contact_model.prepare). */
struct tact_material {
    double modulus; /**< E* [Pa]; 0: rigid */
    /** parameters of the soft layer, for the model in pair/field/ */
    struct tact_field_material field;
};

/** Law of the contact between two materials. */
struct tact_contact_law {
    const struct tact_contact_model *model; /**< contact model that measures pairs of these
                                               materials; NULL: that of the options */
    double friction;                        /**< Coulomb coefficient mu >= 0 [1] */
    double overlap;                         /**< target depth V/|g| [m] > 0 */
    double compliance;                      /**< compliance of the normal direction [m/N] >= 0 */
    double tangential_compliance; /**< compliance along the patch [m/N] >= 0; 0: rigid. If positive,
                                     the patch is an elastic foundation (Winkler): the compliance
                                     about the normal is this, about the tangents `compliance`, each
                                     over the mean square of the extent; damped by `dissipation` */
    double dissipation; /**< relaxation time of an overlap deeper than its target [s] >= 0 */
    /** Hunt-Crossley coefficient a [s/m] >= 0 of the force (depth / compliance) (1 + a closing
     * speed); requires a compliance, or a model whose patches are elastic: there the pressure times
     * (1 + a closing speed) */
    double hunt_crossley;
    /** Newton's coefficient of restitution e of normal velocities, 0 to 1 [1] */
    double restitution;
    double modulus;      /**< effective modulus E* of a soft curved surface [Pa]; 0: rigid */
    double tip_radius;   /**< radius of a fingertip's patch at a force of 1 N [m]; 0: no fingertip
                            (patch.h) */
    double tip_power;    /**< exponent of the force in the fingertip's patch radius, 0 to 1 [1] */
    double rolling_loss; /**< hysteresis loss of soft surfaces that roll, 0 to 1: share of the work
                            of the pressure ahead of the contact's centre that is lost [1]; for
                            models that set it in their patches (patch.h), in the library smooth */
    double ellipse_size; /**< ratio of a semi-axis squared to C/V along it, see struct
                            tact_patch_options [1] */
};

/** How the friction of one contact is solved. */
enum tact_local_kind {
    TACT_LOCAL_CONE, /**< maximal dissipation over the cone of admissible contact wrenches (local.h)
                      */
    TACT_LOCAL_BOUCHARD, /**< Algorithm 1 of Bouchard 2015 */
};

/** Options of a world; defaults by tact_world_options_default(). */
struct tact_world_options {
    double period;     /**< h [s] */
    double gravity[3]; /**< [m/s^2] */
    int iterations;    /**< largest number of solver sweeps a tick */
    double tolerance;  /**< natural-map residual at which the solver's sweeps end [1] */
    double push_limit; /**< largest speed at which the stabilisation separates overlapping bodies
                          [m/s] */
    enum tact_local_kind local; /**< local solver */
    int polygon; /**< 1: the centre of pressure stays in the overlap's outline where that is known
                    (outline.h); 0: always in the equivalent ellipse. Cone only */
    /** how spin friction is modelled; AUTO: CORNERS with BOUCHARD, else LIMIT_SURFACE */
    enum tact_spin_kind spin;
    /** how the normal of a flat overlap is computed; for others, and with half-spaces, it is
     * opposite to the gradient, which is exact there */
    enum tact_normal_kind normal;
    const struct tact_contact_model *model; /**< contact model of pairs whose law names none
                                               (pair/model.h); NULL: volume, and features for pairs
                                               of a fast body (tact_world_set_fast()) */
    int points;   /**< largest number of contact points in a tick; further ones are dropped and
                     counted */
    int contacts; /**< largest number of contacts in a tick, each piece of a split pair counting as
                     one; 0: 8192, plus 4 for each shape */
    int near;     /**< largest number of pairs whose bounds overlap; 0: all, if
                     at most 40960 with 5 for each that may split; or 8192, plus 16 for each shape */
    int by_mass;  /**< with BOUCHARD: 1: projection of the centre of pressure in the metric of S,
                     local.h */
    int split;    /**< 1: overlaps that are not planar are solved as planar pieces where those are
                     exact, between a convex solid with few faces and a mesh that is not convex. Volume
                     model and cone only */
};

/** Default options of a world: h = 1 ms, patches as polygons, overlaps that are not planar split,
 * blended normals, spin AUTO, no model named, gravity -9.81 z, 50 sweeps, 1e-10, 0.5 m/s,
 * cone; at most 4096 contact points. Real-time safe. */
TACT_API struct tact_world_options tact_world_options_default(void);

TACT_END_DECLS

#endif
