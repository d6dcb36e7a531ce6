/*
 * Block Gauss-Seidel over the contacts of a tick (Bouchard 2015, sections 3 and 5.1): every block
 * is a 6D contact in its patch's frame, S = J M^-1 J^T of the two bodies, warm-started.
 */
#include <errno.h>
#include <string.h>
#include "contact/local_internal.h"
#include "contact/rows_internal.h"
#include "contact/world_internal.h"

/* Rows of J for a free body: the wrench that a unit impulse along each of the frame's axes makes.
 */
static void body_jacobian(const struct tact_body *body, const struct tact_patch *patch, double sign,
                          double *j)
{
    double arm[3], torque[3];
    tact_v3_sub(arm, patch->center, body->pose.position);
    for (int i = 0; i < 3; i++) {
        const double *axis = patch->frame + 3 * i;
        tact_v3_cross(torque, arm, axis);
        for (int k = 0; k < 3; k++) {
            j[k * 6 + i] = sign * axis[k];
            j[(3 + k) * 6 + i] = sign * torque[k];
            j[k * 6 + 3 + i] = 0.0;
            j[(3 + k) * 6 + 3 + i] = sign * axis[k];
        }
    }
}

static void hand_jacobian(const struct tact_hand *hand, int link, const struct tact_patch *patch,
                          double sign, double *columns, double *j)
{
    tact_hand_jacobian(hand, link, patch->center, columns);
    for (int k = 0; k < tact_hand_count(hand); k++) {
        const double *twist = columns + 6 * k;
        for (int i = 0; i < 3; i++) {
            j[k * 6 + i] = sign * tact_v3_dot(patch->frame + 3 * i, twist);
            j[k * 6 + 3 + i] = sign * tact_v3_dot(patch->frame + 3 * i, twist + 3);
        }
    }
}

/* Two links of one hand move the same joints: their halves become one. */
static void merge_hand(struct block *block)
{
    struct side *a = &block->side[0], *b = &block->side[1];
    if (a->dof && a->v == b->v) {
        for (int i = 0; i < a->dof * 6; i++) {
            a->j[i] += b->j[i];
        }
        b->dof = 0;
    }
}

static void make_jacobians(struct tact_world *world, struct block *block)
{
    const struct tact_patch *patch = &world->contacts[block->pair].patch;
    for (int k = 0; k < 2; k++) {
        struct side *side = &block->side[k];
        double sign = k ? -1.0 : 1.0;
        if (side->owner.kind == TACT_OWNER_BODY) {
            body_jacobian(&world->bodies[side->owner.index].body, patch, sign, side->j);
        } else if (side->owner.kind == TACT_OWNER_HAND) {
            hand_jacobian(world->hands[side->owner.index].hand, side->owner.link, patch, sign,
                          world->columns, side->j);
        }
    }
    merge_hand(block);
}

static void make_columns(struct tact_world *world, struct side *side)
{
    if (side->owner.kind == TACT_OWNER_BODY) {
        const struct tact_body *body = &world->bodies[side->owner.index].body;
        double inverse_mass = 1.0 / body->mass;
        for (int i = 0; i < 6; i++) {
            double torque[3] = {side->j[18 + i], side->j[24 + i], side->j[30 + i]}, w[3];
            tact_m3_mul_v3(w, body->inverse_world, torque);
            for (int k = 0; k < 3; k++) {
                side->y[k * 6 + i] = side->j[k * 6 + i] * inverse_mass;
                side->y[(3 + k) * 6 + i] = w[k];
            }
        }
        return;
    }
    int n = side->dof;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 6; i++) {
            world->columns[i * n + k] = side->j[k * 6 + i];
        }
    }
    tact_hand_solve(world->hands[side->owner.index].hand, world->columns, 6);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 6; i++) {
            side->y[k * 6 + i] = world->columns[i * n + k];
        }
    }
}

void tact_assemble_schur(struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->pair];
    double *s = block->local.s;
    memset(s, 0, sizeof block->local.s);
    for (int k = 0; k < 2; k++) {
        struct side *side = &block->side[k];
        if (side->dof) {
            make_columns(world, side);
        }
        tact_rows_schur(s, side->j, side->y, side->dof);
    }
    tact_bonds_hold(world, block);
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            s[j * 6 + i] = s[i * 6 + j];
        }
    }
    tact_impact_target(world, block);
    block->local.mu = tact_world_pair_law(world, c->a, c->b)->friction;
    int point = c->patch.kind == TACT_PATCH_ELASTIC;
    block->local.corners = c->patch.corners;
    memcpy(block->local.corner, c->patch.corner,
           (size_t)c->patch.corners * sizeof *c->patch.corner);
    for (int i = 0; i < 2; i++) {
        block->local.semi[i] = point ? 0.0 : c->patch.semi[i];
        block->local.rectangle[i] =
            world->options.spin == TACT_SPIN_CORNERS ? c->patch.semi[i] : 0.0;
    }
    block->local.passes = world->block_count > 1 ? 3 : 0;
    block->local.surface = world->options.spin != TACT_SPIN_LIMIT_SURFACE ? TACT_SURFACE_ELLIPSOID
                           : point                                        ? TACT_SURFACE_HERTZ
                                                                          : TACT_SURFACE_UNIFORM;
}

static void factor(struct tact_world *world, struct block *block)
{
    if (world->options.model == TACT_CONTACT_POINTS) {
        tact_points_prepare(&world->points, block->pair, &block->local);
    } else {
        tact_local_prepare(&block->local);
    }
}

/* The last tick's impulse, seen from the new patch. */
static void warm_start(struct tact_world *world, int pair)
{
    struct tact_contact *c = &world->contacts[pair];
    double arm[3], torque[3];
    if (world->options.model == TACT_CONTACT_POINTS) {
        int known = tact_v3_dot(c->warm, c->warm) > 0.0;
        tact_points_warm(&world->points, pair, known, c->impulse);
        return;
    }
    tact_v3_sub(arm, c->warm_point, c->patch.center);
    tact_v3_cross(torque, arm, c->warm);
    tact_v3_add(torque, torque, c->warm + 3);
    tact_m3_mul_v3(c->impulse, c->patch.frame, c->warm);
    tact_m3_mul_v3(c->impulse + 3, c->patch.frame, torque);
    if (!(c->impulse[0] > 0.0)) {
        memset(c->impulse, 0, sizeof c->impulse);
    }
}

static void apply(struct side *side, const double *impulse)
{
    tact_rows_kick(side->v, side->y, impulse, side->dof);
}

/* A change of a contact's impulse, and what the joints of its bodies answer. */
static void give(struct tact_world *world, struct block *block, const double *delta)
{
    apply(&block->side[0], delta);
    apply(&block->side[1], delta);
    tact_bonds_answer(world, block, delta);
}

/* Joint-space impulses that the warm start puts on the hands. */
static void expect_impulses(struct tact_world *world)
{
    for (int i = 0; i < world->hand_count; i++) {
        size_t n = (size_t)tact_hand_count(world->hands[i].hand);
        memset(world->hands[i].impulse, 0, n * sizeof(double));
    }
    for (int i = 0; i < world->block_count; i++) {
        struct block *block = &world->blocks[i];
        const double *r = world->contacts[block->pair].impulse;
        for (int k = 0; k < 2; k++) {
            struct side *side = &block->side[k];
            if (side->owner.kind != TACT_OWNER_HAND) {
                continue;
            }
            double *sum = world->hands[side->owner.index].impulse;
            for (int m = 0; m < side->dof; m++) {
                for (int j = 0; j < 6; j++) {
                    sum[m] += side->j[m * 6 + j] * r[j];
                }
            }
        }
    }
}

static int free_velocities(struct tact_world *world)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    double h = world->options.period;
    for (int i = 0; i < world->body_count; i++) {
        if (world->bodies[i].weight) {
            tact_v3_axpy(world->bodies[i].body.twist, h, world->options.gravity);
        }
    }
    for (int i = 0; i < world->hand_count; i++) {
        struct world_hand *hand = &world->hands[i];
        int rc = tact_hand_free_velocity(
            hand->hand, h, hand->weightless ? none : world->options.gravity, hand->impulse);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

/* Spin arm and, for Algorithm 1, the patch that go with the present normal force. */
static void follow_force(const struct tact_world *world, struct block *block)
{
    const struct tact_contact *c = &world->contacts[block->pair];
    struct tact_local_problem *local = &block->local;
    const double *r = c->impulse;
    int corners = world->options.spin == TACT_SPIN_CORNERS;
    int paper = world->options.local == TACT_LOCAL_BOUCHARD;
    if (c->patch.kind == TACT_PATCH_ELASTIC && paper) {
        double radius = tact_patch_elastic_radius(&c->patch, r[0] / world->options.period);
        local->semi[0] = local->semi[1] = radius;
        local->rectangle[0] = local->rectangle[1] = corners ? radius : 0.0;
    }
    local->spin_arm = tact_patch_spin_arm(&c->patch, r[0] / world->options.period);
    if (corners && r[0] > 0.0 && c->patch.kind == TACT_PATCH_ELLIPSE) {
        const double d[2] = {-r[5] / r[0], r[4] / r[0]};
        local->spin_arm = tact_patch_corner_arm(c->patch.semi, d);
    }
}

/* Solves the 6D contact; adds the squares of its impulse and of its change, torques over the patch
 * size. */
static void solve_patch(struct tact_world *world, struct block *block, double *r, double *size,
                        double *change)
{
    struct tact_contact *c = &world->contacts[block->pair];
    struct tact_local_problem *local = &block->local;
    follow_force(world, block);
    block->residual = tact_local_residual(local, r);
    c->limits = world->options.local == TACT_LOCAL_BOUCHARD ? tact_local_bouchard(local, r)
                                                            : tact_local_cone(local, r);
    double length = tact_max(c->patch.semi[0], c->patch.semi[1]);
    length = tact_max(length, local->spin_arm);
    block->per_length = length > 0.0 ? 1.0 / length : 0.0;
    for (int i = 0; i < 6; i++) {
        double unit = i < 3 ? 1.0 : block->per_length, delta = r[i] - c->impulse[i];
        *size += unit * unit * r[i] * r[i];
        *change += unit * unit * delta * delta;
    }
}

static void solve_points(struct tact_world *world, struct block *block, double *r, double *size,
                         double *change)
{
    struct point_pass pass;
    tact_points_solve(&world->points, block->pair, &block->local, r, &pass);
    block->residual = pass.residual;
    world->contacts[block->pair].limits = pass.limits;
    *size += pass.size;
    *change += pass.change;
}

static void solve_block(struct tact_world *world, struct block *block, double *size, double *change)
{
    struct tact_contact *c = &world->contacts[block->pair];
    struct tact_local_problem *local = &block->local;
    double u[6] = {0.0}, r[6], delta[6];
    tact_impact_wanted(block, u);
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        tact_rows_velocity(u, side->j, side->v, side->dof);
    }
    u[0] += block->softness * c->impulse[0]; /* S holds it, J v does not */
    tact_rows_without(local->b, u, local->s, c->impulse);
    memcpy(r, c->impulse, sizeof r);
    if (world->options.model == TACT_CONTACT_POINTS) {
        solve_points(world, block, r, size, change);
    } else {
        solve_patch(world, block, r, size, change);
    }
    for (int i = 0; i < 6; i++) {
        delta[i] = r[i] - c->impulse[i];
        c->impulse[i] = r[i];
    }
    give(world, block, delta);
}

static void sweep(struct tact_world *world, struct tact_solve_stats *stats)
{
    double size = 0.0, change = 0.0;
    stats->residual = tact_bonds_sweep(world, &size, &change);
    for (int i = 0; i < world->block_count; i++) {
        struct block *block = &world->blocks[i];
        solve_block(world, block, &size, &change);
        if (block->residual > stats->residual) {
            stats->residual = block->residual;
        }
    }
    stats->update = size > 0.0 ? sqrt(change / size) : 0.0;
}

/* Copies the velocities that contacts act on: out, or back in. */
static void copy_velocities(struct tact_world *world, int back)
{
    double *at = world->free;
    for (int i = 0; i < world->body_count + world->hand_count; i++) {
        int hand = i - world->body_count;
        double *v =
            hand < 0 ? world->bodies[i].body.twist : tact_hand_velocity(world->hands[hand].hand);
        size_t n = hand < 0 ? 6 : (size_t)tact_hand_count(world->hands[hand].hand);
        memcpy(back ? v : at, back ? at : v, n * sizeof *v);
        at += n;
    }
}

/* Velocities from the free ones and all impulses: sums of changes would lose digits in leaps. */
static void rebuild_velocities(struct tact_world *world)
{
    copy_velocities(world, 1);
    for (int i = 0; i < world->block_count; i++) {
        struct block *block = &world->blocks[i];
        apply(&block->side[0], world->contacts[block->pair].impulse);
        apply(&block->side[1], world->contacts[block->pair].impulse);
    }
    tact_bonds_apply(world);
}

/* Unknowns of the sweeps: six a contact, then the loose one of each joint; what the joints hold
 * follows from them. */
static int unknowns(const struct tact_world *world)
{
    return world->block_count * 6 + world->bond_count;
}

/* Goes from what the sweep gave to where Anderson acceleration expects the solution; the next sweep
 * brings that back inside the limits. */
static void accelerate(struct tact_world *world, const double *before)
{
    int n = unknowns(world), bonds = world->block_count * 6;
    double *after = world->sweeps + n, *scale = world->sweeps + 2 * n,
           *next = world->sweeps + 3 * n;
    for (int i = 0; i < world->block_count; i++) {
        const struct block *block = &world->blocks[i];
        memcpy(after + 6 * i, world->contacts[block->pair].impulse, 6 * sizeof *after);
        for (int k = 0; k < 6; k++) {
            scale[6 * i + k] = k < 3 ? 1.0 : block->per_length;
        }
    }
    tact_bonds_copy(world, after + bonds, 0);
    tact_bonds_scale(world, scale + bonds);
    tact_anderson_step(&world->anderson, before, after, scale, next);
    tact_bonds_copy(world, next + bonds, 1);
    for (int i = 0; i < world->block_count; i++) {
        double *r = world->contacts[world->blocks[i].pair].impulse, delta[6];
        for (int k = 0; k < 6; k++) {
            delta[k] = next[6 * i + k] - r[k];
            r[k] = next[6 * i + k];
        }
        tact_bonds_answer(world, &world->blocks[i], delta);
    }
    rebuild_velocities(world);
}

static int is_solved(const struct tact_world *world, const struct tact_solve_stats *stats)
{
    return stats->residual <= world->options.tolerance ||
           (world->options.local == TACT_LOCAL_BOUCHARD &&
            world->options.model == TACT_CONTACT_PATCH &&
            stats->update <= world->options.tolerance);
}

/* 1 where whoever watches has seen enough. */
static int mark(const struct tact_world *world, enum tact_solve_phase phase,
                const struct tact_solve_stats *stats)
{
    return world->watch ? world->watch(world->watch_user, phase, stats) : 0;
}

/* Out of iterations some limits are those of an impulse of before: what is beyond them goes. */
static void keep_limits(struct tact_world *world)
{
    for (int i = 0; i < world->block_count; i++) {
        struct block *block = &world->blocks[i];
        double *r = world->contacts[block->pair].impulse, delta[6];
        memcpy(delta, r, sizeof delta);
        follow_force(world, block);
        tact_local_keep_inside(&block->local, r);
        for (int k = 0; k < 6; k++) {
            delta[k] = r[k] - delta[k];
        }
        give(world, block, delta);
    }
}

/* Sweeps until solved or out of iterations; ends with a sweep, so that every limit is kept. */
static void iterate(struct tact_world *world, struct tact_solve_stats *stats)
{
    double *before = world->sweeps, best = INFINITY;
    int cone =
        world->options.local == TACT_LOCAL_CONE && world->options.model == TACT_CONTACT_PATCH;
    int n = unknowns(world);
    tact_anderson_restart(&world->anderson, n);
    while (n > 0) {
        for (int i = 0; i < world->block_count; i++) {
            memcpy(before + 6 * i, world->contacts[world->blocks[i].pair].impulse,
                   6 * sizeof *before);
        }
        tact_bonds_copy(world, before + 6 * world->block_count, 0);
        sweep(world, stats);
        stats->iterations++;
        int enough = mark(world, TACT_SOLVE_SWEPT, stats);
        if (is_solved(world, stats)) {
            break;
        }
        if (enough || stats->iterations >= world->options.iterations) {
            if (cone) {
                keep_limits(world);
            }
            break;
        }
        if (stats->residual > 10.0 * best) {
            tact_anderson_restart(&world->anderson, n); /* the limits that act have changed */
        }
        best = stats->residual < best ? stats->residual : best;
        if (cone) {
            accelerate(world, before);
        }
    }
}

/* Sum over contacts and joints of impulse times velocity at the present velocities [J]; beside it,
 * what stabilisation gives to bodies that it pushes apart from rest. */
static double contact_work(const struct tact_world *world, double *pushed)
{
    double work = tact_bonds_work(world);
    *pushed = 0.0;
    for (int i = 0; i < world->block_count; i++) {
        const struct block *block = &world->blocks[i];
        const double *r = world->contacts[block->pair].impulse;
        double push = tact_max(block->push, 0.0);
        *pushed += push > 0.0 ? 0.5 * push * push / block->local.s[0] : 0.0;
        for (int k = 0; k < 2; k++) {
            const struct side *side = &block->side[k];
            for (int m = 0; m < side->dof; m++) {
                for (int j = 0; j < 6; j++) {
                    work += side->v[m] * side->j[m * 6 + j] * r[j];
                }
            }
        }
    }
    return work;
}

/* Restitution of the normal velocity beside Coulomb's friction can give energy (Kane and Levinson
 * 1985). An impact that does rebounds by half, and then not at all: without rebound the contacts
 * take energy, all but what stabilisation pushes. */
static void bound_rebound(struct tact_world *world, struct tact_solve_stats *stats)
{
    int most = 0;
    for (int i = 0; i < world->block_count; i++) {
        const double *rebound = world->blocks[i].rebound;
        most = rebound[0] != 0.0 || rebound[1] != 0.0 || rebound[2] != 0.0 ? 2 : most;
    }
    for (int round = 0; round < most; round++) {
        double pushed, after = contact_work(world, &pushed);
        copy_velocities(world, 1);
        double before = contact_work(world, &pushed), size = fabs(before) + fabs(after);
        rebuild_velocities(world);
        if (0.5 * (before + after) <= pushed + 1e-12 * size) {
            return;
        }
        for (int i = 0; i < world->block_count; i++) {
            double *rebound = world->blocks[i].rebound;
            tact_v3_scale(rebound, rebound, round ? 0.0 : 0.5);
        }
        iterate(world, stats);
    }
}

/* How far the contact is from its limits, and whether drives that carry it are at theirs. Points
 * have no impulse that would hold them as one: their own is judged. */
static void judge(const struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->pair];
    tact_local_margins(&block->local, c->impulse, &c->margins);
    for (int k = 0; k < 2; k++) {
        struct tact_owner owner = world->shapes[k ? c->b : c->a].owner;
        int held = 0;
        if (owner.kind == TACT_OWNER_HAND) {
            double left = tact_hand_drive_margin(world->hands[owner.index].hand, owner.link,
                                                 world->options.period, &held);
            c->margins.joint = tact_min(c->margins.joint, left);
            c->limits |= held ? TACT_LIMIT_JOINT : 0;
        }
    }
}

/* World wrench and next tick's warm start from the impulse in the patch's frame. */
static void store(struct tact_world *world, struct block *block)
{
    struct tact_contact *c = &world->contacts[block->pair];
    double inverse_h = 1.0 / world->options.period;
    tact_m3_tmul_v3(c->warm, c->patch.frame, c->impulse);
    tact_m3_tmul_v3(c->warm + 3, c->patch.frame, c->impulse + 3);
    tact_v3_copy(c->warm_point, c->patch.center);
    for (int i = 0; i < 6; i++) {
        c->wrench[i] = c->warm[i] * inverse_h;
    }
}

int tact_world_solve(struct tact_world *world, struct tact_solve_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    tact_assemble_blocks(world);
    stats->contacts = world->block_count;
    stats->points = world->points.now.count;
    stats->left_out = world->points.left_out;
    mark(world, TACT_SOLVE_PATCHES, stats);
    for (int i = 0; i < world->block_count; i++) {
        make_jacobians(world, &world->blocks[i]);
        tact_impact_rolling(world, &world->blocks[i]);
        tact_impact_velocity(&world->blocks[i], world->blocks[i].arrival);
        warm_start(world, world->blocks[i].pair);
    }
    expect_impulses(world);
    int rc = free_velocities(world);
    if (rc) {
        for (int i = 0; i < world->block_count; i++) {
            struct tact_contact *c = &world->contacts[world->blocks[i].pair];
            memset(c->impulse, 0, sizeof c->impulse);
            memset(c->wrench, 0, sizeof c->wrench);
            memset(c->warm, 0, sizeof c->warm);
            memset(&c->margins, 0, sizeof c->margins);
        }
        tact_bonds_clear(world);
        return rc;
    }
    copy_velocities(world, 0);
    tact_bonds_assemble(world);
    for (int i = 0; i < world->block_count; i++) {
        tact_assemble_schur(world, &world->blocks[i]);
        tact_impact_rebound(world, &world->blocks[i]);
    }
    mark(world, TACT_SOLVE_ASSEMBLED, stats);
    for (int i = 0; i < world->block_count; i++) {
        factor(world, &world->blocks[i]);
    }
    mark(world, TACT_SOLVE_FACTORED, stats);
    rebuild_velocities(world);
    iterate(world, stats);
    bound_rebound(world, stats);
    if (!is_solved(world, stats)) {
        rebuild_velocities(world); /* momentum balances to rounding all the same */
    }
    for (int i = 0; i < world->block_count; i++) {
        store(world, &world->blocks[i]);
        judge(world, &world->blocks[i]);
    }
    tact_bonds_store(world);
    mark(world, TACT_SOLVE_STORED, stats);
    return 0;
}
