#include "contact/pair/smooth/edges_internal.h"

#include <errno.h>
#include <stdlib.h>
#include "contact/moments/moments.h"
#include "contact/pair/features/core_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/volume/volume_internal.h"
#include "contact/shape/charts_internal.h"

enum { SCRATCH_PAIRS = 65536 }; /* of triangles near the overlap */

/* Charts of the shape, and what measures its edges. Closed forms need both against charts. */
static int fill_edge_data(const struct tact_shape *shape, struct smooth_data *data)
{
    const struct tact_shape_type *type = tact_shape_type(shape->kind);
    int plane = shape->kind == TACT_SHAPE_HALFSPACE;
    int rc = type->charts ? type->charts(shape, &data->owned) : 0;
    data->charts = data->owned ? data->owned : shape->charts;
    data->edges = data->charts && data->charts->edges;
    data->radius = plane ? 0.0 : tact_shape_radius(shape);
    if (!rc && tact_core_exists_for_kind(shape->kind)) {
        rc = tact_core_create(shape, &data->core);
    }
    if (!rc && data->charts) {
        data->scratch = tact_moments_scratch_create(SCRATCH_PAIRS);
        rc = data->scratch ? 0 : -ENOMEM;
    }
    return rc;
}

int tact_smooth_prepare(const struct tact_contact_model *model, const struct tact_shape *shape,
                        const struct tact_material *material, void **data, struct tact_error *err)
{
    struct smooth_data *made = calloc(1, sizeof *made);
    int rc = made ? fill_edge_data(shape, made) : -ENOMEM;
    (void)model;
    (void)material;
    if (rc) {
        tact_smooth_release(made);
        return rc == -ENOMEM ? rc : tact_error_set(err, rc, "expected a smooth solid");
    }
    *data = made;
    return 0;
}

void tact_smooth_release(void *data)
{
    struct smooth_data *made = data;
    if (made) {
        tact_charts_free(made->owned);
        tact_core_free(made->core);
        tact_moments_scratch_destroy(made->scratch);
    }
    free(made);
}

static int measure_by_volume(const struct tact_pair_query *query,
                             struct tact_moments_scratch *scratch, struct tact_patch *patch)
{
    struct tact_pair_query q = *query;
    struct tact_moments moments;
    int rc = tact_moments_pair(q.a, q.pose_a, q.b, q.pose_b, NULL, scratch, &moments);
    if (rc <= 0) {
        q.counts[TACT_COUNT_NOT_FOUND] += rc < 0;
        return -EDOM;
    }
    q.model = &tact_model_volume;
    q.most = 1;
    q.moments = &moments;
    return tact_volume_patch(&q, 0, q.options->polygon, patch);
}

static int measure_by_features(const struct tact_pair_query *query, const struct tact_core *a,
                               const struct tact_core *b, double *state, struct tact_patch *patch)
{
    struct tact_pair_query q = *query;
    q.model = &tact_model_features;
    q.most = 1;
    q.data_a = a;
    q.data_b = b;
    q.state = state;
    return tact_model_features.measure(&q, patch, NULL);
}

int tact_smooth_measure_edges(const struct tact_pair_query *query, double *state,
                              struct tact_patch *patch)
{
    const struct smooth_data *a = query->data_a, *b = query->data_b;
    int rc = a->core && b->core
                 ? measure_by_features(query, a->core, b->core, state, patch)
                 : measure_by_volume(query, a->scratch ? a->scratch : b->scratch, patch);
    query->counts[TACT_COUNT_EDGES] += rc >= 0;
    return rc;
}
