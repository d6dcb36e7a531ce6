/* Mimic joints, which follow another joint of their hand, and drives that act on a fixed tendon. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "rt/scene/scene_internal.h"

#define START_TOLERANCE 1e-9    /* of a given start of a mimic joint [rad, m] */
#define LARGEST_MULTIPLIER 1e6  /* and its inverse is the smallest */
#define LARGEST_COEFFICIENT 1e6 /* of a tendon */

/* The link of that name, or -1. */
static long find_link(const struct tact_scene_hand *hand, const char *name)
{
    for (uint32_t i = tact_scene_base_links(hand); i < hand->links_count; i++) {
        if (!strcmp(hand->links[i].name, name)) {
            return i;
        }
    }
    return -1;
}

/* The key of a joint. Returns out. */
static const char *joint_key(const struct tact_scene *scene, uint32_t hand, uint32_t link,
                             char out[TACT_SCENE_PATH])
{
    char key[TACT_SCENE_PATH];
    return tact_scene_path_of_key(out, tact_scene_link_key(scene, hand, link, key), "joint");
}

static int check_mimic(const struct tact_scene_check *check, const struct tact_scene_hand *hand,
                       uint32_t link, const char *path)
{
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    const struct tact_scene_mimic *law = joint->mimic;
    const long other = find_link(hand, law->joint);
    char key[TACT_SCENE_PATH];
    tact_scene_path_of_key(key, path, "mimic.joint");
    if (other < 0) {
        return tact_scene_report_bad_value(check, key, "hand %s has no link named \"%s\"",
                                           hand->name, law->joint);
    }
    if (other == (long)link) {
        return tact_scene_report_bad_value(
            check, key, "the joint of link \"%s\" cannot follow itself by \"mimic\"", law->joint);
    }
    if (hand->links[other].joint.mimic) {
        return tact_scene_report_bad_value(
            check, key, "\"%s\" follows another joint itself; expected that one", law->joint);
    }
    if (joint->coupling) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "coupling"),
                                           "a joint with \"mimic\" cannot have a \"coupling\"");
    }
    const double size = fabs(law->multiplier);
    if (!(size >= 1.0 / LARGEST_MULTIPLIER && size <= LARGEST_MULTIPLIER)) {
        return tact_scene_report_bad_value(
            check, tact_scene_path_of_key(key, path, "mimic.multiplier"),
            "expected a multiplier whose magnitude is from 1e-6 to 1e6");
    }
    tact_scene_path_of_key(key, path, "mimic");
    return tact_scene_need_absolute_within(check, key, "offset", &law->offset, 1,
                                           TACT_MESH_MAX_COORDINATE, "rad or m");
}

/* Checks a mimic joint and sets where it starts. */
static int place_mimic(const struct tact_scene_check *check, struct tact_scene *scene,
                       uint32_t number, uint32_t link)
{
    struct tact_scene_hand *hand = &scene->hands[number];
    struct tact_scene_joint *joint = &hand->links[link].joint;
    char path[TACT_SCENE_PATH], key[TACT_SCENE_PATH];
    joint_key(scene, number, link, path);
    if (!tact_scene_has_key(check, "%s.mimic.multiplier", path)) {
        joint->mimic->multiplier = 1.0;
    }
    int rc = check_mimic(check, hand, link, path);
    if (rc) {
        return rc;
    }
    const struct tact_scene_mimic *law = joint->mimic;
    const double start =
        law->offset + law->multiplier * hand->links[find_link(hand, law->joint)].joint.start;
    if (tact_scene_has_key(check, "%s.start", path) &&
        !(fabs(joint->start - start) <= START_TOLERANCE)) {
        return tact_scene_report_bad_value(check, tact_scene_path_of_key(key, path, "start"),
                                           "the joint starts at %g, but its \"mimic\" law gives %g",
                                           joint->start, start);
    }
    joint->start = start;
    if (joint->lower < joint->upper) { /* at a stop but for rounding */
        const double within = fmin(fmax(start, joint->lower), joint->upper);
        joint->start = fabs(within - start) <= START_TOLERANCE ? within : start;
    }
    return 0;
}

static int check_tendon_joint(const struct tact_scene_check *check,
                              const struct tact_scene_hand *hand,
                              const struct tact_scene_joint *joint, uint32_t entry,
                              const char *path)
{
    const struct tact_scene_tendon *of = &joint->tendon[entry];
    char key[TACT_SCENE_PATH];
    if (find_link(hand, of->joint) < 0) {
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
    return tact_scene_need_absolute_within(check, path, "coefficient", &of->coefficient, 1,
                                           LARGEST_COEFFICIENT, "");
}

static int check_tendon(const struct tact_scene_check *check, struct tact_scene *scene,
                        uint32_t number, uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    char path[TACT_SCENE_PATH], key[TACT_SCENE_PATH];
    int rc = 0;
    joint_key(scene, number, link, path);
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
static int check_measured(const struct tact_scene_check *check, const struct tact_scene *scene,
                          const char *name)
{
    char path[TACT_SCENE_PATH];
    const long input = tact_scene_find_input(scene, scene->inputs_count, "state", name);
    if (input < 0) {
        return 0;
    }
    snprintf(path, sizeof path, "inputs[%ld].what", input);
    return tact_scene_report_bad_value(
        check, path, "an input cannot set the state of joint %s: it is tied to another joint",
        name);
}

/* Whether another joint of the hand follows that of a link. */
static bool is_followed(const struct tact_scene_hand *hand, uint32_t link)
{
    bool found = false;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_mimic *law = hand->links[i].joint.mimic;
        found |= law && !strcmp(law->joint, hand->links[link].name);
    }
    return found;
}

/* An input sets the measured state of one joint, and a teleoperation drives one. */
static int check_uses(const struct tact_scene_check *check, const struct tact_scene *scene,
                      uint32_t number, uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    const bool is_tied = joint->mimic || joint->tendon;
    char name[TACT_SCENE_PATH], path[TACT_SCENE_PATH];
    snprintf(name, sizeof name, "%.60s.%.60s", hand->name, hand->links[link].name);
    int rc = is_tied || is_followed(hand, link) ? check_measured(check, scene, name) : 0;
    for (uint32_t i = 0; !rc && is_tied && i < scene->remotes_count; i++) {
        if (!strcmp(scene->remotes[i].joint, name)) {
            snprintf(path, sizeof path, "remotes[%u].joint", i);
            rc = tact_scene_report_bad_value(
                check, path, "%s has a \"mimic\" or a \"tendon\"; expected a joint of its own",
                name);
        }
    }
    return rc;
}

/* The narrower of two ranges of a joint, of which one may not be there. */
static void narrow_range(double range[2], double lower, double upper)
{
    range[0] = fmax(range[0], fmin(lower, upper));
    range[1] = fmin(range[1], fmax(lower, upper));
}

/* Joints that are tied together have a common range. */
static int check_common_range(const struct tact_scene_check *check, const struct tact_scene *scene,
                              uint32_t number, uint32_t link)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    const struct tact_scene_joint *joint = &hand->links[link].joint;
    double range[2] = {-INFINITY, INFINITY};
    char path[TACT_SCENE_PATH], key[TACT_SCENE_PATH];
    if (joint->lower < joint->upper) {
        narrow_range(range, joint->lower, joint->upper);
    }
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *other = &hand->links[i].joint;
        const struct tact_scene_mimic *law = other->mimic;
        if (!law || strcmp(law->joint, hand->links[link].name) || !(other->lower < other->upper)) {
            continue;
        }
        narrow_range(range, (other->lower - law->offset) / law->multiplier,
                     (other->upper - law->offset) / law->multiplier);
        if (!(range[0] < range[1])) {
            joint_key(scene, number, i, path);
            return tact_scene_report_bad_value(
                check, tact_scene_path_of_key(key, path, "lower"),
                "the joint of link \"%s\" has no range left between its own stops and those of the "
                "joints that follow it",
                hand->links[link].name);
        }
    }
    return 0;
}

int tact_scene_place_tied(const struct tact_scene_check *check, struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; !rc && k < scene->hands[i].links_count; k++) {
            const struct tact_scene_joint *joint = &scene->hands[i].links[k].joint;
            rc = joint->mimic ? place_mimic(check, scene, i, k) : 0;
            rc = rc || !joint->tendon ? rc : check_tendon(check, scene, i, k);
            rc = rc ? rc : check_uses(check, scene, i, k);
        }
    }
    return rc;
}

int tact_scene_check_tied_ranges(const struct tact_scene_check *check,
                                 const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        for (uint32_t k = 0; !rc && k < scene->hands[i].links_count; k++) {
            rc = check_common_range(check, scene, i, k);
        }
    }
    return rc;
}
