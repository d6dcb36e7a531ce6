/*
 * The contact model of pressure fields (Elandt 2019): a pair is one patch with the elastic wrench
 * of its contact surface, or several, where parts of it face in different directions.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/models_internal.h"

#define PI 3.14159265358979323846

static void release_pressure_field(void *data)
{
    struct field_shape_data *d = data;
    tact_field_free(d->field);
    tact_field_workspace_free(&d->workspace);
    free(d);
}

int tact_field_workspace_create(struct field_workspace *workspace)
{
    workspace->scratch = tact_field_scratch_create(TACT_FIELD_POLYGONS);
    workspace->points = malloc(sizeof *workspace->points);
    if (!workspace->scratch || !workspace->points) {
        tact_field_workspace_free(workspace);
        return -ENOMEM;
    }
    return 0;
}

void tact_field_workspace_free(struct field_workspace *workspace)
{
    tact_field_scratch_destroy(workspace->scratch);
    free(workspace->points);
    *workspace = (struct field_workspace){NULL, NULL};
}

/* Pressure layer of a material: that of its field, or with E* alone, of a shape of radius R on a
 * flat, the one with Hertz's force, patch and pressure: 2 sqrt(2) E* / pi (d / R)^(1/2) for a
 * sphere, whose depth d is half of Hertz's approach, and E* (d / (2 R))^(1/2) for the side of a
 * cylinder (Johnson, Contact Mechanics, 1985, sections 4.2, 4.3). */
static int soft_layer_of_material(const struct tact_shape *shape,
                                  const struct tact_material *material,
                                  struct tact_field_material *out, struct tact_error *err)
{
    *out = material->field;
    if (out->modulus > 0.0 || !(material->modulus > 0.0)) {
        return 0;
    }
    out->thickness = shape->size[0];
    out->power = 0.5;
    switch (shape->kind) {
    case TACT_SHAPE_SPHERE:
    case TACT_SHAPE_CAPSULE:
        out->modulus = 2.0 * sqrt(2.0) / PI * material->modulus;
        return 0;
    case TACT_SHAPE_CYLINDER:
        out->modulus = sqrt(0.5) * material->modulus;
        return 0;
    default:
        return tact_error_set(err, -EINVAL,
                              "a modulus without a field is Hertz's, of a sphere, capsule or "
                              "cylinder; other shapes need \"field\" of their material");
    }
}

static int prepare_pressure_field(const struct tact_contact_model *model,
                                  const struct tact_shape *shape,
                                  const struct tact_material *material, void **data,
                                  struct tact_error *err)
{
    struct tact_field_material soft_layer_parameters;
    int rc = soft_layer_of_material(shape, material, &soft_layer_parameters, err),
        soft = soft_layer_parameters.modulus > 0.0;
    struct field_shape_data *d = rc ? NULL : calloc(1, sizeof *d);
    (void)model;
    if (!d) {
        return rc ? rc : -ENOMEM;
    }
    rc = tact_field_of_shape(shape, &soft_layer_parameters, &d->field, err);
    d->is_soft = soft;
    d->slope = soft ? tact_field_pressure_slope(&soft_layer_parameters) : INFINITY;
    d->own = soft_layer_parameters.kind == TACT_EXTENT_AUTO;
    if (!rc && soft) {
        tact_field_make_quadrature_rule(tact_field_power_of_material(&soft_layer_parameters),
                                        &d->rule);
        rc = tact_field_workspace_create(&d->workspace);
    }
    if (rc) {
        release_pressure_field(d);
        return rc;
    }
    *data = d;
    return 0;
}

static int count_field_patches(const struct tact_shape *a, const struct tact_shape *b,
                               const struct tact_world_options *options)
{
    int planes = a->kind == TACT_SHAPE_HALFSPACE && b->kind == TACT_SHAPE_HALFSPACE;
    return options->local == TACT_LOCAL_CONE && !planes ? TACT_PIECES : 0;
}

static void count_polygons_of_contact_surface(const struct tact_pair_query *q,
                                              const struct contact_surface_of_fields *of,
                                              int is_polygon_capacity_exceeded)
{
    if (q->counts) {
        q->counts[TACT_COUNT_POLYGONS] += (int)of->count;
        q->counts[TACT_COUNT_ALIKE] += (int)of->alike;
        q->counts[TACT_COUNT_CROWDED] += is_polygon_capacity_exceeded;
    }
}

/* Counts the parts of the pressure of a patch that is solved, and whether its pressures oppose each
 * other. */
static void count_pressure_parts_of_patch(const struct tact_pair_query *q,
                                          const struct patch_pressure_part *part,
                                          const struct tact_patch *patch)
{
    if (q->counts) {
        q->counts[TACT_COUNT_PARTS] += patch->points.count;
        q->counts[TACT_COUNT_OPPOSED] += part->has_opposed_pressures;
    }
}

/* A pair of two rigid solids, or with more polygons than the capacity, is reported as a contact
 * that cannot be opened. */
static int measure_field_pair_in_workspace(const struct tact_pair_query *q,
                                           const struct field_workspace *workspace,
                                           struct tact_patch *patch, struct tact_pair_piece *piece)
{
    const struct field_shape_data *a = q->data_a, *b = q->data_b;
    struct contact_surface_of_fields of;
    struct patch_pressure_part part;
    int piece_count = 0;
    if (!a->is_soft && !b->is_soft) {
        return -ERANGE;
    }
    int rc = tact_field_patch_of_balls(q, patch);
    if (rc) {
        return rc < 0 ? rc : 0;
    }
    rc = tact_field_find_pair_surface(q, workspace->scratch, &of);
    if (rc <= 0) {
        count_polygons_of_contact_surface(q, &of, rc < 0);
        return rc ? -ERANGE : -EDOM;
    }
    if (of.sphere.radius > 0.0 && tact_field_make_ball_on_plane_patch(q, &of, patch)) {
        count_polygons_of_contact_surface(q, &of, 0);
        return 0;
    }
    tact_field_sum_polygons(&of, -1, &part);
    int group_count = tact_field_group_by_normal(&of, &part, q->most);
    rc = tact_field_make_patch_of_part(q, &of, &part, workspace->points, patch);
    count_polygons_of_contact_surface(q, &of, workspace->points->lost > 0);
    if (group_count == 1) {
        if (!rc) {
            count_pressure_parts_of_patch(q, &part, patch);
            tact_field_map_pressure(q, &of, &part, patch);
        }
        return rc;
    }
    for (int g = 0; g < group_count; g++) {
        memset(&piece[piece_count].moments, 0, sizeof piece[piece_count].moments);
        tact_field_sum_polygons(&of, g, &part);
        if (!tact_field_make_patch_of_part(q, &of, &part, workspace->points,
                                           &piece[piece_count].patch)) {
            count_pressure_parts_of_patch(q, &part, &piece[piece_count].patch);
            tact_field_map_pressure(q, &of, &part, &piece[piece_count].patch);
            piece_count++;
        }
    }
    if (rc && piece_count) {
        /* the pressures of the parts oppose each other and have no common resultant */
        *patch = piece->patch;
    }
    return piece_count ? piece_count : -EDOM;
}

void tact_field_measure_pair_at_poses(const struct tact_pair_query *q,
                                      const struct tact_pose *poses,
                                      const struct field_workspace *workspace,
                                      struct pair_measurement *out)
{
    struct tact_pair_query query_at_poses = *q;
    memcpy(out->pose, poses, sizeof out->pose);
    memset(out->counts, 0, sizeof out->counts);
    query_at_poses.pose_a = &out->pose[0];
    query_at_poses.pose_b = &out->pose[1];
    query_at_poses.counts = out->counts;
    out->result =
        measure_field_pair_in_workspace(&query_at_poses, workspace, &out->patch, out->piece);
}

static int measure_field_pair(const struct tact_pair_query *q, struct tact_patch *patch,
                              struct tact_pair_piece *piece)
{
    const struct field_shape_data *a = q->data_a, *b = q->data_b;
    return measure_field_pair_in_workspace(q, a->is_soft ? &a->workspace : &b->workspace, patch,
                                           piece);
}

const struct tact_contact_model tact_model_field = {
    .abi = TACT_ABI(struct tact_contact_model),
    .name = "field",
    .elastic = 1,
    .patches = count_field_patches,
    .prepare = prepare_pressure_field,
    .release = release_pressure_field,
    .measure = measure_field_pair,
};
