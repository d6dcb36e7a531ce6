/*
 * Random poses and targets of hands from files, whose shapes touch each other: at three periods,
 * every number stays finite, ranges and laws hold, and energy does not rise without an input.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "contact/world/hand_internal.h"
#include "support/run_scene.h"
#include "support/random.h"

enum { POSES = 63, ALL_POSES = 21000, HANDS = 7, PERIODS = 3 };

/* Overlaps of the random pose separate within this time, at 0.5 m/s. */
#define SEPARATION_SECONDS 0.1
/* End of a run; energy is checked from SEPARATION_SECONDS on. */
#define SIMULATED_SECONDS 0.25
/* Target overlap of a contact, to which a deeper overlap returns [m]. */
#define TARGET_DEPTH_M 2e-5
/* Excess of the mean depth over the target up to which energies are compared [m]. */
#define ALLOWED_DEPTH_OVER_TARGET_M 2e-7
/* Largest travel of a contact at an edge or corner while it returns by that excess depth [m]. */
#define LARGEST_CONTACT_TRAVEL_IN_RETURN_M 2e-6

static const char *const files[HANDS] = {
    "allegro_like.xml", "leap_like.xml",     "shadow_like.xml",  "shadow_tendons.xml",
    "inspire_like.xml", "inspire_like.urdf", "allegro_whole.xml"};
static const double tick_periods[PERIODS] = {1e-3, 5e-4, 2e-3};

static struct tact_session *open_hand_session(int file, double period, struct tact_scene **scene)
{
    struct tact_session_options options = tact_session_options_default();
    struct tact_session *session;
    char text[1024];
    snprintf(text, sizeof text,
             "name: poses\nperiod: %s\nmaterials: [{name: skin}]\n"
             "pairs: [{materials: [skin, skin], friction: 0.5}]\n"
             "hands: [{name: hand, file: %s/examples/hands/%s, material: skin, "
             "drive: {stiffness: 1, damping: 0.02}}]\n",
             period < 7e-4   ? "0.0005"
             : period < 2e-3 ? "0.001"
                             : "0.002",
             TACT_SOURCE_DIR, files[file]);
    options.clock = TACT_LOOP_FREE;
    open_session_of_scene_text(text, &options, scene, &session);
    assert_int_equal(tact_session_begin(session), 0);
    return session;
}

/* Sets a random pose within the joint ranges, at rest, and random drive targets. */
static void set_random_pose_and_targets(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        const struct tact_link_def *def = &hand->links[i].def;
        const int has_joint_range = def->lower < def->upper;
        hand->state.q[i] = uniform(has_joint_range ? def->lower : def->start - 0.5,
                                   has_joint_range ? def->upper : def->start + 0.5);
        hand->state.v[i] = 0.0;
        hand->state.target[i] = hand->state.q[i] + uniform(-1.5, 1.5);
    }
    tact_hand_apply_mimic_laws(hand);
}

/* Kinetic energy of the hand, including armature inertia. */
static double kinetic_energy(struct tact_hand *hand, double *mass)
{
    double sum = 0.0;
    tact_hand_mass_matrix(hand, mass);
    for (int i = 0; i < hand->count * hand->count; i++) {
        sum += 0.5 * mass[i] * hand->state.v[i / hand->count] * hand->state.v[i % hand->count];
    }
    return sum;
}

/* Potential energy of weight and drive springs, which are constant torques at their limits. */
static double potential_energy(const struct tact_hand *hand)
{
    double sum = 0.0;
    for (int i = 0; i < hand->count; i++) {
        const struct link *link = &hand->links[i];
        const double k = link->def.stiffness, limit = link->def.limit;
        const double bend =
            fabs(hand->state.target[i] - tact_hand_drive_value_or_rate(hand, i, hand->state.q));
        const double most = limit > 0.0 && k > 0.0 ? limit / k : DBL_MAX;
        sum += bend > most ? limit * (bend - 0.5 * most) : 0.5 * k * bend * bend;
        sum += 9.81 * link->def.mass * link->center[2];
    }
    return sum;
}

/* Largest violation of joint ranges and of the laws of joints that follow others [rad, m]. */
static double joint_range_error(const struct tact_hand *hand, const struct tact_scene_hand *scene)
{
    double worst = 0.0;
    for (int i = 0; i < hand->count; i++) {
        const struct tact_scene_joint *joint = &scene->links[i].joint;
        const struct link *link = &hand->links[i];
        const double q = hand->state.q[i];
        if (joint->lower < joint->upper) {
            worst = fmax(worst, fmax(joint->lower - q, q - joint->upper));
        }
        if (joint->mimic) {
            int other = link->def.mimic - 1;
            worst = fmax(worst, fabs(joint->mimic->offset +
                                     joint->mimic->multiplier * hand->state.q[other] - q));
        }
    }
    return worst;
}

/* Sum of the normal forces of all contacts [N]; *deepest gets the largest depth [m]. */
static double total_normal_force(struct tact_world *world, double period, double *deepest)
{
    double sum = 0.0;
    int count;
    *deepest = 0.0;
    const int *near = tact_world_near(world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(world, near[i]);
        sum += c->touching ? c->impulse[0] / period : 0.0;
        *deepest = c->touching ? fmax(*deepest, c->patch.depth) : *deepest;
    }
    return sum;
}

struct worst_values_from_pose {
    double energy_rise; /* largest rise of energy while no contact returns from an initial overlap
                           [J] */
    double range;       /* largest violation of joint ranges and joint laws [rad, m] */
    long ticks;
};

static void simulate_random_pose(struct tact_session *session, const struct tact_scene *scene,
                                 double *mass, struct worst_values_from_pose *out)
{
    struct tact_world *world = tact_session_world(session);
    struct tact_hand *hand = tact_world_hand(world, 0);
    double least = DBL_MAX, deepest;
    set_random_pose_and_targets(hand);
    tact_world_refresh(world);
    tact_world_begin(world);
    const int part = (int)(SEPARATION_SECONDS / scene->period);
    for (int tick = 0; tick < (int)(SIMULATED_SECONDS / scene->period); tick++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        const double hand_kinetic_energy_j = kinetic_energy(hand, mass),
                     energy = hand_kinetic_energy_j + potential_energy(hand);
        assert_true(isfinite(energy));
        out->range = fmax(out->range, joint_range_error(hand, &scene->hands[0]));
        const double force = total_normal_force(world, scene->period, &deepest);
        if (tick < part || deepest > TARGET_DEPTH_M + ALLOWED_DEPTH_OVER_TARGET_M) {
            least = DBL_MAX;
        } else {
            least = fmin(least, energy);
            out->energy_rise =
                fmax(out->energy_rise, energy - least - force * LARGEST_CONTACT_TRAVEL_IN_RETURN_M);
        }
        out->ticks++;
    }
}

static void hands_in_random_poses_keep_ranges_and_lose_energy(void **state)
{
    (void)state;
    long total_tick_count = 0, total_unsolved_tick_count = 0;
    const int poses = campaign_trial_count(POSES, ALL_POSES) / (HANDS * PERIODS);
    for (int file = 0; file < HANDS; file++) {
        for (int k = 0; k < PERIODS; k++) {
            struct tact_scene *scene;
            struct tact_session *session = open_hand_session(file, tick_periods[k], &scene);
            const int n = tact_hand_count(tact_world_hand(tact_session_world(session), 0));
            double mass[64 * 64];
            struct worst_values_from_pose out = {0};
            assert_true(n <= 64);
            for (int i = 0; i < poses; i++) {
                simulate_random_pose(session, scene, mass, &out);
            }
            struct tact_session_report report;
            assert_int_equal(tact_session_end(session, &report), 0);
            const unsigned long unsolved_ticks = (unsigned long)report.counts[TACT_COUNT_UNSOLVED];
            print_message("%s, %g s: energy rises by %.1e J, ranges are left by %.1e, up to %d "
                          "contacts, %lu of %ld ticks unsolved\n",
                          files[file], tick_periods[k], out.energy_rise, out.range,
                          report.contacts_max, unsolved_ticks, out.ticks);
            assert_true(out.energy_rise <= 1e-9);
            assert_true(out.range <= 1e-9);
            total_tick_count += out.ticks;
            total_unsolved_tick_count += (long)unsolved_ticks;
            tact_session_destroy(session);
            tact_scene_free(scene);
        }
    }
    assert_true(100 * total_unsolved_tick_count <= total_tick_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_in_random_poses_keep_ranges_and_lose_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
