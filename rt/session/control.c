/*
 * Requests of the program to a running session: targets of its own controller, a fault to be
 * cleared, outputs to be armed again. Real-time safe, except the set-up.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/record_code_internal.h"
#include "rt/session/session_internal.h"

static int joint_count(const struct tact_session *s)
{
    int count = 0;
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        count += tact_hand_count(tact_world_hand(s->world, i));
    }
    return count;
}

int tact_session_allocate_joint_values(struct tact_session *s)
{
    s->joint_count = joint_count(s);
    s->controller_joint_values =
        calloc(4 * (size_t)s->joint_count + 1, sizeof *s->controller_joint_values);
    return s->controller_joint_values ? 0 : -ENOMEM;
}

/* Copies the four values of every joint from the hands. */
static void copy_joint_values_for_controller(struct tact_session *s, double *q, double *v,
                                             double *torque, double *target)
{
    for (int i = 0, at = 0; i < tact_world_hand_count(s->world); i++) {
        struct tact_hand *hand = tact_world_hand(s->world, i);
        const struct tact_hand_state state = tact_hand_state(hand);
        const size_t bytes = sizeof *q * (size_t)tact_hand_count(hand);
        memcpy(q + at, state.q, bytes);
        memcpy(v + at, state.v, bytes);
        memcpy(torque + at, state.torque, bytes);
        memcpy(target + at, state.target, bytes);
        at += tact_hand_count(hand);
    }
}

/* Returns 1 if all targets of the controller are finite; otherwise raises a fault. */
static int check_targets_finite(struct tact_session *s, const double *target, uint64_t tick)
{
    for (int i = 0, at = 0; i < tact_world_hand_count(s->world); i++) {
        const int count = tact_hand_count(tact_world_hand(s->world, i));
        for (int k = 0; k < count; k++, at++) {
            if (!isfinite(target[at])) {
                tact_session_describe_fault(
                    s, tick, "joint ", s->hands[i].joint_names[k],
                    "the drive target that the program's controller set is not finite");
                tact_session_raise_fault(s, target[at], tick);
                return 0;
            }
        }
    }
    return 1;
}

static void set_drive_targets(struct tact_session *s, const double *target)
{
    for (int i = 0, at = 0; i < tact_world_hand_count(s->world); i++) {
        struct tact_hand *hand = tact_world_hand(s->world, i);
        const int count = tact_hand_count(hand);
        memcpy(tact_hand_state(hand).target, target + at, sizeof *target * (size_t)count);
        at += count;
    }
}

/* In a replay, reads the targets that the controller had set from the log. */
static void read_logged_targets(struct tact_session *s)
{
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        struct tact_hand *hand = tact_world_hand(s->world, i);
        memcpy(tact_hand_state(hand).target, s->replayed_input_record->values + s->hands[i].target,
               sizeof(double) * (size_t)tact_hand_count(hand));
    }
}

void tact_session_call_controller(struct tact_session *s, uint64_t tick, double time)
{
    const size_t n = (size_t)s->joint_count;
    double *q = s->controller_joint_values, *v = q + n, *torque = v + n, *target = torque + n;
    if (s->replayed_input_record) {
        if (s->requests_of_tick & SESSION_BAD_TARGET) {
            tact_session_raise_fault(s, NAN, tick);
        }
        if (s->are_targets_inputs) {
            read_logged_targets(s);
        }
        return;
    }
    if (!s->options.control) {
        return;
    }
    copy_joint_values_for_controller(s, q, v, torque, target);
    const struct tact_session_state state = {.tick = tick,
                                             .time = time,
                                             .deadman = s->is_deadman_held,
                                             .safety = s->safety.state,
                                             .joint_count = s->joint_count,
                                             .q = q,
                                             .v = v,
                                             .torque = torque,
                                             .world = s->world};
    s->options.control(s->options.control_user, &state, target);
    if (!check_targets_finite(s, target, tick)) {
        s->requests_of_tick |= SESSION_BAD_TARGET;
    } else if (s->is_deadman_held) {
        set_drive_targets(s, target);
    }
}

/* Requests come from other threads, and this header is also for C++, without _Atomic: hence the
 * compiler's own atomics, as in loop.c. */
int tact_session_clear_fault(struct tact_session *s)
{
    if (!__atomic_load_n(&s->ended_tick_in_fault, __ATOMIC_ACQUIRE)) {
        return -EALREADY;
    }
    if (__atomic_load_n(&s->last_tick_had_fault_cause, __ATOMIC_ACQUIRE)) {
        return -EBUSY;
    }
    __atomic_fetch_or(&s->requests, SESSION_CLEAR, __ATOMIC_ACQ_REL);
    return 0;
}

int tact_session_arm(struct tact_session *s)
{
    if (s->deadman_device >= 0) {
        return -EPERM;
    }
    if (__atomic_load_n(&s->ended_tick_in_fault, __ATOMIC_ACQUIRE)) {
        return -EBUSY;
    }
    __atomic_fetch_or(&s->requests, SESSION_ARM, __ATOMIC_ACQ_REL);
    return 0;
}

/* The program's requests that take effect in this tick; in a replay those of the log. */
static uint32_t requests_effective_in_tick(struct tact_session *s)
{
    if (s->replayed_input_record) {
        const double requests_in_log =
            s->requests_field ? s->replayed_input_record->values[s->requests_field] : 0.0;
        return requests_in_log >= 0.0 && requests_in_log <= 7.0 ? (uint32_t)requests_in_log : 0;
    }
    uint32_t requests = __atomic_exchange_n(&s->requests, 0, __ATOMIC_ACQ_REL);
    if (s->safety.state != TACT_SAFETY_FAULT || s->last_tick_had_fault_cause) {
        requests &= ~(uint32_t)SESSION_CLEAR;
    }
    if (s->safety.state != TACT_SAFETY_DISARMED || !s->safety.await_release) {
        requests &= ~(uint32_t)SESSION_ARM;
    }
    return requests;
}

void tact_session_apply_requests(struct tact_session *s)
{
    s->requests_of_tick = requests_effective_in_tick(s);
    if (s->requests_of_tick & SESSION_CLEAR) {
        tact_safety_reset(&s->safety);
        s->is_fault_in_report = 0;
    }
    if (s->requests_of_tick & SESSION_ARM) {
        s->safety.await_release = 0; /* no deadman has to be released first */
    }
    s->has_fault_cause_now = 0;
}

void tact_session_update_fault_state(struct tact_session *s)
{
    const int fault = s->safety.state == TACT_SAFETY_FAULT;
    s->report.faults += (uint64_t)(fault && !s->ended_tick_in_fault);
    __atomic_store_n(&s->last_tick_had_fault_cause, s->has_fault_cause_now, __ATOMIC_RELEASE);
    __atomic_store_n(&s->ended_tick_in_fault, fault, __ATOMIC_RELEASE);
}

int tact_session_mark(struct tact_session *s, const char *text)
{
    if (!s->options.record) {
        return -ENOENT;
    }
    atomic_store_explicit(&s->requested_marker_text, text, memory_order_release);
    return 0;
}

TACT_IN_TICK_RECORD_SECTION int tact_session_device_state(const struct tact_session *s, int index)
{
    return s->devices[index].input.state;
}
