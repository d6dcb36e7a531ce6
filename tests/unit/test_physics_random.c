/* Ten thousand random worlds: whatever the shapes, masses, overlaps and friction, numbers stay
 * finite, wrenches inside their limits, momentum balanced, and nearly every tick solved. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/world_scene.h"
#include "support/worst.h"

enum { WORLDS = 1000, ALL_WORLDS = 10000 }; /* the latter in .ci/long */
enum { TICKS = 50, BODIES = 4 };

static uint64_t state_bits;

static double uniform(double lo, double hi)
{
    state_bits = state_bits * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state_bits >> 11) * 0x1p-53;
}

static int pick(int n)
{
    return (int)uniform(0, n);
}

struct tally {
    struct worst limits, unsolved_limits, residual; /* limits: in solved ticks */
    struct worst linear[2], angular[2];             /* unsolved, solved */
    long ticks, contacts, unsolved, outside;        /* outside: contacts beyond in solved ticks */
    int bad_worlds;
};

static struct tact_shape random_shape(struct world_scene *s, double size)
{
    double thin = pick(6) ? uniform(0.2, 1) : 1e-3; /* one in six is a sheet */
    switch (pick(4)) {
    case 0:
        return scene_sphere(0.5 * size);
    case 1:
        return scene_box(size, size * uniform(0.1, 1), size * thin);
    case 2:
        return scene_cylinder(s, 0.5 * size, size * thin, 3 + pick(10));
    default: {
        const double boxes[12] = {0, 0, 0,          size,       0.3 * size,  0.2 * size,
                                  0, 0, 0.2 * size, 0.2 * size, 0.25 * size, 0.2 * size};
        return scene_boxes(s, boxes, 2); /* two that touch along a face */
    }
    }
}

static struct tact_contact_law random_law(void)
{
    static const double odd[3] = {0, 1e3, 1e6};
    struct tact_contact_law law = scene_rigid(pick(3) ? uniform(0, 1.5) : odd[pick(3)]);
    law.modulus = pick(4) ? 0 : exp(uniform(9, 18));
    law.compliance = pick(4) ? 0 : exp(uniform(-18, -6));
    law.overlap = pick(4) ? 2e-5 : exp(uniform(-16, -6));
    law.dissipation = pick(4) ? 0.005 : 0;
    law.tangential_compliance = pick(4) ? 0 : exp(uniform(-18, -6));
    return law;
}

/* sweeps: at most so many a tick; 0: the default. */
static void build(struct world_scene *s, int seed, int sweeps)
{
    struct tact_world_options options = tact_world_options_default();
    options.iterations = sweeps ? sweeps : options.iterations;
    state_bits = ((uint64_t)seed * 0x9e3779b97f4a7c15u + 7) ^ campaign_seed();
    for (int i = 0; i < 4; i++) {
        uniform(0, 1);
    }
    scene_open(s, &options);
    scene_ground(s);
    int bodies = 1 + pick(BODIES);
    double size = exp(uniform(-4.6, 0)), crowd = uniform(0.2, 1.2);
    for (int i = 0; i < bodies; i++) {
        double own = size * uniform(0.5, 1), axis[3], at[3];
        struct tact_shape shape = random_shape(s, own);
        tact_v3_set(at, crowd * size * uniform(-1, 1), crowd * size * uniform(-1, 1),
                    size * uniform(0, 0.7 + 0.5 * i));
        int b = scene_solid(s, &shape, pow(10, uniform(-3, 3)), at, 0);
        struct tact_body *body = tact_world_body(s->world, b);
        for (int k = 0; k < 3; k++) {
            axis[k] = uniform(-1, 1);
            body->twist[k] = uniform(-1, 1);
            body->twist[3 + k] = uniform(-1, 1) * uniform(0, 2) / size;
        }
        if (pick(3)) { /* the others stand square: degenerate on purpose */
            double angle = uniform(0, 3), length = tact_v3_normalize(axis, axis);
            double q[4] = {cos(angle), 0, 0, 0};
            for (int k = 0; k < 3 && length > 0; k++) {
                q[1 + k] = sin(angle) * axis[k];
            }
            memcpy(body->pose.quat_wxyz, q, sizeof q);
            tact_quat_normalize(body->pose.quat_wxyz);
        }
    }
    struct tact_contact_law ground = random_law(), among = random_law();
    scene_law(s, 0, 1, &ground);
    scene_law(s, 1, 1, &among);
    tact_world_refresh(s->world);
    scene_start(s);
}

/* How far a contact's wrench is beyond its limits, as a share of the normal force. */
static double beyond(const struct world_scene *s, const struct tact_contact *c, double mu)
{
    const double *r = c->impulse;
    if (r[0] <= 0) {
        double sum = 0;
        for (int i = 0; i < 6; i++) {
            sum += fabs(r[i]);
        }
        return sum > 0 ? INFINITY : 0;
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

/** Momentum of the bodies, and how much of it there is to round. */
struct momentum {
    double p[BODIES][6];
    double size[BODIES][2];
};

/* Returns the mass of all. */
static double take_momentum(struct world_scene *s, struct momentum *m)
{
    double mass = 0;
    memset(m, 0, sizeof *m);
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        tact_v3_scale(m->p[i], body->twist, body->mass);
        tact_body_momentum(body, m->p[i] + 3);
        m->size[i][0] = tact_v3_norm(m->p[i]);
        double gyration =
            sqrt((body->inertia[0] + body->inertia[4] + body->inertia[8]) / body->mass);
        m->size[i][1] = tact_v3_norm(m->p[i] + 3) + gyration * m->size[i][0];
        mass += body->mass;
    }
    return mass;
}

static void take_impulse(struct world_scene *s, const struct tact_contact *c, int shape,
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

/* Whether the contact, whole or a planar piece of one, is inside its limits. */
static void note_contact(const struct world_scene *s, const struct tact_contact *c, double mu,
                         double weight, int seed, struct tally *t)
{
    int solved = s->stats.residual <= 1e-8;
    double over = beyond(s, c, mu);
    over *= c->impulse[0] / fmax(c->impulse[0], 1e-9 * weight); /* not of mere rounding */
    t->outside += solved && !(over <= 1e-6);
    note(solved ? &t->limits : &t->unsolved_limits, over, seed);
}

/* One tick; 0 where a number is not finite. */
static int tick(struct world_scene *s, int seed, struct tally *t)
{
    struct momentum before, after;
    double h = s->options.period;
    double weight = take_momentum(s, &before) * h * 9.81;
    scene_solve(s);
    take_momentum(s, &after);
    int solved = s->stats.residual <= 1e-8;
    t->ticks++;
    t->unsolved += !solved;
    t->contacts += s->stats.contacts;
    note(&t->residual, s->stats.residual, seed);
    for (int i = tact_world_next_pair(s->world, -1); i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        for (int k = 0; c->touching && k < (c->split ? c->split : 1); k++) {
            const struct tact_contact *part = c->split ? tact_world_piece(s->world, i, k) : c;
            note_contact(s, part, tact_world_law(s->world, i)->friction, weight, seed, t);
            take_impulse(s, part, c->a, 1, &before);
            take_impulse(s, part, c->b, -1, &before);
        }
    }
    double finite = s->stats.residual;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        double gap[6];
        tact_v3_axpy(before.p[i], h * body->mass, s->options.gravity);
        before.size[i][0] += h * body->mass * 9.81;
        for (int k = 0; k < 6; k++) {
            gap[k] = after.p[i][k] - before.p[i][k];
            finite += body->twist[k];
        }
        note(&t->linear[solved], tact_v3_norm(gap) / (before.size[i][0] + after.size[i][0]), seed);
        note(&t->angular[solved], tact_v3_norm(gap + 3) / (before.size[i][1] + after.size[i][1]),
             seed);
    }
    tact_world_integrate(s->world);
    for (int i = tact_world_next_pair(s->world, -1); i >= 0;
         i = tact_world_next_pair(s->world, i)) {
        const struct tact_contact *c = tact_world_contact(s->world, i);
        for (int k = 0; k < 6; k++) {
            finite += c->wrench[k] + c->springs.impulse[k];
        }
        finite += tact_v3_norm(c->springs.angle);
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        finite += tact_v3_norm(body->pose.position) + body->pose.quat_wxyz[0];
    }
    return isfinite(finite);
}

static void random_worlds(void **state)
{
    (void)state;
    static struct world_scene s;
    struct tally t = {0};
    const char *one = getenv("TACT_WORLD"); /* to look at a single seed */
    int first = one ? atoi(one) : 0, last = one ? first + 1 : campaign_size(WORLDS, ALL_WORLDS);
    for (int seed = first; seed < last; seed++) {
        long before = t.unsolved;
        build(&s, seed, 0);
        for (int i = 0; i < TICKS; i++) {
            if (!tick(&s, seed, &t)) {
                fail_msg("world %d, tick %d: not finite", seed, i);
            }
        }
        t.bad_worlds += t.unsolved > before;
        scene_close(&s);
    }
    print_message(
        "%ld ticks, %.2f contacts each; unsolved %.3f %% in %d worlds, worst residual %.1e "
        "(world %d)\n",
        t.ticks, (double)t.contacts / (double)t.ticks, 100.0 * (double)t.unsolved / (double)t.ticks,
        t.bad_worlds, t.residual.value, t.residual.seed);
    print_message(
        "beyond the limits: %.1e (world %d) where solved, in %ld contacts; %.1e (world %d) "
        "where not\n",
        t.limits.value, t.limits.seed, t.outside, t.unsolved_limits.value, t.unsolved_limits.seed);
    for (int i = 0; i < 2; i++) {
        print_message(
            "momentum out of balance, %s: %.1e (world %d) linear, %.1e (world %d) angular\n",
            i ? "solved" : "unsolved", t.linear[i].value, t.linear[i].seed, t.angular[i].value,
            t.angular[i].seed);
    }
    assert_true(t.unsolved * 100 <= t.ticks); /* 0.21 to 0.48 % for eight seeds */
    /* The spin arm of an elastic patch is that of the force before the last sweep: in one contact
     * of 10,000 worlds 6e-6 less than that of the force at the end. */
    assert_true(t.limits.value <= 2e-5 && t.unsolved_limits.value <= 1e-9);
    for (int i = 0; i < 2; i++) {
        assert_true(t.linear[i].value <= 1e-12 && t.angular[i].value <= 1e-12);
    }
}

/* Energy of motion [J]; fall: out, that which all would get by falling for a tick. */
static double motion(struct world_scene *s, double *fall)
{
    double energy = 0, speed = s->options.period * tact_v3_norm(s->options.gravity);
    *fall = 0;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        double spin[3];
        tact_body_momentum(body, spin);
        energy += 0.5 * body->mass * tact_v3_dot(body->twist, body->twist) +
                  0.5 * tact_v3_dot(spin, body->twist + 3);
        *fall += 0.5 * body->mass * speed * speed;
    }
    return energy;
}

/* A tick that runs out of sweeps may be wrong, but throws nothing: from the same state, bodies are
 * left with hardly more energy of motion than they came with, the solution leaves them and a tick
 * of their weight may give. Where overlaps are deep, what pushes them apart may be more. */
static void few_sweeps_throw_nothing(void **state)
{
    (void)state;
    static struct world_scene full, few;
    struct worst ratio = {0};
    long ticks = 0, unsolved = 0, over = 0;
    for (int seed = 0; seed < campaign_size(WORLDS, ALL_WORLDS) / 5; seed++) {
        build(&full, seed, 0);
        build(&few, seed, 2 + seed % 7);
        for (int i = 0; i < TICKS; i++) {
            for (int k = 0; k < tact_world_body_count(full.world); k++) {
                *tact_world_body(few.world, k) = *tact_world_body(full.world, k);
            }
            tact_world_refresh(few.world);
            double fall, came = motion(&full, &fall);
            scene_solve(&full);
            scene_solve(&few);
            double right = motion(&full, &fall), got = motion(&few, &fall);
            double share = got / (came + right + fall);
            ticks++;
            unsolved += few.stats.residual > 1e-8;
            if (full.stats.residual <= 1e-8) {
                over += share > 2;
                note(&ratio, share, seed);
            }
            tact_world_integrate(full.world);
        }
        scene_close(&full);
        scene_close(&few);
    }
    print_message(
        "%ld ticks, unsolved with few sweeps %ld; energy over twice what it may be in %ld, at most "
        "%.2g times (world %d)\n",
        ticks, unsolved, over, ratio.value, ratio.seed);
    assert_true(ratio.value <= 3); /* it was 4e12 without bounds */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_worlds),
        cmocka_unit_test(few_sweeps_throw_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
