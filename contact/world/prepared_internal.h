/* Data that contact models derive from the shapes of a world when it is created. */
#ifndef TACT_CONTACT_PREPARED_INTERNAL_H
#define TACT_CONTACT_PREPARED_INTERNAL_H

#include "contact/pair/model.h"

struct tact_world;

/* Data that one contact model has prepared from all shapes. */
struct model_shape_data {
    const struct tact_contact_model *model;
    const void **data; /* prepared data of each shape; NULL: none, or no pair of the model contains
                          the shape */
    void **distinct_prepared_data;      /* prepared data without duplicates,
                                           `distinct_prepared_data_count` of them */
    int *shape_with_same_prepared_data; /* for each shape, the index of the shape whose prepared
                                         * data it shares; -1: no data
                                         */
    int distinct_prepared_data_count;
};

struct prepared_models {
    struct model_shape_data *of; /* the contact models with a prepare() that some pair uses */
    int count;
    struct tact_material *materials; /* by material number */
    int prepared_material_count;
    int are_models_prepared;
};

void tact_prepared_destroy(struct prepared_models *prepared_models);

/* Prepared data of a contact model for a shape, or NULL. */
const void *tact_prepared_data(const struct tact_world *world,
                               const struct tact_contact_model *model, int shape);

#endif
