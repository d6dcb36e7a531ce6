/* Motion of the contact of two smooth surfaces, from the motion of the bodies. */
#ifndef TACT_CONTACT_ROLLING_INTERNAL_H
#define TACT_CONTACT_ROLLING_INTERNAL_H

#include "contact/pair/smooth/closest_internal.h"

/* World axes. */
struct smooth_contact_motion {
    double slip[3]; /* slip velocity of A's material at its contact point relative to B's at its
                       [m/s] */
    double velocity_over_surface[2][3]; /* velocities of the contact point over A's and over B's
                                           surface [m/s] */
    double point[2][3]; /* velocities of the two contact points in the world [m/s] */
    double normal[3];   /* rate of n [1/s] */
};

/*
 * Computes the motion of a contact by Montana's equations (1988) without charts, at any gap g: with
 * the slip v and relative rotation w of A relative to B,
 *
 * (L_A + L_B + g L_A L_B) xi_B = w x n + L_A (v - g w_B x n) xi_A = xi_B + g ndot - v,   ndot = w_B
 * x n + L_B xi_B.
 *
 * twist: of the shapes' frames at their origins, world. 0, or -EDOM where the surfaces conform.
 */
int tact_smooth_contact_point_rates(const struct smooth_contact *c, const double twist[2][6],
                                    struct smooth_contact_motion *out);

/*
 * Computes the rates of change of the velocities of a contact's rows n, t1, t2 and about n while
 * the bodies drift and the contact moves: of (n.v, t1.v, t2.v, n.w) [m/s^2, rad/s^2] at A's and B's
 * points, with t1 and t2 moving without rotation about n. rate: of the twists in that drift.
 */
void tact_smooth_second_order_rates(const struct smooth_contact *c, const double twist[2][6],
                                    const double rate[2][6],
                                    const struct smooth_contact_motion *motion, double out[4]);

#endif
