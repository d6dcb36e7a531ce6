/* The model of features in scenes: replays from any tick, and pairs that pass each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "support/replays.h"
#include "support/world_scene.h"

/* Solids of every kind that features take fall on a plate, some fast and turning by a large angle
 * in a tick; an egg is measured by smooth, two crates by volumes, all in one island. */
static const char heap_scene_text[] =
    "name: heap\nduration: 0.6\ncontact: {model: features}\n"
    "materials: [{name: hard}, {name: crate}, {name: egg}, {name: ground}]\n"
    "pairs:\n"
    "  - {materials: [hard, ground], friction: 0.4}\n"
    "  - {materials: [hard, hard], friction: 0.3}\n"
    "  - {materials: [egg, ground], friction: 0.3}\n"
    "  - {materials: [egg, egg], friction: 0.3, model: smooth}\n"
    "  - {materials: [egg, hard], friction: 0.3}\n"
    "  - {materials: [egg, crate], friction: 0.3}\n"
    "  - {materials: [crate, ground], friction: 0.5, model: volume}\n"
    "  - {materials: [crate, crate], friction: 0.5, model: volume}\n"
    "  - {materials: [hard, crate], friction: 0.5}\n"
    "bodies:\n"
    "  - {name: plate, fixed: true, position: [0, 0, -0.001],\n"
    "     shapes: [{type: box, size: [1, 1, 0.002], material: ground}]}\n"
    "  - name: crate\n    mass: 0.3\n    position: [0, 0, 0.02]\n"
    "    shapes: [{type: box, size: [0.1, 0.1, 0.04], material: crate}]\n"
    "  - name: lid\n    mass: 0.1\n    position: [0, 0, 0.045]\n"
    "    shapes: [{type: box, size: [0.08, 0.08, 0.01], material: crate}]\n"
    "  - name: can\n    mass: 0.1\n    position: [0.004, 0.002, 0.10]\n"
    "    angular_velocity: [0, 4, 9]\n"
    "    shapes: [{type: cylinder, radius: 0.02, length: 0.05, material: hard}]\n"
    "  - name: rod\n    mass: 0.1\n    position: [0.12, 0, 0.08]\n"
    "    angular_velocity: [6, 3, 0]\n"
    "    shapes: [{type: capsule, radius: 0.01, length: 0.06, material: hard}]\n"
    "  - name: first\n    mass: 0.05\n    position: [-0.1, 0, 0.02]\n"
    "    shapes: [{type: ellipsoid, size: [0.04, 0.05, 0.03], material: egg}]\n"
    "  - name: second\n    mass: 0.05\n    position: [-0.16, 0.01, 0.02]\n"
    "    velocity: [0.5, 0, 0]\n"
    "    shapes: [{type: ellipsoid, size: [0.03, 0.04, 0.03], material: egg}]\n"
    "  - name: bullet\n    mass: 0.02\n    position: [0.2, 0.1, 0.15]\n    fast: true\n"
    "    velocity: [-1, -1, -60]\n    angular_velocity: [300, 200, 100]\n"
    "    shapes: [{type: box, size: [0.02, 0.03, 0.02], material: hard}]\n";

static void replays_from_any_tick(void **state)
{
    (void)state;
    struct tact_session_report report = check_replays_from_any_tick(heap_scene_text);
    printf("%llu pairs of fast bodies moved apart after the drift\n",
           (unsigned long long)report.counts[TACT_COUNT_OVERSHOT]);
    assert_true(report.counts[TACT_COUNT_OVERSHOT] > 0);
}

/* A ball that is not fast is stopped by a small plate where it is measured ahead of it, its
 * bounding sphere within the plate's; where it passes from one side to the other in a tick, that is
 * counted. */
static void bodies_that_pass_are_counted(void **state)
{
    (void)state;
    int stopped = 0, counted = 0;
    for (int speed = 5; speed <= 100; speed += 5) {
        const struct tact_shape plate = box_of_sides(0.03, 0.03, 1e-3), ball = make_sphere(0.003);
        const double place[3] = {0.0, 0.0, 0.3};
        const struct tact_pose centred = tact_pose_identity();
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_rigid_law(0.3);
        struct world_scene s;
        int outrun = 0, count;
        o.model = tact_contact_model_find("features");
        open_empty_scene(&s, &o);
        add_scene_shape(&s, -1, &plate, &centred, 0);
        const int body = add_scene_solid(&s, &ball, 0.001, place, 0.0);
        set_scene_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        tact_world_body(s.world, body)->twist[2] = -speed;
        for (int k = 0; k < 100; k++) {
            step_scene(&s);
            const int *near = tact_world_near(s.world, &count);
            outrun += count && tact_world_contact(s.world, near[0])->outrun;
        }
        const int passed = tact_world_body(s.world, body)->pose.position[2] < 0.0;
        assert_true(!passed || outrun > 0);
        stopped += !passed;
        counted += passed;
        close_scene(&s);
    }
    printf("%d stopped, %d passed and were counted\n", stopped, counted);
    assert_true(stopped > 0 && counted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_from_any_tick),
        cmocka_unit_test(bodies_that_pass_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
