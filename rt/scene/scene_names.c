/* Checks of names and references. Lists are short (bounded by the schema), so all pairs are
 * compared. */
#include "rt/scene/scene_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Names are used in references such as "operator.grip", in logs and in file names. */
static int check_name_characters(const struct tact_scene_check_context *check, const char *path,
                                 const char *name)
{
    for (const char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-') {
            return tact_scene_report_bad_value(
                check, path, "expected letters, digits, \"_\" and \"-\" only; got \"%.60s\"", name);
        }
    }
    return 0;
}

/* Array of count structs of a size, each with its name (char *) at an offset. */
struct scene_name_list {
    const void *items;
    uint32_t count;
    size_t size;
    size_t offset;
    const char *path; /* key path of the list in the scene */
};

static const char *name_of_list_entry(const struct scene_name_list *list, uint32_t i)
{
    const char *item = (const char *)list->items + i * list->size + list->offset;
    return *(char *const *)item;
}

/* Index of the entry with a name of the given length, or -1. */
static long find_name_in_list(const struct scene_name_list *list, const char *name, size_t length)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const char *name_list_entry_name = name_of_list_entry(list, i);
        if (strlen(name_list_entry_name) == length &&
            memcmp(name_list_entry_name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

static int check_unique_names(const struct tact_scene_check_context *check,
                              const struct scene_name_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        const char *name = name_of_list_entry(list, i);
        snprintf(path, sizeof path, "%.80s[%u].name", list->path, i);
        int rc = check_name_characters(check, path, name);
        long first = find_name_in_list(list, name, strlen(name));
        if (!rc && first < (long)i) {
            rc = tact_scene_report_bad_value(
                check, path, "the name \"%s\" is already used by %s[%ld]; expected another", name,
                list->path, first);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}

#define NAME_LIST_OF(scene, list, type)                                                            \
    (struct scene_name_list)                                                                       \
    {                                                                                              \
        (scene)->list, (scene)->list##_count, sizeof(struct type), offsetof(struct type, name),    \
            #list                                                                                  \
    }

/* The bodies that the scene file lists. */
static struct scene_name_list list_of_file_bodies(const struct tact_scene *scene)
{
    struct scene_name_list list = NAME_LIST_OF(scene, bodies, tact_scene_body);
    list.count = tact_scene_file_body_count(scene);
    return list;
}

static int check_material_reference(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene, const char *path,
                                    const char *name)
{
    struct scene_name_list materials = NAME_LIST_OF(scene, materials, tact_scene_material);
    return find_name_in_list(&materials, name, strlen(name)) >= 0
               ? 0
               : tact_scene_report_bad_value(
                     check, path, "no material is named \"%s\"; expected one of `materials`", name);
}

static int check_shape_materials(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene,
                                 const struct tact_scene_shape *shapes, uint32_t count,
                                 const char *owner)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        snprintf(path, sizeof path, "%.80s.shapes[%u].material", owner, i);
        rc = check_material_reference(check, scene, path, shapes[i].material);
    }
    return rc;
}

static int check_link_references(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene, uint32_t number)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    char list[TACT_SCENE_PATH_BYTES], path[TACT_SCENE_PATH_BYTES];
    snprintf(list, sizeof list, "hands[%u].links", number);
    const uint32_t of_base = tact_scene_base_links(hand);
    const struct tact_scene_link *links_after_base = hand->links + of_base;
    struct scene_name_list links = {links_after_base, hand->links_count - of_base,
                                    sizeof *links_after_base,
                                    offsetof(struct tact_scene_link, name), list};
    int rc = check_unique_names(check, &links);
    if (!rc && of_base) {
        const struct tact_scene_link *base = links_after_base - 1;
        rc = check_shape_materials(check, scene, base->shapes, base->shapes_count,
                                   tact_scene_link_key_path(scene, number, of_base - 1, path));
    }
    for (uint32_t i = 0; !rc && i < links.count; i++) {
        const struct tact_scene_link *link = &links_after_base[i];
        if (link->parent) {
            long parent = find_name_in_list(&links, link->parent, strlen(link->parent));
            snprintf(path, sizeof path, "%.80s[%u].parent", list, i);
            if (parent < 0) {
                rc = tact_scene_report_bad_value(check, path, "hand %s has no link named \"%s\"",
                                                 hand->name, link->parent);
            } else if (parent >= (long)i) {
                rc = tact_scene_report_bad_value(
                    check, path, "\"%s\" is defined later; expected an earlier link as parent",
                    link->parent);
            }
        }
        snprintf(path, sizeof path, "%.80s[%u]", list, i);
        rc = rc ? rc : check_shape_materials(check, scene, link->shapes, link->shapes_count, path);
    }
    return rc;
}

/* Checks a "device.channel": the device must exist; its channels are known once it is open. */
int tact_scene_check_channel(const struct tact_scene_check_context *check,
                             const struct tact_scene *scene, const char *path, const char *text)
{
    struct scene_name_list devices = NAME_LIST_OF(scene, devices, tact_scene_device);
    const char *dot = strchr(text, '.');
    if (!dot || dot == text || !dot[1]) {
        return tact_scene_report_bad_value(
            check, path, "expected a name \"device.channel\", got \"%.60s\"", text);
    }
    int length = (int)(dot - text);
    return find_name_in_list(&devices, text, (size_t)length) >= 0
               ? 0
               : tact_scene_report_bad_value(
                     check, path, "no device is named \"%.*s\"; expected one of `devices`", length,
                     text);
}

/* Checks a "hand.link". of_base: for contacts; the base may be named too, but not one of its
 * coordinates. */
static int check_joint_reference(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene, const char *path, const char *text,
                                 bool of_base)
{
    struct scene_name_list hands = NAME_LIST_OF(scene, hands, tact_scene_hand);
    const char *dot = strchr(text, '.');
    if (!dot || dot == text || !dot[1]) {
        return tact_scene_report_bad_value(check, path,
                                           "expected a name \"hand.link\", got \"%.60s\"", text);
    }
    long hand = find_name_in_list(&hands, text, (size_t)(dot - text));
    if (hand < 0) {
        return tact_scene_report_bad_value(check, path,
                                           "no hand is named \"%.*s\"; expected one of `hands`",
                                           (int)(dot - text), text);
    }
    const struct tact_scene_hand *h = &scene->hands[hand];
    struct scene_name_list links = {h->links, h->links_count, sizeof *h->links,
                                    offsetof(struct tact_scene_link, name), ""};
    const long link = find_name_in_list(&links, dot + 1, strlen(dot + 1));
    if (of_base && link >= 0 && link < (long)tact_scene_base_links(h)) {
        return tact_scene_report_bad_value(
            check, path, "%s is a coordinate of the base, without shapes; expected \"%s.base\"",
            text, h->name);
    }
    const bool is_base_of_hand = of_base && h->base && !strcmp(dot + 1, "base");
    return is_base_of_hand || link >= 0
               ? 0
               : tact_scene_report_bad_value(check, path, "hand %s has no link named \"%s\"",
                                             h->name, dot + 1);
}

static int check_input_references(const struct tact_scene_check_context *check,
                                  const struct tact_scene *scene)
{
    char path[TACT_SCENE_PATH_BYTES];
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->inputs_count; i++) {
        const struct tact_scene_input *in = &scene->inputs[i];
        snprintf(path, sizeof path, "inputs[%u].from", i);
        rc = tact_scene_check_channel(check, scene, path, in->from);
        snprintf(path, sizeof path, "inputs[%u].to", i);
        rc = rc ? rc : check_joint_reference(check, scene, path, in->to, false);
        long first = tact_scene_find_input(scene, i, "state", in->to);
        if (!rc && first >= 0 && !strcmp(in->what, "state")) {
            rc = tact_scene_report_bad_value(check, path, "inputs[%ld] measures %s already", first,
                                             in->to);
        }
    }
    return rc;
}

/* Checks the source of an output: a joint; for contact forces a link or moving body. */
static int check_output_source(const struct tact_scene_check_context *check,
                               const struct tact_scene *scene, const char *path,
                               const struct tact_scene_output *output)
{
    struct scene_name_list bodies = list_of_file_bodies(scene);
    const bool is_output_of_joint = strcmp(output->what, "force") && strcmp(output->what, "moment");
    if (is_output_of_joint || strchr(output->from, '.')) {
        return check_joint_reference(check, scene, path, output->from, !is_output_of_joint);
    }
    long body = find_name_in_list(&bodies, output->from, strlen(output->from));
    if (body < 0) {
        return tact_scene_report_bad_value(
            check, path, "no body is named \"%s\"; expected one, or \"hand.link\"", output->from);
    }
    return scene->bodies[body].fixed
               ? tact_scene_report_bad_value(check, path, "%s is fixed; expected a body that moves",
                                             output->from)
               : 0;
}

/* Checks that an exclusion names two different objects, at least one of which moves. */
static int check_objects_of_exclusions(const struct tact_scene_check_context *check,
                                       const struct tact_scene *scene)
{
    struct scene_name_list bodies = NAME_LIST_OF(scene, bodies, tact_scene_body);
    for (uint32_t i = 0; i < scene->exclude_count; i++) {
        char *const *names = scene->exclude[i].objects;
        char path[TACT_SCENE_PATH_BYTES];
        bool has_moving_body = false;
        for (int k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "exclude[%u].objects[%d]", i, k);
            long body = find_name_in_list(&bodies, names[k], strlen(names[k]));
            int rc = 0;
            if (strchr(names[k], '.')) {
                rc = check_joint_reference(check, scene, path, names[k], true);
            } else if (body < 0) {
                rc = tact_scene_report_bad_value(
                    check, path, "no body is named \"%s\"; expected one, or \"hand.link\"",
                    names[k]);
            }
            if (rc) {
                return rc;
            }
            has_moving_body |= body < 0 || !scene->bodies[body].fixed;
        }
        snprintf(path, sizeof path, "exclude[%u].objects", i);
        if (!has_moving_body || !strcmp(names[0], names[1])) {
            return tact_scene_report_bad_value(check, path,
                                               "expected two different bodies or links to exclude "
                                               "from contact, at least one of which moves");
        }
    }
    return 0;
}

/* Checks that no component of a rotation vector is sent as a position: such vectors do not add up,
 * as positions of a device and a joint do. */
static int check_position_output(const struct tact_scene_check_context *check,
                                 const struct tact_scene *scene, uint32_t i)
{
    char path[TACT_SCENE_PATH_BYTES];
    uint32_t hand, link;
    if (strcmp(scene->outputs[i].what, "position") ||
        !tact_scene_find_coordinate(scene, scene->outputs[i].from, &hand, &link) || link < 3) {
        return 0;
    }
    snprintf(path, sizeof path, "outputs[%u].what", i);
    return tact_scene_report_bad_value(
        check, path, "the attitude of a base is no sum of angles; expected \"what: rate\"");
}

/* Checks that a measured joint has no reaction output, as it has no coupling to the device, and is
 * not sent as a position, which the device would follow by itself. */
static int check_measured_joint_of_output(const struct tact_scene_check_context *check,
                                          const struct tact_scene *scene, uint32_t i)
{
    char path[TACT_SCENE_PATH_BYTES];
    long input = tact_scene_find_input(scene, scene->inputs_count, "state", scene->outputs[i].from);
    const bool is_position_output = !strcmp(scene->outputs[i].what, "position");
    if (input < 0 || (strcmp(scene->outputs[i].what, "reaction") && !is_position_output)) {
        return 0;
    }
    bool has_output_kind_key = tact_scene_has_key(check, "outputs[%u].what", i);
    snprintf(path, sizeof path, "outputs[%u]%s", i, has_output_kind_key ? ".what" : "");
    return tact_scene_report_bad_value(
        check, path,
        is_position_output
            ? "the state of %s is measured (inputs[%ld]): the device would follow itself; "
              "expected the position of a joint that moves in the scene"
            : "the state of %s is measured (inputs[%ld]), so it is not a haptic joint; "
              "expected \"what: drive\"",
        scene->outputs[i].from, input);
}

static int check_input_and_output_references(const struct tact_scene_check_context *check,
                                             const struct tact_scene *scene)
{
    char path[TACT_SCENE_PATH_BYTES];
    int rc = check_input_references(check, scene);
    rc = rc ? rc : tact_scene_check_tools(check, scene);
    rc = rc ? rc : tact_scene_check_coupling_io(check, scene);
    rc = rc ? rc : tact_scene_check_force_inputs(check, scene);
    rc = rc ? rc : tact_scene_check_remotes(check, scene);
    rc = rc ? rc : tact_scene_check_grips(check, scene);
    for (uint32_t i = 0; !rc && i < scene->outputs_count; i++) {
        if (scene->outputs[i].tool) {
            snprintf(path, sizeof path, "tools[%u]", scene->outputs[i].tool - 1);
        } else {
            snprintf(path, sizeof path, "outputs[%u].from", i);
        }
        rc = check_output_source(check, scene, path, &scene->outputs[i]);
        if (!scene->outputs[i].tool) {
            snprintf(path, sizeof path, "outputs[%u].to", i);
        }
        rc = rc ? rc : tact_scene_check_channel(check, scene, path, scene->outputs[i].to);
        rc = rc ? rc : check_measured_joint_of_output(check, scene, i);
        rc = rc ? rc : check_position_output(check, scene, i);
        for (uint32_t j = 0; !rc && j < i; j++) {
            if (strcmp(scene->outputs[i].to, scene->outputs[j].to) == 0) {
                rc = tact_scene_report_bad_value(
                    check, path, "outputs[%u] goes to %s already; expected another channel", j,
                    scene->outputs[j].to);
            }
        }
    }
    for (uint32_t i = 0; !rc && i < scene->markers_count; i++) {
        snprintf(path, sizeof path, "markers[%u].from", i);
        rc = tact_scene_check_channel(check, scene, path, scene->markers[i].from);
    }
    if (!rc && scene->deadman) {
        rc = tact_scene_check_channel(check, scene, "deadman", scene->deadman);
    }
    return rc;
}

/* Checks that a mechanism's joint names one or two different bodies, at least one of which moves.
 */
static int check_bodies_of_constraints(const struct tact_scene_check_context *check,
                                       const struct tact_scene *scene)
{
    struct scene_name_list bodies = list_of_file_bodies(scene);
    for (uint32_t i = 0; i < scene->joints_count; i++) {
        const struct tact_scene_constraint *constraint = &scene->joints[i];
        long at[2] = {-1, -1};
        bool has_moving_body = false;
        char path[TACT_SCENE_PATH_BYTES];
        for (uint32_t k = 0; k < constraint->bodies_count; k++) {
            snprintf(path, sizeof path, "joints[%u].bodies[%u]", i, k);
            at[k] =
                find_name_in_list(&bodies, constraint->bodies[k], strlen(constraint->bodies[k]));
            if (at[k] < 0) {
                return tact_scene_report_bad_value(
                    check, path, "no body is named \"%s\"; expected one of `bodies`",
                    constraint->bodies[k]);
            }
            has_moving_body |= !scene->bodies[at[k]].fixed;
        }
        snprintf(path, sizeof path, "joints[%u].bodies", i);
        if (at[0] == at[1] || !has_moving_body) {
            return tact_scene_report_bad_value(
                check, path,
                "a joint needs one or two different bodies, at least one of which moves; with one, "
                "the other is the world");
        }
    }
    return 0;
}

static int check_materials_of_pairs(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->pairs_count; i++) {
        for (int k = 0; !rc && k < 2; k++) {
            char path[TACT_SCENE_PATH_BYTES];
            snprintf(path, sizeof path, "pairs[%u].materials[%d]", i, k);
            rc = check_material_reference(check, scene, path, scene->pairs[i].materials[k]);
        }
    }
    return rc;
}

int tact_scene_check_names(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene)
{
    const struct scene_name_list scene_name_lists[] = {
        NAME_LIST_OF(scene, materials, tact_scene_material), list_of_file_bodies(scene),
        NAME_LIST_OF(scene, hands, tact_scene_hand),
        NAME_LIST_OF(scene, devices, tact_scene_device),
        NAME_LIST_OF(scene, joints, tact_scene_constraint)};
    int rc = check_name_characters(check, "name", scene->name);
    for (size_t i = 0; !rc && i < sizeof scene_name_lists / sizeof *scene_name_lists; i++) {
        rc = check_unique_names(check, &scene_name_lists[i]);
    }
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        const char *name = scene->hands[i].name;
        long body = find_name_in_list(&scene_name_lists[1], name, strlen(name));
        if (body >= 0) {
            char path[TACT_SCENE_PATH_BYTES];
            snprintf(path, sizeof path, "hands[%u].name", i);
            rc = tact_scene_report_bad_value(
                check, path, "the name \"%s\" is already used by bodies[%ld]; expected another",
                name, body);
        }
        rc = rc ? rc : check_link_references(check, scene, i);
    }
    for (uint32_t i = 0; !rc && i < scene->bodies_count; i++) {
        char path[TACT_SCENE_PATH_BYTES];
        tact_scene_body_key_path(scene, i, path);
        rc = check_shape_materials(check, scene, scene->bodies[i].shapes,
                                   scene->bodies[i].shapes_count, path);
    }
    rc = rc ? rc : check_bodies_of_constraints(check, scene);
    rc = rc ? rc : check_materials_of_pairs(check, scene);
    rc = rc ? rc : check_objects_of_exclusions(check, scene);
    return rc ? rc : check_input_and_output_references(check, scene);
}
