/* Sweeps over the contacts of a tick, and what leads from one to the next. */
#ifndef TACT_CONTACT_SWEEPS_INTERNAL_H
#define TACT_CONTACT_SWEEPS_INTERNAL_H

#include "contact/linear.h"
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

/* Copies the velocities of all bodies and hands into world->arrived or world->free. */
void tact_velocities_store(const struct tact_world *world, double *all);

/* Takes an island's velocities back to those without contacts. */
void tact_velocities_set_free(struct tact_world *world, const struct island *island);

/* Takes an island's velocities back to those that led here. */
void tact_velocities_set_pre(struct tact_world *world, const struct island *island);

/* Stops what an island moves. */
void tact_velocities_set_zero(struct tact_world *world, const struct island *island);

/* Velocities from the free ones and all impulses: sums of changes would lose digits in leaps. */
void tact_velocities_rebuild(struct tact_world *world, const struct island *island);

/* What an impulse of a contact does to the velocities of its two bodies. */
static inline void tact_block_apply_impulse(const struct block *block, const double *impulse)
{
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        tact_rows_apply_impulse(side->v, side->y, impulse, side->dof);
    }
}

/* Adds to a block's velocity u what its impulse r adds by compliance: S holds it, J v does not. */
static inline void tact_block_add_compliance(const struct block *block, const double *r, double *u)
{
    u[0] += block->normal_cfm * r[0];
    for (int i = 0; i < 6; i++) {
        u[i] += block->row_cfm[i] * r[i];
    }
    for (int i = 0; i < 6 && block->cross_coupled; i++) {
        u[i] += tact_dot(block->cross_cfm + 6 * i, r, 6);
    }
}

/* Takes what the springs of a block's rows begin with from its velocity u. */
static inline void tact_block_subtract_rest(const struct block *block, double *u)
{
    for (int i = 0; i < 6; i++) {
        u[i] -= block->row_cfm[i] * block->rest_impulse[i];
    }
    for (int i = 0; i < 6 && block->cross_coupled; i++) {
        u[i] -= tact_dot(block->cross_cfm + 6 * i, block->rest_impulse, 6);
    }
}

/* One sweep over an island: sets its residual, size and change, torques over the patch size. */
void tact_sweep(struct tact_world *world, struct island *island);

/* Out of iterations some limits are those of an impulse of before: what is beyond them goes. */
void tact_sweeps_enforce_limits(struct tact_world *world, const struct island *island);

/* 1 where all blocks are patches solved by the cone's law: what the search and its bounds are for.
 */
static inline int tact_sweeps_can_search(const struct tact_world *world,
                                         const struct island *island)
{
    return world->options.local == TACT_LOCAL_CONE && !island->points;
}

int tact_sweeps_solved(const struct tact_world *world, const struct island *island);

/* Sweeps the islands that are open, each until it is solved, all until out of iterations; every
 * limit is kept at the end. */
void tact_sweeps_run(struct tact_world *world, struct tact_solve_stats *stats);

/* All impulses of an island's contacts times `share`, and what the joints answer. */
void tact_sweeps_scale(struct tact_world *world, struct island *island, double share);

/* Where pushes press against each other, or through joints against what holds those, impulses have
 * no bound: such an island is solved again with slower pushes and then without, each time in as
 * many sweeps as are allowed; likewise one that has contacts between links and what is fixed, and
 * was not solved. */
void tact_openings_bound(struct tact_world *world, struct tact_solve_stats *stats);

/* Impulses of an unsolved island that balance each other may be of any size: they are scaled to a
 * hundred times what all that moves and weighs needs. */
void tact_openings_bound_unsolved(struct tact_world *world, struct island *island);

/* Restitution beside friction can give energy: such an impact rebounds less. */
void tact_energy_bound_rebound(struct tact_world *world, struct tact_solve_stats *stats);

/* Impulses that are no solution, after the last sweep: where they would give energy, they become
 * less by as much as it takes. */
void tact_energy_bound_unsolved(struct tact_world *world, struct island *island);

/* 1 where whoever watches has seen enough. */
int tact_world_notify(const struct tact_world *world, enum tact_solve_phase phase,
                      const struct tact_solve_stats *stats);

#endif
