/* The rim of an overlap: the pairs of triangles that cross, and where. */
#include "contact/moments/moments_rim_internal.h"

/** Rounding of a determinant of differences, against the product of their greatest coordinates:
 *  below it a sign depends on the order of the corners. */
static const double UNSURE = 64.0 * DBL_EPSILON;

TACT_INLINE void span_eight(const struct tact_rim_eight *e, float low[3], float high[3])
{
    for (int d = 0; d < 3; d++) {
        const float *l = (const float *)&e->lower[d], *u = (const float *)&e->upper[d];
        float l0 = l[0] < l[1] ? l[0] : l[1], l1 = l[2] < l[3] ? l[2] : l[3];
        float l2 = l[4] < l[5] ? l[4] : l[5], l3 = l[6] < l[7] ? l[6] : l[7];
        float u0 = u[0] > u[1] ? u[0] : u[1], u1 = u[2] > u[3] ? u[2] : u[3];
        float u2 = u[4] > u[5] ? u[4] : u[5], u3 = u[6] > u[7] ? u[6] : u[7];
        l0 = l0 < l1 ? l0 : l1;
        l2 = l2 < l3 ? l2 : l3;
        u0 = u0 > u1 ? u0 : u1;
        u2 = u2 > u3 ? u2 : u3;
        low[d] = l0 < l2 ? l0 : l2;
        high[d] = u0 > u2 ? u0 : u2;
    }
}

TACT_INLINE void set_box(struct tact_rim_eight *e, uint32_t k, const float low[3],
                         const float high[3])
{
    for (int d = 0; d < 3; d++) {
        ((float *)&e->lower[d])[k] = low[d];
        ((float *)&e->upper[d])[k] = high[d];
    }
}

/** Puts boxes over the leaves near, eight by eight. */
TACT_INLINE void build(struct tact_rim_side *side, const struct tact_near_side *near)
{
    static const float never[3] = {INFINITY, INFINITY, INFINITY};
    static const float ever[3] = {-INFINITY, -INFINITY, -INFINITY};
    uint32_t count = side->count = near->leaves, eights = (count + 7) / 8, first = 0;
    for (uint32_t e = 0; e < eights; e++) {
        for (int d = 0; d < 3; d++) {
            side->eights[e].lower[d] = near->leaf_lower[d][e];
            side->eights[e].upper[d] = near->leaf_upper[d][e];
        }
    }
    side->top = 0;
    side->level[0] = 0;
    for (; count > 8; count = eights, eights = (eights + 7) / 8) {
        uint32_t next = first + eights;
        for (uint32_t k = count; k < 8 * eights; k++) {
            set_box(&side->eights[first + k / 8], k % 8, never, ever);
        }
        for (uint32_t e = 0; e < eights; e++) {
            float low[3], high[3];
            span_eight(&side->eights[first + e], low, high);
            set_box(&side->eights[next + e / 8], e % 8, low, high);
        }
        first = next;
        side->level[++side->top] = next;
    }
    for (uint32_t k = count; k < 8; k++) {
        set_box(&side->eights[first], k, never, ever);
    }
}

/** A leaf among those that meet the other mesh, placed where it was not yet. NULL where there is no
 *  room. */
TACT_INLINE struct tact_rim_leaf *meeting(struct tact_rim_side *side,
                                          const struct tact_near_side *near, uint32_t i)
{
    if (side->at[i] == TACT_RIM_NONE) {
        if (side->placed == TACT_RIM_LEAVES) {
            return NULL;
        }
        side->at[i] = side->placed++;
        tact_rim_place(&near->placed, near->leaf[i], &side->leaf[side->at[i]]);
        for (uint32_t k = 0; k < 4; k++) {
            side->segment[4 * side->at[i] + k] = TACT_RIM_NONE;
        }
    }
    return &side->leaf[side->at[i]];
}

/** One triangle of two that cross. */
struct party {
    double p[3][3], h[3]; /* corners, and their heights over the other's plane */
    const uint32_t *index;
    double size;
    int leave, enter; /* edges on which, counter-clockwise, the height turns >= 0, and < 0 */
};

static void join(const struct tact_mesh *mesh, const struct tact_rim_leaf *leaf, uint32_t lane,
                 const tact_d4 h[3], uint32_t h_lane, struct party *p)
{
    static const int leaves[8] = {0, 0, 1, 1, 2, 0, 2, 0}, enters[8] = {0, 2, 0, 2, 1, 1, 0, 0};
    int below = 0;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            p->p[k][c] = leaf->p[k][c][lane];
        }
        p->h[k] = h[k][h_lane];
        below |= (p->h[k] < 0.0) << k;
    }
    p->index = mesh->triangles + 3 * ((size_t)leaf->first + lane);
    p->size = leaf->size[lane];
    p->leave = leaves[below];
    p->enter = enters[below];
}

static double determinant(const double *p, const double *q, const double *u, const double *v)
{
    double e[3], f[3], g[3], n[3];
    tact_v3_sub(e, q, p);
    tact_v3_sub(f, v, u);
    tact_v3_sub(g, u, p);
    tact_v3_cross(n, e, f);
    return tact_v3_dot(n, g);
}

/** Whether, along the line that the two planes share, edge f of t lies past edge e of s. Both run
 *  from below the other's plane to above; e_up tells that e's second corner is the one above. */
static int is_past(const struct party *s, int e, int e_up, const struct party *t, int f, int f_up)
{
    int p = e_up ? e : (e + 1) % 3, q = e_up ? (e + 1) % 3 : e;
    int u = f_up ? f : (f + 1) % 3, v = f_up ? (f + 1) % 3 : f;
    double d = determinant(s->p[p], s->p[q], t->p[u], t->p[v]);
    if (fabs(d) > UNSURE * s->size * t->size * (s->size + t->size)) {
        return d < 0.0;
    }
    int turned = (s->index[p] > s->index[q]) ^ (t->index[u] > t->index[v]);
    if (s->index[p] > s->index[q]) {
        int swap = p;
        p = q;
        q = swap;
    }
    if (t->index[u] > t->index[v]) {
        int swap = u;
        u = v;
        v = swap;
    }
    return (determinant(s->p[p], s->p[q], t->p[u], t->p[v]) < 0.0) ^ turned;
}

/** End `which` of a segment, on edge e of the triangle. */
static void set_end(struct tact_rim_segment *g, int which, const struct party *s, int e, int up,
                    int of_b)
{
    int p = up ? e : (e + 1) % 3, q = up ? (e + 1) % 3 : e;
    double share = s->h[p] / (s->h[p] - s->h[q]);
    tact_d4 end = {0.0};
    for (int c = 0; c < 3; c++) {
        end[c] = s->p[p][c] + share * (s->p[q][c] - s->p[p][c]);
    }
    g->end[which] = end;
    g->along[which] = up ? share : 1.0 - share;
    g->edge[which] = (uint8_t)(e + 3 * of_b);
}

/** Adds the segment that two triangles share, where they do; returns 0 or -EAGAIN. */
static int cross(struct tact_rim *rim, const struct party *s, const struct party *t,
                 const uint32_t triangle[2])
{
    /* The segment runs along s from where s leaves B to where it enters, along t the other way. */
    if (!is_past(s, s->leave, 1, t, t->leave, 1) || is_past(s, s->enter, 0, t, t->enter, 0)) {
        return 0;
    }
    if (rim->segments == TACT_RIM_SEGMENTS) {
        return -EAGAIN;
    }
    struct tact_rim_segment *g = &rim->segment[rim->segments];
    if (is_past(s, s->leave, 1, t, t->enter, 0)) {
        set_end(g, 0, t, t->enter, 0, 1);
    } else {
        set_end(g, 0, s, s->leave, 1, 0);
    }
    if (is_past(s, s->enter, 0, t, t->leave, 1)) {
        set_end(g, 1, s, s->enter, 0, 0);
    } else {
        set_end(g, 1, t, t->leave, 1, 1);
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

/** Finds where the triangles of two leaves cross, by their places among those that meet. */
TACT_INLINE int cross_leaves(struct tact_rim *rim, uint32_t a, uint32_t b)
{
    const struct tact_rim_leaf *s = &rim->side[0].leaf[a], *t = &rim->side[1].leaf[b];
    for (uint32_t i = 0; i < s->count; i++) {
        struct tact_rim_heights h;
        int flat = 0;
        uint32_t bits = tact_rim_meets(s, i, t, rim->slack, &h, &flat);
        if (flat) {
            return -EAGAIN;
        }
        for (; bits; bits &= bits - 1) {
            uint32_t j = (uint32_t)__builtin_ctz(bits);
            struct party of_a, of_b;
            join(rim->near->a.placed.mesh, s, i, h.of_a, j, &of_a);
            join(rim->near->b.placed.mesh, t, j, h.of_b, j, &of_b);
            if (cross(rim, &of_a, &of_b, (uint32_t[]){4 * a + i, 4 * b + j})) {
                return -EAGAIN;
            }
        }
    }
    return 0;
}

/** Bits of the eight boxes that meet one. */
TACT_INLINE uint32_t eight_meets(const struct tact_rim_eight *e, const float low[3],
                                 const float high[3])
{
    uint32_t bits;
    tact_i8 keep = (e->lower[0] <= high[0]) & (e->upper[0] >= low[0]);
    for (int d = 1; d < 3; d++) {
        keep &= (e->lower[d] <= high[d]) & (e->upper[d] >= low[d]);
    }
    tact_i8_bits(&keep, &bits);
    return bits;
}

TACT_INLINE void take_box(const struct tact_rim_side *side, uint32_t box, float low[3],
                          float high[3])
{
    uint32_t k = box & 0xFFFF;
    const struct tact_rim_eight *e = &side->eights[side->level[box >> 16] + k / 8];
    for (int d = 0; d < 3; d++) {
        low[d] = ((const float *)&e->lower[d])[k % 8];
        high[d] = ((const float *)&e->upper[d])[k % 8];
    }
}

/** Whether a box of one side meets any leaf of the other. */
TACT_INLINE int meets_any(const struct tact_rim_side *side, uint32_t box,
                          const struct tact_rim_side *other)
{
    uint32_t stack[8 * TACT_RIM_LEVELS], top = 0;
    float low[3], high[3];
    take_box(side, box, low, high);
    stack[top++] = tact_rim_box((uint32_t)other->top, 0);
    while (top > 0) {
        uint32_t level = stack[--top] >> 16, at = stack[top] & 0xFFFF;
        uint32_t bits = eight_meets(&other->eights[other->level[level] + at], low, high);
        if (bits && level == 0) {
            return 1;
        }
        for (; bits; bits &= bits - 1) {
            stack[top++] = tact_rim_box(level - 1, 8 * at + (uint32_t)__builtin_ctz(bits));
        }
    }
    return 0;
}

/** Whether a leaf of A and one of B span common heights along the normal. */
TACT_INLINE int along_normal(const struct tact_near *near, uint32_t a, uint32_t b)
{
    const float *low_a = (const float *)near->a.leaf_lower[3];
    const float *low_b = (const float *)near->b.leaf_lower[3];
    return low_a[a] <= ((const float *)near->b.leaf_upper[3])[b] &&
           low_b[b] <= ((const float *)near->a.leaf_upper[3])[a];
}

/** Holds a leaf of A against those of B. */
TACT_INLINE int find_leaf(struct tact_rim *rim, uint32_t i)
{
    struct tact_rim_side *a = &rim->side[0], *b = &rim->side[1];
    uint32_t stack[8 * TACT_RIM_LEVELS], top = 0;
    float low[3], high[3];
    take_box(a, tact_rim_box(0, i), low, high);
    stack[top++] = tact_rim_box((uint32_t)b->top, 0);
    while (top > 0) {
        uint32_t level = stack[--top] >> 16, at = stack[top] & 0xFFFF;
        uint32_t bits = eight_meets(&b->eights[b->level[level] + at], low, high);
        for (; bits; bits &= bits - 1) {
            uint32_t k = 8 * at + (uint32_t)__builtin_ctz(bits);
            if (level > 0) {
                stack[top++] = tact_rim_box(level - 1, k);
            } else if (!meeting(a, &rim->near->a, i) || !meeting(b, &rim->near->b, k) ||
                       (along_normal(rim->near, i, k) && cross_leaves(rim, a->at[i], b->at[k]))) {
                return -EAGAIN;
            }
        }
    }
    return 0;
}

/** Parts a side's boxes, from large to small, into those that meet nothing of the other and leaves
 *  that do; of A, these are held against B's. */
TACT_INLINE int part(struct tact_rim *rim, int of)
{
    struct tact_rim_side *side = &rim->side[of], *other = &rim->side[!of];
    uint32_t stack[8 * TACT_RIM_LEVELS], top = 0;
    for (uint32_t k = 8; k-- > 0;) {
        stack[top++] = tact_rim_box((uint32_t)side->top, k);
    }
    side->apart_count = 0;
    while (top > 0) {
        uint32_t box = stack[--top], level = box >> 16, first = (box & 0xFFFF) << 3 * level;
        if (first >= side->count) {
            continue;
        }
        if (level == 0 && of == 0 && find_leaf(rim, first)) {
            return -EAGAIN;
        }
        if (level == 0 ? side->at[first] == TACT_RIM_NONE : !meets_any(side, box, other)) {
            side->apart[side->apart_count++] = box;
            continue;
        }
        for (uint32_t k = 8; k-- > 0 && level > 0;) {
            stack[top++] = tact_rim_box(level - 1, 8 * (box & 0xFFFF) + k);
        }
    }
    return 0;
}

TACT_CLONES static int find(struct tact_rim *rim)
{
    int rc = tact_near_cut_trees(rim->near, TACT_NEAR_MOST);
    if (rc <= 0) {
        return rc ? -EAGAIN : 0;
    }
    build(&rim->side[0], &rim->near->a);
    build(&rim->side[1], &rim->near->b);
    rim->segments = 0;
    for (int i = 0; i < 2; i++) {
        struct tact_rim_side *side = &rim->side[i];
        side->placed = 0;
        memset(side->at, 0xFF, side->count * sizeof *side->at);
    }
    return part(rim, 0) || part(rim, 1) ? -EAGAIN : 1;
}

int tact_rim_find(struct tact_rim *rim)
{
    return find(rim);
}
