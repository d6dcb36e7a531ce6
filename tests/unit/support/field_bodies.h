/* Contacts of pressure fields in tests. Include after cmocka.h. */
#ifndef TACT_TESTS_FIELD_BODIES_H
#define TACT_TESTS_FIELD_BODIES_H

#include "field_triangulation.h"
#include "moved.h"
#include "random.h"

/* Number of polygons for which the scratch memory of a test has room. */
#define FIELD_SCRATCH_POLYGONS 40000

static inline struct tact_pose pose_from_position_and_rotation(double x, double y, double z,
                                                               double rx, double ry, double rz)
{
    struct tact_pose pose = {{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
    const double turn[3] = {rx, ry, rz};
    tact_quat_from_rotvec(pose.quat_wxyz, turn);
    return pose;
}

/* The scratch memory of field contacts that a test shares, created at the first call. */
static inline struct tact_field_scratch *shared_field_scratch(void)
{
    static struct tact_field_scratch *scratch;
    scratch = scratch ? scratch : tact_field_scratch_create(FIELD_SCRATCH_POLYGONS);
    return scratch;
}

static inline int find_field_contact(const struct tact_pressure_field *a,
                                     const struct tact_pose *pa,
                                     const struct tact_pressure_field *b,
                                     const struct tact_pose *pb, struct tact_field_contact *out)
{
    int rc = tact_field_touch(a, pa, b, pb, shared_field_scratch(), out);
    assert_true(rc >= 0);
    return rc;
}

/* The field contact's wrench on body A about `moment_point`. */
static inline void field_wrench_about_point(const struct tact_field_contact *c,
                                            const double *moment_point, double *out)
{
    double arm[3], more[3];
    memcpy(out, c->wrench, 6 * sizeof *out);
    tact_v3_sub(arm, c->centre, moment_point);
    tact_v3_cross(more, arm, c->wrench);
    tact_v3_add(out + 3, out + 3, more);
}

static inline struct tact_pressure_field *make_halfspace_field(double gradient)
{
    struct tact_pressure_field *field;
    assert_int_equal(tact_field_halfspace(gradient, &field), 0);
    return field;
}

static inline struct tact_pressure_field *make_rigid_box_field(double x, double y, double z,
                                                               struct tact_mesh **mesh)
{
    const double half[3] = {x, y, z};
    struct tact_pressure_field *field;
    assert_int_equal(tact_mesh_box(half, mesh), 0);
    assert_int_equal(tact_field_rigid(*mesh, &field), 0);
    return field;
}

/* A pyramid below its base of 2 x `count`^2 triangles in the plane z = 0, of half sides `half` [m],
 * whose inner vertices are displaced at random, within the plane and across it by `bump` [m]. */
static inline struct tact_mesh *make_triangulated_plane(double half, int count, double bump)
{
    const uint32_t cells = (uint32_t)count, row = cells + 1, apex = row * row, top = cells * row;
    const double cell = 2.0 * half / count;
    double *x = malloc(3 * ((size_t)apex + 1) * sizeof *x);
    uint32_t *t = malloc(6 * (size_t)row * (row + 1) * sizeof *t);
    struct tact_mesh *mesh;
    size_t n = 0;
    assert_non_null(x);
    assert_non_null(t);
    for (uint32_t i = 0; i < apex; i++) {
        const uint32_t column = i % row, line = i / row;
        int is_inner_vertex = column && line && column < cells && line < cells;
        double shift = is_inner_vertex ? 0.15 * cell : 0.0;
        tact_v3_set(x + 3 * (size_t)i, column * cell - half + shift * uniform(-1.0, 1.0),
                    line * cell - half + shift * uniform(-1.0, 1.0),
                    is_inner_vertex ? bump * uniform(-1.0, 1.0) : 0.0);
    }
    tact_v3_set(x + 3 * (size_t)apex, 0.0, 0.0, -2.0 * half);
    for (uint32_t i = 0; i < cells * cells; i++) {
        const uint32_t a = i / cells * row + i % cells, b = a + 1, c = a + row, d = c + 1;
        const uint32_t corners[6] = {a, b, d, a, d, c};
        memcpy(t + n, corners, sizeof corners);
        n += 6;
    }
    for (uint32_t i = 0; i < cells; i++) {
        const uint32_t left = i * row, right = left + cells;
        const uint32_t sides[12] = {i + 1, i,          apex, top + i,     top + i + 1, apex,
                                    left,  left + row, apex, right + row, right,       apex};
        memcpy(t + n, sides, sizeof sides);
        n += 12;
    }
    assert_int_equal(tact_mesh_create(x, (size_t)apex + 1, t, n / 3, &mesh, NULL), 0);
    free(x);
    free(t);
    return mesh;
}

#endif
