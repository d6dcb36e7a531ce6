/* Contacts of pressure fields in tests. Include after cmocka.h. */
#ifndef TACT_TESTS_FIELD_BODIES_H
#define TACT_TESTS_FIELD_BODIES_H

#include "field_triangulation.h"

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
static inline void field_wrench_about(const struct tact_field_contact *c,
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

#endif
