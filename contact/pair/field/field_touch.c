/*
 * All polygons of a contact surface: seeds, and walks from polygon to polygon across the sides of
 * cells.
 *
 * A piece of the surface with a rim passes between the two solids' own surfaces there, where both
 * pressures are 0: a pair of cells at the rim has a polygon. A piece without a rim is closed, so
 * that its normal faces any direction somewhere: one of its polygons has (g_B - g_A).d < 0 for any
 * d, and d along the force of what was found so far leaves few pairs to try.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_internal.h"

struct cell_pair {
    uint32_t a, b;
};

struct tact_field_scratch {
    size_t room;             /* pairs */
    size_t slots;            /* a power of two, at least twice of that */
    struct cell_pair *tried; /* each pair once, in order; those to be cut yet are its end */
    uint32_t *slot;          /* of tried, by a hash; from 1 */
    uint32_t *stamp;         /* of the query that filled the slot */
    uint32_t query;
};

/* A query under way. */
struct walk {
    struct field_pair pair;
    struct tact_field_scratch *scratch;
    struct field_sums sums;
    struct tact_field_contact *out;
    void (*visit)(void *user, const struct tact_field_polygon *polygon);
    void *user;
    size_t tried, cut;             /* pairs */
    double along_a[3], along_b[3]; /* direction that closed pieces face away from, frames of each */
    int closed;                    /* 1: looks for closed pieces */
    int swapped;                   /* 1: b of the query is a here */
    int full;
};

struct tact_field_scratch *tact_field_scratch_create(size_t polygons)
{
    struct tact_field_scratch *scratch = calloc(1, sizeof *scratch);
    size_t slots = 16;
    while (slots < 4 * polygons && slots < (size_t)1 << 31) {
        slots *= 2;
    }
    if (scratch) {
        scratch->slots = slots;
        scratch->room = slots / 2;
        scratch->tried = calloc(scratch->room, sizeof *scratch->tried);
        scratch->slot = calloc(slots, sizeof *scratch->slot);
        scratch->stamp = calloc(slots, sizeof *scratch->stamp);
        if (!scratch->tried || !scratch->slot || !scratch->stamp) {
            tact_field_scratch_destroy(scratch);
            return NULL;
        }
    }
    return scratch;
}

void tact_field_scratch_destroy(struct tact_field_scratch *scratch)
{
    if (scratch) {
        free(scratch->tried);
        free(scratch->slot);
        free(scratch->stamp);
        free(scratch);
    }
}

static void begin_query(struct tact_field_scratch *scratch)
{
    if (!++scratch->query) {
        memset(scratch->stamp, 0, scratch->slots * sizeof *scratch->stamp);
        scratch->query = 1;
    }
}

/* Notes a pair to be cut, once. */
static void note(struct walk *w, uint32_t a, uint32_t b)
{
    struct tact_field_scratch *s = w->scratch;
    uint64_t hash = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 32) & (s->slots - 1);
    for (; s->stamp[i] == s->query; i = (i + 1) & (s->slots - 1)) {
        const struct cell_pair *p = &s->tried[s->slot[i]];
        if (p->a == a && p->b == b) {
            return;
        }
    }
    if (w->tried == s->room) {
        w->full = 1;
        return;
    }
    s->stamp[i] = s->query;
    s->slot[i] = (uint32_t)w->tried;
    s->tried[w->tried++] = (struct cell_pair){a, b};
}

/* Notes the pairs beyond the sides of a polygon. */
static void note_beyond(struct walk *w, const struct cell_pair *of, const struct field_cut *cut)
{
    for (int k = 0; k < cut->n; k++) {
        int side = cut->side[k];
        if (side >= 4) {
            uint32_t next = w->pair.b->cells[of->b].next[side - 4];
            if (next != TACT_FIELD_NONE) {
                note(w, of->a, next);
            }
        } else if (side >= 0) {
            uint32_t next = w->pair.a->cells[of->a].next[side];
            if (next != TACT_FIELD_NONE) {
                note(w, next, of->b);
            }
        }
    }
}

static void add_polygon(struct walk *w, const struct cell_pair *of, const struct field_cut *cut,
                        const struct field_plane *plane)
{
    struct tact_field_polygon polygon = {.a = of->a, .b = of->b};
    if (!w->out->polygons) {
        tact_v3_copy(w->sums.origin, cut->corner[0]);
    }
    tact_field_add(&w->sums, cut, plane, &polygon);
    w->out->polygons++;
    if (!w->visit || !(polygon.area > 0.0)) {
        return;
    }
    if (w->swapped) { /* to the frame of the query's a */
        polygon.a = of->b;
        polygon.b = of->a;
        tact_v3_scale(polygon.normal, polygon.normal, -1.0);
        for (int k = 0; k < polygon.corners; k++) {
            double from[3];
            tact_v3_sub(from, cut->corner[k], w->pair.shift);
            tact_m3_tmul_v3(polygon.corner[k], w->pair.turn, from);
        }
        double *vector[3] = {polygon.normal, polygon.gradient, polygon.first};
        for (int k = 0; k < 3; k++) {
            double from[3];
            tact_v3_copy(from, vector[k]);
            tact_m3_tmul_v3(vector[k], w->pair.turn, from);
        }
    }
    w->visit(w->user, &polygon);
}

/* Cuts what is noted, and walks on. */
static void follow(struct walk *w)
{
    double load = w->sums.area;
    while (w->cut < w->tried && !w->full) {
        struct cell_pair of = w->scratch->tried[w->cut++];
        struct field_cut cut;
        struct field_plane plane;
        int rc = tact_field_cut(&w->pair, of.a, of.b, &cut, &plane);
        w->out->alike += rc < 0;
        if (rc > 0) {
            add_polygon(w, &of, &cut, &plane);
            note_beyond(w, &of, &cut);
        }
    }
    w->out->pieces += w->sums.area > load;
}

/* The least or most of a gradient in a node along d. */
static double slope(const struct field_node *node, const double *d, int most)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double lower = node->slope_lower[k] * d[k], upper = node->slope_upper[k] * d[k];
        sum += most ? tact_max(lower, upper) : tact_min(lower, upper);
    }
    return sum;
}

/* Whether there may be a polygon to start from in the cells of two nodes. */
static int is_worth(const struct walk *w, const struct field_node *a, const struct field_node *b)
{
    if (!w->closed) {
        return tact_field_boxes_overlap(&w->pair, a->rim_lower, a->rim_upper, b->rim_lower,
                                        b->rim_upper);
    }
    return a->least <= b->most && b->least <= a->most &&
           slope(b, w->along_b, 0) < (w->pair.b->rigid ? 0.0 : slope(a, w->along_a, 1)) &&
           tact_field_boxes_overlap(&w->pair, a->lower, a->upper, b->lower, b->upper);
}

static double extent(const struct field_node *node)
{
    double d[3];
    tact_v3_sub(d, node->upper, node->lower);
    return d[0] + d[1] + d[2];
}

/* Tries the pairs of two trees that may start a piece. */
static void search_pairs(struct walk *w)
{
    const struct tact_field *a = w->pair.a, *b = w->pair.b;
    struct cell_pair stack[2 * TACT_FIELD_DEPTH + 2];
    int height = 0;
    stack[height++] = (struct cell_pair){0, 0};
    while (height && !w->full) {
        struct cell_pair at = stack[--height];
        const struct field_node *na = &a->nodes[at.a], *nb = &b->nodes[at.b];
        if (!is_worth(w, na, nb)) {
            continue;
        }
        if (na->leaf && nb->leaf) {
            note(w, na->first, nb->first);
            follow(w);
        } else if (nb->leaf || (!na->leaf && extent(na) > extent(nb))) {
            stack[height++] = (struct cell_pair){na->first + 1, at.b};
            stack[height++] = (struct cell_pair){na->first, at.b};
        } else {
            stack[height++] = (struct cell_pair){at.a, nb->first + 1};
            stack[height++] = (struct cell_pair){at.a, nb->first};
        }
    }
}

/* A half-space against a tree: all cells that its plane may cut. */
static int plane_cuts(const struct field_node *node, const double *up, double at, double soft)
{
    double least = at, most = at;
    for (int k = 0; k < 3; k++) {
        least += tact_min(up[k] * node->lower[k], up[k] * node->upper[k]);
        most += tact_max(up[k] * node->lower[k], up[k] * node->upper[k]);
    }
    if (!(soft > 0.0)) {
        return least <= 0.0 && most >= 0.0;
    }
    return -soft * most <= node->most && -soft * least >= tact_max(0.0, node->least);
}

/* plane_is_a: the half-space is a, and b rigid. */
static void search_plane(struct walk *w, int plane_is_a)
{
    const struct tact_field *tree = plane_is_a ? w->pair.b : w->pair.a;
    const struct tact_field *plane = plane_is_a ? w->pair.a : w->pair.b;
    const double *turn = w->pair.turn;
    double up[3], soft = plane->rigid ? 0.0 : -plane->cells->gradient[2], at = w->pair.shift[2];
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    int height = 0;
    tact_v3_set(up, plane_is_a ? turn[6] : turn[2], plane_is_a ? turn[7] : turn[5], turn[8]);
    if (!plane_is_a) {
        at = -tact_v3_dot(up, w->pair.shift);
    }
    stack[height++] = 0;
    while (height && !w->full) {
        const struct field_node *node = &tree->nodes[stack[--height]];
        if (!plane_cuts(node, up, at, soft)) {
            continue;
        }
        if (node->leaf) {
            note(w, plane_is_a ? 0 : node->first, plane_is_a ? node->first : 0);
            follow(w);
        } else {
            stack[height++] = node->first + 1;
            stack[height++] = node->first;
        }
    }
}

/* Away from which closed pieces are looked for: the force so far, else from one field to the other.
 */
static void choose_direction(struct walk *w)
{
    tact_v3_copy(w->along_a, w->sums.force);
    if (!(tact_v3_dot(w->along_a, w->along_a) > 0.0)) {
        tact_v3_set(w->along_a, w->pair.shift[0], w->pair.shift[1], w->pair.shift[2]);
    }
    if (!(tact_v3_normalize(w->along_a, w->along_a) > 0.0)) {
        w->along_a[2] = 1.0;
    }
    tact_m3_tmul_v3(w->along_b, w->pair.turn, w->along_a);
    w->closed = 1;
}

static void search(struct walk *w)
{
    if (w->pair.b->kind == TACT_FIELD_PLANE || w->pair.a->kind == TACT_FIELD_PLANE) {
        search_plane(w, w->pair.a->kind == TACT_FIELD_PLANE);
        return;
    }
    search_pairs(w);
    choose_direction(w);
    search_pairs(w);
}

/* Fills a 6 x 6 matrix from its lower part, turned to the world. */
static void turn_stiffness(const double *lower, const double *turn, double *out)
{
    double full[36], half[9], block[9];
    for (int p = 0, k = 0; p < 6; p++) {
        for (int q = 0; q <= p; q++, k++) {
            full[6 * p + q] = full[6 * q + p] = lower[k];
        }
    }
    for (int b = 0; b < 4; b++) {
        int row = 3 * (b / 2), column = 3 * (b % 2);
        for (int k = 0; k < 9; k++) {
            block[k] = full[6 * (row + k / 3) + column + k % 3];
        }
        tact_m3_mul(half, turn, block);
        tact_m3_mul_t(block, half, turn);
        for (int k = 0; k < 9; k++) {
            out[6 * (row + k / 3) + column + k % 3] = block[k];
        }
    }
}

/* The stiffness about a place that is `arm` from the sums' own: K_c = X' K X with the twist (v, w)
 * about c moving their origin at v - w x arm. */
static void shift_stiffness(double *k, const double *arm)
{
    const double cross[9] = {0.0, -arm[2], arm[1], arm[2], 0.0, -arm[0], -arm[1], arm[0], 0.0};
    /* v_o = v + w x (o - c) = v + arm x w with arm = c - o */
    for (int row = 0; row < 6; row++) {
        for (int q = 0; q < 3; q++) {
            for (int r = 0; r < 3; r++) {
                k[6 * row + 3 + q] += k[6 * row + r] * cross[3 * r + q];
            }
        }
    }
    for (int column = 0; column < 6; column++) {
        for (int q = 0; q < 3; q++) {
            for (int r = 0; r < 3; r++) {
                k[6 * (3 + q) + column] += cross[3 * r + q] * k[6 * r + column];
            }
        }
    }
}

/* The sums about their centre of pressure, in world axes, on the query's a. */
static void finish(const struct walk *w, const struct tact_pose *pose,
                   struct tact_field_contact *out)
{
    const struct field_sums *s = &w->sums;
    double turn[9], arm[3], lever[3], place[3], torque[3], sign = w->swapped ? 1.0 : -1.0;
    tact_quat_to_m3(turn, pose->quat_wxyz);
    tact_v3_scale(arm, s->first, s->load > 0.0 ? 1.0 / s->load : 0.0);
    tact_v3_add(place, s->origin, arm);
    tact_pose_point(out->centre, pose, place);
    tact_v3_cross(lever, arm, s->force);
    tact_v3_sub(torque, s->torque, lever);
    tact_m3_mul_v3(out->wrench, turn, s->force);
    tact_m3_mul_v3(out->wrench + 3, turn, torque);
    for (int k = 0; k < 6; k++) {
        out->wrench[k] *= sign;
    }
    turn_stiffness(s->stiffness, turn, out->stiffness);
    tact_m3_mul_v3(lever, turn, arm);
    shift_stiffness(out->stiffness, lever);
    out->alike += s->alike;
    out->area = s->area;
    out->load = s->load;
    out->peak = s->peak;
}

int tact_field_touch(const struct tact_field *a, const struct tact_pose *pose_a,
                     const struct tact_field *b, const struct tact_pose *pose_b,
                     struct tact_field_scratch *scratch,
                     void (*visit)(void *user, const struct tact_field_polygon *polygon),
                     void *user, struct tact_field_contact *out)
{
    struct walk w = {.scratch = scratch,
                     .out = out,
                     .visit = visit,
                     .user = user,
                     .swapped = tact_field_swaps(a, b)};
    memset(out, 0, sizeof *out);
    if (!tact_field_meets(a, b)) {
        return -ENOTSUP;
    }
    if (w.swapped) {
        tact_field_place(&w.pair, b, pose_b, a, pose_a);
    } else {
        tact_field_place(&w.pair, a, pose_a, b, pose_b);
    }
    begin_query(scratch);
    search(&w);
    out->tried = w.cut;
    if (w.full) {
        return -ENOSPC;
    }
    if (!(w.sums.area > 0.0)) {
        out->polygons = 0;
        return 0;
    }
    finish(&w, w.swapped ? pose_b : pose_a, out);
    return 1;
}
