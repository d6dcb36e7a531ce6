/* Torsion of a patch: a flat disc, a Hertz contact, and a disc that stops sliding and spinning at
 * once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double G = 9.81, MU = 0.5, RADIUS = 0.05, MASS = 0.4;

/* Adds a flat disc on the floor with a velocity and spin; returns its index. */
static int add_spinning_disc(struct world_scene *s, double speed, double spin)
{
    struct tact_contact_law law = make_rigid_law(MU);
    const double at[3] = {0, 0, 0.005 - 2e-5};
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    struct tact_shape disc = make_cylinder_mesh_shape(s, RADIUS, 0.01, 128);
    int b = add_scene_solid(s, &disc, MASS, at, 0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    tact_world_body(s->world, b)->twist[0] = speed;
    tact_world_body(s->world, b)->twist[5] = spin;
    return b;
}

/* A spinning flat disc decelerates at (2/3) mu N R / I, I = m R^2 / 2. */
static void torsion_of_a_flat_disc_is_exact(void **state)
{
    (void)state;
    struct world_scene s;
    int b = add_spinning_disc(&s, 0, 60);
    run_scene_for_seconds(&s, 0.2);
    double rate = (60 - tact_world_body(s.world, b)->twist[5]) / 0.2;
    double exact = 2.0 / 3 * MU * G * RADIUS / (0.5 * RADIUS * RADIUS);
    print_message("flat disc: %.4f rad/s^2, exact %.4f: off by %.3f %%\n", rate, exact,
                  100 * (rate / exact - 1));
    assert_true(fabs(rate / exact - 1) < 6e-4);
    assert_true(
        hypot(tact_world_body(s.world, b)->twist[0], tact_world_body(s.world, b)->twist[1]) < 1e-9);
    close_scene(&s);
}

/* A ball spinning about the vertical has Hertz's friction torque (3 pi / 16) mu N a with a = (3 N R
 * / (4 E*))^(1/3). */
static void torsion_of_a_hertz_contact_is_exact(void **state)
{
    (void)state;
    const double modulus[2] = {3e5, 3e7};
    for (int i = 0; i < 2; i++) {
        struct world_scene s;
        struct tact_contact_law law = make_rigid_law(MU);
        struct tact_shape ball = make_sphere(RADIUS);
        const double at[3] = {0, 0, RADIUS - 4e-5};
        law.modulus = modulus[i];
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        int b = add_scene_solid(&s, &ball, MASS, at, 0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        tact_world_body(s.world, b)->twist[5] = 60;
        run_scene_for_seconds(&s, 0.2);
        double rate = (60 - tact_world_body(s.world, b)->twist[5]) / 0.2, n = MASS * G;
        double a = cbrt(3 * n * RADIUS / (4 * modulus[i]));
        double exact = 3 * M_PI / 16 * MU * n * a / (0.4 * MASS * RADIUS * RADIUS);
        print_message("Hertz, E* %.0e: %.5f rad/s^2, exact %.5f: off by %.3f %%\n", modulus[i],
                      rate, exact, 100 * (rate / exact - 1));
        assert_true(fabs(rate / exact - 1) < 5e-4);
        close_scene(&s);
    }
}

/* A fingertip whose patch grows as c N^g: (3 pi / 16) mu N c N^g, at two weights. */
static void torsion_of_a_fingertip_is_exact(void **state)
{
    (void)state;
    const double c = 3e-3, power[3] = {0, 0.2, 1.0 / 3};
    for (int i = 0; i < 6; i++) {
        struct world_scene s;
        struct tact_contact_law law = make_rigid_law(MU);
        struct tact_shape ball = make_sphere(RADIUS);
        const double at[3] = {0, 0, RADIUS - 4e-5}, mass = i % 2 ? 1.6 : 0.2;
        law.tip_radius = c;
        law.tip_power = power[i / 2];
        law.modulus = 1e5; /* law.tip_radius has priority over this modulus */
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        int b = add_scene_solid(&s, &ball, mass, at, 0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_body *body = tact_world_body(s.world, b);
        body->twist[5] = 60;
        run_scene_for_seconds(&s, 0.2);
        double rate = (60 - body->twist[5]) / 0.2, n = mass * G;
        double inertia = 0.4 * mass * RADIUS * RADIUS;
        double exact = 3 * M_PI / 16 * MU * n * c * pow(n, law.tip_power) / inertia;
        print_message("fingertip, %.2f N, power %.2f: %.5f rad/s^2, exact %.5f: off by %.3f %%\n",
                      n, law.tip_power, rate, exact, 100 * (rate / exact - 1));
        assert_true(fabs(rate / exact - 1) < 1e-5);
        close_scene(&s);
    }
}

/* A disc that slides and spins stops doing both at once (Farkas et al. 2003). */
static void sliding_and_spinning_of_a_disc_stop_together(void **state)
{
    (void)state;
    const double start_spins[3] = {5, 20, 60};
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        int b = add_spinning_disc(&s, 0.5, start_spins[i]);
        const struct tact_body *body = tact_world_body(s.world, b);
        double sliding_speed = 0, spin = 0, t = 0;
        while (t < 1.5 && (sliding_speed == 0 || spin == 0)) {
            step_scene(&s);
            t += s.options.period;
            sliding_speed = sliding_speed == 0 && hypot(body->twist[0], body->twist[1]) < 1e-9
                                ? t
                                : sliding_speed;
            spin = spin == 0 && fabs(body->twist[5]) < 1e-8 ? t : spin;
        }
        print_message("0.5 m/s and %.0f rad/s: slides %.3f s, spins %.3f s\n", start_spins[i],
                      sliding_speed, spin);
        assert_true(sliding_speed > 0 && spin > 0 && fabs(sliding_speed - spin) < 0.0025);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torsion_of_a_flat_disc_is_exact),
        cmocka_unit_test(torsion_of_a_hertz_contact_is_exact),
        cmocka_unit_test(torsion_of_a_fingertip_is_exact),
        cmocka_unit_test(sliding_and_spinning_of_a_disc_stop_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
