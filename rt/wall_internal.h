/*
 * A wall that the joint of one site meets, and that is felt at another without the delay of the
 * link (model-mediated teleoperation: Mitra and Niemeyer 2008), for one coordinate. The joint
 * pushes with
 *
 *     F = k (q - s)  where  F (q - s) > 0, else 0
 *
 * s: place of the wall [m, rad]; k: its stiffness [N/m, N m/rad]. The sign of F says on which side
 * the wall is, and is sent as that of the stiffness; 0: none is known. What is felt through a tie
 * of stiffness K is the wall in series with it, 1 / (1/k + 1/K), in the same place. All functions
 * are pure and real-time safe.
 */
#ifndef TACT_RT_WALL_INTERNAL_H
#define TACT_RT_WALL_INTERNAL_H

struct tact_wall {
    double position;  /* s [m, rad] */
    double stiffness; /* k, with the sign of the contact force; 0: no wall is known */
};

/* Estimate of a wall at the site that touches it. All members are doubles, as they are logged. */
struct tact_wall_estimate {
    struct tact_wall wall;                   /* the wall in series with the compliance of the tie */
    double position, force;                  /* q and F, low-passed */
    double last_sample_position, last_force; /* position q and force F of the last sample */
    double squared_motion_sum,
        motion_force_product_sum; /* sums of dq^2 and dq dF over the samples, old ones forgotten */
    double touching;              /* sign of the contact force, 1 or -1; 0: no contact */
};

/* One tick: q [m, rad]; force: F, by the contacts [N, N m]; tie: K of the tie; period [s]. A force
 * counts from a stretch of the tie of 0.2 mm (or mrad) on. A wall that is passed without such a
 * force is forgotten. */
void tact_wall_update_estimate(struct tact_wall_estimate *e, double q, double force,
                               double tie_stiffness, double period);

/* State of the force that renders a remote wall at a joint. All members are doubles. */
struct tact_wall_rendering {
    struct tact_wall wall; /* last known wall, with its stiffness clamped to what can be rendered */
    double delayed_wall_force; /* rendered force minus the force of the wall [N, N m] */
    double position;           /* joint position of the last tick [m, rad] */
    double stiffness;          /* stiffness of the last known wall [N/m, N m/rad] */
};

/* Force of a wall on the joint at position q [N, N m], with the sign of the wall; 0 in front of it.
 */
double tact_wall_force(const struct tact_wall *wall, double q);

/* One tick: the force on the joint. A wall that is touched changes without a jump: its force
 * follows by 0.3 s and as if it moved by 5 cm/s or 5 crad/s, and never pulls. most: of the
 * stiffness that is felt. */
double tact_wall_render(struct tact_wall_rendering *wall_rendering,
                        const struct tact_wall *received_wall, double q, double max_stiffness,
                        double period);

#endif
