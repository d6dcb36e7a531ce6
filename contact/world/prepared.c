#include "contact/world/prepared_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/world/world_internal.h"

enum { MOST_MATERIALS = 4096 };

static int is_valid_field_material(const struct tact_material *of)
{
    double modulus = of->field.modulus, slope = modulus / of->field.thickness;
    double power = of->field.power;
    return modulus == 0.0 || (modulus > 0.0 && slope > 0.0 && isfinite(slope) &&
                              (power == 0.0 || (power >= 0.5 && power <= 5.0)) &&
                              of->field.cell >= 0.0 && isfinite(of->field.cell));
}

int tact_world_set_material(struct tact_world *world, int material, const struct tact_material *of)
{
    static const struct tact_material material_without_properties;
    struct prepared_models *p = &world->prepared_models;
    if (p->are_models_prepared || material < 0 || material >= MOST_MATERIALS ||
        !isfinite(of->modulus) || of->modulus < 0.0 || !is_valid_field_material(of)) {
        return -EINVAL;
    }
    if (material >= p->prepared_material_count) {
        struct tact_material *resized_material_table =
            realloc(p->materials, ((size_t)material + 1) * sizeof *p->materials);
        if (!resized_material_table) {
            return -ENOMEM;
        }
        p->materials = resized_material_table;
        while (p->prepared_material_count <= material) {
            p->materials[p->prepared_material_count++] = material_without_properties;
        }
    }
    p->materials[material] = *of;
    return 0;
}

static struct model_shape_data *find_prepared_model(const struct prepared_models *p,
                                                    const struct tact_contact_model *model)
{
    for (int i = 0; i < p->count; i++) {
        if (p->of[i].model == model) {
            return &p->of[i];
        }
    }
    return NULL;
}

const void *tact_prepared_data(const struct tact_world *world,
                               const struct tact_contact_model *model, int shape)
{
    const struct model_shape_data *of =
        model->prepare ? find_prepared_model(&world->prepared_models, model) : NULL;
    return of ? of->data[shape] : NULL;
}

static struct model_shape_data *add_prepared_model(struct tact_world *world,
                                                   const struct tact_contact_model *model)
{
    struct prepared_models *p = &world->prepared_models;
    size_t shapes = (size_t)world->shape_count;
    struct model_shape_data *resized_prepared_models =
        realloc(p->of, ((size_t)p->count + 1) * sizeof *p->of);
    if (!resized_prepared_models) {
        return NULL;
    }
    p->of = resized_prepared_models;
    struct model_shape_data *of = &resized_prepared_models[p->count++];
    of->model = model;
    of->distinct_prepared_data_count = 0;
    of->data = calloc(shapes + 1, sizeof *of->data);
    of->distinct_prepared_data = calloc(shapes + 1, sizeof *of->distinct_prepared_data);
    of->shape_with_same_prepared_data =
        calloc(shapes + 1, sizeof *of->shape_with_same_prepared_data);
    for (size_t i = 0; i < shapes && of->shape_with_same_prepared_data; i++) {
        of->shape_with_same_prepared_data[i] = -1;
    }
    return of->data && of->distinct_prepared_data && of->shape_with_same_prepared_data ? of : NULL;
}

/* 1 where the models derive the same data from two shapes. A tessellation follows from the size; a
 * given mesh or surface is compared by its address. */
static int have_equal_prepared_data(const struct world_shape *a, const struct world_shape *b)
{
    const struct tact_shape *s = &a->shape, *t = &b->shape;
    int is_mesh_or_surface_given = s->kind == TACT_SHAPE_CONVEX || s->kind == TACT_SHAPE_MESH ||
                                   s->kind == TACT_SHAPE_REVOLUTION;
    return a->material == b->material && s->kind == t->kind && s->size[0] == t->size[0] &&
           s->size[1] == t->size[1] && s->size[2] == t->size[2] &&
           (!is_mesh_or_surface_given || s->mesh == t->mesh) && s->charts == t->charts;
}

static int prepare_shape_for_model(struct tact_world *world, struct model_shape_data *of, int shape,
                                   struct tact_error *err)
{
    static const struct tact_material material_without_properties;
    const struct world_shape *s = &world->shapes[shape];
    const struct prepared_models *p = &world->prepared_models;
    void *data = NULL;
    if (of->shape_with_same_prepared_data[shape] >= 0) {
        return 0;
    }
    for (int i = 0; i < world->shape_count; i++) {
        if (of->shape_with_same_prepared_data[i] == i &&
            have_equal_prepared_data(&world->shapes[i], s)) {
            of->shape_with_same_prepared_data[shape] = i;
            of->data[shape] = of->data[i];
            return 0;
        }
    }
    int rc =
        of->model->prepare(of->model, &s->shape,
                           s->material < p->prepared_material_count ? &p->materials[s->material]
                                                                    : &material_without_properties,
                           &data, err);
    if (!rc) {
        of->shape_with_same_prepared_data[shape] = shape;
        of->data[shape] = data;
    }
    if (!rc && data) {
        of->distinct_prepared_data[of->distinct_prepared_data_count++] = data;
    }
    return rc;
}

static int prepare_shapes_of_pair(struct tact_world *world, const struct tact_contact_model *model,
                                  const int pair[2], int *shape, struct tact_error *err)
{
    struct model_shape_data *of = find_prepared_model(&world->prepared_models, model);
    of = of ? of : add_prepared_model(world, model);
    int rc = of ? 0 : -ENOMEM;
    for (int i = 0; i < 2 && !rc; i++) {
        *shape = pair[i]; /* the shape that an error of its preparation concerns */
        rc = prepare_shape_for_model(world, of, pair[i], err);
    }
    return rc;
}

int tact_world_prepare(struct tact_world *world, int *shape, struct tact_error *err)
{
    int unused, rc = 0;
    shape = shape ? shape : &unused;
    *shape = 0;
    if (world->prepared_models.are_models_prepared || world->is_world_definition_finished) {
        return -EINVAL;
    }
    for (int a = 0; a < world->shape_count && !rc; a++) {
        for (int b = a + 1; b < world->shape_count && !rc; b++) {
            const struct tact_contact_model *model = tact_world_pair_model(world, a, b);
            const int pair[2] = {a, b};
            if (model->prepare && tact_world_max_patches(world, a, b) > 0) {
                rc = prepare_shapes_of_pair(world, model, pair, shape, err);
            }
        }
    }
    world->prepared_models.are_models_prepared = !rc;
    return rc;
}

void tact_prepared_destroy(struct prepared_models *prepared_models)
{
    for (int i = 0; i < prepared_models->count; i++) {
        struct model_shape_data *of = &prepared_models->of[i];
        for (int k = 0; k < of->distinct_prepared_data_count; k++) {
            of->model->release(of->distinct_prepared_data[k]);
        }
        free(of->data);
        free(of->distinct_prepared_data);
        free(of->shape_with_same_prepared_data);
    }
    free(prepared_models->of);
    free(prepared_models->materials);
}
