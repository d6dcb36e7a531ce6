/*
 * Joints that the force of a person moves, as measured by a device that takes a speed: the force
 * over gaps in its values, and the energy of the port (the dual of a coupling's, Adams and
 * Hannaford 1999). Real-time safe but for tact_session_add_force_input().
 */
#include <math.h>
#include "rt/session/admittance_internal.h"
#include "rt/session/session_internal.h"

void tact_session_add_force_input(struct tact_session *s, struct session_input *in, double damping)
{
    in->admittance = tact_session_find_admittance(s, in->hand, in->link);
    if (!in->admittance) {
        in->admittance = &s->admittances[s->admittance_count++];
        *in->admittance =
            (struct session_admittance){.hand = in->hand, .link = in->link, .damping = damping};
    }
}

struct session_admittance *tact_session_find_admittance(const struct tact_session *s, int hand,
                                                        int link)
{
    for (int i = 0; i < s->admittance_count; i++) {
        if (s->admittances[i].hand == hand && s->admittances[i].link == link) {
            return &s->admittances[i];
        }
    }
    return NULL;
}

/* Sum of the forces on a joint whose devices have new values; *is_device_stale or *lost is set to 1
 * where a device has none. */
static double sum_new_input_forces(const struct tact_session *s, const struct session_admittance *a,
                                   int *is_device_stale, int *lost)
{
    double sum = 0.0;
    *is_device_stale = *lost = 0;
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        const int state = s->devices[in->device].input.state;
        if (in->admittance != a) {
            continue;
        }
        *is_device_stale |= state == TACT_DEVICE_STALE;
        *lost |= state == TACT_DEVICE_LOST;
        if (state != TACT_DEVICE_STALE && state != TACT_DEVICE_LOST) {
            const double force = tact_session_input_value(s, in);
            sum += isfinite(force) ? force : 0.0;
        }
    }
    return sum;
}

/* Updates the force on a joint: the last force of a stale device is used for MAX_DEVICE_INPUT_GAP,
 * then 0.
 */
static void update_admittance_force(const struct tact_session *s, struct session_admittance *a,
                                    double now)
{
    struct session_admittance_state *state = &a->state;
    const int is_force_input_gap_allowed =
        state->ticks_up_to_last_valid_input > 0.0 &&
        now - state->ticks_up_to_last_valid_input <= fmax(1.0, MAX_DEVICE_INPUT_GAP / s->period);
    int is_device_stale, lost;
    const double sum = sum_new_input_forces(s, a, &is_device_stale, &lost);
    if (is_device_stale && is_force_input_gap_allowed && !s->precedes_results_37) {
        state->held += 1.0;
        return;
    }
    state->missing += is_device_stale;
    state->ticks_up_to_last_valid_input =
        is_device_stale || lost ? state->ticks_up_to_last_valid_input : now;
    state->force = sum;
}

/* Work of the person since the last tick, at the speed that was sent then. The force is that of
 * this tick, which was read at that speed: with the one before, or the mean of both, the damper of
 * a hand would do no work in a motion that reverses in every tick, and the energy that such a
 * rattle generates would not be seen. */
static void add_work_of_persons_force(const struct tact_session *s, struct session_admittance *a,
                                      double now)
{
    struct session_admittance_state *state = &a->state;
    const double ticks = a->does_output_send_position ? 1.0 : now - state->ticks_up_to_last_input;
    const double displacement =
        state->ticks_up_to_last_input > 0.0 ? ticks * s->period * state->rate : 0.0;
    const double work = state->force * displacement;
    state->energy += isfinite(work) ? work : 0.0;
    state->least_energy = fmin(state->least_energy, state->energy);
    state->ticks_up_to_last_input = now;
}

void tact_session_apply_force_inputs(struct tact_session *s, uint64_t tick, int are_inputs_valid)
{
    const int are_admittance_outputs_armed =
        are_inputs_valid && s->safety.state == TACT_SAFETY_ARMED;
    for (int i = 0; i < s->admittance_count; i++) {
        struct session_admittance *a = &s->admittances[i];
        const double now = (double)tick + 1.0;
        update_admittance_force(s, a, now);
        add_work_of_persons_force(s, a, now);
        tact_hand_state(tact_world_hand(s->world, a->hand)).target_rate[a->link] =
            are_admittance_outputs_armed ? a->state.force / a->damping : 0.0;
    }
}

struct tact_session_port tact_session_admittance_port(const struct tact_session *s,
                                                      const struct session_admittance *a)
{
    const struct session_admittance_state *state = &a->state;
    return (struct tact_session_port){.name = s->hands[a->hand].joint_names[a->link],
                                      .engaged = state->ticks_up_to_last_valid_input > 0.0 &&
                                                 state->ticks_up_to_last_valid_input ==
                                                     state->ticks_up_to_last_input,
                                      .components = 1,
                                      .force = {-state->force},
                                      .energy = state->energy,
                                      .least_energy = state->least_energy,
                                      .is_admittance = 1,
                                      .rate = state->rate,
                                      .held = (uint64_t)state->held,
                                      .missing = (uint64_t)state->missing};
}
