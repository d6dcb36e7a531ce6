/*
 * The lists of pairs of cells at the zero-pressure boundary that queries of a thread keep (struct
 * cached_boundary_cell_pair_lists).
 *
 * The boxes of two cells that overlap at a pose overlap within d at each pose from which no point
 * of either solid has moved by more than d relative to the other: a list made with a margin has all
 * pairs of the poses within it (Verlet 1967, Phys. Rev. 159, section II, for molecules).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contact/pair/field/field_search_internal.h"

/* Margin of a new list, relative to the motion from one query to the next. */
#define SEED_LIST_MARGIN_TO_MOTION_RATIO 4.0
/* Smallest margin of a list, relative to the size of the cells at the boundary. */
#define MIN_SEED_LIST_MARGIN_RATIO 0.015625
/* Fraction of the margin that motion may use; the rest is for rounding. */
#define USABLE_SEED_LIST_MARGIN_RATIO 0.999
/* Largest stretch by a difference of two rotation matrices, relative to its norm. */
#define MAX_ROTATION_STRETCH_RATIO 0.7071068
enum { QUERIES_AFTER_LONG_LIST = 64 };

int tact_field_boundary_pair_lists_init(struct cached_boundary_cell_pair_lists *seeds,
                                        size_t seed_capacity)
{
    *seeds = (struct cached_boundary_cell_pair_lists){.seed_capacity = seed_capacity};
    for (int i = 0; i < TACT_FIELD_SEED_LISTS; i++) {
        seeds->list[i].margin = -1.0;
        seeds->list[i].leaves = calloc(seed_capacity, sizeof *seeds->list[i].leaves);
        if (!seeds->list[i].leaves) {
            tact_field_boundary_pair_lists_free(seeds);
            return -ENOMEM;
        }
    }
    return 0;
}

void tact_field_boundary_pair_lists_free(struct cached_boundary_cell_pair_lists *seeds)
{
    for (int i = 0; i < TACT_FIELD_SEED_LISTS; i++) {
        free(seeds->list[i].leaves);
        seeds->list[i].leaves = NULL;
    }
}

/* Upper bound of the distance by which points of one solid moved relative to the other since the
 * list was made. */
static double motion_since_seed_list_made(const struct cached_boundary_cell_pair_list *list,
                                          const struct field_pair *pair)
{
    const struct field_box *a = &pair->a->nodes->all, *b = &pair->b->nodes->all;
    double from[3], to[3], middle[3], squared_difference = 0.0;
    for (int k = 0; k < 9; k++) {
        double by = pair->rotation[k] - list->rotation[k];
        squared_difference += by * by;
    }
    double rotation_chord_per_radius = MAX_ROTATION_STRETCH_RATIO * sqrt(squared_difference);
    tact_m3_mul_v3(from, list->rotation, b->middle);
    tact_v3_add(from, from, list->shift);
    tact_m3_mul_v3(to, pair->rotation, b->middle);
    tact_v3_add(to, to, pair->shift);
    tact_v3_sub(to, to, from);
    double of_b = tact_v3_norm(to) + rotation_chord_per_radius * b->radius;
    tact_v3_sub(middle, a->middle, list->shift);
    tact_m3_tmul_v3(from, list->rotation, middle);
    tact_v3_sub(middle, a->middle, pair->shift);
    tact_m3_tmul_v3(to, pair->rotation, middle);
    tact_v3_sub(to, to, from);
    return tact_max(of_b, tact_v3_norm(to) + rotation_chord_per_radius * a->radius);
}

static void set_relative_pose_of_list(struct cached_boundary_cell_pair_list *list,
                                      const struct field_pair *pair)
{
    list->field_key_a = pair->a->key;
    list->field_key_b = pair->b->key;
    memcpy(list->rotation, pair->rotation, sizeof list->rotation);
    memcpy(list->shift, pair->shift, sizeof list->shift);
    list->margin = -1.0;
    list->count = 0;
}

/* A list being made. */
struct seed_list_builder {
    struct cached_boundary_cell_pair_list *list;
    size_t seed_capacity;
    int is_seed_list_full;
};

static int append_cell_pair_to_seed_list(void *user, uint32_t leaf_a, uint32_t leaf_b)
{
    struct seed_list_builder *m = user;
    m->is_seed_list_full = m->list->count == m->seed_capacity;
    if (!m->is_seed_list_full) {
        m->list->leaves[m->list->count++] = (struct field_cell_pair){leaf_a, leaf_b};
    }
    return m->is_seed_list_full;
}

/* Makes the list of cell pairs for a pose. 1, or 0 where it would be too long. */
static int make_seed_list(struct cached_boundary_cell_pair_list *list,
                          const struct field_pair *pair, size_t seed_capacity, double margin)
{
    struct seed_list_builder list_builder = {list, seed_capacity, 0};
    const struct field_cell_pair_search search = {.pair = pair,
                                                  .margin = margin,
                                                  .found = append_cell_pair_to_seed_list,
                                                  .user = &list_builder};
    tact_field_search_cells(&search);
    list->margin = list_builder.is_seed_list_full ? -1.0 : margin;
    list->queries_until_seed_list_retry =
        list_builder.is_seed_list_full ? QUERIES_AFTER_LONG_LIST : 0;
    return !list_builder.is_seed_list_full;
}

const struct cached_boundary_cell_pair_list *
tact_field_find_boundary_pair_list(struct cached_boundary_cell_pair_lists *seeds,
                                   const struct field_pair *pair)
{
    struct cached_boundary_cell_pair_list *seed_list_of_least_motion = NULL, *oldest = seeds->list;
    double size = tact_min(pair->a->mean_radius_of_rim_cells, pair->b->mean_radius_of_rim_cells),
           least = INFINITY;
    seeds->query++;
    for (int i = 0; i < TACT_FIELD_SEED_LISTS; i++) {
        struct cached_boundary_cell_pair_list *list = &seeds->list[i];
        oldest = list->query < oldest->query ? list : oldest;
        if (list->field_key_a != pair->a->key || list->field_key_b != pair->b->key) {
            continue;
        }
        double motion = motion_since_seed_list_made(list, pair);
        if (motion <= USABLE_SEED_LIST_MARGIN_RATIO * list->margin) {
            list->query = seeds->query;
            return list;
        }
        if (motion < least) {
            least = motion;
            seed_list_of_least_motion = list;
        }
    }
    double margin =
        tact_max(SEED_LIST_MARGIN_TO_MOTION_RATIO * least, MIN_SEED_LIST_MARGIN_RATIO * size);
    int is_motion_within_seed_list_margin = margin <= size;
    struct cached_boundary_cell_pair_list *list =
        is_motion_within_seed_list_margin ? seed_list_of_least_motion : oldest;
    list->query = seeds->query;
    list->queries_until_seed_list_retry =
        is_motion_within_seed_list_margin && list->queries_until_seed_list_retry
            ? list->queries_until_seed_list_retry - 1
            : 0;
    set_relative_pose_of_list(list, pair);
    return is_motion_within_seed_list_margin && !list->queries_until_seed_list_retry &&
                   make_seed_list(list, pair, seeds->seed_capacity, margin)
               ? list
               : NULL;
}
