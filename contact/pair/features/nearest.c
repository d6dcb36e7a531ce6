#include "contact/pair/features/nearest_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Distance of polytopes that touch, relative to the size. */
#define TOUCHING_DISTANCE_RATIO 1e-8
/* Thickness or length of an edge below which rounding may hide a facet, relative to the size. */
#define THIN_PAIR_WIDTH_RATIO 0.03
/* Depth that is due to rounding, relative to the size. */
#define DEPTH_BY_ROUNDING_RATIO 1e-14

/* The state stored between searches is the number of points, negative where the cores overlapped,
 * then the vertices a and b of each. */
static int is_valid_vertex_index(double number, double count)
{
    return number >= 0.0 && number < count;
}

/* Loads the start simplex from the stored state; a state that does not fit the pair, as from the
 * log of another scene, is ignored. */
static void load_simplex_from_state(const struct tact_convex_core_pair *pair, const double *state,
                                    struct tact_simplex *s)
{
    const double size = fabs(state[0]), count_a = (double)pair->a->vertices,
                 count_b = (double)pair->b->vertices;
    const double *end = state + 1 + 2 * (size > 2.0 ? 3 : size > 1.0 ? 2 : size > 0.0);
    s->count = 0;
    for (const double *at = state + 1; at < end; at += 2) {
        if (is_valid_vertex_index(at[0], count_a) && is_valid_vertex_index(at[1], count_b)) {
            tact_minkowski_from_vertices(pair, (int64_t)at[0], (int64_t)at[1],
                                         &s->point[s->count++]);
        }
    }
}

static void store_simplex_in_state(const struct tact_nearest_points *found, int overlap,
                                   double *state)
{
    const struct tact_simplex *s = &found->from;
    memset(state, 0, TACT_NEAREST_STATE * sizeof *state);
    state[0] = overlap ? -s->count : s->count;
    for (int i = 0; i < s->count && i < 3; i++) {
        state[1 + 2 * i] = (double)s->point[i].a;
        state[2 + 2 * i] = (double)s->point[i].b;
    }
}

/* 1 for bodies of which one is so thin or has such short edges that rounding may hide a facet from
 * the search for the depth. */
static int is_thin_pair(const struct tact_convex_core_pair *pair)
{
    const struct tact_convex_core *a = pair->a, *b = pair->b;
    const double least = fmin(fmin(a->thickness, a->shortest_hull_edge_length),
                              fmin(b->thickness, b->shortest_hull_edge_length));
    return least < THIN_PAIR_WIDTH_RATIO * pair->size;
}

/* Finds the nearest points of two cores from a simplex. was_overlap_in_last_tick: whether they
 * overlapped when it was found. Returns 1 where they overlap and the depth was searched; *is_exact
 * as in struct tact_separation. */
static int search_nearest_points_from_simplex(struct tact_convex_core_pair *pair,
                                              struct tact_simplex *simplex,
                                              int was_overlap_in_last_tick,
                                              struct tact_nearest_points *found, int *is_exact)
{
    *is_exact = 1;
    pair->start_vertex_a = simplex->count ? simplex->point[0].a : -1;
    pair->start_vertex_b = simplex->count ? simplex->point[0].b : -1;
    if (was_overlap_in_last_tick && simplex->count == 3 && pair->a->vertex && pair->b->vertex &&
        !is_thin_pair(pair) && tact_epa_find_touching_face(pair, simplex, found)) {
        return 1;
    }
    if (was_overlap_in_last_tick && simplex->count) {
        const int rc = tact_epa_find_nearest_points(pair, simplex, found);
        if (rc && rc != TACT_EPA_FLAT) {
            *is_exact = rc > 0;
            return 1;
        }
        /* the cores are separated, or two axes that overlap only where they cross */
        *simplex = found->from;
    }
    if (tact_gjk_find_nearest_points(pair, simplex, found)) {
        return 0;
    }
    *is_exact = tact_epa_find_nearest_points(pair, simplex, found) >= 0;
    return 1;
}

/* Finds the nearest points of two cores as search_nearest_points_from_simplex(), from those of the
 * last search; where rounding ended that search early, without a start simplex. */
static int search_nearest_points_of_cores(struct tact_convex_core_pair *pair, const double *state,
                                          struct tact_nearest_points *found, int *is_exact)
{
    struct tact_simplex simplex;
    load_simplex_from_state(pair, state, &simplex);
    const int is_started_from_last_simplex = simplex.count > 0;
    const int overlap =
        search_nearest_points_from_simplex(pair, &simplex, state[0] < 0.0, found, is_exact);
    if (*is_exact || !is_started_from_last_simplex) {
        return overlap;
    }
    simplex.count = 0;
    return search_nearest_points_from_simplex(pair, &simplex, 0, found, is_exact);
}

/* Searches the facets of polytopes around the result of the search for the depth, where they touch
 * or rounding ended that search; then that search is repeated from the facet. Where polytopes
 * overlap, a facet of depth 0 is that of the least depth. */
static void search_facets_of_overlap(struct tact_convex_core_pair *pair,
                                     struct tact_nearest_points *found, int *is_exact)
{
    const int is_thin_pair_touching =
        fabs(found->bound) < TOUCHING_DISTANCE_RATIO * pair->size && is_thin_pair(pair);
    if (!pair->a->vertex || !pair->b->vertex || (*is_exact && !is_thin_pair_touching)) {
        return;
    }
    tact_epa_move_to_farthest_facet(pair, found);
    if (!*is_exact) {
        struct tact_nearest_points nearest_points_by_epa;
        const int rc = tact_epa_find_nearest_points(pair, &found->from, &nearest_points_by_epa);
        *is_exact = rc == 1 || found->bound > -DEPTH_BY_ROUNDING_RATIO * pair->size;
        if (rc == 1 && nearest_points_by_epa.bound > found->bound) {
            *found = nearest_points_by_epa;
        }
    }
}

/* Finds the nearest points of two bounded cores, whose rotation matrices `out` has. */
static void nearest_points_of_cores(struct tact_convex_core_pair *pair,
                                    const struct tact_pose *pose_a, double *state,
                                    struct tact_separation *out)
{
    const double *rotation = out->rotation[0];
    struct tact_nearest_points found;
    int overlap = search_nearest_points_of_cores(pair, state, &found, &out->is_exact);
    if (overlap) {
        search_facets_of_overlap(pair, &found, &out->is_exact);
    }
    if (!pair->a->vertex || !pair->b->vertex) {
        tact_refine_normal_of_curved_cores(pair, &found);
    }
    double sum_of_core_radii = pair->a->radius + pair->b->radius;
    store_simplex_in_state(&found, overlap, state);
    out->are_points_opposed_along_normal = 1;
    out->vertex[0] = found.from.point[0].a;
    out->vertex[1] = found.from.point[0].b;
    out->distance = found.distance - sum_of_core_radii;
    out->bound = found.bound - sum_of_core_radii;
    tact_m3_mul_v3(out->normal, rotation, found.normal);
    tact_m3_mul_v3(out->point_a, rotation, found.nearest_point_on_a);
    tact_m3_mul_v3(out->point_b, rotation, found.nearest_point_on_b);
    tact_v3_axpy(out->point_a, -pair->a->radius, out->normal);
    tact_v3_axpy(out->point_b, pair->b->radius, out->normal);
    tact_v3_copy(out->origin, pose_a->position);
    out->supports = pair->support_search_count;
}

/* Finds the nearest point of a core over a half-space: the core's lowest vertex. sign: 1 where the
 * core is A. */
static void find_nearest_points_of_core_and_plane(const struct tact_convex_core *core,
                                                  const struct tact_pose *pose,
                                                  const struct tact_pose *plane, double sign,
                                                  double *state, struct tact_separation *out)
{
    const double z[3] = {0.0, 0.0, 1.0};
    double up[3], *rotation = out->rotation[sign < 0.0], down[3], offset[3], low[3], vertex[3];
    int64_t from = state[0] > 0.0 && is_valid_vertex_index(state[1], (double)core->vertices)
                       ? (int64_t)state[1]
                       : -1;
    tact_quat_rotate(up, plane->quat_wxyz, z);
    tact_quat_to_m3(rotation, pose->quat_wxyz);
    tact_m3_tmul_v3(down, rotation, up);
    tact_v3_scale(down, down, -1.0);
    int64_t v = tact_convex_core_support_vertex(core, down, from);
    tact_convex_core_vertex_position(core, v, vertex);
    tact_m3_mul_v3(low, rotation, vertex);
    tact_v3_sub(offset, pose->position, plane->position);
    double height = tact_v3_dot(up, offset) + tact_v3_dot(up, low) - core->radius;
    memset(state, 0, TACT_NEAREST_STATE * sizeof *state);
    state[0] = 1.0;
    state[1] = (double)v;
    out->distance = out->bound = height;
    out->is_exact = out->supports = out->are_points_opposed_along_normal = 1;
    out->vertex[0] = sign > 0.0 ? v : -1;
    out->vertex[1] = sign > 0.0 ? -1 : v;
    tact_v3_scale(out->normal, up, sign);
    tact_v3_axpy(low, -core->radius, up);
    tact_v3_copy(sign > 0.0 ? out->point_a : out->point_b, low);
    tact_v3_axpy(low, -height, up);
    tact_v3_copy(sign > 0.0 ? out->point_b : out->point_a, low);
    tact_v3_copy(out->origin, pose->position);
}

int tact_nearest_points(const struct tact_convex_core *a, const struct tact_pose *pose_a,
                        const struct tact_convex_core *b, const struct tact_pose *pose_b,
                        double state[TACT_NEAREST_STATE], struct tact_separation *out)
{
    struct tact_convex_core_pair pair;
    int is_halfspace_a = a->kind == TACT_SHAPE_HALFSPACE,
        is_halfspace_b = b->kind == TACT_SHAPE_HALFSPACE;
    if (is_halfspace_a && is_halfspace_b) {
        return -EDOM;
    }
    if (is_halfspace_a) {
        find_nearest_points_of_core_and_plane(b, pose_b, pose_a, -1.0, state, out);
    } else if (is_halfspace_b) {
        find_nearest_points_of_core_and_plane(a, pose_a, pose_b, 1.0, state, out);
    } else {
        tact_convex_core_pair_set_poses(&pair, a, pose_a, b, pose_b, out->rotation);
        nearest_points_of_cores(&pair, pose_a, state, out);
    }
    return 0;
}

/* The point of a solid that is farthest along a unit vector, world axes, relative to the origin of
 * the solid's frame [m]. Sets the rotation matrix of the frame too. */
static void farthest_core_point_along(const struct tact_convex_core *core,
                                      const struct tact_pose *pose, const double d[3],
                                      double rotation[9], double out[3])
{
    double in[3], vertex[3];
    tact_quat_to_m3(rotation, pose->quat_wxyz);
    tact_m3_tmul_v3(in, rotation, d);
    tact_convex_core_vertex_position(core, tact_convex_core_support_vertex(core, in, -1), vertex);
    tact_m3_mul_v3(out, rotation, vertex);
    tact_v3_axpy(out, core->radius, d);
}

void tact_nearest_points_along_normal(const struct tact_convex_core *a,
                                      const struct tact_pose *pose_a,
                                      const struct tact_convex_core *b,
                                      const struct tact_pose *pose_b, const double n[3],
                                      struct tact_separation *out)
{
    double opposite_direction[3], offset[3];
    tact_v3_scale(opposite_direction, n, -1.0);
    tact_v3_copy(out->origin, pose_a->position);
    tact_v3_copy(out->normal, n);
    tact_v3_sub(offset, pose_b->position, pose_a->position);
    farthest_core_point_along(a, pose_a, opposite_direction, out->rotation[0], out->point_a);
    farthest_core_point_along(b, pose_b, n, out->rotation[1], out->point_b);
    tact_v3_add(out->point_b, out->point_b, offset);
    tact_v3_sub(offset, out->point_a, out->point_b);
    out->distance = out->bound = tact_v3_dot(n, offset);
    out->vertex[0] = out->vertex[1] = -1;
    out->are_points_opposed_along_normal = 0;
    out->is_exact = 1;
    out->supports = 1;
}
