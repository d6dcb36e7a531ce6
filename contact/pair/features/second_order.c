#include "contact/pair/features/second_order_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/features/surface_motion_internal.h"
#include "contact/pair/motion_internal.h"

/* Difference of two gaps that count as equal, relative to the size of the patch. */
#define EQUAL_CORNER_GAPS_TOLERANCE 1e-9
/* Largest rotation of a body in a tick for which the second-order term is used [rad] */
#define MAX_BODY_ROTATION_PER_TICK 0.3
/* Largest rotation of the normal over a surface in a tick for which the second-order term of a
 * contact that moves over it is used: with 0.3 rad a thrown egg gains 4e-4 of its energy in a tick
 * [rad] */
#define MAX_SURFACE_TURN_PER_TICK 0.1
/* Largest target velocity of a contact that moves over a surface, relative to the velocity that it
 * reverses: that of the last tick, from which it differs by what it changes in a tick. */
#define MAX_REVERSAL_OF_MOVING_CONTACT 2.0

/* The point where a pair touches, and how the bodies move there. World axes. */
struct contact_point_with_motion {
    int body_of_fixed_point; /* body whose feature carries the contact point: 0 or 1 */
    double arm[2][3]; /* vectors from the origins of the shapes' frames to the contact point [m] */
    double place[2][3];            /* velocities of the contact points of A and B [m/s] */
    double contact_normal_rate[3]; /* rate of change of the contact normal [1/s] */
    double twist[2][6]; /* twists of the shapes' frames in the drift after this tick's solve */
    int does_contact_move_over_both_bodies; /* 1: the contact point is fixed in neither body */
};

static int is_curved_core(const struct tact_convex_core *core)
{
    return !core->vertex && core->kind != TACT_SHAPE_HALFSPACE;
}

/* 1 where the contact point is fixed in the core of the carrying body. The contact point of an
 * ellipsoid or a rim moves over the surface, and so does that of a round solid that is not on a
 * face. */
static int is_contact_fixed_in_body(const struct tact_convex_core *const core[2],
                                    const enum tact_feature feature[2], int body_of_fixed_point)
{
    int is_contact_on_face_of_other_body = feature[1 - body_of_fixed_point] == TACT_FEATURE_FACE;
    if (feature[body_of_fixed_point] == TACT_FEATURE_FACE) {
        return !is_curved_core(core[0]) && !is_curved_core(core[1]);
    }
    int are_both_cores_polytopes = !is_curved_core(core[0]) && !is_curved_core(core[1]) &&
                                   core[0]->radius == 0.0 && core[1]->radius == 0.0;
    return !is_curved_core(core[body_of_fixed_point]) &&
           (is_contact_on_face_of_other_body || are_both_cores_polytopes);
}

static int does_normal_rotate_too_far_in_tick(const struct tact_pair_query *q)
{
    const double *a = q->twist[0] + 3, *b = q->twist[1] + 3;
    double rotation_angle_per_tick =
        q->options->period * sqrt(tact_max(tact_v3_dot(a, a), tact_v3_dot(b, b)));
    return !(rotation_angle_per_tick <= MAX_BODY_ROTATION_PER_TICK);
}

/* Mean of the corners where the gap is smallest, along t1 and t2 from the patch's centre [m]. */
static void find_point_of_smallest_gap(const struct tact_patch *patch, double x[2])
{
    double least = INFINITY, most_square = 0.0;
    int count = 0;
    x[0] = x[1] = 0.0;
    for (int i = 0; i < patch->corners; i++) {
        const double *c = patch->corner[i];
        least = tact_min(least, patch->gap[1] * c[0] + patch->gap[2] * c[1]);
        most_square = tact_max(most_square, c[0] * c[0] + c[1] * c[1]);
    }
    const double size = sqrt(most_square);
    for (int i = 0; i < patch->corners; i++) {
        const double *c = patch->corner[i];
        if (patch->gap[1] * c[0] + patch->gap[2] * c[1] <=
            least + EQUAL_CORNER_GAPS_TOLERANCE * size) {
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
static void find_contact_point_fixed_in_body(
    const struct tact_pair_query *q, const struct tact_convex_core *core_of_fixed_contact_point,
    const struct tact_patch *patch, struct contact_point_with_motion *t)
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
                  t->body_of_fixed_point ? core_of_fixed_contact_point->radius
                                         : -core_of_fixed_contact_point->radius);
    tact_v3_sub(inner, t->arm[t->body_of_fixed_point], offset);
    tact_pair_velocity_at_arm(q->twist[t->body_of_fixed_point], inner, t->place[0]);
    tact_v3_cross(turned, face + 3, offset);
    tact_v3_add(t->place[0], t->place[0], turned);
    tact_v3_copy(t->place[1], t->place[0]);
    tact_v3_cross(t->contact_normal_rate, face + 3, n);
    memcpy(t->twist, q->twist, sizeof t->twist);
}

/* Fraction of a velocity change that is used: at most velocity_reversal_ratio_limit times the
 * velocity along the change, so that friction only dissipates; 1 for no change. */
static double dissipative_fraction_of_change(double velocity_change_dot_velocity,
                                             double squared_velocity_change,
                                             double velocity_reversal_ratio_limit)
{
    return velocity_reversal_ratio_limit * velocity_change_dot_velocity >= squared_velocity_change
               ? 1.0
           : squared_velocity_change > 0.0
               ? tact_max(0.0, velocity_reversal_ratio_limit * velocity_change_dot_velocity /
                                   squared_velocity_change)
               : 0.0;
}

static void set_second_order_target_velocity(const struct tact_pair_query *q,
                                             const struct contact_point_with_motion *t,
                                             struct tact_patch *patch)
{
    const double *n = patch->frame, half = 0.5 * q->options->period;
    const double velocity_reversal_ratio_limit =
        t->does_contact_move_over_both_bodies ? MAX_REVERSAL_OF_MOVING_CONTACT : 1.0;
    double v[2][3], rate[2][3], w[3], dw[3], gain[2], velocity_change_dot_velocity = 0.0,
                                                      squared_velocity_change = 0.0;
    for (int k = 0; k < 2; k++) {
        tact_pair_velocity_at_arm(q->twist[k], t->arm[k], v[k]);
        tact_pair_velocity_rate(t->twist[k], q->rate[k], t->arm[k], t->place[k], rate[k]);
    }
    tact_v3_sub(v[0], v[0], v[1]);
    tact_v3_sub(rate[0], rate[0], rate[1]);
    if (t->does_contact_move_over_both_bodies) {
        patch->target_velocity[0] =
            -half * (tact_v3_dot(n, rate[0]) + tact_v3_dot(t->contact_normal_rate, v[0]));
    }
    for (int i = 0; i < 2; i++) {
        gain[i] = half * tact_v3_dot(n + 3 + 3 * i, rate[0]);
        velocity_change_dot_velocity += gain[i] * tact_v3_dot(n + 3 + 3 * i, v[0]);
        squared_velocity_change += gain[i] * gain[i];
    }
    double used_fraction_of_tangential_change = dissipative_fraction_of_change(
        velocity_change_dot_velocity, squared_velocity_change, velocity_reversal_ratio_limit);
    patch->target_velocity[1] = -used_fraction_of_tangential_change * gain[0];
    patch->target_velocity[2] = -used_fraction_of_tangential_change * gain[1];
    tact_v3_sub(w, t->twist[0] + 3, t->twist[1] + 3);
    tact_v3_sub(dw, q->rate[0] + 3, q->rate[1] + 3);
    double spin = half * (tact_v3_dot(n, dw) + tact_v3_dot(t->contact_normal_rate, w));
    tact_v3_sub(w, q->twist[0] + 3, q->twist[1] + 3);
    double dissipative_spin_change_fraction = dissipative_fraction_of_change(
        spin * tact_v3_dot(n, w), spin * spin, velocity_reversal_ratio_limit);
    patch->target_velocity[3] = -dissipative_spin_change_fraction * spin;
    q->counts[TACT_COUNT_TERM_LIMITED] +=
        used_fraction_of_tangential_change < 1.0 || dissipative_spin_change_fraction < 1.0;
}

/* Predicts the twists after this tick's solve: they change as in the last tick, where the pair was
 * pressed and its rotation is steady. */
static void extrapolate_shape_twists(const struct tact_pair_query *q, double twist[2][6])
{
    double *state = q->state + TACT_NEAREST_STATE;
    int are_body_rotations_steady = tact_pair_is_rotation_steady(q->twist[0], state) &&
                                    tact_pair_is_rotation_steady(q->twist[1], state + 6);
    for (int i = 0; i < 12; i++) {
        double now = q->twist[i / 6][i % 6];
        twist[i / 6][i % 6] = are_body_rotations_steady ? now + (now - state[i]) : now;
        state[i] = now;
    }
}

/* Finds how the contact point moves over both surfaces. -EDOM where that cannot be predicted. */
static int find_moving_contact_point(const struct tact_pair_query *q,
                                     const struct tact_convex_core *const core[2],
                                     const struct tact_separation *sep,
                                     const struct tact_patch *patch,
                                     struct contact_point_with_motion *t)
{
    const struct tact_pose *pose[2] = {q->pose_a, q->pose_b};
    struct tact_surface_contact contact = {.nearest_points_and_normal_of_cores = sep,
                                           .gap = patch->gap[0]};
    struct tact_surface_motion relative_surface_motion;
    for (int k = 0; k < 2; k++) {
        contact.core[k] = core[k];
        tact_v3_sub(contact.arm[k], patch->center, pose[k]->position);
        tact_v3_axpy(contact.arm[k], (k ? -0.5 : 0.5) * patch->gap[0], sep->normal);
    }
    extrapolate_shape_twists(q, t->twist);
    if (tact_surface_motion_find(&contact, (const double(*)[6])t->twist,
                                 MAX_SURFACE_TURN_PER_TICK / q->options->period,
                                 &relative_surface_motion)) {
        return -EDOM;
    }
    memcpy(t->arm, contact.arm, sizeof t->arm);
    memcpy(t->place, relative_surface_motion.point, sizeof t->place);
    tact_v3_copy(t->contact_normal_rate, relative_surface_motion.normal);
    return 0;
}

void tact_features_set_second_order_term(const struct tact_pair_query *q,
                                         const struct tact_convex_core *a,
                                         const struct tact_convex_core *b,
                                         const struct tact_separation *sep,
                                         const enum tact_feature feature[2],
                                         struct tact_patch *patch)
{
    const struct tact_convex_core *core[2] = {a, b};
    struct contact_point_with_motion t;
    t.body_of_fixed_point = feature[0] == TACT_FEATURE_FACE && feature[1] != TACT_FEATURE_FACE;
    int is_contact_point_fixed_in_body =
        is_contact_fixed_in_body(core, feature, t.body_of_fixed_point);
    int has_second_order_term =
        q->pressed > 0.0 && (is_contact_point_fixed_in_body || !patch->corners);
    int does_contact_normal_rotate_too_far =
        has_second_order_term && does_normal_rotate_too_far_in_tick(q);
    t.does_contact_move_over_both_bodies = !is_contact_point_fixed_in_body;
    if (is_contact_point_fixed_in_body || !has_second_order_term ||
        does_contact_normal_rotate_too_far) {
        tact_features_clear_last_twists(q->state);
    }
    if (!has_second_order_term) {
        return;
    }
    if (does_contact_normal_rotate_too_far ||
        (!is_contact_point_fixed_in_body && find_moving_contact_point(q, core, sep, patch, &t))) {
        q->counts[TACT_COUNT_CONFORMING]++;
        return;
    }
    if (is_contact_point_fixed_in_body) {
        find_contact_point_fixed_in_body(q, core[t.body_of_fixed_point], patch, &t);
    }
    set_second_order_target_velocity(q, &t, patch);
}
