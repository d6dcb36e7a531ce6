/**
 * What decides how contacts are made and solved: the law of two materials, and the options of a
 * world.
 */
#ifndef TACT_CONTACT_PAIR_OPTIONS_H
#define TACT_CONTACT_PAIR_OPTIONS_H

#include "../api.h"
#include "../moments/patch.h"

TACT_BEGIN_DECLS

struct tact_contact_model;
struct tact_extent_store;

/** The layer of a material that yields, for pair/field/. */
struct tact_field_material {
    double modulus;   /**< E [Pa]; 0: rigid */
    double thickness; /**< T [m] of the layer: pressure is E / T times the depth, or the
                           extent of a mesh (field/extent.h) */
    double cell;      /**< of a mesh's extent [m]; 0: by default */
    int kind;         /**< enum tact_extent_kind */
    const struct tact_extent_store *store; /**< where extents are stored; NULL: nowhere */
};

/** What a material by itself says to the models that derive something from a shape made of it
 *  (tact_contact_model.prepare). */
struct tact_material {
    double modulus;                   /**< E* [Pa]; 0: rigid */
    struct tact_field_material field; /**< of the model field */
};

/** What happens where two materials touch. */
struct tact_contact_law {
    const struct tact_contact_model *model; /**< NULL: that of the options */
    double friction;                        /**< Coulomb coefficient mu >= 0 [1] */
    double overlap;                         /**< target depth V/|g| [m] > 0 */
    double compliance;                      /**< of the normal direction [m/N] >= 0 */
    double tangential_compliance; /**< along the patch [m/N] >= 0; 0: rigid. Over 0 the patch is an
                                       elastic foundation (Winkler): about the normal it turns by
                                       this, about its axes by `compliance`, each over the mean
                                       square of its extent; damped by `dissipation` */
    double dissipation;           /**< relaxation time of too deep an overlap [s] >= 0 */
    double hunt_crossley; /**< a [s/m] of the force (depth / compliance) (1 + a closing speed) >= 0;
                               needs a compliance, or a model whose patches are elastic: there the
                               pressure times (1 + a closing speed) */
    double restitution;   /**< Newton's e of normal velocities in an impact, 0 to 1 [1] */
    double modulus;       /**< E* [Pa] of a soft curved surface; 0: rigid */
    double tip_radius;    /**< of a fingertip's patch at 1 N [m]; 0: no fingertip (patch.h) */
    double tip_power;     /**< its power of the force, 0 to 1 [1] */
    double ellipse_size;  /**< see struct tact_patch_options [1] */
};

/** How the friction of one contact is solved. */
enum tact_local_kind {
    TACT_LOCAL_CONE,     /**< maximal dissipation over the wrench cone (local.h) */
    TACT_LOCAL_BOUCHARD, /**< Algorithm 1 of Bouchard 2015 */
};

/** Options of a world; defaults by tact_world_options_default(). */
struct tact_world_options {
    double period;              /**< h [s] */
    double gravity[3];          /**< [m/s^2] */
    int iterations;             /**< most sweeps a tick */
    double tolerance;           /**< natural-map residual at which sweeping stops [1] */
    double push_limit;          /**< fastest stabilisation [m/s] */
    enum tact_local_kind local; /**< local solver */
    int polygon; /**< 1: the centre of pressure is held by the overlap's outline where that is
                      known (outline.h); 0: always by the ellipse. Cone only */
    enum tact_spin_kind spin;     /**< AUTO: CORNERS with BOUCHARD, else LIMIT_SURFACE */
    enum tact_normal_kind normal; /**< of flat overlaps; the others, and all with half-spaces, face
                                       against the gradient, which is exact there */
    const struct tact_contact_model *model; /**< of pairs whose law names none, pair/model.h; NULL:
                                                 by their kinds of shape */
    int points;   /**< of the model of points, most of a tick; further ones are left out and
                       counted */
    int contacts; /**< most contacts of a tick, pieces of split ones counted singly; 0: 8192, and 4
                       for each shape */
    int near;    /**< most pairs whose shapes are near each other; 0: 8192, and 16 for each shape */
    int by_mass; /**< BOUCHARD: metric of the centre of pressure's projection, local.h; 1 */
    int split;   /**< 1: overlaps that are not planar are solved as planar pieces where those are
                      exact, between a convex solid of few faces and a mesh that is not convex.
                      Of the model of volumes, cone only */
};

/** h = 1 ms, patches as polygons, not planar ones split, blended normals, spin AUTO, models by
 * kinds of shape, gravity -9.81 z, 50 sweeps, 1e-10, 0.5 m/s, cone; 4096 points where those are
 * asked for. Real-time safe. */
TACT_API struct tact_world_options tact_world_options_default(void);

TACT_END_DECLS

#endif
