/* Measures how well a pressure field represents a mesh: its surface of zero pressure, volume and
 * slope; and the pressure at a point. */
#include "contact/pair/field/extent.h"

#include <math.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"
#include "contact/pair/field/nearest_internal.h"

/* Computes the polygon in which the pressure of a tetrahedron is 0. Returns the number of its
 * corners, 0, 3 or 4; x: the corners in order. */
static int find_zero_pressure_polygon(const struct tact_pressure_field *field,
                                      const struct field_cell *cell, double x[4][3])
{
    int up[4], down[4], ups = 0, downs = 0;
    for (int k = 0; k < 4; k++) {
        *(field->pressure[cell->corner[k]] > 0.0 ? &up[ups++] : &down[downs++]) = k;
    }
    static const int way[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    int count = ups == 2 ? 4 : ups && downs ? 3 : 0;
    for (int i = 0; i < count; i++) {
        int high = up[ups == 2 ? way[i][0] : ups == 1 ? 0 : i];
        int low = down[ups == 2 ? way[i][1] : ups == 1 ? i : 0];
        const double *p = field->vertices + 3 * (size_t)cell->corner[high];
        const double *q = field->vertices + 3 * (size_t)cell->corner[low];
        double at = field->pressure[cell->corner[high]], to = field->pressure[cell->corner[low]];
        for (int k = 0; k < 3; k++) {
            x[i][k] = p[k] + at / (at - to) * (q[k] - p[k]);
        }
    }
    return count;
}

static double squared_distance_from_box(const struct field_box *box, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double d = tact_max(fabs(x[k] - box->middle[k]) - box->half[k], 0.0);
        sum += d * d;
    }
    return box->radius < 0.0 ? INFINITY : sum;
}

/* Distance of a point from the surface of zero pressure [m]. */
static double distance_from_zero_pressure_surface(const struct tact_pressure_field *field,
                                                  const double *x)
{
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    double best = INFINITY, zero[4][3];
    int top = 0;
    stack[top++] = 0;
    while (top) {
        const struct field_node *node = &field->nodes[stack[--top]];
        if (!(squared_distance_from_box(&node->rim, x) < best)) {
            continue;
        }
        if (!node->leaf) {
            uint32_t first = node->first;
            uint32_t near = squared_distance_from_box(&field->nodes[first + 1].rim, x) <
                            squared_distance_from_box(&field->nodes[first].rim, x);
            stack[top++] = first + 1 - near;
            stack[top++] = first + near;
            continue;
        }
        int count = find_zero_pressure_polygon(field, &field->cells[node->first], zero);
        for (int i = 1; i + 1 < count; i++) {
            best = tact_min(best, tact_triangle_squared_distance(x, zero[0], zero[i], zero[i + 1]));
        }
    }
    return sqrt(best);
}

/* 1 where a point is in a cell. A point on a common face is in both cells, with the same pressure.
 */
static int is_point_in_field_cell(const struct tact_pressure_field *field,
                                  const struct field_cell *cell, const double *x)
{
    double slack = 1e-12 * field->size;
    for (int c = 0; c < 4; c++) {
        const double *plane = field->faces[cell->face[c]];
        double at = tact_v3_dot(plane, x) - plane[3];
        if ((cell->inside >> c & 1 ? at : -at) < -slack) {
            return 0;
        }
    }
    return 1;
}

double tact_field_pressure(const struct tact_pressure_field *field, const double x[3])
{
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    int top = 0;
    stack[top] = 0;
    top += field->kind == TACT_FIELD_TETS;
    while (top) {
        const struct field_node *node = &field->nodes[stack[--top]];
        const struct field_cell *cell = &field->cells[node->first];
        if (squared_distance_from_box(&node->all, x) > 0.0) {
            continue;
        }
        if (!node->leaf) {
            stack[top++] = node->first + 1;
            stack[top++] = node->first;
        } else if (is_point_in_field_cell(field, cell, x)) {
            return tact_max(cell->value_at_origin + tact_v3_dot(cell->gradient, x), 0.0);
        }
    }
    return 0.0;
}

static double volume_of_field_cell(const struct tact_pressure_field *field,
                                   const struct field_cell *cell)
{
    double e[3][3], across[3];
    for (int k = 0; k < 3; k++) {
        tact_v3_sub(e[k], field->vertices + 3 * (size_t)cell->corner[k + 1],
                    field->vertices + 3 * (size_t)cell->corner[0]);
    }
    tact_v3_cross(across, e[1], e[2]);
    return fabs(tact_v3_dot(e[0], across)) / 6.0;
}

/* Fraction of a tetrahedron's volume in which a linear function with the given values at the
 * corners is positive. With two corners on each side, s[i][j] is the fraction of the edge from the
 * positive corner i to the other corner j in which it is positive. */
static double positive_pressure_volume_fraction(const double v[4])
{
    double up[4], down[4], product = 1.0, s[2][2];
    int ups = 0, downs = 0;
    for (int k = 0; k < 4; k++) {
        *(v[k] > 0.0 ? &up[ups++] : &down[downs++]) = v[k];
    }
    if (ups == 2) {
        for (int i = 0; i < 4; i++) {
            s[i / 2][i % 2] = up[i / 2] / (up[i / 2] - down[i % 2]);
        }
        return s[0][0] * s[0][1] + s[1][0] * s[1][1] * (1.0 - s[0][1]) +
               s[1][0] * s[0][1] * (1.0 - s[0][0]);
    }
    for (int i = 0; i < 3; i++) {
        if (ups == 1) {
            product *= up[0] / (up[0] - down[i]);
        } else if (ups == 3) {
            product *= down[0] / (down[0] - up[i]);
        }
    }
    return ups == 4 ? 1.0 : ups == 3 ? 1.0 - product : ups ? product : 0.0;
}

static double area_of_planar_polygon(const double (*x)[3], int count)
{
    double area = 0.0, u[3], w[3], across[3];
    for (int i = 1; i + 1 < count; i++) {
        tact_v3_sub(u, x[i], x[0]);
        tact_v3_sub(w, x[i + 1], x[0]);
        tact_v3_cross(across, u, w);
        area += 0.5 * tact_v3_norm(across);
    }
    return area;
}

static void measure_field_tetrahedra(const struct tact_pressure_field *field, double slope,
                                     struct tact_field_quality *out)
{
    double area = 0.0, sum = 0.0, square = 0.0, zero[4][3];
    for (size_t i = 0; i < field->cell_count; i++) {
        const struct field_cell *cell = &field->cells[i];
        double v[4];
        for (int k = 0; k < 4; k++) {
            v[k] = field->pressure[cell->corner[k]];
            out->deepest = tact_max(out->deepest, v[k] / slope);
        }
        out->volume += volume_of_field_cell(field, cell) * positive_pressure_volume_fraction(v);
        int count = find_zero_pressure_polygon(field, cell, zero);
        double part = area_of_planar_polygon((const double(*)[3])zero, count);
        double ratio_of_pressure_slopes = tact_v3_norm(cell->gradient) / slope;
        area += part;
        sum += part * ratio_of_pressure_slopes;
        square += part * ratio_of_pressure_slopes * ratio_of_pressure_slopes;
    }
    out->slope = area > 0.0 ? sum / area : 0.0;
    out->slope_spread =
        area > 0.0 ? sqrt(tact_max(square / area - out->slope * out->slope, 0.0)) : 0.0;
}

/* Adds a sample point of the mesh with the area that it represents to the measures. */
static void add_sampled_mesh_point(const struct tact_pressure_field *field, const double *x,
                                   double area, double *square, struct tact_field_quality *out)
{
    double far = distance_from_zero_pressure_surface(field, x);
    *square += area * far * far;
    if (far > out->worst) {
        out->worst = far;
        tact_v3_copy(out->place, x);
    }
}

void tact_field_measure(const struct tact_pressure_field *field, double slope,
                        const struct tact_mesh *mesh, struct tact_field_quality *out)
{
    double total_boundary_area = 0.0, square = 0.0;
    memset(out, 0, sizeof *out);
    if (field->kind != TACT_FIELD_TETS) {
        return;
    }
    measure_field_tetrahedra(field, slope, out);
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        double x[3][3], middle[3];
        for (int k = 0; k < 3; k++) {
            tact_v3_copy(x[k], mesh->vertices + 3 * (size_t)mesh->triangles[3 * i + (size_t)k]);
        }
        for (int k = 0; k < 3; k++) {
            middle[k] = (x[0][k] + x[1][k] + x[2][k]) / 3.0;
        }
        double area = area_of_planar_polygon((const double(*)[3])x, 3);
        total_boundary_area += area;
        /* quadrature that is exact where the square of the distance is quadratic */
        add_sampled_mesh_point(field, middle, 0.75 * area, &square, out);
        for (int k = 0; k < 3; k++) {
            add_sampled_mesh_point(field, x[k], area / 12.0, &square, out);
        }
    }
    out->rms = total_boundary_area > 0.0 ? sqrt(square / total_boundary_area) : 0.0;
}
