/* Makes the patch of a whole overlap from its moments. */
#ifndef TACT_CONTACT_VOLUME_INTERNAL_H
#define TACT_CONTACT_VOLUME_INTERNAL_H

#include "contact/pair/model.h"

/* Makes the patch of the query's moments. follows_bouchard_law: as in Bouchard 2015, opposite to
 * the gradient, with the equivalent ellipsoid. outline: 1 for the corners of the overlap where they
 * are known. 0, or -ERANGE. */
int tact_volume_measure_patch(const struct tact_pair_query *query, int follows_bouchard_law,
                              int outline, struct tact_patch *patch);

/* 1 where there is a method for the moments of two shapes' overlap. */
int tact_volume_supports_pair(const struct tact_shape *a, const struct tact_shape *b);

#endif
