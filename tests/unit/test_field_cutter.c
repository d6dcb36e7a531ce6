/* Polygons of pressure fields by OpenCL: contacts have the bits of the host's, whatever the device
 * computed before the query. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "contact/pair/field/extent.h"
#include "contact/pair/field/field_cuts_internal.h"
#include "contact/pair/field/field_model_internal.h"
#include "contact/pair/options.h"
#include "kernels/field_cutter.h"
#include "support/field_bodies.h"
#include "support/run_scene.h"

enum { LATTICE, SOFT_BOX, FINGERTIP, HERTZ_TIP, RIGID_MESH, SOFT_PLANE, RIGID_PLANE, BODIES };
enum { CAPACITY = 1 << 17, POLYGONS = 1 << 13 };

static const int body_pairs[][2] = {
    {LATTICE, SOFT_BOX},   {SOFT_BOX, LATTICE},      {LATTICE, RIGID_MESH},
    {FINGERTIP, SOFT_BOX}, {RIGID_MESH, SOFT_BOX},   {HERTZ_TIP, RIGID_MESH},
    {SOFT_PLANE, LATTICE}, {SOFT_PLANE, RIGID_MESH}, {FINGERTIP, RIGID_PLANE},
    {LATTICE, LATTICE},    {SOFT_BOX, SOFT_BOX}};
enum { BODY_PAIRS = sizeof body_pairs / sizeof *body_pairs };

/* Fields of about 1 cm. */
static struct bodies {
    struct tact_shape shape[BODIES];
    struct tact_mesh *mesh[2];
    struct field_shape_data data[BODIES];
    const struct tact_pressure_field *field[BODIES];
} bodies;

static struct tact_mesh *make_bumpy_ball(void)
{
    struct tact_mesh *smooth, *out;
    assert_int_equal(tact_mesh_capsule(0.008, 0.003, 400, &smooth), 0);
    double *x = malloc(3 * smooth->vertex_count * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < smooth->vertex_count; i++) {
        tact_v3_scale(x + 3 * i, smooth->vertices + 3 * i, uniform(0.92, 1.0));
    }
    assert_int_equal(tact_mesh_create(x, smooth->vertex_count, smooth->triangles,
                                      smooth->triangle_count, &out, NULL),
                     0);
    free(x);
    tact_mesh_free(smooth);
    return out;
}

static int make_fields_of_bodies(void **state)
{
    const struct tact_field_material soft = {.modulus = 2e5, .thickness = 0.006, .cell = 0.003},
                                     hertz = {.modulus = 3e5, .thickness = 0.01, .power = 0.5},
                                     rigid = {.modulus = 0.0};
    const struct tact_field_material *material[BODIES] = {&soft,  &soft, &soft, &hertz,
                                                          &rigid, &soft, &rigid};
    (void)state;
    bodies.mesh[0] = make_bumpy_ball();
    bodies.mesh[1] = make_bumpy_ball();
    bodies.shape[LATTICE] = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = bodies.mesh[0]};
    bodies.shape[RIGID_MESH] = (struct tact_shape){.kind = TACT_SHAPE_MESH, .mesh = bodies.mesh[1]};
    bodies.shape[SOFT_BOX] =
        (struct tact_shape){.kind = TACT_SHAPE_BOX, .size = {0.012, 0.008, 0.01}};
    bodies.shape[FINGERTIP] = bodies.shape[HERTZ_TIP] =
        (struct tact_shape){.kind = TACT_SHAPE_CAPSULE, .size = {0.008, 0.01}};
    bodies.shape[SOFT_PLANE] = bodies.shape[RIGID_PLANE] =
        (struct tact_shape){.kind = TACT_SHAPE_HALFSPACE};
    for (int i = 0; i < BODIES; i++) {
        struct tact_error err = {.line = 0};
        if ((i == SOFT_BOX || i == FINGERTIP || i == HERTZ_TIP) &&
            tact_shape_tessellate(&bodies.shape[i])) {
            return -1;
        }
        if (tact_field_of_shape(&bodies.shape[i], material[i], &bodies.data[i].field, &err)) {
            print_message("body %d: %s\n", i, err.text);
            return -1;
        }
        bodies.field[i] = bodies.data[i].field;
    }
    return 0;
}

static int free_fields_of_bodies(void **state)
{
    (void)state;
    for (int i = 0; i < BODIES; i++) {
        tact_field_free(bodies.data[i].field);
        tact_shape_release(&bodies.shape[i]);
    }
    tact_mesh_free(bodies.mesh[0]);
    tact_mesh_free(bodies.mesh[1]);
    return 0;
}

static struct tact_field_cutter open_cutter(uint32_t candidates, uint32_t polygons, int fields)
{
    const struct tact_field_cutter_scene scene = {bodies.field, (uint32_t)fields, BODY_PAIRS,
                                                  candidates, polygons};
    struct tact_field_cutter cutter;
    struct tact_error err = {.line = 0};
    if (tact_opencl_field_cutter_factory(NULL, &scene, NULL, (struct tact_messages){0}, &cutter,
                                         &err)) {
        fail_msg("%s", err.text);
    }
    return cutter;
}

static void find_contact_of_body_pair(int pair, const struct tact_pose *pose,
                                      struct tact_field_cuts *cuts, struct tact_field_contact *out)
{
    struct tact_field_scratch *scratch = shared_field_scratch();
    tact_field_scratch_use_cuts(scratch, cuts);
    (void)find_field_contact(bodies.field[body_pairs[pair][0]], &pose[0],
                             bodies.field[body_pairs[pair][1]], &pose[1], out);
    tact_field_scratch_use_cuts(scratch, NULL);
}

static void place_cuts_of_body_pair(int pair, const struct tact_pose *pose,
                                    struct tact_field_cuts *cuts)
{
    const struct tact_pair_query query = {.data_a = &bodies.data[body_pairs[pair][0]],
                                          .data_b = &bodies.data[body_pairs[pair][1]]};
    tact_field_cuts_place(cuts, &query, pose);
}

/* Poses at which the bodies of a pair overlap: random, or with faces in faces and equal fields. */
static void make_overlapping_poses_of_pair(int has_aligned_faces, struct tact_pose pose[2])
{
    pose[0] = has_aligned_faces ? tact_pose_identity() : random_pose(0.1);
    pose[1] = pose[0];
    if (has_aligned_faces) {
        const int axis = (int)(uniform(0.0, 2.99));
        pose[1].position[axis] += 0.004 * floor(uniform(0.0, 5.99));
        return;
    }
    random_unit_quaternion(pose[1].quat_wxyz);
    for (int k = 0; k < 3; k++) {
        pose[1].position[k] += uniform(-0.008, 0.008);
    }
}

static struct tact_pose randomly_displaced_pose(const struct tact_pose *from, double by)
{
    struct tact_pose out = *from;
    double turn[3], q[4];
    for (int k = 0; k < 3; k++) {
        out.position[k] += by * uniform(-1.0, 1.0);
        turn[k] = 100.0 * by * uniform(-1.0, 1.0);
    }
    tact_quat_from_rotvec(q, turn);
    tact_quat_mul(out.quat_wxyz, q, from->quat_wxyz);
    return out;
}

struct polygon_counts {
    size_t all, found;
};

/* Queries each pair of bodies, then again after a motion with results for the pairs of cells of
 * the first query, and compares with a query without them, bit for bit. */
static struct polygon_counts
compare_contacts_with_those_of_host(const struct tact_field_cutter *cutter, int has_aligned_faces,
                                    double motion)
{
    struct tact_field_cuts *cuts[BODY_PAIRS];
    struct tact_pose pose[BODY_PAIRS][2];
    struct tact_field_contact contact, expected;
    struct polygon_counts counts = {0, 0};
    for (int i = 0; i < BODY_PAIRS; i++) {
        assert_int_equal(tact_field_cuts_create(CAPACITY, &cuts[i]), 0);
        make_overlapping_poses_of_pair(has_aligned_faces, pose[i]);
        place_cuts_of_body_pair(i, pose[i], cuts[i]);
        tact_field_scratch_use_cuts(shared_field_scratch(), cuts[i]);
        (void)find_field_contact(bodies.field[body_pairs[i][0]], &pose[i][0],
                                 bodies.field[body_pairs[i][1]], &pose[i][1], &contact);
        tact_field_scratch_copy_candidates(shared_field_scratch(), cuts[i]);
        assert_int_equal(cuts[i]->found, 0);
        pose[i][1] = motion > 0.0 ? randomly_displaced_pose(&pose[i][1], motion) : pose[i][1];
        place_cuts_of_body_pair(i, pose[i], cuts[i]);
    }
    assert_int_equal(cutter->ops->cut(cutter->self, cuts, BODY_PAIRS), 0);
    for (int i = 0; i < BODY_PAIRS; i++) {
        find_contact_of_body_pair(i, pose[i], cuts[i], &contact);
        find_contact_of_body_pair(i, pose[i], NULL, &expected);
        assert_memory_equal(&contact, &expected, sizeof expected);
        counts.all += contact.polygons;
        counts.found += cuts[i]->found;
        tact_field_cuts_destroy(cuts[i]);
    }
    return counts;
}

static void print_polygon_counts(const char *what, const struct polygon_counts *counts)
{
    print_message("%s: %zu of %zu polygons computed before the query\n", what, counts->found,
                  counts->all);
}

static void add_polygon_counts(struct polygon_counts *sum, struct polygon_counts more)
{
    sum->all += more.all;
    sum->found += more.found;
}

static void contacts_cut_on_device_have_the_bits_of_host(void **state)
{
    const int trial_count = is_quick_sanitizer_run() ? 2 : 12;
    struct polygon_counts same = {0, 0}, moved = {0, 0}, aligned = {0, 0};
    (void)state;
    skip_test_without_opencl();
    struct tact_field_cutter cutter =
        open_cutter(BODY_PAIRS * CAPACITY, BODY_PAIRS * POLYGONS, BODIES);
    for (int i = 0; i < trial_count; i++) {
        add_polygon_counts(&same, compare_contacts_with_those_of_host(&cutter, 0, 0.0));
        add_polygon_counts(&moved, compare_contacts_with_those_of_host(&cutter, 0, 1e-4));
        add_polygon_counts(&aligned, compare_contacts_with_those_of_host(&cutter, 1, 0.0));
    }
    cutter.ops->close(cutter.self);
    print_polygon_counts("same pose", &same);
    print_polygon_counts("moved", &moved);
    print_polygon_counts("faces in faces", &aligned);
    assert_int_equal(same.found, same.all);
    assert_true(same.all > 200 * (size_t)trial_count);
    assert_true(moved.found > moved.all / 2 && moved.found < moved.all);
    assert_true(aligned.found > 0);
}

/* What has no room, and fields that were not uploaded, are computed by the query. */
static void contacts_without_device_room_have_bits_of_host(void **state)
{
    struct polygon_counts counts;
    (void)state;
    skip_test_without_opencl();
    struct tact_field_cutter cutter = open_cutter(100, 1000, BODIES);
    counts = compare_contacts_with_those_of_host(&cutter, 0, 0.0);
    cutter.ops->close(cutter.self);
    print_polygon_counts("100 candidates", &counts);
    assert_true(counts.found <= 100 && counts.found < counts.all);
    cutter = open_cutter(CAPACITY, 7, BODIES);
    counts = compare_contacts_with_those_of_host(&cutter, 0, 0.0);
    cutter.ops->close(cutter.self);
    print_polygon_counts("7 polygons", &counts);
    assert_true(counts.found > 0 && counts.found <= 7 && counts.found < counts.all);
    cutter = open_cutter(CAPACITY, POLYGONS, 0);
    counts = compare_contacts_with_those_of_host(&cutter, 0, 0.0);
    cutter.ops->close(cutter.self);
    assert_int_equal(counts.found, 0);
}

/* Numbers out of range, as a device that fails in the run may leave them, are not used. */
static void device_results_out_of_range_are_recomputed(void **state)
{
    const struct tact_pose pose[2] = {tact_pose_identity(), {{0.008, 0.002, 0.003}, {1, 0, 0, 0}}};
    struct tact_field_contact contact, expected;
    struct tact_field_cuts *cuts;
    (void)state;
    assert_int_equal(tact_field_cuts_create(CAPACITY, &cuts), 0);
    place_cuts_of_body_pair(0, pose, cuts);
    find_contact_of_body_pair(0, pose, NULL, &expected);
    tact_field_scratch_copy_candidates(shared_field_scratch(), cuts);
    assert_int_equal(cuts->count, 0);
    tact_field_scratch_use_cuts(shared_field_scratch(), cuts);
    (void)find_field_contact(bodies.field[body_pairs[0][0]], &pose[0],
                             bodies.field[body_pairs[0][1]], &pose[1], &contact);
    tact_field_scratch_copy_candidates(shared_field_scratch(), cuts);
    assert_true(cuts->count > 100 && expected.polygons > 50);
    int32_t *result = malloc(cuts->count * sizeof *result);
    struct field_cut *cut = calloc(cuts->count, sizeof *cut);
    assert_non_null(result);
    assert_non_null(cut);
    for (size_t i = 0; i < cuts->count; i++) {
        static const int32_t wrong[] = {INT32_MAX, INT32_MIN, -2, 1000};
        result[i] = i % 5 < 4 ? wrong[i % 5] : (int32_t)i % 10 + 1;
    }
    cut[0].corners = INT32_MAX;
    cut[1].corners = -1;
    cut[2].corners = TACT_FIELD_MAX_POLYGON_CORNERS + 1;
    cut[4].corners = cut[9].corners = 3;
    cut[4].side[1] = 8;
    cut[9].side[2] = -2;
    tact_field_cuts_set(cuts, result, cut, 10);
    find_contact_of_body_pair(0, pose, cuts, &contact);
    assert_int_equal(cuts->found, 0);
    assert_memory_equal(&contact, &expected, sizeof expected);
    tact_field_cuts_destroy(cuts);
    free(result);
    free(cut);
}

static void opencl_device_with_wrong_bits_is_refused(void **state)
{
    const struct tact_field_cutter_scene scene = {bodies.field, BODIES, 1, 1, 1};
    struct tact_opencl_options options = tact_opencl_options_default();
    struct tact_field_cutter cutter;
    struct tact_error err = {.line = 0};
    (void)state;
    skip_test_without_opencl();
    options.fault.wrong_kernels = 1;
    assert_int_equal(tact_opencl_field_cutter_factory(&options, &scene, NULL,
                                                      (struct tact_messages){0}, &cutter, &err),
                     -EDOM);
    print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, "other bits than the host"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_cut_on_device_have_the_bits_of_host),
        cmocka_unit_test(contacts_without_device_room_have_bits_of_host),
        cmocka_unit_test(device_results_out_of_range_are_recomputed),
        cmocka_unit_test(opencl_device_with_wrong_bits_is_refused),
    };
    return cmocka_run_group_tests(tests, make_fields_of_bodies, free_fields_of_bodies);
}
