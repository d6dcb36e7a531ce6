/*
 * Energy of the ports of couplings and drives. The force of an output is constant from the tick at
 * which it acts to the next one, so that its work over the motion between is exact. It acts after
 * the device's delay; where that ends within a tick, the motion of the tick is taken as even.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/session_internal.h"

#define MAX_WHOLE_TICK_DELAY_ERROR                                                                 \
    1e-9 /* largest rounding error of a delay of whole ticks [ticks] */

double tact_session_port_delay(const struct tact_session *s, const struct session_coupling *c)
{
    const struct session_coupling *axes = c->tool ? c->tool->first_coupling[c->is_rotation] : c;
    double delay = tact_session_measured_delay_of_coupling(s, c);
    for (int i = 0; i < (c->tool ? 3 : 1); i++) { /* with a tool, all axes of its device */
        delay =
            axes[i].port.are_axis_numbers_known ? fmax(delay, axes[i].port.numbers.delay) : delay;
    }
    return delay;
}

int tact_session_set_port_delay(struct session_port_delay *delay, double time, double period)
{
    /* a damaged log may state any delay */
    const double ticks = fmin(MAX_PORT_DELAY_TICKS, fmax(0.0, time) / period);
    delay->count = (int)ceil(ticks - MAX_WHOLE_TICK_DELAY_ERROR);
    delay->second_oldest_force_fraction = fmax(0.0, delay->count - ticks);
    delay->force = calloc((size_t)delay->count + 1, sizeof(double));
    return delay->force ? 0 : -ENOMEM;
}

int tact_session_set_port_delays(struct tact_session *s)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->coupling_count && !s->precedes_results_39; i++) {
        struct session_coupling *c = &s->couplings[i];
        rc = tact_session_set_port_delay(&c->port.delay, tact_session_port_delay(s, c), s->period);
    }
    return rc;
}

void tact_session_free_port_delays(struct tact_session *s)
{
    for (int i = 0; i < s->coupling_count; i++) {
        free(s->couplings[i].port.delay.force);
    }
}

/* The force that has acted since the last tick, mean over time. */
static double mean_delayed_port_force(const struct session_port_delay *delay, double sent_force)
{
    if (delay->count == 0) {
        return sent_force;
    }
    const double second_oldest_acting_force =
        delay->count > 1 ? delay->force[delay->count - 2] : sent_force;
    return delay->second_oldest_force_fraction * second_oldest_acting_force +
           (1.0 - delay->second_oldest_force_fraction) * delay->force[delay->count - 1];
}

double tact_session_port_work(struct session_port_delay *delay, double sent_force,
                              double displacement)
{
    const double work = -(mean_delayed_port_force(delay, sent_force) * displacement);
    if (delay->count > 0) {
        memmove(delay->force + 1, delay->force, (size_t)(delay->count - 1) * sizeof *delay->force);
        delay->force[0] = sent_force;
    }
    return work;
}

void tact_session_add_port_work(struct session_coupling *c, int n)
{
    struct session_coupling_state *port = &c->state;
    double work = 0.0;
    for (int i = 0; i < n; i++) {
        work +=
            tact_session_port_work(&c[i].port.delay, c[i].state.force, c[i].device_displacement);
    }
    port->energy += work;
    /* a tool that moves freely gives its energy of motion back, which generates nothing */
    const int is_port_in_free_motion = c->port.delay.ticks_without_contact > c->port.delay.count;
    port->energy_absorbed_since_contact += is_port_in_free_motion ? fmax(0.0, work) : work;
    port->least_energy = fmin(port->least_energy, port->energy);
}
