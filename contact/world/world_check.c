/* Values that no state can have: not finite, or faster than possible in the scene. */
#include <errno.h>
#include "contact/simd_internal.h"
#include "contact/world/hand_internal.h"
#include "contact/world/world_internal.h"

/* Sum of 0 times each number, which is 0 where all are finite, else NaN. Processes two numbers at a
 * time. */
TACT_INLINE double sum_that_is_nan_if_nonfinite(const double *x, int count)
{
    tact_d2 sum = {0.0, 0.0};
    for (int i = 0; i + 1 < count; i += 2) {
        tact_d2 two;
        memcpy(&two, x + i, sizeof two);
        sum += 0.0 * two;
    }
    return sum[0] + sum[1] + (count % 2 ? 0.0 * x[count - 1] : 0.0);
}

static int are_all_finite(const double *x, int count)
{
    return sum_that_is_nan_if_nonfinite(x, count) == 0.0;
}

static double squared_vector_norm(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

static int set_world_fault(struct tact_world_fault *fault, enum tact_world_part part, int index,
                           int link, const char *what)
{
    *fault = (struct tact_world_fault){part, index, link, what};
    return -EDOM;
}

#define DOUBLES_IN_MOMENTS ((int)(sizeof(struct tact_moments) / sizeof(double)))

/* Checks the pairs of shapes; of those that do not touch only the moments, as a volume that is NaN
 * is no overlap. */
static int check_near_pairs_are_finite(const struct tact_world *world,
                                       struct tact_world_fault *fault)
{
    for (int n = 0; n < world->near.count; n++) {
        int i = world->near.list[n];
        const struct tact_contact *c = tact_contact_of_near_pair(world, n);
        if (!are_all_finite((const double *)&c->moments, DOUBLES_IN_MOMENTS)) {
            return set_world_fault(fault, TACT_WORLD_PAIR, i, 0,
                                   "the moments of the overlap are not finite");
        }
        if (c->touching && !are_all_finite(c->wrench, 6)) {
            return set_world_fault(fault, TACT_WORLD_PAIR, i, 0, "its wrench is not finite");
        }
    }
    return 0;
}

static int check_body_states(const struct tact_world *world, double speed, double rate,
                             struct tact_world_fault *fault)
{
    for (int i = 0; i < world->body_count; i++) {
        const struct tact_body *body = &world->bodies[i].body;
        const double *v = body->twist;
        if (!are_all_finite(body->pose.position, 3) || !are_all_finite(body->pose.quat_wxyz, 4)) {
            return set_world_fault(fault, TACT_WORLD_BODY, i, 0, "the body's pose is not finite");
        }
        if (!are_all_finite(v, 6)) {
            return set_world_fault(fault, TACT_WORLD_BODY, i, 0,
                                   "the body's velocity is not finite");
        }
        if (squared_vector_norm(v) > speed * speed) {
            return set_world_fault(fault, TACT_WORLD_BODY, i, 0, "the speed exceeds max_speed");
        }
        if (squared_vector_norm(v + 3) > rate * rate) {
            return set_world_fault(fault, TACT_WORLD_BODY, i, 0,
                                   "the angular speed exceeds 1e5 rad/s");
        }
    }
    return 0;
}

static int check_hand_states(const struct tact_world *world, double speed, double rate,
                             struct tact_world_fault *fault)
{
    for (int i = 0; i < world->hand_count; i++) {
        const struct tact_hand *hand = world->hands[i].hand;
        for (int k = 0; k < hand->count; k++) {
            const struct tact_hand_state *s = &hand->state;
            int slides = !hand->links[k].is_rotational;
            if (!are_all_finite(&s->q[k], 1)) {
                return set_world_fault(fault, TACT_WORLD_JOINT, i, k,
                                       "the joint's angle or position is not finite");
            }
            if (!are_all_finite(&s->v[k], 1)) {
                return set_world_fault(fault, TACT_WORLD_JOINT, i, k,
                                       "the joint's velocity is not finite");
            }
            if (!are_all_finite(&s->torque[k], 1)) {
                return set_world_fault(fault, TACT_WORLD_JOINT, i, k,
                                       "the torque or force of the joint's drive is not finite");
            }
            if (fabs(s->v[k]) > (slides ? speed : rate)) {
                return set_world_fault(fault, TACT_WORLD_JOINT, i, k,
                                       slides ? "the speed exceeds max_speed"
                                              : "the angular speed exceeds 1e5 rad/s");
            }
        }
    }
    return 0;
}

static int check_constraint_wrenches(const struct tact_world *world, struct tact_world_fault *fault)
{
    for (int i = 0; i < world->constraint_count; i++) {
        const struct tact_constraint *constraint = &world->constraints[i].constraint;
        if (!are_all_finite(constraint->wrench, 6) || !are_all_finite(&constraint->value, 1)) {
            return set_world_fault(fault, TACT_WORLD_CONSTRAINT, i, 0, "its wrench is not finite");
        }
    }
    return 0;
}

/* 1 where the state of the world may be faulty: a test that is cheap enough for every tick. */
static int is_state_suspicious(const struct tact_world *world, double speed)
{
    double smaller_speed_limit = tact_min(speed, TACT_WORLD_MAX_RATE), sum = 0.0;
    int is_contact_velocity_too_fast = 0;
    for (int i = 0; i < world->near.count; i++) {
        const struct tact_contact *c = tact_contact_of_near_pair(world, i);
        if (c->moments.volume != 0.0) {
            sum += sum_that_is_nan_if_nonfinite((const double *)&c->moments, DOUBLES_IN_MOMENTS) +
                   sum_that_is_nan_if_nonfinite(c->wrench, 6);
        }
    }
    for (int i = 0; i < world->constraint_count; i++) {
        const struct tact_constraint *constraint = &world->constraints[i].constraint;
        sum += sum_that_is_nan_if_nonfinite(constraint->wrench, 6) + 0.0 * constraint->value;
    }
    for (int i = 0; i < world->body_count; i++) {
        const struct tact_body *body = &world->bodies[i].body;
        const double *v = body->twist;
        sum += sum_that_is_nan_if_nonfinite((const double *)&body->pose, 7);
        is_contact_velocity_too_fast |= !(squared_vector_norm(v) <= speed * speed);
        is_contact_velocity_too_fast |=
            !(squared_vector_norm(v + 3) <= TACT_WORLD_MAX_RATE * TACT_WORLD_MAX_RATE);
    }
    for (int i = 0; i < world->hand_count; i++) {
        const struct tact_hand_state *s = &world->hands[i].hand->state;
        for (int k = 0; k < world->hands[i].hand->count; k++) {
            sum += 0.0 * s->q[k] + 0.0 * s->torque[k];
            is_contact_velocity_too_fast |= !(fabs(s->v[k]) <= smaller_speed_limit);
        }
    }
    return is_contact_velocity_too_fast || !(sum == 0.0);
}

int tact_world_check(const struct tact_world *world, double max_speed,
                     struct tact_world_fault *fault)
{
    if (!is_state_suspicious(world, max_speed)) {
        return 0;
    }
    /* The cause of a fault is reported first: an overlap affects a wrench, which affects velocity
     * and pose. */
    int rc = check_near_pairs_are_finite(world, fault);
    rc = rc ? rc : check_constraint_wrenches(world, fault);
    rc = rc ? rc : check_body_states(world, max_speed, TACT_WORLD_MAX_RATE, fault);
    return rc ? rc : check_hand_states(world, max_speed, TACT_WORLD_MAX_RATE, fault);
}
