/*
 * The contact model of pressure fields in motion: rest, drops, torsion and a pinch, against exact
 * answers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/field/field_model_internal.h"
#include "support/field_patch.h"
#include "support/field_triangulation.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81
#define PI 3.14159265358979323846

/* A soft box on a rigid half-space, or a rigid box on a soft one, sinks by its weight over the
 * layer's stiffness. */
static void soft_box_rests_at_its_exact_depth(void **state)
{
    (void)state;
    for (int i = 0; i < (is_quick_sanitizer_run() ? 3 : 6); i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
        struct tact_contact_law law = make_friction_law(0.5, 0.003, 0.0);
        struct world_scene s;
        const double place[3] = {0.0, 0.0, 0.01}, k = 1e6 / 0.01, area = 0.04 * 0.03;
        int are_both_soft = i % 3 == 2;
        o.period = i / 3 ? 2.5e-4 : 1e-3;
        open_empty_scene(&s, &o);
        set_pressure_field_material(&s, 0, i % 3 ? 1e6 : 0.0, 0.01);
        set_pressure_field_material(&s, 1, i % 3 == 1 ? 0.0 : 1e6, 0.01);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, 0.1, place, 0.3);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        run_scene_for_seconds(&s, 0.5);
        double exact = 0.1 * G / (area * (are_both_soft ? 0.5 * k : k));
        double depth = 0.01 - tact_world_body(s.world, 0)->pose.position[2];
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        printf("layers %d: depth %.6f of exact, force %.12f of the weight, arm %.6f of 1/6 "
               "diagonals\n",
               i % 3, depth / exact, c->impulse[0] / (o.period * 0.1 * G), c->patch.spin_arm);
        /* The rim of a soft box, where its sides are nearer than its face, carries less. */
        assert_true(fabs(depth / exact - 1.0) < (i % 3 == 1 ? 1e-9 : 2e-3));
        assert_true(fabs(c->impulse[0] / (o.period * 0.1 * G) - 1.0) < 1e-9);
        assert_true(s.unsolved_ticks == 0 && c->patch.law == TACT_LAW_WRENCH &&
                    c->patch.corners == 4);
        close_scene(&s);
    }
}

/* Boxes thrown on a soft half-space, each at a pose of its own, with and without friction and
 * damping, in ticks of 0.5 to 5 ms: kinetic and gravity energy never pass what they began with. */
static void dropped_soft_boxes_gain_no_energy(void **state)
{
    (void)state;
    static const double tick_periods[] = {5e-4, 1e-3, 2e-3, 5e-3};
    /* two poses of each of 96 settings, about 8 s of a processor; 1,000 in .ci/long */
    int drops_per_setting = is_quick_sanitizer_run() ? 4 : campaign_trial_count(32, 16000);
    int energy_gaining_drop_count = 0, runs = 0;
    double worst = 0.0;
    for (int e = 4; e < 10; e += is_quick_sanitizer_run() ? 2 : 1) {
        for (int n = 0; n < drops_per_setting; n++) {
            struct tact_world_options o = tact_world_options_default();
            struct tact_contact_law law =
                make_friction_law(n % 2 ? 0.5 : 0.0, n / 2 % 2 ? 0.003 : 0.0, 0.0);
            struct tact_shape box = box_of_sides(0.04, 0.03, 0.02);
            const double place[3] = {0.0, 0.0, 0.075};
            struct world_scene s;
            double most = -INFINITY;
            o.period = tick_periods[n / 4 % 4];
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
            double start = compute_phase_corrected_energy(&s);
            for (int i = 0; i < (int)(0.4 / o.period); i++) {
                step_scene(&s);
                most = fmax(most, compute_phase_corrected_energy(&s) / start - 1.0);
            }
            energy_gaining_drop_count += most > 1e-6;
            runs++;
            if (most > worst) {
                printf("E 1e%d, drop %d: %.2e over the start\n", e, n, most);
            }
            worst = fmax(worst, most);
            close_scene(&s);
        }
    }
    printf("%d drops: %d rose, at most by %.1e of the start\n", runs, energy_gaining_drop_count,
           worst);
    assert_int_equal(energy_gaining_drop_count, 0);
}

/* A box that spins flat on the ground stops after the angle at which friction with the exact
 * torsion arm has done work equal to its energy. */
static void spinning_soft_box_stops_at_the_exact_angle(void **state)
{
    (void)state;
    const double mu = 0.4, spin = 12.0, mass = 0.1;
    for (int i = 0; i < 2; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct world_scene s;
        struct tact_contact_law law = make_friction_law(mu, 0.003, 0.0);
        o.period = 2.5e-4;
        open_empty_scene(&s, &o);
        struct tact_shape solid =
            i ? make_cylinder_mesh_shape(&s, 0.02, 0.02, 96) : box_of_sides(0.04, 0.04, 0.02);
        const double k = 1e7 / 0.01, area = i ? PI * 4e-4 : 0.04 * 0.04;
        const double place[3] = {0.0, 0.0, 0.01 - mass * G / (k * area)};
        set_pressure_field_material(&s, 0, 1e7, 0.01);
        add_scene_ground(&s);
        add_scene_solid(&s, &solid, mass, place, 0.0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        struct tact_body *body = tact_world_body(s.world, 0);
        double inertia = i ? 0.5 * mass * 4e-4 : mass * 0.04 * 0.04 / 6.0;
        double arm = i ? 2.0 / 3.0 * 0.02 : 0.3825978 * 0.04, turned = 0.0;
        body->twist[5] = spin;
        for (int n = 0; n < 4000 && body->twist[5] > 1e-9; n++) {
            turned += o.period * body->twist[5];
            step_scene(&s);
        }
        double exact = 0.5 * inertia * spin * spin / (mu * mass * G * arm);
        printf("%s spins to %.6f of the exact angle\n", i ? "disc" : "square",
               (turned - 0.5 * spin * o.period) / exact);
        /* less half of the first tick's way, at whose velocity each tick is counted */
        assert_true(fabs((turned - 0.5 * spin * o.period) / exact - 1.0) < 0.001 &&
                    s.unsolved_ticks == 0);
        close_scene(&s);
    }
}

/* Two soft fingertips pinch a ruler beside its centre of mass: the ruler stays level where the
 * torsion arm of the tips' pressure exceeds what its weight needs, and pitches otherwise. */
static double ruler_pitch_in_soft_pinch(double margin, double seconds, double *creep)
{
    const double r = 0.008, mass = 0.03, mu = 0.8, grip = 4.0, slope = 5e5 / 0.008;
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_friction_law(mu, 0.003, 0.0);
    struct tact_shape ball = make_sphere(r), ruler = box_of_sides(0.3, 0.002, 0.03);
    struct world_scene s;
    struct tact_pose local = tact_pose_identity();
    double arm = 0.0;
    /* The tips are two fixed soft balls: bisection for the depth at which each exerts the grip
     * force. */
    double low = 0.0, high = r, depth = 0.0;
    for (int i = 0; i < 60; i++) {
        depth = 0.5 * (low + high);
        double force = PI / 3.0 * slope * r * depth * depth * (3.0 - 2.0 * depth / r);
        low = force < grip ? depth : low;
        high = force < grip ? high : depth;
    }
    /* pass 0 measures the torsion arm; pass 1 places the ruler for the margin */
    for (int pass = 0; pass < 2; pass++) {
        const double place[3] = {pass ? 2.0 * mu * arm / (margin * mass * G) : 0.01, 0.0, 0.0};
        open_empty_scene(&s, &o);
        set_pressure_field_material(&s, 0, 5e5, 0.008);
        add_scene_solid(&s, &ruler, mass, place, 0.0);
        for (int side = -1; side < 2; side += 2) {
            local.position[1] = side * (0.001 + r - depth);
            add_scene_shape(&s, -1, &ball, &local, 0);
        }
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        step_scene(&s);
        arm = 0.0;
        for (int i = 0; i < 2; i++) { /* torsion arm times grip force, mean of the two tips */
            const struct tact_contact *c = tact_world_contact(s.world, i);
            arm += 0.5 * c->patch.wrench[0] * c->patch.spin_arm;
        }
        if (!pass) {
            close_scene(&s);
        }
    }
    struct tact_body *body = tact_world_body(s.world, 0);
    double turn[9] = {0.0}, half = 0.0;
    for (int i = 0; i < (int)(seconds / o.period); i++) {
        step_scene(&s);
        tact_quat_to_m3(turn, body->pose.quat_wxyz);
        half = i == (int)(0.5 * seconds / o.period) ? body->pose.position[2] : half;
    }
    *creep = fabs(body->pose.position[2] - half);
    double angle = asin(fmax(-1.0, fmin(1.0, -turn[6]))) * 180.0 / PI;
    printf("margin %.2f: turned %.3g degrees, creep of the second half %.1e m, at most %d sweeps\n",
           margin, angle, *creep, s.max_tick_iterations);
    close_scene(&s);
    return fabs(angle);
}

static void torsion_of_soft_tips_holds_a_ruler(void **state)
{
    (void)state;
    double creep;
    double seconds = is_long_campaign() ? 30.0 : 4.0;
    assert_true(ruler_pitch_in_soft_pinch(1.01, seconds, &creep) < 0.1 && creep < 1e-12);
    assert_true(ruler_pitch_in_soft_pinch(0.99, 1.5, &creep) > 2.0);
}

/* A soft box between two walls of one rigid body: the contact surface has two opposite parts whose
 * normal forces cancel. With friction it carries the box, without friction the box falls. */
static void friction_on_opposite_walls_carries_a_soft_box(void **state)
{
    (void)state;
    const double wall_boxes[12] = {-0.0299, 0, 0, 0.02, 0.1, 0.1, 0.0299, 0, 0, 0.02, 0.1, 0.1};
    for (int i = 0; i < 2; i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_contact_law law = make_friction_law(i ? 0.0 : 0.5, 0.003, 0.0);
        struct world_scene s;
        struct tact_pose local = tact_pose_identity();
        const double place[3] = {0.0, 0.0, 0.0};
        open_empty_scene(&s, &o);
        struct tact_shape pair = make_shape_of_boxes(&s, wall_boxes, 2),
                          box = box_of_sides(0.04, 0.03, 0.02);
        set_pressure_field_material(&s, 1, 1e6, 0.01);
        add_scene_solid(&s, &box, 0.1, place, 0.0);
        add_scene_shape(&s, -1, &pair, &local, 0);
        set_scene_contact_law(&s, 0, 1, &law);
        finish_scene_building(&s);
        run_scene_for_seconds(&s, 0.03);
        double before = tact_world_body(s.world, 0)->pose.position[2];
        run_scene_for_seconds(&s, 0.03);
        const struct tact_contact *c = tact_world_contact(s.world, 0);
        double fallen_distance = before - tact_world_body(s.world, 0)->pose.position[2];
        double exact = 0.5 * G * (0.06 * 0.06 - 0.03 * 0.03);
        printf("friction %g: %d parts, fell %.3e m of %.3e\n", law.friction, c->split,
               fallen_distance, exact);
        assert_true(c->split == 2 && s.unsolved_ticks == 0);
        assert_true(i ? fabs(fallen_distance / exact - 1.0) < 0.02 : fabs(fallen_distance) < 1e-9);
        close_scene(&s);
    }
}

/* A soft box, turned about z between two walls and pressed on a floor, makes one patch with torques
 * of the walls and the normal force of the floor. A torque over that force times the patch's size
 * is limited, and counted. */
static void torques_beyond_the_size_of_the_patch_are_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double press_depth = i ? 1e-3 : 1e-5;
        const double boxes[18] = {-0.0305, 0,      0,   0.02, 0.1,
                                  0.1,     0.0305, 0,   0,    0.02,
                                  0.1,     0.1,    0,   0,    -0.03 + press_depth,
                                  0.03,    0.03,   0.02};
        struct world_scene s;
        struct tact_pose at = tact_pose_identity(), turned = at;
        const double turn[3] = {0.0, 0.0, 0.05};
        int counts[TACT_SOLVE_COUNTS] = {0};
        struct tact_patch p;
        open_empty_scene(&s, NULL);
        struct tact_shape fork_of_three_boxes = make_shape_of_boxes(&s, boxes, 3),
                          box = box_of_sides(0.04, 0.04, 0.04);
        assert_int_equal(tact_shape_tessellate(&box), 0);
        tact_quat_from_rotvec(turned.quat_wxyz, turn);
        measure_field_patch_with_counts(&box, &turned, 1e8, &fork_of_three_boxes, &at, INFINITY,
                                        counts, &p);
        double most = fmax(p.semi[0], p.semi[1]) * p.wrench[0];
        printf("pressed by %g m: torque %.3g N m of at most %.3g, %d cut\n", press_depth,
               p.wrench[3], most, counts[TACT_COUNT_OPPOSED]);
        assert_int_equal(counts[TACT_COUNT_OPPOSED], !i);
        assert_true(i ? fabs(p.wrench[3]) < most : fabs(p.wrench[3]) == most);
        assert_true(counts[TACT_COUNT_PARTS] > 0);
        tact_shape_release(&box);
        close_scene(&s);
    }
}

static void assert_close(double is, double expected, double relative_tolerance)
{
    if (!(fabs(is - expected) <= relative_tolerance * fabs(expected))) {
        fail_msg("%.12g in place of %.12g: off by %.2e of it", is, expected, is / expected - 1.0);
    }
}

/* The work of the force of two balls in closed form until they part, by Simpson's rule, is the
 * energy that the integral of the lesser pressure gives. */
static void work_of_ball_fields_is_their_energy(void **state)
{
    (void)state;
    const struct tact_shape ball = make_sphere(0.03);
    const double distance = 0.054, way = 0.006;
    struct tact_pose at = tact_pose_identity(), up = at;
    struct tact_patch p;
    double work = 0.0;
    for (int i = 0; i < 20; i++) { /* at the last point, where they part, there is no force */
        up.position[2] = distance + way * i / 20.0;
        measure_field_patch(&ball, &up, 1e5 / 0.03, &ball, &at, 1e5 / 0.03, &p);
        work += (i ? 2.0 + 2.0 * (i % 2) : 1.0) * p.wrench[0] * way / 60.0;
    }
    printf("work until two balls part: %.9e J\n", work);
    assert_close(work, 5.3721234e-3, 2e-8);
}

/* Force of balls on balls and half-spaces, soft and rigid: numbers of the paper's section 6,
 * Drake's law of a ball on a rigid floor, and sums over polygons of many tetrahedra. */
static void force_of_ball_fields_matches_closed_form(void **state)
{
    (void)state;
    struct tact_shape ball = make_sphere(0.03), small = make_sphere(0.02);
    struct tact_shape floor = {.kind = TACT_SHAPE_HALFSPACE};
    struct tact_pose at = tact_pose_identity(), up = at;
    struct tact_patch p, other;
    const double k = 1e5 / 0.03;
    up.position[2] = 0.054;
    measure_field_patch(&ball, &up, k, &ball, &at, k, &p);
    assert_close(p.wrench[0], 2.63893783, 1e-8);
    assert_close(p.stiffness[0], 848.2300, 1e-7);
    assert_close(p.spin_arm, 6.939596e-3, 1e-6);
    assert_close(p.semi[0], 13.076697e-3, 1e-7);
    assert_close(p.center[2], 0.027, 1e-13);
    up.position[2] = 0.046;
    measure_field_patch(&small, &up, 1e5 / 0.02, &ball, &at, k, &p);
    assert_close(p.wrench[0], 1.13631436, 1e-8);
    measure_field_patch(&ball, &at, k, &small, &up, 4e5 / 0.02, &p);
    assert_close(p.wrench[0], 1.63324750, 1e-8);
    assert_true(p.frame[2] == -1.0);
    for (double d = 0.01; d < 0.045; d += 0.01) {
        const struct tact_shape sphere_of_a_test_of_drake = make_sphere(0.05);
        up.position[2] = 0.05 - d;
        measure_field_patch(&sphere_of_a_test_of_drake, &up, 1e5 / 0.05, &floor, &at, INFINITY, &p);
        assert_close(p.wrench[0], PI / 3.0 * 1e5 * d * d * (3.0 - 2.0 * d / 0.05), 1e-13);
        assert_close(p.semi[0], sqrt(d * (0.1 - d)), 1e-12);
    }
    /* Forces for each pair of pressure slopes, against polygons of a ball of 32768 tetrahedra. */
    struct tact_field_scratch *scratch = tact_field_scratch_create(20000);
    for (int i = 0; i < 3; i++) {
        double ka = i == 1 ? INFINITY : k, kb = i == 0 ? INFINITY : 2.0 * k;
        struct surface_mesh surface = make_ball_surface(is_quick_sanitizer_run() ? 5 : 6);
        struct tact_pressure_field *plane, *round;
        struct tact_mesh *mesh;
        struct tact_field_contact c;
        scale_surface_mesh(&surface, 0.03, 0.03, 0.03);
        assert_int_equal(tact_field_halfspace(kb, &plane), 0);
        assert_int_equal(tact_mesh_create(surface.vertices, surface.vertex_count, surface.triangles,
                                          surface.triangle_count, &mesh, NULL),
                         0);
        round = i == 1 ? NULL : field_of_surface_mesh(&surface, 1e5);
        assert_true(i != 1 || !tact_field_rigid(mesh, &round));
        up.position[2] = 0.026;
        measure_field_patch(&ball, &up, ka, &floor, &at, kb, &p);
        measure_field_patch(&floor, &at, kb, &ball, &up, ka, &other);
        assert_close(other.wrench[0], p.wrench[0], 1e-13);
        assert_int_equal(tact_field_touch(round, &up, plane, &at, scratch, &c), 1);
        printf("slopes %g, %g Pa/m: force %.3f %%, stiffness %.3f %%, rolling %.2f %%, height %.1e "
               "m off "
               "polygons\n",
               ka, kb, 100.0 * (p.wrench[0] / c.wrench[2] - 1.0),
               100.0 * (p.stiffness[0] / c.stiffness[14] - 1.0),
               100.0 * (p.stiffness[28] / c.stiffness[21] - 1.0), p.center[2] - c.centre[2]);
        assert_close(p.wrench[0], c.wrench[2], 0.01);
        assert_close(p.stiffness[0], c.stiffness[14], 0.01);
        assert_close(p.stiffness[28], c.stiffness[21], 0.03);
        /* Where the contact surface is a cap, the load component along the axis is reduced towards
         * the rim. */
        assert_true(fabs(p.center[2] - c.centre[2]) < 5e-5);
        tact_field_free(plane);
        tact_field_free(round);
        tact_mesh_free(mesh);
        free_surface_mesh(&surface);
    }
    tact_field_scratch_destroy(scratch);
}

/* Force of a solid at a depth over the slope of its pressure, at rest [m^3]: a ball of radius 20 mm
 * in closed form, or a square of 40 mm on a soft half-space. */
static double force_over_pressure_slope(int is_ball, double depth)
{
    const double r = 0.02;
    return is_ball ? PI / 3.0 * r * depth * depth * (3.0 - 2.0 * depth / r) : 0.04 * 0.04 * depth;
}

/* Speed at which a mass parts from a flat floor after an impact, by Runge and Kutta's fourth-order
 * method: m d'' = -k f(d) (1 + a d'), not negative, d the depth. */
static double rebound_speed_by_equation_of_motion(int is_ball, double slope, double mass, double a,
                                                  double speed)
{
    const double step = 1e-7;
    double y[2] = {0.0, speed};
    do {
        double rate[4][2], at[2] = {y[0], y[1]};
        for (int i = 0; i < 4; i++) {
            double part = i < 2 ? 0.5 : 1.0;
            rate[i][0] = at[1];
            rate[i][1] = -slope * force_over_pressure_slope(is_ball, fmax(at[0], 0.0)) *
                         fmax(1.0 + a * at[1], 0.0) / mass;
            for (int k = 0; k < 2; k++) {
                at[k] = y[k] + part * step * rate[i][k];
            }
        }
        for (int k = 0; k < 2; k++) {
            y[k] += step / 6.0 * (rate[0][k] + 2.0 * rate[1][k] + 2.0 * rate[2][k] + rate[3][k]);
        }
    } while (y[0] > 0.0);
    return -y[1];
}

/* Speed at which a soft ball on a rigid floor, or a rigid box on a soft one, parts from it after a
 * straight impact. */
static double rebound_speed_by_simulation(int is_ball, double slope, double mass, double a,
                                          double speed, double period)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_friction_law(0.5, 0.0, a);
    struct tact_shape solid = is_ball ? make_sphere(0.02) : box_of_sides(0.04, 0.04, 0.04);
    const double place[3] = {0.0, 0.0, 0.02};
    struct world_scene s;
    o.period = period;
    tact_v3_set(o.gravity, 0.0, 0.0, 0.0);
    open_empty_scene(&s, &o);
    set_pressure_field_material(&s, is_ball, slope, 1.0);
    add_scene_ground(&s);
    add_scene_solid(&s, &solid, mass, place, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    struct tact_body *body = tact_world_body(s.world, 0);
    body->twist[2] = -speed;
    do {
        step_scene(&s);
    } while (body->pose.position[2] < place[2] && s.ticks < 100000);
    double rebound_velocity = body->twist[2];
    close_scene(&s);
    return rebound_velocity;
}

/* An impact with Hunt and Crossley's damping: the speed of the rebound converges to that of the
 * equation as the period. The box sinks in by 0.2 % of its width, as the pressure on its sides
 * counts for the damping too. */
static void hunt_crossley_rebound_follows_its_equation(void **state)
{
    (void)state;
    const double mass = 0.1, speed = 0.5;
    for (int i = 0; i < 4; i++) {
        int is_ball = i % 2;
        double a = i / 2 ? 1.5 : 0.3, slope = is_ball ? 2e7 : 2e9, off[3];
        double exact = rebound_speed_by_equation_of_motion(is_ball, slope, mass, a, speed);
        for (int n = 0; n < 3; n++) {
            double period = (is_ball ? 4e-5 : 4e-6) / (1 << 2 * n);
            off[n] =
                rebound_speed_by_simulation(is_ball, slope, mass, a, speed, period) / exact - 1.0;
        }
        printf(
            "%s, a %g s/m: rebounds at %.6f m/s of %g, off by %.1e, %.1e and %.1e in periods of 1, "
            "1/4 and 1/16\n",
            is_ball ? "ball" : "box", a, exact, speed, off[0], off[1], off[2]);
        assert_true(exact < 0.95 * speed && exact > 0.3 * speed);
        assert_true(fabs(off[2]) < 3e-3 && fabs(off[1]) < 0.3 * fabs(off[0]) &&
                    fabs(off[2]) < 0.35 * fabs(off[1]));
    }
}

/* Distance of the centre of pressure from the patch's centre, over that of the patch's outline in
 * the same direction. */
static double pressure_centre_as_fraction_of_outline(const struct tact_contact *c)
{
    const double *r = c->impulse, d[2] = {-r[5] / r[0], r[4] / r[0]};
    double share = 0.0;
    for (int i = 0; i < c->patch.corners; i++) {
        const double *a = c->patch.corner[i], *b = c->patch.corner[(i + 1) % c->patch.corners];
        double n[2] = {b[1] - a[1], a[0] - b[0]}, reach = n[0] * a[0] + n[1] * a[1];
        share = fmax(share, (n[0] * d[0] + n[1] * d[1]) / reach);
    }
    return share;
}

/* A soft box that falls on its edge and tips: its centre of pressure is in its patch. */
static void tipping_soft_box_keeps_its_pressure_centre_in_the_patch(void **state)
{
    (void)state;
    for (int i = 0; i < (is_quick_sanitizer_run() ? 1 : 3); i++) {
        struct tact_world_options o = tact_world_options_default();
        struct tact_shape box = box_of_sides(0.06, 0.04, 0.05);
        struct tact_contact_law law = make_friction_law(0.6, 0.003, 0.0);
        struct world_scene s;
        const double place[3] = {0.0, 0.0, 0.045};
        int ticks = 0, at_edge = 0;
        double worst = 0.0, most = 0.0;
        o.period = 1e-3 / (1 << i);
        open_empty_scene(&s, &o);
        set_pressure_field_material(&s, 1, 2e5, 0.01);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, 0.1, place, 0.3);
        set_scene_contact_law(&s, 0, 1, &law);
        tact_world_body(s.world, 0)->pose =
            (struct tact_pose){{0.0, 0.0, 0.045}, {cos(0.3), sin(0.3), 0.0, 0.0}};
        finish_scene_building(&s);
        while ((double)s.ticks * o.period < 0.5) {
            step_scene(&s);
            const struct tact_contact *c = tact_world_contact(s.world, 0);
            if (!c->touching || !(c->impulse[0] > 0.0) || !c->patch.corners) {
                continue;
            }
            double share = pressure_centre_as_fraction_of_outline(c);
            assert_true(c->margins.edge >= 0.0 && c->margins.edge <= 1.0);
            worst = fmax(worst, fabs(1.0 - c->margins.edge - share));
            most = fmax(most, share);
            at_edge += (c->limits & TACT_LIMIT_EDGE) != 0;
            ticks++;
        }
        printf("h %g: %d ticks, %d at the edge, at most %.9f of it, margins off by %.1e\n",
               o.period, ticks, at_edge, most, worst);
        assert_true(ticks > 100 && at_edge > 0 && at_edge < ticks / 2);
        assert_true(worst < 1e-9 && most <= 1.0 + 1e-9 && most > 1.0 - 1e-9);
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(soft_box_rests_at_its_exact_depth),
        cmocka_unit_test(dropped_soft_boxes_gain_no_energy),
        cmocka_unit_test(spinning_soft_box_stops_at_the_exact_angle),
        cmocka_unit_test(torsion_of_soft_tips_holds_a_ruler),
        cmocka_unit_test(force_of_ball_fields_matches_closed_form),
        cmocka_unit_test(work_of_ball_fields_is_their_energy),
        cmocka_unit_test(hunt_crossley_rebound_follows_its_equation),
        cmocka_unit_test(friction_on_opposite_walls_carries_a_soft_box),
        cmocka_unit_test(tipping_soft_box_keeps_its_pressure_centre_in_the_patch),
        cmocka_unit_test(torques_beyond_the_size_of_the_patch_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
