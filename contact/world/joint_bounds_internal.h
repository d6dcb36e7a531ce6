/*
 * Bounds of the joints of hands: the stops of their range and the limit of their dry friction. Each
 * joint that has them is one scalar constraint, solved in the same sweeps as the contacts:
 *     lower <= q + h v' <= upper,  v' the rate after the tick, by an impulse that pushes inwards;
 *     v' = 0 where an impulse of at most h friction achieves it, else h friction opposes v'.
 * In the coordinates w = L v of its hand (hand_factor.c) a joint's rate is y w with y = L^-T e, and
 * an impulse p on the joint changes w by y p. The bounds of a hand are coupled by A = y y^T of all
 * of them, and a sweep solves them together (joint_bounds_solve.c).
 *
 * The rate falls with the impulse by steps: it is the highest rate while p is below the first kink,
 * 0 between the kinks, and the lowest rate above the second. The kinks are at -h friction and h
 * friction. They coincide without friction, and where a joint is beyond a stop and so must move.
 *
 * All functions are real-time safe, except those that create and destroy.
 */
#ifndef TACT_CONTACT_JOINT_BOUNDS_INTERNAL_H
#define TACT_CONTACT_JOINT_BOUNDS_INTERNAL_H

#include "contact/world/hand_internal.h"
#include "contact/world/island_internal.h"

/* One joint's. */
struct joint_bound {
    int hand, joint;
    /* lowest and highest rate that the stops allow in this tick [rad/s, m/s] */
    double lowest_rate_within_stops, highest_rate_within_stops;
    double impulses_at_law_kinks[2]; /* impulses, ascending [N m s, N s] */
    double impulse; /* impulse of the joint's stop and dry friction together [N m s, N s] */
    double joint_torque_to_force_scale; /* factor that makes the joint's torque comparable with
                            forces [1/m]; 1 for a slide */
    int free; /* 1: the bound's rate is `target`; 0: its impulse is at a kink of the law */
    double joint_error_rounding_rate; /* rate of a joint error that is due to rounding alone [rad/s,
                                         m/s] */
    double rate;                      /* joint rate at the last measurement [rad/s, m/s] */
    double inertia; /* diagonal entry of the matrix of the hand's coordinates, with the drives: at
                       least the inverse of that of A [kg m^2, kg] */
    double target;  /* joint rate that the present piece of the bound's law prescribes */
};

/* The stops and dry friction of the joints of one hand. */
struct hand_joint_bounds {
    int first, count;                    /* the hand's range in the list of joint bounds */
    double *joint_bound_mobility_matrix; /* mobility matrix A of the hand's joint bounds, count x
                         count: rates per impulse [1/(kg m^2), 1/kg] */
    int is_mobility_of_this_tick;        /* 1: A is that of this tick */
};

struct joint_bounds {
    struct joint_bound *list;
    int count;
    struct hand_joint_bounds *hands; /* of each hand */
    double *numbers; /* one allocation that holds all arrays of numbers of the joint bounds */
    /* scratch of the solution, with n the largest number of bounds of a hand: L, n x n, by rows
     * below the diagonal and by columns on and above it; and vectors of n */
    double *factor;
    double *rate, *step, *last_impulse, *sum;
    double *four_interleaved_joint_vectors; /* four vectors of the joints of a hand, side by side */
    int *free;                              /* indices of the free bounds of a hand */
    /* hand whose free bounds `factor` belongs to; NULL: none in this tick */
    const struct hand_joint_bounds *hand_of_factored_bounds;
    /* number and indices of the free bounds that `factor` belongs to */
    int factored_bound_count, *factored_free_bounds;
};

/* Finds the joints of hands with stops or friction and allocates their bounds, once the nodes are
 * numbered. -ENOMEM. */
int tact_joint_bounds_create(struct tact_world *world);
void tact_joint_bounds_destroy(struct joint_bounds *bounds);

/* Sets the impulses of joint bounds to those of the last tick, and adds them to the joint-space
 * impulses that the hands expect. */
void tact_joint_bounds_warm_start(struct tact_world *world);

/* Computes for all joint bounds y, A and the rates that the stops allow, once the hands' matrices
 * are factored. */
void tact_joint_bounds_assemble(struct tact_world *world);

/* Adds the effect of the impulses of all joint bounds of an island to the velocities. */
void tact_joint_bounds_apply_impulses(struct tact_world *world, const struct island *island);

/* Solves the joint bounds of each hand of an island together. Adds the squares of impulses and of
 * their changes to the island's sums. Returns the largest residual: the change of a hand's impulses
 * over the impulses. */
double tact_joint_bounds_solve_in_sweep(struct tact_world *world, struct island *island);

/* Solves the bounds of a solved island again where the contacts, which the last sweep solved after
 * them, left a residual over the tolerance. */
void tact_joint_bounds_solve_after_contacts(struct tact_world *world, struct island *island);

/* Sets the piece of the law that an impulse is on: a kink, or a target rate. Beyond a kink where no
 * stop limits the rate, the impulse is set back to the kink. */
void tact_joint_bound_find_law_piece(struct joint_bound *b);

/* What the rate of a joint is to change by so that the law allows it at its impulse. */
double tact_joint_bound_rate_error(const struct joint_bound *b);

/* Copies the impulse of each bound of an island to `impulses` or, with `back`, from it, without a
 * change of the velocities. */
void tact_joint_bounds_copy_impulses(struct tact_world *world, const struct island *island,
                                     double *impulses, int back);
void tact_joint_bounds_set_unknown_scales(const struct tact_world *world,
                                          const struct island *island, double *scale);

/* Sum of impulse times rate over the bounds of an island, at the present velocities [J]. */
double tact_joint_bounds_impulse_work(struct tact_world *world, const struct island *island);

/* Computes the rates of the joints of a hand's bounds at the present velocities. */
void tact_joint_bounds_compute_rates(struct tact_world *world, const struct hand_joint_bounds *of);

/* Solves the joint bounds of a hand, whose rates at the present impulses are in `rate`: sets their
 * impulses and the pieces of their laws. Returns 0 where the solution was not reached. */
int tact_joint_bounds_solve_hand(struct joint_bounds *bounds, const struct hand_joint_bounds *of);

/* Stores the torques of joint bounds in the hands' states; tact_joint_bounds_zero_impulses() sets
 * them to zero, for a tick that could not be solved. */
void tact_joint_bounds_store_torques(struct tact_world *world);
void tact_joint_bounds_zero_impulses(struct tact_world *world);

#endif
