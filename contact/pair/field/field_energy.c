/*
 * Potential energy: the integral of the lesser of two pressures over all space. Where one solid is
 * a tetrahedron, it is cut into smaller ones by the planes of the other's cell; the integral of a
 * linear pressure over a tetrahedron is its volume times the mean over its corners.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

/* Maximum number of cutting planes: four of a tetrahedron, two of zero pressure, one of equal
      pressures. */
enum { MOST_PLANES = 7 };

/* Planes that bound a region of space: inside where normal.x >= distance. */
struct part {
    int planes;
    double plane[MOST_PLANES][4];
};

/* A linear function to be integrated over the part of a tetrahedron within the first planes. */
struct linear_function_over_tetrahedron {
    const struct part *part;
    double slope[3], value_at_origin;
};

static double integral_over_tetrahedron(const struct linear_function_over_tetrahedron *f,
                                        const double (*x)[3])
{
    double u[3], v[3], w[3], across[3], sum = 4.0 * f->value_at_origin;
    tact_v3_sub(u, x[1], x[0]);
    tact_v3_sub(v, x[2], x[0]);
    tact_v3_sub(w, x[3], x[0]);
    tact_v3_cross(across, v, w);
    for (int k = 0; k < 4; k++) {
        sum += tact_v3_dot(f->slope, x[k]);
    }
    return fabs(tact_v3_dot(u, across)) / 24.0 * sum;
}

static void plane_crossing_point(const double *p, const double *q, double plane_value_at_p,
                                 double plane_value_at_q, double *out)
{
    double share = plane_value_at_p / (plane_value_at_p - plane_value_at_q);
    for (int k = 0; k < 3; k++) {
        out[k] = p[k] + share * (q[k] - p[k]);
    }
}

/* Splits the prism between two triangles into three tetrahedra. */
static void split_prism_into_tetrahedra(const double (*p)[3], double (*tet)[4][3])
{
    static const int corner[3][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}};
    for (int i = 0; i < 12; i++) {
        memcpy(tet[i / 4][i % 4], p[corner[i / 4][i % 4]], sizeof p[0]);
    }
}

/* Cuts off the part of a tetrahedron above a plane, as up to three tetrahedra; returns their
 * number. */
static int remove_tetrahedron_part_above_plane(const double (*x)[3], const double *plane,
                                               double (*tet)[4][3])
{
    double at[4], prism[6][3];
    int up[4], down[4], ups = 0, downs = 0;
    for (int k = 0; k < 4; k++) {
        at[k] = tact_v3_dot(plane, x[k]) - plane[3];
        *(at[k] >= 0.0 ? &up[ups++] : &down[downs++]) = k;
    }
    if (ups == 4 || ups == 1) {
        memcpy(tet[0][0], x[up[0]], sizeof x[0]);
        for (int k = 1; k < 4; k++) {
            if (ups == 4) {
                memcpy(tet[0][k], x[up[k]], sizeof x[0]);
            } else {
                plane_crossing_point(x[up[0]], x[down[k - 1]], at[up[0]], at[down[k - 1]],
                                     tet[0][k]);
            }
        }
        return 1;
    }
    for (int k = 0; k < 3 && ups == 3; k++) {
        memcpy(prism[k], x[up[k]], sizeof x[0]);
        plane_crossing_point(x[up[k]], x[down[0]], at[up[k]], at[down[0]], prism[3 + k]);
    }
    for (int k = 0; k < 2 && ups == 2; k++) {
        memcpy(prism[3 * k], x[up[k]], sizeof x[0]);
        plane_crossing_point(x[up[k]], x[down[0]], at[up[k]], at[down[0]], prism[3 * k + 1]);
        plane_crossing_point(x[up[k]], x[down[1]], at[up[k]], at[down[1]], prism[3 * k + 2]);
    }
    split_prism_into_tetrahedra((const double(*)[3])prism, tet);
    return ups ? 3 : 0;
}

/* Integral of a function over the part of a tetrahedron within the planes from number k on;
 * recursive, as deep as there are planes. */
static double
integrate_linear_function_within_planes(const struct linear_function_over_tetrahedron *f,
                                        const double (*x)[3], int k)
{
    double tet[3][4][3], sum = 0.0;
    if (k == f->part->planes) {
        return integral_over_tetrahedron(f, x);
    }
    int n = remove_tetrahedron_part_above_plane(x, f->part->plane[k], tet);
    for (int i = 0; i < n; i++) {
        sum += integrate_linear_function_within_planes(f, (const double(*)[3])tet[i], k + 1);
    }
    return sum;
}

static void get_cell_corners_in_frame_a(const struct field_pair *pair, int of_b, uint32_t i,
                                        double (*x)[3])
{
    const struct tact_pressure_field *field = of_b ? pair->b : pair->a;
    int corners = field->is_rigid ? 3 : 4;
    for (int k = 0; k < corners; k++) {
        const double *from = field->vertices + 3 * (size_t)field->cells[i].corner[k];
        tact_v3_copy(x[k], from);
        if (of_b) {
            tact_m3_mul_v3(x[k], pair->rotation, from);
            tact_v3_add(x[k], x[k], pair->shift);
        }
    }
}

/* Adds the plane through three points, with a fourth point above it, to the bounding planes. */
static void add_plane_through_points(struct part *part, const double *p, const double *q,
                                     const double *r, const double *point_above_plane)
{
    double u[3], v[3], up[3], *plane = part->plane[part->planes++];
    tact_v3_sub(u, q, p);
    tact_v3_sub(v, r, p);
    tact_v3_cross(plane, u, v);
    tact_v3_normalize(plane, plane);
    tact_v3_sub(up, point_above_plane, p);
    if (tact_v3_dot(plane, up) < 0.0) {
        tact_v3_scale(plane, plane, -1.0);
    }
    plane[3] = tact_v3_dot(plane, p);
}

static void add_tetrahedron_planes(struct part *part, const double (*x)[3])
{
    for (int k = 0; k < 4; k++) {
        add_plane_through_points(part, x[(k + 1) % 4], x[(k + 2) % 4], x[(k + 3) % 4], x[k]);
    }
}

/* Adds the half-space in which a linear function is positive to the bounding planes. */
static void add_positive_halfspace(struct part *part, const double *slope, double value_at_origin)
{
    double *plane = part->plane[part->planes++];
    tact_v3_copy(plane, slope);
    plane[3] = -value_at_origin;
}

/* Integral of the lesser pressure of cells i and j over their intersection: that of a's pressure,
 * less the part in which it exceeds b's. */
static double integrate_lesser_pressure_of_cells(const struct field_pair *pair, uint32_t i,
                                                 uint32_t j)
{
    const struct field_cell *ca = &pair->a->cells[i], *cb = &pair->b->cells[j];
    struct part part = {.planes = 0};
    struct linear_function_over_tetrahedron f = {.part = &part,
                                                 .value_at_origin = ca->value_at_origin};
    double x[4][3], other[4][3], slope[3];
    get_cell_corners_in_frame_a(pair, 0, i, x);
    tact_m3_mul_v3(slope, pair->rotation, cb->gradient);
    double value_at_origin = cb->value_at_origin - tact_v3_dot(slope, pair->shift);
    if (pair->b->kind == TACT_FIELD_TETS) {
        get_cell_corners_in_frame_a(pair, 1, j, other);
        add_tetrahedron_planes(&part, (const double(*)[3])other);
    }
    if (ca->rim & 16) {
        add_positive_halfspace(&part, ca->gradient, ca->value_at_origin);
    }
    if (pair->b->kind == TACT_FIELD_HALFSPACE || cb->rim & 16) {
        add_positive_halfspace(&part, slope, value_at_origin);
    }
    tact_v3_copy(f.slope, ca->gradient);
    double sum = integrate_linear_function_within_planes(&f, (const double(*)[3])x, 0);
    tact_v3_sub(f.slope, ca->gradient, slope);
    f.value_at_origin = ca->value_at_origin - value_at_origin;
    add_positive_halfspace(&part, f.slope, f.value_at_origin);
    return sum - integrate_linear_function_within_planes(&f, (const double(*)[3])x, 0);
}

/* Integral of the pressure of cell i of the soft solid a over its part in the rigid half-space b.
 */
static double pressure_integral_over_halfspace(const struct field_pair *pair, uint32_t i)
{
    const struct field_cell *ca = &pair->a->cells[i];
    struct part part = {.planes = 0};
    struct linear_function_over_tetrahedron f = {.part = &part,
                                                 .value_at_origin = ca->value_at_origin};
    double x[4][3], slope[3];
    get_cell_corners_in_frame_a(pair, 0, i, x);
    tact_v3_copy(f.slope, ca->gradient);
    tact_m3_mul_v3(slope, pair->rotation, pair->b->cells->gradient);
    add_positive_halfspace(&part, slope, -tact_v3_dot(slope, pair->shift));
    if (ca->rim & 16) {
        add_positive_halfspace(&part, ca->gradient, ca->value_at_origin);
    }
    return integrate_linear_function_within_planes(&f, (const double(*)[3])x, 0);
}

/* Integral of the pressure of cell i over the tetrahedron between a rigid triangle and an apex,
 * negative where the apex is outside of the triangle. */
static double pressure_integral_over_triangle_cone(const struct field_pair *pair, uint32_t i,
                                                   uint32_t j, const double *apex)
{
    const struct field_cell *ca = &pair->a->cells[i];
    struct part part = {.planes = 0};
    struct linear_function_over_tetrahedron f = {.part = &part,
                                                 .value_at_origin = ca->value_at_origin};
    double x[4][3], cone[4][3], inward[3], arm[3];
    get_cell_corners_in_frame_a(pair, 1, j, cone);
    tact_m3_mul_v3(inward, pair->rotation, pair->b->cells[j].gradient);
    tact_v3_copy(cone[3], apex);
    tact_v3_sub(arm, apex, cone[0]);
    tact_v3_copy(f.slope, ca->gradient);
    double height = tact_v3_dot(inward, arm);
    if (height == 0.0) {
        return 0.0;
    }
    if (pair->a->kind == TACT_FIELD_HALFSPACE || ca->rim & 16) {
        add_positive_halfspace(&part, ca->gradient, ca->value_at_origin);
    }
    if (pair->a->kind == TACT_FIELD_TETS) {
        get_cell_corners_in_frame_a(pair, 0, i, x);
        add_tetrahedron_planes(&part, (const double(*)[3])cone);
    } else {
        memcpy(x, cone, sizeof x);
    }
    return copysign(integrate_linear_function_within_planes(&f, (const double(*)[3])x, 0), height);
}

/* Sum of the energy integrals over all pairs of cells of two nodes. */
static double sum_overlap_energy_of_nodes(const struct field_pair *pair, const struct field_node *a,
                                          const struct field_node *b)
{
    if (!tact_field_boxes_overlap(pair, &a->all, &b->all, 0.0)) {
        return 0.0;
    }
    if (a->leaf && b->leaf) {
        return integrate_lesser_pressure_of_cells(pair, a->first, b->first);
    }
    const struct field_node *child =
        a->leaf ? &pair->b->nodes[b->first] : &pair->a->nodes[a->first];
    return a->leaf ? sum_overlap_energy_of_nodes(pair, a, child) +
                         sum_overlap_energy_of_nodes(pair, a, child + 1)
                   : sum_overlap_energy_of_nodes(pair, child, b) +
                         sum_overlap_energy_of_nodes(pair, child + 1, b);
}

static double overlap_energy_of_soft_and_rigid_solid(const struct field_pair *pair)
{
    double apex[3], sum = 0.0;
    tact_m3_mul_v3(apex, pair->rotation, pair->b->vertices);
    tact_v3_add(apex, apex, pair->shift);
    for (uint32_t i = 0; i < pair->a->cell_count; i++) {
        for (uint32_t j = 0; j < pair->b->cell_count; j++) {
            sum += pressure_integral_over_triangle_cone(pair, i, j, apex);
        }
    }
    return sum;
}

double tact_field_energy(const struct tact_pressure_field *a, const struct tact_pose *pose_a,
                         const struct tact_pressure_field *b, const struct tact_pose *pose_b)
{
    struct field_pair pair;
    double sum = 0.0;
    int is_swapped = tact_field_must_swap_bodies(a, b);
    if (!tact_fields_can_touch(a, b)) {
        return NAN;
    }
    tact_field_set_pair_poses(&pair, is_swapped ? b : a, is_swapped ? pose_b : pose_a,
                              is_swapped ? a : b, is_swapped ? pose_a : pose_b);
    if (pair.a->power != 1.0) {
        return NAN;
    }
    if (pair.b->kind == TACT_FIELD_RIGID) {
        return overlap_energy_of_soft_and_rigid_solid(&pair);
    }
    if (pair.b->kind == TACT_FIELD_TETS) {
        return sum_overlap_energy_of_nodes(&pair, pair.a->nodes, pair.b->nodes);
    }
    for (uint32_t i = 0; i < pair.a->cell_count; i++) {
        sum += pair.b->is_rigid ? pressure_integral_over_halfspace(&pair, i)
                                : integrate_lesser_pressure_of_cells(&pair, i, 0);
    }
    return sum;
}
