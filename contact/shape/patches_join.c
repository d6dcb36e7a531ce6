/* The neighbours of patches across their edges, and the faults for which a surface is refused. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "contact/elementary.h"
#include "contact/shape/patches_internal.h"

#define SAME_CONTROL_POINT_TOLERANCE                                                               \
    1e-7 /* distance within which two edges of patches count as one, over the size of the surface  \
          */
#define CREASE_NORMAL_SINE                                                                         \
    1e-3 /* largest sine of the angle between the normals of two patches at an edge that is no     \
            crease */

/* Smallest sine between the two sides of a patch at a point that has a normal. */
#define MIN_SINE_BETWEEN_PATCH_SIDES 1e-6

enum { CHECKS = 5 }; /* number of points at which an edge is compared */

/* An edge of a patch: points and normals along it. */
struct edge {
    double at[CHECKS][3], normal[CHECKS][3];
};

/* Normal of a patch at a pole, from an angle; 0: none. */
static int compute_patch_normal_at_pole(const struct bezier_patch *patch, int edge,
                                        double angle_fraction_about_pole, double out[3])
{
    double q[SECOND_ORDER][3];
    tact_patch_evaluate_about_pole(patch, edge, angle_fraction_about_pole, 0.0, q);
    tact_v3_cross(out, q[1], q[0]);
    double sides = tact_v3_norm(q[1]) * tact_v3_norm(q[0]);
    return tact_v3_normalize(out, out) > MIN_SINE_BETWEEN_PATCH_SIDES * sides;
}

/* Sets the points and normals along an edge of a patch, whether the edge is a pole or not; 0 where
 * a point has no normal. */
static int set_points_and_normals_of_patch_edge(const struct bezier_patch *patch, int edge,
                                                struct edge *out)
{
    const int before = (edge + PATCH_EDGES - 1) % PATCH_EDGES, after = (edge + 1) % PATCH_EDGES;
    int has_edge_regular_normals = 1;
    for (int i = 0; i < CHECKS; i++) {
        double uv[2], c[6][3], along = (double)i / (CHECKS - 1);
        tact_square_point_on_side(edge, along, uv);
        tact_patch_evaluate(patch, uv[0], uv[1], SECOND_ORDER, c);
        tact_v3_copy(out->at[i], c[0]);
        /* an edge that begins or ends at a pole has the pole's normal there */
        const int pole = patch->neighbour_over_edge[edge] == SQUARE_POLE               ? edge
                         : i == 0 && patch->neighbour_over_edge[before] == SQUARE_POLE ? before
                         : i == CHECKS - 1 && patch->neighbour_over_edge[after] == SQUARE_POLE
                             ? after
                             : -1;
        if (pole >= 0) {
            along = pole == edge ? along : pole == before ? 1.0 : 0.0;
            has_edge_regular_normals &=
                compute_patch_normal_at_pole(patch, pole, along, out->normal[i]);
            continue;
        }
        tact_v3_cross(out->normal[i], c[1], c[2]);
        double sides = tact_v3_norm(c[1]) * tact_v3_norm(c[2]);
        double area = tact_v3_normalize(out->normal[i], out->normal[i]);
        has_edge_regular_normals &= area > MIN_SINE_BETWEEN_PATCH_SIDES * sides;
    }
    return has_edge_regular_normals;
}

/* Marks the edges of a patch that are points. Their control points become that point, of all
 * patches about it the one of the first. */
static void mark_pole_edges_of_patch(struct bezier_patch_list *list, int patch,
                                     double distance_limit_of_equal_control_points)
{
    for (int edge = 0; edge < PATCH_EDGES; edge++) {
        struct bezier_patch *p = &list->patch[patch];
        double point[PATCH_EDGES][3], off = 0.0, *control[PATCH_EDGES];
        for (int i = 0; i < PATCH_EDGES; i++) {
            const int u[PATCH_EDGES] = {i, 3, i, 0}, v[PATCH_EDGES] = {0, i, 3, i};
            control[i] = p->point[4 * v[edge] + u[edge]];
            tact_v3_scale(point[i], control[i], 1.0 / control[i][3]);
            tact_v3_sub(p->pole[edge], point[i], point[0]);
            off = tact_max(off, tact_v3_norm(p->pole[edge]));
        }
        p->neighbour_over_edge[edge] =
            off <= distance_limit_of_equal_control_points ? SQUARE_POLE : 0;
        tact_v3_copy(p->pole[edge], point[0]);
        for (int k = 0; off <= distance_limit_of_equal_control_points && k < patch * PATCH_EDGES;
             k++) {
            const struct bezier_patch *patch_with_same_pole = &list->patch[k / PATCH_EDGES];
            double d[3];
            tact_v3_sub(d, patch_with_same_pole->pole[k % PATCH_EDGES], point[0]);
            if (patch_with_same_pole->neighbour_over_edge[k % PATCH_EDGES] == SQUARE_POLE &&
                tact_v3_norm(d) <= distance_limit_of_equal_control_points) {
                tact_v3_copy(p->pole[edge], patch_with_same_pole->pole[k % PATCH_EDGES]);
                break;
            }
        }
        for (int i = 0; off <= distance_limit_of_equal_control_points && i < PATCH_EDGES; i++) {
            tact_v3_scale(control[i], p->pole[edge], control[i][3]);
        }
    }
}

/* Compares the control points of two edges. 1: the same edge, in opposite directions; -1: in the
 * same direction; 0: different edges. */
static int compare_edge_control_points(const struct edge *a, const struct edge *b,
                                       double distance_limit_of_equal_control_points)
{
    int do_edges_match_reversed = 1, equal = 1;
    for (int i = 0; i < CHECKS && (do_edges_match_reversed || equal); i++) {
        double d[3], e[3];
        tact_v3_sub(d, a->at[i], b->at[CHECKS - 1 - i]);
        tact_v3_sub(e, a->at[i], b->at[i]);
        do_edges_match_reversed &= tact_v3_norm(d) <= distance_limit_of_equal_control_points;
        equal &= tact_v3_norm(e) <= distance_limit_of_equal_control_points;
    }
    return do_edges_match_reversed ? 1 : equal ? -1 : 0;
}

static int report_patch_edge_error(const struct bezier_patch_list *list, int patch, int edge,
                                   struct tact_error *err, const char *what)
{
    static const char *const sides[PATCH_EDGES] = {"v = 0", "u = 1", "v = 1", "u = 0"};
    tact_error_at(err, NULL, list->patch[patch].line, 0, NULL);
    return tact_error_set(err, -EINVAL, "patch %d, side %s, %s", patch, sides[edge], what);
}

static int check_crease_along_edge(const struct bezier_patch_list *list, int at,
                                   const struct edge *a, const struct edge *b,
                                   struct tact_error *err)
{
    for (int i = 0; i < CHECKS; i++) {
        double cross[3];
        const double *n = b->normal[CHECKS - 1 - i];
        tact_v3_cross(cross, a->normal[i], n);
        if (tact_v3_norm(cross) > CREASE_NORMAL_SINE || tact_v3_dot(a->normal[i], n) < 0.0) {
            return report_patch_edge_error(
                list, at / PATCH_EDGES, at % PATCH_EDGES, err,
                "is a crease: the normal jumps there; expected a smooth surface");
        }
    }
    return 0;
}

/* Finds the neighbour of a patch over one edge, among all edges. */
static int find_neighbour_over_edge(struct bezier_patch_list *list, const struct edge *edge, int at,
                                    double distance_limit_of_equal_control_points,
                                    struct tact_error *err)
{
    int index_of_neighbour_edge = -1, p = at / PATCH_EDGES, e = at % PATCH_EDGES;
    for (int i = 0; i < list->count * PATCH_EDGES; i++) {
        const int is_edge_degenerate_to_pole =
            list->patch[i / PATCH_EDGES].neighbour_over_edge[i % PATCH_EDGES] == SQUARE_POLE;
        int edge_match_with_candidate =
            i == at || is_edge_degenerate_to_pole
                ? 0
                : compare_edge_control_points(&edge[at], &edge[i],
                                              distance_limit_of_equal_control_points);
        if (edge_match_with_candidate < 0) {
            return report_patch_edge_error(
                list, p, e, err,
                "borders on a patch whose normals point to the other side of the surface: reverse "
                "u or v of the patch whose normals point into the solid");
        }
        if (edge_match_with_candidate && index_of_neighbour_edge >= 0) {
            return report_patch_edge_error(list, p, e, err,
                                           "borders on two patches; expected a manifold");
        }
        index_of_neighbour_edge = edge_match_with_candidate ? i : index_of_neighbour_edge;
    }
    if (index_of_neighbour_edge < 0) {
        return report_patch_edge_error(
            list, p, e, err,
            "borders on no patch: the surface is open, or patches of other lengths meet");
    }
    list->patch[p].neighbour_over_edge[e] = index_of_neighbour_edge;
    return check_crease_along_edge(list, at, &edge[at], &edge[index_of_neighbour_edge], err);
}

/* Checks that the patches about a pole go round it once, with one normal. */
static int check_patches_about_pole(const struct bezier_patch_list *list, const struct edge *edge,
                                    int at, struct tact_error *err)
{
    const double full_angle_around_pole = 2.0 * 3.14159265358979323846;
    double angle_covered_around_pole = 0.0;
    int p = at / PATCH_EDGES, e = at % PATCH_EDGES;
    for (int i = 0; i < list->count && (i == 0 || p != at / PATCH_EDGES); i++) {
        const struct edge *patch_edge_at_pole = &edge[p * PATCH_EDGES + e];
        for (int k = 0; k < CHECKS; k++) {
            double cross[3], q[2][SECOND_ORDER][3];
            tact_v3_cross(cross, patch_edge_at_pole->normal[k], edge[at].normal[0]);
            if (!(tact_v3_norm(cross) <= CREASE_NORMAL_SINE) ||
                tact_v3_dot(patch_edge_at_pole->normal[k], edge[at].normal[0]) < 0.0) {
                return report_patch_edge_error(
                    list, at / PATCH_EDGES, at % PATCH_EDGES, err,
                    "is collapsed to a tip, where the normal jumps; expected "
                    "a pole of a smooth surface");
            }
            for (int m = 0; m < 2 && k > 0; m++) {
                tact_patch_evaluate_about_pole(&list->patch[p], e, (k - 1.0 + m) / (CHECKS - 1),
                                               0.0, q[m]);
            }
            if (k > 0) {
                tact_v3_cross(cross, q[0][0], q[1][0]);
                angle_covered_around_pole +=
                    tact_atan2(tact_v3_dot(cross, patch_edge_at_pole->normal[k]),
                               tact_v3_dot(q[0][0], q[1][0]));
            }
        }
        const int next = list->patch[p].neighbour_over_edge[(e + 1) % PATCH_EDGES];
        p = next / PATCH_EDGES;
        e = (next + 1) % PATCH_EDGES;
        if (next < 0 || list->patch[p].neighbour_over_edge[e] != SQUARE_POLE) {
            angle_covered_around_pole = 0.0;
            break;
        }
    }
    return fabs(angle_covered_around_pole + full_angle_around_pole) < 1e-3 && p == at / PATCH_EDGES
               ? 0
               : report_patch_edge_error(
                     list, at / PATCH_EDGES, at % PATCH_EDGES, err,
                     "is collapsed to a point about which the collapsed sides of "
                     "patches do not go round once; expected a pole");
}

int tact_patches_find_neighbours(struct bezier_patch_list *list, double size,
                                 struct tact_error *err)
{
    int rc = 0, edges = list->count * PATCH_EDGES;
    const double distance_limit_of_equal_control_points = SAME_CONTROL_POINT_TOLERANCE * size;
    struct edge *edge = calloc((size_t)edges + 1, sizeof *edge);
    if (!edge) {
        return -ENOMEM;
    }
    for (int i = 0; i < list->count; i++) {
        mark_pole_edges_of_patch(list, i, distance_limit_of_equal_control_points);
    }
    for (int i = 0; !rc && i < edges; i++) {
        if (!set_points_and_normals_of_patch_edge(&list->patch[i / PATCH_EDGES], i % PATCH_EDGES,
                                                  &edge[i])) {
            rc = report_patch_edge_error(list, i / PATCH_EDGES, i % PATCH_EDGES, err,
                                         "has a point without a normal; expected a regular patch");
        }
    }
    for (int kind = 0; kind < 2;
         kind++) { /* edges that are no poles first, as the check of a pole needs all neighbours */
        for (int i = 0; !rc && i < edges; i++) {
            const int is_edge_degenerate_to_pole =
                list->patch[i / PATCH_EDGES].neighbour_over_edge[i % PATCH_EDGES] == SQUARE_POLE;
            if (is_edge_degenerate_to_pole == kind) {
                rc = is_edge_degenerate_to_pole
                         ? check_patches_about_pole(list, edge, i, err)
                         : find_neighbour_over_edge(list, edge, i,
                                                    distance_limit_of_equal_control_points, err);
            }
        }
    }
    free(edge);
    return rc;
}
