/*
 * Ties by waves (Niemeyer and Slotine 1991), with F the force of the tie on the joint and v the
 * rate of the line's end:
 *
 *     b v + F = sqrt(2 b) u_in,    u_out = (b v - F) / sqrt(2 b)
 *     F = K (x + h (v + c) - q') + D (v + c - v')       with a coupling, implicit as all drives
 *
 * Eliminating v leaves a drive of stiffness s K and damping s D toward x, with the target rate
 * Z / D (c + sqrt(2 / b) u_in), where Z = h K + D, s = b / (b + Z), and c the correction of the
 * position. Without a coupling the joint is the end of the line, F = sqrt(2 b) u_in - b v'.
 *
 * Silence. A robot's end without a wave is held: it reflects its own force, u_in = F / sqrt(2 b), a
 * spring of b / h in series with K, and its motion stops with robot_stopping_time. What the person
 * feels fades, and the hand moves on by it. Waves of that hand would take the force off the robot,
 * whose end relaxes with b / K. So a person's end that lost more than max_force_loss_before_wait of
 * what is felt asks the robot's to stay, and feels the force that the robot states, F_robot, rising
 * from what it feels then: u_in = -F_robot / sqrt(2 b). Once that is felt in full the hand is where
 * it was, its wave is the one by which the robot's end already stands, and the line carries waves
 * again. Until the first of the robot's returns, a round trip of 2 d later, the person's end keeps
 * that u_in: it puts at most F^2 d / (2 b) into the line, which is what a line under that force
 * contains and the silence took from it.
 *
 * The robot's end takes a share of the wave that rises from 0, after it was held for so long, and
 * of its own force the rest. What the latter adds to the energy that arrived is taken from the
 * tank, or off the wave that it sends.
 */
#include <math.h>
#include "contact/vec.h"
#include "rt/session/remote_internal.h"

/* time constant with which a robot's end that is held stops [s]: at once, it would jerk what the
 * robot carries */
static const double robot_stopping_time = 0.02;
/* fraction of the force that a person feels; where a gap in the waves takes more of it, the robot's
 * end is to stay until the force is felt again: 20 ms of TACT_SESSION_FORCE_RAMP_TIME. Over a poor
 * link of 50 ms a grip of 4.6 N is at least 3.2 N in an hour with 50 ms, 3.7 N with 20 ms and 2.8 N
 * with 10 ms (seed 5 of test network_ruler). */
static const double max_force_loss_before_wait = 0.1;
/* rate at which a line under the smallest force that is restored in this way would move [m/s,
 * rad/s]
 */
static const double min_force_over_impedance = 1e-3;
/* difference, relative to that force, up to which a wave is in balance with the robot's end, and
 * the longest wait for it once the force is felt in full [s]: a hand that moves by itself is not in
 * balance */
static const double max_relative_force_unbalance = 0.02, max_robot_wait_time = 0.3;

static int is_person_end(const struct session_remote *r)
{
    return r->def->stiffness == 0.0;
}

double tact_session_faded_force_fraction(const struct tact_session *s,
                                         const struct session_remote *r)
{
    /* a robot's end that is held uses no wave, so that nothing has to fade */
    if (r->mode == REMOTE_WAVES && !is_person_end(r)) {
        return 0.0;
    }
    return fmax(0.0, r->state.force_fraction - s->period / TACT_SESSION_FORCE_RAMP_TIME);
}

double tact_session_rate_to_fade_force(const struct tact_session *s, const struct session_remote *r,
                                       double joint_rate)
{
    const double faded_force_fraction = r->state.force_fraction,
                 previous_force_ramp_fraction =
                     faded_force_fraction + s->period / TACT_SESSION_FORCE_RAMP_TIME;
    return joint_rate +
           faded_force_fraction / previous_force_ramp_fraction * r->state.force / r->damping;
}

void tact_session_set_arrived_wave_kind(const struct tact_session *s, struct session_remote *r)
{
    r->arrived_wave_kind =
        r->mode == REMOTE_WAVES ? tact_session_arrived_wave_kind(s, r) : TACT_WAVE_KIND_WITH_ENERGY;
}

/* 1 where no wave arrived at this site, or at the other one: the force that a person feels fades
 * then. */
static int has_no_arrived_wave(const struct session_remote *r)
{
    return r->arrived_wave_kind == TACT_WAVE_KIND_MISSING ||
           r->arrived_wave_kind == TACT_WAVE_KIND_STOPPED;
}

/* Whether the robot's end is under a force that the person would feel and that is not the drag of a
 * hand in motion, which would stop for a round trip. */
static int is_robot_end_loaded(const struct tact_session *s, const struct session_remote *r)
{
    double squared_force_of_tie_vector = 0.0, squared_joint_rate = 0.0;
    for (int k = 0; k < r->vector_tie_count; k++) {
        const struct session_remote *part = r->ties_of_vector[k];
        const double force = tact_session_remote_inputs(s, r)[part->in.force];
        const double rate = tact_hand_state(tact_world_hand(s->world, part->hand)).v[part->link];
        squared_force_of_tie_vector += force * force;
        squared_joint_rate += rate * rate;
    }
    const double min_force_of_loaded_line =
        r->def->impedance * fmax(min_force_over_impedance, 2.0 * sqrt(squared_joint_rate));
    return sqrt(squared_force_of_tie_vector) > min_force_of_loaded_line;
}

/* Whether the outgoing wave balances the force at the robot's end, which then stays where it is. */
static int is_robot_end_balanced(const struct tact_session *s, const struct session_remote *r)
{
    double squared_force_of_tie_vector = 0.0, squared_force_unbalance = 0.0;
    for (int k = 0; k < r->vector_tie_count; k++) {
        const struct session_remote *part = r->ties_of_vector[k];
        const double b = r->def->impedance,
                     force = tact_session_remote_inputs(s, r)[part->in.force];
        const double rate = tact_wave_line_end_rate(b, part->state.used_wave, part->state.force);
        const double wave = tact_wave_outgoing(b, rate, part->state.force);
        const double force_unbalance_of_tie = sqrt(2.0 * b) * wave - force;
        squared_force_of_tie_vector += force * force;
        squared_force_unbalance += force_unbalance_of_tie * force_unbalance_of_tie;
    }
    return squared_force_unbalance <= max_relative_force_unbalance * max_relative_force_unbalance *
                                          squared_force_of_tie_vector;
}

static void update_robot_wait_time(const struct tact_session *s, struct session_remote *r)
{
    struct session_remote_state *state = &r->state;
    if (state->ticks <= 0.0) { /* has just engaged */
        state->robot_wait_time = is_robot_end_loaded(s, r) ? max_robot_wait_time : 0.0;
    } else if (has_no_arrived_wave(r) && state->force_fraction < 1.0 - max_force_loss_before_wait) {
        state->robot_wait_time =
            is_robot_end_loaded(s, r) ? max_robot_wait_time : state->robot_wait_time;
    } else if (state->robot_wait_time > 0.0 && state->force_fraction == 1.0) {
        state->robot_wait_time =
            is_robot_end_balanced(s, r) ? 0.0 : fmax(0.0, state->robot_wait_time - s->period);
    }
}

/* The robot's force as a wave of its end at rest. */
static double compute_wave_of_robot_force(const struct tact_session *s,
                                          const struct session_remote *r)
{
    return -tact_session_remote_inputs(s, r)[r->in.force] / sqrt(2.0 * r->def->impedance);
}

/* Fraction of the force that the robot states which is the force felt so far; of a vector the one
 * whose force is the nearest. The fading force contains the damper's on the hand's acceleration, so
 * that its own fraction would be a jump. */
static double compute_fraction_of_present_force(const struct tact_session *s,
                                                const struct session_remote *r)
{
    double product = 0.0, square = 0.0;
    for (int k = 0; k < r->vector_tie_count; k++) {
        const struct session_remote *part = r->ties_of_vector[k];
        const double joint_rate =
            tact_hand_state(tact_world_hand(s->world, part->hand)).v[part->link];
        const double rate = tact_wave_line_end_rate(part->def->impedance,
                                                    compute_wave_of_robot_force(s, part), 0.0);
        const double full_force = part->damping * (rate - joint_rate);
        product += full_force * part->state.force;
        square += full_force * full_force;
    }
    return square > 0.0 ? fmin(fmax(product / square, 0.0), 1.0) : r->state.force_fraction;
}

static void update_force_fraction_at_person(const struct tact_session *s, struct session_remote *r)
{
    struct session_remote_state *state = &r->state;
    update_robot_wait_time(s, r);
    if (r->arrived_wave_kind == TACT_WAVE_KIND_WAITING && state->used_wave == 0.0) {
        state->force_fraction = compute_fraction_of_present_force(s, r); /* it begins to be felt */
    }
    state->force_fraction =
        has_no_arrived_wave(r)
            ? tact_session_faded_force_fraction(s, r)
            : fmin(1.0, state->force_fraction + s->period / TACT_SESSION_FORCE_RAMP_TIME);
}

static void update_force_fraction_at_robot(const struct tact_session *s, struct session_remote *r)
{
    struct session_remote_state *state = &r->state;
    if (r->arrived_wave_kind == TACT_WAVE_KIND_REQUEST_TO_WAIT) {
        state->force_fraction = 0.0;
    } else if (!has_no_arrived_wave(r)) {
        if (state->must_zero_position_offset > 0.0) {
            tact_session_zero_position_offset(s, r);
            state->must_zero_position_offset = 0.0;
        }
        state->force_fraction =
            fmin(1.0, state->force_fraction + s->period / TACT_SESSION_FORCE_RAMP_TIME);
    }
}

void tact_session_update_force_fraction(const struct tact_session *s, struct session_remote *r)
{
    if (is_person_end(r)) {
        update_force_fraction_at_person(s, r);
    } else {
        update_force_fraction_at_robot(s, r);
    }
}

void tact_session_zero_position_offset(const struct tact_session *s, struct session_remote *r)
{
    r->state.other_site_position = tact_session_remote_inputs(s, r)[r->in.position];
    r->state.offset = tact_session_offset_to_keep_line_end(s, r);
    r->state.rate = 0.0;
}

/* The wave that arrived or, at a person whose robot's end stays by request, the wave of the robot's
 * force.
 */
static double read_incoming_wave(const struct tact_session *s, const struct session_remote *r)
{
    const double *in = tact_session_remote_inputs(s, r);
    const double wave = in[r->in.wave];
    if (r->state.ticks <= 0.0) {
        return 0.0;
    }
    if (r->arrived_wave_kind == TACT_WAVE_KIND_WAITING && is_person_end(r)) {
        return compute_wave_of_robot_force(s, r);
    }
    return tact_wave_has_energy(wave) ? wave : 0.0;
}

/* Wave of a robot's end that is held: it reflects the end's own force, and lets its motion decay
 * where the tank covers the work. */
static double compute_wave_of_held_robot_end(const struct tact_session *s, struct session_remote *r)
{
    struct session_remote_state *state = &r->state;
    const double b = r->def->impedance, reflected_force_wave = state->force / sqrt(2.0 * b);
    const double rate = robot_stopping_time / (robot_stopping_time + s->period) *
                        tact_wave_line_end_rate(b, state->used_wave, state->force);
    const double work = fmax(0.0, s->period * rate * state->force);
    if (work > state->remaining_tank_energy) {
        return reflected_force_wave;
    }
    state->remaining_tank_energy -= work;
    return reflected_force_wave + b * rate / sqrt(2.0 * b);
}

/* Correction of the position by a robot's end; of a vector the length is limited. */
static double compute_line_end_correction(const struct tact_session *s,
                                          const struct session_remote *r, double round_trip)
{
    double rate[3] = {0.0};
    for (int k = 0; k < r->vector_tie_count; k++) {
        const struct session_remote *part = r->ties_of_vector[k];
        rate[k] = tact_wave_line_end_return_rate(&part->wave_tie, round_trip,
                                                 tact_session_line_end_position_error(s, part),
                                                 part->state.force);
    }
    const double length = r->vector_tie_count > 1 ? tact_v3_norm(rate) : fabs(rate[0]);
    return tact_wave_position_correction(&r->wave_tie, r->state.remaining_tank_energy,
                                         rate[r->tie_index_in_vector], length, r->state.force);
}

/* A person's end: the force fades out, and so does the damper. */
static void update_tie_target_at_person(const struct tact_session *s, struct session_remote *r,
                                        double wave, double joint_rate)
{
    struct session_remote_state *state = &r->state;
    r->is_line_end_held = state->ticks <= 0.0 || has_no_arrived_wave(r);
    state->used_wave = state->force_fraction * wave;
    state->rate = r->is_line_end_held
                      ? tact_session_rate_to_fade_force(s, r, joint_rate)
                      : tact_wave_line_end_rate(r->def->impedance, state->used_wave, 0.0) +
                            (1.0 - state->force_fraction) * joint_rate;
}

static void update_tie_target_at_robot(const struct tact_session *s, struct session_remote *r,
                                       double wave)
{
    struct session_remote_state *state = &r->state;
    const struct tact_scene_remote *def = r->def;
    const double b = def->impedance,
                 round_trip = tact_session_remote_inputs(s, r)[r->in.round_trip];
    r->is_line_end_held = state->ticks <= 0.0 || has_no_arrived_wave(r) ||
                          r->arrived_wave_kind == TACT_WAVE_KIND_REQUEST_TO_WAIT;
    const double wave_ramp_fraction = state->force_fraction,
                 error = tact_session_line_end_position_error(s, r);
    state->used_wave =
        r->is_line_end_held
            ? compute_wave_of_held_robot_end(s, r)
            : wave_ramp_fraction * tact_wave_attenuate_incoming(&r->wave_tie, round_trip, error,
                                                                wave, state->force) +
                  (1.0 - wave_ramp_fraction) * state->force / sqrt(2.0 * b);
    r->squared_wave_added_at_robot = fmax(0.0, state->used_wave * state->used_wave - wave * wave);
    if (!r->is_line_end_held) {
        state->line_end_correction_rate =
            wave_ramp_fraction * compute_line_end_correction(s, r, round_trip);
    }
    state->rate =
        (s->period * def->stiffness + def->damping) / def->damping *
        (state->line_end_correction_rate + tact_wave_line_end_rate(b, state->used_wave, 0.0));
}

void tact_session_update_target_from_wave(const struct tact_session *s, struct session_remote *r,
                                          double joint_rate)
{
    const double wave = read_incoming_wave(s, r);
    r->state.line_end_correction_rate = 0.0;
    if (is_person_end(r)) {
        update_tie_target_at_person(s, r, wave, joint_rate);
    } else {
        update_tie_target_at_robot(s, r, wave);
    }
}

/* Chooses the value without energy that is sent in place of a wave of 0: it states why there is
 * none, from which the other end decides whether to stay. */
static double choose_reserved_zero_energy_wave(const struct session_remote *r)
{
    double largest_tie_force = 0.0; /* largest force component of the vector */
    for (int k = 0; k < r->vector_tie_count; k++) {
        largest_tie_force = fmax(largest_tie_force, fabs(r->ties_of_vector[k]->state.force));
    }
    if (r->arrived_wave_kind == TACT_WAVE_KIND_REQUEST_TO_WAIT && !is_person_end(r)) {
        return TACT_WAVE_WAITING;
    }
    if (!has_no_arrived_wave(r) || largest_tie_force == 0.0) {
        return TACT_WAVE_AT_REST;
    }
    return is_person_end(r) && r->arrived_wave_kind == TACT_WAVE_KIND_MISSING ? TACT_WAVE_MISSING
                                                                              : TACT_WAVE_STOPPED;
}

/* Wave that leaves a robot's end: the tank provides the energy that its own force added to the wave
 * that arrived, or the wave is reduced by it. */
static double subtract_added_energy_from_tank(struct session_remote *r, double wave)
{
    const double energy = 0.5 * r->wave_tie.period * r->squared_wave_added_at_robot,
                 wave_square = wave * wave;
    if (energy <= r->state.remaining_tank_energy) {
        r->state.remaining_tank_energy -= energy;
        return wave;
    }
    return wave_square > r->squared_wave_added_at_robot
               ? wave * sqrt(1.0 - r->squared_wave_added_at_robot / wave_square)
               : 0.0;
}

/* Whether a robot's end that is held sends a wave: otherwise each end would wait for the other
 * one's wave for ever. The tank provides the energy. */
static int must_held_robot_end_send_wave(const struct session_remote *r)
{
    return !is_person_end(r) && r->state.ticks > 0.0 &&
           r->arrived_wave_kind == TACT_WAVE_KIND_STOPPED &&
           0.5 * r->wave_tie.period * r->squared_wave_added_at_robot <=
               r->state.remaining_tank_energy;
}

void tact_session_compute_outgoing_wave(struct session_remote *r, double q, double v)
{
    struct session_remote_state *state = &r->state;
    const double b = r->def->impedance,
                 rate = tact_wave_line_end_rate(b, state->used_wave, state->force);
    const int is_nonzero_wave_sent = !r->is_line_end_held || must_held_robot_end_send_wave(r);
    state->sent_wave = is_nonzero_wave_sent ? tact_wave_outgoing(b, rate, state->force) : 0.0;
    if (is_person_end(r)) {
        state->target = q;
        if (state->ticks > 0.0 && state->robot_wait_time > 0.0) {
            state->sent_wave = TACT_WAVE_REQUEST_TO_WAIT;
        } else if (state->ticks > 0.0 && state->sent_wave == 0.0) {
            state->sent_wave = choose_reserved_zero_energy_wave(r);
        }
        return;
    }
    state->sent_wave =
        is_nonzero_wave_sent ? subtract_added_energy_from_tank(r, state->sent_wave) : 0.0;
    if (state->ticks > 0.0 && state->sent_wave == 0.0) {
        state->sent_wave = choose_reserved_zero_energy_wave(r);
    }
    r->line_end_rotation = 0.0;
    tact_wave_advance_line_end(&r->wave_tie, rate, state->line_end_correction_rate, state->force, v,
                               r->is_attitude_tie ? &r->line_end_rotation : &state->target,
                               &state->remaining_tank_energy);
}
