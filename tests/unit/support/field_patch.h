/* For tests: pressure fields of materials, and the contact patches that the model of pressure
 * fields makes. */
#ifndef TACT_TESTS_FIELD_PATCH_H
#define TACT_TESTS_FIELD_PATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>
#include "contact/pair/field/field_model_internal.h"
#include "world_scene.h"

static inline void set_pressure_field_material(struct world_scene *s, int material, double modulus,
                                               double thickness)
{
    const struct tact_material of = {.field = {.modulus = modulus, .thickness = thickness}};
    assert_int_equal(tact_world_set_material(s->world, material, &of), 0);
}

static inline struct tact_contact_law make_friction_law(double mu, double dissipation,
                                                        double hunt_crossley)
{
    struct tact_contact_law law = make_rigid_law(mu);
    law.model = tact_contact_model_find("field");
    law.dissipation = dissipation;
    law.hunt_crossley = hunt_crossley;
    return law;
}

/* Measures the one patch that the pressure-field model makes of two shapes at their poses; counts
 * may be NULL. */
static inline void
measure_field_patch_with_counts(const struct tact_shape *a, const struct tact_pose *pa,
                                double pressure_slope_a, const struct tact_shape *b,
                                const struct tact_pose *pb, double pressure_slope_b, int *counts,
                                struct tact_patch *patch)
{
    const struct tact_contact_model *model = tact_contact_model_find("field");
    const struct tact_material of_a = {
        .field = {.modulus = isinf(pressure_slope_a) ? 0.0 : pressure_slope_a, .thickness = 1.0}};
    const struct tact_material of_b = {
        .field = {.modulus = isinf(pressure_slope_b) ? 0.0 : pressure_slope_b, .thickness = 1.0}};
    const struct tact_world_options o = tact_world_options_default();
    const struct tact_contact_law law = make_friction_law(0.5, 0.0, 0.0);
    struct tact_pair_piece piece[TACT_PIECES];
    void *data_a = NULL, *data_b = NULL;
    assert_int_equal(model->prepare(model, a, &of_a, &data_a, NULL), 0);
    assert_int_equal(model->prepare(model, b, &of_b, &data_b, NULL), 0);
    struct tact_pair_query q = {.model = model,
                                .a = a,
                                .b = b,
                                .data_a = data_a,
                                .data_b = data_b,
                                .pose_a = pa,
                                .pose_b = pb,
                                .law = &law,
                                .options = &o,
                                .counts = counts,
                                .most = 1};
    assert_int_equal(model->measure(&q, patch, piece), 0);
    model->release(data_a);
    model->release(data_b);
}

static inline void measure_field_patch(const struct tact_shape *a, const struct tact_pose *pa,
                                       double pressure_slope_a, const struct tact_shape *b,
                                       const struct tact_pose *pb, double pressure_slope_b,
                                       struct tact_patch *patch)
{
    measure_field_patch_with_counts(a, pa, pressure_slope_a, b, pb, pressure_slope_b, NULL, patch);
}

#endif
