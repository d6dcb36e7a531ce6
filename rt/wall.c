/* Walls that are found at one site and felt at another. */
#include "rt/wall_internal.h"

#include <math.h>

/* smallest stretch of the tie whose force counts as contact with a wall [m, rad] */
static const double min_contact_stretch = 2e-4;
static const double contact_end_to_start_force_ratio =
    0.5;                                      /* a contact ends when its force falls below this
                                  fraction of the smallest contact force [1] */
static const double min_sample_motion = 2e-4; /* motion, or change of force in stretch of the tie,
                                                 after which a new sample is taken [m, rad] */
static const double sample_forgetting_factor = 0.8; /* weight of all earlier samples when a new one
                                                is added (least squares with forgetting) [1] */
/* stiffness assumed for an unknown wall, relative to the stiffness of the tie [1] */
static const double assumed_wall_stiffness_ratio = 10.0;
/* weight of the assumed stiffness of a new wall, as a motion [m, rad] */
static const double initial_prior_weight_motion = 5e-4;
/* weight of the assumed stiffness after further samples, as a motion [m, rad] */
static const double final_prior_weight_motion = 1e-5;
/* time constant of the low-pass of position and force [s] */
static const double sample_low_pass_time = 0.01;
static const double wall_forget_distance = 1e-3; /* a wall is forgotten when the joint passes it by
                                               this distance without a contact force [m, rad] */
/* largest compliance of a wall, relative to that of the tie [1] */
static const double max_wall_to_tie_compliance_ratio = 99;
/* speed at which a touched wall that changes is moved, at most [m/s, rad/s] */
static const double max_wall_shift_speed = 0.05;
/* time constant with which the delayed part of the force decays [s] */
static const double delayed_force_decay_time = 0.3;

static double sign_or_zero_of(double value)
{
    return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
}

static double clamp_stiffness(double value, double least, double most)
{
    return fmax(least, fmin(most, value));
}

/* Starts the estimate of a wall at the first contact force, unless a wall on that side is known. */
static void begin_wall_contact(struct tact_wall_estimate *e, double q, double force,
                               double tie_stiffness)
{
    e->touching = sign_or_zero_of(force);
    e->position = e->last_sample_position = q;
    e->force = e->last_force = force;
    if (e->wall.stiffness * e->touching <= 0.0) {
        e->squared_motion_sum = initial_prior_weight_motion * initial_prior_weight_motion;
        e->motion_force_product_sum =
            assumed_wall_stiffness_ratio * tie_stiffness * e->squared_motion_sum;
    }
}

/* Updates the stiffness of the wall, the slope of force over position by least squares, and its
 * position from the present force. An object that moves under constant force, such as a lifted
 * weight, has no slope and is not taken for a wall. */
static void update_wall_stiffness(struct tact_wall_estimate *e, double q, double force,
                                  double tie_stiffness, double period)
{
    const double tie_force_change = force - e->last_force,
                 joint_motion = q - e->last_sample_position;
    const double sample_low_pass_weight = period / (sample_low_pass_time + period),
                 min_square = final_prior_weight_motion * final_prior_weight_motion;
    if (fabs(tie_force_change) > min_contact_stretch * tie_stiffness ||
        fabs(joint_motion) > min_sample_motion) {
        e->squared_motion_sum =
            sample_forgetting_factor * e->squared_motion_sum + joint_motion * joint_motion;
        e->motion_force_product_sum = sample_forgetting_factor * e->motion_force_product_sum +
                                      joint_motion * tie_force_change;
        e->last_sample_position = q;
        e->last_force = force;
    }
    e->position += sample_low_pass_weight * (q - e->position);
    e->force += sample_low_pass_weight * (force - e->force);
    const double square = e->squared_motion_sum + min_square,
                 product = e->motion_force_product_sum +
                           assumed_wall_stiffness_ratio * tie_stiffness * min_square;
    const double max_wall_compliance = max_wall_to_tie_compliance_ratio / tie_stiffness;
    const double compliance =
        square < max_wall_compliance * product ? square / product : max_wall_compliance;
    e->wall.stiffness = e->touching / (compliance + 1.0 / tie_stiffness);
    e->wall.position = e->position - compliance * e->force;
}

void tact_wall_update_estimate(struct tact_wall_estimate *e, double q, double force,
                               double tie_stiffness, double period)
{
    const double min_contact_force = min_contact_stretch * tie_stiffness;
    if (e->touching == 0.0 && fabs(force) > min_contact_force) {
        begin_wall_contact(e, q, force, tie_stiffness);
    } else if (e->touching * force < contact_end_to_start_force_ratio * min_contact_force) {
        e->touching = 0.0;
    }
    if (e->touching != 0.0) {
        update_wall_stiffness(e, q, force, tie_stiffness, period);
    } else if (sign_or_zero_of(e->wall.stiffness) * (q - e->wall.position) > wall_forget_distance) {
        e->wall.stiffness = 0.0;
    }
}

double tact_wall_force(const struct tact_wall *wall, double q)
{
    const double penetration_depth = sign_or_zero_of(wall->stiffness) * (q - wall->position);
    return penetration_depth > 0.0 ? -wall->stiffness * penetration_depth : 0.0;
}

/* Reduces the delayed part of the force: with time, by the work that a spring would give as the
 * joint moves along, and so far that the wall never pulls. */
static double decay_delayed_wall_force(const struct tact_wall_rendering *wall_rendering,
                                       double delayed_wall_force, double wall_force, double motion,
                                       double max_stiffness, double period)
{
    const double rate = fmax(max_wall_shift_speed * wall_rendering->stiffness,
                             fmin(fabs(delayed_wall_force) / delayed_force_decay_time,
                                  max_wall_shift_speed * max_stiffness));
    const double along =
        delayed_wall_force * wall_force >= 0.0
            ? wall_rendering->stiffness * fmax(0.0, motion * sign_or_zero_of(delayed_wall_force))
            : 0.0;
    const double remaining_delayed_force =
        copysign(fmax(0.0, fabs(delayed_wall_force) - rate * period - along), delayed_wall_force);
    return remaining_delayed_force * wall_force < 0.0 &&
                   fabs(remaining_delayed_force) > fabs(wall_force)
               ? -wall_force
               : remaining_delayed_force;
}

double tact_wall_render(struct tact_wall_rendering *wall_rendering,
                        const struct tact_wall *received_wall, double q, double max_stiffness,
                        double period)
{
    const struct tact_wall wall = {
        received_wall->position,
        clamp_stiffness(received_wall->stiffness, -max_stiffness, max_stiffness)};
    const double wall_force = tact_wall_force(&wall, q);
    const double delayed_wall_force =
        wall_rendering->delayed_wall_force + tact_wall_force(&wall_rendering->wall, q) - wall_force;
    wall_rendering->wall = wall;
    wall_rendering->stiffness =
        wall.stiffness != 0.0 ? fabs(wall.stiffness) : wall_rendering->stiffness;
    wall_rendering->delayed_wall_force =
        decay_delayed_wall_force(wall_rendering, delayed_wall_force, wall_force,
                                 q - wall_rendering->position, max_stiffness, period);
    wall_rendering->position = q;
    return wall_force + wall_rendering->delayed_wall_force;
}
