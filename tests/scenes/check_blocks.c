/* Cubes on an edge, stacks, the octagon. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "played.h"
#include "scenes.h"

/* Half a cube above the table and half a cube above the floor, less the overlap. */
static const double ON_TABLE = 0.025 - 2e-5, ON_FLOOR = -0.175 - 2e-5;

void check_cubes_on_edge(void)
{
    static const char *const names[5] = {"inside", "near_inside", "near_outside", "outside",
                                         "clear"};
    struct played p;
    play("cubes_on_edge", 1.2, &p);
    for (int i = 0; i < 5; i++) {
        const struct played_body *end = played_at(&p, names[i], -1);
        print_message("    %-12s ends at x %.6f, z %.6f m, tilted by %.3f degrees\n", names[i],
                      end->position[0], end->position[2], played_tilt(end));
        assert_true(fabs(end->position[2] - (i < 2 ? ON_TABLE : ON_FLOOR)) < 2e-5);
    }
    for (int i = 0; i < 2; i++) { /* stay where they were put */
        const struct played_body *a = played_at(&p, names[i], 0), *b = played_at(&p, names[i], -1);
        assert_true(fabs(b->position[0] - a->position[0]) < 1e-9 && played_tilt(b) < 1e-6);
    }
    /* The one that is clear falls freely beside the wall and is not turned. */
    const struct played_body *falling = played_at(&p, "clear", 0.15);
    double steps = 151, exact = 0.026 - 0.5 * 9.81 * 1e-6 * steps * (steps + 1);
    print_message("    clear at 0.15 s: z %.9f m, exact %.9f\n", falling->position[2], exact);
    assert_true(fabs(falling->position[2] - exact) < 1e-9 && played_tilt(falling) < 1e-9);
    assert_true(played_speed(&p) < 1e-6);
    played_energy(&p);
    played_free(&p);
}

/* Settles within `settled` seconds; then nothing moves sideways, and the floor carries the weight.
 */
static void stand(const char *name, double seconds, double settled, const char *more)
{
    struct played p;
    play_with(name, seconds, more, &p);
    double drift = played_drift(&p, settled), speed = played_speed(&p);
    print_message("    sideways from %g s to %g s: %.1e m; speed at the end %.1e\n", settled,
                  seconds, drift, speed);
    assert_true(drift < 1e-9);
    assert_true(speed < 1e-9);
    for (int i = 0; i < p.bodies; i++) {
        assert_true(played_tilt(played_at(&p, p.body_name[i], -1)) < 0.01);
    }
    played_energy(&p);
    played_free(&p);
}

void check_stack(void)
{
    stand("stack", 11, 1, "");
    stand("stack", 11, 1, "contact: {model: features}");
}

void check_stack_tapered(void)
{
    stand("stack_tapered", 4, 1, "");
}

void check_stack_loose(void)
{
    stand("stack_loose", 4, 1, "");
}

void check_octagon(void)
{
    struct played p;
    play("octagon", 0.5, &p);
    const struct played_body *end = played_at(&p, "plate", -1);
    /* v^2 / (2 mu g), less the integrator's v h / 2 */
    double exact = 1.0 / (2 * 0.5 * 9.81) - 0.5e-3, got = end->position[0];
    print_message("    slides %.6f m, exact %.6f: off by %.4f %%; %.1e m sideways\n", got, exact,
                  100 * (got / exact - 1), end->position[1]);
    assert_true(fabs(got / exact - 1) < 1e-3);
    assert_true(fabs(end->position[1]) < 1e-9 && played_speed(&p) < 1e-9);
    assert_true(p.report.iterations_max <= 3);
    played_energy(&p);
    played_free(&p);
}
