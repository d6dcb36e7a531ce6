/* The model of features in scenes: replays from any tick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "support/replays.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replays_from_any_tick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
