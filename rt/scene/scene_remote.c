/* Joints that are tied to the joints of another site: their defaults, values and names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

/* Energy of a line of 10 N s/m and 240 ms one way under 9.1 N, F^2 d / (2 b), which the correction
 * of positions has to supply [J]. */
#define DEFAULT_ENERGY_TANK_J 1.0

enum { MOST_AXES = 6 }; /* largest number of joints of a device of type network */

static bool is_remote_mode(const struct tact_scene_remote *remote, const char *mode)
{
    return !strcmp(remote->mode, mode);
}

/* Refuses keys that belong to other modes, and a coupling without a damper. */
static int check_remote_values(const struct tact_scene_check_context *check,
                               const struct tact_scene_remote *remote, const char *path)
{
    static const char *const modes[] = {"waves", "position_force", "position_position", "model",
                                        NULL};
    static const char *const of_waves[] = {"impedance", "tank"};
    char key[TACT_SCENE_PATH_BYTES];
    int rc = tact_scene_require_word(check, tact_scene_path_of_key(key, path, "mode"), remote->mode,
                                     modes);
    rc = rc ? rc
            : tact_scene_require_between(check, tact_scene_path_of_key(key, path, "axis"),
                                         remote->axis, 0.0, MOST_AXES - 1, "");
    rc =
        rc ? rc
           : tact_scene_require_gain(check, path, "stiffness", remote->stiffness, "N m/rad or N/m");
    rc =
        rc ? rc
           : tact_scene_require_gain(check, path, "damping", remote->damping, "N m s/rad or N s/m");
    rc = rc ? rc
            : tact_scene_require_gain(check, path, "impedance", remote->impedance,
                                      "N m s/rad or N s/m");
    rc = rc ? rc : tact_scene_require_nonnegative(check, path, "tank", remote->tank, "J");
    for (int i = 0; !rc && i < 2 && !is_remote_mode(remote, "waves"); i++) {
        if (tact_scene_has_key(check, "%s.%s", path, of_waves[i])) {
            rc = tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, of_waves[i]),
                "this key is only for a remote joint with \"mode: waves\"");
        }
    }
    if (!rc && is_remote_mode(remote, "waves")) {
        rc = tact_scene_require_positive(check, path, "impedance", remote->impedance,
                                         "N m s/rad or N s/m");
    }
    if (!rc && is_remote_mode(remote, "position_position")) {
        rc = tact_scene_require_positive(check, path, "stiffness", remote->stiffness,
                                         "N m/rad or N/m");
    }
    if (!rc && (remote->stiffness > 0.0 || !is_remote_mode(remote, "waves"))) {
        rc = tact_scene_require_positive(check, path, "damping", remote->damping,
                                         "N m s/rad or N s/m");
    }
    static const char *const of_stiffness[] = {"damping", "tank"};
    for (int i = 0; !rc && i < 2 && is_remote_mode(remote, "waves") && remote->stiffness == 0.0;
         i++) {
        if (tact_scene_has_key(check, "%s.%s", path, of_stiffness[i])) {
            rc = tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, of_stiffness[i]),
                "is of a joint that follows the line; expected \"stiffness\" beside it");
        }
    }
    return rc;
}

int tact_scene_complete_remotes(const struct tact_scene_check_context *check,
                                struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->remotes_count; i++) {
        struct tact_scene_remote *remote = &scene->remotes[i];
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "remotes[%u]", i);
        if (!remote->mode) {
            remote->mode = strdup("waves");
        }
        if (!tact_scene_has_key(check, "%s.tank", path)) {
            remote->tank = DEFAULT_ENERGY_TANK_J;
        }
        rc = remote->mode ? check_remote_values(check, remote, path)
                          : tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    return rc;
}

/* Finds "hand.link": among the coordinates of bases that move, as "hand.base_x", or the others. */
static bool find_link_or_coordinate(const struct tact_scene *scene, const char *name, bool of_base,
                                    uint32_t *hand, uint32_t *link)
{
    char joint_name_with_hand[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *h = &scene->hands[i];
        const uint32_t base = tact_scene_base_links(h), end = of_base ? base : h->links_count;
        for (uint32_t k = of_base ? 0 : base; k < end; k++) {
            snprintf(joint_name_with_hand, sizeof joint_name_with_hand, "%.60s.%.60s", h->name,
                     h->links[k].name);
            if (!strcmp(joint_name_with_hand, name)) {
                *hand = i;
                *link = k;
                return true;
            }
        }
    }
    return false;
}

bool tact_scene_find_link(const struct tact_scene *scene, const char *name, uint32_t *hand,
                          uint32_t *link)
{
    return find_link_or_coordinate(scene, name, false, hand, link);
}

bool tact_scene_find_coordinate(const struct tact_scene *scene, const char *name, uint32_t *hand,
                                uint32_t *link)
{
    return find_link_or_coordinate(scene, name, true, hand, link);
}

/* The joint that an entry of `remotes` ties to another site: a joint of a hand, or a coordinate of
 * a base. */
struct joint_of_remote {
    const struct tact_scene_joint *joint; /* NULL: there is no joint of that name */
    uint32_t hand, link;
    bool of_base;
    char path[TACT_SCENE_PATH_BYTES];
};

static struct joint_of_remote find_remote_joint(const struct tact_scene *scene, const char *name)
{
    struct joint_of_remote out = {.joint = NULL};
    char key[TACT_SCENE_PATH_BYTES];
    out.of_base = find_link_or_coordinate(scene, name, true, &out.hand, &out.link);
    if (out.of_base) {
        tact_scene_link_key_path(scene, out.hand, out.link, out.path);
    } else if (tact_scene_find_link(scene, name, &out.hand, &out.link)) {
        tact_scene_path_of_key(out.path, tact_scene_link_key_path(scene, out.hand, out.link, key),
                               "joint");
    } else {
        return out;
    }
    out.joint = &scene->hands[out.hand].links[out.link].joint;
    return out;
}

/* Whether two entries tie coordinates of one vector: they differ only in joint and axis. */
static bool is_tie_of_same_vector(const struct tact_scene_remote *a,
                                  const struct tact_scene_remote *b)
{
    return !strcmp(a->device, b->device) && !strcmp(a->mode, b->mode) &&
           a->impedance == b->impedance && a->stiffness == b->stiffness &&
           a->damping == b->damping && a->tank == b->tank;
}

/* Checks that the position or attitude of a base is tied with all three coordinates. */
static int check_ties_of_one_vector(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene, uint32_t index,
                                    const struct joint_of_remote *of)
{
    const struct tact_scene_remote *remote = &scene->remotes[index];
    const uint32_t first = of->link / 3 * 3;
    char path[TACT_SCENE_PATH_BYTES];
    int found = 0;
    for (uint32_t i = 0; i < scene->remotes_count; i++) {
        const struct joint_of_remote joint_of_other_tie =
            find_remote_joint(scene, scene->remotes[i].joint);
        if (joint_of_other_tie.of_base && joint_of_other_tie.hand == of->hand &&
            joint_of_other_tie.link / 3 * 3 == first) {
            found += is_tie_of_same_vector(remote, &scene->remotes[i]);
        }
    }
    const struct tact_scene_hand *hand = &scene->hands[of->hand];
    if (found < 3) {
        snprintf(path, sizeof path, "remotes[%u].joint", index);
        return tact_scene_report_bad_value(
            check, path,
            "the joints %s, %s and %s of %.60s are tied together: expected three entries of "
            "\"remotes\" with the same device, mode and numbers",
            hand->links[first].name, hand->links[first + 1].name, hand->links[first + 2].name,
            hand->name);
    }
    if (is_remote_mode(remote, "model")) {
        snprintf(path, sizeof path, "remotes[%u].mode", index);
        return tact_scene_report_bad_value(
            check, path, "finds a wall of one joint; expected another mode for %s", remote->joint);
    }
    if (first > 0 && of->joint->coupling && remote->stiffness > 0.0) {
        snprintf(path, sizeof path, "remotes[%u].stiffness", index);
        return tact_scene_report_bad_value(
            check, path, "a base with a \"turn_coupling\" cannot have a stiffness in \"remotes\"");
    }
    return 0;
}

/* Refuses a drive and a force limit of a tied joint, on which only a coupling may act besides: a
 * drive would pull it back, a limit would bound tie and coupling together. */
static int check_joint_of_remote(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene, uint32_t index, const char *path)
{
    const char *name = scene->remotes[index].joint;
    const struct joint_of_remote found = find_remote_joint(scene, name);
    const struct tact_scene_joint *joint = found.joint;
    const char *joint_key_path_of_remote = found.path;
    char key[TACT_SCENE_PATH_BYTES];
    if (!joint) {
        return tact_scene_report_bad_value(check, path,
                                           "no joint \"%s\"; expected hand.link, or hand.base_x "
                                           "and the others of a base that moves",
                                           name);
    }
    if (joint->stiffness > 0.0 || joint->damping > 0.0) {
        return tact_scene_report_bad_value(
            check,
            tact_scene_path_of_key(key, joint_key_path_of_remote,
                                   joint->stiffness > 0.0 ? "stiffness" : "damping"),
            "is of a drive; the joint is driven by %s", path);
    }
    if (joint->coupling && joint->limit > 0.0) {
        return tact_scene_report_bad_value(
            check,
            tact_scene_path_of_key(key, joint_key_path_of_remote,
                                   found.of_base && found.link > 2 ? "turn_limit" : "limit"),
            "is of one force; coupling and %s act on this joint together", path);
    }
    if (joint->target_lower < joint->target_upper) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, joint_key_path_of_remote, "target_lower"),
            "is of targets that are set here; the joint follows %s", path);
    }
    const long input = tact_scene_find_input(scene, scene->inputs_count, "target", name);
    if (!joint->coupling && input >= 0) {
        return tact_scene_report_bad_value(
            check, path, "inputs[%ld] leads to %s already; expected a \"coupling\" of that joint",
            input, name);
    }
    return found.of_base ? check_ties_of_one_vector(check, scene, index, &found) : 0;
}

int tact_scene_check_remotes(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->remotes_count; i++) {
        const struct tact_scene_remote *remote = &scene->remotes[i];
        char path[TACT_SCENE_PATH_BYTES], channel[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "remotes[%u].joint", i);
        rc = check_joint_of_remote(check, scene, i, path);
        snprintf(path, sizeof path, "remotes[%u].device", i);
        snprintf(channel, sizeof channel, "%.60s.x", remote->device);
        rc = rc ? rc : tact_scene_check_channel(check, scene, path, channel);
        for (uint32_t k = 0; !rc && k < i; k++) {
            const struct tact_scene_remote *earlier_scene_remote = &scene->remotes[k];
            const bool is_same_device_axis =
                !strcmp(earlier_scene_remote->device, remote->device) &&
                earlier_scene_remote->axis == remote->axis;
            if (is_same_device_axis || !strcmp(earlier_scene_remote->joint, remote->joint)) {
                snprintf(path, sizeof path, "remotes[%u].%s", i,
                         is_same_device_axis ? "axis" : "joint");
                rc = tact_scene_report_bad_value(check, path, "remotes[%u] already uses this %s", k,
                                                 is_same_device_axis ? "axis" : "joint");
            }
        }
    }
    return rc;
}
