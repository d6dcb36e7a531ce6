/*
 * All polygons of a contact surface: seeds, and propagation from polygon to polygon across the
 * sides of cells.
 *
 * A piece of the surface with a rim passes between the two solids' own surfaces there, where both
 * pressures are 0: a pair of cells at the rim has a polygon. A piece without a rim is closed, so
 * that its normal has every direction somewhere: one of its polygons has (g_B - g_A).d < 0 for any
 * d. With d along the force found so far, few pairs have to be tested.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_search_internal.h"
#include "contact/pair/field/field_sphere_internal.h"

#define OFF_FACE_SHIFT_RATIO 1e-11 /* shift off a face, of the size: well over rounding */

/* Pairs of cells for each polygon: where two lattices' surfaces cross, many that overlap have none.
 */
enum { PAIRS = 16 };

/* Pairs in a list of seeds, for each polygon. */
enum { SEEDS = 2 };

struct tact_field_scratch {
    size_t room;                   /* pairs */
    size_t slots;                  /* a power of two, at least twice as many */
    struct field_polygon *polygon; /* `list` of them */
    size_t list;
    struct field_cell_pair *tried; /* each pair once, in order; those not cut yet are at its end */
    struct field_seeds seeds;
    uint32_t *slot;  /* indices in tried by a hash, from 1 */
    uint32_t *stamp; /* number of the query that filled the slot */
    uint32_t query;
};

/* State of a query. */
struct walk {
    struct field_surface *out;
    struct tact_field_scratch *scratch;
    size_t tried, cut; /* pairs */
    double area,
        force[3]; /* area and force of the polygons so far; the force without its magnitude */
    int in_face;  /* 1: a polygon lies in a face between two cells */
    int full;
};

struct tact_field_scratch *tact_field_scratch_create(size_t polygons)
{
    struct tact_field_scratch *scratch = calloc(1, sizeof *scratch);
    size_t slots = 16;
    while (slots < 2 * PAIRS * polygons && slots < (size_t)1 << 31) {
        slots *= 2;
    }
    if (scratch) {
        scratch->slots = slots;
        scratch->room = slots / 2;
        scratch->list = polygons;
        scratch->polygon = calloc(polygons, sizeof *scratch->polygon);
        scratch->tried = calloc(scratch->room, sizeof *scratch->tried);
        scratch->slot = calloc(slots, sizeof *scratch->slot);
        scratch->stamp = calloc(slots, sizeof *scratch->stamp);
        if (tact_field_seeds_init(&scratch->seeds, SEEDS * polygons) || !scratch->polygon ||
            !scratch->tried || !scratch->slot || !scratch->stamp) {
            tact_field_scratch_destroy(scratch);
            return NULL;
        }
    }
    return scratch;
}

void tact_field_scratch_destroy(struct tact_field_scratch *scratch)
{
    if (scratch) {
        free(scratch->polygon);
        free(scratch->tried);
        free(scratch->slot);
        free(scratch->stamp);
        tact_field_seeds_free(&scratch->seeds);
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

/* 1 where a pair was queued; else *slot is where it belongs. */
static int was_pair_queued(const struct tact_field_scratch *s, uint32_t a, uint32_t b, size_t *slot)
{
    uint64_t hash = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 32) & (s->slots - 1);
    for (; s->stamp[i] == s->query; i = (i + 1) & (s->slots - 1)) {
        const struct field_cell_pair *p = &s->tried[s->slot[i]];
        if (p->a == a && p->b == b) {
            return 1;
        }
    }
    *slot = i;
    return 0;
}

/* Queues a pair of cells to be cut, once. */
static void queue_pair(struct walk *w, uint32_t a, uint32_t b)
{
    struct tact_field_scratch *s = w->scratch;
    size_t i;
    if (was_pair_queued(s, a, b, &i)) {
        return;
    }
    if (w->tried == s->room) {
        w->full = 1;
        return;
    }
    s->stamp[i] = s->query;
    s->slot[i] = (uint32_t)w->tried;
    s->tried[w->tried++] = (struct field_cell_pair){a, b};
}

/* Queues the pairs across the sides of a polygon. */
static void queue_neighbours(struct walk *w, const struct field_polygon *p)
{
    const struct field_pair *pair = &w->out->pair;
    for (int k = 0; k < p->corners; k++) {
        int side = p->side[k];
        if (side >= 4) {
            uint32_t next = pair->b->cells[p->b].next[side - 4];
            if (next != TACT_FIELD_NO_CELL) {
                queue_pair(w, p->a, next);
            }
        } else if (side >= 0) {
            uint32_t next = pair->a->cells[p->a].next[side];
            if (next != TACT_FIELD_NO_CELL) {
                queue_pair(w, next, p->b);
            }
        }
    }
}

/* Cuts the queued pairs, and queues their neighbours. */
static void process_cell_pair_queue(struct walk *w)
{
    double before = w->area;
    while (w->cut < w->tried && !w->full) {
        if (w->out->count == w->scratch->list) {
            w->full = 1;
            return;
        }
        struct field_polygon *p = &w->scratch->polygon[w->out->count];
        struct field_cell_pair of = w->scratch->tried[w->cut++];
        int rc = tact_field_cut_cells(&w->out->pair, of.a, of.b, p);
        w->out->alike += rc < 0;
        if (rc > 0) {
            tact_field_integrate(p);
            w->in_face |= p->in_face;
            w->out->count++;
            w->area += p->flat.area;
            tact_v3_axpy(w->force, p->load, p->normal);
            queue_neighbours(w, p);
        }
    }
    w->out->pieces += w->area > before;
}

/* Follows the piece of the surface that the cells of two leaves may start. Returns 1 without room.
 */
static int start_piece(void *user, uint32_t leaf_a, uint32_t leaf_b)
{
    struct walk *w = user;
    const struct field_pair *pair = &w->out->pair;
    queue_pair(w, pair->a->nodes[leaf_a].first, pair->b->nodes[leaf_b].first);
    process_cell_pair_queue(w);
    return w->full;
}

/* Starts pieces with a rim: at the pairs of a list, each tested as in a search, or by a search. */
static void search_at_rim(struct walk *w)
{
    const struct field_pair *pair = &w->out->pair;
    const struct field_seed_list *list = tact_field_find_seed_list(&w->scratch->seeds, pair);
    if (!list) {
        tact_field_search_cells(
            &(struct field_search){.pair = pair, .found = start_piece, .user = w});
        return;
    }
    for (size_t i = 0; i < list->count && !w->full; i++) {
        const struct field_cell_pair *leaf = &list->leaves[i];
        const struct field_node *a = &pair->a->nodes[leaf->a], *b = &pair->b->nodes[leaf->b];
        size_t slot;
        if (!was_pair_queued(w->scratch, a->first, b->first, &slot) &&
            tact_field_boxes_overlap(pair, &a->rim, &b->rim, 0.0)) {
            start_piece(w, leaf->a, leaf->b);
        }
    }
}

/* 1 where the plane of a half-space may cut cells of a node. */
static int may_plane_cut_cells(const struct field_node *node, const double *up, double at,
                               double soft)
{
    const double *h = node->all.half;
    double middle = at + tact_v3_dot(up, node->all.middle);
    double reach = fabs(up[0]) * h[0] + fabs(up[1]) * h[1] + fabs(up[2]) * h[2];
    reach += 1e-12 * (node->all.radius + fabs(at)); /* rounding of what touches */
    if (!(soft > 0.0)) {
        return fabs(middle) <= reach;
    }
    return soft * (-middle - reach) <= node->most &&
           soft * (reach - middle) >= tact_max(0.0, node->least);
}

/* plane_is_a: the half-space is a, and b rigid. */
static void search_halfspace_cells(struct walk *w, int plane_is_a)
{
    const struct tact_pressure_field *tree = plane_is_a ? w->out->pair.b : w->out->pair.a;
    const struct tact_pressure_field *plane = plane_is_a ? w->out->pair.a : w->out->pair.b;
    const double *turn = w->out->pair.turn;
    double up[3], soft = plane->rigid ? 0.0 : -plane->cells->gradient[2],
                  at = w->out->pair.shift[2];
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    int height = 0;
    tact_v3_set(up, plane_is_a ? turn[6] : turn[2], plane_is_a ? turn[7] : turn[5], turn[8]);
    if (!plane_is_a) {
        at = -tact_v3_dot(up, w->out->pair.shift);
    }
    stack[height++] = 0;
    while (height && !w->full) {
        const struct field_node *node = &tree->nodes[stack[--height]];
        if (!may_plane_cut_cells(node, up, at, soft)) {
            continue;
        }
        if (node->leaf) {
            queue_pair(w, plane_is_a ? 0 : node->first, plane_is_a ? node->first : 0);
            process_cell_pair_queue(w);
        } else {
            stack[height++] = node->first + 1;
            stack[height++] = node->first;
        }
    }
}

/* Starts closed pieces: searches along the force so far, else from one field to the other. */
static void search_closed_pieces(struct walk *w)
{
    const struct field_pair *pair = &w->out->pair;
    struct field_search search = {.pair = pair, .closed = 1, .found = start_piece, .user = w};
    double *direction = search.back_facing_direction_a;
    tact_v3_copy(direction, w->force);
    if (!(tact_v3_dot(direction, direction) > 0.0)) {
        tact_v3_copy(direction, pair->shift);
    }
    if (!(tact_v3_normalize(direction, direction) > 0.0)) {
        direction[2] = 1.0;
    }
    tact_m3_tmul_v3(search.facing_away_direction_b, pair->turn, direction);
    tact_field_search_cells(&search);
}

static void search(struct walk *w)
{
    if (w->out->pair.b->kind == TACT_FIELD_PLANE || w->out->pair.a->kind == TACT_FIELD_PLANE) {
        search_halfspace_cells(w, w->out->pair.a->kind == TACT_FIELD_PLANE);
        return;
    }
    search_at_rim(w);
    if (!w->full) {
        search_closed_pieces(w);
    }
}

/* Repeats a search with b shifted. Rounding puts a rigid triangle in the plane of several faces
 * above some of them and below others, and cells beyond an edge share only that edge with the
 * plane, so that the walk ends there. A shift well over rounding removes the coincidence. */
static void search_again_shifted(struct walk *w)
{
    static const double way[3] = {0.5377, 0.6219, 0.5694};
    struct field_surface *out = w->out;
    for (int k = 0; k < 3; k++) {
        out->pair.shift[k] += OFF_FACE_SHIFT_RATIO * out->pair.a->size * way[k];
    }
    out->count = out->pieces = out->alike = 0;
    *w = (struct walk){.out = out, .scratch = w->scratch};
    begin_query(w->scratch);
    search(w);
}

int tact_field_find_contact_surface(const struct tact_pressure_field *a,
                                    const struct tact_pose *pose_a,
                                    const struct tact_pressure_field *b,
                                    const struct tact_pose *pose_b,
                                    struct tact_field_scratch *scratch, struct field_surface *out)
{
    struct walk w = {.out = out, .scratch = scratch};
    memset(out, 0, sizeof *out);
    if (!tact_field_can_touch(a, b)) {
        return -ENOTSUP;
    }
    out->swapped = tact_field_must_swap(a, b);
    out->frame = out->swapped ? pose_b : pose_a;
    out->polygon = scratch->polygon;
    if (out->swapped) {
        tact_field_place_pair(&out->pair, b, pose_b, a, pose_a);
    } else {
        tact_field_place_pair(&out->pair, a, pose_a, b, pose_b);
    }
    begin_query(scratch);
    search(&w);
    if (w.in_face && !w.full) {
        search_again_shifted(&w);
    }
    out->tried = w.cut;
    return w.full ? -ENOSPC : w.area > 0.0;
}

int tact_field_find_sphere(const struct field_sphere *sphere,
                           const struct tact_pressure_field *ball, const struct tact_pose *pose,
                           const struct tact_pressure_field *rigid,
                           const struct tact_pose *rigid_pose, struct tact_field_scratch *scratch,
                           struct field_surface *out)
{
    memset(out, 0, sizeof *out);
    out->sphere = *sphere;
    out->frame = pose;
    out->polygon = scratch->polygon;
    tact_field_place_pair(&out->pair, ball, pose, rigid, rigid_pose);
    return tact_field_sphere(out, scratch->list);
}

/* Converts the sums to the centre of pressure, world axes, on the query's a. */
static void finish_contact_sums(const struct field_surface *of, struct field_sums *sums,
                                struct tact_field_contact *out)
{
    double turn[9], sign = of->swapped ? 1.0 : -1.0;
    tact_field_shift_to_pressure_centre(sums);
    tact_quat_to_m3(turn, of->frame->quat_wxyz);
    tact_pose_point(out->centre, of->frame, sums->origin);
    tact_m3_mul_v3(out->wrench, turn, sums->force);
    tact_m3_mul_v3(out->wrench + 3, turn, sums->torque);
    for (int k = 0; k < 6; k++) {
        out->wrench[k] *= sign;
    }
    tact_field_rotate_matrix(sums->stiffness, turn, out->stiffness);
    out->alike += sums->alike;
    out->area = sums->area;
    out->load = sums->load;
}

int tact_field_touch(const struct tact_pressure_field *a, const struct tact_pose *pose_a,
                     const struct tact_pressure_field *b, const struct tact_pose *pose_b,
                     struct tact_field_scratch *scratch, struct tact_field_contact *out)
{
    struct field_surface of;
    struct field_sums sums = {.area = 0.0};
    int rc = tact_field_find_contact_surface(a, pose_a, b, pose_b, scratch, &of);
    memset(out, 0, sizeof *out);
    out->tried = of.tried;
    out->alike = of.alike;
    if (rc <= 0) {
        return rc;
    }
    tact_v3_copy(sums.origin, of.polygon->corner[0]);
    for (size_t i = 0; i < of.count; i++) {
        const struct field_polygon *p = &of.polygon[i];
        tact_field_add_polygon(&sums, p);
        for (int k = 0; k < p->corners; k++) {
            double level = p->base + tact_v3_dot(p->slope_a, p->corner[k]);
            out->peak = tact_max(out->peak, tact_field_pressure_law(p->power, level));
        }
    }
    out->polygons = of.count;
    out->pieces = of.pieces;
    finish_contact_sums(&of, &sums, out);
    return 1;
}
