/* Grasps, and solids of many triangles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "simulation.h"
#include "scenes.h"

/* Angle between two orientations [deg]. */
static double angle_between(const struct body_state *a, const struct body_state *b)
{
    double dot = 0;
    for (int i = 0; i < 4; i++) {
        dot += a->quat_wxyz[i] * b->quat_wxyz[i];
    }
    return 2 * atan2(sqrt(fmax(0, 1 - dot * dot)), fabs(dot)) * 180 / M_PI;
}

void check_ruler_scene(void)
{
    static const char *const models[2] = {"volume", "features"};
    for (int i = 0; i < 2; i++) {
        struct simulation p;
        simulate_with_options("ruler", 10, i ? "contact: {model: features}" : "", &p);
        const struct body_state *released = simulation_body_at(&p, "ruler", 2);
        const struct body_state *end = simulation_body_at(&p, "ruler", -1);
        double turn = angle_between(released, end), drift = largest_horizontal_drift(&p, 2);
        double all = angle_between(simulation_body_at(&p, "ruler", 0), end);
        print_message("    %s: turned by %.5f degrees in all, by %.1e degrees and moved by %.1e m "
                      "after 2 s\n",
                      models[i], all, turn, drift);
        assert_true(all < 0.01 && turn < 1e-4 && drift < 1e-9);
        simulation_free(&p);
    }
}

void check_five_fingers(void)
{
    struct simulation p;
    simulate("five_fingers", 6, &p);
    const struct body_state *start = simulation_body_at(&p, "ball", 0),
                            *held = simulation_body_at(&p, "ball", 4);
    const struct body_state *end = simulation_body_at(&p, "ball", -1);
    double lift_height = end->position[2] - start->position[2], turn = angle_between(start, end);
    print_message(
        "    lifted by %.5f m, turned by %.4f degrees; from 4 s to 6 s moved by %.1e m and "
        "%.1e degrees\n",
        lift_height, turn, largest_horizontal_drift(&p, 4), angle_between(held, end));
    assert_true(fabs(lift_height - 0.05) < 1e-3 && fabs(turn - 90) < 0.5);
    assert_true(largest_horizontal_drift(&p, 4) < 1e-9 && angle_between(held, end) < 1e-4);
    simulation_free(&p);
}

void check_bumpy_cube(void)
{
    struct simulation p;
    simulate("bumpy_cube", 0.5, &p);
    const struct body_state *end = simulation_body_at(&p, "rock", -1);
    double weight = 9.81, force = p.force[p.ticks - 1];
    /* free until contact, then decelerated by mu N = mu m g on average */
    double most = 0.5 * 0.05 + 0.25 / (2 * 0.4 * 9.81);
    print_message("    slides %.4f m, speed at the end %.1e, force %.6f N of %.6f N\n",
                  end->position[0], largest_final_speed(&p), force, weight);
    assert_int_equal(p.report.contacts_max, 1);
    assert_true(end->position[0] > 0.005 && end->position[0] < most);
    assert_true(largest_final_speed(&p) < 1e-6 && fabs(force / weight - 1) < 1e-6);
    simulation_check_energy(&p);
    simulation_free(&p);
}

void check_salad_scene(void)
{
    struct simulation p;
    simulate("salad", 1.2, &p);
    print_message("    speed at the end %.1e\n", largest_final_speed(&p));
    assert_int_equal(p.bodies, 24);
    assert_true(p.report.contacts_max >= 50 && p.report.unconverged == 0);
    assert_true(largest_final_speed(&p) < 1e-3); /* a tenth of that 0.23 s later */
    for (int i = 0; i < p.bodies; i++) {
        const struct body_state *b = simulation_body_at(&p, p.body_name[i], -1);
        /* within the bowl: its floor, and its walls 0.06 m from the middle at 35 degrees */
        assert_true(b->position[2] > 0.005 && tact_v3_norm(b->twist) < 2.0);
        for (int k = 0; k < 6; k++) {
            double out = b->position[0] * cos(k * M_PI / 3) + b->position[1] * sin(k * M_PI / 3);
            double inside =
                (0.06 - out) * cos(35 * M_PI / 180) + b->position[2] * sin(35 * M_PI / 180);
            assert_true(inside > 0.005);
        }
    }
    simulation_check_energy(&p);
    simulation_free(&p);
}
