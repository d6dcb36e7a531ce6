/* Intersections of parallel rays with spheres, planes and triangles. */
#include "contact/compare/rays_internal.h"

#include <stdlib.h>

static void append_ray_hit(struct tact_rays_hit_list *ray_hits, uint32_t cell, double depth,
                           int sign_of_surface_entry, uint8_t body)
{
    if (ray_hits->count == ray_hits->capacity) {
        size_t capacity = ray_hits->capacity ? 2 * ray_hits->capacity : 4096;
        struct tact_rays_hit *resized_hits =
            realloc(ray_hits->hit, capacity * sizeof *resized_hits);
        if (!resized_hits) {
            ray_hits->has_memory_run_out = 1;
            return;
        }
        ray_hits->hit = resized_hits;
        ray_hits->capacity = capacity;
    }
    ray_hits->hit[ray_hits->count++] =
        (struct tact_rays_hit){depth, cell, (int8_t)sign_of_surface_entry, body};
}

static int compare_ray_hits(const void *pa, const void *pb)
{
    const struct tact_rays_hit *a = pa, *b = pb;
    if (a->cell != b->cell) {
        return a->cell < b->cell ? -1 : 1;
    }
    if (a->depth != b->depth) {
        return a->depth < b->depth ? -1 : 1;
    }
    return a->body != b->body ? a->body - b->body
                              : a->sign_of_surface_entry - b->sign_of_surface_entry;
}

void tact_rays_sort_hits(struct tact_rays_hit_list *ray_hits)
{
    if (ray_hits->count) {
        qsort(ray_hits->hit, ray_hits->count, sizeof *ray_hits->hit, compare_ray_hits);
    }
}

static void intersect_rays_with_sphere(const struct tact_rays_lattice *l,
                                       const struct tact_rays_body *body,
                                       uint8_t body_index_in_pair,
                                       struct tact_rays_hit_list *ray_hits)
{
    const double *c = body->pose.position;
    for (int i = 0; i < l->rays_per_side; i++) {
        for (int j = 0; j < l->rays_per_side; j++) {
            double x = tact_rays_cell_middle(l, l->u, i) - c[l->u];
            double y = tact_rays_cell_middle(l, l->v, j) - c[l->v];
            double squared_half_chord = body->radius * body->radius - x * x - y * y;
            uint32_t cell = (uint32_t)(i * l->rays_per_side + j);
            if (squared_half_chord > 0.0) {
                append_ray_hit(ray_hits, cell, c[l->axis] - sqrt(squared_half_chord), 1,
                               body_index_in_pair);
                append_ray_hit(ray_hits, cell, c[l->axis] + sqrt(squared_half_chord), -1,
                               body_index_in_pair);
            }
        }
    }
}

static void intersect_rays_with_halfspace(const struct tact_rays_lattice *l,
                                          const struct tact_rays_body *body,
                                          uint8_t body_index_in_pair,
                                          struct tact_rays_hit_list *ray_hits)
{
    const double up[3] = {0.0, 0.0, 1.0}, *o = body->pose.position;
    double n[3];
    tact_quat_rotate(n, body->pose.quat_wxyz, up);
    double plane_normal_component_along_ray = n[l->axis];
    for (int i = 0; i < l->rays_per_side; i++) {
        for (int j = 0; j < l->rays_per_side; j++) {
            double ray_height_over_plane = n[l->u] * (tact_rays_cell_middle(l, l->u, i) - o[l->u]) +
                                           n[l->v] * (tact_rays_cell_middle(l, l->v, j) - o[l->v]);
            double depth = o[l->axis] - ray_height_over_plane / plane_normal_component_along_ray,
                   first = -INFINITY, last = INFINITY;
            uint32_t cell = (uint32_t)(i * l->rays_per_side + j);
            /* A plane parallel to the rays is not crossed by them. */
            if (fabs(plane_normal_component_along_ray) > 1e-12) {
                first = plane_normal_component_along_ray > 0.0 ? first : depth;
                last = plane_normal_component_along_ray > 0.0 ? depth : last;
            } else if (ray_height_over_plane > 0.0) {
                continue;
            }
            append_ray_hit(ray_hits, cell, first, 1, body_index_in_pair);
            append_ray_hit(ray_hits, cell, last, -1, body_index_in_pair);
        }
    }
}

/* One edge of a triangle projected along the rays, for the test on which side of it a ray is. It
 * is always oriented from its lesser end, so that the triangles that share it agree bit for bit. */
struct edge_projected_along_ray {
    double x, y, dx, dy, sign;
};

static struct edge_projected_along_ray make_oriented_edge(const double *a, const double *b)
{
    int is_edge_from_lesser_end_reversed = a[0] != b[0] ? a[0] > b[0] : a[1] > b[1];
    const double *low = is_edge_from_lesser_end_reversed ? b : a,
                 *high = is_edge_from_lesser_end_reversed ? a : b;
    struct edge_projected_along_ray e = {low[0], low[1], high[0] - low[0], high[1] - low[1],
                                         is_edge_from_lesser_end_reversed ? -1.0 : 1.0};
    return e;
}

/* +1 or -1, never 0. */
static double side_of_projected_edge(const struct edge_projected_along_ray *e, double x, double y)
{
    double area = e->dx * (y - e->y) - e->dy * (x - e->x);
    return area >= 0.0 ? e->sign : -e->sign;
}

/* First and last cell of the lattice whose middle may lie between two coordinates. */
static int lattice_cells_between(const struct tact_rays_lattice *l, int axis, double low,
                                 double high, int lattice_cell_range[2])
{
    double first_lattice_cell = floor((low - l->lower[axis]) / l->step[axis] - 1.0);
    double last_lattice_cell = ceil((high - l->lower[axis]) / l->step[axis]);
    lattice_cell_range[0] = (int)tact_max(first_lattice_cell, 0.0);
    lattice_cell_range[1] = (int)tact_min(last_lattice_cell, l->rays_per_side - 1.0);
    return first_lattice_cell < l->rays_per_side && last_lattice_cell >= 0.0;
}

static void intersect_rays_with_triangle(const struct tact_rays_lattice *l, double (*p)[3],
                                         uint8_t body_index_in_pair,
                                         struct tact_rays_hit_list *ray_hits)
{
    double q[3][2], d[3], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        q[k][0] = p[k][l->u];
        q[k][1] = p[k][l->v];
        d[k] = p[k][l->axis];
        for (int i = 0; i < 2; i++) {
            low[i] = tact_min(low[i], q[k][i]);
            high[i] = tact_max(high[i], q[k][i]);
        }
    }
    int columns[2], rows[2];
    if (!lattice_cells_between(l, l->u, low[0], high[0], columns) ||
        !lattice_cells_between(l, l->v, low[1], high[1], rows)) {
        return;
    }
    double ux = q[1][0] - q[0][0], uy = q[1][1] - q[0][1];
    double wx = q[2][0] - q[0][0], wy = q[2][1] - q[0][1], area = ux * wy - uy * wx;
    if (area == 0.0) {
        return;
    }
    struct edge_projected_along_ray projected_triangle_edges[3] = {make_oriented_edge(q[0], q[1]),
                                                                   make_oriented_edge(q[1], q[2]),
                                                                   make_oriented_edge(q[2], q[0])};
    double winding_sign_of_projected_triangle = area > 0.0 ? 1.0 : -1.0;
    double lowest_triangle_corner_along_ray = tact_min(d[0], tact_min(d[1], d[2]));
    double highest_triangle_corner_along_ray = tact_max(d[0], tact_max(d[1], d[2]));
    for (int i = columns[0]; i <= columns[1]; i++) {
        for (int j = rows[0]; j <= rows[1]; j++) {
            double x = tact_rays_cell_middle(l, l->u, i), y = tact_rays_cell_middle(l, l->v, j);
            if (side_of_projected_edge(&projected_triangle_edges[0], x, y) !=
                    winding_sign_of_projected_triangle ||
                side_of_projected_edge(&projected_triangle_edges[1], x, y) !=
                    winding_sign_of_projected_triangle ||
                side_of_projected_edge(&projected_triangle_edges[2], x, y) !=
                    winding_sign_of_projected_triangle) {
                continue;
            }
            double rx = x - q[0][0], ry = y - q[0][1];
            double b1 = (rx * wy - ry * wx) / area, b2 = (ux * ry - uy * rx) / area;
            double depth = d[0] + b1 * (d[1] - d[0]) + b2 * (d[2] - d[0]);
            /* A ray leaves the solid through a face whose normal points along the ray. */
            append_ray_hit(ray_hits, (uint32_t)(i * l->rays_per_side + j),
                           tact_min(tact_max(depth, lowest_triangle_corner_along_ray),
                                    highest_triangle_corner_along_ray),
                           winding_sign_of_projected_triangle > 0.0 ? -1 : 1, body_index_in_pair);
        }
    }
}

void tact_rays_add_hits_of_body(const struct tact_rays_lattice *l,
                                const struct tact_rays_body *body, uint8_t body_index_in_pair,
                                struct tact_rays_hit_list *ray_hits)
{
    double r[9], p[3][3];
    if (body->kind == TACT_SHAPE_SPHERE) {
        intersect_rays_with_sphere(l, body, body_index_in_pair, ray_hits);
        return;
    }
    if (body->kind == TACT_SHAPE_HALFSPACE) {
        intersect_rays_with_halfspace(l, body, body_index_in_pair, ray_hits);
        return;
    }
    tact_quat_to_m3(r, body->pose.quat_wxyz);
    for (size_t t = 0; t < body->triangle_count; t++) {
        for (size_t k = 0; k < 3; k++) {
            const double *v = body->vertices + 3 * (size_t)body->triangles[3 * t + k];
            tact_m3_mul_v3(p[k], r, v);
            tact_v3_add(p[k], p[k], body->pose.position);
        }
        intersect_rays_with_triangle(l, p, body_index_in_pair, ray_hits);
    }
}
