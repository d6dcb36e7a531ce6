#include "contact/world/hand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/limits.h"
#include "contact/world/body.h"
#include "contact/world/hand_internal.h"

#define LIMIT_PASSES 3 /* most passes in a tick in which drives are found to be at their limits */

static int check_link_def(const struct tact_link_def *def, int index)
{
    struct tact_body body;
    double numbers = def->stiffness + def->damping + def->limit + def->start;
    for (int i = 0; i < 3; i++) {
        numbers += def->axis[i] + def->origin.position[i] + def->center[i];
    }
    if (def->parent >= index || def->parent < -1 || !isfinite(numbers) || def->stiffness < 0.0 ||
        def->damping < 0.0 || def->limit < 0.0 || !(tact_v3_norm(def->axis) > 0.0)) {
        return -EINVAL;
    }
    return tact_body_set_mass(&body, def->mass, def->inertia);
}

static void init_link(struct link *link, const struct tact_link_def *def)
{
    struct tact_body body;
    tact_body_set_mass(&body, def->mass, def->inertia);
    link->def = *def;
    memcpy(link->inertia, body.inertia, sizeof link->inertia);
    tact_v3_normalize(link->def.axis, def->axis);
    tact_quat_normalize(link->def.origin.quat_wxyz);
}

int tact_hand_create(const struct tact_link_def *links, int count, const struct tact_pose *base,
                     struct tact_hand **out)
{
    *out = NULL;
    for (int i = 0; i < count; i++) {
        int rc = check_link_def(&links[i], i);
        if (rc) {
            return rc;
        }
    }
    size_t n = (size_t)(count > 0 ? count : 1);
    struct tact_hand *hand = calloc(1, sizeof *hand);
    struct link *all = calloc(n, sizeof *all);
    double *numbers = calloc(n * n * 2 + n * (11 + TACT_NODE), sizeof *numbers);
    double **rows = calloc(n, sizeof *rows);
    if (!hand || !all || !numbers || !rows) {
        free(hand);
        free(all);
        free(rows);
        free(numbers);
        return -ENOMEM;
    }
    hand->count = count;
    hand->base = *base;
    tact_quat_normalize(hand->base.quat_wxyz);
    hand->links = all;
    hand->numbers = numbers;
    hand->mass = numbers;
    hand->factor = hand->mass + n * n;
    double *next = hand->factor + n * n;
    double **slots[12] = {
        &hand->state.q,      &hand->state.v,         &hand->state.target, &hand->state.target_rate,
        &hand->state.torque, &hand->state.saturated, &hand->bias,         &hand->velocity,
        &hand->rhs,          &hand->scratch,         &hand->inverse,      &hand->w};
    for (int i = 0; i < 12; i++) {
        *slots[i] = next;
        next += n;
    }
    hand->rows = rows;
    for (int i = 0; i < count; i++) {
        init_link(&all[i], &links[i]);
        hand->state.q[i] = hand->state.target[i] = links[i].start;
    }
    tact_hand_find_chains(hand);
    tact_hand_refresh(hand);
    *out = hand;
    return 0;
}

void tact_hand_destroy(struct tact_hand *hand)
{
    if (hand) {
        free(hand->links);
        free(hand->numbers);
        free(hand->rows);
        free(hand);
    }
}

int tact_hand_count(const struct tact_hand *hand)
{
    return hand->count;
}

int tact_hand_parent(const struct tact_hand *hand, int link)
{
    return hand->links[link].def.parent;
}

struct tact_hand_state tact_hand_state(struct tact_hand *hand)
{
    return hand->state;
}

double *tact_hand_velocity(struct tact_hand *hand)
{
    return hand->velocity;
}

const struct tact_pose *tact_hand_link_pose(const struct tact_hand *hand, int link)
{
    return &hand->links[link].pose;
}

/* Torque of a drive at rate 0, without its limit. */
static double spring_torque(const struct tact_hand *hand, int i)
{
    const struct tact_link_def *def = &hand->links[i].def;
    return def->stiffness * (hand->state.target[i] - hand->state.q[i]) +
           def->damping * hand->state.target_rate[i];
}

/* Constant part of a drive's torque: that at rate 0, or its limit where that is reached. */
static double drive_constant(const struct tact_hand *hand, int i)
{
    const double reached = hand->state.saturated[i];
    return reached != 0.0 ? reached * hand->links[i].def.limit : spring_torque(hand, i);
}

static double drive_torque(const struct tact_hand *hand, int i, double v, double h)
{
    const struct tact_link_def *def = &hand->links[i].def;
    double constant = drive_constant(hand, i);
    return hand->state.saturated[i] != 0.0 ? constant
                                           : constant - (h * def->stiffness + def->damping) * v;
}

static int factor_drives(struct tact_hand *hand, double h)
{
    double *diagonal = hand->scratch;
    for (int i = 0; i < hand->count; i++) {
        const struct tact_link_def *def = &hand->links[i].def;
        diagonal[i] =
            hand->state.saturated[i] == 0.0 ? h * def->damping + h * h * def->stiffness : 0.0;
    }
    return tact_hand_factor(hand, diagonal);
}

/* velocity = (M + h D + h^2 K)^-1 (rhs + h drives + extra), and w with it. */
static void solve_rates(struct tact_hand *hand, double h, const double *extra)
{
    for (int i = 0; i < hand->count; i++) {
        hand->velocity[i] = hand->rhs[i] + h * drive_constant(hand, i) + (extra ? extra[i] : 0.0);
    }
    tact_hand_reduce(hand, hand->velocity);
    for (int i = 0; i < hand->count; i++) {
        hand->w[hand->links[i].slot] = hand->velocity[i];
    }
    tact_hand_expand(hand, hand->velocity);
}

/* Marks the drives whose torque would exceed their limit; returns how many are new. */
static int mark_saturated(struct tact_hand *hand, double h)
{
    int found = 0;
    for (int i = 0; i < hand->count; i++) {
        double limit = hand->links[i].def.limit;
        double torque = drive_torque(hand, i, hand->velocity[i], h);
        if (limit > 0.0 && hand->state.saturated[i] == 0.0 && fabs(torque) > limit) {
            hand->state.saturated[i] = torque > 0.0 ? 1.0 : -1.0;
            found++;
        }
    }
    return found;
}

int tact_hand_free_velocity(struct tact_hand *hand, double h, const double gravity[3],
                            const double *impulse)
{
    int n = hand->count, limited = 0;
    tact_hand_mass_matrix(hand, hand->mass);
    tact_hand_bias(hand, gravity, hand->bias);
    for (int i = 0; i < n; i++) {
        hand->rhs[i] = -h * hand->bias[i];
        for (int j = 0; j < n; j++) {
            hand->rhs[i] += hand->mass[i * n + j] * hand->state.v[j];
        }
        hand->state.saturated[i] = 0.0;
        limited |= hand->links[i].def.limit > 0.0;
    }
    int rc = factor_drives(hand, h);
    for (int pass = 0; limited && !rc && pass < LIMIT_PASSES; pass++) {
        solve_rates(hand, h, impulse);
        if (!mark_saturated(hand, h)) {
            break;
        }
        rc = factor_drives(hand, h);
    }
    if (!rc) {
        solve_rates(hand, h, NULL);
    }
    return rc;
}

double tact_hand_drive_margin(const struct tact_hand *hand, int link, double h, int *saturated)
{
    double least = 1.0;
    *saturated = 0;
    for (int i = link; i >= 0; i = hand->links[i].def.parent) {
        const struct tact_link_def *def = &hand->links[i].def;
        if (def->limit > 0.0) {
            double torque =
                spring_torque(hand, i) - (h * def->stiffness + def->damping) * hand->velocity[i];
            least = fmin(least, tact_margin(fabs(torque), def->limit));
            *saturated |= hand->state.saturated[i] != 0.0;
        }
    }
    return least;
}

void tact_hand_integrate(struct tact_hand *hand, double h)
{
    for (int i = 0; i < hand->count; i++) {
        double v = hand->velocity[i], limit = hand->links[i].def.limit;
        double torque = drive_torque(hand, i, v, h);
        if (limit > 0.0 && fabs(torque) > limit) {
            torque = copysign(limit, torque);
        }
        hand->state.torque[i] = torque;
        hand->state.v[i] = v;
        hand->state.q[i] += h * v;
    }
    tact_hand_refresh(hand);
}
