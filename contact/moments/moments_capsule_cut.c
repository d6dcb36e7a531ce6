/* Parts of a face within the three parts of a capsule: convex polygons cut by a cylinder or a half
 * ball. */
#include <string.h>

#include "contact/elementary.h"
#include "contact/moments/moments_capsule_internal.h"

/* Most corners of a face of 4 corners after two cuts. */
enum { CORNERS = 6 };

/* A convex polygon in a part of a capsule; edge i runs from corner i to the next. */
struct polygon {
    int count;
    int edge_created_by_cut; /* index of the polygon's edge that a cut has created, or -1 */
    double corner[CORNERS][3];
};

/* The part of an edge within the half ball or cylinder of a capsule. */
struct inside_edge_part {
    int edge;
    int starts_on_capsule_surface, ends_on_surface; /* 1: that end of the edge's part is on the
                                               capsule's surface, not at a corner */
    double from[3], to[3];
};

static void interpolate_between_points(const double *p, const double *q, double s, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = p[k] + s * (q[k] - p[k]);
    }
}

/* Length |p x e| of a cross product in the metric of the capsule part's surface. */
static double metric_cross_product(const struct tact_capsule_face_cut *c, const double *p,
                                   const double *e)
{
    double m[3];
    if (c->part == TACT_CAPSULE_MIDDLE) {
        return fabs(p[0] * e[1] - p[1] * e[0]);
    }
    tact_v3_cross(m, p, e);
    return tact_v3_norm(m);
}

/* Crossings of the line through p and q with the surface, from p: the first where p is outside,
 * and the last where q is; p_squared_minus_radius_squared and q_squared_minus_radius_squared: p.p
 * and q.q less the squared radius. Returns 0 where they are not in this order between p and q. */
static int line_capsule_surface_crossings(const struct tact_capsule_face_cut *c, const double *p,
                                          const double *q, double p_squared_minus_radius_squared,
                                          double q_squared_minus_radius_squared, double from[3],
                                          double to[3])
{
    double e[3], s[2];
    tact_v3_sub(e, q, p);
    double ee = tact_capsule_dot(c, e, e), pe = tact_capsule_dot(c, p, e);
    if ((p_squared_minus_radius_squared > 0.0 && pe >= 0.0) ||
        (q_squared_minus_radius_squared > 0.0 && pe + ee <= 0.0)) {
        return 0;
    }
    double radius_times_edge_length = c->radius * sqrt(ee), m = metric_cross_product(c, p, e),
           square = (radius_times_edge_length - m) * (radius_times_edge_length + m);
    if (!(square > 0.0)) {
        return 0;
    }
    double root_of_crossing_discriminant = sqrt(square);
    /* Root of a quadratic equation, by that of its two formulas in which no digits cancel. */
    s[0] = p_squared_minus_radius_squared > 0.0
               ? p_squared_minus_radius_squared / (root_of_crossing_discriminant - pe)
               : 0.0;
    s[1] = !(q_squared_minus_radius_squared > 0.0) ? 1.0
           : pe > 0.0 ? -p_squared_minus_radius_squared / (pe + root_of_crossing_discriminant)
                      : (root_of_crossing_discriminant - pe) / ee;
    s[1] = tact_min(s[1], 1.0);
    if (!(s[0] < s[1])) {
        return 0;
    }
    interpolate_between_points(p, q, s[0], from);
    interpolate_between_points(p, q, s[1], to);
    return 1;
}

/* The part of the edge p q within the surface. Its ends are bit for bit the same for both faces
 * that share an edge: a gap along it would count as much as rounding of coordinates over the depth.
 * Returns 0 where there is none. */
static int clip_edge_to_surface(const struct tact_capsule_face_cut *c, const double *p,
                                const double *q, double p_squared_minus_radius_squared,
                                double q_squared_minus_radius_squared, struct inside_edge_part *out)
{
    int k = 0, any = 1;
    out->starts_on_capsule_surface = p_squared_minus_radius_squared > 0.0;
    out->ends_on_surface = q_squared_minus_radius_squared > 0.0;
    while (k < 2 && p[k] == q[k]) {
        k++;
    }
    if (out->starts_on_capsule_surface || out->ends_on_surface) {
        any = p[k] < q[k] ? line_capsule_surface_crossings(c, p, q, p_squared_minus_radius_squared,
                                                           q_squared_minus_radius_squared,
                                                           out->from, out->to)
                          : line_capsule_surface_crossings(c, q, p, q_squared_minus_radius_squared,
                                                           p_squared_minus_radius_squared, out->to,
                                                           out->from);
    }
    if (!out->starts_on_capsule_surface) {
        tact_v3_copy(out->from, p);
    }
    if (!out->ends_on_surface) {
        tact_v3_copy(out->to, q);
    }
    return any;
}

/* Angle from p to q about the centre of the conic in which a face's plane cuts the capsule. */
static double angle_at_conic_centre(const struct tact_capsule_face_cut *c, const double *p,
                                    const double *q)
{
    double centre = c->part == TACT_CAPSULE_MIDDLE ? 0.0 : c->distance * c->distance;
    double scaled_sine_of_conic_angle = tact_capsule_cross(c, p, q);
    if (c->part == TACT_CAPSULE_MIDDLE && c->normal[2] != 0.0) {
        scaled_sine_of_conic_angle /= fabs(c->normal[2]);
    }
    return tact_atan2(scaled_sine_of_conic_angle, tact_capsule_dot(c, p, q) - centre);
}

/* Distance of the ends of an arc, over the size of the conic, below which the arc is either nearly
 * nothing or nearly all of the conic: the corners between decide which. */
static const double NEARLY_CLOSED_ARC_RATIO = 1e-3;

/* 1 where the arc between the parts of two edges is more than half of the conic. */
static int
is_arc_between_edges_over_half_conic(const struct tact_capsule_face_cut *c, const struct polygon *p,
                                     const struct inside_edge_part *previous_inside_edge_part,
                                     const struct inside_edge_part *next_inside_edge_part)
{
    double conic_arc_chord[3], sum = 0.0;
    const double *from = previous_inside_edge_part->to;
    tact_v3_sub(conic_arc_chord, next_inside_edge_part->from, previous_inside_edge_part->to);
    if (tact_capsule_dot(c, conic_arc_chord, conic_arc_chord) >
        NEARLY_CLOSED_ARC_RATIO * NEARLY_CLOSED_ARC_RATIO * c->face_conic_radius *
            c->face_conic_radius) {
        return tact_capsule_cross(c, previous_inside_edge_part->to, next_inside_edge_part->from) <
               0.0;
    }
    int edge = previous_inside_edge_part->edge;
    do {
        edge = (edge + 1) % p->count;
        sum += angle_at_conic_centre(c, from, p->corner[edge]);
        from = p->corner[edge];
    } while (edge != next_inside_edge_part->edge);
    return sum + angle_at_conic_centre(c, from, next_inside_edge_part->from) > 3.0;
}

/* Adds the whole conic where its centre, and therefore all of it, is in the polygon. */
static void add_conic_inside_polygon(struct tact_capsule_face_cut *c, const struct polygon *polygon)
{
    double p[3], q[3], t1[3], t2[3];
    const double *n = c->normal;
    for (int i = 0; i < polygon->count; i++) {
        const double *a = polygon->corner[i], *b = polygon->corner[(i + 1) % polygon->count];
        if (!(tact_capsule_cross(c, a, b) > 0.0)) {
            return;
        }
    }
    tact_v3_tangents(n, t1, t2);
    if (c->part == TACT_CAPSULE_MIDDLE) { /* direction across the slope of the face, where both ends
                                             have the same height */
        double slope = sqrt(n[0] * n[0] + n[1] * n[1]);
        tact_v3_set(t1, slope > 0.0 ? -n[1] / slope : 1.0, slope > 0.0 ? n[0] / slope : 0.0, 0.0);
        tact_v3_set(p, 0.0, 0.0, c->distance / n[2]);
    } else {
        tact_v3_scale(p, n, c->distance);
    }
    tact_v3_copy(q, p);
    tact_v3_axpy(p, c->face_conic_radius, t1);
    tact_v3_axpy(q, -c->face_conic_radius, t1);
    tact_capsule_add_arc(c, p, q, 0);
    tact_capsule_add_arc(c, q, p, 0);
}

/* Adds the part of an edge in the plane between the cylinder and a half ball. */
static void add_edge_part_to_end_section(struct tact_capsule_end_plane_section *s, const double *p,
                                         const double *q)
{
    double twice_area = p[0] * q[1] - p[1] * q[0];
    s->circle_angle += tact_atan2(twice_area, p[0] * q[0] + p[1] * q[1]);
    s->twice_area += twice_area;
    for (int k = 0; k < 2; k++) {
        s->first[k] += 0.5 * twice_area * (p[k] + q[k]);
        s->along[k] += q[k] - p[k];
    }
}

/* Adds the part of a polygon inside, given the inner parts of its edges: the polygon of their ends
 * and the segments of the conic between them. */
static void add_polygon_part_inside_conic(struct tact_capsule_face_cut *c, const struct polygon *p,
                                          const struct inside_edge_part *part, int count)
{
    const double *first = part[0].from;
    for (int i = 0; i < count; i++) {
        const struct inside_edge_part *edge_part_inside_conic = &part[i],
                                      *next = &part[i + 1 < count ? i + 1 : 0];
        int do_edge_parts_meet_at_corner =
            !next->starts_on_capsule_surface &&
            next->edge == (edge_part_inside_conic->edge + 1 < p->count
                               ? edge_part_inside_conic->edge + 1
                               : 0);
        if (i > 0 && !(do_edge_parts_meet_at_corner && i + 1 == count)) {
            tact_capsule_add_triangle(c, first, edge_part_inside_conic->from,
                                      edge_part_inside_conic->to);
        }
        if (do_edge_parts_meet_at_corner) {
            continue; /* at a corner */
        }
        tact_capsule_add_arc(
            c, edge_part_inside_conic->to, next->from,
            is_arc_between_edges_over_half_conic(c, p, edge_part_inside_conic, next));
        if (i + 1 < count) {
            tact_capsule_add_triangle(c, first, edge_part_inside_conic->to, next->from);
        }
    }
}

/* Adds a face polygon whose corners are all inside the capsule's part. */
static void add_polygon_inside_capsule_part(struct tact_capsule_face_cut *c,
                                            const struct polygon *p)
{
    for (int i = 1; i + 1 < p->count; i++) {
        tact_capsule_add_triangle(c, p->corner[0], p->corner[i], p->corner[i + 1]);
    }
}

/* Adds the part of a polygon's edge that lies in the plane between cylinder and half ball. */
static void add_edge_in_capsule_end_plane(struct tact_capsule_sums *sums, int index,
                                          const double *p, const double *q)
{
    if (index == TACT_CAPSULE_UPPER) {
        add_edge_part_to_end_section(&sums->slices_at_axis_ends[index], p, q);
    } else if (index == TACT_CAPSULE_LOWER) {
        add_edge_part_to_end_section(&sums->slices_at_axis_ends[index], q, p);
    }
}

/* Adds the part inside the capsule of a face polygon with corners outside.
 * squared_distance_minus_radius_squared: of each corner, p.p less the squared radius. */
static void add_face_polygon_cut_by_conic(struct tact_capsule_face_cut *c, const struct polygon *p,
                                          const double *squared_distance_minus_radius_squared,
                                          struct tact_capsule_sums *sums)
{
    struct inside_edge_part part[CORNERS];
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        int next = i + 1 < p->count ? i + 1 : 0;
        if (clip_edge_to_surface(c, p->corner[i], p->corner[next],
                                 squared_distance_minus_radius_squared[i],
                                 squared_distance_minus_radius_squared[next], &part[count])) {
            if (i == p->edge_created_by_cut) {
                add_edge_in_capsule_end_plane(sums, c->part, part[count].from, part[count].to);
            }
            part[count++].edge = i;
        }
    }
    if (count > 0) {
        add_polygon_part_inside_conic(c, p, part, count);
    } else {
        add_conic_inside_polygon(c, p);
    }
}

/* Adds the part of a polygon within a part of the capsule; distance: of its plane from the part's
 * origin. */
static void add_polygon_to_capsule_part(struct tact_capsule_sums *sums, int index,
                                        const struct polygon *p, const double normal[3],
                                        double distance)
{
    double radius = sums->radius, squared_distance_minus_radius_squared[CORNERS];
    int any = 0;
    struct tact_capsule_face_cut c = {.part = index,
                                      .radius = radius,
                                      .distance = distance,
                                      .face_conic_radius = radius,
                                      .faces = &sums->faces[index]};
    tact_v3_copy(c.normal, normal);
    if (index != TACT_CAPSULE_MIDDLE) {
        if (!(fabs(distance) < radius)) {
            return;
        }
        c.face_conic_radius = sqrt((radius - fabs(distance)) * (radius + fabs(distance)));
    }
    for (int i = 0; i < p->count; i++) {
        squared_distance_minus_radius_squared[i] =
            tact_capsule_dot(&c, p->corner[i], p->corner[i]) - radius * radius;
        any |= squared_distance_minus_radius_squared[i] > 0.0;
    }
    if (any) {
        add_face_polygon_cut_by_conic(&c, p, squared_distance_minus_radius_squared, sums);
    } else {
        if (p->edge_created_by_cut >= 0) {
            int next = p->edge_created_by_cut + 1 < p->count ? p->edge_created_by_cut + 1 : 0;
            add_edge_in_capsule_end_plane(sums, index, p->corner[p->edge_created_by_cut],
                                          p->corner[next]);
        }
        add_polygon_inside_capsule_part(&c, p);
    }
    for (int i = 0; i < 3; i++) {
        c.faces->area[i] += c.first[3] * normal[i];
        for (int k = 0; k < 3; k++) {
            c.faces->normal_position_moment[3 * i + k] += normal[i] * c.first[k];
        }
    }
}

static void append_polygon_corner(struct polygon *p, const double *r)
{
    tact_v3_copy(p->corner[p->count++], r);
}

/* Cuts a face polygon at a height of the capsule. Corners at that height belong to the upper part.
 * The crossing of an edge is the same for both faces that share it. */
static void split_polygon_at_height(const struct polygon *p, double height,
                                    struct polygon *face_polygon_above_height,
                                    struct polygon *face_polygon_below_height)
{
    face_polygon_above_height->count = face_polygon_below_height->count = 0;
    face_polygon_above_height->edge_created_by_cut =
        face_polygon_below_height->edge_created_by_cut = -1;
    for (int i = 0; i < p->count; i++) {
        const double *a = p->corner[i], *b = p->corner[(i + 1) % p->count];
        int up = a[2] >= height;
        append_polygon_corner(up ? face_polygon_above_height : face_polygon_below_height, a);
        if (up == (b[2] >= height)) {
            continue;
        }
        const double *low = up ? b : a, *high = up ? a : b;
        double r[3];
        interpolate_between_points(low, high, (height - low[2]) / (high[2] - low[2]), r);
        r[2] = height;
        (up ? face_polygon_above_height : face_polygon_below_height)->edge_created_by_cut =
            (up ? face_polygon_above_height : face_polygon_below_height)->count;
        append_polygon_corner(face_polygon_above_height, r);
        append_polygon_corner(face_polygon_below_height, r);
    }
}

/* The capsule's part that contains a whole face polygon, consistent with
 * split_polygon_at_height(), or -1.
 */
static int part_containing_polygon(const struct polygon *p, double half)
{
    int corners_above_capsule_middle = 0, corners_below_capsule_middle = 0;
    for (int i = 0; i < p->count; i++) {
        corners_above_capsule_middle += p->corner[i][2] >= half;
        corners_below_capsule_middle += p->corner[i][2] < -half;
    }
    return corners_above_capsule_middle == p->count                           ? TACT_CAPSULE_UPPER
           : corners_below_capsule_middle == p->count                         ? TACT_CAPSULE_LOWER
           : corners_above_capsule_middle + corners_below_capsule_middle == 0 ? TACT_CAPSULE_MIDDLE
                                                                              : -1;
}

/* Adds what is left of a face in one part of the capsule; coordinates are from the capsule's
 * centre. */
static void cut_polygon_from_part_origin(struct tact_capsule_sums *sums, int index,
                                         struct polygon *p, const double normal[3], double distance)
{
    if (p->count < 3) {
        return;
    }
    if (index == TACT_CAPSULE_MIDDLE && isnan(sums->middle)) {
        sums->middle = p->corner[0][2];
    }
    double origin = index == TACT_CAPSULE_UPPER   ? sums->half
                    : index == TACT_CAPSULE_LOWER ? -sums->half
                                                  : sums->middle;
    for (int i = 0; i < p->count; i++) {
        p->corner[i][2] -= origin;
    }
    add_polygon_to_capsule_part(sums, index, p, normal, distance - normal[2] * origin);
}

/* 1 where an end of the capsule's axis, given by its height, is within tolerance of a face. */
static int is_axis_end_near_face(const struct tact_capsule_sums *sums, double (*corner)[3],
                                 int corners, const double normal[3], double distance, double end)
{
    double foot_of_axis_end_on_plane[3], e[3], f[3], c[3], off = distance - normal[2] * end;
    if (fabs(off) > sums->tolerance) {
        return 0;
    }
    tact_v3_scale(foot_of_axis_end_on_plane, normal, off);
    foot_of_axis_end_on_plane[2] += end;
    for (int i = 0; i < corners; i++) {
        tact_v3_sub(e, corner[(i + 1) % corners], corner[i]);
        tact_v3_sub(f, foot_of_axis_end_on_plane, corner[i]);
        tact_v3_cross(c, e, f);
        if (tact_v3_dot(c, normal) < -sums->tolerance * tact_v3_norm(e)) {
            return 0;
        }
    }
    return 1;
}

TACT_DISPATCH_BY_CPU(void, tact_capsule_add_face,
                     (struct tact_capsule_sums * sums, double (*corner)[3], int corners),
                     (sums, corner, corners))
{
    struct polygon face_polygon = {.count = corners, .edge_created_by_cut = -1}, upper, rest,
                   middle, lower;
    double half = sums->half, e[3], f[3], normal[3];
    tact_v3_sub(e, corner[1], corner[0]);
    tact_v3_sub(f, corner[2], corner[0]);
    tact_v3_cross(normal, e, f);
    double twice_area = tact_v3_normalize(normal, normal),
           distance = tact_v3_dot(normal, corner[0]);
    if (!(twice_area > 0.0) || fabs(distance) >= sums->radius + fabs(normal[2]) * half) {
        return;
    }
    sums->has_face_within_end_tolerance |=
        is_axis_end_near_face(sums, corner, corners, normal, distance, half) ||
        is_axis_end_near_face(sums, corner, corners, normal, distance, -half);
    sums->was_face_cut_by_capsule = 1;
    memcpy(face_polygon.corner, corner, (size_t)corners * sizeof *corner);
    int capsule_part_with_polygon = part_containing_polygon(&face_polygon, half);
    if (capsule_part_with_polygon >= 0) {
        cut_polygon_from_part_origin(sums, capsule_part_with_polygon, &face_polygon, normal,
                                     distance);
        return;
    }
    split_polygon_at_height(&face_polygon, half, &upper, &rest);
    split_polygon_at_height(&rest, -half, &middle, &lower);
    cut_polygon_from_part_origin(sums, TACT_CAPSULE_UPPER, &upper, normal, distance);
    cut_polygon_from_part_origin(sums, TACT_CAPSULE_LOWER, &lower, normal, distance);
    cut_polygon_from_part_origin(sums, TACT_CAPSULE_MIDDLE, &middle, normal, distance);
}
