/* The functions that ccd_tact.hpp calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/features/nearest_internal.h"

void *ccd_tact_core(const double *vertices, size_t count, const uint32_t *triangles,
                    size_t triangle_count);
double ccd_tact_query(const void *a, const void *b, const double *pose, double *state);

void *ccd_tact_core(const double *vertices, size_t count, const uint32_t *triangles,
                    size_t triangle_count)
{
    struct tact_shape shape = {.kind = TACT_SHAPE_CONVEX};
    struct tact_mesh *mesh = NULL;
    struct tact_convex_core *core = NULL;
    int rc = tact_mesh_create(vertices, count, triangles, triangle_count, &mesh, NULL);
    shape.mesh = mesh;
    if (rc || tact_convex_core_create(&shape, &core)) {
        exit(2);
    }
    tact_mesh_free(mesh);
    return core;
}

double ccd_tact_query(const void *a, const void *b, const double *pose, double *state)
{
    struct tact_pose here = tact_pose_identity(), pose_of_b;
    struct tact_separation out;
    memcpy(pose_of_b.position, pose, sizeof pose_of_b.position);
    memcpy(pose_of_b.quat_wxyz, pose + 3, sizeof pose_of_b.quat_wxyz);
    return tact_nearest_points(a, &here, b, &pose_of_b, state, &out) || !out.is_exact
               ? NAN
               : out.distance;
}
