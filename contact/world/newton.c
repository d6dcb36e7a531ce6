#include "contact/world/newton_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/linear.h"
#include "contact/local/local_active_internal.h"
#include "contact/world/rows_internal.h"
#include "contact/world/sweeps_internal.h"

#define DIFFERENCE 1e-7 /* of the velocity: step of numerical derivatives */
#define PRESSURE 1e-6   /* of the normal force: step of the derivative by the spin arm */
#define PASSES 12       /* as in struct tact_local_problem, for derivatives */
#define SINGULAR 1e-7   /* of a direction: a smaller result counts as zero */
/* Contacts of an island from which elimination is used. Below it, GMRES takes the smallest of the
 * steps that redundant contacts leave undetermined. Balls that are pressed from all sides take 4 to
 * 10 sweeps with it and up to 42 with elimination; stacks and walls of 10 boxes and more do not
 * converge without elimination. */
#define LEAST_ELIMINATED 13

int tact_newton_create(struct newton *newton, int blocks)
{
    size_t n = 6 * (size_t)blocks;
    newton->numbers = calloc(n * (6 + 6 + 4 + NEWTON_PRODUCTS + 1) + 1, sizeof *newton->numbers);
    if (!newton->numbers) {
        return -ENOMEM;
    }
    newton->impulse_by_b = newton->numbers;
    newton->impulse_by_force = newton->impulse_by_b + 6 * n;
    newton->impulse_by_velocity = newton->impulse_by_force + n;
    newton->impulse_offset = newton->impulse_by_velocity + 6 * n;
    newton->sweep_in = newton->impulse_offset + n;
    newton->sweep_out = newton->sweep_in + n;
    for (int i = 0; i <= NEWTON_PRODUCTS; i++) {
        newton->basis[i] = newton->sweep_out + (1 + (size_t)i) * n;
    }
    return 0;
}

void tact_newton_destroy(struct newton *newton)
{
    free(newton->numbers);
    newton->numbers = NULL;
}

int tact_newton_sticks(const struct tact_world *world, const struct block *block)
{
    return world->contacts[block->contact].limits == 0 && block->local.mu > 0.0;
}

/* Derivative of a block's impulse by its b; by finite differences where it is not available
 * otherwise. */
static void differentiate_impulse(const struct block *block, const double *r, const double *scale,
                                  double *slope)
{
    struct tact_local_problem local = block->local;
    double size = 0.0, base[6];
    if (tact_local_derivative(&local, r, slope)) {
        return;
    }
    local.passes = PASSES;
    for (int k = 0; k < local.rows; k++) {
        size = scale[k] > 0.0 ? tact_max(size, fabs(local.b[k]) / scale[k]) : size;
    }
    memcpy(base, r, sizeof base);
    tact_local_cone(&local, base);
    memset(slope, 0, 36 * sizeof *slope);
    for (int k = 0; k < local.rows; k++) {
        double step = DIFFERENCE * size * scale[k], b = local.b[k], moved[6];
        memcpy(moved, base, sizeof moved);
        local.b[k] = b + step;
        tact_local_cone(&local, moved);
        for (int i = 0; i < 6 && step > 0.0; i++) {
            slope[6 * i + k] = (moved[i] - base[i]) / step;
        }
        local.b[k] = b;
    }
}

/* Derivative of a block's impulse by the normal force before the sweep, x, on which the spin arm of
 * a soft patch depends. */
static void differentiate_arm(const struct tact_world *world, const struct block *block, double x,
                              const double *r, double *press)
{
    const struct tact_contact *c = &world->contacts[block->contact];
    struct tact_local_problem local = block->local;
    double base[6], moved[6];
    memset(press, 0, 6 * sizeof *press);
    if (c->patch.kind != TACT_PATCH_ELASTIC || !(x > 0.0)) {
        return;
    }
    local.passes = PASSES;
    memcpy(base, r, sizeof base);
    tact_local_cone(&local, base);
    memcpy(moved, base, sizeof moved);
    local.spin_arm = tact_patch_spin_arm(&c->patch, (1.0 + PRESSURE) * x / world->options.period);
    tact_local_cone(&local, moved);
    for (int i = 0; i < 6; i++) {
        press[i] = (moved[i] - base[i]) / (PRESSURE * x);
    }
}

/* Change of the impulse of the island's contact i due to a change of its b, and of its previous
 * normal force. */
static void respond(const struct tact_world *world, const struct block *block, int i,
                    const double *b, double was, double *r)
{
    const struct tact_local_problem *local = &block->local;
    int limits = world->contacts[block->contact].limits;
    memset(r, 0, 6 * sizeof *r);
    if (block->uncoupled) {
        return; /* its b is constant */
    }
    if (tact_newton_sticks(world, block)) {
        for (int k = 0; k < local->rows; k++) {
            r[k] = -b[k];
        }
        tact_ldl_solve(local->factor, local->rows, r);
    } else if (!(limits & TACT_LIMIT_OPEN)) {
        const double *slope = world->newton.impulse_by_b + (size_t)36 * (size_t)i;
        const double *press = world->newton.impulse_by_force + (size_t)6 * (size_t)i;
        for (int k = 0; k < 36; k++) {
            r[k / 6] += slope[k] * b[k % 6];
        }
        tact_axpy(r, was, press, 6);
    }
}

/* Result of a linearised sweep for a change x of all impulses. */
static void linear_sweep(struct tact_world *world, const struct island *island, const double *x,
                         double *out)
{
    tact_velocities_set_zero(world, island);
    for (int i = 0; i < island->blocks.count; i++) {
        tact_block_apply_impulse(&world->blocks[island->blocks.at[i]], x + 6 * i);
    }
    for (int i = 0; i < island->blocks.count; i++) {
        struct block *block = &world->blocks[island->blocks.at[i]];
        double u[6] = {0.0}, b[6], delta[6], *r = out + 6 * i;
        for (int k = 0; k < 2; k++) {
            const struct side *side = &block->side[k];
            tact_rows_velocity(u, side->j, side->v, side->dof);
        }
        tact_block_add_compliance(block, x + 6 * i, u);
        tact_rows_subtract_own(b, u, block->local.s, x + 6 * i);
        respond(world, block, i, b, x[6 * i], r);
        for (int k = 0; k < 6; k++) {
            delta[k] = r[k] - x[6 * i + k];
        }
        tact_block_apply_impulse(block, delta);
    }
}

static void scale_down(double *x, double by, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] /= by;
    }
}

/* Multiplies direction m by 1 - g' and computes the next direction. Returns 0 where the result is
 * zero. */
static int extend_basis(struct tact_world *world, const struct island *island, const double *scale,
                        int m)
{
    struct newton *newton = &world->newton;
    int n = island->blocks.count * 6;
    double *w = newton->basis[m + 1], *h = newton->h[m];
    const double *v = newton->basis[m];
    for (int i = 0; i < n; i++) {
        newton->sweep_in[i] = scale[i] > 0.0 ? v[i] / scale[i] : 0.0;
    }
    linear_sweep(world, island, newton->sweep_in, newton->sweep_out);
    for (int i = 0; i < n; i++) {
        w[i] = v[i] - scale[i] * newton->sweep_out[i];
    }
    double size = sqrt(tact_dot(w, w, n));
    for (int k = 0; k <= m; k++) {
        h[k] = tact_dot(newton->basis[k], w, n);
        tact_axpy(w, -h[k], newton->basis[k], n);
    }
    double rest = sqrt(tact_dot(w, w, n));
    for (int k = 0; k < m; k++) {
        double a = h[k], b = h[k + 1];
        h[k] = newton->cosine[k] * a + newton->sine[k] * b;
        h[k + 1] = newton->cosine[k] * b - newton->sine[k] * a;
    }
    double diagonal = tact_hypot(h[m], rest);
    if (!(diagonal > SINGULAR * size)) {
        return 0;
    }
    newton->cosine[m] = h[m] / diagonal;
    newton->sine[m] = rest / diagonal;
    h[m] = diagonal;
    newton->residual[m + 1] = -newton->sine[m] * newton->residual[m];
    newton->residual[m] *= newton->cosine[m];
    scale_down(w, rest > 0.0 ? rest : 1.0, n);
    return 1;
}

int tact_newton_eliminates(const struct tact_world *world, const struct island *island)
{
    const struct list *owners = &island->owners; /* ascending: bodies, then hands */
    return island->blocks.count >= LEAST_ELIMINATED &&
           owners->at[owners->count - 1] < world->body_count;
}

int tact_newton_step(struct tact_world *world, const struct island *island, const double *x,
                     const double *g, const double *scale, double share, double *next,
                     int *eliminated)
{
    struct newton *newton = &world->newton;
    double *left = newton->residual;
    int n = island->blocks.count * 6, most = n < NEWTON_PRODUCTS ? n : NEWTON_PRODUCTS, m = 0;
    int products = 0;
    *eliminated = 0;
    for (int i = 0; i < island->blocks.count; i++) {
        const struct block *block = &world->blocks[island->blocks.at[i]];
        int limits = world->contacts[block->contact].limits;
        if (!tact_newton_sticks(world, block) && !(limits & TACT_LIMIT_OPEN) && !block->uncoupled) {
            differentiate_impulse(block, g + 6 * i, scale + 6 * i, newton->impulse_by_b + 36 * i);
            differentiate_arm(world, block, x[6 * i], g + 6 * i, newton->impulse_by_force + 6 * i);
        }
    }
    if (tact_newton_eliminates(world, island) && tact_newton_eliminate(world, island, x, g, next)) {
        *eliminated = 1;
        return 0;
    }
    for (int i = 0; i < n; i++) {
        newton->basis[0][i] = scale[i] * (g[i] - x[i]);
    }
    left[0] = sqrt(tact_dot(newton->basis[0], newton->basis[0], n));
    double enough = share * left[0];
    scale_down(newton->basis[0], left[0] > 0.0 ? left[0] : 1.0, n);
    while (m < most && fabs(left[m]) > enough) {
        products++;
        if (!extend_basis(world, island, scale, m)) {
            break;
        }
        m++;
    }
    for (int i = 0; i < n; i++) {
        next[i] = m > 0 && scale[i] > 0.0 ? x[i] : g[i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) {
            left[i] -= newton->h[k][i] * left[k];
        }
        left[i] /= newton->h[i][i];
        for (int k = 0; k < n; k++) {
            next[k] += scale[k] > 0.0 ? left[i] * newton->basis[i][k] / scale[k] : 0.0;
        }
    }
    return products;
}
