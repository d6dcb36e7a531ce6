/*
 * Couplings: joints that are tied to what a person holds (Colgate, Stanley and Brown 1995). Target
 * and target rate of the joint from the inputs, without a jump when a device comes or returns, and
 * the energy of the port. Real-time safe but for tact_session_create_couplings().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/world/hand_internal.h"
#include "rt/low_pass_internal.h"
#include "rt/passivity.h"
#include "rt/passivity_internal.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/admittance_internal.h"
#include "rt/session/session_internal.h"

/* time constant with which the target offset decays after engagement [s] */
#define ENGAGEMENT_OFFSET_TIME_CONSTANT 0.3
/* a rotation vector has jumped if it changes by more than its rotation plus this angle [rad] */
#define ROTATION_VECTOR_JUMP_ANGLE 3.0
#define ZERO_TARGET_OFFSET_THRESHOLD 1e-12 /* target offset below which it counts as 0 [rad, m] */

static void assign_coupling_to_joints(struct tact_session *s, uint32_t hand, uint32_t link)
{
    const struct tact_scene_joint *joint = &s->scene->hands[hand].links[link].joint;
    s->couplings[s->coupling_count++] = (struct session_coupling){
        .hand = (int)hand,
        .link = (int)link,
        .is_rotation = link < tact_scene_base_links(&s->scene->hands[hand]) && link >= 3,
        .alpha = tact_low_pass_weight(joint->coupling->filter, s->period),
        .target_offset_decay = -tact_expm1(-s->period / ENGAGEMENT_OFFSET_TIME_CONSTANT),
        .device_force_ratio = 1.0,
        .state = {.target = joint->start}};
}

int tact_session_create_couplings(struct tact_session *s)
{
    const struct tact_scene *scene = s->scene;
    size_t count = 1;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        count += scene->hands[i].links_count;
    }
    s->couplings = calloc(count, sizeof *s->couplings);
    if (!s->couplings) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; k < scene->hands[i].links_count; k++) {
            if (scene->hands[i].links[k].joint.coupling) {
                assign_coupling_to_joints(s, i, k);
            }
        }
    }
    return 0;
}

struct session_coupling *tact_session_find_coupling(struct tact_session *s, int hand, int link)
{
    for (int i = 0; i < s->coupling_count; i++) {
        if (s->couplings[i].hand == hand && s->couplings[i].link == link) {
            return &s->couplings[i];
        }
    }
    return NULL;
}

/* 1 where a device that moves the joint is in the given state. */
static int is_joint_device_in_state(const struct tact_session *s, const struct session_coupling *c,
                                    int state)
{
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (in->hand == c->hand && in->link == c->link &&
            s->devices[in->device].input.state == state) {
            return 1;
        }
    }
    return 0;
}

/* Sum of the inputs by which the port of a coupled joint moves, without their clamps. */
static double sum_inputs_of_port(const struct tact_session *s, const struct session_coupling *c)
{
    double sum = 0.0;
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (tact_session_is_input_of_port(c, in)) {
            sum += in->offset + in->scale * s->devices[in->device].input.channel[in->channel];
        }
    }
    return sum;
}

static void filter_target_rate(const struct tact_session *s, struct session_coupling *c, double raw,
                               double now)
{
    struct session_coupling_state *state = &c->state;
    const double time = (now - state->ticks) * s->period;
    const double displacement = raw - state->input_sum;
    c->device_displacement =
        c->port.has_own_input_sum ? sum_inputs_of_port(s, c) - c->port.input_sum : displacement;
    state->rate += c->alpha * (displacement / time - state->rate);
}

/* 1 where a device of the coupling has had no new values for longer than its target may be kept. */
static int is_input_gap_too_long(const struct tact_session *s, const struct session_coupling *c,
                                 double now)
{
    return !s->precedes_results_35 &&
           now - c->state.ticks > fmax(1.0, MAX_DEVICE_INPUT_GAP / s->period) &&
           is_joint_device_in_state(s, c, TACT_DEVICE_STALE);
}

/* Sets target and target rate of a coupled joint. are_inputs_valid: the target is the sum of its
 * inputs; otherwise it stays where it was. */
static void set_coupled_target(struct tact_session *s, struct session_coupling *c, double now,
                               int are_inputs_valid)
{
    struct session_coupling_state *state = &c->state;
    struct tact_hand_state hand = tact_hand_state(tact_world_hand(s->world, c->hand));
    const double raw = hand.target[c->link], before = state->offset;
    double rate = 0.0;
    c->device_displacement = 0.0;
    c->is_device_silent = is_input_gap_too_long(s, c, now);
    if (!are_inputs_valid || c->is_device_silent ||
        is_joint_device_in_state(s, c, TACT_DEVICE_LOST)) {
        state->ticks = state->rate = 0.0;
        hand.target[c->link] = state->target;
    } else if (!is_joint_device_in_state(s, c, TACT_DEVICE_STALE)) {
        if (state->ticks > 0.0) {
            filter_target_rate(s, c, raw, now);
            state->offset = fabs(before) > ZERO_TARGET_OFFSET_THRESHOLD
                                ? before - c->target_offset_decay * before
                                : 0.0;
            rate = state->rate + (state->offset - before) / s->period;
        } else { /* on engagement the target starts where it was */
            state->offset = state->target - raw;
        }
        state->input_sum = raw;
        c->port.input_sum = c->port.has_own_input_sum ? sum_inputs_of_port(s, c) : 0.0;
        state->ticks = now;
        hand.target[c->link] = state->target = raw + state->offset;
    } else {
        hand.target[c->link] = state->target;
    }
    hand.target_rate[c->link] = rate;
}

/* Motion of a base's attitude is the rotation between its two attitudes, not the difference of
 * their rotation vectors. A vector that changes its sign at half a turn has no rate in that tick.
 */
static void measure_base_rotation(const struct tact_session *s, struct session_coupling *c)
{
    double previous_rotation_vector[3], current_rotation_vector[3], from[4], to[4], rotation[4],
        rotation_vector[3];
    for (int i = 0; i < 3; i++) {
        if (c[i].device_displacement == 0.0 && c[i].state.ticks == 0.0) {
            return;
        }
        previous_rotation_vector[i] = c[i].state.input_sum - c[i].device_displacement;
        current_rotation_vector[i] = c[i].state.input_sum;
    }
    tact_quat_from_rotvec(from, previous_rotation_vector);
    tact_quat_from_rotvec(to, current_rotation_vector);
    for (int i = 1; i < 4; i++) {
        from[i] = -from[i];
    }
    tact_quat_mul(rotation, to, from);
    tact_quat_to_rotvec(rotation_vector, rotation);
    tact_v3_sub(previous_rotation_vector, current_rotation_vector, previous_rotation_vector);
    const int is_rotation_vector_flip =
        tact_v3_norm(previous_rotation_vector) - tact_v3_norm(rotation_vector) >
        ROTATION_VECTOR_JUMP_ANGLE;
    for (int i = 0; i < 3; i++) {
        c[i].device_displacement = rotation_vector[i];
        if (is_rotation_vector_flip) {
            c[i].state.rate = 0.0;
            tact_hand_state(tact_world_hand(s->world, c[i].hand)).target_rate[c[i].link] = 0.0;
        }
    }
}

void tact_session_set_coupled_targets(struct tact_session *s, uint64_t tick, int are_inputs_valid)
{
    for (int i = 0; i < s->coupling_count; i++) {
        if (!s->couplings[i].tool) {
            set_coupled_target(s, &s->couplings[i], (double)tick + 1.0, are_inputs_valid);
        }
    }
    for (int i = 0, count; i < s->coupling_count; i += count) {
        count = tact_session_coupling_group_size(s, i);
        if (s->couplings[i].is_rotation && !s->couplings[i].tool) {
            measure_base_rotation(s, &s->couplings[i]);
        }
        tact_session_add_port_work(&s->couplings[i], count);
    }
}

static int is_hand_in_contact(const struct tact_session *s, int hand)
{
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        const struct tact_contact *c = tact_world_contact(s->world, near[i]);
        const int shapes[2] = {c->a, c->b};
        for (int k = 0; c->touching && k < 2; k++) {
            const struct tact_owner owner = tact_world_owner(s->world, shapes[k]);
            if (owner.kind == TACT_OWNER_HAND && owner.index == hand) {
                return 1;
            }
        }
    }
    return 0;
}

/* Sets the energy absorbed by a port whose hand does not touch to 0. Energy that the port generated
 * counts on, until the damper has dissipated it. */
static void reset_absorbed_energy_of_port(const struct tact_session *s, struct session_coupling *c)
{
    struct session_port_delay *delay = &c->port.delay;
    double *energy = &c->state.energy_absorbed_since_contact;
    const int is_coupled_hand_in_contact = is_hand_in_contact(s, c->hand);
    if (s->precedes_results_39) {
        *energy = is_coupled_hand_in_contact ? *energy : 0.0;
        return;
    }
    delay->ticks_without_contact =
        is_coupled_hand_in_contact ? 0.0 : fmin(delay->ticks_without_contact, delay->count) + 1.0;
    *energy = delay->ticks_without_contact > delay->count ? fmin(0.0, *energy) : *energy;
}

/* Energy that the ports of a group have absorbed since contact. Through the matrices of a base its
 * two ports exchange energy: theirs is one, which the position's has. */
static double update_energy_since_contact(const struct tact_session *s, struct session_coupling *c)
{
    if (!tact_scene_file_base_with_matrices(&s->scene->hands[c->hand]) ||
        c->link >= s->hands[c->hand].base_coordinate_count) {
        reset_absorbed_energy_of_port(s, c);
        return c->state.energy_absorbed_since_contact;
    }
    struct session_coupling *first = c - c->link;
    first->state.energy_absorbed_since_contact += first[3].state.energy_absorbed_since_contact;
    first[3].state.energy_absorbed_since_contact = 0.0;
    const int is_energy_damped_in_attitude_only =
        first->port.bound_stiffness > 0.0 || !(first->port.max_damping > 0.0);
    if (c == first || is_energy_damped_in_attitude_only) {
        reset_absorbed_energy_of_port(s, first);
    }
    return first->state.energy_absorbed_since_contact;
}

/* Adds the damping that dissipates the energy generated by the ports of a group in contact. */
static int damp_energy_generated_at_port(const struct tact_session *s, struct session_coupling *c,
                                         int n, double *force)
{
    double rate[3];
    const double energy = update_energy_since_contact(s, c);
    for (int i = 0; i < n; i++) {
        rate[i] = c[i].device_displacement / s->period;
    }
    return tact_passivity_damp(force, rate, n, energy, s->period, c->port.max_damping) > 0.0;
}

static void rotate_into_device_axes(double out[3], const struct session_tool *tool,
                                    const double v[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = tool->axes[i] * v[0] + tool->axes[3 + i] * v[1] + tool->axes[6 + i] * v[2];
    }
}

/* Bounds the force along the axes of a tool's device, each of which has its own energy bound. */
static double bound_force_along_device_axes(const struct session_tool *tool, double *force,
                                            const double *last, const double *displacement,
                                            const double *bound_stiffness)
{
    double f[3], l[3], m[3];
    rotate_into_device_axes(f, tool, force);
    rotate_into_device_axes(l, tool, last);
    rotate_into_device_axes(m, tool, displacement);
    const double factor = tact_passivity_bound_axes(f, l, m, 3, bound_stiffness);
    tact_v3_scale(force, force, factor);
    return factor;
}

/* Torques of a group of n couplings at their targets. With matrices of a base, force and torque act
 * at the base and are converted to those at the target. Stiffness about axes that do not rotate
 * with the base adds the moment on these axes. */
static void compute_coupling_torque_at_target(const struct tact_session *s,
                                              const struct session_coupling *c, int n,
                                              double torque[3])
{
    struct tact_hand *world_hand = tact_world_hand(s->world, c->hand);
    const struct tact_hand_state hand = tact_hand_state(world_hand);
    double arm[3], moment[3];
    memcpy(torque, hand.torque + c->link, (size_t)n * sizeof *torque);
    if (c->is_rotation && tact_scene_file_base_with_matrices(&s->scene->hands[c->hand])) {
        tact_v3_sub(arm, hand.target, hand.q);
        tact_v3_cross(moment, arm, hand.torque);
        tact_v3_axpy(torque, -1.0, moment);
    } else if (c->is_rotation && tact_hand_base_axes_moment(world_hand)) {
        tact_v3_axpy(torque, 1.0, tact_hand_base_axes_moment(world_hand));
    }
}

/* Computes the forces on the person of a group of n couplings as one vector; passivity is ensured
 * for the device. */
static void render_coupling_force(struct tact_session *s, struct session_coupling *c, int n)
{
    double torque[3], force[3], last[3], displacement[3], bound_stiffness[3];
    int limited = 0;
    compute_coupling_torque_at_target(s, c, n, torque);
    for (int i = 0; i < n; i++) {
        force[i] =
            -(torque[i] - c[i].torque_from_other_site) * c[i].outputs * c[i].device_force_ratio;
        last[i] = c[i].state.force;
        displacement[i] = c[i].device_displacement;
        bound_stiffness[i] = c[i].port.bound_stiffness;
    }
    if (c->port.bound_stiffness > 0.0) {
        const int are_axis_energy_bounds_unequal =
            n == 3 && c->tool &&
            (bound_stiffness[1] != bound_stiffness[0] || bound_stiffness[2] != bound_stiffness[0]);
        limited =
            (are_axis_energy_bounds_unequal
                 ? bound_force_along_device_axes(c->tool, force, last, displacement,
                                                 bound_stiffness)
                 : tact_passivity_bound_axes(force, last, displacement, n, bound_stiffness)) < 1.0;
    } else if (c->port.max_damping > 0.0) {
        limited = damp_energy_generated_at_port(s, c, n, force);
    }
    for (int i = 0; i < n; i++) {
        c[i].requested_force_on_person = limited && c[i].outputs
                                             ? force[i] / (c[i].outputs * c[i].device_force_ratio)
                                             : -(torque[i] - c[i].torque_from_other_site);
    }
    c->state.limited += limited;
}

void tact_session_compute_person_forces(struct tact_session *s)
{
    for (int i = 0, count; i < s->coupling_count; i += count) {
        count = tact_session_coupling_group_size(s, i);
        render_coupling_force(s, &s->couplings[i], count);
    }
}

int tact_session_coupling_group_size(const struct tact_session *s, int index)
{
    const struct session_coupling *c = &s->couplings[index];
    return c->link < s->hands[c->hand].base_coordinate_count ? 3 : 1;
}

const char *tact_session_coupling_group_name(const struct tact_session *s, int index)
{
    const struct session_coupling *c = &s->couplings[index];
    const struct session_hand *hand = &s->hands[c->hand];
    return c->link < hand->base_coordinate_count ? hand->port_names[c->is_rotation]
                                                 : hand->joint_names[c->link];
}

int tact_session_port_count(const struct tact_session *session)
{
    int port_count_of_couplings = 0;
    for (int i = 0; i < session->coupling_count;
         i += tact_session_coupling_group_size(session, i)) {
        port_count_of_couplings++;
    }
    return port_count_of_couplings + session->admittance_count + session->drive_port_count;
}

static struct tact_session_port get_drive_port(const struct session_drive_port *p)
{
    return (struct tact_session_port){.name = p->name,
                                      .engaged = p->state.ticks > 0.0,
                                      .components = 1,
                                      .force = {p->state.force},
                                      .energy = p->state.energy,
                                      .least_energy = p->state.least_energy};
}

struct tact_session_port tact_session_port(const struct tact_session *session, int index)
{
    int first = 0;
    for (; index > 0 && first < session->coupling_count; index--) {
        first += tact_session_coupling_group_size(session, first);
    }
    if (first == session->coupling_count && index >= session->admittance_count) {
        return get_drive_port(&session->drive_ports[index - session->admittance_count]);
    }
    if (first == session->coupling_count) {
        return tact_session_admittance_port(session, &session->admittances[index]);
    }
    const struct session_coupling *c = &session->couplings[first];
    const int count = tact_session_coupling_group_size(session, first);
    struct tact_session_port port = {.name = tact_session_coupling_group_name(session, first),
                                     .engaged = 1,
                                     .components = count,
                                     .energy = c->state.energy,
                                     .least_energy = c->state.least_energy,
                                     .limited = (uint64_t)c->state.limited};
    for (int i = 0; i < count; i++) {
        port.engaged &= c[i].state.ticks > 0.0;
        port.force[i] = c[i].state.force;
    }
    return port;
}
