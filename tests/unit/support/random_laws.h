/* Conditions true in any tick of any world: numbers are finite, wrenches within their limits, and
 * the change of momentum of the bodies is the impulse of contacts and gravity. Include after
 * cmocka.h. */
#ifndef TACT_TESTS_RANDOM_LAWS_H
#define TACT_TESTS_RANDOM_LAWS_H

#include <math.h>
#include <string.h>
#include "campaign.h"
#include "friction_parts.h"
#include "world_scene.h"
#include "worst.h"

enum { LAWS_BODIES = 8 };

struct tally {
    /* limits: largest excess over contact limits in solved ticks */
    struct worst limits, unsolved_limits, residual;
    /* error of linear and angular momentum in unsolved [0] and solved [1] ticks */
    struct worst linear_momentum_error[2], angular[2];
    /* outside: number of contacts beyond their limits in solved ticks */
    long ticks, contacts, unsolved_ticks, outside;
    int world_count_with_unsolved_ticks;
};

/* How far a contact's wrench exceeds its limits, relative to the normal force. For elastic
 * wrenches and points only friction is checked, as their torques have other limits. */
static double wrench_excess_over_limits(const struct world_scene *s, const struct tact_contact *c,
                                        const struct tact_contact_law *law)
{
    const double *r = c->impulse, mu = law->friction;
    int points = law->model && law->model->points;
    if (r[0] <= 0) {
        double sum = 0;
        for (int i = 0; i < 6; i++) {
            sum += fabs(r[i]);
        }
        return sum > 0 ? INFINITY : 0;
    }
    if (points || c->patch.law == TACT_LAW_WRENCH) {
        const double force = hypot(r[1], r[2]);
        double most = 1.0, unused[3];
        if (c->patch.points.tilted && force > 0) { /* friction on a curved surface: its pressure
                                                      sums to more than the normal force */
            const double along[2] = {r[1] / force, r[2] / force};
            most = friction_force_and_power_of_points(&c->patch.points, along, 0.0, unused);
        }
        return force / r[0] - mu * most;
    }
    double d[2] = {-r[5] / r[0], r[4] / r[0]}, size = fmax(c->patch.semi[0], c->patch.semi[1]);
    double arm = tact_patch_spin_arm(&c->patch, r[0] / s->options.period), worst = 0;
    double spin = r[3] - (d[0] * r[2] - d[1] * r[1]), limit = mu * r[0];
    if (c->patch.kind == TACT_PATCH_ELASTIC) {
        worst = hypot(d[0], d[1]) / size;
    } else if (c->patch.corners) {
        for (int i = 0; i < c->patch.corners; i++) {
            const double *a = c->patch.corner[i], *b = c->patch.corner[(i + 1) % c->patch.corners];
            double ex = b[0] - a[0], ey = b[1] - a[1], length = hypot(ex, ey);
            double out = (ey * (d[0] - a[0]) - ex * (d[1] - a[1])) / length;
            worst = fmax(worst, out / size);
        }
    } else if (c->patch.semi[0] > 0 && c->patch.semi[1] > 0) {
        worst = hypot(d[0] / c->patch.semi[0], d[1] / c->patch.semi[1]) - 1;
    }
    double used = hypot(hypot(r[1], r[2]), arm > 0 ? spin / arm : 0);
    return fmax(worst, limit > 0 ? used / limit - 1 : used / r[0]);
}

/* Momentum of the bodies, and the scale of its rounding errors. */
struct momentum {
    double p[LAWS_BODIES][6];
    double size[LAWS_BODIES][2];
};

/* Momentum of each body, and the scale of its rounding errors. Returns the mass of all bodies. */
static double compute_body_momenta(struct world_scene *s, struct momentum *m)
{
    double mass = 0;
    memset(m, 0, sizeof *m);
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        tact_v3_scale(m->p[i], body->twist, body->mass);
        tact_body_momentum(body, m->p[i] + 3);
        m->size[i][0] = tact_v3_norm(m->p[i]);
        double radius_of_gyration =
            sqrt((body->inertia[0] + body->inertia[4] + body->inertia[8]) / body->mass);
        m->size[i][1] = tact_v3_norm(m->p[i] + 3) + radius_of_gyration * m->size[i][0];
        mass += body->mass;
    }
    return mass;
}

static void add_contact_impulse(struct world_scene *s, const struct tact_contact *c, int shape,
                                double sign, struct momentum *m)
{
    struct tact_owner owner = tact_world_owner(s->world, shape);
    if (owner.kind != TACT_OWNER_BODY) {
        return;
    }
    const struct tact_body *body = tact_world_body(s->world, owner.index);
    double *p = m->p[owner.index], h = s->options.period, arm[3], torque[3];
    tact_v3_sub(arm, c->patch.center, body->pose.position);
    tact_v3_cross(torque, arm, c->wrench);
    tact_v3_axpy(p, sign * h, c->wrench);
    tact_v3_axpy(p + 3, sign * h, torque);
    tact_v3_axpy(p + 3, sign * h, c->wrench + 3);
    m->size[owner.index][0] += h * tact_v3_norm(c->wrench);
    m->size[owner.index][1] +=
        h * (tact_v3_norm(c->wrench + 3) + tact_v3_norm(arm) * tact_v3_norm(c->wrench));
}

/* Records by how much a contact's wrench, or that of a planar piece of the contact, exceeds its
 * limits. */
static void check_contact_limits(const struct world_scene *s, const struct tact_contact *c,
                                 const struct tact_contact_law *law, double weight, int seed,
                                 struct tally *t)
{
    int is_tick_solved = s->stats.residual <= 1e-8;
    double wrench_excess = wrench_excess_over_limits(s, c, law);
    /* contact forces of the size of rounding errors are ignored */
    wrench_excess *= c->impulse[0] / fmax(c->impulse[0], 1e-9 * weight);
    t->outside += is_tick_solved && !(wrench_excess <= 1e-6);
    record_if_worst(is_tick_solved ? &t->limits : &t->unsolved_limits, wrench_excess, seed);
}

/* Steps a random world by one tick; returns 0 where a number is not finite. */
static int step_random_world(struct world_scene *s, int seed, struct tally *t)
{
    struct momentum before, after;
    double h = s->options.period;
    double weight = compute_body_momenta(s, &before) * h * 9.81;
    solve_scene_velocities(s);
    compute_body_momenta(s, &after);
    int is_tick_solved = s->stats.residual <= 1e-8;
    t->ticks++;
    t->unsolved_ticks += !is_tick_solved;
    t->contacts += s->stats.contacts;
    record_if_worst(&t->residual, s->stats.residual, seed);
    for (int i = tact_world_next_pair(s->world, -1); i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        for (int k = 0; c->touching && k < (c->split ? c->split : 1); k++) {
            const struct tact_contact *part = c->split ? tact_world_piece(s->world, i, k) : c;
            check_contact_limits(s, part, tact_world_law(s->world, i), weight, seed, t);
            add_contact_impulse(s, part, c->a, 1, &before);
            add_contact_impulse(s, part, c->b, -1, &before);
        }
    }
    double sum_for_finiteness_check = s->stats.residual;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        double gap[6];
        tact_v3_axpy(before.p[i], h * body->mass, s->options.gravity);
        before.size[i][0] += h * body->mass * 9.81;
        for (int k = 0; k < 6; k++) {
            gap[k] = after.p[i][k] - before.p[i][k];
            sum_for_finiteness_check += body->twist[k];
        }
        record_if_worst(&t->linear_momentum_error[is_tick_solved],
                        tact_v3_norm(gap) / (before.size[i][0] + after.size[i][0]), seed);
        record_if_worst(&t->angular[is_tick_solved],
                        tact_v3_norm(gap + 3) / (before.size[i][1] + after.size[i][1]), seed);
    }
    tact_world_integrate(s->world);
    for (int i = tact_world_next_pair(s->world, -1); i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        for (int k = 0; k < 6; k++) {
            sum_for_finiteness_check += c->wrench[k] + c->springs.impulse[k];
        }
        sum_for_finiteness_check += tact_v3_norm(c->springs.angle);
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        sum_for_finiteness_check += tact_v3_norm(body->pose.position) + body->pose.quat_wxyz[0];
    }
    return isfinite(sum_for_finiteness_check);
}

/* Prints a tally and checks that momentum is balanced and the limits are respected in it. */
static inline void check_momentum_and_limit_violations(const struct tally *t, const char *which)
{
    print_message(
        "%s: %ld ticks, %.2f contacts each; unsolved %.3f %% in %d worlds, worst residual "
        "%.1e (world %d); beyond the limits %.1e (world %d) where solved, %.1e (world %d) "
        "where not\n",
        which, t->ticks, (double)t->contacts / (double)t->ticks,
        100.0 * (double)t->unsolved_ticks / (double)t->ticks, t->world_count_with_unsolved_ticks,
        t->residual.value, t->residual.seed, t->limits.value, t->limits.seed,
        t->unsolved_limits.value, t->unsolved_limits.seed);
    for (int i = 0; i < 2; i++) {
        print_message(
            "  momentum out of balance, %s: %.1e (world %d) linear, %.1e (world %d) angular\n",
            i ? "solved" : "unsolved", t->linear_momentum_error[i].value,
            t->linear_momentum_error[i].seed, t->angular[i].value, t->angular[i].seed);
        assert_true(t->linear_momentum_error[i].value <= 1e-12 && t->angular[i].value <= 1e-12);
    }
    assert_true(2 * t->contacts > t->ticks);
    assert_true(t->limits.value <= 2e-5 && t->unsolved_limits.value <= 1e-9);
}

#endif
