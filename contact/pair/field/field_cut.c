/*
 * Computes the contact polygon of two cells and its integrals. Two soft cells touch in the plane
 * where their pressures are equal: it slices the tetrahedron of a, and the faces of b's cut the
 * slice. A rigid triangle is cut by the faces of a's.
 *
 * A polygon exactly in a face belongs to one of its two cells: the plane of a face has the same
 * numbers for both, 0 counts as its positive side, and crossing points are computed from the
 * positive end.
 */
#include "contact/pair/field/field_cut_internal.h"

/* Difference of two pressures that is rounding, relative to the largest pressure. */
#define PRESSURE_ROUNDING_RATIO 1e-13
/* Distance from a face within which a slice lies in the face, relative to the size of the field. */
#define SLICE_IN_FACE_DISTANCE 1e-12
/* Change of the difference of two pressures that counts as zero, relative to the sum of their
 * slopes. */
#define PRESSURE_LEVEL_CHANGE_TOLERANCE 1e-9

/* Planes that may cut a slice: four faces of a tetrahedron, and the plane of zero pressure. */
enum { SIDES = 5 };

/* A polygon under construction, with the distances of its corners from the cutting planes. */
struct outline {
    int n;
    double x[TACT_FIELD_MAX_POLYGON_CORNERS][3 + SIDES];
    int16_t side[TACT_FIELD_MAX_POLYGON_CORNERS];
};

static inline void load_vector_from_field_memory(double *out,
                                                 FIELD_GLOBAL_ADDRESS_SPACE const double *x)
{
    out[0] = x[0];
    out[1] = x[1];
    out[2] = x[2];
}

static inline void store_vector_in_field_memory(FIELD_GLOBAL_ADDRESS_SPACE double *out,
                                                const double *x)
{
    out[0] = x[0];
    out[1] = x[1];
    out[2] = x[2];
}

static inline void load_cell_corner(const struct tact_pressure_field *field,
                                    FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cell, int k,
                                    double *out)
{
    load_vector_from_field_memory(out, field->vertices + 3 * (size_t)cell->corner[k]);
}

/* A cell's gradient in the frame of a, of a cell of b. */
static inline void rotate_gradient(const struct field_pair *pair,
                                   FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cell,
                                   double *out)
{
    double gradient[3];
    load_vector_from_field_memory(gradient, cell->gradient);
    tact_m3_mul_v3(out, pair->rotation, gradient);
}

static inline void copy_corner(double *restrict to, const double *restrict from)
{
    for (int k = 0; k < 3 + SIDES; k++) {
        to[k] = from[k];
    }
}

static inline void clear_corner(double *x)
{
    for (int k = 0; k < 3 + SIDES; k++) {
        x[k] = 0.0;
    }
}

/* Transforms a point from the frame of field a to that of field b. */
static void point_to_frame_of_b(const struct field_pair *pair, const double *x, double *out)
{
    double from[3];
    tact_v3_sub(from, x, pair->shift);
    tact_m3_tmul_v3(out, pair->rotation, from);
}

/* Point where the segment from corner p, on the positive side of a plane, to corner q crosses the
 * plane. */
static void compute_crossing_point(const double *p, const double *q,
                                   double distance_of_p_from_plane, double distance_of_q_from_plane,
                                   int number_of_coordinates, double *out)
{
    double share = distance_of_p_from_plane / (distance_of_p_from_plane - distance_of_q_from_plane);
    for (int i = 0; i < number_of_coordinates; i++) {
        out[i] = p[i] + share * (q[i] - p[i]);
    }
}

/* Clips an outline by plane number c and keeps its part on the positive or the negative side
 * (Sutherland-Hodgman). Returns 0 where nothing remains. */
static int clip_outline_by_plane(struct outline *o, int c, int is_positive_side_kept,
                                 int field_side_of_new_edge)
{
    struct outline in;
    int m = 0;
    in.n = o->n;
    for (int i = 0; i < in.n; i++) {
        copy_corner(in.x[i], o->x[i]);
        in.side[i] = o->side[i];
    }
    for (int i = 0; i < in.n; i++) {
        int j = i + 1 < in.n ? i + 1 : 0;
        double vi = in.x[i][3 + c], vj = in.x[j][3 + c];
        int is_outline_corner_kept = (vi >= 0.0) == is_positive_side_kept,
            is_next_corner_kept = (vj >= 0.0) == is_positive_side_kept;
        if (m + 2 > TACT_FIELD_MAX_POLYGON_CORNERS) {
            o->n = 0; /* the whole polygon is within rounding of an edge */
            return 0;
        }
        if (is_outline_corner_kept) {
            copy_corner(o->x[m], in.x[i]);
            o->side[m++] = in.side[i];
        }
        if (is_outline_corner_kept != is_next_corner_kept) {
            int up = vi >= 0.0;
            compute_crossing_point(in.x[up ? i : j], in.x[up ? j : i], up ? vi : vj, up ? vj : vi,
                                   3 + SIDES, o->x[m]);
            o->x[m][3 + c] = 0.0;
            o->side[m++] = (int16_t)(is_outline_corner_kept ? field_side_of_new_edge : in.side[i]);
        }
    }
    o->n = m;
    return m > 2;
}

static int count_corners_on_side_of_face(const struct outline *o, int c, int is_positive_side_kept)
{
    int inside = 0;
    for (int i = 0; i < o->n; i++) {
        inside += (o->x[i][3 + c] >= 0.0) == is_positive_side_kept;
    }
    return inside == o->n ? 2 : inside > 0;
}

/* 1 where a slice that lies in face c of b's cell belongs to this cell: the contact surface is
 * where the difference of pressures changes from negative to 0 or positive, and belongs to the
 * negative side. The difference may be 0 on all of the other side, where the fields are equal. */
static int does_cell_own_slice_in_face(const struct field_pair *pair,
                                       FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cb,
                                       int c, const struct contact_surface_polygon *plane)
{
    double face_normal[3], in[3], gradient_beyond[3], pressure_gradient_difference[3];
    load_vector_from_field_memory(face_normal, pair->b->faces[cb->face[c]]);
    tact_m3_mul_v3(in, pair->rotation, face_normal);
    tact_v3_scale(in, in, cb->inside >> c & 1 ? 1.0 : -1.0);
    tact_v3_sub(pressure_gradient_difference, plane->gradient_b, plane->gradient_a);
    if (tact_v3_dot(pressure_gradient_difference, in) >= 0.0 || cb->next[c] == TACT_FIELD_NO_CELL) {
        return tact_v3_dot(pressure_gradient_difference, in) < 0.0;
    }
    rotate_gradient(pair, &pair->b->cells[cb->next[c]], gradient_beyond);
    tact_v3_sub(pressure_gradient_difference, gradient_beyond, plane->gradient_a);
    double sum_of_gradient_magnitudes =
        tact_v3_norm(gradient_beyond) + tact_v3_norm(plane->gradient_a);
    return tact_v3_dot(pressure_gradient_difference, in) <=
           PRESSURE_LEVEL_CHANGE_TOLERANCE * sum_of_gradient_magnitudes;
}

/* Index of the cell's face in which the whole slice lies; -1: none. */
static int find_cell_face_of_slice(const struct outline *o, double slack)
{
    for (int c = 0; c < 4; c++) {
        double most = 0.0;
        for (int i = 0; i < o->n; i++) {
            most = tact_max(most, fabs(o->x[i][3 + c]));
        }
        if (most <= slack) {
            return c;
        }
    }
    return -1;
}

/* Sets the distances of an outline's corners from the faces of a cell. corners: their positions in
 * the frame of the cell's field. Returns 0 where all are outside a face by more than slack. */
static int
compute_distances_from_cell_faces(struct outline *o, const struct tact_pressure_field *field,
                                  FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cell,
                                  const double (*corners)[3], double slack)
{
    for (int c = 0; c < 4; c++) {
        double normal[3], distance = field->faces[cell->face[c]][3];
        double sign = cell->inside >> c & 1 ? 1.0 : -1.0, most = -INFINITY;
        load_vector_from_field_memory(normal, field->faces[cell->face[c]]);
        for (int i = 0; i < o->n; i++) {
            o->x[i][3 + c] = tact_v3_dot(normal, corners[i]) - distance;
            most = tact_max(most, sign * o->x[i][3 + c]);
        }
        if (most < -slack) {
            return 0;
        }
    }
    return 1;
}

/* Clips an outline by the faces of a cell except cell_face_not_to_clip_by; first_side_of_cell:
 * number of the cell's first side. */
static int clip_outline_by_cell(struct outline *o,
                                FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cell,
                                int cell_face_not_to_clip_by, int first_side_of_cell)
{
    for (int c = 0; c < 4; c++) {
        if (c != cell_face_not_to_clip_by &&
            !count_corners_on_side_of_face(o, c, cell->inside >> c & 1)) {
            return 0;
        }
    }
    for (int c = 0; c < 4; c++) {
        if (c != cell_face_not_to_clip_by &&
            count_corners_on_side_of_face(o, c, cell->inside >> c & 1) < 2 &&
            !clip_outline_by_plane(o, c, cell->inside >> c & 1, first_side_of_cell + c)) {
            return 0;
        }
    }
    return o->n > 2;
}

FIELD_CONSTANT_ADDRESS_SPACE int other_corners_of_tetrahedron[4][3] = {
    {1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};

/* Slices a's tetrahedron where the value e, given at its corners, is 0. */
static int slice_tetrahedron(const struct field_pair *pair,
                             FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cell,
                             const double *e, struct outline *o)
{
    int corners_on_positive_side[4], corners_on_negative_side[4], positive_count = 0,
                                                                  negative_count = 0;
    for (int k = 0; k < 4; k++) {
        if (e[k] >= 0.0) {
            corners_on_positive_side[positive_count++] = k;
        } else {
            corners_on_negative_side[negative_count++] = k;
        }
    }
    if (!positive_count || !negative_count) {
        return 0;
    }
    int slice_edge_ends[4][2], side[4], n = positive_count == 2 ? 4 : 3;
    if (n == 3) {
        int only_corner_on_its_side =
            positive_count == 1 ? corners_on_positive_side[0] : corners_on_negative_side[0];
        for (int i = 0; i < 3; i++) {
            slice_edge_ends[i][0] = positive_count == 1
                                        ? only_corner_on_its_side
                                        : other_corners_of_tetrahedron[only_corner_on_its_side][i];
            slice_edge_ends[i][1] = positive_count == 1
                                        ? other_corners_of_tetrahedron[only_corner_on_its_side][i]
                                        : only_corner_on_its_side;
            /* the face opposite to the corner that is on neither edge */
            side[i] = other_corners_of_tetrahedron[only_corner_on_its_side][(i + 2) % 3];
        }
    } else {
        const int corner_indices_of_slice_edges[4][3] = {
            {0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}};
        for (int i = 0; i < 4; i++) {
            slice_edge_ends[i][0] = corners_on_positive_side[corner_indices_of_slice_edges[i][0]];
            slice_edge_ends[i][1] = corners_on_negative_side[corner_indices_of_slice_edges[i][1]];
            side[i] = i % 2 ? corners_on_negative_side[1 - corner_indices_of_slice_edges[i][1]]
                            : corners_on_positive_side[1 - corner_indices_of_slice_edges[i][0]];
        }
    }
    for (int i = 0; i < n; i++) {
        double p[3], q[3];
        load_cell_corner(pair->a, cell, slice_edge_ends[i][0], p);
        load_cell_corner(pair->a, cell, slice_edge_ends[i][1], q);
        clear_corner(o->x[i]);
        compute_crossing_point(p, q, e[slice_edge_ends[i][0]], e[slice_edge_ends[i][1]], 3,
                               o->x[i]);
        o->side[i] = (int16_t)side[i];
    }
    o->n = n;
    return 1;
}

/* Slices a's tetrahedron by the plane of equal pressure. Where the fields are equal except for
 * rounding, the difference is set to 0, so that their common volume is on one side. -1: they are
 * equal in the whole tetrahedron. */
static int slice_by_equal_pressure_plane(const struct field_pair *pair,
                                         FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *ca,
                                         FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cb,
                                         struct outline *o, struct contact_surface_polygon *plane)
{
    int is_field_b_rigid = pair->b->is_rigid, equal_corners = 0;
    double e[4], pressure_gradient_difference[3],
        rounding = PRESSURE_ROUNDING_RATIO * pair->a->nodes[0].most;
    rotate_gradient(pair, cb, plane->gradient_b);
    double value_at_origin = cb->value_at_origin - tact_v3_dot(plane->gradient_b, pair->shift);
    for (int k = 0; k < 4; k++) {
        double corner[3];
        load_cell_corner(pair->a, ca, k, corner);
        e[k] = tact_v3_dot(plane->gradient_b, corner) + value_at_origin;
        if (!is_field_b_rigid) {
            e[k] -= pair->a->pressure[ca->corner[k]];
            e[k] = fabs(e[k]) <= rounding ? 0.0 : e[k];
            equal_corners += e[k] == 0.0;
        }
    }
    tact_v3_sub(pressure_gradient_difference, plane->gradient_b, plane->gradient_a);
    tact_v3_copy(plane->normal,
                 is_field_b_rigid ? plane->gradient_b : pressure_gradient_difference);
    plane->pressure_gradient_difference = tact_v3_normalize(plane->normal, plane->normal);
    return equal_corners == 4 ? -1 : slice_tetrahedron(pair, ca, e, o);
}

/* Transforms a rigid triangle of b to the frame of a. */
static void set_outline_to_rigid_triangle(const struct field_pair *pair,
                                          FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cb,
                                          struct outline *o, struct contact_surface_polygon *plane)
{
    for (int k = 0; k < 3; k++) {
        double corner[3];
        clear_corner(o->x[k]);
        load_cell_corner(pair->b, cb, k, corner);
        tact_m3_mul_v3(o->x[k], pair->rotation, corner);
        tact_v3_add(o->x[k], o->x[k], pair->shift);
        o->side[k] = (int16_t)(4 + k);
    }
    o->n = 3;
    rotate_gradient(pair, cb, plane->gradient_b);
    tact_v3_copy(plane->normal, plane->gradient_b);
    plane->pressure_gradient_difference = 1.0;
}

/* Cuts off the part of an outline where a's pressure is negative. */
static int clip_negative_pressure(struct outline *o, const struct contact_surface_polygon *plane)
{
    for (int i = 0; i < o->n; i++) {
        o->x[i][3] = tact_v3_dot(plane->gradient_a, o->x[i]) + plane->value_at_origin;
    }
    return clip_outline_by_plane(o, 0, 1, -1);
}

static int cut_pair_outline(const struct field_pair *pair,
                            FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *ca,
                            FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *cb,
                            struct outline *o, struct contact_surface_polygon *plane)
{
    double at[TACT_FIELD_MAX_POLYGON_CORNERS][3];
    int rc = 1;
    if (pair->b->kind == TACT_FIELD_RIGID) {
        set_outline_to_rigid_triangle(pair, cb, o, plane);
    } else {
        rc = slice_by_equal_pressure_plane(pair, ca, cb, o, plane);
    }
    if (rc <= 0) {
        return rc;
    }
    if (pair->b->kind == TACT_FIELD_TETS) {
        for (int i = 0; i < o->n; i++) {
            point_to_frame_of_b(pair, o->x[i], at[i]);
        }
        double slack = SLICE_IN_FACE_DISTANCE * pair->b->size;
        if (!compute_distances_from_cell_faces(o, pair->b, cb, (const double(*)[3])at, slack)) {
            return 0;
        }
        int in = find_cell_face_of_slice(o, slack);
        rc = (in < 0 || does_cell_own_slice_in_face(pair, cb, in, plane)) &&
             clip_outline_by_cell(o, cb, in, 4);
    } else if (pair->b->kind == TACT_FIELD_RIGID && pair->a->kind == TACT_FIELD_TETS) {
        for (int i = 0; i < o->n; i++) {
            tact_v3_copy(at[i], o->x[i]);
        }
        double slack = SLICE_IN_FACE_DISTANCE * pair->a->size;
        if (!compute_distances_from_cell_faces(o, pair->a, ca, (const double(*)[3])at, slack)) {
            return 0;
        }
        int in = find_cell_face_of_slice(o, slack);
        plane->is_polygon_in_cell_face = in >= 0 && ca->next[in] != TACT_FIELD_NO_CELL;
        rc = clip_outline_by_cell(o, ca, -1, 0);
    }
    return rc && (pair->a->kind == TACT_FIELD_HALFSPACE || ca->rim & 16)
               ? clip_negative_pressure(o, plane)
               : rc;
}

int tact_field_cut_contact_polygon(const struct field_pair *pair, uint32_t i, uint32_t j,
                                   struct contact_surface_polygon *polygon)
{
    FIELD_GLOBAL_ADDRESS_SPACE const struct field_cell *ca = &pair->a->cells[i],
                                                       *cb = &pair->b->cells[j];
    struct outline o;
    polygon->a = i;
    polygon->b = j;
    polygon->are_both_soft = !pair->b->is_rigid;
    polygon->is_polygon_in_cell_face = 0;
    polygon->sphere = NULL;
    polygon->value_at_origin = ca->value_at_origin;
    polygon->power = pair->a->power;
    load_vector_from_field_memory(polygon->gradient_a, ca->gradient);
    int rc = cut_pair_outline(pair, ca, cb, &o, polygon);
    polygon->corners = rc > 0 ? o.n : 0;
    for (int k = 0; k < polygon->corners; k++) {
        polygon->side[k] = o.side[k];
        tact_v3_copy(polygon->corner[k], o.x[k]);
    }
    return rc;
}

static void compute_polygon_moments(struct contact_surface_polygon *p)
{
    double u[3], w[3], across[3];
    p->area_moments.area = 0.0;
    tact_v3_set(p->area_moments.first, 0.0, 0.0, 0.0);
    for (int k = 0; k < 9; k++) {
        p->area_moments.second[k] = 0.0;
    }
    tact_v3_sub(w, p->corner[1], p->corner[0]);
    for (int i = 2; i < p->corners; i++) {
        tact_v3_copy(u, w);
        tact_v3_sub(w, p->corner[i], p->corner[0]);
        tact_v3_cross(across, u, w);
        double area = 0.5 * tact_v3_dot(across, p->normal), t[3];
        tact_v3_add(t, u, w);
        p->area_moments.area += area;
        tact_v3_axpy(p->area_moments.first, area * (1.0 / 3.0), t);
        for (int k = 0; k < 9; k++) {
            int r = k / 3, c = k % 3;
            p->area_moments.second[k] +=
                area * (1.0 / 12.0) * (u[r] * u[c] + w[r] * w[c] + t[r] * t[c]);
        }
    }
    double sign = p->area_moments.area < 0.0 ? -1.0 : 1.0;
    p->area_moments.area *= sign;
    tact_v3_scale(p->area_moments.first, p->area_moments.first, sign);
    for (int k = 0; k < 9; k++) {
        p->area_moments.second[k] *= sign;
    }
}

void tact_field_integrate_linear(struct contact_surface_polygon *p)
{
    compute_polygon_moments(p);
    p->level = p->value_at_origin + tact_v3_dot(p->gradient_a, p->corner[0]);
    p->load = p->level * p->area_moments.area + tact_v3_dot(p->gradient_a, p->area_moments.first);
    tact_m3_mul_v3(p->lever, p->area_moments.second, p->gradient_a);
    tact_v3_axpy(p->lever, p->level, p->area_moments.first);
}

void tact_field_store_cut(const struct contact_surface_polygon *p,
                          FIELD_GLOBAL_ADDRESS_SPACE struct field_cut *out)
{
    for (int k = 0; k < p->corners; k++) {
        store_vector_in_field_memory(out->corner[k], p->corner[k]);
        out->side[k] = p->side[k];
    }
    store_vector_in_field_memory(out->normal, p->normal);
    store_vector_in_field_memory(out->gradient_b, p->gradient_b);
    out->pressure_gradient_difference = p->pressure_gradient_difference;
    out->level = p->level;
    out->area_moments = p->area_moments;
    out->load = p->load;
    store_vector_in_field_memory(out->lever, p->lever);
    out->corners = p->corners;
    out->is_polygon_in_cell_face = p->is_polygon_in_cell_face;
}
