/* The broad phase of shapes compared with all pairs: under motion, jumps, and states that are not
 * finite. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/world_internal.h"
#include "support/random.h"
#include "support/world_scene.h"

enum { BODIES = 40, TICKS = 400 };

/* Balls of sizes over `decades_of_ball_sizes`, some of them two of one body, boxes, a floor, a
 * tilted plane and a fixed ball. */
static void build_balls_of_many_sizes(struct world_scene *s, double decades_of_ball_sizes)
{
    const struct tact_contact_law law = make_rigid_law(0.5);
    const struct tact_shape plane = {.kind = TACT_SHAPE_HALFSPACE}, post = make_sphere(0.2);
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0};
    struct tact_pose tilted = random_pose(0.5);
    open_empty_scene(s, NULL);
    add_scene_ground(s);
    assert_true(tact_world_add_shape(s->world, fixed, &plane, &tilted, 0) >= 0);
    assert_true(tact_world_add_shape(s->world, fixed, &post, &tilted, 0) >= 0);
    for (int i = 0; i < BODIES; i++) {
        struct tact_shape shape =
            i % 3 ? make_sphere(0.3 * pow(10, -uniform(0, decades_of_ball_sizes)))
                  : box_of_sides(uniform(0.02, 0.2), 0.1, uniform(0.02, 0.2));
        const double at[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        int body = add_scene_solid(s, &shape, 1, at, 0);
        if (i % 7 == 0) {
            const struct tact_owner owner = {TACT_OWNER_BODY, body, 0};
            const struct tact_pose shape_pose_in_body = random_pose(0.3);
            shape = make_sphere(0.05);
            assert_true(tact_world_add_shape(s->world, owner, &shape, &shape_pose_in_body, i % 2) >=
                        0);
        }
    }
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    assert_int_equal(tact_world_finish(s->world), 0);
}

/* Whether two shapes are near by the criterion of world_step.c, computed from their poses. */
static int are_shapes_near(const struct tact_world *world, int a, int b)
{
    const struct tact_shape *of[2] = {tact_world_shape(world, a), tact_world_shape(world, b)};
    const struct tact_pose *poses = tact_world_shape_poses(world);
    double apart[3], up[3];
    const double z[3] = {0, 0, 1};
    for (int k = 0; k < 2; k++) {
        if (of[k]->kind == TACT_SHAPE_HALFSPACE) {
            const struct tact_pose *plane = &poses[k ? b : a];
            tact_quat_rotate(up, plane->quat_wxyz, z);
            tact_v3_sub(apart, poses[k ? a : b].position, plane->position);
            return tact_v3_dot(apart, up) < tact_shape_radius(of[!k]);
        }
    }
    tact_v3_sub(apart, poses[a].position, poses[b].position);
    return tact_v3_norm(apart) < tact_shape_radius(of[0]) + tact_shape_radius(of[1]);
}

static void move_bodies_for_broad_phase(struct world_scene *s, int tick)
{
    for (int i = 0; i < BODIES; i++) {
        struct tact_body *body = tact_world_body(s->world, i);
        for (int k = 0; k < 3; k++) {
            body->pose.position[k] += uniform(-1, 1) * (i % 4 ? 1e-3 : 3e-2);
        }
        if (uniform(0, 1) < 2e-3) {
            body->pose = random_pose(1);
        }
    }
    double *lost = &tact_world_body(s->world, 3)->pose.position[tick % 3];
    if (tick % 50 == 20) {
        *lost = tick % 100 == 20 ? NAN : INFINITY;
    } else if (tick % 50 == 25) {
        for (int k = 0; k < 3; k++) {
            tact_world_body(s->world, 3)->pose.position[k] = 0;
        }
    }
}

static void broad_phase_lists_every_near_pair(void **state)
{
    (void)state;
    struct world_scene s;
    build_balls_of_many_sizes(&s, 2);
    struct tact_world *world = s.world;
    int pairs = tact_world_extent(world).pairs, closest = 0;
    double listed = 0, close = 0;
    for (int tick = 0; tick < TICKS; tick++) {
        move_bodies_for_broad_phase(&s, tick);
        tact_world_begin(world);
        int count, at = 0, now = 0;
        const int *near = tact_world_near(world, &count);
        for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
            const struct tact_contact *c = tact_world_contact(world, i);
            int wanted = are_shapes_near(world, c->a, c->b), in = at < count && near[at] == i;
            assert_int_equal(tact_world_is_close(world, i), wanted);
            assert_true(in || !wanted);
            at += in;
            now += wanted;
        }
        assert_int_equal(at, count); /* each near pair is listed once, in ascending order */
        listed += count / (double)TICKS;
        close += now / (double)TICKS;
        closest = now > closest ? now : closest;
    }
    print_message("%d pairs, of which %.0f are close in the mean and %d at most; %.0f listed\n",
                  pairs, close, closest, listed);
    assert_true(close > 20 && listed < 4 * close);
    close_scene(&s);
}

/* A contact that a program wrote to is cleared by the next tick, however far apart its shapes
 * are. */
static void contact_written_by_a_program_is_cleared(void **state)
{
    (void)state;
    struct world_scene s;
    build_balls_of_many_sizes(&s, 2);
    struct tact_world *world = s.world;
    int far = tact_world_next_pair(world, -1);
    while (tact_world_is_close(world, far)) {
        far = tact_world_next_pair(world, far);
    }
    tact_world_add_near(world, far);
    struct tact_contact *c = tact_world_contact(world, far);
    c->warm[2] = 1;
    c->preload = 1e-3;
    tact_world_begin(world);
    solve_scene_velocities(&s);
    assert_true(c->warm[2] == 0 && c->preload == 0);
    close_scene(&s);
}

/* Balls thrown at each other: the state is the same whether pairs are searched for in every tick
 * or only once shapes have moved far enough. */
static void broad_phase_search_in_every_tick_changes_no_bit(void **state)
{
    (void)state;
    struct world_scene s[2];
    uint64_t seed = random_bits();
    int touching = 0, searches = 0;
    for (int k = 0; k < 2; k++) {
        random_state = seed;
        build_balls_of_many_sizes(&s[k], 0.5);
        for (int i = 0; i < BODIES; i++) {
            for (int n = 0; n < 3; n++) {
                tact_world_body(s[k].world, i)->twist[n] = uniform(-1, 1);
            }
        }
    }
    for (int tick = 0; tick < 150; tick++) {
        s[0].world->near.was_broad_phase_searched = 0;
        for (int k = 0; k < 2; k++) {
            step_scene(&s[k]);
            s[k].world->near.was_broad_phase_searched &= k;
            /* begins the tick early, as a session does before it records */
            tact_world_begin(s[k].world);
        }
        searches += memcmp(s[1].world->near.position_at_search, s[0].world->near.position_at_search,
                           (size_t)tact_world_shape_count(s[0].world) * 3 * sizeof(double)) == 0;
        for (int i = tact_world_next_pair(s[0].world, -1); i >= 0;
             i = tact_world_next_pair(s[0].world, i)) {
            const struct tact_contact *a = tact_world_contact(s[0].world, i);
            const struct tact_contact *b = tact_world_contact(s[1].world, i);
            assert_true(a->limits == b->limits && a->touching == b->touching);
            assert_memory_equal(a->warm, b->warm, sizeof a->warm);
            assert_memory_equal(&a->margins, &b->margins, sizeof a->margins);
            touching += a->touching;
        }
        for (int i = 0; i < BODIES; i++) {
            assert_memory_equal(&tact_world_body(s[0].world, i)->pose,
                                &tact_world_body(s[1].world, i)->pose, sizeof(struct tact_pose));
        }
    }
    print_message("%d contacts in 150 ticks, %d searches\n", touching, searches);
    assert_true(touching > 200 && searches > 5 && searches < 75);
    close_scene(&s[0]);
    close_scene(&s[1]);
}

/* Where more contacts touch than the world has room for, the solve reports an error and no impulse
 * is transmitted. */
static void too_many_contacts_are_refused(void **state)
{
    (void)state;
    struct tact_world_options options = tact_world_options_default();
    const struct tact_contact_law law = make_rigid_law(0.5);
    const struct tact_shape ball = make_sphere(0.1);
    struct world_scene s;
    struct tact_solve_stats stats;
    options.contacts = -1;
    struct tact_world *none;
    assert_int_equal(tact_world_create(&options, &none), -EINVAL);
    options.contacts = 2;
    open_empty_scene(&s, &options);
    add_scene_ground(&s);
    for (int i = 0; i < 3; i++) {
        add_scene_solid(&s, &ball, 1, (double[3]){i, 0, 0.1 - 2e-5}, 0);
    }
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    assert_int_equal(tact_world_step(s.world, s.scratch, &stats), -ENOSPC);
    for (int i = tact_world_next_pair(s.world, -1); i >= 0; i = tact_world_next_pair(s.world, i)) {
        assert_true(tact_world_contact(s.world, i)->wrench[2] == 0);
    }
    close_scene(&s);
}

static void too_many_shapes_are_refused(void **state)
{
    (void)state;
    struct tact_world_options options = tact_world_options_default();
    const struct tact_contact_law law = make_rigid_law(0.5);
    const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0};
    const struct tact_pose here = tact_pose_identity();
    struct tact_world *world;
    assert_int_equal(tact_world_create(&options, &world), 0);
    for (int i = 0; i <= TACT_WORLD_MAX_SHAPES; i++) {
        assert_int_equal(tact_world_add_shape(world, fixed, &ground, &here, 0), i);
    }
    assert_int_equal(tact_world_set_law(world, 0, 0, &law), 0);
    assert_int_equal(tact_world_finish(world), -E2BIG);
    tact_world_destroy(world);
}

/* Solves one tick with moments that the host measures. */
static int solve_world_tick_with_host_moments(struct world_scene *s, struct tact_solve_stats *stats)
{
    const int rc = tact_world_measure_near(s->world, s->scratch);
    return rc ? rc : tact_world_solve(s->world, stats);
}

static void move_body_to_height(struct world_scene *s, int body, double z)
{
    tact_world_body(s->world, body)->pose.position[2] = z;
}

/* Room for two near pairs: a third is refused until one of them separates; the pair that then gets
 * the free contact starts from a cleared state. */
static void freed_contact_of_the_pool_starts_cleared(void **state)
{
    (void)state;
    struct tact_world_options options = tact_world_options_default();
    const struct tact_contact_law law = make_rigid_law(0.5);
    const struct tact_shape ball = make_sphere(0.1);
    const double touching = 0.1 - 1e-4;
    struct world_scene s;
    struct tact_solve_stats stats;
    struct tact_world *none;
    options.near = -1;
    assert_int_equal(tact_world_create(&options, &none), -EINVAL);
    options.near = 2;
    open_empty_scene(&s, &options);
    add_scene_ground(&s);
    for (int i = 0; i < 3; i++) {
        add_scene_solid(&s, &ball, 1, (double[3]){i, 0, touching}, 0);
    }
    set_scene_contact_law(&s, 0, 1, &law);
    finish_scene_building(&s);
    assert_int_equal(tact_world_near_capacity(s.world), 2);
    assert_int_equal(solve_world_tick_with_host_moments(&s, &stats), -ENOSPC);
    move_body_to_height(&s, 2, 5);
    assert_int_equal(solve_world_tick_with_host_moments(&s, &stats), 0);
    assert_int_equal(solve_world_tick_with_host_moments(&s, &stats), 0);
    const int first = tact_world_pair_between(s.world, 0, 1),
              third = tact_world_pair_between(s.world, 0, 3);
    assert_true(tact_world_contact(s.world, first)->wrench[2] != 0);
    assert_true(tact_world_slot(s.world, third) < 0);
    const int slot = tact_world_slot(s.world, first);
    move_body_to_height(&s, 0, 5);
    /* the pair separates in this tick and is still listed as near */
    assert_int_equal(solve_world_tick_with_host_moments(&s, &stats), 0);
    move_body_to_height(&s, 2, touching);
    assert_int_equal(solve_world_tick_with_host_moments(&s, &stats), 0);
    assert_int_equal(tact_world_slot(s.world, third), slot);
    assert_true(tact_world_slot(s.world, first) < 0);
    assert_true(tact_world_contact(s.world, first)->wrench[2] == 0);
    const struct tact_contact *c = tact_world_contact(s.world, third);
    assert_true(c->touching && c->a == 0 && c->b == 3 && c->patch.center[0] == 2);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broad_phase_lists_every_near_pair),
        cmocka_unit_test(contact_written_by_a_program_is_cleared),
        cmocka_unit_test(broad_phase_search_in_every_tick_changes_no_bit),
        cmocka_unit_test(too_many_contacts_are_refused),
        cmocka_unit_test(too_many_shapes_are_refused),
        cmocka_unit_test(freed_contact_of_the_pool_starts_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
