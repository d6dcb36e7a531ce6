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

enum { POSES = 54, ALL_POSES = 6012, HANDS = 6, PERIODS = 3 };

#define PART_SECONDS 0.1  /* an overlap of the random pose parts at 0.5 m/s */
#define POSE_SECONDS 0.25 /* and the energy is watched until then */
#define TARGET_DEPTH 2e-5 /* overlap of a contact, to which a deeper one returns [m] */
#define DEPTH_LEFT 2e-7   /* mean depth by which it may be deeper where energy is compared [m] */
#define LARGEST_WAY                                                                                \
    2e-6 /* way of a contact while it returns by that, with an edge or a corner [m] */

static const char *const files[HANDS] = {"allegro_like.xml", "leap_like.xml",
                                         "shadow_like.xml",  "shadow_tendons.xml",
                                         "inspire_like.xml", "inspire_like.urdf"};
static const double periods[PERIODS] = {1e-3, 5e-4, 2e-3};

static struct tact_session *open_hand(int file, double period, struct tact_scene **scene)
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

/* A random pose within the ranges, at rest, and random targets. */
static void draw_pose(struct tact_hand *hand)
{
    for (int i = 0; i < hand->count; i++) {
        const struct tact_link_def *def = &hand->links[i].def;
        const int ranged = def->lower < def->upper;
        hand->state.q[i] =
            uniform(ranged ? def->lower : def->start - 0.5, ranged ? def->upper : def->start + 0.5);
        hand->state.v[i] = 0.0;
        hand->state.target[i] = hand->state.q[i] + uniform(-1.5, 1.5);
    }
    tact_hand_apply_mimic_laws(hand);
}

/* Kinetic energy, with armatures. */
static double kinetic_energy(struct tact_hand *hand, double *mass)
{
    double sum = 0.0;
    tact_hand_mass_matrix(hand, mass);
    for (int i = 0; i < hand->count * hand->count; i++) {
        sum += 0.5 * mass[i] * hand->state.v[i / hand->count] * hand->state.v[i % hand->count];
    }
    return sum;
}

/* Energy of the drives' springs, which at their limits are constant torques, and of the weight. */
static double potential_energy(const struct tact_hand *hand)
{
    double sum = 0.0;
    for (int i = 0; i < hand->count; i++) {
        const struct link *link = &hand->links[i];
        const double k = link->def.stiffness, limit = link->def.limit;
        const double bend =
            fabs(hand->state.target[i] - tact_hand_drive_length(hand, i, hand->state.q));
        const double most = limit > 0.0 && k > 0.0 ? limit / k : DBL_MAX;
        sum += bend > most ? limit * (bend - 0.5 * most) : 0.5 * k * bend * bend;
        sum += 9.81 * link->def.mass * link->center[2];
    }
    return sum;
}

/* How far a joint is beyond its range, or from its law. */
static double range_error(const struct tact_hand *hand, const struct tact_scene_hand *scene)
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

/* Sum of the normal forces of all contacts [N]; *deepest [m]. */
static double pressing_force(struct tact_world *world, double period, double *deepest)
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

struct outcome {
    double rise;  /* of energy while no contact returns from the overlap of a random pose [J] */
    double range; /* error of ranges and laws [rad, m] */
    long ticks;
};

static void run_pose(struct tact_session *session, const struct tact_scene *scene, double *mass,
                     struct outcome *out)
{
    struct tact_world *world = tact_session_world(session);
    struct tact_hand *hand = tact_world_hand(world, 0);
    double least = DBL_MAX, deepest;
    draw_pose(hand);
    tact_world_refresh(world);
    tact_world_begin(world);
    const int part = (int)(PART_SECONDS / scene->period);
    for (int tick = 0; tick < (int)(POSE_SECONDS / scene->period); tick++) {
        assert_int_equal(tact_session_step(session, 0, NULL), 0);
        const double kinetic = kinetic_energy(hand, mass),
                     energy = kinetic + potential_energy(hand);
        assert_true(isfinite(energy));
        out->range = fmax(out->range, range_error(hand, &scene->hands[0]));
        const double force = pressing_force(world, scene->period, &deepest);
        if (tick < part || deepest > TARGET_DEPTH + DEPTH_LEFT) {
            least = DBL_MAX;
        } else {
            least = fmin(least, energy);
            out->rise = fmax(out->rise, energy - least - force * LARGEST_WAY);
        }
        out->ticks++;
    }
}

static void random_poses_keep_ranges_and_lose_energy(void **state)
{
    (void)state;
    long all_ticks = 0, all_unsolved = 0;
    const int poses = campaign_trial_count(POSES, ALL_POSES) / (HANDS * PERIODS);
    for (int file = 0; file < HANDS; file++) {
        for (int k = 0; k < PERIODS; k++) {
            struct tact_scene *scene;
            struct tact_session *session = open_hand(file, periods[k], &scene);
            const int n = tact_hand_count(tact_world_hand(tact_session_world(session), 0));
            double mass[64 * 64];
            struct outcome out = {0};
            assert_true(n <= 64);
            for (int i = 0; i < poses; i++) {
                run_pose(session, scene, mass, &out);
            }
            struct tact_session_report report;
            assert_int_equal(tact_session_end(session, &report), 0);
            const unsigned long unsolved = (unsigned long)report.counts[TACT_COUNT_UNSOLVED];
            print_message("%s, %g s: energy rises by %.1e J, ranges are left by %.1e, up to %d "
                          "contacts, %lu of %ld ticks unsolved\n",
                          files[file], periods[k], out.rise, out.range, report.contacts_max,
                          unsolved, out.ticks);
            assert_true(out.rise <= 1e-9);
            assert_true(out.range <= 1e-9);
            all_ticks += out.ticks;
            all_unsolved += (long)unsolved;
            tact_session_destroy(session);
            tact_scene_free(scene);
        }
    }
    assert_true(100 * all_unsolved <= all_ticks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_poses_keep_ranges_and_lose_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
