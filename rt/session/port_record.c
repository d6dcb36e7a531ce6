/*
 * The ports of couplings and drives in the record of a tick. Real-time safe.
 */
#include <string.h>
#include "rt/session/session_internal.h"

/* A coupling has a port field where the passivity controller acts on its port, or forces act after
 * a delay. */
int tact_session_has_port_field(const struct tact_session *s, const struct session_coupling *c)
{
    return !s->precedes_results_39 &&
           (c->port.delay.count > 0 ||
            (c->port.max_damping > 0.0 && !(c->port.bound_stiffness > 0.0)));
}

static void fill_coupling(const struct tact_session *s, const struct session_coupling *c,
                          double *values)
{
    const struct session_port_delay *delay = &c->port.delay;
    memcpy(values + c->field, &c->state, sizeof c->state);
    if (tact_session_has_port_field(s, c)) {
        values[delay->field] = delay->ticks_without_contact;
        memcpy(values + delay->field + 1, delay->force, sizeof *values * (size_t)delay->count);
    }
    if (c->port.has_clamped_inputs) {
        values[c->port.unclamped_field] = c->port.unclamped_input_sum;
    }
}

static void restore_coupling(const struct tact_session *s, struct session_coupling *c,
                             const double *values)
{
    struct session_port_delay *delay = &c->port.delay;
    memcpy(&c->state, values + c->field, sizeof c->state);
    if (tact_session_has_port_field(s, c)) {
        delay->ticks_without_contact = values[delay->field];
        memcpy(delay->force, values + delay->field + 1, sizeof *values * (size_t)delay->count);
    }
    if (c->port.has_clamped_inputs) {
        c->port.unclamped_input_sum = values[c->port.unclamped_field];
    }
}

void tact_session_fill_ports(const struct tact_session *s, double *values)
{
    for (int i = 0; i < s->coupling_count; i++) {
        fill_coupling(s, &s->couplings[i], values);
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        const struct session_drive_port *p = &s->drive_ports[i];
        double *field = values + p->field;
        memcpy(field, &p->state, sizeof p->state);
        memcpy(field + DRIVE_PORT_STATE_NUMBERS, p->delay.force,
               (size_t)p->delay.count * sizeof *field);
    }
}

void tact_session_restore_ports(struct tact_session *s, const double *values)
{
    for (int i = 0; i < s->coupling_count; i++) {
        restore_coupling(s, &s->couplings[i], values);
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        struct session_drive_port *p = &s->drive_ports[i];
        const double *field = values + p->field;
        memcpy(&p->state, field, sizeof p->state);
        memcpy(p->delay.force, field + DRIVE_PORT_STATE_NUMBERS,
               (size_t)p->delay.count * sizeof *field);
    }
}
