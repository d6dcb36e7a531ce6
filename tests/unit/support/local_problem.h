/* Random problems of the local solvers, and an independent check of the contact law. */
#ifndef TACT_TESTS_LOCAL_PROBLEM_H
#define TACT_TESTS_LOCAL_PROBLEM_H

#include <math.h>
#include <string.h>
#include "contact/local/local.h"
#include "contact/vec.h"
#include "random.h"

/* Sets S and b of the contact of a free body, of mass m and principal inertia `in`, with a fixed
 * one; arm: from the body's centre to the contact, t: twist of the body. */
static inline void make_free_body_problem(double m, const double *in, const double *arm,
                                          const double *t, struct tact_local_problem *p)
{
    double j[6][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        double e[3] = {i == 0, i == 1, i == 2}, torque[3];
        tact_v3_cross(torque, arm, e);
        for (int k = 0; k < 3; k++) {
            j[i][k] = e[k];
            j[i][3 + k] = torque[k];
            j[3 + i][3 + k] = e[k];
        }
    }
    memset(p, 0, sizeof *p);
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            for (int k = 0; k < 6; k++) {
                p->s[6 * a + b] += j[a][k] * j[b][k] / (k < 3 ? m : in[k - 3]);
            }
        }
        for (int k = 0; k < 6; k++) {
            p->b[a] += j[a][k] * t[k];
        }
    }
}

enum kind { POINT, ELLIPSE, POLYGON };

/* Makes a convex contact polygon inscribed in the patch's ellipse, mostly of 3 to 12 corners,
 * sometimes of up to TACT_PATCH_CORNERS. */
static inline void make_random_contact_polygon(struct tact_local_problem *p)
{
    double angle[TACT_PATCH_CORNERS], sum = 0;
    p->corners = 3 + (int)uniform(0, uniform(0, 1) < 0.7 ? 10 : TACT_PATCH_CORNERS - 2);
    for (int i = 0; i < p->corners; i++) {
        sum += angle[i] = uniform(0.6, 1);
    }
    for (int i = 0; i < p->corners; i++) {
        angle[i] = (i ? angle[i - 1] : 0) + angle[i] * 2 * M_PI / sum;
        p->corner[i][0] = p->semi[0] * cos(angle[i]);
        p->corner[i][1] = p->semi[1] * sin(angle[i]);
    }
}

static inline void make_random_local_problem(struct tact_local_problem *p, enum kind kind)
{
    int point = kind == POINT;
    double m = exp(uniform(-4, 2)), r = exp(uniform(-5, 0)), in[3], arm[3], t[6];
    for (int i = 0; i < 3; i++) {
        in[i] = m * r * r * uniform(0.2, 0.6);
        arm[i] = r * uniform(-1, 1);
    }
    for (int i = 0; i < 6; i++) {
        t[i] = uniform(-1, 1) / (i < 3 ? 1 : r);
    }
    make_free_body_problem(m, in, arm, t, p);
    p->mu = uniform(0, 1.5);
    p->semi[0] = point ? 0 : r * exp(uniform(-4, 0));
    p->semi[1] = point ? 0 : r * exp(uniform(-4, 0));
    p->rectangle[0] = p->semi[0];
    p->rectangle[1] = p->semi[1];
    p->spin_arm = r * exp(uniform(-5, -1));
    if (kind == POLYGON) {
        make_random_contact_polygon(p);
    }
}

/* u = S r + b. */
static inline void contact_velocity_after_impulse(const struct tact_local_problem *p,
                                                  const double *r, double *u)
{
    for (int i = 0; i < 6; i++) {
        u[i] = p->b[i];
        for (int j = 0; j < 6; j++) {
            u[i] += p->s[6 * i + j] * r[j];
        }
    }
}

/* Largest speed of approach of any point in the patch; 0 where all points separate. */
static inline double largest_approach_speed(const struct tact_local_problem *p, const double *u)
{
    double worst = 0;
    if (!p->corners) {
        return fmax(0, hypot(p->semi[0] * u[5], p->semi[1] * u[4]) - u[0]);
    }
    for (int i = 0; i < p->corners; i++) {
        worst = fmax(worst, -(u[0] + p->corner[i][1] * u[4] - p->corner[i][0] * u[5]));
    }
    return worst;
}

/* The contact law, written independently of the solver's residual: impulses within the limits, no
 * approach, friction antiparallel to slip and spin in the metric of the limit surface, maximal
 * dissipation. Returns the largest violation. */
static inline double largest_contact_law_violation(const struct tact_local_problem *p,
                                                   const double *r)
{
    double u[6], worst = 0;
    contact_velocity_after_impulse(p, r, u);
    double largest_speed_without_impulse = 0, force = p->mu * r[0];
    for (int i = 0; i < 3; i++) {
        largest_speed_without_impulse =
            fmax(largest_speed_without_impulse, fabs(p->b[i]) + p->spin_arm * fabs(p->b[3 + i]));
    }
    if (r[0] <= 0) {
        for (int i = 0; i < 6; i++) {
            worst = fmax(worst, fabs(r[i]));
        }
        return fmax(worst, largest_approach_speed(p, u) / largest_speed_without_impulse);
    }
    double d[2] = {-r[5] / r[0], r[4] / r[0]};
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]);
    double v1 = u[1] - d[1] * u[3], v2 = u[2] + d[0] * u[3], k = p->spin_arm;
    double used = sqrt(r[1] * r[1] + r[2] * r[2] + (k > 0 ? spin * spin / (k * k) : 0));
    double slip = sqrt(v1 * v1 + v2 * v2 + k * k * u[3] * u[3]);
    worst = fmax(worst, force > 0 ? used / force - 1 : used);
    double power = r[1] * v1 + r[2] * v2 + spin * u[3];
    worst =
        fmax(worst,
             force > 0 ? fabs(power + force * slip) / (force * largest_speed_without_impulse) : 0);
    /* The velocity normal to the patch at the centre of pressure vanishes; elsewhere it is >= 0. */
    worst = fmax(worst, fabs(u[0] + d[1] * u[4] - d[0] * u[5]) / largest_speed_without_impulse);
    return fmax(worst, largest_approach_speed(p, u) / largest_speed_without_impulse);
}

#endif
