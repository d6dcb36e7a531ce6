/* Convex solids with their cores, as tests of distances need them. The including file has cmocka's
 * headers. */
#ifndef TACT_TESTS_CONVEX_SOLID_H
#define TACT_TESTS_CONVEX_SOLID_H

#include <math.h>
#include <stdlib.h>
#include "contact/pair/features/nearest_internal.h"
#include "random.h"

/* A convex solid: its shape, the core that distances are measured from, and its pose. */
struct solid {
    struct tact_shape shape;
    struct tact_mesh *mesh; /* mesh of a convex hull, owned by the solid; NULL for other shapes */
    struct tact_convex_core *core;
    struct tact_pose pose;
};

static inline void create_solid_core(struct solid *s)
{
    s->pose = tact_pose_identity();
    assert_int_equal(tact_convex_core_create(&s->shape, &s->core), 0);
}

static inline struct solid make_box_solid(double x, double y, double z)
{
    struct solid s = {.shape = {.kind = TACT_SHAPE_BOX, .size = {0.5 * x, 0.5 * y, 0.5 * z}}};
    assert_int_equal(tact_shape_tessellate(&s.shape), 0);
    create_solid_core(&s);
    return s;
}

static inline struct solid make_round_solid(enum tact_shape_kind kind, double radius, double half)
{
    struct solid s = {.shape = {.kind = kind, .size = {radius, half, 0.0}}};
    create_solid_core(&s);
    return s;
}

static inline struct solid make_hull_solid(const double *points, size_t count)
{
    struct solid s = {.shape = {.kind = TACT_SHAPE_CONVEX}};
    struct tact_error err = {.line = 0};
    if (tact_mesh_hull(points, count, &s.mesh, &err)) {
        fail_msg("%s", err.text);
    }
    s.shape.mesh = s.mesh;
    create_solid_core(&s);
    return s;
}

/* Makes the hull of random points on a sphere, or anywhere in a cube. */
static inline struct solid make_random_hull(int count, double size, int are_points_on_sphere)
{
    double(*point)[3] = malloc((size_t)count * sizeof *point);
    for (int i = 0; i < count; i++) {
        do {
            for (int k = 0; k < 3; k++) {
                point[i][k] = uniform(-1.0, 1.0);
            }
        } while (are_points_on_sphere &&
                 !(tact_v3_norm(point[i]) > 0.1 && tact_v3_norm(point[i]) < 1.0));
        tact_v3_scale(point[i], point[i],
                      size / (are_points_on_sphere ? tact_v3_norm(point[i]) : 1.0));
    }
    struct solid s = make_hull_solid(point[0], (size_t)count);
    free(point);
    return s;
}

static inline void free_convex_solid(struct solid *s)
{
    tact_convex_core_free(s->core);
    tact_shape_release(&s->shape);
    tact_mesh_free(s->mesh);
}

static inline void rotate_solid(struct solid *s, double x, double y, double z)
{
    const double by[3] = {x, y, z};
    tact_quat_from_rotvec(s->pose.quat_wxyz, by);
}

static inline struct tact_separation find_separation_of_solids(const struct solid *a,
                                                               const struct solid *b, double *state)
{
    struct tact_separation out;
    double none[TACT_NEAREST_STATE] = {0.0};
    assert_int_equal(
        tact_nearest_points(a->core, &a->pose, b->core, &b->pose, state ? state : none, &out), 0);
    return out;
}

#endif
