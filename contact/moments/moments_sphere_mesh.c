/*
 * A ball or an ellipsoid with a closed mesh, in closed form. With the origin at the ball's centre
 * o, every triangle t of the mesh (unit normal n, signed distance h of its plane) has a part D
 * inside the ball, and
 *
 *   V = (o inside ? volume of the ball : 0) - sum over t of sign(h) W(D),
 *
 * with W the volume between D and the sphere within the cone from o through D. This is the
 * divergence theorem with the sphere's part of the boundary measured by solid angles, where the
 * solid angle of the whole mesh is 4 pi or 0. Only triangles that reach into the ball contribute,
 * and no term is larger than the overlap by more than its shape requires. First and second moments
 * follow from the divergence of r x and of r x x; all need only the area, first and second moment
 * of D about the foot of o on the plane. Those are computed along the triangle's edges: inside the
 * disc an edge adds a triangle (foot, p, q), outside it adds a sector of the disc.
 *
 * The linear map that takes an ellipsoid to the ball of radius 1 keeps planes: the mesh is mapped,
 * and the moments are mapped back.
 */
#include <string.h>

#include "contact/elementary_internal.h"
#include "contact/moments/moments_inside_internal.h"
#include "contact/moments/moments_internal.h"
#include "contact/moments/moments_round_internal.h"

static const double PI = 3.14159265358979323846;

/* Distance of a ball's centre to an edge, over the radius, below which angles about the centre
 * lose their digits; the centre is then displaced by twice as much. */
static const double NEAR_EDGE_TOLERANCE = 1e-8;

/* Distance of the centre of an ellipsoid from a plane, over its radius along that normal, below
 * which rounding of the map might place it on the other side. */
static const double MIN_CENTRE_DISTANCE_TO_SIDE = 1e-6;

/* The disc in which a triangle's plane cuts the ball, and integrals over the part D of the disc in
 * the triangle, about the disc's centre.
 */
struct disc {
    double radius;              /* radius of the ball */
    double distance;            /* distance of the plane from the ball's centre o, >= 0 */
    double depth;               /* radius - distance, > 0 */
    double squared_disc_radius; /* squared radius of the disc that a plane cuts out of the ball */
    double area;
    double first[2];
    double cap_volume_over_disc;      /* W(D) [m^3] */
    double in_plane_second_moment[3]; /* in-plane second moment, radius^2 W I - distance * integral
                         of y y^T: xx yy xy */
};

static double cross_product_2d(const double *p, const double *q)
{
    return p[0] * q[1] - p[1] * q[0];
}

enum { MAX_DISC_PIECES = 9 }; /* up to three pieces for each edge of a triangle */

/* The sectors of a disc and the triangles in it that D consists of, in the order in which they are
 * added, with the points whose directions are their angles; 0 beyond the last one. */
struct triangle_pieces_within_disc {
    int count;
    int is_circular_sector_piece[MAX_DISC_PIECES];
    double p[MAX_DISC_PIECES][2], q[MAX_DISC_PIECES][2];
    double y[MAX_DISC_PIECES + 3], x[MAX_DISC_PIECES + 3];
};

static int append_triangle_piece_in_disc(struct triangle_pieces_within_disc *pieces,
                                         const double *p, const double *q)
{
    const int k = pieces->count++;
    for (int i = 0; i < 2; i++) {
        pieces->p[k][i] = p[i];
        pieces->q[k][i] = q[i];
    }
    return k;
}

/* Appends the sector of a ball's plane disc from the direction of p to that of q. */
static void append_disc_sector(struct triangle_pieces_within_disc *pieces, const double *p,
                               const double *q)
{
    const int k = append_triangle_piece_in_disc(pieces, p, q);
    pieces->is_circular_sector_piece[k] = 1;
    pieces->y[k] = cross_product_2d(p, q);
    pieces->x[k] = p[0] * q[0] + p[1] * q[1];
}

/* Appends the triangle (foot, p, q), which is inside the disc. Its angle is half of the solid
 * angle (van Oosterom and Strackee 1983), with the length of the foot's vector cancelled. */
static void append_triangle_inside_disc(struct triangle_pieces_within_disc *pieces, double h,
                                        const double *p, const double *q)
{
    const int k = append_triangle_piece_in_disc(pieces, p, q);
    double pp = p[0] * p[0] + p[1] * p[1], qq = q[0] * q[0] + q[1] * q[1];
    double pq = p[0] * q[0] + p[1] * q[1];
    double lp = sqrt(pp + h * h), lq = sqrt(qq + h * h);
    pieces->is_circular_sector_piece[k] = 0;
    pieces->y[k] = cross_product_2d(p, q);
    pieces->x[k] = lp * lq + h * (lp + lq) + h * h + pq;
}

/* Adds the sector of a ball's plane disc from the direction of p to that of q. */
static void add_disc_sector(struct disc *d, const double *p, const double *q, double angle)
{
    double lp = 1.0 / sqrt(p[0] * p[0] + p[1] * p[1]), lq = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1]);
    double a[2] = {p[0] * lp, p[1] * lp}, b[2] = {q[0] * lq, q[1] * lq};
    double r = d->radius, depth = d->depth, squared_disc_radius = d->squared_disc_radius,
           d2 = depth * depth;
    double sector_first_moment_scale = squared_disc_radius * sqrt(squared_disc_radius) / 3.0;
    d->area += 0.5 * squared_disc_radius * angle;
    d->first[0] += sector_first_moment_scale * (b[1] - a[1]);
    d->first[1] += sector_first_moment_scale * (a[0] - b[0]);
    d->cap_volume_over_disc += angle * d2 * (3.0 * r - depth) / 6.0;
    /* second moment of the cap per angle, and the difference of a sector to a full turn */
    double cap_in_plane_second_moment =
        angle * d2 * depth * (20.0 * r * r - 15.0 * r * depth + 3.0 * d2) / 24.0;
    double part = d->distance * squared_disc_radius * squared_disc_radius / 8.0;
    double double_angle_sine = b[0] * b[1] - a[0] * a[1];
    double double_angle_cosine = b[0] * b[0] - b[1] * b[1] - a[0] * a[0] + a[1] * a[1];
    d->in_plane_second_moment[0] += cap_in_plane_second_moment - part * double_angle_sine;
    d->in_plane_second_moment[1] += cap_in_plane_second_moment + part * double_angle_sine;
    d->in_plane_second_moment[2] += 0.5 * part * double_angle_cosine;
}

/* Adds the integrals over the triangle (foot, p, q), which is inside the disc. */
static void add_triangle_inside_disc(struct disc *d, const double *p, const double *q,
                                     double half_angle_of_circle_segment)
{
    double area = 0.5 * cross_product_2d(p, q), h = d->distance, r2 = d->radius * d->radius;
    double angle = 2.0 * half_angle_of_circle_segment;
    double cap_volume_over_disc = (r2 * d->radius * angle - h * area) / 3.0;
    double sx = p[0] + q[0], sy = p[1] + q[1], part = h * area / 6.0;
    d->area += area;
    d->first[0] += area / 3.0 * sx;
    d->first[1] += area / 3.0 * sy;
    d->cap_volume_over_disc += cap_volume_over_disc;
    d->in_plane_second_moment[0] +=
        r2 * cap_volume_over_disc - 0.5 * part * (p[0] * p[0] + q[0] * q[0] + sx * sx);
    d->in_plane_second_moment[1] +=
        r2 * cap_volume_over_disc - 0.5 * part * (p[1] * p[1] + q[1] * q[1] + sy * sy);
    d->in_plane_second_moment[2] -= 0.5 * part * (p[0] * p[1] + q[0] * q[1] + sx * sy);
}

/* Adds the integrals over the whole disc in which a plane cuts the ball. */
static void add_whole_disc(struct disc *d)
{
    double r = d->radius, depth = d->depth, d2 = depth * depth;
    double cap_in_plane_second_moment =
        PI * d2 * depth * (20.0 * r * r - 15.0 * r * depth + 3.0 * d2) / 12.0;
    d->area = PI * d->squared_disc_radius;
    d->cap_volume_over_disc = PI * d2 * (3.0 * r - depth) / 3.0;
    d->in_plane_second_moment[0] = d->in_plane_second_moment[1] = cap_in_plane_second_moment;
}

/* Clips the edge p + s (q - p), 0 <= s <= 1, to the disc; returns 0 where there is none.
 */
static int clip_edge_to_disc(double squared_disc_radius, const double *p, const double *q,
                             double s[2])
{
    double e[2] = {q[0] - p[0], q[1] - p[1]};
    double squared_edge_length = e[0] * e[0] + e[1] * e[1], moment = cross_product_2d(p, q);
    double squared_half_chord = squared_disc_radius * squared_edge_length - moment * moment;
    if (!(squared_half_chord > 0.0)) {
        return 0;
    }
    double middle = -(p[0] * e[0] + p[1] * e[1]) / squared_edge_length,
           half = sqrt(squared_half_chord) / squared_edge_length;
    s[0] = tact_max(middle - half, 0.0);
    s[1] = tact_min(middle + half, 1.0);
    return s[0] < s[1];
}

static void append_edge_in_disc(struct triangle_pieces_within_disc *pieces, double distance,
                                const double *p, const double *q, const double s[2])
{
    double a[2], b[2];
    for (int k = 0; k < 2; k++) {
        a[k] = s[0] > 0.0 ? p[k] + s[0] * (q[k] - p[k]) : p[k];
        b[k] = s[1] < 1.0 ? p[k] + s[1] * (q[k] - p[k]) : q[k];
    }
    if (s[0] > 0.0) {
        append_disc_sector(pieces, p, a);
    }
    append_triangle_inside_disc(pieces, distance, a, b);
    if (s[1] < 1.0) {
        append_disc_sector(pieces, b, q);
    }
}

/* Adds the integrals over all pieces; their angles are found four at a time. */
static void add_integrals_of_disc_pieces(struct disc *d,
                                         const struct triangle_pieces_within_disc *pieces)
{
    double angle[MAX_DISC_PIECES + 3];
    for (int k = 0; k < pieces->count; k += 4) {
        tact_atan2_of_four(pieces->y + k, pieces->x + k, angle + k);
    }
    for (int k = 0; k < pieces->count; k++) {
        (pieces->is_circular_sector_piece[k] ? add_disc_sector : add_triangle_inside_disc)(
            d, pieces->p[k], pieces->q[k], angle[k]);
    }
}

/* Integrals over the triangle's part inside the disc; returns 0 where there is none. */
static int integrate_triangle_in_disc(struct disc *d, double p[3][2])
{
    double s[3][2];
    int cut[3], any = 0, inside = 1;
    for (int k = 0; k < 3; k++) {
        cut[k] = clip_edge_to_disc(d->squared_disc_radius, p[k], p[(k + 1) % 3], s[k]);
        any |= cut[k];
        inside &= cross_product_2d(p[k], p[(k + 1) % 3]) >= 0.0;
    }
    if (!any) {
        if (inside) {
            add_whole_disc(d);
        }
        return inside;
    }
    struct triangle_pieces_within_disc pieces = {.count = 0};
    for (int k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3];
        if (cut[k]) {
            append_edge_in_disc(&pieces, d->distance, a, b, s[k]);
        } else {
            append_disc_sector(&pieces, a, b);
        }
    }
    add_integrals_of_disc_pieces(d, &pieces);
    return 1;
}

/* 1 where the foot of o is so near to an edge of the triangle that o is nearly on it. */
static int is_origin_near_edge(double p[3][2], double tolerance)
{
    for (int k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3];
        double e[2] = {b[0] - a[0], b[1] - a[1]}, r[2];
        double s = -(a[0] * e[0] + a[1] * e[1]) / (e[0] * e[0] + e[1] * e[1]);
        s = tact_min(tact_max(s, 0.0), 1.0);
        r[0] = a[0] + s * e[0];
        r[1] = a[1] + s * e[1];
        if (r[0] * r[0] + r[1] * r[1] < tolerance * tolerance) {
            return 1;
        }
    }
    return 0;
}

/* Adds the contribution of a disc part to the sums about the ball's centre; u, w, n are its axes.
 */
static void add_disc_integrals_to_sums(const struct disc *d, double h, const double *n,
                                       const double *u, const double *w,
                                       struct tact_moment_sums *sums)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double sign = h >= 0.0 ? 1.0 : -1.0, r2 = d->radius * d->radius;
    double y[3];
    for (int k = 0; k < 3; k++) {
        y[k] = d->first[0] * u[k] + d->first[1] * w[k];
        sums->first[k] += 0.25 * (h * y[k] - d->squared_disc_radius * d->area * n[k]);
    }
    sums->volume -= sign * d->cap_volume_over_disc;
    sums->volume_term_magnitude += fabs(d->cap_volume_over_disc);
    tact_v3_axpy(sums->gradient, -d->area, n);
    double normal = r2 * d->cap_volume_over_disc + d->distance * d->area * d->squared_disc_radius;
    double normal_tangent_moment_factor = 0.5 * r2 - d->squared_disc_radius;
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        double plane = d->in_plane_second_moment[0] * u[i] * u[j] +
                       d->in_plane_second_moment[1] * w[i] * w[j] +
                       d->in_plane_second_moment[2] * (u[i] * w[j] + w[i] * u[j]);
        sums->second[k] += (-sign * (plane + normal * n[i] * n[j]) +
                            normal_tangent_moment_factor * (n[i] * y[j] + y[i] * n[j])) /
                           5.0;
    }
}

/* A ball, and the sums over the triangles in it. For an ellipsoid, the ball of radius 1 to which a
 * linear map takes it. */
struct ball_with_mesh_sums {
    double centre[3]; /* mesh frame */
    double radius, tolerance;
    const double *map; /* linear map to the unit ball, of a displacement in the mesh's frame,
                          row-major [1/m]; NULL: none */
    int is_ball_centre_near_edge; /* 1: the centre o is within tolerance of an edge, and the sums
                                     are invalid */
    double position_normal_dyad_integral[9]; /* integral of r n^T over the triangles in the ball,
                                       where there is a map */
    struct tact_moment_sums sums;
};

/* Adds the integral of r n^T over a triangle's part D in the ball, with unit normal n at the
 * distance h. */
static void add_disc_position_normal_dyad(const struct disc *d, double h, const double *n,
                                          const double *u, const double *w,
                                          double position_normal_dyad_integral[9])
{
    for (int i = 0; i < 9; i++) {
        const int k = i / 3;
        position_normal_dyad_integral[i] +=
            (h * d->area * n[k] + d->first[0] * u[k] + d->first[1] * w[k]) * n[i % 3];
    }
}

/* Adds a triangle of the mesh to the sums of a ball, given its corners from o. unmapped: the same
 * before the map, or NULL. */
static void add_triangle(struct ball_with_mesh_sums *ball, double v[3][3], double (*unmapped)[3])
{
    double n[3], u[3], w[3], p[3][2], h = tact_plane_of_triangle_corners(v, n);
    struct disc d = {.radius = ball->radius, .distance = fabs(h)};
    d.depth = d.radius - d.distance;
    if (!(d.depth > 0.0) || tact_v3_dot(n, n) == 0.0) {
        return;
    }
    if (unmapped && d.distance < MIN_CENTRE_DISTANCE_TO_SIDE) { /* the side of the plane on which o
                                                      lies is decided as in tact_mesh_contains() */
        double normal_before_ellipsoid_map[3];
        h = tact_plane_of_triangle_corners(unmapped, normal_before_ellipsoid_map) >= 0.0
                ? d.distance
                : -d.distance;
    }
    d.squared_disc_radius = d.depth * (d.radius + d.distance);
    tact_v3_tangents(n, u, w);
    for (int k = 0; k < 3; k++) {
        p[k][0] = tact_v3_dot(u, v[k]);
        p[k][1] = tact_v3_dot(w, v[k]);
    }
    if (d.distance < ball->tolerance && is_origin_near_edge(p, ball->tolerance)) {
        ball->is_ball_centre_near_edge = 1;
    } else if (integrate_triangle_in_disc(&d, p)) {
        add_disc_integrals_to_sums(&d, h, n, u, w, &ball->sums);
        if (unmapped) {
            add_disc_position_normal_dyad(&d, h, n, u, w, ball->position_normal_dyad_integral);
        }
    }
}

/* Maps one corner of each of four triangles to the frame of the unit ball. */
TACT_INLINE void map_corners_to_unit_ball(const double map[9], const tact_d4 in[3], tact_d4 out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = map[3 * k] * in[0] + map[3 * k + 1] * in[1] + map[3 * k + 2] * in[2];
    }
}

/* Corners of the triangle in one lane of four. */
TACT_INLINE void copy_triangle_of_lane(const tact_d4 corner[3][3], unsigned lane, double v[3][3])
{
    for (int k = 0; k < 9; k++) {
        v[k / 3][k % 3] = corner[k / 3][k % 3][lane];
    }
}

/* Adds the triangles of a leaf whose bounding boxes, after the map where there is one, reach into
 * the ball. */
TACT_INLINE void add_leaf_triangles(struct ball_with_mesh_sums *ball,
                                    const struct tact_mesh_leaf *leaf, int is_mapped_to_unit_ball)
{
    const tact_d4 zero = {0.0};
    tact_d4 from[3][3], mapped[3][3], apart2 = zero;
    const tact_d4(*corner)[3] = (const tact_d4(*)[3])(is_mapped_to_unit_ball ? mapped : from);
    uint32_t bits;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            from[i][k] = *(const tact_d4 *)leaf->corner[i][k] - ball->centre[k];
        }
        if (is_mapped_to_unit_ball) {
            map_corners_to_unit_ball(ball->map, from[i], mapped[i]);
        }
    }
    for (int k = 0; k < 3; k++) {
        tact_d4 low = TACT_D4_MIN(corner[0][k], corner[1][k]);
        tact_d4 high = TACT_D4_MAX(corner[0][k], corner[1][k]);
        low = TACT_D4_MIN(corner[2][k], low);
        high = -TACT_D4_MAX(corner[2][k], high);
        tact_d4 apart = TACT_D4_MAX(low, high);
        apart = TACT_D4_MAX(apart, zero);
        apart2 += apart * apart;
    }
    tact_l4 reaches = apart2 < ball->radius * ball->radius;
    tact_l4_mask_to_bits(&reaches, &bits);
    for (unsigned i = 0; i < leaf->count; i++) {
        if (bits >> i & 1U) {
            double v[3][3], unmapped[3][3];
            copy_triangle_of_lane(corner, i, v);
            if (is_mapped_to_unit_ball) {
                copy_triangle_of_lane((const tact_d4(*)[3])from, i, unmapped);
            }
            add_triangle(ball, v, is_mapped_to_unit_ball ? unmapped : NULL);
        }
    }
}

TACT_INLINE void add_leaf(void *user, const struct tact_mesh_leaf *leaf)
{
    add_leaf_triangles(user, leaf, 0);
}

TACT_INLINE void add_leaf_mapped_to_unit_ball(void *user, const struct tact_mesh_leaf *leaf)
{
    add_leaf_triangles(user, leaf, 1);
}

/* Sums the triangles that reach into the ball. Returns 1, with invalid sums, where o is within
 * tolerance of an edge. */
static int sum_triangles_in_ball(const struct tact_mesh *mesh, struct ball_with_mesh_sums *ball,
                                 double tolerance)
{
    static const double zero_axis_of_ball[3] = {0.0, 0.0, 0.0};
    memset(&ball->sums, 0, sizeof ball->sums);
    memset(ball->position_normal_dyad_integral, 0, sizeof ball->position_normal_dyad_integral);
    ball->is_ball_centre_near_edge = 0;
    ball->tolerance = tolerance;
    if (ball->map) {
        struct tact_ellipsoid_query query;
        tact_ellipsoid_query_init(ball->centre, ball->map, mesh, &query);
        tact_round_body_query_visit_leaves(&query, tact_ellipsoid_query_boxes, mesh,
                                           add_leaf_mapped_to_unit_ball, ball);
    } else {
        struct tact_capsule_query query;
        tact_capsule_query_init(ball->centre, zero_axis_of_ball, ball->radius, mesh, &query);
        tact_round_body_query_visit_leaves(&query, tact_capsule_query_boxes, mesh, add_leaf, ball);
    }
    return ball->is_ball_centre_near_edge;
}

/* Sums over the part of the mesh in the ball, about its centre, which is displaced where it is on
 * an edge. reach: largest radius [m]; rot, origin: of the mesh's frame and of the centre, world. */
static void sum_mesh_in_ball(const struct tact_mesh *mesh, struct ball_with_mesh_sums *ball,
                             double reach, const double rot[9], double origin[3])
{
    if (sum_triangles_in_ball(mesh, ball, NEAR_EDGE_TOLERANCE * ball->radius)) {
        double step[3], world[3];
        tact_v3_scale(step, (const double[3]){0.48, 0.64, 0.6}, 2.0 * NEAR_EDGE_TOLERANCE * reach);
        tact_v3_add(ball->centre, ball->centre, step);
        tact_m3_mul_v3(world, rot, step);
        tact_v3_add(origin, origin, world);
        (void)sum_triangles_in_ball(mesh, ball, 0.0);
    }
    if (tact_mesh_contains(mesh, ball->centre, reach)) {
        const double radius = ball->radius;
        double volume = 4.0 / 3.0 * PI * radius * radius * radius;
        ball->sums.volume += volume;
        ball->sums.volume_term_magnitude += volume;
        for (int k = 0; k < 3; k++) {
            ball->sums.second[k] += 0.2 * volume * radius * radius;
        }
    }
}

TACT_DISPATCH_BY_CPU(int, tact_moments_sphere_mesh,
                     (double radius, const struct tact_pose *pa, const struct tact_mesh *mesh,
                      const struct tact_pose *pb, struct tact_moments *out),
                     (radius, pa, mesh, pb, out))
{
    double rot[9], axes[9], offset[3], origin[3];
    struct ball_with_mesh_sums ball = {.radius = radius};
    tact_quat_to_m3(rot, pb->quat_wxyz);
    tact_v3_sub(offset, pa->position, pb->position);
    tact_m3_tmul_v3(ball.centre, rot, offset);
    tact_v3_copy(origin, pa->position);
    sum_mesh_in_ball(mesh, &ball, radius, rot, origin);
    for (int i = 0; i < 9; i++) {
        axes[i] = rot[3 * (i % 3) + i / 3];
    }
    return tact_moment_sums_finish(&ball.sums, axes, origin, out);
}

/* Takes the sums of the ball of radius 1 back to the ellipsoid: areas as a cross product, torques
 * from the integral of r n^T, which is minus that over the ellipsoid's own surface. */
static void map_sums_to_ellipsoid(const double size[3],
                                  const double position_normal_dyad_integral[9],
                                  struct tact_moment_sums *sums)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double volume = size[0] * size[1] * size[2];
    sums->volume *= volume;
    sums->volume_term_magnitude *= volume;
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        sums->first[k] *= volume * size[k];
        sums->gradient[k] *= volume / size[k];
        sums->torque[k] = volume * (size[j] / size[i] * position_normal_dyad_integral[3 * j + i] -
                                    size[i] / size[j] * position_normal_dyad_integral[3 * i + j]);
    }
    for (int k = 0; k < 6; k++) {
        sums->second[k] *= volume * size[row[k]] * size[column[k]];
    }
}

TACT_DISPATCH_BY_CPU(int, tact_moments_ellipsoid_mesh,
                     (const double size[3], const struct tact_pose *pa,
                      const struct tact_mesh *mesh, const struct tact_pose *pb,
                      struct tact_moments *out),
                     (size, pa, mesh, pb, out))
{
    double own[9], rot[9], axes[9], map[9], offset[3], origin[3];
    struct ball_with_mesh_sums ball = {.radius = 1.0, .map = map};
    tact_quat_to_m3(own, pa->quat_wxyz);
    tact_quat_to_m3(rot, pb->quat_wxyz);
    for (int i = 0; i < 9; i++) {
        axes[i] = own[3 * (i % 3) + i / 3];
    }
    tact_m3_mul(map, axes, rot);
    for (int i = 0; i < 9; i++) {
        map[i] /= size[i / 3];
    }
    tact_v3_sub(offset, pa->position, pb->position);
    tact_m3_tmul_v3(ball.centre, rot, offset);
    tact_v3_copy(origin, pa->position);
    const double reach = tact_max(size[0], tact_max(size[1], size[2]));
    sum_mesh_in_ball(mesh, &ball, reach, rot, origin);
    map_sums_to_ellipsoid(size, ball.position_normal_dyad_integral, &ball.sums);
    return tact_moment_sums_finish(&ball.sums, axes, origin, out);
}
