/* Defaults other than 0, set only for keys that are absent from the file. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_number_if_absent(const struct tact_scene_check_context *check, const char *path,
                                 double *value, double default_value)
{
    if (!tact_scene_index_find(check->index, path)) {
        *value = default_value;
    }
}

/* Sets *text to a copy of given where it is NULL. Freed by libcyaml, whose allocator is malloc. */
static int set_text_if_absent(char **text, const char *default_text)
{
    if (!*text) {
        *text = strdup(default_text);
    }
    return *text ? 0 : -ENOMEM;
}

static void set_identity_quaternion(double quat_wxyz[4])
{
    const double identity_quaternion[4] = {1.0, 0.0, 0.0, 0.0};
    memcpy(quat_wxyz, identity_quaternion, sizeof identity_quaternion);
}

static void set_shape_defaults(const struct tact_scene_check_context *check,
                               struct tact_scene_shape *shapes, uint32_t count, const char *owner)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!tact_scene_has_key(check, "%s.shapes[%u].scale", owner, i)) {
            shapes[i].scale = 1.0;
        }
        if (!tact_scene_has_key(check, "%s.shapes[%u].collides", owner, i)) {
            shapes[i].collides = 1;
        }
        if (!tact_scene_has_key(check, "%s.shapes[%u].collides_with", owner, i)) {
            shapes[i].collides_with = 1;
        }
        if (!tact_scene_has_key(check, "%s.shapes[%u].quat_wxyz", owner, i)) {
            set_identity_quaternion(shapes[i].quat_wxyz);
        }
    }
}

static void set_body_defaults(const struct tact_scene_check_context *check,
                              struct tact_scene *scene)
{
    char owner[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        struct tact_scene_body *body = &scene->bodies[i];
        tact_scene_body_key_path(scene, i, owner);
        if (!tact_scene_has_key(check, "%s.quat_wxyz", owner)) {
            set_identity_quaternion(body->quat_wxyz);
        }
        set_shape_defaults(check, body->shapes, body->shapes_count, owner);
    }
}

static void set_constraint_defaults(const struct tact_scene_check_context *check,
                                    struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->joints_count; i++) {
        if (!tact_scene_has_key(check, "joints[%u].axis", i)) {
            scene->joints[i].axis[2] = 1.0;
        }
    }
}

/* Whether a link's joint belongs to the tendon on which the drive of another joint acts. */
static bool is_joint_in_driven_tendon(const struct tact_scene_hand *hand, const char *link)
{
    bool found = false;
    for (uint32_t i = 0; i < hand->links_count; i++) {
        const struct tact_scene_joint *joint = &hand->links[i].joint;
        for (uint32_t k = 0; joint->tendon && k < joint->tendon_count; k++) {
            found |= !strcmp(joint->tendon[k].joint, link);
        }
    }
    return found;
}

/* Sets the hand's default drive on joints that have neither drive nor coupling and are not moved by
 * another joint's drive. */
static void set_default_drive(const struct tact_scene_check_context *check,
                              const struct tact_scene_hand *hand, struct tact_scene_link *link,
                              const char *owner)
{
    const struct tact_scene_drive *drive = hand->drive;
    struct tact_scene_joint *joint = &link->joint;
    if (joint->coupling || joint->mimic ||
        (!joint->tendon && is_joint_in_driven_tendon(hand, link->name)) ||
        tact_scene_has_key(check, "%s.joint.stiffness", owner) ||
        tact_scene_has_key(check, "%s.joint.damping", owner)) {
        return;
    }
    joint->stiffness = drive->stiffness;
    joint->damping = drive->damping;
    if (!tact_scene_has_key(check, "%s.joint.limit", owner)) {
        joint->limit = drive->limit;
    }
}

static int set_hand_defaults(const struct tact_scene_check_context *check, struct tact_scene *scene)
{
    char owner[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        struct tact_scene_hand *hand = &scene->hands[i];
        if (!tact_scene_has_key(check, "hands[%u].quat_wxyz", i)) {
            set_identity_quaternion(hand->quat_wxyz);
        }
        if (set_text_if_absent(&hand->start_overlap, "exclude")) {
            return -ENOMEM;
        }
        for (uint32_t j = 0; j < hand->links_count; j++) {
            tact_scene_link_key_path(scene, i, j, owner);
            if (!tact_scene_has_key(check, "%s.joint.quat_wxyz", owner)) {
                set_identity_quaternion(hand->links[j].joint.quat_wxyz);
            }
            if (hand->drive && j >= tact_scene_base_links(hand)) {
                set_default_drive(check, hand, &hand->links[j], owner);
            }
            set_shape_defaults(check, hand->links[j].shapes, hand->links[j].shapes_count, owner);
        }
    }
    return 0;
}

static void set_pair_defaults(const struct tact_scene_check_context *check,
                              struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        if (!tact_scene_has_key(check, "materials[%u].tip_power", i)) {
            scene->materials[i].tip_power = 1.0 / 3.0;
        }
    }
    for (uint32_t i = 0; i < scene->pairs_count; i++) {
        struct tact_contact_law *law = &scene->pairs[i].law;
        if (!tact_scene_has_key(check, "pairs[%u].tip_power", i)) {
            law->tip_power = 1.0 / 3.0;
        }
        if (!tact_scene_has_key(check, "pairs[%u].dissipation", i)) {
            law->dissipation = scene->contact.dissipation;
        }
        if (!tact_scene_has_key(check, "pairs[%u].compliance", i)) {
            law->compliance = scene->contact.compliance;
        }
        if (!tact_scene_has_key(check, "pairs[%u].tangential_compliance", i)) {
            law->tangential_compliance = scene->contact.tangential_compliance;
        }
        if (!tact_scene_has_key(check, "pairs[%u].overlap", i)) {
            law->overlap = scene->contact.overlap;
        }
    }
}

static int set_input_output_defaults(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene)
{
    for (uint32_t i = 0; i < scene->inputs_count; i++) {
        if (!tact_scene_has_key(check, "inputs[%u].scale", i)) {
            scene->inputs[i].scale = 1.0;
        }
        if (set_text_if_absent(&scene->inputs[i].what, "target")) {
            return -ENOMEM;
        }
    }
    for (uint32_t i = 0; i < scene->grips_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "grips[%u].scale", i);
        set_number_if_absent(check, path, &scene->grips[i].scale, 1.0);
        snprintf(path, sizeof path, "grips[%u].speed", i);
        set_number_if_absent(check, path, &scene->grips[i].speed, 0.1);
    }
    for (uint32_t i = 0; i < scene->outputs_count; i++) {
        if (!tact_scene_has_key(check, "outputs[%u].scale", i)) {
            scene->outputs[i].scale = 1.0;
        }
        if (set_text_if_absent(&scene->outputs[i].what, "reaction")) {
            return -ENOMEM;
        }
    }
    return 0;
}

int tact_scene_set_defaults(const struct tact_scene_check_context *check, struct tact_scene *scene)
{
    struct tact_scene_contact *contact = &scene->contact;
    if (!tact_scene_has_key(check, "gravity")) {
        scene->gravity[2] = -9.81;
    }
    set_number_if_absent(check, "period", &scene->period, 0.001);
    set_number_if_absent(check, "duration", &scene->duration, 10.0);
    set_number_if_absent(check, "max_speed", &scene->max_speed, 1000.0);
    set_number_if_absent(check, "contact.overlap", &contact->overlap, 2e-5);
    set_number_if_absent(check, "contact.dissipation", &contact->dissipation, 0.005);
    set_number_if_absent(check, "contact.tolerance", &contact->tolerance, 1e-10);
    if (!tact_scene_has_key(check, "contact.points")) {
        contact->points = 4096;
    }
    if (!tact_scene_has_key(check, "contact.iterations")) {
        contact->iterations = 50;
    }
    if (!tact_scene_has_key(check, "moments.max_age")) {
        scene->moments.max_age = 1;
    }
    set_number_if_absent(check, "moments.host_time", &scene->moments.host_time,
                         0.2 * scene->period);
    if (!tact_scene_has_key(check, "realtime.priority")) {
        scene->realtime.priority = 80;
    }
    if (!tact_scene_has_key(check, "realtime.cpu")) {
        scene->realtime.cpu = -1;
    }
    set_pair_defaults(check, scene);
    set_body_defaults(check, scene);
    set_constraint_defaults(check, scene);
    if (set_hand_defaults(check, scene) || set_text_if_absent(&contact->local, "cone") ||
        set_text_if_absent(&contact->patch, "polygon") ||
        set_text_if_absent(&contact->normal, "blend") ||
        set_text_if_absent(&contact->model, "auto") || set_text_if_absent(&contact->spin, "auto") ||
        set_text_if_absent(&contact->split, "auto") ||
        set_text_if_absent(&contact->metric, "mass") ||
        set_text_if_absent(&scene->moments.source, "auto") ||
        set_input_output_defaults(check, scene)) {
        return tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    return 0;
}
