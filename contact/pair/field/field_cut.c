/*
 * The polygon of two cells. Two soft ones touch in the plane where their pressures are equal: it
 * slices the tetrahedron of a, and the faces of b's cut the slice. A rigid triangle is cut by the
 * faces of a's.
 *
 * A polygon exactly in a face belongs to one of its two cells: the plane of a face has the same
 * numbers for both, 0 counts as its positive side, and crossing points are computed from the
 * positive end.
 */
#include <math.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

#define SAME 1e-13 /* difference of two pressures, over the largest, that is rounding */
#define SLICE_IN_FACE_DISTANCE                                                                     \
    1e-12 /* distance from a face, over the size, within which a slice lies in it */
#define LEVEL_CHANGE_TOLERANCE                                                                     \
    1e-9 /* change of the difference of two pressures, over their slopes, that counts as zero */

enum { SIDES = 5 }; /* four faces, and the plane of zero pressure */

/* A polygon with the distances of its corners from the cutting planes. */
struct outline {
    int n;
    double x[TACT_FIELD_CORNERS][3 + SIDES];
    int16_t side[TACT_FIELD_CORNERS];
};

void tact_field_place_pair(struct field_pair *pair, const struct tact_pressure_field *a,
                           const struct tact_pose *pose_a, const struct tact_pressure_field *b,
                           const struct tact_pose *pose_b)
{
    double from[9], to[9], between[3];
    pair->a = a;
    pair->b = b;
    tact_quat_to_m3(from, pose_b->quat_wxyz);
    tact_quat_to_m3(to, pose_a->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        int r = i / 3, c = i % 3;
        pair->turn[i] = to[r] * from[c] + to[3 + r] * from[3 + c] + to[6 + r] * from[6 + c];
        pair->size[i] = fabs(pair->turn[i]);
    }
    tact_v3_sub(between, pose_b->position, pose_a->position);
    tact_m3_tmul_v3(pair->shift, to, between);
}

static const double *cell_corner(const struct tact_pressure_field *field,
                                 const struct field_cell *cell, int k)
{
    return field->vertices + 3 * (size_t)cell->corner[k];
}

/* Transforms a point of a to the frame of b. */
static void point_to_frame_of_b(const struct field_pair *pair, const double *x, double *out)
{
    double from[3];
    tact_v3_sub(from, x, pair->shift);
    tact_m3_tmul_v3(out, pair->turn, from);
}

/* Crossing point of the segment from corner p, on the positive side of a plane, to q. */
static void compute_crossing_point(const double *p, const double *q, double distance_p,
                                   double distance_q, int numbers, double *out)
{
    double share = distance_p / (distance_p - distance_q);
    for (int i = 0; i < numbers; i++) {
        out[i] = p[i] + share * (q[i] - p[i]);
    }
}

/* Keeps the part on the positive side of plane number c, or on the other (Sutherland-Hodgman).
 * Returns 0 where nothing remains. */
static int clip_outline_by_plane(struct outline *o, int c, int keeps_positive_side, int label)
{
    struct outline in;
    int m = 0;
    in.n = o->n;
    memcpy(in.x, o->x, (size_t)in.n * sizeof in.x[0]);
    memcpy(in.side, o->side, (size_t)in.n * sizeof *in.side);
    for (int i = 0; i < in.n; i++) {
        int j = i + 1 < in.n ? i + 1 : 0;
        double vi = in.x[i][3 + c], vj = in.x[j][3 + c];
        int here = (vi >= 0.0) == keeps_positive_side, there = (vj >= 0.0) == keeps_positive_side;
        if (m + 2 > TACT_FIELD_CORNERS) {
            o->n = 0; /* all of it is within rounding of an edge */
            return 0;
        }
        if (here) {
            memcpy(o->x[m], in.x[i], sizeof in.x[i]);
            o->side[m++] = in.side[i];
        }
        if (here != there) {
            int up = vi >= 0.0;
            compute_crossing_point(in.x[up ? i : j], in.x[up ? j : i], up ? vi : vj, up ? vj : vi,
                                   3 + SIDES, o->x[m]);
            o->x[m][3 + c] = 0.0;
            o->side[m++] = (int16_t)(here ? label : in.side[i]);
        }
    }
    o->n = m;
    return m > 2;
}

static int has_corners_on_side(const struct outline *o, int c, int keeps_positive_side)
{
    int inside = 0;
    for (int i = 0; i < o->n; i++) {
        inside += (o->x[i][3 + c] >= 0.0) == keeps_positive_side;
    }
    return inside == o->n ? 2 : inside > 0;
}

/* 1 where a slice in face c of b's cell belongs to this cell: the contact surface is where the
 * difference of pressures changes from negative to 0 or positive, and belongs to the negative side.
 * It may be 0 on all of the other side, where the fields are equal. */
static int belongs_to_cell_below(const struct field_pair *pair, const struct field_cell *cb, int c,
                                 const struct field_polygon *plane)
{
    double in[3], beyond[3], differ[3];
    tact_m3_mul_v3(in, pair->turn, pair->b->faces[cb->face[c]]);
    tact_v3_scale(in, in, cb->inside >> c & 1 ? 1.0 : -1.0);
    tact_v3_sub(differ, plane->slope_b, plane->slope_a);
    if (tact_v3_dot(differ, in) >= 0.0 || cb->next[c] == TACT_FIELD_NO_CELL) {
        return tact_v3_dot(differ, in) < 0.0;
    }
    tact_m3_mul_v3(beyond, pair->turn, pair->b->cells[cb->next[c]].gradient);
    tact_v3_sub(differ, beyond, plane->slope_a);
    double steep = tact_v3_norm(beyond) + tact_v3_norm(plane->slope_a);
    return tact_v3_dot(differ, in) <= LEVEL_CHANGE_TOLERANCE * steep;
}

/* The face of the cell that contains the whole slice; -1: none. */
static int face_containing_slice(const struct outline *o, double slack)
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

/* Sets the distances of the corners from the faces of a cell. to: their positions in the frame of
 * its field. Returns 0 where all are outside a face by more than slack. */
static int compute_face_distances(struct outline *o, const struct tact_pressure_field *field,
                                  const struct field_cell *cell, const double (*to)[3],
                                  double slack)
{
    for (int c = 0; c < 4; c++) {
        const double *plane = field->faces[cell->face[c]];
        double sign = cell->inside >> c & 1 ? 1.0 : -1.0, most = -INFINITY;
        for (int i = 0; i < o->n; i++) {
            o->x[i][3 + c] = tact_v3_dot(plane, to[i]) - plane[3];
            most = tact_max(most, sign * o->x[i][3 + c]);
        }
        if (most < -slack) {
            return 0;
        }
    }
    return 1;
}

/* Cuts by the faces of a cell except `in`; label is that of its first. */
static int clip_by_cell(struct outline *o, const struct field_cell *cell, int in, int label)
{
    for (int c = 0; c < 4; c++) {
        if (c != in && !has_corners_on_side(o, c, cell->inside >> c & 1)) {
            return 0;
        }
    }
    for (int c = 0; c < 4; c++) {
        if (c != in && has_corners_on_side(o, c, cell->inside >> c & 1) < 2 &&
            !clip_outline_by_plane(o, c, cell->inside >> c & 1, label + c)) {
            return 0;
        }
    }
    return o->n > 2;
}

/* The slice of a's tetrahedron where e is 0. */
static int slice(const struct field_pair *pair, const struct field_cell *cell, const double *e,
                 struct outline *o)
{
    static const int other_corners[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    int up[4], down[4], ups = 0, downs = 0;
    for (int k = 0; k < 4; k++) {
        if (e[k] >= 0.0) {
            up[ups++] = k;
        } else {
            down[downs++] = k;
        }
    }
    if (!ups || !downs) {
        return 0;
    }
    int ends[4][2], side[4], n = ups == 2 ? 4 : 3;
    if (n == 3) {
        int corner_alone_on_side = ups == 1 ? up[0] : down[0];
        for (int i = 0; i < 3; i++) {
            ends[i][0] = ups == 1 ? corner_alone_on_side : other_corners[corner_alone_on_side][i];
            ends[i][1] = ups == 1 ? other_corners[corner_alone_on_side][i] : corner_alone_on_side;
            side[i] = other_corners[corner_alone_on_side]
                                   [(i + 2) % 3]; /* opposite to the corner that neither edge has */
        }
    } else {
        const int way[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}};
        for (int i = 0; i < 4; i++) {
            ends[i][0] = up[way[i][0]];
            ends[i][1] = down[way[i][1]];
            side[i] = i % 2 ? down[1 - way[i][1]] : up[1 - way[i][0]];
        }
    }
    for (int i = 0; i < n; i++) {
        const double *p = cell_corner(pair->a, cell, ends[i][0]);
        const double *q = cell_corner(pair->a, cell, ends[i][1]);
        memset(o->x[i], 0, sizeof o->x[i]);
        compute_crossing_point(p, q, e[ends[i][0]], e[ends[i][1]], 3, o->x[i]);
        o->side[i] = (int16_t)side[i];
    }
    o->n = n;
    return 1;
}

/* Slices by the plane of equal pressure. Where the fields are equal except for rounding, the
 * difference is set to 0, so that their common volume is on one side. -1: they are equal in all of
 * it. */
static int slice_by_equal_pressure_plane(const struct field_pair *pair, const struct field_cell *ca,
                                         const struct field_cell *cb, struct outline *o,
                                         struct field_polygon *plane)
{
    int hard = pair->b->rigid, same = 0;
    double e[4], differ[3], rounding = SAME * pair->a->nodes[0].most;
    tact_m3_mul_v3(plane->slope_b, pair->turn, cb->gradient);
    double base = cb->base - tact_v3_dot(plane->slope_b, pair->shift);
    for (int k = 0; k < 4; k++) {
        e[k] = tact_v3_dot(plane->slope_b, cell_corner(pair->a, ca, k)) + base;
        if (!hard) {
            e[k] -= pair->a->pressure[ca->corner[k]];
            e[k] = fabs(e[k]) <= rounding ? 0.0 : e[k];
            same += e[k] == 0.0;
        }
    }
    tact_v3_sub(differ, plane->slope_b, ca->gradient);
    tact_v3_copy(plane->normal, hard ? plane->slope_b : differ);
    plane->apart = tact_v3_normalize(plane->normal, plane->normal);
    return same == 4 ? -1 : slice(pair, ca, e, o);
}

/* The triangle of b in the frame of a. */
static void triangle_in_a(const struct field_pair *pair, const struct field_cell *cb,
                          struct outline *o, struct field_polygon *plane)
{
    for (int k = 0; k < 3; k++) {
        memset(o->x[k], 0, sizeof o->x[k]);
        tact_m3_mul_v3(o->x[k], pair->turn, cell_corner(pair->b, cb, k));
        tact_v3_add(o->x[k], o->x[k], pair->shift);
        o->side[k] = (int16_t)(4 + k);
    }
    o->n = 3;
    tact_m3_mul_v3(plane->slope_b, pair->turn, cb->gradient);
    tact_v3_copy(plane->normal, plane->slope_b);
    plane->apart = 1.0;
}

/* Cuts off the part with negative pressure in a. */
static int clip_negative_pressure(struct outline *o, const struct field_polygon *plane)
{
    for (int i = 0; i < o->n; i++) {
        o->x[i][3] = tact_v3_dot(plane->slope_a, o->x[i]) + plane->base;
    }
    return clip_outline_by_plane(o, 0, 1, -1);
}

static int cut_pair_outline(const struct field_pair *pair, const struct field_cell *ca,
                            const struct field_cell *cb, struct outline *o,
                            struct field_polygon *plane)
{
    double at[TACT_FIELD_CORNERS][3];
    int rc = 1;
    if (pair->b->kind == TACT_FIELD_RIGID) {
        triangle_in_a(pair, cb, o, plane);
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
        if (!compute_face_distances(o, pair->b, cb, (const double(*)[3])at, slack)) {
            return 0;
        }
        int in = face_containing_slice(o, slack);
        rc = (in < 0 || belongs_to_cell_below(pair, cb, in, plane)) && clip_by_cell(o, cb, in, 4);
    } else if (pair->b->kind == TACT_FIELD_RIGID && pair->a->kind == TACT_FIELD_TETS) {
        for (int i = 0; i < o->n; i++) {
            tact_v3_copy(at[i], o->x[i]);
        }
        double slack = SLICE_IN_FACE_DISTANCE * pair->a->size;
        if (!compute_face_distances(o, pair->a, ca, (const double(*)[3])at, slack)) {
            return 0;
        }
        int in = face_containing_slice(o, slack);
        plane->in_face = in >= 0 && ca->next[in] != TACT_FIELD_NO_CELL;
        rc = clip_by_cell(o, ca, -1, 0);
    }
    return rc && (pair->a->kind == TACT_FIELD_PLANE || ca->rim & 16)
               ? clip_negative_pressure(o, plane)
               : rc;
}

int tact_field_cut_cells(const struct field_pair *pair, uint32_t i, uint32_t j,
                         struct field_polygon *polygon)
{
    const struct field_cell *ca = &pair->a->cells[i], *cb = &pair->b->cells[j];
    struct outline o;
    polygon->a = i;
    polygon->b = j;
    polygon->soft = !pair->b->rigid;
    polygon->in_face = 0;
    polygon->sphere = NULL;
    polygon->base = ca->base;
    polygon->power = pair->a->power;
    tact_v3_copy(polygon->slope_a, ca->gradient);
    int rc = cut_pair_outline(pair, ca, cb, &o, polygon);
    polygon->corners = rc > 0 ? o.n : 0;
    memcpy(polygon->side, o.side, (size_t)polygon->corners * sizeof *o.side);
    for (int k = 0; k < polygon->corners; k++) {
        tact_v3_copy(polygon->corner[k], o.x[k]);
    }
    return rc;
}
