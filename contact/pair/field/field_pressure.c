/* Adds the polygons of a part of a contact surface with their pressures to the pressure map. */
#include <math.h>
#include "contact/pair/field/field_model_internal.h"

/* Into how many rings and parts of an edge a polygon in a ball is divided: the ball's pressure is
 * not linear. */
struct division_of_curved_polygon {
    int rings, number_of_polygon_edge_parts;
};

/* From fine to coarse. */
static const struct division_of_curved_polygon divisions_of_curved_polygons[] = {
    {4, 6}, {3, 4}, {2, 3}, {2, 2}, {1, 2}, {1, 1}};

/* Adds a polygon whose corners are given in the surface's frame to the pressure map. */
static void map_polygon_pressure(const struct contact_surface_of_fields *of,
                                 const struct contact_surface_polygon *p, const double (*at)[3],
                                 int count, struct tact_pressure *map,
                                 struct tact_pressure_patch *patch)
{
    double corner[TACT_FIELD_MAX_POLYGON_CORNERS][3], pressure[TACT_FIELD_MAX_POLYGON_CORNERS];
    for (int k = 0; k < count; k++) {
        pressure[k] = tact_field_pressure_of_level(p->power, tact_field_pressure_level(p, at[k]));
        tact_pose_point(corner[k], of->frame, at[k]);
    }
    tact_pressure_add_polygon(map, patch, (const double(*)[3])corner, pressure, count);
}

/* Finds the point of a polygon in a ball that is nearest to the ball's centre, the origin, where
 * its pressure is largest. */
static void find_deepest_polygon_point_in_ball(const struct contact_surface_polygon *p,
                                               double out[3])
{
    double least = INFINITY, foot[3], edge[3], to[3], across[3], nearest[3] = {0.0, 0.0, 0.0};
    int is_foot_left_of_edges = 1, is_foot_right_of_edges = 1;
    tact_v3_scale(foot, p->normal, tact_v3_dot(p->normal, p->corner[0]));
    for (int k = 0; k < p->corners; k++) {
        const double *from = p->corner[k];
        tact_v3_sub(edge, p->corner[(k + 1) % p->corners], from);
        tact_v3_sub(to, foot, from);
        tact_v3_cross(across, edge, to);
        double rotation = tact_v3_dot(across, p->normal);
        is_foot_left_of_edges &= rotation >= 0.0;
        is_foot_right_of_edges &= rotation <= 0.0;
        double square = tact_v3_dot(edge, edge);
        double share = square > 0.0 ? tact_v3_dot(edge, to) / square : 0.0;
        /* vector from the nearest point of the polygon's edge to the foot of the centre */
        tact_v3_axpy(to, -tact_max(tact_min(share, 1.0), 0.0), edge);
        if (tact_v3_dot(to, to) < least) {
            least = tact_v3_dot(to, to);
            tact_v3_sub(nearest, foot, to);
        }
    }
    tact_v3_copy(out, is_foot_left_of_edges || is_foot_right_of_edges ? foot : nearest);
}

static int is_polygon_in_pressure_part(const struct patch_pressure_part *part,
                                       const struct contact_surface_polygon *p)
{
    return part->similar_normal_group < 0 || p->similar_normal_group == part->similar_normal_group;
}

/* 1 where a polygon has corners on the ball's surface. */
static int has_polygon_arc_edges(const struct contact_surface_polygon *p)
{
    for (int k = 0; p->sphere && k < p->corners; k++) {
        if (p->side[k] < 0) {
            return 1;
        }
    }
    return 0;
}

/* Number of parts into which an edge of a polygon with arcs is divided: an arc is short. */
static int number_of_polygon_edge_parts(const struct contact_surface_polygon *p, int edge,
                                        const struct division_of_curved_polygon *by)
{
    return p->side[edge] < 0 ? 1 : by->number_of_polygon_edge_parts;
}

void tact_field_remove_incomplete_patch(struct tact_pressure *map,
                                        struct tact_pressure_patch *patch)
{
    if (!patch || !patch->left_out) {
        return;
    }
    map->left_out += patch->polygons;
    patch->left_out += patch->polygons;
    for (; patch->polygons; patch->polygons--) {
        map->corners -= map->sides[--map->polygons];
    }
}

size_t tact_field_map_capacity_of_patch(const struct tact_pressure *map)
{
    return (TACT_PRESSURE_POLYGONS - map->polygons) / 4;
}

/* The finest division of a part of a surface for which the map has room; else the coarsest. */
static const struct division_of_curved_polygon *
choose_polygon_division(const struct contact_surface_of_fields *of,
                        const struct patch_pressure_part *part, const struct tact_pressure *map)
{
    const size_t count = sizeof divisions_of_curved_polygons / sizeof *divisions_of_curved_polygons;
    const size_t map_polygon_capacity_of_patch = tact_field_map_capacity_of_patch(map);
    for (size_t n = 0; n < count; n++) {
        size_t pieces = 0;
        for (size_t i = 0; i < of->count; i++) {
            const struct contact_surface_polygon *p = &of->polygon[i];
            if (!is_polygon_in_pressure_part(part, p)) {
                continue;
            }
            if (!has_polygon_arc_edges(p)) {
                pieces++;
                continue;
            }
            for (int k = 0; k < p->corners; k++) {
                pieces +=
                    (size_t)(divisions_of_curved_polygons[n].rings *
                             number_of_polygon_edge_parts(p, k, &divisions_of_curved_polygons[n]));
            }
        }
        if (pieces <= map_polygon_capacity_of_patch) {
            return &divisions_of_curved_polygons[n];
        }
    }
    return &divisions_of_curved_polygons[count - 1];
}

/* Adds the sector of a polygon between its middle and two points of its outline to the pressure
 * map, in rings. */
static void map_sector_pressure(const struct contact_surface_of_fields *of,
                                const struct contact_surface_polygon *p, const double middle[3],
                                const double (*outer)[3], int rings, struct tact_pressure *map,
                                struct tact_pressure_patch *patch)
{
    for (int ring = 0; ring < rings; ring++) {
        double at[4][3];
        for (int i = 0; i < 4; i++) {
            const int is_corner_on_inner_ring = i / 2;
            const double fraction_of_way_to_outline =
                1.0 - (double)(ring + is_corner_on_inner_ring) / rings;
            tact_v3_scale(at[i], middle, 1.0 - fraction_of_way_to_outline);
            tact_v3_axpy(at[i], fraction_of_way_to_outline, outer[i == 1 || i == 2]);
        }
        map_polygon_pressure(of, p, (const double(*)[3])at, ring + 1 < rings ? 4 : 3, map, patch);
    }
}

/* Adds a polygon with arcs about its deepest point to the pressure map, as all of its corners may
 * be on the ball, where the pressure is 0. */
static void map_polygon_with_arcs(const struct contact_surface_of_fields *of,
                                  const struct contact_surface_polygon *p,
                                  const struct division_of_curved_polygon *by,
                                  struct tact_pressure *map, struct tact_pressure_patch *patch)
{
    double middle[3], outer[2][3];
    find_deepest_polygon_point_in_ball(p, middle);
    for (int k = 0; k < p->corners; k++) {
        const int part_count_of_edge = number_of_polygon_edge_parts(p, k, by);
        for (int i = 0; i < part_count_of_edge; i++) {
            for (int end = 0; end < 2; end++) {
                double share = (double)(i + end) / part_count_of_edge;
                tact_v3_scale(outer[end], p->corner[k], 1.0 - share);
                tact_v3_axpy(outer[end], share, p->corner[(k + 1) % p->corners]);
            }
            map_sector_pressure(of, p, middle, (const double(*)[3])outer, by->rings, map, patch);
        }
    }
}

void tact_field_map_pressure(const struct tact_pair_query *q,
                             const struct contact_surface_of_fields *of,
                             const struct patch_pressure_part *part, const struct tact_patch *patch)
{
    if (!q->pressure) {
        return;
    }
    struct tact_pressure_patch *out =
        tact_pressure_add_patch(q->pressure, patch->center, patch->frame);
    if (out) {
        out->area = part->sums.area;
        out->load = part->sums.load;
    }
    const struct division_of_curved_polygon *by = choose_polygon_division(of, part, q->pressure);
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        if (!is_polygon_in_pressure_part(part, p)) {
            continue;
        }
        if (has_polygon_arc_edges(p)) {
            map_polygon_with_arcs(of, p, by, q->pressure, out);
        } else {
            map_polygon_pressure(of, p, (const double(*)[3])p->corner, p->corners, q->pressure,
                                 out);
        }
    }
    tact_field_remove_incomplete_patch(q->pressure, out);
}
