/* Steps in contact: Runge and Kutta's method, the paper's step control, edges of charts, changes of
 * contact mode, and the end of the contact. */
#include <string.h>
#include "contact/compare/reduced_internal.h"

/* Derivatives of a state by time: q', and those of the independent rates. */
struct reduced_state_derivative {
    double q[COORDINATES], rate[COORDINATES];
};

/* Index of the first independent rate in q': 0 in sliding, else that of u' in (u', v', psi'). */
static int index_of_first_independent_rate(enum tact_reduced_mode mode)
{
    return mode == TACT_REDUCED_SLIDING ? 0 : 2;
}

static int compute_state_derivative(const struct tact_reduced *r, struct reduced_state *s,
                                    struct reduced_state_derivative *out)
{
    const enum tact_reduced_mode mode = r->report.mode;
    struct reduced_kinematics k;
    struct accelerations_and_contact_wrench f;
    memset(out, 0, sizeof *out);
    if (mode != TACT_REDUCED_SLIDING) { /* the dependent rates follow from the independent ones by
                                           matrices of the position alone */
        tact_reduced_kinematics(r->surface, s, &k);
        tact_reduced_compute_dependent_rates(&k, mode, s->rate);
    }
    tact_reduced_kinematics(r->surface, s, &k);
    int rc = tact_reduced_solve_motion_equations(r, s, &k, mode, &f);
    memcpy(out->q, s->rate, sizeof out->q);
    memcpy(out->rate + index_of_first_independent_rate(mode), f.independent_accelerations,
           (size_t)f.count * sizeof *f.independent_accelerations);
    return rc;
}

static void advance_reduced_state(struct reduced_state *s, double h,
                                  const struct reduced_state_derivative *d)
{
    for (int i = 0; i < COORDINATES; i++) {
        s->q[i] += h * d->q[i];
        s->rate[i] += h * d->rate[i];
    }
}

static int is_state_finite(const struct reduced_state *s)
{
    int is_every_number_finite = 1;
    for (int i = 0; i < COORDINATES; i++) {
        is_every_number_finite &= isfinite(s->q[i]) && isfinite(s->rate[i]);
    }
    return is_every_number_finite;
}

/* Integrates one step by Runge and Kutta's method, to a state that is possible. */
static enum simulation_failure integrate_runge_kutta(const struct tact_reduced *r, double h,
                                                     struct reduced_state *out)
{
    static const double runge_kutta_stage_time[4] = {0.0, 0.5, 0.5, 1.0},
                        runge_kutta_stage_weight[4] = {1.0, 2.0, 2.0, 1.0};
    struct reduced_state_derivative d = {{0.0}, {0.0}};
    *out = r->state;
    for (int i = 0; i < 4; i++) {
        struct reduced_state at = r->state;
        advance_reduced_state(&at, runge_kutta_stage_time[i] * h, &d);
        if (!is_state_finite(&at)) {
            return FAILURE_STATE_NOT_FINITE;
        }
        if (compute_state_derivative(r, &at, &d)) {
            return FAILURE_SINGULAR_MATRIX;
        }
        advance_reduced_state(out, runge_kutta_stage_weight[i] * h / 6.0, &d);
    }
    if (r->report.mode != TACT_REDUCED_SLIDING) {
        struct reduced_kinematics k;
        tact_reduced_kinematics(r->surface, out, &k);
        tact_reduced_compute_dependent_rates(&k, r->report.mode, out->rate);
    }
    return is_state_finite(out) ? tact_reduced_check_state_possible(r, out)
                                : FAILURE_STATE_NOT_FINITE;
}

/* Smallest distance of the contact from an edge of the charts, with the body and the edge. */
static double distance_to_chart_edge(const struct tact_reduced *r, const struct reduced_state *s,
                                     int *body, int *edge)
{
    double smallest_chart_edge_distance = INFINITY;
    *body = *edge = 0;
    for (int b = 0; b < 2; b++) {
        const struct chart_point p = {s->chart[b], {s->q[2 * b], s->q[2 * b + 1]}};
        int at = 0;
        const double m = tact_reduced_surface_edge_distance(&r->surface[b], &p, &at);
        if (m < smallest_chart_edge_distance) {
            smallest_chart_edge_distance = m;
            *body = b;
            *edge = at;
        }
    }
    return smallest_chart_edge_distance;
}

static int solve_motion_at_state(const struct tact_reduced *r, const struct reduced_state *s,
                                 enum tact_reduced_mode mode,
                                 struct accelerations_and_contact_wrench *f)
{
    struct reduced_kinematics k;
    tact_reduced_kinematics(r->surface, s, &k);
    return tact_reduced_solve_motion_equations(r, s, &k, mode, f);
}

/* 1 where the contact wrench satisfies the limits of a mode: the contact presses, (35) and (40). */
static int does_wrench_satisfy_mode_limits(const struct tact_reduced *r,
                                           enum tact_reduced_mode mode,
                                           const struct accelerations_and_contact_wrench *f)
{
    const double normal_force = -f->wrench[5],
                 tangential_force = tact_hypot(f->wrench[3], f->wrench[4]);
    if (!(normal_force >= 0.0)) {
        return 0;
    }
    if (mode == TACT_REDUCED_SLIDING) {
        return 1;
    }
    return tangential_force <= r->options.friction_static * normal_force &&
           (mode == TACT_REDUCED_ROLLING ||
            fabs(f->wrench[2]) <= r->options.spin_static * normal_force);
}

/* Changes to a contact mode with fewer degrees of freedom where its limits hold. Returns 1 where it
 * did. */
static int try_more_constrained_contact_mode(struct tact_reduced *r, enum tact_reduced_mode mode,
                                             struct accelerations_and_contact_wrench *f)
{
    struct reduced_state s = r->state;
    if (tact_reduced_project_rates_to_mode(r, &s, mode) || solve_motion_at_state(r, &s, mode, f) ||
        !does_wrench_satisfy_mode_limits(r, mode, f)) {
        return 0;
    }
    r->state = s;
    r->report.mode = mode;
    return 1;
}

/* Changes to a contact mode with less slip or spin, where both are small and the limits allow it.
 * has_slip_passed_zero: 1 where the slip, or the spin, passed through 0 in a step that cannot be
 * shorter. */
static void enter_contact_mode_with_less_slip(struct tact_reduced *r, int has_slip_passed_zero,
                                              struct accelerations_and_contact_wrench *f)
{
    struct accelerations_and_contact_wrench motion_in_more_constrained_mode;
    if (r->report.mode == TACT_REDUCED_SLIDING && r->options.friction_static > 0.0 &&
        (has_slip_passed_zero || tact_hypot(f->twist[3], f->twist[4]) <= r->options.slip_speed) &&
        try_more_constrained_contact_mode(r, TACT_REDUCED_ROLLING,
                                          &motion_in_more_constrained_mode)) {
        r->report.rolls++;
        *f = motion_in_more_constrained_mode;
    }
    if (r->report.mode == TACT_REDUCED_ROLLING && r->options.spin_static > 0.0 &&
        (has_slip_passed_zero || fabs(f->twist[2]) <= r->options.spin_rate) &&
        try_more_constrained_contact_mode(r, TACT_REDUCED_NO_SPIN,
                                          &motion_in_more_constrained_mode)) {
        *f = motion_in_more_constrained_mode;
    }
}

/* Leaves a contact mode whose limits are exceeded: first spin becomes possible, then slip, then the
 * contact ends. */
static void leave_mode_beyond_its_limits(struct tact_reduced *r,
                                         struct accelerations_and_contact_wrench *f)
{
    while (!does_wrench_satisfy_mode_limits(r, r->report.mode, f)) {
        if (r->report.mode == TACT_REDUCED_NO_SPIN) {
            r->report.mode = TACT_REDUCED_ROLLING;
        } else if (r->report.mode == TACT_REDUCED_ROLLING) {
            const double size = tact_hypot(f->wrench[3], f->wrench[4]);
            r->incipient_slip_direction[0] = size > 0.0 ? -f->wrench[3] / size : 0.0;
            r->incipient_slip_direction[1] = size > 0.0 ? -f->wrench[4] / size : 0.0;
            r->report.mode = TACT_REDUCED_SLIDING;
            r->report.slides++;
        } else {
            r->report.separations++;
            tact_reduced_end_contact(r);
            return;
        }
        if (solve_motion_at_state(r, &r->state, r->report.mode, f)) {
            return;
        }
    }
}

/* Counts a step in which the surfaces also overlap at a second place. */
static void count_step_with_second_overlap(struct tact_reduced *r,
                                           const struct reduced_kinematics *k)
{
    struct smooth_contact contact[TACT_PIECES];
    struct tact_reduced at = *r;
    tact_reduced_end_contact(&at);
    const int contact_count = tact_reduced_find_contacts(&at, contact);
    for (int i = 0; i < contact_count; i++) {
        double d[3];
        tact_v3_add(d, contact[i].arm[1], r->fixed.position);
        tact_v3_sub(d, d, k->frame[1].at);
        if (contact[i].gap < -1e-6 * r->size && tact_v3_norm(d) > 1e-2 * r->size) {
            r->report.others++;
            return;
        }
    }
}

static void copy_contact_state_to_report(struct tact_reduced *r,
                                         const struct accelerations_and_contact_wrench *f)
{
    struct reduced_kinematics k;
    double axes[9];
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_reduced_contact_axes_in_world(&k, axes);
    tact_m3_mul_v3(r->report.force, axes, f->wrench);
    tact_m3_mul_v3(r->report.force + 3, axes, f->wrench + 3);
    tact_v3_copy(r->report.contact, k.frame[1].at);
    r->report.slip = tact_hypot(f->twist[3], f->twist[4]);
    if (r->may_have_two_contacts) {
        count_step_with_second_overlap(r, &k);
    }
}

/* 1 where friction reverses within a step: the slip, or in rolling the spin, of the relative twist
 * passes through 0. */
static int does_friction_reverse_in_step(const struct tact_reduced *r,
                                         const double twist_before_step[6],
                                         const double twist_after_step[6])
{
    const double *u = twist_before_step, *v = twist_after_step;
    return (r->report.mode == TACT_REDUCED_SLIDING && r->options.friction_dynamic > 0.0 &&
            u[3] * v[3] + u[4] * v[4] < 0.5 * (u[3] * u[3] + u[4] * u[4])) ||
           (r->report.mode == TACT_REDUCED_ROLLING && r->options.spin_static > 0.0 &&
            u[2] * v[2] < 0.0);
}

/* Shortens a step so that it ends at the chart edge that it passes, and continues in the next
 * chart; at a corner across several edges. */
static enum simulation_failure step_across_chart_edge(struct tact_reduced *r, double h,
                                                      struct reduced_state *to)
{
    int body, edge, count = 0;
    struct accelerations_and_contact_wrench f;
    const double chart_edge_distance_before =
        tact_max(distance_to_chart_edge(r, &r->state, &body, &edge), 0.0);
    const double chart_edge_distance_after = distance_to_chart_edge(r, to, &body, &edge);
    const double fraction_of_step_to_chart_edge =
        chart_edge_distance_before / (chart_edge_distance_before - chart_edge_distance_after);
    const enum simulation_failure failure =
        integrate_runge_kutta(r, fraction_of_step_to_chart_edge * h, to);
    if (failure) {
        return failure;
    }
    r->state = *to;
    r->report.time += fraction_of_step_to_chart_edge * h;
    r->report.mode_time[r->report.mode] += fraction_of_step_to_chart_edge * h;
    do {
        if (tact_reduced_change_chart(r, body, edge)) {
            return FAILURE_SINGULAR_MATRIX;
        }
        r->report.crossings++;
        struct reduced_state state_after_shortest_step = r->state;
        struct reduced_state_derivative d = {{0.0}, {0.0}};
        memcpy(d.q, r->state.rate, sizeof d.q);
        advance_reduced_state(&state_after_shortest_step, r->options.min_step, &d);
        if (distance_to_chart_edge(r, &state_after_shortest_step, &body, &edge) >= 0.0) {
            r->chart_crossings_at_same_time =
                fraction_of_step_to_chart_edge * h > 0.0 ? 0 : r->chart_crossings_at_same_time + 1;
            if (r->chart_crossings_at_same_time > MAX_CHART_CROSSINGS_WITHOUT_TIME) {
                return FAILURE_TOO_MANY_CHART_CROSSINGS;
            }
            if (solve_motion_at_state(r, &r->state, r->report.mode, &f)) {
                return FAILURE_SINGULAR_MATRIX;
            }
            copy_contact_state_to_report(r, &f);
            return NO_SIMULATION_FAILURE;
        }
    } while (++count < MAX_CHART_CROSSINGS_WITHOUT_TIME);
    return FAILURE_TOO_MANY_CHART_CROSSINGS;
}

/* Rejects a step, which is to be repeated with half its length. */
static void reject_integration_step(struct tact_reduced *r, double h)
{
    r->step = tact_max(0.5 * h, r->options.min_step);
    r->report.rejected++;
}

enum simulation_failure tact_reduced_step_contact(struct tact_reduced *r,
                                                  double contact_step_end_time)
{
    struct reduced_state to;
    struct accelerations_and_contact_wrench contact_motion_before_step, contact_motion_after_step;
    const double h = tact_min(r->step, contact_step_end_time - r->report.time);
    const enum tact_reduced_mode mode = r->report.mode;
    if (solve_motion_at_state(r, &r->state, mode, &contact_motion_before_step)) {
        return FAILURE_SINGULAR_MATRIX;
    }
    const enum simulation_failure failure = integrate_runge_kutta(r, h, &to);
    if (failure && h > r->options.min_step) {
        reject_integration_step(r, h);
        return NO_SIMULATION_FAILURE;
    }
    if (failure) {
        return failure;
    }
    if (solve_motion_at_state(r, &to, mode, &contact_motion_after_step)) {
        return FAILURE_SINGULAR_MATRIX;
    }
    int body, edge;
    const int has_slip_passed_zero = does_friction_reverse_in_step(
        r, contact_motion_before_step.twist, contact_motion_after_step.twist);
    if ((has_slip_passed_zero || distance_to_chart_edge(r, &to, &body, &edge) < 0.0 ||
         !does_wrench_satisfy_mode_limits(r, mode, &contact_motion_after_step)) &&
        h > r->options.min_step) {
        reject_integration_step(r, h);
        return NO_SIMULATION_FAILURE;
    }
    r->report.steps++;
    if (distance_to_chart_edge(r, &to, &body, &edge) < 0.0) {
        return step_across_chart_edge(r, h, &to);
    }
    r->state = to;
    r->report.time += h;
    r->report.mode_time[mode] += h;
    r->step = tact_min(r->options.max_step, tact_max(2.0 * h, r->step));
    leave_mode_beyond_its_limits(r, &contact_motion_after_step);
    if (r->report.mode != TACT_REDUCED_FLIGHT) {
        if (r->report.mode >= mode) { /* no limit was exceeded in this step */
            enter_contact_mode_with_less_slip(r, has_slip_passed_zero, &contact_motion_after_step);
        }
        copy_contact_state_to_report(r, &contact_motion_after_step);
    }
    return NO_SIMULATION_FAILURE;
}

void tact_reduced_choose_contact_mode(struct tact_reduced *r)
{
    struct accelerations_and_contact_wrench f;
    r->report.mode = TACT_REDUCED_SLIDING;
    r->incipient_slip_direction[0] = r->incipient_slip_direction[1] = 0.0;
    if (solve_motion_at_state(r, &r->state, r->report.mode, &f)) {
        return;
    }
    if (r->options.friction_static > 0.0 &&
        tact_hypot(f.twist[3], f.twist[4]) <= r->options.slip_speed) {
        r->report.mode = TACT_REDUCED_ROLLING; /* the contact force without slip shows in which
                                                  direction slip would begin */
        if (tact_reduced_project_rates_to_mode(r, &r->state, TACT_REDUCED_ROLLING) ||
            solve_motion_at_state(r, &r->state, TACT_REDUCED_ROLLING, &f)) {
            return;
        }
    }
    leave_mode_beyond_its_limits(r, &f);
    if (r->report.mode != TACT_REDUCED_FLIGHT) {
        enter_contact_mode_with_less_slip(r, 0, &f);
        copy_contact_state_to_report(r, &f);
    }
}
