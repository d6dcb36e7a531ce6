/** Where triangles of two leaves cross; not installed. */
#ifndef TACT_CONTACT_MOMENTS_RIM_CROSS_INTERNAL_H
#define TACT_CONTACT_MOMENTS_RIM_CROSS_INTERNAL_H

#include "moments_rim_internal.h"

/** Rounding of a determinant of differences, against the product of their greatest coordinates:
 *  below it a sign depends on the order of the corners. */
#define TACT_RIM_UNSURE (64.0 * DBL_EPSILON)

/** One triangle of two that may cross: lane `lane` of a leaf. */
struct tact_rim_party {
    const struct tact_rim_leaf *leaf;
    const double *p; /* coordinate c of corner k: p[tact_rim_at(k, c)] */
    const double *h; /* its height over the other's plane: h[4 k] */
    double size;
    uint32_t lane;
    int leave, enter; /* edges on which, counter-clockwise, the height turns >= 0, and < 0 */
};

TACT_INLINE int tact_rim_at(int k, int c)
{
    return 4 * (3 * k + c);
}

TACT_INLINE void tact_rim_join(const struct tact_rim_leaf *leaf, uint32_t lane, const tact_d4 h[3],
                               uint32_t h_lane, struct tact_rim_party *p)
{
    static const uint8_t leaves[8] = {0, 0, 1, 1, 2, 0, 2, 0}, enters[8] = {0, 2, 0, 2, 1, 1, 0, 0};
    p->leaf = leaf;
    p->lane = lane;
    p->p = (const double *)leaf->p + lane;
    p->h = (const double *)h + h_lane;
    p->size = leaf->size[lane];
    int below = (p->h[0] < 0.0) | (p->h[4] < 0.0) << 1 | (p->h[8] < 0.0) << 2;
    p->leave = leaves[below];
    p->enter = enters[below];
}

/** The edges of a triangle that cross the other's plane, from below to above: where they begin and
 *  what they lead along, `leave` in lane 0 and `enter` in lane 1. */
TACT_INLINE void tact_rim_rising(const struct tact_rim_party *s, tact_d2 from[3], tact_d2 along[3])
{
    const double *p = s->p + tact_rim_at(s->leave, 0);
    const double *q = s->p + tact_rim_at(tact_rim_next(s->leave), 0);
    const double *u = s->p + tact_rim_at(tact_rim_next(s->enter), 0);
    const double *v = s->p + tact_rim_at(s->enter, 0);
    for (int c = 0; c < 3; c++) {
        const tact_d2 low = {p[4 * c], u[4 * c]}, high = {q[4 * c], v[4 * c]};
        from[c] = low;
        along[c] = high - low;
    }
}

/** The same as tact_rim_past() of two edges whose sign is rounding: found from their corners in the
 *  mesh's order, so that all who ask are told the same. e_up tells that e's second corner is the
 * one above. */
static uint32_t tact_rim_past_by_order(const struct tact_rim *rim,
                                       const struct tact_rim_party *of[2], const int edge[2],
                                       const int up[2])
{
    double from[2][3], along[2][3], apart[3], n[3];
    int turned = 0;
    for (int i = 0; i < 2; i++) {
        const struct tact_near_side *side = i ? &rim->near->b : &rim->near->a;
        const size_t first = (size_t)of[i]->leaf->first + of[i]->lane;
        const uint32_t *index = side->placed.mesh->triangles + 3 * first;
        const int e = edge[i], f = tact_rim_next(e), turn = index[e] > index[f];
        const int low = turn ? f : e, high = turn ? e : f;
        turned ^= turn ^ !up[i];
        for (int c = 0; c < 3; c++) {
            from[i][c] = of[i]->p[tact_rim_at(low, c)];
            along[i][c] = of[i]->p[tact_rim_at(high, c)] - from[i][c];
        }
    }
    tact_v3_sub(apart, from[1], from[0]);
    tact_v3_cross(n, along[0], along[1]);
    return (uint32_t)((tact_v3_dot(n, apart) < 0.0) ^ turned);
}

/** Whether, along the line that the two planes share, edges of t (of B) lie past those of s (of A).
 *  Bit 0: t's leave past s's; bit 1: t's enter past s's. swapped: t's enter past s's leave, and t's
 *  leave past s's enter. */
TACT_INLINE uint32_t tact_rim_past(const struct tact_rim *rim, const struct tact_rim_party *s,
                                   const struct tact_rim_party *t, const tact_d2 edge[4][3],
                                   int swapped)
{
    const tact_d2 *p = edge[0], *e = edge[1];
    tact_d2 f[3], g[3], n[3];
    for (int c = 0; c < 3; c++) {
        const tact_d2 u = edge[2][c], v = edge[3][c], ut = {u[1], u[0]}, vt = {v[1], v[0]};
        g[c] = (swapped ? ut : u) - p[c];
        f[c] = swapped ? vt : v;
    }
    for (int c = 0; c < 3; c++) {
        const int y = (c + 1) % 3, z = (c + 2) % 3;
        n[c] = e[y] * f[z] - e[z] * f[y];
    }
    const tact_d2 d = n[0] * g[0] + n[1] * g[1] + n[2] * g[2];
    const double unsure = TACT_RIM_UNSURE * s->size * t->size * (s->size + t->size);
    uint32_t past = (uint32_t)(d[0] < 0.0) | (uint32_t)(d[1] < 0.0) << 1;
    for (int i = 0; i < 2; i++) {
        if (!(fabs(d[i]) > unsure)) {
            const struct tact_rim_party *of[2] = {s, t};
            const int up[2] = {!i, i == swapped};
            const int of_edge[2] = {up[0] ? s->leave : s->enter, up[1] ? t->leave : t->enter};
            past &= ~(1U << i);
            past |= tact_rim_past_by_order(rim, of, of_edge, up) << i;
        }
    }
    return past;
}

/** End `which` of a segment, on edge e of the triangle. */
TACT_INLINE void tact_rim_set_end(struct tact_rim_segment *g, int which,
                                  const struct tact_rim_party *s, int e, int up, int of_b)
{
    const int next = tact_rim_next(e), p = up ? e : next, q = up ? next : e;
    double share = s->h[4 * p] / (s->h[4 * p] - s->h[4 * q]);
    tact_d4 end = {0.0};
    for (int c = 0; c < 3; c++) {
        const double from = s->p[tact_rim_at(p, c)];
        end[c] = from + share * (s->p[tact_rim_at(q, c)] - from);
    }
    g->end[which] = end;
    g->along[which] = up ? share : 1.0 - share;
    g->edge[which] = (uint8_t)(e + 3 * of_b);
}

/** Adds the segment that two triangles share, where they do; returns 0 or -EAGAIN. */
TACT_INLINE int tact_rim_cross(struct tact_rim *rim, const struct tact_rim_party *s,
                               const struct tact_rim_party *t, const uint32_t triangle[2])
{
    tact_d2 edge[4][3];
    tact_rim_rising(s, edge[0], edge[1]);
    tact_rim_rising(t, edge[2], edge[3]);
    /* The segment runs along s from where s leaves B to where it enters, along t the other way. */
    if (tact_rim_past(rim, s, t, edge, 0) != 1) {
        return 0;
    }
    if (rim->segments == TACT_RIM_SEGMENTS) {
        return -EAGAIN;
    }
    const uint32_t past = tact_rim_past(rim, s, t, edge, 1);
    struct tact_rim_segment *g = &rim->segment[rim->segments];
    if (past & 1) {
        tact_rim_set_end(g, 0, t, t->enter, 0, 1);
    } else {
        tact_rim_set_end(g, 0, s, s->leave, 1, 0);
    }
    if (past & 2) {
        tact_rim_set_end(g, 1, s, s->enter, 0, 0);
    } else {
        tact_rim_set_end(g, 1, t, t->leave, 1, 1);
    }
    for (int i = 0; i < 2; i++) {
        uint32_t *first = &rim->side[i].segment[triangle[i]];
        g->triangle[i] = triangle[i];
        g->next[i] = *first;
        *first = rim->segments;
    }
    rim->segments++;
    return 0;
}

/** Finds where triangle i of leaf a of A crosses those of up to 16 leaves of B that have a bit in
 *  `lanes`, four bits a leaf; returns 0 or -EAGAIN. */
TACT_INLINE int tact_rim_cross_triangle(struct tact_rim *rim, uint32_t a, uint32_t i,
                                        const uint32_t *of_b, uint64_t lanes)
{
    const struct tact_rim_leaf *s = &rim->side[0].leaf[a];
    struct tact_rim_heights h[16];
    uint64_t crossing = 0;
    uint32_t flat = 0;
    for (uint64_t left = lanes; left;) {
        const uint32_t at = (uint32_t)__builtin_ctzll(left) & ~3U, m = at / 4;
        const uint32_t bits = tact_rim_meets(s, i, &rim->side[1].leaf[of_b[m]], rim->slack, &h[m],
                                             (uint32_t)(lanes >> at) & 15, &flat);
        crossing |= (uint64_t)bits << at;
        left &= ~(15ULL << at);
    }
    if (flat) {
        return -EAGAIN;
    }
    for (; crossing; crossing &= crossing - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(crossing), m = bit / 4, j = bit % 4;
        struct tact_rim_party of_s, of_t;
        tact_rim_join(s, i, h[m].of_a, j, &of_s);
        tact_rim_join(&rim->side[1].leaf[of_b[m]], j, h[m].of_b, j, &of_t);
        if (tact_rim_cross(rim, &of_s, &of_t, (uint32_t[]){4 * a + i, 4 * of_b[m] + j})) {
            return -EAGAIN;
        }
    }
    return 0;
}

/** Finds where the triangles of leaf a of A cross those of the `met` leaves of B in rim->met, all
 *  by their places among the leaves that meet; returns 0 or -EAGAIN. Sixteen leaves' bits are taken
 *  together: no guess at the outcome of a single test would be any good. */
TACT_INLINE int tact_rim_cross_leaf(struct tact_rim *rim, uint32_t a, uint32_t met)
{
    const struct tact_rim_leaf *s = &rim->side[0].leaf[a];
    for (uint32_t i = 0; i < s->count; i++) {
        for (uint32_t first = 0; first < met; first += 16) {
            const uint32_t *of_b = &rim->met[first], n = met - first < 16 ? met - first : 16;
            uint64_t lanes = 0;
            for (uint32_t m = 0; m < n; m++) {
                uint32_t bits = tact_rim_touches(s, i, &rim->side[1].leaf[of_b[m]]);
                lanes |= (uint64_t)bits << 4 * m;
            }
            if (tact_rim_cross_triangle(rim, a, i, of_b, lanes)) {
                return -EAGAIN;
            }
        }
    }
    return 0;
}

#endif
