/* Joints, and bases that move, which the force of a person moves, as of a device that measures
 * force and takes a speed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/hand.h"
#include "rt/scene/scene_internal.h"

/* A joint that the force of an input moves: of a link, or a coordinate of a base. */
struct admittance_joint {
    const struct tact_scene_joint *joint; /* NULL: there is no joint of that name */
    uint32_t hand, link;
    bool is_base_coordinate,
        is_base_attitude_coordinate;  /* is_base_attitude_coordinate: of the attitude of a base */
    char path[TACT_SCENE_PATH_BYTES]; /* key path of the joint or base */
};

static struct admittance_joint find_admittance_joint(const struct tact_scene *scene,
                                                     const char *name)
{
    struct admittance_joint out = {.joint = NULL};
    char key[TACT_SCENE_PATH_BYTES];
    out.is_base_coordinate = tact_scene_find_coordinate(scene, name, &out.hand, &out.link);
    if (!out.is_base_coordinate && !tact_scene_find_link(scene, name, &out.hand, &out.link)) {
        return out;
    }
    out.is_base_attitude_coordinate = out.is_base_coordinate && out.link >= 3;
    tact_scene_link_key_path(scene, out.hand, out.link, key);
    if (out.is_base_coordinate) {
        snprintf(out.path, sizeof out.path, "%s", key);
    } else {
        tact_scene_path_of_key(out.path, key, "joint");
    }
    out.joint = &scene->hands[out.hand].links[out.link].joint;
    return out;
}

/* Index of the first input whose force moves the position of a base, or its attitude; -1: none. */
static long find_force_input_of_base(const struct tact_scene *scene, uint32_t hand,
                                     bool is_base_attitude_coordinate)
{
    for (uint32_t i = 0; i < scene->inputs_count; i++) {
        const struct tact_scene_input *in = &scene->inputs[i];
        uint32_t of, link;
        if (in->what && in->to && !strcmp(in->what, "force") &&
            tact_scene_find_coordinate(scene, in->to, &of, &link) && of == hand &&
            (link >= 3) == is_base_attitude_coordinate) {
            return i;
        }
    }
    return -1;
}

/* Makes the damping of a base's coupling that of its coordinates, which have no coupling then. */
static int set_admittance_damping_of_base(const struct tact_scene_check_context *check,
                                          struct tact_scene_hand *hand, uint32_t number, long input,
                                          bool is_base_attitude_coordinate)
{
    static const char *const keys_without_effect[] = {"stiffness", "axis_stiffness", "axis_damping",
                                                      "device",    "hard",           "filter"};
    const char *name = is_base_attitude_coordinate ? "turn_coupling" : "coupling";
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    if (tact_scene_file_base_with_matrices(hand)) {
        snprintf(path, sizeof path, "hands[%u].base.stiffness_matrix", number);
        return tact_scene_report_bad_value(
            check, path,
            "the force of inputs[%ld] moves this base; expected \"%s\" with a "
            "\"damping\" alone",
            input, name);
    }
    snprintf(path, sizeof path, "hands[%u].base.%s", number, name);
    for (size_t i = 0; i < sizeof keys_without_effect / sizeof *keys_without_effect; i++) {
        if (tact_scene_has_key(check, "%s.%s", path, keys_without_effect[i])) {
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, keys_without_effect[i]),
                "the force of inputs[%ld] moves this base; expected \"damping\" alone", input);
        }
    }
    const struct tact_scene_coupling *coupling =
        is_base_attitude_coordinate ? hand->base->turn_coupling : hand->base->coupling;
    if (!coupling || !(coupling->damping > 0.0)) {
        return tact_scene_report_bad_value(
            check, coupling ? tact_scene_path_of_key(key, path, "damping") : path,
            "the force of inputs[%ld] moves this base against its damping; expected \"%s\" with a "
            "\"damping\" over 0",
            input, name);
    }
    for (int i = is_base_attitude_coordinate ? 3 : 0; i < (is_base_attitude_coordinate ? 6 : 3);
         i++) {
        struct tact_scene_joint *joint = &hand->links[i].joint;
        free(joint->coupling);
        joint->coupling = NULL;
        joint->damping = coupling->damping;
    }
    return 0;
}

int tact_scene_set_admittance_bases(const struct tact_scene_check_context *check,
                                    struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        for (int part = 0; !rc && part < 2 && tact_scene_base_links(&scene->hands[i]); part++) {
            const long input = find_force_input_of_base(scene, i, part);
            rc = input < 0
                     ? 0
                     : set_admittance_damping_of_base(check, &scene->hands[i], i, input, part);
        }
    }
    return rc;
}

/* What acts on a joint besides the force of an input, or NULL; *key is the scene key that sets it.
 */
static const char *
find_law_conflicting_with_force(const struct admittance_joint *joint_of_force_input,
                                const char **key)
{
    const struct tact_scene_joint *joint = joint_of_force_input->joint;
    const struct {
        int is_law_of_joint_set;
        const char *key, *text;
    } laws[] = {{joint->coupling != NULL, "coupling",
                 "the key \"coupling\", by which a device would move it too"},
                {joint->mimic != NULL, "mimic",
                 "the key \"mimic\", by which another joint would move it too"},
                {joint->tendon != NULL, "tendon", "a tendon"},
                {joint->stiffness > 0.0, "stiffness",
                 "a drive stiffness, which would pull the joint back to its target"},
                {joint->limit > 0.0,
                 joint_of_force_input->is_base_attitude_coordinate ? "turn_limit" : "limit",
                 "a force limit, which would bound force and damping together"}};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (laws[i].is_law_of_joint_set) {
            *key = laws[i].key;
            return laws[i].text;
        }
    }
    return NULL;
}

static int check_force_input(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene, uint32_t index)
{
    static const char *const other_input_kinds[] = {"target", "state"};
    const struct tact_scene_input *in = &scene->inputs[index];
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    const struct admittance_joint force_input_joint = find_admittance_joint(scene, in->to);
    snprintf(path, sizeof path, "inputs[%u].to", index);
    if (!force_input_joint.joint) {
        return tact_scene_report_bad_value(check, path, "no joint \"%s\"; expected hand.link",
                                           in->to);
    }
    for (int i = 0; i < 2; i++) {
        const long other =
            tact_scene_find_input(scene, scene->inputs_count, other_input_kinds[i], in->to);
        if (other >= 0) {
            return tact_scene_report_bad_value(check, path,
                                               "inputs[%ld] already sets the %s of the joint %s",
                                               other, other_input_kinds[i], in->to);
        }
    }
    const char *key_conflicting_with_force,
        *other = find_law_conflicting_with_force(&force_input_joint, &key_conflicting_with_force);
    if (other) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, force_input_joint.path, key_conflicting_with_force),
            "the force of inputs[%u] moves this joint; expected it without %s", index, other);
    }
    return force_input_joint.joint->damping > 0.0
               ? 0
               : tact_scene_report_bad_value(
                     check, tact_scene_path_of_key(key, force_input_joint.path, "damping"),
                     "the force of inputs[%u] moves this joint against its damping; expected it "
                     "over 0",
                     index);
}

int tact_scene_check_force_inputs(const struct tact_scene_check_context *check,
                                  const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->inputs_count; i++) {
        rc = strcmp(scene->inputs[i].what, "force") ? 0 : check_force_input(check, scene, i);
    }
    return rc;
}
