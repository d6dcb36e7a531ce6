/* Stacks of cubes: number of sweeps, and no sideways drift. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

/* Builds `count` cubes on the floor, the side of the first `size`, each next `size_ratio_per_cube`
 * times it. */
static void build_stack(struct world_scene *s, int count, double size, double size_ratio_per_cube)
{
    struct tact_contact_law law = make_rigid_law(0.5);
    double z = -2e-5;
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    for (int i = 0; i < count; i++) {
        struct tact_shape cube = box_of_sides(size, size, size);
        const double at[3] = {0, 0, z + 0.5 * size};
        add_scene_solid(s, &cube, 1000 * size * size * size, at, 0);
        z += size - 2e-5;
        size *= size_ratio_per_cube;
    }
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

/* Largest horizontal distance of any cube from its position in `from` (3 numbers a cube). */
static double horizontal_drift(struct world_scene *s, const double *from, double *sunk_distance)
{
    double worst = 0;
    *sunk_distance = 0;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const double *p = tact_world_body(s->world, i)->pose.position;
        worst = fmax(worst, hypot(p[0] - from[3 * i], p[1] - from[3 * i + 1]));
        *sunk_distance = fmax(*sunk_distance, fabs(p[2] - from[3 * i + 2]));
    }
    return worst;
}

static void store_cube_positions(struct world_scene *s, double *at)
{
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        tact_v3_copy(at + 3 * i, tact_world_body(s->world, i)->pose.position);
    }
}

static void check_stack_of_cubes(const char *name, int count, double size,
                                 double size_ratio_per_cube)
{
    struct world_scene s;
    double at[30], sunk_distance;
    build_stack(&s, count, size, size_ratio_per_cube);
    step_scene(&s);
    int cold_start_sweeps = s.stats.iterations;
    run_scene_for_seconds(&s, 0.999);
    int sweeps_while_settling = s.max_tick_iterations;
    store_cube_positions(&s, at);
    s.max_tick_iterations = 0;
    run_scene_for_seconds(&s, 10);
    double moved = horizontal_drift(&s, at, &sunk_distance);
    print_message("%s: %.1e m sideways and %.1e m up or down in 10 s; sweeps %d cold, at most %d "
                  "settling, %d after; worst residual %.1e, unsolved %ld of %ld\n",
                  name, moved, sunk_distance, cold_start_sweeps, sweeps_while_settling,
                  s.max_tick_iterations, s.worst_residual, s.unsolved_ticks, s.ticks);
    assert_true(moved < 1e-9);
    close_scene(&s);
}

static void ten_equal_cubes_stand(void **state)
{
    (void)state;
    check_stack_of_cubes("10 cubes", 10, 0.05, 1.0);
}

static void a_stack_with_a_small_top_stands(void **state)
{
    (void)state;
    check_stack_of_cubes("5 tapered, small top", 5, 0.1, 0.7);
}

static void a_stack_with_a_large_top_stands(void **state)
{
    (void)state;
    check_stack_of_cubes("5 tapered, big top", 5, 0.025, 1 / 0.7);
}

/* Counts sweeps while an octagonal plate slides at 1 m/s and spins, until it is at rest: the first
 * tick has no warm start, `most` is of the ticks after it. */
static void count_octagon_sweeps(double spin, double tolerance, int *cold_start_sweeps, int *most,
                                 double *mean)
{
    struct world_scene s;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(0.5);
    const double at[3] = {0, 0, 0.01 - 2e-5};
    o.tolerance = tolerance;
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    struct tact_shape plate_shape = make_cylinder_mesh_shape(&s, 0.1, 0.02, 8);
    int b = add_scene_solid(&s, &plate_shape, 1, at, 0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, b);
    body->twist[0] = 1;
    body->twist[5] = spin;
    step_scene(&s);
    *cold_start_sweeps = s.stats.iterations;
    *most = 0;
    int ticks = 1;
    double sweeps = *cold_start_sweeps;
    while (ticks < 1000 && tact_v3_norm(body->twist) > 1e-12) {
        step_scene(&s);
        ticks++;
        sweeps += s.stats.iterations;
        *most = s.stats.iterations > *most ? s.stats.iterations : *most;
    }
    *mean = sweeps / ticks;
    print_message(
        "octagon at %.0f rad/s to %.0e: %d sweeps cold, %d at most after, %.2f in the mean "
        "of %d ticks\n",
        spin, tolerance, *cold_start_sweeps, *most, *mean, ticks);
    assert_true(tact_v3_norm(body->twist) < 1e-12 && tact_v3_norm(body->twist + 3) < 1e-10);
    close_scene(&s);
}

/* Figures 16 and 17 of Bouchard 2015: 3 sweeps for a plate that slides. */
static void sliding_octagon_needs_few_sweeps(void **state)
{
    (void)state;
    int cold_start_sweeps, most;
    double mean;
    count_octagon_sweeps(0, 1e-10, &cold_start_sweeps, &most, &mean);
    count_octagon_sweeps(0, 1e-15, &cold_start_sweeps, &most, &mean);
    assert_true(cold_start_sweeps <= 3 && most <= 3);
    /* the centre of pressure rotates with the octagonal plate */
    count_octagon_sweeps(10, 1e-10, &cold_start_sweeps, &most, &mean);
    assert_true(cold_start_sweeps <= 3 && most <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_equal_cubes_stand),
        cmocka_unit_test(a_stack_with_a_small_top_stands),
        cmocka_unit_test(a_stack_with_a_large_top_stands),
        cmocka_unit_test(sliding_octagon_needs_few_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
