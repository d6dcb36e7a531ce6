/* Outputs are not armed with devices that were never calibrated. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/passivity.h"
#include "rt/passivity_internal.h"
#include "rt/session/session_internal.h"

static int set_error_key_of_uncalibrated(const struct tact_session *s, const char *list,
                                         uint32_t index, const char *key, struct tact_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s[%u]%s", list, index, key);
    tact_scene_where(s->scene, path, err);
    return -EINVAL;
}

static int check_device_is_calibrated(const struct tact_session *s, uint32_t i,
                                      struct tact_error *err)
{
    const struct tact_scene_device *def = &s->scene->devices[i];
    const struct tact_device_info *info = &s->devices[i].device.info;
    if (def->calibration_required && !def->calibration) {
        return tact_error_set(
            err, set_error_key_of_uncalibrated(s, "devices", i, ".calibration_required", err),
            "outputs stay disarmed until the device %s is calibrated: run tact "
            "calibrate and name the file that it writes under \"calibration\"",
            def->name);
    }
    for (int k = 0; k < info->wrench_count; k++) {
        if (info->wrench[k].untared) {
            return tact_error_set(
                err, set_error_key_of_uncalibrated(s, "devices", i, "", err),
                "outputs stay disarmed until the zero of the force-torque sensor %s of %s is "
                "measured: run tact calibrate --zero %s, or set its bias or tare",
                info->wrench[k].name, def->name, info->wrench[k].name);
        }
    }
    return 0;
}

/* A channel that leads a tool has a map to metres or radians: a tool has one scale for all three.
 */
static int check_tool_channels_calibrated(const struct tact_session *s, int index, const char *key,
                                          const int *channels, uint32_t count,
                                          struct tact_error *err)
{
    const struct session_tool *tool = &s->tools[index];
    for (uint32_t i = 0; i < count; i++) {
        const struct tact_device_channel *channel =
            &s->devices[tool->device].device.info.input[channels[i]];
        if (channel->raw && !tool->is_rate_controlled) {
            return tact_error_set(
                err, set_error_key_of_uncalibrated(s, "tools", (uint32_t)index, key, err),
                "outputs stay disarmed while the channel %s is in uncalibrated "
                "%s: run tact calibrate --channel %s, or set a map of its device",
                channel->name, channel->unit, channel->name);
        }
    }
    return 0;
}

/* Checks the delay of a coupling's devices: a device slower than its scene states allows only a
 * lower stiffness, and an energy bound has to know the delay. */
static int check_stated_delay_of_coupling_device(const struct tact_session *s,
                                                 const struct session_coupling *c,
                                                 struct tact_error *err)
{
    const struct tact_scene_coupling *def = s->scene->hands[c->hand].links[c->link].joint.coupling;
    const double delay = tact_session_measured_delay_of_coupling(s, c);
    if (!def->device || !(delay > def->device->delay)) {
        return 0;
    }
    const double gain = tact_session_coupling_gain(c);
    const double max_passive_stiffness = tact_passivity_stiffest(
        def->device->damping,
        delay + tact_passivity_filter_delay(c->port.force_filter_cutoff, s->period),
        def->device->friction, def->device->resolution, s->period);
    if (!def->hard && gain * def->stiffness <= max_passive_stiffness) {
        return 0;
    }
    return tact_error_set(err,
                          set_error_key_of_uncalibrated(s, "hands", (uint32_t)c->hand, "", err),
                          "the device of %s needs %.5f s from sensor to force, measured when it "
                          "was opened, and its coupling states %.9g s; with that it renders %g N "
                          "m/rad or N/m: enter it as coupling.device.delay, and less stiffness "
                          "where it is over that",
                          s->hands[c->hand].joint_names[c->link], ceil(delay * 1e5) / 1e5,
                          def->device->delay, floor(max_passive_stiffness * 1e3) / 1e3);
}

int tact_session_check_devices_calibrated(const struct tact_session *s, struct tact_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && s->output_count > 0 && i < s->scene->devices_count; i++) {
        rc = check_device_is_calibrated(s, i, err);
    }
    for (int i = 0; !rc && s->output_count > 0 && i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        const struct tact_device_channel *channel =
            &s->devices[in->device].device.info.input[in->channel];
        if (channel->raw && in->scale == 1.0 && in->offset == 0.0) {
            rc = tact_error_set(
                err, set_error_key_of_uncalibrated(s, "inputs", (uint32_t)i, ".from", err),
                "outputs stay disarmed while the channel %s is in uncalibrated %s: run tact "
                "calibrate --channel %s, or set a map of its device or a scale of this input",
                channel->name, channel->unit, channel->name);
        }
    }
    for (int i = 0; !rc && s->output_count > 0 && i < s->coupling_count; i++) {
        rc = check_stated_delay_of_coupling_device(s, &s->couplings[i], err);
    }
    rc = rc ? rc : tact_session_check_ports(s, err);
    for (int i = 0; !rc && s->output_count > 0 && i < s->tool_count; i++) {
        const struct session_tool *tool = &s->tools[i];
        rc = check_tool_channels_calibrated(s, i, ".position", tool->position,
                                            tool->def->position_count, err);
        rc = rc ? rc
                : check_tool_channels_calibrated(s, i, ".attitude", tool->attitude,
                                                 tool->def->attitude_count, err);
    }
    return rc;
}
