/* Mimic joints, which follow another joint of their hand, and drives that act on a fixed tendon. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

/* largest difference of a given start of a mimic joint from that of its law [rad, m] */
#define MIMIC_START_TOLERANCE 1e-9
/* largest multiplier of a mimic law; its inverse is the smallest */
#define MAX_MIMIC_MULTIPLIER 1e6
#define MAX_TENDON_COEFFICIENT 1e6 /* of a tendon */

/* Index of the link of that name, or -1. */
static long find_link_by_name(const struct tact_scene_hand *hand, const char *name)
{
    for (uint32_t i = tact_scene_base_links(hand); i < hand->links_count; i++) {
        if (!strcmp(hand->links[i].name, name)) {
            return i;
        }
    }
    return -1;
}

/* Writes the key path of a joint to out and returns it. */
static const char *joint_key_path(const struct tact_scene *scene, uint32_t hand, uint32_t link,
                                  char out[TACT_SCENE_PATH_BYTES])
{
    char key[TACT_SCENE_PATH_BYTES];
    return tact_scene_path_of_key(out, tact_scene_link_key_path(scene, hand, link, key), "joint");
}

static int check_mimic_law(const struct tact_scene_check_context *check,
                           const struct tact_scene_hand *hand, uint32_t link, const char *path)
{
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    const struct tact_scene_mimic *law = joint->mimic;
    const long link_of_leading_joint = find_link_by_name(hand, law->joint);
    char key[TACT_SCENE_PATH_BYTES];
    tact_scene_path_of_key(key, path, "mimic.joint");
    if (link_of_leading_joint < 0) {
        return tact_scene_report_bad_value(check, key, "hand %s has no link named \"%s\"",
                                           hand->name, law->joint);
    }
    if (link_of_leading_joint == (long)link) {
        return tact_scene_report_bad_value(
            check, key, "the joint of link \"%s\" cannot follow itself by \"mimic\"", law->joint);
    }
    if (hand->links[link_of_leading_joint].joint.mimic) {
        return tact_scene_report_bad_value(
            check, key, "\"%s\" follows another joint itself; expected that one", law->joint);
    }
    if (joint->coupling) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "coupling"),
                                           "a joint with \"mimic\" cannot have a \"coupling\"");
    }
    const double size = fabs(law->multiplier);
    if (!(size >= 1.0 / MAX_MIMIC_MULTIPLIER && size <= MAX_MIMIC_MULTIPLIER)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "mimic.multiplier"),
            "expected a multiplier whose magnitude is from 1e-6 to 1e6");
    }
    tact_scene_path_of_key(key, path, "mimic");
    return tact_scene_require_magnitude(check, key, "offset", &law->offset, 1,
                                        TACT_MESH_MAX_COORDINATE, "rad or m");
}

/* Checks a mimic joint and sets where it starts. */
static int check_mimic_and_set_start(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene, uint32_t number, uint32_t link)
{
    struct tact_scene_hand *hand = &scene->hands[number];
    struct tact_scene_joint *joint = &hand->links[link].joint;
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    joint_key_path(scene, number, link, path);
    if (!tact_scene_has_key(check, "%s.mimic.multiplier", path)) {
        joint->mimic->multiplier = 1.0;
    }
    int rc = check_mimic_law(check, hand, link, path);
    if (rc) {
        return rc;
    }
    const struct tact_scene_mimic *law = joint->mimic;
    const double start =
        law->offset +
        law->multiplier * hand->links[find_link_by_name(hand, law->joint)].joint.start;
    if (tact_scene_has_key(check, "%s.start", path) &&
        !(fabs(joint->start - start) <= MIMIC_START_TOLERANCE)) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "start"),
                                           "the joint starts at %g, but its \"mimic\" law gives %g",
                                           joint->start, start);
    }
    joint->start = start;
    if (joint->lower < joint->upper) { /* starts at a stop but for rounding */
        const double start_clamped_to_joint_range = fmin(fmax(start, joint->lower), joint->upper);
        joint->start = fabs(start_clamped_to_joint_range - start) <= MIMIC_START_TOLERANCE
                           ? start_clamped_to_joint_range
                           : start;
    }
    return 0;
}

static int check_tendon_joint(const struct tact_scene_check_context *check,
                              const struct tact_scene_hand *hand,
                              const struct tact_scene_joint *joint, uint32_t entry,
                              const char *path)
{
    const struct tact_scene_tendon *of = &joint->tendon[entry];
    char key[TACT_SCENE_PATH_BYTES];
    if (find_link_by_name(hand, of->joint) < 0) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "joint"),
                                           "hand %s has no link named \"%s\"", hand->name,
                                           of->joint);
    }
    for (uint32_t i = 0; i < entry; i++) {
        if (!strcmp(joint->tendon[i].joint, of->joint)) {
            return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "joint"),
                                               "the joint of link \"%s\" is already in this tendon",
                                               of->joint);
        }
    }
    if (of->coefficient == 0.0) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "coefficient"),
                                           "expected a tendon coefficient other than 0");
    }
    return tact_scene_require_magnitude(check, path, "coefficient", &of->coefficient, 1,
                                        MAX_TENDON_COEFFICIENT, "");
}

static int check_tendon(const struct tact_scene_check_context *check, struct tact_scene *scene,
                        uint32_t number, uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    joint_key_path(scene, number, link, path);
    if (joint->coupling) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "coupling"),
                                           "a joint with \"tendon\" cannot have a \"coupling\"");
    }
    for (uint32_t i = 0; !rc && i < joint->tendon_count; i++) {
        snprintf(key, sizeof key, "%.100s.tendon[%u]", path, i);
        if (!tact_scene_has_key(check, "%s.coefficient", key)) {
            joint->tendon[i].coefficient = 1.0;
        }
        rc = check_tendon_joint(check, hand, joint, i, key);
    }
    return rc;
}

/* A joint that is tied to another one is not measured: the state of those tied to it would follow a
 * tick later, or not at all. */
static int refuse_measured_tied_joint(const struct tact_scene_check_context *check,
                                      const struct tact_scene *scene, const char *name)
{
    char path[TACT_SCENE_PATH_BYTES];
    const long input = tact_scene_find_input(scene, scene->inputs_count, "state", name);
    if (input < 0) {
        return 0;
    }
    snprintf(path, sizeof path, "inputs[%ld].what", input);
    return tact_scene_report_bad_value(
        check, path, "an input cannot set the state of joint %s: it is tied to another joint",
        name);
}

/* Whether another joint of the hand follows the joint of a link. */
static bool is_followed_by_mimic_joint(const struct tact_scene_hand *hand, uint32_t link)
{
    bool found = false;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_mimic *law = hand->links[i].joint.mimic;
        found |= law && !strcmp(law->joint, hand->links[link].name);
    }
    return found;
}

/* Checks that no input measures a tied joint and no teleoperation drives it. */
static int check_uses_of_tied_joint(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene, uint32_t number, uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    const bool is_joint_tied = joint->mimic || joint->tendon;
    char name[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES];
    snprintf(name, sizeof name, "%.60s.%.60s", hand->name, hand->links[link].name);
    int rc = is_joint_tied || is_followed_by_mimic_joint(hand, link)
                 ? refuse_measured_tied_joint(check, scene, name)
                 : 0;
    for (uint32_t i = 0; !rc && is_joint_tied && i < scene->remotes_count; i++) {
        if (!strcmp(scene->remotes[i].joint, name)) {
            snprintf(path, sizeof path, "remotes[%u].joint", i);
            rc = tact_scene_report_bad_value(
                check, path, "%s has a \"mimic\" or a \"tendon\"; expected a joint of its own",
                name);
        }
    }
    return rc;
}

/* Intersects a range of a joint with another one, which may be absent. */
static void intersect_joint_ranges(double range[2], double lower, double upper)
{
    range[0] = fmax(range[0], fmin(lower, upper));
    range[1] = fmin(range[1], fmax(lower, upper));
}

/* Checks that joints that are tied together have a common range. */
static int check_range_of_tied_joints(const struct tact_scene_check_context *check,
                                      const struct tact_scene *scene, uint32_t number,
                                      uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    double range[2] = {-INFINITY, INFINITY};
    char path[TACT_SCENE_PATH_BYTES], key[TACT_SCENE_PATH_BYTES];
    if (joint->lower < joint->upper) {
        intersect_joint_ranges(range, joint->lower, joint->upper);
    }
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *mimic_joint_of_leader = &hand->links[i].joint;
        const struct tact_scene_mimic *law = mimic_joint_of_leader->mimic;
        if (!law || strcmp(law->joint, hand->links[link].name) ||
            !(mimic_joint_of_leader->lower < mimic_joint_of_leader->upper)) {
            continue;
        }
        intersect_joint_ranges(range,
                               (mimic_joint_of_leader->lower - law->offset) / law->multiplier,
                               (mimic_joint_of_leader->upper - law->offset) / law->multiplier);
        if (!(range[0] < range[1])) {
            joint_key_path(scene, number, i, path);
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, "lower"),
                "the joint of link \"%s\" has no range left between its own stops and those of the "
                "joints that follow it",
                hand->links[link].name);
        }
    }
    return 0;
}

int tact_scene_check_tied_joints(const struct tact_scene_check_context *check,
                                 struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; !rc && k < scene->hands[i].links_count; k++) {
            const struct tact_scene_joint *joint = &scene->hands[i].links[k].joint;
            rc = joint->mimic ? check_mimic_and_set_start(check, scene, i, k) : 0;
            rc = rc || !joint->tendon ? rc : check_tendon(check, scene, i, k);
            rc = rc ? rc : check_uses_of_tied_joint(check, scene, i, k);
        }
    }
    return rc;
}

int tact_scene_check_tied_ranges(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; !rc && k < scene->hands[i].links_count; k++) {
            rc = check_range_of_tied_joints(check, scene, i, k);
        }
    }
    return rc;
}
