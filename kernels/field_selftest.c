/* Compares the polygons of a device with the host's, bit for bit: some drivers miscompile, or
 * contract a product and a sum. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact/pair/field/field_internal.h"
#include "contact/pair/options.h"
#include "kernels/field_batch_internal.h"

enum { SOFT_BOX, SOFT_PLATE, SOFT_WEDGE, FLAT_TETS, RIGID_BOX, SOFT_PLANE, RIGID_PLANE, FIELDS };

static const int tested_pairs[][2] = {{SOFT_BOX, SOFT_PLATE},   {SOFT_WEDGE, SOFT_BOX},
                                      {SOFT_BOX, SOFT_BOX},     {FLAT_TETS, SOFT_BOX},
                                      {FLAT_TETS, FLAT_TETS},   {SOFT_BOX, RIGID_BOX},
                                      {FLAT_TETS, RIGID_BOX},   {SOFT_PLANE, RIGID_BOX},
                                      {SOFT_WEDGE, SOFT_PLANE}, {SOFT_BOX, RIGID_PLANE}};
#define TESTED_PAIR_COUNT (sizeof tested_pairs / sizeof *tested_pairs)

/* Sizes of the tested bodies, as in a grip [m]. */
static const double soft_box_size[3] = {0.01, 0.012, 0.008}, plate_size[3] = {0.03, 0.002, 0.015};

/* Most pairs of cells of a pair of fields that are tested in a pose. */
enum { CANDIDATES = 1024, POSES = 12 };

static int make_wedge_shape(struct tact_shape *shape, struct tact_mesh **mesh,
                            struct tact_error *err)
{
    static const double corners[] = {
        -0.01, -0.01, -0.006, 0.013, -0.009, -0.006, 0.002,  0.014, -0.006,
        0.001, 0.002, 0.009,  0.008, 0.004,  0.007,  -0.004, 0.001, 0.002,
    };
    *shape = (struct tact_shape){.kind = TACT_SHAPE_CONVEX};
    int rc = tact_mesh_hull(corners, 6, mesh, err);
    shape->mesh = *mesh;
    return rc;
}

/* An octahedron of eight tetrahedra, whose inner corner is so near to a face that one of them is
 * flat by 1e-6 of its size. */
static int make_flat_tets(struct tact_pressure_field **out, struct tact_error *err)
{
    enum { CORNERS = 7, TETS = 8 };
    static const double r = 0.01, inner = 0.01 / 3.0 - 1e-8;
    const double x[3 * CORNERS] = {inner, inner, inner, r, 0, 0, -r, 0, 0, 0, r,
                                   0,     0,     -r,    0, 0, 0, r,  0, 0, -r};
    static const double pressure[CORNERS] = {3e4};
    uint32_t tets[4 * TETS];
    for (uint32_t i = 0; i < TETS; i++) {
        const uint32_t tet[4] = {0, 1 + (i & 1), 3 + (i >> 1 & 1), 5 + (i >> 2)};
        memcpy(tets + 4 * (size_t)i, tet, sizeof tet);
    }
    return tact_field_tets(x, CORNERS, tets, TETS, pressure, out, err);
}

static int make_tested_fields(struct tact_pressure_field **field, struct tact_error *err)
{
    const struct tact_field_material soft = {.modulus = 1e5, .thickness = 0.007},
                                     softer = {.modulus = 3e4, .thickness = 0.002},
                                     rigid = {.modulus = 0.0};
    struct tact_shape box = {.kind = TACT_SHAPE_BOX}, plate = {.kind = TACT_SHAPE_BOX}, wedge;
    struct tact_mesh *mesh = NULL;
    memcpy(box.size, soft_box_size, sizeof soft_box_size);
    memcpy(plate.size, plate_size, sizeof plate_size);
    int rc = make_wedge_shape(&wedge, &mesh, err);
    rc = rc ? rc : tact_shape_tessellate(&box);
    rc = rc ? rc : tact_shape_tessellate(&plate);
    rc = rc ? rc : tact_field_of_shape(&box, &soft, &field[SOFT_BOX], err);
    rc = rc ? rc : tact_field_of_shape(&plate, &softer, &field[SOFT_PLATE], err);
    rc = rc ? rc : tact_field_of_shape(&wedge, &softer, &field[SOFT_WEDGE], err);
    rc = rc ? rc : make_flat_tets(&field[FLAT_TETS], err);
    rc = rc ? rc : tact_field_of_shape(&box, &rigid, &field[RIGID_BOX], err);
    rc = rc ? rc : tact_field_halfspace(1e7, &field[SOFT_PLANE]);
    rc = rc ? rc : tact_field_halfspace(INFINITY, &field[RIGID_PLANE]);
    tact_shape_release(&box);
    tact_shape_release(&plate);
    tact_mesh_free(mesh);
    return rc;
}

/* Pose of b relative to a: equal, then shifted so that faces lie in faces or in parallel, then
 * turned as well. */
static struct tact_pose pose_of_selftest_number(int k)
{
    struct tact_pose pose = tact_pose_identity();
    const double phase = 1.3 * k, reach = 0.0007 * k;
    if (k >= 1 && k <= 3) {
        pose.position[k - 1] = 2.0 * soft_box_size[k - 1] * (k == 3 ? 0.25 : 0.5);
    } else if (k > 3) {
        const double turn[3] = {tact_sin(phase), tact_cos(1.7 * phase), tact_sin(2.3 * phase)};
        tact_v3_set(pose.position, reach * tact_cos(2.1 * k), reach * tact_sin(2.1 * k),
                    reach * tact_cos(3.7 * k));
        tact_quat_from_rotvec(pose.quat_wxyz, turn);
    }
    return pose;
}

/* Chooses pairs of cells, evenly spread over all. */
static void choose_evenly_spread_cell_pairs(struct tact_field_cuts *cuts)
{
    const size_t all = cuts->pair.a->cell_count * cuts->pair.b->cell_count;
    cuts->count = all < cuts->capacity ? all : cuts->capacity;
    for (size_t i = 0; i < cuts->count; i++) {
        const size_t k = i * all / cuts->count;
        cuts->candidate[i] = (struct field_cell_pair){(uint32_t)(k / cuts->pair.b->cell_count),
                                                      (uint32_t)(k % cuts->pair.b->cell_count)};
    }
}

static int are_numbers_equal_bit_for_bit(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i]))) {
            return 0;
        }
    }
    return 1;
}

static int are_cuts_equal(const struct field_cut *a, const struct field_cut *b)
{
    const size_t n = (size_t)a->corners;
    return a->corners == b->corners && a->is_polygon_in_cell_face == b->is_polygon_in_cell_face &&
           are_numbers_equal_bit_for_bit(a->corner[0], b->corner[0], 3 * n) &&
           !memcmp(a->side, b->side, n * sizeof *a->side) &&
           are_numbers_equal_bit_for_bit(a->normal, b->normal, 3) &&
           are_numbers_equal_bit_for_bit(a->gradient_b, b->gradient_b, 3) &&
           are_numbers_equal_bit_for_bit(&a->pressure_gradient_difference,
                                         &b->pressure_gradient_difference, 1) &&
           are_numbers_equal_bit_for_bit(&a->level, &b->level, 1) &&
           are_numbers_equal_bit_for_bit(&a->area_moments.area, &b->area_moments.area, 1) &&
           are_numbers_equal_bit_for_bit(a->area_moments.first, b->area_moments.first, 3) &&
           are_numbers_equal_bit_for_bit(a->area_moments.second, b->area_moments.second, 9) &&
           are_numbers_equal_bit_for_bit(&a->load, &b->load, 1) &&
           are_numbers_equal_bit_for_bit(a->lever, b->lever, 3);
}

/* Counts the polygons of a pair of fields, and adds the results that differ from the host's. */
static int count_polygons(const struct tact_field_cuts *cuts, size_t *differing)
{
    int polygon_count = 0;
    for (size_t i = 0; i < cuts->count; i++) {
        const struct field_cell_pair cells = cuts->candidate[i];
        struct contact_surface_polygon polygon;
        struct field_cut expected = {.corners = 0};
        const int rc = tact_field_cut_contact_polygon(&cuts->pair, cells.a, cells.b, &polygon);
        const int32_t result = cuts->result ? cuts->result[i] : TACT_FIELD_NOT_CUT;
        if (rc > 0) {
            tact_field_integrate_linear(&polygon);
            tact_field_store_cut(&polygon, &expected);
            polygon_count++;
        }
        *differing += rc > 0 ? result <= 0 || !are_cuts_equal(&cuts->cut[result - 1], &expected)
                             : result != rc;
    }
    return polygon_count;
}

static int run_test_poses(struct tact_field_program *program, struct tact_pressure_field **field,
                          struct tact_field_cuts **cuts, struct tact_error *err)
{
    const struct tact_field_cutter_scene scene = {
        .fields = (const struct tact_pressure_field *const *)field,
        .field_count = FIELDS,
        .pair_capacity = TESTED_PAIR_COUNT,
        .candidate_capacity = TESTED_PAIR_COUNT * CANDIDATES,
        .polygon_capacity = TESTED_PAIR_COUNT * CANDIDATES,
    };
    struct tact_field_batch *batch;
    size_t differing = 0;
    int polygon_count = 0, rc = tact_field_batch_create(program, &scene, &batch, err);
    for (int k = 0; k < POSES && !rc; k++) {
        const struct tact_pose origin = tact_pose_identity(), pose = pose_of_selftest_number(k);
        for (size_t i = 0; i < TESTED_PAIR_COUNT; i++) {
            tact_field_set_pair_poses(&cuts[i]->pair, field[tested_pairs[i][0]], &origin,
                                      field[tested_pairs[i][1]], &pose);
            choose_evenly_spread_cell_pairs(cuts[i]);
        }
        rc = tact_field_batch_run(batch, cuts, TESTED_PAIR_COUNT);
        for (size_t i = 0; i < TESTED_PAIR_COUNT && !rc; i++) {
            polygon_count += count_polygons(cuts[i], &differing);
        }
    }
    tact_field_batch_destroy(batch);
    if (!rc && differing) {
        return tact_error_set(err, -EDOM,
                              "the OpenCL device %s computes other bits than the host: %zu of %d "
                              "polygons of pressure fields",
                              program->cl.info.name, differing, polygon_count);
    }
    snprintf(program->cl.info.verdict, sizeof program->cl.info.verdict,
             "%d polygons of pressure fields equal to the host's", polygon_count);
    return rc;
}

int tact_field_selftest(struct tact_field_program *program, struct tact_error *err)
{
    struct tact_pressure_field *field[FIELDS] = {NULL};
    struct tact_field_cuts *cuts[TESTED_PAIR_COUNT] = {NULL};
    int rc = make_tested_fields(field, err);
    for (size_t i = 0; i < TESTED_PAIR_COUNT && !rc; i++) {
        rc = tact_field_cuts_create(CANDIDATES, &cuts[i]);
    }
    rc = rc ? rc : run_test_poses(program, field, cuts, err);
    if (rc && !(err && err->text[0])) {
        tact_error_set(err, rc, "the self-test of the OpenCL device %s could not be run (error %d)",
                       program->cl.info.name, rc);
    }
    for (size_t i = 0; i < TESTED_PAIR_COUNT; i++) {
        tact_field_cuts_destroy(cuts[i]);
    }
    for (int i = 0; i < FIELDS; i++) {
        tact_field_free(field[i]);
    }
    return rc;
}
