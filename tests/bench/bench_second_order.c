/*
 * Runs a scene with the second-order term of the contact models that are named, and without that of
 * the others, and prints its motion: tests/bench/second_order compares them.
 *
 *     bench_second_order SCENE SECONDS DIVISOR TERM...
 *
 * The period is that of the scene over DIVISOR. TERM: smooth, features, hands, as in the library,
 * and trial, a term of volume and field that the library does not have. The linker replaces the
 * calls of the terms by those below (--wrap).
 *
 * Prints one JSON object: "state", for each of SAMPLES times the positions and quaternions of all
 * bodies and the joint values of all hands; "energy" of the bodies then [J], with the mean of the
 * velocities half a tick before and after; "kinetic", the largest kinetic energy [J]; "unsolved"
 * ticks. Exits with 0, 2 on an error.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/features/second_order_internal.h"
#include "contact/pair/motion_internal.h"
#include "contact/pair/smooth/rolling_internal.h"
#include "contact/world/hand_internal.h"
#include "contact/world/world_internal.h"
#include "devices/registry.h"
#include "rt/session/session.h"

enum { SAMPLES = 20, CONTACTS = 1 << 16 };

/* largest rotation of the contact normal in a tick for which the trial term is used [rad] */
#define LARGEST_ALLOWED_ROTATION_PER_TICK 0.3

static struct {
    int uses_second_order_term_of_smooth, features, hands, trial;
} use;

/* The functions of the library that are replaced, and those that replace them (ld --wrap). */
#define LINKER_REAL_SYMBOL(name) __asm__("__real_" #name)
#define LINKER_WRAP_SYMBOL(name) __asm__("__wrap_" #name)

void second_order_rates_of_smooth(const struct smooth_contact *c, const double twist[2][6],
                                  const double rate[2][6],
                                  const struct smooth_contact_motion *motion, double out[4])
    LINKER_REAL_SYMBOL(tact_smooth_second_order_rates);
void second_order_rates_of_smooth_if_enabled(const struct smooth_contact *c,
                                             const double twist[2][6], const double rate[2][6],
                                             const struct smooth_contact_motion *motion,
                                             double out[4])
    LINKER_WRAP_SYMBOL(tact_smooth_second_order_rates);
void second_order_term_of_features(const struct tact_pair_query *q,
                                   const struct tact_convex_core *a,
                                   const struct tact_convex_core *b,
                                   const enum tact_feature feature[2], struct tact_patch *patch)
    LINKER_REAL_SYMBOL(tact_features_set_second_order_term);
void second_order_term_of_features_if_enabled(const struct tact_pair_query *q,
                                              const struct tact_convex_core *a,
                                              const struct tact_convex_core *b,
                                              const enum tact_feature feature[2],
                                              struct tact_patch *patch)
    LINKER_WRAP_SYMBOL(tact_features_set_second_order_term);
void hand_bias_torque(struct tact_hand *hand, const double *rates, const double gravity[3],
                      double *bias) LINKER_REAL_SYMBOL(tact_hand_compute_bias_torques_at_rates);
void hand_bias_torque_at_enabled_rates(struct tact_hand *hand, const double *rates,
                                       const double gravity[3], double *bias)
    LINKER_WRAP_SYMBOL(tact_hand_compute_bias_torques_at_rates);
void edge_speed(const struct tact_world *world, struct block *block)
    LINKER_REAL_SYMBOL(tact_impact_set_rolling_edge_speed);
void edge_speed_with_trial_term(const struct tact_world *world, struct block *block)
    LINKER_WRAP_SYMBOL(tact_impact_set_rolling_edge_speed);

void second_order_rates_of_smooth_if_enabled(const struct smooth_contact *c,
                                             const double twist[2][6], const double rate[2][6],
                                             const struct smooth_contact_motion *motion,
                                             double out[4])
{
    if (use.uses_second_order_term_of_smooth) {
        second_order_rates_of_smooth(c, twist, rate, motion, out);
    }
}

void second_order_term_of_features_if_enabled(const struct tact_pair_query *q,
                                              const struct tact_convex_core *a,
                                              const struct tact_convex_core *b,
                                              const enum tact_feature feature[2],
                                              struct tact_patch *patch)
{
    if (use.features) {
        second_order_term_of_features(q, a, b, feature, patch);
    }
}

void hand_bias_torque_at_enabled_rates(struct tact_hand *hand, const double *rates,
                                       const double gravity[3], double *bias)
{
    hand_bias_torque(hand, use.hands ? rates : hand->state.v, gravity, bias);
}

/* Centre and normal of each contact in the last tick. */
static struct {
    double center[3], normal[3];
} before[CONTACTS];

/* The patch of a model without a term: rows t1, t2 and about n keep the velocity by which the drift
 * changes them in half a tick, while the contact moves as it did since the last tick. */
static void add_trial_second_order_term(const struct tact_world *world, struct tact_contact *c,
                                        const double last_contact_center[3],
                                        const double last_contact_normal[3])
{
    const double h = world->options.period, *n = c->patch.frame;
    double place[3], turn[3], v[2][3], rate[2][3], w[3], alpha[3], gain[4], along = 0.0,
                                                                            square = 0.0;
    for (int k = 0; k < 3; k++) {
        place[k] = (c->patch.center[k] - last_contact_center[k]) / h;
        turn[k] = (n[k] - last_contact_normal[k]) / h;
    }
    if (tact_v3_norm(turn) * h > LARGEST_ALLOWED_ROTATION_PER_TICK) {
        return;
    }
    const struct shape_twist_and_rate *m[2];
    for (int k = 0; k < 2; k++) {
        const int shape = k ? c->b : c->a;
        double arm[3];
        m[k] = tact_world_shape_twist_and_rate((struct tact_world *)(uintptr_t)world, shape);
        tact_v3_sub(arm, c->patch.center, world->poses[shape].position);
        tact_pair_velocity_at_arm(m[k]->twist, arm, v[k]);
        tact_pair_velocity_rate(m[k]->twist, m[k]->rate, arm, place, rate[k]);
    }
    tact_v3_sub(v[0], v[0], v[1]);
    tact_v3_sub(rate[0], rate[0], rate[1]);
    tact_v3_sub(w, m[0]->twist + 3, m[1]->twist + 3);
    tact_v3_sub(alpha, m[0]->rate + 3, m[1]->rate + 3);
    for (int i = 1; i < 3; i++) {
        const double *t = n + 3 * i;
        gain[i] = 0.5 * h * (tact_v3_dot(t, rate[0]) - tact_v3_dot(n, v[0]) * tact_v3_dot(turn, t));
        along += gain[i] * tact_v3_dot(t, v[0]);
        square += gain[i] * gain[i];
    }
    gain[3] = 0.5 * h * (tact_v3_dot(n, alpha) + tact_v3_dot(turn, w));
    const double share = along >= square ? 1.0 : square > 0.0 ? fmax(0.0, along / square) : 0.0;
    const double spin = gain[3] * tact_v3_dot(n, w), spin_square = gain[3] * gain[3];
    const double fraction_of_spin_term_used = spin >= spin_square ? 1.0
                                              : spin_square > 0.0 ? fmax(0.0, spin / spin_square)
                                                                  : 0.0;
    for (int i = 1; i < 4; i++) {
        const int has_elastic_row =
            c->patch.law == TACT_LAW_WRENCH && c->patch.stiffness[7 * i] > 0.0;
        c->patch.target_velocity[i] =
            has_elastic_row ? 0.0 : -(i < 3 ? share : fraction_of_spin_term_used) * gain[i];
    }
}

/* Called once a tick for each block, before the velocities of the tick. */
void edge_speed_with_trial_term(const struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    const int has_no_second_order_term = c->patch.law != TACT_LAW_GAPS && block->contact < CONTACTS;
    if (use.trial && has_no_second_order_term && tact_v3_norm(c->warm) > 0.0) {
        add_trial_second_order_term(world, c, before[block->contact].center,
                                    before[block->contact].normal);
    }
    if (has_no_second_order_term) {
        tact_v3_copy(before[block->contact].center, c->patch.center);
        tact_v3_copy(before[block->contact].normal, c->patch.frame);
    }
    edge_speed(world, block);
}

/* A run: a session, its world, and its velocities before and after the last tick. */
struct run {
    struct tact_session *session;
    struct tact_world *world;
    double gravity[3];
    int count; /* of velocities */
    /* velocities in the last tick and in this one: twists of bodies, then joint rates of hands */
    double *last, *now;
    double kinetic_energy; /* largest kinetic energy of the bodies so far [J] */
    long unsolved_ticks;
};

/* Copies all velocities from the world to v, or from v to the world where `back` is 1. */
static int copy_velocities_from_or_to_world(struct tact_world *world, double *v, int back)
{
    int count = 0;
    for (int i = 0; i < tact_world_body_count(world) + tact_world_hand_count(world); i++) {
        const int hand = i - tact_world_body_count(world);
        const int n = hand < 0 ? 6 : tact_hand_count(tact_world_hand(world, hand));
        double *of = hand < 0 ? tact_world_body(world, i)->twist
                              : tact_hand_state(tact_world_hand(world, hand)).v;
        if (v) {
            memcpy(back ? of : v + count, back ? v + count : of, (size_t)n * sizeof *v);
        }
        count += n;
    }
    if (back) {
        for (int i = 0; i < tact_world_hand_count(world); i++) {
            tact_hand_refresh(tact_world_hand(world, i));
        }
    }
    return count;
}

static int open_simulation_run(const struct tact_scene *scene, struct run *run,
                               struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    options.clock = TACT_LOOP_FREE;
    options.types = tact_devices_builtin(&options.type_count);
    memset(run, 0, sizeof *run);
    memset(before, 0, sizeof before);
    tact_v3_copy(run->gravity, scene->gravity);
    int rc = tact_session_create(scene, &options, &run->session, err);
    if (rc) {
        return rc;
    }
    run->world = tact_session_world(run->session);
    run->count = copy_velocities_from_or_to_world(run->world, NULL, 0);
    run->last = calloc(2 * (size_t)run->count + 1, sizeof *run->last);
    run->now = run->last + run->count;
    return run->last ? tact_session_begin(run->session) : -ENOMEM;
}

static void close_simulation_run(struct run *run)
{
    free(run->last);
    tact_session_destroy(run->session);
}

static int step_simulation_run(struct run *run)
{
    memcpy(run->last, run->now, (size_t)run->count * sizeof *run->now);
    int rc = tact_session_step(run->session, 0, NULL);
    copy_velocities_from_or_to_world(run->world, run->now, 0);
    run->unsolved_ticks += run->world->counts[TACT_COUNT_UNSOLVED] > 0;
    return rc;
}

/* Sets the start's velocities, which belong to its time, to half of the first tick's change before
 * it, as those of a tick belong to half a tick before its end. */
static int set_start_velocities(const struct tact_scene *scene, struct run *run,
                                struct tact_error *err)
{
    struct run trial;
    int rc = open_simulation_run(scene, &trial, err);
    if (!rc) {
        copy_velocities_from_or_to_world(trial.world, trial.now, 0);
        rc = step_simulation_run(&trial);
    }
    for (int i = 0; !rc && i < run->count; i++) {
        run->now[i] = trial.last[i] - 0.5 * (trial.now[i] - trial.last[i]);
    }
    if (!rc) {
        copy_velocities_from_or_to_world(run->world, run->now, 1);
    }
    close_simulation_run(&trial);
    return rc;
}

/* Energy of the bodies with the mean of their last two velocities; raises run->kinetic_energy to
 * their kinetic energy if that is larger. */
static double energy_of_mean_velocities(struct run *run, const struct tact_body *bodies)
{
    double kinetic_energy = 0.0, potential = 0.0;
    for (int i = 0; i < tact_world_body_count(run->world); i++) {
        struct tact_body body = bodies[i];
        for (int k = 0; k < 6; k++) {
            body.twist[k] = 0.5 * (run->last[6 * i + k] + run->now[6 * i + k]);
        }
        kinetic_energy += tact_body_energy(&body);
        potential -= body.mass * tact_v3_dot(run->gravity, body.pose.position);
    }
    run->kinetic_energy = fmax(run->kinetic_energy, kinetic_energy);
    return kinetic_energy + potential;
}

static void print_bodies_and_joints(struct run *run, struct tact_body *bodies)
{
    const char *json_separator = "";
    for (int i = 0; i < tact_world_body_count(run->world); i++) {
        bodies[i] = *tact_world_body(run->world, i);
        for (int k = 0; k < 7; k++) {
            printf("%s%.17g", json_separator,
                   k < 3 ? bodies[i].pose.position[k] : bodies[i].pose.quat_wxyz[k - 3]);
            json_separator = ", ";
        }
    }
    for (int i = 0; i < tact_world_hand_count(run->world); i++) {
        struct tact_hand *hand = tact_world_hand(run->world, i);
        for (int k = 0; k < tact_hand_count(hand); k++) {
            printf("%s%.17g", json_separator, tact_hand_state(hand).q[k]);
            json_separator = ", ";
        }
    }
}

/* Runs the scene and prints its states. The energy of a sample is known one step later. */
static int simulate_and_print(const struct tact_scene *scene, double seconds,
                              struct tact_error *err)
{
    double energy[SAMPLES];
    struct run run;
    int rc = open_simulation_run(scene, &run, err);
    rc = rc ? rc : set_start_velocities(scene, &run, err);
    const int body_count = rc ? 0 : tact_world_body_count(run.world);
    struct tact_body *bodies = calloc((size_t)body_count + 1, sizeof *bodies);
    rc = rc || bodies ? rc : -ENOMEM;
    printf("{\"bodies\": %d, \"state\": [", body_count);
    for (long k = 1, tick = 0; !rc && k <= SAMPLES; k++) {
        for (const long end = lround((double)k * seconds / SAMPLES / scene->period); tick < end;
             tick++) {
            rc = rc ? rc : step_simulation_run(&run);
        }
        printf("%s[", k > 1 ? ", " : "");
        print_bodies_and_joints(&run, bodies);
        printf("]");
        rc = rc ? rc : step_simulation_run(&run);
        tick++;
        energy[k - 1] = energy_of_mean_velocities(&run, bodies);
    }
    printf("], \"energy\": [");
    for (int k = 0; !rc && k < SAMPLES; k++) {
        printf("%s%.17g", k ? ", " : "", energy[k]);
    }
    printf("], \"kinetic\": %.17g, \"unsolved\": %ld}\n", run.kinetic_energy, run.unsolved_ticks);
    free(bodies);
    close_simulation_run(&run);
    return rc;
}

static int parse_second_order_terms_used(int count, char **words)
{
    static const struct {
        const char *word;
        int *used;
    } terms[] = {{"smooth", &use.uses_second_order_term_of_smooth},
                 {"features", &use.features},
                 {"hands", &use.hands},
                 {"trial", &use.trial}};
    int known = 0;
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof terms / sizeof *terms; k++) {
            if (!strcmp(words[i], terms[k].word)) {
                *terms[k].used = 1;
                known++;
            }
        }
    }
    return known == count;
}

int main(int argc, char **argv)
{
    struct tact_error err = {.line = 0};
    struct tact_scene *scene = NULL;
    const double seconds = argc > 3 ? atof(argv[2]) : 0.0, divisor = argc > 3 ? atof(argv[3]) : 0.0;
    if (!(seconds > 0.0) || !(divisor >= 1.0) ||
        !parse_second_order_terms_used(argc - 4, argv + 4)) {
        fprintf(stderr, "usage: bench_second_order SCENE SECONDS DIVISOR TERM...\n");
        return 2;
    }
    int rc = tact_scene_load(argv[1], &scene, &err);
    if (!rc) {
        scene->period /= divisor;
        rc = simulate_and_print(
            scene, scene->duration > 0.0 ? fmin(seconds, scene->duration) : seconds, &err);
    }
    if (rc) {
        fprintf(stderr, "bench_second_order: %s: %s\n", argv[1], err.text);
    }
    tact_scene_free(scene);
    return rc ? 2 : 0;
}
