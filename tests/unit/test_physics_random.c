/* Ten thousand random worlds: whatever the shapes, masses, overlaps and friction, numbers stay
 * finite, wrenches within their limits, momentum balanced, and nearly every tick solved. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/random_laws.h"

/* number of random worlds; the larger number in .ci/long */
enum { WORLDS = 1000, ALL_WORLDS = 10000 };
enum { TICKS = 50, BODIES = 4 };

static uint64_t random_generator_state;

static double random_uniform(double lo, double hi)
{
    random_generator_state = random_generator_state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(random_generator_state >> 11) * 0x1p-53;
}

static int random_index(int n)
{
    return (int)random_uniform(0, n);
}

static struct tact_shape make_random_shape(struct world_scene *s, double size)
{
    /* one box in six is a thin sheet */
    double relative_thickness = random_index(6) ? random_uniform(0.2, 1) : 1e-3;
    switch (random_index(4)) {
    case 0:
        return make_sphere(0.5 * size);
    case 1:
        return box_of_sides(size, size * random_uniform(0.1, 1), size * relative_thickness);
    case 2:
        return make_cylinder_mesh_shape(s, 0.5 * size, size * relative_thickness,
                                        3 + random_index(10));
    default: {
        const double boxes[12] = {0, 0, 0,          size,       0.3 * size,  0.2 * size,
                                  0, 0, 0.2 * size, 0.2 * size, 0.25 * size, 0.2 * size};
        return make_shape_of_boxes(s, boxes, 2); /* a shape of two boxes that touch along a face */
    }
    }
}

static struct tact_contact_law random_contact_law(void)
{
    static const double odd[3] = {0, 1e3, 1e6};
    struct tact_contact_law law =
        make_rigid_law(random_index(3) ? random_uniform(0, 1.5) : odd[random_index(3)]);
    law.modulus = random_index(4) ? 0 : exp(random_uniform(9, 18));
    law.compliance = random_index(4) ? 0 : exp(random_uniform(-18, -6));
    law.overlap = random_index(4) ? 2e-5 : exp(random_uniform(-16, -6));
    law.dissipation = random_index(4) ? 0.005 : 0;
    law.tangential_compliance = random_index(4) ? 0 : exp(random_uniform(-18, -6));
    return law;
}

/* Makes random world `seed`. sweeps: limit of sweeps in a tick; 0: the default. */
static void build_random_world(struct world_scene *s, int seed, int sweeps)
{
    struct tact_world_options options = tact_world_options_default();
    options.iterations = sweeps ? sweeps : options.iterations;
    random_generator_state = ((uint64_t)seed * 0x9e3779b97f4a7c15u + 7) ^ campaign_seed_offset();
    for (int i = 0; i < 4; i++) {
        random_uniform(0, 1);
    }
    open_empty_scene(s, &options);
    add_scene_ground(s);
    int bodies = 1 + random_index(BODIES);
    double size = exp(random_uniform(-4.6, 0)), crowd = random_uniform(0.2, 1.2);
    for (int i = 0; i < bodies; i++) {
        double own = size * random_uniform(0.5, 1), axis[3], at[3];
        struct tact_shape shape = make_random_shape(s, own);
        tact_v3_set(at, crowd * size * random_uniform(-1, 1), crowd * size * random_uniform(-1, 1),
                    size * random_uniform(0, 0.7 + 0.5 * i));
        int b = add_scene_solid(s, &shape, pow(10, random_uniform(-3, 3)), at, 0);
        struct tact_body *body = tact_world_body(s->world, b);
        for (int k = 0; k < 3; k++) {
            axis[k] = random_uniform(-1, 1);
            body->twist[k] = random_uniform(-1, 1);
            body->twist[3 + k] = random_uniform(-1, 1) * random_uniform(0, 2) / size;
        }
        /* one box in three stays axis-aligned: a degenerate case on purpose */
        if (random_index(3)) {
            double angle = random_uniform(0, 3), length = tact_v3_normalize(axis, axis);
            double q[4] = {cos(angle), 0, 0, 0};
            for (int k = 0; k < 3 && length > 0; k++) {
                q[1 + k] = sin(angle) * axis[k];
            }
            memcpy(body->pose.quat_wxyz, q, sizeof q);
            tact_quat_normalize(body->pose.quat_wxyz);
        }
    }
    struct tact_contact_law ground = random_contact_law(), among = random_contact_law();
    set_scene_contact_law(s, 0, 1, &ground);
    set_scene_contact_law(s, 1, 1, &among);
    tact_world_refresh(s->world);
    finish_scene_building(s);
}

static void random_worlds_obey_the_contact_laws(void **state)
{
    (void)state;
    static struct world_scene s;
    struct tally t = {0};
    const char *one = getenv("TACT_WORLD"); /* index of a single world to run */
    int first = one ? atoi(one) : 0,
        last = one ? first + 1 : campaign_trial_count(WORLDS, ALL_WORLDS);
    for (int seed = first; seed < last; seed++) {
        long before = t.unsolved_ticks;
        build_random_world(&s, seed, 0);
        for (int i = 0; i < TICKS; i++) {
            if (!step_random_world(&s, seed, &t)) {
                fail_msg("world %d, tick %d: not finite", seed, i);
            }
        }
        t.world_count_with_unsolved_ticks += t.unsolved_ticks > before;
        close_scene(&s);
    }
    print_message(
        "%ld ticks, %.2f contacts each; unsolved %.3f %% in %d worlds, worst residual %.1e "
        "(world %d)\n",
        t.ticks, (double)t.contacts / (double)t.ticks,
        100.0 * (double)t.unsolved_ticks / (double)t.ticks, t.world_count_with_unsolved_ticks,
        t.residual.value, t.residual.seed);
    print_message(
        "beyond the limits: %.1e (world %d) where solved, in %ld contacts; %.1e (world %d) "
        "where not\n",
        t.limits.value, t.limits.seed, t.outside, t.unsolved_limits.value, t.unsolved_limits.seed);
    for (int i = 0; i < 2; i++) {
        print_message(
            "momentum out of balance, %s: %.1e (world %d) linear, %.1e (world %d) angular\n",
            i ? "solved" : "unsolved", t.linear_momentum_error[i].value,
            t.linear_momentum_error[i].seed, t.angular[i].value, t.angular[i].seed);
    }
    /* 0.21 to 0.48 % of the ticks are unsolved for eight seeds */
    assert_true(t.unsolved_ticks * 100 <= t.ticks);
    /* The spin arm of an elastic patch is computed from the force before the last sweep: in one
     * contact of 10,000 worlds it is 6e-6 less than that of the final force. */
    assert_true(t.limits.value <= 2e-5 && t.unsolved_limits.value <= 1e-9);
    for (int i = 0; i < 2; i++) {
        assert_true(t.linear_momentum_error[i].value <= 1e-12 && t.angular[i].value <= 1e-12);
    }
}

/* Kinetic energy of all bodies [J]; *energy_gained_by_free_fall_in_tick: the kinetic energy that
 * they gain in a tick of free fall. */
static double kinetic_energy(struct world_scene *s, double *energy_gained_by_free_fall_in_tick)
{
    double energy = 0,
           speed_gained_in_tick_of_free_fall = s->options.period * tact_v3_norm(s->options.gravity);
    *energy_gained_by_free_fall_in_tick = 0;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct tact_body *body = tact_world_body(s->world, i);
        double spin[3];
        tact_body_momentum(body, spin);
        energy += 0.5 * body->mass * tact_v3_dot(body->twist, body->twist) +
                  0.5 * tact_v3_dot(spin, body->twist + 3);
        *energy_gained_by_free_fall_in_tick += 0.5 * body->mass *
                                               speed_gained_in_tick_of_free_fall *
                                               speed_gained_in_tick_of_free_fall;
    }
    return energy;
}

/* A tick that exhausts its sweeps may be inaccurate but does not throw bodies: from the same
 * state, the kinetic energy after it is hardly more than the largest of that before the tick, that
 * after a solved tick, and that of a tick of free fall. Deep overlaps may add more. */
static void unsolved_ticks_do_not_add_energy(void **state)
{
    (void)state;
    static struct world_scene full, few;
    struct worst ratio = {0};
    long ticks = 0, unsolved_ticks = 0, large_ratio_count = 0;
    for (int seed = 0; seed < campaign_trial_count(WORLDS, ALL_WORLDS) / 5; seed++) {
        build_random_world(&full, seed, 0);
        build_random_world(&few, seed, 2 + seed % 7);
        for (int i = 0; i < TICKS; i++) {
            for (int k = 0; k < tact_world_body_count(full.world); k++) {
                *tact_world_body(few.world, k) = *tact_world_body(full.world, k);
            }
            tact_world_refresh(few.world);
            double energy_gained_by_free_fall_in_tick,
                came = kinetic_energy(&full, &energy_gained_by_free_fall_in_tick);
            solve_scene_velocities(&full);
            solve_scene_velocities(&few);
            double kinetic_energy_when_solved =
                       kinetic_energy(&full, &energy_gained_by_free_fall_in_tick),
                   got = kinetic_energy(&few, &energy_gained_by_free_fall_in_tick);
            double share =
                got / (came + kinetic_energy_when_solved + energy_gained_by_free_fall_in_tick);
            ticks++;
            unsolved_ticks += few.stats.residual > 1e-8;
            if (full.stats.residual <= 1e-8) {
                large_ratio_count += share > 2;
                record_if_worst(&ratio, share, seed);
            }
            tact_world_integrate(full.world);
        }
        close_scene(&full);
        close_scene(&few);
    }
    print_message(
        "%ld ticks, unsolved with few sweeps %ld; energy over twice what it may be in %ld, at most "
        "%.2g times (world %d)\n",
        ticks, unsolved_ticks, large_ratio_count, ratio.value, ratio.seed);
    assert_true(ratio.value <= 3); /* the ratio is 4e12 without bounds on the impulses */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_worlds_obey_the_contact_laws),
        cmocka_unit_test(unsolved_ticks_do_not_add_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
