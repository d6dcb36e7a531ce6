/*
 * Splits overlaps that are not planar into planar pieces: a peg in a groove touches both flanks,
 * and a common normal would be that of neither.
 *
 * Two convex solids touch in a plane. For a convex solid and one that is not, the faces of the
 * latter inside the former are known exactly, and so is the part of the overlap that belongs to
 * them. They are grouped by their normals. Where these differ, and those of the convex solid's
 * faces in the overlap do as well (a corner in a flat face, or a bumpy body on a floor, has one
 * normal), each group has the part of the overlap that is nearest to its plane, bounded by the
 * planes of equal depth between it and the other groups. Its moments are exact like those of the
 * whole.
 */
#include <string.h>
#include "contact/moments/overlap_internal.h"
#include "contact/pair/volume/pieces_internal.h"

#define MAX_GROUPS_OF_PARALLEL_FACES 8
/* Cosine of 10 degrees: normals at smaller angles belong to one group. */
#define MIN_GROUP_NORMAL_COSINE 0.9848
/* Ratio of the vector sum of the faces' areas to the sum of their magnitudes above which an overlap
 * is planar. */
#define MIN_AREA_RATIO_OF_PLANAR_OVERLAP 0.9848
/* Fraction of the total area below which a group of faces is dropped. */
#define MIN_FACE_GROUP_AREA_FRACTION 1e-3

/* A group of faces with similar normals, in the frame of the solid that they belong to. */
struct group {
    double normal[3]; /* normal of the group's first face */
    double area[3];   /* vector sum of the group's face areas [m^2] */
    double size;      /* sum of the magnitudes of the group's face areas [m^2] */
    double first[3];  /* integral of the position over the group's faces [m^3] */
};

struct groups_of_parallel_faces {
    struct group group[MAX_GROUPS_OF_PARALLEL_FACES];
    struct tact_face_areas face_area_sums; /* areas of all */
    int count, full;
};

static void add_triangle(struct groups_of_parallel_faces *g, const tact_d4 *a, const tact_d4 *b,
                         const tact_d4 *c, double share)
{
    double n[3], middle[3];
    int i = 0;
    for (int k = 0; k < 3; k++) {
        middle[k] = ((*a)[k] + (*b)[k] + (*c)[k]) / 3.0;
    }
    double size = tact_face_areas_add(&g->face_area_sums, a, b, c, share, n);
    if (!(size > 0.0)) {
        return;
    }
    while (i < g->count && tact_v3_dot(g->group[i].normal, n) < MIN_GROUP_NORMAL_COSINE * size) {
        i++;
    }
    if (i == MAX_GROUPS_OF_PARALLEL_FACES) {
        g->full = 1;
        return;
    }
    struct group *group = &g->group[i];
    if (i == g->count) {
        memset(group, 0, sizeof *group);
        tact_v3_scale(group->normal, n, 1.0 / size);
        g->count++;
    }
    tact_v3_add(group->area, group->area, n);
    group->size += size;
    tact_v3_axpy(group->first, size, middle);
}

static void add_overlap_face_to_group(void *user, const tact_d4 *corner, int n, double share)
{
    for (int i = 1; i + 1 < n && share > 0.0; i++) {
        add_triangle(user, &corner[0], &corner[i], &corner[i + 1], share);
    }
}

/* Removes slivers. */
static void remove_small_face_groups(struct groups_of_parallel_faces *g)
{
    int large_face_group_count = 0;
    for (int i = 0; i < g->count; i++) {
        if (g->group[i].size > MIN_FACE_GROUP_AREA_FRACTION * g->face_area_sums.all) {
            g->group[large_face_group_count++] = g->group[i];
        }
    }
    g->count = large_face_group_count;
}

int tact_overlap_pieces_are_possible(const struct tact_shape *a, const struct tact_shape *b)
{
    return tact_shape_faces(a) == TACT_FACES_FLAT && tact_shape_faces(b) == TACT_FACES_FLAT &&
           a->mesh && b->mesh && !a->mesh->facets != !b->mesh->facets;
}

/* Plane of equal depth below the planes of face groups i and j, with i's part inside: the part with
 * the larger depth where they face each other, as in a groove, with the smaller one on a ridge. */
static void compute_plane_of_equal_depths(const struct group *i, const struct group *j,
                                          const struct tact_pose *pose, double plane[4])
{
    double pi[3], pj[3], n[3], offset[3], middle[3];
    tact_v3_scale(pi, i->first, 1.0 / i->size);
    tact_v3_scale(pj, j->first, 1.0 / j->size);
    tact_v3_sub(offset, pj, pi);
    double ni[3], nj[3];
    tact_v3_normalize(ni, i->area);
    tact_v3_normalize(nj, j->area);
    double depth_sign_of_first_group =
        tact_v3_dot(ni, offset) - tact_v3_dot(nj, offset) > 0.0 ? 1.0 : -1.0;
    /* depths below the planes: ni (pi - x) and nj (pj - x); inside piece i:
     * depth_sign_of_first_group (depth_j - depth_i) <= 0
     */
    tact_v3_sub(n, ni, nj);
    tact_v3_scale(n, n, depth_sign_of_first_group);
    double d = depth_sign_of_first_group * (tact_v3_dot(ni, pi) - tact_v3_dot(nj, pj)),
           size = tact_v3_norm(n);
    tact_quat_rotate(middle, pose->quat_wxyz, n);
    tact_v3_scale(plane, middle, 1.0 / size);
    plane[3] = d / size + tact_v3_dot(plane, pose->position);
}

int tact_overlap_pieces_find_planes(const struct tact_pair_query *q,
                                    struct tact_planes_between_overlap_pieces *out)
{
    int is_shape_a_convex =
        q->a->mesh->facets != NULL; /* 1: A is the convex solid that cuts, B the other */
    const struct tact_mesh *mesh_to_cut_into_pieces = is_shape_a_convex ? q->b->mesh : q->a->mesh;
    const struct tact_mesh *cutting_convex_mesh = is_shape_a_convex ? q->a->mesh : q->b->mesh;
    const struct tact_pose *pose = is_shape_a_convex ? q->pose_b : q->pose_a;
    struct tact_cutter cutter;
    struct groups_of_parallel_faces groups = {.count = 0};
    if (q->planar > MIN_AREA_RATIO_OF_PLANAR_OVERLAP) {
        return 0;
    }
    tact_cutter_init_frame(&cutter, tact_mesh_largest_coordinate(mesh_to_cut_into_pieces), pose,
                           cutting_convex_mesh->facets, is_shape_a_convex ? q->pose_a : q->pose_b);
    if (tact_cut_mesh_by_cutter_planes(&cutter, mesh_to_cut_into_pieces, add_overlap_face_to_group,
                                       &groups) != 1 ||
        groups.full ||
        tact_areas_planarity(&groups.face_area_sums) > MIN_AREA_RATIO_OF_PLANAR_OVERLAP ||
        tact_caps_planarity(&cutter) > MIN_AREA_RATIO_OF_PLANAR_OVERLAP) {
        return 0;
    }
    remove_small_face_groups(&groups);
    if (groups.count < 2 || groups.count > TACT_PIECES) {
        return 0;
    }
    for (int i = 0; i < groups.count; i++) {
        for (int j = 0, k = 0; j < groups.count; j++) {
            if (j != i) {
                compute_plane_of_equal_depths(&groups.group[i], &groups.group[j], pose,
                                              out->plane[i][k++]);
            }
        }
    }
    return groups.count;
}
