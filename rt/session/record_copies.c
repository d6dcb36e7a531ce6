/*
 * Copies between the state of a session and its records. A session lists them once its fields are
 * laid out: a tick that makes a record runs one loop over them. In a session that makes few
 * records, as for a viewer, the code that makes them is not in the caches, and its size is most of
 * what a record costs.
 */
#include <errno.h>
#include <stdlib.h>
#include "contact/record_code_internal.h"
#include "rt/session/admittance_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/position_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

/* Adds a copy of `count` numbers of the state to the field at that offset. */
static int add_record_copy(struct session_record_copies *copies, uint32_t field, double *state,
                           size_t count)
{
    if (count == 0) {
        return 0;
    }
    if (copies->count == copies->capacity) {
        const uint32_t capacity = copies->capacity ? 2 * copies->capacity : 64;
        struct session_record_copy *more = realloc(copies->copy, capacity * sizeof *copies->copy);
        if (!more) {
            return -ENOMEM;
        }
        copies->copy = more;
        copies->capacity = capacity;
    }
    copies->copy[copies->count++] = (struct session_record_copy){
        .state = state, .field = field, .number_count = (uint32_t)count};
    return 0;
}

#define DOUBLES_IN_STATE(state) (sizeof(state) / sizeof(double))

static int add_record_copies_of_coupling(const struct tact_session *s,
                                         struct session_record_copies *copies,
                                         struct session_coupling *c)
{
    struct session_port_delay *delay = &c->port.delay;
    int rc = add_record_copy(copies, c->field, (double *)&c->state, DOUBLES_IN_STATE(c->state));
    if (tact_session_has_port_field(s, c)) {
        rc = rc ? rc : add_record_copy(copies, delay->field, &delay->ticks_without_contact, 1);
        rc =
            rc ? rc : add_record_copy(copies, delay->field + 1, delay->force, (size_t)delay->count);
    }
    if (c->port.has_own_input_sum) {
        rc = rc ? rc : add_record_copy(copies, c->port.input_sum_field, &c->port.input_sum, 1);
    }
    return rc;
}

static int add_record_copies_of_ports(struct tact_session *s, struct session_record_copies *copies)
{
    int rc = 0;
    for (int i = 0; i < s->coupling_count; i++) {
        rc = rc ? rc : add_record_copies_of_coupling(s, copies, &s->couplings[i]);
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        struct session_drive_port *p = &s->drive_ports[i];
        rc =
            rc ? rc
               : add_record_copy(copies, p->field, (double *)&p->state, DOUBLES_IN_STATE(p->state));
        rc = rc ? rc
                : add_record_copy(copies, p->field + DRIVE_PORT_STATE_NUMBERS, p->delay.force,
                                  (size_t)p->delay.count);
    }
    for (int i = 0; i < s->admittance_count && s->admittances[i].field; i++) {
        struct session_admittance *a = &s->admittances[i];
        rc =
            rc ? rc
               : add_record_copy(copies, a->field, (double *)&a->state, DOUBLES_IN_STATE(a->state));
    }
    return rc;
}

static int add_record_copies_of_remotes(struct tact_session *s,
                                        struct session_record_copies *copies)
{
    int rc = 0;
    for (int i = 0; i < s->remote_count; i++) {
        struct session_remote *r = &s->remotes[i];
        rc = rc ? rc
                : add_record_copy(copies, r->field, (double *)&r->state,
                                  tact_session_remote_state_number_count(s));
        if (r->mode == REMOTE_MODEL) {
            rc = rc ? rc
                    : add_record_copy(copies, r->wall_model_field, (double *)&r->model,
                                      DOUBLES_IN_STATE(r->model));
        }
    }
    return rc;
}

static int add_record_copies_of_inputs_and_tools(struct tact_session *s,
                                                 struct session_record_copies *copies)
{
    int rc = 0;
    for (int i = 0; i < s->input_count; i++) {
        struct session_input *in = &s->inputs[i];
        rc = rc || !in->sets_measured_joint_state
                 ? rc
                 : add_record_copy(copies, in->field, (double *)&in->state,
                                   DOUBLES_IN_STATE(in->state));
    }
    for (int i = 0; i < s->positions->count; i++) {
        struct session_position_output *p = &s->positions->position[i];
        rc =
            rc ? rc
               : add_record_copy(copies, p->field, (double *)&p->state, DOUBLES_IN_STATE(p->state));
    }
    for (int i = 0; i < s->tool_count; i++) {
        struct session_tool *t = &s->tools[i];
        rc =
            rc ? rc
               : add_record_copy(copies, t->field, (double *)&t->state, DOUBLES_IN_STATE(t->state));
    }
    for (int i = 0; i < s->grip_count; i++) {
        struct session_grip *g = &s->grips[i];
        rc = rc ? rc
                : add_record_copy(copies, g->field, (double *)&g->state,
                                  GRIP_STATE_NUMBERS + (size_t)g->commanded_joint_count);
    }
    for (int i = 0; i < s->output_count; i++) {
        rc = rc ? rc
                : add_record_copy(copies, s->output_gate_field + (uint32_t)i, &s->outputs[i].gate,
                                  1);
    }
    return rc;
}

static int add_record_copies_of_motion(struct tact_session *s, struct session_record_copies *copies)
{
    int rc = 0;
    for (int i = 0; i < tact_world_hand_count(s->world); i++) {
        const struct session_hand *h = &s->hands[i];
        struct tact_hand *hand = tact_world_hand(s->world, i);
        const struct tact_hand_state state = tact_hand_state(hand);
        const size_t n = (size_t)tact_hand_count(hand);
        rc = rc ? rc : add_record_copy(copies, h->q, state.q, n);
        rc = rc ? rc : add_record_copy(copies, h->v, state.v, n);
        rc = rc ? rc : add_record_copy(copies, h->target, state.target, n);
        rc = rc ? rc : add_record_copy(copies, h->torque, state.torque, n);
        if (h->has_joint_stops_or_friction) {
            rc = rc ? rc : add_record_copy(copies, h->reaction, state.reaction, n);
            rc = rc ? rc : add_record_copy(copies, h->stop, state.stop, n);
        }
    }
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        const struct session_body *b = &s->bodies[i];
        struct tact_body *body = tact_world_body(s->world, i);
        rc = rc ? rc
                : add_record_copy(copies, b->center, (double *)&body->pose,
                                  DOUBLES_IN_STATE(body->pose));
        rc =
            rc ? rc : add_record_copy(copies, b->twist, body->twist, DOUBLES_IN_STATE(body->twist));
    }
    for (int i = 0; i < tact_world_constraint_count(s->world); i++) {
        struct tact_constraint *constraint = tact_world_constraint(s->world, i);
        rc = rc ? rc
                : add_record_copy(copies, s->constraints[i].warm, constraint->impulse,
                                  DOUBLES_IN_STATE(constraint->impulse));
    }
    return rc;
}

/* What a replay does not restore: inputs, which it reads in each tick, and results. */
static int add_record_copies_not_restored(struct tact_session *s,
                                          struct session_record_copies *copies)
{
    int rc = 0;
    for (int i = 0; i < s->device_count; i++) {
        struct session_device *d = &s->devices[i];
        rc = rc ? rc
                : add_record_copy(copies, d->field + 2, d->input.channel,
                                  (size_t)d->device.info.input_count);
    }
    for (int i = 0; i < tact_world_constraint_count(s->world); i++) {
        struct tact_constraint *constraint = tact_world_constraint(s->world, i);
        const struct session_constraint *b = &s->constraints[i];
        rc = rc ? rc
                : add_record_copy(copies, b->wrench, constraint->wrench,
                                  DOUBLES_IN_STATE(constraint->wrench));
        rc = rc ? rc : add_record_copy(copies, b->joint, &constraint->value, 1);
        rc = rc ? rc : add_record_copy(copies, b->joint + 2, constraint->point, 3);
    }
    const size_t n = (size_t)s->output_count;
    rc = rc ? rc : add_record_copy(copies, s->requested_outputs_field, s->requested_outputs, n);
    rc = rc ? rc : add_record_copy(copies, s->sent_outputs_field, s->sent_outputs, n);
    rc = rc ? rc : add_record_copy(copies, s->solver_field + 2, &s->solve_stats.residual, 1);
    return rc ? rc : add_record_copy(copies, s->solver_field + 3, &s->solve_stats.update, 1);
}

int tact_session_list_record_copies(struct tact_session *s)
{
    struct session_record_copies *copies = &s->record_copies;
    int rc = add_record_copies_of_inputs_and_tools(s, copies);
    rc = rc ? rc : add_record_copies_of_ports(s, copies);
    rc = rc ? rc : add_record_copies_of_remotes(s, copies);
    rc = rc ? rc : add_record_copies_of_motion(s, copies);
    copies->restored_count = copies->count;
    return rc ? rc : add_record_copies_not_restored(s, copies);
}

TACT_IN_TICK_RECORD_SECTION void tact_session_copy_state_to_record(const struct tact_session *s,
                                                                   double *values)
{
    const struct session_record_copy *end = s->record_copies.copy + s->record_copies.count;
    for (const struct session_record_copy *c = s->record_copies.copy; c < end; c++) {
        for (uint32_t k = 0; k < c->number_count; k++) {
            values[c->field + k] = c->state[k];
        }
    }
}

void tact_session_copy_record_to_state(const struct tact_session *s, const double *values)
{
    const struct session_record_copy *end = s->record_copies.copy + s->record_copies.restored_count;
    for (const struct session_record_copy *c = s->record_copies.copy; c < end; c++) {
        for (uint32_t k = 0; k < c->number_count; k++) {
            c->state[k] = values[c->field + k];
        }
    }
}
