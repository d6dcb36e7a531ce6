/* The contact points of a tick: those of each pair, and their counterparts of the tick before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "contact/vec.h"
#include "contact/pair/points/point_internal.h"

static int allocate_point_list(struct contact_point_list *list, int room, int pairs)
{
    size_t n = (size_t)pairs + 1;
    list->points = calloc((size_t)room + 1, sizeof *list->points);
    list->first = calloc(n, sizeof *list->first);
    list->point_count_of_pair = calloc(n, sizeof *list->point_count_of_pair);
    list->frame = calloc(n * 12, sizeof *list->frame);
    list->pairs = pairs;
    return list->points && list->first && list->point_count_of_pair && list->frame ? 0 : -ENOMEM;
}

static void free_point_list(struct contact_point_list *list)
{
    free(list->points);
    free(list->first);
    free(list->point_count_of_pair);
    free(list->frame);
}

int tact_points_create(struct contact_point_store *store, int room, int pairs, size_t vertices)
{
    memset(store, 0, sizeof *store);
    store->room = room;
    store->stamps_of_listed_vertices =
        calloc(vertices + 1, sizeof *store->stamps_of_listed_vertices);
    int rc = allocate_point_list(&store->now, room, pairs);
    rc = allocate_point_list(&store->last, room, pairs) || rc || !store->stamps_of_listed_vertices;
    return rc ? -ENOMEM : 0;
}

void tact_points_destroy(struct contact_point_store *store)
{
    free_point_list(&store->now);
    free_point_list(&store->last);
    free(store->stamps_of_listed_vertices);
    memset(store, 0, sizeof *store);
}

void tact_points_clear_pair(struct contact_point_store *store, int pair)
{
    store->now.point_count_of_pair[pair] = store->last.point_count_of_pair[pair] = 0;
}

void tact_points_begin_tick(struct contact_point_store *store)
{
    struct contact_point_list now = store->now;
    store->now = store->last;
    store->last = now;
    store->now.count = 0;
    memset(store->now.point_count_of_pair, 0,
           sizeof *store->now.point_count_of_pair * (size_t)store->now.pairs);
    store->dropped_point_count = 0;
}

/* Adds a new point to the current pair; NULL where the capacity is exceeded. */
static struct point *add_contact_point_to_store(struct contact_point_store *store, int pair,
                                                const uint64_t key[2])
{
    struct contact_point_list *now = &store->now;
    if (now->count >= store->room) {
        store->dropped_point_count++;
        return NULL;
    }
    struct point *point = &now->points[now->count++];
    now->point_count_of_pair[pair]++;
    point->key[0] = key[0];
    point->key[1] = key[1];
    tact_v3_set(point->p, 0.0, 0.0, 0.0);
    return point;
}

void tact_points_add_contact_point(struct contact_point_store *store, int pair, const double *place,
                                   const uint64_t key[2])
{
    const double *frame = store->now.frame + 12 * pair;
    struct point *point = add_contact_point_to_store(store, pair, key);
    if (point) {
        double arm[3];
        tact_v3_sub(arm, place, frame);
        tact_m3_mul_v3(point->at, frame + 3, arm);
    }
}

/* Adds a contact point given by its position in the plane of the patch. */
static void add_point_in_patch_plane(struct contact_point_store *store, int pair, double t1,
                                     double t2)
{
    static const uint64_t point_key_without_feature[2] = {0, 0};
    struct point *point = add_contact_point_to_store(store, pair, point_key_without_feature);
    if (point) {
        tact_v3_set(point->at, 0.0, t1, t2);
    }
}

void tact_points_list_pair_points(struct contact_point_store *store, int pair,
                                  const struct tact_shape *a, const struct tact_pose *pa,
                                  const struct tact_shape *b, const struct tact_pose *pb,
                                  const struct tact_patch *patch)
{
    double *frame = store->now.frame + 12 * pair;
    int is_halfspace_a = a->kind == TACT_SHAPE_HALFSPACE,
        is_halfspace_b = b->kind == TACT_SHAPE_HALFSPACE;
    tact_v3_copy(frame, patch->center);
    memcpy(frame + 3, patch->frame, sizeof patch->frame);
    store->now.first[pair] = store->now.count;
    int are_shapes_convex =
        !tact_shape_type(a->kind)->concave && !tact_shape_type(b->kind)->concave;
    if (patch->corners && are_shapes_convex) {
        for (int i = 0; i < patch->corners; i++) {
            add_point_in_patch_plane(store, pair, patch->corner[i][0], patch->corner[i][1]);
        }
    } else if (patch->kind == TACT_PATCH_ELLIPSE && (a->mesh || is_halfspace_a) &&
               (b->mesh || is_halfspace_b)) {
        tact_points_add_overlap_vertices(
            store, pair, is_halfspace_a ? b->mesh : a->mesh, is_halfspace_a ? pb : pa,
            is_halfspace_a || is_halfspace_b ? NULL : b->mesh, is_halfspace_a ? pa : pb);
    }
    /* the overlap is round, soft, or too thin to have vertices in it */
    if (!store->now.point_count_of_pair[pair]) {
        add_point_in_patch_plane(store, pair, 0.0, 0.0);
    }
}

/* Finds among the contact points of the last tick that of the same feature, searched from *next on;
 * NULL: none. Both ticks list features in nearly the same order. */
static const struct point *find_point_of_feature_in_last_tick(const struct point *last, int count,
                                                              const struct point *point, int *next)
{
    for (int i = 0; i < count; i++) {
        int at = (*next + i) % count;
        if (last[at].key[0] == point->key[0] && last[at].key[1] == point->key[1]) {
            *next = at + 1;
            return &last[at];
        }
    }
    return NULL;
}

/* Finds the last tick's corner nearest to a corner, both relative to their patch's centre in world
 * axes; NULL where it is farther than a tenth of the distance from the centre. */
static const struct point *find_nearest_last_corner(const struct contact_point_list *last, int pair,
                                                    const double *arm)
{
    const struct point *points = last->points + last->first[pair], *best = NULL;
    double least = 0.01 * tact_v3_dot(arm, arm);
    for (int i = 0; i < last->point_count_of_pair[pair]; i++) {
        double last_arm_in_contact_frame[3], difference[3];
        tact_m3_tmul_v3(last_arm_in_contact_frame, last->frame + 12 * pair + 3, points[i].at);
        tact_v3_sub(difference, last_arm_in_contact_frame, arm);
        double distance = tact_v3_dot(difference, difference);
        if (distance <= least && !points[i].key[0]) {
            least = distance;
            best = &points[i];
        }
    }
    return best;
}

void tact_points_copy_last_impulses(struct contact_point_store *store, int pair,
                                    int had_pair_contact_in_last_tick, double impulse[6])
{
    const struct contact_point_list *last = &store->last;
    struct point *points = store->now.points + store->now.first[pair];
    const double *frame = store->now.frame + 12 * pair + 3;
    int next = 0;
    memset(impulse, 0, 6 * sizeof *impulse);
    for (int i = 0; i < store->now.point_count_of_pair[pair] && had_pair_contact_in_last_tick;
         i++) {
        struct point *point = &points[i];
        double arm[3], world[3], torque[3];
        tact_m3_tmul_v3(arm, frame, point->at);
        const struct point *contact_point_of_last_tick =
            point->key[0]
                ? find_point_of_feature_in_last_tick(last->points + last->first[pair],
                                                     last->point_count_of_pair[pair], point, &next)
                : find_nearest_last_corner(last, pair, arm);
        if (!contact_point_of_last_tick) {
            continue;
        }
        tact_m3_tmul_v3(world, last->frame + 12 * pair + 3, contact_point_of_last_tick->p);
        tact_m3_mul_v3(point->p, frame, world);
        point->p[0] = tact_max(point->p[0], 0.0);
        tact_v3_cross(torque, point->at, point->p);
        tact_v3_add(impulse, impulse, point->p);
        tact_v3_add(impulse + 3, impulse + 3, torque);
    }
}
