/*
 * Numbers of the devices at the other ends of couplings: those that the scene states, or those of
 * calibration files. Of what moves the axes of one port, the least favourable number counts.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/low_pass_internal.h"
#include "rt/passivity.h"
#include "rt/passivity_internal.h"
#include "rt/scene/scene_internal.h"
#include "rt/session/session_internal.h"

/* limit of the controller's damping, relative to mass / period: see passivity.h */
#define MAX_PASSIVITY_DAMPING_FRACTION 0.1

const struct tact_scene_haptic_axis *tact_session_find_haptic_axis(const struct tact_session *s,
                                                                   int device, int channel)
{
    const struct tact_scene_device *def = &s->scene->devices[device];
    const char *name = s->devices[device].device.info.input[channel].name;
    for (uint32_t i = 0; i < def->haptic_count; i++) {
        if (!strcmp(def->haptic[i].channel, name)) {
            return &def->haptic[i];
        }
    }
    return NULL;
}

double tact_session_device_delay(const struct tact_session *s, int device)
{
    const struct tact_device_info *info = &s->devices[device].device.info;
    for (int i = 0; i < info->input_count; i++) {
        if (!strcmp(info->input[i].name, "delay") && !strcmp(info->input[i].unit, "s")) {
            return info->input[i].rest;
        }
    }
    return 0.0;
}

int tact_session_is_input_of_port(const struct session_coupling *c, const struct session_input *in)
{
    return in->hand == c->hand && in->link == c->link &&
           (c->port.reaction_device < 0 || in->device == c->port.reaction_device);
}

double tact_session_measured_delay_of_coupling(const struct tact_session *s,
                                               const struct session_coupling *c)
{
    double delay = c->tool ? tact_session_device_delay(s, c->tool->device) : 0.0;
    for (int i = 0; i < s->input_count; i++) {
        if (tact_session_is_input_of_port(c, &s->inputs[i])) {
            delay = fmax(delay, tact_session_device_delay(s, s->inputs[i].device));
        }
    }
    return delay;
}

void tact_session_add_haptic_axis(const struct tact_session *s, struct session_port *port,
                                  int device, int channel, double motion, double force)
{
    const struct tact_scene_haptic_axis *axis = tact_session_find_haptic_axis(s, device, channel);
    if (!axis || !(motion > 0.0 && force > 0.0)) {
        return;
    }
    const double gain = motion * force;
    const struct tact_scene_port *a = &axis->port;
    struct tact_scene_port *p = &port->numbers;
    const double stiffest = axis->stiffest > 0.0 ? axis->stiffest / gain : INFINITY;
    const int is_first_calibrated_axis = port->calibrated_device_index < 0;
    port->calibrated_device_index = device;
    p->mass = is_first_calibrated_axis ? a->mass / gain : fmin(p->mass, a->mass / gain);
    p->damping = is_first_calibrated_axis ? a->damping / gain : fmin(p->damping, a->damping / gain);
    p->friction =
        is_first_calibrated_axis ? a->friction / force : fmin(p->friction, a->friction / force);
    p->resolution = fmax(p->resolution, a->resolution * motion);
    p->delay = fmax(p->delay, fmax(a->delay, tact_session_device_delay(s, device)));
    port->stable_wall_stiffness =
        is_first_calibrated_axis ? stiffest : fmin(port->stable_wall_stiffness, stiffest);
}

/* Sum of the scales by which a device receives the reaction of a joint. */
static double find_reaction_output_scale(const struct tact_session *s,
                                         const struct session_coupling *c, int device)
{
    double sum = 0.0;
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        sum += out->port == c && out->device == device ? fabs(out->gain) : 0.0;
    }
    return sum;
}

/* Of a tool, the port of each coupling is an axis of the device, in its units; before results
 * version 39 it was all three. */
static void add_tool_axes_to_port(const struct tact_session *s, struct session_coupling *c)
{
    const struct session_tool *tool = c->tool;
    const uint32_t output_channel_count =
        c->is_rotation ? tool->def->torque_count : tool->def->force_count;
    const uint32_t count = c->is_rotation ? tool->def->attitude_count : tool->def->position_count;
    const uint32_t axis = (uint32_t)(c - tool->first_coupling[c->is_rotation]);
    for (uint32_t i = 0; output_channel_count > 0 && count == 3 && i < count; i++) {
        if (i != axis && !s->precedes_results_39) {
            continue;
        }
        tact_session_add_haptic_axis(s, &c->port, tool->device,
                                     c->is_rotation ? tool->attitude[i] : tool->position[i], 1.0,
                                     1.0);
    }
}

/* The device that receives the reaction of a coupled joint, or -1. */
static int find_reaction_device(const struct tact_session *s, const struct session_coupling *c)
{
    for (int i = 0; i < s->output_count; i++) {
        if (s->outputs[i].port == c) {
            return s->outputs[i].device;
        }
    }
    return -1;
}

static void set_port_of_coupling(const struct tact_session *s, struct session_coupling *c)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    c->port.calibrated_device_index = -1;
    c->port.stable_wall_stiffness = INFINITY;
    c->port.reaction_device = s->precedes_results_64 ? -1 : find_reaction_device(s, c);
    c->port.force_filter_cutoff =
        tact_scene_lowest_reaction_filter(s->scene, (uint32_t)c->hand, (uint32_t)c->link, -1);
    if (c->tool) {
        add_tool_axes_to_port(s, c);
    }
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (in->hand == c->hand && in->link == c->link && !in->sets_measured_joint_state) {
            tact_session_add_haptic_axis(s, &c->port, in->device, in->channel, fabs(in->scale),
                                         find_reaction_output_scale(s, c, in->device));
            c->port.has_own_input_sum |=
                (in->lower < in->upper || !tact_session_is_input_of_port(c, in)) &&
                !c->is_rotation && !s->precedes_results_62;
        }
    }
    c->port.numbers = def->device ? *def->device : c->port.numbers;
    c->port.are_axis_numbers_known = def->device || c->port.calibrated_device_index >= 0;
    if (c->port.are_axis_numbers_known) {
        const struct tact_scene_port *p = &c->port.numbers;
        const double passive_stiffness_without_friction =
            tact_passivity_stiffest(p->damping, p->delay, 0.0, 0.0, s->period);
        c->port.bound_stiffness = def->hard ? passive_stiffness_without_friction : 0.0;
        c->port.max_damping = MAX_PASSIVITY_DAMPING_FRACTION * p->mass / s->period;
    }
}

void tact_session_set_ports(struct tact_session *s)
{
    for (int i = 0, count; i < s->coupling_count; i += count) {
        struct session_coupling *c = &s->couplings[i];
        double bound_stiffness = INFINITY, max_damping = INFINITY;
        count = tact_session_coupling_group_size(s, i);
        for (int k = 0; k < count; k++) {
            set_port_of_coupling(s, &c[k]);
            bound_stiffness = c[k].port.bound_stiffness > 0.0
                                  ? fmin(bound_stiffness, c[k].port.bound_stiffness)
                                  : bound_stiffness;
            max_damping = c[k].port.max_damping > 0.0 ? fmin(max_damping, c[k].port.max_damping)
                                                      : max_damping;
        }
        for (int k = 0; k < count; k++) {
            if (s->precedes_results_38) { /* then the axes of a tool shared one bound */
                c[k].port.bound_stiffness = isfinite(bound_stiffness) ? bound_stiffness : 0.0;
            }
            c[k].port.max_damping = isfinite(max_damping) ? max_damping : 0.0;
        }
    }
}

double tact_session_coupling_gain(const struct session_coupling *c)
{
    const struct tact_scene_tool *def = c->tool ? c->tool->def : NULL;
    const double scale = !def || c->is_rotation ? 1.0
                         : def->fine            ? fmax(def->scale, def->fine_scale)
                                                : def->scale;
    return def ? def->force_scale * scale : 1.0;
}

/* Sets the place of an error to a key of a coupling in the scene. */
static void set_error_key_of_coupling(const struct tact_session *s,
                                      const struct session_coupling *c, const char *key,
                                      struct tact_error *err)
{
    char owner[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES + 64];
    const int is_coupling_of_base = c->link < s->hands[c->hand].base_coordinate_count;
    const int is_stiffness_or_damping_key = !strcmp(key, "stiffness") || !strcmp(key, "damping");
    const int is_number_of_base_matrix =
        is_coupling_of_base && tact_scene_file_base_with_matrices(&s->scene->hands[c->hand]) &&
        is_stiffness_or_damping_key;
    tact_scene_link_key_path(s->scene, (uint32_t)c->hand, (uint32_t)c->link, owner);
    snprintf(path, sizeof path, is_number_of_base_matrix ? "%s%s.%s_matrix" : "%s.%s.%s", owner,
             is_number_of_base_matrix ? ""
             : !is_coupling_of_base   ? "joint.coupling"
             : c->is_rotation         ? "turn_coupling"
                                      : "coupling",
             key);
    tact_scene_where(s->scene, path, err);
}

/* Checks that a device is the one of its calibration file and has the calibrated axes. */
static int check_calibrated_device(const struct tact_session *s, int index, struct tact_error *err)
{
    const struct tact_scene_device *def = &s->scene->devices[index];
    const struct tact_device_info *info = &s->devices[index].device.info;
    char key[48];
    snprintf(key, sizeof key, "devices[%d].calibration", index);
    tact_scene_where(s->scene, key, err);
    if (def->haptic_model && strcmp(def->haptic_model, info->model)) {
        return tact_error_set(
            err, -EINVAL,
            "the calibration file %.100s is of a device model %.60s, but the device %s is a %.60s",
            def->calibration, def->haptic_model, def->name,
            info->model[0] ? info->model : info->type);
    }
    for (uint32_t i = 0; i < def->haptic_count; i++) {
        int found = 0;
        for (int k = 0; k < info->input_count; k++) {
            found |= !strcmp(info->input[k].name, def->haptic[i].channel);
        }
        if (!found) {
            return tact_error_set(err, -EINVAL, "%.100s has numbers of %s; %s has no input %s",
                                  def->calibration, def->haptic[i].channel, def->name,
                                  def->haptic[i].channel);
        }
    }
    return 0;
}

/* Checks that either all three axes of a tool with force feedback are calibrated, or none. */
static int check_tool_axes(const struct tact_session *s, const struct session_coupling *c,
                           struct tact_error *err)
{
    const struct session_tool *tool = c->tool;
    for (int i = 0; tool && i < 3; i++) {
        const int channel = c->is_rotation ? tool->attitude[i] : tool->position[i];
        if (!tact_session_find_haptic_axis(s, tool->device, channel)) {
            set_error_key_of_coupling(s, c, "stiffness", err);
            return tact_error_set(err, -EINVAL,
                                  "the calibration file %.100s lacks the haptic axis %s of this "
                                  "tool, whose other axes it has: tact calibrate --axis %s",
                                  s->scene->devices[tool->device].calibration,
                                  s->devices[tool->device].device.info.input[channel].name,
                                  s->devices[tool->device].device.info.input[channel].name);
        }
    }
    return 0;
}

/* Checks that device numbers scaled to the joint's units are finite, and allow an energy bound. */
static int check_coupling_gain_of_scale(const struct tact_session *s,
                                        const struct session_coupling *c, struct tact_error *err)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    const struct tact_scene_port *p = &c->port.numbers;
    const char *name = s->hands[c->hand].joint_names[c->link];
    const char *file = s->scene->devices[c->port.calibrated_device_index].calibration;
    if (!isfinite(p->mass / s->period) || !isfinite(p->damping / s->period) ||
        !isfinite(p->friction) || !isfinite(p->resolution)) {
        set_error_key_of_coupling(s, c, "stiffness", err);
        return tact_error_set(err, -EINVAL,
                              "the values of the calibration file %.100s overflow when they are "
                              "scaled by the inputs and outputs of %s",
                              file, name);
    }
    if (def->hard && !(c->port.bound_stiffness > 0.0)) {
        set_error_key_of_coupling(s, c, "hard", err);
        return tact_error_set(
            err, -EINVAL,
            "the calibration file %.100s has no damping for the device of joint %s, so that "
            "\"hard: true\" would allow no force: calibrate it again, or remove \"hard\"",
            file, name);
    }
    return 0;
}

/* The stiffest wall by the damping and delay of a port, its force filtered, and friction. */
static double max_passive_stiffness_of_port(const struct tact_session *s,
                                            const struct session_port *port, double friction,
                                            double resolution)
{
    const struct tact_scene_port *p = &port->numbers;
    return tact_passivity_stiffest(
        p->damping, p->delay + tact_passivity_filter_delay(port->force_filter_cutoff, s->period),
        friction, resolution, s->period);
}

double tact_session_max_stiffness_of_port(const struct tact_session *s,
                                          const struct session_port *port)
{
    const struct tact_scene_port *p = &port->numbers;
    return isfinite(port->stable_wall_stiffness)
               ? fmin(max_passive_stiffness_of_port(s, port, 0.0, 0.0), port->stable_wall_stiffness)
               : max_passive_stiffness_of_port(s, port, p->friction, p->resolution);
}

/* Writes which of the limits of a calibrated port's stiffness is the least. Returns out. */
static char *describe_least_stiffness_limit(const struct tact_session *s,
                                            const struct session_port *port, char *out, size_t size)
{
    const double stiffness_limit_without_friction =
        max_passive_stiffness_of_port(s, port, 0.0, 0.0);
    char filter_term_text[TACT_SCENE_FILTER_TERM_BYTES];
    if (tact_session_max_stiffness_of_port(s, port) < stiffness_limit_without_friction) {
        snprintf(out, size, "%s",
                 isfinite(port->stable_wall_stiffness)
                     ? "the largest wall stiffness that was stable in calibration"
                     : "2 friction / resolution");
    } else {
        snprintf(out, size, "damping / (period / 2 + delay%s)",
                 tact_scene_format_filter_term(
                     filter_term_text,
                     tact_passivity_filter_delay(port->force_filter_cutoff, s->period)));
    }
    return out;
}

int tact_session_check_calibrated_stiffness(const struct tact_session *s,
                                            const struct session_port *port, double stiffness,
                                            int has_energy_bound, const char *joint,
                                            const char *expected, struct tact_error *err)
{
    const struct tact_scene_port *p = &port->numbers;
    const double max_port_stiffness = tact_session_max_stiffness_of_port(s, port);
    const double max_stiffness_without_vibration =
        max_passive_stiffness_of_port(s, port, p->friction, p->resolution);
    const char *file = s->scene->devices[port->calibrated_device_index].calibration;
    char limit[128];
    if (!has_energy_bound && stiffness > max_port_stiffness) {
        return tact_error_set(
            err, -EINVAL,
            "%g N m/rad or N/m at the device of %s is over %g, the stiffest that it renders by "
            "%.100s (%s); expected less, or %s",
            stiffness, joint, floor(max_port_stiffness * 1e3) / 1e3, file,
            describe_least_stiffness_limit(s, port, limit, sizeof limit), expected);
    }
    if (stiffness > max_stiffness_without_vibration) {
        tact_message(s->options.messages, TACT_MESSAGE_WARNING,
                     "%s may vibrate by a few steps of the sensor of its device, of %g m or rad: "
                     "its stiffness of %g N m/rad or N/m is over 2 friction / resolution, %g, of "
                     "the calibration file %.100s",
                     joint, p->resolution, stiffness, max_stiffness_without_vibration, file);
    }
    return 0;
}

double tact_session_max_damping_of_coupling(const struct tact_session *s,
                                            const struct session_coupling *c)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    const struct tact_passivity_loop loop = {
        .mass = c->port.numbers.mass,
        .damping = c->port.numbers.damping,
        .delay = tact_session_port_delay(s, c),
        .stiffness = tact_session_coupling_gain(c) * def->stiffness,
        .rate_filter_weight = c->alpha,
        .force_filter_weight = tact_low_pass_weight(c->port.force_filter_cutoff, s->period),
        .period = s->period};
    return tact_passivity_max_damping(&loop);
}

/* Checks that the damper of a coupling does not make its device oscillate by itself. */
static int check_coupling_damping(const struct tact_session *s, const struct session_coupling *c,
                                  struct tact_error *err)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    const double damping = tact_session_coupling_gain(c) * def->damping;
    if (!c->port.are_axis_numbers_known || def->hard) {
        return 0;
    }
    const double max_damping = tact_session_max_damping_of_coupling(s, c);
    if (damping <= max_damping) {
        return 0;
    }
    set_error_key_of_coupling(s, c, "damping", err);
    return tact_error_set(err, -EINVAL,
                          "%g N m s/rad or N s/m at the device of %s is over %g, with which a "
                          "device of its mass, %g kg m^2 or kg, and delay, %g s, oscillates when "
                          "it is released%s; expected less, or \"hard: true\"",
                          damping, s->hands[c->hand].joint_names[c->link],
                          floor(max_damping * 1e3 + 1e-6) / 1e3, c->port.numbers.mass,
                          tact_session_port_delay(s, c),
                          c->alpha < 1.0 || c->port.force_filter_cutoff > 0.0
                              ? ", by the filters of coupling and output"
                              : "");
}

static int check_coupling_stiffness(const struct tact_session *s, const struct session_coupling *c,
                                    struct tact_error *err)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    set_error_key_of_coupling(s, c, "stiffness", err);
    return tact_session_check_calibrated_stiffness(
        s, &c->port, tact_session_coupling_gain(c) * def->stiffness, def->hard,
        s->hands[c->hand].joint_names[c->link], "\"hard: true\"", err);
}

/* 1 where a device receives the reaction of one of a group of n couplings. Of an `operator` this is
 * 0: its script moves independently of the force. */
static int is_reaction_sent(const struct tact_session *s, const struct session_coupling *c, int n)
{
    for (int i = 0; i < s->output_count; i++) {
        const struct session_output *out = &s->outputs[i];
        const int is_output_of_coupling_group =
            (out->port >= c && out->port < c + n) ||
            (out->tool && out->tool == c->tool && out->part == c->is_rotation);
        if (is_output_of_coupling_group &&
            strcmp(s->scene->devices[out->device].type, "operator")) {
            return 1;
        }
    }
    return 0;
}

/* Warns where the device that renders the first of a group of couplings is not known. */
static void warn_about_unknown_device(const struct tact_session *s,
                                      const struct session_coupling *c, int n)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    struct tact_error err = {.line = 0};
    char line[1024];
    if (c->port.are_axis_numbers_known || !is_reaction_sent(s, c, n)) {
        return;
    }
    set_error_key_of_coupling(s, c, "stiffness", &err);
    tact_error_set(
        &err, 0,
        "the %g N m/rad or N/m of %s are not checked: its device may rattle, whose mass, "
        "damping and delay are not known; expected \"device\" beside it, or a "
        "calibration file of the device (tact calibrate)",
        def->stiffness, tact_session_coupling_group_name(s, (int)(c - s->couplings)));
    tact_error_format(&err, line, sizeof line);
    tact_message(s->options.messages, TACT_MESSAGE_WARNING, "%s", line);
}

/* The forces sent within a delay are stored, in at most MAX_PORT_DELAY_TICKS ticks. */
int tact_session_check_port_delay(const struct tact_session *s, double delay, const char *joint,
                                  struct tact_error *err)
{
    if (!(delay >= 0.0 && delay <= MAX_PORT_DELAY_TICKS * s->period)) {
        return tact_error_set(err, -EINVAL,
                              "the device of %s has a delay of %g s from sensor to force; expected "
                              "0 to %d ticks, %g s",
                              joint, delay, MAX_PORT_DELAY_TICKS, MAX_PORT_DELAY_TICKS * s->period);
    }
    return 0;
}

int tact_session_check_ports(const struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    for (int i = 0; !rc && i < s->device_count; i++) {
        rc = s->scene->devices[i].haptic_count ? check_calibrated_device(s, i, err) : 0;
    }
    for (int i = 0; !rc && i < s->coupling_count; i++) {
        const struct session_coupling *c = &s->couplings[i];
        const struct tact_scene_coupling *def =
            s->scene->hands[c->hand].links[c->link].joint.coupling;
        if (def->hard && !c->port.are_axis_numbers_known) {
            set_error_key_of_coupling(s, c, "hard", err);
            rc = tact_error_set(err, -EINVAL,
                                "needs the numbers of the device of %s; expected \"device\" beside "
                                "it, or a calibration file with that axis",
                                s->hands[c->hand].joint_names[c->link]);
        } else if (def->device && c->port.calibrated_device_index >= 0) {
            set_error_key_of_coupling(s, c, "device", err);
            rc = tact_error_set(err, -EINVAL,
                                "the numbers of this device are in %.100s too; expected one of the "
                                "two",
                                s->scene->devices[c->port.calibrated_device_index].calibration);
        } else if (c->port.calibrated_device_index >= 0) {
            rc = check_tool_axes(s, c, err);
            rc = rc ? rc : check_coupling_gain_of_scale(s, c, err);
            rc = rc ? rc : check_coupling_damping(s, c, err);
            rc = rc ? rc : check_coupling_stiffness(s, c, err);
        } else if (c->port.are_axis_numbers_known) {
            rc = check_coupling_damping(s, c, err);
        }
        if (!rc) {
            set_error_key_of_coupling(s, c, "device", err);
            rc = tact_session_check_port_delay(s, tact_session_port_delay(s, c),
                                               s->hands[c->hand].joint_names[c->link], err);
        }
    }
    rc = rc ? rc : tact_session_check_drive_ports(s, err);
    rc = rc ? rc : tact_session_check_base_matrices(s, err);
    for (int i = 0, count; !rc && i < s->coupling_count; i += count) {
        count = tact_session_coupling_group_size(s, i);
        warn_about_unknown_device(s, &s->couplings[i], count);
    }
    return rc;
}

/* A coupling has a port field where the passivity controller acts on its port, or forces act after
 * a delay. */
int tact_session_has_port_field(const struct tact_session *s, const struct session_coupling *c)
{
    return !s->precedes_results_39 &&
           (c->port.delay.count > 0 ||
            (c->port.max_damping > 0.0 && !(c->port.bound_stiffness > 0.0)));
}
