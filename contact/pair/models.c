/* The table of contact models. */
#include <string.h>
#include "contact/pair/models_internal.h"

static const struct tact_contact_model *const models[] = {
    &tact_model_volume,
    &tact_model_points,
};

enum { MODELS = sizeof models / sizeof *models };

const struct tact_contact_model *tact_contact_model_at(int i)
{
    return i >= 0 && i < MODELS ? models[i] : NULL;
}

const struct tact_contact_model *tact_contact_model_named(const char *name)
{
    for (int i = 0; i < MODELS; i++) {
        if (!strcmp(models[i]->name, name)) {
            return models[i];
        }
    }
    return NULL;
}

const struct tact_contact_model *tact_contact_model_default(const struct tact_shape *a,
                                                            const struct tact_shape *b)
{
    (void)a;
    (void)b;
    return &tact_model_volume;
}
