/* Clipping of a triangle of A by the projection of one of B, and by its plane. */
#include "contact/moments/moments_clip_internal.h"

void tact_clip_nonconvex_polygon(struct tact_clipped_polygon *p, const double *value,
                                 double *kept_corner_heights)
{
    const tact_d4 *in = p->corner[p->buffer_in_use];
    tact_d4 *out = p->corner[!p->buffer_in_use];
    int m = 0;
    for (int i = 0; i < p->n; i++) {
        int j = i + 1 < p->n ? i + 1 : 0;
        double vi = value[i], vj = value[j];
        if (vi >= 0.0) {
            kept_corner_heights[m] = vi;
            out[m++] = in[i];
        }
        if ((vi > 0.0 && vj < 0.0) || (vi < 0.0 && vj > 0.0)) {
            kept_corner_heights[m] = 0.0;
            out[m++] = in[i] + vi / (vi - vj) * (in[j] - in[i]);
        }
    }
    p->n = m;
    p->buffer_in_use = !p->buffer_in_use;
}

/* Clips a polygon to its part where value >= 0; bits_of_inside_corners has a bit for each such
 * corner. */
static void tact_clip_polygon(struct tact_clipped_polygon *p, const double *value,
                              unsigned bits_of_inside_corners, double *kept_corner_heights)
{
    const tact_d4 *in = p->corner[p->buffer_in_use];
    tact_d4 *out = p->corner[!p->buffer_in_use];
    int n = p->n, m = 0;
    if (!bits_of_inside_corners) {
        p->n = 0;
        return;
    }
    /* bit i of the shifted set: whether corner i + 1 is inside */
    unsigned next = bits_of_inside_corners >> 1 | (bits_of_inside_corners & 1U) << (n - 1);
    unsigned bits_of_leaving_edges = bits_of_inside_corners & ~next,
             bits_of_entering_edges = ~bits_of_inside_corners & next;
    if (bits_of_leaving_edges & (bits_of_leaving_edges - 1)) {
        tact_clip_nonconvex_polygon(p, value, kept_corner_heights);
        return;
    }
    int last_inside_corner = __builtin_ctz(bits_of_leaving_edges),
        last_outside_corner = __builtin_ctz(bits_of_entering_edges);
    if (last_inside_corner >= n || last_outside_corner >= n) {
        __builtin_unreachable(); /* the polygon has corners inside and corners outside */
    }
    int corner_after_last_inside_corner = last_inside_corner + 1 < n ? last_inside_corner + 1 : 0,
        first_inside_corner = last_outside_corner + 1 < n ? last_outside_corner + 1 : 0;
    double exit_fraction_on_edge =
        value[last_inside_corner] /
        (value[last_inside_corner] - value[corner_after_last_inside_corner]);
    double entry_fraction_on_edge =
        value[last_outside_corner] / (value[last_outside_corner] - value[first_inside_corner]);
    tact_d4 leaving_corner =
        in[last_inside_corner] +
        exit_fraction_on_edge * (in[corner_after_last_inside_corner] - in[last_inside_corner]);
    tact_d4 entering_corner =
        in[last_outside_corner] +
        entry_fraction_on_edge * (in[first_inside_corner] - in[last_outside_corner]);
    /* the corners of the clipped polygon keep their cyclic order */
    int are_inside_corners_wrapped = bits_of_inside_corners & 1U,
        from = are_inside_corners_wrapped ? 0 : first_inside_corner;
    if (!are_inside_corners_wrapped) {
        kept_corner_heights[m] = 0.0;
        out[m] = entering_corner;
        m += value[first_inside_corner] > 0.0;
    }
    for (int i = from; i <= last_inside_corner; i++) {
        kept_corner_heights[m] = value[i];
        out[m++] = in[i];
    }
    kept_corner_heights[m] = 0.0;
    out[m] = leaving_corner;
    m += value[last_inside_corner] > 0.0;
    if (are_inside_corners_wrapped) {
        kept_corner_heights[m] = 0.0;
        out[m] = entering_corner;
        m += value[first_inside_corner] > 0.0;
        for (int i = first_inside_corner; i < n && first_inside_corner; i++) {
            kept_corner_heights[m] = value[i];
            out[m++] = in[i];
        }
    }
    p->n = m;
    p->buffer_in_use = !p->buffer_in_use;
}

void tact_clip_polygon_by_face(struct tact_clipped_polygon *p, const struct tact_face *t,
                               const tact_d4 value[3])
{
    uint32_t bits_of_inside_corners[3];
    for (int i = 0; i < 3; i++) {
        tact_l4 in = value[i] >= 0.0;
        tact_l4_mask_to_bits(&in, &bits_of_inside_corners[i]);
    }
    double kept_corner_heights[TACT_POLYGON], first[3];
    uint32_t edge_planes_that_cut_polygon =
        7 & ~(bits_of_inside_corners[0] & bits_of_inside_corners[1] & bits_of_inside_corners[2]);
    if (!edge_planes_that_cut_polygon) {
        return;
    }
    int k = __builtin_ctz(edge_planes_that_cut_polygon);
    for (int i = 0; i < 3; i++) {
        first[i] = value[i][k];
        bits_of_inside_corners[i] = bits_of_inside_corners[i] >> k & 1;
    }
    tact_clip_polygon(p, first,
                      bits_of_inside_corners[0] | bits_of_inside_corners[1] << 1 |
                          bits_of_inside_corners[2] << 2,
                      kept_corner_heights);
    for (edge_planes_that_cut_polygon &= edge_planes_that_cut_polygon - 1;
         edge_planes_that_cut_polygon && p->n > 2;
         edge_planes_that_cut_polygon &= edge_planes_that_cut_polygon - 1) {
        k = __builtin_ctz(edge_planes_that_cut_polygon);
        double ax = t->ax[k], ay = t->ay[k], dx = t->dx[k], dy = t->dy[k], later[TACT_POLYGON];
        unsigned in = 0;
        for (int i = 0; i < p->n; i++) {
            const tact_d4 *corner = &p->corner[p->buffer_in_use][i];
            later[i] = dx * ((*corner)[1] - ay) - dy * ((*corner)[0] - ax);
            in |= (unsigned)(later[i] >= 0.0) << i;
        }
        if (in != (1U << p->n) - 1) {
            tact_clip_polygon(p, later, in, kept_corner_heights);
        }
    }
}

void tact_clip_polygon_below_face(struct tact_clipped_polygon *p, double *height)
{
    double kept_corner_heights[TACT_POLYGON];
    unsigned bits_of_inside_corners = 0;
    for (int i = 0; i < p->n; i++) {
        bits_of_inside_corners |= (unsigned)(height[i] >= 0.0) << i;
    }
    tact_clip_polygon(p, height, bits_of_inside_corners, kept_corner_heights);
    memcpy(height, kept_corner_heights, sizeof kept_corner_heights);
}

int tact_clip_compute_corner_heights(const struct tact_face *t, const tact_d4 *p, int n,
                                     double height_difference_slack, double *height)
{
    double ax = t->ax[3], ay = t->ay[3], dx = t->dx[3], dy = t->dy[3];
    double height_at_corner_0 = t->height[0], lowest = t->height[1], highest = t->height[2],
           most = 0.0;
    int corner_count_below_face = 0;
    for (int i = 0; i < n; i++) {
        double z = height_at_corner_0 - dy * (p[i][0] - ax) + dx * (p[i][1] - ay);
        /* heights of a steep triangle t are bounded by those of its corners, beyond which they are
         * mere rounding */
        height[i] = tact_min(tact_max(z, lowest), highest) - p[i][2];
        corner_count_below_face += height[i] < 0.0;
        most = tact_max(fabs(height[i]), most);
    }
    return most <= TACT_HEIGHT_SLACK_OVER_PLANE(height_difference_slack, dx, dy)
               ? -1
               : corner_count_below_face;
}
