/* The planes that cut one solid out of another. */
#include "contact/moments/overlap_internal.h"

#include <float.h>

/* Number of roundings of the coordinates by which cutting planes are displaced outward. */
static const double CUTTING_PLANE_ROUNDING_MARGIN = 4.0 * DBL_EPSILON;

void tact_cutter_init_frame(struct tact_cutter *c, double mesh_size_a, const struct tact_pose *pa,
                            const struct tact_mesh_facets *b, const struct tact_pose *pb)
{
    double ra[9], rb[9], apart[3], up[3] = {0.0, 0.0, 1.0};
    tact_quat_to_m3(ra, pa->quat_wxyz);
    tact_quat_to_m3(rb, pb->quat_wxyz);
    tact_v3_sub(apart, pb->position, pa->position);
    c->size = mesh_size_a + (b ? b->size : 0.0);
    c->size += tact_v3_norm(pa->position) + tact_v3_norm(pb->position);
    c->planes = b ? (int)b->count : 1;
    c->tolerance = CUTTING_PLANE_ROUNDING_MARGIN * c->size;
    for (int k = 0; k < c->planes; k++) {
        double n[3];
        tact_m3_mul_v3(n, rb, b ? b->normal[k] : up);
        tact_m3_tmul_v3(c->plane[k], ra, n);
        c->plane[k][3] = (b ? b->distance[k] : 0.0) + tact_v3_dot(n, apart) + c->tolerance;
    }
    c->edges = c->is_capacity_exceeded = 0;
}

double tact_caps_planarity(const struct tact_cutter *c)
{
    struct tact_face_areas areas_of_overlap_caps = {.all = 0.0};
    for (int k = 0; k < c->cutting_plane_count; k++) {
        double area[3] = {0.0, 0.0, 0.0};
        for (int e = c->first_edge_of_cap[k]; e >= 0; e = c->next[e]) {
            double from[3], to[3], twice[3];
            for (int i = 0; i < 3; i++) {
                from[i] = c->from[e][i] - c->from[c->first_edge_of_cap[k]][i];
                to[i] = c->to[e][i] - c->from[c->first_edge_of_cap[k]][i];
            }
            tact_v3_cross(twice, from, to);
            tact_v3_axpy(area, 0.5, twice);
        }
        tact_v3_add(areas_of_overlap_caps.sum, areas_of_overlap_caps.sum, area);
        areas_of_overlap_caps.all += tact_v3_norm(area);
    }
    return tact_areas_planarity(&areas_of_overlap_caps);
}

int tact_cutter_add_world_planes(struct tact_cutter *c, const struct tact_pose *pa,
                                 const double (*plane)[4], int count)
{
    double ra[9];
    tact_quat_to_m3(ra, pa->quat_wxyz);
    if (c->planes + count > TACT_FACETS) {
        return -ENOSPC;
    }
    for (int k = 0; k < count; k++) {
        double *to = c->plane[c->planes++];
        tact_m3_tmul_v3(to, ra, plane[k]);
        to[3] = plane[k][3] - tact_v3_dot(plane[k], pa->position);
    }
    return 0;
}
