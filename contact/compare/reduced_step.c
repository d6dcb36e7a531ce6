/* Steps in contact: Runge and Kutta's method, the paper's control of the step, edges of charts,
 * changes of mode, and the end of the contact. */
#include <string.h>
#include "contact/compare/reduced_internal.h"

/* q' and the derivatives of the independent rates. */
struct derivative {
    double q[COORDINATES], rate[COORDINATES];
};

/* Index of the first independent rate: all of sliding, else those of (u, v, psi). */
static int first_rate(enum tact_reduced_mode mode)
{
    return mode == TACT_REDUCED_SLIDING ? 0 : 2;
}

static int state_derivative(const struct tact_reduced *r, struct reduced_state *s,
                            struct derivative *out)
{
    const enum tact_reduced_mode mode = r->report.mode;
    struct reduced_kinematics k;
    struct reduced_forces f;
    memset(out, 0, sizeof *out);
    if (mode != TACT_REDUCED_SLIDING) { /* the dependent rates follow from the place alone */
        tact_reduced_kinematics(r->surface, s, &k);
        tact_reduced_all_rates(&k, mode, s->rate);
    }
    tact_reduced_kinematics(r->surface, s, &k);
    int rc = tact_reduced_forces(r, s, &k, mode, &f);
    memcpy(out->q, s->rate, sizeof out->q);
    memcpy(out->rate + first_rate(mode), f.second, (size_t)f.count * sizeof *f.second);
    return rc;
}

static void move_state(struct reduced_state *s, double h, const struct derivative *d)
{
    for (int i = 0; i < COORDINATES; i++) {
        s->q[i] += h * d->q[i];
        s->rate[i] += h * d->rate[i];
    }
}

static int is_finite(const struct reduced_state *s)
{
    int finite = 1;
    for (int i = 0; i < COORDINATES; i++) {
        finite &= isfinite(s->q[i]) && isfinite(s->rate[i]);
    }
    return finite;
}

/* A step of Runge and Kutta's method, to a state that is possible. */
static enum reduced_failure integrate(const struct tact_reduced *r, double h,
                                      struct reduced_state *out)
{
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    struct derivative d = {{0.0}, {0.0}};
    *out = r->state;
    for (int i = 0; i < 4; i++) {
        struct reduced_state at = r->state;
        move_state(&at, part[i] * h, &d);
        if (!is_finite(&at)) {
            return REDUCED_NOT_FINITE;
        }
        if (state_derivative(r, &at, &d)) {
            return REDUCED_SINGULAR;
        }
        move_state(out, weight[i] * h / 6.0, &d);
    }
    if (r->report.mode != TACT_REDUCED_SLIDING) {
        struct reduced_kinematics k;
        tact_reduced_kinematics(r->surface, out, &k);
        tact_reduced_all_rates(&k, r->report.mode, out->rate);
    }
    return is_finite(out) ? tact_reduced_check(r, out) : REDUCED_NOT_FINITE;
}

/* The smallest margin of both charts, with the body and the edge. */
static double margin(const struct tact_reduced *r, const struct reduced_state *s, int *body,
                     int *edge)
{
    double least = INFINITY;
    *body = *edge = 0;
    for (int b = 0; b < 2; b++) {
        const struct chart_point p = {s->chart[b], {s->q[2 * b], s->q[2 * b + 1]}};
        int at = 0;
        const double m = tact_reduced_surface_margin(&r->surface[b], &p, &at);
        if (m < least) {
            least = m;
            *body = b;
            *edge = at;
        }
    }
    return least;
}

static int forces_at(const struct tact_reduced *r, const struct reduced_state *s,
                     enum tact_reduced_mode mode, struct reduced_forces *f)
{
    struct reduced_kinematics k;
    tact_reduced_kinematics(r->surface, s, &k);
    return tact_reduced_forces(r, s, &k, mode, f);
}

/* 1 where the limits of a mode hold: the contact presses, (35) and (40). */
static int within_limits(const struct tact_reduced *r, enum tact_reduced_mode mode,
                         const struct reduced_forces *f)
{
    const double normal = -f->wrench[5], tangential = tact_hypot(f->wrench[3], f->wrench[4]);
    if (!(normal >= 0.0)) {
        return 0;
    }
    if (mode == TACT_REDUCED_SLIDING) {
        return 1;
    }
    return tangential <= r->options.friction_static * normal &&
           (mode == TACT_REDUCED_ROLLING || fabs(f->wrench[2]) <= r->options.spin_static * normal);
}

/* Goes over to a mode of less freedom where its limits hold. Returns 1 where it did. */
static int enter_mode(struct tact_reduced *r, enum tact_reduced_mode mode, struct reduced_forces *f)
{
    struct reduced_state s = r->state;
    if (tact_reduced_project(r, &s, mode) || forces_at(r, &s, mode, f) ||
        !within_limits(r, mode, f)) {
        return 0;
    }
    r->state = s;
    r->report.mode = mode;
    return 1;
}

/* Changes to a mode with less slip or spin, where both are small and the limits allow it. stopped:
 * 1 where the slip, or the spin, passed through 0 in a step that can be no shorter. */
static void settle(struct tact_reduced *r, int stopped, struct reduced_forces *f)
{
    struct reduced_forces other;
    if (r->report.mode == TACT_REDUCED_SLIDING && r->options.friction_static > 0.0 &&
        (stopped || tact_hypot(f->twist[3], f->twist[4]) <= r->options.slip_speed) &&
        enter_mode(r, TACT_REDUCED_ROLLING, &other)) {
        r->report.rolls++;
        *f = other;
    }
    if (r->report.mode == TACT_REDUCED_ROLLING && r->options.spin_static > 0.0 &&
        (stopped || fabs(f->twist[2]) <= r->options.spin_rate) &&
        enter_mode(r, TACT_REDUCED_NO_SPIN, &other)) {
        *f = other;
    }
}

/* Leaves a mode whose limits do not hold: first spin becomes possible, then slip, then the end of
 * the contact. */
static void leave_mode(struct tact_reduced *r, struct reduced_forces *f)
{
    while (!within_limits(r, r->report.mode, f)) {
        if (r->report.mode == TACT_REDUCED_NO_SPIN) {
            r->report.mode = TACT_REDUCED_ROLLING;
        } else if (r->report.mode == TACT_REDUCED_ROLLING) {
            const double size = tact_hypot(f->wrench[3], f->wrench[4]);
            r->slide[0] = size > 0.0 ? -f->wrench[3] / size : 0.0;
            r->slide[1] = size > 0.0 ? -f->wrench[4] / size : 0.0;
            r->report.mode = TACT_REDUCED_SLIDING;
            r->report.slides++;
        } else {
            r->report.separations++;
            tact_reduced_release(r);
            return;
        }
        if (forces_at(r, &r->state, r->report.mode, f)) {
            return;
        }
    }
}

/* Where the surfaces overlap at another place. */
static void count_others(struct tact_reduced *r, const struct reduced_kinematics *k)
{
    struct smooth_contact contact[TACT_PIECES];
    struct tact_reduced at = *r;
    tact_reduced_release(&at);
    const int found = tact_reduced_find(&at, contact);
    for (int i = 0; i < found; i++) {
        double d[3];
        tact_v3_add(d, contact[i].arm[1], r->fixed.position);
        tact_v3_sub(d, d, k->frame[1].at);
        if (contact[i].gap < -1e-6 * r->size && tact_v3_norm(d) > 1e-2 * r->size) {
            r->report.others++;
            return;
        }
    }
}

static void report_contact(struct tact_reduced *r, const struct reduced_forces *f)
{
    struct reduced_kinematics k;
    double axes[9];
    tact_reduced_kinematics(r->surface, &r->state, &k);
    tact_reduced_world_axes(&k, axes);
    tact_m3_mul_v3(r->report.force, axes, f->wrench);
    tact_m3_mul_v3(r->report.force + 3, axes, f->wrench + 3);
    tact_v3_copy(r->report.contact, k.frame[1].at);
    r->report.slip = tact_hypot(f->twist[3], f->twist[4]);
    if (r->may_touch_twice) {
        count_others(r, &k);
    }
}

/* 1 where friction changes its sign within a step: slip, or in rolling the spin, passes through 0.
 */
static int stops(const struct tact_reduced *r, const struct reduced_forces *before,
                 const struct reduced_forces *after)
{
    const double *u = before->twist, *v = after->twist;
    return (r->report.mode == TACT_REDUCED_SLIDING && r->options.friction_dynamic > 0.0 &&
            u[3] * v[3] + u[4] * v[4] < 0.5 * (u[3] * u[3] + u[4] * u[4])) ||
           (r->report.mode == TACT_REDUCED_ROLLING && r->options.spin_static > 0.0 &&
            u[2] * v[2] < 0.0);
}

/* Accepts a step to the edge that it passes, and crosses it, at corners several. */
static enum reduced_failure cross_edges(struct tact_reduced *r, double h, struct reduced_state *to)
{
    int body, edge, count = 0;
    struct reduced_forces f;
    const double from = tact_max(margin(r, &r->state, &body, &edge), 0.0);
    const double beyond = margin(r, to, &body, &edge);
    const double part = from / (from - beyond);
    const enum reduced_failure failure = integrate(r, part * h, to);
    if (failure) {
        return failure;
    }
    r->state = *to;
    r->report.time += part * h;
    r->report.mode_time[r->report.mode] += part * h;
    do {
        if (tact_reduced_cross(r, body, edge)) {
            return REDUCED_SINGULAR;
        }
        r->report.crossings++;
        struct reduced_state ahead = r->state;
        struct derivative d = {{0.0}, {0.0}};
        memcpy(d.q, r->state.rate, sizeof d.q);
        move_state(&ahead, r->options.min_step, &d);
        if (margin(r, &ahead, &body, &edge) >= 0.0) {
            r->crossed_at_once = part * h > 0.0 ? 0 : r->crossed_at_once + 1;
            if (r->crossed_at_once > MAX_CROSSINGS_AT_ONCE) {
                return REDUCED_EDGES;
            }
            if (forces_at(r, &r->state, r->report.mode, &f)) {
                return REDUCED_SINGULAR;
            }
            report_contact(r, &f);
            return REDUCED_NO_FAILURE;
        }
    } while (++count < MAX_CROSSINGS_AT_ONCE);
    return REDUCED_EDGES;
}

/* A step that is to be repeated with half its length. */
static void shorten(struct tact_reduced *r, double h)
{
    r->step = tact_max(0.5 * h, r->options.min_step);
    r->report.rejected++;
}

enum reduced_failure tact_reduced_step_contact(struct tact_reduced *r, double until)
{
    struct reduced_state to;
    struct reduced_forces before, after;
    const double h = tact_min(r->step, until - r->report.time);
    const enum tact_reduced_mode mode = r->report.mode;
    if (forces_at(r, &r->state, mode, &before)) {
        return REDUCED_SINGULAR;
    }
    const enum reduced_failure failure = integrate(r, h, &to);
    if (failure && h > r->options.min_step) {
        shorten(r, h);
        return REDUCED_NO_FAILURE;
    }
    if (failure) {
        return failure;
    }
    if (forces_at(r, &to, mode, &after)) {
        return REDUCED_SINGULAR;
    }
    int body, edge;
    const int stopped = stops(r, &before, &after);
    if ((stopped || margin(r, &to, &body, &edge) < 0.0 || !within_limits(r, mode, &after)) &&
        h > r->options.min_step) {
        shorten(r, h);
        return REDUCED_NO_FAILURE;
    }
    r->report.steps++;
    if (margin(r, &to, &body, &edge) < 0.0) {
        return cross_edges(r, h, &to);
    }
    r->state = to;
    r->report.time += h;
    r->report.mode_time[mode] += h;
    r->step = tact_min(r->options.max_step, tact_max(2.0 * h, r->step));
    leave_mode(r, &after);
    if (r->report.mode != TACT_REDUCED_FLIGHT) {
        if (r->report.mode >= mode) { /* a limit was not passed just now */
            settle(r, stopped, &after);
        }
        report_contact(r, &after);
    }
    return REDUCED_NO_FAILURE;
}

void tact_reduced_choose_mode(struct tact_reduced *r)
{
    struct reduced_forces f;
    r->report.mode = TACT_REDUCED_SLIDING;
    r->slide[0] = r->slide[1] = 0.0;
    if (forces_at(r, &r->state, r->report.mode, &f)) {
        return;
    }
    if (r->options.friction_static > 0.0 &&
        tact_hypot(f.twist[3], f.twist[4]) <= r->options.slip_speed) {
        r->report.mode = TACT_REDUCED_ROLLING; /* its force shows where slip would go */
        if (tact_reduced_project(r, &r->state, TACT_REDUCED_ROLLING) ||
            forces_at(r, &r->state, TACT_REDUCED_ROLLING, &f)) {
            return;
        }
    }
    leave_mode(r, &f);
    if (r->report.mode != TACT_REDUCED_FLIGHT) {
        settle(r, 0, &f);
        report_contact(r, &f);
    }
}
