#include "contact/world/barrier_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_internal.h"
#include "contact/world/sweeps_internal.h"
#include "contact/world/world_internal.h"

#define MOST_POINTS 8192    /* of an island that there is room for */
#define LEAST_FRICTION 1e-3 /* below it the cone is too thin */
#define INSIDE 0.99         /* of the way to the border of a cone, that a step goes at most */
#define STILL 1e-12         /* of the same: where a step that does not halve it is the last */
#define ENOUGH 1e-17        /* of the product of impulse and velocity at the start: solved */

int tact_barrier_create(struct tact_world *world)
{
    struct barrier *b = &world->barrier;
    size_t contacts = (size_t)world->room, bodies = (size_t)world->body_count;
    size_t points = contacts * BARRIER_POINTS;
    b->room = points < MOST_POINTS ? (int)points : MOST_POINTS;
    b->points = calloc((size_t)b->room + 1, sizeof *b->points);
    b->blocks = calloc(contacts + 1, sizeof *b->blocks);
    b->v = calloc(6 * bodies + 1, sizeof *b->v);
    b->push = calloc(6 * bodies + 1, sizeof *b->push);
    return b->points && b->blocks && b->v && b->push ? 0 : -ENOMEM;
}

void tact_barrier_destroy(struct barrier *b)
{
    free(b->points);
    free(b->blocks);
    free(b->v);
    free(b->push);
}

/* x_0^2 - |x_t|^2, of a vector inside the cone. */
static double norm(const double *x)
{
    double t = tact_hypot(x[1], x[2]);
    return (x[0] - t) * (x[0] + t);
}

/* out = W a, or W^-1 a. */
static void scale_by(const struct barrier_point *p, int inverse, const double *a, double *out)
{
    double sign = inverse ? -1.0 : 1.0, size = inverse ? 1.0 / p->beta : p->beta;
    double w1 = sign * p->w[1], w2 = sign * p->w[2], along = w1 * a[1] + w2 * a[2];
    double share = a[0] + along / (1.0 + p->w[0]);
    tact_v3_set(out, size * (p->w[0] * a[0] + along), size * (a[1] + share * w1),
                size * (a[2] + share * w2));
}

/* Nesterov and Todd's scaling of x and y. */
static void find_scaling(struct barrier_point *p)
{
    double nx = sqrt(norm(p->x)), ny = sqrt(norm(p->y)), xs[3], ys[3];
    tact_v3_scale(xs, p->x, 1.0 / nx);
    tact_v3_scale(ys, p->y, 1.0 / ny);
    double half = 0.5 / sqrt(0.5 * (1.0 + tact_v3_dot(xs, ys)));
    tact_v3_set(p->w, half * (ys[0] + xs[0]), half * (ys[1] - xs[1]), half * (ys[2] - xs[2]));
    p->beta = sqrt(ny / nx);
    scale_by(p, 0, p->x, p->lambda);
}

/* Jordan product of the cone, and its inverse: l o out = r. */
static void multiply(const double *a, const double *b, double *out)
{
    tact_v3_set(out, tact_v3_dot(a, b), a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]);
}

static void divide(const double *l, const double *r, double *out)
{
    double first = (l[0] * r[0] - l[1] * r[1] - l[2] * r[2]) / norm(l);
    tact_v3_set(out, first, (r[1] - l[1] * first) / l[0], (r[2] - l[2] * first) / l[0]);
}

/* How far x may go along d and stay in the cone. */
static double longest(const double *x, const double *d)
{
    double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2], c = norm(x), best = 1e30;
    double b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2], root = b * b - a * c;
    if (root >= 0.0) {
        double q = -(b + copysign(sqrt(root), b));
        double one = a != 0.0 ? q / a : -1.0, other = q != 0.0 ? c / q : -1.0;
        best = one > 0.0 ? one : best;
        best = other > 0.0 ? tact_min(best, other) : best;
    }
    return d[0] < 0.0 ? tact_min(best, -x[0] / d[0]) : best;
}

/* A point of a contact at (t1, t2) in its patch. */
static void add_point(struct barrier_point *p, int block, double mu, double t1, double t2)
{
    double n = 1.0 / mu;
    const double h[18] = {n,   0.0, 0.0, 0.0, n * t2, -n * t1, 0.0, 1.0, 0.0,
                          -t2, 0.0, 0.0, 0.0, 0.0,    1.0,     t1,  0.0, 0.0};
    memset(p, 0, sizeof *p);
    p->block = block;
    memcpy(p->h, h, sizeof h);
}

/* The points of a contact; returns their number. */
static int list_points(const struct tact_local_problem *local, int block, struct barrier_point *p)
{
    static const double around[4][2] = {{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}, {0.0, -1.0}};
    int corners = local->corners, count = corners < BARRIER_POINTS ? corners : BARRIER_POINTS;
    if (!tact_local_rolls(local)) {
        add_point(p, block, local->mu, 0.0, 0.0);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        const double *at = local->corner[i * corners / count];
        add_point(&p[i], block, local->mu, at[0], at[1]);
    }
    for (int i = 0; i < 4 && !corners; i++) {
        add_point(&p[i], block, local->mu, around[i][0] * local->semi[0],
                  around[i][1] * local->semi[1]);
    }
    return corners ? count : 4;
}

/* The points of all contacts; their number, or 0 where they are none for this. */
static int list_all(struct tact_world *world, const struct island *island)
{
    struct barrier *barrier = &world->barrier;
    int count = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        struct barrier_block *b = &barrier->blocks[i];
        if (count + BARRIER_POINTS > barrier->room || !(block->local.mu > LEAST_FRICTION)) {
            return 0;
        }
        b->first = count;
        b->count = list_points(&block->local, i, barrier->points + count);
        count += b->count;
        memset(b->wanted, 0, sizeof b->wanted);
        tact_impact_wanted(block, b->wanted);
        for (int k = 0; k < 6; k++) {
            b->give[k] = block->give[k] + (k ? 0.0 : block->softness);
            b->wanted[k] -= block->give[k] * block->start[k];
        }
    }
    return count;
}

/* Impulses and velocities of the size that bodies have; returns their product, or 0 where nothing
 * moves. */
static double begin(struct tact_world *world, const struct island *island, int points)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double momentum = 0.0, speed = 0.0;
    for (int i = 0; i < island->owners.count; i++) {
        const struct tact_body *body = &world->bodies[d->order[i]].body;
        const double *free = world->free + (size_t)6 * (size_t)d->order[i];
        double size = tact_v3_norm(free);
        momentum += body->mass * size;
        speed = tact_max(speed, size);
        memcpy(barrier->v + 6 * i, free, 6 * sizeof *free);
    }
    momentum /= points;
    for (int i = 0; i < points; i++) {
        tact_v3_set(barrier->points[i].x, momentum, 0.0, 0.0);
        tact_v3_set(barrier->points[i].y, speed, 0.0, 0.0);
    }
    return momentum * speed;
}

/* y = A x, 3 x 6. */
static void across(const double *a, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) {
        y[i] = tact_dot(a + 6 * i, x, 6);
    }
}

/* y += A' x. */
static void down(const double *a, const double *x, double *y)
{
    for (int i = 0; i < 3; i++) {
        tact_axpy(y, x[i], a + 6 * i, 6);
    }
}

/* Momentum that is missing; velocities that are not as they should be, and the scaling. Returns the
 * mean product of impulse and velocity. */
static double look(struct tact_world *world, const struct island *island, int points)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double gap = 0.0;
    for (int i = 0; i < island->owners.count; i++) {
        const struct world_body *body = &world->bodies[d->order[i]];
        const double *free = world->free + (size_t)6 * (size_t)d->order[i];
        double left[6];
        for (int k = 0; k < 6; k++) {
            left[k] = free[k] - barrier->v[6 * i + k];
            barrier->push[6 * i + k] = 0.0;
        }
        tact_direct_momentum(&body->body, left, barrier->push + 6 * i);
    }
    memcpy(d->right, barrier->push, 6 * (size_t)island->owners.count * sizeof *d->right);
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        struct barrier_block *b = &barrier->blocks[i];
        double u[6];
        memset(b->r, 0, sizeof b->r);
        for (int k = b->first; k < b->first + b->count; k++) {
            down(barrier->points[k].h, barrier->points[k].x, b->r);
        }
        tact_direct_push(d, block, b->r);
        memcpy(u, b->wanted, sizeof u);
        tact_direct_velocity(d, block, barrier->v, u);
        for (int k = 0; k < 6; k++) {
            u[k] += b->give[k] * b->r[k];
        }
        for (int k = b->first; k < b->first + b->count; k++) {
            struct barrier_point *p = &barrier->points[k];
            across(p->h, u, p->left);
            double slip = tact_hypot(p->left[1], p->left[2]);
            p->turn[0] = slip > 0.0 ? p->left[1] / slip : 0.0;
            p->turn[1] = slip > 0.0 ? p->left[2] / slip : 0.0;
            p->left[0] += slip;
            tact_v3_sub(p->left, p->left, p->y);
            find_scaling(p);
            gap += tact_v3_dot(p->x, p->y);
        }
    }
    memcpy(barrier->push, d->right, 6 * (size_t)island->owners.count * sizeof *d->right);
    return gap / points;
}

/* W^-2 of a point, with De Saxce's term: how x answers its velocity, but for the sign. */
static void find_stiffness(const struct barrier_point *p, double *out)
{
    const double a[3] = {p->w[0], -p->w[1], -p->w[2]};
    double size = 1.0 / (p->beta * p->beta);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            out[3 * i + k] = size * (2.0 * a[i] * a[k] - (i == k ? (i ? -1.0 : 1.0) : 0.0));
        }
        out[3 * i + 1] += out[3 * i] * p->turn[0];
        out[3 * i + 2] += out[3 * i] * p->turn[1];
    }
}

/* How each contact answers its bodies' velocities, and the matrix of all. Returns 0 where it is
 * singular. */
static int assemble(struct tact_world *world, const struct island *island)
{
    struct barrier *barrier = &world->barrier;
    tact_direct_begin(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        struct barrier_block *b = &barrier->blocks[i];
        double k[36] = {0.0}, left[36], stiff[9], row[6];
        for (int m = b->first; m < b->first + b->count; m++) {
            const struct barrier_point *p = &barrier->points[m];
            find_stiffness(p, stiff);
            for (int c = 0; c < 3; c++) {
                memset(row, 0, sizeof row);
                down(p->h, stiff + 3 * c, row);
                for (int q = 0; q < 6; q++) {
                    tact_axpy(k + 6 * q, p->h[6 * c + q], row, 6);
                }
            }
        }
        for (int q = 0; q < 36; q++) {
            left[q] = (q % 7 == 0) + k[q] * b->give[q % 6];
            b->within[q] = q % 7 == 0;
        }
        if (!tact_six_solve(left, b->within, 6)) {
            return 0;
        }
        memset(b->c, 0, sizeof b->c);
        tact_six_multiply(b->c, -1.0, b->within, k);
        tact_direct_put(&world->direct, &world->blocks[island->blocks.at[i]], b->c);
    }
    return tact_direct_factor(&world->direct, island->owners.count);
}

/* What each point's step should be: to no product of impulse and velocity, or to `centre` of it,
 * with what the last step, dx and dy, makes of second order. */
static void aim(struct barrier_point *p, double centre, int second)
{
    double left[3], a[3], b[3], both[3];
    multiply(p->lambda, p->lambda, left);
    tact_v3_scale(left, left, -1.0);
    left[0] += centre;
    if (second) {
        scale_by(p, 0, p->dx, a);
        scale_by(p, 1, p->dy, b);
        multiply(a, b, both);
        tact_v3_sub(left, left, both);
    }
    divide(p->lambda, left, p->aim);
}

/* Solves for a step. Returns how much of it stays inside all cones. */
static double step(struct tact_world *world, const struct island *island)
{
    struct direct *d = &world->direct;
    struct barrier *barrier = &world->barrier;
    double most = 1e30;
    memcpy(d->right, barrier->push, 6 * (size_t)island->owners.count * sizeof *d->right);
    for (int i = 0; i < island->blocks.count; i++) {
        struct barrier_block *b = &barrier->blocks[i];
        double sum[6] = {0.0}, x[3];
        for (int k = b->first; k < b->first + b->count; k++) {
            const struct barrier_point *p = &barrier->points[k];
            scale_by(p, 1, p->left, x);
            tact_v3_sub(x, p->aim, x);
            scale_by(p, 1, x, x);
            down(p->h, x, sum);
        }
        memset(b->a, 0, sizeof b->a);
        tact_six_apply(b->a, 1.0, b->within, sum);
        tact_direct_push(d, &world->blocks[island->blocks.at[i]], b->a);
    }
    tact_direct_substitute(d, island->owners.count);
    for (int i = 0; i < island->blocks.count; i++) {
        struct barrier_block *b = &barrier->blocks[i];
        double u[6] = {0.0}, r[6], x[3];
        tact_direct_velocity(d, &world->blocks[island->blocks.at[i]], d->right, u);
        memcpy(r, b->a, sizeof r);
        tact_six_apply(r, 1.0, b->c, u);
        for (int k = 0; k < 6; k++) {
            u[k] += b->give[k] * r[k];
        }
        for (int k = b->first; k < b->first + b->count; k++) {
            struct barrier_point *p = &barrier->points[k];
            across(p->h, u, p->dy);
            p->dy[0] += p->turn[0] * p->dy[1] + p->turn[1] * p->dy[2];
            tact_v3_add(p->dy, p->dy, p->left);
            scale_by(p, 1, p->dy, x);
            tact_v3_sub(x, p->aim, x);
            scale_by(p, 1, x, p->dx);
            most = tact_min(most, tact_min(longest(p->x, p->dx), longest(p->y, p->dy)));
        }
    }
    return tact_min(1.0, INSIDE * most);
}

/* The mean product of impulse and velocity after that share of the step. */
static double gap_after(const struct barrier *barrier, int points, double share)
{
    double gap = 0.0, x[3], y[3];
    for (int i = 0; i < points; i++) {
        const struct barrier_point *p = &barrier->points[i];
        tact_v3_copy(x, p->x);
        tact_v3_copy(y, p->y);
        tact_v3_axpy(x, share, p->dx);
        tact_v3_axpy(y, share, p->dy);
        gap += tact_v3_dot(x, y);
    }
    return gap / points;
}

/* Predictor and corrector. Returns 0 where there is no step. */
static int advance(struct tact_world *world, const struct island *island, int points, double gap)
{
    struct barrier *barrier = &world->barrier;
    if (!assemble(world, island)) {
        return 0;
    }
    for (int i = 0; i < points; i++) {
        aim(&barrier->points[i], 0.0, 0);
    }
    double left = tact_max(0.0, gap_after(barrier, points, step(world, island))) / gap;
    double centre = gap * tact_min(1.0, left * left * left);
    for (int i = 0; i < points; i++) {
        aim(&barrier->points[i], centre, 1);
    }
    double share = step(world, island);
    tact_axpy(barrier->v, share, world->direct.right, 6 * island->owners.count);
    for (int i = 0; i < points; i++) {
        tact_v3_axpy(barrier->points[i].x, share, barrier->points[i].dx);
        tact_v3_axpy(barrier->points[i].y, share, barrier->points[i].dy);
    }
    return share > 0.0;
}

/* The contacts' impulses from their points'. */
static void finish(struct tact_world *world, const struct island *island)
{
    for (int i = 0; i < island->blocks.count; i++) {
        const struct barrier_block *b = &world->barrier.blocks[i];
        double *r = world->contacts[world->blocks[island->blocks.at[i]].pair].impulse;
        memset(r, 0, 6 * sizeof *r);
        for (int k = b->first; k < b->first + b->count; k++) {
            down(world->barrier.points[k].h, world->barrier.points[k].x, r);
        }
    }
}

int tact_barrier_solve(struct tact_world *world, const struct island *island, int most)
{
    int steps = 0;
    if (!tact_direct_order(world, island)) {
        return 0;
    }
    int points = list_all(world, island);
    double first = points ? begin(world, island, points) : 0.0, gap = first;
    while (first > 0.0 && steps < most) {
        double before = gap;
        gap = look(world, island, points);
        int still = gap < STILL * first && gap > 0.5 * before;
        if (still || !(gap > ENOUGH * first) || !advance(world, island, points, gap)) {
            break;
        }
        steps++;
    }
    if (steps && isfinite(gap)) {
        finish(world, island);
        return steps;
    }
    return 0;
}
