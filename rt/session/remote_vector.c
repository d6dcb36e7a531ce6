/*
 * Ties of a base that moves. Those of its position, and those of its attitude, are one tie of
 * vectors along the axes of the world, which both sites have in common: the waves of each axis are
 * those of a joint (rt/session/remote_wave.c), while a gap is one of all three. An attitude is
 * carried as the rotation vector from that at the start of its site. The end of its line turns by
 * exp(h w) and is corrected toward R_other R_offset^-1, where R_offset = R_end^-1 R_other as they
 * engage: a turn of one site is that turn of the other, however the two stand. It is corrected by
 * the shortest way; near half a turn, in the sense of the last correction. Real-time safe.
 */
#include "contact/elementary.h"
#include "contact/vec.h"
#include "rt/session/remote_internal.h"

/* angle from half a turn within which the way to the other attitude keeps its sense [rad] */
static const double half_turn_sense_margin = 0.05;
static const double pi = 3.14159265358979323846;

void tact_session_group_vector_ties(struct tact_session *s)
{
    for (int i = 0; i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        const int of_base = r->link < s->hands[r->hand].of_base;
        const int first = of_base ? r->link / 3 * 3 : r->link;
        r->parts = of_base ? 3 : 1;
        r->component = r->link - first;
        r->turns = of_base && first > 0;
        for (int k = 0; k < s->remote_count; k++) {
            struct session_remote *other = &s->remotes[k];
            const int at = other->link - first;
            if (other->hand == r->hand && at >= 0 && at < r->parts) {
                r->part[at] = other;
            }
        }
    }
}

const double *tact_session_remote_inputs(const struct tact_session *s,
                                         const struct session_remote *r)
{
    return s->devices[r->device].input.channel;
}

/* Relative rotation of rotation vectors: out = a b^-1, or with `back` a^-1 b. */
static void relative_rotation(double out[3], const double a[3], const double b[3], int back)
{
    double first[4], second[4], turn[4];
    tact_quat_from_rotvec(first, a);
    tact_quat_from_rotvec(second, b);
    double *inverse = back ? first : second;
    for (int i = 1; i < 4; i++) {
        inverse[i] = -inverse[i];
    }
    tact_quat_mul(turn, first, second);
    tact_quat_normalize(turn);
    tact_quat_to_rotvec(out, turn);
}

double tact_session_offset_to_keep_line_end(const struct tact_session *s,
                                            const struct session_remote *r)
{
    double target[3], other[3], offset[3];
    if (!r->turns) {
        return r->state.other - r->state.target;
    }
    for (int k = 0; k < 3; k++) {
        target[k] = r->part[k]->state.target;
        other[k] = tact_session_remote_inputs(s, r)[r->part[k]->in.position];
    }
    relative_rotation(offset, target, other, 1);
    return offset[r->component];
}

enum tact_wave_kind tact_session_arrived_wave_kind(const struct tact_session *s,
                                                   const struct session_remote *r)
{
    enum tact_wave_kind kind = TACT_WAVE_KIND_MISSING;
    for (int k = 0; k < r->parts; k++) {
        const enum tact_wave_kind part =
            tact_wave_kind(tact_session_remote_inputs(s, r)[r->part[k]->in.wave]);
        kind = part > kind ? part : kind;
    }
    return kind;
}

/* Attitude of the other site that the end of the line follows. */
static void find_target_attitude(const struct tact_session *s, const struct session_remote *r,
                                 double target_attitude[3])
{
    double other[3], offset[3];
    for (int k = 0; k < 3; k++) {
        other[k] = tact_session_remote_inputs(s, r)[r->part[k]->in.position];
        offset[k] = r->part[k]->state.offset;
    }
    relative_rotation(target_attitude, other, offset, 0);
}

double tact_session_line_end_position_error(const struct tact_session *s,
                                            const struct session_remote *r)
{
    double target_attitude[3], target[3], error[3], line_end_correction_rate[3];
    if (!r->turns) {
        return tact_session_remote_inputs(s, r)[r->in.position] - r->state.offset - r->state.target;
    }
    for (int k = 0; k < 3; k++) {
        target[k] = r->part[k]->state.target;
        line_end_correction_rate[k] = r->part[k]->state.line_end_correction_rate;
    }
    find_target_attitude(s, r, target_attitude);
    relative_rotation(error, target_attitude, target, 0);
    const double angle = tact_v3_norm(error);
    if (angle > pi - half_turn_sense_margin && tact_v3_dot(error, line_end_correction_rate) < 0.0) {
        tact_v3_scale(error, error, 1.0 - 2.0 * pi / angle);
    }
    return error[r->component];
}

void tact_session_track_remote_attitude(const struct tact_session *s, struct session_remote *r)
{
    double now[3], before[3], moved[3], target_attitude[3];
    for (int k = 0; k < 3; k++) {
        now[k] = tact_session_remote_inputs(s, r)[r->part[k]->in.position];
        before[k] = r->part[k]->state.other;
    }
    relative_rotation(moved, now, before, 0);
    find_target_attitude(s, r, target_attitude);
    for (int k = 0; k < 3; k++) {
        struct session_remote_state *state = &r->part[k]->state;
        state->rate += REMOTE_RATE_FILTER_WEIGHT * (moved[k] / s->period - state->rate);
        state->other = now[k];
        state->target = target_attitude[k];
    }
}

/* Rate of the rotation vector v of an attitude that turns by w: the inverse of the left Jacobian of
 * SO(3) (Bullo and Murray 1995). */
static void rotation_vector_rate(double out[3], const double v[3], const double w[3])
{
    const double angle = tact_v3_norm(v), half = 0.5 * angle;
    double vector_cross_rate[3], vector_cross_cross_rate[3];
    tact_v3_cross(vector_cross_rate, v, w);
    tact_v3_cross(vector_cross_cross_rate, v, vector_cross_rate);
    const double share = angle > 1e-3
                             ? (1.0 - half * tact_cos(half) / tact_sin(half)) / (angle * angle)
                             : 1.0 / 12.0 + angle * angle / 720.0;
    for (int i = 0; i < 3; i++) {
        out[i] = w[i] - 0.5 * vector_cross_rate[i] + share * vector_cross_cross_rate[i];
    }
}

double tact_session_tie_target_rate(const struct tact_session *s, const struct session_remote *r)
{
    double w[3], rate[3];
    if (!r->turns) {
        return r->state.rate;
    }
    const struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, r->hand));
    for (int k = 0; k < 3; k++) {
        w[k] = r->part[k]->state.rate;
    }
    rotation_vector_rate(rate, hand.target + r->part[0]->link, w);
    return rate[r->component];
}

void tact_session_rotate_line_ends(struct tact_session *s)
{
    for (int i = 0; i < s->remote_count; i++) {
        const struct session_remote *r = &s->remotes[i];
        double line_end_rotation[3], back[3], target[3];
        if (!r->turns || r->component != 0 || r->mode != REMOTE_WAVES || r->stiffness == 0.0) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            line_end_rotation[k] = r->part[k]->line_end_rotation;
            back[k] = -r->part[k]->state.target;
        }
        relative_rotation(target, line_end_rotation, back, 0);
        for (int k = 0; k < 3; k++) {
            r->part[k]->state.target = target[k];
        }
    }
}
