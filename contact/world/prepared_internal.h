/* What contact models derive from the shapes of a world when it is made. */
#ifndef TACT_CONTACT_PREPARED_INTERNAL_H
#define TACT_CONTACT_PREPARED_INTERNAL_H

#include "contact/pair/model.h"

struct tact_world;

/* What one model made of each shape. */
struct prepared_model {
    const struct tact_contact_model *model;
    const void **data; /* by shape; NULL: nothing, or no pair of the model contains it */
    void **made;       /* the same without repetition, `made_count` of them */
    int *from;         /* by shape: the shape whose result it has; -1: none */
    int made_count;
};

struct prepared {
    struct prepared_model *of; /* each model with a prepare() that a pair has */
    int count;
    struct tact_material *materials; /* by number */
    int material_count;
    int done;
};

void tact_prepared_destroy(struct prepared *prepared);

/* What the model made of a shape. */
const void *tact_prepared_data(const struct tact_world *world,
                               const struct tact_contact_model *model, int shape);

#endif
