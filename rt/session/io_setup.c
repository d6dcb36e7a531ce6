/* Devices of the scene, and the joints and outputs that they are connected to. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt/low_pass_internal.h"
#include "rt/session/admittance_internal.h"
#include "rt/session/grip_internal.h"
#include "rt/session/hold_internal.h"
#include "rt/session/position_internal.h"
#include "rt/session/remote_internal.h"
#include "rt/session/session_internal.h"

/* Sets the error's key to that of a device. */
static void set_error_key_of_device(const struct tact_session *s, uint32_t index, const char *key,
                                    struct tact_error *err)
{
    char path[48];
    snprintf(path, sizeof path, "devices[%u]%s", index, key);
    tact_scene_where(s->scene, path, err);
}

static const struct tact_device_type *find_device_type(const struct tact_session *s, uint32_t index,
                                                       struct tact_error *err)
{
    const char *scene_device_type = s->scene->devices[index].type;
    const struct tact_device_type *type = NULL;
    char list_of_device_types[256] = "";
    for (size_t i = 0; i < s->options.type_count; i++) {
        const struct tact_device_type *device_type_of_program = s->options.types[i];
        size_t used = strlen(list_of_device_types);
        if (device_type_of_program &&
            tact_abi_check(&device_type_of_program->abi, sizeof *device_type_of_program)) {
            tact_error_set(err, -EINVAL,
                           "device type %zu of the program was compiled for another ABI version",
                           i);
            return NULL;
        }
        if (!device_type_of_program || !device_type_of_program->name ||
            !device_type_of_program->open) {
            tact_error_set(err, -EINVAL, "device type %zu of the program has no %s", i,
                           device_type_of_program && device_type_of_program->name ? "open"
                                                                                  : "name");
            return NULL;
        }
        type =
            strcmp(device_type_of_program->name, scene_device_type) ? type : device_type_of_program;
        snprintf(list_of_device_types + used, sizeof list_of_device_types - used, "%s%s",
                 i ? ", " : "", device_type_of_program->name);
    }
    if (!type) {
        set_error_key_of_device(s, index, ".type", err);
        tact_error_set(err, -EINVAL, "no device type \"%s\"; known: %s", scene_device_type,
                       list_of_device_types);
    }
    return type;
}

/* Adds the key `type` of the device to the error where the type is invalid. */
static int check_opened_device(const struct tact_session *s, uint32_t index,
                               struct tact_device *device, struct tact_error *err)
{
    const struct tact_scene_device *def = &s->scene->devices[index];
    snprintf(device->info.name, sizeof device->info.name, "%s", def->name);
    snprintf(device->info.type, sizeof device->info.type, "%s", def->type);
    int rc = tact_device_check(device, err);
    if (rc) {
        set_error_key_of_device(s, index, ".type", err);
        if (device->ops && device->ops->close) {
            device->ops->close(device->self);
        }
        memset(device, 0, sizeof *device);
    }
    return rc;
}

int tact_session_open_device(const struct tact_session *s, uint32_t index, struct tact_device *out,
                             struct tact_error *err)
{
    const struct tact_scene_device *def = &s->scene->devices[index];
    const struct tact_device_type *type = find_device_type(s, index, err);
    if (!type) {
        return -EINVAL;
    }
    struct tact_device_config config = {
        .name = def->name,
        .directory = s->scene->directory,
        .file = s->scene->path,
        .settings = def->settings,
        .setting_count = (int)def->settings_count,
        .period = s->period,
        .record = s->options.record_devices,
        .messages = s->options.messages,
        .user = type->user,
        .replace = s->options.replace &&
                   !tact_session_reads_file_in_folder(s->scene, s->options.record_devices)};
    memset(out, 0, sizeof *out);
    int rc = type->open(&config, out, err);
    rc = rc > 0 ? -EINVAL : rc;
    if (rc && err && !err->text[0]) {
        tact_error_set(err, rc, "cannot be opened: %s", strerror(-rc));
    }
    if (rc && err && !err->line && (!err->file[0] || !strcmp(err->file, s->scene->path))) {
        /* a default setting is not in the file, so that the error is at the device */
        set_error_key_of_device(s, index, "", err);
    }
    return rc ? rc : check_opened_device(s, index, out, err);
}

int tact_session_open_devices(struct tact_session *s, const struct tact_device_info *logged_devices,
                              int replayed_device_count, struct tact_error *err)
{
    s->devices = calloc(s->scene->devices_count + 1, sizeof *s->devices);
    if (!s->devices) {
        return -ENOMEM;
    }
    s->device_count = (int)s->scene->devices_count;
    if (logged_devices && replayed_device_count != s->device_count) {
        return tact_error_set(err, -EINVAL, "the log describes %d devices, but its scene has %d",
                              replayed_device_count, s->device_count);
    }
    for (int i = 0; i < s->device_count; i++) {
        int rc = tact_session_check_stop_during_creation(s, err);
        if (rc) {
            return rc;
        }
        if (logged_devices) {
            s->devices[i].device.info = logged_devices[i];
        } else {
            rc = tact_session_open_device(s, (uint32_t)i, &s->devices[i].device, err);
            s->devices[i].open = !rc;
        }
        if (rc) {
            return rc;
        }
        for (int k = 0; k < s->devices[i].device.info.input_count; k++) {
            s->devices[i].input.channel[k] = s->devices[i].device.info.input[k].rest;
        }
    }
    return 0;
}

/* Finds "device.channel"; an error names the key of the scene. */
int tact_session_find_channel(struct tact_session *s, const char *path, int output, const char *key,
                              int *device, int *channel, struct tact_error *err)
{
    const char *dot = strchr(path, '.');
    size_t length = dot ? (size_t)(dot - path) : strlen(path);
    for (int i = 0; dot && i < s->device_count; i++) {
        const struct tact_device_info *info = &s->devices[i].device.info;
        const char *name = s->scene->devices[i].name;
        if (strlen(name) != length || strncmp(name, path, length)) {
            continue;
        }
        int count = output ? info->output_count : info->input_count;
        for (int k = 0; k < count; k++) {
            if (!strcmp(dot + 1, output ? info->output[k].name : info->input[k].name)) {
                *device = i;
                *channel = k;
                return 0;
            }
        }
        char list_of_device_channels[256] = "";
        for (int k = 0;
             k < count && strlen(list_of_device_channels) < sizeof list_of_device_channels - 60;
             k++) {
            size_t used = strlen(list_of_device_channels);
            snprintf(list_of_device_channels + used, sizeof list_of_device_channels - used, "%s%s",
                     k ? ", " : "", output ? info->output[k].name : info->input[k].name);
        }
        tact_scene_where(s->scene, key, err);
        return tact_error_set(err, -EINVAL, "device \"%s\" has no %s channel \"%s\"; it has: %s",
                              name, output ? "output" : "input", dot + 1, list_of_device_channels);
    }
    tact_scene_where(s->scene, key, err);
    return tact_error_set(err, -EINVAL, "expected a name \"device.channel\", found \"%s\"", path);
}

static int find_joint_of_key(struct tact_session *s, const char *path, const char *key, int *hand,
                             int *link, struct tact_error *err)
{
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        for (uint32_t k = 0; k < s->scene->hands[i].links_count; k++) {
            if (!strcmp(path, s->hands[i].joint_names[k])) {
                *hand = (int)i;
                *link = (int)k;
                return 0;
            }
        }
    }
    tact_scene_where(s->scene, key, err);
    return tact_error_set(err, -EINVAL, "no joint \"%s\"; expected hand.link", path);
}

static int map_input_channel(struct tact_session *s, uint32_t i, struct tact_error *err)
{
    const struct tact_scene_input *def = &s->scene->inputs[i];
    struct session_input *in = &s->inputs[i];
    char key[48];
    *in = (struct session_input){.scale = def->scale,
                                 .offset = def->offset,
                                 .lower = def->lower,
                                 .upper = def->upper,
                                 .sets_measured_joint_state = !strcmp(def->what, "state"),
                                 .alpha = tact_low_pass_weight(def->filter, s->period)};
    snprintf(key, sizeof key, "inputs[%u].from", i);
    int rc = tact_session_find_channel(s, def->from, 0, key, &in->device, &in->channel, err);
    snprintf(key, sizeof key, "inputs[%u].to", i);
    rc = rc ? rc : find_joint_of_key(s, def->to, key, &in->hand, &in->link, err);
    if (!rc) {
        const struct tact_scene_joint *joint = &s->scene->hands[in->hand].links[in->link].joint;
        in->state.q = joint->start;
        if (!strcmp(def->what, "force")) {
            tact_session_add_force_input(s, in, joint->damping);
        }
    }
    return rc;
}

/* Index of the input that measures a joint, or -1. */
static int find_input_measuring_joint(const struct tact_session *s, int hand, int link)
{
    for (int i = 0; i < s->input_count; i++) {
        const struct session_input *in = &s->inputs[i];
        if (in->sets_measured_joint_state && in->hand == hand && in->link == link) {
            return i;
        }
    }
    return -1;
}

/* Finds the link or body that an output is computed from. */
static int find_owner_of_output_source(struct tact_session *s, const char *path, const char *key,
                                       struct tact_owner *owner, struct tact_error *err)
{
    owner->kind = TACT_OWNER_BODY;
    for (int i = 0; i < tact_world_body_count(s->world); i++) {
        if (!strcmp(path, s->bodies[i].name)) {
            owner->index = i;
            return 0;
        }
    }
    owner->kind = TACT_OWNER_HAND;
    for (uint32_t i = 0; i < s->scene->hands_count; i++) {
        if (s->hands[i].base_coordinate_count && !strcmp(path, s->hands[i].base_name)) {
            owner->index = (int)i;
            owner->link = s->hands[i].base_coordinate_count - 1;
            return 0;
        }
        if (s->scene->hands[i].base && !strcmp(path, s->hands[i].base_name)) {
            *owner = tact_session_body_owner(s->scene, path);
            return 0;
        }
    }
    return find_joint_of_key(s, path, key, &owner->index, &owner->link, err);
}

/* Finds why an output cannot be a component of its vector: returns the key of the output that is
 * wrong, and the output of the same vector that it contradicts; "from" where there are too many
 * components; NULL: none. */
static const char *find_key_differing_in_vector(const struct tact_scene *scene, uint32_t i,
                                                uint32_t *conflicting_output_of_vector)
{
    const struct tact_scene_output *def = &scene->outputs[i];
    const int group = tact_scene_output_group(scene, i);
    const char *key = NULL;
    int components = 1;
    for (uint32_t k = 0; group && !key && k < i; k++) {
        const struct tact_scene_output *earlier_output = &scene->outputs[k];
        if (tact_scene_output_group(scene, k) != group) {
            continue;
        }
        *conflicting_output_of_vector = k;
        key = ++components > TACT_SAFETY_GROUP                  ? "from"
              : def->limit != earlier_output->limit             ? "limit"
              : def->rate != earlier_output->rate               ? "rate"
              : def->filter != earlier_output->filter           ? "filter"
              : fabs(def->scale) != fabs(earlier_output->scale) ? "scale"
                                                                : NULL;
    }
    return key;
}

int tact_session_check_output_vectors(const struct tact_scene *scene, struct tact_error *err)
{
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        uint32_t conflicting_output_of_vector = 0;
        const char *key = find_key_differing_in_vector(scene, i, &conflicting_output_of_vector);
        if (key) {
            char path[48];
            snprintf(path, sizeof path, "outputs[%u].%s", i, key);
            tact_scene_where(scene, path, err);
            return strcmp(key, "from") == 0
                       ? tact_error_set(
                             err, -EINVAL,
                             "a force or moment vector of a device can have %d outputs at most",
                             TACT_SAFETY_GROUP)
                       : tact_error_set(err, -EINVAL,
                                        "this value differs from that of outputs[%u]: both are "
                                        "components of one vector, which is limited by its length",
                                        conflicting_output_of_vector);
        }
    }
    return 0;
}

/* Outputs of a log that do not form a vector by the present rules are limited one by one, as they
 * were when the log was recorded. */
static void ungroup_conflicting_outputs(const struct tact_scene *scene,
                                        struct tact_safety_channel *channels)
{
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        const int group = tact_scene_output_group(scene, i);
        uint32_t conflicting_output_of_vector;
        if (!find_key_differing_in_vector(scene, i, &conflicting_output_of_vector)) {
            continue;
        }
        for (uint32_t k = 0; k < scene->outputs_count; k++) {
            channels[k].group = channels[k].group == group ? 0 : channels[k].group;
        }
    }
}

/* Checks that one output at most sends the reaction of a coupled joint. The energy of its port is
 * the force of all outputs times the motion of one device: with a second output that is neither the
 * energy of the one device nor of both. */
static int check_ports_have_one_output(const struct tact_session *s, struct tact_error *err)
{
    for (int i = 0; i < s->output_count; i++) {
        const struct session_coupling *port = s->outputs[i].port;
        char key[48];
        int first = 0;
        while (s->outputs[first].port != port) {
            first++;
        }
        if (!port || first == i) {
            continue;
        }
        snprintf(key, sizeof key, "outputs[%d].from", i);
        tact_scene_where(s->scene, key, err);
        return tact_error_set(err, -EINVAL,
                              "outputs[%d] sends the reaction of %s already, to %s; a joint with a "
                              "coupling sends its reaction to one channel of one device, as its "
                              "energy is that of one force",
                              first, s->scene->outputs[i].from, s->scene->outputs[first].to);
    }
    return 0;
}

/* An output of a tool is a component along an axis of the device. */
static void set_tool_and_axis_of_output(struct tact_session *s, uint32_t i,
                                        struct session_output *out)
{
    const struct tact_scene_output *def = &s->scene->outputs[i];
    struct session_tool *tool = def->tool ? &s->tools[def->tool - 1] : NULL;
    out->tool = tool;
    if (tool) {
        out->part = out->owner.link >= 3;
        out->axis = out->owner.link % 3;
        tool->first_coupling[out->part][out->axis].outputs = 1;
    }
}

/* Checks that outputs that are positions, and no others, go to channels that take positions: zero
 * is a place there, and not rest. */
static int check_output_is_position(const struct tact_session *s, uint32_t i,
                                    const struct session_output *out, struct tact_error *err)
{
    const struct tact_device_channel *channel =
        &s->devices[out->device].device.info.output[out->channel];
    const int does_output_send_position = out->kind == OUTPUT_POSITION;
    char key[48];
    if (does_output_send_position == (channel->raw > 0)) {
        return 0;
    }
    snprintf(key, sizeof key, "outputs[%u].what", i);
    if (s->scene->outputs[i].tool) {
        snprintf(key, sizeof key, "tools[%u]", s->scene->outputs[i].tool - 1);
    }
    tact_scene_where(s->scene, key, err);
    return tact_error_set(
        err, -EINVAL,
        does_output_send_position
            ? "%s takes no position; expected a channel that does, or \"what: rate\""
            : "%s takes a position, of which 0 is a place to go to and no rest; expected "
              "\"what: position\"",
        s->scene->outputs[i].to);
}

/* Connects an output that sends the motion of a joint with the admittance by which a person's force
 * moves that joint. */
static void connect_admittance_output(struct tact_session *s, uint32_t i,
                                      struct session_output *out)
{
    const int is_rate_or_position_output = out->kind == OUTPUT_RATE || out->kind == OUTPUT_POSITION;
    out->admittance = is_rate_or_position_output && s->scene->outputs[i].scale != 0.0
                          ? tact_session_find_admittance(s, out->owner.index, out->owner.link)
                          : NULL;
    if (out->admittance && out->admittance->admittance_output_count++) {
        out->admittance = NULL; /* the energy of the port is computed from the first such output */
    } else if (out->admittance) {
        out->admittance->does_output_send_position = out->kind == OUTPUT_POSITION;
    }
}

static int map_output_channel(struct tact_session *s, uint32_t i,
                              struct tact_safety_channel *channel, struct tact_error *err)
{
    const struct tact_scene_output *def = &s->scene->outputs[i];
    struct session_output *out = &s->outputs[i];
    char key[48];
    snprintf(key, sizeof key, "outputs[%u].from", i);
    int rc = find_owner_of_output_source(s, def->from, key, &out->owner, err);
    if (def->tool) {
        const int part = out->owner.link >= 3;
        snprintf(key, sizeof key, "tools[%u].%s[%d]", def->tool - 1, part ? "torque" : "force",
                 out->owner.link % 3);
    } else {
        snprintf(key, sizeof key, "outputs[%u].to", i);
    }
    rc = rc ? rc : tact_session_find_channel(s, def->to, 1, key, &out->device, &out->channel, err);
    out->kind = !strcmp(def->what, "force")      ? OUTPUT_FORCE
                : !strcmp(def->what, "moment")   ? OUTPUT_MOMENT
                : !strcmp(def->what, "rate")     ? OUTPUT_RATE
                : !strcmp(def->what, "position") ? OUTPUT_POSITION
                                                 : OUTPUT_TORQUE;
    rc = rc ? rc : check_output_is_position(s, i, out, err);
    out->along = def->along;
    /* A device that a person holds is sent minus the torque, as a reaction; a robot's joint the
     * torque itself. */
    out->gain = strcmp(def->what, "reaction") ? def->scale : -def->scale;
    out->sensor = out->owner.kind == TACT_OWNER_HAND
                      ? find_input_measuring_joint(s, out->owner.index, out->owner.link)
                      : -1;
    out->gate = 1.0;
    out->port = !rc && out->kind == OUTPUT_TORQUE && !strcmp(def->what, "reaction") &&
                        def->scale != 0.0 && !def->tool
                    ? tact_session_find_coupling(s, out->owner.index, out->owner.link)
                    : NULL;
    if (out->port) {
        out->port->outputs++;
    }
    connect_admittance_output(s, i, out);
    set_tool_and_axis_of_output(s, i, out);
    /* the safety chain limits displacements from an anchor; the limit of the position itself acts
     * in position.c */
    *channel =
        (struct tact_safety_channel){out->kind == OUTPUT_POSITION ? DBL_MAX : def->limit, def->rate,
                                     def->filter, tact_scene_output_group(s->scene, i)};
    return rc;
}

int tact_session_connect_channels(struct tact_session *s, int are_channels_from_log,
                                  struct tact_error *err)
{
    const struct tact_scene *scene = s->scene;
    struct tact_safety_channel channels[TACT_SAFETY_CHANNELS];
    if (scene->outputs_count > TACT_SAFETY_CHANNELS) {
        tact_scene_where(scene, "outputs", err);
        return tact_error_set(err, -EINVAL, "%u outputs; at most %d", scene->outputs_count,
                              TACT_SAFETY_CHANNELS);
    }
    s->inputs = calloc(scene->inputs_count + 1, sizeof *s->inputs);
    s->outputs = calloc(scene->outputs_count + 1, sizeof *s->outputs);
    s->markers = calloc(scene->markers_count + 1, sizeof *s->markers);
    s->admittances = calloc(scene->inputs_count + 1, sizeof *s->admittances);
    if (!s->inputs || !s->outputs || !s->markers || !s->admittances) {
        return -ENOMEM;
    }
    s->input_count = (int)scene->inputs_count;
    s->output_count = (int)scene->outputs_count;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->inputs_count; i++) {
        rc = map_input_channel(s, i, err);
    }
    rc = rc ? rc : tact_session_create_couplings(s);
    rc = rc ? rc : tact_session_connect_tools(s, err);
    for (uint32_t i = 0; !rc && i < scene->outputs_count; i++) {
        rc = map_output_channel(s, i, &channels[i], err);
    }
    if (!rc && are_channels_from_log) {
        ungroup_conflicting_outputs(scene, channels);
    }
    if (!rc &&
        !are_channels_from_log) { /* logs that were recorded before these rules are replayed */
        rc = tact_session_check_output_vectors(scene, err);
        rc = rc ? rc : check_ports_have_one_output(s, err);
    }
    rc = rc ? rc : tact_session_connect_position_outputs(s);
    for (uint32_t i = 0; !rc && i < scene->markers_count; i++) {
        struct session_event_marker *m = &s->markers[s->event_marker_count++];
        char key[64];
        snprintf(key, sizeof key, "markers[%u].from", i);
        m->def = &scene->markers[i];
        rc = tact_session_find_channel(s, m->def->from, 0, key, &m->device, &m->channel, err);
    }
    s->deadman_device = s->deadman_channel = -1;
    if (!rc && scene->deadman) {
        rc = tact_session_find_channel(s, scene->deadman, 0, "deadman", &s->deadman_device,
                                       &s->deadman_channel, err);
    }
    if (!rc) {
        tact_session_set_ports(s);
        rc = tact_session_set_port_delays(s);
    }
    rc = rc ? rc : tact_session_connect_drive_ports(s);
    rc = rc ? rc : tact_session_connect_remotes(s, err);
    rc = rc ? rc : tact_session_connect_grips(s, err);
    rc = rc ? rc : tact_session_create_holds(s);
    struct tact_safety_options options = tact_safety_default();
    options.period = s->period;
    return rc ? rc : tact_safety_init(&s->safety, channels, s->output_count, &options);
}
