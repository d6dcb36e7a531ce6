/* The models of the library. */
#ifndef TACT_CONTACT_MODELS_INTERNAL_H
#define TACT_CONTACT_MODELS_INTERNAL_H

#include "contact/pair/model.h"

extern const struct tact_contact_model tact_model_volume;   /* Bouchard 2015 */
extern const struct tact_contact_model tact_model_features; /* Yi and Drumwright 2018 */
extern const struct tact_contact_model tact_model_field;    /* Elandt 2019 */
extern const struct tact_contact_model tact_model_points;   /* for comparison */
extern const struct tact_contact_model tact_model_smooth;   /* Kry and Pai 2003 */

/* Whether a model is of the library's table, or was compiled for its ABI. */
int tact_contact_model_usable(const struct tact_contact_model *model);

#endif
