/**
 * Contact models: how two shapes interact. A model measures a pair of shapes into patches
 * (contact/moments/patch.h), and the solver knows contacts by their patches only.
 *
 * Each model of the library has a folder beside this file and a line in models.c. A program uses a
 * model of its own by naming it in the law of two materials (struct tact_contact_law) or in the
 * options of a world; if it adds it to the table, scenes can name it too.
 *
 * Real-time safe, except tact_contact_model_add().
 */
#ifndef TACT_CONTACT_MODEL_H
#define TACT_CONTACT_MODEL_H

#include "../api.h"
#include "../error.h"
#include "../shape/shape.h"
#include "../moments/moments.h"
#include "../moments/patch.h"
#include "../version.h"
#include "options.h"
#include "pressure.h"

TACT_BEGIN_DECLS

struct tact_overlap_corners;

/** Input of a contact model's measurement: shapes a and b in a tick. */
struct tact_pair_query {
    const struct tact_contact_model *model; /**< the model itself */
    const struct tact_shape *a;             /**< first shape */
    const struct tact_shape *b;             /**< second shape */
    const void *data_a; /**< data that the model's prepare() derived from a; NULL without it */
    const void *data_b; /**< data that prepare() derived from b; NULL without it */
    const struct tact_pose *pose_a;           /**< pose of a, world */
    const struct tact_pose *pose_b;           /**< pose of b, world */
    const struct tact_contact_law *law;       /**< contact law of the two shapes' materials */
    const struct tact_world_options *options; /**< options for the patch; spin is never AUTO */
    const struct tact_moments *moments; /**< moments of the overlap in this tick, volume > 0; NULL
                                           unless the model uses moments */
    /** planarity of the overlap: norm of the vector sum of its faces' areas over the sum of their
     * norms, from the measurement of the moments; NAN where unknown [1] */
    double planar;
    /** corners of the overlap of two convex solids, from the measurement of the moments; NULL where
     * unknown; private to the library */
    const struct tact_overlap_corners *corners;
    int most; /**< largest number of patches, as the model's patches() returned for these two shapes
               */
    double twist[2][6]; /**< twists of the shapes' frames, at their origins, before this tick's
                           solve [m/s, rad/s], world; 0 for a model that uses moments */
    double rate[2][6];  /**< rate of change of those twists in the drift after the solve, due to the
                           bodies' rotation alone: no force on a body, constant rates of a hand's
                           joints [m/s^2, rad/s^2], world; 0 for a model that uses moments */
    double pressed;     /**< impulse of the pair's contact force in the last tick [N s] */
    int *counts;   /**< counts of this tick, by enum tact_solve_count, which the model increments */
    double *state; /**< state variables of this pair from tick to tick; 0 when the bounding spheres
                      begin to overlap [any] */
    struct tact_pressure *pressure; /**< pressure map to which a model that computes a pressure adds
                                       the patches of this pair; NULL: not requested */
    const double *along; /**< NULL, or a unit vector, world, along which a model that measures gaps
                            is to measure instead of its own normal, where it can [1] */
};

/** A piece of a pair's contact that is solved as a contact of its own. */
struct tact_pair_piece {
    struct tact_patch patch; /**< patch of this piece of the contact */
    /** moments of this piece of the overlap; all 0 where it has none */
    struct tact_moments moments;
};

/** A contact model: its name, its state variables, and its functions. */
struct tact_contact_model {
    /** size and ABI version of this table, TACT_ABI(struct tact_contact_model) */
    struct tact_abi abi;
    const char *name; /**< name of the model in a scene: `pairs[].model` */
    void *user;  /**< pointer for the model's own use, available to its functions in each query's
                    model */
    int state;   /**< number of state variables for each pair whose bounding spheres overlap; they
                      are logged, so that a replay may start at any tick */
    int moments; /**< 1: the model uses the moments of the overlap, which a moment source may
                    measure, and is called only for pairs that overlap */
    int elastic; /**< 1: the model's patches exert an elastic wrench: hunt_crossley of a contact law
                    may damp it where the law has no compliance */
    int points;  /**< 1: the model's patches are solved as contact points with Coulomb friction: the
                    corners of the outline of two convex solids' overlap, all vertices of the overlap
                    of others, the centre of one that is round or soft */

    int gaps; /**< 1: it measures the gap of separated shapes, and its patches prevent them from
                   closing more than it: it can be used for fast bodies (tact_world_set_fast()) */

    /** Largest number of patches of a contact of two shapes: 0 where the model does not support
     * them, at most TACT_PIECES. Called once for a pair. */
    int (*patches)(const struct tact_shape *a, const struct tact_shape *b,
                   const struct tact_world_options *options);

    /**
     * NULL, or derives from a shape and its material the data that queries about them need: the
     * graph of a hull, a pressure field, the charts of a surface. Called when a world is created,
     * once for each shape that a pair of this model may contain; shapes of the same kind, size,
     * mesh and material share one result. *data may be NULL; what it points to must not change
     * afterwards. May allocate; not called in a tick.
     * @retval -ENOMEM, or another negative errno where the shape or material is refused: *err (may
     * be NULL) then states what was expected, without the shape's name
     */
    int (*prepare)(const struct tact_contact_model *model, const struct tact_shape *shape,
                   const struct tact_material *material, void **data, struct tact_error *err);
    /** Frees the data that prepare() made, never NULL; set where prepare is. */
    void (*release)(void *data);

    /**
     * Measures a pair. Real-time safe, and the same result for the same query. *patch: of the whole
     * contact. piece: array for as many patches as patches() returns; the patches as which the
     * contact is solved, where that is not the whole.
     * @retval 0        one patch, the whole
     * @retval n        n pieces, each thin along its normal
     * @retval -EDOM    no contact
     * @retval -ENODATA no overlap, and a model with gaps does not know the gap in this tick
     * @retval -ERANGE  the shapes overlap, but nothing can open them: one is inside the other
     */
    int (*measure)(const struct tact_pair_query *query, struct tact_patch *patch,
                   struct tact_pair_piece *piece);
};

/** The contact models in the order of their table, those of the library first; NULL after the last.
 */
TACT_API const struct tact_contact_model *tact_contact_model_at(int i);

/** Adds a model of the program's own to the table, so that scenes may name it. Call it before any
 * scene is read, from one thread. The model must outlive all sessions. -EEXIST for a name that is
 * in use, -EINVAL for an invalid name, a model without functions or one compiled for another ABI
 * version, -ENOSPC where the table is full. */
TACT_API int tact_contact_model_add(const struct tact_contact_model *model);

/** The contact model of that name; NULL where there is none. */
TACT_API const struct tact_contact_model *tact_contact_model_find(const char *name);

/** The contact model of two shapes where no model is named. */
TACT_API const struct tact_contact_model *tact_contact_model_default(const struct tact_shape *a,
                                                                     const struct tact_shape *b);

TACT_END_DECLS

#endif
