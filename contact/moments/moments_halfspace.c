/* A mesh below a plane: prisms between its triangles and the plane. */
#include <string.h>

#include "contact/moments/moments_columns_internal.h"
#include "contact/moments/moments_internal.h"

/* Capacity for the nodes to be visited: a tree split at the median has at most 32 levels. */
enum { STACK_NODES = 34 };

/* A mesh in the frame of the half-space: z is the height above its surface. */
struct placed_mesh {
    const struct tact_mesh *mesh;
    double rot[9];
    double shift[3];
    double slack; /* height within which a triangle counts as coplanar [m] */
};

/* Height above the half-space of the lowest point of a node's box. */
static double node_lowest_height(const struct placed_mesh *p, const struct tact_mesh_node *node)
{
    double z = p->shift[2];
    for (int k = 0; k < 3; k++) {
        double r = p->rot[6 + k];
        z += r * (r > 0.0 ? node->lower[k] : node->upper[k]);
    }
    return z;
}

/* Adds the prism between the part of a triangle below the plane and the plane. */
TACT_INLINE void add_prism_between_triangle_and_plane(const struct placed_mesh *p, uint32_t index,
                                                      struct tact_prism_columns *columns)
{
    const uint32_t *v = p->mesh->triangles + 3 * (size_t)index;
    double t[3][3], height[4];
    tact_d4 below[4];
    for (int k = 0; k < 3; k++) {
        tact_m3_mul_v3(t[k], p->rot, p->mesh->vertices + 3 * (size_t)v[k]);
        tact_v3_add(t[k], t[k], p->shift);
    }
    int n = 0, in_plane = 1;
    for (int i = 0; i < 3; i++) {
        in_plane &= fabs(t[i][2]) <= p->slack;
        t[i][2] = fabs(t[i][2]) <= p->slack ? 0.0 : t[i][2];
    }
    for (int i = 0; i < 3; i++) {
        const double *a = t[i], *b = t[(i + 1) % 3];
        if (a[2] <= 0.0) {
            height[n] = -a[2];
            below[n++] = (tact_d4){a[0], a[1], a[2], 0.0};
        }
        if ((a[2] < 0.0 && b[2] > 0.0) || (a[2] > 0.0 && b[2] < 0.0)) {
            double u = a[2] / (a[2] - b[2]);
            below[n] = (tact_d4){a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1]), 0.0, 0.0};
            height[n++] = 0.0;
        }
    }
    if (n >= 3) {
        tact_prism_columns_add_triangle(columns, below, height, n, in_plane ? 0.5 : 1.0);
    }
}

/* Sums the moments of the part of a mesh below the plane. */
static void add_volume_below_plane(const struct placed_mesh *p, struct tact_moment_sums *sums)
{
    struct tact_prism_columns columns;
    uint32_t unvisited_node_stack[STACK_NODES] = {0};
    int top = 1;
    memset(&columns, 0, sizeof columns);
    while (top > 0) {
        const struct tact_mesh_node *node = &p->mesh->nodes[unvisited_node_stack[--top]];
        if (node_lowest_height(p, node) > p->slack) {
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            add_prism_between_triangle_and_plane(p, node->first + i, &columns);
        }
        if (node->count == 0) {
            unvisited_node_stack[top++] = node->first + 1;
            unvisited_node_stack[top++] = node->first;
        }
    }
    tact_prism_columns_sum_queued(&columns, sums);
}

/* Places the frame's origin on the plane below the part of the mesh's box that is deepest, so that
 * sums over a small overlap do not lose digits. */
static void choose_origin_on_plane_at_mesh(const struct tact_mesh *mesh, const struct tact_pose *pa,
                                           const double axes[9],
                                           const double point_on_halfspace_plane[3],
                                           double origin[3])
{
    double r[9], up[3], corner[3], world[3];
    tact_quat_to_m3(r, pa->quat_wxyz);
    tact_m3_tmul_v3(up, r, axes + 6);
    const struct tact_mesh_node *root_node = &mesh->nodes[0];
    for (int k = 0; k < 3; k++) {
        double middle = 0.5 * (root_node->lower[k] + root_node->upper[k]);
        corner[k] = fabs(up[k]) < 0.01 ? middle
                    : up[k] > 0.0      ? root_node->lower[k]
                                       : root_node->upper[k];
    }
    tact_pose_point(world, pa, corner);
    double offset[3];
    tact_v3_sub(offset, world, point_on_halfspace_plane);
    tact_v3_copy(origin, world);
    tact_v3_axpy(origin, -tact_v3_dot(offset, axes + 6), axes + 6);
}

TACT_DISPATCH_BY_CPU(int, tact_moments_mesh_halfspace,
                     (const struct tact_mesh *mesh, const struct tact_pose *pa,
                      const struct tact_pose *pb, struct tact_moments *out),
                     (mesh, pa, pb, out))
{
    double r[9], axes[9], origin[3], body[9], offset[3];
    tact_quat_to_m3(r, pb->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        axes[i] = r[3 * (i % 3) + i / 3];
    }
    choose_origin_on_plane_at_mesh(mesh, pa, axes, pb->position, origin);
    struct placed_mesh placed_mesh = {.mesh = mesh, .slack = tact_prism_slack(mesh, pa, NULL, pb)};
    tact_quat_to_m3(body, pa->quat_wxyz);
    tact_m3_mul(placed_mesh.rot, axes, body);
    tact_v3_sub(offset, pa->position, origin);
    tact_m3_mul_v3(placed_mesh.shift, axes, offset);
    /* heights are computed from the plane itself, without the rounding of the frame's origin */
    tact_v3_sub(offset, pa->position, pb->position);
    placed_mesh.shift[2] = tact_v3_dot(axes + 6, offset);

    struct tact_moment_sums sums;
    add_volume_below_plane(&placed_mesh, &sums);
    return tact_moment_sums_finish(&sums, axes, origin, out);
}
