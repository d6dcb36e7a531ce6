/* Coplanar faces of two meshes.
 *
 * There V has different one-sided derivatives, and the gradient is their mean: half of the area
 * that the faces have in common counts. The rim is found with A shifted slightly across these
 * faces, with which all of the area counts or none. The difference to a half is computed here, from
 * the polygon that two triangles have in common. */
#include "contact/moments/moments_rim_internal.h"

/** Smallest distance that the shift of A must create between two coplanar faces, over the slack. */
static const double MIN_SHIFTED_FACE_DISTANCE_IN_SLACKS = 2.0;

/** A flat polygon: a triangle clipped by another one. */
struct polygon {
    int count;
    double at[24][3]; /* capacity: each cut at most doubles the number of corners, whatever the
                         rounding */
};

/** Cuts off the part of a flat polygon to the right of the line from p to q, as seen against axis c
 * where winding_sign is 1, along it where -1, into *out. Returns 0, with *out unchanged, where
 * nothing is cut off. */
static int clip_polygon_by_line(const struct polygon *in, const double p[3], const double q[3],
                                int c, double winding_sign, struct polygon *out)
{
    const int x = (c + 1) % 3, y = (c + 2) % 3;
    double height[24], least = 0.0;
    for (int k = 0; k < in->count; k++) {
        const double *r = in->at[k];
        height[k] = winding_sign * ((q[x] - p[x]) * (r[y] - p[y]) - (q[y] - p[y]) * (r[x] - p[x]));
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
            const double fraction_to_next = height[k] / (height[k] - height[next]);
            double edge_vector[3];
            tact_v3_sub(edge_vector, in->at[next], in->at[k]);
            tact_v3_copy(out->at[out->count], in->at[k]);
            tact_v3_axpy(out->at[out->count++], fraction_to_next, edge_vector);
        }
    }
    return 1;
}

/** Adds to the gradient `area_weight` times the area of a flat polygon of unit normal n. */
static void add_flat_polygon_area(struct tact_rim *rim, const struct polygon *polygon,
                                  const double n[3], double area_weight)
{
    const double *first_corner = polygon->at[0];
    for (int k = 1; k + 1 < polygon->count; k++) {
        double u[3], v[3], area[3], middle[3], part[3], torque[3];
        tact_v3_sub(u, polygon->at[k], first_corner);
        tact_v3_sub(v, polygon->at[k + 1], first_corner);
        tact_v3_cross(area, u, v);
        tact_v3_scale(part, n, area_weight * fabs(0.5 * tact_v3_dot(area, n)));
        tact_v3_add(middle, u, v);
        tact_v3_scale(middle, middle, 1.0 / 3.0);
        tact_v3_add(middle, middle, first_corner);
        tact_v3_cross(torque, middle, part);
        tact_v3_add(rim->coplanar_half_correction, rim->coplanar_half_correction, part);
        tact_v3_add(rim->coplanar_half_torque, rim->coplanar_half_torque, torque);
    }
}

TACT_INLINE void corners_of_lane(const struct tact_rim_leaf *leaf, uint32_t lane,
                                 const double shift[3], double corner[3][3], double n[3])
{
    for (int c = 0; c < 3; c++) {
        n[c] = leaf->n[c][lane];
        for (int k = 0; k < 3; k++) {
            corner[k][c] = leaf->p[k][c][lane] - shift[c];
        }
    }
}

int tact_rim_add_half_common_area(struct tact_rim *rim, const struct tact_rim_leaf *s,
                                  uint32_t lane_a, const struct tact_rim_leaf *t, uint32_t lane_b)
{
    static const double zero_shift[3] = {0.0, 0.0, 0.0};
    struct polygon polygon[2];
    int current_polygon = 0;
    double corners_b[3][3], n_a[3], n_b[3], n[3];
    corners_of_lane(s, lane_a, rim->shift, polygon[0].at, n_a);
    corners_of_lane(t, lane_b, zero_shift, corners_b, n_b);
    const double squared_norm_a = tact_v3_dot(n_a, n_a), squared_norm_b = tact_v3_dot(n_b, n_b);
    const double normal_agreement_sign = tact_v3_dot(n_a, n_b) > 0.0 ? 1.0 : -1.0;
    if (!(squared_norm_a > 0.0) || !(squared_norm_b > 0.0)) {
        return 0;
    }
    /* normal of the larger of the two triangles, outward of A */
    const double *larger_normal = squared_norm_a > squared_norm_b ? n_a : n_b;
    const double size = (larger_normal == n_a ? 1.0 : normal_agreement_sign) *
                        sqrt(tact_max(squared_norm_a, squared_norm_b));
    const double shift_across_plane = tact_v3_dot(larger_normal, rim->shift) / size;
    if (fabs(shift_across_plane) < MIN_SHIFTED_FACE_DISTANCE_IN_SLACKS * rim->slack) {
        return -EAGAIN;
    }
    int c = fabs(larger_normal[1]) > fabs(larger_normal[0]) ? 1 : 0;
    c = fabs(larger_normal[2]) > fabs(larger_normal[c]) ? 2 : c;
    const double winding_sign_b = n_b[c] > 0.0 ? 1.0 : -1.0;
    tact_v3_scale(n, larger_normal, 1.0 / size);
    polygon[0].count = 3;
    for (int k = 0; k < 3 && polygon[current_polygon].count > 2; k++) {
        current_polygon ^= clip_polygon_by_line(&polygon[current_polygon], corners_b[k],
                                                corners_b[tact_rim_next_corner(k)], c,
                                                winding_sign_b, &polygon[!current_polygon]);
    }
    /* which half of the common area counts already: with an outward shift, A's face is inside B
     * where B is on its other side, else outside */
    add_flat_polygon_area(rim, &polygon[current_polygon], n,
                          normal_agreement_sign * shift_across_plane > 0.0 ? 0.5 : -0.5);
    return 0;
}

/** Adds an area vector v at a point p to the gradient, and its torque about rim->origin. */
static void add_vector_at_point(const struct tact_rim *rim, const double p[3], const double v[3],
                                struct tact_moment_sums *sums)
{
    double arm[3], turn[3];
    for (int c = 0; c < 3; c++) {
        arm[c] = p[c] - rim->origin[c];
    }
    tact_v3_cross(turn, arm, v);
    tact_v3_add(sums->gradient, sums->gradient, v);
    tact_v3_add(sums->torque, sums->torque, turn);
}

/** Adds the area of A's triangle that a segment of the rim sweeps as A is shifted back, to first
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
    const double normal_sine = tact_v3_norm(line);
    if (normal_sine > 0.0) {
        const double length = tact_v3_norm(along);
        tact_v3_scale(area, n[0], length * tact_v3_dot(n[1], rim->shift) / normal_sine);
        add_vector_at_point(rim, middle, area, sums);
    }
}

void tact_rim_correct_for_shift(const struct tact_rim *rim, struct tact_moment_sums *sums)
{
    double turn[3], origin[3];
    tact_v3_cross(turn, rim->shift, sums->gradient);
    tact_v3_sub(sums->torque, sums->torque, turn);
    for (uint32_t i = 0; i < rim->rim_segment_count; i++) {
        add_area_swept_by_rim_segment(rim, &rim->segment[i], sums);
    }
    tact_v3_set(origin, rim->origin[0], rim->origin[1], rim->origin[2]);
    tact_v3_cross(turn, origin, rim->coplanar_half_correction);
    tact_v3_add(sums->gradient, sums->gradient, rim->coplanar_half_correction);
    tact_v3_add(sums->torque, sums->torque, rim->coplanar_half_torque);
    tact_v3_sub(sums->torque, sums->torque, turn);
}
