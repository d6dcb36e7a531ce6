/*
 * From sweep to sweep: Newton's method where it is of use, Anderson acceleration where it is not,
 * and the best of what was met where nothing gets there.
 */
#include <math.h>
#include <string.h>
#include "contact/world/sweeps_internal.h"

#define LESS 0.9     /* of a residual, that counts as progress */
#define STILL 1e-3   /* of the tolerance: what the first sweep may find or change */
#define TRIES 2      /* of Newton's steps that may go up before they are taken back */
#define PAUSE 4      /* sweeps without them, once they were; twice as many each time */
#define MOST_FAILS 4 /* that make it longer */
#define FRESH 10.0   /* growth of the residual that makes what was learnt useless */

/* What is known between sweeps. */
struct search {
    int n;         /* unknowns */
    int newton;    /* 1 where Newton's steps may be taken */
    double best;   /* least residual met */
    double lately; /* the same since Anderson acceleration began anew */
    double from;   /* residual where Newton's present steps began */
    int tried;     /* how many of them have led no lower; 0: none is under way */
    int fails;     /* how often they were taken back */
    int hold;      /* sweeps until they are tried again */
    double least;  /* miss met: a residual is a share of impulses, which may be absurd */
    double share;  /* residual there */
    double *before, *after, *scale, *next; /* impulses */
    double *kept, *sane;                   /* those of the best sweep, and of the least miss */
};

/* Unknowns of the sweeps: six a contact, then the loose one of each joint; what the joints hold
 * follows from them. */
static int unknowns(const struct tact_world *world)
{
    return world->block_count * 6 + world->bond_count;
}

static void read_impulses(struct tact_world *world, double *out)
{
    for (int i = 0; i < world->block_count; i++) {
        memcpy(out + 6 * i, world->contacts[world->blocks[i].pair].impulse, 6 * sizeof *out);
    }
    tact_bonds_copy(world, out + 6 * world->block_count, 0);
}

static void write_impulses(struct tact_world *world, double *next)
{
    tact_bonds_copy(world, next + 6 * world->block_count, 1);
    for (int i = 0; i < world->block_count; i++) {
        double *r = world->contacts[world->blocks[i].pair].impulse, delta[6];
        for (int k = 0; k < 6; k++) {
            delta[k] = next[6 * i + k] - r[k];
            r[k] = next[6 * i + k];
        }
        tact_bonds_answer(world, &world->blocks[i], delta);
    }
    tact_velocities_rebuild(world);
}

void tact_sweeps_scale(struct tact_world *world, double share)
{
    double *next = world->sweeps;
    read_impulses(world, next);
    for (int i = 0; i < world->block_count * 6; i++) {
        next[i] *= share;
    }
    write_impulses(world, next);
}

static int *touching(struct tact_world *world, struct tact_owner owner)
{
    return owner.kind == TACT_OWNER_BODY ? &world->bodies[owner.index].touching
                                         : &world->hands[owner.index].touching;
}

void tact_search_count(struct tact_world *world)
{
    world->coupled = 0;
    for (int pass = 0; pass < 3; pass++) { /* sets to 0, counts, looks */
        for (int i = 0; i < world->block_count; i++) {
            struct block *block = &world->blocks[i];
            block->alone = 1;
            for (int k = 0; k < 2; k++) {
                if (block->side[k].dof) {
                    int *n = touching(world, block->side[k].owner);
                    *n = pass ? *n + (pass == 1) : 0;
                    block->alone &= *n == 1;
                }
            }
            world->coupled |= pass == 2 && !block->alone;
        }
    }
}

static struct search begin(struct tact_world *world)
{
    int n = unknowns(world);
    struct search s = {.n = n, .best = INFINITY, .lately = INFINITY, .least = INFINITY};
    s.newton = world->coupled && world->bond_count == 0;
    s.before = world->sweeps;
    s.after = s.before + n;
    s.scale = s.after + n;
    s.next = s.scale + n;
    s.kept = s.next + n;
    s.sane = s.kept + n;
    tact_anderson_restart(&world->anderson, n);
    return s;
}

static void forget(struct tact_world *world, struct search *s)
{
    tact_anderson_restart(&world->anderson, s->n);
    s->lately = INFINITY;
}

/* Newton's steps may go up before they come down, but not for long: then what they began from is
 * taken up again, and some sweeps go by before the next. Returns 1 where that was so. */
static int give_up(struct tact_world *world, struct search *s, double residual)
{
    if (!s->tried) {
        return 0;
    }
    if (residual <= LESS * s->from) {
        s->tried = 0;
        return 0;
    }
    if (s->tried++ <= TRIES) {
        return 0;
    }
    write_impulses(world, s->kept);
    forget(world, s);
    s->hold = PAUSE << s->fails;
    s->fails += s->fails < MOST_FAILS;
    s->tried = 0;
    return 1;
}

/* Goes from what the sweep gave to where the solution is expected; the next sweep brings that back
 * inside the limits. */
static void leap(struct tact_world *world, struct search *s, struct tact_solve_stats *stats)
{
    double residual = stats->residual;
    int newton = s->newton && (s->tried || s->hold-- <= 0);
    read_impulses(world, s->after);
    for (int i = 0; i < world->block_count; i++) {
        for (int k = 0; k < 6; k++) {
            s->scale[6 * i + k] = k < 3 ? 1.0 : world->blocks[i].per_length;
        }
    }
    tact_bonds_scale(world, s->scale + 6 * world->block_count);
    if (newton) {
        if (!s->tried) {
            s->tried = 1;
            s->from = s->best;
        }
        double share = 0.01 * world->options.tolerance / residual;
        stats->products += tact_newton_step(world, s->before, s->after, s->scale,
                                            tact_max(1e-10, tact_min(1e-2, share)), s->next);
        forget(world, s);
    } else {
        if (residual > FRESH * s->lately) {
            forget(world, s); /* the limits that act have changed */
        }
        s->lately = tact_min(s->lately, residual);
        tact_anderson_step(&world->anderson, s->before, s->after, s->scale, s->next);
    }
    write_impulses(world, s->next);
}

int tact_sweeps_solved(const struct tact_world *world, const struct tact_solve_stats *stats)
{
    return stats->residual <= world->options.tolerance ||
           (world->options.local == TACT_LOCAL_BOUCHARD &&
            world->options.model == TACT_CONTACT_PATCH &&
            stats->update <= world->options.tolerance);
}

int tact_world_mark(const struct tact_world *world, enum tact_solve_phase phase,
                    const struct tact_solve_stats *stats)
{
    return world->watch ? world->watch(world->watch_user, phase, stats) : 0;
}

/* Keeps what is best so far, and what misses by least. */
static void keep(struct tact_world *world, struct search *s, double miss, double residual)
{
    if (residual < s->best) {
        s->best = residual;
        read_impulses(world, s->kept);
    }
    if (miss < s->least) {
        s->least = miss;
        s->share = residual;
        read_impulses(world, s->sane);
    }
}

/* Out of sweeps: what misses by least, inside its limits. A miss that is no number is no less. */
static void settle(struct tact_world *world, struct search *s, double miss,
                   struct tact_solve_stats *stats)
{
    if (s->least < INFINITY && !(miss <= s->least)) {
        write_impulses(world, s->sane);
        stats->residual = s->share;
    }
    tact_sweeps_keep_limits(world);
}

/* Contacts that share a body pass on most of what one sweep leaves. Taken as solved by the first, a
 * resting pile moves by that in the tick, and in the next two takes it back: for good, as what it
 * then warm-starts from is as far off again. Solved to rounding once, it rests. A contact that
 * hardly bears is as far off as rounding of the others makes it: there the change tells. */
static int ends(const struct tact_world *world, const struct search *s,
                const struct tact_solve_stats *stats)
{
    int leaps = s->newton && tact_sweeps_search(world);
    return tact_sweeps_solved(world, stats) &&
           (stats->iterations > 1 || !leaps ||
            tact_min(stats->residual, stats->update) <= STILL * world->options.tolerance);
}

void tact_sweeps_run(struct tact_world *world, struct tact_solve_stats *stats)
{
    struct search s = begin(world);
    int cone = tact_sweeps_search(world);
    while (s.n > 0) {
        read_impulses(world, s.before);
        double miss = tact_sweep(world, stats) * stats->residual;
        stats->iterations++;
        int enough = tact_world_mark(world, TACT_SOLVE_SWEPT, stats);
        if (ends(world, &s, stats)) {
            break;
        }
        if (enough || stats->iterations >= world->options.iterations) {
            if (cone) {
                settle(world, &s, miss, stats);
            }
            break;
        }
        if (cone) {
            keep(world, &s, miss, stats->residual);
            if (!give_up(world, &s, stats->residual)) {
                leap(world, &s, stats);
            }
        }
    }
}
