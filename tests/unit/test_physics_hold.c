/* Static friction within its limit: no creep, no ratcheting, and sliding beyond it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/world_scene.h"

static const double MU = 0.5, PRESS = 20, BLOCK_MASS = 0.2;

/* A block of 0.06 x 0.1 x 0.04 between a fixed wall below and a pad above that a constant force
 * presses down with PRESS; the load pulls it along y. Gravity is off, so the two contacts hold
 * 2 mu PRESS together. The pad slides along z only. */
static int open_pad_pinch_scene(struct world_scene *s, const struct tact_shape *pad, double modulus)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_contact_law law = make_rigid_law(MU);
    struct tact_shape block = box_of_sides(0.06, 0.1, 0.04);
    struct tact_pose base = tact_pose_identity(), here = tact_pose_identity();
    double top = 0.04 - 4e-5, reach = pad->kind == TACT_SHAPE_BOX ? pad->size[2] : pad->size[0];
    struct tact_link_def link = {.parent = -1,
                                 .joint = TACT_JOINT_SLIDE,
                                 .axis = {0, 0, 1},
                                 .origin = tact_pose_identity(),
                                 .stiffness = 1e4,
                                 .damping = 100,
                                 .limit = PRESS,
                                 .start = -0.01,
                                 .mass = 0.05,
                                 .inertia = {1e-5, 1e-5, 1e-5, 0, 0, 0}};
    const double at[3] = {0, 0, 0.02 - 2e-5};
    struct tact_hand *hand;
    o.gravity[2] = 0;
    law.modulus = modulus;
    open_empty_scene(s, &o);
    add_scene_ground(s);
    int b = add_scene_solid(s, &block, BLOCK_MASS, at, 0);
    base.position[2] = top + reach;
    assert_int_equal(tact_hand_create(&link, 1, &base, &hand), 0);
    tact_hand_state(hand).q[0] = 0;
    assert_true(tact_world_add_hand(s->world, hand, 1) == 0);
    tact_hand_refresh(hand);
    struct tact_shape *own = &s->shapes[s->shape_count++];
    *own = *pad;
    assert_int_equal(tact_shape_tessellate(own), 0);
    struct tact_owner owner = {TACT_OWNER_HAND, 0, 0};
    assert_true(tact_world_add_shape(s->world, owner, own, &here, 2) >= 0);
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 2, &law);
    finish_scene_building(s);
    return b;
}

/* Simulates one tick with the load along y, applied as an impulse before the solve. */
static void step_world_with_tangential_load(struct world_scene *s, int b, double load)
{
    tact_world_body(s->world, b)->twist[1] += load / BLOCK_MASS * s->options.period;
    step_scene(s);
}

/* Creep [m] of the block over the last half of `seconds` under a load of
 * `load_as_share_of_friction_limit` of the friction limit; load_cycle_kind: constant (0), times a
 * sine of 2 Hz (1) or of one sign (2). */
static double measure_block_creep(const char *name, const struct tact_shape *pad, double modulus,
                                  double load_as_share_of_friction_limit, int load_cycle_kind,
                                  double seconds, double *turn)
{
    struct world_scene s;
    int b = open_pad_pinch_scene(&s, pad, modulus), ticks = (int)lround(seconds * 1000);
    const struct tact_body *body = tact_world_body(s.world, b);
    double from[3] = {0}, q[4] = {0}, moved[3];
    for (int i = 0; i < ticks; i++) {
        double phase = sin(2 * M_PI * 2 * i * 1e-3);
        double cyclic_load_factor = load_cycle_kind == 1   ? phase
                                    : load_cycle_kind == 2 ? 0.5 + 0.5 * phase
                                                           : 1;
        double is_pad_closed = i < 200 ? 0 : 1; /* the load is zero until the pad has closed */
        step_world_with_tangential_load(&s, b,
                                        is_pad_closed * load_as_share_of_friction_limit * 2 * MU *
                                            PRESS * cyclic_load_factor);
        if (i == ticks / 2) {
            tact_v3_copy(from, body->pose.position);
            memcpy(q, body->pose.quat_wxyz, sizeof q);
        }
    }
    tact_v3_sub(moved, body->pose.position, from);
    double dot = 0;
    for (int i = 0; i < 4; i++) {
        dot += q[i] * body->pose.quat_wxyz[i];
    }
    *turn = 2 * acos(fmin(fabs(dot), 1));
    double distance = tact_v3_norm(moved);
    print_message("%-22s load %.2f of the limit%s: moved %.1e m, turned %.1e rad in %.2f s; N %.4f "
                  "%.4f, %d sweeps, residual %.1e, unsolved %ld\n",
                  name, load_as_share_of_friction_limit,
                  load_cycle_kind == 1 ? ", cyclic"
                  : load_cycle_kind    ? ", pulsing"
                                       : "",
                  distance, *turn, seconds / 2, tact_world_contact(s.world, 0)->impulse[0] * 1e3,
                  tact_world_contact(s.world, 1)->impulse[0] * 1e3, s.max_tick_iterations,
                  s.worst_residual, s.unsolved_ticks);
    close_scene(&s);
    return distance;
}

static void measure_block_creep_under_several_loads(const char *name, const struct tact_shape *pad,
                                                    double modulus)
{
    double turn, shares[3] = {1 / 1.05, 1 / 2.0, 1 / 95.0};
    for (int i = 0; i < 3; i++) {
        assert_true(measure_block_creep(name, pad, modulus, shares[i], 0, 20, &turn) < 1e-9);
    }
    assert_true(measure_block_creep(name, pad, modulus, 0.95, 1, 20, &turn) < 1e-9);
    assert_true(measure_block_creep(name, pad, modulus, 0.95, 2, 20, &turn) < 1e-9);
    /* beyond the limit the block slides for 0.1 s at the excess force over the mass, plus v h /
     * 2 */
    double sliding_distance = measure_block_creep(name, pad, modulus, 1.03, 0, 0.3, &turn);
    double exact = 0.5 * (0.03 * 2 * MU * PRESS / BLOCK_MASS) * 0.1 * 0.1;
    assert_true(fabs(sliding_distance - (exact + 0.5e-3 * 0.3)) < 1e-6 * exact);
}

static void block_under_a_flat_pad_does_not_creep(void **state)
{
    (void)state;
    const struct tact_shape pad = box_of_sides(0.02, 0.02, 0.02);
    measure_block_creep_under_several_loads("flat pad", &pad, 0);
}

static void block_under_a_soft_ball_does_not_creep(void **state)
{
    (void)state;
    const struct tact_shape pad = make_sphere(0.01);
    measure_block_creep_under_several_loads("soft ball", &pad, 3e5);
}

static void block_under_a_hard_ball_does_not_creep(void **state)
{
    (void)state;
    const struct tact_shape pad = make_sphere(0.01);
    measure_block_creep_under_several_loads("hard ball", &pad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_under_a_flat_pad_does_not_creep),
        cmocka_unit_test(block_under_a_soft_ball_does_not_creep),
        cmocka_unit_test(block_under_a_hard_ball_does_not_creep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
