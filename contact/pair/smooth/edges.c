#include "contact/pair/smooth/edges_internal.h"

#include <errno.h>
#include <stdlib.h>
#include "contact/moments/moments.h"
#include "contact/pair/features/core_internal.h"
#include "contact/pair/models_internal.h"
#include "contact/pair/volume/volume_internal.h"
#include "contact/shape/charts_internal.h"

#define PI 3.14159265358979323846
/* Sine of the tilt up to which a cylinder's axis counts as parallel to a contact line. */
#define MAX_LINE_CONTACT_AXIS_TILT 1e-3
/* Width of a patch of four corners that represents a line, relative to its length. */
#define MAX_LINE_CONTACT_WIDTH_RATIO 1e-3
/* Width of a line patch that resists no rolling, relative to its length. */
#define MIN_LINE_CONTACT_WIDTH_RATIO 1e-7

enum { SCRATCH_PAIRS = 65536 }; /* capacity for pairs of triangles near an overlap */

/* Fills in the charts of a shape, and the core and memory by which the models features and volume
 * measure its edges; also of a shape in closed form, which may meet charts with edges. */
static int fill_smooth_shape_data(const struct tact_shape *shape, struct smooth_shape_data *data)
{
    const struct tact_shape_type *type = tact_shape_type(shape->kind);
    int plane = shape->kind == TACT_SHAPE_HALFSPACE;
    int rc = type->charts ? type->charts(shape, &data->charts_owned_by_shape_data) : 0;
    data->charts =
        data->charts_owned_by_shape_data ? data->charts_owned_by_shape_data : shape->charts;
    data->edges = data->charts && data->charts->edges;
    data->radius = plane ? 0.0 : tact_shape_radius(shape);
    if (!rc && tact_has_shape_kind_convex_core(shape->kind)) {
        rc = tact_convex_core_create(shape, &data->core);
    }
    if (!rc && (data->charts || shape->kind == TACT_SHAPE_TORUS)) {
        data->scratch = tact_moments_scratch_create(SCRATCH_PAIRS);
        rc = data->scratch ? 0 : -ENOMEM;
    }
    return rc;
}

int tact_smooth_prepare(const struct tact_contact_model *model, const struct tact_shape *shape,
                        const struct tact_material *material, void **data, struct tact_error *err)
{
    struct smooth_shape_data *smooth_data_of_shape = calloc(1, sizeof *smooth_data_of_shape);
    int rc = smooth_data_of_shape ? fill_smooth_shape_data(shape, smooth_data_of_shape) : -ENOMEM;
    (void)model;
    (void)material;
    if (rc) {
        tact_smooth_release(smooth_data_of_shape);
        return rc == -ENOMEM ? rc : tact_error_set(err, rc, "expected a smooth solid");
    }
    *data = smooth_data_of_shape;
    return 0;
}

void tact_smooth_release(void *data)
{
    struct smooth_shape_data *smooth_data_of_shape = data;
    if (smooth_data_of_shape) {
        tact_charts_free(smooth_data_of_shape->charts_owned_by_shape_data);
        tact_convex_core_free(smooth_data_of_shape->core);
        tact_moments_scratch_destroy(smooth_data_of_shape->scratch);
    }
    free(smooth_data_of_shape);
}

static int measure_by_volume_model(const struct tact_pair_query *query,
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
    return tact_volume_measure_patch(&q, 0, q.options->polygon, patch);
}

static int measure_by_features_model(const struct tact_pair_query *query,
                                     const struct tact_convex_core *a,
                                     const struct tact_convex_core *b, double *state,
                                     struct tact_patch *patch)
{
    struct tact_pair_query q = *query;
    q.model = &tact_model_features;
    q.most = 1;
    q.data_a = a;
    q.data_b = b;
    q.state = state;
    return tact_model_features.measure(&q, patch, NULL);
}

/* Curvature of A (k = 0) or B (k = 1), which are cylinders and half-spaces, across the line t1 of a
 * patch [1/m]; NAN where t1 is no line of the shape. */
static double curvature_across_line(const struct tact_pair_query *q, int k,
                                    const struct tact_patch *patch)
{
    const struct tact_shape *shape = k ? q->b : q->a;
    const struct tact_pose *pose = k ? q->pose_b : q->pose_a;
    double rotation[9];
    if (shape->kind != TACT_SHAPE_CYLINDER) {
        return shape->kind == TACT_SHAPE_HALFSPACE ? 0.0 : NAN;
    }
    tact_quat_to_m3(rotation, pose->quat_wxyz);
    const double axis[3] = {rotation[2], rotation[5], rotation[8]};
    double axis_normal_cosine = fabs(tact_v3_dot(axis, patch->frame)),
           axis_tangent_cosine = fabs(tact_v3_dot(axis, patch->frame + 6));
    if (1.0 - axis_normal_cosine <= MAX_LINE_CONTACT_AXIS_TILT) {
        return 0.0; /* an end */
    }
    return axis_normal_cosine <= MAX_LINE_CONTACT_AXIS_TILT &&
                   axis_tangent_cosine <= MAX_LINE_CONTACT_AXIS_TILT
               ? 1.0 / shape->size[0]
               : NAN;
}

/*
 * Sets the width of a line patch, by which the line resists rolling. The pressure of a cylinder
 * over a strip of half width a, p = 2 f / (pi a) sqrt(1 - x^2 / a^2) along a line of f [N/m], has
 * ahead of its middle the moment 2 / (3 pi) f a, of which the share rolling_loss is lost (Johnson,
 * Contact Mechanics, 1985, sections 4.3 and 9.4). In rolling the centre of pressure of a strip is
 * at its edge: half of its width becomes 2 / (3 pi) rolling_loss a, at the force of the last tick;
 * almost nothing without loss.
 */
static void set_width_of_line_patch(const struct tact_pair_query *q, struct tact_patch *patch)
{
    double half[2] = {0.0, 0.0}, width = 0.0;
    if (patch->kind != TACT_PATCH_ELLIPSE || patch->corners != 4) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            half[k] = tact_max(half[k], fabs(patch->corner[i][k]));
        }
    }
    double sum_of_curvatures_across_line =
        curvature_across_line(q, 0, patch) + curvature_across_line(q, 1, patch);
    if (!(sum_of_curvatures_across_line > 0.0) ||
        !(half[1] <= MAX_LINE_CONTACT_WIDTH_RATIO * half[0]) || !(half[1] > 0.0)) {
        return;
    }
    if (q->law->rolling_loss > 0.0 && q->law->modulus > 0.0) {
        double force = q->pressed / q->options->period;
        double a =
            sqrt(2.0 * force / (PI * q->law->modulus * half[0] * sum_of_curvatures_across_line));
        width = 2.0 / (3.0 * PI) * q->law->rolling_loss * a;
    }
    double share = tact_max(width, MIN_LINE_CONTACT_WIDTH_RATIO * half[0]) / half[1];
    for (int i = 0; i < 4; i++) {
        patch->corner[i][1] *= share;
    }
    patch->semi[1] *= share;
    patch->area *= share;
}

int tact_smooth_can_measure_edges(const struct tact_pair_query *query)
{
    const struct smooth_shape_data *a = query->data_a, *b = query->data_b;
    return (a->core && b->core) || a->scratch || b->scratch;
}

int tact_smooth_measure_edges(const struct tact_pair_query *query, double *state,
                              struct tact_patch *patch)
{
    const struct smooth_shape_data *a = query->data_a, *b = query->data_b;
    int rc = a->core && b->core
                 ? measure_by_features_model(query, a->core, b->core, state, patch)
                 : measure_by_volume_model(query, a->scratch ? a->scratch : b->scratch, patch);
    if (rc >= 0 && a->core && b->core) {
        set_width_of_line_patch(query, patch);
    }
    query->counts[TACT_COUNT_EDGES] += rc >= 0;
    return rc == -EDOM && !(a->core && b->core) ? -ENODATA : rc;
}
