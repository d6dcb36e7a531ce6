/* Flight, impacts, and the start of a contact. */
#include <errno.h>
#include <string.h>
#include "contact/compare/reduced_internal.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/search_internal.h"

#define SEARCHED_GAP 0.2 /* relative to the smaller body: gap up to which contacts are searched */
#define MAX_FLIGHT 0.05  /* relative to the smaller body: way of a step in flight */
#define CLOSING_SPEED 1e-10 /* speed from which the surfaces approach [m/s] */

enum { BISECTIONS = 60 };

void tact_reduced_release(struct tact_reduced *r)
{
    struct reduced_kinematics k;
    double turn[9], axes[9], twist[SPATIAL] = {0.0}, arm[3], moved[3];
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_reduced_pose(&k, turn, r->body.pose.position);
    tact_reduced_quaternion(turn, r->body.pose.quat_wxyz);
    tact_reduced_world_axes(&k, axes);
    for (int i = 0; i < SPATIAL; i++) {
        for (int j = 0; j < COORDINATES; j++) {
            twist[i] += k.h[i][j] * r->state.rate[j];
        }
    }
    tact_m3_mul_v3(r->body.twist + 3, axes, twist);
    tact_m3_mul_v3(r->body.twist, axes, twist + 3);
    tact_v3_sub(arm, k.frame[1].at, r->body.pose.position);
    tact_v3_cross(moved, r->body.twist + 3, arm);
    tact_v3_sub(r->body.twist, r->body.twist, moved);
    tact_body_refresh(&r->body);
    r->report.mode = TACT_REDUCED_FLIGHT;
    r->report.slip = 0.0;
    memset(r->report.force, 0, sizeof r->report.force);
}

int tact_reduced_find(const struct tact_reduced *r, struct smooth_contact *contact)
{
    struct smooth_pair pair;
    struct tact_pose pose;
    int lost = 0, found;
    tact_pose_mul(&pose, &r->body.pose, &r->local);
    tact_smooth_pair(&r->shape[0], &pose, &r->shape[1], &r->fixed, &pair);
    if (tact_smooth_index_of_flat_halfspace(&pair) >= 0) {
        return -EDOM;
    }
    if (tact_smooth_can_search_charts(&r->shape[0], &r->shape[1])) {
        found = tact_smooth_search_contacts(&pair, SEARCHED_GAP * r->size, 0, contact, &lost);
        found = lost && !found ? -EDOM : found;
    } else {
        found = tact_smooth_find_contacts(&pair, contact);
    }
    return found < TACT_PIECES ? found : TACT_PIECES;
}

/* The contact with the smallest gap; a gap of INFINITY where none is near. -EDOM where the surfaces
 * conform. */
static int nearest_contact(const struct tact_reduced *r, struct smooth_contact *out)
{
    struct smooth_contact contact[TACT_PIECES];
    const int found = tact_reduced_find(r, contact);
    if (found < 0) {
        return -EDOM;
    }
    out->gap = INFINITY;
    for (int i = 0; i < found; i++) {
        if (contact[i].gap < out->gap) {
            *out = contact[i];
        }
    }
    return 0;
}

/* From the centre of mass to the contact. */
static void contact_arm(const struct tact_reduced *r, const struct smooth_contact *c, double arm[3])
{
    double offset[3];
    tact_quat_rotate(offset, r->body.pose.quat_wxyz, r->local.position);
    tact_v3_add(arm, offset, c->arm[0]);
}

/* Velocity of the body's point at the contact, and its part along the normal. */
static double contact_velocity(const struct tact_reduced *r, const struct smooth_contact *c,
                               double velocity[3])
{
    double arm[3];
    contact_arm(r, c, arm);
    tact_v3_cross(velocity, r->body.twist + 3, arm);
    tact_v3_add(velocity, velocity, r->body.twist);
    return tact_v3_dot(velocity, c->frame);
}

/* Applies an impulse at a point. */
static void push(struct tact_body *body, const double arm[3], const double impulse[3])
{
    double torque[3], turn[3];
    tact_v3_axpy(body->twist, 1.0 / body->mass, impulse);
    tact_v3_cross(torque, arm, impulse);
    tact_m3_mul_v3(turn, body->inverse_world, torque);
    tact_v3_add(body->twist + 3, body->twist + 3, turn);
}

/* W: velocity of the point by an impulse there, W P. */
static void point_mobility(const struct tact_body *body, const double arm[3], double w[9])
{
    for (int k = 0; k < 3; k++) {
        struct tact_body at = *body;
        double impulse[3] = {0.0, 0.0, 0.0}, velocity[3];
        memset(at.twist, 0, sizeof at.twist);
        impulse[k] = 1.0;
        push(&at, arm, impulse);
        tact_v3_cross(velocity, at.twist + 3, arm);
        tact_v3_add(velocity, velocity, at.twist);
        for (int i = 0; i < 3; i++) {
            w[3 * i + k] = velocity[i];
        }
    }
}

/* Splits an impulse into its normal part, returned, and the size of the rest. */
static double normal_part(const double n[3], const double p[3], double *tangential)
{
    double rest[3];
    const double along = tact_v3_dot(n, p);
    tact_v3_copy(rest, p);
    tact_v3_axpy(rest, -along, n);
    *tangential = tact_v3_norm(rest);
    return along;
}

/* The impulse p that makes W p = change; 0 where W is singular. */
static void impulse_for(const double w[9], const double change[3], double p[3])
{
    double a[9];
    memcpy(a, w, sizeof a);
    tact_v3_copy(p, change);
    if (tact_reduced_solve(a, 3, p)) {
        tact_v3_set(p, 0.0, 0.0, 0.0);
    }
}

/* Chatterjee and Ruina: of the frictionless plastic impulse P_I and the sticking plastic impulse
 * P_II, (1 + e) P_I + (1 + e_t) (P_II - P_I), or where that is outside the friction cone the
 * impulse of the same normal part of P_I on its surface. */
static void chatterjee_ruina(const struct tact_reduced_options *o, const double w[9],
                             const double n[3], const double v[3], double p[3])
{
    double wn[3], first[3], second[3], change[3], normal, tangential, of_second;
    const double e = o->restitution, mu = o->friction_dynamic;
    tact_m3_mul_v3(wn, w, n);
    tact_v3_scale(first, n, -tact_v3_dot(n, v) / tact_v3_dot(n, wn));
    tact_v3_scale(change, v, -1.0);
    impulse_for(w, change, second);
    tact_v3_sub(second, second, first);
    tact_v3_scale(p, first, 1.0 + e);
    tact_v3_axpy(p, 1.0 + o->tangential_restitution, second);
    normal = normal_part(n, p, &tangential);
    if (tangential <= mu * normal) {
        return;
    }
    of_second = normal_part(n, second, &tangential);
    const double slope = tangential - mu * of_second;
    tact_v3_scale(p, first, 1.0 + e);
    if (slope > 0.0) {
        tact_v3_axpy(p, mu * (1.0 + e) * tact_v3_dot(n, first) / slope, second);
    }
}

/* Newton: the normal velocity is reversed, times e, and the point sticks where Coulomb's cone
 * allows it; else friction is opposed to the slip before. */
static void newton(const struct tact_reduced_options *o, const double w[9], const double n[3],
                   const double v[3], double p[3])
{
    double change[3], slip[3], direction[3], moved[3], normal, tangential;
    const double closing = tact_v3_dot(n, v), mu = o->friction_dynamic;
    tact_v3_scale(change, v, -1.0);
    tact_v3_axpy(change, -o->restitution * closing, n);
    impulse_for(w, change, p);
    normal = normal_part(n, p, &tangential);
    if (normal > 0.0 && tangential <= mu * normal) {
        return;
    }
    tact_v3_copy(slip, v);
    tact_v3_axpy(slip, -closing, n);
    tact_v3_copy(direction, n);
    if (tact_v3_normalize(slip, slip) > 0.0) {
        tact_v3_axpy(direction, -mu, slip);
    }
    tact_m3_mul_v3(moved, w, direction);
    const double gain = tact_v3_dot(n, moved);
    tact_v3_scale(p, direction, gain > 0.0 ? -(1.0 + o->restitution) * closing / gain : 0.0);
}

void tact_reduced_impact(struct tact_reduced *r, const double n[3], const double arm[3],
                         double velocity[3])
{
    double w[9], p[3];
    point_mobility(&r->body, arm, w);
    if (r->options.impact == TACT_REDUCED_NEWTON) {
        newton(&r->options, w, n, velocity, p);
    } else {
        chatterjee_ruina(&r->options, w, n, velocity, p);
    }
    push(&r->body, arm, p);
    tact_v3_cross(velocity, r->body.twist + 3, arm);
    tact_v3_add(velocity, velocity, r->body.twist);
}

/* Removes what is left of the velocity along the normal, by an impulse along it. */
static void stop_along_normal(struct tact_reduced *r, const double n[3], const double arm[3],
                              double speed)
{
    double w[9], wn[3], p[3];
    point_mobility(&r->body, arm, w);
    tact_m3_mul_v3(wn, w, n);
    tact_v3_scale(p, n, -speed / tact_v3_dot(n, wn));
    push(&r->body, arm, p);
}

int tact_reduced_touch(struct tact_reduced *r, const struct smooth_contact *c)
{
    double velocity[3], arm[3], turn[9], axes[9], twist[SPATIAL];
    struct reduced_kinematics k;
    contact_arm(r, c, arm);
    stop_along_normal(r, c->frame, arm, contact_velocity(r, c, velocity));
    contact_velocity(r, c, velocity);
    for (int b = 0; b < 2; b++) {
        const struct chart_point p = tact_reduced_surface_locate(&r->surface[b], c->place[b]);
        r->state.chart[b] = p.chart;
        memcpy(r->state.q + 2 * b, p.st, sizeof p.st);
    }
    r->state.q[4] = 0.0;
    memset(r->state.rate, 0, sizeof r->state.rate);
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_quat_to_m3(turn, r->body.pose.quat_wxyz);
    tact_m3_mul(axes, turn, k.frame[0].axes);
    tact_m3_tmul_v3(twist, axes, r->body.twist + 3);
    tact_m3_tmul_v3(twist + 3, axes, velocity);
    if (tact_reduced_match(r->surface, turn, twist, &r->state)) {
        return -EDOM;
    }
    r->state.kinetic = tact_body_energy(&r->body);
    r->state.energy =
        r->state.kinetic - r->body.mass * tact_v3_dot(r->body.pose.position, r->options.gravity);
    r->report.contacts++;
    r->step = r->options.max_step;
    tact_reduced_choose_mode(r);
    return 0;
}

/* Free motion, exact but for the rotation. */
static void fly(struct tact_reduced *r, double h)
{
    tact_v3_axpy(r->body.twist, 0.5 * h, r->options.gravity);
    tact_body_drift(&r->body, h);
    tact_body_refresh(&r->body);
    tact_v3_axpy(r->body.twist, 0.5 * h, r->options.gravity);
}

/* The nearest contact after a part of a flight; 1 where the surfaces overlap there and approach. */
static int hits_after(struct tact_reduced *r, const struct tact_body *from, double h,
                      struct smooth_contact *c)
{
    double velocity[3];
    r->body = *from;
    fly(r, h);
    return nearest_contact(r, c) ||
           (c->gap < 0.0 && contact_velocity(r, c, velocity) < -CLOSING_SPEED);
}

enum reduced_failure tact_reduced_step_flight(struct tact_reduced *r, double until)
{
    const struct tact_body from = r->body;
    struct smooth_contact c;
    double velocity[3], arm[3], low = 0.0;
    const double speed = tact_v3_norm(from.twist) + r->reach * tact_v3_norm(from.twist + 3) +
                         r->options.max_step * tact_v3_norm(r->options.gravity);
    if (!isfinite(speed)) {
        return REDUCED_NOT_FINITE;
    }
    double h = tact_min(r->options.max_step, until - r->report.time);
    h = tact_min(h, MAX_FLIGHT * r->size / speed);
    if (hits_after(r, &from, h, &c)) {
        for (int i = 0; i < BISECTIONS && h - low > 1e-6 * r->options.min_step; i++) {
            const double middle = 0.5 * (low + h);
            if (hits_after(r, &from, middle, &c)) {
                h = middle;
            } else {
                low = middle;
            }
        }
        hits_after(r, &from, h, &c);
    }
    r->report.steps++;
    r->report.time += h;
    r->report.mode_time[TACT_REDUCED_FLIGHT] += h;
    if (nearest_contact(r, &c)) {
        return REDUCED_CONFORMS;
    }
    if (!(c.gap < 0.0 && contact_velocity(r, &c, velocity) < -CLOSING_SPEED)) {
        return REDUCED_NO_FAILURE;
    }
    contact_arm(r, &c, arm);
    r->report.impacts++;
    tact_reduced_impact(r, c.frame, arm, velocity);
    return tact_v3_dot(c.frame, velocity) < r->options.settle_speed && tact_reduced_touch(r, &c)
               ? REDUCED_SINGULAR
               : REDUCED_NO_FAILURE;
}

enum reduced_failure tact_reduced_begin(struct tact_reduced *r, double gap)
{
    struct smooth_contact c;
    double velocity[3];
    if (nearest_contact(r, &c)) {
        return REDUCED_CONFORMS;
    }
    if (c.gap < -gap) {
        return REDUCED_OVERLAPS;
    }
    const int touches =
        c.gap <= gap && fabs(contact_velocity(r, &c, velocity)) <= r->options.settle_speed;
    return touches && tact_reduced_touch(r, &c) ? REDUCED_SINGULAR : REDUCED_NO_FAILURE;
}
