/* Lists of triangles near each other: whether there is one for a pair of meshes as they lie now. */
#include "contact/moments/moments_cache_internal.h"

/** Margin of a list, in the mean distance of the corners of the finer mesh; share of it that two
 *  bodies may move from one query to the next for a list to be worth its while. */
static const double MARGIN = 0.5, SLOW = 0.25;

/** Lists of bodies that have moved further than so many margins are not followed any more. */
static const double FOLLOWED = 64.0;

static void take_view(const struct tact_near *near, const double normal[3],
                      struct tact_cache_view *view)
{
    for (int i = 0; i < 2; i++) {
        const struct tact_placed *p = i ? &near->b.placed : &near->a.placed;
        double middle[3];
        tact_mesh_box_unit(p->mesh, middle);
        for (int k = 0; k < 3; k++) {
            tact_v3_copy(view->row[i][k], p->rot + 3 * k);
            view->middle[i][k] = tact_v3_dot(p->rot + 3 * k, middle) + p->shift[k];
        }
        tact_m3_tmul_v3(view->row[i][3], p->rot, normal);
        view->middle[i][3] = tact_v3_dot(normal, view->middle[i]);
    }
}

/** Most that a point of A and one of B have moved against each other along an axis of the frame or
 *  its normal [m]. */
static double moved(const struct tact_cache_list *list, const struct tact_cache_view *from,
                    const struct tact_cache_view *to)
{
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        double apart =
            fabs((to->middle[0][k] - from->middle[0][k]) - (to->middle[1][k] - from->middle[1][k]));
        for (int i = 0; i < 2; i++) {
            double d[3];
            tact_v3_sub(d, to->row[i][k], from->row[i][k]);
            apart += list->reach[i] * tact_v3_norm(d);
        }
        most = tact_max(apart, most);
    }
    return most;
}

static void begin(struct tact_cache_list *list, const struct tact_near *near)
{
    list->ready = 0;
    list->margin = INFINITY;
    for (int i = 0; i < 2; i++) {
        const struct tact_mesh *mesh = i ? near->b.placed.mesh : near->a.placed.mesh;
        double half[3];
        tact_v3_sub(half, mesh->nodes[0].upper, mesh->nodes[0].lower);
        list->reach[i] = 0.5 * tact_v3_norm(half);
        list->margin =
            tact_min(list->margin, MARGIN * list->reach[i] / sqrt((double)mesh->triangle_count));
    }
}

struct tact_cache_list *tact_cache_find(struct tact_cache *cache, const struct tact_near *near,
                                        const double normal[3])
{
    const uint64_t a = near->a.placed.mesh->wide->serial, b = near->b.placed.mesh->wide->serial;
    int best = -1, oldest = 0;
    struct tact_cache_view now;
    double nearest = INFINITY;
    take_view(near, normal, &now);
    for (int i = 0; i < TACT_CACHE_LISTS; i++) {
        const struct tact_cache_list *list = &cache->lists[i];
        const uint64_t *serial = cache->keys[i].serial;
        oldest = cache->keys[i].used < cache->keys[oldest].used ? i : oldest;
        if (serial[0] == a && serial[1] == b) {
            double since = moved(list, &list->last, &now);
            if (since < nearest && since < FOLLOWED * list->margin) {
                nearest = since;
                best = i;
            }
        }
    }
    if (best < 0) {
        best = oldest;
        cache->keys[best].serial[0] = a;
        cache->keys[best].serial[1] = b;
        begin(&cache->lists[best], near);
    }
    struct tact_cache_list *list = &cache->lists[best];
    cache->keys[best].used = ++cache->clock;
    list->last = now;
    /* Rounding of the frame's coordinates is far below a hundredth of a margin. */
    if (list->ready && moved(list, &list->made, &now) < 0.99 * list->margin) {
        return list;
    }
    list->ready = 0;
    list->made = now;
    return nearest < SLOW * list->margin ? list : NULL;
}
