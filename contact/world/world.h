/**
 * A world: bodies, hands, shapes, joints of mechanisms (bond.h), and one 6D frictional contact per
 * touching pair.
 *
 * Made once (allocates), then stepped without allocation, locks or system calls. A tick is
 *     tact_world_begin()        shape poses, and which pairs are close enough to measure
 *     tact_world_set_moments()  for each of those, from wherever moments come; tact_world_near()
 *                               lists them, and what a tick costs goes with what is near
 *     tact_world_solve()        free velocities, patches, block Gauss-Seidel over the contacts
 *     tact_world_integrate()    new poses
 * tact_world_step() is all of it with exact moments from the host: what a program without a moment
 * source of its own calls.
 * Same input, same build: same bits. Order of everything is the order in which it was added.
 *
 * Real-time safe but for what makes a world, tact_world_create() up to tact_world_start(), and
 * tact_world_destroy().
 */
#ifndef TACT_CONTACT_WORLD_H
#define TACT_CONTACT_WORLD_H

#include <stdint.h>
#include "../api.h"
#include "../counts.h"
#include "../limits.h"
#include "../shape/shape.h"
#include "../moments/moments.h"
#include "../moments/patch.h"
#include "../pair/model.h"
#include "../owner.h"
#include "body.h"
#include "hand.h"

TACT_BEGIN_DECLS

/** What the springs of a patch with a tangential compliance hold: its state beside the poses. All 0
 *  where it has none. */
struct tact_springs {
    double impulse[6]; /**< on A, world axes, about the patch's centre, which they go along with;
                            nothing along the normal. Tilting torques as if the overlap had none of
                            its own [N s, N m s] */
    double angle[3];   /**< by which that turns them [rad], world axes */
};

/** A pair of shapes that may touch, A then B, and its contact. Read-only. */
struct tact_contact {
    int a;                       /**< first shape */
    int b;                       /**< second shape, b > a */
    int touching;                /**< 1 where the last solve had a contact here */
    struct tact_moments moments; /**< moments of the overlap, as set for this tick */
    struct tact_patch patch;     /**< patch of the whole overlap */
    double impulse[6]; /**< on A in the patch's frame at its centre: f_n f_1 f_2 [N s], tau_n
                            tau_1 tau_2 [N m s] */
    double wrench[6];  /**< on A, world axes, about the patch's centre [N, N m] */
    double warm[6];    /**< warm start: impulse on A, world axes, about warm_point [N s, N m s] */
    double warm_point[3];        /**< [m], world */
    struct tact_springs springs; /**< springs of a patch with a tangential compliance */
    double spin_arm;             /**< torsion over mu N that the last solve allowed at most [m] */
    int limits;                  /**< enum tact_limit bits of the last solve */
    struct tact_margins margins; /**< of the last solve; all 0 apart */
    int split;       /**< pieces that it was solved as; 0: one. impulse, wrench and limits are then
                          those of all pieces together, about the whole patch, margins the least */
    double preload;  /**< depth beyond the target that the overlap had at the start and still has
                          [m]: nothing pushes it open, and it only shrinks. 0: none. Of a
                          shape wholly inside the other, which has no depth, 33 sizes */
    int starting;    /**< 1 until the first solve after tact_world_start() */
    int stuck;       /**< 1: deeper than its target and the last solve did not push it open, as no
                          joint moves along its normal, contacts press against each other, or one
                          shape is wholly inside the other, which is no contact */
    int outrun;      /**< 1: its shapes pass each other by more than the thinner of them in this
                          tick, and its model does not know their gap ahead of touch */
    int first_piece; /**< where the world keeps those; 0: never split */
};

/** How the last solve went. */
struct tact_solve_stats {
    int contacts;   /**< touching pairs */
    int iterations; /**< sweeps done. Bodies and hands that contacts and joints hold together are
                       swept until solved, each such group by itself: this is of the last */
    double
        residual;    /**< largest natural-map residual met in a sweep, before its update: the last,
                        or where a group was not solved its best, whose impulses are then taken [1] */
    double update;   /**< 2-norm of the last sweep's update over that of all impulses [1] */
    int points;      /**< contact points, where those are asked for */
    int left_out;    /**< points that there was no room for */
    int failed_hand; /**< where the solve failed: the hand whose matrix could not be factored */
    int products;    /**< linearised sweeps between the sweeps, for Newton's steps: each takes a
                        fraction of a sweep */
    int counts[TACT_SOLVE_COUNTS]; /**< what it took, by enum tact_solve_count; once it is done */
    int eliminations; /**< factorisations of all bodies of an island, for its Newton steps and for
                           those of the interior-point method (barrier_internal.h) */
};

#define TACT_WORLD_MAX_RATE 1e5 /**< nothing turns faster [rad/s], see tact_world_check() */

#define TACT_WORLD_MAX_SHAPES 65536 /**< all pairs of them can be numbered */

/** What the contacts of a world may be, over all pairs of shapes that may touch. */
struct tact_world_extent {
    int pairs;   /**< that may touch */
    int split;   /**< of these, pairs that may be solved as several pieces */
    int springs; /**< most sets of tangential springs of one contact */
    int state;   /**< most numbers that a contact's model keeps */
    int points;  /**< 1: some are solved as contact points */
};

/** What a fault of the state is about. */
enum tact_world_part {
    TACT_WORLD_PAIR,       /**< index: the pair */
    TACT_WORLD_CONSTRAINT, /**< index: the bond */
    TACT_WORLD_BODY,       /**< index: the body */
    TACT_WORLD_JOINT,      /**< index: the hand, link: the joint's link */
};

/** Something that no state can be. */
struct tact_world_fault {
    enum tact_world_part part; /**< what the fault is about */
    int index;                 /**< its index */
    int link;                  /**< its link, for TACT_WORLD_JOINT */
    const char *what;          /**< "its pose is not finite": static text */
};

/** What a solve has just done. */
enum tact_solve_phase {
    TACT_SOLVE_PATCHES,   /**< patches, points and frames of all touching pairs */
    TACT_SOLVE_ASSEMBLED, /**< free velocities and the Schur blocks */
    TACT_SOLVE_FACTORED,  /**< the blocks are factored */
    TACT_SOLVE_SWEPT,     /**< one sweep, of as many as it takes; stats are those of the sweep */
    TACT_SOLVE_STORED,    /**< all of it */
};

/** Called in tact_world_solve(), on its thread, after each phase: for clocks and curves. Returns 1
 *  after a sweep to make it the last, else 0. */
typedef int (*tact_solve_observer_fn)(void *user, enum tact_solve_phase phase,
                                      const struct tact_solve_stats *stats);

struct tact_world;

/** -EINVAL for options out of range, -ENOMEM. */
TACT_API int tact_world_create(const struct tact_world_options *options, struct tact_world **out);
/** Frees a world with its hands; NULL is allowed. Not real-time safe. */
TACT_API void tact_world_destroy(struct tact_world *world);

/** Adds a free body (mass set, pose and twist as at the start). Index, -ENOMEM, or -EINVAL once the
 *  world is finished. */
TACT_API int tact_world_add_body(struct tact_world *world, const struct tact_body *body);

/** Adds a hand and takes it over. weightless: gravity does not act on it. Index, or -ENOMEM or
 *  -EINVAL as above: the hand is then still the caller's. */
TACT_API int tact_world_add_hand(struct tact_world *world, struct tact_hand *hand, int weightless);

/** Adds a shape at `local` in its owner's frame (the body's centre of mass and axes; the link's
 *  frame; the world for FIXED). The shape's mesh must outlive the world. Index, -ENOMEM, or
 *  -EINVAL for an owner or material that cannot be, for a shape that nothing could measure (a box
 * or capsule that was never tessellated, a mesh of none), or once the world is finished. */
TACT_API int tact_world_add_shape(struct tact_world *world, struct tact_owner owner,
                                  const struct tact_shape *shape, const struct tact_pose *local,
                                  int material);

/** Sets the law of two materials, small numbers from 0. Pairs of shapes whose materials have no law
 *  do not touch. -EINVAL for values out of range, -ENOMEM. */
TACT_API int tact_world_set_law(struct tact_world *world, int material_a, int material_b,
                                const struct tact_contact_law *law);

/** Sets what a material says by itself, a small number from 0; all 0 where it was never set.
 * -EINVAL for values out of range or once the world is prepared, -ENOMEM. */
TACT_API int tact_world_set_material(struct tact_world *world, int material,
                                     const struct tact_material *of);

/** Has the contact models derive what they need of the shapes that their pairs may contain: after
 * tact_world_find_unsupported(), before tact_world_finish(), which does it where this was not
 * called. Nothing may be added afterwards. shape and err may be NULL. Not real-time safe.
 * @retval 0
 * @retval -ENOMEM, -EINVAL the second time, or why the model refused *shape; err->text says what
 *         was expected, or is empty */
TACT_API int tact_world_prepare(struct tact_world *world, int *shape, struct tact_error *err);

/** Whether two shapes a and b that may touch have a contact model that does not take them, and the
 *  first such. To be asked before tact_world_finish(). */
TACT_API int tact_world_find_unsupported(const struct tact_world *world, int *a, int *b);

/** Marks a body as fast: its pairs are looked for as far ahead as it may go in two ticks, and those
 *  for which no model is named are of the model of features. -EINVAL for a body that is none, or
 *  once the world is prepared. */
TACT_API int tact_world_set_fast(struct tact_world *world, int body);

/** The named model by which a fast body may touch something, if it does not know the gap of shapes
 *  that are apart (tact_contact_model.gaps), and the first such two shapes; NULL where there is
 *  none. To be asked before tact_world_finish(). */
TACT_API const struct tact_contact_model *tact_world_find_gapless(const struct tact_world *world,
                                                                  int *a, int *b);

/** Makes room for everything a tick needs, of which contacts take as much as may be near at a time;
 *  nothing may be added afterwards. Pairs that may touch: every two shapes whose materials have a
 * law, of different owners that are not both fixed and that no bond joins, or of two links of one
 * hand of which neither is the other's parent. -ENOMEM, -E2BIG for more than TACT_WORLD_MAX_SHAPES,
 * -ENOTSUP where a model was named for two shapes that it does not take, or -EINVAL the second
 * time. */
TACT_API int tact_world_finish(struct tact_world *world);

/** Takes the overlaps at the present poses as those of the start: one that is deeper than its
 * target stays as deep, bearing what presses it but pushed by nothing, and its preload says by how
 * much. Of that, a compliance takes what the first solve's load compresses it by: what starts at
 * rest on a spring rests. Without it, such overlaps are pushed open from the first tick. A
 * contact's `stuck` is 1 where no joint moves along its normal. Call it once, after
 * tact_world_finish(). Returns how many overlaps are deeper than their target. */
TACT_API int tact_world_start(struct tact_world *world, struct tact_moments_scratch *scratch);

/** Number of bodies. Real-time safe. */
TACT_API int tact_world_body_count(const struct tact_world *world);
/** Number of hands. Real-time safe. */
TACT_API int tact_world_hand_count(const struct tact_world *world);
/** Number of shapes. Real-time safe. */
TACT_API int tact_world_shape_count(const struct tact_world *world);
/** The extent of a world that is finished. Real-time safe. */
TACT_API struct tact_world_extent tact_world_extent(const struct tact_world *world);

/** Pairs are numbered in the order of their shapes a < b, first by a: all of them, of which some
 *  cannot touch. The first after `pair` that may, or of all where that is -1; -1 after the last. */
TACT_API int tact_world_next_pair(const struct tact_world *world, int pair);

/** The two shapes of a pair, a < b. Real-time safe, as the next. */
TACT_API void tact_world_pair_shapes(const struct tact_world *world, int pair, int *a, int *b);

/** The pair of two shapes a < b; -1 where they cannot touch, or are none. */
TACT_API int tact_world_pair_between(const struct tact_world *world, int a, int b);

/** Live body and hand; call tact_world_refresh() after writing poses or joint values. */
TACT_API struct tact_body *tact_world_body(struct tact_world *world, int index);
/** Live hand, as above. Real-time safe. */
TACT_API struct tact_hand *tact_world_hand(struct tact_world *world, int index);
/** A shape by its index. Real-time safe. */
TACT_API const struct tact_shape *tact_world_shape(const struct tact_world *world, int index);
/** What a shape is attached to. Real-time safe. */
TACT_API struct tact_owner tact_world_owner(const struct tact_world *world, int shape);
/** The contact of a pair; valid until the next tact_world_begin(). Of a pair that is not near it is
 *  one that stands for all such, until the next call: to write to it call tact_world_add_near()
 *  first. */
TACT_API struct tact_contact *tact_world_contact(struct tact_world *world, int pair);
/** The k-th piece of a pair, k < TACT_PIECES, likewise: a contact by itself where k < split. NULL
 *  where the pair is never split. */
TACT_API struct tact_contact *tact_world_piece(struct tact_world *world, int pair, int k);

/** What the contact model of a pair keeps for it, and how many numbers; NULL where it is not near.
 *  Real-time safe. */
TACT_API double *tact_world_state(struct tact_world *world, int pair, int *count);

/** Near pairs that there is room for; and the place of one among them, which it keeps as long as it
 *  is near, -1 where it is not. Real-time safe. */
TACT_API int tact_world_near_capacity(const struct tact_world *world);
/** Place of a near pair among them, -1 where it is not near. Real-time safe. */
TACT_API int tact_world_slot(const struct tact_world *world, int pair);

/** Most contacts of a tick, pieces of split ones counted singly. */
TACT_API int tact_world_contact_capacity(const struct tact_world *world);
/** The contact law of a pair's materials. Real-time safe. */
TACT_API const struct tact_contact_law *tact_world_law(const struct tact_world *world, int pair);
/** The contact model of a pair. Real-time safe. */
TACT_API const struct tact_contact_model *tact_world_model(const struct tact_world *world,
                                                           int pair);
/** Recomputes what follows from poses and joint values that were written. Real-time safe. */
TACT_API void tact_world_refresh(struct tact_world *world);

/** 1 where gravity acts on the body (the start), 0 where its weight is carried. Real-time safe. */
TACT_API void tact_world_set_weight(struct tact_world *world, int body, int on);

/** Poses of all shapes now, whether the moments of a pair are to be measured (1), as it is close,
 *  and the last normal of a pair (3 numbers; 0 0 0 where there was no contact since it came close).
 *  Real-time safe. */
TACT_API void tact_world_begin(struct tact_world *world);
/** [shapes] poses of all shapes, world, as of tact_world_begin(). Real-time safe. */
TACT_API const struct tact_pose *tact_world_shape_poses(const struct tact_world *world);
/** 1 where the bounding spheres of a pair overlap. Real-time safe. */
TACT_API int tact_world_is_close(const struct tact_world *world, int pair);
/** Last normal of a pair, unit vector, world; 0 0 0 without a contact since it came close.
 * Real-time safe. */
TACT_API const double *tact_world_direction(const struct tact_world *world, int pair);

/** Sets the last normal of a near pair, which the search for its moments goes by. Real-time safe.
 */
TACT_API void tact_world_set_direction(struct tact_world *world, int pair, const double normal[3]);

/** Exact moments of a pair at the present poses, as tact_moments_pair(). Real-time safe. */
TACT_API int tact_world_measure(const struct tact_world *world, int pair,
                                struct tact_moments_scratch *scratch, struct tact_moments *out);

/** Carries moments to now, along the motion of the pair's two shapes since they were at a_then and
 *  b_then, where they were measured: see tact_moments_advance(). Real-time safe. */
TACT_API void tact_world_carry(const struct tact_world *world, int pair,
                               const struct tact_pose *a_then, const struct tact_pose *b_then,
                               const struct tact_moments *in, struct tact_moments *out);

/** The pairs that a tick has to do with, ascending, and their number: all that are close, and some
 *  more. Valid until the next tact_world_begin(); tact_world_set_moments() may add to them.
 * Real-time safe. */
TACT_API const int *tact_world_near(const struct tact_world *world, int *count);

/** Has a pair in tact_world_near() of the next tick, wherever its shapes are: to be called before
 * its contact is written. Real-time safe. */
TACT_API void tact_world_add_near(struct tact_world *world, int pair);

/** Moments of a pair for this tick, to be set for every pair of tact_world_near(), close or not;
 * NULL or no volume: not touching. All other pairs do not touch. Real-time safe. */
TACT_API void tact_world_set_moments(struct tact_world *world, int pair,
                                     const struct tact_moments *moments);

/**
 * Begins a tick with exact moments from the host: tact_world_begin(), then tact_world_measure() and
 * tact_world_set_moments() for each pair of tact_world_near(). Real-time safe.
 * @retval 0
 * @retval -errno  of tact_world_measure() for the first pair that it cannot measure; the moments of
 *                 that pair and of those after it are not set: the tick cannot be solved
 */
TACT_API int tact_world_measure_near(struct tact_world *world,
                                     struct tact_moments_scratch *scratch);

/**
 * One tick of period options.period: tact_world_measure_near(), tact_world_solve() and
 * tact_world_integrate(). *stats, not NULL, is that of the solve. Real-time safe.
 * @retval 0
 * @retval -errno  of tact_world_measure_near(): nothing has moved and *stats is as it was
 * @retval -EDOM, -ENOSPC  of tact_world_solve(): bodies and hands have moved without contact
 *                         impulses
 */
TACT_API int tact_world_step(struct tact_world *world, struct tact_moments_scratch *scratch,
                             struct tact_solve_stats *stats);

/** Sets what watches each solve; NULL, the start: nobody. Real-time safe if the watch is. */
TACT_API void tact_world_set_observer(struct tact_world *world, tact_solve_observer_fn watch,
                                      void *user);

/** -EDOM where a hand's matrix could not be factored, -ENOSPC where more contacts touch, or pairs
 * are near, than the world has room for; impulses are then zero. Real-time safe. */
TACT_API int tact_world_solve(struct tact_world *world, struct tact_solve_stats *stats);

/** Real-time safe. */
TACT_API void tact_world_integrate(struct tact_world *world);

/**
 * Checks the state after tact_world_integrate(), before the next tact_world_begin(): moments,
 * wrenches, poses, velocities and joint values are finite, no body or sliding joint is faster than
 * max_speed [m/s], none turns faster than TACT_WORLD_MAX_RATE. What is wrong with overlaps is found
 * first, as it spoils the rest. Real-time safe.
 * @retval 0
 * @retval -EDOM  *fault names the first fault
 */
TACT_API int tact_world_check(const struct tact_world *world, double max_speed,
                              struct tact_world_fault *fault);

TACT_END_DECLS

#endif
