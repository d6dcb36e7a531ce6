/* Measures one scene: the same ticks by every method, cold, then warm under a load that changes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "devices/registry.h"
#include "rt/clock.h"
#include "rt/session/session.h"

const char *const bench_method_names[] = {"6D", "6D, Algorithm 1", "points"};
const char *const bench_part_names[] = {"detection", "assembly", "factorization", "solve"};

/* One solve, watched. */
struct watch {
    double update; /* criterion */
    int64_t at[TACT_SOLVE_STORED + 1];
    /* receives the residual of every sweep, also after the criterion is met; or NULL */
    struct bench_result *curve;
};

/* A world of the scene, solved by one method. */
struct player {
    struct tact_session *session;
    struct tact_world *world;
    struct tact_solve_stats stats;
    struct watch watch;
};

struct bench {
    const struct bench_options *options;
    struct tact_scene *scene;
    struct tact_moments_scratch *scratch;
    struct player reference_simulation; /* solved with the scene's own options; its poses are used
                                        by all methods */
    struct player player[BENCH_METHOD_COUNT];
    double *samples; /* per tick: times of parts, cold sweeps, eliminations, residual, and the same
                        for warm starts */
};

enum { SWEEPS_COLD = BENCH_PART_COUNT, STEPS_COLD, RESIDUAL, SWEEPS_WARM, STEPS_WARM, SAMPLES };

static int record_phase_time(void *user, enum tact_solve_phase phase,
                             const struct tact_solve_stats *stats)
{
    struct watch *watch = user;
    watch->at[phase] = tact_clock_now();
    if (phase != TACT_SOLVE_SWEPT) {
        return 0;
    }
    if (watch->curve) {
        int n = watch->curve->curve_sweep_count;
        watch->curve->update[n] = stats->update;
        watch->curve->curve_residual[n] = stats->residual;
        watch->curve->curve_sweep_count = ++n;
        return n == BENCH_MAX_CURVE_SWEEPS || stats->update <= 1e-16;
    }
    return stats->update <= watch->update;
}

static int store_key_word(char **key, const char *word)
{
    char *copy = strdup(word);
    if (!copy) {
        return -ENOMEM;
    }
    free(*key);
    *key = copy;
    return 0;
}

/* Opens a session of the scene, of which only the world is used. */
static int open_bench_simulation(struct bench *bench, struct player *player, struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    int rc = tact_session_create(bench->scene, &options, &player->session, err);
    player->world = rc ? NULL : tact_session_world(player->session);
    return rc;
}

static int open_bench_simulation_of_method(struct bench *bench, int method, struct tact_error *err)
{
    struct tact_scene_contact *c = &bench->scene->contact;
    struct player *player = &bench->player[method];
    c->iterations = (uint32_t)bench->options->sweeps;
    c->tolerance = 0.0; /* the observer has stopped the solver */
    c->points = BENCH_MAX_CONTACT_POINTS;
    if (store_key_word(&c->model, method == BENCH_POINT_CONTACT_METHOD ? "points" : "volume") ||
        store_key_word(&c->local, method == BENCH_PAPER_METHOD ? "bouchard" : "cone")) {
        return -ENOMEM;
    }
    int rc = open_bench_simulation(bench, player, err);
    if (!rc) {
        player->watch.update = bench->options->update;
        tact_world_set_observer(player->world, record_phase_time, &player->watch);
    }
    return rc;
}

/* Computes one tick of a simulation up to its velocities, without moving bodies. */
static int solve_bench_tick(struct bench *bench, struct player *player)
{
    int rc = tact_world_measure_near(player->world, bench->scratch);
    return rc ? rc : tact_world_solve(player->world, &player->stats);
}

static int step_bench_simulation(struct bench *bench, struct player *player)
{
    return tact_world_step(player->world, bench->scratch, &player->stats);
}

/* Initial state of a contact in a tick: the springs of the leading world, and no impulse. */
static void copy_spring_state_of_contact(const struct tact_contact *reference_contact,
                                         struct tact_contact *c)
{
    memset(c->warm, 0, sizeof c->warm);
    c->springs = reference_contact->springs;
}

/* Sets the initial poses of the lead, with zero impulses; the springs of patches depend on the
 * poses. */
static void copy_poses_with_zero_impulses(const struct bench *bench, struct player *player)
{
    struct tact_world *from = bench->reference_simulation.world, *to = player->world;
    for (int i = 0; i < tact_world_body_count(from); i++) {
        *tact_world_body(to, i) = *tact_world_body(from, i);
    }
    for (int i = 0; i < tact_world_hand_count(from); i++) {
        struct tact_hand_state a = tact_hand_state(tact_world_hand(from, i));
        struct tact_hand_state b = tact_hand_state(tact_world_hand(to, i));
        size_t size = sizeof(double) * (size_t)tact_hand_count(tact_world_hand(from, i));
        memcpy(b.q, a.q, size);
        memcpy(b.v, a.v, size);
        memcpy(b.saturated, a.saturated, size);
    }
    tact_world_refresh(to);
    for (int i = tact_world_next_pair(from, -1); i >= 0; i = tact_world_next_pair(from, i)) {
        const struct tact_contact *reference_contact = tact_world_contact(from, i);
        copy_spring_state_of_contact(reference_contact, tact_world_contact(to, i));
        tact_world_add_near(to, i);
        int pieces = tact_world_piece(to, i, 0) && tact_world_piece(from, i, 0) ? TACT_PIECES : 0;
        for (int k = 0; k < pieces; k++) {
            struct tact_contact *piece = tact_world_piece(to, i, k);
            *piece = *tact_world_piece(from, i, k);
            copy_spring_state_of_contact(piece, piece);
        }
        tact_world_set_direction(to, i, tact_world_direction(from, i));
    }
}

/* Solves one tick at the poses of the reference simulation by one method, from zero impulses. */
static int measure_cold_sweeps(struct bench *bench, int method, double *sample,
                               struct bench_result *r)
{
    struct player *player = &bench->player[method];
    const int64_t *at = player->watch.at;
    copy_poses_with_zero_impulses(bench, player);
    int64_t start_time_ns_of_detection = tact_clock_now();
    int rc = solve_bench_tick(bench, player);
    int64_t end = player->stats.contacts ? at[TACT_SOLVE_SWEPT] : at[TACT_SOLVE_FACTORED];
    const int64_t marks[] = {start_time_ns_of_detection, at[TACT_SOLVE_PATCHES],
                             at[TACT_SOLVE_ASSEMBLED], at[TACT_SOLVE_FACTORED], end};
    for (int i = 0; i < BENCH_PART_COUNT; i++) {
        sample[i] = (double)(marks[i + 1] - marks[i]) * 1e-3;
    }
    const struct tact_solve_stats *stats = &player->stats;
    int unknowns = method == BENCH_POINT_CONTACT_METHOD ? 3 * stats->points : 6 * stats->contacts;
    sample[SWEEPS_COLD] = stats->iterations;
    sample[STEPS_COLD] = stats->eliminations;
    sample[RESIDUAL] = stats->residual;
    r->contacts = stats->contacts > r->contacts ? stats->contacts : r->contacts;
    r->unknowns = unknowns > r->unknowns ? unknowns : r->unknowns;
    r->left_out = stats->left_out > r->left_out ? stats->left_out : r->left_out;
    r->unsolved += stats->contacts && !(stats->update <= bench->options->update);
    return rc;
}

static int measure_convergence_curve(struct bench *bench, int method, struct bench_result *r)
{
    struct player *player = &bench->player[method];
    copy_poses_with_zero_impulses(bench, player);
    player->watch.curve = r;
    int rc = solve_bench_tick(bench, player);
    player->watch.curve = NULL;
    return rc;
}

/* Gravity is 1 % larger in every other tick: adds that change to the velocities. */
static void apply_alternating_gravity(struct bench *bench, struct tact_world *world)
{
    for (int i = 0; i < tact_world_body_count(world); i++) {
        struct tact_body *body = tact_world_body(world, i);
        for (int k = 0; k < 3; k++) {
            body->twist[k] += 0.01 * bench->scene->period * bench->scene->gravity[k];
        }
    }
}

static int measure_warm_sweeps(struct bench *bench, int method, int ticks, struct bench_result *r)
{
    struct player *player = &bench->player[method];
    copy_poses_with_zero_impulses(bench, player);
    int rc = step_bench_simulation(bench, player);
    for (int i = 0; !rc && i < ticks; i++) {
        if (i % 2 == 0) {
            apply_alternating_gravity(bench, player->world);
        }
        rc = step_bench_simulation(bench, player);
        bench->samples[i * SAMPLES + SWEEPS_WARM] = player->stats.iterations;
        bench->samples[i * SAMPLES + STEPS_WARM] = player->stats.eliminations;
        r->warm_unsolved +=
            player->stats.contacts && !(player->stats.update <= bench->options->update);
    }
    return rc;
}

static int compare_doubles_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_statistics compute_sample_statistics(const double *samples, int column,
                                                         int ticks, double *work)
{
    struct bench_statistics s = {0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < ticks; i++) {
        work[i] = samples[i * SAMPLES + column];
        s.mean += work[i] / ticks;
    }
    for (int i = 0; i < ticks; i++) {
        s.deviation += (work[i] - s.mean) * (work[i] - s.mean) / ticks;
    }
    s.deviation = sqrt(s.deviation);
    qsort(work, (size_t)ticks, sizeof *work, compare_doubles_ascending);
    s.median = work[ticks / 2];
    s.most = work[ticks - 1];
    return s;
}

/* All methods solve each tick in turn, so that disturbances of the machine affect all of them. */
static int measure_bench_scene(struct bench *bench, struct bench_scene *out)
{
    int ticks = out->ticks, rc = 0;
    size_t size = (size_t)ticks * SAMPLES;
    double *cold = calloc(size * BENCH_METHOD_COUNT, sizeof *cold),
           *work = calloc(size, sizeof *work);
    bench->samples = calloc(size, sizeof *bench->samples);
    rc = cold && work && bench->samples ? 0 : -ENOMEM;
    for (int i = 0; !rc && i < ticks; i++) {
        for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
            double *sample = cold + (size_t)m * size + (size_t)i * SAMPLES;
            rc = measure_cold_sweeps(bench, m, sample, &out->result[m]);
        }
        rc = rc ? rc : step_bench_simulation(bench, &bench->reference_simulation);
    }
    for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
        struct bench_result *r = &out->result[m];
        const double *samples = cold + (size_t)m * size;
        for (int part = 0; part < BENCH_PART_COUNT; part++) {
            r->time[part] = compute_sample_statistics(samples, part, ticks, work).median;
        }
        r->cold = compute_sample_statistics(samples, SWEEPS_COLD, ticks, work);
        r->cold_elimination_steps = compute_sample_statistics(samples, STEPS_COLD, ticks, work);
        r->residual = compute_sample_statistics(samples, RESIDUAL, ticks, work);
        rc = measure_convergence_curve(bench, m, r);
        rc = rc ? rc : measure_warm_sweeps(bench, m, ticks, r);
        r->warm = compute_sample_statistics(bench->samples, SWEEPS_WARM, ticks, work);
        r->warm_elimination_steps =
            compute_sample_statistics(bench->samples, STEPS_WARM, ticks, work);
    }
    free(cold);
    free(work);
    free(bench->samples);
    return rc;
}

static void describe_bench_scene(const struct bench *bench, struct bench_scene *out)
{
    struct tact_world *world = bench->reference_simulation.world;
    snprintf(out->name, sizeof out->name, "%s", bench->scene->name);
    out->bodies = tact_world_body_count(world);
    out->triangles = 0;
    for (int i = 0; i < tact_world_shape_count(world); i++) {
        const struct tact_mesh *mesh = tact_world_shape(world, i)->mesh;
        out->triangles += mesh ? mesh->triangle_count : 0;
    }
}

static int measure_scene_along_trajectory(struct bench *bench, struct bench_scene *out,
                                          struct tact_error *err)
{
    double settling_time;
    bench->scratch = tact_moments_scratch_create((size_t)1 << 20);
    int rc =
        bench->scratch ? open_bench_simulation(bench, &bench->reference_simulation, err) : -ENOMEM;
    if (rc) {
        return rc;
    }
    describe_bench_scene(bench, out);
    bench_published(out->name, &out->published, &settling_time, &out->ticks);
    out->ticks = bench->options->ticks > 0 ? bench->options->ticks : out->ticks;
    settling_time =
        bench->options->settling_time >= 0.0 ? bench->options->settling_time : settling_time;
    settling_time = settling_time >= 0.0 ? settling_time : 0.5 * bench->scene->duration;
    for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
        rc = open_bench_simulation_of_method(bench, m, err);
    }
    for (long n = lround(settling_time / bench->scene->period); !rc && n > 0; n--) {
        rc = step_bench_simulation(bench, &bench->reference_simulation);
    }
    return rc ? rc : measure_bench_scene(bench, out);
}

int bench_contact(const char *path, const struct bench_options *options, struct bench_scene *out,
                  struct tact_error *err)
{
    struct bench bench = {.options = options};
    memset(out, 0, sizeof *out);
    int rc = tact_scene_load(path, &bench.scene, err);
    if (rc) {
        return rc;
    }
    err->text[0] = 0;
    rc = store_key_word(&bench.scene->moments.source, "host");
    rc = rc ? rc : measure_scene_along_trajectory(&bench, out, err);
    if (rc && !err->text[0]) {
        tact_error_set(err, rc, "%s cannot be measured: %s", path, strerror(-rc));
    }
    tact_session_destroy(bench.reference_simulation.session);
    for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
        tact_session_destroy(bench.player[m].session);
    }
    tact_moments_scratch_destroy(bench.scratch);
    tact_scene_free(bench.scene);
    return rc;
}
