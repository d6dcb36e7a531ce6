#include "contact/pair/features/surface_motion_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/elementary.h"
#include "contact/pair/features/curved_internal.h"
#include "contact/pair/motion_internal.h"

/* Sine of the angle up to which a face or an edge is at right angles to the normal. */
#define FLAT_SINE_TOLERANCE 1e-7
/* Radius of curvature that stands for that of a flat surface, relative to the size of the pair. */
#define FLAT_RADIUS_RATIO 1e6
/* Sum of the two radii of curvature above which both surfaces are flat in a direction, relative to
 * that of one. */
#define MAX_RADIUS_SUM_OVER_FLAT_RADIUS 1.999

/* Number of dimensions in which a polytope is flat where it is farthest along d, at a vertex: 2 on
 * a face, 1 on an edge, whose direction is set, 0 at a vertex. */
static int count_flat_dimensions_at_vertex(const struct tact_convex_core *core, int64_t vertex,
                                           const double d[3], double edge[3])
{
    double across[3];
    if (!core->faces) { /* the core is a point, or an axis along z */
        tact_v3_set(edge, 0.0, 0.0, 1.0);
        return core->vertices == 2 && fabs(d[2]) < FLAT_SINE_TOLERANCE;
    }
    for (int k = core->first_face_index_of_vertex[vertex];
         k < core->first_face_index_of_vertex[vertex + 1]; k++) {
        tact_v3_cross(across, core->normal[core->at[k]], d);
        if (tact_v3_norm(across) < FLAT_SINE_TOLERANCE) {
            return 2;
        }
    }
    for (int k = core->first_neighbour_index_of_vertex[vertex];
         k < core->first_neighbour_index_of_vertex[vertex + 1]; k++) {
        tact_v3_sub(edge, core->vertex[core->next[k]], core->vertex[vertex]);
        tact_v3_normalize(edge, edge);
        if (fabs(tact_v3_dot(edge, d)) < FLAT_SINE_TOLERANCE) {
            return 1;
        }
    }
    return 0;
}

/* Number of directions (0: point, 1: edge, 2: face) in which the surface of a core of any kind is
 * flat where it is farthest along d. vertex: a vertex of the core's nearest feature; negative:
 * unknown. edge: the direction in which the surface is flat, if one. bend: radii of curvature of
 * the core where it is not flat, shape frame [m]. */
static int find_flat_directions(const struct tact_convex_core *core, int64_t vertex,
                                const double d[3], double edge[3], double bend[9])
{
    double point[3];
    memset(bend, 0, 9 * sizeof *bend);
    if (core->kind == TACT_SHAPE_HALFSPACE) {
        return 2;
    }
    if (core->vertex) {
        int64_t farthest_polytope_vertex =
            vertex < 0 ? tact_convex_core_support_vertex(core, d, -1) : vertex;
        return count_flat_dimensions_at_vertex(core, farthest_polytope_vertex, d, edge);
    }
    if (core->kind == TACT_SHAPE_CYLINDER && tact_hypot(d[0], d[1]) < FLAT_SINE_TOLERANCE) {
        return 2;
    }
    tact_curved_core_farthest_point(core, d, point, bend);
    tact_v3_set(edge, 0.0, 0.0, 1.0);
    return core->kind == TACT_SHAPE_CYLINDER && fabs(d[2]) < FLAT_SINE_TOLERANCE;
}

/* Radii of curvature of a shape where its outward normal is `out` (world), over two tangents [m].
 */
static void radii_of_curvature(const struct tact_convex_core *core,
                               const struct tact_separation *sep, int k, const double out[3],
                               const double *const tangent[2], double radius_for_flat_surface,
                               double s[4])
{
    const double *rotation = sep->rotation[k];
    double d[3] = {0.0, 0.0, 0.0}, edge[3] = {0.0, 0.0, 0.0}, bend[9], t[2][3], turned[3];
    int is_halfspace = core->kind == TACT_SHAPE_HALFSPACE;
    for (int i = 0; i < 2 && !is_halfspace; i++) {
        tact_m3_tmul_v3(t[i], rotation, tangent[i]);
    }
    if (!is_halfspace) {
        tact_m3_tmul_v3(d, rotation, out);
    }
    int flat_direction_count = find_flat_directions(core, sep->vertex[k], d, edge, bend);
    for (int i = 0; i < 4; i++) {
        double radius = core->radius + (flat_direction_count == 2 ? radius_for_flat_surface : 0.0);
        s[i] = i == 0 || i == 3 ? radius : 0.0;
        if (flat_direction_count < 2) {
            tact_m3_mul_v3(turned, bend, t[i % 2]);
            s[i] += tact_v3_dot(t[i / 2], turned);
        }
        if (flat_direction_count == 1) {
            s[i] +=
                radius_for_flat_surface * tact_v3_dot(t[i / 2], edge) * tact_v3_dot(t[i % 2], edge);
        }
    }
}

/* r += M x. */
static void add_matrix_vector_product_2x2(double r[2], const double m[4], const double x[2])
{
    r[0] += m[0] * x[0] + m[1] * x[1];
    r[1] += m[2] * x[0] + m[3] * x[1];
}

/* Solves (S_A + S_B + g) rate = right_side_of_normal_rate_equation. radius_for_flat_surface: radius
 * of curvature that stands for that of a flat surface [m]. -EDOM where both surfaces are sharp, at
 * two vertices, or flat. */
static int solve_normal_rate(double s[2][4], double gap, double radius_for_flat_surface,
                             const double right_side_of_normal_rate_equation[2], double rate[2])
{
    double m[4];
    for (int i = 0; i < 4; i++) {
        m[i] = s[0][i] + s[1][i] + (i == 0 || i == 3 ? gap : 0.0);
    }
    double det = m[0] * m[3] - m[1] * m[2];
    double largest_eigenvalue = 0.5 * (m[0] + m[3] + tact_hypot(m[0] - m[3], m[1] + m[2]));
    rate[0] = (m[3] * right_side_of_normal_rate_equation[0] -
               m[1] * right_side_of_normal_rate_equation[1]) /
              det;
    rate[1] = (m[0] * right_side_of_normal_rate_equation[1] -
               m[2] * right_side_of_normal_rate_equation[0]) /
              det;
    return det > 0.0 &&
                   largest_eigenvalue < MAX_RADIUS_SUM_OVER_FLAT_RADIUS * radius_for_flat_surface &&
                   isfinite(rate[0]) && isfinite(rate[1])
               ? 0
               : -EDOM;
}

/* A tangent vector given by its components. */
static void tangent_vector_from_components(const double *const tangent[2], const double x[2],
                                           double out[3])
{
    tact_v3_scale(out, tangent[0], x[0]);
    tact_v3_axpy(out, x[1], tangent[1]);
}

/* Velocities of the two points over their surfaces from the rate of the normal, and in the world.
 * -EDOM where the normal turns too fast over a surface. */
static int surface_point_velocities(double s[2][4], double normal_rate_by_body_rotation[2][2],
                                    const double rate[2], const double *const tangent[2],
                                    double v[2][3], double max_normal_turn_rate,
                                    struct tact_surface_motion *out)
{
    for (int k = 0; k < 2; k++) {
        double way = k ? 1.0 : -1.0, over[2] = {0.0, 0.0};
        double x[2] = {way * (rate[0] - normal_rate_by_body_rotation[k][0]),
                       way * (rate[1] - normal_rate_by_body_rotation[k][1])};
        if (!(tact_hypot(x[0], x[1]) <= max_normal_turn_rate)) {
            return -EDOM;
        }
        add_matrix_vector_product_2x2(over, s[k], x);
        tangent_vector_from_components(tangent, over, out->point[k]);
        tact_v3_add(out->point[k], out->point[k], v[k]);
    }
    tangent_vector_from_components(tangent, rate, out->normal);
    return 0;
}

int tact_surface_motion_find(const struct tact_surface_contact *c, const double twist[2][6],
                             double max_normal_turn_rate, struct tact_surface_motion *out)
{
    const struct tact_convex_core *const *core = c->core;
    const double *n = c->nearest_points_and_normal_of_cores->normal;
    const double radius_for_flat_surface =
        FLAT_RADIUS_RATIO * (core[0]->size + core[0]->radius + core[1]->size + core[1]->radius);
    double t1[3], t2[3], v[2][3], slip[3], s[2][4], normal_rate_by_body_rotation[2][2],
        right_side_of_normal_rate_equation[2], rate[2];
    const double *const tangent[2] = {t1, t2};
    tact_v3_tangents(n, t1, t2);
    for (int k = 0; k < 2; k++) {
        double outward_surface_normal[3], normal_change_rate[3];
        tact_v3_scale(outward_surface_normal, n, k ? 1.0 : -1.0);
        radii_of_curvature(core[k], c->nearest_points_and_normal_of_cores, k,
                           outward_surface_normal, tangent, radius_for_flat_surface, s[k]);
        tact_pair_velocity_at_arm(twist[k], c->arm[k], v[k]);
        tact_v3_cross(normal_change_rate, twist[k] + 3, n);
        normal_rate_by_body_rotation[k][0] = tact_v3_dot(normal_change_rate, t1);
        normal_rate_by_body_rotation[k][1] = tact_v3_dot(normal_change_rate, t2);
    }
    tact_v3_sub(slip, v[0], v[1]);
    right_side_of_normal_rate_equation[0] = tact_v3_dot(slip, t1);
    right_side_of_normal_rate_equation[1] = tact_v3_dot(slip, t2);
    add_matrix_vector_product_2x2(right_side_of_normal_rate_equation, s[0],
                                  normal_rate_by_body_rotation[0]);
    add_matrix_vector_product_2x2(right_side_of_normal_rate_equation, s[1],
                                  normal_rate_by_body_rotation[1]);
    if (solve_normal_rate(s, c->gap, radius_for_flat_surface, right_side_of_normal_rate_equation,
                          rate)) {
        return -EDOM;
    }
    return surface_point_velocities(s, normal_rate_by_body_rotation, rate, tangent, v,
                                    max_normal_turn_rate, out);
}
