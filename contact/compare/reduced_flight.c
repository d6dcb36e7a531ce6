/* Flight, impacts, and the start of a contact. */
#include <errno.h>
#include <string.h>
#include "contact/compare/reduced_internal.h"
#include "contact/pair/smooth/contacts_internal.h"
#include "contact/pair/smooth/search_internal.h"

/* Gap up to which contacts are searched, relative to the size of the smaller body. */
#define MAX_SEARCHED_GAP_TO_BODY_SIZE_RATIO 0.2
/* Longest way of the body in a step of flight, relative to the size of the smaller body. */
#define MAX_FLIGHT_STEP_TO_BODY_SIZE_RATIO 0.05
#define MIN_IMPACT_CLOSING_SPEED                                                                   \
    1e-10 /* approach speed above which an overlap is an impact [m/s] */

enum { BISECTIONS = 60 };

void tact_reduced_end_contact(struct tact_reduced *r)
{
    struct reduced_kinematics k;
    double rotation[9], axes[9], twist[SPATIAL] = {0.0}, arm[3], velocity_of_offset[3];
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_reduced_moving_body_pose(&k, rotation, r->body.pose.position);
    tact_reduced_matrix_to_quat(rotation, r->body.pose.quat_wxyz);
    tact_reduced_contact_axes_in_world(&k, axes);
    for (int i = 0; i < SPATIAL; i++) {
        for (int j = 0; j < COORDINATES; j++) {
            twist[i] += k.h[i][j] * r->state.rate[j];
        }
    }
    tact_m3_mul_v3(r->body.twist + 3, axes, twist);
    tact_m3_mul_v3(r->body.twist, axes, twist + 3);
    tact_v3_sub(arm, k.frame[1].at, r->body.pose.position);
    tact_v3_cross(velocity_of_offset, r->body.twist + 3, arm);
    tact_v3_sub(r->body.twist, r->body.twist, velocity_of_offset);
    tact_body_refresh(&r->body);
    r->report.mode = TACT_REDUCED_FLIGHT;
    r->report.slip = 0.0;
    memset(r->report.force, 0, sizeof r->report.force);
}

int tact_reduced_find_contacts(const struct tact_reduced *r, struct smooth_contact *contact)
{
    struct smooth_pair pair;
    struct tact_pose pose;
    int has_free_flight_contact_search_failed = 0, contact_count;
    tact_pose_mul(&pose, &r->body.pose, &r->local);
    tact_smooth_set_pair(&r->shape[0], &pose, &r->shape[1], &r->fixed, &pair);
    if (tact_smooth_index_of_flat_halfspace(&pair) >= 0) {
        return -EDOM;
    }
    if (tact_smooth_can_search_charts(&r->shape[0], &r->shape[1])) {
        contact_count =
            tact_smooth_search_contacts(&pair, MAX_SEARCHED_GAP_TO_BODY_SIZE_RATIO * r->size, 0,
                                        contact, &has_free_flight_contact_search_failed);
        contact_count =
            has_free_flight_contact_search_failed && !contact_count ? -EDOM : contact_count;
    } else {
        contact_count =
            tact_smooth_find_contacts(&pair, MAX_SEARCHED_GAP_TO_BODY_SIZE_RATIO * r->size, contact,
                                      &has_free_flight_contact_search_failed);
    }
    return contact_count < TACT_PIECES ? contact_count : TACT_PIECES;
}

/* Finds the contact with the smallest gap, INFINITY where none is near. Returns 0, or -EDOM where
 * the surfaces conform. */
static int find_nearest_contact(const struct tact_reduced *r, struct smooth_contact *out)
{
    struct smooth_contact contact[TACT_PIECES];
    const int contact_count = tact_reduced_find_contacts(r, contact);
    if (contact_count < 0) {
        return -EDOM;
    }
    *out = (struct smooth_contact){.gap = INFINITY};
    for (int i = 0; i < contact_count; i++) {
        if (contact[i].gap < out->gap) {
            *out = contact[i];
        }
    }
    return 0;
}

/* Vector from the body's centre of mass to the contact [m]. */
static void contact_arm_from_centre_of_mass(const struct tact_reduced *r,
                                            const struct smooth_contact *c, double arm[3])
{
    double shape_offset_from_centre_of_mass[3];
    tact_quat_rotate(shape_offset_from_centre_of_mass, r->body.pose.quat_wxyz, r->local.position);
    tact_v3_add(arm, shape_offset_from_centre_of_mass, c->arm[0]);
}

/* Velocity of the body's material point at the contact; returns its component along the normal. */
static double contact_velocity(const struct tact_reduced *r, const struct smooth_contact *c,
                               double velocity[3])
{
    double arm[3];
    contact_arm_from_centre_of_mass(r, c, arm);
    tact_v3_cross(velocity, r->body.twist + 3, arm);
    tact_v3_add(velocity, velocity, r->body.twist);
    return tact_v3_dot(velocity, c->frame);
}

/* Changes the twist of a body by an impulse at a point. */
static void apply_impulse_at_point(struct tact_body *body, const double arm[3],
                                   const double impulse[3])
{
    double torque[3], rotation[3];
    tact_v3_axpy(body->twist, 1.0 / body->mass, impulse);
    tact_v3_cross(torque, arm, impulse);
    tact_m3_mul_v3(rotation, body->inverse_world, torque);
    tact_v3_add(body->twist + 3, body->twist + 3, rotation);
}

/* The mobility W of a point of the body: an impulse P there changes its velocity by W P. */
static void compute_point_mobility(const struct tact_body *body, const double arm[3], double w[9])
{
    for (int k = 0; k < 3; k++) {
        struct tact_body at = *body;
        double impulse[3] = {0.0, 0.0, 0.0}, velocity[3];
        memset(at.twist, 0, sizeof at.twist);
        impulse[k] = 1.0;
        apply_impulse_at_point(&at, arm, impulse);
        tact_v3_cross(velocity, at.twist + 3, arm);
        tact_v3_add(velocity, velocity, at.twist);
        for (int i = 0; i < 3; i++) {
            w[3 * i + k] = velocity[i];
        }
    }
}

/* Splits an impulse into its normal component, returned, and the magnitude of its tangential one.
 */
static double split_impulse_at_normal(const double n[3], const double p[3],
                                      double *tangential_impulse_magnitude)
{
    double tangential_impulse[3];
    const double normal_impulse = tact_v3_dot(n, p);
    tact_v3_copy(tangential_impulse, p);
    tact_v3_axpy(tangential_impulse, -normal_impulse, n);
    *tangential_impulse_magnitude = tact_v3_norm(tangential_impulse);
    return normal_impulse;
}

/* The impulse p that changes the velocity by W p = change; 0 where W is singular. */
static void impulse_for_velocity_change(const double w[9], const double contact_velocity_change[3],
                                        double p[3])
{
    double a[9];
    memcpy(a, w, sizeof a);
    tact_v3_copy(p, contact_velocity_change);
    if (tact_reduced_solve_linear(a, 3, p)) {
        tact_v3_set(p, 0.0, 0.0, 0.0);
    }
}

/* Impulse of an impact by Chatterjee and Ruina's law: of the frictionless plastic impulse P_I and
 * the sticking plastic impulse P_II, (1 + e) P_I + (1 + e_t) (P_II - P_I), or where that is outside
 * the friction cone the impulse of the same normal part of P_I on its surface. */
static void impact_impulse_by_chatterjee_ruina(const struct tact_reduced_options *o,
                                               const double w[9], const double n[3],
                                               const double v[3], double p[3])
{
    double wn[3], first[3], second[3], contact_velocity_change[3], normal,
        tangential_impulse_magnitude, of_second;
    const double e = o->restitution, mu = o->friction_dynamic;
    tact_m3_mul_v3(wn, w, n);
    tact_v3_scale(first, n, -tact_v3_dot(n, v) / tact_v3_dot(n, wn));
    tact_v3_scale(contact_velocity_change, v, -1.0);
    impulse_for_velocity_change(w, contact_velocity_change, second);
    tact_v3_sub(second, second, first);
    tact_v3_scale(p, first, 1.0 + e);
    tact_v3_axpy(p, 1.0 + o->tangential_restitution, second);
    normal = split_impulse_at_normal(n, p, &tangential_impulse_magnitude);
    if (tangential_impulse_magnitude <= mu * normal) {
        return;
    }
    of_second = split_impulse_at_normal(n, second, &tangential_impulse_magnitude);
    const double friction_excess_of_sticking_impulse =
        tangential_impulse_magnitude - mu * of_second;
    tact_v3_scale(p, first, 1.0 + e);
    if (friction_excess_of_sticking_impulse > 0.0) {
        tact_v3_axpy(p,
                     mu * (1.0 + e) * tact_v3_dot(n, first) / friction_excess_of_sticking_impulse,
                     second);
    }
}

/* Impulse of an impact by Newton's law: the normal velocity is reversed, times e, and the point
 * sticks where Coulomb's cone allows it; else friction is opposed to the slip before the impact. */
static void impact_impulse_by_newton_law(const struct tact_reduced_options *o, const double w[9],
                                         const double n[3], const double v[3], double p[3])
{
    double contact_velocity_change[3], slip[3], direction[3], velocity_per_impulse[3], normal,
        tangential_impulse_magnitude;
    const double velocity_along_normal = tact_v3_dot(n, v), mu = o->friction_dynamic;
    tact_v3_scale(contact_velocity_change, v, -1.0);
    tact_v3_axpy(contact_velocity_change, -o->restitution * velocity_along_normal, n);
    impulse_for_velocity_change(w, contact_velocity_change, p);
    normal = split_impulse_at_normal(n, p, &tangential_impulse_magnitude);
    if (normal > 0.0 && tangential_impulse_magnitude <= mu * normal) {
        return;
    }
    tact_v3_copy(slip, v);
    tact_v3_axpy(slip, -velocity_along_normal, n);
    tact_v3_copy(direction, n);
    if (tact_v3_normalize(slip, slip) > 0.0) {
        tact_v3_axpy(direction, -mu, slip);
    }
    tact_m3_mul_v3(velocity_per_impulse, w, direction);
    const double mobility_along_normal = tact_v3_dot(n, velocity_per_impulse);
    tact_v3_scale(p, direction,
                  mobility_along_normal > 0.0
                      ? -(1.0 + o->restitution) * velocity_along_normal / mobility_along_normal
                      : 0.0);
}

void tact_reduced_apply_impact(struct tact_reduced *r, const double n[3], const double arm[3],
                               double velocity[3])
{
    double w[9], p[3];
    compute_point_mobility(&r->body, arm, w);
    if (r->options.impact == TACT_REDUCED_NEWTON) {
        impact_impulse_by_newton_law(&r->options, w, n, velocity, p);
    } else {
        impact_impulse_by_chatterjee_ruina(&r->options, w, n, velocity, p);
    }
    apply_impulse_at_point(&r->body, arm, p);
    tact_v3_cross(velocity, r->body.twist + 3, arm);
    tact_v3_add(velocity, velocity, r->body.twist);
}

/* Removes the remaining velocity of the contact along the normal, by an impulse along it. */
static void remove_normal_velocity(struct tact_reduced *r, const double n[3], const double arm[3],
                                   double removed_normal_velocity)
{
    double w[9], wn[3], p[3];
    compute_point_mobility(&r->body, arm, w);
    tact_m3_mul_v3(wn, w, n);
    tact_v3_scale(p, n, -removed_normal_velocity / tact_v3_dot(n, wn));
    apply_impulse_at_point(&r->body, arm, p);
}

int tact_reduced_begin_contact(struct tact_reduced *r, const struct smooth_contact *c)
{
    double velocity[3], arm[3], rotation[9], axes[9], twist[SPATIAL];
    struct reduced_kinematics k;
    contact_arm_from_centre_of_mass(r, c, arm);
    remove_normal_velocity(r, c->frame, arm, contact_velocity(r, c, velocity));
    contact_velocity(r, c, velocity);
    for (int b = 0; b < 2; b++) {
        const struct chart_point p =
            tact_reduced_surface_find_chart_point(&r->surface[b], c->place[b]);
        r->state.chart[b] = p.chart;
        memcpy(r->state.q + 2 * b, p.st, sizeof p.st);
    }
    r->state.q[4] = 0.0;
    memset(r->state.rate, 0, sizeof r->state.rate);
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_quat_to_m3(rotation, r->body.pose.quat_wxyz);
    tact_m3_mul(axes, rotation, k.frame[0].axes);
    tact_m3_tmul_v3(twist, axes, r->body.twist + 3);
    tact_m3_tmul_v3(twist + 3, axes, velocity);
    if (tact_reduced_set_rates_from_pose(r->surface, rotation, twist, &r->state)) {
        return -EDOM;
    }
    /* reduced coordinates place the body in contact: one that overlapped at the start is raised by
     * that */
    struct tact_reduced copy_of_simulation_in_flight = *r;
    tact_reduced_end_contact(&copy_of_simulation_in_flight);
    r->state.max_kinetic_energy_since_contact_began =
        tact_body_energy(&copy_of_simulation_in_flight.body);
    r->state.min_total_energy_since_contact_began =
        r->state.max_kinetic_energy_since_contact_began -
        r->body.mass *
            tact_v3_dot(copy_of_simulation_in_flight.body.pose.position, r->options.gravity);
    r->report.contacts++;
    r->step = r->options.max_step;
    tact_reduced_choose_contact_mode(r);
    return 0;
}

/* Advances the body in free motion, exact except for the rotation. */
static void advance_free_flight(struct tact_reduced *r, double h)
{
    tact_v3_axpy(r->body.twist, 0.5 * h, r->options.gravity);
    tact_body_drift(&r->body, h);
    tact_body_refresh(&r->body);
    tact_v3_axpy(r->body.twist, 0.5 * h, r->options.gravity);
}

/* Advances the body from the start of the flight by the time h and finds the nearest contact;
 * returns 1 where the surfaces overlap there and approach. */
static int does_body_collide_after_flight(struct tact_reduced *r,
                                          const struct tact_body *body_at_flight_start, double h,
                                          struct smooth_contact *c)
{
    double velocity[3];
    r->body = *body_at_flight_start;
    advance_free_flight(r, h);
    return find_nearest_contact(r, c) ||
           (c->gap < 0.0 && contact_velocity(r, c, velocity) < -MIN_IMPACT_CLOSING_SPEED);
}

enum simulation_failure tact_reduced_step_flight(struct tact_reduced *r, double flight_end_time)
{
    const struct tact_body body_at_flight_start = r->body;
    struct smooth_contact c;
    double velocity[3], arm[3], low = 0.0;
    const double speed =
        tact_v3_norm(body_at_flight_start.twist) +
        r->max_distance_from_centre_of_mass * tact_v3_norm(body_at_flight_start.twist + 3) +
        r->options.max_step * tact_v3_norm(r->options.gravity);
    if (!isfinite(speed)) {
        return FAILURE_STATE_NOT_FINITE;
    }
    double h = tact_min(r->options.max_step, flight_end_time - r->report.time);
    h = tact_min(h, MAX_FLIGHT_STEP_TO_BODY_SIZE_RATIO * r->size / speed);
    if (does_body_collide_after_flight(r, &body_at_flight_start, h, &c)) {
        for (int i = 0; i < BISECTIONS && h - low > 1e-6 * r->options.min_step; i++) {
            const double bisected_flight_time = 0.5 * (low + h);
            if (does_body_collide_after_flight(r, &body_at_flight_start, bisected_flight_time,
                                               &c)) {
                h = bisected_flight_time;
            } else {
                low = bisected_flight_time;
            }
        }
        does_body_collide_after_flight(r, &body_at_flight_start, h, &c);
    }
    r->report.steps++;
    r->report.time += h;
    r->report.mode_time[TACT_REDUCED_FLIGHT] += h;
    if (find_nearest_contact(r, &c)) {
        return FAILURE_CONFORMING_SURFACES;
    }
    if (!(c.gap < 0.0 && contact_velocity(r, &c, velocity) < -MIN_IMPACT_CLOSING_SPEED)) {
        return NO_SIMULATION_FAILURE;
    }
    contact_arm_from_centre_of_mass(r, &c, arm);
    r->report.impacts++;
    tact_reduced_apply_impact(r, c.frame, arm, velocity);
    return tact_v3_dot(c.frame, velocity) < r->options.settle_speed &&
                   tact_reduced_begin_contact(r, &c)
               ? FAILURE_SINGULAR_MATRIX
               : NO_SIMULATION_FAILURE;
}

enum simulation_failure tact_reduced_begin_motion(struct tact_reduced *r, double gap)
{
    struct smooth_contact c;
    double velocity[3];
    if (find_nearest_contact(r, &c)) {
        return FAILURE_CONFORMING_SURFACES;
    }
    if (c.gap < -gap) {
        return FAILURE_OVERLAP_AT_START;
    }
    const int does_motion_begin_in_contact =
        c.gap <= gap && fabs(contact_velocity(r, &c, velocity)) <= r->options.settle_speed;
    return does_motion_begin_in_contact && tact_reduced_begin_contact(r, &c)
               ? FAILURE_SINGULAR_MATRIX
               : NO_SIMULATION_FAILURE;
}
