/*
 * Energy of the ports of couplings. The force of an output is constant from the tick at which it
 * acts to the next one, so that its work over the motion between is exact. It acts after the
 * device's delay; where that ends within a tick, the motion of the tick is taken as even.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "rt/session/session_internal.h"

#define MAX_WHOLE_TICKS_ERROR 1e-9 /* largest rounding error of a delay of whole ticks [ticks] */

double tact_session_port_delay(const struct tact_session *s, const struct session_coupling *c)
{
    const struct session_coupling *axes = c->tool ? c->tool->first_coupling[c->is_rotation] : c;
    double delay = tact_session_measured_delay(s, c);
    for (int i = 0; i < (c->tool ? 3 : 1); i++) { /* of a tool all three axes of its device */
        delay =
            axes[i].port.are_axis_numbers_known ? fmax(delay, axes[i].port.numbers.delay) : delay;
    }
    return delay;
}

int tact_session_set_port_delays(struct tact_session *s)
{
    for (int i = 0; i < s->coupling_count && !s->precedes_results_39; i++) {
        struct session_coupling *c = &s->couplings[i];
        /* a damaged log may state any delay */
        const double delay = fmax(0.0, tact_session_port_delay(s, c));
        const double ticks = fmin(MAX_PORT_DELAY, delay / s->period);
        c->port.delay.count = (int)ceil(ticks - MAX_WHOLE_TICKS_ERROR);
        c->port.delay.newer_force_fraction = fmax(0.0, c->port.delay.count - ticks);
        c->port.delay.force = calloc((size_t)c->port.delay.count + 1, sizeof(double));
        if (!c->port.delay.force) {
            return -ENOMEM;
        }
    }
    return 0;
}

void tact_session_free_port_delays(struct tact_session *s)
{
    for (int i = 0; i < s->coupling_count; i++) {
        free(s->couplings[i].port.delay.force);
    }
}

/* The force that has acted since the last tick, mean over time. */
static double mean_acting_force(const struct session_coupling *c)
{
    const struct session_port_delay *delay = &c->port.delay;
    if (delay->count == 0) {
        return c->state.force;
    }
    const double newer_sent_force =
        delay->count > 1 ? delay->force[delay->count - 2] : c->state.force;
    return delay->newer_force_fraction * newer_sent_force +
           (1.0 - delay->newer_force_fraction) * delay->force[delay->count - 1];
}

/* Stores the force of the last tick, which becomes the newest of the sent forces that have not
 * acted yet. */
static void store_sent_force(struct session_coupling *c)
{
    struct session_port_delay *delay = &c->port.delay;
    if (delay->count > 0) {
        memmove(delay->force + 1, delay->force, (size_t)(delay->count - 1) * sizeof *delay->force);
        delay->force[0] = c->state.force;
    }
}

void tact_session_add_port_work(struct session_coupling *c, int n)
{
    struct session_coupling_state *port = &c->state;
    double work = 0.0;
    for (int i = 0; i < n; i++) {
        work -= mean_acting_force(&c[i]) * c[i].device_displacement;
        store_sent_force(&c[i]);
    }
    port->energy += work;
    /* a tool that moves freely gives its energy of motion back, which generates nothing */
    const int is_in_free_motion = c->port.delay.ticks_without_contact > c->port.delay.count;
    port->energy_absorbed_since_contact += is_in_free_motion ? fmax(0.0, work) : work;
    port->least_energy = fmin(port->least_energy, port->energy);
}
