/* Coplanar faces of two meshes.
 *
 * There V has different one-sided derivatives, and the gradient is their mean: half of the area
 * that the faces have in common counts. The rim is found with A shifted slightly across these
 * faces, with which all of the area counts or none. The difference to a half is computed here, from
 * the polygon that two triangles have in common. */
#include "contact/moments/moments_rim_internal.h"

/* Smallest distance that the shift of A must create between two coplanar faces, over the slack. */
static const double MIN_SHIFTED_FACE_DISTANCE_IN_SLACKS = 2.0;

/* A flat polygon: a triangle clipped by another one. */
struct polygon {
    int count;
    double at[24][3]; /* capacity: each cut at most doubles the number of corners, whatever the
                         rounding */
};

/* Cuts off the part of a flat polygon to the right of the line from p to q, as seen against axis c
 * where triangle_winding_sign is 1, along it where -1, into *out. Returns 0, with *out unchanged,
 * where nothing is cut off. */
static int clip_polygon_by_line(const struct polygon *in, const double p[3], const double q[3],
                                int c, double triangle_winding_sign, struct polygon *out)
{
    const int x = (c + 1) % 3, y = (c + 2) % 3;
    double height[24], least = 0.0;
    for (int k = 0; k < in->count; k++) {
        const double *r = in->at[k];
        height[k] =
            triangle_winding_sign * ((q[x] - p[x]) * (r[y] - p[y]) - (q[y] - p[y]) * (r[x] - p[x]));
        least = tact_min(height[k], least);
    }
    if (!(least < 0.0)) {
        return 0;
    }
    out->count = 0;
    for (int k = 0; k < in->count; k++) {
        const int next = k + 1 < in->count ? k + 1 : 0;
        if (height[k] >= 0.0) {
            tact_v3_copy(out->at[out->count++], in->at[k]);
        }
        if ((height[k] >= 0.0) != (height[next] >= 0.0)) {
            const double edge_fraction_to_crossing = height[k] / (height[k] - height[next]);
            double edge_vector[3];
            tact_v3_sub(edge_vector, in->at[next], in->at[k]);
            tact_v3_copy(out->at[out->count], in->at[k]);
            tact_v3_axpy(out->at[out->count++], edge_fraction_to_crossing, edge_vector);
        }
    }
    return 1;
}

/* Adds to the gradient `weight_of_polygon_area` times the area of a flat polygon of unit normal n.
 */
static void add_flat_polygon_area(struct tact_rim *rim, const struct polygon *polygon,
                                  const double n[3], double weight_of_polygon_area)
{
    const double *first_corner_of_polygon = polygon->at[0];
    for (int k = 1; k + 1 < polygon->count; k++) {
        double u[3], v[3], area[3], middle[3], part[3], torque[3];
        tact_v3_sub(u, polygon->at[k], first_corner_of_polygon);
        tact_v3_sub(v, polygon->at[k + 1], first_corner_of_polygon);
        tact_v3_cross(area, u, v);
        tact_v3_scale(part, n, weight_of_polygon_area * fabs(0.5 * tact_v3_dot(area, n)));
        tact_v3_add(middle, u, v);
        tact_v3_scale(middle, middle, 1.0 / 3.0);
        tact_v3_add(middle, middle, first_corner_of_polygon);
        tact_v3_cross(torque, middle, part);
        tact_v3_add(rim->coplanar_face_area_correction, rim->coplanar_face_area_correction, part);
        tact_v3_add(rim->coplanar_half_torque, rim->coplanar_half_torque, torque);
    }
}

TACT_INLINE void get_triangle_corners_of_lane(const struct tact_rim_leaf *leaf, uint32_t lane,
                                              const double shift[3], double corner[3][3],
                                              double n[3])
{
    for (int c = 0; c < 3; c++) {
        n[c] = leaf->n[c][lane];
        for (int k = 0; k < 3; k++) {
            corner[k][c] = leaf->p[k][c][lane] - shift[c];
        }
    }
}

int tact_rim_add_half_common_area(struct tact_rim *rim, const struct tact_rim_leaf *s,
                                  uint32_t triangle_lane_a, const struct tact_rim_leaf *t,
                                  uint32_t triangle_lane_b)
{
    static const double zero_shift_of_mesh_b[3] = {0.0, 0.0, 0.0};
    struct polygon polygon[2];
    int index_of_clipped_polygon = 0;
    double triangle_corners_b[3][3], n_a[3], n_b[3], n[3];
    get_triangle_corners_of_lane(s, triangle_lane_a, rim->shift, polygon[0].at, n_a);
    get_triangle_corners_of_lane(t, triangle_lane_b, zero_shift_of_mesh_b, triangle_corners_b, n_b);
    const double squared_triangle_normal_norm_a = tact_v3_dot(n_a, n_a),
                 squared_norm_b = tact_v3_dot(n_b, n_b);
    const double sign_of_normal_agreement = tact_v3_dot(n_a, n_b) > 0.0 ? 1.0 : -1.0;
    if (!(squared_triangle_normal_norm_a > 0.0) || !(squared_norm_b > 0.0)) {
        return 0;
    }
    /* normal of the larger of the two triangles, outward of A */
    const double *normal_of_larger_triangle =
        squared_triangle_normal_norm_a > squared_norm_b ? n_a : n_b;
    const double size = (normal_of_larger_triangle == n_a ? 1.0 : sign_of_normal_agreement) *
                        sqrt(tact_max(squared_triangle_normal_norm_a, squared_norm_b));
    const double mesh_shift_across_plane =
        tact_v3_dot(normal_of_larger_triangle, rim->shift) / size;
    if (fabs(mesh_shift_across_plane) < MIN_SHIFTED_FACE_DISTANCE_IN_SLACKS * rim->slack) {
        return -EAGAIN;
    }
    int c = fabs(normal_of_larger_triangle[1]) > fabs(normal_of_larger_triangle[0]) ? 1 : 0;
    c = fabs(normal_of_larger_triangle[2]) > fabs(normal_of_larger_triangle[c]) ? 2 : c;
    const double winding_sign_of_triangle_b = n_b[c] > 0.0 ? 1.0 : -1.0;
    tact_v3_scale(n, normal_of_larger_triangle, 1.0 / size);
    polygon[0].count = 3;
    for (int k = 0; k < 3 && polygon[index_of_clipped_polygon].count > 2; k++) {
        index_of_clipped_polygon ^=
            clip_polygon_by_line(&polygon[index_of_clipped_polygon], triangle_corners_b[k],
                                 triangle_corners_b[tact_rim_next_corner(k)], c,
                                 winding_sign_of_triangle_b, &polygon[!index_of_clipped_polygon]);
    }
    /* which half of the common area counts already: with an outward shift, A's face is inside B
     * where B is on its other side, else outside */
    add_flat_polygon_area(rim, &polygon[index_of_clipped_polygon], n,
                          sign_of_normal_agreement * mesh_shift_across_plane > 0.0 ? 0.5 : -0.5);
    return 0;
}

/* Adds an area vector v at a point p to the gradient, and its torque about rim->origin. */
static void add_area_vector_and_torque(const struct tact_rim *rim, const double p[3],
                                       const double v[3], struct tact_moment_sums *sums)
{
    double arm[3], turn[3];
    for (int c = 0; c < 3; c++) {
        arm[c] = p[c] - rim->origin[c];
    }
    tact_v3_cross(turn, arm, v);
    tact_v3_add(sums->gradient, sums->gradient, v);
    tact_v3_add(sums->torque, sums->torque, turn);
}

/* Adds the area of A's triangle that a segment of the rim sweeps as A is shifted back, to first
 * order: its length times the distance that B's plane moves along A's. */
static void add_area_swept_by_rim_segment(const struct tact_rim *rim,
                                          const struct tact_rim_segment *g,
                                          struct tact_moment_sums *sums)
{
    double n[2][3], line[3], along[3], middle[3], area[3];
    for (int of = 0; of < 2; of++) {
        const struct tact_rim_leaf *leaf = &rim->side[of].leaf[g->triangle[of] / 4];
        for (int c = 0; c < 3; c++) {
            n[of][c] = leaf->n[c][g->triangle[of] % 4];
        }
    }
    for (int c = 0; c < 3; c++) {
        along[c] = g->end[1][c] - g->end[0][c];
        middle[c] = 0.5 * (g->end[0][c] + g->end[1][c]);
    }
    tact_v3_cross(line, n[0], n[1]);
    const double sine_between_face_normals = tact_v3_norm(line);
    if (sine_between_face_normals > 0.0) {
        const double length = tact_v3_norm(along);
        tact_v3_scale(area, n[0],
                      length * tact_v3_dot(n[1], rim->shift) / sine_between_face_normals);
        add_area_vector_and_torque(rim, middle, area, sums);
    }
}

void tact_rim_correct_sums_for_shift(const struct tact_rim *rim, struct tact_moment_sums *sums)
{
    double turn[3], origin[3];
    tact_v3_cross(turn, rim->shift, sums->gradient);
    tact_v3_sub(sums->torque, sums->torque, turn);
    for (uint32_t i = 0; i < rim->rim_segment_count; i++) {
        add_area_swept_by_rim_segment(rim, &rim->segment[i], sums);
    }
    tact_v3_set(origin, rim->origin[0], rim->origin[1], rim->origin[2]);
    tact_v3_cross(turn, origin, rim->coplanar_face_area_correction);
    tact_v3_add(sums->gradient, sums->gradient, rim->coplanar_face_area_correction);
    tact_v3_add(sums->torque, sums->torque, rim->coplanar_half_torque);
    tact_v3_sub(sums->torque, sums->torque, turn);
}
