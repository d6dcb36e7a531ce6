/* The broad phase on the host: the triangles that the device integrates for each pair, and the
 * summation frame, whose origin lies near the overlap so that coordinates are small. */
#include "kernels/batch_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* pending nodes of a traversal; a balanced tree needs far fewer */
#define MAX_TRAVERSAL_STACK_DEPTH 128

/* Transforms a point from the world to the frame of a pose. */
static void transform_point_to_pose_frame(double *r, const struct tact_pose *pose,
                                          const double *point)
{
    double m[9], d[3];
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_v3_sub(d, point, pose->position);
    tact_m3_tmul_v3(r, m, d);
}

/* Sets the transform from a shape's frame to the summation frame: rotation (9), origin (3). */
static void set_summation_transform(double *values, const struct tact_batch_pair *c,
                                    const struct tact_pose *pose)
{
    double m[9];
    tact_quat_to_m3(m, pose->quat_wxyz);
    tact_m3_mul(values, c->axes, m);
    transform_point_to_pose_frame(values + 9, pose, c->origin);
}

/* Sets the axes of the summation frame, with z as the third. */
static void set_summation_axes(struct tact_batch_pair *c, const double *z)
{
    tact_v3_tangents(z, c->axes, c->axes + 3);
    tact_v3_copy(c->axes + 6, z);
}

static int append_work_item(struct tact_work_items *to, uint32_t a, uint32_t b, uint32_t pair)
{
    if (to->count == to->capacity) {
        return -ENOSPC;
    }
    to->items[to->count++] = (struct tact_work_item){a, b, pair, 0};
    return 0;
}

void tact_collect_prism_items(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                              const double direction[3], uint32_t pair, struct tact_work_items *to)
{
    const struct tact_batch_mesh *a = &meshes[c->first_mesh_index],
                                 *b = &meshes[c->second_mesh_index];
    const struct tact_prism_pair *pairs = NULL;
    struct tact_prism_frame frame;
    c->status = 0;
    if (!tact_prism_frame(a->mesh, c->pose_of_first_shape, b->mesh, c->pose_of_second_shape,
                          direction, &frame)) {
        return;
    }
    memcpy(c->axes, frame.axes, sizeof c->axes);
    tact_v3_copy(c->origin, frame.origin);
    long n = tact_prism_pairs(a->mesh, c->pose_of_first_shape, b->mesh, c->pose_of_second_shape,
                              &frame, to->scratch, &pairs);
    if (n <= 0) {
        c->status = (int32_t)n;
        return;
    }
    if ((unsigned long)n > to->capacity - to->count) {
        c->status = -ENOSPC;
        return;
    }
    set_summation_transform(c->values, c, c->pose_of_first_shape);
    set_summation_transform(c->values + 12, c, c->pose_of_second_shape);
    c->values[24] =
        tact_prism_slack(a->mesh, c->pose_of_first_shape, b->mesh, c->pose_of_second_shape);
    for (long i = 0; i < n; i++) {
        append_work_item(to, a->first_triangle_index + pairs[i].a,
                         b->first_triangle_index + pairs[i].b, pair);
    }
    c->status = 1;
}

/* Traversal of a mesh's tree: appends the leaves for which overlaps() is true, and bounds them. */
struct mesh_tree_traversal {
    int (*overlaps)(const void *overlaps_context, const struct tact_mesh_node *node);
    const void *overlaps_context;
    double lower[3], upper[3];
};

static int traverse_mesh_tree(struct mesh_tree_traversal *d, const struct tact_batch_mesh *mesh,
                              uint32_t pair, struct tact_work_items *to)
{
    uint32_t stack[MAX_TRAVERSAL_STACK_DEPTH];
    int depth = 0;
    stack[depth++] = 0;
    tact_v3_set(d->lower, INFINITY, INFINITY, INFINITY);
    tact_v3_set(d->upper, -INFINITY, -INFINITY, -INFINITY);
    while (depth > 0) {
        const struct tact_mesh_node *node = &mesh->mesh->nodes[stack[--depth]];
        if (!d->overlaps(d->overlaps_context, node)) {
            continue;
        }
        if (node->count == 0) {
            if (depth + 2 > MAX_TRAVERSAL_STACK_DEPTH) {
                return -ENOSPC;
            }
            stack[depth++] = node->first + 1;
            stack[depth++] = node->first;
            continue;
        }
        for (uint32_t i = 0; i < node->count; i++) {
            if (append_work_item(to, mesh->first_triangle_index + node->first + i, 0, pair) < 0) {
                return -ENOSPC;
            }
        }
        for (int i = 0; i < 3; i++) {
            d->lower[i] = fmin(d->lower[i], node->lower[i]);
            d->upper[i] = fmax(d->upper[i], node->upper[i]);
        }
    }
    return 0;
}

/* A plane in mesh coordinates: the solid is where normal . r <= offset. */
struct plane_in_mesh_frame {
    double normal[3];
    double offset;
    double slack; /* height up to which a vertex counts as in the plane [m] */
};

static int is_node_below_plane(const void *overlaps_context, const struct tact_mesh_node *node)
{
    const struct plane_in_mesh_frame *p = overlaps_context;
    double lowest = -p->offset;
    for (int i = 0; i < 3; i++) {
        lowest += p->normal[i] * (p->normal[i] > 0.0 ? node->lower[i] : node->upper[i]);
    }
    return lowest < p->slack;
}

void tact_collect_plane_items(struct tact_batch_pair *c, const struct tact_batch_mesh *meshes,
                              uint32_t pair, struct tact_work_items *to)
{
    const struct tact_batch_mesh *mesh = &meshes[c->first_mesh_index];
    double up[3] = {0.0, 0.0, 1.0}, z[3], m[9], middle[3], d[3];
    struct plane_in_mesh_frame plane;
    struct mesh_tree_traversal mesh_tree_traversal = {.overlaps = is_node_below_plane,
                                                      .overlaps_context = &plane};
    uint32_t before = to->count;
    tact_quat_rotate(z, c->pose_of_second_shape->quat_wxyz, up);
    tact_quat_to_m3(m, c->pose_of_first_shape->quat_wxyz);
    tact_m3_tmul_v3(plane.normal, m, z);
    tact_v3_sub(d, c->pose_of_second_shape->position, c->pose_of_first_shape->position);
    plane.offset = tact_v3_dot(z, d);
    plane.slack =
        tact_prism_slack(mesh->mesh, c->pose_of_first_shape, NULL, c->pose_of_second_shape);
    c->status = traverse_mesh_tree(&mesh_tree_traversal, mesh, pair, to);
    if (c->status < 0 || to->count == before) {
        to->count = before;
        return;
    }
    /* origin: centre of the box about the leaves below, projected onto the plane */
    for (int i = 0; i < 3; i++) {
        d[i] = 0.5 * (mesh_tree_traversal.lower[i] + mesh_tree_traversal.upper[i]);
    }
    tact_pose_point(middle, c->pose_of_first_shape, d);
    tact_v3_sub(d, middle, c->pose_of_second_shape->position);
    tact_v3_copy(c->origin, middle);
    tact_v3_axpy(c->origin, -tact_v3_dot(z, d), z);
    set_summation_axes(c, z);
    set_summation_transform(c->values, c, c->pose_of_first_shape);
    c->values[24] = plane.slack;
    c->status = 1;
}
