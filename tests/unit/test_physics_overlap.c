/* Overlaps that joints cannot open, or hardly: the stabilisation is bounded in force and in energy
 * whatever the levers, and an overlap present at the start is not pushed open. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/campaign.h"
#include "support/world_scene.h"

#define G 9.81

static const double tick_periods[3] = {1e-3, 5e-4, 2.5e-4};

static struct tact_world_options world_options_of_period(double h)
{
    struct tact_world_options options = tact_world_options_default();
    options.period = h;
    return options;
}

static struct tact_link_def make_link_def(int parent, enum tact_joint_kind joint, double mass)
{
    const double inertia = mass * 0.01 * 0.01;
    struct tact_link_def def = {.parent = parent,
                                .joint = joint,
                                .origin = tact_pose_identity(),
                                .mass = mass,
                                .inertia = {inertia, inertia, inertia}};
    return def;
}

static struct tact_hand *add_scene_hand(struct world_scene *s, const struct tact_link_def *links,
                                        int count)
{
    const struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand = NULL;
    assert_int_equal(tact_hand_create(links, count, &base, &hand), 0);
    assert_true(tact_world_add_hand(s->world, hand, 0) >= 0);
    return hand;
}

/* A capsule along x from the link's joint on; a ball where its length is 0. */
static void add_link_shape(struct world_scene *s, int link, double radius, double length)
{
    const double turn = length > 0 ? sqrt(0.5) : 0;
    const struct tact_pose local = {{0.5 * length, 0, 0}, {sqrt(1 - turn * turn), 0, turn, 0}};
    const struct tact_owner owner = {TACT_OWNER_HAND, 0, link};
    struct tact_shape *own = &s->shapes[s->shape_count++];
    *own = length > 0 ? (struct tact_shape){.kind = TACT_SHAPE_CAPSULE,
                                            .size = {radius, 0.5 * length - 2e-3}}
                      : make_sphere(radius);
    assert_int_equal(tact_shape_tessellate(own), 0);
    assert_true(tact_world_add_shape(s->world, owner, own, &local, 1) >= 0);
}

static void prepare_world_with_friction(struct world_scene *s, double mu)
{
    const struct tact_contact_law law = make_rigid_law(mu);
    set_scene_contact_law(s, 0, 1, &law);
    set_scene_contact_law(s, 1, 1, &law);
    finish_scene_building(s);
}

/* Steps, and returns the largest normal force of any contact in any tick [N]. Fails where a joint's
 * state is not finite. */
static double largest_contact_force_in_run(struct world_scene *s, double seconds)
{
    double most = 0;
    for (long i = lround(seconds / s->options.period); i > 0; i--) {
        step_scene(s);
        for (int k = tact_world_next_pair(s->world, -1); k >= 0;
             k = tact_world_next_pair(s->world, k)) {
            const struct tact_contact *c = tact_world_contact(s->world, k);
            most = c->touching ? fmax(most, c->impulse[0] / s->options.period) : most;
        }
        for (int k = 0; k < tact_world_hand_count(s->world); k++) {
            struct tact_hand *hand = tact_world_hand(s->world, k);
            for (int j = 0; j < tact_hand_count(hand); j++) {
                assert_true(isfinite(tact_hand_state(hand).q[j] + tact_hand_state(hand).v[j]));
            }
        }
    }
    return most;
}

/* A ball of 10 mm and 100 g on a slide along [1, 0, slope], `depth` inside the ground. */
static struct tact_hand *open_slide_joint_scene_in_overlap(struct world_scene *s, double h,
                                                           double slope, double depth)
{
    const struct tact_world_options options = world_options_of_period(h);
    struct tact_link_def def = make_link_def(-1, TACT_JOINT_SLIDE, 0.1);
    tact_v3_set(def.axis, 1, 0, slope);
    def.origin.position[2] = 0.01 - depth;
    open_empty_scene(s, &options);
    add_scene_ground(s);
    struct tact_hand *hand = add_scene_hand(s, &def, 1);
    add_link_shape(s, 0, 0.01, 0);
    return hand;
}

static const double tested_slide_joint_slopes[] = {0,    1e-15, 1e-12, 1e-9, 1e-6,
                                                   1e-4, 1e-3,  1e-2,  0.1,  1};

/* A slide that starts inside the ground is moved only by the component of the weight along its
 * axis. (When overlaps at the start were opened: 5.5e11 N and 60 m at a slope of 1e-6.) */
static void slide_joint_that_starts_in_overlap_is_not_pushed_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tested_slide_joint_slopes / sizeof *tested_slide_joint_slopes;
         i++) {
        for (int k = 0; k < 6; k++) {
            struct world_scene s;
            double along = tested_slide_joint_slopes[i] / hypot(1, tested_slide_joint_slopes[i]);
            struct tact_hand *hand = open_slide_joint_scene_in_overlap(
                &s, tick_periods[k % 3], tested_slide_joint_slopes[i], 1e-4);
            prepare_world_with_friction(&s, k < 3 ? 0.5 : 0);
            double most = largest_contact_force_in_run(&s, 0.5), moved = tact_hand_state(hand).q[0];
            print_message("slope %g, h %g, mu %g: %.2e N, moved %.2e m\n",
                          tested_slide_joint_slopes[i], tick_periods[k % 3], k < 3 ? 0.5 : 0, most,
                          moved);
            assert_true(most <= 10 * 0.1 * G);
            assert_true(moved <= 1e-9 && moved >= -0.5 * G * along * 0.5 * 0.51);
            assert_int_equal(s.unsolved_ticks, 0);
            close_scene(&s);
        }
    }
}

/* A slide that is put inside the ground after the start: the overlap is opened where the joint
 * allows it, with no more force than on a free ball, and otherwise left as it is and reported. */
static void slide_joint_put_in_overlap_is_opened_or_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tested_slide_joint_slopes / sizeof *tested_slide_joint_slopes;
         i++) {
        for (int k = 0; k < 3; k++) {
            struct world_scene s;
            struct tact_hand *hand = open_slide_joint_scene_in_overlap(
                &s, tick_periods[k], tested_slide_joint_slopes[i], 1e-4);
            const struct tact_contact_law law = make_rigid_law(0);
            set_scene_contact_law(&s, 0, 1, &law);
            assert_int_equal(tact_world_finish(s.world), 0);
            double most = largest_contact_force_in_run(&s, 0.2), speed = tact_hand_state(hand).v[0];
            const struct tact_contact *c = tact_world_contact(s.world, 0);
            print_message("slope %g, h %g: %.2e N, %.2e m/s, stuck %d\n",
                          tested_slide_joint_slopes[i], tick_periods[k], most, speed, c->stuck);
            assert_true(most <= 1e3 * 0.1 * G);
            assert_true(speed < 1);
            assert_true(tested_slide_joint_slopes[i] == 1e-3 ||
                        c->stuck == (tested_slide_joint_slopes[i] < 1e-3));
            close_scene(&s);
        }
    }
}

/* A finger of three links starts 1.5 mm inside its palm, on a joint that turns in the palm's
 * plane. (Without bounds: 1e22 N.) */
static void finger_that_starts_inside_its_palm_feels_bounded_force(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        /* axis of the joint: along the palm, out of the palm, along the finger */
        for (int k = 0; k < 3; k++) {
            struct world_scene s;
            const struct tact_world_options options = world_options_of_period(tick_periods[i]);
            const double axes[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
            struct tact_link_def links[3];
            for (int j = 0; j < 3; j++) {
                links[j] = make_link_def(j - 1, TACT_JOINT_HINGE, 0.05);
                tact_v3_copy(links[j].axis, axes[j ? 0 : k]);
                tact_v3_set(links[j].origin.position, j ? 0.04 : 0, 0, j ? 0 : 0.0085);
                links[j].stiffness = 2;
                links[j].damping = 0.02;
                links[j].limit = j ? 1 : 0;
            }
            open_empty_scene(&s, &options);
            add_scene_ground(&s);
            struct tact_hand *hand = add_scene_hand(&s, links, 3);
            add_link_shape(&s, 0, 0.01, 0.04);
            add_link_shape(&s, 1, 0.008, 0.03);
            add_link_shape(&s, 2, 0.008, 0);
            prepare_world_with_friction(&s, 0.5);
            assert_int_equal(tact_world_contact(s.world, 0)->stuck, k > 0);
            double most = largest_contact_force_in_run(&s, 0.3);
            print_message("h %g, axis %d: %.2f N\n", tick_periods[i], k, most);
            assert_true(most <= 100 * 0.15 * G);
            assert_true(fabs(tact_hand_state(hand).q[0]) < 0.1);
            close_scene(&s);
        }
    }
}

/* Four fingers of three joints with real dimensions, whose first links overlap each other and the
 * palm, with self-contact. (Without bounds: NaN in tick 5.) */
static void hand_with_overlapping_links_at_the_start_stays_bounded(void **state)
{
    (void)state;
    static const double length[3] = {0.045, 0.025, 0.02}, radius[3] = {0.0095, 0.0085, 0.008};
    static const double mass[3] = {0.03, 0.018, 0.012}, stiffness[3] = {3, 1.5, 0.8};
    for (int i = 0; i < campaign_trial_count(3, 3); i++) {
        struct world_scene s;
        const struct tact_world_options options = world_options_of_period(tick_periods[i]);
        const struct tact_pose inside = {{-0.045, 0, 0}, {1}};
        const struct tact_shape palm_shape = box_of_sides(0.09, 0.085, 0.024);
        struct tact_link_def links[12];
        open_empty_scene(&s, &options);
        add_scene_shape(&s, -1, &palm_shape, &inside, 0);
        for (int j = 0; j < 12; j++) {
            int k = j % 3;
            links[j] = make_link_def(k ? j - 1 : -1, TACT_JOINT_HINGE, mass[k]);
            tact_v3_set(links[j].axis, 0, 1, 0);
            tact_v3_set(links[j].origin.position, k ? length[k - 1] : 0,
                        k ? 0 : (j / 3 - 1.5) * 0.018, 0);
            links[j].stiffness = stiffness[k];
            links[j].damping = 0.01;
            links[j].limit = 1;
            links[j].start = 0.2;
        }
        struct tact_hand *hand = add_scene_hand(&s, links, 12);
        for (int j = 0; j < 12; j++) {
            add_link_shape(&s, j, radius[j % 3], length[j % 3]);
        }
        prepare_world_with_friction(&s, 0.5);
        double most = largest_contact_force_in_run(&s, 0.2);
        print_message("h %g: %.2f N\n", tick_periods[i], most);
        assert_true(most <= 1e3 * (4 * 0.06 * G + 12 * 1 / 0.02));
        for (int j = 0; j < 12; j++) {
            assert_true(fabs(tact_hand_state(hand).q[j] - 0.2) < 0.5);
        }
        close_scene(&s);
    }
}

/* Puts a box between two walls whose distance is 1 mm less than its width, without a start of the
 * world. Returns its body. */
static int put_box_between_walls(struct world_scene *s, const struct tact_world_options *options,
                                 double friction)
{
    const struct tact_shape wall = box_of_sides(0.1, 0.1, 0.1),
                            box = box_of_sides(0.05, 0.05, 0.05);
    const struct tact_contact_law law = make_rigid_law(friction);
    open_empty_scene(s, options);
    for (int k = -1; k < 2; k += 2) {
        const struct tact_pose at = {{k * 0.0745, 0, 0}, {1}};
        add_scene_shape(s, -1, &wall, &at, 0);
    }
    int b = add_scene_solid(s, &box, 0.2, (double[3]){0, 0, 0}, 0);
    set_scene_contact_law(s, 0, 1, &law);
    assert_int_equal(tact_world_finish(s->world), 0);
    return b;
}

/* A box put between a floor and a ceiling whose distance is 1 mm less than its height: the two
 * contact forces balance. */
static void box_jammed_between_walls_is_in_balance(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_world_options options = world_options_of_period(tick_periods[i]);
        tact_v3_set(options.gravity, G, 0, 0); /* gravity along x */
        int b = put_box_between_walls(&s, &options, 0.5);
        double most = largest_contact_force_in_run(&s, 0.5);
        const double *at = tact_world_body(s.world, b)->pose.position;
        print_message("h %g: %.3g N, box at %.2e %.2e %.2e\n", tick_periods[i], most, at[0], at[1],
                      at[2]);
        assert_true(most <= 1e3 * 0.2 * G);
        assert_true(fabs(at[0]) < 1e-3);
        close_scene(&s);
    }
}

/* A box jammed between walls, gravity along them: the force of stabilisation is bounded but not
 * zero, and its friction carries the box; without friction the box falls freely. */
static void box_jammed_between_walls_is_carried_by_friction(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct world_scene s;
        const struct tact_world_options options = world_options_of_period(tick_periods[i % 3]);
        const double friction = i < 3 ? 0.5 : 0;
        int b = put_box_between_walls(&s, &options, friction);
        double t = 0.05, most = largest_contact_force_in_run(&s, t);
        double distance_fallen = -tact_world_body(s.world, b)->pose.position[2];
        print_message("h %g, mu %g: %.3g N, fell %.3e m\n", options.period, friction, most,
                      distance_fallen);
        assert_true(most <= 1e3 * 0.2 * G);
        if (friction > 0) {
            /* the box slides 81 um until the force has grown, then creeps at 1.2 um/s */
            assert_true(fabs(distance_fallen) <= 3e-4);
        } else {
            assert_true(fabs(distance_fallen - 0.5 * G * t * t) <= 0.6 * G * t * options.period);
        }
        for (int wall = 0; wall < 2; wall++) {
            int pair = tact_world_pair_between(s.world, wall, 2);
            assert_true(tact_world_contact(s.world, pair)->stuck);
        }
        close_scene(&s);
    }
}

/* A box put 1 mm into the floor, which can move out, is never reported as stuck. */
static void overlapping_box_that_can_move_is_not_reported_as_stuck(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        const struct tact_world_options options = world_options_of_period(tick_periods[i]);
        const struct tact_shape box = box_of_sides(0.05, 0.05, 0.05);
        const struct tact_contact_law law = make_rigid_law(0.5);
        open_empty_scene(&s, &options);
        add_scene_ground(&s);
        int b = add_scene_solid(&s, &box, 0.2, (double[3]){0, 0, 0.024}, 0);
        set_scene_contact_law(&s, 0, 1, &law);
        assert_int_equal(tact_world_finish(s.world), 0);
        for (long k = lround(0.2 / options.period); k > 0; k--) {
            step_scene(&s);
            assert_int_equal(tact_world_contact(s.world, 0)->stuck, 0);
        }
        assert_true(tact_world_body(s.world, b)->pose.position[2] > 0.02497);
        close_scene(&s);
    }
}

/* A ball wholly inside a box has no contact normal: no contact and no force, and it is reported as
 * stuck from the start on. On a slide whose drive moves it out it touches again, without being
 * pushed. */
static void ball_wholly_inside_a_box_feels_no_force(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        struct tact_world_options options = world_options_of_period(tick_periods[i]);
        tact_v3_set(options.gravity, 0, 0, 0);
        const struct tact_shape box = box_of_sides(0.1, 0.1, 0.1);
        const struct tact_pose here = tact_pose_identity();
        struct tact_link_def def = make_link_def(-1, TACT_JOINT_SLIDE, 0.1);
        tact_v3_set(def.axis, 1, 0, 0);
        def.stiffness = 100;
        def.damping = 10;
        open_empty_scene(&s, &options);
        add_scene_shape(&s, -1, &box, &here, 0);
        struct tact_hand *hand = add_scene_hand(&s, &def, 1);
        add_link_shape(&s, 0, 0.01, 0);
        prepare_world_with_friction(&s, 0.5);
        struct tact_contact *c = tact_world_contact(s.world, 0);
        assert_true(c->stuck && c->preload > 0.1);
        double most = largest_contact_force_in_run(&s, 0.1);
        assert_true(most == 0 && c->stuck && !c->touching);
        assert_true(tact_hand_state(hand).q[0] == 0);
        tact_hand_state(hand).target[0] = 0.07;
        double largest_speed = 0;
        for (long k = lround(0.5 / options.period); k > 0; k--) {
            step_scene(&s);
            most = c->touching ? fmax(most, c->impulse[0] / options.period) : most;
            largest_speed = fmax(largest_speed, tact_hand_state(hand).v[0]);
        }
        print_message("h %g: leaves at %.3f m/s, %.2e N\n", options.period, largest_speed, most);
        assert_false(c->stuck || c->touching);
        assert_true(largest_speed < 0.07 * 100 / 10 && most < 100 * 0.07);
        close_scene(&s);
    }
}

/* A box that starts deep is carried at that depth; lifted by less than the overlap it stays at the
 * new depth, and lifted out it returns to the target depth and no deeper. */
static void initial_overlap_is_kept_and_only_shrinks(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world_scene s;
        const struct tact_world_options options = world_options_of_period(tick_periods[i]);
        const struct tact_shape box = box_of_sides(0.05, 0.05, 0.05);
        const double box_start_heights[4] = {0.020, 0.020, 0.022, 0.026};
        const double box_resting_heights[4] = {0.020, 0.020, 0.022, 0.025 - 2e-5};
        open_empty_scene(&s, &options);
        add_scene_ground(&s);
        int b = add_scene_solid(&s, &box, 0.2, (double[3]){0, 0, box_start_heights[0]}, 0);
        prepare_world_with_friction(&s, 0.5);
        assert_true(fabs(tact_world_contact(s.world, 0)->preload - (0.005 - 2e-5)) < 1e-12);
        for (int k = 0; k < 4; k++) {
            struct tact_body *body = tact_world_body(s.world, b);
            body->pose.position[2] = box_start_heights[k];
            tact_world_refresh(s.world);
            double most = largest_contact_force_in_run(&s, 0.5);
            print_message("h %g, put at %.3f: %.4f N, rests at %.9f\n", tick_periods[i],
                          box_start_heights[k], most, body->pose.position[2]);
            assert_true(fabs(body->pose.position[2] - box_resting_heights[k]) < 3e-7);
            assert_true(k == 3 || (most > 0.999 * 0.2 * G && most < 1.5 * 0.2 * G));
        }
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slide_joint_that_starts_in_overlap_is_not_pushed_out),
        cmocka_unit_test(slide_joint_put_in_overlap_is_opened_or_reported),
        cmocka_unit_test(finger_that_starts_inside_its_palm_feels_bounded_force),
        cmocka_unit_test(hand_with_overlapping_links_at_the_start_stays_bounded),
        cmocka_unit_test(box_jammed_between_walls_is_in_balance),
        cmocka_unit_test(box_jammed_between_walls_is_carried_by_friction),
        cmocka_unit_test(overlapping_box_that_can_move_is_not_reported_as_stuck),
        cmocka_unit_test(ball_wholly_inside_a_box_feels_no_force),
        cmocka_unit_test(initial_overlap_is_kept_and_only_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
