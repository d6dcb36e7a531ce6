/*
 * Joints before the sweeps: their rows, what they aim at, and what contacts feel of them. Contacts,
 * and the loose rows, see bodies whose joints hold: S less C^T A^-1 C, C = J M^-1 J_c^T, and a
 * change of theirs is answered by the joints at once.
 */
#include <string.h>
#include "contact/world/rows_internal.h"
#include "contact/world/world_internal.h"

#define LOCKED 1e-5    /* mobility below which nothing moves, over that without joints */
#define BOND_TURN 5.0  /* fastest mending of a turn [rad/s]; of a distance: push_limit */
#define ROUNDING 2e-15 /* of a pose, relative */

static const int ball_rows[] = {0, 1, 2}, hinge_rows[] = {0, 1, 2, 3, 4},
                 slider_rows[] = {0, 1, 3, 4, 5}, fixed_rows[] = {0, 1, 2, 3, 4, 5};

static const struct {
    const int *rows;
    int count, loose;
} kinds[] = {
    [TACT_BOND_BALL] = {ball_rows, 3, -1},
    [TACT_BOND_HINGE] = {hinge_rows, 5, 5},
    [TACT_BOND_SLIDER] = {slider_rows, 5, 2},
    [TACT_BOND_FIXED] = {fixed_rows, 6, -1},
};

/* J and Y = M^-1 J of a body: the wrench of a unit impulse along each row, and its twist. */
static void make_side(const struct tact_body *body, const double *rows, const double *point,
                      double sign, double *j, double *y)
{
    double arm[3], inverse_mass = 1.0 / body->mass;
    tact_v3_sub(arm, point, body->pose.position);
    for (int i = 0; i < 6; i++) {
        const double *axis = rows + 3 * (i % 3);
        double torque[3], w[3];
        if (i < 3) {
            tact_v3_cross(torque, arm, axis);
        } else {
            tact_v3_copy(torque, axis);
        }
        tact_v3_scale(torque, torque, sign);
        tact_m3_mul_v3(w, body->inverse_world, torque);
        for (int k = 0; k < 3; k++) {
            j[k * 6 + i] = i < 3 ? sign * axis[k] : 0.0;
            j[(3 + k) * 6 + i] = torque[k];
            y[k * 6 + i] = j[k * 6 + i] * inverse_mass;
            y[(3 + k) * 6 + i] = w[k];
        }
    }
}

/* What is left of an error that cannot be mended in one tick without a jerk, what rounding makes of
 * one, and the rates that the stops allow. */
static void set_targets(struct tact_world *world, struct world_bond *w)
{
    const struct tact_bond *bond = &w->bond;
    const struct tact_pose *a = tact_bond_pose(world, bond->a), *b = tact_bond_pose(world, bond->b);
    double h = world->options.period, e[6],
           most[2] = {world->options.push_limit * h, BOND_TURN * h};
    double reach = tact_v3_norm(a->position) + tact_v3_norm(b->position) +
                   tact_v3_norm(bond->in_a.position) + tact_v3_norm(bond->in_b.position);
    tact_bond_error(bond, a, b, e);
    for (int i = 0; i < 6; i++) {
        double size = tact_v3_norm(e + (i < 3 ? 0 : 3)), share = most[i / 3];
        w->keep[i] = size > share ? e[i] * (1.0 - share / size) : 0.0;
    }
    w->noise[0] = ROUNDING * reach / h;
    w->noise[1] = 2.0 * ROUNDING / h;
    w->lowest = -INFINITY;
    w->highest = INFINITY;
    if (w->loose >= 0 && bond->lower < bond->upper) {
        double fastest = w->loose < 3 ? world->options.push_limit : BOND_TURN;
        w->lowest = tact_min((bond->lower - bond->value) / h, fastest);
        w->highest = tact_max((bond->upper - bond->value) / h, -fastest);
    }
}

static void assemble(struct tact_world *world, struct world_bond *w)
{
    struct tact_bond *bond = &w->bond;
    const struct tact_pose *a = tact_bond_pose(world, bond->a), *b = tact_bond_pose(world, bond->b);
    double s[36] = {0.0}, turn[9], axes[4];
    tact_pose_point(bond->point, a, bond->in_a.position);
    tact_quat_mul(axes, b->quat_wxyz, bond->in_b.quat_wxyz);
    tact_quat_normalize(axes);
    tact_quat_to_m3(turn, axes);
    for (int i = 0; i < 9; i++) {
        w->rows[i] = turn[i % 3 * 3 + i / 3];
    }
    bond->value = tact_bond_value(bond, a, b);
    w->count = kinds[bond->kind].count;
    int lawful = bond->friction > 0.0 || bond->damping > 0.0 || bond->lower < bond->upper;
    w->loose = lawful ? kinds[bond->kind].loose : -1;
    memcpy(w->held, kinds[bond->kind].rows, (size_t)w->count * sizeof *w->held);
    for (int k = 0; k < 2; k++) {
        const struct tact_body *body = tact_bond_side(world, w, k);
        if (body) {
            make_side(body, w->rows, bond->point, k ? -1.0 : 1.0, w->j[k], w->y[k]);
            tact_rows_schur(s, w->j[k], w->y[k], 6);
        }
    }
    double linear = s[0] + s[7] + s[14], angular = s[21] + s[28] + s[35];
    w->per_length = sqrt(angular / linear);
    set_targets(world, w);
}

/* C of one bond: J_bond Y of one side of a contact or of a loose row, six columns or one. */
static void couple(const struct world_bond *w, int side, const double *y, int columns, int column,
                   double *c)
{
    const double *j = w->j[side];
    for (int i = 0; i < w->count; i++) {
        for (int k = 0; k < columns; k++) {
            double sum = 0.0;
            for (int d = 0; d < 6; d++) {
                sum += j[d * 6 + w->held[i]] * y[d * 6 + column + k];
            }
            c[i * columns + k] += sum;
        }
    }
}

/* C of a mechanism against what moves `body` by y. */
static void couple_all(const struct tact_world *world, int part, int body, const double *y,
                       int columns, int column, double *c)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->parts[part];
    for (int i = p->bond; i < p->bond_end; i++) {
        const struct world_bond *w = &world->bonds[m->order[i]];
        for (int k = 0; k < 2; k++) {
            const struct tact_owner owner = k ? w->bond.b : w->bond.a;
            if (owner.kind == TACT_OWNER_BODY && owner.index == body) {
                couple(w, k, y, columns, column, c + (w->row - p->row) * columns);
            }
        }
    }
}

/* How the mechanism answers the loose row of a joint, and the row's mobility under that. */
static void hold_loose(struct tact_world *world, struct world_bond *w, double *room)
{
    const struct mechanisms *m = &world->mechanisms;
    const struct mechanism *p = &m->parts[w->part];
    int rows = p->row_end - p->row;
    double *coupling = world->mechanisms.changes;
    w->lever = room;
    memset(coupling, 0, (size_t)rows * sizeof *coupling);
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = k ? w->bond.b : w->bond.a;
        if (owner.kind == TACT_OWNER_BODY) {
            couple_all(world, w->part, owner.index, w->y[k], 1, w->loose, coupling);
        }
    }
    memcpy(w->lever, coupling, (size_t)rows * sizeof *coupling);
    tact_mechanism_solve(m, w->part, w->lever, 1);
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < 6 && tact_bond_side(world, w, k); d++) {
            w->mobility += w->j[k][d * 6 + w->loose] * w->y[k][d * 6 + w->loose];
        }
    }
    double own = w->mobility;
    for (int i = 0; i < rows; i++) {
        w->mobility -= coupling[i] * w->lever[i];
    }
    w->mobility = w->mobility > LOCKED * own ? w->mobility : 0.0;
}

void tact_bonds_assemble(struct tact_world *world)
{
    double *room = world->mechanisms.levers;
    for (int i = 0; i < world->bond_count; i++) {
        assemble(world, &world->bonds[i]);
    }
    tact_mechanisms_factor(world);
    world->mechanisms.answers_used = 0;
    for (int i = 0; i < world->bond_count; i++) {
        struct world_bond *w = &world->bonds[i];
        w->mobility = 0.0;
        if (w->loose >= 0) {
            const struct mechanism *p = &world->mechanisms.parts[w->part];
            hold_loose(world, w, room);
            room += p->row_end - p->row;
        }
    }
}

/* S -= C^T A^-1 C of one mechanism; its answer is -A^-1 C. */
static void hold(struct tact_world *world, struct block *block, struct bond_answer *answer)
{
    struct mechanisms *m = &world->mechanisms;
    int rows = m->parts[answer->part].row_end - m->parts[answer->part].row;
    size_t size = (size_t)rows * 6;
    if (m->answers_used + 2 * size > m->answer_room) {
        answer->part = -1; /* sweeps settle it without */
        return;
    }
    double *c = m->answers + m->answers_used, *x = c + size, *s = block->local.s;
    double held = block->loose ? 1.0 : 1.0 - TACT_BOND_GIVE;
    m->answers_used += 2 * size;
    memset(c, 0, size * sizeof *c);
    for (int k = 0; k < 2; k++) {
        const struct side *side = &block->side[k];
        if (side->owner.kind == TACT_OWNER_BODY && m->of_body[side->owner.index] == answer->part) {
            couple_all(world, answer->part, side->owner.index, side->y, 6, 0, c);
        }
    }
    memcpy(x, c, size * sizeof *c);
    for (int k = 0; k < 6; k++) {
        tact_mechanism_solve(m, answer->part, x + k, 6);
    }
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++) {
                s[6 * i + k] -= held * c[6 * row + i] * x[6 * row + k];
            }
        }
    }
    answer->impulse = x;
    answer->coupling = c;
}

void tact_bonds_hold(struct tact_world *world, struct block *block)
{
    const struct mechanisms *m = &world->mechanisms;
    double own = block->local.s[0];
    block->loose = 0;
    for (int k = 0; k < 2; k++) {
        const struct tact_owner owner = block->side[k].owner;
        int part = m->count && owner.kind == TACT_OWNER_BODY ? m->of_body[owner.index] : -1;
        block->loose |= owner.kind == TACT_OWNER_BODY && part < 0;
        block->answer[k].part = k && part == block->answer[0].part ? -1 : part;
    }
    for (int k = 0; k < 2; k++) {
        if (block->answer[k].part >= 0) {
            hold(world, block, &block->answer[k]);
        }
    }
    block->locked = !(block->local.s[0] > LOCKED * own);
}
