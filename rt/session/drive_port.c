/*
 * Ports of joints with a drive: devices whose positions set the target of a joint and that receive
 * the reaction of its drive. Their energy is recorded and reported, as that of couplings' ports,
 * but no controller acts on it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/scene/scene_internal.h"
#include "rt/session/session_internal.h"

/* Whether an input is the position of a device that sets the target of a port's joint: neither a
 * rate nor a force, by its unit. */
static int is_position_input(const struct tact_session *s, const struct session_input *in,
                             const struct session_drive_port *p)
{
    const char *unit = s->devices[in->device].device.info.input[in->channel].unit;
    return in->hand == p->hand && in->link == p->link && in->device == p->device &&
           !in->sets_measured_joint_state && !in->admittance && in->scale != 0.0 &&
           !strstr(unit, "/s") && unit[0] != 'N';
}

/* Delay of a port's device, calibrated or measured, the longest [s]. */
static double find_device_delay_of_port(const struct tact_session *s,
                                        const struct session_drive_port *p)
{
    double delay = tact_session_device_delay(s, p->device);
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        const struct tact_scene_haptic_axis *axis =
            in->drive_port == p ? tact_session_find_haptic_axis(s, in->device, in->channel) : NULL;
        delay = axis ? fmax(delay, axis->port.delay) : delay;
    }
    return delay;
}

/* The port of the reaction that an output sends: the one of the same joint and device, or a new
 * one; NULL where that device's position does not set the joint's target. *rc: -ENOMEM. */
static struct session_drive_port *find_or_add_drive_port(struct tact_session *s,
                                                         const struct session_output *out, int *rc)
{
    struct session_drive_port *p = s->drive_ports, *end = p + s->drive_port_count;
    while (p < end && (p->hand != out->owner.index || p->link != out->owner.link ||
                       p->device != out->device)) {
        p++;
    }
    if (p < end) {
        return p;
    }
    *p = (struct session_drive_port){
        .hand = out->owner.index, .link = out->owner.link, .device = out->device};
    int position_input_count = 0;
    for (int i = 0; i < s->input_count; i++) {
        if (is_position_input(s, &s->inputs[i], p)) {
            s->inputs[i].drive_port = p;
            position_input_count++;
        }
    }
    if (position_input_count == 0) {
        return NULL;
    }
    s->drive_port_count++;
    *rc = tact_session_set_port_delay(&p->delay, find_device_delay_of_port(s, p), s->period);
    return p;
}

static void name_drive_port(const struct tact_session *s, struct session_drive_port *p)
{
    int drive_port_count_of_joint = 0;
    for (int i = 0; i < s->drive_port_count; i++) {
        drive_port_count_of_joint +=
            s->drive_ports[i].hand == p->hand && s->drive_ports[i].link == p->link;
    }
    snprintf(p->name, sizeof p->name, "%s%s%s", s->hands[p->hand].joint_names[p->link],
             drive_port_count_of_joint > 1 ? " " : "",
             drive_port_count_of_joint > 1 ? s->scene->devices[p->device].name : "");
}

/* Whether an output exerts the reaction of a drive on a device, as a force: not a coupling's, and
 * not as a speed. */
static int is_reaction_output_of_drive(const struct tact_session *s, int output)
{
    const struct session_output *out = &s->outputs[output];
    const struct tact_scene_output *def = &s->scene->outputs[output];
    return !strcmp(def->what, "reaction") && def->scale != 0.0 && !out->port && !out->tool &&
           !strstr(s->devices[out->device].device.info.output[out->channel].unit, "/s");
}

int tact_session_connect_drive_ports(struct tact_session *s)
{
    int rc = 0;
    s->drive_ports = calloc((size_t)s->output_count + 1, sizeof *s->drive_ports);
    if (!s->drive_ports) {
        return -ENOMEM;
    }
    for (int i = 0; !rc && i < s->output_count; i++) {
        if (is_reaction_output_of_drive(s, i)) {
            s->outputs[i].drive_port = find_or_add_drive_port(s, &s->outputs[i], &rc);
        }
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        name_drive_port(s, &s->drive_ports[i]);
    }
    return rc;
}

void tact_session_free_drive_ports(struct tact_session *s)
{
    for (int i = 0; i < s->drive_port_count; i++) {
        free(s->drive_ports[i].delay.force);
    }
    for (int i = 0; s->outputs && i < s->output_count; i++) {
        s->outputs[i].drive_port = NULL;
    }
    for (int i = 0; s->inputs && i < s->input_count; i++) {
        s->inputs[i].drive_port = NULL;
    }
    free(s->drive_ports);
    s->drive_ports = NULL;
    s->drive_port_count = 0;
}

/* The port of a drive with the numbers of the calibration files of its device, in the units of the
 * joint. */
static struct session_port make_calibrated_drive_port(const struct tact_session *s,
                                                      const struct session_drive_port *p)
{
    struct session_port port = {.calibrated_device_index = -1,
                                .stable_wall_stiffness = INFINITY,
                                .force_filter_cutoff = tact_scene_lowest_reaction_filter(
                                    s->scene, (uint32_t)p->hand, (uint32_t)p->link, p->device)};
    double reaction_output_scale_sum = 0.0;
    for (int i = 0; i < s->output_count; i++) {
        reaction_output_scale_sum += s->outputs[i].drive_port == p ? fabs(s->outputs[i].gain) : 0.0;
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (in->drive_port == p) {
            tact_session_add_haptic_axis(s, &port, in->device, in->channel, fabs(in->scale),
                                         reaction_output_scale_sum);
        }
    }
    return port;
}

/* Checks the stiffness of a drive alone: its damper acts against the base of the hand, and not on
 * the motion of the device. */
static int check_drive_stiffness(const struct tact_session *s, const struct session_drive_port *p,
                                 struct tact_error *err)
{
    const struct session_port port = make_calibrated_drive_port(s, p);
    char owner[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES + 32];
    if (port.calibrated_device_index < 0) {
        return 0;
    }
    tact_scene_link_key_path(s->scene, (uint32_t)p->hand, (uint32_t)p->link, owner);
    snprintf(key, sizeof key, "%s.joint.stiffness", owner);
    tact_scene_where(s->scene, key, err);
    return tact_session_check_calibrated_stiffness(
        s, &port, s->scene->hands[p->hand].links[p->link].joint.stiffness, 0,
        s->hands[p->hand].joint_names[p->link], "\"hard: true\" in a coupling", err);
}

int tact_session_check_drive_ports(const struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->output_count; i++) {
        const struct session_drive_port *p = s->outputs[i].drive_port;
        char key[48];
        if (p) {
            snprintf(key, sizeof key, "outputs[%d].to", i);
            tact_scene_where(s->scene, key, err);
            rc = tact_session_check_port_delay(s, find_device_delay_of_port(s, p),
                                               s->hands[p->hand].joint_names[p->link], err);
        }
    }
    for (int i = 0; !rc && i < s->drive_port_count; i++) {
        rc = check_drive_stiffness(s, &s->drive_ports[i], err);
    }
    return rc;
}

/* Displacement of a port's device since the last tick [rad, m]; 0 while it is lost, and in the tick
 * in which it returns. */
static double update_port_position(const struct tact_session *s, struct session_drive_port *p,
                                   double now)
{
    if (s->devices[p->device].input.state == TACT_DEVICE_LOST ||
        !isfinite(p->device_position_in_tick)) {
        p->state.ticks = 0.0;
        return 0.0;
    }
    const double displacement =
        p->state.ticks > 0.0 ? p->device_position_in_tick - p->state.position : 0.0;
    p->state.position = p->device_position_in_tick;
    p->state.ticks = now;
    return displacement;
}

void tact_session_add_drive_port_work(struct tact_session *s, uint64_t tick)
{
    for (int i = 0; i < s->drive_port_count; i++) {
        s->drive_ports[i].device_position_in_tick = 0.0;
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (in->drive_port) {
            in->drive_port->device_position_in_tick +=
                in->scale * s->devices[in->device].input.channel[in->channel];
        }
    }
    for (int i = 0; i < s->drive_port_count; i++) {
        struct session_drive_port *p = &s->drive_ports[i];
        const double displacement = update_port_position(s, p, (double)tick + 1.0);
        p->state.energy += tact_session_port_work(&p->delay, p->state.force, displacement);
        p->state.least_energy = fmin(p->state.least_energy, p->state.energy);
    }
}
