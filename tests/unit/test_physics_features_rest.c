/* Contact by features at rest: nothing sinks, nothing passes, nothing creeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/contact_model_scene.h"
#include "support/random.h"
#include "support/world_scene.h"

#define G 9.81

/* Height of the lowest corner of a body that is a box of these sides. */
static double lowest_corner_height(struct world_scene *s, int body, const double side[3])
{
    const struct tact_pose *pose = &tact_world_body(s->world, body)->pose;
    double turn[9], low = pose->position[2];
    tact_quat_to_m3(turn, pose->quat_wxyz);
    for (int k = 0; k < 3; k++) {
        low -= 0.5 * side[k] * fabs(turn[6 + k]);
    }
    return low;
}

/* What a box that is dropped by 5 mm, turned by a rotation vector, does in 0.2 s. */
struct dropped_box_motion {
    double deepest;     /* height of the lowest corner ever, at most 0 [m] */
    double energy_rise; /* rise of the energy above its least value so far, relative to that at the
                           start */
    double flat;        /* time after which it is flat [s] */
    double unexplained_energy_rise; /* greatest rise of the energy in a tick beyond the work of the
                           contact's impulse as the lowest corner rises, relative to that at the
                           start */
};

/* Normal impulse of the only contact, 0 without one [N s]. */
static double normal_impulse(struct world_scene *s)
{
    const struct tact_contact *c = tact_world_contact(s->world, 0);
    return c ? c->impulse[0] : 0.0;
}

static struct dropped_box_motion drop_box(double period, int is_on_plate, const double turn[3])
{
    static const double side[3] = {0.1, 0.06, 0.04};
    struct tact_world_options o = options_with_contact_model("features", period);
    const struct tact_shape box = box_of_sides(0.1, 0.06, 0.04), plate = box_of_sides(1, 1, 1e-3);
    const double place[3] = {0.0, 0.0, 0.025};
    struct world_scene s;
    struct dropped_box_motion out = {.flat = 0.0};
    open_empty_scene(&s, &o);
    add_ground_or_plate(&s, is_on_plate ? &plate : NULL);
    add_scene_solid(&s, &box, 0.3, place, 0.0);
    start_box_on_ground(&s, 0.0);
    tact_quat_from_rotvec(tact_world_body(s.world, 0)->pose.quat_wxyz, turn);
    tact_world_refresh(s.world);
    const double before = compute_phase_corrected_energy(&s);
    double least = before, last = before,
           low[3] = {INFINITY, INFINITY, lowest_corner_height(&s, 0, side)};
    for (int k = 0; k * o.period < 0.2; k++) {
        step_scene(&s);
        const double energy = compute_phase_corrected_energy(&s);
        memmove(low, low + 1, 2 * sizeof *low);
        low[2] = lowest_corner_height(&s, 0, side);
        out.deepest = fmin(out.deepest, low[2]);
        const double work = normal_impulse(&s) * fmax(0.0, low[2] - low[0]) / (2.0 * o.period);
        out.unexplained_energy_rise =
            fmax(out.unexplained_energy_rise, (energy - last - work) / before);
        last = energy;
        out.energy_rise = fmax(out.energy_rise, (energy - least) / before);
        out.flat = body_tilt_from_vertical(&s, 0) > 1e-6 ? (k + 1) * o.period : out.flat;
        least = fmin(least, energy);
    }
    assert_true(out.deepest > -1e-12 && out.flat < 0.05 && s.unsolved_ticks == 0);
    assert_true(fabs(lowest_corner_height(&s, 0, side)) < 1e-12);
    close_scene(&s);
    return out;
}

/* A box dropped with tilts of 10 and 6 mrad, on a half-space or on a plate: no corner ever under
 * it, energy from 1 ms on never over its least value so far, flat soon. Where it rises, the box
 * turns on a corner: the corner follows an arc, by which it is up to h^2/2 times its acceleration
 * above the surface after a tick, and the next impulse works as that height changes. No more than
 * this work is added. */
static void tilted_box_lands_without_overlap(void **state)
{
    (void)state;
    const double turn[3] = {0.006, 0.010, 0.0};
    for (int i = 0; i < 10; i++) {
        const double period = 0.25e-3 * (1 << i % 5);
        const struct dropped_box_motion d = drop_box(period, i >= 5, turn);
        printf("%s, h %g ms: lowest corner %.1e m, energy %.1e over its least, %.1e beyond the "
               "work at the corner, flat after %.0f ms\n",
               i < 5 ? "half-space" : "plate of 1 mm", 1e3 * period, d.deepest, d.energy_rise,
               d.unexplained_energy_rise, 1e3 * d.flat);
        assert_true(d.deepest > -1e-12 && d.energy_rise < (i % 5 < 2 ? 5e-7 : 1e-15));
        assert_true(d.unexplained_energy_rise < 1e-14);
    }
}

/* A box dropped with a tilt of up to 30 mrad: its energy rises in some ticks, relative to that at
 * the start by an amount of which a third is left at half the period, and no more than by the work
 * at the corner; none sinks by more than 1e-12 m. */
static void randomly_tilted_boxes_gain_little_energy(void **state)
{
    (void)state;
    static const double bounds[5] = {2.5e-7, 9e-7, 3.5e-6, 1.4e-5, 2e-5};
    double most[5] = {0.0}, unexplained_energy_rise = 0.0, deepest = 0.0;
    const int drop_count = campaign_trial_count(100, 2000);
    for (int i = 0; i < drop_count; i++) {
        const double turn[3] = {uniform(-0.03, 0.03), uniform(-0.03, 0.03), uniform(-3.0, 3.0)};
        const struct dropped_box_motion d = drop_box(0.25e-3 * (1 << i % 5), i / 5 % 2, turn);
        most[i % 5] = fmax(most[i % 5], d.energy_rise);
        unexplained_energy_rise = fmax(unexplained_energy_rise, d.unexplained_energy_rise);
        deepest = fmin(deepest, d.deepest);
    }
    printf("energy of %d drops over its least at most %.1e at 0.25 ms, %.1e, %.1e, %.1e, %.1e at "
           "4 ms, %.1e beyond the work at the corner; lowest corner %.1e m\n",
           drop_count, most[0], most[1], most[2], most[3], most[4], unexplained_energy_rise,
           deepest);
    for (int i = 0; i < 5; i++) {
        assert_true(most[i] < bounds[i]);
    }
    assert_true(unexplained_energy_rise < 1e-14);
}

/* A box that starts on an edge, in touch but for rounding, and falls over. An overlap of rounding
 * at the start is none: it would be kept, as others are, and what the box sinks later would stay.
 */
static void box_in_touch_starts_without_overlap(void **state)
{
    (void)state;
    static const double side[3] = {0.1, 0.06, 0.04}, turn[3] = {0.0, 0.5, 0.0};
    for (int i = 0; i < 3; i++) {
        struct tact_world_options o = options_with_contact_model("features", 1e-3);
        const struct tact_shape box = box_of_sides(side[0], side[1], side[2]);
        const double up = 0.5 * (side[0] * sin(turn[1]) + side[2] * cos(turn[1]));
        const double place[3] = {0.0, 0.0, up - (i - 1) * 1e-16};
        struct world_scene s;
        open_empty_scene(&s, &o);
        add_scene_ground(&s);
        add_scene_solid(&s, &box, 0.3, place, 0.0);
        start_box_on_ground(&s, 1.0);
        tact_quat_from_rotvec(tact_world_body(s.world, 0)->pose.quat_wxyz, turn);
        tact_world_refresh(s.world);
        double first = lowest_corner_height(&s, 0, side);
        int pairs_overlapping_at_start = tact_world_start(s.world, s.scratch);
        run_scene_for_seconds(&s, 1.0);
        double last = lowest_corner_height(&s, 0, side);
        printf("starts at %.0e m: lowest corner %.1e m at the end\n", first, last);
        assert_true(pairs_overlapping_at_start == 0 && fabs(last) < 1e-12 &&
                    body_tilt_from_vertical(&s, 0) < 1e-12);
        close_scene(&s);
    }
}

/* A block of 20 mm pressed on a plate of 2 mm by 500 times its weight does not go through it. With
 * the moments of the overlap it does. */
static void pressed_block_does_not_pass_through_a_thin_plate(void **state)
{
    (void)state;
    static const double side[3] = {0.02, 0.02, 0.02};
    const char *const models[] = {"features", "volume"};
    double low[2];
    for (int i = 0; i < 2; i++) {
        struct tact_world_options o = options_with_contact_model(models[i], 1e-3);
        const struct tact_shape box = box_of_sides(0.02, 0.02, 0.02),
                                plate = box_of_sides(1, 1, 2e-3);
        const double place[3] = {0.0, 0.0, 0.012};
        struct tact_pose ground_pose = tact_pose_identity();
        struct world_scene s;
        o.gravity[2] = -500.0 * G;
        low[i] = 0.0;
        open_empty_scene(&s, &o);
        ground_pose.position[2] = -1e-3;
        add_scene_shape(&s, -1, &plate, &ground_pose, 0);
        add_scene_solid(&s, &box, 0.03, place, 0.0);
        start_box_on_ground(&s, 0.5);
        for (int k = 0; k < 500; k++) {
            step_scene(&s);
            low[i] = fmin(low[i], lowest_corner_height(&s, 0, side));
        }
        close_scene(&s);
    }
    printf("lowest: features %.1e m, volume %.1e m\n", low[0], low[1]);
    assert_true(low[0] > -1e-12 && low[1] < -0.02);
}

/* A stack of ten, each box shifted and turned by `shift` [m] and `turn` [rad] from the one below,
 * on its floor for a while, solved to this tolerance: how far it creeps [m], and that its energy
 * does not rise in any tick.
 */
static double creep_of_stack(double shift, double turn, double tolerance, int seconds)
{
    struct tact_world_options o = options_with_contact_model("features", 1e-3);
    const struct tact_shape box = box_of_sides(0.05, 0.05, 0.05);
    struct world_scene s;
    double at[30], moved = 0.0, largest_energy_excess = -1.0, energy_rise = 0.0;
    o.tolerance = tolerance;
    open_empty_scene(&s, &o);
    add_scene_ground(&s);
    for (int i = 0; i < 10; i++) {
        const double place[3] = {shift * (i % 3), 0.0, 0.025 + 0.05 * i};
        add_scene_solid(&s, &box, 0.125, place, turn * i);
    }
    start_box_on_ground(&s, 0.5);
    double before = compute_phase_corrected_energy(&s);
    run_scene_for_seconds(&s, 0.5);
    for (int i = 0; i < 10; i++) {
        tact_v3_copy(at + 3 * i, tact_world_body(s.world, i)->pose.position);
    }
    s.max_tick_iterations = 0;
    double last = compute_phase_corrected_energy(&s);
    for (int k = 0; k < 1000 * seconds; k++) {
        step_scene(&s);
        double energy = compute_phase_corrected_energy(&s);
        largest_energy_excess = fmax(largest_energy_excess, energy / before - 1.0);
        energy_rise = fmax(energy_rise, (energy - last) / before);
        last = energy;
    }
    for (int i = 0; i < 10; i++) {
        double d[3];
        tact_v3_sub(d, tact_world_body(s.world, i)->pose.position, at + 3 * i);
        moved = fmax(moved, tact_v3_norm(d));
    }
    printf("stack: moved %.1e m in %d s, energy %.1e over the start and %.1e over the tick before, "
           "at most %d sweeps\n",
           moved, seconds, largest_energy_excess, energy_rise, s.max_tick_iterations);
    assert_true(largest_energy_excess < 1e-14 && energy_rise < 1e-15 && s.unsolved_ticks == 0);
    close_scene(&s);
    return moved;
}

/* A stack of ten shifted boxes creeps by the error at which the solver ends: 1.8e-14 m/s with a
 * tolerance of 1e-10, less than 1e-4 of that with 1e-14. */
static void a_stack_of_ten_does_not_creep(void **state)
{
    (void)state;
    const int seconds = campaign_trial_count(5, 60);
    assert_true(creep_of_stack(0.001, 0.1, 1e-10, seconds) < 1e-13 + 3e-14 * seconds);
    assert_true(creep_of_stack(0.001, 0.1, 1e-14, seconds) < 1e-16);
}

/* Faces that coincide, edges that are parallel: of many features that are equally near any may be
 * found, in each of up to 1e5 ticks. */
static void an_aligned_stack_of_ten_does_not_creep(void **state)
{
    (void)state;
    const int seconds = campaign_trial_count(5, 100);
    assert_true(creep_of_stack(0.0, 0.0, 1e-10, seconds) < 1e-14);
}

/* A fixed ridge along y whose flanks fall by 0.1, and a body whose lowest point is its apex. */
static const double ridge_vertices[6][3] = {{0.0, -0.1, 0.0},    {0.0, 0.1, 0.0},
                                            {-0.1, -0.1, -0.01}, {-0.1, 0.1, -0.01},
                                            {0.1, -0.1, -0.01},  {0.1, 0.1, -0.01}};
static const double vertices_of_body_on_ridge[5][3] = {{0.0, 0.0, 0.0},
                                                       {0.01, 0.01, 0.02},
                                                       {-0.01, 0.01, 0.02},
                                                       {-0.01, -0.01, 0.02},
                                                       {0.01, -0.01, 0.02}};
#define CENTROID_HEIGHT_ABOVE_APEX 0.015

/* A tick of a body at rest on the ridge. */
struct tick_result_of_body_on_ridge {
    double residual; /* before the only sweep */
    double force[3]; /* on the body, world axes [N] */
    double normal[3];
    double speed; /* of the body after the tick [m/s] */
};

/* Places the body at rest with its apex at `apex_offset_from_edge` from the edge of the ridge, and
 * does one tick. */
static void solve_one_tick_of_body_on_ridge(struct world_scene *s, double apex_offset_from_edge,
                                            double height, struct tick_result_of_body_on_ridge *out)
{
    struct tact_body *body = tact_world_body(s->world, 0);
    tact_v3_set(body->pose.position, apex_offset_from_edge, 0.0,
                height + CENTROID_HEIGHT_ABOVE_APEX);
    memset(body->twist, 0, sizeof body->twist);
    tact_world_refresh(s->world);
    step_scene(s);
    const struct tact_contact *c = tact_world_contact(s->world, 0);
    assert_non_null(c);
    assert_true(c->touching);
    tact_m3_tmul_v3(out->force, c->patch.frame, c->impulse);
    tact_v3_scale(out->force, out->force, -1.0 / s->options.period); /* the ridge is A */
    tact_v3_copy(out->normal, c->patch.frame);
    out->residual = s->stats.residual;
    out->speed = tact_v3_norm(tact_world_body(s->world, 0)->twist);
}

/* Balances a body by its apex on one flank of the ridge for two ticks, on the other for a third,
 * and there without the impulses of the third. */
static void solve_ticks_on_both_flanks_of_ridge(double apex_offset_from_edge, double compliance,
                                                double mass,
                                                struct tick_result_of_body_on_ridge out[4])
{
    const struct tact_pose origin_pose = tact_pose_identity();
    const double height = -0.1 * apex_offset_from_edge - mass * G * compliance;
    struct tact_shape ridge = {.kind = TACT_SHAPE_CONVEX}, top = {.kind = TACT_SHAPE_CONVEX};
    struct tact_mesh *ridge_mesh, *top_mesh;
    struct tact_world_options o = options_with_contact_model("features", 1e-3);
    struct tact_contact_law law = make_friction_law(0.5);
    struct world_scene s;
    assert_int_equal(tact_mesh_hull(ridge_vertices[0], 6, &ridge_mesh, NULL), 0);
    assert_int_equal(tact_mesh_hull(vertices_of_body_on_ridge[0], 5, &top_mesh, NULL), 0);
    ridge.mesh = ridge_mesh;
    top.mesh = top_mesh;
    o.iterations = 1;
    law.compliance = compliance;
    open_empty_scene(&s, &o);
    add_scene_shape(&s, -1, &ridge, &origin_pose, 0);
    add_scene_solid(&s, &top, mass, origin_pose.position, 0.0);
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    for (int i = 0; i < 4; i++) {
        if (i == 3) {
            tact_world_body(s.world, 0)->pose.position[2] = 1.0; /* the contact ends */
            tact_world_refresh(s.world);
            step_scene(&s);
        }
        solve_one_tick_of_body_on_ridge(&s, i < 2 ? -apex_offset_from_edge : apex_offset_from_edge,
                                        height, &out[i]);
    }
    close_scene(&s);
    tact_mesh_free(ridge_mesh);
    tact_mesh_free(top_mesh);
}

/* A body balances with its apex on a flank of a ridge, pressed in by its weight, m g c on the
 * vertical, and is placed 20 nm aside, on the other flank and as deep: n jumps by 2 atan 0.1. The
 * force that balances the weight remains the same, as it is within friction on both flanks.
 * Asserted is that the wrench of the last tick is carried over in world axes: the only sweep of the
 * tick of the jump starts from the solution, within the torque of 1 um, by which the contact point
 * in the middle of the depth moves. Started from the same impulses along the new n, t1, t2 its
 * residual is 0.6, started without impulses about 1. And the
 * body remains at rest: there is no push along the new n. */
static void wrench_is_carried_over_a_jump_of_the_normal(void **state)
{
    (void)state;
    const double mass = 0.1, angle = 2.0 * atan(0.1);
    struct tick_result_of_body_on_ridge tick[4];
    solve_ticks_on_both_flanks_of_ridge(1e-8, 1e-5, mass, tick);
    const double normal_jump_angle = acos(tact_v3_dot(tick[1].normal, tick[2].normal));
    printf("n jumps by %.9f rad, exact %.9f; residual %.1e, without impulses %.1e\n",
           normal_jump_angle, angle, tick[2].residual, tick[3].residual);
    assert_true(fabs(normal_jump_angle - angle) < 1e-9);
    assert_true(tick[2].residual < 1e-4 && tick[3].residual > 0.5);
    for (int i = 0; i < 4; i++) {
        const double *f = tick[i].force;
        assert_true(fabs(f[2] / (mass * G) - 1.0) < 1e-5 && hypot(f[0], f[1]) < 1e-4 * mass * G);
        assert_true(tick[i].speed < 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tilted_box_lands_without_overlap),
        cmocka_unit_test(randomly_tilted_boxes_gain_little_energy),
        cmocka_unit_test(box_in_touch_starts_without_overlap),
        cmocka_unit_test(pressed_block_does_not_pass_through_a_thin_plate),
        cmocka_unit_test(a_stack_of_ten_does_not_creep),
        cmocka_unit_test(an_aligned_stack_of_ten_does_not_creep),
        cmocka_unit_test(wrench_is_carried_over_a_jump_of_the_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
