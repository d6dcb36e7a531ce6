/*
 * Armature, friction and stops of the joints of hands, against closed forms of a pendulum and of a
 * rotor, and random trees of joints that are thrown into their stops.
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
#include "contact/world/hand_internal.h"
#include "support/random.h"
#include "support/world_scene.h"
#include "support/worst.h"

static const double G = 9.81, ROTOR_MASS = 0.2, LENGTH = 0.1, INERTIA = 3e-4;
static const double tick_periods[] = {5e-4, 1e-3, 2e-3};

/* A rod that hangs from a hinge about y at joint value 0. */
static struct tact_link_def make_pendulum_link(void)
{
    return (struct tact_link_def){.parent = -1,
                                  .joint = TACT_JOINT_HINGE,
                                  .axis = {0, 1, 0},
                                  .origin = tact_pose_identity(),
                                  .mass = ROTOR_MASS,
                                  .center = {0, 0, -LENGTH},
                                  .inertia = {INERTIA, INERTIA, 1e-5, 0, 0, 0}};
}

/* Creates a world of one hand. */
static struct tact_hand *open_hand_scene(struct world_scene *s, double h,
                                         const struct tact_link_def *link_definitions, int count,
                                         int weightless)
{
    struct tact_world_options options = tact_world_options_default();
    const struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    options.period = h;
    open_empty_scene(s, &options);
    assert_int_equal(tact_hand_create(link_definitions, count, &base, &hand), 0);
    assert_int_equal(tact_world_add_hand(s->world, hand, weightless), 0);
    finish_scene_building(s);
    return hand;
}

static void assert_near(double got, double exact, double tolerance)
{
    if (!(fabs(got - exact) <= tolerance)) {
        print_message("%.17g, exact %.17g\n", got, exact);
    }
    assert_true(fabs(got - exact) <= tolerance);
}

/* A pendulum that swings into a stop loses its energy there, rests on it to rounding, and the stop
 * bears its weight. */
static void pendulum_rests_on_its_joint_stop(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        const double h = tick_periods[i / 2], side = i % 2 ? 1.0 : -1.0, stop = 0.2 * side;
        struct tact_link_def def = make_pendulum_link();
        struct world_scene s;
        def.lower = i % 2 ? stop : -2.0;
        def.upper = i % 2 ? 2.0 : stop;
        def.start = 1.5 * side;
        struct tact_hand *hand = open_hand_scene(&s, h, &def, 1, 0);
        const struct tact_hand_state q = tact_hand_state(hand);
        double peak_joint_rate = 0.0;
        while (q.stop[0] == 0.0) {
            peak_joint_rate = fmax(peak_joint_rate, fabs(q.v[0]));
            step_scene(&s);
        }
        const double j = INERTIA + ROTOR_MASS * LENGTH * LENGTH, weight = ROTOR_MASS * G * LENGTH;
        /* speed from the height that the pendulum has lost; the integrator's error is of first
         * order */
        assert_near(peak_joint_rate, sqrt(2.0 * weight * (cos(stop) - cos(1.5)) / j), 40.0 * h);
        step_scene(&s);
        for (int k = 0; k < 200; k++) {
            step_scene(&s);
            assert_near(q.q[0], stop, 1e-15);
            assert_near(q.v[0], 0.0, 1e-12);
            assert_near(q.reaction[0], weight * sin(stop), 1e-12);
            assert_true(q.stop[0] == -side);
        }
        assert_int_equal(s.unsolved_ticks, 0);
        close_scene(&s);
    }
}

/* A rotor with dry friction stops after v J / f, at v^2 J / (2 f), and then does not move: nor
 * under a torque just below the friction; above it the difference accelerates it. */
static void dry_joint_friction_stops_and_holds_a_rotor(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double h = tick_periods[i], friction = 0.05, armature = 1e-3, rate = 4.0;
        const double j = INERTIA + ROTOR_MASS * LENGTH * LENGTH + armature;
        struct tact_link_def def = make_pendulum_link();
        struct world_scene s;
        def.friction = friction;
        def.armature = armature;
        def.stiffness = 1e-3; /* the drive's gain is so small that its target acts as a torque */
        struct tact_hand *hand = open_hand_scene(&s, h, &def, 1, 1);
        const struct tact_hand_state q = tact_hand_state(hand);
        q.v[0] = rate;
        const int ticks = (int)ceil(rate * j / friction / h);
        for (int k = 0; k < ticks + 100; k++) {
            q.target[0] = q.q[0];
            step_scene(&s);
            assert_near(q.v[0], fmax(0.0, rate - (k + 1) * h * friction / j), 5e-4);
        }
        assert_true(q.v[0] == 0.0);
        assert_near(q.q[0], rate * rate * j / (2.0 * friction), rate * h);
        const double at = q.q[0];
        q.target[0] = at + 0.999 * friction / 1e-3;
        for (int k = 0; k < 100; k++) {
            step_scene(&s);
            assert_near(q.reaction[0], -0.999 * friction, 1e-12);
        }
        assert_near(q.q[0], at, 1e-15);
        q.target[0] = at + 1.5 * friction / 1e-3;
        step_scene(&s);
        assert_near(q.v[0], 0.5 * friction / j * h, 1e-5 * h);
        assert_near(q.reaction[0], -friction, 1e-15);
        close_scene(&s);
    }
}

/* The rate of a rotor with viscous friction decays by 1 / (1 + h V / J) a tick; the limit of its
 * drive does not limit it. */
static void viscous_joint_friction_slows_a_rotor(void **state)
{
    (void)state;
    const double h = 1e-3, viscous = 0.02, j = INERTIA + ROTOR_MASS * LENGTH * LENGTH;
    struct tact_link_def def = make_pendulum_link();
    struct world_scene s;
    def.viscous = viscous;
    def.limit = 1e-9;
    def.stiffness = 1.0;
    struct tact_hand *hand = open_hand_scene(&s, h, &def, 1, 1);
    const struct tact_hand_state q = tact_hand_state(hand);
    q.v[0] = 10.0;
    for (int k = 0; k < 300; k++) {
        const double before = q.v[0];
        step_scene(&s);
        assert_near(q.v[0], before / (1.0 + h * viscous / j), 1e-8);
    }
    close_scene(&s);
}

/* Small swings of a pendulum with an armature have the period 2 pi sqrt((J + armature) / (m g l)).
 */
static void joint_armature_slows_a_swing(void **state)
{
    (void)state;
    const double h = 1e-3, armature = 4e-3;
    const double j = INERTIA + ROTOR_MASS * LENGTH * LENGTH + armature,
                 weight = ROTOR_MASS * G * LENGTH;
    struct tact_link_def def = make_pendulum_link();
    struct world_scene s;
    def.armature = armature;
    def.start = 1e-3;
    struct tact_hand *hand = open_hand_scene(&s, h, &def, 1, 0);
    const struct tact_hand_state q = tact_hand_state(hand);
    double first = 0.0, last = 0.0;
    int crossings = 0;
    for (int k = 0; crossings < 21; k++) {
        const double before = q.q[0];
        step_scene(&s);
        if (before < 0.0 && q.q[0] >= 0.0) {
            last = h * (k - before / (q.q[0] - before));
            first = crossings++ ? first : last;
        }
    }
    assert_near((last - first) / 20.0, 2.0 * M_PI * sqrt(j / weight), 1e-5);
    close_scene(&s);
}

enum { JOINTS = 8, TREES = 60, ALL_TREES = 1000, TICKS = 150 };

/* A branched tree with nearly singular axes: link 3 and 6 branch off link 0. */
static void make_random_joint_tree(struct tact_link_def link_definitions[JOINTS])
{
    for (int i = 0; i < JOINTS; i++) {
        const int slides = uniform(0, 1) < 0.2;
        const double reach = slides ? 0.02 : 0.5, start = uniform(-1, 1) * reach;
        link_definitions[i] = (struct tact_link_def){
            .parent = i == 3 || i == 6 ? 0 : i - 1,
            .joint = slides ? TACT_JOINT_SLIDE : TACT_JOINT_HINGE,
            .axis = {uniform(-1e-6, 1e-6), 1.0, uniform(0, 1) < 0.5 ? 0.0 : uniform(-1, 1)},
            .origin = {{0.03, 0, 0}, {1, 0, 0, 0}},
            .start = start,
            .mass = exp(uniform(log(5e-3), log(0.2))),
            .center = {0.015, 0, uniform(-0.01, 0.01)},
            .inertia = {1e-6, 4e-6, 4e-6, 0, 0, 0}};
        if (uniform(0, 1) < 0.8) {
            link_definitions[i].lower = start - uniform(0.0, 0.3) * reach;
            link_definitions[i].upper = start + uniform(0.01, 0.3) * reach;
        }
        if (uniform(0, 1) < 0.5) {
            link_definitions[i].friction = exp(uniform(log(1e-4), log(0.1)));
        }
        if (uniform(0, 1) < 0.5) {
            link_definitions[i].armature = exp(uniform(log(1e-6), log(1e-3)));
        }
    }
}

/* Kinetic energy v M v / 2 with the mass matrix of the last tick. */
static double kinetic_energy_by_mass_matrix(const struct tact_hand *hand, const double *v)
{
    double sum = 0.0;
    for (int i = 0; i < JOINTS; i++) {
        for (int k = 0; k < JOINTS; k++) {
            sum += 0.5 * v[i] * hand->mass[i * JOINTS + k] * v[k];
        }
    }
    return sum;
}

/* Simulates a tree of links with joint stops and friction: no joint passes its stop, friction is
 * within its limit, and energy never exceeds that of the same tick without stops and friction. */
static void simulate_thrown_tree(const struct tact_link_def *link_definitions, double h, int trial,
                                 struct worst worst[3])
{
    struct world_scene s;
    struct tact_hand *hand = open_hand_scene(&s, h, link_definitions, JOINTS, trial % 2);
    const struct tact_hand_state q = tact_hand_state(hand);
    for (int i = 0; i < JOINTS; i++) {
        q.v[i] = uniform(-1, 1) * (link_definitions[i].joint == TACT_JOINT_SLIDE ? 0.3 : 10.0);
    }
    tact_hand_refresh(hand);
    for (int tick = 0; tick < TICKS; tick++) {
        /* as in the tick, with the mass matrix of the tick before */
        double rates_without_stops[JOINTS], expected[JOINTS];
        static const double none[3] = {0.0, 0.0, 0.0};
        const double *gravity = trial % 2 ? none : s.options.gravity;
        for (int i = 0; i < JOINTS; i++) {
            expected[i] = h * q.reaction[i];
        }
        assert_int_equal(tact_hand_free_velocity(hand, h, gravity, expected), 0);
        memcpy(rates_without_stops, tact_hand_velocity(hand), sizeof rates_without_stops);
        step_scene(&s);
        const double most = kinetic_energy_by_mass_matrix(hand, rates_without_stops);
        record_if_worst(&worst[0],
                        (kinetic_energy_by_mass_matrix(hand, q.v) - most) / (most + 1e-20), trial);
        for (int i = 0; i < JOINTS; i++) {
            if (link_definitions[i].lower < link_definitions[i].upper) {
                double joint_value_beyond_stop =
                    fmax(link_definitions[i].lower - q.q[i], q.q[i] - link_definitions[i].upper);
                record_if_worst(&worst[1], joint_value_beyond_stop, trial);
            } else {
                record_if_worst(&worst[2], fabs(q.reaction[i]) - link_definitions[i].friction,
                                trial);
            }
        }
    }
    assert_int_equal(s.unsolved_ticks, 0);
    close_scene(&s);
}

static void thrown_joint_trees_stay_within_their_stops(void **state)
{
    (void)state;
    struct worst worst[3] = {{0}};
    const int tree_count = campaign_trial_count(TREES, ALL_TREES);
    for (int trial = 0; trial < tree_count; trial++) {
        struct tact_link_def link_definitions[JOINTS];
        make_random_joint_tree(link_definitions);
        simulate_thrown_tree(link_definitions, tick_periods[trial % 3], trial, worst);
    }
    print_message("energy over that without bounds, relative %.2e; beyond a stop %.2e rad or m; "
                  "friction over its limit %.2e N m\n",
                  worst[0].value, worst[1].value, worst[2].value);
    assert_true(worst[0].value < 1e-9);
    assert_true(worst[1].value < 1e-9);
    assert_true(worst[2].value < 1e-12);
}

static void unphysical_joints_are_refused(void **state)
{
    (void)state;
    struct tact_link_def bad[7];
    const struct tact_pose base = tact_pose_identity();
    struct tact_hand *hand;
    for (int i = 0; i < 7; i++) {
        bad[i] = make_pendulum_link();
    }
    bad[0].armature = -1e-3;
    bad[1].viscous = -1e-3;
    bad[2].friction = -1e-3;
    bad[3].lower = NAN;
    bad[4].upper = INFINITY;
    bad[5].start = 0.3; /* beyond its stops */
    bad[6].start = -0.3;
    for (int i = 5; i < 7; i++) {
        bad[i].lower = -0.2;
        bad[i].upper = 0.2;
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(tact_hand_create(&bad[i], 1, &base, &hand), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_rests_on_its_joint_stop),
        cmocka_unit_test(dry_joint_friction_stops_and_holds_a_rotor),
        cmocka_unit_test(viscous_joint_friction_slows_a_rotor),
        cmocka_unit_test(joint_armature_slows_a_swing),
        cmocka_unit_test(thrown_joint_trees_stay_within_their_stops),
        cmocka_unit_test(unphysical_joints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
