/* One sweep over the contacts of an island: each is solved with all others fixed. */
#include "contact/world/sweeps_internal.h"

#include <math.h>
#include <string.h>
#include "contact/local/local_internal.h"
#include "contact/world/rows_internal.h"

/* Applies a change of a contact's impulse, and the response of the joints of its bodies. */
static void apply_impulse_change(struct tact_world *world, struct block *block,
                                 const double *impulse_change)
{
    tact_block_apply_impulse(block, impulse_change);
    tact_constraints_apply_response_to_contact(world, block, impulse_change);
}

/* Sets the arms of torsion and rolling and, for Algorithm 1, the patch that belong to the present
 * normal force. */
static void update_friction_limit_arms(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    struct tact_local_problem *local = &block->local;
    const double *r = c->impulse;
    int corners = c->patch.spin == TACT_SPIN_CORNERS;
    int is_bouchard_method = world->options.local == TACT_LOCAL_BOUCHARD;
    if (c->patch.kind == TACT_PATCH_ELASTIC && is_bouchard_method) {
        double radius = tact_patch_elastic_radius(&c->patch, r[0] / world->options.period);
        for (int i = 0; i < 2; i++) {
            local->semi[i] = radius * c->patch.stretch[i];
            local->rectangle[i] = corners ? local->semi[i] : 0.0;
        }
    }
    local->spin_arm = tact_patch_spin_arm(&c->patch, r[0] / world->options.period);
    if (!is_bouchard_method) {
        tact_patch_rolling_arms(&c->patch, r[0] / world->options.period, local->rolling_arm);
    }
    if (corners && r[0] > 0.0 && c->patch.kind == TACT_PATCH_ELLIPSE) {
        const double d[2] = {-r[5] / r[0], r[4] / r[0]};
        local->spin_arm = tact_patch_corner_arm(c->patch.semi, d);
    }
}

/* Solves one 6D contact with all others fixed; adds the squares of its impulse and of its change,
 * with torques over the patch size, to the sums of the island. The result of the search is not used
 * where the impulse before is a solution within the tolerance, and a better one: of a contact on a
 * light link, whose mobility is nearly singular, it may be wrong by 1e-3, after which the island
 * counted as solved by the residual before. */
static void solve_patch_contact_in_sweep(struct tact_world *world, struct island *island,
                                         struct block *block, double *r)
{
    struct tact_contact *c = &world->contacts[block->contact];
    struct tact_local_problem *local = &block->local;
    update_friction_limit_arms(world, block);
    block->residual = tact_local_residual(local, r);
    if (world->options.local == TACT_LOCAL_BOUCHARD) {
        c->limits = tact_local_bouchard(local, r);
    } else {
        int by;
        const int limits = tact_local_cone_by(local, r, &by);
        world->counts[by]++;
        if (by == TACT_COUNT_SEARCH && block->residual <= world->options.tolerance &&
            tact_local_residual(local, r) > block->residual) {
            memcpy(r, c->impulse, sizeof c->impulse);
        } else {
            c->limits = limits;
        }
    }
    double length = tact_max(c->patch.semi[0], c->patch.semi[1]);
    length = tact_max(length, local->spin_arm);
    block->joint_torque_to_force_scale = length > 0.0 ? 1.0 / length : 0.0;
    for (int i = 0; i < 6; i++) {
        double unit = i < 3 ? 1.0 : block->joint_torque_to_force_scale,
               impulse_change = r[i] - c->impulse[i];
        island->size += unit * unit * r[i] * r[i];
        island->change += unit * unit * impulse_change * impulse_change;
    }
}

static void sweep_contact_points(struct tact_world *world, struct island *island,
                                 struct block *block, double *r)
{
    struct contact_point_solver_pass pass;
    tact_points_solve_pair(&world->points, block->contact, &block->local, r, &pass);
    block->residual = pass.residual;
    world->contacts[block->contact].limits = pass.limits;
    island->size += pass.size;
    island->change += pass.change;
}

static void solve_contact_in_sweep(struct tact_world *world, struct island *island,
                                   struct block *block)
{
    struct tact_contact *c = &world->contacts[block->contact];
    struct tact_local_problem *local = &block->local;
    double u[6] = {0.0}, r[6], impulse_change[6];
    tact_impact_subtract_all_targets(block, u);
    tact_block_add_velocity(block, u);
    tact_constraints_correct_contact_velocity(world, block, c->impulse, u);
    tact_block_add_compliance(block, c->impulse, u);
    tact_block_subtract_rest_velocity(block, u);
    tact_rows_subtract_impulse_velocity(local->b, u, local->s, c->impulse);
    memcpy(r, c->impulse, sizeof r);
    if (block->points) {
        sweep_contact_points(world, island, block, r);
    } else {
        solve_patch_contact_in_sweep(world, island, block, r);
    }
    for (int i = 0; i < 6; i++) {
        impulse_change[i] = r[i] - c->impulse[i];
        c->impulse[i] = r[i];
    }
    apply_impulse_change(world, block, impulse_change);
}

void tact_sweep_island(struct tact_world *world, struct island *island)
{
    island->size = island->change = 0.0;
    island->residual = tact_constraints_solve_in_sweep(world, island);
    island->residual = tact_max(island->residual, tact_joint_bounds_solve_in_sweep(world, island));
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        solve_contact_in_sweep(world, island, block);
        if (block->residual > island->residual) {
            island->residual = block->residual;
        }
    }
}

void tact_sweeps_enforce_limits(struct tact_world *world, const struct island *island)
{
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        double *r = world->contacts[block->contact].impulse, impulse_change[6];
        memcpy(impulse_change, r, sizeof impulse_change);
        update_friction_limit_arms(world, block);
        tact_local_scale_to_limit_surface(&block->local, r);
        for (int k = 0; k < 6; k++) {
            impulse_change[k] = r[k] - impulse_change[k];
        }
        apply_impulse_change(world, block, impulse_change);
    }
}
