/* Checks of scenes with blocks: cubes on an edge, stacks of cubes, a sliding octagonal plate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "simulation.h"
#include "scenes.h"

/* Heights of a cube's centre on the table and on the floor: half a cube above it, less the target
 * overlap [m]. */
static const double TABLE_HEIGHT = 0.025 - 2e-5, FLOOR_HEIGHT = -0.175 - 2e-5;

void check_cubes_on_edge_scene(void)
{
    static const char *const names[5] = {"inside", "near_inside", "near_outside", "outside",
                                         "clear"};
    struct simulation p;
    simulate_scene("cubes_on_edge", 1.2, &p);
    for (int i = 0; i < 5; i++) {
        const struct body_state *end = simulation_body_at(&p, names[i], -1);
        print_message("    %-12s ends at x %.6f, z %.6f m, tilted by %.3f degrees\n", names[i],
                      end->position[0], end->position[2], body_tilt_deg(end));
        assert_true(fabs(end->position[2] - (i < 2 ? TABLE_HEIGHT : FLOOR_HEIGHT)) < 2e-5);
    }
    for (int i = 0; i < 2; i++) { /* the two cubes that the table supports do not move */
        const struct body_state *a = simulation_body_at(&p, names[i], 0),
                                *b = simulation_body_at(&p, names[i], -1);
        assert_true(fabs(b->position[0] - a->position[0]) < 1e-9 && body_tilt_deg(b) < 1e-6);
    }
    /* The cube beyond the edge falls freely beside the wall without rotating. */
    const struct body_state *falling_cube = simulation_body_at(&p, "clear", 0.15);
    double steps = 151, exact = 0.026 - 0.5 * 9.81 * 1e-6 * steps * (steps + 1);
    print_message("    clear at 0.15 s: z %.9f m, exact %.9f\n", falling_cube->position[2], exact);
    assert_true(fabs(falling_cube->position[2] - exact) < 1e-9 &&
                body_tilt_deg(falling_cube) < 1e-9);
    assert_true(largest_final_speed(&p) < 1e-6);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

/* Runs a scene, and checks that after `settling_end_time` seconds nothing moves horizontally and
 * the floor carries the weight. */
static void check_stack_stands(const char *name, double seconds, double settling_end_time,
                               const char *more)
{
    struct simulation p;
    simulate_scene_with_yaml_appended(name, seconds, more, &p);
    double horizontal_drift = largest_horizontal_drift(&p, settling_end_time),
           speed = largest_final_speed(&p);
    print_message("    sideways from %g s to %g s: %.1e m; speed at the end %.1e\n",
                  settling_end_time, seconds, horizontal_drift, speed);
    assert_true(horizontal_drift < 1e-9);
    assert_true(speed < 1e-9);
    for (int i = 0; i < p.bodies; i++) {
        assert_true(body_tilt_deg(simulation_body_at(&p, p.body_name[i], -1)) < 0.01);
    }
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}

void check_stack_scene(void)
{
    check_stack_stands("stack", 11, 1, "");
    check_stack_stands("stack", 11, 1, "contact: {model: features}");
}

void check_tapered_stack_scene(void)
{
    check_stack_stands("stack_tapered", 4, 1, "");
}

void check_loose_stack_scene(void)
{
    check_stack_stands("stack_loose", 4, 1, "");
}

void check_octagon_scene(void)
{
    struct simulation p;
    simulate_scene("octagon", 0.5, &p);
    const struct body_state *end = simulation_body_at(&p, "plate", -1);
    /* v^2 / (2 mu g), less the integrator's v h / 2 */
    double exact = 1.0 / (2 * 0.5 * 9.81) - 0.5e-3, got = end->position[0];
    print_message("    slides %.6f m, exact %.6f: off by %.4f %%; %.1e m sideways\n", got, exact,
                  100 * (got / exact - 1), end->position[1]);
    assert_true(fabs(got / exact - 1) < 1e-3);
    assert_true(fabs(end->position[1]) < 1e-9 && largest_final_speed(&p) < 1e-9);
    assert_true(p.report.iterations_max <= 3);
    assert_simulated_energy_rises_by_work_only(&p);
    simulation_free(&p);
}
