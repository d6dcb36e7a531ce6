/* Coins and cylinders come to rest; energy never rises by more than the work of stabilisation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

/* Energy balance of a run. */
struct energy_balance {
    double start, end; /* energy of the bodies at the start and at the end [J] */
    double largest_unexplained_energy_rise; /* rise in a tick beyond the work of the contacts'
                                               normal forces [J] */
    double positive_normal_work;            /* positive work of the contacts' normal forces [J] */
    double negative_normal_work;            /* negative work of the contacts' normal forces [J] */
    double friction;                        /* work of friction and spin [J]: never positive */
    double largest_positive_friction_work;  /* largest positive work of friction of a contact in a
                                    solved tick  [J] */
    double coming_to_rest_time; /* first time after which nothing moved faster than 1e-3 m/s or
                                   rad/s */
};

static void run_with_energy_balance(struct world_scene *s, double seconds,
                                    struct energy_balance *out)
{
    double h = s->options.period;
    memset(out, 0, sizeof *out);
    out->start = compute_scene_energy(s);
    out->end = out->start;
    for (long n = lround(seconds / h); n > 0; n--) {
        double work = 0;
        solve_scene_velocities(s);
        for (int i = tact_world_next_pair(s->world, -1); i >= 0;
             i = tact_world_next_pair(s->world, i)) {
            double normal, friction;
            compute_contact_power(s, i, &normal, &friction);
            work += normal * h;
            /* tolerance for unsolved ticks, in which friction is not yet opposite to slip */
            work += s->stats.residual <= 1e-8 ? 0 : fmax(friction, 0) * h;
            out->positive_normal_work += fmax(normal, 0) * h;
            out->negative_normal_work += fmin(normal, 0) * h;
            out->friction += friction * h;
            if (s->stats.residual <= 1e-8) {
                out->largest_positive_friction_work =
                    fmax(out->largest_positive_friction_work, friction * h);
            }
        }
        tact_world_integrate(s->world);
        double now = compute_scene_energy(s), energy_rise = now - out->end - work;
        out->largest_unexplained_energy_rise =
            fmax(out->largest_unexplained_energy_rise, energy_rise);
        out->end = now;
        for (int i = 0; i < tact_world_body_count(s->world); i++) {
            const struct tact_body *b = tact_world_body(s->world, i);
            if (tact_v3_norm(b->twist) > 1e-3 || tact_v3_norm(b->twist + 3) > 1e-2) {
                out->coming_to_rest_time = (double)s->ticks * h;
            }
        }
    }
    print_message(
        "    energy %.3e -> %.3e J, rise beyond contact work %.1e, pushed %.1e, absorbed "
        "%.1e, friction %.1e (worst %.1e); at rest from %.3f s; %d sweeps, residual %.1e, "
        "unsolved %ld of %ld\n",
        out->start, out->end, out->largest_unexplained_energy_rise, out->positive_normal_work,
        out->negative_normal_work, out->friction, out->largest_positive_friction_work,
        out->coming_to_rest_time, s->max_tick_iterations, s->worst_residual, s->unsolved_ticks,
        s->ticks);
}

/* Checks the energy balance of a run: bodies gain no more energy than the work of the normal
 * forces, friction adds none, and the normal forces' positive work is that of opening overlaps. */
static void check_energy_balance(const struct energy_balance *e)
{
    double slack = 1e-12 * (fabs(e->start) + fabs(e->end));
    assert_true(e->largest_unexplained_energy_rise <= slack);
    assert_true(e->largest_positive_friction_work <= 1e-6 * fabs(e->start));
    assert_true(e->end <= e->start + e->positive_normal_work + slack);
}

static int start_dropped_body(struct world_scene *s, int is_coin, double mu, double up,
                              double lean_angle, double yaw)
{
    struct tact_contact_law law = make_rigid_law(mu);
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    struct tact_shape shape = is_coin ? make_cylinder_mesh_shape(s, 0.012, 0.002, 64)
                                      : make_cylinder_mesh_shape(s, 0.03, 0.1, 64);
    const double at[3] = {0, 0, up};
    int b = add_scene_solid(s, &shape, is_coin ? 0.008 : 0.3, at, yaw);
    struct tact_body *body = tact_world_body(s->world, b);
    /* lean: rotation about x; at 90 degrees the coin is on its edge and the cylinder on its side */
    const double q[4] = {cos(0.5 * lean_angle), sin(0.5 * lean_angle), 0, 0};
    memcpy(body->pose.quat_wxyz, q, sizeof q);
    tact_world_refresh(s->world);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
    return b;
}

/* A cylinder dropped at a slant tumbles and comes to rest within 3 s. */
static void a_dropped_cylinder_comes_to_rest(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct world_scene s;
        struct energy_balance e;
        int b = start_dropped_body(&s, 0, 0.4, 0.1, 0.3 + 0.4 * i, 0);
        tact_world_body(s.world, b)->twist[0] = 0.3;
        tact_world_body(s.world, b)->twist[3] = 2;
        run_with_energy_balance(&s, 5, &e);
        print_message("cylinder %d: tilt %.3f deg\n", i,
                      body_tilt_from_vertical(&s, b) * 180 / M_PI);
        check_energy_balance(&e);
        assert_true(e.coming_to_rest_time < 2);
        close_scene(&s);
    }
}

/* A coin rolling on its edge, and one spun about its diameter. */
static void spinning_coin_comes_to_rest(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world_scene s;
        struct energy_balance e;
        int b = start_dropped_body(&s, 1, 0.4, 0.012 - 1e-5, 0.5 * M_PI - 0.3, 0);
        struct tact_body *body = tact_world_body(s.world, b);
        if (i == 0) {
            body->twist[0] = 0.3;
            body->twist[4] = 0.3 / 0.012;
        } else {
            body->twist[5] = 40;
        }
        run_with_energy_balance(&s, 8, &e);
        print_message("coin %d: tilt %.3f deg, speed %.1e m/s, spin %.1e rad/s\n", i,
                      body_tilt_from_vertical(&s, b) * 180 / M_PI, tact_v3_norm(body->twist),
                      tact_v3_norm(body->twist + 3));
        check_energy_balance(&e);
        assert_true(e.coming_to_rest_time < 5);
        close_scene(&s);
    }
}

/* A heap of boxes, balls and cylinders thrown together. */
static void heap_of_bodies_gains_no_energy(void **state)
{
    (void)state;
    for (int mu = 0; mu < 3; mu++) {
        struct world_scene s;
        struct energy_balance e;
        struct tact_contact_law law = make_rigid_law(0.4 * mu);
        open_empty_scene(&s, NULL);
        add_scene_ground(&s);
        for (int i = 0; i < 9; i++) {
            struct tact_shape shape = i % 3 == 0   ? box_of_sides(0.05, 0.04, 0.06)
                                      : i % 3 == 1 ? make_sphere(0.03)
                                                   : make_cylinder_mesh_shape(&s, 0.025, 0.05, 24);
            const double at[3] = {0.05 * (i % 3) + 0.006 * i, 0.06 * (i / 3 % 2),
                                  0.05 + 0.07 * (i / 3)};
            int b = add_scene_solid(&s, &shape, 0.1 + 0.05 * i, at, 0.3 * i);
            double *twist = tact_world_body(s.world, b)->twist;
            twist[0] = -0.2 * i + 0.6;
            twist[3] = i - 4;
            twist[4] = 5 - i;
        }
        set_scene_contact_law(&s, 0, 1, &law);
        set_scene_contact_law(&s, 1, 1, &law);
        finish_scene_building(&s);
        run_with_energy_balance(&s, 3, &e);
        check_energy_balance(&e);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dropped_cylinder_comes_to_rest),
        cmocka_unit_test(spinning_coin_comes_to_rest),
        cmocka_unit_test(heap_of_bodies_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
