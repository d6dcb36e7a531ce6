#include "contact/world/barrier_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_internal.h"
#include "contact/world/six_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

#define MAX_ISLAND_CONES 8192 /* capacity for second-order cones of an island */
#define MIN_FRICTION_OF_INTERIOR_POINT_CONE                                                        \
    1e-3 /* smallest friction coefficient for which the interior-point method is used: a thinner   \
            friction cone is ill-conditioned */
#define STEP_FRACTION_TO_CONE_BOUNDARY                                                             \
    0.99 /* largest fraction of the distance to the border of a cone that a step covers */
#define MIN_INTERIOR_POINT_STEP                                                                    \
    1e-3 /* relative length of an interior-point step below which the method ends */
#define STAGNATION_TEST_GAP_RATIO                                                                  \
    1e-12 /* complementarity product, relative to the start: below it, a step that does not halve  \
             the product is the last */
#define COMPLEMENTARITY_TOLERANCE                                                                  \
    1e-17 /* complementarity product of impulse and velocity, relative to the start, below which   \
             the island is solved */

int tact_barrier_create(struct tact_world *world)
{
    struct barrier *b = &world->barrier;
    size_t contacts = (size_t)world->contact_capacity, bodies = (size_t)world->body_count;
    size_t cones = contacts * (1 + TACT_PATCH_CORNERS);
    b->cone_capacity = cones < MAX_ISLAND_CONES ? (int)cones : MAX_ISLAND_CONES;
    b->cones = calloc((size_t)b->cone_capacity + 1, sizeof *b->cones);
    b->blocks = calloc(contacts + 1, sizeof *b->blocks);
    b->v = calloc(6 * bodies + 1, sizeof *b->v);
    b->momentum_residual = calloc(6 * bodies + 1, sizeof *b->momentum_residual);
    return b->cones && b->blocks && b->v && b->momentum_residual ? 0 : -ENOMEM;
}

void tact_barrier_destroy(struct barrier *b)
{
    free(b->cones);
    free(b->blocks);
    free(b->v);
    free(b->momentum_residual);
}

static double dot_of_vector_part(const double *a, const double *b, int size)
{
    double sum = 0.0;
    for (int i = 1; i < size; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Quadratic form x_0^2 - |x_t|^2 of a vector inside a second-order cone. */
static double cone_quadratic_form(const double *x, int size)
{
    double t = sqrt(dot_of_vector_part(x, x, size));
    return (x[0] - t) * (x[0] + t);
}

/* out = W a, or W^-1 a. */
static void apply_nesterov_todd_scaling(const struct barrier_cone *p, int inverse, const double *a,
                                        double *out)
{
    double sign = inverse ? -1.0 : 1.0, size = inverse ? 1.0 / p->beta : p->beta;
    double along = sign * dot_of_vector_part(p->w, a, p->size);
    double share = sign * (a[0] + along / (1.0 + p->w[0]));
    out[0] = size * (p->w[0] * a[0] + along);
    for (int i = 1; i < p->size; i++) {
        out[i] = size * (a[i] + share * p->w[i]);
    }
}

/* Computes the Nesterov-Todd scaling of a cone from its vectors s and y. */
static void compute_nesterov_todd_scaling(struct barrier_cone *p)
{
    double ns = sqrt(cone_quadratic_form(p->s, p->size)),
           ny = sqrt(cone_quadratic_form(p->y, p->size));
    double cosine = (p->s[0] * p->y[0] + dot_of_vector_part(p->s, p->y, p->size)) / (ns * ny);
    double half = 0.5 / sqrt(0.5 * (1.0 + cosine));
    p->w[0] = half * (p->y[0] / ny + p->s[0] / ns);
    for (int i = 1; i < p->size; i++) {
        p->w[i] = half * (p->y[i] / ny - p->s[i] / ns);
    }
    p->beta = sqrt(ny / ns);
    apply_nesterov_todd_scaling(p, 0, p->s, p->scaled_cone_point);
}

/* Jordan product of a second-order cone; and its inverse, which finds out with l o out = r. */
static void jordan_product(const double *a, const double *b, int size, double *out)
{
    out[0] = a[0] * b[0] + dot_of_vector_part(a, b, size);
    for (int i = 1; i < size; i++) {
        out[i] = a[i] * b[0] + b[i] * a[0];
    }
}

static void jordan_divide(const double *l, const double *r, int size, double *out)
{
    out[0] = (l[0] * r[0] - dot_of_vector_part(l, r, size)) / cone_quadratic_form(l, size);
    for (int i = 1; i < size; i++) {
        out[i] = (r[i] - l[i] * out[0]) / l[0];
    }
}

/* Largest step along d from x that stays in the second-order cone. */
static double max_step_inside_cone(const double *x, const double *d, int size)
{
    double a = d[0] * d[0] - dot_of_vector_part(d, d, size), c = cone_quadratic_form(x, size),
           best = 1e30;
    double b = x[0] * d[0] - dot_of_vector_part(x, d, size), root = b * b - a * c;
    if (root >= 0.0) {
        double q = -(b + copysign(sqrt(root), b));
        double one = a != 0.0 ? q / a : -1.0, other = q != 0.0 ? c / q : -1.0;
        best = one > 0.0 ? one : best;
        best = other > 0.0 ? tact_min(best, other) : best;
    }
    return d[0] < 0.0 ? tact_min(best, -x[0] / d[0]) : best;
}

/* Sets the cones that keep the centre of pressure (-r[5], r[4]) / r[0] in the patch's polygon or
 * ellipse. Returns their number. */
static int add_pressure_centre_cones(const struct tact_local_problem *local, struct barrier_cone *p)
{
    double length = tact_max(local->semi[0], local->semi[1]);
    for (int i = 0; i < local->corners; i++) {
        const double *a = local->corner[i], *b = local->corner[(i + 1) % local->corners];
        double patch_polygon_edge[2] = {b[0] - a[0], b[1] - a[1]};
        double unit = 1.0 / (length * tact_hypot(patch_polygon_edge[0], patch_polygon_edge[1]));
        const double g[6] = {unit * (patch_polygon_edge[1] * a[0] - patch_polygon_edge[0] * a[1]),
                             0.0,
                             0.0,
                             0.0,
                             unit * patch_polygon_edge[0],
                             unit * patch_polygon_edge[1]};
        p[i].size = 1;
        memcpy(p[i].g, g, sizeof g);
    }
    if (!local->corners) {
        const double g[18] = {1.0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              -1.0 / local->semi[0],
                              0,
                              0,
                              0,
                              0,
                              1.0 / local->semi[1],
                              0};
        p->size = 3;
        memcpy(p->g, g, sizeof g);
    }
    return local->corners ? local->corners : 1;
}

/* Sets the cone of the torques that resist rolling, bounded by an ellipse times f_n. Returns 1, the
 * number of cones. */
static int add_rolling_resistance_cone(const struct tact_local_problem *local,
                                       struct barrier_cone *p)
{
    memset(p->g, 0, sizeof p->g);
    p->size = 3;
    p->g[0] = 1.0;
    p->g[6 + 4] = 1.0 / local->rolling_arm[0];
    p->g[12 + 5] = 1.0 / local->rolling_arm[1];
    return 1;
}

/* Builds the cones of all contacts. Returns their number, or 0 where the method does not apply. */
static int build_island_cones(struct tact_world *world, const struct island *island)
{
    struct barrier *barrier = &world->barrier;
    int count = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        const struct tact_local_problem *local = &block->local;
        struct barrier_contact *b = &barrier->blocks[i];
        int rolls = tact_local_transmits_rolling_torque(local),
            has_torsion_limit = local->spin_arm > 0.0;
        b->does_contact_resist_rolling = tact_local_resists_rolling(local);
        if (count + 2 + local->corners > barrier->cone_capacity ||
            !(local->mu > MIN_FRICTION_OF_INTERIOR_POINT_CONE) ||
            ((rolls || b->does_contact_resist_rolling) && !has_torsion_limit)) {
            return 0;
        }
        b->first = count;
        b->rows = rolls || b->does_contact_resist_rolling ? 6 : has_torsion_limit ? 4 : 3;
        barrier->cones[count].size = has_torsion_limit ? 4 : 3;
        b->count = 1;
        if (rolls) {
            b->count += add_pressure_centre_cones(local, barrier->cones + count + 1);
        } else if (b->does_contact_resist_rolling) {
            b->count += add_rolling_resistance_cone(local, barrier->cones + count + 1);
        }
        count += b->count;
        memset(b->target_velocity, 0, sizeof b->target_velocity);
        tact_impact_subtract_all_targets(block, b->target_velocity);
        for (int k = 0; k < 6; k++) {
            b->row_cfm[k] = block->row_cfm[k] + (k ? 0.0 : block->normal_cfm);
        }
        tact_block_subtract_rest_velocity(block, b->target_velocity);
    }
    return count;
}

/* Sets impulses and velocities to the scale of the bodies' momentum and speed. Returns their
 * product, or 0 where nothing moves. */
static double init_interior_point_iterates(struct tact_world *world, const struct island *island,
                                           int cone_count)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double momentum = 0.0, speed = 0.0;
    for (int i = 0; i < island->owners.count; i++) {
        const struct tact_body *body = &world->bodies[d->order[i]].body;
        const double *free_velocity = world->free_velocities + (size_t)6 * (size_t)d->order[i];
        double size = tact_v3_norm(free_velocity);
        momentum += body->mass * size;
        speed = tact_max(speed, size);
        memcpy(barrier->v + 6 * i, free_velocity, 6 * sizeof *free_velocity);
    }
    momentum /= island->blocks.count;
    for (int i = 0; i < island->blocks.count; i++) {
        memset(barrier->blocks[i].r, 0, sizeof barrier->blocks[i].r);
        barrier->blocks[i].r[0] = momentum;
    }
    for (int i = 0; i < cone_count; i++) {
        struct barrier_cone *p = &barrier->cones[i];
        memset(p->s, 0, sizeof p->s);
        memset(p->y, 0, sizeof p->y);
        p->s[0] = momentum;
        p->y[0] = speed;
    }
    return momentum * speed;
}

/* y = G x of a cone. */
static void multiply_cone_rows(const struct barrier_cone *p, const double *x, double *y)
{
    for (int i = 0; i < p->size; i++) {
        y[i] = tact_dot(p->g + 6 * i, x, 6);
    }
}

/* y += G' x of a cone. */
static void add_cone_vector_to_contact_rows(const struct barrier_cone *p, const double *x,
                                            double *y)
{
    for (int i = 0; i < p->size; i++) {
        tact_axpy(y, x[i], p->g + 6 * i, 6);
    }
}

/* Sets a contact's friction cone at impulse r: about the centre of pressure of r, within the
 * ellipsoid that is tangent to the limit surface there. */
static void set_friction_cone(const struct tact_local_problem *local, const double *r,
                              struct barrier_cone *p)
{
    double mu = local->mu, d[2] = {0.0, 0.0}, w[2] = {1.0, 1.0};
    double arm = p->size == 4 ? local->spin_arm : 1.0, torsion = 0.0;
    if (tact_local_transmits_rolling_torque(local) && r[0] > 0.0) {
        d[0] = -r[5] / r[0];
        d[1] = r[4] / r[0];
        double out = tact_max(1.0, tact_local_edge_distance_ratio(local, d));
        d[0] /= out;
        d[1] /= out;
    }
    if (p->size == 4) {
        torsion = (r[3] - d[0] * r[2] + d[1] * r[1]) / arm;
        double f = r[1] * r[1] + r[2] * r[2], m = torsion * torsion;
        if (f + m > 0.0) {
            tact_local_limit_surface(local, f / (f + m), m / (f + m), w);
        }
    }
    double root = sqrt(w[0]), turn = sqrt(w[1]) / arm;
    const double g[24] = {mu,  0.0, 0.0, 0.0,         0.0,          0.0,  0.0,  root,
                          0.0, 0.0, 0.0, 0.0,         0.0,          0.0,  root, 0.0,
                          0.0, 0.0, 0.0, turn * d[1], -turn * d[0], turn, 0.0,  0.0};
    memcpy(p->g, g, sizeof g);
}

/* Returns De Saxce's term, mu times the slip at the centre of pressure in the metric of the
 * friction cone's velocities, and its derivative. */
static double compute_de_saxce_term(const struct barrier_cone *p, const double *u, double *slope)
{
    double root = p->g[7], arm = p->size == 4 && p->g[21] > 0.0 ? 1.0 / p->g[21] : 0.0;
    double d[2] = {-p->g[20] * arm, p->g[19] * arm};
    double slip[3] = {(u[1] - (p->size == 4 ? d[1] * u[3] : 0.0)) / root,
                      (u[2] + (p->size == 4 ? d[0] * u[3] : 0.0)) / root, arm * u[3]};
    double size = tact_v3_norm(slip), mu = p->g[0];
    memset(slope, 0, 6 * sizeof *slope);
    if (size > 0.0) {
        double scale = mu / size;
        slope[1] = scale * slip[0] / root;
        slope[2] = scale * slip[1] / root;
        slope[3] =
            p->size == 4 ? scale * ((slip[1] * d[0] - slip[0] * d[1]) / root + slip[2] * arm) : 0.0;
    }
    return mu * size;
}

/* Returns the rolling speed in the metric of the rolling cone, the term that keeps rolling
 * resistance from causing a normal velocity, and adds its derivative. */
static double compute_rolling_resistance_term(const struct barrier_cone *p, const double *u,
                                              double *slope)
{
    const double arm[2] = {1.0 / p->g[6 + 4], 1.0 / p->g[12 + 5]};
    const double speed[2] = {arm[0] * u[4], arm[1] * u[5]}, size = tact_hypot(speed[0], speed[1]);
    for (int i = 0; i < 2; i++) {
        slope[4 + i] = size > 0.0 ? arm[i] * speed[i] / size : 0.0;
    }
    return size;
}

/* Computes the residuals of a contact's velocity and cones, and their scaling. Returns the sum over
 * the cones of impulse times dual velocity. */
static double evaluate_contact_residual(struct tact_world *world, const struct block *block,
                                        struct barrier_contact *b)
{
    struct barrier *barrier = &world->barrier;
    struct barrier_cone *cones = barrier->cones + b->first;
    double u[6], gap = 0.0, sum[6] = {0.0};
    set_friction_cone(&block->local, b->r, cones);
    memcpy(u, b->target_velocity, sizeof u);
    tact_sparse_contact_velocity(&world->direct, block, barrier->v, u);
    tact_block_add_compliance(block, b->r, u);
    double de_saxce_velocity = compute_de_saxce_term(cones, u, b->slope);
    de_saxce_velocity += b->does_contact_resist_rolling
                             ? compute_rolling_resistance_term(cones + 1, u, b->slope)
                             : 0.0;
    u[0] += de_saxce_velocity;
    for (int k = 0; k < b->count; k++) {
        struct barrier_cone *p = &cones[k];
        multiply_cone_rows(p, b->r, p->cone_point_residual);
        for (int i = 0; i < p->size; i++) {
            p->cone_point_residual[i] -= p->s[i];
        }
        add_cone_vector_to_contact_rows(p, p->y, sum);
        compute_nesterov_todd_scaling(p);
        gap += p->s[0] * p->y[0] + dot_of_vector_part(p->s, p->y, p->size);
    }
    for (int k = 0; k < 6; k++) {
        b->velocity_residual[k] = k < b->rows ? u[k] - sum[k] : 0.0;
    }
    return gap;
}

/* Computes the residuals of the bodies' momentum and of each contact. Returns the mean
 * complementarity product of impulse and velocity. */
static double evaluate_island_residuals(struct tact_world *world, const struct island *island,
                                        int cones)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double gap = 0.0;
    memset(d->rhs, 0, 6 * (size_t)island->owners.count * sizeof *d->rhs);
    for (int i = 0; i < island->owners.count; i++) {
        const double *free_velocity = world->free_velocities + (size_t)6 * (size_t)d->order[i];
        double missing_free_momentum[6];
        for (int k = 0; k < 6; k++) {
            missing_free_momentum[k] = free_velocity[k] - barrier->v[6 * i + k];
        }
        tact_6x6_add_matrix_vector(d->rhs + 6 * i, 1.0, d->mass + 36 * (size_t)i,
                                   missing_free_momentum);
    }
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        tact_sparse_add_contact_impulse(d, block, barrier->blocks[i].r);
        gap += evaluate_contact_residual(world, block, &barrier->blocks[i]);
    }
    memcpy(barrier->momentum_residual, d->rhs, 6 * (size_t)island->owners.count * sizeof *d->rhs);
    return gap / cones;
}

/* out += G' W^2 G of a cone. */
static void add_cone_stiffness(const struct barrier_cone *p, double *out)
{
    double a[4], sign, size = p->beta * p->beta, row[6] = {0.0};
    for (int i = 0; i < p->size; i++) {
        a[i] = p->w[i];
    }
    add_cone_vector_to_contact_rows(p, a, row); /* W^2 = beta^2 (2 w w' - J) */
    for (int q = 0; q < 6; q++) {
        tact_axpy(out + 6 * q, 2.0 * size * row[q], row, 6);
    }
    for (int i = 0; i < p->size; i++) {
        sign = i ? 1.0 : -1.0;
        for (int q = 0; q < 6; q++) {
            tact_axpy(out + 6 * q, sign * size * p->g[6 * i + q], p->g + 6 * i, 6);
        }
    }
}

/* Computes the response of each contact to its bodies' velocities, and factors the matrix of all.
 * Returns 0 where it is singular. */
static int assemble_interior_point_system(struct tact_world *world, const struct island *island)
{
    struct barrier *barrier = &world->barrier;
    tact_sparse_set_mass_matrices(&world->direct);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        struct barrier_contact *b = &barrier->blocks[i];
        double h[36] = {0.0}, slip[36] = {0.0}; /* slip: derivative of the velocity with De Saxce's
                                                   term, in the rows that the patch transmits */
        for (int m = b->first; m < b->first + b->count; m++) {
            add_cone_stiffness(&barrier->cones[m], h);
        }
        for (int q = 0; q < 36; q++) {
            int are_rows_transmitted = q / 6 < b->rows && q % 6 < b->rows;
            slip[q] =
                are_rows_transmitted ? (double)(q % 7 == 0) + (q < 6 ? b->slope[q] : 0.0) : 0.0;
            h[q] = are_rows_transmitted ? h[q] + slip[q] * b->row_cfm[q % 6] : (double)(q % 7 == 0);
            b->inverse[q] = q % 7 == 0;
        }
        if (block->has_cross_compliance) {
            tact_6x6_add_product(h, 1.0, slip, block->cross_compliance);
        }
        if (!tact_6x6_solve_in_place(h, b->inverse, 6)) {
            return 0;
        }
        memset(b->c, 0, sizeof b->c);
        tact_6x6_add_product(b->c, -1.0, b->inverse, slip);
        tact_sparse_add_contact(&world->direct, block, b->c, 0);
    }
    return tact_sparse_factor(&world->direct);
}

/* Sets the target of a cone's step: product of impulse and velocity equal to `centre`; with
 * `second`, corrected by the second-order term of the last step (ds, dy). */
static void set_complementarity_right_side(struct barrier_cone *p, double centre, int second)
{
    double left[4], a[4], b[4], scaled_step_product[4];
    jordan_product(p->scaled_cone_point, p->scaled_cone_point, p->size, left);
    for (int i = 0; i < p->size; i++) {
        left[i] = -left[i];
    }
    left[0] += centre;
    if (second) {
        apply_nesterov_todd_scaling(p, 0, p->ds, a);
        apply_nesterov_todd_scaling(p, 1, p->dy, b);
        jordan_product(a, b, p->size, scaled_step_product);
        for (int i = 0; i < p->size; i++) {
            left[i] -= scaled_step_product[i];
        }
    }
    jordan_divide(p->scaled_cone_point, left, p->size, p->complementarity_right_side);
}

/* Change W (target - W ds) of a cone's dual velocity that belongs to the change ds of its impulse.
 */
static void dual_velocity_change(const struct barrier_cone *p, const double *ds, double *out)
{
    double x[4];
    apply_nesterov_todd_scaling(p, 0, ds, x);
    for (int i = 0; i < p->size; i++) {
        x[i] = p->complementarity_right_side[i] - x[i];
    }
    apply_nesterov_todd_scaling(p, 0, x, out);
}

/* Computes the step of a contact for changes v of its bodies' velocities. Returns the fraction of
 * the step that stays inside the cones. */
static double compute_contact_interior_point_step(struct tact_world *world,
                                                  const struct block *block,
                                                  struct barrier_contact *b)
{
    double max_step_fraction = 1e30, u[6] = {0.0};
    tact_sparse_contact_velocity(&world->direct, block, world->direct.rhs, u);
    memcpy(b->dr, b->a, sizeof b->dr);
    tact_6x6_add_matrix_vector(b->dr, 1.0, b->c, u);
    for (int k = b->first; k < b->first + b->count; k++) {
        struct barrier_cone *p = &world->barrier.cones[k];
        multiply_cone_rows(p, b->dr, p->ds);
        for (int i = 0; i < p->size; i++) {
            p->ds[i] += p->cone_point_residual[i];
        }
        dual_velocity_change(p, p->ds, p->dy);
        max_step_fraction = tact_min(max_step_fraction, max_step_inside_cone(p->s, p->ds, p->size));
        max_step_fraction = tact_min(max_step_fraction, max_step_inside_cone(p->y, p->dy, p->size));
    }
    return max_step_fraction;
}

/* Solves for an interior-point step. Returns the fraction of the step that stays inside all cones.
 */
static double solve_interior_point_step(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double max_step_fraction = 1e30;
    memcpy(d->rhs, barrier->momentum_residual, 6 * (size_t)island->owners.count * sizeof *d->rhs);
    for (int i = 0; i < island->blocks.count; i++) {
        struct barrier_contact *b = &barrier->blocks[i];
        double sum[6] = {0.0}, y[4];
        for (int k = b->first; k < b->first + b->count; k++) {
            dual_velocity_change(&barrier->cones[k], barrier->cones[k].cone_point_residual, y);
            add_cone_vector_to_contact_rows(&barrier->cones[k], y, sum);
        }
        for (int k = 0; k < 6; k++) {
            sum[k] = k < b->rows ? sum[k] - b->velocity_residual[k] : 0.0;
        }
        memset(b->a, 0, sizeof b->a);
        tact_6x6_add_matrix_vector(b->a, 1.0, b->inverse, sum);
        tact_sparse_add_contact_impulse(d, &world->blocks[island->blocks.at[i]], b->a);
    }
    tact_sparse_back_substitute(d);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        max_step_fraction =
            tact_min(max_step_fraction,
                     compute_contact_interior_point_step(world, block, &barrier->blocks[i]));
    }
    return tact_min(1.0, STEP_FRACTION_TO_CONE_BOUNDARY * max_step_fraction);
}

/* Mean complementarity product of impulse and velocity after a fraction of the step. */
static double mean_complementarity_after_step(const struct barrier *barrier, int cones,
                                              double share)
{
    double gap = 0.0;
    for (int i = 0; i < cones; i++) {
        const struct barrier_cone *p = &barrier->cones[i];
        for (int k = 0; k < p->size; k++) {
            gap += (p->s[k] + share * p->ds[k]) * (p->y[k] + share * p->dy[k]);
        }
    }
    return gap / cones;
}

/* Makes Mehrotra's predictor and corrector step. Returns 0 where no further step is possible. */
static int mehrotra_predictor_corrector(struct tact_world *world, const struct island *island,
                                        int cones, double gap)
{
    struct barrier *barrier = &world->barrier;
    if (!assemble_interior_point_system(world, island)) {
        return 0;
    }
    for (int i = 0; i < cones; i++) {
        set_complementarity_right_side(&barrier->cones[i], 0.0, 0);
    }
    double left = tact_max(0.0, mean_complementarity_after_step(
                                    barrier, cones, solve_interior_point_step(world, island))) /
                  gap;
    double centre = gap * tact_min(1.0, left * left * left);
    for (int i = 0; i < cones; i++) {
        set_complementarity_right_side(&barrier->cones[i], centre, 1);
    }
    double share = solve_interior_point_step(world, island);
    tact_axpy(barrier->v, share, world->direct.rhs, 6 * island->owners.count);
    for (int i = 0; i < island->blocks.count; i++) {
        tact_axpy(barrier->blocks[i].r, share, barrier->blocks[i].dr, 6);
    }
    for (int i = 0; i < cones; i++) {
        tact_axpy(barrier->cones[i].s, share, barrier->cones[i].ds, barrier->cones[i].size);
        tact_axpy(barrier->cones[i].y, share, barrier->cones[i].dy, barrier->cones[i].size);
    }
    return share > MIN_INTERIOR_POINT_STEP;
}

int tact_barrier_solve_island(struct tact_world *world, const struct island *island,
                              int max_interior_steps)
{
    int steps = 0;
    if (tact_island_has_hands(world, island) || !tact_sparse_order_nodes(world, island)) {
        return 0;
    }
    int cones = build_island_cones(world, island);
    double first = cones ? init_interior_point_iterates(world, island, cones) : 0.0, gap = first;
    while (first > 0.0 && steps < max_interior_steps) {
        double before = gap;
        gap = evaluate_island_residuals(world, island, cones);
        int has_complementarity_stagnated =
            gap < STAGNATION_TEST_GAP_RATIO * first && gap > 0.5 * before;
        if (has_complementarity_stagnated || !(gap > COMPLEMENTARITY_TOLERANCE * first) ||
            !mehrotra_predictor_corrector(world, island, cones, gap)) {
            break;
        }
        steps++;
    }
    if (!steps || !isfinite(gap)) {
        return 0;
    }
    for (int i = 0; i < island->blocks.count; i++) {
        double *r = world->contacts[world->blocks[island->blocks.at[i]].contact].impulse;
        memcpy(r, world->barrier.blocks[i].r, 6 * sizeof *r);
    }
    return steps;
}
