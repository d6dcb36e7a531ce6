#include "contact/pair/features/difference_internal.h"

#include <math.h>
#include <string.h>

void tact_convex_core_pair_set_poses(struct tact_convex_core_pair *pair,
                                     const struct tact_convex_core *a,
                                     const struct tact_pose *pose_a,
                                     const struct tact_convex_core *b,
                                     const struct tact_pose *pose_b, double rotation[2][9])
{
    double *of_a = rotation[0], *of_b = rotation[1], origin_offset[3];
    tact_quat_to_m3(of_a, pose_a->quat_wxyz);
    tact_quat_to_m3(of_b, pose_b->quat_wxyz);
    tact_m3_tmul(pair->rotation, of_a, of_b);
    tact_v3_sub(origin_offset, pose_b->position, pose_a->position);
    tact_m3_tmul_v3(pair->shift, of_a, origin_offset);
    pair->a = a;
    pair->b = b;
    pair->size = a->size + b->size + tact_v3_norm(pair->shift);
    pair->start_vertex_a = pair->start_vertex_b = -1;
    pair->support_search_count = 0;
}

/* Finds the vertex of A that is farthest along d and the vertex of B that is farthest against d; a
 * ball has only one. */
static inline void update_support_vertices(struct tact_convex_core_pair *pair, const double d[3])
{
    pair->start_vertex_a = pair->a->vertices == 1
                               ? 0
                               : tact_convex_core_support_vertex(pair->a, d, pair->start_vertex_a);
    if (pair->b->vertices == 1) {
        pair->start_vertex_b = 0;
    } else {
        double opposite_direction[3], in_b[3];
        tact_v3_scale(opposite_direction, d, -1.0);
        tact_m3_tmul_v3(in_b, pair->rotation, opposite_direction);
        pair->start_vertex_b = tact_convex_core_support_vertex(pair->b, in_b, pair->start_vertex_b);
    }
    pair->support_search_count++;
}

void tact_minkowski_find_support_point(struct tact_convex_core_pair *pair, const double d[3],
                                       struct tact_minkowski_point *out)
{
    update_support_vertices(pair, d);
    tact_minkowski_from_vertices(pair, pair->start_vertex_a, pair->start_vertex_b, out);
}

void tact_minkowski_edge(const struct tact_convex_core_pair *pair,
                         const struct tact_minkowski_point *from,
                         const struct tact_minkowski_point *to, double edge[3])
{
    double p[3], q[3], of_b[3];
    tact_convex_core_vertex_position(pair->b, from->b, p);
    tact_convex_core_vertex_position(pair->b, to->b, q);
    tact_v3_sub(q, q, p);
    tact_m3_mul_v3(of_b, pair->rotation, q);
    tact_convex_core_vertex_position(pair->a, from->a, p);
    tact_convex_core_vertex_position(pair->a, to->a, q);
    tact_v3_sub(edge, q, p);
    tact_v3_sub(edge, edge, of_b);
}

/* Index of the point made of these two vertices among the first `count` points; -1 where there is
 * none. */
static inline int find_index_of_vertex_pair(const struct tact_minkowski_point *points, int count,
                                            int64_t a, int64_t b)
{
    for (int i = 0; i < count; i++) {
        if (points[i].a == a && points[i].b == b) {
            return i;
        }
    }
    return -1;
}

int tact_minkowski_point_is_repeated(const struct tact_minkowski_point *points, int count,
                                     const struct tact_minkowski_point *of)
{
    return find_index_of_vertex_pair(points, count, of->a, of->b) >= 0;
}

int tact_minkowski_does_support_repeat(struct tact_convex_core_pair *pair,
                                       const struct tact_simplex *simplex, const double d[3],
                                       struct tact_minkowski_point *out)
{
    update_support_vertices(pair, d);
    int index_of_repeated_point = find_index_of_vertex_pair(
        simplex->point, simplex->count, pair->start_vertex_a, pair->start_vertex_b);
    if (index_of_repeated_point >= 0) {
        *out = simplex->point[index_of_repeated_point];
    } else {
        tact_minkowski_from_vertices(pair, pair->start_vertex_a, pair->start_vertex_b, out);
    }
    return index_of_repeated_point >= 0;
}
