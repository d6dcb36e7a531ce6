/*
 * The contact of two smooth surfaces (Kry and Pai 2003) as a block of the solver: closest points,
 * normal and gap are exact, and the velocity that the block keeps is that of the contact half a
 * tick later, where the drift puts the velocities. That makes the tick second order in time.
 */
#include <errno.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/smooth/rolling_internal.h"

#define AHEAD                                                                                      \
    1e-3           /* of the smaller radius of curvature: how far ahead of touch it is a contact   \
                    */
#define LEAPS 0.3  /* most that the contact may turn over a surface in a tick [rad] */
#define STEADY 0.5 /* most change of an angular velocity in a tick, of itself, that goes on */

/* What is kept for a pair. */
enum {
    LASTED, /* ticks that it pressed and turned steadily before this one: 0, 1, 2, 3 for more */
    KNOWN,  /* 1 where the points are those of the last tick */
    POINTS, /* of A and B, shape frames */
    LAST = POINTS + 6,
    MOTION = 24, /* twists of A and B, world; then their rates, along the shapes' axes */
    BEFORE = LAST + MOTION,
    STATE = BEFORE + MOTION,
};

static int patches(const struct tact_shape *a, const struct tact_shape *b,
                   const struct tact_world_options *options)
{
    return options->local == TACT_LOCAL_CONE && tact_smooth_convex(a, b);
}

/* Where they are closest: from the last tick's points, or from nothing. */
static int find(const struct tact_pair_query *q, struct smooth_contact *c)
{
    struct smooth_pair pair;
    int plane = q->a->kind == TACT_SHAPE_HALFSPACE || q->b->kind == TACT_SHAPE_HALFSPACE;
    tact_smooth_pair(q->a, q->pose_a, q->b, q->pose_b, &pair);
    memcpy(c->local, q->state + POINTS, sizeof c->local);
    if ((q->state[KNOWN] > 0.0 && !plane && !tact_smooth_follow(&pair, c)) ||
        !tact_smooth_find(&pair, c)) {
        memcpy(q->state + POINTS, c->local, sizeof c->local);
        q->state[KNOWN] = 1.0;
        return 0;
    }
    q->state[KNOWN] = 0.0;
    q->counts[TACT_COUNT_NOT_FOUND]++;
    return -EDOM;
}

/* Turns both halves of a rate, from the world to the shape's axes, or back. */
static void turn_rate(const struct tact_pose *pose, int back, const double *in, double *out)
{
    double turn[9];
    tact_quat_to_m3(turn, pose->quat_wxyz);
    for (int i = 0; i < 6; i += 3) {
        if (back) {
            tact_m3_mul_v3(out + i, turn, in + i);
        } else {
            tact_m3_tmul_v3(out + i, turn, in + i);
        }
    }
}

/* 1 where a shape turns now much as it did in the last tick, so that it goes on so. */
static int is_steady(const double *now, const double *last)
{
    double change[3];
    tact_v3_sub(change, now + 3, last + 3);
    return tact_v3_norm(change) <= STEADY * tact_v3_norm(now + 3);
}

/* How many ticks it has lasted so far. */
static double count_ticks(const struct tact_pair_query *q)
{
    const double *last = q->state + LAST;
    int steady = is_steady(q->twist[0], last) && is_steady(q->twist[1], last + 6);
    double before = steady ? q->state[LASTED] : 0.0;
    return q->pressed > 0.0 ? tact_min(before + 1.0, 3.0) : 0.0;
}

/* Twists after this tick's solve and their rates in its drift, continued from those of the last
 * ticks, as far as they go together: by a parabola. Rates go with the shapes: along their axes they
 * differ by what the velocities changed, not by what the shapes turned. */
static void foresee(const struct tact_pair_query *q, double twist[2][6], double rate[2][6])
{
    const struct tact_pose *pose[2] = {q->pose_a, q->pose_b};
    double now[MOTION], next[MOTION], *last = q->state + LAST, *before = q->state + BEFORE;
    q->state[LASTED] = count_ticks(q);
    for (int k = 0; k < 2; k++) {
        memcpy(now + 6 * k, q->twist[k], sizeof q->twist[k]);
        turn_rate(pose[k], 0, q->rate[k], now + 12 + 6 * k);
    }
    for (int i = 0; i < MOTION; i++) {
        double change = now[i] - last[i];
        next[i] = now[i];
        next[i] += q->state[LASTED] > 1.0 ? change : 0.0;
        next[i] += q->state[LASTED] > 2.0 ? change - (last[i] - before[i]) : 0.0;
        before[i] = last[i];
        last[i] = now[i];
    }
    for (int k = 0; k < 2; k++) {
        memcpy(twist[k], next + 6 * k, sizeof twist[k]);
        turn_rate(pose[k], 1, next + 12 + 6 * k, rate[k]);
    }
}

/* 1 where the contact runs too far over a surface in a tick for its rates to say where it is half a
 * tick later. */
static int leaps(const struct smooth_contact *c, const struct smooth_motion *motion, double h)
{
    for (int k = 0; k < 2; k++) {
        const double *l = c->bend[k];
        double x = tact_v3_dot(motion->over[k], c->frame + 3);
        double y = tact_v3_dot(motion->over[k], c->frame + 6);
        if (!(tact_hypot(l[0] * x + l[1] * y, l[2] * x + l[3] * y) * h <= LEAPS)) {
            return 1;
        }
    }
    return 0;
}

/* What the velocities of the rows n, t1, t2 and about n gain until half a tick after the solve. A
 * contact that was not pressed in the last tick may be an impact, in which nothing is to be gained.
 */
static void look_ahead(const struct tact_pair_query *q, const struct smooth_contact *c,
                       double gain[4])
{
    struct smooth_motion motion;
    double twist[2][6], rate[2][6], h = q->options->period;
    foresee(q, twist, rate);
    memset(gain, 0, 4 * sizeof *gain);
    if (!(q->pressed > 0.0)) {
        return;
    }
    if (tact_smooth_move(c, (const double(*)[6])twist, &motion) || leaps(c, &motion, h)) {
        q->counts[TACT_COUNT_CONFORMING]++;
        return;
    }
    tact_smooth_rates(c, (const double(*)[6])twist, (const double(*)[6])rate, &motion, gain);
    for (int i = 0; i < 4; i++) {
        gain[i] *= 0.5 * h;
    }
}

/* Principal relative curvatures k[0] <= k[1] [1/m], and t1 along the first. */
static void align(struct smooth_contact *c, double k[2])
{
    double l[4], axis[2], t1[3], t2[3];
    for (int i = 0; i < 4; i++) {
        l[i] = c->bend[0][i] + c->bend[1][i];
    }
    tact_eigen2(l[0], l[1], l[3], k, axis);
    if (k[1] - k[0] <= 1e-9 * k[1]) {
        return; /* round: rounding must not turn the frame from tick to tick */
    }
    tact_v3_scale(t1, c->frame + 3, axis[0]);
    tact_v3_axpy(t1, axis[1], c->frame + 6);
    tact_v3_cross(t2, c->frame, t1);
    tact_v3_copy(c->frame + 3, t1);
    tact_v3_copy(c->frame + 6, t2);
    for (int m = 0; m < 2; m++) {
        double *b = c->bend[m], x = axis[0], y = axis[1], xx = b[0], xy = b[1], yy = b[3];
        b[0] = x * x * xx + 2.0 * x * y * xy + y * y * yy;
        b[1] = b[2] = x * y * (yy - xx) + (x * x - y * y) * xy;
        b[3] = y * y * xx - 2.0 * x * y * xy + x * x * yy;
    }
}

/* Rigid surfaces touch in a point, which transmits no torque. Soft ones touch in Hertz's ellipse,
 * and a fingertip in its disc, with torsion. */
static void extend(const struct tact_pair_query *q, const double k[2], struct tact_patch *patch)
{
    patch->spin = q->options->spin;
    patch->stretch[0] = patch->stretch[1] = 1.0;
    patch->surface = TACT_SURFACE_ELLIPSOID;
    if (q->law->tip_radius > 0.0) {
        patch->kind = TACT_PATCH_ELASTIC;
        patch->tip_radius = q->law->tip_radius;
        patch->tip_power = q->law->tip_power;
    } else if (!(q->law->modulus > 0.0) || tact_patch_hertz(patch, q->law->modulus, k[0], k[1])) {
        patch->kind = TACT_PATCH_ELLIPSE;
    }
    if (patch->kind == TACT_PATCH_ELASTIC && patch->spin == TACT_SPIN_LIMIT_SURFACE) {
        patch->surface = TACT_SURFACE_HERTZ;
    }
}

static void make_patch(const struct tact_pair_query *q, const struct smooth_contact *c,
                       struct tact_patch *patch)
{
    memset(patch, 0, sizeof *patch);
    patch->law = TACT_LAW_GAPS;
    patch->depth = tact_max(-c->gap, 0.0);
    patch->exponent = 2.0;
    patch->rolls = INFINITY; /* no rolling torque: nothing tips */
    patch->gap[0] = c->gap;
    memcpy(patch->frame, c->frame, sizeof patch->frame);
    for (int i = 0; i < 3; i++) {
        patch->center[i] =
            0.5 * (q->pose_a->position[i] + c->arm[0][i] + q->pose_b->position[i] + c->arm[1][i]);
    }
}

/* How far the surfaces may be from each other and touch in this tick: as they approach, twice. */
static double reach(const struct tact_pair_query *q, const struct smooth_contact *c,
                    const double k[2])
{
    double at[2][3], slip[3], h = q->options->period;
    for (int i = 0; i < 2; i++) {
        tact_smooth_velocity(q->twist[i], c->arm[i], at[i]);
    }
    tact_v3_sub(slip, at[0], at[1]);
    double closing = tact_max(-tact_v3_dot(c->frame, slip), 0.0);
    return 2.0 * h * (closing + h * tact_v3_norm(q->options->gravity)) + AHEAD / k[1];
}

static int measure(const struct tact_pair_query *q, struct tact_patch *patch,
                   struct tact_pair_piece *piece)
{
    struct smooth_contact c;
    double k[2], gain[4];
    (void)piece;
    if (find(q, &c)) {
        q->state[LASTED] = 0.0;
        return -EDOM;
    }
    align(&c, k);
    if (!(c.gap <= reach(q, &c, k))) {
        q->state[LASTED] = 0.0;
        return -EDOM;
    }
    look_ahead(q, &c, gain);
    make_patch(q, &c, patch);
    extend(q, k, patch);
    for (int i = 0; i < 4; i++) {
        patch->wanted[i] = -gain[i];
    }
    return 0;
}

const struct tact_contact_model tact_model_smooth = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "smooth",
    .state = STATE,
    .patches = patches,
    .measure = measure,
};
