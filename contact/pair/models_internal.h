/* The contact models of the library. */
#ifndef TACT_CONTACT_MODELS_INTERNAL_H
#define TACT_CONTACT_MODELS_INTERNAL_H

#include "contact/pair/model.h"

/* Names of the library's contact models, in the order of the table: each is a folder beside this
 * header and a line here. */
#define TACT_MODELS(MODEL)                                                                         \
    MODEL(volume)   /* Bouchard 2015 */                                                            \
    MODEL(features) /* Yi and Drumwright 2018 */                                                   \
    MODEL(field)    /* Elandt 2019 */                                                              \
    MODEL(points)   /* for comparison */                                                           \
    MODEL(smooth)   /* Kry and Pai 2003 */

#define TACT_DECLARE_CONTACT_MODEL(word) extern const struct tact_contact_model tact_model_##word;
TACT_MODELS(TACT_DECLARE_CONTACT_MODEL)
#undef TACT_DECLARE_CONTACT_MODEL

/* 1 where a contact model is in the library's table, or was compiled for its ABI version. */
int tact_contact_model_is_usable(const struct tact_contact_model *model);

#endif
