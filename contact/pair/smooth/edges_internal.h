/* Contacts of smooth shapes that their smooth surfaces do not describe: at edges, and where two
 * surfaces conform. They are measured by the models `features` or `volume`. */
#ifndef TACT_CONTACT_EDGES_INTERNAL_H
#define TACT_CONTACT_EDGES_INTERNAL_H

#include "contact/pair/model.h"
#include "contact/pair/features/nearest_internal.h"

/* Data that queries about a smooth shape need, made by tact_smooth_prepare(). */
struct smooth_shape_data {
    /* charts of the shape's surface; NULL: it has a closed form */
    const struct tact_charts *charts;
    struct tact_charts
        *charts_owned_by_shape_data; /* charts that prepare() made and that must be freed */
    int edges;                       /* 1: the shape's surface has edges */
    double radius; /* radius of a ball about the shape's origin that contains it [m]; 0 for a
                      half-space */
    /* core of the shape for the features model; NULL: the model does not support it */
    struct tact_convex_core *core;
    /* working memory for measuring the overlap; NULL: not needed */
    struct tact_moments_scratch *scratch;
};

int tact_smooth_prepare(const struct tact_contact_model *model, const struct tact_shape *shape,
                        const struct tact_material *material, void **data, struct tact_error *err);
void tact_smooth_release(void *data);

/* 1 where the whole pair can be measured: both shapes have a core, or one has charts. */
int tact_smooth_can_measure_edges(const struct tact_pair_query *query);

/* Makes the patch of the whole pair by features where both shapes have a core, else by volume.
 * state: of the features model, TACT_FEATURES_STATE numbers. 0; -EDOM where there is no contact;
 * -ENODATA where there is no overlap and volume knows no gap; -ERANGE as a model. */
int tact_smooth_measure_edges(const struct tact_pair_query *query, double *state,
                              struct tact_patch *patch);

#endif
