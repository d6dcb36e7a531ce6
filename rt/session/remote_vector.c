/*
 * Ties of a base that moves. Those of its position, and those of its attitude, are one tie of
 * vectors along the axes of the world, which both sites have in common: the waves of each axis are
 * those of a joint (rt/session/remote_wave.c), while a gap is one of all three. An attitude is
 * carried as the rotation vector from that at the start of its site. The end of its line turns by
 * exp(h w) and is corrected toward R_other R_offset^-1, where R_offset = R_end^-1 R_other as they
 * engage: a turn of one site is that turn of the other, however the two stand. It is corrected by
 * the shortest way; near half a turn, in the sense of the last correction. Real-time safe.
 */
#include "contact/rotvec_internal.h"
#include "contact/vec.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/remote_internal.h"

/* angle from half a turn within which the way to the other attitude keeps its sense [rad] */
static const double half_turn_direction_margin = 0.05;
static const double pi = 3.14159265358979323846;

/* Axes of the couplings of a base's position or attitude, columns in the world, where they have
 * other numbers along each: those of the device of its tool, or of the world. Else NULL. */
static const double *find_axes_of_unequal_couplings(const struct tact_session *s,
                                                    const struct session_remote *r)
{
    static const double world[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    const double *axes = world;
    for (int i = 0; i < s->tool_count; i++) {
        axes = s->tools[i].hand == r->hand ? s->tools[i].axes : axes;
    }
    return r->coupling && tact_scene_has_unequal_axes(&s->scene->hands[r->hand], r->is_attitude_tie)
               ? axes
               : NULL;
}

void tact_session_group_vector_ties(struct tact_session *s)
{
    for (int i = 0; i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        const int is_base_coordinate = r->link < s->hands[r->hand].base_coordinate_count;
        const int first = is_base_coordinate ? r->link / 3 * 3 : r->link;
        r->vector_tie_count = is_base_coordinate ? 3 : 1;
        r->tie_index_in_vector = r->link - first;
        r->is_attitude_tie = is_base_coordinate && first > 0;
        r->axes = is_base_coordinate ? find_axes_of_unequal_couplings(s, r) : NULL;
        for (int k = 0; k < s->remote_count; k++) {
            struct session_remote *candidate_tie_of_vector = &s->remotes[k];
            const int at = candidate_tie_of_vector->link - first;
            if (candidate_tie_of_vector->hand == r->hand && at >= 0 && at < r->vector_tie_count) {
                r->ties_of_vector[at] = candidate_tie_of_vector;
            }
        }
    }
}

const double *tact_session_remote_inputs(const struct tact_session *s,
                                         const struct session_remote *r)
{
    return s->devices[r->device].input.channel;
}

/* Relative rotation of rotation vectors: out = a b^-1, or with is_first_rotation_inverted a^-1 b.
 */
static void compute_relative_rotation(double out[3], const double a[3], const double b[3],
                                      int is_first_rotation_inverted)
{
    double first[4], second[4], rotation[4];
    tact_quat_from_rotvec(first, a);
    tact_quat_from_rotvec(second, b);
    double *inverse = is_first_rotation_inverted ? first : second;
    for (int i = 1; i < 4; i++) {
        inverse[i] = -inverse[i];
    }
    tact_quat_mul(rotation, first, second);
    tact_quat_normalize(rotation);
    tact_quat_to_rotvec(out, rotation);
}

double tact_session_offset_to_keep_line_end(const struct tact_session *s,
                                            const struct session_remote *r)
{
    double target[3], other_site_attitude[3], offset[3];
    if (!r->is_attitude_tie) {
        return r->state.other_site_position - r->state.target;
    }
    for (int k = 0; k < 3; k++) {
        target[k] = r->ties_of_vector[k]->state.target;
        other_site_attitude[k] =
            tact_session_remote_inputs(s, r)[r->ties_of_vector[k]->in.position];
    }
    compute_relative_rotation(offset, target, other_site_attitude, 1);
    return offset[r->tie_index_in_vector];
}

enum tact_wave_kind tact_session_arrived_wave_kind(const struct tact_session *s,
                                                   const struct session_remote *r)
{
    enum tact_wave_kind kind = TACT_WAVE_KIND_MISSING;
    for (int k = 0; k < r->vector_tie_count; k++) {
        const enum tact_wave_kind part =
            tact_wave_kind(tact_session_remote_inputs(s, r)[r->ties_of_vector[k]->in.wave]);
        kind = part > kind ? part : kind;
    }
    return kind;
}

/* Attitude of the other site that the end of the line follows. */
static void find_target_attitude(const struct tact_session *s, const struct session_remote *r,
                                 double target_attitude[3])
{
    double other_site_attitude[3], offset[3];
    for (int k = 0; k < 3; k++) {
        other_site_attitude[k] =
            tact_session_remote_inputs(s, r)[r->ties_of_vector[k]->in.position];
        offset[k] = r->ties_of_vector[k]->state.offset;
    }
    compute_relative_rotation(target_attitude, other_site_attitude, offset, 0);
}

double tact_session_line_end_position_error(const struct tact_session *s,
                                            const struct session_remote *r)
{
    double target_attitude[3], target[3], error[3], line_end_correction_rate[3];
    if (!r->is_attitude_tie) {
        return tact_session_remote_inputs(s, r)[r->in.position] - r->state.offset - r->state.target;
    }
    for (int k = 0; k < 3; k++) {
        target[k] = r->ties_of_vector[k]->state.target;
        line_end_correction_rate[k] = r->ties_of_vector[k]->state.line_end_correction_rate;
    }
    find_target_attitude(s, r, target_attitude);
    compute_relative_rotation(error, target_attitude, target, 0);
    const double angle = tact_v3_norm(error);
    if (angle > pi - half_turn_direction_margin &&
        tact_v3_dot(error, line_end_correction_rate) < 0.0) {
        tact_v3_scale(error, error, 1.0 - 2.0 * pi / angle);
    }
    return error[r->tie_index_in_vector];
}

void tact_session_track_remote_attitude(const struct tact_session *s, struct session_remote *r)
{
    double now[3], before[3], rotation_in_tick[3], target_attitude[3];
    for (int k = 0; k < 3; k++) {
        now[k] = tact_session_remote_inputs(s, r)[r->ties_of_vector[k]->in.position];
        before[k] = r->ties_of_vector[k]->state.other_site_position;
    }
    compute_relative_rotation(rotation_in_tick, now, before, 0);
    find_target_attitude(s, r, target_attitude);
    for (int k = 0; k < 3; k++) {
        struct session_remote_state *state = &r->ties_of_vector[k]->state;
        state->rate += TIE_RATE_FILTER_WEIGHT * (rotation_in_tick[k] / s->period - state->rate);
        state->other_site_position = now[k];
        state->target = target_attitude[k];
    }
}

double tact_session_tie_target_rate(const struct tact_session *s, const struct session_remote *r)
{
    double w[3], rate[3];
    if (!r->is_attitude_tie) {
        return r->state.rate;
    }
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    for (int k = 0; k < 3; k++) {
        w[k] = r->ties_of_vector[k]->state.rate;
    }
    tact_rotvec_rate(rate, hand.target + r->ties_of_vector[0]->link, w);
    return rate[r->tie_index_in_vector];
}

void tact_session_rotate_line_ends(struct tact_session *s)
{
    for (int i = 0; i < s->remote_count; i++) {
        const struct session_remote *r = &s->remotes[i];
        double line_end_rotation[3], inverse_target[3], target[3];
        if (!r->is_attitude_tie || r->tie_index_in_vector != 0 || r->mode != REMOTE_WAVES ||
            r->stiffness == 0.0) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            line_end_rotation[k] = r->ties_of_vector[k]->line_end_rotation;
            inverse_target[k] = -r->ties_of_vector[k]->state.target;
        }
        compute_relative_rotation(target, line_end_rotation, inverse_target, 0);
        for (int k = 0; k < 3; k++) {
            r->ties_of_vector[k]->state.target = target[k];
        }
    }
}

/* Replaces the target or rate of a coupling, a vector u_c, by that of coupling and tie together,
 * (K_c + k)^-1 (K_c u_c + k u_tie), with K_c along the axes of the coupling. */
static void average_coupling_and_tie(const struct tact_session *s, const struct session_remote *r,
                                     int is_rate_averaged, double coupling_target_or_rate[3],
                                     const double tie_target_or_rate[3])
{
    const struct tact_scene_hand *hand = &s->scene->hands[r->hand];
    double coupling_along_stiffness_axes[3], tie_along_axes[3];
    tact_m3_tmul_v3(coupling_along_stiffness_axes, r->axes, coupling_target_or_rate);
    tact_m3_tmul_v3(tie_along_axes, r->axes, tie_target_or_rate);
    for (int i = 0; i < 3; i++) {
        const struct tact_scene_coupling *c = hand->links[r->link + i].joint.coupling;
        const double weight = is_rate_averaged ? c->damping : c->stiffness,
                     tie_weight = is_rate_averaged ? r->damping : r->stiffness;
        coupling_along_stiffness_axes[i] =
            (weight * coupling_along_stiffness_axes[i] + tie_weight * tie_along_axes[i]) /
            (weight + tie_weight);
    }
    tact_m3_mul_v3(coupling_target_or_rate, r->axes, coupling_along_stiffness_axes);
}

void tact_session_add_tie_to_unequal_targets(const struct tact_session *s,
                                             const struct session_remote *r)
{
    double *target = tact_hand_state(tact_world_hand(s->world, r->hand)).target + r->link,
           target_of_tie[3];
    for (int k = 0; k < 3; k++) {
        target_of_tie[k] = r->ties_of_vector[k]->tick_target_of_tie;
    }
    if (r->stiffness > 0.0) {
        average_coupling_and_tie(s, r, 0, target, target_of_tie);
    }
}

void tact_session_add_tie_to_unequal_rates(const struct tact_session *s,
                                           const struct session_remote *r)
{
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    const double *target = hand.target + r->link;
    double *rate = hand.target_rate + r->link, angular_velocity[3], tie_rate[3];
    for (int k = 0; k < 3; k++) {
        tie_rate[k] = r->ties_of_vector[k]->state.rate;
    }
    if (!r->is_attitude_tie) {
        average_coupling_and_tie(s, r, 1, rate, tie_rate);
        return;
    }
    tact_rotvec_angular_velocity(angular_velocity, target, rate);
    average_coupling_and_tie(s, r, 1, angular_velocity, tie_rate);
    tact_rotvec_rate(rate, target, angular_velocity);
}
