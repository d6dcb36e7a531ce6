/* What world.c, world_step.c and solver.c share. */
#ifndef TACT_CONTACT_WORLD_INTERNAL_H
#define TACT_CONTACT_WORLD_INTERNAL_H

#include <string.h>
#include "contact/local/local.h"
#include "contact/world/barrier_internal.h"
#include "contact/world/constraint_internal.h"
#include "contact/world/direct_internal.h"
#include "contact/world/island_internal.h"
#include "contact/world/near_internal.h"
#include "contact/world/newton_internal.h"
#include "contact/world/prepared_internal.h"
#include "contact/pair/model.h"
#include "contact/pair/points/point_internal.h"
#include "contact/world/world.h"

struct world_body {
    struct tact_body body;
    int weight;
    int fast;     /* 1: see tact_world_set_fast() */
    int touching; /* contacts in this tick */
};

struct world_hand {
    struct tact_hand *hand;
    int weightless;
    int touching;    /* contacts in this tick, a self-contact twice */
    double *impulse; /* joint space, from the warm start */
};

struct world_shape {
    struct tact_shape shape;
    struct tact_pose local;
    struct tact_owner owner;
    int material;
    double radius;        /* of the bounding sphere about the shape's origin; a tenth more where */
    int asks_ahead;       /* 1: one of its pairs has a model that is asked ahead of touch */
    double thickness;     /* least extent along an axis of its frame [m] */
    double travel;        /* that its origin goes in this tick [m] */
    double search_margin; /* how much further it is looked for [m] */
    double searched_margin; /* the same as the last search of the broad phase had it */
};

/* One body's half of a contact: u += J v, v += Y dr; both dof x 6, row-major. */
struct side {
    struct tact_owner owner;
    int dof;   /* 0: fixed */
    double *v; /* the velocities it moves */
    double *j;
    double *y;
};

/* A touching pair in this tick's solve. */
struct block {
    int contact; /* that of a pair, or of one of its pieces, in the world's */
    struct side side[2];
    struct tact_local_problem local;
    int points;           /* 1: solved as contact points */
    int uncoupled;        /* 1 where no other contact moves its bodies */
    double bias_velocity; /* normal velocity that stabilisation asks for [m/s] */
    double
        pre_velocity[3]; /* normal velocity and turning about t1, t2 that led here [m/s, rad/s] */
    double
        approach_gain; /* how much faster the bodies would close after this tick, if free [m/s] */
    double restitution_velocity[3]; /* what an impact asks of the same; 0 0 0: none */
    double edge_speed;         /* speed at which a curved patch's edge closes as it rolls [m/s] */
    double normal_cfm;         /* normal compliance, velocity per impulse [1/kg] */
    double bias_scale;         /* push of a soft contact over that of a rigid one that is as fast */
    double excess;             /* overlap beyond the target of a rigid or rebounding contact [m] */
    double row_cfm[6];         /* the same of each row, as of a spring [1/kg, 1/(kg m^2)] */
    double rest_impulse[6];    /* impulse that these springs begin with */
    int foundation_rows;       /* rows, from the first on, that a foundation carries; 0: none */
    int elastic_rows;          /* bits: rows that carry an elastic wrench */
    int cross_coupled;         /* 1: the rows' springs answer each other, too: */
    double cross_cfm[36];      /* give beside its diagonal; 0 on it */
    double target_velocity[6]; /* velocity that the patch asks for, but for push: of gaps, of its
                                  motion */
    double
        expected_motion[6]; /* period times the velocity after the solve, of a patch with springs */
    double residual;
    double per_length; /* makes torques comparable with forces [1/m] */
    int free_body;     /* one of its bodies is free of joints: every direction can move */
    int locked;        /* joints leave no motion along the normal */
    double
        relative_mobility; /* mobility along the normal over the joints' best, 0 to 1 (opening.c) */
    double weak_normal_cfm; /* compliance of a normal along which joints hardly move [1/kg] */
    int not_opened;         /* deeper than its target, and not pushed: it cannot open */
    struct mechanism_response response[2]; /* of the mechanisms that its bodies belong to */
};

struct tact_world {
    struct tact_world_options options;
    struct world_body *bodies;
    int body_count;
    struct world_hand *hands;
    int hand_count;
    struct world_shape *shapes;
    int shape_count;
    struct tact_contact_law *laws; /* materials x materials; friction < 0: none */
    int materials;
    struct world_constraint *constraints;
    int constraint_count;
    struct mechanisms mechanisms;
    struct prepared prepared;
    int finished;

    struct tact_world_extent extent;
    struct near near;
    struct tact_contact *contacts; /* `slots`, of near pairs, then the pieces of those that may
                                      split */
    int slots, piece_slots;
    double *states; /* what their models keep: `state` of each of the slots */
    int state;
    struct tact_contact absent_contact; /* stands for the contact of a pair that is not near */
    struct tact_contact absent_piece;
    int contact_capacity; /* contacts of a tick that there is room for */
    struct tact_pose *poses;
    struct block *blocks; /* `room` of them, as of all that belongs to one */
    int block_count;
    int overflow;             /* 1: a contact of this tick has no block */
    double *jacobians;        /* what the sides point into: 4 x most_dof x 6 a pair */
    double *jacobian_columns; /* most_dof x 6 */
    double *free_velocities;  /* velocities without contacts: 6 a body, then most_dof a hand */
    double *pre_velocities;   /* the same, those that led here: before gravity and drives */
    double *excess;           /* of each body, then hand: largest of its blocks */
    struct islands islands;
    struct newton newton;
    struct direct direct;
    struct barrier barrier;
    struct point_store points;                 /* room for them only where a pair has that model */
    struct tact_pair_piece piece[TACT_PIECES]; /* of the pair that is measured */
    int counts[TACT_SOLVE_COUNTS];             /* of the present solve */
    tact_solve_observer_fn observer;
    void *observer_user;
    int max_dof;
};

/* Room for everything of a tick, once pairs, contacts and `room` are known. -ENOMEM. */
int tact_world_allocate(struct tact_world *world);

const struct tact_contact_law *tact_world_pair_law(const struct tact_world *world, int a, int b);

/* Patches that the contact of two shapes may have; 0: they cannot touch. */
int tact_world_max_patches(const struct tact_world *world, int a, int b);

/* The k-th near pair's contact. */
static inline struct tact_contact *tact_near_contact(const struct tact_world *world, int k)
{
    return &world->contacts[world->near.slots[k]];
}

/* 1 where a shape belongs to a fast body. */
int tact_world_is_fast(const struct tact_world *world, int shape);

/* Velocity of a shape's frame at its origin, world. */
void tact_world_twist(const struct tact_world *world, int shape, double twist[6]);

/* The ways and sweeps of all shapes in this tick; and with room to spare. */
void tact_motion_bounds_update(struct tact_world *world);
double tact_motion_bounds_margin(const struct world_shape *shape);

/* 1 where the shapes of a contact pass each other by more than the thinner of them in a tick. */
int tact_motion_outruns(const struct tact_world *world, const struct tact_contact *c);

/* The contact model of two shapes whose materials have a law. */
const struct tact_contact_model *tact_world_pair_model(const struct tact_world *world, int a,
                                                       int b);

/* What the model of a near pair keeps for it, by its contact. */
static inline double *tact_slot_state(const struct tact_world *world, int slot)
{
    return world->states + (size_t)slot * (size_t)world->state;
}

/* A body's or hand's place in the order of both; -1: it does not move. */
static inline int tact_owner_index(const struct tact_world *world, struct tact_owner owner)
{
    return owner.kind == TACT_OWNER_BODY   ? owner.index
           : owner.kind == TACT_OWNER_HAND ? world->body_count + owner.index
                                           : -1;
}

/* 1 where an impact asks a block to rebound. */
static inline int tact_block_rebounds(const struct block *block)
{
    return block->restitution_velocity[0] != 0.0 || block->restitution_velocity[1] != 0.0 ||
           block->restitution_velocity[2] != 0.0;
}

/* Nothing is transmitted, and nothing kept of what was. */
static inline void tact_contact_clear(struct tact_contact *c)
{
    memset(c->impulse, 0, sizeof c->impulse);
    memset(c->wrench, 0, sizeof c->wrench);
    memset(c->warm, 0, sizeof c->warm);
    memset(c->warm_point, 0, sizeof c->warm_point);
    memset(&c->springs, 0, sizeof c->springs);
    memset(&c->margins, 0, sizeof c->margins);
}

/* Makes the blocks of all touching pairs, without Y and S. -ENOSPC where there is no room for one.
 */
int tact_assemble_blocks(struct tact_world *world);

/* J and Y of a block and its S, of bodies and hands as they are. */
void tact_assemble_mobility(struct tact_world *world, struct block *block);
void tact_assemble_jacobians(struct tact_world *world, struct block *block);

/* Y, S and the local problem's constants, once the hands are factored. */
void tact_assemble_schur(struct tact_world *world, struct block *block);

/* The springs by which a block gives way; adds them to S. An impact that rebounds is over in a
 * tick: nothing gives way in it but what must for the solver, and springs begin anew after it. */
void tact_springs_assemble(const struct tact_world *world, struct block *block);

/* Sets the compliance of the solver's own springs to that share of the mobility, and the impulses
 * at which their deflection is zero. */
void tact_springs_set_cfm(struct block *block, double share, const double start[6]);

/* The proximal point method (Rockafellar 1976): where many impulses solve a tick, those nearest the
 * present ones are found with springs that have no deflection there. Contacts that bear nothing
 * keep their springs. */
void tact_springs_anchor(struct tact_world *world, const struct island *island);

/* Deflection of the anchored springs: the impulse that would move the bodies as fast, as a share of
 * all impulses; 0 where it is no more than the solver's springs have in any other tick. */
double tact_springs_deflection(const struct tact_world *world, const struct island *island);

/* The most that they can give in a tick, r v at half of what they hold [J]. */
double tact_springs_max_energy(const struct block *block);

/* The springs of a patch whose law is an elastic wrench (elastic.c). */
void tact_elastic_assemble(const struct tact_world *world, struct block *block);

/* What they hold after the solve, and once the bodies have moved. */
void tact_springs_store(const struct tact_world *world, struct block *block);
void tact_springs_update(struct tact_world *world);

/* How far a point of a shape has moved and turned [m, rad] since the tick began. */
void tact_world_point_displacement(const struct tact_world *world, int shape, const double *point,
                                   double *moved);

/* Normal velocity and turning about t1, t2 of a block, at the present velocities. */
void tact_impact_velocity(const struct block *block, double u[3]);

/* The speed at which the edge of a curved block's patch closes. */
void tact_impact_edge_speed(const struct tact_world *world, struct block *block);

/* The block's rebound from its arrival, once the free velocities are known: Newton's restitution of
 * the velocities that led here. What acceleration adds in a tick or two is no impact: a body at
 * rest stays at rest. */
void tact_impact_rebound(const struct tact_world *world, struct block *block);

/* The block's push and softness; adds the softness to S. */
void tact_impact_target(const struct tact_world *world, struct block *block);

/* Bounds the pushes of an island, once its velocities are those of the warm start. */
void tact_impact_limit_bias(const struct tact_world *world, const struct island *island);

/* How easily the bodies of a block part, once S is known. */
void tact_opening_measure_mobility(const struct tact_world *world, struct block *block);

/* Finds which of the present blocks no joint can open. */
void tact_openings_check_start(struct tact_world *world);

/* 1 where joints move the bodies of a block too little along its normal to open it. */
int tact_opening_is_stuck(const struct block *block);

/* Slows a push that joints hardly follow, and adds the yielding to S. */
void tact_opening_scale_bias(const struct tact_world *world, struct block *block);

/* Lessens what a contact keeps of its overlap at the start to what is left; shares it out among its
 * pieces. */
void tact_opening_preload(const struct tact_world *world, struct tact_contact *c);

/* After the first solve: springs are as long as what they bear asks for. */
void tact_openings_finish_start(struct tact_world *world);

/* Takes what push and rebound ask for from the velocity u of a block. */
void tact_impact_subtract_target(const struct block *block, double u[6]);

/* Makes the contacts of the pieces that a pair was measured as, by its contact, with their warm
 * starts; count 0: the pair is one contact. */
void tact_pieces_make(struct tact_world *world, int slot, const struct tact_pair_piece *pieces,
                      int count);

/* Sums the pieces up in their pairs, once solved. */
void tact_pieces_collect(struct tact_world *world);

/* The contact of a pair that is split no longer, or touches no longer. */
void tact_pieces_clear(struct tact_world *world, struct tact_contact *c);

#endif
