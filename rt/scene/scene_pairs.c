/* Checks that every pair of materials that can touch says how: nothing slides on a guess. */
#include "rt/scene/scene_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A shape that is made of a material: where it is. */
struct use {
    long thing; /**< body number, or number of bodies + hand number; -1: none */
    uint32_t link;
    uint32_t shape;
};

/** Two different things made of a material tell all there is to ask: whatever the other thing is,
 *  one of the two is not it. */
struct uses {
    struct use moving[2];
    struct use any[2];
};

static uint32_t material_number(const struct tact_scene *scene, const char *name)
{
    uint32_t i = 0;
    while (strcmp(scene->materials[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void add_use(struct use uses[2], struct use use)
{
    if (uses[0].thing < 0) {
        uses[0] = use;
    } else if (uses[1].thing < 0 && uses[0].thing != use.thing) {
        uses[1] = use;
    }
}

static void add_shapes(const struct tact_scene *scene, struct uses *uses, long thing, uint32_t link,
                       const struct tact_scene_shape *shapes, uint32_t count, bool moving)
{
    for (uint32_t i = 0; i < count; i++) {
        struct uses *u = &uses[material_number(scene, shapes[i].material)];
        struct use use = {thing, link, i};
        add_use(u->any, use);
        if (moving) {
            add_use(u->moving, use);
        }
    }
}

static void collect(const struct tact_scene *scene, struct uses *uses)
{
    for (uint32_t i = 0; i < scene->materials_count; i++) {
        for (int k = 0; k < 2; k++) {
            uses[i].moving[k].thing = -1;
            uses[i].any[k].thing = -1;
        }
    }
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        const struct tact_scene_body *b = &scene->bodies[i];
        add_shapes(scene, uses, i, 0, b->shapes, b->shapes_count, !b->fixed);
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *h = &scene->hands[i];
        for (uint32_t j = 0; j < h->links_count; j++) {
            add_shapes(scene, uses, (long)scene->bodies_count + i, j, h->links[j].shapes,
                       h->links[j].shapes_count, true);
        }
    }
}

static void use_path(const struct tact_scene *scene, const struct use *use,
                     char path[TACT_SCENE_PATH])
{
    long hand = use->thing - (long)scene->bodies_count;
    if (hand < 0) {
        snprintf(path, TACT_SCENE_PATH, "bodies[%ld].shapes[%u].material", use->thing, use->shape);
    } else {
        snprintf(path, TACT_SCENE_PATH, "hands[%ld].links[%u].shapes[%u].material", hand, use->link,
                 use->shape);
    }
}

/** Fails where a moving thing of material a and another thing of material b exist. */
static int check_unpaired(const struct tact_scene_check *check, const struct tact_scene *scene,
                          const struct uses *uses, uint32_t a, uint32_t b)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            const struct use *one = &uses[a].moving[i], *other = &uses[b].any[k];
            if (one->thing < 0 || other->thing < 0 || one->thing == other->thing) {
                continue;
            }
            char path[TACT_SCENE_PATH], other_path[TACT_SCENE_PATH];
            use_path(scene, one, path);
            use_path(scene, other, other_path);
            return tact_scene_bad(
                check, path,
                "%s can touch %s (%.90s), but `pairs` gives no friction for them; "
                "expected an entry `materials: [%s, %s]`",
                scene->materials[a].name, scene->materials[b].name, other_path,
                scene->materials[a].name, scene->materials[b].name);
        }
    }
    return 0;
}

/** Marks the material pairs that are given; one given twice is an error. */
static int mark_given(const struct tact_scene_check *check, const struct tact_scene *scene,
                      uint32_t *given)
{
    uint32_t n = scene->materials_count;
    for (uint32_t i = 0; i < scene->pairs_count; i++) {
        uint32_t a = material_number(scene, scene->pairs[i].materials[0]);
        uint32_t b = material_number(scene, scene->pairs[i].materials[1]);
        if (given[a * n + b]) {
            char path[TACT_SCENE_PATH];
            snprintf(path, sizeof path, "pairs[%u].materials", i);
            return tact_scene_bad(check, path, "pairs[%u] has these materials already",
                                  given[a * n + b] - 1);
        }
        given[a * n + b] = given[b * n + a] = i + 1;
    }
    return 0;
}

/** The check itself; uses and given are room for it, all zero. */
static int check_all(const struct tact_scene_check *check, const struct tact_scene *scene,
                     struct uses *uses, uint32_t *given)
{
    uint32_t n = scene->materials_count;
    int rc = mark_given(check, scene, given);
    if (rc) {
        return rc;
    }
    collect(scene, uses);
    for (uint32_t a = 0; !rc && a < n; a++) {
        for (uint32_t b = 0; !rc && b < n; b++) {
            if (!given[a * n + b]) {
                rc = check_unpaired(check, scene, uses, a, b);
            }
        }
    }
    return rc;
}

int tact_scene_check_pairs(const struct tact_scene_check *check, const struct tact_scene *scene)
{
    uint32_t n = scene->materials_count;
    if (n == 0) {
        return 0; /* then nothing has a shape: every shape names a material that exists */
    }
    struct uses *uses = calloc(n, sizeof *uses);
    uint32_t *given = calloc((size_t)n * n, sizeof *given);
    int rc = uses && given ? check_all(check, scene, uses, given)
                           : tact_error_set(check->err, -ENOMEM, "out of memory");
    free(uses);
    free(given);
    return rc;
}
