/* Outputs of forces of which a log states no energy, and why. */
#include <stdio.h>
#include <string.h>
#include "info.h"

/* Whether a path, "DEVICE.CHANNEL", begins with the device of another one. */
static int is_of_same_device(const char *path, const char *other)
{
    const size_t length = strcspn(other, ".") + 1;
    return !strncmp(path, other, length);
}

/* Whether a port belongs to the joint of an output: its own, or the one of its device. */
static int has_joint_port(const struct tact_scene_log *v, const struct tact_scene_output *out)
{
    const size_t length = strlen(out->from), device_length = strcspn(out->to, ".");
    for (int i = 0; i < v->port_count; i++) {
        const char *name = v->ports[i].name;
        const int is_port_of_joint = !strncmp(name, out->from, length);
        if (is_port_of_joint &&
            (!name[length] ||
             (name[length] == ' ' && !strncmp(name + length + 1, out->to, device_length) &&
              !name[length + 1 + device_length]))) {
            return 1;
        }
    }
    return 0;
}

/* Whether the joint of an output has a coupling; that of a base belongs to a port of three. */
static int has_joint_coupling(const struct tact_scene_log *v, const struct tact_scene_output *out)
{
    int k = 0;
    for (uint32_t i = 0; i < v->scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &v->scene->hands[i];
        for (uint32_t m = 0; m < hand->links_count; m++, k++) {
            if (!strcmp(v->joints[k].name, out->from)) {
                return hand->links[m].joint.coupling != NULL;
            }
        }
    }
    return 0;
}

/* Unit of an input or output channel "DEVICE.CHANNEL"; "" where it is unknown. */
static const char *get_unit_of_channel(const struct tact_scene_log *v, const char *path,
                                       int is_output_channel)
{
    const char *channel = strchr(path, '.');
    for (int i = 0; channel && i < v->device_count; i++) {
        const struct tact_device_info *device = &v->devices[i];
        const size_t length = (size_t)(channel - path);
        const struct tact_device_channel *channels =
            is_output_channel ? device->output : device->input;
        const int count = is_output_channel ? device->output_count : device->input_count;
        for (int k = 0; strlen(device->name) == length && k < count; k++) {
            if (!strncmp(device->name, path, length) && !strcmp(channels[k].name, channel + 1)) {
                return channels[k].unit;
            }
        }
    }
    return "";
}

/* Why a reaction that is sent as a force has no energy: of the inputs by which its device sets the
 * target of its joint, none is a position. */
static void describe_inputs_of_joint_target(const struct tact_scene_log *v,
                                            const struct tact_scene_output *def, char *out,
                                            size_t size)
{
    snprintf(out, size, "no input of the device %.*s sets the target of %.100s",
             (int)strcspn(def->to, "."), def->to, def->from);
    for (uint32_t i = 0; i < v->scene->inputs_count; i++) {
        const struct tact_scene_input *in = &v->scene->inputs[i];
        if (strcmp(in->to, def->from) != 0 || !is_of_same_device(in->from, def->to) ||
            in->scale == 0.0) {
            continue;
        }
        const char *unit = get_unit_of_channel(v, in->from, 0);
        if (!strstr(unit, "/s") && unit[0] != 'N') {
            snprintf(out, size,
                     "an older tact recorded the log (results before version 62), without the "
                     "energy of this port");
            return;
        }
        snprintf(out, size, "%.100s [%s] is no position", in->from, unit);
    }
}

/* Why an output that sends another force than a reaction has no energy; NULL where it sends none.
 */
static const char *describe_force_without_port(const struct tact_scene_output *def)
{
    if (!strcmp(def->what, "drive")) {
        return "it is the torque of a drive, for the motor of a joint and no device that a person "
               "holds";
    }
    return !strcmp(def->what, "force") || !strcmp(def->what, "moment")
               ? "it is computed from contacts, and the scene states no motion of the device that "
                 "works against it"
               : NULL;
}

const char *info_reason_without_port_energy(const struct tact_scene_log *v, uint32_t output,
                                            char *out, size_t size)
{
    const struct tact_scene_output *def = &v->scene->outputs[output];
    const char *unit = get_unit_of_channel(v, def->to, 1);
    const int is_output_a_reaction = !strcmp(def->what, "reaction");
    const char *reason = describe_force_without_port(def);
    if (is_output_a_reaction ? def->tool || has_joint_port(v, def) || has_joint_coupling(v, def)
                             : !reason) {
        return NULL;
    }
    if (def->scale == 0.0) {
        snprintf(out, size, "its scale is 0");
    } else if (strstr(unit, "/s")) {
        snprintf(out, size, "%.100s [%s] is no force", def->to, unit);
    } else if (!is_output_a_reaction) {
        snprintf(out, size, "%s", reason);
    } else {
        describe_inputs_of_joint_target(v, def, out, size);
    }
    return out;
}
