/* Checks that a friction is set for every pair of materials that can touch: there is no default. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_VALUE_OF_FIXED_BASE UINT32_MAX /* value of `link` for a hand's fixed base */

/* A shape's use of a material. */
struct material_use {
    long owner;    /* number of the body, or number of bodies + number of the hand; -1: none */
    uint32_t link; /* of a hand */
    uint32_t shape;
};

/* Two different objects with a material suffice: any other object differs from at least one of
 * them. */
struct material_uses {
    struct material_use moving_material_uses[2];
    struct material_use first_two_material_uses[2];
};

static uint32_t find_material_number(const struct tact_scene *scene, const char *name)
{
    uint32_t i = 0;
    while (strcmp(scene->materials[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void add_material_use(struct material_use material_uses[2], struct material_use material_use)
{
    if (material_uses[0].owner < 0) {
        material_uses[0] = material_use;
    } else if (material_uses[1].owner < 0 && material_uses[0].owner != material_use.owner) {
        material_uses[1] = material_use;
    }
}

static void add_material_uses_of_shapes(const struct tact_scene *scene,
                                        struct material_uses *material_uses, long owner,
                                        uint32_t link, const struct tact_scene_shape *shapes,
                                        uint32_t count, bool moving_material_uses)
{
    for (uint32_t i = 0; i < count; i++) {
        struct material_uses *u = &material_uses[find_material_number(scene, shapes[i].material)];
        struct material_use material_use = {owner, link, i};
        add_material_use(u->first_two_material_uses, material_use);
        if (moving_material_uses) {
            add_material_use(u->moving_material_uses, material_use);
        }
    }
}

static void collect_material_uses(const struct tact_scene *scene,
                                  struct material_uses *material_uses)
{
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        for (int k = 0; k < 2; k++) {
            material_uses[i].moving_material_uses[k].owner = -1;
            material_uses[i].first_two_material_uses[k].owner = -1;
        }
    }
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        const struct tact_scene_body *b = &scene->bodies[i];
        const long owner = b->hand ? (long)scene->bodies_count + b->hand - 1 : (long)i;
        add_material_uses_of_shapes(scene, material_uses, owner, LINK_VALUE_OF_FIXED_BASE,
                                    b->shapes, b->shapes_count, !b->fixed);
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *h = &scene->hands[i];
        for (uint32_t j = 0; j < h->links_count; j++) {
            add_material_uses_of_shapes(scene, material_uses, (long)scene->bodies_count + i, j,
                                        h->links[j].shapes, h->links[j].shapes_count, true);
        }
    }
}

static void material_use_path(const struct tact_scene *scene,
                              const struct material_use *material_use,
                              char path[TACT_SCENE_PATH_BYTES])
{
    long hand = material_use->owner - (long)scene->bodies_count;
    if (hand < 0) {
        snprintf(path, TACT_SCENE_PATH_BYTES, "bodies[%ld].shapes[%u].material",
                 material_use->owner, material_use->shape);
    } else if (material_use->link == LINK_VALUE_OF_FIXED_BASE) {
        snprintf(path, TACT_SCENE_PATH_BYTES, "hands[%ld].base.shapes[%u].material", hand,
                 material_use->shape);
    } else {
        char key[TACT_SCENE_PATH_BYTES];
        tact_scene_link_key_path(scene, (uint32_t)hand, material_use->link, key);
        snprintf(path, TACT_SCENE_PATH_BYTES, "%.80s.shapes[%u].material", key,
                 material_use->shape);
    }
}

/* Fails if a moving object of material a and another object of material b exist. */
static int check_material_pair_missing(const struct tact_scene_check_context *check,
                                       const struct tact_scene *scene,
                                       const struct material_uses *material_uses, uint32_t a,
                                       uint32_t b)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            const struct material_use *moving_material_use =
                                          &material_uses[a].moving_material_uses[i],
                                      *other_use = &material_uses[b].first_two_material_uses[k];
            if (moving_material_use->owner < 0 || other_use->owner < 0 ||
                moving_material_use->owner == other_use->owner) {
                continue;
            }
            char path[TACT_SCENE_PATH_BYTES], other_path[TACT_SCENE_PATH_BYTES];
            material_use_path(scene, moving_material_use, path);
            material_use_path(scene, other_use, other_path);
            return tact_scene_report_bad_value(
                check, path,
                "%s can touch %s (%.90s), but `pairs` has no friction for them; "
                "expected an entry `materials: [%s, %s]`",
                scene->materials[a].name, scene->materials[b].name, other_path,
                scene->materials[a].name, scene->materials[b].name);
        }
    }
    return 0;
}

/* Marks the material pairs with an entry; a second entry is an error. */
static int mark_material_pairs_in_scene(const struct tact_scene_check_context *check,
                                        const struct tact_scene *scene,
                                        uint32_t *is_material_pair_in_scene)
{
    uint32_t n = scene->materials_count;
    for (uint32_t i = 0; i < scene->pairs_count; i++) {
        uint32_t a = find_material_number(scene, scene->pairs[i].materials[0]);
        uint32_t b = find_material_number(scene, scene->pairs[i].materials[1]);
        if (is_material_pair_in_scene[a * n + b]) {
            char path[TACT_SCENE_PATH_BYTES];
            snprintf(path, sizeof path, "pairs[%u].materials", i);
            return tact_scene_report_bad_value(
                check, path, "pairs[%u] already defines the contact of these two materials",
                is_material_pair_in_scene[a * n + b] - 1);
        }
        is_material_pair_in_scene[a * n + b] = is_material_pair_in_scene[b * n + a] = i + 1;
    }
    return 0;
}

/* Checks that every pair of materials that can touch has an entry; material_uses and
 * is_material_pair_in_scene are scratch memory, all zero. */
static int check_pairs_of_materials(const struct tact_scene_check_context *check,
                                    const struct tact_scene *scene,
                                    struct material_uses *material_uses,
                                    uint32_t *is_material_pair_in_scene)
{
    uint32_t n = scene->materials_count;
    int rc = mark_material_pairs_in_scene(check, scene, is_material_pair_in_scene);
    if (rc) {
        return rc;
    }
    collect_material_uses(scene, material_uses);
    for (uint32_t a = 0; !rc && a < n; a++) {
        for (uint32_t b = 0; !rc && b < n; b++) {
            if (!is_material_pair_in_scene[a * n + b]) {
                rc = check_material_pair_missing(check, scene, material_uses, a, b);
            }
        }
    }
    return rc;
}

int tact_scene_check_pairs(const struct tact_scene_check_context *check,
                           const struct tact_scene *scene)
{
    uint32_t n = scene->materials_count;
    if (n == 0) {
        return 0; /* then there are no shapes: every shape names an existing material */
    }
    struct material_uses *material_uses = calloc(n, sizeof *material_uses);
    uint32_t *is_material_pair_in_scene = calloc((size_t)n * n, sizeof *is_material_pair_in_scene);
    int rc = material_uses && is_material_pair_in_scene
                 ? check_pairs_of_materials(check, scene, material_uses, is_material_pair_in_scene)
                 : tact_error_set(check->err, -ENOMEM, "out of memory");
    free(material_uses);
    free(is_material_pair_in_scene);
    return rc;
}
