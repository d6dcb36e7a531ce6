/* Joints that the force of a person moves, as of a device that measures force and takes a speed. */
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

/* What acts on a joint besides the force of an input, or NULL; *key is the scene key that sets it.
 */
static const char *find_law_conflicting_with_force(const struct tact_scene_joint *joint,
                                                   const char **key)
{
    const struct {
        int is_law_set;
        const char *key, *text;
    } laws[] = {
        {joint->coupling != NULL, "coupling", "the key \"coupling\", whose device sets a position"},
        {joint->mimic != NULL, "mimic", "the key \"mimic\", by which it follows another joint"},
        {joint->tendon != NULL, "tendon", "a tendon"},
        {joint->stiffness > 0.0, "stiffness",
         "a drive stiffness, which would pull it back to its target"},
        {joint->limit > 0.0, "limit",
         "a force limit, which would bound force and damping together"}};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        if (laws[i].is_law_set) {
            *key = laws[i].key;
            return laws[i].text;
        }
    }
    return NULL;
}

static int check_force_input(const struct tact_scene_check *check, const struct tact_scene *scene,
                             uint32_t index)
{
    static const char *const others[] = {"target", "state"};
    const struct tact_scene_input *in = &scene->inputs[index];
    char path[TACT_SCENE_PATH_BYTES], owner[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    uint32_t hand, link;
    snprintf(path, sizeof path, "inputs[%u].to", index);
    if (!tact_scene_find_link(scene, in->to, &hand, &link)) {
        return tact_scene_report_bad_value(
            check, path, "a force moves a joint; expected hand.link, not a coordinate of a base");
    }
    for (int i = 0; i < 2; i++) {
        const long other = tact_scene_find_input(scene, scene->inputs_count, others[i], in->to);
        if (other >= 0) {
            return tact_scene_report_bad_value(check, path,
                                               "inputs[%ld] already sets the %s of the joint %s",
                                               other, others[i], in->to);
        }
    }
    const struct tact_scene_joint *joint = &scene->hands[hand].links[link].joint;
    const char *conflicting_key, *other = find_law_conflicting_with_force(joint, &conflicting_key);
    tact_scene_path_of_key(owner, tact_scene_link_key(scene, hand, link, key), "joint");
    if (other) {
        return tact_scene_report_bad_value(check,
                                           tact_scene_path_of_key(key, owner, conflicting_key),
                                           "the force of inputs[%u] moves this joint; expected it "
                                           "without %s",
                                           index, other);
    }
    return joint->damping > 0.0
               ? 0
               : tact_scene_report_bad_value(
                     check, tact_scene_path_of_key(key, owner, "damping"),
                     "the force of inputs[%u] moves this joint against its damping; expected it "
                     "over 0",
                     index);
}

int tact_scene_check_force_inputs(const struct tact_scene_check *check,
                                  const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->inputs_count; i++) {
        rc = strcmp(scene->inputs[i].what, "force") ? 0 : check_force_input(check, scene, i);
    }
    return rc;
}
