/* Contacts of smooth shapes that are none of their smooth surfaces: at edges, and where two
 * surfaces conform. They are measured by the features of the two or by the overlap of their
 * triangulations. */
#ifndef TACT_CONTACT_EDGES_INTERNAL_H
#define TACT_CONTACT_EDGES_INTERNAL_H

#include "contact/pair/model.h"
#include "contact/pair/features/nearest_internal.h"

/* What queries about a shape need, made by tact_smooth_prepare(). */
struct smooth_data {
    const struct tact_charts *charts; /* charts of its surface; NULL: in closed form */
    struct tact_charts *owned;        /* charts to be freed, where they were made by prepare() */
    int edges;                        /* 1: the surface has edges */
    double radius;          /* radius of a ball about the origin [m]; 0 for a half-space */
    struct tact_core *core; /* core for the features model; NULL: not a shape of that model */
    struct tact_moments_scratch *scratch; /* working memory; NULL: not needed */
};

int tact_smooth_prepare(const struct tact_contact_model *model, const struct tact_shape *shape,
                        const struct tact_material *material, void **data, struct tact_error *err);
void tact_smooth_release(void *data);

/* The patch of the whole pair by features where both shapes have them, else by volume. state: of
 * the features, TACT_NEAREST_STATE numbers. 0; -EDOM where there is no contact; -ERANGE as a model.
 */
int tact_smooth_measure_edges(const struct tact_pair_query *query, double *state,
                              struct tact_patch *patch);

#endif
