/* The bounding-volume tree: split near the median along the widest spread of triangle centres, so
 * that its depth never exceeds log2 of the number of triangles and a traversal needs only a small
 * fixed stack. The split is rounded so that all leaves but the last are full: leaves are processed
 * four triangles at a time, nodes of mesh_wide.c eight leaves at a time. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_tree_items(const void *pa, const void *pb)
{
    const struct tact_bounding_box_tree_item *a = pa, *b = pb;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static void compute_tree_item_bounds(const struct tact_mesh *mesh,
                                     const struct tact_bounding_box_tree_item *triangle_tree_items,
                                     size_t count, struct tact_mesh_node *node)
{
    for (int k = 0; k < 3; k++) {
        node->lower[k] = INFINITY;
        node->upper[k] = -INFINITY;
    }
    for (size_t i = 0; i < 3 * count; i++) {
        uint32_t vertex = mesh->triangles[3 * (size_t)triangle_tree_items[i / 3].number + i % 3];
        for (int k = 0; k < 3; k++) {
            double x = mesh->vertices[3 * (size_t)vertex + (size_t)k];
            node->lower[k] = fmin(node->lower[k], x);
            node->upper[k] = fmax(node->upper[k], x);
        }
    }
}

void tact_sort_tree_items(struct tact_bounding_box_tree_item *triangle_tree_items, size_t count)
{
    double lower[3] = {INFINITY, INFINITY, INFINITY};
    double upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], triangle_tree_items[i].centre[k]);
            upper[k] = fmax(upper[k], triangle_tree_items[i].centre[k]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        if (upper[k] - lower[k] > upper[axis] - lower[axis]) {
            axis = k;
        }
    }
    for (size_t i = 0; i < count; i++) {
        triangle_tree_items[i].key = triangle_tree_items[i].centre[axis];
    }
    qsort(triangle_tree_items, count, sizeof *triangle_tree_items, compare_tree_items);
}

/* Number of a tree node's triangles that the first child gets. */
static size_t triangle_count_of_first_child(size_t count)
{
    const size_t triangles_in_8_leaves = 8 * (size_t)TACT_MESH_LEAF;
    size_t eight_leaf_groups_of_first_child =
        count > triangles_in_8_leaves ? triangles_in_8_leaves : TACT_MESH_LEAF;
    size_t number_of_eight_leaf_groups =
        (count + eight_leaf_groups_of_first_child - 1) / eight_leaf_groups_of_first_child;
    return eight_leaf_groups_of_first_child * ((number_of_eight_leaf_groups + 1) / 2);
}

static void build_bounding_box_subtree(struct tact_mesh *mesh,
                                       struct tact_bounding_box_tree_item *triangle_tree_items,
                                       size_t first, size_t count, size_t index)
{
    struct tact_mesh_node *node = &mesh->nodes[index];
    compute_tree_item_bounds(mesh, triangle_tree_items + first, count, node);
    if (count <= TACT_MESH_LEAF) {
        node->first = (uint32_t)first;
        node->count = (uint32_t)count;
        return;
    }
    tact_sort_tree_items(triangle_tree_items + first, count);
    size_t first_child_node_index = mesh->node_count, part = triangle_count_of_first_child(count);
    mesh->node_count += 2;
    node->first = (uint32_t)first_child_node_index;
    node->count = 0;
    build_bounding_box_subtree(mesh, triangle_tree_items, first, part, first_child_node_index);
    build_bounding_box_subtree(mesh, triangle_tree_items, first + part, count - part,
                               first_child_node_index + 1);
}

int tact_mesh_build_tree(struct tact_mesh *mesh)
{
    size_t n = mesh->triangle_count;
    struct tact_bounding_box_tree_item *triangle_tree_items =
        malloc(n * sizeof *triangle_tree_items);
    uint32_t *triangles_in_tree_order = malloc(3 * n * sizeof *triangles_in_tree_order);
    mesh->nodes = malloc(2 * n * sizeof *mesh->nodes);
    if (!triangle_tree_items || !triangles_in_tree_order || !mesh->nodes) {
        free(triangle_tree_items);
        free(triangles_in_tree_order);
        return -ENOMEM;
    }
    for (size_t t = 0; t < n; t++) {
        triangle_tree_items[t].number = (uint32_t)t;
        for (size_t k = 0; k < 3; k++) {
            const uint32_t *v = mesh->triangles + 3 * t;
            triangle_tree_items[t].centre[k] = mesh->vertices[3 * (size_t)v[0] + k] +
                                               mesh->vertices[3 * (size_t)v[1] + k] +
                                               mesh->vertices[3 * (size_t)v[2] + k];
        }
    }
    mesh->node_count = 1;
    build_bounding_box_subtree(mesh, triangle_tree_items, 0, n, 0);
    for (size_t t = 0; t < n; t++) {
        memcpy(triangles_in_tree_order + 3 * t,
               mesh->triangles + 3 * (size_t)triangle_tree_items[t].number,
               3 * sizeof *triangles_in_tree_order);
    }
    free(mesh->triangles);
    mesh->triangles = triangles_in_tree_order;
    free(triangle_tree_items);
    return 0;
}
