/* Tools: bases of hands that devices lead. Their defaults and values, their names, and outputs for
 * their forces and torques. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/hand.h"
#include "rt/scene/scene_internal.h"

/* Largest dead zone: length of a channel vector that may count as 0. */
#define MAX_TOOL_DEAD_ZONE 0.9

static bool is_rate_controlled(const struct tact_scene_tool *tool)
{
    return !strcmp(tool->mode, "rate");
}

/* Sets defaults of a tool; libcyaml frees them, whose allocator is malloc. */
static int set_tool_defaults(const struct tact_scene_check_context *check,
                             struct tact_scene_tool *tool, const char *path)
{
    if (!tool->mode) {
        tool->mode = strdup("position");
    }
    if (!tact_scene_has_key(check, "%s.quat_wxyz", path)) {
        tool->quat_wxyz[0] = 1.0;
    }
    if (!tact_scene_has_key(check, "%s.scale", path)) {
        tool->scale = 1.0;
    }
    if (!tact_scene_has_key(check, "%s.force_scale", path)) {
        tool->force_scale = 1.0;
    }
    return tool->mode ? 0 : tact_error_set(check->err, -ENOMEM, "out of memory");
}

/* Checks that a list of channels is empty or has `count` entries or, for quaternions, one more. */
static int check_channel_count(const struct tact_scene_check_context *check, const char *path,
                               const char *key, uint32_t count, bool is_quaternion_allowed)
{
    char key_path[TACT_SCENE_PATH_BYTES];
    if (count == 0 || count == 3 || (is_quaternion_allowed && count == 4)) {
        return 0;
    }
    return tact_scene_report_bad_value(check, tact_scene_path_of_key(key_path, path, key),
                                       is_quaternion_allowed
                                           ? "expected 3 channels of a rotation vector, or 4 of a "
                                             "quaternion, w first; found %u"
                                           : "expected 3 channels, found %u",
                                       count);
}

static int check_tool_channel_counts(const struct tact_scene_check_context *check,
                                     const struct tact_scene_tool *tool, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = check_channel_count(check, path, "position", tool->position_count, false);
    rc = rc ? rc
            : check_channel_count(check, path, "attitude", tool->attitude_count,
                                  !is_rate_controlled(tool));
    rc = rc ? rc : check_channel_count(check, path, "force", tool->force_count, false);
    rc = rc ? rc : check_channel_count(check, path, "torque", tool->torque_count, false);
    if (!rc && !tool->position_count && !tool->attitude_count) {
        rc = tact_scene_report_bad_value(check, path,
                                         "a tool needs the key \"position\", \"attitude\" or both");
    }
    const bool force = tool->force_count > tool->position_count;
    if (!rc && (force || tool->torque_count > tool->attitude_count)) {
        rc = tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, force ? "force" : "torque"),
            "a tool can only send a force or torque to its device if it has the key \"%s\" too",
            force ? "position" : "attitude");
    }
    if (!rc && is_rate_controlled(tool) && (tool->force_count || tool->torque_count)) {
        rc = tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "mode"),
            "a device whose channels are speeds has no force that its motion works "
            "against; expected \"mode: position\", or no force and torque");
    }
    return rc;
}

static int check_tool_rate_values(const struct tact_scene_check_context *check,
                                  const struct tact_scene_tool *tool, const char *path)
{
    static const char *const keys[] = {"dead_zone", "speed", "turn_speed"};
    char key[TACT_SCENE_PATH_BYTES];
    if (!is_rate_controlled(tool)) {
        for (int i = 0; i < 3; i++) {
            if (tact_scene_has_key(check, "%s.%s", path, keys[i])) {
                return tact_scene_report_bad_value(
                    check, tact_scene_path_of_key(key, path, keys[i]),
                    "this key is only for a tool with \"mode: rate\"");
            }
        }
        return 0;
    }
    int rc = tact_scene_require_between(check, tact_scene_path_of_key(key, path, "dead_zone"),
                                        tool->dead_zone, 0.0, MAX_TOOL_DEAD_ZONE, "");
    if (!rc && tool->position_count) {
        rc = tact_scene_require_positive(check, path, "speed", tool->speed, "m/s");
    }
    if (!rc && tool->attitude_count) {
        rc = tact_scene_require_positive(check, path, "turn_speed", tool->turn_speed, "rad/s");
    }
    return rc;
}

/* Checks the workspace edge, beyond which a position device moves the target at a rate. */
static int check_workspace_edge(const struct tact_scene_check_context *check,
                                const struct tact_scene_tool *tool, const char *path)
{
    static const char *const keys[] = {"edge", "edge_speed", "center"};
    char key[TACT_SCENE_PATH_BYTES];
    const bool has_workspace_edge_key = tact_scene_has_key(check, "%s.edge", path);
    for (int i = 0; i < 3; i++) {
        if (!tact_scene_has_key(check, "%s.%s", path, keys[i])) {
            continue;
        }
        if (is_rate_controlled(tool) || !tool->position_count || !has_workspace_edge_key) {
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, keys[i]),
                has_workspace_edge_key
                    ? "is of a device whose channels are positions; expected \"position\" and "
                      "no \"mode: rate\""
                    : "is of the edge of a workspace; expected \"edge\" beside it");
        }
    }
    int rc = has_workspace_edge_key
                 ? tact_scene_require_positive(check, path, "edge", tool->edge, "m")
                 : 0;
    rc = rc || !has_workspace_edge_key
             ? rc
             : tact_scene_require_positive(check, path, "edge_speed", tool->edge_speed, "m/s");
    return rc || !has_workspace_edge_key
               ? rc
               : tact_scene_require_coordinates(check, path, "center", tool->center, 3);
}

static int check_tool_bounds(const struct tact_scene_check_context *check,
                             const struct tact_scene_tool *tool, const char *path)
{
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tool->lower ? tact_scene_require_coordinates(check, path, "lower", tool->lower, 3) : 0;
    rc = rc || !tool->upper ? rc
                            : tact_scene_require_coordinates(check, path, "upper", tool->upper, 3);
    for (int i = 0; !rc && i < 3; i++) {
        if ((tool->lower && tool->lower[i] > 0.0) || (tool->upper && tool->upper[i] < 0.0)) {
            const bool is_lower_bound_above_start = tool->lower && tool->lower[i] > 0.0;
            rc = tact_scene_report_bad_value(
                check,
                tact_scene_path_of_key(key, path, is_lower_bound_above_start ? "lower" : "upper"),
                "this bound is a displacement from the tool's start, which must be inside the "
                "bounds: expected %s",
                is_lower_bound_above_start ? "at most 0" : "at least 0");
        }
    }
    return rc;
}

static int check_tool_values(const struct tact_scene_check_context *check,
                             struct tact_scene_tool *tool, const char *path)
{
    static const char *const modes[] = {"position", "rate", NULL};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "mode"), tool->mode,
                                     modes);
    rc = rc ? rc : check_tool_channel_counts(check, tool, path);
    rc = rc ? rc
            : tact_scene_check_quat(check, tool->quat_wxyz,
                                    tact_scene_path_of_key(key, path, "quat_wxyz"));
    rc = rc ? rc : tact_scene_require_positive(check, path, "scale", tool->scale, "");
    rc = rc ? rc : tact_scene_require_positive(check, path, "force_scale", tool->force_scale, "");
    if (!rc && (tool->fine || tact_scene_has_key(check, "%s.fine_scale", path))) {
        rc = tool->fine
                 ? tact_scene_require_positive(check, path, "fine_scale", tool->fine_scale, "")
                 : tact_scene_report_bad_value(check,
                                               tact_scene_path_of_key(key, path, "fine_scale"),
                                               "acts by a button; expected \"fine\" beside it");
    }
    rc = rc ? rc : check_tool_rate_values(check, tool, path);
    rc = rc ? rc : check_workspace_edge(check, tool, path);
    rc = rc ? rc : check_tool_bounds(check, tool, path);
    if (!rc && tool->force_count) {
        rc = tact_scene_require_positive(check, path, "limit", tool->limit, "N");
        rc = rc ? rc : tact_scene_require_positive(check, path, "rate", tool->rate, "N/s");
    }
    if (!rc && tool->torque_count) {
        rc = tact_scene_require_positive(check, path, "turn_limit", tool->turn_limit, "N m");
        rc = rc ? rc
                : tact_scene_require_positive(check, path, "turn_rate", tool->turn_rate, "N m/s");
    }
    return rc ? rc : tact_scene_require_nonnegative(check, path, "filter", tool->filter, "Hz");
}

static char *join_owner_and_part_name(const char *name_before_dot, const char *part)
{
    const size_t size = strlen(name_before_dot) + strlen(part) + 2;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s.%s", name_before_dot, part);
    }
    return text;
}

/* Adds an output for each channel of the tool's force, or of its torque (is_torque_output). */
static int add_tool_outputs(struct tact_scene *scene, uint32_t index, bool is_torque_output)
{
    static const char *const coordinates[] = {"base_x",  "base_y",  "base_z",
                                              "base_rx", "base_ry", "base_rz"};
    const struct tact_scene_tool *tool = &scene->tools[index];
    char **const channels = is_torque_output ? tool->torque : tool->force;
    const uint32_t count = is_torque_output ? tool->torque_count : tool->force_count;
    struct tact_scene_output *enlarged_outputs =
        realloc(scene->outputs, (scene->outputs_count + count + 1) * sizeof *enlarged_outputs);
    if (!enlarged_outputs) {
        return -ENOMEM;
    }
    scene->outputs = enlarged_outputs;
    for (uint32_t i = 0; i < 3 && count; i++) { /* which is 0 or 3 */
        struct tact_scene_output *out = &scene->outputs[scene->outputs_count++];
        *out = (struct tact_scene_output){
            .from = join_owner_and_part_name(tool->hand, coordinates[i + 3 * is_torque_output]),
            .to = join_owner_and_part_name(tool->device, channels[i]),
            .what = strdup("reaction"),
            .scale = tool->force_scale,
            .limit = is_torque_output ? tool->turn_limit : tool->limit,
            .rate = is_torque_output ? tool->turn_rate : tool->rate,
            .filter = tool->filter,
            .tool = index + 1};
        if (!out->from || !out->to || !out->what) {
            return -ENOMEM;
        }
    }
    return 0;
}

int tact_scene_complete_tools(const struct tact_scene_check_context *check,
                              struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->tools_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "tools[%u]", i);
        rc = set_tool_defaults(check, &scene->tools[i], path);
        rc = rc ? rc : check_tool_values(check, &scene->tools[i], path);
        if (!rc && (add_tool_outputs(scene, i, false) || add_tool_outputs(scene, i, true))) {
            rc = tact_error_set(check->err, -ENOMEM, "out of memory");
        }
    }
    return rc;
}

static const struct tact_scene_hand *find_hand_by_name(const struct tact_scene *scene,
                                                       const char *name)
{
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        if (!strcmp(scene->hands[i].name, name)) {
            return &scene->hands[i];
        }
    }
    return NULL;
}

/* Checks that only a tool sets the target of its base and sends its reaction. */
static int check_moving_base_of_tool(const struct tact_scene_check_context *check,
                                     const struct tact_scene *scene, uint32_t index,
                                     const struct tact_scene_hand *hand)
{
    char path[TACT_SCENE_PATH_BYTES], joint[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < TACT_HAND_BASE; i++) {
        snprintf(joint, sizeof joint, "%s.%s", hand->name, hand->links[i].name);
        const long input = tact_scene_find_input(scene, scene->inputs_count, "target", joint),
                   force = tact_scene_find_input(scene, scene->inputs_count, "force", joint);
        if (input >= 0 || force >= 0) {
            snprintf(path, sizeof path, "tools[%u].hand", index);
            return input >= 0
                       ? tact_scene_report_bad_value(
                             check, path, "inputs[%ld] already sets the target of %s", input, joint)
                       : tact_scene_report_bad_value(
                             check, path, "inputs[%ld] already moves %s by a measured force", force,
                             joint);
        }
        for (uint32_t k = 0; k < scene->outputs_count; k++) {
            const struct tact_scene_output *out = &scene->outputs[k];
            if (!out->tool && !strcmp(out->what, "reaction") && !strcmp(out->from, joint)) {
                snprintf(path, sizeof path, "outputs[%u].from", k);
                return tact_scene_report_bad_value(
                    check, path,
                    "tools[%u] moves the base of hand %s: only \"force\" and \"torque\" of that "
                    "tool may send the reaction of the base",
                    index, hand->name);
            }
        }
    }
    return 0;
}

/* Checks that the base of a tool's hand has a coupling, and no other tool moves it. */
static int check_hand_moved_by_tool(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene, uint32_t index)
{
    const struct tact_scene_tool *tool = &scene->tools[index];
    const struct tact_scene_hand *hand = find_hand_by_name(scene, tool->hand);
    char path[TACT_SCENE_PATH_BYTES];
    snprintf(path, sizeof path, "tools[%u].hand", index);
    if (!hand || !tact_scene_base_links(hand)) {
        return tact_scene_report_bad_value(check, path,
                                           hand
                                               ? "the base of %s is fixed; expected \"base\" in it"
                                               : "no hand is named \"%s\"; expected one of `hands`",
                                           tool->hand);
    }
    if ((tool->position_count && !hand->base->coupling) ||
        (tool->attitude_count && !hand->base->turn_coupling)) {
        return tact_scene_report_bad_value(
            check, path,
            "the base of hand %s needs the key \"%s\", through which the device of this tool moves "
            "it",
            tool->hand,
            tool->position_count && !hand->base->coupling ? "coupling" : "turn_coupling");
    }
    for (uint32_t i = 0; i < index; i++) {
        if (!strcmp(scene->tools[i].hand, tool->hand)) {
            return tact_scene_report_bad_value(check, path, "tools[%u] leads %s already", i,
                                               tool->hand);
        }
    }
    return check_moving_base_of_tool(check, scene, index, hand);
}

int tact_scene_check_tools(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->tools_count; i++) {
        const struct tact_scene_tool *tool = &scene->tools[i];
        char path[TACT_SCENE_PATH_BYTES], channel[TACT_SCENE_PATH_BYTES];
        rc = check_hand_moved_by_tool(check, scene, i);
        snprintf(path, sizeof path, "tools[%u].device", i);
        snprintf(channel, sizeof channel, "%.60s.x", tool->device);
        rc = rc ? rc : tact_scene_check_channel(check, scene, path, channel);
        snprintf(path, sizeof path, "tools[%u].clutch", i);
        rc = rc || !tool->clutch ? rc : tact_scene_check_channel(check, scene, path, tool->clutch);
        snprintf(path, sizeof path, "tools[%u].fine", i);
        rc = rc || !tool->fine ? rc : tact_scene_check_channel(check, scene, path, tool->fine);
    }
    return rc;
}

double tact_scene_tool_force_gain(const struct tact_scene *scene, uint32_t hand,
                                  bool is_torque_output)
{
    for (uint32_t i = 0; i < scene->tools_count; i++) {
        const struct tact_scene_tool *tool = &scene->tools[i];
        if (!strcmp(tool->hand, scene->hands[hand].name)) {
            const double scale =
                tool->fine && tool->fine_scale > tool->scale ? tool->fine_scale : tool->scale;
            return tool->force_scale * (is_torque_output ? 1.0 : scale);
        }
    }
    return 1.0;
}
