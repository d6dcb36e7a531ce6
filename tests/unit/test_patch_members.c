/* Every contact model sets all members of a patch that the solver reads, whatever the memory held:
 * the patch of another pair, or of an earlier tick, must not reach a result. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/counts.h"
#include "contact/moments/moments.h"
#include "contact/pair/model.h"
#include "support/random.h"
#include "support/world_scene.h"

enum { SHAPES = 8, HALFSPACE = 7, LAWS = 3, MAX_STATE = 1024, POSES = 5 };

/* Members that only some patches have. */
enum owner { OF_ALL, OF_GAPS, OF_WRENCH, OF_DEPTH, OF_ELASTIC, OF_FITTED };

#define MEMBER(name, owner)                                                                        \
    {                                                                                              \
#name, offsetof(struct tact_patch, name), sizeof(((struct tact_patch *)0)->name), owner    \
    }

static const struct member {
    const char *name;
    size_t offset, size;
    enum owner owner;
} members[] = {
    MEMBER(law, OF_ALL),
    MEMBER(kind, OF_ALL),
    MEMBER(center, OF_ALL),
    MEMBER(frame, OF_ALL),
    MEMBER(depth, OF_ALL),
    MEMBER(target, OF_DEPTH),
    MEMBER(exponent, OF_ALL),
    MEMBER(gap, OF_GAPS),
    MEMBER(wrench, OF_WRENCH),
    MEMBER(stiffness, OF_WRENCH),
    MEMBER(target_velocity, OF_ALL),
    MEMBER(rolling_radius, OF_ALL),
    MEMBER(area, OF_ALL),
    MEMBER(semi, OF_ALL),
    MEMBER(corners, OF_ALL),
    MEMBER(radius, OF_ELASTIC),
    MEMBER(stretch, OF_ELASTIC),
    MEMBER(spin, OF_ALL),
    MEMBER(surface, OF_ALL),
    MEMBER(fit, OF_FITTED),
    MEMBER(spin_arm, OF_ALL),
    MEMBER(modulus, OF_ELASTIC),
    MEMBER(tip_radius, OF_ELASTIC),
    MEMBER(tip_power, OF_ELASTIC),
    MEMBER(rolling_loss, OF_ELASTIC),
};

static int do_patch_members_belong_to(const struct tact_patch *patch, enum owner owner)
{
    switch (owner) {
    case OF_GAPS:
        return patch->law == TACT_LAW_GAPS;
    case OF_WRENCH:
        return patch->law == TACT_LAW_WRENCH;
    case OF_DEPTH:
        return patch->law != TACT_LAW_WRENCH;
    case OF_ELASTIC:
        return patch->kind == TACT_PATCH_ELASTIC;
    case OF_FITTED:
        return patch->surface == TACT_SURFACE_FITTED;
    default:
        return 1;
    }
}

static void check_patches_are_equal(const char *model, const struct tact_patch *a,
                                    const struct tact_patch *b)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct member *m = &members[i];
        if (do_patch_members_belong_to(a, m->owner) &&
            memcmp((const char *)a + m->offset, (const char *)b + m->offset, m->size)) {
            fail_msg("model %s does not set tact_patch.%s", model, m->name);
        }
    }
    assert_memory_equal(a->corner, b->corner, (size_t)a->corners * sizeof *a->corner);
    if (a->surface == TACT_SURFACE_POINTS) {
        const struct tact_friction_points *p = &a->points, *q = &b->points;
        const size_t size = (size_t)p->count * sizeof *p->x;
        assert_int_equal(p->count, q->count);
        assert_int_equal(p->tilted, q->tilted);
        assert_memory_equal(p->x, q->x, size);
        assert_memory_equal(p->y, q->y, size);
        assert_memory_equal(p->share, q->share, size);
        assert_memory_equal(p->arm, q->arm, size);
    }
}

/* Measures a pair twice, into memory of two patterns. Returns the number of patches, 0: none. */
static int measure_patches_into_two_memory_patterns(const struct tact_contact_model *model,
                                                    struct tact_pair_query *query)
{
    static struct tact_patch patch[2];
    static struct tact_pair_piece piece[2][TACT_PIECES];
    int rc[2], counts[TACT_SOLVE_COUNTS] = {0};
    double state[MAX_STATE];
    query->counts = counts;
    query->state = state;
    for (int k = 0; k < 2; k++) {
        memset(&patch[k], k ? 0x55 : 0x2a, sizeof patch[k]);
        memset(piece[k], k ? 0x55 : 0x2a, sizeof piece[k]);
        memset(state, 0, sizeof state);
        rc[k] = model->measure(query, &patch[k], piece[k]);
    }
    assert_int_equal(rc[0], rc[1]);
    if (rc[0] < 0) {
        return 0;
    }
    check_patches_are_equal(model->name, &patch[0], &patch[1]);
    for (int i = 0; i < rc[0]; i++) {
        check_patches_are_equal(model->name, &piece[0][i].patch, &piece[1][i].patch);
    }
    return 1 + rc[0];
}

/* A pair of shapes in random poses by laws of rigid and soft materials, and of a fingertip. */
static int measure_pair_of_shapes(const struct tact_contact_model *model,
                                  const struct tact_shape *a, const struct tact_shape *b,
                                  struct tact_moments_scratch *scratch)
{
    const int is_field_model = !strcmp(model->name, "field");
    const struct tact_material material = {.field = {.modulus = is_field_model ? 1e5 : 0.0,
                                                     .thickness = 0.02,
                                                     .cell = is_field_model ? 8e-3 : 0}};
    const struct tact_pose origin_pose = tact_pose_identity();
    struct tact_world_options options = tact_world_options_default();
    void *data_a = NULL, *data_b = NULL;
    int measured = 0;
    options.spin = TACT_SPIN_LIMIT_SURFACE;
    const int most = model->patches(a, b, &options);
    if (most <= 0 || (model->prepare && model->prepare(model, a, &material, &data_a, NULL))) {
        return 0;
    }
    const int is_second_shape_prepared_for_model =
        !model->prepare || !model->prepare(model, b, &material, &data_b, NULL);
    for (int i = 0; is_second_shape_prepared_for_model && i < LAWS * POSES; i++) {
        const struct tact_contact_law law = {.friction = 0.5,
                                             .overlap = 2e-5,
                                             .dissipation = 5e-3,
                                             .modulus = i % LAWS == 1 ? 1e6 : 0.0,
                                             .tip_radius = i % LAWS == 2 ? 3e-3 : 0.0,
                                             .tip_power = i % LAWS == 2 ? 1.0 / 3.0 : 0.0,
                                             .rolling_loss = i % LAWS ? 0.3 : 0.0};
        const struct tact_pose pose = random_pose(0.035);
        struct tact_moments moments;
        struct tact_pair_query query = {.model = model,
                                        .a = a,
                                        .b = b,
                                        .data_a = data_a,
                                        .data_b = data_b,
                                        .pose_a = &origin_pose,
                                        .pose_b = &pose,
                                        .law = &law,
                                        .options = &options,
                                        .moments = model->moments ? &moments : NULL,
                                        .planar = NAN,
                                        .most = most,
                                        .pressed = 1e-4,
                                        .twist = {{0.0}, {0.0, 0.0, -0.1, 0.0, 1.0, 0.0}}};
        if (!model->moments ||
            tact_moments_pair(a, &origin_pose, b, &pose, NULL, scratch, &moments) == 1) {
            measured += measure_patches_into_two_memory_patterns(model, &query) > 0;
        }
    }
    if (model->release) {
        model->release(data_a);
        if (is_second_shape_prepared_for_model) {
            model->release(data_b);
        }
    }
    return measured;
}

static void models_set_all_members_of_their_patches(void **state)
{
    (void)state;
    static const char *const names[] = {"volume", "points", "features", "smooth", "field"};
    struct tact_shape shapes[SHAPES] = {
        {.kind = TACT_SHAPE_SPHERE, .size = {0.02}},
        {.kind = TACT_SHAPE_BOX, .size = {0.03, 0.02, 0.015}},
        {.kind = TACT_SHAPE_CYLINDER, .size = {0.02, 0.03}},
        {.kind = TACT_SHAPE_ELLIPSOID, .size = {0.03, 0.02, 0.015}},
        {.kind = TACT_SHAPE_CAPSULE, .size = {0.015, 0.02}},
        {.kind = TACT_SHAPE_TORUS, .size = {0.03, 0.008}},
        {.kind = TACT_SHAPE_CONE, .size = {0.02, 0.02}},
        {.kind = TACT_SHAPE_HALFSPACE},
    };
    struct tact_moments_scratch *scratch = tact_moments_scratch_create(65536);
    assert_non_null(scratch);
    for (int i = 0; i < HALFSPACE; i++) {
        assert_int_equal(tact_shape_tessellate(&shapes[i]), 0);
    }
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        const struct tact_contact_model *model = tact_contact_model_find(names[m]);
        const int is_field_model = !strcmp(names[m], "field");
        int measured = 0;
        assert_true(model->state <= MAX_STATE);
        for (int a = 0; a < SHAPES; a++) {
            for (int b = a; b < SHAPES; b++) {
                /* fields of tori and cones take seconds to prepare */
                if (!is_field_model || (a < 5 && (b < 5 || b == HALFSPACE))) {
                    measured += measure_pair_of_shapes(model, &shapes[a], &shapes[b], scratch);
                }
            }
        }
        printf("%s: %d pairs measured\n", names[m], measured);
        assert_true(measured > 100);
    }
    for (int i = 0; i < HALFSPACE; i++) {
        tact_shape_release(&shapes[i]);
    }
    tact_moments_scratch_destroy(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_set_all_members_of_their_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
