/*
 * Bodies that touch by the tractions of Elandt 2019 (contact/compare/tractions.h), against exact
 * answers: the wrench of the surface, its damping, the creep of regularised friction on a slope,
 * the limits of the explicit step, and torsion; and where the solver of the library does better.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/compare/tractions_internal.h"
#include "contact/world/constraint.h"
#include "support/campaign.h"
#include "support/field_bodies.h"
#include "support/field_patch.h"

#define G 9.81
#define PI 3.14159265358979323846
#define SQUARE_ARM 0.3825978 /* torsion arm of a uniform pressure on a square over its side */

static struct traction_law make_traction_law(double friction, int points)
{
    return (struct traction_law){.friction = friction, .slip_speed = 1e-3, .points = points};
}

/* Tractions of two fields, the first at the origin, with the first moving by a twist there. */
static struct traction_sums tractions_of_fields(const struct tact_pressure_field *a,
                                                const struct tact_pressure_field *b,
                                                const struct tact_pose *place,
                                                const double twist[6],
                                                const struct traction_law *law)
{
    const struct tact_pose at = tact_pose_identity();
    struct traction_sums sums = {.load = 0.0};
    struct contact_surface_of_fields surface;
    assert_int_equal(
        tact_field_find_contact_surface(a, &at, b, place, shared_field_scratch(), &surface), 1);
    assert_int_equal(surface.swapped, 0);
    tact_tractions_add_surface(&surface, twist, law, &sums);
    return sums;
}

/* A soft ball of few tetrahedra on a soft block. */
struct pressed_ball {
    struct tact_pressure_field *block, *ball;
    struct tact_pose up;
};

static struct pressed_ball press_ball_on_block(void)
{
    return (struct pressed_ball){
        field_box(0.03, 0.03, 0.02, 1e5, 4), make_ball_field(0.03, 2e5, 1),
        pose_from_position_and_rotation(0.004, -0.003, 0.044, 0.3, -0.2, 0.4)};
}

static void free_pressed_ball(struct pressed_ball *p)
{
    tact_field_free(p->block);
    tact_field_free(p->ball);
}

/* At rest, the tractions at three points of each
 * triangle are the elastic wrench; at one point, as VI-B2 can be read, the torque is not. */
static void three_points_integrate_the_elastic_wrench(void **state)
{
    (void)state;
    const double rest[6] = {0.0};
    const struct tact_pose at = tact_pose_identity();
    struct pressed_ball p = press_ball_on_block();
    struct tact_field_contact contact;
    double exact[6], off[4][2] = {{0.0}};
    assert_int_equal(find_field_contact(p.block, &at, p.ball, &p.up, &contact), 1);
    field_wrench_about_point(&contact, at.position, exact);
    for (int points = 1; points <= 3; points += 2) {
        const struct traction_law law = make_traction_law(0.5, points);
        const struct traction_sums sums = tractions_of_fields(p.block, p.ball, &p.up, rest, &law);
        for (int k = 0; k < 3; k++) { /* on the ball, opposite to the wrench on the block */
            off[points][0] = fmax(off[points][0], fabs(sums.force[k] + exact[k]));
            off[points][1] = fmax(off[points][1], fabs(sums.torque[k] + exact[3 + k]));
        }
        off[points][0] /= tact_v3_norm(exact);
        off[points][1] /= tact_v3_norm(exact + 3);
        print_message("%d points: force within %.1e, torque within %.1e\n", points, off[points][0],
                      off[points][1]);
    }
    assert_true(off[3][0] < 1e-13 && off[3][1] < 1e-13);
    assert_true(off[1][0] < 1e-13 && off[1][1] > 1e-3);
    free_pressed_ball(&p);
}

/* The damping of a Kelvin-Voigt layer pressed head-on is its relaxation time times the stiffness,
 * and less where it is pressed obliquely; that of Hunt and Crossley is in proportion to the
 * pressure, and no traction pulls. */
static void damping_follows_stiffness_and_pressure(void **state)
{
    (void)state;
    /* the layer, a cell without faces, is the first field beside a rigid box, the second beside a
     * soft one */
    const struct tact_pose sunk = pose_from_position_and_rotation(0.0, 0.0, 0.009, 0.0, 0.0, 0.0),
                           below =
                               pose_from_position_and_rotation(0.0, 0.0, -0.0099, 0.0, 0.0, 0.0);
    const double area = 0.04 * 0.04, load = 1e6 * 0.001 * area, leaving[6] = {0.0, 0.0, -1.0};
    struct tact_mesh *mesh;
    struct tact_pressure_field *layer = make_halfspace_field(1e6),
                               *rigid_box = make_rigid_box_field(0.02, 0.02, 0.01, &mesh),
                               *soft_box = field_box(0.02, 0.02, 0.01, 3e4, 4);
    struct traction_law law = make_traction_law(0.0, 3);
    law.hunt_crossley = 2.0;
    for (int i = -1; i < 2; i++) {
        const double twist[6] = {0.0, 0.0, i * 0.25};
        const struct traction_sums sums = tractions_of_fields(layer, rigid_box, &sunk, twist, &law);
        assert_true(fabs(sums.force[2] / load - (1.0 + 0.5 * i)) < 1e-12);
    }
    const struct traction_sums left = tractions_of_fields(layer, rigid_box, &sunk, leaving, &law);
    assert_true(left.force[2] == 0.0);
    law.hunt_crossley = 0.0;
    law.dissipation = 1e-3;
    for (int i = -1; i < 2; i++) {
        const double twist[6] = {0.0, 0.0, i * 0.01};
        const struct traction_sums rigid =
            tractions_of_fields(layer, rigid_box, &sunk, twist, &law);
        const struct traction_sums soft = tractions_of_fields(soft_box, layer, &below, twist, &law);
        /* 1e6 and 3e6 Pa/m in series, 0.1 mm deep; less at the edges of the soft box */
        const double series = 7.5e5 * area * 1e-4;
        print_message("approach %g m/s: rigid box %.6f, soft box %.6f of their forces at rest\n",
                      twist[2], rigid.force[2] / load, -soft.force[2] / series);
        assert_true(fabs(rigid.force[2] / load - (1.0 + 0.01 * i)) < 1e-12);
        assert_true(fabs(-soft.force[2] / series - (1.0 - 0.1 * i)) < 0.01);
    }
    const double coming[6] = {0.0, 0.0, 1e-6}, rest[6] = {0.0};
    const struct tact_pose at = tact_pose_identity();
    struct pressed_ball p = press_ball_on_block();
    struct tact_field_contact contact;
    assert_int_equal(find_field_contact(p.block, &at, p.ball, &p.up, &contact), 1);
    const double damping = (tractions_of_fields(p.block, p.ball, &p.up, coming, &law).force[2] -
                            tractions_of_fields(p.block, p.ball, &p.up, rest, &law).force[2]) /
                           1e-6;
    const double ratio = damping / (law.dissipation * contact.stiffness[14]);
    print_message("oblique: damping %.4f of the relaxation time times the stiffness\n", ratio);
    assert_true(ratio > 0.9 && ratio < 0.99);
    free_pressed_ball(&p);
    tact_field_free(layer);
    tact_field_free(rigid_box);
    tact_field_free(soft_box);
    tact_mesh_free(mesh);
}

/* Torque of a uniform pressure on a square punch of n x n pairs of triangles that spins at 1e4
 * times the slip speed, over mu N and its side. */
static double spin_arm_of_square_punch(int n, int points)
{
    const double half = 0.02, depth = 1e-8, twist[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 500.0};
    struct tact_mesh *mesh = make_triangulated_plane(half, n, 0.0);
    struct tact_pressure_field *layer = make_halfspace_field(1e9), *punch;
    const struct tact_pose down = pose_from_position_and_rotation(0.0, 0.0, -depth, PI, 0.0, 0.0);
    const struct traction_law law = make_traction_law(0.5, points);
    assert_int_equal(tact_field_rigid(mesh, &punch), 0);
    const struct traction_sums sums = tractions_of_fields(layer, punch, &down, twist, &law);
    double arm = sums.torque[2] / (law.friction * sums.load * 2.0 * half);
    tact_field_free(layer);
    tact_field_free(punch);
    tact_mesh_free(mesh);
    return arm;
}

/* Torsion by quadrature over the polygons depends on the mesh, and converges to the exact arm. */
static void torsion_converges_to_exact_quadrature(void **state)
{
    (void)state;
    double off[4][4];
    for (int points = 1; points <= 3; points += 2) {
        for (int i = 0; i < 4; i++) {
            off[points][i] = spin_arm_of_square_punch(1 << i, points) / SQUARE_ARM - 1.0;
            print_message("%d points, %d triangles: torsion off by %+.4f\n", points, 2 << 2 * i,
                          off[points][i]);
        }
        assert_true(fabs(off[points][0]) > 1e-2 &&
                    fabs(off[points][3]) < (points == 1 ? 5e-3 : 3e-4));
    }
}

/* A soft square block on a rigid plane that is tilted by a slope; dissipation ends its rocking. */
static void open_block_on_slope(struct world_scene *s, double slope, double mu, double period,
                                double *pressed)
{
    const double side = 0.04, height = 0.02, mass = 0.1, k = 1e6 / 0.01;
    struct tact_world_options o = options_with_tilted_gravity(slope);
    struct tact_contact_law law = make_friction_law(mu, 1e-3, 0.0);
    struct tact_shape box = box_of_sides(side, side, height);
    *pressed = mass * G * cos(slope) / (k * side * side);
    const double place[3] = {0.0, 0.0, 0.5 * height - *pressed};
    o.period = period;
    open_empty_scene(s, &o);
    set_pressure_field_material(s, 1, 1e6, 0.01);
    add_scene_ground(s);
    add_scene_solid(s, &box, mass, place, 0.0);
    set_scene_contact_law(s, 0, 1, &law);
    finish_scene_building(s);
}

static struct tact_tractions *make_tractions(struct world_scene *s, double slip_speed)
{
    struct tact_tractions_options options = tact_tractions_options_default();
    struct tact_tractions *t;
    struct tact_error err;
    options.slip_speed = slip_speed;
    const int rc = tact_tractions_create(s->world, &options, &t, &err);
    if (rc) {
        print_message("%s\n", err.text);
    }
    assert_int_equal(rc, 0);
    return t;
}

/* On a slope below the friction angle the block creeps at s tan / sqrt(mu^2 - tan^2), s the slip
 * speed of the regularisation; the solver keeps it at rest. */
static void block_on_slope_creeps_at_the_closed_form(void **state)
{
    (void)state;
    const double slope = 0.3, mu = 0.5, tangent = tan(slope);
    struct world_scene s;
    double pressed;
    for (int i = 0; i < 2; i++) {
        const double slip_speed = i ? 1e-4 : 1e-3, period = 2e-6 * (i ? 1.0 : 10.0),
                     exact = slip_speed * tangent / sqrt(mu * mu - tangent * tangent);
        open_block_on_slope(&s, slope, mu, period, &pressed);
        struct tact_tractions *t = make_tractions(&s, slip_speed);
        const struct tact_body *body = tact_world_body(s.world, 0);
        double from = 0.0, to = 0.0;
        int steps = i ? 20000 : 4000;
        for (int n = 0; n < steps; n++) {
            from = n == 3 * steps / 4 ? body->pose.position[0] : from;
            assert_int_equal(tact_tractions_step(t), 0);
        }
        to = body->pose.position[0];
        const struct tact_traction_contact *c = tact_tractions_contact(t, 0);
        double creep = (to - from) / (0.25 * steps * period);
        print_message("slip speed %g m/s: creeps at %.9f of %.6e m/s, slip %.9f, load %.9f, "
                      "friction %.9f of the weight's\n",
                      slip_speed, creep / exact, exact, c->slip / exact,
                      c->load / (0.1 * G * cos(slope)), c->friction / (0.1 * G * sin(slope)));
        assert_true(fabs(creep / exact - 1.0) < 1e-4 && fabs(c->slip / exact - 1.0) < 1e-4);
        assert_true(fabs(c->load / (0.1 * G * cos(slope)) - 1.0) < 1e-4);
        assert_true(fabs(c->friction / (0.1 * G * sin(slope)) - 1.0) < 1e-4);
        assert_true(tact_tractions_report(t)->contacts == 1 && c->pair == 0 &&
                    tact_tractions_report(t)->steps == steps);
        tact_tractions_destroy(t);
        close_scene(&s);
    }
    open_block_on_slope(&s, slope, mu, 1e-3, &pressed);
    run_scene_for_seconds(&s, 0.2);
    const double position_at_rest = tact_world_body(s.world, 0)->pose.position[0];
    run_scene_for_seconds(&s, 0.2);
    const double moved = tact_world_body(s.world, 0)->pose.position[0] - position_at_rest;
    print_message("the solver: moved %.1e m in 0.2 s\n", moved);
    assert_true(fabs(moved) < 1e-15);
    close_scene(&s);
}

/* Slip speed of the block on a level plane after steps of a period, over that at the start; and
 * period times rate of its friction, as the report has it. */
static double growth_of_slip(double period, double slip_speed, int steps, double *stiffest)
{
    struct world_scene s;
    double pressed;
    open_block_on_slope(&s, 0.0, 0.5, period, &pressed);
    struct tact_tractions *t = make_tractions(&s, slip_speed);
    struct tact_body *body = tact_world_body(s.world, 0);
    const double start = 1e-6 * slip_speed;
    body->twist[0] = start;
    for (int n = 0; n < steps; n++) {
        assert_int_equal(tact_tractions_step(t), 0);
    }
    double end = fabs(body->twist[0]);
    *stiffest = tact_tractions_report(t)->stiffest;
    tact_tractions_destroy(t);
    close_scene(&s);
    return end / start;
}

/* Friction at no slip is a damper of mu N / s at the bottom of the block, which slides and tilts by
 * it: the explicit step is stable up to 2 over mu N / s (1 / m + (height / 2)^2 / I). */
static void friction_is_stable_up_to_the_exact_step(void **state)
{
    (void)state;
    const double slip_speed = 1e-5, mass = 0.1, inertia = mass * (0.04 * 0.04 + 0.02 * 0.02) / 12.0;
    const double damping = 0.5 * mass * G / slip_speed;
    const double limit = 2.0 / (damping * (1.0 / mass + 0.01 * 0.01 / inertia));
    double stiffest;
    double below = growth_of_slip(0.98 * limit, slip_speed, 400, &stiffest);
    print_message("at 0.98 of %.3e s the slip grows by %.2e, period times rate %.5f\n", limit,
                  below, stiffest);
    assert_true(below < 0.5 && fabs(stiffest / 1.96 - 1.0) < 2e-3);
    double above = growth_of_slip(1.02 * limit, slip_speed, 400, &stiffest);
    print_message("at 1.02 of it by %.2e, period times rate %.5f\n", above, stiffest);
    assert_true(above > 10.0 && fabs(stiffest / 2.04 - 1.0) < 2e-3);
}

/* Largest distance from its depth at rest of a rigid box that bounces on a soft layer, over that at
 * the start. */
static double growth_of_bounce(double period_times_frequency)
{
    const double side = 0.04, mass = 0.1, k = 1e6 / 0.01 * side * side, depth = mass * G / k;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_friction_law(0.0, 0.0, 0.0);
    struct tact_shape box = box_of_sides(side, side, side);
    struct world_scene s;
    const double place[3] = {0.0, 0.0, 0.5 * side - 1.001 * depth};
    double most = 0.0;
    o.period = period_times_frequency / sqrt(k / mass);
    open_empty_scene(&s, &o);
    set_pressure_field_material(&s, 0, 1e6, 0.01);
    add_scene_ground(&s);
    add_scene_solid(&s, &box, mass, place, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_tractions *t = make_tractions(&s, 1e-3);
    for (int n = 0; n < 400; n++) {
        assert_int_equal(tact_tractions_step(t), 0);
        double off = tact_world_body(s.world, 0)->pose.position[2] - 0.5 * side + depth;
        most = fmax(most, fabs(off) / (0.001 * depth));
    }
    tact_tractions_destroy(t);
    close_scene(&s);
    return most;
}

/* The explicit step of a spring is stable up to 2 over its frequency; the solver's is at any. */
static void bounce_is_stable_up_to_the_exact_step(void **state)
{
    (void)state;
    double below = growth_of_bounce(1.98), above = growth_of_bounce(2.02);
    print_message("period times frequency 1.98: bounces grow by %.1f; 2.02: by %.1e\n", below,
                  above);
    assert_true(below < 10.0 && above > 100.0);
}

/* Boxes thrown on a soft layer, in explicit ticks of 1 ms: most pass the energy with which they
 * began, which none by the solver does (test_field_model). */
static void dropped_boxes_gain_energy_in_explicit_steps(void **state)
{
    (void)state;
    const int drops = campaign_trial_count(10, 40);
    int all_gained = 0;
    for (int e = 5; e < 9; e++) {
        int gained = 0, lost = 0;
        for (int n = 0; n < drops; n++) {
            struct tact_world_options o = tact_world_options_default();
            struct tact_contact_law law = make_friction_law(0.0, 0.0, 0.0);
            struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
            const double place[3] = {0.0, 0.0, 0.075};
            struct world_scene s;
            double most = 0.0;
            int rc = 0;
            open_empty_scene(&s, &o);
            set_pressure_field_material(&s, 0, pow(10.0, e), 0.01);
            add_scene_ground(&s);
            add_scene_solid(&s, &box, 0.1, place, 0.0);
            struct tact_body *body = tact_world_body(s.world, 0);
            random_unit_quaternion(body->pose.quat_wxyz);
            for (int k = 0; k < 3; k++) {
                body->twist[3 + k] = uniform(-8.0, 8.0);
            }
            set_scene_contact_law(&s, 0, 1, &law);
            finish_scene_building(&s);
            struct tact_tractions *t = make_tractions(&s, 1e-3);
            const double start = compute_phase_corrected_energy(&s);
            for (int i = 0; i < 400 && !rc; i++) {
                rc = tact_tractions_step(t);
                most = fmax(most, compute_phase_corrected_energy(&s) / start - 1.0);
            }
            gained += most > 1e-6;
            lost += most > 10.0;
            tact_tractions_destroy(t);
            close_scene(&s);
        }
        print_message("E 1e%d: of %d drops %d gained energy, %d ten times the start's\n", e, drops,
                      gained, lost);
        all_gained += gained;
    }
    assert_true(all_gained > 2 * drops);
}

/* Two bodies that meet without gravity, rub and spin keep their momentum and angular momentum, and
 * the contact's wrench is what changes that of the first shape's body. */
static void tractions_keep_momentum(void **state)
{
    (void)state;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_friction_law(0.5, 1e-3, 0.1);
    struct tact_shape box = box_of_sides(0.04, 0.03, 0.02), ball = make_sphere(0.02);
    struct world_scene s;
    for (int i = 0; i < 3; i++) { /* rigid and soft, soft and rigid, both soft */
        const double place[2][3] = {{0.003, -0.002, 0.0}, {0.0, 0.0, 0.0295}};
        double before[6] = {0.0}, after[6] = {0.0};
        o.period = 1e-5;
        tact_v3_set(o.gravity, 0.0, 0.0, 0.0);
        open_empty_scene(&s, &o);
        set_pressure_field_material(&s, 0, i ? 1e6 : 0.0, 0.01);
        set_pressure_field_material(&s, 1, i == 1 ? 0.0 : 1e6, 0.01);
        add_scene_solid_of_material(&s, &box, 0.1, place[0], 0);
        add_scene_solid_of_material(&s, &ball, 0.05, place[1], 1);
        struct tact_body *body[2] = {tact_world_body(s.world, 0), tact_world_body(s.world, 1)};
        tact_v3_set(body[1]->twist, 0.3, -0.2, -0.5);
        tact_v3_set(body[0]->twist + 3, 5.0, -3.0, 8.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_tractions *t = make_tractions(&s, 1e-3);
        for (int n = 0; n < 300; n++) {
            double momentum[6] = {0.0}, was[3], spin[3], lever[3];
            for (int k = 0; k < 2; k++) {
                tact_body_momentum(body[k], spin);
                tact_v3_cross(lever, body[k]->pose.position, body[k]->twist);
                tact_v3_axpy(momentum, body[k]->mass, body[k]->twist);
                tact_v3_axpy(spin, body[k]->mass, lever);
                tact_v3_add(momentum + 3, momentum + 3, spin);
            }
            memcpy(n ? after : before, momentum, sizeof momentum);
            tact_v3_copy(was, body[0]->twist);
            assert_int_equal(tact_tractions_step(t), 0);
            const struct tact_traction_contact *c = tact_tractions_contact(t, 0);
            assert_non_null(c);
            tact_v3_sub(was, body[0]->twist, was);
            tact_v3_axpy(was, -o.period / body[0]->mass, c->wrench);
            assert_true(tact_v3_norm(was) < 1e-14 && c->polygons > 3 && c->slip > 0.0);
        }
        assert_true(fabs(body[0]->twist[2]) > 0.05);
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(after[k] - before[k]) < (k < 3 ? 1e-14 : 1e-15));
        }
        tact_tractions_destroy(t);
        close_scene(&s);
    }
}

/* Tractions along a path over corners and edges change by less in finer steps: polygons that appear
 * or vanish have no area then. */
static void tractions_are_continuous(void **state)
{
    (void)state;
    const struct traction_law law = make_traction_law(0.5, 3);
    const double twist[6] = {0.01, -0.02, 0.001, 1.0, -2.0, 3.0};
    struct tact_pressure_field *block = field_box(0.03, 0.03, 0.02, 1e5, 4),
                               *ball = make_ball_field(0.03, 2e5, 1);
    double jump[2] = {0.0};
    for (int fine = 0; fine < 2; fine++) {
        const int steps = fine ? 16000 : 1000;
        double last[6] = {0.0}, most = 0.0;
        for (int n = 0; n <= steps; n++) {
            const double along = 2.0 * PI * n / steps;
            const struct tact_pose up = pose_from_position_and_rotation(
                0.01 * cos(along), 0.01 * sin(along), 0.045 + 0.002 * sin(3.0 * along),
                0.3 * sin(along), 0.2 * cos(along), 0.4);
            struct traction_sums sums = tractions_of_fields(block, ball, &up, twist, &law);
            for (int k = 0; k < 6; k++) {
                double is = k < 3 ? sums.force[k] : sums.torque[k - 3] / 0.01;
                jump[fine] = n ? fmax(jump[fine], fabs(is - last[k])) : 0.0;
                last[k] = is;
            }
            most = fmax(most, tact_v3_norm(last));
        }
        jump[fine] /= most;
        print_message("%d steps: tractions change by at most %.2e of the largest force\n", steps,
                      jump[fine]);
    }
    assert_true(jump[1] < 0.07 * jump[0]);
    tact_field_free(block);
    tact_field_free(ball);
}

static void worlds_that_tractions_do_not_support_are_refused(void **state)
{
    (void)state;
    struct tact_tractions_options options = tact_tractions_options_default();
    struct tact_contact_law law = make_friction_law(0.5, 0.0, 0.0);
    struct tact_shape box = box_of_sides(0.04, 0.04, 0.02);
    const double place[3] = {0.0, 0.0, 0.01};
    struct tact_tractions *t;
    struct tact_error err;
    struct world_scene s;
    double pressed;
    open_block_on_slope(&s, 0.0, 0.5, 1e-3, &pressed);
    options.points = 2;
    assert_int_equal(tact_tractions_create(s.world, &options, &t, &err), -EINVAL);
    assert_string_equal(err.text, "points: 2 is not 1 or 3");
    options.points = 1;
    options.slip_speed = 0.0;
    assert_int_equal(tact_tractions_create(s.world, &options, &t, &err), -EINVAL);
    assert_non_null(strstr(err.text, "slip_speed: 0 is out of range"));
    close_scene(&s);
    options = tact_tractions_options_default();
    for (int i = 0; i < 3; i++) {
        open_empty_scene(&s, NULL);
        set_pressure_field_material(&s, 0, 1e6, 0.01);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, 0.1, place, 0.0);
        struct tact_contact_law of = i == 1 ? make_rigid_law(0.5) : law;
        of.tangential_compliance = i == 2 ? 1e-4 : 0.0;
        set_scene_contact_law(&s, 0, 1, &of);
        struct tact_constraint joint;
        const struct tact_pose frame = tact_pose_identity();
        const struct tact_owner body = {TACT_OWNER_BODY, 0, 0}, fixed = {TACT_OWNER_FIXED, 0, 0};
        assert_int_equal(
            tact_constraint_between(s.world, TACT_CONSTRAINT_HINGE, body, fixed, &frame, &joint),
            0);
        assert_true(i || tact_world_add_constraint(s.world, &joint) >= 0);
        finish_scene_building(&s);
        assert_int_equal(tact_tractions_create(s.world, &options, &t, &err), -ENOTSUP);
        static const char *const why[] = {"the world has joints",
                                          "the contact model of a pair is volume, not field",
                                          "a contact has a tangential_compliance"};
        assert_string_equal(err.text, why[i]);
        assert_null(t);
        close_scene(&s);
    }
    tact_tractions_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_points_integrate_the_elastic_wrench),
        cmocka_unit_test(damping_follows_stiffness_and_pressure),
        cmocka_unit_test(torsion_converges_to_exact_quadrature),
        cmocka_unit_test(block_on_slope_creeps_at_the_closed_form),
        cmocka_unit_test(friction_is_stable_up_to_the_exact_step),
        cmocka_unit_test(bounce_is_stable_up_to_the_exact_step),
        cmocka_unit_test(dropped_boxes_gain_energy_in_explicit_steps),
        cmocka_unit_test(tractions_keep_momentum),
        cmocka_unit_test(tractions_are_continuous),
        cmocka_unit_test(worlds_that_tractions_do_not_support_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
