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

/* Observes one solve: the times of its phases, and the residuals of its sweeps. */
struct solve_observer {
    double sweep_update_tolerance; /* criterion of convergence */
    int64_t solve_phase_end_ns[TACT_SOLVE_STORED + 1];
    /* receives the residual of every sweep, also after the criterion is met; or NULL */
    struct bench_result *convergence_curve;
};

/* A world of the scene, solved by one method. */
struct bench_simulation {
    struct tact_session *session;
    struct tact_world *world;
    struct tact_solve_stats stats;
    struct solve_observer solve_observer;
};

struct scene_benchmark {
    const struct bench_options *options;
    struct tact_scene *scene;
    struct tact_moments_scratch *scratch;
    struct bench_simulation reference_simulation; /* solved with the scene's own options; its poses
                                        are used by all methods */
    struct bench_simulation bench_simulation[BENCH_METHOD_COUNT];
    double *measured_values_of_ticks; /* per tick: times of parts, cold sweeps, eliminations,
                        residual, and the same for warm starts */
};

enum { SWEEPS_COLD = BENCH_PART_COUNT, STEPS_COLD, RESIDUAL, SWEEPS_WARM, STEPS_WARM, SAMPLES };

static int record_phase_time(void *user, enum tact_solve_phase phase,
                             const struct tact_solve_stats *stats)
{
    struct solve_observer *solve_observer = user;
    solve_observer->solve_phase_end_ns[phase] = tact_clock_now();
    if (phase != TACT_SOLVE_SWEPT) {
        return 0;
    }
    if (solve_observer->convergence_curve) {
        int n = solve_observer->convergence_curve->curve_sweep_count;
        solve_observer->convergence_curve->update[n] = stats->update;
        solve_observer->convergence_curve->residual_after_sweep[n] = stats->residual;
        solve_observer->convergence_curve->curve_sweep_count = ++n;
        return n == BENCH_MAX_CURVE_SWEEPS || stats->update <= 1e-16;
    }
    return stats->update <= solve_observer->sweep_update_tolerance;
}

static int replace_contact_setting(char **key, const char *word)
{
    char *setting_text_copy = strdup(word);
    if (!setting_text_copy) {
        return -ENOMEM;
    }
    free(*key);
    *key = setting_text_copy;
    return 0;
}

/* Opens a session of the scene, of which only the world is used. */
static int open_bench_simulation(struct scene_benchmark *benchmarked_scene,
                                 struct bench_simulation *bench_simulation, struct tact_error *err)
{
    struct tact_session_options options = tact_session_options_default();
    options.types = tact_devices_builtin(&options.type_count);
    int rc =
        tact_session_create(benchmarked_scene->scene, &options, &bench_simulation->session, err);
    bench_simulation->world = rc ? NULL : tact_session_world(bench_simulation->session);
    return rc;
}

static int open_bench_simulation_of_method(struct scene_benchmark *benchmarked_scene, int method,
                                           struct tact_error *err)
{
    struct tact_scene_contact *c = &benchmarked_scene->scene->contact;
    struct bench_simulation *bench_simulation = &benchmarked_scene->bench_simulation[method];
    c->iterations = (uint32_t)benchmarked_scene->options->sweeps;
    c->tolerance = 0.0; /* tolerance 0 is never met: the observer stops the solver */
    c->points = BENCH_MAX_CONTACT_POINTS;
    if (replace_contact_setting(&c->model,
                                method == BENCH_POINT_CONTACT_METHOD ? "points" : "volume") ||
        replace_contact_setting(&c->local, method == BENCH_BOUCHARD_METHOD ? "bouchard" : "cone")) {
        return -ENOMEM;
    }
    int rc = open_bench_simulation(benchmarked_scene, bench_simulation, err);
    if (!rc) {
        bench_simulation->solve_observer.sweep_update_tolerance =
            benchmarked_scene->options->update;
        tact_world_set_observer(bench_simulation->world, record_phase_time,
                                &bench_simulation->solve_observer);
    }
    return rc;
}

/* Computes one tick of a simulation up to its velocities, without moving bodies. */
static int solve_bench_tick(struct scene_benchmark *benchmarked_scene,
                            struct bench_simulation *bench_simulation)
{
    int rc = tact_world_measure_near(bench_simulation->world, benchmarked_scene->scratch);
    return rc ? rc : tact_world_solve(bench_simulation->world, &bench_simulation->stats);
}

static int step_bench_simulation(struct scene_benchmark *benchmarked_scene,
                                 struct bench_simulation *bench_simulation)
{
    return tact_world_step(bench_simulation->world, benchmarked_scene->scratch,
                           &bench_simulation->stats);
}

/* Sets the initial state of a contact in a tick: springs as in the reference simulation, and no
 * impulse. */
static void copy_spring_state_of_contact(const struct tact_contact *contact_of_reference_simulation,
                                         struct tact_contact *c)
{
    memset(c->warm, 0, sizeof c->warm);
    c->springs = contact_of_reference_simulation->springs;
}

/* Copies the state of the reference simulation, with zero impulses; the springs of patches depend
 * on the poses. */
static void copy_state_with_zero_impulses(const struct scene_benchmark *benchmarked_scene,
                                          struct bench_simulation *bench_simulation)
{
    struct tact_world *from = benchmarked_scene->reference_simulation.world,
                      *to = bench_simulation->world;
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
        const struct tact_contact *contact_of_reference_simulation = tact_world_contact(from, i);
        copy_spring_state_of_contact(contact_of_reference_simulation, tact_world_contact(to, i));
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
static int measure_cold_sweeps(struct scene_benchmark *benchmarked_scene, int method,
                               double *sample, struct bench_result *r)
{
    struct bench_simulation *bench_simulation = &benchmarked_scene->bench_simulation[method];
    const int64_t *solve_phase_end_ns = bench_simulation->solve_observer.solve_phase_end_ns;
    copy_state_with_zero_impulses(benchmarked_scene, bench_simulation);
    int64_t start_time_ns_of_detection = tact_clock_now();
    int rc = solve_bench_tick(benchmarked_scene, bench_simulation);
    int64_t end = bench_simulation->stats.contacts ? solve_phase_end_ns[TACT_SOLVE_SWEPT]
                                                   : solve_phase_end_ns[TACT_SOLVE_FACTORED];
    const int64_t tick_phase_times_ns[] = {
        start_time_ns_of_detection, solve_phase_end_ns[TACT_SOLVE_PATCHES],
        solve_phase_end_ns[TACT_SOLVE_ASSEMBLED], solve_phase_end_ns[TACT_SOLVE_FACTORED], end};
    for (int i = 0; i < BENCH_PART_COUNT; i++) {
        sample[i] = (double)(tick_phase_times_ns[i + 1] - tick_phase_times_ns[i]) * 1e-3;
    }
    const struct tact_solve_stats *stats = &bench_simulation->stats;
    int largest_contact_row_count =
        method == BENCH_POINT_CONTACT_METHOD ? 3 * stats->points : 6 * stats->contacts;
    sample[SWEEPS_COLD] = stats->iterations;
    sample[STEPS_COLD] = stats->eliminations;
    sample[RESIDUAL] = stats->residual;
    r->contacts = stats->contacts > r->contacts ? stats->contacts : r->contacts;
    r->largest_contact_row_count = largest_contact_row_count > r->largest_contact_row_count
                                       ? largest_contact_row_count
                                       : r->largest_contact_row_count;
    r->left_out = stats->left_out > r->left_out ? stats->left_out : r->left_out;
    r->unconverged_cold_ticks +=
        stats->contacts && !(stats->update <= benchmarked_scene->options->update);
    return rc;
}

static int measure_convergence_curve(struct scene_benchmark *benchmarked_scene, int method,
                                     struct bench_result *r)
{
    struct bench_simulation *bench_simulation = &benchmarked_scene->bench_simulation[method];
    copy_state_with_zero_impulses(benchmarked_scene, bench_simulation);
    bench_simulation->solve_observer.convergence_curve = r;
    int rc = solve_bench_tick(benchmarked_scene, bench_simulation);
    bench_simulation->solve_observer.convergence_curve = NULL;
    return rc;
}

/* Gravity is 1 % larger in every other tick: adds that change to the velocities. */
static void apply_alternating_gravity(struct scene_benchmark *benchmarked_scene,
                                      struct tact_world *world)
{
    for (int i = 0; i < tact_world_body_count(world); i++) {
        struct tact_body *body = tact_world_body(world, i);
        for (int k = 0; k < 3; k++) {
            body->twist[k] +=
                0.01 * benchmarked_scene->scene->period * benchmarked_scene->scene->gravity[k];
        }
    }
}

static int measure_warm_sweeps(struct scene_benchmark *benchmarked_scene, int method, int ticks,
                               struct bench_result *r)
{
    struct bench_simulation *bench_simulation = &benchmarked_scene->bench_simulation[method];
    copy_state_with_zero_impulses(benchmarked_scene, bench_simulation);
    int rc = step_bench_simulation(benchmarked_scene, bench_simulation);
    for (int i = 0; !rc && i < ticks; i++) {
        if (i % 2 == 0) {
            apply_alternating_gravity(benchmarked_scene, bench_simulation->world);
        }
        rc = step_bench_simulation(benchmarked_scene, bench_simulation);
        benchmarked_scene->measured_values_of_ticks[i * SAMPLES + SWEEPS_WARM] =
            bench_simulation->stats.iterations;
        benchmarked_scene->measured_values_of_ticks[i * SAMPLES + STEPS_WARM] =
            bench_simulation->stats.eliminations;
        r->unconverged_warm_ticks +=
            bench_simulation->stats.contacts &&
            !(bench_simulation->stats.update <= benchmarked_scene->options->update);
    }
    return rc;
}

int bench_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct bench_statistics compute_sample_statistics(const double *measured_values, int column,
                                                         int ticks, double *work)
{
    struct bench_statistics s = {0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < ticks; i++) {
        work[i] = measured_values[i * SAMPLES + column];
        s.mean += work[i] / ticks;
    }
    for (int i = 0; i < ticks; i++) {
        s.deviation += (work[i] - s.mean) * (work[i] - s.mean) / ticks;
    }
    s.deviation = sqrt(s.deviation);
    qsort(work, (size_t)ticks, sizeof *work, bench_compare_doubles);
    s.median = work[ticks / 2];
    s.most = work[ticks - 1];
    return s;
}

/* All methods solve each tick in turn, so that disturbances of the machine affect all of them. */
static int measure_bench_scene(struct scene_benchmark *benchmarked_scene, struct bench_scene *out)
{
    int ticks = out->ticks, rc = 0;
    size_t size = (size_t)ticks * SAMPLES;
    double *measured_values_of_methods =
               calloc(size * BENCH_METHOD_COUNT, sizeof *measured_values_of_methods),
           *work = calloc(size, sizeof *work);
    benchmarked_scene->measured_values_of_ticks =
        calloc(size, sizeof *benchmarked_scene->measured_values_of_ticks);
    rc = measured_values_of_methods && work && benchmarked_scene->measured_values_of_ticks
             ? 0
             : -ENOMEM;
    for (int i = 0; !rc && i < ticks; i++) {
        for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
            double *sample = measured_values_of_methods + (size_t)m * size + (size_t)i * SAMPLES;
            rc = measure_cold_sweeps(benchmarked_scene, m, sample, &out->result[m]);
        }
        rc =
            rc ? rc
               : step_bench_simulation(benchmarked_scene, &benchmarked_scene->reference_simulation);
    }
    for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
        struct bench_result *r = &out->result[m];
        const double *measured_values = measured_values_of_methods + (size_t)m * size;
        for (int part = 0; part < BENCH_PART_COUNT; part++) {
            r->time[part] = compute_sample_statistics(measured_values, part, ticks, work).median;
        }
        r->cold_start_sweeps = compute_sample_statistics(measured_values, SWEEPS_COLD, ticks, work);
        r->cold_start_elimination_steps =
            compute_sample_statistics(measured_values, STEPS_COLD, ticks, work);
        r->residual = compute_sample_statistics(measured_values, RESIDUAL, ticks, work);
        rc = measure_convergence_curve(benchmarked_scene, m, r);
        rc = rc ? rc : measure_warm_sweeps(benchmarked_scene, m, ticks, r);
        r->warm = compute_sample_statistics(benchmarked_scene->measured_values_of_ticks,
                                            SWEEPS_WARM, ticks, work);
        r->warm_elimination_steps = compute_sample_statistics(
            benchmarked_scene->measured_values_of_ticks, STEPS_WARM, ticks, work);
    }
    free(measured_values_of_methods);
    free(work);
    free(benchmarked_scene->measured_values_of_ticks);
    return rc;
}

static void describe_bench_scene(const struct scene_benchmark *benchmarked_scene,
                                 struct bench_scene *out)
{
    struct tact_world *world = benchmarked_scene->reference_simulation.world;
    snprintf(out->name, sizeof out->name, "%s", benchmarked_scene->scene->name);
    out->bodies = tact_world_body_count(world);
    out->triangles = 0;
    for (int i = 0; i < tact_world_shape_count(world); i++) {
        const struct tact_mesh *mesh = tact_world_shape(world, i)->mesh;
        out->triangles += mesh ? mesh->triangle_count : 0;
    }
}

static int measure_scene_along_trajectory(struct scene_benchmark *benchmarked_scene,
                                          struct bench_scene *out, struct tact_error *err)
{
    double settling_duration;
    benchmarked_scene->scratch = tact_moments_scratch_create((size_t)1 << 20);
    int rc = benchmarked_scene->scratch
                 ? open_bench_simulation(benchmarked_scene,
                                         &benchmarked_scene->reference_simulation, err)
                 : -ENOMEM;
    if (rc) {
        return rc;
    }
    describe_bench_scene(benchmarked_scene, out);
    bench_published_values(out->name, &out->published_values, &settling_duration, &out->ticks);
    out->ticks =
        benchmarked_scene->options->ticks > 0 ? benchmarked_scene->options->ticks : out->ticks;
    settling_duration = benchmarked_scene->options->settling_duration >= 0.0
                            ? benchmarked_scene->options->settling_duration
                            : settling_duration;
    settling_duration =
        settling_duration >= 0.0 ? settling_duration : 0.5 * benchmarked_scene->scene->duration;
    for (int m = 0; !rc && m < BENCH_METHOD_COUNT; m++) {
        rc = open_bench_simulation_of_method(benchmarked_scene, m, err);
    }
    for (long n = lround(settling_duration / benchmarked_scene->scene->period); !rc && n > 0; n--) {
        rc = step_bench_simulation(benchmarked_scene, &benchmarked_scene->reference_simulation);
    }
    return rc ? rc : measure_bench_scene(benchmarked_scene, out);
}

int bench_contact(const char *path, const struct bench_options *options, struct bench_scene *out,
                  struct tact_error *err)
{
    struct scene_benchmark benchmarked_scene = {.options = options};
    memset(out, 0, sizeof *out);
    int rc = tact_scene_load(path, &benchmarked_scene.scene, err);
    if (rc) {
        return rc;
    }
    err->text[0] = 0;
    rc = replace_contact_setting(&benchmarked_scene.scene->moments.source, "host");
    rc = rc ? rc : measure_scene_along_trajectory(&benchmarked_scene, out, err);
    if (rc && !err->text[0]) {
        tact_error_set(err, rc, "%s cannot be measured: %s", path, strerror(-rc));
    }
    tact_session_destroy(benchmarked_scene.reference_simulation.session);
    for (int m = 0; m < BENCH_METHOD_COUNT; m++) {
        tact_session_destroy(benchmarked_scene.bench_simulation[m].session);
    }
    tact_moments_scratch_destroy(benchmarked_scene.scratch);
    tact_scene_free(benchmarked_scene.scene);
    return rc;
}
