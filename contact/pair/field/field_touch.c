/*
 * Finds all polygons of a contact surface: first polygons of its pieces, and propagation from
 * polygon to polygon across the sides of cells.
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
#include "contact/pair/field/field_cuts_internal.h"
#include "contact/pair/field/field_search_internal.h"
#include "contact/pair/field/field_sphere_internal.h"

/* Shift that moves a triangle off a face, relative to the size: well over rounding. */
#define OFF_FACE_SHIFT_RATIO 1e-11

/* Capacity for pairs of cells, per polygon: where two lattices' surfaces cross, many pairs that
 * overlap have no polygon. */
enum { PAIRS = 16 };

/* Capacity of a cached list of cell pairs, per polygon. */
enum { SEEDS = 2 };

struct tact_field_scratch {
    size_t pair_capacity;   /* pairs */
    size_t hash_slot_count; /* number of slots of the hash table, a power of two, at least twice the
                               number of pairs */
    struct contact_surface_polygon *polygon; /* `list` of them */
    size_t surface_polygon_capacity;
    /* queued pairs of cells, each once, in the order of queueing; pairs whose cells were not cut
     * yet are at the end */
    struct field_cell_pair *tried;
    struct cached_boundary_cell_pair_lists seeds;
    uint32_t *queued_pair_hash_table;      /* hash table: indices of queued pairs in `tried` */
    uint32_t *query_that_filled_hash_slot; /* number of the query that filled each slot of the hash
                                              table */
    uint32_t query;
    size_t cut_cell_pair_count;   /* pairs of cells that the last query cut */
    struct tact_field_cuts *cuts; /* results that queries may use; NULL: none */
};

/* State of a query. */
struct contact_surface_query {
    struct contact_surface_of_fields *out;
    struct tact_field_scratch *scratch;
    const struct tact_field_cuts *cuts; /* results at the pose of the query; NULL: none */
    size_t tried, cut;                  /* pairs */
    size_t found;                       /* polygons that were among the results */
    /* area and force of the polygons found so far; only the direction of the force is used */
    double area, force[3];
    int is_polygon_in_cell_face; /* 1: a polygon lies in a face between two cells of a field */
    int is_surface_polygon_capacity_exceeded;
};

struct tact_field_scratch *tact_field_scratch_create(size_t polygons)
{
    struct tact_field_scratch *scratch = calloc(1, sizeof *scratch);
    const size_t hash_slot_count = tact_field_hash_slot_count(PAIRS * polygons);
    if (scratch) {
        scratch->hash_slot_count = hash_slot_count;
        scratch->pair_capacity = hash_slot_count / 2;
        scratch->surface_polygon_capacity = polygons;
        scratch->polygon = calloc(polygons, sizeof *scratch->polygon);
        scratch->tried = calloc(scratch->pair_capacity, sizeof *scratch->tried);
        scratch->queued_pair_hash_table =
            calloc(hash_slot_count, sizeof *scratch->queued_pair_hash_table);
        scratch->query_that_filled_hash_slot =
            calloc(hash_slot_count, sizeof *scratch->query_that_filled_hash_slot);
        if (tact_field_boundary_pair_lists_init(&scratch->seeds, SEEDS * polygons) ||
            !scratch->polygon || !scratch->tried || !scratch->queued_pair_hash_table ||
            !scratch->query_that_filled_hash_slot) {
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
        free(scratch->queued_pair_hash_table);
        free(scratch->query_that_filled_hash_slot);
        tact_field_boundary_pair_lists_free(&scratch->seeds);
        free(scratch);
    }
}

void tact_field_scratch_use_cuts(struct tact_field_scratch *scratch, struct tact_field_cuts *cuts)
{
    scratch->cuts = cuts;
    scratch->cut_cell_pair_count = 0;
    if (cuts) {
        cuts->found = 0;
    }
}

void tact_field_scratch_copy_candidates(const struct tact_field_scratch *scratch,
                                        struct tact_field_cuts *cuts)
{
    cuts->count = scratch->cut_cell_pair_count < cuts->capacity ? scratch->cut_cell_pair_count
                                                                : cuts->capacity;
    memcpy(cuts->candidate, scratch->tried, cuts->count * sizeof *cuts->candidate);
}

static void begin_contact_surface_query(struct contact_surface_query *w)
{
    struct tact_field_scratch *scratch = w->scratch;
    if (scratch->cuts && tact_field_cuts_apply(scratch->cuts, &w->out->pair)) {
        w->cuts = scratch->cuts;
    }
    if (!++scratch->query) {
        memset(scratch->query_that_filled_hash_slot, 0,
               scratch->hash_slot_count * sizeof *scratch->query_that_filled_hash_slot);
        scratch->query = 1;
    }
}

/* 1 where a pair of cells was queued already; else *free_hash_slot is its slot in the
 * hash table.
 */
static int was_pair_queued(const struct tact_field_scratch *s, uint32_t a, uint32_t b,
                           size_t *free_hash_slot)
{
    size_t i = tact_field_hash_slot_of_cell_pair(a, b, s->hash_slot_count);
    for (; s->query_that_filled_hash_slot[i] == s->query; i = (i + 1) & (s->hash_slot_count - 1)) {
        const struct field_cell_pair *p = &s->tried[s->queued_pair_hash_table[i]];
        if (p->a == a && p->b == b) {
            return 1;
        }
    }
    *free_hash_slot = i;
    return 0;
}

/* Adds a pair of cells to the queue, once. */
static void queue_cell_pair(struct contact_surface_query *w, uint32_t a, uint32_t b)
{
    struct tact_field_scratch *s = w->scratch;
    size_t i;
    if (was_pair_queued(s, a, b, &i)) {
        return;
    }
    if (w->tried == s->pair_capacity) {
        w->is_surface_polygon_capacity_exceeded = 1;
        return;
    }
    s->query_that_filled_hash_slot[i] = s->query;
    s->queued_pair_hash_table[i] = (uint32_t)w->tried;
    s->tried[w->tried++] = (struct field_cell_pair){a, b};
}

/* Adds the pairs of cells across the sides of a polygon to the queue. */
static void queue_neighbours_of_polygon(struct contact_surface_query *w,
                                        const struct contact_surface_polygon *p)
{
    const struct field_pair *pair = &w->out->pair;
    for (int k = 0; k < p->corners; k++) {
        int side = p->side[k];
        if (side >= 4) {
            uint32_t next = pair->b->cells[p->b].next[side - 4];
            if (next != TACT_FIELD_NO_CELL) {
                queue_cell_pair(w, p->a, next);
            }
        } else if (side >= 0) {
            uint32_t next = pair->a->cells[p->a].next[side];
            if (next != TACT_FIELD_NO_CELL) {
                queue_cell_pair(w, next, p->b);
            }
        }
    }
}

/* Sets the polygon of a pair of cells, with its integrals. As tact_field_cut_contact_polygon(). */
static int cut_cell_pair(struct contact_surface_query *w, struct field_cell_pair cells,
                         struct contact_surface_polygon *p)
{
    int rc = w->cuts ? tact_field_cuts_find(w->cuts, cells, p) : TACT_FIELD_NOT_CUT;
    w->found += rc > 0;
    if (rc == TACT_FIELD_NOT_CUT) {
        rc = tact_field_cut_contact_polygon(&w->out->pair, cells.a, cells.b, p);
        if (rc > 0) {
            tact_field_integrate_polygon(p);
        }
    }
    return rc;
}

/* Cuts the queued pairs of cells, and queues the neighbours of those with a polygon. */
static void process_cell_pair_queue(struct contact_surface_query *w)
{
    double before = w->area;
    while (w->cut < w->tried && !w->is_surface_polygon_capacity_exceeded) {
        if (w->out->count == w->scratch->surface_polygon_capacity) {
            w->is_surface_polygon_capacity_exceeded = 1;
            return;
        }
        struct contact_surface_polygon *p = &w->scratch->polygon[w->out->count];
        int rc = cut_cell_pair(w, w->scratch->tried[w->cut++], p);
        w->out->alike += rc < 0;
        if (rc > 0) {
            w->is_polygon_in_cell_face |= p->is_polygon_in_cell_face;
            w->out->count++;
            w->area += p->area_moments.area;
            tact_v3_axpy(w->force, p->load, p->normal);
            queue_neighbours_of_polygon(w, p);
        }
    }
    w->out->pieces += w->area > before;
}

/* Follows the piece of the contact surface that starts in the cells of two leaves. Returns 1 where
 * the capacity is exceeded. */
static int start_surface_piece(void *user, uint32_t leaf_a, uint32_t leaf_b)
{
    struct contact_surface_query *w = user;
    const struct field_pair *pair = &w->out->pair;
    queue_cell_pair(w, pair->a->nodes[leaf_a].first, pair->b->nodes[leaf_b].first);
    process_cell_pair_queue(w);
    return w->is_surface_polygon_capacity_exceeded;
}

/* Starts the pieces of the contact surface that have a rim: at the pairs of a cached list, each
 * tested as in a search, or by a search. */
static void search_pieces_with_rim(struct contact_surface_query *w)
{
    const struct field_pair *pair = &w->out->pair;
    const struct cached_boundary_cell_pair_list *list =
        tact_field_find_boundary_pair_list(&w->scratch->seeds, pair);
    if (!list) {
        tact_field_search_cells(&(struct field_cell_pair_search){
            .pair = pair, .found = start_surface_piece, .user = w});
        return;
    }
    for (size_t i = 0; i < list->count && !w->is_surface_polygon_capacity_exceeded; i++) {
        const struct field_cell_pair *leaf = &list->leaves[i];
        const struct field_node *a = &pair->a->nodes[leaf->a], *b = &pair->b->nodes[leaf->b];
        size_t free_hash_slot;
        if (!was_pair_queued(w->scratch, a->first, b->first, &free_hash_slot) &&
            tact_field_boxes_overlap(pair, &a->rim, &b->rim, 0.0)) {
            start_surface_piece(w, leaf->a, leaf->b);
        }
    }
}

/* 1 where the plane of a half-space may cut cells of a tree node. */
static int may_plane_cut_cells(const struct field_node *node, const double *up, double at,
                               double pressure_slope_of_plane)
{
    const double *h = node->all.half;
    double middle = at + tact_v3_dot(up, node->all.middle);
    double half_extent_along_plane_normal =
        fabs(up[0]) * h[0] + fabs(up[1]) * h[1] + fabs(up[2]) * h[2];
    /* tolerance for boxes that touch the plane except for rounding */
    half_extent_along_plane_normal += 1e-12 * (node->all.radius + fabs(at));
    if (!(pressure_slope_of_plane > 0.0)) {
        return fabs(middle) <= half_extent_along_plane_normal;
    }
    return pressure_slope_of_plane * (-middle - half_extent_along_plane_normal) <= node->most &&
           pressure_slope_of_plane * (half_extent_along_plane_normal - middle) >=
               tact_max(0.0, node->least);
}

/* Searches the cells that a half-space may cut. is_shape_a_halfspace: the half-space is a, and b is
 * rigid. */
static void search_halfspace_cells(struct contact_surface_query *w, int is_shape_a_halfspace)
{
    const struct tact_pressure_field *field_searched_for_plane =
        is_shape_a_halfspace ? w->out->pair.b : w->out->pair.a;
    const struct tact_pressure_field *plane =
        is_shape_a_halfspace ? w->out->pair.a : w->out->pair.b;
    const double *rotation = w->out->pair.rotation;
    double up[3], pressure_slope_of_plane = plane->is_rigid ? 0.0 : -plane->cells->gradient[2],
                  at = w->out->pair.shift[2];
    uint32_t stack[TACT_FIELD_DEPTH + 2];
    int height = 0;
    tact_v3_set(up, is_shape_a_halfspace ? rotation[6] : rotation[2],
                is_shape_a_halfspace ? rotation[7] : rotation[5], rotation[8]);
    if (!is_shape_a_halfspace) {
        at = -tact_v3_dot(up, w->out->pair.shift);
    }
    stack[height++] = 0;
    while (height && !w->is_surface_polygon_capacity_exceeded) {
        const struct field_node *node = &field_searched_for_plane->nodes[stack[--height]];
        if (!may_plane_cut_cells(node, up, at, pressure_slope_of_plane)) {
            continue;
        }
        if (node->leaf) {
            queue_cell_pair(w, is_shape_a_halfspace ? 0 : node->first,
                            is_shape_a_halfspace ? node->first : 0);
            process_cell_pair_queue(w);
        } else {
            stack[height++] = node->first + 1;
            stack[height++] = node->first;
        }
    }
}

/* Starts the closed pieces of the contact surface: searches along the force found so far, else from
 * one field to the other. */
static void search_closed_surface_pieces(struct contact_surface_query *w)
{
    const struct field_pair *pair = &w->out->pair;
    struct field_cell_pair_search search = {
        .pair = pair, .searches_closed_pieces = 1, .found = start_surface_piece, .user = w};
    double *direction = search.back_facing_direction_a;
    tact_v3_copy(direction, w->force);
    if (!(tact_v3_dot(direction, direction) > 0.0)) {
        tact_v3_copy(direction, pair->shift);
    }
    if (!(tact_v3_normalize(direction, direction) > 0.0)) {
        direction[2] = 1.0;
    }
    tact_m3_tmul_v3(search.facing_away_direction_b, pair->rotation, direction);
    tact_field_search_cells(&search);
}

static void search_contact_surface(struct contact_surface_query *w)
{
    if (w->out->pair.b->kind == TACT_FIELD_HALFSPACE ||
        w->out->pair.a->kind == TACT_FIELD_HALFSPACE) {
        search_halfspace_cells(w, w->out->pair.a->kind == TACT_FIELD_HALFSPACE);
        return;
    }
    search_pieces_with_rim(w);
    if (!w->is_surface_polygon_capacity_exceeded) {
        search_closed_surface_pieces(w);
    }
}

/* Repeats the search with b shifted by more than rounding. Rounding puts a rigid triangle in the
 * plane of several faces above some of them and below others, and cells beyond an edge share only
 * that edge with the plane, so that the propagation ends there. The shift removes the coincidence.
 */
static void search_surface_again_shifted(struct contact_surface_query *w)
{
    static const double direction[3] = {0.5377, 0.6219, 0.5694};
    struct contact_surface_of_fields *out = w->out;
    for (int k = 0; k < 3; k++) {
        out->pair.shift[k] += OFF_FACE_SHIFT_RATIO * out->pair.a->size * direction[k];
    }
    out->count = out->pieces = out->alike = 0;
    *w = (struct contact_surface_query){.out = out, .scratch = w->scratch};
    begin_contact_surface_query(w);
    search_contact_surface(w);
}

int tact_field_find_contact_surface(const struct tact_pressure_field *a,
                                    const struct tact_pose *pose_a,
                                    const struct tact_pressure_field *b,
                                    const struct tact_pose *pose_b,
                                    struct tact_field_scratch *scratch,
                                    struct contact_surface_of_fields *out)
{
    struct contact_surface_query w = {.out = out, .scratch = scratch};
    memset(out, 0, sizeof *out);
    if (!tact_fields_can_touch(a, b)) {
        return -ENOTSUP;
    }
    out->swapped = tact_field_must_swap_bodies(a, b);
    out->frame = out->swapped ? pose_b : pose_a;
    out->polygon = scratch->polygon;
    if (out->swapped) {
        tact_field_set_pair_poses(&out->pair, b, pose_b, a, pose_a);
    } else {
        tact_field_set_pair_poses(&out->pair, a, pose_a, b, pose_b);
    }
    begin_contact_surface_query(&w);
    search_contact_surface(&w);
    if (w.is_polygon_in_cell_face && !w.is_surface_polygon_capacity_exceeded) {
        search_surface_again_shifted(&w);
    }
    out->tried = scratch->cut_cell_pair_count = w.cut;
    if (scratch->cuts) {
        scratch->cuts->found = w.found;
    }
    return w.is_surface_polygon_capacity_exceeded ? -ENOSPC : w.area > 0.0;
}

int tact_field_find_ball_surface(const struct field_sphere *sphere,
                                 const struct tact_pressure_field *ball,
                                 const struct tact_pose *pose,
                                 const struct tact_pressure_field *field_of_rigid_solid,
                                 const struct tact_pose *pose_of_rigid_solid,
                                 struct tact_field_scratch *scratch,
                                 struct contact_surface_of_fields *out)
{
    memset(out, 0, sizeof *out);
    out->sphere = *sphere;
    out->frame = pose;
    out->polygon = scratch->polygon;
    tact_field_set_pair_poses(&out->pair, ball, pose, field_of_rigid_solid, pose_of_rigid_solid);
    return tact_field_make_ball_polygons(out, scratch->surface_polygon_capacity);
}

/* Converts the sums over the contact surface to the centre of pressure, world axes, on the query's
 * a. */
static void finish_field_contact_sums(const struct contact_surface_of_fields *of,
                                      struct contact_surface_sums *sums,
                                      struct tact_field_contact *out)
{
    double rotation[9], sign = of->swapped ? 1.0 : -1.0;
    tact_field_shift_to_pressure_centre(sums);
    tact_quat_to_m3(rotation, of->frame->quat_wxyz);
    tact_pose_point(out->centre, of->frame, sums->origin);
    tact_m3_mul_v3(out->wrench, rotation, sums->force);
    tact_m3_mul_v3(out->wrench + 3, rotation, sums->torque);
    for (int k = 0; k < 6; k++) {
        out->wrench[k] *= sign;
    }
    tact_field_rotate_twist_matrix(sums->stiffness, rotation, out->stiffness);
    out->alike += sums->alike;
    out->area = sums->area;
    out->load = sums->load;
}

int tact_field_touch(const struct tact_pressure_field *a, const struct tact_pose *pose_a,
                     const struct tact_pressure_field *b, const struct tact_pose *pose_b,
                     struct tact_field_scratch *scratch, struct tact_field_contact *out)
{
    struct contact_surface_of_fields of;
    struct contact_surface_sums sums = {.area = 0.0};
    int rc = tact_field_find_contact_surface(a, pose_a, b, pose_b, scratch, &of);
    memset(out, 0, sizeof *out);
    out->tried = of.tried;
    out->alike = of.alike;
    if (rc <= 0) {
        return rc;
    }
    tact_v3_copy(sums.origin, of.polygon->corner[0]);
    for (size_t i = 0; i < of.count; i++) {
        const struct contact_surface_polygon *p = &of.polygon[i];
        tact_field_add_polygon_to_sums(&sums, p);
        for (int k = 0; k < p->corners; k++) {
            double level = p->value_at_origin + tact_v3_dot(p->gradient_a, p->corner[k]);
            out->peak = tact_max(out->peak, tact_field_pressure_of_level(p->power, level));
        }
    }
    out->polygons = of.count;
    out->pieces = of.pieces;
    finish_field_contact_sums(&of, &sums, out);
    return 1;
}
