/* Clipping of a triangle of A by the projection of one of B, and by its plane. */
#include "contact/moments/moments_clip_internal.h"

void tact_clip_nonconvex_polygon(struct tact_polygon *p, const double *value, double *kept)
{
    const tact_d4 *in = p->corner[p->room];
    tact_d4 *out = p->corner[!p->room];
    int m = 0;
    for (int i = 0; i < p->n; i++) {
        int j = i + 1 < p->n ? i + 1 : 0;
        double vi = value[i], vj = value[j];
        if (vi >= 0.0) {
            kept[m] = vi;
            out[m++] = in[i];
        }
        if ((vi > 0.0 && vj < 0.0) || (vi < 0.0 && vj > 0.0)) {
            kept[m] = 0.0;
            out[m++] = in[i] + vi / (vi - vj) * (in[j] - in[i]);
        }
    }
    p->n = m;
    p->room = !p->room;
}

/** Clips a polygon to its part where value >= 0; inside has a bit for each such corner. */
static void tact_clip_polygon(struct tact_polygon *p, const double *value, unsigned inside_bits,
                              double *kept)
{
    const tact_d4 *in = p->corner[p->room];
    tact_d4 *out = p->corner[!p->room];
    int n = p->n, m = 0;
    if (!inside_bits) {
        p->n = 0;
        return;
    }
    /* bit i of the shifted set: whether corner i + 1 is inside */
    unsigned next = inside_bits >> 1 | (inside_bits & 1U) << (n - 1);
    unsigned leaving_bits = inside_bits & ~next, entering = ~inside_bits & next;
    if (leaving_bits & (leaving_bits - 1)) {
        tact_clip_nonconvex_polygon(p, value, kept);
        return;
    }
    int last = __builtin_ctz(leaving_bits), before = __builtin_ctz(entering);
    if (last >= n || before >= n) {
        __builtin_unreachable(); /* the polygon has corners inside and corners outside */
    }
    int next_corner_after_last = last + 1 < n ? last + 1 : 0,
        first = before + 1 < n ? before + 1 : 0;
    double leaving_fraction = value[last] / (value[last] - value[next_corner_after_last]);
    double entering_fraction = value[before] / (value[before] - value[first]);
    tact_d4 leaving_corner = in[last] + leaving_fraction * (in[next_corner_after_last] - in[last]);
    tact_d4 enter = in[before] + entering_fraction * (in[first] - in[before]);
    /* the corners of the clipped polygon keep their cyclic order */
    int corners_wrap_around = inside_bits & 1U, from = corners_wrap_around ? 0 : first;
    if (!corners_wrap_around) {
        kept[m] = 0.0;
        out[m] = enter;
        m += value[first] > 0.0;
    }
    for (int i = from; i <= last; i++) {
        kept[m] = value[i];
        out[m++] = in[i];
    }
    kept[m] = 0.0;
    out[m] = leaving_corner;
    m += value[last] > 0.0;
    if (corners_wrap_around) {
        kept[m] = 0.0;
        out[m] = enter;
        m += value[first] > 0.0;
        for (int i = first; i < n && first; i++) {
            kept[m] = value[i];
            out[m++] = in[i];
        }
    }
    p->n = m;
    p->room = !p->room;
}

void tact_clip_polygon_by_face(struct tact_polygon *p, const struct tact_face *t,
                               const tact_d4 value[3])
{
    uint32_t inside_bits[3];
    for (int i = 0; i < 3; i++) {
        tact_l4 in = value[i] >= 0.0;
        tact_l4_mask_to_bits(&in, &inside_bits[i]);
    }
    double kept[TACT_POLYGON], first[3];
    uint32_t planes_that_cut = 7 & ~(inside_bits[0] & inside_bits[1] & inside_bits[2]);
    if (!planes_that_cut) {
        return;
    }
    int k = __builtin_ctz(planes_that_cut);
    for (int i = 0; i < 3; i++) {
        first[i] = value[i][k];
        inside_bits[i] = inside_bits[i] >> k & 1;
    }
    tact_clip_polygon(p, first, inside_bits[0] | inside_bits[1] << 1 | inside_bits[2] << 2, kept);
    for (planes_that_cut &= planes_that_cut - 1; planes_that_cut && p->n > 2;
         planes_that_cut &= planes_that_cut - 1) {
        k = __builtin_ctz(planes_that_cut);
        double ax = t->ax[k], ay = t->ay[k], dx = t->dx[k], dy = t->dy[k], later[TACT_POLYGON];
        unsigned in = 0;
        for (int i = 0; i < p->n; i++) {
            const tact_d4 *corner = &p->corner[p->room][i];
            later[i] = dx * ((*corner)[1] - ay) - dy * ((*corner)[0] - ax);
            in |= (unsigned)(later[i] >= 0.0) << i;
        }
        if (in != (1U << p->n) - 1) {
            tact_clip_polygon(p, later, in, kept);
        }
    }
}

void tact_clip_below_face(struct tact_polygon *p, double *height)
{
    double kept[TACT_POLYGON];
    unsigned inside_bits = 0;
    for (int i = 0; i < p->n; i++) {
        inside_bits |= (unsigned)(height[i] >= 0.0) << i;
    }
    tact_clip_polygon(p, height, inside_bits, kept);
    memcpy(height, kept, sizeof kept);
}

int tact_clip_corner_heights(const struct tact_face *t, const tact_d4 *p, int n,
                             double height_slack, double *height)
{
    double ax = t->ax[3], ay = t->ay[3], dx = t->dx[3], dy = t->dy[3];
    double height_at_corner_0 = t->height[0], lowest = t->height[1], highest = t->height[2],
           most = 0.0;
    int corners_below = 0;
    for (int i = 0; i < n; i++) {
        double z = height_at_corner_0 - dy * (p[i][0] - ax) + dx * (p[i][1] - ay);
        /* heights of a steep triangle t are bounded by those of its corners, beyond which they are
         * mere rounding */
        height[i] = tact_min(tact_max(z, lowest), highest) - p[i][2];
        corners_below += height[i] < 0.0;
        most = tact_max(fabs(height[i]), most);
    }
    return most <= TACT_HEIGHT_SLACK(height_slack, dx, dy) ? -1 : corners_below;
}
