/* The table of contact models. */
#include <errno.h>
#include <string.h>
#include "contact/pair/models_internal.h"

enum { MAX_CONTACT_MODELS = 16 };

#define MODEL_TABLE_ENTRY(word) &tact_model_##word,
static const struct tact_contact_model *contact_models[MAX_CONTACT_MODELS + 1] = {
    TACT_MODELS(MODEL_TABLE_ENTRY)};

const struct tact_contact_model *tact_contact_model_at(int i)
{
    return i >= 0 && i < MAX_CONTACT_MODELS ? contact_models[i] : NULL;
}

const struct tact_contact_model *tact_contact_model_find(const char *name)
{
    for (int i = 0; contact_models[i]; i++) {
        if (!strcmp(contact_models[i]->name, name)) {
            return contact_models[i];
        }
    }
    return NULL;
}

int tact_contact_model_is_usable(const struct tact_contact_model *model)
{
    for (int i = 0; contact_models[i]; i++) {
        if (contact_models[i] == model) {
            return 1;
        }
    }
    return !tact_abi_check(&model->abi, sizeof *model);
}

int tact_contact_model_add(const struct tact_contact_model *model)
{
    static const char allowed_model_name_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    int count = 0;
    if (tact_abi_check(&model->abi, sizeof *model) || !model->name || !model->measure ||
        !model->patches || model->state < 0 || (model->prepare && !model->release) ||
        !*model->name || strlen(model->name) > 31 ||
        model->name[strspn(model->name, allowed_model_name_characters)]) {
        return -EINVAL;
    }
    /* names refused because they mean something else in scenes */
    if (tact_contact_model_find(model->name) || !strcmp(model->name, "auto") ||
        !strcmp(model->name, "patch")) {
        return -EEXIST;
    }
    while (contact_models[count]) {
        count++;
    }
    if (count == MAX_CONTACT_MODELS) {
        return -ENOSPC;
    }
    contact_models[count] = model;
    return 0;
}

const struct tact_contact_model *tact_contact_model_default(const struct tact_shape *a,
                                                            const struct tact_shape *b)
{
    (void)a;
    (void)b;
    return &tact_model_volume;
}
