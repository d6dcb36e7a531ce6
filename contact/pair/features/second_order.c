#include "contact/pair/features/second_order_internal.h"

#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/motion_internal.h"

/* Difference of two gaps that count as equal, relative to the size of the patch. */
#define EQUAL_GAPS_TOLERANCE 1e-9
/* Largest rotation of a body in a tick for which the term is used [rad] */
#define MAX_NORMAL_TURN_PER_TICK 0.3

/* The point where a pair touches, and how the bodies move there. World axes. */
struct contact_point {
    int body_of_fixed_point; /* body whose feature carries the contact point: 0 or 1 */
    double arm[2][3]; /* vectors from the origins of the shapes' frames to the contact point [m] */
    double place[3];  /* velocity of the contact point [m/s] */
    double turn[3];   /* rate of change of the contact normal [1/s] */
};

static int is_curved(const struct tact_core *core)
{
    return !core->vertex && core->kind != TACT_SHAPE_HALFSPACE;
}

/* 1 where the contact point is fixed in the core of the carrying body. That of an ellipsoid or a
 * rim moves over the surface, and so does that of two round solids, with their normal. */
static int is_contact_fixed_in_body(const struct tact_core *const core[2],
                                    const enum tact_feature feature[2], int body_of_fixed_point)
{
    int is_on_face_of_other_body = feature[1 - body_of_fixed_point] == TACT_FEATURE_FACE;
    if (feature[body_of_fixed_point] == TACT_FEATURE_FACE) {
        return !is_curved(core[0]) && !is_curved(core[1]);
    }
    return !is_curved(core[body_of_fixed_point]) &&
           (is_on_face_of_other_body || core[body_of_fixed_point]->radius == 0.0);
}

static int does_normal_rotate_too_far_in_tick(const struct tact_pair_query *q)
{
    double turn =
        q->options->period * tact_max(tact_v3_norm(q->twist[0] + 3), tact_v3_norm(q->twist[1] + 3));
    return !(turn <= MAX_NORMAL_TURN_PER_TICK);
}

/* Mean of the corners where the gap is smallest, along t1 and t2 from the patch's centre [m]. */
static void find_point_of_smallest_gap(const struct tact_patch *patch, double x[2])
{
    double least = INFINITY, size = 0.0;
    int count = 0;
    x[0] = x[1] = 0.0;
    for (int i = 0; i < patch->corners; i++) {
        const double *c = patch->corner[i];
        least = tact_min(least, patch->gap[1] * c[0] + patch->gap[2] * c[1]);
        size = tact_max(size, tact_hypot(c[0], c[1]));
    }
    for (int i = 0; i < patch->corners; i++) {
        const double *c = patch->corner[i];
        if (patch->gap[1] * c[0] + patch->gap[2] * c[1] <= least + EQUAL_GAPS_TOLERANCE * size) {
            x[0] += c[0];
            x[1] += c[1];
            count++;
        }
    }
    if (count) {
        x[0] /= count;
        x[1] /= count;
    }
}

/* Finds the contact point on the carrying body. The normal is fixed in the body of a face; the
 * point is fixed in the core of the other body, with its radius along the normal. */
static void find_contact_point_fixed_in_body(const struct tact_pair_query *q,
                                             const struct tact_core *core_of_fixed_point,
                                             const struct tact_patch *patch,
                                             struct contact_point *t)
{
    const struct tact_pose *pose[2] = {q->pose_a, q->pose_b};
    const double *n = patch->frame, *face = q->twist[1 - t->body_of_fixed_point];
    double x[2], at[3], offset[3], inner[3], turned[3];
    find_point_of_smallest_gap(patch, x);
    tact_v3_copy(at, patch->center);
    tact_v3_axpy(at, x[0], n + 3);
    tact_v3_axpy(at, x[1], n + 6);
    for (int k = 0; k < 2; k++) {
        tact_v3_sub(t->arm[k], at, pose[k]->position);
    }
    tact_v3_scale(offset, n,
                  t->body_of_fixed_point ? core_of_fixed_point->radius
                                         : -core_of_fixed_point->radius);
    tact_v3_sub(inner, t->arm[t->body_of_fixed_point], offset);
    tact_pair_velocity(q->twist[t->body_of_fixed_point], inner, t->place);
    tact_v3_cross(turned, face + 3, offset);
    tact_v3_add(t->place, t->place, turned);
    tact_v3_cross(t->turn, face + 3, n);
}

/* Fraction of a velocity change that does not exceed the velocity along it, so that friction only
 * dissipates; 1 for no change. */
static double dissipative_velocity_fraction(double along, double square)
{
    return along >= square ? 1.0 : square > 0.0 ? tact_max(0.0, along / square) : 0.0;
}

static void set_target_velocity(const struct tact_pair_query *q, const struct contact_point *t,
                                struct tact_patch *patch)
{
    const double *n = patch->frame, half = 0.5 * q->options->period;
    double v[2][3], rate[2][3], w[3], dw[3], gain[2], along = 0.0, square = 0.0;
    for (int k = 0; k < 2; k++) {
        tact_pair_velocity(q->twist[k], t->arm[k], v[k]);
        tact_pair_velocity_rate(q->twist[k], q->rate[k], t->arm[k], t->place, rate[k]);
    }
    tact_v3_sub(v[0], v[0], v[1]);
    tact_v3_sub(rate[0], rate[0], rate[1]);
    for (int i = 0; i < 2; i++) {
        gain[i] = half * tact_v3_dot(n + 3 + 3 * i, rate[0]);
        along += gain[i] * tact_v3_dot(n + 3 + 3 * i, v[0]);
        square += gain[i] * gain[i];
    }
    double share = dissipative_velocity_fraction(along, square);
    patch->target_velocity[1] = -share * gain[0];
    patch->target_velocity[2] = -share * gain[1];
    tact_v3_sub(w, q->twist[0] + 3, q->twist[1] + 3);
    tact_v3_sub(dw, q->rate[0] + 3, q->rate[1] + 3);
    double spin = half * (tact_v3_dot(n, dw) + tact_v3_dot(t->turn, w));
    double dissipative_spin_fraction =
        dissipative_velocity_fraction(spin * tact_v3_dot(n, w), spin * spin);
    patch->target_velocity[3] = -dissipative_spin_fraction * spin;
    q->counts[TACT_COUNT_TERM_LIMITED] += share < 1.0 || dissipative_spin_fraction < 1.0;
}

void tact_features_second_order(const struct tact_pair_query *q, const struct tact_core *a,
                                const struct tact_core *b, const enum tact_feature feature[2],
                                struct tact_patch *patch)
{
    const struct tact_core *core[2] = {a, b};
    struct contact_point t;
    t.body_of_fixed_point = feature[0] == TACT_FEATURE_FACE && feature[1] != TACT_FEATURE_FACE;
    if (!(q->pressed > 0.0) || !is_contact_fixed_in_body(core, feature, t.body_of_fixed_point)) {
        return;
    }
    if (does_normal_rotate_too_far_in_tick(q)) {
        q->counts[TACT_COUNT_CONFORMING]++;
        return;
    }
    find_contact_point_fixed_in_body(q, core[t.body_of_fixed_point], patch, &t);
    set_target_velocity(q, &t, patch);
}
