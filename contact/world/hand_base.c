/* A base that moves: six coordinates at the root of the tree, without a singular attitude. */
#include <string.h>
#include "contact/rotvec_internal.h"
#include "contact/world/hand_internal.h"

#define HALF_TURN_SENSE_MARGIN                                                                     \
    0.05 /* angle from half a turn [rad] within which the rotation to a base's target keeps its    \
            sense */

static const double pi = 3.14159265358979323846;

void tact_hand_base_links(const struct tact_link_def *base, const struct tact_base_drive *force,
                          const struct tact_base_drive *torque, struct tact_link_def *links)
{
    for (int i = 0; i < TACT_HAND_BASE; i++) {
        const struct tact_base_drive *drive = i < 3 ? force : torque;
        links[i] = (struct tact_link_def){.parent = i - 1,
                                          .joint = TACT_JOINT_BASE,
                                          .origin = tact_pose_identity(),
                                          .stiffness = drive->stiffness,
                                          .damping = drive->damping,
                                          .limit = drive->limit};
        links[i].axis[i % 3] = 1.0;
    }
    struct tact_link_def *last = &links[TACT_HAND_BASE - 1];
    last->mass = base->mass;
    tact_v3_copy(last->center, base->center);
    memcpy(last->inertia, base->inertia, sizeof last->inertia);
}

void tact_hand_base_update_links(struct tact_hand *hand)
{
    struct tact_pose pose;
    double turn[4], r[9], arm[3];
    const double *q = hand->state.q;
    tact_quat_from_rotvec(turn, q + 3);
    tact_quat_mul(pose.quat_wxyz, turn, hand->base.quat_wxyz);
    tact_quat_normalize(pose.quat_wxyz);
    tact_v3_add(pose.position, hand->base.position, q);
    tact_quat_to_m3(r, pose.quat_wxyz);
    tact_v3_sub(arm, pose.position, hand->base.position);
    for (int i = 0; i < TACT_HAND_BASE; i++) {
        struct link *link = &hand->links[i];
        double ri[9], inertia[9];
        link->pose = pose;
        tact_v3_copy(link->axis, link->def.axis);
        memset(&link->motion, 0, sizeof link->motion);
        if (link->is_rotational) {
            tact_v3_cross(link->motion.linear, arm, link->axis);
            tact_v3_copy(link->motion.angular, link->axis);
        } else {
            tact_v3_copy(link->motion.linear, link->axis);
        }
        tact_m3_mul_v3(link->center, r, link->def.center);
        tact_v3_add(link->center, link->center, arm);
        tact_m3_mul(ri, r, link->inertia);
        tact_m3_mul_t(inertia, ri, r);
        for (int k = 0; k < 9; k++) {
            link->rotation[k % 3][k / 3] = r[k];
            link->world[k % 3][k / 3] = inertia[k];
        }
    }
}

/* The shortest rotation; near half a turn, that in the sense of the last torque, so that the sense
 * does not change from tick to tick. */
void tact_hand_base_find_rotation_to_target(const struct tact_hand *hand, double error[3])
{
    const double *torque = hand->state.torque;
    double now[4], wanted[4], back[4], turn[4];
    tact_quat_from_rotvec(now, hand->state.q + 3);
    tact_quat_from_rotvec(wanted, hand->state.target + 3);
    for (int i = 0; i < 4; i++) {
        back[i] = i ? -now[i] : now[i];
    }
    tact_quat_mul(turn, wanted, back);
    tact_quat_to_rotvec(error, turn);
    const double angle = tact_v3_norm(error);
    if (angle > pi - HALF_TURN_SENSE_MARGIN && tact_v3_dot(error, torque + 3) < 0.0) {
        tact_v3_scale(error, error, 1.0 - 2.0 * pi / angle);
    }
}

void tact_hand_base_update_target_error(struct tact_hand *hand)
{
    const double *target = hand->state.target;
    tact_v3_sub(hand->base_target_error, target, hand->state.q);
    tact_v3_copy(hand->base_target_twist, hand->state.target_rate);
    tact_rotvec_angular_velocity(hand->base_target_twist + 3, target + 3,
                                 hand->state.target_rate + 3);
    tact_hand_base_find_rotation_to_target(hand, hand->base_target_error + 3);
}

void tact_hand_base_advance_coordinates(struct tact_hand *hand, double h)
{
    double *q = hand->state.q, turn[4], now[4], next[4], way[3];
    const double *v = hand->velocity;
    tact_v3_axpy(q, h, v);
    tact_v3_scale(way, v + 3, h);
    tact_quat_from_rotvec(turn, way);
    tact_quat_from_rotvec(now, q + 3);
    tact_quat_mul(next, turn, now);
    tact_quat_to_rotvec(q + 3, next);
}
