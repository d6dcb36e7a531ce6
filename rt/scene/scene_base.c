/*
 * A base that moves: six coordinates that the loader puts in front of the links of a hand, so that
 * all that works on links works on them. A fixed base: a fixed body behind those of the file. Keys
 * of the file are those without them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/world/hand.h"
#include "rt/scene/scene_internal.h"

static const char *const coordinates[TACT_HAND_BASE] = {"base_x",  "base_y",  "base_z",
                                                        "base_rx", "base_ry", "base_rz"};

uint32_t tact_scene_base_links(const struct tact_scene_hand *hand)
{
    return hand->base && !hand->base->fixed ? TACT_HAND_BASE : 0;
}

uint32_t tact_scene_file_body_count(const struct tact_scene *scene)
{
    uint32_t count = scene->bodies_count;
    while (count > 0 && scene->bodies[count - 1].hand) {
        count--;
    }
    return count;
}

char *tact_scene_body_key_path(const struct tact_scene *scene, uint32_t body,
                               char out[TACT_SCENE_PATH_BYTES])
{
    const uint32_t hand = scene->bodies[body].hand;
    if (hand) {
        snprintf(out, TACT_SCENE_PATH_BYTES, "hands[%u].base", hand - 1);
    } else {
        snprintf(out, TACT_SCENE_PATH_BYTES, "bodies[%u]", body);
    }
    return out;
}

const char *tact_scene_link_owner(const struct tact_scene_hand *hand, uint32_t link)
{
    return link < tact_scene_base_links(hand) ? "base" : hand->links[link].name;
}

char *tact_scene_link_key_path(const struct tact_scene *scene, uint32_t hand, uint32_t link,
                               char out[TACT_SCENE_PATH_BYTES])
{
    const uint32_t before = tact_scene_base_links(&scene->hands[hand]);
    if (link < before) {
        snprintf(out, TACT_SCENE_PATH_BYTES, "hands[%u].base", hand);
    } else {
        snprintf(out, TACT_SCENE_PATH_BYTES, "hands[%u].links[%u]", hand, link - before);
    }
    return out;
}

static int check_reserved_link_names(const struct tact_scene_check_context *check,
                                     const struct tact_scene_hand *hand, uint32_t number)
{
    char path[TACT_SCENE_PATH_BYTES];
    for (uint32_t i = 0; i < hand->links_count; i++) {
        int is_reserved_name = !strcmp(hand->links[i].name, "base");
        for (int k = 0; k < TACT_HAND_BASE; k++) {
            is_reserved_name |= !strcmp(hand->links[i].name, coordinates[k]);
        }
        if (is_reserved_name) {
            snprintf(path, sizeof path, "hands[%u].links[%u].name", number, i);
            return tact_scene_report_bad_value(
                check, path, "\"%s\" is the name of a coordinate of the base; expected another",
                hand->links[i].name);
        }
    }
    return 0;
}

const struct tact_scene_file_base *
tact_scene_file_base_with_matrices(const struct tact_scene_hand *hand)
{
    const struct tact_scene_file_base *file = (const struct tact_scene_file_base *)hand->base;
    return file && !hand->base->fixed && file->stiffness_matrix ? file : NULL;
}

static void *copy_bytes_to_new_memory(const void *from, size_t bytes)
{
    void *copied_bytes = from ? malloc(bytes) : NULL;
    return copied_bytes ? memcpy(copied_bytes, from, bytes) : NULL;
}

/* With matrices a base has both couplings, whose other keys need not be there. */
static int add_couplings_of_matrices(struct tact_scene_hand *hand)
{
    struct tact_scene_coupling **const couplings[2] = {&hand->base->coupling,
                                                       &hand->base->turn_coupling};
    for (int i = 0; tact_scene_file_base_with_matrices(hand) && i < 2; i++) {
        if (*couplings[i]) {
            continue;
        }
        struct tact_scene_file_coupling *base_coupling_of_matrices =
            calloc(1, sizeof *base_coupling_of_matrices);
        if (!base_coupling_of_matrices) {
            return -ENOMEM;
        }
        *couplings[i] = &base_coupling_of_matrices->coupling;
    }
    return 0;
}

/* Sets the couplings of the coordinates of a base from the diagonal of its matrices. */
static void set_coupling_from_matrix_diagonals(struct tact_scene_hand *hand)
{
    const struct tact_scene_file_base *file = tact_scene_file_base_with_matrices(hand);
    for (int i = 0; file && i < TACT_HAND_BASE; i++) {
        struct tact_scene_coupling *coupling = hand->links[i].joint.coupling;
        coupling->stiffness = file->stiffness_matrix[7 * i];
        coupling->damping = file->damping_matrix ? file->damping_matrix[7 * i] : 0.0;
    }
}

/* Sets stiffness and damping of a coordinate from axis_stiffness and axis_damping of its base,
 * where the file has them. */
static void set_coupling_numbers_of_axis(const struct tact_scene_coupling *base_coupling, int axis,
                                         struct tact_scene_coupling *out)
{
    const struct tact_scene_file_coupling *file =
        (const struct tact_scene_file_coupling *)base_coupling;
    out->stiffness = file->axis_stiffness ? file->axis_stiffness[axis] : out->stiffness;
    out->damping = file->axis_damping ? file->axis_damping[axis] : out->damping;
}

bool tact_scene_has_unequal_axes(const struct tact_scene_hand *hand, bool is_rotation)
{
    bool have_base_axes_different_gains = false;
    if (!tact_scene_base_links(hand)) {
        return false;
    }
    const struct tact_scene_link *links = hand->links + (is_rotation ? 3 : 0);
    const struct tact_scene_coupling *first = links->joint.coupling;
    for (int i = 1; first && i < 3; i++) {
        const struct tact_scene_coupling *other = links[i].joint.coupling;
        have_base_axes_different_gains |=
            other->stiffness != first->stiffness || other->damping != first->damping;
    }
    return have_base_axes_different_gains;
}

/* Memory is that of libcyaml, whose allocator is malloc, and which frees what the schema lists. */
static int make_base_coordinate(const struct tact_scene_base *base, int index,
                                struct tact_scene_link *out)
{
    const struct tact_scene_coupling *coupling = index < 3 ? base->coupling : base->turn_coupling;
    *out = (struct tact_scene_link){
        .name = strdup(coordinates[index]),
        .joint = {.type = strdup(index < 3 ? "slide" : "hinge"),
                  .limit = index < 3 ? base->limit : base->turn_limit,
                  .coupling =
                      coupling ? calloc(1, sizeof(struct tact_scene_file_coupling)) : NULL}};
    out->joint.axis[index % 3] = 1.0;
    if (!out->name || !out->joint.type || (coupling && !out->joint.coupling)) {
        return -ENOMEM;
    }
    if (coupling) {
        *out->joint.coupling = *coupling;
        out->joint.coupling->device = NULL;
        set_coupling_numbers_of_axis(coupling, index % 3, out->joint.coupling);
    }
    if (coupling && coupling->device) {
        out->joint.coupling->device =
            copy_bytes_to_new_memory(coupling->device, sizeof(struct tact_scene_file_port));
        return out->joint.coupling->device ? 0 : -ENOMEM;
    }
    return 0;
}

/* The last coordinate of the base gets the mass and the shapes of the base. */
static void move_shapes_to_last_coordinate(struct tact_scene_base *base,
                                           struct tact_scene_link *link)
{
    link->mass = base->mass;
    memcpy(link->center_of_mass, base->center_of_mass, sizeof link->center_of_mass);
    link->inertia = base->inertia;
    link->shapes = base->shapes;
    link->shapes_count = base->shapes_count;
    base->inertia = NULL;
    base->shapes = NULL;
    base->shapes_count = 0;
}

static int insert_base_coordinates(struct tact_scene_hand *hand)
{
    struct tact_scene_link *links =
        realloc(hand->links, (hand->links_count + TACT_HAND_BASE) * sizeof *links);
    if (!links) {
        return -ENOMEM;
    }
    memmove(links + TACT_HAND_BASE, links, hand->links_count * sizeof *links);
    memset(links, 0, TACT_HAND_BASE * sizeof *links);
    hand->links = links;
    hand->links_count += TACT_HAND_BASE;
    int rc = add_couplings_of_matrices(hand);
    for (int i = 0; i < TACT_HAND_BASE; i++) {
        int base_coordinate_error = make_base_coordinate(hand->base, i, &links[i]);
        rc = rc ? rc : base_coordinate_error;
    }
    if (!rc) {
        set_coupling_from_matrix_diagonals(hand);
    }
    move_shapes_to_last_coordinate(hand->base, &links[TACT_HAND_BASE - 1]);
    return rc;
}

/* Refuses keys of a fixed base that only a base that moves can have, as they would have no effect.
 */
static int check_keys_of_fixed_base(const struct tact_scene_check_context *check, uint32_t number)
{
    static const char *const moving[] = {"coupling",   "turn_coupling",    "limit",
                                         "turn_limit", "stiffness_matrix", "damping_matrix"};
    char path[TACT_SCENE_PATH_BYTES];
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) {
        if (tact_scene_has_key(check, "hands[%u].base.%s", number, moving[i])) {
            snprintf(path, sizeof path, "hands[%u].base.%s", number, moving[i]);
            return tact_scene_report_bad_value(
                check, path, "a hand base with \"fixed: true\" cannot have the key %s", moving[i]);
        }
    }
    return 0;
}

static int append_fixed_body_of_base(const struct tact_scene_check_context *check,
                                     struct tact_scene *scene, uint32_t number)
{
    const struct tact_scene_hand *hand = &scene->hands[number];
    struct tact_scene_body *bodies =
        realloc(scene->bodies, (scene->bodies_count + 1) * sizeof *bodies);
    if (!bodies) {
        return tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    struct tact_scene_body *body = &bodies[scene->bodies_count++];
    scene->bodies = bodies;
    *body = (struct tact_scene_body){.fixed = true,
                                     .mass = hand->base->mass,
                                     .inertia = hand->base->inertia,
                                     .shapes = hand->base->shapes,
                                     .shapes_count = hand->base->shapes_count,
                                     .hand = number + 1};
    hand->base->inertia = NULL;
    hand->base->shapes = NULL;
    hand->base->shapes_count = 0;
    const size_t bytes = strlen(hand->name) + sizeof ".base";
    body->name = malloc(bytes);
    if (!body->name) {
        return tact_error_set(check->err, -ENOMEM, "out of memory");
    }
    snprintf(body->name, bytes, "%s.base", hand->name);
    return 0;
}

void tact_scene_set_fixed_base_poses(struct tact_scene *scene)
{
    for (uint32_t i = tact_scene_file_body_count(scene); i < scene->bodies_count; i++) {
        struct tact_scene_body *body = &scene->bodies[i];
        const struct tact_scene_hand *hand = &scene->hands[body->hand - 1];
        memcpy(body->position, hand->position, sizeof body->position);
        memcpy(body->quat_wxyz, hand->quat_wxyz, sizeof body->quat_wxyz);
    }
}

int tact_scene_insert_bases(const struct tact_scene_check_context *check, struct tact_scene *scene)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < scene->hands_count; i++) {
        struct tact_scene_hand *hand = &scene->hands[i];
        char path[TACT_SCENE_PATH_BYTES];
        const bool is_moving_base = hand->base && !hand->base->fixed;
        if (!is_moving_base && !hand->links_count) {
            snprintf(path, sizeof path, "hands[%u]", i);
            return tact_scene_report_bad_value(
                check, path, "a hand needs the key \"links\", or a \"base\" that moves");
        }
        if (hand->base) {
            rc = check_reserved_link_names(check, hand, i);
        }
        if (!rc && is_moving_base) {
            rc = insert_base_coordinates(hand);
        } else if (!rc && hand->base) {
            rc = check_keys_of_fixed_base(check, i);
            rc = rc ? rc : append_fixed_body_of_base(check, scene, i);
        }
    }
    return rc;
}
