/* The data of a world, shared by the files of this folder. */
#ifndef TACT_CONTACT_WORLD_INTERNAL_H
#define TACT_CONTACT_WORLD_INTERNAL_H

#include <string.h>
#include "contact/local/local.h"
#include "contact/world/barrier_internal.h"
#include "contact/world/constraint_internal.h"
#include "contact/world/direct_internal.h"
#include "contact/world/island_internal.h"
#include "contact/world/joint_bounds_internal.h"
#include "contact/world/near_internal.h"
#include "contact/world/newton_internal.h"
#include "contact/world/prepared_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/pair/model.h"
#include "contact/pair/points/point_internal.h"
#include "contact/world/world.h"

struct world_body {
    struct tact_body body;
    int weight;
    int fast; /* 1: the body is marked as fast, see tact_world_set_fast() */
};

struct world_hand {
    struct tact_hand *hand;
    int weightless;
    int node;        /* index of the node of the hand's first chain */
    double *impulse; /* joint-space impulse of the contacts' warm start */
};

/* Velocity and acceleration of a shape's frame, world axes. */
struct shape_twist_and_rate {
    uint64_t pair_measurement_of_motion; /* value of the world's `pair_measurement_counter` for
                                       which the motion is valid */
    double twist[6];                     /* twist of the shape's frame at its origin [m/s, rad/s] */
    double rate[6]; /* rate of change of the shape's twist in the drift [m/s^2, rad/s^2] */
};

struct world_shape {
    struct tact_shape shape;
    struct tact_pose local;
    struct tact_owner owner;
    int material;
    uint32_t classes, touched; /* collision classes, one bit each, and those that the shape touches:
                                  tact_world_set_classes() */
    double radius; /* radius of the bounding sphere about the shape's origin [m]; a tenth larger
                      with has_gap_measuring_model */
    int has_gap_measuring_model;  /* 1: the model of one of the shape's pairs measures gaps before
                                     touch */
    double wall_thickness;        /* tact_mesh_wall_thickness() of a shape that may not be convex;
                                     INFINITY for others [m] */
    double thickness;             /* smallest extent of the shape along an axis of its frame, or
                                     wall_thickness where that is less [m] */
    double extent[3], reach[3];   /* extents of the shape along the axes of its frame, and distances
                                     of its farthest points from the origin along them [m] */
    double origin_travel_in_tick; /* distance that the shape's origin moves in this tick [m] */
    double rotation_travel_in_tick; /* bound of the distance that a point of the shape moves in this
                                       tick by its rotation about the origin [m] */
    double contact_search_margin;   /* distance beyond the shape's bounding sphere that is searched
                               for contacts [m] */
    double margin_at_last_search; /* value of contact_search_margin at the last search of the broad
                                     phase */
    /* motion of the shape, once a model has measured one of its pairs */
    struct shape_twist_and_rate motion;
};

/*
 * The part of a contact in one node: u += J v, v += Y dr; both 6 x 6, row-major; rows from dof on
 * are 0. Nodes are the free bodies, whose v are twists, followed by the chains of each hand. v of a
 * chain are its joint rates until the hand is factored, and then w = L v (hand_factor.c), for which
 * Y = J.
 */
struct block_jacobian_node {
    int node;
    int dof;
    double *v;
    double j[36], y[36];
    /* J by the unknowns of a step of Newton's method, and their number: `j`, or
     * newton_step_jacobian of `rows` */
    const double *newton_step_jacobian;
    int newton_step_unknown_count;
    struct storage_of_joint_rows *rows; /* Jacobian of a chain of joints with bounds in a step of
                                Newton's method; else NULL */
};

/* A contact's Jacobian of a chain of joints some of which are locked in a step of Newton's method
 * (locked_joints.c), six numbers for each coordinate. */
struct storage_of_joint_rows {
    double j[36];                    /* Jacobian by the joint rates, in the order of slots */
    double newton_step_jacobian[36]; /* Jacobian by the factored rates of the joints that are not
                                        locked */
    const double *rate_changes_of_locked_coordinates; /* changes of the rates of the locked joints
                                  in the step, 0 for the others, in the order of j */
};

/* A touching pair in the solve of this tick. */
struct block {
    int contact; /* index of the contact of a pair, or of one of its pieces */
    const struct tact_contact_law *law; /* law of the two shapes' materials, during the solve */
    struct tact_owner owner[2];
    struct block_jacobian_node *nodes; /* bodies and chains of joints (nodes) whose velocities the
                                          contact's impulse changes */
    int node_count;
    struct tact_local_problem local;
    int points;                    /* 1: the contact is solved as contact points */
    int is_only_contact_of_bodies; /* 1: no other contact acts on the bodies of this one */
    double bias_velocity; /* normal velocity that the stabilisation of the overlap demands [m/s] */
    double contact_velocity_before_forces[3]; /* normal velocity and angular velocity about t1, t2
                               before gravity and drives of this tick [m/s, rad/s] */
    double added_closing_velocity;  /* closing velocity that gravity and drives add in this tick
                                       [m/s] */
    double restitution_velocity[3]; /* target of the normal velocity and of the two tipping rates
                                       after an impact with restitution; 0 0 0: none */
    double edge_speed;          /* closing speed of the edge of a curved patch that rolls [m/s] */
    double normal_cfm;          /* compliance of the contact along its normal, velocity per
                                                     impulse [1/kg] */
    double bias_velocity_ratio; /* bias velocity of a compliant contact over that of a rigid one of
                          equal resulting speed */
    double excess_overlap;      /* overlap beyond the target of a rigid or rebounding contact [m] */
    double row_cfm[6]; /* compliance of each row of the contact, velocity per impulse [1/kg,
                          1/(kg m^2)] */
    /* contact impulse at which the springs of the rows have no deflection */
    double impulse_at_spring_rest[6];
    int foundation_spring_rows; /* number of rows, from the first on, with springs of an elastic
                                 * foundation; 0: none
                                 */
    int bits_of_elastic_wrench_rows; /* bits of the rows in which the patch has an elastic wrench */
    double elastic_impulse_of_last_tick[6]; /* impulse of the last tick in those rows, at the start
                                               of the solve; 0 in others */
    double elastic_wrench_pitch; /* pitch of an elastic wrench: its torque about the normal over its
                     normal force [m] */
    int has_cross_compliance;    /* 1: cross_compliance is not zero */
    double cross_compliance[36]; /* off-diagonal compliance of the contact's rows; its diagonal is
                                    zero */
    double target_velocity[6]; /* contact velocity that the patch prescribes due to its gaps and its
                                  motion, without the bias */
    double expected_contact_displacement_of_springs[6]; /* contact velocity after the solve times
                                         the period, for a patch with springs */
    double residual;
    double joint_torque_to_force_scale; /* scale factor that makes torques comparable with forces
                                           [1/m] */
    int has_body_free_of_joints; /* 1: one of the contact's bodies is free of joints, so that every
                          direction can move */
    int is_normal_immobile;      /* 1: joints leave the contact no motion along its normal */
    double joint_mobility_along_normal; /* mobility along the contact normal, summed over the joints
                        in their best directions [1/kg] */
    double relative_normal_mobility; /* mobility along the contact normal over that in the joints'
                                 best direction, 0 to 1 (opening.c) */
    double weak_normal_compliance; /* compliance added to a contact along whose normal joints hardly
                               move [1/kg] */
    int is_held_closed_by_joints;  /* 1: the contact is deeper than its target but not pushed open,
                            because no joint allows it */
    /* responses of the mechanisms that the contact's bodies belong to */
    struct mechanism_response response[2];
};

/* Two owners whose shapes do not touch each other. */
struct excluded_owner_pair {
    struct tact_owner of[2];
};

struct tact_world {
    struct tact_world_options options;
    struct world_body *bodies;
    int body_count;
    struct world_hand *hands;
    int hand_count;
    struct world_shape *shapes;
    int shape_count;
    struct excluded_owner_pair *excluded_owner_pairs;
    int excluded_owner_pair_count;
    /* table of contact laws, materials x materials; friction < 0: no law */
    struct tact_contact_law *contact_law_table;
    int materials;
    struct world_constraint *constraints;
    int constraint_count;
    struct mechanisms mechanisms;
    struct joint_bounds bounds;
    struct prepared_models prepared_models;
    int is_world_definition_finished;

    struct tact_world_extent extent;
    struct broad_phase near;
    struct tact_contact *contacts; /* contacts of near pairs (`slots`), then pieces of split ones */
    int slots, piece_slots;
    double *storage_of_model_states; /* state variables of the models: `state` numbers for each
                       slot, then as many of the pair that is measured after the drift */
    int state;
    /* returned as the contact of a pair that is not near */
    struct tact_contact contact_of_pair_without_slot;
    struct tact_contact piece_of_pair_without_slot;
    int contact_capacity; /* largest number of contacts in a tick */
    struct tact_pose *poses;
    struct block *blocks; /* the solver's blocks, one for each contact of the tick; contact_capacity
                             entries, as all arrays by block */
    int contact_block_count;
    int is_contact_capacity_exceeded; /* 1: a contact of this tick has no block */
    int is_point_capacity_exceeded; /* 1: the capacity for contact points was exceeded in this tick
                                     */
    struct block_jacobian_node
        *storage_of_block_nodes; /* storage of the nodes of all blocks: max_nodes for each */
    struct storage_of_joint_rows *storage_of_joint_rows; /* storage of the joint rows of all nodes;
                                                            NULL: no joint has bounds */
    double *free_velocities; /* free velocities, those without contacts: six numbers a node */
    /* pre-velocities, those before gravity and drives: six numbers a node */
    double *velocities_before_forces;
    double *excess_overlap; /* largest excess overlap of the contacts of each body, then of each
                               hand [m] */
    struct islands islands;
    struct newton newton;
    struct direct direct;
    struct barrier barrier;
    struct contact_point_store
        points; /* contact points; allocated only where a pair is solved as points */
    struct tact_pair_piece piece[TACT_PIECES]; /* pieces of the pair that is being measured */
    uint64_t pair_measurement_counter; /* counter of the measurements of pairs, each at other
                              velocities of the bodies */
    int counts[TACT_SOLVE_COUNTS];     /* event counts of the present solve */
    struct tact_pressure *pressure;    /* receives the pressure of each solve; NULL: none */
    int64_t (*now)(void); /* clock of the measurements [ns]; NULL: they are not timed */
    tact_solve_observer_fn observer;
    void *solve_observer_context;
    /* number of nodes of the world; largest number of nodes of one contact */
    int node_count, max_nodes;
};

/* Allocates everything that a tick needs, once pairs, contacts and capacity are known. -ENOMEM. */
int tact_world_allocate_tick_storage(struct tact_world *world);

const struct tact_contact_law *tact_world_pair_law(const struct tact_world *world, int a, int b);

/* Largest number of patches of the contact of two shapes; 0: they cannot touch. */
int tact_world_max_patches(const struct tact_world *world, int a, int b);

/* Contact of the k-th pair in the list of near pairs. */
static inline struct tact_contact *tact_contact_of_near_pair(const struct tact_world *world, int k)
{
    return &world->contacts[world->near.slots[k]];
}

/* 1 where a shape belongs to a fast body. */
int tact_world_is_shape_of_fast_body(const struct tact_world *world, int shape);

/* Velocity of the frame of a shape at its origin, world. */
void tact_world_shape_twist(const struct tact_world *world, int shape, double twist[6]);

/* The motion of a shape at the present velocities, computed once for all pairs that are measured at
 * them. */
const struct shape_twist_and_rate *tact_world_shape_twist_and_rate(struct tact_world *world,
                                                                   int shape);

/* Computes travel and contact_search_margin of all shapes in this tick. tact_motion_search_margin()
 * is the search margin with a reserve, which the broad phase uses. */
void tact_motion_update_search_margins(struct tact_world *world);
double tact_motion_search_margin(const struct world_shape *shape);

/* Computes wall_thickness, thickness, extent and reach of a shape. Returns 0 or -ENOMEM. */
int tact_motion_measure_shape_extents(struct tact_world *world, int shape);

/* 1 where the shapes of a contact pass each other by more than the thinner of them in a tick, by
 * the translation of their origins, or by more than the extent of one along an axis of its frame,
 * by translation and rotation of the points at which they may meet. */
int tact_motion_may_shapes_pass_each_other(const struct tact_world *world,
                                           const struct tact_contact *c);

/* Measures a near pair at the present poses, for models that use no moments; the state of the model
 * is unchanged. along: NULL, or the normal along which it is measured. Returns as measure() of
 * struct tact_contact_model does. */
int tact_world_measure_pair_after_drift(struct tact_world *world, int slot, const double *along,
                                        struct tact_patch *patch);

/* Separates fast bodies from what they overlap after the drift. Returns the number of corrections;
 * a pair may be corrected in several passes. */
int tact_overshoot_separate_fast_bodies(struct tact_world *world);

/* The contact model of two shapes whose materials have a law. */
const struct tact_contact_model *tact_world_pair_model(const struct tact_world *world, int a,
                                                       int b);

/* State variables that the contact model of a near pair keeps, by the pair's slot. */
static inline double *tact_slot_model_state(const struct tact_world *world, int slot)
{
    return world->storage_of_model_states + (size_t)slot * (size_t)world->state;
}

/* Index of a body or hand in the common order, bodies first; -1: it does not move. */
static inline int tact_world_index_of_owner(const struct tact_world *world, struct tact_owner owner)
{
    return owner.kind == TACT_OWNER_BODY   ? owner.index
           : owner.kind == TACT_OWNER_HAND ? world->body_count + owner.index
                                           : -1;
}

/* Adds to a contact velocity u those of its nodes, u += J v. */
static inline void tact_block_add_velocity(const struct block *block, double u[6])
{
    for (int k = 0; k < block->node_count; k++) {
        const struct block_jacobian_node *node = &block->nodes[k];
        tact_rows_add_velocity(u, node->j, node->v, node->dof);
    }
}

/* 1 where a block has a restitution velocity. */
static inline int tact_block_has_restitution(const struct block *block)
{
    return block->restitution_velocity[0] != 0.0 || block->restitution_velocity[1] != 0.0 ||
           block->restitution_velocity[2] != 0.0;
}

/* Depth that counts as a gap of zero, over the smaller radius of the shapes. */
#define TACT_TOUCHING_DEPTH_RATIO 2e-11

/* Smaller radius of the bounding spheres of a contact's shapes [m], by which lengths of the contact
 * count as zero. */
static inline double tact_contact_smaller_radius(const struct tact_world *world,
                                                 const struct tact_contact *c)
{
    return tact_min(world->shapes[c->a].radius, world->shapes[c->b].radius);
}

/* Depth of a contact's shapes that counts as a gap of zero [m]: rounding of the poses. */
static inline double tact_contact_touching_depth(const struct tact_world *world,
                                                 const struct tact_contact *c)
{
    return TACT_TOUCHING_DEPTH_RATIO * tact_contact_smaller_radius(world, c);
}

/* Sets all impulses and the warm start of a contact to zero. */
static inline void tact_contact_zero_impulses(struct tact_contact *c)
{
    memset(c->impulse, 0, sizeof c->impulse);
    memset(c->wrench, 0, sizeof c->wrench);
    memset(c->warm, 0, sizeof c->warm);
    memset(c->warm_point, 0, sizeof c->warm_point);
    memset(&c->springs, 0, sizeof c->springs);
    memset(&c->margins, 0, sizeof c->margins);
}

/* Creates the blocks of all touching pairs, without Y and S. -ENOSPC where the capacity is
 * exceeded. */
int tact_assemble_blocks(struct tact_world *world);

/* Numbers the nodes of a world: free bodies, then the chains of each hand. */
void tact_world_number_elimination_nodes(struct tact_world *world);

/* Assembly of a contact's block in three steps: its owners and nodes; J, for joint rates; and, once
 * the hands are factored, Y and S, with J for the factored rates w. */
void tact_block_list_owner_nodes(struct tact_world *world, struct block *block);
void tact_block_assemble_jacobians(struct tact_world *world, struct block *block);
void tact_block_assemble_mobility(struct tact_world *world, struct block *block);

/* Y, S and the constants of the local problem, once the hands are factored. */
void tact_block_assemble_schur_complement(struct tact_world *world, struct block *block);

/* Sets the compliances of a block and adds them to S. An impact with restitution ends within a
 * tick: it has only the compliance that the solver needs, and the springs of the patch restart
 * after it. */
void tact_springs_add_compliance(const struct tact_world *world, struct block *block);

/* Sets the compliance of the solver's own springs to `share` of the mobility, and the impulses at
 * which their deflection is zero. */
void tact_springs_set_solver_compliance(struct block *block, double share, const double start[6]);

/* One step of the proximal point method (Rockafellar 1976): where many impulses solve a tick,
 * springs without deflection at the present impulses select the nearest. Contacts without load keep
 * their springs. Returns the number of contacts with anchored springs. */
int tact_springs_anchor_at_impulses(struct tact_world *world, const struct island *island);

/* Deflection of the anchored springs: the impulse that would cause the same motion of the bodies,
 * over all impulses; 0 where it is no larger than that of the solver's springs in an ordinary tick.
 */
double tact_springs_anchored_deflection(const struct tact_world *world,
                                        const struct island *island);

/* Largest energy that the springs can return in a tick: r v at half their load [J]. */
double tact_springs_max_returned_energy(const struct block *block);

/* Sets the springs of a contact whose patch has an elastic wrench as its law (elastic.c). */
void tact_elastic_set_contact_springs(const struct tact_world *world, struct block *block);

/* 1 where an impact of a contact with an elastic wrench adds energy to its bodies, from the
 * velocities before gravity and drives to the present ones, beyond that of its springs under the
 * load with which the last tick ended: they have absorbed no more. An approach at up to twice what
 * gravity and drives add in a tick is no impact. */
int tact_elastic_returns_too_much(const struct tact_world *world, const struct block *block);

/* Sets the load of an elastic wrench's springs to a share of that which they have by their
 * stiffness after the motion of the last tick. */
void tact_elastic_load_by_last_motion(const struct tact_world *world, struct block *block,
                                      double share);

/* Stores the load of the springs after the solve; and updates it once the bodies have moved. */
void tact_springs_store_loads(const struct tact_world *world, struct block *block);
void tact_springs_update_loads(struct tact_world *world);

/* Displacement and rotation [m, rad] of a point of a shape since the start of the tick. */
void tact_world_point_displacement(const struct tact_world *world, int shape, const double *point,
                                   double *displacement);

/* Normal velocity of a block and its angular velocity about t1, t2, at the present velocities. */
void tact_impact_normal_and_tipping_velocity(const struct block *block, double u[3]);

/* Sets the closing speed of the edge of a contact's patch that is curved and rolls. */
void tact_impact_set_rolling_edge_speed(const struct tact_world *world, struct block *block);

/* Sets the restitution velocity of a block from its pre-velocity, once the free velocities are
 * known (Newton's restitution). A closing velocity that acceleration adds within two ticks is no
 * impact: a body at rest stays at rest. */
void tact_impact_set_restitution_velocity(const struct tact_world *world, struct block *block);

/* Sets bias velocity and normal compliance of a block; adds the compliance to S. */
void tact_impact_set_target_velocity(const struct tact_world *world, struct block *block);

/* Bounds the bias velocities of an island, once its velocities include the warm start. */
void tact_impact_limit_bias_velocities(const struct tact_world *world, const struct island *island);

/* 1 where a hand owns a side of a block, and is not that of side 0 again. */
static inline int tact_block_has_hand_on_side(const struct block *block, int side)
{
    const struct tact_owner *owner = &block->owner[side], *first = &block->owner[0];
    return owner->kind == TACT_OWNER_HAND &&
           (!side || first->kind != owner->kind || first->index != owner->index);
}

/* Sum of the mobilities of a hand's joints along a contact's normal, each in its best direction
 * [1/kg]; its `rows` are J for joint rates. */
double tact_joint_mobility_along_normal(const struct tact_hand *hand);

/* Sets relative_normal_mobility and weak_normal_compliance of a block, once S is known. */
void tact_block_set_relative_mobility(struct block *block);

/* Finds the contacts at the start that no joint can open. */
void tact_blocks_find_stuck_at_start(struct tact_world *world);

/* 1 where joints cannot open a contact along its normal. */
int tact_block_is_stuck_by_joints(const struct block *block);

/* Reduces the bias velocity of a contact that joints can hardly open. */
void tact_block_reduce_bias_velocity(const struct tact_world *world, struct block *block);

/* Reduces the preload of a contact to what is left of its overlap, and distributes it over its
 * pieces. */
void tact_contact_update_preload(const struct tact_world *world, struct tact_contact *c);

/* Ends the start after the first solve: springs are compressed by their load. */
void tact_contacts_mark_start_as_over(struct tact_world *world);

/* Subtracts the bias, restitution and target velocities of a contact from its velocity u. */
void tact_impact_subtract_all_targets(const struct block *block, double u[6]);

/* Creates the contacts of the pieces of a pair, given its slot, with their warm starts; count 0:
 * the pair is one contact. */
void tact_pieces_create_contacts(struct tact_world *world, int slot,
                                 const struct tact_pair_piece *pieces, int count);

/* Sums the solved pieces of each split pair into the contact of the pair. */
void tact_pieces_sum_results(struct tact_world *world);

/* 1 where a pair was split in the last tick, or in the state that a replay starts from. */
int tact_pieces_pair_was_split(const struct tact_world *world, const struct tact_contact *c);

/* Clears the pieces of a pair that is no longer split or no longer touches. */
void tact_pieces_clear_pieces_of_pair(struct tact_world *world, struct tact_contact *c);

#endif
