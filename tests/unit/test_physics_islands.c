/* Each island is solved by itself: one does not influence the result of another. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/constraint.h"
#include "support/random.h"
#include "support/world_scene.h"

enum { CUBES = 4, HEAP = 10 };

/* Cubes that fall on each other from a small height, and slide. */
static void add_box_stack(struct world_scene *s)
{
    struct tact_shape cube = box_of_sides(0.05, 0.05, 0.05);
    for (int i = 0; i < CUBES; i++) {
        int b = add_scene_solid(s, &cube, 0.125, (double[3]){0.003 * i, 0, 0.026 + 0.0505 * i},
                                0.1 * i);
        tact_world_body(s->world, b)->twist[0] = 0.02 * i;
    }
}

/* Boxes of masses over four decades, thrown together, the first two on a hinge: more than a few
 * sweeps can solve. */
static void add_tangled_heap(struct world_scene *s)
{
    struct tact_shape box = box_of_sides(0.06, 0.03, 0.09);
    int first = 0;
    for (int i = 0; i < HEAP; i++) {
        struct tact_pose p = random_pose(0.04);
        p.position[0] += 3.0;
        p.position[2] += 0.1 + 0.04 * i;
        int b = add_scene_solid(s, &box, pow(10.0, uniform(-3, 1)), p.position, 0);
        memcpy(tact_world_body(s->world, b)->pose.quat_wxyz, p.quat_wxyz, sizeof p.quat_wxyz);
        tact_world_body(s->world, b)->twist[2] = -1.0;
        first = i ? first : b;
    }
    tact_world_refresh(s->world);
    const struct tact_owner a = {TACT_OWNER_BODY, first, 0}, b = {TACT_OWNER_BODY, first + 1, 0};
    const struct tact_pose at = tact_world_body(s->world, first)->pose;
    struct tact_constraint hinge_between_boxes;
    assert_int_equal(
        tact_constraint_between(s->world, TACT_CONSTRAINT_HINGE, a, b, &at, &hinge_between_boxes),
        0);
    hinge_between_boxes.friction = 0.01;
    assert_true(tact_world_add_constraint(s->world, &hinge_between_boxes) >= 0);
}

/* Plates that fall on each other while they spin. */
static void add_spinning_plates(struct world_scene *s)
{
    struct tact_shape plate = box_of_sides(0.1, 0.07, 0.03);
    for (int i = 0; i < CUBES; i++) {
        const double at[3] = {0.02 * (i % 2), 0.01 * i, 0.08 + 0.08 * i};
        int b = add_scene_solid_of_material(s, &plate, i % 2 ? 0.2 : 1.0, at, 2);
        const double twist[6] = {0.3 - 0.2 * i, 0.1 * i, -0.5, 7 - 3 * i, 4 * i - 5, 2 + i};
        memcpy(tact_world_body(s->world, b)->twist, twist, sizeof twist);
    }
}

/* With restitution the stack's bodies are plates that spin, and rebound. */
static void open_stack_world(struct world_scene *s, int has_heap_beside_stack, int iterations,
                             double restitution)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(0.6);
    o.iterations = iterations;
    open_empty_scene(s, &o);
    add_scene_ground(s);
    if (restitution > 0.0) {
        add_spinning_plates(s);
    } else {
        add_box_stack(s);
    }
    if (has_heap_beside_stack) {
        add_tangled_heap(s);
    }
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    law.restitution = restitution;
    set_scene_contact_law(s, 0, 2, &law);
    set_scene_contact_law(s, 2, 2, &law);
    finish_scene_building(s);
}

/* Number of bodies of the stack that do not have the same state in both worlds. */
static int count_differing_body_states(struct world_scene *a, struct world_scene *b)
{
    int count = 0;
    for (int i = 0; i < CUBES; i++) {
        const struct tact_body *p = tact_world_body(a->world, i), *q = tact_world_body(b->world, i);
        count += memcmp(&p->pose, &q->pose, sizeof p->pose) != 0 ||
                 memcmp(p->twist, q->twist, sizeof p->twist) != 0;
    }
    return count;
}

/* A stack has the same bits alone and beside a heap whose island exhausts its sweeps; also where
 * impacts of the stack are solved again because their rebound creates energy. */
static void contact_islands_do_not_influence_each_other(void **state)
{
    (void)state;
    static const int iterations[] = {3, 10, 50, 10, 50};
    for (size_t k = 0; k < sizeof iterations / sizeof *iterations; k++) {
        struct world_scene stack_alone, stack_beside_heap;
        double restitution = k < 3 ? 0.0 : 0.9;
        open_stack_world(&stack_alone, 0, iterations[k], restitution);
        open_stack_world(&stack_beside_heap, 1, iterations[k], restitution);
        long differing_body_state_count = 0, excess_iteration_count = 0, damped_rebounds = 0;
        for (int tick = 0; tick < 1000; tick++) {
            step_scene(&stack_alone);
            step_scene(&stack_beside_heap);
            damped_rebounds += stack_alone.stats.counts[TACT_COUNT_DAMPED];
            excess_iteration_count +=
                stack_beside_heap.stats.iterations > stack_alone.stats.iterations;
            differing_body_state_count +=
                count_differing_body_states(&stack_alone, &stack_beside_heap);
        }
        printf("restitution %.1f, %d sweeps at most: stack unsolved in %ld ticks, with the heap in "
               "%ld; the heap takes longer in %ld; %ld rebounds damped; bodies that move "
               "otherwise: %ld\n",
               restitution, iterations[k], stack_alone.unsolved_ticks,
               stack_beside_heap.unsolved_ticks, excess_iteration_count, damped_rebounds,
               differing_body_state_count);
        assert_int_equal(differing_body_state_count, 0);
        assert_true(stack_beside_heap.unsolved_ticks > stack_alone.unsolved_ticks);
        assert_true(excess_iteration_count > 100);
        assert_true(restitution == 0.0 || damped_rebounds > 10);
        close_scene(&stack_alone);
        close_scene(&stack_beside_heap);
    }
}

/* Two islands that touch become one, momentum passes between them, and the reported residual is of
 * both. */
static void contact_islands_join_and_separate(void **state)
{
    (void)state;
    struct world_scene s;
    struct tact_contact_law law = make_rigid_law(0.0);
    struct tact_world_options o = tact_world_options_default();
    tact_v3_set(o.gravity, 0, 0, 0);
    open_empty_scene(&s, &o);
    struct tact_shape ball = make_sphere(0.02);
    for (int i = 0; i < 6; i++) {
        int b =
            add_scene_solid(&s, &ball, 0.1 * (1 + i), (double[3]){0.05 * i, 0.1 * (i / 3), 0}, 0);
        tact_world_body(s.world, b)->twist[0] = i % 3 ? -0.5 * (i % 3) : 0.5;
    }
    set_scene_contact_law(&s, 1, 1, &law);
    finish_scene_building(&s);
    double before = 0, after = 0;
    int most = 0;
    for (int i = 0; i < 6; i++) {
        before += tact_world_body(s.world, i)->mass * tact_world_body(s.world, i)->twist[0];
    }
    for (int tick = 0; tick < 300; tick++) {
        step_scene(&s);
        most = s.stats.contacts > most ? s.stats.contacts : most;
    }
    for (int i = 0; i < 6; i++) {
        after += tact_world_body(s.world, i)->mass * tact_world_body(s.world, i)->twist[0];
    }
    assert_true(most >= 2);
    assert_int_equal(s.unsolved_ticks, 0);
    assert_true(fabs(after - before) <= 1e-15);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contact_islands_do_not_influence_each_other),
        cmocka_unit_test(contact_islands_join_and_separate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
