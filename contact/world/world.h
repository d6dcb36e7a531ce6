/**
 * A world: bodies, hands, shapes, joints of mechanisms (constraint.h), and one 6D frictional
 * contact per touching pair.
 *
 * A world is created once, which allocates, then stepped without allocation, locks or system
 * calls. A tick is
 *     tact_world_begin()        shape poses, and which pairs are close enough to measure
 *     tact_world_set_moments()  for each of those, from any source of moments; tact_world_near()
 *                               lists them, and the cost of a tick depends on what is near
 *     tact_world_solve()        free velocities, patches, block Gauss-Seidel over the contacts
 *     tact_world_integrate()    new poses
 * tact_world_step() does all of this with exact moments from the host, for programs without a
 * moment source of their own.
 * The same input and the same build give the same bits. Everything is processed in the order in
 * which it was added.
 *
 * All functions are real-time safe, except those that create a world, tact_world_create() up to
 * tact_world_start(), and tact_world_destroy().
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

/** State of the springs of a patch with a tangential compliance. All 0 for a patch without. */
struct tact_springs {
    double impulse[6]; /**< impulse of the patch's springs on A, world axes, about the centre of the
                          patch, with which they move; zero along the normal. The tilting torques do
                          not include those of the overlap itself [N s, N m s] */
    /** rotation that causes the torques of the patch's springs [rad], world axes */
    double angle[3];
};

/** A pair of shapes that may touch, A then B, and its contact. Read-only. */
struct tact_contact {
    int a;                       /**< first shape */
    int b;                       /**< second shape, b > a */
    int touching;                /**< 1 where the last solve had a contact of this pair */
    struct tact_moments moments; /**< moments of the overlap, as set for this tick */
    struct tact_patch patch;     /**< contact patch of the pair's whole overlap */
    double impulse[6]; /**< contact impulse on A in the frame of the patch at its centre: f_n f_1
                          f_2 [N s], tau_n tau_1 tau_2 [N m s] */
    double wrench[6]; /**< contact force and torque on A, world axes, about the patch's centre [N, N
                         m] */
    double warm[6]; /**< warm start of the next solve: impulse on A, world axes, about warm_point [N
                       s, N m s] */
    double warm_point[3];        /**< [m], world */
    struct tact_springs springs; /**< springs of a patch with a tangential compliance */
    double spin_arm; /**< spin arm: torsion limit over mu times the normal force in the last solve
                        [m] */
    int limits;      /**< limits that were active in the last solve: bits of enum tact_limit */
    struct tact_margins margins; /**< margins to the contact's limits in the last solve; all 0 for a
                                    pair that does not touch */
    int split;      /**< number of pieces that the pair was solved as; 0: one contact. With pieces,
                       impulse,      wrench and limits are the sums over all pieces about the whole
                       patch, margins the smallest */
    double preload; /**< depth beyond the target that the overlap had at the start and still has
                       [m]. It is not pushed open, and only decreases. 0: none. For a shape wholly
                       inside the other, which has no depth, 33 times its size */
    int starting;   /**< 1 from tact_world_start() until the end of the first solve */
    int stuck;      /**< 1: deeper than its target and not pushed open by the last solve, because no
                       joint moves along its normal, contacts press against each other, or one shape is
                       wholly inside the other, which is no contact */
    int outrun; /**< 1: its shapes pass each other by more than the thinner of them in this tick,
                   and their gap is not known: the model does not measure it before they touch, or
                   measured the overlap instead, or neither body is fast and they were too far
                   apart to be measured; or they may touch in several places and still move so
                   after a tick in contact */
    int first_piece; /**< index of the pair's first piece; 0: the pair is never split */
};

/** Statistics of the last solve of a world. */
struct tact_solve_stats {
    int contacts;    /**< touching pairs */
    int iterations;  /**< sweeps done. Each island, the bodies and hands that are connected by
                        contacts and joints, is swept until it is solved: this is the largest number
                      */
    double residual; /**< largest residual of the contact law (local_residual.c) in the last sweep,
                        before its update; for an island that was not solved, that of its best
                        sweep, whose impulses are then used [1] */
    double update;   /**< relative change in the last sweep: 2-norm of its changes of impulses over
                        that of all impulses [1] */
    int points;      /**< number of contact points, where pairs are solved as points */
    int left_out;    /**< number of contact points that exceeded the capacity and were dropped */
    int failed_hand; /**< index of the hand whose matrix could not be factored, where the solve
                        failed */
    int counts[TACT_SOLVE_COUNTS]; /**< counts by enum tact_solve_count; complete when the solve has
                                    * ended
                                    */
    int eliminations; /**< factorisations over the bodies and hands of an island, for its Newton
                         steps and for the steps of the interior-point method (barrier_internal.h)
                       */
};

#define TACT_WORLD_MAX_RATE                                                                        \
    1e5 /**< largest angular rate that tact_world_check() accepts [rad/s]                          \
         */

#define TACT_WORLD_MAX_SHAPES                                                                      \
    65536 /**< limit of the number of shapes, below which an int can number all their pairs */

/** Extent of the contacts of a world, over all pairs of shapes that may touch. */
struct tact_world_extent {
    int pairs;   /**< number of pairs of shapes that may touch */
    int split;   /**< number of pairs that may be solved as several pieces */
    int springs; /**< largest number of sets of tangential springs of one pair */
    int state;   /**< largest number of state variables that a model has for a pair */
    int points;  /**< 1: some pairs of shapes are solved as contact points */
};

/** The kind of object that a fault of the state concerns. */
enum tact_world_part {
    TACT_WORLD_PAIR,       /**< index: the pair */
    TACT_WORLD_CONSTRAINT, /**< index: the constraint */
    TACT_WORLD_BODY,       /**< index: the body */
    TACT_WORLD_JOINT, /**< fault of a joint of a hand; index: the hand, link: the joint's link */
};

/** A fault of the state: a value that no state can have. */
struct tact_world_fault {
    enum tact_world_part part; /**< kind of object */
    int index;                 /**< index of the faulty object among its kind */
    int link;                  /**< link of the faulty joint, for TACT_WORLD_JOINT */
    const char *what; /**< what the fault is, as static text: "the body's pose is not finite" */
};

/** Phase that a solve of the world has just completed. */
enum tact_solve_phase {
    TACT_SOLVE_PATCHES,   /**< phase in which patches, points and frames of all touching pairs are
                             computed */
    TACT_SOLVE_ASSEMBLED, /**< phase that computes free velocities and the Schur blocks S of the
                             contacts */
    TACT_SOLVE_FACTORED,  /**< phase that factors the Schur blocks S */
    TACT_SOLVE_SWEPT,     /**< one sweep of the iteration over the contacts; stats are those of that
                             sweep */
    TACT_SOLVE_STORED,    /**< the whole solve */
};

/** Called in tact_world_solve(), on its thread, after each phase, to measure times and convergence.
 * Returning 1 after a sweep makes it the last; else it returns 0. */
typedef int (*tact_solve_observer_fn)(void *user, enum tact_solve_phase phase,
                                      const struct tact_solve_stats *stats);

struct tact_world;

/** Creates an empty world. -EINVAL for options out of range, -ENOMEM. */
TACT_API int tact_world_create(const struct tact_world_options *options, struct tact_world **out);
/** Frees a world with its hands; NULL is allowed. Not real-time safe. */
TACT_API void tact_world_destroy(struct tact_world *world);

/** Adds a free body with its mass set and its initial pose and twist. Returns its index, -ENOMEM,
 * or -EINVAL once the world is finished. */
TACT_API int tact_world_add_body(struct tact_world *world, const struct tact_body *body);

/** Adds a hand, which the world owns from then on. weightless: gravity does not act on it. Returns
 * its index. On -ENOMEM, or -EINVAL once the world is finished, the caller still owns the hand. */
TACT_API int tact_world_add_hand(struct tact_world *world, struct tact_hand *hand, int weightless);

/** Adds a shape at `local` in the frame of its owner (the body's centre of mass and axes; the
 * link's frame; the world for FIXED). The shape's mesh must outlive the world. Returns its index,
 * -ENOMEM, or -EINVAL: for an invalid owner or material, for a shape that cannot be measured (a box
 * or capsule that was never tessellated, a mesh shape without mesh), or once the world is finished.
 */
TACT_API int tact_world_add_shape(struct tact_world *world, struct tact_owner owner,
                                  const struct tact_shape *shape, const struct tact_pose *local,
                                  int material);

/** Sets the collision classes of a shape, one bit each, and those that it touches; both are 1 at
 * first. Two shapes touch only if one's classes and the other's `touched` have a common bit, as
 * contype and conaffinity in MuJoCo. -EINVAL for a shape that does not exist, or once the world is
 * prepared. Not real-time safe. */
TACT_API int tact_world_set_classes(struct tact_world *world, int shape, uint32_t classes,
                                    uint32_t touched);

/** Excludes contacts between the shapes of two owners: they do not touch each other. For links
 * of a hand, HAND owners with their link. -EINVAL for an owner that does not exist, or once the
 * world is prepared; -ENOMEM. */
TACT_API int tact_world_exclude(struct tact_world *world, struct tact_owner a, struct tact_owner b);

/** Sets the contact law of two materials, which are small numbers from 0. Shapes whose materials
 * have no law do not touch. -EINVAL for values out of range, -ENOMEM. */
TACT_API int tact_world_set_law(struct tact_world *world, int material_a, int material_b,
                                const struct tact_contact_law *law);

/** Sets the properties of a material, a small number from 0; they are all 0 by default. -EINVAL for
 * values out of range or once the world is prepared, -ENOMEM. */
TACT_API int tact_world_set_material(struct tact_world *world, int material,
                                     const struct tact_material *of);

/** Lets the contact models derive their data from the shapes of the pairs that may touch. Call it
 * after tact_world_find_unsupported() and before tact_world_finish(), which otherwise does it.
 * Nothing may be added afterwards. shape and err may be NULL. Not real-time safe.
 * @retval 0
 * @retval -ENOMEM, -EINVAL on a second call, or the model's error for *shape; err->text says what
 * was expected, or is empty */
TACT_API int tact_world_prepare(struct tact_world *world, int *shape, struct tact_error *err);

/** 1 where two shapes that may touch have a contact model that does not support them; *a and *b are
 * the first such two. Call it before tact_world_finish(). */
TACT_API int tact_world_find_unsupported(const struct tact_world *world, int *a, int *b);

/** Marks a body as fast: its pairs are searched as far ahead as it may move in two ticks, and those
 * without a named model use the features model. -EINVAL for a body that does not exist, or once the
 * world is prepared. */
TACT_API int tact_world_set_fast(struct tact_world *world, int body);

/** The named model of the first pair of a fast body whose model does not know the gap of separated
 * shapes (tact_contact_model.gaps), with the two shapes; NULL where there is none. Call it before
 * tact_world_finish(). */
TACT_API const struct tact_contact_model *tact_world_find_gapless(const struct tact_world *world,
                                                                  int *a, int *b);

/** Allocates everything that ticks need, with capacity for as many contacts as may be near at a
 * time. Nothing may be added afterwards. Two shapes may touch if their materials have a law and
 * their owners are different, not both fixed, not excluded and not connected by a joint; two links
 * of one hand may touch unless one is the parent of the other. -ENOMEM, -E2BIG for more than
 * TACT_WORLD_MAX_SHAPES, -ENOTSUP where a model was named for two shapes that it does not support,
 * or -EINVAL on a second call. */
TACT_API int tact_world_finish(struct tact_world *world);

/** Accepts the overlaps at the present poses as initial overlaps. One that is deeper than its
 * target keeps its depth: it supports loads but is not pushed open, and its preload is the excess.
 * With a compliance, the excess decreases by the compression under the load of the first solve, so
 * that a body that starts at rest on a spring stays at rest. Without this call such overlaps are
 * pushed open from the first tick. A contact's `stuck` is 1 where no joint moves along its normal.
 * Call it once, after tact_world_finish(). Returns how many overlaps are deeper than their target.
 */
TACT_API int tact_world_start(struct tact_world *world, struct tact_moments_scratch *scratch);

/** Number of free bodies of a world. Real-time safe. */
TACT_API int tact_world_body_count(const struct tact_world *world);
/** Number of hands of a world. Real-time safe. */
TACT_API int tact_world_hand_count(const struct tact_world *world);
/** Number of shapes of a world. Real-time safe. */
TACT_API int tact_world_shape_count(const struct tact_world *world);
/** The extent of a world that is finished. Real-time safe. */
TACT_API struct tact_world_extent tact_world_extent(const struct tact_world *world);

/** All pairs of shapes are numbered in the order of their shapes a < b, first by a; some of them
 * cannot touch. Returns the first pair after `pair` that may touch, or the first of all where
 * `pair` is -1; -1 after the last. */
TACT_API int tact_world_next_pair(const struct tact_world *world, int pair);

/** The two shapes of a pair, a < b. Real-time safe. */
TACT_API void tact_world_pair_shapes(const struct tact_world *world, int pair, int *a, int *b);

/** The pair of two shapes a < b; -1 where they cannot touch or do not exist. */
TACT_API int tact_world_pair_between(const struct tact_world *world, int a, int b);

/** A free body by its index, which may be written; call tact_world_refresh() after writing its
 * pose. Models take a twist that is written before the solve for the motion of the body, from which
 * they predict how contacts move. A force is therefore added to the twist after the patches are
 * measured, by an observer in TACT_SOLVE_PATCHES, as gravity is. */
TACT_API struct tact_body *tact_world_body(struct tact_world *world, int index);
/** A hand by its index, which may be written; call tact_world_refresh() after writing joint
 * values. Real-time safe. */
TACT_API struct tact_hand *tact_world_hand(struct tact_world *world, int index);
/** A shape of the world by its index. Real-time safe. */
TACT_API const struct tact_shape *tact_world_shape(const struct tact_world *world, int index);
/** The owner of a shape: a body, a link of a hand, or FIXED. Real-time safe. */
TACT_API struct tact_owner tact_world_owner(const struct tact_world *world, int shape);
/** The contact of a pair of shapes; valid until the next tact_world_begin(). For a pair that is not
 * near it is a placeholder, valid until the next call: to write the contact call
 * tact_world_add_near() first. */
TACT_API struct tact_contact *tact_world_contact(struct tact_world *world, int pair);
/** The k-th piece of a pair, k < TACT_PIECES; a contact of its own where k < split. Valid as the
 * contact is. NULL where the pair is never split. */
TACT_API struct tact_contact *tact_world_piece(struct tact_world *world, int pair, int k);

/** State variables of a pair's contact model, and their number; NULL where the pair is not near.
 * Real-time safe. */
TACT_API double *tact_world_state(struct tact_world *world, int pair, int *count);

/** Capacity of a world for near pairs. Real-time safe. */
TACT_API int tact_world_near_capacity(const struct tact_world *world);
/** Slot of a near pair, a number below the capacity that it keeps as long as it is near; -1 where
 * it is not near. Real-time safe. */
TACT_API int tact_world_slot(const struct tact_world *world, int pair);

/** Capacity of a world for contacts in a tick; each piece of a split pair counts as one. */
TACT_API int tact_world_contact_capacity(const struct tact_world *world);
/** The capacity that the last solve exceeded, where it returned -ENOSPC: "near pairs", "contacts"
 * or "contact points", static text; NULL: none. Real-time safe. */
TACT_API const char *tact_world_exceeded_capacity(const struct tact_world *world);
/** The contact law of a pair's materials. Real-time safe. */
TACT_API const struct tact_contact_law *tact_world_law(const struct tact_world *world, int pair);
/** The contact model of a pair. Real-time safe. */
TACT_API const struct tact_contact_model *tact_world_model(const struct tact_world *world,
                                                           int pair);
/** The contact model of two shapes, also of two that it does not support. Real-time safe. */
TACT_API const struct tact_contact_model *tact_world_model_between(const struct tact_world *world,
                                                                   int a, int b);
/** Recomputes what depends on poses and joint values, after they were written. Real-time safe. */
TACT_API void tact_world_refresh(struct tact_world *world);

/** Sets whether gravity acts on a body: 1, the initial value, or 0. Real-time safe. */
TACT_API void tact_world_set_weight(struct tact_world *world, int body, int on);

/** Begins a tick: computes the poses of all shapes and finds the pairs that are near. Real-time
 * safe. */
TACT_API void tact_world_begin(struct tact_world *world);
/** [shapes] poses of all shapes, world, as of tact_world_begin(). Real-time safe. */
TACT_API const struct tact_pose *tact_world_shape_poses(const struct tact_world *world);
/** 1 where the bounding spheres of a pair overlap and its model uses moments, so that they are to
 * be measured. Real-time safe. */
TACT_API int tact_world_is_close(const struct tact_world *world, int pair);
/** Last normal of a pair, unit vector, world; 0 0 0 without a contact since it came close.
 * Real-time safe. */
TACT_API const double *tact_world_direction(const struct tact_world *world, int pair);

/** Sets the last normal of a near pair, a unit vector, world, from which the measurement of its
 * moments starts. Real-time safe. */
TACT_API void tact_world_set_direction(struct tact_world *world, int pair, const double normal[3]);

/** Exact moments of a pair at the present poses, as tact_moments_pair(). Real-time safe. */
TACT_API int tact_world_measure(const struct tact_world *world, int pair,
                                struct tact_moments_scratch *scratch, struct tact_moments *out);

/** Advances moments to the present poses, along the motion of the two shapes from the poses a_then
 * and b_then at which they were measured: see tact_moments_advance(). Real-time safe. */
TACT_API void tact_world_carry(const struct tact_world *world, int pair,
                               const struct tact_pose *a_then, const struct tact_pose *b_then,
                               const struct tact_moments *in, struct tact_moments *out);

/** The near pairs of this tick, ascending, and their number: all that are close, and some more.
 * Valid until the next tact_world_begin(); tact_world_set_moments() may add to them. Real-time
 * safe. */
TACT_API const int *tact_world_near(const struct tact_world *world, int *count);

/** Makes a pair near, wherever its shapes are; it stays so while its contact has state. Call it
 * before writing the contact of a pair. Real-time safe. */
TACT_API void tact_world_add_near(struct tact_world *world, int pair);

/** Sets the moments of a pair for this tick. Call it for every pair of tact_world_near(), close or
 * not; NULL or zero volume: the pair does not touch. Pairs that are not near do not touch.
 * Real-time safe. */
TACT_API void tact_world_set_moments(struct tact_world *world, int pair,
                                     const struct tact_moments *moments);

/**
 * Begins a tick with exact moments from the host: tact_world_begin(), then tact_world_measure()
 * and tact_world_set_moments() for each pair of tact_world_near(). Real-time safe.
 * @retval 0
 * @retval -errno  of tact_world_measure() for the first pair that cannot be measured; the moments
 * of that pair and of later ones are not set, and the tick cannot be solved
 */
TACT_API int tact_world_measure_near(struct tact_world *world,
                                     struct tact_moments_scratch *scratch);

/**
 * One tick of period options.period: tact_world_measure_near(), tact_world_solve() and
 * tact_world_integrate(). *stats, not NULL, is set by the solve. Real-time safe.
 * @retval 0
 * @retval -errno  of tact_world_measure_near(): nothing has moved and *stats is unchanged
 * @retval -EDOM, -ENOSPC  of tact_world_solve(): bodies and hands have moved without contact
 *                         impulses
 */
TACT_API int tact_world_step(struct tact_world *world, struct tact_moments_scratch *scratch,
                             struct tact_solve_stats *stats);

/** Sets the map that receives the pressure of each following solve, until the next call: the
 * patches of contacts whose models compute a pressure, pair by pair. NULL, the initial value: none,
 * at no cost. No result depends on it. The map belongs to the caller. Real-time safe. */
TACT_API void tact_world_keep_pressure(struct tact_world *world, struct tact_pressure *map);

/** Sets the function that observes each solve; NULL, the initial value: none. Real-time safe if the
 * observer is. */
TACT_API void tact_world_set_observer(struct tact_world *world, tact_solve_observer_fn observer,
                                      void *user);

/** Solves the contacts of a tick. -EDOM where the matrix of a hand could not be factored, -ENOSPC
 * where the number of contacts or near pairs exceeds the capacity, or where no capacity for points
 * is left for a contact; impulses are then zero, and joints keep their rates. Real-time safe. */
TACT_API int tact_world_solve(struct tact_world *world, struct tact_solve_stats *stats);

/** Moves bodies and hands to the end of the tick. Gaps are linear in the velocity, so that a fast
 * body that rotates may overlap another there by more than at the start of the tick. Such pairs are
 * separated along the contact normal, without a separation velocity. Returns the number of these
 * corrections, for TACT_COUNT_OVERSHOT of the tick's statistics. Real-time safe. */
TACT_API int tact_world_integrate(struct tact_world *world);

/**
 * Checks the state after tact_world_integrate(), before the next tact_world_begin(): moments,
 * wrenches, poses, velocities and joint values are finite, no body or sliding joint is faster than
 * max_speed [m/s], none turns faster than TACT_WORLD_MAX_RATE. Overlaps are checked first, as a
 * fault there spreads to the rest. Real-time safe.
 * @retval 0
 * @retval -EDOM  *fault describes the first fault
 */
TACT_API int tact_world_check(const struct tact_world *world, double max_speed,
                              struct tact_world_fault *fault);

TACT_END_DECLS

#endif
