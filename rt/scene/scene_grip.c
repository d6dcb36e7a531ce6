/* Commanded grips: their values, their two links, and the drives of the joints between these. */
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

/* Index of the parent of a link, or -1. */
static long find_parent_link(const struct tact_scene_hand *hand, uint32_t link)
{
    for (uint32_t k = 0; hand->links[link].parent && k < link; k++) {
        if (!strcmp(hand->links[k].name, hand->links[link].parent)) {
            return k;
        }
    }
    return -1;
}

/* True where a joint moves a link: it is the link's own or that of an ancestor. */
static bool joint_moves_link(const struct tact_scene_hand *hand, uint32_t joint, uint32_t link)
{
    long at = link;
    while (at > (long)joint) {
        at = find_parent_link(hand, (uint32_t)at);
    }
    return at == (long)joint;
}

/* Index of an earlier grip that commands the joint, or -1. */
static long find_earlier_grip_of_joint(const struct tact_scene *scene, uint32_t index,
                                       uint32_t joint)
{
    for (uint32_t i = 0; i < index; i++) {
        const struct tact_scene_grip *grip = &scene->grips[i];
        for (uint32_t k = 0; k < grip->joint_count[0] + grip->joint_count[1]; k++) {
            if (grip->hand == scene->grips[index].hand && grip->joint[k] == joint) {
                return i;
            }
        }
    }
    return -1;
}

/* Link whose joint has a mimic law or a tendon that includes the given joint; NULL: none. */
static const struct tact_scene_link *find_link_tied_to_joint(const struct tact_scene_hand *hand,
                                                             uint32_t joint)
{
    const char *name = hand->links[joint].name;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *joint_that_may_be_tied = &hand->links[i].joint;
        bool is_joint_in_mimic_or_tendon =
            joint_that_may_be_tied->mimic &&
            (i == joint || !strcmp(joint_that_may_be_tied->mimic->joint, name));
        for (uint32_t k = 0; k < joint_that_may_be_tied->tendon_count; k++) {
            is_joint_in_mimic_or_tendon |=
                i == joint || !strcmp(joint_that_may_be_tied->tendon[k].joint, name);
        }
        if (is_joint_in_mimic_or_tendon) {
            return &hand->links[i];
        }
    }
    return NULL;
}

/* Checks a joint that a grip commands: it has a drive of its own, and nothing else sets its torque.
 */
static int check_grip_joint(const struct tact_scene_check_context *check,
                            const struct tact_scene *scene, uint32_t index, uint32_t joint,
                            const char *path)
{
    const struct tact_scene_hand *hand = &scene->hands[scene->grips[index].hand];
    const struct tact_scene_joint *def = &hand->links[joint].joint;
    const long earlier_grip_of_joint = find_earlier_grip_of_joint(scene, index, joint);
    char name[TACT_SCENE_PATH_BYTES];
    snprintf(name, sizeof name, "%.60s.%.60s", hand->name, hand->links[joint].name);
    if (earlier_grip_of_joint >= 0) {
        return tact_scene_report_bad_value(check, path,
                                           "the joint %s is already commanded by grips[%ld]", name,
                                           earlier_grip_of_joint);
    }
    const struct tact_scene_link *tied_link = find_link_tied_to_joint(hand, joint);
    if (tied_link) {
        return tact_scene_report_bad_value(
            check, path,
            "a grip cannot command the joint %s: it is tied to other joints by the %s of %s", name,
            tied_link->joint.mimic ? "mimic" : "tendon", tied_link->name);
    }
    if (def->coupling) {
        return tact_scene_report_bad_value(
            check, path, "the joint %s follows a person, by its coupling; expected a drive", name);
    }
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        if (!strcmp(scene->remotes[i].joint, name)) {
            return tact_scene_report_bad_value(
                check, path,
                "a grip cannot command the joint %s: remotes[%u] ties it to another site", name, i);
        }
    }
    return def->stiffness > 0.0
               ? 0
               : tact_scene_report_bad_value(
                     check, path,
                     "the joint %s has no drive of its own; expected a stiffness over 0", name);
}

/* Lists the joints that move one of the two links and not the other. */
static int find_grip_joints(const struct tact_scene_check_context *check,
                            const struct tact_scene *scene, uint32_t index, const char *path)
{
    struct tact_scene_grip *grip = &scene->grips[index];
    const struct tact_scene_hand *hand = &scene->hands[grip->hand];
    uint32_t count = 0;
    int rc = 0;
    for (int finger_index = 0; finger_index < 2; finger_index++) {
        const uint32_t before = count;
        for (uint32_t k = 0; !rc && k < hand->links_count; k++) {
            if (!joint_moves_link(hand, k, grip->link[finger_index]) ||
                joint_moves_link(hand, k, grip->link[!finger_index])) {
                continue;
            }
            rc = count == TACT_SCENE_GRIP_JOINTS
                     ? tact_scene_report_bad_value(
                           check, path,
                           "expected at most %d joints that move the two fingers of this grip",
                           TACT_SCENE_GRIP_JOINTS)
                     : check_grip_joint(check, scene, index, k, path);
            if (!rc) {
                grip->joint[count++] = k;
            }
        }
        grip->joint_count[finger_index] = count - before;
    }
    return rc || (grip->joint_count[0] && grip->joint_count[1])
               ? rc
               : tact_scene_report_bad_value(
                     check, path, "one link carries the other; expected those of two fingers");
}

static int check_grip_values(const struct tact_scene_check_context *check,
                             const struct tact_scene_grip *grip, const char *path)
{
    int rc = tact_scene_require_nonnegative(check, path, "limit", grip->limit, "N");
    rc = rc ? rc : tact_scene_require_magnitude(check, path, "scale", &grip->scale, 1, 1e6, "N");
    rc = rc ? rc : tact_scene_require_magnitude(check, path, "offset", &grip->offset, 1, 1e6, "N");
    rc = rc ? rc : tact_scene_require_positive(check, path, "speed", grip->speed, "m/s");
    return rc;
}

int tact_scene_check_grips(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->grips_count; i++) {
        struct tact_scene_grip *grip = &scene->grips[i];
        char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
        uint32_t hand[2] = {0, 0};
        snprintf(path, sizeof path, "grips[%u]", i);
        rc = check_grip_values(check, grip, path);
        rc = rc ? rc
                : tact_scene_check_channel(check, scene, tact_scene_path_of_key(key, path, "from"),
                                           grip->from);
        for (int k = 0; !rc && k < 2; k++) {
            snprintf(key, sizeof key, "grips[%u].links[%d]", i, k);
            if (!tact_scene_find_link(scene, grip->links[k], &hand[k], &grip->link[k])) {
                rc = tact_scene_report_bad_value(
                    check, key, "no link \"%s\"; expected hand.link, not a base", grip->links[k]);
            }
        }
        if (!rc && hand[0] != hand[1]) {
            rc = tact_scene_report_bad_value(
                check, key, "this finger link is not of the same hand as %s", grip->links[0]);
        }
        grip->hand = hand[0];
        snprintf(key, sizeof key, "grips[%u].links", i);
        rc = rc ? rc : find_grip_joints(check, scene, i, key);
    }
    return rc;
}
