/* The faces of a patch that may contain the centre of pressure of a solution. */
#include <math.h>
#include <string.h>
#include "contact/linear.h"
#include "contact/local/local_active_internal.h"
#include "contact/vec.h"

#define MIN_PRESSURE_CENTRE_RATIO_AT_EDGE                                                          \
    (1.0 - 1e-9) /* ratio to a limit from which the limit counts as reached */
#define VELOCITY_ROUNDING_BOUND                                                                    \
    1e-12 /* bound of rounding errors of velocities, relative to their magnitude */

static int next_polygon_corner(const struct tact_active_set *a, int corner)
{
    return corner + 1 < a->corners ? corner + 1 : 0;
}

/* Vector e of a patch polygon's edge from its first corner p. Returns the square of the edge's
 * length. */
static double compute_edge_vector(const struct tact_active_set *a, int first, const double **p,
                                  double *e)
{
    const double *q = a->corner[next_polygon_corner(a, first)];
    *p = a->corner[first];
    e[0] = q[0] - (*p)[0];
    e[1] = q[1] - (*p)[1];
    return e[0] * e[0] + e[1] * e[1];
}

/* Position of the centre of pressure along an edge of the patch: 0 at the edge's first corner, 1 at
 * the next. */
static double pressure_centre_along_edge(const struct tact_active_set *a, int first)
{
    const double *p;
    double e[2], square = compute_edge_vector(a, first, &p, e);
    return (e[0] * (a->n[1] - p[0] * a->n[0]) + e[1] * (a->n[2] - p[1] * a->n[0])) /
           (square * a->n[0]);
}

/* Sets the active face of the cone N to an edge of the patch polygon or, where the centre of
 * pressure is not between the ends of the edge, to the corner at the nearer end. */
static void set_active_face_to_edge_or_corner(struct tact_active_set *a, int first)
{
    double share = pressure_centre_along_edge(a, first);
    a->face = FACE_EDGE;
    a->first = first;
    if (!(share >= 1.0 - MIN_PRESSURE_CENTRE_RATIO_AT_EDGE &&
          share <= MIN_PRESSURE_CENTRE_RATIO_AT_EDGE)) {
        a->face = FACE_CORNER;
        a->first =
            share > MIN_PRESSURE_CENTRE_RATIO_AT_EDGE ? next_polygon_corner(a, first) : first;
    }
}

/* Distance of the centre of pressure from the patch centre, over that of the boundary in its
 * direction; first: output, the edge in that direction. */
static double pressure_centre_boundary_ratio(const struct tact_active_set *a, int *first)
{
    double max_pressure_centre_ratio = 0.0, of = 1.0;
    const double *x = a->n;
    if (!a->corners) {
        return sqrt(x[1] * x[1] + x[2] * x[2]) / x[0];
    }
    *first = 0;
    for (int i = 0; i < a->corners; i++) {
        const double *p;
        double e[2];
        compute_edge_vector(a, i, &p, e);
        double far = e[1] * p[0] - e[0] * p[1], at = e[1] * x[1] - e[0] * x[2];
        if (far > 0.0 && at * of > max_pressure_centre_ratio * far) {
            max_pressure_centre_ratio = at;
            of = far;
            *first = i;
        }
    }
    return max_pressure_centre_ratio / (of * x[0]);
}

/* Changes the active face from the interior where the centre of pressure is beyond
 * `max_pressure_centre_ratio` of the patch's extent. Returns 1 where it is within. */
static int choose_boundary_face_if_beyond(struct tact_active_set *a,
                                          double max_pressure_centre_ratio)
{
    int first = 0;
    if (pressure_centre_boundary_ratio(a, &first) <= max_pressure_centre_ratio) {
        return 1;
    }
    if (a->corners) {
        set_active_face_to_edge_or_corner(a, first);
    } else {
        a->face = FACE_RIM;
    }
    return 0;
}

void tact_active_set_choose_face(struct tact_active_set *a)
{
    if (a->face == FACE_INSIDE) {
        choose_boundary_face_if_beyond(a, MIN_PRESSURE_CENTRE_RATIO_AT_EDGE);
    }
}

void tact_active_set_project_to_face(struct tact_active_set *a)
{
    double *x = a->n;
    if (a->face == FACE_RIM) {
        double far = sqrt(x[1] * x[1] + x[2] * x[2]), by = far > 0.0 ? x[0] / far : 0.0;
        x[1] *= by;
        x[2] *= by;
    } else if (a->face == FACE_CORNER || a->face == FACE_EDGE) {
        const double *p;
        double e[2];
        compute_edge_vector(a, a->first, &p, e);
        double pressure_centre_edge_fraction =
            a->face == FACE_EDGE ? pressure_centre_along_edge(a, a->first) : 0.0;
        x[1] = x[0] * (p[0] + pressure_centre_edge_fraction * e[0]);
        x[2] = x[0] * (p[1] + pressure_centre_edge_fraction * e[1]);
    }
}

/* Product of the block of S of the normal part and three numbers. */
static inline void multiply_by_normal_block(const struct tact_active_set *a, const double *x,
                                            double out[4])
{
    const double(*columns)[4] = a->columns_of_normal_mobility_block;
    TACT_STORE_FOUR_DOUBLES_AT(out, TACT_MULTIPLY_COLUMNS(TACT_FOUR_DOUBLES_AT(columns[0]),
                                                          TACT_FOUR_DOUBLES_AT(columns[1]),
                                                          TACT_FOUR_DOUBLES_AT(columns[2]), x));
}

/* Interior: all directions. */
static void set_active_face_basis_in_interior(struct tact_active_set *a)
{
    static const double all[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double h[9], (*response)[4] = a->normal_impulse_response;
    memcpy(a->active_face_basis, all, sizeof all);
    for (int i = 0; i < 9; i++) {
        h[i] = a->columns_of_normal_mobility_block[i % 3][i / 3];
    }
    tact_ldl_factor(h, 3);
    /* elements of the inverse of the Cholesky factor L */
    double l10 = -h[3], l21 = -h[7], l20 = h[3] * h[7] - h[6];
    response[2][2] = h[8];
    response[1][2] = response[2][1] = h[8] * l21;
    response[0][2] = response[2][0] = h[8] * l20;
    response[1][1] = h[4] + response[1][2] * l21;
    response[0][1] = response[1][0] = h[4] * l10 + response[1][2] * l20;
    response[0][0] = h[0] + h[4] * l10 * l10 + response[0][2] * l20;
}

/* Sets the basis of a corner or point as the active face: the one direction (1, p). */
static void set_active_face_basis_at_corner(struct tact_active_set *a, const double *p)
{
    double *e = a->active_face_basis[0], he[4];
    memset(a->active_face_basis, 0, sizeof a->active_face_basis);
    tact_v3_set(e, 1.0, p[0], p[1]);
    multiply_by_normal_block(a, e, he);
    double square = tact_v3_dot(e, he), inverse = square > 0.0 ? 1.0 / square : 0.0;
    for (int i = 0; i < 9; i++) {
        a->normal_impulse_response[i / 3][i % 3] = inverse * e[i / 3] * e[i % 3];
    }
}

/* Sets the basis of an edge or rim as the active face: two directions; off_diagonal_rotation_term
 * and diagonal_rotation_term: what the change of the directions with the second unknown adds to the
 * products of the second one. */
static void set_active_face_basis_along_edge(struct tact_active_set *a,
                                             double off_diagonal_rotation_term,
                                             double diagonal_rotation_term)
{
    const double *e = a->active_face_basis[0], *o = a->active_face_basis[1];
    double he[4], ho[4];
    tact_v3_set(a->active_face_basis[2], 0.0, 0.0, 0.0);
    multiply_by_normal_block(a, e, he);
    multiply_by_normal_block(a, o, ho);
    double h[4] = {tact_v3_dot(e, he), 0.0, tact_v3_dot(o, he) + off_diagonal_rotation_term,
                   tact_v3_dot(o, ho) + diagonal_rotation_term};
    tact_ldl_factor(h, 2);
    const double p[3] = {o[0] - h[2] * e[0], o[1] - h[2] * e[1], o[2] - h[2] * e[2]};
    const tact_row4 of_e = {e[0], e[1], e[2], e[2]}, of_p = {p[0], p[1], p[2], p[2]};
    for (int i = 0; i < 3; i++) {
        TACT_STORE_FOUR_DOUBLES_AT(a->normal_impulse_response[i],
                                   (h[0] * e[i]) * of_e + (h[3] * p[i]) * of_p);
    }
}

void tact_active_set_compute_face_basis(struct tact_active_set *a)
{
    const double centre_of_patch_polygon[2] = {0.0, 0.0}, *y = a->y;
    if (a->face == FACE_INSIDE) {
        set_active_face_basis_in_interior(a);
    } else if (a->face == FACE_EDGE) {
        const double *p = a->corner[a->first], *q = a->corner[next_polygon_corner(a, a->first)];
        tact_v3_set(a->active_face_basis[0], 1.0, p[0], p[1]);
        tact_v3_set(a->active_face_basis[1], 1.0, q[0], q[1]);
        set_active_face_basis_along_edge(a, 0.0, 0.0);
    } else if (a->face == FACE_RIM) {
        double inverse = 1.0 / a->n[0];
        tact_v3_set(a->active_face_basis[0], 1.0, y[0], y[1]);
        tact_v3_set(a->active_face_basis[1], 0.0, -y[1], y[0]);
        set_active_face_basis_along_edge(a, tact_v3_dot(a->active_face_basis[1], a->un) * inverse,
                                         -(y[0] * a->un[1] + y[1] * a->un[2]) * inverse);
    } else {
        set_active_face_basis_at_corner(a, a->face == FACE_CORNER ? a->corner[a->first]
                                                                  : centre_of_patch_polygon);
    }
}

/* Normal velocity at a corner of the patch, positive where it opens. */
static double corner_opening_velocity(const struct tact_active_set *a, int corner)
{
    const double *p = a->corner[corner];
    return a->un[0] + p[0] * a->un[1] + p[1] * a->un[2];
}

/* 1 where a corner is the face of the solution; otherwise switches to an adjacent edge that closes.
 * is_solution_face_edge_else_switch() does so for an edge and its corners. */
static int is_solution_face_corner_else_switch(struct tact_active_set *a,
                                               double velocity_rounding_error)
{
    int previous_polygon_corner = a->first ? a->first - 1 : a->corners - 1;
    double opening_velocity_of_previous_corner =
               corner_opening_velocity(a, previous_polygon_corner),
           opening_velocity_of_next_corner =
               corner_opening_velocity(a, next_polygon_corner(a, a->first));
    if (tact_min(opening_velocity_of_previous_corner, opening_velocity_of_next_corner) >=
        -velocity_rounding_error) {
        return 1;
    }
    a->face = FACE_EDGE;
    a->first = opening_velocity_of_previous_corner < opening_velocity_of_next_corner
                   ? previous_polygon_corner
                   : a->first;
    return 0;
}

static int is_solution_face_edge_else_switch(struct tact_active_set *a)
{
    double pressure_centre_edge_fraction = pressure_centre_along_edge(a, a->first);
    if (pressure_centre_edge_fraction >= 0.0 && pressure_centre_edge_fraction <= 1.0) {
        return 1;
    }
    a->face = FACE_CORNER;
    a->first = pressure_centre_edge_fraction < 0.0 ? a->first : next_polygon_corner(a, a->first);
    return 0;
}

int tact_active_set_update_face(struct tact_active_set *a)
{
    double velocity_rounding_error = VELOCITY_ROUNDING_BOUND * tact_active_set_velocity_scale(a);
    if (a->face == FACE_POINT) {
        return 1;
    }
    if (a->face == FACE_INSIDE) {
        return choose_boundary_face_if_beyond(a, 1.0);
    }
    if (a->face == FACE_RIM) {
        a->face = a->un[0] >= -velocity_rounding_error ? FACE_RIM : FACE_INSIDE;
        return a->face == FACE_RIM;
    }
    if (!(a->face == FACE_CORNER ? is_solution_face_corner_else_switch(a, velocity_rounding_error)
                                 : is_solution_face_edge_else_switch(a))) {
        return 0;
    }
    for (int i = 0; i < a->corners; i++) {
        if (corner_opening_velocity(a, i) < -velocity_rounding_error) {
            a->face = FACE_INSIDE;
            return 0;
        }
    }
    return 1;
}
