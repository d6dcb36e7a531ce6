/* A second copy of the tree, with eight children per node and the triangles of leaves in SIMD
 * layout: a traversal tests eight boxes at once and reads contiguous memory. */
#include "contact/mesh/mesh_internal.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Finds the distinct corners of a leaf's triangles. */
static void find_distinct_corners(const uint32_t *index, struct tact_mesh_leaf *leaf)
{
    const uint32_t count = 3U * leaf->count;
    leaf->corners = 0;
    memset(leaf->distinct_corner_index, 0, sizeof leaf->distinct_corner_index);
    memset(leaf->local, 0, sizeof leaf->local);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t k = 0;
        while (k < leaf->corners && index[leaf->distinct_corner_index[k]] != index[i]) {
            k++;
        }
        if (k == leaf->corners) {
            leaf->distinct_corner_index[leaf->corners++] = (uint8_t)i;
        }
        leaf->local[i] = k;
    }
}

static void add_leaf_to_wide_tree(struct tact_mesh *mesh, uint32_t first, uint32_t count)
{
    struct tact_mesh_leaf *leaf = &mesh->wide->leaves[mesh->wide->leaf_count++];
    leaf->first = first;
    leaf->count = (uint8_t)count;
    find_distinct_corners(mesh->triangles + 3 * (size_t)first, leaf);
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            size_t t = first + (i < count ? i : 0);
            const double *v = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + k];
            for (size_t c = 0; c < 3; c++) {
                leaf->corner[k][c][i] = v[c];
            }
        }
    }
}

/* Whether a tree node is a leaf, or all its leaves are at most `levels_below_tree_node` below it.
 */
static int are_leaves_within_levels(const struct tact_mesh_box *boxes, uint32_t node,
                                    int levels_below_tree_node)
{
    const uint32_t first = boxes[node].first;
    return boxes[node].count ||
           (levels_below_tree_node > 0 &&
            are_leaves_within_levels(boxes, first, levels_below_tree_node - 1) &&
            are_leaves_within_levels(boxes, first + 1, levels_below_tree_node - 1));
}

/* Lists the descendants of a node a number of levels below it, or less deep where all leaves are
 * at most `low` levels below, in the tree's order.
 */
static uint32_t list_descendants_at_level(const struct tact_mesh_box *boxes, uint32_t node,
                                          int levels_below_tree_node, int low, uint32_t *out)
{
    if (levels_below_tree_node == 0 || are_leaves_within_levels(boxes, node, low)) {
        *out = node;
        return 1;
    }
    uint32_t n =
        list_descendants_at_level(boxes, boxes[node].first, levels_below_tree_node - 1, low, out);
    return n + list_descendants_at_level(boxes, boxes[node].first + 1, levels_below_tree_node - 1,
                                         low, out + n);
}

static void build_wide_node(struct tact_mesh *mesh, const struct tact_mesh_box *boxes,
                            uint32_t index, uint32_t from)
{
    /* children whose leaves fit in a node of eight are not split further */
    int low = are_leaves_within_levels(boxes, from, 3) ? 0 : 3;
    uint32_t children[8], n = list_descendants_at_level(boxes, from, 3, low, children);
    struct tact_mesh_wide_node *wide_node = &mesh->wide->wide_nodes[index];
    wide_node->count = n;
    for (uint32_t i = 0; i < 8; i++) {
        const struct tact_mesh_box *box = &boxes[children[i < n ? i : 0]];
        for (int c = 0; c < 3; c++) {
            wide_node->centre[c][i] = box->centre[c];
            for (int k = 0; k < 3; k++) {
                wide_node->axis[k][c][i] = box->axis[k][c];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct tact_mesh_box *box = &boxes[children[i]];
        if (box->count) {
            mesh->wide->wide_nodes[index].child[i] =
                mesh->wide->leaf_count | TACT_MESH_CHILD_IS_LEAF_FLAG;
            add_leaf_to_wide_tree(mesh, box->first, box->count);
        } else {
            uint32_t child = mesh->wide->wide_node_count++;
            mesh->wide->wide_nodes[index].child[i] = child;
            build_wide_node(mesh, boxes, child, children[i]);
        }
    }
}

int tact_mesh_build_wide_tree(struct tact_mesh *mesh)
{
    size_t leaves = 0, inner = 0;
    for (size_t i = 0; i < mesh->node_count; i++) {
        leaves += mesh->nodes[i].count != 0;
        inner += mesh->nodes[i].count == 0;
    }
    struct tact_mesh_box *boxes = tact_mesh_build_boxes(mesh);
    struct tact_mesh_wide *wide = calloc(1, sizeof *wide);
    mesh->wide = wide;
    if (!boxes || !wide) {
        free(boxes);
        return -ENOMEM;
    }
    /* each node of eight replaces at least one inner node, or is the root of a single leaf */
    wide->wide_nodes = aligned_alloc(64, (inner + 1) * sizeof *wide->wide_nodes);
    wide->leaves = aligned_alloc(64, leaves * sizeof *wide->leaves);
    if (!wide->wide_nodes || !wide->leaves) {
        free(boxes);
        return -ENOMEM;
    }
    static _Atomic uint64_t last_assigned_mesh_serial_number;
    wide->mesh_serial_number = atomic_fetch_add(&last_assigned_mesh_serial_number, 1) + 1;
    wide->wide_node_count = 1;
    build_wide_node(mesh, boxes, 0, 0);
    free(boxes);
    return 0;
}

void tact_mesh_free_wide_tree(struct tact_mesh *mesh)
{
    if (mesh->wide) {
        free(mesh->wide->wide_nodes);
        free(mesh->wide->leaves);
        free(mesh->wide);
    }
}
