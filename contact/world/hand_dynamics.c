/*
 * Kinematics and dynamics of the tree. Twists and wrenches have their linear part first, are in
 * world axes and are taken about the origin of the base, so that no transforms between links are
 * needed.
 */
#include <string.h>
#include "contact/world/hand_internal.h"

/* Pose of a link in the world at a joint value of zero. */
static void compute_link_pose_at_joint_zero(const struct tact_hand *hand, const struct link *link,
                                            struct tact_pose *out)
{
    if (link->def.parent < 0) {
        tact_pose_mul(out, &hand->base, &link->def.origin);
        return;
    }
    const struct link *parent = &hand->links[link->def.parent];
    tact_m3_mul_v3(out->position, parent->rotation, link->def.origin.position);
    tact_v3_add(out->position, out->position, parent->pose.position);
    tact_quat_mul(out->quat_wxyz, parent->pose.quat_wxyz, link->def.origin.quat_wxyz);
    tact_quat_normalize(out->quat_wxyz);
}

/* Moves a link by its joint from its pose at zero. */
static void move_link_by_joint(struct link *link, const struct tact_pose *pose_at_joint_zero,
                               double q)
{
    struct tact_pose joint = tact_pose_identity();
    double scaled_axis[3];
    tact_v3_scale(scaled_axis, link->def.axis, q);
    if (link->def.joint == TACT_JOINT_HINGE) {
        tact_quat_from_rotvec(joint.quat_wxyz, scaled_axis);
        tact_v3_copy(link->pose.position, pose_at_joint_zero->position);
        tact_quat_mul(link->pose.quat_wxyz, pose_at_joint_zero->quat_wxyz, joint.quat_wxyz);
        tact_quat_normalize(link->pose.quat_wxyz);
    } else {
        tact_v3_copy(joint.position, scaled_axis);
        tact_pose_mul(&link->pose, pose_at_joint_zero, &joint);
    }
}

static void update_link_pose_and_inertia(struct tact_hand *hand, int i)
{
    struct link *link = &hand->links[i];
    struct tact_pose pose_at_joint_zero;
    double *r = link->rotation, ri[9], arm[3];
    compute_link_pose_at_joint_zero(hand, link, &pose_at_joint_zero);
    move_link_by_joint(link, &pose_at_joint_zero, hand->state.q[i]);
    tact_quat_to_m3(r, link->pose.quat_wxyz);
    tact_m3_mul_v3(link->axis, r, link->def.axis);
    tact_v3_sub(arm, link->pose.position, hand->base.position);
    memset(link->motion, 0, sizeof link->motion);
    if (link->def.joint == TACT_JOINT_HINGE) {
        tact_v3_cross(link->motion, arm, link->axis);
        tact_v3_copy(link->motion + 3, link->axis);
    } else {
        tact_v3_copy(link->motion, link->axis);
    }
    tact_m3_mul_v3(link->center, r, link->def.center);
    tact_v3_add(link->center, link->center, arm);
    tact_m3_mul(ri, r, link->inertia);
    tact_m3_mul_t(link->world, ri, r);
}

/* Sets the terms of the velocity product of a link, the rate of change of its joint's motion times
 * the joint rate: the cross product of the twists of link and joint. The rotation axes of a base
 * are fixed, and move with the base at the first of the rates. */
static void set_joint_velocity_product(const struct link *link, const double *rates,
                                       const double joint[6], struct link_velocity *velocity)
{
    if (link->def.joint != TACT_JOINT_BASE) {
        tact_v3_cross(velocity->product[0], velocity->twist + 3, joint);
        tact_v3_cross(velocity->product[1], velocity->twist, joint + 3);
        tact_v3_cross(velocity->product[2], velocity->twist + 3, joint + 3);
    } else if (link->is_rotational) {
        tact_v3_cross(velocity->product[0], rates, joint + 3);
    }
}

/* Sets the twists of all links, and their velocity products, at given joint rates. */
static void set_link_velocities(const struct tact_hand *hand, const double *rates,
                                struct link_velocity *velocities)
{
    for (int i = 0; i < hand->count; i++) {
        const struct link *link = &hand->links[i];
        double *twist = velocities[i].twist, joint[6];
        memset(twist, 0, sizeof velocities[i].twist);
        if (link->def.parent >= 0) {
            memcpy(twist, velocities[link->def.parent].twist, sizeof velocities[i].twist);
        }
        for (int k = 0; k < 6; k++) {
            joint[k] = link->motion[k] * rates[i];
            twist[k] += joint[k];
        }
        set_joint_velocity_product(link, rates, joint, &velocities[i]);
    }
}

/* Sets the inertia of a link alone about the origin of the base (parallel axes). */
static void set_inertia_about_base(struct link *link)
{
    double m = link->def.mass, *in = link->inertia_about_base;
    const double *c = link->center, *w = link->world;
    double c2 = tact_v3_dot(c, c);
    in[0] = m;
    tact_v3_scale(in + 1, c, m);
    in[4] = w[0] + m * (c2 - c[0] * c[0]);
    in[5] = w[4] + m * (c2 - c[1] * c[1]);
    in[6] = w[8] + m * (c2 - c[2] * c[2]);
    in[7] = w[1] - m * c[0] * c[1];
    in[8] = w[2] - m * c[0] * c[2];
    in[9] = w[5] - m * c[1] * c[2];
}

void tact_hand_refresh(struct tact_hand *hand)
{
    if (hand->has_moving_base) {
        tact_hand_base_refresh(hand);
    }
    for (int i = hand->has_moving_base ? TACT_HAND_BASE : 0; i < hand->count; i++) {
        update_link_pose_and_inertia(hand, i);
    }
    for (int i = 0; i < hand->count; i++) {
        set_inertia_about_base(&hand->links[i]);
    }
    set_link_velocities(hand, hand->state.v, hand->velocities);
}

/* Spatial momentum (or force) of the inertia `in` at a twist (or acceleration) t, about the origin
 * of the base. */
static void multiply_by_spatial_inertia(const double *in, const double *t, double *out)
{
    double hxw[3], hxv[3];
    tact_v3_cross(hxw, in + 1, t + 3);
    tact_v3_cross(hxv, in + 1, t);
    for (int i = 0; i < 3; i++) {
        out[i] = in[0] * t[i] - hxw[i];
    }
    const double *j = in + 4, *w = t + 3;
    out[3] = j[0] * w[0] + j[3] * w[1] + j[4] * w[2] + hxv[0];
    out[4] = j[3] * w[0] + j[1] * w[1] + j[5] * w[2] + hxv[1];
    out[5] = j[4] * w[0] + j[5] * w[1] + j[2] * w[2] + hxv[2];
}

static double dot_product_6(const double *a, const double *b)
{
    return tact_v3_dot(a, b) + tact_v3_dot(a + 3, b + 3);
}

void tact_hand_mass_matrix(struct tact_hand *hand, double *m)
{
    int n = hand->count;
    memset(m, 0, sizeof *m * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        struct link *link = &hand->links[i];
        memcpy(link->subtree_inertia, link->inertia_about_base, sizeof link->subtree_inertia);
    }
    for (int i = n - 1; i >= 0; i--) {
        struct link *link = &hand->links[i];
        double momentum[6];
        if (link->def.parent >= 0) {
            double *sum = hand->links[link->def.parent].subtree_inertia;
            for (int k = 0; k < 10; k++) {
                sum[k] += link->subtree_inertia[k];
            }
        }
        multiply_by_spatial_inertia(link->subtree_inertia, link->motion, momentum);
        for (int j = i; j >= 0; j = hand->links[j].def.parent) {
            m[i * n + j] = m[j * n + i] = dot_product_6(hand->links[j].motion, momentum);
        }
        m[i * n + i] += link->def.armature;
    }
}

/* Adds to out the velocity product of a link: the rate of change of its joint's motion, times the
 * joint rate. */
static void add_joint_velocity_product(const struct link *link,
                                       const struct link_velocity *velocity, double *out)
{
    tact_v3_add(out, out, velocity->product[0]);
    if (link->def.joint != TACT_JOINT_BASE) {
        tact_v3_add(out, out, velocity->product[1]);
        tact_v3_add(out + 3, out + 3, velocity->product[2]);
    }
}

void tact_hand_link_twist_and_rate(const struct tact_hand *hand, int link, const double point[3],
                                   double twist[6], double rate[6])
{
    double along[3];
    memset(rate, 0, 6 * sizeof *rate);
    for (int i = link; i >= 0; i = hand->links[i].def.parent) {
        add_joint_velocity_product(&hand->links[i], &hand->velocities[i], rate);
    }
    tact_hand_link_twist(hand, link, point, twist);
    double arm[3];
    tact_v3_sub(arm, point, hand->base.position);
    tact_v3_cross(along, rate + 3, arm);
    tact_v3_add(rate, rate, along);
    tact_v3_cross(along, twist + 3, twist);
    tact_v3_add(rate, rate, along);
}

void tact_hand_link_rate(const struct tact_hand *hand, int link, const double point[3],
                         double rate[6])
{
    double twist[6];
    tact_hand_link_twist_and_rate(hand, link, point, twist, rate);
}

/* Adds to out the spatial cross product a x* f of a twist and a momentum. */
static void add_spatial_force_cross(double *out, const double *a, const double *f)
{
    double t[3];
    tact_v3_cross(t, a + 3, f);
    tact_v3_add(out, out, t);
    tact_v3_cross(t, a + 3, f + 3);
    tact_v3_add(out + 3, out + 3, t);
    tact_v3_cross(t, a, f);
    tact_v3_add(out + 3, out + 3, t);
}

/* Bias torques at the joint rates that the velocities of the links belong to. */
static void compute_bias_torques(struct tact_hand *hand, const struct link_velocity *velocities,
                                 const double gravity[3], double *bias_torques)
{
    for (int i = 0; i < hand->count; i++) {
        struct link *link = &hand->links[i];
        double momentum[6];
        for (int k = 0; k < 6; k++) {
            link->bias_acceleration[k] = k < 3 ? -gravity[k] : 0.0;
        }
        if (link->def.parent >= 0) {
            memcpy(link->bias_acceleration, hand->links[link->def.parent].bias_acceleration,
                   sizeof link->bias_acceleration);
        }
        add_joint_velocity_product(link, &velocities[i], link->bias_acceleration);
        multiply_by_spatial_inertia(link->inertia_about_base, velocities[i].twist, momentum);
        multiply_by_spatial_inertia(link->inertia_about_base, link->bias_acceleration, link->force);
        add_spatial_force_cross(link->force, velocities[i].twist, momentum);
    }
    for (int i = hand->count - 1; i >= 0; i--) {
        struct link *link = &hand->links[i];
        bias_torques[i] = dot_product_6(link->motion, link->force);
        if (link->def.parent >= 0) {
            double *sum = hand->links[link->def.parent].force;
            for (int k = 0; k < 6; k++) {
                sum[k] += link->force[k];
            }
        }
    }
}

void tact_hand_compute_bias_torques(struct tact_hand *hand, const double gravity[3],
                                    double *bias_torques)
{
    compute_bias_torques(hand, hand->velocities, gravity, bias_torques);
}

void tact_hand_compute_bias_torques_at_rates(struct tact_hand *hand, const double *rates,
                                             const double gravity[3], double *bias_torques)
{
    set_link_velocities(hand, rates, hand->velocities_at_rates);
    compute_bias_torques(hand, hand->velocities_at_rates, gravity, bias_torques);
}

void tact_hand_link_twist(const struct tact_hand *hand, int link, const double point[3],
                          double twist[6])
{
    const double *v = hand->velocities[link].twist;
    double arm[3], turn[3];
    tact_v3_sub(arm, point, hand->base.position);
    tact_v3_cross(turn, v + 3, arm);
    tact_v3_add(twist, v, turn);
    tact_v3_copy(twist + 3, v + 3);
}

void tact_hand_jacobian(const struct tact_hand *hand, int link, const double point[3],
                        double *jacobian)
{
    double arm[3], turn[3];
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)hand->count);
    tact_v3_sub(arm, point, hand->base.position);
    for (int j = link; j >= 0; j = hand->links[j].def.parent) {
        const double *motion = hand->links[j].motion;
        tact_v3_cross(turn, motion + 3, arm);
        tact_v3_add(jacobian + 6 * j, motion, turn);
        tact_v3_copy(jacobian + 6 * j + 3, motion + 3);
    }
}
