/* Stacks of cubes: number of sweeps, and no sideways drift. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

/* Builds `count` cubes on the floor, the side of the first `size`, each next `taper` times it. */
static void build_stack(struct world_scene *s, int count, double size, double taper)
{
    struct tact_contact_law law = scene_rigid(0.5);
    double z = -2e-5;
    scene_open(s, NULL);
    scene_ground(s);
    for (int i = 0; i < count; i++) {
        struct tact_shape cube = scene_box(size, size, size);
        const double at[3] = {0, 0, z + 0.5 * size};
        scene_solid(s, &cube, 1000 * size * size * size, at, 0);
        z += size - 2e-5;
        size *= taper;
    }
    scene_law(s, 0, 1, &law);
    scene_law(s, 1, 1, &law);
    scene_start(s);
}

/* Largest horizontal distance of any cube from its position in `from` (3 numbers a cube). */
static double horizontal_drift(struct world_scene *s, const double *from, double *sink)
{
    double worst = 0;
    *sink = 0;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const double *p = tact_world_body(s->world, i)->pose.position;
        worst = fmax(worst, hypot(p[0] - from[3 * i], p[1] - from[3 * i + 1]));
        *sink = fmax(*sink, fabs(p[2] - from[3 * i + 2]));
    }
    return worst;
}

static void store_positions(struct world_scene *s, double *at)
{
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        tact_v3_copy(at + 3 * i, tact_world_body(s->world, i)->pose.position);
    }
}

static void run_stack(const char *name, int count, double size, double taper)
{
    struct world_scene s;
    double at[30], sink;
    build_stack(&s, count, size, taper);
    scene_step(&s);
    int cold = s.stats.iterations;
    scene_run(&s, 0.999);
    int settling = s.most_iterations;
    store_positions(&s, at);
    s.most_iterations = 0;
    scene_run(&s, 10);
    double moved = horizontal_drift(&s, at, &sink);
    print_message("%s: %.1e m sideways and %.1e m up or down in 10 s; sweeps %d cold, at most %d "
                  "settling, %d after; worst residual %.1e, unsolved %ld of %ld\n",
                  name, moved, sink, cold, settling, s.most_iterations, s.worst_residual,
                  s.unsolved, s.ticks);
    assert_true(moved < 1e-9);
    scene_close(&s);
}

static void ten_equal_cubes_stand(void **state)
{
    (void)state;
    run_stack("10 cubes", 10, 0.05, 1.0);
}

static void a_stack_with_a_small_top_stands(void **state)
{
    (void)state;
    run_stack("5 tapered, small top", 5, 0.1, 0.7);
}

static void a_stack_with_a_large_top_stands(void **state)
{
    (void)state;
    run_stack("5 tapered, big top", 5, 0.025, 1 / 0.7);
}

/* Sweeps of an octagonal plate that slides at 1 m/s and spins, until it is at rest: the first tick
 * is cold, `most` is of the ticks after it. */
static void run_octagon(double spin, double tolerance, int *cold, int *most, double *mean)
{
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = scene_rigid(0.5);
    const double at[3] = {0, 0, 0.01 - 2e-5};
    o.tolerance = tolerance;
    scene_open(&s, &o);
    scene_ground(&s);
    struct tact_shape plate = scene_cylinder(&s, 0.1, 0.02, 8);
    int b = scene_solid(&s, &plate, 1, at, 0);
    scene_law(&s, 0, 1, &law);
    scene_start(&s);
    struct tact_body *body = tact_world_body(s.world, b);
    body->twist[0] = 1;
    body->twist[5] = spin;
    scene_step(&s);
    *cold = s.stats.iterations;
    *most = 0;
    int ticks = 1;
    double sweeps = *cold;
    while (ticks < 1000 && tact_v3_norm(body->twist) > 1e-12) {
        scene_step(&s);
        ticks++;
        sweeps += s.stats.iterations;
        *most = s.stats.iterations > *most ? s.stats.iterations : *most;
    }
    *mean = sweeps / ticks;
    print_message(
        "octagon at %.0f rad/s to %.0e: %d sweeps cold, %d at most after, %.2f in the mean "
        "of %d ticks\n",
        spin, tolerance, *cold, *most, *mean, ticks);
    assert_true(tact_v3_norm(body->twist) < 1e-12 && tact_v3_norm(body->twist + 3) < 1e-10);
    scene_close(&s);
}

/* Figures 16 and 17 of Bouchard 2015: 3 sweeps for a plate that slides. */
static void an_octagon_needs_few_sweeps(void **state)
{
    (void)state;
    int cold, most;
    double mean;
    run_octagon(0, 1e-10, &cold, &most, &mean);
    run_octagon(0, 1e-15, &cold, &most, &mean);
    assert_true(cold <= 3 && most <= 3);
    run_octagon(10, 1e-10, &cold, &most, &mean); /* the centre of pressure rotates with the plate */
    assert_true(cold <= 3 && most <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_equal_cubes_stand),
        cmocka_unit_test(a_stack_with_a_small_top_stands),
        cmocka_unit_test(a_stack_with_a_large_top_stands),
        cmocka_unit_test(an_octagon_needs_few_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
