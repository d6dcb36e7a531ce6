/*
 * From sweep to sweep of an island: Newton's method where it is of use, an interior-point method
 * where that finds no way through the limits, Anderson acceleration where neither does, and the
 * best of what was met where nothing gets there.
 */
#include <math.h>
#include <string.h>
#include "contact/world/sweeps_internal.h"

#define PROGRESS 0.9     /* of a residual, that counts as progress */
#define FIRST_SWEEP 1e-3 /* of the tolerance: what the first sweep may find or change */
/* Newton's steps that may go up before they are taken back: a heap of 30 balls takes 6.7
 * eliminations a tick with 2, 5.6 with 4, 5.4 with 5. */
#define MAX_RISES 4
#define FIRST_PAUSE 4       /* sweeps without them, once they were; twice as many each time */
#define MAX_FAILURES 4      /* that make it longer */
#define RESERVED_SWEEPS 4   /* sweeps that are left after steps of the interior-point method */
#define RESTART_GROWTH 10.0 /* growth of the residual that makes what was learnt useless */

/* Unknowns of the sweeps: six a contact, then the loose one of each joint; what the joints hold
 * follows from them. */
static void read_impulses(struct tact_world *world, const struct island *island, double *out)
{
    for (int i = 0; i < island->blocks.count; i++) {
        int contact = world->blocks[island->blocks.at[i]].contact;
        memcpy(out + 6 * i, world->contacts[contact].impulse, 6 * sizeof *out);
    }
    tact_constraints_copy(world, island, out + 6 * island->blocks.count, 0);
}

static void write_impulses(struct tact_world *world, const struct island *island, double *next)
{
    tact_constraints_copy(world, island, next + 6 * island->blocks.count, 1);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        double *r = world->contacts[block->contact].impulse, delta[6];
        for (int k = 0; k < 6; k++) {
            delta[k] = next[6 * i + k] - r[k];
            r[k] = next[6 * i + k];
        }
        tact_constraints_respond(world, block, delta);
    }
    tact_velocities_rebuild(world, island);
}

void tact_sweeps_scale(struct tact_world *world, struct island *island, double share)
{
    double *next = island->search.next;
    read_impulses(world, island, next);
    for (int i = 0; i < island->blocks.count * 6; i++) {
        next[i] *= share;
    }
    write_impulses(world, island, next);
}

/* Forgets residuals and steps, which are those of another problem. */
static void reset_search(struct search *s)
{
    s->best = s->since_restart = s->least_miss = INFINITY;
    s->newton_tries = s->newton_pause = 0;
    tact_anderson_restart(&s->anderson);
}

/* The contacts of a heap bear its load in many ways, which differ by impulses that balance each
 * other. Which of them solves a tick with the compliance of rigid contacts depends on the last
 * digits of the velocities: it is another in each tick, and Newton's method does not get there. So
 * the springs of islands that are solved by elimination are anchored at the impulses of the last
 * tick, and stay so. */
static void begin_search(struct tact_world *world, struct island *island)
{
    struct search *s = &island->search;
    reset_search(s);
    s->newton_failures = s->interior_steps = 0;
    s->newton = island->coupled && island->constraints.count == 0;
    if (s->newton && s->anchored == 0 && tact_sweeps_can_search(world, island) &&
        tact_newton_eliminates(world, island)) {
        tact_springs_anchor(world, island);
        s->anchored = -1;
    }
}

static void reset_anderson(struct search *s)
{
    tact_anderson_restart(&s->anderson);
    s->since_restart = INFINITY;
}

/* The interior-point method, once, where Newton's steps led nowhere. Returns 1 where it gave
 * impulses to sweep from. */
static int try_interior_point(struct tact_world *world, struct island *island,
                              struct tact_solve_stats *stats)
{
    struct search *s = &island->search;
    int left = world->options.iterations - stats->iterations - RESERVED_SWEEPS;
    if (s->interior_steps || left <= 0) {
        return 0;
    }
    s->interior_steps = tact_barrier_solve(world, island, left);
    tact_velocities_rebuild(world, island);
    stats->eliminations += s->interior_steps;
    world->counts[TACT_COUNT_INTERIOR] += s->interior_steps;
    return s->interior_steps > 0;
}

/* Newton's steps may go up before they come down, but not for long: then what they began from is
 * taken up again, and some sweeps go by before the next. Returns 1 where that was so. */
static int restore_best(struct tact_world *world, struct island *island,
                        struct tact_solve_stats *stats)
{
    struct search *s = &island->search;
    if (!s->newton_tries) {
        return 0;
    }
    if (island->residual <= PROGRESS * s->newton_start) {
        s->newton_tries = 0;
        return 0;
    }
    if (s->newton_tries++ <= MAX_RISES) {
        return 0;
    }
    write_impulses(world, island, s->best_impulses);
    reset_anderson(s);
    s->newton_tries = 0;
    world->counts[TACT_COUNT_TAKEN_BACK]++;
    if (s->anchored == 0 && (s->interior_steps > 0 || s->newton_failures > 0)) {
        /* Near impulses that balance each other, solutions that do are found. */
        tact_openings_bound_unsolved(world, island);
        tact_springs_anchor(world, island);
        world->counts[TACT_COUNT_PROXIMAL]++;
        s->anchored = 1;
    }
    if (try_interior_point(world, island, stats)) {
        s->newton_pause = 1;
        return 1;
    }
    s->newton_pause = FIRST_PAUSE << s->newton_failures;
    s->newton_failures += s->newton_failures < MAX_FAILURES;
    return 1;
}

/* Makes forces and torques of all unknowns comparable. */
static void find_scale(const struct tact_world *world, const struct island *island, double *scale)
{
    for (int i = 0; i < island->blocks.count; i++) {
        for (int k = 0; k < 6; k++) {
            scale[6 * i + k] = k < 3 ? 1.0 : world->blocks[island->blocks.at[i]].per_length;
        }
    }
    tact_constraints_scale(world, island, scale + 6 * island->blocks.count);
}

/* Goes from what the sweep gave to where the solution is expected; the next sweep brings that back
 * inside the limits. */
static void accelerate(struct tact_world *world, struct island *island,
                       struct tact_solve_stats *stats)
{
    struct search *s = &island->search;
    double residual = island->residual;
    int newton = s->newton && (s->newton_tries || s->newton_pause-- <= 0);
    read_impulses(world, island, s->after);
    find_scale(world, island, s->scale);
    if (newton) {
        if (!s->newton_tries) {
            s->newton_tries = 1;
            s->newton_start = s->best;
        }
        double share = 0.01 * world->options.tolerance / residual;
        int eliminated;
        stats->products +=
            tact_newton_step(world, island, s->before, s->after, s->scale,
                             tact_max(1e-10, tact_min(1e-2, share)), s->next, &eliminated);
        stats->eliminations += eliminated;
        world->counts[TACT_COUNT_NEWTON]++;
        reset_anderson(s);
    } else {
        if (residual > RESTART_GROWTH * s->since_restart) {
            reset_anderson(s); /* the limits that act have changed */
        }
        s->since_restart = tact_min(s->since_restart, residual);
        world->counts[TACT_COUNT_ANDERSON]++;
        tact_anderson_step(&s->anderson, s->before, s->after, s->scale, s->next);
    }
    write_impulses(world, island, s->next);
}

static double update_of(const struct island *island)
{
    return island->size > 0.0 ? sqrt(island->change / island->size) : 0.0;
}

int tact_sweeps_solved(const struct tact_world *world, const struct island *island)
{
    return island->residual <= world->options.tolerance ||
           (world->options.local == TACT_LOCAL_BOUCHARD && !island->points &&
            update_of(island) <= world->options.tolerance);
}

int tact_world_notify(const struct tact_world *world, enum tact_solve_phase phase,
                      const struct tact_solve_stats *stats)
{
    return world->observer ? world->observer(world->observer_user, phase, stats) : 0;
}

/* Keeps what is best so far, and what misses by least. */
static void record_best(struct tact_world *world, struct island *island, double miss)
{
    struct search *s = &island->search;
    if (island->residual < s->best) {
        s->best = island->residual;
        read_impulses(world, island, s->best_impulses);
    }
    if (miss < s->least_miss) {
        s->least_miss = miss;
        s->least_miss_residual = island->residual;
        read_impulses(world, island, s->least_miss_impulses);
    }
}

/* Out of sweeps: what misses by least, inside its limits. A miss that is no number is no less. */
static void finish_unsolved(struct tact_world *world, struct island *island, double miss)
{
    struct search *s = &island->search;
    if (s->least_miss < INFINITY && !(miss <= s->least_miss)) {
        write_impulses(world, island, s->least_miss_impulses);
        world->counts[TACT_COUNT_RESTORED]++;
        island->residual = s->least_miss_residual;
    }
    tact_sweeps_enforce_limits(world, island);
}

/* Contacts that share a body pass on most of what one sweep leaves. Taken as solved by the first, a
 * resting pile moves by that in the tick, and in the next two takes it back: for good, as what it
 * then warm-starts from is as far off again. Solved to rounding once, it rests. A contact that
 * hardly bears is as far off as rounding of the others makes it: there the change tells. */
static int has_converged(const struct tact_world *world, const struct island *island,
                         int iterations)
{
    int leaps = island->search.newton && tact_sweeps_can_search(world, island);
    return tact_sweeps_solved(world, island) && (iterations > 1 || !leaps ||
                                                 tact_min(island->residual, update_of(island)) <=
                                                     FIRST_SWEEP * world->options.tolerance);
}

/* A solution with anchored springs: where their deflection is too large, they are anchored again at
 * the present impulses, or after the last sweep the deflection is reported as the residual. Returns
 * 1 where the island is to be swept again. */
static int update_anchors(struct tact_world *world, struct island *island, int last)
{
    double yield = island->search.anchored > 0 ? tact_springs_deflection(world, island) : 0.0;
    if (yield == 0.0) {
        return 0;
    }
    if (last) {
        island->residual = tact_max(island->residual, yield);
        return 0;
    }
    tact_springs_anchor(world, island);
    world->counts[TACT_COUNT_PROXIMAL]++;
    reset_search(&island->search);
    return 1;
}

/* After a sweep: the next place to sweep from, or the end. last: of all sweeps. */
static void step_search(struct tact_world *world, struct island *island, int last,
                        struct tact_solve_stats *stats)
{
    int solved = has_converged(world, island, stats->iterations);
    double miss = sqrt(island->size) * island->residual;
    if (solved && update_anchors(world, island, last)) {
        return;
    }
    island->open = !solved && !last;
    if (solved && stats->iterations > 1) { /* rounding of larger impulses goes */
        tact_velocities_rebuild(world, island);
    }
    if (solved || !tact_sweeps_can_search(world, island)) {
        return;
    }
    if (last) {
        finish_unsolved(world, island, miss);
        return;
    }
    record_best(world, island, miss);
    if (!restore_best(world, island, stats)) {
        accelerate(world, island, stats);
    }
}

/* The world's figures from those of its islands. */
static void sum_islands(const struct tact_world *world, struct tact_solve_stats *stats)
{
    double size = 0.0, change = 0.0;
    stats->residual = 0.0;
    for (int i = 0; i < world->islands.count; i++) {
        const struct island *island = &world->islands.list[i];
        size += island->size;
        change += island->change;
        stats->residual = tact_max(stats->residual, island->residual);
    }
    stats->update = size > 0.0 ? sqrt(change / size) : 0.0;
}

/* One sweep over each island that is open. Returns whether there was one. */
static int sweep_open(struct tact_world *world)
{
    int any = 0;
    for (int i = 0; i < world->islands.count; i++) {
        struct island *island = &world->islands.list[i];
        if (island->open) {
            read_impulses(world, island, island->search.before);
            tact_sweep(world, island);
            any = 1;
        } else {
            island->change = 0.0;
        }
    }
    return any;
}

void tact_sweeps_run(struct tact_world *world, struct tact_solve_stats *stats)
{
    for (int i = 0; i < world->islands.count; i++) {
        begin_search(world, &world->islands.list[i]);
    }
    while (sweep_open(world)) {
        sum_islands(world, stats);
        stats->iterations++;
        int last = tact_world_notify(world, TACT_SOLVE_SWEPT, stats) ||
                   stats->iterations >= world->options.iterations;
        for (int i = 0; i < world->islands.count; i++) {
            if (world->islands.list[i].open) {
                step_search(world, &world->islands.list[i], last, stats);
            }
        }
    }
    sum_islands(world, stats);
}
