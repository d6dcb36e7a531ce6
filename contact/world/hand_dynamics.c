/*
 * Kinematics and dynamics of the tree. Twists and wrenches have their linear part first, are in
 * world axes and are taken about the origin of the base, so that no transforms between links are
 * needed.
 */
#include <string.h>
#include "contact/elementary_internal.h"
#include "contact/simd_internal.h"
#include "contact/world/hand_internal.h"

#define MIN_ANGLE_TO_COMPUTE_SINE                                                                  \
    1e-8 /* joint angle [rad] from which tact_quat_from_rotvec() uses the sine */

/* Sets the quaternion r = a b. */
static inline void multiply_quaternions(double r[4], const double a[4], const double b[4])
{
    const tact_row4 q = TACT_FOUR_DOUBLES_AT(b), plus_first = {-1.0, 1.0, -1.0, 1.0},
                    plus_outer = {-1.0, 1.0, 1.0, -1.0}, plus_last = {-1.0, -1.0, 1.0, 1.0};
    TACT_STORE_FOUR_DOUBLES_AT(
        r, a[0] * q + a[1] * (plus_first * __builtin_shufflevector(q, q, 1, 0, 3, 2)) +
               a[2] * (plus_outer * __builtin_shufflevector(q, q, 2, 3, 0, 1)) +
               a[3] * (plus_last * __builtin_shufflevector(q, q, 3, 2, 1, 0)));
    tact_quat_normalize(r);
}

/* Pose of a link in the world at a joint value of zero. */
static void compute_link_pose_at_joint_zero(const struct tact_hand *hand, const struct link *link,
                                            struct tact_pose *out)
{
    if (link->def.parent < 0) {
        tact_pose_mul(out, &hand->base, &link->def.origin);
        return;
    }
    const struct link *parent = &hand->links[link->def.parent];
    const double(*r)[4] = parent->rotation;
    const tact_row4 offset =
        TACT_MULTIPLY_COLUMNS(TACT_FOUR_DOUBLES_AT(r[0]), TACT_FOUR_DOUBLES_AT(r[1]),
                              TACT_FOUR_DOUBLES_AT(r[2]), link->def.origin.position);
    for (int i = 0; i < 3; i++) {
        out->position[i] = offset[i] + parent->pose.position[i];
    }
    multiply_quaternions(out->quat_wxyz, parent->pose.quat_wxyz, link->def.origin.quat_wxyz);
}

/* A rotation about the axis of a hinge: the angle [rad], which is not negative, by its rotation
 * vector, and sine and cosine of its half. */
struct joint_rotation {
    double rotvec[3], angle, sine, cosine;
};

/* Moves a link by its joint from its pose at zero. */
static void set_link_pose_from_joint(struct link *link, const struct tact_pose *pose_at_joint_zero,
                                     const struct joint_rotation *turn)
{
    struct tact_pose joint = tact_pose_identity();
    if (link->def.joint == TACT_JOINT_HINGE) {
        const double s = turn->angle > MIN_ANGLE_TO_COMPUTE_SINE ? turn->sine / turn->angle : 0.5;
        joint.quat_wxyz[0] = turn->cosine;
        tact_v3_scale(joint.quat_wxyz + 1, turn->rotvec, s);
        tact_v3_copy(link->pose.position, pose_at_joint_zero->position);
        multiply_quaternions(link->pose.quat_wxyz, pose_at_joint_zero->quat_wxyz, joint.quat_wxyz);
    } else {
        tact_v3_copy(joint.position, turn->rotvec);
        tact_pose_mul(&link->pose, pose_at_joint_zero, &joint);
    }
}

static void update_link_pose_and_inertia(struct tact_hand *hand, int i,
                                         const struct joint_rotation *turn)
{
    struct link *link = &hand->links[i];
    struct tact_pose pose_at_joint_zero;
    const double *base = hand->base.position, *p = link->pose.position, *in = link->inertia;
    double r[9];
    compute_link_pose_at_joint_zero(hand, link, &pose_at_joint_zero);
    set_link_pose_from_joint(link, &pose_at_joint_zero, turn);
    tact_quat_to_m3(r, link->pose.quat_wxyz);
    const tact_row4 x = {r[0], r[3], r[6], r[6]}, y = {r[1], r[4], r[7], r[7]},
                    z = {r[2], r[5], r[8], r[8]}, none = {0.0},
                    arm = {p[0] - base[0], p[1] - base[1], p[2] - base[2], p[2] - base[2]},
                    axis = TACT_MULTIPLY_COLUMNS(x, y, z, link->def.axis);
    const tact_row4 about_base = TACT_CROSS(arm, axis);
    const int is_hinge = link->def.joint == TACT_JOINT_HINGE;
    TACT_STORE_FOUR_DOUBLES_AT(link->rotation[0], x);
    TACT_STORE_FOUR_DOUBLES_AT(link->rotation[1], y);
    TACT_STORE_FOUR_DOUBLES_AT(link->rotation[2], z);
    TACT_STORE_FOUR_DOUBLES_AT(link->axis, axis);
    TACT_STORE_FOUR_DOUBLES_AT(link->motion.linear, is_hinge ? about_base : axis);
    TACT_STORE_FOUR_DOUBLES_AT(link->motion.angular, is_hinge ? axis : none);
    TACT_STORE_FOUR_DOUBLES_AT(link->center,
                               TACT_MULTIPLY_COLUMNS(x, y, z, link->def.center) + arm);
    const tact_row4 turned[3] = {x * in[0] + y * in[3] + z * in[6],
                                 x * in[1] + y * in[4] + z * in[7],
                                 x * in[2] + y * in[5] + z * in[8]};
    for (int k = 0; k < 3; k++) {
        TACT_STORE_FOUR_DOUBLES_AT(
            link->world[k], TACT_MULTIPLY_COLUMNS(turned[0], turned[1], turned[2], r + 3 * k));
    }
}

/* Sets the turns of four joints, from the first on, or of as many as there are. */
static void compute_four_joint_rotations(const struct tact_hand *hand, int first,
                                         struct joint_rotation turns[4])
{
    double half[4] = {0.0}, sine[4], cosine[4];
    for (int k = 0; k < 4 && first + k < hand->count; k++) {
        tact_v3_scale(turns[k].rotvec, hand->links[first + k].def.axis, hand->state.q[first + k]);
        turns[k].angle = tact_v3_norm(turns[k].rotvec);
        half[k] = 0.5 * turns[k].angle;
    }
    tact_sin_and_cos_of_four(half, sine, cosine);
    for (int k = 0; k < 4; k++) {
        turns[k].sine = sine[k];
        turns[k].cosine = cosine[k];
    }
}

/* Sets the terms of the velocity product of a link, the rate of change of its joint's motion times
 * the joint rate: the cross product of the twists of link and joint. The rotation axes of a base
 * are fixed, and move with the base at the first of the rates. */
static void set_joint_velocity_product(const struct link *link, const double *rates,
                                       const tact_row4 *joint, struct velocity_of_link *velocity)
{
    if (link->def.joint != TACT_JOINT_BASE) {
        const tact_row4 v = TACT_FOUR_DOUBLES_AT(velocity->twist.linear),
                        w = TACT_FOUR_DOUBLES_AT(velocity->twist.angular);
        TACT_STORE_FOUR_DOUBLES_AT(velocity->product[0], TACT_CROSS(w, joint[0]));
        TACT_STORE_FOUR_DOUBLES_AT(velocity->product[1], TACT_CROSS(v, joint[1]));
        TACT_STORE_FOUR_DOUBLES_AT(velocity->product[2], TACT_CROSS(w, joint[1]));
    } else if (link->is_rotational) {
        const tact_row4 speed = {rates[0], rates[1], rates[2], rates[2]};
        TACT_STORE_FOUR_DOUBLES_AT(velocity->product[0], TACT_CROSS(speed, joint[1]));
    }
}

/* Sets the twists of all links, and their velocity products, at given joint rates. */
static void set_link_velocities(const struct tact_hand *hand, const double *rates,
                                struct velocity_of_link *velocities)
{
    static const struct spatial rest;
    for (int i = 0; i < hand->count; i++) {
        const struct link *link = &hand->links[i];
        const struct spatial *parent =
            link->def.parent < 0 ? &rest : &velocities[link->def.parent].twist;
        const tact_row4 joint[2] = {TACT_FOUR_DOUBLES_AT(link->motion.linear) * rates[i],
                                    TACT_FOUR_DOUBLES_AT(link->motion.angular) * rates[i]};
        TACT_STORE_FOUR_DOUBLES_AT(velocities[i].twist.linear,
                                   TACT_FOUR_DOUBLES_AT(parent->linear) + joint[0]);
        TACT_STORE_FOUR_DOUBLES_AT(velocities[i].twist.angular,
                                   TACT_FOUR_DOUBLES_AT(parent->angular) + joint[1]);
        set_joint_velocity_product(link, rates, joint, &velocities[i]);
    }
}

/* Sets the inertia of a link alone about the origin of the base (parallel axes). */
static void set_inertia_about_base(struct link *link)
{
    struct spatial_inertia *in = &link->inertia_about_base;
    const double m = link->def.mass, *c = link->center;
    const double(*w)[4] = link->world;
    const double c2 = tact_v3_dot(c, c);
    tact_v3_scale(in->moment, c, m);
    in->moment[TACT_INDEX_OF_SPATIAL_MASS] = m;
    for (int k = 0; k < 3; k++) {
        in->column[k][k] = w[k][k] + m * (c2 - c[k] * c[k]);
    }
    in->column[0][1] = in->column[1][0] = w[1][0] - m * c[0] * c[1];
    in->column[0][2] = in->column[2][0] = w[2][0] - m * c[0] * c[2];
    in->column[1][2] = in->column[2][1] = w[2][1] - m * c[1] * c[2];
}

TACT_DISPATCH_BY_CPU(void, tact_hand_refresh, (struct tact_hand * hand), (hand))
{
    struct joint_rotation turns[4];
    const int first = hand->has_moving_base ? TACT_HAND_BASE : 0;
    if (hand->has_moving_base) {
        tact_hand_base_update_links(hand);
    }
    for (int i = first; i < hand->count; i++) {
        if ((i - first) % 4 == 0) {
            compute_four_joint_rotations(hand, i, turns);
        }
        update_link_pose_and_inertia(hand, i, &turns[(i - first) % 4]);
    }
    for (int i = 0; i < hand->count; i++) {
        set_inertia_about_base(&hand->links[i]);
    }
    set_link_velocities(hand, hand->state.v, hand->velocities);
}

/* Sets the momentum (or force) of an inertia at a twist (or acceleration). */
TACT_INLINE void multiply_by_spatial_inertia(const struct spatial_inertia *in,
                                             const struct spatial *t, struct spatial *out)
{
    const tact_row4 h = TACT_FOUR_DOUBLES_AT(in->moment), v = TACT_FOUR_DOUBLES_AT(t->linear),
                    w = TACT_FOUR_DOUBLES_AT(t->angular);
    TACT_STORE_FOUR_DOUBLES_AT(out->linear,
                               in->moment[TACT_INDEX_OF_SPATIAL_MASS] * v - TACT_CROSS(h, w));
    TACT_STORE_FOUR_DOUBLES_AT(
        out->angular, TACT_MULTIPLY_COLUMNS(TACT_FOUR_DOUBLES_AT(in->column[0]),
                                            TACT_FOUR_DOUBLES_AT(in->column[1]),
                                            TACT_FOUR_DOUBLES_AT(in->column[2]), t->angular) +
                          TACT_CROSS(h, v));
}

static double power_of_twist_and_wrench(const struct spatial *a, const struct spatial *b)
{
    return tact_v3_dot(a->linear, b->linear) + tact_v3_dot(a->angular, b->angular);
}

TACT_DISPATCH_BY_CPU(void, tact_hand_mass_matrix, (struct tact_hand * hand, double *m), (hand, m))
{
    int n = hand->count;
    memset(m, 0, sizeof *m * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        hand->links[i].subtree_inertia = hand->links[i].inertia_about_base;
    }
    for (int i = n - 1; i >= 0; i--) {
        struct link *link = &hand->links[i];
        struct spatial momentum;
        if (link->def.parent >= 0) {
            double *sum = (double *)&hand->links[link->def.parent].subtree_inertia;
            const double *part = (const double *)&link->subtree_inertia;
            for (size_t k = 0; k < sizeof link->subtree_inertia / sizeof *part; k += 4) {
                TACT_STORE_FOUR_DOUBLES_AT(sum + k, TACT_FOUR_DOUBLES_AT(sum + k) +
                                                        TACT_FOUR_DOUBLES_AT(part + k));
            }
        }
        multiply_by_spatial_inertia(&link->subtree_inertia, &link->motion, &momentum);
        for (int j = i; j >= 0; j = hand->links[j].def.parent) {
            m[i * n + j] = m[j * n + i] =
                power_of_twist_and_wrench(&hand->links[j].motion, &momentum);
        }
        m[i * n + i] += link->def.armature;
    }
}

/* Sets the bias acceleration of a link from that of its parent, or gravity. */
static void set_bias_acceleration(const struct tact_hand *hand, struct link *link,
                                  const struct velocity_of_link *velocity, const double gravity[3])
{
    const tact_row4 no_acceleration = {0.0},
                    up = {-gravity[0], -gravity[1], -gravity[2], -gravity[2]};
    const struct spatial *parent =
        link->def.parent < 0 ? NULL : &hand->links[link->def.parent].link_bias_acceleration;
    tact_row4 linear = parent ? TACT_FOUR_DOUBLES_AT(parent->linear) : up,
              angular = parent ? TACT_FOUR_DOUBLES_AT(parent->angular) : no_acceleration;
    linear += TACT_FOUR_DOUBLES_AT(velocity->product[0]);
    if (link->def.joint != TACT_JOINT_BASE) {
        linear += TACT_FOUR_DOUBLES_AT(velocity->product[1]);
        angular += TACT_FOUR_DOUBLES_AT(velocity->product[2]);
    }
    TACT_STORE_FOUR_DOUBLES_AT(link->link_bias_acceleration.linear, linear);
    TACT_STORE_FOUR_DOUBLES_AT(link->link_bias_acceleration.angular, angular);
}

/* Adds to a force the spatial cross product a x* p of a twist and a momentum. */
static void add_spatial_force_cross(struct spatial *force, const struct spatial *a,
                                    const struct spatial *p)
{
    const tact_row4 v = TACT_FOUR_DOUBLES_AT(a->linear), w = TACT_FOUR_DOUBLES_AT(a->angular),
                    linear = TACT_FOUR_DOUBLES_AT(p->linear),
                    angular = TACT_FOUR_DOUBLES_AT(p->angular);
    TACT_STORE_FOUR_DOUBLES_AT(force->linear,
                               TACT_FOUR_DOUBLES_AT(force->linear) + TACT_CROSS(w, linear));
    TACT_STORE_FOUR_DOUBLES_AT(force->angular, TACT_FOUR_DOUBLES_AT(force->angular) +
                                                   TACT_CROSS(w, angular) + TACT_CROSS(v, linear));
}

/* Bias torques at the joint rates that the velocities of the links belong to. */
static void compute_bias_torques(struct tact_hand *hand, const struct velocity_of_link *velocities,
                                 const double gravity[3], double *bias_torques)
{
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        struct spatial momentum;
        set_bias_acceleration(hand, link, &velocities[i], gravity);
        multiply_by_spatial_inertia(&link->inertia_about_base, &velocities[i].twist, &momentum);
        multiply_by_spatial_inertia(&link->inertia_about_base, &link->link_bias_acceleration,
                                    &link->force);
        add_spatial_force_cross(&link->force, &velocities[i].twist, &momentum);
    }
    for (int i = hand->count - 1; i >= 0; i--) {
        struct link *link = &hand->links[i];
        bias_torques[i] = power_of_twist_and_wrench(&link->motion, &link->force);
        if (link->def.parent >= 0) {
            struct spatial *sum = &hand->links[link->def.parent].force;
            TACT_STORE_FOUR_DOUBLES_AT(sum->linear, TACT_FOUR_DOUBLES_AT(sum->linear) +
                                                        TACT_FOUR_DOUBLES_AT(link->force.linear));
            TACT_STORE_FOUR_DOUBLES_AT(sum->angular, TACT_FOUR_DOUBLES_AT(sum->angular) +
                                                         TACT_FOUR_DOUBLES_AT(link->force.angular));
        }
    }
}

TACT_DISPATCH_BY_CPU(void, tact_hand_compute_bias_torques,
                     (struct tact_hand * hand, const double gravity[3], double *bias_torques),
                     (hand, gravity, bias_torques))
{
    compute_bias_torques(hand, hand->velocities, gravity, bias_torques);
}

TACT_DISPATCH_BY_CPU(void, tact_hand_compute_bias_torques_at_rates,
                     (struct tact_hand * hand, const double *rates, const double gravity[3],
                      double *bias_torques),
                     (hand, rates, gravity, bias_torques))
{
    set_link_velocities(hand, rates, hand->link_velocities_at_other_rates);
    compute_bias_torques(hand, hand->link_velocities_at_other_rates, gravity, bias_torques);
}
