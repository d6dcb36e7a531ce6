#include "coulomb_world.h"

#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/vec.h"
#include "contact/world/hand_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

/* Creates an empty world whose tolerance is so small that it never ends the sweeps. */
static struct tact_world *create_world_without_tolerance(void)
{
    struct tact_world_options o = tact_world_options_default();
    struct tact_world *world;
    o.iterations = 100;
    o.tolerance = 1e-15;
    o.split = 0;
    assert_int_equal(tact_world_create(&o, &world), 0);
    return world;
}

/* Allocates contacts without shapes, so that a test can set their equations. */
static void allocate_shapeless_contacts(struct tact_world *world, int contacts)
{
    static const struct tact_shape ground = {.kind = TACT_SHAPE_HALFSPACE};
    const struct tact_owner fixed = {TACT_OWNER_FIXED, 0, 0};
    const struct tact_pose here = tact_pose_identity();
    assert_true(tact_world_add_shape(world, fixed, &ground, &here, 0) >= 0);
    world->contacts = calloc((size_t)contacts, sizeof *world->contacts);
    assert_non_null(world->contacts);
    world->slots = world->contact_capacity = world->contact_block_count = contacts;
    assert_int_equal(tact_world_allocate_tick_storage(world), 0);
    for (int i = 0; i < contacts; i++) {
        struct block *block = &world->blocks[i];
        block->contact = i;
        block->response[0].mechanism = block->response[1].mechanism = -1;
        block->nodes = world->storage_of_block_nodes + (size_t)i * (size_t)world->max_nodes;
        block->owner[0] = block->owner[1] = fixed;
    }
}

static void set_contact_block_friction(struct block *block, double mu)
{
    double *s = block->local.s;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) {
            s[6 * i + k] = s[6 * k + i] = 0.5 * (s[6 * i + k] + s[6 * k + i]);
        }
    }
    block->local.mu = mu;
    tact_local_prepare(&block->local);
}

/* Factors the n x n Delassus matrix W = C C^T: C has its eigenvectors, each times the root of its
 * eigenvalue. */
static void factor_delassus_matrix_of_contacts(const double *w, int n, double *c)
{
    double values[3 * MAX_COULOMB_CONTACTS],
        vectors[9 * MAX_COULOMB_CONTACTS * MAX_COULOMB_CONTACTS];
    memcpy(vectors, w, (size_t)(n * n) * sizeof *w);
    assert_int_equal(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, vectors, n, values), 0);
    for (int i = 0; i < n * n; i++) {
        c[i] = vectors[i] * sqrt(fmax(values[i % n], 0));
    }
}

/* Stores the contact's rows of C as its Jacobian, for all nodes of the hand. */
static void set_contact_jacobian(const struct tact_world *world, const struct coulomb_problem *p,
                                 const double *c, int contact, struct block *block)
{
    struct tact_hand *hand = world->hands[0].hand;
    int n = 3 * p->contacts;
    block->owner[0] = (struct tact_owner){TACT_OWNER_HAND, 0, 0};
    block->node_count = hand->coordinate_chain_count;
    for (int k = 0; k < hand->coordinate_chain_count; k++) {
        struct block_jacobian_node *node = &block->nodes[k];
        node->node = world->hands[0].node + k;
        node->v = hand->w + TACT_UNKNOWNS_PER_NODE * k;
        node->dof = n - TACT_UNKNOWNS_PER_NODE * k < TACT_UNKNOWNS_PER_NODE
                        ? n - TACT_UNKNOWNS_PER_NODE * k
                        : TACT_UNKNOWNS_PER_NODE;
        node->newton_step_jacobian = node->j;
        node->newton_step_unknown_count = node->dof;
        for (int m = 0; m < 3 * node->dof; m++) {
            node->j[6 * (m / 3) + m % 3] =
                c[(3 * contact + m % 3) * n + TACT_UNKNOWNS_PER_NODE * k + m / 3];
        }
        memcpy(node->y, node->j, sizeof node->y);
    }
    for (int i = 0; i < 9; i++) {
        block->local.s[6 * (i / 3) + i % 3] = p->w[(3 * contact + i / 3) * n + 3 * contact + i % 3];
    }
    for (int i = 0; i < 3; i++) {
        block->target_velocity[i] = -p->q[3 * contact + i];
    }
}

/* The world of a Coulomb problem has one hand without drives, with the identity as mass matrix and
 * the Jacobian C, so that its Delassus matrix is W = C C^T. */
struct tact_world *coulomb_world_of_problem(const struct coulomb_problem *p)
{
    static struct tact_link_def links[3 * MAX_COULOMB_CONTACTS];
    static double c[9 * MAX_COULOMB_CONTACTS * MAX_COULOMB_CONTACTS];
    struct tact_world *world = create_world_without_tolerance();
    struct tact_pose here = tact_pose_identity();
    struct tact_hand *hand;
    int n = 3 * p->contacts;
    for (int i = 0; i < n; i++) {
        links[i] = (struct tact_link_def){.parent = i - 1,
                                          .joint = TACT_JOINT_SLIDE,
                                          .axis = {1, 0, 0},
                                          .origin = here,
                                          .mass = 1,
                                          .inertia = {1, 1, 1, 0, 0, 0}};
    }
    assert_int_equal(tact_hand_create(links, n, &here, &hand), 0);
    assert_true(tact_world_add_hand(world, hand, 1) >= 0);
    allocate_shapeless_contacts(world, p->contacts);
    factor_delassus_matrix_of_contacts(p->w, n, c);
    for (int i = 0; i < p->contacts; i++) {
        set_contact_jacobian(world, p, c, i, &world->blocks[i]);
        set_contact_block_friction(&world->blocks[i], p->mu[i]);
    }
    return world;
}

/* A corner of a face. */
static void place_masonry_contact(struct tact_world *world, const struct masonry_face *face,
                                  int corner, struct block *block)
{
    static const double axes[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* n t1 t2 */
    const double at[3] = {corner & 1 ? face->high[0] : face->low[0],
                          corner & 2 ? face->high[1] : face->low[1], face->height};
    for (int k = 0; k < 2; k++) {
        int index = k ? face->lower : face->upper;
        if (index < 0) {
            continue;
        }
        struct block_jacobian_node *node = &block->nodes[block->node_count++];
        struct tact_body *body = &world->bodies[index].body;
        double arm[3], torque[3], sign = k ? -1 : 1;
        block->owner[k] = (struct tact_owner){TACT_OWNER_BODY, index, 0};
        node->node = index;
        node->dof = node->newton_step_unknown_count = TACT_UNKNOWNS_PER_NODE;
        node->newton_step_jacobian = node->j;
        node->v = body->twist;
        tact_v3_sub(arm, at, body->pose.position);
        for (int i = 0; i < 3; i++) {
            double turned[3];
            tact_v3_cross(torque, arm, axes + 3 * i);
            tact_m3_mul_v3(turned, body->inverse_world, torque);
            for (int m = 0; m < 3; m++) {
                node->j[6 * m + i] = sign * axes[3 * i + m];
                node->j[6 * (3 + m) + i] = sign * torque[m];
                node->y[6 * m + i] = sign * axes[3 * i + m] / body->mass;
                node->y[6 * (3 + m) + i] = sign * turned[m];
            }
        }
        for (int i = 0; i < 36; i++) {
            for (int m = 0; m < 6; m++) {
                block->local.s[i] += node->j[6 * m + i / 6] * node->y[6 * m + i % 6];
            }
        }
    }
}

struct tact_world *coulomb_world_of_masonry(const struct masonry *m)
{
    struct tact_world *world = create_world_without_tolerance();
    for (int i = 0; i < m->boxes; i++) {
        struct tact_body body;
        make_masonry_body(m, i, &body);
        tact_v3_axpy(body.twist, world->options.period, m->gravity);
        assert_true(tact_world_add_body(world, &body) >= 0);
    }
    allocate_shapeless_contacts(world, 4 * m->faces);
    for (int i = 0; i < world->contact_block_count; i++) {
        place_masonry_contact(world, &m->face[i / 4], i % 4, &world->blocks[i]);
        set_contact_block_friction(&world->blocks[i], m->friction);
    }
    return world;
}

/* Applies the impulses to all velocities, and adds the change at each point: u += W r. */
static void multiply_by_delassus(struct tact_world *world, const double *r, double *u)
{
    for (int i = 0; i < world->islands.count; i++) {
        tact_velocities_set_zero(world, &world->islands.list[i]);
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        tact_block_apply_impulse(&world->blocks[i], r + 6 * i);
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        tact_block_add_velocity(&world->blocks[i], u + 6 * i);
    }
}

static double *allocate_contact_vector(const struct tact_world *world)
{
    double *x = calloc((size_t)world->contact_block_count * 6, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Largest |W x| / |x|, by the power method. */
static double delassus_norm_of_world(struct tact_world *world)
{
    double *x = allocate_contact_vector(world), *y = allocate_contact_vector(world), size = 0;
    int n = 6 * world->contact_block_count;
    for (int i = 0; i < n; i++) {
        x[i] = i % 6 < 3 ? 1 + 0.1 * (i % 7) : 0;
    }
    for (int pass = 0; pass < 200; pass++) {
        size = 0;
        memset(y, 0, (size_t)n * sizeof *y);
        multiply_by_delassus(world, x, y);
        for (int i = 0; i < n; i++) {
            size += y[i] * y[i];
        }
        size = sqrt(size);
        for (int i = 0; i < n; i++) {
            x[i] = y[i] / size;
        }
    }
    free(x);
    free(y);
    return size;
}

/* The Coulomb residual of the world's present impulses, with contact velocities computed anew. */
static double coulomb_residual_of_world(struct tact_world *world, double norm)
{
    double *u = allocate_contact_vector(world), *r = allocate_contact_vector(world),
           squared_deviation_sum = 0, size = 0;
    for (int i = 0; i < world->contact_block_count; i++) {
        memcpy(r + 6 * i, world->contacts[i].impulse, 6 * sizeof *r);
    }
    multiply_by_delassus(world, r, u);
    for (int i = 0; i < world->islands.count; i++) {
        tact_velocities_set_free(world, &world->islands.list[i]);
    }
    for (int i = 0; i < world->contact_block_count; i++) {
        const struct block *block = &world->blocks[i];
        tact_block_add_velocity(block, u + 6 * i);
        for (int k = 0; k < 6; k++) {
            u[6 * i + k] -= block->target_velocity[k];
        }
        add_coulomb_residual_terms(block->local.mu, norm, r + 6 * i, u + 6 * i,
                                   &squared_deviation_sum, &size);
    }
    for (int i = 0; i < world->islands.count; i++) {
        tact_velocities_recompute(world, &world->islands.list[i]);
    }
    free(u);
    free(r);
    return size > 0 ? sqrt(squared_deviation_sum / size) : sqrt(squared_deviation_sum);
}

struct observed_coulomb_solve {
    struct tact_world *world;
    struct coulomb_solve_run *run;
};

static int record_solve_progress(void *user, enum tact_solve_phase phase,
                                 const struct tact_solve_stats *stats)
{
    struct observed_coulomb_solve *w = user;
    struct coulomb_solve_run *run = w->run;
    if (phase != TACT_SOLVE_SWEPT) {
        return 0;
    }
    run->residual = coulomb_residual_of_world(w->world, run->norm);
    run->sweeps = stats->iterations;
    run->steps = stats->eliminations;
    if (run->residual <= 1e-6 && !run->six) {
        run->six = stats->iterations;
        run->work = stats->iterations + stats->eliminations;
    }
    run->ten = run->residual <= 1e-10 && !run->ten ? stats->iterations : run->ten;
    return run->residual <= run->residual_goal;
}

void coulomb_world_solve(struct tact_world *world, struct coulomb_solve_run *run)
{
    struct tact_solve_stats stats = {0};
    struct observed_coulomb_solve observed_coulomb_solve = {world, run};
    double residual_goal = run->residual_goal;
    tact_velocities_copy_all(world, world->free_velocities);
    tact_islands_find(world);
    memset(run, 0, sizeof *run);
    run->residual_goal = residual_goal;
    run->norm = delassus_norm_of_world(world);
    for (int i = 0; i < world->islands.count; i++) {
        tact_velocities_recompute(world, &world->islands.list[i]);
    }
    tact_world_set_observer(world, record_solve_progress, &observed_coulomb_solve);
    tact_islands_solve_by_sweeps(world, &stats);
}
