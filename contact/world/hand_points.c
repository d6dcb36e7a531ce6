/* Twists of points of links, their rates of change and their Jacobians. */
#include <string.h>
#include "contact/world/hand_internal.h"

/* Adds to out the velocity product of a link: the rate of change of its joint's motion, times the
 * joint rate. */
static void add_joint_velocity_product(const struct link *link,
                                       const struct velocity_of_link *velocity, double *out)
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

void tact_hand_link_twist(const struct tact_hand *hand, int link, const double point[3],
                          double twist[6])
{
    const struct spatial *v = &hand->velocities[link].twist;
    double arm[3], turn[3];
    tact_v3_sub(arm, point, hand->base.position);
    tact_v3_cross(turn, v->angular, arm);
    tact_v3_add(twist, v->linear, turn);
    tact_v3_copy(twist + 3, v->angular);
}

void tact_hand_jacobian(const struct tact_hand *hand, int link, const double point[3],
                        double *jacobian)
{
    double arm[3], turn[3];
    memset(jacobian, 0, sizeof(double) * 6 * (size_t)hand->count);
    tact_v3_sub(arm, point, hand->base.position);
    for (int j = link; j >= 0; j = hand->links[j].def.parent) {
        const struct spatial *motion = &hand->links[j].motion;
        tact_v3_cross(turn, motion->angular, arm);
        tact_v3_add(jacobian + 6 * j, motion->linear, turn);
        tact_v3_copy(jacobian + 6 * j + 3, motion->angular);
    }
}
