/*
 * Joints in the sweeps: the constraint at the end of the tick, and the free direction's friction,
 * damping and stops.
 *
 * With w the error that the present velocities would leave at the end of the tick, over the tick,
 * the held rows of a mechanism change their impulses by -A^-1 w. That is Newton's step of the
 * constraints at the poses to come.
 */
#include <string.h>
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

#define FAST 0.3 /* turn in a tick above which joints are held to first order [rad] */

static void kick(struct tact_world *world, const struct world_bond *w, const double *impulse)
{
    for (int k = 0; k < 2; k++) {
        struct tact_body *body = tact_bond_side(world, w, k);
        if (body) {
            tact_rows_kick(body->twist, w->y[k], impulse, 6);
        }
    }
}

void tact_bonds_apply(struct tact_world *world, const struct island *island)
{
    for (int i = 0; i < island->bonds.count; i++) {
        const struct world_bond *w = &world->bonds[island->bonds.at[i]];
        kick(world, w, w->bond.impulse);
    }
}

/* The error at the end of the tick by the velocities of the rows alone: for turns so fast that
 * Newton's step would not lead to where the joint holds. */
static void linear_rates(const struct tact_world *world, const struct world_bond *w, double e[6])
{
    double h = world->options.period;
    tact_bond_error(&w->bond, tact_bond_pose(world, w->bond.a), tact_bond_pose(world, w->bond.b),
                    e);
    for (int i = 0; i < 6; i++) {
        e[i] = (e[i] - w->keep[i]) / h;
    }
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_bond_side(world, w, k);
        if (body) {
            tact_rows_velocity(e, w->j[k], body->twist, 6);
        }
    }
}

/* Error at the end of the tick at the present velocities, beyond what is kept, over the tick. */
static void rates_of_error(const struct tact_world *world, const struct world_bond *w, double e[6])
{
    struct tact_body moved;
    struct tact_pose pose[2];
    double h = world->options.period;
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = k ? w->bond.b : w->bond.a;
        const struct tact_body *body = tact_bond_side(world, w, k);
        pose[k] = *tact_bond_pose(world, owner);
        if (body && tact_v3_norm(body->twist + 3) * h > FAST) {
            linear_rates(world, w, e);
            return;
        }
        if (body) {
            moved = *body;
            tact_body_drift(&moved, h);
            pose[k] = moved.pose;
        }
    }
    tact_bond_error(&w->bond, &pose[0], &pose[1], e);
    for (int i = 0; i < 6; i++) {
        e[i] = (e[i] - w->keep[i]) / h;
    }
}

/* Impulse of the loose row, given the rate u that it would have without: dry friction and damping,
 * implicit, and a stop that takes what they leave. */
static double loose_impulse(const struct tact_world *world, struct world_bond *w, double u)
{
    const struct tact_bond *bond = &w->bond;
    double h = world->options.period, s = w->mobility, stick = s * bond->friction * h;
    double rate = fabs(u) > stick ? (u - copysign(stick, u)) / (1.0 + s * bond->damping * h) : 0.0;
    w->bond.stop = rate < w->lowest ? -1 : rate > w->highest;
    if (w->bond.stop) {
        rate = w->bond.stop < 0 ? w->lowest : w->highest;
    }
    return s > 0.0 && rate != u ? (rate - u) / s : 0.0;
}

/* Adds changes of the held rows of a mechanism, times a factor. */
static void change_held(struct tact_world *world, int part, const double *x, double factor)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->parts[part];
    for (int i = p->bond; i < p->bond_end; i++) {
        struct world_bond *w = &world->bonds[m->order[i]];
        double delta[6] = {0.0};
        for (int k = 0; k < w->count; k++) {
            delta[w->held[k]] = factor * x[w->row + k - p->row];
            w->bond.impulse[w->held[k]] += delta[w->held[k]];
        }
        kick(world, w, delta);
    }
}

void tact_bonds_see(const struct tact_world *world, const struct block *block, const double *r,
                    double u[6])
{
    const struct mechanisms *m = &world->mechanisms;
    for (int side = 0; side < 2 && m->count && !block->loose; side++) {
        const struct bond_answer *answer = &block->answer[side];
        if (answer->part < 0) {
            continue;
        }
        const struct mechanism *p = &m->parts[answer->part];
        for (int row = p->row; row < p->row_end; row++) {
            const double *x = answer->impulse + 6 * (row - p->row);
            const double *c = answer->coupling + 6 * (row - p->row);
            double borne = 0.0;
            for (int k = 0; k < 6; k++) {
                borne += x[k] * r[k];
            }
            for (int k = 0; k < 6; k++) {
                u[k] += TACT_BOND_GIVE * c[k] * borne - x[k] * m->slips[row];
            }
        }
    }
}

void tact_bonds_answer(struct tact_world *world, const struct block *block, const double *delta)
{
    struct mechanisms *m = &world->mechanisms;
    for (int side = 0; side < 2 && m->count; side++) {
        const struct bond_answer *answer = &block->answer[side];
        if (answer->part < 0) {
            continue;
        }
        int rows = m->parts[answer->part].row_end - m->parts[answer->part].row;
        for (int i = 0; i < rows; i++) {
            m->changes[i] = 0.0;
            for (int k = 0; k < 6; k++) {
                m->changes[i] -= answer->impulse[6 * i + k] * delta[k];
            }
        }
        change_held(world, answer->part, m->changes, 1.0);
    }
}

/* What a joint's impulse amounts to, torques as forces. */
static double weigh(const struct world_bond *w, const double *r)
{
    double unit = w->per_length * w->per_length;
    return tact_v3_dot(r, r) + unit * tact_v3_dot(r + 3, r + 3);
}

/* Velocities of the held rows. */
static void measure_slips(struct tact_world *world, int part)
{
    struct mechanisms *m = &world->mechanisms;
    for (int i = m->parts[part].bond; i < m->parts[part].bond_end; i++) {
        const struct world_bond *w = &world->bonds[m->order[i]];
        double u[6] = {0.0};
        for (int k = 0; k < 2; k++) {
            const struct tact_body *body = tact_bond_side(world, w, k);
            if (body) {
                tact_rows_velocity(u, w->j[k], body->twist, 6);
            }
        }
        for (int k = 0; k < w->count; k++) {
            m->slips[w->row + k] = u[w->held[k]];
        }
    }
}

/* One Newton step of the held rows; returns the residual. */
static double solve_part(struct tact_world *world, int part, double *change)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->parts[part];
    double *x = m->changes, worst = 0.0;
    int errs = 0;
    for (int i = p->bond; i < p->bond_end; i++) {
        const struct world_bond *w = &world->bonds[m->order[i]];
        double e[6];
        rates_of_error(world, w, e);
        for (int k = 0; k < w->count; k++) {
            x[w->row - p->row + k] = -e[w->held[k]];
            errs |= fabs(e[w->held[k]]) > w->noise[w->held[k] / 3];
        }
    }
    tact_mechanism_solve(m, part, x, 1);
    for (int i = p->bond; i < p->bond_end; i++) {
        const struct world_bond *w = &world->bonds[m->order[i]];
        double delta[6] = {0.0}, after[6];
        memcpy(after, w->bond.impulse, sizeof after);
        for (int k = 0; k < w->count; k++) {
            delta[w->held[k]] = x[w->row - p->row + k];
            after[w->held[k]] += delta[w->held[k]];
        }
        double moved = weigh(w, delta), most = tact_max(weigh(w, w->bond.impulse), weigh(w, after));
        *change += moved;
        worst = errs && most > 0.0 ? tact_max(worst, sqrt(moved / most)) : worst;
    }
    change_held(world, part, x, 1.0);
    measure_slips(world, part);
    return worst;
}

/* One solve of a joint's loose row; returns the residual. */
static double solve_loose(struct tact_world *world, struct world_bond *w, double *change)
{
    double u[6] = {0.0}, old = w->bond.impulse[w->loose];
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_bond_side(world, w, k);
        if (body) {
            tact_rows_velocity(u, w->j[k], body->twist, 6);
        }
    }
    double delta = loose_impulse(world, w, u[w->loose] - w->mobility * old) - old;
    if (delta == 0.0) {
        return 0.0;
    }
    double all[6] = {0.0}, most = weigh(w, w->bond.impulse);
    int errs = fabs(delta) * w->mobility > w->noise[w->loose / 3];
    all[w->loose] = delta;
    w->bond.impulse[w->loose] += delta;
    kick(world, w, all);
    change_held(world, w->part, w->lever, -delta);
    double moved = weigh(w, all);
    *change += moved;
    most = tact_max(most, weigh(w, w->bond.impulse));
    return errs && most > 0.0 ? sqrt(moved / most) : 0.0;
}

double tact_bonds_sweep(struct tact_world *world, struct island *island)
{
    double worst = 0.0;
    for (int i = 0; i < island->parts.count; i++) {
        worst = tact_max(worst, solve_part(world, island->parts.at[i], &island->change));
    }
    for (int i = 0; i < island->bonds.count; i++) {
        struct world_bond *w = &world->bonds[island->bonds.at[i]];
        if (w->loose >= 0) {
            worst = tact_max(worst, solve_loose(world, w, &island->change));
        }
        island->size += weigh(w, w->bond.impulse);
    }
    return worst;
}

void tact_bonds_copy(struct tact_world *world, const struct island *island, double *impulses,
                     int back)
{
    for (int i = 0; i < island->bonds.count; i++) {
        struct world_bond *w = &world->bonds[island->bonds.at[i]];
        if (w->loose < 0) {
            impulses[i] = 0.0;
        } else if (!back) {
            impulses[i] = w->bond.impulse[w->loose];
        } else {
            double delta = impulses[i] - w->bond.impulse[w->loose];
            w->bond.impulse[w->loose] = impulses[i];
            change_held(world, w->part, w->lever, -delta);
        }
    }
}

void tact_bonds_scale(const struct tact_world *world, const struct island *island, double *scale)
{
    for (int i = 0; i < island->bonds.count; i++) {
        const struct world_bond *w = &world->bonds[island->bonds.at[i]];
        scale[i] = w->loose < 3 ? 1.0 : w->per_length;
    }
}

double tact_bonds_work(const struct tact_world *world, const struct island *island)
{
    double work = 0.0;
    for (int i = 0; i < island->bonds.count; i++) {
        const struct world_bond *w = &world->bonds[island->bonds.at[i]];
        double u[6] = {0.0};
        for (int k = 0; k < 2; k++) {
            const struct tact_body *body = tact_bond_side(world, w, k);
            if (body) {
                tact_rows_velocity(u, w->j[k], body->twist, 6);
            }
        }
        for (int k = 0; k < 6; k++) {
            work += u[k] * w->bond.impulse[k];
        }
    }
    return work;
}

void tact_bonds_store(struct tact_world *world)
{
    double inverse_h = 1.0 / world->options.period;
    for (int i = 0; i < world->bond_count; i++) {
        struct world_bond *w = &world->bonds[i];
        tact_m3_tmul_v3(w->bond.wrench, w->rows, w->bond.impulse);
        tact_m3_tmul_v3(w->bond.wrench + 3, w->rows, w->bond.impulse + 3);
        for (int k = 0; k < 6; k++) {
            w->bond.wrench[k] *= inverse_h;
        }
    }
}

void tact_bonds_clear(struct tact_world *world)
{
    for (int i = 0; i < world->bond_count; i++) {
        memset(world->bonds[i].bond.impulse, 0, sizeof world->bonds[i].bond.impulse);
        memset(world->bonds[i].bond.wrench, 0, sizeof world->bonds[i].bond.wrench);
    }
}
