/*
 * Assignment of pairs to the moment source or the host: the cheap ones to the host, in the tick, as
 * long as their total cost is below moments.host_time.
 *
 * In real time the cost of a pair is its measured time on the host, or the estimate of the source.
 * On a free-wheeling clock it is estimated from its triangles, so that a run can be repeated.
 */
#include <string.h>
#include "contact/world/carry_internal.h"
#include "rt/session/placing_internal.h"
#include "rt/session/session_internal.h"

/* fraction of moments.host_time up to which a pair may return to the host */
#define HOST_TIME_RETURN_FRACTION 0.7
#define MESH_PAIR_MOMENT_COST_NS 3000 /* estimate: two meshes ... */
#define MESH_TRIANGLE_MOMENT_COST_NS                                                               \
    2 /* estimated host time for each triangle of a pair of meshes */
#define CLOSED_FORM_MOMENT_COST_NS 1000 /* estimate: closed forms */
/* estimated host time for a ball or capsule with a mesh, or solids with few facets */
#define CONVEX_PAIR_MOMENT_COST_NS 5000
#define PAIR_COST_MEAN_WEIGHT 0.05 /* weight of a new cost in the mean cost of a pair */
/* weight of a new value that is higher: a body that lands on another must soon leave the host */
#define PAIR_COST_RISE_WEIGHT 0.2
/* largest age of a result, for pairs that the host has no time for [ticks] */
#define MAX_SOURCE_RESULT_AGE_TICKS 20
/* margin added to twice the mean cost: a longer measurement was interrupted and is ignored */
#define OUTLIER_COST_MARGIN_NS 20000

static double estimate_host_moment_cost_ns(const struct tact_shape *a, const struct tact_shape *b)
{
    int swapped;
    enum tact_moments_method method = tact_moments_method(a, b, &swapped);
    if (method == TACT_MOMENTS_SPHERE_MESH || method == TACT_MOMENTS_CAPSULE_MESH ||
        method == TACT_MOMENTS_MESH_HALFSPACE) {
        return CONVEX_PAIR_MOMENT_COST_NS;
    }
    if (method == TACT_MOMENTS_MESH_MESH) {
        return MESH_PAIR_MOMENT_COST_NS +
               MESH_TRIANGLE_MOMENT_COST_NS *
                   (double)(a->mesh->triangle_count + b->mesh->triangle_count);
    }
    return CLOSED_FORM_MOMENT_COST_NS;
}

/* Index of the pair of two shapes among the source's pairs. */
static int find_pair_of_shapes(const struct tact_session *s, uint32_t a, uint32_t b)
{
    int low = 0, high = s->source_pair_count;
    while (high - low > 1) {
        int middle_source_pair_index = (low + high) / 2;
        const struct tact_source_pair *p = &s->source_pairs[middle_source_pair_index];
        *(p->a < a || (p->a == a && p->b <= b) ? &low : &high) = middle_source_pair_index;
    }
    return low;
}

void tact_session_init_pair_source(const struct tact_session *s, struct session_pair *p)
{
    int a, b;
    tact_world_pair_shapes(s->world, p->number, &a, &b);
    p->source = find_pair_of_shapes(s, (uint32_t)a, (uint32_t)b);
    const int does_model_use_moments = tact_world_model(s->world, p->number)->moments;
    p->cost_ns = does_model_use_moments
                     ? estimate_host_moment_cost_ns(tact_world_shape(s->world, a),
                                                    tact_world_shape(s->world, b))
                     : 0.0;
    p->scale = 1.0;
    p->by_source = s->requires_moment_source && does_model_use_moments;
}

void tact_session_assign_pairs_host_or_source(struct tact_session *s, int requires_moment_source)
{
    s->requires_moment_source = requires_moment_source;
    for (int i = 0; i < s->pair_count; i++) {
        tact_session_init_pair_source(s, &s->pairs[i]);
    }
    int count;
    (void)tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        tact_session_reassign_costliest_pair(s); /* at most one pair is reassigned at a time */
    }
}

static void update_mean_pair_cost(struct session_pair *p, double measured_pair_cost_ns)
{
    p->cost_ns +=
        (measured_pair_cost_ns - p->cost_ns) *
        (measured_pair_cost_ns > p->cost_ns ? PAIR_COST_RISE_WEIGHT : PAIR_COST_MEAN_WEIGHT);
}

void tact_session_update_host_cost(struct session_pair *p, int64_t ns)
{
    double outlier_cost_limit_ns = 2.0 * p->cost_ns + OUTLIER_COST_MARGIN_NS;
    double cost_clamped_to_outlier_limit =
        (double)ns < outlier_cost_limit_ns ? (double)ns : outlier_cost_limit_ns;
    update_mean_pair_cost(p, cost_clamped_to_outlier_limit);
    p->measured_host_cost_ns = p->cost_ns;
}

void tact_session_update_source_cost(struct session_pair *p, int32_t ns)
{
    if (ns <= 0) {
        return;
    }
    /* For a pair that moves from the host to the source, the ratio of measured host cost to the
     * source's estimate is known. */
    if (p->measured_host_cost_ns > 0.0) {
        double scale = p->measured_host_cost_ns / (double)ns;
        p->scale = scale < 0.1 ? 0.1 : scale > 10.0 ? 10.0 : scale;
        p->measured_host_cost_ns = 0.0;
    }
    update_mean_pair_cost(p, p->scale * (double)ns);
}

/* Largest age of a result for a pair that the source measures by its cost, or always. */
static uint32_t oldest_accepted_result_age(const struct tact_session *s,
                                           const struct session_pair *p,
                                           int is_always_measured_by_source)
{
    uint32_t age = s->scene->moments.max_age;
    int is_too_costly_for_host =
        !is_always_measured_by_source || p->cost_ns > 1e9 * s->scene->moments.host_time;
    return is_too_costly_for_host && age < MAX_SOURCE_RESULT_AGE_TICKS ? MAX_SOURCE_RESULT_AGE_TICKS
                                                                       : age;
}

uint32_t tact_session_oldest_accepted_result_age(const struct tact_session *s,
                                                 const struct session_pair *p)
{
    return oldest_accepted_result_age(s, p, s->requires_moment_source);
}

uint32_t tact_session_oldest_accepted_field_age(const struct tact_session *s,
                                                const struct session_pair *p)
{
    return oldest_accepted_result_age(s, p, !strcmp(s->scene->moments.source, "thread"));
}

/* Moves the costliest pair to the source, or the cheapest one back, among those that is_measured()
 * selects. */
static void reassign_costliest_measured_pair(struct tact_session *s,
                                             int (*is_measured)(const struct tact_world *world,
                                                                int pair))
{
    const double host_time_limit_ns = 1e9 * s->scene->moments.host_time;
    struct session_pair *costliest_pair_on_host = NULL, *least_expensive_pair = NULL;
    double total_host_cost_ns = 0.0;
    int count;
    const int *near = tact_world_near(s->world, &count);
    for (int i = 0; i < count; i++) {
        if (!is_measured(s->world, near[i])) {
            continue;
        }
        struct session_pair *p = tact_session_find_or_add_pair(s, near[i]);
        if (p->by_source) {
            least_expensive_pair =
                !least_expensive_pair || p->cost_ns < least_expensive_pair->cost_ns
                    ? p
                    : least_expensive_pair;
        } else {
            total_host_cost_ns += p->cost_ns;
            costliest_pair_on_host =
                !costliest_pair_on_host || p->cost_ns > costliest_pair_on_host->cost_ns
                    ? p
                    : costliest_pair_on_host;
        }
    }
    if (costliest_pair_on_host && total_host_cost_ns > host_time_limit_ns) {
        costliest_pair_on_host->by_source = 1;
        costliest_pair_on_host->source_start_tick = UINT64_MAX;
    } else if (least_expensive_pair && total_host_cost_ns + least_expensive_pair->cost_ns <
                                           HOST_TIME_RETURN_FRACTION * host_time_limit_ns) {
        least_expensive_pair->by_source = 0;
    }
}

void tact_session_reassign_costliest_pair(struct tact_session *s)
{
    if (!s->requires_moment_source) {
        reassign_costliest_measured_pair(s, tact_world_is_close);
    }
}

void tact_session_reassign_costliest_field(struct tact_session *s)
{
    reassign_costliest_measured_pair(s, tact_world_must_measure_pair_fields);
}
