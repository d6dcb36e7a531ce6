/*
 * Points that represent the pressure of a patch, each with the load of a small sub-area.
 */
#include <math.h>
#include "contact/pair/field/field_model_internal.h"

/* Longest edge of the sub-area that a point represents, relative to the patch's longer semi-axis,
 * of a patch of few polygons and of one with several for each part of its pressure; and the largest
 * number of bisections. */
#define MAX_POINT_PART_SIZE_RATIO 0.25
#define MAX_POINT_PART_SIZE_RATIO_OF_MANY 0.4
enum { MANY_POLYGONS = 2 * TACT_FRICTION_POINTS };
enum { MAX_BISECTIONS = 10 };

/* Adds a point with its load. own: mean square of the sub-area's distance from the point [m^2]. */
static void add_pressure_point(struct patch_pressure_points *points, const double *x,
                               const double *normal, double load, double own)
{
    double from[3];
    if (points->count == TACT_FIELD_POINTS || !(load > 0.0)) {
        points->lost += load > 0.0;
        return;
    }
    tact_v3_sub(from, x, points->centre);
    points->x[points->count] = tact_v3_dot(points->axes, from);
    points->y[points->count] = tact_v3_dot(points->axes + 3, from);
    points->own[points->count] = own;
    points->nx[points->count] = tact_v3_dot(points->axes, normal);
    points->ny[points->count] = tact_v3_dot(points->axes + 3, normal);
    points->load[points->count++] = load;
}

/* Adds the points of a part of a polygon, bisected across its longest edge until that edge is
 * short. */
static void add_triangle(struct patch_pressure_points *points,
                         const struct contact_surface_polygon *p, const double (*x)[3],
                         double edge_length_limit_of_point_area, int depth)
{
    double edge[3], most = 0.0, middle[3], squares = 0.0;
    int from = 0;
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(edge, x[(k + 1) % 3], x[k]);
        double size = tact_v3_dot(edge, edge);
        squares += size;
        from = size > most ? k : from;
        most = tact_max(most, size);
    }
    if (depth && most > edge_length_limit_of_point_area * edge_length_limit_of_point_area) {
        double half[2][3][3];
        int to = (from + 1) % 3, apex = (from + 2) % 3;
        for (int k = 0; k < 3; k++) {
            middle[k] = 0.5 * (x[from][k] + x[to][k]);
        }
        for (int h = 0; h < 2; h++) {
            tact_v3_copy(half[h][0], x[h ? to : from]);
            tact_v3_copy(half[h][1], middle);
            tact_v3_copy(half[h][2], x[apex]);
            add_triangle(points, p, (const double(*)[3])half[h], edge_length_limit_of_point_area,
                         depth - 1);
        }
        return;
    }
    double u[3], w[3], across[3], at[3], sum = 0.0;
    tact_v3_sub(u, x[1], x[0]);
    tact_v3_sub(w, x[2], x[0]);
    tact_v3_cross(across, u, w);
    tact_v3_set(middle, 0.0, 0.0, 0.0);
    /* Quadrature at the middles of the edges: exact for a linear pressure and its moments. */
    for (int k = 0; k < 3; k++) {
        tact_v3_add(at, x[k], x[(k + 1) % 3]);
        tact_v3_scale(at, at, 0.5);
        double pressure = tact_field_pressure_of_level(p->power, tact_field_pressure_level(p, at));
        sum += pressure;
        tact_v3_axpy(middle, pressure, at);
    }
    if (sum > 0.0) {
        tact_v3_scale(middle, middle, 1.0 / sum);
        add_pressure_point(points, middle, p->normal, 0.5 * tact_v3_norm(across) * sum / 3.0,
                           squares / 36.0);
    }
}

/* 1 where the whole polygon is so near its first corner that it is one point. */
static int is_polygon_as_small_as_point(const struct contact_surface_polygon *p,
                                        double edge_length_limit_of_point_area)
{
    double edge[3], most = 0.0;
    for (int k = 1; k < p->corners; k++) {
        tact_v3_sub(edge, p->corner[k], p->corner[0]);
        most = tact_max(most, tact_v3_dot(edge, edge));
    }
    return most <= edge_length_limit_of_point_area * edge_length_limit_of_point_area;
}

/* Mean square of the distance of a polygon's points from its centroid [m^2]. */
static double mean_square_about_centroid(const struct contact_surface_polygon *p)
{
    const struct field_moments *m = &p->area_moments;
    double second_moment_trace = m->second[0] + m->second[4] + m->second[8],
           inverse = 1.0 / m->area;
    double second_moment_of_centroid_shift = tact_v3_dot(m->first, m->first) * inverse;
    return tact_max((second_moment_trace - second_moment_of_centroid_shift) * inverse, 0.0);
}

/* 1 where a polygon has a load and belongs to a group, -1: to any. */
static int is_loaded_polygon_of_group(const struct contact_surface_polygon *p, int group)
{
    return (group < 0 || p->similar_normal_group == group) && p->load > 0.0;
}

void tact_field_compute_pressure_points(const struct contact_surface_of_fields *of, int group,
                                        double size, struct patch_pressure_points *points)
{
    int loaded_polygon_count = 0;
    for (size_t i = 0; i < of->count; i++) {
        loaded_polygon_count += is_loaded_polygon_of_group(&of->polygon[i], group);
    }
    const double edge_length_limit_of_point_area =
        size * (loaded_polygon_count < MANY_POLYGONS ? MAX_POINT_PART_SIZE_RATIO
                                                     : MAX_POINT_PART_SIZE_RATIO_OF_MANY);
    points->count = points->lost = 0;
    for (size_t i = 0; i < of->count; i++) {
        const struct contact_surface_polygon *p = &of->polygon[i];
        double x[3][3];
        if (!is_loaded_polygon_of_group(p, group)) {
            continue;
        }
        if (is_polygon_as_small_as_point(p, edge_length_limit_of_point_area)) {
            tact_v3_copy(x[0], p->corner[0]);
            tact_v3_axpy(x[0], 1.0 / p->load, p->lever);
            add_pressure_point(points, x[0], p->normal, p->load, mean_square_about_centroid(p));
            continue;
        }
        for (int k = 1; k + 1 < p->corners; k++) {
            tact_v3_copy(x[0], p->corner[0]);
            tact_v3_copy(x[1], p->corner[k]);
            tact_v3_copy(x[2], p->corner[k + 1]);
            add_triangle(points, p, (const double(*)[3])x, edge_length_limit_of_point_area,
                         MAX_BISECTIONS);
        }
    }
}
