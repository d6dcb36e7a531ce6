/**
 * Contact models: what two shapes make of each other. A model measures a pair of shapes into
 * patches (moments/patch.h), and a patch is all that the solver knows of it.
 *
 * Each model of the library has a folder beside this file and a line in models.c. A program uses
 * one of its own by its place in the law of two materials (struct tact_contact_law) or in the
 * options of a world, and where it adds it to the table, by its name in a scene.
 *
 * Real-time safe but for tact_contact_model_add().
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

/** What a model is asked about: shape a and shape b in a tick. */
struct tact_pair_query {
    const struct tact_contact_model *model; /**< that is asked */
    const struct tact_shape *a;             /**< first shape */
    const struct tact_shape *b;             /**< second shape */
    const void *data_a;             /**< what the model's prepare() made of a; NULL without it */
    const void *data_b;             /**< the same of b */
    const struct tact_pose *pose_a; /**< of a, world */
    const struct tact_pose *pose_b; /**< of b, world */
    const struct tact_contact_law *law;       /**< contact law of their materials */
    const struct tact_world_options *options; /**< spin is never AUTO */
    const struct tact_moments *moments; /**< of this tick, volume > 0; NULL unless the model uses
                                             moments */
    double planar; /**< how planar the overlap is, by what measured these moments: the sum of its
                        faces' areas as vectors over that as numbers; NAN where that is not known
                      [1] */
    int most;      /**< patches, as the model said of these two shapes */
    double twist[2][6]; /**< of the shapes' frames, at their origins, as they led here [m/s, rad/s],
                             world; 0 for a model that uses moments */
    double rate[2][6];  /**< how those twists change in the drift after a solve, from the bodies'
                             rotation alone: no force on a body, constant rates of a hand's joints
                             [m/s^2, rad/s^2], world; 0 for a model that uses moments */
    double pressed;     /**< impulse of the pair's force in the last tick [N s] */
    int *counts;        /**< of this tick, by enum tact_solve_count, to be added to */
    double *state; /**< what the model keeps for this pair from tick to tick; 0 when the bounding
                        spheres come to overlap [any] */
    struct tact_pressure *pressure; /**< NULL, or where a model that computes a pressure adds the
                                         patches of this pair */
    const double *along; /**< NULL, or a unit vector, world, along which a model of gaps measures in
                              place of a normal of its own, where it can [1] */
};

/** A part of a pair's contact that is solved as a contact by itself. */
struct tact_pair_piece {
    struct tact_patch patch;     /**< patch of the part */
    struct tact_moments moments; /**< of that part of the overlap; all 0 where it has none */
};

/** A contact model: what it is called, what it keeps, and its two functions. */
struct tact_contact_model {
    struct tact_abi abi; /**< TACT_ABI(struct tact_contact_model) */
    const char *name;    /**< in a scene: `pairs[].model` */
    void *user;          /**< its own, in each query's model */
    int state;   /**< numbers that it keeps for each pair whose bounding spheres overlap; they
                      go into logs, so that a replay may start at any tick */
    int moments; /**< 1: it uses the moments of the overlap, which a moment source may measure,
                      and is asked only about pairs that overlap */
    int elastic; /**< 1: its patches press by an elastic wrench, which hunt_crossley of a law damps
                      without a compliance beside it */
    int points;  /**< 1: its patches are solved as contact points with Coulomb friction: the
                      corners of the outline of two convex solids' overlap, all vertices of the
                      overlap of others, the centre of one that is round or soft */

    int gaps; /**< 1: it knows the gap of shapes that are apart, and its patches keep them from
                   passing it: it may be that of fast bodies (tact_world_set_fast()) */

    /** How many patches it may make of two shapes: 0 where it does not take them, at most
     *  TACT_PIECES. Called once per pair. */
    int (*patches)(const struct tact_shape *a, const struct tact_shape *b,
                   const struct tact_world_options *options);

    /**
     * NULL, or derives from a shape and its material what each query about them needs: the graph of
     * a hull, a pressure field, the charts of a surface. Called when a world is made, once for each
     * shape that a pair of this model may contain; shapes of the same kind, size, mesh and material
     * have one result between them. *data may stay NULL. What it points to must not change
     * afterwards. May allocate; not called in a tick.
     * @retval -ENOMEM, or another negative errno where the shape or material is refused: *err (may
     * be NULL) then states in its text what was expected of it, without the shape's name
     */
    int (*prepare)(const struct tact_contact_model *model, const struct tact_shape *shape,
                   const struct tact_material *material, void **data, struct tact_error *err);
    void (*release)(void *data); /**< frees it, never NULL; set where prepare is */

    /**
     * Measures a pair. Real-time safe, and the same result for the same query.
     * *patch: of the whole contact. piece: room for as many as patches() says; the patches that the
     * contact is solved as, where that is not the whole.
     * @retval 0        one patch, the whole
     * @retval n        n pieces, each thin as seen along its normal
     * @retval -EDOM    no contact
     * @retval -ERANGE  the shapes overlap, but nothing can open them: one is inside the other
     */
    int (*measure)(const struct tact_pair_query *query, struct tact_patch *patch,
                   struct tact_pair_piece *piece);
};

/** The models in the order of their table, those of the library first; NULL after the last. */
TACT_API const struct tact_contact_model *tact_contact_model_at(int i);

/** Adds a model of the program's own to the table, where scenes may name it; before any scene is
 *  read, and not from two threads at once. It must outlive all sessions. -EEXIST for a name that is
 *  taken, -EINVAL for one that is no word, a model without functions or one compiled for another
 *  ABI version, -ENOSPC for too many. */
TACT_API int tact_contact_model_add(const struct tact_contact_model *model);

/** The model of that name; NULL where there is none. */
TACT_API const struct tact_contact_model *tact_contact_model_named(const char *name);

/** The model of two shapes where none is named. */
TACT_API const struct tact_contact_model *tact_contact_model_default(const struct tact_shape *a,
                                                                     const struct tact_shape *b);

TACT_END_DECLS

#endif
